"""Rearranging, joining and splitting are linear: each row is the transpose of its op."""

from __future__ import annotations

from ...ops.arrays.creation import gather
from ...ops.arrays.joining import (
    append,
    array_split,
    column_stack,
    concatenate,
    dsplit,
    dstack,
    hsplit,
    hstack,
    meshgrid,
    split,
    stack,
    unconcatenate,
    vsplit,
    vstack,
)
from ...ops.arrays.reduction import sum_
from ...ops.arrays.shape import (
    astype,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_to,
    cast_like,
    copy,
    dtype,
    expand_dims,
    flatten,
    flip,
    fliplr,
    flipud,
    inverse_permutation,
    iscomplexobj,
    item,
    matrix_transpose,
    memory_order,
    moveaxis,
    ndim,
    other_axes,
    ravel,
    reshape,
    roll,
    rot90,
    shape,
    shaped,
    size,
    squeeze,
    swapaxes,
    tolist,
    transpose,
    unroll,
)
from ...ops.structure import unbroadcast
from ..forms import differential, linear_rule, zero_rule

zero_rule(shape, ndim, size, iscomplexobj, dtype, memory_order, inverse_permutation, other_axes)

# --- rearranging --------------------------------------------------------------------------

linear_rule(reshape, transpose=lambda ȳ, x, *, shape=None, order="C": _reshaped(ȳ, x, order))
linear_rule(ravel, transpose=lambda ȳ, x, *, order="C": _reshaped(ȳ, x, order))
linear_rule(flatten, transpose=lambda ȳ, x, *, order="C": _reshaped(ȳ, x, order))
linear_rule(squeeze, transpose=lambda ȳ, x, *, axis=None: reshape(ȳ, shape(x)))
linear_rule(expand_dims, transpose=lambda ȳ, x, *, axis: reshape(ȳ, shape(x)))
linear_rule(atleast_1d, transpose=lambda ȳ, x: reshape(ȳ, shape(x)))
linear_rule(atleast_2d, transpose=lambda ȳ, x: reshape(ȳ, shape(x)))
linear_rule(atleast_3d, transpose=lambda ȳ, x: reshape(ȳ, shape(x)))
linear_rule(
    transpose,
    transpose=lambda ȳ, x, *, axes=None: (
        transpose(ȳ) if axes is None else transpose(ȳ, inverse_permutation(axes))
    ),
)
linear_rule(matrix_transpose, transpose=lambda ȳ, x: matrix_transpose(ȳ))
linear_rule(swapaxes, transpose=lambda ȳ, x, *, axis1, axis2: swapaxes(ȳ, axis1=axis1, axis2=axis2))
linear_rule(
    moveaxis,
    transpose=lambda ȳ, x, *, source, destination: moveaxis(
        ȳ, source=destination, destination=source
    ),
)
linear_rule(broadcast_to, transpose=lambda ȳ, x, *, shape: unbroadcast(ȳ, x))
linear_rule(flip, transpose=lambda ȳ, x, *, axis=None: flip(ȳ, axis=axis))
linear_rule(flipud, transpose=lambda ȳ, x: flipud(ȳ))
linear_rule(fliplr, transpose=lambda ȳ, x: fliplr(ȳ))
linear_rule(rot90, transpose=lambda ȳ, x, *, k=1, axes=(0, 1): rot90(ȳ, k=-k, axes=axes))
linear_rule(roll, transpose=lambda ȳ, x, *, shift, axis=None: unroll(ȳ, shift=shift, axis=axis))
linear_rule(unroll, transpose=lambda ȳ, y_bar, *, shift, axis=None: roll(ȳ, shift=shift, axis=axis))


def _reshaped(ȳ, x, order):
    return reshape(ȳ, shape(x), order=memory_order(x, order))


# --- copying and converting ---------------------------------------------------------------

linear_rule(shaped, transpose=lambda ȳ, x, *, like, matrix=None: ȳ)
linear_rule(copy, transpose=lambda ȳ, x, *, order="K": ȳ)
linear_rule(item, transpose=lambda ȳ, x: reshape(ȳ, shape(x)))
linear_rule(tolist, transpose=lambda ȳ, x: reshape(gather(ȳ), shape(x)))
linear_rule(cast_like, transpose=lambda ȳ, x, *, like: cast_like(ȳ, like=like))


@differential(astype)
def _(dx, x, Ω, *, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """A conversion to integers is a step function; one to real numbers drops imaginary parts."""
    return cast_like(dx, like=Ω)


# --- joining and splitting ----------------------------------------------------------------

linear_rule(
    concatenate, transpose=lambda ȳ, arrays, *, axis=0: unconcatenate(ȳ, like=arrays, axis=axis)
)
linear_rule(stack, transpose=lambda ȳ, arrays, *, axis=0: moveaxis(ȳ, source=axis, destination=0))
linear_rule(vstack, transpose=lambda ȳ, arrays: unconcatenate(ȳ, like=arrays, axis=0, rank=2))
linear_rule(hstack, transpose=lambda ȳ, arrays: unconcatenate(ȳ, like=arrays, axis=1))
linear_rule(dstack, transpose=lambda ȳ, arrays: unconcatenate(ȳ, like=arrays, axis=2, rank=3))
linear_rule(column_stack, transpose=lambda ȳ, arrays: unconcatenate(ȳ, like=arrays, axis=1, rank=2))
linear_rule(
    append,
    transpose=(
        lambda ȳ, x, values, *, axis=None: unconcatenate(ȳ, like=(x, values), axis=axis)[0],
        lambda ȳ, x, values, *, axis=None: unconcatenate(ȳ, like=(x, values), axis=axis)[1],
    ),
)
linear_rule(split, transpose=lambda ȳ, x, *, indices_or_sections, axis=0: concatenate(ȳ, axis=axis))
linear_rule(
    array_split, transpose=lambda ȳ, x, *, indices_or_sections, axis=0: concatenate(ȳ, axis=axis)
)
linear_rule(vsplit, transpose=lambda ȳ, x, *, indices_or_sections: concatenate(ȳ))
linear_rule(hsplit, transpose=lambda ȳ, x, *, indices_or_sections: hstack(ȳ))
linear_rule(dsplit, transpose=lambda ȳ, x, *, indices_or_sections: dstack(ȳ))


def _joined_again(ȳ, x_bar, like, axis, rank):
    if rank == 3:
        return dstack(ȳ)
    if rank == 2:
        return vstack(ȳ) if axis == 0 else column_stack(ȳ)
    return hstack(ȳ) if axis == 1 else concatenate(ȳ, axis=axis)


linear_rule(
    unconcatenate,
    transpose=lambda ȳ, x_bar, *, like, axis=0, rank=1: _joined_again(ȳ, x_bar, like, axis, rank),
)


def _along(ȳ, xs, k, indexing):
    axes = other_axes(k, len(xs), indexing)
    return reshape(sum_(ȳ[k], axis=axes), shape(xs[k]))


linear_rule(
    meshgrid,
    transpose=(
        lambda ȳ, *xs, indexing="xy", sparse=False: _along(ȳ, xs, 0, indexing),
        lambda ȳ, *xs, indexing="xy", sparse=False: _along(ȳ, xs, 1, indexing),
        lambda ȳ, *xs, indexing="xy", sparse=False: _along(ȳ, xs, 2, indexing),
        lambda ȳ, *xs, indexing="xy", sparse=False: _along(ȳ, xs, 3, indexing),
        lambda ȳ, *xs, indexing="xy", sparse=False: _along(ȳ, xs, 4, indexing),
        lambda ȳ, *xs, indexing="xy", sparse=False: _along(ȳ, xs, 5, indexing),
    ),
)
