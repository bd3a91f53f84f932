"""Where quantiles, table look-ups, counts and runs take their values from."""

from __future__ import annotations

from typing import Any

import numpy as np

# --- quantiles ----------------------------------------------------------------------------


def quantile_weights(
    lane: Any, q: Any, *, method: str = "linear", skip_nan: bool = False, order: int = 0
) -> Any:
    """The weights with which entries of lanes add up to their quantiles.

    Args:
        lane: numbers, the lanes along the last axis.
        q: quantiles between 0 and 1, of any shape.
        method: as `np.quantile` has it.
        skip_nan: whether NaN do not count.
        order: 1 for the derivative of the weights in `q`.

    Returns:
        An array of the shape of `q` followed by that of `lane`.

    Raises:
        ValueError: as `np.quantile` does, where `q` is outside of 0 and 1.
    """
    lane, q = np.asarray(lane), np.asarray(q, float)
    if not np.all((q >= 0) & (q <= 1)):
        np.quantile(lane, q, axis=-1)
    count = (
        np.sum(~np.isnan(lane), axis=-1) if skip_nan else np.full(lane.shape[:-1], lane.shape[-1])
    )
    q = q.reshape(q.shape + (1,) * count.ndim)
    place, slope = _place(q, count, method)
    last = np.maximum(count - 1, 0)
    inside = (place >= 0) & (place <= last)
    place = np.clip(place, 0, last)
    low = np.floor(place)
    low = np.minimum(low, np.maximum(last - 1, 0))
    above = place - low if order == 0 else np.where(inside & (last > 0), slope, 0.0)
    below = 1 - above if order == 0 else -above
    rank = np.argsort(np.argsort(lane, axis=-1, kind="stable"), axis=-1, kind="stable")
    low = low[..., None]
    weights = np.where(rank == low, below[..., None], 0.0)
    return weights + np.where(rank == np.minimum(low + 1, last[..., None]), above[..., None], 0.0)


def _place(q: Any, count: Any, method: str) -> tuple[Any, Any]:
    """Where among the sorted entries a quantile lies, and how fast it moves with q."""
    offsets = {
        "interpolated_inverted_cdf": (0.0, 1.0),
        "hazen": (0.5, 0.5),
        "weibull": (0.0, 0.0),
        "linear": (1.0, 1.0),
        "median_unbiased": (1 / 3, 1 / 3),
        "normal_unbiased": (3 / 8, 3 / 8),
    }
    if method in offsets:
        a, b = offsets[method]
        return count * q + (a + q * (1 - a - b)) - 1, count + 1 - a - b
    # the others choose an entry, or the middle between two: NumPy says which, of entries that are their places
    quantile: Any = np.quantile
    place = np.vectorize(lambda n, at: quantile(np.arange(max(n, 1.0)), at, method=method), "d")
    return place(count, q), 0.0


# --- looking up ---------------------------------------------------------------------------


def interval_of(x: Any, xp: Any) -> Any:
    """The interval of the increasing `xp` that `x` lies in, as the index of its left end.

    What lies outside belongs to the first or the last interval.
    """
    return np.clip(np.searchsorted(xp, x, side="right") - 1, 0, max(len(xp) - 2, 0))


def periodic_places(xp: Any, *, period: float) -> Any:
    """The places of a periodic table in increasing order, one more at either end."""
    order = np.argsort(np.mod(xp, period))
    return np.concatenate((order[-1:], order, order[:1]))


def periodic_turns(xp: Any, *, period: float) -> Any:
    """How many periods the places of `periodic_places` are away from where the table has them."""
    turns = -np.floor_divide(xp, period)[periodic_places(xp, period=period)]
    turns[0] -= 1
    turns[-1] += 1
    return turns


def unique_places(x: Any, *, axis: int | None = None, equal_nan: bool = True) -> Any:
    """Where the values of `np.unique(x)` first stand, where each entry went, and how often."""
    return np.unique(
        x,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        axis=axis,
        equal_nan=equal_nan,
    )[1:]


def partition_places(x: Any, y: Any, *, axis: int | None = -1) -> Any:
    """For each entry of `y`, which holds the same values as `x`, where in `x` it comes from."""
    if axis is None:
        x, axis = np.ravel(x), -1
    back = np.argsort(np.argsort(y, axis=axis, kind="stable"), axis=axis, kind="stable")
    return np.take_along_axis(np.argsort(x, axis=axis, kind="stable"), back, axis)


def running_places(x: Any, *, axis: int = 0, largest: bool = True) -> Any:
    """For each entry, where the extreme of all entries up to it first stands along an axis."""
    x = np.moveaxis(np.asarray(x), axis, -1)
    extremes = (np.maximum if largest else np.minimum).accumulate(x, axis=-1)
    new = np.ones(x.shape, bool)
    new[..., 1:] = extremes[..., 1:] != extremes[..., :-1]
    places = np.maximum.accumulate(np.where(new, np.arange(x.shape[-1]), 0), axis=-1)
    return np.moveaxis(places, -1, axis)


def insert_places(length: int, at: Any, count: int) -> Any:
    """Where the entries of `np.insert` come from: those inserted are numbered after the others."""
    return np.insert(np.arange(length), at, np.arange(length, length + count))


def delete_places(length: int, at: Any) -> Any:
    """Where the entries that `np.delete` leaves come from."""
    return np.delete(np.arange(length), at)


def spread_mask(values: Any, mask: Any) -> Any:
    """An array of the shape of `mask` with the values where it is set, 0 elsewhere."""
    values, mask = np.asarray(values), np.asarray(mask)
    result = np.zeros(mask.shape, np.result_type(values, 0.0))
    result[mask] = values
    return result
