"""The calculus: one row per op, grouped as a textbook would. Importing it puts every rule in force."""

from __future__ import annotations

from . import (  # noqa: F401
    containers,
    conversions,
    creation,
    einsum,
    linear_algebra,
    reduction,
    registry,
    scalar,
    selection,
    shape,
    structure,
)

registry.tables_loaded()
