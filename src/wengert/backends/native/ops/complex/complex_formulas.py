"""Functions of complex numbers by formulas for their parts, on numbers as on the elements of arrays.

The formulas are those of CPython and NumPy where these have their own, and take the care that C libraries take:
no part overflows, or loses its digits, where the result does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, ParamSpec, TypeVar

from .....ir.records import record
from ...form.loopform import Expr
from ...values.emitter import Emitter
from .reals import Real

Pair = tuple[Real, Real]
Gives = Literal["complex", "real", "truth"]


@record
class Formula:
    """How a function is computed: the parts of the result, or a real one, from the parts of the operands."""

    gives: Gives
    of: Callable[..., Pair | Real]
    of_numpy: Callable[..., Pair | Real] | None = None
    """The same as NumPy has it, where that is another formula."""

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


def where_pair(condition: Real, then: Pair, other: Pair) -> Pair:
    return condition.where(then[0], other[0]), condition.where(then[1], other[1])


# --- arithmetic -------------------------------------------------------------------------------


@formula("complex", "add", "accumulate")
def _add(z: Pair, w: Pair) -> Pair:
    return z[0] + w[0], z[1] + w[1]


formula("complex", "sub")(lambda z, w: (z[0] - w[0], z[1] - w[1]))
formula("complex", "neg")(lambda z: (-z[0], -z[1]))
formula("complex", "pos", "copy", "snapshot", "duplicate", "stop_gradient")(lambda z: z)


@formula("complex", "mul")
def product(z: Pair, w: Pair) -> Pair:
    (a, b), (c, d) = z, w
    return a * c - b * d, a * d + b * c


formula("complex", "square")(lambda z: product(z, z))


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
    re, im = x + y * ratio, flat.where(y - x * ratio, x * ratio - y)
    return is_zero.where(a, re) * scale, is_zero.where(b, im) * scale


@formula("complex", "safe_div")
def _safe_div(z: Pair, w: Pair) -> Pair:
    """z / w, and 0 where w is 0."""
    is_zero = w[0].equals(0.0) & w[1].equals(0.0)
    re, im = quotient_of_numpy(z, (is_zero.where(1.0, w[0]), w[1]))
    return is_zero.where(0.0, re), is_zero.where(0.0, im)


@formula("complex", "reciprocal")
def _reciprocal(z: Pair) -> Pair:
    """1 / z as NumPy has it."""
    a, b = z
    flat = abs(b) <= abs(a)
    long, short = flat.where(a, b), flat.where(b, a)
    ratio = short / long
    scale = flat.where(long + short * ratio, short * ratio + long)
    return flat.where(1.0, ratio) / scale, -(flat.where(ratio, 1.0) / scale)


# --- parts ------------------------------------------------------------------------------------


formula("real", "real")(lambda z: z[0])
formula("real", "imag")(lambda z: z[1])
formula("complex", "conj")(lambda z: (z[0], -z[1]))
formula("complex", "i_imag")(lambda z: (z[0].known(0.0), z[1]))


@formula("real", "abs")
def modulus(z: Pair) -> Real:
    return z[0].apply("hypot", z[1])


@formula("real", "angle", "phase")
def angle(z: Pair) -> Real:
    return z[1].apply("atan2", z[0])


@formula("complex", "unit", "sign")
def _sign(z: Pair) -> Pair:
    """z / |z| as NumPy has it: an infinite number has the direction of its infinite part, and 0 none."""
    flat, steep = abs(z[0]).equals(math.inf), abs(z[1]).equals(math.inf)
    one = z[0].known(1.0)
    size = modulus(z)
    is_zero = size.equals(0.0)
    found = z[0] / size, z[1] / size
    nothing = z[0].known(0.0)
    found = where_pair(is_zero, (nothing, nothing), found)
    found = where_pair(flat, (one.apply("copysign", z[0]), nothing), found)
    found = where_pair(steep, (nothing, one.apply("copysign", z[1])), found)
    unknown = z[0].known(math.nan)
    return where_pair((flat & steep) | size.differs(size), (unknown, unknown), found)


# --- elementary functions ---------------------------------------------------------------------


@formula("complex", "exp")
def exponential(z: Pair) -> Pair:
    """In two factors where the exponential alone is no float; of infinities as C99 has it (G.6.3.1)."""
    x, y = z
    large = abs(x) > 700.0
    size = large.where(x * 0.5, x).apply("exp")
    again = large.where(size, 1.0)
    re, im = size * y.apply("cos") * again, size * y.apply("sin") * again
    lost = abs(x).equals(math.inf) & ~(abs(y) < math.inf)
    nothing = x.known(0.0).apply("copysign", y)
    re = lost.where((x < 0.0).where(0.0, math.inf), re)
    im = lost.where((x < 0.0).where(nothing, math.nan), im)
    return re, y.equals(0.0).where(y, im)


@formula("complex", "log")
def logarithm(z: Pair) -> Pair:
    return log_of_modulus(z), angle(z)


formula("complex", "log10")(
    lambda z: (log_of_modulus(z) / math.log(10.0), angle(z) / math.log(10.0))
)
formula("complex", "log2")(lambda z: (log_of_modulus(z) / math.log(2.0), angle(z) / math.log(2.0)))


def log_of_modulus(z: Pair) -> Real:
    """log |z|, also where |z| is nearly 1, or no float."""
    x, y = abs(z[0]), abs(z[1])
    size = x.apply("hypot", y)
    long, short = (x > y).where(x, y), (x > y).where(y, x)
    near = ((long - 1.0) * (long + 1.0) + short * short).apply("log1p") * 0.5
    large, tiny = size.equals(math.inf), size < 2.0**-1000
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
    """−i sinh(iz), but for the sign that an infinity has whose angle nobody knows."""
    re, im = _sinh((-z[1], z[0]))
    unknown = abs(z[1]).equals(math.inf) & ~(abs(z[0]) < math.inf)
    return im, unknown.where(math.inf, -re)


@formula("complex", "cos")
def _cos(z: Pair) -> Pair:
    """cosh(iz)"""
    return _cosh((-z[1], z[0]))


@formula("complex", "sinh")
def _sinh(z: Pair) -> Pair:
    """Of infinities as C99 has it (G.6.2.5)."""
    x, y = z
    c, s = y.apply("cos"), y.apply("sin")
    long, short, again = _halves(x)
    re, im = short * c * again, long * s * again
    unknown = ~(abs(y) < math.inf)
    re = x.equals(0.0).where(unknown.where(x, x * c), re)
    re = (unknown & abs(x).equals(math.inf)).where(math.inf, re)
    return re, y.equals(0.0).where(y, im)


@formula("complex", "cosh")
def _cosh(z: Pair) -> Pair:
    """Of infinities as C99 has it (G.6.2.4)."""
    x, y = z
    c, s = y.apply("cos"), y.apply("sin")
    long, short, again = _halves(x)
    re, im = long * c * again, short * s * again
    unknown = ~(abs(y) < math.inf)
    re = (unknown & abs(x).equals(math.inf)).where(math.inf, re)
    flat = x.differs(x).where(y, x.known(1.0).apply("copysign", x) * y)
    im = y.equals(0.0).where(flat, x.equals(0.0).where(unknown.where(0.0, x * s), im))
    return re, im


def _halves(x: Real) -> tuple[Real, Real, Real]:
    """cosh x and sinh x, and what they are still to be multiplied by: together they may be no floats."""
    large = abs(x) > 700.0
    root = (large.where(abs(x), 0.0) * 0.5).apply("exp")
    long = large.where(root * 0.5, x.apply("cosh"))
    short = large.where((root * 0.5).apply("copysign", x), x.apply("sinh"))
    return long, short, root


@formula("complex", "tanh")
def _tanh(z: Pair) -> Pair:
    """W. Kahan, Branch cuts for complex elementary functions (1987); of infinities as C99 has it (G.6.2.6)."""
    x, y = z
    t = y.apply("tan")
    s = x.apply("sinh")
    slope = t * t + 1.0
    below = slope * s * s + 1.0
    re, im = slope * (s * s + 1.0).apply("sqrt") * s / below, t / below
    far = abs(x) > 22.0
    tail = y.apply("sin") * y.apply("cos") * 4.0 * (abs(x) * -2.0).apply("exp")
    re, im = far.where(x.known(1.0).apply("copysign", x), re), far.where(tail, im)
    unknown, infinite = ~(abs(y) < math.inf), abs(x).equals(math.inf)
    re = unknown.where(x.equals(0.0).where(x, infinite.where(re, math.nan)), re)
    im = (unknown & infinite).where(x.known(0.0).apply("copysign", y), im)
    return re, y.equals(0.0).where(y, im)


@formula("complex", "sech")
def _sech(z: Pair) -> Pair:
    """1 / cosh z, which does not overflow."""
    left = z[0] < 0.0
    t = exponential((left.where(z[0], -z[0]), left.where(z[1], -z[1])))
    one = (z[0].known(1.0), z[0].known(0.0))
    return quotient((t[0] * 2.0, t[1] * 2.0), _add(one, product(t, t)))


@formula("complex", "tan")
def _tan(z: Pair) -> Pair:
    """−i tanh(iz)"""
    re, im = _tanh((-z[1], z[0]))
    return im, -re


# --- questions --------------------------------------------------------------------------------


formula("truth", "eq")(lambda z, w: z[0].equals(w[0]) & z[1].equals(w[1]))
formula("truth", "ne")(lambda z, w: z[0].differs(w[0]) | z[1].differs(w[1]))


@formula("truth", "truth")
def is_true(z: Pair) -> Real:
    return z[0].differs(0.0) | z[1].differs(0.0)


@formula("truth", "not", "logical_not")
def is_zero_pair(z: Pair) -> Real:
    return z[0].equals(0.0) & z[1].equals(0.0)


formula("truth", "isnan")(lambda z: z[0].differs(z[0]) | z[1].differs(z[1]))


@formula("truth", "isinf")
def is_infinite(z: Pair) -> Real:
    return abs(z[0]).equals(math.inf) | abs(z[1]).equals(math.inf)


formula("truth", "isfinite")(lambda z: (abs(z[0]) < math.inf) & (abs(z[1]) < math.inf))
