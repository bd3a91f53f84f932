"""The two halves of a reversed function: the forward sweep with its residuals, and the reverse sweep of them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Function, Input, Var
from ...ir.records import replace
from ...ir.renaming import renamed_atom
from ...ir.types import UNKNOWN, tuple_kind
from ...ops import structure as st
from ..analysis.unbound import block_with_unbound_marked, may_be_unbound, unbound_inputs
from ..blocks.tidy import tidy
from ..edges.squares import without_squares
from ..residuals.plan import plan, read_ahead, recomputed, shared
from ..simplify.shapes import with_shapes_of_needed

if TYPE_CHECKING:
    from .sweep import Sweep


def divided(
    function: Function, sweep: Sweep, seeds: Sequence[Var], bars: Sequence[Atom]
) -> tuple[Function, Function]:
    """The halves, from a sweep that has run and the cotangents that it ends with."""
    body = function.body
    forward = sweep.forward_eqns()
    reverse = Block(tuple(seeds), tuple(sweep.builder.eqns), tuple(bars))
    reverse = tidy(Function("", (), reverse, tuple_kind(()))).body
    reverse = _asking_for_shapes_of_needed(function, forward, reverse)
    forward, reverse = read_ahead(forward, reverse)
    given = unbound_inputs(function)
    reverse = block_with_unbound_marked(reverse, forward, given)
    clobbered = sweep.context.written.clobbered
    handed = plan(forward, body.params, reverse, later=True, clobbered=clobbered)
    return (
        _forward_half(function, forward, handed.carried),
        _backward_half(
            function,
            reverse,
            handed.carried,
            handed.again,
            may_be_unbound(replace(body, eqns=tuple(forward)), given),
        ),
    )


def _asking_for_shapes_of_needed(
    function: Function, forward: Sequence[Eqn], reverse: Block
) -> Block:
    """The reverse sweep, which asks for the shapes of what is handed to it for more than that."""
    params = (*function.body.params, *reverse.params)
    after = with_shapes_of_needed(replace(reverse, params=params), given=forward)
    return replace(after, params=reverse.params)


def _forward_half(function: Function, forward: Sequence[Eqn], carried: Sequence[Var]) -> Function:
    body = function.body
    residuals = Var(UNKNOWN, "residuals")
    params = {
        "form": Const("tuple"),
        "keys": Const(tuple(range(len(carried)))),
        "type": Const(None),
    }
    pack = Eqn((residuals,), st.pack, tuple(carried), params)
    outs = (*body.outs, residuals)
    result = tuple_kind(map(kind_of_atom, outs))
    block = Block(body.params, (*forward, pack), outs)
    return _tidied(Function(f"forward_{function.name}", function.inputs, block, result))


def _backward_half(
    function: Function,
    reverse: Block,
    carried: Sequence[Var],
    again: Sequence[Eqn],
    unbound: Container[Var],
) -> Function:
    residuals = Var(UNKNOWN, "residuals")
    fetched = {var: _fetched(var, var in unbound) for var in carried}
    mapping: dict[Var, Atom] = dict(fetched)
    eqns = [
        Eqn((var,), st.getitem, (residuals, Const(k))) for k, var in enumerate(fetched.values())
    ]
    eqns += shared([*recomputed(again, mapping), *reverse.eqns], mapping)
    outs = tuple(renamed_atom(out, mapping) for out in reverse.outs)
    params = (residuals, *reverse.params)
    names = _distinct([var.name for var in params])
    inputs = tuple(Input(name, var.kind) for name, var in zip(names, params, strict=True))
    result = tuple_kind(map(kind_of_atom, outs))
    block = Block(params, tuple(eqns), outs)
    return _tidied(Function(f"backward_{function.name}", inputs, block, result))


def _tidied(half: Function) -> Function:
    return tidy(without_squares(half))


def _fetched(var: Var, unbound: bool) -> Var:
    """A residual where it is fetched: of one that a path leaves unbound nothing else has the shape."""
    return Var(var.kind, var.name, None if unbound else var.shape_of)


def _distinct(names: Iterable[str]) -> list[str]:
    taken: dict[str, None] = {}
    for name in names:
        candidate, k = name, 2
        while candidate in taken:
            candidate, k = f"{name}_{k}", k + 1
        taken[candidate] = None
    return list(taken)
