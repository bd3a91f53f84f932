"""Powers of complex numbers: by CPython's algorithm, and by NumPy's for arrays and its own numbers."""

from __future__ import annotations

import math
from collections.abc import Callable

from .complex_formulas import (
    FORMULAS,
    Formula,
    Pair,
    angle,
    exponential,
    is_infinite,
    is_zero_pair,
    logarithm,
    modulus,
    product,
    quotient,
    quotient_of_numpy,
    where_pair,
)
from .reals import Real


def _one(z: Pair) -> Pair:
    return z[0].known(1.0), z[0].known(0.0)


def whole_power(z: Pair, n: int) -> Pair:
    """z ** n by squarings, as CPython multiplies it out: the first factor is 1."""
    found, square, rest = _one(z), z, abs(n)
    while rest:
        if rest % 2:
            found = product(found, square)
        rest //= 2
        square = product(square, square) if rest else square
    return quotient(_one(z), found) if n < 0 else found


def whole_power_of_numpy(z: Pair, n: int) -> Pair:
    """The same as NumPy has it, which looks at zeros first."""
    if n == 0:
        return _one(z)
    if n in (1, 2, 3):
        found = z
        for _ in range(n - 1):
            found = product(z, found)
    else:
        found = whole_power(z, abs(n))
        found = quotient_of_numpy(_one(z), found) if n < 0 else found
    of_zero = z[0].known(0.0 if n > 0 else math.nan)
    return where_pair(is_zero_pair(z), (of_zero, of_zero), found)


def _power(z: Pair, w: Pair) -> Pair:
    """As CPython has it: by squarings for small whole numbers, else by modulus and angle."""
    size, turn = modulus(z), angle(z)
    length = size.apply("pow", w[0]) * (-(turn * w[1])).apply("exp")
    is_zero = size.equals(0.0)
    phase = turn * w[0]
    more = phase + w[1] * is_zero.where(1.0, size).apply("log")
    phase = w[1].equals(0.0).where(phase, more)
    re, im = length * phase.apply("cos"), length * phase.apply("sin")
    of_zero = (w[0] > 0.0).where(0.0, math.nan)
    polar = where_pair(is_zero, (of_zero, of_zero), (re, im))
    found = where_pair(_is_small(w, at_most=100.0), _by_squarings(z, w[0], quotient), polar)
    return where_pair(is_zero_pair(w), _one(z), found)


def _power_of_numpy(z: Pair, w: Pair) -> Pair:
    """As NumPy has it: exp(w log z), but for small whole numbers."""
    polar = exponential(_product_of_c(w, logarithm(z)))
    a, b = z
    few = where_pair(w[0].equals(1.0), z, product(z, z))
    few = where_pair(w[0].equals(3.0), product(z, product(z, z)), few)
    is_few = w[0].equals(1.0) | w[0].equals(2.0) | w[0].equals(3.0)
    whole = where_pair(is_few, few, _by_squarings(z, w[0], quotient_of_numpy))
    found = where_pair(_is_small(w, at_most=99.0), whole, polar)
    of_zero = (w[0] > 0.0).where(0.0, math.nan)
    found = where_pair(a.equals(0.0) & b.equals(0.0), (of_zero, of_zero), found)
    return where_pair(is_zero_pair(w), _one(z), found)


FORMULAS["pow"] = FORMULAS["ieee_pow"] = Formula("complex", _power, _power_of_numpy)


def _is_small(w: Pair, *, at_most: float) -> Real:
    """Whether an exponent is a small whole number."""
    return w[1].equals(0.0) & w[0].apply("floor").equals(w[0]) & (abs(w[0]) <= at_most)


def _by_squarings(z: Pair, n: Real, divide: Callable[[Pair, Pair], Pair]) -> Pair:
    """z to the power of a whole number of up to 7 digits in base 2."""
    found, square, rest = _one(z), z, abs(n)
    for k in range(7):
        half = (rest * 0.5).apply("floor")
        found = where_pair((rest - half * 2.0).equals(1.0), product(found, square), found)
        square, rest = product(square, square) if k < 6 else square, half
    return where_pair(n < 0.0, divide(_one(z), found), found)


def _product_of_c(z: Pair, w: Pair) -> Pair:
    """A product as C99 has it (G.5.1): where an operand is infinite, so is the product."""
    re, im = product(z, w)
    lost = re.differs(re) & im.differs(im) & (is_infinite(z) | is_infinite(w))
    a, b = _of_directions(z, w), _of_directions(w, z)
    infinite = product(a, b)
    return where_pair(lost, (infinite[0] * math.inf, infinite[1] * math.inf), (re, im))


def _of_directions(z: Pair, other: Pair) -> Pair:
    """An infinite operand as 1 or 0 for each part; in another, what is no number is 0."""
    infinite, beside = is_infinite(z), is_infinite(other)

    def part(x: Real) -> Real:
        boxed = abs(x).equals(math.inf).where(1.0, 0.0).apply("copysign", x)
        nothing = (beside & x.differs(x)).where(x.known(0.0).apply("copysign", x), x)
        return infinite.where(boxed, nothing)

    return part(z[0]), part(z[1])


def power_derivative(x: Pair, y: Pair, order: int) -> Pair:
    """`y (y - 1) … x ** (y - order)`, and 0 wherever its factor is 0."""
    factor = (y[0].known(1.0), y[0].known(0.0))
    for k in range(order):
        factor = product(factor, (y[0] - k, y[1]))
    is_zero = factor[0].equals(0.0) & factor[1].equals(0.0)
    re, im = product(factor, _power(x, (y[0] - order, y[1])))
    return is_zero.where(0.0, re), is_zero.where(0.0, im)
