"""Questions about arrays, their memory and their types: nothing flows through an answer."""

from __future__ import annotations

from ...ops.arrays.type_queries import QUESTIONS
from ..forms import zero_rule

zero_rule(*QUESTIONS)
