"""Constants of a module in dictionaries, tuples and objects: native code is given what is read of them."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import wengert as wg

PRIORS = {"a": (0.0, 1.0), "b": (1.0, 2.0), "c": (0.5, 1.0)}
RATES = {"a": 0.1, "b": 0.2, "c": 0.3}
ARRAYS = {"a": np.arange(3.0), "b": np.arange(3.0) + 1}
ROWS = [("a", 0.0, 1.0), ("b", 1.0, 2.0)]
TABLE = (("a", 0.0, 1.0), ("b", 1.0, 2.0))
SETTINGS = {"steps": 3, "name": "x", "tol": 1e-3}
NESTED = {"gas": {"R": 8.3, "M": [1.0, 2.0]}, "n": 2}
THETA = np.array([0.5, 0.7, 0.9])


@dataclass
class Config:
    steps: int = 3
    tol: float = 0.1
    weights: tuple = (1.0, 2.0)


CONFIG = Config()
SPACE = SimpleNamespace(rate=0.3, parts=SimpleNamespace(k=0.7))


def pairs(theta):
    total = 0.0
    for (_, (mean, spread)), value in zip(PRIORS.items(), theta, strict=False):
        total -= ((value - mean) / spread) ** 2
    return total


def by_name(theta):
    return sum(RATES[k] * v**2 for k, v in zip("abc", theta, strict=False))


def arrays(theta):
    return ARRAYS["a"] @ theta + ARRAYS["b"] @ theta**2


def rows(theta):
    total = 0.0
    for _, mean, spread in ROWS:
        total += (theta[0] - mean) / spread
    return total * theta[1]


def table(theta):
    total = 0.0
    for _, mean, spread in TABLE:
        total += (theta[0] - mean) / spread
    return total * theta[1]


def settings(theta):
    total = theta[0]
    for _ in range(SETTINGS["steps"]):
        total = total * theta[1] + SETTINGS["tol"]
    return total


def nested(theta):
    return theta[0] ** 2 * NESTED["gas"]["R"] + theta[1] * NESTED["gas"]["M"][-1] * NESTED["n"]


def objects(theta):
    return theta[0] * CONFIG.tol + CONFIG.weights[1] * theta[1] ** CONFIG.steps


def spaces(theta):
    return theta[0] * SPACE.rate + SPACE.parts.k * theta[2] ** 2


def helper(x):
    return x * x * RATES["a"] + SETTINGS["tol"]


def through_a_helper(theta):
    return sum(helper(v) for v in theta)


PROGRAMS = [
    pairs, by_name, arrays, rows, table, settings, nested, objects, spaces, through_a_helper,
]  # fmt: skip


def differences(f, theta):
    return np.array([(f(theta + 1e-6 * e) - f(theta - 1e-6 * e)) / 2e-6 for e in np.eye(3)])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_they_are_native(f):
    for derivative in (wg.grad(f), wg.jit(wg.grad(f), strict=True)):
        np.testing.assert_allclose(derivative(THETA), differences(f, THETA), rtol=1e-7, atol=1e-9)
    assert wg.jit(f, strict=True)(THETA) == pytest.approx(f(THETA), rel=1e-14)


def test_what_they_hold_now_counts(monkeypatch):
    native = wg.jit(wg.grad(by_name), strict=True)
    native(THETA)
    monkeypatch.setitem(RATES, "a", 5.0)
    np.testing.assert_allclose(native(THETA), 2 * THETA * [5.0, 0.2, 0.3])
    monkeypatch.setitem(RATES, "new", 1.0)
    np.testing.assert_allclose(native(THETA), 2 * THETA * [5.0, 0.2, 0.3])
    monkeypatch.setitem(RATES, "b", 3)
    np.testing.assert_allclose(native(THETA), 2 * THETA * [5.0, 3.0, 0.3])
    monkeypatch.setitem(globals(), "RATES", {"c": 1.0, "b": 2.0, "a": 3.0})
    np.testing.assert_allclose(native(THETA), 2 * THETA * [3.0, 2.0, 1.0])


def test_what_they_lack_is_missed_as_in_python(monkeypatch):
    native = wg.jit(wg.grad(by_name))
    native(THETA)
    monkeypatch.delitem(RATES, "b")
    with pytest.raises(KeyError, match="b"), pytest.warns(wg.errors.NativeWarning):
        native(THETA)


def test_objects_and_arrays_change(monkeypatch):
    native, arrays_ = wg.jit(wg.grad(objects), strict=True), wg.jit(wg.grad(arrays), strict=True)
    native(THETA), arrays_(THETA)
    monkeypatch.setattr(CONFIG, "tol", 0.7)
    monkeypatch.setattr(CONFIG, "weights", (1.0, 4.0))
    np.testing.assert_allclose(native(THETA), differences(objects, THETA), rtol=1e-7, atol=1e-9)
    monkeypatch.setitem(ARRAYS, "a", np.ones(3))
    ARRAYS["b"][1] += 1.0
    np.testing.assert_allclose(arrays_(THETA), differences(arrays, THETA), rtol=1e-7)
    ARRAYS["b"][1] -= 1.0


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_a_part_that_is_of_another_type_now(monkeypatch):
    native = wg.jit(wg.grad(nested))
    native(THETA)
    monkeypatch.setitem(NESTED, "gas", 3.0)
    with pytest.raises(TypeError, match="not subscriptable"):
        nested(THETA)
    with pytest.raises(TypeError, match="not subscriptable"):
        native(THETA)
