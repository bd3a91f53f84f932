"""Derivatives taken inside a program that is itself being differentiated.

The inner function is read into a block, the pass is run on that block, and the result is inlined
where the call stands. What the inner function closes over stays a free value of the block, so there
is nothing that could be confused with the outer derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument, UnsupportedSyntax
from ..frontend import heap, row_reader
from ..frontend.builtins import library_copies
from ..frontend.calls.calls import call
from ..frontend.calls.closure_calls import call_closure
from ..frontend.domain.arguments import is_star
from ..frontend.domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    Value,
    is_taken_apart,
    tuple_of,
    unflatten,
)
from ..frontend.functions.closures import closure_of
from ..frontend.heap.captures import put_together
from ..frontend.machine.interpreter import Interpreter
from ..ir.graph import Callee, Const, Function, Input, Span, Var, free_vars
from ..ir.records import replace
from ..ir.renaming import clones, renamed_block
from ..ir.types import UNKNOWN, Struct
from ..ops.program import checks
from ..passes.blocks.copies import inlined
from ..passes.checks.deferral import refused_when_run
from ..passes.reverse import sweep as reverse
from ..runtime.containers import CONTENTS
from .isolated import own_arguments, params_of, read_inner, unharmed
from .nested_maps import assemble, leaf_indices, must_be_counted, pushforward
from .nested_matrices import class_of_contents, contents

if TYPE_CHECKING:
    from ..compile.wanted import Verb

Handler = Callable[[Interpreter, Args, Kwargs], Value]

_handlers: dict[FunctionType, Handler] = {}


def special(function: Any, handler: Handler) -> None:
    """Say how to read a call of one of wengert's own functions."""
    _handlers[function] = handler


def handler_of(function: FunctionType) -> Handler | None:
    """How to read a call of one of wengert's own functions."""
    import_module(
        "wengert.api.intrinsics"
    )  # it stands above this module, and says how to read what does
    return _handlers.get(function)


def read_anew(function: FunctionType) -> Handler:
    """How to read a call of a function that is no recursion where it is met again inside itself."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        return call_closure(it, replace(closure_of(it, function), identity=object()), args, kwargs)

    return handler


def inner_function(it: Interpreter, function: Value, args: Args, kwargs: Kwargs) -> Function:
    """A function value as IR, for arguments like these, which leaves everything as it is."""
    inner = read_inner(it, function, args, kwargs)
    if not inner.changes_arguments:
        return inner.function

    def on_copies(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        copies = [library_copies.own_copy(it, arg) for arg in args]
        return call(it, function, copies, kwargs)

    return read_inner(it, Native("inner", on_copies), args, kwargs).function


# --- the verbs ----------------------------------------------------------------------------


def derivative(it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs) -> Value:
    """A call of a derivative function."""
    if verb.tier == "recorded":
        raise it.unsupported(
            "a derivative that is found by recording a run is taken inside a program that is read",
            "Leave `tier` out here, or record the whole program as well.",
        )
    return _BY_VERB[verb.name](it, verb, function, args, kwargs)


def gradients(
    it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs
) -> tuple[Value, list[Value]]:
    """The value of a function and its gradients in the chosen arguments."""
    inner = read_inner(it, function, args, kwargs)
    primal, chosen = inner.function, _chosen(verb, args, it.builder.span)
    named = replace(primal, name=name_of(function))
    checks.real_scalar(named, has_aux=verb.has_aux, span=it.builder.span)
    indices = leaf_indices(primal, chosen)
    made = refused_when_run(
        primal,
        lambda primal: reverse.gradient(primal, indices, read=row_reader.RowReader(), value=True),
        defers=it.reading.defers,
    )
    own = own_arguments(it, inner, args)
    outs = inlined(it.builder, made, params_of(primal, own))
    if inner.changes:
        call(it, function, args, kwargs)
    count = len(primal.body.outs)
    atoms = iter(outs[:count])
    value = unflatten(primal.result, lambda leaf: next(atoms))
    return value, assemble(args, chosen, list(outs[count:]))


def name_of(function: Value) -> str:
    """What errors call a function."""
    match function:
        case Closure(name=name) | Const(value=FunctionType(__name__=name)):
            return "the inner function" if name in ("lambda", "<lambda>") else name
        case Items() if is_taken_apart(function):
            return name_of(put_together(function))
        case Items(form="function", type=template):
            return name_of(Const(template.function))
        case _:
            return "the inner function"


def _chosen(verb: Verb, args: Args, span: Span | None) -> list[int]:
    chosen = list(range(len(args))) if verb.argnums is None else list(verb.argnums)
    for argnum in chosen:
        if not -len(args) <= argnum < len(args):
            raise BadArgument(
                f"`argnums` names argument {argnum}, but the function is called with "
                f"{checks.counted(len(args), 'positional argument')}",
                "Arguments count from 0. Pass those to differentiate by position, not by keyword.",
                span,
            )
    chosen = [k % len(args) for k in chosen]
    known = next((k for k, arg in enumerate(args) if is_star(arg)), len(args))
    if any(k >= known for k in chosen):
        raise UnsupportedSyntax(
            "how many arguments `*` stands for here is known only when the program runs",
            "Name in `argnums` arguments that come before it, or pass a list as one argument.",
            span,
        )
    return chosen


def _grad(it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs) -> Value:
    value, bars = gradients(it, verb, function, args, kwargs)
    gradient: Value = bars[0] if verb.single else tuple_of(*bars)
    if verb.name == "value_and_grad":
        return tuple_of(value, gradient)
    if verb.has_aux:
        assert isinstance(value, Items)
        return tuple_of(gradient, value.values[1])
    return gradient


def _directional(it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs) -> Value:
    """The derivative of a function of one number: a tangent of 1 pushed forward."""
    order = max(1, verb.order)
    inner = function
    for _ in range(order - 1):
        inner = _native_derivative(verb, inner)
    pair = pushforward(it, [inner, *args], kwargs)
    assert isinstance(pair, Items)
    return call(it, pair.values[1], [Const(1.0)], {})


def _native_derivative(verb: Verb, function: Value) -> Value:
    once = replace(verb, order=1)

    def run(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        return _directional(it, once, function, args, kwargs)

    return Native("derivative", run)


def _hvp(it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs) -> Value:
    """Forward over reverse (Pearlmutter 1994)."""
    must_be_counted(it, args[-1:])
    *primals, vector = args
    objects = [heap.identities(it, heap.now(it, each), own=True) for each in args]
    if not objects[-1].isdisjoint(set().union(*objects[:-1])):
        vector = library_copies.own_copy(it, vector)  # the function may change what it is given
    (argnum,) = _chosen(replace(verb, argnums=verb.argnums or (0,)), primals, it.builder.span)
    grad = replace(verb, name="grad")

    def gradient(it: Interpreter, at: Args, named: Kwargs) -> Value:
        moved = list(primals)
        moved[argnum] = at[0]
        return _grad(it, grad, function, moved, kwargs)

    pair = pushforward(it, [Native("gradient", gradient), primals[argnum]], {})
    assert isinstance(pair, Items)
    return call(it, pair.values[1], [vector], {})


def _by_source(it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs) -> Value:
    """A verb that is written in Python over the others: read its source."""
    chosen = _chosen(verb, args, it.builder.span)
    argnums = tuple_of(*map(Const, chosen))
    classes = {k: class_of_contents(it, args[k]) for k in chosen}
    plain = [contents(it, arg) if classes.get(k) else arg for k, arg in enumerate(args)]

    def body(function: Value) -> Value:
        def as_it_is_called(it: Interpreter, given: Args, more: Kwargs) -> Value:
            pairs = ((classes.get(k), value) for k, value in enumerate(given))
            given = [Items("object", (CONTENTS,), (v,), cls) if cls else v for cls, v in pairs]
            return call(it, function, given, {**kwargs, **more})

        of_args = (
            Native("function", as_it_is_called) if kwargs or any(classes.values()) else function
        )
        rest = argnums, Const(verb.single), tuple_of(*plain)
        return call(it, Const(verb.written), [of_args, *rest], {})

    return unharmed(it, function, args, body)


def as_callee(primal: Function, name: str) -> tuple[Callee, list[Var]]:
    """A function whose free values have become arguments; the values to pass for them."""
    free = list(free_vars(primal.body))
    inside = clones(free)
    body = renamed_block(primal.body, dict(inside))
    body = replace(body, params=(*inside.values(), *body.params))
    kinds = [UNKNOWN if isinstance(var.kind, Struct) else var.kind for var in free]
    inputs = tuple(Input(f"free{k}", kind) for k, kind in enumerate(kinds))
    made = replace(primal, name=name, inputs=(*inputs, *primal.inputs), body=body)
    return Callee(name, made, made.result), free


_BY_VERB: dict[str, Callable[..., Value]] = {
    "grad": _grad,
    "value_and_grad": _grad,
    "derivative": _directional,
    "hvp": _hvp,
    "written": _by_source,
}
