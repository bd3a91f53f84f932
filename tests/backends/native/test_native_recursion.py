"""Derivatives of recursive functions as native code: what every call keeps is a record in memory."""

import ctypes
import gc
import math
import re
import sys

import numpy as np
import pytest
import trees
from c_library import GCC, shared_library

import wengert as wg

pytest.importorskip("llvmlite")
TYPES = {"double": ctypes.c_double, "int64_t": ctypes.c_int64}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def waves(x, n):
    return x if n < 2 else waves(x, n - 1) * math.sin(waves(x, n - 2))


def both(x, n):
    if n == 0:
        return x, 1.0
    a, b = both(x, n - 1)
    return a * b, b + x


def sum_of_both(x, n):
    a, b = both(x, n)
    return a + b


def even(x, n):
    return x if n == 0 else odd(x * 1.1, n - 1)


def odd(x, n):
    return x * x if n == 0 else even(math.sin(x), n - 1)


def adaptive(f, a, b, fa, fm, fb, whole, depth):
    m = 0.5 * (a + b)
    fl, fr = f(0.5 * (a + m)), f(0.5 * (m + b))
    left = (m - a) / 6 * (fa + 4 * fl + fm)
    right = (b - m) / 6 * (fm + 4 * fr + fb)
    if depth <= 0 or abs(left + right - whole) < 1e-9:
        return left + right
    lower = adaptive(f, a, m, fa, fl, fm, left, depth - 1)
    return lower + adaptive(f, m, b, fm, fr, fb, right, depth - 1)


def integral(p):
    f = lambda x: math.exp(-p * x * x)
    ends = f(0.0), f(1.0), f(2.0)
    return adaptive(f, 0.0, 2.0, *ends, (ends[0] + 4 * ends[1] + ends[2]) / 3, 20)


def node(w, i):
    if 2 * i + 1 >= len(w):
        return w[i]
    return math.tanh(w[i] * node(w, 2 * i + 1) + node(w, 2 * i + 2))


def tree(w):
    return node(w, 0)


def smoothed(x, n):
    return x if n == 0 else smoothed(np.sin(x) * 0.5, n - 1) + x


def smoothness(x):
    return smoothed(x, 4).sum()


def doubled(x, n):
    if n == 0:
        return 0.0
    x[n - 1] *= 2.0
    return x[n - 1] ** 2 + doubled(x, n - 1)


def doubled_copy(x):
    y = x.copy()
    return doubled(y, len(y))


def halves(x):
    """A sum of products by halves, of slices."""
    n = len(x)
    return x[0] if n == 1 else halves(x[: n // 2]) * 1.1 + halves(x[n // 2 :]) ** 2


def children(x, n):
    """Calls in a loop, whose results are collected."""
    if n == 0:
        return math.sin(x)
    parts = []
    for k in range(n):
        parts.append(children(x * (k + 1), n - 1))  # noqa: PERF401 - collected by the loop
    total = 0.0
    for part in parts:
        total += part * part
    return total


def minor(a, row, free):
    """A determinant by expansion along the first row that is left."""
    if row == len(a):
        return 1.0
    total, sign = 0.0, 1.0
    for k in range(len(a)):
        if free[k]:
            free[k] = False
            total += sign * a[row, k] * minor(a, row + 1, free)
            free[k] = True
            sign = -sign
    return total


def determinant(a):
    return minor(a, 0, np.ones(len(a), dtype=bool))


V = np.linspace(0.1, 1.0, 7)
A = np.random.default_rng(4).uniform(-1, 1, (4, 4))
PROGRAMS = {
    "a power": (power, (2.0, 5)),
    "two calls": (waves, (1.1, 8)),
    "two results": (sum_of_both, (1.2, 4)),
    "two functions": (even, (0.7, 5)),
    "an integral": (integral, (1.3,)),
    "a tree": (tree, (V,)),
    "arrays": (smoothness, (V,)),
    "floats of 32 bits": (smoothness, (V.astype(np.float32),)),
    "writes": (doubled_copy, (V,)),
    "slices": (halves, (V,)),
    "calls in a loop": (children, (0.3, 3)),
    "a determinant": (determinant, (A,)),
}


@pytest.mark.parametrize("transform", [wg.value_and_grad, wg.hessian])
@pytest.mark.parametrize(("f", "args"), PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives_are_native_and_those_of_the_python_form(transform, f, args):
    if transform is wg.hessian and f in (doubled_copy, determinant):
        pytest.skip(
            "a reshape that may be a view, in a program that writes to arrays, is left to Python"
        )
    derived = transform(f)
    compiled = wg.jit(derived, strict=True)
    for _ in range(2):
        trees.assert_close(compiled(*args), derived(*args), rel=1e-5 if _is_short(args) else 1e-11)
    assert compiled.exits == 0


def _is_short(args):
    return getattr(args[0], "dtype", None) == np.float32


def test_the_gradient_of_a_determinant():
    found = wg.jit(wg.grad(determinant), strict=True)(A)
    trees.assert_close(found, np.linalg.det(A) * np.linalg.inv(A).T, rel=1e-12)


def test_deep_recursion_is_left_to_python():
    depth = sys.getrecursionlimit() - 100
    compiled = wg.jit(wg.grad(power), strict=True)
    assert compiled(1.0, depth // 3) == depth // 3
    with pytest.raises(RecursionError):
        compiled(1.0, 10 * sys.getrecursionlimit())
    assert compiled.exits == 1


def test_what_the_calls_keep_is_released():
    compiled = wg.jit(wg.grad(determinant), strict=True)
    compiled(A)
    before = _memory()
    for _ in range(2000):
        compiled(A)
    assert _memory() - before < 2**21


def _memory():
    """Bytes in use, as Linux counts them."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_exceptions_are_those_of_the_python_form():
    def quotient(x, n):
        return 1 / x if n == 0 else x * quotient(x - 1, n - 1)

    compiled = wg.jit(wg.grad(quotient), strict=True)
    assert compiled(3.5, 2) == wg.grad(quotient)(3.5, 2)
    with pytest.raises(ZeroDivisionError):
        compiled(2.0, 2)
    assert compiled.exits == 1


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
@pytest.mark.parametrize("f", [power, waves, children])
def test_c(f, tmp_path):
    compiled = wg.jit(wg.value_and_grad(f), strict=True)
    expected = compiled(1.1, 3)
    name = f"value_and_grad_{f.__name__}"
    function = shared_library(compiled.c_source, tmp_path)[name]
    (head,) = re.findall(rf" \* int {name}\((.*)\);", compiled.c_source)
    outs = [TYPES[out]() for out in re.findall(r"(\w+) \*out", head)]
    assert function(ctypes.c_double(1.1), ctypes.c_int64(3), *map(ctypes.byref, outs)) == 0
    found = [out.value for out in outs if isinstance(out, ctypes.c_double)]
    trees.assert_close(tuple(found), expected, rel=1e-14)


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
def test_c_of_recursion_that_gives_arrays(tmp_path):
    compiled = wg.jit(smoothness, strict=True)
    expected = compiled(V)
    function = shared_library(compiled.c_source, tmp_path).smoothness
    out = ctypes.c_double()
    pointer = V.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    assert function(pointer, ctypes.c_int64(len(V)), ctypes.byref(out)) == 0
    assert out.value == pytest.approx(expected, rel=1e-14)


def of_many(xs, n):
    results = np.zeros(len(xs))
    for i in range(len(xs)):
        results[i] = power(xs[i], n) * waves(xs[i], 4)
    return results.sum()


def test_what_threads_would_keep_is_kept_by_one():
    xs = np.linspace(0.5, 1.5, 300)
    form = wg.value_and_grad(of_many)
    compiled = wg.jit(form, strict=True, parallel=True)
    trees.assert_close(compiled(xs, 5), form(xs, 5), rel=1e-11)
    assert "threads" in compiled.source  # on the way back nothing is kept


def paths(rows, columns):
    return 1 if rows == 0 or columns == 0 else paths(rows - 1, columns) + paths(rows, columns - 1)


def first_root(a, k):
    """The base case raises where it is asked beyond the end."""
    if a[k] > 0:
        return math.sqrt(a[k])
    return first_root(a, k + 1) + 1.0


def countdown(n):
    return 0 if n == 0 else 1 + countdown(n - 1)


def test_base_cases_are_done_where_they_are_called():
    compiled = wg.jit(paths, strict=True)
    assert compiled(6, 5) == paths(6, 5) == 462
    assert "shallow_paths" in compiled.source
    assert "shallow_paths" in compiled.c_source
    compiled = wg.jit(first_root, strict=True)
    assert compiled(np.array([-1.0, -2.0, 4.0]), 0) == 4.0
    assert compiled.exits == 0
    with pytest.raises(IndexError):
        compiled(np.array([-1.0, -2.0]), 0)
    assert compiled.exits == 1


def total_of(xs, ys, k, scale):
    if k == len(xs):
        return 0.0
    return scale * xs[k] * ys[-1 - k] + total_of(xs, ys, k + 1, scale)


def turned(xs, ys, k):
    if k == 0:
        return xs[0] - 2.0 * ys[0]
    return turned(ys, xs * 1.5, k - 1)


def twice(xs, k):
    """What is called is given the same twice, and calls itself with different ones."""
    return turned(xs, xs, k)


def halved(x, n, m):
    """Two parameters that are the same, of which one changes."""
    while n > 1.0:
        n = n / 2
    return x * n * m if m < 2 else x * halved(x, m - 1, m - 1)


def test_calls_pass_what_differs():
    xs, ys = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 4.0])
    compiled = wg.jit(lambda a, b: total_of(a, b, 0, 3.0), strict=True)
    assert compiled(xs, ys) == pytest.approx(3.0 * xs @ ys[::-1])
    assert "def total_of(xs_1: ptr, xs_size_1: i64, ys_1: ptr, k_1: i64)" in compiled.source


def test_parameters_that_are_the_same_at_first_only():
    for f, args in ((twice, (np.array([1.0, 2.0]), 3)), (halved, (1.5, 6.0, 6.0))):
        trees.assert_close(wg.jit(f, strict=True)(*args), f(*args))
        trees.assert_close(wg.jit(wg.grad(f), strict=True)(*args), wg.grad(f)(*args))


def walked(places, xs, steps):
    """A linked list whose places may count from the end."""
    at, total = 0, 0.0
    for _ in range(steps):
        total += xs[at]
        xs[at] *= 0.5
        at = places[at]
    return total


@pytest.mark.parametrize("places", [[1, 2, 0], [-1, 0, 1], [2, -2, -3], [0, 2, 2]])
def test_indices_that_count_from_the_end(places):
    places, xs = np.array(places), np.array([1.0, 2.0, 4.0])
    compiled = wg.jit(walked, strict=True)
    assert compiled(places, xs.copy(), 7) == walked(places, xs.copy(), 7)
    assert compiled.exits == 0
    slope = wg.jit(wg.grad(walked, argnums=1), strict=True)(places, xs.copy(), 7)
    trees.assert_close(slope, wg.grad(walked, argnums=1)(places, xs.copy(), 7))


@pytest.mark.parametrize("place", [3, -4, 2**62, -(2**63)])
def test_indices_that_are_out_of_range(place):
    compiled = wg.jit(walked, strict=True)
    with pytest.raises(IndexError):
        compiled(np.array([1, place, 0]), np.ones(3), 7)
    assert compiled.exits == 1


@pytest.fixture
def no_collection():
    """Finalizers that a collection calls at the limit of recursion would fail, and pytest with them."""
    gc.disable()
    yield
    gc.enable()


def test_recursion_that_is_too_deep_is_pythons(no_collection):
    compiled = wg.jit(countdown, strict=True)
    assert compiled(800) == 800
    assert compiled.exits == 0
    with pytest.raises(RecursionError):
        compiled(10**6)


FACTOR = 0.75


def itself(t):
    return t


def summed(s):
    def mix(k):
        return k * s + (1 - k) * 0.5

    total = 0.0
    for k in range(3):
        total += mix(FACTOR) * k


def calls_a_sum_that_it_does_not_use(x, y):
    u, v = itself(math.sin(x)), x * 0.5
    w = u + v
    for p, q in zip([itself(y), summed(u / (1.5 + u**2))], (0.5,)):
        if v + y > math.tanh(3) and math.sqrt(1 + q**2) > math.exp(-abs(v - u)):
            if not (math.exp(-abs(itself(w))) < math.exp(-abs(u)) or -x < math.sqrt(2 + q**2)):
                pass
        elif math.sqrt(2.5625) > p / (1.5 + v**2) and math.sqrt(2) > itself(p):
            u = u * 0.5 + y / (1 + 1.25)
        else:
            left = 2
            while left > 0 and x - q < y + w < 2 * q:
                left -= 1
                w, q, u = q, u, w
                v = itself(u)
    return x * y + w


def test_what_is_read_from_outside_and_not_used_is_still_passed():
    compiled = wg.jit(calls_a_sum_that_it_does_not_use, strict=True)
    expected = calls_a_sum_that_it_does_not_use(0.5137, -0.0071)
    assert compiled(0.5137, -0.0071) == expected
