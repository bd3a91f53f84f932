"""What LLVM's optimiser is told of a program beside its instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..form import loopform as lf
from ..vector_math.vector_functions import VECTORISED


class Metadata:
    """Numbered notes to the optimiser."""

    def __init__(self) -> None:
        self.lines = ['!0 = !{!"branch_weights", i32 1, i32 100000}']

    def add(self, text: str) -> str:
        name = f"!{len(self.lines)}"
        self.lines.append(f"{name} = {text.replace('SELF', name)}")
        return name


SHORT = 64
"""Loops over so many elements and fewer are short."""


class Notes(NamedTuple):
    """What stands behind the accesses of a loop, and behind its last jump."""

    access: str = ""
    jump: str = ""


def notes_on(loop: lf.For, around: int, metadata: Metadata, *, masked: bool = False) -> Notes:
    """Notes on a loop for the vectoriser, which makes something of innermost loops.

    A sum in two other loops is over coordinates more often than over samples: it is not worth four vectors at
    once, which have to be put together in the end.

    Args:
        loop: the loop.
        around: how many loops are around it.
        metadata: where the notes are written to.
        masked: whether the elements that do not fill a vector are to be masked.
    """
    if not is_innermost(loop):
        return Notes()
    hints: list[str] = []
    access = ""
    if loop.independent:
        group = metadata.add("distinct !{}")
        access = f", !llvm.access.group {group}"
        hints.append(f'"llvm.loop.parallel_accesses", {group}')
    if masked:
        hints.append('"llvm.loop.vectorize.predicate.enable", i1 true')
    elif around > 1 and _accumulates(loop):
        hints.append('"llvm.loop.interleave.count", i32 1')
    if not hints:
        return Notes()
    notes = ", ".join(metadata.add(f"!{{!{hint}}}") for hint in hints)
    return Notes(access, f", !llvm.loop {metadata.add(f'distinct !{{SELF, {notes}}}')}")


def gains_by_masks(loop: lf.For, around: int) -> bool:
    """Whether a loop is worth a second form for few elements, in which those that do not fill a vector are masked.

    It is where it starts often, and each of these elements would cost the call of an elementary function.
    """
    plain = all(isinstance(s, (lf.Assign, lf.Store)) for s in loop.body)
    few = not isinstance(loop.count, lf.Constant)
    return around > 0 and few and plain and _calls_functions(loop.body)


def checked_index_at(
    statements: Sequence[lf.Statement],
) -> tuple[lf.Assign, lf.Assign, lf.ExitIf] | None:
    """Statements, if they are an index that may count from the end, and an exit where it is out of range."""
    match statements:
        case [
            lf.Assign(slot=slot, value=lf.Apply(op="wrapped", args=(_, size))) as wrapped,
            lf.Assign(slot=test, value=lf.Apply(op="outside", args=(position, within))) as outside,
            lf.ExitIf(condition=condition) as leave,
        ] if (position, within, condition) == (slot, size, test):
            return wrapped, outside, leave
        case _:
            return None


def _accumulates(loop: lf.For) -> bool:
    return any(isinstance(s, lf.Assign) and s.slot in lf.slots_in(s.value) for s in loop.body)


def is_innermost(loop: lf.For) -> bool:
    return not any(isinstance(s, (lf.For, lf.While)) for s in lf.each(loop.body))


def _calls_functions(statements: tuple[lf.Statement, ...]) -> bool:
    """Whether statements call elementary functions, of which there are forms for vectors."""
    ops = (
        op for s in lf.each(statements) for value in lf.expressions_of(s) for op in _ops_in(value)
    )
    return not VECTORISED.isdisjoint(ops)


def _ops_in(value: lf.Expr) -> Iterator[str]:
    match value:
        case lf.Apply(op=op, args=args):
            yield op
            for arg in args:
                yield from _ops_in(arg)
        case lf.Load(index=index):
            yield from _ops_in(index)
        case _:
            pass
