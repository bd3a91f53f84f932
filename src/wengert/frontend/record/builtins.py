"""Builtins of a recorded program: types that boxes are told by, and what makes numbers of them."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from inspect import currentframe
from types import FunctionType
from typing import Any

import numpy as np

from ...numbers.number import value_of
from ...ops import elementwise as el, registry
from . import boxes
from .arrays import array
from .as_text import from_hex, refuse_as_text
from .boxes import Recorded, boxes_in
from .code import names_read_by_c
from .handlers import CAUGHT, Names
from .methods import as_numpy, as_python
from .operations import operations


class StandsFor(type):
    """The class of a type that stands for one of Python's or NumPy's: it equals that, and makes boxes of boxes."""

    real: Any
    stands_for = True

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return cls.make(*args, **keywords)  # pyright: ignore[reportAttributeAccessIssue]

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(value_of(x), cls.real)

    def __subclasscheck__(cls, other: Any) -> bool:
        return issubclass(
            getattr(other, "real", other) if type(other) is StandsFor else other, cls.real
        )

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls.real

    def __hash__(cls) -> int:
        return hash(cls.real)

    def __repr__(cls) -> str:
        return repr(cls.real)

    def __setattr__(cls, name: str, value: Any) -> None:
        setattr(cls.real, name, value)  # which says that it cannot be set

    def __delattr__(cls, name: str) -> None:
        delattr(cls.real, name)

    def __reduce_ex__(cls, protocol: Any) -> Any:
        return cls.real.__name__


def _standing(real: Any, make: Callable[..., Any]) -> Any:
    names = {
        "real": real,
        "make": staticmethod(make),
        "__module__": real.__module__,
        "__doc__": real.__doc__,
    }
    made: Any = StandsFor(real.__name__, (real,), names)
    type.__setattr__(made, "__qualname__", real.__qualname__)
    return made


def _float(x: Any = 0.0, *others: Any) -> Any:
    refuse_as_text(x)
    if type(x) is not Recorded:
        own = getattr(type(x), "__float__", None)
        if isinstance(own, FunctionType):
            found = own(x)
            return found if type(found) is Recorded else builtins.float(found)
        return builtins.float(x, *others)
    if x.memory is not None:
        builtins.float(np.zeros(value_of(x).shape))  # which says that it has several items
        x = x.reshape(-1)[0]
        if type(x) is not Recorded:
            return builtins.float(x)
    if isinstance(value_of(x), complex):
        builtins.float(value_of(x))  # which says that it cannot
    if isinstance(value_of(x), (int, np.integer)):
        return as_python(el.to_float(x))
    return as_python(x if value_of(x).__class__ in (float, np.float64) else el.to_float(x))


def _complex(real: Any = 0.0, imag: Any = 0.0) -> Any:
    refuse_as_text(real)
    if not boxes_in((real, imag)):
        return (
            builtins.complex(real, imag)
            if imag != 0.0 or not isinstance(real, str)
            else builtins.complex(real)
        )
    return as_python(_float_or_complex(real) + 1j * _float_or_complex(imag))


def _float_or_complex(x: Any) -> Any:
    if type(x) is Recorded and not np.iscomplexobj(value_of(x)):
        return _float(x)
    return x


def _numpy_number(cls: Any) -> Callable[..., Any]:
    def make(x: Any = 0.0, *others: Any) -> Any:
        refuse_as_text(x)
        if type(x) is Recorded and x.memory is None:
            value = value_of(x)
            same = isinstance(value, float) if cls is np.float64 else type(value) is cls
            return as_numpy(x, cls) if same else el_astype(x, cls)
        if boxes_in((x,)):
            return array(x, dtype=cls)
        return cls(x, *others)

    return make


def el_astype(x: Any, cls: Any) -> Any:
    """A number in another precision."""
    dtype = np.dtype(cls)
    made = as_numpy(x, np.complex128 if np.iscomplexobj(value_of(x)) else np.float64)
    below = el_astype(made.value, cls) if type(made.value) is Recorded else cls(made.value)
    return boxes.noted(x.tape, registry.named("astype"), (made,), {"dtype": dtype}, below)


FLOAT = _standing(float, _float)
type.__setattr__(FLOAT, "fromhex", staticmethod(from_hex))
COMPLEX = _standing(complex, _complex)
TYPES: dict[Any, Any] = {
    float: FLOAT,
    complex: COMPLEX,
    **{
        cls: _standing(cls, _numpy_number(cls))
        for cls in (np.float64, np.float32, np.float16, np.complex128, np.complex64)
    },
}


def real(cls: Any) -> Any:
    """The type that another one stands for; also each of a tuple, and those of a union."""
    if isinstance(cls, tuple):
        return tuple(map(real, cls))
    if type(cls) is StandsFor:
        return cls.real
    args = getattr(cls, "__args__", None)
    if args is not None and type(cls).__name__ == "UnionType":
        return tuple(map(real, args))
    if isinstance(cls, FunctionType):  # a class of a library, as what makes its objects
        return getattr(cls, "_recorded_", cls)
    return vars(cls).get("_stands_for_class_", cls) if isinstance(cls, type) else cls


class _TypeOf(type):
    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        if cls is not Type:  # a metaclass of the program's
            return super().__call__(*args, **keywords)
        if len(args) != 1:
            return builtins.type(*args, **keywords)
        return in_run(builtins.type(value_of(args[0])))

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, builtins.type)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is builtins.type

    def __hash__(cls) -> int:
        return hash(builtins.type)


Type: Any = _TypeOf("type", (type,), {})
TYPES.update({type: Type, StandsFor: Type, _TypeOf: Type})


def in_run(cls: type) -> Any:
    """What a program calls a type: what stands for it."""
    return TYPES.get(cls, cls)


def _isinstance(x: Any, cls: Any) -> bool:
    return isinstance(value_of(x) if type(x) is Recorded else x, real(cls))


def _hasattr(x: Any, name: str) -> bool:
    return hasattr(value_of(x) if type(x) is Recorded else x, name)


def _getattr(x: Any, name: str, *default: Any) -> Any:
    if type(x) is Recorded and not hasattr(value_of(x), name):
        return getattr(value_of(x), name, *default)
    return getattr(x, name, *default)


def _issubclass(cls: Any, of: Any) -> bool:
    return issubclass(real(cls), real(of))


def _next(x: Any, *default: Any) -> Any:
    return next((boxes.walk_of(x) or value_of(x)) if type(x) is Recorded else x, *default)


def _import(*args: Any, **keywords: Any) -> Any:
    return operations.current(builtins.__import__(*args, **keywords))


def _globals() -> Any:
    return operations.current(currentframe().f_back.f_globals)  # type: ignore[union-attr]


def _running_text(run: Any) -> Callable[..., Any]:
    """`eval` or `exec`, by which Python reads global names as entries of a dictionary."""

    def call(source: Any, names: Any = None, own: Any = None, /, **options: Any) -> Any:
        frame: Any = currentframe().f_back  # type: ignore[union-attr]
        names, own = options.pop("globals", names), options.pop("locals", own)
        if names is None:
            names = frame.f_globals
            if own is None:
                own = frame.f_locals if isinstance(frame.f_locals, dict) else dict(frame.f_locals)
        if isinstance(source, (str, bytes)):
            source = compile(source, "<string>", run.__name__, dont_inherit=True)
        read = getattr(names, "read", None)
        if read is not None:
            read(names_read_by_c(source))
        return run(source, names, own, **options)

    return call


def _super(*args: Any) -> Any:
    """`super`, which goes on from the program's own class: in a run its name means one that is derived from it."""
    if args:
        return builtins.super(real(args[0]), *args[1:])
    frame: Any = currentframe().f_back  # type: ignore[union-attr]
    names = frame.f_locals
    return builtins.super(names["__class__"], names[frame.f_code.co_varnames[0]])


BUILTINS: dict[str, Any] = Names({
    **{name: x for name, x in vars(builtins).items() if name not in CAUGHT},
    "float": FLOAT,
    "complex": COMPLEX,
    "type": Type,
    "isinstance": _isinstance,
    "hasattr": _hasattr,
    "getattr": _getattr,
    "next": _next,
    "issubclass": _issubclass,
    "super": _super,
    "globals": _globals,
    "eval": _running_text(eval),
    "exec": _running_text(exec),
    "__import__": _import,
})  # fmt: skip
"""What names mean in a program that is recorded, where it says nothing else of them."""

operations.names = BUILTINS
operations.in_run = in_run
