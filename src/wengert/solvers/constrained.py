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

from ..api.gradients import grad
from ..api.jacobians import jacobian
from ..intrinsics.roots import Opaque, root_of, solved
from ..intrinsics.steering import stop_gradient

_REACHED = 1e-6
"""How far a constraint may be from zero and still count as reached."""


def run_constrained(function: Callable[..., Any], *args: Any, about: Any, **options: Any) -> Any:
    """`scipy.optimize.minimize` of a function that returns the objective and then each constraint.

    Args:
        function: of the vector to be found.
        *args: what `minimize` is given after the function.
        about: for each constraint "eq" or "ineq"; or between which bounds it is, and of what matrix if
            it is linear.
        **options: what `minimize` is given by keyword.
    """

    def constraint(k: int, kind: Any) -> Any:
        if isinstance(kind, str):
            return {"type": kind, "fun": lambda x: function(x)[k]}
        if len(kind) == 3:
            return optimize.LinearConstraint(*kind)
        return optimize.NonlinearConstraint(lambda x: function(x)[k], *kind)

    constraints = [constraint(k, kind) for k, kind in enumerate(about, 1)]
    return optimize.minimize(lambda x: function(x)[0], *args, constraints=constraints, **options)


_AS_IT_IS = Opaque(run_constrained)


def constrained(
    objective: Any, constraints: Any, start: Any, low: Any, high: Any, options: Any
) -> tuple[Any, Any]:
    """The minimum of an objective between bounds and under constraints, and SciPy's result."""
    given = [_as_between(each) for each in constraints]
    kinds = [each.kind for each in given]

    def all_of(x: Any) -> Any:
        return (objective(x), *[each.value(x) for each in given])

    found = solved(
        _AS_IT_IS, all_of, (start,), stop_gradient(start), about=kinds, whole=True, **options
    )
    best = np.asarray(found.x, float)
    # what is reached is zero there: constraints, and bounds as constraints on single items
    parts = [each.reached(best) for each in given]
    at_low, at_high = best <= stop_gradient(low), best >= stop_gradient(high)

    def reached(x: Any) -> Any:
        values = [each.beyond(x, *part) for each, part in zip(given, parts, strict=True)]
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


class Between:
    """A function that is to be between two bounds: what constraints are, however they are written."""

    def __init__(self, fun: Any, lb: Any, ub: Any, kind: Any = None):
        self.fun = fun
        self.lb = lb
        self.ub = ub
        self.kind = (stop_gradient(lb), stop_gradient(ub)) if kind is None else kind

    def value(self, x: Any) -> Any:
        return np.atleast_1d(np.asarray(self.fun(x)))

    def reached(self, best: Any) -> Any:
        """Which items are at their lower bound, and which at the upper one."""
        value = stop_gradient(self.value(best))
        lb, ub = stop_gradient(self.lb), stop_gradient(self.ub)
        at_low = np.abs(value - lb) < _REACHED
        return at_low, (np.abs(value - ub) < _REACHED) & ~at_low

    def beyond(self, x: Any, at_low: Any, at_high: Any) -> Any:
        """What is zero where these items are at their bounds."""
        value = self.value(x)
        none = np.zeros(np.shape(value))
        low, high = (none + self.lb)[at_low], (none + self.ub)[at_high]
        return np.concatenate((value[at_low] - low, value[at_high] - high))


def nonlinear_constraint(fun: Any, lb: Any, ub: Any, jac: Any = None, hess: Any = None) -> Any:
    """`scipy.optimize.NonlinearConstraint`; derivatives that are passed are not called."""
    return Between(fun, lb, ub)


def linear_constraint(A: Any, lb: Any = -np.inf, ub: Any = np.inf) -> Any:
    """`scipy.optimize.LinearConstraint` of a dense matrix."""
    kind = stop_gradient(np.asarray(A)), stop_gradient(lb), stop_gradient(ub)
    return Between(lambda x: np.asarray(A) @ x, lb, ub, kind)


def listed(constraints: Any) -> Any:
    """Constraints as a list, of which `minimize` may be given a single one."""
    return list(constraints) if isinstance(constraints, (list, tuple)) else [constraints]


def _as_between(constraint: Any) -> Any:
    if isinstance(constraint, Between):
        return constraint
    if isinstance(constraint, optimize.LinearConstraint):
        return linear_constraint(constraint.A, constraint.lb, constraint.ub)
    if isinstance(constraint, optimize.NonlinearConstraint):
        return nonlinear_constraint(constraint.fun, constraint.lb, constraint.ub)
    args = constraint.get("args", ())
    most = 0.0 if constraint["type"] == "eq" else np.inf
    return Between(lambda x: constraint["fun"](x, *args), 0.0, most, constraint["type"])


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (optimize.LinearConstraint, linear_constraint),
    (optimize.NonlinearConstraint, nonlinear_constraint),
]
