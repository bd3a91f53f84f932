"""Small arrays of known sizes, arrays whose sizes change in loops, and parts of arrays that branches choose."""

import math

import numpy as np
import pytest
import trees

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def native(f, *args):
    """Value and gradient are native, without exits, and what the Python form gives."""
    for form in (f, wg.value_and_grad(f)):
        compiled = wg.jit(form, strict=True)
        trees.assert_close(compiled(*args), form(*args), rel=1e-11)
        assert compiled.exits == 0
    return compiled


def numbers(*shape):
    return np.random.default_rng(sum(shape)).uniform(0.2, 1.5, shape)


# --- arrays of known sizes ----------------------------------------------------------------


def likelihood(z, q, r):
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    H = np.array([1.0, 0.0])
    x, P, total = np.zeros(2), np.eye(2), 0.0
    for k in range(len(z)):
        x = F @ x
        P = F @ P @ F.T + q * np.eye(2)
        S = H @ P @ H + r
        K = P @ H / S
        y = z[k] - H @ x
        x = x + K * y
        P = P - np.outer(K, H @ P)
        total -= 0.5 * (math.log(S) + y * y / S)
    return total


def test_small_arrays_are_local():
    compiled = native(likelihood, numbers(9), 0.1, 0.2)
    source = wg.jit(likelihood, strict=True)
    source(numbers(9), 0.1, 0.2)
    assert "new" not in source.source
    assert "local f64[4]" in source.source
    assert "alloca [4 x double]" in compiled.llvm


def exchanged(a, n):
    x, y = np.array([a[0], 2.0, 3.0]), np.array([4.0, a[1], 6.0])
    for _ in range(n):
        x, y = y * 2.0, x
    return (x * y * np.array([1.0, 10.0, 100.0])).sum()


def kept_for_later(a):
    x, before = np.array([a[0], a[1]]), np.array([0.0, 1.0])
    total = 0.0
    for v in a:
        before, x = x, np.array([x[1] * v, x[0] + before[1]])
        total += before[0] * x[1]
    return total


def chosen(a):
    x = np.array([a[0], a[1], a[2]])
    for v in a:
        if v > 0.7:
            x = x * v
        elif v > 0.5:
            x = x[::-1]
    return x[0] + 2.0 * x[1] * x[2]


def changed_in_place(a):
    x = np.zeros(3)
    for k in range(len(a)):
        y = x + 1.0
        y[k % 3] += a[k]
        x = y * 0.5
    return (x * x).sum()


@pytest.mark.parametrize("f", [kept_for_later, chosen, changed_in_place])
def test_small_arrays_in_loops(f):
    native(f, numbers(7))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_small_arrays_that_change_places(n):
    native(exchanged, numbers(2), n)


# --- arrays whose sizes change ------------------------------------------------------------


def shrinking(a):
    total = 0.0
    while len(a) > 1:
        total += (a[1:] * a[:-1]).sum()
        a = a[1:]
    return total


def growing(a):
    kept = np.array([])
    for v in a:
        kept = np.append(kept, v * v)
    return (kept * kept).sum()


def joined(a):
    kept = np.zeros(0)
    for k in range(len(a)):
        kept = np.concatenate([kept, a[:k]])
    return (kept**2).sum()


def folded(a):
    while a.shape[0] > 1:
        half = a.shape[0] // 2
        a = a[:half] + 2.0 * a[half : 2 * half]
    return a[0]


def eliminated(a):
    total = 1.0
    a = a[:, None] * a + np.eye(len(a))
    while a.shape[0] > 1:
        total = total * a[0, 0]
        a = a[1:, 1:] - a[1:, :1] * a[:1, 1:] / a[0, 0]
    return total * a[0, 0]


def filtered(a):
    total = 0.0
    for k in range(4):
        a = a[a > 0.3 * k]
        total += a.sum()
    return total


def rows_appended(a):
    rows = np.stack([a, 2.0 * a])
    for v in a:
        rows = np.vstack([rows, v * rows[-1:]])
    return (rows**2).sum()


def last_ones(a):
    kept, total = a[:0], 0.0
    for v in a:
        kept = np.append(kept, v)
        if len(kept) > 3:
            kept = kept[1:]
        total += kept.mean() ** 2
    return total


CHANGING = [shrinking, growing, joined, folded, eliminated, filtered, rows_appended, last_ones]


@pytest.mark.parametrize("f", CHANGING)
@pytest.mark.parametrize("n", [1, 2, 8])
def test_arrays_whose_sizes_change(f, n):
    native(f, numbers(n))


# --- parts that branches and loops choose -------------------------------------------------


def part_or_whole(a, c):
    b = a[1:] if c > 0 else a
    return (b * b).sum()


def turned_or_not(a, c):
    b = a.T if c > 0 else a
    return (b[0] ** 2).sum()


def turned_in_a_loop(a, n):
    b = a[:2, :2]
    for _ in range(n):
        b = b.T
    return (b * np.array([[1.0, 2.0], [3.0, 4.0]])).sum()


def shorter_in_a_loop(a, n):
    b = a[:3]
    for _ in range(n):
        b = b[:-1]
    return (b * b).sum()


CHOOSING = [part_or_whole, turned_or_not, turned_in_a_loop, shorter_in_a_loop]


@pytest.mark.parametrize("f", CHOOSING)
@pytest.mark.parametrize("n", [-1, 0, 1, 2])
def test_parts_of_one_array(f, n):
    a = numbers(4, 4)
    for form in (f, wg.value_and_grad(f)):
        compiled = wg.jit(form, strict=True)
        trees.assert_close(compiled(a, n), form(a, n), rel=1e-11)


@pytest.mark.parametrize("n", [1, 3])
def test_slices_of_one_element(n):
    native(lambda a: (a[:1] * a + a[-1:] * a[0:1]).sum(), numbers(n))


def test_a_slice_of_nothing():
    compiled = wg.jit(lambda a: a[:1].sum() + a[-1:].sum(), strict=True)
    assert compiled(numbers(0)) == 0.0
    assert compiled.exits == 1


# --- lists that loops make anew -----------------------------------------------------------


def binomial_tree(s, k, n):
    up, rate = math.exp(0.1), 0.5
    values = [max(k - s * up ** (2 * j - n), 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        values = [rate * values[j + 1] + 0.49 * values[j] for j in range(i + 1)]
    return values[0]


def warped(a, b):
    before = [math.inf] * (len(b) + 1)
    before[0] = 0.0
    for x in a:
        row = [math.inf]
        for j in range(len(b)):
            row.append((x - b[j]) ** 2 + min(before[j], before[j + 1], row[j]))
        before = row
    return before[-1]


def coefficients(a):
    row = [1.0]
    for x in a:
        longer = [0.0] * (len(row) + 1)
        for k in range(len(row)):
            longer[k] += row[k]
            longer[k + 1] += x * row[k]
        row = longer
    return sum(v * v for v in row)


def test_lists_that_loops_make_anew():
    native(binomial_tree, 1.0, 1.1, 5)
    native(warped, numbers(5), numbers(4))
    native(coefficients, numbers(6))


def appended_and_made_anew(a):
    values, total = [1.0, 2.0], 0.0
    for x in a:
        values[0] = 5.0
        total += sum(values)
        values = [v * x for v in values]
        values.append(x)
    return total


def test_a_list_that_a_loop_changes_and_makes_anew():
    with pytest.raises(wg.WengertError, match="a list that a loop changes and makes anew"):
        wg.jit(appended_and_made_anew, strict=True)(numbers(3))


# --- arrays that only a loop or a branch makes --------------------------------------------


def last_residual(a, n):
    x = np.zeros(len(a))
    for _ in range(n):
        r = a - 0.5 * x
        x = x + 0.5 * r
    return (r * r).sum()


def made_under_a_condition(a, n):
    for k in range(n):
        if k > 1:
            r = a * k
    return (r * r).sum()


def made_in_a_branch(a, n):
    if n > 1:
        r = a * n
    return (r * r).sum()


def made_while(a, n):
    k = 0
    while k < n:
        r = a[:k] * k
        k += 1
    return (r * r).sum()


def made_before_a_break(a, n):
    for k in range(n):
        r = a * (k + 1.0)
        if k == 1:
            break
    return (r * r).sum()


MADE = [last_residual, made_under_a_condition, made_in_a_branch, made_while, made_before_a_break]


@pytest.mark.parametrize("f", MADE)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_arrays_that_may_not_be_bound(f, n):
    def outcome(form):
        try:
            return form(a, n)
        except UnboundLocalError as error:
            return str(error)

    a = numbers(4)
    for form in (f, wg.value_and_grad(f)):
        compiled = wg.jit(form, strict=True)
        found, expected = outcome(compiled), outcome(form)
        assert compiled.exits == isinstance(expected, str)
        if isinstance(expected, str):
            assert found == expected
        else:
            trees.assert_close(found, expected, rel=1e-11)


def accelerations(x, m):
    a = np.zeros_like(x)
    for i in range(len(m)):
        for j in range(len(m)):
            if i == j:
                continue
            gap = x[j] - x[i]
            a[i] += m[j] * gap / ((gap * gap).sum() + 0.01) ** 1.5
    return (a * a).sum()


def test_arrays_that_an_inner_loop_may_leave_out():
    native(accelerations, numbers(4, 3), numbers(4))


# --- loops over rows of other types -------------------------------------------------------


def filtered_numbers(a):
    y = np.zeros(2)
    for v in a:
        y = 0.5 * y + np.array([v, v * v])
    return y[0] * y[1]


def from_the_end(a):
    total = 1.0
    for v in reversed(a):
        total = total * v + 1.0
        if total > 2.5:
            break
    return total


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_the_types_of_cotangents_of_rows(dtype):
    a = (2.0 * numbers(6)).astype(dtype)
    form = wg.value_and_grad(filtered_numbers)
    found, expected = wg.jit(form, strict=True)(a), form(a)
    trees.assert_close(found, expected, rel=1e-5)
    assert found[1].dtype == expected[1].dtype


def test_rows_that_a_loop_backwards_does_not_reach():
    native(from_the_end, numbers(8))
