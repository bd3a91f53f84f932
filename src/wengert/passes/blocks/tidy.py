"""Tidying: what nobody needs is left out.

In: any function. Out: a function with the same results and effects, in which every equation has an
effect or a result that is needed, and loops carry only what changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...ir.graph import COMMENT, IF, TRY, WHILE, Atom, Block, Eqn, Function, Var, alternatives, walk
from ...ir.records import replace
from ...ir.renaming import renamed_atom, renamed_block
from ...ir.types import INT
from ...ops.program.may_raise import may_raise
from .loops import LOOPS, Loop, Slot, for_eqn, view, while_eqn


def tidy(function: Function) -> Function:
    """Leave out dead code, and loop-carried values that never change."""
    body = _without_invariants(function.body)
    return dce(replace(function, body=body))


# --- dead code ----------------------------------------------------------------------------


def dce(function: Function) -> Function:
    """Leave out equations without effects and loop and branch results that nobody needs."""
    needed = Needed(function.body)
    return replace(function, body=_kept_block(function.body, function.body.outs, needed))


def only_needed(block: Block) -> Block:
    """The equations of a block that its results need, whatever effects the others have."""
    return _kept_block(block, block.outs, Needed(block, effects=False))


class Needed:
    """The needed values and equations, found by walking from effects and results to what they use.

    Every value and every equation is visited once, whatever the nesting. `unasked` are operands that an
    equation can do without. Without `raising`, what a `try` is there for is needed only where it is read.
    """

    def __init__(
        self,
        body: Block,
        effects: bool = True,
        unasked: Callable[[Eqn], Iterable[Atom]] | None = None,
        raising: bool = True,
    ):
        self._unasked = unasked
        self._raising = raising
        self.values: set[Var] = set()
        self.eqns: set[Eqn] = set()
        self._defined_by: dict[Var, Eqn] = {}
        self._around: dict[Eqn, Eqn | None] = {}
        self._loops: dict[Eqn, Loop] = {}
        self._pending: list[Var] = []
        self._index(body, None)
        for eqn in walk(body):
            if effects and (eqn.op.effect or (eqn.op.domain and eqn.namespace == "math")):
                self._keep(eqn)
        self._want(body.outs)
        self._follow_all()

    def _index(self, block: Block, around: Eqn | None) -> None:
        for eqn in block.eqns:
            self._around[eqn] = around
            for out in eqn.outs:
                self._defined_by[out] = eqn
            for inner in eqn.blocks:
                for param in inner.params:
                    self._defined_by[param] = eqn
                self._index(inner, eqn)

    def _follow_all(self) -> None:
        while self._pending:
            while self._pending:
                self._follow(self._pending.pop())
            for loop in self._loops.values():
                if not self.walked(loop):
                    self._want((next((x for x in loop.items if x.kind == INT), loop.items[0]),))

    def walked(self, loop: Loop) -> list[int]:
        """The iterables, by number, that a loop has to walk over."""
        if not is_side_by_side(loop):
            return list(range(len(loop.items))) or [0]
        return [k for k, item in enumerate(loop.items) if item in self.values]

    def _want(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and atom not in self.values:
                self.values.add(atom)
                self._pending.append(atom)

    def keep(self, eqn: Eqn) -> None:
        """Keep an equation that neither has an effect nor is needed, and what it needs."""
        self._keep(eqn)
        self._follow_all()

    def _keep(self, eqn: Eqn | None) -> None:
        """Keep an equation and the loops and branches around it."""
        while eqn is not None and eqn not in self.eqns:
            self.eqns.add(eqn)
            if eqn.op in LOOPS:
                loop = self._loops.setdefault(eqn, view(eqn))
                self._want(() if is_side_by_side(loop) else loop.iterables)
                self._want(() if loop.stop is None else (loop.stop,))
                self._want(() if loop.test is None else loop.test.outs)
                self._want(eqn.params.values())
            elif eqn.op is TRY:
                self._keep_what_raises(eqn)
            else:
                spared = () if self._unasked is None else self._unasked(eqn)
                self._want(atom for atom in eqn.operands() if atom not in spared)
            eqn = self._around[eqn]

    def _keep_what_raises(self, eqn: Eqn) -> None:
        """Whether the body of a `try` raises decides what follows."""
        catches = eqn.param("catches") if self._raising else ()
        for inner in walk(eqn.blocks[0]):
            if not inner.blocks and may_raise(inner, catches):
                self._keep(inner)

    def _follow(self, var: Var) -> None:
        eqn = self._defined_by.get(var)
        if eqn is None:
            return
        self._keep(eqn)
        if eqn.op in (IF, TRY):
            outs, blocks = alternatives(eqn)
            if var in outs:
                k = outs.index(var)
                self._want(inner.outs[k] for inner in blocks)
        elif eqn.op in LOOPS:
            self._follow_loop(self._loops[eqn], var)

    def _follow_loop(self, loop: Loop, var: Var) -> None:
        if var in loop.items:
            self._want((loop.iterables[loop.items.index(var)],))
            return
        if var in loop.lists:
            self._want((loop.collected[loop.lists.index(var)],))
            return
        tests = loop.test.params if loop.test is not None else loop.carried
        for variables in (loop.carried, loop.outs, tests):
            if var in variables:
                k = variables.index(var)
                self._want((loop.initials[k], loop.results[k], loop.carried[k], loop.outs[k]))


def _kept_block(block: Block, outs: Sequence[Atom], needed: Needed) -> Block:
    eqns = [_kept_eqn(eqn, needed) for eqn in block.eqns if eqn in needed.eqns]
    return Block(block.params, tuple(_without_lone_comments(eqns)), tuple(outs))


def _kept_eqn(eqn: Eqn, needed: Needed) -> Eqn:
    if eqn.op is IF:
        kept = [k for k, out in enumerate(eqn.outs) if out in needed.values]
        blocks = tuple(
            _kept_block(inner, [inner.outs[k] for k in kept], needed) for inner in eqn.blocks
        )
        return replace(eqn, outs=tuple(eqn.outs[k] for k in kept), blocks=blocks)
    if eqn.op is TRY:
        return _kept_try(eqn, needed)
    if eqn.op in LOOPS:
        return _kept_loop(view(eqn), needed)
    return eqn


def is_side_by_side(loop: Loop) -> bool:
    """Whether a loop walks over several sequences that are equally long: one of them will do."""
    return len(loop.items) > 1 and bool(loop.eqn.param("aligned", False))


def _kept_try(eqn: Eqn, needed: Needed) -> Eqn:
    exception, *outs = eqn.outs
    kept = [k for k, out in enumerate(outs) if out in needed.values]
    (body,) = eqn.blocks
    block = _kept_block(body, [body.outs[k] for k in kept], needed)
    args = tuple(eqn.args[k] for k in kept)
    return replace(eqn, outs=(exception, *(outs[k] for k in kept)), args=args, blocks=(block,))


def _kept_loop(loop: Loop, needed: Needed) -> Eqn:
    kept = [
        k
        for k, (param, out) in enumerate(zip(loop.carried, loop.outs, strict=True))
        if param in needed.values or out in needed.values
    ]
    slots = [Slot(loop.initials[k], loop.carried[k], loop.results[k], loop.outs[k]) for k in kept]
    pairs = zip(loop.collected, loop.lists, strict=True)
    collected = [(atom, out) for atom, out in pairs if out in needed.values]
    eqns = _kept_block(loop.body, (), needed).eqns
    if loop.eqn.op is WHILE:
        assert loop.test is not None
        test = _kept_block(loop.test, loop.test.outs, needed)
        test = replace(test, params=tuple(test.params[k] for k in kept))
        return while_eqn(slots, collected, test, eqns, loop.eqn, stop=loop.stop)
    iterables = [(loop.iterables[k], loop.items[k]) for k in needed.walked(loop)]
    return for_eqn(
        iterables, slots, collected, eqns, loop.eqn,
        stop=loop.stop, reverse=loop.reverse, aligned=bool(loop.eqn.param("aligned", False)),
    )  # fmt: skip


def _without_lone_comments(eqns: Sequence[Eqn]) -> list[Eqn]:
    """Comments that announce something: not one before another, nor one at the end."""
    kept: list[Eqn] = []
    for eqn in eqns:
        if eqn.op is COMMENT and kept and kept[-1].op is COMMENT:
            kept.pop()
        kept.append(eqn)
    while kept and kept[-1].op is COMMENT:
        kept.pop()
    if sum(eqn.op is COMMENT for eqn in kept) == 1:
        kept = [eqn for eqn in kept if eqn.op is not COMMENT]
    return kept


# --- what never changes -------------------------------------------------------------------


def _without_invariants(block: Block) -> Block:
    """Loops no longer carry a value that every iteration hands on as it found it."""
    mapping: dict[Var, Atom] = {}
    eqns: list[Eqn] = []
    changed = False
    for original in block.eqns:
        eqns.append(_eqn_without_invariants(original, mapping))
        changed = changed or eqns[-1] is not original
    if not changed:
        return block
    return renamed_block(Block(block.params, tuple(eqns), block.outs), mapping)


def _eqn_without_invariants(eqn: Eqn, mapping: dict[Var, Atom]) -> Eqn:
    blocks = tuple(map(_without_invariants, eqn.blocks))
    inside = any(new is not old for new, old in zip(blocks, eqn.blocks, strict=True))
    shorter = replace(eqn, blocks=blocks) if inside else eqn
    return _loop_without_invariants(view(shorter), mapping) if eqn.op in LOOPS else shorter


def _loop_without_invariants(loop: Loop, mapping: dict[Var, Atom]) -> Eqn:
    fixed = [k for k, param in enumerate(loop.carried) if loop.results[k] is param]
    if not fixed:
        return loop.eqn
    inner: dict[Var, Atom] = {}
    for k in fixed:
        initial = renamed_atom(loop.initials[k], mapping)
        inner[loop.carried[k]] = mapping[loop.outs[k]] = initial
        if loop.test is not None:
            inner[loop.test.params[k]] = initial
    kept = [k for k in range(len(loop.carried)) if k not in fixed]
    slots = [Slot(loop.initials[k], loop.carried[k], loop.results[k], loop.outs[k]) for k in kept]
    collected = list(zip(loop.collected, loop.lists, strict=True))
    if loop.test is not None:
        test = replace(loop.test, params=tuple(loop.test.params[k] for k in kept))
        eqn = while_eqn(slots, collected, test, loop.body.eqns, loop.eqn, stop=loop.stop)
    else:
        pairs = list(zip(loop.iterables, loop.items, strict=True))
        eqn = for_eqn(
            pairs, slots, collected, loop.body.eqns, loop.eqn,
            stop=loop.stop, reverse=loop.reverse, aligned=bool(loop.eqn.param("aligned", False)),
        )  # fmt: skip
    return replace(eqn, blocks=tuple(renamed_block(each, inner) for each in eqn.blocks))
