"""Elementary functions of vectors: by way of a small interval, where a polynomial is near to the function.

Formulas are written once, for floats of 64 and of 32 bits. They need a product and a sum that are rounded together, as
the processors have that they are for. Reductions are Cody and Waite's (Software Manual for the Elementary
Functions, 1980): a multiple of a constant is taken off in parts, the first of which leaves no error. Where only some
arguments need more (the subnormal ones, those that overflow), a formula is for ordinary ones, and says which these are;
its value for others may be anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ....ir.records import record
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


Pair = tuple[Floats, Floats]
"""A number in two parts: the nearest to it, and what is missing (T. J. Dekker, Numerische Mathematik 18, 1971)."""


def _power_of_2(exponent: Integers) -> Floats:
    """Of an integer that stands in the last bits."""
    s = exponent.shape
    return ((exponent + s.bias) << s.digits).floats()


# --- exp --------------------------------------------------------------------------------------


def _over_log_2(x: Floats) -> tuple[Integers, Floats]:
    """`x = k log(2) + r`: k, in the last bits of integers, and r."""
    rounding = _rounding(x.shape)
    high, low = coefficients.LOG_OF_2[x.shape.code]
    shifted = x.times_plus(1 / math.log(2), rounding)
    k = shifted - rounding
    return shifted.bits(), k.times_plus(-low, k.times_plus(-high, x))


def _exp_of_reduced(r: Floats) -> Floats:
    tail = r.polynomial(coefficients.EXP[r.shape.code])
    return (r * r).times_plus(tail, r) + 1.0


def _exp(x: Floats) -> Floats:
    k, r = _over_log_2(x)
    return (_exp_of_reduced(r).bits() + (k << x.shape.digits)).floats()


def _exp_of_all(x: Floats) -> Floats:
    """Scaled in two steps: the first keeps clear of where numbers are subnormal, or infinite."""
    s = x.shape
    least = (s.least_exponent - s.digits - 2) * math.log(2)
    k, r = _over_log_2(x.at_least(least).at_most((s.bias + 2) * math.log(2)))
    half = k >> 1
    return _exp_of_reduced(r) * _power_of_2(half) * _power_of_2(k - half)


def _is_ordinary_exp(x: Floats) -> Truths:
    return abs(x) < _most_exp(x.shape)


def _most_exp(shape: Shape) -> int:
    """Numbers of this size and less have an exponential that is neither subnormal nor infinite."""
    return math.floor(-shape.least_exponent * math.log(2))


# --- exp(x) - 1, tanh -------------------------------------------------------------------------

_LEAST_EXPM1 = -40.0
"""Below, exp(x) - 1 is rounded to -1."""


def _expm1(x: Floats) -> Floats:
    return _expm1_of_moderate(x.at_least(_LEAST_EXPM1)).with_sign_of(x)


def _expm1_of_moderate(x: Floats) -> Floats:
    """Where the exponential can be scaled at once. Gives 0.0 for -0.0."""
    k, r = _over_log_2(x)
    scale = _power_of_2(k)
    tail = r * r * r.polynomial(coefficients.EXPM1[x.shape.code])
    return scale.times_plus(tail, scale.times_plus(r, scale - 1.0))


def _expm1_of_all(x: Floats) -> Floats:
    return (x > -_LEAST_EXPM1).where(_exp_of_all(x), _expm1(x.at_most(-_LEAST_EXPM1)))


def _is_ordinary_expm1(x: Floats) -> Truths:
    return x < _most_exp(x.shape)


def _tanh(x: Floats) -> Floats:
    """`t / (t + 2)`, `t = exp(2 |x|) - 1`."""
    t = _expm1_of_moderate(abs(x).at_most(-_LEAST_EXPM1 / 2) * 2.0)
    below = t + 2.0
    inverse = 1.0 / below
    quotient = t * inverse
    left = (-quotient).times_plus(below, t)  # by the division
    left = (-quotient).times_plus((2.0 - below) + t, left)  # by the sum
    return left.times_plus(inverse, quotient).with_sign_of(x)


# --- log --------------------------------------------------------------------------------------


def _log(x: Floats) -> Floats:
    exponent, f = _mantissa(x)
    return _log_of_mantissa(_floats(exponent), f)


def _mantissa(x: Floats) -> tuple[Integers, Floats]:
    """`x = 2 ** k (1 + f)`, 1 + f from √½ to √2; k with what exponents are kept with, and f."""
    s = x.shape
    root = s.bits_of(math.sqrt(0.5))
    moved = x.bits() + (s.bits_of(1.0) - root)
    mantissa = (moved & (2**s.digits - 1)) + root
    return moved >> s.digits, mantissa.floats() - 1.0


def _floats(exponent: Integers) -> Floats:
    """Exponents, without what they are kept with."""
    s = exponent.shape
    integers = 2.0**s.digits
    return (exponent | s.bits_of(integers)).floats() - (integers + s.bias)


def _log_of_mantissa(k: Floats, f: Floats) -> Floats:
    """The logarithm of `2 ** k (1 + f)`: log(1 + f) = f - s (f - tail), s = f / (2 + f), which loses little of f."""
    high, low = coefficients.LOG_OF_2[f.shape.code]
    ratio = f / (f + 2.0)
    z = ratio * ratio
    tail = z * z.polynomial(coefficients.LOG[f.shape.code])
    return k.times_plus(high, f - ratio.times_plus(f - tail, k * -low))


def _log_of_all(x: Floats) -> Floats:
    s = x.shape
    steps = s.digits + 2.0
    is_subnormal = x < 2.0**s.least_exponent
    exponent, f = _mantissa(is_subnormal.where(x * 2.0**steps, x))
    k = _floats(exponent) - is_subnormal.where(steps, 0.0)
    return _at_the_ends(_log_of_mantissa(k, f), x, 0.0)


def _at_the_ends(found: Floats, x: Floats, least: float) -> Floats:
    """A logarithm that is -∞ at `least`."""
    found = x.equals(math.inf).where(x, found)
    found = x.equals(least).where(-math.inf, found)
    return (x < least).where(math.nan, x.is_nan().where(x, found))


def _is_ordinary_log(x: Floats) -> Truths:
    """From the least number that is not subnormal up to infinity."""
    s = x.shape
    least, infinite = s.bits_of(2.0**s.least_exponent), s.bits_of(math.inf)
    return (x.bits() - least).below(infinite - least)


def _log1p(x: Floats) -> Floats:
    """What is lost where 1 is added goes to f."""
    s = x.shape
    sum_ = x + 1.0
    lost = x - (sum_ - 1.0)  # exact but where it is too little to count
    exponent, f = _mantissa(sum_)
    scaled = lost * ((2 * s.bias - exponent) << s.digits).floats()
    found = _log_of_mantissa(_floats(exponent), f + scaled)
    return found.with_sign_of(x)


def _log1p_of_all(x: Floats) -> Floats:
    return _at_the_ends(_log1p(x), x, -1.0)


def _is_ordinary_log1p(x: Floats) -> Truths:
    return (x > -1.0) & (x < math.inf)


# --- pow --------------------------------------------------------------------------------------


def _pow(x: Floats, y: Floats) -> Floats:
    return _exp_of_parts(*_times_log(x, y))


def _exp_of_parts(high: Floats, low: Floats) -> Floats:
    k, r = _over_log_2(high)
    return (_exp_of_reduced(r + low).bits() + (k << high.shape.digits)).floats()


def _times_log(x: Floats, y: Floats) -> Pair:
    high, low = _log_in_parts(x)
    product = y * high
    return product, y.times_plus(low, y.times_plus(high, -product))


def _log_in_parts(x: Floats) -> Pair:
    """As the logarithm above, with the digits that a power has to have."""
    log_2, log_2_rest = coefficients.LOG_OF_2[x.shape.code]
    exponent, f = _mantissa(x)
    k = _floats(exponent)
    whole = k * log_2
    whole_rest = k.times_plus(log_2_rest, k.times_plus(log_2, -whole))
    part, part_rest = _log_of_one_more(f)
    found = whole + part
    return found, ((whole - found) + part) + (whole_rest + part_rest)


def _log_of_one_more(f: Floats) -> Pair:
    """`s (2 + z (2 / 3 + z p(z)))`, `s = f / (2 + f)`, z = s²"""
    below = f + 2.0
    inverse = 1.0 / below
    s = f * inverse
    s_rest = (-s).times_plus(f - (below - 2.0), (-s).times_plus(below, f)) * inverse
    z = s * s
    z_rest = (s + s).times_plus(s_rest, s.times_plus(s, -z))
    two_thirds, two_thirds_rest = coefficients.TWO_THIRDS[f.shape.code]
    tail = z * z.polynomial(coefficients.LOG_IN_PARTS[f.shape.code])
    third = tail + two_thirds
    third_rest = (two_thirds - third) + tail + two_thirds_rest
    first, first_rest = _product((z, z_rest), (third, third_rest))
    second = first + 2.0
    second_rest = (2.0 - second) + first + first_rest
    return _product((s, s_rest), (second, second_rest))


def _product(a: Pair, b: Pair) -> Pair:
    found = a[0] * b[0]
    rest = a[0].times_plus(b[0], -found)
    return found, a[1].times_plus(b[0], a[0].times_plus(b[1], rest))


def _is_ordinary_pow(x: Floats, y: Floats) -> Truths:
    return _is_ordinary_log(x) & (abs(_times_log(x, y)[0]) < _most_exp(x.shape))


# --- sin, cos, tan ----------------------------------------------------------------------------

_FAR = {"f64": 2.0**28, "f32": 2.0**16}
"""Up to here, three parts of π are enough: what is left is never so small that the fourth would count."""


def _is_ordinary_angle(x: Floats) -> Truths:
    return abs(x) < _FAR[x.shape.code]


def _less_multiple(x: Floats, k: Floats, parts: tuple[float, ...]) -> Floats:
    """`x - k p`, p in three parts that are positive, so that -0.0 stays what it is."""
    for part in parts:  # the first difference is exact
        x = k.times_plus(-part, x)
    return x


def _less_multiple_in_parts(x: Floats, k: Floats, parts: tuple[float, ...]) -> Pair:
    first, second, third = parts
    near = k.times_plus(-first, x)
    product = k * second
    product_rest = k.times_plus(second, -product)
    found = near - product
    rest = k.times_plus(-third, ((near - found) - product) - product_rest)
    whole = found + rest
    return whole.with_sign_of(found), (found - whole) + rest  # also where it is 0


def _over_half_pi(x: Floats) -> tuple[Integers, Floats]:
    """The integer nearest to `x / (π / 2)`: in the last bits of integers, and as a float."""
    rounding = _rounding(x.shape)
    shifted = x.times_plus(2 / math.pi, rounding)
    return shifted.bits(), shifted - rounding


def _sin_less_argument(r: Floats, z: Floats) -> Floats:
    """`sin(r) - r`, z = r², |r| ≤ π / 4"""
    return r * z * z.polynomial(coefficients.SIN[r.shape.code])


def _cos_less_one(z: Floats) -> Floats:
    """`cos(r) - 1`, z = r², |r| ≤ π / 4"""
    return (z * z).times_plus(z.polynomial(coefficients.COS[z.shape.code]), z * -0.5)


def _is_even(k: Integers) -> Truths:
    return (k << (k.shape.bits - 1)).below(1)


def _sin_of_turned(x: Floats, turns: int) -> Floats:
    """`sin(x + turns π / 2)`"""
    s = x.shape
    k, number = _over_half_pi(x)
    r = _less_multiple(x, number, coefficients.HALF_PI[s.code])
    z = r * r
    k = k + turns
    is_even = _is_even(k)
    first = is_even.where(r, 1.0)
    found = first + is_even.where(_sin_less_argument(r, z), _cos_less_one(z))
    sign = (k << (s.bits - 2)) & s.sign
    return (found.with_sign_of(first).bits() ^ sign).floats()


def _sin(x: Floats) -> Floats:
    return _sin_of_turned(x, 0)


def _cos(x: Floats) -> Floats:
    return _sin_of_turned(x, 1)


def _quotient(above: Pair, below: Pair) -> Floats:
    """What a division leaves is divided once more."""
    inverse = 1.0 / (below[0] + below[1])
    quotient = (above[0] + above[1]) * inverse
    left = (-quotient).times_plus(below[0], above[0])
    left = left + (-quotient).times_plus(below[1], above[1])
    return left.times_plus(inverse, quotient)


def _tan(x: Floats) -> Floats:
    """`x = k π / 2 + r`; sin(r) over cos(r), or minus the inverse of that where k is odd."""
    s = x.shape
    k, number = _over_half_pi(x)
    r, rest = _less_multiple_in_parts(x, number, coefficients.HALF_PI[s.code])
    z = r * r
    cos_rest = (-rest).times_plus(r, _cos_less_one(z))
    sin_rest = rest.times_plus(cos_rest, _sin_less_argument(r, z) + rest)
    is_even = _is_even(k)
    above = is_even.where(r, 1.0), is_even.where(sin_rest, cos_rest)
    below = is_even.where(1.0, r), is_even.where(cos_rest, sin_rest)
    found = _quotient(above, below).with_sign_of(r)
    return (found.bits() ^ (k << (s.bits - 1))).floats()


# --- erf --------------------------------------------------------------------------------------


def _erf(x: Floats) -> Floats:
    """`1 - exp(-q)`, q = -log(1 - erf(|x|)): so smooth a function that one polynomial serves for it.

    From 6 on the result is rounded to 1.
    """
    s = x.shape
    size = abs(x).at_most(6.0)
    slope, slope_rest = coefficients.SLOPE_OF_ERF[s.code]
    bent = size * size.times_plus(size.polynomial(coefficients.ERF[s.code]), slope_rest)
    return _expm1_of_moderate(-size.times_plus(slope, bent)).with_sign_of(x)


FORMULAS: dict[str, Formula] = {
    "exp": Formula(_exp, _is_ordinary_exp, _exp_of_all),
    "expm1": Formula(_expm1, _is_ordinary_expm1, _expm1_of_all),
    "tanh": Formula(_tanh),
    "log": Formula(_log, _is_ordinary_log, _log_of_all),
    "log1p": Formula(_log1p, _is_ordinary_log1p, _log1p_of_all),
    "pow": Formula(_pow, _is_ordinary_pow, arity=2),
    "sin": Formula(_sin, _is_ordinary_angle),
    "cos": Formula(_cos, _is_ordinary_angle),
    "tan": Formula(_tan, _is_ordinary_angle),
    "erf": Formula(_erf),
}
