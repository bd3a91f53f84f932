"""Which handler lowers an equation."""

from __future__ import annotations

from ....ir.graph import Eqn
from ..containers import chosen_items, fields, flattened, list_ops, python_sums, zeros
from ..lower import known, shapes, structure
from ..lower.lowering import HANDLERS, Handler, Site
from ..lower.sequences import ranges
from ..ops.arrays import diagonals, differences, joining, moving, writing, writing_items
from ..ops.complex import complex_arrays, complex_ops
from ..ops.elementwise import (
    access,
    clipping,
    comparisons,
    conversions,
    creation,
    decimals,
    math_of_items,
    pieces,
    places,
    powers,
    special,
    whole_numbers,
)
from ..ops.linear_algebra import contractions, determinants, factorisations, gaps, products, signals
from ..ops.reductions import extremes, quantiles, reductions, running, sorting, tables
from ..values import elementwise, truth
from ..values.rows import ROWS
from ..values.values import Unlowered
from . import calls, conditionals, loops

TABLES = (
    access,
    calls,
    chosen_items,
    clipping,
    comparisons,
    complex_arrays,
    complex_ops,
    contractions,
    conditionals,
    conversions,
    creation,
    decimals,
    determinants,
    diagonals,
    differences,
    elementwise,
    extremes,
    fields,
    factorisations,
    flattened,
    gaps,
    joining,
    known,
    list_ops,
    loops,
    math_of_items,
    moving,
    pieces,
    places,
    powers,
    products,
    python_sums,
    ranges,
    quantiles,
    reductions,
    running,
    shapes,
    signals,
    sorting,
    structure,
    tables,
    truth,
    whole_numbers,
    writing,
    writing_items,
    zeros,
)
"""The modules that enter handlers into the table."""


def handler_of(site: Site, eqn: Eqn) -> Handler:
    """The handler of the op of an equation.

    Raises:
        Unlowered: it has none.
    """
    if complex_ops.is_about_complex(site, eqn):
        return complex_ops.handler_of(site, eqn)
    name = eqn.op.name
    if name in HANDLERS:
        return HANDLERS[name]
    if name in ROWS:
        return structure.elementwise
    if special.row_of(eqn.op) is not None:
        return special.of_scipy
    raise Unlowered(f"`{name}` has no native form yet")
