"""Memory: the last step before a function is printed.

In: a function that nobody differentiates any more. Out: the same function, in which a gradient is
copied only if its memory may be somebody else's, and single entries are added to a cotangent in
place where no one reads it without them.

Values that may share memory form a *group*. What a function is given and what an effect may keep
is held from outside.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ..ir.graph import CALL, COMMENT, IF, Atom, Block, Const, Eqn, Function, Var, used_by, walk
from ..ir.types import Array, Number, Unknown
from ..ops import registry
from ..ops import structure as st
from .loops import LOOPS, Loop, view
from .residuals import renamed_block

_OF_FIRST = frozenset(("getitem", "add_at", "reshape", "astype"))
"""Ops whose result may share memory with their first operand alone."""
_COMPUTED = frozenset(
    [
        "zeros",
        "fill",
        "project",
        "put_extreme",
        "zeros_array",
        "ones",
        "full",
        "zeros_like",
        "ones_like",
        "full_like",
        "eye",
        "arange",
        "linspace",
        "sum",
        "mean",
        "prod",
        "max",
        "min",
        "var",
        "std",
        "cumsum",
        "cumprod",
        "sum_of_products",
        "concatenate",
        "stack",
        "vstack",
        "hstack",
        "matmul",
        "dot",
        "inner",
        "outer",
        "tensordot",
        "contract",
        "kron",
        "einsum_bar",
        "solve",
        "inv",
        "flatten",
        "roll",
        "tile",
        "repeat",
        "take",
        "take_along_axis",
        "untake",
        "untake_along_axis",
        "undiag",
        "undiagonal",
    ]
)
"""Ops that are not elementwise and whose result never shares memory with an operand."""
_HARMLESS = frozenset(("bound", "unpackable"))
"""Ops with an effect that keep nothing."""
_IN_PLACE = frozenset(("add_at", "add_attr"))


def settled(function: Function) -> Function:
    """The function with as few copies as are safe."""
    if not any(eqn.op in (st.project, st.add_at) for eqn in walk(function.body)):
        return function
    body = _in_place(function.body, _Groups(function.body))
    return replace(function, body=_with_own_results(body, _Groups(body)))


# --- who shares memory with whom ----------------------------------------------------------


class _Groups:
    """Which values may share memory, as a union-find over a function's values."""

    def __init__(self, body: Block):
        self._parent: dict[Var, Var] = {}
        self._members: dict[Var, int] = {}
        self._held: set[Var] = set()
        self.defined: dict[Var, Eqn] = {}
        self.slots: dict[Var, tuple[Atom, ...]] = {}
        """What a loop variable starts from and becomes, and what the results of an `if` may be."""
        for param in body.params:
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
        if not _has_memory(a) or not _has_memory(b):
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
        if eqn.op is IF:
            for k, out in enumerate(eqn.outs):
                self._merge(out, [block.outs[k] for block in eqn.blocks])
        elif eqn.op in LOOPS:
            self._loop(view(eqn))
        elif eqn.op is CALL or (eqn.op.effect and eqn.op.name not in _HARMLESS):
            for atom in (*eqn.outs, *eqn.operands()):
                self.hold(atom)
        elif eqn.op.name == "global":
            self.hold(eqn.outs[0])
        elif not is_computed(eqn):
            operands = eqn.args[:1] if _is_of_first(eqn) else tuple(eqn.operands())
            for out in eqn.outs:
                for atom in operands:
                    self.join(out, atom)

    def _merge(self, out: Var, atoms: Sequence[Atom]) -> None:
        self.slots[out] = tuple(atoms)
        for atom in atoms:
            self.join(out, atom)

    def _loop(self, loop: Loop) -> None:
        for k, out in enumerate(loop.outs):
            slot = (loop.initials[k], loop.results[k])
            self._merge(out, slot)
            self._merge(loop.carried[k], slot)
            if loop.test is not None:
                self._merge(loop.test.params[k], slot)
        for item, iterable in zip(loop.items, loop.iterables, strict=True):
            self.join(item, iterable)
        for atom, out in zip(loop.collected, loop.lists, strict=True):
            self.join(out, atom)


def _has_memory(atom: Atom) -> bool:
    return isinstance(atom, Var) and not isinstance(atom.kind, Number)


def is_computed(eqn: Eqn) -> bool:
    """Whether an equation computes its result into memory of its own."""
    op = eqn.op
    if not op.fresh or op.control or op.effect or "copy" in eqn.params or "owned" in eqn.params:
        return False
    return isinstance(eqn.outs[0].kind, Array | Unknown) and (
        op.elementwise or op.name in _COMPUTED
    )


def _is_of_first(eqn: Eqn) -> bool:
    array = isinstance(eqn.outs[0].kind, Array)
    return eqn.op.shaped_like == 1 or (array and eqn.op.name in _OF_FIRST)


# --- gradients in memory of their own -------------------------------------------------------


def _with_own_results(body: Block, groups: _Groups) -> Block:
    """Final forms of gradients: nothing is done to those that have it, the others are copied."""
    projects = {e.outs[0]: e for e in body.eqns if e.op is st.project}
    given: list[Atom] = list(body.outs)
    taken = {groups.find(a) for a in given if isinstance(a, Var) and a not in projects}
    mapping: dict[Var, Atom] = {}
    eqns: list[Eqn] = []
    for eqn in body.eqns:
        if eqn.op is not st.project:
            eqns.append(eqn)
            continue
        out, bar = eqn.outs[0], eqn.args[0]
        owned = given.count(out) == 1 and isinstance(bar, Var) and _is_own(bar, groups)
        owned = owned and groups.find(bar) not in taken  # type: ignore[arg-type]
        if owned:
            taken.add(groups.find(bar))  # type: ignore[arg-type]
        if _has_final_form(eqn):
            if owned:
                mapping[out] = bar
                continue
            copy = registry.named("copy")
            final = replace(eqn, op=copy, args=(bar,), params={}, namespace="method")
        else:
            final = replace(eqn, params={"owned": Const(True)} if owned else {})
        eqns.append(final)
    return renamed_block(replace(body, eqns=tuple(eqns)), mapping)


def _is_own(var: Var, groups: _Groups) -> bool:
    """Whether a value is in memory that was allocated for it, all of it, and that no one else has."""
    return not groups.is_held(var) and all(_is_allocated(v, groups) for v in _sources(var, groups))


def _sources(var: Var, groups: _Groups) -> Iterator[Atom]:
    """The values whose memory a value may be, back to where it was allocated."""
    pending: list[Atom] = [var]
    seen = set[Atom]()
    while pending:
        atom = pending.pop()
        if atom in seen:
            continue
        seen.add(atom)
        eqn = groups.defined.get(atom) if isinstance(atom, Var) else None
        if isinstance(atom, Var) and atom in groups.slots:
            pending += groups.slots[atom]
        elif eqn is not None and eqn.op in (st.add_at, st.unbroadcast):
            pending.append(eqn.args[0])
        else:
            yield atom


def _is_allocated(atom: Atom, groups: _Groups) -> bool:
    eqn = groups.defined.get(atom) if isinstance(atom, Var) else None
    return eqn is not None and is_computed(eqn)


def _has_final_form(eqn: Eqn) -> bool:
    """Whether the operand of `project` is known to have the shape and dtype of the result."""
    bar, x = eqn.args
    if not isinstance(bar, Var) or not isinstance(x, Var) or bar.shape_of is not x.shape_of:
        return False
    match x.kind:
        case Array(dtype=dtype, rank=rank) if dtype.startswith(("float", "complex")) and rank:
            return bar.kind == x.kind  # of a 0-d array NumPy's arithmetic makes a scalar
        case _:
            return False


# --- adding single entries in place -----------------------------------------------------------


def _in_place(block: Block, groups: _Groups) -> Block:
    """`b = zeros; b[i] += v; s = b + d` becomes `d[i] += v`, where `d` is not read without it."""
    blocks_changed = [
        replace(eqn, blocks=tuple(_in_place(inner, groups) for inner in eqn.blocks))
        if eqn.blocks
        else eqn
        for eqn in block.eqns
    ]
    eqns = blocks_changed
    for total in list(eqns):
        if total.op.name == "add" and isinstance(total.outs[0].kind, Array):
            eqns = _with_writes_into(eqns, block, total, groups)
    return replace(block, eqns=tuple(eqns))


def _with_writes_into(eqns: list[Eqn], block: Block, total: Eqn, groups: _Groups) -> list[Eqn]:
    for buffer, dense in (total.args, total.args[::-1]):
        chain = _chain(eqns, buffer, groups)
        if chain and _can_take(eqns, block, total, chain, dense, groups):
            return _moved(eqns, total, chain, dense)
    return eqns


def _chain(eqns: Sequence[Eqn], buffer: Atom, groups: _Groups) -> list[Eqn]:
    """The equations of this block that fill a buffer of zeros; none, if it is not just that."""
    chain: list[Eqn] = []
    eqn = groups.defined.get(buffer) if isinstance(buffer, Var) else None
    while eqn is not None and eqn.op is st.add_at:
        chain.append(eqn)
        eqn = groups.defined.get(eqn.args[0]) if isinstance(eqn.args[0], Var) else None
    if eqn is None or eqn.op is not st.zeros or not chain:
        return []
    chain.append(eqn)
    return chain[::-1] if all(each in eqns for each in chain) else []


def _can_take(
    eqns: Sequence[Eqn],
    block: Block,
    total: Eqn,
    chain: Sequence[Eqn],
    dense: Atom,
    groups: _Groups,
) -> bool:
    """Whether `dense` can be written to: computed here, for this sum and what came before it."""
    out = total.outs[0]
    source = groups.defined.get(dense) if isinstance(dense, Var) else None
    if not isinstance(dense, Var) or source is None or source not in eqns or source.op is st.add_at:
        return False
    buffer = chain[-1].outs[0]
    if dense.kind != out.kind or dense.shape_of is not buffer.shape_of or not is_computed(source):
        return False
    if buffer.kind != out.kind or not groups.is_alone(dense) or groups.is_held(dense):
        return False
    start, end = eqns.index(chain[0]), eqns.index(total)
    if dense in block.outs or any(dense in used_by(eqn) for eqn in eqns[end + 1 :]):
        return False
    for before, after in pairwise(chain):
        if (
            sum(before.outs[0] in used_by(eqn) for eqn in eqns) != 1
            or after.args[0] not in before.outs
        ):
            return False
    uses = sum(list(used_by(eqn)).count(buffer) for eqn in eqns)
    between = (eqn for eqn in eqns[start:end] if eqn not in chain and eqn.op is not COMMENT)
    return uses == 1 and buffer not in block.outs and not any(map(_writes, between))


def _writes(eqn: Eqn) -> bool:
    return bool(eqn.blocks) or eqn.op.effect or eqn.op.name in _IN_PLACE


def _moved(eqns: Sequence[Eqn], total: Eqn, chain: Sequence[Eqn], dense: Atom) -> list[Eqn]:
    """The writes, into `dense`, in the place of the sum."""
    writes: list[Eqn] = []
    target = dense
    for eqn in chain[1:]:
        writes.append(replace(eqn, args=(target, *eqn.args[1:])))
        target = eqn.outs[0]
    last = replace(writes[-1], outs=total.outs)
    result: list[Eqn] = []
    for eqn in eqns:
        if eqn is total:
            result += [*writes[:-1], last]
        elif eqn not in chain:
            result.append(eqn)
    return result
