"""SciPy's spectra of signals, in Python: the front end reads these instead.

A signal is cut into segments that may overlap, each weighted by a window.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import signal  # pyright: ignore[reportMissingTypeStubs]

from .. import manifest
from ..same_names import same_names


def _is_read(x: Any, nfft: Any, detrend: Any) -> Any:
    """Vectors are, their mean taken off or not; what is not is called as it is, and has no derivative."""
    return np.ndim(x) == 1 and nfft is None and detrend in ("constant", False)


def _segments(x: Any, length: Any, step: Any) -> Any:
    starts = range(0, np.shape(x)[0] - length + 1, step)
    return np.stack([x[start : start + length] for start in starts])


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    *,
    scaling: Any = "density",
) -> Any:
    """`scipy.signal.welch`."""
    if not _is_read(x, nfft, detrend):
        return manifest.as_it_is(
            signal.welch, x, fs, window, nperseg, noverlap, nfft, detrend, True, scaling
        )
    frequencies, _, power = _powers(x, fs, window, nperseg, noverlap, 2, detrend, scaling)
    return frequencies, np.mean(power, axis=1)


def _powers(
    x: Any,
    fs: Any,
    window: Any,
    nperseg: Any,
    noverlap: Any,
    share: Any,
    detrend: Any,
    scaling: Any,
) -> Any:
    """Frequencies, times and powers; segments overlap by a share of their length if nothing is said."""
    x = np.asarray(x)
    length = min(256 if nperseg is None else nperseg, np.shape(x)[0])
    weights: Any = signal.get_window(window, length)
    step = length - (length // share if noverlap is None else noverlap)
    parts = _segments(x, length, step)
    if detrend == "constant":
        parts = parts - np.mean(parts, axis=1, keepdims=True)
    spectra = np.fft.rfft(parts * weights, axis=1)
    size = fs * np.sum(weights**2) if scaling == "density" else np.sum(weights) ** 2
    power = _onesided((spectra.real**2 + spectra.imag**2) / size, length)
    times = (np.arange(np.shape(parts)[0]) * step + length / 2) / fs
    return np.fft.rfftfreq(length, 1 / fs), times, np.transpose(power)


def _onesided(power: Any, length: Any) -> Any:
    """Negative frequencies count with the positive ones; 0 and the highest one stand alone."""
    twice = np.full(length // 2 + 1, 2.0)
    twice[0] = 1.0
    if length % 2 == 0:
        twice[-1] = 1.0
    return power * twice


def spectrogram(
    x: Any,
    fs: Any = 1.0,
    window: Any = ("tukey", 0.25),
    nperseg: Any = None,
    noverlap: Any = None,
    nfft: Any = None,
    detrend: Any = "constant",
    *,
    scaling: Any = "density",
) -> Any:
    """`scipy.signal.spectrogram`: powers by frequencies and times."""
    if not _is_read(x, nfft, detrend):
        return manifest.as_it_is(
            signal.spectrogram, x, fs, window, nperseg, noverlap, nfft, detrend, True, scaling
        )
    return _powers(x, fs, window, nperseg, noverlap, 8, detrend, scaling)


def stft(
    x: Any, fs: Any = 1.0, window: Any = "hann", nperseg: Any = 256, noverlap: Any = None,
    nfft: Any = None, detrend: Any = False, *, boundary: Any = "zeros", padded: Any = True,
) -> Any:  # fmt: skip
    """`scipy.signal.stft`: spectra by frequencies and times."""
    if not _is_read(x, nfft, detrend) or detrend is not False or boundary not in ("zeros", None):
        return manifest.as_it_is(
            signal.stft, x, fs, window, nperseg, noverlap, nfft, detrend, True, boundary, padded
        )
    x = np.asarray(x)
    length = min(256 if nperseg is None else nperseg, np.shape(x)[0])
    weights: Any = signal.get_window(window, length)
    step = length - (length // 2 if noverlap is None else noverlap)
    edge = length // 2 if boundary == "zeros" else 0
    x = np.pad(x, edge)
    x = np.pad(x, (0, -(np.shape(x)[0] - length) % step if padded else 0))
    spectra = np.fft.rfft(_segments(x, length, step) * weights, axis=1) / np.sum(weights)
    first = 0.0 if boundary == "zeros" else length / 2
    times = (np.arange(np.shape(spectra)[0]) * step + first) / fs
    return np.fft.rfftfreq(length, 1 / fs), times, np.transpose(spectra)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(signal, globals())
