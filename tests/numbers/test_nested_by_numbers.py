"""Derivatives by source inside derivatives by numbers, and the other way round."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

import wengert as wg
from wengert import numbers
from wengert.errors import NotScalar, UnsupportedSyntax


def wave(x):
    return math.sin(x) * x**2


def energy(x):
    return np.sum(np.sin(x) * x**2)


@dataclasses.dataclass
class Spring:
    stiffness: float
    name: str = "a spring"


class Cubic:
    def __init__(self, a):
        self.a = a

    def __call__(self, x):
        return self.a * x**3

    def at(self, x):
        return self.a * x**3


BOTH_WAYS = {
    "grad": lambda a: wg.grad(lambda x: a * wave(x))(a),
    "grad of several": lambda a: sum(wg.grad(lambda x, y: x * y * y * a, (0, 1))(a, 2.0)),
    "value_and_grad": lambda a: wg.value_and_grad(lambda x: a * x * x)(2.0)[1],
    "gradient": lambda a: wg.gradient(lambda x, y: x * y * y * a, a, 2.0)[1],
    "with aux": lambda a: wg.grad(lambda x: (x * x * a, "aux"), has_aux=True)(a)[0],
    "derivative": lambda a: wg.derivative(wave, order=2)(a),
    "hvp": lambda a: wg.hvp(lambda x: np.sum(x**3) * a)(np.array([1.0, 2.0]), np.ones(2))[1],
    "jacobian": lambda a: wg.jacobian(lambda x: [x[0] * a, x[1] * x[0]])(np.array([a, 2.0]))[1, 1],
    "jacobian of a number": lambda a: wg.jacobian(lambda x: np.array([a * x, x * x]))(a)[1],
    "jacobian in parts": lambda a: wg.jacobian(lambda d: {"p": d["u"] * a})({"u": a})["p"]["u"],
    "reverse jacobian": lambda a: wg.jacobian(lambda x: x * x * a, mode="reverse")(
        np.array([a, 1.0])
    )[0, 0],
    "hessian": lambda a: np.sum(wg.hessian(energy)(np.array([1.0, 2.0]) * a)),
    "diag_hessian": lambda a: wg.diag_hessian(lambda x: np.sum(x**3) * a)(np.array([1.0, 2.0]))[1],
    "pullback": lambda a: wg.pullback(lambda x: [x * x * a, x], a)[1]([1.0, 2.0])[0],
    "pushforward": lambda a: wg.pushforward(lambda x, y: x * y * a, a, 2.0)[1](1.0, a),
    "of a list": lambda a: wg.grad(lambda xs: xs[0] * xs[1] ** 2)([a, 2.0])[1],
    "of a dataclass": lambda a: wg.grad(lambda s: s.stiffness**2)(Spring(a)).stiffness,
    "of an object": lambda a: wg.grad(lambda m: m.a**2)(Cubic(a)).a,
    "of an object's method": lambda a: wg.grad(Cubic(a).at)(2.0),
    "of an object that is called": lambda a: wg.grad(Cubic(a))(2.0),
    "of a complex number": lambda a: wg.grad(lambda z: abs(z * a) ** 2)(1 + 2j).imag,
    "of an array": lambda a: np.sum(wg.grad(energy)(np.array([1.0, 2.0]) * a) ** 2),
    "numbers in numbers": lambda a: numbers.derivative(lambda x: a * wave(x), a),
    "numbers.gradient": lambda a: numbers.gradient(lambda v: v[0] * v[1] * a, [a, 2.0])[1],
    "numbers.pushforward": lambda a: numbers.pushforward(
        lambda x, y: x * y * a, (a, 2.0), (1.0, a)
    )[1],
    "taylor": lambda a: wg.taylor(wave, a, 3)[3],
    "taylor of a derivative": lambda a: wg.taylor(wg.grad(wave), a, 2)[2],
    "taylor of a power that is whole": lambda a: wg.taylor(lambda x: x ** (a / 0.35), 1.5, 2)[2],
    "alternating": lambda a: wg.derivative(
        lambda x: numbers.derivative(lambda y: wg.grad(lambda z: z**3 * y * x)(y), x)
    )(a),
    "a stream": lambda a: next(
        itertools.islice(numbers.newton(lambda x: x * x - a, 1.0), 3, None)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BOTH_WAYS)
def test_source_and_numbers_nest_in_any_order(name):
    of = BOTH_WAYS[name]
    h = 1e-5
    differenced = (of(0.7 + h) - of(0.7 - h)) / (2 * h)
    by_numbers = numbers.derivative(of, 0.7)
    assert by_numbers == pytest.approx(differenced, rel=1e-7, abs=1e-9)
    assert wg.derivative(of)(0.7) == pytest.approx(by_numbers, rel=1e-12, abs=1e-12)
    assert wg.grad(of)(0.7) == pytest.approx(by_numbers, rel=1e-12, abs=1e-12)
    tower = wg.taylor(of, 0.7, 2)
    assert tower[:2] == pytest.approx([of(0.7), by_numbers], rel=1e-12, abs=1e-12)
    second = numbers.derivative(wg.derivative(of), 0.7)
    assert 2 * tower[2] == pytest.approx(second, rel=1e-10, abs=1e-10)


def test_a_derivative_is_computed_with_any_number():
    dual = wg.grad(wave)(wg.Dual(0.7, 1.0))
    assert dual.primal == pytest.approx(wg.grad(wave)(0.7), rel=1e-14)
    assert dual.tangent == pytest.approx(wg.derivative(wave, order=2)(0.7), rel=1e-14)
    several = wg.grad(wave)(wg.Dual(0.7, (1.0, 2.0))).tangent
    assert several[1] == 2 * several[0] == pytest.approx(2 * dual.tangent)
    orders = list(itertools.islice(wg.derivatives(wg.grad(wave), 0.7), 4))
    assert orders == pytest.approx(list(itertools.islice(wg.derivatives(wave, 0.7), 1, 5)))


def test_what_is_captured_may_become_a_number_with_a_derivative_and_a_plain_one_again():
    k = 1.0
    slope = wg.grad(lambda x: k * x * x)
    found = [slope(3.0) for _ in range(3)]
    k = wg.Dual(1.0, 1.0)
    assert slope(3.0).tangent == 6.0
    k = 2.0
    assert [*found, slope(3.0)] == [6.0, 6.0, 6.0, 12.0]


def test_a_gradient_of_several_results_is_refused_on_numbers_as_well():
    with pytest.raises(NotScalar, match="one real number"):
        wg.grad(lambda x: np.array([x, x]))(wg.Dual(2.0, 1.0))


def test_a_jacobian_counts_rows_and_columns_of_numbers():
    a = wg.Dual(2.0, 1.0)
    matrix = wg.jacobian(lambda x: np.outer(x, x) * a)(np.array([1.0, 3.0]))
    plain = wg.jacobian(lambda x: np.outer(x, x))(np.array([1.0, 3.0]))
    np.testing.assert_allclose(matrix.primal, 2 * plain)
    np.testing.assert_allclose(matrix.tangent, plain)


@pytest.mark.static_tier
@pytest.mark.parametrize(
    ("program", "instead"),
    [
        (lambda x: next(wg.derivatives(wave, x)), "wg.taylor"),
        (lambda x: numbers.partials(lambda a, b: a * b, x, x)[1, 1], "Nest `wg.derivative`"),
        (lambda x: numbers.jacobian(lambda v: v, [x])[0][0], "wg.jacobian"),
        (lambda x: (wg.Dual(x, 1.0) * x).tangent, "wg.pushforward"),
    ],
)
def test_what_is_computed_by_numbers_alone_says_what_to_write_instead(program, instead):
    with pytest.raises(UnsupportedSyntax, match=instead):
        wg.grad(program)(0.7)
