"""The built-in `pow`: powers of numbers and of objects, of whole numbers with a modulus, and its errors."""

import pytest
from differences import agree

import wengert as wg


class Power:
    def __init__(self, base):
        self.base = base

    def __pow__(self, exponent, modulus=None):
        return self.base**exponent if modulus is None else self.base * modulus

    def __rpow__(self, base):
        return base**self.base


def powers_of_numbers(x):
    return pow(x, 3) + pow(x, x) + pow(base=x, exp=2) + pow(2, 5, 7) * x + pow(3, -1, mod=7) * x


def powers_of_objects(x):
    return pow(Power(x), 2) + pow(3, Power(x)) + pow(Power(x), 2, 5)


def powers_of_whole_numbers(x):
    seed, total = 7, 0.0
    for _ in range(20):
        seed = pow(seed, 3, 101)
        total += seed * x**2
        if seed % 2:
            total *= 0.9
    return total


@pytest.mark.parametrize("f", [powers_of_numbers, powers_of_objects, powers_of_whole_numbers])
def test_powers(f):
    agree(f, 1.7)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: pow(x),
        lambda x: pow(x, 2, 3),
        lambda x: pow(x, 2, None, 3),
        lambda x: pow(x, 2, base=x),
        lambda x: pow(x, 2, mode=3),
    ],
)
def test_wrong_arguments_of_pow(f):
    with pytest.raises(TypeError) as raised:
        f(1.7)
    with pytest.raises(TypeError) as found:
        wg.grad(f)(1.7)
    assert str(found.value) == str(raised.value)
