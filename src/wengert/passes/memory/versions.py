"""Versions: where writes in place need copies.

The IR has no memory; the printed program has. In: a function that nobody differentiates any more. Out:
the same function, in which every write may be executed in place on its first operand:

- what a write of the program itself changes, and derivative code reads later, is read from a
  *snapshot* taken before;
- derivative code writes to a copy where the old version, or what shares memory with it, is read later
  or belongs to somebody else.

The program itself never reads an old version (the front end reads everything again after a write), and
its writes reach the very object, so what they write to is never a copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...errors import InternalError
from ...ir.builder import kind_of_atom
from ...ir.graph import IF, TRY, Atom, Block, Const, Eqn, Function, Var, used_in
from ...ir.records import replace
from ...ir.renaming import renamed_atom
from ...ir.types import FLOAT, INT, UNKNOWN, Array
from ...ops import structure as st
from ...ops.program import memory as me
from ..analysis.groups import Given
from ..analysis.unbound import with_unbound_marked
from ..analysis.uses import Uses
from ..analysis.write_sets import ABOUT_OBJECTS, WRITES, direct, leading_to_own, same_object_sources
from ..blocks.loops import LOOPS, view
from .may_alias import Related
from .relations import Plan
from .shadows import same_step

_ROUNDS = 50


def versioned(function: Function, given: Given) -> Function:
    """The function with the copies that writing in place takes."""
    function = direct(function)
    function = replace(function, body=_with_sums_stored(function.body))
    for _ in range(_ROUNDS):
        uses = Uses(function.body, same_object_sources(function.body, WRITES | ABOUT_OBJECTS))
        plan = Related(function.body, uses, given).plan
        if not plan:
            return with_unbound_marked(function)
        function = replace(function, body=_Rewriting(function.body, plan, uses, given).body())
    raise InternalError(f"the copies that {function.name} needs were not found")


class _Rewriting:
    """Puts the copies of a plan into a function."""

    def __init__(self, body: Block, plan: Plan, uses: Uses, given: Given):
        self._body = body
        self._plan = plan
        self._uses = uses
        self._given = given
        self._lineage = same_object_sources(body, ABOUT_OBJECTS)
        """What the program's own writes may write to: it stays the very object."""
        self._leading = leading_to_own(body)

    def body(self) -> Block:
        made = self._block(self._body, {})
        outs = list(made.outs)
        for k in self._given.updated:
            outs[k] = self._body.outs[k]
        return replace(made, outs=tuple(outs))

    def _block(
        self,
        block: Block,
        mapping: Mapping[Var, Atom],
        collected: Mapping[int, Var] = {},
        later: Mapping[Var, Atom] = {},
    ) -> Block:
        """A block with copies; `collected` are the results, by number, that are collected as snapshots.

        What a write changes is read by its name in `later` from there on.
        """
        names = dict(mapping)
        later = {var: atom for var, atom in later.items() if names.get(var) is not atom}
        kept: dict[Var, Var] = {}
        eqns: list[Eqn] = []
        self._keep(block, -1, collected, kept, eqns)
        for index, eqn in enumerate(block.eqns):
            inside = dict(names)
            for var in [var for var in later if self._writes(var, block, index)]:
                inside[var] = later.pop(var)
            for var in self._plan.cut_at(block, index):
                if var not in kept:
                    kept[var] = self._snapshot(var, eqns, var.name)
                inside[var] = kept[var]
            eqns += self._eqn(eqn, names, inside)
            names = inside
            self._keep(block, index, collected, kept, eqns)
        outs = [renamed_atom(out, names) for out in block.outs]
        for number, var in collected.items():
            outs[number] = kept[var]
        return Block(block.params, tuple(eqns), tuple(outs))

    def _writes(self, var: Var, block: Block, index: int) -> bool:
        """Whether an equation changes a value that has a snapshot, or holds an equation that does."""
        writers = self._plan.writers[var]
        return any(self._uses.place_in(block, *writer) == index for writer in writers)

    def _keep(
        self,
        block: Block,
        index: int,
        collected: Mapping[int, Var],
        kept: dict[Var, Var],
        eqns: list[Eqn],
    ) -> None:
        """Take snapshots of values that were just defined, or before the block, and will be collected."""
        for var in collected.values():
            home, defined = self._uses.defined_at(var)
            if var not in kept and (-1 if home is not block else defined) == index:
                kept[var] = self._snapshot(var, eqns, "")

    def _snapshot(self, atom: Atom, eqns: list[Eqn], name: str, *, parted: bool = False) -> Var:
        assert isinstance(atom, Var)
        copy = Var(atom.kind, name, atom.shape_of)
        eqns.append(Eqn((copy,), me.snapshot, (atom,), {"parted": Const(True)} if parted else {}))
        return copy

    def _own(self, atom: Atom, eqns: list[Eqn], name: str) -> Var:
        """A copy that derivative code may write to: no two items of it are one object."""
        return self._snapshot(atom, eqns, name, parted=not isinstance(kind_of_atom(atom), Array))

    # --- equations ------------------------------------------------------------------------

    def _eqn(
        self, eqn: Eqn, names: Mapping[Var, Atom], inside: Mapping[Var, Atom]
    ) -> Sequence[Eqn]:
        if eqn.op is IF:
            return [self._if(eqn, names, inside)]
        if eqn.op is TRY:
            return [self._try(eqn, names, inside)]
        if eqn.op in LOOPS:
            return self._loop(eqn, names, inside)
        if eqn.op in ABOUT_OBJECTS:
            return [eqn]
        if eqn in self._leading:
            names = {}
        eqns: list[Eqn] = []
        own = {
            number for number, _ in eqn.param("updates", ())
        }  # a callee writes to the very object
        args = [a if k in own else renamed_atom(a, names) for k, a in enumerate(eqn.args)]
        for k, out in eqn.param("handed", ()):
            if (eqn, eqn.outs[out]) in self._plan.handed:
                args[k] = self._own(args[k], eqns, eqn.outs[out].name)
        if eqn in self._plan.copies:
            first = eqn.outs[0]
            args[0] = self._own(args[0], eqns, first.name)
        if eqn in self._plan.taken:
            args[-1] = self._own(args[-1], eqns, "")
        params = {name: renamed_atom(atom, names) for name, atom in eqn.params.items()}
        made = replace(eqn, args=tuple(args), params=params)
        return [*eqns, *self._parted(made)] if eqn in self._plan.parted else [*eqns, made]

    def _parted(self, eqn: Eqn) -> list[Eqn]:
        """What makes a container, and a copy of it where no two items are one object."""
        (out,) = eqn.outs
        made = Var(out.kind, out.name, out.shape_of)
        return [
            replace(eqn, outs=(made,)),
            Eqn((out,), me.snapshot, (made,), {"parted": Const(True)}),
        ]

    def _if(self, eqn: Eqn, names: Mapping[Var, Atom], inside: Mapping[Var, Atom]) -> Eqn:
        blocks = [self._branch(eqn, k, eqn.outs, names, inside) for k in range(len(eqn.blocks))]
        args = tuple(renamed_atom(atom, names) for atom in eqn.args)
        return replace(eqn, args=args, blocks=tuple(blocks))

    def _try(self, eqn: Eqn, names: Mapping[Var, Atom], inside: Mapping[Var, Atom]) -> Eqn:
        block = self._branch(eqn, 0, eqn.outs[1:], names, inside)
        args = tuple(
            atom if out in self._lineage else renamed_atom(atom, names)
            for out, atom in zip(eqn.outs[1:], eqn.args, strict=True)
        )
        return replace(eqn, args=args, blocks=(block,))

    def _branch(
        self,
        eqn: Eqn,
        number: int,
        outs: Sequence[Var],
        names: Mapping[Var, Atom],
        later: Mapping[Var, Atom],
    ) -> Block:
        """A block of an `if` or `try`; some of its results may end as snapshots."""
        block = eqn.blocks[number]
        changed = self._block(block, names, later=later)
        eqns = list(changed.eqns)
        results: list[Atom] = []
        for k, out in enumerate(outs):
            if (eqn, k, number) in self._plan.merged:
                results.append(self._snapshot(changed.outs[k], eqns, ""))
            else:
                results.append(block.outs[k] if out in self._lineage else changed.outs[k])
        return Block(changed.params, tuple(eqns), tuple(results))

    def _loop(
        self, eqn: Eqn, names: Mapping[Var, Atom], inside: Mapping[Var, Atom]
    ) -> Sequence[Eqn]:
        loop = view(eqn)
        eqns: list[Eqn] = []
        initials: list[Atom] = []
        for k, (atom, param) in enumerate(zip(loop.initials, loop.carried, strict=True)):
            initial = atom if param in self._lineage else renamed_atom(atom, names)
            if (eqn, k) in self._plan.initials:
                initial = self._own(initial, eqns, param.name)
            initials.append(initial)
        iterables = [renamed_atom(atom, names) for atom in loop.iterables]
        first = len(loop.body.outs) - len(loop.collected)
        collected: dict[int, Var] = {}
        for c, atom in enumerate(loop.collected):
            if (eqn, c) in self._plan.collected and isinstance(atom, Var):
                collected[first + c] = atom
        blocks = [self._block(block, inside) for block in eqn.blocks[:-1]]
        body = self._block(loop.body, inside, collected)
        start = first - len(loop.carried)
        outs = list(body.outs)
        for k, param in enumerate(loop.carried):
            if param in self._lineage:
                outs[start + k] = loop.body.outs[start + k]
        blocks.append(replace(body, outs=tuple(outs)))
        return [*eqns, replace(eqn, args=(*iterables, *initials), blocks=tuple(blocks))]


# --- adding to what was just cleared --------------------------------------------------------


def _with_sums_stored(block: Block, uses: Counter[Var] | None = None) -> Block:
    """`b[i] = 0.0; b[i] += v` becomes `b[i] = v`."""
    uses = Counter(used_in(block)) if uses is None else uses
    defined = {out: eqn for eqn in block.eqns for out in eqn.outs}
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        if eqn.blocks:
            blocks = tuple(_with_sums_stored(inner, uses) for inner in eqn.blocks)
            eqns.append(replace(eqn, blocks=blocks))
            continue
        cleared = defined.get(eqn.args[0]) if eqn.op is st.add_at else None  # type: ignore[arg-type]
        if cleared is not None and uses[cleared.outs[0]] == 1 and _clears(cleared, eqn):
            eqns.remove(cleared)
            eqns.append(replace(eqn, op=me.stored, args=(cleared.args[0], *eqn.args[1:])))
        else:
            eqns.append(eqn)
    return replace(block, eqns=tuple(eqns))


def _clears(cleared: Eqn, added: Eqn) -> bool:
    """Whether an equation stores zero in the very element that another adds to."""
    if cleared.op is not me.stored or cleared.args[-1] != Const(0.0):
        return False
    where, there = cleared.args[1:-1], added.args[1:-1]
    if len(where) != len(there) or not all(map(same_step, where, there)):
        return False
    element = kind_of_atom(where[-1]) == INT
    return element and kind_of_atom(added.args[-1]) == FLOAT and me.holder(cleared) != UNKNOWN
