"""`weakref.ref`: what it refers to is there as long as somebody else holds it, which reading has to know."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.graph import Var
from ..domain.values import Args, Items, Kwargs, Value
from ..heap import content_in, place_of
from ..machine.interpreter import Interpreter
from ..polyfills.stdlib import collections as container_polyfills


def still_there(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """What a weak reference gives, of an object that a variable of a function that runs leads to.

    Raises:
        UnsupportedSyntax: none is known to: Python may have let the object go.
    """
    (referent,) = args
    if any(_is_same(it, value, referent) for value in _held(it)):
        return referent
    raise it.unsupported(
        "whether an object is still there that a weak reference refers to is known only when the program runs",
        "Keep the object in a variable while the reference is used; or keep the object itself in place of it.",
    )


def _is_same(it: Interpreter, a: Value, b: Value) -> bool:
    if isinstance(a, (Items, Var)) and isinstance(b, (Items, Var)):
        return a is b or place_of(it, a) is place_of(it, b)
    return False


def _held(it: Interpreter) -> Iterator[Value]:
    """The objects that the variables of the functions that run hold, and what these hold."""
    pending = [
        value
        for frame in it.frames
        for name, value in frame.scope.vars.items()
        if not name.startswith("%")
    ]
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen or not isinstance(value, (Items, Var)):
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, Items) and value.type is not container_polyfills.Reference:
            current = value if value.place is None else content_in(it.heap, value.place)
            pending += current.values if isinstance(current, Items) else ()


HANDLERS = [(container_polyfills.still_there, still_there)]
