"""Lists of lists, records and pairs, whose items are chosen by numbers that are computed, as native code."""

import copy

import numpy as np
import pytest
import trees

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def native(f, *args, gradient=True):
    """Value and gradient are native, and what the Python form gives, to their types."""
    for form in (f, wg.value_and_grad(f)) if gradient else (f,):
        compiled = wg.jit(form, strict=True)
        mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
        found, expected = compiled(*mine), form(*theirs)
        trees.assert_close(found, expected, rel=1e-12)
        assert type(found) is type(expected)
        assert compiled.exits == 0


# --- chosen by number -------------------------------------------------------------------------


def weighted_points(x):
    points = [(x, 1.0), (2.0, x), (0.5, 3.0)]
    total = 0.0
    for k in range(3):
        a, b = points[k]
        total += a * b * k
    return total


def springs(x, n):
    ends, places = [(0, 1), (1, 2), (0, 2)], [x, 2 * x, x * x]
    total = 0.0
    for k in range(n):
        for a, b in ends:
            total += (places[a] - places[b]) ** 2 * (k + 1)
    return total


def first_large(x, n):
    sizes, others = [x, 2 * x, 3 * x], [1, x, 2]
    k = 0
    while sizes[k] < n:
        k += 1
    return sizes[k] + others[k]


def masses(x, n):
    bodies = [{"mass": x, "spring": 1.0}, {"mass": 2.0, "spring": x}]
    total = 0.0
    for _ in range(n):
        for body in bodies:
            total += body["mass"] * body["spring"]
    return total


def truss(data, n):
    total = 0.0
    for _ in range(n):
        for (a, b), area in zip(data["bars"], data["areas"], strict=True):
            total += a * area + b
    return total


def test_items_by_number():
    native(weighted_points, 1.5)
    native(springs, 1.5, 3)
    native(first_large, 0.9, 2)
    native(masses, 1.5, 2)
    native(truss, {"bars": [(1.0, 2.0), (3.0, 4.0)], "areas": [0.5, 0.25]}, 2)
    native(lambda x, k: (("a", x), ("a", 2 * x))[k][1], 1.0, 1, gradient=False)


@pytest.mark.parametrize("k", [0, 1, 2, -1])
def test_numbers_of_several_types(k):
    native(lambda k: [1, 2.5, 2][k], k, gradient=False)


def test_a_number_out_of_range():
    compiled = wg.jit(lambda k: [1, 2.5, 2][k], strict=True)
    with pytest.raises(IndexError):
        compiled(3)


# --- lists of lists ---------------------------------------------------------------------------


def table(x):
    t = [[x, 0.0], [1.0, 2.0]]
    for i in range(2):
        for j in range(2):
            t[i][j] += x * i
    return t[1][1] * t[1][0]


def determinant(x):
    m = [[2.0, x, 1.0], [x, 3.0, 0.5], [1.0, 0.5, 4.0]]
    for k in range(3):
        for i in range(k + 1, 3):
            factor = m[i][k] / m[k][k]
            for j in range(k, 3):
                m[i][j] -= factor * m[k][j]
    product = 1.0
    for k in range(3):
        product *= m[k][k]
    return product


def of_several_lengths(x):
    t = [[x, 1.0], [2.0]]
    for row in range(2):
        t[row][0] *= 2
    return t[0][0] + t[1][0] * t[0][1]


def changing_places(x, n):
    t = [[x, 0.0], [1.0, 2.0]]
    for _ in range(n):
        t[0], t[1] = t[1], t[0]
    return t[0][0]


def rows_anew(x, n):
    t = [[x, 0.0], [1.0, 2.0]]
    for k in range(n):
        t[k % 2] = [t[k % 2][1], t[k % 2][0] * x]
    return t[0][0]


def rows_that_are_appended(x, n):
    t = []
    for k in range(n):
        x = x * 1.5
        t.append([x * k, 1.0])
    for k in range(n):
        t[k][1] += x
    return t[1][1]


def counts(n):
    grid = [[0, 0, 0], [0, 0, 0]]
    for k in range(n):
        grid[k % 2][k % 3] += k
    return grid[0][0] + grid[1][2]


def seen_by_another_name(x, n):
    t = [[x, 0.0], [1.0, 2.0]]
    row = t[0]
    for _ in range(n):
        t[0][0] += 1.0
    return row[0]


def test_tables():
    native(table, 1.5)
    native(determinant, 0.9)
    native(of_several_lengths, 2.0)
    native(changing_places, 1.1, 3)
    native(changing_places, 1.1, 2)
    native(seen_by_another_name, 1.1, 3)
    native(rows_anew, 1.1, 3, gradient=False)
    native(rows_that_are_appended, 1.5, 3)
    native(counts, 7, gradient=False)
    native(lambda n: [[k * j for j in range(n)] for k in range(n)], 3, gradient=False)


def test_an_item_of_a_table_out_of_range():
    def f(n):
        t = [[1.0, 2.0], [3.0, 4.0]]
        for k in range(n):
            t[k][1] += 1.0
        return t[0][1]

    compiled = wg.jit(f, strict=True)
    assert compiled(2) == 3.0
    with pytest.raises(IndexError):
        compiled(3)


def test_arrays_beside_tables():
    def f(a):
        t = [[0.0, 0.0], [0.0, 0.0]]
        for i in range(len(a)):
            t[i % 2][0] += a[i]
        return t[0][0] * t[1][0]

    native(f, np.array([1.0, 2.0, 3.0]))
