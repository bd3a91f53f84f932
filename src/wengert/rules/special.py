"""`scipy.special`'s functions: in force once a program has imported it, which wengert itself never does.

A row calls SciPy's own functions, so a derivative needs SciPy where the function does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from ..ops import registry as ops
from ..ops.elementwise import (
    abs_,
    clip,
    exp,
    log,
    log1p,
    logical_and,
    maximum,
    sign,
    sin,
    sqrt,
    where,
)
from ..ops.promotion import analytic
from ..ops.special import no_partial
from .forms import scalar_rule
from .registry import Row


def _rule(function: Callable[..., Any], *rows: Row | None) -> None:
    """Give one of SciPy's elementwise functions its partials."""
    op = ops.foreign(function, infer=analytic)
    op.effect = False
    scalar_rule(op, *rows)


def _ratio(x, y):
    """x / y, and 0 of two zeros; its own derivative is that of the quotient wherever there is one."""
    undefined = logical_and(x == 0, y == 0)
    return where(undefined, 0.0, x / where(undefined, 1.0, y))


def _log_ratio(z):
    """log z / (1 - z), which is smooth at 1, where both are zero."""
    near = abs_(1 - z) < 0.5
    series = -special.hyp2f1(1.0, 1.0, 2.0, 1 - where(near, z, 1.0))
    return where(near, series, log(z) / where(near, 1.0, 1 - z))


def _slope_of_ellipk(m):
    """(E / (1 - m) - K) / 2m without cancellation, by functions that have derivatives of all orders."""
    far = m < -1
    below = where(far, m, -1.0)
    reflected = (1 - below) ** -1.5 * special.hyp2f1(1.5, 0.5, 2.0, below / (below - 1))
    series = special.hyp2f1(1.5, 1.5, 2.0, where(far, -1.0, m))
    return 0.39269908169872414 * where(far, reflected, series)  # π / 8


# --- error functions and the normal distribution ------------------------------------------------

_rule(special.erf, lambda x, Ω: 1.1283791670955126 * exp(-x * x))  # 2 / √π
_rule(special.erfc, lambda x, Ω: -1.1283791670955126 * exp(-x * x))
_rule(special.erfcx, lambda x, Ω: 2 * x * Ω - 1.1283791670955126)
_rule(special.erfi, lambda x, Ω: 1.1283791670955126 * exp(x * x))
_rule(special.erfinv, lambda x, Ω: 0.886226925452758 * exp(Ω * Ω))  # √π / 2
_rule(special.erfcinv, lambda x, Ω: -0.886226925452758 * exp(Ω * Ω))
_rule(special.dawsn, lambda x, Ω: 1 - 2 * x * Ω)
_rule(special.ndtr, lambda x, Ω: 0.3989422804014327 * exp(-0.5 * x * x))  # 1 / √(2π)
_rule(  # φ / Φ, where both may be smaller than every float
    special.log_ndtr,
    lambda x, Ω: 0.7978845608028654 / special.erfcx(-0.7071067811865476 * x),
)
_rule(special.ndtri, lambda x, Ω: 2.5066282746310002 * exp(0.5 * Ω * Ω))

# --- gamma and beta functions -------------------------------------------------------------------

_rule(special.gamma, lambda x, Ω: Ω * special.psi(x))
_rule(special.gammaln, lambda x, Ω: special.psi(x))
_rule(special.loggamma, lambda x, Ω: special.psi(x))
_rule(special.rgamma, lambda x, Ω: -Ω * special.psi(x))
_polygamma = ops.foreign(special.polygamma, infer=analytic)
_rule(special.psi, lambda x, Ω: _polygamma(1, x))
_rule(special.polygamma, None, lambda n, x, Ω: _polygamma(n + 1, x))
_rule(
    special.gammainc,
    lambda a, x, Ω: no_partial("gammainc", "a"),
    lambda a, x, Ω: exp(special.xlogy(a - 1, x) - x - special.gammaln(a)),
)
_rule(
    special.gammaincc,
    lambda a, x, Ω: no_partial("gammaincc", "a"),
    lambda a, x, Ω: -exp(special.xlogy(a - 1, x) - x - special.gammaln(a)),
)
_rule(
    special.beta,
    lambda a, b, Ω: Ω * (special.psi(a) - special.psi(a + b)),
    lambda a, b, Ω: Ω * (special.psi(b) - special.psi(a + b)),
)
_rule(
    special.betaln,
    lambda a, b, Ω: special.psi(a) - special.psi(a + b),
    lambda a, b, Ω: special.psi(b) - special.psi(a + b),
)
_rule(
    special.betainc,
    lambda a, b, x, Ω: no_partial("betainc", "a"),
    lambda a, b, x, Ω: no_partial("betainc", "b"),
    lambda a, b, x, Ω: exp(
        special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b)
    ),
)
_rule(
    special.binom,
    lambda n, k, Ω: Ω * (special.psi(n + 1) - special.psi(n - k + 1)),
    lambda n, k, Ω: Ω * (special.psi(n - k + 1) - special.psi(k + 1)),
)
_rule(
    special.poch,
    lambda z, m, Ω: Ω * (special.psi(z + m) - special.psi(z)),
    lambda z, m, Ω: Ω * special.psi(z + m),
)

# --- logistic functions, logarithms, entropies --------------------------------------------------

_rule(special.expit, lambda x, Ω: Ω * special.expit(-x))  # Ω (1 - Ω) cancels
_rule(special.logit, lambda x, Ω: 1 / (x * (1 - x)))
_rule(special.log_expit, lambda x, Ω: special.expit(-x))
_rule(special.expm1, lambda x, Ω: exp(x))
_rule(special.log1p, lambda x, Ω: 1 / (1 + x))
_rule(special.exp2, lambda x, Ω: 0.6931471805599453 * Ω)  # log 2
_rule(special.exp10, lambda x, Ω: 2.302585092994046 * Ω)  # log 10
_rule(special.cbrt, lambda x, Ω: 1 / (3 * Ω**2))
_rule(special.cosm1, lambda x, Ω: -sin(x))
_rule(special.xlogy, lambda x, y, Ω: log(y), lambda x, y, Ω: _ratio(x, y))
_rule(special.xlog1py, lambda x, y, Ω: log1p(y), lambda x, y, Ω: _ratio(x, 1 + y))
_rule(special.entr, lambda x, Ω: -log(x) - 1)
_rule(special.rel_entr, lambda x, y, Ω: log(x / y) + 1, lambda x, y, Ω: -_ratio(x, y))
_rule(special.kl_div, lambda x, y, Ω: log(x / y), lambda x, y, Ω: 1 - _ratio(x, y))
_rule(
    special.huber,
    lambda delta, r, Ω: maximum(abs_(r) - delta, 0.0),
    lambda delta, r, Ω: clip(r, -delta, delta),
)
_rule(
    special.pseudo_huber,
    lambda delta, r, Ω: 2 * Ω / delta - r * (r / delta) / sqrt(1 + (r / delta) ** 2),
    lambda delta, r, Ω: r / sqrt(1 + (r / delta) ** 2),
)
_rule(
    special.boxcox,
    lambda x, lmbda, Ω: x ** (lmbda - 1),
    lambda x, lmbda, Ω: no_partial("boxcox", "lmbda"),
)
_rule(
    special.inv_boxcox,
    lambda x, lmbda, Ω: Ω ** (1 - lmbda),
    lambda x, lmbda, Ω: no_partial("inv_boxcox", "lmbda"),
)

# --- exponential integrals, elliptic integrals --------------------------------------------------

_rule(special.expi, lambda x, Ω: exp(x) / x)
_rule(special.exp1, lambda x, Ω: -exp(-x) / x)
_rule(special.expn, None, lambda n, x, Ω: -special.expn(n - 1, x))
_rule(special.spence, lambda z, Ω: _log_ratio(z))
_rule(special.ellipk, lambda m, Ω: _slope_of_ellipk(m))
_rule(special.ellipe, lambda m, Ω: -0.39269908169872414 * special.hyp2f1(0.5, 1.5, 2.0, m))
_rule(
    special.ellipkinc,
    lambda phi, m, Ω: 1 / sqrt(1 - m * sin(phi) ** 2),
    lambda phi, m, Ω: no_partial("ellipkinc", "m"),
)
_rule(
    special.ellipeinc,
    lambda phi, m, Ω: sqrt(1 - m * sin(phi) ** 2),
    lambda phi, m, Ω: no_partial("ellipeinc", "m"),
)
_rule(
    special.hyp2f1,
    lambda a, b, c, z, Ω: no_partial("hyp2f1", "a"),
    lambda a, b, c, z, Ω: no_partial("hyp2f1", "b"),
    lambda a, b, c, z, Ω: no_partial("hyp2f1", "c"),
    lambda a, b, c, z, Ω: a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z),
)
_rule(
    special.hyp1f1,
    lambda a, b, x, Ω: no_partial("hyp1f1", "a"),
    lambda a, b, x, Ω: no_partial("hyp1f1", "b"),
    lambda a, b, x, Ω: a / b * special.hyp1f1(a + 1, b + 1, x),
)

# --- orthogonal polynomials, by others of a degree less -------------------------------------------


def _of_degree(n, slope):
    """The slope of a polynomial of degree n; SciPy's of a negative degree are none."""
    return where(n == 0, 0.0, slope)


_rule(
    special.eval_legendre,
    lambda n, x, Ω: no_partial("eval_legendre", "n"),
    lambda n, x, Ω: _of_degree(n, (n + 1) / 2 * special.eval_jacobi(n - 1, 1, 1, x)),
)
_rule(
    special.eval_jacobi,
    lambda n, a, b, x, Ω: no_partial("eval_jacobi", "n"),
    lambda n, a, b, x, Ω: no_partial("eval_jacobi", "alpha"),
    lambda n, a, b, x, Ω: no_partial("eval_jacobi", "beta"),
    lambda n, a, b, x, Ω: _of_degree(
        n, (n + a + b + 1) / 2 * special.eval_jacobi(n - 1, a + 1, b + 1, x)
    ),
)
_rule(
    special.eval_gegenbauer,
    lambda n, a, x, Ω: no_partial("eval_gegenbauer", "n"),
    lambda n, a, x, Ω: no_partial("eval_gegenbauer", "alpha"),
    lambda n, a, x, Ω: _of_degree(n, 2 * a * special.eval_gegenbauer(n - 1, a + 1, x)),
)
_rule(
    special.eval_chebyt,
    lambda n, x, Ω: no_partial("eval_chebyt", "n"),
    lambda n, x, Ω: _of_degree(n, n * special.eval_chebyu(n - 1, x)),
)
_rule(
    special.eval_chebyu,
    lambda n, x, Ω: no_partial("eval_chebyu", "n"),
    lambda n, x, Ω: _of_degree(n, 2 * special.eval_gegenbauer(n - 1, 2, x)),
)
_rule(
    special.eval_genlaguerre,
    lambda n, a, x, Ω: no_partial("eval_genlaguerre", "n"),
    lambda n, a, x, Ω: no_partial("eval_genlaguerre", "alpha"),
    lambda n, a, x, Ω: _of_degree(n, -special.eval_genlaguerre(n - 1, a + 1, x)),
)
_rule(
    special.eval_laguerre,
    lambda n, x, Ω: no_partial("eval_laguerre", "n"),
    lambda n, x, Ω: _of_degree(n, -special.eval_genlaguerre(n - 1, 1, x)),
)
_rule(
    special.eval_hermite,
    lambda n, x, Ω: no_partial("eval_hermite", "n"),
    lambda n, x, Ω: _of_degree(n, 2 * n * special.eval_hermite(maximum(n - 1, 0), x)),
)
_rule(
    special.eval_hermitenorm,
    lambda n, x, Ω: no_partial("eval_hermitenorm", "n"),
    lambda n, x, Ω: _of_degree(n, n * special.eval_hermitenorm(maximum(n - 1, 0), x)),
)

# --- Bessel functions: the mean of, or half the difference between, the neighbouring orders -------

_rule(special.j0, lambda x, Ω: -special.j1(x))
_rule(special.j1, lambda x, Ω: (special.j0(x) - special.jv(2, x)) / 2)
_rule(
    special.jv,  # also called jn
    lambda v, x, Ω: no_partial("jv", "v"),
    lambda v, x, Ω: (special.jv(v - 1, x) - special.jv(v + 1, x)) / 2,
)
_rule(special.y0, lambda x, Ω: -special.y1(x))
_rule(special.y1, lambda x, Ω: (special.y0(x) - special.yv(2, x)) / 2)
_rule(
    special.yv,
    lambda v, x, Ω: no_partial("yv", "v"),
    lambda v, x, Ω: (special.yv(v - 1, x) - special.yv(v + 1, x)) / 2,
)
_rule(special.yn, None, lambda n, x, Ω: (special.yv(n - 1, x) - special.yv(n + 1, x)) / 2)
_rule(special.i0, lambda x, Ω: special.i1(x))
_rule(special.i1, lambda x, Ω: (special.i0(x) + special.iv(2, x)) / 2)
_rule(
    special.iv,
    lambda v, x, Ω: no_partial("iv", "v"),
    lambda v, x, Ω: (special.iv(v - 1, x) + special.iv(v + 1, x)) / 2,
)
_rule(special.i0e, lambda x, Ω: special.i1e(x) - sign(x) * Ω)
_rule(special.i1e, lambda x, Ω: (special.i0e(x) + special.ive(2, x)) / 2 - sign(x) * Ω)
_rule(
    special.ive,
    lambda v, x, Ω: no_partial("ive", "v"),
    lambda v, x, Ω: (special.ive(v - 1, x) + special.ive(v + 1, x)) / 2 - sign(x) * Ω,
)
_rule(special.k0, lambda x, Ω: -special.k1(x))
_rule(special.k1, lambda x, Ω: -(special.k0(x) + special.kv(2, x)) / 2)
_rule(
    special.kv,
    lambda v, x, Ω: no_partial("kv", "v"),
    lambda v, x, Ω: -(special.kv(v - 1, x) + special.kv(v + 1, x)) / 2,
)
_rule(special.kn, None, lambda n, x, Ω: -(special.kv(n - 1, x) + special.kv(n + 1, x)) / 2)
_rule(special.k0e, lambda x, Ω: Ω - special.k1e(x))
_rule(special.k1e, lambda x, Ω: Ω - (special.k0e(x) + special.kve(2, x)) / 2)
_rule(
    special.kve,
    lambda v, x, Ω: no_partial("kve", "v"),
    lambda v, x, Ω: Ω - (special.kve(v - 1, x) + special.kve(v + 1, x)) / 2,
)

# --- distributions --------------------------------------------------------------------------------

_rule(
    special.stdtr,
    lambda df, t, Ω: no_partial("stdtr", "df"),
    lambda df, t, Ω: exp(
        special.gammaln((df + 1) / 2)
        - special.gammaln(df / 2)
        - (df + 1) / 2 * log1p(t * t / df)
        - 0.5 * log(3.141592653589793 * df)
    ),
)
