"""Records without words that are the same as others: in the same record, or in those of the calls in a call.

A word that always holds what another one of its record holds is not kept. What a recursive function passes on
unchanged to the calls of itself is the same in all their records: it is kept once, by the call from outside, and
each record holds where.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....ir.records import replace
from ..form import loopform as lf
from ..form.value_numbering import Numbering
from ..values.emitter import Names
from ..values.layouts import Layout
from ..values.values import integer
from .dead_fields import without_unread_words, word_of
from .memory_planning import with_blocks

FEWEST = 2
"""A word for where they are takes the place of so many, at least."""


def with_shared_words(
    procedures: Sequence[lf.Procedure], layouts: Sequence[Layout], names: Names
) -> list[lf.Procedure]:
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


def _writer(procedures: Sequence[lf.Procedure], layout: Layout) -> lf.Procedure | None:
    """The procedure that makes records of a layout."""
    return next((p for p in procedures if any(_makes(s, layout) for s in lf.each(p.body))), None)


def _makes(statement: lf.Statement, layout: Layout) -> bool:
    return isinstance(statement, lf.Allocate) and statement.pointer == layout.record


def _words(writer: lf.Procedure, layout: Layout, numbering: Numbering) -> dict[int, int]:
    """The number of what each word holds, for words that are written once."""
    found: dict[int, list[int]] = {}
    for statement in lf.each(writer.body):
        if isinstance(statement, lf.Store) and statement.pointer == layout.record:
            found.setdefault(word_of(statement.index), []).append(numbering.stored[id(statement)])
    return {word: numbers[0] for word, numbers in found.items() if len(numbers) == 1}


# --- words that hold the same -------------------------------------------------------------


def _without_twins(
    procedures: Sequence[lf.Procedure], layout: Layout, writer: lf.Procedure
) -> list[lf.Procedure]:
    """The procedures, none of which reads a word that holds what an earlier one does."""
    first: dict[int, int] = {}
    words = _words(writer, layout, Numbering(writer))
    earlier = {word: first.setdefault(number, word) for word, number in sorted(words.items())}
    readers = frozenset(layout.readers)

    def read(statements: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
        for statement in statements:
            match statement:
                case lf.Assign(value=lf.Load(pointer=pointer, index=index) as load) if (
                    pointer in readers
                ):
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
    writer: lf.Procedure
    words: dict[int, lf.Expr]
    given: lf.Slot
    place: int


def _with_common_words(
    procedures: Sequence[lf.Procedure], layout: Layout, writer: lf.Procedure, names: Names
) -> list[lf.Procedure]:
    words = _passed_on(writer, layout)
    if len(words) < FEWEST:
        return list(procedures)
    given = lf.Slot(names.fresh("common"), "ptr")
    common = _Common(layout, writer, words, given, min(words))
    made = [_Sharing(common, p, names).procedure() for p in procedures]
    return without_unread_words(made, [layout])


def _passed_on(writer: lf.Procedure, layout: Layout) -> dict[int, lf.Expr]:
    """The words of a record that are the same in the records of all calls in a call."""
    numbering = Numbering(writer)
    own = [
        s for s in lf.each(writer.body) if isinstance(s, lf.Invoke) and s.function == writer.name
    ]
    changing = set(lf.assigned_in(writer.body))
    unchanged = {
        param
        for k, param in enumerate(writer.params)
        if all(numbering.passed[id(s)][k] == numbering.of_param(param) for s in own)
    }
    found: dict[int, lf.Expr] = {}
    for word, number in _words(writer, layout, numbering).items():
        expr = numbering.computed_from(number, unchanged - changing) if own else None
        if expr is not None and not isinstance(expr, lf.Constant):
            found[word] = expr
    return found


class _Sharing:
    """A procedure that keeps common words once, or reads them where they are."""

    def __init__(self, common: _Common, procedure: lf.Procedure, names: Names):
        self.common = common
        self.is_writer = procedure is common.writer
        self.old = procedure
        self.names = names
        self._readers = frozenset(common.layout.readers)
        self._order = {word: k for k, word in enumerate(sorted(common.words))}

    def procedure(self) -> lf.Procedure:
        body = tuple(self._block(self.old.body))
        if not self.is_writer:
            return replace(self.old, body=body)
        params = (*self.old.params, self.common.given)
        return replace(self.old, params=params, body=(*self._kept_once(), *body))

    def _kept_once(self) -> Iterator[lf.Statement]:
        """In a call from outside, the common words are kept."""
        given, words = self.common.given, self.common.words
        where = lf.Apply("address", (given,), "i64")
        stores = (lf.Store(given, integer(k), words[word]) for word, k in self._order.items())
        taken = lf.Allocate(given, integer(len(words)), "i64", in_arena=self._in_arena())
        yield lf.If(lf.Apply("eq", (where, integer(0)), "b1"), (taken, *stores), rarely=True)

    def _in_arena(self) -> bool:
        makes = next(s for s in lf.each(self.old.body) if _makes(s, self.common.layout))
        assert isinstance(makes, lf.Allocate)
        return makes.in_arena

    def _block(self, statements: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
        for statement in statements:
            match statement:
                case lf.Store(pointer=pointer, index=index) if pointer == self.common.layout.record:
                    yield from self._store(statement, word_of(index))
                case lf.Assign(value=lf.Load(pointer=pointer, index=index)) if (
                    pointer in self._readers
                ):
                    yield from self._read(statement, pointer, word_of(index))
                case lf.Invoke(function=name) if name == self.common.writer.name:
                    nothing = lf.Apply("pointer", (integer(0),), "ptr")
                    where = self.common.given if self.is_writer else nothing
                    yield replace(statement, args=(*statement.args, where))
                case _:
                    yield with_blocks(statement, self._block)

    def _store(self, statement: lf.Store, word: int) -> Iterator[lf.Statement]:
        if word == self.common.place:
            where = lf.Apply("address", (self.common.given,), "i64")
            yield replace(statement, value=where)
        elif word not in self._order:
            yield statement

    def _read(self, statement: lf.Assign, reader: lf.Slot, word: int) -> Iterator[lf.Statement]:
        if word not in self._order:
            yield statement
            return
        where, common = (
            lf.Slot(self.names.fresh("where"), "i64"),
            lf.Slot(self.names.fresh("common"), "ptr"),
        )
        yield lf.Assign(where, lf.Load(reader, integer(self.common.place), "i64"))
        yield lf.Assign(common, lf.Apply("pointer", (where,), "ptr"))
        yield replace(statement, value=lf.Load(common, integer(self._order[word]), "i64"))
