"""Rules for what divides loops: it moves items."""

from __future__ import annotations

from ..ops.program.loops import blocks, divided_like, joined
from .forms import linear_rule

linear_rule(blocks, transpose=lambda ȳ, x, *counts, every=None: joined(ȳ, x))
linear_rule(joined, transpose=(lambda ȳ, blocks_bar, x: divided_like(ȳ, blocks_bar), None))
linear_rule(divided_like, transpose=(lambda ȳ, x, blocks: joined(ȳ, x), None))
