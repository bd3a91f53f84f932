"""Writes in place under `jit`: they change what Python changes, and nothing else."""

import warnings

import numpy as np
import pytest
import trees

import wengert as wg
from wengert.errors import NativeWarning

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def same_as_python(f, *args):
    """The result under `jit`, which must be that of the Python form and leave the arguments as it does."""
    given, expected_given = ([np.copy(arg) for arg in args] for _ in range(2))
    expected = f(*expected_given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NativeWarning)
        found = wg.jit(f)(*given)
    trees.assert_close(found, expected, rel=1e-12)
    trees.assert_close(given, expected_given, rel=1e-15)
    return found


# --- cotangents that are the same along an axis -------------------------------------------


def row_cleared(v, w):
    u = v * 2
    w = w + 1
    w[1] = 0.0
    return (u * w).sum()


def element_cleared(v, w):
    u = v * 2
    w = w + 1
    w[1, 0] = 0.0
    return (u * w).sum()


def rows_cleared(v, w):
    u = v * 2
    w = w + 1
    w[1:] = 0.0
    return (w / u).sum()


def row_given(v, w):
    w = w + 1
    w[1] = v
    return (v * w).sum()


def row_scaled(v, w):
    w = w + 1
    w[1] *= 3
    return (v * w).sum()


def rows_halved_one_by_one(v, w):
    w = w + 1
    for i in range(2):
        w[i] = 0.5 * w[i]
    return (v * w).sum()


def row_cleared_in_a_branch(v, w):
    w = w + 1
    if v[0] > 0:
        w[1] = 0.0
    return (v * w).sum()


@pytest.mark.parametrize(
    "f",
    [
        row_cleared, element_cleared, rows_cleared, row_given, row_scaled,
        rows_halved_one_by_one, row_cleared_in_a_branch,
    ],
)  # fmt: skip
def test_a_cotangent_kept_as_one_row_is_written_to_row_by_row(f):
    v, w = np.array([2.0, -1.0, 3.0]), np.arange(6.0).reshape(2, 3)
    for x in (v, -v):
        gradient = wg.jit(wg.value_and_grad(f, (0, 1)), strict=True)
        trees.assert_close(gradient(x, w), wg.value_and_grad(f, (0, 1))(x, w), rel=1e-12)
        assert gradient.exits == 0


# --- arguments whose names are given to other arrays --------------------------------------


def turned_round_and_written(a):
    if a[0] < 0:
        a = -a
    a[1] = 3.0
    return a.sum()


def scaled_before_it_is_replaced(w):
    for _ in range(2):
        w *= 3
        w = w * 2
    return w.sum()


def written_before_it_is_replaced(w):
    for _ in range(2):
        w[0] = 3
        w = w * 2
    return w.sum()


def moved_before_it_is_replaced(w):
    for _ in range(2):
        w[1:] = w[:-1]
        w = w * 2
    return w.sum()


def written_until_it_is_large(w):
    while w[1] < 30:
        w[1] += 1
        w = w * 1.5
    return w.sum()


def written_after_it_may_be_replaced(w):
    for _ in range(int(w[2])):
        w = w * 2
    w[0] = 3.0
    return w.sum()


def replaced_by_an_argument(w):
    y = w * 3
    for j in range(2):
        y[0] = j
        y = w
    return y.sum()


def replaced_before_it_is_written(w):
    for _ in range(3):
        w = w * 2
        w[0] = 0.5
    return w.sum()


@pytest.mark.parametrize(
    "f",
    [
        turned_round_and_written, scaled_before_it_is_replaced, written_before_it_is_replaced,
        moved_before_it_is_replaced, written_until_it_is_large, written_after_it_may_be_replaced,
        replaced_by_an_argument, replaced_before_it_is_written,
    ],
)  # fmt: skip
@pytest.mark.parametrize("w", [[1.0, 2.0, 0.0], [-1.0, 2.0, 2.0]])
def test_a_write_reaches_the_argument_that_a_name_still_stands_for(f, w):
    same_as_python(f, np.array(w))
    same_as_python(wg.value_and_grad(f), np.array(w))


def test_an_array_of_its_own_is_replaced_and_written_natively():
    def best_of(v):
        best = v.copy()
        for j in range(3):
            other = best * 0.5
            other[j % 2] = 1.0
            if other.sum() < best.sum():
                best = other
            best[0] += 1
        return best.sum()

    for f in (best_of, wg.value_and_grad(best_of)):
        compiled = wg.jit(f, strict=True)
        trees.assert_close(compiled(np.array([3.0, 2.0])), f(np.array([3.0, 2.0])), rel=1e-12)
        assert compiled.exits == 0


def test_an_argument_that_a_loop_has_replaced_is_written_natively():
    for f in (
        written_after_it_may_be_replaced,
        wg.value_and_grad(written_after_it_may_be_replaced),
    ):
        compiled = wg.jit(f, strict=True)
        w, untouched = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 0.0])
        trees.assert_close(compiled(w), f(w.copy()), rel=1e-12)
        assert (compiled.exits, w.tolist()) == (0, [1.0, 2.0, 3.0])
        trees.assert_close(compiled(untouched), f(np.array([1.0, 2.0, 0.0])), rel=1e-12)
        assert (compiled.exits, untouched[0]) == (1, 3.0)


# --- through views, and in programs that loops decide ---------------------------------------


def through_a_transpose(m):
    m = m * 1.0
    m.T[-1] = m[0, 1] * m[1, 0]
    m.ravel()[2] *= 3.0
    m.reshape(-1)[1:] += m[0, 0]
    return (m * m).sum()


def through_a_row_of_a_view(m):
    b = m.ravel() * 1.0
    row = b.reshape(2, 2).T[0]
    row[0] = b[3] * b[1]
    row *= b[2]
    b[::-1][1] += 2 * b[0]
    return (b * b).sum()


def through_a_view_of_the_argument(m):
    m.T[0] *= 2.0
    m.flat[1] = 3.0 * m[0, 0]
    return (m * m).sum()


@pytest.mark.parametrize(
    "f", [through_a_transpose, through_a_row_of_a_view, through_a_view_of_the_argument]
)
@pytest.mark.parametrize("transform", [lambda f: f, wg.value_and_grad, wg.hessian])
@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_writes_through_views(f, transform):
    derived = transform(f)
    # what a derivative computes from a transpose NumPy may lay in another order: Python has its writes
    compiled = wg.jit(derived, strict=derived is f)
    mine, theirs = (np.array([[1.0, 2.0], [3.0, 4.0]]) for _ in range(2))
    trees.assert_close(compiled(mine), derived(theirs), rel=1e-12)
    assert mine.tolist() == theirs.tolist()
    assert compiled.exits == 0


def test_a_write_through_a_view_that_is_a_copy_is_left_to_python():
    def through_a_copy(m):
        m = m * 1.0
        m.T.ravel()[1] = 5.0
        return (m * m).sum()

    assert same_as_python(through_a_copy, np.array([[1.0, 2.0], [3.0, 4.0]])) == 30.0


def halved(t):
    t *= 0.5
    return t
