"""Lists and tuples as arguments: numbers, arrays of one shape, and what is built of such, however many."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import trees

import wengert as wg
from wengert.errors import NativeWarning


def cubes(xs):
    total = 0.0
    for x in xs:
        total += x * x * x
    return total


def neighbours(xs):
    total = 0.0
    for k in range(len(xs) - 1):
        total += xs[k] * xs[k + 1]
    return total


def product(ms):
    whole = np.eye(2)
    for m in ms:
        whole = whole @ m
    return np.trace(whole)


def by_number(ms):
    total = 0.0
    for k in range(len(ms)):
        total += np.sum(ms[k] ** 2) * ms[k - 1][0, 0]
    return total


def parts(ms):
    return sum(np.sum(np.sin(m) * ms[0]) for m in ms)


def matrices(count):
    return list(np.random.default_rng(count).normal(size=(count, 2, 2)))


NUMBERS = [[0.5 * k for k in range(9)], list(np.arange(9.0)), list(range(9)), (0.25,) * 70]
SEQUENCES = [(f, xs) for f in (cubes, neighbours) for xs in NUMBERS]
SEQUENCES += [(f, matrices(count)) for f in (product, by_number, parts) for count in (7, 12, 70)]
SEQUENCES += [
    (parts, [m.astype(np.float32) for m in matrices(8)]),
    (parts, [m[:, ::-1] for m in matrices(8)]),
]


@pytest.mark.parametrize(("f", "items"), SEQUENCES)
def test_gradients_by_the_items_of_a_sequence(f, items):
    compiled, g = wg.jit(wg.grad(f), strict=True), wg.grad(f)
    for given in (items, items[:-1], items[1:]):
        found, expected = compiled(given), g(given)
        trees.assert_close(found, expected, rel=1e-12)
        assert type(found) is type(expected) is type(given)
        assert list(map(type, found)) == list(map(type, expected))
        assert [getattr(x, "dtype", None) for x in found] == [getattr(x, "dtype", None) for x in expected]  # fmt: skip
    assert compiled.exits == 0


def test_arrays_of_several_shapes_are_left_to_python():
    compiled = wg.jit(wg.grad(parts))
    items = [*matrices(8), np.ones((1, 2))]
    with pytest.warns(NativeWarning, match="of different shapes"):
        found = compiled(items)
    trees.assert_close(found, wg.grad(parts)(items))
    trees.assert_close(compiled(matrices(8)), wg.grad(parts)(matrices(8)))


def test_what_is_in_a_list_is_changed_and_handed_back_as_in_python():
    def changed(ms):
        ms[1][0, 0] = 5.0
        return np.sum(ms[1])

    items, expected = matrices(8), matrices(8)
    with pytest.warns(NativeWarning):
        value = wg.jit(changed)(items)
    assert value == changed(expected)
    trees.assert_close(items, expected)
    with pytest.warns(NativeWarning):
        assert wg.jit(lambda ms: ms[2])(items) is items[2]


def test_a_tuple_after_a_list():
    compiled = wg.jit(wg.grad(product), strict=True)
    for given in (matrices(8), tuple(matrices(8))):
        assert type(compiled(given)) is type(given)


# --- rows of data -----------------------------------------------------------------------------


@dataclass
class Observation:
    t: float
    y: float
    weight: float = 1.0


class Point(NamedTuple):
    t: float
    y: float


def of_pairs(w, rows):
    return sum((w[0] * t + w[1] - y) ** 2 for t, y in rows)


def of_rows(w, rows):
    total = 0.0
    for k in range(len(rows)):
        total += (w[0] * rows[k][0] - rows[k - 1][1]) ** 2
    return total


def of_objects(w, rows):
    total = 0.0
    for row in rows:
        if row.y > 0.5:
            total += (w[0] * row.t + w[1] - row.y) ** 2
    return total


def of_dictionaries(w, rows):
    return sum([np.sin(w[0] * row["t"]) * row["y"] for row in rows])


def of_matrices(w, rows):
    total = 0.0
    for weight, (m, v) in rows:
        total += weight * np.sum(np.tanh(m @ v * w[0]))
    return total


def of_long_rows(w, rows):
    total = 0.0
    for i in range(len(rows)):
        for j in range(len(rows[i])):
            total += w[j % 2] * rows[i][j] ** 2 * w[0]
    return total + len(rows[0])


def of_rows_walked_over(w, rows):
    return sum(sum(a * w[0] for a in row) ** 2 for row in rows)


def pairs(count):
    return [(0.1 * k, 0.2 * k - 0.3) for k in range(count)]


DATA = {
    "pairs": (of_pairs, pairs),
    "lists": (of_rows, lambda n: list(map(list, pairs(n)))),
    "tuples by number": (of_rows, lambda n: tuple(pairs(n))),
    "named tuples": (of_objects, lambda n: [Point(*pair) for pair in pairs(n)]),
    "data classes": (of_objects, lambda n: [Observation(*pair) for pair in pairs(n)]),
    "dictionaries": (of_dictionaries, lambda n: [{"t": t, "y": y} for t, y in pairs(n)]),
    "long rows": (of_long_rows, lambda n: [[0.1 * i * j for j in range(n)] for i in range(n)]),
    "long tuples": (of_rows_walked_over, lambda n: [tuple(range(i, i + 9)) for i in range(n)]),
    "arrays in tuples": (
        of_matrices,
        lambda n: [(t, (np.full((2, 3), t), np.arange(3.0))) for t, _ in pairs(n)],
    ),
}


@pytest.mark.parametrize("name", DATA)
def test_rows_of_data(name):
    f, rows = DATA[name]
    w = np.array([0.7, -0.2])
    compiled, g = wg.jit(wg.value_and_grad(f), strict=True), wg.value_and_grad(f)
    for count in (7, 20, 100):
        trees.assert_close(compiled(w, rows(count)), g(w, rows(count)), rel=1e-12)
    assert compiled.exits == 0


def test_rows_that_differ_are_left_to_python():
    w = np.array([0.7, -0.2])
    for rows in ([*pairs(8), (1, 2.0)], [*pairs(8), (1.0, 2.0, 3.0)][:8], [*pairs(8), [1.0, 2.0]]):
        expected = wg.grad(of_pairs)(w, rows)
        compiled = wg.jit(wg.grad(of_pairs))
        np.testing.assert_allclose(compiled(w, rows), expected, rtol=1e-13)


def test_rows_that_change_are_the_callers():
    def changed(w, rows):
        for row in rows:
            row.y = row.y * w
        rows[0].t = 5.0
        return sum(row.y for row in rows)

    rows, expected = ([Observation(*pair) for pair in pairs(9)] for _ in range(2))
    with pytest.warns(NativeWarning):
        value = wg.jit(changed)(2.0, rows)
    assert value == changed(2.0, expected)
    assert rows == expected


def test_rows_put_together_are_of_the_form_of_rows():
    """An item of a list may be a tuple."""
    rows = [tuple(0.1 * i * j for j in range(8)) for i in range(8)]
    f = lambda w, rows: rows[0] + rows[1][2:]
    with pytest.warns(NativeWarning, match="a list or a tuple"):
        found = wg.jit(f)(1.0, rows)
    assert type(found) is tuple
    assert found == f(1.0, rows)
