"""Functions that are no ops, written out in ops on the terms of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import GraphError, WengertError
from ...ir.callers import calling_span
from .held import Held, Origin, gathered, terms_in

if TYPE_CHECKING:
    from .graph import Graph


def written_out(
    graph: Graph,
    function: Callable[..., Any],
    equivalent: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
) -> Any:
    """A function that is no op but has an equivalent in ops, for variables of the kinds that they have so far.

    Raises:
        GraphError: for variables of these kinds it cannot be called.
    """
    graph.builder.span = calling_span()
    args = graph.kept(tuple(args))
    options = {name: graph.kept(value) for name, value in options.items()}
    named = {name: _in_row(value) for name, value in options.items()}
    try:
        result = equivalent(*map(_in_row, args), **named)
    except WengertError as error:
        raise error.also(_OF_ARRAYS) from None
    except Exception as error:
        raise _unwritten(function, str(error)) from error
    written = _out_of_row(result, ("call", function, args, options), ())
    if next(terms_in((written,)), None) is None:
        raise _unwritten(function, f"it would be {written!r}")
    return written


_OF_ARRAYS = (
    "If a variable is to be an array, say so: `graph.variables('x', like=np.zeros(3))`, or\n"
    "`wg.trace(f, x)` with an example."
)


def _unwritten(function: Callable[..., Any], why: str) -> GraphError:
    return GraphError(
        f"np.{function.__name__} cannot be written out for variables of the kinds known so far: {why}",
        _OF_ARRAYS,
        calling_span(),
    )


def _in_row(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_in_row, value))
    return value.graph.row_term(value.atom) if isinstance(value, Held) else value


def _out_of_row(value: Any, origin: Origin, path: tuple[int, ...]) -> Any:
    if isinstance(value, np.ndarray):
        value = gathered(value)
    if isinstance(value, (list, tuple)):
        items = [_out_of_row(item, origin, (*path, k)) for k, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if not isinstance(value, Held):
        return value
    return value.graph.term(value.atom, (*origin, path), derived=True)
