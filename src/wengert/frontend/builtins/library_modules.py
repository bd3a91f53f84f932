"""Functions of the standard library's modules, and builtins that few programs call.

Those of `library` that shape a program; here is also what is read instead of functions written in C.
"""

from __future__ import annotations

import array
import functools
import itertools
import struct
import sys
import traceback
from contextlib import suppress
from contextvars import ContextVar
from types import BuiltinMethodType, FunctionType, MappingProxyType
from typing import Any

import numpy as np

from ...ir.graph import Const
from ...ir.types import INT, STR, UNKNOWN, Array, Kind, Struct, is_differentiable
from ...ops.array_kinds import length_of
from ...ops.program import identity as ident
from ...ops.registry import named
from ..calls import opcalls, writing_functions as writing
from ..classes import instances
from ..control import contexts
from ..domain.values import PLAIN, Args, Closure, Items, Kwargs, Value, kind_of_value, tuple_of
from ..functions import purity
from ..iterate import iterators
from ..machine.interpreter import Interpreter
from ..objects.identities import holds_by_identity, refuse_identity, refuse_in_sets
from ..polyfills import manifest
from ..polyfills.numpy.functions import elements_together
from ..polyfills.stdlib import (
    collections as container_polyfills,
    contextlib as context_polyfills,
    iterators as iterator_polyfills,
    pools,
)
from . import (
    introspection,
    library_classes,
    library_copies,
    library_functional,
    library_objects,
    library_records,
)
from .library import Handler
from .on_demand import as_it_is_asked, at_once


def _id(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    refuse_identity(it, args[0])
    return it.opaque(id, args, kwargs, INT)


def _hash(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    own = it.call_method_of_class(args[0], "__hash__", [])
    if own is not None:
        return own
    if holds_by_identity(it, args[0]):
        refuse_identity(it, args[0])
        refuse_in_sets(it, args[0])
    instances.refuse_unknown_class(it, args[0])
    return it.opaque(hash, args, kwargs, INT)


def _globals(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    around = it.frame.scope.globals
    module = sys.modules.get(str(around.get("__name__")))
    if module is None or vars(module) is not around:
        raise it.unsupported("`globals()` of code that is in no module", "Name what is meant.")
    return it.call(Const(container_polyfills.Globals), [Const(module)], {})


def _array(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`array.array`: of all types but Python's floats it is made when the program runs."""
    if args and args[0] == Const("d"):
        return it.call(Const(container_polyfills.NumberArray), args, kwargs)
    return it.call_foreign(array.array, args, kwargs)


def _nditer(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if "op_flags" in kwargs or len(args) > 2:
        raise it.unsupported(
            "an iterator of NumPy's that writes to arrays is not covered",
            "Loop over the indices: `for i in np.ndindex(a.shape): a[i] = …`.",
        )
    if len(args) != 1 or not all(_changes_nothing(*option) for option in kwargs.items()):
        raise it.unsupported(
            "the options of `np.nditer` are not covered",
            "Loop over `np.ndenumerate(a)`, or over the indices: `for i in np.ndindex(a.shape)`.",
        )
    if isinstance(args[0], Items) and args[0].form in ("list", "tuple"):
        return it.call(Const(elements_together), list(args[0].values), {})
    return it.call(Const(np.ravel), args, {"order": Const("K")})  # in the order of memory


def _broadcast_shapes(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`np.broadcast_shapes`: as many axes as the longest shape, where the lengths of all are known."""
    lengths = [length_of(it.atom(arg)) for arg in args]
    ranks = [length for length in lengths if length is not None]
    if not ranks or len(ranks) < len(lengths):
        return it.call_foreign(np.broadcast_shapes, args, kwargs)
    axes = tuple(range(max(ranks)))
    kind = Struct("tuple", axes, (INT,) * len(axes))
    return it.opaque(np.broadcast_shapes, args, kwargs, kind)


def _changes_nothing(name: str, value: Value) -> bool:
    """Whether an option of `np.nditer` leaves it the numbers of an array in the order of memory."""
    flags = value.values if isinstance(value, Items) else [value]
    if name == "order":
        return value == Const("K")
    ordinary = ("refs_ok", "zerosize_ok", "common_dtype")
    return name == "flags" and all(isinstance(f, Const) and f.value in ordinary for f in flags)


def _as_it_is(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, *rest = args
    known = function.function if isinstance(function, Closure) else function.value  # type: ignore[union-attr]
    return it.call_foreign(known, rest, kwargs)


def _dtype(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`np.dtype` of what is known when the program is read."""
    try:
        said = it.constant(args[0])
    except LookupError:
        return it.call_foreign(np.dtype, args, kwargs)
    return Const(np.dtype(list(said) if isinstance(said, tuple) else said))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _divmod(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    import ast

    a, b = args
    node = ast.Pass()
    return tuple_of(it.binary(ast.FloorDiv(), a, b, node), it.binary(ast.Mod(), a, b, node))


def _refuse(what: str, hint: str) -> Handler:
    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        raise it.unsupported(what, hint)

    return handler


def _opaque(function: Any) -> Handler:
    return lambda it, args, kwargs: it.opaque(function, args, kwargs, UNKNOWN)


def _text_of(function: Any, kind: Kind) -> Handler:
    """A function that shows a value: what it says of one that is known, is known."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        values = [arg.value for arg in args if isinstance(arg, Const) and type(arg.value) in PLAIN]
        if values and len(values) == len(args) and not kwargs:
            with suppress(Exception):  # it must fail when the program runs
                return Const(function(*values))
        return it.opaque(function, args, kwargs, kind)

    return handler


_ASKED_OF_PYTHON = (sys.exc_info, traceback.format_exc, traceback.print_exc, traceback.format_stack)
"""What Python knows of the code that runs: not that of the program, where that is differentiated."""


def _looking_into(function: Any, first: int, name: str) -> Handler:
    """A function that looks into the memory of what it is given: from that argument on, or by that name."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = [*args[first:], *(value for key, value in kwargs.items() if key == name)]
        if any(
            isinstance(kind_of_value(value), Array) or kind_of_value(value) == UNKNOWN
            for value in given
        ):
            raise it.unsupported(
                f"`{function.__name__}` looks into the memory of an array",
                "Read and write the array itself, or a view of it (`a[1:]`, `a.reshape(…)`).",
            )
        return it.call_foreign(function, args, kwargs)

    return handler


def _set_for_context(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    kinds = [kind_of_value(value) for value in args if not isinstance(value, Const)]
    if any(kind != UNKNOWN and is_differentiable(kind) for kind in kinds):
        raise it.unsupported(
            "a context variable is given a value that may have a derivative",
            "Pass the value as an argument, or keep it in an attribute of an object.",
        )
    return it.opaque(known, args, kwargs)


_SHOWN = (repr, str, format, ascii, chr, bin, hex)


_COUNTED = (ord,)


_OPAQUE = (print, input, open, dir)


_OF_FILES = frozenset(("os", "posixpath", "ntpath", "genericpath"))


_BLIND = (eval, exec, compile, __import__)


def _in_a_process(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A call whose changes of anything outside would be lost."""
    if not purity.is_pure(it, args[0]):
        raise it.unsupported(
            "a process of its own is to run a function that reads or changes more than its arguments",
            "Pass it what it reads, and return what it changes; or call it here, or in a thread.",
        )
    return it.call(Const(pools.on_copies), args, kwargs)


_HANDLERS: list[tuple[Any, Handler]] = [
    (divmod, _divmod),
    (manifest.as_it_is, _as_it_is),
    (pools.in_a_process, _in_a_process),
    (
        manifest.matrix_product,
        lambda it, args, kwargs: it.emit(named("matmul"), *map(it.atom, args)),
    ),
    (np.nditer, _nditer),
    (np.broadcast_shapes, _broadcast_shapes),
    (id, _id),
    (hash, _hash),
    (globals, _globals),
    (
        frozenset,
        lambda it, args, kwargs: it.call_foreign(frozenset, [it.as_list(a) for a in args], {}),
    ),
    (iter, iterators.make_iterator),
    (next, iterators.next_item),
    (iterator_polyfills.step, iterators.step),
    (
        iterator_polyfills.equally_long,
        lambda it, args, kwargs: it.emit(ident.equally_long, *map(it.atom, args)),
    ),
    (array.array, _array),
    (memoryview, _looking_into(memoryview, 0, "object")),
    (
        MappingProxyType,
        _refuse("a view of a dictionary, which changes with it", "Use the dictionary, or a copy."),
    ),
    (np.frombuffer, _looking_into(np.frombuffer, 0, "buffer")),
    (np.ndarray, _looking_into(np.ndarray, 2, "buffer")),
    (struct.pack_into, _looking_into(struct.pack_into, 1, "")),
    *library_functional.HANDLERS,
    (np.dtype, _dtype),
    *((function, _refuse(*opcalls.RECORDS)) for function in (np.rec.array, np.rec.fromarrays)),
    *((function, _opaque(function)) for function in _OPAQUE),
    *((function, _text_of(function, STR)) for function in _SHOWN),
    *((function, _text_of(function, INT)) for function in _COUNTED),
    *(
        (
            function,
            _refuse(
                f"what `{function.__name__}` says of the exception that is being handled",
                "Name the exception, `except Error as error`, and read that.",
            ),
        )
        for function in _ASKED_OF_PYTHON
    ),
    (
        functools.singledispatch,
        _refuse(
            "which functions the program registers with `singledispatch` is known only when it runs",
            "Define the dispatching function outside, or ask for the class with `isinstance`.",
        ),
    ),
    (
        functools.cmp_to_key,
        _refuse("items are put in order by a comparison", "Give `sorted` the key of an item."),
    ),
    (
        container_polyfills.other_use_of_globals,
        _refuse("`globals()` is only looked into, by name", "Write `globals()[name]`."),
    ),
    (
        locals,
        _refuse(
            "which names are bound where `locals()` is called is known only when the program runs",
            "Write the dictionary out: `{'x': x, 'y': y}`.",
        ),
    ),
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
    return lambda it, args, kwargs: it.call(Const(equivalent), args, kwargs)


def _listed(equivalent: Any) -> Handler:
    return lambda it, args, kwargs: it.as_list(it.call(Const(equivalent), args, kwargs))


_EAGER: dict[int, Handler] = {
    **{id(function): _listed(equivalent) for function, equivalent in iterator_polyfills.LAZY},
    **{
        id(function): handler
        for function, handler in (
            *_HANDLERS,
            *contexts.HANDLERS,
            *library_objects.HANDLERS,
            *library_classes.HANDLERS,
            *library_copies.HANDLERS,
            *library_records.HANDLERS,
        )
    },
    **{
        id(function): _in_python(equivalent)
        for function, equivalent in (
            *manifest.EQUIVALENTS,
            *context_polyfills.EQUIVALENTS,
            *iterator_polyfills.ENDLESS,
            *writing.IN_PYTHON,
            *container_polyfills.STAND_INS,
        )
    },
}


HANDLERS: dict[int, Handler] = {
    **_EAGER,
    **{
        id(function): at_once(_EAGER[id(function)], equivalent.__name__)
        for function, equivalent in (*iterator_polyfills.LAZY, *manifest.AT_ONCE)
    },
    id(itertools.groupby): as_it_is_asked(_in_python(iterator_polyfills.groupby), "groupby_"),
    **{id(function): handler for function, handler in writing.BY_HAND},
}


def handler_of(known: Any) -> Handler | None:
    """How to read a call of a function that Python implements."""
    if isinstance(known, BuiltinMethodType) and known == itertools.chain.from_iterable:
        return _chain_from_iterable
    if isinstance(known, BuiltinMethodType) and known == dict.fromkeys:
        return _in_python(manifest.from_keys)
    if isinstance(getattr(known, "__self__", None), ContextVar) and known.__name__ == "set":
        return lambda it, args, kwargs: _set_for_context(it, known, args, kwargs)
    module = getattr(known, "__module__", None)
    if module in ("inspect", "sys", "traceback"):
        asks = introspection.handler(module, known)
        if asks is not None:
            return asks
    if module in _OF_FILES and isinstance(known, FunctionType):
        return _opaque(known)
    known_to_runs = _KNOWN_TO_RUNS.get(str(module)) or _KNOWN_TO_RUNS.get(_full_name(known))
    if known_to_runs is not None:
        return _refuse(*known_to_runs)
    if _starts_elsewhere(known):
        return _refuse(
            "what runs in another thread, process or event loop cannot be differentiated",
            "Call the function itself; or start the threads outside and differentiate in each.",
        )
    return HANDLERS.get(id(known))


_QUEUES = (
    "what a queue holds that threads share is known only when the program runs",
    "Use a list, `collections.deque` or `heapq`.",
)


_WEAK_REFERENCES = (
    "whether an object is still there that a weak reference refers to is known only when the program runs",
    "Keep the object itself in place of the reference.",
)


_UNPICKLED = (
    "of which class an object is that `pickle` makes is known only when the program runs",
    "Load it outside of the function and pass it as an argument.",
)


_KNOWN_TO_RUNS = {
    **dict.fromkeys(("queue", "_queue"), _QUEUES),
    **dict.fromkeys(("weakref", "_weakref", "_weakrefset"), _WEAK_REFERENCES),
    **dict.fromkeys(("_pickle.loads", "_pickle.load"), _UNPICKLED),
}
"""By module or function: what reading cannot know of its functions and classes, and what to do."""


_ELSEWHERE = {
    "threading": ("Thread", "Timer"),
    "multiprocessing": ("Process",),
    "asyncio": ("run", "gather"),
}
"""By package: none of these is imported for it."""


def _full_name(known: Any) -> str:
    return f"{getattr(known, '__module__', '')}.{getattr(known, '__name__', '')}"


def _starts_elsewhere(known: Any) -> bool:
    package = str(getattr(known, "__module__", "")).partition(".")[0]
    return getattr(known, "__name__", "") in _ELSEWHERE.get(package, ())


_chain_from_iterable = at_once(_in_python(manifest.chain_from_iterable), "chain_from_iterable")


_PACKAGES = sys.stdlib_module_names | {"numpy", "wengert"}


def rarer_handler_of(it: Interpreter, known: Any) -> Handler | None:
    """How to read a call of another function of Python's or NumPy's that is no op."""
    # a method or slot of a builtin class names no module
    module = str(getattr(known, "__module__", None) or "builtins")
    return handler_of(known) if module.partition(".")[0] in _PACKAGES else None
