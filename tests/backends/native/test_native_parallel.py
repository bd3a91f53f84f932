"""`wg.jit(f, parallel=True)`: the same as one thread gives, to rounding; the same exceptions."""

import math
import multiprocessing
import os
import pickle
import shutil
import subprocess
import threading

import numpy as np
import pytest
import trees

import wengert as wg
from wengert.errors import NativeWarning

pytest.importorskip("llvmlite")

from wengert.backends.native.improve import parallel  # after the check that llvmlite is there

THREADS = 3


@pytest.fixture(autouse=True)
def on_three_threads(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))
    monkeypatch.setenv("WENGERT_THREADS", str(THREADS))
    monkeypatch.setattr(parallel, "LEAST_WORK", 0)


def spread(f, *args, loops=None, rel=1e-13):
    """The result on threads, which must be what the Python form gives; `loops` are spread."""
    compiled = wg.jit(f, strict=True, parallel=True)
    mine, theirs = ([x.copy() if isinstance(x, np.ndarray) else x for x in args] for _ in range(2))
    if not all(x.flags.c_contiguous for x in args if isinstance(x, np.ndarray)):
        mine, theirs = args, args
    found = compiled(*mine)
    expected = f(*theirs)
    assert compiled.exits == 0
    trees.assert_close(found, expected, rel=rel)
    trees.assert_close(mine, theirs, rel=rel)
    assert type(found) is type(expected)
    count = str(compiled.source).count("on threads")
    assert count > 0 if loops is None else count == loops, compiled.source
    return found


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).uniform(0.2, 1.5, shape)


# --- loops --------------------------------------------------------------------------------


def rows_of_powers(w, x):
    out = np.zeros((len(x), len(w)))
    for i in range(len(x)):
        power = 1.0
        for j in range(len(w)):
            power *= x[i]
            out[i, j] = w[j] * math.sin(power)
    return out


def backwards(x):
    out = np.zeros(len(x))
    for i in range(len(x) - 1, -1, -1):
        out[i] = math.exp(x[i]) + x[len(x) - 1 - i]
    return out


def in_place(x):
    for i in range(len(x)):
        x[i] = x[i] * x[i] + 1.0
    return x.sum()


def neighbours(x):
    out = np.zeros(len(x))
    for i in range(1, len(x) - 1):
        out[i] = x[i + 1] - 2.0 * x[i] + x[i - 1]
    return out


def with_branches(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 1.0:
            step = math.log(x[i])
        else:
            step = 1.0 - x[i]
            while step > 0.1:
                step *= 0.5
        out[i] = step
    return out


def means_and_products(x):
    total, product = 0.0, 1.0
    for i in range(len(x)):
        total += x[i]
        product *= x[i]
    return total / len(x), product


def histogram(x):
    counts = np.zeros(5)
    for i in range(len(x)):
        counts[int(3.0 * x[i])] += x[i]
    return counts


def triangle(a):
    out = np.zeros((len(a), len(a)))
    for i in range(len(a)):
        for j in range(i + 1):
            out[i, j] = a[i] * a[j]
    return out.sum()


def last_one(x):
    last = 0.0
    for i in range(len(x)):
        last = math.sin(x[i])
    return last


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (rows_of_powers, (numbers(4), numbers(17))),
        (backwards, (numbers(20),)),
        (in_place, (numbers(20),)),
        (neighbours, (numbers(20),)),
        (with_branches, (numbers(20),)),
        (means_and_products, (numbers(20),)),
        (histogram, (numbers(50),)),
        (triangle, (numbers(12),)),
        (last_one, (numbers(12),)),
        (last_one, (numbers(0),)),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_loops_are_spread(f, args):
    spread(f, *args)


@pytest.mark.parametrize("f", [in_place, triangle, lambda x: np.sum(neighbours(x) ** 2.0)])
def test_so_are_their_gradients(f):
    spread(wg.value_and_grad(f), numbers(12))


def test_what_all_iterations_add_to_is_added_up_apart():
    def loss(w, x):
        total = 0.0
        for i in range(len(x)):
            inner = 0.0
            for j in range(len(w)):
                inner += math.sin(w[j] * x[i])
            total += inner * inner
        return total

    spread(wg.value_and_grad(loss, argnums=(0, 1)), numbers(5), numbers(40))


def running(x):
    out = np.zeros(len(x))
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = 0.5 * out[i - 1] + x[i]
    return out


def overlapping(x):
    for i in range(len(x) - 1):
        x[i : i + 2] = x[i : i + 2] * 0.5 + 1.0
    return x


def powers_of_state(x):
    state = 0.5
    for i in range(len(x)):
        state = 0.9 * state * (1.0 - state) * x[i]
    return state


def test_what_carries_something_is_not():
    spread(powers_of_state, numbers(20), loops=0, rel=1e-9)


@pytest.mark.parametrize("f", [running, lambda x: overlapping(x.copy()).sum()])
def test_iterations_that_touch_each_other_run_in_order(f):
    spread(f, numbers(20))  # filling the array is spread, the loop is not


def test_whether_places_are_apart_may_be_known_only_when_the_loop_starts():
    def blocks(x, width, step):
        out = np.zeros(200)
        for i in range(10):
            for j in range(width):
                out[i * step + j] = 0.5 * out[i * step + j] + x[i] * (j + 1)
        return out

    for width, step in ((3, 3), (3, 7), (5, 2)):  # the last one overlaps
        spread(blocks, numbers(10), width, step)


# --- array expressions -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7,), (0,), (2,), (5, 3), (3, 1), (1, 3), (4, 0), (2, 3, 4)])
def test_array_expressions_are_spread(shape, dtype):
    def f(a):
        y = np.tanh(a * 2.0 + 1.0)
        return (y * y).sum(), y, a.sum(axis=0), y > 0.5

    spread(f, numbers(*shape).astype(dtype), rel=1e-5 if dtype is np.float32 else 1e-13)


@pytest.mark.parametrize("order", [(slice(None, None, -1),), (slice(None, None, 2),)])
def test_arrays_in_any_order(order):
    f = wg.value_and_grad(lambda a, b: (np.exp(-a) * b).sum())
    spread(f, numbers(9, 4)[order], numbers(4)[::-1])
    spread(f, numbers(4, 9).T[order], numbers(4))


def test_extremes_and_questions():
    def f(x):
        return x.max() - x.min(), (x > 0.3).any(), (x > 0.3).all(), np.isnan(x).any()

    spread(f, numbers(31))
    holed = numbers(31)
    holed[7] = math.nan
    compiled = wg.jit(f, strict=True, parallel=True)
    for found, expected in zip(compiled(holed), f(holed), strict=True):
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def test_gradient_of_broadcasting():
    def loss(a, b):
        return (np.tanh(a * b + 1.0) ** 2).sum()

    spread(wg.value_and_grad(loss, argnums=(0, 1)), numbers(8, 5), numbers(5))
    spread(wg.value_and_grad(loss, argnums=(0, 1)), numbers(8, 5), numbers(8, 1))


# --- exceptions, threads, processes -----------------------------------------------------------


class TooLarge(Exception):
    pass


@pytest.mark.parametrize(
    ("x", "error"),
    [(5, ZeroDivisionError), (7, IndexError), (9, TooLarge), (3, ValueError)],
)
def test_exceptions_are_those_of_the_python_form(x, error):
    table = np.arange(20.0)

    def f(x, which):
        out = np.zeros(len(x))
        for i in range(len(x)):
            if which == 9 and i == 13:
                raise TooLarge(f"at {i}")
            if which == 3:
                out[i] = math.log(x[i] - 13.0)
            k = i + 1 if which == 7 else i
            out[i] = float(x[k]) / (i - 13 if which == 5 else 1.0)
        return out

    compiled = wg.jit(f, strict=True, parallel=True)
    with pytest.raises(error) as expected:
        f(table, x)
    with pytest.raises(error) as found:
        compiled(table, x)
    assert str(found.value) == str(expected.value)
    assert compiled.exits == 1
    assert np.array_equal(compiled(table, 1), f(table, 1))


def loss(x):
    return (np.sin(x) * x).sum()


def test_calls_from_several_threads():
    compiled = wg.jit(wg.value_and_grad(loss), strict=True, parallel=True)
    x = numbers(1000)
    value, slope = compiled(x)
    failures = []

    def many():
        for _ in range(50):
            v, g = compiled(x)
            if not (math.isclose(v, value, rel_tol=1e-12) and np.allclose(g, slope, rtol=1e-12)):
                failures.append(v)

    threads = [threading.Thread(target=many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def in_child(compiled, x, queue):
    queue.put(compiled(x))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    compiled = wg.jit(loss, strict=True, parallel=True)
    x = numbers(1000)
    expected = compiled(x)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=in_child, args=(compiled, x, queue))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert math.isclose(queue.get(), expected, rel_tol=1e-12)


def test_small_work_stays_on_one_thread(monkeypatch):
    monkeypatch.setattr(parallel, "LEAST_WORK", 10**12)
    spread(loss, numbers(100))


def test_it_is_kept_by_derivatives_and_copies():
    compiled = wg.jit(loss, parallel=True)
    slope = wg.grad(compiled)
    slope(numbers(9))
    assert "on threads" in slope.source
    assert pickle.loads(pickle.dumps(compiled)).parallel

    @wg.jit(parallel=True)
    def doubled(x):
        return 2.0 * x

    assert doubled(numbers(3)).shape == (3,)
    assert doubled.parallel


def test_where_there_is_no_native_form_the_python_form_runs():
    with pytest.warns(NativeWarning):
        assert wg.jit(lambda x: len({x, 1.0}), parallel=True)(2.0) == 2


CC = shutil.which("cc")


@pytest.mark.skipif(CC is None, reason="needs a C compiler")
def test_in_c_there_is_one_thread(tmp_path):
    compiled = wg.jit(wg.value_and_grad(loss), strict=True, parallel=True)
    compiled(numbers(30))
    path = tmp_path / "loss.c"
    path.write_text(compiled.c_source)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-c", "-o", str(tmp_path / "loss.o")]
    subprocess.run([CC, *flags, str(path)], check=True)
