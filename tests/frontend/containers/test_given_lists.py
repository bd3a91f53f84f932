"""Lists and dictionaries that are given and change: in loops over them, by slices, by `+=` and `update`."""

import copy
from itertools import islice

import numpy as np
import pytest
from differences import slope

import wengert as wg
from wengert.errors import UnsupportedSyntax

PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


@program
def the_last_is_replaced(x, xs, d):
    total = 0.0
    for v in xs:
        total += v
        xs[-1] = x
    return total


@program
def each_depends_on_the_one_before(x, xs, d):
    total = 0.0
    for i, v in enumerate(xs):
        total += v
        if i + 1 < len(xs):
            xs[i + 1] = v * x
    return total


@program
def replaced_on_one_path(x, xs, d):
    total = 0.0
    for v in xs:
        total += v * x
        if v > 0:
            xs[1] = x
    return total


@program
def values_of_a_dictionary(x, xs, d):
    total = 0.0
    for v in d.values():
        total += v * v
        d["c"] = x
    return total


@program
def two_for_clauses(x, xs, d):
    ys = [x, 2.0]
    return sum(islice((p * q for p in [1.0, 3.0] for q in ys), 3))


@program
def a_slice_takes_items(x, xs, d):
    ys = [1.0, 2.0]
    xs.append(x)
    ys[0:1] = xs
    return sum(xs) * x + sum(ys)


@program
def a_slice_of_itself(x, xs, d):
    xs.append(x)
    xs[1:3] = xs
    return sum((k + 1) * v for k, v in enumerate(xs)) * x


@program
def a_copy_on_one_path(x, xs, d):
    others = []
    xs.append(x)
    if x > 2:
        others = xs.copy()
    return sum((k + 1) * v for k, v in enumerate(xs)) + sum(others)


@program
def updated_again_and_again(x, xs, d):
    for v in xs:
        d.update({"a": v * x})
    return d["a"] * d["b"]


@program
def updated_with_pairs(x, xs, d):
    d.update([("a", x)])
    d.update(zip("bc", (xs[0], xs[1]), strict=True))
    d.update((key, 2 * x) for key in "de")
    return d["a"] * d["b"] * d["c"] * d["e"]


@program
def neighbours(x, xs, d):
    total = 0.0
    for a, b in zip(xs, xs[1:], strict=False):  # noqa: RUF007
        total += a * b
        xs[-1], xs[1] = x, x * x
    return total


@program
def backwards(x, xs, d):
    total = 0.0
    for v in reversed(xs):
        total += v * v
        xs[0] = x
    return total


@program
def rows_that_are_replaced(x, xs, d):
    total, rows = 0.0, [np.ones(2) * v for v in xs]
    for a, b in zip(rows, rows[1:], strict=False):  # noqa: RUF007
        total += np.sum(a * b)
        rows[2] = x * np.ones(2)
    return total


def arguments():
    return 0.83, [0.7, -0.4, 1.3, 0.25], {"a": 0.6, "b": -1.2, "c": 0.35}


@program
def maybe_another_list_by_now(x, xs, d):
    for k in range(2):
        if x * k > 5:
            xs = [t * 0.5 for t in xs]
    for k in range(2):
        xs[k] += x
    return xs[0] * xs[1]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_and_what_is_left(f, times):
    x, xs, d = arguments()
    others = [xs * times, d]
    expected = pytest.approx(slope(lambda x: f(x, *copy.deepcopy(others)), x), rel=1e-8, abs=1e-9)
    left = copy.deepcopy(others)
    value = f(x, *left)
    args = copy.deepcopy(others)
    assert wg.value_and_grad(f)(x, *args) == (pytest.approx(value, rel=1e-13), expected)
    assert args == left
    args = copy.deepcopy(others)
    assert wg.pushforward(f, x, *args)[1](1.0, None, None) == expected
    assert args == left


REFUSED_IN_SOURCE = (a_slice_of_itself, updated_with_pairs, rows_that_are_replaced)
IN_SOURCE = [f for f in PROGRAMS if f not in REFUSED_IN_SOURCE]


@pytest.mark.parametrize("f", IN_SOURCE)
def test_source_that_stands_alone(f):
    x, *others = arguments()
    namespace = {}
    exec(wg.grad(f).source, namespace)
    found = namespace[f"grad_{f.__name__}"](x, *copy.deepcopy(others))
    assert found == pytest.approx(wg.grad(f)(x, *copy.deepcopy(others)), rel=1e-12)


def test_more_of_what_a_run_asks_once():
    def f(x, xs):
        ys = [v for v in xs if v * x > 0]
        ys += (x * v for v in xs)
        return sum(ys)

    namespace = {}
    exec(wg.grad(f).source, namespace)
    assert namespace["grad_f"](0.5, [1.0, 2.0, -4.0]) == -1.0


def test_a_list_that_gets_longer_while_a_loop_walks_over_it_is_refused():
    def f(x, xs):
        total = 0.0
        for v in xs:
            total += v * x
            if len(xs) < 6:
                xs.append(v)
        return total

    with pytest.raises(UnsupportedSyntax, match="changes while a loop walks over it"):
        wg.grad(f)(0.5, [1.0, 2.0])


def test_objects_that_a_slice_takes_from_another_list():
    def changed(x, rows):
        rows.append(x * np.ones(2))
        ys = [np.ones(2)]
        ys[0:1] = rows
        ys[0][0] = 5 * x
        return np.sum(rows[0] * rows[-1])

    def replaced(x, rows):
        rows.append(x * np.ones(2))
        ys = [np.ones(2)]
        ys[0:1] = rows
        rows[0] = rows[-1] * 3
        return sum(np.sum(row * (k + 1)) for k, row in enumerate(ys)) + rows[0][1]

    with pytest.raises(UnsupportedSyntax, match="changed under another name"):
        wg.grad(changed)(2.0, [np.ones(2)])
    assert wg.grad(replaced)(2.0, [np.ones(2)]) == 7.0


def swapped_and_grown(x, xs):
    ys = list(xs)
    for _ in range(3):
        xs, ys = ys, xs
        ys += [x]
        ys = xs
    return sum(ys) * 0.3 + len(xs) + xs[0] * xs[-1]


def one_list_from_the_second_turn_on(x, xs):
    ys = list(xs)
    for _ in range(3):
        ys += [x]
        ys = xs
    return sum(xs)


@pytest.mark.parametrize("program", [swapped_and_grown, one_list_from_the_second_turn_on])
def test_a_list_that_grows_by_an_operator_grows_under_all_its_names(program):
    def given():
        return 0.7, [0.66, -0.58, 0.29]

    slope = (program(0.7 + 1e-6, given()[1]) - program(0.7 - 1e-6, given()[1])) / 2e-6
    value, gradient = wg.value_and_grad(program)(*given())
    assert value == program(*given())
    assert gradient == pytest.approx(slope, rel=1e-8)
    assert wg.pushforward(program, *given())[1](1.0, None) == pytest.approx(slope, rel=1e-8)


def changing_places_with_a_new_one(x, given):
    mine = {0: x} if isinstance(given, dict) else [x]
    for _ in range(4):
        mine[0] = mine[0] + x
        given, mine = mine, given
    return x * mine[0] + given[0]


def growing_by_turns(x, given):
    mine = [x]
    for turn in range(5):
        for _ in range(2):
            mine.append(2 * x)
            if turn < 1:
                continue
            mine.insert(-1, x * x)
        given, mine = mine, given
    return x * sum(mine) + sum(given)


def an_item_changes_places(x, given):
    mine = [x]
    for _ in range(3):
        mine.append(x)
        mine, given[0] = given[0], mine
    return x * sum(mine)


@pytest.mark.parametrize(
    ("program", "given"),
    [
        (changing_places_with_a_new_one, [0.4, 1.5]),
        (changing_places_with_a_new_one, {0: 0.4, 1: 1.5}),
        (growing_by_turns, [0.4, 1.5]),
        (an_item_changes_places, [[0.4], [1.5]]),
    ],
)
def test_what_is_given_and_changes_places_with_something_new_is_left_as_the_program_leaves_it(
    program, given
):
    expected, mine, again = (copy.deepcopy(given) for _ in range(3))
    slope = (program(0.7 + 1e-6, copy.deepcopy(given)) - program(0.7 - 1e-6, given)) / 2e-6
    value = program(0.7, expected)
    found, pull = wg.pullback(program, 0.7, mine)
    assert (found, mine) == (value, expected)
    assert pull(1.0)[0] == pytest.approx(slope, rel=1e-8)
    value_again, push = wg.pushforward(program, 0.7, again)
    assert (value_again, again) == (value, expected)
    assert push(1.0, None) == pytest.approx(slope, rel=1e-8)
