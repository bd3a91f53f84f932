"""The cotangents of a function as a function, which other libraries differentiate in its turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api.linear_maps import pullback


def cotangents_of(f: Callable[..., Any], count: int, *, several: bool) -> Callable[..., Any]:
    """The cotangents of a function's arguments, as a function of these and of its results' cotangents.

    Args:
        f: the function.
        count: how many arguments it has.
        several: whether it gives a tuple.
    """

    def cotangents(*given: Any) -> Any:
        args, bars = given[:count], given[count:]
        return tuple(pullback(f, *args)[1](bars if several else bars[0]))

    return cotangents
