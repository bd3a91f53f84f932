"""Jacobians and Hessians under `jit`, at the outermost and inside programs."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert.errors import BadArgument

pytest.importorskip("llvmlite")

X = np.array([1.0, 2.0, 3.0])
PAIR = np.array([0.5, -2.0])
TABLE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        found, expected = list(found.values()), list(expected.values())
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            same(a, b)
        return
    assert np.shape(found) == np.shape(expected)
    assert np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def differences(x):
    return x[1:] ** 2 - x[:-1] * x[1:]


def products(x):
    return np.array([x[0] * x[1], np.sin(x[1]), x[0] ** 2])


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


JACOBIANS = [
    (products, (PAIR,)),
    (differences, (X,)),
    (lambda x: x @ x.T, (TABLE,)),
    (lambda x: np.stack([2.0 * x, np.exp(x)]), (X,)),
    (lambda x: x.sum(), (X,)),
    (lambda x: 3.0, (X,)),
    (lambda t: np.array([t, t * t]), (2.0,)),
    (lambda t: t**3, (2.0,)),
    (lambda x: [x[0] * x[1], x[1]], (PAIR,)),
    (lambda x: (2.0 * x, x.sum()), (X,)),
    (lambda x: {"a": x, "b": [x[0], 2.0 * x]}, (X,)),
    (lambda d: d["a"] * d["b"], ({"a": PAIR, "b": X[:2]},)),
    (lambda x: x**2, (X.astype(np.float32),)),
    pytest.param(
        lambda x: x / np.sum(x),
        (np.array([]),),
        marks=pytest.mark.filterwarnings("ignore:divide by zero"),  # by a sum of nothing
    ),
    (lambda x: np.linalg.solve(np.outer(x, x) + np.eye(3), x), (X,)),
]


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize(("f", "args"), JACOBIANS)
def test_jacobians(f, args, mode):
    expected = wg.jacobian(f, mode=mode)(*args)
    same(wg.jit(wg.jacobian(f, mode=mode), strict=True)(*args), expected)
    same(wg.jacobian(wg.jit(f, strict=True), mode=mode)(*args), expected)


def test_a_jacobian_in_closed_form():
    x = PAIR
    found = wg.jit(wg.jacobian(products), strict=True)(x)
    expected = [[x[1], x[0]], [0.0, math.cos(x[1])], [2.0 * x[0], 0.0]]
    np.testing.assert_allclose(found, expected, rtol=1e-15)


HESSIANS = [
    (rosenbrock, (X,)),
    (lambda x: np.sum(np.sin(x)) * x[0], (X,)),
    (lambda x: np.sum(x**3), (TABLE,)),
    (lambda x: x**3, (2.0,)),
    (differences, (X,)),
    (lambda x: [x[0] ** 2, x[1] ** 3], (X,)),
]


@pytest.mark.parametrize(("f", "args"), HESSIANS)
def test_hessians(f, args):
    same(wg.jit(wg.hessian(f), strict=True)(*args), wg.hessian(f)(*args))
    same(wg.hessian(wg.jit(f, strict=True))(*args), wg.hessian(f)(*args))


def test_several_arguments():
    f = lambda a, b: np.outer(a, b) @ b
    same(
        wg.jit(wg.jacobian(f, argnums=(0, 1)), strict=True)(PAIR, X),
        wg.jacobian(f, argnums=(0, 1))(PAIR, X),
    )
    g = lambda a, b: np.sum(a * b**2)
    same(
        wg.jit(wg.hessian(g, argnums=(0, 1)), strict=True)(PAIR, X[:2]),
        wg.hessian(g, argnums=(0, 1))(PAIR, X[:2]),
    )


def test_diagonals_of_hessians():
    same(wg.jit(wg.diag_hessian(rosenbrock), strict=True)(X), wg.diag_hessian(rosenbrock)(X))


def test_jacobians_of_jacobians():
    twice = wg.jacobian(wg.jacobian(differences))
    same(wg.jit(twice, strict=True)(X), twice(X))


def newton(x):
    for _ in range(4):
        x = x - np.linalg.solve(wg.jacobian(residuals)(x), residuals(x))
    return x


def residuals(x):
    return x**2 - np.array([2.0, 3.0])


INSIDE = [
    lambda x: np.sum(wg.jacobian(differences)(x) ** 2),
    lambda x: np.sum(wg.hessian(rosenbrock)(x) @ x),
    lambda x: np.linalg.det(wg.jacobian(products)(x[:2])[:2]),
]


@pytest.mark.parametrize("f", INSIDE)
def test_inside_of_programs(f):
    same(wg.jit(f, strict=True)(X), f(X))
    same(wg.jit(wg.grad(f), strict=True)(X), wg.grad(f)(X))


def test_newton_s_method():
    found = wg.jit(newton, strict=True)(np.array([1.0, 2.0]))
    np.testing.assert_allclose(found, np.sqrt([2.0, 3.0]), rtol=1e-9)
    same(wg.jit(wg.jacobian(newton), strict=True)(X[:2]), wg.jacobian(newton)(X[:2]))


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_what_jacobians_refuse():
    for function in (wg.jacobian(differences, argnums=3), lambda x: wg.jacobian(differences, 3)(x)):
        with pytest.raises(BadArgument, match="names argument 3"):
            wg.jit(function)(X)
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        wg.jit(wg.jacobian(lambda x: x * x[5]))(X)
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument"):
        wg.jit(wg.jacobian(lambda x, *, k: x**k))(X)


def test_a_jacobian_that_python_computes_says_so():
    compiled = wg.jit(wg.jacobian(lambda x: np.fft.ifft(np.fft.fft(x)).real))
    np.testing.assert_allclose(compiled(X), np.eye(3), atol=1e-15)
    assert "`fft` (test_native_jacobians.py:" in compiled.explain()


# --- lists that branches make -----------------------------------------------------------------


def rows_of_two_shapes(c, x):
    if c > 0.0:
        rows = [x * k for k in range(4)]
    else:
        rows = [x[1:] * (k + 1) for k in range(3)]
    total = 0.0
    for row in rows:
        total += np.sum(row * row)
    return total


def lists_of_two_lengths(c, xs):
    if c > 0.0:
        rows = [[x, c] for x in xs]
    else:
        rows = [[x, x + 1.0, x + 2.0] for x in xs]
    for x in xs:
        rows.append([x, 7.0, 8.0, 9.0])
    total = 0.0
    for row in rows:
        for k, value in enumerate(row):
            total += value * (k + 1)
    return total


def integers_of_two_sizes(c, n):
    if c > 0.0:
        numbers = [2 * k for k in range(n)]
    else:
        numbers = [k * n * n * 1000000007 * 1000003 for k in range(n)]
    total = 0
    for k in numbers:
        total += k * k
    return total


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("c", [1.0, -1.0])
def test_lists_that_branches_make(c):
    same(wg.jit(rows_of_two_shapes, strict=True)(c, X), rows_of_two_shapes(c, X))
    same(wg.jit(wg.grad(rows_of_two_shapes, 1))(c, X), wg.grad(rows_of_two_shapes, 1)(c, X))
    numbers = [1.0, 2.0, 3.0] * 20
    assert wg.jit(lists_of_two_lengths)(c, numbers) == lists_of_two_lengths(c, numbers)
    assert wg.jit(integers_of_two_sizes)(c, 9) == integers_of_two_sizes(c, 9)
