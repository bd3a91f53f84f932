"""Which parts of what a program is given, or reads outside, it changes: the ways to what its writes change."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Block, Eqn, Var, walk
from ...ir.types import Array, Number, Static
from ...ops.program import memory as me
from ..blocks.flow import merged
from ..blocks.loops import LOOPS, view
from .write_sets import targets

Way = tuple[Atom, ...]
"""Steps from a parameter; one that is a variable leads to any item."""


def changed_parts(body: Block, roots: Iterable[Var]) -> tuple[tuple[Var, Way], ...] | None:
    """From each root the ways to what is changed; None if not all are known: a function that is called changes some."""
    versions = _Versions(body, roots)
    return None if versions.is_unknown else tuple(versions.ways)


class _Versions:
    """What is written to, back to the roots: a write makes a new version of the value."""

    def __init__(self, body: Block, roots: Iterable[Var]):
        self.is_unknown = False
        self.ways: dict[tuple[Var, Way], None] = {}
        self._origins: dict[Atom, Var] = {root: root for root in roots}
        self._parts: set[Atom] = set()
        """What was taken out of a root, and may be written to by itself."""
        before = -1
        while before != len(self._parts) + len(self._origins):
            before = len(self._parts) + len(self._origins)
            for eqn in walk(body):
                if eqn.blocks:
                    self._control(eqn)
                else:
                    self._written(eqn)

    def _control(self, eqn: Eqn) -> None:
        for version, sources in merged(eqn):
            for source in sources:
                origin = self._origins.get(source)
                if source in self._parts:
                    self._parts.add(version)
                if origin is not None:
                    self.is_unknown |= self._origins.setdefault(version, origin) is not origin
        if eqn.op in LOOPS:
            loop = view(eqn)
            if any(map(self._is_given, loop.iterables)):
                self._parts.update(loop.items)

    def _is_given(self, atom: Atom) -> bool:
        return atom in self._origins or atom in self._parts

    def _is_put(self, atom: Atom) -> bool:
        return self._is_given(atom) and not isinstance(kind_of_atom(atom), (Number, Array, Static))

    def _written(self, eqn: Eqn) -> None:
        written = targets(eqn)
        if not written and not eqn.op.elementwise and any(map(self._is_given, eqn.operands())):
            self._parts.update(eqn.outs)
        # what is put into another object is changed there as well
        self.is_unknown |= bool(written) and any(map(self._is_put, eqn.args[1:]))
        for target in written:
            self.is_unknown |= target in self._parts
            origin = self._origins.get(target)
            if origin is None:
                continue  # what the program itself has made
            if eqn.op not in me.OWN:
                self.is_unknown = True
                return
            way = eqn.args[1:-1] if eqn.op is me.overwrite else me.path_of(eqn)
            self.ways[origin, tuple(way)] = None
            self._origins[eqn.outs[0]] = origin
