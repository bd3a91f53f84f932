"""What is known of shapes and memory makes derivative code plainer, never wrong."""

import numpy as np
import oracle
import pytest
import trees

import wengert as wg


def times_its_row_sums(m):
    return np.sum(m * m.sum(axis=1, keepdims=True))


def every_reduction_at_once(m):
    return np.sum(m * m.sum(axis=1, keepdims=True)) + m.mean() + np.sum(m.sum(axis=1) ** 2)


def sums_broadcast_together(m):
    return np.sum((m + m.sum(axis=0)) * m.sum(axis=1, keepdims=True))


def chosen_by_rows(m):
    return np.sum(np.where(m.sum(axis=1, keepdims=True) > 0, m, 0.0))


def less_its_row_sums(m):
    return np.sum(m.sum(axis=1, keepdims=True) - m)


def means_by_axis(m):
    return np.sum(m * m.mean(axis=0) ** 2) + np.sum(m.mean(axis=-1) ** 3)


def softmax_by_rows(m):
    e = np.exp(m - m.max(axis=1, keepdims=True))
    return np.sum((e / e.sum(axis=1, keepdims=True)) ** 2)


def largest_by_columns(m):
    return np.sum(m.max(axis=0) * m.min(axis=0)) + m.max() * m.min()


def log_sum_exp(m):
    top = m.max()
    return top + np.log(np.exp(m - top).sum())


OF_ONE = [
    times_its_row_sums,
    every_reduction_at_once,
    sums_broadcast_together,
    chosen_by_rows,
    less_its_row_sums,
    means_by_axis,
    softmax_by_rows,
    largest_by_columns,
    log_sum_exp,
]


@pytest.mark.parametrize("shape", [(3, 4), (3, 1), (1, 4), (1, 1)])
@pytest.mark.parametrize("f", OF_ONE)
def test_arrays_meet_their_own_reductions(f, shape):
    m = np.random.default_rng(0).normal(size=shape)
    check(f, (m,))


def product_of_sum_and_part(x, y):
    return np.sum((x + y) * y)


def choice(x, y):
    return np.sum(np.where(y > 0, x + y, 0.0) * 3)


def larger(x, y):
    return np.sum(np.maximum(x + y, y) * 2)


def quotient_and_difference(x, y):
    return np.sum((x - y) * (x + y) / (2 + y * y) - x**2)


@pytest.mark.parametrize(
    "shapes",
    [((3, 1), (1, 4)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 4), (3, 4)), ((1,), (4,)), ((), (4,))],
)
@pytest.mark.parametrize("f", [product_of_sum_and_part, choice, larger, quotient_and_difference])
def test_two_arrays_broadcast(f, shapes):
    rng = np.random.default_rng(1)
    check(f, tuple(rng.normal(size=shape) for shape in shapes))


def check(f, args):
    found = wg.grad(f, argnums=tuple(range(len(args))))(*args)
    trees.assert_close(found, oracle.gradient(f, *args, wrt=tuple(range(len(args)))), rel=1e-9)
    for x_bar, x in zip(found, args, strict=True):
        assert x_bar.shape == x.shape
        assert x_bar.flags.writeable
    _, push = wg.pushforward(f, *args)
    dots = tuple(np.random.default_rng(2).normal(size=x.shape) for x in args)
    expected = sum(np.sum(x_bar * dot) for x_bar, dot in zip(found, dots, strict=True))
    assert push(*dots) == pytest.approx(expected, rel=1e-9)


# --- memory -------------------------------------------------------------------------------


def same_gradients(a, b, c):
    return np.sum(a * c * c) + np.sum(b * c * c)


def gradient_of_a_result(x):
    e = np.exp(x)
    return e.sum(), e


def one_is_the_other(a, b):
    return np.sum((a + b) ** 2)


def test_gradients_have_memory_of_their_own():
    x = np.ones(3)
    a_bar, b_bar = wg.grad(same_gradients, argnums=(0, 1))(x, x, x)
    assert not np.shares_memory(a_bar, b_bar)
    a_bar, b_bar = wg.grad(one_is_the_other, argnums=(0, 1))(x, x)
    assert not np.shares_memory(a_bar, b_bar)
    x_bar, e = wg.grad(gradient_of_a_result, has_aux=True)(x)
    assert not np.shares_memory(x_bar, e)


def picked_and_summed(x, i):
    e = np.exp(x)
    p = e / e.sum()
    return np.sum(p * p) - p[i] * x[i]


def test_entries_are_added_in_place_only_where_nobody_reads_on():
    x = np.array([0.3, -0.2, 0.5])
    found = wg.grad(picked_and_summed)(x, 1)
    trees.assert_close(found, oracle.gradient(picked_and_summed, x, 1, wrt=(0,))[0], rel=1e-10)
    v = np.array([1.0, 2.0, -1.0])
    step = 1e-5
    slope = wg.grad(picked_and_summed)
    expected = (slope(x + step * v, 1) - slope(x - step * v, 1)) / (2 * step)
    assert wg.hvp(picked_and_summed)(x, 1, v) == pytest.approx(expected, rel=1e-6)


def test_log_sum_exp_is_what_one_would_write():
    x = np.array([0.3, -0.2, 0.5])
    lines = wg.grad(log_sum_exp).specialize(x).source
    assert "argmax" not in lines
    assert "_put" not in lines
    e = np.exp(x - x.max())
    assert wg.grad(log_sum_exp)(x).tolist() == (e / e.sum()).tolist()


def test_what_runs_before_the_way_back_does_not_ask_its_cotangents_for_shapes():
    def doubled(m, n):
        return np.vecdot(m, n, axis=0)

    def cotangents(m, n):
        _, back = wg.pullback(doubled, m, n)
        return back(np.ones(3))

    m, n = np.eye(3) + 1, np.arange(9.0).reshape(3, 3)
    _, back = wg.pullback(cotangents, m, n)
    of_m, of_n = back((m, n))
    np.testing.assert_array_equal(of_m, n)
    np.testing.assert_array_equal(of_n, m)


@pytest.mark.parametrize("make", [np.zeros, np.ones, np.empty])
def test_an_array_in_the_shape_of_another_has_its_rank(make):
    def f(x):
        y = make(x.shape)
        y[...] = 3.0
        return (x * y).sum()

    x = np.arange(6.0).reshape(2, 3)
    assert (
        f"y: array[float64, 2] = np.{'zeros_array' if make is np.zeros else make.__name__}"
        in str(wg.code_ir(f, x))
    )
    assert (wg.grad(f)(x) == 3.0).all()
    assert (wg.jit(wg.grad(f), strict=True)(x) == 3.0).all()
    assert wg.grad(lambda x: np.zeros(x.shape, dtype=int).sum() + x.sum())(np.ones(2)).tolist() == [
        1.0,
        1.0,
    ]


# --- shapes whose items are taken one by one ---------------------------------------------


def with_one_more_axis(x):
    return np.sum((np.reshape(x, (*np.shape(x), 1)) * x) @ np.ones(x.size))


def by_a_list(x):
    return np.sum(np.reshape(x, list(x.shape) + [1] * np.ndim(x)) @ np.ones((1, 2)))


def by_a_tuple(x):
    return np.sum(np.reshape(x, tuple(np.shape(x)) + (1,) * x.ndim) @ np.ones((1, 2)))


def by_all_differences(x):
    return np.linalg.slogdet(np.exp(-(np.subtract.outer(x, x) ** 2)))[1]


def by_the_sizes(x):
    total = 1.0
    for n in x.shape:
        total = total * n
    return total * np.sum(x**2)


@pytest.mark.parametrize(
    "f", [with_one_more_axis, by_a_list, by_a_tuple, by_all_differences, by_the_sizes]
)
def test_the_number_of_axes_is_known_where_sizes_are_taken_one_by_one(f):
    x = np.array([0.3, -0.5, 1.4])
    steps = 1e-6 * np.eye(3)
    expected = [(f(x + step) - f(x - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(wg.grad(f)(x), expected, rtol=1e-7, atol=1e-8)
    text = wg.grad(f).specialize(x).source
    assert "_matmul_right" not in text
    assert wg.grad(f)(np.ones(0)).shape == (0,)
