"""Functions that are read apart from the program that calls them: into a block, or leaving everything as it is.

What such a function changes that was there before are copies, in the block: it can be run again, differentiated or
given to a solver. Whoever wants the changes themselves calls the function in the program too.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

from ..errors import UnsupportedSyntax
from ..frontend import heap
from ..frontend.builtins import library_copies
from ..frontend.calls.calls import call
from ..frontend.domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    ObjectId,
    Value,
    flatten,
    fresh,
    is_mutable,
    kind_of_value,
    unflatten,
)
from ..frontend.domain.whereabouts import Part, Untracked
from ..frontend.machine.interpreter import Interpreter
from ..frontend.machine.session import NeverReturns, strictly
from ..ir.graph import Atom, Const, Function, Input, Var, births, free_vars
from ..ir.records import replace
from ..ir.types import UNKNOWN, Kind, Number, Static, Struct, is_differentiable
from ..ops.program import memory as me
from ..ops.program.refusals import REFUSALS
from ..passes.blocks import tidy
from ..passes.blocks.copies import inlined
from ..passes.checks.dominance import refuse_out_of_sight
from ..passes.checks.keep_raising import with_all_evaluated

State = dict[ObjectId, heap.Content]
"""What objects hold where a function starts that changes them."""


class Inner(NamedTuple):
    """A function that is read into a block of its own."""

    function: Function
    changes_arguments: bool
    outside: tuple[ObjectId, ...]
    """The objects that it changes which are neither its own nor its arguments."""

    @property
    def changes(self) -> bool:
        """Whether a call of it changes anything that outlives the call."""
        return self.changes_arguments or bool(self.outside)


def read_inner(
    it: Interpreter, function: Value, args: Args, kwargs: Kwargs, state: State | None = None
) -> Inner:
    """A function as IR, for arguments like these.

    Args:
        it: what reads the program.
        function: any value that can be called.
        args: values of the kinds that the function is called with.
        kwargs: what it is called with by keyword.
        state: what objects outside hold when it starts, if not what they hold now. It changes copies.
    """
    apart = dict(state or {})
    while True:
        found = _read(it, function, args, kwargs, apart, own=True)
        more = [place for place in found.outside if place not in apart]
        if not more:
            return found
        apart |= {place: heap.content_in(it.heap, place) for place in more}


def read_to_run(it: Interpreter, function: Value, like: Value) -> Inner:
    """A function of one value that may raise whenever it runs: the program itself does not end there."""

    def run(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        try:
            return call(it, function, args, kwargs)
        except NeverReturns:
            return args[0]  # for the kind of a result that never comes

    return _attempt(it, Native("hook", run), [like], {}, {}, own=True)


def _read(
    it: Interpreter, function: Value, args: Args, kwargs: Kwargs, state: State, *, own: bool
) -> Inner:
    try:
        return _attempt(it, function, args, kwargs, state, own=own)
    except NeverReturns:
        call(it, function, args, kwargs)  # it always raises: the program ends with its exception
        raise


def _attempt(
    it: Interpreter, function: Value, args: Args, kwargs: Kwargs, state: State, *, own: bool
) -> Inner:
    start = next(births)
    kinds = [kind_inside(arg) for arg in args]
    inside = [
        fresh(kind, _hint(arg, k)) for k, (arg, kind) in enumerate(zip(args, kinds, strict=True))
    ]
    given = [part for value in inside for part in _parts(value)]
    it.reading.inputs += [part for part in given if is_mutable(part) or isinstance(part, Var)]
    with it.aside() as builder, _keeping_to_itself(it, state):
        hold(it, state, own=own)
        before = dict(it.heap)
        result = heap.now(it, call(it, function, inside, kwargs))
        outs = tuple(flatten(result))
        changed = [place for place in it.heap if it.heap[place] is not before.get(place)]
    heap.forget(it, start)
    outside = [place for place in changed if place.born < start]
    changes = any(place.origin is part for place in changed for part in given)
    params = tuple(a for v in inside for a in flatten(v) if isinstance(a, Var))
    inputs = tuple(Input(f"x{k}", kind, "positional") for k, kind in enumerate(kinds))
    read = Function("inner", inputs, builder.block(params, outs), kind_of_value(result))
    refuse_out_of_sight(read, is_whole=False)
    return Inner(with_all_evaluated(read), changes, tuple(outside))


@contextmanager
def _keeping_to_itself(it: Interpreter, state: State) -> Generator[None]:
    """Read with names and attributes of classes that were there before the program bound for the block only."""
    around = it.reading.kept_to_itself
    it.reading.kept_to_itself = around.union(state)
    try:
        yield
    finally:
        it.reading.kept_to_itself = around


def state_of(it: Interpreter, inner: Inner) -> State:
    """What the objects that a function changes hold, kept for when they have changed."""
    state: State = {place: heap.content_in(it.heap, place) for place in inner.outside}
    return {place: _copied(it, content) for place, content in state.items()}


def hold(it: Interpreter, state: State, *, own: bool) -> None:
    """Let objects hold what they held in a state: copies of it (`own`), or that itself."""
    for place, content in state.items():
        held = _copied(it, content) if own else content
        if isinstance(held, Var):
            it.reading.places[held] = place
        elif isinstance(held, Items):
            held.place = place
        it.heap[place] = held


def _copied(it: Interpreter, content: heap.Content) -> heap.Content:
    if not isinstance(content, Var):
        return content
    made = it.emit(me.duplicate, content)
    assert isinstance(made, Var)
    made.name = content.name
    return made


def _parts(value: Value) -> Iterator[Value]:
    yield value
    if isinstance(value, Items):
        for item in value.values:
            yield from _parts(item)


def kind_inside(value: Value) -> Kind:
    """The kind of an argument; what is known and has no derivative stays known."""
    match value:
        case Items(values=values):
            kind = kind_of_value(value)
            assert isinstance(kind, Struct)
            return replace(kind, items=tuple(map(kind_inside, values)))
        case Const(value=constant) if not is_differentiable(kind_of_value(value)):
            return Static(constant)
        case _:
            return kind_of_value(value)


def _hint(value: Value, k: int) -> str:
    return value.name if isinstance(value, Var) else f"x{k}"


def params_of(primal: Function, args: Args) -> list[Atom]:
    atoms = [
        atom
        for arg in args
        for atom in flatten(arg)
        if isinstance(atom, Var) or is_differentiable(kind_of_value(atom))
    ]
    assert len(atoms) == len(primal.body.params)
    return atoms


# --- calls that leave everything as it is -------------------------------------------------


def own_arguments(it: Interpreter, inner: Inner, args: Args) -> Args:
    """What to pass to something made of a function: copies of what the function changes."""
    if not inner.changes_arguments:
        return args
    atoms = params_of(inner.function, args)
    objects = [heap.identities(it, atom, own=True) for atom in atoms if is_mutable(atom)]
    if len(set().union(*objects)) < sum(map(len, objects)):
        raise it.unsupported(
            "a function that is differentiated inside the program is given one object twice, and changes it",
            "Pass a copy, such as `x.copy()`.",
        )
    return [library_copies.own_copy(it, arg) for arg in args]


def call_apart(
    function: Value, it: Interpreter, args: Args, kwargs: Kwargs, state: State | None = None
) -> Value:
    """What a call gives, which leaves everything as it is: what the function changes are copies."""
    args = [heap.now(it, arg) for arg in args]
    inner = read_inner(it, function, args, kwargs, state)
    primal = inner.function
    atoms = iter(inlined(it.builder, primal, params_of(primal, own_arguments(it, inner, args))))
    return unflatten(primal.result, lambda leaf: next(atoms))


def unharmed(it: Interpreter, function: Value, args: Args, body: Callable[[Value], Value]) -> Value:
    """What a body makes of a function that it may call more than once: what that changes, it changes once."""
    mark, start = it.mark(), next(births)

    def harmed() -> bool:
        return any(p.born < start and it.heap[p] is not mark.heap.get(p) for p in it.heap)

    try:
        with strictly(it.reading):
            found = body(function)
        if not harmed():
            return found
    except REFUSALS as refusal:
        if not (harmed() and isinstance(refusal, UnsupportedSyntax)):
            if not it.reading.defers:
                raise
            it.return_to(mark)
            return body(function)
    it.return_to(mark)
    found = body(Native("apart", partial(call_apart, function)))
    call(it, function, args, {})
    return found


# --- functions that solvers are given -----------------------------------------------------


def for_solver(function: Value) -> Value:
    """A function that a solver is given: after the solver has run it, calls of it leave everything as it is."""
    match function:
        case Closure() | Native() | Items(form="function" | "derivative"):
            pass
        case Items(form="object" | "dataclass", type=cls) if callable_class(cls):
            pass
        case Const(value=FunctionType()):
            pass
        case _:
            return function
    return Native("function", partial(_call_for_solver, function), for_solver=True)


def callable_class(cls: Any) -> bool:
    return any("__call__" in vars(each) for each in cls.__mro__)


def as_given(function: Value) -> Value:
    """The function itself, of one that a solver is given."""
    called = function.call if isinstance(function, Native) else None
    if isinstance(called, partial) and called.func is _call_for_solver:
        return called.args[0]
    return function


def _call_for_solver(function: Value, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    starts = heap.starts(it)
    if not starts:
        return call(it, function, args, kwargs)
    return call_apart(function, it, args, kwargs, starts)


def read_for_solver(
    it: Interpreter, function: Value, args: Args
) -> tuple[Function, tuple[Var, ...], Callable[[], None]]:
    """A function that a solver runs, as often as it likes.

    Returns:
        Its IR; the objects that it changes in place of those of the program; and what is to be said once it has
        run: then nobody knows what these hold, and calls of functions for solvers start from what they held before.
    """
    known = heap.starts(it)
    tried = read_inner(it, function, args, {}, known)
    if not tried.changes:
        return tried.function, (), lambda: None
    _refuse_binding(it, tried)
    starts = {place: _start(it, place, known) for place in tried.outside}
    names, working = _working(it, starts)
    function = _on_copies(function) if tried.changes_arguments else function
    primal = tidy.tidy(_read(it, function, args, {}, working, own=False).function)
    _refuse_remembering(it, primal, names)

    def spend() -> None:
        for place, start in starts.items():
            _write_back(it, place, working[place])
            assert not isinstance(start, (Untracked, Part))
            it.heap[place] = Untracked("a function that a solver is given changed it", start)

    return primal, tuple(var for var in working.values() if isinstance(var, Var)), spend


def _start(it: Interpreter, place: ObjectId, known: State) -> heap.Content:
    """What an object holds before a solver runs functions that change it."""
    content = known.get(place) or heap.content_in(it.heap, place)
    return _copied(it, content) if _is_seen_outside(it, place) else content


def _is_seen_outside(it: Interpreter, place: ObjectId) -> bool:
    return isinstance(place.origin, Var) and (place.born < 0 or place.origin in it.reading.inputs)


def _write_back(it: Interpreter, place: ObjectId, changed: heap.Content) -> None:
    """Change the very object, if somebody outside the program can see it."""
    if _is_seen_outside(it, place):
        assert isinstance(place.origin, Var)
        assert isinstance(changed, Var)
        it.emit(me.overwrite, place.origin, changed)


def _on_copies(function: Value) -> Native:
    """A function that leaves its arguments as they are."""

    def run(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        copies = [library_copies.own_copy(it, arg) for arg in args]
        return call(it, function, copies, kwargs)

    return Native("function", run)


def _working(it: Interpreter, starts: State) -> tuple[list[Atom], State]:
    """What a solver's function is to change, and the values among it that no run-time object holds: names'."""
    names: list[Atom] = []
    before = it.heap
    it.heap = before | starts
    hold(it, starts, own=True)
    for place, content in starts.items():
        if isinstance(content, Items) and content.form == "cell":
            values = [_unknown(value) for value in content.values]
            names += [atom for value in values for atom in flatten(value)]
            it.heap[place] = content.holding(values)
        elif isinstance(content, Items):
            heap.materialise(it, content)
    working = {p: held for p, held in it.heap.items() if held is not before.get(p)}
    it.heap = before
    return names, working


def _unknown(value: Value) -> Value:
    """A value like this of which nothing is known."""
    kind = kind_of_value(value)
    return fresh(kind if isinstance(kind, Number) else UNKNOWN, "before")


def _refuse_binding(it: Interpreter, tried: Inner) -> None:
    bound = {*it.reading.externals, *it.reading.class_attributes.values()}
    if not bound.isdisjoint(tried.outside):
        raise it.unsupported(
            "a function that a solver is given binds a name that was there before the program",
            "Keep what it counts or records in a list or on an object.",
        )


def _refuse_remembering(it: Interpreter, function: Function, names: list[Atom]) -> None:
    if not free_vars(function.body).keys().isdisjoint(names):
        raise it.unsupported(
            "a function that a solver is given depends on what an earlier call of it bound a name to",
            "Keep in the name only what does not change what the function returns.",
        )
