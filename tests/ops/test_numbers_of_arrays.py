"""NumPy's functions on numbers that are arrays: those that the engine writes as others."""

import numpy as np
import pytest

import wengert as wg
from wengert import numbers
from wengert.errors import LostDerivative

A = np.array([[1.03, 2.5, 0.3], [3.0, 5.2, 1.1], [0.2, 0.78, 4.0]])
DIRECTION = np.array([[0.3, -0.2, 0.5], [0.1, 0.4, -0.6], [0.2, 0.2, 0.1]])

RESTATED = {
    "einsum": lambda x: np.einsum("ij,jk->ik", x, x),
    "einsum of a constant": lambda x: np.einsum("ij,j->i", x, np.arange(3.0)),
    "trace by einsum": lambda x: np.einsum("ii", x),
    "einsum of three": lambda x: np.einsum("ij,jk,kl->il", x, x, x),
    "singular values": lambda x: np.linalg.svd(x, compute_uv=False),
    "matrix_power": lambda x: np.linalg.matrix_power(x, 3),
    "ptp": lambda x: np.ptp(x, axis=0),
}


@pytest.mark.parametrize("f", RESTATED.values(), ids=RESTATED)
def test_ops_that_are_written_as_others(f):
    value, found = numbers.pushforward(f, (A,), (DIRECTION,))
    np.testing.assert_allclose(value, f(A), rtol=1e-14)
    np.testing.assert_allclose(found, wg.pushforward(f, A)[1](DIRECTION), rtol=1e-12, atol=1e-13)
    ahead, behind = f(A + 1e-6 * DIRECTION), f(A - 1e-6 * DIRECTION)
    np.testing.assert_allclose(found, (ahead - behind) / 2e-6, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("f", RESTATED.values(), ids=RESTATED)
def test_their_second_derivatives(f):
    def along(t):
        return f(A + t * DIRECTION)

    _, _, half = wg.taylor(along, 0.0, 2)
    step = 1e-4
    expected = (along(step) - 2 * along(0.0) + along(-step)) / step**2
    np.testing.assert_allclose(2 * half, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "join", ["concatenate", "stack", "vstack", "hstack", "column_stack", "block"]
)
def test_arrays_of_numbers_beside_numbers_that_are_arrays(join):
    def total(a):
        return np.sum(getattr(np, join)([np.array([1.0, 2.0]) * a, np.array([a, 1.0])]) ** 2)

    assert numbers.derivative(total, 0.7) == pytest.approx(12 * 0.7)
    assert wg.taylor(total, 0.7, 2) == pytest.approx([6 * 0.7**2 + 1, 12 * 0.7, 6.0])


def test_arrays_of_numbers_as_tangents():
    """Σ 2 x ẋ with x = (a, 2a), ẋ = (a, 1) is 2a² + 4a."""
    square = lambda t: t * t
    pushed = lambda a: np.sum(
        wg.pushforward(square, np.array([1.0, 2.0]) * a)[1](np.array([a, 1.0]))
    )
    pulled = lambda a: np.sum(
        wg.pullback(square, np.array([1.0, 2.0]) * a)[1](np.array([a, 1.0]))[0]
    )
    of_duals = lambda a: np.sum(
        square(wg.Dual(np.array([1.0, 2.0]) * a, np.array([a, 1.0]))).tangent
    )
    for f in (pushed, pulled, of_duals):
        assert numbers.derivative(f, 0.7) == pytest.approx(4 * 0.7 + 4)
        assert wg.taylor(f, 0.7, 2) == pytest.approx([2 * 0.49 + 2.8, 6.8, 2.0])


def _added_at(x):
    total = 0.0 * x[0]
    np.add.at(total, [0, 2, 0], x[1] * x[2])
    np.subtract.at(total, 1, x[0, 0] ** 2)
    return total


def _copied(x):
    copied, chosen = 0.0 * x, 1.0 * x
    np.copyto(copied, x**2)
    np.copyto(chosen, x[0] * x[1], where=A > 1.0)
    return copied + chosen


IN_PLACE = {
    "outer": lambda x: np.multiply.outer(x[0], x) + np.subtract.outer(A[0], x),
    "at": _added_at,
    "copyto": _copied,
}


@pytest.mark.parametrize("f", IN_PLACE.values(), ids=IN_PLACE)
def test_methods_of_functions_and_writes(f):
    test_ops_that_are_written_as_others(f)
    slope = lambda t: numbers.derivative(lambda u: f(A + u * DIRECTION), t)
    expected = (slope(1e-6) - slope(-1e-6)) / 2e-6
    np.testing.assert_allclose(numbers.derivative(slope, 0.0), expected, rtol=1e-6, atol=1e-7)


def test_arrays_of_floats_are_not_written_to():
    for write in (np.add.at, lambda a, index, x: np.copyto(a, x)):
        with pytest.raises(LostDerivative, match="what an array of floats is given"):
            numbers.derivative(lambda x, write=write: write(np.ones(2), [0], x), 1.0)
