"""NumPy's universal functions over the standard's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import NoRule
from ...ir.records import record
from . import indexing
from .duck import Array, Duck
from .namespace import Namespace
from .table import UFUNCS, like_numpys

Formula = Callable[..., Any]
"""Takes the standard's namespace and arrays."""


@record
class Ufunc:
    """A universal function: `np.add`, with `np.add.at` and the others."""

    space: Namespace
    name: str
    formula: Formula
    floating: bool

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *args: Any, out: Any = None, where: Any = True, **options: Any) -> Any:
        dtype = options.get("dtype")
        if not options.keys() <= {"dtype", "casting", "subok", "order"}:
            raise NoRule(
                f"`np.{self.name}` has no option `{min(options)}` for arrays of {self.space.library.name} yet",
                "Leave the option out, or compute this part with NumPy arrays.",
            )
        if not any(isinstance(x, (Duck, list, tuple, np.ndarray)) for x in (*args, where)):
            result = getattr(np, self.name)(*args, **options)
        else:
            raws = self.space.arrays(*args, floating=self.floating)
            if dtype is not None:
                raws = [self.space.astype(raw, dtype) for raw in raws]
            result = self.space.wrapped(self.formula(self.space.xp, *raws))
        if out is None:
            return result
        if where is not True:
            result = self.space.numpy.where(where, result, out)
        out[...] = result
        return out

    def at(self, x: Array, key: Any, *values: Any) -> None:
        if self.name not in ("add", "subtract"):
            raise NoRule(
                f"`np.{self.name}.at` has no form for arrays of {self.space.library.name} yet",
                "Write a loop over the places.",
            )
        value = values[0] if self.name == "add" else -self.space.numpy.asarray(values[0])
        indexing.add_at(self.space, x, key, value)

    def reduce(self, x: Any, axis: Any = 0, **options: Any) -> Any:
        return getattr(self.space.numpy, _REDUCED[self.name])(x, axis=axis, **options)

    def accumulate(self, x: Any, axis: int = 0) -> Any:
        np_ = self.space.numpy
        if self.name in ("add", "multiply"):
            return (np_.cumsum if self.name == "add" else np_.cumprod)(x, axis=axis)
        items = list(np_.moveaxis(np_.asarray(x), axis, 0))
        for k in range(1, len(items)):
            items[k] = self(items[k - 1], items[k])
        return np_.moveaxis(np_.stack(items), 0, axis)

    def outer(self, x: Any, y: Any) -> Any:
        np_ = self.space.numpy
        shape = (*np_.shape(x), *(1 for _ in np_.shape(y)))
        return self(np_.reshape(x, shape), y)


_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}


def _declare(name: str, formula: Formula, *, floating: bool) -> None:
    UFUNCS[name] = lambda space: Ufunc(space, name, formula, floating)


def _named(name: str) -> Formula:
    return lambda xp, *args: getattr(xp, name)(*args)


_FLOATING = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log")},
    **{name: name for name in ("log1p", "log2", "log10", "sqrt", "hypot", "logaddexp", "copysign")},
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "divide": "divide",
    "true_divide": "divide",
    "nextafter": "nextafter",
}
_AS_GIVEN = {
    **{name: name for name in ("add", "subtract", "multiply", "floor_divide", "remainder", "abs")},
    **{name: name for name in ("maximum", "minimum", "equal", "not_equal", "less", "less_equal")},
    **{name: name for name in ("greater", "greater_equal", "sign", "square", "floor", "ceil")},
    **{name: name for name in ("trunc", "negative", "positive", "isnan", "isinf", "isfinite")},
    **{name: name for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "signbit")},
    "absolute": "abs",
    "mod": "remainder",
    "rint": "round",
    "invert": "bitwise_invert",
    "fabs": "abs",
    "fix": "trunc",
}


def _cbrt(xp: Any, x: Any) -> Any:
    y = xp.sign(x) * xp.abs(x) ** (1 / 3)
    is_exact = (y == 0) | ~xp.isfinite(y)
    one = xp.ones_like(y)
    base, cube = xp.where(is_exact, one, y), xp.where(is_exact, one, x)
    better = base - (base - cube / (base * base)) / 3  # a step of Newton's, to the last digit
    return xp.where(is_exact, y, better)


def _truth(xp: Any, x: Any) -> Any:
    return x if "bool" in str(x.dtype) else x != 0


def _sinc(xp: Any, x: Any) -> Any:
    angle = math.pi * xp.where(x == 0, xp.ones_like(x), x)
    return xp.where(x == 0, xp.ones_like(x), xp.sin(angle) / angle)


def _either(choose: str) -> Formula:
    def formula(xp: Any, x: Any, y: Any) -> Any:
        best = getattr(xp, choose)(x, y)
        return xp.where(xp.isnan(x), y, xp.where(xp.isnan(y), x, best))

    return formula


def _power(xp: Any, x: Any, y: Any) -> Any:
    return x**y


def _conj(xp: Any, x: Any) -> Any:
    return xp.conj(x) if "complex" in str(x.dtype) else x


def _logaddexp2(xp: Any, x: Any, y: Any) -> Any:
    return xp.logaddexp(x * math.log(2), y * math.log(2)) / math.log(2)


_FORMULAS: dict[str, tuple[Formula, bool]] = {
    "cbrt": (_cbrt, True),
    "exp2": (lambda _, x: 2.0**x, True),
    "degrees": (lambda xp, x: x * (180 / math.pi), True),
    "rad2deg": (lambda xp, x: x * (180 / math.pi), True),
    "radians": (lambda xp, x: x * (math.pi / 180), True),
    "deg2rad": (lambda xp, x: x * (math.pi / 180), True),
    "sinc": (_sinc, True),
    "reciprocal": (lambda xp, x: 1 / x, True),
    "logaddexp2": (_logaddexp2, True),
    "fmax": (_either("maximum"), True),
    "fmin": (_either("minimum"), True),
    "fmod": (lambda xp, x, y: xp.remainder(xp.abs(x), xp.abs(y)) * xp.sign(x), False),
    "power": (_power, False),
    "float_power": (_power, True),
    "pow": (_power, False),
    "conj": (_conj, False),
    "conjugate": (_conj, False),
    "logical_not": (lambda xp, x: ~_truth(xp, x), False),
    "logical_and": (lambda xp, x, y: _truth(xp, x) & _truth(xp, y), False),
    "logical_or": (lambda xp, x, y: _truth(xp, x) | _truth(xp, y), False),
    "logical_xor": (lambda xp, x, y: _truth(xp, x) ^ _truth(xp, y), False),
    "heaviside": (
        lambda xp, x, y: xp.where(x == 0, y, xp.where(xp.isnan(x), x, xp.astype(x > 0, x.dtype))),
        True,
    ),
}
for each, standard in _FLOATING.items():
    _declare(each, _named(standard), floating=True)
for each, standard in _AS_GIVEN.items():
    _declare(each, _named(standard), floating=False)
for each, (its_formula, is_floating) in _FORMULAS.items():
    _declare(each, its_formula, floating=is_floating)


def real(space: Namespace, x: Any) -> Any:
    if not isinstance(x, Duck):
        return np.real(x)
    return space.wrapped(space.xp.real(x.raw)) if x.dtype.kind == "c" else x


def imag(space: Namespace, x: Any) -> Any:
    if not isinstance(x, Duck):
        return np.imag(x)
    complex_ = x.dtype.kind == "c"
    return space.wrapped(space.xp.imag(x.raw) if complex_ else space.xp.zeros_like(x.raw))


def angle(space: Namespace, z: Any) -> Any:
    np_ = space.numpy
    return np_.arctan2(np_.imag(z), np_.real(z))


def round_(space: Namespace, x: Any, decimals: int = 0) -> Any:
    raw = space.array(x)
    if decimals:
        return space.wrapped(space.xp.round(raw * 10.0**decimals) / 10.0**decimals)
    return space.wrapped(space.xp.round(raw))


def around(space: Namespace, x: Any, decimals: int = 0) -> Any:
    return round_(space, x, decimals)


def clip(
    space: Namespace,
    x: Any,
    a_min: Any = None,
    a_max: Any = None,
    min: Any = None,  # noqa: A002  # as NumPy calls it
    max: Any = None,  # noqa: A002
) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    np_ = space.numpy
    x = x if low is None else np_.maximum(x, low)
    return x if high is None else np_.minimum(x, high)


def nan_to_num(
    space: Namespace, x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    np_, x = space.numpy, space.numpy.asarray(x)
    limits = np.finfo(x.dtype)
    x = np_.where(np_.isnan(x), nan, x)
    x = np_.where(x == math.inf, limits.max if posinf is None else posinf, x)
    return np_.where(x == -math.inf, limits.min if neginf is None else neginf, x)


like_numpys(globals())
