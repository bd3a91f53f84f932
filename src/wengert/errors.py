"""What wengert raises; each class's docstring is its page in the documentation.

Every error carries a stable code, the user's source line with a caret, the reason and the way out.
"""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any, Self

    from .ir.graph import Span


class Finding(NamedTuple):
    """One thing that is wrong: where, what, and what to do about it."""

    message: str
    hint: str
    span: Span | None = None


class WengertError(Exception):
    """Base of everything wengert raises of its own.

    Catch it to handle any refusal; `code` tells which one it is.
    """

    code = "WG000"

    def __init__(self, message: str, hint: str = "", span: Span | None = None):
        self.findings: list[Finding] = [Finding(message, hint, span)]
        super().__init__(self._render())

    @classmethod
    def of(cls, findings: list[Finding]) -> WengertError:
        """One error that reports several findings at once."""
        error = cls(findings[0].message, findings[0].hint, findings[0].span)
        error.findings = list(findings)
        error.args = (error._render(),)
        return error

    def __reduce__(self) -> Any:
        return type(self).of, (self.findings,)

    def at(self, span: Span | None) -> Self:
        """The same error at a place, if it has none of its own."""
        ((message, hint, known),) = self.findings
        if span is None or known is not None:
            return self
        return type(self)(message, hint, span).with_traceback(self.__traceback__)

    def _render(self) -> str:
        parts = [f"[{self.code}] {_render_finding(finding)}" for finding in self.findings]
        return "\n\n".join(parts) + f"\n\n  explained in docs/errors.md#{self.code.lower()}"


def _render_finding(finding: Finding) -> str:
    lines = [finding.message]
    if finding.span is not None:
        lines += ["", *excerpt(finding.span)]
    if finding.hint:
        lines += ["", *("  " + line for line in finding.hint.split("\n"))]
    return "\n".join(lines)


def excerpt(span: Span) -> list[str]:
    """The user's line with a caret under the text that a span covers."""
    where = f"  {span.file}:{span.line}" + (f", in {span.function}" if span.function else "")
    text = linecache.getline(span.file, span.line).rstrip("\n")
    if not text:
        return [where]
    encoded = text.encode()
    start = len(encoded[: span.column].decode(errors="replace"))
    end_column = span.end_column if span.end_line == span.line else len(encoded)
    end = max(len(encoded[:end_column].decode(errors="replace")), start + 1)
    indent = len(text) - len(text.lstrip())
    return [where, "    " + text[indent:], "    " + " " * (start - indent) + "^" * (end - start)]


class UnsupportedSyntax(WengertError, NotImplementedError):
    """A construct of the language that cannot be differentiated (yet).

    All such constructs of a function are reported at once. Move the construct out of the
    differentiated function, or give the function that contains it a rule (`wg.rrule`).
    """

    code = "WG101"


class NoSource(WengertError, TypeError):
    """A Python function whose source cannot be found.

    Functions typed at a bare `python` prompt or built by `exec` have no source to read. Put the
    function into a file, or give it a rule (`wg.rrule`).
    """

    code = "WG102"


class NoRule(WengertError, TypeError):
    """A function that is not written in Python and has no rule.

    Three ways out: write its rule (`wg.rrule` or `wg.scalar_rule`); say that its derivative is
    zero (`wg.zero_rule`); or keep it out of the derivative (`wg.stop_gradient` on its arguments).
    """

    code = "WG103"


class NotScalar(WengertError, TypeError):
    """`gradient` of a function whose result is not one real number.

    A gradient belongs to a function with one real result. For several results use `wg.jacobian`;
    to choose the cotangent yourself use `wg.pullback`.
    """

    code = "WG201"


class BadArgument(WengertError, TypeError):
    """An argument of wengert's own functions that makes no sense.

    `argnums` out of range, an argument that cannot be differentiated, the wrong number of
    arguments.
    """

    code = "WG202"


class BadTangent(WengertError, ValueError):
    """A tangent or cotangent of the wrong number, shape or type.

    A tangent looks like the argument it belongs to, a cotangent like the result.
    """

    code = "WG203"


class RuleError(WengertError, ValueError):
    """A rule that cannot be right.

    Raised where a row is registered (wrong number of partials, not a function) or where it is used
    (wrong number or shape of cotangents). The message names the row's own file and line.
    """

    code = "WG301"


class MixedLibraries(WengertError, TypeError):
    """Arrays of two libraries in one computation.

    Convert one of them, so that the whole computation stays in one array library.
    """

    code = "WG204"


class CheckFailed(WengertError, AssertionError):
    """`wg.testing` found a derivative that is wrong."""

    code = "WG401"


class InternalError(WengertError, RuntimeError):
    """wengert contradicted itself. Please report it, with the function that was differentiated."""

    code = "WG901"


_OF_GENERATED_CODE = {error.code: error for error in (NotScalar, BadTangent, RuleError)}


def of_generated_code(error: Exception) -> Exception:
    """What generated code raised, as wengert's own error if it was a check of wengert's.

    Generated code runs without wengert, so its checks raise plain errors: they carry the code, and
    their text is the message, a line break and the hint.
    """
    cls = _OF_GENERATED_CODE.get(getattr(error, "code", ""))
    if cls is None or isinstance(error, WengertError):
        return error
    message, _, hint = str(error).partition("\n")
    span = getattr(error, "span", None)
    return cls(message, hint, span).with_traceback(error.__traceback__)
