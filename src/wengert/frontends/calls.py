"""Calls: what is called, how its arguments bind, whether it is inlined."""

from __future__ import annotations

import ast
import dataclasses
import functools
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import NoSource, UnsupportedSyntax
from ..ir.graph import CALL, Atom, Callee, Const, Eqn, Function, Input, Var
from ..ir.op import Op
from ..ir.types import UNKNOWN, Kind, Static, Struct, join
from ..ops import cotangents as ct
from ..ops import registry as ops
from ..ops import structure as st
from ..rules.registry import rule_for
from .expressions import as_known, evaluate, lift
from .interpreter import Diverges, Frame, Interpreter, NeedsCallee, fresh
from .opcalls import emit_op
from .signature import Template, derives
from .sources import source_of
from .values import (
    Closure,
    Items,
    Iteration,
    Maybe,
    Native,
    Scope,
    Value,
    flatten,
    kind_of_value,
    tuple_of,
)

if TYPE_CHECKING:
    from types import FunctionType

INLINE_NODES = 400
"""A function whose syntax tree is larger than this is called, not inlined."""

_AT_RUN_TIME = (st.pullback_of, ct.pushforward_of)
OPAQUE_MODULES = {"logging", "warnings", "time", "os", "sys", "datetime", "io"}
"""Their functions are called as they are: no derivative flows through them."""

Args = Sequence[Value]
Kwargs = Mapping[str, Value]


def star(value: Value) -> Items:
    """`*value` among the arguments of a call, where its items are known only at run time."""
    return Items("star", (0,), (value,))


def is_star(value: Value) -> bool:
    return isinstance(value, Items) and value.form == "star"


def evaluate_call(it: Interpreter, node: ast.Call) -> Value:
    """The value of a call expression."""
    if isinstance(node.func, ast.Attribute):
        from .attributes import call_method

        receiver = evaluate(it, node.func.value)
        args, kwargs = _arguments(it, node)
        with it.at(node):
            return call_method(it, receiver, node.func.attr, args, kwargs)
    function = evaluate(it, node.func)
    args, kwargs = _arguments(it, node)
    with it.at(node):
        return call(it, function, args, kwargs)


def _arguments(it: Interpreter, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    from .loops import known_items

    args: list[Value] = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            value = evaluate(it, arg.value)
            items = known_items(it, value)
            args.extend(items if items is not None else [star(it.atom(value))])
        else:
            args.append(evaluate(it, arg))
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = evaluate(it, keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        if isinstance(value, Var):
            from .expressions import open_up

            value = open_up(it, value)
        if not (isinstance(value, Items) and value.form == "dict"):
            raise it.unsupported(
                "`**` needs a dictionary whose keys are known when the program is read",
                "Pass the arguments by name, or specialise on an example dictionary.",
                node,
            )
        kwargs.update(zip(value.keys, value.values, strict=True))
    return args, kwargs


def call(it: Interpreter, function: Value, args: Args, kwargs: Kwargs) -> Value:
    """Call any value."""
    match function:
        case Native():
            return function.call(it, args, kwargs)
        case Closure():
            return call_closure(it, function, args, kwargs)
        case Items(form="function"):
            found = _by_rule(function.type.function)  # a rule needs no source
            if found is not None:
                return emit_op(it, *found, args, kwargs)
            return call_closure(it, closure_of_items(it, function), args, kwargs)
        case Items(form="derivative", type=verb):
            return it.reading.derivative(it, verb, function["function"], args, kwargs)
        case Items(form="object", type=types.MethodType):
            return call(it, function["__func__"], [function["__self__"], *args], kwargs)
        case Items(form="dataclass" | "object" | "namedtuple"):
            result = call_method_of_class(it, function, "__call__", args, kwargs)
            if result is None:
                raise it.unsupported(
                    f"a {function.type.__name__} is not callable",
                    "Give its class a `__call__` method.",
                )
            return result
        case Const(value=known):
            return call_known(it, known, args, kwargs)
        case Var():
            return _call_at_run_time(it, function, args, kwargs)
        case Items() | Iteration() | Maybe():
            raise it.unsupported(
                "this value is not a function that can be called", "Call a function."
            )


def _call_at_run_time(it: Interpreter, function: Var, args: Args, kwargs: Kwargs) -> Value:
    if any(map(is_star, args)):
        raise it.unsupported(
            "`*` is not covered in a call of a function that is known only when the program runs",
            "Pass the sequence itself.",
        )
    atoms = [it.atom(arg) for arg in (*args, *kwargs.values())]
    return it.emit(st.apply, function, *atoms, names=Const(tuple(kwargs)))


# --- known callables ----------------------------------------------------------------------


def call_known(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """Call a Python object that is known when the program is read."""
    special = it.reading.specials.get(id(known))
    if special is not None:
        return special(it, args, kwargs)
    if derives(known):
        return it.reading.derivative(it, known.verb, as_known(known.function), args, kwargs)
    from .library import HANDLERS

    handler = HANDLERS.get(id(known))
    if handler is not None:
        return handler(it, args, kwargs)
    if known in _AT_RUN_TIME:
        raise it.unsupported(
            "no second derivative passes through a function that is known only when the program runs",
            "Choose the function where wengert can see it: pass it as an argument of its own, or select\n"
            "it with `if` instead of looking it up.",
        )
    if isinstance(known, Op):
        return emit_op(it, known, it.namespace, args, kwargs, row=True)
    found = ops.find(known)
    if found is not None and not it.reading.opted_out(found[0]):
        return emit_op(it, *found, args, kwargs)
    return _call_python(it, known, args, kwargs)


def _call_python(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    module = (getattr(known, "__module__", None) or "").split(".")[0].lstrip("_")
    if module in OPAQUE_MODULES:
        return opaque(it, known, args, kwargs)
    if module == "random":
        return call_foreign(it, known, args, kwargs)  # a constant, as long as its arguments are
    match known:
        case types.FunctionType():
            return call_closure(it, closure_of(it, known), args, kwargs)
        case types.MethodType():
            return call_known(it, known.__func__, [as_known(known.__self__), *args], kwargs)
        case functools.partial():
            before = [as_known(a) for a in known.args]
            named = {k: as_known(v) for k, v in known.keywords.items()}
            return call_known(it, known.func, [*before, *args], {**named, **kwargs})
        case type():
            from .construct import construct

            return construct(it, known, args, kwargs)
        case _:
            pass
    implementation = getattr(known, "_implementation", None)
    if isinstance(implementation, types.FunctionType):
        return _call_numpy_function(it, known, implementation, args, kwargs)
    inner = getattr(known, "__wrapped__", None)
    if isinstance(inner, types.FunctionType):
        return call_closure(it, closure_of(it, inner), args, kwargs)
    own = vars(type(known)).get("__call__") or getattr(type(known), "__call__", None)  # noqa: B004
    if isinstance(own, types.FunctionType):
        return call_closure(it, closure_of(it, own), [Const(known), *args], kwargs)
    return call_foreign(it, known, args, kwargs)


def _call_numpy_function(
    it: Interpreter, known: Any, implementation: FunctionType, args: Args, kwargs: Kwargs
) -> Value:
    """A function of NumPy that is no op: its Python is read; where that fails it has no derivative."""
    written, names, frames = len(it.builder.eqns), dict(it.vars), len(it.frames)
    try:
        result = call_closure(it, closure_of(it, implementation), args, kwargs)
        if all(eqn.op is not st.apply for eqn in it.builder.eqns[written:]):
            return result
    except (UnsupportedSyntax, NoSource):
        pass
    # what it calls is known only at run time: an error then would show NumPy's line, not the user's
    del it.builder.eqns[written:], it.frames[frames:]
    it.frame.scope.vars = names
    return call_foreign(it, known, args, kwargs)


def call_foreign(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """A function that is not written in Python: fine unless a derivative must pass through it."""
    op = ops.foreign(known)
    atoms = [it.atom(arg) for arg in args]
    options = {name: it.atom(value) for name, value in kwargs.items()}
    return it.builder.emit_with(op, atoms, options, "call")


def opaque(
    it: Interpreter, function: Any, args: Args, kwargs: Kwargs, kind: Kind | None = None
) -> Value:
    """Call a function for its effect or for a value that has no derivative."""
    atoms = [it.atom(arg) for arg in (*args, *kwargs.values())]
    options = {"names": Const(tuple(kwargs))}
    result = it.builder.emit_with(st.opaque, (Const(function), *atoms), options, kind=kind)
    it.reading.inert.add(result)
    return result


# --- functions with source ----------------------------------------------------------------


def closure_of(
    it: Interpreter, function: FunctionType, captured: Mapping[str, Value] | None = None
) -> Closure:
    """A Python function object as a closure; `captured` overrides what its cells hold."""
    node, file = _source_of(it, function)
    around = Scope(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
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
    defaults = tuple(_default(it, function, d) for d in function.__defaults__ or ())
    keyword = {k: _default(it, function, d) for k, d in (function.__kwdefaults__ or {}).items()}
    return Closure(
        node,
        file,
        around,
        defaults,
        keyword,
        function.__code__,
        function,
        function.__qualname__,
    )


def _source_of(it: Interpreter, function: FunctionType) -> tuple[ast.FunctionDef | ast.Lambda, str]:
    try:
        source = source_of(function)
    except NoSource as error:
        (finding,) = error.findings
        raise NoSource(finding.message, finding.hint, it.builder.span) from None
    node = source.node
    if isinstance(node, ast.AsyncFunctionDef):
        from .fence import refused

        raise refused(node, source.file)
    return node, source.file


def closure_of_items(it: Interpreter, items: Items) -> Closure:
    """A function that is an argument: its captured values are leaves of the program."""
    template: Template = items.type
    captured = dict(zip(items.keys, items.values, strict=True))
    closure = closure_of(it, template.function, captured)  # type: ignore[arg-type]
    # the object at hand captured other values than the one that stands for all of them
    stands_for_itself = not captured or ops.find(template.function) is not None
    return closure if stands_for_itself else dataclasses.replace(closure, function=None)


def lift_cell(it: Interpreter, cell: Any, name: str, contents: Any) -> Value:
    return lift(it, cell, name, contents, key="cell_contents")


def _default(it: Interpreter, function: FunctionType, value: Any) -> Value:
    if value is None or isinstance(value, bool | int | float | complex | str | tuple):
        return as_known(value)
    holder = {"default": value}
    return lift(it, holder, "default", value)


def call_closure(it: Interpreter, closure: Closure, args: Args, kwargs: Kwargs) -> Value:
    """Call a function whose source is known: by its rule, inlined, or called where it recurses."""
    found = _by_rule(closure.function)
    if found is not None:
        return emit_op(it, *found, args, kwargs)
    bound = bind_arguments(it, closure, args, kwargs)
    if closure.identity in it.reading.separate:
        return _call_separately(it, closure, bound)
    if any(_same_function(frame.closure, closure) for frame in it.frames):
        it.reading.separate.add(closure.identity)
        raise NeedsCallee
    if _size(closure.node) > INLINE_NODES and it.frames and _can_be_separate(closure, bound):
        return _call_separately(it, closure, bound)
    return inline(it, closure, bound)


def _by_rule(function: Any) -> tuple[Op, str] | None:
    """The op for a function that has a rule."""
    found = ops.find(function) if function is not None else None
    return found if found is not None and rule_for(found[0]) is not None else None


def _same_function(a: Closure, b: Closure) -> bool:
    """Whether two closures are one function; two made by the same `lambda` are not."""
    if a.identity is not b.identity:
        return False
    return a.scope is b.scope or (
        isinstance(a.identity, types.CodeType) and a.function is b.function
    )


def _can_be_separate(closure: Closure, bound: Mapping[str, Value]) -> bool:
    return not any(isinstance(kind_of_value(v), Static) for v in bound.values())


@functools.lru_cache(maxsize=1024)
def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def inline(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """Run a function's body here and give its result."""
    from .statements import run_body

    scope = Scope(closure.scope.globals, closure.scope)
    scope.vars = dict(bound)
    it.frames.append(Frame(closure, scope))
    before = it.builder.span
    try:
        if isinstance(closure.node, ast.Lambda):
            return evaluate(it, closure.node.body)
        scope.vars["%returned"] = Const(False)
        run_body(it, closure.node.body)
        return _returned(it)
    finally:
        it.frames.pop()
        it.builder.span = before


def _returned(it: Interpreter) -> Value:
    flag = it.flag("%returned")
    if flag == Const(False):
        return Const(None)
    value = it.vars["%return"]
    inner = value.value if isinstance(value, Maybe) else value
    if flag == Const(True):
        return inner
    return it.choose(flag, lambda: inner, lambda: Const(None))


# --- binding ------------------------------------------------------------------------------


def bind_arguments(
    it: Interpreter, closure: Closure, args: Args, kwargs: Kwargs
) -> dict[str, Value]:
    """Arguments by parameter name, as Python binds them."""
    spec = closure.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    positional = _spread(it, list(args), len(names), has_vararg=spec.vararg is not None)
    bound: dict[str, Value] = dict(zip(names, positional, strict=False))
    extra = positional[len(names) :]
    if spec.vararg is not None:
        only_star = len(extra) == 1 and is_star(extra[0])
        bound[spec.vararg.arg] = extra[0].values[0] if only_star else tuple_of(*extra)  # type: ignore[union-attr]
    elif extra:
        _wrong_call(
            it, closure, f"takes {len(names)} positional arguments but {len(positional)} were given"
        )
    keywords = dict(kwargs)
    for name in [*names, *(a.arg for a in spec.kwonlyargs)]:
        if name in keywords and name not in {a.arg for a in spec.posonlyargs}:
            if name in bound:
                _wrong_call(it, closure, f"got multiple values for argument '{name}'")
            bound[name] = keywords.pop(name)
    _fill_defaults(it, closure, names, bound)
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = Items("dict", tuple(keywords), tuple(keywords.values()))
    elif keywords:
        _wrong_call(it, closure, f"got an unexpected keyword argument '{next(iter(keywords))}'")
    return bound


def _spread(it: Interpreter, args: list[Value], count: int, *, has_vararg: bool) -> list[Value]:
    """Arguments with a run-time `*sequence` taken apart over the parameters it must fill."""
    from .expressions import subscript

    k = next((k for k, a in enumerate(args) if is_star(a)), None)
    if k is None or (has_vararg and k >= count):
        return args
    starred = args[k]
    assert isinstance(starred, Items)
    missing = count - (len(args) - 1)
    if has_vararg or any(map(is_star, args[k + 1 :])):
        raise it.unsupported(
            "`*` needs a sequence whose length is known when the program is read",
            "Pass the sequence itself.",
        )
    source = it.emit(st.unpackable, it.atom(starred.values[0]), Const(missing), Const(-1))
    return [*args[:k], *(subscript(it, source, Const(j)) for j in range(missing)), *args[k + 1 :]]


def _fill_defaults(
    it: Interpreter, closure: Closure, names: list[str], bound: dict[str, Value]
) -> None:
    with_default = names[len(names) - len(closure.defaults) :] if closure.defaults else []
    for name, default in zip(with_default, closure.defaults, strict=True):
        bound.setdefault(name, default)
    for name, default in closure.keyword_defaults.items():
        bound.setdefault(name, default)
    spec = closure.node.args
    missing = [n for n in names if n not in bound]
    if missing:
        listed = " and ".join(f"'{n}'" for n in missing)
        plural = "s" if len(missing) > 1 else ""
        _wrong_call(
            it, closure, f"missing {len(missing)} required positional argument{plural}: {listed}"
        )
    for a in spec.kwonlyargs:
        if a.arg not in bound:
            _wrong_call(it, closure, f"missing 1 required keyword-only argument: '{a.arg}'")


def _wrong_call(it: Interpreter, closure: Closure, message: str) -> None:
    from .statements import raise_now

    raise_now(it, TypeError, f"{closure.qualname}() {message}")


# --- functions of their own ---------------------------------------------------------------


def _call_separately(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    captured, siblings = _captured_by(it, closure)
    arguments = [*captured.items(), *bound.items()]
    key = (closure.identity, tuple((n, kind_of_value(v)) for n, v in arguments))
    callee = it.reading.callees.get(key)
    if callee is None:
        callee = it.reading.callees[key] = Callee(closure.name, None, UNKNOWN)
        callee.result = None  # type: ignore[assignment]
        _read_callee(it, callee, closure, captured, siblings, bound)
    if callee.result is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise Diverges  # recursion before any base case: this path tells nothing of the result
    out = fresh(callee.result, "")
    args = tuple(atom for _, value in arguments for atom in flatten(value))
    outs = tuple(atom for atom in flatten(out) if isinstance(atom, Var))
    it.builder.append(Eqn(outs, CALL, args, {"callee": Const(callee)}, (), "py", it.builder.span))
    return out


def _captured_by(it: Interpreter, closure: Closure) -> tuple[dict[str, Value], dict[str, Closure]]:
    """What a local function takes from the functions around it: run-time values, and functions.

    The functions are those made in the same scope (itself, if it recurses); what they take counts too.
    """
    captured: dict[str, Value] = {}
    siblings: dict[str, Closure] = {}
    nodes: list[ast.AST] = [closure.node]
    while nodes:
        for name in _free_names(nodes.pop()):
            value = _visible(closure.scope, name)
            if isinstance(value, Closure) and value.scope is closure.scope:
                if name not in siblings:
                    siblings[name] = value
                    nodes.append(value.node)
            elif value is not None and not isinstance(kind_of_value(value), Static):
                captured[name] = it.checked(value, name)
    return captured, siblings


def _visible(scope: Scope | None, name: str) -> Value | None:
    while scope is not None:
        if name in scope.vars:
            return scope.vars[name]
        scope = scope.outer
    return None


@functools.lru_cache(maxsize=1024)
def _free_names(node: ast.AST) -> tuple[str, ...]:
    loaded = {n.id: None for n in ast.walk(node) if isinstance(n, ast.Name)}
    return tuple(sorted(loaded))


def _read_callee(
    it: Interpreter,
    callee: Callee,
    closure: Closure,
    captured: Mapping[str, Value],
    siblings: Mapping[str, Closure],
    bound: Mapping[str, Value],
) -> None:
    """Read a function's body; where it recurses, until its result is of the kind assumed."""
    for _ in range(8):
        before = set(it.reading.callees)
        function = _read_body(it, closure, captured, siblings, bound)
        if function is None:
            callee.result = UNKNOWN
            continue
        result = function.result if callee.result is None else join(callee.result, function.result)  # pyright: ignore[reportUnnecessaryComparison]
        if result == callee.result:
            callee.function = function
            return
        callee.result = result
        for key in set(it.reading.callees) - before:
            del it.reading.callees[key]  # read under an assumption that did not hold
    raise it.unsupported(
        "the result of this recursion never settles on one kind",
        "Return values of one kind from every branch.",
    )


def _read_body(
    it: Interpreter,
    closure: Closure,
    captured: Mapping[str, Value],
    siblings: Mapping[str, Closure],
    bound: Mapping[str, Value],
) -> Function | None:
    reader = Interpreter(it.reading, namespace=it.namespace)
    outside = {name: fresh(kind_of_value(value), name) for name, value in captured.items()}
    given = {name: fresh(kind_of_value(value), name) for name, value in bound.items()}
    inside = [*outside.items(), *given.items()]
    around = Scope(closure.scope.globals, closure.scope)
    around.vars = dict(outside)
    for name, sibling in siblings.items():
        around.vars[name] = dataclasses.replace(sibling, scope=around)
    moved = dataclasses.replace(closure, scope=around)
    try:
        value = inline(reader, moved, given)
    except Diverges:
        return None
    kind = kind_of_value(value)
    if any(isinstance(k, Static) for k in _kinds_inside(kind)):
        raise it.unsupported(
            f"{closure.name} recurses (or is large) and returns a function",
            "Return numbers, arrays or containers of these.",
        )
    params = tuple(atom for _, v in inside for atom in flatten(v) if isinstance(atom, Var))
    inputs = tuple(Input(name, kind_of_value(v)) for name, v in inside)
    body = reader.builder.block(params, tuple(flatten(value)))
    return Function(closure.name, inputs, body, kind)


def _kinds_inside(kind: Kind) -> list[Kind]:
    if isinstance(kind, Struct):
        return [inner for item in kind.items for inner in _kinds_inside(item)]
    return [kind]


def escape(it: Interpreter, closure: Closure) -> Atom:
    """A function as a run-time value."""
    if closure.function is not None:
        return Const(closure.function)  # what it captured is read from its own cells when it runs
    raise it.unsupported(
        f"{closure.name} is chosen, stored or passed on in a way that is known only at run time",
        "Call it where it is made, or choose between results instead of between functions.",
    )


# --- the user's own classes ---------------------------------------------------------------

_DUNDER: dict[str, str] = {
    "add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__",
    "floordiv": "__floordiv__", "mod": "__mod__", "pow": "__pow__", "matmul": "__matmul__",
    "neg": "__neg__", "pos": "__pos__", "eq": "__eq__", "ne": "__ne__", "lt": "__lt__",
    "le": "__le__", "gt": "__gt__", "ge": "__ge__", "abs": "__abs__",
}  # fmt: skip


_REFLECTED = {
    "__eq__": "__eq__", "__ne__": "__ne__", "__lt__": "__gt__", "__gt__": "__lt__",
    "__le__": "__ge__", "__ge__": "__le__", "__neg__": "__neg__", "__abs__": "__abs__",
}  # fmt: skip


def call_operator_method(it: Interpreter, op: Op, values: Sequence[Value]) -> Value | None:
    """The result of a user's class's operator method, if one of the operands has it."""
    name = _DUNDER.get(op.name)
    if name is None:
        return None
    left, *right = values
    result = call_method_of_class(it, left, name, right)
    if result is None and right:
        reflected = _REFLECTED.get(name) or name.replace("__", "__r", 1)
        result = call_method_of_class(it, right[0], reflected, [left])
    return result


def call_method_of_class(
    it: Interpreter, receiver: Value, name: str, args: Args, kwargs: Kwargs | None = None
) -> Value | None:
    """Call a method that the receiver's class defines in Python; None if it defines none."""
    if not (isinstance(receiver, Items) and isinstance(receiver.type, type)):
        return None
    method = getattr(receiver.type, name, None)
    if not isinstance(method, types.FunctionType):
        return None
    if getattr(method, "__module__", "") in ("dataclasses", "collections") or _generated(method):
        return None
    return call_closure(it, closure_of(it, method), [receiver, *args], kwargs or {})


def _generated(method: FunctionType) -> bool:
    return method.__code__.co_filename.startswith("<")
