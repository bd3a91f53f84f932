"""Elementary functions of vectors: by way of a small interval, where a polynomial is near to the function.

Formulas are written once, for floats of 64 and of 32 bits. They need a product and a sum that are rounded together, as
the processors have that they are for. Reductions are Cody and Waite's (Software Manual for the Elementary
Functions, 1980): a multiple of a constant is taken off in parts, the first of which leaves no error. Where only some
arguments need more (the subnormal ones, those that overflow), a formula is for ordinary ones, and says which these are.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ...ir.records import record
from . import vector_coefficients as coefficients
from .vector_words import Floats, Integers, Shape, Truths


@record
class Formula:
    """How a function is computed.

    Attributes:
        ordinary: for the arguments that most programs have.
        is_ordinary: which these are; None if all are.
        rest: for all arguments; None if the C library's function for one number computes those that are not ordinary.
        arity: how many arguments there are.
    """

    ordinary: Callable[..., Floats]
    is_ordinary: Callable[..., Truths] | None = None
    rest: Callable[..., Floats] | None = None
    arity: int = 1


def _rounding(shape: Shape) -> float:
    """What added to a float rounds it to an integer, which its last bits then are."""
    return 1.5 * 2.0**shape.digits


# --- exp --------------------------------------------------------------------------------------


def _over_log_2(x: Floats) -> tuple[Floats, Floats, Floats]:
    """`x = k log(2) + r`: k as the last bits of a float, k, and r."""
    rounding = _rounding(x.shape)
    high, low = coefficients.LOG_OF_2[x.shape.code]
    shifted = x.times_plus(1 / math.log(2), rounding)
    k = shifted - rounding
    return shifted, k, k.times_plus(-low, k.times_plus(-high, x))


def _exp_of_reduced(r: Floats) -> Floats:
    tail = r.polynomial(coefficients.EXP[r.shape.code])
    return (r * r).times_plus(tail, r) + 1.0


def _exp(x: Floats) -> Floats:
    shifted, _, r = _over_log_2(x)
    return (_exp_of_reduced(r).bits() + (shifted.bits() << x.shape.digits)).floats()


def _exp_of_all(x: Floats) -> Floats:
    """Scaled in two steps, since a power of two that is subnormal has not the exponent that a sum gives."""
    s = x.shape
    least = (s.least_exponent - s.digits - 2) * math.log(2)
    shifted, _, r = _over_log_2(x.between(least, (s.bias + 2) * math.log(2)))
    half = shifted.bits() >> 1
    other = shifted.bits() - half
    return _exp_of_reduced(r) * _power_of_2(half) * _power_of_2(other)


def _power_of_2(exponent: Integers) -> Floats:
    """Of an integer that stands in the last bits."""
    s = exponent.shape
    return ((exponent + s.bias) << s.digits).floats()


def _is_ordinary_exp(x: Floats) -> Truths:
    return abs(x) < math.floor(-x.shape.least_exponent * math.log(2))


# --- log --------------------------------------------------------------------------------------


def _log(x: Floats) -> Floats:
    return _log_of_scaled(x, 0)


def _log_of_scaled(x: Floats, exponent: Floats | int) -> Floats:
    """The logarithm of `x / 2 ** exponent`."""
    s = x.shape
    high, low = coefficients.LOG_OF_2[s.code]
    k, f = _mantissa_less_one(x)
    if isinstance(exponent, Floats):
        k = k - exponent
    ratio = f / (f + 2.0)
    z = ratio * ratio
    half_square = f * f * 0.5
    tail = z * z.polynomial(coefficients.LOG[s.code])
    inner = ratio.times_plus(half_square + tail, k * low)
    return k.times_plus(high, f - (half_square - inner))


def _mantissa_less_one(x: Floats) -> tuple[Floats, Floats]:
    """`x = 2 ** k (1 + f)`, 1 + f from √½ to √2; k and f."""
    s = x.shape
    root = _bits_of(math.sqrt(0.5), s)
    moved = x.bits() + (_bits_of(1.0, s) - root)
    integers = 2.0**s.digits
    exponent = (moved >> s.digits) | _bits_of(integers, s)
    mantissa = (moved & (2**s.digits - 1)) + root
    return exponent.floats() - (integers + s.bias), mantissa.floats() - 1.0


def _log_of_all(x: Floats) -> Floats:
    s = x.shape
    is_subnormal = x < 2.0**s.least_exponent
    scaled = is_subnormal.where(x * 2.0 ** (s.digits + 2), x)
    found = _log_of_scaled(scaled, is_subnormal.where(s.digits + 2.0, 0.0))
    found = x.equals(math.inf).where(x, found)
    found = x.equals(0.0).where(-math.inf, found)
    return (x < 0.0).where(math.nan, x.is_nan().where(x, found))


def _is_ordinary_log(x: Floats) -> Truths:
    """From the least number that is not subnormal up to infinity."""
    s = x.shape
    least, infinite = _bits_of(2.0**s.least_exponent, s), _bits_of(math.inf, s)
    return (x.bits() - least).below(infinite - least)


def _bits_of(value: float, shape: Shape) -> int:
    """The bits of a float that is positive, as an integer."""
    if math.isinf(value):
        return (2 * shape.bias + 1) << shape.digits
    mantissa, exponent = math.frexp(shape.rounded(value))
    fraction = int((2 * mantissa - 1) * 2**shape.digits)
    return ((exponent - 1 + shape.bias) << shape.digits) + fraction


FORMULAS: dict[str, Formula] = {
    "exp": Formula(_exp, _is_ordinary_exp, _exp_of_all),
    "log": Formula(_log, _is_ordinary_log, _log_of_all),
}
