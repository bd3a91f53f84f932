"""Terms as text: the way one would write them, with no more brackets than they need."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ....ir.graph import Atom, Const, Eqn
from ....ir.types import Number
from ....ops import structure as st
from ..needed import missing

if TYPE_CHECKING:
    from ..nodes import Nodes

LONGEST = 2000
"""How many characters a term is written out in; a longer one is a list of its nodes."""

SUM, PRODUCT, SIGN, POWER, ATOM = range(1, 6)
Text = tuple[str, int]
"""Text and how tightly it binds."""

_INFIX = {
    "add": (" + ", SUM, SUM),
    "sub": (" - ", SUM, PRODUCT),
    "mul": (" * ", PRODUCT, PRODUCT),
    "div": (" / ", PRODUCT, SIGN),
    "floordiv": (" // ", PRODUCT, SIGN),
    "mod": (" % ", PRODUCT, SIGN),
    "matmul": (" @ ", PRODUCT, SIGN),
    "pow": ("**", ATOM, POWER),
    "ieee_pow": ("**", ATOM, POWER),
    "ieee_div": (" / ", PRODUCT, SIGN),
    "lt": (" < ", SUM, SUM), "le": (" <= ", SUM, SUM), "gt": (" > ", SUM, SUM),
    "ge": (" >= ", SUM, SUM), "eq": (" == ", SUM, SUM), "ne": (" != ", SUM, SUM),
}  # fmt: skip
"""How an operator is written, and how tightly its left and its right operand must bind."""

SYMBOLS = {name: symbol.strip() for name, (symbol, _, _) in _INFIX.items()} | {"neg": "-"}
_LEVEL = {"add": SUM, "sub": SUM, "pow": POWER, "ieee_pow": POWER} | dict.fromkeys(
    ("mul", "div", "ieee_div", "floordiv", "mod", "matmul"), PRODUCT
)


def expression(graph: Nodes, atom: Atom) -> str:
    """A term as Python would write it; a long one node by node, shared parts once."""
    eqns = missing(graph, atom, {})
    if _length(eqns, atom) > LONGEST:
        return _listing(eqns)
    return rendered(eqns, atom, in_python)[0]


def rendered(
    eqns: list[Eqn],
    atom: Atom,
    write: Callable[[Eqn, list[Text]], Text],
    write_leaf: Callable[[Atom], Text] | None = None,
) -> Text:
    """A term written from its leaves up."""
    texts: dict[Atom, Text] = {}
    of_leaf = write_leaf or leaf
    for eqn in eqns:
        parts = [texts[arg] if arg in texts else of_leaf(arg) for arg in eqn.args]
        texts[eqn.outs[0]] = write(eqn, parts)
    return texts[atom] if atom in texts else of_leaf(atom)


def leaf(atom: Atom) -> Text:
    """A literal, a variable or a constant."""
    if isinstance(atom, Const):
        text = number(atom.value)
        return text, SIGN if text.startswith("-") else ATOM
    if atom.name:
        return atom.name, ATOM
    return ("c" if isinstance(atom.kind, Number) else "array"), ATOM


def number(value: Any) -> str:
    """A literal as short as it can be said exactly."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    if isinstance(value, FunctionType):
        return value.__name__
    return f"{value:g}" if type(value) is float and float(f"{value:g}") == value else repr(value)


def in_python(eqn: Eqn, parts: list[Text]) -> Text:
    """An operation over its parts, as Python writes it."""
    name = eqn.op.name
    if name in _INFIX and len(parts) == 2:
        symbol, left, right = _INFIX[name]
        text = bracketed(parts[0], left) + symbol + bracketed(parts[1], right)
        return text, _LEVEL.get(name, 0)
    if name == "neg":
        return "-" + bracketed(parts[0], PRODUCT if parts[0][1] != PRODUCT else POWER), SIGN
    texts = [text for text, _ in parts]
    if eqn.op is st.getitem:
        return f"{bracketed(parts[0], ATOM)}[{texts[1]}]", ATOM
    if eqn.op is st.pack:
        inside = ", ".join(texts)
        return (f"({inside})" if eqn.param("form") == "tuple" else f"[{inside}]"), ATOM
    options = [f"{k}={_option(v)}" for k, v in eqn.params.items()]
    return f"{name}({', '.join([*texts, *options])})", ATOM


def _option(atom: Atom) -> str:
    return repr(atom.value) if isinstance(atom, Const) else leaf(atom)[0]


def bracketed(part: Text, tightness: int) -> str:
    """A part in brackets, if it binds less tightly than its place asks for."""
    text, own = part
    return text if own >= tightness else f"({text})"


def _length(eqns: list[Eqn], atom: Atom) -> int:
    """How long a term is when it is written out; the sizes are added up, not the texts."""
    lengths: dict[Atom, int] = {}
    for eqn in eqns:
        parts = (lengths.get(arg) or len(leaf(arg)[0]) for arg in eqn.args)
        lengths[eqn.outs[0]] = min(sum(parts) + len(eqn.op.name) + 3, 10 * LONGEST)
    return lengths.get(atom, 0)


def _listing(eqns: list[Eqn]) -> str:
    """One line for each node: `%3 = %1 * x`."""
    names: dict[Atom, Text] = {}
    lines: list[str] = []
    for k, eqn in enumerate(eqns, start=1):
        text, _ = in_python(eqn, [names.get(arg) or leaf(arg) for arg in eqn.args])
        names[eqn.outs[0]] = (f"%{k}", ATOM)
        lines.append(f"%{k} = {text}")
    return "\n".join([*lines[:-1], lines[-1].partition(" = ")[2]])
