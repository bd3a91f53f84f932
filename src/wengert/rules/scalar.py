"""Partial derivatives of elementwise functions: what one finds at the end of a calculus book.

A row gives ∂Ω/∂x from the operands and the result Ω. Every row is compared with arbitrary precision
over its whole domain (tests/rules/test_accuracy.py); where a row is not the obvious formula, the obvious one
loses digits, overflows, or raises an exception where the function itself does not.

At kinks: 0 at a local optimum, else a value inside the subdifferential.
"""

from __future__ import annotations

from ..ops.elementwise import (
    abs_,
    acos,
    acosh,
    add,
    allclose,
    angle,
    around,
    array_equal,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bessel_i,
    bitand,
    bitor,
    bitxor,
    cbrt,
    ceil,
    clip,
    comb,
    complex_of_parts,
    conj,
    copysign,
    cos,
    cosh,
    degrees,
    direction_cosine,
    div,
    erf,
    erfc,
    exp,
    exp2,
    expit,
    expm1,
    fabs,
    factorial,
    falling,
    float_power,
    floor,
    floordiv,
    fma,
    fmax,
    fmin,
    fmod,
    gamma,
    gcd,
    heaviside,
    hypot,
    hypot1,
    i0,
    i_imag,
    ieee_div,
    ieee_pow,
    imag,
    invert,
    is_close,
    isclose,
    iscomplex,
    isfinite,
    isinf,
    isnan,
    isqrt,
    isreal,
    lcm,
    ldexp,
    lgamma,
    log,
    log1p,
    log2,
    log10,
    log_base,
    logaddexp,
    logaddexp2,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    lshift,
    maximum,
    minimum,
    mod,
    mul,
    nan_to_num,
    neg,
    nextafter,
    number_like,
    perm,
    phase,
    polygamma,
    pos,
    pow_,
    pow_derivative,
    radians,
    real,
    reciprocal,
    remainder,
    rint,
    round_,
    rshift,
    safe_div,
    safe_log,
    sech,
    sign,
    sign_of_number,
    signbit,
    sin,
    sinc,
    sinc_derivative,
    sinh,
    spacing,
    sqrt,
    square,
    sub,
    tan,
    tanh,
    to_complex,
    to_float,
    to_int,
    trunc,
    ulp,
    unit,
    where,
)
from ..ops.structure import fill
from .forms import differential, linear_rule, scalar_rule, zero_rule

# --- arithmetic ---------------------------------------------------------------------------

scalar_rule(add, lambda x, y, Ω: 1, lambda x, y, Ω: 1)
scalar_rule(sub, lambda x, y, Ω: 1, lambda x, y, Ω: -1)
scalar_rule(mul, lambda x, y, Ω: y, lambda x, y, Ω: x)
scalar_rule(div, lambda x, y, Ω: 1 / y, lambda x, y, Ω: -Ω / y)  # x / y² under- and overflows
scalar_rule(neg, lambda x, Ω: -1)
scalar_rule(pos, lambda x, Ω: 1)
scalar_rule(mod, lambda x, y, Ω: 1, lambda x, y, Ω: -(x // y))
scalar_rule(fmod, lambda x, y, Ω: 1, lambda x, y, Ω: (Ω - x) / y)  # x / y may round to an integer
scalar_rule(remainder, lambda x, y, Ω: 1, lambda x, y, Ω: (Ω - x) / y)
scalar_rule(reciprocal, lambda x, Ω: -Ω * Ω)
scalar_rule(square, lambda x, Ω: 2 * x)
scalar_rule(fma, lambda x, y, z, Ω: y, lambda x, y, z, Ω: x, lambda x, y, z, Ω: 1)

# --- powers and roots: y xʸ⁻¹ is 0 for y = 0, also at x = 0 ---------------------------------

scalar_rule(pow_, lambda x, y, Ω: pow_derivative(x, y, order=1), lambda x, y, Ω: Ω * safe_log(x))
scalar_rule(
    float_power, lambda x, y, Ω: pow_derivative(x, y, order=1), lambda x, y, Ω: Ω * safe_log(x)
)
scalar_rule(ieee_pow, lambda x, y, Ω: y * ieee_pow(x, y - 1), lambda x, y, Ω: Ω * safe_log(x))
scalar_rule(
    pow_derivative,
    lambda x, y, Ω, *, order: pow_derivative(x, y, order=order + 1),
    lambda x, y, Ω, *, order: (
        Ω * safe_log(x) + falling(y, order=order, derivative=1) * ieee_pow(x, y - order)
    ),
)
scalar_rule(
    falling, lambda y, Ω, *, order, derivative: falling(y, order=order, derivative=derivative + 1)
)
scalar_rule(sqrt, lambda x, Ω: ieee_div(0.5, Ω))
scalar_rule(cbrt, lambda x, Ω: ieee_div(1, 3 * Ω**2))
scalar_rule(hypot1, lambda x, Ω: x / Ω)
scalar_rule(hypot, lambda *xs_Ω: tuple([direction_cosine(x, xs_Ω[-1]) for x in xs_Ω[:-1]]))


# --- exponentials and logarithms ------------------------------------------------------------

scalar_rule(exp, lambda x, Ω: Ω)
scalar_rule(exp2, lambda x, Ω: 0.6931471805599453 * Ω)  # log 2
scalar_rule(expm1, lambda x, Ω: exp(x))  # Ω + 1 cancels for x < 0
scalar_rule(log, lambda x, Ω: 1 / x)
scalar_rule(
    log_base, lambda x, base, Ω: 1 / (x * log(base)), lambda x, base, Ω: -Ω / (base * log(base))
)
scalar_rule(log2, lambda x, Ω: 1.4426950408889634 / x)  # 1 / log 2
scalar_rule(log10, lambda x, Ω: 0.4342944819032518 / x)  # 1 / log 10
scalar_rule(log1p, lambda x, Ω: 1 / (1 + x))
_LOWEST = (
    -3e38
)  # a number of 32 bits as well: log 0 - log 0 would be NaN, where both probabilities are 0
scalar_rule(  # exp(x - Ω)
    logaddexp,
    lambda x, y, Ω: expit(x - maximum(y, _LOWEST)),
    lambda x, y, Ω: expit(y - maximum(x, _LOWEST)),
)
scalar_rule(
    logaddexp2,
    lambda x, y, Ω: expit(0.6931471805599453 * (x - maximum(y, _LOWEST))),
    lambda x, y, Ω: expit(0.6931471805599453 * (y - maximum(x, _LOWEST))),
)
scalar_rule(expit, lambda x, Ω: Ω * expit(-x))  # Ω (1 - Ω) cancels
scalar_rule(safe_log, lambda x, Ω: safe_div(1, x))

# --- trigonometry ---------------------------------------------------------------------------

scalar_rule(sin, lambda x, Ω: cos(x))
scalar_rule(cos, lambda x, Ω: -sin(x))
scalar_rule(tan, lambda x, Ω: 1 + Ω**2)
scalar_rule(asin, lambda x, Ω: ieee_div(1, sqrt((1 - x) * (1 + x))))  # 1 - x² cancels at ±1
scalar_rule(acos, lambda x, Ω: ieee_div(-1, sqrt((1 - x) * (1 + x))))
scalar_rule(atan, lambda x, Ω: 1 / (1 + x * x))
scalar_rule(
    atan2,  # x² + y² under- and overflows
    lambda y, x, Ω: (safe_div(safe_div(x, r := hypot(x, y)), r), -safe_div(safe_div(y, r), r)),
)
scalar_rule(sinh, lambda x, Ω: cosh(x))
scalar_rule(cosh, lambda x, Ω: sinh(x))
scalar_rule(tanh, lambda x, Ω: sech(x) ** 2)  # 1 - Ω² loses every digit for |x| > 19
scalar_rule(sech, lambda x, Ω: -Ω * tanh(x))
scalar_rule(asinh, lambda x, Ω: 1 / hypot1(x))
scalar_rule(acosh, lambda x, Ω: ieee_div(1, sqrt(x - 1) * sqrt(x + 1)))  # x² - 1 overflows
scalar_rule(atanh, lambda x, Ω: 1 / ((1 - x) * (1 + x)))
scalar_rule(sinc, lambda x, Ω: sinc_derivative(x, order=1))
scalar_rule(sinc_derivative, lambda x, Ω, *, order: sinc_derivative(x, order=order + 1))
linear_rule(degrees, transpose=lambda ȳ, x: degrees(ȳ))
linear_rule(radians, transpose=lambda ȳ, x: radians(ȳ))

# --- special functions ----------------------------------------------------------------------

scalar_rule(erf, lambda x, Ω: 1.1283791670955126 * exp(-x * x))  # 2 / √π
scalar_rule(erfc, lambda x, Ω: -1.1283791670955126 * exp(-x * x))
scalar_rule(gamma, lambda x, Ω: Ω * polygamma(x, order=0))
scalar_rule(lgamma, lambda x, Ω: polygamma(x, order=0))
scalar_rule(polygamma, lambda x, Ω, *, order: polygamma(x, order=order + 1))

scalar_rule(i0, lambda x, Ω: bessel_i(x, order=1))
scalar_rule(
    bessel_i,
    lambda x, Ω, *, order: (bessel_i(x, order=order + 1) + bessel_i(x, order=abs(order - 1))) / 2,
)

# --- kinks: of a tie, the first operand is what Python's `max` and `min` give -------------------

scalar_rule(maximum, lambda x, y, Ω: x >= y, lambda x, y, Ω: x < y)
scalar_rule(minimum, lambda x, y, Ω: x <= y, lambda x, y, Ω: x > y)
scalar_rule(fmax, lambda x, y, Ω: y != Ω, lambda x, y, Ω: y == Ω)  # an operand may be NaN
scalar_rule(fmin, lambda x, y, Ω: x == Ω, lambda x, y, Ω: x != Ω)
scalar_rule(
    clip,
    lambda x, low, high, Ω: x == Ω,
    lambda x, low, high, Ω: (x < low) * (high != Ω),  # where the bounds cross, NumPy gives `high`
    lambda x, low, high, Ω: (x != Ω) * (high == Ω),
)
scalar_rule(heaviside, None, lambda x, y, Ω: x == 0)
scalar_rule(fabs, lambda x, Ω: unit(x))
scalar_rule(copysign, lambda x, y, Ω: unit(x) * copysign(1.0, y), None)
scalar_rule(nextafter, lambda x, y, Ω: 1, None)
scalar_rule(nan_to_num, lambda x, Ω, *, copy=True, nan=0.0, posinf=None, neginf=None: isfinite(x))
scalar_rule(safe_div, lambda x, y, Ω: safe_div(1, y), lambda x, y, Ω: -safe_div(Ω, y))
scalar_rule(direction_cosine, lambda x, r, Ω: safe_div(1, r), lambda x, r, Ω: -safe_div(Ω, r))
scalar_rule(ieee_div, lambda x, y, Ω: ieee_div(1, y), lambda x, y, Ω: ieee_div(-Ω, y))

# --- linear functions -----------------------------------------------------------------------

linear_rule(
    where,
    transpose=(
        None,
        lambda ȳ, condition, x, y: where(condition, ȳ, 0.0),
        lambda ȳ, condition, x, y: where(condition, 0.0, ȳ),
    ),
)
linear_rule(ldexp, transpose=(lambda ȳ, x, i: ldexp(ȳ, i), None))
linear_rule(to_float, transpose=lambda ȳ, x: fill(ȳ, x))
linear_rule(number_like, transpose=(lambda ȳ, x, like: ȳ, None))

# --- complex numbers: ∂L/∂Re + i ∂L/∂Im; |z|, arg z and z / |z| are real-linear in dz ---------

linear_rule(real, transpose=lambda ȳ, z: real(ȳ))
linear_rule(imag, transpose=lambda ȳ, z: 1j * real(ȳ))
linear_rule(i_imag, transpose=lambda ȳ, z: i_imag(ȳ))
linear_rule(conj, transpose=lambda ȳ, z: conj(ȳ))
linear_rule(to_complex, transpose=lambda ȳ, z: ȳ)
linear_rule(complex_of_parts, transpose=(lambda ȳ, re, im: ȳ, lambda ȳ, re, im: -1j * ȳ))


@differential(abs_)
def _(dZ, Z, Ω):
    """d|z| = Re(z̄ dz) / |z|,  0 at 0"""
    return real(conj(unit(Z)) * dZ)


@differential(unit)
def _(dZ, Z, Ω):
    """d(z/|z|) = (dz − Ω Re(Ω̄ dz)) / |z|"""
    return safe_div(dZ - Ω * real(conj(Ω) * dZ), abs_(Z))


@differential(phase)
def _(dZ, Z, Ω):
    """d arg z = Im(dz / z)"""
    return imag(safe_div(dZ, Z))


@differential(angle)
def _(dZ, Z, Ω, *, deg=False):
    """d arg z = Im(dz / z)"""
    return degrees(imag(safe_div(dZ, Z))) if deg else imag(safe_div(dZ, Z))


# --- piecewise constant functions -------------------------------------------------------------

zero_rule(floordiv, floor, ceil, trunc, rint, round_, around, to_int)
zero_rule(sign, sign_of_number, signbit, ulp, spacing)
zero_rule(isfinite, isinf, isnan, isclose, is_close, isreal, iscomplex, allclose, array_equal)
zero_rule(logical_and, logical_or, logical_xor, logical_not)
zero_rule(bitand, bitor, bitxor, invert, lshift, rshift)
zero_rule(comb, factorial, gcd, lcm, isqrt, perm)
