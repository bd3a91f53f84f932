"""Objects that were there before, put into others and changed there: they are one object, by whichever name."""

import math
import warnings

import numpy as np
import pytest
from differences import slope

import wengert as wg
from wengert.errors import NativeWarning, UnsupportedSyntax, WengertError


class Box:
    def __init__(self):
        self.items = [5.0]


def reset():
    global L, R, OBJ, D
    L = [0.5, 1.25, 2.0]
    R = [[1.0, 2.0], [3.0, 4.0]]
    D = {"a": [1.0]}
    OBJ = Box()


def in_an_attribute(x):
    OBJ.items = L
    OBJ.items[0] = x
    return L[0]


def in_an_attribute_and_moved(x):
    OBJ.items = L
    L.reverse()
    OBJ.items[0] = x
    return L[0]


def in_an_attribute_and_sorted(x):
    OBJ.items = L
    L.sort()
    OBJ.items[0] = x
    return L[0]


def in_place_of_an_item(x):
    R[0] = L
    R[0][0] = x
    return L[0]


def appended(x):
    R.append(L)
    R[-1][0] = x
    return L[0]


def in_a_slice(x):
    R[1:] = [L]
    R[1][0] = x
    return L[0]


def as_an_entry(x):
    D["b"] = L
    D["b"][0] = x
    return L[0]


def by_default(x):
    D.setdefault("q", L)[0] = x
    return L[0]


def by_update(x):
    D.update(a=L)
    D["a"][0] = x
    return L[0]


def inserted(x):
    R.insert(0, L)
    for row in R:
        row[0] = x
    return L[0]


def joined(x):
    global R
    R = [*R, L]
    R[-1][0] = x
    return L[0]


def in_a_tuple(x):
    OBJ.items = (L, 1)
    OBJ.items[0][0] = x
    return L[0]


def deeper(x):
    R[0] = D
    R[0]["a"][0] = x
    return D["a"][0]


def by_a_run_time_index(x):
    rows = [L, *R]
    rows[int(x)][0] = x
    return L[0]


def exchanged(x):
    R[0], R[1] = R[1], L
    R[1][0] = x
    return L[0]


def a_list_of_lists(x):
    OBJ.items = R
    OBJ.items[0][1] = x
    return R[0][1]


def by_a_function(x):
    def put(holder):
        holder.items = L

    put(OBJ)
    OBJ.items[1] = x
    return sum(L)


def by_another_name(x):
    OBJ.items = L
    items = OBJ.items
    items[0] = x
    items.append(x)
    return sum(L)


def chosen_by_a_turn(x):
    chosen = D["a"]
    for k in range(3):
        if k == 1:
            chosen = L
    chosen[0] = x * x
    return L[0] * x + chosen[0] + D["a"][0]


def chosen_on_a_path(x):
    chosen = L if x > 0 else D["a"]
    for _ in range(2):
        L[:2] = [x * x]
    return chosen[0] * len(chosen) + L[0]


@pytest.mark.parametrize("tier", ["static", None])
@pytest.mark.parametrize(
    "f",
    [
        chosen_by_a_turn, chosen_on_a_path,
        in_an_attribute, in_an_attribute_and_moved, in_an_attribute_and_sorted, in_place_of_an_item, appended,
        in_a_slice, as_an_entry, by_default, by_update, inserted, joined, in_a_tuple, deeper, by_a_run_time_index,
        exchanged, a_list_of_lists, by_a_function, by_another_name,
    ],
)  # fmt: skip
def test_a_global_that_is_put_into_another_object(f, tier):
    def anew(x):
        reset()
        return f(x)

    expected = slope(anew, 0.7)
    reset()
    try:
        found = wg.grad(f, **({"tier": tier} if tier else {}))(0.7)
    except WengertError:
        assert tier == "static"
    else:
        assert found == pytest.approx(expected)


OTHER = [1.0, 2.0]


def two_names(x):
    OBJ.items = OTHER
    OBJ.items[0] = x
    return L[0]


def two_names_in_a_list(x):
    R.append(OTHER)
    R[-1][0] = x
    return L[0] + OTHER[0]


@pytest.mark.parametrize("f", [two_names, two_names_in_a_list])
@pytest.mark.parametrize("first", [False, True])
def test_two_names_may_come_to_be_of_one_object(f, first):
    global L, OTHER
    apart = float(f is two_names_in_a_list)
    derivative = wg.grad(f)
    for are_one in (first, not first, first, not first):
        reset()
        OTHER = [1.0, 2.0]
        if are_one:
            L = OTHER
        assert derivative(0.7) == apart + are_one


INNER = [1.0]
ARRAY = np.array([1.0, 2.0])
HELD = [INNER, 2.0]


def written_where_it_is_held(x):
    HELD[0][0] = x
    return INNER[0] * x


def array_written_where_it_is_held(x):
    HELD[0][0] = x
    return ARRAY[0] * x


@pytest.mark.parametrize(
    ("f", "same", "other"),
    [
        (written_where_it_is_held, INNER, [1.0]),
        (array_written_where_it_is_held, ARRAY, np.array([1.0])),
        (array_written_where_it_is_held, ARRAY[:1], np.array([1.0])),
    ],
)
def test_what_is_changed_may_come_to_hold_what_is_read(f, same, other):
    derivative = wg.grad(f)
    for held, expected in ((other, 1.0), (same, 1.4), (other, 1.0)):
        HELD[0] = held
        INNER[0] = ARRAY[0] = 1.0
        assert derivative(0.7) == pytest.approx(expected)


RATE = 1.5
RATES = [1.0]


def sine(y):
    return math.sin(y) * RATE


def square(y):
    return y * y * RATES[0]


TABLE = [sine, square]


def from_a_list(x, k):
    global RATE
    RATE = RATES[0] = x * x
    return TABLE[k](x)


def from_a_dictionary(x, k):
    global RATE
    RATE = RATES[0] = x * x
    return {"s": sine, "q": square}["sq"[k]](x)


@pytest.mark.parametrize("f", [from_a_list, from_a_dictionary])
@pytest.mark.parametrize("k", [0, 1])
def test_functions_that_the_run_chooses_see_what_has_changed(f, k):
    assert wg.grad(f)(0.7, k) == pytest.approx(slope(lambda x: f(x, k), 0.7))


def put_and_changed(x, xs, rows):
    rows[0] = xs
    xs[0] = x
    return rows[0][0]


def changed_where_it_is_put(x, xs, rows):
    rows.append(xs)
    rows[-1][0] = x
    return xs[0]


def grown_where_it_is_put(x, xs, rows):
    rows[0] = xs
    rows[0].append(x)
    return xs[-1]


def put_alone(x, xs, rows):
    rows[0] = xs
    return xs[0] * x


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize(
    "f", [put_and_changed, changed_where_it_is_put, grown_where_it_is_put, put_alone]
)
def test_an_argument_that_is_put_into_another_is_one_object_afterwards(f, tier):
    given, plain = ([[0.5, 1.0], [[1.0], [2.0]]] for _ in range(2))
    expected = slope(lambda x: f(x, [0.5, 1.0], [[1.0], [2.0]]), 0.7)
    f(0.7, *plain)
    assert wg.grad(f, tier=tier)(0.7, *given) == pytest.approx(expected)
    xs, rows = given
    assert given == plain
    assert any(row is xs for row in rows)


def captured(which):
    xs, rows = [0.5, 1.0], [[1.0], [2.0]]
    pair, table = (0.3, xs), {"k": xs}

    def put(x):
        rows[0] = xs
        xs[0] = x
        return pair[1][0] * pair[0]

    def put_and_written(x):
        rows[0] = xs
        rows[0][0] = x
        return table["k"][0]

    def put_and_written_on_a_path(x):
        rows[0] = xs
        if x > 0:
            xs[0] = x
        else:
            xs[1] = x
        return pair[1][0] * pair[0]

    return (put, put_and_written, put_and_written_on_a_path)[which]


@pytest.mark.parametrize("which", range(3))
def test_what_two_captured_objects_hold(which):
    expected = slope(lambda x: captured(which)(x), 0.7)
    value, found = wg.value_and_grad(captured(which))(0.7)
    assert value == captured(which)(0.7)
    assert found == pytest.approx(expected)


def array_written(x, a, b):
    a[0] = x
    return b[0] * x + a.sum()


def list_written(x, xs, pair):
    xs[0] = x
    return pair[1][0] * x


def of_arrays(x, f):
    a = np.ones(3)
    return f(x, a, a[:2])


def of_lists(x, f):
    xs = [1.0, 2.0]
    return f(x, xs, (0.5, xs))


@pytest.mark.parametrize(("f", "given"), [(array_written, of_arrays), (list_written, of_lists)])
def test_arguments_that_share_what_is_changed_are_recorded(f, given):
    expected = slope(lambda x: given(x, f), 0.7)
    assert given(0.7, wg.grad(f)) == pytest.approx(expected)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NativeWarning)
        assert given(0.7, wg.jit(wg.grad(f))) == pytest.approx(expected)
    with pytest.raises(UnsupportedSyntax, match="given to it"):
        given(0.7, wg.grad(f, tier="static"))


def arrays_again():
    global HELD_ARRAY, PART, PAIR, ROWS
    HELD_ARRAY = np.array([0.5, 1.0])
    PART, PAIR, ROWS = HELD_ARRAY[:1], (0.3, HELD_ARRAY), [1.0, 2.0]


def array_in_a_list(x):
    ROWS[0] = HELD_ARRAY
    ROWS[0][0] = x
    return PAIR[1][0] * PAIR[0]


def array_seen_in_a_view(x):
    ROWS.append(HELD_ARRAY)
    ROWS[-1][0] = x
    return HELD_ARRAY.sum() + PART[0] * x


@pytest.mark.parametrize("f", [array_in_a_list, array_seen_in_a_view])
def test_what_is_changed_where_it_was_put_is_seen_by_other_names(f):
    def anew(x):
        arrays_again()
        return f(x)

    expected = slope(anew, 0.7)
    arrays_again()
    assert wg.grad(f)(0.7) == pytest.approx(expected)
