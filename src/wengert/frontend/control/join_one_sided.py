"""What only one arm of a branch gives, brought out of it."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import UNDEFINED, Atom, Const, Var
from ...ir.records import replace
from ...ir.types import BOOL, Kind, Static
from ..domain.values import (
    Closure,
    Items,
    Maybe,
    Native,
    Scope,
    Value,
    flatten,
    is_mutable,
    kind_of_value,
)
from .branch import Join


class JoinOneSided(Join):
    """Brings out what only one arm gives; the other is dead or has left a name unbound."""

    def _one_sided(self, value: Value, side: int, *, certain: bool) -> Value:
        """A value that only one arm gives; the other is dead or has left the name unbound."""
        if isinstance(value, Maybe):
            inner = self._one_sided(value.value, side, certain=True)
            leaf = next(flatten(inner), None)
            if isinstance(leaf, Var):
                return Maybe(inner, leaf)
            return Maybe(inner, self._sided(BOOL, value.witness, side))
        if certain and isinstance(value, (Closure, Native)):
            return self._function_of(value, side)
        if certain and not isinstance(value, (Var, Items, Const)):
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

    def _exported_content(self, content: Value, side: int) -> Value:
        current = self._current(content, side)
        if isinstance(current, Items):
            values = [self._one_sided(item, side, certain=True) for item in current.values]
            return current.holding(values)
        return self._export(current, side)

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
        walks = self.interpreter.reading.walks_over
        if value in walks:
            walks.add(out)
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
            if current.home is not None and self._is_of_outside(current.home, side):
                return self._export(current.home, side)
            items = tuple(self._one_sided(v, side, certain=True) for v in current.values)
            exported = Items(current.form, current.keys, items, current.type, value.place)
            if value.place is not None:
                self.context.exported[value.place] = exported
            self.context.known[key] = exported
        return self.context.known[key]

    def _is_of_outside(self, var: Var, side: int) -> bool:
        """Whether what an arm has opened is part of an object from outside: a change of a copy is none of that."""
        places = self._identities_in(side, var)
        return any(place.born <= self.context.start for place in places)

    def _sided(self, kind: Kind, atom: Atom, side: int) -> Var:
        pair = (atom, UNDEFINED) if side == 0 else (UNDEFINED, atom)
        return self._out(kind, *pair)

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
