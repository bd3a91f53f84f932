"""Derives the polynomials of the native elementary functions: `python benchmarks/polynomials.py`.

Each is the one of its degree whose greatest error over an interval is least, by Remez's exchange in mpmath: where
the error is extreme on as many points as there are unknowns, with signs in turn, none is better (J.-M. Muller,
Elementary Functions, 3rd ed. 2016, chapter 3). Writes `src/wengert/backends/native/vector_math/vector_coefficients.py`.
"""

import argparse
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpmath.ctx_mp import MPContext

mp = MPContext()
mp.prec = 220
TARGET = (
    Path(__file__).parent.parent / "src/wengert/backends/native/vector_math/vector_coefficients.py"
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A polynomial p to find.

    Attributes:
        function: what p(t) is near to.
        weight: what an error of p at t is worth in the result, relative to that.
        low, high: where.
        degrees: of p for floats of 64 and of 32 bits.
        meaning: what the table says of it.
    """

    function: Callable[[Any], Any]
    weight: Callable[[Any], Any]
    low: Any
    high: Any
    degrees: tuple[int, int]
    meaning: str


def _exp(r: Any) -> Any:
    return (mp.expm1(r) - r) / r**2 if r else mp.mpf(1) / 2


def _atanh(z: Any) -> Any:
    if not z:
        return mp.mpf(2) / 3
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) / s - 2) / z


def _atanh_less(z: Any) -> Any:
    return (_atanh(z) - mp.mpf(2) / 3) / z if z else mp.mpf(2) / 5


def _sin(z: Any) -> Any:
    if not z:
        return -mp.mpf(1) / 6
    r = mp.sqrt(z)
    return (mp.sin(r) / r - 1) / z


def _cos(z: Any) -> Any:
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z else mp.mpf(1) / 24


def _erf(x: Any) -> Any:
    """What is left of -log(erfc(x)) / x when its limit at 0 is taken off, by x."""
    slope = 2 / mp.sqrt(mp.pi)
    if x < mp.mpf(10) ** -40:
        return slope**2 / 2
    return (-mp.log(mp.erfc(x)) / x - slope) / x


HALF = mp.log(2) / 2 * mp.mpf("1.001")
QUARTER = mp.pi / 4 * mp.mpf("1.01")
ROOT = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.0001")

WANTED = {
    "EXP": Wanted(
        _exp, lambda r: r**2 / mp.exp(r), -HALF, HALF, (9, 4),
        "(exp(r) - 1 - r) / r², |r| ≤ log(2) / 2",
    ),
    "EXPM1": Wanted(
        _exp, lambda r: abs(r**2 / mp.expm1(r)) if r else mp.mpf(0), -HALF, HALF, (10, 5),
        "the same, where errors count in relation to exp(r) - 1",
    ),
    "LOG": Wanted(
        _atanh, lambda z: z, mp.mpf(0), ROOT**2, (6, 2),
        "(log((1 + s) / (1 - s)) / s - 2) / s², by s², of numbers from √½ to √2",
    ),
    "LOG_IN_PARTS": Wanted(
        _atanh_less, lambda z: z**2, mp.mpf(0), ROOT**2, (7, 2),
        "(log((1 + s) / (1 - s)) / s - 2 - 2 / 3 s²) / s⁴, by s², of the same numbers",
    ),
    "SIN": Wanted(
        _sin, lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)) if z else mp.mpf(0),
        mp.mpf(0), QUARTER**2, (5, 2),
        "(sin(r) / r - 1) / r², by r², |r| ≤ π / 4",
    ),
    "COS": Wanted(
        _cos, lambda z: z**2 / mp.cos(mp.sqrt(z)), mp.mpf(0), QUARTER**2, (5, 2),
        "(cos(r) - 1 + r² / 2) / r⁴, by r², |r| ≤ π / 4",
    ),
    "ERF": Wanted(
        _erf, lambda x: x**2 * mp.erfc(x) / mp.erf(x) if x else mp.mpf(0), mp.mpf(0), mp.mpf(6), (23, 8),
        "(-log(erfc(x)) - 2 / √π x) / x², 0 ≤ x ≤ 6",
    ),
}  # fmt: skip

IN_PARTS = {
    "LOG_OF_2": (mp.log(2), 2, "log(2)"),
    "TWO_THIRDS": (mp.mpf(2) / 3, 2, "2 / 3"),
    "HALF_PI": (mp.pi / 2, 3, "π / 2"),
    "SLOPE_OF_ERF": (2 / mp.sqrt(mp.pi), 2, "2 / √π"),
}


# --- Remez's exchange -------------------------------------------------------------------------


def minimax(w: Wanted, degree: int, fixed: list[Any]) -> list[Any]:
    """The coefficients, least power first, of which the first ones are fixed."""
    count = degree + 2 - len(fixed)
    points = [inside(w, mp.mpf(2 * k + 1) / (2 * count)) for k in range(count)]
    grid = [inside(w, mp.mpf(k) / 600) for k in range(601)]
    known = [(t, w.weight(t), w.function(t) - mp.polyval(fixed[::-1], t)) for t in grid]
    found = fixed
    for _ in range(20):
        found, level = through(w, fixed, points)
        errors = [
            (t, weight * (f - t ** len(fixed) * mp.polyval(found[len(fixed) :][::-1], t)))
            for t, weight, f in known
        ]
        points = extremes(errors, count)
        if len(points) < count or max(abs(e) for _, e in errors) < level * mp.mpf("1.01"):
            break
    return found


def inside(w: Wanted, part: Any) -> Any:
    """A point of the interval, as far from its ends as Chebyshev's are."""
    return mp.chop(w.low + (w.high - w.low) * mp.sin(mp.pi * part / 2) ** 2, tol=mp.mpf(10) ** -50)


def through(w: Wanted, fixed: list[Any], points: list[Any]) -> tuple[list[Any], Any]:
    """The polynomial whose errors at some points are the same, with signs in turn; and how great they are."""
    count, first = len(points), len(fixed)
    rows, right = mp.matrix(count, count), mp.matrix(count, 1)
    for k, t in enumerate(points):
        weight = w.weight(t)
        for j in range(count - 1):
            rows[k, j] = weight * t ** (first + j)
        rows[k, count - 1] = (-1) ** k
        right[k] = weight * (w.function(t) - mp.polyval(fixed[::-1], t))
    *found, level = mp.lu_solve(rows, right)
    return fixed + found, abs(level)


def extremes(errors: list[tuple[Any, Any]], count: int) -> list[Any]:
    """Where the error is greatest, with signs in turn."""
    runs: list[tuple[Any, Any]] = []
    for t, e in errors:
        if runs and (e > 0) == (runs[-1][1] > 0):
            if abs(e) > abs(runs[-1][1]):
                runs[-1] = t, e
        elif e:
            runs.append((t, e))
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return [t for t, _ in runs]


def coefficients(w: Wanted, code: str) -> list[Any]:
    """As machine numbers: all rounded at once, or one after the other with the rest fitted again; what is nearer."""
    degree = w.degrees[code == "f32"]
    at_once = [rounded(c, code) for c in minimax(w, degree, [])]
    in_turn: list[Any] = []
    for k in range(degree + 1):
        in_turn.append(rounded(minimax(w, degree, in_turn)[k], code))
    return min(at_once, in_turn, key=lambda found: error(w, found))


def rounded(value: Any, code: str) -> Any:
    number = float(value)
    return mp.mpf(struct.unpack("<f", struct.pack("<f", number))[0] if code == "f32" else number)


def error(w: Wanted, found: list[Any]) -> Any:
    """The greatest error, rounded coefficients included."""
    steps = [w.low + (w.high - w.low) * k / 1000 for k in range(1001)]
    return max(abs(w.weight(t) * (w.function(t) - mp.polyval(found[::-1], t))) for t in steps)


def in_parts(value: Any, count: int, code: str) -> tuple[float, ...]:
    """A number as a sum of machine numbers, none of which is above what is left."""
    found: list[float] = []
    for _ in range(count):
        rest = value - mp.fsum(found)
        digits = 53 if code == "f64" else 24
        places = digits - 1 - int(mp.floor(mp.log(rest, 2)))
        found.append(float(mp.floor(rest * mp.mpf(2) ** places) / mp.mpf(2) ** places))
    return tuple(found)


def text() -> str:
    lines = [
        '"""Polynomials of elementary functions, least power first: for floats of 64 bits, and of 32.',
        "",
        "Written by `benchmarks/polynomials.py`, which says how they are found.",
        '"""',
        "",
        "# fmt: off",
    ]
    for name, w in WANTED.items():
        lines += ["", f"{name}: dict[str, tuple[float, ...]] = {{"]
        for code in ("f64", "f32"):
            found = coefficients(w, code)
            lines += [f'    "{code}": (  # off by 2 ** {float(mp.log(error(w, found), 2)):.1f}']
            lines += [f"        {float(c)!r}," for c in found]
            lines += ["    ),"]
        lines += ["}", f'"""{w.meaning}."""']
    for name, (value, count, meaning) in IN_PARTS.items():
        lines += ["", f"{name}: dict[str, tuple[float, ...]] = {{"]
        lines += [f'    "{code}": {in_parts(value, count, code)},' for code in ("f64", "f32")]
        lines += ["}", f'"""{meaning}, as a sum: each part is the rest, cut off."""']
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--print", action="store_true", help="write to the screen instead")
    options = parser.parse_args()
    if options.print:
        print(text(), end="")
    else:
        TARGET.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
