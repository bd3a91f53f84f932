"""Classes of named attributes: what `dataclasses` would make of them, made in a third of the time.

With `dataclasses`, these definitions were a sixth of the time of `import wengert`. Type checkers know the
classes as dataclasses; at run time it is `replace` of this module that knows them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)
Instance = TypeVar("Instance")
Default = TypeVar("Default")


class _Own:
    """The default of an attribute that no two instances share."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]):
        self.make = make


def field(*, default_factory: Callable[[], Default]) -> Default:
    """The default of an attribute, made anew for every instance."""
    own: Any = _Own(default_factory)
    return own


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def mutable_record(cls: Class) -> Class:
    """Compared by identity."""
    return _with_slots(cls, _INIT)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(cls: Class) -> Class:
    """Set once; compared by identity, unless the class says otherwise.

    Type checkers refuse an assignment to an attribute. At run time nothing does: to make an instance
    would take three times as long.
    """
    return _with_slots(cls, _INIT)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_record(cls: Class) -> Class:
    """Set once; compared by what it holds, so that it may be the key of a dictionary."""
    return _with_slots(cls, _INIT + _COMPARED, __repr__=_shown)


def replace(instance: Instance, /, **changes: Any) -> Instance:
    """A copy, some of its attributes changed."""
    cls: Any = type(instance)
    for name in cls.__slots__:
        if name not in changes:
            changes[name] = getattr(instance, name)
    return cls(**changes)


_TEXTS = {
    "__init__": """
def __init__(self, {parameters}):
    {assignments}
""",
    "__eq__": """
def __eq__(self, other):
    if other.__class__ is not self.__class__:
        return NotImplemented
    return ({own}) == ({others})
""",
    "__hash__": """
def __hash__(self):
    return hash(({own}))
""",
}
_INIT = ("__init__",)
_COMPARED = ("__eq__", "__hash__")


def _with_slots(cls: Class, methods: Sequence[str], **namespace: Any) -> Class:
    """The class with a slot for each attribute, and with these methods."""
    names = tuple(cls.__annotations__)
    defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}

    def write(wanted: str) -> Callable[..., Any]:
        for name, method in _written(methods, names, defaults).items():
            setattr(made, name, method)
        return getattr(made, wanted)

    namespace |= {name: _written_when_called(name, write) for name in methods}
    for name, value in vars(cls).items():
        if name not in defaults and name not in _OF_ANY_CLASS:
            namespace.setdefault(name, value)
    namespace |= {"__slots__": names, "__match_args__": names, "__qualname__": cls.__qualname__}
    made: Any = type(cls)(cls.__name__, cls.__bases__, namespace)
    return made


def _written_when_called(
    name: str, write: Callable[[str], Callable[..., Any]]
) -> Callable[..., Any]:
    """Stands for a method until its first call: of most classes a program makes no instance."""

    def method(self: Any, *args: Any, **named: Any) -> Any:
        return write(name)(self, *args, **named)

    return method


def _written(
    methods: Iterable[str], names: Sequence[str], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    text = "".join(_TEXTS[method] for method in methods).format(
        parameters=", ".join(names),
        assignments="\n    ".join(_assignment(n, defaults.get(n)) for n in names) or "pass",
        own="".join(f"self.{name}, " for name in names),
        others="".join(f"other.{name}, " for name in names),
    )
    written: dict[str, Any] = {}
    exec(text, globals(), written)  # noqa: S102  # the text is made of names of attributes
    written["__init__"].__defaults__ = tuple(defaults.values())
    return written


_OF_ANY_CLASS = ("__dict__", "__weakref__")


def _assignment(name: str, default: object) -> str:
    if isinstance(default, _Own):
        return f"self.{name} = {name}.make() if {name}.__class__ is _Own else {name}"
    return f"self.{name} = {name}"


def _shown(self: Any) -> str:
    """As a dataclass shows itself."""
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({inside})"
