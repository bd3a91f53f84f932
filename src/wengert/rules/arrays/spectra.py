"""Eigenvalues and eigenvectors of symmetric matrices, and matrices that are put together of them.

Vectors of equal eigenvalues have no derivative, and are refused (`runtime/numeric/eigenvalues`).

References: M. Giles, An extended collection of matrix derivative results for forward and reverse mode AD (2008);
Y. Daleckii and S. Krein, Integration and differentiation of functions of Hermitian operators (1965); A. Lewis and
H. Sendov, Twice differentiable spectral functions (2001).
"""

from __future__ import annotations

from ...ops.arrays.linear_algebra import (
    eigh,
    eigvalsh,
    over_gaps,
    over_gaps_bar,
    quotients,
    spectral,
    values_along,
)
from ...ops.arrays.selection import diagonal
from ...ops.arrays.shape import expand_dims
from ...ops.elementwise import conj, real
from ..forms import also_linear, differential
from .linear_algebra import adjoint, hermitian


@differential(eigvalsh)
def _(dX, X, Ω, *, UPLO="L"):
    """dw = diag(Vᴴ dX V)   (Giles, §2.2.5)."""
    V = eigh(X, UPLO=UPLO)[1]
    return values_along(hermitian(dX, UPLO == "U"), X, Ω, V, UPLO=UPLO)


# What is put together of eigenvectors has a derivative of its own by the matrix, in which equal eigenvalues are no
# exception: V and w are not differentiated again.


@differential(values_along)
def _(dH, dX, dw, dV, H, X, w, V, Ω, *, UPLO="L"):
    turned = over_gaps(adjoint(V) @ hermitian(dX, UPLO == "U") @ V, w, used=True)
    along = adjoint(V) @ (H + adjoint(H)) @ V  # H is a cotangent, and need not be symmetric
    return values_along(dH, X, w, V, UPLO=UPLO) + real(diagonal(along @ turned, axis1=-2, axis2=-1))


@differential(spectral)
def _(dg, da, dX, dw, dV, g, a, X, w, V, Ω, *, UPLO="L"):
    """V (diag(dg) + Q ∘ Vᴴ dX V) Vᴴ, Q the divided differences of g   (Daleckii and Krein)."""
    P = adjoint(V) @ hermitian(dX, UPLO == "U") @ V
    turned = V @ (quotients(g, a, w) * P) @ adjoint(V)
    return spectral(dg, None, X, w, V, UPLO=UPLO) + turned


@differential(quotients)
def _(dg, da, dw, g, a, w, Ω):
    change = expand_dims(dg, axis=-2) - expand_dims(dg, axis=-1)
    return over_gaps(change - _moved(dw, Ω), w, used=True)


also_linear(
    values_along,
    (lambda ȳ, H, X, w, V, *, UPLO="L": spectral(ȳ, None, X, w, V, UPLO=UPLO), None, None, None),
)
also_linear(
    spectral,
    (
        lambda ȳ, g, a, X, w, V, *, UPLO="L": values_along(ȳ, X, w, V, UPLO=UPLO),
        *[None] * 4,
    ),
)


@differential(eigh)
def _(dX, X, Ω, *, UPLO="L", used=()):
    """dw = diag(P), dV = V (F ∘ P) with P = Vᴴ dX V, Fᵢⱼ = 1 / (wⱼ − wᵢ)   (Giles, §3.1)."""
    w, V = Ω[0], Ω[1]
    P = adjoint(V) @ hermitian(dX, UPLO == "U") @ V
    return real(diagonal(P, axis1=-2, axis2=-1)), V @ over_gaps(P, w, used=used)


# --- what eigenvectors turn by: P, divided by differences of eigenvalues ------------------------


@differential(over_gaps)
def _(dx, dw, x, w, Ω, **options):
    return over_gaps(dx - _moved(dw, Ω), w, **options)


@differential(over_gaps_bar)
def _(dx, dw, x, w, Ω, **options):
    return over_gaps_bar(dx - _moved(conj(dw), Ω), w, **options)


def _moved(dw, Ω):
    return Ω * (expand_dims(dw, axis=-2) - expand_dims(dw, axis=-1))


also_linear(over_gaps, (lambda ȳ, x, w, **options: over_gaps_bar(ȳ, w, **options), None))
also_linear(over_gaps_bar, (lambda ȳ, x, w, **options: over_gaps(ȳ, w, **options), None))
