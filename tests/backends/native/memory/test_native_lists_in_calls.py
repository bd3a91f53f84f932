"""Lists that functions which are called change, keep and give back: each against what Python gives."""

import math

import numpy as np
import pytest
from c_library import GCC, shared_library
from native_outcomes import outcome

import wengert as wg
from wengert.errors import NativeWarning, NotNative

pytest.importorskip("llvmlite")

A = np.linspace(-1.0, 1.0, 7)
NONE = A[:0]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def like_python(f, *args, exits=0):
    """Value and gradient have native forms, which give what the Python forms give."""
    compiled = wg.jit(f, strict=True)
    assert outcome(compiled, *args) == outcome(f, *args)
    assert compiled.exits == exits
    slope = wg.jit(wg.value_and_grad(f), strict=True)
    if exits:
        assert outcome(slope, *args) == outcome(wg.value_and_grad(f), *args)
        return compiled
    for found, expected in zip(slope(*args), wg.value_and_grad(f)(*args), strict=True):
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    return compiled


def leaves(xs, x, depth):
    if depth == 0:
        xs.append(x)
        return
    leaves(xs, x * 0.5, depth - 1)
    leaves(xs, math.sin(x), depth - 1)


@pytest.mark.parametrize("depth", [0, 1, 4])
def test_a_recursive_function_that_appends(depth):
    def f(x, depth):
        xs = []
        leaves(xs, x, depth)
        t = 0.0
        for v in xs:
            t += v * v
        return t

    like_python(f, 0.5, depth)


@pytest.mark.parametrize("a", [A, NONE])
def test_a_closure_that_appends_in_order(a):
    def f(a):
        out = []

        def visit(i):
            if i < len(a):
                visit(2 * i + 1)
                out.append(a[i])
                visit(2 * i + 2)

        visit(0)
        t = 0.0
        for k in range(len(out)):
            t += out[k] * (k + 1)
        return t

    like_python(f, a)


@pytest.mark.parametrize("a", [A, NONE])
def test_a_result_beside_the_list(a):
    def walk(i, xs, a):
        if i >= len(a):
            return 0.0
        xs.append(a[i] * a[i])
        return a[i] + walk(i + 1, xs, a)

    def f(a):
        xs = []
        s = walk(0, xs, a)
        return s + sum(xs)

    like_python(f, a)


def quicksort(xs, low, high):
    if low < high:
        pivot, i = xs[high], low
        for j in range(low, high):
            if xs[j] < pivot:
                xs[i], xs[j] = xs[j], xs[i]
                i += 1
        xs[i], xs[high] = xs[high], xs[i]
        quicksort(xs, low, i - 1)
        quicksort(xs, i + 1, high)


def mergesort(xs, low, high):
    if high - low <= 1:
        return
    middle = (low + high) // 2
    mergesort(xs, low, middle)
    mergesort(xs, middle, high)
    left, right = xs[low:middle], xs[middle:high]
    i, j = 0, 0
    for k in range(low, high):
        if j >= len(right) or (i < len(left) and left[i] <= right[j]):
            xs[k] = left[i]
            i += 1
        else:
            xs[k] = right[j]
            j += 1


@pytest.mark.parametrize("a", [np.sin(5.0 * A), A[::-1].copy(), NONE])
def test_lists_that_are_sorted_in_place(a):
    def quick(a):
        xs = [v for v in a]  # noqa: C416 (`list(a)` shares nothing to sort either, but is another op)
        quicksort(xs, 0, len(xs) - 1)
        t = 0.0
        for k in range(len(xs)):
            t += xs[k] * (k + 1)
        return t

    def merging(a):
        xs = [v for v in a]  # noqa: C416 (as above)
        mergesort(xs, 0, len(xs))
        t = 0.0
        for k in range(len(xs)):
            t += xs[k] * (k + 1)
        return t

    like_python(quick, a)
    like_python(merging, a)


def test_permutations():
    def permute(k, xs, out):
        if k == len(xs):
            out.append(xs[0] * xs[-1])
            return
        for i in range(k, len(xs)):
            xs[k], xs[i] = xs[i], xs[k]
            permute(k + 1, xs, out)
            xs[k], xs[i] = xs[i], xs[k]

    def f(x):
        out = []
        permute(0, [x, x * 2, x * 3], out)
        return sum(out)

    like_python(f, 0.5)


@pytest.mark.parametrize("a", [A, A[:1]])
def test_a_list_that_gets_shorter(a):
    def fold(xs):
        if len(xs) <= 1:
            return
        b, c = xs.pop(), xs.pop()
        xs.append(b * c + 1.0)
        fold(xs)

    def f(a):
        xs = [v for v in a]  # noqa: C416 (a list that grows)
        fold(xs)
        return xs[0]

    like_python(f, a)


@pytest.mark.parametrize("a", [A, NONE])
def test_a_list_that_is_only_read(a):
    def squares(xs, i):
        if i >= len(xs):
            return 0.0
        return xs[i] ** 2 + squares(xs, i + 1)

    like_python(lambda a: squares([v * 2 for v in a], 0), a)


def test_lists_of_tuples_and_of_arrays():
    def pairs(i, out, a):
        if i < len(a):
            out.append((a[i], i * 1.0))
            pairs(i + 1, out, a)

    def of_pairs(a):
        out = []
        pairs(0, out, a)
        t = 0.0
        for v, w in out:
            t += v * w
        return t

    def rows(i, out, a):
        if i < 3:
            out.append(a * i)
            rows(i + 1, out, a)

    def of_rows(a):
        out = []
        rows(0, out, a)
        t = 0.0
        for row in out:
            t += (row * row).sum()
        return t

    for f in (of_pairs, of_rows):
        np.testing.assert_allclose(wg.jit(f, strict=True)(A), f(A), rtol=1e-14)


def test_an_index_out_of_range_in_a_call():
    def deep(xs, n):
        if n == 0:
            return xs[10]
        xs.append(1.0 * n)
        return deep(xs, n - 1)

    def f(x, n):
        xs = [x]
        return deep(xs, n)

    compiled = wg.jit(f, strict=True)
    assert compiled(0.5, 12) == f(0.5, 12)
    assert outcome(compiled, 0.5, 2) == outcome(f, 0.5, 2)
    assert compiled.exits == 1


@pytest.mark.parametrize("a", [A, NONE])
def test_a_stack(a):
    def f(a):
        stack = []

        def push(v):
            stack.append(v)

        def pop():
            return stack.pop()

        for v in a:
            push(v)
            if len(stack) >= 2:
                push(pop() * pop() + v)
        return stack[-1] if stack else 0.0

    like_python(f, a)


@pytest.mark.parametrize("place", [0, 2, -2, 100, -100])
def test_items_that_are_inserted(place):
    def f(a, place):
        xs = [v for v in a]  # noqa: C416 (a list that grows)
        xs.insert(place, a[0] * 2)
        t = 0.0
        for k in range(len(xs)):
            t += xs[k] * (k + 1)
        return t

    like_python(f, A, place)


def test_a_list_by_another_name_that_a_branch_gave():
    def f(a, which):
        xs, ys = [v * 1.0 for v in a], [1.0]
        zs = xs if which else ys
        zs.append(5.0)
        return sum(xs) + 10 * sum(ys)

    for which in (True, False):
        with pytest.warns(NativeWarning, match="changed under another name"):
            assert wg.jit(f)(A, which) == f(A, which)


def test_the_callers_list_is_not_changed_natively():
    def f(xs, v):
        xs.append(v)
        return sum(xs)

    xs = [1.0, 2.0]
    with pytest.raises(NotNative, match="a list of the caller"):
        wg.jit(f, strict=True)(xs, 0.5)
    assert xs == [1.0, 2.0]


@pytest.mark.skipif(GCC is None, reason="needs gcc")
def test_in_c(tmp_path):
    def f(x, depth):
        xs = []
        leaves(xs, x, depth)
        return sum(xs)

    compiled = wg.jit(f, strict=True)
    compiled(0.5, 3)
    shared_library(compiled.c_source, tmp_path)
