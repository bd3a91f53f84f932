"""Every way of reading an array by index."""

import numpy as np

from .registry import add

V = np.array([0.5, -1.2, 2.0, 0.9])
M = np.array([[0.2, -0.4, 1.1], [0.9, 0.5, -0.3]])
T = np.arange(1.0, 13.0).reshape(2, 3, 2) / 7


def single_elements(m):
    return m[0, 1] * m[1][2] + m[-1, -1] ** 2 + m[0][0]


add(single_elements, (M,))


def basic_slices(v):
    return np.sum(v[1:] * v[:-1]) + np.sum(v[::2] ** 2) + np.sum(v[::-1] * v) + v[-3:][0]


add(basic_slices, (V,))


def rows_and_columns(m):
    return (
        np.sum(m[0] * m[1])
        + np.sum(m[:, 0] ** 2)
        + np.sum(m[:, 1:] * m[:, :-1])
        + np.sum(m[..., 2])
    )


add(rows_and_columns, (M,))


def ellipsis_and_none(t):
    return (
        np.sum(t[..., 0] * t[..., 1])
        + np.sum(t[0, :, None] * t[1, None])
        + np.sum(t[None, ..., 1, :] ** 2)
    )


add(ellipsis_and_none, (T,))


def boolean_masks(v, m):
    mask = v > 0
    return (
        np.sum(v[mask] ** 2) + np.sum(m[m < 0.6] * 3) + np.sum(m[:, np.array([True, False, True])])
    )


add(boolean_masks, (V, M))


def integer_arrays(v, m):
    order = np.array([2, 0, 2, 1])
    return np.sum(v[order] * np.arange(4.0)) + np.sum(m[np.array([0, 1]), np.array([2, 0])] ** 2)


add(integer_arrays, (V, M), note="the index 2 is read twice: its cotangents add up")


def index_lists(v, m):
    return np.sum(v[[3, 3, 0]] ** 2) + np.sum(m[:, [0, 2]] * m[[1, 0]][:, [1, 1]])


add(index_lists, (V, M))


def mixed_index(t):
    rows = np.array([1, 0, 1])
    return (
        np.sum(t[0, rows, 1] * t[rows, 0, 0]) + np.sum(t[:, rows] ** 2) + np.sum(t[1, 1:, rows % 2])
    )


add(mixed_index, (T,))


def index_by_data(v):
    order = np.argsort(v)
    top = np.argmax(v)
    return np.sum(v[order] * np.arange(4.0)) + v[top] ** 2 + v[int(np.argmin(v))]


add(index_by_data, (V,))


def loop_over_indices(v):
    total = 0.0
    for i in range(len(v)):
        total = total + v[i] * v[i - 1]
    return total


add(loop_over_indices, (V,), ([1.0, 2.0, 3.0],))


def double_loop(m):
    rows, columns = m.shape
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            if i != j:
                total += m[i, j] ** 2 * (i + 1)
            else:
                total -= m[i, j]
    return total


add(double_loop, (M,))


def windows(v):
    total = 0.0
    for i in range(len(v) - 1):
        total = total + np.sum(v[i : i + 2]) ** 2
    return total


add(windows, (V,))


def computed_slices(v, n):
    half = n // 2
    cut = slice(None, half)
    return np.sum(v[cut] * v[half:n]) + np.sum(v[half:][::-1])


add(computed_slices, (V, 4), wrt=(0,))


def diagonal_parts(m):
    square = m[:, :2]
    return np.trace(square) * 2 + np.sum(np.diag(square) ** 2) + np.sum(np.diag(m[0]) @ m[1])


add(diagonal_parts, (M,))


def read_many_times(v):
    a, b, c, d = v
    return a * b + c * d * a + v[0] * v[1]


add(read_many_times, (V,), ((1.0, 2.0, 3.0, 4.0),))


def finite_differences(u):
    curvature = u[2:] - 2 * u[1:-1] + u[:-2]
    gradient = (u[2:] - u[:-2]) / 2
    return np.sum(curvature**2) + np.sum(gradient**4)


add(finite_differences, (V,))
