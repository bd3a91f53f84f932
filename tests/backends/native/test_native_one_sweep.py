"""Recursive functions whose way back needs nothing that a call finds out: both sweeps are one, and nothing is kept."""

import math

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")
ARRAY = np.array([0.3, 0.5, 1.2, 0.7])


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def product(a, n):
    if n == 0:
        return a[0]
    rest = product(a, n - 1)
    return rest * a[n]


def twice(a, n):
    if n == 0:
        return a[0]
    x = a[n]
    return twice(a, n - 1) * x + twice(a, n - 1) * math.sin(x)


def rising(x, n):
    return x * x if n == 0 else x * rising(x + 1, n - 1)


def halves(a, start, stop):
    if stop - start == 1:
        return a[start] ** 2
    middle = (start + stop) // 2
    return halves(a, start, middle) + halves(a, middle, stop)


def chosen(a, n):
    total = 0.0
    if n >= len(a):
        return 1.0
    for k in range(n, len(a)):
        total += a[k] * chosen(a, k + 1)
    return total


def over_two_loops(a, b, n):
    if n == 0:
        return 1.0
    total = 0.0
    for x in b:
        for k in range(2):
            total += x * a[k] * over_two_loops(a, b, n - 1)
    return total


def minor(a, rows, columns, order):
    """A minor by expansion, that crosses out rows and columns in place and puts them back."""
    row, column = rows[-1], columns[-1]
    size = len(rows) - 1
    if order == 1:
        return a[row * size + column]
    total, sign = 0.0, 1.0
    rows[-1] = rows[row]
    before = size
    for _ in range(order):
        columns[before] = columns[column]
        inner = minor(a, rows, columns, order - 1)
        columns[before] = column
        total += sign * a[row * size + column] * inner
        sign = -sign
        before, column = column, columns[column]
    rows[-1] = row
    return total


def determinant(a):
    size = int(len(a) ** 0.5)
    following = np.append(np.arange(1, size + 1), 0)
    return minor(a, following.copy(), following.copy(), size)


def here(a, n):
    return a[0] if n == 0 else a[n] * there(a, n - 1)


def there(a, n):
    return a[1] * here(a, n) + here(a, n)


def guarded(a, n):
    """The cotangent of a call divides by what may be zero: Python's exception comes out."""
    return 1.0 if n < 0 else guarded(a, n - 1) / float(a[n])


JOINED = [
    (product, (ARRAY, 3)),
    (twice, (ARRAY, 3)),
    (rising, (0.3, 4)),
    (halves, (ARRAY, 0, 4)),
    (chosen, (ARRAY, 0)),
    (over_two_loops, (ARRAY, ARRAY + 0.1, 2)),
    (determinant, (np.arange(16.0) ** 1.5 % 3,)),
    (here, (ARRAY, 3)),
    (guarded, (ARRAY, 2)),
]


@pytest.mark.parametrize(("function", "arguments"), JOINED)
def test_a_call_and_its_way_back_run_as_one(function, arguments):
    derived = wg.value_and_grad(function)
    compiled = wg.jit(derived, strict=True)
    value, gradient = compiled(*arguments)
    expected, by_python = derived(*arguments)
    assert type(value) is type(expected)
    np.testing.assert_allclose(value, expected, rtol=1e-14)
    np.testing.assert_allclose(gradient, by_python, rtol=1e-12)
    assert compiled.exits == 0
    assert "both_" in compiled.source
    assert "arena" not in compiled.source


def products(x, n):
    return x * x if n == 0 else products(x, n - 1) * products(x + 1, n - 1)


def squares(x, n):
    return x if n == 0 else squares(x, n - 1) ** 2


def carrying(a, n):
    """What the loop carries is multiplied in each turn: the way back needs them in the other order."""
    x = 1.0
    for k in range(n):
        x = a[k] * x + carrying(a, k)
    return x


APART = [(products, (0.3, 3)), (squares, (1.1, 3)), (carrying, (ARRAY, 3))]


@pytest.mark.parametrize(("function", "arguments"), APART)
def test_a_way_back_that_has_to_wait_waits(function, arguments):
    derived = wg.value_and_grad(function)
    compiled = wg.jit(derived, strict=True)
    for found, expected in zip(compiled(*arguments), derived(*arguments), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert "both_" not in compiled.source


def test_exceptions_are_those_of_the_python_form():
    compiled = wg.jit(wg.grad(guarded), strict=True)
    with pytest.raises(ZeroDivisionError):
        compiled(np.array([0.5, 0.0, 2.0]), 2)
    assert compiled.exits == 1


def test_a_seed_that_follows_from_the_result_is_waited_for():
    def log(a):
        return math.log(product(a, 3))

    compiled = wg.jit(wg.grad(log), strict=True)
    np.testing.assert_allclose(compiled(ARRAY), 1 / ARRAY, rtol=1e-12)
    assert "both_" not in compiled.source
