"""The implicit function theorem in reverse: a_bar = (∂R/∂a)ᵀ μ (see `forward.implicit`)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Block, Eqn, Function, Input, Var
from ...ir.records import replace
from ...ir.types import Number
from ...ops import registry, structure as st
from ...ops.cotangent_kinds import gradient_kind
from ...ops.program import identity as ident
from ..analysis.realness import says_little
from ..blocks.copies import inlined
from ..forward.implicit import Root
from ..forward.push import pushforward

if TYPE_CHECKING:
    from .sweep import Sweep


def reverse_root(sweep: Sweep, eqn: Eqn) -> None:
    """a_bar = (∂R/∂a)ᵀ μ, where μ is the root of (∂R/∂x)ᵀ μ + x_bar."""
    at = Root(sweep.builder, eqn, partial(pushforward, read=sweep.context.read))
    wrt = [k for k, operand in enumerate(at.operands) if sweep.is_active(operand)]
    x_bar = sweep.total(at.x)
    if not wrt:
        return
    if says_little(kind_of_atom(x_bar)) and sweep.context.maybe_complex:
        x_bar = _real_for_an_array(sweep.builder, x_bar, at.x)
    (r,) = inlined(sweep.builder, at.residual, [*at.operands, at.x])
    mu = at.divided(x_bar, r) if at.is_number else _cotangent(sweep, at, x_bar, r)
    adjoint = _adjoint(sweep, at.residual, wrt, negative=at.is_number)
    bars = inlined(sweep.builder, adjoint, [*at.operands, at.x, mu])
    for k, bar in zip(wrt, bars, strict=True):
        sweep.contribute(at.operands[k], bar)


def _real_for_an_array(builder: Builder, x_bar: Atom, x: Atom) -> Atom:
    """A cotangent that is real if x is an array of real numbers, which only the run may know."""
    is_array = builder.emit(ident.is_view, x)
    then, other = builder.child(), builder.child()
    projected, out = then.emit(st.project, x_bar, x), Var(kind_of_atom(x_bar))
    builder.if_(is_array, then.block((), (projected,)), other.block((), (x_bar,)), (out,))
    return out


def _cotangent(sweep: Sweep, at: Root, b: Atom, r: Atom) -> Atom:
    """The μ for which (∂R/∂x)ᵀ μ + b = 0."""
    times = _adjoint(sweep, at.residual, [len(at.operands)])
    return at.linear_root(b, times, r, transposed=True)


def _adjoint(
    sweep: Sweep, residual: Function, wrt: Sequence[int], *, negative: bool = False
) -> Function:
    """(*operands, x, r_bar) -> *bars; of -r_bar if `negative`."""
    kind = gradient_kind(kind_of_atom(residual.body.outs[0]))
    r_bar = Var(kind, "r_bar")

    def seed(builder: Builder, out: Atom) -> Atom:
        return builder.emit(registry.named("neg"), r_bar) if negative else r_bar

    made = sweep.adjoint(residual, wrt, seed, scalar=isinstance(kind, Number))
    body = Block((*made.body.params, r_bar), made.body.eqns, made.body.outs)
    inputs = (*made.inputs, Input("r_bar", kind))
    return replace(made, name=f"adjoint_{residual.name}", inputs=inputs, body=body)
