"""Linear algebra: products by their transposes, matrix functions by their differentials.

The adjoint of `x ↦ a x` is `ȳ ↦ aᴴ ȳ`: the transposes conjugate the other operand themselves.

References: M. Giles, An extended collection of matrix derivative results for forward and reverse
mode AD (2008); I. Murray, Differentiation of the Cholesky decomposition (2016); G. Golub and
V. Pereyra, The differentiation of pseudo-inverses … (1973).
"""

from __future__ import annotations

import math

from ...ops.arrays.factorisations import svd
from ...ops.arrays.linear_algebra import (
    as_columns,
    cholesky,
    cofactor,
    cofactor_along,
    cofactor_beyond,
    cofactor_thrice,
    cofactor_twice,
    contract,
    contract_left,
    contract_right,
    cross,
    cross_left,
    cross_right,
    det,
    dot,
    from_columns,
    halved_tril,
    inner,
    inv,
    kron,
    kron_left,
    kron_right,
    matmul,
    matmul_left,
    matmul_right,
    matrix_rank,
    norm,
    normed_rank,
    outer,
    pinv,
    slogdet,
    solve,
    tensordot,
    unstacked,
    vdot,
)
from ...ops.arrays.reduction import max_, min_, sum_
from ...ops.arrays.shape import (
    expand_dims,
    matrix_transpose,
    moveaxis,
    ravel,
    reshape,
    shape,
    shaped,
)
from ...ops.elementwise import abs_, conj, real, where
from ..forms import also_linear, bilinear_rule, differential, linear_rule, zero_rule

zero_rule(matrix_rank)

# --- products -----------------------------------------------------------------------------

bilinear_rule(
    matmul,
    left=lambda ȳ, a, b: matmul_left(ȳ, b, like=a),
    right=lambda ȳ, a, b: matmul_right(a, ȳ, like=b),
)
bilinear_rule(
    matmul_left,
    left=lambda ȳ, y_bar, b, *, like: ȳ @ b,
    right=lambda ȳ, y_bar, b, *, like: matmul_right(ȳ, y_bar, like=b),
)
bilinear_rule(
    matmul_right,
    left=lambda ȳ, a, y_bar, *, like: matmul_left(y_bar, ȳ, like=a),
    right=lambda ȳ, a, y_bar, *, like: a @ ȳ,
)
bilinear_rule(
    dot,
    left=lambda ȳ, a, b: contract_left(ȳ, b, axes="dot", like=a),
    right=lambda ȳ, a, b: contract_right(a, ȳ, axes="dot", like=b),
)
bilinear_rule(
    inner,
    left=lambda ȳ, a, b: contract_left(ȳ, b, axes="inner", like=a),
    right=lambda ȳ, a, b: contract_right(a, ȳ, axes="inner", like=b),
)
bilinear_rule(
    tensordot,
    left=lambda ȳ, a, b, *, axes=2: contract_left(ȳ, b, axes=axes, like=a),
    right=lambda ȳ, a, b, *, axes=2: contract_right(a, ȳ, axes=axes, like=b),
)
bilinear_rule(
    contract,
    left=lambda ȳ, a, b, *, axes: contract_left(ȳ, b, axes=axes, like=a),
    right=lambda ȳ, a, b, *, axes: contract_right(a, ȳ, axes=axes, like=b),
)
bilinear_rule(
    contract_left,
    left=lambda ȳ, y_bar, b, *, axes, like: contract(ȳ, b, axes=axes),
    right=lambda ȳ, y_bar, b, *, axes, like: contract_right(ȳ, y_bar, axes=axes, like=b),
)
bilinear_rule(
    contract_right,
    left=lambda ȳ, a, y_bar, *, axes, like: contract_left(y_bar, ȳ, axes=axes, like=a),
    right=lambda ȳ, a, y_bar, *, axes, like: contract(a, ȳ, axes=axes),
)
bilinear_rule(
    outer,
    left=lambda ȳ, a, b: reshape(ȳ @ conj(ravel(b)), shape(a)),
    right=lambda ȳ, a, b: reshape(conj(ravel(a)) @ ȳ, shape(b)),
)
bilinear_rule(
    vdot,
    left=lambda ȳ, a, b: reshape(conj(ȳ) * ravel(b), shape(a)),
    right=lambda ȳ, a, b: reshape(ȳ * ravel(a), shape(b)),
)
bilinear_rule(
    kron,
    left=lambda ȳ, a, b: kron_left(ȳ, b, like=a),
    right=lambda ȳ, a, b: kron_right(a, ȳ, like=b),
)
bilinear_rule(
    kron_left,
    left=lambda ȳ, y_bar, b, *, like: kron(ȳ, b),
    right=lambda ȳ, y_bar, b, *, like: kron_right(ȳ, y_bar, like=b),
)
bilinear_rule(
    kron_right,
    left=lambda ȳ, a, y_bar, *, like: kron_left(y_bar, ȳ, like=a),
    right=lambda ȳ, a, y_bar, *, like: kron(a, ȳ),
)
bilinear_rule(
    cross,
    left=lambda ȳ, a, b, **axes: cross_left(ȳ, b, like=a, **axes),
    right=lambda ȳ, a, b, **axes: cross_right(a, ȳ, like=b, **axes),
)
bilinear_rule(
    cross_left,
    left=lambda ȳ, y_bar, b, *, like, **axes: cross(ȳ, b, **axes),
    right=lambda ȳ, y_bar, b, *, like, **axes: cross_right(ȳ, y_bar, like=b, **axes),
)
bilinear_rule(
    cross_right,
    left=lambda ȳ, a, y_bar, *, like, **axes: cross_left(y_bar, ȳ, like=a, **axes),
    right=lambda ȳ, a, y_bar, *, like, **axes: cross(a, ȳ, **axes),
)

# --- norms --------------------------------------------------------------------------------


@differential(norm)
def _(dx, x, Ω, *, ord=None, axis=None, keepdims=False):
    """dΩ = Re⟨∂Ω/∂x, dx⟩; 0 at the origin."""
    if normed_rank(x, axis) == 2 and ord is not None and ord != "fro":
        slope = _slope_of_matrix_norm(x, ord, (0, 1) if axis is None else axis)
    else:
        length = Ω if axis is None or keepdims else expand_dims(Ω, axis=axis)
        slope = _slope_of_norm(x, length, ord, axis)
    return sum_(real(conj(shaped(slope, like=x)) * dx), axis=axis, keepdims=keepdims)


def _slope_of_norm(x, length, order, axis):
    divisor = where(length == 0, math.inf, length)  # whose derivative at the origin is 0 as well
    if order is None or order == "fro" or order == 2:
        return x / divisor
    absolute = abs_(x)
    direction = x / where(absolute == 0, 1.0, absolute)
    if order == 1:
        return direction
    if order == math.inf or order == -math.inf:
        attained = where(absolute == length, 1.0, 0.0)
        return direction * attained / sum_(attained, axis=axis, keepdims=True)
    if order == 0:
        return 0.0 * direction
    return direction * (absolute / divisor) ** (order - 1)


def _slope_of_matrix_norm(x, order, axes):
    if order == 1 or order == -1:
        return _slope_of_sums(x, axes[0], axes[1], order)
    if order == math.inf or order == -math.inf:
        return _slope_of_sums(x, axes[1], axes[0], order)
    factors = svd(moveaxis(x, source=axes, destination=(-2, -1)), full_matrices=False)
    return moveaxis(_direction(factors[0], factors[2], order), source=(-2, -1), destination=axes)


def _direction(U, Vh, order):
    """The singular vectors that a norm is about: the first, the last, or all of them."""
    if order == 2:
        return U[..., :, :1] @ Vh[..., :1, :]
    return U[..., :, -1:] @ Vh[..., -1:, :] if order == -2 else U @ Vh


def _slope_of_sums(x, summed, compared, order):
    """Of the largest (or smallest) sum of absolute values; sums that are equal share it."""
    absolute = abs_(x)
    direction = x / where(absolute == 0, 1.0, absolute)
    sums = sum_(absolute, axis=summed, keepdims=True)
    attained = where(sums == _extreme(sums, compared, order), 1.0, 0.0)
    return direction * attained / sum_(attained, axis=compared, keepdims=True)


def _extreme(sums, axis, order):
    if order > 0:
        return max_(sums, axis=axis, keepdims=True)
    return min_(sums, axis=axis, keepdims=True)


zero_rule(normed_rank)

# --- solving ------------------------------------------------------------------------------


@differential(inv)
def _(dX, X, Ω):
    """d(X⁻¹) = −X⁻¹ dX X⁻¹   (Giles, §2.2.3)."""
    return -(Ω @ dX @ Ω)


@differential(solve)
def _(dA, dB, A, B, Ω):
    """d(A⁻¹B) = A⁻¹ (dB − dA Ω)   (Giles, §2.3.1)."""
    product = shaped(dA @ as_columns(Ω, vector=B, result=Ω), like=Ω, matrix=A)
    change = as_columns(dB, vector=B, result=Ω) - product
    return from_columns(solve(A, change), vector=B, result=Ω)


def _solved_for(ȳ, A, B):
    adjoint = conj(matrix_transpose(A))
    columns = solve(adjoint, as_columns(ȳ, vector=B, result=ȳ))
    return unstacked(from_columns(columns, vector=B, result=ȳ), like=B, matrix=A)


# The differential is itself a solution, linear in its right-hand side: to be transposed it needs
# the transpose of `solve` in that operand.
also_linear(solve, (None, _solved_for))

linear_rule(
    as_columns,
    transpose=lambda ȳ, x, *, vector, result: from_columns(ȳ, vector=vector, result=result),
)
linear_rule(
    from_columns,
    transpose=lambda ȳ, x, *, vector, result: as_columns(ȳ, vector=vector, result=result),
)


@differential(pinv)
def _(dA, A, Ω):
    """The constant-rank differential   (Golub and Pereyra, eq. 4.12)."""
    dA_adj, Ω_adj = adjoint(dA), adjoint(Ω)
    inside = Ω @ Ω_adj @ (dA_adj - dA_adj @ A @ Ω)
    outside = (dA_adj - Ω @ A @ dA_adj) @ Ω_adj @ Ω
    return inside + outside - Ω @ dA @ Ω


def adjoint(X):
    return conj(matrix_transpose(X))


# --- determinants -------------------------------------------------------------------------


@differential(det)
def _(dX, X, Ω):
    """Jacobi's formula, d det X = ⟨cof X, dX⟩, which holds for singular matrices too."""
    return sum_(shaped(cofactor(X), like=X) * dX, axis=(-2, -1))


# The cofactors are polynomials, and so are their derivatives, symmetric in the directions: an operand with a d of its own
# comes first, in which the op is linear.


@differential(cofactor)
def _(dX, X, Ω):
    return cofactor_along(X, dX)


@differential(cofactor_along)
def _(dX, dA, X, A, Ω):
    return cofactor_along(X, dA) + cofactor_twice(X, dX, A)


@differential(cofactor_twice)
def _(dX, dA, dB, X, A, B, Ω):
    return cofactor_twice(X, dA, B) + cofactor_twice(X, dB, A) + cofactor_thrice(X, dX, A, B)


@differential(cofactor_thrice)
def _(dX, dA, dB, dC, X, A, B, C, Ω):
    of_directions = (
        cofactor_thrice(X, dA, B, C) + cofactor_thrice(X, dB, A, C) + cofactor_thrice(X, dC, A, B)
    )
    return of_directions + cofactor_beyond(X, dX)


linear_rule(cofactor_beyond, transpose=(None, lambda ȳ, X, A: cofactor_beyond(X, ȳ)))
also_linear(cofactor_along, (None, lambda ȳ, X, A: conj(cofactor_along(X, conj(ȳ)))))
also_linear(cofactor_twice, (None, lambda ȳ, X, A, B: conj(cofactor_twice(X, conj(ȳ), B)), None))
also_linear(
    cofactor_thrice,
    (None, lambda ȳ, X, A, B, C: conj(cofactor_thrice(X, conj(ȳ), B, C)), None, None),
)


@differential(slogdet)
def _(dX, X, Ω):
    """d log det X = tr(X⁻¹ dX): its real part changes the size, the rest turns the sign."""
    change = sum_(_transposed(inv(X)) * dX, axis=(-2, -1))
    return Ω[0] * (change - real(change)), real(change)


def _transposed(X):
    return shaped(matrix_transpose(X), like=X)


# --- factorisations -----------------------------------------------------------------------


def hermitian(dX, upper):
    """The change of the matrix that a routine sees which reads one triangle only."""
    half = halved_tril(shaped(adjoint(dX), like=dX) if upper else dX)
    return half + shaped(adjoint(half), like=half)


@differential(cholesky)
def _(dX, X, Ω, *, upper=False):
    """dL = L Φ(L⁻¹ dX L⁻ᴴ), Φ the lower triangle with half the diagonal   (Murray, eq. 8)."""
    L = adjoint(Ω) if upper else Ω
    L_inv = inv(L)
    dL = L @ halved_tril(L_inv @ hermitian(dX, upper) @ adjoint(L_inv))
    return adjoint(dL) if upper else dL


linear_rule(halved_tril, transpose=lambda ȳ, x: halved_tril(ȳ))
