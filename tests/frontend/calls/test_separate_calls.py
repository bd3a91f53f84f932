"""Functions that are called by generated code, not inlined: recursive ones, and large ones."""

import copy
import functools
import importlib
import math
import re
from pathlib import Path

import numpy as np
import oracle
import programs
import pytest
import trees
from differences import agree
from programs import pending
from turns import has_turn

import wengert as wg
from wengert.compile import engine

closure_calls = importlib.import_module("wengert.frontend.calls.closure_calls")

# --- every function of the corpus is taken for a large one --------------------------------


@pytest.fixture
def all_are_large(monkeypatch):
    """Every function is called by itself, but for those that the rules are written with."""
    can_be_separate = closure_calls._can_be_separate
    own = str(Path(wg.__file__).parent)
    monkeypatch.setattr(
        closure_calls,
        "_can_be_separate",
        lambda it, closure, bound: (
            not closure.file.startswith(own) and can_be_separate(it, closure, bound)
        ),
    )
    engine._cache.clear()

    def take_for_large(large):
        engine._cache.clear()
        monkeypatch.setattr(closure_calls, "INLINE_NODES", 0 if large else 10**6)

    yield take_for_large
    engine._cache.clear()


def calls_functions(program):
    """Whether some function is written beside the program, or inside of it."""
    code = program.function.__code__
    inside = any(hasattr(constant, "co_code") for constant in code.co_consts)
    return inside or any(callable(program.function.__globals__.get(n)) for n in code.co_names)


CALLING = [
    p
    for p in programs.PROGRAMS
    if has_turn(p.name, 1, 2) and calls_functions(p) and p.name not in pending.GRADIENT
]


@pytest.mark.parametrize("program", CALLING, ids=lambda program: program.name)
def test_calls_find_what_inlined_code_finds(program, all_are_large):
    found = []
    for large in (True, False):
        all_are_large(large)
        value, back = wg.pullback(program.function, *copy.deepcopy(program.points[0]))
        bars = back(trees.random_like(value))
        found.append((value, [bars[i] for i in program.wrt]))
    (value, bars), (expected_value, expected) = found
    trees.assert_close(value, expected_value, rel=1e-13)
    trees.assert_close(bars, expected, rel=1e-9, scale=1.0)


def steered(x, how, times, scale=None):
    for _ in range(times):
        x = np.sin(x) if how == "sine" else x * x
    return x if scale is None else x * scale


def steered_in_three_ways(x):
    return steered(x, "sine", 2) + steered(x, "square", 3, x) + steered(x, "sine", 2) * x


def steered_in_many_ways(x):
    return sum([steered(x, "sine", k) for k in (1, 2, 3, 4, 5, 6)])


@pytest.mark.parametrize(("f", "count"), [(steered_in_three_ways, 2), (steered_in_many_ways, 4)])
def test_a_large_function_is_read_for_few_choices_of_constants(f, count, all_are_large):
    all_are_large(large=True)
    assert wg.grad(f)(0.7) == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6, rel=1e-8)
    text = wg.grad(f).specialize(0.7).source
    assert len(re.findall(r"def forward_steered(?:_\d+)?\(", text)) == count
    if f is steered_in_three_ways:
        assert '"sine"' not in text
        assert wg.jit(wg.grad(f), strict=True)(0.7) == pytest.approx(wg.grad(f)(0.7), rel=1e-13)


def changed_by_a_call(x, a):
    b = np.full(4, x)
    c = a[::-1]
    kept = {"p": b, "q": b}
    if x > 0.1:
        for _ in a:
            a, b, c = c, a, b
            b += x

    def change(e):
        b[0] = e

    change(b[0])
    return b.sum() + kept["p"].sum()


def test_a_call_changes_the_array_that_a_branch_has_chosen(all_are_large):
    all_are_large(True)
    given, left = (np.array([0.1, 0.2, 0.3, 0.4]) for _ in range(2))
    value, back = wg.pullback(changed_by_a_call, 1.3, given)
    assert value == pytest.approx(changed_by_a_call(1.3, left))
    assert back(1.0)[0] == pytest.approx(20.0)
    assert given.tolist() == left.tolist()


# --- two functions that one definition makes ----------------------------------------------


def with_base(g):
    def product(x, n):
        if n == 0:
            return g(x)
        return product(x, n - 1) * x

    return product


def with_inner_function(g):
    def product(x, n):
        def base(y):
            return g(y)

        if n == 0:
            return base(x)
        return product(x, n - 1) * x

    return product


def with_class(shifted):
    class Plain:
        def base(self, x):
            return math.sin(x)

    class Shifted:
        def base(self, x):
            return math.cos(x)

    chosen = Shifted if shifted else Plain

    def product(x, n):
        if n == 0:
            return chosen().base(x)
        return product(x, n - 1) * x

    return product


def by_turns(g):
    def even(x, n):
        return g(x) if n == 0 else odd(x, n - 1) * x

    def odd(x, n):
        return g(2 * x) if n == 0 else even(x, n - 1) * x

    return even


def two_bases(x):
    return with_base(math.sin)(x, 3) + 10 * with_base(math.cos)(x, 3)


def two_inner_functions(x):
    return with_inner_function(math.sin)(x, 3) + 10 * with_inner_function(math.cos)(x, 3)


def two_classes(x):
    return with_class(True)(x, 3) + 10 * with_class(False)(x, 3)


def two_pairs(x):
    return by_turns(math.sin)(x, 3) + 10 * by_turns(math.cos)(x, 4)


made_before = with_base(math.sin), with_base(math.cos)


def two_made_before(x):
    first, second = made_before
    return first(x, 3) + 10 * second(x, 3)


def bases_in_a_loop(x):
    total = 0.0
    for k, g in enumerate((math.sin, math.cos, lambda t: t * x)):
        total += (k + 1) * with_base(g)(x, 3)
    return total


def with_exponent(k):
    def product(x, n, k=k):
        if n == 0:
            return x**k
        return product(x, n - 1) * x

    return product


def two_defaults(x):
    return with_exponent(2)(x, 3) + 10 * with_exponent(3)(x, 3)


@pytest.mark.parametrize(
    "f",
    [
        two_bases,
        two_inner_functions,
        two_classes,
        two_pairs,
        two_made_before,
        bases_in_a_loop,
        two_defaults,
    ],
)
def test_two_functions_of_one_definition_are_two(f):
    agree(f, 0.7, 1.3)


# --- two functions that remember their results --------------------------------------------


def remembering(g):
    @functools.cache
    def sums(y, n):
        if n < 2:
            return g(y)
        return sums(y, n - 1) * y + sums(y, n - 2)

    return sums


def two_memories(x):
    return remembering(math.sin)(x, 4) + 10 * remembering(math.cos)(x, 4)


def one_memory_for_two_numbers(x):
    sums = remembering(math.sin)
    total = sums(x, 4) + sums(x * 0.5, 4)
    for k in range(2, 4):
        total = total + sums(x, k) * sums(x * 0.5, k)
    return total


def squared(g):
    @functools.cache
    def square(y):
        return g(y) ** 2

    return square


def results_of_two(x):
    return squared(math.sin)(x) + 10 * squared(math.cos)(x)


@pytest.mark.parametrize("f", [two_memories, one_memory_for_two_numbers, results_of_two])
def test_each_function_remembers_its_own_results(f):
    agree(f, 0.7, 1.3)


def table_of_calls(x, n):
    calls = []

    @functools.cache
    def sums(k):
        calls.append(k)
        return x if k < 2 else sums(k - 1) * x + sums(k - 2)

    return sums(n) + sums(n - 1) + sums(n) + len(calls)


def test_what_is_remembered_by_all_arguments_is_computed_once():
    assert table_of_calls(0.7, 5) == wg.value_and_grad(table_of_calls)(0.7, 5)[0]
    agree(functools.partial(table_of_calls, n=5), 0.7)


# --- functions that a branch makes --------------------------------------------------------


def with_default(c):
    def scaled(y, *, c=c):
        return y * c

    return scaled


def with_method(c):
    class Scale:
        def scaled(self, y):
            return y * c

    return Scale().scaled


def default_of_a_branch(x):
    scaled = with_default(x * 2) if x > 1.0 else with_default(x * x)
    return scaled(x)


def method_of_a_branch(x):
    if x > 1.0:
        scaled = with_method(x * 2)
    else:
        scaled = with_method(x * x)
    return scaled(x)


@pytest.mark.parametrize("f", [default_of_a_branch, method_of_a_branch])
def test_functions_take_along_what_a_branch_computes(f):
    agree(f, 0.7, 1.3)


def with_class_attribute(c):
    class Scale:
        factor = c

        def scaled(self, y):
            return y * self.factor

    return Scale()


def class_of_a_branch(x):
    if x > 1.0:
        scale = with_class_attribute(x * 2)
    else:
        scale = with_class_attribute(x * x)
    return scale.scaled(x)


def test_a_class_that_a_branch_makes():
    agree(class_of_a_branch, 0.7, 1.3)


def with_choice(squares):
    class Power:
        def of(self, y):
            if squares:
                return y * y
            return y * y * y

    return Power()


def method_of_an_unknown_class(x):
    power = with_choice(True) if x > 1.0 else with_choice(False)
    return power.of(x) ** 2


def test_a_method_of_a_class_known_only_to_the_run_finds_what_is_around_it():
    """Forward mode has run it as it stands, with something else in place of `squares`."""
    agree(method_of_an_unknown_class, 0.7, 1.3)


# --- what a function takes from those around it -------------------------------------------


def own_names_of_an_inner_function(x):
    def half(y, n):
        i = n - 1
        if i < 0:
            return y
        return half(sum([y / 4 for j in range(2)]), i)

    total = x
    for _ in range(2):
        total = total + half(x, 3)
        for i in range(2):
            for j in range(2):
                total = total + half(x, i + j)
    return total


def test_names_that_a_function_binds_are_its_own():
    """Where the function is first called, the loops around it have not bound `i` and `j` yet."""
    agree(own_names_of_an_inner_function, 0.7)


def names_of_one_path(x, scaled):
    if scaled:
        factor, weights, table = 2 * x, x * np.ones(2), [x, 3.0]

    def repeated(y, n):
        if n == 0:
            return y
        if scaled:
            return repeated(y * factor * weights.sum() / table[0], n - 1)
        return repeated(y * x, n - 1)

    return repeated(x, 2)


@pytest.mark.parametrize("scaled", [True, False])
def test_names_that_a_path_leaves_unbound_reach_a_recursive_function(scaled):
    agree(lambda x: names_of_one_path(x, scaled), 0.7)
    agree(wg.grad(lambda x: names_of_one_path(x, scaled)), 0.7)


def test_a_name_that_the_path_taken_leaves_unbound_is_missed_where_it_is_read():
    def f(x):
        if x < 0:
            factor = x

        def repeated(y, n):
            return repeated(y * x, n - 1) if n else y * factor

        return repeated(x, 2)

    assert wg.grad(f)(-2.0) == 4 * (-2.0) ** 3
    with pytest.raises(NameError) as pythons:
        f(2.0)
    for derived in (wg.grad(f), wg.derivative(f), wg.jit(wg.grad(f))):
        with pytest.raises(NameError) as ours:
            derived(2.0)
        assert (type(ours.value), str(ours.value)) == (type(pythons.value), str(pythons.value))


def left_early(x, weights, n):
    level = 0.5 * x
    for _ in range(n):
        if level > 1e6:
            return abs(weights)
        weights[:] = weights * level
    return x * 0.5 + level + weights.sum()


def test_what_a_loop_has_left_unbound_is_saved_for_the_second_derivative(all_are_large):
    """The cotangent of what a call saves is made of nothing there."""
    all_are_large(large=True)

    def slope(x):
        return wg.grad(left_early)(x, np.array([0.3, 0.5]), 2)

    assert wg.grad(slope)(0.3) == pytest.approx(0.4)
    assert wg.derivative(slope)(0.3) == pytest.approx(0.4)


def left_with_results_of_three_kinds(x, a):
    b, v, tries = a * x, 0.5 * x, 0
    while tries < 3:
        tries += 1
        if tries == 2:
            v = np.sum(a * x) * 0.3
            if x > 1e6:
                return abs(b)
        v = 2
    try:
        if a[0] < x:
            raise ValueError  # noqa: TRY301
        steps = 0
        while steps < 3:
            steps += 1
            if x > 1e6:
                return -0.75, x
            v -= x * x
    except ValueError:
        a[1] = a.max() * x * x
    return v * x + a.sum() + b.sum()


@pytest.mark.parametrize("first", [0.1, 1.3])
def test_results_of_several_kinds_are_saved_for_the_second_derivative(first, all_are_large):
    all_are_large(large=True)

    def slope(x):
        return wg.grad(left_with_results_of_three_kinds)(x, np.array([first, 0.5]))

    difference = (slope(0.3 + 1e-6) - slope(0.3 - 1e-6)) / 2e-6
    assert wg.grad(slope)(0.3) == pytest.approx(difference, rel=1e-8)
    assert wg.derivative(slope)(0.3) == pytest.approx(difference, rel=1e-8)


# --- recursion that changes what it shares ----------------------------------------------------


def filling(make):
    def program(x, n):
        kept = make(n)

        def fill(k):
            if k == n:
                return 0.0
            kept[k] = math.sin(x * k) + (0.5 * kept[k - 1] if k else 0.0)
            return fill(k + 1) + kept[k]

        return fill(0)

    return program


@pytest.mark.parametrize("make", [lambda n: [0.0] * n, np.zeros], ids=["list", "array"])
def test_the_cotangent_of_what_a_recursion_fills_is_handed_over(make):
    """Each call adds to the one list or array, so that a call takes the time of what it does."""
    program = filling(make)
    gradient = wg.grad(program)
    assert gradient(0.7, 9) == pytest.approx(oracle.central_gradient(program, 0.7, 9, wrt=(0,))[0])
    assert "snapshot" not in gradient.specialize(0.7, 9).source
    assert wg.derivative(lambda x: program(x, 9), order=2)(0.7) == pytest.approx(
        oracle.central_gradient(lambda x: gradient(x, 9), 0.7)[0]
    )


def test_whoever_reads_the_cotangent_after_a_call_has_handed_it_over_reads_what_it_was():
    def program(x):
        kept = [x, x * x, 1.0]

        def halve(k):
            if k == 3:
                return
            kept[k] = 0.5 * kept[k] * (1 + kept[0])
            halve(k + 1)

        halve(0)
        middle = list(kept)
        halve(1)
        return sum(a * b for a, b in zip(kept, middle, strict=True)) + middle[0] * kept[2]

    slope = oracle.central_gradient(program, 0.8)[0]
    assert wg.grad(program)(0.8) == pytest.approx(slope)
    assert wg.jit(wg.grad(program))(0.8) == pytest.approx(slope)


def by_cache(x, n):
    @functools.cache
    def paths(i, j):
        return 1.0 if i == 0 or j == 0 else x * paths(i - 1, j) + paths(i, j - 1) / x

    return paths(n, n)


def by_memo(x, n):
    memo = {}

    def paths(i, j):
        if i == 0 or j == 0:
            return 1.0
        if (i, j) not in memo:
            memo[i, j] = x * paths(i - 1, j) + paths(i, j - 1) / x
        return memo[i, j]

    return paths(n, n)


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (by_cache, "paths remembers its results and calls itself"),
        (by_memo, "paths calls itself and changes a dictionary or an object that all of its calls"),
    ],
)
def test_a_recursion_that_remembers_its_results_is_recorded(program, reason):
    gradient = wg.grad(program)
    assert gradient(0.7, 6) == pytest.approx(oracle.central_gradient(program, 0.7, 6, wrt=(0,))[0])
    told = gradient.explain(0.7, 6)
    assert "recorded" in told
    assert reason in told


def scaled(a, x):
    for k in range(len(a)):
        a[k] = a[k] * 0.8 + x
    return (a * a).sum() * x


def scaled_in_turn(a, n, x):
    if n == 0:
        return x
    rest = scaled_in_turn(a, n - 1, x * 0.5)
    a[0] = a[0] * rest
    return (a * a).sum() + rest


def scaled_twice(x):
    a = np.array([x, 2.0, x * x])
    first = scaled(a, x)
    return first + scaled(a, first * 0.1) + a.sum()


def scaled_in_a_loop(x):
    a, total = np.array([x, 2.0, x * x]), x
    for _ in range(3):
        total = total * 0.1 + scaled(a, x)
    return total


def scaled_in_turn_and_written_to(x):
    a = np.array([x, 2.0, x * x])
    first = scaled_in_turn(a, 3, x)
    a[0] = 0.0
    return first + scaled_in_turn(a, 2, x)


@pytest.mark.parametrize(
    "function", [scaled_twice, scaled_in_a_loop, scaled_in_turn_and_written_to]
)
def test_what_a_call_needs_later_is_copied_before_another_changes_it(function, monkeypatch):
    """Where a separately called function is reversed, it keeps the very array that the next call changes."""
    monkeypatch.setattr(closure_calls, "INLINE_NODES", 1)
    derivative = wg.grad(function, tier="static")
    numeric = (function(0.9 + 1e-6) - function(0.9 - 1e-6)) / 2e-6
    assert derivative(0.9) == pytest.approx(numeric, rel=1e-6)
    assert wg.jit(derivative)(0.9) == pytest.approx(numeric, rel=1e-6)
    assert derivative.specialize(0.9)(0.9) == pytest.approx(numeric, rel=1e-6)
