"""Transposes of NumPy's array functions, where no single NumPy call computes them.

Every helper stands on its own (it uses `np` and other helpers of this package only): its text is
copied into saved derivative files. `like` is the primal operand whose cotangent is computed; only
its shape (and dtype) is looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..refusals import uncovered

# --- shapes -------------------------------------------------------------------------------


def memory_order(x: Any, order: str) -> str:
    """The index order, "C" or "F", that NumPy's `order` stands for in a reshape of `x`."""
    if order in ("C", "F"):
        return order
    x = np.asarray(x)
    if x.flags.c_contiguous or (order == "A" and not x.flags.f_contiguous):
        return "C"
    steps = [abs(step) for step, length in zip(x.strides, x.shape, strict=True) if length > 1]
    if x.flags.f_contiguous or (steps == sorted(steps) and 0 not in steps):
        return "F"
    if steps == sorted(steps, reverse=True) and 0 not in steps:
        return "C"
    raise uncovered(f"order={order!r} of this array", "Write order='C' or 'F'.")


def inverse_permutation(axes: Sequence[int]) -> tuple[int, ...]:
    """The axes that undo `np.transpose(x, axes)`."""
    result = [0] * len(axes)
    for k, axis in enumerate(axes):
        result[axis % len(axes)] = k
    return tuple(result)


def other_axes(k: int, rank: int, indexing: str) -> tuple[int, ...]:
    """The axes of a `np.meshgrid` result along which coordinate `k` is constant."""
    own = 1 - k if indexing == "xy" and rank > 1 and k < 2 else k
    return tuple(axis for axis in range(rank) if axis != own)


def may_be_nan(x: Any) -> bool:
    """Whether numbers are of a type that has NaN."""
    return np.asarray(x).dtype.kind in "fc"


def cast_like(x: Any, like: Any) -> Any:
    """A tangent after a conversion to the dtype of `like`; integers and booleans have none."""
    x, dtype = np.asarray(x), np.result_type(like)
    if dtype.kind not in "fc":
        return np.zeros(x.shape)
    return (x.real if dtype.kind == "f" else x).astype(dtype)


# --- joining and repeating ----------------------------------------------------------------


def unconcatenate(x_bar: Any, *, like: Any, axis: int | None = 0, rank: int = 1) -> Any:
    """Cut a cotangent into the pieces that were joined along `axis`, like the arrays of `like`.

    An array of fewer than `rank` axes filled one place of that axis (as in `np.vstack`). The piece
    of a real array is real, also where others are complex.
    """
    x_bar = np.asarray(x_bar)
    shapes = [np.shape(a) for a in like]
    if axis is None:
        x_bar, axis, lengths = x_bar.reshape(-1), 0, [int(np.prod(s)) for s in shapes]
    else:
        axis = min(axis, x_bar.ndim - 1)
        lengths = [s[axis] if len(s) >= rank else 1 for s in shapes]
    pieces: list[Any] = []
    start = 0
    for a, shape, length in zip(like, shapes, lengths, strict=True):
        piece = np.moveaxis(x_bar, axis, 0)[start : start + length]
        piece = np.moveaxis(piece, 0, axis).reshape(shape)[()]
        real = x_bar.dtype.kind == "c" and not np.iscomplexobj(a)
        pieces.append(piece.real if real else piece)
        start += length
    return np.array(pieces) if isinstance(like, np.ndarray) else pieces


def untile(y_bar: Any, *, reps: Any, like: Any) -> Any:
    """The transpose of `np.tile`: the sum of the copies."""
    repeats = tuple(reps) if np.ndim(reps) else (int(reps),)
    rank = max(len(repeats), np.ndim(like))
    repeats = (1,) * (rank - len(repeats)) + repeats
    shape = (1,) * (rank - np.ndim(like)) + np.shape(like)
    split = [n for pair in zip(repeats, shape, strict=True) for n in pair]
    return (
        np.reshape(y_bar, split).sum(axis=tuple(range(0, 2 * rank, 2))).reshape(np.shape(like))[()]
    )


def unrepeat(y_bar: Any, *, repeats: Any, like: Any, axis: int | None = None) -> Any:
    """The transpose of `np.repeat`: the sum of each entry's copies."""
    whole = axis is None or np.ndim(like) == 0
    shape = (np.size(like),) if whole else np.shape(like)
    axis = 0 if axis is None else axis % len(shape)
    y_bar = np.moveaxis(np.asarray(y_bar), axis, 0)
    x_bar = np.zeros((shape[axis], *y_bar.shape[1:]), y_bar.dtype)
    np.add.at(x_bar, np.repeat(np.arange(shape[axis]), repeats), y_bar)
    return np.moveaxis(x_bar, 0, axis).reshape(np.shape(like))[()]


def unroll(y_bar: Any, *, shift: Any, axis: Any = None) -> Any:
    """The transpose of `np.roll`: the same roll backwards."""
    return np.roll(y_bar, np.negative(shift), axis)


def unpad(y_bar: Any, *, pad_width: Any, like: Any, mode: str = "constant") -> Any:
    """The transpose of `np.pad`: each padded entry goes back to where it was copied from."""
    shape = np.shape(like)
    if isinstance(pad_width, dict):
        widths = [np.broadcast_to(pad_width.get(k, 0), 2) for k in range(len(shape))]
    else:
        widths = list(np.broadcast_to(pad_width, (len(shape), 2)))
    if mode == "constant":
        inside = zip(widths, shape, strict=True)
        return np.asarray(y_bar)[tuple(slice(int(w[0]), int(w[0]) + n) for w, n in inside)]
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise uncovered(f"np.pad with mode={mode!r}", "Join the slices by `np.concatenate`.")
    for axis, (width, length) in enumerate(zip(widths, shape, strict=True)):
        before, after = int(width[0]), int(width[0]) + length
        if not np.any(width):
            continue
        sources = np.pad(np.arange(length), tuple(width), mode)
        moved = np.moveaxis(np.asarray(y_bar), axis, 0)
        gathered = np.array(moved[before:after])
        np.add.at(gathered, sources[:before], moved[:before])
        np.add.at(gathered, sources[after:], moved[after:])
        y_bar = np.moveaxis(gathered, 0, axis)
    return y_bar


# --- selecting ----------------------------------------------------------------------------


def untake(
    y_bar: Any, *, indices: Any, like: Any, axis: int | None = None, mode: str = "raise"
) -> Any:
    """The transpose of `np.take`."""
    shape, indices = np.shape(like), np.asarray(indices)
    axis = None if np.ndim(like) == 0 else axis
    y_bar = np.asarray(y_bar)
    moved = (np.size(like),) if axis is None else shape[axis % len(shape) :][:1]
    if mode == "wrap":
        indices = indices % moved[0]
    elif mode == "clip":
        indices = np.clip(indices, 0, moved[0] - 1)
    if axis is None:
        x_bar = np.zeros(moved, y_bar.dtype)
        np.add.at(x_bar, indices, y_bar)
        return x_bar.reshape(shape)
    axis = axis % len(shape)
    x_bar = np.zeros(shape, y_bar.dtype)
    at: Any = (slice(None),) * axis + (indices,)
    np.add.at(x_bar, at, y_bar)
    return x_bar


def untake_along_axis(y_bar: Any, *, indices: Any, like: Any, axis: int | None = -1) -> Any:
    """The transpose of `np.take_along_axis`."""
    y_bar, indices = np.asarray(y_bar), np.asarray(indices)
    if axis is None:
        x_bar = np.zeros(np.size(like), y_bar.dtype)
        np.add.at(x_bar, indices, y_bar)
        return x_bar.reshape(np.shape(like))
    x_bar = np.zeros(np.shape(like), y_bar.dtype)
    axis = np.lib.array_utils.normalize_axis_index(axis, x_bar.ndim)
    grids: list[Any] = list(np.ogrid[tuple(slice(n) for n in x_bar.shape)])
    grids[axis] = indices
    np.add.at(x_bar, tuple(grids), y_bar)
    return x_bar


def edge_like(x: Any, *, like: Any, axis: int = -1) -> Any:
    """What `np.diff` puts before or after an array: a number everywhere, an array as it is."""
    if np.ndim(x):
        return x
    shape = list(np.shape(like))
    shape[axis] = 1
    return np.broadcast_to(x, shape)


def undiff(y_bar: Any, *, like: Any, n: int = 1, axis: int = -1) -> Any:
    """The transpose of `np.diff`."""
    y_bar = np.moveaxis(np.asarray(y_bar), axis, 0)
    if not y_bar.shape[0]:
        return np.zeros(np.shape(like), y_bar.dtype)
    for _ in range(n):
        zero = np.zeros((1, *y_bar.shape[1:]), y_bar.dtype)
        y_bar = -np.diff(np.concatenate((zero, y_bar, zero)), axis=0)
    return np.moveaxis(y_bar, 0, axis)


def undiagonal(y_bar: Any, *, like: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The transpose of `np.diagonal`: an array like `like`, zero off the diagonal."""
    y_bar = np.asarray(y_bar)
    x_bar = np.zeros(np.shape(like), y_bar.dtype)
    moved = np.moveaxis(x_bar, (axis1, axis2), (-2, -1))
    rows = np.arange(y_bar.shape[-1]) + max(-offset, 0)
    moved[..., rows, rows + offset] = y_bar
    return x_bar


def untrace(y_bar: Any, *, like: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The transpose of `np.trace`: the cotangent all along the diagonal."""
    length = np.diagonal(like, offset, axis1, axis2).shape[-1]
    spread = np.repeat(np.asarray(y_bar)[..., None], length, axis=-1)
    return undiagonal(spread, like=like, offset=offset, axis1=axis1, axis2=axis2)


def undiag(y_bar: Any, *, like: Any, k: int = 0) -> Any:
    """The transpose of `np.diag`, which makes a matrix of a vector and a vector of a matrix."""
    if np.ndim(like) == 1:
        return np.diag(y_bar, k).copy()
    return undiagonal(y_bar, like=like, offset=k)
