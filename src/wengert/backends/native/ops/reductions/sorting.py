"""Sorting numbers: by merging, which keeps the order of equal ones."""

from __future__ import annotations

import math
from collections.abc import Callable

from .....ir.graph import Atom, Const, Eqn
from .....ir.types import INT
from ...form.loopform import FLOATS, Apply, Assign, Code, Constant, Copy, Expr, For, Slot, While
from ...lower.call_out import on_large
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import GrowingList
from ...lower.sequences.lists import template_of
from ...lower.sequences.sequences import growing, item_at, numbers
from ...lower.shapes import known_axis
from ...lower.structure import length_of
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import copy_elements, in_order, over
from ...values.numbers import converted
from .argminmax import lane_of

FEW = 100
"""NumPy sorts more elements faster than merging does."""

Key = Callable[[Emitter, Expr], Expr]
"""The number at a position, as code."""
Lane = Callable[[BlockLowering, nv.View, nv.View], None]


@lowers("sorted_order")
def _sorted_order(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The indices that sort a list, as `sorted` does."""
    e = site.e
    items = site.value(eqn.args[0])
    if (
        isinstance(items, nv.Tuple)
        and items.items
        and all(isinstance(x, nv.Scalar) for x in items.items)
    ):
        items = numbers(e, list(items.items), "keys")
    if not isinstance(items, GrowingList):
        raise nv.Unlowered("sorting of anything but numbers")
    first = item_at(Emitter(e.names), items, nv.ZERO)
    if not isinstance(first, nv.Scalar):
        raise nv.Unlowered("sorting of anything but numbers")
    site.write_all()
    size = length_of(site, items)
    order = _order(
        site,
        size,
        lambda inner, k: item_at(inner, items, k).expr,
        reverse=eqn.param("reverse", False),
    )
    made = growing(e, template_of(INT), "order", e.apply("max", size, nv.ONE))
    with e.loop(size) as (index, inner):
        made.column.put(inner, index, nv.Scalar(inner.load(order, (index,)), nv.PYTHON, 48))
    e.add(Assign(made.length, size))
    return made


def _by_lanes(site: BlockLowering, eqn: Eqn, code: Code | None, lane: Lane) -> nv.View:
    """An array that is made lane by lane: `lane(site, what is read, what is made)`."""
    view = site.view(site.operand(eqn.args[0]))
    axes = known_axis(eqn.params.get("axis", Const(-1)), len(view.dims))
    if axes is None or not view.dims:
        view, axes = site.view(site.apply("ravel", view)), (0,)
    (axis,) = axes
    site.write_all()
    made = site.allocate(tuple(map(site.e.size, view.dims)), code or view.code, eqn.outs)

    def native(here: BlockLowering) -> None:
        def element(e: Emitter, at: tuple[Expr, ...]) -> None:
            inner = here.inside(here.block, e) if at else here
            lane(inner, *(lane_of(e, x, axis, at) for x in (view, made)))
            if at:
                inner.release_owned()

        in_order(here.e, (*view.dims[:axis], *view.dims[axis + 1 :]), element)

    on_large(site, eqn, made, FEW, native)
    return made


@lowers("argsort")
def _argsort(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """As NumPy: which of equal elements comes first is left to it, unless its order is a stable one."""
    stable = eqn.param("kind", None) in ("stable", "mergesort")

    def lane(inner: BlockLowering, view: nv.View, made: nv.View) -> None:
        order = _order(inner, view.dims[0], lambda e, k: e.load(view, (k,)))
        if not stable:
            _must_differ(inner, view, order)
        copy_elements(inner.e, made, order)

    return _by_lanes(site, eqn, "i64", lane)


def _must_differ(site: BlockLowering, view: nv.View, order: nv.View) -> None:
    e = site.e
    with e.loop(e.let(nv.minus(view.dims[0], nv.ONE))) as (index, inner):
        places = [inner.load(order, (at,)) for at in (index, inner.let(nv.plus(index, nv.ONE)))]
        a, b = (inner.load(view, (place,)) for place in places)
        inner.exit_if(Apply("eq", (a, b), "b1"), "equal elements that are sorted in any order")


@lowers("sort")
def _sort(site: BlockLowering, eqn: Eqn) -> nv.Value:
    def lane(inner: BlockLowering, view: nv.View, made: nv.View) -> None:
        order = _order(inner, view.dims[0], lambda e, k: e.load(view, (k,)))

        def element(e: Emitter, at: tuple[Expr, ...]) -> None:
            e.store(made, at, e.load(view, (e.load(order, at),)))

        over(inner.e, made.dims, element)

    return _by_lanes(site, eqn, None, lane)


def _order(site: BlockLowering, size: Expr, key: Key, *, reverse: bool | Const = False) -> nv.View:
    """The positions of numbers in their order; exits if one is NaN."""
    backwards = reverse.value if isinstance(reverse, Const) else reverse
    e = site.e
    size = e.let(size)
    order, other = (site.allocate((size,), "i64", ()) for _ in range(2))
    _number(e, order, size, key)
    width = e.variable("width", nv.ONE)
    body = e.block()
    both = body.let(nv.times(nv.integer(2), width))
    pairs = body.apply("quotient", body.let(nv.plus(size, body.let(nv.minus(both, nv.ONE)))), both)
    index, block = Slot(e.names.fresh("pair"), "i64"), body.block()
    start = block.let(nv.times(index, both))
    middle = block.apply("min", block.let(nv.plus(start, width)), size)
    end = block.apply("min", block.let(nv.plus(start, both)), size)
    _merge(block, (start, middle, end, size), order, other, key, backwards=bool(backwards))
    body.add(For(index, pairs, tuple(block.statements)))
    body.add(Copy(order.pointer, nv.ZERO, other.pointer, nv.ZERO, size, "i64"))
    body.add(Assign(width, both))
    e.add(While((), Apply("lt", (width, size), "b1"), tuple(body.statements)))
    return order


def _number(e: Emitter, order: nv.View, size: Expr, key: Key) -> None:
    with e.loop(size) as (index, inner):
        inner.store(order, (index,), index)
        x = key(inner, index)
        if x.code in FLOATS:
            inner.exit_if(
                Apply("ne", (x, x), "b1"), "a number that is none has no place in an order"
            )


def _merge(
    e: Emitter,
    bounds: tuple[Expr, Expr, Expr, Expr],
    order: nv.View,
    other: nv.View,
    key: Key,
    *,
    backwards: bool,
) -> None:
    """Two runs that are in order as one."""
    start, middle, end, size = bounds
    left, right = e.variable("left", start), e.variable("right", middle)
    with e.loop(e.let(nv.minus(end, start))) as (index, inner):
        last = inner.let(nv.minus(size, nv.ONE))
        here, there = (inner.apply("min", place, last) for place in (left, right))
        a, b = (inner.load(order, (place,)) for place in (here, there))
        x, y = key(inner, a), key(inner, b)
        y_first = inner.apply("gt" if backwards else "lt", y, x, code="b1")
        left_over = inner.apply("ge", left, middle, code="b1")
        right_left = inner.apply("lt", right, end, code="b1")
        takes_right = inner.apply("and", right_left, inner.apply("or", left_over, y_first))
        inner.store(
            other,
            (inner.let(nv.plus(start, index)),),
            inner.apply("select", takes_right, b, a, code="i64"),
        )
        step = inner.apply("i64", takes_right, code="i64")
        inner.add(Assign(left, Apply("sub", (Apply("add", (left, nv.ONE), "i64"), step), "i64")))
        inner.add(Assign(right, Apply("add", (right, step), "i64")))


@lowers("searchsorted")
def _searchsorted(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Where numbers belong in a vector, by NumPy's own steps: they decide where it is in no order."""
    x, given = site.in_memory(eqn.args[0]), site.operand(eqn.args[1])
    side = eqn.params.get("side", Const("left"))
    known = set(eqn.params) <= {"side"} and side in (Const("left"), Const("right"))
    if len(x.dims) != 1 or "b1" in (x.code, given.code) or not known:
        raise nv.Unlowered("`searchsorted` of this kind")
    site.write_all()
    values = site.view(given)
    places = _Places(site.e, x, "i64" if x.code == values.code == "i64" else "f64", side)
    if not values.dims:
        return nv.Scalar(places.of(site.e, site.e.load(values, ())), nv.NUMPY, 48)
    made = site.allocate(tuple(map(site.e.size, values.dims)), "i64", eqn.outs)

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        e.store(made, at, places.of(e, e.load(values, at)))

    in_order(site.e, values.dims, element)
    return made


class _Places:
    """A binary search, which begins where the one before has ended."""

    def __init__(self, e: Emitter, x: nv.View, code: Code, side: Atom):
        self.x = x
        self.code: Code = code
        self.equal_goes_on = side == Const("right")
        self.size = e.let(x.dims[0])
        self.low, self.high = e.variable("low", nv.ZERO), e.variable("high", self.size)
        self.last = e.variable("last", Constant(math.inf if code == "f64" else 2**63 - 1, code))

    def of(self, e: Emitter, value: Expr) -> Expr:
        """Where a number belongs."""
        value = e.let(converted(e, value, self.code))
        ahead = self.goes_before(e, self.last, value)
        wider = e.apply("min", e.let(nv.plus(self.high, nv.ONE)), self.size)
        e.add(Assign(self.low, Apply("select", (ahead, self.low, nv.ZERO), "i64")))
        e.add(Assign(self.high, Apply("select", (ahead, self.size, wider), "i64")))
        e.add(Assign(self.last, value))
        body = e.block()
        between = body.let(nv.minus(self.high, self.low))
        middle = body.let(nv.plus(self.low, body.apply("quotient", between, nv.integer(2))))
        item = converted(body, body.load(self.x, (middle,)), self.code)
        further = self.goes_before(body, item, value)
        beyond = body.let(nv.plus(middle, nv.ONE))
        body.add(Assign(self.low, Apply("select", (further, beyond, self.low), "i64")))
        body.add(Assign(self.high, Apply("select", (further, self.high, middle), "i64")))
        e.add(While((), Apply("lt", (self.low, self.high), "b1"), tuple(body.statements)))
        return e.variable("place", self.low)

    def goes_before(self, e: Emitter, a: Expr, b: Expr) -> Expr:
        """Whether a number of the vector stands before where another belongs; NaN is the greatest."""
        if self.equal_goes_on:
            return e.apply("not", self.is_less(e, b, a))
        return self.is_less(e, a, b)

    def is_less(self, e: Emitter, a: Expr, b: Expr) -> Expr:
        less = e.apply("lt", a, b, code="b1")
        if self.code not in FLOATS:
            return less
        only_b = e.apply("and", e.apply("ne", b, b, code="b1"), e.apply("eq", a, a, code="b1"))
        return e.apply("or", less, only_b)
