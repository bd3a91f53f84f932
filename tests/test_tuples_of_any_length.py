"""Tuples whose length only the run knows: what is added to them makes new ones, which nobody else sees."""

# tuples are added to in place and made in many ways, which is what is tested
# ruff: noqa: RUF005

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


PROGRAMS: list[Callable[..., Any]] = [
    repeated, doubled, of_generator, two_of_a_list, parts, of_another_function, arguments, asked, axes, axes_in_place,
    lists, lists_of_loops,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Setting the shape")
@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_tuples_are_as_in_python(f: Callable[..., Any], tier: Any) -> None:
    value, gradient = wg.value_and_grad(f, tier=tier)(X, 2)
    assert value == f(X, 2)
    differences = [(f(X + step, 2) - f(X - step, 2)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", [one_of_two, two_of_two])
def test_tuples_that_a_branch_chooses_are_recorded(f: Callable[..., Any]) -> None:
    value, gradient = wg.value_and_grad(f)(X, 2)
    assert value == f(X, 2)
    np.testing.assert_allclose(gradient, wg.grad(f, tier="recorded")(X, 2))
    with pytest.raises(UnsupportedSyntax, match="a tuple is added to in place"):
        wg.grad(f, tier="static")(X, 2)


def test_a_tuple_among_lists_says_so() -> None:
    def extended(values):
        same = values
        values += (values[0],)
        return sum(same)

    assert wg.grad(extended)([1.0] * 200) == [2.0] + [1.0] * 199
    with pytest.raises(UnsupportedSyntax, match="a tuple is added to in place"):
        wg.grad(extended)((1.0,) * 200)
