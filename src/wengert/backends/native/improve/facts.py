"""What a procedure changes, and what its memory is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ..form.loopform import (
    Allocate,
    Apply,
    Assign,
    Copy,
    Enlarge,
    Expr,
    External,
    For,
    Invoke,
    Multiply,
    Procedure,
    Release,
    Slot,
    Store,
    assigned_in,
    each,
    expressions_of,
    slots_in,
)


class Facts:
    """What is known of the memory of a procedure.

    Attributes:
        sizes: how many elements arrays have, where that is known.
    """

    def __init__(self, procedure: Procedure, others: Sequence[Procedure], sizes: dict[Slot, Expr]):
        self.sizes = dict(sizes)
        self._same: dict[Slot, Slot] = {}
        self._allocated: Counter[Slot] = Counter()
        self._assigned = Counter(assigned_in(procedure.body))
        for statement in each(procedure.body):
            match statement:
                case Allocate(pointer=pointer, count=count):
                    self._allocated[pointer] += 1
                    self.sizes[pointer] = count
                case Assign(slot=Slot(code="ptr") as slot, value=Slot() as value):
                    if self.root(slot) != self.root(value):
                        self._same[self.root(slot)] = self.root(value)
                case _:
                    pass
        self._changes = _changes(others)
        self._keeping = _keeping(others)

    def root(self, pointer: Slot) -> Slot:
        """One of the names of a piece of memory, the same for all of them."""
        while pointer in self._same:
            pointer = self._same[pointer]
        return pointer

    def has_one_name(self, pointer: Slot) -> bool:
        """Whether memory is known by one variable only, which always stands for the same."""
        return pointer not in self._same and pointer not in self._same.values()

    def size(self, pointer: Slot) -> Expr | None:
        """How many elements an array has, in variables that never change."""
        size = self.sizes.get(pointer)
        if size is None or self._allocated[pointer] > 1 or not self.has_one_name(pointer):
            return None
        return size if all(self._assigned[slot] <= 1 for slot in slots_in(size)) else None

    def may_change(self, call: Invoke, number: int) -> bool:
        """Whether a call may change the memory that an argument points to."""
        return number in self._changes.get(call.function, {number})

    def keeps(self, loop: For) -> bool:
        """Whether a loop calls what keeps memory that is read later: a thread's own ends with its part."""
        return any(
            isinstance(statement, Invoke) and statement.function in self._keeping
            for statement in each(loop.body)
        )

    def fixed_in(self, loop: For) -> set[Slot]:
        """The variables that a loop gives values to."""
        return {*assigned_in(loop.body), loop.index}


def _changes(procedures: Sequence[Procedure]) -> dict[str, set[int]]:
    """For each procedure the parameters whose memory it may change."""
    found: dict[str, set[int]] = {p.name: set() for p in procedures}
    while True:
        before = sum(map(len, found.values()))
        for procedure in procedures:
            found[procedure.name] |= set(_changed_by(procedure, found))
        if sum(map(len, found.values())) == before:
            return found


def _keeping(procedures: Sequence[Procedure]) -> set[str]:
    """The procedures that hand on the address of memory, or call one that does."""
    found: set[str] = set()
    while True:
        more = {p.name for p in procedures if p.name not in found and _keeps(p, found)}
        if not more:
            return found
        found |= more


def _keeps(procedure: Procedure, known: set[str]) -> bool:
    return any(
        (isinstance(statement, Invoke) and statement.function in known)
        or any(_takes_address(value) for value in expressions_of(statement))
        for statement in each(procedure.body)
    )


def _takes_address(value: Expr) -> bool:
    return isinstance(value, Apply) and (
        value.op == "address" or any(map(_takes_address, value.args))
    )


def _changed_by(procedure: Procedure, known: dict[str, set[int]]) -> Iterator[int]:
    numbers = {slot: k for k, slot in enumerate(procedure.params)}
    named: set[Slot] = set()
    for statement in each(procedure.body):
        match statement:
            case Store(pointer=target) | Copy(target=target) | Multiply(target=target):
                named.add(target)
            case Enlarge(pointer=target) | Release(pointer=target):
                named.add(target)
            case External(args=args):
                named.update(arg.pointer for arg in args)
            case Assign(value=Slot(code="ptr") as other):
                named.add(other)
            case Invoke(function=function, args=args):
                changed = known.get(function, set(range(len(args))))
                named.update(a for k, a in enumerate(args) if isinstance(a, Slot) and k in changed)
            case _:
                pass
    yield from (numbers[slot] for slot in named if slot in numbers)
