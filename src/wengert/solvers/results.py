"""What stands for the results of SciPy's solvers, and the check that what is differentiated is what they found."""

from __future__ import annotations

from typing import Any

import numpy as np


class Result:
    """The items of a solver's result, which are its attributes, too."""

    def __init__(self, **items: Any):
        for name, value in items.items():
            setattr(self, name, value)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"`{name}` of a solver's result is not covered in a function that is differentiated"
        )


def must_agree(followed: Any, found: Any, size: Any, allowed: Any, advice: Any) -> None:
    """Refuse a derivative along what is not what the solver found.

    Args:
        followed: the result of the steps that are differentiated.
        found: the solver's.
        size: what the difference is compared with.
        allowed: how large it may be, relative to that.
        advice: what to do.

    Raises:
        ArithmeticError: they differ by more.
    """
    if np.max(np.abs(followed - found)) > allowed * size:
        raise ArithmeticError(f"the steps of this solver cannot be differentiated: {advice}")
