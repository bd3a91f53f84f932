"""Recompute what is cheaper to compute again than to keep.

In: a function whose loops collect values for the loops that run backwards. Out: the same function, in which a
collected number is computed again where it is read, if it follows in a few steps from numbers that are
kept anyway, or from what does not change in the loop. Reading memory costs more than a multiplication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import FOR, WHILE, Atom, Block, Const, Eqn, Function, Var, used_in
from ...ir.records import replace
from ...ir.types import Number
from ...ops.registry import named

CHEAP = frozenset(("add", "sub", "mul", "neg", "lt", "le", "gt", "ge", "eq", "ne", "not"))
PURE = CHEAP | frozenset(
    [
        "div",
        "pow",
        "exp",
        "log",
        "sqrt",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "exp2",
        "expm1",
        "log1p",
        "log2",
        "log10",
        "abs",
    ]
)
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


def _thin_out(eqns: list[Eqn], k: int, uses: Mapping[Var, int]) -> None:
    """Drop the lists of a loop that the loop that reads them can do without."""
    producer = eqns[k]
    lists = _lists(producer)
    reader = next(
        (j for j in range(k + 1, len(eqns)) if eqns[j].op is FOR and _reads(eqns[j], lists)), None
    )
    if reader is None:
        return
    items = _items(eqns[reader])
    kept = {
        atom: items[out]
        for out, atom in lists.items()
        if out in items and uses[out] == 1 and isinstance(atom, Var)
    }
    made: list[Eqn] = []
    dropped: set[Var] = set()
    for out, atom in lists.items():
        if out not in items or uses[out] != 1 or not isinstance(kind_of_atom(atom), Number):
            continue
        others = {a: item for a, item in kept.items() if a is not atom}
        steps = _steps(producer, atom, items[out], others)
        if steps is not None and len(items) - len(dropped) > 1:
            made = [*steps, *made]  # what it follows from may be dropped next
            dropped.add(out)
            kept = others
    if dropped:
        eqns[k] = _without_lists(producer, dropped)
        eqns[reader] = _without_items(eqns[reader], dropped, made)


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
