"""Reverse mode for calls: of functions known when reading, at run time, and with `rrule`s."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import CALL, Atom, Block, Callee, Const, Eqn, Function, Var
from ...ir.op import Op
from ...ir.records import replace
from ...ir.types import UNKNOWN, Array, Seq, Struct, Unknown
from ...ops import structure as st
from ...ops.cotangent_kinds import gradient_kind
from ...ops.program import cotangents as ct, memory as me
from ...rules.registry import Rule
from ...runtime import calls
from ..analysis.rule_calls import described
from ..analysis.write_sets import as_complex, is_of_numbers, updates_of, written, written_parameters
from ..checks.opaque_calls import refuse_third
from ..edges.zero_tangents import NO, YES
from .cotangents import can_be_lent, cotangent_of
from .cotangents_of_lists import as_items

if TYPE_CHECKING:
    from .sweep import Sweep

_PAIR = Struct("tuple", (0, 1), (UNKNOWN, UNKNOWN))


# --- functions known when reading ---------------------------------------------------------


def reverse_call(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn]:
    """A call becomes a call of the callee's forward half, and in reverse of its backward half.

    Of a checkpointed call both halves run in the reverse sweep, so that nothing is kept.
    """
    checkpointed = eqn.param("checkpoint", False) and eqn is not sweep.context.last
    first = again = eqn
    if checkpointed:
        from ..analysis.recording import recorded_call

        first, again = recorded_call(eqn, sweep.context.active)
    wrt = tuple(k for k, arg in enumerate(eqn.args) if sweep.is_active(arg))
    outs = tuple(k for k, out in enumerate(eqn.outs) if sweep.is_active(out))
    moves = _asked(sweep, eqn, outs)
    forward, backward = _halves(sweep, again.param("callee"), wrt, outs, tuple(moves))
    residuals = Var(UNKNOWN, "residuals")
    bars = [_as_callee_takes_it(sweep, eqn.outs[k]) for k in outs]
    args_bar = [cotangent_of(_variable(eqn.args[k])) for k in wrt]
    sums = _Sums(sweep, eqn, wrt, added_to(again.param("callee"), wrt))
    if checkpointed:
        outs_again = [Var(out.kind, out.name) for out in eqn.outs]
        args = _in_own_memory(sweep, again)
        sweep.builder.append(_call(forward, args, (*outs_again, residuals), eqn))
    back = _call(backward, (residuals, *bars, *sums.buffers, *moves.values()), args_bar, eqn)
    pairs = (*_of_updated(eqn, wrt, outs), *sums.handed(1 + len(bars)))
    handed = {"handed": Const(pairs)} if pairs else {}
    sweep.builder.append(replace(back, params={**back.params, **handed}))
    sums.contribute(args_bar)
    if checkpointed:
        return [first]
    ahead = _call(forward, eqn.args, (*eqn.outs, residuals), eqn)
    return [replace(ahead, params={**ahead.params, **updates_of(eqn)})]


def _of_updated(eqn: Eqn, wrt: Sequence[int], outs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Which arguments of the backward half are the cotangents of what the call has changed in place, and which of
    its results are those of what that was before: the one becomes the other, in the memory that it has.
    """
    for k, out in eqn.param("updates", ()):
        if k in wrt and out in outs and is_of_numbers(eqn.outs[out].kind):
            yield 1 + outs.index(out), wrt.index(k)


def _asked(sweep: Sweep, eqn: Eqn, outs: Sequence[int]) -> dict[int, Atom]:
    """Where the cotangents of a call with singular partials move, by number: of those that do not always."""
    if eqn not in sweep.context.singular:
        return {}
    given = [eqn.outs[k] for k in outs]
    found = {
        j: sweep.bars.moves_where([out]) if sweep.bars.has(out) else NO
        for j, out in enumerate(given)
    }
    return {j: moves for j, moves in found.items() if moves != YES}


def _as_callee_takes_it(sweep: Sweep, out: Var) -> Atom:
    """The cotangent of a result: that of a list is one, which the callee takes items out of."""
    bar = as_complex(sweep.builder, sweep.total_or_zeros(out), out)  # the callee adds to it
    is_array = isinstance(kind_of_atom(bar), (Array, Unknown))
    return as_items(sweep.builder, bar, out.kind) if isinstance(out.kind, Seq) and is_array else bar


class _Sums:
    """The accumulators that a callee adds to, rather than give cotangents of its own.

    So each call of a recursive function takes the time of what it does, not that of its arrays.
    """

    def __init__(self, sweep: Sweep, eqn: Eqn, wrt: Sequence[int], added: Sequence[int]):
        self._sweep = sweep
        self._vars = [_variable(eqn.args[k]) for k in wrt]
        self._added = added
        self._lent: set[int] = set()
        self.buffers: list[Atom] = []
        for j in added:
            var = self._vars[j]
            again = var in (self._vars[i] for i in self._lent)
            if can_be_lent(var) and var not in sweep.context.written.versions and not again:
                self._lent.add(j)
                sweep.context.masks.whole.add(var)
                self.buffers.append(sweep.bars.accumulator(var))
            else:
                self.buffers.append(sweep.zeros(var))

    def handed(self, first: int) -> tuple[tuple[int, int], ...]:
        """Which arguments of the backward half, from a first one on, are which of its results before."""
        return tuple((first + number, j) for number, j in enumerate(self._added))

    def contribute(self, args_bar: Sequence[Var]) -> None:
        for j, (var, bar) in enumerate(zip(self._vars, args_bar, strict=True)):
            if j in self._lent:
                self._sweep.bars.running[var] = bar
            else:
                self._sweep.contribute(var, bar)


def added_to(callee: Callee, wrt: Sequence[int]) -> tuple[int, ...]:
    """Which of the cotangents of a callee, by number, its backward half adds to what it is given."""
    assert callee.function is not None, f"{callee!r} is called before it is read"
    body = callee.function.body
    changed = written(body)
    params = [body.params[k] for k in wrt]
    return tuple(
        j
        for j, param in enumerate(params)
        if can_be_lent(param) and param not in changed.versions and param not in changed.clobbered
    )


def last_checkpointed_call(block: Block) -> Eqn | None:
    """A checkpointed call that no loop, branch or other call follows in its block."""
    last = next((eqn for eqn in reversed(block.eqns) if eqn.blocks or eqn.op is CALL), None)
    return last if last is not None and last.param("checkpoint", False) else None


def _in_own_memory(sweep: Sweep, eqn: Eqn) -> list[Atom]:
    """The arguments of a call that runs again: it writes to copies, having written to them before."""
    changed = written_parameters(eqn.param("callee"))
    return [
        sweep.builder.emit(me.duplicate, arg) if k in changed else arg
        for k, arg in enumerate(eqn.args)
    ]


def _variable(arg: Atom) -> Var:
    assert isinstance(arg, Var)
    return arg


def _call(callee: Callee, args: Sequence[Atom], outs: Sequence[Var], like: Eqn) -> Eqn:
    params: dict[str, Atom] = {"callee": Const(callee)}
    return Eqn(tuple(outs), CALL, tuple(args), params, (), like.namespace, like.span)


def _halves(
    sweep: Sweep,
    callee: Callee,
    wrt: tuple[int, ...],
    outs: tuple[int, ...],
    asked: tuple[int, ...],
) -> tuple[Callee, Callee]:
    """The two halves of a callee; they exist before they are filled, so that recursion closes."""
    callees = sweep.context.callees
    key = (callee, wrt, outs, asked)
    if key not in callees:
        pair = Callee(f"forward_{callee.name}"), Callee(f"backward_{callee.name}")
        callees[key] = pair
        function = callee.function
        assert isinstance(function, Function), f"{callee!r} is called before it is read"
        pair[0].function, pair[1].function = sweep.split(
            function, wrt, active_outs=outs, added=added_to(callee, wrt), asked=asked
        )
    return callees[key]


# --- functions known at run time ----------------------------------------------------------


def _apply(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn]:
    """y, back = pullback_of(f, *args); in reverse, f_bar, *args_bar = back(y_bar)."""
    names = eqn.params.get("names", Const(()))
    builder = Builder(eqn.span, derived=True)
    pair = builder.emit(st.pullback_of, *eqn.args, kind=_PAIR, names=names)
    y = builder.emit(st.getitem, pair, Const(0), kind=eqn.outs[0].kind)
    params = {"reader": Const(calls.reader("call")), "names": names}
    args = (y, *eqn.args)
    builder.append(Eqn(eqn.outs, st.means, args, params, (), eqn.namespace, eqn.span))
    back = builder.emit(st.getitem, pair, Const(1), name="back", kind=UNKNOWN)
    _pull_back(sweep, back, sweep.total(eqn.outs[0]), eqn.args, names)
    return builder.eqns


def _means(sweep: Sweep, eqn: Eqn) -> None:
    """The pullback of what the value is said to be."""
    refuse_third(eqn)
    names = eqn.params["names"]
    args = (eqn.params["reader"], *eqn.args[1:])
    emit = sweep.builder.emit
    pair = emit(st.pullback_of, *args, kind=_PAIR, names=names)
    back = emit(st.getitem, pair, Const(1), kind=UNKNOWN)
    _pull_back(sweep, back, sweep.total(eqn.outs[0]), args, names)


def _pull_back(sweep: Sweep, back: Atom, y_bar: Atom, args: Sequence[Atom], names: Atom) -> None:
    """Contribute what the pullback of a call gives for the function and its arguments."""
    returned = sweep.builder.emit(st.opaque, back, y_bar, names=Const(()), kind=ct.OF_UNKNOWN)
    reader = Const(calls.reader("cotangents"))
    bars = sweep.builder.emit(st.means, returned, y_bar, *args, reader=reader, names=names)
    for k, arg in enumerate(args):
        _contribute_item(sweep, bars, k, arg)


def _contribute_item(sweep: Sweep, bars: Atom, k: int, arg: Atom) -> None:
    if sweep.is_active(arg):
        kind = gradient_kind(kind_of_atom(arg))
        sweep.contribute(arg, sweep.builder.emit(st.getitem, bars, Const(k), kind=kind))


# --- rules that are run -------------------------------------------------------------------


def reverse_rrule(sweep: Sweep, eqn: Eqn, rule: Rule) -> Sequence[Eqn]:
    """y, back = rule(*args); in reverse, args_bar = back(y_bar), checked.

    Both run as they are; a derivative of them reads the rule.
    """
    names = eqn.params.get("names", Const(tuple(eqn.params)))
    options = () if "names" in eqn.params else tuple(eqn.params.values())
    name = Const(described(rule))
    args = (Const(rule.rows[0]), *eqn.args, *options)
    builder = Builder(eqn.span, derived=True)
    pair = builder.emit(st.opaque, *args, kind=_PAIR, names=names)
    pair = builder.emit(ct.rule_pair, pair, kind=_PAIR, rule=name)
    y = builder.emit(st.getitem, pair, Const(0), kind=eqn.outs[0].kind)
    params = {"reader": Const(calls.reader("value_by_rule")), "names": names}
    builder.append(Eqn(eqn.outs, st.means, (y, *args), params, (), eqn.namespace, eqn.span))
    back = builder.emit(st.getitem, pair, Const(1), name="back", kind=UNKNOWN)
    y_bar = sweep.total(eqn.outs[0])
    returned = sweep.builder.emit(st.opaque, back, y_bar, names=Const(()))
    reader = Const(calls.reader("cotangents_by_rule"))
    given = sweep.builder.emit(st.means, returned, y_bar, *args, reader=reader, names=names)
    bars = sweep.builder.emit(ct.rule_cotangents, given, *eqn.args, rule=name)
    for k, arg in enumerate(eqn.args):
        _contribute_item(sweep, bars, k, arg)
    return builder.eqns


CALLS: dict[Op, Callable[[Sweep, Eqn], Sequence[Eqn] | None]] = {
    st.apply: _apply,
    st.applied: _apply,
    st.means: _means,
}
