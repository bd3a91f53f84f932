"""What native code can say beyond numbers and plain loops: masks, lists of indices, `try`, diagonals …

Values and gradients, with the Python form as the reference.
"""

import copy
import math

import numpy as np
import pytest
import trees

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def native(f, *args, gradient=True, rel=1e-11, exits=0):
    """Value and gradient are native, and what the Python form gives; arguments are changed alike."""
    for form in (f, wg.value_and_grad(f)) if gradient else (f,):
        compiled = wg.jit(form, strict=True)
        mine, theirs = copy.deepcopy(args), copy.deepcopy(args)
        found, expected = compiled(*mine), form(*theirs)
        trees.assert_close(found, expected, rel=rel)
        trees.assert_close(list(mine), list(theirs), rel=rel)
        assert type(found) is type(expected)
        assert compiled.exits == exits


def numbers(*shape):
    return np.random.default_rng(len(shape)).uniform(0.2, 1.5, shape)


# --- masks and lists of indices -----------------------------------------------------------


def large_ones(a):
    return (a[a > 0.7] ** 2).sum()


def clipped(a):
    b = a.copy()
    b[b > 0.7] = 0.5
    return (b * b).sum()


def changed_where(a):
    b = a.copy()
    chosen = b < 0.9
    b[chosen] = b[chosen] * 2.0 + 1.0
    b[~chosen] += 1.0
    return (b * a).sum()


@pytest.mark.parametrize("f", [large_ones, clipped, changed_where])
@pytest.mark.parametrize(
    "a",
    [numbers(9), numbers(3, 4), numbers(2, 3, 2), -numbers(5), numbers(0), numbers(6)[::-1]],
    ids=["vector", "matrix", "stack", "none", "empty", "reversed"],
)
def test_masks(f, a):
    native(f, a)


def test_masks_along_an_axis():
    native(lambda a: a[:, [True, False, True]].sum(), numbers(5, 3))
    native(lambda a: (a[a[:, 0] > 0.5] ** 2).sum(), numbers(5, 3))


def test_a_mask_of_another_shape():
    compiled = wg.jit(lambda a, m: a[m].sum(), strict=True)
    with pytest.raises(IndexError):
        compiled(numbers(4), np.array([True, False, True]))


def test_lists_of_indices():
    native(lambda a: (a[[0, 2]] ** 2).sum(), numbers(5))
    native(lambda a: (a[[0, -1]] ** 2).sum(), numbers(5, 2))

    def swapped(a):
        b = a.copy()
        b[[0, 2]] = b[[2, 0]] * 2.0
        return (b * a).sum()

    native(swapped, numbers(4, 3), gradient=False)


# --- try -----------------------------------------------------------------------------------


def guarded(x, y):
    try:
        z = x / y
    except ZeroDivisionError:
        z = 0.0
    return z * z


def every_clause(x, y):
    total = 0.0
    try:
        z = x / y
        total += math.log(z)
    except (ZeroDivisionError, ValueError):
        z = 1.0
    else:
        total *= 2.0
    finally:
        total += x
    return total * z


def in_a_loop(x):
    total = 0.0
    for k in range(4):
        try:
            total += math.sqrt(x - k)
        except ValueError:
            total -= x * k
    return total


@pytest.mark.parametrize(
    ("f", "args", "exits"),
    [
        (guarded, (2.0, 3.0), 0), (guarded, (2.0, 0.0), 1), (every_clause, (2.0, 3.0), 0),
        (every_clause, (2.0, -3.0), 1), (in_a_loop, (5.0,), 0), (in_a_loop, (1.5,), 1),
    ],
)  # fmt: skip
def test_try_runs_its_body_and_leaves_exceptions_to_python(f, args, exits):
    native(f, *args, exits=exits)


# --- powers --------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [1.5, 0.0, -2.0, np.float64(0.75)])
@pytest.mark.parametrize("y", [0.0, 1.0, 2.0, 3])
def test_derivatives_of_powers(x, y):
    native(lambda x, y: x**y, x, y)
    native(lambda x, y: wg.grad(lambda t: t**y * t)(x), x, y)


def test_derivatives_of_powers_of_arrays():
    native(lambda x, y: (x**y).sum(), numbers(3), np.array([0.0, 1.0, 2.5]))
    native(lambda x, y: (x**y).sum(), np.array([0.0, 1.5]), 2.0)


# --- matrices ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 4), (4, 3), (3, 4)])
def test_diagonals_and_triangles(shape):
    native(lambda a: (np.diag(a) * 2.0).sum() + np.trace(a) ** 2, numbers(*shape))
    native(lambda a: (np.diag(a, 1) ** 2).sum() + (np.diagonal(a, -1) ** 3).sum(), numbers(*shape))
    native(lambda a: (np.tril(a) * np.triu(a, -1)).sum(), numbers(*shape))


def test_matrices_of_a_diagonal():
    native(lambda v: (np.diag(v) @ np.diag(v * v, 1)[:-1, :-1]).sum(), numbers(4))


def test_variances_along_an_axis():
    native(lambda a: (a.var(axis=0) ** 2).sum(), numbers(3, 4, 2))
    native(lambda a: (a.var(axis=(0, 2), ddof=1) ** 2).sum(), numbers(3, 4, 2))
    native(lambda a: (a.std(axis=1, keepdims=True) * a).sum(), numbers(3, 4, 2))


@pytest.mark.parametrize("bounds", [(0.0, 1.0, 0.1), (3.5,), (0.5, 4), (1.0, 0.0), (2, -1.0, -0.5)])
def test_ranges_of_floats(bounds):
    found = wg.jit(lambda: np.arange(*bounds), strict=True)()
    assert np.array_equal(found, np.arange(*bounds))
    native(lambda x: (np.arange(*bounds) * x).sum(), 2.0)


# --- several indices, clipping ---------------------------------------------------------------


def changed_at(a, i, j):
    b = a.copy()
    b[i, j] = b[i, j] * 3.0
    b[np.arange(2), j] += 1.0
    return (b * a).sum()


def replaced(a, i):
    b = a.copy()
    b[i] = a[:3] * 2.0
    return (b * b).sum()


def test_several_arrays_of_indices():
    native(lambda a: (a[np.array([0, 2]), np.array([1, -1])] ** 2).sum(), numbers(4, 3))
    native(lambda a: (a[[0, 2], 1] ** 2).sum() + a[1, [0, 0]].sum(), numbers(4, 3))
    native(lambda a: (a[:, [0, 2], [1, 0]] ** 2).sum(), numbers(2, 3, 2))
    native(changed_at, numbers(4, 3), np.array([0, 2]), np.array([1, -1]))
    native(replaced, numbers(4), np.array([0, 2, 1]))


def test_an_index_that_names_an_element_twice_is_left_to_python():
    compiled = wg.jit(wg.value_and_grad(replaced), strict=True)
    args = numbers(4), np.array([0, 2, 0])
    trees.assert_close(compiled(*args), wg.value_and_grad(replaced)(*args), rel=1e-12)
    assert compiled.exits == 1


@pytest.mark.parametrize("index", [np.array([0, 5]), np.array([-5, 0])])
def test_an_index_among_several_that_is_out_of_range(index):
    with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 4"):
        wg.jit(lambda a, i: a[i, i], strict=True)(numbers(4, 4), index)


def test_clipping():
    native(lambda a, x: (np.clip(a, 0.5, x) ** 2).sum(), numbers(5), 1.0)
    native(lambda a: (a.clip(0.5, None) ** 2).sum(), numbers(5))
    native(lambda a: (np.clip(a, None, a * 0.9) ** 2).sum(), numbers(5))


# --- lists ---------------------------------------------------------------------------------


def summed(x, n):
    xs = []
    for k in range(n):
        xs.append(x * k)  # noqa: PERF401 - it is the loop that is tested
    return sum(xs)


def extremes(x, n):
    xs = []
    for k in range(n):
        xs.append(math.sin(x * k))  # noqa: PERF401 - as above
    return max(xs) - min(xs) * 2.0


def products_of_neighbours(v, n):
    total = 0.0
    for i in range(1, n):
        total += v[i] * v[i - 1]
    return total


def chosen_places(x, day):
    head = [x, 2.0 * x, 3.0 * x]
    for k in range(5):
        head[(k + day) % 3] += x * head[k % 3]
    return head[0] + head[1] * head[2]


def test_lists_of_numbers():
    native(summed, 1.5, 5)
    native(lambda x, n: sum([x for _ in range(n)], x), 0.1, 10)
    native(extremes, 1.5, 5)
    native(products_of_neighbours, [1.0, 2.0, 3.5], 3)
    native(chosen_places, 0.5, 1)


@pytest.mark.parametrize("n", [0, 3])
def test_the_sum_of_no_numbers_is_an_integer(n):
    compiled = wg.jit(summed, strict=True)
    assert type(compiled(1.5, n)) is type(summed(1.5, n)) is (float if n else int)


def test_sums_of_integers_and_sums_that_cancel():
    def squares(n):
        xs = []
        for k in range(n):
            xs.append(k * k)  # noqa: PERF401 - as above
        return sum(xs)

    def cancelling(a, b, n):
        xs = []
        for k in range(n):
            xs.append(a if k % 2 else b)  # noqa: PERF401 - as above
        xs.append(-a)
        return sum(xs)

    native(squares, 7, gradient=False)
    native(cancelling, 1e16, 1.0, 3, gradient=False)  # Python 3.12 keeps what is rounded away


def test_parts_of_lists_are_copies():
    def f(x, n):
        xs = [x * k for k in range(n)]
        ys = xs[1:-1]
        ys[0] = 5.0 * x
        return sum(xs) + sum(ys) + ys[-1]

    native(f, 1.25, 6)


def joined(x, n):
    xs = [x * k for k in range(n)]
    total = 0.0
    for i, y in enumerate([x] + xs + [2.0 * x, 3.0 * x]):  # noqa: RUF005 - `+` is tested
        total += i * y * y
    return total


def reached(x, n):
    total = 0.0
    for v in [x * k for k in range(n)]:
        if v > 2.0:
            break
        total += v * v
    return total


def backwards(x, n):
    total = 0.0
    for v in reversed([x * k for k in range(n)]):
        total = total * 0.5 + v * v
    return total


@pytest.mark.parametrize("f", [joined, reached, backwards])
@pytest.mark.parametrize("n", [1, 5])
def test_loops_over_lists_whose_items_have_cotangents(f, n):
    native(f, 1.2, n)


# --- sorting -------------------------------------------------------------------------------


def ordered(x, n):
    xs = [math.sin(7.0 * x * k) for k in range(n)]
    ys = sorted(xs)
    xs.sort(reverse=True)
    total = 0.0
    for i, y in enumerate(ys):
        total += i * y
    return total + xs[0] * ys[1]


def order_of_equal_numbers(n):
    forwards = sorted(range(n), key=lambda k: (k * 7) % 4)
    down = sorted(range(n), key=lambda k: (k * 7) % 4, reverse=True)
    return sum([i * k for i, k in enumerate(forwards)]) + 1000 * sum(
        [i * k for i, k in enumerate(down)]
    )


@pytest.mark.parametrize("n", [2, 5, 8, 17])
def test_sorting_lists(n):
    native(ordered, 1.3, n)
    native(order_of_equal_numbers, n, gradient=False)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_sorting_arrays(n):
    native(lambda a: (np.sort(a) * np.arange(len(a))).sum(), numbers(n))
    native(lambda a: a[np.argsort(a)] * 2.0, numbers(n), gradient=False)
    native(lambda a: np.argsort(a, kind="stable"), np.ones(n), gradient=False)


def test_orders_that_numpy_decides_are_left_to_it():
    native(lambda a: np.argsort(a), np.ones(5), gradient=False, exits=1)
    compiled = wg.jit(lambda a: np.sort(a), strict=True)
    found = compiled(np.array([math.nan, 1.0, 0.5]))
    assert found[:2].tolist() == [0.5, 1.0]
    assert math.isnan(found[2])
    assert compiled.exits == 1


def test_extremes_by_a_key():
    native(lambda xs: min(xs, key=lambda t: abs(t - 2.0)) * max(xs), [1.0, 2.5, 7.0])


# --- truth values and integers ------------------------------------------------------------


def in_order(a, b):
    return a < b, a > b, a <= b, a >= b, max(a, b), min(a, b)


def weight_of_one_side(x, y):
    return x * x if (x > 1) < (y > 1) else -x


def first_above_one(x):
    return x[np.argmax(x > 1.0)]


def test_truth_values_are_ordered():
    for a, b in ((False, True), (True, False), (True, True)):
        found = wg.jit(in_order, strict=True)(a, b)
        assert found == in_order(a, b)
        assert set(map(type, found)) == {bool}
    native(weight_of_one_side, 0.5, 2.0)
    native(first_above_one, np.array([0.5, 2.0, 3.0]))
    native(lambda b: np.sort(b), np.array([True, False, True]), gradient=False)
    native(lambda a, b: a < b, np.array([True, False]), np.array([False, True]), gradient=False)


@pytest.mark.parametrize("spread", [np.var, np.std])
@pytest.mark.parametrize("dtype", ["int64", "bool", "float32"])
def test_the_mean_of_whole_numbers_is_none(spread, dtype):
    x = np.array([1, 0, 7, 4]).astype(dtype)
    native(lambda x: spread(x), x, gradient=False, rel=1e-6)


def test_text_in_a_result():
    def named(x, name):
        return 2 * x, name

    compiled = wg.jit(named, strict=True)
    assert [compiled(1.0, "a"), compiled(1.0, "a"), compiled(2.0, "b")] == [
        (2.0, "a"), (2.0, "a"), (4.0, "b"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("f", "x", "reason"),
    [
        (
            lambda x: (x[0] > 0.5) + (x[1] > 0.5),
            np.ones(2),
            "truth values, in numbers of 8 or 16 bits",
        ),
        (lambda x: np.reciprocal(x), np.array([2, 3]), "NumPy computes this with integers"),
        (lambda x: np.fmod(x, 2), np.array([2, 3]), "NumPy computes this with integers"),
        (lambda x: np.any(x), 2.5, "whether a number is one at all"),
    ],
)
def test_what_numpy_computes_otherwise_is_left_to_python(f, x, reason):
    with pytest.raises(wg.WengertError, match=f"{reason}, and is in a loop"):
        wg.jit(lambda x, n: [f(x) for _ in range(n)], strict=True)(x, 3)


# --- comprehensions with conditions -------------------------------------------------------


def mean_of_large(x):
    large = [v for v in x if v > 0.8]
    return sum(large) / len(large)


def of_pairs(x):
    pairs = [(v, v * v) for v in x]
    return sum(p[1] * p[0] for p in [p for p in pairs if p[0] > 0.7])


@pytest.mark.parametrize(
    "f",
    [
        mean_of_large,
        lambda x: np.array([v * v for v in x if v > 0.8]).sum(),
        lambda x: max(v * 2 for v in x if v > 0.7),
        lambda x: np.mean([math.sin(v) for v in x if v > 0.5 if v < 1.2]),
    ],
)
def test_chosen_items(f):
    native(f, np.array([1.0, 0.3, 2.0, 0.9, 0.6]))


def test_chosen_items_of_other_kinds():
    x = np.array([1.0, 0.3, 2.0])
    native(of_pairs, x, gradient=False)
    native(lambda n: [k for k in range(n) if k % 2], 7, gradient=False)
    native(lambda n: [k for k in range(n) if k % 2], 0, gradient=False)
    native(lambda x: [(v, k) for k, v in enumerate(x) if v > 0.5], x, gradient=False)
    native(lambda x: [x * v for v in x if v > 0.5], x, gradient=False)


# --- repeated lists, pieces, integers of floats -------------------------------------------


def repeated(x, n):
    r = [x] * n
    for k in range(n):
        r[k] -= 0.5 * k
    return r[0] * r[1]


def in_cells(p):
    cell = np.floor(p).astype(int)
    return p[cell[0]] * 2 + cell.sum()


def on_the_diagonal(a):
    b = a.copy()
    b[np.diag_indices(len(b))] += 1.0
    return b.sum() * b[0, 0]


def three_pieces(a):
    first, second, third = np.split(a, [1, 2], axis=1)
    return (first * second * third).sum()


def two_pieces(x):
    a, b = np.split(x, 2)
    return (a * b).sum()


def test_repeated_lists():
    native(repeated, 1.5, 3)
    native(lambda x, n: sum([x, 2 * x] * n), 1.5, 3)
    native(lambda x, n: [x] * n, 1.5, 3, gradient=False)
    native(lambda x, n: [x] * n, 1.5, 0, gradient=False)
    native(lambda n: [0] * n, 3, gradient=False)


def test_floats_as_integers():
    native(in_cells, np.array([1.2, 2.7, 0.1]))
    native(lambda x: x.astype(int), np.array([1.2, -2.7, 0.1]), gradient=False)
    compiled = wg.jit(lambda x: x.astype(int), strict=True)
    with pytest.warns(RuntimeWarning):
        compiled(np.array([1.0, math.nan]))
    assert compiled.exits == 1


def test_pieces():
    native(two_pieces, numbers(6))
    native(three_pieces, numbers(4, 3))
    native(lambda x: np.split(x, [1, 10])[1].sum(), numbers(4))
    compiled = wg.jit(two_pieces, strict=True)
    with pytest.raises(ValueError, match="equal division"):
        compiled(numbers(5))


def test_indices_of_a_diagonal():
    native(lambda a: a[np.diag_indices(3)].sum(), numbers(3, 3))
    native(on_the_diagonal, numbers(3, 3), gradient=False)
