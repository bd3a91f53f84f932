"""Differences along an axis, and what is appended."""

from __future__ import annotations

from .....ir.graph import Eqn
from ...form.loopform import Apply
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of, known_number
from ...values.values import EVERYTHING, ONE, ZERO, Bounds, Scalar, Tuple, Unlowered, Value, integer
from .gather_scatter import index, the_axis


@lowers("diff")
def _diff(site: BlockLowering, eqn: Eqn) -> Value:
    x = site.in_memory(eqn.args[0])
    axis = the_axis(eqn, len(x.dims), -1)
    if axis is None or x.code == "b1" or not set(eqn.params) <= {"n", "axis"}:
        raise Unlowered("differences of this kind")
    whole = [EVERYTHING] * axis
    after, before = Bounds(Scalar(ONE), None, None), Bounds(None, Scalar(integer(-1)), None)
    found: Value = x
    for _ in range(_times(eqn)):
        ends = [site.apply("getitem", found, index(*whole, part)) for part in (after, before)]
        found = site.apply("sub", *ends)
    return found


def _times(eqn: Eqn) -> int:
    n = known_number(eqn, "n") if "n" in eqn.params else 1
    if n < 1:
        raise Unlowered("differences of no order")
    return n


@lowers("undiff")
def _undiff(site: BlockLowering, eqn: Eqn) -> Value:
    """The transpose of `diff`: what is added to an element less what is taken from it."""
    bar: Value = site.in_memory(eqn.args[0])
    like = dims_of(site.operand(eqn.params["like"]))
    axis = the_axis(eqn, len(like), -1)
    assert axis is not None
    site.e.exit_if(Apply("eq", (like[axis], ZERO), "b1"), "differences of nothing")
    border = [[0, 0] for _ in like]
    border[axis] = [1, 1]
    width = tuple(map(tuple, border))
    for _ in range(_times(eqn)):
        change = site.apply("diff", site.apply("pad", bar, pad_width=width), axis=axis)
        bar = site.apply("neg", change)
    return bar


@lowers("append")
def _append(site: BlockLowering, eqn: Eqn) -> Value:
    """Two arrays one after the other, taken as arrays of one axis where none is named."""
    parts = [site.view(site.operand(atom)) for atom in eqn.args]
    axis = the_axis(eqn, len(parts[0].dims))
    if axis is None:
        parts = [site.view(site.apply("ravel", part)) for part in parts]
    return site.apply("concatenate", Tuple(tuple(parts), "list"), outs=eqn.outs, axis=axis or 0)
