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
        return array if array is self else wrap(array)

    def __setitem__(self, index, value):
        items = as_items(value)
        if isinstance(items, np.ndarray) and items.ndim == 0:
            items = items[()]  # or the array itself would become the item
        super().__setitem__(index, items)

    def fill(self, value):
        self[...] = value

    def put(self, indices, values, mode="raise"):
        super().put(indices, as_items(values), mode)

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

    def clip(self, low=None, high=None, out=None):
        return numpy.clip(self, low, high, out=out)

    def round(self, digits=0):
        return numpy.round(self, digits)

    def astype(self, dtype, **options):
        return numpy.array(self, dtype)


# NumPy asks for this where numbers meet arrays of integers
Exact.__array_wrap__ = lambda self, array, context=None, return_scalar=False: wrap(array)


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


def as_items(value):
    """A value as items of an array of exact numbers."""
    if isinstance(value, ExactArray | Exact):
        return value
    with np.errstate(invalid="ignore"):  # what `np.empty` holds may be a signalling NaN
        return np.asarray(_exact_item(np.asarray(value, dtype=object)), dtype=object)


_exact_item = np.frompyfunc(lambda item: item if item is None else Exact(item), 1, 1)


# Elementwise, by moving, by adding, by making


class Elementwise:
    """A ufunc's twin, by a function of numbers; `of_integers` is for what counts or selects."""

    def __init__(self, function, arity, of_integers=None):
        self.arity = arity
        self.of_integers = of_integers
        self.ufunc = np.frompyfunc(function, arity, 1)

    def __call__(self, *args, out=None, **options):
        if len(args) not in (self.arity, self.arity + 1):
            raise NotCovered(f"{self.arity} operands expected, {len(args)} given")
        *args, out = args if len(args) > self.arity else (*args, out)
        if self.of_integers is not None and all(_is_integer(arg) for arg in args):
            return self.of_integers(*args, out=out, **options)
        operands = [exact(_arrays(arg)) for arg in args]
        return wrap(self.ufunc(*operands, out=out, **options))

    def at(self, array, indices, *values):
        self.ufunc.at(array, indices, *map(as_items, values))

    def reduce(self, array, *args, **options):
        return wrap(self.ufunc.reduce(_arrays(array), *args, **options))

    def accumulate(self, array, *args, **options):
        return wrap(self.ufunc.accumulate(_arrays(array), *args, **options))

    def outer(self, a, b):
        return wrap(self.ufunc.outer(_arrays(a), _arrays(b)))


class Arithmetic(Elementwise):
    """The twin of a ufunc that is good for objects as it is."""

    def __init__(self, ufunc):
        self.ufunc = ufunc

    def __call__(self, *args, **options):
        return wrap(self.ufunc(*map(_arrays, args), **options))


def _is_integer(value):
    return np.asarray(value).dtype.kind in "biu"


def _arrays(value):
    return _array(value) if isinstance(value, list | tuple) else value


def _through(function):
    """A NumPy function that only moves, adds or multiplies elements: good for objects as it is."""

    def call(*args, **options):
        return wrap(function(*args, **options))

    return call


def _made(function):
    """A NumPy function that makes an array: what would be floats are exact numbers."""

    def call(*args, **options):
        made = function(*args, **options)
        return made if made.dtype.kind in "biu" else as_items(np.asarray(made)).view(ExactArray)

    return call


def _test(question):
    ufunc = np.frompyfunc(lambda x: bool(question(plain(x))), 1, 1)

    def call(value):
        answers = ufunc(_arrays(value))
        return answers.astype(bool) if isinstance(answers, np.ndarray) else answers

    return call


def _array(value, dtype=None, **options):
    plain = np.array(value)
    if dtype is None and plain.dtype.kind in "biu":
        return plain  # an index or a mask
    kind = np.dtype(object if dtype is None else dtype)
    if kind.kind in "bi":
        whole = np.frompyfunc(bool if kind.kind == "b" else int, 1, 1)(plain)
        return np.asarray(whole).astype(kind)
    if kind.kind not in "fcO":
        raise NotCovered(f"an array of {dtype} in the oracle")
    return wrap(np.array(as_items(value), dtype=object))


def _asarray(value, dtype=None):
    kinds = "biuO" if dtype is None else np.dtype(dtype).kind
    if isinstance(value, np.ndarray) and value.dtype.kind in kinds:
        return value
    return _array(value, dtype)


def _arange(*bounds, dtype=None):
    if any(isinstance(bound, Exact) for bound in bounds):
        start, stop, step = _range_of(bounds)
        count = max(int(context.ceil(plain((stop - start) / step))), 0)
        return _array([start + step * k for k in range(count)], dtype=object)
    return _made(np.arange)(*bounds, dtype=dtype)


def _range_of(bounds):
    match bounds:
        case [stop]:
            return 0, stop, 1
        case [start, stop]:
            return start, stop, 1
    return bounds


def _copyto(target, source, where=True):
    np.copyto(target, as_items(source) if isinstance(target, ExactArray) else source, where=where)


def _writing(function):
    """A NumPy function that writes its last argument into its first."""

    def call(array, *args, **options):
        *where, value = args
        function(array, *where, as_items(value) if array.dtype == object else value, **options)

    return call


def _bincount(indices, weights=None, minlength=0):
    if weights is None:
        return np.bincount(indices, minlength=minlength)
    counts = numpy.zeros(max(np.max(indices, initial=-1) + 1, minlength))
    np.add.at(counts, indices, weights)
    return counts


def _isclose(a, b, rtol=1e-5, atol=1e-8):
    return numpy.abs(a - b) <= atol + rtol * numpy.abs(b)


def _trapezoid(y, x=None, dx=1.0):
    return np.sum((y[1:] + y[:-1]) / 2 * (dx if x is None else x[1:] - x[:-1]))


class Draws:
    """A generator of random numbers whose draws are exact numbers."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def __getattr__(self, name):
        method = getattr(self.generator, name)
        return lambda *args, **options: exact(method(*args, **options))


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


def _clip(x, low, high, out=None):
    if low is not None:
        x = numpy.maximum(x, low)
    if high is not None:
        x = numpy.minimum(x, high)
    if out is None:
        return x
    out[...] = x
    return out


def _linspace(start, stop, num=50, endpoint=True):
    intervals = max(num - 1 if endpoint else num, 1)
    return _array([start + (stop - start) * k / intervals for k in range(num)], dtype=object)


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
    triu tril shape ndim size ndindex ndenumerate errstate shares_memory may_share_memory
    take take_along_axis ix_ meshgrid unique nonzero flatnonzero array_equal searchsorted
    append insert delete pad rot90 fliplr flipud dstack convolve triu_indices tril_indices
    diag_indices unravel_index ravel_multi_index isin
""".split()

_MADE = "zeros ones full eye identity empty zeros_like ones_like full_like empty_like indices tri"

_ARITHMETIC = """
    add subtract multiply divide true_divide floor_divide power negative positive float_power
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_not
    bitwise_and bitwise_or invert
""".split()

_RENAMED = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
            "arccosh": "acosh", "arctanh": "atanh", "deg2rad": "radians",
            "rad2deg": "degrees"}  # fmt: skip
_UNARY = [name for name in FUNCTIONS if name not in ("copysign", "fmod", "remainder")]

numpy = Covered(
    _name="np",
    **{name: _through(getattr(np, name)) for name in _THROUGH},
    **{name: _made(getattr(np, name)) for name in _MADE.split()},
    **{name: Arithmetic(getattr(np, name)) for name in _ARITHMETIC},
    **{name: _writing(getattr(np, name)) for name in ("fill_diagonal", "put", "putmask", "place")},
    **{name: Elementwise(FUNCTIONS[name], 1) for name in _UNARY},
    **{name: Elementwise(FUNCTIONS[source], 1) for name, source in _RENAMED.items()},
    **{name: Elementwise(abs, 1, np.abs) for name in ("abs", "absolute")},
    square=Elementwise(lambda x: x * x, 1),
    reciprocal=Elementwise(lambda x: 1 / x, 1),
    sign=Elementwise(of_numbers(signum), 1),
    floor=Elementwise(of_numbers(context.floor), 1),
    ceil=Elementwise(of_numbers(context.ceil), 1),
    trunc=Elementwise(of_numbers(truncated), 1),
    rint=Elementwise(of_numbers(context.nint), 1),
    round=lambda x, digits=0: Elementwise(lambda item: Exact(round(Exact(item), digits)), 1)(x),
    real=Elementwise(lambda x: Exact(x).real, 1),
    imag=Elementwise(lambda x: Exact(x).imag, 1),
    conj=Elementwise(lambda x: Exact(x).conjugate(), 1),
    angle=Elementwise(of_numbers(context.arg), 1),
    isfinite=_test(context.isfinite),
    isnan=_test(context.isnan),
    isinf=_test(context.isinf),
    maximum=Elementwise(max, 2, np.maximum),
    minimum=Elementwise(min, 2, np.minimum),
    hypot=Elementwise(hypotenuse, 2),
    arctan2=Elementwise(of_numbers(context.atan2), 2),
    copysign=Elementwise(FUNCTIONS["copysign"], 2),
    fmod=Elementwise(FUNCTIONS["fmod"], 2),
    mod=Elementwise(lambda a, b: a % b, 2, np.mod),
    remainder=Elementwise(lambda a, b: a % b, 2, np.mod),
    logaddexp=Elementwise(of_numbers(log_of_sum), 2),
    array=_array,
    asarray=_asarray,
    ascontiguousarray=_asarray,
    copy=_array,
    arange=_arange,
    copyto=_copyto,
    bincount=_bincount,
    isclose=_isclose,
    allclose=lambda *args, **options: bool(np.all(_isclose(*args, **options))),
    trapezoid=_trapezoid,
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
    int64=np.int64, intp=np.intp, bool_=np.bool_, s_=np.s_, random=Covered(_name="np.random", default_rng=Draws),
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
