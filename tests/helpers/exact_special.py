"""`scipy.special`'s functions in arbitrary precision, and where their rows are compared with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp


def _betainc(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def _nctdtr(df: Any, nc: Any, t: Any) -> Any:
    """For t >= 0, by a sum over Poisson's weights (Lenth, Algorithm AS 243, 1989)."""
    share, half = t * t / (df + t * t), nc * nc / 2
    total = mp.ncdf(-nc)
    for j in range(60):
        p = mp.exp(-half) * half**j / mp.factorial(j)
        q = nc * mp.exp(-half) * half**j / mp.sqrt(2) / mp.gamma(j + mp.mpf(3) / 2)
        total += (
            p * _betainc(j + mp.mpf(1) / 2, df / 2, share) + q * _betainc(j + 1, df / 2, share)
        ) / 2
    return total


def _stdtr(df: Any, t: Any) -> Any:
    return mp.mpf(1) / 2 + t * mp.gamma((df + 1) / 2) / mp.sqrt(df * mp.pi) / mp.gamma(
        df / 2
    ) * mp.hyp2f1(0.5, (df + 1) / 2, 1.5, -t * t / df)


def _inverse(function: Callable[..., Any], guess: float) -> Callable[..., Any]:
    """What undoes a function in its last argument."""
    return lambda *args: mp.findroot(lambda x: function(*args[:-1], x) - args[-1], guess)


def _gamma_below(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def _gamma_above(a: Any, x: Any) -> Any:
    return mp.gammainc(a, x, regularized=True)


def _fisher(n: Any, d: Any, x: Any) -> Any:
    return _betainc(n / 2, d / 2, n * x / (n * x + d))


def _faddeeva(z: Any) -> Any:
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def _voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    z = (x + 1j * gamma) / (mp.sqrt(2) * sigma)
    return _faddeeva(z).real / (sigma * mp.sqrt(2 * mp.pi))


def _owens_t(h: Any, a: Any) -> Any:
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a]) / (2 * mp.pi)


def _slope(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative in the last argument."""
    return lambda *args: mp.diff(lambda x: function(*args[:-1], x), args[-1])


def _spherical(bessel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda n, z: mp.sqrt(mp.pi / (2 * z)) * bessel(n + mp.mpf(1) / 2, z)


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
    "sindg": (lambda x: mp.sin(mp.radians(x)), [(37.0,), (-250.0,)]),
    "cosdg": (lambda x: mp.cos(mp.radians(x)), [(37.0,), (-250.0,)]),
    "tandg": (lambda x: mp.tan(mp.radians(x)), [(37.0,), (-250.0,)]),
    "cotdg": (lambda x: mp.cot(mp.radians(x)), [(37.0,), (-250.0,)]),
    "boxcox1p": (lambda x, y: ((1 + x) ** y - 1) / y, [(0.37, 0.3), (2.5, -1.5)]),
    "inv_boxcox1p": (lambda x, y: (1 + x * y) ** (1 / y) - 1, [(0.37, 0.3)]),
    "exprel": (lambda x: mp.expm1(x) / x, [(x,) for x in (-2.5, 1e-3, 2.5)]),
    "powm1": (lambda x, y: x**y - 1, [(0.37, 2.5), (2.5, 0.37)]),
    "_riemann_zeta": (mp.zeta, [(3.0,)]),
    "_zeta": (mp.zeta, [(3.0, 0.37), (1.5, 2.5)]),
    "_lambertw": (lambda z, k, tol: mp.lambertw(z, int(k)), [(0.37, 0, 1e-8), (-0.2, -1, 1e-8)]),
    "hyp0f1": (mp.hyp0f1, [(1.5, 0.37), (1.5, -2.5)]),
    "hyperu": (mp.hyperu, [(1.0, 2.0, 0.37), (2.0, 3.0, 2.5)]),
    "hankel1": (mp.hankel1, [(1.5, 0.37), (2.0, 6.3)]),
    "hankel2": (mp.hankel2, [(1.5, 0.37), (2.0, 6.3)]),
    "hankel1e": (lambda v, z: mp.hankel1(v, z) * mp.exp(-1j * z), [(1.5, 0.37), (2.0, 6.3)]),
    "hankel2e": (lambda v, z: mp.hankel2(v, z) * mp.exp(1j * z), [(1.5, 0.37), (2.0, 6.3)]),
    "ber": (lambda x: mp.ber(0, x), [(0.37,), (2.5,)]),
    "bei": (lambda x: mp.bei(0, x), [(0.37,), (2.5,)]),
    "ker": (lambda x: mp.ker(0, x), [(0.37,), (2.5,)]),
    "kei": (lambda x: mp.kei(0, x), [(0.37,), (2.5,)]),
    "berp": (_slope(lambda x: mp.ber(0, x)), [(0.37,), (2.5,)]),
    "beip": (_slope(lambda x: mp.bei(0, x)), [(0.37,), (1.5,)]),
    "kerp": (_slope(lambda x: mp.ker(0, x)), [(0.37,), (2.5,)]),
    "keip": (_slope(lambda x: mp.kei(0, x)), [(0.37,), (2.5,)]),
    "struve": (mp.struveh, [(1.5, 0.37), (1.0, 2.5)]),
    "modstruve": (mp.struvel, [(1.5, 0.37), (1.0, 2.5)]),
    "wofz": (_faddeeva, [(0.37,), (2.5,)]),
    "voigt_profile": (_voigt, [(0.37, 0.6, 0.3), (60.0, 0.4, 0.1)]),
    "_spherical_jn": (_spherical(mp.besselj), [(2, 0.37), (1, 2.5)]),
    "_spherical_yn": (_spherical(mp.bessely), [(2, 0.37), (1, 2.5)]),
    "_spherical_in": (_spherical(mp.besseli), [(2, 0.37), (1, 2.5)]),
    "_spherical_kn": (_spherical(mp.besselk), [(2, 0.37), (1, 2.5)]),
    "_spherical_jn_d": (_slope(_spherical(mp.besselj)), [(2, 0.37), (1, 2.5)]),
    "_spherical_yn_d": (_slope(_spherical(mp.bessely)), [(2, 0.37), (1, 2.5)]),
    "_spherical_in_d": (_slope(_spherical(mp.besseli)), [(2, 0.37), (1, 2.5)]),
    "_spherical_kn_d": (_slope(_spherical(mp.besselk)), [(2, 0.37), (1, 2.5)]),
    "ndtri_exp": (
        lambda y: mp.sqrt(2) * mp.erfinv(2 * mp.exp(y) - 1),
        [(-0.37,), (-2.5,)],
    ),
    "owens_t": (_owens_t, [(0.37, 0.6), (-2.5, 1.5)]),
    "gammaincinv": (_inverse(_gamma_below, 1.5), [(1.5, 0.37)]),
    "gammainccinv": (_inverse(_gamma_above, 1.5), [(1.5, 0.37)]),
    "gdtr": (lambda a, b, x: _gamma_below(b, a * x), [(0.37, 1.5, 2.5)]),
    "gdtrc": (lambda a, b, x: _gamma_above(b, a * x), [(0.37, 1.5, 2.5)]),
    "chdtr": (lambda v, x: _gamma_below(v / 2, x / 2), [(3.0, 2.5)]),
    "chdtrc": (lambda v, x: _gamma_above(v / 2, x / 2), [(3.0, 2.5)]),
    "chdtri": (_inverse(lambda v, x: _gamma_above(v / 2, x / 2), 2.5), [(3.0, 0.37)]),
    "pdtr": (lambda k, m: _gamma_above(mp.floor(k) + 1, m), [(2.0, 2.5), (1.5, 0.37)]),
    "pdtrc": (lambda k, m: _gamma_below(mp.floor(k) + 1, m), [(2.0, 2.5), (1.5, 0.37)]),
    "betaincc": (lambda a, b, x: 1 - _betainc(a, b, x), [(1.5, 2.0, 0.37)]),
    "betaincinv": (_inverse(_betainc, 0.4), [(1.5, 2.0, 0.37)]),
    "betainccinv": (_inverse(lambda a, b, x: 1 - _betainc(a, b, x), 0.4), [(1.5, 2.0, 0.37)]),
    "bdtr": (lambda k, n, p: 1 - _betainc(k + 1, n - k, p), [(1, 4, 0.37)]),
    "bdtrc": (lambda k, n, p: _betainc(k + 1, n - k, p), [(1, 4, 0.37)]),
    "nbdtr": (lambda k, n, p: _betainc(n, k + 1, p), [(2.0, 3.0, 0.37)]),
    "fdtr": (_fisher, [(2.0, 5.0, 0.37), (3.0, 4.0, 0.9)]),
    "fdtrc": (lambda n, d, x: 1 - _fisher(n, d, x), [(2.0, 5.0, 0.37)]),
    "fdtri": (_inverse(_fisher, 1.0), [(2.0, 5.0, 0.37)]),
    "stdtrit": (_inverse(_stdtr, 0.4), [(3.0, 0.7)]),
    "nctdtr": (_nctdtr, [(5.0, 0.3, 1.2)]),
}
