"""What certainly fails: the program ends there, with the exception that Python raises."""

from __future__ import annotations

from typing import Any, NoReturn

from ...ir.graph import Const
from ...ops import structure as st
from ..domain.values import Value
from .interpreter import Interpreter
from .session import NeverReturns


def raise_now(it: Interpreter, error: type[Exception], message: str, **named: str) -> NoReturn:
    """Emit what Python itself would raise here, with what it is given by name."""
    args = (Const(message), *map(Const, named.values()))
    exception = it.emit(st.opaque, Const(error), *args, names=Const(tuple(named)))
    it.emit(st.raise_, exception, Const(False))
    raise NeverReturns


def fail_now(it: Interpreter, function: Any, *operands: Value, **named: Value) -> NoReturn:
    """Emit a call that fails when the program runs: Python finds the words."""
    atoms = map(it.atom, (*operands, *named.values()))
    it.emit(st.opaque, Const(function), *atoms, names=Const(tuple(named)))
    raise NeverReturns
