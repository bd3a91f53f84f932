"""Pieces of Python text that know how tightly they bind and which user code they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...ir.graph import Span
from ...ir.records import record, value_record

# How tightly an expression binds, as in Python's grammar; a higher level binds tighter.
TERNARY: Final = 1
OR: Final = 2
AND: Final = 3
NOT: Final = 4
COMPARISON: Final = 5
SUM: Final = 10
PRODUCT: Final = 11
UNARY: Final = 12
POWER: Final = 13
PRIMARY: Final = 15
ATOM: Final = 16

BINARY_LEVELS: dict[str, int] = {
    "or": OR,
    "and": AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"), COMPARISON),
    "|": 6,
    "^": 7,
    "&": 8,
    "<<": 9,
    ">>": 9,
    **dict.fromkeys(("+", "-"), SUM),
    **dict.fromkeys(("*", "/", "//", "%", "@"), PRODUCT),
    "**": POWER,
}
UNARY_LEVELS: dict[str, int] = {"-": UNARY, "+": UNARY, "~": UNARY, "not": NOT}


@value_record
class Mark:
    """The characters `start:end` of a text compute what the user wrote at `span`."""

    start: int
    end: int
    span: Span


@record
class Code:
    """A piece of Python: one expression, or one line of a statement."""

    text: str
    level: int = ATOM
    marks: tuple[Mark, ...] = ()

    def __len__(self) -> int:
        return len(self.text)

    def marked(self, span: Span | None) -> Code:
        """The same text, said to compute what stands at `span`."""
        if span is None:
            return self
        return Code(self.text, self.level, (*self.marks, Mark(0, len(self.text), span)))

    def cut(self, start: int, end: int) -> Code:
        """The characters `start:end`, with the marks that lie within."""
        inside = (m for m in self.marks if start <= m.start and m.end <= end)
        marks = tuple(Mark(m.start - start, m.end - start, m.span) for m in inside)
        return Code(self.text[start:end], self.level, marks)


def concat(*parts: str | Code, level: int = ATOM) -> Code:
    """The parts one after the other, their marks shifted to where they end up."""
    texts: list[str] = []
    marks: list[Mark] = []
    offset = 0
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
            offset += len(part)
            continue
        texts.append(part.text)
        marks += (
            [Mark(m.start + offset, m.end + offset, m.span) for m in part.marks]
            if offset
            else part.marks
        )
        offset += len(part.text)
    return Code("".join(texts), level, tuple(marks))


def listing(parts: Iterable[str | Code]) -> list[str | Code]:
    """The parts with commas between them, ready for `concat`."""
    result: list[str | Code] = []
    for part in parts:
        if result:
            result.append(", ")
        result.append(part)
    return result


def at_least(code: Code, level: int) -> Code:
    """The code, in parentheses if it binds more loosely than `level`."""
    return code if code.level >= level else concat("(", code, ")")


def binary(symbol: str, left: Code, right: Code) -> Code:
    """`left symbol right`, with the parentheses that it takes."""
    level = BINARY_LEVELS[symbol]
    if symbol == "**":
        left, right = at_least(left, POWER + 1), at_least(right, UNARY)
        space = "" if _hugs(left) and _hugs(right) else " "
        return concat(left, space, symbol, space, right, level=level)
    # comparisons chain in Python, so neither operand may be one
    left_level = level + 1 if level == COMPARISON else level
    return concat(
        at_least(left, left_level), f" {symbol} ", at_least(right, level + 1), level=level
    )


def unary(symbol: str, operand: Code) -> Code:
    """`-x`, `not x` …"""
    level = UNARY_LEVELS[symbol]
    space = " " if symbol == "not" else ""
    return concat(symbol, space, at_least(operand, level), level=level)


def ternary(condition: Code, then: Code, other: Code) -> Code:
    """`then if condition else other`."""
    parts = (at_least(then, OR), " if ", at_least(condition, OR), " else ", other)
    return concat(*parts, level=TERNARY)


def call(function: str | Code, *arguments: str | Code) -> Code:
    """`function(arguments…)`."""
    if isinstance(function, Code):
        function = at_least(function, PRIMARY)
    return concat(function, "(", *listing(arguments), ")", level=PRIMARY)


def keyword(name: str, value: Code) -> Code:
    """`name=value`, an argument."""
    return concat(name, "=", value, level=0)


def tuple_display(items: Iterable[Code]) -> Code:
    """`a, b` without parentheses; the empty tuple and `(a,)` have them."""
    parts = list(items)
    if not parts:
        return Code("()")
    if len(parts) == 1:
        return concat("(", parts[0], ",)")
    return concat(*listing(parts), level=0)


def string(value: str | bytes) -> str:
    """A string literal in double quotes, where that needs no escapes."""
    text = repr(value)
    quote = text.index("'") if "'" in text else -1
    if quote in (0, 1) and text.endswith("'") and '"' not in text:
        return text[:quote] + '"' + text[quote + 1 : -1].replace("\\'", "'") + '"'
    return text


def slice_bounds(start: Code | None, stop: Code | None, step: Code | None) -> Code:
    """`start:stop:step` between brackets, spaced as the formatter does."""
    bounds = [bound for bound in (start, stop, step) if bound is not None]
    roomy = not all(_is_simple_bound(bound) for bound in bounds)
    colon = " :" if roomy and start is not None else ":"
    parts: list[str | Code] = [start if start is not None else "", colon]
    if stop is not None:
        parts += [" " if roomy else "", stop]
    if step is not None:
        parts += [" : " if roomy else ":", step]
    return concat(*parts, level=0)


def _is_simple_bound(code: Code) -> bool:
    text = code.text.lstrip("-+~")
    return text.isidentifier() or text.replace(".", "", 1).isdigit()


def _hugs(code: Code) -> bool:
    text = code.text.removeprefix("-")
    if code.level not in (UNARY, PRIMARY, ATOM) or not text:
        return False
    if text[0].isdigit() or text[0] == ".":
        return all(c.isalnum() or c in "._" for c in text)
    return all(part.isidentifier() for part in text.split("."))


def is_operator(spelling: str) -> bool:
    """Whether a spelling of the namespace "py" is an operator, not a builtin."""
    return spelling in BINARY_LEVELS or spelling in UNARY_LEVELS


def receiver(code: Code) -> Code:
    code = at_least(code, PRIMARY)
    return concat("(", code, ")") if code.text.isdigit() else code
