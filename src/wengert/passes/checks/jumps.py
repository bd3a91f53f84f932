"""Jumps of what is integrated, at places that move.

In: a program, before it is differentiated. Out: the same program, which refuses when it runs to differentiate an
integral, or a solution of a differential equation, across a jump whose place moves with what it is differentiated
with respect to: the derivative of the integrand knows nothing of it (Leibniz's rule has a term of its own there).
Whether there is one only the run knows. So what is decided in the integrand, by comparisons and other functions that
are constant but for jumps, becomes a further result of it; the check looks at both sides of where that changes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

from ...errors import DerivativeWarning
from ...ir.builder import kind_of_atom
from ...ir.graph import IF, Atom, Block, Callee, Const, Eqn, Function, Var, walk
from ...ir.records import replace
from ...ir.types import BOOL, NONE, UNKNOWN, tuple_kind
from ...ops import registry, structure as st
from ...ops.program import implicit as im
from ...rules.registry import rule_for
from ..analysis import activity

_POINT, _MOVED = 1, 2
"""What a value of an integrand depends on: where it is asked, what is differentiated, or both."""

_COMPARISONS = frozenset((st.eq, st.ne, st.lt, st.le, st.gt, st.ge))
_STEPS = frozenset(
    (
        "floordiv", "floor", "ceil", "trunc", "rint", "round_", "around", "to_int", "sign", "sign_of_number",
        "signbit", "heaviside", "argmax", "argmin", "searchsorted", "digitize", "argsort",
        "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
    )
)  # fmt: skip
_KINKS = {
    "abs": "sign",
    "maximum": "greater",
    "minimum": "greater",
    "fmax": "greater",
    "fmin": "greater",
}
"""Functions with kinks, and what changes there."""


def with_jumps_checked(function: Function, wrt: Sequence[int]) -> Function:
    """A function that checks the integrands that depend on some of its parameters."""
    body = function.body
    equations = walk(body)
    if not any(eqn.op is im.watch or eqn.op is im.check_jumps for eqn in equations):
        return function
    varied = activity.depending(body, [body.params[k] for k in wrt])
    defined = {out: eqn for eqn in equations for out in eqn.outs}
    return replace(function, body=_checked(body, varied, defined))


def _checked(block: Block, varied: set[Var], defined: Mapping[Var, Eqn]) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        if eqn.op is im.watch or eqn.op is im.check_jumps:
            eqns += _check(eqn, varied, defined)
            continue
        blocks = tuple(_checked(inner, varied, defined) for inner in eqn.blocks)
        eqns.append(replace(eqn, blocks=blocks) if blocks else eqn)
    return replace(block, eqns=tuple(eqns))


def _check(eqn: Eqn, varied: set[Var], defined: Mapping[Var, Eqn]) -> Iterable[Eqn]:
    """The check in place of a mark; where there was a check, the derivative itself is differentiated."""
    found, path = eqn.args[:2]
    integral = defined.get(found) if isinstance(found, Var) else None
    if integral is None or integral.op is not im.found or integral.param("state", default=()):
        return [eqn] if eqn.op is im.check_jumps else []
    own = integral.args[1 : 1 + integral.param("own")]
    active = [operand in varied for operand in own]
    follows = any(_starts_from(atom, varied, defined) for atom in integral.args)
    if not any(active) and not follows:
        return [eqn]
    callee: Callee = integral.param("callee")
    assert callee.function is not None
    again = eqn.op is im.check_jumps or eqn.param("differentiated", default=False)
    watched = _Watched(callee.function, active, kinks=again)
    if not watched.decisions:
        noted = {**eqn.params, "differentiated": Const(value=True)}
        return [replace(eqn, params=noted) if eqn.op is im.watch else eqn]
    function = watched.function()
    params = {
        "callee": Const(Callee(function.name, function)),
        "kinks": Const(watched.kinks),
        "where": Const(tuple(watched.spans)),
    }
    return [Eqn((Var(NONE),), im.check_jumps, (found, path, *own), params, (), "rt", eqn.span)]


def _starts_from(atom: Atom, varied: set[Var], defined: Mapping[Var, Eqn]) -> bool:
    """Whether a value is one that moves, cut off from its derivative."""
    eqn = defined.get(atom) if isinstance(atom, Var) else None
    return eqn is not None and eqn.op is st.stop_gradient and eqn.args[0] in varied


class _Watched:
    """An integrand that returns what it decides on its way, too."""

    def __init__(self, integrand: Function, active: Sequence[bool], *, kinks: bool):
        self.integrand = integrand
        self.kinks = kinks
        params = integrand.body.params
        point = params[len(active) :]
        of_point = dict.fromkeys(point[:1], _POINT)
        of_point |= dict.fromkeys(point[1:], _POINT | _MOVED)  # the state moves with anything
        of_own = {param: _MOVED for param, moved in zip(params, active, strict=False) if moved}
        self.bits = activity.dependences(integrand.body, {**of_own, **of_point})
        self.nested = any(eqn.op is im.watch for eqn in walk(integrand.body))
        self.spans: list[str] = []
        self.eqns, self.decisions = self._exported(integrand.body)

    def function(self) -> Function:
        body = self.integrand.body
        outs = (*body.outs, *self.decisions)
        return replace(
            self.integrand,
            name=f"watched_{self.integrand.name}",
            body=Block(body.params, tuple(self.eqns), outs),
            result=tuple_kind(map(kind_of_atom, outs)),
        )

    def _exported(self, block: Block) -> tuple[list[Eqn], list[Atom]]:
        """The equations of a block, and what is decided in it."""
        eqns: list[Eqn] = []
        decisions: list[Atom] = []
        for each in block.eqns:
            eqn, inner = self._of_branches(each) if each.op is IF else (each, [])
            decisions += inner
            if (
                eqn.op is not IF and eqn.blocks and not self.nested
            ):  # integrals inside are looked at where they are
                self._warn_of_hidden(eqn)
            eqns.append(eqn)
            if not eqn.blocks and self._moves(eqn):
                more = self._deciding(eqn)
                if more is not None:
                    eqns += [more] if more is not eqn else []
                    decisions.append(more.outs[0])
                    self.spans.append(str(eqn.span) if eqn.span else "")
        return eqns, decisions

    def _of_branches(self, eqn: Eqn) -> tuple[Eqn, list[Atom]]:
        exported = [self._exported(block) for block in eqn.blocks]
        count = sum(len(inner) for _, inner in exported)
        if not count:
            return eqn, []
        blocks, before = [], 0
        for block, (eqns, inner) in zip(eqn.blocks, exported, strict=True):
            others: list[Atom] = [Const(None)] * count
            others[before : before + len(inner)] = inner
            blocks.append(replace(block, eqns=tuple(eqns), outs=(*block.outs, *others)))
            before += len(inner)
        new = tuple(Var(UNKNOWN, "decided") for _ in range(count))
        return replace(eqn, outs=(*eqn.outs, *new), blocks=tuple(blocks)), list(new)

    def _moves(self, eqn: Eqn) -> bool:
        """Whether an equation depends on both, so that what it decides changes at a place that moves."""
        bits = 0
        for atom in eqn.args:
            bits |= self.bits.get(atom, 0) if isinstance(atom, Var) else 0
        return bits == _POINT | _MOVED

    def _deciding(self, eqn: Eqn) -> Eqn | None:
        """The equation whose result is constant but for jumps, if there is one."""
        if eqn.op in _COMPARISONS or eqn.op.name in _STEPS:
            return eqn
        if eqn.op.name in ("mod", "remainder", "fmod"):
            return _beside(eqn, "floordiv")
        rule = rule_for(eqn.op)
        if self.kinks and eqn.op.name in _KINKS and rule is not None:
            return _beside(eqn, _KINKS[eqn.op.name])
        return None

    def _warn_of_hidden(self, eqn: Eqn) -> None:
        for inner in (each for block in eqn.blocks for each in walk(block)):
            if not inner.blocks and self._moves(inner) and self._deciding(inner) is not None:
                warnings.warn(
                    f"{inner.span}: what is integrated may jump at a place that moves with what is "
                    "differentiated, which is not looked for inside loops: such a jump has no part in the "
                    "derivative",
                    DerivativeWarning,
                    stacklevel=2,
                )
                return


def _beside(eqn: Eqn, name: str) -> Eqn:
    """An equation of another op for the same operands."""
    return Eqn(
        (Var(UNKNOWN if name != "greater" else BOOL),),
        registry.named(name),
        eqn.args,
        {},
        (),
        "np",
        eqn.span,
    )
