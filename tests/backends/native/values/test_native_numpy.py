"""NumPy's functions that native code says in terms of others: values, gradients and dtypes are those of Python."""

import copy
import warnings

import numpy as np
import pytest
import trees
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def found(f, *args):
    """What a call gives, or what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*copy.deepcopy(args))
        except (ValueError, IndexError) as error:
            return type(error), str(error)


def dtypes(result):
    """The types of a result, or of its items."""
    items = result if isinstance(result, tuple) else (result,)
    return [(type(item), getattr(item, "dtype", None)) for item in items]


def native(f, *args, gradient=True, exits=0):
    """Value and gradient have native forms, which give what the Python forms give."""
    for form in (f, wg.value_and_grad(f)) if gradient else (f,):
        compiled = wg.jit(form, strict=True)
        mine, theirs = found(compiled, *args), found(form, *args)
        trees.assert_close(mine, theirs, rel=1e-11)
        assert dtypes(mine) == dtypes(theirs)
        assert compiled.exits == exits


def same_as_python(f, *args):
    assert outcome(wg.jit(f, strict=True), *args) == outcome(f, *args)


def numbers(*shape):
    return np.random.default_rng(sum(shape)).uniform(0.2, 1.5, shape)


A = numbers(4, 3)
LAYOUTS = pytest.mark.parametrize(
    "a", [A, np.repeat(A.T, 2, axis=0)[::2, ::-1].T], ids=["in order", "in another order"]
)
WEIGHTS = np.arange(1.0, 400.0)


def weighed(x):
    """Something that depends on each element in a way of its own."""
    return (np.ravel(x) ** 2 * WEIGHTS[: np.size(x)]).sum()


# --- moving elements ----------------------------------------------------------------------


@LAYOUTS
def test_taking(a):
    k = np.array([[2, 0], [-1, 2]])
    native(lambda a: weighed(np.take(a, k)) + weighed(np.take(a, [1, 5, 1])), a)
    native(lambda a: weighed(np.take(a, k, axis=1)) + weighed(a.take([3, 0, 3], axis=0)), a)
    native(lambda a: weighed(np.take_along_axis(a, k[:1], axis=0)[:, :2]), a[:, :2])
    native(lambda a: weighed(np.take_along_axis(a, k[[0, 1, 0, 1]], axis=-1)), a)


def test_taking_what_is_not_there():
    native(lambda a, k: a.take(k), numbers(4), 4, gradient=False, exits=1)
    native(lambda a, k: np.take(a, k), numbers(4), np.array([1, -5]), gradient=False, exits=1)


@LAYOUTS
def test_repeating(a):
    native(lambda a: weighed(np.repeat(a, 3)) + weighed(np.repeat(a, 2, axis=0)), a)
    native(lambda a, n: weighed(a.repeat(n, axis=1)), a, 2)
    native(lambda a, n: weighed(np.tile(a, n)) + weighed(np.tile(a[0], (2, n, 2))), a, 3)
    native(lambda a: weighed(np.meshgrid(a[0], a[:, 0])[1]), a)
    native(lambda a: weighed(np.meshgrid(a[0], a[:, 0], indexing="ij")[0]), a)


@LAYOUTS
@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
def test_borders(a, mode):
    native(lambda a: weighed(np.pad(a, ((1, 2), (0, 1)), mode=mode)), a)
    native(lambda a: weighed(np.pad(a[0], 5, mode=mode)), a)
    native(lambda a: weighed(np.pad(a[:, 0], (2, 1), mode=mode)), a)


def test_the_border_of_one_element():
    native(lambda a: weighed(np.pad(a, 2, mode="reflect")), numbers(1), exits=1)


@LAYOUTS
def test_side_by_side(a):
    native(lambda a: weighed(np.vstack([a, a[0], 2.0 * a])), a)
    native(lambda a: weighed(np.hstack([a, a])) + weighed(np.hstack([a[0], a[1]])), a)
    native(lambda a: weighed(np.column_stack([a[:, 0], a, a[:, 1]])), a)
    native(lambda a: weighed(np.dstack([a, a])) + weighed(np.atleast_3d(a)), a)
    native(lambda a: weighed(np.append(a, a[0])) + weighed(np.append(a, a, axis=0)), a)


@LAYOUTS
def test_differences(a):
    native(lambda a: weighed(np.diff(a)) + weighed(np.diff(a, n=2, axis=0)), a)


# --- along an axis ------------------------------------------------------------------------


@LAYOUTS
def test_what_runs_along_an_axis(a):
    native(lambda a: weighed(np.cumsum(a, axis=0)) + weighed(np.cumsum(a, axis=1)), a)
    native(lambda a: weighed(np.cumsum(a)) + weighed(np.cumprod(a[0])), a)
    native(lambda a: np.cumprod(a, axis=0), a, gradient=False)
    native(lambda a: weighed(np.maximum.accumulate(a, axis=1)), a)
    native(lambda a: weighed(np.minimum.accumulate(a, axis=0)), a)
    native(lambda a: a[0].prod(), a)


def test_what_runs_along_integers():
    a = np.array([[3, 1, 2], [-4, 0, 5]])
    native(lambda a: np.cumsum(a, axis=0), a, gradient=False)
    native(lambda a: np.cumprod(a), a, gradient=False)
    native(lambda a: np.cumsum(a > 0), a, gradient=False)
    native(lambda a: np.diff(a, axis=1), a, gradient=False)


@LAYOUTS
def test_order_along_an_axis(a):
    native(lambda a: weighed(np.sort(a, axis=0)) + weighed(np.sort(a)), a)
    native(lambda a: np.argsort(a, axis=0, kind="stable"), a, gradient=False)
    native(lambda a: weighed(np.median(a, axis=1)) + np.median(a) + np.median(a[0]), a)
    native(lambda a: np.percentile(a, 30) + np.quantile(a[:, 0], 0.77), a)
    native(lambda a: weighed(np.quantile(a, [0.1, 0.5, 1.0], axis=0)), a)
    native(lambda q, a: np.quantile(a, q), 0.3, a)


def test_quantiles_at_the_edges():
    native(lambda a: np.median(a), numbers(1))
    native(lambda a: np.median(a), np.array([3, 1, 2, 2]), gradient=False)
    native(lambda a: np.median(a, axis=0, keepdims=True), numbers(3, 2), gradient=False)
    native(lambda a: np.median(a), numbers(5).astype(np.float32), gradient=False)
    same_as_python(lambda a: np.median(a), np.array([1.0, np.nan]))
    same_as_python(lambda a: np.median(a), numbers(0))
    native(lambda a, q: np.quantile(a, q), numbers(4), 1.5, gradient=False, exits=1)


# --- products -----------------------------------------------------------------------------


EINSUMS = ["ij,jk->ik", "ij,jk->ki", "ij,jk", "ij,jk->", "ij,jk->i", "ij,jk->ijk", "ij,jk->k"]


@LAYOUTS
@pytest.mark.parametrize("subscripts", EINSUMS)
def test_einsum(a, subscripts):
    native(lambda a, b: weighed(np.einsum(subscripts, a, b)), a, numbers(3, 2))
    native(lambda b, a: weighed(np.einsum(subscripts, a, b)), numbers(3, 2), a)


def test_einsum_of_other_operands():
    native(lambda a: weighed(np.einsum("ii->i", a)) + np.einsum("ii", a), numbers(3, 3))
    native(lambda a: weighed(np.einsum("iij->j", a)), numbers(3, 3, 2))
    native(lambda a: np.einsum("ij,ij", a, a) + weighed(np.einsum("ij->ji", a)), numbers(2, 3))
    native(
        lambda a, b: weighed(np.einsum("...ij,...jk->...ik", a, b)), numbers(2, 3, 4), numbers(4, 2)
    )
    native(lambda a, b: np.einsum("i,ij,j", a, b, a), numbers(3), numbers(3, 3))
    native(lambda a: np.einsum("i,i->", a, a), np.arange(4), gradient=False)


def test_stacks_of_matrices():
    stack, matrix, vector = numbers(2, 3, 4), numbers(4, 2), numbers(4)
    native(lambda a, b: weighed(a @ b), stack, matrix)
    native(lambda b, a: weighed(a @ b), matrix, stack)
    native(lambda a, b: weighed(a @ b), stack, vector)
    native(lambda b, a: weighed(a @ b), vector, stack)
    native(lambda a, b: weighed(a @ b), numbers(3), stack)
    native(lambda b, a: weighed(a @ b), stack, numbers(3))
    native(lambda a, b: weighed(a @ b), stack, numbers(5, 1, 4, 2))
    native(lambda b, a: weighed(a @ b), numbers(5, 1, 4, 2), stack)
    native(lambda a, b: a @ b, stack, numbers(3, 2), gradient=False, exits=1)


def test_contractions():
    a, b = numbers(2, 3, 4), numbers(4, 3, 2)
    native(lambda a, b: weighed(np.tensordot(a, b, axes=1)), a, b)
    native(lambda b, a: weighed(np.tensordot(a, b, axes=((0, 1), (2, 1)))), b, a)
    native(lambda a, b: weighed(np.kron(a, b)), numbers(2, 3), numbers(3, 1))
    native(lambda b, a: weighed(np.kron(a, b)), numbers(3), numbers(2))


def test_products_of_vectors_of_space():
    native(lambda a, b: weighed(np.cross(a, b)), numbers(3), numbers(4, 3)[1])
    native(lambda b, a: weighed(np.cross(a, b)), numbers(3), numbers(4, 3))
    native(lambda a, b: weighed(np.cross(a, b)), numbers(2, 1, 3), numbers(4, 3))
    native(lambda a, b: np.cross(a, b), np.array([1, 2, 3]), np.array([4, 5, 6]), gradient=False)
    native(lambda a, b: np.cross(a, b), numbers(3), numbers(4), gradient=False, exits=1)


@LAYOUTS
def test_norms(a):
    native(lambda a: weighed(np.linalg.norm(a, axis=1)) + np.linalg.norm(a, "fro"), a)
    native(lambda a: np.linalg.norm(a[0], 1) + np.linalg.norm(a[0], np.inf), a)
    native(lambda a: weighed(a / np.linalg.norm(a, axis=0, keepdims=True)), a)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode):
    long, short = numbers(7), numbers(4)
    for a, b in ((long, short), (short, long), (short, short), (long, short[:1])):
        native(lambda a, b: weighed(np.convolve(a, b, mode=mode)), a, b)
        native(lambda b, a: weighed(np.convolve(a, b, mode)), b, a)
    native(lambda a, b: np.convolve(a, b), np.arange(4), np.arange(3), gradient=False)
    native(lambda a, b: np.convolve(a, b), long, numbers(0), gradient=False, exits=1)


# --- tables -------------------------------------------------------------------------------

XP, FP = np.array([0.0, 1.0, 2.5, 3.0]), np.array([1.0, 3.0, 2.0, 5.0])


def test_interpolation():
    x = np.array([-1.0, 0.0, 0.3, 1.0, 2.6, 3.0, 7.0])
    native(lambda x, xp, fp: weighed(np.interp(x, xp, fp)), x, XP, FP)
    native(lambda fp, x, xp: weighed(np.interp(x, xp, fp)), FP, x.reshape(1, 7), XP)
    native(lambda xp, x, fp: weighed(np.interp(x, xp, fp)), XP, x, FP)
    native(lambda x: np.interp(x, XP, FP, left=-1.0, right=9.0), 3.5)
    same_as_python(lambda x: np.interp(x, XP, FP, left=-1.0), np.array([np.nan, -3.0]))
    native(lambda x, xp, fp: np.interp(x, xp, fp), 2, np.arange(4), np.arange(4), gradient=False)
    native(lambda x, xp: np.interp(x, xp, FP), 2.0, XP[:0], gradient=False, exits=1)


def test_counting():
    k, x = np.array([1, 3, 1, 0]), numbers(4)
    native(lambda k: np.bincount(k), k, gradient=False)
    native(lambda x, k: weighed(np.bincount(k, weights=x, minlength=6)), x, k)
    same_as_python(lambda k: np.bincount(k), -k)
    native(lambda x: np.digitize(x, XP), x, gradient=False)
    native(lambda x: np.digitize(x, XP, right=True), x, gradient=False)
    native(lambda x: np.digitize(x, XP[::-1]), x, gradient=False)
    native(lambda x: np.histogram(x, bins=3, range=(0.0, 2.0))[0], x, gradient=False)


def test_where_something_is_true():
    a = numbers(3, 4) * np.array([1.0, 0.0, -1.0, 1.0])
    native(lambda a: a[np.nonzero(a > 0.5)].sum() + a[np.where(a > 0.7)].sum(), a)
    native(lambda a: np.flatnonzero(a), a, gradient=False)
    native(lambda a: a[np.where(a[:, 0] > 0.5)[0]].sum(), a)


def test_lists_of_medians():
    def smoothed(x):
        kept = []
        for k in range(len(x) - 2):
            middle = np.median(x[k : k + 3])
            kept.append(middle)
        return weighed(np.array(kept))

    native(smoothed, numbers(9))


def test_windows_that_do_not_fit():
    windows = np.lib.stride_tricks.sliding_window_view
    native(lambda x: weighed(windows(x, 3)), numbers(5))
    native(lambda x: windows(x, 6).sum(), numbers(5), gradient=False, exits=1)


def test_the_type_of_a_polynomial():
    def value(x):
        return np.polyval([1.0, -2.0], x).sum()

    x = numbers(3).astype(np.float32)
    assert dtypes(wg.value_and_grad(value)(x)[0]) == dtypes(value(x))
