"""NumPy's scalar types as functions: `np.float32(x)` rounds, its derivative does not."""

from __future__ import annotations

import numpy as np

from ..ir.types import COMPLEX, FLOAT
from ..ops import registry as ops
from ..ops.elementwise import real
from .forms import linear_rule

for _type in (np.float16, np.float32, np.float64, np.longdouble):
    linear_rule(
        ops.foreign(_type, infer=lambda args, params: FLOAT), transpose=lambda ȳ, x: real(ȳ)
    )
for _type in (np.complex64, np.complex128):
    linear_rule(ops.foreign(_type, infer=lambda args, params: COMPLEX), transpose=lambda ȳ, x: ȳ)
