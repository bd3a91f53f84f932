"""Pullbacks and pushforwards that a program takes."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..frontend import row_reader
from ..frontend.calls.calls import call
from ..frontend.domain.arguments import is_star
from ..frontend.domain.values import (
    Args,
    Items,
    Kwargs,
    Native,
    Value,
    kind_of_value,
    tuple_of,
    unflatten,
)
from ..frontend.machine.interpreter import Interpreter
from ..ir.builder import Builder
from ..ir.graph import Atom, Const, Function
from ..ir.records import replace
from ..ir.types import NONE, Kind, Number, Static, Struct, is_differentiable, leaves
from ..ops import structure as st
from ..passes.blocks.copies import inlined
from ..passes.checks.deferral import refused_when_run
from ..passes.reverse import sweep as reverse
from ..runtime.containers import CONTENTS, reads_plainly
from ..runtime.gradients import gradient_names
from .isolated import kind_inside, own_arguments, params_of, read_inner, state_of

if TYPE_CHECKING:
    from ..passes.forward.linearize import Linearized


def must_be_counted(it: Interpreter, args: Args) -> None:
    """Refuse `*items` of which only the run knows how many there are: each would have a gradient of its own."""
    if any(map(is_star, args)):
        raise it.unsupported(
            "how many arguments a derivative is taken in is known only when the program runs",
            "Write the arguments out, or pass them as one list.",
        )


def leaf_indices(primal: Function, chosen: Sequence[int]) -> list[int]:
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


def assemble(args: Args, chosen: Sequence[int], bars: list[Atom]) -> list[Value]:
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


def guarded_pullback(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A pullback of which zeros in the cotangents are not to meet infinite derivatives."""
    return pullback(it, args, kwargs, guarded=True)


def pullback(it: Interpreter, args: Args, kwargs: Kwargs, *, guarded: bool = False) -> Value:
    """`wg.pullback(f, *args)` inside a program."""
    function, *arguments = args
    must_be_counted(it, arguments)
    inner = read_inner(it, function, arguments, kwargs)
    primal, chosen = inner.function, list(range(len(arguments)))
    indices, read = leaf_indices(primal, chosen), row_reader.RowReader()
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
        return tuple_of(*assemble(arguments, chosen, list(bars)))

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
    must_be_counted(it, arguments)
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

    indices, read = leaf_indices(primal, moving), row_reader.RowReader()
    return refused_when_run(
        primal,
        lambda primal: forward.pushforward(primal, indices, read=read, guarded=guarded),
        defers=it.reading.defers,
    )


def _linearized(it: Interpreter, primal: Function) -> Linearized | None:
    """A function of one argument and its pushforward, parted into what all directions share and the rest."""
    from ..passes.forward.linearize import linearized

    pushed = _pushed(it, primal, [0], guarded=True)
    return linearized(pushed, len(primal.body.outs), len(leaf_indices(primal, [0])))


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
