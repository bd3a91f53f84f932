"""The verbs that read source where arguments carry derivatives: what they give, leave behind and refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg
from wengert import numbers
from wengert.errors import BadArgument, BadTangent, NotScalar, WengertError

Dual = wg.Dual


def doubled(v):
    v[0] = v[0] * 2
    return v[0] * v[1]


def kept(x, seen):
    seen.append(x)
    return x * x * len(seen)


def power(x, n):
    result = 1.0
    for _ in range(n):
        result = result * x
    return result


def shifted(x, n):
    return x * (n & 1) + x * (n >> 1) + x * n


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Model:
    def __init__(self, a, history):
        self.a, self.history = a, history


def run_of_a_model(m):
    m.a = m.a * 3
    m.history.append(m.a)
    return m.a**2


def by_a_captured_number(c):
    return lambda x: c * x


CASES = {
    "a changed list": lambda m, verb: verb(doubled)([m(2.0), 3.0]),
    "a changed array": lambda m, verb: verb(lambda v, c: doubled(v) * c)(np.array([2.0, 3.0]), m(1.0)),
    "a list that grows": lambda m, verb: verb(kept)(m(2.0), []),
    "an integer that counts": lambda m, verb: verb(power, (0, 1))(m(2.0), 3),
    "an integer in a list": lambda m, verb: verb(lambda p: power(p[0], p[1]))([m(2.0), 3]),
    "an integer and its bits": lambda m, verb: verb(shifted, (0, 1))(m(2.0), 3),
    "an integer by keyword": lambda m, verb: verb(power)(m(2.0), n=3),
    "the last argument": lambda m, verb: verb(lambda a, b: a * b * b, -1)(m(2.0), 3.0),
    "an object with slots": lambda m, verb: verb(lambda s: s.a * s.b)(Slotted(m(2.0), 3.0)).a,
    "an object that changes": lambda m, verb: verb(run_of_a_model)(Model(m(2.0), [])).a,
    "what a function has captured": lambda m, verb: verb(lambda f, x: f(x))(
        by_a_captured_number(m(2.0)), 3.0
    ).c,
    "the same list twice": lambda m, verb: (lambda v: verb(lambda a, b: a[0] * b[1], (0, 1))(v, v))(
        [m(2.0), 3.0]
    ),
}  # fmt: skip


def flat(x):
    if isinstance(x, (list, tuple)):
        return [each for item in x for each in flat(item)]
    x = x.primal if isinstance(x, Dual) else x
    return np.ravel(x).tolist()


@pytest.mark.parametrize("name", CASES)
def test_gradients_at_duals_are_those_at_their_values(name):
    case = CASES[name]
    plain = case(lambda x: x, wg.grad)
    assert flat(case(lambda x: Dual(x, 1.0), wg.grad)) == pytest.approx(flat(plain))
    both = lambda *args: lambda *point, **named: wg.value_and_grad(*args)(*point, **named)[1]
    assert flat(case(lambda x: Dual(x, 1.0), both)) == pytest.approx(flat(plain))


def test_arguments_are_left_as_one_call_leaves_them():
    v, seen, model = [Dual(2.0, 1.0), 3.0], [], Model(Dual(2.0, 1.0), [])
    array = np.array([2.0, 3.0])
    value, slope = wg.value_and_grad(doubled)(v)
    assert (value.primal, value.tangent) == (12.0, 6.0)
    assert [slope[0], slope[1].primal, slope[1].tangent] == [6.0, 4.0, 2.0]
    assert (v[0].primal, v[0].tangent, v[1]) == (4.0, 2.0, 3.0)
    wg.grad(kept)(Dual(2.0, 1.0), seen)
    assert [(x.primal, x.tangent) for x in seen] == [(2.0, 1.0)]
    wg.grad(run_of_a_model)(model)
    assert (model.a.primal, model.a.tangent) == (6.0, 3.0)
    assert model.history == [6.0]
    assert model.history[0].tangent == 3.0
    wg.grad(lambda v, c: doubled(v) * c)(array, Dual(1.0, 1.0))
    assert array.tolist() == [4.0, 3.0]
    wg.jacobian(lambda v, c: doubled(v) * v * c)(array, Dual(1.0, 1.0))
    assert array.tolist() == [8.0, 3.0]


def test_linear_maps_are_those_at_the_point_they_were_made_at():
    v = [Dual(2.0, 1.0), 3.0]
    y, back = wg.pullback(doubled, v)
    assert (y.primal, v[0].primal) == (12.0, 4.0)
    v[0] = 0.0
    for _ in range(2):
        first, second = back(1.0)[0]
        assert (first, second.primal, second.tangent) == (6.0, 4.0, 2.0)
    v = [Dual(2.0, 1.0), 3.0]
    y, push = wg.pushforward(doubled, v)
    assert (y.primal, v[0].primal) == (12.0, 4.0)
    for _ in range(2):
        assert push([1.0, 1.0]).primal == 10.0
    assert v[0].primal == 4.0


def test_a_function_is_run_once_for_a_gradient():
    runs = []

    def counted(x, y):
        runs.append(1)
        return math.sin(x) * y

    wg.gradient(counted, Dual(2.0, 1.0), 3.0)
    assert len(runs) == 1
    wg.pullback(counted, Dual(2.0, 1.0), 3.0)[1](1.0)
    assert len(runs) == 2


def test_passes_of_a_chunk_each_start_from_the_same_point():
    def summed(v):
        v[0] = v[0] * 2
        return v[0] * sum(v[1:])

    expected = [108.0, *[2.0] * 9]
    for start in (np.arange(1.0, 11.0), list(np.arange(1.0, 11.0))):
        for chunk in (1, 4, 10):
            point = start.copy()
            assert list(numbers.gradient(summed, point, chunk)) == expected
            assert point[0] == 2.0
            assert list(numbers.jacobian(summed, start.copy(), chunk)) == expected
    twice = lambda d: (d.update(a=d["a"] * 2), d["a"] * d["b"])[1]
    point = {"a": 2.0, "b": 3.0}
    assert numbers.pushforward(twice, (point,), ({"a": 1.0},)) == (12.0, 6.0)
    assert point == {"a": 4.0, "b": 3.0}


def test_gradients_of_complex_numbers_have_both_parts():
    f = lambda v: np.sum(np.abs(v) ** 2)
    point = np.array([1 + 1j, 2.0])
    np.testing.assert_allclose(numbers.gradient(f, point), [2 + 2j, 4], rtol=1e-15)
    np.testing.assert_allclose(numbers.gradient(f, point), wg.grad(f)(point), rtol=1e-15)
    with pytest.raises(NotScalar, match="one real number"):
        numbers.gradient(lambda v: v[0] ** 2, [1j])


REFUSED = {
    "two arguments": (lambda m: wg.derivative(lambda a, b: b * b)(1.0, m(1.0)), BadArgument),
    "an array": (lambda m: wg.derivative(lambda a: a * a)(m(np.ones(2))), BadArgument),
    "text as the result": (lambda m: wg.grad(lambda a: "text")(m(1.0)), NotScalar),
    "a truth value": (lambda m: wg.grad(lambda a: a > 0)(m(1.0)), NotScalar),
    "argnums of text": (lambda m: wg.grad(lambda a, b: a, 1)(m(1.0), "text"), BadArgument),
    "argnums of none": (lambda m: wg.grad(lambda a, b: a, 2)(m(1.0), 2.0), BadArgument),
    "argnums of a Jacobian": (lambda m: wg.jacobian(lambda a: a, 7)(m(1.0)), BadArgument),
    "no pair": (lambda m: wg.grad(lambda a: a * a, has_aux=True)(m(2.0)), NotScalar),
    "three items": (lambda m: wg.grad(lambda a: (a * a, 1, 2), has_aux=True)(m(2.0)), NotScalar),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_at_floats_is_refused_at_duals(name):
    call, error = REFUSED[name]
    for made in (lambda x: x, lambda x: Dual(x, 1.0)):
        with pytest.raises(error):
            call(made)


def test_an_integer_that_cannot_carry_a_derivative():
    f = lambda x, n: x * n if isinstance(n, int) else 0 * x
    assert wg.gradient(f, 2.0, 3) == (3.0, 2.0)
    with pytest.raises(BadArgument, match="an integer that carries a derivative: the result is"):
        wg.gradient(f, Dual(2.0, 1.0), 3)
    assert wg.grad(f)(Dual(2.0, 1.0), 3) == 3.0


def test_what_does_not_fit_in_a_call_by_numbers():
    with pytest.raises(BadTangent, match="a tangent of 1 item for a list of 2 items"):
        numbers.pushforward(lambda v: v[0], ([1.0, 2.0],), ([1.0],))
    with pytest.raises(BadTangent, match="keys"):
        numbers.pushforward(lambda d: d["a"], ({"a": 1.0},), ({"b": 1.0},))
    with pytest.raises(BadTangent, match="has the shape"):
        numbers.pushforward(lambda v: v, (np.ones(2),), (np.ones(3),))
    with pytest.raises(BadArgument, match="'a' is no number"):
        numbers.pushforward(lambda v: v, ("a",), (1.0,))
    with pytest.raises(BadArgument, match="no list, tuple or array of numbers"):
        numbers.gradient(lambda v: v[0][0], [[1.0, 2.0]])
    with pytest.raises(BadArgument, match=r"a chunk of 2\.0 directions"):
        numbers.gradient(sum, [1.0, 2.0], chunk=2.0)
    assert issubclass(BadTangent, WengertError)


def test_an_array_that_changes_keeps_its_directions_apart():
    def swept(v, c):
        v[0] = v[1] * v[2]
        v[1:] += v[0] * v[:-1]
        return np.sum(v**2) * c

    point = np.array([1.0, 2.0, 3.0])
    plain = wg.grad(swept)(point.copy(), 1.0)
    np.testing.assert_allclose(wg.grad(swept)(point.copy(), Dual(1.0, 1.0)).primal, plain)
    np.testing.assert_allclose(numbers.gradient(lambda v: swept(v, 1.0), point.copy()), plain)


def test_an_array_of_complex_numbers_can_change():
    def turned(v, c):
        v[0] = v[1] * 1j
        return abs(v[0] * c + v[1]) ** 2

    point = np.array([1 + 1j, 2.0 - 1j])
    plain = wg.grad(turned)(point.copy(), 3.0)
    np.testing.assert_allclose(wg.grad(turned)(point.copy(), Dual(3.0, 1.0)).primal, plain)
    v = Dual(np.array([1j, 1.0]), np.array([1, 0]))
    v[1] = v[0] * 0.5j
    assert v.tangent.tolist() == [1.0, 0.5j]


def test_an_array_of_indices():
    chosen = np.array([0, 2, 0])
    v = Dual(np.arange(3.0), np.ones(3))
    slope, of_indices = wg.gradient(lambda v, k: np.sum(v[k] ** 2), v, chosen)
    assert slope.primal.tolist() == [0.0, 0.0, 4.0]
    assert slope.tangent.tolist() == [4.0, 0.0, 2.0]
    assert of_indices.tolist() == [0.0, 0.0, 0.0]


LINEAR = {
    "pullback": (lambda a: wg.pullback(square, 1.0)[1](a * a)[0], lambda a: 2 * a * a),
    "pullback of an array": (
        lambda a: np.sum(wg.pullback(square, np.array([1.0, 2.0]))[1](np.array([a, a**3]))[0]),
        lambda a: 2 * a + 4 * a**3,
    ),
    "pullback of a list": (
        lambda a: wg.pullback(lambda v: [v[0] * v[1], v[0]], [1.0, 2.0])[1]([a, a * a])[0][0],
        lambda a: 2 * a + a * a,
    ),
    "pushforward": (lambda a: wg.pushforward(square, 1.0)[1](a), lambda a: 2 * a),
    "pushforward of an array": (
        lambda a: np.sum(wg.pushforward(square, np.array([1.0, 2.0]))[1](np.array([1.0, 2.0]) * a)),
        lambda a: 10 * a,
    ),
    "hvp": (lambda a: wg.hvp(lambda x: x**3)(2.0, a * a), lambda a: 12 * a * a),
    "hvp of an array": (
        lambda a: np.sum(wg.hvp(lambda x: np.sum(x**3))(np.ones(2), np.array([1.0, 2.0]) * a)),
        lambda a: 18 * a,
    ),
}


def square(t):
    return t * t


@pytest.mark.parametrize("name", LINEAR)
def test_linear_maps_at_plain_points_take_numbers_with_derivatives(name):
    found, meant = LINEAR[name]
    assert found(0.7) == pytest.approx(meant(0.7))
    assert numbers.derivative(found, 0.7) == pytest.approx(numbers.derivative(meant, 0.7))
    assert wg.taylor(found, 0.7, 3) == pytest.approx(wg.taylor(meant, 0.7, 3))
    in_two = found(Dual(0.7, (1.0, 2.0))).tangent
    assert (
        in_two[1] == pytest.approx(2 * in_two[0]) == pytest.approx(2 * wg.taylor(meant, 0.7, 1)[1])
    )
    twice = numbers.derivative(lambda a: numbers.derivative(found, a), 0.7)
    assert twice == pytest.approx(2 * wg.taylor(meant, 0.7, 2)[2])


def test_a_hessian_of_several_results_at_duals():
    several = lambda x: np.stack([x[0] ** 2 * x[1], x[1] ** 3])
    point = np.array([1.0, 2.0])
    plain = wg.hessian(several)(point)
    found = wg.hessian(several)(Dual(point, np.array([0.0, 1.0])))
    np.testing.assert_allclose(found.primal, plain)
    np.testing.assert_allclose(found.tangent, [[[2.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 6.0]]])
    with pytest.raises(NotScalar):
        wg.hessian(lambda x: "text")(Dual(1.0, 1.0))
