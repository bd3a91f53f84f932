"""Rows of the systems that wengert descends from: expressions, and graphs whose derivatives are graphs.

Row ids: HS is the Haskell article, RG rustograd (and the future work its author names), P small published
examples, W workloads, T traps: numbers that those systems print wrong.
"""

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import programs_seed as programs
import pytest

import wengert as wg
from wengert import numbers


def close(found, expected, rel=1e-14):
    assert found == pytest.approx(expected, rel=rel, abs=0)


def gaussian(simplify="exact"):
    g = wg.Graph(simplify)
    (x,) = g.variables("x")
    return g, x, np.exp(-x * x)


# --- HS: the expression language -------------------------------------------------------------


def test_HS3_a_derivative_as_a_program_with_its_source():
    g = wg.Graph()
    x1, x2 = g.variables("x1", "x2")
    f = x1 * x2 + np.sin(x2)
    df = f.to_function(*f.gradient(x1, x2), name="df")
    close(df(2.0, 3.0), (6 + math.sin(3.0), 3.0, 2 + math.cos(3.0)))
    namespace = {}
    exec(df.source, namespace)
    assert namespace["df"](2.0, 3.0) == df(2.0, 3.0)


def test_HS4_the_derivative_by_structural_recursion():
    g = wg.Graph(simplify=None)
    (x,) = g.variables("x")
    f = x * x + x.sin()
    assert str(f) == "x * x + sin(x)"
    assert str(f.derive(x)) == "1 * x + 1 * x + 1 * cos(x)"


def test_HS5_evaluation():
    g = wg.Graph()
    (x,) = g.variables("x")
    slope = (x * x + x.sin()).derive(x)
    assert str(slope) == "2 * x + cos(x)"
    close(slope.eval(x=0.7), 1.4 + math.cos(0.7))


def test_HS6_several_variables():
    g = wg.Graph()
    a, b = g.variables("a", "b")
    f = a * b + b.sin()
    assert str(f.derive(a)) == "b"
    assert str(f.derive(b)) == "a + cos(b)"
    assert [str(t) for t in f.gradient(a, b)] == ["b", "a + cos(b)"]


# --- RG: the graph and its values ----------------------------------------------------------------


@pytest.fixture
def sums():
    g = wg.Graph()
    a, b, c, d = g.variables("a", "b", "c", "d")
    g.set(a=123.0, b=321.0, c=42.0, d=2.0)
    return g, a, b, c, d


def test_RG1_define_and_run(sums):
    g, a, b, c, _ = sums
    abc = (a + b) * c
    assert abc.eval() == 18648
    g.set(a=0.0)
    assert abc.eval() == 321 * 42


def test_RG2_forward_derivatives(sums):
    _, a, b, c, d = sums
    abc = (a + b) * c
    assert [abc.derive(v).eval() for v in (a, b, c)] == [42, 42, 444]
    assert (abc / d).derive(c).eval() == 222
    assert abc.derive(d).eval() == 0.0


def test_RG3_backprop(sums):
    _, a, b, c, d = sums
    abcd = (a + b) * c / d
    assert abcd.backprop() == 9324
    assert [v.grad for v in (a, b, c, d)] == [21, 21, 222, -4662]
    assert (a + b).grad == 21


def test_RG3_RG4_a_diamond_is_counted_once():
    g = wg.Graph()
    (a,) = g.variables("a")
    b = a * a
    visits = []
    f = (b + a) * (b - a)
    with g.hook("eval", lambda term, value: visits.append(str(term))):
        f.eval(a=3.0)
    assert len(visits) == len(set(visits)) == 4
    f.backprop(a=3.0)
    assert a.grad == 4 * 27 - 2 * 3
    g = wg.Graph()
    a, b, c = g.variables("a", "b", "c")
    f = a * (b - a) + c
    f.backprop(a=1.5, b=1.0, c=7.0)
    assert (a.grad, b.grad, c.grad) == (-2.0, 1.5, 1.0)


def test_RG5_RG6_one_kind_of_term_and_no_nodes_for_literals():
    g = wg.Graph()
    (a,) = g.variables("a")
    assert len(g) == 1
    assert str(a + 0) == "a"
    assert str(a * 1) == "a"
    assert len(g) == 1


def test_RG7_RG8_operators_and_names():
    g = wg.Graph()
    a, b, c = g.variables("a", "b", "c")
    assert str((a + b) * c) == "(a + b) * c"
    assert str(-(a - b) / c) == "(b - a) / c"
    assert str(a - (b - c)) == "a - (b - c)"
    assert str(2 / a**b) == "2 / a**b"
    assert str((a @ b)[0]) == "(a @ b)[0]"


def test_RG9_RG10_RG11_RG44_T6_functions_of_ones_own():
    def wave(x):
        return math.sin(x)

    def angle(y, x):
        return math.atan2(y, x)

    wg.scalar_rule(wave, lambda x, Ω: wg.ops.cos(x))
    wg.scalar_rule(angle, lambda y, x, Ω: x / (x * x + y * y), lambda y, x, Ω: -y / (x * x + y * y))
    g = wg.Graph()
    (t,) = g.variables("t")
    f = t.apply(wave)
    close([f.eval(t=0.5), f.derive(t).eval(t=0.5)], [math.sin(0.5), math.cos(0.5)])
    close(f.derive(t).derive(t).eval(t=0.5), -math.sin(0.5))
    h = (t * t).apply(angle, t.exp())
    first, second = h.derive(t), h.derive(t).derive(t)
    tower = wg.taylor(lambda t: np.arctan2(t * t, np.exp(t)), 0.6, 2)
    close([first.eval(t=0.6), second.eval(t=0.6) / 2], tower[1:], rel=1e-13)
    h.backprop(t=0.6)
    close(t.grad, tower[1], rel=1e-13)
    # T6: of sin(θ) by atan2, rustograd's generated derivative is 0.22123 at π/5
    y, x = wg.ops.sin(t), wg.ops.cos(t)
    close((y.arctan2(x)).sin().derive(t).eval(t=math.pi / 5), math.cos(math.pi / 5))


def test_RG44_functions_with_rules_that_are_run():
    def length(a, b, c):
        return (a * a + b * b + c * c) ** 0.5

    @wg.rrule(length)
    def _(a, b, c):
        y = length(a, b, c)
        return y, lambda y_bar: (y_bar * a / y, y_bar * b / y, y_bar * c / y)

    g = wg.Graph()
    a, b, c = g.variables("a", "b", "c")
    g.set(a=1.0, b=2.0, c=2.0)
    f = a * a.apply(length, b, c)
    close([term.eval() for term in f.gradient(a, b, c)], [3 + 1 / 3, 2 / 3, 2 / 3])
    f.backprop()
    close([a.grad, b.grad, c.grad], [3 + 1 / 3, 2 / 3, 2 / 3])
    close(f.gradient(b)[0].to_function()(1.0, 2.0, 2.0), 2 / 3)
    with pytest.raises(wg.errors.NoRule, match="length has an rrule but no frule"):
        f.derive(a)

    @wg.frule(length)
    def _(primals, tangents):
        y = length(*primals)
        return y, sum(x * x_dot for x, x_dot in zip(primals, tangents, strict=True)) / y

    close([f.derive(x).eval() for x in (a, b, c)], [3 + 1 / 3, 2 / 3, 2 / 3])
    with pytest.raises(wg.errors.NoRule, match="no second derivative in a graph"):
        f.derive(a).derive(b)


def test_RG44_rules_get_the_options_of_the_call():
    def power(x, *, n=2):
        return x**n

    def scaled(x, factor=2.0, n=2):
        return factor * x**n

    wg.rrule(power)(lambda x, *, n=2: (x**n, lambda y_bar: n * x ** (n - 1) * y_bar))
    wg.frule(power)(lambda xs, dots, *, n=2: (xs[0] ** n, n * xs[0] ** (n - 1) * dots[0]))
    wg.scalar_rule(scaled, lambda x, a, n, Ω: a * n * x ** (n - 1), lambda x, a, n, Ω: x**n, None)
    (x,) = wg.Graph().variables("x")
    for term, slope in {
        x.apply(power): 6.0, x.apply(power, n=3): 27.0, x.apply(scaled, n=3): 54.0
    }.items():  # fmt: skip
        derivatives = (term.derive(x), *term.gradient(x))
        close([each.eval(x=3.0) for each in derivatives], [slope] * 2)
        close([each.to_function()(3.0) for each in derivatives], [slope] * 2)
        term.backprop(x=3.0)
        close(x.grad, slope)
    with pytest.raises(wg.errors.BadArgument, match="unexpected keyword argument 'q'"):
        x.apply(power, q=3)


def test_RG12_RG13_what_has_no_value_says_so():
    g = wg.Graph()
    a, b = g.variables("a", "b")
    with pytest.raises(wg.WengertError, match="the variable 'b' has no value"):
        (a * b).backprop(a=1.0)
    with pytest.raises(wg.WengertError, match="no variable 'ab'"):
        g.set(ab=1.0)
    with pytest.raises(wg.WengertError, match="has no gradient"):
        (a * b).grad


def test_RG14_hooks():
    g, x, f = gaussian()
    made, found, back = [], [], []
    with g.hook("node", lambda term: made.append(str(term))):
        d = f.derive(x)
    assert made == ["x * exp(-(x * x))", "-2 * x * exp(-(x * x))"]
    with g.hook("eval", lambda term, value: found.append(value)):
        d.eval(x=0.5)
    close(found[-1], -0.7788007830714049)
    with g.hook("backprop", lambda term, value: back.append((str(term), value))):
        f.backprop(x=0.5)
    assert back[0] == ("exp(-(x * x))", 1)
    assert back[-1][0] == "x"
    close(back[-1][1], -0.7788007830714049)


def test_RG15_values_are_kept_while_the_variables_have_the_same():
    g, x, f = gaussian()
    d = f.derive(x)
    visits = []
    with g.hook("eval", lambda term, value: visits.append(term)):
        f.eval(x=0.5)
        d.eval(x=0.5)
        d.eval(x=0.5)
        assert len(visits) == len(set(visits)) == 5
        d.eval(x=0.25)
    assert len(visits) == 10


def test_RG16_dot():
    g, x, f = gaussian()
    g.set(x=0.5)
    f.backprop()
    text = f.to_dot(show_values=True, precision=3, vertical=True, highlights=[x], output_node=True)
    assert text.startswith('digraph G {\nrankdir="TB";\nnewrank=true;\n')
    assert 'a0 [label="x\\ndata:0.5, grad:-0.779" shape=ellipse style=filled' in text
    assert "peripheries=2" in text
    assert 'label="exp(-(x * x))"' in f.to_dot(output_term=True)
    assert 'rankdir="LR"' in f.to_dot()
    other = np.sin(x)
    assert "style=dotted" in f.to_dot(connect_to=[other])
    assert 'label="x\\ndata:None, grad:None"' in wg.Graph().variables("x")[0].to_dot(
        show_values=True
    )


def test_RG17_frames_in_one_layout():
    g, x, f = gaussian()
    g.set(x=0.5)
    frames = f.to_animated_svg(of=("eval", "backprop"))
    assert frames.count(" lit") == 4
    assert frames.count(" back") == 4
    places = Counter(
        re.findall(r'<rect class="(?:leaf|node)[^"]*" x="([-.\d]+)" y="([-.\d]+)"', frames)
    )
    assert sorted(places.values()) == [3] * 4  # at rest, with its value, with its gradient
    growth = f.to_animated_svg(f.derive(x), f.derive(x).derive(x), of=("derive",))
    assert growth.count("order 0") == 4
    assert growth.count("order 1") == 2
    assert growth.count("order 2") == 3


def test_RG18_RG19_a_plain_function_becomes_a_graph_with_its_names():
    def mixed(a):
        return np.sin(a) + 0.2 * np.sin(a * 5.0)

    term = wg.trace(mixed, 0.0)
    assert str(term) == "sin(a) + 0.2 * sin(a * 5)"
    close(term.gradient()[0].eval(), 2.0)


def test_RG20_RG43_tensors():
    g = wg.Graph()
    x, w = g.variables("x", "w")
    loss = np.sum((np.tanh(w * x) - x) ** 2)
    xs = np.linspace(-1.0, 1.0, 80)
    found = [t.eval(x=xs, w=0.5) for t in loss.gradient(x, w)]
    expected = wg.gradient(lambda x, w: np.sum((np.tanh(w * x) - x) ** 2), xs, 0.5)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    close(found[1], expected[1], rel=1e-13)


def test_RG21_RG43_one_has_the_right_shape_and_broadcasting_the_right_reverse():
    g = wg.Graph()
    a, b = g.variables("a", "b")
    matrix, row = np.ones((3, 2)), np.array([1.0, 2.0])
    assert (a + b).derive(b).eval(a=matrix, b=row).tolist() == [[1.0, 1.0]] * 3
    total = np.sum(a * b + b)
    assert total.gradient(b)[0].eval(a=matrix, b=row).tolist() == [6.0, 6.0]
    assert total.derive(b).eval(a=matrix, b=row) == 12.0
    total.backprop(a=matrix, b=3.0)
    assert b.grad == 12.0
    assert a.grad.tolist() == [[3.0, 3.0]] * 3


def test_RG22_to_RG29_P4_derivatives_are_terms_of_the_same_graph():
    g = wg.Graph()
    a, b = g.variables("a", "b")
    f = (a - b) * a
    before = len(g)
    fa = f.derive(a)
    fab, faa, faaa = fa.derive(b), fa.derive(a), fa.derive(a).derive(a)
    g.set(a=2.0, b=3.0)
    assert [t.eval() for t in (f, fa, fab, faa, faaa)] == [-2, 1, -1, 2, 0]
    assert (str(faa), str(fab), str(faaa)) == ("2", "-1", "0")
    assert len(g) == before + 1  # only fa, 2a - b, is a node
    fa.backprop()
    assert (a.grad, b.grad) == (2, -1)
    g.set(a=5.0)
    assert (f.eval(), fa.eval()) == (10.0, 7.0)


def test_RG25_derivatives_mix_with_what_they_are_derivatives_of():
    _, x, f = gaussian()
    both = f.derive(x) + f
    assert both.eval(x=0.5) == pytest.approx(0.0, abs=1e-15)
    close(both.eval(x=1.0), -0.36787944117144233)
    assert both.derive(x).eval(x=1.0) == pytest.approx(0.0, abs=1e-15)


def test_RG30_rules_reuse_the_result_and_sine_comes_back_after_four():
    g = wg.Graph()
    (x,) = g.variables("x")
    assert x.exp().derive(x) == x.exp()
    s = x.sin()
    fourth = s.derive(x).derive(x).derive(x).derive(x)
    assert fourth == s
    assert len(g) == 6  # x, exp x, sin x, cos x, -sin x, -cos x


def test_RG31_no_rule_is_an_error():
    def unknown(x):
        return x

    g = wg.Graph()
    (x,) = g.variables("x")
    with pytest.raises(wg.WengertError, match="has no rule that the terms of a graph could use"):
        x.apply(unknown).derive(x)


RUSTOGRAD = [6, 11, 16, 20, 25, 31, 38, 46]
GAUSSIAN_AT_HALF = [
    0.7788007830714049, -0.7788007830714049, -0.7788007830714049, 3.8940039153570245,
    0.7788007830714049, -31.930832105927598, 24.14282427521355, 359.0271609959176,
]  # fmt: skip


@pytest.mark.parametrize("written", ["-x * x", "-(x * x)", "-(x**2)"])
def test_RG32_RG33_RG35_RG46_the_gaussian_stays_small(written):
    g = wg.Graph()
    (x,) = g.variables("x")
    f = np.exp(eval(written))
    counts, values = [len(g)], [f.eval(x=0.5)]
    at_one = [f.eval(x=1.0)]
    for _ in range(7):
        f = f.derive(x)
        counts.append(len(g))
        values.append(f.eval(x=0.5))
        at_one.append(f.eval(x=1.0))
    close(values, GAUSSIAN_AT_HALF)
    expected = [0.36787944117144233, -0.7357588823428847, 0.7357588823428847, 1.4715177646857693]
    close(at_one[:4], expected)
    assert all(mine <= theirs for mine, theirs in zip(counts, RUSTOGRAD, strict=True)), counts


def test_RG33_the_gaussian_grows_linearly():
    g, x, f = gaussian()
    counts = []
    for _ in range(20):
        f = f.derive(x)
        counts.append(len(g))
    steps = {after - before for before, after in pairwise(counts[4:])}
    assert steps == {4}
    equations = len(g.builder.eqns)
    assert equations < 2 * len(g)  # what no term needs is no more than what they do


def test_RG34_a_graph_may_be_used_while_it_is_being_derived():
    g, x, f = gaussian()
    g.set(x=0.5)
    seen = {}

    def look(term):
        if len(seen) < 3:  # what is looked at makes nodes, which are looked at
            seen[str(term)] = None
            seen[str(term)] = term.eval(), (term * x).derive(x).eval()

    with g.hook("node", look):
        third = f.derive(x).derive(x).derive(x)
    close(third.eval(), GAUSSIAN_AT_HALF[3])
    _, by, plain = gaussian()
    assert str(third) == str(plain.derive(by).derive(by).derive(by))
    assert seen["x * exp(-(x * x))"][0] == pytest.approx(0.5 * math.exp(-0.25), rel=1e-15)
    assert all(found is not None for found in seen.values())


def test_RG42_every_kind_of_term_goes_to_every_order():
    def nested(f, order):
        return f if order == 0 else nested(lambda x: numbers.derivative(f, x), order - 1)

    _, x, f = gaussian()
    tower = wg.derivatives(lambda x: np.exp(-x * x), 0.5)
    for order, (expected, found) in enumerate(zip(GAUSSIAN_AT_HALF[:6], tower, strict=False)):
        close(found, expected)
        close(f.eval(x=0.5), expected)
        close(nested(lambda x: np.exp(-x * x), order)(0.5), expected)
        if order:
            close(wg.derivative(lambda x: math.exp(-x * x), order=order)(0.5), expected, rel=1e-13)
        f = f.derive(x)


def test_RG36_exp_of_a_product():
    g = wg.Graph()
    a, b = g.variables("a", "b")
    f = np.exp(a * b)
    g.set(a=1.23, b=3.21)
    found = [f.eval(), f.derive(a).eval(), f.derive(b).eval()]
    assert [round(v, 2) for v in found] == [51.85, 166.43, 63.77]


def test_RG37_a_quotient():
    g = wg.Graph()
    a, b = g.variables("a", "b")
    f = a / b
    g.set(a=4.44, b=3.21)
    assert round(f.eval(), 2) == 1.38
    close(f.derive(b).eval(), -4.44 / 3.21**2)
    close(f.derive(b).derive(b).eval(), 2 * 4.44 / 3.21**3)


def test_RG38_T5_a_polynomial_and_a_polynomial_of_something():
    g = wg.Graph()
    (x,) = g.variables("x")
    f = x**3
    orders = [f, f.derive(x), f.derive(x).derive(x), f.derive(x).derive(x).derive(x)]
    close([t.eval(x=0.2) for t in orders], [0.008, 0.12, 1.2, 6])
    close((x.sin() ** 3).derive(x).eval(x=0.2), 3 * math.sin(0.2) ** 2 * math.cos(0.2))


def test_RG39_T5_a_sigmoid_and_a_sigmoid_of_something():
    g = wg.Graph()
    (x,) = g.variables("x")
    f = 1 / (1 + np.exp(-x))
    found = [f]
    for _ in range(3):
        found.append(found[-1].derive(x))
    assert [round(t.eval(x=1.0), 5) for t in found] == [0.73106, 0.19661, -0.09086, -0.03533]
    inner = 1 / (1 + np.exp(-(x * x)))
    s = 1 / (1 + math.exp(-0.25))
    close(inner.derive(x).eval(x=0.5), s * (1 - s))


def test_RG40_a_sine():
    g = wg.Graph()
    b, x = g.variables("b", "x")
    f = np.sin(b * x)
    g.set(b=1.23, x=1.0)
    found = [f]
    for _ in range(3):
        found.append(found[-1].derive(x))
    expected = [math.sin(1.23), 1.23 * math.cos(1.23), -(1.23**2) * math.sin(1.23),
                -(1.23**3) * math.cos(1.23)]  # fmt: skip
    close([t.eval() for t in found], expected)
    assert [round(t.eval(), 5) for t in found] == [0.94249, 0.41111, -1.42589, -0.62197]


def test_RG45_arrays_of_another_library_pass_through():
    g = wg.Graph()
    (x,) = g.variables("x")
    y = wg.Dual(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    found = (x * x).eval(x=y)
    assert found.tangent.tolist() == [2.0, 0.0]


# --- workloads ------------------------------------------------------------------------------------


def descended(term, point, rate, steps, names):
    function = term.to_function(*term.gradient(*term.graph.variables(*names)))
    for _ in range(steps):
        _, *slope = function(*point)
        point = [p - rate * s for p, s in zip(point, slope, strict=True)]
    return point


def gaussian_fit(mu, sigma, scale, xs, exp):
    return [scale * exp(-((x - mu) * (x - mu)) / sigma / sigma) for x in xs]


def test_W1_curve_fit_on_a_graph():
    def loss(mu, sigma, scale):
        xs = programs.SAMPLE_XS
        fits = gaussian_fit(mu, sigma, scale, xs, np.exp)
        misses = [f - programs.gaussian_truth(x) for f, x in zip(fits, xs, strict=True)]
        return sum(miss * miss for miss in misses)

    names = ("mu", "sigma", "scale")
    term = wg.trace(loss, 0.0, 1.0, 1.0)
    found = descended(term, [0.0, 1.0, 1.0], 0.01, 100, names)
    close(found, list(programs.CURVE_FIT.values()), rel=1e-12)


def test_W2_curve_fit_with_tensors_by_backprop():
    xs = np.array(programs.SAMPLE_XS)
    ys = np.array([programs.gaussian_truth(x) for x in xs])
    g = wg.Graph()
    mu, sigma, scale, x, y = g.variables("mu", "sigma", "scale", "x", "y")
    loss = np.sum((scale * np.exp(-((x - mu) ** 2) / sigma**2) - y) ** 2)
    point = {"mu": 0.0, "sigma": 1.0, "scale": 1.0}
    g.set(x=xs, y=ys)
    for _ in range(100):
        last = loss.backprop(**point)
        slopes = {"mu": mu.grad, "sigma": sigma.grad, "scale": scale.grad}
        point = {name: value - 0.01 * slopes[name] for name, value in point.items()}
    close(list(point.values()), list(programs.CURVE_FIT.values()), rel=1e-12)
    close(last, programs.CURVE_FIT_LOSS_AFTER_99, rel=1e-12)


def test_W3_peak_separation_on_a_graph():
    xs = np.array(programs.SAMPLE_XS)
    ys = np.array([programs.peaks_truth(x) for x in xs])

    def loss(mu0, sigma0, scale0, mu1, sigma1, scale1):
        first = scale0 * np.exp(-(((xs - mu0) / sigma0) ** 2))
        second = scale1 * np.exp(-(((xs - mu1) / sigma1) ** 2))
        return np.sum((first + second - ys) ** 2)

    start = list(programs.PEAKS_START)
    term = wg.trace(loss, *start)
    names = ("mu0", "sigma0", "scale0", "mu1", "sigma1", "scale1")
    close(descended(term, start, 0.01, 500, names), list(programs.PEAKS), rel=1e-11)


def test_W4_path_smoothing_on_a_graph():
    g = wg.Graph()
    xs = g.variables(*(f"x{k}" for k in range(7)))
    ys = g.variables(*(f"y{k}" for k in range(7)))
    potential = sum(np.exp(-((x - 1) ** 2 + (y - 1) ** 2) / 4) for x, y in zip(xs, ys, strict=True))
    steps = [b - a for line in (xs, ys) for a, b in pairwise(line)]
    loss = sum(step * step for step in steps) + 1.25 * potential
    inner = [*xs[1:-1], *ys[1:-1]]
    slopes = loss.to_function(*loss.gradient(*inner), name="slopes")
    path_x = [0.0, 0.5, 1.0, 1.5, 2.0, 2.0, 2.0]
    path_y = [0.0, 0.0, 0.0, 0.5, 1.0, 1.5, 2.0]
    for _ in range(1000):
        found = slopes(*path_x, *path_y)[1:]
        path_x[1:-1] = [x - 0.1 * d for x, d in zip(path_x[1:-1], found[:5], strict=True)]
        path_y[1:-1] = [y - 0.1 * d for y, d in zip(path_y[1:-1], found[5:], strict=True)]
    quoted = [0.33823173972, 0.82093750537, 1.35133155515, 1.77848567903, 1.99821822206]
    close(path_x[1:-1], quoted, rel=1e-9)
    close(slopes(*path_x, *path_y)[0], 8.288466480089557, rel=1e-12)
