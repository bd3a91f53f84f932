"""Tests of `while` loops that change objects: what they change passes from turn to turn, as in the body."""

import heapq
from collections import deque

import numpy as np
import oracle
import pytest
from differences import slope

import wengert as wg


def counts_a_captured_name(x):
    n = 0

    def more():
        nonlocal n
        n += 1
        return n < 4

    y = 0.0
    while more():
        y += x * n
    return y + n * x * x


class Counter:
    def __init__(self):
        self.n = 0
        self.s = 0.0

    def step(self, x):
        self.n += 1
        self.s += x * self.n
        return self.s < 20 * x


def calls_a_method(x):
    c = Counter()
    y = 0.0
    while c.step(x):
        y += c.s * x
    return y * c.n + c.s


def pops_until_large(x):
    st = [x, 2 * x, x * x, 3 * x, x]
    y = 0.0
    while st.pop() < 2.5 * x:
        y += sum(st) * x
    return y + len(st) * x


def pops_until_empty(x):
    st = [x, 2 * x, x * x, 3 * x, x]
    y = 0.0
    while st and st.pop() < 1e9:
        y += sum(st) * x
    return y


def pops_a_heap(x):
    h = [3 * x, x, 2 * x, 5 * x]
    heapq.heapify(h)
    y = 0.0
    while heapq.heappop(h) < 2.5 * x:
        y += h[0] * x
    return y + sum(h)


def pops_a_queue(x):
    q = deque([x, 2 * x, 3 * x])
    y = 0.0
    while q.popleft() < 2.5 * x:
        q.append(y + x)
        y += q[-1]
    return y + len(q)


def asks_an_iterator(x):
    g = iter([x, 2 * x, 3 * x, 4 * x])
    y = 0.0
    while next(g) < 2.5 * x:
        y += x * x
    return y + next(g)


def writes_to_an_array(x):
    a = np.array([x, 2 * x, 3 * x])
    y = 0.0

    def f():
        a[0] += x
        return a[0]

    while f() < 4 * x:
        y += a[0] * a[1]
    return y + a.sum()


def writes_to_a_dictionary(x):
    d = {"a": x, "n": 0}

    def f():
        d["n"] += 1
        d["a"] *= x
        return d["n"] < 4

    y = 0.0
    while f():
        y += d["a"]
    return y + d["a"] * d["n"]


def adds_to_a_set(x):
    s = set()
    y = 0.0
    while (s.add(len(s)) or len(s)) < 4:
        y += x * len(s)
    return y


def one_loop_in_another(x):
    n = [0]
    y = 0.0

    def f(k):
        n[0] += k
        return n[0]

    while f(1) < 10:
        m = 0
        while f(2) < 6 and m < 2:
            m += 1
            y += x * n[0]
        y += x * x
    return y * n[0]


def breaks_and_continues(x):
    n = [0]
    y = 0.0

    def f():
        n[0] += 1
        return n[0] < 9

    while f():
        if n[0] % 3 == 0:
            continue
        if n[0] > 6:
            break
        y += x * n[0]
    else:
        y *= x
    return y + n[0] * x


def ends_with_else(x):
    n = [0]
    y = x

    def f():
        n[0] += 1
        return n[0] < 3

    while f():
        y *= x
    else:  # noqa: PLW0120
        y += n[0] * x
    return y


def raises(x):
    n = [0]
    y = x

    def f():
        n[0] += 1
        if n[0] > 3:
            raise KeyError("a")
        return True

    try:
        while f():
            y *= x
    except KeyError:
        y += n[0]
    return y * n[0]


def other_tests(x):
    n = [0]
    y = x

    def f(k):
        n[0] += k
        return n[0]

    y += x * n[0] if f(1) > 0 else 0
    if f(2) > 2 or f(5) > 0:
        y += n[0] * x
    if f(1) < f(3) < f(4):
        y += n[0] * x
    z = [f(1) * x for _ in range(3) if f(1) % 2]
    assert f(1)
    return y + sum(z) + n[0] * x + (f(1) and f(2)) * x


PROGRAMS = (
    counts_a_captured_name, calls_a_method, pops_until_large, pops_until_empty, pops_a_heap, pops_a_queue,
    asks_an_iterator, writes_to_an_array, writes_to_a_dictionary, adds_to_a_set, one_loop_in_another,
    breaks_and_continues, ends_with_else, raises, other_tests,
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_a_test_changes_the_next_turn_sees(program):
    expected, (slope,) = program(1.3), oracle.central_gradient(program, 1.3)
    found = [wg.value_and_grad(program, tier=tier)(1.3) for tier in (None, "recorded")]
    found.append(wg.jit(wg.value_and_grad(program))(1.3))
    for value, gradient in found:
        assert value == pytest.approx(expected)
        assert gradient == pytest.approx(slope, rel=1e-6, abs=1e-6)


def from_the_entry(x):
    try:
        return {"u": 1.0}["q"] * x
    except KeyError:
        return x


def where_positive(x):
    try:
        if x > 0:
            raise ValueError("positive")  # noqa: TRY301
        y = 1.0
    except ValueError:
        y = x
    finally:
        z = x
    return y * z


@pytest.mark.parametrize("caught", [from_the_entry, where_positive])
@pytest.mark.parametrize("tier", ["static", "recorded"])
def test_tests_that_catch_what_they_raise(caught, tier):
    def f(x):
        count = 0
        while caught(x) < 5.0 and count < 3:
            x = x * 1.5
            count += 1
        while not caught(x) > 3.0:
            x = x + caught(x)
            if x > 100.0:
                break
        else:
            x = x * 2.0
        return x

    assert wg.grad(f, tier=tier)(1.3) == pytest.approx(slope(f, 1.3))
