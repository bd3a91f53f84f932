"""Arrays out of lists that are used after their places in the list went to others: copies of them.

Native code keeps the arrays of a list in one memory, one behind the other, so that an item is a part of it; in
Python `xs[0] = y` leaves the array that was there as it is, for who has it still (`xs[0], xs[1] = xs[1], xs[0]`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.builder import kind_of_atom
from ....ir.graph import FOR, WHILE, Atom, Block, Eqn, Function, Var, used_by, walk
from ....ir.records import replace
from ....ir.types import Array, Kind, Seq, Struct
from ....ops.program import memory as me
from ..lower.sharing import Sharing
from ..values.values import Unlowered

_MOVING = frozenset((me.insert, me.inserted, me.drop, me.dropped, me.overwrite))


def with_kept_items(function: Function) -> Function:
    """The function with copies of the items that are read, and used once something else is in their place."""
    if not any(map(_replaces, walk(function.body))):
        return function
    return replace(function, body=_Items(Sharing(function)).block(function.body))


def _is_list_of_arrays(atom: Atom) -> bool:
    kind = kind_of_atom(atom)
    return isinstance(kind, Seq) and _holds_arrays(kind.item)


def _holds_arrays(kind: Kind) -> bool:
    match kind:
        case Struct(items=items):
            return any(map(_holds_arrays, items))
        case Seq(item=item):
            return _holds_arrays(item)
        case _:
            return isinstance(kind, Array)


def _replaces(eqn: Eqn) -> bool:
    """Whether an equation puts another array where a list has one, or moves those that it has."""
    if eqn.op in (me.store, me.stored):
        return len(eqn.args) == 3 and _is_list_of_arrays(eqn.args[0])
    return eqn.op in _MOVING and _is_list_of_arrays(eqn.args[0])


class _Items:
    """The items that are read of lists which get others."""

    def __init__(self, sharing: Sharing):
        self._sharing = sharing

    def block(self, block: Block, items: Sequence[Var] = ()) -> Block:
        """A block; `items` are the parameters that are items of what a loop walks over."""
        params, start = {p: p for p in block.params}, list[Eqn]()
        for item in items:
            if self._is_outlived(item, block, 0):
                params[item] = Var(item.kind, item.name)
                start.append(Eqn((item,), me.snapshot, (params[item],)))
        eqns = start
        for k, eqn in enumerate(block.eqns):
            if eqn.blocks:
                walked = eqn.param("iterables", 0) if eqn.op in (FOR, WHILE) else 0
                *others, last = eqn.blocks
                inner = self.block(last, last.params[:walked])
                eqns.append(replace(eqn, blocks=(*map(self.block, others), inner)))
            elif eqn.op.name == "getitem" and self._is_outlived(eqn.outs[0], block, k + 1):
                read = Var(eqn.outs[0].kind, eqn.outs[0].name)
                eqns += [replace(eqn, outs=(read,)), Eqn(eqn.outs, me.snapshot, (read,))]
            else:
                eqns.append(eqn)
        return replace(block, params=tuple(params.values()), eqns=tuple(eqns))

    def _is_outlived(self, item: Var, block: Block, start: int) -> bool:
        """Whether the place of an item, read before an equation, may have another one when it is used last."""
        if not _holds_arrays(item.kind) or not self._is_used_late(item, block, start):
            return False
        if not isinstance(item.kind, Array):
            raise Unlowered("an item of a list that is used when another one is in its place")
        return True

    def _is_used_late(self, item: Var, block: Block, start: int) -> bool:
        is_changed = False
        for eqn in block.eqns[start:]:
            inside = [each for inner in eqn.blocks for each in walk(inner)]
            changes = any(self._is_changed_by(item, each) for each in (eqn, *inside))
            if item in used_by(eqn) and (is_changed or (changes and eqn.blocks)):
                return True
            is_changed = is_changed or changes
        return is_changed and item in block.outs

    def _is_changed_by(self, item: Var, eqn: Eqn) -> bool:
        if not _replaces(eqn):
            return False
        return not self._sharing.of(item).isdisjoint(self._sharing.of(eqn.args[0]))
