"""What a function and its derivative give at a point, and the graph of what they compute there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from ...backends.graph.pictures.dot import Picture
from ...backends.graph.pictures.layout import layout
from ...backends.graph.pictures.svg import edge, node, note, page
from ...backends.graph.trace import trace
from ...compile.calling import argument_names
from ...errors import NotScalar, WengertError
from ..gradients import gradient
from ..jacobians import jacobian
from ..linear_maps import pullback

LONGEST_TEXT = 400
LARGEST_GRAPH = 60
"""Nodes of a graph that a reader can still follow."""
MOST_ORDERS = 3


def table(f: Callable[..., Any], args: Sequence[Any]) -> str:
    """A function's value and derivatives at a point."""
    value, _ = pullback(f, *args)
    names = argument_names(f, len(args))
    try:
        what, slopes = "gradient", list(gradient(f, *args))
    except NotScalar:
        what, slopes = "Jacobian", [_jacobian(f, k, args) for k in range(len(args))]
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{_shown(arg)}</td><td>{_shown(slope)}</td></tr>"
        for name, arg, slope in zip(names, args, slopes, strict=True)
    )
    return (
        f"<p>value: {_shown(value)}</p>"
        f"<table><tr><th>argument</th><th>at</th><th>{what}</th></tr>{rows}</table>"
    )


def _jacobian(f: Callable[..., Any], argnum: int, args: Sequence[Any]) -> Any:
    try:
        return jacobian(f, argnum)(*args)
    except WengertError as refusal:
        return refusal.findings[0].message
    except Exception as error:  # the function itself ran: of results that make no array
        return f"none: {error}"


def _shown(value: Any) -> str:
    """A value as text; a vector of numbers also as bars, upwards where they are positive."""
    with np.printoptions(threshold=30):
        text = repr(value) if isinstance(value, np.ndarray) else str(value)
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]} …"
    return f"<code>{escape(text)}</code>{_bars(value)}"


def _bars(value: Any) -> str:
    if not (isinstance(value, np.ndarray) and value.ndim == 1 and 2 <= value.size <= 200):
        return ""
    if value.dtype.kind != "f" or not np.all(np.isfinite(value)):
        return ""
    highest = max(float(np.max(np.abs(value))), 1e-300)
    width = max(2, min(16, 320 // value.size))
    bars = "".join(
        f'<rect x="{k * width}" y="{20 - max(size, 0.0):.1f}" width="{width - 1}" '
        f'height="{abs(size):.1f}"/>'
        for k, size in enumerate((value / highest * 20).tolist())
    )
    total = value.size * width
    return f'<br><svg width="{total}" height="40">{bars}<path d="M0 20H{total}" stroke="#8a93a6"/></svg>'


def graph(f: Callable[..., Any], args: Sequence[Any]) -> str:
    """A picture of what this call computes; nothing where it is no term, or too large to read."""
    try:
        term = trace(f, *args)
        if len(term.graph) > LARGEST_GRAPH:
            return ""
        if np.ndim(term.eval()) == 0:
            term.backprop()
        picture = term.to_svg(show_values=True)
    except Exception:  # of a container, or of a program that asks terms what only numbers can tell
        return ""
    return f"<figure>{picture}</figure>"


def by_orders(f: Callable[..., Any], args: Sequence[Any]) -> str:
    """A view of the graph of what this call computes and of its derivatives, by the order that brings each node.

    They are those by the first argument that is a number with a fraction; nothing where there is none, or the
    graph is too large to read.
    """
    try:
        term = trace(f, *args)
        names = argument_names(f, len(args))
        name = next(n for n, arg in zip(names, args, strict=True) if isinstance(arg, float))
        (variable,) = term.graph.variables(name)
        terms = [term]
        for _ in range(MOST_ORDERS):
            more = [*terms, terms[-1].derive(variable)]
            terms = more if len(Picture(more).nodes) <= LARGEST_GRAPH else terms
        picture = Picture(terms)
    except Exception:  # as above
        return ""
    orders: dict[Any, int] = {}
    for order, each in enumerate(terms):
        for var in Picture([each]).nodes:
            orders.setdefault(var, order)
    plan = layout(picture, lambda var: f"{picture.label(var)}\norder 1", 52)
    parts = [edge(boxes, "arrows") for boxes in plan.edges]
    for var in sorted(picture.nodes, key=orders.__getitem__):
        classes = "leaf" if picture.eqn(var) is None else "node"
        box = plan.boxes[var]
        inside = node(box, picture.label(var), classes) + note(box, f"order {orders[var]}")
        parts.append(f'<g class="n" data-on="1">{inside}</g>')
    return (
        '<div class="view" data-view="orders" hidden><h2><button data-open="0">back</button> '
        f"derivatives by {escape(name)}, order by order</h2>"
        f"<figure>{page(plan, parts, 'arrows')}</figure></div>"
    )
