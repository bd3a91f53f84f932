"""Records without words that nobody reads, and without what was computed for these alone.

A record is made before it is known what is read of it: the functions that read it are lowered later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....ir.records import replace, value_record
from ..form import loopform as lf
from ..values.layouts import Layout
from ..values.values import integer
from .memory_planning import with_blocks, without_unread


def without_unread_words(
    procedures: Sequence[lf.Procedure], layouts: Sequence[Layout]
) -> list[lf.Procedure]:
    """The procedures of a program with those words of its records that are read."""
    made = list(procedures)
    while True:
        moves = [move for layout in layouts if (move := _move(layout, made)).drops]
        if not moves:
            return made
        moved = _Moved(moves)
        made = [without_unread(moved.procedure(procedure)) for procedure in made]


def moved_words(
    procedures: Sequence[lf.Procedure], layout: Layout, places: dict[int, int]
) -> list[lf.Procedure]:
    """The procedures of a program with the words of a record in other places."""
    moved = _Moved([_Move(layout.record, frozenset(layout.readers), places, drops=False)])
    return [moved.procedure(procedure) for procedure in procedures]


@value_record
class _Move:
    """Where the words of a record are going to be.

    Attributes:
        record: the record where it is written.
        readers: the record where it is read.
        places: for each word that stays, its place among them.
        drops: whether there are others, or room for others.
    """

    record: lf.Slot | None
    readers: frozenset[lf.Slot]
    places: dict[int, int]
    drops: bool


def _move(layout: Layout, procedures: Sequence[lf.Procedure]) -> _Move:
    readers = frozenset(layout.readers)
    written, read = set[int](), set[int]()
    room = 0
    for statement in (s for procedure in procedures for s in lf.each(procedure.body)):
        match statement:
            case lf.Allocate(pointer=pointer, count=lf.Constant(value=size)) if (
                pointer == layout.record
            ):
                room = int(size)
            case lf.Store(pointer=pointer, index=index) if pointer == layout.record:
                written.add(word_of(index))
            case lf.Assign(value=lf.Load(pointer=pointer, index=index)) if pointer in readers:
                read.add(word_of(index))
            case _:
                pass
    places = {word: place for place, word in enumerate(sorted(read))}
    drops = not written <= read or room > max(len(places), 1)
    return _Move(layout.record, readers, places, drops=drops)


def word_of(index: lf.Expr) -> int:
    """The number of a word, which is known."""
    assert isinstance(index, lf.Constant)
    return int(index.value)


class _Moved:
    """Statements with the words of records in their new places."""

    def __init__(self, moves: Sequence[_Move]):
        self._written = {move.record: move.places for move in moves}
        self._read = {slot: move.places for move in moves for slot in move.readers}

    def procedure(self, procedure: lf.Procedure) -> lf.Procedure:
        return replace(procedure, body=tuple(self._block(procedure.body)))

    def _block(self, statements: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
        for statement in statements:
            match statement:
                case lf.Allocate(pointer=pointer) if pointer in self._written:
                    yield replace(statement, count=integer(max(len(self._written[pointer]), 1)))
                case lf.Store(pointer=pointer, index=index) if pointer in self._written:
                    place = self._written[pointer].get(word_of(index))
                    if place is not None:
                        yield replace(statement, index=integer(place))
                case lf.Assign(value=lf.Load(pointer=pointer, index=index) as load) if (
                    pointer in self._read
                ):
                    place = self._read[pointer][word_of(index)]
                    yield replace(statement, value=replace(load, index=integer(place)))
                case _:
                    yield with_blocks(statement, self._block)
