"""Second derivatives at a kink: |x| tanh |x| is smooth at 0, though |x| is not.

A derivative has the slope of |x| at 0 as a number, 0, which says nothing of what is near. So where a derivative is
differentiated again, forward mode goes along its direction: there |x| has the slope of that side, and what is
smooth has the same from every side. Reverse mode knows no direction (`unknown_slopes`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import CALL, ZERO, Atom, Block, Const, Eqn, Function, Span, Var, walk, with_called
from ...ir.records import replace
from ...ir.types import BOOL, Array, Number
from ...ops import elementwise as el, structure as st
from ...rules.identities.squares import LENGTHS
from ...rules.registry import rule_for
from ..analysis.realness import is_real
from ..blocks.flow import flow, reached

if TYPE_CHECKING:
    from ..forward.block import Push

_MAGNITUDES = LENGTHS - {"std", "dist"}
SIGNS = frozenset((el.unit, el.sign, el.sign_of_number))
"""What the slopes of real magnitudes are."""
_ZERO = Const(0.0)
_DEEP = 40
"""How many equations after a slope its value is followed."""


def kinks(function: Function) -> frozenset[Span]:
    """Where a program computes lengths of which it computes the slopes as well: it is a derivative."""
    functions = with_called(function)
    eqns = [eqn for each in functions for eqn in walk(each.body) if eqn.span is not None]
    lengths = [eqn for eqn in eqns if eqn.op.name in LENGTHS]
    slopes = {eqn.span for eqn in eqns if _is_slope(eqn)}
    places = {eqn.span for eqn in lengths if eqn.span in slopes}
    defining: dict[Atom, Eqn] = {eqn.outs[0]: eqn for eqn in eqns if eqn.op is el.neg}
    # equal slopes are computed once
    same = {_operands(eqn, defining) for eqn in lengths if eqn.span in places}
    places |= {eqn.span for eqn in lengths if _operands(eqn, defining) in same}
    return frozenset(span for span in places if span is not None)


def _operands(eqn: Eqn, defining: Mapping[Atom, Eqn]) -> tuple[Atom, ...]:
    """What a length is taken of, without signs."""
    return tuple(defining[arg].args[0] if arg in defining else arg for arg in eqn.args)


def _is_slope(eqn: Eqn) -> bool:
    """Whether an equation is one of those that rules of lengths compute slopes by."""
    return eqn.op in SIGNS or eqn.op in (el.direction_cosine, el.safe_div) or _keeps_from_zero(eqn)


def _keeps_from_zero(eqn: Eqn) -> bool:
    """`np.where(length == 0, inf, length)`."""
    return eqn.op is el.where and eqn.args[1] == Const(math.inf)


# --- forward mode -------------------------------------------------------------------------


class Sided:
    """Lengths and their slopes on the side that a direction leads to, in all blocks of a pushforward.

    Args:
        places: where they are computed.
        body: the derivative that is differentiated again.
    """

    def __init__(self, places: Collection[Span], body: Block):
        self.places = places
        eqns = list(walk(body))
        self.defining: dict[Atom, Eqn] = {
            eqn.outs[0]: eqn for eqn in eqns if len(eqn.outs) == 1 and not eqn.blocks
        }
        signs = [eqn for eqn in eqns if eqn.span in places and eqn.op in SIGNS]
        self.operands = [arg for eqn in signs for arg in eqn.args if isinstance(arg, Var)]
        """What has to have tangents for the slopes."""
        lengths = {eqn.outs[0] for eqn in eqns if self._is_length(eqn)}
        apart = [eqn for eqn in eqns if eqn.span not in places and not _is_step(eqn)]
        pairs = [pair for eqn in apart for pair in flow(eqn)]
        self.of_lengths = reached(pairs, lambda atom: atom in lengths) | lengths

    def _is_length(self, eqn: Eqn) -> bool:
        return eqn.span in self.places and eqn.op.name in _MAGNITUDES

    def lost(self, body: Block) -> set[Span]:
        """Where slopes are that are factors behind control flow or memory, to where they are not followed."""
        eqns = list(walk(body))
        factored = [
            (eqn.outs[0], eqn.args)
            for eqn in eqns
            if len(eqn.outs) == 1 and _is_followed(eqn) and not self._vanishes(eqn)
        ]
        handed = [pair for eqn in eqns for pair in _handed_on(eqn)]
        everything = [pair for eqn in eqns for pair in flow(eqn)]
        factors = {arg for eqn in eqns if multiplies(eqn) for arg in eqn.args}
        unfollowed = {eqn.span for eqn in eqns if eqn.op.name in LENGTHS - _MAGNITUDES}
        found = {span for span in self.places if span in unfollowed}
        for span in self.places:
            slopes = {eqn.outs[0] for eqn in eqns if eqn.span == span and self._is_slope(eqn)}
            followed = reached(factored, slopes.__contains__) | slopes
            starts = {out for out, atoms in handed if not followed.isdisjoint(atoms)}
            if starts and not factors.isdisjoint(reached(everything, starts.__contains__) | starts):
                found.add(span)
        return found

    def _is_slope(self, eqn: Eqn) -> bool:
        if eqn.op is not el.div:
            return _is_direction(eqn)
        divisor = self.defining.get(eqn.args[1])
        return divisor is not None and _keeps_from_zero(divisor)

    def along(self, push: Push, eqn: Eqn) -> Eqn:
        """An equation of operands as they are on the side that the direction leads to."""
        args = tuple(self.value(push, arg) for arg in eqn.args)
        if all(new is old for new, old in zip(args, eqn.args, strict=True)):
            return eqn
        made = replace(eqn, args=args, outs=(self._result(push, eqn, args),))
        for new, old in zip(args, eqn.args, strict=True):
            if new is not old and push.has_tangent(old):
                assert isinstance(new, Var)
                push.context.tangents[new] = push.tangent(old)
        for name in ("singular", "flagged"):
            eqns = getattr(push.context, name)
            if eqn in eqns:
                setattr(push.context, name, eqns | {made})
        return made

    def _result(self, push: Push, eqn: Eqn, args: Sequence[Atom]) -> Var:
        found = push.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace)
        if not isinstance(found, Var):
            return eqn.outs[0]
        found.shape_of = eqn.outs[0].shape_of
        return found

    def value(self, push: Push, atom: Atom, depth: int = 0) -> Atom:
        """A value on that side, if it is, or is made of, a slope."""
        eqn = self.defining.get(atom)
        if eqn is None or depth > _DEEP:
            return atom
        if atom not in push.sided:
            assert isinstance(atom, Var)
            push.sided[atom] = self._found(push, eqn, depth)
        return push.sided[atom]

    def _found(self, push: Push, eqn: Eqn, depth: int) -> Atom:
        out = eqn.outs[0]
        if eqn.span in self.places:
            slope = self._slope(push, eqn)
            if slope is not None:
                return slope
        if not _is_followed(eqn) or self._vanishes(eqn):
            return out
        args = tuple(self.value(push, arg, depth + 1) for arg in eqn.args)
        if all(new is old for new, old in zip(args, eqn.args, strict=True)):
            return out
        return push.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace)

    def _vanishes(self, eqn: Eqn) -> bool:
        """Whether a slope has a factor that depends on a length, which at a kink of what is smooth is 0."""
        if eqn.op not in (el.mul, el.div) or self.of_lengths.isdisjoint(eqn.args):
            return False
        made = [self.defining.get(arg) for arg in eqn.args]
        return any(each is not None and _is_direction(each) for each in made)

    def _slope(self, push: Push, eqn: Eqn) -> Atom | None:
        """x / |x|, which at the kink is ẋ / |ẋ|."""
        out, builder = eqn.outs[0], push.builder
        if eqn.op in SIGNS:
            (x,) = eqn.args
            if not push.has_tangent(x):
                return None
            direction = builder.emit(el.unit, push.tangent(x), namespace="np")
            return chosen(builder, builder.emit(st.eq, x, _ZERO), direction, out)
        if eqn.op is el.direction_cosine:
            x, r = eqn.args
            if not push.has_tangent(r):
                return None
            direction = builder.emit(el.direction_cosine, *map(push.tangent_or_zeros, eqn.args))
            return chosen(builder, builder.emit(st.eq, r, _ZERO), direction, out)
        divisor = self.defining.get(eqn.args[1]) if eqn.op is el.div else None
        if divisor is None or not _keeps_from_zero(divisor):
            return None
        x, r = eqn.args[0], divisor.args[2]
        if not push.has_tangent(r):
            return None
        r_dot = push.tangent(r)
        still = builder.emit(st.eq, r_dot, _ZERO)
        kept = chosen(builder, still, Const(math.inf), r_dot)
        direction = builder.emit(el.div, push.tangent_or_zeros(x), kept)
        return chosen(builder, divisor.args[0], direction, out)

    def tangent(self, push: Push, eqn: Eqn, dot: Atom) -> Atom:
        """The tangent of a length, which at the kink is the length of the tangent."""
        if dot == ZERO or not self._is_length(eqn) or not is_real_length(eqn):
            return dot
        dots = [push.tangent_or_zeros(arg) for arg in eqn.args]
        length = push.builder.emit_with(eqn.op, dots, eqn.params, eqn.namespace)
        return chosen(push.builder, push.builder.emit(st.eq, eqn.outs[0], _ZERO), length, dot)


def _is_direction(eqn: Eqn) -> bool:
    return eqn.op in SIGNS or eqn.op is el.direction_cosine or eqn.op is el.div


def _is_followed(eqn: Eqn) -> bool:
    """Whether a slope is followed through an equation to where it is a factor."""
    rule = rule_for(eqn.op)
    return eqn.op.name in _FOLLOWED or (rule is not None and rule.form in ("linear", "bilinear"))


_FOLLOWED = frozenset(
    (
        "neg", "pos", "mul", "div", "add", "sub", "getitem", "pack", "array", "asarray", "astype", "pad",
    )
)  # fmt: skip


def _handed_on(eqn: Eqn) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """What an equation hands on to where a slope is not followed."""
    if eqn.blocks:
        return flow(eqn)
    if _is_followed(eqn) or eqn.op in _OF_COTANGENTS or rule_for(eqn.op) is not None:
        return ()
    return [(out, eqn.args) for out in eqn.outs]


def multiplies(eqn: Eqn) -> bool:
    """Whether an equation is linear in none of its operands alone."""
    rule = rule_for(eqn.op)
    if rule is None:
        return eqn.op is CALL
    if eqn.op in (el.add, el.sub, el.neg, el.pos) or rule.form in ("linear", "zero"):
        return False
    return sum(isinstance(arg, Var) for arg in eqn.args) > 1 or not _is_followed(eqn)


_OF_COTANGENTS = frozenset((st.add_at, st.accumulate, st.unbroadcast, st.project, st.fill))


def _is_step(eqn: Eqn) -> bool:
    """Whether the results of an equation change in steps."""
    return all(
        kind == BOOL or getattr(kind, "dtype", "") == "bool"
        for kind in (out.kind for out in eqn.outs)
    )


def is_real_length(eqn: Eqn) -> bool:
    """Whether a length is a real number, or an array of such."""
    kind = eqn.outs[0].kind
    return isinstance(kind, (Number, Array)) and is_real(kind)


def chosen(builder: Builder, condition: Atom, then: Atom, other: Atom) -> Atom:
    """One of two values, entry by entry where the condition is an array."""
    if kind_of_atom(condition) != BOOL:
        return builder.emit(el.where, condition, then, other, namespace="np")
    out = Var(kind_of_atom(other))
    first, second = (builder.child().block((), (each,)) for each in (then, other))
    builder.if_(condition, first, second, (out,))
    return out
