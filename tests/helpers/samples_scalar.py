"""Arguments for every elementwise op that has a rule: `SAMPLES[name]` is a list of (args, options).

Several places of each op's domain, none of them a kink; kinks have tests of their own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Sample = tuple[tuple[Any, ...], dict[str, Any]]


def _at(*points: Any, **options: Any) -> list[Sample]:
    return [(p if isinstance(p, tuple) else (p,), options) for p in points]


PLANE = _at((1.5, -0.7), (-2.25, 3.5), (0.3, 11.0))
LINE = _at(-2.3, -0.4, 0.7, 3.1)
POSITIVE = _at(0.02, 0.7, 1.3, 25.0)
MATRIX = np.array([[0.3, -1.2, 2.5], [1.7, 0.4, -0.6]])
ROW = np.array([1.1, -0.9, 0.8])
POINTS = np.array([0.25, 1.5, 3.75])

SAMPLES: dict[str, list[Sample]] = {
    # arithmetic
    "add": [*PLANE, ((MATRIX, ROW), {}), ((2.0, ROW), {})],
    "sub": [*PLANE, ((MATRIX, ROW), {}), ((2.0, ROW), {})],
    "mul": [*PLANE, ((MATRIX, ROW), {}), ((2.0, ROW), {})],
    "div": [*PLANE, ((MATRIX, ROW), {}), ((2.0, ROW), {})],
    "neg": [*LINE, ((MATRIX,), {})],
    "pos": [*LINE, ((MATRIX,), {})],
    "mod": _at((7.3, 2.1), (-7.3, 2.1), (7.3, -2.1), (MATRIX, 0.7)),
    "fmod": _at((7.3, 2.1), (-7.3, 2.1), (7.3, -2.1), (MATRIX, 0.7)),
    "remainder": _at((7.3, 2.1), (-7.3, 2.1), (7.3, -2.1)),
    "floordiv": _at((7.3, 2.1), (-7.3, 2.1), (MATRIX, 0.7)),
    "reciprocal": _at(-2.3, 0.4, MATRIX),
    "square": [*LINE, ((MATRIX,), {})],
    "fma": _at((1.5, -0.7, 2.0), (0.3, 11.0, -4.0)),
    # powers and roots
    "pow": _at((1.5, 2.3), (0.2, -1.7), (2.0, 3), (-1.5, 2), (POINTS, 1.5), (2.0, ROW)),
    "float_power": _at((1.5, 2.3), (0.2, -1.7), (POINTS, 1.5)),
    "ieee_pow": _at((1.5, 2.3), (0.2, -1.7), (POINTS, 1.5)),
    "pow_derivative": [
        *_at((1.5, 2.3), (0.2, -1.7), (POINTS, 1.5), order=1),
        *_at((1.5, 2.3), (0.8, -1.7), order=2),
    ],
    "falling": [*_at(2.3, -0.7, order=2, derivative=0), *_at(2.3, order=3, derivative=1)],
    "sqrt": [*POSITIVE, ((POINTS,), {})],
    "cbrt": _at(-2.3, 0.4, POINTS),
    "hypot": _at((3.0, -4.0), (1.0, 2.0, -2.5), (MATRIX, ROW)),
    "hypot1": _at(-2.3, 0.4, POINTS),
    # exponentials and logarithms
    "exp": [*LINE, ((MATRIX,), {})],
    "exp2": [*LINE, ((MATRIX,), {})],
    "expm1": [*LINE, ((MATRIX,), {})],
    "log": [*POSITIVE, ((POINTS,), {})],
    "log_base": _at((5.0, 2.0), (0.3, 10.0)),
    "log2": [*POSITIVE, ((POINTS,), {})],
    "log10": [*POSITIVE, ((POINTS,), {})],
    "log1p": _at(-0.9, -0.1, 0.2, 5.0, POINTS),
    "logaddexp": _at((1.5, -0.7), (30.0, -20.0), (MATRIX, ROW)),
    "logaddexp2": _at((1.5, -0.7), (30.0, -20.0), (MATRIX, ROW)),
    "expit": _at(-3.0, 0.4, 5.0, MATRIX),
    "safe_log": [*POSITIVE, ((POINTS,), {})],
    # trigonometry
    "sin": [*LINE, ((MATRIX,), {})],
    "cos": [*LINE, ((MATRIX,), {})],
    "tan": _at(-1.2, 0.4, 2.5, MATRIX),
    "asin": _at(-0.9, -0.1, 0.6, MATRIX / 3),
    "acos": _at(-0.9, -0.1, 0.6, MATRIX / 3),
    "atan": [*LINE, ((MATRIX,), {})],
    "atan2": _at((1.5, -0.7), (-2.25, 3.5), (MATRIX, ROW)),
    "sinh": [*LINE, ((MATRIX,), {})],
    "cosh": [*LINE, ((MATRIX,), {})],
    "tanh": [*LINE, ((MATRIX,), {})],
    "sech": [*LINE, ((MATRIX,), {})],
    "asinh": [*LINE, ((MATRIX,), {})],
    "acosh": _at(1.1, 2.5, 30.0, POINTS + 1),
    "atanh": _at(-0.9, -0.1, 0.6, MATRIX / 3),
    "sinc": _at(-2.3, -0.2, 0.05, 0.7, 4.4, MATRIX),
    "sinc_derivative": [
        *_at(-2.3, 0.05, 4.4, MATRIX, order=1),
        *_at(-2.3, 0.05, 4.4, order=2),
    ],
    "degrees": [*LINE, ((MATRIX,), {})],
    "radians": [*LINE, ((MATRIX,), {})],
    # special functions
    "erf": _at(-2.3, -0.4, 0.7, 3.1),
    "erfc": _at(-2.3, -0.4, 0.7, 3.1),
    "gamma": _at(-1.6, 0.3, 1.2, 4.5),
    "lgamma": _at(-1.6, 0.3, 1.2, 4.5, 40.0),
    "i0": _at(-2.3, 0.4, 5.0, 30.0, MATRIX),
    "bessel_i": [*_at(-2.3, 0.4, 30.0, MATRIX, order=1), *_at(-2.3, 5.0, order=2)],
    "polygamma": [*_at(0.3, 1.2, 4.5, order=0), *_at(-1.6, 0.3, 4.5, order=1)],
    # kinks
    "maximum": [*PLANE, ((MATRIX, ROW), {})],
    "minimum": [*PLANE, ((MATRIX, ROW), {})],
    "fmax": [*PLANE, ((MATRIX, ROW), {})],
    "fmin": [*PLANE, ((MATRIX, ROW), {})],
    "clip": _at((0.4, -1.0, 1.0), (-2.0, -1.0, 1.0), (1.5, 2.0, 1.0), (MATRIX, -0.5, 0.5)),
    "abs": _at(-2.3, 0.4, MATRIX, 1.5 - 2.0j),
    "fabs": _at(-2.3, 0.4, MATRIX),
    "unit": _at(-2.3, 0.4, 1.5 - 2.0j),
    "copysign": [*PLANE, ((MATRIX, ROW), {})],
    "nextafter": _at((1.5, 2.0)),
    "nan_to_num": _at(-2.3, 0.4, MATRIX),
    "safe_div": [*PLANE, ((MATRIX, ROW), {})],
    "direction_cosine": [*PLANE, ((MATRIX, ROW), {})],
    "ieee_div": [*PLANE, ((MATRIX, ROW), {})],
    # linear functions
    "where": _at((True, 1.5, 2.0), (MATRIX > 0, MATRIX, ROW)),
    "ldexp": _at((1.5, 3), (-0.7, -2)),
    "to_float": _at(1.5, -2),
    "number_like": _at((1.5, np.float64(2.0)), (-0.7, 3)),
    # complex numbers
    "real": _at(1.5 - 2.0j, 0.7, MATRIX + 1j),
    "imag": _at(1.5 - 2.0j, MATRIX + 1j),
    "i_imag": _at(1.5 - 2.0j, MATRIX + 1j * MATRIX[::-1]),
    "conj": _at(1.5 - 2.0j, 0.7, MATRIX + 1j),
    "to_complex": _at(1.5, 2.0 - 1.0j),
    "complex_of_parts": _at((1.5, -0.7)),
    "phase": _at(1.5 - 2.0j, -0.3 + 0.1j),
    "angle": [*_at(1.5 - 2.0j, MATRIX + 1j), *_at(1.5 - 2.0j, deg=True)],
    # piecewise constant
    "floor": _at(-2.3, 0.4, MATRIX),
    "ceil": _at(-2.3, 0.4, MATRIX),
    "trunc": _at(-2.3, 0.4, MATRIX),
    "rint": _at(-2.3, 0.4, MATRIX + 0.05),
    "round": _at(-2.3, (0.4321, 2)),
    "around": _at(-2.3, (0.4321, 2), MATRIX + 0.05),
    "to_int": _at(-2.3, 7.9),
    "heaviside": _at((-2.3, 0.5), (0.4, 0.5), (MATRIX, 0.5)),
    "sign": _at(-2.3, 0.4, MATRIX),
    "sign_of_number": _at(-2.3, 0.4),
    "signbit": _at(-2.3, 0.4, MATRIX),
    "ulp": _at(1.5),
    "spacing": _at(1.5, MATRIX),
    "isfinite": _at(1.5, MATRIX),
    "isinf": _at(1.5, MATRIX),
    "isnan": _at(1.5, MATRIX),
    "isclose": _at((1.5, 1.6)),
    "is_close": _at((1.5, 1.6), (MATRIX, 1.0)),
    "isreal": _at(1.5, MATRIX),
    "iscomplex": _at(1.5, MATRIX),
    "allclose": _at((MATRIX, MATRIX)),
    "array_equal": _at((MATRIX, MATRIX)),
    "logical_and": _at((MATRIX, ROW)),
    "logical_or": _at((MATRIX, ROW)),
    "logical_xor": _at((MATRIX, ROW)),
    "logical_not": _at(MATRIX),
    "bitand": _at((6, 3)),
    "bitor": _at((6, 3)),
    "bitxor": _at((6, 3)),
    "invert": _at(6),
    "lshift": _at((6, 3)),
    "rshift": _at((6, 3)),
    "comb": _at((6, 3)),
    "factorial": _at(6),
    "gcd": _at((12, 18)),
    "lcm": _at((12, 18)),
    "isqrt": _at(12),
    "perm": _at((6, 3)),
}
