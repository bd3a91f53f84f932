"""What happens to the accumulators of a backward sweep."""

from __future__ import annotations

from ....ir.graph import CALL, FOR, IF, Block, Eqn, Var, used_by
from ....ir.types import Number


def last_version(block: Block, accumulator: Var) -> Var | None:
    """What an accumulator is at the end of a block; None if that does anything but add terms to it.

    Nothing else in the block depends on it, then, and the terms may be added in any order.
    """
    for eqn in block.eqns:
        if accumulator in used_by(eqn):
            after = added_to(eqn, accumulator)
            if after is None:
                return None
            accumulator = after
    return accumulator


def added_to(eqn: Eqn, accumulator: Var) -> Var | None:
    """An accumulator after an equation that uses it; None if that does not just add a term to it."""
    uses = sum(1 for var in used_by(eqn) if var is accumulator)
    if eqn.op is IF and uses:
        return _through_branches(eqn, accumulator)
    if uses != 1:
        return None
    if eqn.op is FOR:
        return _through_loop(eqn, accumulator)
    if eqn.op is CALL:
        outs = [out for k, out in eqn.param("handed", ()) if eqn.args[k] is accumulator]
        return eqn.outs[outs[0]] if outs else None
    if eqn.op.name == "add_at":
        return eqn.outs[0] if eqn.args[0] is accumulator else None
    is_sum = eqn.op.name == "add" and isinstance(accumulator.kind, Number)
    return eqn.outs[0] if is_sum and accumulator in eqn.args else None


def _through_branches(eqn: Eqn, accumulator: Var) -> Var | None:
    slots = [_slot(block, accumulator) for block in eqn.blocks]
    return None if slots[0] is None or slots[1] != slots[0] else eqn.outs[slots[0]]


def _through_loop(eqn: Eqn, accumulator: Var) -> Var | None:
    n = eqn.param("iterables", 0)
    if accumulator not in eqn.args[n:] or eqn.param("stop", False):
        return None
    k = eqn.args.index(accumulator) - n
    slot = _slot(eqn.blocks[0], eqn.blocks[0].params[n + k])
    return eqn.outs[k] if slot == k else None


def _slot(block: Block, accumulator: Var) -> int | None:
    """Which result of a block, and which alone, is an accumulator with what the block adds to it."""
    end = last_version(block, accumulator)
    slots = [k for k, out in enumerate(block.outs) if out is end or out is accumulator]
    return slots[0] if end is not None and len(slots) == 1 and block.outs[slots[0]] is end else None
