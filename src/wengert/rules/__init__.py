"""The calculus: one row per op, grouped as a textbook would.

Importing it puts the rules in force that most programs need; the others come with the first op that needs one.
"""

from __future__ import annotations

from . import conversions as conversions, scalar as scalar, structure as structure
from .arrays import creation as creation, reduction as reduction
