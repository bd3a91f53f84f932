"""Diagonals of matrices, and matrices made of them."""

from __future__ import annotations

from .....ir.graph import Atom, Const, Eqn
from ...form.loopform import FLOATS, Constant, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of, with_axes
from ...values.emitter import Emitter
from ...values.loops import over
from ...values.numbers import converted
from ...values.values import ZERO, Scalar, Unlowered, Value, View, integer, minus, plus, times
from ..elementwise.creation import zeroed
from ..reductions.reductions import reduction


def place_of(eqn: Eqn, name: str) -> int:
    """Which diagonal: 0 is the main one, 1 the one above it."""
    found = eqn.param(name, 0)
    found = found.value if isinstance(found, Const) else found
    if not isinstance(found, int):
        raise Unlowered("a diagonal that is chosen at run time")
    return found


def _of_the_last_axes(eqn: Eqn) -> None:
    axes = (eqn.param("axis1", 0), eqn.param("axis2", 1))
    if axes not in ((0, 1), (-2, -1)):
        raise Unlowered("a diagonal along other axes")


def diagonal(site: BlockLowering, view: View, k: int) -> View:
    """A diagonal of a matrix, in the same memory."""
    if len(view.dims) != 2:
        raise Unlowered("a diagonal of anything but a matrix")
    e = site.e
    rows, columns = view.dims
    down, right = (integer(max(-k, 0)), integer(max(k, 0)))
    size = e.apply("min", e.let(minus(rows, down)), e.let(minus(columns, right)))
    size = e.apply("max", size, ZERO) if k else size
    start = plus(times(down, view.strides[0]), times(right, view.strides[1]))
    offset = e.let(plus(view.offset, start))
    stride = e.let(plus(*view.strides))
    return View(view.root, view.code, (size,), (stride,), offset)


@lowers("diag", "diagonal", "trace")
def _diag(site: BlockLowering, eqn: Eqn) -> Value:
    _of_the_last_axes(eqn)
    k = place_of(eqn, "k" if eqn.op.name == "diag" else "offset")
    view = site.in_memory(eqn.args[0])
    if eqn.op.name == "diag" and len(view.dims) == 1:
        return _matrix_of(site, eqn, view, k)
    found = diagonal(site, view, k)
    if eqn.op.name == "trace":
        return reduction(site, "sum", found, (0,))
    return found


def _matrix_of(site: BlockLowering, eqn: Eqn, vector: View, k: int) -> View:
    """A square matrix with a vector as its diagonal."""
    e = site.e
    size = e.let(plus(vector.dims[0], integer(abs(k))))
    made = zeroed(site, (size, size), vector.code, eqn.outs)
    place = with_axes(diagonal(site, made, k), vector.dims, (e.let(plus(size, integer(1))),))
    over(e, vector.dims, lambda inner, at: inner.store(place, at, inner.load(vector, at)))
    return made


@lowers("undiag", "undiagonal", "untrace")
def _undiagonal(site: BlockLowering, eqn: Eqn) -> Value:
    """The cotangent of a matrix from that of its diagonal."""
    _of_the_last_axes(eqn)
    k = place_of(eqn, "k" if eqn.op.name == "undiag" else "offset")
    like: Atom = eqn.params["like"]
    dims = dims_of(site.operand(like))
    if len(dims) == 1:
        view = site.in_memory(eqn.args[0])
        found = diagonal(site, view, k)
        return with_axes(found, dims, found.strides)
    bar = site.operand(eqn.args[0])
    bar = bar if isinstance(bar, Scalar) else site.in_memory(eqn.args[0])
    code = bar.code if bar.code in FLOATS else "f64"
    made = zeroed(site, tuple(map(site.e.size, dims)), code, eqn.outs)
    place = diagonal(site, made, k)
    if isinstance(bar, Scalar):
        over(site.e, place.dims, lambda e, at: e.store(place, at, converted(e, bar.expr, code)))
        return made
    site.e.must_be_same(bar.dims[0], place.dims[0], "a cotangent of another length")
    over(site.e, place.dims, lambda e, at: e.store(place, at, converted(e, e.load(bar, at), code)))
    return made


@lowers("tril", "triu", "halved_tril")
def _triangle(site: BlockLowering, eqn: Eqn) -> Value:
    """The elements below or above a diagonal; `halved_tril` halves those on it."""
    view = site.in_memory(eqn.args[0])
    if len(view.dims) != 2:
        raise Unlowered("a triangle of anything but a matrix")
    k = place_of(eqn, "k") if eqn.op.name != "halved_tril" else 0
    site.write_all()
    code = view.code if eqn.op.name != "halved_tril" or view.code in FLOATS else "f64"
    made = site.allocate(tuple(map(site.e.size, view.dims)), code, eqn.outs)
    zero = Constant(0.0 if code in FLOATS else 0 if code == "i64" else False, code)

    def element(inner: Emitter, at: tuple[Expr, ...]) -> None:
        x = converted(inner, inner.load(view, at), code)
        edge = inner.let(plus(at[0], integer(k)))
        test = "ge" if eqn.op.name == "triu" else "le"
        inside = inner.apply(test, at[1], edge, code="b1")
        if eqn.op.name == "halved_tril":
            on = inner.apply("eq", at[1], edge, code="b1")
            shares = Constant(0.5, code), Constant(1.0, code)
            share = inner.apply("select", on, *shares, code=code)
            share = inner.apply("select", inside, share, zero, code=code)
            inner.store(made, at, inner.apply("mul", x, share))
            return
        found = inner.apply("select", inside, x, zero, code=code)
        inner.store(made, at, found)

    over(site.e, made.dims, element)
    return made
