"""Calls of Python's own functions that Python refuses: the same exception, also in derivatives."""

import collections
import functools
import itertools
import math
import operator

import numpy as np
import pytest

import wengert as wg

WRONG = [
    lambda x: abs(x, x),
    lambda x: abs(x, foo=1),
    lambda x: round(x, digits=1),
    lambda x: round(x, 1, 2),
    lambda x: sum([x], begin=1),
    lambda x: sum([x], 1.0, 2),
    lambda x: max([x, 1.0], keyy=abs),
    lambda x: max(),
    lambda x: min([]),
    lambda x: math.sin(y=x),
    lambda x: math.sqrt(x, out=1),
    lambda x: math.log(x, 2, 3),
    lambda x: math.prod([x], 2.0),
    lambda x: math.isclose(x, 1, tol=1) + x,
    lambda x: float(x, 1),
    lambda x: int(x, 2) + x,
    lambda x: bool(x, 1) + x,
    lambda x: complex(x, 1, 2).real,
    lambda x: len([x], 1) + x,
    lambda x: list([x], 1)[0],
    lambda x: tuple([x], 1)[0],
    lambda x: sorted([x, 1.0], keyy=1)[0],
    lambda x: sorted([x, 1.0], abs)[0],
    lambda x: sum(a for (a,) in zip([x], strikt=1)),
    lambda x: sum(a for _, a in enumerate([x], begin=1)),
    lambda x: sum(map(abs)) + x,
    lambda x: sum(filter(x)) + x,
    lambda x: x if isinstance(x) else 2 * x,
    lambda x: getattr(x),
    lambda x: divmod(x)[0],
    lambda x: functools.reduce(operator.add) + x,
    lambda x: next(iter([x]), 1, 2),
    lambda x: operator.add(x),
    lambda x: any([x], 1) + x,
    lambda x: np.sin(x, x, x, x),
    lambda x: np.sum([x], ax=0),
    lambda x: [x].pop(0, 1),
    lambda x: [x].append() or x,
    lambda x: {"a": x}.get(),
    lambda x: (x,).index(),
    lambda x: next(itertools.islice([x, x], -1)),
    lambda x: next(itertools.islice([x, x], 0, -1)),
    lambda x: next(itertools.islice([x, x], 0, 2, 0)),
    lambda x: next(itertools.islice((x for _ in range(3)), -2)),
    lambda x: collections.deque([x], maxlen=-1)[0],
]


@pytest.mark.parametrize("f", WRONG)
def test_the_exception_is_pythons(f):
    with pytest.raises((TypeError, ValueError)) as raised:
        f(2.0)
    for way in (wg.value_and_grad(f), lambda x: wg.pushforward(f, x)[1](1.0)):
        with pytest.raises(raised.type) as found:
            way(2.0)
        assert str(found.value) == str(raised.value)


def test_it_is_caught_where_the_program_catches_it():
    def f(x):
        try:
            return round(x, digits=1)
        except TypeError as error:
            return x * len(error.args)

    assert wg.value_and_grad(f)(2.0) == (2.0, 1.0)


def test_what_fits_is_called():
    def f(x):
        some = sorted([x, 2 * x], key=lambda t: -t, reverse=True)
        pair = {"a": x}.get("b", x) + {"a": x}.pop("a")
        return max([*some], default=0.0, key=abs) + pair + sum([x, x], start=x) + math.log(x, 3)

    wg.testing.check_gradient(f, 1.7)


def test_entries_have_any_names():
    def f(x):
        entries = dict(x=x, self=2 * x, iterable=3.0)  # noqa: C408
        return entries["x"] * entries["self"] * entries["iterable"]

    wg.testing.check_gradient(f, 1.7)
