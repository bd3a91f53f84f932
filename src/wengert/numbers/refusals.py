"""What a number with derivatives says when it is asked for a plain float."""

from __future__ import annotations

import cmath
import linecache
import math
import re
from typing import Any

import numpy as np

from ..errors import LostDerivative, WengertError
from ..ir.callers import calling_library, calling_span, failing_span
from ..ir.graph import Span
from ..ops import registry


def lost(number: Any, wanted: str, shown: str = "") -> LostDerivative:
    """The error for a conversion that drops the derivative, with the user's line and what to write."""
    library = calling_library()
    span = calling_span() if library is None else library[1]
    name = "" if library is None else library[0]
    hint = _instead(span) if name in ("", "mpmath", "sympy") else _outside_of(name)
    return LostDerivative(
        f"{wanted} has no derivative, so that of {shown or repr(number)} would be lost",
        f"{hint}\nWhere the value alone is wanted, `{getattr(type(number), 'plain', 'x.value')}` is it.",
        span,
    )


def said_by_numpy(error: Exception) -> Exception:
    """An exception of NumPy's that is about numbers with derivatives as wengert says it; any other as it is."""
    if isinstance(error, WengertError):
        return error
    if isinstance(error.__cause__, LostDerivative):
        return error.__cause__
    missing = re.fullmatch(r"'\w+' object has no attribute '(\w+)'", str(error))
    is_ufunc = missing is not None and isinstance(getattr(np, missing[1], None), np.ufunc)
    if not is_ufunc and not _OF_OBJECTS.search(str(error)):
        return error
    return LostDerivative(
        f"an array holds numbers with derivatives one by one, which NumPy does not compute with: {error}",
        "Have them form one number that is an array: `np.stack([x, 1.0])` in the place of `np.array([x, 1.0])`.",
        failing_span(error.__traceback__),
    )


_OF_OBJECTS = re.compile(
    r"loop of ufunc does not support argument|[Cc]annot cast .*dtype\('O'\)|signature matching types .*[Oo]bject"
)


def _instead(span: Span | None) -> str:
    """What to write in the place of a function of `math`."""
    if span is not None and re.fullmatch(r"[\w.]+\[.*\]", _text(span).decode()):
        return _OF_ARRAYS
    calls = () if span is None else re.findall(r"\b(?:(c?math)\.)?(\w+)\(", _text(span).decode())
    for module, name in calls:
        function = getattr(cmath if module == "cmath" else math, name, None)
        if function is not None:
            return in_place_of(module or "math", name, function)
    return (
        "Write a function of NumPy (`np.sin(x)`), a method (`x.sin()`) or an op (`wg.ops.sin(x)`)."
    )


_OF_ARRAYS = (
    "An array of floats takes no number with derivatives. Build one from its items, `np.stack([x, y])`; or\n"
    "make one that takes them, `np.zeros(n) * x` or `np.zeros(n, dtype=object)`."
)


def in_place_of(module: str, name: str, function: Any) -> str:
    """What to write in the place of a function."""
    found = registry.find(function)
    if found is None:
        return f"`{module}.{name}` takes nothing else: write out what it computes."
    op, namespace = found
    if namespace == "call":
        return f"`{module}.{name}` has a rule, which `wengert.numbers.derivative` uses: take the derivative with that."
    in_numpy = f"`np.{op.spellings['np']}` or " if "np" in op.spellings else ""
    return f"Write {in_numpy}`wg.ops.{op.name}` in the place of `{module}.{name}`."


def _outside_of(library: str) -> str:
    solvers = (
        "`wg.derivative` and `wg.grad` know its solvers, and `wengert.numbers.derivative` its integrals and\n"
        "roots: differentiate the function that calls them. Or let it have floats, and take the derivative\n"
        "inside what it calls:"
    )
    instead = "Let it have floats, and take the derivative inside what it calls:"
    return (
        f"{library} computes with floats. {solvers if library == 'scipy' else instead}\n"
        "`lambda x: f(x, wg.Dual(a, 1.0)).tangent` is a function that it can integrate or solve with."
    )


def _text(span: Span) -> bytes:
    line = linecache.getline(span.file, span.line).encode()
    return line[span.column : span.end_column if span.end_line == span.line else None]
