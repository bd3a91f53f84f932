"""`vmap` against a loop in Python."""

import copy
import operator
import pickle
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from error_texts import message, place, refusal
from programs import PROGRAMS
from turns import has_turn

import wengert as wg
from wengert.api import trees

Pair = namedtuple("Pair", "x y")
XS = np.linspace(-1.0, 1.5, 12).reshape(4, 3)
W = np.array([1.0, 2.0, -1.0])


@dataclass
class Model:
    w: np.ndarray
    b: float


def neuron(x, w):
    return np.tanh(w @ x) * x[0]


BATCH = wg.vmap(neuron, in_axes=(0, None))


def total(xs, w):
    return np.sum(BATCH(xs, w) ** 2)


def total_by_loop(xs, w):
    return sum(neuron(x, w) ** 2 for x in xs)


def test_values():
    np.testing.assert_array_equal(BATCH(XS, W), [neuron(x, W) for x in XS])
    assert BATCH(XS, W).dtype == float
    assert wg.vmap(lambda x: x > 0)(np.array([1.0, -1.0])).tolist() == [True, False]
    assert wg.vmap(lambda x: x * x)(np.array([1.0, 2.0], np.float32)).dtype == np.float32


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_gradients(argnums):
    found = wg.flatten(wg.grad(total, argnums)(XS, W))[0]
    np.testing.assert_allclose(found, wg.flatten(wg.grad(total_by_loop, argnums)(XS, W))[0])


def test_higher_derivatives():
    np.testing.assert_allclose(wg.hessian(total, 1)(XS, W), wg.hessian(total_by_loop, 1)(XS, W))
    found = wg.hvp(total)(XS, W, np.ones((4, 3)))
    np.testing.assert_allclose(found, wg.hvp(total_by_loop)(XS, W, np.ones((4, 3))))
    wg.testing.check_gradient(total, XS, W)


def test_derivatives_of_items():
    slopes = wg.vmap(wg.grad(neuron, (0, 1)), in_axes=(0, None))(XS, W)
    for k, x in enumerate(XS):
        for found, expected in zip(slopes, wg.grad(neuron, (0, 1))(x, W)):
            np.testing.assert_allclose(found[k], expected)
    hessians = wg.vmap(wg.hessian(neuron), in_axes=(0, None))(XS, W)
    np.testing.assert_allclose(hessians[2], wg.hessian(neuron)(XS[2], W))
    values, _ = wg.vmap(wg.value_and_grad(neuron), in_axes=(0, None))(XS, W)
    np.testing.assert_array_equal(values, BATCH(XS, W))


def test_jacobians():
    found = wg.jacobian(BATCH)(XS, W)
    for k, x in enumerate(XS):
        np.testing.assert_allclose(found[k, k], wg.grad(neuron)(x, W))
    assert np.count_nonzero(found.any(axis=2)) <= 4
    np.testing.assert_array_equal(wg.jacobian(wg.vmap(lambda x: x * x))(W), np.diag(2 * W))


def test_pullback_and_pushforward():
    _, back = wg.pullback(BATCH, XS, W)
    y_bar = np.arange(4.0)
    expected = wg.grad(lambda xs, w: np.sum(y_bar * BATCH(xs, w)), (0, 1))(XS, W)
    for found, each in zip(back(y_bar), expected):
        np.testing.assert_allclose(found, each)
    _, push = wg.pushforward(BATCH, XS, W)
    dots = np.ones_like(XS), np.ones_like(W)
    assert y_bar @ push(*dots) == pytest.approx(sum(np.sum(each) for each in expected))


def test_native_code():
    pytest.importorskip("llvmlite")
    for native in (wg.jit(BATCH, strict=True), wg.vmap(wg.jit(neuron), in_axes=(0, None))):
        np.testing.assert_allclose(native(XS, W), BATCH(XS, W), rtol=1e-14)
    slope = wg.jit(wg.grad(total, 1), strict=True)
    np.testing.assert_allclose(slope(XS, W), wg.grad(total, 1)(XS, W), rtol=1e-13)
    each = wg.jit(wg.vmap(wg.grad(neuron), in_axes=(0, None)), strict=True)
    np.testing.assert_allclose(each(XS, W), wg.vmap(wg.grad(neuron), (0, None))(XS, W), rtol=1e-13)


def test_nested():
    every = wg.vmap(BATCH, in_axes=(None, 0))
    ws = np.stack([W, 2 * W])
    expected = [[neuron(x, w) for x in XS] for w in ws]
    np.testing.assert_array_equal(every(XS, ws), expected)
    loss = lambda xs, ws: np.sum(np.sin(every(xs, ws)))
    by_loop = lambda xs, ws: sum(np.sin(neuron(x, w)) for x in xs for w in ws)
    for found, expected in zip(wg.gradient(loss, XS, ws), wg.gradient(by_loop, XS, ws)):
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_in_axes(axis):
    batch = np.arange(24.0).reshape(2, 3, 4)
    f = lambda x: np.sum(np.sin(x), axis=0)
    items = [np.take(batch, k, axis) for k in range(batch.shape[axis])]
    mapped = wg.vmap(f, in_axes=axis)
    np.testing.assert_array_equal(mapped(batch), [f(x) for x in items])
    slope = wg.grad(lambda batch: np.sum(mapped(batch) ** 2))(batch)
    expected = [wg.grad(lambda x: np.sum(f(x) ** 2))(x) for x in items]
    np.testing.assert_allclose(slope, np.stack(expected, axis))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_out_axes(axis):
    f = lambda x: np.outer(x, x)
    mapped = wg.vmap(f, out_axes=axis)
    np.testing.assert_array_equal(mapped(XS), np.stack([f(x) for x in XS], axis))
    weights = np.arange(36.0).reshape(mapped(XS).shape)
    loss = lambda xs: np.sum(weights * mapped(xs))
    by_loop = lambda xs: np.sum(weights * np.stack([f(x) for x in xs], axis))
    np.testing.assert_allclose(wg.grad(loss)(XS), wg.grad(by_loop)(XS))


def measure(x, p, shift):
    y = p["w"] * x + p["b"][1]
    return {"sum": np.sum(y) + shift, "parts": (y, [y[0], "name"]), "pair": Pair(x, p["b"][0])}


AXES = (0, {"w": None, "b": [None, 0]}, None)
RESULTS = {"sum": 0, "parts": (1, 0), "pair": Pair(0, None)}
P = {"w": W, "b": [2.0, np.array([0.5, -1.0, 2.0, 0.0])]}


def measured(xs, p, shift):
    return wg.vmap(measure, AXES, RESULTS)(xs, p, shift)


def weighed(xs, p, shift):
    found = wg.vmap(
        measure, (0, {"w": None, "b": [None, 0]}, None), {"sum": 0, "parts": (1, 0), "pair": 0}
    )(xs, p, shift)
    y = found["parts"][0]
    return np.sum(found["sum"] ** 2) + np.sum(y * y[::-1]) + np.sum(found["pair"].y)


def test_axes_of_parts():
    found = measured(XS, P, 1.0)
    each = [measure(x, {"w": W, "b": [2.0, b]}, 1.0) for x, b in zip(XS, P["b"][1])]
    np.testing.assert_array_equal(found["sum"], [r["sum"] for r in each])
    np.testing.assert_array_equal(found["parts"][0], np.stack([r["parts"][0] for r in each], 1))
    assert found["parts"][1][1] == "name"
    assert type(found["pair"]) is Pair
    np.testing.assert_array_equal(found["pair"].x, XS)
    assert found["pair"].y == 2.0


def test_axes_of_parts_inside_a_program():
    wg.testing.check_gradient(weighed, XS, P, 1.0)
    mapped = wg.vmap(measure, AXES, RESULTS)
    assert (
        wg.grad(lambda p: np.sum(mapped(XS, p, 1.0)["parts"][0]))(P)["b"][1].tolist() == [3.0] * 4
    )
    assert wg.grad(lambda p: mapped(XS, p, 1.0)["pair"].y ** 2)(P)["b"][0] == 4.0


def test_objects_and_dataclasses():
    models = Model(np.stack([W, 2 * W]), np.array([0.0, 1.0]))
    call = lambda model, x: SimpleNamespace(y=model.w @ x + model.b, name="made")
    mapped = wg.vmap(call, in_axes=(0, None))
    found = mapped(models, XS[0])
    assert type(found) is SimpleNamespace
    assert found.name == "made"
    np.testing.assert_allclose(found.y, [W @ XS[0], 2 * W @ XS[0] + 1])
    slope = wg.grad(lambda models: np.sum(mapped(models, XS[0]).y ** 2))(models)
    assert type(slope) is Model
    np.testing.assert_allclose(slope.b, 2 * found.y)


def test_keyword_arguments_are_mapped():
    scaled = wg.vmap(lambda x, scale: np.sum(x) * scale)
    scales = np.arange(4.0)
    np.testing.assert_allclose(scaled(XS, scale=scales), np.sum(XS, 1) * scales)
    slope = wg.grad(lambda xs: np.sum(scaled(xs, scale=scales)))(XS)
    np.testing.assert_allclose(slope, np.outer(scales, np.ones(3)))


def inside(xs, w):
    mapped = wg.vmap(lambda x, t: np.sum(w * x) ** 2 * t, in_axes=(0, 0))
    slopes = wg.vmap(wg.grad(lambda x: np.sum(w * np.sin(x))))(xs)
    return np.sum(mapped(xs, xs[:, 0])) + np.sum(slopes**2)


def test_inside_a_program():
    wg.testing.check_gradient(inside, XS, W)
    assert wg.value_and_grad(inside)(XS, W)[0] == pytest.approx(inside(XS, W))


def test_methods_and_decorators():
    class Net:
        scale = 2.0

        @wg.vmap
        def each(self, x):
            return self.scale * np.sum(x)

    np.testing.assert_allclose(Net().each(XS), 2 * np.sum(XS, 1))
    assert wg.vmap(Net().each)(XS[None]).shape == (1, 4)


def test_what_it_is():
    assert repr(BATCH) == "<vmap of neuron>"
    assert BATCH.__name__ == "neuron"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(BATCH))(XS, W), BATCH(XS, W))
    # equal ones share a derivative
    again = wg.vmap(neuron, in_axes=(0, None))
    assert wg.grad(lambda w: np.sum(again(XS, w)))(W).shape == (3,)


def test_numbers_with_derivatives():
    found = wg.taylor(lambda s: np.sum(wg.vmap(lambda x: np.sum(x * x))(XS * s)), 1.0, 2)
    square = np.sum(XS * XS)
    np.testing.assert_allclose(found, [square, 2 * square, square])


# --- the corpus -----------------------------------------------------------------------------------


def of_floats(program):
    args = [program.points[0][k] for k in program.wrt]
    leaves = [np.asarray(leaf) for arg in args for _, leaf in trees.leaves(arg)]
    return leaves and all(leaf.dtype.kind in "fc" for leaf in leaves)


REFUSED = {"calls.tree_sum", "mutable_containers.tree_by_stack"}
"""Programs whose arguments are trees that only the run knows."""


def corpus():
    for program in PROGRAMS:
        one_number = program.name not in REFUSED and not program.note
        if one_number and of_floats(program) and has_turn(program.name, 1, 4):
            yield pytest.param(program, id=program.name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", list(corpus()))
def test_programs(program):
    point, wrt = program.points[0], program.wrt
    axes = tuple([0 if k in wrt else None for k in range(len(point))])
    near = lambda x: np.stack([np.asarray(x) * scale for scale in (1.0, 1.001, 0.999)])
    batch = [wg.tree_map(near, x) if k in wrt else x for k, x in enumerate(point)]
    items = [
        [wg.tree_map(operator.itemgetter(k), x) if axis == 0 else x for x, axis in zip(batch, axes)]
        for k in range(3)
    ]
    slope = wg.grad(program.function, wrt)
    try:
        expected = np.stack([program(*item) for item in items])
        slopes = [slope(*copy.deepcopy(item)) for item in items]
    except (wg.WengertError, TypeError, ValueError) as error:
        pytest.skip(f"no function of NumPy's numbers with one number as its result: {error}")
    mapped = wg.vmap(program, axes)  # on copies: a program may change what it is given
    np.testing.assert_array_equal(mapped(*batch), expected)
    mapped = wg.vmap(program.function, axes)
    found = wg.grad(lambda *batch: np.sum(np.real(mapped(*batch))), wrt)(*copy.deepcopy(batch))
    stacked = wg.tree_map(lambda *x: np.stack(x), *slopes)
    np.testing.assert_allclose(wg.flatten(found)[0], wg.flatten(stacked)[0], rtol=1e-9, atol=1e-11)


# --- errors ---------------------------------------------------------------------------------------


WHERE = (
    "Say by `in_axes` where the items lie: `in_axes=(0, None)` maps the first of two arguments along its\n"
    "first axis, and gives the second to all items."
)
BUILT = "Give an axis for the whole, or a tuple, list or dictionary with one entry for each part."
CALLS = {
    "sizes": (
        lambda: wg.vmap(neuron)(XS, np.ones((3, 3))),
        "`vmap` maps along axes of one size, but these differ: argument 0 (`x`): 4, argument 1 (`w`): 3",
        "Give arguments with the same number of items; `in_axes` says where they lie.",
    ),
    "sizes of parts": (
        lambda: wg.vmap(lambda p: p["a"])({"a": np.ones(2), "b": [np.ones(3)]}),
        (
            "`vmap` maps along axes of one size, but these differ: argument 0 (`p`) at `['a']`: 2, "
            "argument 0 (`p`) at `['b'][0]`: 3"
        ),
        "Give arguments with the same number of items; `in_axes` says where they lie.",
    ),
    "sizes of keywords": (
        lambda: wg.vmap(lambda x, y: x)(np.ones(2), y=np.ones(3)),
        "`vmap` maps along axes of one size, but these differ: argument 0 (`x`): 2, argument `y`: 3",
        "Give arguments with the same number of items; `in_axes` says where they lie.",
    ),
    "an axis": (
        lambda: wg.vmap(neuron, (2, None))(XS, W),
        "argument 0 (`x`) has 2 dimensions, and no axis 2 to map along",
        WHERE,
    ),
    "a number": (
        lambda: wg.vmap(lambda x, y: x)(np.ones(2), 3.0),
        "argument 1 (`y`) is a number, and no axis 0 to map along",
        WHERE,
    ),
    "nothing": (
        lambda: wg.vmap(neuron, None)(XS, W),
        "`vmap` has nothing to map along: no argument holds an array whose axis `in_axes` names",
        "Give an array, and its axis: `wg.vmap(f, in_axes=(0, None))(x, shared)`.",
    ),
    "a batch without items": (
        lambda: wg.vmap(np.sin)(np.ones((0, 2))),
        "`vmap` was given a batch without items, and what it gives for none is not known",
        "Do not call it where there is nothing to map.",
    ),
    "too few axes": (
        lambda: wg.vmap(neuron, (0,))(XS, W),
        "`in_axes` has 1 entry, but neuron was called with 2 positional arguments",
        "Give one entry for each: an axis, or None for what all items share.",
    ),
    "axes of other parts": (
        lambda: wg.vmap(lambda p: p["a"], ({"b": 0},))({"a": np.ones(2)}),
        "argument 0 (`p`) is not built like its axes {'b': 0}",
        BUILT,
    ),
    "axes of an array": (
        lambda: wg.vmap(lambda p: p, ((0, 0),))(np.ones(2)),
        "argument 0 (`p`) is not built like its axes (0, 0)",
        BUILT,
    ),
    "an axis of the result": (
        lambda: wg.vmap(neuron, (0, None), 1)(XS, W),
        "`out_axes` names axis 1, but the results of all items together have 1 dimension",
        "Axes count from 0; -1 is the last.",
    ),
    "axes of a result": (
        lambda: wg.vmap(neuron, (0, None), (0, 0))(XS, W),
        "the result is not built like its axes (0, 0)",
        BUILT,
    ),
    "in_axes": (
        lambda: wg.vmap(neuron, in_axes=(0, 1.5)),
        "`in_axes` must be made of integers and None, not of 1.5",
        "An integer is the axis along which the items lie, None is for what all items share.",
    ),
    "out_axes": (
        lambda: wg.vmap(neuron, out_axes="0"),
        "`out_axes` must be made of integers and None, not of '0'",
        "An integer is the axis along which the items lie, None is for what all items share.",
    ),
    "no function": (
        lambda: wg.vmap(3.0),
        "wengert differentiates functions, not values of type float",
        "Pass the function itself, not its result: `wg.grad(f)(x)`, `wg.gradient(f, x)`.",
    ),
    "results that differ": (
        lambda: wg.vmap(neuron, (0, None), None)(XS, W),
        "`out_axes` says None of a result that is not the same for all items of the batch",
        "Name its axis.",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_bad_calls(name):
    action, what, hint = CALLS[name]
    error = refusal("WG202", TypeError, action)
    assert str(error) == message("WG202", what, None, hint)


def axis_inside(xs):
    return np.sum(wg.vmap(lambda x: x * x, in_axes=3)(xs))


def nothing_inside(xs):
    return np.sum(wg.vmap(lambda x: x * x, in_axes=(None,))(xs))


def entries_inside(xs):
    return np.sum(wg.vmap(lambda x: x * x, in_axes=(0, 0))(xs))


def result_inside(xs):
    return np.sum(wg.vmap(np.sum, out_axes=2)(xs))


@pytest.mark.parametrize(
    ("program", "what", "underlined"),
    [
        (
            axis_inside,
            "argument 0 has 2 dimensions, and no axis 3 to map along",
            "wg.vmap(lambda x: x * x, in_axes=3)(xs)",
        ),
        (nothing_inside, CALLS["nothing"][1], "wg.vmap(lambda x: x * x, in_axes=(None,))(xs)"),
        (
            entries_inside,
            "`in_axes` has 2 entries, but the inner function was called with 1 positional argument",
            "wg.vmap(lambda x: x * x, in_axes=(0, 0))(xs)",
        ),
        (
            result_inside,
            "`out_axes` names axis 2, but the results of all items together have 1 dimension",
            "wg.vmap(np.sum, out_axes=2)(xs)",
        ),
    ],
)
def test_bad_calls_inside_a_program(program, what, underlined):
    error = refusal("WG202", TypeError, lambda: wg.grad(program)(XS))
    assert str(error).startswith(
        f"[WG202] {what}\n\n{place(program, 1, underlined, inside=program.__name__)}"
    )


def test_sizes_that_differ_inside_a_program():
    mapped = wg.vmap(lambda x, y: np.sum(x) * y)
    slope = wg.grad(lambda x, y: np.sum(mapped(x, y)))
    assert slope(XS, np.ones(4)).shape == XS.shape
    with pytest.raises(
        (ValueError, wg.WengertError), match="maps along axes of one size, but these differ"
    ):
        slope(XS, np.ones(5))
    with pytest.raises((ValueError, wg.WengertError), match="batch without items"):
        slope(XS[:0], np.ones(0))
