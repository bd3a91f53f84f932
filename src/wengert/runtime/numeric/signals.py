"""Transposes of Fourier transforms and of convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

# --- Fourier transforms -------------------------------------------------------------------


def opposite_norm(norm: Any) -> Any:
    """The `norm` with which a transform the other way is the adjoint, not the inverse."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


def fitted(x: Any, *, like: Any, axis: int = -1) -> Any:
    """`x` cut off, or continued with zeros, along an axis to the length that `like` has there."""
    x, length = np.asarray(x), np.shape(like)[axis]
    if x.shape[axis] == length:
        return x
    x = np.moveaxis(x, axis, -1)
    result = np.zeros((*x.shape[:-1], length), x.dtype)
    common = min(length, x.shape[-1])
    result[..., :common] = x[..., :common]
    return np.moveaxis(result, -1, axis)


def half_weights(length: int, inside: float, axis: int, rank: int) -> Any:
    """How often each frequency of half a spectrum counts: once at the ends, `inside` between them.

    `length` is that of the signal; the last frequency is an end if it is even. The frequencies lie along an axis.
    """
    weights = np.full(length // 2 + 1, inside)
    weights[0] = 1.0
    if length % 2 == 0:
        weights[-1] = 1.0
    return weights.reshape([-1 if k == axis % rank else 1 for k in range(rank)])


def rfft_adjoint(
    y_bar: Any, *, like: Any, n: int | None = None, axis: int = -1, norm: Any = None
) -> Any:
    """The transpose of `np.fft.rfft`; `like` is the signal."""
    length, y_bar = np.shape(like)[axis] if n is None else n, np.asarray(y_bar)
    y_bar = y_bar * half_weights(length, 0.5, axis, y_bar.ndim)
    return fitted(np.fft.irfft(y_bar, length, axis, opposite_norm(norm)), like=like, axis=axis)


def irfft_adjoint(
    y_bar: Any, *, like: Any, n: int | None = None, axis: int = -1, norm: Any = None
) -> Any:
    """The transpose of `np.fft.irfft`; `like` is the half spectrum."""
    length = np.shape(y_bar)[axis]
    # the result is real, which source for any kinds of arguments does not know of its cotangent
    x_bar = np.fft.rfft(np.real(y_bar), length, axis, opposite_norm(norm))
    x_bar *= half_weights(length, 2.0, axis, x_bar.ndim)
    return fitted(x_bar, like=like, axis=axis)


# --- convolutions -------------------------------------------------------------------------


def whole_convolution(y_bar: Any, n: int, m: int, mode: str, *, correlated: bool = False) -> Any:
    """The cotangent of all of a convolution of lengths `n` and `m`, of which `mode` shows a part."""
    short = min(n, m)
    middle = short // 2 if correlated and n < m else (short - 1) // 2
    start = {"full": 0, "same": middle, "valid": short - 1}[mode]
    result = np.zeros(n + m - 1, np.asarray(y_bar).dtype)
    result[start : start + len(y_bar)] = y_bar
    return result


def convolve_left(y_bar: Any, v: Any, *, like: Any, mode: str = "full") -> Any:
    """The cotangent of `a` in `np.convolve(a, v, mode)`."""
    whole = whole_convolution(y_bar, np.size(like), np.size(v), mode)
    return np.correlate(whole, np.ravel(v), "valid").reshape(np.shape(like))


def convolve_right(a: Any, y_bar: Any, *, like: Any, mode: str = "full") -> Any:
    """The cotangent of `v` in `np.convolve(a, v, mode)`."""
    whole = whole_convolution(y_bar, np.size(a), np.size(like), mode)
    return np.correlate(whole, np.ravel(a), "valid").reshape(np.shape(like))


def correlate_left(y_bar: Any, v: Any, *, like: Any, mode: str = "valid") -> Any:
    """The cotangent of `a` in `np.correlate(a, v, mode)`."""
    whole = whole_convolution(y_bar, np.size(like), np.size(v), mode, correlated=True)
    return np.convolve(whole, np.ravel(v), "valid").reshape(np.shape(like))


def correlate_right(a: Any, y_bar: Any, *, like: Any, mode: str = "valid") -> Any:
    """The cotangent of `v` in `np.correlate(a, v, mode)`."""
    whole = whole_convolution(y_bar, np.size(a), np.size(like), mode, correlated=True)
    return np.conj(np.correlate(whole, np.ravel(a), "valid"))[::-1].reshape(np.shape(like))


# --- filters ------------------------------------------------------------------------------


def fir(taps: Any, x: Any) -> Any:
    """Signals along the last axis, filtered by a finite impulse response, from rest."""
    x, count = np.asarray(x), min(np.size(taps), np.shape(x)[-1])
    if x.size == 0:
        return x * 1.0
    lanes = _apart(x, count - 1)
    whole = np.convolve(lanes.ravel(), taps[:count])[: lanes.size]
    return whole.reshape(lanes.shape)[..., : x.shape[-1]]


def fir_taps(y_bar: Any, x: Any, *, like: Any) -> Any:
    """The cotangent of the taps in `fir(taps, x)`: how far ȳ and x agree at each delay."""
    count = min(np.size(like), np.shape(x)[-1])
    late, early = (_apart(np.asarray(each), count - 1).ravel() for each in (y_bar, x))
    result = np.zeros(np.shape(like), np.result_type(late, early))
    if early.size > 0:
        result[:count] = np.correlate(late, early[: early.size - count + 1], "valid")
    return result


def _apart(x: Any, gap: int) -> Any:
    """Signals with so many zeros after each that filters which reach no further can run over them in one."""
    result = np.zeros((*x.shape[:-1], x.shape[-1] + max(gap, 0)), x.dtype)
    result[..., : x.shape[-1]] = x
    return result


def all_pole(a: Any, x: Any) -> Any:
    """The signals along the last axis of which `fir(a, ·)` makes x: an all-pole filter from rest."""
    from scipy.signal import lfilter  # pyright: ignore[reportMissingTypeStubs]

    return lfilter([1.0], a, x)
