"""Functions that shape a program rather than compute a number: the builtins that most programs call."""

from __future__ import annotations

import ast
import math
import operator
from typing import Any, TypeGuard

import numpy as np

from ...ir.graph import Atom, Const, Var, births
from ...ir.types import INT, UNKNOWN, Map
from ...ops import elementwise as el, structure as st
from ...ops.arrays import reduction as red
from ...ops.program import containers as co
from ...ops.registry import named
from ..classes import class_lookup, instances
from ..classes.class_lookup import defines
from ..containers import choosing
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
    is_iterator,
    kind_of_value,
    list_of,
    tuple_of,
)
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..objects.identities import refuse_in_sets
from ..polyfills import manifest
from ..polyfills.numpy.linalg import power_by_squaring
from ..polyfills.stdlib import iterators as iterator_polyfills
from .folds import any_or_all, extremum, sum_of
from .on_demand import as_it_is_asked, decided_at_once, must_have_items


def _zip(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1 and is_star(args[0]):
        return it.call(Const(manifest.transposed), [args[0].values[0]], {})  # type: ignore[union-attr]
    if it.constant(kwargs.get("strict", Const(False))):
        one_pass = any(map(is_iterator, args))
        function = iterator_polyfills.zip_ if one_pass else iterator_polyfills.strict_zip
        return it.call(Const(function), args, kwargs if one_pass else {})
    must_have_items(it, zip, args, args)
    return LazyIterable("zip", tuple(args))


def _enumerate(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    must_have_items(it, enumerate, args[:1], args[:1])
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return LazyIterable("enumerate", (args[0], start))


def _map(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return LazyIterable("map", tuple(args[1:]), args[0])


def _filter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return LazyIterable("filter", (args[1],), args[0])


def _reversed(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (items,) = args
    must_have_items(it, reversed, args, args)
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


def dict_from(it: Interpreter, source: Value) -> Value:
    from ..iterate.comprehensions import dictionary
    from ..objects.methods import copied

    unknown = isinstance(source, Var) and source.kind == UNKNOWN
    inside = class_lookup.contents_as_they_are(it, source, "__iter__")
    if inside is not None:
        known = isinstance(inside, Items)
        return Items("dict", inside.keys, inside.values) if known else copied(it, inside)
    if isinstance(kind_of_value(source), Map):
        return copied(it, source)
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
                if kwargs:
                    it.method_of_run_time(it.as_run_time(made), "update", [], kwargs)
                return made
            entries.update(zip(made.keys, made.values, strict=True))
    entries.update(kwargs)
    return Items("dict", tuple(entries), tuple(entries.values()))


def _sorted(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
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
    return it.call(Const(power_by_squaring), args, kwargs)


def _dist(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`math.dist`, whose operands are lists to its rule."""
    return it.emit_op(red.dist, "math", [it.as_list(arg) for arg in args], kwargs)


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
        (sum, sum_of),
        (max, extremum("max")),
        (min, extremum("min")),
        (any, decided_at_once(any_or_all("any"), "any_")),
        (all, decided_at_once(any_or_all("all"), "all_")),
        (pow, _pow),
        (bool, _bool),
        (math.hypot, _hypot),
        (math.dist, _dist),
        (np.linalg.matrix_power, _matrix_power),
    )
}


def handler_of(it: Interpreter, known: Any) -> Handler | None:
    """How to read a call of a builtin that most programs call."""
    return HANDLERS.get(id(known))
