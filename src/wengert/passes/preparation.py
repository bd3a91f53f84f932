"""What every program gets before it is differentiated, whatever the mode.

In: a function. Out: the same function, which refuses when it runs what the derivative would get wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.graph import Function
from .jumps import with_jumps_checked
from .keys import with_keys_checked
from .searches import warn_of_searches


def with_checks(function: Function, wrt: Sequence[int]) -> Function:
    """A function that checks what depends on some of its parameters: keys, and jumps inside integrals."""
    function = with_jumps_checked(with_keys_checked(function, wrt), wrt)
    warn_of_searches(function, wrt)
    return function
