"""Functions of complex numbers by formulas for their parts, on numbers as on the elements of arrays.

The formulas are those of CPython and NumPy where these have their own, and take the care that C libraries take:
no part overflows, or loses its digits, where the result does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, ParamSpec, TypeVar

from ...ir.records import record
from .emitter import Emitter
from .loopform import Expr
from .reals import Real

Pair = tuple[Real, Real]
Gives = Literal["complex", "real", "truth"]


@record
class Formula:
    """How a function is computed: the parts of the result, or a real one, from the parts of the operands."""

    gives: Gives
    of: Callable[..., Pair | Real]

    def expand(self, e: Emitter, exprs: Sequence[Expr]) -> tuple[Expr, ...]:
        """The parts of the result: `exprs` are those of the operands, one operand after the other."""
        reals = [Real(e, expr) for expr in exprs]
        pairs = zip(reals[::2], reals[1::2], strict=True)
        found = self.of(*pairs)
        return tuple(part.expr for part in (found if isinstance(found, tuple) else (found,)))


FORMULAS: dict[str, Formula] = {}


P = ParamSpec("P")
Parts = TypeVar("Parts", Real, Pair)


def formula(gives: Gives, *names: str) -> Callable[[Callable[P, Parts]], Callable[P, Parts]]:
    """Enter a function of pairs into the table under the names of ops."""

    def enter(function: Callable[P, Parts]) -> Callable[P, Parts]:
        for name in names:
            FORMULAS[name] = Formula(gives, function)
        return function

    return enter


# --- arithmetic -------------------------------------------------------------------------------


@formula("complex", "add", "accumulate")
def _add(z: Pair, w: Pair) -> Pair:
    return z[0] + w[0], z[1] + w[1]


@formula("complex", "sub")
def _sub(z: Pair, w: Pair) -> Pair:
    return z[0] - w[0], z[1] - w[1]


@formula("complex", "neg")
def _neg(z: Pair) -> Pair:
    return -z[0], -z[1]


@formula("complex", "pos", "copy", "snapshot", "duplicate", "stop_gradient")
def _same(z: Pair) -> Pair:
    return z


@formula("complex", "mul")
def product(z: Pair, w: Pair) -> Pair:
    (a, b), (c, d) = z, w
    return a * c - b * d, a * d + b * c


@formula("complex", "square")
def _square(z: Pair) -> Pair:
    return product(z, z)


@formula("complex", "div")
def quotient(z: Pair, w: Pair) -> Pair:
    """Smith's method, as CPython has it."""
    (a, b), (c, d) = z, w
    flat = abs(c) >= abs(d)
    long, short = flat.where(c, d), flat.where(d, c)
    ratio = short / long
    scale = long + short * ratio
    x, y = flat.where(a, b), flat.where(b, a)
    im = flat.where(y - x * ratio, x * ratio - y)
    return (x + y * ratio) / scale, im / scale


@formula("complex", "ieee_div")
def quotient_of_numpy(z: Pair, w: Pair) -> Pair:
    """The same as NumPy has it: of a division by zero come infinities and NaN."""
    (a, b), (c, d) = z, w
    is_zero = c.equals(0.0) & d.equals(0.0)
    flat = abs(c) >= abs(d)
    long, short = flat.where(c, d), flat.where(d, c)
    ratio = is_zero.where(0.0, short / long)
    scale = 1.0 / (is_zero.where(abs(long), long) + short * ratio)
    x, y = flat.where(a, b), flat.where(b, a)
    im = flat.where(y - x * ratio, x * ratio - y)
    return (x + y * ratio) * scale, im * scale


@formula("complex", "safe_div")
def _safe_div(z: Pair, w: Pair) -> Pair:
    """z / w, and 0 where w is 0."""
    is_zero = w[0].equals(0.0) & w[1].equals(0.0)
    re, im = quotient_of_numpy(z, (is_zero.where(1.0, w[0]), w[1]))
    return is_zero.where(0.0, re), is_zero.where(0.0, im)


@formula("complex", "reciprocal")
def _reciprocal(z: Pair) -> Pair:
    return quotient_of_numpy((z[0].known(1.0), z[0].known(0.0)), z)


def whole_power(z: Pair, n: int) -> Pair:
    """z ** n by squarings, as CPython and NumPy multiply it out."""
    found: Pair | None = None
    square, rest = z, abs(n)
    while rest:
        if rest % 2:
            found = square if found is None else product(found, square)
        rest //= 2
        square = product(square, square) if rest else square
    one = (z[0].known(1.0), z[0].known(0.0))
    if found is None:
        return one
    return quotient(one, found) if n < 0 else found


@formula("complex", "pow", "ieee_pow")
def _power(z: Pair, w: Pair) -> Pair:
    """By the logarithm: |z| ** Re w, turned by the angle of z Re w times, and the rest."""
    size, turn = modulus(z), angle(z)
    length = size.apply("pow", w[0]) * (-(turn * w[1])).apply("exp")
    is_zero = size.equals(0.0)
    phase = turn * w[0] + w[1] * is_zero.where(1.0, size).apply("log")
    re, im = length * phase.apply("cos"), length * phase.apply("sin")
    of_zero = (w[0] > 0.0).where(0.0, math.nan)
    re, im = is_zero.where(of_zero, re), is_zero.where(of_zero, im)
    nothing = w[0].equals(0.0) & w[1].equals(0.0)
    return nothing.where(1.0, re), nothing.where(0.0, im)


def power_derivative(x: Pair, y: Pair, order: int) -> Pair:
    """`y (y - 1) … x ** (y - order)`, and 0 wherever its factor is 0."""
    factor = (y[0].known(1.0), y[0].known(0.0))
    for k in range(order):
        factor = product(factor, (y[0] - k, y[1]))
    is_zero = factor[0].equals(0.0) & factor[1].equals(0.0)
    re, im = product(factor, _power(x, (y[0] - order, y[1])))
    return is_zero.where(0.0, re), is_zero.where(0.0, im)


# --- parts ------------------------------------------------------------------------------------


@formula("real", "real")
def _re(z: Pair) -> Real:
    return z[0]


@formula("real", "imag")
def _im(z: Pair) -> Real:
    return z[1]


@formula("complex", "conj")
def _conj(z: Pair) -> Pair:
    return z[0], -z[1]


@formula("complex", "i_imag")
def _i_imag(z: Pair) -> Pair:
    return z[0].known(0.0), z[1]


@formula("real", "abs")
def modulus(z: Pair) -> Real:
    return z[0].apply("hypot", z[1])


@formula("real", "angle", "phase")
def angle(z: Pair) -> Real:
    return z[1].apply("atan2", z[0])


def _direction(z: Pair) -> Pair:
    """z / |z|, and 0 of 0."""
    size = modulus(z)
    is_zero = size.equals(0.0)
    divisor = is_zero.where(1.0, size)
    return z[0] / divisor, z[1] / divisor


@formula("complex", "unit", "sign")
def _sign(z: Pair) -> Pair:
    """The same as NumPy has it: an infinite number has the direction of its infinite part."""
    re, im = _direction(z)
    flat, steep = abs(z[0]).equals(math.inf), abs(z[1]).equals(math.inf)
    one = z[0].known(1.0)
    re = (flat & ~steep).where(one.apply("copysign", z[0]), (steep & ~flat).where(0.0, re))
    im = (steep & ~flat).where(one.apply("copysign", z[1]), (flat & ~steep).where(0.0, im))
    unknown = z[0].differs(z[0]) | z[1].differs(z[1])
    return unknown.where(math.nan, re), unknown.where(math.nan, im)


# --- elementary functions ---------------------------------------------------------------------


@formula("complex", "exp")
def _exp(z: Pair) -> Pair:
    x, y = z
    size = x.apply("exp")
    return size * y.apply("cos"), y.equals(0.0).where(y, size * y.apply("sin"))


@formula("complex", "log")
def _log(z: Pair) -> Pair:
    return log_of_modulus(z), angle(z)


@formula("complex", "log10")
def _log10(z: Pair) -> Pair:
    return log_of_modulus(z) / math.log(10.0), angle(z) / math.log(10.0)


@formula("complex", "log2")
def _log2(z: Pair) -> Pair:
    return log_of_modulus(z) / math.log(2.0), angle(z) / math.log(2.0)


def log_of_modulus(z: Pair) -> Real:
    """log |z|, also where |z| is nearly 1, or no float."""
    x, y = abs(z[0]), abs(z[1])
    size = x.apply("hypot", y)
    long, short = (x > y).where(x, y), (x > y).where(y, x)
    near = ((long - 1.0) * (long + 1.0) + short * short).apply("log1p") * 0.5
    large, tiny = size > 2.0**1000, size < 2.0**-1000
    scale = large.where(2.0**-60, tiny.where(2.0**60, 1.0))
    shift = large.where(_SHIFT, tiny.where(-_SHIFT, 0.0))
    far = (x * scale).apply("hypot", y * scale).apply("log") + shift
    return ((size > 0.71) & (size < 1.73)).where(near, far)


_SHIFT = 60 * math.log(2.0)


@formula("complex", "sqrt")
def _sqrt(z: Pair) -> Pair:
    """The root whose real part is not negative; numbers of all sizes are brought to the middle first."""
    x, y = z
    most = (abs(x) > abs(y)).where(abs(x), abs(y))
    large, tiny = most > 2.0**1000, most < 2.0**-960
    scale = large.where(2.0**-60, tiny.where(2.0**80, 1.0))
    back = large.where(2.0**30, tiny.where(2.0**-40, 1.0))
    a, b = abs(x) * scale, abs(y) * scale
    root = ((a + a.apply("hypot", b)) * 0.5).apply("sqrt")
    is_zero = root.equals(0.0)
    other = b / (is_zero.where(1.0, root) * 2.0)
    right = x >= 0.0
    re, im = right.where(root, other) * back, right.where(other, root) * back
    infinite = abs(y).equals(math.inf)  # whatever the real part is
    re = infinite.where(math.inf, is_zero.where(0.0, re))
    return re, infinite.where(math.inf, im).apply("copysign", y)


@formula("complex", "sin")
def _sin(z: Pair) -> Pair:
    x, y = z
    return x.apply("sin") * y.apply("cosh"), x.apply("cos") * y.apply("sinh")


@formula("complex", "cos")
def _cos(z: Pair) -> Pair:
    x, y = z
    return x.apply("cos") * y.apply("cosh"), -(x.apply("sin") * y.apply("sinh"))


@formula("complex", "sinh")
def _sinh(z: Pair) -> Pair:
    x, y = z
    return x.apply("sinh") * y.apply("cos"), x.apply("cosh") * y.apply("sin")


@formula("complex", "cosh")
def _cosh(z: Pair) -> Pair:
    x, y = z
    return x.apply("cosh") * y.apply("cos"), x.apply("sinh") * y.apply("sin")


@formula("complex", "tanh")
def _tanh(z: Pair) -> Pair:
    """W. Kahan, Branch cuts for complex elementary functions (1987)."""
    x, y = z
    t = y.apply("tan")
    s = x.apply("sinh")
    slope = t * t + 1.0
    below = slope * s * s + 1.0
    re, im = slope * (s * s + 1.0).apply("sqrt") * s / below, t / below
    far = abs(x) > 22.0
    tail = y.apply("sin") * y.apply("cos") * 4.0 * (abs(x) * -2.0).apply("exp")
    return far.where(x.known(1.0).apply("copysign", x), re), far.where(tail, im)


@formula("complex", "sech")
def _sech(z: Pair) -> Pair:
    """1 / cosh z, which does not overflow."""
    left = z[0] < 0.0
    t = _exp((left.where(z[0], -z[0]), left.where(z[1], -z[1])))
    one = (z[0].known(1.0), z[0].known(0.0))
    return quotient((t[0] * 2.0, t[1] * 2.0), _add(one, product(t, t)))


@formula("complex", "tan")
def _tan(z: Pair) -> Pair:
    """−i tanh(iz)"""
    re, im = _tanh((-z[1], z[0]))
    return im, -re


# --- questions --------------------------------------------------------------------------------


@formula("truth", "eq")
def _eq(z: Pair, w: Pair) -> Real:
    return z[0].equals(w[0]) & z[1].equals(w[1])


@formula("truth", "ne")
def _ne(z: Pair, w: Pair) -> Real:
    return z[0].differs(w[0]) | z[1].differs(w[1])


@formula("truth", "truth")
def is_true(z: Pair) -> Real:
    return z[0].differs(0.0) | z[1].differs(0.0)


@formula("truth", "not", "logical_not")
def _not(z: Pair) -> Real:
    return z[0].equals(0.0) & z[1].equals(0.0)


@formula("truth", "isnan")
def _isnan(z: Pair) -> Real:
    return z[0].differs(z[0]) | z[1].differs(z[1])


@formula("truth", "isinf")
def _isinf(z: Pair) -> Real:
    return abs(z[0]).equals(math.inf) | abs(z[1]).equals(math.inf)


@formula("truth", "isfinite")
def _isfinite(z: Pair) -> Real:
    return (abs(z[0]) < math.inf) & (abs(z[1]) < math.inf)
