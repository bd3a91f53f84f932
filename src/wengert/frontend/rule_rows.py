"""Rows of wengert's own table, called rather than read: what they compute of their operands is emitted.

A row is an ordinary function. Where it is one expression of ops, operators and its operands, Python
takes the same steps through it as the front end does, in a third of the time.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import Any, NoReturn

from ..errors import InternalError
from ..ir.graph import ZERO, Atom, Const
from ..ir.op import Op
from ..ops import elementwise as el, structure as st
from ..ops.registry import named
from .domain.values import Value, tuple_of
from .machine.interpreter import Interpreter

_TABLES = __name__.partition(".")[0] + ".rules."
_STARRED = 0x04 | 0x08


def can_be_called(row: FunctionType, options: Mapping[str, Atom]) -> bool:
    """Whether a row computes the same when it is called as when it is read."""
    return _is_expression(row) and all(isinstance(value, Const) for value in options.values())


@cache
def _is_expression(row: FunctionType) -> bool:
    """Whether a row of wengert's own names nothing but its operands and ops."""
    code = row.__code__
    starred = (code.co_flags & _STARRED).bit_count()
    parameters = code.co_argcount + code.co_kwonlyargcount + starred
    return (
        row.__module__.startswith(_TABLES)
        and code.co_nlocals == parameters
        and all(isinstance(row.__globals__.get(name), Op) for name in code.co_names)
        and "no_partial" not in code.co_names  # which refuses where it is read
    )


def called(
    it: Interpreter, row: FunctionType, args: Sequence[Atom], options: Mapping[str, Atom]
) -> Value:
    """What a row gives for these operands."""
    values = {name: atom.value for name, atom in options.items() if isinstance(atom, Const)}
    result = row(*(Operand(it, arg) for arg in args), **values)
    return _value(result)


def _value(given: Any) -> Value:
    if type(given) is tuple:
        return tuple_of(*map(_value, given))
    return given.value if isinstance(given, Operand) else Const(given)


def _compute(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Operand:
    it: Interpreter = next(arg.it for arg in args if isinstance(arg, Operand))
    by_name = {name: _value(given) for name, given in options.items()}
    return Operand(it, it.emit_op(op, it.namespace, list(map(_value, args)), by_name, row=True))


def _unary(op: Op, function: Callable[[Any], Any]) -> Any:
    return lambda self: _operated(self.it, op, function, self.value)


def _binary(op: Op, function: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: _operated(self.it, op, function, self.value, _value(other))


def _reflected(op: Op, function: Callable[[Any, Any], Any]) -> Any:
    return lambda self, other: _operated(self.it, op, function, _value(other), self.value)


def _operated(it: Interpreter, op: Op, function: Callable[..., Any], *values: Value) -> Operand:
    literals = [each.value for each in values if isinstance(each, Const) and each != ZERO]
    if len(literals) == len(values):
        with suppress(ArithmeticError):  # it is for the program to raise, if it comes here
            return Operand(it, Const(function(*literals)))
    return Operand(it, it.emit(op, *map(it.atom, values)))


def _cannot(self: Operand, *_: Any) -> NoReturn:
    raise InternalError("a row of the rule table asks for what only the running program knows")


class Operand:
    """What a row is called with: a value of the program that is read, or a literal in it."""

    __slots__ = ("it", "value")
    __compute_op__ = staticmethod(_compute)
    compute_priority = 4

    def __init__(self, it: Interpreter, value: Value):
        self.it = it
        self.value = value

    __neg__, __pos__ = _unary(el.neg, operator.neg), _unary(el.pos, operator.pos)
    __add__, __radd__ = _binary(el.add, operator.add), _reflected(el.add, operator.add)
    __sub__, __rsub__ = _binary(el.sub, operator.sub), _reflected(el.sub, operator.sub)
    __mul__, __rmul__ = _binary(el.mul, operator.mul), _reflected(el.mul, operator.mul)
    __truediv__ = _binary(el.div, operator.truediv)
    __rtruediv__ = _reflected(el.div, operator.truediv)
    __floordiv__ = _binary(el.floordiv, operator.floordiv)
    __pow__ = _binary(el.pow_, operator.pow)
    __lt__, __le__ = _binary(st.lt, operator.lt), _binary(st.le, operator.le)
    __gt__, __ge__ = _binary(st.gt, operator.gt), _binary(st.ge, operator.ge)
    __eq__, __ne__ = _binary(st.eq, operator.eq), _binary(st.ne, operator.ne)
    __hash__ = __bool__ = __len__ = __iter__ = __contains__ = __getattr__ = _cannot
    __int__ = __float__ = __complex__ = __index__ = __abs__ = _cannot

    def __matmul__(self, other: Any) -> Operand:
        return _operated(self.it, named("matmul"), operator.matmul, self.value, _value(other))

    def __getitem__(self, index: Any) -> Operand:
        return Operand(self.it, self.it.getitem(self.value, _value(index)))
