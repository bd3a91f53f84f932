"""wengert's own functions inside programs that are differentiated: how a call of each is read."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from .. import numbers
from ..backends.graph.compiled import TermFunction
from ..compile.verbs import Verb
from ..errors import BadArgument
from ..frontend.calls.calls import call
from ..frontend.domain.values import (
    Args,
    Items,
    Kwargs,
    Native,
    Value,
    kind_of_value,
    list_of,
    tuple_of,
    unflatten,
)
from ..frontend.machine.interpreter import Interpreter
from ..intrinsics import nested, roots, steering, steering_intrinsics
from ..ir.graph import Const
from ..ops.dispatch.substitution import with_ops
from ..passes.blocks.copies import inlined
from . import gradients, jacobians, linear_maps


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
    nested.special(roots.implicit, roots.read_implicit)
    nested.special(roots.Implicit.__call__, roots.read_call)
    nested.special(roots.solved, roots.read_solved)
    nested.special(roots.watch, roots.read_watch)
    nested.special(roots.parameter_count, roots.read_parameter_count)
    nested.special(roots.root_of, roots.read_root_of)
    for written in jacobians.WRITTEN:
        nested.special(written, nested.read_anew(written))
    for function, op in jacobians.OPS.items():
        nested.special(function, _as(op))
    nested.special(jacobians.is_number, nested.is_number)
    nested.special(jacobians.has_parts, nested.has_parts)
    nested.special(jacobians.may_vary, nested.may_vary)
    nested.special(jacobians.as_array, nested.as_array)
    nested.special(gradients.gradient, _gradient)
    nested.special(numbers.derivative, _maker_called(Verb("derivative", (0,), True)))
    nested.special(numbers.gradient, _maker_called(Verb("grad", (0,), True)))
    nested.special(numbers.pushforward, _pushforward)
    nested.special(numbers.taylor, _taylor)
    for instead, functions in _BY_NUMBERS.items():
        for function in functions:
            nested.special(function, _refused(instead))
    nested.special(TermFunction.__call__, _call_of_terms)
    nested.special(linear_maps.pullback, nested.pullback)
    nested.special(linear_maps.guarded_pullback, nested.guarded_pullback)
    nested.special(linear_maps.pushforward, nested.pushforward)
    nested.special(steering.stop_gradient, steering_intrinsics.stop_gradient)
    nested.special(steering.checkpoint, steering_intrinsics.checkpoint)
    nested.special(steering.call_again, steering_intrinsics.checkpoint)
    nested.special(with_ops, lambda it, args, kwargs: args[0])
    nested.special(steering.hook, steering_intrinsics.hook)
    nested.special(steering.show_grad, steering_intrinsics.show_grad)
    nested.special(steering.is_differentiating, lambda it, args, kwargs: Const(True))


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
        derivative = make(_nothing, *known, **named)
        if not isinstance(derivative, gradients.Derivative):
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
        return nested.derivative(it, verb, function, args, kwargs)

    return run


def _nothing() -> None:
    """Stands for the function while only the options are wanted."""


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
    pair = nested.pushforward(it, [function, *primals.values], {})
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
