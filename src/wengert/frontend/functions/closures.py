"""Functions whose source is known, with what they have captured."""

from __future__ import annotations

import ast
import contextlib
import types
from collections.abc import Mapping
from types import CodeType, FunctionType
from typing import Any, cast
from weakref import WeakKeyDictionary

from ...errors import NoSource
from ...ir.graph import Atom, Const
from ...ir.records import replace
from ...ops import registry as ops
from ..boundary.templates import Template
from ..domain.values import Closure, Items, Scope, Value, as_known
from ..heap import cells
from ..machine.guards import rely_on_function
from ..machine.interpreter import Interpreter
from ..syntax.sources import source_of


def closure_of(
    it: Interpreter, function: FunctionType, captured: Mapping[str, Value] | None = None
) -> Closure:
    """A Python function object as a closure; `captured` overrides what its cells hold."""
    if captured is None:
        rely_on_function(it.reading.guards, function)
    node, file = syntax_of(it, function)
    around = Scope(function.__globals__)
    around.cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        bound = cells.known_external(it, cell, "cell_contents")
        if bound is not None:
            around.vars[name] = bound
            continue
        if captured is not None and name in captured:
            around.vars[name] = captured[name]
            continue
        try:
            contents = cell.cell_contents
        except ValueError:
            continue
        around.vars[name] = (
            Const(function) if contents is function else lift_cell(it, cell, name, contents)
        )
    holders = _holders.setdefault(function, {})
    defaults = tuple(bound_before(it, d, holders) for d in function.__defaults__ or ())
    keyword = {k: bound_before(it, d, holders) for k, d in (function.__kwdefaults__ or {}).items()}
    return Closure(
        node, file, around, defaults, keyword, function.__code__, function, function.__qualname__
    )


def syntax_of(it: Interpreter, function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, str]:
    """What defines a function, and the file in which it does."""
    code, known = function.__code__, it.reading.sources
    if id(code) not in known:
        try:
            known[id(code)] = code, source_of(function)
        except NoSource as error:
            (finding,) = error.findings
            raise NoSource(finding.message, finding.hint, it.builder.span) from None
    _, source = known[id(code)]
    node = source.node
    if isinstance(node, ast.AsyncFunctionDef):
        from ..syntax.fence import refused

        raise refused(node, source.file)
    return node, source.file


def closure_of_items(it: Interpreter, items: Items) -> Closure:
    """A function that is an argument: its captured values are leaves of the program."""
    template: Template = items.type
    captured = dict(zip(items.keys, items.values, strict=True))
    closure = closure_of(it, template.function, captured)  # type: ignore[arg-type]
    # the object at hand captured other values than the one that stands for all of them
    stands_for_itself = not captured or ops.find(template.function) is not None
    return closure if stands_for_itself else replace(closure, function=None)


def lift_cell(it: Interpreter, cell: Any, name: str, contents: Any) -> Value:
    return it.lift(cell, name, contents, key="cell_contents")


_holders: WeakKeyDictionary[FunctionType, dict[int, dict[str, Any]]] = WeakKeyDictionary()
"""What stands for the defaults of a function in every reading, by the identity of a default."""


def bound_before(
    it: Interpreter, value: Any, holders: dict[int, dict[str, Any]] | None = None
) -> Value:
    """An argument that was bound before the call: a default, or one that `functools.partial` has."""
    if value is None or isinstance(value, (bool, int, float, complex, str, tuple)):
        return as_known(value)
    holder = {} if holders is None else holders.setdefault(id(value), {})
    holder["default"] = value
    return it.lift(holder, "default", value)


def made_alone(closure: Closure) -> Any:
    """A function that the program defines as Python makes it, where all its names are global; else None."""
    node = closure.node
    if isinstance(node, ast.Lambda):
        code: CodeType = compile(ast.Expression(node), closure.file, "eval")
    else:
        code = compile(ast.Module([node], []), closure.file, "exec")
    if not _names_of(code).isdisjoint(_names_around(closure.scope)):
        return None
    names, made = cast("dict[str, Any]", closure.scope.globals), dict[str, Any]()
    if isinstance(node, ast.Lambda):
        return eval(code, names, made)  # noqa: S307
    exec(code, names, made)  # noqa: S102
    return made[node.name]


def _names_of(code: CodeType) -> set[str]:
    """The names in some code that are not its own, also in what it defines."""
    inner = (_names_of(each) for each in code.co_consts if isinstance(each, CodeType))
    return {*code.co_names}.union(*inner)


def _names_around(scope: Scope | None) -> set[str]:
    names: set[str] = set()
    while scope is not None:
        names.update(scope.vars)
        scope = scope.outer
    return names


def escape(it: Interpreter, closure: Closure) -> Atom:
    """A function as a run-time value."""
    if closure.function is not None:
        return Const(closure.function)  # what it captured is read from its own cells when it runs
    raise it.unsupported(
        f"{closure.name} is chosen, stored or passed on in a way that is known only at run time",
        "Call it where it is made, or choose between results instead of between functions.",
    )


@contextlib.contextmanager
def example_manager():  # type: ignore[no-untyped-def]
    yield


_HELPER: CodeType = example_manager.__code__  # type: ignore[attr-defined]


def is_manager_function(closure: Closure) -> bool:
    """Whether a function is what `contextlib.contextmanager` makes of a generator function."""
    return isinstance(closure.function, FunctionType) and closure.function.__code__ is _HELPER


def make_closure(it: Interpreter, node: ast.FunctionDef | ast.Lambda) -> Closure:
    """The function that a `def` or a `lambda` makes; its defaults are computed here and now."""
    defaults = tuple(it.evaluate(d) for d in node.args.defaults)
    keyword_defaults = {
        a.arg: it.evaluate(d)
        for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if d is not None
    }
    scope = it.frame.scope
    around = it.frame.closure
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    qualname = f"{around.qualname}.<locals>.{name}"
    attributes = Items("object", (), (), types.SimpleNamespace)
    return Closure(
        node,
        around.file,
        scope,
        defaults,
        keyword_defaults,
        node,
        qualname=qualname,
        attributes=attributes,
    )
