"""NumPy: elementwise functions, reductions, broadcasting, shapes."""

import numpy as np

from .registry import add

V = np.array([0.5, -1.2, 2.0])
W = np.array([1.5, 0.3, -0.7])
M = np.array([[0.2, -0.4, 1.1], [0.9, 0.5, -0.3]])
POSITIVE = np.array([0.3, 1.7, 2.2])


def elementwise(x):
    y = np.sin(x) * np.exp(-x) + np.tanh(x) / (1 + x**2)
    return np.sum(y * np.cos(x) + np.arctan(x) + np.sqrt(x * x + 1))


add(elementwise, (V,), (M,), (0.7,), autograd=True)


def more_elementwise(x):
    y = np.log(x) + np.log1p(x) + np.expm1(x) + np.square(x) + np.reciprocal(x) + np.cbrt(x)
    return np.sum(y) + np.sum(np.log2(x) * np.log10(x) + np.exp2(x) + np.power(x, 1.5))


add(more_elementwise, (POSITIVE,))


def inverse_elementwise(x):
    return np.sum(np.arcsin(x) + np.arccos(x) * np.arctanh(x) + np.arcsinh(x) + np.arccosh(x + 2))


add(inverse_elementwise, (np.array([0.3, -0.6]),), autograd=True)


def two_operands(x, y):
    return np.sum(np.hypot(x, y) + np.arctan2(x, y) + np.maximum(x, y) * np.minimum(x, 1.0))


add(two_operands, (V, W), (V, 0.4), (M, V))


def operators(x, y):
    return np.sum((x + y) * (x - y) / (2 + y * y) - x**2 + (-x) ** 3 + 2**y + abs(x) + y % 0.8)


add(operators, (V, W), (M, W))


def sums_by_axis(m):
    return (
        np.sum(np.sum(m, axis=0) ** 2)
        + np.sum(m.sum(axis=1, keepdims=True) * m)
        + m.sum(axis=(0, 1))
    )


add(sums_by_axis, (M,), autograd=True)


def statistics(m):
    return (
        np.sum(np.mean(m, axis=1) ** 2)
        + np.var(m)
        + np.sum(np.std(m, axis=0, ddof=1))
        + m.mean() * m.std()
    )


add(statistics, (M,))


def standardised(x):
    z = (x - x.mean(axis=0)) / (x.std(axis=0) + 0.1)
    return np.sum(z**3 + np.exp(z))


add(standardised, (np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.2]]),), autograd=True)


def extremes(m):
    return (
        np.max(m) * np.min(m)
        + np.sum(np.max(m, axis=0) ** 2)
        + np.sum(m.min(axis=1, keepdims=True) * m)
    )


add(extremes, (M,))


def products(x):
    return np.prod(x) + np.sum(np.cumsum(x) ** 2) + np.sum(np.prod(np.stack([x, x + 1]), axis=0))


add(products, (V,))


def cumulative(m):
    return np.sum(np.cumsum(m, axis=1) * m) + np.sum(np.cumsum(m) ** 2)


add(cumulative, (M,))


def broadcasting(column, row, scalar):
    table = column[:, None] * row + scalar
    return np.sum(np.exp(0.1 * table) * row) + np.sum(scalar * column)


add(broadcasting, (np.array([0.1, 0.2]), V, 0.5), (np.array([0.1]), V, -0.3), autograd=True)


def unbroadcasting(bias, m):
    return np.sum((m + bias) ** 2)


add(
    unbroadcasting,
    (0.5, M),
    (V, M),
    (np.array([[0.1], [0.2]]), M),
    (np.array([0.3]), M),
    autograd=True,
)


def clipped(x):
    return (
        np.sum(np.clip(x, -1.0, 1.0) * x)
        + np.sum(x.clip(0.0, None))
        + np.sum(np.where(x > 0, x**2, -x))
    )


add(clipped, (V,))


def where_with_scalars(x, a):
    return np.sum(np.where(x > 0, a, x * a)) + np.sum(np.where(np.abs(x) < 1, 0.0, x))


add(where_with_scalars, (V, 0.7))


def reshaped(m):
    flat = m.reshape(-1)
    table = np.reshape(flat, (3, 2))
    return np.sum(table @ m[:, :2]) + np.sum(m.ravel() * flat) + m.reshape(3, 2)[2, 1] * m.T[0, 1]


add(reshaped, (M,), autograd=True)


def transposed(m):
    return np.sum(np.transpose(m) @ m) + np.sum(m.T * np.sin(m.T)) + np.swapaxes(m, 0, 1)[2, 0]


add(transposed, (M,))


def dimensions(x):
    column = np.expand_dims(x, 1)
    wide = np.broadcast_to(x, (2, 3))
    return np.sum(column * x) + np.sum(np.squeeze(column) ** 3) + np.sum(wide * wide)


add(dimensions, (V,))


def joined(x, y):
    both = np.concatenate([x, y * 2, x])
    table = np.stack([x, y], axis=1)
    tower = np.vstack([x, y])
    line = np.hstack([x, y])
    return np.sum(both**2) + np.sum(table[:, 0] * table[:, 1]) + np.sum(tower[1] * line[:3])


add(joined, (V, W))


def pieces(x):
    first, second = np.split(x, 2)
    a, b, c = np.split(x, [1, 3])
    return np.sum(first * second) + np.sum(a) * np.sum(b) + np.sum(c**2)


add(pieces, (np.array([1.0, 2.0, 3.0, 4.0]),))


def repeated(x):
    return (
        np.sum(np.tile(x, 2) ** 2 * np.arange(6.0))
        + np.sum(np.repeat(x, 2) * np.arange(6.0))
        + np.sum(np.flip(x) * x)
        + np.sum(np.roll(x, 1) * x)
    )


add(repeated, (V,))


def made_inside(x):
    n = len(x)
    grid = np.linspace(0.0, 1.0, n)
    base = np.zeros(n) + np.ones_like(x) * 2 + np.full(n, 3.0)
    table = np.eye(n) * x
    return (
        np.sum(base * x * grid) + np.sum(table @ np.arange(1.0, n + 1)) + np.sum(np.zeros_like(x))
    )


add(made_inside, (V,), autograd=True)


def built_from_numbers(a, b):
    m = np.array([[a, b], [b * a, 1.0]])
    v = np.array([a, 2.0])
    return np.sum(m @ v) + m[1, 0] * v[0] + np.asarray([a, b]).sum()


add(built_from_numbers, (1.5, 0.5))


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


add(logsumexp, (V,), (V * 100 + 0.5,), autograd=True)


def softmax(x):
    e = np.exp(x - np.max(x))
    return e / np.sum(e)


def cross_entropy(logits, labels):
    return -np.sum(labels * np.log(softmax(logits)))


add(cross_entropy, (V, np.array([0.2, 0.5, 0.3])), autograd=True)


def zero_dimensional(x):
    y = x * 2 + np.sin(x)
    return y * y.sum() + x.reshape(1)[0] + np.sum(x)


add(zero_dimensional, (np.array(0.7),))


def integer_array(counts, x):
    return np.sum(counts * x) + counts.sum() * x[0] + len(counts) * np.mean(counts)


add(integer_array, (np.array([1, 2, 3]), V))


def attributes(m):
    rows, columns = m.shape
    total = np.sum(m) / m.size * m.ndim
    return total * rows + len(m) * np.sum(m * columns)


add(attributes, (M,))


def data_dependent_loop(x):
    steps = 0
    while np.linalg.norm(x) > 0.1:
        x = x * 0.5 - 0.01
        steps = steps + 1
    return np.sum(x**2) * steps


add(data_dependent_loop, (V,))


def rounded(x):
    return np.sum(np.floor(x) * x + np.ceil(x) + np.sign(x) * x + np.round(x) * x)


add(rounded, (np.array([0.4, -1.2, 2.3]),))


def any_and_all(x):
    if np.any(x > 1) and not np.all(x > 0):
        return np.sum(x[x > 0]) * np.argmax(x)
    return np.sum(x)


add(any_and_all, (V,), (POSITIVE,), (-POSITIVE,))


def array_result(x):
    return np.sin(x) * x


add(array_result, (V,), (M,))
