"""Which type operands of different types are converted to: NumPy's rules (NEP 50)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from ..form.loopform import FLOATS, Code, Constant, Expr, floating
from .emitter import Emitter
from .rows import Rule
from .values import AN_INTEGER, NUMPY, SINGLE, Array, DynamicOwner, Scalar, Unlowered

_ORDER: tuple[Code, ...] = ("b1", "i64", "f32", "f64")
_WIDTH = {"b1": 0, "i64": 1, "f32": 2, "f64": 2}


class Operand(NamedTuple):
    """The type of an operand; a number of Python's is weak: it does not change a type of its own width."""

    code: Code
    weak: bool


def operands(value: Scalar | Array) -> list[Operand]:
    """The types that an operand may have: more than one where that depends on the run."""
    if not isinstance(value, Scalar):
        return [Operand(value.code, weak=False)]
    among = value.origin.among if isinstance(value.origin, DynamicOwner) else (value.origin,)
    return list({_of_number(value.code, origin) for origin in among})


def _of_number(code: Code, origin: int) -> Operand:
    if origin == SINGLE:
        return Operand("f32", weak=False)
    return Operand("i64" if origin == AN_INTEGER else code, origin != NUMPY)


def common_code(values: Iterable[Scalar | Array]) -> Code:
    """The type in which arrays and numbers meet.

    Raises:
        Unlowered: it depends on the run.
    """
    return _only({common(each) for each in product(*map(operands, values))})


def _only(codes: set[Code]) -> Code:
    if len(codes) > 1:
        raise Unlowered("a number whose type depends on the run, and with it that of an array")
    return codes.pop()


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


def operand_code(rule: Rule, values: Sequence[Scalar | Array]) -> Code:
    """The type that a rule converts arrays and numbers to, of which it makes an array."""
    return _converted_to(rule, common_code(values), arrays=True)


def number_codes(rule: Rule, values: Sequence[Scalar]) -> set[Code]:
    """The types that a rule may convert numbers to: two where it depends on the run which."""
    kept = any(value.code == "f64" for value in values)
    found: set[Code] = set()
    for each in product(*map(operands, values)):
        code = common(each)
        code = "f64" if kept and code != "f32" else code
        found.add(_converted_to(rule, code, arrays=False))
    return found


def _converted_to(rule: Rule, code: Code, *, arrays: bool) -> Code:
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
        return Constant(int(value.value), code) if code == "i64" else floating(value.value, code)
    return e.apply(code, value, code=code)
