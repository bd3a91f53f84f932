"""Memory: the last step before a function is printed.

In: a function that nobody differentiates any more. Out: the same function, in which a gradient is
copied only if its memory may be somebody else's, and single entries are added to a cotangent in
place where no one reads it without them.

Values that may share memory form a *group*. What a function is given and what an effect may keep
is held from outside.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence

from ...ir.graph import (
    CALL,
    COMMENT,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Var,
    callees,
    used_by,
    walk,
)
from ...ir.records import replace
from ...ir.renaming import renamed_block
from ...ir.types import Array
from ...ops import registry, structure as st
from ...ops.program import implicit as im
from ..analysis.groups import UNKNOWN_CALLERS, Given, Groups, handed_over, is_computed
from ..analysis.precision import is_of_64_bits
from ..analysis.write_sets import WRITES, targets


def settled_together(functions: Iterable[Function]) -> tuple[Function, ...]:
    """Functions that make up one derivative, and in place all that they call, with their copies."""
    functions = tuple(functions)
    outermost = set(map(id, functions))
    called = callees(functions, by=_CALLING)
    given = _given((*functions, *(each.function for each in called if each.function is not None)))
    for callee in called:
        assert callee.function is not None
        alone = id(callee.function) not in outermost
        callee.function = settled(callee.function, given[callee] if alone else UNKNOWN_CALLERS)
    return tuple(map(settled, functions))


_CALLING = (im.linear_root, im.found, im.check_jumps)
"""Ops that call what they are given as their callee."""


def _given(functions: Iterable[Function]) -> dict[Callee, Given]:
    """What the callers of functions agree upon."""
    found: dict[Callee, Given] = {}
    for eqn in (eqn for function in functions for eqn in walk(function.body)):
        callee: Callee | None = (
            eqn.param("callee") if eqn.op is CALL or eqn.op in _CALLING else None
        )
        if callee is None or callee.function is None:
            continue
        params = callee.function.body.params
        own = frozenset(params[number] for number, _ in eqn.param("handed", ()))
        updated = frozenset(out for _, out in eqn.param("updates", ()))
        before = found.get(callee, Given(own, updated))
        found[callee] = Given(own & before.own, updated & before.updated)
    return found


def settled(function: Function, given: Given = UNKNOWN_CALLERS) -> Function:
    """The function with as few copies as are safe."""
    if any(eqn.op is st.add_at for eqn in walk(function.body)):
        function = replace(
            function, body=_in_place(function.body, Groups(function.body, given.own))
        )
    if any(eqn.op in WRITES or targets(eqn) or handed_over(eqn) for eqn in walk(function.body)):
        from .versions import versioned

        function = versioned(function, given)
    if not any(eqn.op is st.project for eqn in walk(function.body)):
        return function
    certain = is_of_64_bits(function)
    body = _with_own_results(function.body, Groups(function.body, given.own), certain)
    return replace(function, body=body)


# --- gradients in memory of their own -------------------------------------------------------


def _with_own_results(body: Block, groups: Groups, certain: bool) -> Block:
    """Final forms of gradients: nothing is done to those that have it, the others are copied.

    `certain` says that kinds tell which have it.
    """
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
        if certain and _has_final_form(eqn):
            if owned:
                mapping[out] = bar
                continue
            copy = registry.named("copy")
            final = replace(eqn, op=copy, args=(bar,), params={}, namespace="method")
        else:
            final = replace(eqn, params={"owned": Const(True)} if owned else {})
        eqns.append(final)
    return renamed_block(replace(body, eqns=tuple(eqns)), mapping)


def _is_own(var: Var, groups: Groups) -> bool:
    """Whether a value is in memory that was allocated for it, all of it, and that no one else has."""
    return not groups.is_held(var) and all(_is_allocated(v, groups) for v in _sources(var, groups))


def _sources(var: Var, groups: Groups) -> Iterator[Atom]:
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
        elif eqn is not None and (eqn.op in WRITES or eqn.op is st.unbroadcast):
            pending.append(eqn.args[0])
        elif eqn is not None and atom in handed_over(eqn):
            pending.append(handed_over(eqn)[atom])  # type: ignore[index]
        else:
            yield atom


def _is_allocated(atom: Atom, groups: Groups) -> bool:
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


def _in_place(block: Block, groups: Groups) -> Block:
    """`b = zeros; b[i] += v; s = b + d` becomes `d[i] += v`, where `d` is not read without it."""
    eqns = [
        replace(eqn, blocks=tuple(_in_place(inner, groups) for inner in eqn.blocks))
        if eqn.blocks
        else eqn
        for eqn in block.eqns
    ]
    sums = _Sums(replace(block, eqns=tuple(eqns)), groups)
    for eqn in eqns:
        if eqn.op.name == "add" and isinstance(eqn.outs[0].kind, Array):
            sums.write_into_operand(eqn)
    return replace(block, eqns=tuple(sums.eqns()))


class _Sums:
    """The equations of a block while entries are added in place: at which place each is, and who uses what."""

    def __init__(self, block: Block, groups: Groups):
        self._groups = groups
        self._outs = set(block.outs)
        self._at = [[eqn] for eqn in block.eqns]
        """What stands in the place of each equation."""
        self._place = {eqn: k for k, eqn in enumerate(block.eqns)}
        self._users: dict[Var, list[Eqn]] = {}
        for eqn in block.eqns:
            self._enter(eqn)
        self._writing = [k for k, eqn in enumerate(block.eqns) if _writes(eqn)]
        """The places where something may change, in order."""

    def eqns(self) -> list[Eqn]:
        return [eqn for eqns in self._at for eqn in eqns]

    def write_into_operand(self, total: Eqn) -> None:
        """Write into one operand of a sum what makes up the other, if that is single entries."""
        for buffer, dense in (total.args, total.args[::-1]):
            chain = self._chain(buffer)
            if chain and isinstance(dense, Var) and self._can_take(total, chain, dense):
                self._move(total, chain, dense)
                return

    def _enter(self, eqn: Eqn) -> None:
        for var in used_by(eqn):
            self._users.setdefault(var, []).append(eqn)

    def _chain(self, buffer: Atom) -> list[Eqn]:
        """The equations of this block that fill a buffer of zeros; none, if it is not just that."""
        chain: list[Eqn] = []
        defined = self._groups.defined
        eqn = defined.get(buffer) if isinstance(buffer, Var) else None
        while eqn is not None and eqn.op is st.add_at:
            chain.append(eqn)
            eqn = defined.get(eqn.args[0]) if isinstance(eqn.args[0], Var) else None
        if eqn is None or eqn.op is not st.zeros or not chain:
            return []
        chain.append(eqn)
        return chain[::-1] if all(each in self._place for each in chain) else []

    def _can_take(self, total: Eqn, chain: Sequence[Eqn], dense: Var) -> bool:
        """Whether `dense` can be written to: computed here, for this sum and what came before it."""
        groups, out, buffer = self._groups, total.outs[0], chain[-1].outs[0]
        source = groups.defined.get(dense)
        if source is None or source not in self._place or source.op is st.add_at:
            return False
        if not is_computed(source) or dense.shape_of is not buffer.shape_of:
            return False
        if dense.kind != out.kind or buffer.kind != out.kind:
            return False
        if not groups.is_alone(dense) or groups.is_held(dense):
            return False
        start, end = self._place[chain[0]], self._place[total]
        if dense in self._outs or any(self._place[eqn] > end for eqn in self._users[dense]):
            return False
        if buffer in self._outs or any(len(self._users[eqn.outs[0]]) != 1 for eqn in chain):
            return False
        between = bisect_left(self._writing, end) - bisect_left(self._writing, start)
        return between == len(chain) - 1  # the chain's own writes, and no others

    def _move(self, total: Eqn, chain: Sequence[Eqn], dense: Atom) -> None:
        """Put the writes, into `dense`, in the place of the sum."""
        place = self._place[total]
        target, writes = dense, list[Eqn]()
        for eqn in chain[1:]:
            out = total.outs if eqn is chain[-1] else eqn.outs
            writes.append(replace(eqn, outs=out, args=(target, *eqn.args[1:])))
            target = eqn.outs[0]
        for eqn in (*chain, total):
            at = self._place.pop(eqn)
            self._at[at].remove(eqn)
            for var in used_by(eqn):
                self._users[var].remove(eqn)
            if at != place and _writes(eqn):
                self._writing.remove(at)
        for eqn in writes:
            self._place[eqn] = place
            self._enter(eqn)
        self._at[place] = writes
        insort(self._writing, place)


def _writes(eqn: Eqn) -> bool:
    if eqn.op is COMMENT:
        return False
    return bool(eqn.blocks) or eqn.op.effect or eqn.op in WRITES
