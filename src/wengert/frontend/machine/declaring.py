"""How operations of the interpreter are declared that modules above it do.

Modules below need what modules above them do: a loop evaluates expressions, an attribute may call a
function. They ask the interpreter, `it.call(...)`; who does it is loaded when it is first asked. The
operations are declared in `data_model` and `flow`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

DECLARED: dict[str, tuple[str, str, Callable[..., Any]]] = {}
"""Operation -> the module of the front end that does it, its function there, and its declaration."""


def done_in(module: str, function: str | None = None) -> Callable[[F], F]:
    """Declare an operation: its first use loads the module, and puts its function in its place.

    Args:
        module: the module of the front end.
        function: what it calls the function, if not as the operation.
    """

    def declare(declared: F) -> F:
        name = declared.__name__
        DECLARED[name] = module, function or name, declared

        def load(it: Any, *args: Any, **kwargs: Any) -> Any:
            done = getattr(import_module(f"wengert.frontend.{module}"), function or name)
            setattr(type(it), name, done)
            return done(it, *args, **kwargs)

        return load  # type: ignore[return-value]

    return declare
