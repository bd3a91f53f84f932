"""Records that hold some words only where they are going to be read.

A function that has a base case keeps little there. Where one word of a record says which way a call went, and all
who read some others ask it before, these others come last in the record, and a call that went the other way
leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....ir.records import replace
from ..form import loopform as lf
from ..values.emitter import Names
from ..values.layouts import Layout
from ..values.values import ZERO, integer
from .dead_fields import moved_words, word_of
from .memory_planning import with_blocks
from .sink_loads import sunk

Guard = tuple[int, bool]
"""A word, and whether it is other than zero."""


class _Read(NamedTuple):
    """A word that is read, and what is known of others of the same record there."""

    word: int
    known: frozenset[Guard]


def with_conditional_words(
    procedures: Sequence[lf.Procedure], layouts: Sequence[Layout], names: Names
) -> list[lf.Procedure]:
    """The procedures of a program with records as long as they are going to be read."""
    lasting = {slot for layout in layouts for slot in layout.readers}
    made = [sunk(procedure, lasting) for procedure in procedures]
    for layout in layouts:
        guard, words = _best_guard([r for p in made for r in _Reads(p, layout).found])
        if len(words) > 1:
            made = _with_words_last(made, layout, guard, words, names)
    return made


def _best_guard(reads: Sequence[_Read]) -> tuple[Guard, set[int]]:
    """What is known wherever any of the most words are read, and these words."""
    known: dict[int, frozenset[Guard]] = {}
    for read in reads:
        known[read.word] = known.get(read.word, read.known) & read.known
    best: tuple[Guard, set[int]] = (0, False), set()
    for guard in sorted({guard for guards in known.values() for guard in guards}):
        words = {word for word, guards in known.items() if guard in guards}
        if len(words) > len(best[1]) and not known[guard[0]]:
            best = guard, words
    return best


class _Reads:
    """The words that a procedure reads of records of a layout."""

    def __init__(self, procedure: lf.Procedure, layout: Layout):
        self._readers = frozenset(layout.readers)
        self._once = _assigned_once(procedure)
        self._values = {
            s.slot: s.value
            for s in lf.each(procedure.body)
            if isinstance(s, lf.Assign) and s.slot in self._once
        }
        self.found = list(self._in(procedure.body, {}))

    def _in(
        self, statements: Sequence[lf.Statement], known: dict[lf.Expr | None, frozenset[Guard]]
    ) -> Iterator[_Read]:
        for statement in statements:
            match statement:
                case lf.Assign(value=lf.Load(pointer=pointer, index=index)) if (
                    pointer in self._readers
                ):
                    whose = self._whose(pointer)
                    yield _Read(word_of(index), known.get(whose, frozenset()))
                case lf.If(condition=condition, then=then, other=other):
                    for block, holds in ((then, True), (other, False)):
                        yield from self._in(block, self._learned(known, condition, holds=holds))
                case _:
                    for name in ("test", "body"):
                        yield from self._in(getattr(statement, name, ()), known)

    def _learned(
        self, known: dict[lf.Expr | None, frozenset[Guard]], condition: lf.Expr, *, holds: bool
    ) -> dict[lf.Expr | None, frozenset[Guard]]:
        value = self._resolved(condition)
        match value:
            case lf.Apply(op="ne", args=(word, lf.Constant(value=0))):
                match self._resolved(word):
                    case lf.Load(pointer=pointer, index=index) if pointer in self._readers:
                        whose = self._whose(pointer)
                        if whose is not None:
                            learned = known.get(whose, frozenset()) | {(word_of(index), holds)}
                            return {**known, whose: learned}
                    case _:
                        pass
            case _:
                pass
        return known

    def _resolved(self, value: lf.Expr) -> lf.Expr:
        while isinstance(value, lf.Slot) and value in self._values:
            value = self._values[value]
        return value

    def _whose(self, reader: lf.Slot) -> lf.Expr | None:
        """The address of a record; None if it changes."""
        match self._values.get(reader):
            case lf.Apply(op="pointer", args=(address,)):
                address = self._resolved(address)
                stays = all(slot in self._once for slot in lf.slots_in(address))
                return address if stays and not isinstance(address, lf.Load) else None
            case _:
                return None


def _assigned_once(procedure: lf.Procedure) -> set[lf.Slot]:
    seen, twice = set(procedure.params), set[lf.Slot]()
    for slot in lf.assigned_in(procedure.body):
        (twice if slot in seen else seen).add(slot)
    return seen - twice


# --- writing ------------------------------------------------------------------------------


def _with_words_last(
    procedures: Sequence[lf.Procedure], layout: Layout, guard: Guard, words: set[int], names: Names
) -> list[lf.Procedure]:
    """The procedures with these words last in a record, and only where the guard holds."""
    written = [s for p in procedures for s in lf.each(p.body) if _is_part(s, layout)]
    taken = [s for s in written if isinstance(s, lf.Allocate)]
    present = [word_of(s.index) for s in written if isinstance(s, lf.Store)]
    if len(taken) != 1 or len(set(present)) < len(present):
        return list(procedures)
    always = sorted(set(present) - words)
    places = {word: place for place, word in enumerate([*always, *sorted(words)])}
    moved = moved_words(procedures, layout, places)
    guard = places[guard[0]], guard[1]
    writing = _Writing(layout, guard, len(always), lf.Slot(names.fresh("is_read"), "b1"))
    return [replace(p, body=tuple(writing.block(p.body))) for p in moved]


def _is_part(statement: lf.Statement, layout: Layout) -> bool:
    """Whether a statement takes the memory of a record, or writes a word of it."""
    return isinstance(statement, (lf.Allocate, lf.Store)) and statement.pointer == layout.record


class _Writing(NamedTuple):
    """How a record is written.

    Attributes:
        layout: of the record.
        guard: where it has all its words.
        always: how many it has in any case.
        holds: a variable for whether the guard does.
    """

    layout: Layout
    guard: Guard
    always: int
    holds: lf.Slot

    def block(self, statements: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
        """The statements of a block; the record is made where its last word is known."""
        parts = [s for s in statements if _is_part(s, self.layout)]
        for statement in statements:
            if not _is_part(statement, self.layout):
                yield with_blocks(statement, self.block)
            elif statement is parts[-1]:
                yield from self._record(parts)

    def _record(self, parts: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
        stores = {word_of(s.index): s for s in parts if isinstance(s, lf.Store)}
        (taken,) = (s for s in parts if isinstance(s, lf.Allocate))
        word, is_set = self.guard
        yield lf.Assign(
            self.holds, lf.Apply("ne" if is_set else "eq", (stores[word].value, ZERO), "b1")
        )
        sizes = (integer(len(stores)), integer(self.always))
        yield replace(taken, count=lf.Apply("select", (self.holds, *sizes), "i64"))
        yield from (store for place, store in stores.items() if place < self.always)
        yield lf.If(self.holds, tuple(s for place, s in stores.items() if place >= self.always))
