"""What cannot be read on a path that a run may avoid: the program is read on, and refused by the runs that take it.

A program is read strictly at first: where all of it can be read, nothing here is asked. Only one that is refused
is read again in this way (`Session.defers`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import WengertError
from ...ir.builder import Builder
from ...ir.graph import Atom, Const, Var
from ...ir.records import value_record
from ...ops import structure as st
from ...ops.program.refusals import operands_of, refused, unless_refusal
from ..domain.values import Value
from ..machine.interpreter import Interpreter
from ..machine.segments import Marked
from ..machine.session import Frame
from .branch import Branch


@value_record
class Beginning:
    """Where a path begins: what is to stand there again after something inside could not be read."""

    builder: Builder
    frames: list[tuple[Frame, int, set[str]]]
    open: Marked


def beginning(it: Interpreter) -> Beginning | None:
    """The state at the beginning of a path, where what cannot be read on it is to be refused by its runs."""
    if not it.reading.defers:
        return None
    frames = [(frame, frame.loops, frame.unbound) for frame in it.frames]
    return Beginning(it.builder, frames, it.catching.mark())


def refuse_when_run(it: Interpreter, path: Beginning, refusal: WengertError) -> None:
    """End a path with the error that its runs raise; what it did before the statement that was refused, it does."""
    it.emit(st.raise_, error_at(it, path, refusal), Const(False))


def error_at(it: Interpreter, path: Beginning, refusal: WengertError) -> Atom:
    """The error that the runs of a path raise; the interpreter stands on that path again."""
    span = it.builder.span
    del it.frames[len(path.frames) :]
    for frame, loops, unbound in path.frames:
        frame.loops, frame.unbound = loops, unbound
    it.builder = path.builder
    it.catching.return_to(path.open)
    return it.emit(refused, *operands_of(refusal, span), namespace="rt")


def pass_on(it: Interpreter, exception: Value) -> None:
    """Have a handler of the program raise again what is no exception of the program's, but says that it is refused."""
    if it.reading.defers and isinstance(exception, Var):
        it.emit(unless_refusal, exception, namespace="rt")


def refused_on_all(arms: Sequence[Branch]) -> WengertError | None:
    """The error of a branch that cannot be read whichever way it goes: nothing has to be run to know."""
    refusals = [arm.refusal for arm in arms if arm.refusal is not None]
    if len(refusals) < len(arms):
        return None
    first = refusals[0]
    alike = [each for each in refusals if type(each) is type(first)]
    findings = dict.fromkeys(finding for each in alike for finding in each.findings)
    return type(first).of(list(findings))
