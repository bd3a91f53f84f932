"""Recursive functions of arrays: each call adds to one cotangent, and leaves its arguments as they are to be."""

import copy

import numpy as np
import pytest

import wengert as wg

VECTOR = np.array([0.3, 1.2, -0.7, 0.9, 1.6, -1.1])
MATRIX = np.array([[0.9, 0.2, -0.4], [0.3, 1.1, 0.5], [-0.2, 0.7, 1.3]])


def sum_from(a, i):
    return 0.0 if i == len(a) else a[i] ** 2 + 0.5 * sum_from(a, i + 1)


def product_of_halves(a, low, high):
    if high - low == 1:
        return np.sin(a[low])
    middle = (low + high) // 2
    return product_of_halves(a, low, middle) + product_of_halves(a, middle, high) * a[middle]


def inner(a, b, i):
    return 0.0 if i == len(a) else a[i] * b[i] + inner(a, b, i + 1) * a[0]


def inner_with_itself(a):
    return inner(a, a, 0)


def inner_with_what_is_computed(a):
    return inner(a, np.sin(a), 0) * inner(a[::-1], a, 1)


def even(a, i):
    return a[i] if i == 0 else a[i] * odd(a, i - 1)


def odd(a, i):
    return a[i] + np.cos(even(a, i - 1))


def determinant(a, row, columns):
    if not columns:
        return 1.0
    total = 0.0
    for k, column in enumerate(columns):
        rest = columns[:k] + columns[k + 1 :]
        total += (-1.0) ** k * a[row, column] * determinant(a, row + 1, rest)
    return total


def whole_determinant(a):
    return determinant(a, 0, list(range(len(a))))


def shrinking(a, n):
    return a.sum() if n == 0 else shrinking(a[1:] * a[0], n - 1) + a[-1]


def halves(a):
    return a[0] if len(a) == 1 else halves(a[: len(a) // 2]) * np.exp(-halves(a[len(a) // 2 :]))


def called_in_a_loop(a):
    total = 0.0
    for i in range(3):
        total = total * 0.5 + sum_from(a, i) * a[i]
    return total


def on_one_path(a, c):
    if c > 0:
        return sum_from(a, 1) * a[0]
    return (a * a).sum() + a[1]


def captured(a):
    def best(i, taken):
        if i >= len(a):
            return taken
        return np.logaddexp(best(i + 2, taken + a[i]), best(i + 1, taken))

    return best(0, 0.0)


def swapping(a, depth, first, second):
    """Backtracking: two arrays of numbers, changed before a call and after it."""
    if depth == 0:
        return a[first[0]] * a[second[0]]
    total = 0.0
    old = first[depth]
    first[depth] = first[0]
    for k in range(2):
        kept = second[k]
        second[k] = second[depth]
        total += swapping(a, depth - 1, first, second) * a[second[0]] * (k + 1.0)
        second[k] = kept + 1
    first[depth] = old
    first[0] = (first[0] + 1) % 3
    return total


def swapped(a, first, second):
    found = swapping(a, 2, first, second)
    return found * a[second[1]] + a[first[0]] ** 2


def permuted(a, i):
    """A sum over permutations: the array itself is changed, and put back."""
    if i == len(a):
        return a[0] * a[1] + a[2] * a[0] ** 2
    total = 0.0
    for k in range(i, len(a)):
        a[i], a[k] = a[k], a[i]
        total += permuted(a, i + 1) * (1.0 + 0.1 * k) * a[i]
        a[i], a[k] = a[k], a[i]
    return total


def triangular(rows):
    """Rows after elimination, as lists in a list."""
    if len(rows) == 1:
        return rows
    first, *others = rows
    below = []
    for row in others:
        factor = row[0] / first[0]
        below.append([a - factor * b for a, b in zip(row, first, strict=True)])
        below[-1].pop(0)
    found = triangular(below)
    for row in found:
        row.insert(0, 0.0)
    found.insert(0, list(first))
    return found


def rows_as_a_matrix(a):
    return np.sum(np.array(triangular(a.tolist())) ** 2)


def without_a_column(rows):
    if len(rows) == 1:
        return rows
    rest = [row[:] for row in rows]
    for row in rest:
        del row[0]
    rest.pop(0)
    return [*without_a_column(rest), [rows[0][0] * rows[0][1]]]


def columns_as_a_matrix(a):
    return np.sum(np.array(without_a_column([list(row) for row in a])) ** 2)


def exchanged(pair, k):
    if k == 0:
        return pair
    pair[0][k] += 0.1 * pair[1][0]
    pair[0], pair[1] = pair[1], pair[0]
    return exchanged(pair, k - 1)


def exchanged_where_it_is_chosen(a, pair, n):
    pair[0][1] *= a[0]
    pair[-1] = pair[n - 2]
    exchanged(pair, 2)
    return (pair[0] * pair[-1]) @ a


PROGRAMS = [
    (sum_from, VECTOR, 0),
    (exchanged_where_it_is_chosen, VECTOR, [VECTOR * 2, VECTOR[::-1] - 1], 3),
    (rows_as_a_matrix, MATRIX),
    (columns_as_a_matrix, MATRIX),
    (product_of_halves, VECTOR, 0, 6),
    (inner, VECTOR, VECTOR[::-1] * 0.7, 0),
    (inner_with_itself, VECTOR),
    (inner_with_what_is_computed, VECTOR),
    (even, VECTOR, 4),
    (whole_determinant, MATRIX),
    (shrinking, VECTOR, 3),
    (halves, VECTOR),
    (called_in_a_loop, VECTOR),
    (on_one_path, VECTOR, 1.0),
    (on_one_path, VECTOR, -1.0),
    (captured, VECTOR),
    (swapped, np.arange(1.0, 7.0) / 5, np.array([0, 1, 2, 3]), np.array([1, 0, 2, 4])),
    (permuted, MATRIX[0].copy(), 0),
]
each = pytest.mark.parametrize(("f", "args"), [(f, args) for f, *args in PROGRAMS])


def at(f, a, rest):
    """The value at some array; the arguments are copies."""
    return f(a.copy(), *copy.deepcopy(rest))


def differences(f, a, rest):
    """The gradient by differences of fourth order."""
    found = np.zeros(a.size)
    for k, unit in enumerate(np.eye(a.size).reshape(-1, *a.shape)):
        near, far = (at(f, a + h * unit, rest) - at(f, a - h * unit, rest) for h in (1e-3, 2e-3))
        found[k] = (8 * near - far) / 12e-3
    return found.reshape(a.shape)


@each
def test_gradients_are_right_in_all_modes(f, args):
    a, *rest = args
    expected = differences(f, a, rest)
    np.testing.assert_allclose(wg.grad(f)(*copy.deepcopy(args)), expected, rtol=1e-8, atol=1e-9)
    value, back = wg.pullback(f, *copy.deepcopy(args))
    assert value == at(f, a, rest)
    first, again = back(1.0)[0], back(2.0)[0]
    np.testing.assert_allclose(first, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(again, 2 * first, rtol=1e-14)
    direction = np.cos(np.arange(a.size)).reshape(a.shape)
    _, push = wg.pushforward(f, *copy.deepcopy(args))
    slope = push(direction, *[None] * len(rest))
    np.testing.assert_allclose(slope, (expected * direction).sum(), rtol=1e-8)


@each
def test_second_derivatives_are_right(f, args):
    a, *rest = args
    direction = np.cos(np.arange(a.size)).reshape(a.shape)

    def along(a):
        return (wg.grad(f)(a, *copy.deepcopy(rest)) * direction).sum()

    expected = differences(along, a, [])
    product = wg.hvp(f)(*copy.deepcopy(args), direction)
    np.testing.assert_allclose(product, expected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(wg.grad(along)(a), expected, rtol=1e-7, atol=1e-8)


@each
def test_arguments_are_left_as_the_function_leaves_them(f, args):
    expected = copy.deepcopy(args)
    value = f(*expected)
    for run in (wg.grad(f), lambda *args: wg.pullback(f, *args)[1](1.0)):
        given = copy.deepcopy(args)
        run(*given)
        for mine, theirs in zip(given, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    given = copy.deepcopy(args)
    assert wg.value_and_grad(f)(*given)[0] == value
    for mine, theirs in zip(given, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


LEFT_TO_PYTHON = (
    whole_determinant,
    permuted,
    rows_as_a_matrix,
    columns_as_a_matrix,
    exchanged_where_it_is_chosen,
)
"""Lists of any length that recursive calls are given or make; arrays that are differentiated and change places."""


@pytest.mark.parametrize(
    ("f", "args"), [(f, args) for f, *args in PROGRAMS if f not in LEFT_TO_PYTHON]
)
def test_native_code_agrees(f, args):
    pytest.importorskip("llvmlite")
    expected = wg.grad(f)(*copy.deepcopy(args))
    native = wg.jit(wg.grad(f), strict=True)
    np.testing.assert_allclose(native(*copy.deepcopy(args)), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int64"])
def test_the_sum_that_calls_add_to_has_the_dtype_of_a_gradient(dtype):
    a = np.array([1, 3, 2, 5, 4, 2]).astype(dtype)
    f = sum_from if dtype != "complex128" else lambda a, i: abs(sum_from(a, i))
    found = wg.grad(f)(a, 0)
    assert found.dtype == ("float64" if dtype == "int64" else dtype)
    wider = a.astype("complex128" if dtype == "complex128" else "float64")
    np.testing.assert_allclose(found, wg.grad(f)(wider, 0), rtol=1e-6)


def test_no_call_makes_a_cotangent_of_its_own():
    source = str(wg.code_adjoint(product_of_halves, VECTOR, 0, 6))
    backward = source[source.index("def backward_product_of_halves") :]
    assert "a_bar[low] += " in backward
    assert "a_bar = backward_product_of_halves(" in backward
    assert backward.count("zeros_like") == 1, "made once, where the function is called first"
    assert "copy" not in backward


def test_the_gradient_is_in_memory_of_its_own():
    gradient = wg.grad(sum_from)
    first = gradient(VECTOR, 0)
    kept = first.copy()
    gradient(VECTOR + 1.0, 0)
    np.testing.assert_array_equal(first, kept)
    assert not np.shares_memory(first, VECTOR)


class Box:
    def __init__(self, v):
        self.v = v


def reached_twice(x):
    """A part of an array and the whole of it: what is written to one is seen in the other."""
    whole = np.ones(6) * x
    part = whole[1:]

    def change(k):
        if k == 0:
            return x
        part[k] *= x
        return change(k - 1) * 0.5 + (whole * np.arange(6.0)).sum()

    return change(3) + whole[2]


def given_twice(x):
    def change(whole, part, k):
        if k == 0:
            return whole.sum()
        part[k - 1] *= x
        return change(whole, part, k - 1) * whole[1]

    whole = np.ones(4) * x
    return change(whole, whole[1:], 3)


def passed_to_itself(x):
    box = Box(x)

    def change(me, k):
        if k == 0:
            return x
        box.v = box.v * x + k
        return me(me, k - 1) * 0.5 + x

    return change(change, 3) + box.v


@pytest.mark.parametrize("f", [reached_twice, given_twice, passed_to_itself])
def test_memory_that_recursion_reaches_in_two_ways(f):
    wg.testing.check_gradient(f, 1.3)
    expected = (f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6
    assert wg.derivative(f)(1.3) == pytest.approx(expected, rel=1e-8)
    assert wg.value_and_grad(f)(1.3)[0] == f(1.3)


def merged(left, right):
    result = []
    while left and right:
        result.append(left.pop(0) if left[0] <= right[0] else right.pop(0))
    return [*result, *left, *right] if not left else result + left


def sorted_by_merging(items):
    if len(items) <= 1:
        return items
    middle = len(items) // 2
    return merged(sorted_by_merging(items[:middle]), sorted_by_merging(items[middle:]))


def orders(items):
    def swap(start):
        if start == len(items) - 1:
            found.append(items[:])
        for k in range(start, len(items)):
            items[start], items[k] = items[k], items[start]
            swap(start + 1)
            items[start], items[k] = items[k], items[start]

    found = []
    swap(0)
    return found


@pytest.mark.parametrize("listed", [sorted_by_merging, orders])
def test_a_list_of_a_recursive_function_becomes_an_array(listed):
    def f(items):
        made = np.asarray(listed(items), dtype=float)
        return np.sum(made**2 * np.linspace(1.0, 2.0, made.shape[-1]))

    wg.testing.check_gradient(f, [3.0, 1.0, 2.5, -1.0])
