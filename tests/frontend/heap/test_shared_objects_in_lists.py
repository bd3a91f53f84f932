"""Lists that hold the objects of another one, or one object many times: what changes in one changes in all."""

# programs under test are written as users write them
# ruff: noqa: B007, PERF102, PERF401, RUF007, RUF024

import itertools

import numpy as np
import pytest
from differences import slope

import wengert as wg


class Node:
    def __init__(self, value):
        self.value = value
        self.near = []


def the_largest_so_far(x):
    ps = [[x * i] for i in range(5)]
    best = ps[0]
    for i in range(30):
        if ps[i * 7 % 5][0] > best[0]:
            best = ps[i * 7 % 5]
    best[0] += x
    return sum(p[0] for p in ps)


def arrays_chosen_many_times(x):
    ps = [np.array([x * i, 1.0]) for i in range(5)]
    ts = [ps[i * i % 5] for i in range(30)]
    for b in ts:
        b[0] += x
    return sum(p[0] for p in ps)


def entries_chosen_many_times(x):
    ps = [[x * i] for i in range(5)]
    ts = {i: ps[i * i % 5] for i in range(30)}
    for k, b in ts.items():
        b[0] += x
    return sum(p[0] for p in ps)


def groups_that_overlap(x):
    ps = [{"a": x * i} for i in range(5)]
    gs = [[ps[i % 5], ps[(i + 1) % 5]] for i in range(30)]
    for g in gs:
        for q in g:
            q["a"] *= 1.01
    return sum(p["a"] for p in ps)


def sorted_and_changed(x):
    ps = [[x * i] for i in range(5)]
    qs = sorted(ps, key=lambda p: -p[0])
    for k, q in enumerate(qs):
        q[0] += k * x
    return sum((i + 1) * p[0] for i, p in enumerate(ps))


def filtered_and_changed(x):
    ps = [[x * i] for i in range(20)]
    qs = [p for p in ps if p[0] > x * 1.5]
    for k, q in enumerate(qs):
        q[0] += k * x
    return sum((i + 1) * p[0] for i, p in enumerate(ps))


def in_turns(x):
    ps = [[x * i] for i in range(5)]
    for k, q in zip(range(33), itertools.cycle(ps)):
        q[0] += k * x
    return sum((i + 1) * p[0] for i, p in enumerate(ps))


def pairs_by_two_loops(x):
    ps = [[x * i] for i in range(5)]
    ts = [(ps[i], ps[j]) for i in range(5) for j in range(5) if i != j]
    for a, b in ts:
        b[0] += x * a[0] * 0.1
    return sum((i + 1) * p[0] for i, p in enumerate(ps))


def numbered_and_sorted(x):
    ps = [[x * i] for i in range(5)]
    ts = [(i, ps[i % 5]) for i in range(40)]
    ts.sort(key=lambda t: -t[0])
    for i, b in ts[:12]:
        b[0] += x * i
    return sum((i + 1) * p[0] for i, p in enumerate(ps))


def all_others(x):
    ps = [[x * i] for i in range(20)]
    nb = [[q for q in ps if q is not p] for p in ps]
    for p, n in zip(ps, nb):
        for q in n:
            q[0] += 0.01 * p[0]
    return sum((i + 1) * p[0] for i, p in enumerate(ps))


def a_chain_of_objects(x):
    ns = [Node(x * i) for i in range(30)]
    for a, b in zip(ns, ns[1:]):
        a.near = [b]
    for _ in range(3):
        for n in ns:
            for m in n.near:
                m.value += 0.01 * n.value
    return sum((i + 1) * n.value for i, n in enumerate(ns))


def rows_in_a_grid(x):
    rows = [np.zeros(3) + x * i for i in range(4)]
    grid = [rows[i % 4] for i in range(20)]
    grid[7][1] = 5 * x
    return sum((r.sum() * (i + 1) for i, r in enumerate(rows)))


def one_list_many_times(x):
    z = [x]
    grid = [z for _ in range(40)]
    grid[2][0] *= 3
    return sum(g[0] for g in grid)


def one_list_repeated(x):
    z = [[x * k for k in range(3)]] * 30
    for i in range(30):
        z[i][i % 3] += x
    return sum(g[1] for g in z)


def one_list_for_all_keys(x):
    d = dict.fromkeys(range(30), [x])
    for k in d:
        d[k][0] *= 1.01
    return sum(g[0] for g in d.values())


def pairs_chosen_many_times(x):
    ps = [[x * i] for i in range(5)]
    ts = [(ps[i % 5], ps[i * i % 5]) for i in range(30)]
    for a, b in ts:
        b[0] += x
    return sum(p[0] for p in ps)


def chosen_many_times(x):
    ps = [[x * i] for i in range(5)]
    ts = [ps[i * i % 5] for i in range(30)]
    for b in ts:
        b[0] += x
    return sum(p[0] for p in ps)


def pairs_by_a_table(x):
    ps = [[x * i] for i in range(5)]
    ts = [(ps[i], ps[j]) for i, j in ((0, 1), (2, 3), (1, 2), (3, 1), (4, 0)) * 5]
    for a, b in ts:
        b[0] += x
    return sum(p[0] for p in ps)


def pairs_of_dictionaries(x):
    ps = [{"v": x * i} for i in range(6)]
    for a, b in itertools.combinations(ps, 2):
        b["v"] += x
    return sum(p["v"] for p in ps)


def pairs_of_lists(x):
    ps = [[x * i] for i in range(6)]
    for a, b in itertools.combinations(ps, 2):
        b[0] += x
    return sum(p[0] for p in ps)


def attracted(x):
    ps = [{"x": i * 1.0, "v": x * (1 + 0.1 * i)} for i in range(6)]
    for a, b in itertools.combinations(ps, 2):
        f = a["x"] - b["x"]
        a["v"] += f * 0.1 * x
        b["v"] -= f * 0.1
    return sum(p["v"] * p["x"] for p in ps)


def pairs_of_many(x):
    ps = [[1.0 * i, x] for i in range(30)]
    for a, b in itertools.combinations(ps, 2):
        b[1] += x * a[1] * 0.01
    return sum(p[1] for p in ps)


def named_many_times(x):
    ps = [[x * i] for i in range(5)]
    a, b, c, d, e = ps
    ts = [
        a,
        b,
        c,
        d,
        e,
        a,
        b,
        c,
        d,
        e,
        a,
        b,
        c,
        d,
        e,
        a,
        b,
        c,
        d,
        e,
        a,
        b,
        c,
        d,
        e,
        a,
        b,
        c,
        d,
        e,
        a,
        b,
        c,
        d,
        e,
    ]
    for b in ts:
        b[0] += x
    return sum(p[0] for p in ps)


def entries_walked_over_again(x):
    ps = [Node(x * i + 0.1) for i in range(3)]
    ts = {i: ps[i % 3] for i in range(30)}
    for j, o in ts.items():
        o.value += x
    total = 0.0
    for o in ts.values():
        total += o.value
    return total


def all_pairs_as_lists(x):
    ps = list(map(lambda i: [x * i + 0.1], range(7)))
    ts = [[a, b] for a in ps for b in ps if a is not b]
    for q, o in ts:
        o[0] += x
    total = 0.0
    for q, o in ts:
        total += o[0]
    return total


def windows(x):
    ps = [[x * i + 0.1] for i in range(3)]
    ts = [[ps[i % 3] for i in range(j, j + 3)] for j in range(30)]
    for g in ts:
        for o in g:
            o[0] *= 1.01
    return sum(o[0] for o in ps)


def put_into_a_second_place(x):
    ps = [[x * i + 0.1] for i in range(4)]
    ps[2] = ps[0]
    for i in range(18):
        o = ps[i % 3]
        o[0] *= 0.9
    for p in ps:
        p[0] += x
    return sum((i + 1) * o[0] for i, o in enumerate(ps))


def made(x):
    ps = []
    for i in range(3):
        ps.append([x * i + 0.1])
    return ps


def picked_where_there_are_some(x):
    ps = made(x)

    def pick(k):
        if len(ps) == 0:
            raise ValueError
        return ps[k]

    t = pick(int(x))
    ps[1][0] *= 2.0
    return t[0]


def the_smallest(x):
    ps = made(x)
    t = min(ps, key=lambda o: o[0])
    ps[0][0] += x * x
    return t[0]


def walked(rows, k):
    if k == 0:
        return rows[0][0]
    rows[k % len(rows)][1] += rows[0][0]
    return walked(rows, k - 1)


def a_row_that_recursion_changes(x):
    ps = made(x)
    for p in ps:
        p.append(x)
    row = ps[1]
    walked(ps, 4)
    return sum(row)


def rows_that_recursion_changes(x):
    ps = [[x, x * i] for i in range(20)]
    some = [p for p in ps if p[1] > x]
    walked(ps, 30)
    return sum(map(sum, some))


PROGRAMS = [
    the_largest_so_far,
    arrays_chosen_many_times,
    entries_chosen_many_times,
    groups_that_overlap,
    sorted_and_changed,
    filtered_and_changed,
    in_turns,
    pairs_by_two_loops,
    numbered_and_sorted,
    all_others,
    a_chain_of_objects,
    rows_in_a_grid,
    one_list_many_times,
    one_list_repeated,
    one_list_for_all_keys,
    pairs_chosen_many_times,
    chosen_many_times,
    pairs_by_a_table,
    pairs_of_dictionaries,
    pairs_of_lists,
    attracted,
    pairs_of_many,
    named_many_times,
    entries_walked_over_again,
    all_pairs_as_lists,
    windows,
    a_row_that_recursion_changes,
    rows_that_recursion_changes,
    put_into_a_second_place,
    picked_where_there_are_some,
    the_smallest,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_what_is_shared_changes_everywhere(program):
    """Where reading cannot follow it, a run is recorded."""
    wanted = program(1.3), pytest.approx(slope(program, 1.3), rel=1e-7)
    for tier in (None, "recorded"):
        value, derivative = wg.value_and_grad(program, tier=tier)(1.3)
        assert (value, derivative) == (pytest.approx(wanted[0], rel=1e-12), wanted[1])
    try:
        found = wg.value_and_grad(program, tier="static")(1.3)
    except wg.WengertError as refusal:
        found = refusal.code
    assert found in ("WG101", (pytest.approx(wanted[0], rel=1e-12), wanted[1]))
