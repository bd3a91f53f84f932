"""Creating objects of known classes."""

from __future__ import annotations

import ast
import collections
import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Sequence
from functools import partial
from typing import Any

from ...ir.graph import Const
from ...runtime.containers import CONTENTS
from ..boundary.signature import namedtuple_fields
from ..classes import class_lookup
from ..classes.class_lookup import is_generated_init
from ..domain.arguments import DEFAULT_FACTORY, settled_default
from ..domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    Scope,
    Value,
    as_known,
    object_class,
)
from ..functions.binding import bind_arguments
from ..functions.closures import bound_before
from ..heap import NeedsWhole, now, place_of
from ..machine.failing import fail_now, raise_now
from ..machine.interpreter import Interpreter
from . import object_changes, objects


def construct(it: Interpreter, cls: type, args: Args, kwargs: Kwargs) -> Value:
    """`cls(*args, **kwargs)`."""
    if issubclass(cls, BaseException):
        return it.make_exception(cls, args, kwargs)
    if issubclass(cls, enum.Enum):
        return _member(it, cls, args, kwargs)
    if cls is types.SimpleNamespace and not args:
        return Items("object", tuple(kwargs), tuple(kwargs.values()), cls)
    if typing.is_typeddict(cls):
        return it.call(Const(dict), args, kwargs)
    if not _is_read(cls, args, kwargs):
        if cls.__module__ != "builtins" and issubclass(cls, _BUILT_IN) and not is_library(cls):
            raise built_in(it, cls)
        return it.call_foreign(cls, args, kwargs)
    own_call = class_lookup.own_method(type(cls), "__call__")
    if own_call is not None:
        return it.call(Const(own_call), [Const(cls), *args], kwargs)
    plainly = partial(construct_plainly, it, cls, args, kwargs)
    if cls.__module__.split(".")[0] in ("numpy", "scipy"):
        return it.read_of_library(cls, plainly, args, kwargs)
    return plainly()


def _member(it: Interpreter, cls: type, args: Args, kwargs: Kwargs) -> Value:
    """The member of an `Enum` for a value."""
    if all(isinstance(arg, Const) for arg in args) and not kwargs:
        try:
            return Const(cls(*(arg.value for arg in args if isinstance(arg, Const))))
        except Exception:  # whatever its `_missing_` raises
            fail_now(it, cls, *args)
    return it.opaque(cls, args, kwargs)


_BUILT_IN = (list, dict, set, tuple, collections.deque, str, bytes, int, float, complex)


def is_library(cls: type) -> bool:
    """Whether a class comes with Python, NumPy or SciPy."""
    return cls.__module__.split(".")[0] in (*sys.stdlib_module_names, "numpy", "scipy")


def _is_read(cls: type, args: Args, kwargs: Kwargs) -> bool:
    """Whether an object of a class is taken apart; others are made by calling the class."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return True
    if not _is_written_in_python(cls):
        return False
    given = [*args, *kwargs.values()]
    return not is_library(cls) or not all(map(_is_of_library, given))


def _is_of_library(value: Value) -> bool:
    """Whether a value is known, and no object of a class whose code is the program's."""
    cls = object_class(value)
    return isinstance(value, Const) and (cls is None or is_library(cls))


def _is_written_in_python(cls: type) -> bool:
    if cls.__module__ == "builtins":
        return False
    made = [class_lookup.static_lookup(cls, name) for name in ("__init__", "__new__")]
    builtin = types.WrapperDescriptorType | types.BuiltinFunctionType | types.MethodDescriptorType
    foreign = [found for found in made if isinstance(found, builtin) and not _of_object(found)]
    written = any(not isinstance(found, builtin) for found in made)
    return not foreign or written


def _of_object(found: Any) -> bool:
    return found in (object.__init__, object.__new__)


def construct_plainly(it: Interpreter, cls: type, args: Args, kwargs: Kwargs) -> Value:
    """What `type.__call__` does."""
    _note_class(it, cls)
    missing: list[str] = sorted(getattr(cls, "__abstractmethods__", ()))
    if missing:
        raise_now(it, TypeError, _abstract(cls, missing))
    new = class_lookup.static_lookup(cls, "__new__")
    init = class_lookup.static_lookup(cls, "__init__")
    if new is object.__new__ and init is object.__init__ and (args or kwargs):
        raise_now(it, TypeError, f"{cls.__name__}() takes no arguments")
    made = _new(it, cls, new, args, kwargs)
    if not _is_instance(made, cls) or (isinstance(made, Items) and made.form == "namedtuple"):
        return made
    cls = class_lookup.class_of(made) or cls  # `__new__` may make an object of a subclass
    return initialised(it, cls, made, args, kwargs)


def initialised(it: Interpreter, cls: type, made: Value, args: Args, kwargs: Kwargs) -> Value:
    """A new object after its `__init__`."""
    init = class_lookup.static_lookup(cls, "__init__")
    if is_generated_init(cls, init):
        return _init_dataclass(it, cls, made, args, kwargs)
    if init is not object.__init__ and not _is_protocols(init):
        it.call(objects.from_class(it, made, cls, "__init__", init), args, kwargs)
    return now(it, made)


def _note_class(it: Interpreter, cls: type) -> None:
    """Note that the program makes objects of a class.

    Raises:
        NeedsWhole: operators were read that may be those of the class, and no check was made.
    """
    from .operators import says_of_operators

    if cls in it.reading.made_of:
        return
    it.reading.made_of.add(cls)
    if says_of_operators(cls, it.reading.asked_of_unknown):
        raise NeedsWhole


def _is_protocols(init: Any) -> bool:
    """Whether a constructor is the one that `typing.Protocol` gives to its subclasses."""
    return getattr(init, "__qualname__", "") == "_no_init_or_replace_init"


def _abstract(cls: type, missing: list[str]) -> str:
    plural = "s" if len(missing) > 1 else ""
    if sys.version_info < (3, 12):
        listed = ", ".join(missing)
        return (
            f"Can't instantiate abstract class {cls.__name__} with abstract method{plural} {listed}"
        )
    listed = ", ".join(f"'{name}'" for name in missing)
    return (
        f"Can't instantiate abstract class {cls.__name__} without an implementation for abstract "
        f"method{plural} {listed}"
    )


def _is_instance(value: Value, cls: type) -> bool:
    known = class_lookup.class_of(value)
    return known is not None and issubclass(known, cls)


# --- __new__ ------------------------------------------------------------------------------


def _new(it: Interpreter, cls: type, new: Any, args: Args, kwargs: Kwargs) -> Value:
    if isinstance(new, staticmethod):
        new = new.__func__
    if new is object.__new__:
        return blank(it, cls, args)
    if isinstance(new, types.FunctionType) and not _makes_namedtuple(cls, new):
        return now(it, it.call(Const(new), [Const(cls), *args], kwargs))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return new_namedtuple(it, cls, args, kwargs)
    raise built_in(it, cls)


def _makes_namedtuple(cls: type, new: types.FunctionType) -> bool:
    return issubclass(cls, tuple) and class_lookup.is_generated(new)


def blank(it: Interpreter, cls: type, args: Args = ()) -> Items:
    """`object.__new__(cls)`; of a tuple `tuple.__new__(cls, *args)`."""
    form = class_lookup.form_of_contents(cls)
    if form is None:
        return Items("dataclass" if dataclasses.is_dataclass(cls) else "object", (), (), cls)
    contents: Value = Items(form, (), ())
    if form == "tuple" and args:
        contents = it.as_tuple(args[0])
    return Items("object", (CONTENTS,), (contents,), cls)


def built_in(it: Interpreter, cls: type) -> Exception:
    """The error for a class that is built on one that is not written in Python."""
    base = next((c.__name__ for c in cls.__mro__[1:] if c in _BUILT_IN), "C code")
    return it.unsupported(
        f"{cls.__name__} is built on `{base}`: its objects cannot be created inside a differentiated "
        "function",
        "Keep what it is built on as an attribute of a plain class, or create the object outside.",
    )


def new_namedtuple(it: Interpreter, cls: type, args: Args, kwargs: Kwargs) -> Items:
    """A namedtuple from its fields."""
    if class_lookup.static_lookup(cls, "__init__") is not object.__init__:
        raise built_in(it, cls)
    fields = namedtuple_fields(cls)
    defaults = {name: bound_before(it, value) for name, value in cls._field_defaults.items()}  # type: ignore[attr-defined]
    parameters = [Parameter(name, defaults.get(name)) for name in fields]
    values = _bind(it, f"{cls.__name__}.__new__", parameters, args, kwargs, first="_cls")
    return Items("namedtuple", fields, tuple(values[name] for name in fields), cls)


# --- dataclasses --------------------------------------------------------------------------


class Parameter(typing.NamedTuple):
    """A parameter of a constructor that Python generates."""

    name: str
    default: Value | None
    keyword_only: bool = False


def _made_by(factory: Any) -> Native:
    """Stands for an argument that was not given, whose value a factory makes."""
    return Native(DEFAULT_FACTORY, lambda it, args, kwargs: it.call(as_known(factory), [], {}))


def init_of_base(it: Interpreter, owner: type, args: Args, kwargs: Kwargs) -> Value:
    """`super().__init__(…)`, where `@dataclass` has written what is called: others know the object already."""
    made = now(it, args[0])
    assert isinstance(made, Items)
    place_of(it, made)
    _init_dataclass(it, owner, made, args[1:], kwargs)
    return Const(None)


def _init_dataclass(it: Interpreter, cls: type, made: Value, args: Args, kwargs: Kwargs) -> Value:
    """What the `__init__` does that `@dataclass` writes."""
    # of the class whose decorator wrote it: a subclass may add attributes, but no fields
    owner = next(base for base in cls.__mro__ if "__init__" in vars(base))
    every = [f for f in _fields(owner) if _kind_of_field(f) != "_FIELD_CLASSVAR"]
    parameters = [Parameter(f.name, _default(it, f), bool(f.kw_only)) for f in every if f.init]
    given = _bind(it, f"{owner.__qualname__}.__init__", parameters, args, kwargs, first="self")
    for f in every:
        if f.name in given:
            value = settled_default(it, given[f.name])
        elif f.default_factory is not dataclasses.MISSING:
            value = it.call(as_known(f.default_factory), [], {})
        else:
            continue
        if _kind_of_field(f) == "_FIELD_INITVAR":
            given[f.name] = value
        else:
            made = _with_field(it, made, f.name, value)
    if hasattr(cls, "__post_init__"):
        variables = [given[f.name] for f in every if _kind_of_field(f) == "_FIELD_INITVAR"]
        current = now(it, made)
        assert isinstance(current, Items)
        it.call(it.attribute_of_object(current, "__post_init__"), variables, {})
    return now(it, made)


def _fields(cls: type) -> list[Any]:
    return list(cls.__dataclass_fields__.values())  # type: ignore[attr-defined]


def _kind_of_field(f: Any) -> str:
    return f._field_type.name  # noqa: SLF001


def _default(it: Interpreter, f: Any) -> Value | None:
    if f.default_factory is not dataclasses.MISSING:
        return _made_by(f.default_factory)
    if f.default is dataclasses.MISSING:
        return None
    if f.default is None or isinstance(f.default, (bool, int, float, complex, str, tuple)):
        return as_known(f.default)
    return it.lift(f, f.name, f.default, key="default")


def _with_field(it: Interpreter, made: Value, name: str, value: Value) -> Value:
    """`self.name = value`, as a generated constructor does it."""
    current = now(it, made)
    assert isinstance(current, Items)
    cls = current.type
    by_class = class_lookup.is_data_descriptor(class_lookup.static_lookup(cls, name))
    if getattr(cls.__dataclass_params__, "frozen", False):
        own = False
    else:
        own = class_lookup.own_method(cls, "__setattr__") is not None
    if current.place is None and not by_class and not own:
        # nobody else knows it yet: nothing changes
        return Items(current.form, (*current.keys, name), (*current.values, value), cls)
    (object_changes.assign if own else object_changes.assign_plainly)(it, current, name, value)
    return current


def _bind(
    it: Interpreter,
    qualname: str,
    parameters: Sequence[Parameter],
    args: Args,
    kwargs: Kwargs,
    *,
    first: str,
) -> dict[str, Value]:
    """Arguments by parameter name; wrong ones raise what Python raises."""
    plain = [p for p in parameters if not p.keyword_only]
    keyword_only = [p for p in parameters if p.keyword_only]
    node = ast.FunctionDef(
        name=qualname.rpartition(".")[2],
        args=ast.arguments(
            posonlyargs=[ast.arg(first)],
            args=[ast.arg(p.name) for p in plain],
            kwonlyargs=[ast.arg(p.name) for p in keyword_only],
            kw_defaults=[],
            defaults=[],
        ),
        body=[],
        decorator_list=[],
    )
    closure = Closure(
        node,
        "",
        Scope({}),
        tuple(p.default for p in plain if p.default is not None),
        {p.name: p.default for p in keyword_only if p.default is not None},
        qualname=qualname,
    )
    return bind_arguments(it, closure, [Const(None), *args], kwargs)
