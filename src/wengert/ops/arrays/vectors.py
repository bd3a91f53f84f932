"""Which ops give vectors that can be chosen in several ways, and where those of equal values have no derivative."""

from __future__ import annotations

COLUMNS, ROWS = -1, -2
_OF_MATRIX: dict[str | int, int] = {"eigenvectors": COLUMNS, 1: COLUMNS}
FACTORS: dict[str, dict[str | int, int]] = {
    "eigh": _OF_MATRIX,
    "eig": _OF_MATRIX,
    "svd": {"U": COLUMNS, 0: COLUMNS, "Vh": ROWS, 2: ROWS},
}
"""Ops, and in which of their results the vectors are, by name and number, along which axis."""

REFUSING = frozenset((*FACTORS, "eigvals", "qr", "qr_r"))
"""Ops whose derivatives are refused at some matrices: recorded runs note where they stand."""
