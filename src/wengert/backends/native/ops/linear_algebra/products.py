"""Products of matrices and vectors, as loop nests whose innermost loop runs along memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .....ir.graph import Eqn
from ...form.loopform import FLOATS, Constant, Expr, For, Multiply, Slot
from ...lower.fusion import mapped, reduced
from ...lower.groups import REDUCTIONS
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import axes_of, dims_of, expanded, with_axes
from ...lower.structure import over_arrays
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import fill
from ...values.numbers import compute
from ...values.promotion import common_code
from ...values.rows import ROWS
from ..reductions.reductions import summed_to


@lowers("matmul", "dot", "inner")
def _matmul(site: BlockLowering, eqn: Eqn) -> nv.Value:
    operands = [site.operand(atom) for atom in eqn.args]
    ranks = [0 if isinstance(x, nv.Scalar) else len(x.dims) for x in operands]
    if eqn.op.name == "inner" and ranks != [1, 1]:
        raise nv.Unlowered("an inner product of matrices")
    if not any(ranks):
        raise nv.Unlowered("a product of arrays without axes")
    if (
        0 in ranks
        and len({x.code for x in operands}) > 1
        and any(x.code == "f32" for x in operands)
    ):
        raise nv.Unlowered("`np.dot` of floats of 32 bits and others")
    if eqn.op.name != "matmul" and all(_is_single(x) for x in operands):
        return _product_of_single_numbers(site, operands, ranks)
    if 0 in ranks and eqn.op.name == "dot":
        return _multiple(site, operands)
    if 0 in ranks:
        raise nv.Unlowered("a product of a number")
    if max(ranks) > 2 and eqn.op.name == "dot":
        raise nv.Unlowered("`np.dot` of stacks of matrices")
    if ranks == [1, 1]:
        return _inner(site, *map(site.array, eqn.args))
    left, right = (site.in_memory(atom) for atom in eqn.args)
    return product_of_two(site, left, right)


def product_of_two(site: BlockLowering, left: nv.View, right: nv.View) -> nv.Value:
    """The product of two matrices, of a matrix and a vector, or of stacks of them."""
    if len(left.dims) > 2 or len(right.dims) > 2:
        return _product_of_stacks(site, left, right)
    match len(left.dims), len(right.dims):
        case 2, 1:
            return _matrix_vector(site, left, right)
        case 1, 2:
            return _matrix_vector(site, transposed(right), left)
        case _:
            return matrix_product(site, left, right)


def _product_of_stacks(site: BlockLowering, a: nv.View, b: nv.View) -> nv.Value:
    if len(a.dims) == 1:
        return _by_rows(site, _swapped(b), a)
    if len(b.dims) == 1:
        return _by_rows(site, a, b)
    site.e.must_be_same(a.dims[-1], b.dims[-2], "a product of matrices")
    both = over_arrays(site, "mul", [expanded(a, {len(a.dims)}), _as_row(b, 3)])
    return reduced(site, REDUCTIONS["sum"], both, (len(both.dims) - 2,), both.code)


def _by_rows(site: BlockLowering, a: nv.View, x: nv.View) -> nv.Value:
    """The products of the rows of matrices with vectors."""
    site.e.must_be_same(a.dims[-1], x.dims[-1], "a product of a matrix and a vector")
    both = over_arrays(site, "mul", [a, x])
    return reduced(site, REDUCTIONS["sum"], both, (len(both.dims) - 1,), both.code)


def _swapped(view: nv.View) -> nv.View:
    dims, strides = ((*part[:-2], part[-1], part[-2]) for part in (view.dims, view.strides))
    return with_axes(view, dims, strides)


def _as_row(view: nv.View, from_the_end: int = 2) -> nv.View:
    """An array with one more axis, of one element, so far from the end."""
    return expanded(view, {len(view.dims) + 1 - from_the_end})


@lowers("matmul_left")
def _matmul_left(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of `a` in `a @ b`, where its rank shows only here."""
    like = tuple(map(site.e.size, dims_of(site.operand(eqn.params["like"]))))
    y_bar, b = (site.operand(atom) for atom in eqn.args)
    if len(dims_of(b)) == 1:
        column = _column(site, y_bar) if len(like) > 1 else y_bar
        return summed_to(site, over_arrays(site, "mul", [column, b]), like)
    bar, matrix = site.view(y_bar), site.view(b)
    if len(like) > 1:
        return summed_to(site, product_of_two(site, bar, _swapped(matrix)), like)
    if len(matrix.dims) == 2:
        return product_of_two(site, matrix, bar)
    return summed_to(site, _by_rows(site, matrix, _as_row(bar)), like)


@lowers("matmul_right")
def _matmul_right(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of `b` in `a @ b`, likewise."""
    like = tuple(map(site.e.size, dims_of(site.operand(eqn.params["like"]))))
    a, y_bar = (site.operand(atom) for atom in eqn.args)
    if len(dims_of(a)) == 1:
        if len(like) == 1:
            return over_arrays(site, "mul", [a, y_bar])
        bar = site.view(y_bar)
        return summed_to(site, over_arrays(site, "mul", [_column(site, a), _as_row(bar)]), like)
    matrix, bar = _swapped(site.view(a)), site.view(y_bar)
    if len(like) == 1 and len(matrix.dims) > 2:
        return summed_to(site, _by_rows(site, matrix, _as_row(bar)), like)
    return summed_to(site, product_of_two(site, matrix, bar), like)


def _column(site: BlockLowering, x: nv.Scalar | nv.Array) -> nv.View:
    view = site.view(x)
    return expanded(view, {len(view.dims)})


def transposed(view: nv.View) -> nv.View:
    return with_axes(view, view.dims[::-1], view.strides[::-1])


def _is_single(x: nv.Scalar | nv.Array) -> bool:
    return all(dim == nv.ONE for dim in dims_of(x))


def _product_of_single_numbers(
    site: BlockLowering, operands: Sequence[nv.Scalar | nv.Array], ranks: Sequence[int]
) -> nv.Value:
    """`np.dot` of one number by one: a sum that begins with 0.0 would lose the sign of a zero."""
    x, y = (
        x
        if isinstance(x, nv.Scalar)
        else nv.Scalar(site.e.load(site.view(x), [nv.ZERO] * len(x.dims)), nv.NUMPY)
        for x in operands
    )
    found = compute(site.e, "mul", "np", [x, y])
    rank = sum(ranks) - 2 if all(ranks) else max(ranks)
    return nv.Broadcast(found, found.code, (nv.ONE,) * rank) if rank else found


def _multiple(site: BlockLowering, operands: Sequence[nv.Scalar | nv.Array]) -> nv.Value:
    """`np.dot` of an array and a number, which adds multiples to zeros: no zero stays negative."""
    product_ = over_arrays(site, "mul", operands)
    if product_.code not in FLOATS:
        return product_
    return over_arrays(site, "add", [product_, nv.Scalar(Constant(0.0, product_.code))])


def _inner(site: BlockLowering, x: nv.Array, y: nv.Array) -> nv.Value:
    site.e.must_be_same(x.dims[0], y.dims[0], "a product of vectors")
    both = over_arrays(site, "mul", [x, y])
    return reduced(site, REDUCTIONS["sum"], both, (0,), both.code)


def _matrix_vector(site: BlockLowering, a: nv.View, x: nv.View) -> nv.Value:
    """Row by row, or column by column, whichever follow each other in memory."""
    site.e.must_be_same(a.dims[1], x.dims[0], "a product of a matrix and a vector")
    if a.strides[1] == nv.ONE or a.strides[0] != nv.ONE:
        both = over_arrays(site, "mul", [a, x])
        return reduced(site, REDUCTIONS["sum"], both, (1,), both.code)
    columns = transposed(a)
    both = over_arrays(site, "mul", [columns, expanded(x, {1})])
    return reduced(site, REDUCTIONS["sum"], both, (0,), both.code)


LEAST_FOR_BLAS = 2**13
"""From how many multiplications on a product of matrices is left to BLAS."""


def matrix_product(site: BlockLowering, a: nv.View, b: nv.View) -> nv.Value:
    """The product of two matrices."""
    site.e.must_be_same(a.dims[1], b.dims[0], "a product of matrices")
    code = common_code([a, b])
    if code in FLOATS and a.code == b.code and site.unit.target.has_blas:
        return _by_blas(site, *(x if _lead(x) is not None else site.copied(x) for x in (a, b)))
    return _by_loops(site, a, b)


def _lead(view: nv.View) -> tuple[Expr, bool] | None:
    """How far the rows of a matrix are apart, or (then it is transposed) its columns."""
    if view.strides[1] == nv.ONE and view.strides[0] != nv.ZERO:
        return view.strides[0], False
    return (
        (view.strides[1], True)
        if view.strides[0] == nv.ONE and view.strides[1] != nv.ZERO
        else None
    )


def _by_blas(site: BlockLowering, a: nv.View, b: nv.View) -> nv.View:
    """By BLAS if the matrices are large, by loops if they are not."""
    site.write_all()
    e = site.e
    (rows, inner), columns = map(e.let, a.dims), e.let(b.dims[1])
    made = site.allocate((e.size(rows), e.size(columns)), a.code, ())
    (left, left_transposed), (right, right_transposed) = (
        _lead(a) or (nv.ONE, False),
        _lead(b) or (nv.ONE, False),
    )
    product_ = Multiply(
        made.pointer, a.pointer, a.offset, left, left_transposed,
        b.pointer, b.offset, right, right_transposed, rows, inner, columns, a.code,
    )  # fmt: skip
    small = e.block()
    fill(small, made, Constant(0.0, a.code))
    _add_products(small, made, a, b, (rows, inner, columns))
    work = e.let(nv.times(e.let(nv.times(rows, inner)), columns))
    is_large = e.apply("ge", work, nv.integer(LEAST_FOR_BLAS), code="b1")
    e.choose(is_large, (product_,), small.statements)
    return made


def _add_products(
    e: Emitter, made: nv.View, a: nv.View, b: nv.View, sizes: tuple[Expr, Expr, Expr]
) -> None:
    i, k, j = (Slot(e.names.fresh(hint), "i64") for hint in "ikj")
    outer = e.block()
    middle = outer.block()
    factor = middle.load(a, (i, k))
    innermost = middle.block()
    product_ = innermost.apply("mul", factor, innermost.load(b, (k, j)))
    innermost.store(made, (i, j), innermost.apply("add", innermost.load(made, (i, j)), product_))
    middle.add(For(j, sizes[2], tuple(innermost.statements), independent=True))
    outer.add(For(k, sizes[1], tuple(middle.statements)))
    e.add(For(i, sizes[0], tuple(outer.statements)))


def _by_loops(site: BlockLowering, a: nv.View, b: nv.View) -> nv.Value:
    if b.strides[1] == nv.ONE or b.strides[0] != nv.ONE:
        # result[i, j] += a[i, k] * b[k, j], j innermost
        both = over_arrays(site, "mul", [expanded(a, {2}), b])
        return reduced(site, REDUCTIONS["sum"], both, (1,), both.code)
    # b is transposed: its columns lie in memory one after the other
    right = transposed(b)
    both = over_arrays(site, "mul", [_between(a), right])
    return reduced(site, REDUCTIONS["sum"], both, (2,), both.code)


def _between(a: nv.View) -> nv.View:
    return with_axes(a, (a.dims[0], nv.ONE, a.dims[1]), (a.strides[0], nv.ZERO, a.strides[1]))


@lowers("outer")
def _outer(site: BlockLowering, eqn: Eqn) -> nv.Value:
    left, right = (_vector(site, site.operand(atom), eqn, k) for k, atom in enumerate(eqn.args))
    column = expanded(left, {1})
    return over_arrays(site, "mul", [column, right])


def _vector(site: BlockLowering, x: nv.Scalar | nv.Array, eqn: Eqn, k: int) -> nv.View:
    if isinstance(x, nv.Scalar) or len(x.dims) != 1:
        raise nv.Unlowered("an outer product of anything but vectors")
    return site.in_memory(eqn.args[k])


@lowers("vdot")
def _vdot(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x, y = (site.array(atom) for atom in eqn.args)
    if len(x.dims) != 1 or len(y.dims) != 1:
        raise nv.Unlowered("`np.vdot` of matrices")
    return _inner(site, x, y)


@lowers("norm")
def _norm(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x = site.array(eqn.args[0])
    if not set(eqn.params) <= {"ord", "axis", "keepdims"} or not x.dims:
        raise nv.Unlowered("a norm of this kind")
    if x.code not in FLOATS:
        x = mapped(site, ROWS["copy"], [x], "f64", x.dims)
    axes = axes_of(eqn, len(x.dims))
    order, kept = eqn.param("ord", None), bool(eqn.param("keepdims", False))
    if order is None or (order == 2 and len(axes) == 1) or (order == "fro" and len(axes) == 2):
        return _length(site, x, axes, kept=kept)
    if order in (1, math.inf, -math.inf) and len(axes) == 1:
        name = {1: "sum", math.inf: "max"}.get(order, "min")
        return site.apply(name, site.apply("abs", x), axis=axes, keepdims=kept)
    raise nv.Unlowered("a norm of this kind")


def _length(site: BlockLowering, x: nv.Array, axes: tuple[int, ...], *, kept: bool) -> nv.Value:
    """The root of the sum of all squares."""
    if len(axes) == len(x.dims) and not kept:
        squares = over_arrays(site, "square", [x])
        total = reduced(site, REDUCTIONS["sum"], squares, axes, squares.code)
        return compute(site.e, "sqrt", "np", [site.as_scalar(total)])
    squares = site.apply("square", x)
    return site.apply("sqrt", site.apply("sum", squares, axis=axes, keepdims=kept))
