"""Ops on numbers that are neither floats nor arrays: Decimal, Fraction, mpmath's, SymPy's.

Operators compute with these numbers as they are. A function is taken from the number's own library,
and the helpers of rule rows are written here as mathematics writes them, so that nothing is rounded
to a float on the way. What a library lacks is refused: a float would silently lose its digits.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, reduce
from typing import Any

from ...errors import NoRule
from ...ir.op import Op, add_libraries
from ..registry import named

Function = Callable[..., Any]


def compute(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An op on numbers of which at least one belongs to another library."""
    number = next(_numbers_in(args))
    library = library_of(number)
    function = _functions(library).get(op.name) or _GENERIC.get(op.name)
    if function is not None:
        return function(*args, **options)
    is_users_own = not op.spellings
    if (is_users_own or "py" in op.spellings) and op.implementation is not None:
        return op.implementation(*args, **options)
    if library == "fractions" and "math" in op.spellings:
        return getattr(math, op.spellings["math"].split()[0])(*args, **options)
    message = f"{op.name} of a {type(number).__name__} ({number!s}) cannot be computed"
    hint = f"The library {library} has no such function. Compute with mpmath's numbers, or with floats."
    raise NoRule(message, hint)


def on_python_numbers(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An op on Python's own numbers: of integers, the helpers of rule rows give integers."""
    if op.name in ("falling", "pow_derivative") and all(type(arg) is int for arg in args):
        return _GENERIC[op.name](*args, **options)
    assert op.implementation is not None
    return op.implementation(*args, **options)


def _numbers_in(args: Iterable[Any]) -> Iterator[Any]:
    """The numbers of other libraries among operands, and among the items of those that are lists."""
    for arg in args:
        if isinstance(arg, (list, tuple)):
            yield from _numbers_in(arg)
        elif library_of(arg):
            yield arg


def library_of(x: Any) -> str:
    """The library that a number is of; nothing of Python's own and of arrays."""
    return _library_of_class(type(x))


@lru_cache(maxsize=256)
def _library_of_class(cls: type) -> str:
    roots = (base.__module__.partition(".")[0] for base in cls.__mro__)
    return next((root for root in roots if root in _LIBRARIES), "")


_LIBRARIES = ("decimal", "fractions", "mpmath", "sympy")


# --- what each library calls a function -----------------------------------------------------

_ELEMENTARY = (
    "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh",
    "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "gamma",
)  # fmt: skip

_RENAMED = {
    "mpmath": {"lgamma": "loggamma", "log1p": "log1p", "expm1": "expm1", "log10": "log10",
               "hypot": "hypot", "degrees": "degrees", "radians": "radians", "real": "re",
               "imag": "im", "conj": "conj", "phase": "arg", "angle": "arg", "sech": "sech"},
    "sympy": {"lgamma": "loggamma", "abs": "Abs", "unit": "sign", "sign": "sign",
              "maximum": "Max", "minimum": "Min", "real": "re", "imag": "im", "conj": "conjugate",
              "phase": "arg", "angle": "arg", "sech": "sech", "floor": "floor", "ceil": "ceiling"},
}  # fmt: skip


def _functions(library: str) -> dict[str, Function]:
    if library == "decimal":
        return _DECIMAL
    if library not in _RENAMED:
        return {}
    module = sys.modules[library]
    found = {name: getattr(module, name) for name in _ELEMENTARY}
    found.update({ours: getattr(module, theirs) for ours, theirs in _RENAMED[library].items()})
    psi = module.psi if library == "mpmath" else module.polygamma
    found["polygamma"] = lambda x, *, order: psi(order, x)
    found["log_base"] = lambda x, base: module.log(x) / module.log(base)
    return found


def _as_decimal(x: Any) -> Any:
    from decimal import Decimal

    return x if isinstance(x, Decimal) else Decimal(x)


_DECIMAL: dict[str, Function] = {
    "exp": lambda x: x.exp(),
    "log": lambda x: x.ln(),
    "log10": lambda x: x.log10(),
    "sqrt": lambda x: x.sqrt(),
    "ieee_div": lambda x, y: _as_decimal(x) / y,
    "safe_log": lambda x: _as_decimal(x).ln() if x != 0 else x * 0,
}

# --- helpers of rule rows, on any numbers that can be added and multiplied ------------------


def _unit(x: Any) -> Any:
    return x / abs(x) if x != 0 else x * 0


def _falling(y: Any, *, order: int, derivative: int) -> Any:
    taylor = [1] + [0] * derivative
    for i in range(order):
        for k in range(derivative, -1, -1):
            taylor[k] = taylor[k] * (y - i) + (taylor[k - 1] if k else 0)
    return taylor[derivative] * math.factorial(derivative)


def _pow_derivative(x: Any, y: Any, *, order: int) -> Any:
    factor = _falling(y, order=order, derivative=0)
    return factor * x ** (y - order) if factor != 0 else factor * 0


def _op(name: str) -> Op:
    return named(name)


def _safe_log(x: Any) -> Any:
    return _op("log")(x) if x != 0 else x * 0


def _expit(x: Any) -> Any:
    return 1 / (1 + _op("exp")(-x))


def _logaddexp(x: Any, y: Any) -> Any:
    high, low = (x, y) if x > y else (y, x)
    return high + _op("log")(1 + _op("exp")(low - high))


_GENERIC: dict[str, Function] = {
    "abs": abs,
    "round": round,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "float_power": operator.pow,
    "ieee_pow": operator.pow,
    "ieee_div": operator.truediv,
    "safe_div": lambda x, y: x / y if y != 0 else x * 0,
    "direction_cosine": lambda x, r: x / r if r != 0 else x * 0,
    "safe_log": _safe_log,
    "falling": _falling,
    "pow_derivative": _pow_derivative,
    "sign": _unit,
    "sign_of_number": _unit,
    "unit": _unit,
    "fabs": abs,
    "exp2": lambda x: 2**x,
    "log2": lambda x: _op("log")(x) / _op("log")(x * 0 + 2),
    "log10": lambda x: _op("log")(x) / _op("log")(x * 0 + 10),
    "log1p": lambda x: _op("log")(1 + x),
    "expm1": lambda x: _op("exp")(x) - 1,
    "cbrt": lambda x: _unit(x) * abs(x) ** (abs(x) / abs(x) / 3) if x != 0 else x * 0,
    "hypot": lambda *xs: _op("sqrt")(reduce(operator.add, [x * x for x in xs])),
    "sub_items": lambda xs, ys: [x - y for x, y in zip(xs, ys, strict=True)],
    "inner_items": lambda xs, ys: sum(x * y for x, y in zip(xs, ys, strict=True)),
    "dist": lambda p, q: _op("sqrt")(sum((a - b) ** 2 for a, b in zip(p, q, strict=True))),
    "hypot1": lambda x: _op("sqrt")(1 + x * x),
    "sech": lambda x: 1 / _op("cosh")(x),
    "expit": _expit,
    "logaddexp": _logaddexp,
    "maximum": max,
    "minimum": min,
    "where": lambda condition, x, y: x if condition else y,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "conj": lambda x: x.conjugate(),
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "isfinite": lambda x: x - x == 0,
}

add_libraries({**dict.fromkeys(_LIBRARIES, compute), "builtins": on_python_numbers})
