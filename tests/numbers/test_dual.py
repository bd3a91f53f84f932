"""Numbers that carry derivatives, through code that only asks for numbers."""

import copy
import functools
import heapq
import math
import operator
import pickle
import re
import statistics
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import accumulate, islice

import mpmath
import numpy as np
import pytest
import sympy

import wengert as wg
from wengert import numbers
from wengert.errors import (
    BadArgument,
    BadTangent,
    LostDerivative,
    LostWrite,
    MixedNumbers,
    NoRule,
    OrderExceeded,
    UnknownFunction,
)
from wengert.numbers import Taylor
from wengert.numbers.refusals import in_place_of

Dual = wg.Dual
D = numbers.derivative


# --- number types -----------------------------------------------------------------------------


def test_integers_stay_exact():
    assert (Dual(10**20, 1) ** 2).tangent == 2 * 10**20
    assert type((Dual(3, 1) ** 3).tangent) is int


def test_fractions_stay_fractions():
    y = (Dual(Fraction(1, 3), 1) ** 2 + 1) / 3
    assert (y.primal, y.tangent) == (Fraction(10, 27), Fraction(2, 9))


def test_decimals_keep_their_digits():
    with localcontext() as context:
        context.prec = 50
        x = Dual(Decimal(2), Decimal(1))
        assert (x.log10() * Decimal(10).ln() * 2).tangent == pytest.approx(
            Decimal(1), rel=Decimal("1e-48")
        )
        assert (x.sqrt() * x.sqrt()).tangent == pytest.approx(Decimal(1), rel=Decimal("1e-48"))


def test_a_function_that_a_library_lacks_is_refused():
    with pytest.raises(NoRule, match="sin of a Decimal"):
        Dual(Decimal(2), Decimal(1)).sin()


MPMATH = ["exp", "sin", "log10", "erf", "tanh", "gamma", "atanh", "log1p", "cbrt", "asin"]


@pytest.mark.parametrize("name", MPMATH)
def test_mpmath_to_forty_digits(name):
    with mpmath.workdps(40):
        x = mpmath.mpf("0.3")
        found = getattr(Dual(x, mpmath.mpf(1)), name)().tangent
        expected = mpmath.diff(getattr(mpmath, name), x)
        assert abs(found / expected - 1) < mpmath.mpf(10) ** -20


def test_the_constants_of_rules_have_the_digits_of_their_operands():
    with mpmath.workdps(60):
        x = mpmath.mpf(2)
        found = Dual(x, mpmath.mpf(1)).log10().tangent
        assert abs(found * x * mpmath.log(10) - 1) < mpmath.mpf(10) ** -58
        assert abs((Dual(x, mpmath.mpf(1)) / 3).tangent * 3 - 1) < mpmath.mpf(10) ** -58


def test_symbols():
    x = sympy.Symbol("x", positive=True)
    for f in (np.sin, np.exp, np.sqrt, np.tanh, lambda x: x**x, lambda x: 1 / (1 + x * x)):
        found = f(Dual(x, 1)).tangent
        assert sympy.simplify(found - sympy.diff(f(Dual(x, 0)).primal, x)) == 0


def test_a_tower_of_symbols():
    x = sympy.Symbol("x")
    found = list(islice(wg.derivatives(np.sin, x), 3))
    assert found == [sympy.sin(x), sympy.cos(x), -sympy.sin(x)]


def test_complex_numbers():
    z = Dual(3 + 4j, 1.0)
    assert abs(z).tangent == pytest.approx(0.6)
    assert z.real.tangent == 1.0
    assert (z * z.conjugate()).primal == 25


# --- arrays --------------------------------------------------------------------------------------

V = Dual(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, -1.0]))


@pytest.mark.parametrize(
    "f",
    [
        np.sum,
        lambda v: v @ v,
        lambda v: np.sum(np.tanh(v) ** 2),
        lambda v: np.max(v * v),
        lambda v: np.linalg.norm(v),
        lambda v: v[1] * v[0],
        lambda v: np.sum(np.concatenate([v, 2 * v])[2:5]),
        lambda v: np.where(v > 1.5, v, -v).sum(),
        lambda v: np.mean(v.reshape(3, 1) * v),
        lambda v: np.prod(v),
        lambda v: np.linalg.det(np.outer(v, v) + np.eye(3)),
        lambda v: np.linalg.solve(np.diag(np.array([1.0, 2.0, 4.0])), v)[2],
        lambda v: np.add.reduce(v),
        lambda v: np.var(v),
        lambda v: np.interp(v[0] + 0.5, np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0])),
        lambda v: np.dot(np.cumsum(v), v),
        lambda v: np.polyval([2.0, 3.0, 4.0], v[1]) * v[0],
        lambda v: np.sum(np.trapezoid(v * v)),
    ],
)
def test_numpy_functions(f):
    with_step = [f(V.primal + h * V.tangent) for h in (1e-6, -1e-6)]
    expected = (with_step[0] - with_step[1]) / 2e-6
    assert f(V).tangent == pytest.approx(expected, rel=1e-8)
    (gradient,) = wg.gradient(f, V.primal)
    assert f(V).tangent == pytest.approx(gradient @ V.tangent, rel=1e-13)


def test_arrays_of_duals():
    a = np.array([Dual(1.0, 1.0), Dual(2.0, 0.0)])
    found = np.sin(a) * a
    assert found[0].tangent == pytest.approx(math.cos(1.0) + math.sin(1.0))
    assert (a @ a).tangent == 2.0


def test_an_array_keeps_the_shape_of_its_tangent():
    y = Dual(2.0, 1.0) + np.zeros((2, 3))
    assert y.tangent.shape == (2, 3)
    assert Dual(np.zeros(3), 1.0).tangent.tolist() == [1.0] * 3
    assert np.sum(Dual(np.zeros(3), (np.ones(3), np.zeros(3)))).tangent == (3.0, 0.0)


def test_arrays_change_in_place_with_their_tangents():
    def f(x):
        y = x * 1.0
        view = y[1:]
        view += x[:2] * 10
        y[0] = x[2] ** 2
        np.multiply(y, 2.0, out=y)
        return np.sum(y * x)

    x, dot = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0, 0.5])
    (gradient,) = wg.gradient(f, x)
    given = x.copy()
    assert numbers.pushforward(f, (given,), (dot,))[1] == pytest.approx(gradient @ dot, rel=1e-14)
    assert given.tolist() == x.tolist()
    assert dot.tolist() == [1.0, -1.0, 0.5]
    both = f(Dual(x, (dot, 2 * dot)))
    assert both.tangent == pytest.approx((gradient @ dot, 2 * (gradient @ dot)))
    nested = Dual(Dual(x, dot), Dual(dot, 0 * dot))
    second = D(lambda t: numbers.pushforward(f, (x + t * dot,), (dot,))[1], 0.0)
    assert f(nested).tangent.tangent == pytest.approx(second)


def test_an_array_of_integers_takes_no_dual():
    a = Dual(np.array([1, 2, 3]), np.zeros(3))
    assert "keeps the integer part" in refusal(LostWrite, lambda: a.__setitem__(0, Dual(1.0, 1.0)))
    assert "does not change in place" in refusal(
        LostWrite, lambda: Taylor([np.zeros(2), np.ones(2)]).__setitem__(0, 1.0)
    )
    assert "has no method 'sort'" in refusal(UnknownFunction, lambda: V.sort())


def test_tangents_of_complex_arrays_are_complex_however_deep():
    def f(z):
        k = np.zeros_like(z)
        k[1:] = 1j * z[:-1]
        k *= z
        k -= 1j * k
        return np.sum(np.abs(k) ** 2)

    z, v = np.array([0.3 + 0.4j, 1.0 - 0.2j]), np.array([1.0 + 2.0j, 0.5 - 1.0j])
    found = D(lambda t: D(lambda s: f(z + (s + t) * v), 0.0), 0.0)

    def exact(t):
        a, b = (mpmath.mpc(x) + t * mpmath.mpc(d) for x, d in zip(z, v, strict=True))
        return abs(a * b * (1 - mpmath.j)) ** 2

    with mpmath.workdps(30):
        expected = float(mpmath.diff(exact, 0, 2))
    assert found == pytest.approx(expected, rel=1e-12)


# --- code without source -------------------------------------------------------------------------


def test_functions_without_source():
    assert functools.reduce(operator.mul, [Dual(2.0, 1.0), 3.0, Dual(4.0, 0.0)]).tangent == 12.0
    assert sorted([3.0, Dual(-2.0, 1.0)], key=operator.neg)[1].tangent == 1.0
    assert list(accumulate([Dual(1.0, 1.0)] * 3))[-1].tangent == 3.0
    assert max(Dual(1.0, 1.0), Dual(2.0, 5.0)).tangent == 5.0
    assert math.prod([Dual(2.0, 1.0), Dual(3.0, 0.0)]).tangent == 3.0
    assert sum([Dual(1.0, 1.0)] * 5000).tangent == 5000.0
    assert D(operator.methodcaller("exp"), 0.0) == 1.0


def test_a_class_of_the_users():
    class Quaternion:
        def __init__(self, *parts):
            self.parts = parts

        def __mul__(self, other):
            a, b = self.parts[:2]
            c, d = other.parts[:2]
            return Quaternion(a * c - b * d, a * d + b * c)

    q = Quaternion(Dual(1.0, 1.0), Dual(2.0, 0.0))
    assert (q * q).parts[0].tangent == 2.0


def test_the_callback_of_an_integrator():
    integrate = pytest.importorskip("scipy.integrate")

    def slope(x, a):
        return np.exp(-Dual(a, 1.0) * x * x).tangent

    def value(a):
        return integrate.quad(lambda x: math.exp(-a * x * x), 0, 1)[0]

    found, _ = integrate.quad(slope, 0, 1, args=(1.3,))
    expected = (value(1.3 + 1e-5) - value(1.3 - 1e-5)) / 2e-5
    assert found == pytest.approx(expected, rel=1e-8)


def heavier(a, b):
    return (a.weight > b.weight) - (a.weight < b.weight)


class Parcel:
    def __init__(self, weight, price):
        self.weight, self.price = weight, price

    def __lt__(self, other):
        return self.weight < other.weight

    def __add__(self, other):
        return Parcel(self.weight + other.weight, self.price + other.price)

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __rmul__(self, factor):
        return Parcel(factor * self.weight, factor**2 * self.price)


@pytest.mark.parametrize(
    "order", [None, operator.attrgetter("weight"), functools.cmp_to_key(heavier)]
)
def test_objects_with_operators_go_through_code_without_source(order):
    def price(x):
        parcels = [Parcel(3.0, x), x * Parcel(1.0, 2.0), Parcel(x, x * x)]
        parcels.sort(key=order)
        lightest, *_ = heapq.nsmallest(1, parcels, key=order)
        total = functools.reduce(operator.add, parcels)
        return (sum(parcels) + total).price + lightest.price

    x = 0.5  # the lightest is the second, or the third: 2 x² or x²
    found, slope = price(x), D(price, x)
    with mpmath.workdps(30):
        expected = mpmath.diff(price, mpmath.mpf(x), h=mpmath.mpf("1e-12"))
    assert slope == pytest.approx(float(expected), rel=1e-9)
    assert found == pytest.approx(price(mpmath.mpf(x)), rel=1e-15)


def test_what_has_to_be_a_float_says_what_to_do_where_the_user_called_it():
    integrate = pytest.importorskip("scipy.integrate")

    def area(a):
        return integrate.quad(lambda x: a * x, 0, 1)[0]

    text = refusal(LostDerivative, lambda: area(Dual(2.0, 1.0)))
    assert "integrate.quad(lambda x: a * x, 0, 1)" in text
    assert "scipy computes with floats. `wg.derivative` and `wg.grad` know its solvers" in text
    text = refusal(LostDerivative, lambda: statistics.mean([Dual(1.0, 1.0), 2.0]))
    assert "statistics computes with floats" in text


FUNCTIONS_OF_FLOATS = sorted(
    name
    for name in dir(math)
    if callable(getattr(math, name))
    and not name.startswith("_")
    and name not in ("prod", "sumprod")
)


@pytest.mark.parametrize("name", FUNCTIONS_OF_FLOATS)
def test_what_is_suggested_for_a_function_of_math_exists(name):
    text = in_place_of("math", name, getattr(math, name))
    suggested = re.findall(r"`(np|wg\.ops)\.(\w+)`", text)
    assert suggested or "takes nothing else" in text or "has a rule" in text
    for place, function in suggested:
        assert hasattr(np if place == "np" else wg.ops, function)


def test_statistics_of_fractions():
    found = D(lambda x: sum([x, 2 * x, 6]) / 3, Fraction(3))
    assert found == 1
    assert statistics.fmean([1.0]) == 1.0


def by_math(x):
    return math.sin(x) * math.exp(-x) + math.log(x, 3) + math.pow(x, 1.5)


def recursive(x, n):
    return 1.0 if n == 0 else math.sqrt(x) * recursive(x, n - 1)


def test_functions_that_call_math():
    assert D(by_math, 1.3) == pytest.approx(wg.derivative(by_math)(1.3), rel=1e-14)
    assert D(lambda x: recursive(x, 3), 2.0) == pytest.approx(1.5 * math.sqrt(2), rel=1e-14)
    assert D(math.sin, 0.0) == 1.0
    assert list(islice(wg.derivatives(math.exp, 0.0), 3)) == [1.0, 1.0, 1.0]
    assert wg.taylor(functools.partial(math.atan2, 1.0), 1.0, 1)[1] == pytest.approx(-0.5)
    assert str(wg.trace(lambda a, b: a * b + math.sin(b), 2.0, 3.0)) == "a * b + sin(b)"
    assert math.sin(0.5) == np.sin(0.5)  # the module itself is as it was


def test_data_in_a_closure_stay_shared():
    calls = 0

    def counted(x):
        nonlocal calls
        calls += 1
        return math.cos(x)

    assert D(counted, 0.0) == 0.0
    assert calls == 1


# --- as a number has it --------------------------------------------------------------------------


def test_conversions():
    x = Dual(2.7, 1.0)
    assert (int(x), math.floor(x), math.ceil(x), math.trunc(x)) == (2, 2, 3, 2)
    assert round(x) == 3
    assert (round(x, 1).primal, round(x, 1).tangent) == (2.7, 0.0)
    assert divmod(Dual(7.5, 1.0), 2)[1].tangent == 1.0
    assert bool(Dual(0.0, 1.0)) is False
    assert f"{x:.2f}" == "Dual(2.70, 1.00)"
    assert repr(Dual(1.0, (2.0, 3.0))) == "Dual(1.0, (2.0, 3.0))"
    assert repr(Taylor([1.0, 2.0], order=2)) == "Taylor([1.0, 2.0, 0.0], order=2)"


def test_copies_and_pickles():
    x = Dual(2.0, 1.0)
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (other.primal, other.tangent, other.level) == (2.0, 1.0, x.level)


def test_kinks_are_those_of_the_rules():
    assert abs(Dual(0.0, 1.0)).tangent == 0.0
    assert np.maximum(Dual(1.0, 1.0), Dual(1.0, 2.0)).tangent == 1.0
    assert np.sqrt(Dual(0.0, 1.0)).tangent == math.inf


@pytest.mark.parametrize("sequence", ["ab", b"ab", [1], (1.0, 2.0)])
def test_sequences_are_repeated_by_integers_alone(sequence):
    assert sequence * Dual(2, 1) == Dual(2, 1) * sequence == sequence * 2
    for repeat in (lambda n: sequence * n, lambda n: n * sequence):
        with pytest.raises(BadArgument, match="no integer, and cannot count") as refused:
            repeat(Dual(2.0, 1.0))
        assert "(lambda n: sequence * n, lambda n: n * sequence)" in str(refused.value)
    assert ([1.0, 2.0] * Dual(np.ones(2), np.ones(2))).tangent.tolist() == [1.0, 2.0]


def test_integers_count_and_index():
    n = Dual(3, 1)
    assert list(range(n)) == [0, 1, 2]
    assert "abcd"[n] == "d"
    assert np.arange(5.0)[n] == 3.0
    assert math.factorial(n) == 6
    assert (n & 1, n | 4, n ^ 1, 1 << n, n >> 1, ~n) == (1, 7, 2, 8, 1, -4)
    assert (np.float64(2.0) * n).tangent == 2.0


def test_a_function_that_is_no_op_is_refused():
    with pytest.raises(NoRule, match="busday_count is no op"):
        np.busday_count(Dual(1.0, 1.0), 2)


# --- refusals ------------------------------------------------------------------------------------


def refusal(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value)


def test_math_says_what_to_write():
    x = Dual(1.0, 1.0)
    text = refusal(LostDerivative, lambda: math.sin(x))
    assert text.startswith(
        "[WG206] a float has no derivative, so that of Dual(1.0, 1.0) would be lost"
    )
    assert "math.sin(x)" in text
    assert "^^^^^^^^^^^" in text
    assert "Write `np.sin` or `wg.ops.sin` in the place of `math.sin`." in text
    assert "`np.arctan(x)`, `x.atan()`" in refusal(LostDerivative, lambda: math.atan(x))
    assert "a complex number" in refusal(LostDerivative, lambda: complex(x))


def test_an_array_of_floats_does_not_take_a_dual():
    a = np.zeros(2)

    def write():
        a[0] = Dual(1.0, 1.0)

    with pytest.raises(ValueError, match="setting an array element") as caught:
        write()
    assert isinstance(caught.value.__cause__, LostDerivative)


def test_unknown_functions():
    text = refusal(UnknownFunction, lambda: Dual(1.0, 1.0).foo)
    assert text.startswith("[WG205] a Dual has no attribute or function 'foo'")
    assert not hasattr(Dual(1.0, 1.0), "foo")
    assert "what an array of floats is given has no derivative" in refusal(
        LostDerivative, lambda: np.sin(Dual(1.0, 1.0), out=np.zeros(1))
    )
    assert "writes to its result" in refusal(
        UnknownFunction, lambda: np.sin(Taylor([1.0, 1.0]), out=np.zeros(1))
    )


def test_numbers_that_do_not_belong_together():
    text = refusal(MixedNumbers, lambda: Dual(1.0, (1.0, 0.0)) * Dual(1.0, (1.0, 0.0, 0.0)))
    assert "mul of duals with 2 and 3 directions" in text
    text = refusal(MixedNumbers, lambda: Dual(1.0, 1.0) * Taylor([1.0, 1.0]))
    assert "mul of a Dual and a Taylor that carry the same infinitesimal" in text
    assert "has the shape (2,), its primal the shape (3,)" in refusal(
        BadTangent, lambda: Dual(np.zeros(3), np.zeros(2))
    )
    assert "2 primals and 1 tangents" in refusal(
        BadTangent, lambda: numbers.pushforward(np.add, (1.0, 2.0), (1.0,))
    )


def test_a_truncated_order_exceeded():
    y = Taylor([1.0, 1.0], order=2).exp()
    assert "[WG208] order 3 of a Taylor number that keeps order 2" in refusal(
        OrderExceeded, lambda: y.derivative(3)
    )
    assert "Taylor polynomial of degree -1" in refusal(
        BadArgument, lambda: wg.taylor(np.sin, 0.0, -1)
    )
    assert "3 coefficients of a Taylor number of order 1" in refusal(
        BadArgument, lambda: Taylor([1, 2, 3], order=1)
    )


def test_partials_and_iterations_refuse_nonsense():
    p = numbers.partials(lambda x, y: x * y, 1.0, 2.0)
    assert "1 orders of a function of 2 variables" in refusal(BadArgument, lambda: p[1])
    assert "no step leads on from 0.0" in refusal(
        BadArgument, lambda: list(numbers.newton(lambda x: x * x + 1, 0.0))
    )
    assert "a chunk of 0" in refusal(BadArgument, lambda: numbers.jacobian(np.sin, [1.0], 0))
    assert "do not allow" in refusal(
        BadArgument, lambda: list(numbers.constrained_descent(sum, [lambda v: v[0]], [-1.0]))
    )


@pytest.mark.parametrize("function", [np.cumsum, np.cumprod, np.sum, np.max, np.mean])
def test_a_result_is_written_to_a_dual_and_to_no_plain_array(function):
    x = wg.Dual(np.array([0.3, 1.4, -0.8]), np.array([1.0, 0.0, 2.0]))
    expected = function(x)
    place = wg.Dual(np.zeros(expected.shape), np.zeros(expected.shape))
    assert function(x, out=place) is place
    np.testing.assert_array_equal(place.primal, expected.primal)
    np.testing.assert_array_equal(place.tangent, expected.tangent)
    with pytest.raises(wg.WengertError, match="WG206"):
        function(x, out=np.zeros(expected.shape))


def test_operators_of_symbols_leave_the_operation_to_the_dual():
    t, s = sympy.symbols("t s")
    x = Dual(t, 1)
    for found, expected in (
        (s * x, s),
        (s + x, 1),
        (s - x, -1),
        (s / x, -s / t**2),
        (s**x, s**t * sympy.log(s)),
    ):
        assert sympy.simplify(found.tangent - expected) == 0
    assert numbers.derivative(lambda x: s * x**2, t) == 2 * s * t
    assert s != x


@pytest.mark.parametrize("function", [sympy.sin, mpmath.sin])
def test_functions_of_other_libraries_say_what_to_write(function):
    with pytest.raises(LostDerivative, match=r"has no derivative[\s\S]*`np\.sin`|`np\.sin\(x\)`"):
        function(Dual(mpmath.mpf(1), 1))


def test_numbers_of_python_beside_those_of_mpmath():
    two = Dual(mpmath.mpf(2), 1)
    assert np.arctan2(1.0, two).tangent == pytest.approx(-0.2)
    assert np.arctan2(two, 1.0).tangent == pytest.approx(0.2)
    assert np.hypot(1.0, two).tangent == pytest.approx(2 / 5**0.5)
    value, slope = wg.taylor(np.exp2, mpmath.mpf(1), 1)
    assert (value, type(slope), slope) == (2, mpmath.mpf, 2 * mpmath.log(2))


def test_descents_of_functions_that_call_math_and_of_arrays():
    for descend, f in (
        (numbers.gradient_ascent, lambda v: -math.cosh(v[0])),
        (numbers.gradient_descent, lambda v: math.cosh(v[0])),
        (numbers.conjugate_gradient_ascent, lambda v: -math.cosh(v[0])),
        (numbers.conjugate_gradient_descent, lambda v: math.cosh(v[0])),
    ):
        (second,) = next(islice(descend(f, [1.0]), 1, 2))
        assert abs(second) < 1.0
    squares, start = lambda v: np.sum((v - 1) ** 2), np.array([[0.0], [3.0]])
    assert next(islice(numbers.gradient_descent(squares, start), 1, 2)).tolist() == [[0.2], [2.6]]
    assert next(islice(numbers.conjugate_gradient_descent(squares, start), 1, 2)).tolist() == [
        [1.0],
        [1.0],
    ]
    inside = numbers.constrained_descent(
        lambda v: math.cosh(v[0]), [lambda v: math.exp(v[0]) - 2], [1.0]
    )
    *_, (last,) = islice(inside, 400)
    assert last == pytest.approx(math.log(2), rel=1e-4)
    with pytest.raises(BadArgument, match="the constraints are one function"):
        numbers.constrained_descent(squares, lambda v: v[0], start)


def test_items_and_memory_of_an_array():
    x = Dual(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]]))
    assert [(y.primal, y.tangent) for y in (x.item(1), x.item(1, 0))] == [(2.0, 6.0), (3.0, 7.0)]
    assert numbers.derivative(lambda a: np.stack([a, a * a]).item(1), 3.0) == 6.0
    assert Taylor([np.ones(2), np.array([2.0, 3.0])]).item(1).coefficient(1) == 3.0
    assert (x.nbytes, x.itemsize, x.strides) == (32, 8, (16, 8))


def test_distances_of_any_numbers():
    with mpmath.workdps(30):
        two = mpmath.mpf(2)
        slope = wg.numbers.derivative(lambda a: math.dist([a, 1], [5, 5]), two)
        assert abs(slope + mpmath.mpf(3) / 5) < mpmath.mpf(10) ** -29
