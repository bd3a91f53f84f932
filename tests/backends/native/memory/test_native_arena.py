"""What recursive functions keep for their derivatives lies in an arena: it is given up in time, and by itself."""

import ctypes
import math
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
import trees
from c_library import GCC, shared_library

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def waves(x, n):
    return x if n < 2 else waves(x, n - 1) * math.sin(waves(x, n - 2))


def sums(x, n):
    """A loop over calls, of which every value is kept."""
    total = 0.0
    for k in range(n):
        total += sums(x * (k + 1), n - 1) * math.cos(total)
    return total if n else x


def halving(x, n):
    """A loop that ends when it likes."""
    y = x
    while y > 1e-3:
        y = y * math.sin(y) * 0.9
    return y if n == 0 else y + halving(x * 1.1, n - 1) * halving(x * 0.9, n - 1)


def rows(a, n):
    """Arrays that are kept."""
    return a if n == 0 else rows(np.sin(a), n - 1) * rows(a * 0.5, n - 1)


def length(x, n):
    return rows(x * np.arange(1.0, 6.0), n).sum()


RECURSIVE = [waves, sums, halving, length]


def descent(f):
    """A long loop that differentiates a recursive function in each iteration."""
    both = wg.value_and_grad(f)

    def path(x, n, steps):
        total = 0.0
        for _ in range(steps):
            value, slope = both(x, n)
            x = x - 1e-7 * slope
            total += value
        return total

    return path


def until(f):
    """A loop whose condition keeps something, too, and which may be left in the middle."""
    slope = wg.grad(f)

    def path(x, n, steps):
        k = 0
        while slope(x, n) < 1e9:
            x = x - 1e-7 * slope(x, n)
            k += 1
            if k >= steps:
                break
        return x

    return path


@pytest.mark.parametrize("loop", [descent, until])
@pytest.mark.parametrize("f", RECURSIVE)
def test_what_an_iteration_keeps_is_given_up_at_its_end(f, loop):
    path = loop(f)
    compiled = wg.jit(path, strict=True)
    trees.assert_close(compiled(1.1, 4, 3), path(1.1, 4, 3), rel=1e-12)
    before = _peak()
    compiled(1.1, 4, 20_000)
    assert _peak() - before < 2**21
    assert compiled.exits == 0


def _peak():
    """The most bytes that this process has ever used."""
    resource = pytest.importorskip("resource")
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


@pytest.mark.parametrize("f", RECURSIVE)
def test_what_later_iterations_read_is_not(f):
    def path(x, n):
        total = 0.0
        for k in range(5):
            total = math.sin(total) + f(x + 0.1 * k + 0.01 * total, n)
        return total

    for transform in (wg.grad, wg.hessian):
        derived = transform(path)
        trees.assert_close(wg.jit(derived, strict=True)(0.9, 3), derived(0.9, 3), rel=1e-9)


both = wg.value_and_grad(waves)


def of_the_iteration_before(x, n):
    value, slope = both(x, n)
    total = 0.0
    for k in range(6):
        total += value * slope
        value, slope = both(x + 0.01 * slope * k, n)
    return total


def of_the_best_iteration(x, n):
    best, found = 0.0, x
    for k in range(8):
        value, slope = both(x + 0.3 * k, n)
        if value > best:
            best, found = value, slope
    return best * found


def of_pullbacks_in_a_list(x, n):
    backs = []
    for k in range(3):
        _, back = wg.pullback(lambda y: waves(y, n), x + 0.1 * k)
        backs.append(back)
    total = 0.0
    for back in backs:
        (slope,) = back(1.0)
        total += slope
    return total


def of_calls_in_loops_in_calls(x, n):
    total = x
    for k in range(3):
        total += both(x + 0.1 * k, 4)[1]
    return total if n == 0 else total * of_calls_in_loops_in_calls(x * 0.8, n - 1)


@pytest.mark.parametrize(
    "f",
    [
        of_the_iteration_before,
        of_the_best_iteration,
        of_pullbacks_in_a_list,
        of_calls_in_loops_in_calls,
    ],
)
def test_what_gets_out_of_an_iteration_is_what_it_was(f):
    compiled = wg.jit(f, strict=True)
    for _ in range(3):
        trees.assert_close(compiled(0.9, 5), f(0.9, 5), rel=1e-12)


def test_a_recursive_function_resets_what_its_own_derivatives_have_kept():
    slope = wg.grad(waves)

    def steps(x, n):
        total = 0.0
        for k in range(2**n):
            total += slope(x + 0.1 * k, 6)
        return total

    compiled = wg.jit(steps, strict=True)
    trees.assert_close(compiled(1.1, 3), steps(1.1, 3), rel=1e-12)
    before = _peak()
    compiled(1.1, 15)
    assert _peak() - before < 2**21


def test_more_is_kept_than_one_chunk_holds():
    derived = wg.value_and_grad(waves)
    compiled = wg.jit(derived, strict=True)
    for n in (5, 12, 17, 3, 17):
        trees.assert_close(compiled(0.9, n), derived(0.9, n), rel=1e-12)


def test_an_iteration_gives_up_many_chunks():
    path = descent(waves)
    compiled = wg.jit(path, strict=True)
    trees.assert_close(compiled(0.9, 16, 3), path(0.9, 16, 3), rel=1e-12)
    before = _peak()
    compiled(0.9, 16, 300)
    assert _peak() - before < 2**21


def test_what_nobody_reads_is_not_kept():
    compiled = wg.jit(wg.grad(sums), strict=True)
    compiled(1.1, 3)
    ((record, words),) = re.findall(r"(record\w*) = arena i64\[(\d+)\]", compiled.source)
    written = re.findall(rf"{record}\[\d+\] = ", compiled.source)
    read = set(re.findall(r"record\w*\[(\d+)\](?! =)", compiled.source))
    assert len(written) == int(words) == len(read)


def weighted(a, scale, x, depth):
    """Passes an array and a number on as they are, and has little to keep at the end."""
    if depth == 0:
        return a[0] * x * scale
    total = 0.0
    sign = 1.0
    for k in range(len(a)):
        total += sign * a[k] * weighted(a, scale, x * a[k], depth - 1) ** 2
        sign = -sign
    return total


def words_of_records(source):
    """How many words there are in each kind of record, and in one of a base case."""
    found = re.findall(r"record\w* = arena i64\[(\d+) if \w+ else (\d+)\]", source)
    return [(int(most), int(fewest)) for most, fewest in found]


def test_a_base_case_keeps_less():
    a, derived = np.array([0.5, -1.5, 0.7]), wg.grad(weighted, (0, 1, 2))
    compiled = wg.jit(derived, strict=True)
    for depth in (0, 1, 4, 2):
        for found, expected in zip(
            compiled(a, 0.3, 1.1, depth), derived(a, 0.3, 1.1, depth), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    most, fewest = min(words_of_records(compiled.source))
    assert 2 * fewest < most


def test_derivatives_of_derivatives_keep_what_they_need():
    a, v = np.array([0.5, -1.5, 0.7]), np.array([1.0, 0.5, -0.2])
    derived = wg.hvp(lambda a: weighted(a, 0.3, 1.1, 3))
    compiled = wg.jit(derived, strict=True)
    for _ in range(2):
        np.testing.assert_allclose(compiled(a, v), derived(a, v), rtol=1e-12)


def either(a, x, depth):
    """Both ways keep something, and others again what both do."""
    if x > 0.5:
        y = np.sum(np.sin(a * x))
        return y * x if depth == 0 else y * either(a, x * 0.9, depth - 1)
    return x * x * a[0] if depth == 0 else math.exp(x) * either(a, x + 0.3, depth - 1)


def test_ways_that_both_keep_something():
    a, derived = np.array([0.5, -1.5, 0.7]), wg.grad(either, (0, 1))
    compiled = wg.jit(derived, strict=True)
    for depth in (0, 1, 5):
        for x in (0.1, 0.7):
            for found, expected in zip(compiled(a, x, depth), derived(a, x, depth), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.skipif(sys.platform != "linux", reason="how much memory was asked for anew")
def test_much_memory_is_lent_to_the_system_between_calls():
    def total(x):
        y = np.exp(x)
        return np.sum(y / np.sum(y * y) * y)

    compiled = wg.jit(wg.grad(total), strict=True)
    x = np.linspace(0.0, 1.0, 5_000_000)
    for _ in range(2):
        compiled(x)
    of_one_array = _faults(lambda: np.ones_like(x))
    assert _faults(lambda: compiled(x)) < 2 * of_one_array + 100


def _faults(call):
    """How often the system gave memory."""
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    made = call()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    del made
    return after - before


@pytest.mark.parametrize("size", [1, 100, 20_000])
def test_arrays_of_any_size_are_kept(size):
    def total(a, n):
        return rows(a, n).sum()

    a = np.linspace(0.1, 1.0, size)
    derived = wg.grad(total)
    compiled = wg.jit(derived, strict=True)
    for _ in range(2):
        trees.assert_close(compiled(a, 3), derived(a, 3), rel=1e-12)


def fails(x, n):
    """A recursive function that reads beyond the end of a short array, in the middle of its calls."""
    return x[n] * x[n + 1] if n < 3 else fails(x, n - 1) * fails(x, n - 2) + x[n]


def test_an_exception_in_the_middle_leaks_nothing():
    compiled = wg.jit(wg.grad(fails), strict=True)
    good, short = np.linspace(0.5, 1.0, 20), np.linspace(0.5, 1.0, 2)
    expected = compiled(good, 12)
    for _ in range(50):
        with pytest.raises(IndexError):
            compiled(short, 12)
    before = _peak()
    for _ in range(200):
        with pytest.raises(IndexError):
            compiled(short, 12)
    assert _peak() - before < 2**21
    assert compiled.exits == 250
    np.testing.assert_array_equal(compiled(good, 12), expected)


def test_each_thread_has_an_arena_of_its_own():
    derived = wg.value_and_grad(sums)
    compiled = wg.jit(derived, strict=True)
    cases = [(0.1 * k + 0.2, k % 5 + 1) for k in range(20)]
    expected = [compiled(*case) for case in cases]
    wrong = []

    def work():
        for _ in range(20):
            wrong.extend(c for c, e in zip(cases, expected, strict=True) if compiled(*c) != e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_loops_on_threads_reset_their_own_arenas():
    slope = wg.grad(waves)

    def total(xs):
        result = 0.0
        for i in range(len(xs)):
            result += slope(xs[i], 8)
        return result

    xs = np.linspace(0.5, 1.0, 3000)
    compiled = wg.jit(total, strict=True, parallel=True)
    trees.assert_close(compiled(xs), wg.jit(total, strict=True)(xs), rel=1e-12)


# --- C ------------------------------------------------------------------------------------


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
@pytest.mark.parametrize("f", [waves, sums, halving])
def test_c_does_the_same(f, tmp_path):
    compiled = wg.jit(descent(f), strict=True)
    expected = compiled(1.1, 4, 50)
    assert "arena" in compiled.source
    function = shared_library(compiled.c_source, tmp_path).path
    out = ctypes.c_double()
    given = ctypes.c_double(1.1), ctypes.c_int64(4), ctypes.c_int64(50)
    assert function(*given, ctypes.byref(out)) == 0
    assert out.value == pytest.approx(expected, rel=1e-14)


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
@pytest.mark.parametrize("chunk", [1, 200, 65536])
def test_c_touches_no_memory_that_it_has_not(chunk, tmp_path):
    compiled = wg.jit(descent(sums), strict=True)
    compiled(1.1, 4, 3)
    main = """
#include <stdio.h>
int main(void)
{
    double out;
    int status = path(1.1, 4, 40, &out);
    printf("%.17g", out);
    return status;
}
"""
    program, made = tmp_path / "program.c", tmp_path / "program"
    program.write_text(compiled.c_source + main)
    options = [f"-DWG_ARENA_CHUNK={chunk}", "-fsanitize=address,undefined", "-fno-sanitize-recover"]
    built = subprocess.run([GCC, "-g", *options, program, "-o", made, "-lm"], check=False)
    if built.returncode:
        pytest.skip("the compiler has no sanitizers")
    found = subprocess.run([made], capture_output=True, text=True, check=True)
    assert float(found.stdout) == pytest.approx(compiled(1.1, 4, 40), rel=1e-14)
