"""Objects given to a function whose class keeps attributes in slots, of its own and of its bases."""

from __future__ import annotations

import math

import pytest

import wengert as wg
from wengert.runtime.copies import snapshot


class Private:
    __slots__ = ("__scale", "offset")

    def __init__(self, scale):
        self.__scale = scale
        self.offset = 2.0

    def at(self, x):
        return self.__scale * x + self.offset


class OneName:
    __slots__ = "scale"  # noqa: PLC0205

    def __init__(self, scale):
        self.scale = scale

    def at(self, x):
        return self.scale * x


class Base:
    __slots__ = ("scale",)


class WithDictionary(Base):
    def __init__(self, scale):
        self.scale = scale
        self.offset = 4.0

    def at(self, x):
        return self.scale * x + self.offset


class Lazy:
    __slots__ = ("offset", "scale")

    def __init__(self, scale):
        self.scale = scale

    def __getattr__(self, name):
        if name == "offset":
            return 7.0
        raise AttributeError(name)

    def at(self, x):
        return self.scale * x + self.offset


class Table:
    """Asked for anything it does not have, it looks into what it has: a half-made one never ends."""

    __slots__ = ("parts",)

    def __init__(self, parts):
        self.parts = parts

    def __getattr__(self, name):
        for part in self.parts:
            if name in part:
                return part[name]
        raise AttributeError(name)


CLASSES = [Private, OneName, WithDictionary, Lazy]


def at(model, x):
    return math.sin(model.at(x))


@pytest.mark.parametrize("cls", CLASSES)
def test_what_a_given_object_keeps_is_its_own(cls):
    model = cls(1.5)
    x, h = 0.7, 1e-6
    slope = (at(model, x + h) - at(model, x - h)) / (2 * h)
    assert wg.grad(at, argnums=1)(model, x) == pytest.approx(slope, rel=1e-8)
    assert wg.grad(lambda x: at(model, x))(x) == pytest.approx(slope, rel=1e-8)
    assert wg.derivative(lambda x: at(model, x))(x) == pytest.approx(slope, rel=1e-8)
    assert wg.pullback(at, model, x)[1](1.0)[1] == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize(
    ("cls", "names"),
    [
        (Private, {"_Private__scale", "offset"}),
        (OneName, {"scale"}),
        (WithDictionary, {"scale", "offset"}),
        (Lazy, {"scale"}),
    ],
)
def test_a_cotangent_has_what_the_object_keeps(cls, names):
    found = wg.grad(at)(cls(1.5), 0.7)
    assert set(vars(found)) == names
    scale = next(name for name in names if name.endswith("scale"))
    assert vars(found)[scale] == pytest.approx(0.7 * math.cos(cls(1.5).at(0.7)))


@pytest.mark.parametrize("cls", CLASSES)
def test_many_given_objects(cls):
    models = [cls(1.0 + 0.1 * k) for k in range(30)]

    def total(models, x):
        result = 0.0
        for model in models:
            result = result + at(model, x)
        return result

    expected = sum(wg.grad(at, argnums=1)(model, 0.7) for model in models)
    assert wg.grad(total, argnums=1)(models, 0.7) == pytest.approx(expected)


def test_a_half_made_object_is_asked_for_nothing():
    table = Table([{"H": 1.008}, {"O": 15.999}])
    again = snapshot(table)
    assert again is not table
    assert again.parts == table.parts
    assert again.parts is not table.parts
