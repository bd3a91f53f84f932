"""What stands for the results of SciPy's solvers, and the check that what is differentiated is what they found."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import DerivativeWarning


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


def must_follow(followed: Any, found: Any, rtol: Any, atol: Any) -> None:
    """Say by how much what is differentiated is off a solver's solution, component by component.

    Args:
        followed: the result of the steps that are differentiated, one row for each time.
        found: the solver's.
        rtol: the relative error that was allowed.
        atol: the absolute error.

    Raises:
        ArithmeticError: a component is off by a hundred times what was allowed and by a hundredth of its size.
    """
    if len(found) == 0:
        return
    off = np.max(np.abs(followed - found), axis=0)
    size = np.max(np.abs(found), axis=0)
    allowed = 100 * (np.asarray(atol, float) + np.maximum(np.asarray(rtol, float), 1e-11) * size)
    if np.any(off > allowed):
        worst = np.argmax(off - allowed)
        how_far = (
            f"component {worst} of the steps that are differentiated is {off[worst]:.2g} off the solver's, "
            f"whose size is {size[worst]:.2g}"
        )
        if off[worst] > 0.01 * size[worst]:
            raise ArithmeticError(
                f"the steps of this solver cannot be differentiated: {how_far}. Ask for smaller errors, "
                "or for a shorter time."
            )
        said = f"the derivative is less exact than was asked for: {how_far}"
        warnings.warn(said, DerivativeWarning, stacklevel=2)
