"""Quantiles, interpolation and counting: linear in the values, once it is known which values count."""

from __future__ import annotations

from ...ops.arrays.reduction import lanes, sum_
from ...ops.arrays.selection import take, take_along_axis
from ...ops.arrays.shape import reshape, shape, transpose
from ...ops.arrays.statistics import (
    argpartition,
    bincount,
    delete_places,
    digitize,
    insert_places,
    interp,
    interval_of,
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    partition,
    partition_places,
    percentile,
    periodic_places,
    periodic_turns,
    quantile,
    quantile_weights,
    running_places,
    spread_mask,
    unique_places,
)
from ...ops.elementwise import where
from ..forms import differential, linear_rule, zero_rule

zero_rule(interval_of, digitize, argpartition, partition_places, running_places, unique_places)
zero_rule(insert_places, delete_places, periodic_places, periodic_turns)

# --- quantiles ----------------------------------------------------------------------------


def _quantile(dx, x, q, Ω, axis, method, skip_nan):
    """dΩ = Σ w dx, where w(q) are the weights of the entries of x."""
    lane = lanes(x, axis=axis)
    weights = quantile_weights(lane, q, method=method, skip_nan=skip_nan)
    return reshape(sum_(weights * lanes(dx, axis=axis), axis=-1), shape(Ω))


def _sliding(dq, x, q, Ω, axis, method, skip_nan):
    """dΩ = dq Σ w' x."""
    lane = lanes(x, axis=axis)
    slopes = quantile_weights(lane, q, method=method, skip_nan=skip_nan, order=1)
    slope = sum_(where(slopes == 0, 0.0, slopes * lane), axis=-1)
    return reshape(transpose(transpose(slope) * transpose(dq)), shape(Ω))


@differential(median)
def _(dx, x, Ω, *, axis=None, keepdims=False):
    return _quantile(dx, x, 0.5, Ω, axis, "linear", False)


@differential(nanmedian)
def _(dx, x, Ω, *, axis=None, keepdims=False):
    return _quantile(dx, x, 0.5, Ω, axis, "linear", True)


@differential(quantile)
def _(dx, dq, x, q, Ω, *, axis=None, method="linear", keepdims=False):
    return _quantile(dx, x, q, Ω, axis, method, False) + _sliding(dq, x, q, Ω, axis, method, False)


@differential(nanquantile)
def _(dx, dq, x, q, Ω, *, axis=None, method="linear", keepdims=False):
    return _quantile(dx, x, q, Ω, axis, method, True) + _sliding(dq, x, q, Ω, axis, method, True)


@differential(percentile)
def _(dx, dq, x, q, Ω, *, axis=None, method="linear", keepdims=False):
    return _quantile(dx, x, q / 100, Ω, axis, method, False) + _sliding(
        dq / 100, x, q / 100, Ω, axis, method, False
    )


@differential(nanpercentile)
def _(dx, dq, x, q, Ω, *, axis=None, method="linear", keepdims=False):
    return _quantile(dx, x, q / 100, Ω, axis, method, True) + _sliding(
        dq / 100, x, q / 100, Ω, axis, method, True
    )


@differential(quantile_weights)
def _(dlane, dq, lane, q, Ω, *, method="linear", skip_nan=False, order=0):
    """The weights do not depend on the values, only on their order."""
    if order == 1:
        return 0.0 * Ω
    slopes = quantile_weights(lane, q, method=method, skip_nan=skip_nan, order=1)
    return transpose(transpose(slopes) * transpose(dq))


# --- tables -------------------------------------------------------------------------------


@differential(interp)
def _(dx, dxp, dfp, x, xp, fp, Ω, *, left=None, right=None):
    """Linear in fp between two entries of xp; at one of them the derivative is that to the right."""
    k = interval_of(x, xp)
    start, width = take(xp, k), take(xp, k + 1) - take(xp, k)
    inside = (x >= start) & (x <= start + width)
    share = where(x < start, 0.0, where(inside, (x - start) / width, 1.0))
    slope = where(inside, (take(fp, k + 1) - take(fp, k)) / width, 0.0)
    moved = (1 - share) * take(dfp, k) + share * take(dfp, k + 1)
    held = moved if left is None else where(x < xp[0], 0.0, moved)
    held = held if right is None else where(x > xp[-1], 0.0, held)
    return held + slope * (dx - (1 - share) * take(dxp, k) - share * take(dxp, k + 1))


# --- counting -----------------------------------------------------------------------------

linear_rule(bincount, transpose=(None, lambda ȳ, x, weights, *, minlength=0: take(ȳ, x)))


# --- sorted places ------------------------------------------------------------------------


@differential(partition)
def _(dx, x, Ω, *, kth, axis=-1, kind="introselect", order=None):
    """The tangents move as the values do."""
    return take_along_axis(dx, partition_places(x, Ω, axis=axis), axis=axis)


linear_rule(spread_mask, transpose=(lambda ȳ, values, mask: ȳ[mask], None))
