"""Lists and tuples as arguments: numbers, and arrays of one shape, however many."""

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
