"""Numbers of 32 and of 64 bits in one program: values as NumPy gives them, gradients as their arguments are."""

# programs under test are written as users write them

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as wg

SINGLE = np.array([1.0, 2.0, 3.0], np.float32)
DOUBLE = np.array([0.1, 0.2, 0.3])


def adds_in_place(a, b):
    c = a * 1
    c += b
    return c


def scales_in_place(a, b):
    c = a.copy()
    c *= b
    return c


def takes_a_number_of_64_bits(a, b):
    c = a * 1
    c -= np.sum(b)
    return c


def changes_what_it_is_given(a, b):
    a -= np.sum(b)
    return a


def adds_up_in_a_loop(a, b):
    c = np.zeros(3, np.float32)
    for _ in range(3):
        c += b.sum() * a
    return c


def of_unknown_precision(a, b):
    c = a * b[0]
    c += b
    return c


IN_PLACE = [
    adds_in_place,
    scales_in_place,
    takes_a_number_of_64_bits,
    changes_what_it_is_given,
    adds_up_in_a_loop,
    of_unknown_precision,
]


@pytest.mark.parametrize("f", IN_PLACE)
def test_an_operator_in_place_keeps_the_dtype(f):
    expected = f(SINGLE.copy(), DOUBLE)
    value, back = wg.pullback(f, SINGLE.copy(), DOUBLE)
    assert value.dtype == expected.dtype
    np.testing.assert_array_equal(value, expected)
    assert [bar.dtype for bar in back(np.ones_like(expected))] == [np.float32, np.float64]


def joined(a, b):
    return np.concatenate([a, b])


def stacked(a, b):
    return np.stack([a, b])


def powers(a, b):
    return np.float_power(a, b)


def chained(a, b):
    return np.linalg.multi_dot((np.outer(a, a), np.outer(b, b), np.outer(a, a)))


def filtered(a, b):
    return np.fft.irfft(np.fft.rfft(a) * np.fft.rfft(b))


def factored(a, b):
    return np.linalg.cholesky(np.outer(a, a) + np.eye(3, dtype=np.float32)) * b


def rounded(a, b):
    return np.sum(b, dtype=np.float32) * np.sum(a, dtype=np.float32)


@pytest.mark.parametrize("f", [joined, stacked, powers, chained, filtered, factored, rounded])
@pytest.mark.parametrize("arguments", [(SINGLE, DOUBLE), (DOUBLE, SINGLE), (SINGLE, SINGLE)])
def test_gradients_have_the_dtypes_of_their_arguments(f: Any, arguments: Any):
    def loss(a, b):
        return np.sum(f(a, b) ** 2)

    found = wg.gradient(loss, *arguments)
    assert [bar.dtype for bar in found] == [x.dtype for x in arguments]


def adds_floats_to_integers(x):
    n = np.zeros(3, int)
    n += x
    return n.sum() * x[0]


def adds_a_matrix_to_a_vector(x):
    n = np.zeros(3)
    n += np.outer(x, x)
    return n.sum() * x[0]


def adds_complex_numbers_to_real_ones(x):
    n = np.zeros(3)
    n += x * 1j
    return n.sum() * x[0]


@pytest.mark.parametrize(
    "f", [adds_floats_to_integers, adds_a_matrix_to_a_vector, adds_complex_numbers_to_real_ones]
)
def test_what_an_array_cannot_hold_raises_as_in_numpy(f):
    with pytest.raises((TypeError, ValueError)) as plain:
        f(DOUBLE)
    with pytest.raises((TypeError, ValueError)) as differentiated:
        wg.grad(f)(DOUBLE)
    assert issubclass(plain.type, differentiated.type)
