"""Arrays that a program changes and puts into objects of its caller: values, derivatives, and which object is which."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

PROGRAMS: list[Callable[..., Any]] = []


def program(function):
    PROGRAMS.append(function)
    return function


class Box:
    def __init__(self):
        self.w, self.z = np.array([0.1, 0.2]), np.array([0.7, 0.9])
        self.parts = [np.array([0.3, 0.4]), np.array([0.5, 0.6])]
        self.log = []


def state(value, known):
    """What an object holds, each array by which of them it is."""
    match value:
        case np.ndarray():
            return known.setdefault(id(value), len(known)), value.tolist()
        case list():
            return [state(item, known) for item in value]
        case Box():
            return [state(item, known) for item in vars(value).values()]
        case _:
            return value


@program
def inside_a_list(x, o):
    b = [np.zeros(2)]
    if x > 0:
        b[0][0] = x
        o.log.append(b)
    return b[0].sum() * 5


@program
def in_one_turn_of_a_loop(x, o):
    b = np.zeros(2)
    for k in range(2):
        if k == 1:
            b[0] = x
            o.log.append(b)
    return b.sum() * 5


@program
def before_a_break(x, o):
    b = np.zeros(2)
    for k in range(3):
        b[k % 2] += x
        if x > k * 0.3:
            o.log.append(b)
            break
    return b.sum() * 5


@program
def before_an_exception(x, o):
    b = np.zeros(2)
    try:
        b[0] = x
        o.log.append(b)
        if x > 0:
            raise ValueError  # noqa: TRY301
    except ValueError:
        b[1] += x * x
    return b.sum() * 5


@program
def put_first_and_then_changed(x, o):
    b = np.zeros(2)
    if x > 0:
        o.w = b
        b[0] = x
    else:
        b[1] = x
    return b.sum() * 5 + o.w.sum()


@program
def on_both_paths(x, o):
    b = np.zeros(2)
    if x > 0:
        b[0] = x
        o.w = b
    else:
        o.z = b
    return b.sum() * 5 + o.w.sum() + o.z.sum()


@program
def in_a_dictionary(x, o):
    b = np.zeros(2)
    d = {}
    if x > 0:
        b[0] = x
        d["k"] = b
    b[1] = 2 * x
    return b.sum() * 5 + (d["k"].sum() if "k" in d else 0.0)


@program
def by_an_inner_function(x, o):
    b = np.zeros(2)

    def put():
        b[0] = x
        o.log.append(b)

    if x > 0:
        put()
    b *= 2
    return b.sum() * 5 + sum(t.sum() for t in o.log)


@program
def through_a_view(x, o):
    b = np.zeros(2)
    if x > 0:
        v = b[:1]
        v[0] = x
        o.log.append(b)
    return b.sum() * 5


@program
def what_was_given(x, o):
    b = o.w
    if x > 0:
        b[0] = x
        o.parts.append(b)
    return b.sum() * 5 + o.w.sum()


@program
def before_a_continue(x, o):
    b = np.zeros(2)
    k = 0
    while k < 3:
        if k == int(x * 2):
            b[0] = x * k
            o.log.append(b)
            k += 1
            continue
        b[1] += x
        k += 1
    return b.sum() * 5


@program
def returned_early(x, o):
    def inner():
        b = np.zeros(2)
        if x > 0:
            b[0] = x
            o.log.append(b)
            return b
        return b * 2

    c = inner()
    return c.sum() * 3 + (o.log[0].sum() if o.log else 0)


@program
def in_a_match(x, o):
    b = np.zeros(2)
    match int(x > 0):
        case 1:
            b[0] = x
            o.log.append(b)
        case _:
            pass
    return (b * b).sum()


@program
def one_of_two(x, o):
    old = o.parts[0]
    o.parts[0] = np.full(2, x)
    old[0] = x
    w = o.w if x > 0 else o.z
    o.w = np.full(2, 3 * x)
    o.z = np.full(2, x)
    o.parts = [w, np.full(2, x)]
    return o.parts[0].sum() * x


@program
def collected_by_a_loop(x, o):
    old = o.parts[0]
    o.parts[0] = np.full(2, x)
    old *= x
    ws = []
    for t in (o.w, o.z):
        ws.append(t)  # noqa: PERF402
    o.w = np.full(2, 3 * x)
    o.z = np.full(2, x)
    o.parts = ws
    return o.parts[0].sum() * x


@program
def by_way_of_a_dictionary(x, o):
    old = o.parts[0]
    o.parts[0] = np.full(2, x)
    old[0] = x
    first = o.w
    o.w = np.full(2, x)
    d = {"f": first}
    o.parts = [d["f"], np.full(2, x)]
    return o.parts[0].sum() * x


@program
def changing_places(x, o):
    old = o.parts[0]
    o.parts[0] = np.full(2, x)
    old[0] = x
    o.w, o.z = o.z, o.w
    return o.w[0] * x


@program
def changing_places_in_a_loop(x, o):
    old = o.parts[0]
    o.parts[0] = np.full(2, x)
    old[0] = x
    for _ in range(2):
        o.w, o.z = o.z, o.w
        o.w[0] += x
    return o.w[0] * x + o.z[1]


@program
def changing_places_in_a_branch(x, o):
    old = o.parts[0]
    o.parts[0] = np.full(2, x)
    old[0] = x
    if x > 0:
        o.w, o.z = o.z, o.w
    return o.w[0] * x


@program
def found_by_a_function(x, o):
    old = o.parts.pop()
    o.parts.append(np.full(2, x))
    old[0] = x

    def get(q):
        return q.w

    first = get(o)
    o.w = np.full(2, x)
    o.log.append(first)
    return o.log[0].sum() * x


@program
def copied_deeply_in_a_dictionary(x, o):
    xs = [o.w, o.z]
    n = len(o.parts) - 1
    ys = copy.deepcopy({"a": xs[n], "b": [xs[-1]], "c": xs[n - 1]})
    ys["a"][0] = x
    return ys["b"][0].sum() * x + ys["c"].sum()


@program
def copied_deeply_in_a_loop(x, o):
    xs = [o.w, o.z]
    s = 0.0
    for k in range(2):
        ys = copy.deepcopy([xs[k], xs[1]])
        ys[0][0] = x * (k + 1)
        s += ys[1].sum() * x
    return s


@program
def walked_over_in_an_object(x, o):
    b = np.array([x, 2 * x, 1.0])
    o.w = b
    s = 0.0
    for e in b:
        s += e * x
        o.w[2] = s
        o.log.append(s)
    return s


@program
def walked_over_in_two_loops(x, o):
    b = np.array([x, 2 * x, 1.0])
    d = {}
    d["b"] = b
    s = 0.0
    k = 0
    for e in b:
        for f in b[1:]:
            s += e * f
            d["b"][1] *= 0.5
            d[k] = s
            k += 1
    return s


def by_reverse_mode(function, x, box):
    return wg.value_and_grad(function)(x, box)


def by_forward_mode(function, x, box):
    value, push = wg.pushforward(function, x, box)
    return value, push(1.0, None)


@pytest.mark.parametrize("way", [by_reverse_mode, by_forward_mode])
@pytest.mark.parametrize("x", [0.7, -0.7])
@pytest.mark.parametrize("function", PROGRAMS)
def test_right_or_refused(function, x, way):
    box, left = Box(), Box()
    expected = function(x, left)
    slope = (function(x + 1e-6, Box()) - function(x - 1e-6, Box())) / 2e-6
    try:
        value, found = way(function, x, box)
    except wg.errors.UnsupportedSyntax:
        assert function is what_was_given  # which is then in two places
        return
    assert value == pytest.approx(expected, rel=1e-12)
    assert found == pytest.approx(slope, abs=1e-6)
    assert state(box, {}) == state(left, {})


def through_the_part_that_was_there(x, a, o):
    b = a * x
    c = b
    for k in range(4):
        old = o.w
        o.w = c
        old[-1] = x * k
        a, b, c = c, a, b
    return a.sum() + (b * c).sum()


@pytest.mark.parametrize("mode", [wg.pullback, wg.pushforward])
def test_a_write_through_a_part_reaches_what_the_caller_gave(mode):
    given, left = (np.array([1.0, 2.0]), Box()), (np.array([1.0, 2.0]), Box())
    value, _ = mode(through_the_part_that_was_there, 1.3, *given)
    assert value == through_the_part_that_was_there(1.3, *left)
    assert state([*given], {}) == state([*left], {})
