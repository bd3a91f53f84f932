"""Numbers that a program reads back from text which it made of numbers: they have lost their derivative.

So have those that it reads from a picture of them (the heights that `plt.hist` gives), which counts as text here.
Text flows where values flow: through containers, branches, loops, and the methods of what it was
written to. What is taken out of a container of text and numbers alike counts as text where its kind
says so.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from ...errors import UnsupportedSyntax
from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Var, walk
from ...ir.types import PICTURE, STR, Array, Number
from ...ops import structure as st
from ...rules.registry import rule_for
from ..blocks.flow import flow

_READING = frozenset(("to_float", "to_complex", "astype"))
_PLACES = ("count", "find", "rfind", "index", "rindex", "startswith", "endswith")
_COUNTING = frozenset((*_PLACES, *(name for name in dir(str) if name.startswith("is"))))
"""Methods of text whose results are places and truths: they have no derivative to lose."""
_OF_TEXT_TOO = frozenset(("add", "mul", "mod", "array", "asarray", "dict_of"))
"""What gives text of text."""


def numbers_read_back(block: Block, varied: set[Var]) -> dict[Var, Eqn]:
    """By the numbers that are read from text made of varied values, the equations that read them."""
    flow = _Text(varied)
    flow.block(block)
    return flow.numbers


def refuse_numbers_read_back(numbers: dict[Var, Eqn], active: set[Var]) -> None:
    """Refuse a derivative that would have to flow through text.

    Raises:
        UnsupportedSyntax: at the reading.
    """
    for number, eqn in numbers.items():
        if number in active:
            raise UnsupportedSyntax(
                "a number read back from text or from a picture has lost its derivative",
                "Use the number itself; turn it into text, or draw it, only to show it.",
                eqn.span,
            ).final()


class _Text:
    """Forward: what may hold text that was made of varied values."""

    def __init__(self, varied: set[Var]):
        self.varied = varied
        self.text: set[Var] = set()
        self.mixed: set[Var] = set()
        """What may hold varied values beside text that was made of them."""
        self.numbers: dict[Var, Eqn] = {}
        self.streams: set[Var] = set()
        self.owners: dict[Var, Atom] = {}
        """By a method, the object that it belongs to."""

    def block(self, block: Block) -> None:
        before = -1
        while before != len(self.text) + len(self.mixed):
            before = len(self.text) + len(self.mixed)
            for eqn in walk(block):
                if eqn.blocks:
                    self.control(eqn)
                else:
                    self.eqn(eqn)

    def control(self, eqn: Eqn) -> None:
        for target, sources in flow(eqn):
            for found in (self.text, self.mixed):
                if not found.isdisjoint(sources):
                    found.add(target)

    def eqn(self, eqn: Eqn) -> None:
        if eqn.op is st.getattr_ and isinstance(eqn.args[0], Var):
            if eqn.param("name") in _COUNTING:
                return
            self.owners[eqn.outs[0]] = eqn.args[0]
        if _makes_a_stream(eqn):
            self.streams.update(eqn.outs)
        # an entry is what the container holds, whatever text its key is
        read = eqn.args[:1] if eqn.op is st.getitem else eqn.operands()
        reads = any(map(self.is_text, read))
        if _is_call(eqn) and (reads or self.any_varied(eqn.operands())):
            self.write(eqn)
        if reads and _gives_numbers(eqn):
            self.numbers[eqn.outs[0]] = eqn
        elif reads or (_makes_text(eqn) and self.any_varied(eqn.args)):
            self.flow(eqn, self.mixed if self.holds_numbers(eqn) else self.text)
        elif not self.mixed.isdisjoint(eqn.operands()):
            self.flow(eqn, self.mixed)

    def flow(self, eqn: Eqn, found: set[Var]) -> None:
        found.update(out for out in eqn.outs if not isinstance(out.kind, Number))
        owner = self.owners.get(eqn.args[0]) if eqn.op is st.opaque else None  # type: ignore[arg-type]
        if isinstance(owner, Var):
            found.add(owner)

    def write(self, eqn: Eqn) -> None:
        """A call may write what it is given into a stream that it is given too."""
        owner = self.owners.get(eqn.args[0])  # type: ignore[arg-type]
        for atom in (owner, *eqn.operands()):
            if atom in self.streams:
                self.text.add(atom)

    def is_text(self, atom: Atom) -> bool:
        return atom in self.text or (atom in self.mixed and kind_of_atom(atom) == STR)

    def holds_numbers(self, eqn: Eqn) -> bool:
        """Whether a container is made of text and of varied values."""
        others = [arg for arg in eqn.args if not self.is_text(arg)]
        return not _makes_text(eqn) and self.any_varied(others)

    def any_varied(self, atoms: Iterable[Atom]) -> bool:
        return any(atom in self.varied for atom in atoms)


def _is_call(eqn: Eqn) -> bool:
    return eqn.op is st.opaque or eqn.namespace == "call"


def _makes_a_stream(eqn: Eqn) -> bool:
    made_by = eqn.args[0].value if eqn.op is st.opaque and isinstance(eqn.args[0], Const) else None
    return getattr(made_by, "__module__", None) in ("_io", "io", "tempfile")


def _makes_text(eqn: Eqn) -> bool:
    if eqn.op is not st.opaque:
        return eqn.op is st.format_ or _is_of_text(eqn.params.get("dtype"))
    if eqn.outs[0].kind in (STR, PICTURE):
        return True
    called = eqn.args[0].value if isinstance(eqn.args[0], Const) else None
    owner = getattr(called, "__objclass__", None) or type(getattr(called, "__self__", None))
    return called is operator.mod or owner is str or getattr(called, "__module__", "") == "datetime"


def _is_of_text(dtype: Atom | None) -> bool:
    known = dtype.value if isinstance(dtype, Const) else None
    with suppress(TypeError):  # what is no dtype is for the run to raise
        return isinstance(known, (str, type, np.dtype)) and np.dtype(known).kind in "US"
    return False


def _gives_numbers(eqn: Eqn) -> bool:
    """Whether the result of an op on text is a number or an array of numbers."""
    if eqn.op.name in _READING:
        return True
    rule = rule_for(eqn.op)
    if rule is None and eqn.namespace == "call":
        return True  # `pickle.load`, `struct.unpack`: what they make of it nobody knows
    if rule is None or rule.form == "zero":
        return False
    numeric = any(isinstance(kind_of_atom(arg), (Number, Array)) for arg in eqn.args)
    return numeric or eqn.op.name not in _OF_TEXT_TOO
