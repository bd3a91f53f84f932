"""What code is made for."""

from __future__ import annotations

from ....ir.records import record


@record
class Target:
    """A machine, as far as lowering asks.

    Attributes:
        has_blas: whether there are BLAS and LAPACK to call.
    """

    has_blas: bool
