"""Items of containers of known length, chosen by a number that is computed, or one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.records import replace
from ..form.loopform import Constant, Expr
from ..lower.lowering import BlockLowering
from ..lower.sequences.sequences import item_at, numbers
from ..lower.structure import wrapped
from ..values.complexes import is_complex
from ..values.layouts import must_be_open
from ..values.numbers import as_float_origin, chosen_origin, exact_float
from ..values.values import Lazy, Scalar, StaticValue, Tuple, Unlowered, Value

Reader = Callable[[BlockLowering, Expr], Value]


def item_by_number(site: BlockLowering, value: Tuple, index: Scalar) -> Value:
    """An item by an index that is computed: one comparison for each."""
    e = site.e
    if not value.items:
        raise Unlowered("an item of a container that is chosen at run time")
    position = wrapped(site, index, Constant(len(value.items), "i64"))
    is_there = [
        e.apply("eq", position, Constant(k, "i64"), code="b1") for k in range(1, len(value.items))
    ]
    return _chosen_item(site, is_there, value.items)


def _chosen_item(site: BlockLowering, is_there: Sequence[Expr], items: Sequence[Value]) -> Value:
    """The first of some values, or the one that a condition says: numbers, or containers built alike."""
    first = items[0]
    if isinstance(first, Tuple) and not is_complex(first):
        if not all(isinstance(x, Tuple) and _built_alike(x, first) for x in items):
            raise Unlowered("an item of a container that is chosen at run time")
        must_be_open(first)
        parts = zip(*(x.items for x in items if isinstance(x, Tuple)), strict=True)
        return replace(first, items=tuple(_chosen_item(site, is_there, part) for part in parts))
    if isinstance(first, StaticValue) and all(_same_known(x, first) for x in items):
        return first
    return _chosen_number(site, is_there, [site.as_scalar(item) for item in items])


def _same_known(a: Value, b: StaticValue) -> bool:
    return isinstance(a, StaticValue) and type(a.value) is type(b.value) and a.value == b.value


def _built_alike(a: Tuple, b: Tuple) -> bool:
    return (a.form, a.keys, a.type) == (b.form, b.keys, b.type)


def _chosen_number(
    site: BlockLowering, is_there: Sequence[Expr], items: Sequence[Scalar]
) -> Scalar:
    """One of some numbers; where they are of several types, as a float that knows whose it is."""
    e = site.e
    if len({s.code for s in items}) > 1:
        if not {s.code for s in items} <= {"f64", "i64"}:
            raise Unlowered("one of several numbers of different types")
        items = [Scalar(exact_float(e, s), as_float_origin(s)) for s in items]
    chosen, origin = items[0].expr, items[0].origin
    for here, item in zip(is_there, items[1:], strict=True):
        chosen = e.apply("select", here, item.expr, chosen, code=item.code)
        origin = chosen_origin(e, here, item.origin, origin)
    return Scalar(chosen, origin, max(s.bits for s in items))


def changed_by_number(
    site: BlockLowering, value: Value, path: Sequence[Value], change: Callable[[Value], Value]
) -> Value:
    """A container with the part changed that a path leads to, whose steps may be computed."""
    if not path:
        return change(value)
    step, *rest = path
    if not isinstance(value, Tuple) or is_complex(value) or not isinstance(step, Scalar):
        raise Unlowered("a write to an item that is chosen at run time")
    must_be_open(value)
    position = wrapped(site, step, Constant(len(value.items), "i64"))
    items: list[Value] = []
    for k, item in enumerate(value.items):
        after = changed_by_number(site, item, rest, change)
        here = site.e.apply("eq", position, Constant(k, "i64"), code="b1")
        items.append(_chosen_item(site, [here], [item, after]))
    return replace(value, items=tuple(items))


def items_in_order(site: BlockLowering, value: Tuple) -> Reader:
    """What gives each item in a loop over a container of numbers, or of containers built alike."""
    must_be_open(value)
    return _reader(site, value.items)


def _reader(site: BlockLowering, items: Sequence[Value]) -> Reader:
    """Numbers are put into memory, part by part."""
    first = items[0]
    if isinstance(first, Tuple) and not is_complex(first):
        if not all(isinstance(x, Tuple) and _built_alike(x, first) for x in items):
            raise Unlowered("a loop over things that are not built alike")
        must_be_open(first)
        columns = zip(*(x.items for x in items if isinstance(x, Tuple)), strict=True)
        readers = [_reader(site, column) for column in columns]
        return lambda inner, k: replace(first, items=tuple(r(inner, k) for r in readers))
    if isinstance(first, StaticValue) and all(_same_known(x, first) for x in items):
        return lambda inner, k: first
    if not all(isinstance(x, (Scalar, Lazy)) for x in items):
        raise Unlowered("a loop over something that is no range, array or list of numbers")
    made = numbers(site.e, [site.as_scalar(item) for item in items], "items")
    return lambda inner, k: item_at(inner.e, made, k)
