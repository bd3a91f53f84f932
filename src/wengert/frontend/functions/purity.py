"""Which functions may be called before their results are asked for: those that see nothing change."""

from __future__ import annotations

import ast
import builtins
from functools import lru_cache
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from ...ir.graph import Const, Var
from ...ir.types import Number
from .. import heap
from ..domain.values import Closure, Items, Scope, Value, is_mutable
from ..heap.cells import known_external
from ..machine.interpreter import Interpreter
from ..syntax.declarations import free_names

_FIXED = (int, float, complex, str, bytes, bool, type, ModuleType, type(None), range, frozenset)


def is_pure(it: Interpreter, function: Value) -> bool:
    """Whether a function depends on its arguments only, and changes nothing else."""
    return _Judge(it).is_pure(function)


def is_fixed(it: Interpreter, value: Value) -> bool:
    """Whether a value, and what it holds, can never change."""
    value = heap.now(it, value)
    if isinstance(value, Items) and value.form in ("tuple", "namedtuple"):
        return all(is_fixed(it, item) for item in value.values)
    return isinstance(value, Const) or (isinstance(value, Var) and isinstance(value.kind, Number))


def holds_fixed(it: Interpreter, container: Value) -> bool:
    """Whether the items of what is walked over can never change, or are not made at once."""
    container = heap.now(it, container)
    if isinstance(container, Var):
        return True
    if isinstance(container, Items) and container.form in ("list", "tuple", "dict"):
        return all(is_fixed(it, item) for item in container.values)
    return isinstance(container, Const)


class _Judge:
    def __init__(self, it: Interpreter):
        self._it = it
        self._seen: set[Any] = set()

    def is_pure(self, function: Value) -> bool:
        match function:
            case Const(value=FunctionType() as known):
                return self._is_pure_outside(known)
            case Const():
                return True
            case Closure():
                return self._is_pure_closure(function)
            case _:
                return False

    def _is_pure_closure(self, closure: Closure) -> bool:
        if closure.node in self._seen:
            return True
        self._seen.add(closure.node)
        if _writes(closure.node):
            return False
        return all(self._is_fixed_name(closure.scope, name) for name in free_names(closure.node))

    def _is_fixed_name(self, scope: Scope, name: str) -> bool:
        where: Scope | None = scope
        while where is not None:
            if name in where.vars:
                return self._is_fixed_variable(where, name)
            where = where.outer
        if name not in scope.globals:
            return hasattr(builtins, name)
        return self._is_fixed_global(scope.globals, name, scope.globals[name])

    def _is_fixed_variable(self, scope: Scope, name: str) -> bool:
        owner = next((f.closure.node for f in self._it.frames if f.scope is scope), None)
        if owner is not None and _times_bound(owner, name) > 1:
            return False
        value = scope.vars[name]
        if isinstance(value, Closure):
            return self.is_pure(value)
        return not (isinstance(value, Items) and is_mutable(value)) and is_fixed(self._it, value)

    def _is_fixed_global(self, holder: Any, key: str, value: Any) -> bool:
        if known_external(self._it, holder, key) is not None:
            return False
        if isinstance(value, FunctionType):
            return self._is_pure_outside(value)
        return isinstance(value, _FIXED) or (callable(value) and not hasattr(value, "__dict__"))

    def _is_pure_outside(self, function: FunctionType) -> bool:
        code = function.__code__
        if code in self._seen:
            return True
        self._seen.add(code)
        if _writes_in(code):
            return False
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        return all(
            self._is_fixed_global(function.__globals__, name, function.__globals__[name])
            for name in code.co_names
            if name in function.__globals__
        ) and all(self._is_fixed_global(cell, "cell_contents", _held(cell)) for _, cell in cells)


def _held(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return ...


def _writes_in(code: CodeType) -> bool:
    """Whether a function stores into a global, an attribute or an item; methods may, too."""
    import dis

    stores = ("STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR", "STORE_SUBSCR", "LOAD_METHOD")
    return any(step.opname in stores for step in dis.get_instructions(code))


@lru_cache(maxsize=1024)
def _writes(node: ast.AST) -> bool:
    """Whether a function stores into an attribute or an item, or binds names of others."""
    return any(
        isinstance(each, (ast.Nonlocal, ast.Global))
        or (
            isinstance(each, (ast.Attribute, ast.Subscript))
            and isinstance(each.ctx, (ast.Store, ast.Del))
        )
        for each in ast.walk(node)
    )


@lru_cache(maxsize=1024)
def _times_bound(owner: ast.AST, name: str) -> int:
    return sum(
        isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.id == name
        for each in ast.walk(owner)
    )
