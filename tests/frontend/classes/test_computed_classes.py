"""Classes that a program defines and whose bodies compute: attributes, defaults of fields, calls of `type`.

Reading refuses them: they are recorded.
"""

# programs under test are written as their authors would
# ruff: noqa: RUF012

import collections
import dataclasses
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from differences import agree


def attributes_of_each_turn(x):
    total = 0.0
    for k in range(3):

        class Scaled:
            by = x * k

            def squared(self):
                return self.by * self.by

        total += Scaled().squared() + Scaled.by
    return total


def private_attributes_and_super(x):
    class Base:
        __weight = 2 * x

        def weight(self):
            return self.__weight

    class Derived(Base):
        gain = 3 * x

        def weight(self):
            return super().weight() * self.gain + __class__.gain

    return Derived().weight()


def defaults_of_methods(x):
    class Line:
        def at(self, slope=2 * x, *, start=x**2):
            return slope * start

    return Line().at() * Line().at(3.0)


def attributes_of_attributes(x):
    class Table:
        a = b = x * 2
        c = a * b
        items = [a, c]
        total = sum(items)
        array = np.array([x, 2 * x])
        scaled = lambda self: self.total * x
        count: ClassVar[float] = 3

    return Table.total * Table().scaled() + Table.array.sum() * Table.items[1] * Table.count


def lists_that_are_computed_and_change(x):
    class Log:
        values = [x * k for k in range(2)]

        def add(self, value):
            self.values.append(value)

    Log().add(x)
    Log().add(2 * x)
    Log.values[0] = 5 * x
    return sum(Log.values) + len(Log.values) * x


def defaults_of_fields(x):
    @dataclass(frozen=True)
    class Point:
        a: float = x * x
        b: list = field(default_factory=lambda: [x])
        c: float = field(default=x + 1, kw_only=True)

    class Pair(NamedTuple):
        a: float
        b: float = 2 * x

    point = Point()
    return point.a * point.b[0] * point.c + Point(1.0, c=x).c + Pair(x).b * Pair(1.0, x).a


def methods_that_read_what_is_computed(x):
    class Cube:
        side = x if x > 0.5 else 2 * x
        volume = side**3

        @property
        def twice(self):
            return self.volume * 2

        @classmethod
        def times(cls, by):
            made = cls()
            made.by = by * cls.volume
            return made

    Cube.side = Cube.side * 2
    return Cube().twice + Cube.times(x).by * Cube().side


def made_by_a_function(x):
    def make(k):
        class Model:
            factor = k * x

            def __call__(self, value):
                return self.factor * value

        return Model()

    return make(2.0)(x) + make(3.0)(1.0)


def made_by_type(x):
    def init(self, side):
        self.side = side * x

    class Base:
        def doubled(self):
            return 2 * self.side

    names = {"__init__": init, "area": lambda self: self.side**2, "kept": [x, 1.0], "by": 3.0}
    Square = type("Square", (Base,), names)
    return Square(2.0).area() + Square.kept[0] + Square(x).doubled() * isinstance(Square(1.0), Base)


def made_of_names(x):
    Point = dataclasses.make_dataclass("Point", [("a", float), ("b", float, 2.0)])
    Fixed = dataclasses.make_dataclass("Fixed", ["a", "b"], frozen=True)
    Pair = collections.namedtuple("Pair", "a b", defaults=[2.0])
    return Point(x).b * Point(x).a ** 2 + dataclasses.replace(Fixed(x, 1.0), b=x).b * Pair(x).b


@pytest.mark.parametrize(
    "f",
    [
        attributes_of_each_turn,
        private_attributes_and_super,
        defaults_of_methods,
        attributes_of_attributes,
        lists_that_are_computed_and_change,
        defaults_of_fields,
        methods_that_read_what_is_computed,
        made_by_a_function,
        made_by_type,
        made_of_names,
    ],
)
def test_right(f):
    agree(f, 0.7)
