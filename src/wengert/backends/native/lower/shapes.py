"""Shapes: broadcasting, and the ops that give the same elements another shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.graph import Atom, Const, Eqn
from ..form.loopform import NUMPY_NAMES, Apply, Constant, Expr
from ..values import values as nv
from ..values.emitter import Emitter
from ..values.rows import ROWS
from ..values.strides import is_contiguous
from .fusion import mapped
from .lowering import BlockLowering, lowers

Dims = tuple[Expr, ...]


def dims_of(value: nv.Scalar | nv.Array) -> Dims:
    return () if isinstance(value, nv.Scalar) else value.dims


def broadcast(e: Emitter, operands: Sequence[nv.Scalar | nv.Array]) -> Dims:
    """The shape that operands have together."""
    shapes = [tuple(map(e.size, dims_of(x))) for x in operands]
    rank = max(map(len, shapes))
    result: list[Expr] = []
    for k in range(-rank, 0):
        sizes = [shape[k] for shape in shapes if len(shape) >= -k and shape[k] != nv.ONE]
        for other in sizes[1:]:
            e.must_be_same(sizes[0], other, "shapes that are broadcast together")
        result.append(e.size(sizes[0]) if sizes else nv.ONE)
    return tuple(result)


def known_axis(atom: Atom | None, rank: int) -> tuple[int, ...] | None:
    """The option `axis`, counted from the front; None means all axes."""
    if atom is None:
        return None
    if not isinstance(atom, Const):
        raise nv.Unlowered("an axis that is computed")
    if atom.value is None:
        return None
    axes = atom.value if isinstance(atom.value, tuple) else (atom.value,)
    return tuple(sorted(from_the_front(k, rank) for k in axes))


def from_the_front(axis: object, rank: int) -> int:
    """The number of an axis, which may be counted from the end; Python says what is wrong with others."""
    if not isinstance(axis, int) or not -rank <= axis < rank:
        raise nv.Unlowered("an axis that is not there")
    return axis % rank


def axes_of(eqn: Eqn, rank: int) -> tuple[int, ...]:
    """Which axes a reduction reduces."""
    axes = known_axis(eqn.params.get("axis"), rank)
    return tuple(range(rank)) if axes is None else axes


def with_axes(view: nv.View, dims: Dims, strides: Dims) -> nv.View:
    """The same memory, indexed otherwise."""
    return nv.View(view.root, view.code, dims, strides, view.offset)


def sizes_of(site: BlockLowering, atom: Atom) -> Dims:
    """A shape: an integer, or a tuple of integers."""
    value = site.value(atom)
    items = value.items if isinstance(value, nv.Tuple) else (value,)
    sizes: list[Expr] = []
    for item in items:
        scalar = site.as_scalar(item)
        if scalar.code != "i64":
            raise nv.Unlowered("a shape of numbers that are no integers")
        if not isinstance(scalar.expr, Constant):
            site.e.exit_if(Apply("lt", (scalar.expr, nv.ZERO), "b1"), "a negative size")
        elif int(scalar.expr.value) < 0:
            raise nv.Unlowered("a negative size")
        sizes.append(site.e.size(scalar.expr))
    return tuple(sizes)


def kept_axes(
    site: BlockLowering, eqn: Eqn, value: nv.Value, dims: Dims, axes: tuple[int, ...]
) -> nv.Value:
    """The result of a reduction with axes of one element in the place of the lost ones."""
    if not eqn.param("keepdims", False):
        return value
    shape = tuple(nv.ONE if k in axes else d for k, d in enumerate(dims))
    value = site.computed(value) if isinstance(value, nv.Lazy) else value
    if isinstance(value, nv.Scalar):
        return nv.Broadcast(value, value.code, shape)
    own = iter(value.strides)
    strides = tuple(nv.ONE if k in axes else next(own) for k in range(len(dims)))
    return nv.View(value.root, value.code, shape, strides, value.offset, value.whole)


# --- questions ----------------------------------------------------------------------------


@lowers("shape")
def _shape(site: BlockLowering, eqn: Eqn) -> nv.Value:
    dims = dims_of(site.any_operand(eqn.args[0]))
    return nv.Tuple(tuple(nv.Scalar(d, nv.PYTHON, 48) for d in dims), keys=tuple(range(len(dims))))


@lowers("ndim")
def _ndim(site: BlockLowering, eqn: Eqn) -> nv.Value:
    return nv.Scalar(nv.integer(len(dims_of(site.any_operand(eqn.args[0])))), nv.PYTHON, 8)


@lowers("size")
def _size(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if eqn.params:
        raise nv.Unlowered("the size along an axis")
    total = nv.product(dims_of(site.any_operand(eqn.args[0])))
    return nv.Scalar(site.e.let(total), nv.PYTHON, 48)


@lowers("dtype")
def _dtype(site: BlockLowering, eqn: Eqn) -> nv.Value:
    import numpy as np

    return nv.StaticValue(np.dtype(NUMPY_NAMES[site.operand(eqn.args[0]).code]))


# --- axes ---------------------------------------------------------------------------------


def with_several_axes(site: BlockLowering, eqn: Eqn) -> nv.View:
    """An array whose axes change places; without any, it may have to stay a number."""
    x = site.operand(eqn.args[0])
    if not dims_of(x):
        raise nv.Unlowered(f"`{eqn.op.name}` of a number")
    return site.in_memory(eqn.args[0])


def known_number(eqn: Eqn, name: str) -> int:
    """An option that is one integer."""
    atom = eqn.params.get(name)
    if not isinstance(atom, Const) or not isinstance(atom.value, int):
        raise nv.Unlowered(f"`{name}` of `{eqn.op.name}` that is no known integer")
    return atom.value


@lowers("transpose", "matrix_transpose", "swapaxes", "moveaxis")
def _transpose(site: BlockLowering, eqn: Eqn) -> nv.Value:
    view = with_several_axes(site, eqn)
    rank = len(view.dims)
    order = list(range(rank))
    match eqn.op.name:
        case "matrix_transpose":
            order[-2:] = order[-1], order[-2]
        case "swapaxes":
            a, b = (known_number(eqn, name) for name in ("axis1", "axis2"))
            order[a], order[b] = order[b], order[a]
        case "moveaxis":
            source, target = (known_number(eqn, name) for name in ("source", "destination"))
            order.insert(from_the_front(target, rank), order.pop(from_the_front(source, rank)))
        case _:
            order = _given_order(eqn, rank)
    return with_axes(
        view, tuple(view.dims[k] for k in order), tuple(view.strides[k] for k in order)
    )


def _given_order(eqn: Eqn, rank: int) -> list[int]:
    given = [atom for name, atom in eqn.params.items() if name == "axes"] + list(eqn.args[1:])
    if not given or given == [Const(None)]:
        return list(range(rank))[::-1]
    values = [atom.value for atom in given if isinstance(atom, Const)]
    axes = values[0] if len(values) == 1 and isinstance(values[0], tuple) else tuple(values)
    if len(axes) != rank or not all(isinstance(k, int) for k in axes):
        raise nv.Unlowered("an order of axes that is computed")
    order = [from_the_front(k, rank) for k in axes]
    if len(set(order)) < rank:
        raise nv.Unlowered("an order of axes that has one twice")
    return order


@lowers("expand_dims")
def _expand_dims(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value = site.array(eqn.args[0])
    axis = eqn.param("axis")
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = len(value.dims) + len(axes)
    added = {from_the_front(k, rank) for k in axes}
    if isinstance(value, nv.Broadcast):
        sizes = iter(value.dims)
        dims = tuple(nv.ONE if k in added else next(sizes) for k in range(rank))
        return nv.Broadcast(value.element, value.code, dims)
    return expanded(site.in_memory(eqn.args[0]), added)


def expanded(view: nv.View, added: set[int]) -> nv.View:
    """An array with further axes of one element."""
    rank = len(view.dims) + len(added)
    pairs = iter(zip(view.dims, view.strides, strict=True))
    placed = [(nv.ONE, nv.ZERO) if k in added else next(pairs) for k in range(rank)]
    return with_axes(view, tuple(d for d, _ in placed), tuple(s for _, s in placed))


@lowers("squeeze")
def _squeeze(site: BlockLowering, eqn: Eqn) -> nv.Value:
    view = site.in_memory(eqn.args[0])
    axes = known_axis(eqn.params.get("axis"), len(view.dims))
    if axes is None:
        if any(not isinstance(dim, Constant) for dim in view.dims):
            raise nv.Unlowered("axes of one element that are found at run time")
        axes = tuple(k for k, dim in enumerate(view.dims) if dim == nv.ONE)
    for k in axes:
        site.e.must_be_same(view.dims[k], nv.ONE)
    kept = [k for k in range(len(view.dims)) if k not in axes]
    return with_axes(view, tuple(view.dims[k] for k in kept), tuple(view.strides[k] for k in kept))


@lowers("broadcast_to")
def _broadcast_to(site: BlockLowering, eqn: Eqn) -> nv.Value:
    dims = sizes_of(site, eqn.params["shape"])
    return spread(site, eqn.args[0], dims)


def spread(site: BlockLowering, atom: Atom, dims: Dims) -> nv.Value:
    """A number or an array, repeated so that it has a shape."""
    value = site.operand(atom)
    return spread_value(site, value, dims, lambda: site.in_memory(atom))


def spread_value(
    site: BlockLowering, value: nv.Value, dims: Dims, in_memory: Callable[[], nv.View] | None = None
) -> nv.Value:
    """The same for a value; `in_memory` has it written down."""
    if isinstance(value, nv.Scalar):
        return nv.Broadcast(value, value.code, dims)
    own = tuple(map(site.e.size, value.dims))
    must_spread(site.e, own, dims)
    if isinstance(value, nv.Broadcast):
        return nv.Broadcast(value.element, value.code, dims)
    if own == tuple(map(site.e.size, dims)):
        return value
    view = in_memory() if in_memory is not None else site.view(value)
    strides = [
        nv.ZERO if dim == nv.ONE else stride for dim, stride in zip(own, view.strides, strict=True)
    ]
    return with_axes(view, dims, (*[nv.ZERO] * (len(dims) - len(own)), *strides))


def must_spread(e: Emitter, own: Dims, dims: Dims) -> None:
    """Go on only if an array of one shape can be repeated so that it has another."""
    if len(own) > len(dims):
        raise nv.Unlowered("an array that is repeated to have fewer axes")
    for a, b in zip(own, dims[len(dims) - len(own) :], strict=True):
        if e.size(a) != nv.ONE:
            e.must_be_same(a, b, "an array that is repeated to another shape")


@lowers("flip", "flipud", "fliplr")
def _flip(site: BlockLowering, eqn: Eqn) -> nv.Value:
    view = with_several_axes(site, eqn)
    axes = known_axis(eqn.params.get("axis"), len(view.dims))
    if eqn.op.name != "flip":
        axes = (0,) if eqn.op.name == "flipud" else (1,)
    offset, strides = view.offset, list(view.strides)
    for k in axes if axes is not None else range(len(view.dims)):
        offset = nv.plus(offset, nv.times(nv.minus(view.dims[k], nv.ONE), strides[k]))
        strides[k] = site.e.let(nv.minus(nv.ZERO, strides[k]))
    return nv.View(view.root, view.code, view.dims, tuple(strides), site.e.let(offset))


# --- reshaping ----------------------------------------------------------------------------


@lowers("reshape", "ravel", "flatten", "flat")
def _reshape(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if eqn.param("order", "C") != "C":
        raise nv.Unlowered("an order of elements other than C's")
    value = site.operand(eqn.args[0])
    if isinstance(value, nv.Scalar):
        value = nv.Broadcast(value, value.code, ())
    total = site.e.let(nv.product(value.dims))
    dims = (total,) if eqn.op.name != "reshape" else _new_dims(site, eqn, total)
    if eqn.op.name == "flatten" or not isinstance(value, nv.Broadcast):
        return _reshaped(site, eqn, dims)
    return nv.Broadcast(value.element, value.code, dims)


def _reshaped(site: BlockLowering, eqn: Eqn, dims: Dims) -> nv.Value:
    view = site.in_memory(eqn.args[0])
    if len(view.dims) > 1 and site.unit.changes_arrays and not site.unit.lies_in_order:
        raise nv.Unlowered(
            "an array that may be a view, or a copy, in a program that writes to arrays"
        )
    if not is_contiguous(view):
        view = site.copied(view)
    strides = tuple(map(site.e.let, nv.c_strides(dims)))
    made = nv.View(view.root, view.code, dims, strides, view.offset)
    if eqn.op.name == "flatten":
        return mapped(site, ROWS["copy"], [made], made.code, dims)
    return made


def _new_dims(site: BlockLowering, eqn: Eqn, total: Expr) -> Dims:
    atoms = [*eqn.args[1:], *(a for name, a in eqn.params.items() if name == "shape")]
    items = [site.value(atom) for atom in atoms]
    if len(items) == 1 and isinstance(items[0], nv.Tuple):
        items = list(items[0].items)
    exprs = [site.as_scalar(item).expr for item in items]
    open_ = [k for k, x in enumerate(exprs) if isinstance(x, Constant) and x.value == -1]
    given = nv.product(tuple(x for k, x in enumerate(exprs) if k not in open_))
    given = site.e.let(given)
    if len(open_) > 1:
        raise nv.Unlowered("a shape with two unknown sizes")
    if open_:
        site.e.exit_if(Apply("le", (given, nv.ZERO), "b1"), "a shape without elements")
        rest = total if given == nv.ONE else site.e.apply("quotient", total, given)
        exprs[open_[0]] = rest
        if given != nv.ONE:
            left = site.e.let(nv.times(rest, given))
            site.e.exit_if(Apply("ne", (left, total), "b1"), "a shape that does not fit")
        return tuple(exprs)
    site.e.must_be_same(given, total, "a shape that does not fit")
    return tuple(map(site.e.size, exprs))
