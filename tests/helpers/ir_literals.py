"""Constants and kinds in IR text."""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ir_lexing import Line

from wengert.ir.notation import SYMBOLS
from wengert.ir.op import Op
from wengert.ir.steps import Field, Viewed
from wengert.ir.types import UNKNOWN, Array, Kind, Map, Number, Other, Seq, Static, Struct

T = TypeVar("T")

_LITERALS = {"None": None, "True": True, "False": False, "...": ...}
_WORDS = (*_LITERALS, *SYMBOLS, "slice")
_NUMBERS = {
    "bool": Number("bool"),
    "int": Number("int"),
    "float": Number("float"),
    "complex": Number("complex"),
}


def several(line: Line, closing: str, item: Callable[[], T]) -> list[T]:
    """Items separated by commas, up to a closing token."""
    items: list[T] = []
    if line.accept(closing):
        return items
    items.append(item())
    while not line.accept(closing):
        line.expect(",")
        if line.accept(closing):
            break
        items.append(item())
    return items


class Literals:
    """Reads constants and kinds.

    `values` are what tokens such as `<C>` stand for, by name; `op` gives the op of a name.
    """

    def __init__(self, values: Mapping[str, Any], op: Callable[[Line, str], Op]):
        self.values = values
        self.op = op

    def constant(self, line: Line) -> Any:
        form, text, _ = line.token
        if form == "token" and text[1:-1] not in self.values:
            line.fail(f"the constant {text} has no literal: give its value to parse")
        if form in ("name", "value") and text not in _WORDS:
            line.fail(f"{text} is not defined here")
        if form in ("symbol", "end") and text not in ("-", "(", "...", "."):
            line.fail("expected a value or a constant")
        line.advance()
        match form, text:
            case "number", _:
                return _number(text)
            case "string", _:
                return literal_eval(text)
            case "token", _:
                return self.values[text[1:-1]]
            case _, "-":
                return _number("-" + line.expect_form("number"))
            case _, "(":
                return self.parenthesised(line)
            case _, ".":
                return self.step(line)
            case "name", "slice":
                line.expect("(")
                return slice(*several(line, ")", lambda: self.constant(line)))
            case _ if text in SYMBOLS:
                return SYMBOLS[text].value
            case _:
                return _LITERALS[text]

    def parenthesised(self, line: Line) -> Any:
        items = several(line, ")", lambda: self.constant(line))
        trailing = line.tokens[line.position - 2].text == ","
        return items[0] if len(items) == 1 and not trailing else tuple(items)

    def step(self, line: Line) -> Field | Viewed:
        """A step of a write's path, after its dot."""
        name = line.expect_form("name")
        if not line.accept("."):
            return Field(name)
        op = self.op(line, line.expect_form("name"))
        line.expect("(")
        return Viewed(op, name, tuple(several(line, ")", lambda: self.option(line))))

    def option(self, line: Line) -> tuple[str, Any]:
        name = line.expect_form("name")
        line.expect("=")
        return name, self.constant(line)

    # --- kinds ----------------------------------------------------------------------------

    def kind(self, line: Line) -> Kind:
        if line.accept("?"):
            return UNKNOWN
        name = line.expect_form("name")
        if name in _NUMBERS:
            return _NUMBERS[name]
        if name in ("array", "seq") and line.accept("["):
            kind = self.array(line) if name == "array" else Seq(self.kind(line))
            line.expect("]")
            return kind
        if name == "map" and line.accept("["):
            key = self.kind(line)
            line.expect(",")
            kind = Map(key, self.kind(line))
            line.expect("]")
            return kind
        class_ = self.constant(line) if line.token.form == "token" else None
        if name == "static":
            return Static(class_)
        return self.struct(line, name, class_) if line.accept("(") else Other(name)

    def array(self, line: Line) -> Kind:
        dtype = "" if line.accept("?") else line.expect_form("name")
        line.expect(",")
        return Array(dtype, None if line.accept("?") else int(line.expect_form("number")))

    def struct(self, line: Line, form: str, class_: Any) -> Kind:
        def item() -> tuple[Any, Kind]:
            if form in ("tuple", "list"):
                return None, self.kind(line)
            key = self.constant(line) if form == "dict" else line.expect_form("name")
            line.expect(":")
            return key, self.kind(line)

        items = several(line, ")", item)
        keys = range(len(items)) if form in ("tuple", "list") else [key for key, _ in items]
        return Struct(form, tuple(keys), tuple(kind for _, kind in items), class_)


def _number(text: str) -> int | float | complex:
    if text.endswith(("j", "j)")):
        return complex(text)
    return int(text) if text.lstrip("-").isdigit() else float(text)
