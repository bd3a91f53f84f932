"""Where the elements come from of arrays of which elements are left out, or in which others stand between."""

from __future__ import annotations

from .....ir.graph import Const, Eqn
from ...form.loopform import FLOATS, Apply, Assign, Constant, Expr, For, If, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.structure import wrapped
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import over
from .creation import zeroed
from .indexing import slice_of


@lowers("delete_places")
def _delete_places(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The places in an array of a length that are not among some others."""
    e = site.e
    length, at = e.let(site.scalar(eqn.args[0]).expr), site.value(eqn.args[1])
    if isinstance(at, nv.Scalar) and at.code == "i64":
        gap = wrapped(site, at, length)
        made = site.allocate((e.let(nv.minus(length, nv.ONE)),), "i64", eqn.outs)

        def beside(inner: Emitter, k: tuple[Expr, ...]) -> None:
            after = inner.apply("ge", k[0], gap, code="b1")
            inner.store(made, k, inner.apply("add", k[0], inner.apply("i64", after, code="i64")))

        over(e, made.dims, beside)
        return made
    left_out = zeroed(site, (length,), "b1", ())
    _mark(site, left_out, at)
    return _unmarked(site, left_out)


def _mark(site: BlockLowering, marks: nv.View, at: nv.Value) -> None:
    """Set the elements that indices or a slice name."""
    e = site.e
    yes = Constant(True, "b1")
    match at:
        case nv.Bounds():
            start, count, step = slice_of(site, at, marks.dims[0])
            over(e, (e.let(count),), lambda inner, k: inner.store(
                marks, (inner.let(nv.plus(start, nv.times(k[0], step))),), yes
            ))  # fmt: skip
        case nv.Tuple(items=items) if all(
            isinstance(i, nv.Scalar) and i.code == "i64" for i in items
        ):
            for item in items:
                e.store(marks, (wrapped(site, item, marks.dims[0]),), yes)
        case nv.View(code="i64", dims=(size,)):
            inner = site.inside(site.block)
            index = Slot(e.names.fresh("i"), "i64")
            place = nv.Scalar(inner.e.load(at, (index,)), nv.NUMPY)
            inner.e.store(marks, (wrapped(inner, place, marks.dims[0]),), yes)
            e.add(For(index, e.let(size), tuple(inner.e.statements)))
        case _:
            raise nv.Unlowered("places that are named by something else than integers or a slice")


def _unmarked(site: BlockLowering, marks: nv.View) -> nv.View:
    """Where a mask is not set."""
    e = site.e
    length = marks.dims[0]
    made = site.allocate((length,), "i64", ())
    count = e.variable("count", nv.ZERO)
    with e.loop(length, "i") as (index, inner):
        found = inner.block()
        found.store(made, (count,), index)
        found.add(Assign(count, Apply("add", (count, nv.ONE), "i64")))
        marked = inner.load(marks, (index,))
        inner.add(If(inner.apply("not", marked), tuple(found.statements)))
    return _first(e, made, count)


def _first(e: Emitter, made: nv.View, count: Slot) -> nv.View:
    """So many elements of an array that has room for more."""
    return nv.View(
        made.root, made.code, (e.let(Apply("add", (count, nv.ZERO), "i64")),), (nv.ONE,), nv.ZERO
    )


@lowers("insert_places")
def _insert_places(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The places of an array of a length, with those from there on between two of them."""
    e = site.e
    length, count = (e.let(site.scalar(eqn.args[k]).expr) for k in (0, 2))
    at = site.value(eqn.args[1])
    if not isinstance(at, nv.Scalar) or at.code != "i64":
        raise nv.Unlowered("an insertion at several places")
    gap = _gap(site, at, length)
    total = e.let(nv.plus(length, count))
    made = site.allocate((total,), "i64", eqn.outs)

    def element(inner: Emitter, k: tuple[Expr, ...]) -> None:
        place = k[0]
        before = inner.apply("lt", place, gap, code="b1")
        offset = inner.apply("sub", place, gap)
        inside = inner.apply("lt", offset, count, code="b1")
        new, later = inner.apply("add", length, offset), inner.apply("sub", place, count)
        rest = inner.apply("select", inside, new, later, code="i64")
        inner.store(made, k, inner.apply("select", before, place, rest, code="i64"))

    over(e, made.dims, element)
    return made


@lowers("unique_places")
def _unique_places(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Where each value of a vector first stands, where each element went, and how often each value is there."""
    x = site.in_memory(eqn.args[0])
    if eqn.params.get("axis", Const(None)) != Const(None) or len(x.dims) != 1:
        raise nv.Unlowered("`unique` of an array with several axes")
    if eqn.params.get("equal_nan", Const(True)) != Const(True):
        raise nv.Unlowered("`unique` with NaNs that differ")
    e = site.e
    order = site.view(site.apply("argsort", x, kind="stable"))
    size = e.let(x.dims[0])
    first, where, often = (zeroed(site, (size,), "i64", ()) for _ in range(3))
    count = e.variable("count", nv.ZERO)
    with e.loop(size) as (index, inner):
        place = inner.load(order, (index,))
        before = inner.load(
            order, (inner.apply("max", inner.apply("sub", index, nv.ONE), nv.ZERO),)
        )
        differs = _differs(inner, inner.load(x, (before,)), inner.load(x, (place,)))
        is_new = inner.apply("or", differs, inner.apply("eq", index, nv.ZERO, code="b1"), code="b1")
        new = inner.block()
        new.store(first, (count,), place)
        new.add(Assign(count, Apply("add", (count, nv.ONE), "i64")))
        inner.add(If(is_new, tuple(new.statements)))
        group = inner.variable("group", Apply("sub", (count, nv.ONE), "i64"))
        inner.store(where, (place,), group)
        inner.store(often, (group,), inner.apply("add", inner.load(often, (group,)), nv.ONE))
    parts = (_first(e, first, count), where, _first(e, often, count))
    return nv.Tuple(parts, "tuple", (0, 1, 2))


def _differs(e: Emitter, a: Expr, b: Expr) -> Expr:
    """Whether two elements are different values; all NaNs are one."""
    differ = e.apply("ne", a, b, code="b1")
    if a.code not in FLOATS:
        return differ
    both = e.apply("and", *(e.apply("ne", x, x, code="b1") for x in (a, b)), code="b1")
    return e.apply("and", differ, e.apply("not", both), code="b1")


def _gap(site: BlockLowering, at: nv.Scalar, length: Expr) -> Expr:
    """Before which element something is inserted: there is one gap more than there are elements."""
    e = site.e
    gap = e.apply("wrapped", at.expr, length)
    outside = e.apply(
        "or", e.apply("lt", gap, nv.ZERO, code="b1"), e.apply("gt", gap, length, code="b1")
    )
    e.exit_if(outside, "an index out of range")
    return gap
