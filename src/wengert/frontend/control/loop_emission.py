"""The equation of a loop, from the reading of its body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import UNDEFINED, Atom, Const, Var
from ...ir.types import BOOL, Seq
from ..domain.running import Running
from ..domain.values import Maybe, Value, flatten, fresh
from ..heap import Heap, now
from ..machine.interpreter import Interpreter
from .carried import enter
from .loop_heap import Attempt, Carried, Name, Names, bind_slot, hint_of, is_whole


def emit_loop(
    it: Interpreter,
    entry: Names,
    assumed: dict[Name, Carried],
    attempt: Attempt,
    lost: Heap,
    elements: Sequence[Var],
    running: Running | None,
    test: Callable[[], Atom] | None,
    every: Atom | None,
) -> list[Var]:
    params: list[Var] = []
    initials: list[Atom] = []
    ends: list[Atom] = []
    outs: list[Var] = []
    after: dict[Name, Value] = {}
    for name, carried in assumed.items():
        if carried.kind is None:
            continue
        param = attempt.params[name]
        out = _out_like(name, carried, params_only=param)
        initials += _carried_atoms(it, it.builder, it.heap, name, entry[name], carried)
        params += _leaves(param)
        end = param if attempt.dead else attempt.end.get(name)
        ends += _carried_atoms(it, attempt.builder, attempt.heap, name, end, carried)
        outs += _leaves(out)
        after[name] = out
    collected = [Var(Seq(kind_of_atom(atom))) for atom in attempt.collected]
    stop = attempt.stop != Const(False)
    body_outs = [*([attempt.stop] if stop else []), *ends, *attempt.collected]
    all_outs = [*outs, *collected]
    body = attempt.builder.block([*elements, *params], body_outs)
    if running is not None:
        it.builder.for_(running.iterables, initials, body, all_outs, stop=stop, every=every)
    else:
        assert test is not None
        block = _test_block(it, assumed, lost, test)
        it.builder.while_(initials, block, body, all_outs, stop=stop, every=every)
    for name, value in after.items():
        bind_slot(it, name, value)
    return collected


def _test_block(
    it: Interpreter, assumed: dict[Name, Carried], lost: Heap, test: Callable[[], Atom]
) -> Any:
    outer, before, heap = it.builder, dict(it.vars), it.heap
    it.builder, it.heap = outer.child(), {**heap, **lost}
    params = enter(
        it, {name: None if c.maybe else Const(0) for name, c in assumed.items()}, assumed
    )
    condition = test()
    block = it.builder.block(
        [leaf for value in params.values() for leaf in _leaves(value)], [condition]
    )
    it.builder, it.frame.scope.vars, it.heap = outer, before, heap
    return block


def _leaves(value: Value) -> list[Var]:
    atoms = [atom for atom in flatten(value) if isinstance(atom, Var)]
    if isinstance(value, Maybe) and not any(atom is value.witness for atom in atoms):
        atoms.append(value.witness)
    return atoms


def _out_like(name: Name, carried: Carried, params_only: Value) -> Value:
    assert carried.kind is not None
    hint = hint_of(name)
    if is_whole(name):
        return Var(carried.kind, hint)
    value = fresh(carried.kind, hint)
    if isinstance(params_only, Maybe):
        leaf = next(flatten(value), None)
        value = Maybe(value, leaf if isinstance(leaf, Var) else Var(BOOL, hint))
    return value


def _carried_atoms(
    it: Interpreter, builder: Builder, heap: Heap, name: Name, value: Value | None, carried: Carried
) -> list[Atom]:
    """The atoms that hold a carried value on one edge of the loop."""
    assert carried.kind is not None
    with it.within(builder, heap):
        if is_whole(name):
            assert value is not None
            atoms = [it.atom(value)]
        else:
            atoms = it.coerce(None if value is None else now(it, value), carried.kind)
    if carried.maybe and not atoms:
        known = value is not None and not isinstance(value, Maybe)
        witness = value.witness if isinstance(value, Maybe) else Const(True)
        atoms = [witness if known or isinstance(value, Maybe) else UNDEFINED]
    return atoms
