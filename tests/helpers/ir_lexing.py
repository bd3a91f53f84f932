"""Lines of IR text as tokens, with errors that point at the column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

INDENT = 4

_NUMBER = r"(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|(?:inf|nan)(?!\.))"
_TOKEN = re.compile(
    rf"""
      (?P<space>   \s+ | \#.* )
    | (?P<value>   %\d+ )
    | (?P<token>   <[^\s<>=][^<>]*> )
    | (?P<number>  \(-?{_NUMBER}[-+]{_NUMBER}j\) | {_NUMBER}j?(?![\w\u0300-\u036f]) )
    | (?P<string>  b?(?: '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" ) )
    | (?P<name>    [^\W\d][\w\u0300-\u036f]*(?:\.\d+)? )
    | (?P<symbol>  \*\* | // | << | >> | [=!<>]= | -> | \.\.\. | [-+*/%@&|^~<>=()\[\]:,.?] )
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """`form` is "value" (`%1`), "token" (`<C>`), "number", "string", "name", "symbol" or "end"."""

    form: str
    text: str
    column: int


class Line:
    """The tokens of one line, consumed from left to right."""

    def __init__(self, number: int, text: str):
        self.number = number
        self.text = text
        self.comment = text.lstrip(" #") if text.lstrip().startswith("#") else ""
        self.position = 0
        self.tokens: list[Token] = []
        self.tokens.extend(self._lex())
        self.depth, rest = divmod(len(text) - len(text.lstrip(" ")), INDENT)
        if rest:
            self.fail(f"indentation is not a multiple of {INDENT}")

    def _lex(self) -> Iterator[Token]:
        column = 0
        while column < len(self.text):
            match = _TOKEN.match(self.text, column)
            if match is None:
                self.fail("unexpected character", column)
            if match.lastgroup != "space":
                yield Token(str(match.lastgroup), match[0], column)
            column = match.end()
        yield Token("end", "", column)

    def fail(self, message: str, column: int | None = None) -> NoReturn:
        """A SyntaxError at a column, by default the next token's."""
        at = self.token.column if column is None else column
        raise SyntaxError(message, ("<ir>", self.number, at + 1, self.text))

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    @property
    def after(self) -> Token:
        """The token after the next one."""
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def advance(self) -> str:
        """The text of the next token, consumed."""
        text = self.token.text
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return text

    def accept(self, text: str) -> bool:
        """Whether the next token is this one, which it then consumes."""
        found = self.token.text == text
        if found:
            self.advance()
        return found

    def expect(self, text: str) -> None:
        """Consumes this token, or fails."""
        if not self.accept(text):
            self.fail(f"expected {text!r}" if text else "expected the end of the line")

    def expect_form(self, form: str) -> str:
        """Consumes a token of this form, or fails."""
        if self.token.form != form:
            self.fail(f"expected a {form}")
        return self.advance()

    def until_parenthesis(self) -> str:
        """The text before the next `(`: a function's name such as `f.<locals>.g`."""
        start = self.token.column
        while self.token.text != "(" and self.token.form != "end":
            self.advance()
        return self.text[start : self.token.column]

    def has_targets(self) -> bool:
        """Whether an `=` stands outside all brackets."""
        depth = 0
        for token in self.tokens:
            depth += token.text in ("(", "[")
            depth -= token.text in (")", "]")
            if token.text == "=" and not depth:
                return True
        return False
