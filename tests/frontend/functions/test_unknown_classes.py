"""Source that stands alone meets objects of classes of which it knows nothing: it is right, or refuses."""

import dataclasses

import numpy as np
import pytest
import standing_alone
from oracle import central_gradient

import wengert as wg


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __setitem__(self, k, value):
        setattr(self, "xy"[k], value)

    def __len__(self):
        return 2

    def __float__(self):
        return self.x + self.y

    def __mul__(self, factor):
        return Pair(self.x * factor, self.y * factor)

    def __enter__(self):
        self.x *= 2
        return self

    def __exit__(self, *error):
        self.y *= 3


def item(x, v):
    v.x = x
    return v[0] * x


def items(x, v):
    v.x = x
    a, b = v
    return a * b


def item_written(x, v):
    v[0] = x
    return v.x * v.y + v[0]


def item_of_an_item(x, v):
    v.x = x
    v[1] = v[0] * x
    return v.y


def number(x, v):
    v.x = x
    return float(v) * x


def product(x, v):
    v.x = x
    return (v * x).x


def entered(x, v):
    v.x = x
    with v:
        y = v.x
    return y * v.y


@pytest.mark.parametrize(
    "f", [item, items, item_written, item_of_an_item, number, product, entered]
)
def test_what_a_class_says_of_its_objects(f):
    def given(derivative):
        return derivative(0.7, Pair(1.0, 2.0))

    (expected,) = central_gradient(lambda x: f(x, Pair(1.0, 2.0)), 0.7)
    assert given(wg.grad(f)) == pytest.approx(expected, rel=1e-8)
    alone = standing_alone.unless_refused(lambda: given(standing_alone.alone(wg.grad(f))))
    assert alone is None or alone == pytest.approx(expected, rel=1e-8)


def of_a_copy(x, d):
    e = {**d}
    e["a"] = x
    return e["a"] * d["a"]


def of_its_dict(x, v):
    vars(v)["x"] = x
    return v.x * x


def got_by_another_name(x, d):
    get = d.get
    d["a"] = x
    return get("a") * x


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (of_a_copy, lambda: {"a": 1.5}),
        (of_its_dict, lambda: Pair(1.0, 2.0)),
        (got_by_another_name, lambda: {"a": 1.5}),
    ],
)
def test_what_changes_under_another_name(f, make):
    (expected,) = central_gradient(lambda x: f(x, make()), 0.7)
    assert wg.grad(f)(0.7, make()) == pytest.approx(expected, rel=1e-8)
    alone = standing_alone.unless_refused(lambda: standing_alone.alone(wg.grad(f))(0.7, make()))
    assert alone is None or alone == pytest.approx(expected, rel=1e-8)


@dataclasses.dataclass
class Plate:
    width: float
    height: float = 2.0

    def __post_init__(self):
        self.area = self.width * self.height
        self.weights = np.ones(2)


def bent(x, plate):
    return plate.area * x + plate.width * (plate.weights @ plate.weights) * x


def widened(x, plate):
    plate.area = x * plate.area
    plate.width = plate.area
    return plate.width * x


def test_what_a_dataclass_keeps_beside_its_fields():
    by_x, by_plate = wg.grad(bent, argnums=(0, 1))(0.5, Plate(1.5))
    assert by_x == pytest.approx(6.0)
    assert (by_plate.width, by_plate.height, by_plate.area) == (1.0, 0.0, 0.5)
    assert by_plate.weights == pytest.approx([1.5, 1.5])
    plate = Plate(1.5)
    assert wg.grad(widened)(0.5, plate) == pytest.approx(3.0)
    assert (plate.width, plate.area) == (1.5, 1.5)


class Signed:
    def __init__(self, x):
        self.x = x

    def __neg__(self):
        return 3 * self.x

    def __invert__(self):
        return 3 * self.x

    def __or__(self, other):
        return self.x * other.x


def negated(x, v):
    v.x = x
    return -v * x


def inverted(x, v):
    v.x = x
    return ~v * x


def joined(x, v):
    v.x = x
    return (v | v) * x


@pytest.mark.parametrize("f", [negated, inverted, joined])
def test_an_operator_of_an_unknown_class_is_refused(f):
    with pytest.raises(ValueError, match="is that of the class"):
        standing_alone.alone(wg.grad(f))(2.0, Signed(1.0))
    (expected,) = central_gradient(lambda x: f(x, Signed(1.0)), 2.0)
    assert wg.gradient(f, 2.0, Signed(1.0))[0] == pytest.approx(expected)
