"""The registry of ops: which op a Python callable, method or attribute is."""

from __future__ import annotations

import builtins
import cmath
import copyreg
import inspect
import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ..ir.op import Fold, Infer, Op
from ..ir.types import Kind

NAMESPACES: dict[str, Any] = {"math": math, "cmath": cmath, "np": np, "py": builtins}
"""Where each spelling is looked up; "method", "attr" and "rt" are not modules."""

_ALIASES: dict[str, Any] = {"operator": operator, "builtin": builtins}
"""Modules whose functions are other names for what "py" spells with an operator."""

_RUNTIME = (
    "numeric.elementwise", "cotangents", "gradients", "checks", "containers",
    "copies", "memory", "collected", "numeric.transposes", "numeric.reduction", "numeric.products",
    "numeric.matrices", "calls", "loops", "identity", "unchanged",
    "implicit", "given", "attributes", "undefined",
    "numeric.signals", "numeric.statistics", "refusals", "numeric.special",
    "numeric.incomplete", "numeric.sparse", "numeric.eigenvalues",
)  # fmt: skip
"""The modules of `wengert.runtime`, those that are asked most often first: loaded as they are asked."""

_LATER = [
    *(
        f"arrays.{name}"
        for name in ("joining", "selection", "linear_algebra", "signals", "statistics")
    ),
    *(
        "arrays.factorisations",
        "arrays.type_queries",
        "program.refusals",
        "special",
        "arrays.sparse",
    ),
]
"""Modules of ops that most programs do without: loaded when an op is asked for that no other has."""

_ops: dict[str, Op] = {}
_foreign: dict[int, tuple[Op, Callable[..., Any]]] = {}
_when_imported: dict[str, Callable[[], object]] = {}
ruled: set[Op] = set()
"""Functions of users' own that have a rule: they are called by it, not run."""
polyfills: list[Callable[[Any], Callable[..., Any] | None]] = []
"""How to find the Python function that the front end reads in the place of another."""


def declare(
    name: str,
    signature: str,
    *,
    infer: Infer | Kind,
    elementwise: bool = False,
    fresh: bool = True,
    effect: bool = False,
    total: bool | None = None,
    fold: Fold | None = None,
    implementation: Callable[..., Any] | None = None,
    **spellings: str,
) -> Op:
    """Add an op to the vocabulary.

    `infer` is the kind of the result, or what says which it is. A helper of derivative code alone is `total` unless it
    says otherwise: what it is given has been checked.

    A spelling may be dotted (`np="linalg.inv"`); several spellings in one namespace are separated
    by spaces (`np="arctan2 atan2"`), the first being the one that derivative code prints.
    """
    if name in _ops:
        raise ValueError(f"the op {name!r} is declared twice")
    inferred = infer if callable(infer) else lambda args, params: infer
    op = Op(
        name,
        inferred,
        spellings,
        signature,
        elementwise,
        fresh,
        effect,
        False,
        fold,
        implementation,
    )
    op.total = set(spellings) == {"rt"} if total is None else total
    _ops[name] = op
    if implementation is None:
        op.implementation = _first_spelling(op)
    return op


def in_math(name: str) -> dict[str, Any]:
    """The spelling of a function that `math` has only from some version of Python on."""
    return {"math": name} if hasattr(math, name) else {}


def ops() -> Iterator[Op]:
    """Every op there is."""
    _load_all()
    yield from _ops.values()


def named(name: str) -> Op:
    """The op of that name; KeyError if there is none."""
    if name not in _ops:
        _load_all()
    return _ops[name]


def _load_all() -> None:
    if not _LATER:
        return
    for name in _LATER:
        import_module(f"{__package__}.{name}")
    _LATER.clear()


def find(function: Any) -> tuple[Op, str] | None:
    """The op and namespace that a Python callable spells: `math.sin` is `(sin, "math")`."""
    if id(function) not in _spelled(len(_ops)):  # else it may also have been called as it is
        entry = _foreign.get(id(function))
        if entry is not None:
            return entry[0], "call"
        if _may_come_later(function):
            _load_all()
    found = _spelled(len(_ops)).get(id(function))
    return find(function) if found is None and load_imported() else found


def _may_come_later(function: Any) -> bool:
    """Whether a function may be one of those whose ops are loaded when they are met."""
    module = getattr(function, "__module__", None) or type(function).__module__
    return str(module).partition(".")[0] == "numpy" or function is operator.matmul


def when_imported(module: str, load: Callable[[], object]) -> None:
    """Have a table loaded once a program has imported the module that it is about."""
    _when_imported[module] = load


def load_imported() -> bool:
    """Load the tables of modules that the program has imported by now; whether there were any."""
    ready = [module for module in _when_imported if module in sys.modules]
    for module in ready:
        _when_imported.pop(module)()
    return bool(ready)


def find_method(name: str) -> Op | None:
    """The op that an array's method of that name spells."""
    return _find_by_name(name, "method")


def find_attribute(name: str) -> Op | None:
    """The op that an array's attribute of that name spells."""
    return _find_by_name(name, "attr")


def _find_by_name(name: str, namespace: str) -> Op | None:
    if name not in _by_name(namespace, len(_ops)):
        _load_all()
    return _by_name(namespace, len(_ops)).get(name)


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


def is_foreign(op: Op) -> bool:
    """Whether an op stands for a callable outside the vocabulary."""
    entry = _foreign.get(id(op.implementation))
    return entry is not None and entry[0] is op


def _reduced(op: Op) -> tuple[Callable[..., Op], tuple[Any]]:
    """An op is what it is by its name: copies of it, also in other processes, are itself."""
    return (named, (op.name,)) if _ops.get(op.name) is op else (foreign, (op.implementation,))


copyreg.pickle(Op, _reduced)


def resolve(op: Op, namespace: str) -> Any:
    """The Python callable that spells an op in a namespace that is a module."""
    return _dotted(NAMESPACES[namespace], op.spellings[namespace].split()[0])


@cache
def _spelled(count: int) -> dict[int, tuple[Op, str]]:
    """What functions spell, while so many ops are declared."""
    table: dict[int, tuple[Op, str]] = {}
    for op in list(_ops.values()):
        for namespace, spellings in op.spellings.items():
            module = NAMESPACES.get(namespace, _ALIASES.get(namespace))
            for spelling in spellings.split() if module is not None else ():
                function = _dotted(module, spelling)
                if function is not None:
                    shown = "py" if namespace in _ALIASES else namespace
                    table.setdefault(id(function), (op, shown))
    return table


@cache
def _by_name(namespace: str, count: int) -> dict[str, Op]:
    """What names spell, while so many ops are declared."""
    spellings = ((op, op.spellings.get(namespace, "").split()) for op in list(_ops.values()))
    return {name: op for op, names in spellings for name in names}


def _dotted(module: Any, spelling: str) -> Any:
    for part in spelling.split("."):
        module = getattr(module, part, None)
    return module


def _first_spelling(op: Op) -> Callable[..., Any] | None:
    """Math's function for Python's own scalars, NumPy's for everything else: found when it is called."""
    if set(op.spellings) == {"rt"}:
        return late_helper(op.spellings["rt"])
    if not any(_word_in(op, namespace) for namespace in NAMESPACES):
        return None

    def call(*args: Any, **options: Any) -> Any:
        on_floats, on_arrays = _implementations(op)
        on = on_floats if all(type(a) in (float, int) for a in args) else on_arrays
        return on(*args, **options)

    return call


@cache
def _implementations(op: Op) -> tuple[Callable[..., Any], Callable[..., Any]]:
    on_arrays = _found_in(op, ("np", "math", "py", "cmath"))
    return _found_in(op, ("math", "py")) or on_arrays, on_arrays


def late_helper(name: str) -> Callable[..., Any]:
    """A function of `wengert.runtime`, whose module is loaded when it is called."""

    def call(*args: Any, **options: Any) -> Any:
        return runtime_helper(name)(*args, **options)

    return call


@cache
def runtime_helper(name: str) -> Any:
    """A function or constant of `wengert.runtime`.

    Raises:
        LookupError: there is none of that name.
    """
    for part in _RUNTIME:
        module = import_module(f"wengert.runtime.{part}")
        if hasattr(module, name):
            return getattr(module, name)
    raise LookupError(f"wengert.runtime has no helper {name!r}")


def _found_in(op: Op, namespaces: Iterable[str]) -> Any:
    words = ((namespace, _word_in(op, namespace)) for namespace in namespaces)
    found = (_dotted(NAMESPACES[namespace], word) for namespace, word in words if word)
    return next(filter(None, found), None)


def _word_in(op: Op, namespace: str) -> str:
    """The first spelling in a namespace, if that is a name and no operator."""
    first = op.spellings.get(namespace, "").partition(" ")[0]
    return first if first.replace(".", "").replace("_", "").isalnum() else ""


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
