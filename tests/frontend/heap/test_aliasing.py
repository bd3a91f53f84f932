"""Objects that are reached in several ways: what changes in one way is seen in all, or refused.

What is on the list `REFUSED` leaves it when it is differentiated rightly; nothing may be wrong.
"""

import copy
import functools
import itertools
import math

import numpy as np
import oracle
import pytest
import trees
from error_texts import refusal

import wengert as wg

PROGRAMS = {}


def program(*args):
    def add(function):
        PROGRAMS[function.__name__] = function, args
        return function

    return add


class Point:
    def __init__(self, x, y=0.0):
        self.x, self.y = x, y

    def move(self, d):
        self.x += d
        return self


# Known containers and run-time indices


@program(2.0)
def rows_by_index(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        for j in range(2):
            rows[i][j] += x * i
    return rows[1][0]


@program(2.0)
def row_under_a_name(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        row = rows[i]
        row[0] += x
    return rows[1][0]


@program(2.0, 0)
def row_changed_after_it_was_named(x, i):
    rows = [[1.0, 0.0], [2.0, 0.0]]
    row = rows[i]
    rows[0][0] = x
    return row[0]


@program(2.0)
def objects_by_index(x):
    points = [Point(x * k) for k in range(3)]
    for i in range(3):
        points[i].x += x
        points[i - 1].y += points[i].x
    return sum(p.x * p.y for p in points)


@program(2.0, 12)
def many_objects_by_index(x, n):
    points = [Point(x * k) for k in range(n)]
    for i in range(n):
        points[i].x += x
        points[i - 1].y += points[i].x
    for p in points:
        p.move(x)
    return sum(p.x * p.y for p in points)


@program(2.0, 1)
def entry_of_a_dictionary(x, i):
    grid = {(0, 0): x, (0, 1): 2 * x}
    grid[0, i] *= x
    return grid[0, 1] + grid[0, 0]


# One of two


@program(2.0, 1)
def one_of_two_lists(x, which):
    a, b = [x, x], [1.0]
    chosen = a if which > 0 else b
    chosen[0] *= x
    return a[0]


@program(2.0, 1)
def one_of_two_objects(x, which):
    a, b = Point(x), Point(1.0)
    chosen = a if which > 0 else b
    chosen.x *= x
    a.y = chosen.x
    return a.x * a.y + b.x


@program(2.0, 0.5)
def smallest(x, y):
    points = [Point(x), Point(y)]
    low = min(points, key=lambda p: p.x)
    low.x *= 5 * x
    return points[1].x + points[0].x


@program(2.0, 0.5)
def first_in_order(x, y):
    points = [Point(x), Point(y)]
    ordered = sorted(points, key=lambda p: p.x)
    ordered[0].x *= 5 * x
    return points[1].x + points[0].x


@program(2.0)
def best_so_far(x):
    points = [Point(x), Point(1.0), Point(5.0)]
    best = None
    for p in points:
        if best is None or p.x < best.x:
            best = p
    best.x *= x * x
    return sum(p.x for p in points)


@program(2.0)
def best_of_many(x):
    points = [Point(x + (k - 5) ** 2) for k in range(12)]
    best = points[0]
    for p in points:
        if p.x < best.x:
            best = p
    best.x *= x * x
    return sum(p.x for p in points)


@program(2.0)
def names_swapped_in_a_loop(x):
    a, b = Point(x), Point(3.0)
    for k in range(5):
        a, b = b, a
        a.x += x * k
    return a.x * 2 + b.x


# Objects inside objects


@program(2.0)
def held_by_another(x):
    a = Point(x)
    holder = Point(Point(a))
    holder.x.x.x *= x
    a.y = holder.x.x.x
    return a.x * a.y


@program(2.0)
def listed_twice(x):
    a, items = Point(x), []
    items.append(a)
    items.append(a)
    items[0].x *= x
    a.x += 1
    return items[1].x


@program(2.0, 9)
def listed_in_every_iteration(x, n):
    a, items = Point(x), []
    for _ in range(n):
        items.append(a)
        a.x += x
    items[0].x *= 2
    return items[-1].x


@program(2.0, 9)
def made_in_every_iteration(x, n):
    items = []
    for i in range(n):
        p = Point(x * i)
        items.append(p)
        p.y = x
    items[2].x *= 2
    return sum(p.x * p.y for p in items)


@program(2.0)
def each_knows_the_one_before(x):
    last, total = Point(x), 0.0
    for _ in range(6):
        made = Point(last.x * 1.1, last)
        made.y.x += x
        total += made.y.x
        last = made
    return total


@program(2.0)
def each_knows_the_other(x):
    a, b = Point(x), Point(x * x)
    a.y, b.y = b, a
    for _ in range(5):
        a.y.x += a.x
        b.y.x *= x
    return a.x * b.x


@program(np.array([1.0, 2.0, 3.0]))
def array_of_two_objects(v):
    p = Point(v.copy())
    q = Point(p.x)
    for i in range(3):
        p.x[i] *= v[i]
    q.x[0] += 1
    p.x = p.x * 2
    q.x[1] *= 3
    return np.sum(p.x * q.x)


# Run-time containers of the same objects


def points_of(x, n=12):
    return [Point(x * k) for k in range(n)]


@program(2.0)
def changed_through_a_comprehension(x):
    points = points_of(x)
    others = [p for p in points if p.y < 1]
    for p in others:
        p.x += x
    return points[3].x


@program(2.0)
def read_through_a_comprehension(x):
    points = points_of(x)
    others = [p for p in points if p.y < 1]
    for p in points:
        p.x *= x
    return others[3].x


@program(2.0)
def changed_backwards(x):
    points = points_of(x)
    for p in reversed(points):
        p.x += x
    return points[3].x


@program(2.0)
def changed_in_pairs(x):
    points = points_of(x)
    for a, b in zip(points, points[1:], strict=False):  # noqa: RUF007
        a.x += b.x
        b.y += a.x
    return points[3].x * points[5].y


@program(2.0)
def changed_with_their_numbers(x):
    points = points_of(x)
    for k, p in enumerate(points):
        p.x += k * x
    return points[3].x


@program(2.0)
def read_through_a_slice(x):
    points = points_of(x)
    part = points[2:6]
    for p in points:
        p.x *= x
    return part[1].x


@program(2.0)
def read_through_a_longer_list(x):
    points = points_of(x)
    more = [*points, Point(x)]
    for p in points:
        p.x *= x
    return more[1].x


@program(2.0)
def read_through_a_copied_list(x):
    points = points_of(x)
    listed = list(points)
    for p in points:
        p.x *= x
    return listed[1].x


@program(2.0)
def changed_through_a_copied_list(x):
    points = points_of(x)
    listed = list(points)
    listed.append(Point(x))
    listed[1].x *= x
    return points[1].x + len(points)


@program(2.0)
def read_through_a_sorted_list(x):
    points = points_of(x)
    ordered = sorted(points, key=lambda p: -p.x)
    points[11].x *= x
    return ordered[0].x


@program(2.0)
def read_through_a_dictionary(x):
    points = points_of(x)
    table = dict(enumerate(points))
    points[3].x *= x
    return table[3].x


@program(2.0)
def changed_through_a_dictionary(x):
    points = points_of(x)
    table = dict(enumerate(points))
    table[3].x *= x
    return points[3].x


@program(2.0)
def rows_in_two_lists(x):
    rows = [[x * k, 1.0] for k in range(12)]
    others = [row for row in rows]  # noqa: C416
    rows[3][0] *= x
    return others[3][0]


@program(2.0)
def item_kept_after_the_loop(x):
    points = points_of(x)
    last = None
    for p in points:
        last = p
    points[-1].x *= x
    return last.x


@program(2.0)
def item_kept_for_the_next_iteration(x):
    points = points_of(x)
    last = points[0]
    for p in points:
        last.y += p.x
        last = p
    return sum(p.x * p.y for p in points)


@program(2.0)
def things_on_a_stack(x):
    stack, total = [Point(x)], 0.0
    while stack:
        p = stack.pop()
        total += p.x
        if p.x < 20:
            stack.append(Point(p.x * x))
            p.x = 0.0
    return total


@program(2.0, 5)
def listed_by_an_object(x, n):
    owner = Point([])
    for k in range(n):
        owner.x.append(Point(x * k))
    for p in owner.x:
        p.move(x)
    owner.x[2].y = owner.x[1].x
    return owner.x[2].x * owner.x[2].y


@program(2.0, 5)
def kept_by_an_object(x, n):
    owner = Point({})
    for k in range(n):
        owner.x[k] = Point(x * k)
    for p in owner.x.values():
        p.x += x
    owner.x[2].y = owner.x[1].x
    return owner.x[2].x * owner.x[2].y


# Functions of them


@program(2.0)
def functions_over_an_object(x):
    functions, p = [], Point(x)
    for k in range(3):
        functions.append(lambda t, k=k: t * p.x + k)  # noqa: PERF401
    p.x += 1
    return sum(f(x) for f in functions)


@program(2.0, 5)
def recursion_over_an_object(x, n):
    p = Point(x, 1.0)

    def walk(k):
        if k == 0:
            return 0.0
        p.x += p.y
        p.y += x
        return walk(k - 1) + p.x

    return walk(n) + p.y


# Objects that a loop carries


@program(2.0, 3)
def two_buffers(x, n):
    old, new = np.array([x, 1.0]), np.zeros(2)
    for _ in range(n):
        new[0] = old[0] * x
        new[1] = old[1] + old[0]
        old, new = new, old
    return old[0] + new[1]


@program(2.0, 4)
def three_buffers(x, n):
    a, b, c = np.array([x, 1.0]), np.array([2 * x, 1.0]), np.array([3 * x, 1.0])
    for _ in range(n):
        a[0] += x * b[0] + c[0]
        b[1] += c[0]
        a, b, c = c, a, b
    return a[0] + b[0] * 2 + c[1]


@program(2.0, 3)
def two_lists_in_turns(x, n):
    old, new = [x] * 4, [0.0] * 4
    for _ in range(n):
        for k in range(4):
            new[k] = old[k] * x + old[k - 1]
        old, new = new, old
    return old[0] + new[1]


@program(2.0, 3)
def attributes_in_turns(x, n):
    p = Point(np.array([x, 1.0]), np.array([2 * x, 1.0]))
    for _ in range(n):
        p.y[0] = p.x[0] * x
        p.x, p.y = p.y, p.x
    return p.x[0] + p.y[1]


@program(2.0, 3)
def one_array_twice_in_a_pair(x, n):
    s = (np.array([x, 1.0]), np.array([2 * x, 2.0]))
    for _ in range(n):
        s[0][0] += s[1][0] * x
        s = (s[1], s[1])
    return s[0][0] + s[1][0]


@program(2.0, 3)
def array_in_a_list_that_is_made_anew(x, n):
    a = np.array([x, 1.0])
    s = [a, 1.0]
    for _ in range(n):
        s = [s[0], x]
        s[0][0] *= x
    return a[0]


@program(2.0, 2)
def view_of_an_array_of_the_loop(x, n):
    a, b = np.array([x, 1.0, 2.0]), np.array([3.0, x, 1.0])
    for _ in range(n + 1):
        a[0] = x
        a = b
        b[1] = b[0] * x
        b = a[::-1]
    return a[0] + 2 * a[1] + 3 * a[2]


@program(2.0, 2)
def array_of_a_dictionary_that_grows(x, n):
    a = np.array([x, 1.0, 2.0, 3.0])
    d = {"t": a}
    for k in range(n + 1):
        d["s"] = x
        a[k] = d["t"][0] * 2
    return d["t"][0] + 2 * d["t"][1]


@program(2.0, 7)
def one_of_two_in_a_dictionary(x, n):
    a, b = np.zeros(4), np.ones(4)
    d = {"t": b}
    d[n] = x
    chosen = b if x > 0.1 else a
    b[1] = x
    return chosen[1]


# What a loop walks over


@program(2.0, np.array([0.1, 0.5, 0.2, 0.9]))
def array_changed_under_way(x, a):
    for e in a:
        x = x + e
        a[::2] *= a[1::2]
    return x


@program(2.0, np.array([0.1, 0.5, 0.2, 0.9]))
def array_in_a_list_that_grows_changed_under_way(x, a):
    kept = [a]
    for k, e in enumerate(a):
        x = x * e + k
        a[2] = x * a[3]
        kept.append(x)
    return x + kept[-2]


@program(2.0, np.array([0.1, 0.5, 0.2, 0.9]))
def array_of_a_dictionary_that_grows_changed_under_way(x, a):
    kept, total = {"a": a}, 0.0
    for e, f in zip(a, reversed(a)):
        total += e * f * x
        kept["a"][3] = total * x
        kept["total"] = kept.get("total", x) + total
    return total + kept["total"]


@program(2.0, np.array([[0.1, 0.5], [0.2, 0.9]]))
def rows_in_a_list_that_grows_changed_under_way(x, m):
    kept = [[m]]
    for row in m:
        x = x * row[0] + row[1]
        kept[0][0][1, 0] = x
        kept.append([x])
    return x


@program(2.0, np.array([0.1, 0.5, 0.2, 0.9]))
def comprehension_over_an_array_in_a_list_that_grows(x, a):
    kept = [a]

    def next_of(e):
        kept[0][2] = x * e
        kept.append(e)
        return e * e

    return sum([next_of(e) for e in a]) + kept[-1]


@program(2.0, 6)
def list_changed_under_way(x, n):
    xs, total = [x * k for k in range(n)], 0.0
    for e in xs:
        total += e * x
        xs[-1] = x * x * e
    return total


@program(2.0)
def short_list_changed_under_way(x):
    xs, total = [x, 2 * x, 3.0], 0.0
    for e in xs:
        total += e
        xs[1] = x * x
    return total


@program(2.0)
def values_of_a_dictionary_changed_under_way(x):
    d, total = {"a": x, "b": 2 * x}, 0.0
    for value in d.values():
        total = 0.5 * total + value * x
        d["b"] *= x
    return total


@program(2.0)
def items_of_a_dictionary_changed_under_way(x):
    d, total = {"a": x, "b": 2 * x}, 0.0
    for key, value in d.items():
        total = 0.5 * total + value * x
        d[key] *= x
        d["b"] += value
    return total + d["a"] * d["b"]


@program(2.0)
def views_of_a_dictionary_are_live(x):
    d = {"a": x, "b": 2 * x}
    values, items = d.values(), d.items()
    d["b"] *= x
    return sum(values) + sum(value * x for _, value in items)


@program(2.0)
def numbered_items_changed_under_way(x):
    xs, total = [x, 2 * x, 3.0], 0.0
    for k, (e, f) in enumerate(zip(xs, reversed(xs))):
        total += e * f * k
        xs[2] = x * e
    return total


@program(2.0)
def walked_backwards_and_changed(x):
    xs, total = [x, 2 * x, 3.0], 0.0
    for e in reversed(xs):
        total += e
        xs[0] = x * e
    return total


@program(2.0)
def chained_and_changed(x):
    xs, total = [x, 2 * x, 3.0], 0.0
    for e in itertools.chain(xs, [x]):
        total += e
        xs[2] = x * e
    return total


@program(2.0)
def filtered_and_changed(x):
    xs, total = [x, 2 * x, 3.0], 0.0
    for e in filter(lambda v: v > 0, xs):
        total += e
        xs[2] = x * e
    return total


@program(2.0)
def generated_and_changed(x):
    xs, total = [x, 2 * x, 3.0], 0.0
    for e in (v * x for v in xs):
        total += e
        xs[2] = x * e
    return total


@program(2.0, 4)
def list_that_grows_under_way(x, n):
    xs, total = [x * k for k in range(n)], 0.0
    for e in xs:
        total += e * x
        if len(xs) < 8:
            xs.append(x * e)
    return total


@program(2.0)
def items_changed_behind(x):
    xs = [x, 2 * x, 3.0]
    for k, e in enumerate(xs):
        xs[k] = e * x
    return sum(xs)


# What may be an array


@program(2.0, np.array([0.1, 0.5]), 7)
def augmented_in_a_dictionary(x, a, n):
    b = a
    d = {"t": a}
    d[n] = x
    a *= x
    return b[0] + d["t"][1]


@program(np.array([0.1, 0.5, 0.2, 0.9]))
def reshaped_and_transposed(a):
    view = a.reshape(2, 2).T[0]
    view[0] = a[1]
    return a[0] + 2 * a[1] + 3 * a[2]


def doubled(t):
    t *= 2
    return t


def tail_scaled(a):
    view, again = a[1:], a
    view *= 0.5
    return again[0] + 2 * again[1] + 3 * again[2]


def tail_written(a):
    view, again = a[1:], a
    view[0] = a[2] * a[0]
    return again[0] + 2 * again[1] + 3 * again[2]


def tail_scaled_and_written(a):
    view, again = a[1:], a
    view *= 0.5
    view[0] = a[2] * a[0]
    return again[0] + 2 * again[1] + 3 * again[2]


def doubled_twice(a):
    b = doubled(a)
    return a[0] + 3 * b[1]


def copied_and_longer(a):
    items = list(a)
    items.append(a[0] * a[1])
    return a[-1] + sum(items) + len(a)


def view_of_what_was_scaled(a):
    a *= a
    z = a[:2].reshape(1, 2).T[1]
    a[1] = a[2]
    return z[0] + a[0] + 2 * a[1]


GENERAL = [
    tail_scaled,
    tail_written,
    tail_scaled_and_written,
    doubled_twice,
    copied_and_longer,
    view_of_what_was_scaled,
]


@pytest.mark.parametrize("function", GENERAL)
def test_general_source(function):
    namespace = {}
    exec(wg.grad(function).source, namespace)
    found = namespace[f"grad_{function.__name__}"](np.array([0.1, 0.5, 0.2]))
    (wanted,) = oracle.central_gradient(function, np.array([0.1, 0.5, 0.2]))
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def walk(t, k):
    if k >= len(t):
        return 0.0
    t[k] = t[k] * 0.5 + k
    return t[k] + walk(t, k + 1)


@program(2.0, np.array([0.1, 0.5]))
def chosen_and_given_to_a_function(x, a):
    b, c = np.full(2, x), a
    if x > 1:
        a, b = b, a
    a[0] += 1.25
    walk(c, 0)
    return c[1] * a[0]


def test_the_very_argument_changes():
    x, a = 2.0, np.array([0.1, 0.5])
    wg.grad(chosen_and_given_to_a_function)(x, a)
    assert a.tolist() == [0.05, 1.25]


def test_pushed_twice_through_an_object():
    def scaled(p):
        p.x *= -0.75
        return p.x * p.x

    _, push = wg.pushforward(scaled, Point(0.5))
    tangent = Point(1.0)
    assert [push(tangent), push(tangent)] == pytest.approx([0.5625, 0.5625])


@program(0.7, [0.4, 0.6])
def given_list_changed_and_made_longer(x, xs):
    ys = xs
    ys[0] = x
    ys += [x * x]
    return sum(xs) * len(xs) + xs[2] * ys[1]


@program(0.7, np.array([[0.3, 0.5], [1.1, -0.2]]))
def rows_kept_in_pairs(x, a):
    pairs = []
    for row in a:
        pairs.append((row, row[::-1]))
        pairs[0][1][:] = row * x
    return sum(p @ q for p, q in pairs)


@program(0.7, 3)
def inserted_and_changed(x, n):
    kept = []
    for k in range(n):
        one = np.full(2, x * k)
        kept.insert(0, one)
        one *= x
    return sum(k * each[0] for k, each in enumerate(kept))


# An argument that a branch reaches under another name: it is one object all the same


@program(0.7, [0.3, -0.8])
def given_list_swapped_with_itself_where_it_changed(x, xs):
    ys = xs
    if xs[1] < x:
        ys[0] = ys[0] * x
        xs, ys = ys, xs
    ys[0] = ys[0] * x
    return xs[0]


@program(0.7, [0.3, -0.8])
def given_list_named_again_where_it_changed(x, xs):
    ys = xs
    if xs[1] < x:
        ys[0] = ys[0] * x
        ys = xs
    ys[0] = ys[0] * x
    return xs[0]


@program(0.7, [0.3, -0.8])
def given_list_named_again_on_the_only_path(x, xs):
    ys = xs
    if xs[1] < x:
        ys[0] = ys[0] * x
        ys = xs
    else:
        raise ValueError("too large")
    ys[0] = ys[0] * x
    return xs[0]


@program(0.7, [0.3, -0.8, 0.4])
def given_list_in_loops_of_branches(x, xs):
    ys, turn = xs, 0
    while turn < 2:
        turn += 1
        if xs[1] > math.sin(x):
            continue
        for _ in range(3):
            for k in range(len(ys)):
                ys[k] = ys[k] * 0.3 + x * k
            xs, ys = ys, xs
    return xs[0] * xs[-1] + sum(ys) * 0.3


@program(0.7, [0.3, -0.8])
def given_list_named_in_a_loop_with_another(x, xs):
    ys = [1.0, 2.0]
    for _ in range(3):
        if xs[1] < x:
            xs[0] = xs[0] * x
            ys = xs
        ys[0] = ys[0] * x
    return xs[0]


@program(0.7, [0.3, -0.8])
def given_list_taken_out_of_an_object(x, xs):
    held, ys = Point(xs), xs
    if xs[1] < x:
        ys[0] = ys[0] * x
        ys = held.x
    ys[0] = ys[0] * x
    return xs[0] + held.x[0]


@program(0.7, {"a": 0.3, "b": -0.8})
def given_dictionary_swapped_with_itself(x, d):
    e = d
    if d["b"] < x:
        e["a"] = e["a"] * x
        d, e = e, d
    e["a"] *= x
    return d["a"]


@program(0.7, Point(0.3, -0.8))
def given_object_swapped_with_itself(x, p):
    q = p
    if p.y < x:
        q.x = q.x * x
        p, q = q, p
    q.x *= x
    return p.x


@program(0.7, Point(0.3, -0.8))
def given_object_swapped_with_itself_until_it_is_large(x, p):
    q = p
    while p.y < x:
        q.x = q.x * x
        p, q = q, p
        q.y += 1
    q.x *= x
    return p.x


# An array that something holds without a name, when the one name that it has changes it in place


@program(0.7, np.array([0.3, -0.8]))
def held_by_what_a_loop_walks_over(x, a):
    b = a * x
    for row in (a, b):
        row[1] += 1.0
        b *= 2.0
    return b[0] + 3 * b[1]


@program(0.7, np.array([0.3, -0.8]))
def held_by_the_default_of_a_function(x, a):
    b = a * x
    held = [lambda b=b: b[0] + 3 * b[1]]
    b *= 2
    return held[0]()


@program(0.7, np.array([0.3, -0.8]))
def held_by_what_a_function_captured(x, a):
    def reader(c):
        return lambda: c[0] + 3 * c[1]

    b = a * x
    read = reader(b)
    b *= 2
    return read()


@program(0.7, np.array([0.3, -0.8]))
def held_by_a_partial_function(x, a):
    b = a * x
    product = functools.partial(np.dot, b)
    b *= 2
    return product(a)


@program(0.7, np.array([0.3, -0.8]))
def held_by_a_method(x, a):
    b = a * x
    product, total = b.dot, b.sum
    b *= 2
    return product(a) + total()


@program(0.7, np.array([0.3, -0.8]))
def held_by_an_earlier_argument(x, a):
    b = a * x

    def scale():
        nonlocal b
        b *= 2.0
        return 1.0

    return sum([b, b * scale()][0]) + (b, scale())[0][1] + np.dot(b, b * scale())


@program(0.73, np.array([0.31, -0.27, 0.92, 0.54]), 2)
def walked_over_and_changed_under_the_name_of_another(x, a, n):
    u, b = x, a[::-1] * x
    for e in b:
        u = u * 0.5 + e * x
        for _ in range(n):
            a, b = b, a
            a[2] = a[n] * u
    return u * 0.5 + a[0] + a[2] + 2 * b[1] + b[2]


@program(0.7, np.array([0.3, -0.8]))
def held_by_iterators_that_were_teed(x, a):
    b = a * x
    first, second = itertools.tee(b)
    next(first)
    b += 2
    return next(first) * next(second)


@program(0.7, np.array([0.3, -0.8]))
def held_by_a_generator_made_elsewhere(x, a):
    def products(c):
        return (c[k] * x for k in range(2))

    b = a * x
    numbered, multiplied = np.ndenumerate(b), products(b)
    b *= 2
    return sum((k + 1) * item for (k,), item in numbered) + sum(multiplied)


@program(0.7, np.array([0.3, -0.8]))
def held_by_a_class(x, a):
    b = a * x

    class Holder:
        held = b

        def first(self):
            return self.held[0]

    b *= 2
    return Holder().first() + 3 * Holder.held[1]


# A class that a statement makes in every turn is another one in every turn


@program(0.7, np.array([0.3, -0.8]))
def class_of_every_turn(x, a):
    made = []
    for k in [0, 1]:
        scaled = a[k] * x

        class Holder:
            number, held = k, scaled

            def value(self):
                return self.held * (1 + self.number)

        made.append(Holder())
    return made[0].value() + 10 * made[1].value()


@program(0.7, 3)
def class_of_every_turn_of_the_run(x, n):
    total, y = 0.0, 1.0
    while n > 0:

        class Holder:
            held = y

            def __init__(self, before):
                self.before = before

            def value(self):
                return self.held * x + self.before

        holder = Holder(total)
        total += holder.value()
        y *= x
        n -= 1
    return total + holder.before


# What walks over items, and calls what changes them


def twice(row):
    row *= 2
    return row.sum()


@program(0.7, np.array([[0.3, -0.8], [1.0, 0.4]]))
def rows_changed_in_a_comprehension(x, a):
    b = a * x
    sums = [twice(row) for row in b]
    return sums[0] * b[0][0] + sums[1]


@program(0.7, np.array([[0.3, -0.8], [1.0, 0.4]]))
def rows_changed_as_they_are_compared(x, a):
    rows = [x * row for row in a]
    return max(rows, key=twice)[0] + rows[0][1]


# What a container that only the run knows holds


@program(0.7, np.array([0.3, -0.8]))
def held_by_a_list_of_those_that_pass(x, a):
    b = a * x
    kept = [v for v in (b, a, b) if v[0] < x]
    b *= 2
    return kept[0][0] * len(kept)


@program(0.7, np.array([[0.3, -0.8], [1.0, 0.4]]))
def held_by_a_list_of_rows_that_pass(x, a):
    b = a * x
    kept = [row for row in b if row[0] > 0.5]
    b *= 2
    return kept[0][1]


@program(0.7, np.array([[0.3, -0.8], [1.0, 0.4]]))
def held_by_a_list_of_chosen_rows(x, a):
    b = a * x
    chosen = [(row if row[0] > 0.5 else a[0]) for row in b]
    b *= 2
    return chosen[1][0] + chosen[0][1]


@program(0.7, np.array([[0.3, -0.8], [1.0, 0.4]]))
def held_by_a_list_of_its_rows(x, a):
    b = a * x
    rows = list(b)
    b *= 2
    return rows[0] @ rows[1]


@program(0.7, np.array([[0.3, -0.8], [1.0, 0.4]]), 1)
def held_by_a_list_that_is_indexed(x, a, n):
    b, c = a[0] * x, a[1] * x
    one, other = [b, c][n], (c, b)[n]
    b *= 2
    c *= 3
    return one @ other


@program(0.7, np.array([[0.3, -0.8], [1.0, 0.4]]))
def elements_changed_before_their_turn(x, a):
    b, total = a * x, 0.0
    for (_, j), v in np.ndenumerate(b):
        b[1, j] += v
        total += v
    return total + b.sum()


# `o.p *= 2` changes the object in place, and assigns it


class Doubling:
    def __init__(self, v):
        self.v, self.count = v, 0

    @property
    def p(self):
        return self.v

    @p.setter
    def p(self, new):
        self.v = new * 2

    def __getitem__(self, key):
        return self.v

    def __setitem__(self, key, new):
        self.count += 1
        self.v = new


@program(0.7, np.array([0.3, -0.8]))
def assigned_by_a_property(x, a):
    o = Doubling(a * x)
    before = o.v
    o.p *= 3
    o["v"] += 1
    return o.v[0] + before[1] * o.count


@program(0.7)
def in_place_inside_a_tuple(x):
    pair = ([x], x)
    try:
        pair[0] += [x]
    except TypeError:
        return sum(pair[0]) * x
    return x


def test_items_changed_by_what_is_no_statement_are_refused():
    refusal("WG101", NotImplementedError, lambda: wg.grad(rows_changed_in_a_comprehension).source)


REFUSED = frozenset(
    (
        "read_through_a_sorted_list",
    )
)  # fmt: skip


@program(0.2, np.array([0.3, 0.5]))
def swapped_after_a_write_that_may_raise(x, a):
    b, c = np.full(2, x), a * x
    try:
        b[1] = math.sqrt(a[1] - x)
        a, b = b, a
    except ValueError:
        b = c
    b[0] *= 2.0
    return a.sum() + 10 * (b * c).sum()


@program(0.2, np.array([0.3, 0.5]))
def swapped_where_nothing_is_raised(x, a):
    b, c = np.full(2, x), a * x
    try:
        root = math.sqrt(a[1] - x)
        a, b = b, a
    except ValueError:
        b, root = c, x
    b[0] *= root
    return a.sum() + 10 * (b * c).sum()


@program(0.7, 2)
def swapped_and_kept_in_a_dictionary_that_grows(x, n):
    b, c = np.full(3, x), np.full(3, 2 * x)
    kept = {"first": b}
    k = 0
    while k < n:
        k += 1
        b, c = c, b
    kept[n] = x
    b += x * x
    return kept["first"].sum() + b[0]


# What the run for the kinds of the arguments refuses is read for the run itself


@program(1.3, np.array([0.3, 0.8, 0.5]), 3)
def history_of_one_array(x, a, n):
    history = []
    a = a * x
    for _ in range(n):
        history.append(a)
        a *= x
    return sum((k + 1) * h.sum() for k, h in enumerate(history))


@program(0.7, np.array([0.4, 0.9, 0.2, 0.6]))
def lists_got_and_extended(x, a):
    kept = {}
    for k, value in enumerate(a):
        name = "ab"[k % 2]
        found = kept.get(name, [])
        found += [value * x, x]
        kept[name] = found
    return sum(kept["a"]) * kept["b"][2] + len(kept["b"])


@program(1.3, np.array([0.3, 0.8]), np.array([0.9, 0.2]), 3)
def larger_of_two_arrays(x, b, c, n):
    b, total = b * x, 0.0
    for _ in range(n):
        larger = max(b, c, key=lambda v: v.sum())
        b *= 1.5
        total += larger[0]
        larger[1] += x
    return total + b[1] * c[1]


@program(0.7)
def best_of_a_swarm(x):
    places = [[0.1 * k, x - 0.2 * k] for k in range(3)]
    best = [place[:] for place in places]
    leader = min(best, key=lambda v: (v[0] - x) ** 2 + v[1] ** 2)
    for place, own in zip(places, best, strict=True):
        for d in range(2):
            place[d] += 0.3 * (leader[d] - place[d])
        if place[0] * place[1] > own[0] * own[1]:
            own[:] = place
    return leader[0] * best[1][1] + best[2][0]


@program(0.7, 4)
def drawn_arrays_in_place(x, n):
    rng = np.random.default_rng(3)
    places, speeds = rng.normal(size=(n, 2)), rng.uniform(-1, 1, n)
    np.random.seed(2)  # noqa: NPY002
    kicks = np.random.randn(n, 2)  # noqa: NPY002
    for k in range(3):
        first = places[k]
        places += 0.1 * x * kicks
        speeds *= rng.random(n) + x
        first[0] += speeds[k]
    return (places * places).sum() + speeds[0] * kicks[0, 0]


def gradient_of(name):
    function, args = PROGRAMS[name]
    wrt = tuple(k for k, arg in enumerate(args) if not isinstance(arg, int))
    found = wg.grad(function, argnums=wrt)(*copy.deepcopy(args))
    return found, oracle.central_gradient(function, *args, wrt=wrt)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - REFUSED))
def test_right(name):
    found, wanted = map(trees.coordinates, gradient_of(name))
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", sorted(PROGRAMS.keys() - REFUSED))
def test_forward_agrees_with_reverse(name):
    function, args = PROGRAMS[name]
    wrt = tuple(k for k, arg in enumerate(args) if not isinstance(arg, int))
    tangents = trees.random_like(args)
    _, push = wg.pushforward(function, *copy.deepcopy(args))
    found = wg.grad(function, argnums=wrt)(*copy.deepcopy(args))
    expected = trees.inner(found, [tangents[k] for k in wrt])
    tangents = [tangent if k in wrt else None for k, tangent in enumerate(tangents)]
    assert push(*tangents) == pytest.approx(expected, rel=1e-9)


@pytest.mark.static_tier
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name):
    refusal("WG101", NotImplementedError, lambda: gradient_of(name))


@pytest.mark.parametrize(
    "name", ["history_of_one_array", "lists_got_and_extended", "best_of_a_swarm"]
)
def test_what_is_read_for_its_run_is_right_in_all_modes(name):
    function, args = PROGRAMS[name]
    x, others = args[0], copy.deepcopy(args[1:])
    slope = oracle.central_gradient(function, *args, wrt=(0,))[0]
    assert wg.gradient(function, *args)[0] == pytest.approx(slope, rel=1e-7)
    value, push = wg.pushforward(function, *args)
    assert push(1.0, *(None for _ in others)) == pytest.approx(slope, rel=1e-7)
    assert value == pytest.approx(function(*copy.deepcopy(args)))
    first = wg.grad(function)
    bend = (first(x + 1e-5, *others) - first(x - 1e-5, *others)) / 2e-5
    assert wg.hvp(function)(x, *others, 1.0) == pytest.approx(bend, rel=1e-5)


def refused_and_told(x, said):
    said.append(x * np.ones(2))
    said.append(said[0])
    said[0][0] *= x
    return said[1].sum()


def test_what_changes_its_arguments_is_not_run_again():
    said = []
    refusal("WG101", NotImplementedError, lambda: wg.pullback(refused_and_told, 0.7, said))
    assert len(said) in (0, 2)


def walked(items, k):
    if k >= len(items):
        return 0.0
    items[k] = math.sin(items[k]) + 0.1 * k
    return items[k] + walked(items, k + 1)


def walked_on_one_path(x, xs):
    total = walked(xs, 0) * x if x > 0.1 else 0.0
    return total + x


@pytest.mark.parametrize("x", [0.7, 0.05])
def test_what_a_recursion_changes_on_one_path_is_changed_for_the_caller(x):
    left, found = [0.4, 0.6, 0.2], [0.4, 0.6, 0.2]
    value = walked_on_one_path(x, left)
    assert wg.pullback(walked_on_one_path, x, found)[0] == pytest.approx(value)
    assert found == left


# Keys have no derivative, however a dictionary gets them


def a_key_that_is_written(x, y):
    d = {x: y}
    return sum(value * key for key, value in d.items())


def a_key_inside_a_tuple(x, y):
    d = {(x, 1): y}
    return sum(value * key for (key, _), value in d.items())


def keys_of_a_comprehension(x, y):
    d = {scale * x: y for scale in (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0)}
    return sum(d)


def keys_of_pairs(x, y):
    d = dict(zip([x, y], [1.0, 2.0], strict=True))
    return max(d) * y


@pytest.mark.parametrize(
    "function",
    [a_key_that_is_written, a_key_inside_a_tuple, keys_of_a_comprehension, keys_of_pairs],
)
def test_numbers_with_a_derivative_are_no_keys(function):
    refusal("WG103", TypeError, lambda: wg.grad(function)(0.7, 0.3))
    refusal("WG103", TypeError, lambda: wg.pushforward(function, 0.7, 0.3))


# What every iteration puts into a new list, dictionary or object is one array, which goes on changing


class Frame:
    def __init__(self, state):
        self.state = state


def kept_in_lists(x, y):
    rows, v = [], np.array([x, y])
    for _ in range(3):
        rows.append([v])
        v *= x
    return sum(row[0].sum() for row in rows)


def kept_in_dictionaries(x, y):
    rows, v = [], np.array([x, y])
    for k in range(3):
        rows.append({"time": k, "state": v})
        v *= x
    return sum(row["state"].sum() for row in rows)


def kept_in_lists_of_lists(x, y):
    rows, v = [], np.array([x, y])
    for _ in range(3):
        rows.append([[v]])
        v *= x
    return rows[0][0][0].sum()


def kept_in_objects(x, y):
    rows, v = [], np.array([x, y])
    for _ in range(3):
        rows.append(Frame(v))
        v *= x
    return rows[0].state.sum() * rows[1].state[0]


def kept_under_keys(x, y):
    rows, v = {}, np.array([x, y])
    for k in range(3):
        rows[k] = [v]
        v *= x
    return rows[0][0].sum() * rows[2][0][1]


def kept_in_front(x, y):
    rows, v = [], np.array([x, y])
    for _ in range(3):
        rows.insert(0, [v])
        v *= x
    return rows[2][0].sum()


def kept_lists_of_a_list(x, y):
    rows, v = [], [x, y]
    for _ in range(3):
        rows.append([v])
        v[0] *= x
    return rows[0][0][0] * rows[2][0][1]


@pytest.mark.parametrize(
    "function",
    [
        kept_in_lists,
        kept_in_dictionaries,
        kept_in_lists_of_lists,
        kept_in_objects,
        kept_under_keys,
        kept_in_front,
        kept_lists_of_a_list,
    ],
)
def test_an_array_in_what_every_iteration_makes_goes_on_changing(function):
    x, y, step = 1.3, 0.7, 1e-6
    by_x = (function(x + step, y) - function(x - step, y)) / (2 * step)
    by_y = (function(x, y + step) - function(x, y - step)) / (2 * step)
    assert wg.gradient(function, x, y) == pytest.approx((by_x, by_y), rel=1e-6)
    assert wg.pushforward(function, x, y)[1](1.0, 2.0) == pytest.approx(by_x + 2 * by_y, rel=1e-6)


# --- operators in place on arrays that nobody else has ---------------------------------------


def of_integers(x, k):
    counts = np.ones_like(k)
    counts *= x
    return counts.sum() * x


def of_integers_divided(x, k):
    halves = k + 0
    halves /= 2
    return halves.sum() * x


def of_real_numbers(x, k):
    row = k * x
    row *= 1j
    return row.sum().imag


@pytest.mark.parametrize("f", [of_integers, of_integers_divided, of_real_numbers])
def test_what_an_array_cannot_hold_is_not_written_to_it(f):
    for call in (f, wg.grad(f), wg.value_and_grad(f)):
        with pytest.raises(TypeError, match="same_kind"):
            call(0.7, np.array([1, 2, 3]))


def of_32_bits(x, k):
    row = np.ones(3, dtype=np.float32)
    row *= k * x
    return float(row.sum())


def the_real_part_of_a_constant(x):
    total = 0
    total = total.real
    return total + x


def test_operators_in_place_keep_the_dtype():
    k = np.array([1, 2, 3])
    value, slope = wg.value_and_grad(of_32_bits)(0.7, k)
    assert value == of_32_bits(0.7, k)
    assert slope == pytest.approx(6.0)
    assert wg.value_and_grad(the_real_part_of_a_constant)(0.7) == (0.7, 1.0)


def doubles_the_first(p, q):
    p[0] *= 2
    return p[0] * q[0]


def moves_the_first(p, q):
    return p.move(p.x).x * q.x


def moves_one_of_several(p, points):
    return p.move(p.x).x * points[1].x


@pytest.mark.parametrize(
    ("f", "make"),
    [
        (doubles_the_first, lambda: ([2.0], [2.0])),
        (doubles_the_first, lambda: ({0: 2.0}, {0: 2.0})),
        (moves_the_first, lambda: (Point(2.0), Point(2.0))),
        (moves_one_of_several, lambda: (Point(2.0), [Point(1.0), Point(2.0)])),
    ],
)
def test_one_object_that_is_given_twice_and_changed_is_refused(f, make):
    p, q = make()
    assert trees.coordinates(wg.gradient(f, p, q))[0] == 4.0
    p, q = make()
    _, push = wg.pushforward(f, p, q)
    assert push(*make()) == 16.0
    again = [q[0], p] if f is moves_one_of_several else p
    for attempt in (
        lambda: wg.gradient(f, p, again),
        lambda: wg.pullback(f, p, again),
        lambda: wg.grad(f)(p, again),
    ):
        refusal("WG101", NotImplementedError, attempt)


@pytest.mark.parametrize("transform", [wg.grad, wg.value_and_grad])
def test_what_a_program_puts_into_an_object_is_the_object_itself(transform):
    def f(a, o):
        for row in (a, a):
            row[0] += 1.0
            if a.max() > 9.0:
                return a[1]
            o.y = [o.x, a * 2.0]
        return o.y[0] @ o.y[1]

    a, o = np.array([0.3, 0.5]), Point(np.array([1.0, 2.0]))
    transform(f)(a, o)
    assert o.y[0] is o.x


def view_or_copy(a, s, write):
    """Two names for a view of an array and for another array, on one path the other way round."""
    view, other = a[::-1], np.sin(a)
    if s > 5:
        view, other = other, view
    write(a, view)
    return np.sum(other * np.arange(1.0, 4.0)) + np.sum(view)


def reversed_part(a, value):
    a[::-1] = value


def whole(a, value):
    a[:] = value


def masked(a, value):
    a[[True, False, True]] = value[:2]


@pytest.mark.parametrize("write", [reversed_part, whole, masked])
@pytest.mark.parametrize("s", [1.0, 9.0])
def test_a_view_on_one_path_sees_what_is_written(write, s):
    a = np.array([0.3, -0.7, 1.2])
    expected = view_or_copy(a.copy(), s, write)
    value, found = wg.value_and_grad(view_or_copy)(a.copy(), s, write)
    assert value == pytest.approx(expected, rel=1e-14)
    trees.assert_close([found], oracle.gradient(view_or_copy, a, s, write, wrt=(0,)), rel=1e-9)


def squeezed_into_itself(a):
    a[...] = np.squeeze(a)
    return np.sum(a * a)


def reversed_into_itself(a):
    a[...] = np.squeeze(a)[::-1]
    return np.sum(a * a * np.arange(a.size).reshape(a.shape))


@pytest.mark.parametrize(
    ("f", "a", "expected"),
    [
        (squeezed_into_itself, np.array(0.7), np.array(1.4)),
        (squeezed_into_itself, np.array([0.7, 1.1]), np.array([1.4, 2.2])),
        (squeezed_into_itself, np.array([[0.7, 1.1]]), np.array([[1.4, 2.2]])),
        (reversed_into_itself, np.arange(1.0, 7.0).reshape(2, 3), [[6, 16, 30], [0, 10, 24]]),
    ],
)
def test_an_array_that_is_written_into_itself(f, a, expected):
    for found in (wg.grad(f)(a.copy()), wg.jacobian(f, mode="forward")(a.copy())):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    assert np.shape(wg.hessian(f)(a.copy())) == a.shape * 2
