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
from functools import partial
from types import FunctionType
from typing import Any, TypeGuard

import numpy as np

from ..errors import Finding, UnsupportedSyntax
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import UNDEFINED, Atom, Callee, Const, Eqn, Span, Var, births
from ..ir.op import Op
from ..ir.records import field, mutable_record, replace
from ..ir.types import BOOL, UNKNOWN, Kind, Number, Static, join
from ..ops import structure as st
from . import cells
from . import heap as hp
from .catching import Catching, Leaves, Marked, OpenArm
from .values import (
    Choice,
    Closure,
    Items,
    Iteration,
    Lost,
    Maybe,
    Native,
    Part,
    Place,
    Scope,
    Value,
    flatten,
    is_mutable,
    kind_of_value,
    same,
    unflatten,
)

Step = Callable[[], None]


_LIBRARIES = (__file__.rsplit(os.sep, 2)[0] + os.sep, np.__file__.rsplit(os.sep, 1)[0] + os.sep)
"""Where functions are written that the user only calls."""


class Diverges(Exception):
    """The path being read never comes back: it raises, or recurses without end."""


class NeedsCallee(Exception):
    """A function turned out to be recursive: read again, keeping it a function of its own."""


class NeedsKnown(Exception):
    """A captured number turned out to be an option that must be known when the program is read."""

    def __init__(self, template: Any, name: str):
        self.template = template
        self.name = name


@mutable_record
class Frame:
    """One activation of a function that is being inlined."""

    closure: Closure
    scope: Scope
    loops: int = 0
    around: Frame | None = None
    """Of a comprehension, the function that it stands in."""
    producing: Any = None
    """Of a generator, what `yield` does."""
    unbound: set[str] = field(default_factory=set[str])
    """Local names that were read where nothing had bound them."""
    bound: Mapping[str, Value] = field(default_factory=dict[str, "Value"])
    """The arguments that it was called with."""


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


@mutable_record
class Reading:
    """What one reading of a program collects, whatever function it is in."""

    guards: dict[tuple[int, str], tuple[Any, str, Kind]] = field(default_factory=dict[Any, Any])
    """Globals the reading relied on: holder, key and the kind (or identity) it had."""
    separate: set[Any] = field(default_factory=set[Any])
    """Functions that are not inlined, because they recurse."""
    callees: dict[Any, Callee] = field(default_factory=dict[Any, Callee])
    special: Callable[[Any], Callable[..., Value] | None] = lambda function: None
    """How to read a call of a function, where it is one of wengert's own."""
    read_from: dict[Atom, tuple[Any, str]] = field(default_factory=dict[Atom, tuple[Any, str]])
    """Where a value that is read when the program runs comes from: holder and key."""
    captured: dict[Atom, tuple[Any, str]] = field(default_factory=dict[Atom, tuple[Any, str]])
    """The captured values of the function that is differentiated: what made it, and the name."""
    inputs: list[Value] = field(default_factory=list["Value"])
    """The arguments of the program, and what they hold: the caller's own objects."""
    entries: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """For a parameter of a loop's body, the value it has when the loop starts."""
    inert: set[Atom] = field(default_factory=set[Atom])
    """What opaque calls gave: nothing that is got from it has a derivative."""
    loop_kinds: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What earlier attempts learned about the values a loop carries."""
    places: dict[Var, Place] = field(default_factory=dict[Var, Place])
    """Which object every version of a value that changes belongs to."""
    writes: dict[Place | None, list[tuple[int, int]]] = field(default_factory=dict[Any, Any])
    """The writes to every object: when, and through how many containers."""
    globals_at: dict[Any, Place] = field(default_factory=dict[Any, Place])
    """The objects that were there before the program ran, by what tells them apart."""
    changed_outside: dict[int, Any] = field(default_factory=dict[int, Any])
    """Those of them that the program changes, by identity."""
    seen_outside: dict[int, Any] = field(default_factory=dict[int, Any])
    """Those that it reads."""
    outside: dict[int, Var] = field(default_factory=dict[int, Var])
    """What those that it changes are at its start."""
    choices: dict[Var, tuple[Atom, Atom | None, Atom | None]] = field(
        default_factory=dict[Var, Any]
    )
    """A value that is one of two objects: the condition, and each object made outside the branch."""
    aliases: dict[Place, dict[Place, int]] = field(default_factory=dict[Place, Any])
    """For every object, those that change with it: and through how many containers at least."""
    holding: dict[Place, dict[Place, int]] = field(default_factory=dict[Place, Any])
    """Objects that hold some of the same objects, and through how many containers they do."""
    linked: set[Var] = field(default_factory=set[Var])
    """Run-time containers of which it has been found out where their items came from."""
    sharings: dict[Place, dict[Any, int]] = field(default_factory=dict[Place, Any])
    """Where parts of every object were put into containers, and how deep in it they were."""
    checked: set[Any] = field(default_factory=set[Any])
    """The places in the source where that needs a check when the program runs."""
    doubtful: dict[Var, None] = field(default_factory=dict[Var, None])
    """Containers that are to be checked before the next statement that moves no items."""
    stands_for: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """What a part of something was when it was looked at again, and the part."""
    walked: set[Var] = field(default_factory=set[Var])
    """Lists of what something of unknown kind holds, made to walk over it: they stand for it."""
    elements: dict[Var, int] = field(default_factory=dict[Var, int])
    """The items that a loop walks over, and the loop."""
    given: dict[int, Any] = field(default_factory=dict[int, Any])
    """The containers among the inputs that were taken apart, and the names of the inputs (with the
    function, of one that is called)."""
    whole: set[Any] = field(default_factory=set[Any])
    """The inputs that are not taken apart, since the program changes them."""
    by_index: set[int] = field(default_factory=set[int])
    """The loops that walk over what they change."""
    copies: dict[Atom, Any] = field(default_factory=dict[Atom, Any])
    """Run-time copies of known containers, and the places in the source where they were made."""
    copied: dict[Place, set[Any]] = field(default_factory=dict[Place, Any])
    """For known objects, the places in the source where something that holds them was copied."""
    kept: set[Any] = field(default_factory=set[Any])
    """The places where the container itself is wanted, since it or its copy changes."""
    local_classes: dict[tuple[int, int], tuple[type, Scope]] = field(default_factory=dict[Any, Any])
    """The classes that the program defines, by statement and scope."""
    remembered: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """What methods gave that remember their results: the result, its block, the objects then."""
    class_attributes: dict[tuple[type, str], Place] = field(default_factory=dict[Any, Place])
    """The attributes of classes that the program assigns to."""
    root: Builder | None = None
    """The block of the program itself."""
    early: list[Eqn] = field(default_factory=list[Eqn])
    """What is to be done at its very start."""
    bound_outside: dict[tuple[int, str], tuple[Any, str]] = field(default_factory=dict[Any, Any])
    """The names that the program binds that were there before it: holder and key."""
    cells: dict[tuple[int, str], Items] = field(default_factory=dict[Any, Any])
    """Their cells."""
    externals: dict[Place, tuple[Any, str]] = field(default_factory=dict[Place, Any])
    """Holder and key, by the identities of the cells."""
    derivative: Callable[..., Value] = lambda it, verb, function, args, kwargs: NotImplemented
    """How to read a call of a derivative function."""
    opted_out: Callable[[Any], bool] = lambda function: False
    """Whether the code of an op that stands for a function is to be read, not its rule."""


class Interpreter:
    """Reads one function (and what it calls) into one block."""

    def __init__(self, reading: Reading, builder: Builder | None = None, namespace: str = "py"):
        self.reading = reading
        self.builder = builder or Builder()
        self.namespace = namespace
        """The namespace that ops called by their own name (in rule rows) are emitted in."""
        self.frames: list[Frame] = []
        self.heap: hp.Heap = {}
        """What the objects that have changed hold now."""
        self.looking: set[Place] = set()
        """Objects that are being brought up to date."""
        self.packing: set[Place] = set()
        """Objects that are being made run-time values."""
        self.walked_by_index: list[tuple[Atom, Atom]] | None = None
        """Whether a loop that is about to be read changes the items it walks over."""
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
        if frame.closure.file.startswith(_LIBRARIES):
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
        from .fence import findings

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
            case Var() | Const():
                return value
            case Items(form="function" | "derivative", home=home) if home is not None:
                return home
            case Items(form="iterator"):
                from .iteration import as_list

                return self.atom(as_list(self, value))
            case Items(form="function"):
                raise self.unsupported(
                    "a function with captured values cannot be stored here",
                    "Call it where it is made, or pass it to the function that calls it.",
                )
            case Items():
                return hp.packed(self, value, name)
            case Maybe():
                raise AssertionError("a name that may be unbound was not checked")
            case Iteration(form="checkpoint", parts=(inner, _)):
                return self.atom(inner)
            case Iteration():
                from .iteration import as_list

                return self.atom(as_list(self, value))
            case Closure():
                from .calls import escape

                return escape(self, value)
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
                found = holder[key] if isinstance(holder, dict) else getattr(holder, key)
                if isinstance(found, int):
                    self.reading.guards[id(holder), key] = holder, key, Static(found)
                    return found
            case Var() if value in self.reading.captured:
                raise NeedsKnown(*self.reading.captured[value])
            case _:
                pass
        raise LookupError(value)

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
        level, dead = len(self.catching.arms), self._read_to_its_end(step)
        return Arm(self.builder, self.vars, self.heap, dead, self.catching.take_open(level))

    def read_path(self, step: Step) -> bool:
        """Read what a path does, to its end; gives whether it never comes back."""
        level, dead = len(self.catching.arms), self._read_to_its_end(step)
        return self.catching.close(level, dead=dead)

    def _read_to_its_end(self, step: Step) -> bool:
        dead = False
        try:
            step()
        except Diverges:
            dead = True
        except Leaves:
            pass
        if self.catching.explicit:
            self.catching.close_segment()
        return dead

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
        for name in {**a.vars, **b.vars}:
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

        def put(make: Callable[[], Value]) -> Step:
            def step() -> None:
                value = make()
                self.vars[slot] = value

            return step

        self.branch(condition, put(then), put(other))
        return self.vars.pop(slot)

    def mark(self) -> Mark:
        """Where the reading is, to return to if what is read next turns out to be unreadable."""
        scopes: dict[int, tuple[Scope, dict[str, Value]]] = {}
        for frame in self.frames:
            scope: Scope | None = frame.scope
            while scope is not None:
                scopes[id(scope)] = scope, dict(scope.vars)
                scope = scope.outer
        loops = [frame.loops for frame in self.frames]
        written, open_ = len(self.builder.eqns), self.catching.mark()
        return Mark(self.builder, written, dict(self.heap), scopes, loops, open_)

    def return_to(self, mark: Mark) -> None:
        """Forget what was read since."""
        self.builder, self.heap = mark.builder, dict(mark.heap)
        del self.builder.eqns[mark.written :], self.frames[len(mark.loops) :]
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
        methods = (getattr(value.type, name, None) for name in ("__bool__", "__len__"))
        return any(isinstance(method, FunctionType) for method in methods)

    def known_truth(self, value: Value) -> bool | None:
        """The truth of a value where it is known without running."""
        match value:
            case Const(value=constant):
                return bool(constant)
            case Items(form=form, values=values):
                if form in ("tuple", "list", "dict", "namedtuple"):
                    return bool(values)
                return None if self.asks_its_class(value) else True
            case Iteration(form="checkpoint", parts=(inner, _)):
                return self.known_truth(inner)
            case Closure() | Native() | Iteration():
                return True
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
        assert isinstance(value, Var | Const)
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

    def checked(self, value: Value, name: str) -> Value:
        """A value that is certainly bound; where it may not be, its use checks at run time."""
        if not isinstance(value, Maybe):
            return value
        checked = self.builder.emit_with(st.bound, [value.witness], {"name": Const(name)})
        return self._with_witness(value, checked)

    def _with_witness(self, value: Maybe, checked: Atom) -> Value:
        if value.value is value.witness:
            return checked
        return _replace_leaf(value.value, value.witness, checked)


@mutable_record
class Mark:
    """A state of the reading."""

    builder: Builder
    written: int
    heap: hp.Heap
    scopes: dict[int, tuple[Scope, dict[str, Value]]]
    loops: list[int]
    open: Marked


@mutable_record
class Arm:
    """One side of a branch after it has been read."""

    builder: Builder
    vars: dict[str, Value]
    heap: hp.Heap
    dead: bool
    open: list[OpenArm] = field(default_factory=list["OpenArm"])
    """The branches that it goes on in one side of."""


@mutable_record
class Merge:
    """What merging the two arms of one branch shares, whatever name is merged."""

    arms: list[Arm]
    condition: Atom
    start: int
    """What was born later was made inside an arm."""
    outs: list[tuple[Var, Atom, Atom]] = field(default_factory=list[tuple[Var, Atom, Atom]])
    exported: hp.Heap = field(default_factory=dict[Place, Any])
    """What objects that one arm made hold after the branch."""
    known: dict[int, Items] = field(default_factory=dict[int, Items])
    """Known objects that one arm made, as they are called after the branch."""
    named: dict[tuple[int, Place], list[Var]] = field(default_factory=dict[Any, Any])
    """For every object of an arm, the values outside that stand for it."""
    pairs: dict[tuple[int, int], Items] = field(default_factory=dict[tuple[int, int], Items])
    """Objects that stand for one of two."""
    scopes: dict[int, tuple[Scope, Scope]] = field(default_factory=dict[int, tuple[Scope, Scope]])
    """The names that functions made in an arm refer to, there and after the branch."""


def _call_chosen(
    chosen: Var,
    first: Value,
    second: Value,
    it: Interpreter,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> Value:
    from .calls import call

    return it.choose(
        chosen, lambda: call(it, first, args, kwargs), lambda: call(it, second, args, kwargs)
    )


@mutable_record
class Merger:
    """Merges the two values that one name has at the end of two arms."""

    interpreter: Interpreter
    context: Merge
    name: str

    @property
    def arms(self) -> list[Arm]:
        return self.context.arms

    @property
    def outs(self) -> list[tuple[Var, Atom, Atom]]:
        return self.context.outs

    def merge_content(self, place: Place, a: hp.Content, b: hp.Content) -> hp.Content:
        """What an object holds that both arms know."""
        if a is b:
            return a
        for side in (0, 1):
            if self.arms[1 - side].dead:
                content = (a, b)[side]
                if isinstance(content, Part | Lost):
                    return content
                return self._placed(place, self._exported_content(content, side))
        if isinstance(a, Part) and isinstance(b, Part) and (a.place, a.step) == (b.place, b.step):
            return a
        if isinstance(a, Part | Lost) or isinstance(b, Part | Lost):
            return Lost("a branch has moved it")
        a, b = self._current(a, 0), self._current(b, 1)
        pairs = self._held_by_both(a, b)
        if isinstance(a, Items) and pairs is not None:
            values = [self.merge(x, y) for x, y in pairs.values()]
            return self._placed(place, a.holding(values, tuple(pairs)))
        merged = self._merge_as_atoms(a, b)
        placed = self._placed(place, merged)
        self._note_items(merged, a, b)
        return placed

    def _held_by_both(
        self, a: Value, b: Value
    ) -> dict[Any, tuple[Value | None, Value | None]] | None:
        from .objects import attributes_of_both

        if not isinstance(a, Items) or not isinstance(b, Items):
            return None
        return attributes_of_both(self.interpreter, a, b)

    def _exported_content(self, content: Value, side: int) -> Value:
        current = self._current(content, side)
        if isinstance(current, Items):
            values = [self._one_sided(item, side, certain=True) for item in current.values]
            return current.holding(values)
        return self._export(current, side)

    def _placed(self, place: Place, value: Value) -> Value:
        if isinstance(value, Var):
            self.interpreter.reading.places[value] = place
        elif isinstance(value, Items):
            value.place = place
        return value

    def _note_items(self, container: Var, *contents: Value) -> None:
        """What a container held is part of a run-time object now, at a place that depends on the path."""
        it = self.interpreter
        for content in contents:
            for item in content.values if isinstance(content, Items) else ():
                if isinstance(item, Var) and is_mutable(item) and self._is_from_outside(item):
                    for place in hp.identities(it, item, own=True):
                        hp.hold_same(it, place, 0, hp.place_of(it, container), 1)
                elif isinstance(item, Items | Var) and is_mutable(item):
                    place = hp.place_of(it, item)
                    self.context.exported[place] = Lost("branches differ in what holds it")

    def _current(self, value: Value, side: int) -> Value:
        """A value as it is at the end of an arm."""
        it, arm = self.interpreter, self.arms[side]
        outer, heap = it.builder, it.heap
        it.builder, it.heap = arm.builder, arm.heap
        try:
            return hp.now(it, value)
        finally:
            it.builder, it.heap = outer, heap

    def merge_names(self, a: Value | None, b: Value | None) -> Value:
        """What a name refers to; if one arm has lost it, only who reads it later is refused."""
        for side, value in enumerate((a, b)):
            lost = self._lost_in(side, value)
            if lost is not None and value is not (b, a)[side]:
                return self._lost(lost)
        return self.merge(a, b)

    def _lost_in(self, side: int, value: Value | None) -> Lost | None:
        if self.arms[side].dead:
            return None
        inner = value.value if isinstance(value, Maybe) else value
        place = inner.place if isinstance(inner, Items) else None
        if isinstance(inner, Var):
            place = self.interpreter.reading.places.get(inner)
        content = None if place is None else self.arms[side].heap.get(place)
        return content if isinstance(content, Lost) else None

    def _lost(self, content: Lost) -> Items:
        """Something that nobody may ask what it is."""
        from .iterators import lost_iterator

        lost = lost_iterator(self.interpreter, content.reason)
        assert lost.place is not None
        self.context.exported[lost.place] = content
        return lost

    def merge(self, a: Value | None, b: Value | None) -> Value:
        if a is not None and b is not None and same(a, b):
            return a
        if self.arms[0].dead:
            assert b is not None or a is not None
            return self._one_sided(b if b is not None else a, side=1, certain=True)  # type: ignore[arg-type]
        if self.arms[1].dead:
            return self._one_sided(a if a is not None else b, side=0, certain=True)  # type: ignore[arg-type]
        if a is None or b is None:
            present, side = (b, 1) if a is None else (a, 0)
            assert present is not None
            return self._one_sided(present, side, certain=False)
        if isinstance(a, Maybe) or isinstance(b, Maybe):
            return self._merge_maybe(a, b)
        return self._merge_both(a, b)

    def _merge_both(self, a: Value, b: Value) -> Value:
        if same(a, b):
            return a
        if any(isinstance(each, Items) and each.form == "iterator" for each in (a, b)):
            return self._merge_iterators(a, b)
        if isinstance(a, Items) and isinstance(b, Items) and is_mutable(a) and is_mutable(b):
            return self._merge_objects(a, b)
        if (
            isinstance(a, Items)
            and isinstance(b, Items)
            and (a.form, a.keys, a.type) == (b.form, b.keys, b.type)
        ):
            values = [self._merge_both(x, y) for x, y in zip(a.values, b.values, strict=True)]
            return Items(a.form, a.keys, tuple(values), a.type)
        if (isinstance(a, Closure | Native) and isinstance(b, Closure | Native | Const)) or (
            isinstance(b, Closure | Native) and isinstance(a, Const)
        ):
            return self._choice(a, b)
        return self._merge_as_atoms(a, b)

    def _merge_iterators(self, a: Value, b: Value) -> Value:
        """An iterator that is another one on each path: if only the run knows which, nobody may ask it."""
        from .iterators import walks_over_data

        contents = [
            each for pair in ((a, 0), (b, 1)) if (each := self._contents(*pair)) is not None
        ]
        if len(contents) == 2 and all(map(walks_over_data, contents)):
            assert isinstance(a, Items)
            assert isinstance(b, Items)
            return self._merge_objects(a, b)
        return self._lost(Lost("branches differ in which iterator it is"))

    def _contents(self, value: Value, side: int) -> Items | None:
        """What an iterator holds at the end of an arm, if that is known."""
        if not isinstance(value, Items) or value.form != "iterator":
            return None
        content = self.arms[side].heap.get(value.place, value) if value.place else value
        return content if isinstance(content, Items) else None

    def _merge_as_atoms(self, a: Value, b: Value) -> Var:
        atoms = [self._atom_in(0, a), self._atom_in(1, b)]
        out = self._out(join(*map(kind_of_atom, atoms)), *atoms)
        if not is_mutable(out):
            return out
        made_of_others = [self._note_aliases(out, each, side) for side, each in enumerate((a, b))]
        if any(made_of_others):
            known = [each for each in (a, b) if self._is_known_object(each)]
        else:
            self._note_choice(out, a, b)
            known = [each for each in (a, b) if isinstance(each, Items) and is_mutable(each)]
        for each in known:
            if self._is_from_outside(each):
                self._may_be(out, hp.identities(self.interpreter, each, own=True), 0)
        return out

    def _is_known_object(self, value: Value) -> TypeGuard[Var | Items]:
        return isinstance(value, Var | Items) and is_mutable(value)

    def _note_aliases(self, out: Var, value: Value, side: int) -> bool:
        """What an object that an arm made may turn out to be, its stand-in outside may be too.

        Gives whether there is such an object. A value from outside is a choice, which is known exactly.
        """
        if not self._is_known_object(value) or not is_mutable(out) or self._is_from_outside(value):
            return False
        it, start = self.interpreter, self.context.start
        outer, it.builder = it.builder, self.arms[side].builder  # it knows what views are of
        places = hp.identities(it, value, own=True)
        depth = hp.depth_in_whole(it, value)
        it.builder = outer
        outside = {place for place in hp.with_aliases(it, places, start) if place.born <= start}
        self._may_be(out, outside, depth)
        return bool(outside)

    def _may_be(self, out: Var, places: set[Place], depth: int) -> None:
        it = self.interpreter
        for place in places:
            hp.may_be_part(it, hp.place_of(it, out), place, depth)

    def _note_choice(self, out: Var, a: Value, b: Value) -> None:
        """Remember which objects a value may be, of those that are known outside the branch."""
        first, second = (
            each if isinstance(each, Var) and self._is_from_outside(each) else None
            for each in (a, b)
        )
        if first is not None or second is not None:
            self.interpreter.reading.choices[out] = self.context.condition, first, second

    def _is_from_outside(self, value: Var | Items) -> bool:
        place = value.place if isinstance(value, Items) else None
        if isinstance(value, Var):
            place = self.interpreter.reading.places.get(value)
        return (value if place is None else place).born <= self.context.start

    def _merge_objects(self, a: Items, b: Items) -> Value:
        """Two known objects, one on each path: from now on one object that stands for either."""
        key = id(a.place or a), id(b.place or b)
        known = self.context.pairs.get(key)
        if known is not None:
            return known
        x, y = self._current(a, 0), self._current(b, 1)
        if not isinstance(x, Items) or not isinstance(y, Items):
            return self._merge_as_atoms(x, y)
        pairs = self._held_by_both(x, y)
        if pairs is None:
            return self._merge_as_atoms(x, y)
        values = tuple(self.merge(v, w) for v, w in pairs.values())
        merged = Items(a.form, tuple(pairs), values, a.type)
        self.context.pairs[key] = merged
        if self._is_from_outside(a) or self._is_from_outside(b):
            first, second = self._export(a, 0), self._export(b, 1)
            assert isinstance(first, Items)
            assert isinstance(second, Items)
            seen = tuple(
                current if self._is_from_outside(each) else exported
                for each, current, exported in ((a, x, first), (b, y, second))
            )
            place = hp.place_of(self.interpreter, merged)
            place.choice = Choice(self.context.condition, first, second, seen)  # type: ignore[arg-type]
        return merged

    def _choice(self, a: Value, b: Value) -> Native:
        """One of two functions, chosen when the program runs: a call of it is a branch."""
        chosen = self._out(BOOL, Const(True), Const(False))
        first, second = self._function_of(a, 0), self._function_of(b, 1)
        return Native("a chosen function", partial(_call_chosen, chosen, first, second))

    def _function_of(self, function: Value, side: int) -> Value:
        """A function made in one arm, with what it captured there brought out of the arm."""
        match function:
            case Closure():
                scope = self._scope_of(function.scope, side)
                return function if scope is function.scope else replace(function, scope=scope)
            case Native(call=call) if isinstance(call, partial):
                captured = [self._captured(value, side) for value in call.args]
                return replace(function, call=partial(call.func, *captured))
            case _:
                return function

    def _captured(self, value: Any, side: int) -> Any:
        match value:
            case Var() if value.born > self.context.start:
                return self._export_var(value, side)
            case Items() | Closure() | Native() | Maybe():
                return self._one_sided(value, side, certain=True)
            case list() | tuple():
                return type(value)(self._captured(item, side) for item in value)
            case dict():
                return {key: self._captured(item, side) for key, item in value.items()}
            case _:
                return value

    def _scope_of(self, scope: Scope, side: int) -> Scope:
        """The names that a function made in one arm refers to."""
        if any(frame.scope is scope for frame in self.interpreter.frames):
            return scope
        known = self.context.scopes.get(id(scope))
        if known is not None:
            return known[1]
        outer = None if scope.outer is None else self._scope_of(scope.outer, side)
        around = Scope(scope.globals, outer)
        self.context.scopes[id(scope)] = scope, around
        for name, value in scope.vars.items():
            if not name.startswith("%"):
                around.vars[name] = self._captured(value, side)
        return around

    def _atom_in(self, side: int, value: Value) -> Atom:
        it, arm = self.interpreter, self.arms[side]
        outer, heap = it.builder, it.heap
        it.builder, it.heap = arm.builder, arm.heap
        try:
            return it.atom(value)
        finally:
            it.builder, it.heap = outer, heap

    def _out(self, kind: Kind, a: Atom, b: Atom) -> Var:
        if not isinstance(kind, Number):
            for out, x, y in self.outs:
                if x is a and y is b:
                    return out  # two names for one object
        name = "" if self.name.startswith("%") else self.name
        shapes = {x.shape_of for x in (a, b) if isinstance(x, Var)}
        source = (
            next(iter(shapes))
            if len(shapes) == 1 and isinstance(a, Var) and isinstance(b, Var)
            else None
        )
        out = Var(kind, name, source)
        self.outs.append((out, a, b))
        if is_mutable(out):
            self._note_common_objects(out, a, b)
        return out

    def _note_common_objects(self, out: Var, a: Atom, b: Atom) -> None:
        """Two names that are one object in one arm may be one object after the branch."""
        it = self.interpreter
        if all(isinstance(atom, Var) and self._is_from_outside(atom) for atom in (a, b)):
            return  # that is a choice, which is known exactly
        for side, atom in enumerate((a, b)):
            for place in self._identities_in(side, atom):
                others = self.context.named.setdefault((side, place), [])
                for other in others:
                    hp.may_be_one(it, hp.place_of(it, out), hp.place_of(it, other))
                    for each in (out, other):
                        for outer in hp.identities(it, each, own=True):
                            hp.may_be_one(it, hp.place_of(it, each), outer)
                others.append(out)

    def _identities_in(self, side: int, atom: Atom) -> set[Place]:
        it, arm = self.interpreter, self.arms[side]
        outer, it.builder = it.builder, arm.builder
        try:
            return hp.identities(it, atom, own=True)
        finally:
            it.builder = outer

    def _one_sided(self, value: Value, side: int, *, certain: bool) -> Value:
        """A value that only one arm gives; the other is dead or has left the name unbound."""
        if isinstance(value, Maybe):
            inner = self._one_sided(value.value, side, certain=True)
            leaf = next(flatten(inner), None)
            if isinstance(leaf, Var):
                return Maybe(inner, leaf)
            return Maybe(inner, self._sided(BOOL, value.witness, side))
        if certain and isinstance(value, Closure | Native):
            return self._function_of(value, side)
        if certain and not isinstance(value, Var | Items | Const):
            return value
        if certain and isinstance(value, Const):
            return value
        inner = self._export(value, side)
        if certain:
            return inner
        leaf = next(flatten(inner), None)
        if not isinstance(leaf, Var) or inner is value:
            leaf = self._sided(BOOL, Const(True), side)
        return Maybe(inner, leaf)

    def _export(self, value: Value, side: int) -> Value:
        match value:
            case Items() if is_mutable(value):
                return self._export_object(value, side)
            case Items(form=form, keys=keys, values=values, type=type_):
                return Items(form, keys, tuple(self._export(v, side) for v in values), type_)
            case Var():
                return self._export_var(value, side)
            case Const() if not isinstance(kind_of_value(value), Static):
                return self._sided(kind_of_atom(value), value, side)
            case Closure() | Native():
                return self._function_of(value, side)
            case _:
                return value

    def _export_var(self, value: Var, side: int) -> Var:
        current = self._current(value, side)
        assert isinstance(current, Var)
        out = self._sided(current.kind, current, side)
        self._note_aliases(out, value, side)
        if is_mutable(out) and self._is_from_outside(value):
            self.interpreter.reading.choices[out] = Const(True), value, None
        return out

    def _export_object(self, value: Items, side: int) -> Value:
        """A known object that one arm made or refers to, for use after the branch."""
        if self._is_from_outside(value):
            return value
        key = id(value.place or value)
        if key not in self.context.known:
            current = self._current(value, side)
            if not isinstance(current, Items):
                return self._export(current, side)
            items = tuple(self._one_sided(v, side, certain=True) for v in current.values)
            exported = Items(current.form, current.keys, items, current.type, value.place)
            if value.place is not None and value.place.choice is not None:
                self._export_choice(exported, value.place.choice, side)
            elif value.place is not None:
                self.context.exported[value.place] = exported
            self.context.known[key] = exported
        return self.context.known[key]

    def _export_choice(self, exported: Items, choice: Choice, side: int) -> None:
        """What is one of two objects inside an arm is one of them after the branch, too."""
        condition = choice.condition
        if isinstance(condition, Var) and condition.born > self.context.start:
            condition = self._sided(BOOL, condition, side)
        first, second = (self._export(each, side) for each in (choice.first, choice.second))
        assert isinstance(first, Items)
        assert isinstance(second, Items)
        seen = [
            self._current(each, side) if self._is_from_outside(each) else each
            for each in (first, second)
        ]
        exported.place = None
        place = hp.place_of(self.interpreter, exported)
        place.choice = Choice(condition, first, second, (seen[0], seen[1]))

    def _sided(self, kind: Kind, atom: Atom, side: int) -> Var:
        pair = (atom, UNDEFINED) if side == 0 else (UNDEFINED, atom)
        return self._out(kind, *pair)

    def _merge_maybe(self, a: Value, b: Value) -> Value:
        inner_a = a.value if isinstance(a, Maybe) else a
        inner_b = b.value if isinstance(b, Maybe) else b
        inner = self._merge_both(inner_a, inner_b)
        leaf = next(flatten(inner), None)
        if isinstance(leaf, Var) and any(out is leaf for out, _, _ in self.outs):
            return Maybe(inner, leaf)
        witnesses = [v.witness if isinstance(v, Maybe) else Const(True) for v in (a, b)]
        return Maybe(inner, self._out(UNKNOWN, *witnesses))


def _replace_leaf(value: Value, old: Var, new: Atom) -> Value:
    if value is old:
        return new
    if isinstance(value, Items):
        values = [_replace_leaf(v, old, new) for v in value.values]
        if any(a is not b for a, b in zip(values, value.values, strict=True)):
            return value.holding(values)
    return value


def fresh(kind: Kind, name: str = "") -> Value:
    """A value of this kind made of new variables."""
    return unflatten(kind, lambda leaf: Var(leaf, name))


def coerce(interpreter: Interpreter, value: Value | None, kind: Kind) -> list[Atom]:
    """The leaves of a value seen as a value of another, wider kind."""
    from ..ir.types import Struct, leaves

    if value is None:
        return [UNDEFINED for _ in leaves(kind)]
    value = hp.now(interpreter, value)
    if isinstance(value, Maybe):
        value = value.value
    if isinstance(kind, Static):
        return []
    if isinstance(kind, Struct) and isinstance(value, Var):
        from .expressions import open_up

        value = open_up(interpreter, value)
    if isinstance(kind, Struct) and isinstance(value, Items):
        if len(value.keys) != len(kind.keys) or not set(value.keys) == set(kind.keys):
            raise interpreter.unsupported(
                "an object has other attributes or items on one path than on another",
                "Give it the same attributes on every path, before the loop starts.",
            )
        pairs = zip(kind.keys, kind.items, strict=True)
        return [atom for key, item in pairs for atom in coerce(interpreter, value[key], item)]
    return [interpreter.atom(value)]
