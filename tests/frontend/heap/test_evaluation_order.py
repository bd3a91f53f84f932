"""What Python evaluates in which order, which object an operator changes, and who sees it."""

import copy
import operator
from collections import Counter, defaultdict, deque

import numpy as np
import pytest
import standing_alone

import wengert as wg

PROGRAMS = {}
factor = 1.0
weights = np.ones(2)


def program(*more):
    def note(function):
        PROGRAMS[function.__name__] = function, more
        return function

    return note


# --- an operand, an index or an argument changes what stands before it --------------------------


@program([2.0])
def index_changes_the_list(x, items):
    def index():
        items[0] = x
        return 0

    return items[index()]


@program([2.0])
def index_changes_the_list_of_an_augmented_assignment(x, items):
    def index():
        items[0] = x
        return 0

    items[index()] += 1.0
    return items[0]


@program({"k": 2.0})
def key_changes_the_dictionary(x, table):
    def key():
        table["k"] = x
        return "k"

    return table[key()] + table.get(key(), 3.0)


@program([2.0])
def bound_of_a_slice_changes_the_list(x, items):
    def stop():
        items[0] = x
        return 1

    return sum(items[: stop()])


@program([2.0])
def right_operand_changes_the_left_one(x, items):
    def rest():
        items[0] = x
        return []

    return sum(items + rest())


@program([2.0])
def method_changes_its_list_in_an_index(x, items):
    return items[items.append(x) or 1]


# --- operators that change an object --------------------------------------------------------------


@program()
def list_repeated_in_place(x):
    items = [x]
    other = items
    other *= 2
    return sum(items)


@program([1.0, 2.0])
def given_list_repeated_in_place(x, items):
    items *= 2
    return x * sum(items)


@program([1.0, 2.0])
def list_written_to_and_repeated(x, items):
    items[0] = x
    items *= 2
    return sum(items)


@program()
def lists_emptied_and_repeated(x):
    items, empty = [x, x], []
    other = items
    items *= 0
    empty *= 3
    items.append(x)
    return sum(other) * x + len(empty)


@program(np.array([2.0, 1.0]))
def array_with_more_axes_without_a_copy(x, a):
    b = np.array(a, copy=None, ndmin=2)
    b[0, 0] = x
    return a[0]


@program([1.0])
def chosen_list_repeated_in_place(x, items):
    chosen = items if x > 0 else [x]
    chosen *= 2
    return x * len(items)


@program()
def dictionary_merged_in_place(x):
    table = {"a": x}
    other = table
    other |= {"b": x * x}
    return table["b"] + len(table)


@program()
def list_times_an_array(x):
    items = [x, 2.0]
    items *= np.array([1.0, 2.0])
    return items[1] * x + items[0]


@program()
def deque_repeated_in_place(x):
    queue = deque([x])
    other = queue
    queue *= 2
    return sum(other + deque([x]) * 2)


@program()
def counters_added(x):
    first, second = Counter({"a": x, "b": 2.0}), Counter({"a": x * x, "c": -1.0})
    return (first + second)["a"] * len(first + second) + (first - second)["b"]


@program()
def default_dictionary_copied(x):
    table = defaultdict(float)
    table[0] += x
    other = table.copy()
    other[1] += x * x
    return dict(table)[0] + other[1] + len(table)


# --- conditions -----------------------------------------------------------------------------------


@program([], [2.0])
def chosen_by_the_truth_of_a_list_that_changes(x, first, second):
    chosen = first if first else second  # noqa: FURB110
    first.append(1.0)
    chosen[0] *= x
    return second[0]


@program([], [2.0])
def chosen_by_a_pattern(x, first, second):
    match first:
        case []:
            chosen = second
        case _:
            chosen = first
    first.append(1.0)
    chosen[0] *= x
    return second[0]


# --- iterators that are asked from two sides ------------------------------------------------------


@program()
def items_in_pairs(x):
    return sum(a * b for a, b in zip(*[iter([x, 2 * x, 3 * x, 4 * x])] * 2, strict=False))


# --- functions that recurse and give back what they are given -------------------------------------


def same(items, n):
    return items if n == 0 else same(items, n - 1)


@program([2.0])
def recursion_gives_the_list_back(x, items):
    same(items, 1)[0] = x
    return items[0]


@program(np.array([2.0, 1.0, 3.0]))
def recursion_gives_the_array_back(x, a):
    same(a, 2)[0] = x
    return a[0] * a[2]


# --- calls that give the array itself -------------------------------------------------------------


@program(np.array([2.0, 1.0]))
def converted_without_a_copy(x, a):
    b = a.astype(float, copy=False)
    b[0] = x
    return a[0] * x


@program(np.array([2.0, 1.0]))
def array_without_a_copy(x, a):
    b = np.array(a, copy=None)
    b[0] = x
    return a[0] * x


@program(np.array([2.0, 1.0]))
def numpy_type_of_an_array(x, a):
    b = np.float64(a)
    b[0] = x
    return a[0] * x


@program(np.array([2.0, np.nan]))
def numbers_replaced_in_place(x, a):
    b = np.nan_to_num(a, copy=False)
    b[0] = x
    return a[0] * x + a[1]


@program(np.array([2.0, 1.0]))
def conjugate_is_a_copy(x, a):
    b = np.conjugate(a)
    a[0] = x
    return b[0] * x + a[0]


@program(np.array([2.0, 1.0, 3.0]))
def slice_of_flat_is_a_copy(x, a):
    b = a.flat[:]
    a[0] = x
    return b[0] * x + a[0]


@program(np.array([2.0, 1.0, 3.0]))
def windows_see_the_array_change(x, a):
    windows = np.lib.stride_tricks.sliding_window_view(x=a, window_shape=2)
    a[1] = x
    return np.sum(windows**2)


@program(np.array([[2.0, 1.0], [3.0, 4.0]]))
def diagonal_by_einsum(x, m):
    d = np.einsum("ii->i", m)
    d *= x
    return np.sum(m**2)


@program(np.array([1.0, 2.0]))
def added_twice_at_one_place(x, a):
    np.add.at(a, [0, 0], x * x)
    return a[0]


def differences(function, more, x=0.7, step=1e-5):
    high, low = (function(at, *copy.deepcopy(more)) for at in (x + step, x - step))
    return (high - low) / (2 * step)


REFUSED = {
    "reverse": set(),
    "alone": {
        "chosen_list_repeated_in_place",
        "list_written_to_and_repeated",
        "array_with_more_axes_without_a_copy",
        "diagonal_by_einsum",
        "windows_see_the_array_change",
        "recursion_gives_the_list_back",
        "recursion_gives_the_array_back",
        "converted_without_a_copy",
        "array_without_a_copy",
        "numpy_type_of_an_array",
        "numbers_replaced_in_place",
    },
}


def reverse(function):
    return wg.grad(function)


def alone(function):
    return standing_alone.alone(wg.grad(function))


@pytest.mark.parametrize("how", [reverse, alone], ids=operator.attrgetter("__name__"))
@pytest.mark.parametrize("name", PROGRAMS)
def test_right_or_refused(name, how):
    function, more = PROGRAMS[name]
    if name in REFUSED[how.__name__]:
        with pytest.raises((NotImplementedError, ValueError)) as caught:
            how(function)(0.7, *copy.deepcopy(more))
        assert caught.value.code == "WG101"
        return
    expected = differences(function, more)
    plain, given = copy.deepcopy(more), copy.deepcopy(more)
    function(0.7, *plain)
    assert how(function)(0.7, *given) == pytest.approx(expected, rel=1e-6)
    for a, b in zip(plain, given, strict=True):
        np.testing.assert_equal(a, b)  # the arguments are left as a plain call leaves them


def test_an_element_named_twice_is_added_to_twice_in_second_derivatives():
    a = np.array([1.0])
    assert wg.grad(wg.grad(added_twice_at_one_place))(0.7, a) == pytest.approx(4.0)
    np.testing.assert_allclose(a, [1.0 + 2 * 0.7**2])


def doubling(x):
    global factor
    factor *= 2
    weights[0] += x
    return x * factor * weights[0]


def test_a_pushforward_runs_with_globals_as_they_were():
    global factor, weights
    factor, weights = 1.0, np.ones(2)
    value, push = wg.pushforward(doubling, 0.7)
    assert value == pytest.approx(0.7 * 2 * 1.7)
    assert [push(1.0), push(1.0)] == pytest.approx([2 * (1 + 2 * 0.7)] * 2)
    assert factor == 2.0
    np.testing.assert_allclose(weights, [1.7, 1.0])


# --- containers in a known order ------------------------------------------------------------------


def squares_inside(tree):
    if isinstance(tree, dict):
        return sum(k * squares_inside(v) for k, (_, v) in enumerate(sorted(tree.items()), 1))
    return np.sum(tree) ** 2


def by_name_backwards(p):
    return sum(p[name] * k for k, name in enumerate(sorted(p, reverse=True), 1))


def test_dictionaries_walked_over_by_name():
    tree = {"b": {"d": 2.0, "c": 1.5}, "a": np.array([0.5, 1.0])}
    expected = {"b": {"d": 16.0, "c": 6.0}, "a": np.array([3.0, 3.0])}
    np.testing.assert_equal(wg.grad(squares_inside)(tree), expected)
    assert wg.grad(by_name_backwards)({"a": 1.0, "c": 2.0, "b": 3.0}) == {
        "a": 3.0,
        "c": 1.0,
        "b": 2.0,
    }
