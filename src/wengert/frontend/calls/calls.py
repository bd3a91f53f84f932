"""Calls: what is called, and whether it is inlined."""

from __future__ import annotations

import functools
import operator
import sys
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...errors import NoSource
from ...ir.graph import Const, Var
from ...ir.op import Op
from ...ir.types import STR, Array, Number, Seq
from ...ops import registry as ops, structure as st
from ..boundary.foreign_libraries import draws
from ..boundary.signature import derives
from ..classes.bound_methods import bound
from ..classes.class_lookup import class_of, in_python, is_generated, owner_of_init
from ..data import columns
from ..domain.arguments import is_star
from ..domain.number_classes import classes_of
from ..domain.values import (
    Args,
    Closure,
    FunctionTemplate,
    Items,
    Kwargs,
    LazyIterable,
    Native,
    Value,
    as_known,
    flatten,
    is_object,
)
from ..functions.closures import bound_before, closure_of, closure_of_items
from ..functions.wrong_calls import refuse_wrong_call
from ..heap import captures, now
from ..machine.failing import fail_now, raise_now
from ..machine.guards import rely_on_count, rely_on_partial
from ..machine.interpreter import Interpreter
from ..polyfills import manifest
from ..polyfills.numpy.by_entries import vectorized
from ..syntax.declarations import changes_its_object
from . import remembering, writing_functions
from .closure_calls import op_with_rule
from .library_calls import LIBRARIES, call_equivalent, call_library_function, call_ufunc_method
from .unread_calls import call_foreign, call_sourceless, draw, opaque

if TYPE_CHECKING:
    from types import FunctionType


OPAQUE_MODULES = {"logging", "warnings", "time", "os", "sys", "datetime", "io", "pathlib"}
"""Their functions are called as they are: no derivative flows through them."""

_OF_CONSTANTS = {
    "random", "re", "json", "string", "textwrap", "csv", "calendar", "hashlib", "uuid", "unicodedata",
}  # fmt: skip
"""Their functions are called as they are, and refused where a derivative would flow through them."""


def call(it: Interpreter, function: Value, args: Args, kwargs: Kwargs) -> Value:
    """Call any value."""
    match function:
        case Native():
            return function.call(it, args, kwargs)
        case Closure(function=known) if known and _by_itself(known):
            return call_known(it, known, args, kwargs)
        case Closure():
            return it.call_closure(function, args, kwargs)
        case Items(form="function", type=FunctionTemplate()):
            return call(it, captures.put_together(function), args, kwargs)
        case Items(form="function") if _by_itself(function.type.function):
            return call_known(it, function.type.function, args, kwargs)
        case Items(form="function"):
            special = it.reading.special(function.type.function)
            if special is not None:
                return special(it, args, kwargs)
            found = op_with_rule(it, function.type.function)  # a rule needs no source
            if found is not None:
                return _beside_captured(it, function, it.emit_op(*found, args, kwargs))
            return it.call_closure(closure_of_items(it, function), args, kwargs)
        case Items(form="derivative", type=verb):
            return it.reading.derivative(it, verb, function["function"], args, kwargs)
        case Items(form="object", type=types.MethodType):
            return call(it, function["__func__"], [function["__self__"], *args], kwargs)
        case Items(form="dataclass" | "object" | "namedtuple"):
            own = getattr(function.type, "__call__", None)  # noqa: B004
            special = it.reading.special(own)
            if special is not None:
                return special(it, [function, *args], kwargs)
            result = it.call_method_of_class(function, "__call__", args, kwargs)
            if result is None:
                raise_now(it, TypeError, f"'{function.type.__name__}' object is not callable")
            return result
        case Const(value=known) if callable(known):
            return call_known(it, known, args, kwargs)
        case Var():
            return _call_at_run_time(it, function, args, kwargs)
        case LazyIterable(form="checkpoint", function=Native() as checkpointed):
            return checkpointed.call(it, args, kwargs)
        case _:
            raise _no_function(it, function)


def _beside_captured(it: Interpreter, function: Items, result: Value) -> Value:
    """What a function with a rule returned, with what it has captured: the rule does not differentiate that."""
    pairs = zip(function.keys, function.values, strict=True)
    captured = [(name, atom) for name, value in pairs for atom in flatten(value)]
    if not captured or not isinstance(result, Var):
        return result
    names = Const(tuple(name for name, _ in captured))
    function_name = Const(function.type.function.__qualname__)
    params = {"function": function_name, "names": names}
    return it.builder.emit_with(st.ruled, (result, *(atom for _, atom in captured)), params)


def _no_function(it: Interpreter, value: Value) -> Exception:
    """The refusal, where it is not known that Python raises a TypeError when the program runs."""
    if isinstance(value, Const):
        fail_now(it, operator.call, value)
    if isinstance(value, Items) and value.form in ("list", "tuple", "dict", "set"):
        raise_now(it, TypeError, f"'{value.form}' object is not callable")
    return it.unsupported("this value is not a function that can be called", "Call a function.")


def _call_at_run_time(it: Interpreter, function: Var, args: Args, kwargs: Kwargs) -> Value:
    if isinstance(function.kind, (Number, Array, Seq)) or function.kind == STR:
        fail_now(it, operator.call, function)
    if any(map(is_star, args)):
        raise it.unsupported(
            "`*` is not covered in a call of a function that is known only when the program runs",
            "Pass the sequence itself.",
        )
    _refuse_to_change(it, function)
    it.reading.unseen.append(
        it.unsupported(
            "a function that is known only when the program runs may see what this program changes outside of it",
            "Call it by its name, or pass what changes to it as an argument.",
        )
    )
    atoms = [it.atom(arg) for arg in (*args, *kwargs.values())]
    return it.emit(st.apply, function, *atoms, names=Const(tuple(kwargs)))


def _refuse_to_change(it: Interpreter, function: Var) -> None:
    """Refuse a method, of an object that only the run knows, that changes the object: the run would refuse it.

    Read once more, for the values of a call, the object may be known.
    """
    made = it.builder.visible_definition(function)
    name = made.param("name") if made is not None and made.op is st.getattr_ else None
    for cls in it.reading.made_of:
        method = getattr(cls, str(name), None)
        if isinstance(method, types.FunctionType) and changes_its_object(method):
            raise it.unsupported(
                f"{name} changes an object that is known only when the program runs",
                "Choose the object where wengert can see it, or return the new value.",
            )


# --- known callables ----------------------------------------------------------------------


def call_known(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """Call a Python object that is known when the program is read."""
    special = it.reading.special(known)
    if special is not None:
        return special(it, args, kwargs)
    if derives(known):
        return it.reading.derivative(it, known.verb, as_known(known.function), args, kwargs)
    asked = columns.call(it, known, args, kwargs)
    if asked is not None:
        return asked

    said = it.call_on_object(known, args, kwargs)
    if said is not None:
        return said
    handler = it.handler_of(known)
    if handler is not None:
        refuse_wrong_call(it, known, args, kwargs)
        return handler(it, args, kwargs)
    if isinstance(known, Op):
        return it.emit_op(known, it.namespace, args, kwargs, row=True)
    found = ops.find(known)
    if found is not None and not it.reading.opted_out(found[0]):
        refuse_wrong_call(it, known, args, kwargs)
        if found[1] == "np":
            args = [it.in_numpy(arg) for arg in args]
            it.refuse_unknown(("__iter__", "__getitem__"), args)
        said = it.as_operator(known, *found, args)
        if said is not None:
            return said
        return it.emit_op(*found, args, kwargs)
    handler = it.rarer_handler_of(known)
    if handler is not None:
        refuse_wrong_call(it, known, args, kwargs)
        return handler(it, args, kwargs)
    return _call_python(it, known, args, kwargs)


def _call_python(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    writes = writing_functions.ufunc_at(it, known)
    if writes is not None:
        return writes(it, args, kwargs)
    equivalent = manifest.late_equivalent(known)
    if equivalent is not None:
        return call_equivalent(it, equivalent, args, kwargs, known)
    drawn = _drawn(it, known, args, kwargs)
    if drawn is not None:
        return call_known(it, drawn, [Const(known.__self__), *args], kwargs)
    written = functools.partial(_call_written, it, known)
    if getattr(known, "__self__", None) is None or not hasattr(known, "__name__"):
        return written(args, kwargs)
    from ..machine.drawing import drawing

    return drawing(it, Const(known.__self__), known.__name__, args, kwargs, written)


def _call_written(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    module = _module_of(known)
    if module in OPAQUE_MODULES:
        return opaque(it, known, args, kwargs)
    if draws(known):
        return draw(it, known, args, kwargs)
    if module in _OF_CONSTANTS:
        from ..data.known_text import called

        as_it_is = functools.partial(call_foreign, it, known, args, kwargs)
        return called(it, known, args, kwargs, as_it_is)
    return _call_by_kind(it, known, module, args, kwargs)


def _call_by_kind(it: Interpreter, known: Any, module: str, args: Args, kwargs: Kwargs) -> Value:
    """A call of something that Python calls in a way of its own: a method, a class, a partial function …"""
    match known:
        case functools._lru_cache_wrapper(__wrapped__=types.FunctionType()):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            return remembering.call_remembered(it, known, args, kwargs)
        case types.MethodWrapperType(__self__=function) if known.__name__ == "__get__" and args:
            if isinstance(function, (types.GetSetDescriptorType, types.MemberDescriptorType)):
                return call_foreign(it, known, args, kwargs)
            return bound(args[0], as_known(function), known.__name__)
        case types.FunctionType():
            return _call_function(it, known, module, args, kwargs)
        case (
            types.MethodDescriptorType(__objclass__=np.ndarray)
            | types.WrapperDescriptorType(__objclass__=np.ndarray)
        ) if args:
            return it.call_method(args[0], known.__name__, args[1:], kwargs)
        case types.MethodDescriptorType() | types.WrapperDescriptorType() if args:
            return _call_of_container(it, known, args, kwargs)
        case types.BuiltinMethodType() if isinstance(known.__self__, np.ufunc):
            return call_ufunc_method(it, known, args, kwargs)
        case np.vectorize():
            options = (known.otypes, tuple(known.excluded), known.cache, known.signature)
            said = map(as_known, (known.pyfunc, *options))
            return call_known(it, vectorized, [*said, *args], kwargs)
        case types.MethodType() if type(known.__func__).__name__ != "cython_function_or_method":
            return call_known(it, known.__func__, [as_known(known.__self__), *args], kwargs)
        case functools.partial():
            before = [bound_before(it, a) for a in known.args]
            named = {k: bound_before(it, v) for k, v in known.keywords.items()}
            rely_on_partial(it.reading.guards, known)
            return call_known(it, known.func, [*before, *args], {**named, **kwargs})
        case operator.itemgetter() | operator.attrgetter() | operator.methodcaller():
            made_by, made_of = known.__reduce__()[:2]
            made = call_known(it, made_by, [as_known(each) for each in made_of], {})
            return call(it, made, args, kwargs)
        case type():
            return it.construct(known, args, kwargs)
        case _:
            return _call_around(it, known, args, kwargs)


def _call_function(it: Interpreter, known: Any, module: str, args: Args, kwargs: Kwargs) -> Value:
    """A call of a function that is written in Python."""
    of_attrs = it.handler_of_attrs(known)
    if of_attrs is not None:
        return of_attrs(it, args, kwargs)
    if known.__name__ == "__new__" and args and _makes_a_namedtuple(known, args[0]):
        return it.new_namedtuple(args[0].value, args[1:], kwargs)  # type: ignore[union-attr]
    if known.__code__ is _MAKE and _is_plain_namedtuple(args):
        return call(it, Const(manifest.namedtuple_of), args, kwargs)
    if module in LIBRARIES:
        return call_library_function(it, known, known, args, kwargs)
    if args and hasattr(known, "registry") and hasattr(known, "dispatch"):
        # more classes may get functions of their own
        rely_on_count(it.reading.guards, known.registry)
        return call(it, _dispatched(it, known.dispatch, args[0]), args, kwargs)
    owner = owner_of_init(known, args[0]) if args else None
    if owner:
        return it.init_of_base(owner, args, kwargs)
    try:
        closure = closure_of(it, known)
    except NoSource as refusal:
        return call_sourceless(it, known, refusal, args, kwargs)
    return it.call_closure(closure, args, kwargs)


def _call_around(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """A call of an object that stands around a function written in Python; of another it is called as it is."""
    implementation = getattr(known, "_implementation", None)
    if isinstance(implementation, types.FunctionType):
        return call_library_function(it, known, implementation, args, kwargs)
    inner = getattr(known, "__wrapped__", None)
    picks = type(known).__module__ == "uarray"  # what it wraps says which arguments are arrays
    if isinstance(inner, types.FunctionType) and not picks:
        return it.call_closure(closure_of(it, inner), args, kwargs)
    own = vars(type(known)).get("__call__") or getattr(type(known), "__call__", None)  # noqa: B004
    if isinstance(own, types.FunctionType):
        return call_known(it, own, [Const(known), *args], kwargs)
    return call_foreign(it, known, args, kwargs)


def _call_of_container(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """`dict.__getitem__(x, key)`: also of an object whose class has a method of its own of that name."""
    receiver, written = now(it, args[0]), in_python(known)
    if is_object(receiver) and written is not known:
        return call(it, Const(written), args, kwargs)
    if isinstance(receiver, Var) or (isinstance(receiver, Items) and written is not known):
        return it.call_method(receiver, known.__name__, args[1:], kwargs)
    return call_foreign(it, known, args, kwargs)


def _makes_a_namedtuple(function: FunctionType, cls: Value) -> bool:
    """Whether a function is the `__new__` that Python itself has written for a namedtuple."""
    is_class = isinstance(cls, Const) and hasattr(cls.value, "_fields")
    return is_class and is_generated(function)


_MAKE = NamedTuple("_Any", [])._make.__func__.__code__  # type: ignore[attr-defined]


def _is_plain_namedtuple(args: Args) -> bool:
    """Whether the first operand is the class of a namedtuple that is made as all are."""
    cls = args[0].value if args and isinstance(args[0], Const) else None
    return isinstance(cls, type) and _makes_a_namedtuple(cls.__new__, args[0])  # type: ignore[arg-type]


def _drawn(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Any:
    """What stands for a method of a generator of random numbers."""
    from ..machine.drawing import drawn_by

    if getattr(known, "__self__", None) is None or not hasattr(known, "__name__"):
        return None
    return drawn_by(it, Const(known.__self__), known.__name__, args, kwargs)


def _by_itself(function: FunctionType) -> bool:
    """Whether a function is called for what it is known as, and not read like one of the user's."""
    module = _module_of(function)
    of_python = module in sys.stdlib_module_names and not function.__closure__
    as_they_are = module in LIBRARIES or draws(function)
    return of_python or as_they_are or hasattr(function, "registry")


def _dispatched(it: Interpreter, dispatch: Callable[[type], Any], first: Value) -> Value:
    """The function that `functools.singledispatch` chooses, by the class of the first argument."""
    value = now(it, first)
    classes = classes_of(it, value) or (class_of(value),)
    functions = [None if cls is None else dispatch(cls) for cls in classes]
    if functions[0] is None or any(each is not functions[0] for each in functions):
        raise it.unsupported(
            "which function is dispatched to depends on a class that only the run knows",
            "Create the object in the function, or specialise on an example of it.",
        )
    return as_known(functions[0])


def _module_of(function: Any) -> str:
    """The package that a function comes from."""
    return (getattr(function, "__module__", None) or "").split(".")[0].lstrip("_")
