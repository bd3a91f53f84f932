"""Reductions and scans: linear ones by their transpose, the others by their differential.

An extreme gives its cotangent to the first element that attains it. Products are right with zeros
among the factors. `lanes` moves the reduced axes to the end, `unlanes` back.
"""

from __future__ import annotations

from ...ops.arrays.reduction import (
    all_,
    any_,
    argmax,
    argmin,
    at_extreme,
    at_max,
    at_min,
    broadcast_like,
    count_nonzero,
    cumprod,
    cumsum,
    cumsum_reversed,
    delayed,
    dist,
    exponent_of,
    fsum,
    inner_items,
    items_length,
    items_of,
    lane_of,
    lanes,
    linear_recurrence,
    max_,
    mean,
    min_,
    neg_items,
    or_one,
    prod,
    prod_items,
    products_before,
    put_extreme,
    reduced_count,
    scale_items,
    spread_items,
    std,
    sub_items,
    sum_,
    sum_items,
    sum_of_products,
    sumprod,
    unlanes,
    unreduce,
    var,
)
from ...ops.elementwise import conj, real, safe_div
from ...ops.structure import fill, unbroadcast
from ..forms import also_linear, bilinear_rule, differential, linear_rule, zero_rule

# --- sums and means ---------------------------------------------------------------------------

linear_rule(
    sum_,
    transpose=lambda ȳ, x, *, axis=None, dtype=None, keepdims=False: (
        fill(ȳ, x)
        if axis is None and not keepdims
        else unreduce(ȳ, x, axis=axis, keepdims=keepdims)
    ),
)
linear_rule(
    mean,
    transpose=lambda ȳ, x, *, axis=None, dtype=None, keepdims=False: (
        fill(ȳ / reduced_count(x), x)
        if axis is None and not keepdims
        else unreduce(ȳ / reduced_count(x, axis=axis), x, axis=axis, keepdims=keepdims)
    ),
)
linear_rule(
    unreduce,
    transpose=(
        lambda ȳ, y_bar, x, *, axis=None, keepdims=False: sum_(ȳ, axis=axis, keepdims=keepdims),
        None,
    ),
)
bilinear_rule(
    sum_of_products,
    left=lambda ȳ, x, y, *, axis=None, keepdims=False: (
        conj(y) * (ȳ if axis is None else unreduce(ȳ, x, axis=axis, keepdims=keepdims))
    ),
    right=lambda ȳ, x, y, *, axis=None, keepdims=False: (
        conj(x) * (ȳ if axis is None else unreduce(ȳ, x, axis=axis, keepdims=keepdims))
    ),
)
linear_rule(broadcast_like, transpose=(lambda ȳ, x, like: unbroadcast(ȳ, x), None))
linear_rule(
    cumsum, transpose=lambda ȳ, x, *, axis=None, dtype=None: cumsum_reversed(ȳ, x, axis=axis)
)
linear_rule(
    cumsum_reversed, transpose=(lambda ȳ, y_bar, x, *, axis=None: cumsum(ȳ, axis=axis), None)
)


@differential(var)
def _(dX, X, Ω, *, axis=None, dtype=None, ddof=0, keepdims=False):
    """dΩ = 2 Σ Re((X − mean)‾ dX) / (n − ddof)"""
    deviation = X - mean(X, axis=axis, keepdims=True)
    total = real(sum_of_products(conj(deviation), dX, axis=axis, keepdims=keepdims))
    return total * 2 / reduced_count(X, axis=axis, ddof=ddof)


@differential(std)
def _(dX, X, Ω, *, axis=None, dtype=None, ddof=0, keepdims=False):
    """dΩ = Σ Re((X − mean)‾ dX) / (n − ddof) / Ω,  0 where Ω is 0"""
    deviation = X - mean(X, axis=axis, keepdims=True)
    total = real(sum_of_products(conj(deviation), dX, axis=axis, keepdims=keepdims))
    return safe_div(total / reduced_count(X, axis=axis, ddof=ddof), Ω)


# --- extremes -----------------------------------------------------------------------------------


@differential(max_)
def _(dX, X, Ω, *, axis=None, keepdims=False, initial=None):
    if initial is not None:  # there may be nothing that is the largest
        return at_extreme(dX, X, Ω, axis=axis, keepdims=keepdims)
    return at_max(dX, X, Ω, axis=axis, keepdims=keepdims)


@differential(min_)
def _(dX, X, Ω, *, axis=None, keepdims=False, initial=None):
    if initial is not None:
        return at_extreme(dX, X, Ω, axis=axis, keepdims=keepdims)
    return at_min(dX, X, Ω, axis=axis, keepdims=keepdims)


linear_rule(
    at_extreme,
    transpose=(
        lambda ȳ, values, x, y, *, axis=None, keepdims=False: put_extreme(
            ȳ, x, y, axis=axis, keepdims=keepdims
        ),
        None,
        None,
    ),
)
linear_rule(
    put_extreme,
    transpose=(
        lambda ȳ, y_bar, x, y, *, axis=None, keepdims=False: at_extreme(
            ȳ, x, y, axis=axis, keepdims=keepdims
        ),
        None,
        None,
    ),
)

# --- products -------------------------------------------------------------------------------------


@differential(prod)
def _(dX, X, Ω, *, axis=None, dtype=None, keepdims=False):
    """dΩ = Σᵢ (Π_{j≠i} xⱼ) dxᵢ"""
    lane = lanes(X, axis=axis)
    others = products_before(lane) * products_before(lane, reverse=True)
    return sum_of_products(unlanes(others, X, axis=axis), dX, axis=axis, keepdims=keepdims)


@differential(cumprod)
def _(dX, X, Ω, *, axis=None, dtype=None):
    """dΩ_k = x_k dΩ_{k-1} + P_k dx_k, where P_k is the product before k"""
    lane = lanes(X, axis=axis)
    step = products_before(lane) * lanes(dX, axis=axis)
    return unlanes(linear_recurrence(lane, step), Ω, axis=axis)


@differential(products_before)
def _(dX, X, Ω, *, reverse=False):
    """dP_k is what dΩ was at the entry before"""
    return delayed(linear_recurrence(X, Ω * dX, reverse=reverse), reverse=reverse)


@differential(linear_recurrence)
def _(da, db, a, b, Ω, *, reverse=False):
    """dΩ_k = a_k dΩ_{k-1} + da_k Ω_{k-1} + db_k"""
    return linear_recurrence(a, db + da * delayed(Ω, reverse=reverse), reverse=reverse)


# The adjoint runs the other way, where the factor between two entries is that of the later one.
also_linear(
    linear_recurrence,
    (None, lambda ȳ, a, b, *, reverse=False: linear_recurrence(
        conj(delayed(a, reverse=not reverse)), ȳ, reverse=not reverse
    )),
)  # fmt: skip
linear_rule(delayed, transpose=lambda ȳ, x, *, reverse=False: delayed(ȳ, reverse=not reverse))
linear_rule(lanes, transpose=lambda ȳ, x, *, axis=None: unlanes(ȳ, x, axis=axis))
linear_rule(unlanes, transpose=(lambda ȳ, y, x, *, axis=None: lanes(ȳ, axis=axis), None))

# --- over lists -----------------------------------------------------------------------------------

linear_rule(
    sum_items,
    transpose=(
        lambda ȳ, xs, start=0: spread_items(ȳ, xs),
        lambda ȳ, xs, start=0: unbroadcast(ȳ, start),
    ),
)
linear_rule(fsum, transpose=lambda ȳ, xs: spread_items(ȳ, xs))
linear_rule(spread_items, transpose=(lambda ȳ, y_bar, xs: sum_items(ȳ), None))
linear_rule(sub_items, transpose=(lambda ȳ, xs, ys: ȳ, lambda ȳ, xs, ys: neg_items(ȳ)))
linear_rule(neg_items, transpose=lambda ȳ, xs: neg_items(ȳ))
linear_rule(lane_of, transpose=lambda ȳ, items: items_of(ȳ, items))
linear_rule(items_of, transpose=(lambda ȳ, lane, items: lane_of(ȳ), None))
bilinear_rule(
    scale_items,
    left=lambda ȳ, scale, xs: inner_items(ȳ, xs),
    right=lambda ȳ, scale, xs: scale_items(scale, ȳ),
)
bilinear_rule(
    inner_items,
    left=lambda ȳ, xs, ys: scale_items(ȳ, ys),
    right=lambda ȳ, xs, ys: scale_items(ȳ, xs),
)
bilinear_rule(
    sumprod, left=lambda ȳ, p, q: scale_items(ȳ, q), right=lambda ȳ, p, q: scale_items(ȳ, p)
)


@differential(dist)
def _(dP, dQ, P, Q, Ω):
    """dΩ = ⟨P − Q, dP − dQ⟩ / Ω,  0 where P = Q"""
    return safe_div(inner_items(sub_items(P, Q), sub_items(dP, dQ)), Ω)


@differential(items_length)
def _(dX, X, Ω):
    """dΩ = ⟨X, dX⟩ / Ω,  0 at the origin"""
    return safe_div(inner_items(X, dX), Ω)


@differential(prod_items)
def _(dX, X, Ω):
    """dΩ = Σᵢ (Π_{j≠i} xⱼ) dxᵢ"""
    lane = lane_of(X)
    others = products_before(lane) * products_before(lane, reverse=True)
    return sum_of_products(others, lane_of(dX), axis=-1)


# --- piecewise constant -----------------------------------------------------------------------------

zero_rule(any_, all_, argmax, argmin, count_nonzero, reduced_count, or_one, exponent_of)
