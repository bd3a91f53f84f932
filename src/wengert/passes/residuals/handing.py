"""How branches, `try`s and loops hand over what a later sweep needs of them: the same in both modes."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import UNDEFINED, Atom, Block, Const, Eqn, Var, used_in
from ...ir.renaming import clone, clones, renamed_atom
from ...ir.types import BOOL, INT, RANGE, Array, Kind, Seq, Struct
from ...ops import registry, structure as st
from ..blocks.loops import Loop, Slot
from .plan import plan, recomputed, shared

if TYPE_CHECKING:
    from ..reverse.sweep import Sweep


def has_completed(block: Block, eqn: Eqn) -> tuple[Var, Sequence[Eqn]]:
    """Whether the body of a `try` has come to its end, and the equations to be added that ask for it."""
    for asking in asks_whether_completed(block, eqn):
        return asking.outs[0], ()
    completed = Var(BOOL, "completed")
    question = (eqn.outs[0], Const(None))
    return completed, [Eqn((completed,), st.is_, question, {}, (), "py", eqn.span)]


def asks_whether_completed(block: Block, eqn: Eqn) -> list[Eqn]:
    """The equations of a block that ask whether a `try` has raised nothing."""
    question = (eqn.outs[0], Const(None))
    return [each for each in block.eqns if each.op is st.is_ and each.args == question]


def branched(
    sweep: Sweep,
    condition: Atom,
    branches: Sequence[Sweep],
    results: Sequence[Sequence[Atom]],
    outs: Sequence[Var],
) -> tuple[tuple[Block, Block], list[Var]]:
    """Emit the reverse `if`; gives the forward paths that hand over what the reverse ones need."""
    forward = [branch.forward_eqns() for branch in branches]
    blocks = [
        branch.builder.block((), result) for branch, result in zip(branches, results, strict=True)
    ]
    clobbered = sweep.context.written.clobbered
    plans = [
        plan(eqns, (), block, in_loop=sweep.in_loop, clobbered=clobbered)
        for eqns, block in zip(forward, blocks, strict=True)
    ]
    received = [clones(each.carried) for each in plans]
    then, other = (
        with_residuals(block, each.again, dict(names))
        for block, each, names in zip(blocks, plans, received, strict=True)
    )
    sweep.builder.if_(condition, then, other, outs)
    here, there = (each.carried for each in plans)
    handed = ((*here, *[UNDEFINED] * len(there)), (*[UNDEFINED] * len(here), *there))
    first, second = (
        Block((), tuple(eqns), (*branch.block.outs, *more))
        for eqns, branch, more in zip(forward, branches, handed, strict=True)
    )
    return (first, second), [*received[0].values(), *received[1].values()]


def with_residuals(reverse: Block, again: Sequence[Eqn], mapping: dict[Var, Atom]) -> Block:
    """The reverse block, reading what was handed over under its new names."""
    eqns = shared([*recomputed(again, mapping), *reverse.eqns], mapping)
    outs = tuple(renamed_atom(out, mapping) for out in reverse.outs)
    return Block(reverse.params, tuple(eqns), outs)


def walks_again(loop: Loop, clobbered: Container[Atom]) -> bool:
    """Whether the reverse loop can walk over the iterables themselves."""
    return loop.aligned and all(
        _is_sequence(kind_of_atom(each)) and each not in clobbered for each in loop.iterables
    )


def _is_sequence(kind: Kind) -> bool:
    if isinstance(kind, Struct):
        return kind.form in ("tuple", "list", "namedtuple")
    return isinstance(kind, (Seq, Array)) or kind == RANGE


def items_again(
    loop: Loop, reverse: Block, again: Sequence[Eqn], free: Sequence[Var], renaming: dict[Var, Var]
) -> list[tuple[Atom, Var]]:
    """The iterables whose items the reverse body reads; their items get new names."""
    used = {*used_in(reverse), *used_in(Block((), tuple(again), ()))}
    pairs: list[tuple[Atom, Var]] = []
    for iterable, item in zip(loop.iterables, loop.items, strict=True):
        if item in free and item in used:
            renaming[item] = clone(item)
            pairs.append((iterable, renaming[item]))
    return pairs


def counted_trips(
    loop: Loop, sweep: Sweep, forward: list[Eqn]
) -> tuple[tuple[Atom, Var], list[Slot], list[Eqn]]:
    """What the reverse loop counts its iterations by when it needs nothing of the forward one."""
    if walks_again(loop, sweep.context.written.clobbered):
        return (loop.iterables[0], clone(loop.items[0])), [], forward
    before, after, steps = Var(INT, "steps"), Var(INT, "steps"), Var(INT, "steps")
    step = Eqn((after,), registry.named("add"), (before, Const(1)))
    trips = sweep.builder.emit(st.range_, steps)
    return (trips, Var(INT)), [Slot(Const(0), before, after, steps)], [*forward, step]


def plural(var: Var) -> str:
    return f"{var.name}s" if var.name else ""
