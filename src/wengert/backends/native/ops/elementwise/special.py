"""Functions of `scipy.special` that the loop form has: they are ops outside the vocabulary, known by what they call."""

from __future__ import annotations

import sys

from .....ir.graph import Eqn
from .....ir.op import Op
from ...lower.lowering import BlockLowering
from ...lower.shapes import dims_of
from ...lower.structure import over_arrays
from ...values import numbers
from ...values.values import NUMPY, Scalar, Unlowered, Value

_ROWS = ("erf", "erfc", "expm1", "log1p", "exp2", "cbrt")


def row_of(op: Op) -> str | None:
    """The name of the row that computes what SciPy's function does; None where there is none."""
    special = sys.modules.get("scipy.special")
    name = getattr(op.implementation, "__name__", "")
    if special is None or name not in _ROWS or getattr(special, name) is not op.implementation:
        return None
    return name


def of_scipy(site: BlockLowering, eqn: Eqn) -> Value:
    """One of these functions: of a number it is one of NumPy's, as that of a ufunc is."""
    name = row_of(eqn.op)
    if name is None or eqn.params:
        raise Unlowered(f"options of `{eqn.op.name}`")
    operands = [site.operand(atom) for atom in eqn.args]
    if any(dims_of(x) for x in operands):
        return over_arrays(site, name, operands)
    scalars = [x if isinstance(x, Scalar) else site.as_scalar(x) for x in operands]
    found = numbers.compute(site.e, name, "np", scalars)
    return Scalar(found.expr, NUMPY)
