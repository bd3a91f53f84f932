"""Lists of those items of another list whose flags are set: what comprehensions with `if` make."""

from __future__ import annotations

from ....ir.graph import Atom, Eqn
from ....ir.types import FLOAT
from ..form.loopform import Apply, Assign, Constant, Expr, If, assigned_in
from ..lower.lowering import BlockLowering, lowers
from ..lower.sequences.columns import GrowingList
from ..lower.sequences.lists import template_of
from ..lower.sequences.sequences import growing, item_at
from ..lower.structure import length_of
from ..values import values as nv
from ..values.emitter import Emitter


@lowers("compress")
def _compress(site: BlockLowering, eqn: Eqn) -> GrowingList:
    """The items whose flags are set."""
    items, flags = (_list(site, atom) for atom in eqn.args)
    e = site.e
    site.write_all()
    count = length_of(site, items)
    trial = Emitter(e.names)
    template = items.column.item(trial, nv.ZERO)
    own = set(assigned_in(tuple(trial.statements)))
    room = e.apply("max", count, nv.ONE)
    made = growing(e, template, "chosen", room, lambda x: x not in own)
    with e.loop(count) as (index, inner):
        then = inner.block()
        made.column.put(then, made.length, item_at(then, items, index))
        then.add(Assign(made.length, nv.plus(made.length, nv.ONE)))
        inner.add(If(_flag(inner, flags, index), tuple(then.statements)))
    return made


@lowers("spread")
def _spread(site: BlockLowering, eqn: Eqn) -> GrowingList:
    """The transpose: a zero for every item that was left out."""
    flags = _list(site, eqn.args[1])
    kept = _numbers(site, eqn.args[0])
    e = site.e
    site.write_all()
    count = length_of(site, flags)
    made = growing(e, template_of(FLOAT, site.unit.of_lists), "bars", e.apply("max", count, nv.ONE))
    position = e.variable("position", nv.ZERO)
    with e.loop(count) as (index, inner):
        then, other = inner.block(), inner.block()
        made.column.put(then, index, _number_at(then, kept, position))
        then.add(Assign(position, nv.plus(position, nv.ONE)))
        made.column.put(other, index, nv.Scalar(Constant(0.0, "f64"), nv.PYTHON))
        inner.add(If(_flag(inner, flags, index), tuple(then.statements), tuple(other.statements)))
    e.add(Assign(made.length, count))
    return made


def _list(site: BlockLowering, atom: Atom) -> GrowingList:
    value = site.value(atom)
    if not isinstance(value, GrowingList):
        raise nv.Unlowered(f"a choice of items of {nv.described(value)}")
    return value


def _numbers(site: BlockLowering, atom: Atom) -> GrowingList | nv.View:
    """The numbers of a list or a vector."""
    value = site.value(atom)
    if isinstance(value, GrowingList):
        return value
    if not isinstance(value, (nv.View, nv.Lazy, nv.Broadcast)) or len(value.dims) != 1:
        raise nv.Unlowered(f"cotangents of chosen items in {nv.described(value)}")
    return site.in_memory(atom)


def _number_at(e: Emitter, kept: GrowingList | nv.View, position: Expr) -> nv.Value:
    if isinstance(kept, nv.View):
        return nv.Scalar(e.load(kept, (position,)), nv.NUMPY)
    return item_at(e, kept, position)


def _flag(e: Emitter, flags: GrowingList, index: Expr) -> Expr:
    flag = item_at(e, flags, index)
    if not isinstance(flag, nv.Scalar):
        raise nv.Unlowered("a choice by something else than truth values")
    return (
        flag.expr if flag.code == "b1" else Apply("ne", (flag.expr, Constant(0, flag.code)), "b1")
    )
