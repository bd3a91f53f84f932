"""What was refused without need: bases that `@dataclass` wrote, `locals()`, files that are read."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field

import pytest

import wengert as wg


def slopes(f, x=0.7):
    """The derivative at a point, in every mode; they agree with central differences."""
    step = 1e-6
    right = (f(x + step) - f(x - step)) / (2 * step)
    found = {
        "reverse": wg.grad(f)(x),
        "forward": wg.pushforward(f, x)[1](1.0),
        "pullback": wg.pullback(f, x)[1](1.0)[0],
        "nested": wg.grad(lambda x: wg.value_and_grad(f)(x)[0])(x),
    }
    for mode, slope in found.items():
        assert slope == pytest.approx(right, rel=1e-6), mode
    curvature = (f(x + 1e-4) - 2 * f(x) + f(x - 1e-4)) / 1e-8
    assert wg.hessian(f)(x) == pytest.approx(curvature, rel=1e-4, abs=1e-5)


@dataclass
class Base:
    a: float
    b: float = 2.0
    c: list = field(default_factory=list)
    scale: InitVar[float] = 1.0

    def __post_init__(self, scale):
        self.area = self.a * self.b * scale


class Sub(Base):
    def __init__(self, a, k):
        super().__init__(a, b=k * 2.0, scale=3.0)
        self.c.append(a * a)
        self.k = k

    def value(self):
        return self.area * self.b + self.k * self.c[0]


@dataclass
class Further(Base):
    d: float = 0.0

    def __post_init__(self, scale):
        super().__post_init__(scale)
        self.d = self.a * self.a


class Furthest(Further):
    def __init__(self, a):
        Base.__init__(self, a)
        super().__init__(a, 1.5)


@dataclass(frozen=True)
class Fixed:
    a: float


class FixedSub(Fixed):
    def __init__(self, a):
        super().__init__(a * a)


def of_a_base(x):
    return Sub(x, 3.0).value()


def called_twice(x):
    found = Furthest(x)
    return found.d * found.b + found.area


def frozen(x):
    return FixedSub(x).a ** 2


def made_inside(x):
    @dataclass
    class Inner:
        a: float

    class Outer(Inner):
        def __init__(self, a):
            super().__init__(a * 2)
            self.z = a

    made = Outer(x)
    return made.a * made.z


def in_a_branch(x):
    found = Sub(x, 1.0)
    if x > 0.5:
        Base.__init__(found, x * x)
    return found.area * found.b


@pytest.mark.parametrize("f", [of_a_base, called_twice, frozen, made_inside, in_a_branch])
def test_F4_the_init_of_a_base_that_is_a_dataclass(f):
    slopes(f)


def by_name(x):
    y = x * x
    found = locals()
    return found["y"] * found["x"]


def all_of_them(x):
    y, z = 2 * x, 3 * x * x
    return sum(locals().values()) * x + len("{x}{y}{z}".format(**locals())) * 0


def of_a_closure(x):
    scale = x * x

    def inner(t):
        u = t * scale
        return sum(locals().values()) * u

    return inner(x)


def with_more(x):
    found = dict(locals(), extra=x * x)
    return found["extra"] * found["x"]


@pytest.mark.parametrize("f", [by_name, all_of_them, of_a_closure, with_more])
def test_F4_locals(f):
    slopes(f)


def may_be_bound(x):
    if x > 0.5:
        y = x * x
    return locals().get("y", 1.0) * x


def test_locals_where_only_the_run_knows_which_there_are():
    assert wg.grad(may_be_bound)(0.7) == pytest.approx(3 * 0.7**2)
    assert wg.grad(may_be_bound)(0.3) == pytest.approx(1.0)
