"""Ops for solutions of equations, whose derivatives the implicit function theorem gives."""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import Const
from ...ir.types import NONE, UNKNOWN, Kind
from ..array_kinds import like_first
from ..cotangent_kinds import gradient_kind
from ..helpers import helper
from ..registry import declare
from ..structure import Args, Params

root = declare(
    "root",
    "x, *operands, callee, tol, linear_solve=None, linear=False, flipped=False",
    infer=like_first,
    fresh=False,
    implementation=lambda x, *operands, **options: x,
)
"""x, as the function of the operands that `callee(*operands, x) == 0` makes it.

`linear` says that it is linear in x, so that it was solved by `linear_root`; `flipped` that it is so by the
transpose of the matrix that `linear_solve` is for.
"""


def _infer_linear_root(args: Args, params: Params) -> Kind:
    unknown = "result" if params.get("transposed") == Const(value=True) else "x"
    return gradient_kind(kind_of_atom(params[unknown]))


linear_root = helper(
    "linear_root",
    "b, *operands, callee, x, result, linear_solve=None, tol=None, transposed=False, linear=False, flipped=False",
    _infer_linear_root,
)
"""The v for which `callee(*operands, v) + b` vanishes, and a check that x is a root."""

found = helper(
    "found",
    "solver, *operands, callee, own, names, also=(), state=()",
    UNKNOWN,
    fresh=False,
    effect=True,
)
"""What a solver finds that is run as it is and given a function of the program, `callee`.

The first operands, `own` of them, are what that function has captured; the others are the solver's, the
last of them by keyword. A function that returns a tuple stands for several: the solver is given the others by
the keywords in `also`. `state` says which of what it has captured it changes.
"""

watch = helper("watch", "found, path, *, differentiated=False", NONE, effect=True)
"""A mark: the function that `found` was given is integrated along a path.

The path is an array of points, or a function of time with the times `ts` where it is known. `passes/checks/jumps` puts
a check in place of it, or notes that this is a derivative already.
"""

check_jumps = helper(
    "check_jumps", "found, path, *operands, callee, kinks, where", NONE, effect=True
)
"""A check that what is integrated does not jump where a decision that it returns changes."""

check_root = helper("check_root", "x, r, slope, tol", NONE, effect=True)
