"""What stands for a library's function says of what it does not do."""

from __future__ import annotations

from ..ir.types import UNKNOWN
from .helpers import helper
from .promotion import always

FORMULA = "Write its formula, or put it into a function of your own with a rule (`@wg.rrule`)."
"""The way out where no other function does it."""

uncovered = helper("uncovered", "what, way_out", always(UNKNOWN))
"""An error to be raised: what is not done where it is differentiated, and the way out."""
