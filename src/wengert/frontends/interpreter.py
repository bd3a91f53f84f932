"""The interpreter's state, and how values meet where paths of control meet.

Statements and expressions are run symbolically: a run-time value becomes an atom of the IR under
construction, everything else is known. Exits (`return`, `break`, `continue`, `raise`) are names like
any other (`%returned`, `%break0` …), so that merging paths merges them too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

from ..errors import Finding, UnsupportedSyntax
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import UNDEFINED, Atom, Callee, Const, Span, Var
from ..ir.op import Op
from ..ir.types import BOOL, UNKNOWN, Kind, Static, join
from ..ops import structure as st
from .values import (
    Closure,
    Items,
    Iteration,
    Maybe,
    Native,
    Scope,
    Value,
    flatten,
    kind_of_value,
    same,
    unflatten,
)

Step = Callable[[], None]


class Diverges(Exception):
    """The path being read never comes back: it raises, or recurses without end."""


class NeedsCallee(Exception):
    """A function turned out to be recursive: read again, keeping it a function of its own."""


class NeedsKnown(Exception):
    """A captured number turned out to be an option that must be known when the program is read."""

    def __init__(self, template: Any, name: str):
        self.template = template
        self.name = name


@dataclass(slots=True, eq=False, repr=False)
class Frame:
    """One activation of a function that is being inlined."""

    closure: Closure
    scope: Scope
    loops: int = 0
    unbound: set[str] = field(default_factory=set[str])
    """Local names that were read where nothing had bound them."""
    augmented: set[str] = field(default_factory=set[str])
    """Names of arrays and lists that were the target of an augmented assignment."""


class Emitting:
    """Equations emitted inside come from a place in the source, where one is given.

    A class, since it is entered for every expression: a generator would take twice as long.
    """

    __slots__ = ("_before", "_builder", "_span")

    def __init__(self, builder: Builder, span: Span | None):
        self._builder = builder
        self._before = builder.span
        self._span = span or builder.span

    def __enter__(self) -> None:
        self._builder.span = self._span

    def __exit__(self, *error: object) -> None:
        self._builder.span = self._before


@dataclass(slots=True, eq=False, repr=False)
class Reading:
    """What one reading of a program collects, whatever function it is in."""

    guards: dict[tuple[int, str], tuple[Any, str, Kind]] = field(default_factory=dict[Any, Any])
    """Globals the reading relied on: holder, key and the kind (or identity) it had."""
    separate: set[Any] = field(default_factory=set[Any])
    """Functions that are not inlined, because they recurse."""
    callees: dict[Any, Callee] = field(default_factory=dict[Any, Callee])
    specials: Mapping[int, Callable[..., Value]] = field(default_factory=dict[int, Any])
    """wengert's own functions inside a program: how to read a call of each."""
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
        return Emitting(builder, builder.span if builder.derived else self.span(node))

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
        match value:
            case Var() | Const():
                return value
            case Items(form=form, keys=keys, values=values, type=type_):
                items = [self.atom(v) for v in values]
                if form == "function":
                    raise self.unsupported(
                        "a function with captured values cannot be stored here",
                        "Call it where it is made, or pass it to the function that calls it.",
                    )
                return self.emit(
                    st.pack,
                    *items,
                    name=name,
                    form=Const(form),
                    keys=Const(keys),
                    type=Const(type_),
                )
            case Maybe():
                raise AssertionError("a name that may be unbound was not checked")
            case Iteration():
                from .loops import as_list

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
        before = dict(self.vars)
        arms = [self._arm(step, before) for step in (then, other)]
        if all(arm.dead for arm in arms):
            self._emit_if(condition, arms, [])
            raise Diverges
        outs: list[tuple[Var, Atom, Atom]] = []
        self.frame.scope.vars = self._merge_vars(arms, outs)
        self._emit_if(condition, arms, outs)

    def _arm(self, step: Step, before: dict[str, Value]) -> Arm:
        outer = self.builder
        self.builder = outer.child()
        self.frame.scope.vars = dict(before)
        dead = False
        try:
            step()
        except Diverges:
            dead = True
        arm = Arm(self.builder, self.frame.scope.vars, dead)
        self.builder = outer
        return arm

    def _emit_if(
        self, condition: Atom, arms: list[Arm], outs: list[tuple[Var, Atom, Atom]]
    ) -> None:
        if not outs and not any(arm.builder.eqns for arm in arms):
            return
        then = arms[0].builder.block((), [pair[1] for pair in outs])
        other = arms[1].builder.block((), [pair[2] for pair in outs])
        self.builder.if_(condition, then, other, [pair[0] for pair in outs])

    def _merge_vars(self, arms: list[Arm], outs: list[tuple[Var, Atom, Atom]]) -> dict[str, Value]:
        merged: dict[str, Value] = {}
        a, b = arms
        for name in {**a.vars, **b.vars}:
            merger = Merger(self, arms, outs, name)
            merged[name] = merger.merge(a.vars.get(name), b.vars.get(name))
        return merged

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

    @contextmanager
    def aside(self) -> Generator[Builder, None, None]:
        """Read into a block of its own; names keep what they were bound to before."""
        scopes: dict[int, tuple[Scope, dict[str, Value]]] = {}
        for frame in self.frames:
            scope: Scope | None = frame.scope
            while scope is not None:
                scopes[id(scope)] = scope, dict(scope.vars)
                scope = scope.outer
        outer = self.builder
        self.builder = outer.child()
        try:
            yield self.builder
        finally:
            self.builder = outer
            for scope, names in scopes.values():
                scope.vars = names

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
            self.run(rest)
            always_returns = self.flag("%returned") == Const(True)

        self.branch(left, lambda: None, run_rest)
        if only_by_return and always_returns:
            # it had returned, or it returned (or raised) now
            self.vars["%returned"] = Const(True)
            value = self.vars["%return"]
            self.vars["%return"] = value.value if isinstance(value, Maybe) else value

    def left(self) -> Atom:
        """Whether control has left the current sequence of statements."""
        depth = self.frame.loops
        names = ("%returned", f"%break{depth}", f"%continue{depth}")
        return self.either(*(self.flag(name) for name in names))

    def flag(self, name: str) -> Atom:
        value = self.vars.get(name, Const(False))
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


@dataclass(slots=True, eq=False, repr=False)
class Arm:
    """One side of a branch after it has been read."""

    builder: Builder
    vars: dict[str, Value]
    dead: bool


@dataclass(slots=True, eq=False, repr=False)
class Merger:
    """Merges the two values that one name has at the end of two arms."""

    interpreter: Interpreter
    arms: list[Arm]
    outs: list[tuple[Var, Atom, Atom]]
    name: str

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
        atoms = [self._atom_in(0, a), self._atom_in(1, b)]
        return self._out(join(*map(kind_of_atom, atoms)), *atoms)

    def _choice(self, a: Value, b: Value) -> Native:
        """One of two functions, chosen when the program runs: a call of it is a branch."""
        chosen = self._out(BOOL, Const(True), Const(False))
        first, second = self._function_of(a, 0), self._function_of(b, 1)

        def run(it: Interpreter, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
            from .calls import call

            return it.choose(
                chosen,
                lambda: call(it, first, args, kwargs),
                lambda: call(it, second, args, kwargs),
            )

        return Native("a chosen function", run)

    def _function_of(self, function: Value, side: int) -> Value:
        """A function made in one arm, with what it captured there brought out of the arm."""
        if not isinstance(function, Closure) or any(
            frame.scope is function.scope for frame in self.interpreter.frames
        ):
            return function
        around = Scope(function.scope.globals, function.scope.outer)
        around.vars = {
            name: self._one_sided(value, side, certain=True)
            for name, value in function.scope.vars.items()
            if not name.startswith("%")
        }
        return replace(function, scope=around)

    def _atom_in(self, side: int, value: Value) -> Atom:
        outer = self.interpreter.builder
        self.interpreter.builder = self.arms[side].builder
        try:
            return self.interpreter.atom(value)
        finally:
            self.interpreter.builder = outer

    def _out(self, kind: Kind, a: Atom, b: Atom) -> Var:
        name = "" if self.name.startswith("%") else self.name
        shapes = {x.shape_of for x in (a, b) if isinstance(x, Var)}
        source = (
            next(iter(shapes))
            if len(shapes) == 1 and isinstance(a, Var) and isinstance(b, Var)
            else None
        )
        out = Var(kind, name, source)
        self.outs.append((out, a, b))
        return out

    def _one_sided(self, value: Value, side: int, *, certain: bool) -> Value:
        """A value that only one arm gives; the other is dead or has left the name unbound."""
        if isinstance(value, Maybe):
            inner = self._one_sided(value.value, side, certain=True)
            leaf = next(flatten(inner), None)
            if isinstance(leaf, Var):
                return Maybe(inner, leaf)
            return Maybe(inner, self._sided(BOOL, value.witness, side))
        if certain and not isinstance(value, Var | Items | Const):
            return value
        if certain and isinstance(value, Const):
            return value
        inner = self._export(value, side)
        if certain:
            return inner
        leaf = next(flatten(inner), None)
        if not isinstance(leaf, Var):
            leaf = self._sided(BOOL, Const(True), side)
        return Maybe(inner, leaf)

    def _export(self, value: Value, side: int) -> Value:
        match value:
            case Items(form=form, keys=keys, values=values, type=type_):
                return Items(form, keys, tuple(self._export(v, side) for v in values), type_)
            case Var():
                return self._sided(value.kind, value, side)
            case Const() if not isinstance(kind_of_value(value), Static):
                return self._sided(kind_of_atom(value), value, side)
            case _:
                return value

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
        values = tuple(_replace_leaf(v, old, new) for v in value.values)
        return Items(value.form, value.keys, values, value.type)
    return value


def fresh(kind: Kind, name: str = "") -> Value:
    """A value of this kind made of new variables."""
    return unflatten(kind, lambda leaf: Var(leaf, name))


def coerce(interpreter: Interpreter, value: Value | None, kind: Kind) -> list[Atom]:
    """The leaves of a value seen as a value of another, wider kind."""
    from ..ir.types import Struct, leaves

    if value is None:
        return [UNDEFINED for _ in leaves(kind)]
    if isinstance(value, Maybe):
        value = value.value
    if isinstance(kind, Static):
        return []
    if isinstance(kind, Struct) and isinstance(value, Var):
        from .expressions import open_up

        value = open_up(interpreter, value)
    if isinstance(kind, Struct) and isinstance(value, Items):
        pairs = zip(value.values, kind.items, strict=True)
        return [atom for item, item_kind in pairs for atom in coerce(interpreter, item, item_kind)]
    return [interpreter.atom(value)]
