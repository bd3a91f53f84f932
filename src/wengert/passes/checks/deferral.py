"""What a pass refuses on a path that a run may avoid: the program is refused by the runs that take it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from ...errors import WengertError
from ...ir.graph import FOR, IF, WHILE, Block, Eqn, Function, Span, callees, with_called
from ...ir.op import Op
from ...ir.records import replace
from ...ops.program.refusals import REFUSALS, operands_of, refuse
from ..analysis.active_operands import ZERO_OPS

T = TypeVar("T")


class _Where(NamedTuple):
    """A place in the source, and the op there that has no rule, if it is that."""

    span: Span | None
    op: Op | None


def refused_when_run(function: Function, transform: Callable[[Function], T], *, defers: bool) -> T:
    """What a pass makes of a program; where it `defers`, of one that is refused by the runs that come to a place.

    Raises:
        WengertError: every run comes to the place, or it is not to be deferred.
    """
    while True:
        try:
            return transform(function)
        except REFUSALS as refusal:
            where = _Where(refusal.findings[0].span, refusal.op)
            places = list(_places_in(function, where)) if where.span is not None else []
            can_be_avoided = bool(places) and all(places) and not refusal.also_elsewhere
            refusal.on_a_path = refusal.on_a_path or can_be_avoided
            if not (can_be_avoided and defers):
                raise
            function = _with_error(function, refusal, where)


def _places_in(function: Function, where: _Where) -> Iterator[bool]:
    """For every equation of a place, in a program and what it calls, whether a run may avoid it."""
    for each in with_called(function):
        yield from _places(each.body, where, on_a_path=False)


def _places(block: Block, where: _Where, *, on_a_path: bool) -> Iterator[bool]:
    for eqn in block.eqns:
        if _is_refused(eqn, where):
            yield on_a_path
        inside = on_a_path or eqn.op in (IF, FOR, WHILE)
        for inner in eqn.blocks:
            yield from _places(inner, where, on_a_path=inside)


def _with_error(function: Function, refusal: WengertError, where: _Where) -> Function:
    """The program with an error raised at the place that was refused."""
    for callee in callees([function]):
        if callee.function is not None:
            body = _body_with_error(callee.function.body, refusal, where)
            callee.function = replace(callee.function, body=body)
    return replace(function, body=_body_with_error(function.body, refusal, where))


def _body_with_error(block: Block, refusal: WengertError, where: _Where) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        if eqn.blocks:
            inner = tuple(_body_with_error(each, refusal, where) for each in eqn.blocks)
            eqns.append(replace(eqn, blocks=inner))
        elif _is_refused(eqn, where):
            eqns += _raising(eqn, refusal)
        else:
            eqns.append(eqn)
    return replace(block, eqns=tuple(eqns))


def _is_refused(eqn: Eqn, where: _Where) -> bool:
    """Whether an equation stands at a place, and may have a derivative there: questions and exits have none."""
    if eqn.span != where.span or eqn.blocks or eqn.op is refuse:
        return False
    return eqn.op is where.op if where.op is not None else eqn.op not in ZERO_OPS


def _raising(eqn: Eqn, refusal: WengertError) -> Sequence[Eqn]:
    """What raises an error in the place of an equation; of its results nobody sees anything."""
    args = operands_of(refusal, eqn.span)
    return [Eqn((out,), refuse, args, {}, (), "rt", eqn.span) for out in eqn.outs]
