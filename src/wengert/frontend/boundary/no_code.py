"""Numbers and arrays that no code is derived for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import BadArgument


class ForeignArray(BadArgument):
    """An array of another library than NumPy turned up."""


def refuse_other_arithmetic(cls: type[np.ndarray[Any, Any]]) -> None:
    """Refuse arrays of a class that does not compute as NumPy's own arrays do (matrices, masked arrays)."""
    own = ("__mul__", "__pow__", "__array_ufunc__", "__getitem__")
    if any(getattr(cls, name) is not getattr(np.ndarray, name) for name in own):
        raise ForeignArray(
            f"arrays of class {cls.__module__}.{cls.__qualname__} compute in ways of their own",
            "Use plain NumPy arrays: `np.asarray(x)`.",
        )


def refuse_numbers_as_objects(value: np.ndarray[Any, Any]) -> None:
    """Refuse an array of objects that are numbers: Python computes with each, and no rule sees it."""
    for item in value.flat:
        refuse_perturbed(item)
    if any(isinstance(item, (float, complex, np.number)) for item in value.flat):
        raise BadArgument(
            "an array of objects (dtype=object) holds numbers here, and has no derivative",
            "Make it an array of numbers: `np.asarray(x, dtype=float)`.",
        )


class CarriesDerivatives(BadArgument):
    """A number that carries derivatives turned up: no code can be derived for it, but it can be computed with."""


def refuse_numbers_with_derivatives(value: Any) -> None:
    """Refuse a number with derivatives, and an array of such."""
    items: Any = value.flat if isinstance(value, np.ndarray) and value.dtype == object else (value,)
    for item in items:
        refuse_perturbed(item)


def refuse_perturbed(value: Any) -> None:
    if hasattr(type(value), "__compute_op__"):
        raise CarriesDerivatives(
            f"{value!r} is a number of class {type(value).__name__}, and code is derived for plain numbers",
            "Run the function itself on it: it goes through any code that computes with numbers.",
        )
