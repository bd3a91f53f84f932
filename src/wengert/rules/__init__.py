"""The calculus: one row per op, grouped as a textbook would. Importing it puts every rule in force."""

from __future__ import annotations

from . import containers as containers
from . import conversions as conversions
from . import creation as creation
from . import einsum as einsum
from . import linear_algebra as linear_algebra
from . import reduction as reduction
from . import registry
from . import scalar as scalar
from . import selection as selection
from . import shape as shape
from . import structure as structure

registry.tables_loaded()
