"""Formulas of numbers."""

import math
from math import exp, log

from .registry import add


def polynomial(x):
    return 3 * x * x + 2 * x + 1


add(polynomial, (0.7,), (-2.5,), (1,))


def product_and_sine(a, b):
    return a * b + math.sin(b)


add(product_and_sine, (0.3, 1.2), (-1.0, 0.0))


def gaussian(x, mu, sigma):
    z = (x - mu) / sigma
    return math.exp(-0.5 * z * z) / (sigma * math.sqrt(2 * math.pi))


add(gaussian, (0.4, 0.1, 0.9), (2.0, -1.0, 1.5))


def softplus(x):
    return math.log1p(math.exp(x))


add(softplus, (0.3,), (-4.0,), (8.0,))


def polar_to_angle(x, y):
    return math.atan2(y, x) * math.hypot(x, y)


add(polar_to_angle, (1.2, 0.7), (-0.4, -2.0))


def power_of_both(x, y):
    return x**y + y**x


add(power_of_both, (1.3, 2.2), (0.4, 0.9))


def fixed_powers(x):
    return x**3 - x**-2 + x**0.5 + 2**x + pow(x, 4) + math.pow(x, 1.5)


add(fixed_powers, (1.7,), (0.2,))


def remainder_and_floor(x):
    return (x % 1.5) * 2 + (x // 1.5) + math.fmod(x, 0.7) * x


add(remainder_and_floor, (4.1,), (2.35,))


def divmod_parts(x, y):
    quotient, rest = divmod(x, y)
    return quotient * x + rest * rest


add(divmod_parts, (7.3, 2.1), (1.4, 3.0))


def used_many_times(x):
    y = x * x
    z = y + x
    return y * z + z * x + y / z + x


add(used_many_times, (1.1,), (-3.0,))


def inverse_functions(x):
    return math.asin(x) + math.acos(x) * 2 + math.atan(x) + math.atanh(x) + math.asinh(x)


add(inverse_functions, (0.3,), (-0.8,))


def hyperbolic(x):
    return math.sinh(x) * math.cosh(x) + math.tanh(x) + math.acosh(2 + x)


add(hyperbolic, (0.6,), (-0.5,))


def logarithms(x):
    return (
        math.log2(x)
        + math.log10(x) * math.log(x, 3)
        + math.log(x)
        + math.expm1(x)
        - log(x)
        + exp(-x)
    )


add(logarithms, (1.8,), (0.25,))


def special_functions(x):
    return math.erf(x) + math.erfc(2 * x) * x


add(special_functions, (0.4,), (-1.1,))


def degrees_and_radians(angle):
    return math.sin(math.radians(angle)) + math.degrees(math.atan(angle)) / 90


add(degrees_and_radians, (30.0,), (-2.0,))


def absolute_and_signed(x, y):
    return abs(x) * y + math.fabs(y) + math.copysign(x, y)


add(absolute_and_signed, (1.5, -0.7), (-1.5, 0.7))


def steps_are_flat(x):
    return math.floor(x) * x + math.ceil(x) + round(x) * x + int(x) + math.trunc(x) * x


add(steps_are_flat, (2.3,), (-1.6,))


def plus_minus(x):
    return -(+x) - -x * x + (--x)


add(plus_minus, (0.9,))


def larger_and_smaller(a, b, c):
    return max(a, b, c) * min(a, b) + max(a * b, c)


add(larger_and_smaller, (1.0, 2.0, 3.0), (3.0, -1.0, 0.5))


def unused_argument(x, y):
    z = y * y
    return x * 2


add(unused_argument, (1.0, 2.0))


def constant_result(x):
    return 3.0


add(constant_result, (1.0,))


def converted(x):
    return float(x) * 2 + float(3) * x


add(converted, (1.25,), (4,))


def distances(a, b, c):
    return (
        math.dist((a, b), (c, 1.0)) + math.hypot(a, b, c) + math.prod([a, b, c]) + math.fsum([a, c])
    )


add(distances, (1.0, 2.0, -0.5))


def long_name_reuse(x):
    x = x + 1
    x = x * x
    x = math.sin(x)
    x += 2
    x *= x
    x -= 0.5
    x /= 3
    x **= 2
    return x


add(long_name_reuse, (0.4,), (-1.3,))
