"""Augmented assignment: whether others see it.

`y += x` on an array or list changes the object, and every other name for it sees the change. Where
nobody else holds the object, `y = y + x` means the same and costs less.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import FOR, IF, WHILE, Atom, Block, Eqn, Var
from ...ir.types import UNKNOWN, Array, Map, Seq, Struct, Unknown
from ...ops import structure as st
from ..domain.values import (
    Activation,
    Closure,
    Items,
    LazyIterable,
    Maybe,
    Native,
    ObjectId,
    Scope,
    Value,
    object_class,
)
from ..machine.interpreter import Interpreter
from .aliases import holds_mutable, holds_operands, link_holders, may_be_same
from .views import view_of

_BORROWED = (st.global_, st.getattr_, st.apply, st.pullback_of)
"""Ops that hand out an object which somebody else holds."""


def may_be_shared(it: Interpreter, name: str, value: Value) -> bool:
    """Whether something else may refer to the object that a name refers to; it is asked of arrays only.

    A list or a dictionary that grows costs less than one that is built anew.
    """
    if not isinstance(value, Var):
        return isinstance(value, Items) or object_class(value) is not None
    if not isinstance(value.kind, (Array, Unknown)):
        is_known_list = isinstance(value.kind, Struct) and value.kind.form in ("list", "dict")
        return is_known_list or isinstance(value.kind, (Seq, Map))
    link_holders(it, value)
    if value in it.reading.places or value in it.reading.choices:
        return True
    if name not in it.vars or _is_borrowed(it, value):
        return True  # a caller may hold it without a name: `(b, scale_b())`
    scopes = _live_scopes(it)
    seen = {id(scope) for scope in scopes}
    return any(_holds(it, other, value, seen) for other in _others(it, name, scopes))


def may_be_item(it: Interpreter, value: Value) -> bool:
    """Whether a loop or a branch gave a value that some path took out of a container, or wrote as a number.

    Such a value is a number most likely: that it can change is left to the run to refuse.
    """
    merged = isinstance(value, Var) and value.kind == UNKNOWN and _is_merged(it, value)
    return merged and _is_item(it, value, set())


def _is_merged(it: Interpreter, var: Var) -> bool:
    eqn = it.builder.visible_definition(var)
    return var not in it.reading.inputs if eqn is None else eqn.op.control


def _is_item(it: Interpreter, value: Value | None, seen: set[Var]) -> bool:
    if not isinstance(value, Var):
        return True
    if value in seen or value in it.reading.inputs or value in it.reading.elements:
        return False
    seen.add(value)
    if value in it.reading.entries:
        return _is_item(it, it.reading.entries[value], seen)
    eqn = it.builder.visible_definition(value)
    if eqn is None:
        return True
    if eqn.op is IF:
        k = eqn.outs.index(value)
        return any(_is_item_inside(it, block, block.outs[k], seen) for block in eqn.blocks)
    if eqn.op in (FOR, WHILE):
        carried = len(eqn.blocks[-1].params) - eqn.param("iterables", 0)
        k = eqn.outs.index(value)
        return k < carried and _is_item(it, eqn.args[len(eqn.args) - carried + k], seen)
    sliced = eqn.op is st.getitem and "slice" in str(kind_of_atom(eqn.args[1]))
    return view_of(it, value) is not None and not sliced


def _is_item_inside(it: Interpreter, block: Block, atom: Atom, seen: set[Var]) -> bool:
    eqn = next((eqn for eqn in block.eqns if atom in eqn.outs), None)
    if eqn is None:
        return _is_item(it, atom, seen)
    return not eqn.op.fresh and any(_is_item_inside(it, block, a, seen) for a in eqn.args[:1])


def _is_borrowed(it: Interpreter, value: Var) -> bool:
    origins = roots(it, value)
    if value not in origins or view_of(it, value) is not None:
        return True  # a view of something, or what came out of a container
    return any(origin in it.reading.inputs for origin in origins)


def _holds(it: Interpreter, holder: Value, value: Value, seen: set[int]) -> bool:
    """Whether something is a value, or leads to it."""
    if isinstance(holder, Var):
        return isinstance(value, Var) and not roots(it, value).isdisjoint(roots(it, holder))
    if holder is value:
        return True
    if id(holder) in seen:
        return False
    seen.add(id(holder))
    if isinstance(holder, Items) and isinstance(value, Items) and value.place is not None:
        if holder.place is value.place:
            return True
    return any(_holds(it, each, value, seen) for each in _held_by(holder, seen))


def reached_from(holder: Value) -> Iterator[Value]:
    """A value and everything that it leads to, by what containers and functions hold themselves."""
    seen: set[int] = set()
    reached = [holder]
    while reached:
        value = reached.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            reached.extend(_held_by(value, seen))


def is_named(it: Interpreter, value: Var, places: set[ObjectId]) -> bool:
    """Whether a name leads to a value, or to one of the objects that it may be."""
    for scope in _live_scopes(it):
        for each in (each for holder in scope.vars.values() for each in reached_from(holder)):
            if each is value or (isinstance(each, Var) and it.reading.places.get(each) in places):
                return True
    return False


def _held_by(holder: Any, seen: set[int]) -> Iterator[Value]:
    """What a value holds directly; of a function the names that it may reach, in scopes not yet seen."""
    match holder:
        case Maybe(value=inner):
            yield inner
        case Items(values=values):
            yield from values
        case LazyIterable(parts=parts, function=function):
            yield from (*parts, *(() if function is None else (function,)))
        case Closure():
            yield from (*holder.defaults, *holder.keyword_defaults.values())
            for scope in _scopes_from(holder.scope):
                if id(scope) not in seen:
                    seen.add(id(scope))
                    yield from scope.vars.values()
        case Native(call=call, value=value):
            yield from _inside((call, value), set())
        case _:
            pass


def _inside(call: Any, seen: set[int]) -> Iterator[Value]:
    """The values in what a function of the interpreter was made with; it may refer to itself."""
    if id(call) in seen:
        return
    seen.add(id(call))
    match call:
        case functools.partial():
            given: list[Any] = [*call.args, *call.keywords.values(), call.func]
        case types.FunctionType():
            given = [cell.cell_contents for cell in call.__closure__ or ()]
        case types.MethodType():
            given = [call.__self__]
        case Activation():
            given = [call.closure, *call.bound.values()]
        case list() | tuple():
            given = list(call)
        case dict():
            given = list(call.values())
        case _:
            given = []
    for each in given:
        if isinstance(each, (Var, Items, Closure, Native, LazyIterable, Maybe)):
            yield each
        elif not isinstance(each, types.MethodType):
            yield from _inside(each, seen)


def _scopes_from(scope: Scope | None) -> Iterator[Scope]:
    """A scope, and those around it."""
    while scope is not None:
        yield scope
        scope = scope.outer


def _live_scopes(it: Interpreter) -> dict[Scope, None]:
    """The scopes of the functions that are running, each once."""
    return dict.fromkeys(scope for frame in it.frames for scope in _scopes_from(frame.scope))


def _others(it: Interpreter, name: str, scopes: Iterable[Scope]) -> Iterator[Value]:
    """Everything that something refers to now, but for the one name."""
    yield from it.held
    yield from (source for _, source, _ in it.reading.copied_ahead)
    for scope in scopes:
        for other, value in scope.vars.items():
            if scope is not it.frame.scope or other != name:
                yield value
    for content in it.heap.values():
        if isinstance(content, (Items, Var)):
            yield content


def roots(it: Interpreter, var: Var) -> set[Var]:
    """The values whose memory a value may be part of; itself, if it may be an object of its own."""
    found: set[Var] = set()
    pending = [var]
    seen: set[Var] = set()
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        entry = it.reading.entries.get(current)
        if entry is not None:
            found.add(current)
            pending.append(entry)
            continue
        pending.extend(_sources(it.builder, current, found))
    return found


def _sources(builder: Builder, var: Var, found: set[Var]) -> list[Var]:
    """Where the memory of a value may come from; notes in `found` those that own theirs."""
    eqn = builder.visible_definition(var)
    if eqn is None:
        found.add(var)
        return []
    if eqn.op is IF:
        found.add(var)
        k = eqn.outs.index(var)
        return [a for block in eqn.blocks for a in _inner(block, block.outs[k], found)]
    if eqn.op in (FOR, WHILE):
        found.add(var)
        return []
    if eqn.op in _BORROWED or eqn.namespace == "call":
        return []
    if (holds_operands(eqn) and holds_mutable(var.kind)) or may_be_same(eqn):
        found.add(var)
        return [atom for atom in eqn.args if isinstance(atom, Var)]
    if eqn.op.fresh or not eqn.args:
        found.add(var)
        return []
    return [atom for atom in eqn.args[:1] if isinstance(atom, Var)]


def _inner(block: Block, atom: Atom, found: set[Var]) -> list[Var]:
    if not isinstance(atom, Var):
        return []
    made: dict[Var, Eqn] = {out: eqn for eqn in block.eqns for out in eqn.outs}
    eqn = made.get(atom)
    if eqn is None:
        return [atom]
    if holds_operands(eqn) and holds_mutable(atom.kind):
        found.add(atom)
        return [a for a in eqn.args if isinstance(a, Var)]
    if eqn.op.fresh and not eqn.op.control and eqn.namespace != "call":
        found.add(atom)
        return []
    return [a for a in eqn.args[:1] if isinstance(a, Var)]
