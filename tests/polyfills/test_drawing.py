"""Random orders and choices of what has derivatives: the draws are those of NumPy and Python."""

import math
import random
import re

import numpy as np
import pytest

import wengert as wg

# ruff: noqa: NPY002  (programs as users write them, with NumPy's old generator too)


def shuffled_batches(x, rate):
    """Stochastic gradient descent over batches in an order that is drawn anew each time."""
    rng = np.random.default_rng(3)
    order = np.arange(len(x))
    w = 0.1
    for _ in range(3):
        rng.shuffle(order)
        for batch in (order[:2], order[2:]):
            w = w - rate * np.mean((w - x[batch]) * (1 + w * w))
    return w


def shuffled_in_place(x):
    """The entries themselves change places, by three generators."""
    np.random.seed(1)
    a, b, c = x.copy(), 2 * x, list(x)
    np.random.shuffle(a)
    np.random.RandomState(3).shuffle(b)
    random.Random(5).shuffle(c)
    places = np.arange(len(x))
    return a @ places + b @ places**2 + sum(v**2 * k for k, v in enumerate(c))


def bootstrap(x):
    """Resampled means, and a few entries that are drawn without putting back."""
    rng = np.random.default_rng(7)
    means = [np.mean(rng.choice(x, len(x))) for _ in range(5)]
    random.seed(2)
    few = random.sample(list(x), 2)
    return np.std(means) + few[0] * few[1] + rng.permutation(x)[0] ** 2 + random.choice(list(x))


@pytest.mark.parametrize("f", [lambda x: shuffled_batches(x, 0.3), shuffled_in_place, bootstrap])
def test_what_is_drawn_keeps_its_derivative(f):
    x = np.array([0.5, 1.2, 0.7, 2.1])
    assert wg.pullback(f, x)[0] == pytest.approx(f(x), rel=1e-14)
    wg.testing.check_gradient(f, x)
    slopes = wg.grad(f)
    wg.testing.check_gradient(lambda x: np.sum(slopes(x) ** 2), x, rtol=1e-4)


RANDOM = random.Random(4)


def draws_of_every_generator(x):
    python, numpy, old = random.Random(12), np.random.default_rng(3), np.random.RandomState(3)
    random.seed(3)
    np.random.seed(3)
    RANDOM.seed(5)
    total = python.gauss(0, 1) + random.uniform(-1, 2) + RANDOM.random()
    total += numpy.normal() * numpy.uniform(-1, 2) + old.randn() * np.random.rand()
    return x * total + numpy.exponential(2.0) * x**2 + numpy.normal(size=2)[1] * x


def particles_resampled(x):
    rng = random.Random(12)
    particles = [[0.0, 0.0, 1 / 8] for _ in range(8)]
    for _ in range(4):
        for p in particles:
            p[0] += x + 0.1 * rng.gauss(0, 1)
            p[1] += math.sin(p[0])
        for name in ("left", "right"):
            for p in particles:
                p[2] *= math.exp(-((p[1] - len(name) * x) ** 2))
        total = sum(p[2] for p in particles)
        if total < 0.5:
            chosen = [int(8 * rng.random()) for _ in particles]
            particles = [[*particles[k][:2], 1 / 8] for k in chosen]
    return sum(p[1] * p[2] for p in particles)


@pytest.mark.parametrize("f", [draws_of_every_generator, particles_resampled])
def test_a_number_that_is_drawn_is_known_to_be_one(f):
    wg.testing.check_gradient(f, 0.4)
    assert str(wg.code_ir(f, 0.4)).splitlines()[0].endswith("-> float:")


@pytest.mark.parametrize("f", [shuffled_in_place, bootstrap])
def test_saved_source_draws_the_same(f):
    x = np.array([0.5, 1.2, 0.7, 2.1])
    namespace = {}
    exec(wg.grad(f).specialize(x).source, namespace)
    np.testing.assert_allclose(namespace[f"grad_{f.__name__}"](x), wg.grad(f)(x))


OF_NUMPY = [
    "normal(x, 1 + x)", "normal(x, 1 + x, 4)", "normal(x, size=(2, 2))", "normal(loc=x, size=3)", "normal(0.0, x, 5)",
    "normal(x * np.ones(3), np.array([1.0, 2.0, 3.0]) * x)", "normal(np.array([x, 2 * x]), 1.0, (3, 2))",
    "normal([x, 2 * x], 1.0)", "lognormal(x, x, 3)", "lognormal(x, 0.5)", "uniform(x, 3 * x + 1, 4)", "uniform(-1, x)",
    "uniform(high=x, size=3)", "exponential(x, 4)", "exponential(x)", "rayleigh(x, 3)", "laplace(x, x, 3)",
    "logistic(x, x, 3)", "gumbel(x, x, 3)", "weibull(x, 3)", "pareto(x + 1, 3)", "gamma(2.0, x, 3)", "gamma(2.0, x)",
]  # fmt: skip
OF_PYTHON = [
    "gauss(x, 1 + x)", "gauss(sigma=x)", "normalvariate(x, x)", "lognormvariate(x, x)", "uniform(x, 5.0)",
    "uniform(-x, x)", "expovariate(x)", "paretovariate(x)", "weibullvariate(x, 2 + x)", "triangular(0.0, x, 0.5)",
    "triangular(x, 3.0)", "triangular(0.0, 3.0, x)", "gammavariate(2.0, x)",
]  # fmt: skip


@pytest.mark.parametrize("x", [0.6, 1.3])
@pytest.mark.parametrize(
    ("generator", "draw"),
    [
        *((made, draw) for made in ("np.random.default_rng(3)", "np.random.RandomState(3)") for draw in OF_NUMPY),
        *(("random.Random(5)", draw) for draw in OF_PYTHON),
    ],
)  # fmt: skip
def test_a_draw_moves_with_the_parameters_of_its_distribution(generator, draw, x, tmp_path):
    lines = (
        f"r = {generator}",
        f"first, second = r.{draw}, r.{draw}",
        "return np.sum(np.asarray(first)**2 + second) * r.random()",
    )
    file = tmp_path / "program.py"
    file.write_text("\n    ".join(("def f(x):", *lines)))
    names = {"np": np, "random": random}
    exec(compile(file.read_text(), file, "exec"), names)
    f = names["f"]
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    for value, derivative in (wg.value_and_grad(f)(x), (f(x), wg.derivative(f)(x))):
        assert value == pytest.approx(f(x), rel=1e-13)
        assert derivative == pytest.approx(slope, rel=1e-6)


def draws_by_a_generator_that_is_given(x, rng):
    return rng.normal(x, 0.5 * x, 4).sum()


def test_a_generator_that_is_given_draws_from_what_has_derivatives():
    x, seeded = 1.3, np.random.default_rng
    z = seeded(2).standard_normal(4)
    value, slope = wg.value_and_grad(draws_by_a_generator_that_is_given)(x, seeded(2))
    assert value == draws_by_a_generator_that_is_given(x, seeded(2))
    assert slope == pytest.approx(np.sum(1 + 0.5 * z))


def draws_from_a_negative_width(x):
    return np.random.default_rng(1).normal(0.0, x)


def draws_between_bounds_in_the_wrong_order(x):
    return np.random.default_rng(1).uniform(x, 0.0)


def draws_in_a_list(x):
    return np.random.default_rng(0).normal([x, 2 * x], [1.0, x]).sum()


def draws_one_number(x):
    return np.random.default_rng(0).normal(x, 1.0)


def test_parameters_are_of_double_precision():
    wg.testing.check_gradient(draws_in_a_list, 0.5)
    value, slope = wg.value_and_grad(draws_one_number)(np.float32(0.5))
    assert value == draws_one_number(np.float32(0.5))
    assert slope == 1.0


def draws_of_a_shape(x):
    return np.random.default_rng(1).gamma(x)


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match=r"^scale < 0$"):
        wg.grad(draws_from_a_negative_width)(-1.0)
    with pytest.raises(ValueError, match=r"^high - low < 0$"):
        wg.grad(draws_between_bounds_in_the_wrong_order)(1.0)
    with pytest.raises(wg.WengertError, match="gamma has no derivative rule"):
        wg.grad(draws_of_a_shape)(1.0)


@pytest.mark.parametrize("size", [2, 1, (3, 1), (2, 2)])
def test_a_size_that_the_parameters_do_not_fit_is_refused_as_numpy_does(size):
    def f(x):
        return np.random.default_rng(1).normal(x * np.ones(3), 1.0, size=size).sum()

    with pytest.raises(ValueError, match=r"is not compatible|shape mismatch") as expected:
        f(0.5)
    with pytest.raises(ValueError, match=re.escape(str(expected.value))):
        wg.grad(f)(0.5)


def test_a_size_that_the_parameters_are_broadcast_to():
    def f(x):
        return np.random.default_rng(1).normal(x * np.arange(3.0), 1.0, size=(2, 3)).sum()

    assert wg.grad(f)(0.5) == 6.0
