"""Classes that the package attrs writes, where it is installed."""

import math

import oracle
import pytest

import wengert as wg

attrs = pytest.importorskip("attrs")


@attrs.define
class Point:
    x: float
    y: float = 2.0
    tags: list = attrs.field(factory=list)

    def norm(self):
        return math.hypot(self.x, self.y)


@attrs.frozen
class Frozen:
    x: float
    square: float = attrs.field(init=False)

    def __attrs_post_init__(self):
        object.__setattr__(self, "square", self.x**2)


@attrs.define
class Converted:
    a: float = attrs.field(validator=attrs.validators.gt(0))
    b: float = attrs.field(default=3.0, converter=lambda v: 2 * v)
    c: float = attrs.field(default=attrs.Factory(lambda self: self.a + 1, takes_self=True))


@attrs.define
class Child(Point):
    w: float = attrs.field(kw_only=True, default=1.0)


def created_and_changed(x):
    p = Point(x)
    p.y += x
    p.tags.append(x)
    return p.norm() * Point(x, y=x * x).norm() + sum(p.tags)


def frozen(x):
    return Frozen(x).square * Frozen(x).x


def converted(x):
    made = Converted(x, b=x)
    made.a *= 2
    return made.a * made.b + made.c


def functions_of_attrs(x):
    child = Child(x, w=x * x)
    moved = attrs.evolve(child, x=3 * x)
    both = attrs.asdict(moved)
    return child.norm() * child.w + both["x"] * both["y"] + attrs.astuple(child)[0]


def compared(x):
    return 2 * x if Point(x) == Point(x) else x


@pytest.mark.parametrize(
    "function", [created_and_changed, frozen, converted, functions_of_attrs, compared]
)
def test_gradient(function):
    wanted = oracle.central_gradient(function, 0.5)
    assert wg.gradient(function, 0.5) == pytest.approx(wanted, rel=1e-7)


def replaced_and_evolved(x):
    child = Child(x, w=x * x)
    return attrs.evolve(child, w=3 * x).norm() * attrs.evolve(child, x=x**2).w


def test_evolve_is_known_whatever_class_it_was_put_into():
    """attrs writes the name of the class that it made last into its own function."""
    wanted = oracle.central_gradient(replaced_and_evolved, 0.5)
    assert wg.gradient(replaced_and_evolved, 0.5) == pytest.approx(wanted, rel=1e-7)
