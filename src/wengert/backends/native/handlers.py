"""Which handler lowers an equation."""

from __future__ import annotations

from ...ir.graph import Eqn
from . import (
    access,
    calls,
    chosen_items,
    clipping,
    comparisons,
    complex_arrays,
    complex_ops,
    contractions,
    control,
    conversions,
    creation,
    decimals,
    diagonals,
    extremes,
    factorisations,
    fields,
    flattened,
    gaps,
    joining,
    list_ops,
    math_of_items,
    moving,
    pieces,
    places,
    powers,
    products,
    python_sums,
    quantiles,
    ranges,
    reductions,
    running,
    shapes,
    signals,
    sorting,
    special,
    structure,
    tables,
    whole_numbers,
    writing,
    zeros,
)
from .elementwise import ROWS
from .lowering import HANDLERS, Handler, Site
from .values import Unlowered

TABLES = (
    access,
    calls,
    chosen_items,
    clipping,
    comparisons,
    complex_arrays,
    complex_ops,
    complex_ops,
    contractions,
    control,
    conversions,
    creation,
    decimals,
    diagonals,
    extremes,
    fields,
    factorisations,
    flattened,
    gaps,
    joining,
    list_ops,
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
    whole_numbers,
    writing,
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
