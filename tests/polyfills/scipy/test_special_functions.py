"""`scipy.special` and `scipy.linalg` in programs, and the standard library's `statistics`.

Rows of scalar functions are compared with arbitrary precision, in units in the last place.
"""

# programs under test are written as users write them

from __future__ import annotations

import cmath
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from exact_special import EXACT

import wengert as wg
from wengert.errors import NoRule
from wengert.ops import registry as ops
from wengert.ops.special import betainc_derivative, faddeeva, gammainc_derivative, psi_derivative
from wengert.rules.registry import rules

linalg = pytest.importorskip("scipy.linalg")
special = pytest.importorskip("scipy.special")

_random = np.random.default_rng(5)
V = _random.uniform(0.5, 2, 4)
V2 = _random.uniform(0.5, 2, 4)
M = _random.uniform(-2, 2, (3, 3)) + 3 * np.eye(3)

# --- in programs --------------------------------------------------------------------------

OF_VECTORS: list[Callable[..., Any]] = [
    lambda x: special.erf(x) + special.erfc(x * x) + special.erfcx(x) + special.erfi(x / 2),
    lambda x: special.erfinv(x / 3) + special.erfcinv(x / 3) + special.dawsn(x),
    lambda x: special.ndtr(x) + special.log_ndtr(-x) + special.ndtri(x / 3),
    lambda x: special.gamma(x) + special.gammaln(x) + special.digamma(x) + special.rgamma(x),
    lambda x: special.polygamma(1, x) * special.loggamma(x),
    lambda x: special.gammainc(V2, x) + special.gammaincc(V2, x),
    lambda x: special.beta(x, V2) + special.betaln(V2, x) + special.betainc(1.5, 2.0, x / 3),
    lambda x: special.binom(5.0, x) + special.poch(x, 2.5),
    lambda x: special.expit(x) + special.logit(x / 3) + special.log_expit(x),
    lambda x: special.expm1(x) + special.log1p(x) + special.exp2(x) + special.exp10(x),
    lambda x: special.cbrt(x) + special.cosm1(x),
    lambda x: special.xlogy(x, V2) + special.xlogy(V2, x) + special.xlog1py(x, V2),
    lambda x: special.entr(x) + special.rel_entr(x, V2) + special.kl_div(V2, x),
    lambda x: special.huber(1.1, x) + special.pseudo_huber(x, V2) + special.huber(x, V2),
    lambda x: special.boxcox(x, 0.3) + special.inv_boxcox(x, 0.3),
    lambda x: special.expi(x) + special.exp1(x) + special.expn(2, x) + special.spence(x),
    lambda x: special.ellipk(x / 3) + special.ellipe(x / 3),
    lambda x: special.ellipkinc(x, 0.3) + special.ellipeinc(x, 0.3),
    lambda x: (
        special.eval_legendre(3, x) + special.eval_legendre(0, x) + special.eval_laguerre(2, x)
    ),
    lambda x: special.eval_chebyt(4, x) + special.eval_chebyu(3, x) + special.eval_chebyu(1, x),
    lambda x: special.eval_jacobi(3, 0.5, 1.5, x) + special.eval_gegenbauer(2, 1.5, x),
    lambda x: (
        special.eval_hermite(3, x) + special.eval_hermite(0, x) + special.eval_hermitenorm(2, x)
    ),
    lambda x: special.eval_genlaguerre(2, 1.5, x),
    lambda x: special.hyp2f1(1.0, 2.0, 3.0, x / 3) + special.hyp1f1(1.0, 2.0, x),
    lambda x: special.j0(x) + special.j1(x) + special.jn(2, x) + special.jv(1.5, x),
    lambda x: special.y0(x) + special.y1(x) + special.yn(2, x) + special.yv(1.5, x),
    lambda x: special.i0(x) + special.i1(x) + special.i0e(x) + special.i1e(x),
    lambda x: special.iv(1.5, x) + special.ive(1.5, x) + special.k0(x) + special.k1(x),
    lambda x: special.kv(1.5, x) + special.kn(2, x) + special.kve(1.5, x) + special.k0e(x),
    lambda x: special.k1e(x) + special.stdtr(3.0, x),
    lambda x: special.lambertw(x).real + special.lambertw(x, -1).imag,
    lambda x: special.wofz(x + 0.2j).imag + special.voigt_profile(x, x + 0.1, V2),
    lambda x: special.hankel1(2, x).imag + abs(special.hankel2(1.5, x)),
    lambda x: special.hankel1e(2, x).real * special.hankel2e(1, x).imag,
    lambda x: special.ber(x) + special.bei(x) * special.ker(x) + special.kei(x),
    lambda x: special.struve(1, x) + special.modstruve(0.5, x),
    lambda x: special.spherical_jn(2, x) + special.spherical_yn(1, x, derivative=True),
    lambda x: special.spherical_in(0, x) + special.spherical_kn(2, x),
    lambda x: special.spherical_jn(2, -x) + special.spherical_kn(1, -x),
    lambda x: special.boxcox1p(x, 0.3) + special.inv_boxcox1p(x, 0.3) + special.exprel(x),
    lambda x: special.powm1(x, V2) + special.hyp0f1(1.5, x) + special.hyperu(1.0, 2.0, x),
    lambda x: special.owens_t(x, V2) + special.ndtri_exp(-x),
    lambda x: special.chdtr(3, x) + special.chdtrc(2, x) + special.chdtri(3, x / 3),
    lambda x: (
        special.gdtr(x, 2.0, V2) + special.gdtrc(V2, 2.0, x) + special.gammaincinv(2.0, x / 3)
    ),
    lambda x: special.pdtr(2, x) + special.pdtrc(1.5, x) + special.bdtr(1, 4, x / 3),
    lambda x: special.fdtr(2, 5, x) + special.fdtri(2, 5, x / 3) + special.stdtrit(3, x / 3),
    lambda x: special.betaincinv(1.5, 2.0, x / 3) + special.betaincc(1.5, 2.0, x / 3),
    lambda x: special.ellipkinc(x, x / 3) + special.ellipeinc(4 * x, x / 3),
    lambda x: special.logsumexp(x),
    lambda x: special.logsumexp(np.outer(x, x), axis=1, b=V2, keepdims=True),
    lambda x: special.softmax(np.outer(x, V2), axis=1),
    lambda x: special.log_softmax(np.outer(x, V2), axis=-1),
    lambda x: special.multigammaln(x[0] + 2, 3),
    lambda x: linalg.toeplitz(x),
    lambda x: linalg.toeplitz(x, V2),
]

OF_MATRICES: list[Callable[..., Any]] = [
    lambda x: linalg.det(x) + linalg.norm(x),
    lambda x: linalg.inv(x) @ linalg.solve(x, V[:3]),
    lambda x: linalg.cholesky(x @ x.T, lower=True),
    lambda x: linalg.cholesky(x @ x.T),
    lambda x: linalg.cho_solve(linalg.cho_factor(x @ x.T), V[:3]),
    lambda x: linalg.cho_solve(linalg.cho_factor(x @ x.T, lower=True), V[:3]),
    lambda x: linalg.solve_triangular(x, V[:3], lower=True, trans=1),
    lambda x: linalg.solve_triangular(x, V[:3], unit_diagonal=True),
    lambda x: linalg.eigh(x @ x.T)[0],
    lambda x: linalg.eigvalsh(x @ x.T),
    lambda x: linalg.block_diag(x, V2, x),
]

CASES = [(f, V) for f in OF_VECTORS] + [(f, M) for f in OF_MATRICES]


@pytest.mark.parametrize(("f", "x"), CASES)
def test_derivative(f: Callable[..., Any], x: Any) -> None:
    wg.testing.check_gradient(f, x, rtol=3e-6)
    wg.pushforward(f, x)[1](x)


def test_second_derivatives() -> None:
    second = wg.derivative(lambda x: special.gammaln(x), order=2)
    assert second(2.5) == pytest.approx(float(mp.polygamma(1, 2.5)))
    second = wg.derivative(lambda x: special.j0(x), order=2)
    assert second(2.5) == pytest.approx(float(mp.diff(lambda t: mp.besselj(0, t), 2.5, 2)))


def test_what_has_no_closed_form_is_refused() -> None:
    with pytest.raises(NoRule, match="the derivative of jv in `v` has no closed form"):
        wg.grad(lambda v: special.jv(v, 2.0))(1.5)
    assert wg.grad(lambda x: special.jv(1.5, x))(2.0) > 0


def test_without_a_rule_the_function_is_named() -> None:
    with pytest.raises(NoRule, match="mathieu_a has no derivative rule"):
        wg.grad(lambda x: special.mathieu_a(2, x))(1.5)


def test_a_rule_of_ones_own_takes_the_place_of_the_built_in_one() -> None:
    rule = wg.rule(special.expm1)
    assert rule.form == "scalar"
    assert rule.file.endswith("special/functions.py")


def test_wengert_does_not_import_scipy() -> None:
    program = "import sys, wengert; assert not any(m.startswith('scipy') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_saved_derivative_imports_what_it_needs() -> None:
    source = wg.grad(lambda x: special.gammaln(x)).specialize(2.5).source
    assert "from scipy.special import psi" in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)


# --- accuracy -----------------------------------------------------------------------------

ULPS = 200.0
"""SciPy's own functions are off by some tens, and where derivatives are small some hundreds."""


def _of_scipy(name: str) -> Any:
    return getattr(special._ufuncs if name.startswith("_") else special, name)


@pytest.mark.parametrize("name", EXACT)
def test_row_is_accurate(name: str) -> None:
    exact, points = EXACT[name]
    rule = rules()[ops.foreign(_of_scipy(name))]
    for point in points:
        result = rule.op(*point)
        for k, row in enumerate(rule.rows):
            found = math.nan
            with suppress(NoRule):  # none in closed form
                found = math.nan if row is None else complex(row(*point, result))
            if not np.isfinite(found):
                continue
            with mp.workdps(50):
                order = tuple(int(j == k) for j in range(len(point)))
                expected = mp.diff(exact, tuple(map(mp.mpf, point)), order)
                error = abs(found - expected) / math.ulp(abs(complex(expected)))
            assert error <= ULPS, f"∂{name}/∂{k} at {point}: {found}, not {complex(expected)}"


SEVERAL_RESULTS: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "sici": (lambda x: (mp.si(x), mp.ci(x)), (1.3,)),
    "shichi": (lambda x: (mp.shi(x), mp.chi(x)), (1.3,)),
    "fresnel": (lambda x: (mp.fresnels(x), mp.fresnelc(x)), (1.3,)),
    "airy": (
        lambda x: [f(x, derivative=d) for f in (mp.airyai, mp.airybi) for d in (0, 1)],
        (-1.3,),
    ),
    "ellipj": (
        lambda u, m: [
            *(mp.ellipfun(kind, u, m=m) for kind in ("sn", "cn", "dn")),
            mp.asin(mp.ellipfun("sn", u, m=m)),
        ],
        (0.7, 0.4),
    ),
}


@pytest.mark.parametrize("name", SEVERAL_RESULTS)
def test_functions_with_several_results(name: str) -> None:
    exact, point = SEVERAL_RESULTS[name]
    function = getattr(special, name)
    wrt = tuple(range(len(point)))
    for k in range(function.nout):
        with mp.workdps(30):
            orders = [tuple(int(i == j) for i in wrt) for j in wrt]
            expected = [float(mp.diff(lambda *a, k=k: exact(*a)[k], point, n)) for n in orders]
        found = wg.grad(lambda *a, k=k: function(*a)[k], wrt)(*point)
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        of_first = lambda x, k=k: function(x, *point[1:])[k]
        assert wg.derivative(of_first)(point[0]) == pytest.approx(expected[0], rel=1e-12)
        number = wg.numbers.derivative(of_first, point[0])
        assert number == pytest.approx(expected[0], rel=1e-12)
    wg.testing.check_gradient(lambda x: function(x, *point[1:])[0] * function(x, *point[1:])[1], V)


SEVERAL_ORDERS = {
    "xlog1py at 0": (lambda x: special.xlog1py(x, x), lambda x: x * mp.log1p(x), 0.0),
    "xlogy at 0": (lambda x: special.xlogy(x, 1 + x), lambda x: x * mp.log1p(x), 0.0),
    "spence at 1": (special.spence, lambda x: mp.polylog(2, 1 - x), 1.0),
    "spence": (special.spence, lambda x: mp.polylog(2, 1 - x), 1.7),
    "gammaln": (special.gammaln, mp.loggamma, 2.5),
    "gamma": (special.gamma, mp.gamma, 2.5),
    "psi": (special.psi, mp.digamma, 2.5),
    "polygamma": (lambda x: special.polygamma(1, x), lambda x: mp.polygamma(1, x), 2.5),
    "beta": (lambda x: special.beta(x, 2.0), lambda x: mp.beta(x, 2), 2.5),
    "ellipk": (special.ellipk, mp.ellipk, 0.3),
    "ellipk below": (special.ellipk, mp.ellipk, -40.0),
    "ellipe": (special.ellipe, mp.ellipe, 0.3),
    "lambertw": (lambda x: special.lambertw(x).real, mp.lambertw, 0.7),
    "wofz": (lambda x: special.wofz(x).imag, lambda x: 2 / mp.sqrt(mp.pi) * _dawson(x), 0.7),
    "ber": (special.ber, lambda x: mp.ber(0, x), 0.7),
    "fresnel": (lambda x: special.fresnel(x)[0], mp.fresnels, 0.7),
    "gammainc": (lambda a: special.gammainc(a, 2.0), lambda a: _gamma_below(a, 2), 1.5),
    "gammainc of both": (
        lambda t: special.gammainc(t, 2 * t),
        lambda t: _gamma_below(t, 2 * t),
        2.7,
    ),
    "gammaincinv": (
        lambda t: special.gammainc(t + 1, special.gammaincinv(t, 0.3)),
        lambda t: _gamma_below(t + 1, mp.findroot(lambda x: _gamma_below(t, x) - mp.mpf(0.3), 1.1)),
        1.5,
    ),
    "betainc": (
        lambda t: special.betainc(t, 2.0 + t * t, 0.37),
        lambda t: mp.betainc(t, 2 + t * t, 0, mp.mpf(0.37), regularized=True),
        1.5,
    ),
    "betainc above": (
        lambda t: special.betainc(t * t, t, 0.9),
        lambda t: mp.betainc(t * t, t, 0, mp.mpf(0.9), regularized=True),
        1.2,
    ),
    "boxcox": (lambda t: special.boxcox(2.5, t), lambda t: (mp.mpf(2.5) ** t - 1) / t, 0.6),
    "inv_boxcox": (lambda t: special.inv_boxcox(2.5, t), lambda t: (1 + 2.5 * t) ** (1 / t), 0.6),
}


def _gamma_below(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


WIDE = [10.0**k for k in (-2, -1, 0, 1, 2, 3)]


@pytest.mark.parametrize("a", WIDE)
def test_the_incomplete_gamma_function_in_its_parameter(a: float) -> None:
    for x in a * np.array([0.05, 0.5, 0.95, 1.0, 1.05, 2.0, 5.0]):
        first = gammainc_derivative(a, x, order=1)
        for order, accuracy in ((1, 1e-12), (2, 1e-11)):
            with mp.workdps(60):
                below = lambda t, x=x: mp.gammainc(t, 0, mp.mpf(x), regularized=True)
                above = lambda t, x=x: -mp.gammainc(t, mp.mpf(x), regularized=True)
                exact = float(mp.diff(below if x < a else above, a, order))
            found = gammainc_derivative(a, x, order=order)
            # near the median the function is nearly straight: its curvature is what is left of larger numbers
            allowed = accuracy * abs(exact) + (order - 1) * 1e-14 * abs(first)
            assert abs(found - exact) <= allowed, (a, x, order)
    assert gammainc_derivative(a, [0.0, np.inf], order=1).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("a", WIDE)
def test_the_incomplete_beta_function_in_its_parameters(a: float) -> None:
    for b in (0.04, 0.5, 2.0, 11.0, 650.0):
        for x in a / (a + b) * np.array([0.5, 0.9, 1.0]):
            for orders in ((1, 0), (0, 1)):
                with mp.workdps(60):
                    exact = float(
                        mp.diff(
                            lambda s, t, x=x: mp.betainc(s, t, 0, mp.mpf(x), regularized=True),
                            (a, b),
                            orders,
                        )
                    )
                found = betainc_derivative(a, b, x, orders=orders)
                assert found == pytest.approx(exact, rel=1e-10, abs=1e-16), (a, b, x, orders)
                mirrored = -betainc_derivative(b, a, 1 - x, orders=orders[::-1])
                assert mirrored == pytest.approx(exact, rel=1e-9, abs=1e-15)
    assert betainc_derivative(a, 2.0, [0.0, 1.0], orders=(1, 0)).tolist() == [0.0, 0.0]


def test_outside_of_where_they_are_defined_they_are_not_a_number() -> None:
    assert np.isnan(gammainc_derivative([-1.0, 1.0, np.nan], [1.0, -1.0, 1.0], order=1)).all()
    assert np.isnan(betainc_derivative(1.0, [-1.0, 2.0], [0.5, 1.5], orders=(1, 0))).all()
    single = np.float32(1.5)
    assert gammainc_derivative(single, single, order=1).dtype == np.float32
    assert gammainc_derivative(np.ones(0), 2.0, order=1).shape == (0,)


@pytest.mark.parametrize("z", [0.3 + 0.2j, 4.9 + 0.1j, 6.9 + 1e-3j, 7.1 + 1e-3j, 300 + 0.1j])
def test_derivatives_of_the_faddeeva_function(z: complex) -> None:
    for order, accuracy in ((0, 1e-13), (1, 1e-13), (2, 1e-10), (3, 1e-8)):
        with mp.workdps(50):
            exact = complex(mp.diff(lambda t: mp.exp(-t * t) * mp.erfc(-1j * t), z, order))
        found = faddeeva(z, order=order)
        assert found.real == pytest.approx(exact.real, rel=accuracy)
        assert found.imag == pytest.approx(exact.imag, rel=accuracy)
        assert faddeeva(np.array([z, 0.1]), order=order)[0] == pytest.approx(found, rel=1e-10)


@pytest.mark.parametrize("z", [0.3 + 0.2j, -4.3 + 0.1j, 1j, 30 - 2j, 2.5 + 1e-9j])
def test_derivatives_of_digamma_at_complex_numbers(z: complex) -> None:
    for order in (1, 2, 3):
        with mp.workdps(30):
            exact = complex(mp.diff(mp.digamma, z, order))
        found = psi_derivative(z, order=order)
        assert abs(found - exact) <= 1e-13 * abs(exact)
        assert psi_derivative(np.array([z, 0.1]), order=order)[0] == pytest.approx(found)
    a, b = z.real, z.imag

    def loss(t: float) -> float:
        return special.psi(complex(a, b) * t).imag

    with mp.workdps(30):
        slope = float(mp.diff(lambda t: mp.digamma(mp.mpc(a, b) * t).imag, 1.1))
        bend = float(mp.diff(lambda t: mp.digamma(mp.mpc(a, b) * t).imag, 1.1, 2))
    assert wg.derivative(loss)(1.1) == pytest.approx(slope, rel=1e-12)
    assert wg.grad(wg.grad(loss))(1.1) == pytest.approx(bend, rel=1e-11)


def _dawson(x: Any) -> Any:
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


@pytest.mark.parametrize("name", SEVERAL_ORDERS)
def test_derivatives_of_rows_are_those_of_the_functions(name: str) -> None:
    f, exact, point = SEVERAL_ORDERS[name]
    with mp.workdps(50):
        expected = [float(c) for c in mp.taylor(exact, mp.mpf(point), 3)]
    np.testing.assert_allclose(wg.taylor(f, point, 3), expected, rtol=1e-12, atol=1e-15)
    assert wg.derivative(f, 2)(point) == pytest.approx(2 * expected[2], rel=1e-12)
    second = wg.numbers.derivative(lambda x: wg.numbers.derivative(f, x), point)
    assert second == pytest.approx(2 * expected[2], rel=1e-12)
    if name != "polygamma":  # SciPy asks its argument for an array
        (x,) = wg.Graph().variables("x")
        assert f(x).derive(x).derive(x).eval(x=point) == pytest.approx(2 * expected[2], rel=1e-12)


def test_every_row_is_audited() -> None:
    tables = tuple(f"special/{name}.py" for name in ("functions", "waves", "probability"))
    found = [rule for rule in rules().values() if rule.file.endswith(tables)]
    rows = {rule.op.implementation for rule in found if rule.form == "scalar"}
    tested_elsewhere = (faddeeva, psi_derivative, gammainc_derivative, betainc_derivative)
    rows -= {op.implementation for op in tested_elsewhere}
    assert rows == {_of_scipy(name) for name in EXACT}
    several = {rule.op.implementation for rule in found if rule.form not in ("scalar", "zero")}
    assert several == {getattr(special, name) for name in SEVERAL_RESULTS}


# --- statistics, math, cmath --------------------------------------------------------------

OF_NUMBERS: list[Callable[..., Any]] = [
    lambda x: statistics.mean([x, x * x, 1.0]),
    lambda x: statistics.fmean([x, x * x, 1.0], [1.0, x, 3.0]),
    lambda x: statistics.geometric_mean([x, x * x, 1.0]),
    lambda x: statistics.harmonic_mean([x, x * x, 1.0], [1.0, x, 3.0]),
    lambda x: statistics.variance([x, x * x, 1.0]) + statistics.pvariance([x, x * x, 1.0]),
    lambda x: statistics.stdev([x, x * x, 1.0]) + statistics.pstdev([x, x * x, 1.0]),
    lambda x: statistics.median([x, x * x, 1.0]) + statistics.median_low([x, x * x, 1.0]),
    lambda x: statistics.covariance([x, x * x, 1.0], [x, 2.0, 3.0]),
    lambda x: statistics.correlation([x, x * x, 1.0], [x, 2.0, 3.0]),
    lambda x: statistics.linear_regression([x, x * x, 1.0], [x, 2.0, 3.0]).slope,
    lambda x: statistics.quantiles([x, x * x, 1.0, 3.0]),
    lambda x: statistics.quantiles([x, x * x, 1.0, 3.0], n=5, method="inclusive"),
    lambda x: math.modf(3 * x)[0] * math.frexp(x)[0],
    lambda x: abs(cmath.rect(x, 2 * x) + 1) * cmath.polar(complex(x, 1.0))[1],
]


@pytest.mark.parametrize("f", OF_NUMBERS)
def test_derivative_of_a_number(f: Callable[..., Any]) -> None:
    wg.testing.check_gradient(f, 0.7)


def test_draws_are_constants() -> None:
    generator = np.random.default_rng(0)
    drawn = np.random.default_rng(0).normal(size=4)
    np.testing.assert_array_equal(wg.grad(lambda x: generator.normal(size=4) @ x)(V), drawn)
    with pytest.raises(NoRule, match=r"Generator\.poisson has no derivative rule"):
        wg.grad(lambda x: generator.poisson(x).sum())(V)


def test_where_a_variable_is_zero_probabilities_have_derivatives() -> None:
    """A beta density is infinite there, and what it multiplies is zero."""
    assert wg.grad(lambda df: special.stdtr(df, 0.0))(5.0) == 0.0
    assert wg.grad(lambda df: special.stdtrit(df, 0.5))(5.0) == 0.0
    assert wg.grad(lambda n: special.fdtr(n, 4.0, 0.0))(1.5) == 0.0
    stats = pytest.importorskip("scipy.stats")
    assert wg.grad(lambda t: stats.t.cdf(t, 5.0))(0.0) == pytest.approx(stats.t.pdf(0.0, 5.0))


@pytest.mark.parametrize(
    "f",
    [
        lambda a, m: np.sum(special.ellipeinc(a, m)),
        lambda a, m: np.sum(special.beta([a, 2 * a, a], m)),
        lambda a, m: special.expit(m) @ special.jv(2, m) * a,
    ],
)
def test_lists_are_arrays(f):
    """Given to a function of SciPy's that works by elements."""
    m = [0.2, 0.5, 0.3]
    value, back = wg.pullback(f, 1.3, m)
    expected, of_array = wg.pullback(f, 1.3, np.array(m))
    assert value == expected == f(1.3, m)
    (a, bar), (a_of_array, bar_of_array) = back(1.0), of_array(1.0)
    assert a == a_of_array
    assert bar == bar_of_array.tolist()
