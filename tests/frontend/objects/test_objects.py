"""Objects of the user's own classes, made, changed and used inside differentiated functions.

Every program is differentiated and held against the oracle, which runs its own source in sixty digits.
"""

# programs under test are written as their authors would
# ruff: noqa: B019, FURB136, FURB192, RUF012, UP033

import collections
import copy
import dataclasses
import functools
import inspect
import itertools
import math
import operator
import types
from abc import ABC, abstractmethod
from collections import namedtuple
from dataclasses import InitVar, dataclass, field
from enum import Enum, IntEnum
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
import oracle
import pytest
import trees
from differences import agree
from error_texts import refusal, says
from exact import NotCovered
from standing_alone import alone

import wengert as wg
from wengert.runtime import unchanged

PROGRAMS = []


def program(*points, wrt=None):
    """A function and the arguments at which it is differentiated."""

    def add(function):
        for k, args in enumerate(points):
            given = args if isinstance(args, tuple) else (args,)
            name = function.__name__ if len(points) == 1 else f"{function.__name__}-{k}"
            PROGRAMS.append(pytest.param(function, given, wrt, id=name))
        return function

    return add


def numbers(args):
    """The arguments with a derivative: all but whole numbers."""
    return tuple(k for k, arg in enumerate(args) if not isinstance(arg, int))


# Plain classes


class Point:
    def __init__(self, x, y=0.0):
        self.x, self.y = x, y

    def norm(self):
        return math.sqrt(self.x * self.x + self.y * self.y)

    def moved(self, dx, dy=0.0):
        return Point(self.x + dx, self.y + dy)

    def move(self, dx, dy=0.0):
        self.x += dx
        self.y += dy
        return self


@program((0.5, 1.2))
def created_and_read(x, y):
    p = Point(x, y=y)
    return p.norm() + Point(y).x * p.y


@program((0.5, 1.2))
def changed_by_methods(x, y):
    p = Point(x)
    p.y = p.x * y
    p.move(y).move(x, dy=p.x)
    p.x -= p.y / 2
    return p.norm() * p.moved(1.0, x).norm()


@program((0.5, 1.2))
def two_names_for_one_object(x, y):
    p = Point(x, y)
    q = p
    q.x *= 2
    p, r = Point(p.x * y, q.x), p
    r.y += 1
    return q.x * q.y + p.x * p.y


@program((0.5, 6), (0.5, 12))
def changed_in_a_loop(x, n):
    p = Point(x, 1.0)
    for k in range(n):
        p.x += 0.1 * p.y
        p.y -= 0.1 * p.x * k
    return p.x * p.y


@program((0.5, 1.2))
def changed_in_a_while_loop(x, limit):
    p = Point(x, 1.0)
    while p.x < limit:
        p.move(0.3 * p.y, 0.1)
    return p.x * p.y


@program((0.5,), (-0.5,))
def changed_in_a_branch(x):
    p = Point(x, 2.0)
    if p.x > 0:
        p.y = p.x**2
    else:
        p.move(1.0)
    return p.x * p.y


@program((0.5,), (-0.5,))
def one_of_two_objects(x):
    a, b = Point(x, 1.0), Point(2 * x, 3.0)
    p = a if x > 0 else b
    p.x *= 3
    a.y += p.x
    return a.x * a.y + b.x * b.y + p.y


@program((0.5,), (-0.5,))
def an_object_made_in_a_branch(x):
    if x > 0:
        p = Point(x, x * x)
    else:
        p = Point(-x)
        p.y = 3 * x
    p.x += p.y
    return p.x * p.y


@program((0.5,), (-0.5,))
def made_or_referred_to(x):
    a = Point(x, 1.0)
    p = Point(x * x) if x > 0 else a
    p.x += 1.0
    return p.x * a.x


@program((0.5, 5))
def attribute_first_set_in_a_loop(x, n):
    p = Point(x)
    for k in range(n):
        p.last = p.x * k
        p.x += p.last
    return p.last + p.x


@program((0.5,), (-0.5,))
def attribute_set_in_one_branch(x):
    p = Point(x)
    if x > 0:
        p.bonus = x**3
    return p.x + (p.bonus if hasattr(p, "bonus") else 1.0) + getattr(p, "bonus", x)


@program((0.5,))
def deleted_attribute(x):
    p = Point(x, x * x)
    kept = p.y
    del p.y
    delattr(p, "x")
    p.x = kept if not hasattr(p, "y") else 0.0
    return p.x * kept


class Counter:
    total = 0.0
    step = 0.5

    def add(self, x):
        self.total += self.step * x
        return self


@program((0.5, 5))
def class_attributes_as_defaults(x, n):
    a, b = Counter(), Counter()
    b.step = x
    for k in range(n):
        a.add(x)
        b.add(a.total).add(k)
    return a.total * b.total + Counter.step


class Registry:
    made = 0
    weight = 1.5

    def __init__(self, x):
        Registry.made += 1
        self.x = x * Registry.made


def attributes_of_classes_assigned(x):
    Registry.made, Registry.weight = 0, 1.5
    items = [Registry(x), Registry(2 * x)]
    Registry.weight *= items[1].x
    for k in range(4):
        if k > 1:
            Registry.weight += x
    return sum(item.x * item.weight for item in items) * Registry.made


def test_attributes_of_classes_are_assigned():
    wanted = oracle.central_gradient(attributes_of_classes_assigned, 0.5)
    assert wg.gradient(attributes_of_classes_assigned, 0.5) == pytest.approx(wanted, rel=1e-7)
    assert Registry.made == 2
    assert Registry.weight == pytest.approx(1.5 * 4 * 0.5 + 1.0)


def counted_by_a_class_inside(x):
    class Beam:
        made = 0
        load = 0.5

        def __init__(self, width):
            Beam.made += 1
            self.width = width

        @property
        def stiffness(self):
            Beam.load *= self.width
            return self.width**3

        def carry(self, more):
            type(self).load += more
            return self

    beams = [Beam(x), Beam(2 * x).carry(x)]
    return sum(each.stiffness for each in beams) * Beam.made * Beam.load


def an_attribute_that_a_class_inside_inherits_or_gets(x):
    class Rod(Counter):
        pass

    twice = 2 * x

    class Made:
        first = twice

    Rod.step += x
    Rod.step *= 2
    Made.last = getattr(Made, "last", 1.0) * x
    Made.last *= 3
    if x > 1:
        Made.first = Made.first * x
    return Rod.step * Made.last * Made.first


def a_class_made_in_every_turn(x):
    total = 0.0
    for k in range(3):

        class Turn:
            count = 1

            def bump(self):
                Turn.count += k  # noqa: B023
                return Turn.count

        total += Turn().bump() * x + Turn().bump() * x**2
    return total


def an_attribute_bound_on_both_branches(x):
    class Law:
        rate = 1.0

    if x > 1:
        Law.rate = x * x
    else:
        Law.rate = 2 * x
    return Law.rate * x


def an_attribute_bound_by_a_function_that_is_differentiated(x):
    class Law:
        rate = 1.0

    def bound(t):
        Law.rate = t * t * x
        return Law.rate * t

    slope = wg.derivative(bound)(x)
    return slope * Law.rate + slope * slope


CLASSES_INSIDE = [
    counted_by_a_class_inside,
    an_attribute_that_a_class_inside_inherits_or_gets,
    a_class_made_in_every_turn,
    an_attribute_bound_on_both_branches,
    an_attribute_bound_by_a_function_that_is_differentiated,
]


@pytest.mark.parametrize("f", CLASSES_INSIDE)
def test_second_derivatives_with_a_class_inside(f):
    for x in (0.5, 2.0):
        wanted = pytest.approx(oracle.central_gradient(wg.grad(f), x)[0], rel=1e-6)
        assert wg.hessian(f)(x) == wanted
        assert wg.hvp(f)(x, 1.0) == wanted


@pytest.mark.parametrize("f", CLASSES_INSIDE)
def test_a_class_inside_starts_anew_with_every_call(f):
    gradient, derivative = wg.grad(f), wg.derivative(f)
    for x in (0.5, 2.0, 0.5, 2.0):
        wanted = pytest.approx(oracle.central_gradient(f, x)[0], rel=1e-7)
        assert gradient(x) == wanted
        assert derivative(x) == wanted


class Slotted:
    __slots__ = ("_hidden", "x")

    def __init__(self, x):
        self.x = x
        self._hidden = 2 * x


class MoreSlots(Slotted):
    __slots__ = ("z",)

    def __init__(self, x, z):
        super().__init__(x)
        self.z = z


@program((0.5, 1.2))
def slots(x, z):
    s, t = Slotted(x), MoreSlots(x, z)
    s.x *= t.z
    t._hidden += s.x
    return s.x * t._hidden + t.z + (1.0 if hasattr(s, "z") else x)


class Blank:
    pass


@program((0.5,))
def empty_classes_and_namespaces(x):
    b = Blank()
    b.x = x
    n = types.SimpleNamespace(y=x * x, b=b)
    n.b.x += n.y
    n.z = n.b.x * 2
    return n.z * b.x


# How objects are made


class Even:
    def __new__(cls, x, scale=2.0):
        made = super().__new__(cls)
        made.scale = scale
        return made

    def __init__(self, x, scale=2.0):
        self.x = x * self.scale


class Interned:
    def __new__(cls, x):
        return Point(x, 3.0)


@program((0.5,))
def own_new(x):
    a = Even(x, scale=x)
    b = object.__new__(Point)
    b.x, b.y = x, a.x
    return a.x * b.norm() + Interned(x).norm()


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    @classmethod
    def unit(cls):
        return cls(1.0)


class Disc(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2


@program((0.5,))
def abstract_classes(x):
    return Disc(x).area() * Disc.unit().area() + (1.0 if isinstance(Disc(x), Shape) else 0.0)


T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, item: T):
        self.item = item

    def get(self) -> T:
        return self.item


@program((0.5,))
def generic_classes(x):
    return Box[float](x).get() * Box(x * x).item


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.tag = made.x * 2
        return made


class Tagged(metaclass=Meta):
    def __init__(self, x):
        self.x = x


@program((0.5,))
def metaclass(x):
    return Tagged(x).tag * x


class Animal:
    legs, scale = 4, 1.0

    def __init_subclass__(cls):
        cls.scale = 1.5 * cls.legs

    def __init__(self, mass):
        self.mass = mass

    def speed(self):
        return self.scale * self.legs / self.mass


class Bird(Animal):
    legs = 2


@program((0.5,))
def subclass_hooks(x):
    return Animal(x).speed() + Bird(x).speed()


@dataclass
class Plain:
    x: float
    y: float = 2.0
    tags: list = field(default_factory=list)

    def total(self):
        return self.x * self.y + sum(self.tags)


@dataclass
class Checked:
    radius: float
    scale: InitVar[float] = 1.0
    area: float = field(init=False)
    history: list = field(default_factory=list, repr=False)

    def __post_init__(self, scale):
        if self.radius < 0:
            raise ValueError("negative radius")
        self.radius *= scale
        self.area = math.pi * self.radius**2
        self.history.append(self.radius)


@dataclass(frozen=True, slots=True, order=True)
class Frozen:
    x: float
    y: float = 0.5
    norm: float = field(init=False, compare=False)

    def __post_init__(self):
        object.__setattr__(self, "norm", math.hypot(self.x, self.y))


@dataclass(kw_only=True)
class Keyword:
    x: float
    y: float = 3.0


@dataclass
class Child(Plain):
    z: float = 1.0
    kind: str = "child"


@program((0.5,))
def dataclasses_made(x):
    a, b = Plain(x), Plain(x, y=x * x, tags=[x])
    a.tags.append(x**3)
    a.y += b.y
    c = Child(x, z=2 * x)
    c.tags.append(c.z)
    return a.total() + b.total() * c.total() + c.y


@program((0.5, 1.5))
def dataclasses_with_hooks(x, scale):
    a, b = Checked(x), Checked(x, scale=scale)
    a.history.append(b.area)
    return a.area * b.area + sum(a.history) + sum(b.history)


@program((0.5, 1.5))
def frozen_dataclasses(x, y):
    a = Frozen(x, y)
    b = dataclasses.replace(a, x=2 * a.y)
    bigger = b if a < b else a
    return a.norm * b.norm + bigger.x + (1.0 if a == Frozen(x, y) else 0.0)


@program((0.5, 1.5))
def keyword_only_fields(x, y):
    return Keyword(x=x, y=y).x * Keyword(x=y).y


@program((0.5,))
def functions_of_dataclasses(x):
    p = Plain(x, tags=[x, 2 * x])
    d, t = dataclasses.asdict(p), dataclasses.astuple(p)
    d["tags"].append(1.0)
    p.tags[0] *= 5
    names = [f.name for f in dataclasses.fields(p)]
    q = dataclasses.replace(p, y=d["x"])
    q.tags.append(x)
    total = sum(getattr(p, name) for name in names[:2])
    return total + t[0] * d["y"] + sum(d["tags"]) + sum(p.tags) + len(t[2]) + q.y


class Vec(NamedTuple):
    x: float
    y: float = 1.0

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    @property
    def norm(self):
        return math.hypot(*self)

    @classmethod
    def diagonal(cls, x):
        return cls(x, x)


Pair = namedtuple("Pair", "first second", defaults=[2.0])


@program((0.5,))
def namedtuples(x):
    v = Vec(x)
    w = v._replace(y=3 * x)
    a, b = Vec._make([x, w.y])
    pair = Pair(w)
    return v.dot(w) + w._asdict()["y"] * a * b + Vec.diagonal(x).norm + pair.second * pair.first.x


@program((0.5, 3))
def namedtuples_that_a_loop_lists(x, n):
    pairs = []
    for k in range(n):
        pairs.append(Pair(np.array([x, k * x]), x * k))  # noqa: PERF401
    pairs[0].first[1] = 3 * x
    pairs[2].first[0] *= pairs[0].first[1]
    return sum(pair.first.sum() * (pair.second + 1) for pair in pairs)


GAIN = 2.0


class Phase(Enum):
    COLD = "c"
    WARM = "w"
    HOT = "h"

    @property
    def weight(self):
        return {Phase.COLD: 1.0, Phase.WARM: GAIN}.get(self, 0.5)

    def next(self):
        members = list(Phase)
        return members[(members.index(self) + 1) % len(members)]


def members_with_properties(x):
    class Inside(Enum):
        ONE = 1.0
        TWO = 2.0

        @property
        def scaled(self):
            return self.value * x

    phase, total = Phase.COLD, 0.0
    for k in range(7):
        total += x**k * phase.weight
        phase = Phase("h") if total > 2 and phase is not Phase.HOT else phase.next()
    return total * Inside.ONE.scaled + Inside.TWO.scaled * Phase.COLD.next().weight


def phases_of_a_class_inside(x):
    class State(Enum):
        OFF = 0
        ON = 1

        @property
        def weight(self):
            return {State.OFF: 1.0, State.ON: GAIN}[self]

        def next(self):
            return State.ON if self is State.OFF else State.OFF

    rates = {State.OFF: x, State.ON: x * x}
    state, total = State.OFF, 0.0
    for k in range(6):
        total += rates[state] * state.weight * k
        state = State(1) if total > 3 else state.next()
    return total * rates[state]


ASKED = 0


def globals_in_methods_of_a_class_inside(x):
    class Meter:
        def read(self, value):
            global ASKED
            ASKED += 1
            return value * GAIN * ASKED

    meter = Meter()
    return meter.read(x) + meter.read(x * x)


def test_methods_of_a_class_inside_see_globals_change(monkeypatch):
    gradient = wg.grad(globals_in_methods_of_a_class_inside)
    for gain in (2.0, 3.0):
        monkeypatch.setitem(globals(), "GAIN", gain)
        monkeypatch.setitem(globals(), "ASKED", 0)
        assert gradient(0.5) == pytest.approx(gain * (1 + 2 * 2 * 0.5))
        assert ASKED == 2


@pytest.mark.parametrize("f", [members_with_properties, phases_of_a_class_inside])
def test_properties_of_members(f, monkeypatch):
    gradient = wg.grad(f)
    for gain in (2.0, 3.0):
        monkeypatch.setitem(globals(), "GAIN", gain)
        for x in (0.4, 1.3):
            wanted = oracle.central_gradient(f, x)[0]
            assert gradient(x) == pytest.approx(wanted, rel=1e-7)


class Mode(Enum):
    FAST = 2.0
    SLOW = 0.5

    def apply(self, x):
        return self.value * x


class Level(IntEnum):
    LOW = 1
    HIGH = 3


@program((0.5,))
def enumerations(x):
    mode = Mode.FAST if x > 0 else Mode.SLOW
    total = Mode.FAST.apply(x) * Mode("slow" and 0.5).value + Level.HIGH * x
    for each in Mode:
        total += each.value * x
    return total * {Mode.FAST: x, Mode.SLOW: 1.0}[mode] + (x if mode is Mode.FAST else 0.0)


@program((0.5,), (2.5,))
def phases_that_are_numbers(x):
    phase, log = Level.LOW, []
    for k in range(4):
        if k * x > 2.0:
            phase = Level.HIGH
        scale = 1.5 if isinstance(phase, Level) else 2.5
        log.append((phase.name, x * scale * phase * phase.value + len(f"{phase!r}")))
    return sum(len(name) * value for name, value in log) + x * Level.HIGH


# What classes say of attributes


class Tank:
    def __init__(self, level):
        self._level = level
        self.changes = 0

    @property
    def level(self):
        return self._level

    @level.setter
    def level(self, value):
        self.changes += 1
        self._level = min(value, 1.0)

    @level.deleter
    def level(self):
        self._level = 0.25

    @property
    def double(self):
        return 2 * self.level

    @staticmethod
    def half(x):
        return x / 2

    @classmethod
    def full(cls):
        return cls(1.0)


@program((0.5, 0.7))
def properties(x, y):
    tank = Tank(x)
    tank.level += y / 4
    first = tank.level
    tank.level = 5.0
    other = Tank.full()
    del other.level
    return first * tank.double + Tank.half(x) * tank.half(y) * tank.changes + other.level


class Lazy:
    def __init__(self, x):
        self.x = x
        self.calls = 0

    @functools.cached_property
    def square(self):
        self.calls += 1
        return self.x**2


@program((0.5,))
def cached_properties(x):
    lazy = Lazy(x)
    first = lazy.square
    lazy.x = 10.0
    second = lazy.square * lazy.calls
    del lazy.square
    return first * second + lazy.square


@program((0.5,), (1.5,))
def cached_in_a_loop_or_a_branch(x):
    lazy, other = Lazy(x), Lazy(2 * x)
    if x > 1:
        x = x + other.square
    total = 0.0
    for k in range(3):
        if k > 0:
            total += lazy.square * lazy.calls
        lazy.x = lazy.x * 1.5
        other.x = total
    return total * lazy.square + other.square * other.calls + hasattr(other, "square") * x


def cached_in_one_of_several(x):
    many = [Lazy(x), Lazy(2 * x)]
    total = 0.0
    for k in range(20):
        total += many[k % 2].square
    return total


def test_what_a_class_computes_for_an_unknown_object_its_run_decides():
    (slope,) = oracle.central_gradient(cached_in_one_of_several, 0.5)
    assert wg.grad(cached_in_one_of_several)(0.5) == pytest.approx(slope)
    assert wg.pushforward(cached_in_one_of_several, 0.5)[1](1.0) == pytest.approx(slope)
    with pytest.raises(ValueError, match="the attribute 'square' of Lazy is computed by its"):
        alone(wg.grad(cached_in_one_of_several))(0.5)


class Scaled:
    """Its operators are not those of its numbers."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        if isinstance(other, Scaled):
            return Scaled(self.x + other.x, self.y + 2 * other.y)
        return Scaled(self.x * other, 3 * self.y * other)

    def __radd__(self, other):
        return self

    def __mul__(self, k):
        return Scaled(self.x * k, 3 * self.y * k)

    def __neg__(self):
        return Scaled(-self.x, -2 * self.y)

    def __iadd__(self, other):
        self.x += other.x
        self.y += 4 * other.y
        return self

    def __abs__(self):
        return math.hypot(self.x, 2 * self.y)

    def __float__(self):
        return self.x * self.y


@program((0.4, 0.9))
def functions_of_operators(x, y):
    many = [Scaled(x * k, y) for k in range(3)]
    total = functools.reduce(operator.add, many)
    turned = operator.neg(operator.mul(many[1], 2.0))
    sums = list(itertools.accumulate(many))
    table = {"+": operator.add, "*": operator.mul}
    flat = functools.reduce(operator.add, [[x], [y, x * y]], [])
    flat[2] *= operator.mul(*(value for value in flat[:2])) + operator.add(*many[1:]).x
    return total.x * total.y + turned.y + sums[1].y * table["+"](many[1], many[2]).y + flat[2]


@program((0.4, 0.9))
def operators_of_objects_that_only_the_run_knows(x, y):
    many = {k: Scaled(x * k, y) for k in range(int(abs(x)) + 3)}
    shifted, turned = many[1] + 2.0, -many[2]
    many[1] += many[2]
    total = sum(many.values())
    return shifted.x * shifted.y + turned.y * total.y + abs(many[1]) * float(many[2])


def test_an_operator_of_a_class_that_only_the_run_knows_is_no_addition():
    with pytest.raises(
        ValueError, match="an operator, or what reads or changes items, is that of the class Scaled"
    ):
        alone(wg.grad(operators_of_objects_that_only_the_run_knows))(0.4, 0.9)


@pytest.mark.static_tier
@pytest.mark.parametrize("function", [np.add, np.multiply, np.sum, np.mean])
def test_functions_of_numpy_on_objects_with_operators_are_refused(function):
    def program(x):
        pair = Scaled(x, x), 2.0
        return (function(*pair) if isinstance(function, np.ufunc) else function(list(pair))).x

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(program)(0.4))
    says(error, "of NumPy is called on objects of a class", "operators of its own")


class MadeAnew:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        if name == "nothing":
            raise AttributeError(name)
        return 2 * self.x


@program((0.43,), (1.5,))
def kept_or_made_by_its_class(x):
    made = MadeAnew(x)
    for k in range(3):
        if k * x > 1:
            made.gain = x * x
            made.nothing = x
        x = x * made.gain * (1 + hasattr(made, "gain") + 2 * hasattr(made, "nothing"))
    return x


class Fallback:
    def __init__(self, **values):
        self.values = values

    def __getattr__(self, name):
        return 2 * self.__dict__["values"][name]

    def __setattr__(self, name, value):
        if name == "values":
            super().__setattr__(name, value)
        else:
            self.values[name] = 3 * value

    def __delattr__(self, name):
        del self.values[name]


@program((0.5,))
def attribute_hooks(x):
    f = Fallback(a=x, c=1.0)
    f.b = f.a
    del f.c
    return f.b * f.a + len(f.values)


class Bounded:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, kind=None):
        return self if owner is None else getattr(owner, self.name)

    def __set__(self, owner, value):
        setattr(owner, self.name, min(max(value, self.low), self.high))


class Doubling:
    def __get__(self, owner, kind=None):
        return 2 * owner.value


class Valve:
    value = Bounded(0.0, 1.0)
    doubled = Doubling()

    def __init__(self, value):
        self.value = value


@program((0.5,), (2.0,))
def descriptors(x):
    valve = Valve(x)
    valve.value *= 1.5
    return valve.value * valve.doubled + x


@program((0.5,))
def attributes_by_name(x):
    p = Point(x, 2.0)
    for name in ("x", "y"):
        setattr(p, name, getattr(p, name) * x)
    which = "x" if p.x > 0 else "y"
    setattr(p, which, getattr(p, which) + 1)
    return p.x * p.y + getattr(p, "z", x)


@program((0.5,))
def dictionaries_of_attributes(x):
    p = Point(x, 2.0)
    vars(p)["x"] = 3 * x
    p.__dict__.update(z=x, y=p.y * x)
    p.x += 1
    total = sum(vars(p).values())
    return total + sum(getattr(p, name) for name in p.__dict__) + p.__class__(x).x


# Inheritance


class Base:
    rate = 2.0

    def __init__(self, x, **options):
        super().__init__(**options)
        self.x = x

    def value(self):
        return self.rate * self.x

    @property
    def square(self):
        return self.x**2

    @classmethod
    def make(cls, x):
        return cls(x)


class Mixin:
    def __init__(self, extra=1.0):
        self.extra = extra

    def value(self):
        return self.extra


class Derived(Base, Mixin):
    rate = 3.0

    def value(self):
        return super().value() + super(Base, self).value() + Base.value(self)

    @property
    def square(self):
        return super().square + self.extra

    @classmethod
    def make(cls, x):
        made = super().make(x)
        made.extra = 2 * x
        return made


@program((0.5,))
def inheritance(x):
    a, b, c = Base(x), Derived(x, extra=x * x), Derived.make(x)
    return a.value() * b.value() + b.square * c.value() + c.square + type(c)(x).x


class Left:
    def describe(self):
        return [*super().describe(), self.x]


class Right:
    def describe(self):
        return [*super().describe(), 2 * self.x]


class Root:
    def __init__(self, x):
        self.x = x

    def describe(self):
        return [self.x**2]


class Diamond(Left, Right, Root):
    pass


@program((0.5,))
def method_resolution_order(x):
    a, b, c = Diamond(x).describe()
    return a + 10 * b + 100 * c


# Operators


@functools.total_ordering
class Money:
    def __init__(self, amount, currency="EUR"):
        self.amount, self.currency = amount, currency

    def __add__(self, other):
        if not isinstance(other, Money):
            return NotImplemented
        return Money(self.amount + other.amount)

    def __radd__(self, other):
        return Money(self.amount + other)

    def __mul__(self, factor):
        return Money(self.amount * factor)

    __rmul__ = __mul__

    def __sub__(self, other):
        return Money(self.amount - getattr(other, "amount", other))

    def __rsub__(self, other):
        return Money(other - self.amount)

    def __truediv__(self, other):
        return self.amount / other.amount

    def __floordiv__(self, other):
        return Money(self.amount // other)

    def __mod__(self, other):
        return Money(self.amount % other)

    def __pow__(self, n):
        return Money(self.amount**n)

    def __rpow__(self, base):
        return base**self.amount

    def __neg__(self):
        return Money(-self.amount)

    def __pos__(self):
        return self

    def __invert__(self):
        return Money(1 / self.amount)

    def __abs__(self):
        return Money(abs(self.amount))

    def __matmul__(self, other):
        return self.amount * other.amount

    def __and__(self, other):
        return Money(min(self.amount, other.amount))

    def __or__(self, other):
        return Money(max(self.amount, other.amount))

    def __xor__(self, other):
        return Money(self.amount - other.amount)

    def __lshift__(self, other):
        return Money(self.amount * 2**other)

    def __divmod__(self, other):
        return self // other, self % other

    def __round__(self, digits=0):
        return Money(self.amount + digits)

    def __float__(self):
        return self.amount

    def __int__(self):
        return 3

    def __index__(self):
        return 1

    def __bool__(self):
        return self.amount > 0.1

    def __eq__(self, other):
        return self.amount == other.amount

    def __lt__(self, other):
        return self.amount < other.amount

    def __hash__(self):
        return hash(self.currency)

    def __str__(self):
        return f"{self.amount:.2f} {self.currency}"

    def __format__(self, spec):
        return format(self.amount, spec)


@program((0.5, 2.3))
def arithmetic_operators(x, y):
    a, b = Money(x), Money(y)
    c = 2 * a + b * 3 - 1.0
    d = (5.0 - c) * 0.5 + b
    e = sum([a, b, c], 0.0)
    f = (-a + +b) ** 2 + ~b
    g = 2.0**a + a @ b + c / b + (a & b).amount + (a | b).amount * (a ^ b).amount
    h = (b // 1.0 + b % 0.7).amount + (a << 2).amount
    return d.amount + e.amount * f.amount + g + h + abs(-a).amount


@program((0.5, 2.3), (2.3, 0.5), (0.7, 1.1))
def sorted_by_their_own_order(x, y):
    all_of_them = [Money(x, "a"), Money(y, "b"), Money(0.83, "c")]
    for _ in range(3):
        all_of_them = sorted(all_of_them)
        least, _, most = all_of_them
        most.amount -= 0.1 * x
        least.amount += 0.2 * y
    falling = sorted(all_of_them, reverse=True)
    all_of_them.sort()
    return sum([(k + 1) * m.amount for k, m in enumerate(all_of_them)]) + falling[0].amount ** 2


@program((0.5, 2.3), (2.3, 0.5))
def comparisons(x, y):
    a, b = Money(x), Money(y)
    total = 0.0
    if a < b:
        total += x
    if a >= b:
        total += y * y
    if a <= b or a > b:
        total += x * y
    if a != b and not a == b:
        total += 3 * x
    if a:
        total += 5 * y
    return total + max(a, b).amount * min([a, b]).amount + sorted([b, a])[0].amount ** 2


@program((0.5, 2.3))
def conversions(x, y):
    a, b = Money(x), Money(y)
    whole, rest = divmod(b, 1.0)
    text = f"{a} {b:.1f} {a!r}"
    part = [1.0, x, y][a]
    return (
        float(a) * math.sin(b) + math.atan2(a, b) + int(b) * round(a, 2).amount
        + whole.amount + rest.amount * part + (len(text) > 3) + bool(a) * x
    )  # fmt: skip


class Grid:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]

    def __getitem__(self, key):
        if isinstance(key, tuple):
            i, j = key
            return self.rows[i][j]
        return self.rows[key]

    def __setitem__(self, key, value):
        i, j = key
        self.rows[i][j] = value

    def __delitem__(self, key):
        del self.rows[key]

    def __len__(self):
        return len(self.rows)

    def __iter__(self):
        return iter(self.rows)

    def __reversed__(self):
        return reversed(self.rows)

    def __contains__(self, value):
        return any(value in row for row in self.rows)

    def __iadd__(self, other):
        for i, row in enumerate(other):
            for j, item in enumerate(row):
                self.rows[i][j] += item
        return self

    def __call__(self, x):
        return sum(x**k * row[0] for k, row in enumerate(self.rows))


@program((0.5, 2.3))
def containers_of_ones_own(x, y):
    g = Grid([[x, y], [1.0, x * y], [3.0, 4.0]])
    alias = g
    g[0, 1] *= x
    g += Grid([[1.0, x]])
    del g[2]
    first, second = g
    total = sum(row[1] for row in g) + sum(row[0] for row in reversed(g)) * len(g)
    if 1.0 in g and 77.0 not in g:
        total += x
    return total + alias(y) + g[1][0] * first[0] + second[1]


@program((0.5, 6))
def run_time_indices(x, n):
    g = Grid([[0.0] * 3 for _ in range(3)])
    for k in range(n):
        g[k % 3, (k * k) % 3] += x * k
    return sum(row[0] * row[1] for row in g.rows) + g[1, 1]


class Inplace:
    def __init__(self, x):
        self.x = x

    def __imul__(self, factor):
        self.x *= factor
        return self

    def __isub__(self, other):
        return Inplace(self.x - other)


@program((0.5,))
def in_place_operators(x):
    a = Inplace(x)
    b = a
    a *= 3
    a -= x
    b *= x
    return a.x * b.x


# Functions, methods, callbacks


@program((0.5, 1.2))
def methods_as_values(x, y):
    p = Point(x, y)
    move, norm = p.move, p.norm
    for _ in range(3):
        move(0.1, dy=x)
    table = {"norm": norm, "move": p.move}
    table["move"](1.0)
    calls = [p.norm, Point(y, x).norm, lambda: p.x]
    made = [call() for call in calls]
    unbound = Point.norm
    return norm() + sum(made) + table["norm"]() * unbound(p) + norm.__self__.x


@program((0.5, 1.2))
def callbacks(x, y):
    def repeat(action, n):
        for k in range(n):
            action(x * k)

    p = Point(x, y)
    repeat(p.move, 4)
    moved = list(map(p.moved, [0.1, 0.2]))
    half = functools.partial(p.move, dy=y)
    half(1.0)
    get = operator.attrgetter("x")
    both = operator.attrgetter("x", "y")(p)
    norm = operator.methodcaller("norm")
    return p.norm() + sum(m.x for m in moved) + get(p) * both[1] + norm(p)


@program((0.5, 1.2))
def functions_in_attributes(x, y):
    p = Point(x, y)
    p.f = lambda t: t * p.x
    p.g = math.sin
    p.x += 1.0
    return p.f(y) + p.g(x) + p.f(p.g(p.x))


class Model:
    def __init__(self, scale, activation=math.tanh):
        self.scale = scale
        self.activation = activation
        self.layers = []

    def add(self, *weights):
        self.layers.append(lambda t: self.activation(sum(w * t for w in weights)) * self.scale)
        return self

    def __call__(self, t):
        for layer in self.layers:
            t = layer(t)
        return t


@program((0.5, 1.2))
def closures_over_self(x, y):
    model = Model(y).add(x, 2 * x).add(y)
    model.scale *= 2
    return model(x) + Model(x, activation=lambda t: t * t).add(y)(x)


@program((0.5, 7), (0.5, 2))
def functions_chosen_at_run_time(x, n):
    p = Point(x)
    actions = [p.move, lambda t: p.move(t * t), p.moved]
    events = {2: lambda: p.move(x), 4: lambda: setattr(p, "y", p.x)}
    for k in range(n):
        actions[k % 3](x * k)
        if k in events:
            events[k]()
    return p.x * (1 + p.y)


class Walker:
    def __init__(self, x):
        self.x, self.steps = x, 0.0

    def walk(self, n):
        if n == 0:
            return self.x
        self.x *= 1.1
        self.steps += self.x
        return self.walk(n - 1) + self.steps


@program((0.5, 3))
def functions_made_in_loops_and_branches(x, n):
    def multiplying(a):
        return lambda t: t * a + x

    def repeated(k, function):
        return x if k == 0 else function(repeated(k - 1, function))

    if x > 0:
        chosen = multiplying(x)
    elif x > -1:
        chosen = functools.partial(pow, x)
    else:
        chosen = Point(x).norm
    for k in range(n):
        last = multiplying(x * k)
        bound = Point(x, k).norm
    return chosen(2.0) + last(3.0) * bound() + repeated(n, last) + repeated(2, chosen)


@program((0.5, 4))
def methods_that_recurse(x, n):
    walker = Walker(x)
    total = walker.walk(n)
    return total * walker.steps + walker.x


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right

    def total(self):
        below = sum(child.total() for child in (self.left, self.right) if child is not None)
        return self.value + 0.5 * below

    def scale(self, factor):
        self.value *= factor
        for child in (self.left, self.right):
            if child:
                child.scale(factor * self.value)


@program((0.5, 1.2))
def trees_of_objects(x, y):
    tree = Node(x, Node(y, Node(2.0)), Node(x * y))
    tree.scale(1.5)
    return tree.total() + tree.left.left.value


@program((0.5, 1.2))
def objects_that_refer_to_each_other(x, y):
    parent, child = Node(x), Node(y)
    parent.left, child.right = child, parent
    for _ in range(3):
        parent.left.value += child.right.value * 0.5
        child.right.value *= 0.9
    return parent.value * child.value + (1.0 if parent.left is child else 0.0)


# Many objects


@program((0.5, 3), (0.5, 12))
def lists_of_objects(x, n):
    points = [Point(x * k, 1.0) for k in range(n)]
    for k, p in enumerate(points):
        p.x += k * x
    for p in points:
        p.move(0.1, p.x)
    points[1].x = points[-1].y
    points.append(Point(x))
    return sum(p.x * p.y for p in points) + len(points)


@program((0.5,))
def dictionaries_of_objects(x):
    points = {"a": Point(x), "b": Point(2 * x)}
    points["c"] = points["a"]
    for p in points.values():
        p.move(1.0)
    for name, p in points.items():
        p.y += p.x if name != "b" else 3.0
    del points["b"]
    return sum(p.x * p.y for p in points.values()) + ("b" in points)


@program((0.5, 1.2))
def smallest_and_sorted_objects(x, y):
    points = [Point(y), Point(x), Point(x * y)]
    low = min(points, key=lambda p: p.x)
    low.x += 5.0
    ordered = sorted(points, key=lambda p: p.x, reverse=True)
    ordered[0].y = x
    return sum((k + 1) * p.x + p.y for k, p in enumerate(points)) + ordered[1].x


@program((0.5,))
def membership_and_identity(x):
    a, b = Point(x), Point(x)
    points = [a, b]
    other = a
    total = 0.0
    if other is a and a is not b and a in points and Point(x) not in points:
        total += x
    if a == other and a != b:
        total += x * x
    return total


@program((0.5,))
def copies(x):
    a = Point([x, 2 * x], Point(x))
    shallow, deep = copy.copy(a), copy.deepcopy(a)
    a.x[0] *= 3
    a.y.x += 1
    a.y = Point(7.0)
    shallow.x.append(x)
    deep.x[1] = x**3
    return sum(a.x) * shallow.y.x + sum(deep.x) * deep.y.x + a.y.x


class Copied:
    def __init__(self, x):
        self.x = x

    def __copy__(self):
        return Copied(2 * self.x)

    def __deepcopy__(self, memo):
        return Copied(3 * self.x)


@program((0.5,))
def own_copies(x):
    return copy.copy(Copied(x)).x * copy.deepcopy([Copied(x)])[0].x


class State:
    def __init__(self, u):
        self.u = u
        self.log = []
        self.table = {}

    def step(self, dt):
        self.u[1:-1] += dt * (self.u[2:] - 2 * self.u[1:-1] + self.u[:-2])
        self.log.append(self.u[1])
        self.table[len(self.log)] = self.u.sum()


@program((np.array([0.0, 0.7, -0.3, 0.4, 0.0]), 0.1))
def attributes_that_change_in_place(u, dt):
    state = State(u.copy())
    view = state.u
    for _ in range(4):
        state.step(dt)
    return sum(state.log) + state.table[2] * view[2] + len(state.table)


class Stack:
    def __init__(self):
        self._items = []

    def push(self, x):
        self._items.append(x)

    def pop(self):
        return self._items.pop()

    def __len__(self):
        return len(self._items)


@program((0.5, 5))
def stack(x, n):
    s, total = Stack(), 0.0
    for k in range(n):
        s.push(x * k)
    while s:
        top = s.pop()
        total += top * len(s)
    return total


class Cell:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest


@program((0.5, 9))
def linked_list(x, n):
    head = None
    for k in range(n):
        head = Cell(x * k, head)
    total = 0.0
    while head is not None:
        total += head.value * x
        head = head.rest
    return total


class Off:
    def __init__(self, x):
        self.x = x

    def press(self):
        return On(self.x + 1)


class On(Off):
    def press(self):
        return Off(self.x * 2)


@program((0.5,))
def states_as_classes(x):
    state = Off(x)
    for _ in range(4):
        state = state.press()
    return state.x


@program((0.5,))
def objects_as_keys(x):
    a, b = Point(x), Point(2 * x)
    weights = {a: x, Frozen(1.0, 2.0): 3 * x}
    weights[b] = x * x
    weights[a] += 1
    for key, weight in weights.items():
        key_x = key.x
        a.y += key_x * weight
    del weights[b]
    known = (a in weights) + (b in weights)
    return a.y * weights[Frozen(1.0, 2.0)] + known * x + len(weights)


# Objects that were there before


STATE = Point(1.0, 2.0)
SERIES = [1.0, 2.0]
TABLE = {"a": 1.0}
FIELD = np.ones(3)


class Shared:
    items = [1.0, 2.0]


def outside_the_program(x, n):
    STATE.x, STATE.y = x, 2.0
    SERIES[:] = [x, 2.0]
    FIELD[:] = 1.0
    for k in range(n):
        FIELD[k] += x * k
        STATE.move(FIELD[k])
    if x > 0:
        SERIES[1] = x * x
        TABLE["a"] = STATE.x
        STATE.y *= x
    Shared.items[0] = SERIES[1]
    return STATE.x * STATE.y + SERIES[0] * SERIES[1] + TABLE["a"] * Shared().items[0] + FIELD.sum()


@pytest.mark.parametrize("x", [0.5, -0.5])
def test_objects_that_were_there_before(x):
    wanted = oracle.central_gradient(outside_the_program, x, 3, wrt=(0,))
    STATE.x = TABLE["a"] = 1.0
    assert wg.grad(outside_the_program)(x, 3) == pytest.approx(wanted[0], rel=1e-7)
    left = [STATE.x, STATE.y, *SERIES, TABLE["a"], *Shared.items, *FIELD]
    TABLE["a"] = 1.0
    outside_the_program(x, 3)
    assert left == [STATE.x, STATE.y, *SERIES, TABLE["a"], *Shared.items, *FIELD]


# Remembered results


@functools.lru_cache(maxsize=None)
def remembered(x, k=2):
    return math.sin(x) * k


class Remembering:
    def __init__(self, r):
        self.r = r

    @functools.lru_cache(maxsize=8)
    def area(self):
        return math.pi * self.r**2


@program((0.5,))
def remembered_results(x):
    @functools.cache
    def local(k):
        return x * k

    circle = Remembering(x)
    first = circle.area()
    circle.r *= 2
    return remembered(x) * remembered(x, k=3) + first * circle.area() + local(2) * local(2)


# Classes and their names


@runtime_checkable
class HasArea(Protocol):
    def area(self): ...


@program((0.5,))
def questions_about_classes(x):
    p, d = Point(x), Disc(x)
    total = 0.0
    if isinstance(p, Point) and not isinstance(p, (Shape, Disc)):
        total += x
    if type(d) is Disc and d.__class__ is not Point and type(p).__name__ == "Point":
        total += x * x
    if isinstance(d, HasArea) and not isinstance(p, HasArea) and issubclass(Disc, Shape):
        total += 3 * x
    if callable(p.norm) and not callable(p) and isinstance(p.x, float):
        total += 5 * x
    return total


@program((0.5,), (-0.5,))
def class_patterns(x):
    total = 0.0
    for shape in (Disc(x), Point(x, 2.0), Plain(x, y=3.0), Vec(x, 4.0), Mode.FAST):
        match shape:
            case Disc(r=r) if r > 0:
                total += r
            case Plain(a, y=b):
                total += a * b
            case Vec(a, b):
                total += a * a * b
            case Point(x=a, y=b):
                total += a**3 * b
            case Mode.FAST:
                total += 1.0
            case _:
                total -= x
    return total


# Classes that the function defines


def scaled_by(scale):
    class Scaled:
        def __init__(self, value):
            self.value = value

        def get(self):
            return self.value * scale

    return Scaled


@program((0.5, 4))
def local_classes(x, n):
    class Counting:
        rate = 2.0
        scale = x

        def __init__(self, start):
            self.total = start * x

        def add(self, value):
            self.total += value * self.scale
            return self

        @property
        def double(self):
            return self.rate * self.total

    class Twice(Counting):
        def __init__(self, start):
            super().__init__(2 * start)

    @dataclass
    class Local:
        a: float
        b: float = 2.0
        items: list = field(default_factory=list)

    x = x + 1
    first, second = Counting(3.0), Twice(x)
    for k in range(n):
        first.add(k)
        second.add(Counting(k).total)
    local = Local(x)
    local.items.append(first.double)
    return sum(local.items) * local.b * second.double + Counting.scale


@program((0.5,))
def classes_made_by_a_function(x):
    One, Two = scaled_by(x), scaled_by(2 * x)
    known = isinstance(One(x), One) and not isinstance(One(x), Two)
    return One(x).get() + Two(3.0).get() * (x if known else 1.0)


# Tests


@pytest.mark.parametrize(("function", "args", "wrt"), PROGRAMS)
def test_gradient(function, args, wrt):
    wrt = numbers(args) if wrt is None else wrt
    found = wg.grad(function, argnums=wrt)(*copy.deepcopy(args))
    try:
        wanted = oracle.gradient(function, *args, wrt=wrt)
        rel = 1e-9
    except NotCovered:
        wanted = oracle.central_gradient(function, *args, wrt=wrt)
        rel = 1e-6
    a, b = trees.coordinates(found), trees.coordinates(wanted)
    assert a == pytest.approx(b, rel=rel, abs=1e-12)


@pytest.mark.parametrize(("function", "args", "wrt"), PROGRAMS)
def test_forward_mode_agrees(function, args, wrt):
    wrt = numbers(args) if wrt is None else wrt
    tangents = [trees.random_like(arg, seed=k) if k in wrt else None for k, arg in enumerate(args)]
    bars = wg.grad(function, argnums=wrt)(*copy.deepcopy(args))
    _, push = wg.pushforward(function, *copy.deepcopy(args))
    along = trees.inner(bars, tuple(tangents[k] for k in wrt))
    assert push(*tangents) == pytest.approx(along, rel=1e-9, abs=1e-12)


# What is refused


class Own:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        return object.__getattribute__(self, name)


class Numbers(set):
    pass


def own_lookup(x):
    return Own(x).x


def built_on_a_set(x):
    return sum(Numbers([x, x]))


def iterated_without_a_method(x):
    return sum(item for item in Point(x))


def copied_cycle(x):
    p = Point(x)
    p.y = p
    return copy.deepcopy(p).x


def list_on_a_class(x):
    Registry.items = [x]
    return Registry.items[0]


def read_through_another_list(x):
    points = [Point(x * k) for k in range(20)]
    others = sorted(points, key=lambda p: -p.x)
    for p in points:
        p.x *= x
    return others[0].x


REFUSED = {
    own_lookup: "Own has a `__getattribute__` of its own",
    built_on_a_set: "Numbers is built on `set`",
    copied_cycle: "`copy.deepcopy` of an object that refers to itself",
    list_on_a_class: "assigning to the attribute `items` of the class Registry",
    read_through_another_list: "a list that may hold one object many times is made",
}


def changed_through_another_list(x):
    points = [Point(x * k) for k in range(20)]
    others = [p for p in points if p.y < 1]
    others[3].x *= x
    return points[3].x


@pytest.mark.parametrize("x", [0.4, 0.7])
def test_read_for_one_call_where_the_kinds_do_not_say_enough(x):
    (expected,) = oracle.gradient(changed_through_another_list, x)
    assert wg.gradient(changed_through_another_list, x) == pytest.approx((expected,))


@pytest.mark.static_tier
@pytest.mark.parametrize("function", REFUSED)
def test_refused(function):
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(function, 0.5))
    says(error, REFUSED[function], f"in {function.__name__}")


def test_iterated_without_a_method():
    with pytest.raises(TypeError, match=r"^'Point' object is not iterable$"):
        wg.gradient(iterated_without_a_method, 0.5)


class Computed:
    def __init__(self, x):
        self.x = x

    @property
    def square(self):
        return self.x**2

    @square.setter
    def square(self, value):
        self.x = math.sqrt(value)

    def area(self):
        return self.x**2

    def grow(self, factor):
        self.x *= factor


def test_methods_of_objects_that_only_the_run_knows():
    def total(items):
        return sum(item.area() * item.x for item in items)

    found = {}
    exec(wg.grad(total).source, found)
    for gradient in (found["grad_total"], wg.grad(total)):
        assert gradient([Computed(2.0), Computed(3.0)]) == [
            types.SimpleNamespace(x=12.0),
            types.SimpleNamespace(x=27.0),
        ]


def test_what_only_a_class_can_tell_its_run_decides():
    def read(x, n):
        items = {k: Computed(x) for k in range(n)}
        return items[1].square

    def assigned(x, n):
        items = {k: Computed(x) for k in range(n)}
        items[1].square = x**4
        return items[1].x

    def called(x, n):
        items = {k: Computed(x) for k in range(n)}
        items[1].grow(x)
        return items[1].x

    for function in (read, assigned, called):
        slope = oracle.central_gradient(function, 2.0, 3, wrt=(0,))
        assert wg.grad(function)(2.0, 3) == pytest.approx(*slope)
    for function, message in (
        (read, "the attribute 'square' of Computed is computed by its class"),
        (assigned, "assigning to 'square' runs code of the class Computed"),
    ):
        with pytest.raises(ValueError, match=message):
            alone(wg.grad(function))(2.0, 3)
    back = wg.pullback(read, 2.0, 3)[1]
    error = refusal("WG101", NotImplementedError, lambda: back(1.0))  # too late to run it again
    says(error, "the attribute 'square' of Computed is computed by its class", "in read")


def test_a_function_that_only_the_run_knows_changes_nothing_that_it_is_given():
    one = Computed(1.0)
    with pytest.raises(ValueError, match="changes an object that it is given"):
        unchanged.applied(one.grow, 2.0)
    assert unchanged.applied(math.fsum, [1.0, 2.0]) == 3.0
    circles = [[1.0], [1.0, 2.0]]
    for circle in circles:
        circle.append(circle)
    assert unchanged.applied(len, circles) == 2
    with pytest.raises(ValueError, match="changes an object that it is given"):
        unchanged.applied(lambda circles: circles[1].append(circles[0]), circles)


def test_errors_that_python_raises_itself():
    def missing(x):
        return Point(x).z

    def wrong_call(x):
        return Plain(x, 1.0, [], 2.0)

    def not_abstract(x):
        return Shape(x)

    def frozen(x):
        Frozen(x).x = 2.0

    def no_setter(x):
        Tank(x).double = 1.0

    def operands(x):
        return Point(x) + 1.0

    for function, error, message in (
        (missing, AttributeError, "'Point' object has no attribute 'z'"),
        (wrong_call, TypeError, "takes from 2 to 4 positional|takes 4 positional"),
        (not_abstract, TypeError, "abstract"),
        (frozen, dataclasses.FrozenInstanceError, "cannot assign to field 'x'"),
        (no_setter, AttributeError, "property 'double' of 'Tank' object has no setter"),
        (operands, TypeError, r"unsupported operand type\(s\) for \+: 'Point' and 'float'"),
    ):
        with pytest.raises(error, match=message):
            wg.gradient(function, 0.5)


class Counted:
    made = 0

    def __init__(self, x):
        type(self).made += 1
        self.x = x


def counted_once(x):
    return Counted(x).x ** 2


def counts_in_a_gradient(x):
    return wg.grad(counted_once)(x) * x


def asks_for_the_count(x):
    return wg.grad(counted_once)(x) * Counted.made


def test_a_function_that_is_differentiated_inside_may_assign_to_a_class():
    Counted.made = 0
    assert wg.grad(counts_in_a_gradient)(3.0) == 12.0
    assert Counted.made == 1
    Counted.made = 0
    assert wg.grad(asks_for_the_count)(3.0) == 2.0
    assert Counted.made == 1


def queued(x):
    waiting = collections.deque([x, 2 * x])
    return waiting.popleft() * (3.0 if isinstance(waiting, collections.deque) else 5.0)


def test_a_deque_is_one():
    assert wg.grad(queued)(0.5) == 3.0


def test_a_namedtuple_that_is_made_inside():
    def f(x):
        Point = collections.namedtuple("Point", ["a", "b"], defaults=(2.0,))
        p = Point(x)
        q = p._replace(a=p.a * p.b)
        return q.a**2 + sum(q)

    assert wg.grad(f)(1.5) == 8 * 1.5 + 2


def test_attributes_of_a_function_are_found_by_name():
    def f(x):
        def g(t):
            return t

        g.k = x
        g.k *= 2
        return getattr(g, "k", 9.0) + (x if hasattr(g, "k") else 7.0) + getattr(g, "other", 2.0) * x

    assert (f(1.5), wg.grad(f)(1.5)) == (7.5, 5.0)


# --- private names ----------------------------------------------------------------------------


class Account:
    __rate = 3.0

    def __init__(self, balance):
        self.__balance = balance

    @staticmethod
    def __squared(x):
        return x * x

    def interest(self):
        return self.__balance * self.__rate

    def risk(self):
        return self.__squared(self.__balance)

    def deposit(self, *, __amount=1.0):
        self.__balance += __amount
        return self.__balance


class Savings(Account):
    __rate = 5.0

    def __init__(self, balance):
        super().__init__(2 * balance)
        self.__balance = balance

    def bonus(self):
        return self.__balance * self.__rate


def of_two_classes(x):
    account = Savings(x)
    return account.interest() + 10 * account.bonus() * x + 100 * account.risk() + account.deposit()


def of_a_local_class(x):
    class Pair(Account):
        def __init__(self, balance):
            Account.__init__(self, balance * balance)
            self.__balance = balance

        def both(self):
            return self.__balance * self.interest()

    return Pair(x).both()


@pytest.mark.parametrize("f", [of_two_classes, of_a_local_class])
def test_private_names_belong_to_the_class_that_writes_them(f):
    agree(f, 0.7, 1.3)


def test_private_attributes_of_an_argument():
    (gradient,) = wg.gradient(lambda a: a.interest() + a.bonus(), Savings(3.0))
    assert gradient == types.SimpleNamespace(_Account__balance=3.0, _Savings__balance=5.0)


def test_keywords_of_calls_keep_their_names():
    class Settings:
        def scaled(self, x):
            options = dict(__scale=3.0)  # noqa: C408
            return x * options["__scale"]

    assert wg.grad(lambda x: Settings().scaled(x))(2.0) == 3.0


# --- arguments that a star gives, and factories ------------------------------------------------


@dataclasses.dataclass
class Patient:
    uptake: float
    loss: float
    history: list = dataclasses.field(default_factory=list)
    seen: dict = dataclasses.field(init=False, default_factory=dict)


def starred_fields(p):
    patient = Patient(*np.exp(p))
    for k in range(3):
        patient.history.append(patient.uptake * k)
        patient.seen[k] = patient.loss
    return sum(patient.history) * patient.loss + patient.seen[1]


def test_a_star_may_leave_a_field_to_its_factory():
    p = np.array([0.1, 0.2])
    expected = [(starred_fields(p + e) - starred_fields(p - e)) / 2e-6 for e in np.eye(2) * 1e-6]
    np.testing.assert_allclose(wg.grad(starred_fields)(p), expected, rtol=1e-8)
    pushed = [wg.pushforward(starred_fields, p)[1](e) for e in np.eye(2)]
    np.testing.assert_allclose(pushed, expected, rtol=1e-8)


class WithProduct(namedtuple("WithProduct", "a b")):  # noqa: SLOT002
    def __init__(self, a, b):
        self.product = a * b


def test_a_namedtuple_that_is_initialised() -> None:
    def f(x):
        return WithProduct(x, x * x).product + WithProduct(x, 3.0).a

    assert wg.grad(f)(2.0) == 13.0
    value, _ = wg.pullback(lambda x: WithProduct(x, x * x), 2.0)
    assert (value, value.product) == ((2.0, 4.0), 8.0)
    value, _ = wg.pullback(
        lambda x: [setattr(pair := WithProduct(1.0, 2.0), "product", x), pair][1], 3.0
    )
    assert type(value.product) is float
    with pytest.raises(wg.errors.UnsupportedSyntax, match="WithProduct is built on `tuple`"):
        wg.grad(f, tier="static")(2.0)


def test_static_questions_of_the_standard_library() -> None:
    def f(x):
        return x * x if inspect.getattr_static(x, "shape", None) is None else np.sum(x)

    assert wg.grad(f)(3.0) == 6.0
    np.testing.assert_array_equal(wg.grad(f)(np.array([3.0, 4.0])), [1.0, 1.0])


# --- tangents of methods and of what functions have captured --------------------------------


class Gain:
    def __init__(self, k):
        self.k = k

    def times(self, y):
        return y * self.k * self.k


class DoubleGain(Gain):
    def times(self, y):
        return 2 * super().times(y)


def captured(k):
    return lambda y: y * k * k


def called_at(h, y):
    return h(y) * y


def called_by_a_generator_s_item(h, y):
    items = iter([y, y])  # which reading refuses
    first = next(items)
    return h(first) * next(items)


@pytest.mark.parametrize("f", [called_at, called_by_a_generator_s_item])
@pytest.mark.parametrize("of_method", [False, True])
def test_tangents_of_functions_look_like_their_gradients(f, of_method):
    h = Gain(2.0).times if of_method else captured(2.0)
    value, back = wg.pullback(f, h, 3.0)
    bar, y_bar = back(1.0)
    slope = (bar.__self__ if of_method else bar).k
    assert (value, slope, y_bar) == (36.0, 36.0, 24.0)
    assert wg.pushforward(f, h, 3.0)[1](bar, 0.0) == 36.0 * 36.0
    assert wg.pushforward(f, h, 3.0)[1](None, 1.0) == 24.0


def test_a_method_that_a_branch_chooses_calls_super():
    def f(x):
        gain = Gain(0.5) if x > 0.5 else DoubleGain(x)
        return gain.times(x)

    for x, slope in ((0.7, 0.25), (0.3, 6 * 0.3**2)):
        assert wg.pushforward(f, x)[1](1.0) == pytest.approx(slope)
        assert wg.derivative(f)(x) == pytest.approx(slope)
        assert wg.grad(f)(x) == pytest.approx(slope)


class Ringing(Gain):
    def __init__(self, k):
        super().__init__(k)
        self.ring = self.times


def test_an_object_may_hold_its_own_method():
    rung = wg.grad(lambda o, y: o.ring(y), tier="recorded")
    assert rung(Ringing(2.0), 3.0).k == 12.0


ENTERED = []


class Entering(Gain):
    def __enter__(self):
        ENTERED.append(self.k)
        self.k += 1.0
        return self

    def __exit__(self, *error):
        self.k *= 0.5

    def __add__(self, y):
        ENTERED.append(y)
        return self.k * y


class EnteringTwice(Entering):
    def __enter__(self):
        self.k *= 3.0
        return super().__enter__()

    def __add__(self, y):
        return super().__add__(y) * y


def entered(x):
    ENTERED.append(x)
    gain = Entering(x) if x > 0.5 else EnteringTwice(x * x)
    with gain as inside:
        x = x * inside.k
    return x * gain.k


def added(x):
    ENTERED.append(x)
    gain = Entering(x) if x > 0.5 else EnteringTwice(x * x)
    return gain + x


@pytest.mark.parametrize("f", [entered, added])
@pytest.mark.parametrize("x", [0.3, 0.7])
def test_an_object_of_one_of_two_classes_is_refused_before_anything_is_run(f, x):
    expected = pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-7)
    ENTERED.clear()
    value = f(x)
    left = list(ENTERED)
    for way in (lambda: wg.grad(f)(x), lambda: wg.derivative(f)(x)):
        ENTERED.clear()
        assert way() == expected
        assert ENTERED == left
    assert wg.pushforward(f, x)[0] == value


# --- entries of `__dict__` behind properties -------------------------------------------------


class Covered:
    def __init__(self):
        self.base = 1.5

    @property
    def p(self):
        return 2.0 * self.base


COVERED, GIVEN = Covered(), Covered()
vars(GIVEN)["p"] = 5.0


def entered_in_the_program(x):
    made = Covered()
    made.__dict__["p"] = x
    vars(made).update(base=x * x)
    return made.p * made.__dict__["p"]


def entered_in_a_global(x):
    COVERED.__dict__["p"] = x
    return COVERED.__dict__["p"] * COVERED.p


def entered_before(x):
    return vars(GIVEN)["p"] * x + GIVEN.p * x * x


def entered_and_listed(x):
    listed = []
    for k in range(int(3 * x)):
        made = Covered()
        made.__dict__["p"] = x * k
        listed.append(made)
    return sum(each.p * each.__dict__["p"] for each in listed)


@pytest.mark.parametrize(
    "f", [entered_in_the_program, entered_in_a_global, entered_before, entered_and_listed]
)
def test_an_entry_behind_a_property_is_no_attribute(f):
    expected = pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-7)
    assert wg.grad(f)(1.3) == expected
    assert wg.pushforward(f, 1.3)[1](1.0) == expected
    gradient = wg.grad(lambda covered: vars(covered)["p"] ** 2 * covered.p)(GIVEN)
    assert (gradient.p, gradient.base) == (30.0, 50.0)


# --- what `__bool__` gives ---------------------------------------------------------------------


class Bounded:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value > 1.5


def caught_in_the_program(x):
    try:
        chosen = Bounded(np.array([x, x])[0]) or Bounded(x)
    except TypeError as error:
        return 5.0 * x * len(str(error))
    return chosen.value


def test_a_truth_that_python_does_not_take():
    def chosen(x):
        return x * x if Bounded(x) else 3.0 * x

    for tier in (None, "static", "recorded"):
        assert wg.grad(chosen, tier=tier)(2.0) == 4.0
        assert wg.grad(chosen, tier=tier)(1.0) == 3.0
        with pytest.raises(TypeError, match="__bool__ should return bool, returned numpy"):
            wg.grad(chosen, tier=tier)(np.float64(2.0))
        value, gradient = wg.value_and_grad(caught_in_the_program, tier=tier)(2.0)
        assert value == caught_in_the_program(2.0)
        assert gradient == value / 2.0


class Kept:
    """A descriptor that is asked when something is assigned, not when it is read."""

    def __set__(self, obj, value):
        vars(obj)["extra"] = value


class Holder:
    extra = Kept()

    def __init__(self, extra):
        self.extra = extra


HOLDER = Holder(2.0)


@pytest.mark.parametrize("tier", ["static", "recorded"])
def test_a_descriptor_that_is_not_asked_on_reading(tier):
    def f(x):
        empty, full = Holder([]), Holder(x * x)
        return x * 10.0 if empty.extra else full.extra + HOLDER.extra * x

    assert wg.value_and_grad(f, tier=tier)(3.0) == (15.0, 8.0)
