"""What wengert raises; each class's docstring is its page in the documentation.

Every error carries a stable code, the user's source line with a caret, the reason and the way out.
"""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING, NamedTuple

from . import notebooks
from .runtime.refusals import DerivativeWarning as DerivativeWarning

if TYPE_CHECKING:
    from types import TracebackType
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
    op: Any = None
    """What has no rule, if that is what is wrong."""
    guards: tuple[Any, ...] = ()
    """What reading a program relied on until it was refused."""
    is_final = False
    """Whether no run gives what is refused: it has no end, or has lost its derivative on the way."""
    on_a_path = False
    """Whether a run may avoid what is refused: it stands in a branch, or in a loop that may have no turn."""
    also_elsewhere = False
    """Whether runs that avoid what is refused are not right either: they read what others have left there."""
    met_in_a_run = False
    """Whether a run has come to it, in a call whose target only the run knew."""

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
        (message, hint, known), *others = self.findings
        if span is None or known is not None or others:
            return self
        return self._saying([Finding(message, hint, span)]).with_traceback(self.__traceback__)

    def also(self, hint: str) -> Self:
        """The same error with one more way out."""
        *others, (message, known, span) = self.findings
        said = [*others, Finding(message, f"{known}\n{hint}".strip(), span)]
        return self._saying(said).with_traceback(self.__traceback__)

    def anew(self) -> Self:
        """The same error, to be raised once more."""
        return self._saying(self.findings)

    def final(self) -> Self:
        """The error of what no run gives either."""
        self.is_final = True
        return self

    def _saying(self, findings: list[Finding]) -> Self:
        error = type(self).of(findings)
        vars(error).update(vars(self), findings=list(findings))
        return error  # type: ignore[return-value]

    def frames_to_show(self) -> TracebackType | None:
        """The traceback without wengert's own frames: what is wrong is not in them."""
        return notebooks.users_alone(self.__traceback__)

    def _render_traceback_(self) -> list[str]:
        return notebooks.traceback_of(self, self.frames_to_show())  # what IPython shows

    def _render(self) -> str:
        parts = [f"[{self.code}] {_render_finding(finding)}" for finding in self.findings]
        return "\n\n".join(parts) + f"\n\n  explained by `wengert explain {self.code}`"


def _render_finding(finding: Finding) -> str:
    lines = [finding.message]
    if finding.span is not None:
        lines += ["", *excerpt(finding.span)]
    if finding.hint:
        lines += ["", *("  " + line for line in finding.hint.split("\n"))]
    return "\n".join(lines)


def excerpt(span: Span) -> list[str]:
    """The user's line with a caret under the text that a span covers."""
    where = f"  {notebooks.place(span.file, span.line)}" + (
        f", in {span.function}" if span.function else ""
    )
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
    """A construct of the language, or an option of a library's function, that cannot be differentiated (yet).

    All such constructs that a function certainly comes to are reported at once; one in a branch is an error of the
    runs that take the branch. Move the construct out of the differentiated function, or give the function that
    contains it a rule (`wg.rrule`). What a library's function does not do here is found when it is called: the error
    says what to call instead.
    """

    code = "WG101"


class NoSource(WengertError, TypeError):
    """A Python function whose source cannot be found.

    wengert reads the source of the functions it differentiates. Functions typed at a bare `python`
    prompt or built by `exec` have none, and a file that was changed since it was imported no longer
    has the right one. Put the function into a file, import it anew, or give it a rule (`wg.rrule`).
    """

    code = "WG102"


class NoRule(WengertError, TypeError):
    """A function that is not written in Python and has no rule.

    Three ways out: write its rule (`wg.rrule` or `wg.scalar_rule`); say that its derivative is
    zero (`wg.zero_rule`); or keep it out of the derivative (`wg.stop_gradient` on its arguments).

    A number that has a derivative is not kept in a set or as the key of an entry either, since what
    is found by it has none: keep such numbers in a list.
    """

    code = "WG103"


class LostWrite(WengertError, ValueError):
    """A write in place that would lose the derivative, or that does not do what it seems to.

    An array of integers that is given a float keeps its integer part only: create it with
    `dtype=float`. What `x.reshape(...)` or `x[indices]` gives may be a copy, so that writing to it does
    not change `x`: that is done as in Python, and a `WengertWarning` shows the line.
    """

    code = "WG104"


class NotScalar(WengertError, TypeError):
    """`gradient` of a function whose result is not one real number.

    A gradient belongs to a function with one real result: a float or an array without dimensions.
    For several results use `wg.jacobian`; to choose the cotangent yourself use `wg.pullback`; of a
    complex result take a real function first, such as `abs`.
    """

    code = "WG201"


class BadArgument(WengertError, TypeError):
    """An argument of wengert's own functions that makes no sense.

    Something that is no function; `argnums` that are neither integers nor names of arguments, out of range, or
    name an argument that has no derivative; an `order` or `mode` that does not exist; an array of a library that is
    not covered; text or a container where there has to be a number.
    """

    code = "WG202"


class BadTangent(WengertError, ValueError):
    """A tangent or cotangent of the wrong number, structure, shape or type.

    A pushforward takes one tangent per positional argument, each like its argument; a pullback
    takes one cotangent, like the result. None stands for zero.
    """

    code = "WG203"


class RuleError(WengertError, ValueError):
    """A rule that cannot be right.

    Raised where a row is registered (wrong number of partials, not a function) or where it is used
    (wrong number or shape of cotangents). The message shows the row's own file and line.
    """

    code = "WG301"


class MixedLibraries(WengertError, TypeError):
    """Arrays of two libraries in one computation.

    Convert one of them, so that the whole computation stays in one array library.
    """

    code = "WG204"


class ImmutableArray(WengertError, TypeError):
    """A write to an array of a library whose arrays cannot be written to (JAX, Dask).

    What the program made itself it may write to: the derivative makes a new array instead. An argument belongs to
    the caller, who would not see the write. Write to a copy: `x = x.copy()`.
    """

    code = "WG214"


class UnknownFunction(WengertError, AttributeError, TypeError):
    """A function that a number with derivatives or a term of a graph does not have.

    Their functions are the ops: NumPy's functions (`np.sin(x)`), methods of the same names
    (`x.sin()`), and `wg.ops.sin(x)`.
    """

    code = "WG205"


class LostDerivative(WengertError, TypeError):
    """A conversion that would drop a derivative: `float(x)`, or `math.sin(x)` of a `Dual`.

    Python's `math` works on floats alone: it asks a number for its float, which has no derivative. Write
    `np.sin(x)`, `x.sin()` or `wg.ops.sin(x)`. Where only the value is wanted, say so: `x.value`.
    """

    code = "WG206"


class MixedNumbers(WengertError, TypeError):
    """Numbers with derivatives that do not belong together.

    A `Dual` and a `Taylor` number that carry the same infinitesimal, or duals with different numbers of
    directions. Nest one inside the other, or use one kind for one differentiation.
    """

    code = "WG207"


class OrderExceeded(WengertError, IndexError):
    """A derivative of a higher order than a truncated number carries.

    `Taylor(..., order=2)` knows f, f′ and f″. Ask for more orders when the number is made, or leave `order`
    out: orders are then computed as they are asked for.
    """

    code = "WG208"


class GraphError(WengertError, ValueError):
    """A term of a graph that cannot be used this way.

    A variable without a value, a name that no variable has, terms of two graphs in one expression, a
    value given to what is no variable, the truth of a term. The message names the term.
    """

    code = "WG209"


class NoPicture(WengertError, RuntimeError):
    """A picture that needs a program which is not installed.

    PNG is laid out by Graphviz's `dot`. `to_svg()`, `to_dot()`, `to_mermaid()` and `to_html()` need nothing.
    """

    code = "WG210"


class NotASolution(WengertError, ValueError):
    """A solver whose result does not solve the equation that its derivative is taken from.

    `wg.implicit` differentiates the equation `residual(x, *args) == 0`, whatever the solver did. At an
    x that is no solution that derivative means nothing. Let the solver converge further, see that it
    solves the same equation as the residual, or pass `tol=`. Raised too where the residual has not
    as many numbers as the solution, and where `linear_solve` did not solve.
    """

    code = "WG211"


class EqualValues(WengertError, ValueError):
    """A derivative of eigenvectors or singular vectors whose values are equal.

    They can be chosen in any way within what they span: LAPACK gives some, and a change of the matrix, however
    small, gives others. So they have no derivative. What is of the values alone has one, and so have vectors
    whose values are apart. A function that does not depend on the choice has one too, but not one that can be put
    together from derivatives of vectors: write it without them (`scipy.linalg.sqrtm`, `expm`, `logm`, `polar`,
    `np.linalg.inv`, `A @ A`), or give it a rule (`wg.rrule`). Values count as equal where rounding alone can have
    made them differ. Raised too at a defective matrix, such as a Jordan block, whose equal eigenvalues have one
    eigenvector between them and no derivative; and by a QR factorisation of columns that depend on one another.
    """

    code = "WG212"


class MovingJump(WengertError, ValueError):
    """What `quad`, `solve_ivp` or `odeint` integrates jumps at a place that moves with what is differentiated.

    The derivative of `quad(lambda t: 1.0 if t < c else 0.0, 0, 2)` by c is 1, though that of the integrand is 0
    wherever it has one. Split the integral where it jumps, at bounds that say so:
    `quad(before, 0, c)[0] + quad(after, c, 2)[0]`; with `solve_ivp`, end the first part at c or at a terminal event.
    Where both sides meet there is no jump, and no error.
    """

    code = "WG213"


class UnknownName(WengertError, AttributeError):
    """A name that another library has and wengert has not, such as `wg.vjp`.

    The message says what it is called here. The page *From autograd, JAX and PyTorch* (`docs/from-other-libraries.md`)
    has the names side by side, and what differs.
    """

    code = "WG220"


class PartFailed(WengertError, RuntimeError):
    """A part of the data whose share in a sum (`wg.over_parts`) could not be computed.

    The message says which part, and shows the traceback from where it was computed; the exception itself is the cause
    of this one (`error.__cause__`) where it could be sent. Compute the part here to look at it: `f(theta, part)`.
    """

    code = "WG221"


class CannotTravel(WengertError, TypeError):
    """A function that cannot be sent to the process in which it is to run (`wg.over_parts`).

    Functions travel by their names: those at the top of a module do, those made inside of others do not. Where
    cloudpickle is installed, functions that have no name elsewhere travel as their code.
    """

    code = "WG222"


class CheckFailed(WengertError, AssertionError):
    """`wg.testing` found a derivative that is wrong, or a function that gives another value at every call.

    The message says which argument, what was expected (the central difference) and what was found.
    Look at the rules on the way first: `wg.rule(f)` shows the one that is used for a function.
    """

    code = "WG401"


class NotNative(WengertError, NotImplementedError):
    """Something in a function has no native form (yet), or a loop has Python compute it; only `wg.jit(f, strict=True)`
    raises it.

    Without `strict` the Python form runs and a `NativeWarning` says the same, or native code calls Python. Native
    code works on floats, complex numbers, integers, truth values, NumPy arrays of them (`float64`, `float32`,
    `complex128`, `int64`, `bool`) and containers of known length. Move what it cannot do out of the function, or out
    of the loop, or leave that function to Python.
    """

    code = "WG501"


class InternalError(WengertError, RuntimeError):
    """wengert contradicted itself.

    The mistake is wengert's, not your code's. Please report it, with the function that was
    differentiated; a rule for the function (`wg.rrule`) is a way around it.
    """

    code = "WG901"

    def frames_to_show(self) -> TracebackType | None:
        return self.__traceback__

    def __init__(self, message: str, hint: str = "", span: Span | None = None):
        super().__init__(
            message,
            hint
            or "This is a mistake of wengert's, not of your code. Please report it, with the\n"
            "function that was differentiated.",
            span,
        )


_WITH_CODES = (
    LostWrite, NotScalar, BadArgument, BadTangent, RuleError, NotASolution, EqualValues,
    MovingJump, UnsupportedSyntax, NoSource, NoRule,
)  # fmt: skip
_OF_GENERATED_CODE = {error.code: error for error in _WITH_CODES}


def of_generated_code(error: Exception) -> Exception:
    """What generated code raised, as wengert's own error if it was a check of wengert's.

    Generated code runs without wengert, so its checks raise plain errors: they carry the code, and
    their text is the message, a line break and the hint.
    """
    cls = _OF_GENERATED_CODE.get(getattr(error, "code", ""))
    if cls is None or isinstance(error, WengertError):
        return error
    message, _, hint = str(error).partition("\n")
    return cls(message, hint, getattr(error, "span", None)).with_traceback(error.__traceback__)


class WengertWarning(UserWarning):
    """Base of wengert's warnings: the program is differentiated as it stands, but may not do what it seems to."""


class NativeWarning(WengertWarning):
    """A function given to `wg.jit` runs as Python: the message says which line has no native form, and why.

    Raised once for each combination of argument types. `wg.jit(f, strict=True)` raises `NotNative` instead.
    """
