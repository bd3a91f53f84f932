"""Containers of `collections` that a program makes: they compare and join as Python's do."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import oracle
import pytest
from error_texts import refusal

import wengert as wg


def ordered_dictionaries_in_another_order(x):
    a, b = OrderedDict(p=x, q=2.0), OrderedDict(q=2.0, p=x)
    return x * 3 if a == b else x * 5


def ordered_and_plain_dictionary(x):
    a, b = OrderedDict(p=x, q=2.0), {"q": 2.0, "p": x}
    return x * 3 if a == b and b == a else x * 5


def moved_to_the_front(x):
    queue = OrderedDict(a=x, b=2.0, c=x * x)
    queue.move_to_end("c", last=False)
    queue.move_to_end("a")
    first, value = queue.popitem(last=False)
    return value * len(queue) + (x if first == "c" and next(reversed(queue)) == "a" else 0.0)


def default_dictionary_and_plain(x):
    totals = defaultdict(float)
    totals["a"] += x
    return x * 3 if totals == {"a": x} and totals != {"a": 2 * x} else x * 5


def copied_default_dictionary(x):
    lists = defaultdict(list)
    lists["a"].append(x)
    shared = lists.copy()
    shared["a"].append(3.0)
    return sum(lists["a"]) * (2 if lists == shared else 1)


def equal_deques(x):
    a, b = deque([x, 1.0]), deque([x, 1.0], maxlen=5)
    return x * 3 if a == b and a != [x, 1.0] else x * 5


def deques_in_order(x):
    a, b = deque([x, 1.0]), deque([x, 2.0])
    return x * 3 if a < b and b >= a else x * 5


def counters_joined(x):
    a, b = Counter(u=3, v=1), Counter(u=1, v=2)
    either, both = a | b, a & b
    a.subtract(b)
    same = Counter(w=0) == Counter()
    return x * (either["u"] * 10 + either["v"] + 100 * both["u"] + 1000 * both["v"] + a["v"] + same)


def deque_given_to_numpy(x):
    window = deque([x, 2 * x, 3.0], maxlen=3)
    window.append(x * x)
    return np.mean(window) + np.dot(window, window) + np.array(window)[0] + math.fsum(window)


def unpacked_into_dictionaries_and_calls(x):
    def product(a, b):
        return a * b

    given = OrderedDict(a=x, b=2.0)
    merged = {**given, "c": x * x}
    return product(**given) + sum(merged.values()) + dict(given)["a"]


PROGRAMS = [
    value for name, value in list(globals().items()) if getattr(value, "__module__", "") == __name__
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_they_do_what_pythons_do(program):
    value, slope = wg.value_and_grad(program)(1.5)
    assert value == program(1.5)
    (wanted,) = oracle.central_gradient(program, 1.5)
    assert slope == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def a_deque(x):
    return deque([x * x])


def a_default_dictionary_in_a_list(x):
    totals = defaultdict(float)
    totals["a"] += x
    return [x, totals]


@pytest.mark.parametrize(
    ("program", "name", "plain"),
    [
        (a_deque, "deque", "list(d)"),
        (a_default_dictionary_in_a_list, "defaultdict", "dict(d)"),
    ],
)
def test_what_stands_in_for_them_is_not_handed_out(program, name, plain):
    text = refusal("WG101", NotImplementedError, lambda: wg.pullback(program, 1.5))
    assert (
        f"a container of class {name} that the program makes is needed as a value at run time"
        in str(text)
    )
    assert f"Hand on what it holds: `{plain}`." in str(text)


def test_a_display_evaluates_its_entries_once():
    def program(x, given):
        stack = [1.0, 2.0, 3.0]
        entries = {"last": stack.pop(), **given, x > 0: stack.pop()}
        return entries["last"] * x + len(stack) + entries[3]

    value, (slope, _) = wg.value_and_grad(program, (0, 1))(1.5, {3: 2.0})
    assert (value, slope) == (program(1.5, {3: 2.0}), 3.0)
