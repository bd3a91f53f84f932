"""Small programs as people write them, grouped by what they exercise.

Nothing here knows of differentiation. `PROGRAMS` lists them all; `pending` names those that are
refused so far.
"""

from . import (
    algebra,
    arrays,
    branches,
    calls,
    closures,
    complexes,
    containers,
    control,
    dynamic_programming,
    engineering,
    expressions,
    finance,
    indexing,
    inference,
    laboratory,
    linear_algebra,
    loops,
    models,
    mutable_containers,
    mutation,
    objects,
    pde,
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
    "control",
    "dynamic_programming",
    "engineering",
    "expressions",
    "finance",
    "indexing",
    "inference",
    "laboratory",
    "linear_algebra",
    "loops",
    "models",
    "mutable_containers",
    "mutation",
    "objects",
    "pde",
    "scalars",
    "simulations",
    "transparent",
]
