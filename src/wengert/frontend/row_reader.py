"""Rows of the rule table: their Python is read into the code of a derivative."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import RuleError
from ..ir.builder import Builder
from ..ir.graph import Atom, Const
from ..rules.places import Place, refuse
from . import rule_rows as rows
from .domain.values import Items, Value
from .functions.binding import bind_arguments
from .functions.closures import closure_of
from .machine.interpreter import Interpreter
from .machine.session import NeverReturns, Session


class RowReader:
    """Inlines rows of rules into the code of one derivative."""

    def __init__(self) -> None:
        self._reading = Session()
        """Of the rows that are called: they neither change nor make any object."""

    def __call__(
        self,
        builder: Builder,
        row: Callable[..., Any],
        args: Sequence[Atom],
        options: Mapping[str, Atom],
        namespace: str,
    ) -> Any:
        """Put a row's equations into `builder`; gives its result, or the tuple of its results."""
        assert isinstance(row, types.FunctionType)
        with _operators_of(builder, namespace):
            it, result = self._read(builder, row, args, options, namespace)
        if isinstance(result, Items):
            return tuple(it.atom(value) for value in result.values)
        return it.atom(result)

    def _read(
        self,
        builder: Builder,
        row: types.FunctionType,
        args: Sequence[Atom],
        options: Mapping[str, Atom],
        namespace: str,
    ) -> tuple[Interpreter, Value]:
        if rows.can_be_called(row, options):
            it = Interpreter(self._reading, builder, namespace)
            return it, rows.called(it, row, args, options)
        it = Interpreter(Session(), builder, namespace)
        try:
            return it, read_inline(it, row, args, options)
        except NeverReturns:
            raise _failing_row(builder, row) from None


@contextmanager
def _operators_of(builder: Builder, namespace: str) -> Generator[None]:
    """Have a row's operators compute as those of the namespace that the op was taken from."""
    before, builder.of_numpy = builder.of_numpy, namespace == "np"
    try:
        yield
    finally:
        builder.of_numpy = before


def _failing_row(builder: Builder, row: types.FunctionType) -> RuleError:
    """The error for a row that raises whatever it is given: a name in it is not defined, say."""
    constants = [a.value for eqn in builder.eqns[-2:] for a in eqn.args if isinstance(a, Const)]
    said = [f": {value}" for value in constants if isinstance(value, str)]
    code = row.__code__
    return refuse(
        f"a row of a rule raises whatever it is given{''.join(said)}",
        "It is called with the operands and the result.",
        Place(code.co_filename, code.co_firstlineno),
    )


def read_inline(
    it: Interpreter, row: types.FunctionType, args: Sequence[Atom], options: Mapping[str, Atom]
) -> Value:
    # what a row has captured is read where the row is inlined
    closure = closure_of(it, row) if row.__closure__ else _row_closure(row)
    before = it.builder.span
    result = it.inline(closure, bind_arguments(it, closure, args, dict(options)))
    it.builder.span = before
    return result


@functools.lru_cache(maxsize=2048)
def _row_closure(row: types.FunctionType) -> Any:
    return closure_of(Interpreter(Session()), row)
