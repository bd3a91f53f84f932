"""Forward mode, one block: every equation followed by the equation for its tangent.

Control flow carries, collects and merges tangents beside the values they belong to. A tangent that is
known to vanish is the symbolic `ZERO` and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import (
    CALL,
    IF,
    TRY,
    UNDEFINED,
    ZERO,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Span,
    Var,
)
from ...ir.records import field, mutable_record, replace
from ...ir.types import Array, Number, is_differentiable
from ...ops import registry, structure as st
from ...ops.cotangent_kinds import tangent_kind
from ...rules.identities.simplification import SimplifyingBuilder
from ..analysis.write_sets import Written, as_complex
from ..blocks.loops import LOOPS, Slot, rebuilt, view
from ..checks.opaque_calls import as_unseen
from ..edges.zero_tangents import YES, moves, new_flag
from .memory import MEMORY
from .rules import STRUCTURE, push_call, push_rule

if TYPE_CHECKING:
    from ..edges.slopes_at_kinks import Sided

Read = Callable[
    [Builder, Callable[..., Any], Sequence[Atom], Mapping[str, Atom], str],
    "Atom | tuple[Atom, ...]",
]


@mutable_record
class Context:
    """What the pushforward of all blocks of one function shares."""

    read: Read
    varied: set[Var]
    pushforward: Callable[..., Function] | None = None
    """The pushforward of whole functions: of those that are called, and of residuals."""
    push_try: Callable[[Push, Eqn], None] | None = None
    """Pushes a `try`, in a function that has one."""
    tangents: dict[Var, Atom] = field(default_factory=dict[Var, Atom])
    callees: dict[Any, Callee] = field(default_factory=dict[Any, Callee])
    written: Written = field(default_factory=Written)
    writes_complex: bool = False
    """Whether complex arrays are written to: the tangents of such arrays are complex from the start."""
    singular: frozenset[Eqn] = frozenset()
    """Equations whose derivative may be infinite, or NaN, where what is made of it is neither."""
    flagged: frozenset[Eqn] = frozenset()
    """Those whose value is finite there: only these ask whether a tangent is more than a written-out zero."""
    steep_values: set[Var] = field(default_factory=set[Var])
    """Values that are computed with the results of such."""
    infinite: set[Var] = field(default_factory=set[Var])
    """Values that are computed with what is itself infinite at a pole."""
    guarded: bool = False
    """Whether directions may have zeros, which are not to meet derivatives that are infinite."""
    inputs: Collection[Atom] = ()
    defining: dict[Atom, Eqn] = field(default_factory=dict[Atom, Eqn])
    items: dict[Atom, Atom] = field(default_factory=dict[Atom, Atom])
    """What the directions belong to, the equations of the program, and what loops take their items from."""
    sided: Sided | None = None
    """What lengths and their slopes are along the direction, in a derivative that is differentiated again."""
    unbound: set[Var] = field(default_factory=set[Var])
    """Values that a path of the program leaves unbound."""
    moves: dict[Var, Atom] = field(default_factory=dict[Var, Atom])
    """Of values whose tangent may be a zero that is only written out, whether it is more."""


class Push:
    """The pushforward of one block."""

    def __init__(self, context: Context, block: Block):
        self.context = context
        self.block = block
        self.builder = SimplifyingBuilder()
        self.builder.primal = {out: eqn for eqn in block.eqns for out in eqn.outs}
        self.written: set[Eqn] = set()
        """Equations that were written before their turn."""
        self.sided: dict[Var, Atom] = {}
        """Slopes at kinks, on the side that the direction leads to."""

    def run(self) -> None:
        """Write the block's equations with their tangents."""
        for eqn in self.block.eqns:
            if eqn in self.written:
                continue
            self.builder.span = eqn.span
            if not any(out in self.context.varied for out in eqn.outs):
                self.builder.append(as_unseen(eqn))
            elif eqn.op is IF:
                self._if(eqn)
            elif eqn.op is TRY:
                self._try(eqn)
            elif eqn.op in LOOPS:
                self._loop(eqn)
            else:
                self.push(eqn)

    def push(self, eqn: Eqn) -> None:
        """Write an equation without blocks, and its tangent."""
        handler = STRUCTURE.get(eqn.op) or MEMORY.get(eqn.op) or push_rule
        if eqn.op is CALL:
            handler = push_call
        handler(self, eqn)

    def pushforward(self, function: Function, wrt: Sequence[int], **known: Any) -> Function:
        """The pushforward of a function that is called here, or whose root this is."""
        assert self.context.pushforward is not None
        return self.context.pushforward(function, wrt, read=self.context.read, **known)

    # --- tangents -----------------------------------------------------------------------

    def tangent(self, atom: Atom) -> Atom:
        """The tangent of a value, or ZERO."""
        return self.context.tangents.get(atom, ZERO) if isinstance(atom, Var) else ZERO

    def tangent_or_zeros(self, atom: Atom) -> Atom:
        """The tangent of a value, zeros written out; what is unbound has none."""
        if atom == UNDEFINED:
            return UNDEFINED
        dot = self.tangent(atom)
        if dot != ZERO:
            return dot
        unbound = {"unbound": UNDEFINED} if atom in self.context.unbound else {}
        return self.builder.emit_with(st.zeros, (atom,), unbound)

    def tangent_handed_on(self, atom: Atom, as_: Var) -> Atom:
        """The tangent of a value that control flow hands on, as an array where that is one."""
        dot = self.tangent_or_zeros(atom)
        if isinstance(dot, Const) and dot != UNDEFINED and isinstance(as_.kind, Array):
            return self.builder.emit(registry.named("asarray"), dot, namespace="np")
        return dot

    def has_tangent(self, atom: Atom) -> bool:
        return self.tangent(atom) != ZERO

    def set(self, var: Var, dot: Atom) -> None:
        """Say what the tangent of a value is."""
        if dot == ZERO or not is_differentiable(var.kind):
            return
        if isinstance(var.kind, Number) and isinstance(kind_of_atom(dot), Array):
            dot = self.builder.emit(st.getitem, dot, Const(()))  # a number does not change in place
        if self.context.writes_complex:
            dot = as_complex(self.builder, dot, var)
        if isinstance(dot, Var) and self.builder.definition(dot) is not None:
            dot.name = dot.name or dot_name(var)
            if not isinstance(dot.kind, Number):
                dot.shape_of = var.shape_of
        self.context.tangents[var] = dot

    def new(self, var: Var) -> Var:
        """A new value for the tangent of a value that control flow defines."""
        dot = tangent_of(var)
        self.context.tangents[var] = dot
        return dot

    @property
    def places(self) -> Collection[Span]:
        """Where the program computes lengths and, being a derivative, their slopes."""
        return () if self.context.sided is None else self.context.sided.places

    def inner(self, block: Block) -> Push:
        push = Push(self.context, block)
        push.run()
        return push

    # --- control flow -------------------------------------------------------------------

    def _if(self, eqn: Eqn) -> None:
        then, other = (self.inner(block) for block in eqn.blocks)
        moving = [
            k
            for k, out in enumerate(eqn.outs)
            if any(self.has_tangent(block.outs[k]) for block in eqn.blocks)
            and is_differentiable(out.kind)
        ]
        flagged = [
            k
            for k in moving
            if self.context.singular
            and any(moves(p, p.block.outs[k]) != YES for p in (then, other))
        ]
        blocks: list[Block] = []
        for push, block in zip((then, other), eqn.blocks, strict=True):
            dots = [push.tangent_handed_on(block.outs[k], eqn.outs[k]) for k in moving]
            flags = [moves(push, block.outs[k]) for k in flagged]
            blocks.append(push.builder.block((), (*block.outs, *dots, *flags)))
        dots = [self.new(eqn.outs[k]) for k in moving]
        dots += [new_flag(self, eqn.outs[k]) for k in flagged]
        self.builder.append(replace(eqn, outs=(*eqn.outs, *dots), blocks=tuple(blocks)))

    def _try(self, eqn: Eqn) -> None:
        assert self.context.push_try is not None
        self.context.push_try(self, eqn)

    def _loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        iterables: list[tuple[Atom, Var]] = []
        for iterable, item in zip(loop.iterables, loop.items, strict=True):
            if item in self.context.varied and self.has_tangent(iterable):
                iterables.append((self.tangent(iterable), self.new(item)))
        moving = [k for k, param in enumerate(loop.carried) if param in self.context.varied]
        initials = [self.tangent_handed_on(loop.initials[k], loop.carried[k]) for k in moving]
        flagged = moving if self.context.flagged else []
        entries = [moves(self, loop.initials[k]) for k in flagged]
        params = [self.new(loop.carried[k]) for k in moving]
        params += [new_flag(self, loop.carried[k]) for k in flagged]
        inner = self.inner(loop.body)
        results = [inner.tangent_handed_on(loop.results[k], loop.carried[k]) for k in moving]
        results += [moves(inner, loop.results[k]) for k in flagged]
        gathered = [c for c, out in enumerate(loop.lists) if out in self.context.varied]
        collected = [
            (inner.tangent_or_zeros(loop.collected[c]), self.new(loop.lists[c])) for c in gathered
        ]
        outs = [self.new(loop.outs[k]) for k in moving]
        outs += [new_flag(self, loop.outs[k]) for k in flagged]
        ends = (*initials, *entries)
        slots = [Slot(*parts) for parts in zip(ends, params, results, outs, strict=True)]
        eqns = inner.builder.eqns
        self.builder.append(
            rebuilt(loop, eqns, iterables=iterables, slots=slots, collected=collected)
        )


def tangent_of(var: Var) -> Var:
    """A new value for the tangent of a value."""
    kind = tangent_kind(var.kind)
    return Var(kind, dot_name(var), var.shape_of)


def dot_name(var: Var) -> str:
    """What the tangent of a value is called."""
    return f"{var.name}_dot" if var.name else ""
