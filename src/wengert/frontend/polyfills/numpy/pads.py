"""`np.pad` in modes that are computed, one axis after the other: the front end reads these instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.program.refusals import uncovered

_STATISTICS = {"mean": np.mean, "median": np.median, "maximum": np.max, "minimum": np.min}

_COMPUTED = frozenset(("linear_ramp", "empty", *_STATISTICS))


def stand_in(mode: Any, is_odd: bool, has_several: bool) -> Any:
    """What stands for `np.pad` where its border is more than what a rule reads off the array; None if it is not.

    Args:
        mode: as of `np.pad`.
        is_odd: whether it reflects oddly.
        has_several: whether the border is to hold several numbers that are computed.
    """
    computed = mode in _COMPUTED or (is_odd and mode in ("reflect", "symmetric"))
    return pad_by_mode if computed or (mode == "constant" and has_several) else None


def pad_by_mode(
    array: Any,
    pad_width: Any,
    mode: Any = "constant",
    *,
    stat_length: Any = None,
    end_values: Any = 0,
    reflect_type: Any = "even",
    constant_values: Any = 0,
) -> Any:
    """`np.pad`."""
    x = array_of(array)
    widths = _by_axis(pad_width, np.ndim(x))
    ends = _by_axis(constant_values if mode == "constant" else end_values, np.ndim(x))
    lengths = _by_axis(stat_length, np.ndim(x))
    for axis in range(np.ndim(x)):
        x = np.moveaxis(x, axis, 0)
        before, after = int(widths[axis][0]), int(widths[axis][1])
        parts = [x]
        if before > 0:
            options = (ends[axis][0], lengths[axis][0], reflect_type)
            parts = [_border(x, before, mode, options)[::-1], *parts]
        if after > 0:
            options = (ends[axis][1], lengths[axis][1], reflect_type)
            parts = [*parts, _border(x[::-1], after, mode, options)]
        x = np.moveaxis(np.concatenate(parts), 0, axis)
    return x


def _by_axis(given: Any, rank: int) -> Any:
    """What is given for each axis: before the array, and after it."""
    if given is None:
        return [(None, None)] * rank
    if isinstance(given, dict):
        raise uncovered("`np.pad` with a dictionary of widths", "Give a pair for each axis.")
    return np.broadcast_to(np.asarray(given), (rank, 2))


def _border(x: Any, width: int, mode: Any, options: Any) -> Any:
    """What stands before an array along its first axis, from the array outwards."""
    end, length, reflect_type = options
    if mode in ("reflect", "symmetric"):
        first = 1 if mode == "reflect" else 0
        if width > len(x) - first:
            raise uncovered(
                "`np.pad` by odd reflections that are wider than the array",
                "Pad twice, or by less.",
            )
        inside = x[first : width + first]
        return 2 * x[:1] - inside if reflect_type == "odd" else inside
    if mode == "empty":
        return np.repeat(np.zeros_like(x[:1]), width, axis=0)
    if mode == "constant":
        return np.repeat(np.zeros_like(x[:1]) + end, width, axis=0)
    if mode == "linear_ramp":
        steps = np.reshape(np.arange(1, width + 1) / width, (width, *[1] * (np.ndim(x) - 1)))
        return x[:1] + steps * (end - x[:1])
    part = x if length is None else x[: int(length)]
    return np.repeat(_STATISTICS[mode](part, axis=0, keepdims=True), width, axis=0)
