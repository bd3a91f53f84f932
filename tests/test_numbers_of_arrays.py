"""NumPy's functions on numbers that are arrays: those that the engine writes as others."""

import numpy as np
import pytest

import wengert as wg
from wengert import numbers

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
