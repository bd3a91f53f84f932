"""Equations for values of a run: constants of it, how ops are spelled, and questions that are asked again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import UnsupportedSyntax
from ...ir.builder import Builder
from ...ir.graph import Atom, Const, Eqn, Span, Var
from ...ir.op import Op
from ...ir.types import NONE, Array, Kind
from ...ops import elementwise as el, registry, structure as st
from ...ops.arrays.creation import array as array_op
from ...ops.arrays.shape import reshape
from ...ops.program import identity as ident
from ..boundary import signature

_SMALL = 4096
"""Arrays of no more elements are written out."""


def no_text(why: str, span: Span | None = None) -> UnsupportedSyntax:
    """The refusal of a run that cannot be written out."""
    return UnsupportedSyntax(
        f"its run has no text: {why}",
        "Call the derivative itself, which records a run of each call.",
        span,
    )


class Equations:
    """Equations under construction."""

    def __init__(self) -> None:
        self.builder = Builder()

    # --- values ---------------------------------------------------------------------------

    def emit(self, op: Op, *args: Atom, kind: Kind | None = None) -> Atom:
        return self.builder.emit_with(op, args, {}, "py", "", kind)

    def reshaped(self, atom: Atom, shape: Any, kind: Kind | None) -> Atom:
        return self.builder.emit_with(reshape, [atom], {"shape": Const(shape)}, "np", "", kind)

    def packed(self, form: str, items: Any) -> Atom:
        atoms = tuple(items)
        options = {"form": form, "keys": tuple(range(len(atoms))), "type": None}
        return self.builder.emit_with(st.pack, atoms, {k: Const(v) for k, v in options.items()})

    def constant(self, x: Any) -> Atom:
        if isinstance(x, np.ndarray) and x.size <= _SMALL and x.dtype.kind in "biufc":
            made = self.constant(x.tolist())
            options: dict[str, Atom] = {}
            if not x.size or np.asarray(x.tolist()).dtype != x.dtype:
                options["dtype"] = Const(x.dtype.type)
            made = self.builder.emit_with(array_op, [made], options, "np", "", kind_of_result(x))
            shape = np.asarray(x.tolist()).shape
            return made if shape == x.shape else self.reshaped(made, x.shape, kind_of_result(x))
        if type(x) is list:
            return self.packed("list", map(self.constant, x))
        if isinstance(x, tuple) and not is_literal(x):
            return self.packed("tuple", map(self.constant, x))
        if isinstance(x, np.generic) and type(x) in _LIKE_PYTHONS:
            return Const(x.item())
        return Const(x)

    # --- questions ------------------------------------------------------------------------

    def check(self, op: Op, atom: Atom, expected: Any) -> None:
        if isinstance(atom, Var):
            self.builder.append(
                Eqn((Var(NONE),), op, (atom, Const(expected)), span=self.builder.span)
            )

    def must_be(self, atom: Atom, answer: Any) -> None:
        """Check that a value is the one that the run went on with."""
        if isinstance(answer, (tuple, list)):
            for k, item in enumerate(answer):
                if item is not None:
                    self.must_be(self.emit(st.getitem, atom, Const(k)), item)
        elif isinstance(answer, np.ndarray):
            known = self.constant(answer)
            same = self.builder.emit_with(el.array_equal, [atom, known], {}, "np")
            self.check(ident.decided, same, True)
        elif isinstance(answer, (np.generic, *LITERALS)):
            self.check(
                ident.decided, atom, answer.item() if isinstance(answer, np.generic) else answer
            )
        else:
            raise no_text(f"a {type(answer).__name__} decides which way it goes", self.builder.span)


_LIKE_PYTHONS: tuple[type[Any], ...] = (np.float64, np.complex128, np.int64, np.bool_)
LITERALS = (bool, int, float, complex, str, bytes, type(None))


def is_literal(x: Any) -> bool:
    if isinstance(x, tuple):
        return all(map(is_literal, x))
    return isinstance(x, (*LITERALS, slice, type(...), type))


def kind_of_result(value: Any) -> Kind | None:
    """The kind of what a step gives; None where the op is to say it."""
    if isinstance(value, np.ndarray):
        return Array(value.dtype.name, value.ndim)
    if isinstance(value, (bool, int, float, complex, np.number)):
        return signature.kind_of(value)
    return None


def spelling(op: Op, value: Any) -> str:
    """How an op is spelled: as the run's number says, `math` gives Python's and NumPy its own."""
    if registry.is_foreign(op):
        return "call"
    order = _SPELLINGS.get(type(value), ("py", "np", "method", "attr"))
    of_numbers = "py" in op.spellings and op.spellings["py"].isidentifier() and op is not el.abs_
    if of_numbers and isinstance(value, np.ndarray):
        order = order[1:]
    return next((name for name in order if name in op.spellings), "py")


_SPELLINGS: Mapping[type, tuple[str, ...]] = {
    **dict.fromkeys((float, int, bool), ("py", "math", "np", "method", "attr")),
    complex: ("py", "cmath", "np", "method", "attr"),
}
