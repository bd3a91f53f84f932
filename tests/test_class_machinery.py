"""Namedtuples with methods of their own, dispatch by class, attributes of classes: what classes can say themselves."""

# programs under test are written as their authors would

import math
from collections import namedtuple

import oracle
import pytest

import wengert as wg


class Doubled(namedtuple("Doubled", "x y")):
    __slots__ = ()

    def __new__(cls, x, y=0.5):
        return super().__new__(cls, x * 2, y)


class Own(namedtuple("Own", "x y")):
    __slots__ = ()

    def __getitem__(self, index):
        return 2 * super().__getitem__(index)

    def __iter__(self):
        return iter((self.y, self.x))

    def __len__(self):
        return 5

    def __bool__(self):
        return self.x > 1


def a_namedtuple_with_a_constructor(x):
    pair = Doubled(x)
    return pair.x * pair.y + pair[0] * pair.x


def a_namedtuple_that_says_how_it_is_read(x):
    pair = Own(x, 3.0)
    a, b = pair
    return pair[0] * pair.x + a * 2 + b * x + len(pair) + sum(pair) + (x if pair else 0.0)


class Bag:
    def __init__(self, *values):
        self.values = list(values)

    def __getitem__(self, index):
        return self.values[index]

    def __float__(self):
        return self.values[1]


def functions_of_math_on_objects_with_items(x):
    bag = Bag(x, x * x)
    return math.prod(bag) + math.fsum(bag) + math.sin(bag) + math.hypot(*bag)


PROGRAMS = [
    a_namedtuple_with_a_constructor, a_namedtuple_that_says_how_it_is_read, functions_of_math_on_objects_with_items,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("x", [0.7, 1.3])
def test_derivatives(f, x):
    (wanted,) = oracle.central_gradient(f, x)
    assert wg.value_and_grad(f)(x) == (pytest.approx(f(x)), pytest.approx(wanted, rel=1e-6))
    assert wg.derivative(f)(x) == pytest.approx(wanted, rel=1e-6)
    (second,) = oracle.central_gradient(wg.grad(f), x)
    assert wg.hvp(f)(x, 1.0) == pytest.approx(second, rel=1e-5, abs=1e-5)
    assert wg.grad(wg.derivative(f))(x) == pytest.approx(second, rel=1e-5, abs=1e-5)


def test_gradients_of_namedtuples_are_made_without_their_constructors():
    f = lambda p: p.x**2 * p.y
    made = tuple.__new__(Doubled, (8.0, 4.0))
    assert wg.gradient(f, Doubled(1.0, 2.0)) == (made,)
    assert wg.gradient(lambda ps: sum(map(f, ps)), [Doubled(1.0, 2.0)] * 9)[0][8] == made
    assert wg.grad(lambda p: wg.grad(f)(p).x)(Doubled(1.0, 2.0)) == tuple.__new__(
        Doubled, (4.0, 4.0)
    )
    y, _ = wg.pullback(lambda p: [p], Doubled(1.0, 2.0))
    assert y == [Doubled(1.0, 2.0)]


def test_namedtuples_that_are_given_say_how_they_are_read():
    (gradient,) = wg.gradient(
        lambda p: p[0] * p.x + sum(a * k for k, a in enumerate(p)), Own(1.0, 2.0)
    )
    assert tuple.__repr__(gradient) == "(5.0, 0.0)"
