"""Slopes of lengths at their kink in reverse mode, which knows no direction: NaN, where something depends on them.

Whether something does is asked of the cotangent of |x|: it is 0 where nothing does. Its factors hold the slope of |x|
again, whose value there, 0, would hide what depends on it: so what comes of lengths is computed once more with another
number, which is no root of anything, for the sake of this cotangent alone. The derivative of x² / (1 + |x|) has a
derivative at 0, and that of |x| tanh |x| is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import CALL, Atom, Block, Const, Eqn, Function, Span, Var, walk
from ...ir.records import replace
from ...ir.renaming import renamed_atom, renamed_eqn
from ...ir.types import Array, Number, is_differentiable
from ...ops import elementwise as el, structure as st
from ...ops.program import memory as me
from ...rules.identities.squares import LENGTHS
from ...rules.registry import rule_for
from ..analysis.realness import is_real
from ..blocks.flow import flow, reached
from .slopes_at_kinks import SIGNS, Sided, chosen, is_real_length, multiplies

_ZERO = Const(0.0)
_GOLDEN = (math.sqrt(5) - 1) / 2
_AFFINE = frozenset(("add", "sub", "neg", "getitem", "pack", "array", "asarray"))
_NOT_TWICE = frozenset((CALL, *me.WRITES, *me.COPIES))


def with_unknown_slopes(function: Function, places: Collection[Span]) -> Function:
    """A derivative in which the slopes of lengths are NaN at 0, but for what the slopes themselves are made of."""
    asks = _all_are_followed(places, function.body, function.body.params)
    unknown = _Asked(places) if asks else _Unknown(places)
    return replace(function, body=unknown.block(function.body, {}))


def with_followed_slopes(function: Function, places: Collection[Span]) -> Function:
    """The same, where slopes are not followed along a direction."""
    sided = Sided(places, function.body)
    return with_unknown_slopes(function, sided.lost(function.body))


class _Unknown:
    """The blocks of a derivative, in which the derivative of a length at 0 is NaN, whatever depends on it."""

    def __init__(self, places: Collection[Span]):
        self.places = places

    def block(self, block: Block, around: Mapping[Var, Atom]) -> Block:
        builder, same = Builder(), dict(around)
        for old in block.eqns:
            blocks = tuple(self.block(each, same) for each in old.blocks)
            # the derivative of a slope by the length is that of the rule, 0
            plain = not same or old.op in (el.direction_cosine, el.safe_div)
            eqn = old if plain else renamed_eqn(replace(old, blocks=()), same)
            builder.append(replace(eqn, blocks=blocks) if blocks else eqn)
            if _is_length(old, self.places):
                builder.span = old.span
                same[old.outs[0]] = _of_unknown_slope(builder, old.outs[0])
        outs = tuple(renamed_atom(out, same) for out in block.outs)
        return Block(block.params, tuple(builder.eqns), outs)


def _of_unknown_slope(builder: Builder, r: Var) -> Atom:
    """r times 1, which at 0 is NaN."""
    one = chosen(builder, builder.emit(st.eq, r, _ZERO), Const(math.nan), Const(1.0))
    return builder.emit(st.valued, r, builder.emit(el.mul, r, one))


# --- whether something depends on a slope ---------------------------------------------------


class _Asked:
    """The blocks of a derivative, in which what comes of a length is computed twice.

    The second values have the cotangents that tell whether anything depends on the length.
    """

    def __init__(self, places: Collection[Span]):
        self.places = places
        self.second: dict[Var, Atom] = {}

    def block(self, block: Block, around: Mapping[Var, Atom]) -> Block:
        builder = Builder()
        for old in block.eqns:
            blocks = tuple(self.block(each, around) for each in old.blocks)
            builder.span = old.span
            args = old.args if _can_follow(old) else self._both(builder, old.args)
            eqn = replace(old, args=tuple(args), blocks=blocks)
            builder.append(eqn)
            builder.span = old.span
            if _can_follow(old):
                self._follow(builder, eqn)
        outs = tuple(self._both(builder, block.outs))
        return Block(block.params, tuple(builder.eqns), outs)

    def _both(self, builder: Builder, atoms: Sequence[Atom]) -> Sequence[Atom]:
        """Values whose cotangents are those of the second values as well."""
        return [
            builder.emit(st.valued, atom, builder.emit(el.add, atom, self.second[atom]))
            if isinstance(atom, Var) and atom in self.second
            else atom
            for atom in atoms
        ]

    def _follow(self, builder: Builder, eqn: Eqn) -> None:
        (out,) = eqn.outs
        again = None
        if not self.second.keys().isdisjoint(eqn.args):
            args = [self._second(builder, arg) for arg in eqn.args]
            again = builder.emit_with(eqn.op, args, eqn.params, eqn.namespace)
        if _is_length(eqn, self.places):
            at_kink = builder.emit(st.eq, out, _ZERO)
            asked = builder.emit(st.unknown_where, out, at_kink)
            again = asked if again is None else builder.emit(el.add, asked, again)
            again = builder.emit(st.valued, out, again)
        elif _is_sign(eqn, self.places):
            any_slope = Const(math.fmod((len(self.second) + 1) * _GOLDEN, 1.0))
            at_kink = builder.emit(st.eq, eqn.args[0], _ZERO)
            again = chosen(builder, at_kink, any_slope, out)
        if again is not None:
            self.second[out] = again

    def _second(self, builder: Builder, arg: Atom) -> Atom:
        """The second value of an operand; what has none gets no second cotangent."""
        if not isinstance(arg, Var) or arg in self.second:
            return self.second.get(arg, arg) if isinstance(arg, Var) else arg
        return builder.emit(st.stop_gradient, arg) if is_differentiable(arg.kind) else arg


def _is_length(eqn: Eqn, places: Collection[Span]) -> bool:
    return eqn.op.name in LENGTHS and eqn.span in places and is_real_length(eqn)


def _is_sign(eqn: Eqn, places: Collection[Span]) -> bool:
    return eqn.op in SIGNS and eqn.span in places


def _can_follow(eqn: Eqn) -> bool:
    """Whether an equation can be computed twice: it is straight code, and writes to no memory."""
    return len(eqn.outs) == 1 and not (eqn.blocks or eqn.op.effect or eqn.op in _NOT_TWICE)


def _all_are_followed(places: Collection[Span], body: Block, inputs: Collection[Var]) -> bool:
    """Whether all slopes are signs, and whatever comes of lengths is followed to where it is a factor."""
    eqns = list(walk(body))
    lengths = [eqn for eqn in eqns if eqn.op.name in LENGTHS and eqn.span in places]
    defining: dict[Atom, Eqn] = {out: eqn for eqn in eqns for out in eqn.outs}
    if not lengths or not all(_is_plain(eqn, defining, inputs) for eqn in lengths):
        return False
    starts = {eqn.outs[0] for eqn in eqns if _is_sign(eqn, places) or _is_length(eqn, places)}
    everything = [pair for eqn in eqns for pair in flow(eqn)]
    of_lengths = reached(everything, starts.__contains__) | starts
    handed, ends = set[Var](), set[Atom](body.outs)
    for eqn in (eqn for eqn in eqns if not _can_follow(eqn)):
        handed |= {out for out, atoms in flow(eqn) if not of_lengths.isdisjoint(atoms)}
        ends |= {*eqn.args, *(out for block in eqn.blocks for out in block.outs)}
    behind = reached(everything, handed.__contains__) | handed
    factors = {arg for eqn in eqns if multiplies(eqn) for arg in eqn.args}
    called = {arg for eqn in eqns if eqn.op is CALL for arg in eqn.args}
    added = all(isinstance(kind_of_atom(end), (Number, Array)) for end in ends & of_lengths)
    return added and behind.isdisjoint(factors) and of_lengths.isdisjoint(called)


def _is_plain(eqn: Eqn, defining: Mapping[Atom, Eqn], inputs: Collection[Var]) -> bool:
    """Whether a length is the magnitude of something real that is affine in the inputs.

    What has no slope itself, such as x² at 0, has a smooth magnitude whose slope matters.
    """
    if eqn.op.name not in ("abs", "fabs") or not is_real(kind_of_atom(eqn.args[0])):
        return False
    pending, seen = [eqn.args[0]], set[Atom]()
    while pending:
        atom = pending.pop()
        if atom in seen or isinstance(atom, Const) or atom in inputs:
            continue
        seen.add(atom)
        made = defining.get(atom)
        if made is None or not _is_affine(made):
            return False
        pending.extend(made.args)
    return True


def _is_affine(eqn: Eqn) -> bool:
    if eqn.op in (el.mul, el.div):
        return sum(isinstance(arg, Var) for arg in eqn.args) == 1 and isinstance(eqn.args[0], Var)
    rule = rule_for(eqn.op)
    linear = rule is not None and rule.form == "linear"
    return _can_follow(eqn) and (linear or eqn.op.name in _AFFINE)
