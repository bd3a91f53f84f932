"""The calculus: one row per op, grouped as a textbook would.

Importing it puts the rules in force, those of linear algebra and selection with the first of their ops.
"""

from __future__ import annotations

from . import containers as containers
from . import conversions as conversions
from . import creation as creation
from . import loops as loops
from . import reduction as reduction
from . import scalar as scalar
from . import shape as shape
from . import structure as structure
