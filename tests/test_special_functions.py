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
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import wengert as wg
from wengert.errors import NoRule
from wengert.ops import registry as ops
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
    with pytest.raises(NoRule, match="the derivative of gammainc in `a` has no closed form"):
        wg.grad(lambda a: special.gammainc(a, 2.0))(1.5)
    assert wg.grad(lambda x: special.gammainc(1.5, x))(2.0) > 0


def test_without_a_rule_the_function_is_named() -> None:
    with pytest.raises(NoRule, match="lambertw has no derivative rule"):
        wg.grad(lambda x: special.lambertw(x).real)(1.5)


def test_a_rule_of_ones_own_takes_the_place_of_the_built_in_one() -> None:
    rule = wg.rule(special.expm1)
    assert rule.form == "scalar"
    assert rule.file.endswith("special.py")


def test_wengert_does_not_import_scipy() -> None:
    program = "import sys, wengert; assert not any(m.startswith('scipy') for m in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_saved_derivative_imports_what_it_needs() -> None:
    source = wg.grad(lambda x: special.gammaln(x)).specialize(2.5).source
    assert "from scipy.special import psi" in source
    namespace: dict[str, Any] = {}
    exec(source, namespace)


# --- accuracy -----------------------------------------------------------------------------


def _betainc(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _stdtr(df: Any, t: Any) -> Any:
    return mp.mpf(1) / 2 + t * mp.gamma((df + 1) / 2) / mp.sqrt(df * mp.pi) / mp.gamma(
        df / 2
    ) * mp.hyp2f1(0.5, (df + 1) / 2, 1.5, -t * t / df)


POSITIVE = (1e-3, 0.37, 1.0, 2.5, 6.3)
SIGNED = (-2.5, -0.37, *POSITIVE)
UNIT = (1e-3, 0.37, 0.9)

EXACT: dict[str, tuple[Callable[..., Any], list[tuple[float, ...]]]] = {
    "erf": (mp.erf, [(x,) for x in SIGNED]),
    "erfc": (mp.erfc, [(x,) for x in SIGNED]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [(-1.3,), (0.37,), (1.0,)]),
    "erfi": (mp.erfi, [(x,) for x in (-2.5, 1e-3, 0.37, 2.5)]),
    "erfinv": (mp.erfinv, [(x,) for x in UNIT]),
    "erfcinv": (lambda x: mp.erfinv(1 - x), [(x,) for x in UNIT]),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), [(0.2,), (0.5,), (3.0,)]),
    "ndtr": (mp.ncdf, [(x,) for x in SIGNED]),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)), [(x,) for x in (-30.0, *SIGNED)]),
    "ndtri": (lambda x: mp.sqrt(2) * mp.erfinv(2 * x - 1), [(x,) for x in UNIT]),
    "gamma": (mp.gamma, [(x,) for x in (-1.6, 0.37, 1.0, 2.5, 6.3)]),
    "gammaln": (mp.loggamma, [(x,) for x in POSITIVE]),
    "rgamma": (mp.rgamma, [(x,) for x in (-1.6, 0.37, 1.0, 2.5, 6.3)]),
    "psi": (mp.digamma, [(x,) for x in POSITIVE]),
    "polygamma": (lambda n, x: mp.polygamma(int(n), x), [(1, 0.37), (2, 2.5)]),
    "gammainc": (lambda a, x: mp.gammainc(a, 0, x, regularized=True), [(1.5, 0.37), (0.4, 2.5)]),
    "gammaincc": (lambda a, x: mp.gammainc(a, x, regularized=True), [(1.5, 0.37), (0.4, 2.5)]),
    "beta": (mp.beta, [(0.37, 2.5), (1.5, 0.4)]),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), [(0.37, 2.5), (1.5, 0.4)]),
    "betainc": (_betainc, [(1.5, 2.0, 0.37), (0.4, 0.7, 0.9)]),
    "binom": (mp.binomial, [(5.5, 2.3)]),
    "poch": (lambda z, m: mp.gamma(z + m) / mp.gamma(z), [(1.5, 2.3)]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), [(x,) for x in (-40.0, *SIGNED, 40.0)]),
    "logit": (lambda x: mp.log(x / (1 - x)), [(x,) for x in UNIT]),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), [(x,) for x in (-40.0, *SIGNED, 40.0)]),
    "expm1": (mp.expm1, [(x,) for x in SIGNED]),
    "log1p": (mp.log1p, [(x,) for x in POSITIVE]),
    "exp2": (lambda x: mp.power(2, x), [(x,) for x in SIGNED]),
    "exp10": (lambda x: mp.power(10, x), [(x,) for x in SIGNED]),
    "cbrt": (mp.cbrt, [(x,) for x in POSITIVE]),
    "cosm1": (lambda x: mp.cos(x) - 1, [(x,) for x in SIGNED]),
    "xlogy": (lambda x, y: x * mp.log(y), [(0.37, 2.5), (2.5, 0.37)]),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [(0.37, 2.5), (2.5, 1e-8)]),
    "entr": (lambda x: -x * mp.log(x), [(x,) for x in (1e-3, 1.0, 2.5)]),
    "rel_entr": (lambda x, y: x * mp.log(x / y), [(0.37, 2.5), (2.5, 0.4)]),
    "kl_div": (lambda x, y: x * mp.log(x / y) - x + y, [(0.37, 2.5), (2.5, 0.4)]),
    "huber": (
        lambda d, r: r * r / 2 if abs(r) <= d else d * (abs(r) - d / 2),
        [(1.5, 0.37), (1.5, -2.5)],
    ),
    "pseudo_huber": (lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1), [(1.5, 0.37)]),
    "boxcox": (lambda x, y: (x**y - 1) / y, [(0.37, 0.3), (2.5, -1.5)]),
    "inv_boxcox": (lambda x, y: (1 + x * y) ** (1 / y), [(0.37, 0.3)]),
    "expi": (mp.ei, [(x,) for x in SIGNED]),
    "exp1": (mp.e1, [(x,) for x in POSITIVE]),
    "expn": (lambda n, x: mp.expint(int(n), x), [(2, 0.37), (3, 2.5)]),
    "spence": (lambda x: mp.polylog(2, 1 - x), [(0.37,), (0.9,)]),
    "ellipk": (mp.ellipk, [(x,) for x in (-3.0, 1e-3, 0.37, 0.99)]),
    "ellipe": (mp.ellipe, [(x,) for x in (-3.0, 1e-3, 0.37, 0.99)]),
    "hyp2f1": (mp.hyp2f1, [(1.0, 2.0, 3.0, 0.37)]),
    "hyp1f1": (mp.hyp1f1, [(1.0, 2.0, 0.37)]),
    "j0": (lambda x: mp.besselj(0, x), [(x,) for x in SIGNED]),
    "j1": (lambda x: mp.besselj(1, x), [(x,) for x in SIGNED]),
    "jv": (mp.besselj, [(1.5, 0.37), (1.5, 6.3)]),
    "y0": (lambda x: mp.bessely(0, x), [(x,) for x in POSITIVE]),
    "y1": (lambda x: mp.bessely(1, x), [(x,) for x in POSITIVE]),
    "yv": (mp.bessely, [(1.5, 0.37), (1.5, 6.3)]),
    "i0": (lambda x: mp.besseli(0, x), [(x,) for x in SIGNED]),
    "i1": (lambda x: mp.besseli(1, x), [(x,) for x in SIGNED]),
    "iv": (mp.besseli, [(1.5, 0.37), (1.5, 6.3)]),
    "i0e": (lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), [(x,) for x in (-2.5, 0.37, 2.5)]),
    "i1e": (lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), [(x,) for x in (-2.5, 0.37, 2.5)]),
    "ive": (lambda v, x: mp.exp(-abs(x)) * mp.besseli(v, x), [(1.5, 0.37)]),
    "k0": (lambda x: mp.besselk(0, x), [(x,) for x in POSITIVE]),
    "k1": (lambda x: mp.besselk(1, x), [(x,) for x in POSITIVE]),
    "kv": (mp.besselk, [(1.5, 0.37), (1.5, 6.3)]),
    "kn": (lambda n, x: mp.besselk(int(n), x), [(2, 0.37)]),
    "k0e": (lambda x: mp.exp(x) * mp.besselk(0, x), [(x,) for x in (1e-3, 0.37, 2.5)]),
    "k1e": (lambda x: mp.exp(x) * mp.besselk(1, x), [(x,) for x in (1e-3, 0.37, 2.5)]),
    "kve": (lambda v, x: mp.exp(x) * mp.besselk(v, x), [(1.5, 0.37)]),
    "yn": (lambda n, x: mp.bessely(int(n), x), [(2, 0.37)]),
    "stdtr": (_stdtr, [(3.0, 0.37), (3.0, -2.5)]),
    "loggamma": (mp.loggamma, [(x,) for x in POSITIVE]),
    "ellipkinc": (mp.ellipf, [(0.37, 0.3), (2.5, -1.5)]),
    "ellipeinc": (mp.ellipe, [(0.37, 0.3), (2.5, -1.5)]),
    "eval_legendre": (mp.legendre, [(0, 0.37), (1, 0.37), (4, -0.9)]),
    "eval_jacobi": (mp.jacobi, [(0, 0.5, 1.5, 0.37), (3, 0.5, 1.5, -0.9)]),
    "eval_gegenbauer": (mp.gegenbauer, [(0, 1.5, 0.37), (3, 1.5, -0.9)]),
    "eval_chebyt": (mp.chebyt, [(0, 0.37), (1, 0.37), (4, -0.9)]),
    "eval_chebyu": (mp.chebyu, [(0, 0.37), (1, 0.37), (4, -0.9)]),
    "eval_laguerre": (lambda n, x: mp.laguerre(n, 0, x), [(0, 0.37), (3, 2.5)]),
    "eval_genlaguerre": (mp.laguerre, [(0, 1.5, 0.37), (3, 1.5, 2.5)]),
    "eval_hermite": (mp.hermite, [(0, 0.37), (1, 0.37), (4, -0.9)]),
    "eval_hermitenorm": (
        lambda n, x: mp.hermite(n, x / mp.sqrt(2)) * mp.mpf(2) ** (-n / 2),
        [(0, 0.37), (4, -0.9)],
    ),
}

ULPS = 200.0
"""SciPy's own functions are off by some tens, and where derivatives are small some hundreds."""


@pytest.mark.parametrize("name", EXACT)
def test_row_is_accurate(name: str) -> None:
    exact, points = EXACT[name]
    rule = rules()[ops.foreign(getattr(special, name))]
    for point in points:
        result = rule.op(*point)
        for k, row in enumerate(rule.rows):
            if row is None or not math.isfinite(found := float(row(*point, result))):
                continue  # no derivative, or none in closed form
            with mp.workdps(50):
                order = tuple(int(j == k) for j in range(len(point)))
                expected = mp.diff(exact, tuple(map(mp.mpf, point)), order)
                error = abs(found - expected) / math.ulp(float(expected))
            assert error <= ULPS, f"∂{name}/∂{k} at {point}: {found}, not {float(expected)}"


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
}


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
    rows = {rule.op.implementation for rule in rules().values() if "special.py" in rule.file}
    assert rows == {getattr(special, name) for name in EXACT}


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
    with pytest.raises(NoRule, match=r"Generator\.normal has no derivative rule"):
        wg.grad(lambda x: generator.normal(x).sum())(V)
