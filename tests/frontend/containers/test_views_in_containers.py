"""Views and arrays in containers: what is written by one way is seen by the others, or refused."""

import copy

import numpy as np
import pytest
import standing_alone
from differences import agree
from error_texts import refusal, says

import wengert as wg
from wengert.frontend.heap import aliases

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


class Body:
    def __init__(self, v, w):
        self.v, self.w, self.parts = v, w, [np.ones(4)]


def arguments():
    return np.array([1.0, 2.0, 3.0, 4.0]), Body(1.0, np.ones(4)), [np.arange(4.0) * 0.5]


@program
def put_back_where_it_was(x, a, o, xs):
    w = o.w
    o.w = w
    w[0] = 5 * x
    return o.w[0] * x


@program
def replaced_by_a_slice_of_itself(x, a, o, xs):
    w = o.w
    o.w = w[:]
    w[0] = x
    return o.w[0] * x


@program
def replaced_by_itself_backwards(x, a, o, xs):
    w = o.w
    o.w = w[::-1]
    w[0] = x
    return o.w[-1] * x + o.w[0]


@program
def replaced_by_itself_reshaped(x, a, o, xs):
    w = o.w
    o.w = w.reshape(2, 2)
    w[0] = x
    o.w[1, 1] = 3 * x
    return o.w[0, 0] * x + w[3]


@program
def shortened_after_it_was_put_in(x, a, o, xs):
    o.w = a
    o.w = o.w[1:]
    a[1] = 2 * x
    return o.w[0] * x


@program
def slice_in_another_attribute(x, a, o, xs):
    o.v = o.w[1:]
    o.w[1] = 5 * x
    return o.v[0] * x


@program
def slice_in_the_same_list(x, a, o, xs):
    xs.append(xs[0][1:])
    xs[0][1] = 5 * x
    return xs[1][0] * x


@program
def array_twice_in_a_list(x, a, o, xs):
    xs.append(xs[0])
    xs[0][1] = 5 * x
    return xs[1][1] * x


@program
def array_in_two_attributes(x, a, o, xs):
    o.v = o.w
    o.w[1] = 5 * x
    return o.v[1] * x


@program
def item_shortened(x, a, o, xs):
    xs[0] = xs[0][1:]
    xs[0][1] = 5 * x
    return xs[0][0] * x


@program
def attribute_shortened(x, a, o, xs):
    o.w = o.w[1:]
    o.w[1] = 5 * x
    return o.w[1] * x


@program
def attribute_shortened_in_a_loop(x, a, o, xs):
    for _ in range(3):
        o.w = o.w[1:]
        o.w[0] *= x
    return o.w[0] * x


@program
def slices_in_a_list_in_an_attribute(x, a, o, xs):
    w = o.w
    o.v = [w[1:], w[:1]]
    o.w = a
    w[1] = 4 * x
    return o.v[0][0] * x


@program
def replaced_by_a_list_of_its_slices(x, a, o, xs):
    w = o.w
    o.w = [w[1:], w[:1]]
    w[1] = 4 * x
    return o.w[0][0] * x


@program
def item_shortened_and_old_one_read(x, a, o, xs):
    w = xs[0]
    xs[0] = w[1:]
    xs[0][0] = 4 * x
    return w[1] * x


@program
def replaced_by_what_a_mask_chose(x, a, o, xs):
    w = o.w
    o.w = w[w > 0]
    w[1] = 4 * x
    return o.w[1] * x


@program
def replaced_by_a_copy_of_a_slice(x, a, o, xs):
    w = o.w
    o.w = w[1:].copy()
    w[1] = 4 * x
    return o.w[0] * x


@program
def replaced_by_itself_as_an_array(x, a, o, xs):
    w = o.w
    o.w = np.asarray(w)
    w[1] = 4 * x
    return o.w[1] * x


@program
def shortened_in_a_branch(x, a, o, xs):
    if x > 0:
        o.w = o.w[1:]
    o.w[1] = 4 * x
    return o.w[1] * x


@program
def slice_that_came_and_went(x, a, o, xs):
    w = o.w
    u = w[1:]
    o.w = u
    o.w = a
    u[0] = 4 * x
    return w[1] * x


@program
def slice_by_its_own_name(x, a, o, xs):
    u = o.w[1:]
    o.w = u
    u[0] = 4 * x
    return o.w[0] * x


@program
def chosen_slice_is_changed(x, a, o, xs):
    both = [a[1:], a[:2]]
    k = 0
    for _ in range(3):
        both[k][0] += x
        k = 1 - k
    return (a * a).sum() * x


@program
def chosen_slice_and_the_array_change(x, a, o, xs):
    both = [a[1:], a[:2]]
    k = 0
    for _ in range(3):
        a[1] += x
        both[k][0] += x * both[1 - k][0]
        k = 1 - k
    return (a * a).sum() * x


@program
def slice_in_an_attribute_is_changed(x, a, o, xs):
    o.v = [a[1:], a[:2]]
    o.v[0][0] = x * x
    return (a * a).sum() * x


@program
def array_of_slices_in_an_attribute_changes(x, a, o, xs):
    o.v = [a[1:], a[:2]]
    a[0] = x * x
    return o.v[1][0] * x


@program
def slice_in_a_list_in_a_list(x, a, o, xs):
    xs.append([a[1:]])
    a[1] = x * x
    return xs[1][0][0] * x


@program
def array_in_a_list_in_a_list(x, a, o, xs):
    w = o.w
    xs.append([w])
    w[1] = x * x
    return xs[1][0][1] * x


@program
def slices_in_a_dictionary(x, a, o, xs):
    o.v = {"p": a[1:], "q": o.w[:2]}
    a[1] = x * x
    o.w[0] = 3 * x
    return o.v["p"][0] * x + o.v["q"][0]


@program
def slices_in_an_object(x, a, o, xs):
    o.v = Body(a[1:], o.w[:2])
    a[1] = x * x
    o.w[0] = 3 * x
    return o.v.v[0] * x + o.v.w[0]


@program
def array_in_an_object_of_its_owner(x, a, o, xs):
    o.v = Body(o.w, 1)
    o.w[0] = 3 * x
    return o.v.v[0] * x


@program
def list_longer_by_an_array(x, a, o, xs):
    xs.extend([a])
    a[0] = x * x
    return xs[1][0] * x


@program
def list_longer_by_a_slice(x, a, o, xs):
    xs.extend([a[1:]])
    a[1] = x * x
    return xs[1][0] * x


@program
def list_longer_by_both(x, a, o, xs):
    xs += [a[1:], a]
    a[1] = x * x
    return xs[1][0] * x + xs[2][1]


@program
def joined_lists(x, a, o, xs):
    ys = [a[1:], a]
    zs = ys + xs
    a[1] = x * x
    s = 0.0
    for z in zs:
        s += z[0]
    return s * x


@program
def every_slice_changes(x, a, o, xs):
    ys = [a[1:], a[:2]]
    for z in ys:
        z += x
    return (a * a).sum() * x


@program
def slices_take_turns(x, a, o, xs):
    ys = [a[1:], a[:2]]
    k = 0
    while k < 5:
        ys[k % 2] += x
        k += 1
    return (a * a).sum() * x


@program
def many_slices_take_turns(x, a, o, xs):
    ys = [a[i : i + 2] for i in range(3)]
    for k in range(5):
        ys[k % 3] += x
    return (a * a).sum() * x


@program
def slices_read_after_the_array_changed(x, a, o, xs):
    ys = [a[i : i + 2] for i in range(len(a) - 1)]
    a[1] = x
    return sum(y[0] for y in ys) * x


@program
def slices_by_number(x, a, o, xs):
    ys = {}
    for i in range(len(a) - 1):
        ys[i] = a[i : i + 2]
    ys[1][0] = 3 * x
    return (a * a).sum() * x


@program
def slices_in_lists_in_a_list(x, a, o, xs):
    ys = []
    for i in range(len(a) - 1):
        ys.append([a[i : i + 2], 1.0])  # noqa: PERF401
    ys[1][0][0] = 3 * x
    return (a * a).sum() * x


@program
def slices_in_objects_in_a_list(x, a, o, xs):
    ys = []
    for i in range(len(a) - 1):
        ys.append(Body(a[i : i + 2], 1.0))  # noqa: PERF401
    for y in ys:
        y.v[0] *= x
    return (a * a).sum() * x


@program
def halves_of_an_array(x, a, o, xs):
    ys = np.split(a, 2)
    ys[0][0] = x
    for y in ys:
        y *= x
    return (a * a).sum() * x


@program
def unpacked_halves(x, a, o, xs):
    p, q = np.split(a, 2)
    p[0] = x
    q += p
    return (a * a).sum() * x


@program
def rows_in_a_list(x, a, o, xs):
    m = a.reshape(2, 2)
    rows = list(m)
    rows[0][0] = x
    rows[1] *= rows[0]
    return (a * a).sum() * x


@program
def the_best_row(x, a, o, xs):
    m = a.reshape(2, 2)
    best = m[0]
    for r in m:
        if r[0] > best[0]:
            best = r
    best[0] = x * x
    return (a * a).sum() * x


@program
def slice_of_a_tuple(x, a, o, xs):
    views = (a[1:], a[:2])
    k = int(x > 0)
    views[k][0] = x
    return (a * a).sum() * x


@program
def view_of_what_was_put_into_a_list(x, a, o, xs):
    c = a[::-1] * x
    g = c[::-1]
    o.parts[0] = c
    for part in o.parts:
        part[2] += x
    return g.sum()


@program
def views_of_what_was_put_into_a_list(x, a, o, xs):
    c = a[::-1] * x
    g = [c[::-1], a]
    o.parts[0] = c
    o.parts[0][1] += x
    return sum(q.sum() for q in g)


@program
def list_of_an_array_that_grows(x, a, o, xs):
    b = np.full(4, x)
    f = [a[::-1], b]
    for k in range(2):
        f = f + f[:1]
        b[0] = x * k + x
    return sum(v[0] for v in f)


@program
def list_of_views_that_grows(x, a, o, xs):
    f = [a[::-1], a]
    for k in range(len(a)):
        f = f + f[:1]
        a[k] += x
    return sum(v.sum() for v in f)


@program
def list_that_starts_empty(x, a, o, xs):
    f = []
    for k in range(len(a)):
        f = f + [a]  # noqa: RUF005
        a[k] += x
    return sum(v.sum() for v in f)


@program
def tuple_made_anew(x, a, o, xs):
    f = (a,)
    for k in range(len(a)):
        f = (a, f[0])
        a[k] += x
    return sum(v.sum() for v in f)


@program
def view_of_a_view(x, a, o, xs):
    f = a
    for k in range(len(a)):
        f = f[::-1]
        a[k] += x * f[0]
    return f[0] + f[1] * 2


@program
def dictionary_made_anew(x, a, o, xs):
    d = {}
    for k in range(len(a)):
        d = {**d, k: a}
        a[k] += x
    return sum(v.sum() for v in d.values())


@program
def list_turned_round(x, a, o, xs):
    f = [a, o.w]
    for k in range(len(a)):
        f = f[::-1]  # noqa: FURB187
        f[0][k] += x
    return a.sum() + 2 * o.w.sum()


@program
def list_sorted_anew(x, a, o, xs):
    f = [a, o.w]
    for k in range(len(a)):
        f = sorted(f, key=lambda v: -v[0])
        f[0][k] += x
    return a.sum() + 2 * o.w.sum()


@program
def parts_by_an_index(x, a, o, xs):
    p, q = np.array_split(a, [1])
    a[0] = x
    q += p
    return (p * p).sum() * x + q[1]


@program
def columns_of_a_matrix(x, a, o, xs):
    m = (a * x).reshape(2, 2)
    left, right = np.hsplit(m, 2)
    right[:, 0] += left[:, 0]
    return (m * m).sum() * x


@program
def parts_take_turns(x, a, o, xs):
    ys = np.split(a, 2)
    k = 0
    while k < 5:
        ys[k % 2][0] += x
        k += 1
    return (a * a).sum() * x


@program
def split_list_is_made_longer(x, a, o, xs):
    ys = np.split(a, 2)
    zs = ys[::-1]
    zs[0][1] = x * x
    ys.append(a)
    ys[2][0] = x
    return (ys[0] @ zs[0]) * x


@program
def own_list_of_parts(x, a, o, xs):
    ys = [part for part in np.split(a, 2)]  # noqa: C416
    ys.append(a)
    ys[2][0] = x
    return (ys[0] @ ys[1]) * x


@program
def list_of_parts(x, a, o, xs):
    ys = list(np.split(a, 2))
    ys.append(a)
    ys[2][0] = x
    return (ys[0] @ ys[1]) * x


@program
def part_is_replaced(x, a, o, xs):
    ys = np.split(a, 2)
    ys[0] = ys[1] * x
    ys[0][0] = x
    return (ys[0] @ ys[1]) * x


@program
def slices_chosen_by_name(x, a, o, xs):
    views = {"p": a[1:], "q": a[:2]}
    n = "p"
    for _ in range(4):
        views[n][0] *= x
        n = "q" if n == "p" else "p"
    return (a * a).sum() * x


@program
def item_is_changed_and_its_first_name_read(x, a, o, xs):
    first = xs[0]
    for k in range(len(xs)):
        xs[k] += x
    return first[1] * x


@program
def what_a_list_of_indices_chose_is_a_copy(x, a, o, xs):
    b = a[[0, 2]]
    b[0] = x
    return a.sum() * b.sum()


@program
def what_indices_of_the_run_chose_is_a_copy(x, a, o, xs):
    index = [k for k in range(4) if a[k] > 1.5]
    b = a[index]
    b[0] = x
    return a.sum() * b.sum()


@program
def repeated_list(x, a, o, xs):
    twice = xs * 2
    twice[0][1] = x
    return twice[1][1] * x + xs[0][1]


@program
def list_repeated_in_place(x, a, o, xs):
    xs *= 2
    xs[1][1] = x
    return xs[0][1] * x


@program
def one_of_two_in_an_attribute(x, a, o, xs):
    o.v = a if x > 0 else xs[0]
    o.v[1] = x
    return a[1] * x + xs[0][1]


@program
def one_of_two_in_an_attribute_read(x, a, o, xs):
    o.v = a if x > 0 else xs[0]
    a[1] = x
    return o.v[1] * x + xs[0][1]


@program
def one_of_two_in_containers_in_an_attribute(x, a, o, xs):
    o.v = {"k": [1.0, a if x > 0 else xs[0]]}
    o.v["k"][1][1] = x
    return a[1] * x + xs[0][1]


@program
def slice_of_one_of_two_in_a_list(x, a, o, xs):
    b = a if x > 0 else xs[0]
    xs.append(b[1:])
    xs[-1][0] = x
    return a[1] * x + b[1]


@program
def one_of_two_in_an_own_object(x, a, o, xs):
    chosen = Body(1.0, a if x > 0 else o.w)
    chosen.w[1] = x
    return a[1] * x + o.w[1]


@program
def history_of_an_array_that_changes(x, a, o, xs):
    trace = []
    for k in range(3):
        a += x * k
        trace.append(a)
    return trace[0][1] * x


@program
def given_history_of_an_array_that_changes(x, a, o, xs):
    for _ in range(2):
        xs.append(a)
        a *= x
    return xs[1][1] * x


@program
def numbered_history_of_an_array_that_changes(x, a, o, xs):
    o.v = {}
    for k in range(3):
        a *= x
        o.v[k] = a
    return o.v[0][1] * x


@program
def history_of_a_number_that_changes(x, a, o, xs):
    level, trace = o.v, [o.v]
    for k in range(3):
        level += x * k
        trace.append(level)
    return trace[1] * trace[3] * x


def expected(function, x=0.3, step=1e-4):
    high, low = (function(at, *arguments()) for at in (x + step, x - step))
    return function(x, *arguments()), (high - low) / (2 * step)


def reverse(function):
    value, back = wg.pullback(function, 0.3, *arguments())
    return value, back(1.0)[0]


@program
def first_that_fits(x, a, o, xs):
    b = next(v for v in [a, a * 2] if v[0] * x > -1)
    b[1] = x
    return a[1] * x


@program
def next_of_a_generator(x, a, o, xs):
    chosen = (v for v in [a, a * 2] if v[0] * x > -1)
    b = next(chosen)
    b[1] = x
    return a[1] * x


@program
def the_largest_array(x, a, o, xs):
    b = xs[0] * 2
    m = max([a, b], key=lambda v: v[0])
    m[1] = x * x
    return a[1] + b[1]


@program
def the_largest_array_read_after_a_change(x, a, o, xs):
    b = xs[0] * 2
    m = max([a, b], key=lambda v: v[0])
    a[1] = x * x * x
    b[1] = x * x
    return m[1] + b[1]


@program
def copied_list(x, a, o, xs):
    ys = copy.copy(xs)
    ys[0][1] = x
    return xs[0][1] * x


@program
def list_copied_by_its_method(x, a, o, xs):
    rows = []
    k = 0
    while k < len(a):
        rows.append(x * k)
        k += 1
    ys = rows.copy()
    ys.append(x)
    ys[0] = 5 * x
    return len(rows) * x + rows[0] + ys[0]


@program
def dictionary_copied_by_its_method(x, a, o, xs):
    table = {}
    k = 0
    while k < len(a):
        table[k] = x * k
        k += 1
    other = table.copy()
    other[7] = x
    other[0] = 5 * x
    return len(table) * x + table[0] + other[0]


@program
def given_list_copied_by_its_method(x, a, o, xs):
    ys = xs.copy()
    ys[0][1] = x
    return xs[0][1] * x


def forward(function):
    value, push = wg.pushforward(function, 0.3, *arguments())
    return value, push(1.0, None, None, None)


def alone(function):
    return standing_alone.alone(wg.value_and_grad(function))(0.3, *arguments())


REFUSED = {
    reverse: {
        "replaced_by_a_slice_of_itself",
        "replaced_by_itself_backwards",
        "replaced_by_itself_reshaped",
        "shortened_after_it_was_put_in",
        "slice_in_another_attribute",
        "slice_in_the_same_list",
        "array_twice_in_a_list",
        "array_in_two_attributes",
        "slices_in_a_list_in_an_attribute",
        "slice_that_came_and_went",
        "replaced_by_a_list_of_its_slices",
        "item_shortened_and_old_one_read",
        "slice_by_its_own_name",
        "slice_in_an_attribute_is_changed",
        "array_of_slices_in_an_attribute_changes",
        "slice_in_a_list_in_a_list",
        "slices_in_a_dictionary",
        "slices_in_an_object",
        "array_in_an_object_of_its_owner",
        "list_longer_by_a_slice",
        "list_longer_by_both",
        "list_sorted_anew",
        "split_list_is_made_longer",
        "part_is_replaced",
        "slice_of_one_of_two_in_a_list",
        "given_history_of_an_array_that_changes",
        "list_repeated_in_place",
    },
    alone: {
        "repeated_list",
        "list_repeated_in_place",
        "slice_that_came_and_went",
        "replaced_by_a_slice_of_itself",
        "replaced_by_itself_backwards",
        "replaced_by_itself_reshaped",
        "shortened_after_it_was_put_in",
        "slice_in_another_attribute",
        "slice_in_the_same_list",
        "array_twice_in_a_list",
        "array_in_two_attributes",
        "slices_in_a_list_in_an_attribute",
        "replaced_by_a_list_of_its_slices",
        "item_shortened_and_old_one_read",
        "replaced_by_what_a_mask_chose",
        "replaced_by_itself_as_an_array",
        "slice_by_its_own_name",
        "chosen_slice_is_changed",
        "chosen_slice_and_the_array_change",
        "slice_in_an_attribute_is_changed",
        "array_of_slices_in_an_attribute_changes",
        "slice_in_a_list_in_a_list",
        "array_in_a_list_in_a_list",
        "slices_in_a_dictionary",
        "slices_in_an_object",
        "array_in_an_object_of_its_owner",
        "list_longer_by_an_array",
        "list_longer_by_a_slice",
        "list_longer_by_both",
        "joined_lists",
        "slices_take_turns",
        "many_slices_take_turns",
        "slices_read_after_the_array_changed",
        "slices_by_number",
        "slices_in_lists_in_a_list",
        "slices_in_objects_in_a_list",
        "rows_in_a_list",
        "the_best_row",
        "slice_of_a_tuple",
        "view_of_what_was_put_into_a_list",
        "views_of_what_was_put_into_a_list",
        "list_of_views_that_grows",
        "list_that_starts_empty",
        "tuple_made_anew",
        "view_of_a_view",
        "dictionary_made_anew",
        "list_turned_round",
        "list_sorted_anew",
        "split_list_is_made_longer",
        "part_is_replaced",
        "slices_chosen_by_name",
        "item_is_changed_and_its_first_name_read",
        "first_that_fits",
        "next_of_a_generator",
        "the_largest_array",
        "the_largest_array_read_after_a_change",
        "copied_list",
        "given_list_copied_by_its_method",
        "dictionary_copied_by_its_method",
        "given_history_of_an_array_that_changes",
        "numbered_history_of_an_array_that_changes",
        "history_of_an_array_that_changes",
        "one_of_two_in_an_attribute",
        "one_of_two_in_an_attribute_read",
        "one_of_two_in_containers_in_an_attribute",
        "slice_of_one_of_two_in_a_list",
        "one_of_two_in_an_own_object",
    },
}
REFUSED[forward] = REFUSED[reverse]


def test_too_many_objects_that_may_be_one(monkeypatch):
    monkeypatch.setattr(aliases, "MOST_LINKS", 0)
    arrays = [np.ones(2), np.ones(2)]
    error = refusal(
        "WG101", NotImplementedError, lambda: wg.grad(turns, tier="static")(0.3, *arrays)
    )
    says(error, "too many objects of this program may be one another", "Differentiate a part of it")


def turns(x, a, b):
    while a[0] < 2.0:
        if x > b[0]:
            a = b
        a[0] += x
    return a[0] * b[0]


@pytest.mark.parametrize("how", [reverse, forward, alone], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", PROGRAMS)
def test_right_or_refused(name, how):
    if name in REFUSED[how]:
        with pytest.raises((NotImplementedError, ValueError)) as caught:
            how(PROGRAMS[name])
        assert caught.value.code == "WG101"
    else:
        value, slope = expected(PROGRAMS[name])
        assert how(PROGRAMS[name]) == (pytest.approx(value), pytest.approx(slope, rel=1e-6))


# --- put into a list on one path only --------------------------------------------------------


def accepted(y):
    x, chain = y, []
    for _ in range(4):
        proposal = x * 0.9
        if proposal[0] < x[0]:
            x = proposal
            chain.append(x)
    return np.mean(np.array(chain) ** 2)


def best_so_far(y):
    best, least = y.copy(), np.sum(y**2)
    history = [best]
    for k in range(4):
        candidate = best * 0.9 - 0.01 * k
        value = np.sum(candidate**2)
        if value < least:
            best, least = candidate, value
            history.append(best)
    return np.sum(history[-1]) + len(history) * least


def kept_in_a_dictionary(y):
    found = {"best": y * 2}
    candidate = y * 0.9
    if candidate[0] > 0.5:
        found["best"] = candidate
    candidate = candidate * 2
    return np.sum(found["best"] ** 2) + candidate[0]


@pytest.mark.parametrize("f", [accepted, best_so_far, kept_in_a_dictionary])
def test_what_one_path_puts_into_a_container_is_read_after_both(f):
    agree(lambda t: f(np.array([1.0, 2.0]) * t), 0.9, 1.1)


def changed_by_its_name(y):
    x, chain = y * 1.0, []
    for _ in range(4):
        proposal = x * 0.9
        if proposal[0] > 0.85:
            x = proposal
            chain.append(x)
    x[0] = 5.0 * y[1]
    return np.sum(np.array(chain) ** 2)


def changed_in_the_list(y):
    x, chain = y * 1.0, []
    for _ in range(4):
        proposal = x * 0.9
        if proposal[0] > 0.85:
            x = proposal
            chain.append(x)
    chain[-1][0] = y[1]
    return np.sum(x**2)


@pytest.mark.parametrize("f", [changed_by_its_name, changed_in_the_list])
def test_what_one_path_puts_into_a_container_and_then_changes_the_run_decides(f):
    agree(lambda t: f(np.array([1.0, 2.0]) * t), 1.0, 1.02)


def test_source_names_no_path():
    """Where a write goes is said by the text, and leaves no constant that somebody would have to define."""

    def f(a, o, x):
        a.T[0] = 3 * x
        o.v = o.v * x
        o.parts[0][1] = x
        return a.sum() * o.v + o.parts[0].sum()

    a, o, _ = arguments()
    texts = [wg.code_adjoint(f), wg.code_tangent(f), wg.code_adjoint(f, a, o, 2.0)]
    assert not [line for text in texts for line in str(text).splitlines() if "NameError" in line]
