"""The implicit function theorem: derivatives of `root`, which stands for the solution of an equation.

Where R(a, x) = 0, x_dot solves ∂R/∂x x_dot + ∂R/∂a a_dot = 0, and a_bar = (∂R/∂a)ᵀ μ where μ solves
(∂R/∂x)ᵀ μ + x_bar = 0. Both are solutions of equations themselves, so a derivative of any order is
made of `root` again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Callee, Const, Eqn, Function, Input, Var
from ...ir.records import replace
from ...ir.renaming import renamed_atom
from ...ir.types import UNKNOWN, Kind, Number, Struct, tuple_kind
from ...ops import registry, structure as st
from ...ops.program import implicit as im
from ..blocks.copies import copied, inlined
from ..blocks.tidy import tidy
from ..residuals.plan import refolded

if TYPE_CHECKING:
    from .block import Push


def push_root(push: Push, eqn: Eqn) -> None:
    """x_dot, the root of ∂R/∂x x_dot + r_dot."""
    push.builder.append(eqn)
    at = Root(push.builder, eqn, push.pushforward)
    wrt = [k for k, operand in enumerate(at.operands) if push.has_tangent(operand)]
    if not wrt:
        return
    dots = [push.tangent(at.operands[k]) for k in wrt]
    r, r_dot = inlined(push.builder, at.pushforward(wrt), [*at.operands, at.x, *dots])
    if at.is_number:
        push.set(at.x, push.builder.emit(registry.named("neg"), at.divided(r_dot, r)))
    else:
        push.set(at.x, at.tangent(r_dot, r))


class Root:
    """What the derivatives of one `root` are made of, written into a builder."""

    def __init__(self, builder: Builder, eqn: Eqn, pushforward: Callable[..., Function]):
        callee: Callee = eqn.param("callee")
        assert callee.function is not None
        self.builder = builder
        self._pushforward = pushforward
        self.residual = callee.function
        self.x = eqn.outs[0]
        self.operands = eqn.args[1:]
        kept = ("linear_solve", "tol")
        self.options = {name: eqn.params[name] for name in kept if name in eqn.params}
        self.is_linear: bool = eqn.param("linear", default=False)
        self.is_flipped: bool = eqn.param("flipped", default=False)

    @property
    def is_number(self) -> bool:
        """Whether the solution and the residual are known to be real numbers."""
        return all(
            isinstance(kind, Number) and kind.type in ("float", "int")
            for kind in (self.x.kind, kind_of_atom(self.residual.body.outs[0]))
        )

    # --- linear systems -------------------------------------------------------------------

    def divided(self, b: Atom, r: Atom) -> Atom:
        """b divided by the slope of the residual, at what is checked to be a root."""
        pushed = self.pushforward([len(self.operands)])
        *params, dot = pushed.body.params
        mapping: dict[Var, Atom] = dict(zip(params, (*self.operands, self.x), strict=True))
        copies = copied(pushed.body.eqns, mapping)
        for eqn in refolded(copies, mapping := {**mapping, dot: Const(1.0)}):
            self.builder.append(eqn, derived=True)
        slope = renamed_atom(pushed.body.outs[1], mapping)
        self.builder.emit(im.check_root, self.x, r, slope, self.options["tol"])
        return self.builder.emit(registry.named("div"), b, slope)

    def tangent(self, b: Atom, r: Atom) -> Atom:
        """The v for which ∂R/∂x v + b = 0."""
        times = _without(self.pushforward([len(self.operands)]), first=1)
        return self.linear_root(b, times, r)

    def linear_root(self, b: Atom, times: Function, r: Atom, *, transposed: bool = False) -> Atom:
        operands = (b, *self.operands, self.x)
        linear = {"linear": Const(value=True)}
        flipped = {"flipped": Const(value=True)} if transposed != self.is_flipped else {}
        options = {
            "callee": Const(Callee(times.name, times)),
            "x": self.x,
            "result": r,
            **self.options,
            **flipped,
            **({"transposed": Const(value=True)} if transposed else {}),
            **(linear if self.is_linear else {}),
        }
        v = self.builder.emit_with(im.linear_root, operands, options)
        plus = _plus(times, kind_of_atom(b))
        params = {"callee": Const(Callee(plus.name, plus)), **self.options, **linear, **flipped}
        return self.builder.emit_with(im.root, (v, *operands), params)

    # --- derivatives of the residual ------------------------------------------------------

    def pushforward(self, wrt: Sequence[int]) -> Function:
        """(*operands, x, *dots) -> r, r_dot"""
        return self._pushforward(self.residual, wrt)


def _without(function: Function, first: int) -> Function:
    """A function without its first results."""
    outs = function.body.outs[first:]
    body = replace(function.body, outs=outs)
    return tidy(replace(function, body=body, result=tuple_kind(map(kind_of_atom, outs))))


def _plus(times: Function, kind: Kind) -> Function:
    """`times(*operands, v) + b`, as a function of (b, *operands, v)."""
    kind = UNKNOWN if isinstance(kind, Struct) else kind  # one leaf, whatever is in it
    b = Var(kind, "b")
    builder = Builder(derived=True)
    params = tuple(Var(p.kind, p.name) for p in times.body.params)
    (product,) = inlined(builder, times, params)
    total = builder.emit(st.accumulate, product, b)
    block = builder.block((b, *params), (total,))
    result = tuple_kind([kind_of_atom(total)])
    return Function(f"{times.name}_plus", (Input("b", kind), *times.inputs), block, result)
