"""Forward mode for `try`: the tangents of what its body computed, after it.

What computes a tangent may raise where the value itself does not (the square root at 0), and must not
be caught. So the body of a `try` hands over what its tangents need, as it does for the way back, and
they are computed where nothing was raised.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from ...errors import NoRule
from ...ir.builder import Builder
from ...ir.graph import CALL, IF, TRY, Atom, Block, Eqn, Function, Var, alternatives, walk
from ...ir.records import replace
from ...ir.renaming import clones
from ...ir.types import Seq, is_differentiable
from ...ops import structure as st
from ...ops.program import identity as ident
from ..blocks.loops import LOOPS, Slot, for_eqn, rebuilt, view
from ..residuals.handing import (
    asks_whether_completed,
    branched,
    counted_trips,
    has_completed,
    items_again,
    plural,
    walks_again,
    with_residuals,
)
from ..residuals.plan import plan
from .block import Context, Push

if TYPE_CHECKING:
    from ..reverse.sweep import Sweep

_REPEATABLE = (CALL, st.bound, st.unpackable, st.raise_, ident.evaluated)
"""Effects that may be had twice: they raise, or nothing comes of them."""


def push_try(push: Push, eqn: Eqn) -> None:
    """The `try` and what is left by it, such as a context; then the tangents of its results."""
    asking = asks_whether_completed(push.block, eqn)
    last = [eqn, *asking, *_leaving(push.block, asking)][-1]
    eqns = push.block.eqns
    together = eqns[eqns.index(eqn) : eqns.index(last) + 1]
    push.written.update(together)
    apart = Apart(push.context, Block((), together, ()))
    for each in (*apart.forward_eqns(), *apart.builder.eqns):
        push.builder.append(each)


def _leaving(block: Block, asking: Sequence[Eqn]) -> list[Eqn]:
    """What follows the questions whether a `try` has completed, and depends on the answers alone."""
    if not asking:
        return []
    answers = [each.outs[0] for each in asking]
    rest = block.eqns[block.eqns.index(asking[-1]) + 1 :]
    return list(takewhile(lambda each: each.op is IF and each.args[0] in answers, rest))


class _WithoutPrimals(Builder):
    """Leaves out the equations of a block: what is appended are the tangents alone."""

    __slots__ = ("_primals",)

    def __init__(self, primals: Container[Eqn]):
        super().__init__(derived=True)
        self._primals = primals

    def child(self) -> Builder:
        inner = _WithoutPrimals(self._primals)
        inner.span, inner.parent = self.span, self
        return inner

    def append(self, eqn: Eqn, *, derived: bool = False) -> None:
        if eqn not in self._primals:
            super().append(eqn, derived=derived)


class Apart(Push):
    """The pushforward of one block, its tangents apart from the equations that they belong to."""

    in_loop = False

    def __init__(self, context: Context, block: Block):
        super().__init__(context, block)
        self.builder = _WithoutPrimals(frozenset(block.eqns))
        self._replaced: dict[Eqn, Sequence[Eqn]] = {}
        for eqn in block.eqns:
            self.builder.span = eqn.span
            if not any(out in context.varied for out in eqn.outs):
                continue
            if eqn.op is IF:
                self._replaced[eqn] = self._branch(eqn, eqn.args[0])
            elif eqn.op is TRY:
                completed, asking = has_completed(block, eqn)
                self._replaced[eqn] = [*self._branch(eqn, completed), *asking]
            elif eqn.op in LOOPS:
                self._replaced[eqn] = self._over(eqn)
            else:
                self._plain(eqn)

    def forward_eqns(self) -> list[Eqn]:
        """The block's equations, which hand over what the tangents need."""
        return [new for eqn in self.block.eqns for new in self._replaced.get(eqn, (eqn,))]

    def _plain(self, eqn: Eqn) -> None:
        """The tangent of an equation without blocks; what gives it with the value computes both again."""
        start = len(self.builder.eqns)
        self.push(eqn)
        added = self.builder.eqns[start:]
        again = [k for k, each in enumerate(added) if any(out in eqn.outs for out in each.outs)]
        if again and _has_effect(eqn):
            raise NoRule(
                "forward mode would have to run this call inside of `try` a second time",
                "Use reverse mode (`wg.grad`, `wg.pullback`), or move the call out of the `try`.",
                eqn.span,
            )
        for k in again:
            unused = clones(out for out in added[k].outs if out in eqn.outs)
            outs = tuple(unused.get(out, out) for out in added[k].outs)
            self.builder.eqns[start + k] = replace(added[k], outs=outs)

    def _branch(self, eqn: Eqn, condition: Atom) -> Sequence[Eqn]:
        merged, blocks = alternatives(eqn)
        paths = [Apart(self.context, block) for block in blocks]
        moving = [
            k
            for k, out in enumerate(merged)
            if any(path.has_tangent(path.block.outs[k]) for path in paths)
            and is_differentiable(out.kind)
        ]
        dots = [
            [path.tangent_handed_on(path.block.outs[k], merged[k]) for k in moving]
            for path in paths
        ]
        outs = [self.new(merged[k]) for k in moving]
        sweep, sweeps = _as_sweeps(self, paths)
        (then, other), received = branched(sweep, condition, sweeps, dots, outs)
        whole = replace(eqn, outs=(*eqn.outs, *received))
        if eqn.op is TRY:
            return [replace(whole, args=other.outs, blocks=(then,))]
        return [replace(whole, blocks=(then, other))]

    def _over(self, eqn: Eqn) -> Sequence[Eqn]:
        """A loop for the tangents, over what the loop collects for them."""
        loop = view(eqn)
        pairs: list[tuple[Atom, Var]] = []
        for iterable, item in zip(loop.iterables, loop.items, strict=True):
            if item in self.context.varied and self.has_tangent(iterable):
                pairs.append((self.tangent(iterable), self.new(item)))
        moving = [k for k, param in enumerate(loop.carried) if param in self.context.varied]
        initials = [self.tangent_handed_on(loop.initials[k], loop.carried[k]) for k in moving]
        params = [self.new(loop.carried[k]) for k in moving]
        inner = Apart(self.context, loop.body)
        gathered = [c for c, out in enumerate(loop.lists) if out in self.context.varied]
        results = [inner.tangent_handed_on(loop.results[k], loop.carried[k]) for k in moving]
        results += [inner.tangent_or_zeros(loop.collected[c]) for c in gathered]
        body = inner.builder.block((), results)
        forward = inner.forward_eqns()
        clobbered = self.context.written.clobbered
        free = loop.items if walks_again(loop, clobbered) else ()
        given = (*loop.items, *loop.carried)
        needed = plan(forward, given, body, free, in_loop=True, clobbered=clobbered)
        names = clones(needed.carried)
        lists = {var: Var(Seq(var.kind), plural(var)) for var in needed.carried}
        pairs += items_again(loop, body, needed.again, free, names)
        pairs += [(lists[var], names[var]) for var in needed.carried]
        counted: list[Slot] = []
        if not pairs or not (lists or loop.aligned):
            sweep, _ = _as_sweeps(self, ())
            pair, counted, forward = counted_trips(loop, sweep, forward)
            pairs.append(pair)
        block = with_residuals(body, needed.again, dict(names))
        outs = [self.new(loop.outs[k]) for k in moving]
        slots = [
            Slot(*parts)
            for parts in zip(initials, params, block.outs[: len(moving)], outs, strict=True)
        ]
        collected = [
            (dot, self.new(loop.lists[c]))
            for c, dot in zip(gathered, block.outs[len(moving) :], strict=True)
        ]
        self.builder.append(
            for_eqn(
                pairs, slots, collected, block.eqns, eqn,
                reverse=loop.reverse, aligned=loop.aligned,
            )
        )  # fmt: skip
        return [rebuilt(loop, forward, slots=counted, collected=list(lists.items()))]


def _as_sweeps(push: Apart, paths: Sequence[Apart]) -> tuple[Sweep, Sequence[Sweep]]:
    """What hands values over asks of both directions only what they share."""
    return push, paths  # type: ignore[return-value]


def _has_effect(eqn: Eqn) -> bool:
    if eqn.op is not CALL:
        return eqn.op.effect
    function = eqn.param("callee").function
    return not isinstance(function, Function) or any(
        each.op.effect and each.op not in _REPEATABLE for each in walk(function.body)
    )
