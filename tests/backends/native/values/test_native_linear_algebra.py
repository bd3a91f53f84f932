"""Linear systems, determinants and factorisations as native code: by the LAPACK that NumPy brings."""

import copy

import numpy as np
import pytest
import trees

import wengert as wg
from wengert.errors import NotNative

pytest.importorskip("llvmlite")

from wengert.backends.native.run.machine import blas

pytestmark = pytest.mark.skipif(not blas(), reason="NumPy does not bring its own LAPACK")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def native(f, *args, gradient=True, rel=1e-10):
    for form in (f, wg.value_and_grad(f)) if gradient else (f,):
        compiled = wg.jit(form, strict=True)
        mine = copy.deepcopy(args)
        found, expected = compiled(*mine), form(*args)
        trees.assert_close(found, expected, rel=rel)
        trees.assert_close(list(mine), list(args), rel=0.0)
        assert type(found) is type(expected)
        assert compiled.exits == 0


def numbers(*shape):
    return np.random.default_rng(len(shape)).uniform(0.2, 1.5, shape)


REGULAR = numbers(4, 4) + 3.0 * np.eye(4)
SYMMETRIC = REGULAR @ REGULAR.T
WEIGHTS = np.arange(4.0)


@pytest.mark.parametrize("b", [numbers(4), numbers(4, 3), numbers(4, 1), numbers(8)[::2]])
def test_linear_systems(b):
    native(lambda a, b: (np.linalg.solve(a, b) ** 2).sum(), REGULAR, b)
    native(lambda b, a: (np.linalg.solve(a, b) ** 2).sum(), b, REGULAR)


@pytest.mark.parametrize("a", [REGULAR, REGULAR.T, -REGULAR[::-1], REGULAR[:1, :1]])
def test_inverses_and_determinants(a):
    native(lambda a: (np.linalg.inv(a) ** 2).sum(), a)
    native(lambda a: np.linalg.det(a), a)

    def both(a):
        sign, logarithm = np.linalg.slogdet(a)
        return sign * logarithm

    native(both, a)


def test_determinants_of_singular_matrices():
    native(lambda a: np.linalg.det(a), np.ones((3, 3)))
    native(lambda a: np.linalg.det(a), np.diag([1.0, 0.0, 2.0]))
    assert wg.jit(lambda a: np.linalg.slogdet(a)[1], strict=True)(np.zeros((2, 2))) == -np.inf


def test_second_derivative_of_a_determinant():
    native(lambda a: wg.grad(np.linalg.det)(a)[0].sum(), REGULAR)


def test_cholesky():
    native(lambda a: (np.linalg.cholesky(a) ** 2 * WEIGHTS).sum(), SYMMETRIC)
    native(lambda a: (np.linalg.cholesky(a, upper=True) ** 2 * WEIGHTS).sum(), SYMMETRIC)


def by_eigenvectors(a):
    values, vectors = np.linalg.eigh(a + a.T)
    return (values**2).sum() + vectors[0, 0] * vectors[1, 1]


def by_qr(a):
    q, r = np.linalg.qr(a)
    return (r**2).sum() + q[0, 1] * r[0, 1]


def by_singular_vectors(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return (s**3).sum() + u[0, 0] * vh[0, 1]


def by_all_singular_vectors(a):
    u, s, vh = np.linalg.svd(a)
    return (s**3).sum() + u[0, 0] * vh[0, 1]


def test_factorisations():
    native(by_eigenvectors, REGULAR)
    native(lambda a: (np.linalg.eigvalsh(a) ** 3).sum(), SYMMETRIC)
    native(by_qr, REGULAR)
    native(by_qr, numbers(5, 3))
    native(by_qr, numbers(3, 5), gradient=False)
    for a in (REGULAR, numbers(5, 3), numbers(3, 5)):
        native(by_singular_vectors, a)
        native(lambda a: np.linalg.svd(a, compute_uv=False).sum(), a)
        native(by_all_singular_vectors, a)


def test_types_of_elements():
    single = REGULAR.astype(np.float32)
    native(lambda a: np.linalg.inv(a), single, gradient=False, rel=1e-4)
    native(lambda a: np.linalg.det(a), single, gradient=False, rel=1e-4)
    native(lambda a: np.linalg.det(a), np.array([[1, 2], [3, 4]]), gradient=False)
    native(lambda a: np.linalg.inv(a).sum() + np.linalg.det(a), np.zeros((0, 0)), gradient=False)


@pytest.mark.parametrize(
    ("f", "a"),
    [
        (lambda a: np.linalg.inv(a), np.zeros((3, 3))),
        (lambda a: np.linalg.solve(a, a[0]), np.zeros((3, 3))),
        (lambda a: np.linalg.cholesky(a), -np.eye(3)),
        (lambda a: np.linalg.inv(a), np.zeros((3, 2))),
        (lambda a: np.linalg.det(a), np.zeros((3, 2))),
    ],
)
def test_failures_are_those_of_numpy(f, a):
    with pytest.raises(np.linalg.LinAlgError) as expected:
        f(a)
    with pytest.raises(np.linalg.LinAlgError) as found:
        wg.jit(f, strict=True)(a)
    assert str(found.value) == str(expected.value)


def test_in_a_loop_and_beside_threads():
    def filtered(a, b):
        total = 0.0
        for k in range(len(b)):
            total += np.linalg.solve(a + k * np.eye(4), b[k])[0]
        return total

    native(filtered, REGULAR, numbers(5, 4))
    spread = wg.jit(wg.value_and_grad(filtered), strict=True, parallel=True)
    found, expected = (
        spread(REGULAR, numbers(5, 4)),
        wg.value_and_grad(filtered)(REGULAR, numbers(5, 4)),
    )
    trees.assert_close(found, expected, rel=1e-11)


def test_a_file_in_c_has_no_lapack():
    compiled = wg.jit(lambda a: np.linalg.det(a), strict=True)
    compiled(REGULAR)
    assert "f64_getrf" in compiled.source
    with pytest.raises(NotNative, match="LAPACK"):
        compiled.c_source


# --- small systems, and where rounding decides ------------------------------------------------

RANDOM = np.random.default_rng(5)
SYSTEMS = {
    "regular": RANDOM.uniform(-1.0, 1.0, (5, 5)),
    "by columns": RANDOM.uniform(-1.0, 1.0, (5, 5)).T,
    "the largest small one": RANDOM.uniform(-1.0, 1.0, (8, 8)),
    "a larger one": RANDOM.uniform(-1.0, 1.0, (9, 9)),
    "of one number": np.array([[-3.0]]),
    "of nothing": np.zeros((0, 0)),
    "rows that change places": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "singular": np.ones((2, 2)),
    "singular but for rounding": np.arange(1.0, 10.0).reshape(3, 3),
    "nearly singular": np.diag([1.0, 1e-9, 1.0]),
    "of zeros": np.zeros((3, 3)),
    "of tiny numbers": 1e-200 * np.eye(3),
    "of huge numbers": 1e200 * np.eye(3),
    "of no numbers": np.array([[np.nan, 1.0], [1.0, 0.0]]),
    "of integers": np.array([[1, 2], [3, 4]]),
    "of floats of 32 bits": RANDOM.uniform(-1.0, 1.0, (4, 4)).astype(np.float32),
}


def inverse(a):
    return np.linalg.inv(a)


def determinant(a):
    return np.linalg.det(a)


def logarithm(a):
    return tuple(np.linalg.slogdet(a))


def solution(a):
    return np.linalg.solve(a, np.arange(len(a)))


def solutions(a):
    return np.linalg.solve(a, 2.0 * a)


@pytest.mark.parametrize("f", [inverse, determinant, logarithm, solution, solutions])
@pytest.mark.parametrize("a", SYSTEMS.values(), ids=SYSTEMS.keys())
def test_small_systems(f, a):
    def outcome(f):
        try:
            with np.errstate(all="ignore"):
                return f(a)
        except np.linalg.LinAlgError as error:
            return str(error)

    found, expected = outcome(wg.jit(f, strict=True)), outcome(f)
    assert type(found) is type(expected)
    if isinstance(found, str):
        assert found == expected
        return
    rel = 1e-4 if a.dtype == np.float32 else 1e-9
    for one, other in zip(np.atleast_1d(found), np.atleast_1d(expected), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(
            one, other, rtol=rel, atol=rel * np.abs(other[np.isfinite(other)]).max(initial=0.0)
        )


# --- triangular systems -------------------------------------------------------------------

LARGE = numbers(12, 12) + 12.0 * np.eye(12)
LOWER = np.tril(LARGE)


@pytest.mark.parametrize(
    "a", [LOWER, LOWER.T, np.asfortranarray(LOWER), np.diag(np.diag(LARGE)), LARGE]
)
@pytest.mark.parametrize("b", [numbers(12), numbers(12, 3)])
def test_a_triangular_system_is_solved_by_substitution(a, b):
    native(lambda a, b: (np.linalg.solve(a, b) ** 2).sum(), a, b)
    native(lambda a: (np.linalg.inv(a) ** 2).sum(), a)
    found = wg.jit(np_inverse, strict=True)(a)
    np.testing.assert_allclose(found @ a, np.eye(12), atol=1e-12)


def np_inverse(a):
    return np.linalg.inv(a)


@pytest.mark.parametrize("a", [LOWER, LOWER.T])
def test_a_triangle_with_a_zero_on_its_diagonal_is_singular(a):
    singular = a.copy()
    singular[4, 4] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        wg.jit(np_inverse)(singular)


def test_integers_that_form_a_triangle():
    whole = np.tril(np.arange(100).reshape(10, 10) + 1)
    np.testing.assert_allclose(
        wg.jit(np_inverse, strict=True)(whole), np.linalg.inv(whole), rtol=1e-9, atol=1e-12
    )


def evidence(log_length, x, y):
    squares = (x[:, None] - x[None, :]) ** 2
    lower = np.linalg.cholesky(np.exp(-squares * np.exp(log_length)) + 0.1 * np.eye(len(x)))
    white = np.linalg.solve(lower, y)
    return white @ white + np.log(np.diag(lower)).sum()


def test_the_evidence_of_a_gaussian_process():
    native(evidence, 0.3, np.linspace(0.0, 3.0, 20), np.sin(np.arange(20.0)))
