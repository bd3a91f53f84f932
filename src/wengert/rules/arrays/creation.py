"""New arrays: constants have no derivative, the rest is linear in the numbers it is made of."""

from __future__ import annotations

from ...ops.arrays.creation import (
    arange,
    arange_from,
    array,
    asarray,
    ascontiguousarray,
    asfortranarray,
    diag_indices,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    gather,
    grid_indices,
    identity,
    linspace,
    ones,
    ones_like,
    tri,
    tril_indices,
    triu_indices,
    zeros_array,
    zeros_like,
)
from ...ops.arrays.shape import cast_like, moveaxis, reshape, shape, size
from ...ops.structure import unbroadcast
from ..forms import differential, linear_rule, zero_rule

zero_rule(zeros_array, ones, empty, zeros_like, ones_like, empty_like)
zero_rule(eye, identity, tri, grid_indices, tril_indices, triu_indices, diag_indices)
zero_rule(arange)

linear_rule(full, transpose=(None, lambda ȳ, shape, value, *, dtype=None: unbroadcast(ȳ, value)))
linear_rule(full_like, transpose=(None, lambda ȳ, x, value, *, dtype=None: unbroadcast(ȳ, value)))


@differential(arange_from)
def _(dstart, dstop, dstep, start, stop, step, Ω):
    """Entry k is start + k·step; the stop only decides how many there are."""
    return dstart * ones_like(Ω) + dstep * arange(size(Ω))


def _weighted(ȳ, weights, x, axis):
    return unbroadcast(moveaxis(ȳ, source=axis, destination=-1) @ weights, x)


linear_rule(
    linspace,
    transpose=(
        lambda ȳ, start, stop, *, num=50, endpoint=True, axis=0: _weighted(
            ȳ, linspace(1.0, 0.0, num, endpoint=endpoint), start, axis
        ),
        lambda ȳ, start, stop, *, num=50, endpoint=True, axis=0: _weighted(
            ȳ, linspace(0.0, 1.0, num, endpoint=endpoint), stop, axis
        ),
    ),
)

# --- from numbers and lists ---------------------------------------------------------------

linear_rule(gather, transpose=lambda ȳ, x: ȳ)
linear_rule(asfortranarray, transpose=lambda ȳ, x, *, dtype=None: reshape(ȳ, shape(x)))
linear_rule(ascontiguousarray, transpose=lambda ȳ, x, *, dtype=None: reshape(ȳ, shape(x)))


def _converted(dx, Ω, dtype, ndmin):
    gathered = gather(dx) if ndmin == 0 else reshape(gather(dx), shape(Ω))
    return gathered if dtype is None else cast_like(gathered, like=Ω)


@differential(array)
def _(dx, x, Ω, *, dtype=None, copy=True, order="K", ndmin=0):
    """The cotangent of a nested list is an array, indexed in the same way."""
    return _converted(dx, Ω, dtype, ndmin)


@differential(asarray)
def _(dx, x, Ω, *, dtype=None, order=None):
    """The cotangent of a nested list is an array, indexed in the same way."""
    return _converted(dx, Ω, dtype, 0)
