"""What a name stands for: local, of a function around, global, or Python's own."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, NoReturn

from ...errors import NoSource, UnsupportedSyntax
from ...ir.graph import Const, Var
from ...ir.types import Static, Struct
from ...ops import structure as st
from ..boundary.no_code import ForeignArray
from ..boundary.partial_kinds import generators, unread_parts, with_unknown
from ..boundary.signature import derives, kind_of
from ..domain.values import Items, Maybe, Native, Scope, Value, as_known
from ..heap import cells, globals_state, now
from ..machine.failing import raise_now
from ..machine.guards import MISSING, is_users_module, rely_on
from ..machine.interpreter import Interpreter
from ..syntax.declarations import assigned_names, declarations
from ..syntax.sources import parameter_names
from .closures import closure_of


def lookup(it: Interpreter, scope: Scope, name: str) -> Value:
    """The value of a name: local, then the functions around, then global, then builtin."""
    where: Scope | None = scope
    while where is not None:
        if name in where.vars:
            value = where.vars[name]
            if isinstance(value, Items) and value.form == "cell":
                return cells.read(it, value, name, own=_is_own(scope, where))
            if isinstance(value, Maybe):
                _note_unbound(it, name)
                value = it.checked(value, name, own=_is_own(scope, where))
                # of the names of functions around no branch or loop in here knows what they were
                if where is it.frame.scope:
                    where.vars[name] = value
            return now(it, value)
        if where.outer is not None and _is_local(it, where, name):
            _note_unbound(it, name)
            cells.unbound(it, name, own=_is_own(scope, where))
        where = where.outer
    if cell := cells.known_external(it, scope.globals, name):
        return cells.read(it, cell, name, own=None)
    if _is_local(it, scope, name):
        _note_unbound(it, name)
        cells.unbound(it, name, own=True)
    if name in scope.globals:
        return lift(it, scope.globals, name, scope.globals[name])
    rely_on(it.reading.guards, scope.globals, name, MISSING)
    if hasattr(builtins, name):
        return Const(getattr(builtins, name))
    return _no_such_name(it, scope, name)


def _is_own(scope: Scope, where: Scope) -> bool:
    """Whether Python takes a name that is bound in one scope for a local one in another."""
    while scope is not where and scope.inlined and scope.outer is not None:
        scope = scope.outer
    return scope is where


def _no_such_name(it: Interpreter, scope: Scope, name: str) -> NoReturn:
    message = f"name '{name}' is not defined"
    if any(_is_local(it, around, name) for around in _around(scope)):
        message = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
    raise_now(it, NameError, message)


def _around(scope: Scope) -> Iterator[Scope]:
    while scope.outer is not None:
        scope = scope.outer
        yield scope


def _note_unbound(it: Interpreter, name: str) -> None:
    for frame in it.frames:
        frame.unbound.add(name)


def _is_local(it: Interpreter, scope: Scope, name: str) -> bool:
    """Whether a function that is running binds a name somewhere, so that it is its own."""
    frame = next((f for f in it.frames if f.scope is scope), None)
    if frame is None or frame.around is not None or isinstance(frame.closure.node, ast.Lambda):
        return False
    node = frame.closure.node
    if name in frozenset[str]().union(*declarations(node).values()):
        return False
    return name in parameter_names(node.args) or name in assigned_names(node.body)


def lift(it: Interpreter, holder: Any, name: str, value: Any, *, key: str = "") -> Value:
    """A global, an attribute of a module, or what a closure's cell holds, as a value.

    Functions, modules, classes and switches are known (and guarded: if the name is bound to something
    else later, the program is read again); numbers and containers are read when the program runs.
    """
    key = key or name
    cell = cells.known_external(it, holder, key)
    if cell is not None:
        return cells.read(it, cell, name, own=False)
    known = isinstance(holder, ModuleType) and not is_users_module(holder)
    if known:
        return as_known(value)
    try:
        kind = kind_of(value, like=it.reading.likes.get((id(holder), key)))
    except ForeignArray as error:
        (finding,) = error.findings  # what is computed with it may depend on no argument
        raise UnsupportedSyntax(finding.message, finding.hint, it.builder.span) from None
    if isinstance(kind, Struct) and kind.form == "function" and not kind.keys:
        kind = Static(value)
    if type(value) is bool:
        kind = Static(value)  # a switch: what it leaves out (a plot, a report) need not be read
    if hasattr(type(value), "n_sequence_fields"):
        kind = Static(value)  # of Python's own, as `sys.float_info` is: fields by name, and fixed
    it.reading.guards[id(holder), key] = (holder, key, kind)
    if value is None or isinstance(kind, Static):
        globals_state.note_holder(it, name, value)
        return as_known(value)
    if isinstance(value, FunctionType):
        try:
            return closure_of(it, value)
        except NoSource:
            return as_known(value)  # it may have a rule, or never be called
    if derives(value):
        return _lifted_derivative(it, value)
    plain = with_unknown(kind)
    known_object = globals_state.tracked(it, holder, key, name, value, plain)
    if known_object is not None:
        return it.open_up(now(it, known_object))
    params = {"name": Const(name), "holder": Const(holder), "key": Const(key)}
    var = it.builder.emit_with(st.global_, (), params, name=name, kind=plain)
    assert isinstance(var, Var)
    var.shape_of = _shape_read_before(it, holder, key) or var
    it.reading.read_from[var] = holder, key
    opened = it.open_up(var)
    it.reading.unread.update(unread_parts(kind, opened, ((id(holder), key),)))
    it.reading.generators.update(generators(kind, opened))
    return now(it, opened)


def _shape_read_before(it: Interpreter, holder: Any, key: str) -> Var | None:
    """The shape of a global as it was read before: the program does not bind it anew."""
    places = it.reading.read_from.items()
    same = (var for var, place in places if place[0] is holder and place[1] == key)
    return next((var.shape_of for var in same if isinstance(var, Var)), None)


def _lifted_derivative(it: Interpreter, made: Any) -> Native:
    """A derivative function that is known: a call of it is read, so that it can be differentiated."""
    function = lift(it, made, "function", made.function)

    def run(it: Interpreter, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        return it.reading.derivative(it, made.verb, function, args, kwargs)

    return Native(made.verb.name, run, made)
