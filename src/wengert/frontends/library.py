"""Builtins and standard functions that shape a program rather than compute a number."""

from __future__ import annotations

import bisect
import builtins
import copy
import functools
import heapq
import itertools
import operator
import random
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Atom, Const, Var
from ..ir.types import BOOL, INT, STR, UNKNOWN, Array, Kind, Number, Seq, Static, Struct
from ..ops import containers as co
from ..ops import elementwise as el
from ..ops import reduction as red
from ..ops import structure as st
from ..ops.registry import named
from .calls import call, call_foreign, is_star, opaque
from .equivalents import EQUIVALENTS
from .expressions import binary, subscript, truth
from .fence import CHANGES_IN_PLACE
from .loops import UNROLL, Running, as_list, collect, iteration, loop_over
from .opcalls import emit_op
from .values import Closure, Items, Iteration, Native, Value, kind_of_value, list_of, tuple_of

if TYPE_CHECKING:
    from .interpreter import Interpreter

Args = Sequence[Value]
Kwargs = Mapping[str, Value]
Handler = Callable[["Interpreter", Args, Kwargs], Value]


# --- iteration ----------------------------------------------------------------------------


def _zip(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Iteration("zip", tuple(args))


def _enumerate(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return Iteration("enumerate", (args[0], start))


def _map(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Iteration("map", tuple(args[1:]), args[0])


def _filter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Iteration("filter", (args[1],), args[0])


def _reversed(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Iteration("reversed", (args[0],))


def _range(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    bounds = [a.value for a in args if isinstance(a, Const) and isinstance(a.value, int)]
    if len(bounds) == len(args):
        known = range(*bounds)
        if len(known) <= UNROLL:
            return Const(known)
    return it.emit(st.range_, *(it.atom(a) for a in args))


def _len(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (value,) = args
    match value:
        case Items(values=values, form=form) if form not in ("object", "dataclass"):
            return Const(len(values))
        case Const(value=constant):
            return Const(len(constant))
        case _:
            from .calls import call_method_of_class

            own = call_method_of_class(it, value, "__len__", [])
            return own if own is not None else it.emit(st.length, it.atom(value))


def _list(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        return list_of()
    listed = as_list(it, args[0])
    return list_of(*listed.values) if isinstance(listed, Items) else listed


def _tuple(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        return tuple_of()
    listed = as_list(it, args[0])
    return tuple_of(*listed.values) if isinstance(listed, Items) else listed


def _dict(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    entries: dict[Any, Value] = {}
    if args:
        source = args[0]
        if isinstance(source, Items) and source.form == "dict":
            entries.update(zip(source.keys, source.values, strict=True))
        else:
            from .comprehensions import dictionary

            made = dictionary(it, as_list(it, source))
            if not isinstance(made, Items):
                return made
            entries.update(zip(made.keys, made.values, strict=True))
    entries.update(kwargs)
    return Items("dict", tuple(entries), tuple(entries.values()))


def _sorted(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    values = it.atom(as_list(it, args[0]))
    key = kwargs.get("key", Const(None))
    keys: Atom = values
    if key != Const(None):
        running = Running((values,), lambda elements: elements[0])
        keys = it.atom(collect(it, running, lambda item: call(it, key, [item], {})))
    reverse = it.atom(kwargs.get("reverse", Const(False)))
    order = it.emit(co.sorted_order, keys, reverse=reverse)
    indices = Running((order,), lambda elements: elements[0])
    return collect(it, indices, lambda index: subscript(it, values, index))


# --- folds --------------------------------------------------------------------------------


def _sum(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    source = args[0]
    if isinstance(source, Var) and start == Const(0) and _sums_at_once(source):
        return it.emit(red.sum_items, source, namespace="py")
    return _fold(it, source, start, lambda a, b: _add(it, a, b))


def _sums_at_once(source: Var) -> bool:
    return isinstance(source.kind, Array | Seq)


def _add(it: Interpreter, a: Value, b: Value) -> Value:
    import ast

    if a == Const(0) and isinstance(kind_of_value(b), Number):
        return b
    return binary(it, ast.Add(), a, b, ast.Pass())


def _fold(
    it: Interpreter, source: Value, start: Value, combine: Callable[[Value, Value], Value]
) -> Value:
    items = iteration(it, source)
    if isinstance(items, list):
        result = start
        for item in items:
            result = combine(result, item)
        return result
    slot = "%folded"
    it.vars[slot] = start

    def body(item: Value) -> None:
        it.vars[slot] = combine(it.vars[slot], item)

    loop_over(it, items, [slot], body)
    return it.vars.pop(slot)


def _reduce(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, source, *start = args
    if start:
        return _fold(it, source, start[0], lambda a, b: call(it, function, [a, b], {}))
    items = iteration(it, source)
    if isinstance(items, list):
        return _fold(it, list_of(*items[1:]), items[0], lambda a, b: call(it, function, [a, b], {}))
    listed = it.atom(as_list(it, source))
    rest = it.emit(st.getitem, listed, Const(slice(1, None, None)))
    first = subscript(it, listed, Const(0))
    return _fold(it, rest, first, lambda a, b: call(it, function, [a, b], {}))


def _extremum(which: str) -> Handler:
    op = el.maximum if which == "max" else el.minimum

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        if len(args) == 1 and is_star(args[0]):
            args = [args[0].values[0]]  # type: ignore[union-attr]
        elif any(map(is_star, args)):
            raise it.unsupported(
                f"`{which}(a, *rest)` is not covered", f"Write `{which}(a, {which}(rest))`."
            )
        key = kwargs.get("key")
        if key is not None and key != Const(None):
            return _extremum_by_key(it, which, args, key)
        if len(args) > 1:
            return functools.reduce(lambda a, b: it.emit(op, a, b), map(it.atom, args))
        return _extremum_of_one(it, which, args[0], kwargs)

    return handler


def _extremum_of_one(it: Interpreter, which: str, source: Value, kwargs: Kwargs) -> Value:
    op = el.maximum if which == "max" else el.minimum
    if isinstance(source, Var) and isinstance(source.kind, Array):
        return it.emit(red.max_ if which == "max" else red.min_, source, namespace="np")
    items = iteration(it, source)
    if isinstance(items, list):
        if not items and "default" in kwargs:
            return kwargs["default"]
        return functools.reduce(lambda a, b: it.emit(op, a, b), map(it.atom, items))
    listed = it.atom(as_list(it, source))
    return _fold(
        it,
        listed,
        subscript(it, listed, Const(0)),
        lambda a, b: it.emit(op, it.atom(a), it.atom(b)),
    )


def _extremum_by_key(it: Interpreter, which: str, args: Args, key: Value) -> Value:
    source = list_of(*args) if len(args) > 1 else args[0]
    values = it.atom(as_list(it, source))
    running = Running((values,), lambda elements: elements[0])
    keys = it.atom(collect(it, running, lambda item: call(it, key, [item], {})))
    order = it.emit(co.sorted_order, keys, reverse=Const(which == "max"))
    return subscript(it, values, subscript(it, order, Const(0)))


def _any_or_all(which: str) -> Handler:
    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        (source,) = args
        if isinstance(source, Var) and isinstance(source.kind, Array):
            return it.emit(red.any_ if which == "any" else red.all_, source, namespace="np")
        listed = as_list(it, source)
        if isinstance(listed, Items):
            return _known_any_or_all(it, which, list(listed.values))
        return opaque(it, getattr(builtins, which), [listed], {})

    return handler


def _known_any_or_all(it: Interpreter, which: str, values: list[Value]) -> Value:
    if not values:
        return Const(which == "all")
    first, *rest = values
    known = it.known_truth(first)
    decided = which == "any"
    if known is not None:
        return Const(decided) if known == decided else _known_any_or_all(it, which, rest)
    if not rest:
        return it.emit(st.truth, truth(it, first)) if kind_of_value(first) != BOOL else first
    condition = truth(it, first)
    go_on = lambda: _known_any_or_all(it, which, rest)
    stop = lambda: Const(decided)
    return it.choose(condition, stop, go_on) if decided else it.choose(condition, go_on, stop)


# --- functions ----------------------------------------------------------------------------


def _partial(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, *before = args

    def run(it: Interpreter, more: Args, named: Kwargs) -> Value:
        return call(it, function, [*before, *more], {**kwargs, **named})

    return Native("partial", run)


def _wraps(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Native("wraps", lambda it, inner, named: inner[0])


def _itemgetter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    def run(it: Interpreter, values: Args, named: Kwargs) -> Value:
        got = [subscript(it, values[0], key) for key in args]
        return got[0] if len(got) == 1 else tuple_of(*got)

    return Native("itemgetter", run)


def _attrgetter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    from .attributes import read_attribute

    def run(it: Interpreter, values: Args, named: Kwargs) -> Value:
        got = [read_attribute(it, values[0], a.value) for a in args if isinstance(a, Const)]
        return got[0] if len(got) == 1 else tuple_of(*got)

    return Native("attrgetter", run)


def _getattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    from .attributes import read_attribute

    value, name, *default = args
    if not isinstance(name, Const):
        raise it.unsupported(
            "`getattr` needs a name that is known when the program is read",
            "Write the attribute out, or keep the values in a dictionary.",
        )
    if default and isinstance(value, Items) and name.value not in value.keys:
        if not hasattr(value.type, name.value):
            return default[0]
    return read_attribute(it, value, name.value)


def _hasattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, name = args
    assert isinstance(name, Const)
    match value:
        case Items(form="object" | "dataclass" | "namedtuple"):
            return Const(name.value in value.keys or hasattr(value.type, name.value))
        case Const(value=constant):
            return Const(hasattr(constant, name.value))
        case _:
            kind = kind_of_value(value)
            if isinstance(kind, Array):
                return Const(hasattr(np.ndarray, name.value))
            if isinstance(kind, Number):
                return Const(hasattr(_PYTHON_TYPES[kind.type], name.value))
            return opaque(it, hasattr, args, kwargs)


_PYTHON_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}


def _isinstance(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, classes = args
    known = class_of(value)
    wanted = _classes(classes)
    if known is None or wanted is None:
        return opaque(it, isinstance, args, kwargs)
    numeric = any(issubclass(c, np.generic | int) for c in wanted)
    if (
        known in (int, float, complex, bool)
        and isinstance(value, Var)
        and numeric
        and known is not float
    ):
        return opaque(it, isinstance, args, kwargs, BOOL)  # it may be a NumPy scalar
    if known is float and any(c.__module__ == "numpy" for c in wanted):
        return opaque(it, isinstance, args, kwargs, BOOL)
    return Const(any(issubclass(known, c) for c in wanted))


def _classes(value: Value) -> list[type] | None:
    match value:
        case Const(value=type() as cls):
            return [cls]
        case Const(value=UnionType() as union):
            return list(union.__args__)
        case Items(values=values):
            found = [_classes(v) for v in values]
            return None if None in found else [c for cs in found if cs for c in cs]
        case _:
            return None


def class_of(value: Value) -> type | None:
    kind = kind_of_value(value)
    match kind:
        case Number(type=t):
            return _PYTHON_TYPES[t]
        case Array():
            return np.ndarray
        case Struct(form=form, type=type_):
            plain = {"tuple": tuple, "list": list, "dict": dict}
            return plain.get(form, type_ if isinstance(type_, type) else None)
        case Static() if isinstance(value, Const):
            return type(value.value)
        case _:
            if isinstance(value, Const):
                return type(value.value)
            return str if str(kind) == "str" else None


def _type(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (value,) = args
    if isinstance(value, Items | Const):
        known = class_of(value)
        if known is not None:
            return Const(known)
    return opaque(it, type, args, kwargs)


def _callable(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (value,) = args
    match value:
        case Closure() | Native():
            return Const(True)
        case Const(value=constant):
            return Const(callable(constant))
        case Items(form="function"):
            return Const(True)
        case _:
            return opaque(it, callable, args, kwargs)


def _divmod(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    import ast

    a, b = args
    node = ast.Pass()
    return tuple_of(binary(it, ast.FloorDiv(), a, b, node), binary(it, ast.Mod(), a, b, node))


def _copy(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Nothing is changed in place, so a copy differs from its original only as memory."""
    value = args[0]
    if isinstance(value, Var) and isinstance(value.kind, Array):
        return it.emit(named("copy"), value, namespace="np")
    return value


def _float(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if args and isinstance(args[0], Var) and (args[0].kind == STR or args[0] in it.reading.inert):
        raise it.unsupported(
            "a number read back from text has lost its derivative",
            "Use the number itself; turn it into text only to show it.",
        )
    return emit_op(it, el.to_float, "py", args, kwargs)


def _refuse(what: str, hint: str) -> Handler:
    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        raise it.unsupported(what, hint)

    return handler


def _opaque(function: Any, kind: Kind = UNKNOWN) -> Handler:
    return lambda it, args, kwargs: opaque(it, function, args, kwargs, kind)


_MUTATORS = (
    np.copyto, np.fill_diagonal, np.put, np.place, np.putmask, np.put_along_axis,
    operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul, operator.itruediv,
    random.shuffle, heapq.heapify, heapq.heappush, heapq.heappop, bisect.insort, bisect.insort_left,
    list.append, list.extend, list.insert, list.sort, list.reverse, dict.update, dict.setdefault,
)  # fmt: skip
_SHOWN = (repr, str, format, ascii, chr, bin, hex)
_COUNTED = (id, hash, ord)
_OPAQUE = (print, issubclass, input, open, dir)
_BLIND = (eval, exec, compile, locals, globals, vars, __import__)

_HANDLERS: list[tuple[Any, Handler]] = [
    (zip, _zip),
    (enumerate, _enumerate),
    (map, _map),
    (filter, _filter),
    (reversed, _reversed),
    (range, _range),
    (len, _len),
    (list, _list),
    (tuple, _tuple),
    (dict, _dict),
    (sorted, _sorted),
    (sum, _sum),
    (max, _extremum("max")),
    (min, _extremum("min")),
    (any, _any_or_all("any")),
    (all, _any_or_all("all")),
    (functools.partial, _partial),
    (functools.reduce, _reduce),
    (functools.wraps, _wraps),
    (operator.itemgetter, _itemgetter),
    (operator.attrgetter, _attrgetter),
    (copy.copy, _copy),
    (copy.deepcopy, _copy),
    (getattr, _getattr),
    (hasattr, _hasattr),
    (isinstance, _isinstance),
    (type, _type),
    (callable, _callable),
    (divmod, _divmod),
    (set, lambda it, args, kwargs: call_foreign(it, set, [as_list(it, a) for a in args], {})),
    (
        frozenset,
        lambda it, args, kwargs: call_foreign(it, frozenset, [as_list(it, a) for a in args], {}),
    ),
    (float, _float),
    (iter, _refuse("`iter()` cannot be differentiated", "Loop over the sequence itself.")),
    (next, _refuse("`next()` cannot be differentiated", "Loop over the sequence, or index it.")),
    (
        setattr,
        _refuse(
            "`setattr()` changes an object in place, which cannot be differentiated yet",
            "Build a new object instead.",
        ),
    ),
    *((function, _opaque(function)) for function in _OPAQUE),
    *(
        (
            function,
            _refuse(f"`{function.__name__}()` {CHANGES_IN_PLACE}", "Build a new value instead."),
        )
        for function in _MUTATORS
    ),
    (itertools.count, _refuse("an endless iterator", "Use `range` or `enumerate`.")),
    (itertools.cycle, _refuse("an endless iterator", "Index the items with `%`.")),
    (
        super,
        _refuse(
            "`super()` cannot be differentiated yet", "Name the base class: `Base.method(self, x)`."
        ),
    ),
    *((function, _opaque(function, STR)) for function in _SHOWN),
    *((function, _opaque(function, INT)) for function in _COUNTED),
    *(
        (
            function,
            _refuse(
                f"`{function.__name__}()` cannot be read before it runs",
                "Write the code itself instead.",
            ),
        )
        for function in _BLIND
    ),
]


def _in_python(equivalent: Any) -> Handler:
    return lambda it, args, kwargs: call(it, Const(equivalent), args, kwargs)


HANDLERS: dict[int, Handler] = {
    **{id(function): handler for function, handler in _HANDLERS},
    **{id(function): _in_python(equivalent) for function, equivalent in EQUIVALENTS},
}
