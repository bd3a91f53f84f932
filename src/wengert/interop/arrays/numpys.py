"""What stands for `np` and `math`: functions over the library, and what is no matter of arrays as it is."""

from __future__ import annotations

import cmath
import inspect
import math
from collections.abc import Callable
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import NoRule
from ...ir.records import record
from .duck import Array, Duck, Scalar
from .table import FUNCTIONS, MODULES, UFUNCS

if TYPE_CHECKING:
    from .namespace import Namespace


class Numpy:
    """NumPy's names: functions over the library, and what is no matter of arrays as NumPy has it."""

    def __init__(self, space: Namespace):
        self._space = space

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = _found(self._space, name)
        return value

    @cached_property
    def linalg(self) -> Any:
        return Inner(self._space, "linalg")

    @cached_property
    def fft(self) -> Any:
        return Inner(self._space, "fft")

    @property
    def ndarray(self) -> Any:
        return Array

    @property
    def lib(self) -> Any:
        return np.lib


@record
class Inner:
    """`np.linalg` or `np.fft`."""

    space: Namespace
    name: str

    def __getattr__(self, name: str) -> Any:
        if name == "LinAlgError":
            return np.linalg.LinAlgError
        return _found(self.space, f"{self.name}_{name}")


def _found(space: Namespace, name: str) -> Any:
    for module in MODULES:
        import_module(f".{module}", __package__)
    if name in FUNCTIONS:
        return _with_options(FUNCTIONS[name], space)
    known = UFUNCS.get(name)
    if known is not None:
        return known(space)
    if name in _SCALARS:
        return _SCALARS[name]
    if name in AS_THEY_ARE or isinstance(getattr(np, name, None), (type, float, int)):
        return getattr(np, name)
    if space.library.like_numpy is not None:
        found = _of_like_numpy(space, name)
        if found is not None:
            return found
    raise NoRule(
        f"`np.{'.'.join(_parts_of(name))}` has no form for arrays of {space.library.name} yet",
        "Compute this part with NumPy arrays, or by functions of the array API standard.",
    )


def _parts_of(name: str) -> list[str]:
    """`linalg_solve` is `np.linalg.solve`."""
    return name.split("_", 1) if name.startswith(("linalg_", "fft_")) else [name]


AS_THEY_ARE = frozenset(
    (
        *("dtype", "finfo", "iinfo", "errstate", "seterr", "geterr", "promote_types"),
        *("can_cast", "ndindex", "ogrid", "mgrid", "newaxis", "s_", "index_exp", "random"),
        *("tril_indices", "triu_indices", "diag_indices"),
        *("issubdtype", "isscalar", "broadcast_shapes", "min_scalar_type", "einsum_path"),
    )
)
"""What NumPy computes of shapes, dtypes and indices alone."""


def _of_like_numpy(space: Namespace, name: str) -> Any:
    place = space.library.like_numpy
    for part in _parts_of(name):
        place = getattr(place, part, None)
    if place is None:
        return None

    def call(*args: Any, **options: Any) -> Any:
        found = place(*map(bare, args), **{key: bare(x) for key, x in options.items()})
        return _whole(space, found)

    return call


def bare(x: Any) -> Any:
    """A value with the library's own arrays in it."""
    if isinstance(x, Duck):
        return x.raw
    if type(x) in (list, tuple):
        return type(x)(map(bare, x))
    return {key: bare(each) for key, each in x.items()} if type(x) is dict else x


def _whole(space: Namespace, x: Any) -> Any:
    if isinstance(x, tuple) and not hasattr(x, "shape"):
        return tuple.__new__(type(x), [_whole(space, each) for each in x])
    return space.wrapped(x) if hasattr(x, "shape") else x


_WITHOUT_EFFECT = frozenset(
    ("subok", "casting", "kind", "stable", "optimize", "like", "device", "copy")
)
"""Options of NumPy's functions that change no result here."""


def _with_options(function: Callable[..., Any], space: Namespace) -> Callable[..., Any]:
    name = ".".join(_parts_of(function.__name__.rstrip("_")))
    known = inspect.signature(function).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in known.values())

    def call(*args: Any, **options: Any) -> Any:
        if options:
            options = {key: x for key, x in options.items() if key not in _WITHOUT_EFFECT}
            unknown = [] if takes_all else [key for key in options if key not in known]
            if unknown:
                raise NoRule(
                    f"`np.{name}` has no option `{unknown[0]}` for arrays of {space.library.name} yet",
                    "Leave the option out, or compute this part with NumPy arrays.",
                )
        return function(space, *args, **options)

    return call


class _OfKind(type):
    """The class of NumPy's abstract classes of scalars, which those of other libraries are instances of."""

    kinds: str
    original: type

    def __instancecheck__(cls, x: Any) -> bool:
        if isinstance(x, Duck):
            return isinstance(x, Scalar) and x.dtype.kind in cls.kinds
        return isinstance(x, cls.original)


def _of_kind(name: str, kinds: str) -> Any:
    original = getattr(np, name)
    return _OfKind(name, (), {"kinds": kinds, "original": original})


_SCALARS = {
    name: _of_kind(name, kinds)
    for name, kinds in (
        ("generic", "biufc"),
        ("number", "iufc"),
        ("inexact", "fc"),
        ("floating", "f"),
        ("complexfloating", "c"),
        ("integer", "iu"),
    )
}


class Mathematics:
    """`math` and `cmath`: of arrays without axes what the library computes, of numbers what Python does."""

    def __init__(self, space: Namespace):
        self._space = space

    def __getattr__(self, name: str) -> Any:
        plain = getattr(math, name, None) or getattr(cmath, name)
        if not callable(plain):
            value: Any = plain
        else:
            value = partial(self._called, plain, _NUMPYS.get(name, name))
        self.__dict__[name] = value
        return value

    def _called(self, plain: Callable[..., Any], name: str, *args: Any) -> Any:
        if not any(isinstance(arg, Duck) for arg in args):
            return plain(*args)
        found = getattr(self._space.numpy, name)(*args)
        return found


_NUMPYS = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "atan2": "arctan2",
    "pow": "power",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "fsum": "sum",
}
