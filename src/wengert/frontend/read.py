"""Python source → IR: the entrance for whole functions; `row_reader` has that for rows of the rule table."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from types import MappingProxyType
from typing import Any

from ..errors import BadArgument
from ..ir.builder import Builder
from ..ir.callers import calling_span
from ..ir.graph import Atom, Const, Eqn, Function, Input, Var
from ..ir.records import value_record
from ..ir.types import NONE, UNKNOWN, Array, Kind, Number, Seq, Static, Struct, Unknown
from ..ops.program.identity import apart
from ..ops.program.refusals import REFUSALS
from ..ops.structure import global_
from .boundary.partial_kinds import Way, generators, unread_parts, used, with_unknown
from .boundary.templates import Template
from .data import columns
from .domain.values import (
    MUTABLE_FORMS,
    OBJECTS,
    Closure,
    Items,
    Scope,
    Value,
    flatten,
    fresh,
    is_mutable,
    kind_of_value,
)
from .heap import ByIndex, NeedsWhole, SharedItems, globals_state, now, refuse_stand_ins, walking
from .heap.cells import NeedsCells, make_externals
from .machine.guards import Guard, Seen, seeing
from .machine.interpreter import Interpreter
from .machine.session import Frame, NeedsCallee, NeedsTestInBody, NeverReturns, Session

Special = Callable[[Any], Callable[..., Value] | None]


@value_record
class Program:
    """What reading a function gives."""

    function: Function
    guards: tuple[Guard, ...]
    """Globals, and what classes keep, it relied on."""
    must_be_apart: bool = False
    """Whether it changes one of the objects it is given, which others of them may hold."""
    looked_at: frozenset[Way] = frozenset()
    """The parts that were said to be unread, and are not."""


def read(
    target: Kind,
    arguments: Sequence[tuple[str, Kind]],
    keywords: Mapping[str, Kind],
    *,
    special: Special,
    derivative: Callable[..., Value],
    opted_out: Callable[[Any], bool],
    narrow: bool = False,
    defers: bool = False,
    likes: Mapping[tuple[int, str], Kind] = MappingProxyType({}),
) -> Program:
    """The IR of a call of a function on arguments of some kinds.

    Args:
        target: the kind of the function itself (`signature.kind_of`).
        arguments: name and kind of every positional argument.
        keywords: the kinds of the keyword arguments.
        special: how to read calls of a function that is one of wengert's own; None for all others.
        derivative: how to read a call of a derivative function.
        opted_out: whether a function's code is to be read although it has a rule.
        narrow: whether numbers among the arguments are narrower than Python's.
        defers: whether what cannot be read on a path is refused by the runs that take it.
        likes: the kinds of globals that have unread parts, by who holds them and by which name.
    """
    learnt: dict[str, Any] = {}
    while True:
        reading = Session(
            **learnt,
            special=special,
            derivative=derivative,
            opted_out=opted_out,
            narrow=narrow,
            defers=defers,
            likes=likes,
            general=bool(arguments) and all(kind == UNKNOWN for _, kind in arguments),
        )
        seen: Seen = {}
        try:
            with seeing(seen):
                return _read_once(reading, seen, target, arguments, keywords)
        except (NeedsCallee, NeedsTestInBody, ByIndex, NeedsWhole, SharedItems, NeedsCells):
            learnt = {name: getattr(reading, name) for name in _LEARNT}
        except REFUSALS as refusal:
            refusal.guards = _relied_on(reading, seen)
            raise


_LEARNT = (
    "separate", "inlined", "acting_tests", "by_index", "by_turn", "whole", "checked", "kept", "made_of",
    "changed_outside", "bound_outside",
)  # fmt: skip
"""What one reading of a program finds for the next."""


def _read_once(
    reading: Session,
    seen: Seen,
    target: Kind,
    arguments: Sequence[tuple[str, Kind]],
    keywords: Mapping[str, Kind],
) -> Program:
    function, apart = _followed(reading, target, arguments, keywords)
    looked_at = {reading.unread[var] for var in used(reading.unread, function.body)}
    return Program(function, _relied_on(reading, seen), apart, frozenset(looked_at))


def _relied_on(reading: Session, seen: Seen) -> tuple[Guard, ...]:
    """What the program found in modules and classes, as they were before it changed them."""
    in_classes = ((vars(cls), name, Static(found)) for (cls, name), found in seen.items())
    return (*reading.guards.values(), *in_classes)


@contextmanager
def relying_on(guards: tuple[Guard, ...]) -> Generator[None]:
    """Have what refuses a program say what reading it has relied on."""
    try:
        yield
    except REFUSALS as refusal:
        refusal.guards = guards
        raise


def _followed(
    reading: Session,
    target: Kind,
    arguments: Sequence[tuple[str, Kind]],
    keywords: Mapping[str, Kind],
) -> tuple[Function, bool]:
    it = Interpreter(reading)
    reading.root = it.builder
    given = _Given(it)
    function = _target(given, target)
    positional = [given.take(name, kind) for name, kind in arguments]
    named = {name: given.take(name, kind, "keyword") for name, kind in keywords.items()}
    params, inputs = tuple(given.params), given.inputs
    containers = _containers([function, *positional, *named.values()])
    it.reading.inputs = [*params, *it.reading.unread, *containers]
    if isinstance(function, Items) and function.form == "function":
        captured = zip(function.keys, function.values, strict=True)
        it.reading.captured = {
            leaf: (function.type, name)
            for name, value in captured
            for leaf in flatten(value)
            if leaf not in it.reading.unread
        }
    try:
        with _top_frame(it):
            make_externals(it)
            result = it.call(function, positional, named)
            columns.refuse_result(it, result)
            outs, kind = _outs(it, result)
            walking.check_copied(it)
            globals_state.rely_on_places(it)
    except NeverReturns:
        outs, kind = (Const(None),), UNKNOWN  # it always raises
    _refuse_unseen(it)
    given_globals = _refuse_given_globals(it, params, inputs)
    it.builder.eqns[:0] = [*_refuse_aliases(it, params), *reading.early, *given_globals]
    body = it.builder.block(params, outs)
    apart = _must_be_apart(it, params, inputs)
    return Function(_name_of(target), tuple(inputs), body, kind), apart


def _refuse_unseen(it: Interpreter) -> None:
    """A function that nobody has read may see what the program changes outside of it.

    Raises:
        WengertError: it calls such a function, and changes something.
    """
    reading = it.reading
    if reading.unseen and (
        reading.changed_outside or reading.bound_outside or reading.class_attributes
    ):
        raise reading.unseen[0]


def _must_be_apart(it: Interpreter, params: Sequence[Var], inputs: Sequence[Input]) -> bool:
    """Whether what the program changes may be given to it again, or be a part of what is outside, or hold it."""
    origins = {place.origin for place in it.heap}
    changed = [param.kind for param in params if param in origins]
    outside = [with_unknown(kind) for *_, kind in it.reading.guards.values()]
    changed_outside = [var.kind for var in it.reading.outside.values() if is_mutable(var)]
    given = [each.kind for each in inputs if not isinstance(each.kind, (Number, Static))]
    pairs = (*product(outside, changed), *product(changed_outside, given))
    if any(_may_hold(whole, part) for whole, part in (*pairs, *product(given, changed_outside))):
        return True
    captured = [each.kind for each in inputs if each.how == "captured"]
    captures = any(not isinstance(kind, (Number, Array)) for kind in captured)
    parts = captures or any(_can_change(each.kind) for each in (*inputs, *params))
    return bool(changed) and parts


def _can_change(kind: Kind) -> bool:
    """Whether what a kind holds besides numbers and arrays may be one object in two places."""
    if isinstance(kind, Seq):
        # an empty list grows by what the run knows: it is not looked at for that
        return not isinstance(kind.item, (Number, Unknown))
    if not isinstance(kind, Struct):
        return False
    return kind.form in MUTABLE_FORMS or any(map(_can_change, kind.items))


@contextmanager
def _top_frame(it: Interpreter) -> Generator[None]:
    scope = Scope({})
    it.frames.append(Frame(Closure(_NOTHING, "", scope, identity=object()), scope))
    yield
    it.frames.pop()


_NOTHING: Any = ast.parse("lambda: 0", mode="eval").body
"""What stands where no function is around what is read."""


def _refuse_aliases(it: Interpreter, params: Sequence[Var]) -> list[Eqn]:
    """A check that what the program changes is given to it once, where it could be otherwise."""
    changed = [place for place in it.heap if place.origin in params]
    objects = [param for param in params if is_mutable(param)]
    if not changed or (len(objects) < 2 and not any(_can_change(each.kind) for each in objects)):
        return []
    return [Eqn((Var(NONE),), apart, tuple(objects))]


def _refuse_given_globals(
    it: Interpreter, params: Sequence[Var], inputs: Sequence[Input]
) -> list[Eqn]:
    """Checks that no argument is also what the program reads outside, where it changes one of the two.

    Raises:
        NeedsWhole: an argument that was taken apart is to be given as one object.
    """
    reading, early = it.reading, set(it.reading.outside.values())
    for each in inputs:
        taken_apart = isinstance(each.kind, Struct) and each.kind.form in MUTABLE_FORMS
        if taken_apart and any(_may_be_one(each.kind, var.kind) for var in early):
            reading.whole.add(each.name)
            raise NeedsWhole
    changed = {place.origin for place in it.heap}
    places = {(id(holder), key): (holder, key) for holder, key in reading.read_from.values()}
    first = {
        (id(holder), key): var for var, (holder, key) in reading.read_from.items() if var in early
    }
    builder = Builder()
    for param in filter(is_mutable, params):
        for place, (holder, key) in places.items():
            var = first.get(place)
            kind = var.kind if var else with_unknown(reading.guards[place][2])
            if not (var or param in changed) or not _may_be_one(param.kind, kind):
                continue
            if var is None:
                options = {"name": Const(key), "holder": Const(holder), "key": Const(key)}
                var = builder.emit_with(global_, (), options, name=key, kind=kind)
                assert isinstance(var, Var)
                first[place] = var
            builder.append(Eqn((Var(NONE),), apart, (param, var)))
    return builder.eqns


def _may_hold(whole: Kind, part: Kind) -> bool:
    """Whether a value of one kind may hold one of another."""
    items = whole.items if isinstance(whole, Struct) else ()
    items = (whole.item,) if isinstance(whole, Seq) else items
    return any(_may_be_one(item, part) or _may_hold(item, part) for item in items)


def _may_be_one(a: Kind, b: Kind) -> bool:
    """Whether values of two kinds may be one object, or share memory."""
    if isinstance(a, Struct) and isinstance(b, Struct):
        return (a.form, a.type) == (b.form, b.type)
    return type(a) is type(b)


class _Given:
    """What a program is given: its inputs, and the leaves that are the parameters of its body."""

    def __init__(self, it: Interpreter):
        self.it = it
        self.inputs: list[Input] = []
        self.params: list[Var] = []

    def take(self, name: str, kind: Kind, how: str = "positional") -> Value:
        """One input as a value: taken apart into leaves, unless the program changes it."""
        self.it.reading.made_of |= _classes_in(kind)
        plain = with_unknown(kind)
        if name in self.it.reading.whole and isinstance(plain, Struct):
            if plain.type is types.MethodType or plain.form == "derivative":
                raise self.it.unsupported(
                    "a bound method that changes its object, or the derivative of a function that changes what it has "
                    "captured, is not read",
                    "Differentiate a function that calls it: `lambda x: o.method(x)`.",
                ).at(calling_span())
            self.inputs.append(Input(name, UNKNOWN, how))
            self.params.append(Var(plain, name))
            value = self.it.open_up(self.params[-1])
            self.it.reading.unread.update(unread_parts(kind, value, (name,)))
            self.it.reading.generators.update(generators(kind, value))
            return value
        value = fresh(plain, name)
        unread = dict(unread_parts(kind, value, (name,)))
        self.it.reading.unread |= unread
        self.it.reading.generators.update(generators(kind, value))
        self.inputs.append(Input(name, kind, how))
        self.params += [var for var in _vars([value]) if var not in unread]
        self._note(name, value)
        return value

    def _note(self, name: str, value: Value) -> None:
        if isinstance(value, Items):
            self.it.reading.given[id(value)] = name
            for item in value.values:
                self._note(name, item)


def _classes_in(kind: Kind) -> set[type]:
    """The classes of the objects that an argument is, or holds."""
    match kind:
        case Struct(form=form, items=items, type=cls):
            own = {cls} if form in OBJECTS else set[type]()
            return own.union(*map(_classes_in, items))
        case Seq(item=item):
            return _classes_in(item)
        case _:
            return set()


def _target(given: _Given, target: Kind) -> Value:
    """The function as a value; captured values, or an object, are inputs that it brings."""
    match target:
        case Static(value=value):
            return Const(value)
        case Struct(form="function", keys=keys, items=items):
            values = [
                given.take(name, kind, "captured") for name, kind in zip(keys, items, strict=True)
            ]
            return Items("function", keys, tuple(values), target.type)
        case Struct():
            return given.take("self", target, "captured")
        case _:
            raise BadArgument(
                "wengert differentiates functions; this is not one it can read",
                "Pass a function, a method, or an object with a `__call__` method.",
            )


def _containers(values: Sequence[Value]) -> list[Value]:
    inside = [v for value in values if isinstance(value, Items) for v in value.values]
    containers = [value for value in values if isinstance(value, Items)]
    return [*containers, *_containers(inside)] if containers else []


def _vars(values: Sequence[Value]) -> list[Var]:
    return [atom for value in values for atom in flatten(value) if isinstance(atom, Var)]


def _outs(it: Interpreter, result: Value) -> tuple[tuple[Atom, ...], Kind]:
    result = now(it, result)
    refuse_stand_ins(it, result)
    kind = kind_of_value(result)
    if isinstance(kind, Static) and not isinstance(result, Const):
        result = it.atom(result)
        kind = kind_of_value(result)
    return tuple(flatten(result)), kind


def _name_of(target: Kind) -> str:
    match target:
        case Static(value=value):
            name = getattr(value, "__name__", type(value).__name__)
        case Struct(form="function", type=Template() as template):
            name = template.__name__
        case Struct(type=types.MethodType, items=(_, Struct(type=Template() as template))):
            name = template.__name__
        case Struct(type=type() as cls):
            name = cls.__name__.lower()
        case _:
            name = "function"
    return name if name.isidentifier() else "f"
