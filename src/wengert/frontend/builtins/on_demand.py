"""Functions that walk over iterators: when the items of these are read, and by whom."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ...ir.graph import Const
from ...ir.types import Number
from ..classes import class_lookup
from ..classes.class_lookup import defines
from ..domain.arguments import is_star
from ..domain.values import (
    Args,
    Closure,
    Handler,
    Items,
    Kwargs,
    LazyIterable,
    Native,
    Value,
    kind_of_value,
    list_of,
)
from ..functions import purity
from ..heap import iterator_state
from ..iterate import iterators
from ..machine.failing import fail_now
from ..machine.interpreter import Interpreter
from ..polyfills.stdlib import iterators as iterator_polyfills


def must_have_items(it: Interpreter, function: Any, args: Args, given: Args) -> None:
    """Fail where Python does: a number has no items, whether anybody asks for them or not."""
    if any(isinstance(kind_of_value(each), Number) for each in given):
        fail_now(it, function, *args)


def iterated(it: Interpreter, value: Value) -> Value:
    """An object that is walked over, as what its class says is walked over."""
    return it.iterated(value) if class_lookup.is_walked_over(value) else value


def as_it_is_asked(eager: Handler, name: str) -> Handler:
    """A function that gives an iterator: what it walks over is read when somebody walks over that.

    `name` is the function of `iterator_polyfills` that is read instead where an item may change the next; where
    there is none, that is refused.
    """

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        args = [iterated(it, arg) for arg in args]
        if not _may_run_ahead(it, args, kwargs) or _asks_others(it, args, kwargs):
            if name == "zip_" and (found := _of_one_generator(it, args, kwargs)):
                return it.call(*found, {})
            one_by_one = getattr(iterator_polyfills, name, None)
            if one_by_one is None:
                raise iterator_state.asked_one_by_one(it, f"`itertools.{name}`")
            return it.call(Const(one_by_one), args, kwargs)
        made = eager(it, args, kwargs)
        if isinstance(made, LazyIterable):
            made = iterator_state.iterator_of(it, made)
        return made

    return handler


def _of_one_generator(it: Interpreter, args: Args, kwargs: Kwargs) -> tuple[Value, Args] | None:
    """The `zip` that walks over a generator, if only one is given, and asks the others for one item at a time."""
    found = [k for k, arg in enumerate(args) if iterator_state.is_over_generator(it, arg)]
    if len(found) != 1 or any(isinstance(arg, Items) and is_star(arg) for arg in args):
        return None
    strict, k = it.constant(kwargs.get("strict", Const(False))), found[0]
    if strict and k > 1:
        return None
    zipped = iterator_polyfills.strict_zip_around if strict else iterator_polyfills.zip_around
    return Const(zipped), [list_of(*args[:k]), args[k], list_of(*args[k + 1 :])]


def at_once(made: Handler, name: str) -> Handler:
    """A function whose items are made at once, when somebody walks over them."""

    def deferred(it: Interpreter, args: Args, kwargs: Kwargs) -> LazyIterable:
        make = Native(name, lambda it, items, named: made(it, items, kwargs))
        return LazyIterable("call", tuple(args), make)

    return as_it_is_asked(deferred, name)


def decided_at_once(handler: Handler, name: str) -> Handler:
    """A function that walks over iterators now, and asks them for no more than it needs."""

    def decide(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        args = [iterated(it, arg) for arg in args]
        if _asks_others(it, args, kwargs):
            return it.call(Const(getattr(iterator_polyfills, name)), args, kwargs)
        return handler(it, args, kwargs)

    return decide


def _may_run_ahead(it: Interpreter, args: Args, kwargs: Kwargs) -> bool:
    """Whether items may be made before they are asked for: what uses one cannot change the next."""
    functions = [each for each in (*args, *kwargs.values()) if _is_read(each)]
    if not functions:
        return True
    sources = [each for each in args if not _is_read(each)]
    pure = all(purity.is_pure(it, function) for function in functions)
    return pure and all(purity.holds_fixed(it, source) for source in sources)


def _is_read(value: Value) -> bool:
    """Whether a value is a function that is not Python's own."""
    if isinstance(value, Const):
        return isinstance(value.value, FunctionType)
    if isinstance(value, Items):
        return value.form in ("function", "derivative") or defines(value, "__call__")
    return isinstance(value, (Closure, Native))


def _asks_others(it: Interpreter, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call walks over an iterator that others may ask as well."""
    lazy = any(iterators.is_lazy(it, arg) for arg in (*args, *kwargs.values()))
    return lazy or _asks_one_twice(args)


def _asks_one_twice(args: Args) -> bool:
    """Whether one iterator is given twice, so that who asks first takes from the other."""
    given = [a.place for a in args if isinstance(a, Items) and a.form == "iterator"]
    return len(set(given)) < len(given)
