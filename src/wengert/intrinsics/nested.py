"""Derivatives taken inside a program that is itself being differentiated.

The inner function is read into a block, the pass is run on that block, and the result is inlined
where the call stands. What the inner function closes over stays a free value of the block, so there
is nothing that could be confused with the outer derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BadArgument, UnsupportedSyntax
from ..frontend import heap, read as source
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
    kind_of_value,
    tuple_of,
    unflatten,
)
from ..frontend.functions.closures import closure_of
from ..frontend.heap.captures import put_together
from ..frontend.machine.interpreter import Interpreter
from ..ir.builder import Builder
from ..ir.graph import Atom, Callee, Const, Function, Input, Span, Var, free_vars
from ..ir.records import replace
from ..ir.renaming import clones, renamed_block
from ..ir.types import (
    NONE,
    UNKNOWN,
    Array,
    Kind,
    Number,
    Seq,
    Static,
    Struct,
    Unknown,
    is_differentiable,
    leaves,
)
from ..ops import structure as st
from ..ops.program import checks
from ..passes.blocks.copies import inlined
from ..passes.checks.deferral import refused_when_run
from ..passes.reverse import sweep as reverse
from ..runtime.containers import CONTENTS, reads_plainly
from ..runtime.cotangents import gradient_names
from .isolated import kind_inside, own_arguments, params_of, read_inner, state_of, unharmed

if TYPE_CHECKING:
    from ..compile.verbs import Verb
    from ..passes.forward.linearize import Linearized

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


def _must_be_counted(it: Interpreter, args: Args) -> None:
    """Refuse `*items` of which only the run knows how many there are: each would have a gradient of its own."""
    if any(map(is_star, args)):
        raise it.unsupported(
            "how many arguments a derivative is taken in is known only when the program runs",
            "Write the arguments out, or pass them as one list.",
        )


def gradients(
    it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs
) -> tuple[Value, list[Value]]:
    """The value of a function and its gradients in the chosen arguments."""
    inner = read_inner(it, function, args, kwargs)
    primal, chosen = inner.function, _chosen(verb, args, it.builder.span)
    named = replace(primal, name=name_of(function))
    checks.real_scalar(named, has_aux=verb.has_aux, span=it.builder.span)
    indices = _indices(primal, chosen)
    made = refused_when_run(
        primal,
        lambda primal: reverse.gradient(primal, indices, read=source.RowReader(), value=True),
        defers=it.reading.defers,
    )
    own = own_arguments(it, inner, args)
    outs = inlined(it.builder, made, params_of(primal, own))
    if inner.changes:
        call(it, function, args, kwargs)
    count = len(primal.body.outs)
    atoms = iter(outs[:count])
    value = unflatten(primal.result, lambda leaf: next(atoms))
    return value, _assemble(args, chosen, list(outs[count:]))


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


def _indices(primal: Function, chosen: Sequence[int]) -> list[int]:
    result: list[int] = []
    start = 0
    starts: list[list[int]] = []
    for input_ in primal.inputs:
        kinds = [leaf for _, leaf in leaves(input_.kind)]
        starts.append([start + k for k, leaf in enumerate(kinds) if is_differentiable(leaf)])
        start += len(kinds)
    for k in chosen:
        result.extend(starts[k])
    return result


def _assemble(args: Args, chosen: Sequence[int], bars: list[Atom]) -> list[Value]:
    remaining = iter(bars)

    def take(kind: Any) -> Atom:
        return next(remaining) if is_differentiable(kind) else Const(None)

    return [unflatten(_gradient_shape(kind_inside(args[k])), take) for k in chosen]


def _gradient_shape(kind: Kind) -> Kind:
    """The structure of a gradient: that of its argument, without what is known or has no leaf."""
    match kind:
        case Struct(form="function" | "derivative" | "object", keys=keys, items=items):
            inner = tuple(map(_gradient_shape, items))
            if not inner:
                return Static(None)
            if CONTENTS in keys and reads_plainly(kind.type):
                return replace(kind, items=inner)
            return Struct("object", gradient_names(keys), inner, SimpleNamespace)
        case Struct(items=items):
            return replace(kind, items=tuple(map(_gradient_shape, items)))
        case Static():
            return Static(None)
        case _:
            return kind


def _grad(it: Interpreter, verb: Verb, function: Value, args: Args, kwargs: Kwargs) -> Value:
    value, bars = gradients(it, verb, function, args, kwargs)
    gradient: Value = bars[0] if verb.single else tuple_of(*bars)
    if verb.name == "value_and_grad":
        return tuple_of(value, gradient)
    if verb.has_aux:
        assert isinstance(value, Items)
        return tuple_of(gradient, value.values[1])
    return gradient


def guarded_pullback(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A pullback of which zeros in the cotangents are not to meet infinite derivatives."""
    return pullback(it, args, kwargs, guarded=True)


def pullback(it: Interpreter, args: Args, kwargs: Kwargs, *, guarded: bool = False) -> Value:
    """`wg.pullback(f, *args)` inside a program."""
    function, *arguments = args
    _must_be_counted(it, arguments)
    inner = read_inner(it, function, arguments, kwargs)
    primal, chosen = inner.function, list(range(len(arguments)))
    indices, read = _indices(primal, chosen), source.RowReader()
    ahead, back = refused_when_run(
        primal,
        lambda primal: reverse.split(primal, indices, read=read, final=True, guarded=guarded),
        defers=it.reading.defers,
    )
    own = own_arguments(it, inner, arguments)
    *outs, residuals = inlined(it.builder, ahead, params_of(primal, own))
    if inner.changes:
        call(it, function, arguments, kwargs)
    atoms = iter(outs)
    value = unflatten(primal.result, lambda leaf: next(atoms))
    made_in = it.builder

    def run(it: Interpreter, seeds: Args, named: Kwargs) -> Value:
        _must_be_inside(it, made_in, "pullback")
        bars = inlined(it.builder, back, [residuals, *_tangent_atoms(it, value, seeds[0])])
        return tuple_of(*_assemble(arguments, chosen, list(bars)))

    return tuple_of(value, Native("pullback", run))


def _must_be_inside(it: Interpreter, block: Builder, what: str) -> None:
    """Refuse to call a function where what it needs is not defined on every path."""
    builder: Builder | None = it.builder
    while builder is not None:
        if builder is block:
            return
        builder = builder.parent
    raise it.unsupported(
        f"a {what} that was made in a branch or a loop is called outside of it",
        "Call it where it is made, or choose between the functions that are differentiated.",
    )


def pushforward(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`wg.pushforward(f, *args)` inside a program."""
    function, *arguments = args
    _must_be_counted(it, arguments)
    inner = read_inner(it, function, arguments, kwargs)
    primal, count = inner.function, len(inner.function.body.outs)
    several = not inner.changes and _may_go_several_ways(arguments)
    linear = _linearized(it, primal) if several else None
    if linear is not None:
        return _linear_pushforward(it, primal, linear, arguments)
    point = own_arguments(it, inner, arguments)
    if inner.outside:
        primal = read_inner(it, function, arguments, kwargs, state_of(it, inner)).function
    value = call(it, function, arguments, kwargs)
    made_in = it.builder

    def run(it: Interpreter, tangents: Args, named: Kwargs) -> Value:
        _must_be_inside(it, made_in, "pushforward")
        pairs = list(zip(arguments, tangents, strict=True))
        moving = [k for k, (_, tangent) in enumerate(pairs) if kind_of_value(tangent) != NONE]
        dots = [dot for k in moving for dot in _tangent_atoms(it, *pairs[k])]
        made = _pushed(it, primal, moving)
        own = own_arguments(it, inner, point)
        outs = inlined(it.builder, made, [*params_of(primal, own), *dots])
        return _tangent_of_result(primal, outs[count:])

    return tuple_of(value, Native("pushforward", run))


def _may_go_several_ways(arguments: Args) -> bool:
    """Whether a pushforward may be asked for many directions: not that of one number."""
    return len(arguments) == 1 and not isinstance(kind_of_value(arguments[0]), Number)


def _pushed(
    it: Interpreter, primal: Function, moving: Sequence[int], *, guarded: bool = False
) -> Function:
    from ..passes.forward import push as forward

    indices, read = _indices(primal, moving), source.RowReader()
    return refused_when_run(
        primal,
        lambda primal: forward.pushforward(primal, indices, read=read, guarded=guarded),
        defers=it.reading.defers,
    )


def _linearized(it: Interpreter, primal: Function) -> Linearized | None:
    """A function of one argument and its pushforward, parted into what all directions share and the rest."""
    from ..passes.forward.linearize import linearized

    pushed = _pushed(it, primal, [0], guarded=True)
    return linearized(pushed, len(primal.body.outs), len(_indices(primal, [0])))


def _linear_pushforward(
    it: Interpreter, primal: Function, linear: Linearized, arguments: Args
) -> Value:
    """The pushforward of a function of one argument: partials are computed once for all directions."""
    known = inlined(it.builder, linear.ahead, params_of(primal, arguments))
    count = len(primal.body.outs)
    made_in = it.builder

    def run(it: Interpreter, tangents: Args, named: Kwargs) -> Value:
        _must_be_inside(it, made_in, "pushforward")
        dots = _tangent_atoms(it, arguments[0], tangents[0])
        return _tangent_of_result(
            primal, inlined(it.builder, linear.along, [*known[count:], *dots])
        )

    atoms = iter(known[:count])
    value = unflatten(primal.result, lambda leaf: next(atoms))
    return tuple_of(value, Native("pushforward", run))


def _tangent_of_result(primal: Function, dots: Sequence[Atom]) -> Value:
    remaining = iter(dots)

    def take(leaf: Kind) -> Atom:
        return next(remaining) if is_differentiable(leaf) else Const(None)

    return unflatten(primal.result, take)


def _tangent_atoms(it: Interpreter, value: Value, tangent: Value) -> list[Atom]:
    """The leaves of a tangent or cotangent of a value; None stands for zero."""
    zero = kind_of_value(tangent) == NONE
    if isinstance(value, Items) and not zero:
        pairs = zip(value.keys, value.values, strict=True)
        return [
            atom
            for k, (key, item) in enumerate(pairs)
            for atom in _tangent_atoms(it, item, _item_of_tangent(it, tangent, k, key))
        ]
    if isinstance(value, Items):
        return [atom for item in value.values for atom in _tangent_atoms(it, item, tangent)]
    if not is_differentiable(kind_of_value(value)):
        return []
    return [it.emit(st.zeros, it.atom(value)) if zero else it.atom(tangent)]


def _item_of_tangent(it: Interpreter, tangent: Value, k: int, key: Any) -> Value:
    match tangent:
        case Items(form="dict" | "object" | "dataclass" | "function" | "derivative"):
            return tangent[key] if key in tangent.keys else Const(None)
        case Items():
            return tangent.values[k]
        case _:
            return it.emit(st.getitem, it.atom(tangent), Const(key if isinstance(key, str) else k))


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
    _must_be_counted(it, args[-1:])
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
    classes = {k: _class_of_contents(it, args[k]) for k in chosen}
    plain = [_contents(it, arg) if classes.get(k) else arg for k, arg in enumerate(args)]

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


def _class_of_contents(it: Interpreter, value: Value) -> type | None:
    """The class of an object whose items alone matter to a matrix of derivatives; None of what is no such object."""
    items = heap.now(it, value)
    if not isinstance(items, Items) or CONTENTS not in items.keys:
        return None
    if len(items.keys) == 1 and reads_plainly(items.type):
        return items.type
    raise _no_matrix(it, items.type)


def _no_matrix(it: Interpreter, cls: type) -> BadArgument:
    return BadArgument(
        f"a matrix of derivatives has no form for an object of class {cls.__name__} here: it has attributes beside "
        "its items, says how these are read, is inside of another container or the result",
        "Differentiate a function of plain containers, and to plain containers, or use `wg.pullback`.",
        it.builder.span,
    )


def _contents(it: Interpreter, value: Value) -> Value:
    items = heap.now(it, value)
    assert isinstance(items, Items)
    return heap.now(it, items[CONTENTS])


def is_number(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Whether a value is known to be one number."""
    return Const(isinstance(kind_of_value(args[0]), Number))


def has_parts(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Whether a value is known to be a container, and no row or table of numbers."""
    kind = kind_of_value(args[0])
    if isinstance(kind, Struct) and CONTENTS in kind.keys:
        raise _no_matrix(it, kind.type)
    return Const(_has_parts(kind))


def _has_parts(kind: Kind) -> bool:
    match kind:
        case Struct(form="list" | "tuple", items=items):
            lengths = {len(i.items) if isinstance(i, Struct) else None for i in items}
            return len(lengths) > 1 or any(isinstance(i, Array) or _has_parts(i) for i in items)
        case Struct(form="dict" | "namedtuple" | "dataclass"):
            return True
        case _:
            return False


def may_vary(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Whether a part of an argument may be one to differentiate with respect to."""
    kind = kind_of_value(args[0])
    return Const(_has_parts(kind) or isinstance(kind, (Number, Array, Seq, Struct, Unknown)))


def as_array(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A list or tuple of numbers as an array; what is of unknown kind may be one."""
    (y,) = args
    if _has_parts(kind_of_value(y)):
        return y
    match kind_of_value(y):
        case Seq() | Struct(form="list" | "tuple"):
            return call(it, Const(np.array), args, {})
        case Unknown():
            return call(it, Const(np.asarray), args, {})
        case _:
            return y


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
