"""Rounding: to integers, and to decimals as Python and as NumPy do it, which is not the same."""

from __future__ import annotations

from .....ir.graph import Eqn
from ...form.loopform import FLOATS, Apply, Constant, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.structure import over_arrays
from ...values import numbers, values as nv
from ...values.emitter import Emitter

MOST_DECIMALS = 22
"""10²² is the largest power of ten that is a float."""
WHOLE = 2.0**52
"""From here on, floats are integers."""


@lowers("round", "around")
def _round(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x = site.operand(eqn.args[0])
    decimals = _decimals(site, eqn)
    if not isinstance(x, nv.Scalar):
        if x.code not in FLOATS or eqn.namespace == "py":
            raise nv.Unlowered("rounding of an array of integers, or by Python's own `round`")
        return _in_arrays(site, x, decimals or 0)
    by_python = eqn.op.name == "round" and eqn.namespace == "py"
    if by_python and decimals is None and x.code in FLOATS:
        return numbers.to_integer(site.e, x, "rint")
    if x.code not in FLOATS:
        if by_python and x.code == "i64" and x.origin == nv.PYTHON and (decimals or 0) >= 0:
            return x
        raise nv.Unlowered("rounding of an integer")
    if not by_python or x.origin == nv.NUMPY:
        found = _of_numpy(site.e, x.expr, decimals or 0)
        return nv.Scalar(found, nv.NUMPY)
    return _of_either(site.e, x, decimals or 0)


def _decimals(site: BlockLowering, eqn: Eqn) -> int | None:
    """How many decimals are asked for; None if nothing is said of them."""
    asked = [*eqn.args[1:], *eqn.params.values()]
    if not asked:
        return None
    value = site.value(asked[0])
    if isinstance(value, nv.StaticValue) and value.value is None:
        return None
    known = value.expr if isinstance(value, nv.Scalar) else None
    if len(asked) > 1 or not isinstance(known, Constant) or abs(known.value) > MOST_DECIMALS:
        raise nv.Unlowered("rounding to decimals whose number is computed")
    return int(known.value)


def _in_arrays(site: BlockLowering, x: nv.Value, decimals: int) -> nv.Value:
    if decimals == 0:
        return over_arrays(site, "rint", [x])
    before, after = ("mul", "div") if decimals > 0 else ("div", "mul")
    factor = 10.0 ** abs(decimals)
    return site.apply(after, site.apply("rint", site.apply(before, x, factor)), factor)


def _of_numpy(e: Emitter, x: Expr, decimals: int) -> Expr:
    if decimals == 0:
        return e.apply("rint", x)
    before, after = ("mul", "div") if decimals > 0 else ("div", "mul")
    factor = Constant(10.0 ** abs(decimals), x.code)
    return e.apply(after, e.apply("rint", e.apply(before, x, factor)), factor)


def _of_either(e: Emitter, x: nv.Scalar, decimals: int) -> nv.Scalar:
    """Of a number that is a float of Python's in all runs, or in some."""
    among = numbers.bound(x.origin)
    if x.code != "f64" or nv.AN_INTEGER in among or decimals < 0:
        raise nv.Unlowered("rounding to decimals of a number whose type depends on the run")
    ours = _of_python(e, x.expr, decimals)
    if among == frozenset((nv.PYTHON,)):
        return nv.Scalar(ours, nv.PYTHON)
    assert isinstance(x.origin, nv.DynamicOwner)
    if among != frozenset((nv.PYTHON, nv.NUMPY)):
        raise nv.Unlowered("rounding to decimals of a number whose type depends on the run")
    is_python = e.apply("eq", x.origin.expr, Constant(nv.PYTHON, "i64"), code="b1")
    theirs = _of_numpy(e, x.expr, decimals)
    return nv.Scalar(e.apply("select", is_python, ours, theirs, code="f64"), x.origin)


def _of_python(e: Emitter, x: Expr, decimals: int) -> Expr:
    """The float that is nearest to the decimal that is nearest to `x`, as Python finds it from all of its digits.

    `x · 10ⁿ` is a sum of two floats without an error, of which the second decides where the first lies in the middle
    between two integers; a quotient of two integers that are floats is the float nearest to it.
    """
    scale = Constant(10.0**decimals, "f64")
    is_small = e.apply("lt", e.apply("fabs", x), Constant(WHOLE, "f64"), code="b1")
    x_small = e.apply("select", is_small, x, Constant(0.0, "f64"), code="f64")
    product = e.apply("mul", x_small, scale)
    large = e.apply("ge", e.apply("fabs", product), Constant(WHOLE, "f64"), code="b1")
    e.exit_if(large, "a float with more decimals than are rounded here")
    nearest = e.apply("rint", product)
    above = e.apply("sub", product, nearest)
    error = _error(e, x_small, scale, product)
    nearest = _moved(e, nearest, above, error, 1.0)
    nearest = _moved(e, nearest, above, error, -1.0)
    rounded = e.apply("copysign", e.apply("div", nearest, scale), x)
    return e.apply("select", is_small, rounded, x, code="f64")


def _moved(e: Emitter, nearest: Expr, above: Expr, error: Expr, step: float) -> Expr:
    """The integer, or the next one where the number lies in the middle and a little further."""
    zero = Constant(0.0, "f64")
    in_middle = e.apply("eq", above, Constant(step / 2, "f64"), code="b1")
    beyond = e.apply("gt" if step > 0 else "lt", error, zero, code="b1")
    moved = e.apply("add", nearest, Constant(step, "f64"))
    return e.apply("select", Apply("and", (in_middle, beyond), "b1"), moved, nearest, code="f64")


def _error(e: Emitter, x: Expr, y: Expr, product: Expr) -> Expr:
    """`x · y` less what it is rounded to (Dekker 1971)."""
    (a, b), (c, d) = _halves(e, x), _halves(e, y)
    found = e.apply("sub", e.apply("mul", a, c), product)
    found = e.apply("add", found, e.apply("mul", a, d))
    found = e.apply("add", found, e.apply("mul", b, c))
    return e.apply("add", found, e.apply("mul", b, d))


def _halves(e: Emitter, x: Expr) -> tuple[Expr, Expr]:
    """Two floats of half as many digits, whose sum is `x`."""
    spread = e.apply("mul", x, Constant(2.0**27 + 1, "f64"))
    high = e.apply("sub", spread, e.apply("sub", spread, x))
    return high, e.apply("sub", x, high)
