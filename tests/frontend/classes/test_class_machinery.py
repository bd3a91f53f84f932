"""Namedtuples with methods of their own, dispatch by class, attributes of classes: what classes can say themselves."""

# programs under test are written as their authors would
# ruff: noqa: RUF005, RUF012

import math
from collections import namedtuple
from dataclasses import dataclass
from functools import singledispatch
from typing import NamedTuple

import numpy as np
import oracle
import pytest
from error_texts import refusal, says

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


class Node:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest

    def __iter__(self):
        node = self
        while node is not None:
            yield node.value
            node = node.rest


def walked_over_by_functions(x):
    node = None
    for k in range(4):
        node = Node(x * k + 1, node)
    return sum(node) * math.prod(node)


# What classes choose


def dispatched_by_class(x):
    @singledispatch
    def area(shape, factor):
        return 0.0

    @area.register
    def _(shape: int | float, factor):
        return shape * shape * factor

    @area.register(tuple)
    @area.register(list)
    def _(shape, factor):
        return sum(area(part, factor + 1) for part in shape)

    area.register(dict, lambda shape, factor: sum(area(part, factor) for part in shape.values()))
    return area([x, (x, {"a": x * x})], 1.0) + area("text", 2) + area(x, x)


def dispatched_by_a_class_inside(x):
    class Base:
        def __init__(self, value):
            self.value = value

    class Derived(Base):
        pass

    @singledispatch
    def weight(thing):
        return 1.0

    @weight.register
    def _(thing: Base):
        return thing.value

    @weight.register
    def _(thing: Derived):
        return thing.value**2

    return weight(Base(x)) * weight(Derived(x)) + weight(3)


class Indexed(type):
    def __getitem__(cls, index):
        return index * cls.scale


class Twofold(metaclass=Indexed):
    scale = 2.0

    def __class_getitem__(cls, index):
        return 1.0


class Chosen:
    def __class_getitem__(cls, index):
        return index**2


def indexed_classes(x):
    return Twofold[x] * Chosen[x]


# Attributes of classes that the program defines


def containers_of_a_class(x):
    class Log:
        items = []
        total = 0.0

        def add(self, value):
            Log.items.append(value)
            Log.total += value
            return self

    Log().add(x).add(x * x)
    Log.items.append(3 * x)
    return sum(Log.items) * Log.total


def a_registry(x):
    class Model:
        registry = {}

        def __init__(self, name, value):
            self.value = value
            Model.registry[name] = self

        @classmethod
        def total(cls):
            return sum(each.value for each in cls.registry.values())

    Model("a", x)
    if x > 1:
        Model("b", x * x)
    return Model.total() * Model.registry["a"].value


def anew_in_every_turn(x):
    total = 0.0
    for k in range(12):

        class Log:
            items = []

            def add(self, value, factor=k):
                self.items.append(value * factor)
                return self

        total += sum(Log().add(x).add(x * x).items) * len(Log.items)
    return total


def inherited_containers(x):
    class Base:
        log = []

    class Derived(Base):
        def put(self, value):
            self.log.append(value)

    Derived().put(x)
    Base.log.append(2 * x)
    Derived.log = [x * x]
    Derived().put(3.0)
    return sum(Base.log) * sum(Derived.log)


def assigned_to_a_class(x):
    class Table:
        scale = 1.0
        items = []

        def scaled(self):
            return self.scale * sum(self.items)

    Table.items = [x]
    Table.items.append(x * x)
    Table.items = Table.items + [1.0]
    before = Table().scaled()
    Table.scale = len(Table.items) * x
    Table.extra = [x, 2 * x]
    return before * Table().scaled() + sum(Table.extra)


def computed_in_the_body(x):
    class Weights:
        first = x
        all = [x, 2.0]
        by_name = {"a": (x, 1.0)}

    Weights.all[1] *= x
    return Weights.first * sum(Weights.all) + Weights.by_name["a"][0]


def defaults_from_around(x):
    class Scale:
        def __call__(self, a, b=x, *, c=x):
            return a * b * c

        @staticmethod
        def plain(a=x):
            return a

    @dataclass
    class Pair:
        a: float = x
        b: float = 2.0

    class Triple(NamedTuple):
        a: float
        b: float = x

    return Scale()(2.0) + Scale.plain() * Pair().a * Pair(b=x).b + Triple(x).b * Triple(2.0).a


def methods_given_later(x):
    class Shape:
        pass

    def area(self):
        return self.side * x

    Shape.area = area
    shape = Shape()
    shape.side = x
    return shape.area() * Shape.area(shape)


class Kept:
    def __init__(self, value):
        self.value = value

    def weight(self):
        return 1.0


def tripled(self):
    return self.value * 3


def a_method_replaced(x):
    old = Kept.weight
    Kept.weight = tripled
    found = Kept(x).weight() * x
    Kept.weight = old
    return found + Kept(x).weight() * x


PROGRAMS = [
    a_namedtuple_with_a_constructor, a_namedtuple_that_says_how_it_is_read, functions_of_math_on_objects_with_items,
    walked_over_by_functions, dispatched_by_class, dispatched_by_a_class_inside, indexed_classes,
    containers_of_a_class, a_registry, anew_in_every_turn, inherited_containers,
    assigned_to_a_class, computed_in_the_body, defaults_from_around, methods_given_later, a_method_replaced,
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


# Arrays of records, which are none of the classes that derivatives are taken of

RECORDS = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("x", float), ("v", float)])


def records_changed(x):
    records = RECORDS.copy()
    records["x"] *= x
    return float(np.sum(records["x"]))


def given_records_changed(records, x):
    records["x"][0] = x
    return float(np.sum(records["x"] ** 2))


def test_arrays_of_records_are_read_and_changed():
    assert wg.grad(lambda x: float(np.sum(RECORDS["x"] * x)) + RECORDS[0]["v"] * x)(2.0) == 6.0
    assert wg.grad(records_changed)(2.0) == 4.0
    given = RECORDS.copy()
    assert wg.grad(given_records_changed, argnums=1)(given, 2.0) == 4.0
    assert given.tolist() == [(2.0, 2.0), (3.0, 4.0)]
    assert RECORDS.tolist() == [(1.0, 2.0), (3.0, 4.0)]


@pytest.mark.parametrize("f", [lambda r: r["x"].sum(), lambda r: given_records_changed(r, 2.0)])
def test_arrays_of_records_are_not_differentiated_by(f):
    error = refusal("WG202", TypeError, lambda: wg.gradient(f, RECORDS.copy()))
    says(error, "argument 0 (`r`) is an array of records", "one for each", "field")


class Tagged(namedtuple("Tagged", "x y")):  # noqa: SLOT002
    """A named tuple whose objects have a dictionary."""


def test_an_attribute_of_a_named_tuple_that_is_no_field_is_no_item():
    def f(x):
        pair = Tagged(x, x * x)
        pair.cube = x * x * x
        return pair[-1] * len(pair) + sum(pair) + pair.cube

    expected = (2.0 * 1.5 * 2 + 1.0 + 3.0) + 3 * 1.5**2
    for gradient in (wg.grad(f), wg.grad(f, tier="recorded")):
        assert gradient(1.5) == pytest.approx(expected)
