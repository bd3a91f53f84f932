"""Functions of libraries that are no ops, on boxes: by what stands for them, or by their own Python."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

from ...errors import NoRule, UnsupportedSyntax, WengertError
from ...ir.callers import calling_span
from ...numbers import solutions
from ...ops.dispatch.lookup import no_op
from ..polyfills import manifest, ordinary_options
from .arrays import all_plain
from .boxes import at_level_below, boxed_result, boxes_in, fresh, is_active, noting
from .operations import operations


def otherwise(function: Any, args: Any, keywords: Any) -> Any:
    """A function that is no op: by what stands for it, or by NumPy's own Python code."""
    holds = any(map(may_hold_boxes, (*args, *keywords.values())))
    if not holds and not any(is_active(box, box.tape) for box in boxes_in((args, keywords))):
        return fresh(_without_derivatives(function, args, keywords))
    instead = manifest.stand_in_for(function)
    if instead is not None:
        return by_stand_in(function, instead, args, keywords)
    if _own_code(function) is not None:
        return _by_own_code(function, args, keywords)
    raise no_op(function)


def by_stand_in(function: Any, instead: Any, args: Any, keywords: Any) -> Any:
    """What stands for a function of a library; its own code where it is given an option that only that knows."""
    args, keywords = ordinary_options.by_name(args, keywords, instead, function)
    accepted = ordinary_options.parameters_of(instead) if keywords else None
    if accepted is not None and not all(name in accepted for name in keywords):
        keywords = ordinary_options.left_of(keywords, accepted, function)
        others = [name for name in keywords if name not in accepted]
        if others and _own_code(function) is not None:
            return _by_own_code(function, args, keywords)
        if others:
            said = ordinary_options.not_covered(others[0], function.__name__)
            raise noting(UnsupportedSyntax(*said, calling_span()))
    return operations.current(instead)(*args, **keywords)


def _own_code(function: Any) -> FunctionType | None:
    """The Python that a function of a library consists of.

    What iterates until a tolerance is met gives values so, but no derivatives.
    """
    own = getattr(function, "__func__", function)
    own = own if isinstance(own, FunctionType) else getattr(function, "__wrapped__", None)
    iterates = str(getattr(function, "__module__", "")).startswith(
        ("scipy.optimize", "scipy.sparse.linalg")
    )
    return own if isinstance(own, FunctionType) and not iterates else None


def _by_own_code(function: Any, args: Any, keywords: Any) -> Any:
    """What the Python of a library gives for boxes, as code of the program does."""
    owner = [operations.current(function.__self__)] if isinstance(function, MethodType) else []
    try:
        return operations.of_library(_own_code(function))(*owner, *args, **keywords)
    except Exception as error:
        if isinstance(error, WengertError) or any(map(may_hold_boxes, (*args, *keywords.values()))):
            raise
        plainly(function, args, keywords)  # which may fail as well, as in the program
        raise noting(
            NoRule(
                f"the code of {function.__name__} does not take numbers with derivatives: {error}",
                "Write it with other functions, or give it a rule: `wg.scalar_rule`, `wg.rrule`.",
                calling_span(),
            )
        ) from error


def may_hold_boxes(x: Any) -> bool:
    """Whether an operand is a function or an iterator of the program's, which may give boxes, or a polyfill's object.

    It may be a list of such objects. The functions that give plain values to a solver are not.
    """
    if isinstance(x, (MethodType, partial, Iterator)) or is_polyfilled(type(x)):
        return True
    if type(x) in (list, tuple):
        return any(map(is_polyfilled, set(map(type, x))))
    return isinstance(x, FunctionType) and x.__code__.co_filename != solutions.__file__


def is_polyfilled(cls: type) -> bool:
    """Whether a class stands for one of a library's."""
    return cls.__module__.startswith(_OF_POLYFILLS)


_OF_POLYFILLS = manifest.__name__.rpartition(".")[0]


def _without_derivatives(function: Any, args: Any, keywords: Any) -> Any:
    """What a function gives for boxes without derivatives: what lies in their memory may be given some later."""
    found = boxes_in((args, keywords))
    if not found:
        return function(*args, **keywords)
    tape = max((box.tape for box in found), key=lambda tape: tape.level)
    below = tuple([at_level_below(x, tape) for x in args])
    named = {name: at_level_below(x, tape) for name, x in keywords.items()}
    memories = [box.memory for box in found if box.tape is tape and box.memory]
    return boxed_result(tape, _without_derivatives(function, below, named), memories)


def plainly(function: Any, args: Any, keywords: Any) -> Any:
    """What a function answers for the values alone."""
    return function(*map(all_plain, args), **{k: all_plain(x) for k, x in keywords.items()})
