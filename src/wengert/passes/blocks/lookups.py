"""Lists that are only looked up are put together before the loops that do not change them.

In: any function. Out: the same function, in which a list of numbers, or of such lists, that a loop asks for
an item known only at run time stands before the loop, once. So its cotangent is one list as well, which the
reversed loop adds to.
"""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import IF, Atom, Block, Const, Eqn, Function, Var, walk
from ...ir.records import replace
from ...ir.renaming import renamed_atom, renamed_block
from ...ir.types import Number
from ...ops.structure import getitem, pack
from .loops import LOOPS


def with_lookups_ahead(function: Function) -> Function:
    """A function whose loops do not put together again what is only looked up in them."""
    loops = [eqn for eqn in walk(function.body) if eqn.op in LOOPS]
    if not any(eqn.op is pack for loop in loops for block in loop.blocks for eqn in walk(block)):
        return function
    lifting = _Lifting(_only_looked_up(function.body))
    body, _ = lifting.block(function.body, inside=False)
    return replace(function, body=renamed_block(body, lifting.same))


def _only_looked_up(body: Block) -> set[Var]:
    """The lists of numbers, and of such lists, of which nothing is asked but items."""
    packs: dict[Var, Eqn] = {}
    looked_up: dict[Var, Atom] = {}
    escaping: list[Atom] = [*body.outs]
    for eqn in walk(body):
        escaping += [out for block in eqn.blocks for out in block.outs]
        if eqn.op is pack and all(_is_fixed(arg, packs) for arg in eqn.args):
            packs[eqn.outs[0]] = eqn
        elif eqn.op is getitem and (eqn.args[0] in packs or eqn.args[0] in looked_up):
            if not isinstance(eqn.outs[0].kind, Number):
                looked_up[eqn.outs[0]] = eqn.args[0]
            escaping += eqn.args[1:]
        else:
            escaping += eqn.operands()
    while escaping:
        atom = escaping.pop()
        if atom in packs:
            escaping += packs.pop(atom).args
        elif atom in looked_up:
            escaping.append(looked_up.pop(atom))
    return set(packs)


def _is_fixed(atom: Atom, packs: dict[Var, Eqn]) -> bool:
    return isinstance(atom, Const) or isinstance(kind_of_atom(atom), Number) or atom in packs


class _Lifting:
    """Moves lists out of loops; `same` says which of them are others by now."""

    def __init__(self, movable: set[Var]):
        self.movable = movable
        self.same: dict[Var, Atom] = {}

    def block(self, block: Block, inside: bool) -> tuple[Block, list[Eqn]]:
        """A block without what can stand before the loop around it, and that."""
        here, there, ahead = set(block.params), dict[object, Var](), list[Eqn]()
        eqns: list[Eqn] = []
        for original in block.eqns:
            whole, lifted = self._lifted(original, inside)
            for eqn in (*lifted, whole):
                movable = eqn.op is pack and eqn.outs[0] in self.movable
                args = tuple(renamed_atom(arg, self.same) for arg in eqn.args) if movable else ()
                if movable and inside and here.isdisjoint(args):
                    ahead.append(eqn)
                elif not (movable and self._is_there(eqn, args, there)):
                    eqns.append(eqn)
                    here.update(eqn.outs)
        return replace(block, eqns=tuple(eqns)), ahead

    def _lifted(self, eqn: Eqn, inside: bool) -> tuple[Eqn, list[Eqn]]:
        if eqn.op is not IF and eqn.op not in LOOPS:
            return eqn, []
        parts = [self.block(block, inside or eqn.op in LOOPS) for block in eqn.blocks]
        blocks = tuple(block for block, _ in parts)
        return replace(eqn, blocks=blocks), [each for _, ahead in parts for each in ahead]

    def _is_there(self, eqn: Eqn, args: tuple[Atom, ...], there: dict[object, Var]) -> bool:
        """Whether a list of the same items stands before in the block: then it is that."""
        first = there.setdefault((args, *eqn.params.values()), eqn.outs[0])
        if first is not eqn.outs[0]:
            self.same[eqn.outs[0]] = first
        return first is not eqn.outs[0]
