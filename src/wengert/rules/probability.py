"""`scipy.special`'s distribution functions, whose slope is a density, and what undoes them.

Formulas: NIST Digital Library of Mathematical Functions, chapters 7 and 8; D. Owen, Tables for computing
bivariate normal probabilities (1956).
"""

from __future__ import annotations

from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from ..ops.elementwise import exp, floor, log, log1p
from ..ops.special import no_partial
from .special import scipy_rule as rule


def _density_of_gamma(a, x):
    return exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def _density_of_beta(a, b, x):
    return exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def _density_of_t(df, t):
    return exp(
        special.gammaln((df + 1) / 2)
        - special.gammaln(df / 2)
        - (df + 1) / 2 * log1p(t * t / df)
        - 0.5 * log(3.141592653589793 * df)
    )


def _density_of_f(n, d, x):
    """Fisher's: that of a beta variable, by the ratio that it is."""
    share = n * x / (n * x + d)
    return _density_of_beta(n / 2, d / 2, share) * n * d / (n * x + d) ** 2


# --- the normal distribution ----------------------------------------------------------------------

rule(special.ndtr, lambda x, Ω: 0.3989422804014327 * exp(-0.5 * x * x))  # 1 / √(2π)
rule(  # φ / Φ, where both may be smaller than every float
    special.log_ndtr,
    lambda x, Ω: 0.7978845608028654 / special.erfcx(-0.7071067811865476 * x),
)
rule(special.ndtri, lambda x, Ω: 2.5066282746310002 * exp(0.5 * Ω * Ω))  # √(2π)
rule(special.ndtri_exp, lambda y, Ω: 2.5066282746310002 * exp(y + 0.5 * Ω * Ω))
rule(
    special.owens_t,
    lambda h, a, Ω: (
        -0.19947114020071635 * exp(-0.5 * h * h) * special.erf(0.7071067811865476 * a * h)
    ),
    lambda h, a, Ω: 0.15915494309189535 * exp(-0.5 * h * h * (1 + a * a)) / (1 + a * a),
)

# --- gamma, chi-squared and Poisson variables -----------------------------------------------------

rule(
    special.gammainc,
    lambda a, x, Ω: no_partial("gammainc", "a"),
    lambda a, x, Ω: _density_of_gamma(a, x),
)
rule(
    special.gammaincc,
    lambda a, x, Ω: no_partial("gammaincc", "a"),
    lambda a, x, Ω: -_density_of_gamma(a, x),
)
rule(
    special.gammaincinv,
    lambda a, y, Ω: no_partial("gammaincinv", "a"),
    lambda a, y, Ω: 1 / _density_of_gamma(a, Ω),
)
rule(
    special.gammainccinv,
    lambda a, y, Ω: no_partial("gammainccinv", "a"),
    lambda a, y, Ω: -1 / _density_of_gamma(a, Ω),
)
rule(
    special.gdtr,
    lambda a, b, x, Ω: x * _density_of_gamma(b, a * x),
    lambda a, b, x, Ω: no_partial("gdtr", "b"),
    lambda a, b, x, Ω: a * _density_of_gamma(b, a * x),
)
rule(
    special.gdtrc,
    lambda a, b, x, Ω: -x * _density_of_gamma(b, a * x),
    lambda a, b, x, Ω: no_partial("gdtrc", "b"),
    lambda a, b, x, Ω: -a * _density_of_gamma(b, a * x),
)
rule(
    special.chdtr,
    lambda v, x, Ω: no_partial("chdtr", "v"),
    lambda v, x, Ω: 0.5 * _density_of_gamma(v / 2, x / 2),
)
rule(
    special.chdtrc,
    lambda v, x, Ω: no_partial("chdtrc", "v"),
    lambda v, x, Ω: -0.5 * _density_of_gamma(v / 2, x / 2),
)
rule(
    special.chdtri,
    lambda v, p, Ω: no_partial("chdtri", "v"),
    lambda v, p, Ω: -2 / _density_of_gamma(v / 2, Ω / 2),
)
rule(
    special.pdtr,
    None,
    lambda k, m, Ω: -_density_of_gamma(floor(k) + 1, m),
)
rule(
    special.pdtrc,
    None,
    lambda k, m, Ω: _density_of_gamma(floor(k) + 1, m),
)

# --- beta, binomial, Fisher's and Student's variables ---------------------------------------------

rule(
    special.betainc,
    lambda a, b, x, Ω: no_partial("betainc", "a"),
    lambda a, b, x, Ω: no_partial("betainc", "b"),
    lambda a, b, x, Ω: _density_of_beta(a, b, x),
)
rule(
    special.betaincc,
    lambda a, b, x, Ω: no_partial("betaincc", "a"),
    lambda a, b, x, Ω: no_partial("betaincc", "b"),
    lambda a, b, x, Ω: -_density_of_beta(a, b, x),
)
rule(
    special.betaincinv,
    lambda a, b, y, Ω: no_partial("betaincinv", "a"),
    lambda a, b, y, Ω: no_partial("betaincinv", "b"),
    lambda a, b, y, Ω: 1 / _density_of_beta(a, b, Ω),
)
rule(
    special.betainccinv,
    lambda a, b, y, Ω: no_partial("betainccinv", "a"),
    lambda a, b, y, Ω: no_partial("betainccinv", "b"),
    lambda a, b, y, Ω: -1 / _density_of_beta(a, b, Ω),
)
rule(
    special.bdtr,
    None,
    None,
    lambda k, n, p, Ω: -_density_of_beta(floor(k) + 1, n - floor(k), p),
)
rule(
    special.bdtrc,
    None,
    None,
    lambda k, n, p, Ω: _density_of_beta(floor(k) + 1, n - floor(k), p),
)
rule(
    special.nbdtr,
    None,
    None,
    lambda k, n, p, Ω: _density_of_beta(n, floor(k) + 1, p),
)
rule(
    special.fdtr,
    lambda n, d, x, Ω: no_partial("fdtr", "dfn"),
    lambda n, d, x, Ω: no_partial("fdtr", "dfd"),
    lambda n, d, x, Ω: _density_of_f(n, d, x),
)
rule(
    special.fdtrc,
    lambda n, d, x, Ω: no_partial("fdtrc", "dfn"),
    lambda n, d, x, Ω: no_partial("fdtrc", "dfd"),
    lambda n, d, x, Ω: -_density_of_f(n, d, x),
)
rule(
    special.fdtri,
    lambda n, d, p, Ω: no_partial("fdtri", "dfn"),
    lambda n, d, p, Ω: no_partial("fdtri", "dfd"),
    lambda n, d, p, Ω: 1 / _density_of_f(n, d, Ω),
)
rule(
    special.stdtr,
    lambda df, t, Ω: no_partial("stdtr", "df"),
    lambda df, t, Ω: _density_of_t(df, t),
)
rule(
    special.stdtrit,
    lambda df, p, Ω: no_partial("stdtrit", "df"),
    lambda df, p, Ω: 1 / _density_of_t(df, Ω),
)
