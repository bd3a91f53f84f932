"""Entries that a selection drops behind ops that mix them, or that are written-out zeros in front of such ops.

The oracle is the same program with a harmless number in place of what meets the pole.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

B = np.array([[1.0, 2.0], [3.0, -1.0]])
CHOSEN = np.array([False, True, True])
X = np.array([0.0, 1.0, 4.0])


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


STEEP: dict[str, Callable[[Any], Any]] = {
    "log": np.log,
    "sqrt": np.sqrt,
    "reciprocal": lambda x: 1 / x,
    "x log x": lambda x: x * np.log(x),
}
MIXED: dict[str, Callable[[Any], Any]] = {
    "B @ M": lambda M: B @ M,
    "M.T @ B": lambda M: (M.T @ B).T,
    "dot": lambda M: B.dot(M),
    "einsum": lambda M: np.einsum("ij,jk->ik", B, M),
    "einsum of one": lambda M: np.einsum("jk,j->k", M, B[1])[None],
    "tensordot": lambda M: np.tensordot(B, M, 1),
    "inner": lambda M: np.inner(B, M.T),
    "kron": lambda M: np.kron([[1.0], [-2.0]], M),
    "outer": lambda M: np.outer([1.0, -2.0], M[0]),
    "diff": lambda M: np.diff(M, axis=0),
    "second diff": lambda M: np.diff(np.concatenate([M, 2 * M]), n=2, axis=0),
    "roll": lambda M: M - 3 * np.roll(M, 1, axis=0),
    "cumsum": lambda M: np.cumsum(M, axis=0),
    "mean": lambda M: M - np.mean(M, axis=0),
    "var": lambda M: np.var(M, axis=0)[None],
    "fft": lambda M: np.real(np.fft.fft(np.concatenate([M, 3 * M]), axis=0)),
    "rfft": lambda M: np.imag(np.fft.rfft(np.concatenate([M, 3 * M]), axis=0))[1:2],
    "solve": lambda M: np.linalg.solve(B, M),
    "inverse": lambda M: np.linalg.inv(B) @ M,
    "pinv": lambda M: np.linalg.pinv(B) @ M,
    "cross": lambda M: np.cross(np.concatenate([M, M[:1]]), np.ones((3, 3)), axis=0),
    "trapezoid": lambda M: np.trapezoid(M, axis=0)[None],
    "quantile": lambda M: np.quantile(np.concatenate([M, 2 * M]), 0.4, axis=0)[None],
    "prod": lambda M: np.prod(M + 1, axis=0)[None],
    "softmax": lambda M: np.exp(M) / np.sum(np.exp(M), axis=0),
    "complex": lambda M: np.real((1 + 2j) * M),
    "columns": lambda M: np.stack(
        [np.convolve(M[:, j], [1.0, 2.0, -3.0], "same") for j in range(3)], axis=1
    )[:2],
}
DROPPED: dict[str, Callable[[Any], Any]] = {
    "where": lambda M: np.where(CHOSEN, M, 0.0),
    "mask": lambda M: M[:, CHOSEN],
    "slice": lambda M: M[:, 1:],
}
ORDERS: dict[str, Callable[..., Any]] = {
    "reverse": wg.grad,
    "forward": lambda f: wg.jacobian(f, mode="forward"),
}


@pytest.mark.parametrize(
    ("mixed", "steep"),
    [
        (mixed, steep)
        for k, mixed in enumerate(MIXED)
        for j, steep in enumerate(STEEP)
        if steep == "log" or (k + j) % 3 == 0
    ],
)
def test_what_is_dropped_behind_a_mix(mixed, steep):
    for dropped in DROPPED if steep == "log" else list(DROPPED)[:1]:

        def program(x, dropped=dropped):
            M = np.array([[1.0], [1.3]]) * STEEP[steep](x)
            return np.sum(np.sin(DROPPED[dropped](MIXED[mixed](M))))

        def harmless(x, program=program):
            return program(np.where(CHOSEN, x, 1.5))

        for name, mode in ORDERS.items():
            found, expected = mode(program)(X), mode(harmless)(X)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=name)
        if steep == "log" and dropped == "where":
            expected = wg.hessian(harmless)(X)
            np.testing.assert_allclose(wg.hessian(program)(X), expected, rtol=1e-8, atol=1e-9)


def written(x):
    out = np.zeros(3)
    out[CHOSEN] = x[CHOSEN]
    return out


def copied(x):
    out = x.copy()
    out[0] = 0.0
    return out


STILL: dict[str, Callable[[Any], Any]] = {
    "where": lambda x: np.where(CHOSEN, x, 0.0),
    "product": lambda x: np.where(CHOSEN, x, 0.0) * np.where(CHOSEN, x, 0.0),
    "append": lambda x: np.append(0.0, x[1:]),
    "concatenate": lambda x: np.concatenate([np.zeros(1), x[1:]]),
    "stack": lambda x: np.array([0.0, x[1], x[2]]),
    "pad": lambda x: np.pad(x[1:], (1, 0)),
    "cumsum": lambda x: np.cumsum(np.where(CHOSEN, x, 0.0)),
    "diff": lambda x: np.diff(np.where(CHOSEN, x, 0.0), prepend=0.0) ** 2,
    "matmul": lambda x: (np.stack([np.where(CHOSEN, x, 0.0)] * 2).T @ B[:, :1])[:, 0],
    "einsum": lambda x: np.einsum("i,i->i", np.where(CHOSEN, x, 0.0), np.ones(3)),
    "maximum": lambda x: np.maximum(np.where(CHOSEN, x, -1.0), 0.0),
    "written": written,
    "copied": copied,
}
AT_POLE = {"sqrt": np.sqrt, "power": lambda x: x**0.3, "cbrt": np.cbrt}


@pytest.mark.parametrize("pole", AT_POLE)
@pytest.mark.parametrize("still", STILL)
def test_what_does_not_move_meets_no_slope(still, pole):
    f = lambda x: np.sum(np.sin(AT_POLE[pole](STILL[still](x))))
    rest = lambda x: np.sum(np.sin(AT_POLE[pole](STILL[still](x))[1:]))
    x = np.array([0.7, 1.0, 4.0])
    expected = wg.grad(rest)(x)
    assert expected[0] == 0.0
    for name, mode in ORDERS.items():
        np.testing.assert_allclose(mode(f)(x), expected, rtol=1e-12, err_msg=name)
    _, push = wg.pushforward(f, x)
    np.testing.assert_allclose([push(e) for e in np.eye(3)], expected, rtol=1e-12)


def test_what_is_used_stays_infinite():
    f = lambda x: np.sum((B @ np.array([np.log(x), np.sqrt(x)]))[0])
    assert wg.grad(f)(X)[0] == np.inf
    g = lambda x: np.sum(np.diff(np.sqrt(x)))
    assert wg.grad(g)(X)[0] == -np.inf
    assert wg.jacobian(g, mode="forward")(X)[0] == -np.inf


def test_a_factor_that_happens_to_be_zero_is_used():
    for f in (lambda x: np.sqrt(x) @ np.sqrt(x), lambda x: np.einsum("i,i", *[np.sqrt(x)] * 2)):
        for mode in ORDERS.values():  # x, of which both factors have an infinite slope
            found = mode(f)(X)
            assert np.isnan(found[0]) or found[0] == 1.0
            np.testing.assert_allclose(found[1:], 1.0)
    root = lambda x: np.cbrt(np.where(CHOSEN[:1], 1.0, x @ x))
    assert np.isnan(wg.jacobian(lambda x: np.sum(root(x)), mode="forward")(np.zeros(3))).all()
