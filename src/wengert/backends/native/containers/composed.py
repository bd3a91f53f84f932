"""Values as the variables that they are made of: to keep them, and to pass them to procedures and back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

from ....ir.records import replace
from ..form.loopform import Apply, Constant, Expr, Load, Slot
from ..lower.sequences import columns, sequences
from ..lower.sequences.columns import Column, GrowingList
from ..values import values
from ..values.values import Root, StaticValue

_COMPOSED = (
    values.Scalar, values.DynamicOwner, values.View, values.Tuple, values.Range, values.Bounds, columns.GrowingList,
    columns.Numbers, columns.NumbersOfAnyOrigin, columns.Arrays, columns.ListsOfOneLength, columns.Same,
    columns.Converted, sequences.Lists, sequences.RaggedArrays,
)  # fmt: skip


def mapped(value: Any, change: Callable[[Expr], Slot], *, lasts: bool | None = None) -> Any:
    """A value with other variables in the place of its own; `lasts` says that its memory stays as it is."""
    match value:
        case Constant() | StaticValue():
            return value
        case Slot() | Apply() | Load():
            return change(value)
        case Root(pointer=pointer, name=name, bound=bound):
            stays = value.lasts if lasts is None else lasts
            return Root(change(pointer), name, lasts=stays, bound=mapped(bound, change))
        case list() | tuple():
            made = [mapped(item, change, lasts=lasts) for item in value]
            return made if isinstance(value, list) else tuple(made)
        case columns.Parts(columns=parts, template=template):  # a template says nothing of numbers
            return columns.Parts(mapped(parts, change, lasts=lasts), template)
        case _ if isinstance(value, _COMPOSED):
            names = type(value).__match_args__
            return replace(
                value, **{n: mapped(getattr(value, n), change, lasts=lasts) for n in names}
            )
        case _:
            return value


def words_of(value: Any) -> list[Expr]:
    """The variables that a value is made of, in the order of `mapped`."""
    found: list[Expr] = []

    def noted(expr: Expr) -> Slot:
        found.append(expr)
        return Slot("", expr.code)

    mapped(value, noted)
    return found


def key_of(value: Any) -> Hashable:
    """What two values have in common that differ in their variables alone."""
    match value:
        case Constant():
            return value
        case Slot() | Apply() | Load():
            return value.code
        case StaticValue(value=known):
            return known if isinstance(known, (str, int, type(None))) else id(known)
        case Root(lasts=lasts):
            return "memory", lasts
        case list() | tuple():
            return tuple(map(key_of, value))
        case GrowingList(column=column, count=count):
            return "list", key_of(column), key_of(count)
        case columns.Parts(columns=parts, template=template):
            return template.form, template.keys, id(template.type), key_of(parts)
        case _ if isinstance(value, _COMPOSED):
            names = type(value).__match_args__
            return type(value).__name__, *(key_of(getattr(value, name)) for name in names)
        case _:
            return value


def handles(value: GrowingList) -> list[Slot]:
    """The variables of a list that change with it: where its parts are, how long they are, and their room."""
    inner = [slot for each in _inside(value.column) for slot in (each.length, each.capacity)]
    return [value.length, value.capacity, *inner, *(r.pointer for r in value.column.roots())]


def _inside(column: Column) -> Iterator[GrowingList]:
    """The lists that a list is kept in."""
    match column:
        case sequences.Lists(flat=flat) | sequences.RaggedArrays(flat=flat):
            yield flat
            yield from _inside(flat.column)
        case columns.Parts(columns=parts):
            for part in parts:
                yield from _inside(part)
        case columns.ListsOfOneLength(flat=inner) | columns.Converted(column=inner):
            yield from _inside(inner)
        case _:
            pass
