"""Transposes of NumPy's products with respect to their left and right operands.

Each product `Ω = f(a, b)` with its two transposes is closed under differentiation: the three are
the gradients of the one form ⟨ȳ, f(a, b)⟩, so each is differentiated by the other two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..cotangents import unbroadcast
from ..refusals import uncovered

# --- matmul -------------------------------------------------------------------------------


def is_sparse(a: Any) -> bool:
    """Whether this is a sparse matrix of SciPy's, whose products with arrays are arrays."""
    return hasattr(a, "tocsr")


def matmul_left(y_bar: Any, b: Any, *, like: Any) -> Any:
    """The cotangent of `a` in `a @ b`: ȳ bᴴ, summed over broadcast stacks."""
    if is_sparse(b):
        return (b.conj() @ np.asarray(y_bar).T).T
    y_bar, b = np.asarray(y_bar), np.asarray(b).conj()
    if b.ndim == 1:
        a_bar = y_bar[..., None] * b
    elif np.ndim(like) == 1:
        a_bar = (b @ y_bar[..., None])[..., 0]
    else:
        a_bar = y_bar @ np.swapaxes(b, -1, -2)
    return unbroadcast(a_bar, like)


def matmul_right(a: Any, y_bar: Any, *, like: Any) -> Any:
    """The cotangent of `b` in `a @ b`: aᴴ ȳ, summed over broadcast stacks."""
    if is_sparse(a):
        return a.conj().T @ y_bar
    a, y_bar = np.asarray(a).conj(), np.asarray(y_bar)
    if a.ndim == 1:
        b_bar = a * y_bar if np.ndim(like) == 1 else a[:, None] * y_bar[..., None, :]
    elif np.ndim(like) == 1:
        b_bar = (np.swapaxes(a, -1, -2) @ y_bar[..., None])[..., 0]
    else:
        b_bar = np.swapaxes(a, -1, -2) @ y_bar
    return unbroadcast(b_bar, like)


# --- dot, inner, tensordot ----------------------------------------------------------------


def contracted_axes(axes: Any, a_rank: int, b_rank: int) -> tuple[list[int], list[int]]:
    """The axes that a product sums over; `axes` as `np.tensordot` takes them, "dot" or "inner"."""
    if isinstance(axes, str):
        axes = (-1, -2 if axes == "dot" and b_rank > 1 else -1)
    elif np.ndim(axes) == 0:
        axes = (range(a_rank - axes, a_rank), range(axes))
    a_axes, b_axes = (np.atleast_1d(np.asarray(axis, int)) for axis in axes)
    return [int(k) % a_rank for k in a_axes], [int(k) % b_rank for k in b_axes]


def contract_left(y_bar: Any, b: Any, *, axes: Any, like: Any) -> Any:
    """The cotangent of `a` in `np.dot(a, b)`, `np.inner(a, b)` or `np.tensordot(a, b, axes)`."""
    y_bar, b = np.asarray(y_bar), np.asarray(b).conj()
    if b.ndim == 0 or np.ndim(like) == 0:
        return np.sum(y_bar * b) if np.ndim(like) == 0 else y_bar * b
    a_axes, b_axes = contracted_axes(axes, np.ndim(like), b.ndim)
    a_free = [k for k in range(np.ndim(like)) if k not in a_axes]
    b_free = [k for k in range(b.ndim) if k not in b_axes]
    a_bar = np.tensordot(y_bar, b, (list(range(len(a_free), y_bar.ndim)), b_free))
    places = [*a_free, *(a_axes[b_axes.index(k)] for k in sorted(b_axes))]
    return np.transpose(a_bar, np.argsort(places))


def contract_right(a: Any, y_bar: Any, *, axes: Any, like: Any) -> Any:
    """The cotangent of `b` in `np.dot(a, b)`, `np.inner(a, b)` or `np.tensordot(a, b, axes)`."""
    if is_sparse(a):
        return a.conj().T @ y_bar
    a, y_bar = np.asarray(a).conj(), np.asarray(y_bar)
    if a.ndim == 0 or np.ndim(like) == 0:
        return np.sum(a * y_bar) if np.ndim(like) == 0 else a * y_bar
    a_axes, b_axes = contracted_axes(axes, a.ndim, np.ndim(like))
    a_free = [k for k in range(a.ndim) if k not in a_axes]
    b_free = [k for k in range(np.ndim(like)) if k not in b_axes]
    b_bar = np.tensordot(a, y_bar, (a_free, list(range(len(a_free)))))
    places = [*(b_axes[a_axes.index(k)] for k in sorted(a_axes)), *b_free]
    return np.transpose(b_bar, np.argsort(places))


# --- kron, cross --------------------------------------------------------------------------


def interleaved(a_shape: Sequence[int], b_shape: Sequence[int]) -> tuple[list[int], list[int]]:
    """The shapes of two operands of `np.kron` in which their product is an elementwise one."""
    rank = max(len(a_shape), len(b_shape))
    a_shape = (*(1,) * (rank - len(a_shape)), *a_shape)
    b_shape = (*(1,) * (rank - len(b_shape)), *b_shape)
    return [m for n in a_shape for m in (n, 1)], [m for n in b_shape for m in (1, n)]


def kron_left(y_bar: Any, b: Any, *, like: Any) -> Any:
    """The cotangent of `a` in `np.kron(a, b)`."""
    b = np.asarray(b).conj()
    of_a, of_b = interleaved(np.shape(like), b.shape)
    blocks = np.reshape(y_bar, [m * n for m, n in zip(of_a, of_b, strict=True)])
    return unbroadcast(blocks * b.reshape(of_b), np.reshape(like, of_a)).reshape(np.shape(like))


def kron_right(a: Any, y_bar: Any, *, like: Any) -> Any:
    """The cotangent of `b` in `np.kron(a, b)`."""
    a = np.asarray(a).conj()
    of_a, of_b = interleaved(a.shape, np.shape(like))
    blocks = np.reshape(y_bar, [m * n for m, n in zip(of_a, of_b, strict=True)])
    return unbroadcast(blocks * a.reshape(of_a), np.reshape(like, of_b)).reshape(np.shape(like))


def cross_left(
    y_bar: Any,
    b: Any,
    *,
    like: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    """The cotangent of `a` in `np.cross(a, b)`: b × ȳ."""
    if axis is not None:
        axisa = axisb = axisc = axis
    b, like = np.moveaxis(np.conj(b), axisb, -1), np.moveaxis(np.asarray(like), axisa, -1)
    y_bar = crossed(y_bar, like, b, axisc)
    a_bar = np.cross(in_space(b), y_bar)[..., : like.shape[-1]]
    return np.moveaxis(unbroadcast(a_bar, like), -1, axisa)


def cross_right(
    a: Any,
    y_bar: Any,
    *,
    like: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Any:
    """The cotangent of `b` in `np.cross(a, b)`: ȳ × a."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, like = np.moveaxis(np.conj(a), axisa, -1), np.moveaxis(np.asarray(like), axisb, -1)
    y_bar = crossed(y_bar, a, like, axisc)
    b_bar = np.cross(y_bar, in_space(a))[..., : like.shape[-1]]
    return np.moveaxis(unbroadcast(b_bar, like), -1, axisb)


def crossed(y_bar: Any, a: Any, b: Any, axis: int) -> Any:
    """The cotangent of a cross product as vectors: of vectors in the plane it is a number."""
    if a.shape[-1] == b.shape[-1] == 2:
        y_bar = np.asarray(y_bar)[..., None]
        return np.concatenate((np.zeros_like(y_bar), np.zeros_like(y_bar), y_bar), axis=-1)
    return np.moveaxis(y_bar, axis, -1)


def in_space(x: Any) -> Any:
    """Vectors of the plane as vectors of space."""
    return x if x.shape[-1] == 3 else np.concatenate((x, np.zeros_like(x[..., :1])), axis=-1)


# --- einsum -------------------------------------------------------------------------------


def explicit_subscripts(subscripts: Any, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The labels of each operand and of the result of an einsum, every ellipsis spelled out."""
    if not isinstance(subscripts, str):
        raise uncovered("np.einsum with lists of axes", "Write the subscripts as a string.")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        many = "more" if len(terms) < len(ranks) else "fewer"
        raise ValueError(
            f"{many} operands provided to einstein sum function than specified in the subscripts string"
        )
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    unused = "".join(letter for letter in letters if letter not in subscripts)
    widths = [r - len(t) + 3 for t, r in zip(terms, ranks, strict=True) if "..." in t]
    stacked = unused[: max(widths, default=0)]
    if not arrow:
        labels = inputs.replace(",", "").replace(".", "")
        output = "..." + "".join(sorted(c for c in set(labels) if labels.count(c) == 1))
    spelled: list[str] = []
    for term, rank in zip(terms, ranks, strict=True):
        width = rank - len(term) + 3
        spelled.append(term.replace("...", stacked[len(stacked) - width :]))
    return spelled, output.replace("...", stacked)


def einsum_bar(y_bar: Any, *others: Any, subscripts: str, index: int, like: Any) -> Any:
    """The cotangent of operand `index` of `np.einsum(subscripts, ...)`.

    Args:
        y_bar: the cotangent of the result.
        others: the other operands, in order.
        subscripts: as the primal has them.
        index: which operand.
        like: that operand.
    """
    ranks = [np.ndim(x) for x in others]
    ranks.insert(index, np.ndim(like))
    terms, output = explicit_subscripts(subscripts, ranks)
    own = terms.pop(index)
    labels = "".join(dict.fromkeys(own))
    sizes = dict(zip(own, np.shape(like), strict=True))
    present = "".join(c for c in labels if c in output or any(c in t for t in terms))
    operands = [np.conj(x) for x in others]
    if output == "" and terms:  # a number, of which `einsum` would make an array of float64
        x_bar = y_bar * np.einsum(",".join(terms) + "->" + present, *operands)
    else:
        x_bar = np.einsum(",".join([output, *terms]) + "->" + present, y_bar, *operands)
    # a label of size 1 may have been broadcast against a longer one of the same name
    stretched = tuple(k for k, c in enumerate(present) if sizes[c] == 1 and x_bar.shape[k] != 1)
    x_bar = np.sum(x_bar, axis=stretched, keepdims=True)
    missing = tuple(k for k, c in enumerate(labels) if c not in present)
    x_bar = np.broadcast_to(np.expand_dims(x_bar, missing), [sizes[c] for c in labels])
    if own == labels:
        return np.array(x_bar)
    on_diagonal = np.zeros(np.shape(like), x_bar.dtype)
    places = dict(zip(labels, np.ogrid[tuple(slice(sizes[c]) for c in labels)], strict=True))
    on_diagonal[tuple(places[c] for c in own)] = x_bar
    return on_diagonal
