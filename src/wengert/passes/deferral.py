"""What a pass refuses on a path that a run may avoid: the program is refused by the runs that take it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ..errors import WengertError
from ..ir.graph import FOR, IF, WHILE, Block, Eqn, Function, Span, callees, with_called
from ..ir.records import replace
from ..ops.refusals import REFUSALS, operands_of, refuse

T = TypeVar("T")


def refused_when_run(function: Function, transform: Callable[[Function], T], *, defers: bool) -> T:
    """What a pass makes of a program; where it `defers`, of one that is refused by the runs that come to a place.

    Raises:
        WengertError: every run comes to the place, or it is not to be deferred.
    """
    while True:
        try:
            return transform(function)
        except REFUSALS as refusal:
            span = refusal.findings[0].span
            places = list(_places_in(function, span)) if span is not None else []
            can_be_avoided = bool(places) and all(places)
            refusal.on_a_path = refusal.on_a_path or can_be_avoided
            if not (can_be_avoided and defers):
                raise
            function = _with_error(function, refusal, span)


def _places_in(function: Function, span: Span | None) -> Iterator[bool]:
    """For every equation of a place, in a program and what it calls, whether a run may avoid it."""
    for each in with_called(function):
        yield from _places(each.body, span, on_a_path=False)


def _places(block: Block, span: Span | None, *, on_a_path: bool) -> Iterator[bool]:
    for eqn in block.eqns:
        if eqn.op is refuse:
            continue
        if eqn.span == span and not eqn.blocks:
            yield on_a_path
        inside = on_a_path or eqn.op in (IF, FOR, WHILE)
        for inner in eqn.blocks:
            yield from _places(inner, span, on_a_path=inside)


def _with_error(function: Function, refusal: WengertError, span: Span | None) -> Function:
    """The program with an error raised at the place that was refused."""
    for callee in callees([function]):
        if callee.function is not None:
            body = _body_with_error(callee.function.body, refusal, span)
            callee.function = replace(callee.function, body=body)
    return replace(function, body=_body_with_error(function.body, refusal, span))


def _body_with_error(block: Block, refusal: WengertError, span: Span | None) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        if eqn.blocks:
            inner = tuple(_body_with_error(each, refusal, span) for each in eqn.blocks)
            eqns.append(replace(eqn, blocks=inner))
        elif eqn.span == span and eqn.op is not refuse:
            eqns += _raising(eqn, refusal)
        else:
            eqns.append(eqn)
    return replace(block, eqns=tuple(eqns))


def _raising(eqn: Eqn, refusal: WengertError) -> Sequence[Eqn]:
    """What raises an error in the place of an equation; of its results nobody sees anything."""
    args = operands_of(refusal, eqn.span)
    return [Eqn((out,), refuse, args, {}, (), "rt", eqn.span) for out in eqn.outs]
