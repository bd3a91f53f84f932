"""Forward Jacobians and Hessians: the function and its partials once, then each direction by itself."""

import math
import warnings

import numpy as np
import pytest

import wengert as wg

X = np.array([0.3, 0.7, 0.55, 0.9])


def nested_loops(x):
    out = []
    for i in range(len(x)):
        total = 0.0
        for j in range(i + 1):
            total = total + math.sin(x[i] * x[j])
            if total > 1:
                total = total * 0.5 + x[j]
        out.append(total * x[i])
    return np.array(out)


def elements_written(x):
    a, b = np.zeros(len(x)), x.copy()
    for i in range(1, len(x)):
        a[i] = a[i - 1] * x[i] + b[i] ** 2
        b[i] = a[i] * x[i - 1]
        if a[i] > 0.5:
            a[i] *= x[0]
    return a + b


def left_early(x):
    k, total = 0, 0.0
    while k < len(x):
        total = total * x[k] + np.exp(x[k])
        k += 1
        if total > 3:
            break
    return np.array([total, total * x[0]])


def lists_of_lists(x):
    rows = [[1.0]]
    for k in range(3):
        rows.append([item * x[k] for item in rows[-1]] + [x[k]])
    return np.array(rows[-1])


def matrices(x):
    a, y = np.outer(x, x) + np.eye(len(x)) * 3, x
    for _ in range(3):
        y = np.linalg.solve(a, y) + np.tanh(a @ y)
        a = a + np.outer(y, x)
    return y


def swapped(x):
    a, b = x[0], x[1]
    for k in range(4):
        a, b = b, a * x[k] + math.sin(b)
    return np.array([a, b])


def of_unequal_lengths(x):
    total = 0.0
    for a, b in zip(x, x[2:], strict=False):
        total = total + a * a * b
    for _, a in zip(range(2), x, strict=False):
        total = total + a
    return np.array([total, total**2])


def backwards(x):
    total, out = 1.0, []
    for item in reversed(x):
        total = total * item + 0.1 * total * total
        out.append(total)
    return np.array(out)


def rows_through_views(x):
    a = np.zeros((3, len(x)))
    for k in range(3):
        row = a[k]
        for i in range(len(x)):
            row[i] = x[i] ** (k + 1)
        a[0] += row
    return a.sum(0) * a[0]


def carried_arrays(x):
    h, sums = np.zeros_like(x), []
    for k in range(3):
        h = np.tanh(h * x + np.roll(x, k))
        sums.append(h.sum())
    h *= 2
    return np.array(sums) * h[:3]


def recursive(x):
    def go(n, value):
        return value if n == 0 else go(n - 1, np.sin(value) * x)

    return go(3, x)


def never_run(x):
    out = x * x
    for item in x[:0]:
        out = out * item
    return out


PROGRAMS = [
    nested_loops, elements_written, left_early, lists_of_lists, matrices, swapped, of_unequal_lengths,
    backwards, rows_through_views, carried_arrays, recursive, never_run,
]  # fmt: skip


def differences(f, x, step=1e-6):
    pairs = [(np.asarray(f(x + step * d)), np.asarray(f(x - step * d))) for d in np.eye(len(x))]
    return np.stack([(ahead - behind) / (2 * step) for ahead, behind in pairs], axis=-1)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_forward_is_reverse(f):
    forward = wg.jacobian(f, mode="forward")
    np.testing.assert_allclose(
        forward(X), wg.jacobian(f, mode="reverse")(X), rtol=1e-12, atol=1e-14
    )
    np.testing.assert_allclose(forward(X), differences(f, X), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(X, [0.3, 0.7, 0.55, 0.9])


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_second_derivatives(f):
    def loss(x):
        return np.sum(f(x) ** 2)

    found = wg.hessian(loss)(X)
    np.testing.assert_allclose(found, differences(wg.grad(loss), X), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found, found.T, rtol=1e-10, atol=1e-11)
    twice = wg.jacobian(wg.jacobian(f, mode="forward"), mode="forward")(X)
    assert np.shape(twice) == (*np.shape(f(X)), 4, 4)
    slopes = differences(wg.jacobian(f, mode="reverse"), X)
    np.testing.assert_allclose(twice, slopes, rtol=1e-5, atol=1e-6)


def sines(x):
    total, out = 0.0, []
    for k in range(len(x)):
        total = total * 0.5 + np.sin(x[k]) * np.exp(x[k])
        out.append(total)
    return np.array(out)


@pytest.mark.parametrize("f", [sines, lambda x: np.sin(x) * np.exp(x)])
def test_partials_are_computed_before_the_directions(f):
    text = wg.jacobian(f, mode="forward").specialize(X).source
    _, _, body = text.partition("\ndef jacobian_forward")
    ahead, _, along = body.partition("_basis(")
    for function in ("sin", "cos", "exp"):
        assert ahead.count(f"np.{function}(") == 1
        assert f"np.{function}(" not in along


def test_an_effect_happens_once(capsys):
    def shown(x):
        print("here")
        return np.sin(x)

    wg.jacobian(shown, mode="forward")(X)
    assert capsys.readouterr().out == "here\n"


def rotating(x):
    """A real number goes through a complex array of a dtype that is not known when the program is read."""
    y = np.array([1.0 + 0.5j])
    buffer = np.zeros((3, 1), dtype=y.dtype)
    size = x
    for k in range(3):
        buffer[k] = y + 0.1 * (1j * size * y)
        size = np.abs(buffer[k]).sum()
        y = buffer[k]
    return size


def stored(x):
    y = np.array([1.0 + 0.5j])
    slopes = np.zeros((3, len(y)), dtype=y.dtype)
    for k in range(3):
        slopes[k] = 1j * x * y
    return slopes[2, 0].real


@pytest.mark.parametrize("f", [rotating, stored])
def test_the_derivative_in_a_real_number_is_real(f):
    expected = (f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [
            wg.grad(f)(0.7),
            wg.pullback(f, 0.7)[1](1.0)[0],
            *(wg.jacobian(f, mode=mode)(0.7) for mode in ("forward", "reverse", "auto")),
        ]
    assert not any(map(np.iscomplexobj, found))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert type(found[0]) is float
