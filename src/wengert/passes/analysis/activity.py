"""Activity: which values depend on a differentiated input and reach the output.

Only these get a tangent or a cotangent. Loop counters, shapes, indices, strings and comparisons
never do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import (
    CALL,
    IF,
    TRY,
    Atom,
    Block,
    Const,
    Eqn,
    Function,
    Var,
    alternatives,
    with_called,
)
from ...ir.types import COUNTS, is_differentiable
from ...ops import structure as st
from ..blocks.loops import LOOPS, Loop, view
from .active_operands import operands_of, takes_options
from .active_refusals import refuse_active_options, refuse_cut_off
from .caught import HOLDING, carries
from .read_back import numbers_read_back, refuse_numbers_read_back

BRANCHES = (IF, TRY)


def active(block: Block, varied: Iterable[Var], useful: Iterable[Var]) -> set[Var]:
    """The values, at every depth of a block, that a derivative flows through.

    Args:
        block: the program.
        varied: the values it is differentiated with respect to.
        useful: the values whose derivative is wanted.
    """
    reach = _Reach()
    forward = _Varied(dict.fromkeys(varied, 1), reach)
    forward.block(block)
    dependent = set(forward.varied)
    refuse_active_options(block, dependent)
    read_back = numbers_read_back(block, dependent)
    if read_back:
        forward.varied.update(dict.fromkeys(read_back, 1))
        forward.block(block)
    backward = _Useful(set(useful), set(forward.varied), reach)
    backward.block(block)
    found = backward.varied & backward.useful
    refuse_cut_off(block, found)
    refuse_numbers_read_back(read_back, found)
    return found


def depending(block: Block, varied: Iterable[Var]) -> set[Var]:
    """The values, at every depth of a block, that may change with some others."""
    forward = _Varied(dict.fromkeys(varied, 1), _Reach())
    forward.block(block)
    return set(forward.varied)


def dependences(block: Block, bits: Mapping[Var, int]) -> Mapping[Var, int]:
    """For every value at every depth of a block, the bits of those that it may change with."""
    forward = _Varied(dict(bits), _Reach())
    forward.block(block)
    return forward.varied


def dependences_of_turns(loop: Loop, bits: Mapping[Var, int]) -> Mapping[Var, int]:
    """The same for the turns of a loop, which starts from values that depend on nothing."""
    forward = _Varied(dict(bits), _Reach())
    changed = True
    while changed:
        forward.block(loop.body)
        changed = forward.copy(loop.results, loop.carried)
    return forward.varied


class _Varied:
    """Forward: what depends on which of the differentiated values.

    Attributes:
        varied: for each value that depends on some, a bit for each of them.
    """

    def __init__(self, varied: dict[Var, int], reach: _Reach):
        self.varied = varied
        self.reach = reach
        self.holders: set[Atom] = set()
        """What holds such values and has no derivative itself: exceptions, above all."""
        self.tuples: dict[Atom, Eqn] = {}
        """How tuples are made: an item depends on what it is, whatever else is in the tuple."""

    def mark(self, var: Var, bits: int) -> bool:
        before = self.varied.get(var, 0)
        if bits | before == before or not is_differentiable(var.kind):
            return False
        self.varied[var] = bits | before
        return True

    def bits(self, atoms: Iterable[Atom]) -> int:
        found = 0
        for atom in atoms:
            found |= self.varied.get(atom, 0)  # type: ignore[arg-type]
        return found

    def block(self, block: Block) -> None:
        for eqn in block.eqns:
            if eqn.op in HOLDING and any(a in self.varied or a in self.holders for a in eqn.args):
                self.holders.update(eqn.outs)
            if eqn.op in BRANCHES:
                self.branches(eqn)
            elif eqn.op in LOOPS:
                self.loop(eqn)
            elif eqn.op is CALL:
                for out, args in zip(eqn.outs, self.reach.sources(eqn), strict=True):
                    self.mark(out, self.bits(args))
            elif bits := self.bits(self.sources(eqn)):
                for out in eqn.outs:
                    self.mark(out, bits)
            if eqn.op is st.pack and eqn.param("form") == "tuple":
                self.tuples[eqn.outs[0]] = eqn

    def sources(self, eqn: Eqn) -> Iterable[Atom]:
        """The operands of an equation in which its results may have a derivative."""
        if eqn.namespace == "call" and takes_options(eqn.op):
            return [atom for atom in operands_of(eqn) if kind_of_atom(atom) not in COUNTS]
        if eqn.op is not st.getitem or eqn.args[0] not in self.tuples:
            return operands_of(eqn)
        made, key = self.tuples[eqn.args[0]], eqn.args[1]
        keys = made.param("keys")
        if not isinstance(key, Const) or key.value not in keys:
            return operands_of(eqn)
        return made.args[keys.index(key.value) : keys.index(key.value) + 1]

    def branches(self, eqn: Eqn) -> None:
        outs, blocks = alternatives(eqn)
        for inner in blocks:
            self.block(inner)
            self.copy(inner.outs, outs)
        if eqn.op is TRY and carries(eqn.blocks[0], {*self.varied, *self.holders}):
            self.mark(eqn.outs[0], self.bits(self.varied))

    def loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        self.copy(loop.iterables, loop.items)
        self.copy(loop.initials, loop.carried)
        changed = True
        while changed:
            self.block(loop.body)
            changed = self.copy(loop.results, loop.carried)
        self.copy(loop.carried, loop.outs)
        self.copy(loop.collected, loop.lists)

    def copy(self, sources: Sequence[Atom], targets: Sequence[Var]) -> bool:
        pairs = zip(sources, targets, strict=True)
        marked = [self.mark(target, self.bits((source,))) for source, target in pairs]
        return any(marked)


class _Reach:
    """Which results of the functions that are called depend on which of their arguments."""

    def __init__(self) -> None:
        self._found: dict[int, list[int]] = {}
        """For each function, by identity, the arguments of each result, a bit for each of them."""

    def sources(self, eqn: Eqn) -> list[list[Atom]]:
        """For each result of a call, the arguments it depends on."""
        function: Function | None = eqn.param("callee").function
        if function is None or len(function.body.outs) != len(eqn.outs):
            return [list(eqn.args) for _ in eqn.outs]
        if id(function) not in self._found:
            self._find(function)
        return [
            [arg for k, arg in enumerate(eqn.args) if bits >> k & 1]
            for bits in self._found[id(function)]
        ]

    def _find(self, function: Function) -> None:
        """The least dependences that agree with each other, for functions that call each other."""
        called = with_called(function)
        found = {id(each): [0] * len(each.body.outs) for each in called}
        self._found |= found
        changed = True
        while changed:
            before = {each: self._found[each] for each in found}
            self._found |= {id(each): self._dependences(each) for each in called}
            changed = any(self._found[each] != before[each] for each in found)

    def _dependences(self, function: Function) -> list[int]:
        params = {param: 1 << k for k, param in enumerate(function.body.params)}
        inside = _Varied(params, self)
        inside.block(function.body)
        return [inside.bits((out,)) for out in function.body.outs]


class _Useful:
    """Backward: what the wanted values depend on."""

    def __init__(self, useful: set[Var], varied: set[Var], reach: _Reach):
        self.useful = useful
        self.varied = varied
        self.reach = reach

    def mark(self, atoms: Iterable[Atom]) -> None:
        self.useful.update(atom for atom in atoms if isinstance(atom, Var) and atom in self.varied)

    def block(self, block: Block) -> None:
        for eqn in reversed(block.eqns):
            if eqn.op in LOOPS:
                self.loop(eqn)
            elif not any(out in self.useful for out in eqn.outs):
                continue
            elif eqn.op in BRANCHES:
                self.branches(eqn)
            elif eqn.op is CALL:
                for out, args in zip(eqn.outs, self.reach.sources(eqn), strict=True):
                    self.mark(args if out in self.useful else ())
            else:
                self.mark(operands_of(eqn))

    def branches(self, eqn: Eqn) -> None:
        outs, blocks = alternatives(eqn)
        for inner in blocks:
            pairs = zip(outs, inner.outs, strict=True)
            self.mark(result for out, result in pairs if out in self.useful)
            self.block(inner)

    def loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        if not any(out in self.useful for out in eqn.outs):
            return
        self.copy(loop.lists, loop.collected)
        self.copy(loop.outs, loop.carried)
        before = -1
        while before != len(self.useful):
            before = len(self.useful)
            self.copy(loop.carried, loop.results)
            self.block(loop.body)
        self.copy(loop.carried, loop.initials)
        self.copy(loop.items, loop.iterables)
        self.copy(loop.carried, loop.outs)

    def copy(self, needed: Sequence[Var], sources: Sequence[Atom]) -> None:
        self.mark(source for var, source in zip(needed, sources, strict=True) if var in self.useful)
