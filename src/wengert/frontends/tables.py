"""Tables of data (pandas, polars, xarray): what a program takes out of them is read anew in every call.

A table is data that was there before the program ran. What the program does with it alone (a column, a filter,
a group, a mean) is run as it is while the program is read, to see what comes out: an array, a number or a text, which
is read like a global from there on, or another table. Where a table meets values of the program,
`columns_in_python` takes over.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..ir.graph import Atom, Const, Var
from ..ir.types import PICTURE, Static
from ..ops import structure as st
from . import columns_in_python
from .columns_in_python import Column, Frame, is_numbered
from .failing import fail_now
from .shown import is_data, makes_tables
from .values import Closure, Items, Native, Value, list_of, tuple_of

if TYPE_CHECKING:
    from .interpreter import Interpreter

Step = Callable[[Any], Any]
Args = Sequence[Value]
Kwargs = Mapping[str, Value]

_ASKING = frozenset(
    (
        len, list, tuple, sum, zip, enumerate, min, max, sorted, reversed, abs, round, float, int, bool,
        isinstance, type, hasattr, getattr, dict, set, any, all, iter, is_numbered,
    )
)  # fmt: skip
_LIBRARIES = ("numpy", "math")
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


class Part:
    """What some steps lead to from a table; `now` takes them again."""

    __slots__ = ("__weakref__", "_steps", "_table", "name")

    def __init__(self, table: Any, steps: tuple[Step, ...] = (), name: str = "table"):
        self._table = table
        self._steps = steps
        self.name = name

    @property
    def now(self) -> Any:
        found = self._table
        for step in self._steps:
            found = step(found)
        return found

    def after(self, step: Step, key: Any = None) -> Part:
        """What one step more leads to; a column that the key names gives its name to what is made of it."""
        named = isinstance(key, str) and key.isidentifier() and not hasattr(builtins, key)
        return Part(self._table, (*self._steps, step), key if named else self.name)

    def fails(self) -> Any:
        """What the last step raises."""
        return self.now


def is_table(value: Any) -> bool:
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
        return _as_frame(it, table)
    if name in _EFFECTS or (name.startswith("to_") and name not in _CONVERSIONS):
        return _called_for_its_effect(it, table, name, args, kwargs)
    inplace = kwargs.get("inplace", Const(False))
    if name in _CHANGES or inplace != Const(False):
        what = "draws from a table at random" if name == "sample" else "changes a table"
        raise _refused(it, f"`.{name}()` {what}")
    try:
        given = [known(it, arg) for arg in args]
        named = {key: known(it, arg) for key, arg in kwargs.items()}
    except LookupError:
        return _method_of_column(it, table, name, args, kwargs)
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
    from .calls import draw

    params = {"name": Const(name)}
    part = table.value if isinstance(table.value, Part) else _known_part(it, table.value)
    found = it.builder.emit_with(st.getattr_, (packed(it, part),), params, kind=PICTURE)
    return draw(it, found, args, kwargs)


def _as_frame(it: Interpreter, table: Const) -> Value:
    from .calls import call

    return call(it, Const(Frame), [table], {})


def _method_of_column(
    it: Interpreter, table: Const, name: str, args: Args, kwargs: Kwargs
) -> Value:
    """A method of a column that is given values of the program."""
    from .attributes import call_method
    from .calls import call as call_it

    if hasattr(actual(table.value), "columns"):
        if name == "assign":
            return call_method(it, _as_frame(it, table), name, args, kwargs)
        if name == "apply" and len(args) == 1 and kwargs == {"axis": Const(1)}:
            return call_it(it, Const(columns_in_python.by_rows), [table, *args], {})
    if not (_is_column_of_table(actual(table.value)) and hasattr(Column, name)):
        raise _refused(it, f"the method `{name}` of a table is given values of the program")
    return call_method(it, as_column(it, table), name, args, kwargs)


def item(it: Interpreter, table: Const, index: Value) -> Value:
    """`table[index]`."""
    try:
        key = known(it, index)
    except LookupError:
        return _item_of_turn(it, table, index)
    return taken(it, table, lambda found: found[now(key)], ("item", key))


def _item_of_turn(it: Interpreter, table: Const, index: Value) -> Value:
    """An item whose index only the run knows: of a column whose rows are numbered, or by its place (`iloc`)."""
    from .items import subscript

    if isinstance(index, Items) and index.form == "tuple" and len(index.values) == 2:
        row, name = index.values
        column = taken(it, table, lambda found: found.obj, ("object",))
        by_place = type(actual(table.value)).__name__ in _BY_PLACE
        if not by_place and isinstance(name, Const) and isinstance(column, Const):
            return item(it, item(it, column, name), row)  # type: ignore[arg-type]
    if _is_column_of_table(_owner(actual(table.value))):
        if it.known_truth(taken(it, table, _goes_by_places, ("goes by places",))):
            items = lambda found: np.asarray(_owner(found))
            return subscript(it, taken(it, table, items, ("items",)), index)
    raise _refused(it, "an item of a table whose index only the run knows")


_BY_PLACE = ("_iLocIndexer", "_iAtIndexer")


def _owner(found: Any) -> Any:
    """What `iloc` and its kin belong to."""
    return found.obj if type(found).__name__ in (*_BY_PLACE, "_LocIndexer", "_AtIndexer") else found


def _goes_by_places(found: Any) -> bool:
    """Whether an item of a column, of a number that is not negative, is the one in that place."""
    return type(found).__name__ in _BY_PLACE or is_numbered(_owner(found).index)


def _is_column_of_table(found: Any) -> bool:
    return "Series" in _classes(found) and hasattr(found, "index")


def _classes(found: Any) -> set[str]:
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
    before = table.value if isinstance(table.value, Part) else _known_part(it, table.value)
    parts = it.reading.parts_of_tables
    place = id(before), _comparable(key)
    if place not in parts:
        named = key[1] if key[0] in ("item", "attribute") and key[1] not in _OF_COLUMNS else None
        parts[place] = before, before.after(step, named), key
    return _as_value(it, parts[place][1])


def _known_part(it: Interpreter, table: Any) -> Part:
    parts = it.reading.parts_of_tables
    if (id(table), "") not in parts:
        parts[id(table), ""] = table, Part(table), ()
    return parts[id(table), ""][1]


def _comparable(key: Any) -> Any:
    if isinstance(key, (tuple, list)):
        return tuple(map(_comparable, key))
    return (type(key), key) if isinstance(key, (str, int, float, bool, type(None))) else id(key)


def _as_value(it: Interpreter, part: Part) -> Value:
    from .names import lift

    try:
        found = part.now
    except Exception:  # it is for the run to raise it
        fail_now(it, part.fails)
    if isinstance(found, Iterator):
        return taken(it, Const(part), list, ("list",))
    if isinstance(found, (list, tuple)) and any(map(_holds_data, found)):
        count = part.after(len)
        it.reading.guards[id(count), "now"] = count, "now", Static(len(found))
        make = list_of if isinstance(found, list) else tuple_of
        return make(*(taken(it, Const(part), _item_at(k), ("at", k)) for k in range(len(found))))
    if is_data(found):
        return Const(part)
    return lift(it, part, part.name, found, key="now")


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
    return taken(it, first, run, ("operation", function, tuple(given)))  # type: ignore[arg-type]


def call(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value | None:
    """A call of a function of a library that is given a table; None if it is to be read as any other call."""
    given = (*args, *kwargs.values())
    if is_table(Const(function)):
        return method(it, Const(function), "__call__", args, kwargs)
    if args and function in (isinstance, type) and _stands_for(args[0]):
        return _class_of(it, function, args)
    if function is isinstance and len(args) == 2 and args[1] == Const(Column):
        return Const(False)  # none is ever a value that only the run knows
    if any(map(is_column, given)) and _is_of_numpy(function):
        return _of_column(it, function, args, kwargs)
    if makes_tables(function):
        return _made(it, function, args, kwargs)
    if not any(map(is_table, given)):
        return None
    if str(getattr(function, "__module__", None)).startswith("scipy."):
        return _given_arrays(it, function, args, kwargs)
    if not _asks(function):
        return None
    names, count = tuple(kwargs), len(args)

    def run(*given: Any) -> Any:
        return function(*given[:count], **dict(zip(names, given[count:], strict=True)))

    found = operation(it, run, given)
    if found is not None:
        return found
    from .calls import call_known

    seen = as_column if _is_of_numpy(function) else iterated
    as_seen = lambda value: seen(it, value) if is_table(value) else value
    return call_known(
        it, function, list(map(as_seen, args)), {k: as_seen(v) for k, v in kwargs.items()}
    )


def _made(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value:
    """What a function or a class of pandas makes of what is known, or a column of an array of the program."""
    try:
        given = [known(it, arg) for arg in args]
        named = {key: known(it, arg) for key, arg in kwargs.items()}
    except LookupError:
        if getattr(function, "__name__", "") == "Series" and len(args) == 1:
            return _made_column(it, args[0], dict(kwargs))
        raise _refused(it, "a table is made of values of the program") from None
    run = lambda made_by: made_by(*map(now, given), **{k: now(v) for k, v in named.items()})
    return taken(it, Const(function), run, ("made", tuple(given), tuple(named.items())))


def _made_column(it: Interpreter, data: Value, options: dict[str, Value]) -> Value:
    """`pandas.Series` of numbers of the program."""
    from .calls import call as call_it

    options.pop("name", None)
    index = options.pop("index", Const(None))
    is_dict = isinstance(data, Items) and data.form == "dict"
    if options or is_dict or not (is_table(index) or index == Const(None)):
        raise _refused(it, "a table is made of values of the program")
    return call_it(it, Const(columns_in_python.series), [data, index], {})


def _given_arrays(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value:
    """A call of a function that makes arrays of what it is given."""
    from .calls import call_known

    seen = lambda value: as_array(it, value) if is_table(value) else value
    return call_known(it, function, list(map(seen, args)), {k: seen(v) for k, v in kwargs.items()})


def _of_column(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value:
    """A function of NumPy's that is given a column of values of the program."""
    from .calls import call as call_it
    from .calls import call_known
    from .columns_in_python import TOGETHER, one_by_one

    args = [as_column(it, arg) if is_table(arg) else arg for arg in args]  # type: ignore[arg-type]
    if isinstance(function, np.ufunc) and not kwargs:
        return call_it(it, Const(one_by_one), [Const(function), *args], {})
    if function in TOGETHER and is_column(args[0]):
        return call_it(it, Const(TOGETHER[function]), args, kwargs)
    if getattr(function, "__name__", "") in _ASKING_METHODS:
        raise _refused(it, f"`np.{function.__name__}` of a column that holds values of the program")
    as_values = lambda value: value["values"] if is_column(value) else value
    named = {
        key: as_values(as_column(it, arg) if is_table(arg) else arg)  # type: ignore[arg-type]
        for key, arg in kwargs.items()
    }
    return call_known(it, function, list(map(as_values, args)), named)


_ASKING_METHODS = (
    "argsort", "choose", "compress", "cumprod", "diagonal", "partition", "put", "repeat", "resize",
    "squeeze", "swapaxes", "take", "transpose",
)  # fmt: skip
"""Functions of NumPy's that give a column where pandas has a method of that name."""


def _is_of_numpy(function: Any) -> bool:
    return isinstance(function, np.ufunc) or str(getattr(function, "__module__", "")).startswith(
        "numpy"
    )


def _stands_for(value: Value) -> str:
    """The name of the class of pandas that an object stands for; nothing for others."""
    names: dict[Any, str] = {Column: "Series", Frame: "DataFrame"}
    return names.get(value.type, "") if isinstance(value, Items) else ""


def _class_of(it: Interpreter, function: Any, args: Args) -> Value:
    """`isinstance` of what stands for an object of pandas."""
    try:
        asked = it.constant(args[1]) if function is isinstance else None
    except LookupError:
        asked = None
    if asked is None:
        raise _refused(it, "the class of a column that holds values of the program is asked for")
    classes = asked if isinstance(asked, tuple) else (asked,)
    fitting = {_stands_for(args[0]), "NDFrame", "object"}
    own = args[0].type  # type: ignore[union-attr]
    return Const(any(cls is own or cls.__name__ in fitting for cls in classes))


def refuse_packing(it: Interpreter, value: Items) -> None:
    """Refuse to make a run-time value of what stands for an object of pandas."""
    if _stands_for(value):
        raise _refused(it, "a column that holds values of the program is stored or passed on")


def refuse_choice(it: Interpreter, *values: Value) -> None:
    """Refuse a value that is a table on one of two paths, of which only the run knows which is taken."""
    if any(map(is_table, values)):
        raise _refused(it, "which table it is, or whether it is one, only the run knows")


def refuse_columns(it: Interpreter, result: Value) -> None:
    """Refuse a result that is, or holds, what stands for an object of pandas."""
    if _stands_for(result):
        raise _refused(it, "a column that holds values of the program is a result")
    for value in result.values if isinstance(result, Items) else ():
        refuse_columns(it, value)


def is_column(value: Value) -> TypeGuard[Items]:
    """Whether a value is a column of values of the program."""
    return isinstance(value, Items) and value.type is Column


def as_column(it: Interpreter, table: Const) -> Value:
    """A column of a table that is to be computed with, beside values of the program; an index as an array."""
    from .calls import call as call_it

    found = actual(table.value)
    if "Index" in _classes(found):
        return as_array(it, table)
    if not _is_column_of_table(found):
        raise _refused(it, "a table is computed with, beside values of the program")
    return call_it(it, Const(Column), [as_array(it, table), attribute(it, table, "index")], {})


def _asks(function: Any) -> bool:
    """Whether a function has no effect, and may be run while the program is read."""
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    if module == builtins.__name__ or function is is_numbered:
        return function in _ASKING
    package, _, inner = module.partition(".")
    writes = getattr(function, "__name__", "") in _WRITING
    return package in _LIBRARIES and not inner.startswith("random") and not writes


_WRITING = (
    "save", "savetxt", "savez", "savez_compressed", "copyto", "put", "place", "putmask", "fill_diagonal",
)  # fmt: skip


def known(it: Interpreter, value: Value) -> Any:
    """A value that is known when the program is read; a table as a part.

    Raises:
        LookupError: it depends on the run.
    """
    from .closures import made_alone

    if is_table(value):
        constant = value.value  # type: ignore[union-attr]
        return constant if isinstance(constant, Part) else _known_part(it, constant)
    if isinstance(value, Items) and value.form in ("list", "tuple"):
        listed = [known(it, each) for each in value.values]
        return listed if value.form == "list" else tuple(listed)
    if isinstance(value, Items) and value.form == "dict":
        return {key: known(it, each) for key, each in zip(value.keys, value.values, strict=True)}
    if isinstance(value, Closure):
        function = value.function or made_alone(value)
        if function is None or not _computes_alone(it, function):
            raise LookupError
        return function
    if isinstance(value, Var):
        holder, _ = it.reading.read_from.get(value, (None, ""))
        if isinstance(holder, Part):
            return holder
    return it.constant(value)


_FIXED = (BuiltinFunctionType, ModuleType, type, np.ufunc, bool, int, float, str)


def _computes_alone(it: Interpreter, function: FunctionType) -> bool:
    """Whether what a function of the user's gives depends on what it is given, and on what never changes."""
    bound = {key for _, key in it.reading.bound_outside}
    pending, seen = [function], set[FunctionType]()
    while pending:
        each = pending.pop()
        used = {name for name in each.__code__.co_names if name in each.__globals__}
        seen.add(each)
        if each.__closure__ or used & bound:
            return False
        for found in (each.__globals__[name] for name in used):
            if isinstance(found, FunctionType) and found not in seen:
                pending.append(found)
            elif not isinstance(found, (*_FIXED, FunctionType)):
                return False
    return True


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


def _refused(it: Interpreter, what: str) -> Exception:
    return it.unsupported(what, "Take the columns as arrays: `table['x'].to_numpy()`.")
