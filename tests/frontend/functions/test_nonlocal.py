"""Variables of outer functions and of modules that a program binds."""

# programs under test are written as users write them

import copy
import math
import runpy
import sys
from typing import get_args

import numpy as np
import oracle
import pytest
import trees
from differences import agree
from error_texts import message, place, refusal

import wengert as wg

# --- nonlocal ---------------------------------------------------------------------------------


def counts(x):
    count = 0

    def square(y):
        nonlocal count
        count += 1
        return y * y

    return (square(x) + square(square(x))) * count


def accumulates(x):
    total = 0.0

    def add(y):
        nonlocal total
        total = total + y * x
        return total

    for k in range(4):
        if add(k * x) > 5:
            total = total / 2
    return total * add(1.0)


def test_a_variable_of_the_function_around():
    agree(counts, 1.3)
    agree(accumulates, 0.8, 1.6)


def make_averager():
    total, count = 0.0, 0

    def average(value):
        nonlocal total, count
        total += value
        count += 1
        return total / count

    return average


def two_of_a_kind(x):
    first, second = make_averager(), make_averager()
    first(x)
    second(x * x)
    return first(2.0) * second(x) + first(x**3)


def test_every_call_has_its_own_variable():
    agree(two_of_a_kind, 1.3)


def bound_only_on_one_path(x):
    y = None

    def remember(value):
        nonlocal y
        if value > 1:
            y = value * x

    remember(x)
    remember(0.5)
    return x if y is None else y * y


def in_a_loop_of_unknown_length(x):
    steps = 0
    last = x

    def halve():
        nonlocal steps, last
        last = last / 2
        steps += 1

    while last > 0.1:
        halve()
    return last * steps**2


def test_on_paths_and_in_loops():
    agree(bound_only_on_one_path, 0.7, 1.4)
    agree(in_a_loop_of_unknown_length, 1.3, 0.25)


def state_in_a_map(x):
    running = 1.0

    def scale(y):
        nonlocal running
        running = running * y
        return running

    return sum(map(scale, [x, 2.0, x + 1])) + sum([scale(y) for y in (x, 3.0)])


def two_levels(x):
    a = x

    def outer():
        b = a * 2

        def inner():
            nonlocal a, b
            a = a * b
            b = b + a
            return b

        return inner() + inner() * b

    return outer() * a


def test_map_and_levels():
    agree(state_in_a_map, 1.3)
    agree(two_levels, 0.9)


def remembers(x):
    cached = None

    def expensive():
        nonlocal cached
        if cached is None:
            cached = math.exp(x) * x
        return cached

    return expensive() + expensive() * expensive()


def recursion_that_counts(x):
    calls = 0

    def power(n):
        nonlocal calls
        calls += 1
        return 1.0 if n == 0 else x * power(n - 1)

    return power(4) * calls


def test_memory_and_recursion():
    agree(remembers, 0.7)
    agree(recursion_that_counts, 1.3)


def walrus_in_a_comprehension(x):
    total = 0.0
    parts = [total := total + y * x for y in (1.0, x, 2.0)]
    return total * parts[0] + parts[1]


def test_walrus_in_a_comprehension():
    agree(walrus_in_a_comprehension, 1.3)


def test_a_function_made_outside_that_counts():
    count = 0

    def counted(x):
        nonlocal count
        count += 1
        return x * x * count

    assert wg.gradient(counted, 3.0) == (6.0,)
    assert count == 1
    assert wg.gradient(counted, 3.0) == (12.0,)
    assert count == 2


def test_a_callback_made_outside():
    history = []
    best = None

    def callback(y):
        nonlocal best
        history.append(float(y))
        if best is None or y < best:
            best = y

    def descends(x):
        for _ in range(3):
            x = x - 0.1 * 2 * x
            callback(x)
        return x * x

    (slope,) = wg.gradient(descends, 1.0)
    assert slope == pytest.approx(2 * 0.8**6)
    assert history == pytest.approx([0.8, 0.64, 0.512])
    assert best == pytest.approx(0.512)


# --- global -----------------------------------------------------------------------------------

CALLS = 0
SCALE = 1.0


def counted_by_module(x):
    global CALLS
    CALLS += 1
    return x * x


def calls_counted(x):
    return counted_by_module(x) + counted_by_module(2 * x)


def test_a_global_counter_is_as_python_leaves_it():
    global CALLS
    CALLS = 0
    assert wg.gradient(calls_counted, 3.0) == (30.0,)
    assert CALLS == 2
    assert wg.grad(calls_counted)(3.0) == 30.0
    assert CALLS == 4


def sets_scale(x):
    global SCALE
    SCALE = x * x
    return reads_scale(x)


def reads_scale(x):
    return x * SCALE


def test_a_global_carries_its_derivative():
    agree(sets_scale, 1.3)
    assert float(SCALE) == pytest.approx(1.69, abs=0.1)


def sets_on_a_path(x):
    global SCALE
    SCALE = 2.0
    for k in range(3):
        if x * k > 1.5:
            SCALE = SCALE * x
    return SCALE + x


def test_a_global_on_paths_and_in_loops():
    agree(sets_on_a_path, 0.6, 0.9, 1.7)


def test_a_global_set_by_an_array_program():
    def f(x):
        global SCALE
        SCALE = np.sum(x * x)
        return SCALE * x[0]

    (slope,) = wg.gradient(f, np.array([1.0, 2.0]))
    np.testing.assert_allclose(slope, [7.0, 4.0])
    assert SCALE == 5.0


# --- attributes of modules ----------------------------------------------------------------------

HERE = sys.modules[__name__]
DECAY = 1.0


def decayed(x):
    return DECAY * x**3


def sets_module(x):
    HERE.DECAY = x * x
    return decayed(x) + HERE.DECAY


def restores_module(x):
    before = HERE.DECAY
    try:
        for _ in range(3):
            HERE.DECAY *= x
        return decayed(x) * DECAY
    finally:
        HERE.DECAY = before


def makes_attribute(x):
    if x > 0:
        HERE.BRAND_NEW = x * x
    return HERE.BRAND_NEW * 2  # pyright: ignore[reportAttributeAccessIssue]


def test_attributes_of_modules_are_globals(monkeypatch):
    monkeypatch.setattr(HERE, "DECAY", 1.0)
    for f, slope in [(sets_module, 5 * 0.7**4 + 2 * 0.7), (makes_attribute, 2.8)]:
        assert wg.gradient(f, 0.7) == pytest.approx((slope,))
        assert wg.pushforward(f, 0.7)[1](1.0) == pytest.approx(slope)
    assert pytest.approx(0.49) == DECAY
    assert vars(HERE).pop("BRAND_NEW") == pytest.approx(0.49)
    HERE.DECAY = 2.0
    assert wg.gradient(restores_module, 0.7) == pytest.approx((4 * 9 * 0.7**8,))
    assert DECAY == 2.0
    with pytest.raises(AttributeError, match="BRAND_NEW"):
        wg.gradient(makes_attribute, -1.0)


@pytest.mark.static_tier
def test_modules_that_are_read_by_what_they_mean_are_left_alone():
    def f(x):
        math.pi = x
        return math.pi

    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(f, 1.0))
    assert "the attribute `pi` of this object cannot be assigned here" in str(error)


class Part:
    made = 0

    def __init__(self, size):
        Part.made += 1
        self.size = size * Part.made


def counted_parts(x):
    return Part(x[0]).size * Part(x[1]).size


def counted_product(x):
    global CALLS
    CALLS += 1
    return x[0] * x[1] * CALLS


def counted_recursion(x, n=3):
    global CALLS
    CALLS += 1
    return x[0] * x[1] if n == 0 else x[0] * counted_recursion(x, n - 1)


COUNTED = [counted_parts, counted_product, counted_recursion]


def from_zero(call, *args):
    """What a call gives, and how often the program counted."""
    globals()["CALLS"] = Part.made = 0
    return call(*args), CALLS + Part.made


@pytest.mark.parametrize("f", COUNTED)
@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
def test_a_jacobian_counts_once_what_the_program_counts(f, mode):
    x = np.array([2.0, 3.0])
    _, once = from_zero(f, x)
    gradient, counted = from_zero(wg.grad(f), x)
    jacobian, counted_too = from_zero(wg.jacobian(f, mode=mode), x)
    np.testing.assert_allclose(jacobian, gradient, rtol=1e-14)
    assert counted == counted_too == once


@pytest.mark.parametrize("f", COUNTED)
def test_second_derivatives_count_once_what_the_program_counts(f):
    x, v = np.array([2.0, 3.0]), np.array([0.3, -0.7])
    _, once = from_zero(f, x)
    hessian, counted = from_zero(wg.hessian(f), x)
    product, counted_too = from_zero(wg.hvp(f), x, v)
    np.testing.assert_allclose(hessian @ v, product, rtol=1e-13)
    assert counted == counted_too == once


@pytest.mark.parametrize("f", COUNTED)
def test_pushing_forward_counts_nothing(f):
    x, v = np.array([2.0, 3.0]), np.array([0.3, -0.7])
    _, once = from_zero(f, x)
    (_, push), counted = from_zero(wg.pushforward, f, x)
    slopes = [push(v), push(v)]
    assert slopes == [pytest.approx(from_zero(wg.grad(f), x)[0] @ v)] * 2
    assert counted == once


def test_a_derivative_inside_counts_once():
    def squared(y):
        global CALLS
        CALLS += 1
        return y * y * CALLS

    def twice(x):
        return wg.grad(squared)(x) + wg.grad(squared)(x) * CALLS

    found, counted = from_zero(wg.grad(twice), 1.5)
    assert (found, counted) == (2 + 4 * 2, 2)


# --- attributes of functions ------------------------------------------------------------------


def attribute_of_a_function(x):
    def square(y):
        square.calls += 1
        return y * y

    square.calls = 0
    return (square(x) + square(2 * x)) * square.calls


def test_attributes_of_functions():
    agree(attribute_of_a_function, 1.3)


# --- what is refused --------------------------------------------------------------------------


def deletes(x):
    global SCALE
    y = SCALE * x
    del SCALE
    return y


@pytest.mark.static_tier
def test_del_of_a_global():
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(deletes, 1.0))
    assert str(error) == message(
        "WG101",
        "`del` of the outer name `SCALE` cannot be differentiated",
        place(deletes, 3, "del SCALE", inside="deletes"),
        "Bind it to None instead.",
    )


@pytest.mark.static_tier
def test_a_global_of_no_module(tmp_path):
    file = tmp_path / "no_module.py"
    file.write_text("y = 0.0\n\n\ndef f(x):\n    global y\n    y = x\n    return y * x\n")
    f = runpy.run_path(str(file))["f"]
    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(f, 1.0))
    assert "`global y` belongs to no module that can be found" in str(error)


def defined_in_every_turn(x, a, n):
    b = c = a * x
    u, k = x, 0
    while k < n and math.sin(x) < u:
        k += 1
        c[-1] += 1.25 - u

        def change(e):
            a[0] += e
            return a[0]

        u = change(c[0])
        a[k % 2] = x
    return u + a.sum() + b @ c


@pytest.mark.parametrize("x", [0.7, -0.3])
def test_a_function_that_every_turn_defines_is_one(x):
    args = (x, np.array([0.3, 0.2]), 3)
    expected = oracle.gradient(defined_in_every_turn, *args, wrt=(0, 1))
    found = wg.grad(defined_in_every_turn, argnums=(0, 1))(*copy.deepcopy(args))
    trees.assert_close(list(found), list(expected), rel=1e-9)


NUMBERS = float | int
"""A type that Python makes, whose parts nobody can bind to something else."""


def asks_for_a_number(x):
    global SCALE
    SCALE = x * x if type(x) in get_args(NUMBERS) else 1.0
    return x * SCALE


def test_a_pushforward_puts_back_only_what_can_be_bound():
    global SCALE
    SCALE = 7.0
    value, push = wg.pushforward(asks_for_a_number, 2.0)
    assert value == 8.0
    assert SCALE == 4.0
    assert push(1.0) == 12.0
    assert SCALE == 4.0


# Pushforwards at the point, however often


def with_a_counter():
    calls = 0

    def f(x, n):
        nonlocal calls
        calls += 1
        return x**calls * n

    return f, lambda: calls


def with_a_list():
    seen = []

    def f(x, n):
        seen.append(len(seen) + 1.0)
        return x * sum(seen) * n

    return f, lambda: list(seen)


def with_a_default():
    def raised(x, seen=[1.0]):  # noqa: B006
        seen.append(x)
        return x ** len(seen)

    def f(x, n):
        return raised(x) * n

    return f, lambda: len(raised.__defaults__[0])


class Scale:
    def __init__(self):
        self.calls, self.seen = 0, []

    def __call__(self, x, n):
        return self.by(x, n)

    def by(self, x, n):
        self.calls += 1
        self.seen.append(n)
        return x**self.calls * sum(self.seen)


def with_an_object():
    scale = Scale()
    return scale, lambda: (scale.calls, list(scale.seen))


def with_a_method():
    scale = Scale()
    return scale.by, lambda: (scale.calls, list(scale.seen))


def from_within(made):
    f, state = made
    return (lambda x, n: f(x, n) * 1.0), state


@pytest.mark.parametrize("within", [lambda made: made, from_within])
@pytest.mark.parametrize(
    "make", [with_a_counter, with_a_list, with_a_default, with_an_object, with_a_method]
)
def test_a_pushforward_is_that_of_the_point_whatever_the_function_remembers(make, within):
    f, _ = within(make())
    slope = wg.grad(f)(1.5, 3)
    f, state = within(make())
    _, push = wg.pushforward(f, 1.5, 3)
    after = state()
    assert [push(1.0, None), push(2.0, None), push(1.0, 0)] == [slope, 2 * slope, slope]
    assert state() == after
    f(1.5, 3)
    assert push(1.0, None) == slope
