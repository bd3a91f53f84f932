"""An array that dies where another of its size is made, element by element, lends it its memory.

In `y[i] = f(x[i], ...)`, where `x` is not used afterwards and `y` was not before, both are one piece of memory:
what nobody will read is overwritten, and the processor's caches hold one array where they held two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from ....ir.records import replace
from ..form import loopform as lf
from ..values.values import ZERO
from .memory_planning import Place, fixed_in, with_blocks


def with_memory_reused(procedure: lf.Procedure, given: Mapping[lf.Slot, lf.Expr]) -> lf.Procedure:
    """The procedure with fewer arrays.

    Args:
        procedure: the procedure.
        given: memory for results that its caller makes, and that nothing else points to; how many elements each has.
    """
    lasting = {*procedure.params, *procedure.results}
    body = _lent(procedure.body, given, lambda old, _: old not in lasting)
    return replace(procedure, body=tuple(with_blocks(s, _in_block) for s in body))


def _in_block(statements: Sequence[lf.Statement]) -> list[lf.Statement]:
    """The statements of a block in another one: what it releases is not known outside."""
    found = [with_blocks(statement, _in_block) for statement in statements]
    return _lent(found, {}, _releases)


def _releases(old: lf.Slot, statements: Sequence[lf.Statement]) -> bool:
    return any(isinstance(s, lf.Release) and s.pointer == old for s in statements)


def _lent(
    statements: Sequence[lf.Statement],
    given: Mapping[lf.Slot, lf.Expr],
    dies: Callable[[lf.Slot, Sequence[lf.Statement]], bool],
) -> list[lf.Statement]:
    found = list(statements)
    if not any(isinstance(s, lf.Allocate) for s in found):
        return found
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

    def __init__(self, statements: Sequence[lf.Statement], given: Mapping[lf.Slot, lf.Expr]):
        self.statements = statements
        self.taken = {
            s.pointer: s
            for s in statements
            if isinstance(s, lf.Allocate) and not s.in_arena and not s.in_frame
        }
        self._given = given
        self._values = {s.slot: s.value for s in statements if isinstance(s, lf.Assign)}
        self._fixed = fixed_in(statements)
        self._given_memory = Counter(
            slot for s in lf.each(tuple(statements)) for slot in _given_memory(s)
        )
        self._uses: dict[lf.Slot, list[int]] = {}
        for number, statement in enumerate(statements):
            for slot in set(_named_in(statement)):
                self._uses.setdefault(slot, []).append(number)

    def heir(self, old: lf.Allocate) -> lf.Slot | None:
        """The array that can have the memory of another one: made where that is read last, of the same size."""
        last = self._used(old.pointer, lf.Release)[-1:]
        loop = self.statements[last[0]] if last else None
        if not isinstance(loop, lf.For) or old.pointer in self._fixed:
            return None
        for new, code in _made_from(loop, old.pointer):
            fits = code == old.code and self._is_as_long(new, old)
            if fits and self._used(new, lf.Allocate)[0] == last[0] and self._is_taken_once(new):
                return new
        return None

    def _used(self, pointer: lf.Slot, other_than: type) -> list[int]:
        """The statements that name an array, but for those of one type."""
        numbers = self._uses.get(pointer, [])
        return [k for k in numbers if not isinstance(self.statements[k], other_than)]

    def _is_as_long(self, new: lf.Slot, old: lf.Allocate) -> bool:
        size = self.taken[new].count if new in self.taken else self._given.get(new)
        known = isinstance(old.count, lf.Slot) and self._values.get(old.count) == size
        return size is not None and (size == old.count or known)

    def _is_taken_once(self, pointer: lf.Slot) -> bool:
        return self._given_memory[pointer] == (pointer in self.taken)

    def with_heir(self, old: lf.Allocate, new: lf.Slot) -> list[lf.Statement]:
        """The statements of the block with one array instead of two."""
        place = Place(old.pointer, new, ZERO)
        made: list[lf.Statement] = []
        for statement in self.statements:
            match statement:
                case lf.Allocate(pointer=pointer) if pointer == old.pointer:
                    made += [replace(old, pointer=new)] * (new in self.taken)
                case lf.Allocate(pointer=pointer) if pointer == new:
                    continue
                case lf.Release(pointer=pointer) if pointer == old.pointer:
                    continue
                case _:
                    made.append(place.statement(statement))
        return [statement for statement in made if not _copies_to_itself(statement)]


def _copies_to_itself(statement: lf.Statement) -> bool:
    match statement:
        case lf.For(
            body=(lf.Store(pointer=to, index=place, value=lf.Load(pointer=of, index=index)),)
        ):
            return to == of and place == index
        case lf.For(
            body=(lf.Assign(slot=slot, value=lf.Load(pointer=of, index=index)), lf.Store() as store)
        ):
            return (store.pointer, store.index, store.value) == (of, index, slot)
        case _:
            return False


def _given_memory(statement: lf.Statement) -> Sequence[lf.Slot]:
    """The pointers to which a statement gives memory."""
    match statement:
        case lf.Assign(slot=slot) | lf.Allocate(pointer=slot) | lf.Enlarge(pointer=slot):
            return (slot,)
        case lf.Invoke(results=results):
            return results
        case _:
            return ()


def _made_from(loop: lf.For, old: lf.Slot) -> Iterator[tuple[lf.Slot, lf.Code]]:
    """The arrays that a loop makes element by element, reading no other element of an old one."""
    if any(not isinstance(s, (lf.Assign, lf.Store)) for s in loop.body):
        return
    reads = [load for s in loop.body for value in lf.expressions_of(s) for load in _loads(value)]
    own = all(load.index == loop.index for load in reads if load.pointer == old)
    stores = [s for s in loop.body if isinstance(s, lf.Store)]
    read = {load.pointer for load in reads}
    if not own or old not in read or any(s.pointer == old for s in stores):
        return
    for store in stores:
        alone = sum(s.pointer == store.pointer for s in stores) == 1
        after = loop.body[loop.body.index(store) + 1 :]
        still = any(old in lf.slots_in(value) for s in after for value in lf.expressions_of(s))
        if alone and not still and store.index == loop.index and store.pointer not in read:
            yield store.pointer, store.value.code


def _loads(value: lf.Expr) -> Iterator[lf.Load]:
    match value:
        case lf.Load(index=index):
            yield value
            yield from _loads(index)
        case lf.Apply(args=args):
            for arg in args:
                yield from _loads(arg)
        case _:
            pass


def _named_in(statement: lf.Statement) -> Iterator[lf.Slot]:
    for each_ in lf.each((statement,)):
        for value in lf.expressions_of(each_):
            yield from lf.slots_in(value)
