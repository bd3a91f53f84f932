"""What stands for the functions of `scipy.optimize`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..intrinsics.roots import stands_for_solver
from .constrained import EQUIVALENTS as OF_CONSTRAINTS
from .fits import EQUIVALENTS as OF_FITS
from .linear import EQUIVALENTS as OF_LINEAR
from .minima import EQUIVALENTS as OF_MINIMA
from .older_minima import EQUIVALENTS as OF_OLDER
from .roots_of_functions import EQUIVALENTS as OF_ROOTS


def rosen(x: Any) -> Any:
    """`scipy.optimize.rosen`."""
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


EQUIVALENTS = [
    *OF_ROOTS,
    *OF_MINIMA,
    *OF_OLDER,
    *OF_FITS,
    *OF_LINEAR,
    *OF_CONSTRAINTS,
    (optimize.rosen, rosen),
]

for _, _equivalent in (*OF_ROOTS, *OF_MINIMA, *OF_OLDER, *OF_FITS):
    stands_for_solver(_equivalent)
