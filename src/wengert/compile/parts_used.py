"""Which parts of inputs and globals a program uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..frontend.boundary.partial_kinds import Way
from ..ir.graph import Const, Eqn, Function, Var, walk
from ..ir.records import field, mutable_record
from ..ir.types import Seq, Struct, leaves
from ..ops import structure as st
from ..ops.program.memory import append
from ..passes.blocks import tidy


@mutable_record
class Uses:
    """What a program uses as it is, and in which places it reads lists that it uses in no other way.

    It may also ask for their length, or append to them.
    """

    parts: set[Way] = field(default_factory=set[Way])
    lists: dict[Way, set[int]] = field(default_factory=dict[Way, Any])


def used(function: Function) -> Uses:
    """The parts of inputs and globals that a program uses."""
    body = tidy.dce(function).body
    where = dict(_inputs(function))
    uses, longer = Uses(), set[Var]()
    for eqn in walk(body):
        part = _part_taken(eqn, where)
        if eqn.op is st.global_:
            where[eqn.outs[0]] = ((id(eqn.param("holder")), eqn.param("key")),)
        elif part is not None:
            where[eqn.outs[0]] = part
            continue
        inner = (out for block in eqn.blocks for out in block.outs)
        read = (*eqn.operands(), *inner)
        owner = eqn.args[0] if eqn.args else None
        if isinstance(owner, Var) and owner in where and _is_of_list(eqn, owner in longer):
            places = uses.lists.setdefault(where[owner], set())
            if eqn.op is append:
                where[eqn.outs[0]] = where[owner]
                longer.add(eqn.outs[0])
            elif eqn.op is st.getitem and isinstance(eqn.args[1], Const):
                places.add(eqn.args[1].value)
            read = read[1:]
        uses.parts.update(where[atom] for atom in read if isinstance(atom, Var) and atom in where)
    uses.parts.update(where[atom] for atom in body.outs if isinstance(atom, Var) and atom in where)
    return uses


def _is_of_list(eqn: Eqn, is_longer: bool) -> bool:
    """Whether an equation asks for the length of a list, appends to it, or reads an item in a place that is known."""
    if eqn.op is not st.getitem:
        return eqn.op in (st.length, append)
    owner, index = eqn.args
    in_list = isinstance(owner, Var) and isinstance(owner.kind, Seq) and not is_longer
    return in_list and isinstance(index, Const) and type(index.value) is int


def _inputs(function: Function) -> Iterator[tuple[Var, Way]]:
    """The parameters of a program, and the parts that they are."""
    params = iter(function.body.params)
    for each in function.inputs:
        for path, _ in leaves(each.kind):
            yield next(params), (each.name, *(step.key for step in path))


def _part_taken(eqn: Eqn, where: Mapping[Var, Way]) -> Way | None:
    """Which part an equation takes out of a container that is known."""
    owner = eqn.args[0] if eqn.args else None
    if eqn.op not in (st.getitem, st.getattr_) or not isinstance(owner, Var) or owner not in where:
        return None
    key = eqn.params["name"] if eqn.op is st.getattr_ else eqn.args[1]
    if not isinstance(key, Const) or not isinstance(owner.kind, Struct):
        return None
    return (*where[owner], key.value) if key.value in owner.kind.keys else None
