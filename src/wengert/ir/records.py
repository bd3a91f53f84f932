"""Classes of named attributes: what `dataclasses` would make of them, made in a third of the time.

With `dataclasses`, these definitions were a sixth of the time of `import wengert`. Type checkers know the
classes as dataclasses; at run time it is `replace` of this module that knows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)
Instance = TypeVar("Instance")
Default = TypeVar("Default")


class _Own:
    """The default of an attribute that no two instances share."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]):
        # to call `dict[str, int]` takes several times as long as to call `dict`
        self.make: Callable[[], Any] = getattr(make, "__origin__", make)


def field(*, default_factory: Callable[[], Default]) -> Default:
    """The default of an attribute, made anew for every instance."""
    own: Any = _Own(default_factory)
    return own


@dataclass_transform(eq_default=False, field_specifiers=(field,))
def mutable_record(cls: Class) -> Class:
    """Compared by identity."""
    return _with_slots(cls)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(cls: Class) -> Class:
    """Set once; compared by identity, unless the class says otherwise.

    Type checkers refuse an assignment to an attribute. At run time nothing does: to make an instance
    would take three times as long.
    """
    return _with_slots(cls)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_record(cls: Class) -> Class:
    """Set once; compared by what it holds, so that it may be the key of a dictionary."""
    return _with_slots(cls, compared=True)


def replace(instance: Instance, /, **changes: Any) -> Instance:
    """A copy, some of its attributes changed."""
    cls: Any = type(instance)
    for name in cls.__slots__:
        if name not in changes:
            changes[name] = getattr(instance, name)
    return cls(**changes)


def _with_slots(cls: Class, *, compared: bool = False) -> Class:
    """The class with a slot for each attribute, and with the methods of a record."""
    names = tuple(cls.__annotations__)
    defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}

    def initialise(self: Any, *args: Any, **named: Any) -> None:
        made.__init__ = _initialiser(names, defaults)  # of most classes a program makes no instance
        made.__init__(self, *args, **named)

    namespace = {"__init__": initialise, **(_comparisons(names) if compared else {})}
    left_out = {*defaults, "__dict__", "__weakref__"}
    namespace |= {name: value for name, value in vars(cls).items() if name not in left_out}
    namespace |= {"__slots__": names, "__match_args__": names, "__qualname__": cls.__qualname__}
    made: Any = type(cls)(cls.__name__, cls.__bases__, namespace)
    return made


def _comparisons(names: Sequence[str]) -> dict[str, Any]:
    held = attrgetter(*names) if names else lambda _: ()

    def equal(self: Any, other: Any) -> Any:
        if other is self:
            return True
        if other.__class__ is not self.__class__:
            return NotImplemented
        return held(self) == held(other)

    return {"__eq__": equal, "__hash__": lambda self: hash(held(self)), "__repr__": _shown}


def _shown(self: Any) -> str:
    """As a dataclass shows itself."""
    inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({inside})"


# --- how an instance is made ----------------------------------------------------------------


def _initialiser(names: Sequence[str], defaults: Mapping[str, Any]) -> Callable[..., None]:
    """The `__init__` that sets these attributes, and makes the defaults that no two instances share."""
    given = (defaults.get(name) for name in names)
    own = {k: default for k, default in enumerate(given) if isinstance(default, _Own)}
    called = {f"attribute{k}": name for k, name in enumerate(names)}
    code = _setting(len(names), tuple(own))
    named = tuple(called.get(name, name) for name in code.co_names)
    code = code.replace(co_varnames=("self", *names), co_names=named)
    scope: dict[str, Any] = {f"own{k}": default for k, default in own.items()}
    scope |= {f"make{k}": default.make for k, default in own.items()}
    return FunctionType(code, scope, "__init__", tuple(defaults.values()))


@cache
def _setting(count: int, own: tuple[int, ...]) -> CodeType:
    """The code that sets so many attributes, some to a default of their own: compiled once for all such classes."""
    names = [f"attribute{k}" for k in range(count)]
    values = [
        f"make{k}() if {name} is own{k} else {name}" if k in own else name
        for k, name in enumerate(names)
    ]
    lines = "; ".join(f"self.{name} = {value}" for name, value in zip(names, values, strict=True))
    written: dict[str, Any] = {}
    text = f"def __init__(self, {', '.join(names)}):\n {lines or 'pass'}"
    exec(text, globals(), written)  # noqa: S102  # the text is made of placeholders
    return written["__init__"].__code__
