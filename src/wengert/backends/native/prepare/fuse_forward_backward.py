"""Let a call and its way back run as one, where the way back needs nothing that is found out after the call.

In: a function that calls the forward half of a callee, which keeps a record, and then the backward half, which
reads it. Out: the same function with one call in their place. In that, a forward loop and the backward loop over what
it keeps become one loop, and what a call in it keeps need not be kept either: so a recursion keeps nothing
at all. The result of a determinant by minors, say, is linear in every minor, so that its cotangent is known before
the minor is.

The terms of a cotangent are added up in the order of the forward loop, so that the last bits may differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....ir.builder import kind_of_atom
from ....ir.graph import (
    CALL,
    FOR,
    IF,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Input,
    Var,
    used_by,
    used_in,
    walk,
)
from ....ir.records import replace
from ....ir.renaming import clone, renamed_atom, renamed_block, renamed_eqn
from ....ir.types import UNKNOWN, Array, Number, Struct
from .accumulation import added_to, last_version

_WRITES = frozenset(("stored", "store", "overwrite", "add_at"))
_SIZES = ("length", "shape", "attr.shape", "size", "ndim")


def in_one_sweep(function: Function) -> Function:
    """The function with calls and their ways back in one, where that can be."""
    return replace(function, body=_Joining().block(function.body))


class _Apart(Exception):
    """A way back has to wait."""


class _Joining:
    """The callees that have been joined, by their halves, and what backward halves compute."""

    def __init__(self) -> None:
        self._joined: dict[tuple[int, int], Callee] = {}
        self._back: set[Var] = set()

    def block(self, block: Block) -> Block:
        """A block with the pairs in it joined that can be."""
        eqns = [
            replace(eqn, blocks=tuple(map(self.block, eqn.blocks))) if eqn.blocks else eqn
            for eqn in block.eqns
        ]
        block = replace(block, eqns=tuple(eqns))
        for first, second in list(_pairs_of_calls(block)):
            before = dict(self._joined)
            try:
                block = self.call(*_adding_later(block, first, second)) or block
            except _Apart:
                self._joined = before
        return block

    # --- calls ----------------------------------------------------------------------------

    def call(self, block: Block, first: Eqn, second: Eqn) -> Block | None:
        """A block with one call in the place of two."""
        callee = self._callee(first.param("callee"), second.param("callee"))
        given, found = len(first.args), len(first.outs) - 1
        handed = [(given + k - 1, found + out) for k, out in second.param("handed", ())]
        params = {**first.params, "callee": Const(callee), "handed": Const(tuple(handed))}
        args = (*first.args, *second.args[1:])
        joined = replace(first, outs=(*first.outs[:-1], *second.outs), args=args, params=params)
        return _with_joined(block, first, second, joined)

    def _callee(self, forward: Callee, backward: Callee) -> Callee:
        """What does at once what two halves do; it is there before it is filled, so that recursion closes."""
        key = (id(forward), id(backward))
        if key not in self._joined:
            made = self._joined[key] = Callee(f"both_{forward.name.removeprefix('forward_')}")
            if forward.function is None or backward.function is None:
                raise _Apart
            made.function = self._function(made.name, forward.function, backward.function)
        return self._joined[key]

    def _function(self, name: str, forward: Function, backward: Function) -> Function:
        self._back.update(out for eqn in walk(backward.body) for out in eqn.outs)
        body = self._merged(_one_after_the_other(forward, backward))
        if any(map(_keeps_a_record, walk(body))):
            raise _Apart
        inputs = tuple(Input(f"x{k}", var.kind) for k, var in enumerate(body.params))
        kinds = tuple(map(kind_of_atom, body.outs))
        items = tuple(UNKNOWN if isinstance(kind, Struct) else kind for kind in kinds)
        return Function(name, inputs, body, Struct("tuple", tuple(range(len(items))), items))

    # --- blocks ---------------------------------------------------------------------------

    def _merged(self, block: Block) -> Block:
        """A block whose branches, loops and calls of both sweeps are one each."""
        block = _without_repeats(block)
        while True:
            for first, second, merge in _pairs(block):
                if any(out in self._back for out in second.outs):
                    made = merge(self, *_adding_later(block, first, second))
                    if made is not None:
                        block = made
                        break
            else:
                return block

    def branches(self, block: Block, first: Eqn, second: Eqn) -> Block | None:
        uses = _uses_without(block, (first, second))
        keep = [k for k, out in enumerate(first.outs) if uses[out]]
        blocks: list[Block] = []
        for ahead, behind in zip(first.blocks, second.blocks, strict=True):
            back = renamed_block(behind, dict(zip(first.outs, ahead.outs, strict=True)))
            outs = (*(ahead.outs[k] for k in keep), *back.outs)
            blocks.append(self._merged(Block((), (*ahead.eqns, *back.eqns), outs)))
        outs = (*(first.outs[k] for k in keep), *second.outs)
        return _with_joined(block, first, second, replace(first, outs=outs, blocks=tuple(blocks)))

    def loops(self, block: Block, first: Eqn, second: Eqn) -> Block | None:
        n, m = first.param("iterables", 0), second.param("iterables", 0)
        ahead, behind = first.blocks[0], second.blocks[0]
        slots = len(first.args) - n
        lists: dict[Atom, Atom] = dict(zip(first.outs[slots:], ahead.outs[slots:], strict=True))
        collected = {**dict(zip(first.args[:n], ahead.params, strict=False)), **lists}
        items = {
            item: collected[atom]
            for atom, item in zip(second.args[:m], behind.params[:m], strict=True)
        }
        uses = _uses_without(block, (first, second))
        keep = [out for out in first.outs[slots:] if uses[out]]
        back = renamed_block(behind, items)
        body = Block(
            (*ahead.params, *back.params[m:]),
            (*ahead.eqns, *back.eqns),
            (*ahead.outs[:slots], *back.outs, *(lists[out] for out in keep)),
        )
        joined = replace(
            first,
            outs=(*first.outs[:slots], *second.outs, *keep),
            args=(*first.args, *second.args[m:]),
            blocks=(self._merged(body),),
        )
        return _with_joined(block, first, second, joined)


# --- pairs --------------------------------------------------------------------------------

_Merge = Callable[[_Joining, Block, Eqn, Eqn], "Block | None"]


def _pairs_of_calls(block: Block) -> Iterator[tuple[Eqn, Eqn]]:
    """The calls of forward halves whose records are read by one call in the same block."""
    records = {eqn.outs[-1]: eqn for eqn in block.eqns if _keeps_a_record(eqn)}
    uses = Counter(used_in(block))
    for eqn in block.eqns:
        record = eqn.args[0] if eqn.op is CALL and eqn.args else None
        if isinstance(record, Var) and record in records and uses[record] == 1:
            yield records[record], eqn


def _keeps_a_record(eqn: Eqn) -> bool:
    return eqn.op is CALL and eqn.param("callee").name.startswith("forward_")


def _pairs(block: Block) -> Iterator[tuple[Eqn, Eqn, _Merge]]:
    """What a forward sweep does, and what undoes it."""
    for k, second in enumerate(block.eqns):
        for first in block.eqns[:k]:
            if first.op is IF and second.op is IF and first.args == second.args:
                yield first, second, _Joining.branches
            elif first.op is FOR and second.op is FOR and _walks_back(first, second):
                yield first, second, _Joining.loops
    for first, second in _pairs_of_calls(block):
        yield first, second, _Joining.call


def _walks_back(first: Eqn, second: Eqn) -> bool:
    """Whether a loop walks backwards over what another has collected, and nobody needs its turns in that order."""
    m, n = first.param("iterables", 0), second.param("iterables", 0)
    walked = {*first.outs[len(first.args) - m :], *(first.args[:m] if m == 1 else ())}
    stops = first.param("stop", False) or second.param("stop", False)
    if stops or not n or not second.param("reverse", False) or first.param("reverse", False):
        return False
    body = second.blocks[0]
    carried = zip(body.params[n:], body.outs, strict=False)
    return all(atom in walked for atom in second.args[:n]) and (
        len(second.outs) == len(second.args) - n
        and all(last_version(body, param) is out for param, out in carried)
    )


# --- bodies -------------------------------------------------------------------------------


def _one_after_the_other(forward: Function, backward: Function) -> Block:
    """Both halves of a callee, of which the second reads at once what the first would have kept."""
    ahead, back = forward.body, backward.body
    record = back.params[0]
    kept = _kept(ahead)
    reads = [eqn for eqn in back.eqns if eqn.op.name == "getitem" and eqn.args[0] is record]
    if sum(1 for var in used_in(back) if var is record) != len(reads):
        raise _Apart
    fetched: dict[Var, Atom] = {}
    for eqn in reads:
        index = eqn.args[1]
        assert isinstance(index, Const)
        fetched[eqn.outs[0]] = kept[index.value]
    if not all(_stays(ahead, atom) for atom in fetched.values()):
        raise _Apart
    eqns = [renamed_eqn(eqn, fetched) for eqn in back.eqns if fetched.keys().isdisjoint(eqn.outs)]
    outs = (renamed_atom(out, fetched) for out in back.outs)
    params = (*ahead.params, *back.params[1:])
    first = tuple(eqn for eqn in ahead.eqns if ahead.outs[-1] not in eqn.outs)
    return Block(params, (*first, *eqns), (*ahead.outs[:-1], *outs))


def _kept(ahead: Block) -> tuple[Atom, ...]:
    """What the record of a forward half holds."""
    packed = [eqn for eqn in ahead.eqns if ahead.outs[-1] in eqn.outs]
    if not packed or packed[0].op.name != "pack":
        raise _Apart
    return packed[0].args


def _stays(ahead: Block, atom: Atom) -> bool:
    """Whether what a record holds is the same all the while: of arrays, what is only read number by number."""
    if not isinstance(kind_of_atom(atom), Array):
        return atom not in ahead.params or isinstance(kind_of_atom(atom), Number)
    return atom in ahead.params and all(_only_reads(eqn, atom) for eqn in walk(ahead))


def _only_reads(eqn: Eqn, array: Atom) -> bool:
    if all(out is not array for block in eqn.blocks for out in block.outs) and (
        array not in eqn.operands()
    ):
        return True
    if eqn.op is CALL:
        changed = {k for k, _ in eqn.param("updates", ())}
        return all(k not in changed for k, arg in enumerate(eqn.args) if arg is array)
    if eqn.op is FOR:
        n = eqn.param("iterables", 0)
        items = eqn.blocks[0].params[:n]
        return array not in eqn.args[n:] and all(
            isinstance(item.kind, Number)
            for item, of in zip(items, eqn.args, strict=False)
            if of is array
        )
    is_number = isinstance(eqn.outs[0].kind, Number) if eqn.outs else False
    return eqn.op.name in ("pack", *_SIZES) or (eqn.op.name == "getitem" and is_number)


def _without_repeats(block: Block) -> Block:
    """The block with numbers and ranges that both sweeps compute in the same way computed once."""
    found: dict[Any, Var] = {}
    same: dict[Var, Atom] = {}
    eqns: list[Eqn] = []
    for old in block.eqns:
        eqn = renamed_eqn(old, same)
        if not eqn.blocks and len(eqn.outs) == 1 and _is_a_number(eqn):
            key = (eqn.op, eqn.args, eqn.namespace, *eqn.params.items())
            first = found.setdefault(key, eqn.outs[0])
            if first is not eqn.outs[0]:
                same[eqn.outs[0]] = first
                continue
        eqns.append(eqn)
    return Block(block.params, tuple(eqns), tuple(renamed_atom(out, same) for out in block.outs))


def _is_a_number(eqn: Eqn) -> bool:
    is_number = isinstance(eqn.outs[0].kind, Number) or eqn.op.name == "range"
    return is_number and _may_go_ahead(eqn)


# --- places -------------------------------------------------------------------------------


def _uses_without(block: Block, left_out: Sequence[Eqn]) -> Counter[Var]:
    """How often values of a block are used, by other equations than some."""
    eqns = tuple(eqn for eqn in block.eqns if not any(eqn is other for other in left_out))
    return Counter(used_in(replace(block, eqns=eqns)))


def _with_joined(block: Block, first: Eqn, second: Eqn, joined: Eqn) -> Block | None:
    """A block with one equation in the place of two; None if the second needs what follows from the first."""
    start, end = _place(block, first), _place(block, second)
    needed = set(used_by(joined))
    ahead: list[Eqn] = []
    behind: list[Eqn] = []
    for eqn in reversed(block.eqns[start + 1 : end]):
        if needed.isdisjoint(eqn.outs):
            behind.insert(0, eqn)
            continue
        ahead.insert(0, eqn)
        needed.update(used_by(eqn))
    if not needed.isdisjoint((*first.outs, *joined.outs)) or not all(map(_may_go_ahead, ahead)):
        return None
    eqns = (*block.eqns[:start], *ahead, joined, *behind, *block.eqns[end + 1 :])
    return replace(block, eqns=eqns)


def _adding_later(block: Block, first: Eqn, second: Eqn) -> tuple[Block, Eqn, Eqn]:
    """The block as it is once `second` runs with `first`: what is added to an accumulator in between comes after it.

    Both are part of the block; so is what stands for the second in the end.
    """
    eqns = list(block.eqns)
    start, end = _place(block, first), _place(block, second)
    uses = Counter(used_in(block))
    for k in range(end - 1, start, -1):
        swapped = _swapped(eqns[k], eqns[end], uses)
        if swapped is not None:
            eqns[end], eqns[k] = swapped
    return replace(block, eqns=tuple(eqns)), first, eqns[end]


def _swapped(eqn: Eqn, second: Eqn, uses: Counter[Var]) -> tuple[Eqn, Eqn] | None:
    """Two equations in the other order, if the second does nothing with the first's result but add to it."""
    for made in eqn.outs:
        end = added_to(second, made) if uses[made] == 1 else None
        if end is None:
            continue
        given = next((var for var in used_by(eqn) if added_to(eqn, var) is made), None)
        if given is not None:
            between = clone(made)
            uses[between] = 1
            first = renamed_eqn(second, {made: given})
            later = renamed_eqn(eqn, {given: between})
            return _giving(first, {end: between}), _giving(later, {made: end})
    return None


def _giving(eqn: Eqn, names: dict[Var, Var]) -> Eqn:
    return replace(eqn, outs=tuple(names.get(out, out) for out in eqn.outs))


def _place(block: Block, eqn: Eqn) -> int:
    return next(k for k, other in enumerate(block.eqns) if other is eqn)


def _may_go_ahead(eqn: Eqn) -> bool:
    inside = [eqn, *(each for block in eqn.blocks for each in walk(block))]
    return not any(e.op.effect or e.op is CALL or e.op.name in _WRITES for e in inside)
