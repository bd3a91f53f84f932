"""Eigenvectors of complex eigenvalues: reverse mode agrees with forward mode and with differences, twice."""

import numpy as np
import pytest

import wengert as wg

X = np.array([[0.6, -0.7, 1.2], [0.9, 1.5, 0.5], [-1.1, 0.4, 0.9]])
V = np.cos(np.arange(9.0)).reshape(3, 3)
W = np.sin(np.arange(9.0)).reshape(3, 3)


def of_real(u):
    vectors = np.linalg.eig(u)[1]
    first = np.sum(np.abs(vectors[0]) ** 2 * np.arange(1.0, 4.0) ** 2)
    return first + np.sum(np.abs(vectors[1] + 0.3 * vectors[2]) ** 2)


def of_complex(u):
    vectors = np.linalg.eig(u + 1j * W)[1]
    return np.sum(np.abs(vectors[0]) ** 2 * np.arange(1.0, 4.0) ** 2)


def of_values(u):
    values = np.linalg.eigvals(u + 1j * W)
    return np.sum(np.sin(np.real(values))) + 0.3 * np.sum(np.imag(values) ** 2)


@pytest.mark.parametrize("f", [of_real, of_complex, of_values], ids=lambda f: f.__name__)
def test_reverse_mode_conjugates_the_gaps(f):
    def along(u):
        return np.sum(wg.grad(f)(u) * V)

    slope = (f(X + 1e-6 * V) - f(X - 1e-6 * V)) / 2e-6
    assert along(X) == pytest.approx(slope, abs=1e-6)
    assert wg.pushforward(f, X)[1](V) == pytest.approx(slope, abs=1e-6)
    bend = (along(X + 1e-6 * W) - along(X - 1e-6 * W)) / 2e-6
    assert np.sum(wg.grad(along)(X) * W) == pytest.approx(bend, abs=1e-5)
    assert np.sum(wg.pushforward(wg.grad(f), X)[1](W) * V) == pytest.approx(bend, abs=1e-5)
