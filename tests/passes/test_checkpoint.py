"""Checkpointed loops and calls: the same derivatives, less memory, one more run, nothing asked twice."""

# programs under test are written as users write them
# ruff: noqa: TRY301

from __future__ import annotations

import math
import pickle
import random
import tracemalloc
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import trees
from ir_parsing import parse

import wengert as wg
from wengert.errors import BadArgument, NoRule, UnsupportedSyntax
from wengert.ir.text import show
from wengert.ops import registry

Program = Callable[..., Any]
Make = Callable[[Callable[..., Any]], Program]
"""From a mark (`wg.checkpoint`, or nothing) to a program whose loops have it."""


def unmarked(x: Any, every: int | None = None) -> Any:
    return x


# --- programs -----------------------------------------------------------------------------

PROGRAMS: dict[str, tuple[Make, tuple[Any, ...]]] = {}


def program(*arguments: Any) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        PROGRAMS[make.__name__] = make, arguments
        return make

    return add


@program(3.5, 0.2, 17)
def logistic(mark: Any) -> Program:
    def f(r, x, n):
        for _ in mark(range(n)):
            x = r * x * (1 - x)
        return x

    return f


@program(0.3, 0)
def no_iteration(mark: Any) -> Program:
    def f(x, n):
        for k in mark(range(n)):
            x = x * k
        return x * x

    return f


@program(0.3, 13)
def one_block_of_all(mark: Any) -> Program:
    def f(x, n):
        for k in mark(range(n), every=100):
            x = math.sin(x) + k * x / 10
        return x

    return f


@program(0.3, 13, 2)
def blocks_of_chosen_length(mark: Any) -> Program:
    def f(x, n, k):
        for _ in mark(range(n), every=k + 1):
            x = math.sin(x) + x * x
        return x

    return f


@program(1.1, 40)
def left_by_break(mark: Any) -> Program:
    def f(x, n):
        total = 0.0
        for k in mark(range(n), every=4):
            if x > 20:
                break
            x = x * 1.1 + 0.01 * k
            total += x * x
        else:
            total = total * 100
        return total

    return f


@program(1.1, 11)
def not_left_by_break(mark: Any) -> Program:
    def f(x, n):
        total = 0.0
        for k in mark(range(n), every=4):
            if x > 2000:
                break
            x = x * 1.1 + 0.01 * k
        else:
            total = x * x
        return total + x

    return f


@program(0.9, 23)
def some_turns_skipped(mark: Any) -> Program:
    def f(x, n):
        for k in mark(range(n)):
            if k % 3 == 1:
                continue
            x = x + math.cos(x) / (k + 1)
        return x

    return f


@program(0.9, 23)
def returned_early(mark: Any) -> Program:
    def f(x, n):
        y = x
        for k in mark(range(n)):
            y = y * y + 0.1 * x
            if y > 3.0:
                return y * k
        return y

    return f


@program(1.5)
def until_it_converges(mark: Any) -> Program:
    def f(a):
        x = a
        while mark(abs(x * x - a) > 1e-12):
            x = (x + a / x) / 2
        return x

    return f


@program(1.5, 2)
def endless_but_left(mark: Any) -> Program:
    def f(x, n):
        turns = 0
        while mark(True):
            x = math.sqrt(x + 1)
            turns += 1
            if turns == 12:
                break
            if x < 0:
                return x
        else:
            x = 0.0
        return x * turns

    return f


@program(1.5, 10)
def condition_that_binds(mark: Any) -> Program:
    def f(x, n):
        k = 0
        while mark((y := x * 0.9) > 0.2):
            x = y + 0.01 * math.sin(k * y)
            k += 1
        return x * y

    return f


@program(0.4, 5, 4)
def nested(mark: Any) -> Program:
    def f(x, n, m):
        for k in mark(range(n), every=2):
            for j in mark(range(m), every=3):
                x = x + 0.1 * math.sin(x * j) * k
            x = x * 0.9
        return x

    return f


@program(np.linspace(0.1, 1.0, 12).reshape(4, 3), np.array([0.3, -0.2, 0.5]))
def over_rows(mark: Any) -> Program:
    def f(rows, h):
        for row in mark(rows, every=3):
            h = np.tanh(h * row + row)
        return np.sum(h * h)

    return f


@program([0.1 * k for k in range(20)], np.linspace(1.0, 2.0, 18), 0.5)
def side_by_side(mark: Any) -> Program:
    def f(xs, v, a):
        for k, (x, y) in enumerate(mark(zip(xs, v), every=5)):
            a = a * y + x * a * k / 10
        return a

    return f


@program([0.1 * k for k in range(20)], 0.5)
def over_part_of_a_list(mark: Any) -> Program:
    def f(xs, a):
        for x in reversed(mark(xs[2:], every=4)):
            a = a * x + 1
            if a > 2:
                break
        return a

    return f


@program([0.1 * k for k in range(20)])
def comprehended(mark: Any) -> Program:
    def f(xs):
        ys = [math.sin(x) * x for x in mark(xs, every=6) if x > 0.3]
        return sum(y * y for y in mark(ys))

    return f


@program(np.linspace(0.5, 1.5, 9), 1.2)
def written_elements(mark: Any) -> Program:
    def f(v, x):
        a = np.zeros(10)
        for k in mark(range(1, 10), every=4):
            a[k] = a[k - 1] * x + v[k - 1] ** 2
            a[k - 1] *= 1.1
        return np.sum(a * a)

    return f


@program(np.linspace(0.5, 1.5, 8), 7)
def explicit_heat(mark: Any) -> Program:
    def f(u, n):
        u = u.copy()
        for _ in mark(range(n), every=3):
            u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2]) * u[1:-1]
        return np.sum(u**2)

    return f


@program(np.linspace(0.5, 1.5, 5), 7)
def argument_changed(mark: Any) -> Program:
    def f(u, n):
        for k in mark(range(n), every=3):
            u[k % 5] = math.sin(u[(k + 1) % 5]) * u[k % 5]
        return np.sum(u**2)

    return f


@program(0.7, 10)
def trajectory(mark: Any) -> Program:
    def f(x, n):
        xs = [x]
        for _ in mark(range(n), every=3):
            xs.append(xs[-1] * 0.9 + math.sin(xs[-1]))
        return sum(x * x for x in xs)

    return f


@program(0.7, 10)
def stack_of_values(mark: Any) -> Program:
    def f(x, n):
        stack = [x, 2 * x]
        while mark(len(stack) < n):
            top = stack.pop()
            stack.append(top * top * 0.3)
            stack.append(top + stack[0])
        return sum(stack)

    return f


@program({"a": 0.3, "b": 0.6}, 9)
def dictionary(mark: Any) -> Program:
    def f(d, n):
        d = dict(d)
        for k in mark(range(n), every=2):
            d["a"], d["b"] = d["b"] * d["a"] + 0.1 * k, math.sin(d["a"])
        return d["a"] + d["b"] ** 2

    return f


@program(SimpleNamespace(x=0.3, v=np.array([0.1, 0.2])), 9)
def attributes(mark: Any) -> Program:
    def f(p, n):
        for k in mark(range(n), every=2):
            p.v[0] += 0.1 * p.x
            p.x = p.x + p.v[0] * p.v[1] * k
        return p.x * p.x + np.sum(p.v)

    return f


@program([[0.1, 0.2], [0.3, 0.4]], 6)
def grid(mark: Any) -> Program:
    def f(rows, n):
        rows = [list(row) for row in rows]
        for k in mark(range(n), every=4):
            i, j = k % 2, (k // 2) % 2
            rows[i][j] = rows[j][i] * rows[0][1] + 0.5
        return sum(sum(row) for row in rows)

    return f


@program(1.2, 8)
def bound_in_the_first_turn(mark: Any) -> Program:
    def f(x, n):
        s = 0.0
        for k in mark(range(n), every=3):
            if k == 0:
                a = np.ones(3) * x
            a[1:] = np.sin(a[1:]) * x
            s = s + a[1] * a[1]
        return s

    return f


@program(1.2, 9)
def two_buffers(mark: Any) -> Program:
    def f(x, n):
        old, new = np.full(4, x), np.zeros(4)
        for _ in mark(range(n), every=4):
            for k in range(4):
                new[k] = 0.5 * old[k] * old[k - 1] + 0.1 * x
            old, new = new, old
        return np.sum(old) * x

    return f


@program(0.4, 12)
def attempts(mark: Any) -> Program:
    def f(x, n):
        for k in mark(range(n), every=5):
            try:
                if k % 4 == 3:
                    raise ValueError
                x = x + 1 / (k - 2)
            except ZeroDivisionError:
                x = x * x
            except ValueError:
                x = math.sin(x)
        return x

    return f


@program(0.4, 12)
def stopped_and_hooked(mark: Any) -> Program:
    def f(x, n):
        for _ in mark(range(n), every=5):
            x = wg.stop_gradient(x) * x + wg.hook(lambda x_bar: 0.5 * x_bar, x)
        return x

    return f


@program(0.4, 12)
def derivative_inside(mark: Any) -> Program:
    def g(t):
        for _ in mark(range(3), every=2):
            t = t * t + 0.1
        return t

    def f(x, n):
        for _ in mark(range(n), every=5):
            x = 0.5 * x + 0.1 * wg.grad(g)(x)
        return x

    return f


@program(0.4, 12)
def function_checkpointed_inside(mark: Any) -> Program:
    def step(t, k):
        for j in range(3):
            t = math.sin(t) + j * k * t / 100
        return t

    def f(x, n):
        for k in mark(range(n), every=5):
            x = mark(step)(x, k)
        return x

    return f


@program(0.4, 3)
def recursive(mark: Any) -> Program:
    def deeper(x, n):
        if n == 0:
            return math.sin(x)
        for k in mark(range(2), every=1):
            x = deeper(x * 0.9, n - 1) + k
        return x

    return deeper


@program(np.array([0.2 + 0.1j, -0.3j]), 9)
def complex_state(mark: Any) -> Program:
    def f(z, n):
        for _ in mark(range(n)):
            z = z * z + 0.1j
        return np.sum(np.abs(z) ** 2)

    return f


@program(0.5, 9)
def random_numbers(mark: Any) -> Program:
    def f(x, n):
        generator = np.random.default_rng(3)
        rng = random.Random(4)
        for k in mark(range(n), every=2):
            if k % 2:
                x = x * generator.normal() + rng.random()
            j = 0
            while j < 2:
                x = math.sin(x) + rng.gauss(0.0, 1.0) * x
                j += 1
            x = sum(generator.normal() * x for _ in range(2))
        return x

    return f


@program(0.5, 9)
def random_numbers_in_a_function(mark: Any) -> Program:
    def dropout(x, rng):
        for _ in range(2):
            x = x * rng.normal() + 0.1 * x * x
        return x

    def f(x, n):
        rng = np.random.default_rng(3)
        x = mark(dropout)(x, rng)
        for _ in mark(range(n), every=2):
            x = mark(dropout)(x, rng)
        return x

    return f


# --- the same derivatives -----------------------------------------------------------------


def copied(arguments: Sequence[Any]) -> list[Any]:
    return pickle.loads(pickle.dumps(list(arguments)))


def assert_same(found: Any, expected: Any) -> None:
    trees.assert_close(found, expected, rel=1e-12)


def pair(name: str) -> tuple[Program, Program, tuple[Any, ...]]:
    make, arguments = PROGRAMS[name]
    return make(wg.checkpoint), make(unmarked), arguments


every_program = pytest.mark.parametrize("name", PROGRAMS)


@every_program
def test_value(name: str) -> None:
    marked, plain, arguments = pair(name)
    assert_same(marked(*copied(arguments)), plain(*copied(arguments)))


@every_program
def test_gradient(name: str) -> None:
    marked, plain, arguments = pair(name)
    mine, theirs = copied(arguments), copied(arguments)
    assert_same(wg.gradient(marked, *mine), wg.gradient(plain, *theirs))
    assert_same(mine, theirs)


@every_program
def test_pullback_twice(name: str) -> None:
    marked, plain, arguments = pair(name)
    mine, theirs = copied(arguments), copied(arguments)
    y, back = wg.pullback(marked, *mine)
    expected, back_of_plain = wg.pullback(plain, *theirs)
    assert_same(y, expected)
    assert_same(mine, theirs)
    for argument in mine:
        if isinstance(argument, np.ndarray):
            argument[...] = 7.0
    assert_same(back(1.0), back_of_plain(1.0))
    assert_same(back(2.0), back_of_plain(2.0))


def total(tree: Any) -> Any:
    """A number that depends on every number in a gradient."""
    if isinstance(tree, dict):
        return sum(total(item) for item in tree.values())
    if isinstance(tree, list | tuple):
        return sum(total(item) for item in tree)
    if isinstance(tree, SimpleNamespace):
        return total(vars(tree))
    return 0.0 if tree is None else np.sum(np.real(tree) ** 2)


NOT_INSIDE = ("argument_changed",)
"""What changes its argument cannot be differentiated inside a program: the program would not see it."""
SECOND = [
    name
    for name, (_, arguments) in PROGRAMS.items()
    if isinstance(arguments[0], float | np.ndarray) and name not in ("complex_state", *NOT_INSIDE)
]


@pytest.mark.parametrize("name", SECOND)
def test_second_derivatives(name: str) -> None:
    marked, plain, arguments = pair(name)

    def second(f: Program) -> Any:
        return wg.gradient(lambda *xs: np.sum(np.sin(wg.grad(f)(*xs))), *copied(arguments))

    assert_same(second(marked), second(plain))
    direction = np.ones_like(arguments[0])
    if isinstance(arguments[0], float):
        direction = 1.0
    mine = wg.hvp(marked)(*copied(arguments), direction)
    assert_same(mine, wg.hvp(plain)(*copied(arguments), direction))


@every_program
def test_tangents(name: str) -> None:
    marked, plain, arguments = pair(name)
    tangents = [
        x if isinstance(x, float | np.ndarray | list | dict) else None for x in copied(arguments)
    ]
    _, push = wg.pushforward(marked, *copied(arguments))
    _, push_plain = wg.pushforward(plain, *copied(arguments))
    assert_same(push(*tangents), push_plain(*tangents))


ONLY_SPECIALISED = ("grid",)
"""Which rows share memory is not known of rows of unknown kind."""


@pytest.mark.parametrize(
    "name", [n for n in PROGRAMS if n not in ("random_numbers", "random_numbers_in_a_function")]
)
def test_source_stands_alone(name: str) -> None:
    marked, plain, arguments = pair(name)
    expected = wg.grad(plain)(*copied(arguments))
    specialised = wg.grad(marked).specialize(*copied(arguments))
    general = () if name in ONLY_SPECIALISED else (wg.grad(marked),)
    for derivative in (*general, specialised):
        text = str(derivative.source)
        assert "wengert" not in text
        namespace: dict[str, Any] = {}
        exec(text, namespace)
        function = namespace[f"grad_{marked.__name__}"]
        assert_same(function(*copied(arguments)), expected)


# --- memory and time ----------------------------------------------------------------------


def oscillators(mark: Any) -> Program:
    def f(a, b, c, d, e, n):
        for _ in mark(range(n)):
            a, b, c, d, e = (
                a + 0.01 * (b * c - a),
                b + 0.01 * (c * d - b),
                c + 0.01 * (math.sin(d) * e - c),
                d - 0.01 * (e * a + d),
                e - 0.01 * (a * b + e),
            )
        return a * b * c * d * e

    return f


def peak(f: Callable[..., Any], *arguments: Any) -> int:
    f(*arguments)
    tracemalloc.start()
    f(*arguments)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


START = (0.1, 0.2, 0.3, 0.4, 0.5)


def test_a_loop_keeps_what_it_carries_and_no_more() -> None:
    gradient = wg.grad(oscillators(unmarked)).specialize(*START, 1)
    assert peak(gradient, *START, 5000) <= 1.3 * 5000 * 5 * 32


def test_memory_grows_with_the_root_of_the_length() -> None:
    gradient = wg.grad(oscillators(wg.checkpoint)).specialize(*START, 1)
    peaks = [peak(gradient, *START, n) for n in (1_000, 10_000, 100_000)]
    assert all(after < 5.5 * before for before, after in pairwise(peaks))
    assert peaks[-1] < 0.02 * 100_000 * 5 * 32


def test_memory_of_a_while_grows_with_the_root_of_the_length() -> None:
    def f(x, n):
        k = 0
        while wg.checkpoint(k < n):
            x = x + 0.001 * math.sin(x)
            k += 1
        return x

    gradient = wg.grad(f).specialize(0.1, 1)
    peaks = [peak(gradient, 0.1, n) for n in (1_000, 10_000, 100_000)]
    assert all(after < 5.5 * before for before, after in pairwise(peaks))


def test_memory_of_a_function_outside_loops_grows_with_the_root_of_the_length() -> None:
    def f(*xs):
        return 2 * wg.checkpoint(oscillators(unmarked))(*xs)

    gradient = wg.grad(f).specialize(*START, 1)
    assert peak(gradient, *START, 10_000) < 0.05 * 10_000 * 5 * 32


def test_second_derivatives_take_no_memory_either() -> None:
    def second(mark: Any) -> Callable[..., Any]:
        f = oscillators(mark)
        return wg.grad(lambda a, n: wg.grad(f)(a, *START[1:], n)).specialize(0.1, 1)

    plain, marked = (peak(second(mark), 0.1, 10_000) for mark in (unmarked, wg.checkpoint))
    assert marked < 0.05 * plain


def counted() -> tuple[Callable[[float], float], list[int]]:
    """A function with a rule that says how often it and its rule have run."""
    runs = [0]

    def noted(x: float) -> float:
        runs[0] += 1
        return math.sin(x)

    @wg.rrule(noted)
    def _(x):  # pyright: ignore[reportUnusedFunction]
        return noted(x), lambda y_bar: y_bar * math.cos(x)

    return noted, runs


@pytest.mark.parametrize("length", [1, 10, 100])
def test_one_more_run(length: int) -> None:
    noted, runs = counted()

    def f(x, n):
        for _ in wg.checkpoint(range(n)):
            x = noted(x)
        return x

    assert wg.grad(f)(0.5, length) == wg.grad(f)(0.5, length)
    assert runs[0] == 2 * 2 * length


def test_one_more_run_of_a_while_and_its_test() -> None:
    noted, runs = counted()
    tests = 0

    def is_left(x):
        nonlocal tests
        tests += 1
        return x > 0.2

    wg.zero_rule(is_left)

    def f(x):
        while wg.checkpoint(is_left(x)):
            x = noted(x)
        return x

    wg.grad(f)(0.5)
    in_gradient = runs[0], tests
    runs[0] = tests = 0
    f(0.5)
    assert in_gradient == (2 * runs[0], tests)


# --- functions ----------------------------------------------------------------------------


@wg.checkpoint
def decorated(x, rate=2.0, *, turns=3):
    for _ in range(turns):
        x = rate * x * (1 - x)
    return x


def test_a_decorated_function_is_the_function() -> None:
    assert decorated.__name__ == "decorated"
    assert decorated(0.3) == decorated.__wrapped__(0.3)  # type: ignore[attr-defined]
    expected = wg.grad(decorated.__wrapped__)(0.3)  # type: ignore[attr-defined]
    assert wg.grad(decorated)(0.3) == pytest.approx(expected, rel=1e-14)
    loaded = pickle.loads(pickle.dumps(wg.grad(decorated)))
    assert loaded(0.3) == wg.grad(decorated)(0.3)
    assert wg.gradient(decorated, 0.3, 2.5)[1] != 0
    assert wg.grad(decorated)(0.3, turns=1) == pytest.approx(2 * (1 - 0.6))


class Layer:
    def __init__(self, w: float):
        self.w = w

    @wg.checkpoint
    def __call__(self, x):
        return math.tanh(self.w * x)


def test_a_decorated_method() -> None:
    layer_bar, x_bar = wg.gradient(lambda layer, x: layer(layer(x)), Layer(0.5), 0.3)
    plain_w, plain_x = wg.gradient(lambda w, x: math.tanh(w * math.tanh(w * x)), 0.5, 0.3)
    assert layer_bar.w == pytest.approx(plain_w)
    assert x_bar == pytest.approx(plain_x)


@pytest.mark.static_tier
def test_a_checkpointed_function_that_changes_its_argument_is_refused() -> None:
    def rescale(v, x):
        v[0] = v[0] * x
        v[1] += v[0] * v[0]

    def f(v, x):
        for _ in range(3):
            wg.checkpoint(rescale)(v, x)
        return np.sum(v * v)

    with pytest.raises(UnsupportedSyntax, match="changes an object from outside it") as caught:
        wg.gradient(f, np.array([0.5, 0.7]), 1.1)
    assert "wg.checkpoint(rescale)(v, x)" in str(caught.value)


def test_the_last_call_is_not_run_again(capsys: pytest.CaptureFixture[str]) -> None:
    def announced(x):
        print("run", end=" ")
        return math.sin(x) * x

    def f(x):
        return wg.checkpoint(announced)(wg.checkpoint(announced)(x)) * 2

    wg.grad(f)(0.5)
    assert capsys.readouterr().out == "run run run "


# --- what is said twice, and what is not --------------------------------------------------


def test_what_is_printed_in_a_loop_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        for k in wg.checkpoint(range(4)):
            x = x * x
            print(k, end=" ")
        return x

    wg.grad(f)(0.9)
    assert capsys.readouterr().out == "0 1 2 3 "


def test_random_numbers_in_an_attempt_are_refused() -> None:
    def f(x):
        for _ in wg.checkpoint(range(10)):
            try:
                x = x * random.random()
            except ValueError:
                x = 0.0
        return x

    with pytest.raises(NoRule) as caught:
        wg.grad(f)(0.9)
    assert "runs twice" in str(caught.value)
    assert "x = x * random.random()" in str(caught.value)


def test_random_numbers_in_a_recursive_function_are_refused() -> None:
    def f(x, n):
        for _ in wg.checkpoint(range(n)):
            x = f(x * random.random(), n - 1)
        return x

    with pytest.raises(NoRule, match="calls itself"):
        wg.grad(f)(0.9, 3)


# --- the interface ------------------------------------------------------------------------


def test_outside_of_derivatives_nothing_happens() -> None:
    numbers = [1, 2]
    assert wg.checkpoint(numbers) is numbers
    assert wg.checkpoint(range(3), every=2) == range(3)
    assert wg.checkpoint(bool(numbers)) is True


@pytest.mark.parametrize("every", [0, -1])
def test_a_block_has_a_length(every: int) -> None:
    def f(x, k):
        for _ in wg.checkpoint(range(20), every=k):
            x = x * x
        return x

    with pytest.raises(BadArgument, match=f"not every {every}"):
        f(0.5, every)
    with pytest.raises(BadArgument, match=f"not every {every}"):
        wg.grad(lambda x: f(x, every))(0.5)
    with pytest.raises(BadArgument, match=f"not every {every}"):
        wg.grad(f)(0.5, every)


def test_what_is_checkpointed_can_still_be_used_as_what_it_is() -> None:
    def f(xs, x):
        flag = wg.checkpoint(x > 0)
        ys = wg.checkpoint(xs)
        total = 2 * x if flag and wg.checkpoint(x > 1) else x * x
        return total + ys[0] * len(ys) + np.sum(wg.checkpoint(xs))

    xs = np.arange(3.0)
    assert_same(wg.gradient(f, xs, 0.5), (np.array([4.0, 1.0, 1.0]), 1.0))
    assert_same(wg.gradient(f, xs, 1.5), (np.array([4.0, 1.0, 1.0]), 2.0))


def test_marks_survive_the_text_of_the_ir() -> None:
    def f(x, n):
        for _ in wg.checkpoint(range(n), every=n):
            while wg.checkpoint(x < 1):
                x = x + 0.5
        return x

    function = wg.code_ir(f, 0.5, 3)
    text = str(function)
    assert " every n:" in text
    assert " every None:" in text
    assert show(parse(text, registry.named), spans=False) == "\n".join(
        line.partition("  #")[0].rstrip() for line in text.splitlines()
    )
