"""Identities by which an expression becomes simpler: what stands left may be replaced by what stands right.

*Exact* ones change no result, NaN and infinities included, but for the sign of a zero. *Rounding* ones are true of
real numbers and may change the last digits. *Finite-only* ones are wrong where an operand is infinite or NaN, or where
the left side is not defined.

*Collecting* ones merge integer factors of one expression; they round like any product by an integer, and are for
derivatives only: what a user wrote stays as it was written.

*Moving* ones (exact) and *gathering* ones (which round) take signs, factors and summands to where they can be merged
with others. That pays in a graph, whose derivatives are taken again and again. It costs an operation where what is
taken apart is used elsewhere as well, so that derivative code, of which one derivative is taken, goes without.

A pair is two functions of the same operands. A literal matches itself; an operand that occurs twice matches
the same expression twice; `i` and `j` match integers only. The right side is never larger than the left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops.elementwise import abs_, conj, cos, exp, log, maximum, minimum, sin, sqrt

Side = Callable[..., Any]
Identity = tuple[Side, Side]

EXACT: list[Identity] = [
    (lambda x: x + x, lambda x: 2 * x),
    (lambda x: x - (-x), lambda x: 2 * x),
    (lambda x, y: (-x) * (-y), lambda x, y: x * y),
    (lambda x, y: (-x) / (-y), lambda x, y: x / y),
    (lambda x: cos(-x), lambda x: cos(x)),
    (lambda x: sin(-x), lambda x: -sin(x)),
    (lambda x: abs_(-x), lambda x: abs_(x)),
    (lambda x: abs_(abs_(x)), lambda x: abs_(x)),
    (lambda x: conj(conj(x)), lambda x: x),
    (lambda x: maximum(x, x), lambda x: x),
    (lambda x: minimum(x, x), lambda x: x),
]

MOVING: list[Identity] = [
    (lambda x, y: -(x - y), lambda x, y: y - x),
    (lambda x, y: x / (-y), lambda x, y: -(x / y)),
    (lambda x, y: (-x) - y, lambda x, y: -(x + y)),
]

ROUNDING: list[Identity] = [
    (lambda x, y, z: x * y + x * z, lambda x, y, z: x * (y + z)),
    (lambda x, y, z: x * y - x * z, lambda x, y, z: x * (y - z)),
    (lambda x, y: x + x * y, lambda x, y: x * (1 + y)),
    (lambda x, y: (x + y) - y, lambda x, y: x),
    (lambda x, y: (x - y) + y, lambda x, y: x),
    (lambda x, y: exp(x) * exp(y), lambda x, y: exp(x + y)),
    (lambda x, y: exp(x) / exp(y), lambda x, y: exp(x - y)),
    (lambda x: sqrt(x) * sqrt(x), lambda x: x),
    (lambda x: sin(x) * sin(x) + cos(x) * cos(x), lambda x: 1.0),
    (lambda x, y, z: (x / y) / z, lambda x, y, z: x / (y * z)),
]

FINITE_ONLY: list[Identity] = [
    (lambda x: x - x, lambda x: 0.0),
    (lambda x: x / x, lambda x: 1.0),
    (lambda x: x * 0, lambda x: 0.0),
    (lambda x: x * 0.0, lambda x: 0.0),
    (lambda x, y: (x * y) / y, lambda x, y: x),
    (lambda x, y: (x / y) * y, lambda x, y: x),
    (lambda x: log(exp(x)), lambda x: x),
    (lambda x: exp(log(x)), lambda x: x),
]

COLLECTING: list[Identity] = [
    (lambda i, j, x: i * x + j * x, lambda i, j, x: (i + j) * x),
    (lambda i, j, x: i * x - j * x, lambda i, j, x: (i - j) * x),
    (lambda i, x: i * x + x, lambda i, x: (i + 1) * x),
    (lambda i, x: i * x - x, lambda i, x: (i - 1) * x),
    (lambda i, x: x - i * x, lambda i, x: (1 - i) * x),
]

GATHERING: list[Identity] = [
    (lambda i, x, y: (i * x) * y, lambda i, x, y: i * (x * y)),
    (lambda i, x: -(i * x), lambda i, x: (-i) * x),
    (lambda x, y: x + (y + x), lambda x, y: 2 * x + y),
    (lambda i, x, y: x + (y + i * x), lambda i, x, y: (i + 1) * x + y),
    (lambda i, x, y: i * x + (y + x), lambda i, x, y: (i + 1) * x + y),
    (lambda i, j, x, y: i * x + (y + j * x), lambda i, j, x, y: (i + j) * x + y),
]

GROUPS: dict[str, list[Identity]] = {
    "exact": [*EXACT, *MOVING],
    "rounding": [*EXACT, *MOVING, *ROUNDING],
    "finite": [*EXACT, *MOVING, *ROUNDING, *FINITE_ONLY],
    "derivatives of terms": [*COLLECTING, *GATHERING],
    "derivative code": [*EXACT, *COLLECTING],
}
"""What a graph may use, by how much it may change; what its derivatives use as well; what derivative code uses."""
