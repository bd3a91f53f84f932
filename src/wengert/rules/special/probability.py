"""`scipy.special`'s distribution functions, whose slope is a density, and what undoes them.

Formulas: NIST Digital Library of Mathematical Functions, chapters 7 and 8; D. Owen, Tables for computing
bivariate normal probabilities (1956).
"""

from __future__ import annotations

from math import comb

from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from ...ops.elementwise import abs_, exp, floor, log, log1p, sign, sqrt, where
from ...ops.special import betainc_derivative, gammainc_derivative, no_partial, psi_derivative
from ..forms import scalar_rule
from .functions import scipy_rule as rule


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


def _density_of_noncentral_t(df, nc, t):
    """By the difference of two distribution functions (Johnson, Kotz, Balakrishnan 1995, chapter 31); at t = 0 by a
    series in E[s^k], s² a χ² variable by its degrees of freedom.
    """
    away = where(abs_(t) > 1e-4, t, 1.0)
    above = special.nctdtr(df + 2, nc, away * sqrt(1 + 2 / df))
    beside = df / away * (above - special.nctdtr(df, nc, away))
    return where(abs_(t) > 1e-4, beside, _noncentral_near_0(df, nc, t))


def _noncentral_near_0(df, nc, t):
    first, third = _moment_of_chi(df, 1), _moment_of_chi(df, 3)
    scale = exp(-0.5 * nc * nc) / 2.5066282746310002  # √(2π)
    return scale * (first + nc * t + 0.5 * third * (nc * nc - 1) * t * t)


def _moment_of_chi(df, k):
    return exp(special.gammaln((df + k) / 2) - special.gammaln(df / 2) - k / 2 * log(df / 2))


def _noncentral_t_in_nc(df, nc, t):
    """-E[φ(t s - nc)], which is a density with one degree of freedom less."""
    less = df - 1
    density = _density_of_noncentral_t(less, nc, t * sqrt(less / df))
    return -density / _moment_of_chi(less, 1)


def _moved_by_share(n, d, x):
    """x f(x), also where x is 0 and the density infinite."""
    inside = where(x > 0, x, 1.0)
    return where(x > 0, _density_of_f(n, d, inside) * inside, 0.0)


def _fisher_in_n(n, d, x):
    """I(n/2, d/2, s) in n, which is also in the share s = nx / (nx + d)."""
    of_shape = 0.5 * betainc_derivative(n / 2, d / 2, n * x / (n * x + d), orders=(1, 0))
    return of_shape + _moved_by_share(n, d, x) / n


def _fisher_in_d(n, d, x):
    of_shape = 0.5 * betainc_derivative(n / 2, d / 2, n * x / (n * x + d), orders=(0, 1))
    return of_shape - _moved_by_share(n, d, x) / d


def _student_in_df(df, t):
    """What lies below t < 0 is I(df/2, ½, s) / 2 with s = df / (df + t²), which also depends on df."""
    of_a_tail = 0.25 * betainc_derivative(df / 2, 0.5, df / (df + t * t), orders=(1, 0))
    return -sign(t) * of_a_tail - 0.5 * t / df * _density_of_t(df, t)


def _derivative_of_density(orders, slope):
    """A derivative of a density over the density, from those of its logarithm, by Faà di Bruno's recurrence.

    `orders` count how often in either parameter; `slope(k)` is the derivative of orders `k` of the logarithm.
    """
    made = {(0, 0): 1.0}
    for i in range(orders[0] + 1):
        for j in range(orders[1] + 1):
            if i + j == 0:
                continue
            first = (1, 0) if i else (0, 1)
            p, q = i - first[0], j - first[1]
            made[i, j] = sum(
                comb(p, k) * comb(q, m) * made[p - k, q - m] * slope((first[0] + k, first[1] + m))
                for k in range(p + 1)
                for m in range(q + 1)
            )
    return made[orders]


def _slope_of_gammaln(orders, z):
    n = orders[0] + orders[1] - 1
    return psi_derivative(z, order=n) if n else special.psi(z)


def _shape_of_gamma(a, x, order):
    """The derivative of the gamma density, so many times in its shape."""

    def slope(k):
        return (log(x) if k == (1, 0) else 0.0) - _slope_of_gammaln(k, a)

    return _density_of_gamma(a, x) * _derivative_of_density((order, 0), slope)


def _shapes_of_beta(a, b, x, orders):
    """The derivative of the beta density, so many times in either shape."""

    def slope(k):
        both = _slope_of_gammaln(k, a + b)
        if k[1] == 0:
            return both - _slope_of_gammaln(k, a) + (log(x) if k == (1, 0) else 0.0)
        if k[0] == 0:
            return both - _slope_of_gammaln(k, b) + (log1p(-x) if k == (0, 1) else 0.0)
        return both

    return _density_of_beta(a, b, x) * _derivative_of_density(orders, slope)


scalar_rule(
    gammainc_derivative,
    lambda a, x, Ω, *, order: gammainc_derivative(a, x, order=order + 1),
    lambda a, x, Ω, *, order: _shape_of_gamma(a, x, order),
)
scalar_rule(
    betainc_derivative,
    lambda a, b, x, Ω, *, orders: betainc_derivative(a, b, x, orders=(orders[0] + 1, orders[1])),
    lambda a, b, x, Ω, *, orders: betainc_derivative(a, b, x, orders=(orders[0], orders[1] + 1)),
    lambda a, b, x, Ω, *, orders: _shapes_of_beta(a, b, x, orders),
)

# --- the normal distribution ----------------------------------------------------------------------

rule(special.ndtr, lambda x, Ω: 0.3989422804014327 * exp(-0.5 * x * x))  # 1 / √(2π)
rule(  # φ / Φ, where both may be smaller than every float
    special.log_ndtr, lambda x, Ω: 0.7978845608028654 / special.erfcx(-0.7071067811865476 * x)
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
    lambda a, x, Ω: gammainc_derivative(a, x, order=1),
    lambda a, x, Ω: _density_of_gamma(a, x),
)
rule(
    special.gammaincc,
    lambda a, x, Ω: -gammainc_derivative(a, x, order=1),
    lambda a, x, Ω: -_density_of_gamma(a, x),
)
rule(
    special.gammaincinv,
    lambda a, y, Ω: -gammainc_derivative(a, Ω, order=1) / _density_of_gamma(a, Ω),
    lambda a, y, Ω: 1 / _density_of_gamma(a, Ω),
)
rule(
    special.gammainccinv,
    lambda a, y, Ω: -gammainc_derivative(a, Ω, order=1) / _density_of_gamma(a, Ω),
    lambda a, y, Ω: -1 / _density_of_gamma(a, Ω),
)
rule(
    special.gdtr,
    lambda a, b, x, Ω: x * _density_of_gamma(b, a * x),
    lambda a, b, x, Ω: gammainc_derivative(b, a * x, order=1),
    lambda a, b, x, Ω: a * _density_of_gamma(b, a * x),
)
rule(
    special.gdtrc,
    lambda a, b, x, Ω: -x * _density_of_gamma(b, a * x),
    lambda a, b, x, Ω: -gammainc_derivative(b, a * x, order=1),
    lambda a, b, x, Ω: -a * _density_of_gamma(b, a * x),
)
rule(
    special.chdtr,
    lambda v, x, Ω: 0.5 * gammainc_derivative(v / 2, x / 2, order=1),
    lambda v, x, Ω: 0.5 * _density_of_gamma(v / 2, x / 2),
)
rule(
    special.chdtrc,
    lambda v, x, Ω: -0.5 * gammainc_derivative(v / 2, x / 2, order=1),
    lambda v, x, Ω: -0.5 * _density_of_gamma(v / 2, x / 2),
)
rule(
    special.chdtri,
    lambda v, p, Ω: -gammainc_derivative(v / 2, Ω / 2, order=1) / _density_of_gamma(v / 2, Ω / 2),
    lambda v, p, Ω: -2 / _density_of_gamma(v / 2, Ω / 2),
)
rule(special.pdtr, None, lambda k, m, Ω: -_density_of_gamma(floor(k) + 1, m))
rule(special.pdtrc, None, lambda k, m, Ω: _density_of_gamma(floor(k) + 1, m))

# --- beta, binomial, Fisher's and Student's variables ---------------------------------------------

rule(
    special.betainc,
    lambda a, b, x, Ω: betainc_derivative(a, b, x, orders=(1, 0)),
    lambda a, b, x, Ω: betainc_derivative(a, b, x, orders=(0, 1)),
    lambda a, b, x, Ω: _density_of_beta(a, b, x),
)
rule(
    special.betaincc,
    lambda a, b, x, Ω: -betainc_derivative(a, b, x, orders=(1, 0)),
    lambda a, b, x, Ω: -betainc_derivative(a, b, x, orders=(0, 1)),
    lambda a, b, x, Ω: -_density_of_beta(a, b, x),
)
rule(
    special.betaincinv,
    lambda a, b, y, Ω: -betainc_derivative(a, b, Ω, orders=(1, 0)) / _density_of_beta(a, b, Ω),
    lambda a, b, y, Ω: -betainc_derivative(a, b, Ω, orders=(0, 1)) / _density_of_beta(a, b, Ω),
    lambda a, b, y, Ω: 1 / _density_of_beta(a, b, Ω),
)
rule(
    special.betainccinv,
    lambda a, b, y, Ω: -betainc_derivative(a, b, Ω, orders=(1, 0)) / _density_of_beta(a, b, Ω),
    lambda a, b, y, Ω: -betainc_derivative(a, b, Ω, orders=(0, 1)) / _density_of_beta(a, b, Ω),
    lambda a, b, y, Ω: -1 / _density_of_beta(a, b, Ω),
)
rule(special.bdtr, None, None, lambda k, n, p, Ω: -_density_of_beta(floor(k) + 1, n - floor(k), p))
rule(special.bdtrc, None, None, lambda k, n, p, Ω: _density_of_beta(floor(k) + 1, n - floor(k), p))
rule(special.nbdtr, None, None, lambda k, n, p, Ω: _density_of_beta(n, floor(k) + 1, p))
rule(
    special.fdtr,
    lambda n, d, x, Ω: _fisher_in_n(n, d, x),
    lambda n, d, x, Ω: _fisher_in_d(n, d, x),
    lambda n, d, x, Ω: _density_of_f(n, d, x),
)
rule(
    special.fdtrc,
    lambda n, d, x, Ω: -_fisher_in_n(n, d, x),
    lambda n, d, x, Ω: -_fisher_in_d(n, d, x),
    lambda n, d, x, Ω: -_density_of_f(n, d, x),
)
rule(
    special.fdtri,
    lambda n, d, p, Ω: -_fisher_in_n(n, d, Ω) / _density_of_f(n, d, Ω),
    lambda n, d, p, Ω: -_fisher_in_d(n, d, Ω) / _density_of_f(n, d, Ω),
    lambda n, d, p, Ω: 1 / _density_of_f(n, d, Ω),
)
rule(special.stdtr, lambda df, t, Ω: _student_in_df(df, t), lambda df, t, Ω: _density_of_t(df, t))
rule(
    special.stdtrit,
    lambda df, p, Ω: -_student_in_df(df, Ω) / _density_of_t(df, Ω),
    lambda df, p, Ω: 1 / _density_of_t(df, Ω),
)
rule(
    special.nctdtr,
    lambda df, nc, t, Ω: no_partial("nctdtr", "df"),
    lambda df, nc, t, Ω: _noncentral_t_in_nc(df, nc, t),
    lambda df, nc, t, Ω: _density_of_noncentral_t(df, nc, t),
)
