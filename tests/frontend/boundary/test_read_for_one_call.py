"""Programs in which whole numbers and shapes decide what loops do, and which object is which."""

import heapq
import math
import runpy
from dataclasses import dataclass, field

import numpy as np
import oracle
import pytest
import trees

import wengert as wg


def history(x, n):
    """All that is kept is one array, which goes on changing."""
    kept = []
    for _ in range(n):
        x[:] = np.sin(x) + 0.1
        kept.append(x)
    return sum(each[0] for each in kept)


def weighted_history(x, n):
    return n * history(x, n)


def rotating(a, swaps):
    """Three names for three rows, handed round."""
    first, second, third = a[0], a[1], a[2]
    for k in range(swaps):
        first, second, third = second, third, first
        first *= 1.5 + k
        a[1] += third
    return np.sum(a * first) + second @ third


def chained(xs, n):
    """A loop whose test the counts decide, and one with an exit that only the run decides."""
    rows = [np.full(2, x) for x in xs]
    kept, k = [rows[0]], 0
    while k < n:
        rows[k] += kept[-1]
        kept.append(rows[k])
        k += 1
    total = 0.0
    for row in kept:
        if row[0] > 4:
            break
        total += row @ row
    return total + k * kept[-1][1]


def per_row(a):
    """As many turns as the array has rows."""
    pairs = []
    for row in a:
        pairs.append((row, row[::-1]))
        pairs[0][1][:] = row * 0.5
    return sum(p @ q for p, q in pairs)


class Node:
    def __init__(self, value, *parents):
        self.value, self.parents = value, parents


def ordered(node, seen, order):
    if node not in seen:
        seen.add(node)
        for parent in node.parents:
            ordered(parent, seen, order)
        order.append(node)


def over_a_graph(x, y):
    """Every node is visited once, however many ways lead to it."""
    a, b = Node(x), Node(y)
    top = Node(0.0, Node(2 * x, a, b), a, Node(y * y, b))
    seen, order = set(), []
    ordered(top, seen, order)
    history = kept_alike(x, 2)
    return sum(k * node.value for k, node in enumerate(order)) * len(seen) + history


def kept_alike(x, n):
    kept, one = [], np.full(2, x)
    for _ in range(n):
        one *= x
        kept.append(one)
    return kept[0] @ kept[1]


def in_the_order_of_a_set(x, n):
    seen = set()
    for k in range(n):
        seen.add(k)
    return kept_alike(x, n) + sum(x * k for k in seen)


ROWS = np.array([[0.3, -0.2, 1.1], [0.7, 0.4, -0.6], [1.2, 0.1, 0.5]])
CALLS = [
    (history, (np.array([0.5, -1.2]), 3)),
    (history, (np.array([0.5, -1.2]), 0)),
    (weighted_history, (np.array([0.5, -1.2]), 2)),
    (rotating, (ROWS, 1)),
    (rotating, (ROWS, 4)),
    (chained, ([0.5, 0.7, 1.1, 2.0], 4)),
    (chained, ([0.5, 0.7, 5.1, 2.0], 3)),
    (over_a_graph, (0.7, 1.3)),
    (per_row, (ROWS,)),
    (per_row, (ROWS[:1],)),
    (per_row, (np.arange(8.0).reshape(4, 2),)),
]


def copied(args):
    return [np.array(arg) if isinstance(arg, np.ndarray) else arg for arg in args]


@pytest.mark.parametrize(("function", "args"), CALLS)
def test_right_for_every_count(function, args):
    expected = oracle.gradient(function, *args, wrt=(0,))
    found = wg.grad(function, argnums=(0,))(*copied(args))
    trees.assert_close(list(found), list(expected), rel=1e-9)


@pytest.mark.parametrize(("function", "args"), CALLS)
def test_forward_agrees(function, args):
    tangents = [trees.random_like(args[0]), *(None for _ in args[1:])]
    _, push = wg.pushforward(function, *copied(args))
    (gradient,) = oracle.gradient(function, *args, wrt=(0,))
    assert push(*tangents) == pytest.approx(trees.inner([gradient], tangents[:1]), rel=1e-9)


def test_a_whole_number_has_a_derivative_all_the_same():
    x = np.array([0.5, -1.2])
    _, back = wg.pullback(weighted_history, x.copy(), 2)
    assert back(1.0)[1] == pytest.approx(history(x.copy(), 2))


def test_one_gradient_function_serves_many_counts():
    gradient = wg.grad(history)
    for n in (2, 3, 2, 5, 3, 3, 3):
        (expected,) = oracle.gradient(history, np.array([0.5, 0.2]), n, wrt=(0,))
        trees.assert_close([gradient(np.array([0.5, 0.2]), n)], [expected], rel=1e-9)


def test_what_is_made_for_some_counts_refuses_others():
    special = wg.grad(history).specialize(np.array([0.5, 0.2]), 2)
    special(np.array([1.5, 0.2]), 2)
    with pytest.raises(ValueError, match="made for calls with 2 where there is 3 now") as caught:
        special(np.array([0.5, 0.2]), 3)
    assert caught.value.code == "WG101"
    with pytest.raises(ValueError, match=r"made for calls with \(2,\) where there is \(3,\) now"):
        special(np.array([0.5, 0.2, 0.1]), 2)


def rows_beside_their_array(b, s):
    rows = list(b)
    b *= 2
    rows[0][1] = s
    return sum((k + 1) * row.sum() for k, row in enumerate(rows)) * b[0, 1]


def test_lengths_in_a_derivative_inside_a_program():
    def slope(b, s):
        return np.sum(wg.grad(rows_beside_their_array)(b.copy(), s)) * s

    b = np.array([[1.0, 2.0], [3.0, 4.0]])
    near, far = (
        (slope(b, 0.7 + h) - slope(b, 0.7 - h)) / (2 * h) for h in (1e-6, 2e-6)
    )  # a quadratic: differences are exact but for rounding
    assert near == pytest.approx(far, rel=1e-7)
    assert wg.grad(slope, 1)(b, 0.7) == pytest.approx(near, rel=1e-7)


def test_the_order_of_a_set_is_that_of_the_run():
    f = in_the_order_of_a_set
    assert wg.grad(f)(0.7, 3) == pytest.approx(
        (f(0.7 + 1e-6, 3) - f(0.7 - 1e-6, 3)) / 2e-6, rel=1e-8
    )


def walked(items, k):
    if k >= len(items):
        return 0.0
    items[k] = math.sin(items[k]) + 0.1 * k
    return items[k] + walked(items, k + 1)


def walked_and_made_longer(x, xs, n):
    total = kept_alike(x, 2)
    for _ in range(n):
        total += walked(xs, 0)
        xs += [x]
    return total + xs[-1] * len(xs)


@pytest.mark.parametrize("n", [1, 2])
def test_recursion_on_a_list_that_grows(n):
    expected = oracle.gradient(walked_and_made_longer, 0.7, [0.4, 0.6], n, wrt=(0, 1))
    gradient = wg.grad(walked_and_made_longer, argnums=(0, 1))
    trees.assert_close(list(gradient(0.7, [0.4, 0.6], n)), list(expected), rel=1e-9)


def bound_on_one_path(x, n):
    total = kept_alike(x, 2)
    if x > 0.5:
        times = n + 1
    for k in range(times):
        total += x * k
    return total


def test_a_count_that_was_never_bound_is_missed_when_it_runs():
    gradient = wg.grad(bound_on_one_path)
    (expected,) = oracle.gradient(bound_on_one_path, 0.7, 2, wrt=(0,))
    assert gradient(0.7, 2) == pytest.approx(expected)
    with pytest.raises(UnboundLocalError, match="times"):
        gradient(0.3, 2)


def over_part_of(a, start):
    kept = []
    for row in a[start:]:
        kept.append(row)
        kept[0] *= 1.5
    return (
        sum(k * r.sum() for k, r in enumerate(kept, start=1))
        + len(a[start:]) * a.shape[1] * a[0, 0]
    )


@pytest.mark.parametrize("start", [0, 1, 3])
def test_the_shape_of_a_part_is_followed(start):
    (expected,) = oracle.gradient(over_part_of, ROWS, start, wrt=(0,))
    trees.assert_close([wg.grad(over_part_of)(ROWS.copy(), start)], [expected], rel=1e-9)


def masked(a):
    """How many entries a mask leaves is for the run to say."""
    kept = []
    one = a[a > 0.2]
    for _ in range(2):
        one *= 1.5
        kept.append(one)
    total = 0.0
    for each in one:
        total += each**2
    return total + kept[0][0]


def made_of_numbers(x, y):
    kept = []
    for row in np.array([[x, y, 1.0], [y, x, x * y]]):
        kept.append(row)
        kept[0] *= 1.5
    for each in np.full(3, x) * y + np.linspace(x, y, 3):
        kept[0][0] += each
    return sum(k * r.sum() for k, r in enumerate(kept, start=1))


def test_the_shape_of_what_is_made_of_numbers_is_known():
    expected = oracle.gradient(made_of_numbers, 0.7, 1.3, wrt=(0, 1))
    trees.assert_close(list(wg.grad(made_of_numbers, (0, 1))(0.7, 1.3)), list(expected), rel=1e-9)


def test_what_values_decide_is_no_count():
    for a in (np.array([0.3, 0.1, 0.5]), np.array([0.3, 0.7, 0.5]), np.array([0.3, 0.1, 0.1])):
        (expected,) = oracle.gradient(masked, a, wrt=(0,))
        trees.assert_close([wg.grad(masked)(a.copy())], [expected], rel=1e-9)


# --- branches nested deeper than Python follows -----------------------------------------------


def ladder(arms, path, opening="if"):
    """A module whose `value(x, k)` has an arm for each k."""
    lines = ["def value(x, k):"]
    for k in range(arms):
        lines += [f"    {'if' if k == 0 else opening} k == {k}:", f"        y = x * {k + 1}"]
        lines += ["        return y * y"] if opening == "if" else []
    lines += ["    y = x" if opening == "if" else "    else:\n        y = x", "    return y * y"]
    path.write_text("\n".join(lines) + "\n")
    return runpy.run_path(str(path))["value"]


@pytest.mark.parametrize("opening", ["elif", "if"])
def test_a_long_ladder_that_counts_decide(opening, tmp_path):
    value = ladder(150, tmp_path / "ladder.py", opening)
    for k in (0, 77, 200):
        factor = k + 1 if k < 150 else 1
        assert wg.grad(value)(2.0, k) == 4.0 * factor**2
        assert wg.hessian(value)(2.0, k) == 2.0 * factor**2


@pytest.mark.static_tier
def test_a_long_ladder_that_numbers_decide_is_refused(tmp_path):
    path = tmp_path / "ladder.py"
    path.write_text(
        "def value(x):\n"
        + "".join(f"    if x < {k}:\n        return x * {k}\n" for k in range(400))
        + "    return x\n"
    )
    value = runpy.run_path(str(path))["value"]
    with pytest.raises(
        wg.errors.UnsupportedSyntax, match="nested more deeply than Python can"
    ) as e:
        wg.grad(value)(1000.5)
    assert "test_read_for_one_call.py" in str(e.value)


@dataclass(order=True)
class Reached:
    distance: float
    place: tuple = field(compare=False)


def cheapest(cost):
    """Objects ordered by one of their fields, in a heap; another field, a tuple of whole numbers, decides."""
    front, best = [Reached(0.0, (0, 0))], {}
    while front:
        here = heapq.heappop(front)
        if here.place == (cost.shape[0] - 1, cost.shape[1] - 1):
            return here.distance
        if here.place in best:
            continue
        best[here.place] = here.distance
        i, j = here.place
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < cost.shape[0] and b < cost.shape[1]:
                heapq.heappush(front, Reached(here.distance + cost[a, b], (a, b)))
    return math.inf


def test_tuples_of_like_shape_are_not_taken_for_equal():
    cost = np.array([[1.0, 2.0, 9.0], [4.0, 1.5, 1.0], [1.0, 7.0, 0.5]])
    expected = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    gradient = wg.gradient(cheapest, cost)[0]
    assert np.array_equal(gradient, expected), gradient
    value, push = wg.pushforward(cheapest, cost)
    assert value == 5.0
    assert push(cost) == 5.0


def blocks_of(x, n, m):
    """A view whose shape the call decides is written to."""
    a = np.ones(n) * x
    blocks = a.reshape(n // m, m)
    blocks[:, m // 2 :] = blocks[:, : m // 2] * x
    blocks[0] += x * x
    np.reshape(a, (m, -1))[1] *= x
    return np.sum(a * np.arange(n))


def test_views_whose_shapes_a_call_decides():
    for n, m in ((6, 2), (8, 4), (6, 2)):
        slope = (blocks_of(0.7 + 1e-6, n, m) - blocks_of(0.7 - 1e-6, n, m)) / 2e-6
        assert wg.grad(blocks_of)(0.7, n, m) == pytest.approx(slope, rel=1e-8)
        assert wg.pushforward(blocks_of, 0.7, n, m)[1](1.0, None, None) == pytest.approx(slope)
