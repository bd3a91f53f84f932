"""Forward mode: from a function to the function that also carries tangents along."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import TRY, Block, Callee, Function, Input, Span, Var, walk
from ...ir.types import is_differentiable, tuple_kind
from ..analysis import activity
from ..analysis.caught import refused
from ..analysis.unbound import may_be_unbound, unbound_inputs
from ..analysis.write_sets import WRITES, as_written, direct, writes_complex, written
from ..blocks.loops import LOOPS, view
from ..blocks.tidy import tidy
from ..edges.masks import derived_from
from ..edges.singular_partials import (
    finite_equations,
    has_infinite_value,
    quiet_equations,
    singular_equations,
)
from ..edges.squares import without_squares
from ..edges.zero_tangents import new_flag
from .block import Context, Push, Read
from .preparation import kinks, with_checks, with_smooth_forms


def pushforward(
    function: Function,
    wrt: Sequence[int],
    *,
    read: Read,
    callees: dict[Any, Callee] | None = None,
    asked: Sequence[int] = (),
    guarded: bool = False,
    places: Collection[Span] = (),
) -> Function:
    """The function that computes a function's result and its tangent.

    Args:
        function: the primal.
        wrt: which leaves of its inputs have tangents.
        read: reads a rule's row into a builder.
        callees: the pushforwards made so far, by callee and activity.
        asked: of which tangents, by number, it is given last whether they move.
        guarded: whether zeros in the tangents that it is given are not to meet infinite derivatives.
        places: where the program that calls it computes lengths, and their slopes.

    Returns:
        A function of the same inputs and then of the tangents of the `wrt` leaves. Its result is
        the tuple of the leaves of the primal result, then the tangents of these leaves (of those
        that can have one).

    Raises:
        NoRule: a derivative is needed that no rule gives.
    """
    function = with_smooth_forms(with_checks(tidy(direct(function)), wrt), read)
    places = places or kinks(function)
    if places:
        from ..edges.unknown_slopes import with_followed_slopes

        function = with_followed_slopes(function, places)
    body = function.body
    inputs = [body.params[i] for i in wrt]
    context = _context(read, function, inputs, places, guarded=guarded)
    if callees is not None:
        context.callees = callees
    push = Push(context, body)
    dots = [push.new(var) for var in inputs]
    flags = [new_flag(push, inputs[j]) for j in asked]
    if callees is None and any(eqn.op in WRITES for eqn in walk(body)):
        for var, dot in zip(inputs, dots, strict=True):
            context.tangents[var] = as_written(push.builder, dot)
    push.run()
    push.builder.span = None
    moving = [out for out in body.outs if is_differentiable(kind_of_atom(out))]
    outs = (*body.outs, *[push.tangent_or_zeros(out) for out in moving])
    given = [*dots, *flags]
    block = Block((*body.params, *given), tuple(push.builder.eqns), outs)
    extra = tuple(Input(name, var.kind) for name, var in zip(_names(given), given, strict=True))
    kinds = tuple_kind(map(kind_of_atom, outs))
    pushed = Function(f"push_{function.name}", (*function.inputs, *extra), block, kinds)
    return tidy(without_squares(pushed))


def _context(
    read: Read,
    function: Function,
    inputs: Sequence[Var],
    places: Collection[Span],
    *,
    guarded: bool,
) -> Context:
    """What the pushforwards of all blocks of a function know of it."""
    body = function.body
    sided = None
    if places:
        from ..edges.slopes_at_kinks import Sided

        sided = Sided(places, body)
    wanted = [out for out in body.outs if isinstance(out, Var) and is_differentiable(out.kind)]
    wanted += sided.operands if sided else []
    context = Context(read, activity.active(body, inputs, wanted), pushforward, sided=sided)
    if any(eqn.op is TRY for eqn in walk(body)):
        from .tries import push_try

        context.push_try, context.written = push_try, written(body)
        _refuse_carried(function, inputs)
    context.writes_complex = writes_complex(body)
    context.singular = singular_equations(body)
    context.flagged = finite_equations(body)
    varied = context.varied
    quiet = [eqn for eqn in quiet_equations(body) if not varied.isdisjoint(eqn.outs)]
    context.steep_values = derived_from(body, quiet)
    if guarded and context.singular:
        context.guarded, context.inputs = True, set(inputs)
        poles = [eqn for eqn in quiet if has_infinite_value(eqn)]
        context.infinite = derived_from(body, poles)
        context.defining = {out: eqn for eqn in walk(body) for out in eqn.outs if not eqn.blocks}
        loops = [view(eqn) for eqn in walk(body) if eqn.op in LOOPS]
        context.items = {
            item: each
            for loop in loops
            for item, each in zip(loop.items, loop.iterables, strict=True)
        }
    context.unbound = may_be_unbound(body, unbound_inputs(function))
    return context


def _refuse_carried(function: Function, inputs: Sequence[Var]) -> None:
    """No tangent reaches a result through an exception that is caught."""
    body = function.body
    useful = [out for out in body.outs if isinstance(out, Var)]
    active = activity.active(body, inputs, useful)
    for eqn in walk(body):
        if eqn.op is TRY and eqn.outs[0] in active:
            raise refused(eqn)


def _names(dots: Sequence[Var]) -> list[str]:
    taken: dict[str, None] = {}
    for dot in dots:
        base = dot.name or "x_dot"
        name, k = base, 2
        while name in taken:
            name, k = f"{base}_{k}", k + 1
        taken[name] = None
    return list(taken)
