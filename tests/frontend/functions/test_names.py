"""Parameters with names: what is looked up by text is known where loops over the names are written out."""

from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import wengert as wg

NAMES = [f"k{i}" for i in range(12)]
BOUNDS = {name: (0.1 * i, 2.0 + i) for i, name in enumerate(NAMES)}
THETA = np.linspace(0.3, 1.4, 12)


def a_dictionary_of_pairs(theta):
    p = dict(zip(NAMES, theta, strict=False))
    return p["k0"] * p["k11"] + sum(p.values()) ** 2


def a_comprehension(theta):
    p = {name: value**2 for name, value in zip(NAMES, theta, strict=False)}
    return p["k1"] * p["k2"] + np.exp(-p["k3"])


def a_loop(theta):
    p = {}
    for name, value in zip(NAMES, theta, strict=False):
        p[name] = np.exp(value) if name.endswith("1") else value
    return sum(p[name] * len(name) for name in NAMES)


def indices(theta):
    p = {name: theta[i] for i, name in enumerate(NAMES)}
    total = 0.0
    for i, name in enumerate(NAMES):
        total += p[name] * i if name in ("k3", "k7") else p[name] ** 2
    return total


def of_equal_length(theta):
    p = dict(zip(NAMES, theta, strict=True))
    return p["k4"] * p["k5"]


def penalties(theta):
    total = 0.0
    for (name, (low, high)), value in zip(BOUNDS.items(), theta, strict=False):
        total += (value - low) * (high - value) * (2.0 if name == "k2" else 1.0)
    return total


def three_side_by_side(theta):
    p = {}
    for name, value, error in zip(NAMES, theta, theta[::-1] ** 2, strict=False):
        p[name] = value, error
    return sum(value / error for value, error in p.values()) + p["k8"][1]


def numbered_values(theta):
    p = {}
    for name, (i, value) in zip(NAMES, enumerate(theta), strict=False):
        p[name] = value * i
    return p["k9"] * p["k10"]


@dataclass
class Model:
    k0: float = 0.0
    k1: float = 0.0
    k2: float = 0.0
    k11: float = 0.0

    def set(self, names, values):
        for name, value in zip(names, values, strict=False):
            if hasattr(self, name):
                setattr(self, name, value)
        return self


def attributes(theta):
    model = Model().set(NAMES, theta)
    return model.k0 * model.k1 + model.k2**3 * model.k11


def keywords(theta):
    def of_all(*, k0, k1, k5, **others):
        return k0 * k1 * k5 + sum(others.values()) * others["k6"]

    return of_all(**dict(zip(NAMES, theta, strict=False)))


def an_array_that_changes(theta):
    """What a turn has changed, the next one sees."""
    values = theta.copy()
    p = {}
    for k, (name, value) in enumerate(zip(NAMES, values, strict=False)):
        p[name] = value * value
        if k < 11:
            values[k + 1] += 0.5 * value
    return p["k3"] * p["k11"]


def rows(theta):
    table = np.outer(theta, theta[:3])
    p = {}
    for name, row in zip(NAMES, table, strict=False):
        row *= 2.0
        p[name] = row
    return p["k2"] @ p["k4"] + table[4, 1]


def the_same_name_twice(theta):
    p = {}
    for name, value in zip(["a", "b", "a"], theta, strict=False):
        p[name] = p.get(name, 1.0) * value
    return p["a"] + p["b"]


def names_in_names(theta):
    p = dict(zip(NAMES, theta, strict=False))
    total = 0.0
    for a in NAMES:
        for b in NAMES:
            if a < b:
                total += p[a] * p[b]
    return total


def all_there_are(theta):
    p = dict(zip(NAMES, theta, strict=False))
    return sum(p.values()) * p["k0"]


def squares(theta):
    total = 0.0
    for name, value in zip(NAMES, theta, strict=False):
        total += value**2 * len(name)
    return total


NATIVE = [
    a_dictionary_of_pairs, a_comprehension, a_loop, indices, of_equal_length, three_side_by_side,
    attributes, keywords, an_array_that_changes, rows, the_same_name_twice,
]  # fmt: skip
each = pytest.mark.parametrize(
    "f", [*NATIVE, penalties, numbered_values, names_in_names], ids=lambda f: f.__name__
)


def differences(f, theta):
    return np.array(
        [(f(theta + 1e-6 * e) - f(theta - 1e-6 * e)) / 2e-6 for e in np.eye(len(theta))]
    )


@each
def test_gradients(f):
    expected = differences(f, THETA)
    np.testing.assert_allclose(wg.grad(f)(THETA), expected, rtol=1e-7, atol=1e-8)
    tangent = wg.pushforward(f, THETA)[1](np.cos(THETA))
    assert tangent == pytest.approx(expected @ np.cos(THETA), rel=1e-7)
    product = wg.hvp(f)(THETA, np.cos(THETA))
    along = lambda h: wg.grad(f)(THETA + h * np.cos(THETA))
    np.testing.assert_allclose(product, (along(1e-6) - along(-1e-6)) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", NATIVE, ids=lambda f: f.__name__)
def test_they_are_native(f):
    value, gradient = wg.jit(wg.value_and_grad(f), strict=True)(THETA)
    assert value == pytest.approx(f(THETA), rel=1e-14)
    np.testing.assert_allclose(gradient, wg.grad(f)(THETA), rtol=1e-13)


def test_loops_over_names_are_written_out():
    source = wg.grad(a_dictionary_of_pairs).specialize(THETA).source
    assert "for " not in source[source.index("def grad_") :]


def test_loops_over_names_in_loops_over_names_are_loops():
    source = wg.grad(names_in_names).specialize(THETA).source
    assert len(source.splitlines()) < 900


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("count", [3, 11, 14])
@pytest.mark.parametrize("function", [all_there_are, squares], ids=lambda f: f.__name__)
def test_fewer_or_more_items_than_names(function, count):
    for theta in (THETA, np.linspace(0.5, 1.5, count), THETA):
        expected = differences(function, theta)
        for derivative in (wg.grad(function), wg.jit(wg.grad(function))):
            np.testing.assert_allclose(derivative(theta), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_as_many_as_names():
    for theta in (THETA[:5], np.linspace(0.1, 1.0, 14)):
        with pytest.raises(ValueError, match="zip") as pythons:
            of_equal_length(theta)
        for derivative in (wg.grad(of_equal_length), wg.jit(wg.grad(of_equal_length))):
            with pytest.raises(ValueError, match="zip") as ours:
                derivative(theta)
            assert str(ours.value) == str(pythons.value)


def test_a_derivative_that_was_saved_says_what_it_was_made_for():

    def cubes(theta):
        return sum(value**3 * len(name) for name, value in zip(NAMES, theta, strict=False))

    specialized = wg.grad(cubes).specialize(THETA)
    np.testing.assert_allclose(specialized(THETA), differences(cubes, THETA), rtol=1e-7)
    with pytest.raises(ValueError, match="at least 12 items where there are 3"):
        specialized(THETA[:3])


Triple = namedtuple("Triple", "a b c")


class Scaled(NamedTuple):
    a: float
    b: float
    c: float = 1.0

    @property
    def total(self):
        return self.a * self.b + self.c


def made(theta):
    p = Triple._make(theta)
    return p.a * p.b + p.c**2


def made_of_a_class(theta):
    return Scaled._make(np.exp(theta)).total


@pytest.mark.parametrize("f", [made, made_of_a_class], ids=lambda f: f.__name__)
def test_namedtuples_are_made_of_arrays(f):
    theta = THETA[:3]
    expected = differences(f, theta)
    np.testing.assert_allclose(wg.grad(f)(theta), expected, rtol=1e-7)
    np.testing.assert_allclose(wg.jit(wg.grad(f), strict=True)(theta), expected, rtol=1e-7)
    with pytest.raises(TypeError) as pythons:
        f(THETA)
    with pytest.raises(TypeError) as ours:
        wg.grad(f)(THETA)
    assert str(ours.value) == str(pythons.value) == "Expected 3 arguments, got 12"


REGISTRY = {f"Method {k}": np.array([1.0 + k, 0.5]) for k in range(16)}


class Registry:
    """Looks names up however they are written."""

    def __init__(self, entries):
        self._entries = {}
        self._entries.update(entries)

    def lower_keys(self):
        lower = [str(key).lower() for key in self._entries]
        yield from iter(lower)

    def __getitem__(self, name):
        if name in self._entries:
            return self._entries[name]
        found = dict(zip(self.lower_keys(), self._entries, strict=True))
        return self._entries[found[name.lower()]]


ENTRIES = Registry(REGISTRY)


def test_registries_are_looked_up_while_the_program_is_read():
    def looked_up(x):
        a, b = ENTRIES["METHOD 12"]
        return a * x**b

    assert wg.grad(looked_up)(4.0) == pytest.approx(13.0 * 0.5 / 2.0)
    source = wg.grad(looked_up).specialize(4.0).source
    assert "for " not in source[source.index("def grad_") :]


def test_what_is_shown_of_what_is_known_is_known():
    def keyed(x):
        p = {str(k): x * k for k in range(5)}
        return p[chr(51)] * p[hex(4)[-1]] * (x if repr("a") == "'a'" else 1.0)

    assert wg.grad(keyed)(0.5) == pytest.approx(3 * 12 * 0.5**2)
    assert wg.jit(wg.grad(keyed), strict=True)(0.5) == pytest.approx(9.0)


def polynomial(theta):
    scale, *coefficients, offset = theta
    coefficients.append(scale * offset)
    for k in range(len(coefficients)):
        coefficients[k] *= offset
    return sum(c * scale**k for k, c in enumerate(coefficients))


def test_what_a_star_takes_of_an_array_is_a_list_in_native_code():
    native = wg.jit(wg.grad(polynomial), strict=True)
    for theta in (np.array([0.3, 0.9, 0.4, 1.1]), np.array([0.3, 0.9]), np.linspace(0.1, 0.9, 12)):
        np.testing.assert_allclose(native(theta), wg.grad(polynomial)(theta), rtol=1e-13)
    with pytest.raises(
        ValueError, match=r"not enough values to unpack \(expected at least 2, got 1\)"
    ):
        native(np.ones(1))
