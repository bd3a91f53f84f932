"""Rules for the structural ops that derivative code is made of: spreading and summing cotangents."""

from __future__ import annotations

from math import nan

from ..ops.arrays.reduction import broadcast_like, sum_
from ..ops.elementwise import where
from ..ops.program.checks import (
    python_truth,
    real_argument,
    real_power,
    real_result,
    scalar_seed,
    spanning,
)
from ..ops.program.cotangents import basis, pushforward_of
from ..ops.program.identity import apart, distinct, is_sequence, is_view, shares_with, unshared
from ..ops.program.implicit import check_jumps, check_root, found, linear_root, watch
from ..ops.structure import (
    accumulate,
    both,
    either,
    eq,
    fill,
    format_,
    ge,
    gt,
    in_,
    is_,
    is_not,
    le,
    length,
    lt,
    ne,
    not_,
    not_in,
    opaque,
    project,
    pullback_of,
    range_,
    ruled,
    stop_gradient,
    truth,
    unbroadcast,
    unknown_where,
    valued,
    zeros,
)
from .forms import differential, linear_rule, zero_rule

linear_rule(unbroadcast, transpose=(lambda ȳ, x_bar, x: broadcast_like(ȳ, x_bar), None))
linear_rule(fill, transpose=(lambda ȳ, scalar, x: sum_(ȳ), None))
linear_rule(accumulate, transpose=(lambda ȳ, a, b: ȳ, lambda ȳ, a, b: ȳ))
# real parts and dtypes are taken of every cotangent anyway
linear_rule(project, transpose=(lambda ȳ, x_bar, x: ȳ, None))

linear_rule(ruled, transpose=lambda ȳ, x, *captured, function, names: ȳ)
zero_rule(
    stop_gradient,
    zeros,
    scalar_seed,
    real_result,
    real_argument,
    real_power,
    python_truth,
    spanning,
)
zero_rule(eq, ne, lt, le, gt, ge, is_, is_not, in_, not_in, not_, both, either, truth)
zero_rule(range_, length, format_, opaque, basis, check_root, found, linear_root)
zero_rule(watch, check_jumps)
zero_rule(pullback_of, pushforward_of)  # `means` says what they give
zero_rule(is_view, shares_with, is_sequence, distinct, unshared, apart)


linear_rule(
    unknown_where, transpose=(lambda ȳ, x, at_kink: where(ȳ * at_kink != 0, nan, 0.0), None)
)


@differential(valued)
def _(d_value, d_smooth, value, smooth, Ω):
    """The derivative is that of the smooth expression, which is dead code otherwise."""
    return d_smooth
