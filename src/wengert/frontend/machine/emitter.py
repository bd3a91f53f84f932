"""The state of a reading: where it is, what it emits there, and marks to return to."""

from __future__ import annotations

import ast
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import Finding, UnsupportedSyntax
from ...ir.builder import Builder
from ...ir.graph import Atom, Const, Eqn, Span, Var
from ...ir.op import Op
from ...ir.records import mutable_record
from ...ir.types import Static
from ..domain.parts import Part
from ..domain.values import (
    Closure,
    Items,
    LazyIterable,
    Maybe,
    Native,
    ObjectId,
    Scope,
    Value,
    held_by,
)
from .data_model import DataModel
from .flow import Flow
from .segments import Marked
from .session import Frame, NeedsKnown, Session

if TYPE_CHECKING:
    from ..heap import Heap


_LIBRARIES = (__file__.rsplit(os.sep, 3)[0] + os.sep, np.__file__.rsplit(os.sep, 1)[0] + os.sep)
_STANDARD = os.__file__.rsplit(os.sep, 1)[0] + os.sep
"""Where functions are written that the user only calls."""


@lru_cache(maxsize=1024)
def _is_only_called(file: str) -> bool:
    """Whether a file is of a library that the user cannot change; packages may be their own."""
    if file.startswith(_LIBRARIES):
        return True
    return file.startswith(_STANDARD) and not file.startswith(_PACKAGES)


_PACKAGES = tuple(_STANDARD + name for name in ("site-packages", "dist-packages"))


class Emitting:
    """Equations emitted inside come from a place in the source, where one is given.

    A class, since it is entered for every expression: a generator would take twice as long.
    """

    __slots__ = ("_before", "_it", "_span")

    def __init__(self, it: Emitter, span: Span | None):
        self._it = it
        self._before = it.builder.span
        self._span = span or self._before

    def __enter__(self) -> None:
        self._it.builder.span = self._span

    def __exit__(self, *error: object) -> None:
        self._it.builder.span = self._before


class Emitter(DataModel, Flow):
    """Where the reading is, and the equations that it emits there."""

    def __init__(self, reading: Session, builder: Builder | None = None, namespace: str = "py"):
        self.reading = reading
        self.builder = builder or Builder()
        self.namespace = namespace
        """The namespace that ops called by their own name (in rule rows) are emitted in."""
        self.frames: list[Frame] = []
        self.only_asks = False
        """Whether what is read only answers whether it can be read: no function is called by itself."""
        self.heap: Heap = {}
        """What the objects that have changed hold now."""
        self.looking: set[ObjectId] = set()
        """Objects that are being brought up to date."""
        self.packing: set[ObjectId] = set()
        self.packed_once: dict[ObjectId, Atom] | None = None
        """Objects that are being made run-time values."""
        self.walked_by_index: list[tuple[Atom, Atom]] | None = None
        """Whether a loop that is about to be read changes the items it walks over."""
        self.asking = reading.general
        """Whether of what cannot be followed is asked, when the program runs, that it never changes."""
        self.walked_by_turn: list[tuple[Atom, Atom]] | None = None
        """Whether it replaces items of something of unknown kind."""
        self.turns_around = 1
        """How often what is read now is read, for the loops around it that are written out."""
        self.short_loops: list[Value] = []
        """The numbers or items of the loops around it that are read as loops, and may be written out instead."""
        self.held: list[Value] = []
        """What statements that are being read hold without a name: what loops walk over."""
        self.catching = self.new_catching()
        """What catches the exceptions of what is being read."""
        self.handling: list[Value] = []
        """The exceptions whose handlers are being read."""

    # --- where we are ---------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def vars(self) -> dict[str, Value]:
        return self.frame.scope.vars

    def span(self, node: ast.AST) -> Span | None:
        line = getattr(node, "lineno", None)
        if line is None:
            return None
        closure = self.frames[-1].closure
        if _is_only_called(closure.file):
            return self.builder.span  # the user's line, which called it
        return Span(
            closure.file,
            line,
            node.col_offset,  # type: ignore[attr-defined]
            node.end_lineno or line,  # type: ignore[attr-defined]
            node.end_col_offset or 0,  # type: ignore[attr-defined]
            closure.name,
        )

    def at(self, node: ast.AST) -> Emitting:
        """Equations emitted inside `with it.at(node)` come from this node."""
        builder = self.builder
        span = self.span(node)
        if not _is_only_called(self.frames[-1].closure.file):
            self.reading.budget.spend(span)
        return Emitting(self, builder.span if builder.derived else span)

    def unsupported(
        self, message: str, hint: str, node: ast.AST | None = None
    ) -> UnsupportedSyntax:
        """The error for a construct that cannot be read, with everything else in the same function."""
        from ..syntax.fence import findings

        span = self.span(node) if node is not None else self.builder.span
        found = [Finding(message, hint, span)]
        if self.frames:
            others = findings(self.frame.closure.node, self.frame.closure.file)
            here = [f for f in others if f.span and span and f.span.line == span.line]
            found = here if any(f.message == message for f in here) else found
            found += [f for f in others if f not in here]
            found.sort(key=lambda f: (f.span.line, f.span.column) if f.span else (0, 0))
        error = UnsupportedSyntax.of(found)
        assert isinstance(error, UnsupportedSyntax)
        return error

    # --- emitting -------------------------------------------------------------------------

    def emit(
        self, op: Op, *args: Atom, namespace: str = "py", name: str = "", **params: Atom
    ) -> Atom:
        return self.builder.emit_with(op, args, params, namespace, name)

    def atom(self, value: Value, name: str = "") -> Atom:
        """The value as one run-time value; known containers are packed."""
        value = self.now(value)
        match value:
            case Const(value=Part() as part):
                return self.packed_table(part)
            case Var() | Const():
                return value
            case Items(form="function" | "derivative", home=home) if home is not None:
                return home
            case Items(form="iterator"):
                return self.atom(self.as_list(value))
            case Items(form="function"):
                raise self.unsupported(
                    "a function with captured values cannot be stored here",
                    "Call it where it is made, or pass it to the function that calls it.",
                )
            case Items():
                self.refuse_packing(value)
                return self.packed(value, name)
            case Maybe():
                raise AssertionError("a name that may be unbound was not checked")
            case LazyIterable(form="checkpoint", parts=(inner, _)):
                return self.atom(inner)
            case LazyIterable():
                return self.atom(self.as_list(value))
            case Closure():
                return self.escape(value)
            case Native(value=inner) if inner is not None:
                return Const(inner)
            case Native(name=name):
                raise self.unsupported(
                    f"{name} cannot be stored as a value here", "Call it where it is made."
                )

    def constant(self, value: Value) -> Any:
        """The value itself, of something that must be known when the program is read.

        A global or captured whole number is looked up, and guarded: another number, another program.

        Raises:
            LookupError: it depends on the run.
        """
        match value:
            case Const(value=constant):
                return constant
            case Items(form="tuple" | "list", values=values):
                return tuple(self.constant(v) for v in values)
            case Var() if value in self.reading.read_from:
                holder, key = self.reading.read_from[value]
                found = held_by(holder, key)
                if isinstance(found, int):
                    self.reading.guards[id(holder), key] = holder, key, Static(found)
                    return found
            case Var() if value in self.reading.captured:
                raise NeedsKnown(*self.reading.captured[value])
            case _:
                pass
        raise LookupError(value)

    @contextmanager
    def holding(self, value: Value) -> Generator[None]:
        """A value is held by what is read inside `with it.holding(value)`, though no name refers to it."""
        self.held.append(value)
        try:
            yield
        finally:
            self.held.pop()

    @contextmanager
    def writing_out(self, turns: int) -> Generator[None]:
        """A loop is written out: what is read inside is read so often."""
        around = self.turns_around
        self.turns_around *= max(turns, 1)
        try:
            yield
        finally:
            self.turns_around = around

    # --- blocks ---------------------------------------------------------------------------

    def mark(self) -> Mark:
        """Where the reading is, to return to if what is read next turns out to be unreadable."""
        scopes: dict[int, tuple[Scope, dict[str, Value]]] = {}
        for frame in self.frames:
            scope: Scope | None = frame.scope
            while scope is not None:
                scopes[id(scope)] = scope, dict(scope.vars)
                scope = scope.outer
        loops = [frame.loops for frame in self.frames]
        last = self.builder.eqns[-1] if self.builder.eqns else None
        span, open_ = self.builder.span, self.catching.mark()
        return Mark(self.builder, last, span, dict(self.heap), scopes, loops, open_)

    def return_to(self, mark: Mark) -> None:
        """Forget what was read since."""
        self.builder, self.heap = mark.builder, dict(mark.heap)
        self.builder.span = mark.span
        self.builder.forget_after(mark.last)
        del self.frames[len(mark.loops) :]
        for frame, loops in zip(self.frames, mark.loops, strict=True):
            frame.loops = loops
        for scope, names in mark.scopes.values():
            scope.vars = dict(names)
        self.catching.return_to(mark.open)

    @contextmanager
    def within(self, builder: Builder, heap: Heap | None = None) -> Generator[None]:
        """Read into another block, and see what objects hold there."""
        outer, around = self.builder, self.heap
        self.builder = builder
        if heap is not None:
            self.heap = heap
        try:
            yield
        finally:
            self.builder = outer
            if heap is not None:
                self.heap = around

    @contextmanager
    def aside(self) -> Generator[Builder, None, None]:
        """Read into a block of its own; names keep what they were bound to before."""
        mark = self.mark()
        self.builder = mark.builder.child()
        try:
            with self.catching.apart():
                yield self.builder
        finally:
            self.return_to(mark)

    @contextmanager
    def activation(
        self,
        closure: Closure,
        scope: Scope,
        bound: Mapping[str, Value],
        around: Frame | None = None,
    ) -> Generator[Frame, None, None]:
        """Read in the body of a function."""
        frame = Frame(closure, scope, bound=bound, around=around)
        self.frames.append(frame)
        before = self.builder.span
        try:
            yield frame
        finally:
            self.frames.pop()
            self.builder.span = before


@mutable_record
class Mark:
    """A state of the reading."""

    builder: Builder
    last: Eqn | None
    span: Span | None
    heap: Heap
    scopes: dict[int, tuple[Scope, dict[str, Value]]]
    loops: list[int]
    open: Marked
