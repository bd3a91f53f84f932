"""What is put somewhere: arrays copy it, lists refer to it, slices of lists take in its items.

They are told apart, or refused.
"""

from __future__ import annotations

import functools
import itertools
import re

import numpy as np
import oracle
import pytest
from standing_alone import alone, loaded, unless_refused

import wengert as wg

W = np.array([0.3, -0.7])
MADE = (
    "a.copy()", "np.array(a)", "np.zeros(2) + a", "2 * a", "[1.0 * a[0], a[1]]", "rows[1].copy()",
    "rows[1]",
)  # fmt: skip
KEYS = ("0", "(0, ...)", "0, :", "0:1", "[0]")
WRITES = ("b[1] += x", "b[:] = [x, 2 * x]", "rows[0][1] += x")
TEXT = """
import numpy as np

W = np.array([0.3, -0.7])


def program(x, a, rows):
    b = {made}
    rows[{key}] = b
    {write}
    return rows[0] @ W + np.asarray(b) @ W * 0.5 + rows[1] @ W
"""


def array_of_rows():
    return np.array([[0.5, 1.5], [0.25, -0.75]])


def list_of_rows():
    return list(array_of_rows())


def dict_of_rows():
    return dict(enumerate(array_of_rows()))


def slope_of(function, arguments):
    return oracle.central_difference(lambda x: function(x, *arguments()), 0.73)


def slope_by_text(program, *arguments):
    return alone(wg.grad(program))(0.73, *arguments)


def possible(program, arguments):
    try:
        program(0.73, *arguments())
    except (TypeError, ValueError, IndexError):
        return False
    return True


@pytest.mark.parametrize("rows", [array_of_rows, list_of_rows, dict_of_rows])
def test_what_is_put_into_a_container_changes(tmp_path, rows):
    arguments = lambda: (np.array([0.31, -0.27]), rows())
    tally = {"right": 0, "refused": 0}
    for made, key, write in itertools.product(MADE, KEYS, WRITES):
        program = loaded(tmp_path / "put.py", TEXT.format(made=made, key=key, write=write))
        if not possible(program, arguments):
            continue
        slope = slope_of(program, arguments)
        gradient = wg.grad(program)
        ways = (
            lambda g=gradient: g(0.73, *arguments()),
            lambda g=gradient: alone(g)(0.73, *arguments()),
        )
        for found in map(unless_refused, ways):
            tally["refused" if found is None else "right"] += 1
            assert found is None or found == pytest.approx(slope, abs=1e-6), (made, key, write)
    assert tally["right"] >= AT_LEAST[rows], tally


AT_LEAST = {array_of_rows: 172, list_of_rows: 18, dict_of_rows: 36}
"""How many of the programs are right: it may only grow."""


def lists():
    rows = [[np.array([1.0, 2.0]), np.array([3.0, 4.0])], [np.array([5.0, 6.0])]]
    return rows, [np.array([0.0, 0.0])]


def all_of_it_then_an_item(x, rows, xs):
    part = rows[0]
    xs[:] = part
    part[1] = np.array([x, x])
    return xs[1] @ W + rows[0][1] @ W


def a_slice_then_an_item(x, rows, xs):
    part = rows[0]
    xs[0:1] = part
    part[1] = np.array([x, x])
    return xs[1] @ W + rows[0][1] @ W


def a_slice_then_inside(x, rows, xs):
    part = rows[0]
    xs[0:1] = part
    part[0][0] = x
    return xs[0] @ W + rows[0][0] @ W


def longer_then_inside(x, rows, xs):
    part = rows[0]
    xs += part
    xs[2][0] = x
    return part[1] @ W + rows[0][1] @ W


def its_own_items(x, rows, xs):
    part = rows[0]
    part[:] = rows[1]
    part[0][0] = x
    return part[0] @ W + rows[0][0] @ W + rows[1][0] @ W


def rows_of_an_array(x, rows, xs):
    table = np.array([[x, 2.0], [3.0, 4.0]])
    xs[:] = table
    table[:] = 5 * x
    return xs[0] @ W + table[0] @ W


def row_of_an_array(x, rows, xs):
    table = np.array([[x, 2.0], [3.0, 4.0]])
    xs[0:1] = table
    table[0, 1] = 5 * x
    return xs[0] @ W + table[0] @ W


def items_of_a_pair(x, rows, xs):
    pair = (np.array([x, 1.0]), np.array([x, 3.0]))
    xs[0:1] = pair
    pair[0][0] = 5 * x
    return xs[1] @ W + xs[0] @ W


def history_of_an_array(x, rows, xs):
    level, kept = rows[0][0], {}
    for k in range(3):
        level *= x
        kept[k] = level
    return kept[0] @ W


def backwards(x, rows, xs):
    xs += [2 * xs[0]]
    xs[:] = xs[::-1]
    xs[0][0] = x
    return xs[0] @ W + xs[1] @ W * x


def given_twice(x, rows, xs):
    xs.extend(xs)
    xs[0][0] = x
    return xs[0] @ W + xs[1] @ W


TAKEN_IN = [
    backwards, given_twice,
    all_of_it_then_an_item, a_slice_then_an_item, a_slice_then_inside, longer_then_inside,
    its_own_items, rows_of_an_array, row_of_an_array, items_of_a_pair, history_of_an_array,
]  # fmt: skip


@pytest.mark.parametrize("f", TAKEN_IN)
def test_lists_that_take_in_items_of_others(f):
    slope = slope_of(f, lists)
    ways = {
        "reverse": lambda: wg.grad(f)(0.73, *lists()),
        "forward": lambda: wg.pushforward(f, 0.73, *lists())[1](1.0, None, None),
        "alone": lambda: alone(wg.grad(f))(0.73, *lists()),
    }
    found = {way: unless_refused(compute) for way, compute in ways.items()}
    for way, value in found.items():
        assert value is None or value == pytest.approx(slope, abs=1e-6), way
    assert (found["reverse"] is None) == (f in (given_twice, its_own_items))


JOINED = (
    "xs + ys", "xs + xs", "xs * n", "n * xs", "[xs + ys][0]", "operator.add(xs, ys)",
    "functools.reduce(lambda a, b: a + b, [xs, ys])", "(xs, ys)[0] + ys + xs",
)  # fmt: skip
WRITES_TO_JOINED = (
    "c[0][0] = x", "c[0] += x", "xs[0][0] = x", "xs[1][:] = x * xs[0]", "c[0] = x * c[1]",
    "r = c[1]; r[0] = x", "np.multiply(xs[1], x, out=xs[1])",
)  # fmt: skip
JOIN = """
import functools
import operator

import numpy as np

W = np.array([0.3, -0.7])


def program(x, xs, ys, n):
    c = {joined}
    {write}
    return sum((k + 1) * (r @ W) for k, r in enumerate(c)) + xs[0] @ W + x * (xs[1] @ W)
"""


@pytest.mark.parametrize(("rows", "at_least"), [(array_of_rows, 48), (list_of_rows, 8)])
def test_lists_joined_where_only_the_run_tells_them_from_a_sum(tmp_path, rows, at_least):
    arguments = lambda: (rows(), rows(), 2)
    right = 0
    for joined, write in itertools.product(JOINED, WRITES_TO_JOINED):
        program = loaded(tmp_path / "join.py", JOIN.format(joined=joined, write=write))
        slope = slope_of(program, arguments)
        found = unless_refused(functools.partial(slope_by_text, program, *arguments()))
        assert found is None or found == pytest.approx(slope, abs=1e-6), (joined, write)
        right += found is not None
    assert right >= at_least


def test_joined_lists_say_what_to_do():
    def first(x, xs, ys):
        c = xs + ys
        c[0][0] = x
        return c[0] @ W

    message = (
        "an object that two lists hold is changed, where only the run tells lists from arrays\n"
        "Put copies of such objects into one of the lists, or specialise the derivative for example arguments."
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        slope_by_text(first, list_of_rows(), list_of_rows())
    assert wg.grad(first)(0.73, list_of_rows(), list_of_rows()) == pytest.approx(W[0])


def test_what_is_put_into_one_of_two_dictionaries():
    def linked(x, a, b, n):
        d = a if n > 1 else b
        d["s"] = d[0]
        d["s"][0] = x
        return a[0] @ W + a["s"] @ W * 2

    arguments = lambda: (dict_of_rows(), dict_of_rows(), 2)
    found = unless_refused(lambda: slope_by_text(linked, *arguments()))
    assert found in (None, pytest.approx(3 * W[0]))
