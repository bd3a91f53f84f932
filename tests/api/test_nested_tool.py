"""Derivatives as a tool inside the programs that are differentiated, to third order.

The inner function closes over what the outer derivative is taken in, and stands in loops that run until
they converge. Expected values are closed forms, or numbers that are known exactly.
"""

# programs under test are written as users write them

import functools
import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from error_texts import message, place, refusal

import wengert as wg
from wengert.errors import NoRule, UnsupportedSyntax


def close(found, expected, rtol=1e-9):
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-10)


# --- one number: every mix of verbs -----------------------------------------------------------

VERBS = {
    "grad": wg.grad,
    "gradient": lambda f: lambda x: wg.gradient(f, x)[0],
    "value_and_grad": lambda f: lambda x: wg.value_and_grad(f)(x)[1],
    "derivative": wg.derivative,
    "pushforward": lambda f: lambda x: wg.pushforward(f, x)[1](1.0),
    "pullback": lambda f: lambda x: wg.pullback(f, x)[1](1.0)[0],
    "jacobian": wg.jacobian,
    "forward jacobian": lambda f: wg.jacobian(f, mode="forward"),
    "reverse jacobian": lambda f: wg.jacobian(f, mode="reverse"),
}


def wave(x):
    return math.exp(0.5 * x) * math.sin(x) + x**3


@pytest.fixture(scope="module")
def wave_derivatives():
    with mp.workdps(40):
        f = lambda x: mp.exp(x / 2) * mp.sin(x) + x**3
        return {n: float(mp.diff(f, mp.mpf("0.7"), n)) for n in (1, 2, 3)}


BASIC = ("grad", "derivative", "pushforward", "pullback", "forward jacobian")
MIXED = [
    *itertools.product(VERBS),
    *itertools.product(VERBS, repeat=2),
    *itertools.product(BASIC, repeat=3),
    *((verb, verb, verb) for verb in VERBS if verb not in BASIC),
]


@pytest.mark.parametrize("verbs", MIXED)
def test_every_mix_of_verbs(verbs, wave_derivatives):
    f = wave
    for verb in verbs:
        f = VERBS[verb](f)
    close(f(0.7), wave_derivatives[len(verbs)])


@pytest.mark.parametrize("outer", VERBS)
@pytest.mark.parametrize("inner", VERBS)
def test_the_inner_function_closes_over_the_outer_argument(outer, inner):
    """d/dx [x · d/dy (x y² + sin(x y)) at y = x²]"""
    D, E = VERBS[outer], VERBS[inner]

    def f(x):
        return x * E(lambda y: x * y * y + math.sin(x * y))(x * x)

    with mp.workdps(40):
        exact = lambda x: x * (2 * x * x * x + x * mp.cos(x * x * x))
        expected = [float(mp.diff(exact, mp.mpf("0.8"), n)) for n in (1, 2)]
    close(D(f)(0.8), expected[0])
    close(D(D(f))(0.8), expected[1])


CONFUSION = {
    "x · d/dy (x + y)": (lambda D: D(lambda x: x * D(lambda y: x + y)(1.0))(1.0), 1.0),
    "d/dx d/dy x": (lambda D: D(lambda x: D(lambda y: x)(1.0))(1.0), 0.0),
    "d/dx (x · d/dy x y)": (lambda D: D(lambda x: x * D(lambda y: x * y)(2.0))(3.0), 6.0),
    "three levels": (
        lambda D: D(lambda x: x * D(lambda y: y * x * D(lambda z: x * y * z)(3.0))(2.0))(5.0),
        12 * 5.0**2,
    ),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("program", CONFUSION)
def test_perturbations_are_not_confused(verb, program):
    run, expected = CONFUSION[program]
    close(run(VERBS[verb]), expected)


# --- arrays: the third derivative of a form of third degree --------------------------------------

RNG = np.random.default_rng(7)
T = RNG.normal(size=(3, 3, 3))
S = sum(np.transpose(T, order) for order in itertools.permutations(range(3)))
X = np.array([0.3, -0.7, 1.1])
V, W = np.array([1.0, -2.0, 0.5]), np.array([0.2, 0.4, -1.0])


def form(x):
    return np.einsum("ijk,i,j,k->", T, x, x, x) + np.sum(np.sin(x))


FIRST = np.einsum("ijk,j,k->i", S, X, X) / 2 + np.cos(X)
SECOND = np.einsum("ijk,k->ij", S, X) - np.diag(np.sin(X))
THIRD = S - np.einsum("ij,jk,i->ijk", np.eye(3), np.eye(3), np.cos(X))

JACOBIANS = {
    "auto": wg.jacobian,
    "forward": lambda f: wg.jacobian(f, mode="forward"),
    "reverse": lambda f: wg.jacobian(f, mode="reverse"),
    "pushforwards": lambda f: (
        lambda x: np.stack([wg.pushforward(f, x)[1](e) for e in np.eye(3)], axis=-1)
    ),
}
GRADIENTS = {
    **JACOBIANS,
    "grad": wg.grad,
    "gradient": lambda f: lambda x: wg.gradient(f, x)[0],
    "pullback": lambda f: lambda x: wg.pullback(f, x)[1](1.0)[0],
}


@pytest.mark.parametrize("first", GRADIENTS)
@pytest.mark.parametrize("second", JACOBIANS)
def test_jacobians_of_jacobians(first, second):
    gradient = GRADIENTS[first](form)
    hessian = JACOBIANS[second](gradient)
    close(gradient(X), FIRST)
    close(hessian(X), SECOND)
    for third in JACOBIANS.values():
        close(third(hessian)(X), THIRD)


@pytest.mark.parametrize("outer", GRADIENTS)
def test_hessians_inside(outer):
    D = GRADIENTS[outer]
    close(D(lambda x: V @ wg.hvp(form)(x, W))(X), np.einsum("ijk,i,j->k", THIRD, V, W))
    close(D(lambda x: V @ wg.hessian(form)(x) @ W)(X), np.einsum("ijk,i,j->k", THIRD, V, W))
    close(D(lambda x: V @ wg.diag_hessian(form)(x))(X), np.einsum("iik,i->k", THIRD, V))
    close(D(lambda x: np.trace(wg.jacobian(D(form))(x)))(X), np.einsum("iik->k", THIRD))


@pytest.mark.parametrize("inner", GRADIENTS)
def test_hessians_outside(inner):
    D = GRADIENTS[inner]
    f = lambda x: V @ D(form)(x)
    close(wg.hessian(f)(X), np.einsum("ijk,i->jk", THIRD, V))
    close(wg.hvp(f)(X, W), np.einsum("ijk,i,j->k", THIRD, V, W))
    close(wg.diag_hessian(f)(X), np.einsum("ijj,i->j", THIRD, V))


def test_a_legendre_transform():
    """From the Lagrangian of a falling body to Hamilton's equations: dp/dt = -∂H/∂q = -m g."""
    mass, gravity = 2.0, 4.9

    def lagrangian(q, v):
        return mass / 2 * (v @ v) - mass * gravity * q[1]

    def hamiltonian(q, p):
        at_rest = np.zeros(2)
        factor = np.linalg.cholesky(wg.hessian(lambda v: lagrangian(q, v))(at_rest))
        v = np.linalg.solve(factor.T, np.linalg.solve(factor, p))
        assert_like = wg.grad(lambda v: lagrangian(q, v))(v)
        return assert_like @ v - lagrangian(q, v)

    q, p = np.array([0.3, 1.2]), np.array([1.0, -2.0])
    close(wg.grad(hamiltonian)(q, p), np.array([0.0, 9.8]))
    close(wg.grad(hamiltonian, 1)(q, p), p / mass)
    close(wg.hessian(lambda p: hamiltonian(q, p))(p), np.eye(2) / mass)


# --- loops that run until they converge ------------------------------------------------------------

MODES = {"f": lambda f: wg.jacobian(f, mode="forward"), "r": wg.grad}
MIXES = ["ff", "fr", "rf", "rr"]


def lowest(f, gradient, x):
    """Where f is smallest: descent whose steps grow as long as they lead down."""
    value, slope, step, good = f(x), gradient(x), 1e-5, 0
    while math.sqrt(slope @ slope) > 1e-5:
        if good == 10:
            step, good = 2 * step, 0
            continue
        there = x - step * slope
        if math.sqrt((there - x) @ (there - x)) <= 1e-5:
            return x
        below = f(there)
        if below < value:
            x, value, slope, good = there, below, gradient(there), good + 1
        else:
            step, good = step / 2, 0
    return x


# what is found depends on x by comparisons alone, as it does here: the lowest y is the same for every x
@pytest.mark.filterwarnings("ignore::wengert.errors.DerivativeWarning")
@pytest.mark.parametrize("mix", MIXES)
def test_saddle(mix):
    """A minimum over x of a maximum over y: GradBench's `saddle`, whose result is known."""
    outer, inner = MODES[mix[0]], MODES[mix[1]]
    start = np.array([1.0, 1.0])

    def height(x, y):
        return x @ x - y @ y

    def worst(x):
        below = lambda y: -height(x, y)
        return lowest(below, inner(below), start)

    highest = lambda x: height(x, worst(x))
    x = lowest(highest, outer(highest), start)
    expected = np.full(2, 8.246324826140356e-06)
    np.testing.assert_allclose(x, expected, rtol=1e-9)
    np.testing.assert_allclose(worst(x), expected, rtol=1e-9)


@pytest.mark.parametrize("mix", MIXES)
def test_particle(mix):
    """A charge is chosen so that a particle lands at the origin: GradBench's `particle`."""
    outer, inner = MODES[mix[0]], MODES[mix[1]]

    def landing(w):
        charges = [np.array([10.0, 10.0 - w[0]]), np.array([10.0, 0.0])]

        def potential(x):
            return sum(1.0 / math.sqrt((x - q) @ (x - q)) for q in charges)

        force, dt = inner(potential), 0.1
        x, v = np.array([0.0, 8.0]), np.array([0.75, 0.0])
        there = x + dt * v
        while there[1] > 0:
            x, v = there, v - dt * force(x)
            there = x + dt * v
        return (x[0] - x[1] / v[1] * v[0]) ** 2

    w = lowest(landing, outer(landing), np.array([0.0]))
    np.testing.assert_allclose(w, [0.2071918746486116], rtol=1e-9)


@pytest.mark.parametrize("outer", VERBS)
@pytest.mark.parametrize("inner", ["grad", "derivative", "pushforward"])
def test_newtons_method_with_derivatives_of_its_own(outer, inner):
    """x² = a by Newton, the slope by a verb: x' and x'' from unrolling."""

    def root(a):
        f = lambda x: x * x - a
        slope = VERBS[inner](f)
        x = 1.0
        while abs(f(x)) > 1e-13:
            x = x - f(x) / slope(x)
        return x - f(x) / slope(x)

    close(VERBS[outer](root)(3.0), 0.5 / math.sqrt(3))
    close(VERBS[outer](VERBS[outer](root))(3.0), -0.25 * 3**-1.5)


def test_halleys_method_to_third_order():
    """The third derivative passes through a step that itself takes two."""

    def root(a):
        f = lambda x: x**3 - a
        first, second = wg.derivative(f), wg.derivative(f, order=2)
        x = 1.5
        for _ in range(6):
            y, d, dd = f(x), first(x), second(x)
            x = x - 2 * y * d / (2 * d * d - y * dd)
        return x

    expected = [2 ** (1 / 3 - n) * c for n, c in ((1, 1 / 3), (2, -2 / 9), (3, 10 / 27))]
    for order, value in enumerate(expected, 1):
        close(wg.derivative(root, order=order)(2.0), value)
    close(wg.grad(wg.grad(wg.grad(root)))(2.0), expected[2])


# --- pullbacks and pushforwards are values ------------------------------------------------------------


def test_a_pullback_may_be_called_any_number_of_times():
    def twice(x):
        _, back = wg.pullback(lambda t: t**3, x)
        return back(1.0)[0] + back(10.0)[0]

    def in_a_loop(x):
        _, back = wg.pullback(lambda t: t**3, x)
        total = 0.0
        for k in range(1, 4):
            total += back(float(k))[0] * k
        return total

    for verb in VERBS.values():
        close(verb(twice)(2.0), 11 * 12.0)
        close(verb(in_a_loop)(2.0), 14 * 12.0)


def test_a_pushforward_may_be_called_any_number_of_times():
    def twice(x):
        _, push = wg.pushforward(lambda t: t**3, x)
        return push(1.0) + push(10.0)

    def where_it_matters(x):
        y, push = wg.pushforward(lambda t: t**3, x)
        total = push(1.0)
        if y > 3:
            total += push(10.0)
        return total

    for verb in VERBS.values():
        close(verb(twice)(2.0), 11 * 12.0)
        close(verb(where_it_matters)(2.0), 11 * 12.0)


def test_tangents_of_containers():
    f = lambda p: p["a"] * p["b"][0] ** 2

    def along(t):
        point = {"a": t, "b": [3.0 * t, 1.0]}
        return wg.pushforward(f, point)[1]({"a": 1.0, "b": [t, None]})

    close(wg.derivative(along)(2.0), 2 * 9 * 2.0 + 3 * 6 * 2.0**2)


def test_none_is_a_zero_that_meets_nothing():
    """0 · ∞ would not be zero: what does not move has no derivative."""
    power = lambda x, y: x**y
    _, push = wg.pushforward(power, -2.0, 3.0)
    assert push(1.0, None) == 12.0
    assert push(None, None) == 0.0
    close(wg.derivative(lambda t: wg.pushforward(power, -2.0 * t, 3.0)[1](1.0, None))(1.0), 24.0)


def test_results_without_derivative_beside_those_with_one():
    f = lambda x: (x * x, x > 1, "text")
    close(wg.grad(lambda x: wg.pushforward(f, x)[1](1.0)[0])(3.0), 2.0)
    close(wg.grad(lambda x: wg.pullback(f, x)[1]((1.0, None, None))[0])(3.0), 2.0)


# --- where the inner function comes from ---------------------------------------------------------------

fourth_power = lambda x: x**4
slope_of_fourth_power = wg.grad(fourth_power)


def scaled(c):
    return lambda x: c * x**4


slope_of_scaled = wg.grad(scaled(1.0))


class Holder:
    def __init__(self, f):
        self.f = f
        self.factor = 4.0

    def __call__(self, x):
        return self.factor * self.f(x)


plain_holder, scaled_holder = Holder(lambda x: x**3), Holder(scaled(1.0))
holder_of_a_derivative = Holder(lambda x: slope_of_fourth_power(x) / 4)
by_name = {"cube": lambda x: 4 * x**3, "slope": slope_of_fourth_power}
THIRD_OF_CUBE = [24.0, 24.0, 24.0]

SOURCES = {
    "a derivative at the top of the file": lambda x: slope_of_fourth_power(x),
    "one of a function that captured": lambda x: slope_of_scaled(x),
    "an object that holds a function": lambda x: plain_holder(x),
    "an object that holds a derivative": lambda x: holder_of_a_derivative(x),
    "a function of a table": lambda x: by_name["cube"](x),
    "a derivative of a table": lambda x: by_name["slope"](x),
}


@pytest.mark.parametrize("source", SOURCES)
def test_functions_from_everywhere(source):
    """Each is 4 x³."""
    f = SOURCES[source]
    for order, value in enumerate([48.0, 48.0, 24.0], 1):
        close(wg.derivative(f, order=order)(2.0), value)
        g = f
        for _ in range(order):
            g = wg.grad(g)
        close(g(2.0), value)


def test_an_object_that_holds_a_function_with_captured_values():
    for order, value in enumerate([128.0, 192.0, 192.0], 1):
        close(wg.derivative(lambda x: scaled_holder(x), order=order)(2.0), value)


def test_what_a_derivative_is_made_of_may_change(monkeypatch):
    f = lambda x: slope_of_fourth_power(x)
    assert wg.grad(f)(2.0) == 48.0
    monkeypatch.setitem(globals(), "slope_of_fourth_power", wg.grad(lambda x: x**3))
    assert wg.grad(f)(2.0) == 12.0


unread = np.array([lambda x: np.sum(x**4), None], dtype=object)


@pytest.mark.parametrize("modes", list(itertools.product(("forward", "reverse"), repeat=2)))
def test_second_derivatives_of_functions_known_at_run_time(modes):
    f = lambda x: unread[0](x)
    first = wg.jacobian(f, mode=modes[0])
    close(first(X), 4 * X**3)
    close(wg.jacobian(first, mode=modes[1])(X), np.diag(12 * X**2))
    close(wg.hvp(f)(X, V), 12 * X**2 * V)


def test_third_derivatives_of_functions_known_at_run_time_are_refused():
    def f(x):
        return unread[0](x)

    third = wg.grad(lambda x: np.sum(wg.grad(lambda x: np.sum(wg.grad(f)(x)))(x)))
    error = refusal("WG103", TypeError, lambda: third(X))
    assert type(error) is NoRule
    assert str(error) == message(
        "WG103",
        "no third derivative passes through a function that is known only when the program runs",
        place(f, 1, "unread[0](x)", "f"),
        "Choose the function where wengert can see it: pass it as an argument of its own, or select\n"
        "it with `if` instead of looking it up.",
    )


# --- rules that are run ------------------------------------------------------------------------------


def cube(x):
    return x**3


@wg.rrule(cube)
def _(x):
    return x**3, lambda y_bar: y_bar * 3 * x * x


def product(x, y):
    return x * x * y


@wg.rrule(product)
def _(x, y):
    return x * x * y, lambda out_bar: (out_bar * 2 * x * y, out_bar * x * x)


def fourth(x):
    return np.sum(x**4)


@wg.rrule(fourth)
def _(x):
    return np.sum(x**4), lambda y_bar: y_bar * 4 * x**3


@wg.frule(fourth)
def _(primals, tangents):
    ((x,), (x_dot,)) = primals, tangents
    return np.sum(x**4), np.sum(4 * x**3 * x_dot)


@pytest.mark.parametrize("tier", ["static", "recorded"])
def test_higher_derivatives_of_a_hand_written_rule(tier):
    """A derivative of what a rule gives reads the rule, or runs it in boxes."""
    grad = functools.partial(wg.grad, tier=tier)
    close(grad(cube)(2.0), 12.0)
    close(grad(grad(cube))(2.0), 12.0)
    close(grad(grad(grad(cube)))(2.0), 6.0)
    close(wg.hvp(cube, tier=tier)(2.0, 1.0), 12.0)
    f = lambda v: product(v[0], v[1]) * v[0]
    point = np.array([1.0, 2.0])
    hessian = np.array([[12.0, 3.0], [3.0, 0.0]])
    close(wg.hessian(f, tier=tier)(point), hessian)
    close(wg.hvp(f, tier=tier)(point, point), hessian @ point)
    close(grad(lambda x: grad(lambda y: cube(y) * x)(x))(2.0), 36.0)


@pytest.mark.parametrize("modes", list(itertools.product(("forward", "reverse"), repeat=3)))
def test_rules_in_both_modes_to_third_order(modes):
    f, expected = fourth, [4 * X**3, np.diag(12 * X**2)]
    for mode, value in zip(modes, expected, strict=False):
        f = wg.jacobian(f, mode=mode)
        close(f(X), value)
    third = np.zeros((3, 3, 3))
    third[range(3), range(3), range(3)] = 24 * X
    close(wg.jacobian(f, mode=modes[2])(X), third)


def test_a_rule_called_underscore_in_a_loop():
    def f(x):
        for _ in range(3):
            x = cube(x) / 2
        return x

    expected = lambda x: ((x**3 / 2) ** 3 / 2) ** 3 / 2
    close(wg.grad(f)(1.1), wg.grad(expected)(1.1))


# --- text -----------------------------------------------------------------------------------------------

PROGRAMS = {
    "jacobian": lambda x: np.sum(wg.jacobian(lambda y: np.sin(y) * y[0])(x)),
    "forward jacobian": lambda x: np.sum(
        wg.jacobian(lambda y: np.sin(y) * y[0], mode="forward")(x)
    ),
    "reverse jacobian": lambda x: np.sum(
        wg.jacobian(lambda y: np.sin(y) * y[0], mode="reverse")(x)
    ),
    "hessian": lambda x: np.sum(wg.hessian(form)(x)),
    "diag_hessian": lambda x: np.sum(wg.diag_hessian(form)(x)),
    "hvp": lambda x: np.sum(wg.hvp(form)(x, x)),
    "pushforward": lambda x: wg.pushforward(form, x)[1](x),
}
OUTER = {
    "grad": wg.grad,
    "jacobian": wg.jacobian,
    "hessian": wg.hessian,
    "diag_hessian": wg.diag_hessian,
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("verb", OUTER)
def test_general_source(program, verb):
    derivative = OUTER[verb](PROGRAMS[program])
    names = {}
    exec(derivative.source, names)
    function = [value for name, value in names.items() if name.startswith(f"{verb}_")][-1]
    close(function(X), derivative(X))
    close(derivative.specialize(X)(X), derivative(X))


def test_jacobians_have_source():
    text = (
        wg.jacobian(lambda x: np.array([x[0] * x[1], x[1]]), mode="forward")
        .specialize(X[:2])
        .source
    )
    names = {}
    exec(text, names)
    close(names["jacobian_forward_f"](np.array([2.0, 3.0])), np.array([[3.0, 2.0], [0.0, 1.0]]))


# --- complex numbers and containers ------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_the_jacobian_of_a_complex_argument(mode):
    """∂/∂Re + i ∂/∂Im, in either mode."""
    f = lambda z: np.abs(z) ** 2
    z = np.array([1 + 2j, 3 - 1j])
    close(wg.jacobian(f, mode=mode)(z), np.diag(2 * z))
    close(wg.jacobian(lambda z: abs(z) ** 2, mode=mode)(1 + 2j), 2 + 4j)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_the_jacobian_of_a_list(mode):
    f = lambda x: [x[0] * x[1], x[1]]
    close(wg.jacobian(f, mode=mode)([2.0, 3.0]), np.array([[3.0, 2.0], [0.0, 1.0]]))


def test_diag_hessian_of_a_complex_argument_is_refused():
    call = lambda: wg.diag_hessian(lambda z: np.sum(np.abs(z) ** 2))(np.array([1j]))
    error = refusal("WG202", TypeError, call)
    assert str(error) == message(
        "WG202",
        "`wg.diag_hessian` needs a real argument: a complex one has two second derivatives",
        None,
        "Differentiate a function of its real and imaginary parts.",
    )


# --- refusals -------------------------------------------------------------------------------------------------


def test_a_pullback_that_leaves_its_branch():
    def f(x):
        if x > 1:
            _, back = wg.pullback(math.sin, x)
        else:
            _, back = wg.pullback(math.cos, x)
        return back(1.0)[0]

    assert wg.grad(f)(2.0) == pytest.approx(-math.sin(2.0))  # the run tells which
    assert wg.grad(f)(0.5) == pytest.approx(-math.cos(0.5))
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f).source)
    assert type(error) is UnsupportedSyntax
    assert "branches differ in which function it is" in str(error)


def test_an_inner_function_that_changes_something_outside():
    def f(x):
        seen = []

        def g(y):
            seen.append(y[0])
            return np.sum(y**3)

        return np.sum(wg.grad(g)(x)) * len(seen)  # 3 x², once

    assert wg.grad(f)(X) == pytest.approx(6 * X)


# --- functions that change their arguments --------------------------------------------------


def doubled_in_place(v):
    v *= 2.0
    return np.sum(v**2)


def test_what_the_inner_function_changes_is_changed_for_the_program() -> None:
    def f(v):
        slopes = wg.grad(doubled_in_place)(v)  # 8 v, and v is doubled
        return np.sum(slopes * v)

    v = np.array([1.0, -0.5])
    (found,) = wg.gradient(f, v)
    assert found == pytest.approx(32 * np.array([1.0, -0.5]))
    assert v == pytest.approx(2 * np.array([1.0, -0.5]))


def test_what_a_nested_pullback_changes_is_changed_for_the_program() -> None:
    def f(items):
        y, back = wg.pullback(lambda items: items.append(items[0] ** 2) or items[-1], items)
        return back(y)[0][0] * items[-1]

    items = [1.5]
    (found,) = wg.gradient(f, items)  # 2 x³ · x²
    assert found == pytest.approx([10 * 1.5**4])
    assert items == [1.5, 1.5**2]


def test_one_object_given_twice_to_what_changes_it_is_refused() -> None:
    def moved(a, b):
        a += b
        return np.sum(a * b)

    with pytest.raises(wg.WengertError, match="is given one object twice, and changes it"):
        wg.gradient(lambda v: np.sum(wg.grad(moved)(v, v)), np.ones(2))


# --- native code inside -----------------------------------------------------------------------


def cubed_natively(x):
    return wg.jit(lambda y: y**3)(x) * 2


def slope_natively(x):
    return wg.jit(wg.grad(lambda y: y**3))(x) * 2


def decorated_inside(x):
    @wg.jit(strict=True)
    def cube(y):
        return y**3

    @wg.jit
    def scaled(y):
        return cube(y) * x

    return scaled(x)


NATIVE_INSIDE = [(cubed_natively, 24, 24), (slope_natively, 24, 12), (decorated_inside, 32, 48)]


@pytest.mark.parametrize(("f", "slope", "bend"), NATIVE_INSIDE)
def test_jit_inside_a_program_is_the_function_itself(f, slope, bend):
    assert wg.grad(f)(2.0) == pytest.approx(slope)
    assert wg.hessian(f)(2.0) == pytest.approx(bend)
    assert wg.jit(wg.grad(f))(2.0) == pytest.approx(slope)


def scaled_norm(a, factor, shift=1.0):
    return (a**2).sum() * factor + shift


def slope_of_scaled_norm(a, factors):
    kept = [factor * 1.0 for factor in factors if factor > 0.0]
    return wg.grad(scaled_norm)(a, *kept).sum()


def test_arguments_after_a_star_are_as_many_as_the_run_gives() -> None:
    a = np.array([1.0, 2.0])
    assert slope_of_scaled_norm(a, [2.0, -1.0, 0.5]) == 12.0
    np.testing.assert_array_equal(wg.grad(slope_of_scaled_norm)(a, [2.0, -1.0]), [4.0, 4.0])


def changed_first(v):
    v[0] *= 0.5
    return v @ v


def along_what_it_changes(x, a):
    return wg.hvp(changed_first)(a, a) @ np.arange(1.0, 5.0) * x + a[0]


def test_a_direction_is_taken_before_the_function_changes_it():
    a = np.array([0.3, -0.2, 0.5, 0.7])
    value, slope = wg.value_and_grad(along_what_it_changes)(0.7, a.copy())
    assert value == pytest.approx(along_what_it_changes(0.7, a.copy()))
    assert slope == pytest.approx((value - 0.15) / 0.7)


def takes_and_starts_again(x, xs, n):
    kept = list(xs)
    last = 0.0
    for _ in range(n):
        last += xs.pop() * x**2
        xs = list(kept)
    return last


def test_a_list_that_is_shortened_and_bound_anew_in_a_loop_is_differentiated_inside():
    def slope(x, xs, n):
        return wg.grad(takes_and_starts_again)(x, xs, n)

    given = [1.0, 2.0, 3.0]
    assert wg.grad(slope)(1.3, given, 2) == pytest.approx(12.0)
