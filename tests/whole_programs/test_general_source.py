"""Source for arguments of any kind: which object a name refers to only the run knows.

Every program is held against differences of its own calls, called and as a text that stands alone.
"""

# programs under test are written as users write them
# ruff: noqa: PERF401

import copy
import enum
import math
import warnings
from collections import namedtuple
from collections.abc import Callable, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from oracle import central_gradient
from standing_alone import alone

import wengert as wg
from wengert.errors import BadArgument, UnsupportedSyntax

STEP = 1e-6
CASES: list[Any] = []


class Box:
    def __init__(self, w: Any, v: float = 0.5):
        self.w = w
        self.v = v

    def take(self) -> Any:
        """A name that arrays have, too, with an argument."""
        return self.w


def a() -> Any:
    return np.array([0.3, 0.7, 0.9, 0.1])


def w() -> Any:
    return np.array([0.45, -0.35, 0.95, 0.15])


def boxed() -> Box:
    return Box(w())


def rows() -> list[Any]:
    return [w(), 2 * w()]


def many_rows() -> list[Any]:
    return [k * w() for k in range(9)]


def program(*makers: Callable[[], Any], alone: bool = True) -> Callable[[Any], Any]:
    """A case: a function of an array and what one of these makes; `alone`: its source stands alone."""

    def add(function: Any) -> Any:
        for make in makers:
            name = f"{function.__name__}-{make.__name__}"
            CASES.append(pytest.param(function, make, alone, id=name))
        return function

    return add


def differences(function: Any, make: Callable[[], Any]) -> Any:
    def at(k: int, step: float) -> float:
        x = a()
        x[k] += step
        return function(x, make())

    return [(at(k, STEP) - at(k, -STEP)) / (2 * STEP) for k in range(4)]


def alone_of(function: Any, **options: Any) -> Any:
    return alone(wg.grad(function, **options))


# --- an item of a container makes room for another one ------------------------------------------


@program(boxed)
def attribute_assigned_twice(x, o):
    y = x * 2
    o.w = x
    o.w = y
    return np.sum(x * np.arange(4.0)) + np.sum(o.w)


@program(boxed)
def attributes_swapped(x, o):
    p = Box(x)
    o.w, p.w = p.w, o.w
    o.w = x * 2
    return np.sum(o.w * p.w) + np.sum(x * np.arange(4.0))


@program(rows, many_rows, alone=False)
def item_replaced(x, xs):
    y = x * 2
    xs[0] = x
    xs[0] = y
    x[1] = 3.0 * x[0]
    return np.sum(x * np.arange(4.0)) + np.sum(xs[0])


@program(rows, many_rows, alone=False)
def items_replaced_in_turn(x, xs):
    for k in range(3):
        y = x * k
        xs[0] = y
        y[0] = x[1]
        xs[0] = x * 2
        y[1] = x[2]
    return np.sum(x * np.arange(4.0)) + np.sum(y)


@program(rows)
def attribute_of_an_item_replaced(x, xs):
    boxes = [Box(x * k) for k in range(9)]
    box = Box(x)
    boxes.append(box)
    y = x * 3
    box.w = y
    box.w = x * 2
    y[0] = x[1]
    return np.sum(y * np.arange(1.0, 5.0)) + np.sum(boxes[-1].w)


@program(rows)
def entry_updated(x, xs):
    table = {}
    for k in range(3):
        table[k] = x * k
    table[7] = x
    table.update({7: x * 5})
    return np.sum(x * np.arange(1.0, 5.0)) + np.sum(table[7])


@program(boxed)
def read_before_it_was_replaced(x, o):
    before = o.w
    o.w = x
    return np.sum(before * o.w)


@program(rows, lambda: np.array(rows()))
def row_read_before_it_was_replaced(x, m):
    row = m[1]
    m[1] = x
    return np.sum(row * m[0]) + np.sum(row)


# --- what an index gathers is a copy: which index does, the run knows ---------------------------


@program(w, lambda: np.array(0.2))
def picked_by_a_mask_before_it_changed(x, y):
    picked = x[x > y]
    np.copyto(x, x * x)
    return np.sum(x) * np.sum(picked)


@program(lambda: np.array([1, 0, 1]), lambda: [2, 0], lambda: 2, lambda: slice(1, 3))
def picked_by_an_index_before_it_changed(x, index):
    picked = x[index]
    x *= x[0]
    both = np.stack([x, 2 * x, 3 * x])
    rows = both[index]
    both[0, 0] = x[1]
    return np.sum(x) * np.sum(picked) + np.sum(rows * x)


# --- objects that tuples hold -------------------------------------------------------------------


def pair() -> Any:
    return w(), 2 * w()


def pairs() -> Any:
    return [pair(), (w() - 1, w() + 1)]


@program(pair, rows)
def unpacked_and_changed(x, p):
    u, v = p
    v[0] += x[1]
    return np.sum(u * v * x)


@program(pair, rows)
def changed_after_a_try(x, p):
    u, v = p
    both = u * x, v
    for k in range(4):
        try:
            both[0][k + 1] *= x[1]
        except IndexError:
            both[1][0] += x[2]
    return np.sum(both[0] * both[1] * v)


@program(pairs, lambda: tuple(pairs()))
def pair_read_before_it_changed(x, ps):
    first = ps[0]
    ps[0][0][1] = x[2]
    for u, v in ps:
        u[0] = x[0] * v[1]
    return np.sum(first[0] * x) + np.sum(first[0] * ps[1][0])


# --- sorting in place: of lists and of arrays ---------------------------------------------------


@program(w, lambda: np.array(rows()), lambda: 1j * np.array(rows()), lambda: [0.4, 0.9, -0.3])
def sorted_in_place(x, y):
    if x[0] > 0:
        y.sort()
    return np.sum(np.abs(y[0]) * x) + x[1]


@program(lambda: np.array(rows()))
def sorted_along_an_axis(x, y):
    y.sort(0)
    x.sort(axis=-1)
    return np.sum(y @ x)


# --- functions that recurse ---------------------------------------------------------------------


@program(w)
def permutations_by_swapping(x, y):
    items, total = list(x), 0.0

    def permute(k):
        nonlocal total
        if k == len(items):
            total += sum(item * (i + 1) for i, item in enumerate(items)) ** 2
            return
        for i in range(k, len(items)):
            items[k], items[i] = items[i], items[k]
            permute(k + 1)
            items[k], items[i] = items[i], items[k]

    permute(0)
    return total


# --- loops whose items change meanwhile ---------------------------------------------------------


@program(rows)
def items_changed_ahead(x, xs):
    u = 1.0
    for item in x:
        u = u * 0.5 + item * u
        x[1:3] = x[2] * u
    return u + x[3] * x[1]


@program(rows)
def items_changed_under_another_name(x, xs):
    u, y = 1.0, x
    if x[2] > 0:
        for k, item in enumerate(x):
            u = u * 0.5 + item * x[0]
            y[3] = np.sin(y[2]) * (k + 1)
    return u


@program(rows)
def items_changed_backwards(x, xs):
    u = 1.0
    for item in reversed(x):
        u = u * 0.5 + item * u
        x[1] = u
    return u


@program(rows)
def entries_changed(x, xs):
    table = {1: x[0], 2: x[1]}
    for key in table:
        table[key] = table.get(key) * x[2] * key
    return table[1] * table[2]


# --- augmented assignment to what may be a number or an array -----------------------------------


@program(w, lambda: 0.5)
def augmented_twice(x, y):
    x -= y
    x *= y
    return np.sum(x * x)


@program(w, lambda: 0.5)
def augmented_in_a_loop(x, y):
    for _ in range(3):
        x *= y
        x += 0.5
    return np.sum(x * x)


@program(w)
def augmented_where_a_branch_chose(x, y):
    z = x
    if np.sum(y) > 0:
        z = y
    z += 1.0
    z *= x
    return np.sum(x * y)


@program(w)
def augmented_and_swapped(x, y):
    for _ in range(3):
        x, y = y, x
        x *= y
        y += 0.5
    return np.sum(x * y)


@program(w, rows, alone=False)
def times_a_list(x, y):
    z = x[:2] * [x[2], 3.0]
    z *= (x[0], x[1])
    z[[0, 1]] *= [x[3], 2.0]
    return np.sum(z)


# --- classes of functions: they have no source for any kinds --------------------------------------


@program(w, alone=False)
def class_of_its_own(x, y):
    class Weighted:
        """Has a weight."""

        def __init__(self, weight):
            self.weight = np.abs(weight)

    found = [Weighted(x[0])]
    for k in range(3):
        found.append(Weighted(found[-1].weight * x[k]))
    return found[-1].weight


@program(w, alone=False)
def dataclass_of_its_own(x, y):
    @dataclass
    class Point:
        here: float
        there: float = 2.0

    found = [Point(x[0], 1.0)]
    for k in range(3):
        found.append(Point(found[-1].there * x[k]))
    return found[-1].here * found[0].here


@program(boxed)
def method_with_a_name_that_arrays_have(x, y):
    return np.sum(x * y.take())


@program(boxed)
def the_first_that_fits_or_else_what_is_given(x, o):
    mine = x.copy()
    found = next((each for each in (mine, mine) if each[0] > x[0]), o.w)
    return np.sum(x * found) + np.sum(x * x)


@program(boxed)
def one_that_was_changed_or_else_what_is_given(x, o):
    ones = np.ones(4)
    for row in (x, ones):
        row[1] += x[2]
        x[-1] = np.sum(ones)
        found = next((each for each in (ones, x) if each[0] > 2.0), o.w)
    return np.sum(x * found)


@pytest.mark.parametrize(("function", "make", "alone"), CASES)
def test_right(function, make, alone):
    expected = differences(function, make)
    left = a(), make()
    function(*left)
    for derivative in (wg.grad(function), *([alone_of(function)] if alone else [])):
        given = a(), make()
        np.testing.assert_allclose(derivative(*given), expected, rtol=1e-5, atol=1e-7)
        for found, wanted in zip(given, left, strict=True):
            same(found, wanted)


def same(found, wanted):
    if isinstance(found, Box):
        found, wanted = found.w, wanted.w
    np.testing.assert_array_equal(found, wanted)


# --- refused, and the way out -------------------------------------------------------------------


def removed_and_kept(x, xs):
    part = xs[0]
    xs[0] = x
    xs[0][1] = x[0] * x[2]
    return np.sum(part * xs[0])


def changed_inside_what_holds_it(x, xs):
    xs[0] = x
    xs[0][2] = x[1]
    return np.sum(x * np.arange(4.0))


def longer_while_walked_over(x, xs):
    for item in xs:
        if len(xs) < 4:
            xs.append(item * x)
    return np.sum(xs[-1])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (removed_and_kept, "after the container got other items"),
        (changed_inside_what_holds_it, "may have changed under another name"),
        (longer_while_walked_over, "a list gets longer or shorter while a loop walks over it"),
    ],
)
def test_what_only_the_run_knows_is_refused_by_the_run(function, message):
    with pytest.raises(ValueError, match=message) as caught:
        alone_of(function)(a(), rows())
    assert caught.value.code == "WG101"


def halved(x):
    x *= 0.5
    return x


def kept_by_a_loop_then_changed(x, xs):
    y = x * 1.5
    table = {"kept": x}
    for _ in range(3):
        for _ in y:
            if xs[0][0] > 1:
                break
            table["kept"] = y
        y = halved(x)
    return np.sum(table["kept"] * np.arange(4.0))


def test_an_entry_that_a_loop_replaced_may_be_what_changes_afterwards():
    """Kinds leave open whether it is; the run does not."""
    expected = [
        (kept_by_a_loop_then_changed(x, rows()) - kept_by_a_loop_then_changed(y, rows())) / 2e-6
        for x, y in ((a() + step, a() - step) for step in 1e-6 * np.eye(a().size))
    ]
    found = wg.grad(kept_by_a_loop_then_changed)(a(), rows())
    np.testing.assert_allclose(found, expected, atol=1e-8)


def changed_while_listed(x):
    def bump(item):
        x[1:] += item
        return item

    return sum([bump(item) for item in x])


def test_numbers_that_change_while_a_comprehension_walks_over_them_are_refused():
    with pytest.raises(ValueError, match="change meanwhile"):
        alone_of(changed_while_listed)(a())


def by_a_memory(n, x):
    from functools import cache

    @cache
    def power(k):
        return x if k == 0 else power(k - 1) * x

    return power(n)


def test_the_error_names_the_text_for_like_arguments():
    derivative = wg.grad(by_a_memory, argnums=1)
    with pytest.raises(UnsupportedSyntax, match=r"`\.specialize\(\*args\)\.source`"):
        _ = derivative.source
    assert "import wengert" not in derivative.specialize(2, 0.5).source
    assert derivative.specialize(2, 0.5)(2, 0.5) == pytest.approx(3 * 0.25)


def test_a_swapped_list_of_the_caller_changes():
    def swapped(x, xs, n):
        ys = [x, 2.0]
        for _ in range(n + 1):
            xs, ys = ys, xs
        ys.append(x * 3)
        return xs[0] * xs[-1] + sum(ys)

    wanted, given = [0.66, -0.58], [0.66, -0.58]
    value = swapped(0.5, wanted, 2)
    found, back = wg.pullback(swapped, 0.5, given, 2)
    assert (found, given) == (value, wanted)
    assert back(1.0)[0] == pytest.approx(2.0 + 3.0)


def of_what_it_has_seen(x, factor=2.0, seen=[], weights={"a": 3.0}, powers=(1, 2)):  # noqa: B006
    seen.append(x * factor)
    return sum(seen) * weights["a"] + x ** powers[1]


def test_containers_are_written_out_as_defaults():
    names = {}
    exec(wg.grad(of_what_it_has_seen).source, names)
    grad = names["grad_of_what_it_has_seen"]
    assert grad(0.5) == pytest.approx(7.0)
    assert grad(1.5) == pytest.approx(9.0)
    assert grad.__defaults__[1] == [1.0, 3.0]  # made once, as Python's own
    assert of_what_it_has_seen.__defaults__[1] == []


# --- signatures ---------------------------------------------------------------------------


def with_defaults(a, n=3, w=(1.0, 2.0), *, k=2.0, s="x"):
    for _ in range(n):
        a = a * k + w[0]
    return a if s == "x" else 0.0 * a


@pytest.mark.parametrize(
    ("args", "options"),
    [((1.5,), {}), ((1.5, 2), {"k": 3.0}), ((1.5, 2, (0.0, 1.0)), {}), ((1.5,), {"s": "y"})],
)
def test_defaults_and_keywords_stay_in_the_signature(args, options):
    expected = 0.0 if "s" in options else options.get("k", 2.0) ** (args[1] if len(args) > 1 else 3)
    assert wg.grad(with_defaults)(*args, **options) == expected
    assert alone_of(with_defaults)(*args, **options) == expected
    module: dict[str, Any] = {}
    exec(compile(wg.code_adjoint(with_defaults), "adjoint.py", "exec"), module)
    assert module["adjoint_with_defaults"](*args, **options)[0] == expected


class Order(enum.Enum):
    LINEAR = 1
    CUBIC = 3


def cube(x):
    return x**3


def with_named_defaults(x, order=Order.CUBIC, f=cube, g=np.exp):
    return f(g(x)) if order is Order.CUBIC else g(x)


def test_defaults_that_have_names_stay_in_the_signature():
    alone = alone_of(with_named_defaults)
    assert alone(0.5) == pytest.approx(3 * math.exp(1.5), rel=1e-14)
    assert alone(0.5, Order.LINEAR) == pytest.approx(math.exp(0.5), rel=1e-14)
    assert alone(0.5, g=np.sin) == pytest.approx(3 * math.sin(0.5) ** 2 * math.cos(0.5), rel=1e-14)


def any_number(x, *ys):
    return x * sum(ys)


def by_name(x, **named):
    return x * named["a"]


@pytest.mark.parametrize(("f", "shown"), [(any_number, r"\*ys"), (by_name, r"\*\*named")])
def test_how_many_arguments_there_are_is_known_of_a_call_only(f, shown):
    for text in (lambda: wg.grad(f).source, lambda: wg.code_adjoint(f), lambda: wg.code_ir(f)):
        with pytest.raises(BadArgument, match=f"how many arguments `{shown}` stands for"):
            text()


def test_source_for_arguments_like_these_has_them_all():
    module: dict[str, Any] = {}
    exec(wg.grad(any_number).specialize(2.0, 3.0, 4.0).source, module)
    assert module["grad_any_number"](2.0, 3.0, 4.0) == 7.0
    exec(wg.grad(by_name).specialize(2.0, a=3.0).source, module)
    assert module["grad_by_name"](2.0, a=3.0) == 3.0


# --- lists in lists, whose arrays change afterwards --------------------------------------------------


def listed_in_a_loop(x, y, s):
    rows = []
    for _ in range(2):
        rows.append([x, y])
    x *= s
    return sum(r[0] @ r[1] for r in rows)


def listed_three_deep(x, y, s):
    cells = []
    for _ in range(2):
        inner = []
        for _ in range(2):
            inner.append([y])
        cells.append(inner)
    y *= s
    return np.sum(cells[0][1][0] * x)


def joined_in_a_loop(x, y, s):
    rows = []
    for _ in range(2):
        rows += [[y]]
    y *= s
    return np.sum(rows[1][0] * x)


def grouped_by_a_default(x, y, s):
    groups = {}
    for k in range(3):
        groups.setdefault(k % 2, []).append((k, [y]))
    y *= s
    return np.sum(groups[0][1][1][0] * x)


def sorted_by_a_key(x, y, s):
    rows = [[x], [y]]
    rows.sort(key=lambda row: row[0][0])
    x *= s
    return 2 * np.sum(rows[0][0]) + np.sum(rows[1][0])


def moved_from_a_stack(x, y, s):
    stack, kept = [x, y], []
    while stack:
        kept.append([stack.pop()])
    y *= s
    return 2 * np.sum(kept[0][0]) + np.sum(kept[1][0])


def moved_in_lists(x, y, s):
    stack, kept = [[x], [y]], []
    while stack:
        kept.append(stack.pop())
    y *= s
    return 2 * np.sum(kept[0][0]) + np.sum(kept[1][0])


def moved_by_a_key(x, y, s):
    table, kept = {"p": [x], "q": [y]}, []
    for key in ("p", "q"):
        kept.append([table.pop(key)])
    y *= s
    return 2 * np.sum(kept[0][0][0]) + np.sum(kept[1][0][0])


def queued_again(x, y, s):
    stack, kept = [x], []
    for _ in range(2):
        kept.append([stack.pop()])
        stack.append(y)
    y *= s
    return 2 * np.sum(kept[0][0]) + np.sum(kept[1][0])


def chosen_and_taken_out(x, y, s):
    chosen = []
    for k in range(3):
        chosen.append((x, y)[k % 2])
    while chosen:
        item = chosen.pop(0)
        item *= s
    return np.sum(x) + 2 * np.sum(y)


def chosen_for_an_entry_and_taken_out(x, y, s):
    chosen = []
    for k in range(3):
        chosen.append({"item": (x, y)[k % 2]})
    last = chosen.pop()
    last["item"][0] = s
    return np.sum(x) + 2 * np.sum(y)


@pytest.mark.parametrize(
    "function",
    [
        chosen_and_taken_out,
        chosen_for_an_entry_and_taken_out,
        listed_in_a_loop,
        listed_three_deep,
        joined_in_a_loop,
        grouped_by_a_default,
        sorted_by_a_key,
        moved_from_a_stack,
        moved_in_lists,
        moved_by_a_key,
        queued_again,
    ],
)
def test_arrays_in_lists_that_a_loop_made_are_right_or_refused(function):
    """The source for arguments of any kinds: arrays, here, of which lists in lists hold some that change."""
    given = np.array([0.5, 1.5]), np.array([0.7, 2.0]), 3.0
    expected = wg.gradient(function, *copy.deepcopy(given))
    wanted = central_gradient(function, *given)
    for one, other in zip(expected, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-8)
    with suppress_refusal():
        found = alone_of(function, argnums=(0, 1, 2))(*copy.deepcopy(given))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other)


Named = namedtuple("Named", "u v")


def test_what_is_in_a_namedtuple_by_name_is_refused_where_its_class_is_not_known():
    def changed(x, p):
        p.u[0] = x[1]
        return np.sum(p.u * p.v)

    with pytest.raises(ValueError, match="'u' of a namedtuple is changed") as caught:
        alone_of(changed)(a(), Named(w(), 2 * w()))
    assert caught.value.code == "WG101"
    assert np.all(wg.grad(changed)(a(), Named(w(), 2 * w())) == [0.0, 0.9, 0.0, 0.0])


def pairs_listed_again(x, ps):
    again = []
    for k in range(2):
        again.append(ps[k])
    ps[0][0][0] = x[1]
    return np.sum(again[0][0] * x)


def pairs_changed_in_a_second_list(x, ps):
    again = []
    for k in range(2):
        again.append(ps[k])
    again[0][0][0] = x[1]
    return np.sum(ps[0][0] * x)


def pair_replaced_by_another(x, ps):
    first = ps[0]
    ps[0] = ps[1]
    ps[0][0][0] = x[1]
    return np.sum(ps[1][0] * first[0])


@pytest.mark.parametrize(
    "function", [pairs_listed_again, pairs_changed_in_a_second_list, pair_replaced_by_another]
)
def test_pairs_in_two_places_are_right_or_refused(function):
    expected = differences(function, pairs)
    with suppress_refusal():
        found = alone_of(function)(a(), pairs())
        np.testing.assert_allclose(found, expected, atol=1e-7)


def inserted_and_changed_by_an_operator(x, xs):
    xs.insert(0, x)
    xs[len(xs) - 3] *= 2.0
    return np.sum(x * np.arange(4.0))


def listed_and_bound_anew_by_a_loop(x, xs):
    kept = x
    xs.append(kept)
    for _ in range(2):
        kept *= 1.5
    xs[len(xs) - 1][0] *= x[1]
    return np.sum(kept * np.arange(1.0, 5.0))


def listed_twice_and_bound_anew_by_a_loop(x, xs):
    xs.append(x)
    again = list(xs)
    for k in range(3):
        x *= 1.5
        again[k][0] *= x[1]
    return np.sum(x * np.arange(1.0, 5.0))


@pytest.mark.parametrize(
    "function",
    [
        inserted_and_changed_by_an_operator,
        listed_and_bound_anew_by_a_loop,
        listed_twice_and_bound_anew_by_a_loop,
    ],
)
def test_what_is_put_into_a_list_and_changes_there_is_right_or_refused(function):
    expected = differences(function, rows)
    with suppress_refusal():
        found = alone_of(function)(a(), rows())
        np.testing.assert_allclose(found, expected, atol=1e-7)


def row_listed_before_it_changed(x, m):
    kept = [x]
    for k in range(2):
        kept.append(m[k])
    m[0, 1] = x[2]
    return np.sum(kept[1] * x)


def row_inserted_before_its_matrix_changed(x, m):
    kept = dict.fromkeys(range(2), x)
    kept[1] = m[1]
    m *= x
    return np.sum(kept[1])


def rows_copied_by_a_matrix(x, m):
    kept = np.zeros((2, 4))
    kept[0] = m[1]
    m[0] = m[1]
    m[1] *= x
    return np.sum(kept * m)


@pytest.mark.parametrize(
    ("function", "certain"),
    [
        (row_listed_before_it_changed, False),
        (row_inserted_before_its_matrix_changed, False),
        (rows_copied_by_a_matrix, True),
    ],
)
def test_rows_in_two_places_are_right_or_refused(function, certain):
    expected = differences(function, lambda: np.array(rows()))
    with nullcontext() if certain else suppress_refusal():
        found = alone_of(function)(a(), np.array(rows()))
        np.testing.assert_allclose(found, expected, atol=1e-7)


@contextmanager
def suppress_refusal():
    try:
        yield
    except (UnsupportedSyntax, ValueError) as refusal:
        if getattr(refusal, "code", "") != "WG101":
            raise


class Listed(Sequence):
    def __init__(self, items):
        self.items = items

    def __getitem__(self, index):
        return self.items[index]

    def __len__(self):
        return len(self.items)


def looked_for(x, n):
    return x[0] * Listed([1.0, 2.0, 3.0]).index(3.0) * n


def a_polynomial(x, t):
    return np.polyval(x, t)


@pytest.mark.parametrize(("function", "given"), [(looked_for, 2.0), (a_polynomial, 0.4)])
def test_it_runs_without_a_warning(function, given):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = alone_of(function)(a(), given)
    np.testing.assert_allclose(found, differences(function, lambda: given), rtol=1e-5)


Node = namedtuple("Node", "value rest", defaults=[None])


def linked_by_namedtuples(x, n):
    node = Node(x[0])
    for k in range(3):
        node = Node(x[k] * n, node)
    total = 0.0
    while node is not None:
        total = total * x[1] + node.value
        node = node.rest
    return total


def test_it_makes_the_namedtuples_of_the_program():
    expected = differences(linked_by_namedtuples, lambda: 2.0)
    np.testing.assert_allclose(alone_of(linked_by_namedtuples)(a(), 2.0), expected, rtol=1e-5)
