"""`scipy.special`'s functions: in force once a program has imported it, which wengert itself never does.

A row calls SciPy's own functions, so a derivative needs SciPy where the function does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import special  # pyright: ignore[reportMissingTypeStubs]
from scipy.special._ufuncs import (
    _lambertw,  # pyright: ignore[reportPrivateUsage]
    _riemann_zeta,  # pyright: ignore[reportPrivateUsage]
    _zeta,  # pyright: ignore[reportPrivateUsage]
)

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom
from ...ir.op import Infer
from ...ops import registry as ops
from ...ops.algebra import is_real
from ...ops.array_kinds import Args, Params
from ...ops.elementwise import (
    abs_,
    clip,
    exp,
    floor,
    log,
    log1p,
    logical_and,
    maximum,
    sin,
    sqrt,
    where,
)
from ...ops.promotion import analytic, dtype_by, elementwise
from ...ops.special import no_partial, psi_derivative
from ..forms import scalar_rule, zero_rule
from ..registry import Row

complex_result = elementwise(lambda number: "complex", dtype_by(special.wofz))
"""The kind of what is complex also at real arguments."""


def scipy_rule(function: Callable[..., Any], *rows: Row | None, infer: Infer = analytic) -> None:
    """Give one of SciPy's elementwise functions its partials."""
    op = ops.foreign(function, infer=infer)
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


def _nearest_half_turn(phi):
    """How many half turns an angle is from 0, and the sine and the squared cosine of the rest."""
    turns = floor(phi / 3.141592653589793 + 0.5)
    sine = sin(phi - 3.141592653589793 * turns)
    return turns, sine, 1 - sine * sine


def slope_of_ellipkinc(phi, m):
    """∂F/∂m, by Carlson's integrals   (NIST Digital Library of Mathematical Functions, 19.18 and 19.25)."""
    turns, s, cc = _nearest_half_turn(phi)
    rest = s**3 / 6 * special.elliprd(cc, 1.0, 1 - m * s * s)
    return 2 * turns * _slope_of_ellipk(m) + rest


def _slope_of_ellipeinc(phi, m):
    """∂E/∂m, likewise."""
    turns, s, cc = _nearest_half_turn(phi)
    whole = -0.39269908169872414 * special.hyp2f1(0.5, 1.5, 2.0, m)
    return 2 * turns * whole - s**3 / 6 * special.elliprd(cc, 1 - m * s * s, 1.0)


# --- error functions ------------------------------------------------------------------------------

scipy_rule(special.erf, lambda x, Ω: 1.1283791670955126 * exp(-x * x))  # 2 / √π
scipy_rule(special.erfc, lambda x, Ω: -1.1283791670955126 * exp(-x * x))
scipy_rule(special.erfcx, lambda x, Ω: 2 * x * Ω - 1.1283791670955126)
scipy_rule(special.erfi, lambda x, Ω: 1.1283791670955126 * exp(x * x))
scipy_rule(special.erfinv, lambda x, Ω: 0.886226925452758 * exp(Ω * Ω))  # √π / 2
scipy_rule(special.erfcinv, lambda x, Ω: -0.886226925452758 * exp(Ω * Ω))
scipy_rule(special.dawsn, lambda x, Ω: 1 - 2 * x * Ω)

# --- gamma and beta functions -------------------------------------------------------------------

scipy_rule(special.gamma, lambda x, Ω: Ω * special.psi(x))
scipy_rule(special.gammaln, lambda x, Ω: special.psi(x))
scipy_rule(special.loggamma, lambda x, Ω: special.psi(x))
_gammasgn = ops.foreign(special.gammasgn, infer=analytic)
_gammasgn.effect = False
zero_rule(_gammasgn)
scipy_rule(special.rgamma, lambda x, Ω: -Ω * special.psi(x))
_polygamma = ops.foreign(special.polygamma, infer=analytic)


def _of_real_numbers(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """SciPy's own function, which knows no complex numbers."""
    real = is_real(kind_of_atom(args[0]))
    return builder.emit(_polygamma, params["order"], args[0]) if real else None


psi_derivative.fold = _of_real_numbers
scipy_rule(special.psi, lambda x, Ω: psi_derivative(x, order=1))
scalar_rule(psi_derivative, lambda z, Ω, *, order: psi_derivative(z, order=order + 1))
scipy_rule(special.polygamma, None, lambda n, x, Ω: _polygamma(n + 1, x))
scipy_rule(
    special.beta,
    lambda a, b, Ω: Ω * (special.psi(a) - special.psi(a + b)),
    lambda a, b, Ω: Ω * (special.psi(b) - special.psi(a + b)),
)
scipy_rule(
    special.betaln,
    lambda a, b, Ω: special.psi(a) - special.psi(a + b),
    lambda a, b, Ω: special.psi(b) - special.psi(a + b),
)
scipy_rule(
    special.binom,
    lambda n, k, Ω: Ω * (special.psi(n + 1) - special.psi(n - k + 1)),
    lambda n, k, Ω: Ω * (special.psi(n - k + 1) - special.psi(k + 1)),
)
scipy_rule(
    special.poch,
    lambda z, m, Ω: Ω * (special.psi(z + m) - special.psi(z)),
    lambda z, m, Ω: Ω * special.psi(z + m),
)

# --- logistic functions, logarithms, entropies --------------------------------------------------

scipy_rule(special.expit, lambda x, Ω: Ω * special.expit(-x))  # Ω (1 - Ω) cancels
scipy_rule(special.logit, lambda x, Ω: 1 / (x * (1 - x)))
scipy_rule(special.log_expit, lambda x, Ω: special.expit(-x))
scipy_rule(special.expm1, lambda x, Ω: exp(x))
scipy_rule(special.log1p, lambda x, Ω: 1 / (1 + x))
scipy_rule(special.exp2, lambda x, Ω: 0.6931471805599453 * Ω)  # log 2
scipy_rule(special.exp10, lambda x, Ω: 2.302585092994046 * Ω)  # log 10
scipy_rule(special.cbrt, lambda x, Ω: 1 / (3 * Ω**2))
scipy_rule(special.cosm1, lambda x, Ω: -sin(x))
scipy_rule(special.sindg, lambda x, Ω: 0.017453292519943295 * special.cosdg(x))  # π / 180
scipy_rule(special.cosdg, lambda x, Ω: -0.017453292519943295 * special.sindg(x))
scipy_rule(special.tandg, lambda x, Ω: 0.017453292519943295 * (1 + Ω * Ω))
scipy_rule(special.cotdg, lambda x, Ω: -0.017453292519943295 * (1 + Ω * Ω))
scipy_rule(special.xlogy, lambda x, y, Ω: log(y), lambda x, y, Ω: _ratio(x, y))
scipy_rule(special.xlog1py, lambda x, y, Ω: log1p(y), lambda x, y, Ω: _ratio(x, 1 + y))
scipy_rule(special.entr, lambda x, Ω: -log(x) - 1)
scipy_rule(special.rel_entr, lambda x, y, Ω: log(x / y) + 1, lambda x, y, Ω: -_ratio(x, y))
scipy_rule(special.kl_div, lambda x, y, Ω: log(x / y), lambda x, y, Ω: 1 - _ratio(x, y))
scipy_rule(
    special.huber,
    lambda delta, r, Ω: maximum(abs_(r) - delta, 0.0),
    lambda delta, r, Ω: clip(r, -delta, delta),
)
scipy_rule(
    special.pseudo_huber,
    lambda delta, r, Ω: 2 * Ω / delta - r * (r / delta) / sqrt(1 + (r / delta) ** 2),
    lambda delta, r, Ω: r / sqrt(1 + (r / delta) ** 2),
)
scipy_rule(
    special.boxcox,
    lambda x, lmbda, Ω: x ** (lmbda - 1),
    lambda x, lmbda, Ω: 0.5 * log(x) ** 2 * special.hyp1f1(2.0, 3.0, lmbda * log(x)),
)
scipy_rule(
    special.inv_boxcox,
    lambda x, lmbda, Ω: Ω ** (1 - lmbda),
    lambda x, lmbda, Ω: -0.5 * x * x * Ω * special.hyp2f1(2.0, 2.0, 3.0, -lmbda * x),
)

scipy_rule(
    special.boxcox1p,
    lambda x, lmbda, Ω: (1 + x) ** (lmbda - 1),
    lambda x, lmbda, Ω: 0.5 * log1p(x) ** 2 * special.hyp1f1(2.0, 3.0, lmbda * log1p(x)),
)
scipy_rule(
    special.inv_boxcox1p,
    lambda x, lmbda, Ω: (1 + Ω) ** (1 - lmbda),
    lambda x, lmbda, Ω: -0.5 * x * x * (1 + Ω) * special.hyp2f1(2.0, 2.0, 3.0, -lmbda * x),
)
scipy_rule(special.exprel, lambda x, Ω: 0.5 * special.hyp1f1(2.0, 3.0, x))
scipy_rule(special.powm1, lambda x, y, Ω: y * x ** (y - 1), lambda x, y, Ω: x**y * log(x))
scipy_rule(_riemann_zeta, lambda x, Ω: no_partial("zeta", "x"))
scipy_rule(  # DLMF 25.11.17
    _zeta, lambda x, q, Ω: no_partial("zeta", "x"), lambda x, q, Ω: -x * special.zeta(x + 1, q)
)
scipy_rule(_lambertw, lambda z, k, tol, Ω: 1 / (z + exp(Ω)), None, None, infer=complex_result)

# --- exponential integrals, elliptic integrals --------------------------------------------------

scipy_rule(special.expi, lambda x, Ω: exp(x) / x)
scipy_rule(special.exp1, lambda x, Ω: -exp(-x) / x)
scipy_rule(special.expn, None, lambda n, x, Ω: -special.expn(n - 1, x))
scipy_rule(special.spence, lambda z, Ω: _log_ratio(z))
scipy_rule(special.ellipk, lambda m, Ω: _slope_of_ellipk(m))
scipy_rule(special.ellipe, lambda m, Ω: -0.39269908169872414 * special.hyp2f1(0.5, 1.5, 2.0, m))
scipy_rule(
    special.ellipkinc,
    lambda phi, m, Ω: 1 / sqrt(1 - m * sin(phi) ** 2),
    lambda phi, m, Ω: slope_of_ellipkinc(phi, m),
)
scipy_rule(
    special.ellipeinc,
    lambda phi, m, Ω: sqrt(1 - m * sin(phi) ** 2),
    lambda phi, m, Ω: _slope_of_ellipeinc(phi, m),
)
scipy_rule(
    special.hyp2f1,
    lambda a, b, c, z, Ω: no_partial("hyp2f1", "a"),
    lambda a, b, c, z, Ω: no_partial("hyp2f1", "b"),
    lambda a, b, c, z, Ω: no_partial("hyp2f1", "c"),
    lambda a, b, c, z, Ω: a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z),
)
scipy_rule(
    special.hyp1f1,
    lambda a, b, x, Ω: no_partial("hyp1f1", "a"),
    lambda a, b, x, Ω: no_partial("hyp1f1", "b"),
    lambda a, b, x, Ω: a / b * special.hyp1f1(a + 1, b + 1, x),
)

scipy_rule(
    special.hyp0f1,
    lambda v, z, Ω: no_partial("hyp0f1", "v"),
    lambda v, z, Ω: special.hyp0f1(v + 1, z) / v,
)
scipy_rule(
    special.hyperu,
    lambda a, b, x, Ω: no_partial("hyperu", "a"),
    lambda a, b, x, Ω: no_partial("hyperu", "b"),
    lambda a, b, x, Ω: -a * special.hyperu(a + 1, b + 1, x),
)

# --- orthogonal polynomials, by others of a degree less -------------------------------------------


def _of_degree(n, slope):
    """The slope of a polynomial of degree n; SciPy's of a negative degree are none."""
    return where(n == 0, 0.0, slope)


scipy_rule(
    special.eval_legendre,
    lambda n, x, Ω: no_partial("eval_legendre", "n"),
    lambda n, x, Ω: _of_degree(n, (n + 1) / 2 * special.eval_jacobi(n - 1, 1, 1, x)),
)
scipy_rule(
    special.eval_jacobi,
    lambda n, a, b, x, Ω: no_partial("eval_jacobi", "n"),
    lambda n, a, b, x, Ω: no_partial("eval_jacobi", "alpha"),
    lambda n, a, b, x, Ω: no_partial("eval_jacobi", "beta"),
    lambda n, a, b, x, Ω: _of_degree(
        n, (n + a + b + 1) / 2 * special.eval_jacobi(n - 1, a + 1, b + 1, x)
    ),
)
scipy_rule(
    special.eval_gegenbauer,
    lambda n, a, x, Ω: no_partial("eval_gegenbauer", "n"),
    lambda n, a, x, Ω: no_partial("eval_gegenbauer", "alpha"),
    lambda n, a, x, Ω: _of_degree(n, 2 * a * special.eval_gegenbauer(n - 1, a + 1, x)),
)
scipy_rule(
    special.eval_chebyt,
    lambda n, x, Ω: no_partial("eval_chebyt", "n"),
    lambda n, x, Ω: _of_degree(n, n * special.eval_chebyu(n - 1, x)),
)
scipy_rule(
    special.eval_chebyu,
    lambda n, x, Ω: no_partial("eval_chebyu", "n"),
    lambda n, x, Ω: _of_degree(n, 2 * special.eval_gegenbauer(n - 1, 2, x)),
)
scipy_rule(
    special.eval_genlaguerre,
    lambda n, a, x, Ω: no_partial("eval_genlaguerre", "n"),
    lambda n, a, x, Ω: no_partial("eval_genlaguerre", "alpha"),
    lambda n, a, x, Ω: _of_degree(n, -special.eval_genlaguerre(n - 1, a + 1, x)),
)
scipy_rule(
    special.eval_laguerre,
    lambda n, x, Ω: no_partial("eval_laguerre", "n"),
    lambda n, x, Ω: _of_degree(n, -special.eval_genlaguerre(n - 1, 1, x)),
)
scipy_rule(
    special.eval_hermite,
    lambda n, x, Ω: no_partial("eval_hermite", "n"),
    lambda n, x, Ω: _of_degree(n, 2 * n * special.eval_hermite(maximum(n - 1, 0), x)),
)
scipy_rule(
    special.eval_hermitenorm,
    lambda n, x, Ω: no_partial("eval_hermitenorm", "n"),
    lambda n, x, Ω: _of_degree(n, n * special.eval_hermitenorm(maximum(n - 1, 0), x)),
)
