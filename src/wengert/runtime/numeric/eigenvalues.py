"""Eigenvalues and singular values that are equal: which derivatives there are, and which are refused.

Two values count as equal where rounding alone can have made them differ: by no more than `10 n ε` times the largest of
n values, or, of a matrix that is not Hermitian, times its norm and the condition of the eigenvalue. Their vectors can
be chosen in any way within what they span. They have no derivative, and nothing is divided by such a difference.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..refusals import coded

ROUNDINGS = 10
"""How many roundings a value may be off, in units of the size of its matrix."""
_CONDITION = 1e4
"""From which condition on vectors of eigenvalues that are all but equal count as one."""
_NEAR = 0.02
"""Which eigenvalues may be one that rounding has split: those of a Jordan block of size k by about ε^(1/k)."""


# --- eigenvalues by another routine ------------------------------------------------------------


def matched(x: Any, values: Any) -> Any:
    """For each entry of `x` the index of its own of `values`, both along the last axis.

    They are the same numbers but for order and rounding. None is taken twice: of equal ones each has its own.
    """
    x, values = np.asarray(x), np.asarray(values)
    distances = np.abs(x[..., :, None] - values[..., None, :])
    places = distances.argmin(axis=-1)
    rows = places.reshape(-1, places.shape[-1])
    for k, row in enumerate(rows.tolist()):
        if len(set(row)) < len(row):
            rows[k] = _one_to_one(distances.reshape(-1, len(row), len(row))[k])
    return places


def _one_to_one(distances: Any) -> Any:
    """The nearest pair, then the nearest of those that are left, and so on."""
    distances = distances.astype(float)
    places = np.empty(len(distances), int)
    for _ in places:
        row, column = np.unravel_index(np.argmin(distances), distances.shape)
        places[row] = column
        distances[row, :] = distances[:, column] = np.inf
    return places


# --- matrices with too few eigenvectors --------------------------------------------------------


def independent(V: Any, w: Any, A: Any) -> Any:
    """Eigenvectors V of A, checked to be a basis.

    Raises:
        ValueError: two of them are one vector but for rounding, as at a Jordan block.
    """
    differences = _differences(w)
    if differences.min(initial=np.inf) > _NEAR * np.abs(A).max(initial=0.0):
        return V
    scale = np.sqrt(np.max(np.abs(A * np.swapaxes(A, -1, -2)), axis=(-2, -1)))
    near = differences <= _NEAR * scale[..., None, None]
    if not near.any():
        return V
    conditions = _conditions(V)
    blurred = differences <= _blur(A, V.dtype)[..., None, None] * conditions[..., None]
    one = near & blurred & (conditions[..., None] > _CONDITION)
    if one.any():
        raise _no_basis(w, one)
    return V


def blur(w: Any, V: Any, A: Any) -> Any:
    """By how much eigenvalues may differ through rounding alone: each of w of the matrix A, by its condition."""
    if not (
        _differences(w) <= _NEAR * np.max(np.abs(w), axis=-1, initial=0.0)[..., None, None]
    ).any():
        return 0.0 * np.abs(w)
    return _blur(A, V.dtype)[..., None] * _conditions(V)


def _blur(A: Any, dtype: Any) -> Any:
    return ROUNDINGS * A.shape[-1] * np.finfo(dtype).eps * np.linalg.norm(A, axis=(-2, -1))


def _conditions(V: Any) -> Any:
    """The condition of each eigenvalue: ‖x‖ ‖y‖ / |yᴴ x| of its right and left vectors."""
    try:
        inverse = np.linalg.inv(V)
    except np.linalg.LinAlgError:
        return np.full(V.shape[:-1], np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        found = np.linalg.norm(inverse, axis=-1) * np.linalg.norm(V, axis=-2)
    return np.where(np.isnan(found), np.inf, found)


def _differences(w: Any) -> Any:
    """Of each two of some values; infinite of one with itself."""
    return _with_diagonal(np.abs(w[..., :, None] - w[..., None, :]), np.inf)


def _with_diagonal(x: Any, value: Any) -> Any:
    """A matrix, or a stack of them, whose diagonal has been set to a number."""
    n = x.shape[-1]
    x.reshape(*x.shape[:-2], n * n)[..., :: n + 1] = value
    return x


def _no_basis(w: Any, one: Any) -> ValueError:
    return _refused(
        f"the eigenvalues {_some(w, one)} have one eigenvector between them: the matrix is defective, and such "
        "eigenvalues have no derivative\n"
        "They move by the root of a change. What is smooth in them, such as their sum or product, is smooth\n"
        "in the matrix: write it as `np.trace`, `np.linalg.det`, `np.linalg.matrix_power`."
    )


# --- differences of values as divisors ---------------------------------------------------------


def over_gaps(
    x: Any, w: Any, *, used: Any = (), within: Any = None, name: str = "eigenvalues"
) -> Any:
    """x[i, j] / (w[j] - w[i]) for what turns vectors, 0 for i = j; NaN where values are equal.

    Args:
        x: the change of a matrix in the basis of its vectors.
        w: their values, along the last axis.
        used: which vectors are read, as indices one after the other of each reading; True of all.
        within: how much the values may differ through rounding alone, if that is not by their size.
        name: what values and vectors are called.

    Raises:
        ValueError: vectors that are used belong to equal values.
    """
    divisor, equal = _divisor(w, within)
    if equal is None:
        return x / divisor
    _refuse_used(w, equal, used, name)
    return np.where(equal, np.nan, x / divisor)


def over_gaps_bar(
    x: Any, w: Any, *, used: Any = (), within: Any = None, name: str = "eigenvalues"
) -> Any:
    """The transpose of `over_gaps`: x[i, j] is the cotangent of the vector j along the vector i.

    Raises:
        ValueError: vectors that are used, or have cotangents, belong to equal values.
    """
    divisor, equal = _divisor(w, within)
    divisor = np.conj(divisor)
    if equal is None:
        return x / divisor
    _refuse_used(w, equal, used, name)
    reached = equal & np.any(x != 0, axis=-2, keepdims=True)
    if reached.any():
        raise _no_vectors(w, reached, name)
    return np.where(equal, 0.0, x / divisor)


def _divisor(w: Any, within: Any) -> tuple[Any, Any]:
    """w[j] - w[i], infinite where i = j or values are equal, and where they are, if any."""
    divisor = w[..., None, :] - w[..., :, None]
    equal = _equal(w, divisor, within)
    if equal is not None:
        divisor[equal] = np.inf
    return _with_diagonal(divisor, np.inf), equal


def _equal(w: Any, difference: Any, within: Any) -> Any:
    """Which two of some values are equal, if any. They are sorted, unless `within` is given."""
    if within is None:
        within = _rounding(w)
        if not (np.abs(w[..., 1:] - w[..., :-1]) <= within).any():
            return None
    equal = _with_diagonal(np.abs(difference) <= within[..., None], False)
    return equal if equal.any() else None


def _rounding(w: Any) -> Any:
    """By how much sorted values may differ through rounding alone."""
    size = np.abs(w[..., :: max(w.shape[-1] - 1, 1)]).max(axis=-1, initial=0.0, keepdims=True)
    return (ROUNDINGS * w.shape[-1] * np.finfo(w.dtype).eps) * size


# --- matrices of values and vectors ---------------------------------------------------------


def spectral(g: Any, slope: Any, x: Any, w: Any, V: Any, *, UPLO: str = "L") -> Any:
    """V diag(g) Vᴴ, of the eigenvectors V of the matrix x and numbers g, one for each of its eigenvalues w."""
    return (V * g[..., None, :]) @ np.conj(np.swapaxes(V, -1, -2))


def values_along(h: Any, x: Any, w: Any, V: Any, *, UPLO: str = "L") -> Any:
    """Re diag(Vᴴ h V): how the eigenvalues w of the matrix x move along h."""
    return np.real(np.sum(np.conj(V) * (h @ V), axis=-2))


def quotients(g: Any, slope: Any, w: Any) -> Any:
    """(g[j] - g[i]) / (w[j] - w[i]) for i ≠ j, and the slope where values are equal (Daleckii and Krein, 1965).

    Args:
        g: a number for each of some sorted values: a function of it, and perhaps of what is the same for all.
        slope: the derivative of that function; None if it is not known, the number 0 if values that are not read
            have g = 0.
        w: the values.

    Raises:
        ValueError: values are equal, but g is not, or its slope is not known.
    """
    divisor, equal = _divisor(w, None)
    difference = g[..., None, :] - g[..., :, None]
    if slope is None or np.ndim(slope) == 0:
        return _plain_quotients(g, w, difference / divisor, equal, slope)
    mean = 0.5 * (slope[..., None, :] + slope[..., :, None])
    gap = w[..., None, :] - w[..., :, None]
    rounding = np.finfo(w.dtype).eps * np.max(np.abs(g), axis=-1, initial=0.0)[..., None, None]
    close = np.abs(gap) <= CLOSE * _largest(w)
    close &= np.abs(difference - mean * gap) <= 100 * rounding + CLOSE * np.abs(mean * gap)
    if equal is not None:
        unlike = equal & (_differ(g) | _differ(slope))
        if unlike.any():
            raise _no_vectors(w, unlike, "eigenvalues")
        close |= equal
    return _with_diagonal(np.where(close, mean, difference / divisor), 0.0)


def _plain_quotients(g: Any, w: Any, found: Any, equal: Any, slope: Any) -> Any:
    """Without slopes: 0 where values are equal whose numbers are 0 because nobody reads them."""
    if equal is not None:
        unclear = (
            equal if slope is None else equal & ((g != 0)[..., None, :] | (g != 0)[..., :, None])
        )
        if unclear.any():
            raise _no_vectors(w, unclear, "eigenvalues")
    return found


def _largest(w: Any) -> Any:
    return np.max(np.abs(w), axis=-1, initial=0.0)[..., None, None]


def _differ(x: Any) -> Any:
    """Which two of some numbers certainly differ."""
    difference = np.abs(x[..., None, :] - x[..., :, None])
    return difference > CLOSE * np.max(np.abs(x), axis=-1, initial=0.0)[..., None, None]


CLOSE = 1e-5
"""Beside the largest value, how close others are whose quotients are taken from slopes: about the root of ε."""


def over_values(x: Any, s: Any, *, free: int, used: Any = ()) -> Any:
    """x[:, j] / s[j] for what turns singular vectors out of what they span; NaN where s[j] is 0.

    Args:
        x: the change, outside of what the vectors span.
        s: the singular values.
        free: how many directions there are outside; where there is none, the result is 0.
        used: which vectors are read (`over_gaps`).

    Raises:
        ValueError: vectors that are used belong to values that are 0.
    """
    zero = _zero(s)
    if not zero.any():
        return x / s[..., None, :]
    if free <= 0:
        return x / np.where(zero, np.inf, s)[..., None, :]
    _refuse_zero(zero, zero & _chosen(used, s.shape[-1]))
    return np.where(zero[..., None, :], np.nan, x / np.where(zero, 1.0, s)[..., None, :])


def over_values_bar(x: Any, s: Any, *, free: int, used: Any = ()) -> Any:
    """The transpose of `over_values`."""
    zero = _zero(s)
    if not zero.any():
        return x / s[..., None, :]
    if free > 0:
        _refuse_zero(zero, zero & (_chosen(used, s.shape[-1]) | np.any(x != 0, axis=-2)))
    return x / np.where(zero, np.inf, s)[..., None, :]


def completing(x: Any, rest: Any) -> Any:
    """How vectors turn that complete a basis; of several, any turn among themselves is as good.

    Args:
        x: the least turn.
        rest: the vectors.
    """
    return x.copy()


def completing_bar(x: Any, rest: Any) -> Any:
    """The transpose of `completing`.

    Raises:
        ValueError: the cotangents depend on how the vectors lie among themselves, which is chosen.
    """
    inside = np.conj(np.swapaxes(rest, -1, -2)) @ x
    turned = _with_diagonal(np.abs(inside - np.conj(np.swapaxes(inside, -1, -2))), 0.0)
    rounding = np.sqrt(np.finfo(turned.dtype).eps) * np.max(np.abs(x), initial=0.0)
    if (turned > rounding).any():
        raise _refused(
            f"{rest.shape[-1]} vectors complete a basis: they can be chosen in any way within what they span, and "
            "have no derivative\n" + _WAY_OUT
        )
    return x.copy()


def _zero(s: Any) -> Any:
    return s <= _rounding(s)


def _chosen(used: Any, n: int) -> Any:
    """Which of n vectors are read."""
    found = np.zeros(n, bool)
    if used is True:
        return ~found
    for indices in used:
        places = np.arange(n)
        for index in indices:
            places = places[index]
        found[places] = True
    return found


# --- refusals ------------------------------------------------------------------------------


def _refuse_used(w: Any, equal: Any, used: Any, name: str) -> None:
    reached = equal & _chosen(used, w.shape[-1])
    if reached.any():
        raise _no_vectors(w, reached, name)


def _no_vectors(w: Any, equal: Any, name: str) -> ValueError:
    return _refused(
        f"the {name} {_some(w, equal)} are equal: their vectors can be chosen in any way within what they span, "
        "and have no derivative\n" + _WAY_OUT
    )


def _refuse_zero(zero: Any, reached: Any) -> None:
    if reached.any():
        raise _refused(
            f"{np.count_nonzero(zero)} singular values are 0: their vectors can be chosen in any way, and have no "
            "derivative\n" + _WAY_OUT
        )


_WAY_OUT = (
    "What does not depend on that choice has a derivative: write it without the vectors, such as\n"
    "`scipy.linalg.sqrtm(A)`, `expm`, `logm`, `polar`, `np.linalg.inv`, `pinv`, or by the values alone.\n"
    "For second derivatives too: `np.linalg.slogdet(A)`, `np.trace(A @ A)`."
)


def _some(w: Any, which: Any) -> str:
    """The values of the first row that has any, as a message names them."""
    at = tuple(np.argwhere(which)[0])
    row = which[at[:-1]] | (np.arange(w.shape[-1]) == at[-2])
    found = [f"{value:.6g}" for value in w[at[:-2]][row]]
    return ", ".join(found[:-1]) + " and " + found[-1]


def _refused(message: str) -> ValueError:
    return coded(ValueError(message), "WG212")
