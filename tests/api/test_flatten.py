"""Trees as vectors, and functions over their leaves."""

import copy
import pickle
from collections import OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from error_texts import message, place, refusal

import wengert as wg


@dataclass
class Layer:
    weights: np.ndarray
    bias: float
    name: str = "dense"

    def __call__(self, x):
        return np.tanh(self.weights @ x) * self.bias


@dataclass(frozen=True)
class Frozen:
    a: float
    b: np.ndarray


Pair = namedtuple("Pair", "x y")


class Net:
    made = 0

    def __init__(self):
        Net.made += 1
        self.first = Layer(np.arange(6.0).reshape(2, 3) / 10, 1.5)
        self.scales = [1.0, 2.0]
        self.activation = np.tanh
        self.trained = False

    def loss(self, x):
        return np.sum(self.activation(self.first(x))) * self.scales[0] + self.scales[1] ** 2


class Slots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1.0, np.ones(2)


class Listed(list):
    pass


def tree():
    return {
        "net": Net(),
        "frozen": Frozen(2.0, np.arange(2.0)),
        "pair": Pair(1.0, (2.0, [3.0, np.ones((2, 2))])),
        "text": "text",
        "none": None,
        "flag": True,
        "function": np.sum,
    }


def loss(p):
    x = np.array([0.1, -0.2, 0.3])
    found = p["net"].loss(x) + p["frozen"].a * np.sum(p["frozen"].b ** 2)
    return found + p["pair"].x * p["pair"].y[0] ** 2 + np.sum(p["pair"].y[1][1]) * p["pair"].y[1][0]


def same(a, b):
    return wg.flatten(a)[0].tolist() == wg.flatten(b)[0].tolist()


def test_the_vector_has_the_numbers_in_their_order():
    vector, _ = wg.flatten(tree())
    expected = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 1.5, 1, 2, 2, 0, 1, 1, 2, 3, 1, 1, 1, 1]
    np.testing.assert_allclose(vector, expected)
    assert vector.dtype == float
    assert vector.shape == (19,)


def test_unflatten_gives_the_same_structure():
    made = tree()
    vector, unflatten = wg.flatten(made)
    before = Net.made
    back = unflatten(vector)
    assert Net.made == before
    assert type(back["net"]) is Net
    assert vars(back["net"]).keys() == vars(made["net"]).keys()
    assert back["net"].activation is np.tanh
    assert back["net"].trained is False
    assert back["net"].first.name == "dense"
    assert type(back["frozen"]) is Frozen
    assert type(back["pair"]) is Pair
    assert type(back["pair"].y) is tuple
    assert (back["text"], back["none"], back["flag"], back["function"]) == (
        *("text", None, True),
        np.sum,
    )
    assert same(back, made)
    assert type(back["net"].first.bias) is float
    doubled = unflatten(2 * vector)
    assert doubled["net"].first.bias == 3.0
    assert back["net"].first.bias == made["net"].first.bias == 1.5


def test_shapes_and_dtypes_are_those_of_the_tree():
    made = {
        "single": np.ones((2, 1), np.float32),
        "none": np.zeros((0, 3)),
        "point": np.array(3.0),
        "number": 2,
        "whole": np.arange(3),
        "truths": np.array([True, False]),
    }
    vector, unflatten = wg.flatten(made)
    back = unflatten(vector)
    assert vector.shape == (7,)
    assert (back["single"].dtype, back["single"].shape) == (np.float32, (2, 1))
    assert back["none"].shape == (0, 3)
    assert back["point"].shape == ()
    assert back["truths"] is made["truths"]
    # what is varied is no whole number, as in gradients
    assert (type(back["number"]), back["whole"].dtype) == (float, float)


def test_trees_of_float32_are_vectors_of_float32():
    assert wg.flatten({"a": np.ones(2, np.float32)})[0].dtype == np.float32


def test_complex_numbers():
    vector, unflatten = wg.flatten({"z": 1 + 2j, "x": 3.0, "a": np.array([1j])})
    assert vector.tolist() == [1 + 2j, 3, 1j]
    assert unflatten(vector) == {"z": 1 + 2j, "x": 3.0, "a": np.array([1j])}
    assert unflatten(vector.real)["z"] == 1 + 0j


@pytest.mark.parametrize(
    "each", [3.0, np.ones((2, 2)), (), {}, [], "text", None, Slots(), Listed([1.0, 2.0])]
)
def test_any_value_is_a_tree(each):
    vector, unflatten = wg.flatten(each)
    back = unflatten(vector)
    assert type(back) is type(each)
    assert same(back, each)


def test_dictionaries_of_other_classes():
    made = {"o": OrderedDict(b=1.0, a=2.0), "d": defaultdict(list, a=3.0)}
    vector, unflatten = wg.flatten(made)
    assert vector.tolist() == [1.0, 2.0, 3.0]
    back = unflatten(vector + 1)
    assert back == {"o": OrderedDict(b=2.0, a=3.0), "d": {"a": 4.0}}
    assert type(back["d"]) is defaultdict
    assert back["d"].default_factory is list


def test_memory_is_its_own():
    made = {"a": np.ones(3), "b": [1.0]}
    vector, unflatten = wg.flatten(made)
    back = unflatten(vector)
    vector[:] = 5.0
    back["a"][0] = 7.0
    back["b"].append(2.0)
    assert made["a"].tolist() == [1.0, 1.0, 1.0]
    assert back["a"].tolist() == [7.0, 1.0, 1.0]
    assert unflatten(np.zeros(4))["b"] == [0.0]


def test_gradients_are_trees_of_the_same_leaves():
    made = tree()
    vector, unflatten = wg.flatten(made)
    slope, _ = wg.flatten(wg.grad(loss)(made))
    assert slope.shape == vector.shape
    np.testing.assert_allclose(wg.grad(lambda v: loss(unflatten(v)))(vector), slope, rtol=1e-14)


def test_unflatten_pickles_and_shows_itself():
    vector, unflatten = wg.flatten({"a": np.ones(3), "b": 2.0})
    assert repr(unflatten) == "<unflatten: 4 numbers to a dict>"
    again = pickle.loads(pickle.dumps(unflatten))
    assert same(again(vector), unflatten(vector))


def test_fitting():
    optimize = pytest.importorskip("scipy.optimize")
    start, unflatten = wg.flatten({"amplitude": 1.0, "rates": np.array([1.0, 0.5])})
    t = np.linspace(0.0, 3.0, 20)

    def model(p):
        return p["amplitude"] * np.exp(-p["rates"][0] * t) + p["rates"][1]

    y = model({"amplitude": 2.0, "rates": np.array([1.5, 0.3])})

    def misfit(v):
        return np.sum((model(unflatten(v)) - y) ** 2)

    fit = optimize.minimize(wg.value_and_grad(misfit), start, jac=True, tol=1e-14)
    found = unflatten(fit.x)
    assert found["amplitude"] == pytest.approx(2.0, rel=1e-5)
    np.testing.assert_allclose(found["rates"], [1.5, 0.3], rtol=1e-5)


# --- inside programs ------------------------------------------------------------------------------


MADE = tree()
VECTOR, UNFLATTEN = wg.flatten(MADE)


def of_vector(v):
    return loss(UNFLATTEN(v))


def round_trip(p):
    vector, back = wg.flatten(p)
    return loss(back(vector * vector))


def squares(p):
    return np.sum(wg.flatten(p)[0] ** 2)


def products(p):
    return loss(wg.tree_map(lambda a, b: a * b, p, p))


def one_step(p):
    return loss(wg.tree_map(lambda x, x_bar: x - 0.1 * x_bar, p, wg.grad(loss)(p)))


def check(function):
    """Compare the gradient by a tree's leaves with central differences of a function of a vector."""
    step, of = 1e-6, lambda v: function(UNFLATTEN(v))
    expected = [(of(VECTOR + e) - of(VECTOR - e)) / (2 * step) for e in step * np.eye(len(VECTOR))]
    found, _ = wg.flatten(wg.grad(function)(MADE))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("function", [round_trip, squares, products, one_step])
def test_inside_programs(function):
    check(function)
    assert wg.value_and_grad(function)(MADE)[0] == pytest.approx(function(MADE), rel=1e-14)


def test_a_function_of_the_vector():
    wg.testing.check_gradient(of_vector, VECTOR)
    direction = np.linspace(-1.0, 1.0, len(VECTOR))
    hessian = wg.hessian(of_vector)(VECTOR)
    np.testing.assert_allclose(wg.hvp(of_vector)(VECTOR, direction), hessian @ direction)
    jacobian = wg.jacobian(lambda v: UNFLATTEN(v)["pair"].y[1][1])(VECTOR)
    np.testing.assert_array_equal(jacobian[0, 0], np.eye(len(VECTOR))[15])


def test_the_derivative_reads_plainly():
    _, unflatten = wg.flatten({"a": 1.0, "b": np.ones((2, 2))})
    text = wg.grad(lambda v: np.sum(unflatten(v)["b"] ** 2)).specialize(np.ones(5)).source
    assert "v_bar[1:] += " in text
    assert "np.reshape(t1, (2, 2))" in text


def test_natively():
    pytest.importorskip("llvmlite")
    native = wg.jit(wg.grad(of_vector), strict=True)
    np.testing.assert_allclose(native(VECTOR), wg.grad(of_vector)(VECTOR), rtol=1e-13)


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_natively_or_as_python():
    pytest.importorskip("llvmlite")
    for function in (squares, round_trip):
        found = wg.flatten(wg.jit(wg.grad(function))(MADE))[0]
        np.testing.assert_allclose(found, wg.flatten(wg.grad(function)(MADE))[0], rtol=1e-13)
    assert wg.jit(of_vector)(VECTOR) == pytest.approx(of_vector(VECTOR), rel=1e-14)


def test_many_layers():
    made = {"layers": [{"w": np.full((2, 2), k / 9), "b": 1.0 + k} for k in range(9)]}
    total = lambda p: sum(np.sum(np.tanh(layer["w"])) * layer["b"] for layer in p["layers"])
    vector, unflatten = wg.flatten(made)
    slope = wg.flatten(wg.grad(total)(made))[0]
    np.testing.assert_allclose(wg.grad(lambda v: total(unflatten(v)))(vector), slope)
    doubled = wg.grad(lambda p: total(wg.tree_map(lambda x: 2 * x, p)))(made)
    expected = 2 * wg.grad(lambda v: total(unflatten(v)))(2 * vector)
    np.testing.assert_allclose(wg.flatten(doubled)[0], expected)


def test_writes_do_not_reach_the_vector():
    _, unflatten = wg.flatten({"a": np.ones(2), "b": np.ones(2)})

    def f(v):
        p = unflatten(v)
        p["a"][0] = 0.0
        return np.sum(v**2) + np.sum(p["a"] ** 2) + np.sum(p["b"])

    wg.testing.check_gradient(f, np.array([1.0, 2.0, 3.0, 4.0]))


def test_numbers_with_derivatives():
    dual = wg.Dual(2.0, 1.0)
    vector, unflatten = wg.flatten({"a": dual, "b": np.ones(2)})
    assert unflatten(vector * 2)["a"].tangent == 2.0
    line = lambda s: of_vector(VECTOR * s)
    slope = wg.taylor(line, 1.0, 1)[1]
    assert slope == pytest.approx(wg.grad(of_vector)(VECTOR) @ VECTOR)


# --- tree_map -------------------------------------------------------------------------------------


def test_tree_map_of_one_tree():
    made = tree()
    found = wg.tree_map(np.negative, made)
    np.testing.assert_array_equal(wg.flatten(found)[0], -wg.flatten(made)[0])
    assert type(found["net"]) is Net
    assert found["text"] == "text"
    assert found["flag"] is True


def test_tree_map_of_a_gradient():
    made = Net()
    slope = wg.grad(lambda net: net.loss(np.ones(3)))(made)
    assert type(slope) is SimpleNamespace
    moved = wg.tree_map(lambda x, x_bar: x - 0.1 * x_bar, made, slope)
    assert type(moved) is Net
    assert moved.scales[1] == 2.0 - 0.1 * 4.0
    assert made.scales[1] == 2.0
    zeros = wg.tree_map(np.zeros_like, slope)
    assert type(zeros) is SimpleNamespace


def test_tree_map_of_lists_of_a_class():
    made = Listed([1.0, 2.0])
    slope = wg.grad(lambda xs: xs[0] * xs[1])(made)
    assert wg.tree_map(lambda x, x_bar: x + x_bar, made, slope) == [3.0, 3.0]


def test_tree_map_leaves_its_trees_alone():
    made = {"a": [1.0], "b": np.ones(2)}
    before = copy.deepcopy(made)
    wg.tree_map(lambda x: x * 2, made)["a"].append(3.0)
    assert made["a"] == before["a"]


# --- errors ---------------------------------------------------------------------------------------


STRUCTURE = (
    "Give trees with the same keys, lengths and attributes, as gradients of the first have them."
)


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ({"a": 1.0}, {"b": 1.0}, "no `['a']`"),
        ({"a": {"b": 1.0}}, {"a": {}}, "no `['b']` at `['a']`"),
        ([1.0, 2.0], [1.0], "no `[1]`"),
        ([1.0], [1.0, 2.0], "2 items where the first has 1"),
        ({"a": [1.0]}, {"a": None}, "None where the first has a list at `['a']`"),
        ((1.0, [2.0]), (1.0, 2.0), "a number where the first has a list at `[1]`"),
        (Pair(1.0, 2.0), Pair(1.0, "b"), "a str where the first has a number at `.y`"),
        (np.ones(2), [1.0, 1.0], "a list where the first has an array"),
        (Slots(), SimpleNamespace(a=1.0), "no `.b`"),
        (Slots(), {}, "no `.a`"),
    ],
)
def test_trees_of_other_structure(first, second, what):
    error = refusal("WG202", TypeError, lambda: wg.tree_map(lambda a, b: a, first, second))
    text = f"`tree_map` goes over trees of one structure, and tree 2 has {what}"
    assert str(error) == message("WG202", text, None, STRUCTURE)


def test_trees_of_other_structure_inside_a_program():
    def f(x):
        return wg.tree_map(lambda a, b: a, {"a": x}, {"b": x})["a"]

    error = refusal("WG202", TypeError, lambda: wg.gradient(f, 2.0))
    text = "`tree_map` goes over trees of one structure, and tree 2 has no `['a']`"
    where = place(f, 1, 'wg.tree_map(lambda a, b: a, {"a": x}, {"b": x})', inside="f")
    assert str(error) == message("WG202", text, where, STRUCTURE)


def test_tree_map_without_a_function():
    error = refusal("WG202", TypeError, lambda: wg.tree_map({"a": 1.0}, {"a": 1.0}))
    assert str(error) == message(
        "WG202",
        "`tree_map` takes a function first, not a value of type dict",
        None,
        "Call it like this: `wg.tree_map(fn, tree, *trees)`.",
    )


@pytest.mark.parametrize("vector", [np.ones(3), np.ones(5), np.ones((2, 2)), 3.0, [1.0]])
def test_a_vector_of_another_size(vector):
    _, unflatten = wg.flatten({"a": np.ones(3), "b": 1.0})
    error = refusal("WG202", TypeError, lambda: unflatten(vector))
    assert str(error) == message(
        "WG202",
        f"`unflatten` makes a tree of 4 numbers, and was given an array of shape {np.shape(vector)}",
        None,
        "Give it a vector like the one that `wg.flatten` gave.",
    )


@pytest.mark.parametrize("size", [3, 5])
@pytest.mark.parametrize("made", [{"a": np.ones(3), "b": 1.0}, {"b": 1.0, "a": np.ones(3)}])
def test_a_vector_of_another_size_inside_a_program(made, size):
    _, unflatten = wg.flatten(made)
    f = lambda v: np.sum(unflatten(v)["a"]) + unflatten(v)["b"]
    assert wg.grad(f)(np.ones(4)).tolist() == [1.0] * 4
    with pytest.raises((ValueError, IndexError)):
        wg.grad(f)(np.ones(size))


def test_a_matrix_inside_a_program():
    def f(v):
        return UNFLATTEN(v)["frozen"].a

    error = refusal("WG202", TypeError, lambda: wg.gradient(f, np.ones((19, 1))))
    assert str(error) == message(
        "WG202",
        "`unflatten` makes a tree of 19 numbers, and was given an array with 2 dimensions",
        place(f, 1, "UNFLATTEN(v)", inside="f"),
        "Give it a vector like the one that `wg.flatten` gave.",
    )


def test_a_tree_that_holds_itself():
    net = SimpleNamespace(a=1.0)
    net.me = net
    error = refusal("WG202", TypeError, lambda: wg.flatten(net))
    assert str(error) == message(
        "WG202",
        "this tree holds itself, or is nested too deeply: `.me.me.me.me.me.me…`",
        None,
        "Take the parts that are to be varied, such as `[net.weights, net.bias]`.",
    )
