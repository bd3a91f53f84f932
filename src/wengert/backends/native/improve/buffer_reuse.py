"""An array that dies where another of its size is made, element by element, lends it its memory.

In `y[i] = f(x[i], ...)`, where `x` is not used afterwards and `y` was not before, both are one piece of memory:
what nobody will read is overwritten, and the processor's caches hold one array where they held two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ....ir.records import replace
from ..form.loopform import (
    Allocate,
    Apply,
    Assign,
    Code,
    Enlarge,
    Expr,
    For,
    Invoke,
    Load,
    Procedure,
    Release,
    Slot,
    Statement,
    Store,
    each,
    expressions_of,
    slots_in,
)
from ..values.values import ZERO
from .memory_planning import Place, must_stay, with_blocks


def with_memory_reused(procedure: Procedure, given: Mapping[Slot, Expr]) -> Procedure:
    """The procedure with fewer arrays.

    Args:
        procedure: the procedure.
        given: memory for results that its caller makes, and that nothing else points to; how many elements each has.
    """
    lasting = {*procedure.params, *procedure.results}
    body = _lent(procedure.body, given, lambda old, _: old not in lasting)
    return replace(procedure, body=tuple(with_blocks(s, _in_block) for s in body))


def _in_block(statements: Sequence[Statement]) -> list[Statement]:
    """The statements of a block in another one: what it releases is not known outside."""
    found = [with_blocks(statement, _in_block) for statement in statements]
    return _lent(found, {}, _releases)


def _releases(old: Slot, statements: Sequence[Statement]) -> bool:
    return any(isinstance(s, Release) and s.pointer == old for s in statements)


def _lent(
    statements: Sequence[Statement],
    given: Mapping[Slot, Expr],
    dies: Callable[[Slot, Sequence[Statement]], bool],
) -> list[Statement]:
    found = list(statements)
    while True:
        block = _Block(found, given)
        for old in block.taken.values():
            new = block.heir(old) if dies(old.pointer, found) else None
            if new is not None:
                found = block.with_heir(old, new)
                break
        else:
            return found


class _Block:
    """The arrays of a block.

    Attributes:
        taken: those whose memory is taken in it.
    """

    def __init__(self, statements: Sequence[Statement], given: Mapping[Slot, Expr]):
        self.statements = statements
        self.taken = {
            s.pointer: s
            for s in statements
            if isinstance(s, Allocate) and not s.in_arena and not s.in_frame
        }
        self._given = given
        self._values = {s.slot: s.value for s in statements if isinstance(s, Assign)}
        self._uses: dict[Slot, list[int]] = {}
        for number, statement in enumerate(statements):
            for slot in set(_named_in(statement)):
                self._uses.setdefault(slot, []).append(number)

    def heir(self, old: Allocate) -> Slot | None:
        """The array that can have the memory of another one: made where that is read last, of the same size."""
        last = self._used(old.pointer, Release)[-1:]
        loop = self.statements[last[0]] if last else None
        if not isinstance(loop, For) or must_stay(self.statements, old.pointer):
            return None
        for new, code in _made_from(loop, old.pointer):
            fits = code == old.code and self._is_as_long(new, old)
            if fits and self._used(new, Allocate)[0] == last[0] and self._is_taken_once(new):
                return new
        return None

    def _used(self, pointer: Slot, other_than: type) -> list[int]:
        """The statements that name an array, but for those of one type."""
        numbers = self._uses.get(pointer, [])
        return [k for k in numbers if not isinstance(self.statements[k], other_than)]

    def _is_as_long(self, new: Slot, old: Allocate) -> bool:
        size = self.taken[new].count if new in self.taken else self._given.get(new)
        known = isinstance(old.count, Slot) and self._values.get(old.count) == size
        return size is not None and (size == old.count or known)

    def _is_taken_once(self, pointer: Slot) -> bool:
        times = sum(_gives_memory(s, pointer) for s in each(tuple(self.statements)))
        return times == (pointer in self.taken)

    def with_heir(self, old: Allocate, new: Slot) -> list[Statement]:
        """The statements of the block with one array instead of two."""
        place = Place(old.pointer, new, ZERO)
        made: list[Statement] = []
        for statement in self.statements:
            match statement:
                case Allocate(pointer=pointer) if pointer == old.pointer:
                    made += [replace(old, pointer=new)] * (new in self.taken)
                case Allocate(pointer=pointer) if pointer == new:
                    continue
                case Release(pointer=pointer) if pointer == old.pointer:
                    continue
                case _:
                    made.append(place.statement(statement))
        return [statement for statement in made if not _copies_to_itself(statement)]


def _copies_to_itself(statement: Statement) -> bool:
    match statement:
        case For(body=(Store(pointer=to, index=place, value=Load(pointer=of, index=index)),)):
            return to == of and place == index
        case For(body=(Assign(slot=slot, value=Load(pointer=of, index=index)), Store() as store)):
            return (store.pointer, store.index, store.value) == (of, index, slot)
        case _:
            return False


def _gives_memory(statement: Statement, pointer: Slot) -> bool:
    match statement:
        case Assign(slot=slot) | Allocate(pointer=slot) | Enlarge(pointer=slot):
            return slot == pointer
        case Invoke(results=results):
            return pointer in results
        case _:
            return False


def _made_from(loop: For, old: Slot) -> Iterator[tuple[Slot, Code]]:
    """The arrays that a loop makes element by element, reading no other element of an old one."""
    if any(not isinstance(s, (Assign, Store)) for s in loop.body):
        return
    reads = [load for s in loop.body for value in expressions_of(s) for load in _loads(value)]
    own = all(load.index == loop.index for load in reads if load.pointer == old)
    stores = [s for s in loop.body if isinstance(s, Store)]
    read = {load.pointer for load in reads}
    if not own or old not in read or any(s.pointer == old for s in stores):
        return
    for store in stores:
        alone = sum(s.pointer == store.pointer for s in stores) == 1
        after = loop.body[loop.body.index(store) + 1 :]
        still = any(old in slots_in(value) for s in after for value in expressions_of(s))
        if alone and not still and store.index == loop.index and store.pointer not in read:
            yield store.pointer, store.value.code


def _loads(value: Expr) -> Iterator[Load]:
    match value:
        case Load(index=index):
            yield value
            yield from _loads(index)
        case Apply(args=args):
            for arg in args:
                yield from _loads(arg)
        case _:
            pass


def _named_in(statement: Statement) -> Iterator[Slot]:
    for each_ in each((statement,)):
        for value in expressions_of(each_):
            yield from slots_in(value)
