"""One object in two places of a container: what changes in one place changes in the other."""

# programs under test are written as users write them
# ruff: noqa: PERF401

from __future__ import annotations

import copy
from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from standing_alone import alone

import wengert as wg
from wengert.errors import UnsupportedSyntax

Pair = namedtuple("Pair", "u v")
PROGRAMS: list[Any] = []


def program(function: Any) -> Any:
    """A function of a number, an array, a namedtuple of arrays, and an index."""
    PROGRAMS.append(function)
    return function


@program
def written_out(x, a, q, n):
    both = [a, a]
    both[n][1] = x
    return sum(each.sum() for each in both)


@program
def in_tuples(x, a, q, n):
    both = [(a, x), (a, x)]
    for k in range(n + 1):
        both[k][0][n] *= x
    return sum(each[0].sum() for each in both)


@program
def in_namedtuples(x, a, q, n):
    both = [q, q]
    both[n].u[1] = x
    return sum((each.u * each.v).sum() for each in both)


@program
def multiplied(x, a, q, n):
    rows = [np.zeros(2)] * 3
    for k in range(2):
        rows[k][n] += x * (k + 1)
    return rows[0][1] * x


@program
def rows_of_one_list(x, a, q, n):
    rows = [[0.0] * 2] * 2
    for k in range(2):
        rows[k][n] += x * (k + 1)
    return rows[0][1] * x


@program
def listed_again(x, a, q, n):
    row = [0.0, x, 2.0]
    rows = [row for _ in range(2)]
    rows[n][0] = x
    return rows[0][0] * x


@program
def appended_twice(x, a, q, n):
    rows = [a]
    rows.append(a)
    rows[n][0] = x
    return rows[n - 1].sum()


@program
def appended_by_a_loop(x, a, q, n):
    rows = [a * 1]
    for _ in range(2):
        rows.append(a)
    rows[n][0] = x
    return rows[n + 1].sum()


@program
def entered_by_a_loop(x, a, q, n):
    table = {}
    for k in range(2):
        table[k] = a
    table[n][0] = x
    return table[n - 1].sum()


@program
def while_it_is_changed(x, a, q, n):
    row = np.zeros(2)
    rows, k = [row, row], 0
    while k < 2:
        rows[k][n] += x * (k + 1)
        k += 1
    return rows[0][1] * x


def rotated(rows, k):
    if k <= 0:
        return rows
    rows.append(rows.pop(0))
    return rotated(rows, k - 1)


@program
def moved_by_a_call(x, a, q, n):
    row = a * x
    rows = [np.zeros(3), np.ones(3)]
    rows.append(row)
    rotated(rows, n + 1)
    row[:] = row * x
    return rows[0].sum() + row.sum()


@program
def copied_deeply(x, a, q, n):
    rows = copy.deepcopy([a, a])
    rows[0][1] = x
    return (rows[0] * rows[1]).sum()


@program
def copied_deeply_in_a_namedtuple(x, a, q, n):
    made = copy.deepcopy([Pair(a, a * x), (a, [a])])
    made[0].u[1] = x
    return (made[0].u * made[1][0] * made[1][1][0]).sum()


@program
def copied_deeply_where_the_run_chooses(x, a, q, n):
    other = a if x > 0.3 else a * x
    made = copy.deepcopy([a, other])
    made[0][0] = x
    return (made[0] * made[1]).sum()


@program
def copied_deeply_as_a_number_picks(x, a, q, n):
    rows = [a * 2, a * x]
    made = copy.deepcopy([rows[n], rows[-1], rows[n - 1]])
    made[0][0] = x
    return (made[0] * made[1] + made[2]).sum() * rows[1][0]


# --- containers made anew of the same objects -------------------------------------------------


@program
def sorted_in_a_loop_beside_a_view(x, a, q, n):
    rows = [a]
    for _ in range(n):
        rows = sorted(rows, key=len)
        a = a[::-1]
    a[1] += x
    return rows[0] @ [1.0, 2.0, 3.0]


@program
def a_table_sorted_in_a_loop_beside_a_view(x, a, q, n):
    table = {"p": {"s": x, "t": a}, "q": {"s": 0.5, "t": a}}
    for _ in range(n):
        table = dict(sorted(table.items(), key=lambda item: item[1]["s"]))
        a = a[::-1]
    a[0] += x
    return sum(inner["s"] * (inner["t"] @ [1.0, 2.0, 3.0]) for inner in table.values())


@program
def two_lists_sorted_in_a_loop(x, a, q, n):
    rows, others = [a], [a]
    for _ in range(n + 1):
        rows = sorted(rows, key=len)
        others = sorted(others, key=len)
    others[0][1] += x
    return rows[0] @ [1.0, 2.0, 3.0]


@program
def two_lists_sorted_twice(x, a, q, n):
    rows, others = sorted([a], key=len), sorted([a], key=len)
    rows, others = sorted(rows, key=len), sorted(others, key=len)
    others[0][1] += x
    return rows[0] @ [1.0, 2.0, 3.0]


@program
def two_lists_sorted_once(x, a, q, n):
    rows, others = sorted([a], key=len), sorted([a], key=len)
    others[0][1] += x
    return rows[0] @ [1.0, 2.0, 3.0]


@program
def two_lists_that_loops_copy(x, a, q, n):
    rows, others = [a], [q, a]
    for _ in range(n):
        rows, others = list(rows), list(others)
    others[1][1] += x
    return rows[0] @ [1.0, 2.0, 3.0]


@program
def bound_to_a_view_where_a_loop_ends(x, a, q, n):
    rows = [2 * a]
    for k in range(n + 1):
        rows = sorted(rows, key=len)
        a = a[::-1]
        if k > 0:
            rows = [a]
    a[1] += x
    return rows[0] @ [1.0, 2.0, 3.0]


def given() -> Any:
    return 0.7, np.array([0.3, 0.5, 0.2]), Pair(np.array([0.3, 0.5]), np.array([1.0, 2.0])), 1


def differences(function: Any) -> float:
    _, *rest = given()
    ends = [function(x, *copy.deepcopy(rest)) for x in (0.7 + 1e-6, 0.7 - 1e-6)]
    return (ends[0] - ends[1]) / 2e-6


@pytest.mark.parametrize("function", PROGRAMS)
def test_right_or_refused(function):
    expected = differences(function)
    ways = [
        lambda: wg.grad(function)(*given()),
        lambda: alone(wg.grad(function))(*given()),
        lambda: wg.pushforward(function, *given())[1](1.0, None, None, None),
    ]
    for way in ways:
        try:
            found = way()
        except (UnsupportedSyntax, ValueError) as refusal:
            if getattr(refusal, "code", "") != "WG101":
                raise
        else:
            assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "function",
    [copied_deeply, copied_deeply_in_a_namedtuple, copied_deeply_where_the_run_chooses],
)
def test_a_deep_copy_holds_one_object_where_the_original_does(function):
    assert wg.grad(function)(*given()) == pytest.approx(differences(function), rel=1e-6)
