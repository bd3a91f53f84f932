"""What writes leave alone is read without waiting for them, and not copied.

In: a function whose writes make new versions of arrays. Out: the same function, in which

- an element that a write does not reach is read from the version before, so that nobody may need the new one;
- an array that nobody writes to is not copied before it is read;
- what is added to a cotangent is added at once, and need not be kept until the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from ....ir.builder import kind_of_atom
from ....ir.graph import Atom, Block, Const, Eqn, Function, Var, used_in, walk
from ....ir.records import replace
from ....ir.renaming import renamed_block
from ....ir.types import Array

_WRITES = frozenset(("stored", "store", "overwrite", "add_at"))
_VIEWS = frozenset(("getitem", "summed_to", "unbroadcast", "snapshot"))
_FRESH = frozenset(("add", "sub", "mul", "neg", "div"))
"""Ops whose results are arrays of their own."""
_READS = _FRESH | {"sum", "shape", "attr.shape", "zeros"}


def with_early_reads(function: Function, dce: Callable[[Function], Function]) -> Function:
    """The function with fewer copies; `dce` leaves out what nobody needs."""
    found = dce(replace(function, body=_block(function.body, _read_before)))
    readers = _Readers(found.body)
    found = replace(found, body=_block(found.body, lambda block: _without_copies(block, readers)))
    uses = Counter(used_in(found.body))
    return replace(found, body=_block(found.body, lambda block: _adding_early(block, uses)))


def _block(block: Block, change: Callable[[Block], Block]) -> Block:
    eqns = tuple(
        replace(eqn, blocks=tuple(_block(inner, change) for inner in eqn.blocks))
        if eqn.blocks
        else eqn
        for eqn in block.eqns
    )
    return change(replace(block, eqns=eqns))


# --- reads --------------------------------------------------------------------------------


def _read_before(block: Block) -> Block:
    defined = {out: eqn for eqn in block.eqns for out in eqn.outs}
    return replace(block, eqns=tuple(_read(eqn, defined) for eqn in block.eqns))


def _read(eqn: Eqn, defined: dict[Var, Eqn]) -> Eqn:
    """A read, of the earliest version that has the same there."""
    if eqn.op.name != "getitem" or not isinstance(kind_of_atom(eqn.args[0]), Array):
        return eqn
    x, index = eqn.args
    while isinstance(x, Var) and (made := defined.get(x)) is not None:
        if made.op.name != "stored" or len(made.args) != 3 or not _apart(made.args[1], index):
            break
        x = made.args[0]
    return replace(eqn, args=(x, index))


def _apart(a: Atom, b: Atom) -> bool:
    """Whether two indices certainly have no element in common."""
    if not isinstance(a, Const) or not isinstance(b, Const):
        return False
    match a.value, b.value:
        case int(k), int(l):
            return k != l and (k < 0) == (l < 0)
        case (int(k), slice() as part) | (slice() as part, int(k)):
            return part.step is None and _outside(k, part)
        case _:
            return False


def _outside(k: int, part: slice) -> bool:
    match part.start, part.stop:
        case int(start), _ if 0 <= k < start:
            return True
        case _, int(stop):
            return stop <= k < 0
        case _:
            return False


# --- copies -------------------------------------------------------------------------------


class _Readers:
    """Who reads which value, and which values blocks hand on."""

    def __init__(self, body: Block):
        self.eqns: dict[Var, list[Eqn]] = {}
        self.handed_on = set(body.outs)
        for eqn in walk(body):
            for atom in eqn.operands():
                if isinstance(atom, Var):
                    self.eqns.setdefault(atom, []).append(eqn)
            for inner in eqn.blocks:
                self.handed_on.update(inner.outs)

    def only_read(self, x: Var) -> bool:
        """Whether all that happens to an array, and to parts of it, is that numbers are read from it."""
        if not isinstance(x.kind, Array):
            return True
        if x in self.handed_on:
            return False
        for eqn in self.eqns.get(x, ()):
            if (
                eqn.op.name in _WRITES
                and isinstance(kind_of_atom(eqn.args[0]), Array)
                and eqn.args[0] is not x
            ):
                continue
            if eqn.op.name in _VIEWS:
                if not self.only_read(eqn.outs[0]):
                    return False
            elif eqn.op.name not in _READS:
                return False
        return True


def _without_copies(block: Block, readers: _Readers) -> Block:
    defined = {out: eqn for eqn in block.eqns for out in eqn.outs}
    same: dict[Var, Atom] = {}
    for eqn in block.eqns:
        if eqn.op.name == "snapshot" and readers.only_read(eqn.outs[0]):
            origin = _origin(eqn.args[0], defined)
            if origin is not None and readers.only_read(origin):
                same[eqn.outs[0]] = eqn.args[0]
    eqns = tuple(eqn for eqn in block.eqns if not same.keys() & set(eqn.outs))
    return renamed_block(replace(block, eqns=eqns), same)


def _origin(atom: Atom, defined: dict[Var, Eqn]) -> Var | None:
    """The array that a value is a part of, if that was computed here and nobody else has it."""
    while isinstance(atom, Var) and (eqn := defined.get(atom)) is not None:
        if eqn.op.name in _FRESH and not eqn.params:
            return atom
        if eqn.op.name not in _VIEWS:
            return None
        atom = eqn.args[0]
    return None


# --- sums ---------------------------------------------------------------------------------


def _adding_early(block: Block, uses: Counter[Var]) -> Block:
    """The block with additions of arrays to a cotangent directly after what they add."""
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        place, moved = len(eqns), [eqn]
        if _adds(eqn, uses) and isinstance(kind_of_atom(eqn.args[-1]), Array):
            needed = _variables(eqn)
            while place and _may_pass(eqns[place - 1]):
                before = eqns[place - 1]
                if not needed.isdisjoint(before.outs):
                    if not _adds(before, uses) or isinstance(kind_of_atom(before.args[-1]), Array):
                        break
                    moved.insert(0, eqns.pop(place - 1))  # a number that is added in between
                    needed |= _variables(before)
                place -= 1
        eqns[place:place] = moved
    return replace(block, eqns=tuple(eqns))


def _adds(eqn: Eqn, uses: Counter[Var]) -> bool:
    """Whether an equation adds to an array that nothing else reads."""
    x = eqn.args[0] if eqn.args else None
    return eqn.op.name == "add_at" and isinstance(x, Var) and uses[x] == 1


def _variables(eqn: Eqn) -> set[Var]:
    return {arg for arg in eqn.args if isinstance(arg, Var)}


def _may_pass(eqn: Eqn) -> bool:
    return not eqn.blocks and not eqn.op.effect and eqn.op.name not in _WRITES - {"add_at"}
