"""Which handler lowers an equation."""

from __future__ import annotations

from ...ir.graph import Eqn
from . import (
    access,
    calls,
    clipping,
    control,
    conversions,
    creation,
    diagonals,
    extremes,
    factorisations,
    joining,
    list_ops,
    powers,
    products,
    python_sums,
    ranges,
    reductions,
    shapes,
    sorting,
    special,
    structure,
    writing,
)
from .elementwise import ROWS
from .lowering import HANDLERS, Handler
from .values import Unlowered

TABLES = (
    access,
    calls,
    clipping,
    control,
    conversions,
    creation,
    diagonals,
    extremes,
    factorisations,
    joining,
    list_ops,
    powers,
    products,
    python_sums,
    ranges,
    reductions,
    shapes,
    sorting,
    structure,
    writing,
)
"""The modules that enter handlers into the table."""


def handler_of(eqn: Eqn) -> Handler:
    """The handler of an op.

    Raises:
        Unlowered: it has none.
    """
    name = eqn.op.name
    if name in HANDLERS:
        return HANDLERS[name]
    if name in ROWS:
        return structure.elementwise
    if special.row_of(eqn.op) is not None:
        return special.of_scipy
    raise Unlowered(f"`{name}` has no native form yet")
