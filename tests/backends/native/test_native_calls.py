"""How native functions are called: with nothing between the call and machine code."""

import gc
import importlib
import math
import sys
import threading
import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.api import native_forms
from wengert.backends.native.run import duration

pytest.importorskip("llvmlite")


def functions_called(call):
    """The names of the Python functions that a call runs."""
    names = []

    def note(frame, event, _):
        if event == "call":
            names.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return names[1:]


def helper(x):
    return math.sin(x) * 2.0


def test_a_call_runs_no_python():
    native = wg.jit(wg.value_and_grad(lambda x: helper(x) ** 2), strict=True)
    expected = native(0.7)
    found = []
    assert functions_called(lambda: found.append(native(0.7))) == []
    assert found == [expected]


def test_a_call_by_name_is_read_by_python():
    native = wg.jit(lambda x, y: helper(x) - y, strict=True)
    expected = native(0.7, 2.0)
    assert native(y=2.0, x=0.7) == native(0.7, y=2.0) == expected


def test_a_function_that_is_bound_anew_is_read_anew(monkeypatch):
    native = wg.jit(lambda x: helper(x), strict=True)
    assert native(1.0) == helper(1.0)
    monkeypatch.setitem(globals(), "helper", lambda x: x + 1.0)
    assert native(1.0) == 2.0
    assert functions_called(lambda: native(1.0)) == []
    monkeypatch.undo()
    assert native(1.0) == helper(1.0)


def test_a_rule_that_is_registered_is_used():
    def own(x):
        return x * x

    slope = wg.jit(wg.grad(lambda x: own(x) + 0.0), strict=True)
    assert slope(3.0) == 6.0
    wg.scalar_rule(own, lambda x, Ω: 100.0)
    assert slope(3.0) == 100.0


def test_defaults_that_are_changed_are_read_anew():
    def scaled(x, factor=2.0):
        return factor * x

    native = wg.jit(scaled)
    assert [native(3.0), native(3.0)] == [6.0, 6.0]
    scaled.__defaults__ = (5.0,)
    assert native(3.0) == 15.0


def test_native_functions_die_with_their_last_name():
    native = wg.jit(lambda x: x * x)
    native(1.0)
    native(np.ones(3))
    native.owner = native
    seen = weakref.ref(native)
    del native
    gc.collect()
    assert seen() is None


def test_forms_are_made_while_others_run():
    """Code that a thread is in stays, also when the function has another form by then."""

    def many(x, n):
        total = 0.0
        for k in range(n):
            total += math.sin(x * k)
        return total

    native = wg.jit(lambda x, n: many(x, n), strict=True)
    expected = native(0.5, 200_000)
    found = []
    runners = [
        threading.Thread(target=lambda: found.extend(native(0.5, 200_000) for _ in range(20)))
        for _ in range(2)
    ]
    for runner in runners:
        runner.start()
    original = many.__code__
    for kind in (np.float64, np.float32, int, bool, np.int64, float):
        native(kind(1), 10)
    for runner in runners:
        runner.join()
    assert many.__code__ is original
    assert found == [expected] * 40


def handler_of(array):
    return importlib.import_module("numpy._core.multiarray").get_handler_name(array)


def test_large_results_use_memory_that_earlier_ones_left():
    native = wg.jit(wg.grad(lambda x: (x * x).sum()), strict=True)
    x = np.arange(2.0**17)
    native(x)
    first = native(x)
    second = native(x)
    assert handler_of(first) == "wengert" != handler_of(x)
    assert first.flags.owndata
    assert not np.shares_memory(first, second)
    places = {first.ctypes.data, second.ctypes.data}
    del first, second
    again = [native(x), native(x)]
    assert {each.ctypes.data for each in again} == places
    for each in again:
        np.testing.assert_array_equal(each, 2.0 * x)


def test_large_results_outlive_their_function_and_can_be_resized():
    def double(x):
        return x + x

    native = wg.jit(double, strict=True)
    made = [native(np.arange(2.0**18)) for _ in range(2)].pop()
    assert handler_of(made) == "wengert"
    del native
    gc.collect()
    made.resize(2**19, refcheck=False)
    assert made[2**18 - 1] == 2.0**19 - 2.0
    assert made[-1] == 0.0
    made.resize(10, refcheck=False)
    np.testing.assert_array_equal(made, 2.0 * np.arange(10.0))


def test_small_results_have_the_memory_of_numpy():
    native = wg.jit(lambda x: x + x, strict=True)
    assert [handler_of(native(np.ones(100))) for _ in range(2)] == ["default_allocator"] * 2


def test_large_results_of_several_threads_are_apart():
    native = wg.jit(lambda x, k: x * k, strict=True)
    x = np.ones(2**16)
    wrong = []

    def many(k):
        wrong.extend(k for _ in range(200) if not (native(x, k) == k).all())

    runners = [threading.Thread(target=many, args=(float(k),)) for k in range(4)]
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.join()
    assert not wrong


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def collatz(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def pairs(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += x[i] * x[j]
    return total


def doubling(x, n):
    """Its inner loop is longer in each turn of the outer one."""
    count, total = 1, 0.0
    for _ in range(n):
        for _ in range(count):
            total += x
        count *= 2
    return total


def triangle(n):
    total = 0
    for i in range(n):
        for j in range(i):
            total += i - j
    return total


@pytest.mark.parametrize(
    ("f", "args", "expected"),
    [
        (wg.grad(newton), (2.0,), 0),
        (collatz, (7,), None),
        (lambda x: x.sum(), (np.ones(3),), 1),
        (pairs, (np.ones(3),), 2),
        (lambda x, n: sum([x * k for k in range(n)]), (1.0, 3), 1),
        (doubling, (1.0, 3), None),
        (triangle, (4,), 2),
        (math.sin, (1.0,), 0),
    ],
)
def test_how_many_steps_loops_have(f, args, expected):
    """By the most factors of a loop; None where that is not known before the loop ends."""
    native = wg.jit(f if f is not math.sin else lambda x: math.sin(x), strict=True)
    native(*args)
    found = duration.steps(native._latest().kernel.lowered.procedures[0])
    assert (found if found is None else max(map(len, found), default=0)) == expected


def running(n, a):
    """Long, which shows only when the list of what the way back needs grows."""
    x = a
    while n > 0.0:
        x = math.sin(x) + a
        n = n - 1.0
    return x


@pytest.mark.parametrize("f", [wg.grad(running, argnums=1), running])
def test_other_threads_run_while_a_loop_does(f):
    native = wg.jit(f, strict=True)
    assert native(3.0, 0.5) == f(3.0, 0.5)
    done = threading.Event()

    def work():
        native(2e7, 0.5)
        done.set()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        assert not done.wait(0.02)  # this thread runs, too
        thread.join()
    finally:
        sys.setswitchinterval(before)


@pytest.mark.parametrize("many", [10, 600, 5000])
def test_lists_that_outgrow_the_frame(many):
    """The first pieces of memory lie in the frame of the call; what grows moves out of it."""

    def kept(x, n):
        firsts, seconds = [], []
        while len(firsts) < n:
            x = math.sin(x) + 0.1
            firsts.append(x)
            seconds.append(x * x)
        return sum(firsts) + sum(seconds[::-1])

    for f in (kept, wg.grad(kept)):
        native = wg.jit(f, strict=True)
        expected = f(0.5, many)
        assert [native(0.5, many) for _ in range(3)] == pytest.approx([expected] * 3, rel=1e-12)


def means_of(values, counts):
    total = 0.0
    for v, n in zip(values, counts, strict=True):
        try:
            total += (v / n) ** 2
        except ZeroDivisionError:
            total += v
    return total


def test_what_native_code_leaves_to_the_python_form_takes_the_short_way_there(monkeypatch):
    compiled = wg.jit(wg.grad(means_of))
    given = [1.5, 0.7, 2.0], (2, 0, 3)
    expected = wg.grad(means_of)(*given)
    assert [compiled(*given) for _ in range(2)] == [expected] * 2
    described = []
    key_of = native_forms.key_of
    monkeypatch.setattr(native_forms, "key_of", lambda *a: described.append(a) or key_of(*a))
    assert compiled(*given) == expected
    assert compiled.exits == 3
    assert not described
