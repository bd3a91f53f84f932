"""Which handler lowers an equation. Modules that are not named enter their handlers into the table."""

# ruff: noqa: F401
# pyright: reportUnusedImport=false

from __future__ import annotations

from ....ir.graph import Eqn, Span
from ..containers import chosen_items, fields, flattened, list_ops, python_sums, zeros
from ..lower import call_out, known, shapes, structure
from ..lower.lowering import HANDLERS, BlockLowering, Handler
from ..lower.sequences import ranges
from ..ops.arrays import (
    diagonals,
    differences,
    gather_scatter,
    index_assignment,
    joining,
    writing_items,
)
from ..ops.complex import complex_arrays, complex_ops
from ..ops.elementwise import (
    clipping,
    comparisons,
    conversions,
    creation,
    decimals,
    indexing,
    math_of_items,
    powers,
    special,
    split,
    whole_numbers,
)
from ..ops.linear_algebra import contractions, determinants, factorisations, gaps, products, signals
from ..ops.reductions import argminmax, quantiles, reductions, scans, sorting, tables
from ..values import elementwise, truth
from ..values.rows import ROWS
from ..values.values import Unlowered
from . import calls, conditionals, loops

Place = tuple[str, Span | None]


def place_of(eqn: Eqn) -> Place:
    """What stands for an equation when a program is lowered again."""
    return eqn.op.name, eqn.span


def handler_of(site: BlockLowering, eqn: Eqn) -> Handler:
    """The handler of the op of an equation.

    Raises:
        Unlowered: it has none.
    """
    reason = site.unit.without_form.get(place_of(eqn))
    if reason is not None:
        return call_out.handler(reason)
    if complex_ops.is_about_complex(site, eqn):
        return complex_ops.handler_of(site, eqn)
    name = eqn.op.name
    if name in HANDLERS:
        return HANDLERS[name]
    if name in ROWS:
        return structure.elementwise
    if special.row_of(eqn.op) is not None:
        return special.of_scipy
    reason = f"`{name}` has no native form yet"
    if eqn.span is None:  # another op may be said in terms of it: that one is called out
        raise Unlowered(reason)
    return call_out.handler(reason)
