"""Statements laid out as lines: indentation, line length, origins.

Lines come out as a formatter with Python's usual conventions would leave them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...ir.graph import Span
from ...ir.records import field, mutable_record
from .code import Code, Mark, concat

WIDTH = 88
_OPEN, _CLOSE = "([{", ")]}"


@mutable_record
class Statement:
    """A line, or the head of a block and what stands in it.

    `head` of a block is without its colon; `other` is what follows under `else:`.
    """

    head: Code
    span: Span | None = None
    body: list[Statement] | None = None
    other: list[Statement] = field(default_factory=list["Statement"])
    spaced: bool = False
    """Whether blank lines set it apart, as they do a nested function."""
    within: Span | None = None
    """What it serves where nobody wrote it: the loop that it starts, the branch that it ends."""


@mutable_record
class Line:
    """A line of text, and which of its columns compute what."""

    text: str
    marks: tuple[Mark, ...] = ()
    spans: tuple[Span, ...] = ()


class Layout:
    """Turns statements into lines."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._origin = ""

    def block(self, statements: Sequence[Statement], indent: int) -> None:
        for position, statement in enumerate(statements):
            spaced = statement.spaced or (position > 0 and statements[position - 1].spaced)
            if spaced and position > 0:
                self.lines.append(Line(""))
            self._statement(statement, indent)

    def _statement(self, statement: Statement, indent: int) -> None:
        if statement.body is None:
            self._line(statement.head, statement.span, indent, statement.within)
            return
        self._line(concat(statement.head, ":"), statement.span, indent, statement.within)
        if statement.spaced:
            self._origin = ""
        self.block(statement.body or [Statement(Code("pass"))], indent + 1)
        while _is_elif(statement.other):
            statement = statement.other[0]
            self._line(concat("el", statement.head, ":"), statement.span, indent)
            self.block(statement.body or [Statement(Code("pass"))], indent + 1)
        if statement.other:
            self._line(Code("else:"), None, indent, statement.span or statement.within)
            self.block(statement.other, indent + 1)

    def _line(self, code: Code, span: Span | None, indent: int, within: Span | None = None) -> None:
        pad = " " * (4 * indent)
        if code.text.startswith('"""'):
            texts = code.text.split("\n")
            self.lines += [Line((pad + text.strip()).rstrip()) for text in texts]
            return
        pieces = list(_wrapped(code, WIDTH - len(pad)))
        own = [] if span is None else [span]
        known = [*(m.span for m in code.marks), *own] or ([] if within is None else [within])
        spans = tuple(dict.fromkeys(known))
        lines: list[Line] = []
        for extra, piece in pieces:
            lead = pad + " " * (4 * extra)
            marks = tuple(Mark(m.start + len(lead), m.end + len(lead), m.span) for m in piece.marks)
            lines.append(Line(lead + piece.text, marks, spans))
        self._comment(lines, span or next((m.span for m in code.marks), None), code)
        self.lines += lines

    def _comment(self, lines: list[Line], span: Span | None, code: Code) -> None:
        if code.text.startswith("#"):
            self._origin = ""
        elif span is not None:
            origin = str(span)
            if origin == self._origin:
                return
            self._origin = origin
            comment = f"  # {_one_line(origin)}"
            if len(lines) == 1 and len(lines[0].text) + len(comment) <= WIDTH:
                lines[0].text += comment


def comment(text: str) -> Statement:
    """A line `# text`."""
    return Statement(Code(f"# {_one_line(text)}"))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _is_elif(other: Sequence[Statement]) -> bool:
    return len(other) == 1 and other[0].body is not None and other[0].head.text.startswith("if ")


# --- long lines ---------------------------------------------------------------------------


def _wrapped(code: Code, room: int) -> Iterator[tuple[int, Code]]:
    """The lines a line of code is broken into, each with its extra indentation."""
    if len(code) <= room or code.text.startswith("#"):
        yield 0, code
        return
    split = _last_bracket(code.text)
    if split is None:
        yield from _in_parentheses(code, room)
        return
    start, end = split
    inside = code.cut(start + 1, end)
    yield 0, code.cut(0, start + 1)
    yield from _inside_brackets(inside, room - 4, _keeps_comma(code.text, start))
    yield 0, code.cut(end, len(code))


def _inside_brackets(inside: Code, room: int, comma: bool) -> Iterator[tuple[int, Code]]:
    if len(inside) <= room and not inside.text.endswith(","):
        yield 1, inside
        return
    items = list(_items(inside))
    several = len(items) > 1 or inside.text.endswith(",") or comma
    for item in items:
        full = concat(item, ",") if several and item.text not in ("*", "/") else item
        if item.text == "*":
            full = concat(item, ",")
        for extra, piece in _wrapped(full, room):
            yield extra + 1, piece


def _in_parentheses(code: Code, room: int) -> Iterator[tuple[int, Code]]:
    """`x = (` … `)` around a right-hand side that has no brackets of its own."""
    head = next((h for h in _HEADS if code.text.startswith(h)), None)
    at = next(iter(_top_level(code.text, " = ")), -3) + 3
    if head is not None:
        at = len(head)
    tail = 1 if code.text.endswith(":") else 0
    inside = code.cut(at, len(code) - tail)
    if at < 3 or len(inside) < 3 or len(code.cut(0, at)) >= room:
        yield 0, code
        return
    yield 0, concat(code.cut(0, at), "(")
    items = list(_items(inside))
    if len(items) > 1:
        yield from ((1, concat(item, ",")) for item in items)
    else:
        yield from ((1, piece) for piece in _operands(inside, room - 4))
    yield 0, Code(")" + ":" * tail)


_HEADS = ("return ", "if ", "elif ", "while ")


def _keeps_comma(text: str, start: int) -> bool:
    """Whether a single item in these brackets may be followed by a comma: calls and displays."""
    return (
        start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]") and text[start] == "("
    )


def _positions(text: str) -> Iterator[tuple[int, str, int]]:
    """Every character outside of string literals, with its position and bracket depth."""
    depth, at = 0, 0
    while at < len(text):
        character = text[at]
        if character in "\"'":
            at += 1
            while at < len(text) and text[at] != character:
                at += 2 if text[at] == "\\" else 1
        else:
            depth -= character in _CLOSE
            yield at, character, depth
            depth += character in _OPEN
        at += 1


def _last_bracket(text: str) -> tuple[int, int] | None:
    """The last pair of outer brackets with something in it, if the line ends right after it."""
    pair, opened = None, -1
    for at, character, depth in _positions(text):
        if depth == 0 and character in _OPEN:
            opened = at
        elif depth == 0 and character in _CLOSE and at > opened + 1:
            pair = (opened, at)
    if pair is None or len(text) - pair[1] > 2 + 8 * text.endswith(":"):
        return None
    outside = text[: pair[0]]
    return None if _top_level(outside, ", ") and not _top_level(outside, " = ") else pair


def _top_level(text: str, *separators: str) -> list[int]:
    """Where one of some separators stands outside of brackets and string literals."""
    return [
        at for at, _, depth in _positions(text) if not depth and text.startswith(separators, at)
    ]


def _items(code: Code) -> Iterator[Code]:
    """The parts between top-level commas."""
    start = 0
    for at, character, depth in _positions(code.text):
        if character == "," and depth == 0:
            yield code.cut(start, at)
            start = at + 2
    if start < len(code):
        yield code.cut(start, len(code))


def _operands(code: Code, room: int) -> Iterator[Code]:
    """The parts before each loosest top-level operator."""
    if len(code) <= room:
        yield code
        return
    for operators in (
        (" if ", " else "),
        (" or ",),
        (" and ",),
        (" + ", " - "),
        (" * ", " / ", " @ "),
    ):
        cuts = _top_level(code.text, *operators)
        if cuts:
            bounds = [0, *(at + 1 for at in cuts), len(code)]
            for start, end in pairwise(bounds):
                yield code.cut(start, end - (end < len(code)))
            return
    yield code
