"""`scipy.special`'s functions of waves: those of Bessel, Hankel, Kelvin, Struve, Airy, Fresnel, Faddeeva.

Formulas: NIST Digital Library of Mathematical Functions, chapters 6, 7, 9, 10, 11, 14 and 22.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import special  # pyright: ignore[reportMissingTypeStubs]
from scipy.special._ufuncs import (  # what `spherical_jn` and the others call
    _spherical_in,  # pyright: ignore[reportPrivateUsage]
    _spherical_in_d,  # pyright: ignore[reportPrivateUsage]
    _spherical_jn,  # pyright: ignore[reportPrivateUsage]
    _spherical_jn_d,  # pyright: ignore[reportPrivateUsage]
    _spherical_kn,  # pyright: ignore[reportPrivateUsage]
    _spherical_kn_d,  # pyright: ignore[reportPrivateUsage]
    _spherical_yn,  # pyright: ignore[reportPrivateUsage]
    _spherical_yn_d,  # pyright: ignore[reportPrivateUsage]
)

from ...ir.types import Struct
from ...ops import registry as ops
from ...ops.array_kinds import Args, Params
from ...ops.elementwise import cos, cosh, sign, sin, sinh, where
from ...ops.promotion import analytic
from ...ops.special import faddeeva, no_partial
from ..forms import differential, scalar_rule
from .functions import complex_result, scipy_rule as rule, slope_of_ellipkinc


def _several(function: Any) -> Callable[[Any], Any]:
    """Give one of SciPy's functions with several results its differential."""
    op = ops.foreign(function)
    op.effect = False

    def infer(args: Args, params: Params) -> Struct:
        return Struct(
            "tuple", tuple(range(function.nout)), (analytic(args, params),) * function.nout
        )

    op.infer = infer
    return differential(op)


# --- Bessel functions: the mean of, or half the difference between, the neighbouring orders -------

rule(special.j0, lambda x, Ω: -special.j1(x))
rule(special.j1, lambda x, Ω: (special.j0(x) - special.jv(2, x)) / 2)
rule(
    special.jv,  # also called jn
    lambda v, x, Ω: no_partial("jv", "v"),
    lambda v, x, Ω: (special.jv(v - 1, x) - special.jv(v + 1, x)) / 2,
)
rule(special.y0, lambda x, Ω: -special.y1(x))
rule(special.y1, lambda x, Ω: (special.y0(x) - special.yv(2, x)) / 2)
rule(
    special.yv,
    lambda v, x, Ω: no_partial("yv", "v"),
    lambda v, x, Ω: (special.yv(v - 1, x) - special.yv(v + 1, x)) / 2,
)
rule(special.yn, None, lambda n, x, Ω: (special.yv(n - 1, x) - special.yv(n + 1, x)) / 2)
rule(special.i0, lambda x, Ω: special.i1(x))
rule(special.i1, lambda x, Ω: (special.i0(x) + special.iv(2, x)) / 2)
rule(
    special.iv,
    lambda v, x, Ω: no_partial("iv", "v"),
    lambda v, x, Ω: (special.iv(v - 1, x) + special.iv(v + 1, x)) / 2,
)
rule(special.i0e, lambda x, Ω: special.i1e(x) - sign(x) * Ω)
rule(special.i1e, lambda x, Ω: (special.i0e(x) + special.ive(2, x)) / 2 - sign(x) * Ω)
rule(
    special.ive,
    lambda v, x, Ω: no_partial("ive", "v"),
    lambda v, x, Ω: (special.ive(v - 1, x) + special.ive(v + 1, x)) / 2 - sign(x) * Ω,
)
rule(special.k0, lambda x, Ω: -special.k1(x))
rule(special.k1, lambda x, Ω: -(special.k0(x) + special.kv(2, x)) / 2)
rule(
    special.kv,
    lambda v, x, Ω: no_partial("kv", "v"),
    lambda v, x, Ω: -(special.kv(v - 1, x) + special.kv(v + 1, x)) / 2,
)
rule(special.kn, None, lambda n, x, Ω: -(special.kv(n - 1, x) + special.kv(n + 1, x)) / 2)
rule(special.k0e, lambda x, Ω: Ω - special.k1e(x))
rule(special.k1e, lambda x, Ω: Ω - (special.k0e(x) + special.kve(2, x)) / 2)
rule(
    special.kve,
    lambda v, x, Ω: no_partial("kve", "v"),
    lambda v, x, Ω: Ω - (special.kve(v - 1, x) + special.kve(v + 1, x)) / 2,
)

# --- spherical Bessel functions: by their own slopes, and Bessel's equation -----------------------


def _bend(n, z, value, slope):
    """The second derivative of one that oscillates."""
    return (n * (n + 1) / z**2 - 1) * value - 2 / z * slope


def _modified_bend(n, z, value, slope):
    """The second derivative of one that grows or decays."""
    return (n * (n + 1) / z**2 + 1) * value - 2 / z * slope


rule(_spherical_jn, None, lambda n, z, Ω: _spherical_jn_d(n, z))
rule(_spherical_yn, None, lambda n, z, Ω: _spherical_yn_d(n, z))
rule(_spherical_in, None, lambda n, z, Ω: _spherical_in_d(n, z))
rule(_spherical_kn, None, lambda n, z, Ω: _spherical_kn_d(n, z))
rule(_spherical_jn_d, None, lambda n, z, Ω: _bend(n, z, _spherical_jn(n, z), Ω))
rule(_spherical_yn_d, None, lambda n, z, Ω: _bend(n, z, _spherical_yn(n, z), Ω))
rule(_spherical_in_d, None, lambda n, z, Ω: _modified_bend(n, z, _spherical_in(n, z), Ω))
rule(_spherical_kn_d, None, lambda n, z, Ω: _modified_bend(n, z, _spherical_kn(n, z), Ω))

# --- Hankel functions, with the same recurrence ---------------------------------------------------

rule(
    special.hankel1,
    lambda v, z, Ω: no_partial("hankel1", "v"),
    lambda v, z, Ω: (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)) / 2,
    infer=complex_result,
)
rule(
    special.hankel2,
    lambda v, z, Ω: no_partial("hankel2", "v"),
    lambda v, z, Ω: (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)) / 2,
    infer=complex_result,
)
rule(
    special.hankel1e,
    lambda v, z, Ω: no_partial("hankel1e", "v"),
    lambda v, z, Ω: (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) / 2 - 1j * Ω,
    infer=complex_result,
)
rule(
    special.hankel2e,
    lambda v, z, Ω: no_partial("hankel2e", "v"),
    lambda v, z, Ω: (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) / 2 + 1j * Ω,
    infer=complex_result,
)

# --- Kelvin functions: by their own slopes, and Kelvin's equation ---------------------------------

rule(special.ber, lambda x, Ω: special.berp(x))
rule(special.bei, lambda x, Ω: special.beip(x))
rule(special.ker, lambda x, Ω: special.kerp(x))
rule(special.kei, lambda x, Ω: special.keip(x))
rule(special.berp, lambda x, Ω: -special.bei(x) - Ω / x)
rule(special.beip, lambda x, Ω: special.ber(x) - Ω / x)
rule(special.kerp, lambda x, Ω: -special.kei(x) - Ω / x)
rule(special.keip, lambda x, Ω: special.ker(x) - Ω / x)

# --- Struve functions -----------------------------------------------------------------------------


def _of_struve(v, x):
    """(x/2)ᵛ / (√π Γ(v + 3/2)), by which their recurrence differs from Bessel's."""
    return 0.5641895835477563 * (x / 2) ** v * special.rgamma(v + 1.5)


rule(
    special.struve,
    lambda v, x, Ω: no_partial("struve", "v"),
    lambda v, x, Ω: (special.struve(v - 1, x) - special.struve(v + 1, x) + _of_struve(v, x)) / 2,
)
rule(
    special.modstruve,
    lambda v, x, Ω: no_partial("modstruve", "v"),
    lambda v, x, Ω: (
        (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + _of_struve(v, x)) / 2
    ),
)

# --- the Faddeeva function, and the lines of spectra that it gives --------------------------------


def _voigt(x, sigma, gamma, order):
    """A derivative of the Faddeeva function where its real part is a Voigt profile."""
    return faddeeva((x + 1j * gamma) / (1.4142135623730951 * sigma), order=order) / sigma**2


rule(special.wofz, lambda z, Ω: faddeeva(z, order=1), infer=complex_result)
scalar_rule(faddeeva, lambda z, Ω, *, order: faddeeva(z, order=order + 1))
rule(
    special.voigt_profile,  # Re w / σ√(2π), which the heat equation relates to its second derivative
    lambda x, sigma, gamma, Ω: 0.28209479177387814 * _voigt(x, sigma, gamma, 1).real,
    lambda x, sigma, gamma, Ω: 0.19947114020071635 * _voigt(x, sigma, gamma, 2).real,
    lambda x, sigma, gamma, Ω: -0.28209479177387814 * _voigt(x, sigma, gamma, 1).imag,
)

# --- functions with several results ---------------------------------------------------------------


def _over(function, x):
    """function(x) / x, whose limit at 0 is 1."""
    return where(x == 0, 1.0, function(x) / where(x == 0, 1.0, x))


@_several(special.sici)
def _(dx, x, Ω):
    return dx * _over(sin, x), dx * (cos(x) / x)


@_several(special.shichi)
def _(dx, x, Ω):
    return dx * _over(sinh, x), dx * (cosh(x) / x)


@_several(special.fresnel)
def _(dz, z, Ω):
    return dz * sin(1.5707963267948966 * z * z), dz * cos(1.5707963267948966 * z * z)  # π / 2


@_several(special.airy)
def _(dz, z, Ω):
    """Airy's equation: the second derivative is z times the function."""
    return dz * Ω[1], dz * (z * Ω[0]), dz * Ω[3], dz * (z * Ω[2])


@_several(special.ellipj)
def _(du, dm, u, m, Ω):
    """By way of the amplitude: what undoes an integral has its slopes the other way round."""
    sn, cn, dn, amplitude = Ω[0], Ω[1], Ω[2], Ω[3]
    turn = dn * (du - dm * slope_of_ellipkinc(amplitude, m))
    return turn * cn, -turn * sn, -(m * sn * cn * turn + 0.5 * sn * sn * dm) / dn, turn
