"""Elementwise ops as operations on numbers: the same row serves scalars and the elements of arrays.

A row says to which type operands are converted and how the result is computed from them. What Python's
own numbers do beside (raise at a division by zero, grow beyond 64 bits) is in `numbers`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..form.loopform import FLOATS, Code, Constant, Expr
from .emitter import Emitter
from .rows import ROWS, Elementwise, Rule, choose, real, row
from .values import Unlowered


def _primitive(rule: Rule, **ops: str) -> None:
    """Ops that the loop form has itself, by another name where one is given."""
    for name, primitive in ops.items():

        def expand(e: Emitter, args: Sequence[Expr], code: Code, op: str = primitive) -> Expr:
            return e.apply(op, *args, code="b1" if rule == "comparison" else code)

        ROWS[name] = Elementwise(rule, expand)


_primitive("arithmetic", add="add", sub="sub", mul="mul", neg="neg", accumulate="add")
_primitive("inexact", div="div", ieee_div="div")
_primitive("comparison", lt="lt", le="le", gt="gt", ge="ge", eq="eq", ne="ne")
_primitive(
    "inexact",
    **{
        name: name
        for name in [
            "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "asin",
            "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "atan2", "copysign",
            "fabs", "gamma", "lgamma",
        ]
    },
)  # fmt: skip
_primitive("floating", fmod="fmod")
_primitive("inexact", rint="rint", nextafter="nextafter")


@row("arithmetic", "or_one")
def _or_one(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("max", *args)


# --- arithmetic -------------------------------------------------------------------------------


@row("arithmetic", "pos")
def _same(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return args[0]


@row("selection", "copy", "conj", "real", "stop_gradient", "snapshot", "duplicate")
def _copied(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return args[0]


@row("arithmetic", "square")
def _square(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("mul", args[0], args[0])


@row("arithmetic", "abs")
def _abs(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("fabs" if code in FLOATS else "abs", args[0])


@row("floating", "reciprocal")
def _reciprocal(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("div", real(1.0, code), args[0])


@row("arithmetic", "mod")
def remainder(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    """With the sign of the divisor."""
    x, y = args
    if code == "i64":
        plain = e.apply("rem", x, y)
        wrong = e.apply("lt", e.apply("xor", plain, y), Constant(0, "i64"), code="b1")
        wrong = e.apply("and", wrong, e.apply("ne", plain, Constant(0, "i64"), code="b1"))
        return choose(e, wrong, e.apply("add", plain, y), plain)
    plain = e.apply("fmod", x, y)
    zero = real(0.0, code)
    differs = e.apply(
        "ne", e.apply("lt", y, zero, code="b1"), e.apply("lt", plain, zero, code="b1")
    )
    moved = choose(e, differs, e.apply("add", plain, y), plain)
    return choose(e, e.apply("eq", plain, zero, code="b1"), e.apply("copysign", zero, y), moved)


@row("arithmetic", "floordiv")
def _floordiv(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return _floordiv_of_integers(e, *args) if code == "i64" else _floordiv_of_floats(e, *args)


def _floordiv_of_integers(e: Emitter, x: Expr, y: Expr) -> Expr:
    zero = Constant(0, "i64")
    quotient, rest = e.apply("quotient", x, y), e.apply("rem", x, y)
    below = e.apply("lt", e.apply("xor", x, y), zero, code="b1")
    below = e.apply("and", below, e.apply("ne", rest, zero, code="b1"))
    return choose(e, below, e.apply("sub", quotient, Constant(1, "i64")), quotient)


def _floordiv_of_floats(e: Emitter, x: Expr, y: Expr) -> Expr:
    """Step by step as CPython and NumPy have it."""
    code = x.code
    zero, one = real(0.0, code), real(1.0, code)
    rest = e.apply("fmod", x, y)
    plain = e.apply("div", e.apply("sub", x, rest), y)
    differs = e.apply("ne", e.apply("lt", y, zero, code="b1"), e.apply("lt", rest, zero, code="b1"))
    differs = e.apply("and", differs, e.apply("ne", rest, zero, code="b1"))
    quotient = choose(e, differs, e.apply("sub", plain, one), plain)
    floor = e.apply("floor", quotient)
    far = e.apply("gt", e.apply("sub", quotient, floor), real(0.5, code), code="b1")
    nearest = choose(e, far, e.apply("add", floor, one), floor)
    signed_zero = e.apply("copysign", zero, e.apply("div", x, y))
    result = choose(e, e.apply("eq", quotient, zero, code="b1"), signed_zero, nearest)
    return choose(e, e.apply("eq", y, zero, code="b1"), e.apply("div", x, y), result)


MOST_MULTIPLICATIONS = 3


@row("arithmetic", "pow", "ieee_pow")
def power(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    """Small powers that are known are multiplied out."""
    x, y = args
    known = y.value if isinstance(y, Constant) else None
    if known is not None and float(known).is_integer() and 0 < known <= 2**MOST_MULTIPLICATIONS:
        return _multiplied(e, x, int(known))
    if code == "i64":
        raise Unlowered("a power of integers that is computed")
    if known == 0.5:
        return e.apply("sqrt", x)
    if known == -1:
        return e.apply("div", real(1.0, code), x)
    return e.apply("pow", x, y)


@row("arithmetic", "power_of_array")
def _power_of_array(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    """By one exponent: NumPy takes roots, of which that of -0.0 is -0.0, and that of -inf none."""
    x, y = args
    if isinstance(y, Constant) or code == "i64":
        return power(e, args, code)
    is_half = e.apply("eq", y, real(0.5, code), code="b1")
    return choose(e, is_half, e.apply("sqrt", x), e.apply("pow", x, y))


def _multiplied(e: Emitter, x: Expr, n: int) -> Expr:
    if n == 1:
        return x
    half = _multiplied(e, x, n // 2)
    square = e.apply("mul", half, half)
    return e.apply("mul", square, x) if n % 2 else square


# --- choosing -----------------------------------------------------------------------------


@row("selection", "maximum")
def _maximum(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    """NumPy's: NaN if either is."""
    return e.apply("maximum" if code in FLOATS else "max", *args)


@row("selection", "minimum")
def _minimum(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("minimum" if code in FLOATS else "min", *args)


@row("selection", "greater_of")
def _greater_of(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    """Python's `max(a, b)`: the first unless the second is greater."""
    a, b = args
    return choose(e, e.apply("gt", b, a, code="b1"), b, a)


@row("selection", "lesser_of")
def _lesser_of(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    a, b = args
    return choose(e, e.apply("lt", b, a, code="b1"), b, a)


@row("arithmetic", "sign")
def _sign(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    zero, one, less = (Constant(v if code == "i64" else float(v), code) for v in (0, 1, -1))
    is_nan = e.apply("ne", x, x, code="b1")
    below = choose(e, e.apply("lt", x, zero, code="b1"), less, choose(e, is_nan, x, zero))
    return choose(e, e.apply("gt", x, zero, code="b1"), one, below)


@row("inexact", "sign_of_number", "unit")
def _sign_of_number(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    zero = real(0.0, code)
    at_zero = e.apply("mul", zero, x)
    below = choose(e, e.apply("lt", x, zero, code="b1"), real(-1.0, code), at_zero)
    return choose(e, e.apply("gt", x, zero, code="b1"), real(1.0, code), below)


@row("choice", "where")
def _where(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return choose(e, *args)


# --- what derivatives are made of ---------------------------------------------------------


@row("inexact", "safe_div")
def _safe_div(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, y = args
    zero = real(0.0, code)
    is_zero = e.apply("eq", y, zero, code="b1")
    return choose(e, is_zero, zero, e.apply("div", x, choose(e, is_zero, real(1.0, code), y)))


@row("inexact", "direction_cosine")
def _direction_cosine(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, one = args[0], real(1.0, code)
    is_infinite = e.apply("eq", e.apply("fabs", x), real(math.inf, code), code="b1")
    sign = e.apply("copysign", one, x)
    return choose(e, is_infinite, sign, _safe_div(e, args, code))


@row("inexact", "safe_log")
def _safe_log(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    is_zero = e.apply("eq", x, real(0.0, code), code="b1")
    return e.apply("log", choose(e, is_zero, real(1.0, code), x))


@row("inexact", "sech")
def _sech(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    t = e.apply("exp", e.apply("neg", e.apply("fabs", args[0])))
    square = e.apply("add", real(1.0, code), e.apply("mul", t, t))
    return e.apply("div", e.apply("mul", real(2.0, code), t), square)


@row("inexact", "expit")
def _expit(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    t = e.apply("exp", e.apply("neg", e.apply("fabs", x)))
    above = choose(e, e.apply("gt", x, real(0.0, code), code="b1"), real(1.0, code), t)
    return e.apply("div", above, e.apply("add", real(1.0, code), t))


@row("inexact", "hypot")
def _hypot(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    first, *others = args
    found = first if others else e.apply("fabs", first)
    for other in others:
        found = e.apply("hypot", found, other)
    return found


@row("inexact", "hypot1")
def _hypot1(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("hypot", real(1.0, code), args[0])


@row("inexact", "degrees")
def _degrees(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("mul", args[0], real(180.0 / math.pi, code))


@row("inexact", "radians")
def _radians(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("mul", args[0], real(math.pi / 180.0, code))


@row("inexact", "logaddexp")
def _logaddexp(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, y = args
    same = e.apply("eq", x, y, code="b1")  # of two infinities the difference is NaN
    most = e.apply("maximum", x, y)
    gap = e.apply("neg", e.apply("fabs", e.apply("sub", x, y)))
    apart = e.apply("add", most, e.apply("log1p", e.apply("exp", gap)))
    return choose(e, same, e.apply("add", x, real(math.log(2.0), code)), apart)
