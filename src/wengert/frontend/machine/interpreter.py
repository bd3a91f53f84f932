"""The interpreter's state, and how values meet where paths of control meet.

Statements and expressions are run symbolically: a run-time value becomes an atom of the IR under
construction, everything else is known. Exits (`return`, `break`, `continue`, `raise`) are names like
any other (`%returned`, `%break0` …), so that merging paths merges them too.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...errors import Finding, UnsupportedSyntax, WengertError
from ...ir.builder import Builder
from ...ir.graph import Atom, Const, Eqn, Span, Var, births
from ...ir.op import Op
from ...ir.records import mutable_record
from ...ir.types import Static
from ...ops import structure as st
from ...ops.refusals import REFUSALS
from .. import heap as hp
from ..control import deferral
from ..control.arms import Arm, Merge
from ..control.catching import Catching, Leaves
from ..control.merging import Merger
from ..domain.parts import Part
from ..domain.values import Closure, Items, Iteration, Maybe, Native, Place, Scope, Value, held_by
from ..heap import cells
from .protocol import Operations
from .reading import Diverges, Frame, NeedsKnown, Reading, Step
from .runs import builder_for, known
from .segments import Marked

_LIBRARIES = (__file__.rsplit(os.sep, 2)[0] + os.sep, np.__file__.rsplit(os.sep, 1)[0] + os.sep)
_STANDARD = os.__file__.rsplit(os.sep, 1)[0] + os.sep
"""Where functions are written that the user only calls."""


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

    def __init__(self, it: Interpreter, span: Span | None):
        self._it = it
        self._before = it.builder.span
        self._span = span or self._before

    def __enter__(self) -> None:
        self._it.builder.span = self._span

    def __exit__(self, *error: object) -> None:
        self._it.builder.span = self._before


class Interpreter(Operations):
    """Reads one function (and what it calls) into one block."""

    def __init__(self, reading: Reading, builder: Builder | None = None, namespace: str = "py"):
        self.reading = reading
        self.builder = builder or builder_for(reading.run)
        self.namespace = namespace
        """The namespace that ops called by their own name (in rule rows) are emitted in."""
        self.frames: list[Frame] = []
        self.only_asks = False
        """Whether what is read only answers whether it can be read: no function is called by itself."""
        self.heap: hp.Heap = {}
        """What the objects that have changed hold now."""
        self.looking: set[Place] = set()
        """Objects that are being brought up to date."""
        self.packing: set[Place] = set()
        """Objects that are being made run-time values."""
        self.walked_by_index: list[tuple[Atom, Atom]] | None = None
        """Whether a loop that is about to be read changes the items it walks over."""
        self.asking = reading.general
        """Whether of what cannot be followed is asked, when the program runs, that it never changes."""
        self.walked_by_turn: list[tuple[Atom, Atom]] | None = None
        """Whether it replaces items of something of unknown kind."""
        self.turns_around = 1
        """How often what is read now is read, for the loops around it that are written out."""
        self.held: list[Value] = []
        """What statements that are being read hold without a name: what loops walk over."""
        self.catching = Catching(self)
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
        frame = self.frame
        if _is_only_called(frame.closure.file):
            return self.builder.span  # the user's line, which called it
        return Span(
            frame.closure.file,
            line,
            node.col_offset,  # type: ignore[attr-defined]
            node.end_lineno or line,  # type: ignore[attr-defined]
            node.end_col_offset or 0,  # type: ignore[attr-defined]
            frame.closure.name,
        )

    def at(self, node: ast.AST) -> Emitting:
        """Equations emitted inside `with it.at(node)` come from this node."""
        builder = self.builder
        return Emitting(self, builder.span if builder.derived else self.span(node))

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
        value = hp.now(self, value)
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
                return hp.packed(self, value, name)
            case Maybe():
                raise AssertionError("a name that may be unbound was not checked")
            case Iteration(form="checkpoint", parts=(inner, _)):
                return self.atom(inner)
            case Iteration():
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
        value = known(self, value)
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

    # --- branches -------------------------------------------------------------------------

    def branch(self, condition: Value, then: Step, other: Step) -> None:
        """Run one of two paths, or both behind a run-time condition, and merge what they leave."""
        known = self.known_truth(condition)
        if known is not None:
            (then if known else other)()
            return
        condition = self.atom(condition)
        self.catching.whole(lambda: self._branch(condition, then, other))

    def _branch(self, condition: Atom, then: Step, other: Step) -> None:
        before, heap = dict(self.vars), self.heap
        start = next(births)
        arms = [self._arm(step, before, heap) for step in (then, other)]
        self.heap = heap
        self.settle(condition, arms, start)

    def settle(self, condition: Atom, arms: list[Arm], start: int) -> None:
        """After both arms of a branch have been read: go on in what they leave together, or in one."""
        refusal = deferral.refused_on_all(arms)
        if refusal is not None:
            raise refusal
        if all(arm.dead for arm in arms):
            for arm in arms:  # what it calls before it raises may raise what is caught
                self.catching.merge_open(arm)
        if all(arm.dead for arm in arms):
            self._emit_if(condition, arms, [])
            raise Diverges
        heap = self.heap
        has_left = [self.catching.has_left(arm) for arm in arms]
        if any(has_left) and not any(arm.dead for arm in arms) and not all(has_left):
            self.catching.go_on_in(condition, arms, has_left.index(True), heap, start)
            return
        ends = [arm.vars for arm, left in zip(arms, has_left, strict=True) if not arm.dead | left]
        for arm in arms:
            self.catching.merge_open(arm)
        self.merge_arms(condition, arms, heap, start)
        if not ends:
            raise Leaves
        self.catching.after_blocks(ends)

    def merge_arms(self, condition: Atom, arms: list[Arm], heap: hp.Heap, start: int) -> None:
        """Merge what both arms of a branch leave; `heap` was before it."""
        cells.out_of_cells(arms)
        with self.catching.quiet():
            merge = Merge(arms, condition, start)
            self.frame.scope.vars = self._merge_vars(merge)
            self.heap = self._merge_heaps(merge, heap)
            self._emit_if(condition, arms, merge.outs)

    def _arm(self, step: Step, before: dict[str, Value], heap: hp.Heap) -> Arm:
        outer = self.builder
        self.builder = outer.child()
        self.frame.scope.vars = dict(before)
        self.heap = dict(heap)
        arm = self.read_arm(step)
        self.builder = outer
        return arm

    def read_arm(self, step: Step) -> Arm:
        """Read one side of a branch, into a builder of its own that is set up."""
        level = len(self.catching.arms)
        dead, refusal = self._read_to_its_end(step)
        open_ = self.catching.take_open(level)
        return Arm(self.builder, self.vars, self.heap, dead, refusal, open_)

    def read_path(self, step: Step, *, certain: bool = False) -> bool:
        """Read what a path does, to its end; gives whether it never comes back.

        It is `certain` to be taken, or not.
        """
        level, (dead, _) = len(self.catching.arms), self._read_to_its_end(step, certain=certain)
        return self.catching.close(level, dead=dead)

    def _read_to_its_end(
        self, step: Step, *, certain: bool = False
    ) -> tuple[bool, WengertError | None]:
        """Whether a path never comes back, and the error that is raised on it since it cannot be read."""
        dead, refusal = False, None
        path, around = deferral.beginning(self), self.reading.on_a_path
        self.reading.on_a_path = around or not certain
        try:
            step()
        except Diverges:
            dead = True
        except Leaves:
            pass
        except REFUSALS as error:
            error.on_a_path = error.on_a_path or not certain
            if path is None or certain:
                raise
            deferral.refuse_when_run(self, path, error)
            dead, refusal = True, error
        finally:
            self.reading.on_a_path = around
        if self.catching.explicit:
            self.catching.close_segment()
        return dead, refusal

    def _emit_if(
        self, condition: Atom, arms: list[Arm], outs: list[tuple[Var, Atom, Atom]]
    ) -> None:
        if not outs and not any(arm.builder.eqns for arm in arms):
            return
        then = arms[0].builder.block((), [pair[1] for pair in outs])
        other = arms[1].builder.block((), [pair[2] for pair in outs])
        self.builder.if_(condition, then, other, [pair[0] for pair in outs])

    def _merge_vars(self, merge: Merge) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        a, b = merge.arms
        own = {n for arm in merge.arms if arm.dead for n in arm.vars if n.startswith("%")}
        live = {n for arm in merge.arms if not arm.dead for n in arm.vars}
        for name in {**a.vars, **b.vars}:
            if name in own - live:
                continue  # what a path that never comes back has left of its loops
            merger = Merger(self, merge, name)
            merged[name] = merger.merge_names(a.vars.get(name), b.vars.get(name))
        return merged

    def _merge_heaps(self, merge: Merge, before: hp.Heap) -> hp.Heap:
        """What the objects hold that are known outside the branch."""
        merged = dict(before)
        a, b = (arm.heap for arm in merge.arms)
        for place in {**a, **b}:
            if place.born <= merge.start:
                contents = (hp.content_in(a, place), hp.content_in(b, place))
                merged[place] = Merger(self, merge, "").merge_content(place, *contents)
        return {**merged, **merge.exported}

    def choose(
        self, condition: Value, then: Callable[[], Value], other: Callable[[], Value]
    ) -> Value:
        """The value of a conditional expression."""
        slot = "%value"
        while slot in self.vars:  # merging what the arms of another choice leave may choose, too
            slot += "'"

        def put(make: Callable[[], Value]) -> Step:
            def step() -> None:
                value = make()
                self.vars[slot] = value

            return step

        self.branch(condition, put(then), put(other))
        return hp.now(self, self.vars.pop(slot))

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
    def aside(self) -> Generator[Builder, None, None]:
        """Read into a block of its own; names keep what they were bound to before."""
        mark = self.mark()
        self.builder = mark.builder.child()
        try:
            with self.catching.apart():
                yield self.builder
        finally:
            self.return_to(mark)

    def asks_its_class(self, value: Items) -> bool:
        """Whether the truth of an object is what a method of its class says."""
        from ..classes.class_lookup import own_method

        methods = ("__bool__", "__len__") if isinstance(value.type, type) else ()
        return any(own_method(value.type, name) is not None for name in methods)

    def known_truth(self, value: Value) -> bool | None:
        """The truth of a value where it is known without running."""
        match value:
            case Const(value=constant):
                return bool(constant)
            case Items(form=form, values=values):
                if form in ("tuple", "list", "dict"):
                    return bool(values)
                if self.asks_its_class(value):
                    return None
                return bool(values) if form == "namedtuple" else True
            case Iteration(form="checkpoint", parts=(inner, _)):
                return self.known_truth(inner)
            case Iteration(form="keys" | "values" | "items", parts=(mapping, *_)):
                return self.known_truth(
                    hp.now(self, mapping)
                )  # a view is true where it is not empty
            case Closure() | Native() | Iteration():
                return True
            case Var():
                decided = known(self, value)
                return bool(decided.value) if isinstance(decided, Const) else None
            case _:
                return None

    # --- exits ----------------------------------------------------------------------------

    def run(self, steps: Sequence[Step]) -> None:
        """Run steps in order; what follows a possible exit runs only where nothing has left."""
        for k, step in enumerate(steps):
            step()
            left = self.left()
            if left == Const(True):
                return
            if left != Const(False):
                rest = steps[k + 1 :]
                if rest:
                    self._run_where_nothing_left(left, rest)
                return

    def run_rest(self, left: Atom, rest: Step) -> None:
        """Run what follows a possible exit where nothing has left."""
        if left != Const(True):
            self._run_where_nothing_left(left, [rest])

    def _run_where_nothing_left(self, left: Atom, rest: Sequence[Step]) -> None:
        depth = self.frame.loops
        only_by_return = all(
            self.flag(f"%{exit_}{depth}") == Const(False) for exit_ in ("break", "continue")
        )
        always_returns = True

        def run_rest() -> None:
            nonlocal always_returns
            for name in self.exits():
                self.set(name, Const(False))
            self.run(rest)
            always_returns = self.flag("%returned") == Const(True)

        self.branch(left, lambda: None, run_rest)
        if only_by_return and always_returns:
            # it had returned, or it returned (or raised) now
            self.set("%returned", Const(True))
            value = self.get("%return")
            assert value is not None
            self.set("%return", value.value if isinstance(value, Maybe) else value)

    def left(self) -> Atom:
        """Whether control has left the current sequence of statements."""
        return self.either(*map(self.flag, self.exits()))

    def exits(self) -> list[str]:
        """The flags for the ways out of the current sequence of statements."""
        depth = self.frame.loops
        names = ("%returned", f"%break{depth}", f"%continue{depth}")
        return [name for name in names if name in self.vars]

    def flag(self, name: str) -> Atom:
        value = self.get(name)
        if value is None:
            return Const(False)
        assert isinstance(value, (Var, Const))
        return value

    def either(self, *flags: Atom) -> Atom:
        """Whether any of some flags is set."""
        open_flags = [flag for flag in flags if flag != Const(False)]
        if any(flag == Const(True) for flag in open_flags):
            return Const(True)
        if not open_flags:
            return Const(False)
        result, *others = open_flags
        for flag in others:
            result = self.emit(st.either, result, flag)
        return result

    def set(self, name: str, value: Value) -> None:
        """Say what a name of the interpreter's own is in the current function."""
        found = self.vars.get(name)
        if isinstance(found, Items) and found.form == "cell":
            cells.write(self, found, value)
        else:
            self.vars[name] = value

    def get(self, name: str) -> Value | None:
        """What a name of the interpreter's own is in the current function."""
        found = self.vars.get(name)
        if isinstance(found, Items) and found.form == "cell":
            return cells.contents(self, found)
        return found

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

    # --- names ----------------------------------------------------------------------------

    def checked(self, value: Value, name: str, *, own: bool = True) -> Value:
        """A value that is certainly bound; where it may not be, its use checks at run time.

        `own` says that the name belongs to the function that reads it.
        """
        if not isinstance(value, Maybe):
            return value
        params: dict[str, Atom] = {"name": Const(name)}
        params |= {} if own else {"free": Const(True)}
        checked = self.builder.emit_with(st.bound, [value.witness], params)
        return self._with_witness(value, checked)

    def _with_witness(self, value: Maybe, checked: Atom) -> Value:
        if value.value is value.witness:
            return checked
        return self._with_leaf(value.value, value.witness, checked)

    def _with_leaf(self, value: Value, old: Var, new: Atom) -> Value:
        """A value with another leaf."""
        if value is old:
            return new
        if not isinstance(value, Items):
            return value
        values = [self._with_leaf(v, old, new) for v in value.values]
        unchanged = all(a is b for a, b in zip(values, value.values, strict=True))
        return value if unchanged else value.holding(values)


@mutable_record
class Mark:
    """A state of the reading."""

    builder: Builder
    last: Eqn | None
    span: Span | None
    heap: hp.Heap
    scopes: dict[int, tuple[Scope, dict[str, Value]]]
    loops: list[int]
    open: Marked
