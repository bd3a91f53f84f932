"""NumPy's scalar types as functions: `np.float32(x)` rounds, its derivative does not."""

from __future__ import annotations

import numpy as np

from ..ir.types import COMPLEX, FLOAT
from ..ops import registry as ops
from ..ops.array_kinds import fold_no_text
from ..ops.elementwise import real
from .forms import linear_rule

for _type in (np.float16, np.float32, np.float64, np.longdouble):
    _op = ops.foreign(_type, infer=lambda args, params: FLOAT)
    _op.fold = fold_no_text
    linear_rule(_op, transpose=lambda ȳ, x: real(ȳ))
for _type in (np.complex64, np.complex128):
    _op = ops.foreign(_type, infer=lambda args, params: COMPLEX)
    _op.fold = fold_no_text
    linear_rule(_op, transpose=(lambda ȳ, re, im=0: ȳ, lambda ȳ, re, im: -1j * ȳ))
