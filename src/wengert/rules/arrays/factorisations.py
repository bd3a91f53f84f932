"""Factorisations by their differentials; where factors can be chosen in several ways, one is taken.

A function that does not depend on the choice of signs and phases has the right derivative; of one that does, the
derivative says as little as the function itself. Vectors of equal values have no derivative: what reads them is
refused (`runtime/numeric/eigenvalues`).

References: J. Townsend, Differentiating the singular value decomposition (2016); Z.-Q. Wan and
S.-X. Zhang, Automatic differentiation for complex valued SVD (2019); S. Walter and L. Lehmann,
Algorithmic differentiation of linear algebra functions (2010); M. Giles, An extended collection of
matrix derivative results (2008); G. Golub and V. Pereyra, The differentiation of pseudo-inverses (1973).
"""

from __future__ import annotations

from ...ops.arrays.creation import arange, eye
from ...ops.arrays.factorisations import (
    blur,
    completing,
    completing_bar,
    eig,
    eigvals,
    full_rank,
    independent,
    least_squares,
    matched,
    over_values,
    over_values_bar,
    qr,
    qr_r,
    roots,
    svd,
    svdvals,
)
from ...ops.arrays.joining import concatenate
from ...ops.arrays.linear_algebra import inv, over_gaps, pinv, solve
from ...ops.arrays.reduction import sum_
from ...ops.arrays.selection import diagonal, take_along_axis, tril
from ...ops.arrays.shape import expand_dims, matrix_transpose, shape
from ...ops.elementwise import conj, i_imag, minimum, real, where
from ..forms import also_linear, differential, zero_rule

zero_rule(matched, blur)


def _adjoint(X):
    return conj(matrix_transpose(X))


def _columns(x):
    return expand_dims(x, axis=-1)


def _rows(x):
    return expand_dims(x, axis=-2)


def _inverse(x):
    return where(x == 0, 0.0, 1.0 / where(x == 0, 1.0, x))


def _diagonal(X):
    return diagonal(X, axis1=-2, axis2=-1)


# --- singular values ----------------------------------------------------------------------


@differential(svdvals)
def _(dA, A, Ω):
    """dS = Re diag(Uᴴ dA V)."""
    factors = svd(A, full_matrices=False)
    return real(_diagonal(_adjoint(factors[0]) @ dA @ _adjoint(factors[2])))


@differential(svd)
def _(dA, A, Ω, *, full_matrices=True, used=()):
    """dU = U (T + R) / 2 + (1 − U Uᴴ) dA V S⁻¹, dV = V (T − R) / 2 + … with P = Uᴴ dA V,
    Tᵢⱼ = (P + Pᴴ)ᵢⱼ / (sⱼ − sᵢ), Rᵢⱼ = (P − Pᴴ)ᵢⱼ / (sⱼ + sᵢ)   (Townsend, eqs 16–18, in partial fractions).

    The phases of complex vectors turn in U alone (Wan and Zhang, eq. 20).
    """
    S, k = Ω[1], shape(Ω[1])[-1]
    U, V = Ω[0][..., :k], _adjoint(Ω[2][..., :k, :])
    P = _adjoint(U) @ dA @ V
    T = over_gaps(P + _adjoint(P), S, used=used, name="singular values")
    R = (P - _adjoint(P)) * _inverse(_rows(S) + _columns(S))
    phases = _rows(i_imag(_diagonal(P)) * _inverse(S))
    dU = U @ (0.5 * (T + R)) + 0.5 * (U * phases) + _outside(U, dA @ V, S, used)
    dV = V @ (0.5 * (T - R)) + 0.5 * (V * phases) + _outside(V, _adjoint(dA) @ U, S, used)
    if full_matrices:
        dU = _completed(dU, U, Ω[0][..., k:])
        dV = _completed(dV, V, _adjoint(Ω[2][..., k:, :]))
    return dU, real(_diagonal(P)), _adjoint(dV)


def _outside(U, X, S, used):
    """The part of X that the columns of U do not span: nothing at all, where there are as many as rows.

    What rounding leaves of it there would be divided by singular values that may be zero but for rounding.
    """
    free = shape(U)[-2] - shape(U)[-1]
    return over_values((X - U @ (_adjoint(U) @ X)) * minimum(free, 1), S, free=free, used=used)


@differential(over_values)
def _(dx, ds, x, s, Ω, *, free, used=()):
    return over_values(dx - Ω * _rows(ds), s, free=free, used=used)


@differential(over_values_bar)
def _(dx, ds, x, s, Ω, *, free, used=()):
    return over_values_bar(dx - Ω * _rows(ds), s, free=free, used=used)


also_linear(over_values, (lambda ȳ, x, s, **options: over_values_bar(ȳ, s, **options), None))
also_linear(over_values_bar, (lambda ȳ, x, s, **options: over_values(ȳ, s, **options), None))


def _completed(dU, U, rest):
    """The columns that complete a basis turn as little as they can."""
    return concatenate((dU, completing(-U @ (_adjoint(dU) @ rest), rest)), axis=-1)


@differential(completing)
@differential(completing_bar)
def _(dx, drest, x, rest, Ω):
    return dx


also_linear(completing, (lambda ȳ, x, rest: completing_bar(ȳ, rest), None))
also_linear(completing_bar, (lambda ȳ, x, rest: ȳ, None))


# --- QR -----------------------------------------------------------------------------------


def _turn(dA, Q, R):
    """Qᴴ dQ, and the part of dQ outside of Q, from the first columns   (Walter and Lehmann)."""
    k = shape(Q)[-1]
    X = dA[..., :k] @ inv(full_rank(R[..., :k, :k], free=shape(Q)[-2] - k))
    inside = _adjoint(Q) @ X
    L = tril(inside, k=-1)
    turn = L - _adjoint(L) + _columns(i_imag(_diagonal(inside))) * eye(k)
    return turn, X - Q @ inside


def _of_triangle(dA, Q, R, turn):
    return _adjoint(Q) @ dA - turn @ R


@differential(qr)
def _(dA, A, Ω, *, mode="reduced"):
    """dQ = Q X + (1 − Q Qᴴ) dA R⁻¹, dR = Qᴴ dA − X R, X = Qᴴ dQ antihermitian."""
    if mode == "complete":
        k = shape(_diagonal(A))[-1]
        dQ, dR = _thin(dA, Ω[0][..., :k], Ω[1][..., :k, :])
        dQ = _completed(dQ, Ω[0][..., :k], Ω[0][..., k:])
        return dQ, concatenate((dR, 0.0 * Ω[1][..., k:, :]), axis=-2)
    return _thin(dA, Ω[0], Ω[1])


def _thin(dA, Q, R):
    turn, outside = _turn(dA, Q, R)
    return Q @ turn + outside, _of_triangle(dA, Q, R, turn)


@differential(qr_r)
def _(dA, A, Ω, *, mode):
    Q = qr(A)[0]
    return _of_triangle(dA, Q, Ω, _turn(dA, Q, Ω)[0])


# --- eigenvalues --------------------------------------------------------------------------


@differential(eigvals)
def _(dA, A, Ω):
    """dw = diag(V⁻¹ dA V)   (Giles, §2.2.4)."""
    factors = eig(A)
    V = independent(factors[1], factors[0], A)
    return take_along_axis(_diagonal(solve(V, dA @ V)), matched(Ω, factors[0]), axis=-1)


@differential(eig)
def _(dA, A, Ω, *, used=()):
    """dw = diag(P), dV = V (F ∘ P) with P = V⁻¹ dA V, Fᵢⱼ = 1 / (wⱼ − wᵢ); lengths and phases stay."""
    w, V = Ω[0], independent(Ω[1], Ω[0], A)
    P = solve(V, dA @ V)
    dV = V @ over_gaps(P, w, used=used, within=blur(w, V, A))
    return _diagonal(P), dV - V * sum_(conj(V) * dV, axis=-2, keepdims=True)


@differential(full_rank)
def _(dR, R, Ω, *, free):
    return dR


@differential(independent)
def _(dV, dw, dA, V, w, A, Ω):
    return dV


@differential(roots)
def _(dp, p, Ω):
    """Where the polynomial is zero it stays so: dΩ = −dp(Ω) / p'(Ω)."""
    n = shape(p)[0]
    powers = expand_dims(Ω, axis=-1) ** arange(n)[::-1]
    slope = powers[:, 1:] @ (p[:-1] * arange(n)[:0:-1])
    return -(powers @ dp) / slope


# --- least squares ------------------------------------------------------------------------


@differential(least_squares)
def _(dA, dB, A, B, Ω, *, rcond=None):
    """The constant-rank differential of A⁺ B   (Golub and Pereyra, eq. 4.12)."""
    A_inv = pinv(A, rcond=rcond)
    bent = A_inv @ (_adjoint(A_inv) @ (_adjoint(dA) @ (B - A @ Ω)))
    free = _adjoint(dA) @ (_adjoint(A_inv) @ Ω)
    return A_inv @ (dB - dA @ Ω) + bent + free - A_inv @ (A @ free)
