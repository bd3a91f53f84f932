"""In which namespace, and in which spelling, an op is printed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...ir.builder import kind_of_atom
from ...ir.graph import Eqn
from ...ir.types import Kind, Number
from .code import is_operator

_REAL = ("bool", "int", "float")


@cache
def rest_of(signature: str) -> str:
    """The option that takes a call's further positional arguments: `shape` of `"x, *shape"`."""
    operands, star, rest = signature.partition(", *")
    return rest.partition(",")[0].strip() if operands and star else ""


def is_real(kind: Kind) -> bool:
    return isinstance(kind, Number) and kind.type in _REAL


def spelled_as(eqn: Eqn) -> tuple[str, str]:
    """The namespace and spelling in which an equation is printed."""
    spellings = eqn.op.spellings
    if eqn.namespace == "call":
        return "call", ""
    for namespace in (eqn.namespace, *_preferences(eqn)):
        text = spellings.get(namespace)
        if not text:
            continue
        if namespace == "py" and is_operator(text):
            if eqn.params:
                continue
            return namespace, text
        return namespace, text.split()[0]
    if eqn.op.implementation is not None:
        return "call", ""
    raise ValueError(f"the op {eqn.op.name!r} has no spelling in Python")


def _preferences(eqn: Eqn) -> Sequence[str]:
    if eqn.op.spellings.get("py") and is_operator(eqn.op.spellings["py"]):
        return ("py", "np", "rt", "math", "method", "attr")
    kinds = [kind_of_atom(atom) for atom in (*eqn.args, *eqn.outs)]
    if all(is_real(kind) for kind in kinds):
        return ("math", "py", "np", "rt", "method", "attr")
    return ("np", "rt", "py", "method", "attr", "cmath", "math")
