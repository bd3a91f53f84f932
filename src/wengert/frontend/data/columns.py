"""Columns of tables that meet values of the program, and what functions of libraries do with tables.

What stands for such a column, and for a table that has some, is in `polyfills.pandas.columns`.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, TypeGuard

import numpy as np

from ...ir.graph import Const
from ...ir.op import Op
from ..boundary.foreign_libraries import makes_tables
from ..domain.values import Args, Items, Kwargs, Value
from ..machine.interpreter import Interpreter
from ..polyfills.pandas import frames as frame_polyfills, functions, indexes
from ..polyfills.pandas.columns import Column
from ..polyfills.pandas.frames import Frame
from ..polyfills.pandas.functions import REFUSED, TOGETHER
from . import tables


def is_column(value: Value) -> TypeGuard[Items]:
    """Whether a value is a column of values of the program."""
    return isinstance(value, Items) and value.type is Column


def as_column(it: Interpreter, value: Value) -> Value:
    """A column of a table that stands beside values of the program; an index as an array, others as they are."""
    if tables.is_table(value):
        found = tables.actual(value.value)
        if "Index" in tables.classes_of(found):
            return tables.as_array(it, value)
        if "DataFrame" in tables.classes_of(found):
            return as_frame(it, value)
        if not tables.is_column_of_table(found):
            raise tables.refused(it, "a table is computed with, beside values of the program")
        index = tables.attribute(it, value, "index")
        return _read(it, Column, [tables.as_array(it, value), index])
    return value


def _as_values(it: Interpreter, value: Value) -> Value:
    """What NumPy makes of a table or a column; others as they are."""
    column = as_column(it, value)
    return column["values"] if is_column(column) else column


def _as_array(it: Interpreter, value: Value) -> Value:
    return tables.as_array(it, value) if tables.is_table(value) else _as_values(it, value)


def _as_list(it: Interpreter, value: Value) -> Value:
    return tables.iterated(it, value) if tables.is_table(value) else value


def _read(it: Interpreter, written: Any, args: Args) -> Value:
    """Read what is written in Python for columns."""
    return it.call(Const(written), args, {})


# --- operators and methods ------------------------------------------------------------------------


def operate(it: Interpreter, op: Op, function: Callable[..., Any], values: Args) -> Value:
    """An operation on values of which one is a table: with values of the program it is one on columns."""
    found = tables.operation(it, function, values)
    if found is not None:
        return found
    if op.name == "matmul" and tables.is_table(values[0]):
        return _read(it, frame_polyfills.product, values)
    return it.dispatch_operator(op, [as_column(it, value) for value in values])


def as_frame(it: Interpreter, table: Const) -> Value:
    """A copy of a table, which may be given columns of values of the program."""
    return _read(it, Frame, [table])


def method(it: Interpreter, table: Const, name: str, args: Args, kwargs: Kwargs) -> Value:
    """A method of a table, or of a column, that is given values of the program."""
    found = tables.actual(table.value)
    if hasattr(found, "columns"):
        if name == "assign":
            return it.call_method(as_frame(it, table), name, args, kwargs)
        if name == "apply" and len(args) == 1 and kwargs == {"axis": Const(1)}:
            return _read(it, functions.by_rows, [table, *args])
        if hasattr(Frame, name):
            return it.call_method(as_frame(it, table), name, args, kwargs)
    if not (tables.is_column_of_table(found) and hasattr(Column, name)):
        raise tables.refused(it, f"the method `{name}` of a table is given values of the program")
    return it.call_method(as_column(it, table), name, args, kwargs)


# --- functions of libraries -----------------------------------------------------------------------


def call(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value | None:
    """A call of a function of a library that is given a table; None if it is to be read as any other call."""
    given = (*args, *kwargs.values())
    if tables.is_table(Const(function)):
        return tables.method(it, Const(function), "__call__", args, kwargs)
    if makes_tables(function):
        return _made(it, function, args, kwargs)
    of_numpy = _is_of_numpy(function)
    if of_numpy and any(map(is_column, given)):
        return _of_column(it, function, args, kwargs)
    if not any(map(tables.is_table, given)):
        return None
    if str(getattr(function, "__module__", None)).startswith("scipy."):
        return _call_with(it, _as_array, function, args, kwargs)
    if not _asks(function):
        return None
    names, count = tuple(kwargs), len(args)

    def run(*given: Any) -> Any:
        return function(*given[:count], **dict(zip(names, given[count:], strict=True)))

    found = tables.operation(it, run, given)
    if found is not None:
        return found
    return _call_with(it, as_column if of_numpy else _as_list, function, args, kwargs)


def _call_with(
    it: Interpreter,
    seen: Callable[[Interpreter, Value], Value],
    function: Any,
    args: Args,
    kwargs: Kwargs,
) -> Value:
    """A call of a function that sees something else in the place of tables."""
    named = {key: seen(it, arg) for key, arg in kwargs.items()}
    return it.call_known(function, [seen(it, arg) for arg in args], named)


def _of_column(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value:
    """A function of NumPy's that is given a column of values of the program."""
    name = getattr(function, "__name__", "")
    if isinstance(function, np.ufunc) and not kwargs:
        columns = [as_column(it, arg) for arg in args]
        return _read(it, functions.one_by_one, [Const(function), *columns])
    if name in TOGETHER and args and is_column(args[0]):
        return it.call(Const(TOGETHER[name]), args, kwargs)
    if name in REFUSED or isinstance(function, np.ufunc):
        raise tables.refused(it, f"`np.{name}` of a column that holds values of the program")
    return _call_with(it, _as_values, function, args, kwargs)


def _made(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value:
    """What a function or a class of pandas makes of what is known, or a column of an array of the program."""
    try:
        given = [tables.known(it, arg) for arg in args]
        named = {key: tables.known(it, arg) for key, arg in kwargs.items()}
    except LookupError:
        name = getattr(function, "__name__", "")
        if name == "Series" and len(args) == 1:
            return _made_column(it, args[0], dict(kwargs))
        if name == "DataFrame" and not kwargs.keys() - {"data", "index", "columns"}:
            return it.call(Const(frame_polyfills.frame), args, kwargs)
        raise tables.refused(it, "a table is made of values of the program") from None
    run = lambda made_by: made_by(*tables.now(given), **tables.now(named))
    return tables.taken(it, Const(function), run, ("made", tuple(given), tuple(named.items())))


def _made_column(it: Interpreter, data: Value, options: dict[str, Value]) -> Value:
    """`pandas.Series` of numbers of the program."""
    options.pop("name", None)
    index = options.pop("index", Const(None))
    is_dict = isinstance(data, Items) and data.form == "dict"
    if options or is_dict or not (tables.is_table(index) or index == Const(None)):
        raise tables.refused(it, "a table is made of values of the program")
    return _read(it, functions.series, [data, index])


def _is_of_numpy(function: Any) -> bool:
    module = str(getattr(function, "__module__", None))
    return isinstance(function, np.ufunc) or module.startswith("numpy")


_ASKING = frozenset(
    (
        len, list, tuple, sum, zip, enumerate, min, max, sorted, reversed, abs, round, float, int, bool,
        isinstance, type, hasattr, getattr, dict, set, any, all, iter,
    )
)  # fmt: skip
_OF_INDEXES = (indexes.is_range, indexes.is_several, indexes.places_among)
_LIBRARIES = ("numpy", "math")
_WRITING = (
    "save", "savetxt", "savez", "savez_compressed", "copyto", "put", "place", "putmask", "fill_diagonal",
)  # fmt: skip


def _asks(function: Any) -> bool:
    """Whether a function has no effect, and may be run while the program is read."""
    module = str(getattr(function, "__module__", None) or type(function).__module__)
    if function in _OF_INDEXES:
        return True
    if module == builtins.__name__:
        return function in _ASKING
    package, _, inner = module.partition(".")
    writes = getattr(function, "__name__", "") in _WRITING
    return package in _LIBRARIES and not inner.startswith("random") and not writes


# --- what is refused ------------------------------------------------------------------------------


def refuse_packing(it: Interpreter, value: Items) -> None:
    """Refuse to make a run-time value of what stands for an object of pandas."""
    if value.type in (Column, Frame):
        raise tables.refused(it, "a column that holds values of the program is stored or passed on")


def refuse_choice(it: Interpreter, *values: Value) -> None:
    """Refuse a value that is a table on one of two paths, of which only the run knows which is taken."""
    if any(map(tables.is_table, values)):
        raise tables.refused(it, "which table it is, or whether it is one, only the run knows")


def refuse_result(it: Interpreter, result: Value) -> None:
    """Refuse a result that is, or holds, what stands for an object of pandas."""
    if isinstance(result, Items):
        if result.type in (Column, Frame):
            raise tables.refused(it, "a column that holds values of the program is a result")
        for value in result.values:
            refuse_result(it, value)
