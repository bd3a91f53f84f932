"""Functions of SciPy in recorded runs: derivatives as reading finds them, also where solvers call the program."""

import warnings

import numpy as np
import pytest
from scipy import integrate, interpolate, linalg, ndimage, optimize, signal, special, stats
from scipy.sparse import csc_array, hstack
from scipy.sparse.linalg import aslinearoperator

import wengert as wg
from wengert.errors import NoRule, UnsupportedSyntax

RECORDED = {"tier": "recorded"}
TIMES = np.linspace(0.0, 1.0, 9)


def matrix(a):
    return np.array([[a, 0.3], [0.3, 2.0]])


def decay(a, method):
    how = {"rtol": 1e-8, "atol": 1e-10}
    if method == "odeint":
        return integrate.odeint(lambda y, t: -a * y, 1.0, [0, 1.0], **how)[-1, 0]
    return integrate.solve_ivp(lambda t, y: [-a * y[0]], (0, 1), [1.0], method=method, **how).y[
        0, -1
    ]


def fitted(a):
    found, _ = optimize.curve_fit(lambda x, b: np.exp(-b * x), TIMES, np.exp(-a * TIMES), p0=[1.0])
    return found[0]


def half_life(a):
    """A solver in what another one solves: the times that it asks for have no derivative at two levels."""
    left = lambda t: integrate.solve_ivp(lambda t, y: -a * y, (0.0, t), [1.0], rtol=1e-9).y[0, -1]
    return optimize.brentq(lambda t: left(t) - 0.5, 0.1, 5.0)


FUNCTIONS = {
    "half_life": half_life,
    "brentq": lambda a: optimize.brentq(lambda x: x**3 - a, 0, 3),
    "newton": lambda a: optimize.newton(lambda x: x**3 - a, 1.0),
    "fsolve": lambda a: np.sum(optimize.fsolve(lambda x: [x[0] ** 2 - a, x[1] - a * x[0]], [1.0, 1.0])),
    "root": lambda a: optimize.root(lambda x: np.array([x[0] ** 2 - a, x[1] - a]), [1.0, 1.0]).x[0],
    "minimize": lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2 + (x[1] * a - 1) ** 2, [1.0, 1.0]).x[1],
    "minimize_scalar": lambda a: optimize.minimize_scalar(lambda x: (x - a) ** 2).x,
    "least_squares": lambda a: optimize.least_squares(lambda x: np.array([x[0] - a, x[1] * a - 1]), [1.0, 1.0]).x[1],
    "curve_fit": fitted,
    "quad": lambda a: integrate.quad(lambda t: np.exp(-a * t), 0, 2)[0],
    "RK45": lambda a: decay(a, "RK45"),
    "odeint": lambda a: decay(a, "odeint"),
    "sqrtm": lambda a: np.sum(linalg.sqrtm(matrix(a))),
    "logm": lambda a: np.sum(linalg.logm(matrix(a))),
    "expm": lambda a: np.sum(linalg.expm(matrix(a))),
    "lyapunov": lambda a: np.sum(linalg.solve_continuous_lyapunov(matrix(a), np.eye(2))),
    "riccati": lambda a: np.sum(linalg.solve_continuous_are(matrix(a), np.eye(2), np.eye(2), np.eye(2))),
    "cho_solve": lambda a: linalg.cho_solve(linalg.cho_factor(matrix(a)), np.ones(2))[0],
    "CubicSpline": lambda a: float(interpolate.CubicSpline([0, 1, 2, 3.0], [a, 2.0, a * a, 1.0])(1.5)),
    "interp1d": lambda a: interpolate.interp1d([0, 1, 2.0], [a, 2 * a, 1.0])(0.5) * 1.0,
    "simpson": lambda a: integrate.simpson(np.sin(a * TIMES), x=TIMES),
    "norm": lambda a: stats.norm.logpdf(0.3, loc=a, scale=1 + a * a),
    "frozen norm": lambda a: np.sum(stats.norm(a, 1 + a * a).logpdf(np.array([0.3, 0.4]))),
    "multivariate_normal": lambda a: stats.multivariate_normal.logpdf(np.ones(2), np.zeros(2), matrix(a)),
    "special": lambda a: special.gammaln(a) + special.logsumexp(np.array([a, 2 * a])) + special.expit(a),
    "lfilter": lambda a: np.sum(signal.lfilter([1.0, a], [1.0, -0.5], np.arange(5.0))),
    "gaussian_filter": lambda a: np.sum(ndimage.gaussian_filter(np.arange(9.0) * a, 1.0) ** 2),
    "implicit": lambda a: wg.implicit(lambda x, a: x**3 - a, lambda a: a ** (1 / 3))(a),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_are_those_of_reading(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = wg.grad(FUNCTIONS[name], tier="static")(1.7)
        found = wg.grad(FUNCTIONS[name], tier="recorded")(1.7)
    assert found == pytest.approx(expected, rel=1e-9)


SAMPLE, OTHER = np.array([0.3, 1.1, 0.8, 2.5, 1.9]), np.array([1.2, 0.4, 0.9, 3.1, 0.2])
SQUARE = np.diag(OTHER) + 0.2
PYTHON_OF_SCIPY = {
    "an estimate": lambda x: stats.kstat(x, 3),
    "another option": lambda x: stats.tmean(x, (0.5, 3.0)) * stats.tsem(x),
    "a result of several": lambda x: stats.describe(x).variance,
    "a plain number": lambda x: stats.describe([x[0], 2.0, x[2]]).mean,
    "rows": lambda x: stats.gstd(np.exp(np.outer(x, OTHER)), axis=1)[0],
    "angles": lambda x: stats.circmean(x) + stats.circstd(x),
    "an option that its stand-in lacks": lambda x: stats.gzscore(x)[2],
    "without what is missing": lambda x: stats.zscore(x, nan_policy="omit")[2],
    "a statistic": lambda x: stats.bartlett(x, OTHER).statistic,
    "a fit": lambda x: stats.theilslopes(x, OTHER).intercept,
    "items that are changed": lambda x: stats.yeojohnson_llf(0.7, x),
    "moments": lambda x: stats.lmoment(x)[1],
    "a filter": lambda x: signal.zpk2sos([0.2], [0.3, 0.1], x[0])[0, 0],
    "a matrix": lambda x: linalg.leslie(x, [0.1, 0.2, 0.3, 0.4])[0, 1],
    "a function of matrices": lambda x: linalg.tanhm(0.1 * np.outer(x, OTHER))[0, 1],
}


@pytest.mark.parametrize("name", PYTHON_OF_SCIPY)
def test_python_of_scipy_runs_as_the_programs_own(name):
    f = PYTHON_OF_SCIPY[name]
    along = np.array([0.3, -0.2, 0.5, 0.1, 0.4])
    expected = (f(SAMPLE + 1e-5 * along) - f(SAMPLE - 1e-5 * along)) / 2e-5
    for tier in (None, "recorded"):
        value, slope = wg.value_and_grad(f, tier=tier)(SAMPLE)
        assert value == pytest.approx(f(SAMPLE), rel=1e-12)
        assert slope @ along == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_functions_of_scipy_as_they_are():
    np.testing.assert_allclose(wg.grad(stats.tsem)(SAMPLE), wg.grad(lambda x: stats.sem(x))(SAMPLE))


def test_what_python_of_scipy_calls_in_c_is_refused():
    with pytest.raises(wg.WengertError, match="the code of _quadratic does not take numbers"):
        wg.grad(lambda x: signal.qspline1d_eval(x, x)[1])(SAMPLE)


def test_options_that_say_nothing():
    f = lambda x, **options: linalg.svd(SQUARE * x, **options)[1][0]
    plain = wg.grad(f, tier="recorded")(SAMPLE)
    assert_same = lambda g: np.testing.assert_array_equal(
        wg.grad(g, tier="recorded")(SAMPLE), plain
    )
    assert_same(lambda x: f(x, overwrite_a=True, check_finite=False))
    assert_same(lambda x: linalg.svdvals(SQUARE * x, overwrite_a=True)[0])
    skewed = wg.grad(lambda x: stats.skew(x, nan_policy="propagate"), tier="recorded")(SAMPLE)
    np.testing.assert_allclose(skewed, wg.grad(lambda x: stats.skew(x))(SAMPLE), rtol=1e-14)


def test_second_derivatives_of_roots():
    def root(a):
        return optimize.brentq(lambda x: x**3 - a, 0, 3)

    expected = wg.derivative(root, 2, tier="static")(1.7)
    assert wg.derivative(root, 2, tier="recorded")(1.7) == pytest.approx(expected, rel=1e-9)


# --- arrays of other classes --------------------------------------------------------------------------------------

MASKED = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])


def test_arrays_of_other_classes_are_constants() -> None:
    assert wg.grad(lambda x: MASKED.sum() * x)(2.0) == 4.0
    assert wg.grad(lambda x: MASKED.data[1] * x**2)(2.0) == 8.0


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(np.array([x, x, 1.0]) * MASKED),
        lambda x: np.dot(np.array([x, x, 1.0]), MASKED),
        lambda x: np.sum(np.array([[x, 1.0], [2.0, x]]) * np.matrix([[1.0, 2.0], [3.0, 4.0]])),
    ],
)
def test_arrays_of_other_classes_meet_no_derivatives(f) -> None:
    with pytest.raises(wg.errors.UnsupportedSyntax, match="compute in ways of their own"):
        wg.grad(f, **RECORDED)(2.0)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_arguments_of_other_classes_are_refused() -> None:
    for x in (MASKED, np.matrix([[1.0, 2.0], [3.0, 4.0]])):
        with pytest.raises(wg.errors.BadArgument, match="compute in ways of their own"):
            wg.grad(lambda x: np.sum(x * x), **RECORDED)(x)


def test_columns_of_tables_beside_what_has_derivatives() -> None:
    table = pytest.importorskip("pandas").DataFrame({"at": [1.0, 2.0, 4.0], "is": [3.0, 5.0, 4.0]})
    assert wg.grad(lambda x: np.interp(x, table["at"], table["is"]), **RECORDED)(2.5) == -0.5
    assert wg.grad(lambda x: np.polyval(table["at"], x), **RECORDED)(2.5) == 7.0
    with pytest.raises(wg.errors.UnsupportedSyntax, match="gives a Series"):
        wg.grad(lambda x: np.max(np.maximum(x, table["at"])), **RECORDED)(2.5)


def test_code_of_numba_says_where_it_was_called() -> None:
    jitted = pytest.importorskip("numba").njit(lambda x: np.sum(x * x))
    with pytest.raises(
        wg.errors.LostDerivative, match="takes plain numbers: can't unbox"
    ) as caught:
        wg.grad(lambda x: jitted(2.0 * x), **RECORDED)(TIMES)
    assert __file__ in str(caught.value)


def test_places_of_quantiles_in_a_tuple() -> None:
    slopes = wg.grad(lambda x: np.sum(np.percentile(x, (25.0, 75.0))), **RECORDED)
    np.testing.assert_allclose(slopes(np.array([1.0, 3.0, 4.0])), [0.5, 1.0, 0.5])


KNOTS = np.linspace(0.0, 1.0, 7)
NORMAL = stats.norm(1.0, 2.0)
PLANE = stats.multivariate_normal([0.0, 0.0], np.eye(2))
SPLINE = interpolate.make_interp_spline(KNOTS, np.sin(3 * KNOTS))
LENGTHS = np.array([0.3, 1.2, 0.7, 2.2])

OBJECTS = {
    "distribution": lambda a: NORMAL.pdf(a),
    "distribution_of_the_run": lambda a: stats.norm(1.0, 2.0).pdf(a),
    "distribution_of_vectors": lambda a: PLANE.pdf([a, 0.2]),
    "distribution_of_vectors_of_the_run": lambda a: stats.multivariate_normal([0.0, 0.0], np.eye(2)).pdf([a, 0.2]),
    "derivative_of_a_spline": lambda a: SPLINE.derivative()(a) + SPLINE.antiderivative()(a) ** 2,
    "line": lambda a: interpolate.interp1d(KNOTS, KNOTS**2)(a),
    "cubic": lambda a: interpolate.CubicSpline(KNOTS, KNOTS**3)(a),
    "its_derivative": lambda a: interpolate.PchipInterpolator(KNOTS, KNOTS**2).derivative()(a),
    "smoothed": lambda a: interpolate.UnivariateSpline(KNOTS, KNOTS**2)(a),
    "grid": lambda a: interpolate.RegularGridInterpolator((KNOTS, KNOTS), np.outer(KNOTS, KNOTS))([[a, 0.3]])[0],
    "surface": lambda a: interpolate.RectBivariateSpline(KNOTS, KNOTS, np.outer(KNOTS, KNOTS)).ev(a, 0.3),
    "kernels": lambda a: stats.gaussian_kde(KNOTS)(a)[0],
}  # fmt: skip


@pytest.mark.parametrize("f", OBJECTS.values(), ids=OBJECTS)
@pytest.mark.parametrize("how", [RECORDED, {}], ids=["recorded", "as_it_comes"])
def test_objects_of_scipy(f, how) -> None:  # type: ignore[no-untyped-def]
    expected = (f(0.37 + 1e-6) - f(0.37 - 1e-6)) / 2e-6
    assert wg.grad(f, **how)(0.37) == pytest.approx(expected, rel=1e-7)


WRITTEN_IN_PYTHON = {
    "describe": lambda a: stats.describe(LENGTHS * a).variance,
    "tsem": lambda a: stats.tsem(LENGTHS * a),
    "circmean": lambda a: stats.circmean(LENGTHS * a),
    "skewtest": lambda a: stats.skewtest(np.arange(9.0) ** 2 + np.arange(9.0) ** 3 * a).statistic,
}


@pytest.mark.parametrize("f", WRITTEN_IN_PYTHON.values(), ids=WRITTEN_IN_PYTHON)
def test_code_of_scipy_that_nothing_stands_for_is_run_in_boxes(f) -> None:  # type: ignore[no-untyped-def]
    expected = (f(0.37 + 1e-6) - f(0.37 - 1e-6)) / 2e-6
    assert wg.grad(f)(0.37) == pytest.approx(expected, rel=1e-6)
    with pytest.raises(wg.errors.NoRule):
        wg.grad(f, tier="static")(0.37)


def test_functions_in_c_that_write_to_what_they_are_given_are_refused():
    """Their result is None, which has no numbers: it says nothing of what is lost."""
    f = lambda x: ndimage.generic_filter(x, np.sum, size=3)[0]
    for tier in (None, "recorded"):
        with pytest.raises(wg.WengertError, match="generic_filter is no op"):
            wg.grad(f, tier=tier)(SAMPLE)


def test_arrays_of_at_least_one_axis_of_several_numbers():
    f = lambda x: (np.atleast_1d(x, 2 * x)[1] * 3)[0] + np.atleast_2d(x * x, x)[0][0, 0]
    assert wg.grad(f, **RECORDED)(1.0) == wg.grad(f)(1.0) == 8.0


CURVE = np.polynomial.Polynomial([1.0, 2.0, 3.0])
MATRIX = np.array([[1.0, 2.0], [3.0, 4.0]])


def attribute_of_a_spline(a):
    spline = interpolate.make_interp_spline(KNOTS, KNOTS**2)
    spline.extrapolate = False
    return a * 2 if np.isnan(spline(1.5)) else a * 5


OPERANDS = {
    "linear_operator": lambda a: (aslinearoperator(MATRIX) @ np.ones(2))[0] * a,
    "system": lambda a: (signal.StateSpace([[-1.0]], [[1.0]], [[1.0]], [[0.0]]) * 2.0).C[0, 0] * a,
    "polynomial": lambda a: (CURVE * 2.0)(a) + (CURVE * CURVE)(a),
    "attribute": attribute_of_a_spline,
}


@pytest.mark.parametrize("f", OPERANDS.values(), ids=OPERANDS)
def test_objects_of_libraries_keep_their_operators_and_attributes(f):
    expected = (f(0.37 + 1e-6) - f(0.37 - 1e-6)) / 2e-6
    assert wg.grad(f, **RECORDED)(0.37) == pytest.approx(expected, rel=1e-7)


def test_an_attribute_of_a_library_that_would_lose_its_derivative():
    def f(a):
        spline = interpolate.make_interp_spline(KNOTS, KNOTS**2)
        spline.c = spline.c * a
        return spline(0.5)

    with pytest.raises(
        wg.errors.UnsupportedSyntax, match="a BSpline is given an attribute with a derivative"
    ):
        wg.grad(f, **RECORDED)(2.0)


QUADRATIC = np.polynomial.Polynomial([1.0, 2.0, 3.0])
OLDER = np.poly1d([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: (x * QUADRATIC)(2.0), 17.0),
        (lambda x: (QUADRATIC * x + x)(1.0), 7.0),
        (lambda x: (OLDER * x)(2.0), 11.0),
        (lambda x: (x + OLDER)(2.0), 1.0),
    ],
)
def test_operators_of_polynomials_outside(f, expected):
    for gradient in (wg.grad(f), wg.grad(f, tier="recorded")):
        assert gradient(0.7) == pytest.approx(expected)
    with pytest.raises(
        UnsupportedSyntax, match=r"`__r?(mul|add)__` of a \w+ is code that is not read"
    ):
        wg.grad(f, tier="static")(0.7)


class Field:
    """What NumPy takes for an array."""

    def __init__(self, items):
        self.items = items

    def __array__(self, dtype=None, copy=None):
        return np.array(self.items)


def of_fields(x):
    field = Field([x, x * x])
    total = np.asarray(field).sum() + np.concatenate([field, Field([x])]) @ [1.0, x, 2.0]
    whole = np.zeros(2)
    whole[:] = field
    whole += field
    return total + np.dot(field, [x, 1.0]) + (np.ones(2) * x * field).prod() + whole.sum()


def test_objects_that_are_arrays_for_numpy():
    expected = (of_fields(0.8 + 1e-6) - of_fields(0.8 - 1e-6)) / 2e-6
    value, slope = wg.value_and_grad(of_fields, tier="recorded")(0.8)
    assert (value, slope) == (pytest.approx(of_fields(0.8)), pytest.approx(expected))


def test_numbers_that_numpy_takes_out_of_an_object_are_refused():
    roots = wg.grad(lambda x: np.roots(np.poly1d([1.0, -x - 3.0, 0.5])).max(), tier="recorded")
    with pytest.raises(wg.errors.UnsupportedSyntax, match="an object that holds numbers"):
        roots(0.8)


def test_walks_over_arrays_of_objects() -> None:
    def f(x):  # type: ignore[no-untyped-def]
        rows = np.empty((1, 2), dtype=object)
        rows[0, 0], rows[0, 1] = np.array([x, 2.0 * x]), np.array([x * x])
        total = 0.0
        for each in np.nditer(rows, flags=["refs_ok"]):
            if each.item().size > 1:
                total += np.sum(each.item())
            total += each[()][0]
        return total

    assert wg.grad(f)(3.0) == 3.0 + 1.0 + 6.0


def test_ufuncs_without_rules_are_refused() -> None:
    for f in (lambda x: special.agm(x, 2.0), lambda x: special.zeta(2.0 + x)):
        with pytest.raises(NoRule, match=r"agm is no op|the derivative of zeta in `x`"):
            wg.grad(f, tier="recorded")(0.7)


ORDINARY = [
    lambda x: np.multiply(x, x, casting="same_kind").sum(),
    lambda x: np.multiply(x, x, order="C", subok=True).sum(),
    lambda x: np.multiply(x, x, casting="unsafe", dtype=None).sum(),
]


@pytest.mark.parametrize("f", ORDINARY)
@pytest.mark.parametrize("tier", ["static", "recorded"])
def test_options_that_say_what_holds_without_them(f, tier):
    np.testing.assert_allclose(wg.grad(f, tier=tier)(np.array([1.0, 2.0])), [2.0, 4.0])


class Meta(type):
    def __len__(cls):
        return 3


class Made(metaclass=Meta):
    def __init__(self, value):
        self.value = float(value)


_NAMES: dict = {}
exec("""
import numpy as np
class Nameless:
    def tripled(self, x):
        return np.asarray(x, dtype=float) * 3
""", _NAMES)  # fmt: skip

_larger = np.vectorize(lambda a, b: a * b if a > 1 else b)


def shuffled(a):
    np.random.default_rng(3).shuffle(a)
    return a @ np.arange(2.0)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda a: Made(a[0]).value * len(Made), [3.0, 0.0]),
        (lambda a: _NAMES["Nameless"]().tripled(a).sum(), [3.0, 3.0]),
        (lambda a: _larger(a, a * a).sum(), [12.0, 1.0]),
        (shuffled, [1.0, 0.0]),
        (lambda a: hstack([csc_array(a.reshape(2, 1))]).dot(np.array([2.0])).sum(), [2.0, 2.0]),
    ],
    ids=["metaclass", "class without a module", "np.vectorize", "shuffle", "hstack"],
)
def test_what_was_made_outside_is_code_of_the_run(f, expected):
    found = wg.grad(f, **RECORDED)(np.array([2.0, 0.5]))
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.dot(a, [1.0, 0.5]) ** 2,
        lambda a: np.sum(np.convolve(a, [1.0, 2.0]) ** 2),
        lambda a: np.sum(np.kron([1.0, 3.0], a) ** 2),
    ],
)
def test_lists_of_numbers_beside_numbers_of_two_levels(f):
    at = np.array([0.3, 0.7])
    expected = wg.hessian(f, tier="static")(at)
    assert wg.hessian(f, **RECORDED)(at) == pytest.approx(expected)
