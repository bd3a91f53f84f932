"""Ops by what a run-time value is asked for: `x.exp()`, `np.exp(x)`, `wg.ops.exp(x)`."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from ...errors import BadArgument, NoRule, UnknownFunction
from ...ir.callers import calling_span
from ...ir.op import Op, evaluator_of
from .. import registry
from ..signatures import bind


def op_of(function: Any) -> Op:
    """The op that a function spells.

    Raises:
        NoRule: it spells none.
    """
    found = registry.find(function)
    if found is None:
        raise no_op(function)
    return found[0]


def no_op(function: Any) -> NoRule:
    """The error for a function of which no derivative is known."""
    name = getattr(function, "__name__", repr(function))
    return NoRule(
        f"{name} is no op, so that nothing is known of its derivative",
        "Write it with other functions, or give it a rule: `wg.scalar_rule`, `wg.rrule`.",
        calling_span(),
    )


def op_of_name(name: str, owner: str) -> Op:
    """The op of which a value's method has the name, as NumPy, `math` or wengert spell it.

    Args:
        name: the name asked for.
        owner: what was asked, for the message.

    Raises:
        UnknownFunction: there is none of that name.
    """
    if name in _IN_PLACE:
        raise UnknownFunction(
            f"{owner} has no method {name!r}, which would change it in place",
            "Use a function that returns its result: `np.sort(x)`, `np.where(...)`.",
            calling_span(),
        )
    op = registry.find_method(name)
    if op is not None:
        return op
    for module in (np, math):
        found = registry.find(getattr(module, name, None))
        if found is not None:
            return found[0]
    try:
        return registry.named(name)
    except KeyError:
        pass
    raise UnknownFunction(
        f"{owner} has no attribute or function {name!r}{_meant(name)}",
        "Its methods are the functions of NumPy, `math` and `wg.ops`. A function of your own takes\n"
        "part once it has a rule (`wg.scalar_rule`).",
        calling_span(),
    )


def _meant(name: str) -> str:
    """What else may have been meant by a name."""
    names = [op.name for op in registry.ops() if {"np", "math"} & op.spellings.keys()]
    similar = difflib.get_close_matches(name, names, n=1, cutoff=0.8)
    return f"; is {similar[0]!r} meant?" if similar else ""


def must_be_number(value: Any, what: str) -> None:
    """Refuse what certainly is no number or array.

    Raises:
        BadArgument: naming the value, and what it was to be.
    """
    if getattr(type(value), "is_node", False):
        raise BadArgument(
            f"{value!r} is a term of a graph, and cannot be {what}",
            "Build the whole expression of terms, and take derivatives of that: `f(x).derive(x)`, `f(x).gradient(x)`.",
            calling_span(),
        )
    if isinstance(value, _NO_NUMBERS):
        raise BadArgument(
            f"{value!r} is no number, and cannot be {what}",
            "Numbers of every kind will do, and arrays: `np.array([1.0, 2.0])` instead of a list.",
            calling_span(),
        )


_NO_NUMBERS = (str, bytes, type(None), list, tuple, dict, set, frozenset, FunctionType, type)


_IN_PLACE = frozenset((
    "fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort",
))  # fmt: skip
"""Methods of arrays whose names are also those of functions that return a result."""


class Method:
    """A function bound to its first operand: what `x.exp` is."""

    __slots__ = ("op", "operand")

    def __init__(self, op: Op, operand: Any):
        self.op = op
        self.operand = operand

    def __call__(self, *args: Any, **options: Any) -> Any:
        operands, bound = bind(self.op, (self.operand, *args), options)
        return self.op(*operands, **bound)

    def __repr__(self) -> str:
        return f"<method {self.op.name} of {self.operand!r}>"


def called(function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A function of NumPy on values of which one is wengert's own.

    What is no op but written in terms of others is computed by its Python equivalent, or by NumPy's own
    Python code.
    """
    found = registry.find(function)
    if found is None:
        instead = equivalent_of(function)
        own = getattr(function, "__wrapped__", None)
        written = instead if instead is not None else own if isinstance(own, FunctionType) else None
        if written is not None:
            return written(*args, **keywords)
    op = op_of(function)
    operands, options = bind(op, args, keywords)
    evaluate = evaluator_of((*operands, *options.values()))
    return op(*operands, **options) if evaluate is None else evaluate(op, operands, options)


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """The Python function, written in terms of ops, that stands for one that is none."""
    return next(filter(None, (look(function) for look in registry.polyfills)), None)


_FOLDS = {
    ("add", "reduce"): "sum",
    ("multiply", "reduce"): "prod",
    ("maximum", "reduce"): "max",
    ("minimum", "reduce"): "min",
    ("add", "accumulate"): "cumsum",
    ("multiply", "accumulate"): "cumprod",
}


def called_elementwise(
    ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """One of NumPy's elementwise functions, or its `reduce`, `accumulate` or `outer`.

    Raises:
        UnknownFunction: another of its methods, `out=` or `where=`.
    """
    if options.pop("out", None) is not None or "where" in options:
        raise UnknownFunction(
            f"np.{ufunc.__name__} with `out` or `where` writes to its result",
            "Use the result it returns; choose elements with `np.where`.",
            calling_span(),
        )
    if method == "__call__":
        return called(ufunc, inputs, options)
    shape: Any = np.shape(inputs[0])  # a term has none yet
    if method == "outer" and isinstance(shape, tuple):
        first, second = inputs
        column = np.reshape(first, (*shape, *(1,) * int(np.ndim(second))))  # pyright: ignore[reportUnknownArgumentType]
        return ufunc(column, second, **options)
    name = _FOLDS.get((ufunc.__name__, method))
    if name is None:
        raise UnknownFunction(
            f"np.{ufunc.__name__}.{method} has no derivative",
            "Write it with other functions.",
            calling_span(),
        )
    operands, bound = bind(registry.named(name), inputs, {"axis": 0, **options})
    return registry.named(name)(*operands, **bound)
