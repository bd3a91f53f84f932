"""The transpose of indexing, as a value: nothing is changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...runtime import cotangents
from ..cotangent_kinds import gradient_kind
from ..registry import declare


def _scattered(bar: Any, x: Any, index: Any) -> Any:
    zeros = cotangents.zeros(x)
    if isinstance(zeros, np.ndarray) and np.iscomplexobj(bar):
        zeros = zeros.astype(complex)
    return cotangents.add_at(zeros, index, bar)


scatter = declare(
    "scatter",
    "bar, x, index",
    infer=lambda args, params: gradient_kind(kind_of_atom(args[1])),
    implementation=_scattered,
)
"""Zeros in the shape of `x`, with `bar` at an index."""
scatter.shaped_like = 1
