"""What an argument's containers no longer refer to, or refer to now: each object keeps its own changes."""

import copy

import numpy as np
import pytest
import standing_alone
from error_texts import refusal

import wengert as wg

WEIGHTS = np.array([3.0, 5.0])


class Body:
    def __init__(self, weights):
        self.w = weights


def arguments():
    return np.array([1.0, 2.0, 3.0, 4.0]), Body(np.ones(4)), [np.arange(4.0) * 0.5]


def swapped_twice(x, a, o, xs):
    p = Body(a)
    total = a[1]
    o.w, p.w = p.w, o.w
    total += a[1]
    o.w, p.w = p.w, o.w
    return (total + a[1]) * x


def put_in_and_replaced(x, a, o, xs):
    c = o.w
    o.w = a
    b = a[1]
    o.w = c
    return (b + a[1]) * x


def first_one_changed_afterwards(x, a, o, xs):
    c = o.w
    o.w = a
    c[1] = 5.0 * x
    return o.w[1] * x + c[1]


def second_one_changed_through_the_object(x, a, o, xs):
    c = o.w
    o.w = a
    o.w[1] = 5.0 * x
    return (o.w[1] + c[1] * 10 + a[1] * 100) * x


def second_one_changed_by_its_name(x, a, o, xs):
    c = o.w
    o.w = a
    a[1] = 5.0 * x
    return (o.w[1] + c[1] * 10 + a[1] * 100) * x


def of_another_length(x, a, o, xs):
    c = o.w
    o.w = np.ones(3) * x
    c[3] = 5.0 * x
    return o.w[1] * c[3]


def item_of_a_list(x, a, o, xs):
    c = xs[0]
    xs[0] = a
    c *= 5 * x
    return xs[0][1] * x + c[1]


def entry_of_a_dictionary(x, a, o, xs):
    entries = {"p": a}
    same = entries
    entries["p"] = o.w
    a[1] = 7 * x
    o.w[1] = 3 * x * x
    return same["p"][1] * x + a[1] * 3


def old_and_new_state(x, a, o, xs):
    old = o.w
    o.w = old * x
    old[1] = x
    o.w[1] += old[1]
    return (o.w @ old) * x


def two_names_for_the_old_state(x, a, o, xs):
    first, second = o.w, o.w
    tail = second[1:]
    o.w = a
    first[1] = x
    return second[1] * x + tail[0] * o.w[0]


def held_deeper(x, a, o, xs):
    o.inner = Body(a)
    inner = o.inner
    o.inner = Body(xs[0])
    a[0] = x * x
    inner.w[1] = 3 * x
    return (inner.w * a).sum() + o.inner.w[1]


def history(x, a, o, xs):
    kept = []
    for k in range(3):
        kept.append(o.w)
        o.w = o.w * x + k
    kept[0][1] = 9 * x
    return sum((h * h).sum() for h in kept) + o.w[1]


def replaced_in_a_function(x, a, o, xs):
    def put(owner):
        owner.w = a
        return owner

    same = put(o)
    a[0] = x * 2
    same.w = a * 1.0
    a[1] = x * 3
    return (o.w * a).sum()


def changes_while_it_is_walked_over(x, a, o, xs):
    total = x
    for e in a:
        total = total * 0.5 + e * total
        a[2] = x
    return total


def rest_of_an_array_is_a_list(x, a, o, xs):
    first, *rest = a * x
    rest += [first]
    del rest[0]
    rest[0:2] = [first * rest[1]]
    return sum(k * each for k, each in enumerate(rest))


def rest_of_a_pattern_is_a_list(x, a, o, xs):
    match tuple(a * x):
        case [first, *rest]:
            rest.append(first)
            return sum(k * each for k, each in enumerate(rest))


def moved_to_another_index(x, a, o, xs):
    c = xs[0]
    xs.insert(0, a)
    c *= 5 * x
    return xs[0][1] * x + xs[1][1]


def perhaps_replaced(x, a, o, xs):
    xs.append(a)
    xs[-1] = o.w
    a[1] = 7 * x
    return xs[1][1] * x + a[1]


RIGHT = [
    swapped_twice, put_in_and_replaced, first_one_changed_afterwards, second_one_changed_through_the_object,
    second_one_changed_by_its_name, of_another_length, item_of_a_list, entry_of_a_dictionary, old_and_new_state,
    two_names_for_the_old_state, held_deeper, history, replaced_in_a_function, changes_while_it_is_walked_over,
    rest_of_an_array_is_a_list, rest_of_a_pattern_is_a_list,
]  # fmt: skip
REFUSED = [moved_to_another_index, perhaps_replaced]


def expected(function, x=0.3, step=1e-4):
    high, low = (function(at, *arguments()) for at in (x + step, x - step))
    return function(x, *arguments()), pytest.approx((high - low) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_value_and_derivatives(function):
    value, slope = expected(function)
    found, back = wg.pullback(function, 0.3, *arguments())
    assert found == pytest.approx(value)
    assert back(1.0)[0] == slope
    found, push = wg.pushforward(function, 0.3, *arguments())
    assert found == pytest.approx(value)
    assert push(1.0, None, None, None) == slope


ALONE = [
    put_in_and_replaced, first_one_changed_afterwards, of_another_length, entry_of_a_dictionary,
    old_and_new_state, two_names_for_the_old_state, changes_while_it_is_walked_over, rest_of_an_array_is_a_list,
    rest_of_a_pattern_is_a_list,
]  # fmt: skip
REFUSED_ALONE = [function for function in RIGHT if function not in ALONE]


def alone(function):
    return standing_alone.alone(wg.value_and_grad(function))(0.3, *arguments())


@pytest.mark.parametrize("function", ALONE, ids=lambda f: f.__name__)
def test_source_that_stands_alone(function):
    value, slope = expected(function)
    assert alone(function) == (pytest.approx(value), slope)


@pytest.mark.parametrize("function", REFUSED_ALONE, ids=lambda f: f.__name__)
def test_source_that_stands_alone_refuses(function):
    with pytest.raises((NotImplementedError, ValueError)) as caught:
        alone(function)
    assert caught.value.code == "WG101"


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_is_not_known_is_refused(function):
    refusal("WG101", NotImplementedError, lambda: wg.value_and_grad(function)(0.3, *arguments()))


def weighted_parts(o):
    o.parts.append(o.w)
    return sum(part @ WEIGHTS for part in o.parts)


def test_a_list_of_cotangents_keeps_a_global():
    body = Body(np.ones(2))
    body.parts = [np.ones(2)]
    found = wg.grad(weighted_parts)(body)
    assert [found.w.tolist(), found.parts[0].tolist()] == [[3.0, 5.0], [3.0, 5.0]]


def one_array_in_two_places(x, o, n):
    for _ in range(n):
        if x < 1:
            o.parts = [o.w, o.w * x]
    return sum(part @ part for part in o.parts)


def test_the_program_puts_the_very_object_into_a_container():
    body = Body(np.ones(2))
    body.parts = []
    wg.pullback(one_array_in_two_places, 0.5, body, 2)
    assert body.parts[0] is body.w


def appended_through_a_copy(x, table):
    shallow = copy.copy(table)
    table["rows"].append([x])
    return sum(item for row in shallow["rows"] for item in row) * x


def test_a_longer_list_is_seen_through_a_copy_of_its_container():
    table = {"rows": [[1.0, 2.0], [3.0]]}
    assert wg.gradient(appended_through_a_copy, 0.5, table)[0] == pytest.approx(6.0 + 2 * 0.5)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize(
    "second", [lambda x: [], lambda x: [x], lambda x: np.ones(3) * x], ids=["none", "one", "array"]
)
def test_entries_of_a_literal_that_one_of_the_same_key_replaces(second, k):
    def f(x, k):
        entries = {k // 2: [x, x * x], k: second(x)}
        return sum([sum([item**2 for item in items]) for items in entries.values()]) + x

    slope = (f(2 + 1e-6, k) - f(2 - 1e-6, k)) / 2e-6
    assert wg.grad(f)(2.0, k) == pytest.approx(slope)
    assert wg.pushforward(lambda x: f(x, k), 2.0)[1](1.0) == pytest.approx(slope)
