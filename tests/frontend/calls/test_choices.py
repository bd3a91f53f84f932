"""Functions, names and items that the run chooses."""

# programs under test are written as users write them

import functools
import math
import operator

import numpy as np
import pytest
from differences import agree

import wengert as wg


def square(x):
    return x * x


def cube(x):
    return x**3


def from_a_list(x):
    return [square, cube][int(x > 1)](x)


def from_a_dict(x):
    return {0: square, 1: cube, 2: math.sin}[int(x)](x)


def from_a_list_in_a_loop(x):
    functions = [math.sin, lambda y: y * 3, cube]
    total = 0.0
    for k in range(12):
        total += functions[k % 3](x) * k
    return total


def by_a_condition(x):
    f = square if x > 1 else cube
    return (math.exp if x > 2 else f)(x)


def test_functions_that_the_run_chooses():
    agree(from_a_list, 0.5, 2.0)
    agree(from_a_dict, 0.5, 1.5, 2.5)
    agree(from_a_list_in_a_loop, 0.7)
    agree(by_a_condition, 0.5, 1.5, 2.5)


def bound_on_one_path(x):
    if x > 1:
        y = x
    try:
        return y * 2
    except NameError:
        return x * 3


def test_a_name_that_one_path_binds():
    agree(bound_on_one_path, 0.5, 1.5)


def test_a_name_that_is_not_bound():
    def f(x):
        if x > 1:
            y = x * x
        return y

    assert wg.gradient(f, 2.0) == (4.0,)
    with pytest.raises(UnboundLocalError, match="'y'"):
        wg.gradient(f, 0.5)


def several_exits(x):
    k = 0
    while True:
        k += 1
        x = x * 1.5
        if x > 9:
            break
        if k > 6:
            return x * k
        if int(x) == 3:
            continue
        x = x + 0.1
    else:
        return 0.0
    return x * x


def loop_with_else(x):
    for k in range(5):
        if k * x > 3:
            y = k * x
            break
    else:
        y = x**3
    return y


def test_loops_with_several_exits():
    agree(several_exits, 1.1, 0.2)
    agree(loop_with_else, 0.5, 1.1)


def of_nothing(x):
    empty = [y for y in (x, 2.0) if y > 100]
    total = max(empty, default=x * 5) + min([], default=x * 2) + sum([], x) + math.prod(empty)
    return total + max((k * x for k in range(3) if k > 9), default=x**2)


def of_tuples(x):
    largest = max((x * x, 1.0), (x, 2.0))
    smallest = min([(x, 3), (x, 2), (5.0, 1)])
    return largest[0] * largest[1] + smallest[0] * smallest[1]


def test_extremes():
    agree(of_nothing, 1.3)
    agree(of_tuples, 0.7, 1.4)


def test_the_largest_of_nothing():
    def f(x):
        return max([y for y in (x, 2.0) if y > 100])

    with pytest.raises(ValueError, match="empty"):
        wg.gradient(f, 1.0)


def tools_of_operator(x):
    second = operator.itemgetter(1)
    real = operator.attrgetter("real")
    total = second([x, x * x]) + operator.getitem([x, 2 * x], 1) + real(x)
    return total + functools.reduce(operator.add, map(operator.mul, [x, 2.0], [3.0, x]))


def test_operator():
    agree(tools_of_operator, 1.3)


def letters(x, text):
    total = 0.0
    for k, letter in enumerate(text):
        if letter == "a":
            total += x ** (k + 1)
    return total


def digits(x, n):
    return sum(x ** int(digit) for digit in str(n))


def test_text_of_the_run():
    agree(lambda x: letters(x, "banana"), 1.3)
    agree(lambda x: digits(x, 123), 1.3)
    text = "".join(letter for letter in "baa")
    assert wg.gradient(letters, 2.0, text)[0] == pytest.approx(2 * 2 + 3 * 4)


def matched(x, config):
    match config:
        case {"scale": scale, **rest}:
            return scale * x + sum(rest.values()) * x**2
        case {"power": int(n)}:
            return x**n
        case {"items": [first, *others]}:
            return first * x + len(others) * x**3
        case _:
            return x


@pytest.mark.parametrize(
    ("config", "slope"),
    [
        ({"scale": 2.0, "a": 1.0, "b": 3.0}, 2 + 8 * 1.5),
        ({"power": 3}, 3 * 1.5**2),
        ({"power": 3.0}, 1.0),
        ({"items": [4.0, 1, 1]}, 4 + 6 * 1.5**2),
        ({"items": []}, 1.0),
        ({}, 1.0),
    ],
)
def test_patterns_of_mappings(config, slope):
    assert wg.gradient(matched, 1.5, config)[0] == pytest.approx(slope)
    assert wg.grad(matched)(1.5, config) == pytest.approx(slope)


# What is bound on one path only, and handed to the way back all the same


def masked_on_one_path(x, n):
    y = x * 2
    if n > 1:
        mask = np.ones_like(x, dtype=bool) & (x > 2)
        y = y * x
    else:
        y = y * 3
    if n > 1:
        y[mask] = 0.0
    return y


@pytest.mark.parametrize("n", [0, 2])
def test_derivatives_of_pullbacks_of_what_is_bound_on_one_path(n):
    def cotangent(x):
        _, back = wg.pullback(masked_on_one_path, x, n)
        return back(np.ones(3))[0]

    x = np.array([1.0, 1.5, 3.0])
    _, push = wg.pushforward(cotangent, x)
    np.testing.assert_array_equal(push(np.ones(3)), np.where(x > 2, 0, 4) if n else np.zeros(3))
