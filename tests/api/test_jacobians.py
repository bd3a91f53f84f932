"""Jacobians and Hessians of functions of containers, with containers as results; which mode is taken."""

import math
import pickle
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

import wengert as wg
from wengert.errors import BadArgument, NotScalar

MODES = ("auto", "forward", "reverse")


def mixed(p):
    return {
        "scaled": p["a"] * np.sin(p["b"]),
        "pair": [p["a"] ** 2, p["a"] * p["b"][0]],
        "nested": (np.sum(p["b"]), (p["b"] * p["b"],)),
    }


AT = {"a": 2.0, "b": np.array([0.5, 1.5])}


def expected():
    (b0, b1), a = AT["b"], AT["a"]
    sines, cosines = np.sin(AT["b"]), np.cos(AT["b"])
    return {
        "scaled": {"a": sines, "b": a * np.diag(cosines)},
        "pair": {"a": np.array([2 * a, b0]), "b": np.array([[0.0, 0.0], [a, 0.0]])},
        "nested": (
            {"a": 0.0, "b": np.ones(2)},
            ({"a": np.zeros(2), "b": np.diag([2 * b0, 2 * b1])},),
        ),
    }


def assert_same(found, wanted):
    assert type(found) is type(wanted) or not isinstance(wanted, (dict, list, tuple))
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        for key in wanted:
            assert_same(found[key], wanted[key])
    elif isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            assert_same(a, b)
    else:
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("mode", MODES)
def test_containers_in_and_out(mode):
    assert_same(wg.jacobian(mixed, mode=mode)(AT), expected())


@pytest.mark.parametrize("mode", MODES)
def test_several_arguments_each_with_parts(mode):
    def f(layers, x):
        for weights, bias in layers:
            x = weights @ x + bias
        return x

    layers = [(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.1, 0.2]))]
    x = np.array([0.5, -1.0])
    by_layers, by_x = wg.jacobian(f, (0, 1), mode=mode)(layers, x)
    ((by_weights, by_bias),) = by_layers
    assert_same(by_weights, np.einsum("ik,j->ikj", np.eye(2), x).reshape(2, 2, 2))
    assert_same(by_bias, np.eye(2))
    assert_same(by_x, layers[0][0])


@pytest.mark.parametrize("mode", MODES)
def test_lists_of_numbers_are_vectors(mode):
    jacobian = wg.jacobian(lambda v: [v[0] * v[1], v[1], v[0]], mode=mode)
    assert_same(jacobian([2.0, 3.0]), np.array([[3.0, 2.0], [0.0, 1.0], [1.0, 0.0]]))


@pytest.mark.parametrize("mode", MODES)
def test_of_a_number(mode):
    found = wg.jacobian(lambda t: {"x": math.cos(t), "y": (math.sin(t), t)}, mode=mode)(0.7)
    with mpmath.workdps(30):
        slope = [mpmath.diff(f, mpmath.mpf(0.7)) for f in (mpmath.cos, mpmath.sin)]
    assert_same(found, {"x": float(slope[0]), "y": np.array([float(slope[1]), 1.0])})


@pytest.mark.parametrize("mode", ["auto", "forward"])
def test_of_complex_numbers(mode):
    found = wg.jacobian(lambda z: {"m": abs(z) ** 2, "r": (z.real, [z.imag])}, mode=mode)(1 + 2j)
    assert found["m"] == 2 + 4j
    assert found["r"][0] == 1
    assert list(found["r"][1]) == [1j]


def test_hessians_have_all_blocks():
    def energy(p):
        return p["a"] ** 3 * np.sum(p["b"] ** 2)

    a, b = AT["a"], AT["b"]
    mixed_block = 3 * a**2 * 2 * b
    wanted = {
        "a": {"a": 6 * a * float(b @ b), "b": mixed_block},
        "b": {"a": mixed_block, "b": 2 * a**3 * np.eye(2)},
    }
    assert_same(wg.hessian(energy)(AT), wanted)
    assert_same(wg.diag_hessian(energy)(AT), {"a": 6 * a * float(b @ b), "b": np.full(2, 2 * a**3)})


def test_the_diagonal_of_the_hessian_in_a_list():
    found = wg.diag_hessian(lambda v: v[0] ** 3 * v[1])([2.0, 3.0])
    assert_same(found, np.array([36.0, 0.0]))


def test_inside_a_program_that_is_differentiated():
    def f(x):
        jacobian = wg.jacobian(mixed)({"a": x, "b": AT["b"]})
        return jacobian["pair"]["a"][0] * x + np.sum(jacobian["scaled"]["b"])

    assert wg.derivative(f)(3.0) == pytest.approx(12.0 + np.sum(np.cos(AT["b"])), rel=1e-14)


def test_the_general_source_stands_alone():
    namespace = {}
    exec(wg.jacobian(lambda x: {"s": x * x, "t": x[0]}).source, namespace)
    (function,) = [f for name, f in namespace.items() if name.startswith("jacobian")]
    assert_same(function(np.array([1.0, 2.0])), {"s": np.diag([2.0, 4.0]), "t": np.array([1.0, 0])})


# --- which mode, and why --------------------------------------------------------------------


def fan_out(x):
    return np.array([x[0], x[1], x[0] * x[1]])


def test_the_mode_that_is_taken_is_explained():
    x = np.array([1.0, 2.0])
    assert str(wg.jacobian(fan_out).explain(x)) == (
        "argument 0: forward, as 2 numbers in and 3 numbers out take 2 pushforwards; "
        "reverse would take 3 pullbacks"
    )
    assert str(wg.jacobian(lambda x: np.sum(x)).explain(x)) == (
        "argument 0: reverse, as 2 numbers in and 1 number out take 1 pullback; "
        "forward would take 2 pushforwards"
    )
    assert str(wg.jacobian(fan_out, mode="reverse").explain(x)) == (
        "argument 0: reverse, as mode='reverse' says: 3 pullbacks"
    )
    assert str(wg.jacobian(lambda p, x: p["w"] @ x + p["b"], (0, 1)).explain(
        {"w": np.ones((3, 2)), "b": 0.0}, x
    )).splitlines() == [
        "argument 0: part by part",
        "  ['w']: reverse, as 6 numbers in and 3 numbers out take 3 pullbacks; forward would take 6 pushforwards",
        "  ['b']: forward, as 1 number in and 3 numbers out take 1 pushforward; reverse would take 3 pullbacks",
        "argument 1: forward, as 2 numbers in and 3 numbers out take 2 pushforwards; reverse would take 3 pullbacks",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_without_arguments_the_rule_is_explained(mode):
    text = str(wg.jacobian(fan_out, mode=mode).explain())
    assert ("chosen at the call" in text) == (mode == "auto")
    assert mode == "auto" or text.startswith(mode)


PULLED_BACK = []


def noted(bar):
    PULLED_BACK.append(bar)
    return bar


def watched(x):
    return wg.hook(noted, x[:1] * x[0]), x[:3] * 2.0


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("mode", MODES)
def test_what_is_explained_is_what_is_done(size, mode):
    x = np.arange(1.0, size + 1)
    jacobian = wg.jacobian(watched, mode=mode)
    taken = str(jacobian.explain(x)).split()[2].rstrip(",")
    PULLED_BACK.clear()
    jacobian(x)
    assert bool(PULLED_BACK) == (taken == "reverse")


def test_a_jacobian_function_pickles():
    again = pickle.loads(pickle.dumps(wg.jacobian(fan_out)))
    assert_same(again(np.array([1.0, 2.0])), wg.jacobian(fan_out)(np.array([1.0, 2.0])))
    assert again.explain().startswith("forward mode takes")


# --- arguments by name and by number ------------------------------------------------------


def scaled(x, k=1.0, *, shift=0.0):
    return k * (x + shift) ** 3


def product(x, y):
    return x * y * y


def test_arguments_by_name():
    v = np.array([1.0, 2.0])
    cubes = lambda x, k=1.0, *, shift: np.sum(scaled(x, k, shift=shift))
    for mode in MODES:
        np.testing.assert_allclose(wg.jacobian(scaled, mode=mode)(v, k=4.0), np.diag(12 * v**2))
        found = wg.jacobian(scaled, mode=mode)(v, 2.0, shift=1.0)
        np.testing.assert_allclose(found, np.diag(6 * (v + 1) ** 2))
    np.testing.assert_allclose(wg.hessian(cubes)(v, k=2.0, shift=1.0), np.diag(12 * (v + 1)))
    np.testing.assert_allclose(wg.diag_hessian(cubes)(v, shift=1.0), 6 * (v + 1))


def test_hessian_in_blocks():
    assert wg.hessian(product, argnums=(0, 1))(2.0, 3.0) == ((0.0, 6.0), (6.0, 4.0))
    assert wg.hessian(product, argnums=(1,))(2.0, 3.0) == ((4.0,),)


def test_arguments_from_the_end():
    assert wg.jacobian(product, argnums=-1)(2.0, 3.0) == 12.0
    assert wg.hessian(product, argnums=-1)(2.0, 3.0) == 4.0
    assert wg.diag_hessian(product, argnums=(-1, 0))(2.0, 3.0) == (4.0, 0.0)


# --- at the borders -----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_of_empty_arrays(mode):
    assert wg.jacobian(lambda x: x * x, mode=mode)(np.zeros(0)).shape == (0, 0)
    assert wg.jacobian(lambda x: np.outer(np.ones(3), x), mode=mode)(np.zeros(0)).shape == (3, 0, 0)
    assert wg.jacobian(lambda x: x[:0], mode=mode)(np.ones(2)).shape == (0, 2)
    assert wg.hessian(lambda x: np.sum(x * x))(np.zeros(0)).shape == (0, 0)


Point = namedtuple("Point", "p q")


@dataclass
class Weights:
    w: Any
    b: Any


NO_NUMBERS = {
    "truth values": lambda x: x > 1,
    "nothing": lambda x: None,
    "text": lambda x: "y",
    "text beside numbers": lambda x: (x * x, "y"),
    "an object": lambda x: SimpleNamespace(w=x),
    "nothing beside numbers": lambda x: Weights(x, None),
}


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("what", NO_NUMBERS)
def test_a_result_without_numbers_is_refused(what, mode):
    with pytest.raises(NotScalar, match="needs a result of numbers, but the function returns"):
        wg.jacobian(NO_NUMBERS[what], mode=mode)(np.ones(2))


def products(a):
    return a.p * a.q if isinstance(a, Point) else a.w * a.b


@dataclass(frozen=True)
class Layer:
    name: str
    size: Any
    weights: Weights

    def __post_init__(self):
        assert len(self.weights.w) == self.size, "no matrix may be checked like this"

    def __call__(self, x):
        return np.tanh(self.weights.w * x + self.weights.b)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_parts_with_names(mode):
    jacobian = wg.jacobian(products, mode=mode)
    assert jacobian(Point(2.0, 3.0)) == Point(3.0, 2.0)
    found = jacobian(Weights(np.array([1.0, 2.0]), 3.0))
    assert type(found) is Weights
    np.testing.assert_array_equal(found.w, 3 * np.eye(2))
    np.testing.assert_array_equal(found.b, [1.0, 2.0])
    of_results = wg.jacobian(lambda x: Point(x**2, Weights(x[0], x * 3)), mode=mode)(np.ones(2))
    np.testing.assert_array_equal(of_results.p, 2 * np.eye(2))
    np.testing.assert_array_equal(of_results.q.w, [1.0, 0.0])
    np.testing.assert_array_equal(of_results.q.b, 3 * np.eye(2))


def test_what_has_no_derivative_is_none_in_a_dataclass():
    layer = Layer("first", np.int64(2), Weights(np.array([0.3, -0.2]), 0.1))
    found = wg.jacobian(lambda layer: layer(0.7))(layer)
    assert found.name is None
    slopes = 1 - np.tanh(layer.weights.w * 0.7 + 0.1) ** 2
    np.testing.assert_allclose(found.weights.w, np.diag(0.7 * slopes), rtol=1e-14)
    np.testing.assert_allclose(found.weights.b, slopes, rtol=1e-14)
    plan = wg.jacobian(lambda layer: layer(0.7)).explain(layer)
    assert "['weights']: part by part" in plan
    assert "name" not in plan
    second = wg.hessian(lambda layer: np.sum(layer(0.7)))(layer)
    bends = -2 * np.tanh(layer.weights.w * 0.7 + 0.1) * slopes
    np.testing.assert_allclose(second.weights.b.weights.w, 0.7 * bends, rtol=1e-13)
    np.testing.assert_allclose(second.weights.w.weights.w, np.diag(0.49 * bends), rtol=1e-13)
    assert second.weights.b.name is None


def test_matrices_with_names_have_derivatives():
    def of_point(x):
        return wg.jacobian(products)(Point(x, x**2)).p + wg.jacobian(products)(Weights(x, x**3)).b

    assert wg.grad(of_point)(3.0) == pytest.approx(2 * 3.0 + 1)


def test_a_plan_is_made_for_what_can_be_computed():
    with pytest.raises(BadArgument, match="which is the text 's' and has no derivative"):
        wg.jacobian(lambda x: x).explain("s")


def test_hessians_of_several_results():
    f = lambda v: [v[0] * v[1], v[0] + v[1], math.exp(v[0]) * math.cos(v[1])]
    c, s = math.e * math.cos(2), math.e * math.sin(2)
    expected = [[[0, 1], [1, 0]], [[0, 0], [0, 0]], [[c, -s], [-s, -c]]]
    np.testing.assert_allclose(wg.hessian(f)([1, 2]), expected, rtol=1e-14)
    np.testing.assert_allclose(wg.hessian(f)([1, 2]), wg.jacobian(wg.jacobian(f))([1, 2]))
    blocks = wg.hessian(lambda x, y: x**3 * y, argnums=(0, 1))(np.ones(2), np.ones(2))
    np.testing.assert_allclose(blocks[0][1], 3 * np.einsum("ij,ik->ijk", np.eye(2), np.eye(2)))
    with pytest.raises(NotScalar, match="a gradient needs one real number as the result"):
        wg.hessian(lambda x: None)(1.0)
