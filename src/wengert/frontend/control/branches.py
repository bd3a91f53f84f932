"""Branches: both paths of a condition that the run decides, and what they leave together."""

from __future__ import annotations

from ...errors import WengertError
from ...ir.graph import Atom, Var, births
from ...ops.program.refusals import REFUSALS
from .. import heap as hp
from ..domain.values import Value
from ..heap import cells
from ..machine.interpreter import Interpreter
from ..machine.session import NeverReturns, PathRaises, Step
from . import deferral
from .branch import Branch, Merge
from .join import JoinValues


def branch(it: Interpreter, condition: Value, then: Step, other: Step) -> None:
    """Run one of two paths, or both behind a run-time condition, and merge what they leave."""
    known = it.known_truth(condition)
    if known is not None:
        (then if known else other)()
        return
    condition = it.atom(condition)
    it.catching.whole(lambda: _branch(it, condition, then, other))


def _branch(it: Interpreter, condition: Atom, then: Step, other: Step) -> None:
    before, heap = dict(it.vars), it.heap
    start = next(births)
    arms = [_arm(it, step, before, heap) for step in (then, other)]
    it.heap = heap
    settle(it, condition, arms, start)


def settle(it: Interpreter, condition: Atom, arms: list[Branch], start: int) -> None:
    """After both arms of a branch have been read: go on in what they leave together, or in one."""
    refusal = deferral.refused_on_all(arms)
    if refusal is not None:
        raise refusal
    if all(arm.dead for arm in arms):
        for arm in arms:  # what it calls before it raises may raise what is caught
            it.catching.merge_open(arm)
    if all(arm.dead for arm in arms):
        _emit_if(it, condition, arms, [])
        raise NeverReturns
    heap = it.heap
    has_left = [it.catching.has_left(arm) for arm in arms]
    if any(has_left) and not any(arm.dead for arm in arms) and not all(has_left):
        it.catching.go_on_in(condition, arms, has_left.index(True), heap, start)
        return
    ends = [arm.vars for arm, left in zip(arms, has_left, strict=True) if not arm.dead | left]
    for arm in arms:
        it.catching.merge_open(arm)
    merge_arms(it, condition, arms, heap, start)
    if not ends:
        raise PathRaises
    it.catching.after_blocks(ends)


def merge_arms(
    it: Interpreter, condition: Atom, arms: list[Branch], heap: hp.Heap, start: int
) -> None:
    """Merge what both arms of a branch leave; `heap` was before it."""
    cells.out_of_cells(arms)
    with it.catching.quiet():
        merge = Merge(arms, condition, start)
        it.frame.scope.vars = _merge_vars(it, merge)
        it.heap = _merge_heaps(it, merge, heap)
        _emit_if(it, condition, arms, merge.outs)


def _arm(it: Interpreter, step: Step, before: dict[str, Value], heap: hp.Heap) -> Branch:
    outer = it.builder
    it.builder = outer.child()
    it.frame.scope.vars = dict(before)
    it.heap = dict(heap)
    arm = read_arm(it, step)
    it.builder = outer
    return arm


def read_arm(it: Interpreter, step: Step) -> Branch:
    """Read one side of a branch, into a builder of its own that is set up."""
    level = len(it.catching.arms)
    dead, refusal = _read_to_its_end(it, step)
    open_ = it.catching.take_open(level)
    return Branch(it.builder, it.vars, it.heap, dead, refusal, open_)


def read_path(it: Interpreter, step: Step, *, certain: bool = False) -> bool:
    """Read what a path does, to its end; gives whether it never comes back.

    It is `certain` to be taken, or not.
    """
    level, (dead, _) = len(it.catching.arms), _read_to_its_end(it, step, certain=certain)
    return it.catching.close(level, dead=dead)


def _read_to_its_end(
    it: Interpreter, step: Step, *, certain: bool = False
) -> tuple[bool, WengertError | None]:
    """Whether a path never comes back, and the error that is raised on it since it cannot be read."""
    dead, refusal = False, None
    path, around = deferral.beginning(it), it.reading.on_a_path
    it.reading.on_a_path = around or not certain
    try:
        step()
    except NeverReturns:
        dead = True
    except PathRaises:
        pass
    except REFUSALS as error:
        error.on_a_path = error.on_a_path or not certain
        if path is None or certain:
            raise
        deferral.refuse_when_run(it, path, error)
        dead, refusal = True, error
    finally:
        it.reading.on_a_path = around
    if it.catching.explicit:
        it.catching.close_segment()
    return dead, refusal


def _emit_if(
    it: Interpreter, condition: Atom, arms: list[Branch], outs: list[tuple[Var, Atom, Atom]]
) -> None:
    if not outs and not any(arm.builder.eqns for arm in arms):
        return
    then = arms[0].builder.block((), [pair[1] for pair in outs])
    other = arms[1].builder.block((), [pair[2] for pair in outs])
    it.builder.if_(condition, then, other, [pair[0] for pair in outs])


def _merge_vars(it: Interpreter, merge: Merge) -> dict[str, Value]:
    merged: dict[str, Value] = {}
    a, b = merge.arms
    own = {n for arm in merge.arms if arm.dead for n in arm.vars if n.startswith("%")}
    live = {n for arm in merge.arms if not arm.dead for n in arm.vars}
    for name in {**a.vars, **b.vars}:
        if name in own - live:
            continue  # what a path that never comes back has left of its loops
        merger = JoinValues(it, merge, name)
        merged[name] = merger.merge_names(a.vars.get(name), b.vars.get(name))
    return merged


def _merge_heaps(it: Interpreter, merge: Merge, before: hp.Heap) -> hp.Heap:
    """What the objects hold that are known outside the branch."""
    merged = dict(before)
    a, b = (arm.heap for arm in merge.arms)
    for place in {**a, **b}:
        if place.born <= merge.start:
            contents = (hp.content_in(a, place), hp.content_in(b, place))
            merged[place] = JoinValues(it, merge, "").merge_content(place, *contents)
    return {**merged, **merge.exported}
