"""SciPy's filters, convolutions and transforms of signals, in Python: the front end reads these instead."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft, signal  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.signals import all_pole, fir
from ....ops.program.refusals import uncovered
from .. import manifest
from ..same_names import same_names

# --- filters --------------------------------------------------------------------------------


def lfilter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """`scipy.signal.lfilter`: what b makes of the signals, and then what a makes of that."""
    b, a, x = np.atleast_1d(array_of(b)), np.atleast_1d(array_of(a)), array_of(x)
    if axis != -1:
        x = np.moveaxis(x, axis, -1)
    if zi is None:
        y = all_pole(a, fir(b, x))
        return y if axis == -1 else np.moveaxis(y, -1, axis)
    b, a = b / a[0], a / a[0]
    length, order = np.shape(x)[-1], max(np.size(b), np.size(a)) - 1
    # the state is what earlier samples add to the next ones, before a is applied
    driven = fir(b, _continued(x, order)) + _continued(np.moveaxis(zi, axis, -1), length)
    y = all_pole(a, driven[..., :length])
    state = (driven - fir(a, _continued(y, order)))[..., length:]
    return np.moveaxis(y, -1, axis), np.moveaxis(state, -1, axis)


def _continued(x: Any, count: Any) -> Any:
    return np.concatenate((x, np.zeros((*np.shape(x)[:-1], count))), axis=-1)


def lfilter_zi(b: Any, a: Any) -> Any:
    """`scipy.signal.lfilter_zi`: the state that a constant signal leaves."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    order = max(np.size(b), np.size(a)) - 1
    b = np.pad(b / a[0], (0, order + 1 - np.size(b)))
    a = np.pad(a / a[0], (0, order + 1 - np.size(a)))
    shift = np.eye(order, k=1)
    feedback = np.concatenate((np.expand_dims(-a[1:], 1), np.zeros((order, order - 1))), axis=1)
    return np.linalg.solve(np.eye(order) - shift - feedback, b[1:] - a[1:] * b[0])


def filtfilt(b: Any, a: Any, x: Any, padlen: Any = None) -> Any:
    """`scipy.signal.filtfilt` of one signal, continued at both ends by its own image."""
    x = array_of(x)
    more = 3 * max(np.size(a), np.size(b)) if padlen is None else padlen
    if np.shape(x)[0] <= more:
        raise ValueError(
            f"The length of the input vector x must be greater than padlen, which is {more}."
        )
    if more > 0:
        before = 2 * x[0] - x[more:0:-1]
        after = 2 * x[-1] - x[-2 : -(more + 2) : -1]
        x = np.concatenate((before, x, after))
    start = lfilter_zi(b, a)
    there, _ = lfilter(b, a, x, zi=start * x[0])
    back, _ = lfilter(b, a, there[::-1], zi=start * there[-1])
    y = back[::-1]
    return y[more : np.size(y) - more]


def detrend(data: Any, axis: Any = -1, type: Any = "linear") -> Any:
    """`scipy.signal.detrend` without break points."""
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    data = np.moveaxis(array_of(data), axis, -1)
    data = data - np.mean(data, axis=-1, keepdims=True)
    if type in ("linear", "l"):
        times = np.arange(np.shape(data)[-1]) - (np.shape(data)[-1] - 1) / 2
        # those of two points are 0.5; one point has no slope
        slope = np.sum(data * times, axis=-1, keepdims=True) / max(np.sum(times * times), 0.5)
        data = data - slope * times
    return np.moveaxis(data, -1, axis)


def savgol_filter(
    x: Any, window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0, axis: Any = -1,
    mode: Any = "interp", cval: Any = 0.0,
) -> Any:  # fmt: skip
    """`scipy.signal.savgol_filter`: its matrix times the signal, or what a long signal has of a window's."""
    x = np.moveaxis(array_of(x), axis, -1)
    is_long = mode == "interp" and window_length % 2 == 1 and np.shape(x)[-1] > window_length
    every = np.eye(window_length if is_long else np.shape(x)[-1])
    options = (window_length, polyorder, deriv, delta, 0, mode, 0.0)
    matrix = np.transpose(manifest.as_it_is(signal.savgol_filter, every, *options))
    if not is_long:
        return np.moveaxis(x @ matrix, -1, axis)
    half = window_length // 2
    between = fir(matrix[::-1, half], x)[..., window_length - 1 :]
    first, last = x[..., :window_length], x[..., np.shape(x)[-1] - window_length :]
    parts = (first @ matrix[:, :half], between, last @ matrix[:, half + 1 :])
    return np.moveaxis(np.concatenate(parts, axis=-1), -1, axis)


def resample(x: Any, num: Any, *, axis: Any = 0) -> Any:
    """`scipy.signal.resample`: its matrix times the signals."""
    x = array_of(x)
    matrix = manifest.as_it_is(signal.resample, np.eye(np.shape(x)[axis]), num)
    return np.moveaxis(np.tensordot(matrix, x, axes=(1, axis)), 0, axis)


# --- convolutions ---------------------------------------------------------------------------


def convolve(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """`scipy.signal.convolve` of vectors or matrices."""
    return _centred(_whole_convolution(array_of(in1), array_of(in2)), in1, in2, mode)


def fftconvolve(in1: Any, in2: Any, mode: Any = "full") -> Any:
    """`scipy.signal.fftconvolve` of vectors or matrices."""
    return convolve(in1, in2, mode)


def convolve2d(
    in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0
) -> Any:
    """`scipy.signal.convolve2d`."""
    if mode != "valid" and (boundary != "fill" or fillvalue != 0):
        above, left = np.array(np.shape(in2)) - 1
        pad: Any = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}[boundary]
        around = np.pad(in1, ((above, above), (left, left)), pad)
        spread = convolve(around, in2, "valid")
        return spread if mode == "full" else _middle(spread, np.shape(in1))
    return convolve(in1, in2, mode)


def correlate(in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    """`scipy.signal.correlate` of vectors or matrices."""
    return convolve(in1, np.conj(np.flip(array_of(in2))), mode)


def correlate2d(in1: Any, in2: Any, mode: Any = "full") -> Any:
    """`scipy.signal.correlate2d` with zeros around."""
    return correlate(in1, in2, mode)


def _whole_convolution(a: Any, b: Any) -> Any:
    if np.ndim(a) == 1:
        return np.convolve(a, b)
    rows, columns = np.shape(b)
    padded = np.pad(a, ((rows - 1, rows - 1), (columns - 1, columns - 1)))
    height, width = np.shape(a)[0] + rows - 1, np.shape(a)[1] + columns - 1
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            seen = padded[rows - 1 - i : rows - 1 - i + height]
            total = total + b[i, j] * seen[:, columns - 1 - j : columns - 1 - j + width]
    return total


def _centred(whole: Any, in1: Any, in2: Any, mode: Any) -> Any:
    """The part of a convolution that `mode` asks for."""
    if mode == "full":
        return whole
    if mode == "same":
        return _middle(whole, np.shape(in1))
    sizes = [abs(n - m) + 1 for n, m in zip(np.shape(in1), np.shape(in2), strict=True)]
    return _middle(whole, sizes)


def _middle(whole: Any, shape: Any) -> Any:
    starts = [(n - m) // 2 for n, m in zip(np.shape(whole), shape, strict=True)]
    if np.ndim(whole) == 1:
        return whole[starts[0] : starts[0] + shape[0]]
    return whole[starts[0] : starts[0] + shape[0], starts[1] : starts[1] + shape[1]]


# --- transforms -----------------------------------------------------------------------------


def hilbert(x: Any, N: Any = None, axis: Any = -1) -> Any:
    """`scipy.signal.hilbert`: the analytic signal."""
    length = np.shape(x)[axis] if N is None else N
    spectrum = np.moveaxis(np.fft.fft(x, length, axis), axis, -1)
    weights = np.zeros(length)
    weights[0] = 1.0
    weights[1 : (length + 1) // 2] = 2.0
    if length % 2 == 0:
        weights[length // 2] = 1.0
    return np.moveaxis(np.fft.ifft(spectrum * weights), -1, axis)


def _along_axis(is_sine: bool, back: bool) -> Callable[..., Any]:
    """A cosine or sine transform of `scipy.fft`: part of a Fourier transform of the signal, continued by zeros."""

    def along(x: Any, type: Any = 2, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        return _by_fourier(is_sine, back, x, type, n, axis, norm)

    return along


def _along_axes(is_sine: bool, back: bool) -> Callable[..., Any]:
    def along(x: Any, type: Any = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
        if axes is None:
            axes = tuple(range(np.ndim(x))) if s is None else tuple(range(-len(s), 0))
        for k in range(len(axes)):
            x = _by_fourier(is_sine, back, x, type, None if s is None else s[k], axes[k], norm)
        return x

    return along


dct, idct, dst, idst = (_along_axis(*kind) for kind in itertools.product((False, True), repeat=2))
dctn, idctn, dstn, idstn = (
    _along_axes(*kind) for kind in itertools.product((False, True), repeat=2)
)


def _by_fourier(is_sine: bool, back: bool, x: Any, type: Any, n: Any, axis: Any, norm: Any) -> Any:
    x = array_of(x)
    count = np.shape(x)[axis] if n is None else n
    number = {2: 3, 3: 2}.get(type, type) if back else type
    weights = manifest.as_it_is(_weights, is_sine, number, count, norm, back)
    x = np.moveaxis(x, axis, -1)
    x = x[..., :count] if np.shape(x)[-1] >= count else _continued(x, count - np.shape(x)[-1])
    if np.iscomplexobj(x):
        y = _real_transform(np.real(x), weights) + 1j * _real_transform(np.imag(x), weights)
    else:
        y = _real_transform(x, weights)
    return np.moveaxis(y, -1, axis)


def _real_transform(x: Any, weights: Any) -> Any:
    whole, before, after = (
        weights[0],
        np.asarray(weights[1], complex),
        np.asarray(weights[2], complex),
    )
    return np.real(np.fft.fft(x * before, whole)[..., : np.shape(before)[0]] * after)


def _weights(is_sine: bool, number: int, n: int, norm: Any, back: bool) -> tuple[int, Any, Any]:
    """How long a Fourier transform is whose real part is a cosine or sine transform of a type, and two weights.

    Its operand is multiplied by one of them, its result by the other.
    """
    one = 1 if is_sine else 0
    whole = 2 * (n - 1 + 2 * one) if number == 1 else 2 * n
    # the angle of the term with the numbers k and m is 2π (k + u)(m + v) / whole
    u, v = {1: (one, one), 2: (one, 0.5), 3: (0.5, one), 4: (0.5, 0.5)}[number]
    places = np.arange(n)
    before = 2 * np.exp(-2j * np.pi * u * places / whole)
    after = np.exp(-2j * np.pi * (places + u) * v / whole) * (1j if is_sine else 1)
    ends = {(1, 0): [0, n - 1], (3, 0): [0], (3, 1): [n - 1]}.get((number, one), [])
    before[ends] /= 2
    if norm == "ortho":
        before[ends] *= np.sqrt(2)
        after[{(1, 0): [0, n - 1], (2, 0): [0], (2, 1): [n - 1]}.get((number, one), [])] /= np.sqrt(
            2
        )
        after /= np.sqrt(whole)
    elif (norm == "forward") != back:
        after /= whole
    return whole, before, after


_OF_FOURIER = (
    "fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "rfft2", "irfft2",
    "fftn", "ifftn", "rfftn", "irfftn", "hfft", "ihfft",
)  # fmt: skip
"""Transforms that NumPy has too, with the same arguments."""


def medfilt(volume: Any, kernel_size: Any = None) -> Any:
    """`scipy.signal.medfilt` of a vector: beyond its ends there are zeros."""
    x, size = np.asarray(volume), 3 if kernel_size is None else kernel_size
    if np.ndim(x) != 1 or np.ndim(size) != 0:
        raise uncovered(
            "medfilt of more than one axis",
            "Take `scipy.ndimage.median_filter` with mode='constant'.",
        )
    if size % 2 == 0:
        raise ValueError("Each element of kernel_size should be odd.")
    padded = np.pad(x, size // 2)
    return np.median(np.stack([padded[k : k + len(x)] for k in range(size)]), axis=0)


def freqz(
    b: Any, a: Any = 1, worN: Any = 512, whole: Any = False, plot: Any = None, fs: Any = 2 * np.pi
) -> Any:
    """`scipy.signal.freqz`: a filter's response at frequencies up to half of `fs`."""
    if worN is None or isinstance(worN, int):
        w = np.linspace(0, 2 * np.pi if whole else np.pi, worN or 512, endpoint=False)
    else:
        w = np.asarray(worN) * (2 * np.pi / fs)
    return w * (fs / (2 * np.pi)), _at_frequencies(b, w) / _at_frequencies(a, w)


def _at_frequencies(taps: Any, w: Any) -> Any:
    taps = np.atleast_1d(array_of(taps))
    return np.exp(np.outer(w, np.arange(np.shape(taps)[0])) * -1j) @ (taps + 0j)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(signal, globals()),
    *same_names(fft, globals()),
    *((getattr(fft, name), getattr(np.fft, name)) for name in _OF_FOURIER),
]
