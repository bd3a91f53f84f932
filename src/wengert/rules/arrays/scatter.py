"""Writing to zeros at an index is linear, and reading there is its transpose."""

from __future__ import annotations

from ...ops.arrays.scatter import scatter
from ..forms import linear_rule

linear_rule(scatter, transpose=(lambda ȳ, bar, x, index: ȳ[index], None, None))
