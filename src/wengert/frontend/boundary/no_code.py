"""Numbers and arrays that no code is derived for."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from ...errors import BadArgument
from ...ops.array_classes import has_own_arithmetic, of_own_arithmetic


class ForeignArray(BadArgument):
    """An array of another library than NumPy turned up."""


def refuse_other_arithmetic(cls: type[np.ndarray[Any, Any]]) -> None:
    """Refuse arrays of a class that does not compute as NumPy's own arrays do (matrices, masked arrays)."""
    if has_own_arithmetic(cls):
        raise ForeignArray(*of_own_arithmetic(cls))


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


class OfAnotherLibrary(CarriesDerivatives):
    """An array of another library than NumPy turned up: code is derived in the namespace of that library."""

    def __init__(self, array: Any):
        cls = type(array)
        super().__init__(
            f"an array of class {cls.__module__}.{cls.__qualname__} is met here",
            "Call `wg.grad` and its kin with it: they compute in its library.",
        )
        self.array = array


computing_in: ContextVar[Any] = ContextVar("computing_in", default=None)
"""The namespace of another library in which calls compute now (`interop.arrays`), or None."""


_ARRAYS = {"torch": "Tensor", "dask": "Array", "cupy": "ndarray"}
"""The arrays of libraries of which not all versions say that they follow the standard."""


def library_of_arrays(cls: type) -> str:
    """The library whose arrays are of this class; "" of no array, and of NumPy's."""
    name = cls.__module__.partition(".")[0]
    if name in ("numpy", "wengert"):
        return ""
    known = any(each.__name__ == _ARRAYS.get(name) for each in cls.__mro__)
    follows = hasattr(cls, "__array_namespace__")
    return {"jaxlib": "jax"}.get(name, name) if known or follows else ""


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
