"""Tuples whose length only the run knows: they index as tuples do, are keys, and are compared and joined."""

import itertools

import numpy as np
import pytest
from differences import agree

import wengert as wg

AT = np.array([[1.21, 0.33, -0.52], [0.25, -1.41, 0.63], [0.47, 0.91, 1.83]])
WEIGHTS = np.arange(9.0).reshape(3, 3)


def of_an_array(a):
    return np.sum(a[tuple(np.array([1, 2]))] ** 2)


def of_the_least(a):
    place = tuple(np.argwhere(a == a.min())[0])
    return a[place] ** 2 + np.sum(a)


def written_at(a):
    place = tuple(np.argwhere(a == a.min())[0])
    b = a.copy()
    b[place] = 0.0
    b[tuple(np.array([0, 1]))] *= 3.0
    return np.sum(b * WEIGHTS)


def of_a_list_that_grew(a):
    place = []
    for k in range(2):
        place.append(k + 1)  # noqa: PERF401
    return np.sum(a[tuple(place)] ** 2) + np.sum(a[tuple(int(k) for k in np.array([1, 2]))])


def starred(a):
    return np.sum(a[(*np.array([1, 2]),)] ** 2) + np.sum(a[(int(1.2), *np.array([2]))])


def at(a, *place):
    return a[place]


def given_one_by_one(a):
    return np.sum(at(a, *np.array([1, 2])) ** 2)


def every_index(a):
    total = 0.0
    for index in np.ndindex(a.shape):
        total += np.sum(WEIGHTS[index] * a[index] ** 2)
    return total


def every_element(a):
    total = 0.0
    for (i, j), value in np.ndenumerate(a):
        total += WEIGHTS[i, j] * value**2
    return total + sum(np.sum(value * a[k]) for k, value in np.ndenumerate(a))


def every_product(a):
    total = 0.0
    for index in itertools.product(*(range(n) for n in a.shape)):
        total += np.sum(WEIGHTS[index] * a[index] ** 2)
    for index in itertools.product(*map(range, a.shape)):
        total += np.sum(a[index] ** 3)
    return total


def where(a):
    total = 0.0
    for place in zip(*np.where(a > 0.4)):
        total += np.sum(a[place] ** 2) * WEIGHTS[place]
    for place in zip(*np.nonzero(a > 9.0)):
        total += a[place]
    return total


def flood(a):
    total, seen = 0.0, set()
    for start in zip(*np.where(a > 0.4)):
        pending = [start]
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            i, j = place
            total += a[place] ** 2 * len(seen)
            pending += [(i + 1, j), (i, j + 1)] if i < 2 and j < 2 else []
    return total


def paths(a):
    found = map(tuple, np.argwhere(a > 0.4))
    return sum(np.sum(a[place] ** 2) for place in found)


def steps(a):
    def neighbours(place):
        for step in np.array([[0, 1], [1, 0]]):
            yield tuple(np.add(place, step))

    return sum(np.sum(a[place] ** 2) for place in neighbours((1, 1)))


def keys(a):
    table = {}
    for row in a:
        table[tuple((row // 1.0).astype(int))] = row[0] ** 2
    return sum(table.values()) * len(table)


def compared_and_joined(a):
    row = tuple(a[0])
    longer = row + (1.0,)  # noqa: RUF005
    return sum(row) * (2.0 if row > (1.0, 0.0) else 3.0) + longer[0] ** 2 + (row * 2)[4]


def slices(a):
    axis = int(np.argmax(np.array([1, 0])))
    which = [slice(None) for _ in range(a.ndim)]
    which[axis] = slice(1, None)
    return np.sum(a[tuple(which)] ** 2)


PROGRAMS = [
    of_an_array, of_the_least, written_at, of_a_list_that_grew, starred, given_one_by_one, every_index,
    every_element, every_product, where, flood, paths, steps, keys, compared_and_joined, slices,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    agree(lambda t: f(AT + t * (WEIGHTS - 3.5)), 0.0)


def test_elements_of_what_is_not_square():
    def f(a):
        return sum(value**2 * i[0] for i, value in np.ndenumerate(a))

    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(wg.grad(f)(x), 2 * x * np.arange(3.0)[:, None])


def test_a_tuple_comes_back_as_a_tuple():
    value, _ = wg.pullback(lambda x: tuple(x * 2), np.ones(9))
    assert value == (2.0,) * 9
    (gradient,) = wg.pullback(lambda x: tuple(x * 2), np.ones(9))[1](tuple(range(9)))
    np.testing.assert_array_equal(gradient, 2.0 * np.arange(9))


def assembled(x):
    matrix, nodes = {}, {1: (0, 1), 2: (2, 3), 3: (4, 5)}
    for a, b in [(1, 2), (1, 3), (2, 3)]:
        places = nodes[a] + nodes[b]
        for i in places:
            for j in places:
                matrix[i, j] = matrix.get((i, j), 0.0) + x * (i + j)
    return sum(v * v for v in matrix.values())


def test_a_key_of_several_numbers_is_known_to_get():
    agree(assembled, 1.3)
    assert " if " not in str(wg.code_ir(assembled, 1.3))  # whether it has an entry is known
