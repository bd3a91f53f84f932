"""Where the values of a function are defined and used, in the order in which it runs."""

from __future__ import annotations

from collections.abc import Container, Iterator

from ...ir.graph import CALL, COMMENT, IF, TRY, Atom, Block, Eqn, Var, alternatives
from ...ir.records import value_record
from ...ir.types import Array
from ...ops import registry, structure as st
from ..blocks.loops import LOOPS, view
from .write_sets import ABOUT_OBJECTS

_SHAPE_OF_FIRST = frozenset(
    (st.zeros, st.length, *map(registry.named, ("shape", "ndim", "size", "dtype")))
)
_SHAPE_OF_SECOND = frozenset((st.project, st.unbroadcast, st.fill))
_SHAPE_OF_SECOND_BY_NAME = frozenset(("broadcast_like", "unreduce"))


@value_record
class _Owner:
    """The equation that owns a block, and where it stands."""

    eqn: Eqn
    block: Block
    at: int


class Uses:
    """Definitions and uses of values.

    A place is a block and the number of an equation in it; parameters are defined at -1, a block's
    results used at the end. Looking at the shape of an array is no use: writes do not change it.
    `written` are the values that some write may change. The program's `own` objects are not used where
    they are only handed on: written to, stored, carried by a loop, merged by branches, given to a
    callee that changes them, or given back to the caller as results (by number, `updated`) that its
    arguments are; by equations that are `leading` to what the program writes to or puts into another object;
    and by a check that asks which objects they are.
    """

    def __init__(
        self,
        body: Block,
        written: Container[Var],
        own: Container[Var] = (),
        updated: Container[int] = (),
        leading: Container[Eqn] = (),
    ):
        self._written = written
        self._own = own
        self._updated = updated
        self._leading = leading
        self._last: dict[Block, dict[Var, int]] = {}
        self._defined: dict[Var, tuple[Block, int]] = {}
        self._owners: dict[Block, _Owner] = {}
        self.equations: dict[Var, Eqn] = {}
        self._block(body)
        self._results(body)

    def _block(self, block: Block) -> None:
        last = self._last[block] = dict[Var, int]()
        for param in block.params:
            self._defined[param] = (block, -1)
        for index, eqn in enumerate(block.eqns):
            for inner in eqn.blocks:
                self._owners[inner] = _Owner(eqn, block, index)
                self._block(inner)
                last.update(dict.fromkeys(self._last[inner], index))
            for var in self._reads(eqn):
                if not self._walks_over_shapes(eqn, var):
                    last[var] = index
            for out in eqn.outs:
                self._defined[out] = (block, index)
                self.equations[out] = eqn

    def _reads(self, eqn: Eqn) -> Iterator[Var]:
        handed_on = list(self._handed_on(eqn))
        for var in reads(eqn):
            if var in handed_on:
                handed_on.remove(var)
            else:
                yield var
        for inner in eqn.blocks:
            yield from (atom for atom in self._outs(eqn, inner) if isinstance(atom, Var))

    def _handed_on(self, eqn: Eqn) -> Iterator[Atom]:
        """The operands that an equation hands on as the objects they are."""
        if eqn in self._leading:
            yield from (a for a in eqn.args if isinstance(a, Var))
        elif eqn.op in ABOUT_OBJECTS:
            yield from (a for a in eqn.args if isinstance(a, Var) and a in self._own)
        elif eqn.op is CALL:
            changed = (eqn.args[number] for number, _ in eqn.param("updates", ()))
            yield from (a for a in changed if isinstance(a, Var) and a in self._own)
        elif eqn.op in LOOPS:
            loop = view(eqn)
            pairs = zip(loop.initials, loop.carried, strict=True)
            yield from (atom for atom, param in pairs if param in self._own)
        elif eqn.op is TRY:
            pairs = zip(eqn.args, eqn.outs[1:], strict=True)
            yield from (atom for atom, out in pairs if out in self._own)

    def _outs(self, eqn: Eqn, block: Block) -> list[Atom]:
        """The results of an equation's block, without what is handed on as the object it is."""
        if eqn.op in LOOPS and block is eqn.blocks[-1]:
            loop = view(eqn)
            pairs = zip(loop.results, loop.carried, strict=True)
            results = [atom for atom, param in pairs if param not in self._own]
            return [*results, *loop.collected, *(() if loop.stop is None else (loop.stop,))]
        if eqn.op in (IF, TRY):
            outs, _ = alternatives(eqn)
            pairs = zip(block.outs, outs, strict=True)
            return [atom for atom, out in pairs if out not in self._own]
        return list(block.outs)

    def _results(self, block: Block) -> None:
        """The results of a block are used; not those that a loop collects for their shapes alone."""
        owner = self._owners.get(block)
        if owner is None:
            outs = [out for k, out in enumerate(block.outs) if k not in self._updated]
        else:
            outs = self._outs(owner.eqn, block)
        if owner is not None and owner.eqn.op in LOOPS and block is owner.eqn.blocks[-1]:
            loop = view(owner.eqn)
            for atom, collected in zip(loop.collected, loop.lists, strict=True):
                array = isinstance(atom, Var) and isinstance(atom.kind, Array)
                if array and collected not in self._last[owner.block]:
                    outs.remove(atom)
        for atom in outs:
            if isinstance(atom, Var):
                self._last[block][atom] = len(block.eqns)
        for eqn in block.eqns:
            for inner in eqn.blocks:
                self._results(inner)

    def _walks_over_shapes(self, eqn: Eqn, var: Var) -> bool:
        """Whether a loop looks only at the shapes of the arrays that another loop collected."""
        source = self.equations.get(var)
        if eqn.op not in LOOPS or source is None or source.op not in LOOPS or var in self._written:
            return False
        loop = view(eqn)
        if var not in view(source).lists or var in loop.initials:
            return False
        items = [i for i, each in zip(loop.items, loop.iterables, strict=True) if each is var]
        used = {*self._last[loop.body], *loop.body.outs}
        return all(isinstance(item.kind, Array) and item not in used for item in items)

    def defined_at(self, var: Var) -> tuple[Block, int]:
        """The block that defines a value and the number of the equation there."""
        return self._defined[var]

    def owner(self, block: Block) -> _Owner | None:
        """The equation that owns a block."""
        return self._owners.get(block)

    def used_in(self, var: Var, block: Block) -> bool:
        """Whether a block, or one inside it, uses a value."""
        return var in self._last[block]

    def place_in(self, home: Block, block: Block, index: int) -> int | None:
        """The equation of `home` in which a place is; None if it is not inside of it."""
        while block is not home:
            owner = self._owners.get(block)
            if owner is None:
                return None
            block, index = owner.block, owner.at
        return index

    def live_after(self, var: Var, block: Block, index: int) -> bool:
        """Whether a value may be used once the equation at a place has run."""
        home, _ = self._defined[var]
        while True:
            if self._last[block].get(var, -1) > index:
                return True
            if block is home:
                return False
            owner = self._owners.get(block)
            if owner is None:
                return False
            if owner.eqn.op in LOOPS and any(var in self._last[b] for b in owner.eqn.blocks):
                return True  # in the next iteration
            block, index = owner.block, owner.at


def reads(eqn: Eqn) -> Iterator[Var]:
    """What an equation reads of values, not counting arrays whose shape alone it looks at."""
    if eqn.op is COMMENT:
        return
    for k, atom in enumerate(eqn.args):
        if isinstance(atom, Var) and not (isinstance(atom.kind, Array) and _shape_only(eqn, k)):
            yield atom
    for name, atom in eqn.params.items():
        if isinstance(atom, Var) and not (isinstance(atom.kind, Array) and name == "like"):
            yield atom


def _shape_only(eqn: Eqn, k: int) -> bool:
    if k == 0:
        return eqn.op in _SHAPE_OF_FIRST
    return k == 1 and (eqn.op in _SHAPE_OF_SECOND or eqn.op.name in _SHAPE_OF_SECOND_BY_NAME)
