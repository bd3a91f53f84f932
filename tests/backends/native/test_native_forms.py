"""Forms of NumPy and Python that native code has, each against what Python gives."""

import math
import operator
import warnings

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")

NAN, INF = math.nan, math.inf


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def same_as_python(f, *args):
    """The outcome is that of Python, and comes from a native form."""
    compiled = wg.jit(f, strict=True)
    assert outcome(compiled, *args) == outcome(f, *args)
    return compiled


# --- extremes ---------------------------------------------------------------------------------

INTEGERS = [[3, 1, 2], [-(2**63), -5], [7], [[3, 1], [2, 5]]]


@pytest.mark.parametrize("x", INTEGERS)
def test_extremes_of_integers(x):
    same_as_python(lambda x: x.max(), np.array(x))
    same_as_python(lambda x: np.min(x), np.array(x))
    same_as_python(lambda x: np.max(x, axis=0), np.array(x))
    same_as_python(lambda x: np.min(x, axis=-1, keepdims=True), np.array(x))
    same_as_python(lambda x: np.max(x > 2), np.array(x))
    same_as_python(lambda x: np.min(x > 2, axis=0), np.array(x))


def test_the_extreme_of_no_integers():
    same_as_python(lambda x: x.max(), np.array([], int))


PLACES = [
    np.array([3.0, 1.0, 1.0]),
    np.array([[3.0, 1.0], [2.0, NAN]]),
    np.array([[3, 1], [2, 7]]),
    np.array([[1.0, 5.0], [9.0, 2.0]]).T,
    np.arange(24.0).reshape(2, 3, 4) % 7.0,
    np.zeros((0, 2)),
    np.array([[True, False], [False, True]]),
]


@pytest.mark.parametrize("x", PLACES)
def test_places_of_extremes(x):
    for axis in range(-1, x.ndim):
        same_as_python(lambda x, axis=axis: np.argmax(x, axis=axis), x)
        same_as_python(lambda x, axis=axis: np.argmin(x, axis=axis, keepdims=True), x)
    same_as_python(lambda x: x.argmin(), x)
    same_as_python(lambda x: np.argmax(x, keepdims=True), x)


# --- made of run-time sizes -------------------------------------------------------------------


def warped(x, y):
    n, m = len(x), len(y)
    table = np.full((n + 1, m + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(x[i - 1] - y[j - 1])
            table[i, j] = cost + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[n, m]


def test_dynamic_time_warping():
    x, y = np.array([1.0, 2.0, 4.0, 3.0]), np.array([1.0, 3.5, 3.0])
    same_as_python(warped, x, y)
    same_as_python(wg.grad(warped, 0), x, y)
    same_as_python(wg.grad(warped, 1), x, y)
    assert wg.jit(warped)(x, x) == 0.0


@pytest.mark.parametrize("value", [1, 2.5, True, np.float32(2.0), np.int64(3)])
def test_full(value):
    same_as_python(lambda n, v: np.full((n, 2), v), 3, value)
    same_as_python(lambda n, v: np.full(n, v), 3, value)
    same_as_python(lambda n, v: np.full((n,), v, dtype=float), 3, value)
    same_as_python(lambda x, v: np.full(x.shape, v), np.ones((2, 3)), value)
    same_as_python(lambda n, v: np.full(-n, v), 3, value)


def test_the_gradient_of_full():
    f = lambda v, n: np.sum(np.full((n, n + 1), v) ** 2)
    assert wg.grad(f)(1.5, 3) == 36.0
    assert wg.jit(wg.grad(f), strict=True)(1.5, 3) == 36.0
    rows = lambda v: np.sum(np.full((2, 3), v) * np.arange(6.0).reshape(2, 3))
    assert wg.grad(rows)(np.ones(3)).tolist() == [3.0, 5.0, 7.0]


def of_steps(x, start, stop, step):
    total = 0.0
    for k in range(start, stop, step):
        total += x[k % len(x)] * (k + 1)
    return total


@pytest.mark.parametrize("step", [1, 2, 7, -1, -3, 0])
@pytest.mark.parametrize("stop", [5, 0, -7, 3])
@pytest.mark.parametrize("start", [0, 3, -2])
def test_ranges_with_computed_steps(start, stop, step):
    x = np.array([1.0, -2.0, 0.5])
    same_as_python(of_steps, x, start, stop, step)
    same_as_python(lambda a, b, c: np.arange(a, b, c), start, stop, step)


def test_the_gradient_of_a_loop_with_a_computed_step():
    x = np.array([1.0, -2.0, 0.5])
    same_as_python(wg.grad(of_steps), x, 6, -1, -2)


# --- sums -------------------------------------------------------------------------------------

SUMMED = [
    np.array([1e16, 1.0, -1e16]),
    np.array([-0.0]),
    np.array([0.1, 0.2, 0.3], np.float32),
    np.arange(4),
    np.array([True, True]),
    np.array([]),
    np.array([[1.0, 2.0], [3.0, 4.5]]),
    np.array([[1, 2], [3, 4]]),
]


@pytest.mark.parametrize("x", SUMMED)
def test_python_s_own_sum_of_an_array(x):
    same_as_python(lambda x: sum(x), x)


def test_python_s_own_sum_from_a_start_on():
    same_as_python(lambda x: sum(x, 2), np.array([1e16, 1.0, -1e16]))
    same_as_python(lambda x: sum(x, 2.5), np.arange(4))


def test_the_gradient_of_python_s_own_sum_of_an_array():
    x = np.array([1.0, 2.0, 3.0])
    assert wg.jit(wg.grad(lambda x: sum(x[1:]) * x[0]), strict=True)(x).tolist() == [5.0, 1.0, 1.0]
    table = np.ones((2, 3))
    found = wg.jit(wg.grad(lambda m: np.sum(sum(m) ** 2)), strict=True)(table)
    assert found.tolist() == np.full((2, 3), 4.0).tolist()


# --- lists ------------------------------------------------------------------------------------


def test_arrays_of_lists_of_another_type():
    x = np.array([1.0, 2.5])
    same_as_python(lambda x: np.array([int(v) for v in x], dtype=float), x)
    same_as_python(lambda x: np.array([v * 2 for v in x], dtype=np.float32), x)
    same_as_python(lambda x: np.array([v > 1 for v in x], dtype=float), x)


def test_arrays_of_lists_of_rows():
    def stacked(table, factor):
        rows = []
        for row in table:
            rows.append(row * factor)  # noqa: PERF401
        return np.array(rows)

    table = np.arange(6.0).reshape(2, 3)
    same_as_python(stacked, table, 1.5)
    same_as_python(stacked, table[:0], 1.5)
    same_as_python(wg.grad(lambda m, s: np.sum(stacked(m, s) ** 2)), table, 1.5)


def test_lists_of_the_items_of_an_array():
    def grown(x, n):
        items = list(x)
        for k in range(n):
            items.append(np.float64(k) + len(items))
        return np.array(items)

    for size in (0, 3):
        same_as_python(grown, np.arange(1.0, 1.0 + size), 40)


def test_a_write_to_a_row_of_a_list_is_one_to_the_array():
    def f(x):
        y = x * 2.0
        rows = list(y)
        rows[0][0] = 7.0
        return y.sum()

    def g(x):
        y = x * 2.0
        rows = list(y)
        y[0, 0] = 7.0
        return rows[0].sum()

    for function in (f, g):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert wg.jit(function)(np.ones((2, 2))) == function(np.ones((2, 2)))


def test_lists_of_integers_of_python_s_and_numpy_s():
    def f(x, n):
        chosen = [(i if x[i] > 0.0 else n[i]) for i in range(len(x))]
        total = 0
        for k in chosen:
            total += k
        return total

    compiled = same_as_python(f, np.array([1.0, -1.0, 2.0]), np.array([5, 6, 7]))
    assert compiled.exits == 0


# --- numbers ----------------------------------------------------------------------------------

NUMBERS = [1.1, -2.7, 2, True, np.float32(1.1), np.int64(4), np.array(2.0), 2**60 + 1]


@pytest.mark.parametrize("x", NUMBERS)
def test_scalars_of_numpy(x):
    same_as_python(lambda x: np.float64(x), x)
    same_as_python(lambda x: np.float32(x), x)
    same_as_python(lambda x: np.int64(x), x)


@pytest.mark.parametrize("shift", [operator.lshift, operator.rshift])
@pytest.mark.parametrize("n", [0, 1, 62, 63, 64, 100, -1, np.int64(2)])
@pytest.mark.parametrize("x", [0, 1, -7, 2**40, -(2**62), 2**63 - 1, True, np.int64(-9)])
def test_shifts(x, n, shift):
    same_as_python(lambda x, n: shift(x, n), x, n)


def test_shifts_of_arrays_and_their_text():
    compiled = same_as_python(lambda x: (x >> 2) + (x << 3), np.array([5, -7, 2**62]))
    assert ">> 2" in compiled.source
    assert "<< 3" in compiled.source
    assert ">> " in compiled.c_source


# --- searching --------------------------------------------------------------------------------

HAYSTACKS = [  # sorted: what is found in others depends on NumPy's version
    np.array([-INF, -0.0, 0.0, 1.0, 1.0, 2.5, INF, NAN]),
    np.array([-1.0, 0.0, 1.0, 2.0, 3.0, 5.0, NAN, NAN]),
    np.array([1, 3, 3, 7]),
    np.array([]),
]
NEEDLES = [
    np.array([NAN, 1.0, -5.0, 0.0, 2.5, 7.0, 1.0, -INF, INF, 3.0]),
    np.array([[1.0, 3.0], [2.0, 0.0]]),
    np.array([3, 0, 9]),
    1.0,
    3,
    NAN,
    np.float64(2.5),
]


@pytest.mark.parametrize("x", HAYSTACKS)
@pytest.mark.parametrize("values", NEEDLES)
def test_searchsorted(x, values):
    same_as_python(lambda x, v: np.searchsorted(x, v), x, values)
    same_as_python(lambda x, v: np.searchsorted(x, v, side="right"), x, values)


# --- text in exceptions -----------------------------------------------------------------------


def by_percent(x, k):
    if x > 1.0:
        raise ValueError("%d is beyond %g" % (k, x))  # noqa: UP031
    return x


def by_format(x, k):
    message = f"{k} is beyond {x:.3f}"
    if x > 1.0:
        raise ValueError(message)
    return x


def by_parts(x, k):
    if x > 1.0:
        raise ValueError("beyond " + str(k) + ": " + repr(x))
    return x


def by_f_string(x, k):
    if x > 1.0:
        raise ValueError(f"{k:>4} is beyond {x!r}")
    return x


@pytest.mark.parametrize("f", [by_percent, by_format, by_parts, by_f_string])
def test_messages_of_exceptions(f):
    for x in (0.5, 1.5):
        same_as_python(f, x, 3)
        same_as_python(wg.grad(f), x, 3)


# --- gradients that are integers --------------------------------------------------------------


def test_cotangents_of_items_that_are_integers():
    def f(x, bins):
        low, high = np.min(x), np.max(x)
        counts = np.zeros(bins, dtype=int)
        total = 0.0
        for v in x:
            b = min(int((v - low) / (high - low) * bins), bins - 1)
            counts[b] += 1
            total += v * b
        return total + counts.max()

    x = np.array([0.1, 0.9, 0.4, 0.45, 0.0, 1.0])
    same_as_python(f, x, 3)
    same_as_python(wg.grad(f), x, 3)


def test_arrays_of_branches_that_are_not_taken():
    def f(points, centers):
        for k in range(len(centers)):
            if centers[k, 0] > 0.0:
                centers = centers.copy()
                centers[k] = points[k] / centers[k, 0]
        return np.sum(centers**2)

    points, centers = np.arange(6.0).reshape(3, 2), np.array([[1.0, 2.0], [-1.0, 0.5], [3.0, 1.0]])
    for argnum in (0, 1):
        compiled = same_as_python(wg.grad(f, argnum), points, centers)
        assert compiled.exits == 0


# --- walking backwards, turning, tables of lists ----------------------------------------------


def backwards(d, b):
    n = len(d)
    x = np.zeros(n)
    x[-1] = b[-1] / d[-1]
    for i in reversed(range(n - 1)):
        x[i] = (b[i] - 0.3 * x[i + 1]) / d[i]
    return np.sum(x * np.arange(1.0, n + 1.0))


def test_ranges_that_are_reversed_or_cut():
    d, b = np.array([1.0, 2.0, 4.0]), np.array([3.0, -1.0, 0.5])
    same_as_python(backwards, d, b)
    same_as_python(wg.grad(backwards), d, b)

    def of_part(x, n):
        total = 0.0
        for k in range(1, n, 2)[::-1]:
            total = total * 0.5 + x[k]
        for k in range(n, 0, -1)[1:-1]:
            total = total * 0.5 + x[k]
        return total

    for n in (0, 1, 5, 6):
        same_as_python(of_part, np.arange(1.0, 8.0), n)


TURNED = [
    lambda x, s: np.roll(x, s, axis=0),
    lambda x, s: np.roll(x, s, axis=1),
    lambda x, s: np.roll(x, s, axis=-1),
]


@pytest.mark.parametrize("f", TURNED)
@pytest.mark.parametrize("shift", [0, 1, -2, 7])
def test_turning_an_array_along_an_axis(f, shift):
    table = np.arange(12.0).reshape(3, 4)
    same_as_python(f, table, shift)
    weights = np.sin(table)
    same_as_python(wg.grad(lambda x, s, w: np.sum(f(x, s) * w)), table, shift, weights)


def test_cotangents_of_arrays_in_lists():
    def recurrent(xs, h, a):
        states = []
        for x in xs:
            h = np.tanh(a * h + x)
            states.append(h)
        return np.sum(states[-1]) + np.mean(np.stack(states) ** 2)

    xs, h = np.sin(np.arange(8.0)).reshape(4, 2), np.array([0.1, -0.2])
    gradient = wg.jit(wg.grad(recurrent), strict=True)(xs, h, 0.5)
    np.testing.assert_allclose(gradient, wg.grad(recurrent)(xs, h, 0.5), rtol=1e-13)


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_cotangents_of_lists_of_rows_of_several_lengths():
    def f(x):
        parts = []
        for k in range(1, len(x)):
            parts.append(x[:k] * k)  # noqa: PERF401
        return np.sum(parts[-1] ** 2) + np.sum(parts[0]) * sum([part[0] for part in parts])

    x = np.array([1.0, -2.0, 0.5, 3.0])
    gradient = wg.jit(wg.grad(f))(x)
    np.testing.assert_allclose(gradient, wg.grad(f)(x), rtol=1e-13)


def test_the_gradient_of_a_total_that_is_left_early():
    def mean_of_squares(x):
        total, count = 0.0, 0
        for v in x:
            if v < -0.5:
                continue
            total += v * v
            count += 1
            if count > 3:
                break
        return total / count if count else 0.0

    for x in ([1.0, -2.0, 0.5, 3.0, 2.0, 9.0], [-1.0], [0.25]):
        same_as_python(wg.grad(mean_of_squares), np.array(x))


def test_tables_of_lists():
    def table(x, n):
        rows = [[float(i + j) for j in range(n)] for i in range(n)]
        i = 0
        while i < n:
            rows[i][n - 1 - i] += x * i
            rows[i][-1] *= 2.0
            i += 1
        return sum(sum(row) for row in rows)

    def beyond(x, n):
        rows = [[float(i + j) for j in range(n)] for i in range(n)]
        rows[0][n] = x
        return rows[0][0]

    same_as_python(table, 1.5, 4)
    same_as_python(beyond, 1.5, 4)


def shared(x, n):
    rows = [[0.0 for _ in range(n)] for _ in range(n)]
    row = rows[1]
    row[1] = x
    return rows[1][1]


def repeated(x, n):
    row = [0.0 for _ in range(n)]
    rows = [row for _ in range(n)]
    rows[0][1] = x
    return rows[2][1]


def swapped(x, n):
    rows = [[float(i + j) for j in range(n)] for i in range(n)]
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][0] = x
    return rows[0][0] * 10 + rows[1][0]


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("f", [shared, repeated, swapped])
def test_rows_with_two_names(f):
    assert outcome(wg.jit(f), 1.5, 4) == outcome(f, 1.5, 4)


# --- short loops ------------------------------------------------------------------------------


def of_rows(x):
    total = 0.0
    for row in x:
        total += np.log(np.sum(np.exp(row)))
    return total


@pytest.mark.parametrize("width", [3, 8, 14, 63, 64, 65, 200])
def test_elementary_functions_in_rows_have_a_form_for_short_ones(width):
    x = np.linspace(-3.0, 3.0, 5 * width).reshape(5, width)
    compiled = wg.jit(wg.grad(of_rows), strict=True)
    np.testing.assert_allclose(compiled(x), wg.grad(of_rows)(x), rtol=1e-14)
    assert "llvm.loop.vectorize.predicate.enable" in compiled.llvm


def test_loops_in_two_others_take_one_vector_at_once():
    def nearest(points, centres):
        return sum(np.min(np.sum((point - centres) ** 2, axis=1)) for point in points)

    points = np.arange(60.0).reshape(4, 15) % 7
    compiled = wg.jit(nearest, strict=True)
    assert compiled(points, points[:2]) == nearest(points, points[:2])
    assert "llvm.loop.interleave.count" in compiled.llvm


# --- indices beside slices, lists of indices ---------------------------------------------------


def rows_put_in_order(a):
    """Gauss's method on a copy, with the largest pivot: rows are exchanged from the pivot on."""
    a = a.copy()
    n, order, total = len(a), list(range(len(a))), 0.0
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i, k]))
        if p != k:
            a[[k, p], k:] = a[[p, k], k:]
            order[k], order[p] = order[p], order[k]
        for i in range(k + 1, n):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
        total += a[k, k] ** 2
    return total + (a[order, 1:-1] * np.arange(1.0, n + 1)[:, None]).sum()


def chosen_by_a_list(a):
    positive = []
    for i in range(len(a)):
        if a[i, i] > 0:
            positive.append(i)  # noqa: PERF401 (what is tested)
    inner = a[1:, positive]
    a = a.copy()
    a[positive, ::2] *= 2.0
    return (inner**2).sum() + (a[::-1, positive] ** 3).sum() + (a[0] ** 2).sum()


@pytest.mark.parametrize("f", [rows_put_in_order, chosen_by_a_list])
def test_arrays_of_indices_beside_slices(f):
    a = np.random.default_rng(0).normal(size=(5, 5))
    for g in (f, wg.grad(f)):
        compiled = wg.jit(g, strict=True)
        np.testing.assert_allclose(compiled(a), g(a), rtol=1e-12)
        assert compiled.exits == 0


def test_an_index_out_of_bounds_beside_a_slice():
    def f(a, k):
        return a[[0, k], 1:].sum()

    compiled = same_as_python(f, np.ones((3, 3)), -3)
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        compiled(np.ones((3, 3)), 3)
