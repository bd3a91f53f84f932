"""Functions of NumPy in a run that is recorded, given lists that stand for arrays."""

import numpy as np
import pytest
from differences import slope

import wengert as wg
from wengert.compile import recorded
from wengert.errors import LostDerivative, UnsupportedSyntax

RECORDED = {"tier": "recorded"}
FUNCTIONS = {
    "exp": lambda x, a: np.exp([x, 2.0]),
    "square": lambda x, a: np.square((x, 1.0)),
    "add": lambda x, a: np.add([x, 1.0], [x * x, x]),
    "multiply": lambda x, a: np.multiply([[x, 1.0], [2.0, x]], a),
    "power": lambda x, a: np.power(a, [x, 2.0]),
    "hypot": lambda x, a: np.hypot([x, 2.0], x),
    "operators": lambda x, a: [x, 1.0] * a + (x, 2.0),
    "a method": lambda x, a: a.dot([x, 1.0]) + a.clip([0.0, x - 3.0], [x * 0.5, 9.0]),
    "inv": lambda x, a: np.linalg.inv([[x, 1.0], [0.5, 2.0]]),
    "solve": lambda x, a: np.linalg.solve([[x, 1.0], [0.5, 2.0]], a),
    "cond": lambda x, a: np.linalg.cond([[x, 1.0], [0.5, 2.0]]),
    "singular values": lambda x, a: np.linalg.svd([[x, 1.0], [0.5, 2.0]], compute_uv=False),
    "qr": lambda x, a: np.linalg.qr([[x, 1.0], [0.5, 2.0]])[1],
    "only the triangle": lambda x, a: np.linalg.qr(np.array([[x, 1.0], [0.5, 2.0]]), mode="r"),
    "roots": lambda x, a: np.roots([x, -3.0, 1.0]),
    "complex roots": lambda x, a: np.roots([1.0, -x, 1.0]).real,
    "nanstd": lambda x, a: np.nanstd([x, 1.0, x * x]),
    "polyval": lambda x, a: np.polyval([x, 1.0], [2.0, x]),
    "reduce": lambda x, a: np.logaddexp.reduce([[x, 1.0], [2.0, x]]),
    "meshgrid": lambda x, a: np.meshgrid([x, 1.0], [2.0, x])[0],
    "stack": lambda x, a: np.stack([a, [x, 1.0]]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lists_stand_for_arrays(name):
    def f(x):
        made = FUNCTIONS[name](x, np.array([x * x, 1.5]))
        return np.sum(made * np.cos(made))

    value, found = wg.value_and_grad(f, **RECORDED)(1.3)
    assert value == pytest.approx(f(1.3))
    assert found == pytest.approx(slope(f, 1.3))
    assert recorded.pushforward(f, (1.3,), {})[1](2.0) == pytest.approx(2.0 * found)


def test_the_bits_of_a_number_have_no_derivative():
    def inverse_root(x):
        bits = np.float32(x).view(np.int32)
        y = np.int32(0x5F3759DF - (bits >> 1)).view(np.float32)
        return y * (1.5 - 0.5 * x * y * y)

    with pytest.raises(LostDerivative, match="bits"):
        wg.grad(inverse_root, **RECORDED)(2.0)
    with pytest.raises(LostDerivative, match="bits"):
        wg.grad(lambda x: x.view(np.int64).sum() * 1e-19, **RECORDED)(np.ones(2))


class Doubled(np.ndarray):
    def __mul__(self, other):
        return 2 * np.asarray(self) * other


def test_a_view_of_a_class_with_its_own_arithmetic_is_refused():
    with pytest.raises(UnsupportedSyntax, match="Doubled compute in ways of their own"):
        wg.grad(lambda x: np.sum(x.view(Doubled) * x), **RECORDED)(np.ones(2))


def test_a_view_by_the_parts_of_complex_numbers():
    def f(x):
        z = x + 1j * x**2
        z.view(float)[1] = x[0]
        return (z.view(float) ** 2).sum()

    assert wg.grad(f, **RECORDED)(np.array([2.0, 3.0])) == pytest.approx([8.0, 114.0])


def test_arrays_of_objects_are_joined():
    def joined(x):
        items = np.empty(1, dtype=object)
        items[0] = x * x
        return np.sum(np.concatenate((items, np.ones(2) * x)) ** 2)  # x⁴ + 2 x²

    assert wg.grad(joined, tier="recorded")(0.7) == pytest.approx(4 * 0.7**3 + 4 * 0.7)
