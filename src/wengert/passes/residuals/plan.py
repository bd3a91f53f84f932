"""Residuals: what a reverse sweep needs to know of the forward sweep.

A value of the forward block that the reverse block uses is either carried over (collected by a
loop, returned by a branch or a function) or, where that is as cheap, computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Var, free_vars, walk
from ...ir.op import Op
from ...ir.records import replace, value_record
from ...ir.renaming import clone, cloned_eqn, renamed_atom, renamed_block, renamed_eqn
from ...ir.types import SLICE, Kind, Number, Struct
from ...ops import structure as st

_INTEGER_ARITHMETIC = frozenset(("add", "sub", "mul", "neg", "pos", "floordiv", "mod"))
_ARITHMETIC = frozenset(
    ("add", "sub", "mul", "div", "neg", "pos", "eq", "ne", "lt", "le", "gt", "ge", "not")
)
_KEEPING = 2
"""How many operations on numbers cost less than keeping their result in a list and reading it there:
a number in a list takes 32 bytes as well."""


Meaning = tuple[Op, tuple[Atom, ...], frozenset[tuple[str, Atom]], str]
"""An op, its operands and options, and where it is taken from: what is computed."""


@value_record
class Plan:
    """`carried` values are handed over; `again` are the equations to run again, in order."""

    carried: list[Var]
    again: list[Eqn]


def plan(
    forward: Sequence[Eqn],
    params: Iterable[Var],
    reverse: Block,
    available: Iterable[Var] = (),
    *,
    later: bool = False,
    in_loop: bool = False,
    clobbered: Container[Atom] = (),
) -> Plan:
    """How a reverse block comes by the values of its forward block.

    Args:
        forward: the equations of the forward block.
        params: the parameters of the forward block.
        reverse: the reverse block, which uses values of the forward block as if it were inside.
        available: values of the forward block that the reverse block has at no cost.
        later: whether globals and attributes may have changed when the reverse block runs.
        in_loop: whether what is handed over is kept in lists.
        clobbered: what the program writes to: reading it again might give something else.
    """
    still_cheap = _is_cheap_later if later else is_cheap

    def cost(eqn: Eqn) -> int:
        if any(atom in clobbered for atom in eqn.operands()):
            return _KEEPING + 1
        if still_cheap(eqn):
            return 0
        return 1 if in_loop and is_arithmetic(eqn) else _KEEPING + 1

    defined = {out: eqn for eqn in forward for out in eqn.outs}
    own = {*defined, *params}
    free = set(available)
    needed = [var for var in free_vars(reverse) if var in own and var not in free]
    cheap = {var for var in needed if var in defined and cost(defined[var]) <= _KEEPING}
    known = free | {var for var in needed if var not in cheap}
    again = _computable(forward, own, cheap, known, cost)
    carried = [var for var in needed if var not in again]
    return Plan(carried, _closure(forward, [var for var in needed if var in again], again))


def _computable(
    forward: Sequence[Eqn],
    own: set[Var],
    wanted: set[Var],
    known: set[Var],
    cost: Callable[[Eqn], int],
) -> set[Var]:
    """The values that cheap equations give from what is known; the others of `wanted` become known."""
    costs: dict[Var, int] = {}
    for eqn in forward:
        unknown = {
            atom
            for atom in eqn.operands()
            if isinstance(atom, Var) and atom in own and atom not in known
        }
        total = cost(eqn) + sum(costs.get(var, _KEEPING + 1) for var in unknown)
        for out in eqn.outs:
            if total <= _KEEPING and out not in known:
                costs[out] = 0 if out in wanted else total
            elif out in wanted:
                known.add(out)
    return set(costs)


def _closure(forward: Sequence[Eqn], wanted: list[Var], again: set[Var]) -> list[Eqn]:
    if not wanted:
        return []
    want = set(wanted)
    chosen: list[Eqn] = []
    for eqn in reversed(forward):
        if any(out in want for out in eqn.outs):
            chosen.append(eqn)
            want.update(atom for atom in eqn.operands() if isinstance(atom, Var) and atom in again)
    return chosen[::-1]


def is_cheap(eqn: Eqn) -> bool:
    """Whether an equation costs no more than fetching its stored result."""
    if eqn.op is st.getitem:
        return _is_basic(kind_of_atom(eqn.args[1]), eqn.args[1])
    if eqn.op in (st.getattr_, st.slice_, st.length, st.range_, st.global_):
        return True
    if eqn.op is st.pack:
        return eqn.param("form") == "tuple" and all(
            _is_basic(kind_of_atom(arg), arg) for arg in eqn.args
        )
    integers = all(kind_of_atom(arg) == Number("int") for arg in eqn.args)
    return eqn.op.name in _INTEGER_ARITHMETIC and integers


def is_arithmetic(eqn: Eqn) -> bool:
    """Whether an equation is one operation of Python on numbers."""
    return eqn.op.name in _ARITHMETIC and all(
        isinstance(kind_of_atom(atom), Number) for atom in eqn.operands()
    )


def _is_cheap_later(eqn: Eqn) -> bool:
    return is_cheap(eqn) and eqn.op not in (st.global_, st.getattr_)


def read_ahead(forward: Sequence[Eqn], reverse: Block) -> tuple[list[Eqn], Block]:
    """Both sweeps, the globals that the reverse sweep reads being read in the forward sweep."""
    mapping: dict[Var, Atom] = {}
    read: dict[tuple[int, Any], Var] = {}
    ahead: list[Eqn] = []
    for eqn in forward:
        if eqn.op is st.global_:
            read.setdefault(_global_of(eqn), eqn.outs[0])
    for eqn in walk(reverse):
        if eqn.op is not st.global_:
            continue
        (out,) = eqn.outs
        if _global_of(eqn) not in read:
            read[_global_of(eqn)] = clone(out)
            ahead.append(replace(eqn, outs=(read[_global_of(eqn)],)))
        mapping[out] = read[_global_of(eqn)]
    return [*ahead, *forward], renamed_block(_without_globals(reverse), mapping)


def _global_of(eqn: Eqn) -> tuple[int, Any]:
    return id(eqn.param("holder")), eqn.param("key")


def _without_globals(block: Block) -> Block:
    eqns = tuple(
        replace(eqn, blocks=tuple(map(_without_globals, eqn.blocks)))
        for eqn in block.eqns
        if eqn.op is not st.global_
    )
    return Block(block.params, eqns, block.outs)


def _is_basic(kind: Kind, index: Atom) -> bool:
    """Whether reading by this index copies no array."""
    if isinstance(kind, Number):
        return True
    if isinstance(kind, Struct):
        return kind.form == "tuple" and all(_is_basic(item, index) for item in kind.items)
    if isinstance(index, Const):
        return not isinstance(index.value, list)
    return kind == SLICE or str(kind) == "str"


# --- repeated work ------------------------------------------------------------------------


def shared(eqns: Sequence[Eqn], mapping: dict[Var, Atom], before: Sequence[Eqn] = ()) -> list[Eqn]:
    """Derivative code in which nothing is computed twice: not in a block, nor in one inside it.

    Args:
        eqns: the equations.
        mapping: how to rename what they read; the results that are left out are entered into it.
        before: equations that run before these, whose results may be used.
    """
    known: dict[Meaning, Var] = {}
    for eqn in before:
        if (key := _meaning(eqn)) is not None:
            known.setdefault(key, eqn.outs[0])
    return _shared(eqns, mapping, known)


def _shared(eqns: Sequence[Eqn], mapping: dict[Var, Atom], known: dict[Meaning, Var]) -> list[Eqn]:
    kept: list[Eqn] = []
    for original in eqns:
        eqn = renamed_eqn(original, mapping) if mapping else original
        key = _meaning(eqn)
        if key is not None and key in known:
            mapping[eqn.outs[0]] = known[key]
            continue
        if key is not None:
            known[key] = eqn.outs[0]
        if eqn.blocks:
            eqn = replace(eqn, blocks=tuple(_shared_block(block, known) for block in eqn.blocks))
        kept.append(eqn)
    return kept


def _shared_block(block: Block, around: dict[Meaning, Var]) -> Block:
    mapping: dict[Var, Atom] = {}
    computed = {key: out for key, out in around.items() if key[0].elementwise or key[0].reduction}
    eqns = _shared(block.eqns, mapping, computed)
    return Block(block.params, tuple(eqns), tuple(renamed_atom(out, mapping) for out in block.outs))


def _meaning(eqn: Eqn) -> Meaning | None:
    """What an equation computes, if computing it once serves as well as twice."""
    if eqn.blocks or eqn.op.effect or len(eqn.outs) != 1:
        return None
    if not (eqn.op.elementwise or eqn.op.reduction or is_cheap(eqn)):
        return None
    namespace = "" if eqn.op.reduction else eqn.namespace
    return eqn.op, eqn.args, frozenset(eqn.params.items()), namespace


# --- renaming -----------------------------------------------------------------------------


def recomputed(again: Sequence[Eqn], mapping: dict[Var, Atom]) -> list[Eqn]:
    """Equations run a second time: their results get new names, entered into `mapping`."""
    return [cloned_eqn(eqn, mapping) for eqn in again]


def refolded(eqns: Sequence[Eqn], mapping: dict[Var, Atom]) -> list[Eqn]:
    """Derivative code with some values renamed, simplified where they became constants.

    Results that simplify away are entered into `mapping`.
    """
    builder = Builder(derived=True)
    for eqn in eqns:
        builder.span = eqn.span
        blocks = tuple(_refolded_block(block, mapping) for block in eqn.blocks)
        renamed = replace(renamed_eqn(replace(eqn, blocks=()), mapping), blocks=blocks)
        folded = _folded(builder, eqn, renamed)
        if folded is None:
            builder.append(renamed)
        else:
            mapping[eqn.outs[0]] = folded
    return builder.eqns


def _folded(builder: Builder, eqn: Eqn, renamed: Eqn) -> Atom | None:
    pairs = zip(eqn.args, renamed.args, strict=True)
    if eqn.op.fold is None or not any(
        old is not new and isinstance(new, Const) for old, new in pairs
    ):
        return None
    return eqn.op.fold(builder, renamed.args, renamed.params, renamed.namespace)


def _refolded_block(block: Block, mapping: dict[Var, Atom]) -> Block:
    eqns = tuple(refolded(block.eqns, mapping))
    return Block(block.params, eqns, tuple(renamed_atom(out, mapping) for out in block.outs))
