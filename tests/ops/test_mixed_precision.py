"""Numbers of 32 and of 64 bits in one program: values as NumPy gives them, gradients as their arguments are."""

# programs under test are written as users write them

from __future__ import annotations

import math
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


# --- numbers ------------------------------------------------------------------------------------


def times_an_item(x, a):
    return x * a[0]


def times_all(x, a):
    return (x * a).sum()


def added_up(x, a):
    total = 0.0
    for item in a:
        total += item * x
    return total


def by_a_function(x, a):
    return math.sin(x) * a[0] + x


def on_one_path(x, a):
    return x * a[0] if x > 0 else x * x


def of_a_filled_array(x, a):
    return np.sum(np.full(3, x) * a)


def rounded_by_the_program(x, a):
    return np.float32(x) * a[1] + x


NUMBERS = [1.3, np.float64(1.3), np.float32(1.3)]
PROGRAMS = [
    times_an_item,
    times_all,
    added_up,
    by_a_function,
    on_one_path,
    of_a_filled_array,
    rounded_by_the_program,
]


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("a", [SINGLE, DOUBLE], ids=lambda a: str(a.dtype))
@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
def test_gradients_of_numbers_are_floats_and_of_arrays_have_their_dtype(f: Any, x, a, native):
    if native:
        pytest.importorskip("llvmlite")
    derivative = wg.value_and_grad(f, argnums=(0, 1))
    value, (x_bar, a_bar) = (wg.jit(derivative) if native else derivative)(x, a)
    assert type(value + 0) is type(f(x, a) + 0)
    assert isinstance(x_bar, float)
    assert a_bar.dtype == a.dtype
    exact = wg.grad(f, argnums=(0, 1))(float(x), a.astype(np.float64))
    assert x_bar == pytest.approx(exact[0], rel=1e-5)
    np.testing.assert_allclose(a_bar, exact[1], rtol=1e-5)


@pytest.mark.parametrize("f", PROGRAMS)
@pytest.mark.parametrize("x", NUMBERS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("a", [SINGLE, DOUBLE], ids=lambda a: str(a.dtype))
def test_tangents_are_as_wide_as_values(f: Any, x, a):
    value, push = wg.pushforward(f, x, a)
    assert type(push(1.0, np.ones_like(a)) + 0) is type(value + 0)


def test_what_is_of_64_bits_is_added_up_so_beside_what_is_narrower():
    a = np.full(10_000, 0.1, np.float32)
    expected = float(np.sum(a, dtype=np.float64))
    for x_bar in (
        wg.grad(added_up)(np.float64(1.3), a),
        wg.derivative(lambda x: added_up(x, a))(np.float64(1.3)),
    ):
        assert x_bar == pytest.approx(expected, rel=1e-12)
