"""Builtins and standard functions that shape a program rather than compute a number."""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinMethodType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Atom, Const, Var
from ..ir.types import BOOL, INT, STR, UNKNOWN, Array, Kind, Number, Seq, Struct
from ..ops import containers as co
from ..ops import elementwise as el
from ..ops import linear_algebra as la
from ..ops import reduction as red
from ..ops import structure as st
from . import (
    choosing,
    contexts,
    generators,
    iterators,
    library_objects,
    operators,
    purity,
    remembering,
)
from . import writing_functions as writing
from .calls import call, call_foreign, is_star, opaque
from .contexts_in_python import EQUIVALENTS as OF_CONTEXTS
from .counts import is_by_turns
from .equivalents import (
    EQUIVALENTS,
    as_it_is,
    chain_from_iterable,
    from_keys,
    hypot_of,
    matrix_product,
    repeat,
    transposed,
)
from .expressions import binary, subscript, truth
from .iteration import UNROLL, Running, as_list, iteration, settled
from .iterators import iterator_of
from .iterators_in_python import ENDLESS, LAZY, filter_, map_, reduce_, step
from .iterators_in_python import chain_from_iterable as lazily_chained
from .iterators_in_python import repeat as repeat_without_end
from .loops import collect, loop_over
from .objects import identity_token
from .opcalls import emit_op
from .stand_ins import STAND_INS, KnownSet
from .values import Closure, Items, Iteration, Native, Value, kind_of_value, list_of, tuple_of

if TYPE_CHECKING:
    from .interpreter import Interpreter

Args = Sequence[Value]
Kwargs = Mapping[str, Value]
Handler = Callable[["Interpreter", Args, Kwargs], Value]


# --- iteration ----------------------------------------------------------------------------


def _zip(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1 and is_star(args[0]):
        return call(it, Const(transposed), [args[0].values[0]], {})  # type: ignore[union-attr]
    return iterator_of(it, Iteration("zip", tuple(args)))


def _enumerate(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    start = args[1] if len(args) > 1 else kwargs.get("start", Const(0))
    return iterator_of(it, Iteration("enumerate", (args[0], start)))


def _map(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not _at_any_time(it, args[0], args[1:]):
        return call(it, Const(map_), args, {})
    return iterator_of(it, Iteration("map", tuple(args[1:]), args[0]))


def _filter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not _at_any_time(it, args[0], args[1:]):
        return call(it, Const(filter_), args, {})
    return iterator_of(it, Iteration("filter", (args[1],), args[0]))


def _at_any_time(it: Interpreter, function: Value, sources: Args) -> bool:
    """Whether items may be made before they are asked for: what uses one cannot change the next."""
    if isinstance(function, Const) and not isinstance(function.value, FunctionType):
        return True
    return purity.is_pure(it, function) and all(purity.holds_fixed(it, s) for s in sources)


def _reversed(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return iterator_of(it, Iteration("reversed", (args[0],)))


def _range(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    bounds = [a.value for a in args if isinstance(a, Const) and isinstance(a.value, int)]
    if len(bounds) == len(args):
        known = range(*bounds)
        if len(known) <= UNROLL or is_by_turns(it):
            return Const(known)
    return it.emit(st.range_, *(it.atom(a) for a in args))


def _len(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (value,) = args
    match value:
        case Items(form="iterator"):
            return _no_length(it, "generator")
        case Items(values=values, form=form) if form not in ("object", "dataclass"):
            return Const(len(values))
        case Const(value=constant):
            sized = hasattr(constant, "__len__")
            return Const(len(constant)) if sized else _no_length(it, type(constant).__name__)
        case _:
            from .operators import call_method_of_class

            own = call_method_of_class(it, value, "__len__", [])
            return own if own is not None else it.emit(st.length, it.atom(value))


def _no_length(it: Interpreter, name: str) -> Value:
    from .statements import raise_now

    raise_now(it, TypeError, f"object of type '{name}' has no len()")
    raise AssertionError("unreachable")


def _list(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        return list_of()
    listed = as_list(it, args[0])
    return list_of(*listed.values) if isinstance(listed, Items) else listed


def _set(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args and is_by_turns(it):
        return call(it, Const(KnownSet), [], {})
    return call_foreign(it, set, [as_list(it, a) for a in args], {})


def _id(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    token = identity_token(args[0]) if is_by_turns(it) and isinstance(args[0], Items) else None
    if token is None:
        return opaque(it, id, args, kwargs, INT)
    return Items("identity", (), (), token)


def _tuple(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        return tuple_of()
    listed = as_list(it, args[0])
    return tuple_of(*listed.values) if isinstance(listed, Items) else listed


def _entries(source: Any) -> dict[Any, Any]:
    if hasattr(source, "keys"):
        return {key: source[key] for key in source}
    return {pair[0]: pair[1] for pair in source}


def _dict_from(it: Interpreter, source: Value) -> Value:
    from .comprehensions import dictionary

    if isinstance(source, Var) and source.kind == UNKNOWN:
        return call(it, Const(_entries), [source], {})
    return dictionary(it, as_list(it, source))


def _dict(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    entries: dict[Any, Value] = {}
    if args:
        source = args[0]
        if isinstance(source, Items) and source.form == "dict":
            entries.update(zip(source.keys, source.values, strict=True))
        else:
            made = _dict_from(it, source)
            if not isinstance(made, Items):
                return made
            entries.update(zip(made.keys, made.values, strict=True))
    entries.update(kwargs)
    return Items("dict", tuple(entries), tuple(entries.values()))


def _sorted(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    objects = choosing.known_objects(it, args[0])
    if objects is not None:
        reverse = kwargs.get("reverse", Const(False))
        return choosing.in_order(it, objects, kwargs.get("key"), reverse)
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


def _repeat(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1 and not kwargs:
        return call(it, Const(repeat_without_end), args, {})
    return call(it, Const(repeat), args, kwargs)


def _by_indices(function: Callable[..., Any]) -> Handler:
    """A choice of items, which is made by their indices."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        listed = as_list(it, args[0])
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
        indices = it.emit(st.range_, it.emit(st.length, it.atom(listed)))
        found = it.emit(st.as_list, it.atom(call_foreign(it, function, [indices, r], {})))

        def pick(row: Value) -> Value:
            ks = (
                it.emit(
                    st.getitem,
                    it.atom(row),
                    Const(j),
                )
                for j in range(r.value)
            )
            return tuple_of(*(subscript(it, listed, k) for k in ks))

        return collect(it, Running((found,), lambda elements: elements[0]), pick)

    return handler


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
    source = iterators.as_asked(it, source)
    if isinstance(source, Items) and iterators.is_iterator(source):
        source = iterators.taken_over(it, source)
    if generators.is_generator(source):
        return generators.folded(it, source, start, combine)
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
    source = _iterated(it, source)
    if not isinstance(function, Const) and iterators.is_lazy(it, source):
        return call(it, Const(reduce_), [function, source, *start], {})
    if start:
        return _fold(it, source, start[0], lambda a, b: call(it, function, [a, b], {}))
    source = settled(it, source)
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
        objects = choosing.known_objects(it, list_of(*args) if len(args) > 1 else args[0])
        if objects is not None:
            return choosing.extremum(it, which, objects, key)
        if key is not None and key != Const(None):
            source = list_of(*args) if len(args) > 1 else args[0]
            return _extremum_by_key(it, which, it.atom(as_list(it, source)), key, kwargs)
        if len(args) > 1 and any(isinstance(kind_of_value(arg), Struct) for arg in args):
            return choosing.extremum(it, which, list(args), None)
        if len(args) > 1:
            return functools.reduce(lambda a, b: it.emit(op, a, b), map(it.atom, args))
        return _extremum_of_one(it, which, args[0], kwargs)

    return handler


def _extremum_of_one(it: Interpreter, which: str, source: Value, kwargs: Kwargs) -> Value:
    op = el.maximum if which == "max" else el.minimum
    if isinstance(source, Var) and isinstance(source.kind, Array):
        return it.emit(red.max_ if which == "max" else red.min_, source, namespace="np")
    source = settled(it, source)
    items = iteration(it, source)
    if isinstance(items, list) and not items:
        return _of_nothing(it, which, kwargs)
    if isinstance(items, list):
        if any(isinstance(kind_of_value(item), Struct) for item in items):
            return choosing.extremum(it, which, items, None)
        return functools.reduce(lambda a, b: it.emit(op, a, b), map(it.atom, items))
    listed = it.atom(as_list(it, source))
    kind = kind_of_value(listed)
    if not (isinstance(kind, Seq) and isinstance(kind.item, Number)):
        return _extremum_by_key(it, which, listed, None, kwargs)
    combine = lambda a, b: it.emit(op, it.atom(a), it.atom(b))
    return it.choose(
        it.emit(st.length, listed),
        lambda: _fold(it, listed, subscript(it, listed, Const(0)), combine),
        lambda: _of_nothing(it, which, kwargs),
    )


def _of_nothing(it: Interpreter, which: str, kwargs: Kwargs) -> Value:
    from .statements import raise_now

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
        keys = it.atom(collect(it, running, lambda item: call(it, key, [item], {})))

    def first() -> Value:
        order = it.emit(co.sorted_order, keys, reverse=Const(which == "max"))
        return subscript(it, values, subscript(it, order, Const(0)))

    return it.choose(it.emit(st.length, values), first, lambda: _of_nothing(it, which, kwargs))


def _hypot(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 1 and is_star(args[0]):
        return call(it, Const(hypot_of), [args[0].values[0]], {})  # type: ignore[union-attr]
    return emit_op(it, el.hypot, "math", args, kwargs)


def _nditer(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if "op_flags" in kwargs or len(args) > 2:
        raise it.unsupported(
            "an iterator of NumPy's that writes to arrays is not covered",
            "Loop over the indices: `for i in np.ndindex(a.shape): a[i] = …`.",
        )
    if len(args) == 1 and not kwargs:
        return call(it, Const(np.ravel), args, {"order": Const("K")})  # in the order of memory
    return call_foreign(it, np.nditer, args, kwargs)


def _matrix_power(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    power = args[1] if len(args) > 1 else kwargs.get("n")
    if isinstance(power, Const):
        return emit_op(it, la.matrix_power, "np", args, kwargs)
    from .numpy_in_python import matrix_power

    return call(it, Const(matrix_power), args, kwargs)


def _as_it_is(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, *rest = args
    known = function.function if isinstance(function, Closure) else function.value  # type: ignore[union-attr]
    return call_foreign(it, known, rest, kwargs)


def _dist(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`math.dist`, whose operands are lists to its rule."""
    return emit_op(it, red.dist, "math", [as_list(it, arg) for arg in args], kwargs)


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
    return Native("partial", functools.partial(_call_partial, function, before, dict(kwargs)))


def _call_partial(
    function: Value, before: Args, named: Kwargs, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    return call(it, function, [*before, *args], {**named, **kwargs})


def _wraps(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Native("wraps", lambda it, inner, named: inner[0])


def _itemgetter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return Native("itemgetter", functools.partial(_get_items, list(args)))


def _get_items(keys: Args, it: Interpreter, values: Args, named: Kwargs) -> Value:
    got = [subscript(it, values[0], key) for key in keys]
    return got[0] if len(got) == 1 else tuple_of(*got)


def _divmod(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    import ast

    a, b = args
    node = ast.Pass()
    return tuple_of(binary(it, ast.FloorDiv(), a, b, node), binary(it, ast.Mod(), a, b, node))


def _refuse(what: str, hint: str) -> Handler:
    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        raise it.unsupported(what, hint)

    return handler


def _opaque(function: Any, kind: Kind = UNKNOWN) -> Handler:
    return lambda it, args, kwargs: opaque(it, function, args, kwargs, kind)


_SHOWN = (repr, str, format, ascii, chr, bin, hex)
_COUNTED = (hash, ord)
_OPAQUE = (print, input, open, dir)
_BLIND = (eval, exec, compile, locals, globals, __import__)

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
    (functools.lru_cache, remembering.decorator),
    (functools.cache, remembering.decorator),
    (operator.itemgetter, _itemgetter),
    (operator.getitem, lambda it, args, kwargs: subscript(it, *args)),
    (divmod, _divmod),
    (as_it_is, _as_it_is),
    (matrix_product, lambda it, args, kwargs: it.emit(la.matmul, *map(it.atom, args))),
    (np.linalg.matrix_power, _matrix_power),
    (np.nditer, _nditer),
    (math.hypot, _hypot),
    (math.dist, _dist),
    (set, _set),
    (id, _id),
    (
        frozenset,
        lambda it, args, kwargs: call_foreign(it, frozenset, [as_list(it, a) for a in args], {}),
    ),
    (iter, iterators.make_iterator),
    (next, iterators.next_item),
    (step, iterators.step),
    (itertools.repeat, _repeat),
    *((function, _opaque(function)) for function in _OPAQUE),
    (itertools.combinations, _by_indices(itertools.combinations)),
    (
        itertools.combinations_with_replacement,
        _by_indices(itertools.combinations_with_replacement),
    ),
    (itertools.permutations, _by_indices(itertools.permutations)),
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


_EAGER: dict[int, Handler] = {
    **{
        id(function): handler
        for function, handler in (*_HANDLERS, *contexts.HANDLERS, *library_objects.HANDLERS)
    },
    **{
        id(function): _in_python(equivalent)
        for function, equivalent in (
            *EQUIVALENTS,
            *OF_CONTEXTS,
            *ENDLESS,
            *writing.IN_PYTHON,
            *STAND_INS,
        )
    },
}


def _iterated(it: Interpreter, value: Value) -> Value:
    """An object that is walked over, as what its class says is walked over."""
    return operators.iterated(it, value) if operators.defines(value, "__iter__") else value


def _as_it_is_asked(eager: Handler, lazy: Callable[..., Any]) -> Handler:
    """A function on iterators, which asks for an item when it is asked for one."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        args = [_iterated(it, arg) for arg in args]
        if any(iterators.is_lazy(it, arg) for arg in (*args, *kwargs.values())):
            return call(it, Const(lazy), args, kwargs)
        return eager(it, args, kwargs)

    return handler


HANDLERS: dict[int, Handler] = {
    **_EAGER,
    **{
        id(function): _as_it_is_asked(_EAGER[id(function)], equivalent)
        for function, equivalent in LAZY
        if id(function) in _EAGER
    },
    **{id(function): handler for function, handler in writing.BY_HAND},
}


def handler_of(known: Any) -> Handler | None:
    """How to read a call of a function that Python implements."""
    if isinstance(known, BuiltinMethodType) and known == itertools.chain.from_iterable:
        return _chain_from_iterable
    if isinstance(known, BuiltinMethodType) and known == dict.fromkeys:
        return _in_python(from_keys)
    if _starts_elsewhere(known):
        return _refuse(
            "what runs in another thread, process or event loop cannot be differentiated",
            "Call the function itself; or start the threads outside and differentiate in each.",
        )
    return HANDLERS.get(id(known))


_ELSEWHERE = {
    "threading": ("Thread", "Timer"),
    "concurrent": ("ThreadPoolExecutor", "ProcessPoolExecutor"),
    "multiprocessing": ("Process", "Pool", "ThreadPool"),
    "asyncio": ("run", "gather"),
}
"""By package: none of these is imported for it."""


def _starts_elsewhere(known: Any) -> bool:
    package = str(getattr(known, "__module__", "")).partition(".")[0]
    return getattr(known, "__name__", "") in _ELSEWHERE.get(package, ())


_chain_from_iterable = _as_it_is_asked(_in_python(chain_from_iterable), lazily_chained)
