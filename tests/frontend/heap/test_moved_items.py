"""Objects that change places in a container of the caller's, and are written to under another name."""

import numpy as np
import pytest
from test_kept_and_changed import state

import wengert as wg

PROGRAMS = []
REFUSED = []


def program(function):
    PROGRAMS.append(function)
    return function


def refused(function):
    """The container may refer to something else by now, or the object is in two containers."""
    REFUSED.append(function)
    return function


class Box:
    def __init__(self):
        self.parts = [np.zeros(4), np.full(4, 0.3), np.full(4, 0.7)]
        self.w, self.z = np.ones(4), np.full(4, 2.0)
        self.rows = [[1.0, 2.0, 3.0], [4.0, 1.0, 2.0], [9.0, 8.0, 5.0]]


def arguments(x=1.3, n=2):
    return x, np.array([0.1, 0.2, 0.3, 0.4]), Box(), n


def weighed(o, *more):
    held = [*o.parts, o.w, o.z, *more]
    return sum((k + 1) * held[k].sum() for k in range(len(held)))


def weighed_rows(m):
    return m[0][0] + 2 * m[1][1] + 3 * m[2][2] + 5 * m[0][1] + 7 * m[2][1]


@program
def twice(x, a, o, n):
    o.parts[0] = a
    o.parts[0], o.parts[1] = o.parts[1], o.parts[0]
    o.parts[0], o.parts[1] = o.parts[1], o.parts[0]
    a[0] += x
    return weighed(o)


@program
def under_the_names_of_items(x, a, o, n):
    t, s = o.parts[1], o.parts[0]
    o.parts[0], o.parts[1] = o.parts[1], o.parts[0]
    t[0] += x
    s[1] = x
    return weighed(o, s, t)


@program
def under_the_names_of_attributes(x, a, o, n):
    t = o.w
    o.w, o.z = o.z, o.w
    t[0] += x
    o.w, o.z = o.z, o.w
    t[1] += x
    o.z[0] = x
    return weighed(o, t)


@program
def around_three_places(x, a, o, n):
    o.parts[1] = a
    t = o.parts[2]
    o.parts[0], o.parts[1], o.parts[2] = o.parts[1], o.parts[2], o.parts[0]
    a[0] += x
    o.parts[0], o.parts[1], o.parts[2] = o.parts[1], o.parts[2], o.parts[0]
    t[1] += x
    o.parts[2][3] = x
    return weighed(o, a)


@program
def in_a_loop(x, a, o, n):
    o.parts[1] = a
    for i in range(n):
        o.parts[0], o.parts[1] = o.parts[1], o.parts[0]
        a[i] += x
    return weighed(o, a)


@program
def by_one_name_more(x, a, o, n):
    u, old = o.z, o.w
    o.w = o.z
    o.z = old
    old[0] = x
    u[1] = x * x
    return weighed(o, old)


@program
def on_one_path(x, a, o, n):
    u = o.z
    if x > 0:
        old = o.w
        o.w = o.z
        o.z = old
    u[1] = x * x
    return weighed(o)


@program
def to_an_index_that_the_run_knows(x, a, o, n):
    o.parts[0] = a
    o.parts[0], o.parts[n] = o.parts[n], o.parts[0]
    a[1] = x * x
    return weighed(o)


@refused
def from_an_index_that_the_run_knows(x, a, o, n):
    o.parts[n] = a
    o.parts[0], o.parts[n] = o.parts[n], o.parts[0]
    a[1] = x * x
    return weighed(o)


@refused
def between_a_list_and_an_attribute(x, a, o, n):
    u = o.z
    o.parts[2], o.z = o.z, o.parts[2]
    u[1] = x * x
    return weighed(o)


@refused
def in_two_places(x, a, o, n):
    o.rows.append([x, 0.1 * x, 2.0])
    o.parts = o.rows[1]
    o.parts[0] *= x
    return sum(sum(row) for row in o.rows)


@refused
def taken_out_later(x, a, o, n):
    t = o.parts[1]
    for _ in range(2):
        s = o.parts.pop(0)
        s *= x
    return t.sum() + weighed(o)


@refused
def at_another_index_by_now(x, a, o, n):
    t = o.parts[1]
    del o.parts[0]
    o.parts[0] *= x
    return t.sum() + weighed(o)


@refused
def put_behind_the_others(x, a, o, n):
    t = o.parts[0]
    o.parts.append(o.parts.pop(0))
    o.parts[2][0] = x
    return t.sum() + weighed(o)


@program
def rows_after_a_write(x, a, o, n):
    m = o.rows
    m[0][1] *= x
    first = m[2]
    m[2], m[0] = m[0], m[2]
    first[0] += x
    return weighed_rows(m)


@program
def rows_twice(x, a, o, n):
    m = o.rows
    m[1], m[2] = m[2], m[1]
    x *= 2
    first = m[2]
    m[2], m[0] = m[0], m[2]
    first[0] += x
    return weighed_rows(m)


@program
def pivots(x, a, o, n):
    m = o.rows
    for i in range(3):
        p = max(range(i, 3), key=lambda r: abs(m[r][i]))
        pivot = m[p]
        m[i], m[p] = m[p], m[i]
        for k in range(3):
            pivot[k] /= x
        for r in range(3):
            if r != i:
                f = m[r][i]
                for k in range(3):
                    m[r][k] -= pivot[k] * f
    return weighed_rows(m)


@program
def in_a_list_that_grows(x, a, o, n):
    made, table = [a], {"s": 0.5, "t": a}
    for _ in range(n):
        table["s"] *= x
        made.append(1.0)
    a[1] = x
    return table["t"].sum() * table["s"] + made[0].sum()


@program
def in_a_list_that_grows_and_changes(x, a, o, n):
    made, table = [a], {"s": 1.0, "t": a}
    for k in range(n):
        made.append(a * x)
        table["s"] *= x
        if k == 1:
            table["t"] = made[-1]
    made[-1][0] = x
    a[1] = x
    return table["t"].sum() + table["s"] + sum(np.sum(each) for each in made)


@program
def names_that_change_places(x, a, o, n):
    made, t, s = [a], a, np.ones(4)
    for _ in range(n):
        t, s = s, t
        made.append(1.0)
    made[0][1] = x
    return t.sum() + 3 * s.sum()


@program
def put_twice_in_a_try(x, a, o, n):
    g = a if x < n else a  # noqa: RUF034
    try:
        for _ in range(n):
            o.parts.append(a)
    except ValueError:
        pass
    return (o.w @ g) * x


def by_reverse_mode(function, *args):
    value, back = wg.pullback(function, *args)
    return value, back(1.0)[0]


def by_forward_mode(function, *args):
    value, push = wg.pushforward(function, *args)
    return value, push(1.0, None, None, None)


def by_its_source(function, *args):
    names = {}
    exec(wg.value_and_grad(function).source, names)
    return names[f"value_and_grad_{function.__name__}"](*args)


def check(function, way):
    given, left = arguments(), arguments()
    expected = function(*left)
    value, found = way(function, *given)
    slope = (function(*arguments(1.3 + 1e-6)) - function(*arguments(1.3 - 1e-6))) / 2e-6
    assert value == pytest.approx(expected, rel=1e-12)
    assert found == pytest.approx(slope, rel=1e-6, abs=1e-6)
    held = [[a, o.parts, o.w, o.z, o.rows] for _, a, o, _ in (given, left)]
    assert state(held[0], {}) == state(held[1], {})


@pytest.mark.parametrize("way", [by_reverse_mode, by_forward_mode])
@pytest.mark.parametrize("function", PROGRAMS)
def test_right(function, way):
    check(function, way)


@pytest.mark.static_tier
@pytest.mark.parametrize("way", [by_reverse_mode, by_forward_mode])
@pytest.mark.parametrize("function", REFUSED)
def test_refused(function, way):
    with pytest.raises(wg.errors.UnsupportedSyntax):
        way(function, *arguments())


@pytest.mark.parametrize("function", [*PROGRAMS, *REFUSED])
def test_source_that_stands_alone_is_right_or_refuses(function):
    try:
        check(function, by_its_source)
    except (wg.errors.UnsupportedSyntax, ValueError) as error:
        if not getattr(error, "code", "").startswith("WG1"):
            raise
