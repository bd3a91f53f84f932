"""Programs that are read for one run: what is known of its values, and loops that are written out turn by turn.

A program is read for arguments of some kinds. Where that is refused it is read once more, for one call: what follows
from its values is known (`one_run`), and loops whose turns they decide are written out. Every object that such a
loop makes or meets is then known by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.builder import Builder
from ...ir.graph import Atom, Const, Eqn, Span, Var
from ...ir.op import Op
from ...ir.types import INT, Kind
from ...ops import structure as st
from ...ops.program import identity as ident
from ..domain.values import Items, Value, flatten

if TYPE_CHECKING:
    from ..domain.running import Running
    from .interpreter import Interpreter
    from .one_run import OneRun


class Values(tuple[Any, ...]):  # noqa: SLOT001 - a tuple has no slots for what it is made of
    """All leaves of an input of one call; equal to no others."""

    whole: Any
    """The input itself."""
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Unsure:
    """What is known of a value of which nothing is."""


UNSURE = Unsure()


class RunBuilder(Builder):
    """The builder of one run: notes what is known of results; what has no derivative is a constant then."""

    __slots__ = ("run",)

    def __init__(self, run: OneRun | None, span: Span | None = None, *, derived: bool = False):
        super().__init__(span, derived=derived)
        self.run = run

    def child(self) -> Builder:
        return RunBuilder(self.run, self.span, derived=self.derived).within(self)

    def emit_with(
        self,
        op: Op,
        args: Sequence[Atom],
        params: Mapping[str, Atom],
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
    ) -> Atom:
        out = super().emit_with(op, args, params, namespace, name, kind)
        if self.run is None or isinstance(out, Const) or op.effect or op is st.global_:
            return out
        if out in self.run.given and out.kind == INT:
            return out
        eqn = self.eqns[-1] if self.eqns else None
        decided = self.run.constant(self, out)
        if decided is None or isinstance(decided.value, slice):
            return out
        if eqn is not None and eqn is self.eqns[-1] and eqn.outs == (out,):
            self.eqns.pop()  # nothing reads it
        return decided

    def append(self, eqn: Eqn, *, derived: bool = False) -> None:
        super().append(eqn, derived=derived)
        if self.run is not None:
            self.run.note(eqn)


def builder_for(run: OneRun | None) -> Builder:
    """A builder for a reading."""
    return Builder() if run is None else RunBuilder(run)


def known(it: Interpreter, value: Value) -> Value:
    """A value as a constant where the run decides it: for what has no derivative in it."""
    if it.reading.run is None or not isinstance(value, Var):
        return value
    return it.reading.run.known(it.builder, value) or value


def with_known_keys(it: Interpreter, value: Value) -> Value:
    """A dictionary of which the values of a run say the keys, its items apart; anything else as it is."""
    run = it.reading.run
    keys = run.keys(it.builder, value) if run is not None and isinstance(value, Var) else None
    if keys is None:
        return value
    return Items("dict", keys, tuple(it.getitem(value, Const(key)) for key in keys))


def handed_on(it: Interpreter, value: Value, inside: Value) -> None:
    """What is known of a value is known of the parameter that stands for it, leaf by leaf."""
    run = it.reading.run
    leaves, params = list(flatten(value)), list(flatten(inside))
    if run is None or len(leaves) != len(params):
        return
    for leaf, param in zip(leaves, params, strict=True):
        if isinstance(param, Var) and run.of(leaf) is not UNSURE:
            run.facts[param] = run.of(leaf)
            run.given.add(param)


def take_turn(it: Interpreter) -> None:
    """One more turn is written out.

    Raises:
        UnsupportedSyntax: there are too many.
    """
    assert it.reading.run is not None
    it.reading.run.turns -= 1
    if it.reading.run.turns < 0:
        raise it.unsupported("this loop has too many turns to be written out", "Use fewer.")


def turns_of(it: Interpreter, running: Running) -> int | None:
    """How many turns a loop over something has, where the run decides it, or names that it walks over."""
    run = it.reading.run
    if run is None:
        return _turns_of_names(it, running)
    if running.every is not None:
        return None
    lengths = [run.length(it.builder, it.atom(iterable)) for iterable in running.iterables]
    known_lengths = [length for length in lengths if length is not None]
    return min(known_lengths) if len(known_lengths) == len(lengths) else None


def _turns_of_names(it: Interpreter, running: Running) -> int | None:
    if running.named is None:
        return None
    for array in running.named.arrays:
        length = it.emit(st.length, it.atom(array))
        it.emit(ident.long_enough, length, Const(running.named.turns))
    return running.named.turns


def by_turns(it: Interpreter, running: Running) -> Iterator[Value] | None:
    """The items of a loop turn by turn, where it is known how many there are."""
    count = turns_of(it, running)
    return None if count is None else (item_of_turn(it, running, k) for k in range(count))


def item_of_turn(it: Interpreter, running: Running, k: int) -> Value:
    """What a loop binds in one of its turns."""
    if it.reading.run is None and running.named is not None:
        return running.named.item(k)
    take_turn(it)
    return taken(it, running, k)


def taken(it: Interpreter, running: Running, k: int) -> Value:
    """The item that a loop comes to in one of its turns: arrays are looked at then, not before."""
    elements: list[Any] = []
    for iterable in running.iterables:
        if isinstance(iterable, Const):
            elements.append(Const(iterable.value[k]))
        else:
            elements.append(it.emit(st.getitem, it.atom(it.now(iterable)), Const(k)))
    return running.item(elements)
