"""Which eigenvectors and singular vectors a program reads: those of equal values have no derivative.

Where the cotangent of a vector is 0, that vector may be unread, or it may be multiplied by a function of its value
that happens to be 0 there, as in the logarithm of a matrix at the identity. Only the program tells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import IF, TRY, Atom, Block, Const, Eqn, Var, used_by
from ...ir.types import SLICE, Array, Number, Struct
from ...ops import structure as st
from ...ops.arrays.vectors import COLUMNS, FACTORS, ROWS
from ..analysis.uses import reads

_OWN = frozenset(("spectral", "values_along"))
"""Ops that have a derivative by the matrix itself, and none by its vectors."""

Chain = tuple[Atom, ...]
Question = Callable[[Atom], bool]


def vectors_used(
    builder: Builder, block: Block, eqn: Eqn, is_active: Question, *, ahead: bool
) -> dict[str, Atom]:
    """The option `used` of a factorisation's row: which vectors are read, whatever path the run takes.

    It is True of all. Else it says for each reading the indices by which it picks some, one after the other.
    What is used `ahead` of the other equations of a block leaves out what they define.
    """
    chains = list(_readings(block, eqn.outs[0], FACTORS[eqn.op.name], is_active))
    if () in chains:
        return {"used": Const(True)}
    if ahead:
        later = {out for each in block.eqns for out in each.outs}
        chains = [chain for chain in chains if later.isdisjoint(chain)]
    if not chains:
        return {}
    return {"used": as_tuple(builder, [as_tuple(builder, chain) for chain in chains])}


def as_tuple(builder: Builder, items: Sequence[Atom]) -> Atom:
    """Values as one: a tuple of them."""
    keys = Const(tuple(range(len(items))))
    return builder.emit(st.pack, *items, form=Const("tuple"), keys=keys, type=Const(None))


def _readings(
    block: Block, factors: Var, fields: dict[str | int, int], is_active: Question
) -> Iterator[Chain]:
    for eqn in block.eqns:
        if eqn.op in (st.getattr_, st.getitem) and eqn.args[0] == factors:
            key = eqn.params["name"] if eqn.op is st.getattr_ else eqn.args[1]
            axis = fields.get(key.value) if isinstance(key, Const) else None
            if axis is not None:
                yield from _picked(block, eqn.outs[0], axis, is_active)


def _picked(block: Block, vectors: Var, axis: int, is_active: Question) -> Iterator[Chain]:
    """By which indices vectors are read, which are along an axis; no index says that all are."""
    for eqn in block.eqns:
        read = used_by(eqn) if eqn.blocks else reads(eqn)
        if vectors not in read or not any(map(is_active, eqn.outs)):
            continue
        if eqn.op in (IF, TRY) or eqn.op.name in _OWN:
            continue  # which of its blocks runs is not known
        if _transposes(eqn):
            yield from _picked(block, eqn.outs[0], COLUMNS + ROWS - axis, is_active)
        elif eqn.op is st.getitem and (index := _index(block, eqn, axis)) is not None:
            kept = isinstance(kind_of_atom(eqn.outs[0]), Array) and rank_of_array(
                eqn.outs[0]
            ) == rank_of_array(vectors)
            inner = _picked(block, eqn.outs[0], axis, is_active) if kept else iter([()])
            yield from ((index, *chain) for chain in inner)
        else:
            yield ()


def _transposes(eqn: Eqn) -> bool:
    if eqn.op.name == "matrix_transpose":
        return True
    return eqn.op.name in ("transpose", "swapaxes") and rank_of_array(eqn.args[0]) == 2


def rank_of_array(atom: Atom) -> int | None:
    """How many axes an array has; None of anything else."""
    kind = kind_of_atom(atom)
    return kind.rank if isinstance(kind, Array) else None


def _index(block: Block, eqn: Eqn, axis: int) -> Atom | None:
    """What `x[...]` picks along an axis; None where that is everything, or cannot be told."""
    rank, indices = rank_of_array(eqn.args[0]), _indices(block, eqn.args[1])
    if rank is None or indices is None or any(map(_adds_axes, indices)):
        return None
    if Const(...) in indices:
        at = indices.index(Const(...))
        after = indices[at + 1 :]
        indices = [*indices[:at], *[Const(slice(None))] * (rank - len(indices) + 1), *after]
    place = rank + axis
    if place >= len(indices) or indices[place] == Const(slice(None)):
        return None
    return indices[place]


def _indices(block: Block, index: Atom) -> list[Atom] | None:
    if isinstance(index, Const):
        return [Const(each) for each in index.value] if isinstance(index.value, tuple) else [index]
    packed = next((eqn for eqn in block.eqns if index in eqn.outs), None)
    if packed is not None and packed.op is st.pack:
        return list(packed.args)
    return (
        [index]
        if isinstance(kind_of_atom(index), (Number, Array)) or kind_of_atom(index) == SLICE
        else None
    )


def _adds_axes(index: Atom) -> bool:
    """Whether an index stands for another number of axes than one."""
    if index == Const(None):
        return True
    kind = kind_of_atom(index)
    if isinstance(kind, Array):
        return kind.rank != 1
    if isinstance(kind, Struct) and kind.form == "list":
        return not all(isinstance(item, Number) for item in kind.items)
    return not (isinstance(kind, Number) or kind == SLICE or index == Const(...))
