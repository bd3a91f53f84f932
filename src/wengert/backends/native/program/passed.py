"""Values as variables of procedures: parameters and results."""

from __future__ import annotations

from typing import Any

from ....ir.records import replace
from ..containers.composed import key_of, mapped, words_of
from ..form.loopform import Code, Expr, Slot
from ..lower.sequences.columns import GrowingList
from ..values import values as nv
from ..values.emitter import Emitter
from ..values.numbers import origin_expr


def type_of(value: nv.Value) -> Any:
    match value:
        case nv.Scalar(code=code, origin=origin):
            return code, origin if isinstance(origin, int) else origin.among
        case nv.View(code=code, dims=dims):
            return code, value.root.lasts, tuple(dim == nv.ONE for dim in dims)
        case nv.StaticValue(value=known):
            return "known", known if isinstance(known, (str, int, type(None))) else id(known)
        case nv.Tuple(items=items, form=form, keys=keys, type=type_):
            return form, keys, id(type_), *map(type_of, items)
        case GrowingList():
            return key_of(value)
        case _:
            raise nv.Unlowered("a call with a range or a slice")


def exprs_of(value: nv.Value) -> list[Expr]:
    """The variables that a value is passed in."""
    match value:
        case nv.Scalar(expr=expr, origin=origin):
            return [expr] if isinstance(origin, int) else [expr, origin.expr]
        case nv.View():
            dims = [dim for dim in value.dims if dim != nv.ONE]
            return [value.pointer, value.offset, *dims, *value.strides]
        case nv.Tuple(items=items):
            return [expr for item in items for expr in exprs_of(item)]
        case GrowingList():
            return words_of(value)
        case _:
            return []


def fresh(e: Emitter, like: nv.Value, slots: list[Slot], hint: str = "result") -> nv.Value:
    """A value of the same type, in variables of its own."""

    def slot(code: Code) -> Slot:
        slots.append(e.slot(hint, code))
        return slots[-1]

    match like:
        case nv.Scalar(code=code, origin=int(origin)):
            return nv.Scalar(slot(code), origin)
        case nv.Scalar(code=code, origin=nv.DynamicOwner(among=among)):
            return nv.Scalar(slot(code), nv.DynamicOwner(slot("i64"), among))
        case nv.View(code=code):
            root = nv.Root(slot("ptr"), hint, stands_in=like.root.stands_in)
            dims = tuple(nv.ONE if dim == nv.ONE else slot("i64") for dim in like.dims)
            e.owned.append(root)
            return nv.View(root, code, dims, nv.c_strides(dims), nv.ZERO, whole=True)
        case nv.Tuple(items=items):
            return replace(like, items=tuple(fresh(e, item, slots, hint) for item in items))
        case GrowingList():
            made = mapped(like, lambda expr: slot(expr.code), lasts=False)
            e.owned += made.column.roots()
            return made
        case _:
            return like


def parameter(e: Emitter, like: nv.Value, slots: list[Slot], hint: str) -> nv.Value:
    if isinstance(like, nv.Tuple):
        return replace(like, items=tuple(parameter(e, item, slots, hint) for item in like.items))
    if isinstance(like, GrowingList):
        return _list_parameter(e, like, slots, hint)
    if not isinstance(like, nv.View):
        return fresh(e, like, slots, hint)

    def slot(part: str, code: Code) -> Slot:
        slots.append(e.slot(f"{hint}{part}", code))
        return slots[-1]

    root = nv.Root(slot("", "ptr"), hint, of_caller=True, lasts=like.root.lasts)
    offset = slot("_offset", "i64")
    dims = tuple(nv.ONE if dim == nv.ONE else slot("_size", "i64") for dim in like.dims)
    strides = tuple(slot("_stride", "i64") for _ in dims)
    return nv.View(root, like.code, dims, strides, offset)


def _list_parameter(e: Emitter, like: GrowingList, slots: list[Slot], hint: str) -> GrowingList:
    """A list: what changes with it is in variables of the procedure's own."""

    def taken(expr: Expr) -> Slot:
        slots.append(e.slot(hint, expr.code))
        return e.variable(hint, slots[-1])

    return mapped(like, taken)


def roots_of(value: nv.Value) -> list[nv.Root]:
    """The memory that a value lies in."""
    if isinstance(value, nv.Tuple):
        return [root for item in value.items for root in roots_of(item)]
    if isinstance(value, GrowingList):
        return value.column.roots()
    return [value.root] if isinstance(value, nv.View) else []


def views_of(value: nv.Value) -> list[nv.View]:
    """The arrays in a value."""
    if isinstance(value, nv.Tuple):
        return [view for item in value.items for view in views_of(item)]
    return [value] if isinstance(value, nv.View) else []


def result_exprs(value: nv.Value) -> list[Expr]:
    match value:
        case nv.Scalar(expr=expr, origin=origin):
            return [expr] if isinstance(origin, int) else [expr, origin_expr(origin)]
        case nv.View():
            return [value.pointer, *(d for d in value.dims if d != nv.ONE)]
        case nv.Tuple(items=items):
            return [expr for item in items for expr in result_exprs(item)]
        case nv.StaticValue():
            return []
        case GrowingList():
            return words_of(value)
        case _:
            raise nv.Unlowered("a function that gives a range or a slice")
