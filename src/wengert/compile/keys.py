"""Which parts of what a program is given it asks about: the derivative holds for whatever the others are.

A program is first read for the kinds of everything that its arguments and globals hold. Where that is much, or
changes from call to call, it is read again as if nothing were known of what it did not use. What it then asks about is
opened, until it asks no more. From then on calls of the function are described by these parts alone.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ..frontend.boundary.partial_kinds import Way, has_unread
from ..frontend.boundary.signature import compiled_from
from ..frontend.boundary.templates import Template
from ..frontend.machine.guards import OURS
from ..frontend.read import Program
from ..ir.graph import walk
from ..ir.records import field, mutable_record, replace
from ..ir.types import LIST, UNKNOWN, UNREAD, Kind, Picked, Seq, Static, Struct
from ..ops.program.drawing import kind_of_generator
from .calling import Call
from .parts_used import used
from .patience import Account
from .wanted import Verb

Likes = Mapping[tuple[int, str], Kind]
"""The kinds of globals, by who holds them and by which name."""
Reader = Callable[[Call, Likes], Program]

MUCH = 32
"""How many parts that are not used make it worthwhile to read a program again."""
_AS_LONG = 10
"""For how many equations of a program one part has to be there: it takes that long to read it again."""
_LONG = 100
"""How many parts a long list counts for."""
_ROUNDS = 8
_MOST = 1024
"""How many functions are remembered."""


class LooksFurther(Exception):
    """A program turned out to look at parts that it did not look at before: the call is described anew."""

    def __init__(self, call: Call, ways: Iterable[Way]):
        self.call = call
        self.ways = ways


@mutable_record
class _Readings:
    """How often a function was read, and how its calls are described since; None: by all that they hold."""

    who: Any
    times: int = 0
    call: Call | None = None
    given_up: bool = False
    account: Account = field(default_factory=Account)


_readings: dict[tuple[Verb, int], _Readings] = {}
"""By the verb, and the identity of the code or the class."""


def described_by(verb: Verb, function: Any) -> Call | None:
    """The call whose kinds say which parts of the arguments and captured values of a function are unread."""
    who = _who(function)
    found = _readings.get((verb, id(who)))
    return found.call if found is not None and found.who is who else None


def _readings_of(verb: Verb, who: Any) -> _Readings:
    found = _readings.get((verb, id(who)))
    if found is None or found.who is not who:
        if len(_readings) > _MOST:
            _readings.clear()
        found = _readings[verb, id(who)] = _Readings(who)
    return found


def account_of(verb: Verb, call: Call) -> Account:
    """What readings of a function, and of all others that the same `def` makes, have cost."""
    who = _target(call.target)
    return Account() if who is None else _readings_of(verb, who).account


def _who(function: Any) -> Any:
    """What stands for all functions that one `def` makes, or all objects of a class."""
    function = compiled_from(function)
    if isinstance(function, types.MethodType):
        function = function.__func__
    return function.__code__ if isinstance(function, types.FunctionType) else type(function)


def is_of(call: Call, function: Any) -> bool:
    """Whether a call is one of a function, of those that the same `def` makes, or of objects of its class."""
    who = _target(call.target)
    if who is None:
        return isinstance(call.target, Static) and call.target.value is function
    return who is _who(function)


def _target(kind: Kind) -> Any:
    """The same by the kind of the function."""
    match kind:
        case Struct(type=types.MethodType, items=(_, Struct(type=Template() as template))):
            return template.function.__code__
        case Struct(type=Template() as template):
            return template.function.__code__
        case Static(value=types.FunctionType() as function):
            return function.__code__
        case Struct(type=type() as cls):
            return cls
        case _:
            return None


def must_look_at(verb: Verb, call: Call, ways: Iterable[Way]) -> None:
    """From now on calls of a function are described by these parts as well."""
    readings = _readings_of(verb, _target(call.target))
    seen = readings.call or call
    for way in ways:
        seen = _changed(seen, way, lambda kind, *inside: _opened(kind, UNKNOWN, inside))
    readings.call = seen


def must_look_at_all(verb: Verb, call: Call) -> None:
    """From now on calls of a function are described by all that they hold."""
    readings = _readings_of(verb, _target(call.target))
    readings.call, readings.given_up = None, True


def narrowed(verb: Verb, call: Call, read: Reader) -> tuple[Call, Program]:
    """What reading a call gives, and the call that is described by what was asked about."""
    program = _with_items_used(verb, call, read(call, {}))
    who = _target(call.target)
    if who is None or call.defers or call.is_partial:
        return call, program
    readings = _readings_of(verb, who)
    readings.times += 1
    if readings.given_up:
        return call, program
    least = 1 if readings.times > 1 else max(MUCH, len(walk(program.function.body)) // _AS_LONG)
    if _weight_of(call, program) < least:
        return call, program
    closed = _Closed(verb, call, program)
    if closed.weight < least:
        return call, program
    for _ in range(_ROUNDS):
        try:
            again = _with_items_used(verb, closed.call, read(closed.call, closed.likes))
        except Exception:
            break
        if not again.looked_at:
            readings.call = closed.call if closed.call.is_partial else None
            return closed.call, again
        closed.open(again.looked_at)
    readings.given_up = True
    return call, program


def _with_items_used(verb: Verb, call: Call, program: Program) -> Program:
    """A program that looks at more items of lists than were to be looked at."""
    if not call.is_partial and not any(has_unread(kind) for _, _, kind in program.guards):
        return program
    named = (*_captured(call.target), *call.arguments, *call.keywords)
    given = ((name, kind) for name, kind in named)
    holders = (((id(holder), key), kind) for holder, key, kind in program.guards)
    lists = {way: of for name, kind in (*given, *holders) for way, of in _lists(kind, (name,))}
    looked_at = set(_of_function(verb, call, program.looked_at))
    # of what is read with unknown parts that it looks at, more may be used than of what it is
    if lists and not looked_at:
        uses = used(program.function)
        looked_at.update(lists.keys() & set(_of_function(verb, call, uses.parts)))
        for way, places in uses.lists.items():
            (own,) = _of_function(verb, call, [way])
            if own in lists and not places.issubset(lists[own].places):
                looked_at.add(own)
    return replace(program, looked_at=frozenset(looked_at))


def _captured(target: Kind) -> Iterator[tuple[str, Kind]]:
    if isinstance(target, Struct) and target.form == "function":
        yield from zip(target.keys, target.items, strict=True)
    elif isinstance(target, Struct):
        yield "self", target


def _lists(kind: Kind, way: Way) -> Iterator[tuple[Way, Picked]]:
    """The lists in a kind of which only some items were to be looked at."""
    if isinstance(kind, Picked):
        yield way, kind
    elif isinstance(kind, Struct):
        for key, item in zip(kind.keys, kind.items, strict=True):
            yield from _lists(item, (*way, key))


class _Closed:
    """The kinds of a call and of globals without the parts that a program does not use."""

    def __init__(self, verb: Verb, call: Call, program: Program):
        self.weight = 0
        uses = used(program.function)
        self._needed = set(_of_function(verb, call, uses.parts))
        own = _of_function(verb, call, uses.lists)
        self._lists = dict(zip(own, uses.lists.values(), strict=True))
        ways = self._needed | self._lists.keys()
        self._above = {way[:k] for way in ways for k in range(1, len(way))}
        self._full = call
        self._globals = {(id(g[0]), g[1]): g[2] for g in program.guards}
        self.likes = {
            key: self._part(kind, (key,)) if (key,) in self._lists else self._inside(kind, (key,))
            for key, kind in self._globals.items()
            if (key,) not in self._needed
        }
        differentiated = _differentiated(verb, len(call.arguments))
        self.call = replace(
            call,
            target=self._target(call.target),
            arguments=tuple(
                (name, self._texts(kind, verb) if k in differentiated else self._root(kind, name))
                for k, (name, kind) in enumerate(call.arguments)
            ),
            keywords=tuple((name, self._root(kind, name)) for name, kind in call.keywords),
        )

    def _target(self, kind: Kind) -> Kind:
        if isinstance(kind, Struct) and kind.form == "function":
            pairs = zip(kind.keys, kind.items, strict=True)
            return replace(kind, items=tuple(self._root(item, key) for key, item in pairs))
        return self._inside(kind, ("self",)) if isinstance(kind, Struct) else kind

    def _root(self, kind: Kind, name: str) -> Kind:
        is_leaf = not isinstance(kind, (Struct, Seq, Static))
        return kind if is_leaf else self._part(kind, (name,))

    def _part(self, kind: Kind, way: Way) -> Kind:
        if way in self._needed:
            return kind
        if way in self._lists:
            found = _picked(kind, self._lists[way])
            self.weight += 0 if found is kind else _weight(kind)
            return found
        if way in self._above or _is_function(kind):
            return self._inside(kind, way)
        self.weight += _weight(kind)
        return UNREAD

    def _inside(self, kind: Kind, way: Way) -> Kind:
        if not isinstance(kind, Struct) or _is_ours(kind):
            return kind
        pairs = zip(kind.keys, kind.items, strict=True)
        items = tuple(self._part(item, (*way, key)) for key, item in pairs)
        return replace(kind, items=items)

    def _texts(self, kind: Kind, verb: Verb) -> Kind:
        """What is differentiated without its texts, which have no derivative."""
        if verb.written is not None:
            return kind
        if isinstance(kind, Struct):
            return replace(kind, items=tuple(self._texts(item, verb) for item in kind.items))
        if isinstance(kind, Static) and isinstance(kind.value, str):
            self.weight += 1
            return UNREAD
        return kind

    def open(self, ways: Iterable[Way]) -> None:
        """Look at these parts after all, but not at what they hold."""
        for way in ways:
            if way[0] in self.likes:
                key, *inside = way
                full = self._globals[key]
                self.likes[key] = _opened(self.likes[key], full, inside, _outside_only)
            else:
                full = _kind_at(self._full, way)
                self.call = _changed(
                    self.call,
                    way,
                    lambda kind, *inside, full=full: _opened(kind, full, inside, _outside_only),
                )


def _picked(kind: Kind, places: Iterable[int]) -> Kind:
    """The kind of a list of which only the items in some places are looked at."""
    chosen = tuple(sorted(places))
    if isinstance(kind, Seq) and chosen:
        return Picked(kind.item, chosen)
    is_list = isinstance(kind, Seq) or (isinstance(kind, Struct) and kind.form == "list")
    return LIST if is_list and not chosen else kind


def _is_ours(kind: Struct) -> bool:
    """Whether an object is one of wengert's own, of which all must be known."""
    return isinstance(kind.type, type) and kind.type.__module__.startswith(OURS)


def _is_function(kind: Kind) -> bool:
    """Whether a value is a function, or what holds one: these are called, and are quick to tell apart."""
    if isinstance(kind, Static):
        value = kind.value
        return callable(value) or isinstance(value, (types.ModuleType, np.dtype))
    if not isinstance(kind, Struct):
        return False
    called = kind.form in ("function", "derivative") or kind.type is types.MethodType
    return called or _is_ours(kind)


def _weight(kind: Kind) -> int:
    match kind:
        case Struct(items=items):
            return 1 + sum(map(_weight, items))
        case Seq():
            return _LONG
        case _:
            return 1


def _weight_of(call: Call, program: Program) -> int:
    """How many parts a call and the globals of its program have."""
    given = (call.target, *(kind for _, kind in (*call.arguments, *call.keywords)))
    return sum(map(_weight, (*given, *(kind for _, _, kind in program.guards))))


def _differentiated(verb: Verb, count: int) -> set[int]:
    """The ways of the arguments whose gradients look like them."""
    if verb.name == "itself":
        return set()
    return set(range(count)) if verb.argnums is None else {k % count for k in verb.argnums if count}


def _of_function(verb: Verb, call: Call, ways: Iterable[Way]) -> Iterator[Way]:
    """Parts of a function where a verb that is written in Python is read, which has it for an attribute."""
    own = ("self",) if isinstance(call.target, Struct) and call.target.form != "function" else ()
    for way in ways:
        inside = verb.written is not None and way[:2] == ("self", "function")
        yield (*own, *way[2:]) if inside else way


def _kind_at(call: Call, way: Way) -> Kind:
    """The kind of the input that a part is in."""
    name = way[0]
    named = dict((*call.arguments, *call.keywords))
    if name in named:
        return named[name]
    target = call.target
    assert isinstance(target, Struct)
    return target.items[target.keys.index(name)] if target.form == "function" else target


def _changed(call: Call, way: Way, change: Callable[..., Kind]) -> Call:
    """A call in which the kind of the input that a part is in has been changed."""
    name, *inside = way

    def among(pairs: Iterable[tuple[str, Kind]]) -> tuple[tuple[str, Kind], ...]:
        return tuple((n, change(kind, *inside) if n == name else kind) for n, kind in pairs)

    if name in dict((*call.arguments, *call.keywords)):
        return replace(call, arguments=among(call.arguments), keywords=among(call.keywords))
    target = call.target
    assert isinstance(target, Struct)
    if target.form != "function":
        return replace(call, target=change(target, *inside))
    pairs = among(zip(target.keys, target.items, strict=True))
    return replace(call, target=replace(target, items=tuple(kind for _, kind in pairs)))


def _opened(
    kind: Kind, full: Kind, inside: Iterable[Any], look: Callable[[Kind], Kind] = lambda kind: kind
) -> Kind:
    """A kind in which a part, or the first container on the way to it that is unread, is looked at."""
    if kind is UNREAD or isinstance(kind, Picked):
        return look(full)
    key, *rest = inside or [None]
    if not isinstance(kind, Struct) or key not in kind.keys:
        return kind
    k = kind.keys.index(key)
    inner = full.items[k] if isinstance(full, Struct) else full
    items = list(kind.items)
    items[k] = _opened(items[k], inner, rest, look)
    return replace(kind, items=tuple(items))


def _outside_only(kind: Kind) -> Kind:
    """The kind of a container of which nothing inside has been looked at, or of any generator of a class."""
    if isinstance(kind, Static):
        return kind_of_generator(kind.value) or kind
    if not isinstance(kind, Struct) or _is_ours(kind):
        return kind
    items = (_outside_only(item) if _is_function(item) else UNREAD for item in kind.items)
    return replace(kind, items=tuple(items))
