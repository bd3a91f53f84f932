"""Jacobians with a pattern of what is not zero."""

import math

import numpy as np
import pytest
from scipy import sparse

import wengert as wg

AT = np.random.default_rng(0).uniform(0.5, 1.5, 30)


def reaction(u, rate=1.0):
    """Two species on a line; the array is filled in place."""
    n = len(u) // 2
    x, y = u[:n], u[n:]
    out = np.zeros(2 * n)
    for i in range(n):
        left = x[i - 1] if i > 0 else 0.0
        right = x[i + 1] if i < n - 1 else 0.0
        out[i] = rate + x[i] ** 2 * y[i] - 4 * x[i] + left - 2 * x[i] + right
        out[n + i] = 3 * x[i] - x[i] ** 2 * y[i]
    return out


def neighbours(x):
    """Which entries there are depends on the point."""
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * (x[i - 1] if x[i] > 0 else 2.0)
    return y


def arrow(x):
    """One dense row: few pullbacks do, but as many pushforwards as there are numbers."""
    y = x * x
    y[0] = np.sum(np.sin(x))
    return y


def same(found, wanted):
    assert isinstance(found, sparse.csr_array)
    np.testing.assert_allclose(found.toarray(), wanted, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("f", [reaction, neighbours, arrow, np.sin, np.cumsum])
def test_detected(f, mode):
    jacobian = wg.jacobian(f, mode=mode, sparsity="detect")
    for x in (AT, AT[::-1], np.zeros(30)):
        same(jacobian(x), wg.jacobian(f)(x))


def test_a_product_with_zero_is_in_the_pattern():
    jacobian = wg.jacobian(reaction, sparsity="detect")
    jacobian(np.zeros(30))
    assert jacobian.explain(AT) == "88 nonzeros of 30 × 30, by 4 pushforwards"
    same(jacobian(AT), wg.jacobian(reaction)(AT))


def test_the_cheaper_mode_is_taken():
    detected = wg.jacobian(arrow, sparsity="detect")
    assert detected.explain(AT) == "59 nonzeros of 30 × 30, by 2 pullbacks"
    assert (
        wg.jacobian(arrow, mode="forward", sparsity="detect").explain(AT)
        == "59 nonzeros of 30 × 30, by 30 pushforwards"
    )


@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_given(as_given):
    pattern = as_given(wg.jacobian(reaction)(AT) != 0)
    same(wg.jacobian(reaction, sparsity=pattern)(AT, rate=2.0), wg.jacobian(reaction)(AT))


def test_a_branch_that_the_pattern_does_not_know():
    detected = wg.jacobian(neighbours, sparsity="detect")
    for x in (-np.ones(4), np.array([1.0, -1.0, 1.0, 1.0]), np.ones(4)):
        same(detected(x), wg.jacobian(neighbours)(x))
    given = wg.jacobian(neighbours, sparsity=np.eye(4))
    same(given(-np.ones(4)), 2 * np.eye(4))
    with pytest.raises(TypeError, match="outside the given `sparsity`, in row 0"):
        given(np.ones(4))


def test_an_entry_that_is_no_number_is_in_the_pattern_or_missed():
    def root(x):
        return np.array([x[0], x[1] + np.sqrt(x[0] - 1)])

    at = np.array([0.0, 1.0])
    with np.errstate(invalid="ignore"):
        found = wg.jacobian(root, sparsity="detect")(at).toarray()
        np.testing.assert_array_equal(found, wg.jacobian(root, mode="forward")(at))
        assert np.isnan(found[1, 0])


def test_shapes():
    def table(a, x):
        return np.outer(x, x) * a

    x = np.array([1.0, 2.0, 3.0])
    dense = wg.jacobian(table, argnums=1)(2.0, x)
    same(wg.jacobian(table, argnums=1, sparsity="detect")(2.0, x), dense.reshape(9, 3))
    same(wg.jacobian(table, argnums=-1, sparsity="detect")(2.0, x), dense.reshape(9, 3))
    of_table = wg.jacobian(lambda a: a[:, 0] ** 2, sparsity="detect")
    same(of_table(np.ones((2, 2))), [[2, 0, 0, 0], [0, 0, 2, 0]])
    of_list = wg.jacobian(lambda x: [x[0] * x[1], math.sin(x[2])], sparsity="detect")
    same(of_list([2.0, 3.0, 0.0]), [[3, 2, 0], [0, 0, 1]])
    same(wg.jacobian(lambda x: x * 0.0 + 1, sparsity="detect")(np.ones(2)), np.zeros((2, 2)))
    same(wg.jacobian(lambda x: x[:0], sparsity="detect")(np.ones(2)), np.zeros((0, 2)))


def test_newton_with_a_sparse_matrix():
    from scipy.sparse.linalg import spsolve

    jacobian, u = wg.jacobian(reaction, sparsity="detect"), AT
    for _ in range(30):
        u = u - spsolve(jacobian(u), reaction(u))
    assert np.max(np.abs(reaction(u))) < 1e-12


REFUSED = [
    ({"sparsity": np.eye(3)}, np.ones(4), r"`sparsity` has the shape \(3, 3\), the Jacobian has"),
    ({"sparsity": "some"}, np.ones(4), "`sparsity` must be 'detect' or a matrix, not 'some'"),
    ({"sparsity": np.ones((2, 2, 2))}, np.ones(4), "`sparsity` must be a matrix"),
    ({"sparsity": "detect", "argnums": (0,)}, np.ones(4), r"argnums=\(0,\)"),
    ({"sparsity": "detect", "argnums": 1}, np.ones(4), "`argnums` names argument 1"),
    ({"sparsity": "detect"}, 1.0, "real arrays and lists of numbers, not float"),
    ({"sparsity": "detect"}, np.ones(2, complex), "real arrays and lists of numbers"),
]


@pytest.mark.parametrize(("options", "x", "message"), REFUSED)
def test_refused(options, x, message):
    with pytest.raises(TypeError, match=message):
        wg.jacobian(neighbours, **options)(x)


def test_refused_results():
    with pytest.raises(TypeError, match="not a dictionary"):
        wg.jacobian(lambda x: {"a": x}, sparsity="detect")(AT)

    def inside(x):
        return np.sum(wg.jacobian(arrow, sparsity="detect")(x))

    with pytest.raises(TypeError, match="Leave `sparsity` away here"):
        wg.grad(inside)(AT)
