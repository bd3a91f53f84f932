"""Repeating, padding, selecting and ordering entries: linear, once the indices are known."""

from __future__ import annotations

from ...ops.arrays.selection import (
    argsort,
    argwhere,
    diag,
    diagonal,
    diff,
    edge_like,
    flatnonzero,
    isin,
    lexsort,
    nonzero,
    pad,
    pad_zeros,
    repeat,
    searchsorted,
    sort,
    take,
    take_along_axis,
    tile,
    trace,
    tril,
    triu,
    undiag,
    undiagonal,
    undiff,
    unpad,
    unrepeat,
    unrow,
    untake,
    untake_along_axis,
    untile,
    untrace,
)
from ...ops.structure import unbroadcast
from ..forms import differential, linear_rule, zero_rule

zero_rule(argsort, lexsort, searchsorted, isin, argwhere, flatnonzero, nonzero)

# --- repeating ----------------------------------------------------------------------------

linear_rule(tile, transpose=lambda ȳ, x, *, reps: untile(ȳ, reps=reps, like=x))
linear_rule(untile, transpose=lambda ȳ, y_bar, *, reps, like: tile(ȳ, reps))
linear_rule(
    repeat,
    transpose=lambda ȳ, x, *, repeats, axis=None: unrepeat(ȳ, repeats=repeats, like=x, axis=axis),
)
linear_rule(
    unrepeat, transpose=lambda ȳ, y_bar, *, repeats, like, axis=None: repeat(ȳ, repeats, axis=axis)
)


@differential(pad)
def _(dx, x, Ω, *, pad_width, mode="constant", constant_values=0):
    """A constant border does not move."""
    return pad_zeros(dx, pad_width, mode=mode)


linear_rule(
    pad_zeros,
    transpose=lambda ȳ, x, *, pad_width, mode="constant": unpad(
        ȳ, pad_width=pad_width, like=x, mode=mode
    ),
)
linear_rule(
    unpad,
    transpose=lambda ȳ, y_bar, *, pad_width, like, mode="constant": pad_zeros(
        ȳ, pad_width, mode=mode
    ),
)

# --- selecting ----------------------------------------------------------------------------

linear_rule(
    take,
    transpose=lambda ȳ, x, *, indices, axis=None, mode="raise": untake(
        ȳ, indices=indices, like=x, axis=axis, mode=mode
    ),
)
linear_rule(
    untake,
    transpose=lambda ȳ, y_bar, *, indices, like, axis=None, mode="raise": take(
        ȳ, indices, axis=axis, mode=mode
    ),
)
linear_rule(
    take_along_axis,
    transpose=lambda ȳ, x, *, indices, axis=-1: untake_along_axis(
        ȳ, indices=indices, like=x, axis=axis
    ),
)
linear_rule(
    untake_along_axis,
    transpose=lambda ȳ, y_bar, *, indices, like, axis=-1: take_along_axis(ȳ, indices, axis=axis),
)
linear_rule(edge_like, transpose=lambda ȳ, x, *, like, axis=-1: unbroadcast(ȳ, x))
linear_rule(diff, transpose=lambda ȳ, x, *, n=1, axis=-1: undiff(ȳ, like=x, n=n, axis=axis))
linear_rule(undiff, transpose=lambda ȳ, y_bar, *, like, n=1, axis=-1: diff(ȳ, n=n, axis=axis))
linear_rule(triu, transpose=lambda ȳ, x, *, k=0: unrow(triu(ȳ, k=k), like=x))
linear_rule(tril, transpose=lambda ȳ, x, *, k=0: unrow(tril(ȳ, k=k), like=x))
linear_rule(diag, transpose=lambda ȳ, x, *, k=0: undiag(ȳ, like=x, k=k))
linear_rule(undiag, transpose=lambda ȳ, y_bar, *, like, k=0: diag(ȳ, k=k))
linear_rule(
    diagonal,
    transpose=lambda ȳ, x, *, offset=0, axis1=0, axis2=1: undiagonal(
        ȳ, like=x, offset=offset, axis1=axis1, axis2=axis2
    ),
)
linear_rule(
    undiagonal,
    transpose=lambda ȳ, y_bar, *, like, offset=0, axis1=0, axis2=1: diagonal(
        ȳ, offset=offset, axis1=axis1, axis2=axis2
    ),
)
linear_rule(
    trace,
    transpose=lambda ȳ, x, *, offset=0, axis1=0, axis2=1: untrace(
        ȳ, like=x, offset=offset, axis1=axis1, axis2=axis2
    ),
)
linear_rule(
    untrace,
    transpose=lambda ȳ, y_bar, *, like, offset=0, axis1=0, axis2=1: trace(
        ȳ, offset=offset, axis1=axis1, axis2=axis2
    ),
)

# --- ordering -----------------------------------------------------------------------------


@differential(sort)
def _(dx, x, Ω, *, axis=-1, kind=None):
    """The tangents move as the values do; equal values keep their order."""
    return take_along_axis(dx, argsort(x, axis=axis, kind="stable"), axis=axis)
