"""Calls of functions of NumPy and SciPy: their Python is read, or what is written in its place."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import NoSource, UnsupportedSyntax
from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import UNKNOWN, Array, Number
from ...ops import structure as st
from ...rules.registry import rule_for
from ..domain.arguments import is_star
from ..domain.values import Args, Closure, Items, Kwargs, Value, tuple_of
from ..functions.closures import closure_of
from ..heap import identities, place_of, stands_for
from ..machine.interpreter import Interpreter
from ..machine.session import strictly
from ..polyfills import ordinary_options
from ..polyfills.numpy.ufuncs import method_of
from .closure_calls import call_closure
from .unread_calls import call_foreign
from .writing_functions import write_to_out

if TYPE_CHECKING:
    from types import FunctionType


LIBRARIES = {"numpy", "scipy"}
"""Where their Python cannot be read, their functions have no derivative, which only matters if used."""


def call_library_function(
    it: Interpreter, known: Any, implementation: FunctionType, args: Args, kwargs: Kwargs
) -> Value:
    """A function of NumPy or SciPy that is no op: its Python is read.

    Where that fails it has no derivative.
    """
    reading = functools.partial(call_closure, it, closure_of(it, implementation), args, kwargs)
    if it.frames and _is_of_library(it.frame.closure):
        return reading()
    if known.__name__ == "__init__":  # which changes an object: the class is called, or none of it
        return reading()
    return read_of_library(it, known, reading, args, kwargs)


def read_of_library(
    it: Interpreter, known: Any, reading: Callable[[], Value], args: Args, kwargs: Kwargs
) -> Value:
    """What reading a function or a class of NumPy or SciPy gives; else it is called, and has no derivative."""
    mark = it.mark()
    try:
        with strictly(it.reading):
            result = reading()
        if not any(map(_hides_a_function, it.builder.since(mark.last))):
            return result
    except (UnsupportedSyntax, NoSource):
        pass
    # an error in the derivative of what was read would show a line that is not the user's
    it.return_to(mark)
    return call_foreign(it, known, args, kwargs)


def call_ufunc_method(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """`np.add.reduce(x)`, `np.multiply.outer(x, y)`."""
    ufunc = known.__self__
    found = method_of(ufunc, known.__name__)
    if found is None:
        return call_foreign(it, known, args, kwargs)
    equivalent, of_any = found
    return call_equivalent(it, equivalent, [Const(ufunc), *args] if of_any else args, kwargs)


def call_equivalent(
    it: Interpreter, equivalent: Any, args: Args, kwargs: Kwargs, known: Any = None
) -> Value:
    """Call what stands for a function; what NumPy writes to `out` is its result."""
    count = getattr(known, "nout", 1) if isinstance(known, np.ufunc) else 1
    if count > 1:
        args, kwargs = _with_out_by_name(known, args, kwargs)
    elif known is not None and not any(map(is_star, args)):
        args, kwargs = ordinary_options.by_name(args, kwargs, equivalent, known)
    out = kwargs.get("out", Const(None))
    named = getattr(equivalent, "__kwdefaults__", None) or ()
    accepted = ordinary_options.parameters_of(equivalent) if kwargs else None
    if accepted is not None and not all(name in accepted for name in kwargs):
        kwargs = ordinary_options.without(kwargs, accepted, known)
        floats = ordinary_options.float_dtype(kwargs, accepted)
        if floats is not None and getattr(known, "__name__", "") in _FLOATS_AT_LAST:
            plain = {name: value for name, value in kwargs.items() if name != "dtype"}
            made = it.call_known(equivalent, args, plain)
            return ordinary_options.as_floats(it, made, floats)
    if out == Const(None) or "out" in (*equivalent.__code__.co_varnames, *named):
        made = it.call_known(equivalent, args, kwargs)
        if getattr(equivalent, "__name__", "") in _OF_VIEWS and isinstance(made, Var):
            source = args[0] if args else kwargs["x"]
            stands_for(it, place_of(it, made), identities(it, source, own=True))
        return made
    others = {name: value for name, value in kwargs.items() if name != "out"}
    made = it.call_known(equivalent, args, others)
    if count > 1 and isinstance(out, Items) and isinstance(made, Items):
        pairs = zip(out.values, made.values, strict=True)
        written = [x if o == Const(None) else write_to_out(it, o, x) for o, x in pairs]
        return tuple_of(*written)
    return write_to_out(it, out, made)


def _with_out_by_name(ufunc: np.ufunc, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs]:
    """The arrays that an elementwise function with several results writes to, which may be given by position."""
    out = args[ufunc.nin :]
    if not out:
        return args, kwargs
    return args[: ufunc.nin], {**kwargs, "out": tuple_of(*out)}


_FLOATS_AT_LAST = frozenset(("geomspace", "corrcoef", "cov"))
"""Functions whose results are given the dtype that is asked for, if of floats, at last."""

_OF_VIEWS = frozenset(("sliding_window_view",))
"""Functions that give views of an array, and copies as they are read: when it changes, they are lost."""


def _is_of_library(closure: Closure) -> bool:
    return str(closure.scope.globals.get("__name__")).split(".")[0] in LIBRARIES


def _hides_a_function(eqn: Eqn) -> bool:
    """Whether a call is of a function known only at run time, or of one that has no rule."""
    if eqn.op is st.apply or any(_hides_a_function(e) for block in eqn.blocks for e in block.eqns):
        return True
    known = eqn.op.spellings or eqn.op.control or rule_for(eqn.op) is not None
    return not known and eqn.namespace == "call" and any(map(_is_inexact, eqn.args))


def _is_inexact(atom: Atom) -> bool:
    match kind_of_atom(atom):
        case Number(type=type_):
            return type_ in ("float", "complex")
        case Array(dtype=dtype):
            return not dtype.startswith(("int", "uint", "bool"))
        case kind:
            return kind == UNKNOWN
