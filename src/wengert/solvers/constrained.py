"""Minima under constraints that `scipy.optimize.minimize` finds: there the Lagrangian's gradient is zero.

What holds at the minimum is held: the constraints that are reached have multipliers, the others do not count (Nocedal
and Wright, *Numerical Optimization*, 2006, ch. 12). Where a constraint is reached that holds nothing back, the
minimum has a kink.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..api import grad
from ..jacobians import jacobian
from ..roots import root_of, solved
from ..steering import stop_gradient

_REACHED = 1e-6
"""How far a constraint may be from zero and still count as reached."""


def run_constrained(function: Callable[..., Any], *args: Any, about: Any, **options: Any) -> Any:
    """`scipy.optimize.minimize` of a function that returns the objective and then each constraint.

    Args:
        function: of the vector to be found.
        *args: what `minimize` is given after the function.
        about: for each constraint "eq" or "ineq".
        **options: what `minimize` is given by keyword.
    """

    def constraint(k: int, kind: str) -> dict[str, Any]:
        return {"type": kind, "fun": lambda x: function(x)[k]}

    constraints = [constraint(k, kind) for k, kind in enumerate(about, 1)]
    return optimize.minimize(lambda x: function(x)[0], *args, constraints=constraints, **options)


def constrained(
    objective: Any, constraints: Any, start: Any, low: Any, high: Any, options: Any
) -> tuple[Any, Any]:
    """The minimum of an objective between bounds and under constraints, and SciPy's result."""
    given = [_as_dict(each) for each in constraints]
    kinds = [each["type"] for each in given]

    def held(k: Any, x: Any) -> Any:
        args = given[k].get("args", ())
        return np.atleast_1d(np.asarray(given[k]["fun"](x, *args)))

    def all_of(x: Any) -> Any:
        return (objective(x), *[held(k, x) for k in range(len(given))])

    found = solved(
        run_constrained, all_of, (start,), stop_gradient(start), about=kinds, whole=True, **options
    )
    best = np.asarray(found.x, float)
    # what is reached is zero there: constraints, and bounds as constraints on single items
    parts = [
        np.ones(len(held(k, best)), bool)
        if kinds[k] == "eq"
        else abs(stop_gradient(held(k, best))) < _REACHED
        for k in range(len(given))
    ]
    at_low, at_high = best <= stop_gradient(low), best >= stop_gradient(high)

    def reached(x: Any) -> Any:
        values = [held(k, x)[part] for k, part in enumerate(parts)]
        return np.concatenate((*values, (x - low)[at_low], (x - high)[at_high]))

    n = len(start)
    slopes = jacobian(reached)(best)
    multipliers = np.linalg.lstsq(
        np.transpose(stop_gradient(slopes)), stop_gradient(grad(objective)(best)), rcond=None
    )[0]

    def residual(z: Any) -> Any:
        x, weights = z[:n], z[n:]
        lagrangian = grad(objective)(x) - np.transpose(jacobian(reached)(x)) @ weights
        return np.concatenate((lagrangian, reached(x)))

    return root_of(residual, np.concatenate((best, multipliers)))[:n], found


def listed(constraints: Any) -> Any:
    """Constraints as a list, of which `minimize` may be given a single one."""
    return list(constraints) if isinstance(constraints, list | tuple) else [constraints]


def _as_dict(constraint: Any) -> Any:
    if isinstance(constraint, dict):
        return constraint
    raise NotImplementedError("constraints as dictionaries only: {'type': 'ineq', 'fun': ...}")
