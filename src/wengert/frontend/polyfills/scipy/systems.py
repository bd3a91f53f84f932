"""SciPy's linear systems in time, and filters in sections there and back, in Python: read instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import signal  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ....ops.program.refusals import FORMULA, uncovered
from .. import manifest
from ..same_names import same_names
from .linalg import expm
from .signal import EQUIVALENTS as OF_SIGNALS, lfilter, lfilter_zi

# --- systems ----------------------------------------------------------------------------------


def _states(system: Any) -> Any:
    """A system's matrices A, B, C, D; of a quotient of polynomials those of `scipy.signal.tf2ss`."""
    if len(system) == 4:
        a, b, c, d = [np.atleast_2d(array_of(part) * 1.0) for part in system]
        return a, b, c, d
    if len(system) != 2:
        raise uncovered("a system of zeros, poles and a gain", "Pass its polynomials.")
    num, den = np.atleast_1d(array_of(system[0])), np.atleast_1d(array_of(system[1]))
    order = np.size(den) - 1
    if np.ndim(num) != 1 or np.size(num) > order + 1 or order < 1:
        raise uncovered("a quotient of polynomials that is improper or has several rows", FORMULA)
    num = np.pad(num, (order + 1 - np.size(num), 0)) / den[0]
    den = den / den[0]
    a = np.concatenate((np.expand_dims(-den[1:], 0), np.eye(order - 1, order)))
    c = np.expand_dims(num[1:] - num[0] * den[1:], 0)
    return a, np.eye(order, 1), c, np.reshape(num[:1], (1, 1))


def lsim(system: Any, U: Any, T: Any, X0: Any = None, interp: Any = True) -> Any:
    """`scipy.signal.lsim` of matrices, or of a quotient of polynomials, at equal steps."""
    if not isinstance(system, (tuple, list)):
        return manifest.as_it_is(signal.lsim, system, U, T, X0, interp)
    a, b, c, d = _states(system)
    times = np.atleast_1d(array_of(T))
    count, inputs, size = np.shape(times)[0], np.shape(b)[1], np.shape(a)[0]
    if times[0] < 0:
        raise ValueError("Initial time must be nonnegative")
    if not np.allclose(np.diff(times), times[1] - times[0]):
        raise ValueError("Time steps are not equally spaced.")
    u = np.reshape(np.zeros((count, 1)) if U is None else array_of(U) * 1.0, (-1, inputs))
    u = u + np.zeros((count, inputs))
    forward, now, next_ = _steps(a, b, times[1] - times[0], interp)
    x = np.zeros(size) if X0 is None else array_of(X0) * 1.0
    if times[0] > 0:
        x = x @ expm(np.transpose(a) * times[0])
    states = [x]
    for k in range(1, count):
        x = x @ forward + u[k - 1] @ now + u[k] @ next_
        states.append(x)
    found = np.stack(states)
    y = found @ np.transpose(c) + u @ np.transpose(d)
    return times, y[:, 0] if np.shape(c)[0] == 1 else y, found[:, 0] if size == 1 else found


def _steps(a: Any, b: Any, dt: Any, interp: Any) -> Any:
    """What a state, an input and the next input make of the next state (Van Loan 1978)."""
    size, inputs = np.shape(b)
    whole = np.concatenate((a * dt, b * dt, np.zeros((size, inputs))), axis=1)
    held = np.pad(np.eye(inputs), ((0, 0), (size + inputs, 0)))
    power = np.transpose(expm(np.concatenate((whole, held, np.zeros_like(held)))))
    forward, held = power[:size, :size], power[size : size + inputs, :size]
    if not interp:
        return forward, held, np.zeros_like(held)
    later = power[size + inputs :, :size]
    return forward, held - later, later


def step(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> Any:
    """`scipy.signal.step` at given times."""
    if T is None or np.ndim(T) == 0 or not isinstance(system, (tuple, list)):
        return manifest.as_it_is(signal.step, system, X0, T, N)
    times, y, _ = lsim(system, np.ones(np.shape(T)), T, X0, interp=False)
    return times, y


def impulse(system: Any, X0: Any = None, T: Any = None, N: Any = None) -> Any:
    """`scipy.signal.impulse` at given times, from rest."""
    if X0 is not None or T is None or np.ndim(T) == 0 or not isinstance(system, (tuple, list)):
        return manifest.as_it_is(signal.impulse, system, X0, T, N)
    start = _states(system)[1][:, 0]
    times, y, _ = lsim(system, None, T, start, interp=False)
    return times, y


# --- filters in sections ------------------------------------------------------------------------


def sosfilt(sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """`scipy.signal.sosfilt`; states are those of signals along the only axis."""
    sos = array_of(sos)
    if zi is None:
        for k in range(np.shape(sos)[0]):
            x = lfilter(sos[k, :3], sos[k, 3:], x, axis)
        return x
    if np.ndim(x) != 1:
        raise uncovered("sosfilt with states of several signals", "Filter one at a time.")
    states = []
    for k in range(np.shape(sos)[0]):
        x, state = lfilter(sos[k, :3], sos[k, 3:], x, axis, zi[k])
        states.append(state)
    return x, np.stack(states)


def sosfilt_zi(sos: Any) -> Any:
    """`scipy.signal.sosfilt_zi`: the states that a constant signal leaves."""
    sos, gain, states = array_of(sos) * 1.0, 1.0, []
    for k in range(np.shape(sos)[0]):
        states.append(gain * lfilter_zi(sos[k, :3], sos[k, 3:]))
        gain = gain * np.sum(sos[k, :3]) / np.sum(sos[k, 3:])
    return np.stack(states)


def sosfiltfilt(sos: Any, x: Any, axis: Any = -1, *, padlen: Any = None) -> Any:
    """`scipy.signal.sosfiltfilt`, signals continued at both ends by their own images."""
    sos = array_of(sos)
    if padlen is None:
        none = min(int(np.sum(sos[:, 2] == 0)), int(np.sum(sos[:, 5] == 0)))
        padlen = 3 * (2 * np.shape(sos)[0] + 1 - none)
    lanes = np.moveaxis(array_of(x) * 1.0, axis, -1)
    flat = np.reshape(lanes, (-1, np.shape(lanes)[-1]))
    if padlen >= np.shape(lanes)[-1]:
        raise ValueError(
            f"The length of the input vector x must be greater than padlen, which is {padlen}."
        )
    found = [_there_and_back(sos, flat[k], padlen) for k in range(np.shape(flat)[0])]
    return np.moveaxis(np.reshape(np.stack(found), np.shape(lanes)), -1, axis)


def _there_and_back(sos: Any, x: Any, more: Any) -> Any:
    count = np.shape(x)[0]
    if more > 0:
        before = 2 * x[0] - x[more:0:-1]
        after = 2 * x[-1] - x[-2 : -(more + 2) : -1]
        x = np.concatenate((before, x, after))
    start = sosfilt_zi(sos)
    there, _ = sosfilt(sos, x, zi=start * x[0])
    back, _ = sosfilt(sos, there[::-1], zi=start * there[-1])
    return back[::-1][more : more + count]


# --- other rates --------------------------------------------------------------------------------


def decimate(
    x: Any, q: Any, n: Any = None, ftype: Any = "iir", axis: Any = -1, zero_phase: Any = True
) -> Any:
    """`scipy.signal.decimate`."""
    return _by_matrix(signal.decimate, x, axis, q, n, ftype, 0, zero_phase)


def resample_poly(x: Any, up: Any, down: Any, axis: Any = 0, window: Any = ("kaiser", 5.0)) -> Any:
    """`scipy.signal.resample_poly`, with zeros beyond the ends."""
    return _by_matrix(signal.resample_poly, x, axis, up, down, 0, window)


def _by_matrix(function: Any, x: Any, axis: Any, *args: Any) -> Any:
    """What is linear in signals: its matrix times each of them."""
    lanes = np.moveaxis(array_of(x) * 1.0, axis, 0)
    matrix = manifest.as_it_is(function, np.eye(np.shape(lanes)[0]), *args)
    return np.moveaxis(np.tensordot(matrix, lanes, 1), 0, axis)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [*OF_SIGNALS, *same_names(signal, globals())]
