"""Expressions of the loop form in C."""

from __future__ import annotations

import math

from ..form.loopform import Apply, Code, Constant, Expr, Load, Slot

TYPES: dict[Code, str] = {"b1": "bool", "i64": "int64_t", "f64": "double", "f32": "float"}
_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "add_any": "+", "mul_any": "*", "quotient": "/",
    "rem": "%", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "xor": "^",
    "shift_left": "<<", "shift_right": ">>",
}  # fmt: skip
_CALLS = {
    "maximum": "wg_maximum", "minimum": "wg_minimum", "max": "wg_max", "min": "wg_min",
    "abs": "llabs", "gamma": "tgamma", "outside": "wg_outside", "wrapped": "wg_wrapped",
    "add_overflows": "wg_add_overflows", "sub_overflows": "wg_sub_overflows", "mul_overflows": "wg_mul_overflows",
    "bits": "wg_bits", "from_bits": "wg_from_bits",
}  # fmt: skip
_RESERVED = frozenset(
    [
        "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
        "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short", "signed",
        "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile", "while", "bool",
        "true", "false", "memory", "y0", "y1", "yn", "j0", "j1", "jn", "gamma", "signgam", "div", "fadd", "fsub",
        "fmul", "fdiv", "fma", "time", "exp", "log", "sin", "cos", "tan", "pow", "abs", "index", "main",
    ]
)  # fmt: skip


def name(text: str) -> str:
    """A name that C lets us use, and that is none of a place for a result."""
    return f"{text}_" if text in _RESERVED or text.startswith("out_") else text


def expression(value: Expr, *, atomic: bool = False) -> str:
    """An expression; `atomic` puts brackets around an operator."""
    match value:
        case Slot():
            return name(value.name)
        case Constant(value=number, code=code):
            return _number(number, code)
        case Load(pointer=pointer, index=index):
            return f"{name(pointer.name)}[{expression(index)}]"
        case Apply():
            text = _applied(value)
            return f"({text})" if atomic else text


def _number(number: float | int | bool, code: Code) -> str:
    if code == "b1":
        return "true" if number else "false"
    if code == "i64":
        if number == -(2**63):
            return "INT64_MIN"
        return str(int(number)) if abs(number) < 2**31 else f"INT64_C({int(number)})"
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    return repr(float(number)) + ("f" if code == "f32" else "")


def _applied(value: Apply) -> str:
    op, code, source = value.op, value.code, value.args[0].code
    args = [expression(arg, atomic=True) for arg in value.args]
    if op in TYPES:
        return f"({TYPES[code]}){args[0]}"
    if op in ("and", "or"):
        sign = {"and": "&", "or": "|"}[op] * (2 if source == "b1" else 1)
        return f" {sign} ".join(args)
    if op in _INFIX:
        return f"{args[0]} {_INFIX[op]} {args[1]}"
    match op:
        case "select":
            return f"{args[0]} ? {args[1]} : {args[2]}"
        case "threads":
            return "1"
        case "not":
            return f"!{args[0]}"
        case "neg":
            return f"-({args[0]})" if args[0].startswith("-") else f"-{args[0]}"
        case "address":
            return f"(int64_t)(intptr_t){args[0]}"
        case "pointer":
            return f"(void *)(intptr_t){args[0]}"
        case _:
            of_floats = op not in _CALLS or op == "gamma"
            suffix = "f" if source == "f32" and of_floats else ""
            inside = ", ".join(expression(arg) for arg in value.args)
            return f"{_CALLS.get(op, op)}{suffix}({inside})"
