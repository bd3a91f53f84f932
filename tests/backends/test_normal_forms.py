"""Derivatives of terms in normal form: how fast they grow, their values, and that the order of variables is none."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import wengert as wg

FUNCTIONS = {
    "1/x": (lambda x: 1 / x, lambda x: 1 / x),
    "1/(1+x²)": (lambda x: 1 / (1 + x * x), lambda x: 1 / (1 + x * x)),
    "√(1+x²)": (lambda x: np.sqrt(1 + x * x), lambda x: mpmath.sqrt(1 + x * x)),
    "x/(1+x)": (lambda x: x / (1 + x), lambda x: x / (1 + x)),
    "log(1+x²)": (lambda x: np.log(1 + x * x), lambda x: mpmath.log(1 + x * x)),
    "tanh x": (np.tanh, mpmath.tanh),
    "exp(-x²)": (lambda x: np.exp(-x * x), lambda x: mpmath.exp(-x * x)),
    "sin·exp": (lambda x: np.sin(x) * np.exp(x), lambda x: mpmath.sin(x) * mpmath.exp(x)),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / (1 + mpmath.exp(-x))),
    "softplus": (lambda x: np.log(1 + np.exp(x)), lambda x: mpmath.log(1 + mpmath.exp(x))),
    "arctan": (np.arctan, mpmath.atan),
    "arcsin": (np.arcsin, mpmath.asin),
    "x^2.5/(1+x)": (lambda x: x**2.5 / (1 + x), lambda x: x ** mpmath.mpf(2.5) / (1 + x)),
    "exp(-x²)/(1+x²)": (
        lambda x: np.exp(-x * x) / (1 + x * x),
        lambda x: mpmath.exp(-x * x) / (1 + x * x),
    ),
    "sin(x)/x": (lambda x: np.sin(x) / x, lambda x: mpmath.sin(x) / x),
    "xˣ": (lambda x: x**x, lambda x: x**x),
}
NODES = {
    "1/x": 18, "1/(1+x²)": 46, "√(1+x²)": 39, "x/(1+x)": 19, "log(1+x²)": 77, "tanh x": 51, "exp(-x²)": 34,
    "sin·exp": 19, "logistic": 84, "softplus": 87, "arctan": 61, "arcsin": 66, "x^2.5/(1+x)": 57,
    "exp(-x²)/(1+x²)": 89, "sin(x)/x": 35, "xˣ": 109,
}  # fmt: skip
"""The nodes of all orders to the eighth: these numbers only shrink."""


def orders(function, count):
    graph = wg.Graph()
    (x,) = graph.variables("x")
    found = [function(x)]
    for _ in range(count):
        found.append(found[-1].derive(x))
    return graph, found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_graph_grows_with_the_order(name):
    graph, _ = orders(FUNCTIONS[name][0], 8)
    assert len(graph) == NODES[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_growth_is_about_quadratic(name):
    graph, found = orders(FUNCTIONS[name][0], 8)
    early = len(graph)
    for _ in range(12):
        found.append(found[-1].derive(*graph.variables("x")))
    assert math.log(len(graph) / early) / math.log(20 / 8) < 2.2


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "sin(x)/x"])
@pytest.mark.parametrize("at", [0.05, 0.3, 0.7, 1.3, 5.0])
def test_values_of_all_orders(name, at):
    if name == "arcsin" and at >= 1:
        return
    function, meant = FUNCTIONS[name]
    _, found = orders(function, 8)
    with mpmath.workdps(60):
        series = mpmath.taylor(meant, mpmath.mpf(at), 8)
        for order, term in enumerate(found):
            expected = float(series[order] * mpmath.factorial(order))
            assert term.eval(x=at) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("at", [1e8, -1e8])
def test_nothing_cancels_far_out(at):
    for name in ("1/(1+x²)", "√(1+x²)", "arctan"):
        function, meant = FUNCTIONS[name]
        _, found = orders(function, 3)
        with mpmath.workdps(120):
            for order, term in enumerate(found):
                expected = mpmath.diff(meant, mpmath.mpf(at), order)
                assert term.eval(x=at) == pytest.approx(float(expected), rel=1e-13)


@pytest.mark.parametrize("name", ["1/(1+x²)", "exp(-x²)/(1+x²)", "x^2.5/(1+x)", "√(1+x²)", "xˣ"])
def test_values_to_the_twentieth_order(name):
    function, meant = FUNCTIONS[name]
    _, found = orders(function, 20)
    with mpmath.workdps(80):
        series = mpmath.taylor(meant, mpmath.mpf("0.7"), 20)
        for order, term in enumerate(found):
            expected = float(series[order] * mpmath.factorial(order))
            assert term.eval(x=0.7) == pytest.approx(expected, rel=1e-12)


def test_mixed_orders_said_in_lower_ones_are_one_node():
    """Leibniz' rule counts orders by variable, whichever came first."""
    x, y = wg.Graph().variables("x", "y")
    function = np.exp(-x * x * y) / (1 + x * x + y * y)
    one, other = function, function
    for first, second in zip("xyxyxy", "xxxyyy", strict=True):
        one = one.derive({"x": x, "y": y}[first])
        other = other.derive({"x": x, "y": y}[second])
    with mpmath.workdps(60):
        meant = mpmath.diff(
            lambda x, y: mpmath.exp(-x * x * y) / (1 + x * x + y * y), (0.3, 0.4), (3, 3)
        )
    assert one.eval(x=0.3, y=0.4) == pytest.approx(float(meant), rel=1e-11)
    assert other.eval(x=0.3, y=0.4) == pytest.approx(float(meant), rel=1e-11)


def test_powers_at_zero_keep_their_derivatives():
    """x**2.5 has two at 0: what is divided by x there would have none."""
    (x,) = wg.Graph().variables("x")
    term = x**2.5 * np.exp(-x * x) / (1 + x * x)
    for _ in range(2):
        term = term.derive(x)
        assert term.eval(x=0.0) == 0.0


def test_terms_and_factors_are_collected():
    a, x = wg.Graph().variables("a", "x")
    cases = {
        (1 / (1 + x**2)).derive(x): "-2 * x / (1 + x**2)**2",
        (x * x * x).derive(x): "3 * x**2",
        np.sqrt(1 + x * x).derive(x).derive(x): "1 / sqrt(1 + x * x)**3",
        (x / a / x).derive(a): "-1 / a**2",
        (a * np.exp(a * x)).derive(a).derive(x): "(2 + a * x) * a * exp(a * x)",
    }
    for derivative, text in cases.items():
        assert str(derivative) == text


def test_a_graph_without_identities_has_no_normal_form():
    (x,) = wg.Graph(simplify=None).variables("x")
    assert str((x * x * x).derive(x)) != "3 * x**2"
    assert (x * x * x).derive(x).eval(x=2.0) == 12.0


def test_a_literal_of_many_digits_stays_as_it_is_written():
    (x,) = wg.Graph().variables("x")
    slope = (0.1 * x * x * 0.3).derive(x)
    with mpmath.workdps(40):
        expected = 4 * mpmath.mpf(0.1) * mpmath.mpf(0.3)
        assert abs(slope.eval(x=mpmath.mpf(2)) - expected) < mpmath.mpf(10) ** -38


# --- several variables ----------------------------------------------------------------------

LEAVES = st.sampled_from(["x", "y", "z", "2", "3", "0.5"])


def grown(parts):
    return st.one_of(
        st.tuples(st.sampled_from("+-*/"), parts, parts).map(lambda t: f"({t[1]} {t[0]} {t[2]})"),
        parts.map(lambda p: f"sin({p})"),
        parts.map(lambda p: f"exp(-({p})**2)"),
        parts.map(lambda p: f"sqrt(1 + ({p})**2)"),
        parts.map(lambda p: f"({p})**3"),
    )


TEXTS = st.recursive(LEAVES, grown, max_leaves=5).filter(lambda t: any(v in t for v in "xyz"))
AT = {"x": 0.7, "y": 1.3, "z": 0.4}
same = {"same node": 0, "another": 0}


def value_of(text, library, values):
    names = {name: getattr(library, name) for name in ("sin", "exp", "sqrt")}
    return eval(text, {**names, **values})


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_every_order_of_the_variables_gives_the_same(text):
    with mpmath.workdps(40):
        try:
            exact = mpmath.diff(
                lambda *at: value_of(text, mpmath, dict(zip("xyz", at, strict=True))),
                tuple(map(mpmath.mpf, AT.values())),
                (1, 1, 1),
            )
        except ZeroDivisionError:
            return
    if not abs(exact) < 1e6:
        return
    graph = wg.Graph()
    variables = dict(zip("xyz", graph.variables(*"xyz"), strict=True))
    term = value_of(text, np, variables)
    if not hasattr(term, "derive"):
        return
    found = []
    for order in itertools.permutations(variables.values()):
        each = term
        for variable in order:
            each = each.derive(variable)
        found.append(each)
        assert each.eval(**AT) == pytest.approx(float(exact), rel=1e-7, abs=1e-7)
    alike = all(each.atom == found[0].atom for each in found)
    same["same node" if alike else "another"] += 1


def test_mixed_derivatives_are_mostly_one_node():
    assert same["same node"] >= 0.6 * sum(same.values())


def test_a_derivative_by_a_computed_node_looks_at_that_node():
    x, y = wg.Graph().variables("x", "y")
    u = x * y
    f = u * u * np.sin(u)
    expected = 2 * np.sin(0.21) + 4 * 0.21 * np.cos(0.21) - 0.21**2 * np.sin(0.21)
    for twice in (f.derive(u).derive(u), f.gradient(u)[0].gradient(u)[0]):
        assert twice.eval(x=0.3, y=0.7) == pytest.approx(expected)


def test_a_computed_node_is_found_in_a_derivative():
    (x,) = wg.Graph().variables("x")
    u = x * x
    slope = (1 / u).derive(x)
    assert str(slope) == "-2 / x**3"
    # step by step it is -(x + x) / u**2
    assert slope.derive(u).eval(x=2.0) == pytest.approx(2 * 2 * 2.0 / 4.0**3)
    assert (3 * slope + u).derive(u).eval(x=2.0) == pytest.approx(3 * 2 * 2 * 2.0 / 4.0**3 + 1)


@pytest.mark.parametrize(
    ("function", "same"),
    [
        (np.abs, lambda x: -x),
        (lambda x: np.maximum(x, 2 * x), lambda x: x),
        (lambda x: np.where(x < 0, x * x, x), lambda x: x * x),
        (lambda x: np.logaddexp(x, 0), lambda x: np.log(np.exp(x) + 1)),
        (lambda x: np.floor(x) * x, lambda x: -x),
    ],
)
def test_high_orders_of_what_has_no_lower_ones(function, same):
    """Selections and steps: a derivative that cannot be said in lower ones is made of all that it needs."""
    for program in (function, same):
        _, found = orders(lambda x, f=program: f(x) * np.exp(x) / (1 + x * x), 6)
        values = [term.eval(x=-0.5) for term in found]
        if program is function:
            first = values
    assert first == pytest.approx(values, rel=1e-11)
