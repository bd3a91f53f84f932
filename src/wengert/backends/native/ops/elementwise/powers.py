"""Derivatives of powers."""

from __future__ import annotations

from .....ir.graph import Eqn
from ...form.loopform import Apply, Constant
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of
from ...lower.structure import over_arrays
from ...values import numbers
from ...values.emitter import Emitter
from ...values.promotion import converted
from ...values.values import Array, Scalar, Unlowered, Value, number


@lowers("pow_derivative")
def _pow_derivative(site: BlockLowering, eqn: Eqn) -> Value:
    """`y (y - 1) … x ** (y - order)`, and 0 wherever its factor is 0, whatever x is."""
    order = eqn.param("order")
    x, y = (_number_if_one(site, site.any_operand(atom)) for atom in eqn.args)
    of_numbers = isinstance(x, Scalar) and isinstance(y, Scalar)
    if of_numbers and "i64" in (x.code, y.code) and x.code != "f64" and y.code != "f64":
        raise Unlowered("a derivative of a power of integers")
    factor: Scalar | Array = number(1.0)
    for k in range(order):
        factor = _applied(site, "mul", factor, _applied(site, "sub", y, number(k)))
    power = _applied(site, "ieee_pow", x, _applied(site, "sub", y, number(order)))
    if isinstance(factor, Scalar) and isinstance(power, Scalar):
        return _unless_zero(site.e, factor, numbers.compute(site.e, "mul", "py", [factor, power]))
    is_zero = _applied(site, "eq", factor, number(0))
    return over_arrays(site, "where", [is_zero, number(0), _applied(site, "mul", factor, power)])


def _number_if_one(site: BlockLowering, x: Scalar | Array) -> Scalar | Array:
    """An array without axes as the number that it holds."""
    return x if dims_of(x) else site.as_scalar(x)


def _applied(
    site: BlockLowering, name: str, a: Scalar | Array, b: Scalar | Array
) -> Scalar | Array:
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        return numbers.compute(site.e, name, "py", [a, b])
    found = over_arrays(site, name, [a, b])
    site.atom(found)  # it is needed, whatever is computed before what follows
    return found


def _unless_zero(e: Emitter, factor: Scalar, product: Scalar) -> Value:
    zero = Constant(0.0, factor.code)
    is_zero = e.let(Apply("eq", (factor.expr, zero), "b1"))
    expr = e.apply(
        "select", is_zero, converted(e, zero, product.code), product.expr, code=product.code
    )
    return Scalar(expr, numbers.chosen_origin(e, is_zero, number(0.0).origin, product.origin))
