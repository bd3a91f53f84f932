"""Graphs of expressions whose derivatives are expressions of the same graph."""

from __future__ import annotations

from .graph import Graph as Graph
from .term import Term as Term
from .trace import trace as trace
