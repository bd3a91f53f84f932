"""Small programs as people write them, grouped by what they exercise.

Nothing here knows of differentiation, and nothing mutates an object. `PROGRAMS` lists them all.
"""

from . import (
    algebra,
    arrays,
    branches,
    calls,
    closures,
    complexes,
    containers,
    expressions,
    indexing,
    loops,
    models,
    scalars,
    simulations,
    transparent,
)
from .registry import PROGRAMS, Program

__all__ = [
    "PROGRAMS",
    "Program",
    "algebra",
    "arrays",
    "branches",
    "calls",
    "closures",
    "complexes",
    "containers",
    "expressions",
    "indexing",
    "loops",
    "models",
    "scalars",
    "simulations",
    "transparent",
]
