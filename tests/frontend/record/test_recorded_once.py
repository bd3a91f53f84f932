"""Jacobians and Hessians of what is recorded: the program runs once, whatever they take."""

from dataclasses import dataclass

import numpy as np
import pytest
from differences import slope

import wengert as wg

X, A = np.array([2.0, 3.0]), 1.5


@dataclass
class Rates:
    up: float
    down: np.ndarray


def scaled(x, a, log):
    """A function that changes what it is given, and whose value depends on how often it has run."""
    log.append(len(log) + 1.0)
    x[0] = x[0] * a
    return np.array([x[0] * x[1], x[1] * a]) * log[-1]


def in_parts(x, a, log):
    y = scaled(x, a, log)
    return {"whole": y, "last": y[1] * x[0], "constant": 2.0, "rates": Rates(y[0] * a, x * x)}


def total(x, a, log):
    return np.sum(scaled(x, a, log) ** 2)


def by_differences(f, k):
    """The derivative of a result by an argument, whose axes come last."""

    def moved(step):
        point = [X.copy(), A, []]
        point[k] = point[k] + step
        return f(*point)

    steps = [1e-6 * v for v in np.eye(X.size)] if k == 0 else [1e-6]
    columns = [(moved(step) - moved(-step)) / 2e-6 for step in steps]
    return np.stack(columns, -1) if k == 0 else columns[0]


def given():
    return X.copy(), A, []


def must_have_run_once(x, log):
    np.testing.assert_allclose(x, [X[0] * A, X[1]])
    assert log == [1.0]


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_a_jacobian_by_several_arguments_runs_the_program_once(mode, tier):
    x, a, log = given()
    by_x, by_a = wg.jacobian(scaled, (0, 1), mode=mode, tier=tier)(x, a, log)
    np.testing.assert_allclose(by_x, by_differences(scaled, 0), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(by_a, by_differences(scaled, 1), rtol=1e-7, atol=1e-8)
    must_have_run_once(x, log)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_so_does_one_of_a_result_in_parts(mode):
    x, a, log = given()
    found = wg.jacobian(in_parts, (0, 1), mode=mode, tier="recorded")(x, a, log)
    parts = {
        "whole": lambda y: y["whole"],
        "last": lambda y: y["last"],
        "up": lambda y: y["rates"].up,
        "down": lambda y: y["rates"].down,
    }
    for k, matrices in enumerate(found):
        assert type(matrices["rates"]) is Rates
        np.testing.assert_array_equal(matrices["constant"], 0 * X if k == 0 else 0.0)
        for part in parts.values():
            right = by_differences(lambda *p, part=part: part(in_parts(*p)), k)
            np.testing.assert_allclose(part(matrices), right, rtol=1e-7, atol=1e-7)
    must_have_run_once(x, log)


@pytest.mark.parametrize("tier", ["static", "recorded"])
def test_a_hessian_by_several_arguments_runs_the_program_once(tier):
    x, a, log = given()
    found = wg.hessian(total, (0, 1), tier=tier)(x, a, log)
    for k, row in enumerate(found):
        gradient = lambda x, a, log, k=k: wg.grad(total, k, tier="static")(x, a, log)
        for j, block in enumerate(row):
            np.testing.assert_allclose(block, by_differences(gradient, j), rtol=1e-7, atol=1e-6)
    must_have_run_once(x, log)


@pytest.mark.parametrize("tier", ["static", "recorded"])
def test_so_does_its_diagonal(tier):
    x, a, log = given()
    found = wg.diag_hessian(total, tier=tier)(x, a, log)
    must_have_run_once(x, log)
    x, a, log = given()
    np.testing.assert_allclose(found, np.diag(wg.hessian(total, tier=tier)(x, a, log)))
    x, a, log = given()
    assert wg.diag_hessian(total, 1, tier=tier)(x, a, log) == pytest.approx(90.0)  # of 45 a²
    must_have_run_once(x, log)


def test_arguments_in_parts_and_a_derivative_around():
    def f(w, log):
        log.append(1.0)
        return np.array([w["a"] * w["b"][0], w["b"][1] ** 2 * w["a"]]) * len(log)

    log = []
    found = wg.jacobian(f, tier="recorded")({"a": 2.0, "b": np.array([3.0, 5.0])}, log)
    np.testing.assert_allclose(found["a"], [3.0, 25.0])
    np.testing.assert_allclose(found["b"], [[2.0, 0.0], [0.0, 20.0]])
    assert log == [1.0]

    def around(a):
        log = []
        matrix = wg.jacobian(f, tier="recorded")({"a": a, "b": np.array([3.0, 5.0]) * a}, log)
        return np.sum(matrix["b"] ** 2) + len(log)

    assert wg.grad(around, tier="recorded")(2.0) == pytest.approx(slope(around, 2.0), rel=1e-7)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_jacobians_by_integers(mode):
    def f(v):
        return np.array([v[0] * v[1], v[1]])

    jacobian = wg.jacobian(f, mode=mode, tier="recorded")
    np.testing.assert_array_equal(jacobian([1, 2]), [[2.0, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(
        wg.jacobian(jacobian, tier="recorded")([1, 2])[0], [[0.0, 1.0], [1.0, 0.0]]
    )


def test_diagonals_of_hessians_part_by_part():
    def energy(p):
        return p["a"] ** 3 * np.sum(p["b"] ** 2)

    at = {"a": 1.5, "b": np.array([1.0, 2.0])}
    diagonal = wg.diag_hessian(energy, tier="recorded")(at)
    assert diagonal["a"] == pytest.approx(45.0)
    np.testing.assert_allclose(diagonal["b"], [6.75, 6.75])
