"""Running statements symbolically."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

from ...ir.graph import Const, Var
from ...ir.types import UNKNOWN, Array, Seq
from ...ops import structure as st
from ...ops.program import identity as ident
from ..calls.call_expressions import evaluate_call
from ..calls.unread_calls import refuse_effect
from ..containers import attribute_writes, in_place, nameless_parts, writes
from ..control import contexts, exceptions
from ..data import tables
from ..domain.values import Items, Maybe, Value, is_object, kind_of_value
from ..functions.closures import make_closure
from ..heap import cells, settle_doubts, sharing
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..machine.session import Step
from ..syntax.exits import always_leaves
from .expressions import evaluate_after
from .imports import run_import, run_import_from


def run_body(it: Interpreter, body: Sequence[ast.stmt]) -> None:
    """Run a sequence of statements."""
    it.run(steps_of(it, body))
    settle_doubts(it)


def steps_of(it: Interpreter, body: Sequence[ast.stmt]) -> list[Step]:
    """The statements as steps.

    What follows an `if` one of whose arms always leaves belongs to the other arm; it is moved there,
    so that the common guard clause needs no flag.
    """
    steps: list[Step] = []
    for k, node in enumerate(body):
        rest = body[k + 1 :]
        if (
            isinstance(node, ast.If)
            and rest
            and always_leaves(node.body) != always_leaves(node.orelse)
        ):
            steps.append(partial(_run_if, it, node, rest))
            break
        steps.append(partial(run_statement, it, node))
        if isinstance(node, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            break  # what follows cannot be reached
    return steps


def run_statement(it: Interpreter, node: ast.stmt) -> None:
    if (it.reading.doubtful or it.reading.moved) and not _may_move_items(node):
        settle_doubts(it)
    handler = _STATEMENTS.get(type(node))
    if handler is None:
        from ..syntax.fence import explain

        raise it.unsupported(*explain(node), node=node)
    with it.at(node):
        handler(it, node)


def _may_move_items(node: ast.stmt) -> bool:
    """Whether a statement may be one of those that exchange items: `old = o.a`, `o.a = o.b`, `o.b = old`."""
    if not isinstance(node, ast.Assign):
        return False
    stores = (ast.Subscript, ast.Attribute, ast.Tuple)
    reads = (ast.Name, ast.Subscript, ast.Attribute)
    return isinstance(node.value, reads) or any(isinstance(t, stores) for t in node.targets)


def _run_if(it: Interpreter, node: ast.If, rest: Sequence[ast.stmt] = ()) -> None:
    with it.at(node.test):
        holds = it.condition(node.test)
    then, other = list(node.body), list(node.orelse)
    if rest:
        (other if always_leaves(node.body) else then).extend(rest)
    known = it.known_truth(holds)
    if known is not None:  # on a long ladder Python's stack is for its arms
        run_body(it, then if known else other)
    else:
        it.branch(holds, lambda: run_body(it, then), lambda: run_body(it, other))


def _run_assign(it: Interpreter, node: ast.Assign) -> None:
    value = it.evaluate(node.value)
    for target in node.targets:
        assign(it, target, value)


def _run_ann_assign(it: Interpreter, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(it, node.target, it.evaluate(node.value))


def _run_aug_assign(it: Interpreter, node: ast.AugAssign) -> None:

    match node.target:
        case ast.Name(id=name):
            load = ast.copy_location(ast.Name(name, ast.Load()), node.target)
            old = it.evaluate(load)
            new = it.evaluate(node.value)
            tables.refuse_change(it, old)
            shared = (
                sharing.may_be_shared(it, name, old)
                or in_place.casts(old, new, node.op)
                or in_place.has_no_axes(old)
            )
            if in_place.extends(old, new, node.op) or (shared and not sharing.may_be_item(it, old)):
                result = it.add_in_place(node.op, old, new, node)
            else:
                if shared:
                    it.emit(ident.rebound, it.atom(old))
                result = it.binary(node.op, old, new, node)
                result = in_place.as_the_array_holds_it(it, old, new, result)
            assign(it, node.target, result)
        case ast.Subscript(value=container, slice=index):
            target, at = evaluate_after(it, index, it.evaluate(container))
            old = it.getitem(target, at)
            new = it.evaluate(node.value)
            if isinstance(kind_of_value(target), Array):
                result = it.binary(node.op, old, new, node)
                nameless_parts.set_item(it, container, target, at, result)
                return
            if not isinstance(at, Const) and kind_of_value(old) == UNKNOWN:
                result = it.binary(node.op, old, new, node)
                writes.change_item(it, target, at, old, result)
                return
            result = it.add_in_place(node.op, old, new, node)
            if result is not old or _runs_to_assign(target):
                nameless_parts.set_item(it, container, target, at, result)
        case ast.Attribute(value=container, attr=name):
            target = it.evaluate(container)
            old = it.getattr(target, name)
            result = it.add_in_place(node.op, old, it.evaluate(node.value), node)
            if result is not old or _runs_to_assign(target, name):
                attribute_writes.set_attribute(it, target, name, result)


def _runs_to_assign(target: Value, name: str = "") -> bool:
    """Whether putting an object back where it is already does anything: a method runs, or an error is raised.

    Without a name it is an item.
    """
    from ..objects.object_changes import is_assigned_plainly

    target = target.value if isinstance(target, Maybe) else target
    if not name:
        return is_object(target) or (isinstance(target, Items) and target.form == "tuple")
    return isinstance(target, Items) and is_object(target) and not is_assigned_plainly(target, name)


def assign(it: Interpreter, target: ast.expr, value: Value) -> None:
    """Bind a target to a value: a name, or names inside tuples and lists."""
    match target:
        case ast.Name(id=name):
            bind(it, name, value)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            _unpack(it, elements, value)
        case ast.Subscript(value=container, slice=index):
            owner = it.evaluate(container)
            nameless_parts.set_item(it, container, owner, it.evaluate(index), value)
        case ast.Attribute(value=container, attr=name):
            attribute_writes.set_attribute(it, it.evaluate(container), name, value)
        case _:
            from ..syntax.fence import explain

            raise it.unsupported(*explain(target), node=target)


def _run_delete(it: Interpreter, node: ast.Delete) -> None:
    for target in node.targets:
        match target:
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                _run_delete(it, ast.copy_location(ast.Delete(targets), node))
            case ast.Name(id=name):
                it.evaluate(ast.copy_location(ast.Name(name, ast.Load()), target))
                unbind(it, name)
            case ast.Subscript(value=container, slice=index):
                it.delitem(it.evaluate(container), it.evaluate(index))
            case ast.Attribute(value=container, attr=name):
                attribute_writes.delete_attribute(it, it.evaluate(container), name)
            case _:
                from ..syntax.fence import explain

                raise it.unsupported(*explain(node), node=node)


def bind(it: Interpreter, name: str, value: Value) -> None:
    """Give a value a name; a run-time value without one keeps it as its hint."""
    _hint(value, name)
    cell = cells.find(it, name)
    if cell is None:
        it.vars[name] = value
    else:
        cells.write(it, cell, value)


def unbind(it: Interpreter, name: str) -> None:
    """Take a name's value away."""
    cell = cells.find(it, name)
    if cell is None:
        it.vars.pop(name, None)
    else:
        cells.write(it, cell, None)


def _hint(value: Value, name: str) -> None:
    match value:
        case Var() if not value.name and not name.startswith("%"):
            value.name = name
        case Items(form="tuple" | "list", values=values):
            for k, item in enumerate(values):
                _hint(item, f"{name}_{k}")
        case _:
            return


def _unpack(it: Interpreter, targets: Sequence[ast.expr], value: Value) -> None:
    value = it.settled(value)
    starred = [k for k, t in enumerate(targets) if isinstance(t, ast.Starred)]
    items = it.known_items(value)
    if items is None:
        _unpack_at_run_time(it, targets, starred, it.atom(value))
        return
    if starred:
        if len(items) < len(targets) - 1:
            _wrong_count(it, f"expected at least {len(targets) - 1}, got {len(items)}", few=True)
        k = starred[0]
        tail = len(targets) - k - 1
        middle = items[k : len(items) - tail]
        rest = Items("list", tuple(range(len(middle))), tuple(middle))
        items = [*items[:k], rest, *items[len(items) - tail :]]
    elif len(items) < len(targets):
        _wrong_count(it, f"expected {len(targets)}, got {len(items)}", few=True)
    elif len(items) > len(targets):
        _wrong_count(it, f"expected {len(targets)}", few=False)
    for target, item in zip(targets, items, strict=True):
        assign(it, target.value if isinstance(target, ast.Starred) else target, item)


def _wrong_count(it: Interpreter, detail: str, *, few: bool) -> None:
    word = "not enough" if few else "too many"
    raise_now(it, ValueError, f"{word} values to unpack ({detail})")


def _unpack_at_run_time(
    it: Interpreter, targets: Sequence[ast.expr], starred: list[int], value: Var | Const
) -> None:

    it.refuse_unknown(("__iter__", "__getitem__"), [value])
    count = Const(len(targets))
    flag = Const(starred[0] if starred else -1)
    checked = it.emit(st.unpackable, value, count, flag)
    after = starred[0] if starred else len(targets)
    for k, target in enumerate(targets):
        if k < after:
            item = it.getitem(checked, Const(k))
        elif k == after:
            stop = k - len(targets) + 1
            rest = it.getitem(checked, Const(slice(k, stop or None, None)))
            # a part of an array is a view, and what a star takes is a list
            item = rest if isinstance(kind_of_value(rest), Seq) else it.as_list(rest)
        else:
            item = it.getitem(checked, Const(k - len(targets)))
        assign(it, target.value if isinstance(target, ast.Starred) else target, item)


def _run_expr(it: Interpreter, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Call):
        refuse_effect(it, evaluate_call(it, node.value))  # nobody asks what it gives
    elif not isinstance(node.value, ast.Constant):
        it.evaluate(node.value)


def _run_return(it: Interpreter, node: ast.Return) -> None:
    value: Value = Const(None) if node.value is None else it.evaluate(node.value)
    it.set("%return", value)
    it.set("%returned", Const(True))


def _run_break(it: Interpreter, node: ast.Break) -> None:
    it.set(f"%break{it.frame.loops}", Const(True))


def _run_continue(it: Interpreter, node: ast.Continue) -> None:
    it.set(f"%continue{it.frame.loops}", Const(True))


def _run_raise(it: Interpreter, node: ast.Raise) -> None:
    exceptions.run_raise(it, node)


def _run_with(it: Interpreter, node: ast.With) -> None:
    contexts.run_with(it, node)


def _run_try(it: Interpreter, node: ast.Try) -> None:
    exceptions.run_try(it, node)


def _run_assert(it: Interpreter, node: ast.Assert) -> None:
    holds = it.condition(node.test)

    def fail() -> None:
        arguments = [] if node.msg is None else [it.evaluate(node.msg)]
        it.raise_exception(it.make_exception(AssertionError, arguments, {}))

    it.branch(holds, lambda: None, fail)


def _run_def(it: Interpreter, node: ast.FunctionDef) -> None:
    function: Value = make_closure(it, node)
    for decorator in reversed(node.decorator_list):
        function = it.call(it.evaluate(decorator), [function], {})
    bind(it, node.name, function)


def _run_for(it: Interpreter, node: ast.For) -> None:
    from ..control.loops import run_for

    run_for(it, node)


def _run_while(it: Interpreter, node: ast.While) -> None:

    it.run_while(node)


def _run_match(it: Interpreter, node: ast.Match) -> None:
    from ..control.patterns import run_match

    run_match(it, node)


_STATEMENTS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Assign: _run_assign,
    ast.AnnAssign: _run_ann_assign,
    ast.AugAssign: _run_aug_assign,
    ast.Expr: _run_expr,
    ast.Return: _run_return,
    ast.If: _run_if,
    ast.For: _run_for,
    ast.While: _run_while,
    ast.Break: _run_break,
    ast.Continue: _run_continue,
    ast.Pass: lambda it, node: None,
    ast.Nonlocal: lambda it, node: None,
    ast.Global: lambda it, node: None,
    ast.Raise: _run_raise,
    ast.Try: _run_try,
    ast.With: _run_with,
    ast.Assert: _run_assert,
    ast.FunctionDef: _run_def,
    ast.Import: run_import,
    ast.ImportFrom: run_import_from,
    ast.Match: _run_match,
    ast.Delete: _run_delete,
}
