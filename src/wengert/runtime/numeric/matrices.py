"""What derivatives of matrix functions need and NumPy does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..refusals import coded, uncovered


def halved_tril(x: Any) -> Any:
    """The lower triangle with half the diagonal: Φ in the differential of Cholesky's factor."""
    n = np.shape(x)[-1]
    return x * (np.tri(n) - np.eye(n) / 2)


def cofactor(x: Any) -> Any:
    """The matrix of cofactors, ∂det(x)/∂x, also of singular matrices (x of shape (..., n, n))."""
    determinant, inverse = _far_from_singular(x)
    if inverse is not None:
        return np.swapaxes(determinant * inverse, -1, -2)
    u, s, vh = np.linalg.svd(x)
    n = s.shape[-1]
    # the product of all singular values but one, without dividing by any
    others = np.prod(np.where(np.eye(n, dtype=bool), 1, s[..., None, :]), axis=-1)
    sign = np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return sign * ((np.conj(u) * others[..., None, :]) @ np.conj(vh))


def _far_from_singular(x: Any) -> tuple[Any, Any]:
    """The determinants and inverses of matrices; None and None where rounding says too much in one of them."""
    x = np.asarray(x)
    determinant = np.asarray(np.linalg.det(x))[..., None, None]
    real = np.finfo(determinant.dtype)
    size = np.abs(determinant)
    if x.size == 0 or not np.all((size > real.tiny) & (size < real.max)):
        return None, None
    try:
        inverse = np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return None, None
    condition = np.abs(x).max(axis=(-2, -1)) * np.abs(inverse).max(axis=(-2, -1))
    fine = np.all(condition <= real.eps**-0.25)
    return (determinant, inverse) if fine else (None, None)


def cofactor_along(x: Any, a: Any) -> Any:
    """The derivative of `cofactor` at x in a direction a, of singular matrices too.

    With x = U S Vᴴ it is, but for det U det V, that of the cofactors of S along E = Uᴴ a V: a product of all singular
    values but two for each element of E.
    """
    x, a = np.asarray(x), np.asarray(a)
    determinant, inverse = _far_from_singular(x)
    if inverse is not None:
        turned = inverse @ a
        change = np.trace(turned, axis1=-2, axis2=-1)[..., None, None] * inverse
        return np.swapaxes(determinant * (change - turned @ inverse), -1, -2)
    u, s, vh = np.linalg.svd(x)
    turned = np.conj(np.swapaxes(u, -1, -2)) @ a @ np.conj(np.swapaxes(vh, -1, -2))
    others = _products_of_others(s)
    along = -np.swapaxes(turned, -1, -2) * others
    diagonal = np.diagonal(turned, axis1=-2, axis2=-1)
    places = np.arange(s.shape[-1])
    along[..., places, places] = (others @ diagonal[..., None])[..., 0]
    sign = np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return sign * (np.conj(u) @ along @ np.conj(vh))


def _products_of_others(s: Any) -> Any:
    """For each two of some singular values the product of all others; 0 for one with itself."""
    n = s.shape[-1]
    zero = s == 0
    safe = np.where(zero, 1, s)
    whole = np.prod(safe, axis=-1)[..., None, None]
    found = whole / safe[..., :, None] / safe[..., None, :]
    left = np.sum(zero, axis=-1)[..., None, None] - zero[..., :, None] - zero[..., None, :]
    return np.where((left == 0) & ~np.eye(n, dtype=bool), found, 0)


def cofactor_twice(x: Any, a: Any, b: Any) -> Any:
    """The second derivative of `cofactor` at x in the directions a and b."""
    return _along(lambda x: cofactor_along(x, a), x, a, b)


def cofactor_thrice(x: Any, a: Any, b: Any, c: Any) -> Any:
    """The third derivative of `cofactor` at x in the directions a, b and c."""
    return _along(lambda x: cofactor_twice(x, a, b), x, a, c)


def cofactor_beyond(x: Any, a: Any) -> Any:
    """The fourth derivative of `cofactor` at x: 0 of matrices of size 4, whose cofactors are of degree 3."""
    if np.shape(x)[-1] > 4:
        raise uncovered(
            "The fifth derivative of a determinant", "Take the derivative of `np.linalg.slogdet`."
        )
    return 0.0 * a


def _along(polynomial: Any, x: Any, a: Any, direction: Any) -> Any:
    """The derivative of a polynomial in the elements of x, by its values around a circle (Cauchy), exactly."""
    x, direction = np.asarray(x), np.asarray(direction)
    n = x.shape[-1]
    size = np.max(np.abs(direction), axis=(-2, -1), keepdims=True, initial=0.0)
    radius = np.max(np.abs(x), axis=(-2, -1), keepdims=True, initial=0.0)
    radius = np.where(radius == 0, 1.0, radius) / np.where(size == 0, 1.0, size)
    turns = np.exp(2j * np.pi * np.arange(n) / n)
    total = sum(polynomial(x + radius * turn * direction) / turn for turn in turns)
    found = total / (n * radius)
    is_complex = any(np.iscomplexobj(each) for each in (x, a, direction))
    return found if is_complex else np.real(found)


def normed_rank(x: Any, axis: Any) -> int:
    """Along how many axes a norm is taken: 1 is the norm of a vector, 2 of a matrix."""
    return np.ndim(x) if axis is None else np.size(axis)


def as_columns(x: Any, *, vector: Any, result: Any) -> Any:
    """Stacked vectors as stacked one-column matrices, where a stack was solved for one vector."""
    return np.asarray(x)[..., None] if np.ndim(vector) == 1 < np.ndim(result) else x


def from_columns(x: Any, *, vector: Any, result: Any) -> Any:
    """The transpose of `as_columns`."""
    return x[..., 0] if np.ndim(vector) == 1 < np.ndim(result) else x


def least_squares(a: Any, b: Any, *, rcond: float | None = None) -> Any:
    """The least-squares solution of `a @ x = b`."""
    return np.linalg.lstsq(a, b, rcond=rcond)[0]


def full_rank(R: Any, *, free: int) -> Any:
    """The triangle of a QR factorisation, to be inverted; `free`: how many vectors are orthogonal to those of Q.

    Without any, the last vector follows from the others but for its sign: nothing depends on the last element, and
    the size of its column stands for it, which is not near 0.

    Raises:
        ValueError: a column of the matrix depends on those before it, but for rounding.
    """
    k = R.shape[-1]
    pivots = np.abs(np.diagonal(R, axis1=-2, axis2=-1))
    triangle, sizes = R, np.linalg.norm(R, axis=-2)
    dependent = pivots <= 10 * k * np.finfo(R.dtype).eps * sizes
    if k and not free and not np.iscomplexobj(R):
        triangle = R.copy()
        triangle[..., -1, -1] = np.where(sizes[..., -1] > 0, sizes[..., -1], 1)
        dependent[..., -1] = False
    if dependent.any():
        k = np.argwhere(dependent)[0][-1]
        error = ValueError(
            f"column {k} of a matrix is 0 or depends on those before it: its vector in a QR factorisation can be "
            "chosen in any way, and has no derivative\n"
            "Leave out columns that depend on others; or solve with `np.linalg.lstsq` or `pinv`."
        )
        raise coded(error, "WG212")
    return triangle
