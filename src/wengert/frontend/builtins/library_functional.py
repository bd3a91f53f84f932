"""Functions of `functools`, `itertools` and `operator`: partial calls, folds, choices of items."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any

from ...ir.graph import Const, Var
from ...ir.records import replace
from ...ir.types import Array, Number
from ...ops import structure as st
from ..calls import remembering
from ..domain.running import Running
from ..domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    Value,
    is_generator,
    kind_of_value,
    list_of,
    tuple_of,
)
from ..functions import purity
from ..heap import iterator_state, now, walking
from ..iterate import iterators
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..polyfills import manifest
from ..polyfills.stdlib import iterators as iterator_polyfills
from .folds import fold
from .library import Handler
from .on_demand import iterated


def _repeat(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1 and not kwargs:
        return it.call(Const(iterator_polyfills.repeat), args, {})
    return it.call(Const(manifest.repeat), args, kwargs)


def _by_indices(function: Callable[..., Any]) -> Handler:
    """A choice of items, which is made by their indices."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        listed = it.as_list(args[0])
        r = args[1] if len(args) > 1 else kwargs.get("r", Const(None))
        if not isinstance(r, Const):
            raise it.unsupported(
                f"`itertools.{function.__name__}` of a number of items that only the run knows",
                "Write the loops over the indices.",
            )
        options = () if r.value is None else (r.value,)
        if isinstance(listed, Items):
            chosen = function(range(len(listed.values)), *options)
            return list_of(*(tuple_of(*(listed.values[k] for k in ks)) for ks in chosen))
        if r.value is None:
            raise it.unsupported(
                "`itertools.permutations` of all of a list whose length only the run knows",
                "Say how many items are chosen.",
            )
        length = it.emit(st.length, it.atom(listed))
        if function is itertools.combinations and r.value == 2:
            found = it.atom(it.call(Const(iterator_polyfills.pairs_below), [length], {}))
        else:
            indices = it.emit(st.range_, length)
            found = it.emit(st.as_list, it.atom(it.call_foreign(function, [indices, r], {})))

        def pick(row: Value) -> Value:
            ks = (it.emit(st.getitem, it.atom(row), Const(j)) for j in range(r.value))
            return tuple_of(*(it.getitem(listed, k) for k in ks))

        return it.collect(Running((found,), lambda elements: elements[0]), pick)

    return handler


def _tee(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    source = _only_source(it, args[0])
    if source is None:
        raise iterator_state.asked_one_by_one(it, "`itertools.tee`")
    walking.copied_ahead(it, source)
    return it.call(Const(manifest.tee), args, kwargs)


def _only_source(it: Interpreter, value: Value) -> Value | None:
    """The list that all items come from, if making them depends on nothing else and nobody sees it."""
    value = now(it, iterated(it, value))
    if isinstance(value, Items) and value.form == "iterator":
        source, _ = iterator_state.current(it, value)
        if not is_generator(source) or it.is_kept(value):
            return None
        producer = iterator_state.producer_of(source)
        if not purity.is_pure(it, producer.closure):
            return None
        value = now(it, producer.bound.get("%iterable", Const(None)))
    has_items = isinstance(value, Var) or (isinstance(value, Items) and value.form == "list")
    return value if has_items else None


def _reduce(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, source, *start = args
    source = iterated(it, source)
    if not isinstance(function, Const) and iterators.is_lazy(it, source):
        return it.call(Const(iterator_polyfills.reduce_), [function, source, *start], {})
    if start:
        return fold(it, source, start[0], lambda a, b: it.call(function, [a, b], {}))
    source = it.settled(source)
    items = it.iteration(source)
    if isinstance(items, list) and not items:
        raise_now(it, TypeError, "reduce() of empty iterable with no initial value")
    if isinstance(items, list):
        return fold(it, list_of(*items[1:]), items[0], lambda a, b: it.call(function, [a, b], {}))
    listed = it.atom(it.as_list(source))
    rest = it.emit(st.getitem, listed, Const(slice(1, None, None)))
    first = it.getitem(listed, Const(0))
    return fold(it, rest, first, lambda a, b: it.call(function, [a, b], {}))


def _partial(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, *before = args
    if isinstance(kind_of_value(function), (Number, Array)):
        raise_now(it, TypeError, "the first argument must be callable")
    if isinstance(function, Native) and function.name == "partial":
        function, earlier, named = function.call.args  # type: ignore[attr-defined]
        before, kwargs = [*earlier, *before], {**named, **kwargs}
    return Native("partial", functools.partial(_call_partial, function, before, dict(kwargs)))


def _call_partial(
    function: Value, before: Args, named: Kwargs, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    return it.call(function, [*before, *args], {**named, **kwargs})


def _wraps(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Native("wraps", functools.partial(_wrapping, args[0]))


def _wrapping(function: Value, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (inner,) = args
    return replace(inner, wraps=function) if isinstance(inner, Closure) else inner


def _itemgetter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Native("itemgetter", functools.partial(_get_items, list(args)))


def _get_items(keys: Args, it: Interpreter, values: Args, named: Kwargs) -> Value:
    got = [it.getitem(values[0], key) for key in keys]
    return got[0] if len(got) == 1 else tuple_of(*got)


HANDLERS: list[tuple[Any, Handler]] = [
    (functools.partial, _partial),
    (functools.reduce, _reduce),
    (functools.wraps, _wraps),
    (functools.lru_cache, remembering.decorator),
    (functools.cache, remembering.decorator),
    (operator.itemgetter, _itemgetter),
    (operator.getitem, lambda it, args, kwargs: it.getitem(*args)),
    (itertools.repeat, _repeat),
    (itertools.tee, _tee),
    (itertools.combinations, _by_indices(itertools.combinations)),
    (itertools.combinations_with_replacement, _by_indices(itertools.combinations_with_replacement)),
    (itertools.permutations, _by_indices(itertools.permutations)),
]
