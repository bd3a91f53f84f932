"""Of which value another is a later version, or the same object."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ....ir.builder import kind_of_atom
from ....ir.graph import FOR, IF, WHILE, Atom, Eqn, Function, Var, walk

_VERSIONS = frozenset(("store", "stored", "add_at", "overwrite"))
_GIVEN_BACK = frozenset(
    ("asarray", "ascontiguousarray", "atleast_1d", "atleast_2d", "atleast_3d", "real")
)
"""Ops that give an array itself where it is what they are to give."""


def lineage(function: Function) -> Callable[[Atom], Atom]:
    """Of which value another is a later version, or which it is: what a chain of writes started from."""
    defined: dict[Var, tuple[Eqn, int]] = {}
    carried: dict[Var, Atom] = {}
    for eqn in walk(function.body):
        defined.update({out: (eqn, k) for k, out in enumerate(eqn.outs)})
        if eqn.op in (FOR, WHILE):
            n = eqn.param("iterables", 0)
            carried.update(zip(eqn.blocks[-1].params[n:], eqn.args[n:], strict=True))

    def source(atom: Atom) -> Atom:
        for step in _steps_back(defined, carried, atom):
            atom = step
        return atom

    return source


def _steps_back(
    defined: dict[Var, tuple[Eqn, int]], carried: dict[Var, Atom], atom: Atom
) -> Iterator[Atom]:
    seen = set[Atom]()
    while isinstance(atom, Var) and atom not in seen:
        seen.add(atom)
        if atom in carried:
            atom = carried[atom]
        elif atom not in defined:
            return
        else:
            eqn, k = defined[atom]
            if eqn.op.name in _VERSIONS or (
                eqn.op.name in _GIVEN_BACK and kind_of_atom(eqn.args[0]) == eqn.outs[k].kind
            ):
                atom = eqn.args[0]
            elif eqn.op in (FOR, WHILE) and k < len(eqn.args) - eqn.param("iterables", 0):
                atom = eqn.args[eqn.param("iterables", 0) + k]
            elif eqn.op is IF:
                atom = eqn.blocks[0].outs[k]
            else:
                return
        yield atom
