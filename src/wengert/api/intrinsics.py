"""wengert's own functions inside programs that are differentiated: how a call of each is read."""

from __future__ import annotations

import ast
import functools
import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .. import numbers
from ..backends.graph.compiled import TermFunction
from ..compile.wanted import Verb
from ..errors import BadArgument
from ..frontend.calls.calls import call
from ..frontend.domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    Value,
    as_known,
    kind_of_value,
    list_of,
    tuple_of,
    unflatten,
)
from ..frontend.machine.interpreter import Interpreter
from ..intrinsics import (
    nested,
    nested_maps,
    nested_matrices,
    roots,
    roots_intrinsics,
    steering,
    steering_intrinsics,
)
from ..ir.graph import Const
from ..ops.dispatch.substitution import with_ops
from ..passes.blocks.copies import inlined
from . import argnums, batches, gradients, jacobians, linear_maps, many_parts, matrices, trees
from .derivative import Derivative
from .inside import batches as batches_inside, trees as trees_inside


def _install() -> None:
    """Make the front end read calls of wengert's functions as what they mean."""
    for make in (
        gradients.grad,
        gradients.value_and_grad,
        gradients.derivative,
        gradients.hvp,
        jacobians.jacobian,
        jacobians.hessian,
        jacobians.diag_hessian,
    ):
        nested.special(make, _maker(make))
    nested.special(roots.implicit, roots_intrinsics.read_implicit)
    nested.special(roots.Implicit.__call__, roots_intrinsics.read_call)
    nested.special(roots.solved, roots_intrinsics.read_solved)
    nested.special(roots.watch, roots_intrinsics.read_watch)
    nested.special(roots.parameter_count, roots_intrinsics.read_parameter_count)
    nested.special(roots.root_of, roots_intrinsics.read_root_of)
    for written in matrices.WRITTEN:
        nested.special(written, nested.read_anew(written))
    for function, op in matrices.OPS.items():
        nested.special(function, _as(op))
    nested.special(matrices.is_number, nested_matrices.is_number)
    nested.special(matrices.has_parts, nested_matrices.has_parts)
    nested.special(matrices.may_vary, nested_matrices.may_vary)
    nested.special(matrices.as_array, nested_matrices.as_array)
    nested.special(gradients.gradient, _gradient)
    nested.special(numbers.derivative, _maker_called(Verb("derivative", (0,), True)))
    nested.special(numbers.gradient, _maker_called(Verb("grad", (0,), True)))
    nested.special(numbers.pushforward, _pushforward)
    nested.special(numbers.taylor, _taylor)
    for instead, functions in _BY_NUMBERS.items():
        for function in functions:
            nested.special(function, _refused(instead))
    nested.special(TermFunction.__call__, _call_of_terms)
    nested.special(linear_maps.pullback, nested_maps.pullback)
    nested.special(linear_maps.guarded_pullback, nested_maps.guarded_pullback)
    nested.special(linear_maps.pushforward, nested_maps.pushforward)
    nested.special(steering.stop_gradient, steering_intrinsics.stop_gradient)
    nested.special(steering.checkpoint, steering_intrinsics.checkpoint)
    nested.special(steering.call_again, steering_intrinsics.checkpoint)
    nested.special(with_ops, lambda it, args, kwargs: args[0])
    nested.special(steering.hook, steering_intrinsics.hook)
    nested.special(steering.show_grad, steering_intrinsics.show_grad)
    nested.special(steering.is_differentiating, lambda it, args, kwargs: Const(True))
    _install_trees()


def _install_trees() -> None:
    """The same for what goes over trees, batches and parts."""
    nested.special(batches.vmap, batches_inside.read_vmap)
    nested.special(batches.Batched.__call__, batches_inside.read_batched)
    nested.special(batches.rows, nested.read_anew(batches.rows))
    nested.special(many_parts.over_parts, _over_parts)
    nested.special(many_parts.OverParts.__call__, _sum_over_parts)
    nested.special(many_parts.OfPart.__call__, _derivative_of_part)
    nested.special(many_parts.pulled, lambda it, args, kwargs: Const(it.constant(args[0]).pulled))
    nested.special(many_parts.pushed, lambda it, args, kwargs: Const(it.constant(args[0]).pushed))
    nested.special(trees.flatten, trees_inside.read_flatten)
    nested.special(trees.Unflatten.__call__, trees_inside.read_unflatten)
    nested.special(trees.tree_map, trees_inside.read_tree_map)


def _over_parts(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`wg.over_parts(f, …)` inside a program: all that it is told must be known."""
    try:
        known = [it.constant(value) for value in args]
        named = {name: it.constant(value) for name, value in kwargs.items()}
    except LookupError:
        raise it.unsupported(*many_parts.MADE_INSIDE) from None
    return Const(many_parts.over_parts(*known, **named))


def _sum_over_parts(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    total, *given = args
    return call(it, Const(many_parts.summed), [total, tuple_of(*given)], kwargs)


def _derivative_of_part(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The derivative of one part's share, differentiated once more."""
    made: many_parts.OfPart = it.constant(args[0])
    *given, part = args[1:]
    function = as_known(made.function)
    if made.verb.name != "derivative":
        verb = many_parts.in_parameters(made.verb, len(given))
        return nested.derivative(it, verb, function, many_parts.in_order(verb, given, part), kwargs)
    of_one = Native("f", lambda it, point, _: call(it, function, [*point, part], {}))
    return nested.derivative(it, made.verb, of_one, given, kwargs)


def _as(op: Any) -> nested.Handler:
    """How to read a function that is an op wherever nothing carries derivatives."""
    return lambda it, args, kwargs: call(it, Const(op), args, kwargs)


def _call_of_terms(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A call of what `Term.to_function` has made: its equations, for the kinds of these arguments."""
    function: TermFunction = it.constant(args[0])
    values = function.bound(args[1:], kwargs)
    kinds = {name: kind_of_value(value) for name, value in values.items()}
    made = function.at_kinds(kinds)
    outs = iter(inlined(it.builder, made, [it.atom(values[name]) for name in function.names]))
    return unflatten(made.result, lambda leaf: next(outs))


def _maker(make: Callable[..., Any]) -> nested.Handler:
    """`wg.grad(f, …)`: a derivative function, known but not yet called."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        function, *rest = args
        known = [_constant(it, value) for value in rest]
        named = {name: _constant(it, value) for name, value in kwargs.items()}
        of = _nothing
        if any(map(_is_name, (*known, *named.values()))):
            of = _standing_for(it, function)
        try:
            derivative = make(of, *known, **named)
        except BadArgument as error:
            raise error.at(it.builder.span) from None
        if not isinstance(derivative, Derivative):
            raise BadArgument(
                "`sparsity` gives a matrix of SciPy, and the program that takes this Jacobian is differentiated "
                "itself",
                "Leave `sparsity` away here: the Jacobian is then an array.",
                it.builder.span,
            )
        verb = derivative.verb
        # a partial: where the derivative is passed on, what its function captured is taken along
        return Native(verb.name, functools.partial(_call_of(verb), function))

    return handler


@functools.cache
def _call_of(verb: Verb) -> Callable[[Value, Interpreter, Args, Kwargs], Value]:
    """How a derivative is called; the same function for the same verb."""

    def run(function: Value, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        if verb.by_name:
            *args, vector = (*args, None) if verb.name != "hvp" else args
            parameters = _parameters_of(it, function)
            placed, kwargs = argnums.placed(parameters, verb.argnums or (), args, kwargs)
            args = placed if vector is None else (*placed, vector)
        return nested.derivative(it, verb, function, args, kwargs)

    return run


def _nothing() -> None:
    """Stands for the function while only the options are wanted."""


def _is_name(option: Any) -> bool:
    several = isinstance(option, (list, tuple))
    return any(map(_is_name, option)) if several else isinstance(option, str)


def _standing_for(it: Interpreter, function: Value) -> Any:
    """Stands for a function of which the names of its arguments are wanted."""

    def stand_in() -> None: ...

    stand_in.__name__ = nested.name_of(function)
    parameters = _parameters_of(it, function)
    stand_in.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return stand_in


def _parameters_of(it: Interpreter, function: Value) -> list[inspect.Parameter]:
    """The parameters of a function of the program, with their defaults as values."""
    match function:
        case Closure(node=node, defaults=defaults):
            return _written_parameters(node.args, defaults)
        case Items(form="function", type=template) if hasattr(template, "function"):
            known = argnums.parameters_of(template.function)
        case _:
            try:
                known = argnums.parameters_of(it.constant(function))
            except LookupError:
                return []
    return [p if p.default is p.empty else p.replace(default=as_known(p.default)) for p in known]


def _written_parameters(
    written: ast.arguments, defaults: Sequence[Value]
) -> list[inspect.Parameter]:
    positional = [*written.posonlyargs, *written.args]
    kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    first = len(positional) - len(defaults)
    return [
        inspect.Parameter(
            each.arg,
            kinds[k >= len(written.posonlyargs)],
            default=defaults[k - first] if k >= first else inspect.Parameter.empty,
        )
        for k, each in enumerate(positional)
    ] + [inspect.Parameter(each.arg, inspect.Parameter.KEYWORD_ONLY) for each in written.kwonlyargs]


def _constant(it: Interpreter, value: Value) -> Any:
    try:
        return it.constant(value)
    except LookupError:
        raise BadArgument(
            "the options of a derivative must be known when the program is read",
            "Write the number itself: `argnums=0`.",
            it.builder.span,
        ) from None


# --- verbs by numbers ---------------------------------------------------------------------------


_BY_NUMBERS = {
    "Take `wg.jacobian`.": (numbers.jacobian,),
    "Take `wg.taylor(f, x, order)`, or `wg.derivative(f, order=k)(x)`.": (numbers.derivatives,),
    "Nest `wg.derivative`, once for each order.": (numbers.partials,),
    "Take `wg.pushforward`: `y, push = wg.pushforward(f, x)`, then `push(x_dot)`.": (
        numbers.Dual.__init__,
        numbers.Taylor.__init__,
    ),
}
"""Functions that compute by numbers, and what a program that is itself differentiated writes instead."""


def _refused(instead: str) -> nested.Handler:
    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        raise it.unsupported(
            "a derivative by numbers, inside a program that is differentiated by its source",
            instead,
        )

    return handler


def _maker_called(verb: Verb) -> nested.Handler:
    """`numbers.derivative(f, x)`: what a derivative function gives, called where it is made."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        return nested.derivative(it, verb, args[0], [args[1]], {})

    return handler


def _pushforward(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`numbers.pushforward(f, primals, tangents)`."""
    function, primals, tangents = args
    if not (isinstance(primals, Items) and isinstance(tangents, Items)):
        raise it.unsupported(
            "primals and tangents whose number only the run knows", "Take `wg.pushforward`."
        )
    pair = nested_maps.pushforward(it, [function, *primals.values], {})
    assert isinstance(pair, Items)
    return tuple_of(pair.values[0], call(it, pair.values[1], list(tangents.values), {}))


def _taylor(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`wg.taylor(f, x, order)`: a derivative for each order, which share what they have in common."""
    function, x, *rest = args
    order = _constant(it, rest[0] if rest else kwargs["order"])
    numbers.must_be_order(order, f"a Taylor polynomial of degree {order!r}")
    found = [call(it, function, [x], {})]
    for k in range(1, order + 1):
        verb = Verb("derivative", (0,), True, order=k)
        each = nested.derivative(it, verb, function, [x], {})
        found.append(call(it, Const(operator.truediv), [each, Const(math.factorial(k))], {}))
    return list_of(*found)


def _gradient(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, *point = args
    return nested.derivative(it, Verb("grad"), function, point, kwargs)


_install()
