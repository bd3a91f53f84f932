"""Ops that give a view of an array or a copy of it, as it lies in memory, where the array changes afterwards."""

import copy

import numpy as np
import oracle
import pytest
from error_texts import refusal

import wengert as wg

WEIGHTS = np.array([0.3, -0.7, 1.1, 0.4])
ROW = np.array([0.5, 1.2, -0.3, 0.8])


def transposed(x, a):
    c = a.reshape(2, 2).T.ravel()
    a *= x
    return c @ WEIGHTS + a @ WEIGHTS


def in_order(x, a):
    c = a.reshape(2, 2).ravel()
    a *= x
    return c @ WEIGHTS + a @ WEIGHTS


def on_one_path(x, a):
    c = a
    if x < 5:
        c = a.reshape(2, 2).T.ravel()
    a *= x
    return c @ WEIGHTS + a @ WEIGHTS


def reversed_row(x, a):
    c = np.ravel(a[::-1])
    a *= x
    return c @ WEIGHTS + a @ WEIGHTS


def every_second(x, a):
    c = np.ascontiguousarray(a[::2])
    a *= x
    return c @ WEIGHTS[:2] + a @ WEIGHTS


def already_contiguous(x, a):
    c = np.ascontiguousarray(a)
    a *= x
    return c @ WEIGHTS + a @ WEIGHTS


def in_the_order_of_fortran(x, a):
    c = np.asfortranarray(a.reshape(2, 2))
    d = np.asarray(a.reshape(2, 2), order="F")
    e = a.reshape(2, 2).ravel(order="F")
    f = a.reshape(2, 2).ravel(order="K")
    g = a.reshape(2, 2).T.reshape(-1, order="F")
    a *= x
    return (c + 2 * d).ravel() @ WEIGHTS + (3 * e + f - g) @ WEIGHTS


def conjugated(x, a):
    z = a * (1 + 2j)
    c, d = z.conj(), a.conj()
    z *= x
    a *= x
    return (c * z).imag @ WEIGHTS + c.imag @ WEIGHTS + d @ WEIGHTS


def split_afterwards(x, a):
    first, second = np.split(a.reshape(2, 2).T.ravel(), 2)
    a *= x
    return first @ WEIGHTS[:2] - second @ WEIGHTS[2:] + a @ WEIGHTS


def backwards_and_back(x, a):
    row = a
    a = a[::-1]
    row[1] += 1.25
    a = a[::-1]
    a[1] = x
    return a @ WEIGHTS + row @ WEIGHTS * 0.5


def read_in_a_loop(x, a):
    total = 0.0
    c = a.reshape(2, 2).T.ravel()
    for _ in range(3):
        a *= x
        total += (c @ WEIGHTS) ** 2 + a @ WEIGHTS
    return total


def made_in_a_loop(x, a):
    total = 0.0
    for _ in range(3):
        c = a.reshape(2, 2).T.ravel()
        a *= x
        total += (c @ WEIGHTS) ** 2 + a @ WEIGHTS
    return total


def made_by_a_function(x, a):
    square = a.reshape(2, 2)
    c = columns_of(square)
    square[0, 1] = x
    return c @ WEIGHTS + a @ WEIGHTS


def columns_of(square):
    return square.T.ravel()


def made_in_a_try(x, a):
    try:
        c = a.reshape(2, 2).T.ravel()
        a *= x
        total = c @ WEIGHTS + ["too large"].index("too large" if a[0] > -1 else "small")
    except ValueError:
        total = a[0]
    return total + c @ WEIGHTS


def array_of_a_list(x, a):
    items = [x * k for k in a]
    whole = np.ravel(items)
    items[0] = 7.0
    return whole @ WEIGHTS + items[0] * x


def walked_over(x, a):
    each = a.reshape(2, 2).T.flat
    a *= x
    return each[1] * x + a @ WEIGHTS


def a_grid_of_its_own(x, a):
    grid = np.zeros((2, 2))
    flat = grid.ravel()
    grid += a.reshape(2, 2)
    grid[0, 1] *= x
    return flat @ WEIGHTS


def made_of_what_is_transposed(x, a):
    square = np.exp(a.reshape(2, 2).T)  # which lies in the order of what it is made of
    flat = square.ravel()
    square *= x
    return flat @ WEIGHTS


def through_two_views(x, a):
    c = a[None, :, None].squeeze()
    d = np.moveaxis(a[None], 0, 1)[:, 0]
    a *= x
    return c @ WEIGHTS + d @ WEIGHTS * x


def parts_of_a_list_of_views(x, a):
    c, d = np.array_split(a, 2)[1], np.hsplit(a, 2)[0]
    a *= x
    return c @ WEIGHTS[:2] + d @ WEIGHTS[2:]


def a_part_that_was_replaced(x, a):
    parts = [a[None].squeeze()]
    first = parts[0][:1]
    a[0] = x
    parts[0] = 2.0
    return first[0] * x + a @ WEIGHTS


def itself_collected_in_a_loop(x, a):
    row = a * x
    rows = []
    for _ in range(2):
        rows.append(np.asarray(row, dtype=float))
        row[0] += x
    return (rows[0] ** 2) @ WEIGHTS + (rows[1] ** 3) @ WEIGHTS


def in_its_own_order_in_a_loop(x, a):
    square = np.asfortranarray(a.reshape(2, 2).T)
    rows = []
    for _ in range(2):
        rows.append(square.T.reshape(2, 2))
        square[0] += x
    return (rows[0].ravel() ** 2) @ WEIGHTS + (rows[1].ravel() ** 3) @ WEIGHTS


def one_element_by_two_ways(x, a):
    first = np.split(a.reshape(2, 2), 2)[0]
    end = a[1:]
    a.reshape(2, 2).ravel()[1] = x
    a[:][2] = x * x
    return first[0] @ first[0] + end @ end


def parts_of_a_row_that_change(x, a):
    first, rest = np.array_split(a, [1])
    a[0] = x
    rest += first
    return first @ first * x + rest[1]


def a_deep_copy(x, a):
    square = copy.deepcopy(a.reshape(2, 2).T)
    flat = square.ravel()
    square *= x
    return flat @ WEIGHTS + square.ravel(order="K") @ WEIGHTS


def inside_a_derivative(x, a):
    def inner(y, square):
        flat = square.ravel()
        square *= y
        return (flat @ WEIGHTS) ** 2 * np.sum(square * square)

    return wg.grad(inner)(x, a.reshape(2, 2).T) + wg.grad(inner)(x, a.reshape(2, 2)[::-1])


def as_its_elements_lie(x, a):
    turned = a.reshape(2, 2)[::-1].T
    flat = turned.ravel("K")
    turned *= x
    return flat @ WEIGHTS + turned.ravel() @ WEIGHTS


PROGRAMS = [
    itself_collected_in_a_loop, in_its_own_order_in_a_loop, one_element_by_two_ways,
    parts_of_a_row_that_change, a_deep_copy, inside_a_derivative, as_its_elements_lie,
    transposed, in_order, on_one_path, reversed_row, every_second, already_contiguous,
    in_the_order_of_fortran, conjugated, split_afterwards, backwards_and_back, read_in_a_loop, made_in_a_loop,
    made_by_a_function, made_in_a_try, array_of_a_list, walked_over, a_grid_of_its_own,
    made_of_what_is_transposed, through_two_views, parts_of_a_list_of_views,
    a_part_that_was_replaced,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
def test_value_and_gradient(program):
    value, found = wg.value_and_grad(program, argnums=(0, 1))(1.3, ROW.copy())
    slope, slopes = oracle.central_gradient(program, 1.3, ROW.copy())
    assert value == pytest.approx(program(1.3, ROW.copy()))
    assert found[0] == pytest.approx(slope, rel=1e-6, abs=1e-7)
    assert found[1] == pytest.approx(slopes, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("program", PROGRAMS)
def test_tangents(program):
    value, push = wg.pushforward(program, 1.3, ROW.copy())
    slope, slopes = wg.gradient(program, 1.3, ROW.copy())
    assert value == pytest.approx(program(1.3, ROW.copy()))
    assert push(0.6, WEIGHTS) == pytest.approx(0.6 * slope + slopes @ WEIGHTS)


def general_slope(program):
    namespace = {}
    exec(wg.grad(program).source, namespace)
    return namespace[f"grad_{program.__name__}"](1.3, ROW.copy())


REFUSED_WHERE_KINDS_ARE_UNKNOWN = [
    on_one_path, read_in_a_loop, itself_collected_in_a_loop, in_its_own_order_in_a_loop
]  # fmt: skip


@pytest.mark.parametrize(
    "program", [each for each in PROGRAMS if each not in REFUSED_WHERE_KINDS_ARE_UNKNOWN]
)
def test_general_source(program):
    found = general_slope(program)
    assert found == pytest.approx(wg.gradient(program, 1.3, ROW.copy())[0])


@pytest.mark.parametrize("program", REFUSED_WHERE_KINDS_ARE_UNKNOWN)
def test_general_source_refused(program):
    with pytest.raises((ValueError, NotImplementedError)) as caught:
        general_slope(program)
    assert caught.value.code == "WG101"


def flattened(x, a):
    c = a.ravel()
    a *= x
    return np.sum(c * c)


@pytest.mark.parametrize("a", [np.ones((3, 2)), np.ones((3, 2)).T, np.ones((6, 4))[::2, ::2]])
def test_the_layout_of_an_argument_counts(a):
    before = a.copy(order="K")
    assert wg.gradient(flattened, 3.0, a)[0] == (36.0 if np.may_share_memory(a, a.ravel()) else 0.0)
    a[...] = before
    value = wg.value_and_grad(flattened)(3.0, a)[0]
    a[...] = before
    assert value == flattened(3.0, a)


def ravelled_without_need(x):
    grid = np.zeros((2, 2))
    flat = grid.ravel()
    grid[0, 1] = x
    return flat @ WEIGHTS


def test_nothing_is_asked_where_the_layout_is_known():
    assert "shares_with" not in wg.grad(ravelled_without_need).source
    assert "shares_with" in wg.grad(transposed).source


def writes_to_a_copy(x, a):
    c = a.reshape(2, 2).T.ravel()
    c *= x
    return c @ WEIGHTS


@pytest.mark.filterwarnings("ignore::wengert.errors.WengertWarning")
def test_a_write_to_a_copy():
    slope, slopes = wg.gradient(writes_to_a_copy, 1.3, ROW.copy())
    copied = ROW.reshape(2, 2).T.ravel()
    assert slope == pytest.approx(copied @ WEIGHTS)
    np.testing.assert_allclose(slopes, 1.3 * WEIGHTS.reshape(2, 2).T.ravel())


def checkpointed(x, a):
    @wg.checkpoint
    def step(x, a):
        c = a[::2].ravel()
        a = a * 1.0
        d = a.reshape(2, 2).T.ravel()
        a *= x
        return c @ WEIGHTS[:2] + d @ WEIGHTS + a @ WEIGHTS

    return step(x, a) ** 2 + step(x * x, a)


def test_the_answer_is_the_same_when_the_program_runs_again():
    found = wg.gradient(checkpointed, 1.3, ROW.copy())
    slope, slopes = oracle.central_gradient(checkpointed, 1.3, ROW.copy())
    assert found[0] == pytest.approx(slope, rel=1e-6)
    assert found[1] == pytest.approx(slopes, rel=1e-6)


def a_tuple_of_rows(x, a):
    rows = tuple(a.reshape(2, 2))
    a *= x
    return rows[0] @ WEIGHTS[:2]


def rows_as_arguments(x, a):
    def first_of(*rows):
        return rows[0]

    first = first_of(*a.reshape(2, 2))
    a *= x
    return first @ WEIGHTS[:2]


def row_of_a_list_on_one_path(x, a):
    square = a.reshape(2, 2) * x
    row = square
    if x > 0.3:
        row = list(square)[-1]
    square *= x
    return np.sum(row)


def first_rows_collected(x, a):
    square = a.reshape(2, 2) * x
    rows = [list(square)[-1] for _ in range(2)]
    square *= x
    return rows[0] @ WEIGHTS[:2]


@pytest.mark.parametrize(
    "program",
    [a_tuple_of_rows, rows_as_arguments, row_of_a_list_on_one_path, first_rows_collected],
)
def test_a_row_in_a_container_changes_with_its_matrix(program):
    found = wg.gradient(program, 1.3, ROW.copy())
    slope, slopes = oracle.central_gradient(program, 1.3, ROW.copy())
    assert found[0] == pytest.approx(slope, rel=1e-6)
    assert found[1] == pytest.approx(slopes, rel=1e-6)


def summed_over_nothing(x, a):
    square = a.reshape(2, 2)
    same = np.einsum("ij", square)
    a *= x
    return same.ravel() @ WEIGHTS


def diagonals_collected(x, a):
    square = a.reshape(2, 2) * x
    found = [np.einsum("ii->i", square) for _ in range(2)]
    square *= x
    return found[0] @ WEIGHTS[:2]


@pytest.mark.static_tier
@pytest.mark.parametrize(
    "program",
    [summed_over_nothing, diagonals_collected],
)
def test_views_that_are_not_followed_are_refused(program):
    error = refusal("WG101", Exception, lambda: wg.gradient(program, 1.3, ROW.copy()))
    assert "it is not known what this" in str(error)


def in_another_order_without_a_copy(x, a):
    part = a.reshape(2, 2).astype(float, order="F", copy=False)
    part *= x
    return part.ravel() @ WEIGHTS + a @ WEIGHTS


@pytest.mark.filterwarnings("ignore::wengert.errors.WengertWarning")
def test_a_write_to_what_may_be_a_copy():
    found = wg.gradient(in_another_order_without_a_copy, 1.3, ROW.copy())
    slope, slopes = oracle.central_gradient(in_another_order_without_a_copy, 1.3, ROW.copy())
    assert found[0] == pytest.approx(slope, rel=1e-6)
    assert found[1] == pytest.approx(slopes, rel=1e-6)
    recorded = wg.grad(in_another_order_without_a_copy, tier="recorded")
    assert recorded(1.3, ROW.copy()) == pytest.approx(slope, rel=1e-6)


def flat_and_changed(x, square):
    flat = square[:, ::-1].ravel()
    square[0, 0] = x
    return flat @ flat


def lying_as_in(memory, square):
    """The same numbers as a view of some memory, from its end to its start or with gaps."""
    view = {"reversed": memory[:, 1::-1], "strided": memory[:, ::2], "plain": memory[:, :2]}
    return {name: part.__setitem__(..., square) or part for name, part in view.items()}


@pytest.mark.parametrize("name", ["reversed", "strided", "plain"])
def test_tangents_of_an_argument_that_is_a_view(name):
    def square():
        return lying_as_in(np.zeros((2, 4)), ROW.reshape(2, 2))[name]

    value, push = wg.pushforward(flat_and_changed, 1.3, square())
    slope, _ = wg.gradient(flat_and_changed, 1.3, square())
    assert value == flat_and_changed(1.3, square())
    assert push(1.0, np.zeros((2, 2))) == pytest.approx(slope)


def both_changed(x, a, b):
    a[1] = x * b[0]
    a *= 2
    return a @ a + np.sum(b**3)


@pytest.mark.parametrize(
    "verb", [wg.gradient, lambda f, *args: wg.pushforward(f, *args)[1](1.0, None, None)]
)
def test_two_arguments_of_one_memory(verb):
    a = ROW.copy()
    error = refusal("WG101", Exception, lambda: verb(both_changed, 1.3, a, a[1:]))
    assert "two of the arrays given to it share memory" in str(error)
