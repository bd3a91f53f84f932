"""The verbs: from the IR of a function to the functions that make up one of its derivatives."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence

from ..errors import BadArgument
from ..frontend import row_reader
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import Atom, Block, Const, Function, Input, Var, walk
from ..ir.records import replace
from ..ir.renaming import renamed_block
from ..ir.types import (
    COMPLEX,
    FLOAT,
    INT,
    UNKNOWN,
    Array,
    Kind,
    Number,
    Static,
    Struct,
    is_differentiable,
)
from ..ops.arrays.shape import cast_like
from ..ops.cotangent_kinds import tangent_kind
from ..ops.elementwise import number_like, to_complex, to_float
from ..ops.program import checks
from ..passes.analysis import activity
from ..passes.analysis.precision import is_of_64_bits
from ..passes.blocks import tidy
from ..passes.checks.keep_raising import with_primal_evaluated
from ..passes.reverse import sweep as reverse
from ..runtime.containers import CONTENTS, reads_plainly
from ..runtime.gradients import gradient_names
from .wanted import Verb, Wanted, wanted


def assembled(
    function: Function, outs: Sequence[Atom], kind: Kind, inputs: Sequence[Input] | None = None
) -> Function:
    """A function with its results in the shape the user sees."""
    body = Block(function.body.params, function.body.eqns, tuple(outs))
    return replace(function, body=body, result=kind, inputs=tuple(inputs or function.inputs))


def gradient_outs(bars: Sequence[Atom], want: Wanted) -> tuple[list[Atom], list[Kind]]:
    """Leaves and kinds of the gradients, argument by argument."""
    outs: list[Atom] = []
    kinds: list[Kind] = []
    for kind, slots in want.layout:
        outs += [Const(None) if slot is None else bars[slot] for slot in slots]
        kinds.append(_without_statics(kind))
    return outs, kinds


def _without_statics(kind: Kind) -> Kind:
    """The kind of a gradient: what is known without running has none."""
    match kind:
        case Struct(form="object", keys=keys, items=items):
            inner = tuple(map(_without_statics, items))
            if CONTENTS in keys and reads_plainly(kind.type):
                return replace(kind, items=inner)
            return replace(kind, keys=gradient_names(keys), items=inner, type=types.SimpleNamespace)
        case Struct(items=items):
            return replace(kind, items=tuple(map(_without_statics, items)))
        case Static():
            return Static(None)
        case _:
            return kind


def tuple_kind(kinds: Iterable[Kind]) -> Struct:
    items = tuple(kinds)
    return Struct("tuple", tuple(range(len(items))), items)


def _grad(function: Function, verb: Verb) -> tuple[Function, ...]:
    want = wanted(function, verb)
    checks.real_scalar(function, has_aux=verb.has_aux)
    with_value = verb.name == "value_and_grad" or verb.has_aux
    made = reverse.gradient(
        function,
        want.indices,
        read=row_reader.RowReader(),
        value=with_value,
        seed=_seed_of(function, want),
    )
    count = len(function.body.outs) if with_value else 0
    made = _with_floats(made, function, want, count)
    primal, bars = list(made.body.outs[:count]), made.body.outs[count:]
    outs, kinds = gradient_outs(bars, want)
    gradient = kinds[0] if verb.single else tuple_kind(kinds)
    name = f"{'grad' if verb.name == 'grad' else verb.name}_{function.name}"
    made = replace(made, name=name)
    if verb.name == "value_and_grad":
        return (assembled(made, [*primal, *outs], tuple_kind([function.result, gradient])),)
    if verb.has_aux:
        assert isinstance(function.result, Struct)
        aux_kind = function.result.items[1]
        return (assembled(made, [*outs, *primal[1:]], tuple_kind([gradient, aux_kind])),)
    return (assembled(made, outs, gradient),)


def _seed_of(function: Function, want: Wanted) -> Callable[[Builder, Atom], Atom]:
    """How the cotangent of a result is written: as wide as the result, beside what is narrower."""
    kinds = [function.body.params[k].kind for k in want.indices]
    wide = any(kind in (FLOAT, Array("float64", getattr(kind, "rank", None))) for kind in kinds)
    exact = wide and not is_of_64_bits(function)

    def seed(builder: Builder, out: Atom) -> Atom:
        one = checks.seed(builder, out, function.name)
        return builder.emit(number_like, one, out) if exact and isinstance(one, Const) else one

    return seed


def _with_floats(made: Function, function: Function, want: Wanted, count: int) -> Function:
    """The gradients of numbers as Python's floats, where NumPy may have made scalars of its own."""
    in_python = all(eqn.namespace in ("py", "math", "rt") for eqn in walk(made.body))
    if in_python and is_of_64_bits(function):
        return made
    builder = Builder()
    outs = list(made.body.outs)
    for k, index in enumerate(want.indices, start=count):
        number = function.body.params[index].kind in (FLOAT, INT)
        if number and isinstance(outs[k], Var) and kind_of_atom(outs[k]) == FLOAT:
            outs[k] = builder.emit(to_float, outs[k])
    eqns = (*made.body.eqns, *builder.eqns)
    return replace(made, body=Block(made.body.params, eqns, tuple(outs)))


def _pullback(function: Function, verb: Verb) -> tuple[Function, ...]:
    want = wanted(function, verb)
    ahead, back = reverse.split(
        function, want.indices, read=row_reader.RowReader(), final=True, guarded=True
    )
    residuals = kind_of_atom(ahead.body.outs[-1])
    ahead = assembled(ahead, ahead.body.outs, tuple_kind([function.result, _leaf(residuals)]))
    back = _with_floats(back, function, want, 0)
    outs, kinds = gradient_outs(back.body.outs, want)
    return ahead, assembled(back, outs, tuple_kind(kinds))


def _leaf(kind: Kind) -> Kind:
    return UNKNOWN if isinstance(kind, (Struct, Static)) else kind


def _pushforward(function: Function, verb: Verb) -> tuple[Function, ...]:
    from ..passes.forward import push as forward

    want = wanted(function, verb)
    read = row_reader.RowReader()
    made = forward.pushforward(function, want.indices, read=read, guarded=verb.guarded)
    count = len(function.body.outs)
    primal, dots = made.body.outs[:count], iter(made.body.outs[count:])
    tangents = [
        next(dots) if is_differentiable(kind_of_atom(out)) else Const(None)
        for out in function.body.outs
    ]
    kind = tuple_kind([function.result, _without_statics(function.result)])
    return (_as_wide(assembled(made, [*primal, *tangents], kind), function, primal),)


def _as_wide(made: Function, function: Function, primal: Sequence[Atom]) -> Function:
    """The tangents that a function gives last, as wide as the values that they belong to."""
    if is_of_64_bits(function):
        return made
    builder = Builder()
    outs = list(made.body.outs)
    for k, out in enumerate(primal, start=len(outs) - len(primal)):
        kinds = kind_of_atom(out), kind_of_atom(outs[k])
        if all(kind == FLOAT for kind in kinds):
            outs[k] = builder.emit(number_like, outs[k], out)
        elif all(isinstance(kind, Array) for kind in kinds):
            outs[k] = builder.emit(cast_like, outs[k], like=out)
    return replace(
        made, body=Block(made.body.params, (*made.body.eqns, *builder.eqns), tuple(outs))
    )


def _derivative(function: Function, verb: Verb) -> tuple[Function, ...]:
    if sum(1 for i in function.inputs if i.how == "positional") != 1:
        raise BadArgument(
            f"`derivative` is for functions of one number; {function.name} was called with "
            f"{checks.counted(sum(1 for i in function.inputs if i.how == 'positional'), 'argument')}",
            "Use `wg.grad(f, argnums=...)`, or fix the other arguments with `functools.partial`.",
        )
    want = wanted(function, replace(verb, argnums=(0,)))
    kind = want.layout[0][0]
    if isinstance(kind, (Struct, Array)) or len(want.indices) != 1:
        raise BadArgument(
            f"`derivative` is for functions of one number; this argument is {checks.describe(kind)}",
            "Use `wg.grad` for a scalar function of an array, `wg.jacobian` for an array-valued one.",
        )
    made = function
    for _ in range(verb.order):
        made = _tangent_along(made, want.indices[0])
    prefix = "d" if verb.order == 1 else f"d{verb.order}"
    return (replace(made, name=f"{prefix}_{function.name}"),)


def _tangent_along(function: Function, index: int) -> Function:
    """The derivative in one number: the pushforward of the tangent 1."""
    from ..passes.forward import push as forward

    pushed = forward.pushforward(function, [index], read=row_reader.RowReader())
    count = len(function.body.params)
    ahead = pushed.body
    builder, one = Builder(), Const(1.0)
    along = one if is_of_64_bits(function) else builder.emit(number_like, one, ahead.params[index])
    eqns = (*builder.eqns, *ahead.eqns)
    body = renamed_block(
        Block(ahead.params[:count], eqns, ahead.outs), {ahead.params[count]: along}
    )
    outs = body.outs[len(function.body.outs) :]
    made = Function(
        function.name, function.inputs, Block(body.params, body.eqns, outs), function.result
    )
    return tidy.tidy(_with_primal_evaluated(made, function, [index]))


def _with_primal_evaluated(made: Function, function: Function, wrt: Sequence[int]) -> Function:
    """A derivative that raises where the function raises, though it does not need the function's value."""
    primal = function.body
    outs = [out for out in primal.outs if isinstance(out, Var)]
    moving = activity.active(primal, [primal.params[k] for k in wrt], outs)
    differentiated = (eqn for eqn in walk(primal) if not moving.isdisjoint(eqn.outs))
    return with_primal_evaluated(made, primal, differentiated)


def _hvp(function: Function, verb: Verb) -> tuple[Function, ...]:
    """Forward over reverse (Pearlmutter, 1994): no Hessian is formed."""
    from ..passes.forward import push as forward

    want = wanted(function, verb)
    checks.real_scalar(function)
    gradient = reverse.gradient(
        function, want.indices, read=row_reader.RowReader(), seed=_seed_of(function, want)
    )
    pushed = forward.pushforward(gradient, want.indices, read=row_reader.RowReader())
    builder = Builder()
    products = [
        builder.emit(to_complex, dot)
        if primal.kind == COMPLEX and kind_of_atom(dot) != COMPLEX
        else dot
        for dot, primal in zip(
            pushed.body.outs[len(want.indices) :],
            (function.body.params[k] for k in want.indices),
            strict=True,
        )
    ]
    body = Block(pushed.body.params, (*pushed.body.eqns, *builder.eqns), tuple(products))
    pushed = _with_floats(replace(pushed, body=body), function, want, 0)
    kind = want.layout[0][0]
    outs, kinds = gradient_outs(pushed.body.outs, want)
    vector = Input("v", _tangent_input(kind))
    inputs = (*function.inputs, vector)
    made = replace(pushed, name=f"hvp_{function.name}")
    made = assembled(made, outs, kinds[0], inputs)
    return (tidy.tidy(_with_primal_evaluated(made, function, want.indices)),)


def _tangent_input(kind: Kind) -> Kind:
    """The kind of a vector that multiplies a derivative in an argument of this kind."""
    match kind:
        case Struct(form=form, keys=keys, items=items, type=type_):
            return Struct(form, keys, tuple(map(_tangent_input, items)), type_)
        case _:
            return tangent_kind(kind) if is_differentiable(kind) else Static(None)


def _adjoint(function: Function, verb: Verb) -> tuple[Function, ...]:
    """The adjoint as a reader wants to see it: the cotangent of the result is an argument."""
    want = wanted(function, verb)
    outs = [k for k, out in enumerate(function.body.outs) if is_differentiable(kind_of_atom(out))]
    if len(outs) != 1:
        return _pullback(function, verb)
    seed = Var(tangent_kind(kind_of_atom(function.body.outs[outs[0]])), "y_bar")
    made = reverse.gradient(
        function,
        want.indices,
        read=row_reader.RowReader(),
        output=outs[0],
        seed=lambda builder, out: seed,
        maybe_complex=False,
        scalar=isinstance(seed.kind, Number),
    )
    body = Block((*made.body.params, seed), made.body.eqns, made.body.outs)
    made = replace(made, body=body, name=f"adjoint_{function.name}")
    results, kinds = gradient_outs(made.body.outs, want)
    kind = kinds[0] if len(kinds) == 1 else tuple_kind(kinds)
    return (assembled(made, results, kind, (*function.inputs, Input("y_bar", seed.kind))),)


def _itself(function: Function, verb: Verb) -> tuple[Function, ...]:
    return (tidy.tidy(function),)


VERBS: dict[str, Callable[[Function, Verb], tuple[Function, ...]]] = {
    "itself": _itself,
    "grad": _grad,
    "value_and_grad": _grad,
    "pullback": _pullback,
    "pushforward": _pushforward,
    "derivative": _derivative,
    "hvp": _hvp,
    "adjoint": _adjoint,
}
