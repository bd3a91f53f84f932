"""A determinant by expansion along the first row, recursively.

The rows and columns that a minor still has are linked lists: `rows[k]` is the row after row k,
`rows[size]` the first one; taking a row out or putting it back is one assignment.
"""

import numpy as np

import wengert as wg

from .evaluation import Evaluation


def determinant_of_minor(a, size, order, rows, columns):
    row, column = rows[size], columns[size]
    if order == 1:
        return a[row * size + column]
    total = 0.0
    sign = 1.0
    rows[size] = rows[row]
    before = size
    for _ in range(order):
        columns[before] = columns[column]
        minor = determinant_of_minor(a, size, order - 1, rows, columns)
        columns[before] = column
        total += sign * a[row * size + column] * minor
        sign = -sign
        before, column = column, columns[column]
    rows[size] = row
    return total


def primal(a, size):
    following = np.append(np.arange(1, size + 1), 0)
    return determinant_of_minor(a, size, size, following.copy(), following.copy())


def read(given):
    return np.array(given["A"]), given["ell"]


FUNCTIONS = {
    "primal": Evaluation(wg.jit(primal), read),
    "gradient": Evaluation(wg.jit(wg.grad(primal)), read),
}
