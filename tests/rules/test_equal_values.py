"""Matrices whose eigenvalues or singular values are equal: a derivative that is right, or one that is refused.

What is smooth in the matrix is compared with a formula of it that has no factors; what depends on the choice of
vectors has to be refused, or to be NaN where only the run knows which vectors are read.
"""

import numpy as np
import pytest
from error_texts import message, place, refusal
from scipy import linalg

import wengert as wg

RNG = np.random.default_rng(5)
G = RNG.normal(size=(3, 3))
TURN = linalg.qr(RNG.normal(size=(3, 3)))[0]
OBLIQUE = RNG.normal(size=(3, 3)) + 2 * np.eye(3)


def reverse(f):
    return wg.grad(f)


def forward(f):
    return wg.jacobian(f, mode="forward")


def native(f):
    return wg.jit(wg.grad(f))


def recorded(f):
    return wg.grad(f, tier="recorded")


MODES = [reverse, forward, native, recorded]

pytestmark = pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
"""`eig` has no native form."""


# --- eigenvalues of general matrices (A1) -------------------------------------------------------


def trace(A):
    return np.real(np.sum(np.linalg.eigvals(A)))


@pytest.mark.parametrize("mode", MODES)
def test_A1_eigvals_where_eigenvalues_are_equal(mode):
    np.testing.assert_allclose(mode(trace)(np.eye(2)), np.eye(2), atol=1e-14)
    np.testing.assert_allclose(mode(trace)(np.diag([2.0, 2.0, 3.0])), np.eye(3), atol=1e-14)


ROTATIONS = np.kron(np.eye(2), np.array([[0.6, -0.8], [0.8, 0.6]]))
GENERAL = {
    "the unit matrix": np.eye(3),
    "zero": np.zeros((3, 3)),
    "two equal": np.diag([2.0, 2.0, 3.0]),
    "two equal, turned": TURN @ np.diag([2.0, 2.0, 3.0]) @ TURN.T,
    "two equal, oblique": OBLIQUE @ np.diag([2.0, 2.0, 3.0]) @ np.linalg.inv(OBLIQUE),
    "two rotations": ROTATIONS,
    "two pairs": np.kron(np.array([[2.0, 0.5], [0.5, 1.0]]), np.eye(2)),
    "all apart": np.diag([1.0, 2.0, 4.0]) + 0.1 * G,
}
OF_EIGENVALUES = {
    "trace": (lambda w: np.real(np.sum(w)), lambda A: np.trace(A)),
    "cubes": (lambda w: np.real(np.sum(w**3)), lambda A: np.trace(A @ A @ A)),
    "determinant": (
        lambda w: np.real(np.prod(w + 2)),
        lambda A: np.linalg.det(A + 2 * np.eye(len(A))),
    ),
}
VALUES_OF = {
    "np.eigvals": np.linalg.eigvals,
    "scipy.eigvals": linalg.eigvals,
    "np.eig": lambda A: np.linalg.eig(A)[0],
}


@pytest.mark.parametrize("mode", [reverse, forward])
@pytest.mark.parametrize("values", VALUES_OF)
@pytest.mark.parametrize("matrix", GENERAL)
def test_symmetric_functions_of_eigenvalues(mode, values, matrix):
    A, values_of = GENERAL[matrix], VALUES_OF[values]
    for symmetric, directly in OF_EIGENVALUES.values():
        found = mode(lambda A, symmetric=symmetric: symmetric(values_of(A)))(A)
        np.testing.assert_allclose(found, wg.grad(directly)(A), atol=1e-9)


JORDAN = {
    "a block": np.array([[1.0, 1.0], [0.0, 1.0]]),
    "a block of three": np.diag([2.0, 2.0, 2.0]) + np.diag([1.0, 1.0], 1),
    "a block beside another": np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    "hidden": np.array([[3.0, 1.0], [-1.0, 1.0]]),
    "nilpotent": np.array([[0.0, 1.0], [0.0, 0.0]]),
    "nilpotent, hidden": np.array([[1.0, 1.0], [-1.0, -1.0]]),
    "three, hidden": OBLIQUE
    @ (np.diag([2.0, 2.0, 2.0]) + np.diag([1.0, 1.0], 1))
    @ np.linalg.inv(OBLIQUE),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("matrix", JORDAN)
@pytest.mark.parametrize("values", VALUES_OF)
def test_defective_matrices_are_refused(mode, matrix, values):
    values_of = VALUES_OF[values]
    error = refusal(
        "WG212", ValueError, lambda: mode(lambda A: np.real(np.sum(values_of(A))))(JORDAN[matrix])
    )
    assert "have one eigenvector between them" in str(error)


def test_matrices_that_are_not_normal_are_not_refused():
    def largest(A):
        return np.max(np.real(np.linalg.eigvals(A)))

    found = wg.grad(largest)(np.array([[1.0, 1e8], [0.0, 2.0]]))
    np.testing.assert_allclose(found, [[0.0, 0.0], [1e8, 1.0]])
    steep = wg.grad(largest)(np.array([[1.0, 1.0], [1e-10, 1.0]]))
    np.testing.assert_allclose(steep, [[0.5, 5e-6], [5e4, 0.5]], rtol=1e-5)


# --- vectors of equal values (A2) -----------------------------------------------------------------


def by_svd(A):
    U, s, Vt = np.linalg.svd(A)
    return np.sum((U * s) @ Vt * np.array([[1.0, 2.0], [3.0, 4.0]]))


def by_eigh(A):
    w, V = np.linalg.eigh((A + A.T) / 2)
    return np.sum((V * w) @ V.T * np.array([[1.0, 2.0], [2.0, 4.0]]))


def log_det(A):
    return np.sum(np.log(np.linalg.eigvalsh(A)))


def outcome(run):
    try:
        return run(), None
    except wg.WengertError as error:
        return None, error


def right_or_refused(run, right, **tolerances):
    """What is never a wrong number: the derivative, NaN, or an error that names the equal values."""
    found, error = outcome(run)
    if error is not None:
        assert error.code == "WG212", error
        assert " are equal: " in str(error) or " are 0: " in str(error)
        return
    found = np.asarray(found)
    undefined = np.isnan(found)
    expected = np.where(undefined, np.nan, right)
    np.testing.assert_allclose(found, expected, **tolerances)


@pytest.mark.parametrize("mode", MODES)
def test_A2_what_is_put_together_from_factors(mode):
    right_or_refused(lambda: mode(by_svd)(np.eye(2)), [[1.0, 2.0], [3.0, 4.0]])
    if mode is recorded:
        refusal("WG212", ValueError, lambda: mode(by_eigh)(np.eye(2)))
    else:
        np.testing.assert_allclose(mode(by_eigh)(np.eye(2)), [[1.0, 2.0], [2.0, 4.0]])
    assert wg.hessian(log_det)(4 * np.eye(2))[1, 0, 1, 0] == pytest.approx(-0.125)


def test_the_message_names_the_values():
    def first(A):
        w, V = np.linalg.eigh(A)
        return V[0, 0] + w[0]

    for derivative in (wg.grad(first), wg.jacobian(first, mode="forward"), recorded(first)):
        error = refusal("WG212", ValueError, lambda d=derivative: d(np.diag([2.0, 2.0, 3.0])))
        assert str(error) == message(
            "WG212",
            "the eigenvalues 2 and 2 are equal: their vectors can be chosen in any way within what they span, "
            "and have no derivative",
            place(first, 1, "np.linalg.eigh(A)", inside="first"),
            "What does not depend on that choice has a derivative: write it without the vectors, such as\n"
            "`scipy.linalg.sqrtm(A)`, `expm`, `logm`, `polar`, `np.linalg.inv`, `pinv`, or by the values alone.\n"
            "For second derivatives too: `np.linalg.slogdet(A)`, `np.trace(A @ A)`.",
        )


def spectral(function):
    def of_matrix(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        return np.sum((V * function(w)) @ V.T * G)

    return of_matrix


def applied(function):
    def of_matrix(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        return G[0] @ (V @ (function(w) * (V.T @ G[1])))

    return of_matrix


def summed(function):
    def of_matrix(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        total = 0.0
        for k in range(len(w)):
            total = total + function(w[k]) * np.sum(np.outer(V[:, k], V[:, k]) * G)
        return total

    return of_matrix


def by_slices(function):
    def of_matrix(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        n = 3 - np.sum(w < -1e6)
        order = np.argsort(-w)
        w, V = w[order], V[:, order]
        return np.sum((V[:, :n] * function(w[:n])) @ V[:, :n].T * G)

    return of_matrix


def diagonal(function):
    def of_matrix(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        return np.sum((V @ np.diag(function(w)) @ np.swapaxes(V, 0, 1)) * G)

    return of_matrix


def by_rows(function):
    def of_matrix(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        return np.sum((V @ (function(w)[:, None] * V.T)) * G)

    return of_matrix


WAYS = [spectral, applied, summed, by_slices, diagonal, by_rows]
RECOGNISED = [spectral, applied, diagonal, by_rows]
"""Ways to write a function of a matrix that are right where eigenvalues are equal."""
FUNCTIONS = {
    "w": lambda w: w,
    "w²": lambda w: w * w,
    "log w": np.log,  # 0 where the eigenvalue is 1
    "√w": np.sqrt,
}
SYMMETRIC = {
    "the unit matrix": np.eye(3),
    "four times": 4 * np.eye(3),
    "two equal": np.diag([1.0, 1.0, 2.0]),
    "two equal, turned": TURN @ np.diag([1.0, 1.0, 2.0]) @ TURN.T,
    "zero": np.zeros((3, 3)),
    "rank one": np.diag([0.0, 0.0, 2.0]),
    "all apart": TURN @ np.diag([1.0, 2.0, 4.0]) @ TURN.T,
}


def exactly(name, way, A):
    """The gradient of Σ f(A) ∘ G, or of G₀ f(A) G₁, by divided differences of f (Daleckii and Krein)."""
    w, V = np.linalg.eigh(A)
    w = np.round(w, 12)
    slope = {"w": lambda w: 1 + 0 * w, "w²": lambda w: 2 * w, "log w": lambda w: 1 / w}
    slope = slope.get(name, lambda w: 0.5 / np.sqrt(w))(w)
    f = FUNCTIONS[name](w)
    gap = w[:, None] - w
    quotients = np.where(gap == 0, slope, (f[:, None] - f) / np.where(gap == 0, 1, gap))
    weights = np.outer(G[0], G[1]) if way is applied else G
    found = V @ (quotients * (V.T @ weights @ V)) @ V.T
    return (found + found.T) / 2


DIFFERENTIABLE = [
    (name, matrix)
    for name in FUNCTIONS
    for matrix in SYMMETRIC
    if name in ("w", "w²") or matrix not in ("zero", "rank one")
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("name", "matrix"), DIFFERENTIABLE)
def test_functions_of_a_symmetric_matrix(way, name, matrix):
    A = SYMMETRIC[matrix]
    f = way(FUNCTIONS[name])
    right = exactly(name, way, A)
    for mode in (reverse, forward, recorded):
        right_or_refused(lambda mode=mode: mode(f)(A), right, atol=1e-9)
    if matrix == "all apart" or way in RECOGNISED:
        np.testing.assert_allclose(wg.grad(f)(A), right, atol=1e-9)
        np.testing.assert_allclose(wg.jacobian(f, mode="forward")(A), right, atol=1e-9)


CHOICES = {
    "an entry": lambda V: V[0, 0],
    "its square": lambda V: V[0, 0] ** 2,
    "a column": lambda V: V[:, 0] @ G[0],
    "all": lambda V: np.sum(V * G),
    "all, squared": lambda V: np.sum(V**2 * G),
    "a row": lambda V: np.sum(V[0] * G[0]),
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("mode", MODES)
def test_what_depends_on_the_choice_is_refused(choice, mode):
    of_vectors = CHOICES[choice]
    for vectors, other in (
        (lambda A: np.linalg.eigh(A)[1], 3.0),
        (lambda A: np.real(np.linalg.eig(A)[1]), 3.0),  # complex since NumPy 2.5
        (lambda A: np.linalg.svd(A)[0], 1.0),
        (lambda A: np.linalg.svd(A)[2].T, 1.0),
        (lambda A: linalg.eigh(A)[1], 3.0),
    ):
        derivative = mode(lambda A, vectors=vectors: of_vectors(vectors(A)))
        A = np.diag([2.0, 2.0, other])
        refusal("WG212", ValueError, lambda derivative=derivative, A=A: derivative(A))


def test_vectors_whose_values_are_apart_have_a_derivative():
    D = np.diag([1.0, 1.0, 2.0])

    def largest(A):
        w, V = np.linalg.eigh(A)
        return V[0, -1] * V[2, 2] + w[2] + w[0] * w[1]

    def first_of_sorted(A, k):
        w, V = np.linalg.eigh(A)
        V = V[:, np.argsort(-w)]
        return np.sum(V[:, :k] @ V[:, :k].T * G)

    expected = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    for mode in MODES:
        np.testing.assert_allclose(mode(largest)(D), expected, atol=1e-12)
    S = G + G.T
    expected = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [S[2, 0], S[2, 1], 0.0]])
    np.testing.assert_allclose(wg.grad(first_of_sorted)(D, 1), expected, atol=1e-12)
    np.testing.assert_allclose(
        wg.jacobian(first_of_sorted, mode="forward")(D, 1), expected, atol=1e-12
    )
    refusal("WG212", ValueError, lambda: wg.grad(first_of_sorted)(D, 2))
    assert np.isnan(wg.jacobian(first_of_sorted, mode="forward")(D, 2)).any()


def largest_by_a_list_of_rows(v):
    values, vectors = np.linalg.eigh(np.outer(v, v))
    return vectors[[0, 1], np.argmax(values)][0] ** 2


def largest_in_a_list(v):
    _, vectors = np.linalg.eigh(np.outer(v, v))
    return np.sum(vectors[:, [3]] ** 4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("f", "of_unit"),
    [
        (largest_by_a_list_of_rows, lambda u: u[0] ** 2),
        (largest_in_a_list, lambda u: np.sum(u**4)),
    ],
)
def test_a_vector_is_picked_by_lists_of_indices(mode, f, of_unit):
    v = np.array([0.9, 0.1, 0.2, 0.3])
    expected = wg.grad(lambda v: of_unit(v / np.linalg.norm(v)))(v)
    assert mode(f)(v) == pytest.approx(expected)


def test_vectors_of_equal_values_are_refused_in_lists_of_indices():
    def f(v):
        _, vectors = np.linalg.eigh(np.outer(v, v))
        return np.sum(vectors[[0, 1], [3, 0]] ** 4)

    v = np.array([0.9, 0.1, 0.2, 0.3])
    for mode in (reverse, native, recorded):
        refusal("WG212", ValueError, lambda mode=mode: mode(f)(v))
    assert np.isnan(forward(f)(v)).all()


def test_values_alone_have_a_derivative_though_vectors_are_read_on_another_path():
    def of_values(A, with_vectors):
        w, V = np.linalg.eigh(A)
        if with_vectors:
            return np.sum(w * V[0])
        return np.sum(w**3)

    for mode in MODES:
        np.testing.assert_allclose(mode(of_values)(2 * np.eye(3), False), 12 * np.eye(3))
    refusal("WG212", ValueError, lambda: wg.grad(of_values)(2 * np.eye(3), True))


@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4)])
@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize(
    "values", [(2.0, 2.0, 1.0), (3.0, 2.0, 0.0), (3.0, 0.0, 0.0), (0.0, 0.0, 0.0)]
)
def test_singular_values_that_are_equal_or_zero(shape, full, values):
    A = np.zeros(shape)
    A[range(3), range(3)] = values
    weights = np.random.default_rng(2).normal(size=shape)

    def whole(A):
        U, s, Vt = np.linalg.svd(A, full_matrices=full)
        return np.sum((U[:, :3] * s) @ Vt[:3] * weights)

    def squares(A):
        return np.sum(np.linalg.svd(A, full_matrices=full)[1] ** 2)

    for mode in (reverse, forward, recorded):
        right_or_refused(lambda mode=mode: mode(whole)(A), weights, atol=1e-9)
        np.testing.assert_allclose(mode(squares)(A), 2 * A, atol=1e-12)


SECOND = {
    "log det": log_det,
    "squares": lambda A: np.sum(np.linalg.eigvalsh(A) ** 2),
    "upper": lambda A: np.sum(np.linalg.eigvalsh(A, UPLO="U") ** 3),
    "entropy": lambda A: -np.sum(np.linalg.eigvalsh(A) * np.log(np.linalg.eigvalsh(A))),
    "of sums": lambda A: np.log(np.sum(np.exp(np.linalg.eigvalsh(A)))),
    "square of the trace": lambda A: np.sum(np.linalg.eigvalsh(A)) ** 2,
    "nothing but a trace": lambda A: np.sum(np.linalg.eigvalsh(A)),
}
"""Symmetric functions of eigenvalues, whose second derivatives are right."""

REFUSED = {
    "in a loop": lambda A: sum(w**3 for w in np.linalg.eigvalsh(A)),
    "by eigh": lambda A: np.sum(np.linalg.eigh(A)[0] ** 3),
    "singular squares": lambda A: np.sum(np.linalg.svd(A, compute_uv=False) ** 2),
    "nuclear norm": lambda A: np.linalg.norm(A, "nuc"),
    "eigvals": lambda A: np.real(np.sum(np.linalg.eigvals(A) ** 2)),
    "eig": lambda A: np.real(np.sum(np.linalg.eig(A)[0] ** 2)),
    "product": lambda A: np.prod(np.linalg.eigvalsh(A)),
}
"""Others, which are right or refused."""


def by_differences(f, A, step=1e-4):
    """The Hessian of a smooth function by differences of its own gradient, off the tie in every direction."""
    n = A.size
    found = np.zeros((n, n))
    for k in range(n):
        change = np.zeros(n)
        change[k] = step
        ends = [_gradient(f, A + sign * change.reshape(A.shape)) for sign in (1, -1)]
        found[:, k] = (ends[0] - ends[1]).ravel() / (2 * step)
    return found.reshape(*A.shape, *A.shape)


def _gradient(f, A, step=1e-4):
    found = np.zeros(A.shape)
    for at in np.ndindex(A.shape):
        change = np.zeros(A.shape)
        change[at] = step
        found[at] = (f(A + change) - f(A - change)) / (2 * step)
    return found


@pytest.mark.parametrize("name", [*SECOND, *REFUSED])
@pytest.mark.parametrize("matrix", ["four times", "two equal", "all apart"])
def test_second_derivatives_of_what_is_of_the_values_alone(name, matrix):
    f, A = {**SECOND, **REFUSED}[name], SYMMETRIC[matrix]
    right = by_differences(f, A)
    for second in (wg.hessian(f), wg.jacobian(wg.grad(f), mode="reverse")):
        if name in SECOND:
            np.testing.assert_allclose(second(A), right, atol=1e-4)
        else:
            right_or_refused(lambda second=second: second(A), right, atol=1e-4)


def test_second_derivatives_in_native_code():
    compiled = wg.jit(wg.hessian(log_det))
    for A in (np.diag([1.0, 2.0, 4.0]), 4 * np.eye(3), np.diag([1.0, 1.0 + 1e-9, 4.0])):
        np.testing.assert_allclose(compiled(A), wg.hessian(log_det)(A), atol=1e-12)


@pytest.mark.parametrize("gap", [1e-15, 1e-13, 1e-10, 1e-7, 1e-4, 1e-2])
def test_second_derivatives_where_values_are_all_but_equal(gap):
    A = TURN @ np.diag([1.0, 1.0 + gap, 3.0]) @ TURN.T
    directly = lambda A: np.linalg.slogdet(np.tril(A) + np.tril(A, -1).T)[1]
    np.testing.assert_allclose(wg.hessian(log_det)(A), wg.hessian(directly)(A), atol=1e-8)


def test_functions_of_values_that_see_their_order():
    D = np.diag([1.0, 1.0, 2.0])

    def largest(A):
        return np.linalg.eigvalsh(A)[-1] ** 2

    def weighted(A):
        return np.sum(np.arange(3.0) * np.linalg.eigvalsh(A) ** 2)

    np.testing.assert_allclose(wg.hessian(largest)(D), by_differences(largest, D), atol=1e-4)
    refusal("WG212", ValueError, lambda: wg.hessian(largest)(np.eye(3)))
    refusal("WG212", ValueError, lambda: wg.hessian(weighted)(D))


WEIGHTS = np.arange(9.0).reshape(3, 3)  # not symmetric, as cotangents need not be


def spectral_sum(f):
    def total(A):
        w, V = np.linalg.eigh((A + A.T) / 2)
        return np.sum(((V * f(w)) @ V.T) * WEIGHTS)

    return total


def applied_to_a_vector(A):
    w, V = np.linalg.eigh(A + A.T)
    return np.sum(V @ (np.tanh(w) * (V.T @ np.array([1.0, 2.0, 3.0])))) * np.sum(A)


OF_A_MATRIX = {
    "exp": spectral_sum(np.exp),
    "square": spectral_sum(lambda w: w**2),
    "cumsum": spectral_sum(np.cumsum),
    "maximum": spectral_sum(lambda w: np.maximum(w, 0.3)),
    "share": spectral_sum(lambda w: w / np.sum(w)),
    "gap": spectral_sum(lambda w: w - w[0]),
    "by place": spectral_sum(lambda w: np.arange(3) * w),
    "constant": spectral_sum(lambda w: np.array([1.0, 2.0, 5.0])),
    "vector": applied_to_a_vector,
    "log det": lambda A: np.sum(np.log(np.linalg.eigvalsh(A @ A.T + np.eye(3)))),
}


@pytest.mark.parametrize("name", OF_A_MATRIX)
def test_second_derivatives_of_functions_of_a_matrix_where_eigenvalues_are_apart(name):
    f, gradient = OF_A_MATRIX[name], wg.grad(OF_A_MATRIX[name])
    rng = np.random.default_rng(7)
    A, E, h = rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), 1e-6
    slope = (f(A + h * E) - f(A - h * E)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient(A) * E), slope, rtol=1e-6, atol=1e-6)
    second = np.sum((gradient(A + h * E) - gradient(A - h * E)) * E) / (2 * h)
    tangent = lambda A: wg.pushforward(f, A)[1](E)
    found = [
        np.sum(wg.hvp(f)(A, E) * E),
        np.sum(wg.grad(lambda A: np.sum(gradient(A) * E))(A) * E),
        np.sum(wg.grad(tangent)(A) * E),
        wg.pushforward(tangent, A)[1](E),
    ]
    np.testing.assert_allclose(found, second, rtol=1e-5, atol=1e-5)


FULL = {
    "svd": lambda A: np.linalg.svd(A)[0][:, 1:],
    "qr": lambda A: np.linalg.qr(A, mode="complete")[0][:, 1:],
    "complex": lambda A: np.linalg.svd(A * (1.0 + 0.3j) + 1j * A**2)[0][:, 1:],
}
"""Two vectors that complete a basis."""


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("name", FULL)
def test_vectors_that_complete_a_basis(name, tier):
    vectors, A, E, h = FULL[name], G[:, :1], OBLIQUE[:, :1], 1e-6
    weights = OBLIQUE @ OBLIQUE.T

    def of_space(A):
        N = vectors(A)
        return np.sum(np.real(N @ np.conj(N).T) * weights)

    gradient = wg.grad(of_space, tier=tier)
    slope = (of_space(A + h * E) - of_space(A - h * E)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient(A) * E), slope, rtol=1e-6)
    np.testing.assert_allclose(wg.pushforward(of_space, A)[1](E), slope, rtol=1e-6)
    second = (gradient(A + h * E) - gradient(A - h * E)) / (2 * h)
    np.testing.assert_allclose(wg.hvp(of_space, tier=tier)(A, E), second, rtol=1e-5, atol=1e-6)
    of_choice = wg.grad(lambda A: np.real(vectors(A))[0, 0] ** 3, tier=tier)
    error = refusal("WG212", ValueError, lambda: of_choice(A))
    assert "2 vectors complete a basis: they can be chosen in any way" in str(error)


# --- columns that depend on one another --------------------------------------------------------


def weighted_factors(A, mode):
    factors = np.linalg.qr(A, mode=mode)
    factors = (factors,) if mode == "r" else factors
    return sum(np.sum(F * np.cos(np.arange(F.size).reshape(F.shape))) for F in factors)


DEPENDENT = RNG.normal(size=(3, 3)) @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 2.0], [0.0, 0.0, 0.0]])
"""The last column depends on the others."""


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize("A", [DEPENDENT, np.hstack([DEPENDENT, DEPENDENT[:, :1]])])
def test_the_last_vector_of_a_square_follows_from_the_others(A, mode, tier):
    E, h = RNG.normal(size=A.shape), 1e-6

    def f(A):
        return weighted_factors(A, mode)

    gradient = wg.grad(f, tier=tier)
    slope = (f(A + h * E) - f(A - h * E)) / (2 * h)
    np.testing.assert_allclose(np.sum(gradient(A) * E), slope, rtol=1e-6)
    np.testing.assert_allclose(wg.pushforward(f, A)[1](E), slope, rtol=1e-6)
    second = (gradient(A + h * E) - gradient(A - h * E)) / (2 * h)
    np.testing.assert_allclose(wg.hvp(f, tier=tier)(A, E), second, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize(
    ("A", "k"),
    [(np.zeros((2, 2)), 0), (DEPENDENT[:, [0, 0, 1]], 1), (np.vstack([DEPENDENT, DEPENDENT]), 2)],
)
def test_vectors_of_columns_that_depend_on_others_are_refused(A, k, mode, tier):
    gradient = wg.grad(lambda A: weighted_factors(A, mode), tier=tier)
    error = refusal("WG212", ValueError, lambda: gradient(A))
    assert f"column {k} of a matrix is 0 or depends on those before it" in str(error)
    assert "np.linalg.qr(A, mode=mode)" in str(error)
