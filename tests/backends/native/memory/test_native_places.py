"""Arrays of which elements are left out, or between whose elements others stand; blocks; covariances of 32 bits."""

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")

A = np.linspace(-1.0, 1.0, 7)
B = np.array([0.5, 0.25, 0.5, 1.0, 0.25])
INTEGERS = np.array([3, 1, 2, 3, 1])
SINGLES = A.astype(np.float32)
M = (np.arange(12.0).reshape(3, 4) / 7.0) ** 2


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def native(f, *args, gradient=True, exits=0):
    """What native code gives is what Python gives, type by type, and so for the gradient."""
    for g in (f, wg.value_and_grad(f))[: 1 + gradient]:
        compiled = wg.jit(g, strict=True)
        found, expected = compiled(*args), g(*args)
        assert compiled.exits == exits
        both = (found, expected) if isinstance(found, tuple) else ((found,), (expected,))
        for one, other in zip(*both, strict=True):
            dtype = np.asarray(other).dtype
            assert (type(one), np.asarray(one).dtype) == (type(other), dtype)
            rel = 1e-5 if dtype == np.float32 else 1e-12
            np.testing.assert_allclose(one, other, rtol=rel, atol=rel)


@pytest.mark.parametrize("place", [0, 2, 7, -1, -7])
@pytest.mark.parametrize("a", [A, SINGLES])
def test_one_element_inserted(a, place):
    native(lambda a, k, v: (np.insert(a, k, v) ** 2).sum(), a, place, 0.5)
    native(lambda a, k: np.insert(a, k, a[0] * 2), a, place, gradient=False)


@pytest.mark.parametrize("place", [8, -8])
def test_inserted_out_of_range(place):
    f = lambda a, k: (np.insert(a, k, 1.0) ** 2).sum()
    assert outcome(wg.jit(f, strict=True), A, place) == outcome(f, A, place)


def test_several_elements_inserted_at_one_place():
    native(lambda a, b: (np.insert(a, 1, b) * np.arange(12.0)).sum(), A, B)
    native(lambda a: np.insert(a, 2, 4), INTEGERS, gradient=False)
    compiled = wg.jit(lambda a: (np.insert(a, [0, 2], 9.0) * np.arange(9.0)).sum())
    assert compiled(A) == (np.insert(A, [0, 2], 9.0) * np.arange(9.0)).sum()
    assert "insert_places" in compiled.explain()


def test_what_is_inserted_becomes_of_the_arrays_type():
    for slope in (wg.value_and_grad, lambda f: wg.jit(wg.value_and_grad(f), strict=True)):
        value, bar = slope(lambda a: (np.insert(a, 2, 5.0) ** 2).sum())(SINGLES)
        assert type(value) is np.float32
        assert bar.dtype == np.float32


@pytest.mark.parametrize("place", [0, 3, -1, -7, 7, -8])
def test_one_element_left_out(place):
    f = lambda a, k: (np.delete(a, k) * np.arange(6.0)).sum()
    exits = int(not -7 <= place < 7)
    compiled = wg.jit(f, strict=True)
    assert outcome(compiled, A, place) == outcome(f, A, place)
    assert compiled.exits == exits
    if not exits:
        native(f, A, place)


@pytest.mark.parametrize("a", [A, SINGLES, INTEGERS])
def test_several_elements_left_out(a):
    native(lambda a: np.delete(a, [0, 2]), a, gradient=False)
    native(lambda a: np.delete(a, [1, 1, -1]), a, gradient=False)
    native(lambda a: np.delete(a, slice(1, None, 2)), a, gradient=False)
    native(lambda a, k: np.delete(a, k), a, np.array([3, 0]), gradient=False)


def test_each_element_left_out_in_turn():
    def f(a):
        s = 0.0
        for i in range(len(a)):
            s += np.delete(a, i).prod() + np.delete(a, [0, 2]).sum()
        return s

    assert wg.jit(f)(A) == pytest.approx(f(A))
    np.testing.assert_allclose(wg.jit(wg.grad(f))(A), wg.grad(f)(A), rtol=1e-12)


@pytest.mark.parametrize(
    "a", [B, A, A[:0], INTEGERS, B.astype(np.float32), np.array([True, False, True])]
)
def test_different_values(a):
    native(lambda a: np.unique(a), a, gradient=False)
    native(lambda a: len(np.unique(a)), a, gradient=False)

    def with_places(a):
        return np.unique(a, return_index=True, return_inverse=True, return_counts=True)

    native(with_places, a, gradient=False)


def test_what_is_not_a_number_is_one_value():
    native(lambda a: np.unique(a), np.array([1.0, np.nan, np.nan, 0.0]), gradient=False)


def test_derivatives_of_different_values():
    def f(a):
        values, places, counts = np.unique(a, return_inverse=True, return_counts=True)
        return (values[places] * a).sum() + (values**2 * counts).sum()

    native(f, B)


def test_blocks():
    native(lambda a, b: np.block([a, b]), A, B, gradient=False)
    native(lambda a, b: np.block([a, b]), SINGLES, B, gradient=False)
    native(lambda a: (np.block([a, 1.0, a]) ** 2).sum(), A)
    native(lambda m, n: (np.block([[m, n], [n, m]]) ** 2).sum(), M, M - 0.3)
    corner = lambda m: np.block([[m, np.zeros((3, 2))], [np.zeros((2, 4)), np.eye(2)]])
    native(corner, M, gradient=False)


COVARIANCES = [
    lambda m: np.cov(m),
    lambda m: np.cov(m, bias=True),
    lambda m: np.cov(m, rowvar=False),
    lambda m: np.cov(m[0]),
    lambda m: np.cov(m[0], m[1]),
    lambda m: np.corrcoef(m),
]


@pytest.mark.parametrize("f", COVARIANCES)
def test_covariances_have_64_bits(f):
    for m in (M, M.astype(np.float32), np.array([[1, 2, 4], [2, 1, 7]])):
        found, expected = wg.jit(f, strict=True)(m), f(m)
        assert found.dtype == expected.dtype == np.float64
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_derivatives_of_covariances_of_32_bits():
    m = M.astype(np.float32)
    for slope in (wg.value_and_grad, lambda f: wg.jit(wg.value_and_grad(f), strict=True)):
        value, bar = slope(lambda m: np.cov(m)[0, 1])(m)
        assert type(value) is np.float64
        assert bar.dtype == np.float32
        np.testing.assert_allclose(bar, wg.grad(lambda m: np.cov(m)[0, 1])(M), rtol=1e-5, atol=1e-6)


def test_parts_of_shapes():
    native(lambda m: np.zeros(m.shape[1:]), M, gradient=False)
    native(lambda m: np.zeros((2, *m.shape[:-1])), M, gradient=False)
