"""A pushforward in two parts: what all directions have in common, and what each of them takes.

The first part computes the function and its partials, once. The second is linear in the tangents and is
run for each direction. A loop becomes two: one that collects what tangents are multiplied by, and one
over what was collected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...ir.graph import FOR, Atom, Block, Eqn, Function, Input, Var, free_vars, used_by, walk
from ...ir.renaming import clone, clones, renamed_atom, renamed_block
from ...ir.types import Seq, Struct
from ...ops.program import memory as me
from ..analysis.write_sets import targets
from ..blocks.loops import Loop, Slot, for_eqn, view
from ..blocks.tidy import tidy
from ..residuals.handing import items_again, plural, walks_again, with_residuals
from ..residuals.plan import plan, shared

_RESULTS = Struct("tuple", (), ())


class Linearized(NamedTuple):
    """A pushforward in two parts.

    `ahead` takes the primals; its results are those of the function and then what `along` takes before
    the tangents. The results of `along` are the tangents of the function's results.
    """

    ahead: Function
    along: Function


def linearized(pushed: Function, results: int, tangents: int) -> Linearized | None:
    """The two parts of a pushforward; None where the program's own writes are in both.

    Args:
        pushed: a pushforward.
        results: how many of its results are those of the function itself.
        tangents: how many of its parameters are tangents, the last ones.
    """
    body = pushed.body
    primals, dots = body.params[:-tangents], body.params[-tangents:]
    moving = set(dots)
    first, second = _parted(body.eqns, moving)
    linear = Block((), tuple(second), body.outs[results:])
    if not moving.isdisjoint(body.outs[:results]) or _writes(linear):
        return None
    same: dict[Var, Atom] = {}
    first = shared(first, same)
    linear = renamed_block(linear, same)
    found = [renamed_atom(out, same) for out in body.outs[:results]]
    known = {*primals, *(out for eqn in first for out in eqn.outs)}
    handed = tuple(var for var in free_vars(linear) if var in known)
    ahead = Block(primals, tuple(first), (*found, *handed))
    along = Block((*handed, *dots), linear.eqns, linear.outs)
    inputs = tuple(Input(var.name or "t", var.kind) for var in along.params)
    return Linearized(
        tidy(Function(pushed.name, pushed.inputs[: len(primals)], ahead, _RESULTS)),
        tidy(Function(pushed.name, inputs, along, _RESULTS)),
    )


def _writes(block: Block) -> bool:
    """Whether the program itself writes in a block: that reaches the very object, so it is done once."""
    return any(eqn.op in me.OWN or targets(eqn) for eqn in walk(block))


def _parted(eqns: Sequence[Eqn], moving: set[Var]) -> tuple[list[Eqn], list[Eqn]]:
    """Equations that no tangent reaches, and the others, whose results are entered into `moving`."""
    first: list[Eqn] = []
    second: list[Eqn] = []
    for eqn in eqns:
        if moving.isdisjoint(used_by(eqn)):
            first.append(eqn)
            continue
        loops = _parted_loop(view(eqn), moving) if eqn.op is FOR else None
        if loops is None:
            second.append(eqn)
        else:
            first.append(loops[0])
            second.append(loops[1])
        moving.update(second[-1].outs)
    return first, second


class _Share(NamedTuple):
    """What one of the two loops has of the loop that they were."""

    iterables: list[tuple[Atom, Var]]
    slots: list[Slot]
    collected: list[tuple[Atom, Var]]


def _share(loop: Loop, belongs: Callable[[Atom], bool]) -> _Share:
    parts = zip(loop.initials, loop.carried, loop.results, loop.outs, strict=True)
    return _Share(
        [pair for pair in zip(loop.iterables, loop.items, strict=True) if belongs(pair[1])],
        [Slot(*each) for each in parts if belongs(each[1])],
        [pair for pair in zip(loop.collected, loop.lists, strict=True) if belongs(pair[0])],
    )


def _parted_loop(loop: Loop, moving: set[Var]) -> tuple[Eqn, Eqn] | None:
    """A loop without tangents, and one of tangents over what the first has collected."""
    if loop.stop is not None or "every" in loop.eqn.params:
        return None
    first, second = _parted_body(loop, moving)
    still, linear = _share(loop, lambda x: x not in moving), _share(loop, lambda x: x in moving)
    results = (*(slot.result for slot in linear.slots), *(atom for atom, _ in linear.collected))
    block = Block((), tuple(second), results)
    free = [item for _, item in still.iterables] if walks_again(loop, ()) else []
    params = (*(item for _, item in still.iterables), *(slot.param for slot in still.slots))
    needed = plan(first, params, block, free, in_loop=True)
    lists = {var: Var(Seq(var.kind), plural(var)) for var in needed.carried}
    renamed = clones(needed.carried)
    pairs = [*linear.iterables, *items_again(loop, block, needed.again, free, renamed)]
    pairs += [(lists[var], renamed[var]) for var in needed.carried]
    if not pairs or not (loop.aligned or lists):
        pairs += [(iterable, clone(item)) for iterable, item in still.iterables]
    aligned = loop.aligned or len(pairs) == len(lists)
    block = with_residuals(block, needed.again, dict(renamed))
    collected = [*still.collected, *lists.items()]
    return (
        for_eqn(
            still.iterables, still.slots, collected, first, loop.eqn,
            reverse=loop.reverse, aligned=loop.aligned,
        ),
        _linear_loop(linear, pairs, block, loop, aligned),
    )  # fmt: skip


def _linear_loop(
    share: _Share, pairs: list[tuple[Atom, Var]], block: Block, loop: Loop, aligned: bool
) -> Eqn:
    """The loop of tangents, whose results are those of a block."""
    results = iter(block.outs)
    slots = [Slot(slot.initial, slot.param, next(results), slot.out) for slot in share.slots]
    collected = [(next(results), out) for _, out in share.collected]
    return for_eqn(
        pairs, slots, collected, block.eqns, loop.eqn, reverse=loop.reverse, aligned=aligned
    )


def _parted_body(loop: Loop, moving: set[Var]) -> tuple[list[Eqn], list[Eqn]]:
    """The parts of a loop's body; a slot moves if its result does in any iteration."""
    while True:
        found = len(moving)
        moving.update(
            item for x, item in zip(loop.iterables, loop.items, strict=True) if x in moving
        )
        slots = zip(loop.initials, loop.carried, loop.results, strict=True)
        moving.update(param for x, param, result in slots if x in moving or result in moving)
        parts = _parted(loop.body.eqns, moving)
        if len(moving) == found:
            return parts
