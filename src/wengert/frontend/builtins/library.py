"""Functions that shape a program rather than compute a number: the builtins that most programs call."""

from __future__ import annotations

import ast
import builtins
import functools
import math
import operator
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeGuard

import numpy as np

from ...ir.graph import Atom, Const, Var, births
from ...ir.types import INT, UNKNOWN, Array, Number, Seq, Struct
from ...ops import elementwise as el, structure as st
from ...ops.arrays import reduction as red
from ...ops.program import containers as co
from ...ops.registry import named
from ..classes import class_lookup, instances
from ..classes.class_lookup import defines
from ..containers import choosing
from ..control.loops import loop_over
from ..data import known_sets
from ..domain.arguments import is_star
from ..domain.running import UNROLL, Running
from ..domain.values import (
    Args,
    Closure,
    Handler,
    Items,
    Kwargs,
    LazyIterable,
    Native,
    Value,
    is_generator,
    is_iterator,
    kind_of_value,
    list_of,
    tuple_of,
)
from ..functions import purity
from ..heap import iterator_state, walking
from ..iterate import generators, iterators
from ..machine.failing import fail_now, raise_now
from ..machine.interpreter import Interpreter
from ..machine.protocol import operation
from ..objects.identities import refuse_in_sets
from ..polyfills import manifest
from ..polyfills.numpy.linalg import matrix_power
from ..polyfills.stdlib import iterators as iterator_polyfills

# --- iteration ----------------------------------------------------------------------------


def _must_have_items(it: Interpreter, function: Any, args: Args, given: Args) -> None:
    """Fail where Python does: a number has no items, whether anybody asks for them or not."""
    if any(isinstance(kind_of_value(each), Number) for each in given):
        fail_now(it, function, *args)


def _zip(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1 and is_star(args[0]):
        return it.call(Const(manifest.transposed), [args[0].values[0]], {})  # type: ignore[union-attr]
    if it.constant(kwargs.get("strict", Const(False))):
        one_pass = any(map(is_iterator, args))
        function = iterator_polyfills.zip_ if one_pass else iterator_polyfills.strict_zip
        return it.call(Const(function), args, kwargs if one_pass else {})
    _must_have_items(it, zip, args, args)
    return LazyIterable("zip", tuple(args))


def _enumerate(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    _must_have_items(it, enumerate, args[:1], args[:1])
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return LazyIterable("enumerate", (args[0], start))


def _map(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return LazyIterable("map", tuple(args[1:]), args[0])


def _filter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return LazyIterable("filter", (args[1],), args[0])


def _reversed(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (items,) = args
    _must_have_items(it, reversed, args, args)
    then = len(items.values) if isinstance(items, Items) else next(births)
    return LazyIterable("reversed", (items, Const(then)))  # `walking.refuse_longer` compares


def _range(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if any(map(is_star, args)):
        return it.call(Const(manifest.range_), args, kwargs)
    bounds = [a.value for a in args if isinstance(a, Const) and isinstance(a.value, int)]
    if len(bounds) == len(args) and 0 not in bounds[2:]:
        known = range(*bounds)
        if len(known) <= UNROLL:
            return Const(known)
    return it.emit(st.range_, *(it.atom(a) for a in args))


def _len(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (value,) = args
    if isinstance(value, Items) and instances.lacks(it, value, "__len__"):
        return _no_length(it, instances.name_of_class(it, value))
    match value:
        case Items(values=values, form=form) if not (
            form in ("object", "dataclass") or defines(value, "__len__")
        ):
            return Const(len(values))
        case Const(value=constant):
            sized = instances.gives(type(constant), "__len__")
            return Const(len(constant)) if sized else _no_length(it, type(constant).__name__)
        case _:
            own = it.call_method_of_class(value, "__len__", [])
            if own is not None:
                return own
            items = known_sets.members(it, value)
            if items is None:
                instances.must_have(
                    it, value, ("__len__",), "object of type '{}' has no len()", len
                )
            return it.emit(st.length, it.atom(value)) if items is None else Const(len(items))


def _bool(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`bool(x)`: functions and iterators are no values of the run."""
    if args and isinstance(args[0], (Closure, Native, LazyIterable)):
        return it.truth(args[0])
    return it.emit_op(st.truth, "py", args, kwargs)


def _slice(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    bounds = [Const(None), *args, Const(None)] if len(args) == 1 else [*args, Const(None)]
    return it.emit(st.slice_, *(it.atom(bound) for bound in bounds[:3]))


def _no_length(it: Interpreter, name: str) -> Value:
    raise_now(it, TypeError, f"object of type '{name}' has no len()")


def _list(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        return list_of()
    listed = it.as_list(args[0])
    return list_of(*listed.values) if isinstance(listed, Items) else listed


def _set(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    listed = [it.as_list(a) for a in args]
    for each in listed:
        refuse_in_sets(it, each)
    return it.call_foreign(set, listed, {})


def _tuple(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        return tuple_of()
    return it.as_tuple(args[0])


def _entries(source: Any) -> dict[Any, Any]:
    if hasattr(source, "keys"):
        return {key: source[key] for key in source}
    return {pair[0]: pair[1] for pair in source}


def _of_pairs(source: Any) -> dict[Any, Any]:
    return {key: value for key, value in source}  # noqa: C416 - which is `dict(source)`


@operation("dict_from")
def dict_from(it: Interpreter, source: Value) -> Value:
    from ..iterate.comprehensions import dictionary
    from ..objects.attributes import copied

    unknown = isinstance(source, Var) and source.kind == UNKNOWN
    inside = class_lookup.contents_as_they_are(it, source, "__iter__")
    if inside is not None:
        known = isinstance(inside, Items)
        return Items("dict", inside.keys, inside.values) if known else copied(it, inside)
    if unknown or defines(source, "keys"):
        return it.call(Const(_entries), [source], {})
    pairs = it.as_list(source)
    if isinstance(pairs, Items) and not all(map(_is_known_pair, pairs.values)):
        return it.call(Const(_of_pairs), [pairs], {})
    return dictionary(it, pairs)


def _is_known_pair(value: Value) -> bool:
    return isinstance(value, Items) and value.form in ("list", "tuple") and len(value.values) == 2


def _dict(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    entries: dict[Any, Value] = {}
    if args:
        source = args[0]
        if isinstance(source, Items) and source.form == "dict":
            entries.update(zip(source.keys, source.values, strict=True))
        else:
            made = dict_from(it, source)
            if not isinstance(made, Items):
                return made
            entries.update(zip(made.keys, made.values, strict=True))
    entries.update(kwargs)
    return Items("dict", tuple(entries), tuple(entries.values()))


def _sorted(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    compared = choosing.by_comparison(it, args[0], kwargs)
    if compared is not None:
        return compared
    objects = choosing.known_objects(it, args[0])
    if objects is not None:
        reverse = kwargs.get("reverse", Const(False))
        return choosing.in_order(it, objects, kwargs.get("key"), reverse)
    items = known_sets.items_in_order(it, args[0]) if "key" not in kwargs else None
    listed = it.as_list(args[0]) if items is None else items
    known = _in_known_order(listed, kwargs) if isinstance(listed, Items) else None
    if known is not None:
        return known
    values = it.atom(listed)
    key = kwargs.get("key", Const(None))
    keys: Atom = values
    if key != Const(None):
        running = Running((values,), lambda elements: elements[0])
        keys = it.atom(it.collect(running, lambda item: it.call(key, [item], {})))
    reverse = it.atom(kwargs.get("reverse", Const(False)))
    order = it.emit(co.sorted_order, keys, reverse=reverse)
    indices = Running((order,), lambda elements: elements[0])
    return it.collect(indices, lambda index: it.getitem(values, index))


def _in_known_order(listed: Items, kwargs: Kwargs) -> Items | None:
    """A list in order whose items are known, or pairs that begin with a known key: `sorted(d.items())`."""
    reverse = kwargs.get("reverse", Const(False))
    if kwargs.get("key", Const(None)) != Const(None) or not isinstance(reverse, Const):
        return None
    firsts = [v.values[0] if _is_pair(v) else v for v in listed.values]
    keys = [first.value for first in firsts if isinstance(first, Const)]
    pairs = sum(map(_is_pair, listed.values))
    unlike = pairs not in (0, len(firsts))  # Python compares no pair with anything else
    try:
        if unlike or len(keys) < len(firsts) or (pairs and len(set(keys)) < len(keys)):
            return None
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=bool(reverse.value))
    except TypeError:
        return None  # it must fail when the program runs
    return list_of(*(listed.values[k] for k in order))


def _is_pair(value: Value) -> TypeGuard[Items]:
    return isinstance(value, Items) and value.form == "tuple" and len(value.values) > 0


# --- folds --------------------------------------------------------------------------------


def _sum(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    _must_have_items(it, enumerate, args[:1], args[:1])
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


def _extremum(which: str) -> Handler:
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


def _pow(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`base ** exp`; of whole numbers alone there may be a modulus."""
    if any(map(is_star, args)):
        return it.call(Const(operator.pow), args, kwargs)
    named = dict(zip(("base", "exp", "mod"), args, strict=False)) | dict(kwargs)
    base, exponent = named["base"], named["exp"]
    modulus = named.get("mod", Const(None))
    if modulus == Const(None):
        return it.binary(ast.Pow(), base, exponent, ast.Pass())
    result = it.call_method_of_class(base, "__pow__", [exponent, modulus])
    return it.opaque(pow, [base, exponent, modulus], {}, INT) if result is None else result


def _hypot(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1 and is_star(args[0]):
        return it.call(Const(manifest.hypot_of), [args[0].values[0]], {})  # type: ignore[union-attr]
    return it.emit_op(el.hypot, "math", args, kwargs)


def _matrix_power(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    power = args[1] if len(args) > 1 else kwargs.get("n")
    if isinstance(power, Const) and power.value != 0:
        return it.emit_op(named("matrix_power"), "np", args, kwargs)
    return it.call(Const(matrix_power), args, kwargs)


def _dist(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`math.dist`, whose operands are lists to its rule."""
    return it.emit_op(red.dist, "math", [it.as_list(arg) for arg in args], kwargs)


def _any_or_all(which: str) -> Handler:
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


def iterated(it: Interpreter, value: Value) -> Value:
    """An object that is walked over, as what its class says is walked over."""
    return it.iterated(value) if class_lookup.is_walked_over(value) else value


def as_it_is_asked(eager: Handler, name: str) -> Handler:
    """A function that gives an iterator: what it walks over is read when somebody walks over that.

    `name` is the function of `iterator_polyfills` that is read instead where an item may change the next.
    """

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        args = [iterated(it, arg) for arg in args]
        if not _may_run_ahead(it, args, kwargs) or _asks_others(it, args, kwargs):
            if name == "zip_" and (found := _of_one_generator(it, args, kwargs)):
                return it.call(*found, {})
            return it.call(Const(getattr(iterator_polyfills, name)), args, kwargs)
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


HANDLERS: dict[int, Handler] = {
    id(function): handler
    for function, handler in (
        (zip, as_it_is_asked(_zip, "zip_")),
        (enumerate, as_it_is_asked(_enumerate, "enumerate_")),
        (map, as_it_is_asked(_map, "map_")),
        (filter, as_it_is_asked(_filter, "filter_")),
        (reversed, as_it_is_asked(_reversed, "reversed_")),
        (range, _range),
        (slice, _slice),
        (len, _len),
        (list, _list),
        (tuple, _tuple),
        (dict, _dict),
        (set, _set),
        (sorted, _sorted),
        (sum, _sum),
        (max, _extremum("max")),
        (min, _extremum("min")),
        (any, decided_at_once(_any_or_all("any"), "any_")),
        (all, decided_at_once(_any_or_all("all"), "all_")),
        (pow, _pow),
        (bool, _bool),
        (math.hypot, _hypot),
        (math.dist, _dist),
        (np.linalg.matrix_power, _matrix_power),
    )
}


@operation("handler_of")
def handler_of(it: Interpreter, known: Any) -> Handler | None:
    """How to read a call of a builtin that most programs call."""
    return HANDLERS.get(id(known))
