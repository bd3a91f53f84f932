"""`with`: context managers of the user's classes, and made of generators."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...ir.graph import Const, Var
from ...ir.types import UNKNOWN, Array, Other
from ...ops import structure as st
from ...ops.program import identity as ident
from ...ops.registry import is_foreign
from ..classes import class_lookup
from ..domain.running import Consumer
from ..domain.values import Args, Closure, Items, Kwargs, Native, Value, is_iterator, kind_of_value
from ..functions.closures import closure_of, example_manager, syntax_of
from ..heap import cells, iterator_state, now
from ..machine.interpreter import Interpreter
from ..machine.session import Step
from ..syntax import liveness
from ..syntax.declarations import assigned_names
from . import deferral, exceptions


def run_with(it: Interpreter, node: ast.With) -> None:
    """The items from left to right, each around those that follow it."""
    _run_items(it, node, 0)


def _run_items(it: Interpreter, node: ast.With, k: int) -> None:

    if k == len(node.items):
        it.execute(node.body)
        return
    item = node.items[k]
    with it.at(item.context_expr):
        manager = now(it, it.evaluate(item.context_expr))

    def body(entered: Value) -> None:
        steps: list[Step] = [lambda: _run_items(it, node, k + 1)]
        if item.optional_vars is not None:
            target = item.optional_vars
            steps.insert(0, lambda: it.assign(target, entered))
        it.run(steps)

    live = liveness.read_around(it.frame.closure.node, node, node.body)
    _run_in(it, node, manager, live, body)


def _run_in(
    it: Interpreter,
    node: ast.With,
    manager: Value,
    live: frozenset[str],
    body: Callable[[Value], None],
) -> None:
    if isinstance(manager, Items) and manager.type is _OF_GENERATOR:
        _run_in_generator(it, node, manager, body)
    else:
        _run_in_object(it, manager, live, body)


# --- managers with `__enter__` and `__exit__` -----------------------------------------------


def _run_in_object(
    it: Interpreter, manager: Value, live: frozenset[str], body: Callable[[Value], None]
) -> None:
    entered = _call_special(it, manager, "__enter__", [])

    def leave(exception: Value | None) -> Value:
        if exception is None:
            return _call_special(it, manager, "__exit__", [Const(None)] * 3)
        return _call_special(it, manager, "__exit__", _described(it, exception))

    def raised(exception: Value, *, certain: bool) -> None:
        suppressed = it.truth(leave(exception))
        deferral.pass_on(it, exception)
        it.branch(suppressed, lambda: None, lambda: exceptions.raise_again(it, exception))

    def completed() -> None:
        exceptions.with_exits_aside(it, lambda: _ignored(leave(None)))

    keeps = _looks_inside(it, manager)
    exceptions.catch(
        it,
        (BaseException,),
        live,
        lambda: body(entered),
        raised,
        completed,
        keeps=keeps,
        finishes=True,
    )


def _looks_inside(it: Interpreter, manager: Value) -> bool:
    """Whether a manager's `__exit__` does more with an exception than show it."""
    cls = class_lookup.class_of(manager)
    leave = None if cls is None else class_lookup.own_method(cls, "__exit__")
    if not isinstance(leave, FunctionType):
        return False
    node, _ = syntax_of(it, leave)
    named = [*node.args.posonlyargs, *node.args.args][2:3] or [node.args.vararg]
    (exception,) = named
    body = node.body if isinstance(node.body, list) else [ast.Expr(node.body)]
    return exception is not None and liveness.looks_inside(exception.arg, body)


def _ignored(value: Value) -> None:
    return


def _described(it: Interpreter, exception: Value) -> list[Value]:
    """Class, exception and traceback, as `__exit__` gets them."""
    known = class_lookup.class_of(exception)
    if known is not None:
        return [Const(known), exception, Const(None)]
    atom = it.atom(exception)
    parts = [
        it.builder.emit_with(st.getattr_, (atom,), {"name": Const(name)}, kind=Other(kind))
        for name, kind in (("__class__", "type"), ("__traceback__", "traceback"))
    ]
    return [parts[0], exception, parts[1]]


def _call_special(it: Interpreter, manager: Value, name: str, args: Args) -> Value:
    """Call a special method of a context manager, by its class."""
    own = it.call_method_of_class(manager, name, args)
    if own is not None:
        return own
    if isinstance(manager, Items) and isinstance(manager.type, type):
        method = class_lookup.own_method(manager.type, name)
        if method is not None:  # it has become an object of the run
            return it.call(Const(method), [manager, *args], {})
        raise it.unsupported(
            f"a {manager.type.__name__} object cannot be entered by `with` here",
            "Give its class the methods `__enter__` and `__exit__`.",
        )
    if isinstance(kind_of_value(manager), Array):  # what `np.nditer` is read as
        raise it.unsupported(
            "an array, or an iterator of NumPy's, is entered by `with`",
            "Walk over the indices: `for k in np.ndindex(a.shape)`.",
        )
    atom = it.atom(manager)
    made = it.builder.visible_definition(atom) if isinstance(atom, Var) else None
    given = made is None or not (is_foreign(made.op) or made.op in (st.opaque, st.apply))
    if name == "__enter__" and kind_of_value(manager) == UNKNOWN and given:
        assert isinstance(atom, Var)
        it.refuse_chosen(("__enter__", "__exit__"), atom)
        it.emit(ident.built_in_operator, atom, Const(("__enter__", "__exit__")))
    params = {"name": Const(name)}
    method = it.builder.emit_with(st.getattr_, (atom,), params, kind=Other("method"))
    atoms = [it.atom(arg) for arg in args]
    result = it.builder.emit_with(st.opaque, (method, *atoms), {"names": Const(())})
    it.reading.inert.add(result)
    return result


# --- managers made of generators ------------------------------------------------------------


_OF_GENERATOR = type(example_manager())


def manager_of(it: Interpreter, closure: Closure, args: Args, kwargs: Kwargs) -> Value:
    """The context manager that a function decorated with `contextmanager` gives."""
    inner: Any = closure.function.__wrapped__
    return _manager(it.call(closure_of(it, inner), args, kwargs))


def _manager(generator: Value) -> Items:
    asked = ("args", "kwds", "func")  # which Python's own `__enter__` deletes
    return Items("object", ("gen", *asked), (generator, *map(Const, asked)), _OF_GENERATOR)


def contextmanager(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`contextlib.contextmanager` of a function made in the program."""
    (function,) = args
    return Native(
        "contextmanager", lambda it, more, named: _manager(it.call(function, more, named))
    )


def _run_in_generator(
    it: Interpreter, node: ast.With, manager: Items, body: Callable[[Value], None]
) -> None:
    """The body of the `with` runs where the generator yields: its `try` is around that."""
    generator = now(it, manager["gen"])
    if not is_iterator(generator):
        raise it.unsupported(
            "`contextmanager` of a function that is no generator", "Let it `yield` once."
        )
    assert isinstance(generator, Items)
    generator = iterator_state.taken_over(it, generator)
    frame = it.frame
    targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
    names = assigned_names([*targets, *node.body])
    lent = cells.lend(it, frame.scope, [*names, *it.exits(), "%return"])
    runs = 0

    def take(it: Interpreter, entered: Value) -> None:
        nonlocal runs
        runs += 1
        it.frames.append(frame)
        try:
            body(entered)
        finally:
            it.frames.pop()

    try:
        consumer = Consumer(take, lambda it: Const(False), may_leave=False)
        iterator_state.drive(it, generator, consumer)
    finally:
        cells.take_back(it, frame.scope, lent)
    if not runs:
        it.raise_exception(it.make_exception(RuntimeError, [Const("generator didn't yield")], {}))


HANDLERS: list[tuple[Any, Callable[..., Value]]] = [
    (contextlib.contextmanager, contextmanager),
]
