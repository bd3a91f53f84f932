"""Checks that generated code makes when it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .containers import is_built_on_container
from .refusals import coded, unclear


def scalar_seed(y: Any, function: str) -> float:
    """The cotangent 1.0 of a real scalar; TypeError for anything else."""
    # what can be divided is a number or an array
    if hasattr(y, "__truediv__") and np.ndim(y) == 0 and not np.iscomplexobj(y):
        return 1.0
    shape = f" of shape {np.shape(y)}" if isinstance(y, np.ndarray) else ""
    returned = "None" if y is None else f"a value of type {type(y).__name__}{shape}"
    error = TypeError(
        f"a gradient needs one real number as the result, but {function} returned {returned}\n"
        "For several results use `wg.jacobian`; to choose the cotangent of the result yourself use\n"
        "`wg.pullback`."
    )
    raise coded(error, "WG201")


def real_result(y: Any) -> None:
    """TypeError for a result that has no Jacobian."""
    if np.iscomplexobj(y):
        raise _refused(
            "WG201",
            "`wg.jacobian` needs a real result, but the function returns a complex one\n"
            "Return its real and imaginary parts, or use `wg.pullback`.",
        )
    if np.asarray(y).dtype.kind not in "fiu":
        raise _refused(
            "WG201",
            f"`wg.jacobian` needs a result of numbers, but the function returns {y!r}\n"
            "Return numbers, arrays of them, or lists, tuples and dictionaries of those.",
        )


def real_argument(x: Any) -> None:
    """TypeError for an argument with more than one second derivative."""
    if np.iscomplexobj(x):
        raise _refused(
            "WG202",
            "`wg.diag_hessian` needs a real argument: a complex one has two second derivatives\n"
            "Differentiate a function of its real and imaginary parts.",
        )


def real_power(x: Any) -> None:
    """ValueError for a number that is complex where its kind says a float: no other operator makes such numbers."""
    if isinstance(x, complex):
        raise unclear(
            "a power of a negative number is complex in this run, and is asked for what differs between floats and "
            "complex numbers\nMake the number complex before, `complex(x)**p`, or take the power of `abs(x)`."
        )


def python_truth(x: Any) -> None:
    """TypeError for what Python does not take from a `__bool__`, such as a truth value of NumPy's."""
    if type(x) is not bool:
        name = f"numpy.{type(x).__name__}" if isinstance(x, np.generic) else type(x).__name__
        raise TypeError(f"__bool__ should return bool, returned {name}")


def spanning(x: Any) -> None:
    """TypeError for an argument whose numbers do not form an array."""
    is_array = isinstance(x, (list, tuple, np.ndarray, np.number, int, float, complex))
    if not is_array or hasattr(x, "_fields"):
        raise _refused(
            "WG202",
            "`wg.jacobian` needs a number, an array or a list of numbers as the argument, not a "
            f"value of type {type(x).__name__}\n"
            "Differentiate a function of an array, or use `wg.pullback`.",
        )


def _refused(code: str, message: str) -> TypeError:
    error = TypeError(message)
    return coded(error, code)


def listed(x: Any) -> list[Any]:
    """`list(x)` of what only the run knows: Python code that gives the items has not been read."""
    import types

    cls = type(x)
    gives = getattr(cls, "__iter__", None) or getattr(cls, "__getitem__", None)
    in_python = isinstance(gives, types.FunctionType) and not isinstance(x, np.ndarray)
    if in_python or is_built_on_container(cls):
        raise unclear(
            f"this walks over a {cls.__name__}, by code of its class, which is known only when the program "
            "runs\nPass it as an argument, or make it where it is certain which object it is."
        )
    return list(x)


def unpackable(x: Any, count: int, starred: int) -> Any:
    """Something that can be indexed and has as many items as an unpacking needs."""
    indexed = hasattr(x, "__getitem__") and hasattr(x, "__len__") and not isinstance(x, dict)
    if not indexed and not hasattr(x, "__iter__"):
        raise TypeError(f"cannot unpack non-iterable {type(x).__name__} object")
    items = x if indexed else list(x)
    if starred < 0 and len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if starred < 0 and len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    if starred >= 0 and len(items) < count - 1:
        raise ValueError(
            f"not enough values to unpack (expected at least {count - 1}, got {len(items)})"
        )
    sliced = starred < 0 or isinstance(items, (list, np.ndarray))
    return items if sliced else list(items)
