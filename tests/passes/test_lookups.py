"""Lists that loops only look up are put together once, before the loops: what they look up is what Python does."""

import math

import numpy as np
import pytest

import wengert as wg


def check(f, *args, wrt=0):
    """The gradient in both forms, in both modes, against differences; gives its text."""
    flat, unflatten = wg.flatten(args[wrt])
    at = lambda x: f(*args[:wrt], unflatten(x), *args[wrt + 1 :])
    expected = []
    for k in range(len(flat)):
        step = np.zeros(len(flat))
        step[k] = 1e-6
        expected.append((at(flat + step) - at(flat - step)) / 2e-6)
    gradient = wg.grad(f, wrt)
    for each in (gradient, wg.jit(wg.grad(f, wrt))):
        found, _ = wg.flatten(each(*args))
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(wg.jacobian(at, mode="forward")(flat), expected, rtol=1e-6)
    text = gradient.specialize(*args).source
    return text[text.index("def grad_") :]


def before_loops(text):
    lines = text.splitlines()
    first = next(k for k, line in enumerate(lines) if line.lstrip().startswith("for "))
    return "\n".join(lines[:first]), "\n".join(lines[first:])


PLACES = [k % 3 for k in range(0, 40, 7)] * 5


def chain(p, places):
    s = 1.0
    for k in places:
        s = s + p[k] * math.sin(p[k - 1] + s)
    return s


def test_a_list_that_a_loop_looks_up_twice_stands_before_it_once():
    ahead, after = before_loops(check(chain, [0.3, 0.5, 0.7], PLACES))
    assert ahead.count("[p_0, p_1, p_2]") == 1
    assert "[p_0" not in after


def transitions(m, places):
    s = 0.0
    for i in range(1, len(places)):
        if places[i] > 0:
            s += m[places[i - 1]][places[i]] ** 2
    return s


def test_rows_of_a_table_looked_up_on_one_path():
    ahead, after = before_loops(
        check(transitions, [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]], PLACES)
    )
    assert ahead.count("[m_0_0, m_0_1, m_0_2]") == 1
    assert "[m_0_0" not in after


def nested(p, n):
    s = 0.0
    for i in range(n):
        k = i
        while k > 0:
            s += p[k % 3] * p[i % 3]
            k -= 2
    return s


def test_out_of_loops_in_loops():
    ahead, after = before_loops(check(nested, [0.3, 0.5, 0.7], 30))
    assert "[p_0, p_1, p_2]" in ahead
    assert "[p_0" not in after


def written(p, places):
    s = 0.0
    for k in places:
        q = [p[0], p[1], p[2]]
        q[k] = 2.0 * s
        s = 0.5 * math.sin(s) + q[k - 1] + p[k]
    return s


def test_a_list_that_is_written_to_is_made_anew():
    check(written, [0.3, 0.5, 0.7], PLACES)


def returned(p, places):
    kept = []
    for k in places:
        row = [p[0], p[1] * 2.0]
        row[k % 2] += 1.0
        kept.append(row)
    return sum(a * b for a, b in kept)


def test_a_list_that_a_loop_gives_out():
    check(returned, [0.3, 0.5], PLACES)


def carried(p, places):
    x, y = p[0], p[1]
    for k in places:
        x = 0.9 * x + [x, y, p[2]][k]
        y = math.cos(y)
    return x


def test_a_list_of_what_the_loop_changes():
    check(carried, [0.3, 0.5, 0.7], PLACES)


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize(
    "row", [(0.3, 0.7), [0.3, 0.7], {"x": 0.3, "y": 0.7}, [0.1 * k for k in range(9)]]
)
def test_gradients_by_long_lists_of_rows(row):
    first, second = ("x", "y") if isinstance(row, dict) else (0, 1)

    def f(rows, places):
        s = 0.0
        for r in rows:
            s += math.sin(r[first]) * r[second]
        for k in range(len(places)):
            s += rows[k][first] * rows[places[k]][second] ** 2
        return s

    rows = [row for _ in range(12)]
    check(f, [row.copy() if hasattr(row, "copy") else row for row in rows], PLACES[:12])


@pytest.mark.parametrize("width", [3, 9])
def test_gradients_by_tables_whose_columns_are_computed(width):
    def f(m, places):
        s = 0.0
        for i in range(len(m)):
            s += m[i][places[i]] ** 2 * m[i - 1][0]
        return s

    check(f, [[0.1 * i + 0.01 * j for j in range(width)] for i in range(9)], PLACES[:9])
    check(f, [tuple(0.1 * i + 0.01 * j for j in range(width)) for i in range(9)], PLACES[:9])


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_gradients_by_lists_of_lists_of_any_length():
    def f(rows):
        s = 0.0
        for row in rows:
            for x in row:
                s += x * x * row[0]
        return s

    check(f, [[0.1 * k for k in range(7 + n)] for n in range(9)])
    check(f, [[0.1 * k + 0.01 * n for k in range(8)] for n in range(9)])
