"""`zip(…, strict=True)`: lists of different lengths raise, in derivatives and in native code."""

import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NativeWarning


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def in_a_loop(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    return total


def in_a_comprehension(x, y):
    return sum([a * b for a, b in zip(x, y, strict=True)])


def counted(x, y):
    total = 0.0
    for k, (a, b) in enumerate(zip(x, y, strict=True)):
        total += a * b * k
    return total


def of_three(x, y):
    total = 0.0
    for k, a, b in zip(range(3), x, y, strict=True):
        total += a * b * k
    return total


def of_a_zip(x, y):
    total = 0.0
    for (a, k), b in zip(zip(x, range(9)), y, strict=True):
        total += a * b * k
    return total


def asked_one_by_one(x, y):
    pairs = zip(x, y, strict=True)
    a, b = next(pairs)
    return a * b + sum([c * d for c, d in pairs])


PROGRAMS = [in_a_loop, in_a_comprehension, counted, of_three, of_a_zip, asked_one_by_one]
LENGTHS = [(3, 3), (3, 2), (2, 3), (4, 2), (3, 4), (12, 11)]


def outcome(f, *args):
    try:
        found = f(*args)
    except ValueError as error:
        return str(error)
    return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("make", [np.array, list])
@pytest.mark.parametrize("f", PROGRAMS)
def test_lengths_are_compared(f, make):
    for n, m in LENGTHS:
        args = make([0.5 * k for k in range(n)]), make([1.0 + k for k in range(m)])
        expected = outcome(f, *args)
        assert outcome(wg.value_and_grad(f), *args) == expected


@pytest.mark.parametrize("make", [np.array, list])
@pytest.mark.parametrize("f", PROGRAMS)
def test_native_code_compares_lengths(f, make):
    pytest.importorskip("llvmlite")
    for n, m in LENGTHS:
        args = make([0.5 * k for k in range(n)]), make([1.0 + k for k in range(m)])
        expected = outcome(f, *args)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NativeWarning)
            assert outcome(wg.jit(f), *args) == expected
            assert outcome(wg.jit(wg.value_and_grad(f)), *args) == expected


def test_a_known_number_of_items():
    def f(x):
        return sum(a * b for a, b in zip([x, x], [1.0, 2.0, 3.0], strict=True))

    with pytest.raises(ValueError, match="zip\\(\\) argument 2 is longer than argument 1"):
        wg.grad(f)(2.0)


class Link:
    def __init__(self, length):
        self.length, self.end = length, None

    def moved(self, by):
        self.end = by * self.length
        return self.end


def objects_that_change(x, y):
    links = [Link(1.0), Link(2.0), Link(3.0)]
    total = 1.0
    for k, (link, by) in enumerate(zip(links, x, strict=True)):
        total = total * link.moved(by) + k
    return total * links[1].end * y[0]


def test_objects_that_a_loop_changes():
    wg.testing.check_gradient(objects_that_change, np.array([0.3, 0.4, 0.5]), np.array([2.0]))
    with pytest.raises(ValueError, match="zip\\(\\) argument 2 is shorter than argument 1"):
        wg.grad(objects_that_change)(np.ones(2), np.ones(2))
