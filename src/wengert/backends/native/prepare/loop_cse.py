"""Loops that have run already are not run again.

In: a function with loops over numbers. Out: the same function, in which the results of a loop are those of an earlier
one that does the same from the same start. The value of a function and its derivative are often asked for one after
the other, as a search for a minimum does, and both begin with the function itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....ir.builder import kind_of_atom
from ....ir.graph import FOR, IF, WHILE, Atom, Block, Eqn, Function, Var, walk
from ....ir.records import replace
from ....ir.renaming import renamed_atom, renamed_eqn
from ....ir.types import Number

_CONTROL = (FOR, IF, WHILE)
Key = Any
"""What two equations have in common that compute the same; None if that cannot be said of one."""


def run_once(function: Function) -> Function:
    """The function without loops that have run already."""
    if not any(eqn.op in (FOR, WHILE) for eqn in walk(function.body)):
        return function
    return replace(function, body=_Running({}, {}).block(function.body))


class _Running:
    """What has been computed where we are.

    Attributes:
        found: the results of equations, by their keys.
        same: the earlier name of a result.
    """

    def __init__(self, found: Mapping[Key, tuple[Var, ...]], same: Mapping[Var, Atom]):
        self.found = dict(found)
        self.same = dict(same)
        self.dropped: dict[Var, Atom] = {}

    def block(self, block: Block) -> Block:
        eqns: list[Eqn] = []
        for eqn in block.eqns:
            made = renamed_eqn(eqn, self.dropped) if self.dropped else eqn
            key = _key(made, _Names(self.same))
            earlier = self.found.setdefault(key, made.outs) if key is not None else made.outs
            if earlier is not made.outs:
                self.same.update(zip(made.outs, earlier, strict=True))
            if earlier is not made.outs and made.op in (FOR, WHILE):
                self.dropped.update(zip(made.outs, earlier, strict=True))
                continue
            inner = tuple(_Running(self.found, self.same).block(each) for each in made.blocks)
            eqns.append(replace(made, blocks=inner) if inner else made)
        outs = tuple(renamed_atom(out, self.dropped) for out in block.outs)
        return replace(block, eqns=tuple(eqns), outs=outs)


class _Names:
    """What values are called in a key: by the first of those that are the same, and by number inside a loop."""

    def __init__(self, same: Mapping[Var, Atom]):
        self._same = same
        self._inside: dict[Var, int] = {}

    def enter(self, values: tuple[Var, ...]) -> None:
        for value in values:
            self._inside[value] = len(self._inside)

    def of(self, atom: Atom) -> Any:
        atom = renamed_atom(atom, self._same)
        return self._inside.get(atom, atom) if isinstance(atom, Var) else atom


def _key(eqn: Eqn, names: _Names) -> Key:
    """The key of an equation over numbers without effects; None for others."""
    op = eqn.op
    if op.effect or (op.control and op not in _CONTROL):
        return None
    if not all(isinstance(kind_of_atom(x), Number) for x in (*eqn.outs, *eqn.args)):
        return None
    blocks = tuple(_key_of_block(block, names) for block in eqn.blocks)
    if None in blocks:
        return None
    params = tuple((name, names.of(atom)) for name, atom in eqn.params.items())
    return op.name, eqn.namespace, tuple(map(names.of, eqn.args)), params, blocks


def _key_of_block(block: Block, names: _Names) -> Key:
    names.enter(block.params)
    keys: list[Key] = []
    for eqn in block.eqns:
        if eqn.op.name == "evaluated":  # what it asks for is computed in both, or the keys differ
            continue
        keys.append(_key(eqn, names))
        if keys[-1] is None:
            return None
        names.enter(eqn.outs)
    return tuple(keys), tuple(map(names.of, block.outs))
