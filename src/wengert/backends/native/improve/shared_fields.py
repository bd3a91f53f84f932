"""Records without words that are the same as others: in the same record, or in those of the calls in a call.

A word that always holds what another one of its record holds is not kept. What a recursive function passes on
unchanged to the calls of itself is the same in all their records: it is kept once, by the call from outside, and
each record holds where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....ir.records import replace
from ..form.loopform import (
    Allocate,
    Apply,
    Assign,
    Constant,
    Expr,
    If,
    Invoke,
    Load,
    Procedure,
    Slot,
    Statement,
    Store,
    assigned_in,
    each,
)
from ..form.value_numbering import Numbering
from ..values.emitter import Names
from ..values.layouts import Layout
from ..values.values import integer
from .dead_fields import without_unread_words, word_of
from .memory_planning import with_blocks

FEWEST = 2
"""A word for where they are takes the place of so many, at least."""


def with_shared_words(
    procedures: Sequence[Procedure], layouts: Sequence[Layout], names: Names
) -> list[Procedure]:
    """The procedures of a program with shorter records."""
    made = list(procedures)
    for layout in layouts:
        writer = _writer(made, layout)
        if writer is not None:
            made = _without_twins(made, layout, writer)
    made = without_unread_words(made, layouts)
    for layout in layouts:
        writer = _writer(made, layout)
        if writer is not None:
            made = _with_common_words(made, layout, writer, names)
    return made


def _writer(procedures: Sequence[Procedure], layout: Layout) -> Procedure | None:
    """The procedure that makes records of a layout."""
    return next((p for p in procedures if any(_makes(s, layout) for s in each(p.body))), None)


def _makes(statement: Statement, layout: Layout) -> bool:
    return isinstance(statement, Allocate) and statement.pointer == layout.record


def _words(writer: Procedure, layout: Layout, numbering: Numbering) -> dict[int, int]:
    """The number of what each word holds, for words that are written once."""
    found: dict[int, list[int]] = {}
    for statement in each(writer.body):
        if isinstance(statement, Store) and statement.pointer == layout.record:
            found.setdefault(word_of(statement.index), []).append(numbering.stored[id(statement)])
    return {word: numbers[0] for word, numbers in found.items() if len(numbers) == 1}


# --- words that hold the same -------------------------------------------------------------


def _without_twins(
    procedures: Sequence[Procedure], layout: Layout, writer: Procedure
) -> list[Procedure]:
    """The procedures, none of which reads a word that holds what an earlier one does."""
    first: dict[int, int] = {}
    words = _words(writer, layout, Numbering(writer))
    earlier = {word: first.setdefault(number, word) for word, number in sorted(words.items())}
    readers = frozenset(layout.readers)

    def read(statements: Sequence[Statement]) -> Iterator[Statement]:
        for statement in statements:
            match statement:
                case Assign(value=Load(pointer=pointer, index=index) as load) if pointer in readers:
                    word = word_of(index)
                    index = integer(earlier.get(word, word))
                    yield replace(statement, value=replace(load, index=index))
                case _:
                    yield with_blocks(statement, read)

    return [replace(p, body=tuple(read(p.body))) for p in procedures]


# --- words that all calls in a call share -------------------------------------------------


class _Common(NamedTuple):
    """What a recursive function passes on unchanged.

    Attributes:
        layout: of its records.
        writer: the function.
        words: the words that are the same in all records, and what they hold.
        given: a parameter of the function: where these words are, null in a call from outside.
        place: the word of a record that says where.
    """

    layout: Layout
    writer: Procedure
    words: dict[int, Expr]
    given: Slot
    place: int


def _with_common_words(
    procedures: Sequence[Procedure], layout: Layout, writer: Procedure, names: Names
) -> list[Procedure]:
    words = _passed_on(writer, layout)
    if len(words) < FEWEST:
        return list(procedures)
    given = Slot(names.fresh("common"), "ptr")
    common = _Common(layout, writer, words, given, min(words))
    made = [_Sharing(common, p, names).procedure() for p in procedures]
    return without_unread_words(made, [layout])


def _passed_on(writer: Procedure, layout: Layout) -> dict[int, Expr]:
    """The words of a record that are the same in the records of all calls in a call."""
    numbering = Numbering(writer)
    own = [s for s in each(writer.body) if isinstance(s, Invoke) and s.function == writer.name]
    changing = set(assigned_in(writer.body))
    unchanged = {
        param
        for k, param in enumerate(writer.params)
        if all(numbering.passed[id(s)][k] == numbering.of_param(param) for s in own)
    }
    found: dict[int, Expr] = {}
    for word, number in _words(writer, layout, numbering).items():
        expr = numbering.computed_from(number, unchanged - changing) if own else None
        if expr is not None and not isinstance(expr, Constant):
            found[word] = expr
    return found


class _Sharing:
    """A procedure that keeps common words once, or reads them where they are."""

    def __init__(self, common: _Common, procedure: Procedure, names: Names):
        self.common = common
        self.is_writer = procedure is common.writer
        self.old = procedure
        self.names = names
        self._readers = frozenset(common.layout.readers)
        self._order = {word: k for k, word in enumerate(sorted(common.words))}

    def procedure(self) -> Procedure:
        body = tuple(self._block(self.old.body))
        if not self.is_writer:
            return replace(self.old, body=body)
        params = (*self.old.params, self.common.given)
        return replace(self.old, params=params, body=(*self._kept_once(), *body))

    def _kept_once(self) -> Iterator[Statement]:
        """In a call from outside, the common words are kept."""
        given, words = self.common.given, self.common.words
        where = Apply("address", (given,), "i64")
        stores = (Store(given, integer(k), words[word]) for word, k in self._order.items())
        taken = Allocate(given, integer(len(words)), "i64", in_arena=self._in_arena())
        yield If(Apply("eq", (where, integer(0)), "b1"), (taken, *stores), rarely=True)

    def _in_arena(self) -> bool:
        makes = next(s for s in each(self.old.body) if _makes(s, self.common.layout))
        assert isinstance(makes, Allocate)
        return makes.in_arena

    def _block(self, statements: Sequence[Statement]) -> Iterator[Statement]:
        for statement in statements:
            match statement:
                case Store(pointer=pointer, index=index) if pointer == self.common.layout.record:
                    yield from self._store(statement, word_of(index))
                case Assign(value=Load(pointer=pointer, index=index)) if pointer in self._readers:
                    yield from self._read(statement, pointer, word_of(index))
                case Invoke(function=name) if name == self.common.writer.name:
                    nothing = Apply("pointer", (integer(0),), "ptr")
                    where = self.common.given if self.is_writer else nothing
                    yield replace(statement, args=(*statement.args, where))
                case _:
                    yield with_blocks(statement, self._block)

    def _store(self, statement: Store, word: int) -> Iterator[Statement]:
        if word == self.common.place:
            where = Apply("address", (self.common.given,), "i64")
            yield replace(statement, value=where)
        elif word not in self._order:
            yield statement

    def _read(self, statement: Assign, reader: Slot, word: int) -> Iterator[Statement]:
        if word not in self._order:
            yield statement
            return
        where, common = (
            Slot(self.names.fresh("where"), "i64"),
            Slot(self.names.fresh("common"), "ptr"),
        )
        yield Assign(where, Load(reader, integer(self.common.place), "i64"))
        yield Assign(common, Apply("pointer", (where,), "ptr"))
        yield replace(statement, value=Load(common, integer(self._order[word]), "i64"))
