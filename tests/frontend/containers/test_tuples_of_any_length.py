"""Tuples whose length only the run knows: what is added to them makes new ones, which nobody else sees."""

# tuples are added to in place and made in many ways, which is what is tested
# ruff: noqa: RUF005

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import UnsupportedSyntax

X = np.array([1.0, 2.0, 3.0])


def repeated(x, n):
    t = (x[0],) * n
    u = t
    t += (x[1] * x[1],)
    return sum(t) * len(u)


def doubled(x, n):
    t = (x[0],) * n
    u = t
    t *= 2
    return sum(t) * len(u)


def of_generator(x, n):
    t = tuple(v * v for v in x[:n])
    u = t
    t += (x[0],)
    return sum(t) * len(u)


def two_of_a_list(x, n):
    t = tuple([v * v for v in x[:n]])
    u = t
    t += tuple(x[:n])
    return sum(t) * len(u)


def parts(x, n):
    t = tuple(x[:n] ** 2)
    u = t
    t = t[:n] + (x[2],)
    w = t
    t += t[1:n]
    return sum(t) * len(w) * len(u)


def of_another_function(x, n):
    def with_one_more(t):
        t += (x[1],)
        return sum(t)

    t = (x[0],) * n
    return with_one_more(t) + len(t) * x[2]


def arguments(x, n):
    def total(*values):
        values += (x[0],)
        return sum(values)

    return total(*[v * v for v in x[:n]])


def asked(x, n):
    t = (x[0],) * n
    return sum(t) if isinstance(t, tuple) else 0.0 * x[0]


def axes(x, n):
    shape = x.shape
    shape += (1,) * n
    return len(shape) * np.sum(x.reshape(shape) ** 2)


def axes_in_place(x, n):
    y = x * x
    y.shape += (1,) * n
    return y.ndim * np.sum(y)


def lists(x, n):
    given = [v for v in x[:n]]  # noqa: C416  a list of numbers, not of what an array gives
    same = given
    given += (x[0], x[1])
    return sum(same)


def lists_of_loops(x, n):
    values = []
    for v in x[:n]:
        values += (v, v * v)
    return sum(values)


def one_of_two(x, n):
    t = tuple(x[:n]) if n > 1 else tuple(x)
    u = t
    t += (x[0],)
    return sum(t) * len(u)


def two_of_two(x, n):
    t = tuple(x[:n]) if n > 1 else tuple(x)
    u = t
    t += tuple(x) if n > 1 else ()
    t *= 2
    return sum(t) * len(u)


def grown(x, n):
    t = (x[0], x[1])
    u = t
    while len(t) < 3 * n:
        t += (t[-1] * 0.5 * x[2],)
    return sum(t) * len(u)


PROGRAMS: list[Callable[..., Any]] = [
    repeated, doubled, of_generator, two_of_a_list, parts, of_another_function, arguments, asked, axes, lists,
    lists_of_loops, one_of_two, grown,
]  # fmt: skip


CASES = [*((f, tier) for f in PROGRAMS for tier in ("static", "recorded")), (axes_in_place, None)]


@pytest.mark.filterwarnings("ignore:Setting the shape")
@pytest.mark.parametrize(("f", "tier"), CASES)
def test_tuples_are_as_in_python(f: Callable[..., Any], tier: Any) -> None:
    value, gradient = wg.value_and_grad(f, tier=tier)(X, 2)
    assert value == f(X, 2)
    differences = [(f(X + step, 2) - f(X - step, 2)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-8)


def test_a_tuple_that_moves_in_two_branches_is_recorded() -> None:
    value, gradient = wg.value_and_grad(two_of_two)(X, 2)
    assert value == two_of_two(X, 2)
    np.testing.assert_allclose(gradient, wg.grad(two_of_two, tier="recorded")(X, 2))


TWICE = [[1.0, 2.0], [2.0, 3.0]] * 40


def extended(values):
    same = values
    values += (values[0],)
    return sum(same) * len(values)


def repeated_in_place(values):
    same = values
    values *= 2
    return sum(same) * len(values)


def row_extended(rows):
    row = rows[0]
    rows[0] += (rows[1][0] ** 2,)
    return sum(sum(each) for each in rows) * len(row)


@pytest.mark.parametrize("tier", [None, "recorded"])
@pytest.mark.parametrize(
    ("f", "given"),
    [
        (extended, [1.5] * 200),
        (extended, (1.5,) * 200),
        (repeated_in_place, [1.5] * 200),
        (repeated_in_place, (1.5,) * 200),
        (row_extended, [[1.5, 2.0] for _ in range(200)]),
        (row_extended, [(1.5, 2.0) for _ in range(200)]),
        (row_extended, [(1.5,) * 200, (2.0,) * 200]),
    ],
)
def test_what_is_added_to_is_a_tuple_or_a_list_as_the_run_says(f, given, tier) -> None:
    mine, theirs = copy.deepcopy(given), copy.deepcopy(given)
    value, back = wg.value_and_grad(f, tier=tier)(mine)
    assert value == f(theirs)
    assert mine == theirs
    assert type(mine) is type(theirs)
    vector, unflatten = wg.flatten(given)
    ahead, behind = (f(unflatten(vector + step)) for step in (1e-6, -1e-6))
    assert wg.flatten(back)[0].sum() == pytest.approx((ahead - behind) / 2e-6)


def first_row_longer(rows):
    rows[0].append(rows[1][0] ** 2)
    return sum(sum(row) for row in rows)


def first_array_scaled(rows):
    rows[0] *= rows[1][0]
    return sum(np.sum(row) for row in rows)


def test_a_row_that_stands_twice_in_a_long_list_changes_in_both_places() -> None:
    def longer(first):
        rows = [[first, 2.0], [2.0, 3.0]] * 40
        return first_row_longer(rows)

    found = wg.grad(first_row_longer)(copy.deepcopy(TWICE))
    ahead, behind = (longer(1.0 + step) for step in (1e-6, -1e-6))
    assert sum(row[0] for row in found[::2]) == pytest.approx((ahead - behind) / 2e-6)


def test_an_array_that_stands_twice_in_a_long_list_is_not_changed_unseen() -> None:
    with pytest.raises(UnsupportedSyntax, match="two of the arrays given to it share memory"):
        wg.grad(first_array_scaled)([np.array(X)] * 80)
