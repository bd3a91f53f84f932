"""Reverse mode: from a function to the function that computes its gradient or its pullback.

A block is reversed equation by equation, last to first. The equations of the forward sweep stay as
they are, except that control flow and calls hand over what their reverse needs; so an equation
with blocks is replaced in the forward sweep only after its reverse has been written.

The results contain no op that cannot be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import (
    CALL,
    COMMENT,
    IF,
    TRY,
    ZERO,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Var,
    defined_in,
)
from ...ir.op import Op
from ...ir.renaming import renamed_atom
from ...ir.types import BOOL, Array, Number, is_differentiable, tuple_kind
from ...ops import structure as st
from ...ops.cotangent_kinds import tangent_kind
from ...ops.program import memory as me
from ...rules.identities.simplification import SimplifyingBuilder
from ..analysis.realness import may_be_complex
from ..analysis.unbound import with_unbound_marked
from ..analysis.write_sets import as_written, direct, keeps_keys
from ..blocks.loops import LOOPS
from ..blocks.tidy import tidy
from ..checks.keep_raising import with_primal_evaluated
from ..checks.opaque_calls import as_unseen
from ..edges.singular_partials import has_slope
from ..edges.squares import without_squares
from ..edges.zero_tangents import YES
from ..forward.preparation import prepared, with_checks
from ..residuals.plan import shared
from ..simplify.shapes import with_shapes_of_needed
from .broadcasting import surely_real
from .calls import CALLS, last_checkpointed_call, reverse_call
from .checkpointing import comment, in_blocks
from .context import Context, Read, context_of, scalars_above
from .control import reverse_if, reverse_try, reverse_where_it_moves
from .cotangents import Cotangents, Path, cotangent_of
from .halves import divided
from .loops import reverse_loop
from .rules import reverse_by_rule
from .structure import STRUCTURE

Seed = Callable[[Builder, Atom], Atom]
Halves = tuple[Function, Function]
Handler = Callable[["Sweep", Eqn], "Sequence[Eqn] | None"]


class Sweep:
    """The reversal of one block: `forward` equations in, forward and reverse equations out."""

    def __init__(
        self,
        context: Context,
        block: Block,
        outer: Callable[[Var], Atom],
        around: Cotangents | None = None,
    ):
        self.context = context
        self.block = block
        self.builder = SimplifyingBuilder()
        self.builder.primal = {out: eqn for eqn in block.eqns for out in eqn.outs}
        self.bars = Cotangents(
            self.builder,
            defined_in(block),
            outer,
            context.arithmetic,
            context.unbound,
            context.masks,
            context.fixed,
            around,
        )
        self.replaced: dict[int, Sequence[Eqn]] = {}
        self.in_loop = False
        self.used: Atom | None = None
        """How often the entries of a result are used whose equation is being reversed, if that is counted."""

    def use_results(self) -> None:
        """Let the reverse sweep use what the forward sweep computes, rather than compute it again."""
        self.builder.reuse(self.block.eqns)

    # --- the sweep ----------------------------------------------------------------------

    def run(self) -> None:
        """Write the reverse sweep, the cotangents of some values having been handed on."""
        index = len(self.block.eqns) - 1
        while index >= 0:
            eqn = self.block.eqns[index]
            if not any(self.bars.has(out) for out in eqn.outs):
                index -= 1
                continue
            self.builder.span = eqn.span
            if self._must_move(eqn):
                index -= reverse_where_it_moves(self, index)
            else:
                self.reverse_at(index, self)
                index -= 1

    def _must_move(self, eqn: Eqn) -> bool:
        """Whether an equation is to be reversed only where its cotangent is more than a written-out zero."""
        if not self.context.tracked:
            return False
        sure = eqn.op in me.DIFFERENTIABLE  # memory may be written to under another name
        self.bars.condition = YES if sure else self.bars.moves_where(eqn.outs)
        if self.bars.condition == YES:
            return False
        if eqn in self.context.singular:
            return True
        if not self.goes_by_rule(eqn) or not has_slope(eqn):
            return False
        if not self.bars.is_composed(self.bars.condition):
            return True
        return any(arg in self.context.masks.wanted for arg in eqn.args)

    def reverse_at(self, index: int, sweep: Sweep) -> None:
        """Reverse an equation of this block into a sweep: this one, or that of a branch of it."""
        eqn = self.block.eqns[index]
        self.context.reversed.add(eqn)
        replaced = handler_of(eqn)(sweep, eqn)
        if replaced is not None:
            self.replaced[index] = replaced

    def goes_by_rule(self, eqn: Eqn) -> bool:
        """Whether the rule of an equation's op is all that its reverse needs."""
        return handler_of(eqn) is reverse_by_rule

    def forward_eqns(self) -> list[Eqn]:
        """The equations of the forward sweep."""
        result: list[Eqn] = []
        for index, eqn in enumerate(self.block.eqns):
            result.extend(self.replaced.get(index) or (as_unseen(eqn),))
        return result

    def inner(self, block: Block, outer: Callable[[Var], Atom], *, branch: bool = False) -> Sweep:
        """The reversal of a block inside this one."""
        sweep = Sweep(self.context, block, outer, self.bars if branch else None)
        sweep.builder.span = self.builder.span
        sweep.in_loop = self.in_loop
        return sweep

    # --- functions apart ----------------------------------------------------------------

    def split(self, function: Function, wrt: Sequence[int], **asked: Any) -> Halves:
        """The halves of a function that is called here."""
        context = self.context
        return split(function, wrt, read=context.read, callees=context.callees, **asked)

    def adjoint(
        self, function: Function, wrt: Sequence[int], seed: Seed, *, scalar: bool
    ) -> Function:
        """The gradient of a function, from the cotangent of its result that `seed` writes."""
        read = self.context.read
        return gradient(function, wrt, read=read, seed=seed, final=False, scalar=scalar)

    # --- cotangents ---------------------------------------------------------------------

    def is_active(self, atom: Atom) -> bool:
        return atom in self.context.active

    def contribute(self, atom: Atom, bar: Atom, count: Atom | None = None) -> None:
        """Add to the cotangent of a value, if it has one; that of a real value is real."""
        if isinstance(atom, Var) and atom in self.context.active:
            if atom not in self.context.unbound:
                bar = surely_real(self, bar, kind_of_atom(bar), atom.kind)
            self.bars.add(atom, bar, count)

    def start(self, atom: Atom, bar: Atom, moves: Atom = YES, count: Atom | None = None) -> None:
        """Hand on the cotangent of a result.

        `moves`: where it is more than a written-out zero; `count`: how often its entries are used.
        """
        self.bars.condition = moves
        self.hand_on(atom, bar, count)

    def hand_on(self, atom: Atom, bar: Atom, count: Atom | None = None) -> None:
        """Contribute a whole cotangent that is for this value alone: what is added goes into it."""
        if not isinstance(atom, Var) or atom not in self.context.written.versions:
            self.contribute(atom, bar, count)
        elif atom in self.context.active and bar != ZERO:
            self.bars.take_over(atom, bar, count)

    def scatter(self, atom: Atom, path: Path, bar: Atom) -> None:
        """Add to the cotangent of a part of a value, if it has one."""
        if isinstance(atom, Var) and atom in self.context.active:
            self.bars.scatter(atom, path, bar)

    def total(self, var: Var) -> Atom:
        """The whole cotangent of a value, or ZERO."""
        return self.bars.total(var)

    def total_or_zeros(self, var: Var) -> Atom:
        """The whole cotangent of a value, zeros written out."""
        total = self.bars.total(var)
        return self.zeros(var) if total == ZERO else total

    def zeros(self, var: Var) -> Atom:
        return self.bars.zeros(var)


def handler_of(eqn: Eqn) -> Handler:
    """What writes the reverse of an equation."""
    if eqn.op is IF:
        return reverse_if
    if eqn.op is TRY:
        return reverse_try
    if eqn.op in LOOPS:
        return reverse_loop
    if eqn.op is CALL:
        return reverse_call
    return CALLS.get(eqn.op) or STRUCTURE.get(eqn.op) or _of_memory(eqn.op) or reverse_by_rule


def _of_memory(op: Op) -> Handler | None:
    """What writes the reverse of a change in place: a module that few programs need."""
    if op not in me.DIFFERENTIABLE:
        return None
    from .memory import MEMORY

    return MEMORY[op]


# --- whole functions: joint --------------------------------------------------------------


def gradient(
    function: Function,
    wrt: Sequence[int],
    *,
    read: Read,
    output: int = 0,
    value: bool = False,
    seed: Seed | None = None,
    maybe_complex: bool | None = None,
    final: bool = True,
    scalar: bool = True,
) -> Function:
    """The function that computes the gradient of one scalar result.

    Args:
        function: the primal.
        wrt: which leaves of its inputs to differentiate with respect to.
        read: reads a rule's row into a builder.
        output: which leaf of its result is differentiated.
        value: also return all leaves of the primal result, before the gradients.
        seed: writes the cotangent of the result, given the result (and may check it); 1.0 if None.
        maybe_complex: whether values of unknown kind may be complex; found out if None.
        final: whether the gradients get their final form (dtype, shape, own memory).
        scalar: whether the result is certainly one number.

    Returns:
        A function of the same inputs; its result is the tuple of the leaves.

    Raises:
        NoRule: a derivative is needed that no rule gives.
    """
    primal = with_checks(tidy(direct(in_blocks(function))), wrt)
    function = prepared(primal, read)
    body = function.body
    inputs = [body.params[i] for i in wrt]
    out = body.outs[output]
    unsure = may_be_complex(body) if maybe_complex is None else maybe_complex
    context = context_of(read, function, inputs, [out], unsure)
    context.last = last_checkpointed_call(body)
    context.fixed = keeps_keys(body)
    if isinstance(out, Var) and scalar:
        context.scalars = scalars_above(body, out)
    sweep = Sweep(context, body, _no_outer)
    sweep.use_results()
    bar = Const(1.0) if seed is None else seed(sweep.builder, out)
    sweep.start(out, _writable(sweep, bar))
    sweep.run()
    bars = finish(sweep, inputs) if final else [sweep.total_or_zeros(var) for var in inputs]
    forward, mapping = sweep.forward_eqns(), dict[Var, Atom]()
    eqns = joined(forward, shared(sweep.builder.eqns, mapping, forward))
    bars = [renamed_atom(bar, mapping) for bar in bars]
    outs = (*body.outs, *bars) if value else tuple(bars)
    kinds = map(kind_of_atom, outs)
    new_body = with_shapes_of_needed(Block(body.params, tuple(eqns), outs))
    made = Function(f"grad_{function.name}", function.inputs, new_body, tuple_kind(kinds))
    made = without_squares(made)
    made = with_primal_evaluated(made, primal.body, context.reversed)
    return with_unbound_marked(tidy(made))


def joined(forward: Sequence[Eqn], reverse: Sequence[Eqn]) -> list[Eqn]:
    """Both sweeps, with a comment before each where there are two."""
    forward = [eqn for eqn in forward if eqn.op is not COMMENT]
    if not forward or not reverse:
        return [*forward, *reverse]
    return [comment("forward"), *forward, comment("reverse"), *reverse]


def finish(sweep: Sweep, inputs: Sequence[Var]) -> list[Atom]:
    """The gradients of some inputs in their final form."""
    sweep.builder.span = None
    bars = {var: sweep.total(var) for var in dict.fromkeys(inputs)}
    return [_final(sweep, bars[var], var) for var in inputs]


def _final(sweep: Sweep, bar: Atom, var: Var) -> Atom:
    """A gradient with the shape and type that belong to its input."""
    if bar == ZERO and isinstance(var.kind, (Number, Array)):
        return sweep.zeros(var)
    return sweep.builder.emit(st.project, sweep.zeros(var) if bar == ZERO else bar, var)


# --- whole functions: split --------------------------------------------------------------


def split(
    function: Function,
    wrt: Sequence[int],
    *,
    read: Read,
    active_outs: Sequence[int] | None = None,
    final: bool = False,
    callees: dict[Any, tuple[Callee, Callee]] | None = None,
    added: Sequence[int] = (),
    asked: Sequence[int] = (),
    guarded: bool = False,
) -> Halves:
    """The forward sweep and the reverse sweep of a function as two functions.

    Args:
        function: the primal.
        wrt: which leaves of its inputs to differentiate with respect to.
        read: reads a rule's row into a builder.
        active_outs: which leaves of its result get cotangents; all differentiable ones if None.
        final: whether the cotangents get their final form (dtype, shape, own memory).
        callees: the functions split so far, by callee and activity.
        added: which cotangents, by number, are added to what the reverse sweep is given after them.
        asked: of which active results, by number, it is given last whether their cotangents move.
        guarded: whether zeros in the cotangents that it is given are not to meet infinite derivatives.

    Returns:
        *forward*, of the same inputs, gives the leaves of the result and then one tuple of
        residuals; *backward* takes that tuple and the cotangents of the active results, and gives
        the cotangents of the `wrt` leaves.
    """
    function = prepared(with_checks(tidy(direct(in_blocks(function))), wrt), read)
    body = function.body
    if active_outs is None:
        active_outs = [k for k, out in enumerate(body.outs) if is_differentiable(kind_of_atom(out))]
    inputs = [body.params[i] for i in wrt]
    outs = [body.outs[k] for k in active_outs]
    context = context_of(read, function, inputs, outs, may_be_complex(body))
    if callees is not None:
        context.callees = callees
    sweep = Sweep(context, body, _no_outer)
    seeds = [_seed(out) for out in outs]
    given = seeds if callees is not None else [_writable(sweep, seed) for seed in seeds]
    buffers = {inputs[j]: cotangent_of(inputs[j]) for j in added}
    sweep.bars.running.update(buffers)
    moves = {k: Var(BOOL, "moves") for k in asked}
    for k, (out, seed) in enumerate(zip(outs, given, strict=True)):
        sweep.start(out, seed, moves.get(k, YES), _used_by(sweep, out, seed) if guarded else None)
    sweep.run()
    bars = finish(sweep, inputs) if final else [sweep.total_or_zeros(var) for var in inputs]
    return divided(function, sweep, [*seeds, *buffers.values(), *moves.values()], bars)


def _used_by(sweep: Sweep, out: Atom, seed: Atom) -> Atom | None:
    """The entries of a result that are used as far as a cotangent which is given says: where it is not 0."""
    counts = isinstance(out, Var) and sweep.context.masks.counts(out)
    if not counts or not isinstance(kind_of_atom(seed), Array):
        return None
    return sweep.builder.emit(st.ne, seed, Const(0))


def _writable(sweep: Sweep, seed: Atom) -> Atom:
    """A cotangent that is given, as a buffer that others may be added to."""
    return as_written(sweep.builder, seed) if sweep.context.written.versions else seed


def _seed(out: Atom) -> Var:
    kind = tangent_kind(kind_of_atom(out))
    if isinstance(out, Var):
        seed = cotangent_of(out, kind)
        seed.name = seed.name or "y_bar"
        return seed
    return Var(kind, "y_bar")


def _no_outer(var: Var) -> Atom:
    raise AssertionError(f"{var!r} is not a value of this function")
