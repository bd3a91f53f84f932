"""What loops, branches and calls share: conditions, and the results of blocks."""

from __future__ import annotations

from ....ir.graph import Atom
from ..form.loopform import Constant, Expr
from ..lower.lowering import BlockLowering
from ..lower.sequences.columns import GrowingList
from ..lower.structure import length_of
from ..ops.complex.complex_ops import is_true
from ..values.complexes import by_part, is_complex
from ..values.promotion import converted
from ..values.values import ZERO, Broadcast, Lazy, StaticValue, Tuple, Value


def truth(site: BlockLowering, atom: Atom) -> Expr:
    """Whether a value counts as true."""
    value = site.value(atom)
    if isinstance(value, StaticValue) and value.value is None:
        return Constant(False, "b1")
    if isinstance(value, GrowingList) or (
        isinstance(value, Tuple) and value.form in ("tuple", "list")
    ):
        return site.e.apply("ne", length_of(site, value), ZERO, code="b1")
    if isinstance(value, Tuple) and is_complex(value):
        return is_true(site.e, by_part(value, site.as_scalar))
    return converted(site.e, site.as_scalar(value).expr, "b1")


def settled(site: BlockLowering, atom: Atom) -> Value:
    """A result of a block: an array is in memory."""
    value = site.value(atom)
    if is_complex(value):
        return site.parts_in_memory(atom)
    if isinstance(value, Lazy):
        return site.computed(value)
    if isinstance(value, Broadcast):
        return site.in_memory(atom)
    return value
