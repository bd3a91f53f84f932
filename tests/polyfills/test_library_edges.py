"""Functions of NumPy and SciPy at their edges: dtypes, identities of reductions, weights of zero, private ufuncs."""

import numpy as np
import pytest
from scipy import linalg, signal, special

import wengert as wg


def close(value, expected, rtol=1e-12):
    np.testing.assert_allclose(value, expected, rtol=rtol)


def same(value, expected):
    """Equal in value, class and dtype."""
    np.testing.assert_array_equal(value, expected)
    assert np.asarray(value).dtype == np.asarray(expected).dtype


# --- logsumexp with weights -------------------------------------------------------------------

TERMS, WEIGHTS = np.array([0.0, 1000.0, 1.0]), np.array([1.0, 0.0, 1.0])


def weighted(a):
    return special.logsumexp(a, b=WEIGHTS)


@pytest.mark.parametrize("form", [lambda f: f, wg.jit], ids=["Python", "native"])
def test_A6_a_large_term_of_weight_0(form):
    value, gradient = form(wg.value_and_grad(weighted))(TERMS)
    assert value == pytest.approx(1.3132616875182228, rel=1e-15)
    close(gradient, [1 / (1 + np.e), 0.0, np.e / (1 + np.e)])
    close(wg.jacobian(weighted, mode="forward")(TERMS), gradient)
    close(wg.hessian(weighted)(TERMS)[1], 0.0)


def test_A6_by_axis_in_float32_and_by_the_weights():
    rows = np.stack([TERMS, TERMS[::-1]])
    by_row = wg.jacobian(lambda a: special.logsumexp(a, axis=1, b=WEIGHTS))(rows)
    close(by_row[0, 0], wg.grad(weighted)(TERMS))
    single = wg.grad(lambda a: special.logsumexp(a, b=np.float32(WEIGHTS)))(np.float32(TERMS))
    close(single, wg.grad(weighted)(TERMS), rtol=1e-6)
    assert single.dtype == np.float32
    terms = np.array([0.0, 300.0, 1.0])
    slopes = wg.grad(lambda b: special.logsumexp(terms, b=b))(WEIGHTS)
    close(slopes, np.exp(terms - special.logsumexp(terms, b=WEIGHTS)))


# --- Hurwitz' zeta, by a private ufunc that takes `out` as an operand ---------------------------


def zeta(q):
    return special.zeta(3.0, q)


def test_D_zeta_in_every_reader_of_its_row():
    slope, curvature = -3 * special.zeta(4.0, 2.0), 12 * special.zeta(5.0, 2.0)
    close(wg.grad(zeta)(2.0), slope)
    close(wg.pushforward(zeta, 2.0)[1](1.0), slope)
    close(wg.derivative(zeta, order=2)(2.0), curvature)
    close(zeta(wg.Dual(2.0, 1.0)).tangent, slope)
    close(wg.taylor(zeta, 2.0, 2)[2], curvature / 2)
    (q,) = wg.Graph().variables("q")
    close(zeta(q).derive(q).eval(q=2.0), slope)


@pytest.mark.parametrize("function", [special.zeta, lambda x: special.zeta(x, 2.0)])
def test_D_zeta_has_no_closed_derivative_by_its_exponent(function):
    with pytest.raises(wg.errors.NoRule, match="the derivative of zeta in `x` has no closed form"):
        wg.grad(lambda x: function(x))(3.0)


# --- methods of ufuncs ------------------------------------------------------------------------

REDUCED = (
    np.add, np.multiply, np.maximum, np.minimum, np.hypot, np.logaddexp2, np.fmax, np.fmin,
    np.subtract, np.divide,
)  # fmt: skip
ROWS = np.array([[-1.5, 2.0, 0.5], [0.5, -3.0, 1.0]])


@pytest.mark.parametrize("length", range(4))
@pytest.mark.parametrize("ufunc", REDUCED, ids=lambda each: each.__name__)
def test_E3_a_reduction_begins_with_the_identity(ufunc, length):
    def reduced(x):
        return ufunc.reduce(x, axis=1)

    rows = ROWS[:, :length]
    if length == 0 and ufunc.identity is None:
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            reduced(rows)
        with pytest.raises(ValueError, match="zero-size array to reduction operation"):
            wg.pullback(reduced, rows)
        return
    expected = reduced(rows)
    same(wg.pullback(reduced, rows)[0], expected)
    if length == 0:
        return
    step = 1e-6 * np.ones_like(rows)
    difference = (reduced(rows + step) - reduced(rows - step)) / 2e-6
    close(wg.pushforward(reduced, rows)[1](np.ones_like(rows)), difference, rtol=1e-7)


class Pair:
    def __len__(self):
        return 2

    def __getitem__(self, k):
        return [1.0, 2.0][k]

    def __radd__(self, x):
        return 100.0 * x


@pytest.mark.static_tier
def test_E3_a_NumPy_number_makes_an_array_of_an_object_with_items():
    def added(x):
        return 2.0 * x + Pair()

    assert added(3.0) == 600.0
    assert wg.value_and_grad(added)(3.0) == (600.0, 200.0)
    assert wg.jit(wg.value_and_grad(added), strict=True)(3.0) == (600.0, 200.0)
    close(added(np.float64(3.0)), [7.0, 8.0])
    with pytest.raises(wg.errors.UnsupportedSyntax) as error:
        wg.pullback(added, np.float64(3.0))
    assert "a NumPy number meets an object of Pair, of which NumPy makes an array" in str(
        error.value
    )
    assert "return 2.0 * x + Pair()" in str(error.value)


class Interval:
    """An object with items and operators."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __len__(self):
        return 2

    def __getitem__(self, k):
        return (self.low, self.high)[k]

    def __mul__(self, x):
        return Interval(self.low * x, self.high * x)

    __rmul__ = __mul__


class Weight:
    """An object that has no items."""

    def __init__(self, w):
        self.w = w

    def __rmul__(self, x):
        return Weight(self.w * x)


class Aside(Interval):
    __array_ufunc__ = None


def number_first(x):
    return np.sum(x[0] * Interval(x[1], 2.0)) * 1.5


def object_first(x):
    return (Interval(x[1], 2.0) * x[0]).high * x[1]


def array_first(x):
    return np.sum(x * Interval(x[1], 2.0)) * 1.5


def without_axes(x):
    return np.sum(np.sum(x) * Interval(x[1], 2.0)) + np.sum(np.array(x[0]) * Interval(3.0, x[1]))


def left_to_the_class(x):
    return (x * Aside(x[1], 2.0)).low[0] + (x[0] * Aside(x[1], 2.0)).low


def array_of_objects(x):
    weights = x * Weight(x[1])
    return sum(each.w for each in weights) * len(weights)


def lists_beside_numbers(x):
    right, left = x[0] - [x[1], 2.0], [x[1], 3.0] + x[0]
    return (
        np.sum(right * left) + np.sum(np.array(x[0]) * [x[1], x[0]]) + np.sum(x[0] > [x[1], -9.0])
    )


@pytest.mark.parametrize(
    "f",
    [
        number_first, object_first, array_first, without_axes, left_to_the_class, array_of_objects,
        lists_beside_numbers,
    ],
)  # fmt: skip
def test_numpy_makes_arrays_of_objects_and_lists_beside_its_own(f):
    at, steps = np.array([0.7, 1.3]), 1e-6 * np.eye(2)
    expected = [(f(at + step) - f(at - step)) / 2e-6 for step in steps]
    for tier in (None, "recorded"):
        value, gradient = wg.value_and_grad(f, tier=tier)(at)
        assert value == f(at)
        close(gradient, expected, rtol=1e-7)


def test_what_a_path_refuses_may_say_how_to_assign():
    """Its way out has ` = ` in it, where a long line is not to be broken."""

    def f(x):
        try:
            return np.log(x[0]) if x[0] > 0 else np.sum(x)
        except ValueError:
            return np.sum(x * Interval(x[1], 2.0))

    close(wg.grad(f, tier="static")(np.array([0.5, 1.0])), [2.0, 0.0])


@pytest.mark.parametrize("f", [lambda z: abs(z), lambda z: (z * z).conjugate().real])
def test_python_s_complex_numbers_give_python_s_floats(f):
    program = lambda x: f(complex(x, 2 * x))
    value, slope = wg.value_and_grad(program, tier="recorded")(0.7)
    assert type(value) is float
    assert value == program(0.7)
    close(slope, (program(0.7 + 1e-6) - program(0.7 - 1e-6)) / 2e-6, rtol=1e-7)


# --- dtypes -----------------------------------------------------------------------------------

SINGLE = np.array([1.0, 2.0, 3.0], np.float32)
OF_SINGLE = {
    "polyadd": lambda v: np.polyadd(v, v[1:]),
    "polysub": lambda v: np.polysub(v, v[1:]),
    "polymul": lambda v: np.polymul(v, v),
    "polyval": lambda v: np.polyval(v, v),
    "poly": np.poly,
    "roots": np.roots,
    "histogram": lambda v: np.histogram(np.arange(3), weights=v)[0],
    "linspace": lambda v: np.linspace(v[0], v[1], 3),
    "logspace": lambda v: np.logspace(v[0], v[1], 3),
    "geomspace": lambda v: np.geomspace(v[0], v[1], 3),
    "vectorize": lambda v: np.vectorize(lambda t: t * t)(v),
    "vectorize, of doubles": lambda v: np.vectorize(lambda t: float(t) * 2.0)(v),
}


@pytest.mark.parametrize("name", OF_SINGLE)
def test_E7_tangents_have_the_dtype_of_the_value(name):
    f = OF_SINGLE[name]
    expected = f(SINGLE)
    y, push = wg.pushforward(f, SINGLE)
    y_again, back = wg.pullback(f, SINGLE)
    dtypes = [each.dtype for each in (y, push(np.ones_like(SINGLE)), y_again)]
    assert dtypes == [expected.dtype] * 3
    close(y_again, expected, rtol=1e-6)
    assert back(np.ones_like(expected))[0].dtype == np.float32


# --- np.trim_zeros, np.finfo --------------------------------------------------------------------


@pytest.mark.parametrize("trim", ["fb", "f", "B"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_trim_zeros(trim, axis):
    table = np.zeros((4, 5))
    table[1, 2], table[2, 3] = 1.0, 2.0
    for x in (table, np.zeros((2, 3))):
        y, back = wg.pullback(lambda x: np.trim_zeros(x, trim, axis=axis), x)
        same(y, np.trim_zeros(x, trim, axis=axis))
        close(back(y)[0], x)
    with pytest.raises(ValueError, match="unexpected character"):
        wg.pullback(lambda x: np.trim_zeros(x, "q"), table)


def test_the_limits_of_the_dtype_of_an_array_are_constants():
    x = np.ones(3)
    for name in ("max", "tiny", "eps"):
        limits = np.finfo(x.dtype)
        gradient = wg.grad(lambda x: getattr(np.finfo(x.dtype), name) * np.sum(x))  # noqa: B023
        close(gradient(x), getattr(limits, name))
    assert wg.grad(lambda x: np.finfo(x.dtype).max * np.sum(x))(x)[0] == limits.max


def test_the_cotangent_of_what_only_the_run_knows_to_be_real_is_real():
    def energy(x, n):
        spectra = signal.stft(x, nperseg=n)[2]
        return np.sum(np.abs(spectra) ** 2)

    x = np.arange(16.0)
    close(wg.gradient(energy, x, 8)[0], wg.grad(lambda x: energy(x, 8))(x))
    close(wg.pullback(energy, x, 8)[1](1.0)[0], wg.grad(energy)(x, 8))


@pytest.mark.parametrize("matrix", [np.zeros((2, 2)), np.diag([1.0, 0.0])])
def test_the_polar_factors_of_a_singular_matrix_have_no_derivative(matrix):
    factor = lambda A: np.sum(linalg.polar(A)[0])
    for derivative in (wg.grad(factor), wg.jacobian(factor, mode="forward")):
        with pytest.raises(wg.WengertError, match="polar decomposition of a singular matrix"):
            derivative(matrix)


def divided_by_a_list(x):
    return np.sum(x[0] / [2.0, x[1]]) + np.sum(np.sum(x) ** [2.0, x[0]]) + np.sum(x[1] % [0.3, 0.4])


@pytest.mark.parametrize("way", [wg.grad, wg.jacobian])
def test_a_number_of_NumPy_over_a_list_is_an_array(way):
    at = np.array([0.7, 1.3])
    steps = 1e-6 * np.eye(2)
    expected = [(divided_by_a_list(at + h) - divided_by_a_list(at - h)) / 2e-6 for h in steps]
    close(way(divided_by_a_list)(at), expected, rtol=1e-7)
    with pytest.raises(TypeError):
        way(divided_by_a_list)([0.7, 1.3])


def of_itself(x, y, turns=2):
    if turns == 0:
        return x * y + x.imag * y + (x.is_integer() or y)
    return of_itself(x * y, y + x.imag, turns - 1) + x * x


def turned(x, y):
    total = 0.0
    for _ in range(3):
        point = x + total
        total = point * y + np.angle(point) * y + (point.is_integer() or y)
    return total


def steered(x, y):
    """The largest eigenvalue of a loop that is closed by a solution: two of them are conjugate."""
    a, b = np.array([[0.1, 1.0], [-2.0, -0.2]]), np.array([[0.0], [1.0]])
    p = linalg.solve_continuous_are(a, b, x**2 * np.eye(2), y * np.eye(1))
    return np.max(np.linalg.eigvals(a - b @ b.T @ p).real)


@pytest.mark.parametrize("f", [of_itself, turned, steered])
@pytest.mark.filterwarnings("error::numpy.exceptions.ComplexWarning")
def test_cotangents_of_real_numbers_are_real_where_their_kind_is_not_known(f):
    step = 1e-5
    for k, d in enumerate(step * np.eye(2)):
        ahead, behind = np.array([1.3, 0.7]) + d, np.array([1.3, 0.7]) - d
        slope = (f(*map(float, ahead)) - f(*map(float, behind))) / (2 * step)
        assert wg.gradient(f, 1.3, 0.7)[k] == pytest.approx(slope, rel=1e-7)
    bend = (wg.grad(f)(1.3 + step, 0.7) - wg.grad(f)(1.3 - step, 0.7)) / (2 * step)
    assert wg.hvp(f)(1.3, 0.7, 1.0) == pytest.approx(bend, rel=1e-6)


# --- compiled code that writes to its arguments -------------------------------------------------


def added_by_blas(x):
    total = np.ones(2)
    linalg.blas.daxpy(x, total, a=2.0)
    return np.sum(total)


@pytest.mark.parametrize("tier", [None, "static", "recorded"])
def test_blas_is_refused_where_nobody_takes_its_result(tier):
    with pytest.raises(wg.WengertError):
        wg.grad(added_by_blas, tier=tier)(np.array([0.7, 1.9]))
    value, push = wg.pushforward(lambda x: np.sum(x) * added_by_blas(np.ones(2)), np.ones(2))
    assert (value, push(np.ones(2))) == (12.0, 12.0)
