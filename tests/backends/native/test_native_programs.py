"""Whole programs as native code: lists of arrays that loops keep, Jacobians inside, recursion."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
import trees

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def native(f, *args, rel=1e-12):
    """The result of the native form, which must be what the Python form gives."""
    compiled = wg.jit(f, strict=True)
    for _ in range(2):
        found, expected = compiled(*args), f(*args)
        trees.assert_close(found, expected, rel=rel)
    assert compiled.exits == 0
    return found


# --- what loops keep ----------------------------------------------------------------------


def grown_by_one(x, n):
    m, total = 1, 0.0
    for _ in range(n):
        y = np.ones(m) * x
        m = m + 1
        total += np.sum(y**3)
    return total


def as_long_as_the_index(x, n):
    total = 0.0
    for k in range(n):
        total += np.sum((np.ones(k) * x) ** 3)
    return total


def of_an_outer_size(x, n):
    total = 0.0
    for k in range(n):
        inner = 0.0
        for _ in range(2):
            inner = inner * x + np.sum((np.ones(k) * x) ** 3)
        total += inner
    return total


@pytest.mark.parametrize("f", [grown_by_one, as_long_as_the_index, of_an_outer_size])
def test_arrays_of_growing_sizes_are_kept_each_in_its_size(f):
    native(wg.grad(f), 1.5, 40)


def test_ranges_and_slices_are_kept():
    def packed(x, n):
        total, first = 0.0, 0
        for k in range(n):
            end = first + k
            part = x[first:end]
            for j in range(k):
                total += part[j] ** 2 * (j + 1)
            first = end
        return total

    native(wg.grad(packed), np.linspace(1.0, 2.0, 20), 5)


@pytest.mark.parametrize("layers", [1, 3])
def test_rows_of_a_state_that_loops_change(layers):
    def network(w, x, n):
        state = np.zeros((layers, 4))
        total = 0.0
        for t in range(n):
            y = x[t]
            for k in range(layers):
                y = np.tanh(y * w[k, 0] + state[k] * w[k, 1])
                state[k] = y
            total += np.sum(y * y)
        return total

    rng = np.random.default_rng(0)
    native(wg.grad(network, (0, 1)), rng.normal(size=(layers, 2, 4)), rng.normal(size=(6, 4)), 6)


def test_memory_that_has_two_names_stays_until_both_are_done():
    """The cotangent of `s` and that of `x + x` are one array: a loop must not release it for the other."""

    def f(x, w, n):
        y, s = x.copy(), x * 0.3
        total = 0.0
        for _ in range(n):
            for _ in range(2):
                y = y * w + s
                s = s * 0.5 + y
            s += x + x
            total += np.sum(s * y)
        return total

    native(wg.grad(f), np.array([0.3, -0.2, 0.5, 1.0]), 0.7, 5)


def turned(q, v, n):
    for _ in range(n):
        w, x, y, z = q / np.linalg.norm(q)
        turn = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
        v = turn @ v + np.cross(v, q[1:]) * 0.1
    return np.sum(v**2)


def test_arrays_that_are_joined_from_joined_ones_are_written_in_place():
    native(wg.grad(turned, (0, 1)), np.array([1.1, 0.2, -0.3, 0.5]), np.array([0.3, 1.0, -0.2]), 5)


# --- arrays from arrays -------------------------------------------------------------------

A = np.arange(24.0).reshape(2, 3, 4) % 7


EXTREMES = [
    lambda x: np.max(x, axis=0),
    lambda x: np.min(x, axis=1),
    lambda x: np.max(x, axis=-1),
    lambda x: np.min(x, axis=0, keepdims=True),
    lambda x: np.max(x, axis=1, keepdims=True),
    lambda x: np.max(x, axis=2, keepdims=True),
]


@pytest.mark.parametrize("extreme", EXTREMES)
def test_the_gradient_of_extremes_along_an_axis(extreme):
    g = wg.grad(lambda x: np.sum(extreme(x) ** 2))
    native(g, A)
    native(g, A.astype(np.float32), rel=1e-6)


JOINED = [
    lambda x, y: np.stack([x, y, 2 * x]),
    lambda x, y: np.stack([x, y, 2 * x], axis=1),
    lambda x, y: np.stack((x, y), axis=2),
    lambda x, y: np.stack([x * k + y for k in range(len(x))], axis=-1),
    lambda x, y: np.stack([x * k + y for k in range(len(x))], axis=1),
    lambda x, y: np.concatenate([x, y, 2 * x], axis=0),
    lambda x, y: np.concatenate([x, y, 2 * x], axis=1),
    lambda x, y: np.concatenate([x, y], axis=-1),
]


@pytest.mark.parametrize("joined", JOINED)
def test_joining_and_stacking_along_any_axis(joined):
    native(joined, A[0], A[1])


def test_the_gradient_of_stacked_arrays():
    native(wg.grad(lambda x, y: np.sum(np.stack([x, y]) ** 3)), A[0], A[1])


def test_lists_are_joined_with_arrays():
    def running(x):
        return np.concatenate([[0.0, x[1]], np.cumsum(x * x), (1.0,)])

    native(running, np.arange(4.0))
    native(wg.grad(lambda x: np.sum(running(x) ** 2)), np.arange(4.0))


@pytest.mark.parametrize("more", [2, 2.5, np.arange(3), np.arange(3.0)])
def test_appending(more):
    native(lambda x, more: np.append(x, more), np.arange(4), more)
    native(lambda x, more: np.append(x, more), np.arange(4.0), more)


def test_rows_and_columns_by_index_arrays():
    places = np.array([2, 0, -1, 2])
    native(lambda x, k: x[:, k], A[0], places)
    native(lambda x, k: x[:, :, k], A, places)
    native(wg.grad(lambda x, k: np.sum(x[:, k] ** 2)), A[0], places)


def test_lists_of_known_length_put_together():
    def pair(x):
        return [x, 2 * x]

    more = (2,)
    native(lambda x: pair(x) + pair(x * x), 1.5)
    native(lambda x: np.zeros(np.shape(x) + more) + x[..., None], A)


# --- loops that look up weights ------------------------------------------------------------


def layers_by_number(weights, biases, x):
    for i in range(len(weights)):
        x = np.tanh(x @ weights[i] + biases[i])
    return np.mean(x**2)


def layers_by_name(weights, biases, x):
    named = {f"w{i}": w for i, w in enumerate(weights)} | {"b0": biases[0], "b1": biases[1]}
    for i in range(2):
        x = np.tanh(x @ named[f"w{i}"] + named["b" + str(i)])
    return np.mean(x**2)


def layers_in_pairs(weights, biases, x):
    layers = list(zip(weights, biases, strict=True))
    for i in range(len(layers) - 1):
        w, b = layers[i]
        for k in range(2):
            x = np.tanh(x @ w + b * layers[k][1])
    return np.mean((x @ layers[-1][0]) ** 2)


@pytest.mark.parametrize("f", [layers_by_number, layers_by_name, layers_in_pairs])
def test_few_layers_that_are_looked_up_by_number_or_name(f):
    rng = np.random.default_rng(0)
    weights, biases, x = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3)), rng.normal(size=3)
    native(wg.grad(f, (0, 1)), list(weights), list(biases), x)


def test_many_layers_stay_a_loop():
    weights = [np.eye(3) * 0.9] * 40
    text = wg.grad(layers_by_number).specialize(weights, [np.ones(3)] * 40, np.ones(3)).source
    assert text.count("np.tanh(") == 1


# --- truth values of Python and NumPy ------------------------------------------------------


def american_option(s, sigma, n):
    u = np.exp(sigma * np.sqrt(1 / n))
    values = np.zeros(n + 1)
    for i in range(n + 1):
        values[i] = max(101.0 - s * u ** (2 * i - n), 0.0)
    for step in range(n - 1, -1, -1):
        for i in range(step + 1):
            values[i] = max(0.5 * (values[i + 1] + values[i]), 101.0 - s * u ** (2 * i - step))
    return values[0]


def test_one_of_a_truth_value_of_pythons_and_one_of_numpys():
    native(wg.grad(american_option, (0, 1)), 100.0, 0.2, 10)
    compiled = wg.jit(lambda a, b, c: (a > 1.0) or (b > c), strict=True)
    for a in (0.5, 1.5):
        for b in (0.5, np.float64(0.5), np.float64(2.0)):
            found, expected = compiled(a, b, 1.0), (a > 1.0) or (b > 1.0)
            assert found == expected
            assert type(found) is type(expected)


# --- Jacobians inside ---------------------------------------------------------------------


def three_of_two(x):
    return np.array([x[0] * x[1], np.sin(x[0]), x[1] ** 2])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_inside(mode):
    found = native(lambda x: wg.jacobian(three_of_two, mode=mode)(x), np.array([0.5, 2.0]))
    np.testing.assert_allclose(found, [[2.0, 0.5], [np.cos(0.5), 0.0], [0.0, 4.0]])


def test_a_pushforward_of_a_gradient_inside():
    def newton_step(x):
        gradient, push = wg.pushforward(wg.grad(lambda y: np.sum(y**4)), x)
        return gradient / push(np.ones_like(x))

    np.testing.assert_allclose(native(newton_step, A[0] + 1), (A[0] + 1) / 3)


# --- functions that are called ------------------------------------------------------------


def descend(f, gradient, x, most):
    slope = gradient(x)
    for _ in range(most):
        if abs(slope) < 1e-9:
            break
        x = x - 0.1 * slope
        if f(x) > 1e9:
            break
        slope = gradient(x)
    return x


def lowest(a):
    """The x of the least (x − a)² + y²/2, where y is the least of (y − a x)²; that is 2a/(2 + a²)."""

    def inner(x):
        g = lambda y: (y - a * x) ** 2
        return descend(g, wg.grad(g), x, 200)

    f = lambda x: (x - a) ** 2 + 0.5 * inner(x) ** 2
    return descend(f, wg.grad(f), 0.3, 200)


def test_a_descent_whose_objective_is_a_descent():
    """The derivative that is passed on takes along what its function captured."""
    a = 1.3
    slope = (4 - 2 * a * a) / (2 + a * a) ** 2
    assert lowest(a) == pytest.approx(2 * a / (2 + a * a), abs=1e-7)
    assert wg.grad(lowest)(a) == pytest.approx(slope, abs=1e-6)
    assert wg.derivative(lowest)(a) == pytest.approx(slope, abs=1e-6)


def halves(x, n):
    if n == 0:
        return [x, 1.0], {"depth": 0}
    (value, scale), found = halves(x / 2, n - 1)
    return [value, scale * 2], {"depth": found["depth"] + 1}


def test_recursion_that_gives_containers():
    assert native(lambda x, n: halves(x, n), 3.0, 4) == ([3.0 / 16, 16.0], {"depth": 4})


def test_recursion_that_gives_arrays_in_tuples():
    def grid(x, n):
        if n == 0:
            return 1.0 * x, 2 * x
        low, high = grid(x / 2, n - 1)
        return low + high, high - low

    for x, n in itertools.product((A[0], A[0, 0]), (0, 3)):
        native(lambda x, n: grid(x, n), x, n)


def doubled_from(x, k):
    """Twice every element from k on, in place; gives what they were in all."""
    if k == len(x):
        return 0.0
    before = x[k]
    x[k] *= 2
    return before + doubled_from(x, k + 1)


def test_recursion_that_changes_what_it_is_given():
    def total(x):
        y = x.copy()
        found = doubled_from(y, 1)
        return found, y

    native(total, np.arange(5.0))
    native(lambda x: total(x[:, 1]), A[0])


def test_recursion_that_changes_an_argument_of_the_caller():
    for compiled in (doubled_from, wg.jit(doubled_from, strict=True)):
        x = np.arange(5.0)
        assert compiled(x, 2) == 9.0
        assert x.tolist() == [0.0, 1.0, 4.0, 6.0, 8.0]


def test_globals_are_read_in_functions_that_are_called(monkeypatch):
    def depth(x, n):
        return x if n == 0 else SCALE * depth(x, n - 1)

    compiled = wg.jit(lambda x, n: depth(x, n), strict=True)
    assert compiled(1.5, 3) == 12.0
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert compiled(1.5, 3) == 40.5


SCALE = 2.0


# --- calls that take the short way --------------------------------------------------------


class Pair(NamedTuple):
    first: Any
    second: Any


def of_parts(p, mode="sum", *, scale=1.0):
    first, second = p["a"] if isinstance(p, dict) else p
    both = first + second if mode == "sum" else first * second
    return np.sum(both * both) * scale


@pytest.mark.parametrize("derive", [lambda f: f, wg.grad, wg.value_and_grad])
def test_arguments_built_otherwise_are_noticed(derive):
    f = derive(of_parts)
    compiled = wg.jit(f, strict=True)
    x, y = np.arange(3.0), np.ones(3)
    calls = [
        (((x, y),), {}),
        (([x, y],), {}),
        ((Pair(x, y),), {}),
        (((x, 2.0),), {}),
        (((2.0, 3.0),), {}),
        (((2, 3.0),), {}),
        (((x, y), "product"), {}),
        (((x, y), "sum"), {}),
        (((x, y),), {"mode": "product", "scale": 3.0}),
        (((x, y),), {"scale": 2.0}),
        (({"a": (x, y)},), {}),
        (((x.astype(np.float32), y),), {}),
    ]
    for _ in range(3):
        for args, kwargs in calls:
            trees.assert_close(compiled(*args, **kwargs), f(*args, **kwargs), rel=1e-6)


def test_what_is_captured_is_read_at_every_call():
    scale, inner = 2.0, np.sin

    def f(x):
        return inner(x) * scale

    compiled = wg.jit(wg.grad(f), strict=True)
    for scale in (2.0, 3.0, 4, np.float64(5.0)):
        for _ in range(3):
            assert compiled(0.5) == pytest.approx(np.cos(0.5) * scale)
    inner = np.exp
    assert compiled(0.5) == pytest.approx(np.exp(0.5) * scale)
