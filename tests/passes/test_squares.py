"""Second derivatives of what is smooth where a part of it has a kink: |x|² at 0, ‖v‖² at the origin.

Every program is a smooth function by way of a root. The oracle is the same function written without it.
"""

import math
from itertools import islice

import numpy as np
import pytest
from scipy import linalg

import wengert as wg

ZERO = np.zeros(2)


def misfit(p):
    t = np.linspace(0.0, 1.0, 5)
    return np.sum(np.abs(p[0] * np.exp(1j * p[1] * t) - 2.0 * np.exp(3j * t)) ** 2)


def test_A3_squares_of_what_has_a_kink():
    np.testing.assert_allclose(
        wg.hessian(misfit)(np.array([2.0, 3.0])), [[10.0, 0.0], [0.0, 15.0]], atol=1e-12
    )
    assert np.array_equal(wg.hessian(lambda v: np.linalg.norm(v) ** 2)(ZERO), 2 * np.eye(2))
    assert wg.derivative(lambda x: abs(x) ** 2, order=2)(0.0) == 2.0
    power = wg.hessian(lambda v: np.sum(np.abs(np.fft.fft(v)) ** 2))(ZERO)
    np.testing.assert_allclose(power, 4 * np.eye(2), atol=1e-12)
    deviation = wg.hessian(lambda v: np.std(v) ** 2)(np.ones(2))
    np.testing.assert_allclose(deviation, [[0.5, -0.5], [-0.5, 0.5]])
    assert wg.taylor(lambda x: np.abs(x) ** 2, 0.0, 2) == [0.0, 0.0, 1.0]


def test_gauss_newton_converges_at_a_perfect_fit():
    p = np.array([2.1, 2.9])
    for _ in range(6):
        p = p - np.linalg.solve(wg.hessian(misfit)(p), wg.grad(misfit)(p))
    np.testing.assert_allclose(p, [2.0, 3.0], atol=1e-12)


# --- what may stand for the length -----------------------------------------------------------------

LENGTHS = {
    "norm": np.linalg.norm,
    "norm, ord=2": lambda v: np.linalg.norm(v, 2),
    "norm along an axis": lambda v: np.linalg.norm(v[None], axis=1)[0],
    "norm, keepdims": lambda v: np.linalg.norm(v, keepdims=True)[0],
    "norm of Frobenius": lambda v: np.linalg.norm(v[None], "fro"),
    "vector_norm": np.linalg.vector_norm,
    "SciPy's norm": linalg.norm,
    "np.hypot": lambda v: np.hypot(v[0], v[1]),
    "math.hypot": lambda v: math.hypot(v[0], v[1]),
    "math.dist": lambda v: math.dist(v, [0.0, 0.0]),
    "complex": lambda v: abs(v[0] + 1j * v[1]),
    "np.abs of complex": lambda v: np.abs(v[0] - 1j * v[1]),
    "complex()": lambda v: abs(complex(v[0], v[1])),
    "square root": lambda v: np.sqrt(np.sum(v**2)),
    "math.sqrt": lambda v: math.sqrt(v[0] ** 2 + v[1] ** 2),
    "power": lambda v: (v @ v) ** 0.5,
    "of magnitudes": lambda v: np.linalg.norm(np.abs(v)),
    "of lengths": lambda v: np.hypot(np.linalg.norm(v[:1]), abs(v[1])),
    "deviation": lambda v: np.std(np.array([v[0], -v[0], v[1], -v[1]])) * np.sqrt(2.0),
}


def in_between(r):
    square = r
    return square * r


SMOOTH = {
    "r²": (lambda r: r**2, lambda q: q),
    "r * r": (lambda r: r * r, lambda q: q),
    "np.square": (np.square, lambda q: q),
    "in between": (in_between, lambda q: q),
    "halves": (lambda r: 0.5 * r * r, lambda q: 0.5 * q),
    "factors": (lambda r: (r / 3.0) * (2.0 * -r), lambda q: -2.0 * q / 3.0),
    "r⁴": (lambda r: r**4.0 + r**2, lambda q: q * q + q),
    "bell": (lambda r: np.exp(-(r**2)), lambda q: np.exp(-q)),
    "Lorentz": (lambda r: 1.0 / (1.0 + r * r), lambda q: 1.0 / (1.0 + q)),
    "pseudo-Huber": (lambda r: np.sqrt(1.0 + r**2), lambda q: np.sqrt(1.0 + q)),
    "Huber": (lambda r: 0.5 * r**2 if r < 1.0 else r - 0.5, lambda q: 0.5 * q),
    "a sum": (lambda r: r**2 + 3.0 * r * r, lambda q: 4.0 * q),
}


def hessian(f, x):
    return wg.hessian(f)(x)


def reverse_over_reverse(f, x):
    return wg.jacobian(wg.grad(f), mode="reverse")(x)


def forward_over_forward(f, x):
    return wg.jacobian(wg.jacobian(f, mode="forward"), mode="forward")(x)


def products(f, x):
    return np.array([wg.hvp(f)(x, e) for e in np.eye(len(x))])


def native(f, x):
    return wg.jit(wg.hessian(f))(x)


def recorded(f, x):
    return wg.hessian(f, tier="recorded")(x)


MODES = [hessian, reverse_over_reverse, forward_over_forward, products]


@pytest.mark.filterwarnings(
    "ignore:invalid value"
)  # the slope of a square root at 0, which nobody reads
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("way", SMOOTH)
def test_smooth_functions_of_a_length(length, way):
    through, directly = SMOOTH[way]
    f = lambda v: through(LENGTHS[length](v))
    expected = wg.hessian(lambda v: directly(v @ v))(ZERO)
    also = [recorded] if length != "math.dist" else []
    for mode in [*MODES, *also] if way in ("r²", "halves") else MODES[:1]:
        np.testing.assert_allclose(mode(f, ZERO), expected, atol=1e-12, err_msg=mode.__name__)
    np.testing.assert_array_equal(wg.grad(f)(ZERO), ZERO)
    x = np.array([0.3, -0.2])  # and nothing changes elsewhere
    assert wg.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-15)
    np.testing.assert_allclose(wg.grad(f)(x), wg.grad(lambda v: directly(v @ v))(x), rtol=1e-12)


ALONG_A_LINE = {
    "|x|²": (lambda x: abs(x) ** 2, lambda x: x**2),
    "np.abs": (lambda x: np.abs(x) ** 2, lambda x: x**2),
    "twice": (lambda x: np.abs(x) * np.abs(x), lambda x: x * x),
    "fabs": (lambda x: np.fabs(x) ** 4, lambda x: x**4),
    "cos": (lambda x: np.cos(np.abs(2 * x)), lambda x: np.cos(2 * x)),
    "cosh": (lambda x: np.cosh(3 * np.abs(x)), lambda x: np.cosh(3 * x)),
    "complex": (lambda x: abs((1 + 2j) * x) ** 2, lambda x: 5 * x * x),
    "hypot": (lambda x: np.hypot(x, 2 * x) ** 2, lambda x: 5 * x * x),
    "bell": (lambda x: np.exp(-(np.abs(x) ** 2)), lambda x: np.exp(-x * x)),
    "root": (lambda x: np.sqrt(x * x) ** 2, lambda x: x * x),
}


@pytest.mark.parametrize("name", ALONG_A_LINE)
def test_every_order_in_every_kind_of_number(name):
    through, directly = ALONG_A_LINE[name]
    expected = list(islice(wg.derivatives(directly, 0.0), 5))
    np.testing.assert_allclose(list(islice(wg.derivatives(through, 0.0), 5)), expected, atol=1e-12)
    factorials = [math.factorial(k) for k in range(5)]
    np.testing.assert_allclose(
        np.multiply(wg.taylor(through, 0.0, 4), factorials), expected, atol=1e-12
    )
    for order in (1, 2, 3, 4):
        found = wg.derivative(through, order=order)(0.0)
        np.testing.assert_allclose(found, expected[order], atol=1e-12)
    outer = through(wg.Dual(wg.Dual(0.0, 1.0), wg.Dual(1.0, 0.0)))
    assert outer.primal.primal == through(0.0)
    once = lambda x: wg.numbers.derivative(through, x)
    np.testing.assert_allclose(wg.numbers.derivative(once, 0.0), expected[2], atol=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: np.hypot(a, b) ** 2,
        lambda a, b: abs(a) ** 2 + abs(b) * abs(b),
        lambda a, b: 2 - 2 * np.exp(-0.5 * np.sqrt(a * a + b * b) ** 2),
        lambda a, b: np.sqrt(a * a + b * b) ** 2,
        lambda a, b: 2 - np.cos(abs(a)) * 2 + b * b - 0.0 * a,
    ],
)
def test_terms_of_a_graph(f):
    a, b = wg.Graph().variables("a", "b")
    term = f(a, b)
    for by in (a, b):
        scale = term.derive(by).derive(by).eval(a=0.0, b=0.0)
        assert scale == pytest.approx(term.gradient(by)[0].gradient(by)[0].eval(a=0.0, b=0.0))
        assert scale == pytest.approx(2.0)


def test_a_term_by_the_root_itself():
    (a,) = wg.Graph().variables("a")
    r = abs(a)
    assert str((r * r).derive(r)) == "2 * abs(a)"


def test_arrays_that_are_written_to():
    def written(x):
        r = np.abs(x)
        r[0] = 3.0 * x[0]
        return np.sum(r * r)

    def before(x):
        r = np.abs(x)
        square = np.sum(r * r)
        r[0] = 5.0
        return square + r[0]

    def operand(x):
        y = 2.0 * x
        r = np.abs(y)
        y[0] = 7.0
        return np.sum(r * r) + y[0]

    def view(x):
        r = np.abs(x)
        part = r[:1]
        r[:] = 3.0 * x
        return np.sum(part * part) + np.sum(r)

    def factor(x):
        c = np.ones(2)
        r = c * np.abs(x)
        c[:] = 5.0
        return np.sum(r * r) + c[0]

    def in_place(x):
        r = np.abs(x)
        r *= r
        return np.sum(r)

    def for_the_caller(x, out):
        out[:] = np.abs(x)
        square = np.sum(out * out)
        out[:] = 3.0
        return square + out[0]

    x = np.array([0.5, -2.0])
    np.testing.assert_allclose(wg.hessian(view)(x), [[18.0, 0.0], [0.0, 0.0]])
    np.testing.assert_allclose(wg.grad(view)(x), [18 * 0.5 + 3, 3])
    np.testing.assert_allclose(wg.grad(factor)(x), 2 * x)
    np.testing.assert_allclose(wg.jacobian(factor, mode="forward")(x), 2 * x)
    np.testing.assert_allclose(wg.hessian(in_place)(np.zeros(2)), 2 * np.eye(2))
    out = np.ones(2)
    np.testing.assert_allclose(wg.grad(for_the_caller)(x, out), 2 * x)
    np.testing.assert_allclose(out, 3.0)
    np.testing.assert_allclose(wg.grad(written)(x), [18 * 0.5, -4.0])
    np.testing.assert_allclose(wg.hessian(before)(np.zeros(2)), 2 * np.eye(2))
    np.testing.assert_allclose(wg.grad(operand)(x), 8 * x)
    np.testing.assert_allclose(wg.jacobian(operand, mode="forward")(x), 8 * x)


def test_arrays_of_numbers_that_are_written_to():
    def written(x):
        r = np.abs(x)
        r[0] = 3.0 * x[0]
        return np.sum(r * r)

    x = wg.Dual(np.array([0.5, -2.0]), np.array([1.0, 1.0]))
    assert written(x).tangent == pytest.approx(9.0 - 4.0)


def pairs(p):
    d = np.linalg.norm(p[:, None] - p[None], axis=-1)
    return np.sum(np.exp(-(d**2) / 2))


def test_distances_of_points_from_themselves():
    p = np.array([[0.0, 0.0], [1.0, 1.0]])
    directly = lambda p: np.sum(np.exp(-np.sum((p[:, None] - p[None]) ** 2, -1) / 2))
    np.testing.assert_allclose(wg.hessian(pairs)(p), wg.hessian(directly)(p), atol=1e-14)


REACHED = {
    "in a loop": lambda v: sum(abs(x) ** 2 for x in v),
    "items of it": lambda v: [r := np.abs(v), sum(r[k] * r[k] for k in range(2))][1],
    "a dictionary": lambda v: {"r": np.linalg.norm(v)}["r"] ** 2,
    "dot": lambda v: np.dot(np.abs(v), np.abs(v)),
    "einsum": lambda v: np.einsum("i,i->", np.abs(v), np.abs(v)),
    "einsum, implicit": lambda v: np.einsum("i,i", np.abs(v), np.abs(v)),
    "mean": lambda v: 2 * np.mean(np.abs(v) ** 2),
    "where": lambda v: np.sum(np.where(np.abs(v) < 1, np.abs(v) ** 2, 2 * np.abs(v) - 1)),
    "reshaped": lambda v: np.sum(np.abs(v).reshape(2, 1).T ** 2),
    "weighted": lambda v: np.sum(np.ones(2) * np.abs(v) * np.abs(v)),
}


def merged(v):
    r = 0.0 if v[0] > 5.0 else np.linalg.norm(v)
    return r**2


def over_items(v):
    total = 0.0
    for r in np.abs(v):
        total += r * r
    return total


def over_a_list(v):
    lengths = [abs(x) for x in v]
    return sum(r**2 for r in lengths)


def early(v):
    r = np.linalg.norm(v)
    if r > 3.0:
        return 3.0 * r
    return r * r


REACHED |= {each.__name__: each for each in (merged, over_items, over_a_list, early)}


@pytest.mark.parametrize("name", REACHED)
def test_ways_through_a_program(name):
    f = REACHED[name]
    also = () if name.startswith("einsum") else (recorded,)
    for mode in (hessian, reverse_over_reverse, *also):
        np.testing.assert_allclose(mode(f, ZERO), 2 * np.eye(2), atol=1e-14)
    x = np.array([0.4, -0.3])
    np.testing.assert_allclose(wg.grad(f)(x), 2 * x)
    np.testing.assert_allclose(wg.jacobian(f, mode="forward")(x), 2 * x)


# --- smooth, and not said to be the square of anything ----------------------------------------------

UNSAID = {
    "r tanh r": lambda r: r * np.tanh(r),
    "Fair": lambda r: 2 * (r - np.log1p(r)),
    "Matérn": lambda r: -2 * (1 + r) * np.exp(-r),
    "rational": lambda r: r * r / (1 + r),
    "cube": lambda r: r**3 + r * r,
    "square of a sum": lambda r: (r + 1) ** 2 - 2 * r,
    "product of sums": lambda r: (r - 1) * (r + 1),
    "least": lambda r: np.minimum(r, 5.0) ** 2,
    "clipped": lambda r: np.clip(r, 0.0, 5.0) * np.maximum(r, 0.0),
    "in an array": lambda r: np.sum(np.stack([r, r]) ** 2) / 2,
    "joined": lambda r: np.sum(np.append(r, r) ** 2) / 2,
    "exponents": lambda r: np.sum(r ** np.array([2.0, 2.0])) / 2,
    "matrix": lambda r: np.sum((np.array([[1.0, 0.0]]) * r) @ (np.array([[1.0], [0.0]]) * r)),
    "array written to": lambda r: np.sum(filled(r) ** 2),
    "list": lambda r: sum(each**2 for each in gathered(r)),
    "carried": lambda r: carried(r) ** 2,
    "multiple": lambda r: (r + r) * r / 2,
}


def filled(r):
    out = np.zeros(1)
    out[0] = r
    return out


def gathered(r):
    found = []
    while len(found) < 1:
        found.append(r)
    return found


def carried(r):
    total = 0.0
    for _ in range(3):
        total = np.hypot(total, r) if r < 0 else r
    return total


def reverse_over_forward(f, x):
    return wg.jacobian(wg.jacobian(f, mode="forward"), mode="reverse")(x)


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize(
    "length", ["norm", "np.hypot", "math.hypot", "np.abs of complex", "norm along an axis"]
)
@pytest.mark.parametrize("way", UNSAID)
def test_smooth_functions_that_are_not_said_to_be(length, way):
    f = lambda v: UNSAID[way](LENGTHS[length](v))
    for mode in (hessian, products, native):
        np.testing.assert_allclose(mode(f, ZERO), 2 * np.eye(2), atol=1e-12, err_msg=mode.__name__)
    for mode in (reverse_over_reverse, reverse_over_forward, forward_over_forward):
        found = mode(f, ZERO)  # it may be unknown, and is never another number
        right = np.isclose(found, 2 * np.eye(2), atol=1e-12)
        assert np.all(right | np.isnan(found)), (mode.__name__, found)
    x = np.array([0.3, -0.2])
    expected = forward_over_forward(f, x)
    for mode in (hessian, reverse_over_reverse, reverse_over_forward):
        np.testing.assert_allclose(mode(f, x), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(wg.grad(f)(ZERO), ZERO)


@pytest.mark.parametrize("way", UNSAID)
def test_magnitudes_in_products_that_are_smooth(way):
    for second in (lambda x: abs(x), lambda x: abs(-x), lambda x: abs(0.5 * x) * 2):
        f = lambda x, second=second: UNSAID[way](abs(x)) + abs(x) * second(x) - abs(x) ** 2
        np.testing.assert_allclose(wg.hessian(f)(0.0), 2.0, atol=1e-12)
        found = wg.jacobian(wg.grad(f), mode="reverse")(0.0)
        assert np.isnan(found) or np.isclose(found, 2.0)
        found = wg.derivative(f, order=2)(0.0)
        assert np.isnan(found) or np.isclose(found, 2.0)


@pytest.mark.parametrize("length", ["norm", "np.hypot", "np.abs of complex"])
@pytest.mark.parametrize("way", ["r tanh r", "Fair", "Matérn", "cube", "least", "joined"])
def test_duals_inside_duals_go_along_the_inner_direction(length, way):
    f = lambda v: UNSAID[way](LENGTHS[length](v))
    for e, d in ((np.array([1.0, 0.5]), np.array([1.0, 0.5])), (np.eye(2)[0], np.eye(2)[0])):
        twice = f(wg.Dual(wg.Dual(np.zeros(2), e), wg.Dual(d, np.zeros(2))))
        assert twice.tangent.tangent == pytest.approx(2 * e @ d, abs=1e-12)
        x = np.array([0.3, -0.2])
        twice = f(wg.Dual(wg.Dual(x, e), wg.Dual(d, np.zeros(2))))
        assert twice.tangent.tangent == pytest.approx(e @ wg.hessian(f)(x) @ d)
    assert f(wg.Dual(np.zeros(2), np.ones(2))).tangent == 0.0


LENGTHS_OF_ONE = {
    "abs": (abs, 1.0),
    "norm": (lambda t: np.linalg.norm(t * np.array([1.0, 0.5])), np.sqrt(1.25)),
    "np.hypot": (lambda t: np.hypot(t, -0.5 * t), np.sqrt(1.25)),
    "np.abs of complex": (lambda t: np.abs(t - 0.5j * t), np.sqrt(1.25)),
    "math.dist": (lambda t: math.dist([t, 1.0], [2.0 * t, 1.0]), 1.0),
    "std": (lambda t: np.std(t * np.array([1.0, 3.0]) + 1.0), 1.0),
}


@pytest.mark.parametrize("length", LENGTHS_OF_ONE)
@pytest.mark.parametrize("way", [way for way in UNSAID if way != "array written to"])
def test_power_series_of_smooth_functions_that_are_not_said_to_be(length, way):
    of_number, scale = LENGTHS_OF_ONE[length]
    f, same = lambda t: UNSAID[way](of_number(t)), lambda t: UNSAID[way](scale * t)
    right = wg.taylor(same, 1e-30, 4)  # 0 itself would be on both sides
    expected = [(c + (-1) ** k * c) / 2 for k, c in enumerate(right)]
    np.testing.assert_allclose(wg.taylor(f, 0.0, 4), expected, atol=1e-12)
    found = list(islice(wg.derivatives(f, 0.0), 5))
    factorials = [1, 1, 2, 6, 24]
    np.testing.assert_allclose(found, np.multiply(expected, factorials), atol=1e-12)


def test_power_series_on_both_sides():
    assert wg.taylor(lambda x: x * abs(x), 0.0, 3) == [0.0, 0.0, 0.0, 0.0]
    assert wg.taylor(lambda x: abs(x) + abs(x**2) + abs(x**3), 0.0, 3) == [0.0, 0.0, 1.0, 0.0]
    assert wg.taylor(lambda x: abs(abs(x) - x), 0.0, 1) == [0.0, -1.0]
    assert wg.taylor(lambda x: math.dist([x, 1.0], [0.0, x]), 0.0, 2) == [1.0, -1.0, 0.5]
    v = np.array([0.0, 0.5])
    smooth = wg.taylor(lambda x: np.abs(x) * np.tanh(np.abs(x)), v, 2)
    np.testing.assert_allclose(smooth[2][0], 1.0)
    np.testing.assert_allclose(
        [c[1] for c in smooth], wg.taylor(lambda x: x * np.tanh(x), v[1], 2), rtol=1e-14
    )


def test_what_depends_on_a_length_is_followed_along_the_direction_or_unknown():
    one = lambda x: abs(x) * np.tanh(abs(x))
    assert wg.derivative(one, order=2)(0.0) == 2.0
    assert np.isnan(wg.jacobian(wg.grad(one), mode="reverse")(0.0))
    spread = lambda v: np.std(v) * np.tanh(np.std(v))
    assert np.isnan(wg.hessian(spread)(np.ones(2))).all()


SEEN = {
    "a factor that vanishes": (lambda x, y: x**2 / (1 + abs(x)), [[2.0, 0.0], [0.0, 0.0]]),
    "in a product": (lambda x, y: abs(x) * x**2 + x * y * abs(y) * 0.5 + x * y, [[0.0, 1.0], [1.0, 0.0]]),
    "cube": (lambda x, y: abs(x - y) ** 3 + np.exp(x), [[1.0, 0.0], [0.0, 0.0]]),
    "in an array": (
        lambda x, y: np.sum(np.array([x, y]) ** 2 / (1 + np.abs(np.array([x, y])))), 2 * np.eye(2),
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("name", SEEN)
def test_reverse_mode_sees_that_nothing_depends_on_a_slope(name):
    f, expected = SEEN[name]
    g = wg.grad(lambda v: f(v[0], v[1]))
    np.testing.assert_allclose(wg.jacobian(g, mode="reverse")(ZERO), expected, atol=1e-15)
    np.testing.assert_allclose(wg.jit(wg.jacobian(g, mode="reverse"))(ZERO), expected, atol=1e-15)
    one = wg.grad(lambda x: wg.derivative(lambda t: f(t, 0.0))(x))
    assert one(0.0) == pytest.approx(np.array(expected)[0, 0])


UNSEEN = {
    "one-sided": lambda x: x * abs(x),
    "even": lambda x: np.exp(abs(x)) + np.exp(-abs(x)),
    "two magnitudes": lambda x: abs(x) * abs(-x) + abs(x) * abs(2 * x),
    "behind a branch": lambda x: abs(x) * (np.tanh(abs(x)) if x < 1 else 1.0),
    "behind a loop": lambda x: sum(abs(x) * np.sin(abs(x) * k) for k in [1.0, 2.0]),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_reverse_mode_does_not_take_a_slope_of_0_for_nothing(name):
    f = UNSEEN[name]
    assert np.isnan(wg.jacobian(wg.grad(f), mode="reverse")(0.0))
    near = wg.derivative(f, order=2)(1e-9)
    assert wg.jacobian(wg.grad(f), mode="reverse")(1e-9) == pytest.approx(near)


def test_penalties_have_no_second_derivative():
    lasso = lambda v: np.sum(np.abs(v)) + v[0] ** 2
    group = lambda v: np.linalg.norm(v) + v[0] ** 2
    for mode in (*MODES, native, reverse_over_forward):
        np.testing.assert_array_equal(mode(lasso, ZERO), [[2, 0], [0, 0]])
        np.testing.assert_array_equal(mode(group, ZERO), [[2, 0], [0, 0]])


def test_distances_to_themselves_that_are_left_out():
    p = np.array([[0.0, 0.0], [1.0, 0.5], [0.3, -0.7]])
    same = np.eye(3, dtype=bool)

    def energy(p):
        d = np.linalg.norm(p[:, None] - p[None], axis=-1)
        return np.sum(1 / d[~same]) / 2

    def directly(p):
        pairs = [(0, 1), (0, 2), (1, 2)]
        return sum(1 / np.sqrt(np.sum((p[i] - p[j]) ** 2)) for i, j in pairs)

    for mode in (hessian, forward_over_forward, reverse_over_reverse):
        np.testing.assert_allclose(mode(energy, p), wg.hessian(directly)(p), rtol=1e-12)
    left_out = lambda v: np.exp(-np.sum(np.where(abs(v) < 1, abs(v) ** 2, 2 * abs(v) - 1)))
    expected = wg.hessian(lambda v: np.exp(-(v[0] ** 2) - 2 * v[1] + 1))(np.array([0.0, 2.0]))
    for mode in (hessian, forward_over_forward, reverse_over_reverse):
        np.testing.assert_allclose(mode(left_out, np.array([0.0, 2.0])), expected, atol=1e-14)


def test_native():
    for f in (REACHED["mean"], LENGTHS["norm"], LENGTHS["np.hypot"]):
        square = f if f is REACHED["mean"] else lambda v, f=f: f(v) ** 2
        np.testing.assert_allclose(native(square, ZERO), 2 * np.eye(2), atol=1e-14)


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize(
    ("f", "same"),
    [
        (lambda a, b: abs(a) ** b, lambda a, b: a**b),
        (
            lambda a, b: np.sum(np.abs(a - np.arange(3.0)) ** b),
            lambda a, b: np.sum((a - np.arange(3.0)) ** b),
        ),
        (lambda a, b: np.linalg.norm(np.array([a, 0.0])) ** b, lambda a, b: a**b),
        (lambda a, b: (a ** (b / 4.0)) ** 2, lambda a, b: a ** (b / 2)),
        (lambda a, b: abs(a) * abs(b), lambda a, b: a * b),
    ],
)
def test_what_is_differentiated_is_no_known_exponent_and_no_other_number_that_equals_it(
    f, same, tier
):
    first = wg.grad(f, (0, 1), tier=tier)(2.0, 2.0)
    np.testing.assert_allclose(first, wg.grad(same, (0, 1))(2.0, 2.0), atol=1e-12)
    for at in ((2.5, 2.0), (2.5, 2.5)):
        second = wg.hessian(f, (0, 1), tier=tier)(*at)
        np.testing.assert_allclose(second, wg.hessian(same, (0, 1))(*at), rtol=1e-12)


def test_first_derivatives_at_a_kink_stay_as_they_are_documented():
    assert wg.grad(abs)(0.0) == 0.0
    assert wg.derivative(abs, order=2)(0.0) == 0.0
    assert wg.taylor(np.abs, 0.0, 2) == [0.0, 0.0, 0.0]
    assert np.array_equal(wg.grad(np.linalg.norm)(ZERO), ZERO)
    assert np.array_equal(wg.hessian(np.linalg.norm)(ZERO), np.zeros((2, 2)))
    assert wg.grad(lambda x: abs(x) + abs(x) ** 2)(0.0) == 0.0


@pytest.mark.parametrize(
    ("f", "same"),
    [
        (lambda z: np.sum(np.abs(np.sqrt(z)) ** 2), lambda z: np.sum(np.abs(z))),
        (lambda z: np.vdot(np.sqrt(z), np.sqrt(z)).real, lambda z: np.sum(np.abs(z))),
        (lambda z: np.linalg.norm(np.sqrt(z)) ** 2, lambda z: np.sum(np.abs(z))),
        (lambda z: np.hypot(np.abs(np.sqrt(z[0])), 1.0) ** 2, lambda z: np.abs(z[0]) + 1),
        (lambda z: np.real(np.sum(np.sqrt(z) ** 2)), lambda z: np.real(np.sum(z))),
    ],
)
def test_the_magnitude_of_a_complex_root_is_not_what_it_is_the_root_of(f, same):
    z = np.array([1 + 2j, 3 - 0.5j])
    np.testing.assert_allclose(wg.grad(f)(z), wg.grad(same)(z), rtol=1e-12)
    v = np.array([0.3 - 1j, 2j])
    np.testing.assert_allclose(
        wg.pushforward(f, z)[1](v), wg.pushforward(same, z)[1](v), rtol=1e-12
    )
