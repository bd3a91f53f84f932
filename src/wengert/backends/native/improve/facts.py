"""What a procedure changes, and what its memory is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..form import loopform as lf


class Facts:
    """What is known of the memory of a procedure.

    Attributes:
        sizes: how many elements arrays have, where that is known.
    """

    def __init__(
        self, procedure: lf.Procedure, others: Sequence[lf.Procedure], sizes: dict[lf.Slot, lf.Expr]
    ):
        self.sizes = dict(sizes)
        self._same: dict[lf.Slot, lf.Slot] = {}
        self._allocated: Counter[lf.Slot] = Counter()
        self._assigned = Counter(lf.assigned_in(procedure.body))
        for statement in lf.each(procedure.body):
            match statement:
                case lf.Allocate(pointer=pointer, count=count):
                    self._allocated[pointer] += 1
                    self.sizes[pointer] = count
                case lf.Assign(slot=lf.Slot(code="ptr") as slot, value=lf.Slot() as value):
                    if self.root(slot) != self.root(value):
                        self._same[self.root(slot)] = self.root(value)
                case _:
                    pass
        self._changes = _changes(others)
        self._keeping = _keeping(others)

    def root(self, pointer: lf.Slot) -> lf.Slot:
        """One of the names of a piece of memory, the same for all of them."""
        while pointer in self._same:
            pointer = self._same[pointer]
        return pointer

    def has_one_name(self, pointer: lf.Slot) -> bool:
        """Whether memory is known by one variable only, which always stands for the same."""
        return pointer not in self._same and pointer not in self._same.values()

    def size(self, pointer: lf.Slot) -> lf.Expr | None:
        """How many elements an array has, in variables that never change."""
        size = self.sizes.get(pointer)
        if size is None or self._allocated[pointer] > 1 or not self.has_one_name(pointer):
            return None
        return size if all(self._assigned[slot] <= 1 for slot in lf.slots_in(size)) else None

    def may_change(self, call: lf.Invoke, number: int) -> bool:
        """Whether a call may change the memory that an argument points to."""
        return number in self._changes.get(call.function, {number})

    def keeps(self, loop: lf.For) -> bool:
        """Whether a loop calls what keeps memory that is read later: a thread's own ends with its part."""
        return any(
            isinstance(statement, lf.Invoke) and statement.function in self._keeping
            for statement in lf.each(loop.body)
        )

    def fixed_in(self, loop: lf.For) -> set[lf.Slot]:
        """The variables that a loop gives values to."""
        return {*lf.assigned_in(loop.body), loop.index}


def _changes(procedures: Sequence[lf.Procedure]) -> dict[str, set[int]]:
    """For each procedure the parameters whose memory it may change."""
    found: dict[str, set[int]] = {p.name: set() for p in procedures}
    while True:
        before = sum(map(len, found.values()))
        for procedure in procedures:
            found[procedure.name] |= set(_changed_by(procedure, found))
        if sum(map(len, found.values())) == before:
            return found


def _keeping(procedures: Sequence[lf.Procedure]) -> set[str]:
    """The procedures that hand on the address of memory, or call one that does."""
    found: set[str] = set()
    while True:
        more = {p.name for p in procedures if p.name not in found and _keeps(p, found)}
        if not more:
            return found
        found |= more


def _keeps(procedure: lf.Procedure, known: set[str]) -> bool:
    return any(
        (isinstance(statement, lf.Invoke) and statement.function in known)
        or any(_takes_address(value) for value in lf.expressions_of(statement))
        for statement in lf.each(procedure.body)
    )


def _takes_address(value: lf.Expr) -> bool:
    return isinstance(value, lf.Apply) and (
        value.op == "address" or any(map(_takes_address, value.args))
    )


def _changed_by(procedure: lf.Procedure, known: dict[str, set[int]]) -> Iterator[int]:
    numbers = {slot: k for k, slot in enumerate(procedure.params)}
    named: set[lf.Slot] = set()
    for statement in lf.each(procedure.body):
        match statement:
            case lf.Store(pointer=target) | lf.Copy(target=target) | lf.Multiply(target=target):
                named.add(target)
            case lf.Enlarge(pointer=target) | lf.Release(pointer=target):
                named.add(target)
            case lf.External(args=args):
                named.update(arg.pointer for arg in args)
            case lf.Assign(value=lf.Slot(code="ptr") as other):
                named.add(other)
            case lf.Invoke(function=function, args=args):
                changed = known.get(function, set(range(len(args))))
                named.update(
                    a for k, a in enumerate(args) if isinstance(a, lf.Slot) and k in changed
                )
            case _:
                pass
    yield from (numbers[slot] for slot in named if slot in numbers)
