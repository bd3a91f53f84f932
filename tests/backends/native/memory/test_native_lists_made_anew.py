"""Lists of lists, of dictionaries and of objects in native code: made anew by loops, longer and shorter."""

import math
import warnings

import pytest

import wengert as wg
from wengert.errors import NativeWarning

PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def grid_by_copies(x):
    grid = [[x * i + j for j in range(3)] for i in range(3)]
    for _ in range(3):
        new = [row[:] for row in grid]
        for i in range(3):
            for j in range(3):
                new[i][j] = grid[i][(j + 1) % 3] * 0.5 + grid[(i + 1) % 3][j] * x
        grid = new
    return sum(sum(row) for row in grid)


@program
def rows_of_growing_length(x):
    rows = [[x]]
    for k in range(12):
        new = []
        for row in rows:
            moved = [math.sin(v) * x for v in row]
            new.append(moved + [x * k])  # noqa: RUF005
        new.append([x * k, 1.0])
        rows = new
    return sum(sum(row) * len(row) for row in rows)


@program
def list_of_growing_length(x):
    values = [x]
    for k in range(60):
        new = []
        for v in values:
            moved = math.sin(v) * math.cos(v)
            new.append(moved * x)
        new.append(x * k)
        values = new
    return sum(values)


@program
def shallow_copy(x):
    grid = [[x * i for i in range(3)] for _ in range(3)]
    other = grid[:]
    for k in range(3):
        other[k][0] = x * k + grid[k][1]
    return sum(sum(row) for row in grid) * other[0][0]


@program
def two_grids_in_turn(x):
    a = [[0.0] * 3 for _ in range(3)]
    for s in range(4):
        b = []
        for i in range(3):
            row = []
            for j in range(3):
                moved = a[j][i] + x * (i - j) * s
                row.append(moved)
            b.append(row)
        a, b = b, a
    return sum(a[i][j] ** 2 * (i + 1) for i in range(3) for j in range(3))


@program
def records_made_anew(x):
    rows = [{"a": x * i, "v": [x, i * 1.0]} for i in range(3)]
    for _ in range(3):
        rows = [{"a": r["a"] + r["v"][0], "v": [r["v"][1], r["a"]]} for r in rows]
    return sum(r["a"] * r["v"][0] for r in rows)


@program
def records_until_the_end(x):
    rows = []
    t = 0.0
    while t < 3.0:
        t += 0.1 * x
        rows.append({"t": t, "y": t * x})
    total = 0.0
    for i in range(1, len(rows)):
        total += (rows[i]["t"] - rows[i - 1]["t"]) * rows[i]["y"]
        rows[i]["y"] = total
    return total + sum(row["y"] for row in rows)


@program
def pairs_replaced_as_they_are_walked_over(x):
    pairs = [(x * i, i) for i in range(5)]
    for i, (a, k) in enumerate(pairs):
        pairs[i] = (a + x, k + 1)
    for i, (a, k) in enumerate(pairs):
        if k > 3:
            pairs[i - 1] = (a * a, k)
    return sum(a * k for a, k in pairs)


NATIVE = {grid_by_copies, list_of_growing_length, records_until_the_end, two_grids_in_turn}
NATIVE |= {pairs_replaced_as_they_are_walked_over, rows_of_growing_length}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("derived", [False, True])
def test_native_code_gives_what_python_gives(f, derived):
    plain = wg.grad(f) if derived else f
    native = wg.jit(plain, strict=f in NATIVE)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if f in NATIVE else "ignore", NativeWarning)
        for x in (1.3, 0.7, 2.0):
            for _ in range(20):  # memory that was overrun shows up later
                assert native(x) == pytest.approx(plain(x), rel=1e-12)
