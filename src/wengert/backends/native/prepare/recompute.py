"""Recompute what is cheaper to compute again than to keep.

In: a function whose loops collect values for the loops that run backwards. Out: the same function, in which a
collected number is computed again where it is read, if it follows in a few steps from numbers that are
kept anyway, or from what does not change in the loop. Where several follow from what the loop carries, that
is kept in their place. Reading memory costs more than a multiplication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ....ir.builder import kind_of_atom
from ....ir.graph import FOR, WHILE, Atom, Block, Const, Eqn, Function, Var, used_in
from ....ir.records import replace
from ....ir.types import Number, Seq
from ....ops.registry import named

CHEAP = frozenset(("add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne", "not"))
PURE = CHEAP | frozenset(
    [
        "div", "pow", "exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh", "exp2", "expm1", "log1p",
        "log2", "log10", "abs",
    ]
)  # fmt: skip
MOST_STEPS = 6
"""What a value that is kept costs, in steps: it is written and read, and in long loops its page is taken."""


def recomputed(function: Function) -> Function:
    """The function with less to keep."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    inner = [_with_blocks(eqn) for eqn in block.eqns]
    uses = Counter(used_in(replace(block, eqns=tuple(inner))))
    eqns = list(inner)
    for k, eqn in enumerate(eqns):
        if eqn.op in (FOR, WHILE):
            _thin_out(eqns, k, uses)
    return replace(block, eqns=tuple(eqns))


def _with_blocks(eqn: Eqn) -> Eqn:
    return replace(eqn, blocks=tuple(map(_block, eqn.blocks))) if eqn.blocks else eqn


def _thin_out(eqns: list[Eqn], k: int, uses: Counter[Var]) -> None:
    """Drop the lists of a loop that the loop that reads them can do without."""
    lists = _lists(eqns[k])
    reader = next(
        (j for j in range(k + 1, len(eqns)) if eqns[j].op is FOR and _reads(eqns[j], lists)), None
    )
    if reader is None:
        return
    loops = _without(_dispensable(eqns[k], eqns[reader], uses), eqns[k], eqns[reader])
    eqns[k], eqns[reader] = _with_state(*loops, uses)


def _with_state(producer: Eqn, reader: Eqn, uses: Counter[Var]) -> tuple[Eqn, Eqn]:
    """The loops with a list of what the first carries, where that makes two others needless."""
    body = producer.blocks[-1]
    lists = _lists(producer).values()
    for state in body.params[producer.param("iterables", 0) :]:
        if not isinstance(state.kind, Number) or state in lists:
            continue
        loops = _keeping(state, producer, reader)
        added = loops[0].outs[-1]
        found = _dispensable(*loops, uses + Counter((added,)))
        if len(found.lists) > 1 and added not in found.lists:
            return _without(found, *loops)
    return producer, reader


def _keeping(state: Var, producer: Eqn, reader: Eqn) -> tuple[Eqn, Eqn]:
    """The loops with one list more: what the first carries, at the start of each turn."""
    body, back = producer.blocks[-1], reader.blocks[-1]
    states, item = Var(Seq(state.kind)), Var(state.kind, state.name)
    kept = replace(body, outs=(*body.outs, state))
    n = reader.param("iterables", 0)
    read = replace(back, params=(*back.params[:n], item, *back.params[n:]))
    return (
        replace(producer, outs=(*producer.outs, states), blocks=(*producer.blocks[:-1], kept)),
        replace(
            reader,
            args=(*reader.args[:n], states, *reader.args[n:]),
            params={**reader.params, "iterables": Const(n + 1)},
            blocks=(read,),
        ),
    )


class _Dispensable(NamedTuple):
    """Lists that a loop can do without, and what computes their items again."""

    lists: set[Var]
    steps: list[Eqn]


def _dispensable(producer: Eqn, reader: Eqn, uses: Mapping[Var, int]) -> _Dispensable:
    lists, items = _lists(producer), _items(reader)
    kept = {
        atom: items[out]
        for out, atom in lists.items()
        if out in items and uses[out] == 1 and isinstance(atom, Var)
    }
    found = _Dispensable(set(), [])
    for out, atom in lists.items():
        if out not in items or uses[out] != 1 or not isinstance(kind_of_atom(atom), Number):
            continue
        others = {a: item for a, item in kept.items() if a is not atom}
        steps = _steps(producer, atom, items[out], others)
        if steps is not None and len(items) - len(found.lists) > 1:
            found.steps[:0] = steps  # what it follows from may be dropped next
            found.lists.add(out)
            kept = others
    return found


def _without(found: _Dispensable, producer: Eqn, reader: Eqn) -> tuple[Eqn, Eqn]:
    if not found.lists:
        return producer, reader
    thinner = _without_lists(producer, found.lists)
    return thinner, _without_items(reader, found.lists, found.steps)


def _lists(eqn: Eqn) -> dict[Var, Atom]:
    """The lists of a loop, each with what it collects."""
    slots = len(eqn.args) - eqn.param("iterables", 0)
    results = eqn.blocks[-1].outs[bool(eqn.param("stop", False)) :]
    return dict(zip(eqn.outs[slots:], results[slots:], strict=True))


def _reads(eqn: Eqn, lists: Mapping[Var, Atom]) -> bool:
    return any(atom in lists for atom in eqn.args[: eqn.param("iterables", 0)])


def _items(eqn: Eqn) -> dict[Atom, Var]:
    """The iterables of a loop, each with its item."""
    n = eqn.param("iterables", 0)
    return dict(zip(eqn.args[:n], eqn.blocks[-1].params[:n], strict=True))


def _steps(producer: Eqn, atom: Atom, target: Var, kept: Mapping[Var, Var]) -> list[Eqn] | None:
    """Equations that compute a collected value again; None if that takes too much."""
    body = producer.blocks[-1]
    defined = {out: eqn for eqn in body.eqns for out in eqn.outs}
    if isinstance(atom, Const) or (atom not in defined and atom not in body.params):
        return [Eqn((target,), named("copy"), (atom,), namespace="py")]
    invariant = _is_invariant(atom, defined, body)
    made: list[Eqn] = []
    found = _again(atom, target, defined, body, kept, made, PURE if invariant else CHEAP)
    return made if found and len(made) <= MOST_STEPS else None


def _is_invariant(atom: Atom, defined: Mapping[Var, Eqn], body: Block) -> bool:
    """Whether a value is the same in all iterations."""
    if isinstance(atom, Const):
        return True
    if atom in defined:
        eqn = defined[atom]
        pure = eqn.op.name in PURE and not eqn.params
        return pure and all(_is_invariant(a, defined, body) for a in eqn.args)
    return atom not in body.params


def _again(
    atom: Atom,
    target: Var | None,
    defined: Mapping[Var, Eqn],
    body: Block,
    kept: Mapping[Var, Var],
    made: list[Eqn],
    allowed: frozenset[str],
) -> Atom | None:
    """A value of the loop, computed again from what is kept; None if it cannot be."""
    if isinstance(atom, Const):
        return atom
    if atom in kept and target is None:
        return kept[atom]
    eqn = defined.get(atom)
    if eqn is None:
        return None if atom in body.params else atom
    if eqn.op.name not in allowed or eqn.params or len(made) > MOST_STEPS:
        return None
    args: list[Atom] = []
    for arg in eqn.args:
        again = _again(arg, None, defined, body, kept, made, allowed)
        if again is None:
            return None
        args.append(again)
    out = target if target is not None else Var(atom.kind, atom.name)
    made.append(replace(eqn, outs=(out,), args=tuple(args)))
    return out


def _without_lists(eqn: Eqn, dropped: set[Var]) -> Eqn:
    slots = len(eqn.args) - eqn.param("iterables", 0)
    first = len(eqn.blocks[-1].outs) - (len(eqn.outs) - slots)
    keep = [k for k, out in enumerate(eqn.outs) if out not in dropped]
    results = [
        atom
        for k, atom in enumerate(eqn.blocks[-1].outs)
        if k < first or eqn.outs[slots + k - first] not in dropped
    ]
    body = replace(eqn.blocks[-1], outs=tuple(results))
    return replace(eqn, outs=tuple(eqn.outs[k] for k in keep), blocks=(*eqn.blocks[:-1], body))


def _without_items(eqn: Eqn, dropped: set[Var], made: Sequence[Eqn]) -> Eqn:
    n = eqn.param("iterables", 0)
    body = eqn.blocks[-1]
    keep = [k for k in range(n) if eqn.args[k] not in dropped]
    params = (*(body.params[k] for k in keep), *body.params[n:])
    return replace(
        eqn,
        args=(*(eqn.args[k] for k in keep), *eqn.args[n:]),
        params={**eqn.params, "iterables": Const(len(keep))},
        blocks=(replace(body, params=params, eqns=(*made, *body.eqns)),),
    )
