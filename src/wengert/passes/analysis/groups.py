"""Which values may share memory: a union-find over a function's values.

Coarse and quick: values that may share memory at some time are in one group. What a function is given
and what an effect may keep is *held* from outside; not the buffers that a caller hands over.
"""

from __future__ import annotations

from collections.abc import Collection

from ...ir.graph import CALL, COMMENT, Atom, Block, Eqn, Var, walk
from ...ir.records import value_record
from ...ir.types import Array, Number, Other, Static, Unknown
from ...ops.program import memory as me
from ..blocks.flow import Sources, flow, merged

_OF_FIRST = frozenset(
    ("getitem", "given_at", "add_at", "reshape", "astype", "stored", "store", "overwrite")
)
"""Ops whose result may share memory with their first operand alone."""
_COMPUTED = frozenset(
    [
        "zeros", "fill", "project", "put_extreme", "zeros_array", "ones", "full", "zeros_like", "ones_like",
        "full_like", "eye", "identity", "empty", "empty_like", "tri", "arange_from", "array", "pad", "pad_zeros",
        "triu", "tril", "sort", "argsort", "diff", "cross", "append", "dstack", "column_stack", "einsum_2",
        "einsum_3", "cholesky", "pinv", "cofactor", "arange", "linspace", "sum", "mean", "prod", "max", "min", "var",
        "std", "cumsum", "cumprod", "sum_of_products", "last_written", "concatenate", "stack", "vstack", "hstack",
        "matmul", "dot", "inner", "outer", "tensordot", "contract", "kron", "einsum_bar", "solve", "inv", "flatten",
        "roll", "tile", "repeat", "take", "take_along_axis", "joined", "untake", "untake_along_axis", "undiag",
        "undiagonal",
    ]
)  # fmt: skip
"""Ops that are not elementwise and whose result never shares memory with an operand."""
_MADE_ANEW = frozenset(("zeros", "snapshot", "duplicate", "zeros_at"))
"""Ops whose result never shares memory with anything, not even an item of it."""
_HARMLESS = frozenset(("bound", "unpackable", "evaluated", "equally_long"))
"""Ops with an effect that keep nothing."""


@value_record
class Given:
    """What the callers of a function, all of them, say of what they give it and get from it."""

    own: frozenset[Var] = frozenset()
    """The parameters that are buffers for it to add to: nobody else has them."""
    updated: frozenset[int] = frozenset()
    """The results, by number, that are arguments which it has changed in place."""


UNKNOWN_CALLERS = Given()


class Groups:
    """Which values may share memory, as a union-find over a function's values."""

    def __init__(self, body: Block, own: Collection[Var] = ()):
        self._parent: dict[Var, Var] = {}
        self._members: dict[Var, int] = {}
        self._held: set[Var] = set()
        self.defined: dict[Var, Eqn] = {}
        self.slots: dict[Var, tuple[Atom, ...]] = {}
        """What a loop variable starts from and becomes, and what the results of an `if` may be."""
        for param in body.params:
            if param not in own:
                self.hold(param)
        for eqn in walk(body):
            self._equation(eqn)

    def find(self, var: Var) -> Var:
        parent = self._parent.setdefault(var, var)
        while parent is not var:
            self._parent[var] = self._parent[parent]
            var, parent = parent, self._parent[parent]
        return var

    def join(self, a: Atom, b: Atom) -> None:
        """Say that two values may share memory; numbers never do."""
        if not has_memory(a) or not has_memory(b):
            return
        assert isinstance(a, Var)
        assert isinstance(b, Var)
        a, b = self.find(a), self.find(b)
        if a is not b:
            self._parent[b] = a
            self._members[a] = self._members.get(a, 1) + self._members.get(b, 1)
            if b in self._held:
                self._held.add(a)

    def hold(self, atom: Atom) -> None:
        if isinstance(atom, Var):
            self._held.add(self.find(atom))

    def is_held(self, var: Var) -> bool:
        return self.find(var) in self._held

    def is_alone(self, var: Var) -> bool:
        return self._members.get(self.find(var), 1) == 1

    def _equation(self, eqn: Eqn) -> None:
        for out in eqn.outs:
            self.defined[out] = eqn
        if eqn.op is COMMENT:
            return
        if eqn.blocks:
            self.slots.update(merged(eqn))
            self._come_of(flow(eqn))
        elif eqn.op in me.OWN:
            self._write(eqn)
        elif eqn.op is CALL or (eqn.op.effect and eqn.op.name not in _HARMLESS):
            self._effect(eqn)
        elif eqn.op.name == "global":
            self.hold(eqn.outs[0])
        elif not is_computed(eqn):
            operands = eqn.args[:1] if is_of_first(eqn) else eqn.operands()
            for out in eqn.outs:
                for atom in operands:
                    self.join(out, atom)

    def _effect(self, eqn: Eqn) -> None:
        buffers = handed_over(eqn)
        for out, arg in buffers.items():
            self.join(out, arg)
        for number, out in eqn.param("updates", ()):
            self.join(eqn.outs[out], eqn.args[number])
        for atom in (*eqn.outs, *eqn.operands()):
            if atom not in buffers and atom not in buffers.values():
                self.hold(atom)

    def _write(self, eqn: Eqn) -> None:
        x, *_, value = eqn.args
        self.join(eqn.outs[0], x)
        if eqn.op in me.TAKING and not isinstance(me.holder(eqn), Array):
            self.join(eqn.outs[0], value)

    def _come_of(self, pairs: Sources) -> None:
        for out, atoms in pairs:
            for atom in atoms:
                self.join(out, atom)


def handed_over(eqn: Eqn) -> dict[Var, Atom]:
    """The results of a call that are buffers it was given, to add to; and the buffers."""
    pairs = eqn.param("handed", ()) if eqn.op is CALL else ()
    return {eqn.outs[out]: eqn.args[number] for number, out in pairs}


def has_memory(atom: Atom) -> bool:
    """Whether a value may be, or hold, something that can be written to."""
    return isinstance(atom, Var) and not isinstance(atom.kind, (Number, Other, Static))


def is_computed(eqn: Eqn) -> bool:
    """Whether an equation computes its result into memory of its own."""
    op = eqn.op
    if not op.fresh or op.control or op.effect or "copy" in eqn.params or "owned" in eqn.params:
        return False
    if op.name in _MADE_ANEW:
        return True
    if op is me.given_at:  # an item of a list is the very item
        return isinstance(eqn.args[0], Var) and isinstance(eqn.args[0].kind, Array)
    return isinstance(eqn.outs[0].kind, (Array, Unknown)) and (
        op.elementwise or op.name in _COMPUTED
    )


def is_of_first(eqn: Eqn) -> bool:
    """Whether a result may share memory with the first operand alone."""
    array = isinstance(eqn.outs[0].kind, Array)
    return eqn.op.shaped_like == 1 or (array and eqn.op.name in _OF_FIRST)
