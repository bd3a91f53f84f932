"""How operations of the interpreter are declared that modules above it do."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

DECLARED: dict[str, tuple[str, Callable[..., Any]]] = {}
"""Operation -> the module of the front end that does it, and its declaration."""


def done_in(module: str) -> Callable[[F], F]:
    """Declare an operation: its first use loads the module, which puts its own function in its place."""

    def declare(declared: F) -> F:
        name = declared.__name__
        DECLARED[name] = module, declared

        def load(it: Any, *args: Any, **kwargs: Any) -> Any:
            import_module(f"wengert.frontend.{module}")
            return getattr(it, name)(*args, **kwargs)

        return load  # type: ignore[return-value]

    return declare
