"""Builtins that make one value of many: sums, extremes, and whether any or all are true."""

from __future__ import annotations

import ast
import builtins
import functools
import sys
from collections.abc import Callable

from ...ir.graph import Atom, Const, Var
from ...ir.types import INT, Array, Number, Seq, Struct
from ...ops import elementwise as el, structure as st
from ...ops.arrays import reduction as red
from ...ops.program import containers as co
from ..containers import choosing
from ..control.loops import loop_over
from ..domain.arguments import is_star
from ..domain.running import Running
from ..domain.values import (
    Args,
    Handler,
    Items,
    Kwargs,
    Value,
    is_generator,
    is_iterator,
    kind_of_value,
    list_of,
)
from ..heap import iterator_state, walking
from ..iterate import generators
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from .on_demand import must_have_items


def sum_of(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    must_have_items(it, enumerate, args[:1], args[:1])
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    source = args[0]
    if isinstance(source, Var) and start == Const(0) and isinstance(source.kind, (Array, Seq)):
        return it.emit(red.sum_items, source, namespace="py")
    return fold(it, source, start, lambda a, b: _add(it, a, b))


def _add(it: Interpreter, a: Value, b: Value) -> Value:
    if a == Const(0) and kind_of_value(b) == INT:
        return b
    return it.binary(ast.Add(), a, b, ast.Pass())


def fold(
    it: Interpreter, source: Value, start: Value, combine: Callable[[Value, Value], Value]
) -> Value:
    source = it.as_asked(source)
    if isinstance(source, Items) and is_iterator(source):
        with iterator_state.drained(it, source) as rest:
            return fold(it, rest, start, combine)
    if is_generator(source):
        return generators.folded(it, source, start, combine)
    with walking.as_they_are(it, source):
        return _fold_at_once(it, source, start, combine)


def _fold_at_once(
    it: Interpreter, source: Value, start: Value, combine: Callable[[Value, Value], Value]
) -> Value:
    items = it.iteration(source)
    if isinstance(items, list):
        result = start
        for item in items:
            result = combine(result, item)
        return result
    slot = "%folded"
    while slot in it.vars:  # what makes an item of this may fold as well: `sum(map(sum, rows))`
        slot += "."
    it.vars[slot] = start

    def body(item: Value) -> None:
        it.vars[slot] = combine(it.vars[slot], item)

    loop_over(it, items, [slot], body)
    return it.vars.pop(slot)


def extremum(which: str) -> Handler:
    op = el.maximum if which == "max" else el.minimum

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        if len(args) == 1 and is_star(args[0]):
            args = [args[0].values[0]]  # type: ignore[union-attr]
        elif any(map(is_star, args)):
            args = [it.joined(args)]
        key = kwargs.get("key")
        source = list_of(*args) if len(args) > 1 else args[0]
        objects = choosing.known_objects(it, source, choosing.is_object)
        if objects is not None:
            return choosing.extremum(it, which, objects, key)
        if key is not None and key != Const(None):
            return _extremum_by_key(it, which, it.atom(it.as_list(source)), key, kwargs)
        if len(args) > 1 and any(isinstance(kind_of_value(arg), Struct) for arg in args):
            return choosing.extremum(it, which, list(args), None)
        if len(args) > 1:
            return functools.reduce(lambda a, b: it.emit(op, a, b), map(it.atom, args))
        return _extremum_of_one(it, which, source, kwargs)

    return handler


def _extremum_of_one(it: Interpreter, which: str, source: Value, kwargs: Kwargs) -> Value:
    op = el.maximum if which == "max" else el.minimum
    if isinstance(source, Var) and isinstance(source.kind, Array):
        return _extremum_of_array(it, which, source, kwargs)
    source = it.settled(source)
    items = it.iteration(source)
    if isinstance(items, list) and not items:
        return _of_nothing(it, which, kwargs)
    if isinstance(items, list):
        if any(isinstance(kind_of_value(item), Struct) for item in items):
            return choosing.extremum(it, which, items, None)
        return functools.reduce(lambda a, b: it.emit(op, a, b), map(it.atom, items))
    listed = it.atom(it.as_list(source))
    kind = kind_of_value(listed)
    if not (isinstance(kind, Seq) and isinstance(kind.item, Number)):
        return _extremum_by_key(it, which, listed, None, kwargs)
    combine = lambda a, b: it.emit(op, it.atom(a), it.atom(b))
    return it.choose(
        it.emit(st.length, listed),
        lambda: fold(it, listed, it.getitem(listed, Const(0)), combine),
        lambda: _of_nothing(it, which, kwargs),
    )


def _extremum_of_array(it: Interpreter, which: str, source: Var, kwargs: Kwargs) -> Value:
    """The first item that none after it beats, which NumPy's function does not give where there is a NaN."""

    def first() -> Value:
        place = it.emit(red.place_of_extreme, source, largest=Const(which == "max"))
        return it.getitem(source, place)

    if "default" not in kwargs:
        return first()
    return it.choose(it.emit(st.length, source), first, lambda: kwargs["default"])


def _of_nothing(it: Interpreter, which: str, kwargs: Kwargs) -> Value:
    if "default" not in kwargs:
        new = sys.version_info >= (3, 12)
        what = "iterable argument is empty" if new else "arg is an empty sequence"
        raise_now(it, ValueError, f"{which}() {what}")
    return kwargs["default"]


def _extremum_by_key(
    it: Interpreter, which: str, values: Atom, key: Value | None, kwargs: Kwargs
) -> Value:
    """The first in order of anything that can be put in order, or of what `key` gives for it."""
    keys = values
    if key is not None:
        running = Running((values,), lambda elements: elements[0])
        keys = it.atom(it.collect(running, lambda item: it.call(key, [item], {})))

    def first() -> Value:
        order = it.emit(co.sorted_order, keys, reverse=Const(which == "max"))
        return it.getitem(values, it.getitem(order, Const(0)))

    return it.choose(it.emit(st.length, values), first, lambda: _of_nothing(it, which, kwargs))


def any_or_all(which: str) -> Handler:
    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        (source,) = args
        if isinstance(source, Var) and isinstance(source.kind, Array):
            if source.kind.rank != 1:  # rows have no truth values, as a rule
                return it.opaque(getattr(builtins, which), [source], {})
            op = red.any_ if which == "any" else red.all_
            return it.emit(st.truth, it.emit(op, source, namespace="np"))
        listed = it.as_list(source)
        if isinstance(listed, Items):
            return _known_any_or_all(it, which, list(listed.values))
        return it.opaque(getattr(builtins, which), [listed], {})

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
        return it.emit(st.truth, it.truth(first))  # a comparison may be one of NumPy's
    condition = it.truth(first)
    go_on = lambda: _known_any_or_all(it, which, rest)
    stop = lambda: Const(decided)
    return it.choose(condition, stop, go_on) if decided else it.choose(condition, go_on, stop)
