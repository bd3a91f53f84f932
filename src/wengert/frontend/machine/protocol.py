"""Operations of the interpreter that other modules do.

Modules below need what modules above them do: a loop evaluates expressions, an attribute may call a
function. They ask the interpreter, `it.call(...)`; who does it registers for it, and is loaded when it
is first asked. The operations are declared in `data_model` and `flow`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .data_model import DataModel
from .declaring import DECLARED
from .flow import Flow

F = TypeVar("F", bound=Callable[..., Any])


class Operations(DataModel, Flow):
    """All operations: what is declared loads who does it, what is registered does it."""


def operation(name: str) -> Callable[[F], F]:
    """Register a function as an operation of the interpreter, a plain method from then on."""

    def register(function: F) -> F:
        assert name in DECLARED
        setattr(Operations, name, function)
        return function

    return register
