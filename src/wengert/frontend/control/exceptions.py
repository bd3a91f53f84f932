"""`try`, `raise` and what exceptions carry."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ...errors import WengertError
from ...ir.graph import Atom, Const, Var
from ...ir.types import BOOL
from ...ops import structure as st
from ...ops.program.refusals import REFUSALS
from ..classes import class_lookup
from ..classes.exception_objects import as_raised, make
from ..domain.values import Items, Maybe, Value
from ..heap import now, put
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..machine.segments import Classes, Region
from ..machine.session import NeverReturns, PathRaises, Step
from ..syntax import liveness
from . import deferral
from .branch import Branch
from .open_arms import see


def run_try(it: Interpreter, node: ast.Try) -> None:
    """A `try` with its handlers, its `else` and its `finally`."""
    if not node.finalbody:
        _run_handled(it, node)
        return
    live = liveness.live_after(it.frame.closure.node, node)
    finish = lambda: it.execute(node.finalbody)
    protect(it, live, lambda: _run_handled(it, node), finish)


def _run_handled(it: Interpreter, node: ast.Try) -> None:
    body = lambda: it.execute(node.body)

    if not node.handlers:
        body()
        return
    handlers = [_that_can_be_asked(it, handler) for handler in node.handlers]
    classes = tuple(dict.fromkeys(cls for caught, _ in handlers for cls in caught))
    live = liveness.live_after(it.frame.closure.node, node)
    keeps = any(liveness.looks_inside(each.name, each.body) for each in node.handlers)

    def raised(exception: Value, *, certain: bool) -> None:
        deferral.pass_on(it, exception)
        _dispatch(it, handlers, exception, certain=certain)

    def completed() -> None:
        it.run([lambda: None, lambda: it.execute(node.orelse)])

    catch(it, classes, live, body, raised, completed, keeps=keeps)


def _that_can_be_asked(
    it: Interpreter, handler: ast.ExceptHandler
) -> tuple[Classes, ast.ExceptHandler]:
    """What a handler catches, and the handler; Python asks for its classes once something is raised.

    One whose classes cannot be had, as they name what a module does not have, raises in every case.
    """
    if handler.type is None:
        return (BaseException,), handler
    with it.aside(), it.at(handler.type):
        frames = len(it.frames)
        try:
            it.evaluate(handler.type)
        except NeverReturns:
            del it.frames[frames:]
            asks = ast.copy_location(ast.Expr(handler.type), handler.type)
            instead = ast.ExceptHandler(type=None, name=None, body=[asks])
            return (BaseException,), ast.copy_location(instead, handler)
    return _classes_of(it, handler.type), handler


def _classes_of(it: Interpreter, expression: ast.expr) -> Classes:
    with it.at(expression):
        value = it.evaluate(expression)
        try:
            known = it.constant(value)
        except LookupError:
            known = None
    classes: tuple[Any, ...] = known if isinstance(known, tuple) else (known,)
    if not all(isinstance(cls, type) and issubclass(cls, BaseException) for cls in classes):
        raise it.unsupported(
            "which exceptions are caught is known only when the program runs",
            "Name their classes after `except`.",
            expression,
        )
    return classes


# --- paths --------------------------------------------------------------------------------


def catch(
    it: Interpreter,
    classes: Classes,
    live: frozenset[str],
    body: Step,
    raised: Callable[..., None],
    completed: Step,
    *,
    keeps: bool,
    finishes: bool = False,
) -> None:
    """Run a body, and then what is to be done where it raised and where it did not.

    Args:
        it: the interpreter.
        classes: what is caught.
        live: the names of the frame that may be read after an exception.
        body: what may raise.
        raised: called with the exception, and with whether it is certainly of one of the classes.
        completed: what follows where nothing was raised.
        keeps: whether the exception's contents are looked at.
        finishes: whether what is raised goes on its way after what is done then.
    """

    def read() -> None:
        with it.catching.watching():
            _Paths(it, raised, completed, finishes=finishes).read(classes, live, body, keeps=keeps)

    it.catching.whole(read)


class _Paths:
    """The body of a `try`, and what follows it."""

    def __init__(
        self, it: Interpreter, raised: Callable[..., None], completed: Step, *, finishes: bool
    ):
        self._it = it
        self._finishes = finishes
        self._raised = raised
        self._completed = completed

    def read(self, classes: Classes, live: frozenset[str], body: Step, *, keeps: bool) -> None:
        catching = self._it.catching
        level, dead = len(catching.arms), False
        with catching.region(classes, live, keeps=keeps) as region:
            path = deferral.beginning(self._it) if self._it.reading.on_a_path else None
            try:
                body()
            except NeverReturns:
                dead = True
            except PathRaises:
                pass
            except REFUSALS as refusal:
                if path is None or len(catching.arms) > level:
                    raise
                dead = self._refused(path, refusal)
            catching.close_segment()
        arms = catching.arms[level:]
        if not arms and dead:
            raise NeverReturns
        if len(arms) == 1 and not dead and catching.flag_of(region) == Const(False):
            self._in_both_arms(region)
            return
        scope = id(self._it.frame.scope)
        final = dict(self._it.vars)
        raising = [arm.scopes.get(scope, {}) for arm in arms]
        if not raising or not (dead or catching.flag_of(region) == Const(False)):
            raising.append(final)
        catching.close(level, dead=dead)
        self._after(region, raising, final)

    def _refused(self, path: deferral.Beginning, refusal: WengertError) -> bool:
        """The body cannot be read; gives whether it never comes back, as nothing is to be done on the way out."""
        if not self._finishes:
            deferral.refuse_when_run(self._it, path, refusal)
            return True
        error = deferral.error_at(self._it, path, refusal)
        with suppress(PathRaises):
            self._it.catching.leave(error)
        return False

    def _in_both_arms(self, region: Region) -> None:
        """Where there is one place that raises, what follows goes into the two sides of its branch."""
        it = self._it
        opened, arms = it.catching.take_last(dead=False)
        steps: list[Step] = [self._completed, lambda: self._raise(region)]
        if not opened.completes:
            steps.reverse()
        outer = it.builder
        arms = [self._continued(arm, step) for arm, step in zip(arms, steps, strict=True)]
        it.builder, it.heap = outer, opened.heap
        it.settle(opened.condition, arms, opened.start)

    def _continued(self, arm: Branch, step: Step) -> Branch:
        it = self._it
        it.builder, it.frame.scope.vars, it.heap = arm.builder, arm.vars, arm.heap
        return it.read_arm(step)

    def _after(
        self, region: Region, raising: list[dict[str, Value]], final: dict[str, Value]
    ) -> None:
        """Go on after the body: `raising` are the names at the ends of the paths that raise, `final` at its end."""
        it = self._it
        flag = it.catching.flag_of(region)

        def raised() -> None:
            see(it, raising)
            self._raise(region)

        def completed() -> None:
            see(it, [final])
            self._completed()

        it.branch(flag, raised, completed)

    def _raise(self, region: Region) -> None:
        exception = self._it.catching.exception_of(region)
        inner = exception.value if isinstance(exception, Maybe) else exception
        self._raised(inner, certain=region.certain)


# --- handlers -----------------------------------------------------------------------------


def _dispatch(
    it: Interpreter,
    handlers: Sequence[tuple[Classes, ast.ExceptHandler]],
    exception: Value,
    *,
    certain: bool,
) -> None:
    """Run the first handler for an exception; without one it goes on its way."""
    if not handlers:
        raise_again(it, exception)
        return
    (classes, handler), *others = handlers
    only = certain and not others
    matched = Const(True) if only else is_instance(it, exception, classes)
    it.branch(
        matched,
        lambda: _handle(it, handler, exception),
        lambda: _dispatch(it, others, exception, certain=False),
    )


def is_instance(it: Interpreter, exception: Value, classes: Classes) -> Atom:
    """Whether an exception is of one of some classes."""
    known = class_lookup.class_of(exception)
    if known is not None:
        return Const(issubclass(known, classes))
    if BaseException in classes:
        return Const(True)
    asked = Const(classes[0] if len(classes) == 1 else classes)
    args = (Const(isinstance), it.atom(exception), asked)
    return it.builder.emit_with(st.opaque, args, {"names": Const(())}, kind=BOOL)


def _handle(it: Interpreter, handler: ast.ExceptHandler, exception: Value) -> None:

    if handler.name is not None:
        it.bind(handler.name, exception)
    it.handling.append(exception)
    try:
        it.execute(handler.body)
    finally:
        it.handling.pop()
    if handler.name is not None:
        it.unbind(handler.name)


def protect(it: Interpreter, live: frozenset[str], body: Step, finish: Step) -> None:
    """`try: body; finally: finish`."""

    def raised(exception: Value, *, certain: bool) -> None:
        finish()
        it.branch(it.left(), lambda: None, lambda: raise_again(it, exception))

    def completed() -> None:
        with_exits_aside(it, finish)

    catch(it, (BaseException,), live, body, raised, completed, keeps=False, finishes=True)


def with_exits_aside(it: Interpreter, finish: Step) -> None:
    """Run what comes on the way out; it may leave in another way than the way that was taken."""
    flags = it.exits()
    saved = {name: value for name in (*flags, "%return") if (value := it.get(name)) is not None}
    for name in flags:
        it.set(name, Const(False))
    finish()

    def restore() -> None:
        for name, value in saved.items():
            it.set(name, value)

    it.branch(it.left(), lambda: None, restore)


# --- raising ------------------------------------------------------------------------------


def run_raise(it: Interpreter, node: ast.Raise) -> None:
    """`raise`, `raise exception`, `raise exception from cause`."""
    if node.exc is None:
        if not it.handling:
            raise_now(it, RuntimeError, "No active exception to reraise")
        raise_again(it, it.handling[-1])
    exception = it.evaluate(node.exc)  # type: ignore[arg-type]
    cause = None if node.cause is None else it.evaluate(node.cause)
    raise_exception(it, exception, cause)


def raise_exception(it: Interpreter, exception: Value, cause: Value | None = None) -> None:
    """Raise an exception, or an exception of a class."""
    if isinstance(exception, Const) and isinstance(exception.value, type):
        exception = make(it, exception.value, [], {})
    current = now(it, exception)
    if isinstance(current, Items) and cause is not None:
        current = _with_cause(it, current, now(it, cause))
    if it.catching.explicit and it.catching.keeps:
        if isinstance(current, Items) and _holds_values(current):
            it.catching.leave(current)
    _raise_at_run_time(it, current, cause)


def _with_cause(it: Interpreter, exception: Items, cause: Value) -> Items:
    entries = dict(zip(exception.keys, exception.values, strict=True))
    entries["__cause__"] = cause
    return put(it, exception, exception.holding(tuple(entries.values()), tuple(entries)))


def raise_again(it: Interpreter, exception: Value) -> None:
    """Raise an exception that was caught."""
    if it.catching.explicit:
        it.catching.leave(exception)
    _raise_at_run_time(it, now(it, exception), None)


def _raise_at_run_time(it: Interpreter, exception: Value, cause: Value | None) -> None:
    if isinstance(exception, Items):
        it.catching.refuse_to_lose(_holds_values(exception))
        if "__cause__" in exception.keys:
            cause = exception["__cause__"]
        exception = as_raised(it, exception)
    made = it.builder.visible_definition(exception) if isinstance(exception, Var) else None
    if made is not None and made.op is st.opaque:
        it.catching.refuse_to_lose(any(isinstance(arg, Var) for arg in made.args))
    it.emit(st.raise_, it.atom(exception), Const(False) if cause is None else it.atom(cause))
    raise NeverReturns


def _holds_values(value: Value) -> bool:
    match value:
        case Var():
            return True
        case Items(values=values):
            return any(map(_holds_values, values))
        case _:
            return False
