"""NumPy on numbers of sixty digits: object arrays, with everything that NumPy would get wrong."""

from __future__ import annotations

import operator

import numpy as np
from exact import (
    FUNCTIONS,
    Covered,
    Exact,
    NotCovered,
    context,
    hypotenuse,
    log_of_sum,
    math_,
    of_numbers,
    plain,
    signum,
    truncated,
)


class ExactArray(np.ndarray):
    """An object array of exact numbers, with the methods that NumPy gets wrong for objects."""

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return wrap(array)

    @property
    def real(self):
        return numpy.real(self)

    @property
    def imag(self):
        return numpy.imag(self)

    def conj(self):
        return numpy.conj(self)

    conjugate = conj

    def mean(self, *args, **options):
        return numpy.mean(self, *args, **options)

    def var(self, *args, **options):
        return numpy.var(self, *args, **options)

    def std(self, *args, **options):
        return numpy.std(self, *args, **options)

    def clip(self, low, high):
        return numpy.clip(self, low, high)

    def round(self, digits=0):
        return numpy.round(self, digits)

    def astype(self, dtype, **options):
        return numpy.array(self, dtype)


def wrap(value):
    """An array as an `ExactArray`, a 0-d array as its element; lists of arrays item by item."""
    if isinstance(value, list | tuple) and any(isinstance(item, np.ndarray) for item in value):
        return type(value)(wrap(item) for item in value)
    if not isinstance(value, np.ndarray) or value.dtype != object:
        return value
    return value[()] if value.ndim == 0 else value.view(ExactArray)


def exact(value):
    """A number or numeric array in high precision; integers and truth values stay."""
    if isinstance(value, ExactArray | Exact | bool | int | np.integer | np.bool_):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "biuO":
            return value
        # a 0-d array stays an array: its methods are what a program may call
        items = np.empty(value.shape, dtype=object)
        for index in np.ndindex(value.shape):
            items[index] = Exact(value[index])
        return items.view(ExactArray)
    if isinstance(value, list | tuple):
        return type(value)(exact(item) for item in value)
    return Exact(value)


# Elementwise, by moving, by adding


def _elementwise(function, arity):
    ufunc = np.frompyfunc(function, arity, 1)

    def call(*args):
        if len(args) != arity:
            raise NotCovered(f"{arity} operands expected, {len(args)} given")
        return wrap(ufunc(*(exact(_arrays(arg)) for arg in args)))

    return call


def _arrays(value):
    return np.array(value, dtype=object) if isinstance(value, list | tuple) else value


def _through(function):
    """A NumPy function that only moves, adds or multiplies elements: good for objects as it is."""

    def call(*args, **options):
        return wrap(function(*args, **options))

    return call


def _array(value, dtype=None, **options):
    plain = np.array(value)
    if plain.dtype.kind in "biu" and dtype is None:
        return plain  # an index or a mask
    if dtype is not None and np.dtype(dtype).kind not in "fcO":
        raise NotCovered(f"an array of {dtype} in the oracle")
    return wrap(np.array(exact(value), dtype=object))


def _mean(x, axis=None, keepdims=False):
    x = _array(x)
    total = np.sum(x, axis=axis, keepdims=keepdims)
    return wrap(total / (np.size(x) // max(np.size(total), 1)))


def _var(x, axis=None, ddof=0, keepdims=False):
    x = _array(x)
    away = x - _mean(x, axis, keepdims=True)
    squares = np.sum(numpy.abs(away) ** 2, axis=axis, keepdims=keepdims)
    return wrap(squares / (np.size(x) // max(np.size(squares), 1) - ddof))


def _std(x, axis=None, ddof=0, keepdims=False):
    return numpy.sqrt(_var(x, axis, ddof, keepdims))


def _clip(x, low, high):
    if low is not None:
        x = numpy.maximum(x, low)
    return x if high is None else numpy.minimum(x, high)


def _linspace(start, stop, num=50):
    return _array([start + (stop - start) * k / (num - 1) for k in range(num)])


def _vdot(a, b):
    return np.sum(numpy.conj(np.ravel(a)) * np.ravel(b))


def _polyval(p, x):
    total = 0 * x
    for coefficient in p:
        total = total * x + coefficient
    return total


_THROUGH = """
    sum prod max min amax amin cumsum cumprod any all argmax argmin argsort sort count_nonzero
    reshape ravel transpose squeeze expand_dims broadcast_to concatenate stack vstack hstack
    column_stack split array_split tile repeat flip roll moveaxis swapaxes atleast_1d atleast_2d
    where dot matmul outer inner tensordot einsum trace diag diagonal diff kron cross
    triu tril zeros ones full eye identity arange zeros_like ones_like full_like shape ndim size
    add subtract multiply divide true_divide power negative positive float_power
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not
    take ix_ meshgrid unique nonzero flatnonzero array_equal
""".split()

_RENAMED = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
            "arccosh": "acosh", "arctanh": "atanh", "deg2rad": "radians",
            "rad2deg": "degrees"}  # fmt: skip
_UNARY = [name for name in FUNCTIONS if name not in ("copysign", "fmod", "remainder")]

numpy = Covered(
    _name="np",
    **{name: _through(getattr(np, name)) for name in _THROUGH},
    **{name: _elementwise(FUNCTIONS[name], 1) for name in _UNARY},
    **{name: _elementwise(FUNCTIONS[source], 1) for name, source in _RENAMED.items()},
    **{name: _elementwise(abs, 1) for name in ("abs", "absolute")},
    square=_elementwise(lambda x: x * x, 1),
    reciprocal=_elementwise(lambda x: 1 / x, 1),
    sign=_elementwise(of_numbers(signum), 1),
    floor=_elementwise(of_numbers(context.floor), 1),
    ceil=_elementwise(of_numbers(context.ceil), 1),
    trunc=_elementwise(of_numbers(truncated), 1),
    rint=_elementwise(of_numbers(context.nint), 1),
    round=lambda x, digits=0: _elementwise(lambda item: Exact(round(Exact(item), digits)), 1)(x),
    real=_elementwise(lambda x: Exact(x).real, 1),
    imag=_elementwise(lambda x: Exact(x).imag, 1),
    conj=_elementwise(lambda x: Exact(x).conjugate(), 1),
    angle=_elementwise(of_numbers(context.arg), 1),
    isfinite=_through(np.frompyfunc(lambda x: bool(context.isfinite(plain(x))), 1, 1)),
    isnan=_through(np.frompyfunc(lambda x: bool(context.isnan(plain(x))), 1, 1)),
    maximum=_elementwise(max, 2),
    minimum=_elementwise(min, 2),
    hypot=_elementwise(hypotenuse, 2),
    arctan2=_elementwise(of_numbers(context.atan2), 2),
    copysign=_elementwise(FUNCTIONS["copysign"], 2),
    fmod=_elementwise(FUNCTIONS["fmod"], 2),
    mod=_elementwise(lambda a, b: a % b, 2),
    remainder=_elementwise(lambda a, b: a % b, 2),
    logaddexp=_elementwise(of_numbers(log_of_sum), 2),
    array=_array,
    asarray=_array,
    mean=_mean,
    average=_mean,
    var=_var,
    std=_std,
    clip=_clip,
    linspace=_linspace,
    vdot=_vdot,
    polyval=_polyval,
    float64=Exact,
    complex128=Exact,
    ndarray=np.ndarray, newaxis=None, pi=np.pi, e=np.e, inf=np.inf, nan=np.nan,
)  # fmt: skip


# Linear algebra, by the schoolbook: what counts is that nothing here is a library's


def _eliminate(matrix, right):
    """Gauss's elimination with pivots: (determinant, solution)."""
    rows = [list(left) + list(side) for left, side in zip(matrix, right, strict=True)]
    size, determinant = len(rows), Exact(1)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            determinant = -determinant
        if rows[k][k] == 0:
            return Exact(0), None
        determinant = determinant * rows[k][k]
        rows[k] = [item / rows[k][k] for item in rows[k]]
        for i in range(size):
            if i != k:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return determinant, [row[size:] for row in rows]


def _solve(matrix, right):
    right = np.asarray(right, dtype=object)
    columns = right.reshape(len(right), -1)
    _, solution = _eliminate(np.asarray(matrix, dtype=object), columns)
    if solution is None:
        raise np.linalg.LinAlgError("Singular matrix")
    return _array(solution).reshape(right.shape)


def _determinant(matrix):
    return _eliminate(matrix, np.eye(len(matrix)).astype(object))[0]


def _slogdet(matrix):
    determinant = _determinant(matrix)
    return SimpleTuple(_sign_of(determinant), math_.log(abs(determinant)))


class SimpleTuple(tuple):
    """NumPy's `SlogdetResult`: a pair that can also be read by name."""

    __slots__ = ()

    def __new__(cls, sign, logabsdet):
        return super().__new__(cls, (sign, logabsdet))

    sign = property(operator.itemgetter(0))
    logabsdet = property(operator.itemgetter(1))


_sign_of = of_numbers(signum)


def _cholesky(matrix):
    size = len(matrix)
    lower = [[Exact(0)] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            dot = sum((lower[i][k] * lower[j][k].conjugate() for k in range(j)), Exact(0))
            rest = matrix[i][j] - dot
            lower[i][j] = Exact(rest).sqrt() if i == j else rest / lower[j][j].conjugate()
    return _array(lower)


def _norm(x, ord=None, axis=None, keepdims=False):
    if ord not in (None, 1, 2, np.inf, "fro") or (ord == 2 and np.ndim(x) == 2 and axis is None):
        raise NotCovered(f"norm of order {ord}")
    sizes = numpy.abs(x)
    if ord == 1:
        return np.sum(sizes, axis=axis, keepdims=keepdims)
    if ord == np.inf:
        return np.max(sizes, axis=axis, keepdims=keepdims)
    return numpy.sqrt(np.sum(sizes * sizes, axis=axis, keepdims=keepdims))


numpy.linalg = Covered(
    _name="np.linalg",
    solve=_solve,
    inv=lambda matrix: _solve(matrix, np.eye(len(matrix))),
    det=_determinant,
    slogdet=_slogdet,
    cholesky=_cholesky,
    norm=_norm,
    LinAlgError=np.linalg.LinAlgError,
)
