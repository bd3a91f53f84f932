"""Which type operands of different types are converted to: NumPy's rules (NEP 50)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from .elementwise import Rule
from .emitter import Emitter
from .loopform import FLOATS, Code, Constant, Expr
from .values import NUMPY, Array, Scalar, Unlowered

_ORDER: tuple[Code, ...] = ("b1", "i64", "f32", "f64")
_WIDTH = {"b1": 0, "i64": 1, "f32": 2, "f64": 2}


class Operand(NamedTuple):
    """The type of an operand; a number of Python's is weak: it does not change a type of its own width."""

    code: Code
    weak: bool


def operand(value: Scalar | Array) -> Operand:
    if isinstance(value, Scalar):
        return Operand(value.code, value.origin != NUMPY)
    return Operand(value.code, weak=False)


def common(operands: Iterable[Operand]) -> Code:
    """The type in which operands meet."""
    operands = list(operands)
    strong: list[Code] = [o.code for o in operands if not o.weak]
    weak: list[Code] = [o.code for o in operands if o.weak]
    if not strong:
        return max(weak, key=_ORDER.index)
    code = strong[0]
    for other in strong[1:]:
        code = _joined(code, other)
    for other in weak:
        if _WIDTH[other] > _WIDTH[code]:
            code = other
    return code


def _joined(a: Code, b: Code) -> Code:
    if {a, b} == {"i64", "f32"}:
        return "f64"
    return a if _ORDER.index(a) > _ORDER.index(b) else b


def operand_code(rule: Rule, operands: Iterable[Operand], *, arrays: bool) -> Code:
    """The type that a rule converts operands to."""
    code = common(operands)
    match rule:
        case "truth":
            return "b1"
        case "floating" if code not in FLOATS:
            raise Unlowered("NumPy computes this with integers")
        case "inexact" | "integral" if code not in FLOATS:
            if arrays and code == "b1":
                raise Unlowered("NumPy computes this with floats of 16 bits")
            return "f64"
        case "arithmetic" if code == "b1":
            if arrays:
                raise Unlowered("arithmetic on arrays of truth values")
            return "i64"
        case _:
            return code


def result_code(rule: Rule, operands_code: Code) -> Code:
    return "b1" if rule in ("comparison", "truth") else operands_code


def converted(e: Emitter, value: Expr, code: Code) -> Expr:
    """A number as one of another type, as NumPy's `astype` converts it."""
    if value.code == code:
        return value
    if code == "b1":
        zero = Constant(0 if value.code == "i64" else 0.0, value.code)
        return e.apply("ne", value, zero, code="b1")
    if isinstance(value, Constant):
        return Constant(int(value.value) if code == "i64" else float(value.value), code)
    return e.apply(code, value, code=code)
