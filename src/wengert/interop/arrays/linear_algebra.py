"""Products and factorisations of matrices, and transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .duck import Array
from .namespace import Namespace
from .table import FUNCTIONS, like_numpys


def matmul(space: Namespace, x: Any, y: Any) -> Any:
    return space.wrapped(space.xp.matmul(*space.arrays(x, y)))


def dot(space: Namespace, x: Any, y: Any) -> Any:
    np_ = space.numpy
    if not np_.ndim(x) or not np_.ndim(y):
        return np_.multiply(x, y)
    if np_.ndim(y) <= 2:
        return matmul(space, x, y)
    return np_.tensordot(x, y, ((-1,), (-2,)))


def vdot(space: Namespace, x: Any, y: Any) -> Any:
    np_ = space.numpy
    return matmul(space, np_.conj(np_.ravel(x)), np_.ravel(y))


def inner(space: Namespace, x: Any, y: Any) -> Any:
    if not space.numpy.ndim(x) or not space.numpy.ndim(y):
        return space.numpy.multiply(x, y)
    return space.numpy.tensordot(x, y, ((-1,), (-1,)))


def outer(space: Namespace, x: Any, y: Any) -> Any:
    np_ = space.numpy
    return np_.ravel(x)[:, None] * np_.ravel(y)[None, :]


def tensordot(space: Namespace, x: Any, y: Any, axes: Any = 2) -> Any:
    x, y = space.arrays(x, y)
    if not isinstance(axes, int):
        left, right = ((k,) if isinstance(k, int) else tuple(k) for k in axes)
        ranks = len(x.shape), len(y.shape)
        axes = tuple(k % ranks[0] for k in left), tuple(k % ranks[1] for k in right)
    return space.wrapped(space.xp.tensordot(x, y, axes=axes))


def kron(space: Namespace, x: Any, y: Any) -> Any:
    np_ = space.numpy
    x, y = np_.asarray(x), np_.asarray(y)
    rank = max(x.ndim, y.ndim)
    a, b = ((1,) * (rank - each.ndim) + each.shape for each in (x, y))
    spread = np_.reshape(x, tuple(n for k in a for n in (k, 1))) * np_.reshape(
        y, tuple(n for k in b for n in (1, k))
    )
    return np_.reshape(spread, tuple(m * n for m, n in zip(a, b, strict=True)))


def einsum(space: Namespace, subscripts: str, *operands: Any) -> Any:
    own = getattr(space.xp, "einsum", None)
    arrays = space.arrays(*operands)
    if own is not None:
        return space.wrapped(own(subscripts, *arrays))
    return _summed(space, subscripts.replace(" ", ""), [Array(space, each) for each in arrays])


def _summed(space: Namespace, subscripts: str, operands: list[Any]) -> Any:
    """Einstein's sum as products of spread arrays: for libraries that have none."""
    np_ = space.numpy
    given, arrow, wanted = subscripts.partition("->")
    terms = given.split(",")
    letters = sorted(set(given) - {","})
    if not arrow:
        wanted = "".join(each for each in letters if given.count(each) == 1)
    product: Any = 1
    for term, operand in zip(terms, operands, strict=True):
        own, x = _diagonals(np_, term, operand)
        ordered = np_.transpose(x, sorted(range(len(own)), key=own.__getitem__))
        there = dict(zip(sorted(own), ordered.shape, strict=True))
        product = product * np_.reshape(ordered, tuple(there.get(each, 1) for each in letters))
    gone = tuple(k for k, each in enumerate(letters) if each not in wanted)
    left = [each for each in letters if each in wanted]
    summed = np_.sum(product, gone) if gone else product
    return np_.transpose(summed, [left.index(each) for each in wanted]) if wanted else summed


def _diagonals(np_: Any, term: str, x: Any) -> tuple[str, Any]:
    """An operand on the diagonals of axes of one letter, and the letters that are left."""
    own = term
    for each in sorted(set(term)):
        while own.count(each) > 1:
            x = np_.diagonal(x, 0, own.index(each), own.rindex(each))
            own = own.replace(each, "") + each
    return own, x


def cross(space: Namespace, x: Any, y: Any, axis: int = -1) -> Any:
    np_ = space.numpy
    x, y = np_.moveaxis(np_.asarray(x), axis, -1), np_.moveaxis(np_.asarray(y), axis, -1)
    a, b = ([each[..., k] for k in range(3)] for each in (x, y))
    parts = [a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3] for k in range(3)]
    return np_.moveaxis(np_.stack(parts, -1), -1, axis)


def convolve(space: Namespace, x: Any, y: Any, mode: str = "full") -> Any:
    np_ = space.numpy
    x, y = np_.asarray(x), np_.asarray(y)
    x, y = (y, x) if len(y) > len(x) else (x, y)
    places = np.arange(len(x) + len(y) - 1)[:, None] - np.arange(len(y))[None, :]
    inside = (places >= 0) & (places < len(x))
    windows = np_.where(space.moved(inside), x[np.where(inside, places, 0)], 0.0)
    whole = windows @ y
    if mode == "full":
        return whole
    start, count = (len(y) - 1) // 2, len(x)
    if mode == "valid":
        start, count = len(y) - 1, len(x) - len(y) + 1
    return whole[start : start + count]


def correlate(space: Namespace, x: Any, y: Any, mode: str = "valid") -> Any:
    np_ = space.numpy
    result = convolve(space, x, np_.flip(np_.conj(np_.asarray(y))), mode)
    return result


# --- numpy.linalg --------------------------------------------------------------------------------


def _by_standard(name: str, *, several: bool = False) -> None:
    def function(space: Namespace, *args: Any, **options: Any) -> Any:
        found = getattr(space.xp.linalg, name)(*space.arrays(*args, floating=True), **options)
        if not several:
            return space.wrapped(found)
        result = _RESULTS.get(name, lambda *parts: parts)
        return result(*(space.wrapped(each) for each in found))

    FUNCTIONS[f"linalg_{name}"] = function


_RESULTS: dict[str, Any] = {
    name: type(np.linalg.__dict__[name](np.eye(1))) for name in ("eigh", "svd", "qr", "slogdet")
}
for each in ("inv", "det", "cholesky", "eigvalsh", "pinv", "svdvals", "matrix_rank"):
    _by_standard(each)
for each in ("eigh", "slogdet", "qr"):
    _by_standard(each, several=True)


def linalg_svd(
    space: Namespace, x: Any, full_matrices: bool = True, compute_uv: bool = True
) -> Any:
    raw = space.arrays(x, floating=True)[0]
    if not compute_uv:
        return space.wrapped(space.xp.linalg.svdvals(raw))
    found = space.xp.linalg.svd(raw, full_matrices=full_matrices)
    return _RESULTS["svd"](*(space.wrapped(each) for each in found))


def linalg_solve(space: Namespace, a: Any, b: Any) -> Any:
    a, b = space.arrays(a, b, floating=True)
    if len(b.shape) == 1:
        found = space.xp.linalg.solve(a, space.xp.reshape(b, (-1, 1)))
        return space.wrapped(space.xp.reshape(found, (*tuple(found.shape)[:-2], -1)))
    return space.wrapped(space.xp.linalg.solve(a, b))


def linalg_norm(
    space: Namespace,
    x: Any,
    ord: Any = None,  # noqa: A002  # as NumPy calls it
    axis: Any = None,
    keepdims: bool = False,
) -> Any:
    np_ = space.numpy
    x = np_.asarray(x)
    size = np_.abs(x)
    if axis is None and (ord is None or (x.ndim == 2 and ord == "fro")):
        axis = tuple(range(x.ndim))
    if ord in (None, 2, "fro") and (ord != 2 or x.ndim == 1 or isinstance(axis, int)):
        return np_.sqrt(np_.sum(size * size, axis, keepdims=keepdims))
    if x.ndim == 2 and axis is None:
        return _matrix_norm(space, x, ord)
    if ord in (math.inf, -math.inf):
        return (np_.max if ord > 0 else np_.min)(size, axis, keepdims=keepdims)
    if ord == 0:
        return np_.sum(size != 0, axis, keepdims=keepdims)
    return np_.sum(size**ord, axis, keepdims=keepdims) ** (1 / float(ord))


def _matrix_norm(space: Namespace, x: Any, order: Any) -> Any:
    np_ = space.numpy
    if order in (1, -1, math.inf, -math.inf):
        sums = np_.sum(np_.abs(x), 0 if abs(order) == 1 else 1)
        return np_.max(sums) if order > 0 else np_.min(sums)
    values = linalg_svd(space, x, compute_uv=False)
    if order == "nuc":
        return np_.sum(values)
    return values[0] if order == 2 else values[-1]


def linalg_matrix_power(space: Namespace, x: Any, n: int) -> Any:
    np_ = space.numpy
    base = _inv(space, x) if n < 0 else np_.asarray(x)
    result = np_.eye(len(base))
    for _ in range(abs(n)):
        result = result @ base
    return result


def _inv(space: Namespace, x: Any) -> Any:
    return FUNCTIONS["linalg_inv"](space, x)


def linalg_lstsq(space: Namespace, a: Any, b: Any, rcond: Any = None) -> Any:
    np_ = space.numpy
    x = np_.linalg.pinv(a) @ b
    rest = np_.asarray(b) - np_.asarray(a) @ x
    values = linalg_svd(space, a, compute_uv=False)
    return x, np_.sum(rest * rest, 0), len(values), values


like_numpys(globals())

for each in ("cross", "matmul", "outer", "trace", "diagonal", "tensordot", "matrix_transpose"):
    if each in FUNCTIONS:
        FUNCTIONS[f"linalg_{each}"] = FUNCTIONS[each]


# --- numpy.fft -------------------------------------------------------------------------------------


def _transform(name: str) -> None:
    def function(
        space: Namespace, x: Any, n: int | None = None, axis: int = -1, norm: str | None = None
    ) -> Any:
        raw = space.array(x)
        is_real = "complex" not in str(raw.dtype)
        raw = space.astype(raw, complex) if is_real and name in ("fft", "ifft", "irfft") else raw
        return space.wrapped(
            getattr(space.xp.fft, name)(raw, n=n, axis=axis, norm=norm or "backward")
        )

    FUNCTIONS[f"fft_{name}"] = function


for each in ("fft", "ifft", "rfft", "irfft"):
    _transform(each)


def _frequencies(name: str) -> None:
    def function(space: Namespace, *args: Any, **options: Any) -> Any:
        return Array(space, space.moved(getattr(np.fft, name)(*args, **options)))

    FUNCTIONS[f"fft_{name}"] = function


for each in ("fftfreq", "rfftfreq"):
    _frequencies(each)
