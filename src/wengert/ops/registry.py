"""The registry of ops: which op a Python callable, method or attribute is."""

from __future__ import annotations

import builtins
import cmath
import inspect
import math
import operator
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from ..ir.op import Fold, Infer, Op
from ..runtime import (
    arrays,
    calls,
    checks,
    containers,
    cotangents,
    elementwise,
    matrices,
    products,
    reduction,
    undefined,
)

NAMESPACES: dict[str, Any] = {"math": math, "cmath": cmath, "np": np, "py": builtins}
"""Where each spelling is looked up; "method", "attr" and "rt" are not modules."""

_ALIASES: dict[str, Any] = {"operator": operator, "builtin": builtins}
"""Modules whose functions are other names for what "py" spells with an operator."""

_RUNTIME = (
    arrays,
    calls,
    checks,
    containers,
    cotangents,
    elementwise,
    matrices,
    products,
    reduction,
    undefined,
)

_ops: dict[str, Op] = {}
_foreign: dict[int, tuple[Op, Callable[..., Any]]] = {}


def declare(
    name: str,
    signature: str,
    *,
    infer: Infer,
    elementwise: bool = False,
    fresh: bool = True,
    effect: bool = False,
    fold: Fold | None = None,
    implementation: Callable[..., Any] | None = None,
    **spellings: str,
) -> Op:
    """Add an op to the vocabulary.

    A spelling may be dotted (`np="linalg.inv"`); several spellings in one namespace are separated
    by spaces (`np="arctan2 atan2"`), the first being the one that derivative code prints.
    """
    if name in _ops:
        raise ValueError(f"the op {name!r} is declared twice")
    op = Op(
        name, infer, spellings, signature, elementwise, fresh, effect, False, fold, implementation
    )
    _ops[name] = op
    if implementation is None:
        op.implementation = _first_spelling(op)
    return op


def in_math(name: str) -> dict[str, Any]:
    """The spelling of a function that `math` has only from some version of Python on."""
    return {"math": name} if hasattr(math, name) else {}


def ops() -> Iterator[Op]:
    """Every declared op."""
    yield from _ops.values()


def named(name: str) -> Op:
    """The op of that name; KeyError if there is none."""
    return _ops[name]


def find(function: Any) -> tuple[Op, str] | None:
    """The op and namespace that a Python callable spells: `math.sin` is `(sin, "math")`."""
    entry = _foreign.get(id(function))
    if entry is not None:
        return entry[0], "call"
    return _spelled().get(id(function))


def find_method(name: str) -> Op | None:
    """The op that an array's method of that name spells."""
    return _by_name("method").get(name)


def find_attribute(name: str) -> Op | None:
    """The op that an array's attribute of that name spells."""
    return _by_name("attr").get(name)


def foreign(function: Callable[..., Any], infer: Infer | None = None) -> Op:
    """The op for a callable outside the vocabulary, made when a rule is first given for it."""
    entry = _foreign.get(id(function))
    if entry is None:
        name = getattr(function, "__qualname__", repr(function))
        op = Op(name, signature=_signature_text(function), effect=True, implementation=function)
        if infer is not None:
            op.infer = infer
        _foreign[id(function)] = entry = (op, function)
    return entry[0]


def resolve(op: Op, namespace: str) -> Any:
    """The Python callable that spells an op in a namespace that is a module."""
    return _dotted(NAMESPACES[namespace], op.spellings[namespace].split()[0])


@cache
def _spelled() -> dict[int, tuple[Op, str]]:
    table: dict[int, tuple[Op, str]] = {}
    for op in _ops.values():
        for namespace, spellings in op.spellings.items():
            module = NAMESPACES.get(namespace, _ALIASES.get(namespace))
            for spelling in spellings.split() if module is not None else ():
                function = _dotted(module, spelling)
                if function is not None:
                    shown = "py" if namespace in _ALIASES else namespace
                    table.setdefault(id(function), (op, shown))
    return table


@cache
def _by_name(namespace: str) -> dict[str, Op]:
    return {
        spelling: op for op in _ops.values() for spelling in op.spellings.get(namespace, "").split()
    }


def _dotted(module: Any, spelling: str) -> Any:
    for part in spelling.split("."):
        module = getattr(module, part, None)
    return module


def _first_spelling(op: Op) -> Callable[..., Any] | None:
    """Math's function for Python's own scalars, NumPy's for everything else."""
    if set(op.spellings) == {"rt"}:
        return _late_helper(op.spellings["rt"])
    on_floats = _spelling_in(op, ("math", "py"))
    on_arrays = _spelling_in(op, ("np", "math", "py", "cmath"))
    if on_floats is None or on_floats is on_arrays:
        return on_arrays

    def call(*args: Any, **options: Any) -> Any:
        on = on_floats if all(type(a) in (float, int) for a in args) else on_arrays
        assert on is not None
        return on(*args, **options)

    return call


def _late_helper(name: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        return runtime_helper(name)(*args, **options)

    return call


def runtime_helper(name: str) -> Any:
    """A function or constant of `wengert.runtime`.

    Raises:
        LookupError: there is none of that name.
    """
    for module in _RUNTIME:
        if hasattr(module, name):
            return getattr(module, name)
    raise LookupError(f"wengert.runtime has no helper {name!r}")


def _spelling_in(op: Op, namespaces: Iterable[str]) -> Callable[..., Any] | None:
    for namespace in namespaces:
        spelling = op.spellings.get(namespace, "").split()
        if spelling and spelling[0].replace(".", "").replace("_", "").isalnum():
            found = _dotted(NAMESPACES[namespace], spelling[0])
            if found is not None:
                return found
    return None


def stated_signature(function: Callable[..., Any]) -> str | None:
    """What a class written in C says of its parameters, where that is plain: `"real=0, imag=0"`.

    `inspect.signature` takes milliseconds over NumPy's scalar types.
    """
    text = getattr(function, "__text_signature__", None)
    if not isinstance(function, type) or text is None or "*" in text or "$" in text:
        return None
    return text.strip("()").removesuffix(", /")


def _signature_text(function: Callable[..., Any]) -> str:
    """The parameters of a function by name, as an op's signature has them."""
    written = stated_signature(function)
    if written is not None:
        return written
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "*args"
    parts: list[str] = []
    starred = False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        parts.append(
            star + parameter.name + ("" if parameter.default is parameter.empty else "=...")
        )
    return ", ".join(parts)
