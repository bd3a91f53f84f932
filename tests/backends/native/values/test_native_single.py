"""Floats of 32 bits beside Python's own numbers: the type of a number may depend on the run, as in NumPy."""

import math

import numpy as np
import pytest
from c_library import GCC, shared_library
from native_outcomes import is_as_in_python, outcome

import wengert as wg

pytest.importorskip("llvmlite")

SINGLES = np.linspace(-0.9, 1.1, 7).astype(np.float32)
OTHERS = np.linspace(0.3, 2.0, 7).astype(np.float32)
MATRIX = (np.arange(12).reshape(3, 4) / 7).astype(np.float32)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def typed(value):
    """The numbers and arrays in a result, each with its type."""
    if isinstance(value, tuple):
        return [each for item in value for each in typed(item)]
    return [(type(value), np.asarray(value).dtype, np.asarray(value, float))]


def like_python(f, *args, rel=1e-5):
    """What native code gives has the types that Python and NumPy give, and the value up to rounding."""
    compiled = wg.jit(f, strict=True)
    with np.errstate(all="ignore"):
        expected = typed(f(*args))
    found = typed(compiled(*args))
    assert compiled.exits == 0
    assert [each[:2] for each in found] == [each[:2] for each in expected]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one[2], other[2], rtol=rel, atol=rel)
    return compiled


def total(a):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * 2.0
    return s


def of_integers(a):
    s = 0
    for x in a:
        s += x * x
    return s


def variance(a):
    mean, spread = 0.0, 0.0
    for x in a:
        mean += x
    mean = mean / (1 + len(a))
    for x in a:
        spread += (x - mean) ** 2
    return spread


def greatest(a):
    best = -1e30
    for x in a:
        best = max(best, x)
    return best


def least(a):
    best = float("inf")
    for x in a:
        best = min(best, x)
    return best


def product_until(a):
    s, i = 1.0, 0
    while i < len(a) and s < 3.0:
        s = s * (1.0 + abs(a[i]))
        i += 1
    return s


def in_one_branch(a):
    s = 0.0
    for x in a:
        if x > 0:
            s += x
        else:
            s -= 0.5
    return s * 2.0


def left_early(a):
    s = 0.0
    for x in a:
        s += x
        if s > 0.2:
            return s
    return -1.0


def skipping(a):
    s, n = 0.0, 0
    for x in a:
        if x < 0:
            continue
        if x > 0.9:
            break
        s += x
        n += 1
    return s / n if n else 0.0


def before_it_changes(a):
    s, t = 0.1, 0.0
    for x in a:
        t += s * 3.0  # of 64 bits in the first iteration
        s = s + x
    return t


def shifted(a):
    s, p = 0.0, 1.0
    for x in a:
        s, p = p, s + x
    return s + p


def of_a_list(a):
    xs = []
    for x in a:
        xs.append(x * 2.0)
        xs[-1] += 1.0
    t = 0.0
    for x in xs:
        t += x
    return t


def of_lists_of_both(a):
    xs = [0.5]
    for x in a:
        xs.append(xs[-1] * 0.5 + x)
    return xs[-1]


def summed(a):
    return sum([x * x for x in a])


def elementary(a):
    s = 0.5
    for x in a:
        s = np.sqrt(abs(np.sin(s) + np.exp(-x)))
    return s


def of_maths(a):
    s = 0.0
    for x in a:
        s += math.exp(-x * x)
    return s


def remainders(a):
    s = 0.0
    for x in a:
        s = (s + x) % 0.7 + x // 0.3
    return s


def chosen(a):
    s = 0.0
    for x in a:
        s += np.where(x > 0, x, 0.0) + np.clip(x, -0.5, 0.5)
    return np.maximum(s, 0.25)


def multiplied_and_added(x, y):
    return x * y + 1.0


def called(a):
    s = 0.0
    for x in a:
        s = multiplied_and_added(s, x)
    return s


def converted(a):
    s = 0.0
    for x in a:
        s += float(x) + int(x * 10)
    return s


def written(a):
    out, s = np.zeros_like(a), 0.0
    for i in range(len(a)):
        s += a[i]
        out[i] = s
    return out.sum()


PROGRAMS = [
    total, of_integers, variance, greatest, least, product_until, in_one_branch, left_early, skipping,
    before_it_changes, shifted, of_a_list, of_lists_of_both, summed, elementary, of_maths, remainders,
    chosen, called, converted, written,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 7])
def test_a_number_of_pythons_becomes_one_of_32_bits(f, n):
    like_python(f, SINGLES[:n])


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("n", [0, 1, 7])
def test_so_do_derivatives(f, n):
    like_python(wg.value_and_grad(f), SINGLES[:n])


@pytest.mark.parametrize("x", [0.5, np.float32(0.5), np.float64(0.5)])
def test_numbers_of_all_types_beside_them(x):
    def horner(a, x):
        r = 0.0
        for c in a:
            r = r * x + c
        return r

    for n in (0, 1, 7):
        like_python(horner, SINGLES[:n], x)
        like_python(wg.value_and_grad(horner), SINGLES[:n], x)


def test_arrays_of_64_bits_beside_them():
    def mixed(a, b):
        s = 0.0
        for x, y in zip(a, b, strict=True):
            s += x * y
        return s, s * a[0], (a * s).sum()

    like_python(lambda a, b: mixed(a, b)[:2], SINGLES, OTHERS.astype(float))
    like_python(lambda a, b: mixed(a, b), SINGLES, OTHERS)


def test_a_product_of_a_matrix_and_a_vector():
    def product(m, x):
        out = np.zeros(len(m), np.float32)
        for i in range(len(m)):
            s = 0.0
            for j in range(m.shape[1]):
                s += m[i, j] * x[j]
            out[i] = s
        return out.sum()

    like_python(product, MATRIX, SINGLES[:4])
    like_python(wg.value_and_grad(product, argnums=(0, 1)), MATRIX, SINGLES[:4])


def test_one_of_two_numbers():
    def f(a, k):
        s = 0.1 if k > 2 else a[0]
        return s * 0.7, s > 0.1, abs(s), -s, s**2, s * a[1], a * s

    for k in (1, 3):
        like_python(f, SINGLES, k)


@pytest.mark.parametrize("x", [0.3, np.float32(0.3), np.float64(0.3), 2])
def test_an_argument_of_any_type_in_newtons_method(x):
    def root(a):
        x = 1.0
        for _ in range(20):
            x = x - (x * x - a) / (2 * x)
        return x

    like_python(root, x)
    if x != 2:
        like_python(wg.value_and_grad(root), x)


def test_a_constant_is_rounded_to_32_bits():
    def f(x):
        return np.float32(0.3) * 1.0, np.float64(0.7) + np.float32(0.3), x + np.float32(0.1)

    like_python(f, np.float64(1.0), rel=1e-16)


def test_a_comparison_is_one_of_numbers_of_32_bits():
    def f(a):
        s = 0.0
        for x in a:
            s = s + x
        return s == 0.1, s > 0.1, max(s, 0.1), max(0.1, s)

    like_python(f, np.array([0.1], np.float32))
    like_python(f, np.array([], np.float32))


def test_where_the_type_of_an_array_depends_on_the_run_python_computes_it():
    def f(a, k):
        s = 0.1 if k > 2 else np.float64(0.3)
        return a * s

    for k in (1, 3):
        is_as_in_python(f, SINGLES, k)

    def g(a):
        s = 0.0
        for x in a:
            s += x
        return np.array([s, s])

    is_as_in_python(g, SINGLES)
    is_as_in_python(g, SINGLES[:0])


def test_integers_among_floats_in_numpys_arithmetic():
    def f(x, k):
        s = 3 if k > 2 else x
        return np.square(s)

    compiled = wg.jit(f, strict=True)
    for k, exits in ((1, 0), (3, 1)):
        assert outcome(compiled, 0.5, k) == outcome(f, 0.5, k)
        assert compiled.exits == exits


@pytest.mark.skipif(GCC is None, reason="needs gcc")
@pytest.mark.parametrize("f", [total, in_one_branch, called, wg.value_and_grad(variance)])
def test_in_c(f, tmp_path):
    compiled = wg.jit(f, strict=True)
    compiled(SINGLES)
    shared_library(compiled.c_source, tmp_path)


@pytest.mark.skipif(GCC is None, reason="needs gcc")
def test_variables_that_are_called_like_the_places_of_results_in_c(tmp_path):
    def fdiv(a):
        out = 0.0
        for x in a:
            out += x
        return out

    compiled = wg.jit(fdiv, strict=True)
    compiled(SINGLES)
    shared_library(compiled.c_source, tmp_path)
