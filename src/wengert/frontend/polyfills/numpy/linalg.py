"""NumPy's Fourier transforms over several axes and its linear algebra, as the front end reads them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.factorisations import least_squares, svdvals
from ..same_names import same_names

# --- Fourier transforms over several axes ---------------------------------------------------


def _transformed(transform: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    a = array_of(a)
    for k in reversed(range(len(axes))):
        a = transform(a, n=None if s is None or s[k] == -1 else s[k], axis=axes[k], norm=norm)
    return a


def _axes_of(a: Any, s: Any, axes: Any) -> Any:
    if axes is not None:
        return tuple(axes)
    return tuple(range(np.ndim(a))) if s is None else tuple(range(-len(s), 0))


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.fftn`."""
    return _transformed(np.fft.fft, a, s, _axes_of(a, s, axes), norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.ifftn`."""
    return _transformed(np.fft.ifft, a, s, _axes_of(a, s, axes), norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.rfftn`."""
    axes = _axes_of(a, s, axes)
    half = np.fft.rfft(a, n=None if s is None or s[-1] == -1 else s[-1], axis=axes[-1], norm=norm)
    return _transformed(np.fft.fft, half, None if s is None else s[:-1], axes[:-1], norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.irfftn`."""
    axes = _axes_of(a, s, axes)
    whole = _transformed(np.fft.ifft, a, None if s is None else s[:-1], axes[:-1], norm)
    n = None if s is None or s[-1] == -1 else s[-1]
    return np.fft.irfft(whole, n=n, axis=axes[-1], norm=norm)


def _of_two_axes(transform: Any) -> Callable[..., Any]:
    def along(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
        return transform(a, s, axes, norm)

    return along


fft2, ifft2, rfft2, irfft2 = map(_of_two_axes, (fftn, ifftn, rfftn, irfftn))

_OPPOSITE: dict[Any, Any] = {
    None: "forward",
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}


def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.hfft`."""
    return np.fft.irfft(np.conj(a), n=n, axis=axis, norm=_OPPOSITE[norm])


def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.ihfft`."""
    return np.conj(np.fft.rfft(a, n=n, axis=axis, norm=_OPPOSITE[norm]))


# --- linear algebra -----------------------------------------------------------------------


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq`."""
    solution = least_squares(a, b, rcond=rcond)
    rank = np.linalg.matrix_rank(a) if rcond is None else np.linalg.matrix_rank(a, rtol=rcond)
    m, n = np.shape(a)
    left = np.atleast_1d(np.sum(np.abs(b - a @ solution) ** 2, axis=0))
    return solution, left if rank == n and m > n else np.zeros(0), rank, svdvals(a)


def cond(x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`."""
    if p is None or p in (2, -2):
        values = svdvals(x)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, axis=(-2, -1))


def multi_dot(arrays: Any) -> Any:
    """`np.linalg.multi_dot`: from the side where there is a vector, or where it is cheaper."""
    arrays = [array_of(a) for a in arrays]
    if len(arrays) == 3:
        a, b, c = arrays
        if np.ndim(a) == 1:
            return a @ b @ c
        if np.ndim(c) == 1:
            return a @ (b @ c)
        (k, m), (_, n) = np.shape(a), np.shape(b)
        p = np.shape(c)[1]
        return (a @ b) @ c if k * n * (m + p) < m * p * (n + k) else a @ (b @ c)
    if np.ndim(arrays[-1]) == 1:
        return functools.reduce(lambda x, y: y @ x, list(reversed(arrays)))
    return functools.reduce(lambda x, y: x @ y, arrays)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """`np.linalg.tensorsolve`."""
    a, b = array_of(a), array_of(b)
    if axes is not None:
        others = [k for k in range(np.ndim(a)) if k not in axes]
        a = np.transpose(a, (*others, *axes))
    shape = np.shape(a)[np.ndim(b) :]
    solved = np.linalg.solve(np.reshape(a, (np.size(b), np.size(b))), np.ravel(b))
    return np.reshape(solved, shape)


def trace(x: Any, /, *, offset: Any = 0) -> Any:
    """`np.linalg.trace`."""
    return np.trace(x, offset, -2, -1)


def vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    """`np.vecdot`."""
    return np.sum(np.conj(x1) * x2, axis=axis)


def matvec(x1: Any, x2: Any, /) -> Any:
    """`np.matvec`."""
    return np.squeeze(x1 @ np.expand_dims(x2, -1), -1)


def vecmat(x1: Any, x2: Any, /) -> Any:
    """`np.vecmat`."""
    return np.squeeze(np.conj(np.expand_dims(x1, -2)) @ x2, -2)


def power_by_squaring(a: Any, n: Any) -> Any:
    """`np.linalg.matrix_power` where only the run knows the power."""
    a = np.linalg.inv(a) if n < 0 else array_of(a)
    left = abs(n)
    power = np.broadcast_to(np.eye(np.shape(a)[-1]), np.shape(a))
    while left > 0:
        if left % 2 == 1:
            power = power @ a
        left = left // 2
        if left > 0:
            a = a @ a
    return power


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(np.fft, globals()),
    *same_names(np.linalg, globals()),
    *((getattr(np, f.__name__), f) for f in (vecdot, matvec, vecmat) if hasattr(np, f.__name__)),
]
