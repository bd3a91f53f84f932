"""Tables of data (pandas, polars, xarray): what a program takes out of them is read anew in every call.

A table is data that was there before the program ran. What the program does with it alone (a column, a filter,
a group, a mean) is run as it is while the program is read, to see what comes out: an array, a number or a text, which
is read like a global from there on, or another table. Where a table meets values of the program,
`columns` takes over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeGuard

import numpy as np

from ...ir.graph import Atom, Const, Var
from ...ir.types import PICTURE
from ...ops import structure as st
from ..boundary.foreign_libraries import is_data
from ..domain.parts import Part, Step
from ..domain.values import Args, Closure, Items, Kwargs, Native, Value, held_by, list_of, tuple_of
from ..functions.closures import made_alone
from ..machine.failing import fail_now
from ..machine.guards import rely_on
from ..machine.interpreter import Interpreter
from ..polyfills.pandas.indexes import is_numbered

_OF_COLUMNS = (
    "values",
    "loc",
    "iloc",
    "at",
    "iat",
    "index",
    "columns",
    "shape",
    "size",
    "array",
    "T",
)
"""What says nothing of which column it is."""


def is_table(value: Any) -> TypeGuard[Const]:
    """Whether a value that is known is a table, or a part of one that is a table itself."""
    return isinstance(value, Const) and (isinstance(value.value, Part) or is_data(value.value))


def actual(constant: Any) -> Any:
    """The object itself."""
    return constant.now if isinstance(constant, Part) else constant


# --- what is taken out of a table -----------------------------------------------------------------


def attribute(it: Interpreter, table: Const, name: str) -> Value:
    """`table.name`."""
    found = getattr(actual(table.value), name, None)
    if name in _EFFECTS or (callable(found) and not is_data(found)):
        return Native(name, lambda it, args, kwargs: method(it, table, name, args, kwargs))
    return taken(it, table, lambda found: getattr(found, name), ("attribute", name))


def method(it: Interpreter, table: Const, name: str, args: Args, kwargs: Kwargs) -> Value:
    """`table.name(*args, **kwargs)`."""
    if name == "copy" and hasattr(actual(table.value), "columns") and not args and not kwargs:
        return it.table_as_frame(table)
    if name in _EFFECTS or (name.startswith("to_") and name not in _CONVERSIONS):
        return _called_for_its_effect(it, table, name, args, kwargs)
    inplace = kwargs.get("inplace", Const(False))
    if name in _CHANGES or inplace != Const(False):
        what = "draws from a table at random" if name == "sample" else "changes a table"
        raise refused(it, f"`.{name}()` {what}")
    try:
        given = [known(it, arg) for arg in args]
        named = {key: known(it, arg) for key, arg in kwargs.items()}
    except LookupError:
        return it.method_of_table(table, name, args, kwargs)
    call = lambda found: getattr(found, name)(
        *map(now, given), **{k: now(v) for k, v in named.items()}
    )
    return taken(it, table, call, ("method", name, tuple(given), tuple(named.items())))


_CHANGES = ("insert", "pop", "update", "sample", "clear", "append", "setdefault", "popitem")
_EFFECTS = ("plot", "hist", "boxplot", "info")
_CONVERSIONS = ("to_numpy", "to_list", "to_dict", "to_frame", "to_records", "to_series", "to_flat_index",
                "to_period", "to_timestamp", "to_string", "to_pydatetime")  # fmt: skip


def _called_for_its_effect(
    it: Interpreter, table: Const, name: str, args: Args, kwargs: Kwargs
) -> Value:

    params = {"name": Const(name)}
    shown = packed(it, part_of(it, table))
    found = it.builder.emit_with(st.getattr_, (shown,), params, kind=PICTURE)
    return it.draw(found, args, kwargs)


def item(it: Interpreter, table: Const, index: Value) -> Value:
    """`table[index]`."""
    try:
        key = known(it, index)
    except LookupError:
        return _item_of_turn(it, table, index)
    return taken(it, table, lambda found: found[now(key)], ("item", key))


def _item_of_turn(it: Interpreter, table: Const, index: Value) -> Value:
    """An item whose index only the run knows: of a column whose rows are numbered, or by its place (`iloc`)."""
    if isinstance(index, Items) and index.form == "tuple" and len(index.values) == 2:
        row, name = index.values
        column = taken(it, table, lambda found: found.obj, ("object",))
        by_place = type(actual(table.value)).__name__ in _BY_PLACE
        if not by_place and isinstance(name, Const) and isinstance(column, Const):
            return it.getitem(item(it, column, name), row)
    if is_column_of_table(_owner(actual(table.value))):
        if it.known_truth(taken(it, table, _goes_by_places, ("goes by places",))):
            items = lambda found: np.asarray(_owner(found))
            return it.getitem(taken(it, table, items, ("items",)), index)
    raise refused(it, "an item of a table whose index only the run knows")


_BY_PLACE = ("_iLocIndexer", "_iAtIndexer")


def _owner(found: Any) -> Any:
    """What `iloc` and its kin belong to."""
    return found.obj if type(found).__name__ in (*_BY_PLACE, "_LocIndexer", "_AtIndexer") else found


def _goes_by_places(found: Any) -> bool:
    """Whether an item of a column, of a number that is not negative, is the one in that place."""
    return type(found).__name__ in _BY_PLACE or is_numbered(_owner(found).index)


def is_column_of_table(found: Any) -> bool:
    return "Series" in classes_of(found) and hasattr(found, "index")


def classes_of(found: Any) -> set[str]:
    """The names of the classes of an object: of pandas, whose module is not loaded here."""
    return {cls.__name__ for cls in type(found).__mro__}


def iterated(it: Interpreter, table: Const) -> Value:
    """What walking over a table gives, as a list."""
    found = actual(table.value)
    if hasattr(found, "tolist"):
        return taken(it, table, lambda found: found.tolist(), ("tolist",))
    return taken(it, table, list, ("list",))


def as_array(it: Interpreter, table: Const) -> Value:
    """A table as NumPy sees it."""
    return taken(it, table, np.asarray, ("array",))


def taken(it: Interpreter, table: Const, step: Step, key: tuple[Any, ...]) -> Value:
    """What one step leads to; steps with one key are the same."""
    before = part_of(it, table)
    parts = it.reading.parts_of_tables
    place = id(before), _comparable(key)
    if place not in parts:
        named = key[1] if key[0] in ("item", "attribute") and key[1] not in _OF_COLUMNS else None
        parts[place] = before, before.after(step, named), key
    return _as_value(it, parts[place][1])


def part_of(it: Interpreter, table: Const) -> Part:
    """A table, or anything else that is known, as a part of itself."""
    whole, parts = table.value, it.reading.parts_of_tables
    if isinstance(whole, Part):
        return whole
    if (id(whole), "") not in parts:
        parts[id(whole), ""] = whole, Part(whole), ()
    return parts[id(whole), ""][1]


def _comparable(key: Any) -> Any:
    if isinstance(key, (tuple, list)):
        return tuple(map(_comparable, key))
    return (type(key), key) if isinstance(key, (str, int, float, bool, type(None))) else id(key)


def _as_value(it: Interpreter, part: Part) -> Value:

    try:
        found = part.now
    except Exception:  # it is for the run to raise it
        rely_on(it.reading.guards, part, "raises", found=True)
        fail_now(it, part.fails)
    if isinstance(found, Iterator):
        return taken(it, Const(part), list, ("list",))
    if isinstance(found, (list, tuple)) and any(map(_holds_data, found)):
        count = part.after(len)
        rely_on(it.reading.guards, count, "now", len(found))
        make = list_of if isinstance(found, list) else tuple_of
        return make(*(taken(it, Const(part), _item_at(k), ("at", k)) for k in range(len(found))))
    if is_data(found):
        return Const(part)
    return it.lift(part, part.name, found, key="now")


def _item_at(k: int) -> Step:
    return lambda found: found[k]


def _holds_data(found: Any) -> bool:
    if isinstance(found, (list, tuple)):
        return any(map(_holds_data, found))
    return is_data(found)


# --- what tables are given to ---------------------------------------------------------------------


def operation(it: Interpreter, function: Callable[..., Any], values: Args) -> Value | None:
    """An operation on values of which one is a table, if all are known; else None."""
    try:
        given = [known(it, value) for value in values]
    except LookupError:
        return None
    first = next(value for value in values if is_table(value))
    run = lambda _: function(*map(now, given))
    return taken(it, first, run, ("operation", function, tuple(given)))


def known(it: Interpreter, value: Value) -> Any:
    """A value that is known when the program is read; a table as a part.

    Raises:
        LookupError: it depends on the run.
    """
    from ..functions.purity import is_pure

    if is_table(value):
        return part_of(it, value)
    if isinstance(value, Items) and value.form in ("list", "tuple"):
        listed = [known(it, each) for each in value.values]
        return listed if value.form == "list" else tuple(listed)
    if isinstance(value, Items) and value.form == "dict":
        return {key: known(it, each) for key, each in zip(value.keys, value.values, strict=True)}
    if isinstance(value, Closure):
        function = value.function or made_alone(value)
        if function is None or function.__closure__ or not is_pure(it, value):
            raise LookupError
        return function
    if isinstance(value, Var) and value in it.reading.read_from:
        holder, key = it.reading.read_from[value]
        if isinstance(holder, Part):
            return holder
        if isinstance(held_by(holder, key), (int, float, str)):
            return Part(holder, (lambda holder: held_by(holder, key),))
    return it.constant(value)


def now(given: Any) -> Any:
    """What was known, as it is in this call."""
    if isinstance(given, Part):
        return given.now
    if isinstance(given, (list, tuple)):
        return type(given)(map(now, given))
    if isinstance(given, dict):
        return {key: now(each) for key, each in given.items()}
    return given


def packed(it: Interpreter, part: Part) -> Atom:
    """A part of a table as a value of the run, which is shown or passed on."""
    params = {"name": Const("table"), "holder": Const(part), "key": Const("now")}
    return it.builder.emit_with(st.global_, (), params, name="table", kind=PICTURE)


def refuse_change(it: Interpreter, target: Value) -> None:
    """Refuse a change of a table, which all its names would see."""
    if is_table(target) and not classes_of(actual(target.value)).isdisjoint(_CHANGEABLE):
        raise it.unsupported(
            "a table is changed, which is read as data here",
            "Make a new one (`y = y * 2`), change a copy, `table.copy()`, or take the columns as arrays:\n"
            "`table['x'].to_numpy()`.",
        )


_CHANGEABLE = ("Series", "DataFrame", "NDFrame", "_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer",
               "DataArray", "Dataset")  # fmt: skip


def refused(it: Interpreter, what: str) -> Exception:
    return it.unsupported(what, "Take the columns as arrays: `table['x'].to_numpy()`.")
