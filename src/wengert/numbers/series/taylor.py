"""Taylor numbers: a function's value with all its derivatives, computed as they are asked for.

A number holds the coefficients c₀, c₁, c₂ … of a power series in its infinitesimal t. Sums, products,
quotients and powers have recurrences of their own (Griewank and Walther, Evaluating Derivatives, table
13.1). Everything else needs none: the rule Ω' = ∂(x, Ω) x', which the table has, is the recurrence

    k Ω_k = Σ_j j x_j ∂_{k-j},   j = 1 … k,

whose right-hand side needs Ω to the order k - 1 only, as ∂ is computed on Taylor numbers in its turn
(M. D. McIlroy, Power Series, Power Serious, 1999). Each coefficient is computed once; one of order k costs
O(k) multiplications per operation.
"""

from __future__ import annotations

from typing import Any

from ...ir.op import Op
from ..levels import Level
from .power_series import Series


class Taylor(Series):
    """A number as a power series in an infinitesimal t.

    Args:
        coefficients: c₀, c₁ … of c₀ + c₁ t + c₂ t² + …; those that are not given are zero.
        order: the highest power that is kept, t^(order + 1) being 0; None for all.

    Raises:
        BadArgument: there is no coefficient, or more than the order keeps.
        OrderExceeded: of `coefficient` and `derivative`, for an order that is not kept.

    Example:
        >>> x = Taylor([2.0, 1.0], order=2)
        >>> (x * x * x).coefficients()
        [8.0, 12.0, 6.0]
    """

    __slots__ = ()

    @classmethod
    def apply(cls, op: Op, args: tuple[Any, ...], options: dict[str, Any], level: Level) -> Any:
        from .sides import applied

        return applied(op, args, options, level)
