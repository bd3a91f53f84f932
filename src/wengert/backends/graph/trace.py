"""The term that a call of a function computes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ...ops.dispatch.substitution import with_ops
from .graph import Graph


def trace(f: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function with terms in place of its arguments.

    Args:
        f: any callable that computes with numbers or arrays. It is run once; a loop is traced as often as
            it runs for these arguments.
        args: the values of the variables, numbers and arrays; lists, tuples and dictionaries of them are
            taken apart. Text, truth values and functions are passed on as they are. An integer that counts (in
            `range(n)`, or as an index of a list) keeps its value from then on.
        named: more of them, by name.

    Returns:
        What `f` returned, a term, or a container of terms, of a new graph. Its variables are named after the
        parameters and have the values of the arguments.

    Raises:
        GraphError: the function asks whether a term is true: which branch it takes depends on the values.
        BadArgument: f cannot be called.

    Example:
        >>> f = trace(lambda a, b: a * b + b.sin(), 2.0, 3.0)
        >>> print(f, f.gradient())
        a * b + sin(b) (<Term b>, <Term cos(b) + a>)
    """
    run = with_ops(f)
    graph = Graph()
    names = _names(f, len(args))
    terms = [_variable(graph, name, arg) for name, arg in zip(names, args, strict=True)]
    return run(*terms, **{name: _variable(graph, name, arg) for name, arg in named.items()})


def _variable(graph: Graph, name: str, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        items = [_variable(graph, f"{name}_{k}", item) for k, item in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, dict):
        return {key: _variable(graph, f"{name}_{key}", item) for key, item in value.items()}
    if isinstance(value, (bool, str, bytes)) or value is None or callable(value):
        return value
    (term,) = graph.variables(name, like=value)
    graph.set(**{name: value})
    return term


def _names(f: Callable[..., Any], count: int) -> list[str]:
    """The names of the parameters that the arguments belong to."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return [f"x{k}" for k in range(count)]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "x")
    return [*names[:count], *(f"{rest}_{k}" for k in range(count - len(names)))]
