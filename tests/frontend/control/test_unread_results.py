"""What a program computes and nobody reads raises what Python raises, in derivatives and in native code."""

import math
import warnings

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NativeWarning


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def looked_at(x):
    x[7]
    return x[0] * 2


def looked_at_by_name(x):
    p = x[7]  # noqa: F841
    return x[0] * 2


def remainder_by_zero(x):
    k = 3 % int(x[0] - 1)  # noqa: F841
    return x[0] * 2


def divided_by_zero(x):
    y = 1 / float(x[0] - 1)  # noqa: F841
    return x[0] * 2


def walked_too_far(x):
    for k in range(6):
        x[k]
    return x[0] * 2


def reshaped(x):
    y = x.reshape(3, -1)  # noqa: F841
    return x[0] * 2


def added_to_another_shape(x):
    y = np.ones(5) + x  # noqa: F841
    return x[0] * 2


def greatest_of_nothing(x):
    x[3:].max()
    return x[0] * 2


def inverse_of_zeros(x):
    np.linalg.inv(np.zeros((2, 2)) * x[0])
    return x[0] * 2


def exponential_of_too_much(x):
    math.exp(1e300 * x[0])
    return x[0] * 2


def as_a_number(x):
    float(x)
    return x[0] * 2


def validate(x, i):
    _ = x[i]


def validated(x):
    validate(x, 7)
    return x[0] * 2


def item_of_a_list(x):
    y = [x[0], x[1]]
    y[int(x[0]) + 4]
    return x[0] * 2


PROGRAMS = [
    looked_at, looked_at_by_name, remainder_by_zero, divided_by_zero, walked_too_far, reshaped,
    added_to_another_shape, greatest_of_nothing, inverse_of_zeros, exponential_of_too_much, as_a_number,
    validated, item_of_a_list,
]  # fmt: skip


def raised_by(f, *args):
    with pytest.raises(Exception) as raised:  # noqa: PT011
        f(*args)
    return type(raised.value), str(raised.value)


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_derivative_raises_what_an_unread_result_raises(f):
    x = np.array([1.0, 2.0])
    expected = raised_by(f, x)
    assert raised_by(wg.grad(f), x) == expected
    assert raised_by(wg.pullback, f, x) == expected


@pytest.mark.parametrize("f", PROGRAMS)
def test_native_code_raises_what_an_unread_result_raises(f):
    pytest.importorskip("llvmlite")
    x = np.array([1.0, 2.0])
    expected = raised_by(f, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NativeWarning)
        assert raised_by(wg.jit(f), x) == expected
        assert raised_by(wg.jit(wg.value_and_grad(f)), x) == expected


def test_an_unread_result_that_fits_changes_nothing():
    def f(x):
        x[1]
        y = 6 % int(x[0] + 1)  # noqa: F841
        return x[0] * x[1]

    x = np.array([1.0, 2.0])
    value, gradient = wg.value_and_grad(f)(x)
    assert (value, gradient.tolist()) == (2.0, [2.0, 1.0])


def test_arithmetic_that_cannot_fail_is_left_out():
    def f(x):
        y = x * 2 + x**2 / 4  # noqa: F841
        return x * x

    assert "/ 4" not in str(wg.code_ir(f, 2.0))


def doubled(x, n):
    if n == 0:
        1 / n
        return x
    return doubled(x * 2, n - 1)


def looked_at_in_a_recursion(x):
    return doubled(x, 2)


def looked_at_in_a_recursion_and_caught(x):
    try:
        return doubled(x, 2)
    except ZeroDivisionError:
        return x**3


def test_recursive_functions_raise_what_an_unread_result_raises():
    for verb in (wg.grad, wg.value_and_grad, lambda f: lambda x: wg.pushforward(f, x)[1](1.0)):
        with pytest.raises(ZeroDivisionError):
            verb(looked_at_in_a_recursion)(0.7)
    value, back = wg.pullback(looked_at_in_a_recursion_and_caught, 0.7)
    assert value == 0.7**3
    assert back(1.0) == pytest.approx((3 * 0.7**2,))
    assert wg.pushforward(looked_at_in_a_recursion_and_caught, 0.7)[1](1.0) == pytest.approx(1.47)
