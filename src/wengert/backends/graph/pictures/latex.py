"""Terms as LaTeX: fractions, powers and roots as a textbook sets them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir.graph import Const, Eqn
from ....ops import structure as st
from ..needed import missing
from .text import ATOM, POWER, PRODUCT, SIGN, SUM, Text, bracketed, number, rendered

if TYPE_CHECKING:
    from ..term import Term

_GREEK = {
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda",
    "mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
}  # fmt: skip
_NAMED = {
    "sin": r"\sin", "cos": r"\cos", "tan": r"\tan", "asin": r"\arcsin", "acos": r"\arccos",
    "atan": r"\arctan", "sinh": r"\sinh", "cosh": r"\cosh", "tanh": r"\tanh", "log": r"\log",
    "maximum": r"\max", "minimum": r"\min", "gamma": r"\Gamma",
}  # fmt: skip
_RELATIONS = {"lt": "<", "le": r"\le", "gt": ">", "ge": r"\ge", "eq": "=", "ne": r"\ne"}


def to_latex(term: Term) -> str:
    """A term in LaTeX's mathematics, without the dollars around it."""
    eqns = missing(term.graph, term.atom, {})
    return rendered(eqns, term.atom, _write, _leaf)[0]


def _leaf(atom: object) -> Text:
    if isinstance(atom, Const):
        text = number(atom.value)
        mantissa, e, exponent = text.partition("e")
        if e and isinstance(atom.value, float):
            return rf"{mantissa} \cdot 10^{{{int(exponent)}}}", PRODUCT
        return text, SIGN if text.startswith("-") else ATOM
    name: str = getattr(atom, "name", "") or "c"
    base, _, index = name.partition("_")
    letter = rf"\{base}" if base in _GREEK else base if len(base) == 1 else rf"\mathrm{{{base}}}"
    return (f"{letter}_{{{index}}}" if index else letter), ATOM


def _write(eqn: Eqn, parts: list[Text]) -> Text:
    texts = [text for text, _ in parts]
    match eqn.op.name, parts:
        case "add", [x, y]:
            return f"{bracketed(x, SUM)} + {_in_brackets(y, SUM)}", SUM
        case "sub", [x, y]:
            return f"{bracketed(x, SUM)} - {_in_brackets(y, PRODUCT)}", SUM
        case "mul", [x, y]:
            return _product(x, y), PRODUCT
        case (("div" | "ieee_div"), _):
            return rf"\frac{{{texts[0]}}}{{{texts[1]}}}", POWER
        case (("pow" | "ieee_pow"), [x, _]):
            return f"{_in_brackets(x, ATOM)}^{{{texts[1]}}}", POWER
        case "neg", [x]:
            return "-" + bracketed(x, PRODUCT), SIGN
        case "exp", _:
            return f"e^{{{texts[0]}}}", POWER
        case "sqrt", _:
            return rf"\sqrt{{{texts[0]}}}", ATOM
        case "abs", _:
            return rf"\left|{texts[0]}\right|", ATOM
        case name, [x, y] if name in _RELATIONS:
            return f"{texts[0]} {_RELATIONS[name]} {texts[1]}", 0
        case _ if eqn.op is st.getitem:
            return f"{{{texts[0]}}}_{{{texts[1]}}}", ATOM
        case _:
            return _called(eqn, texts), ATOM


def _called(eqn: Eqn, texts: Sequence[str]) -> str:
    name = eqn.op.name
    function = _NAMED.get(name) or _operator(name)
    return rf"{function}\left({', '.join(texts)}\right)"


def _product(x: Text, y: Text) -> str:
    left, right = bracketed(x, PRODUCT), _in_brackets(y, PRODUCT)
    return rf"{left} \cdot {right}" if right[0].isdigit() else rf"{left} \, {right}"


def _in_brackets(part: Text, tightness: int) -> str:
    text, own = part
    if own >= tightness and not text.startswith("-"):
        return text
    return rf"\left({text}\right)"


def _operator(name: str) -> str:
    escaped = name.replace("_", r"\_")
    return rf"\operatorname{{{escaped}}}"
