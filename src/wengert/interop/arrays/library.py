"""What a library of arrays does in a way of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ...errors import BadArgument
from ...frontend.boundary.no_code import library_of_arrays
from ...ir.records import record


@record
class Library:
    """A library of arrays.

    Attributes:
        name: what users call it: "torch".
        xp: its namespace, of the array API standard.
        like_numpy: its module with NumPy's names and signatures, if it has one: what the standard lacks.
        is_mutable: whether its arrays can be written to.
        indexes_freely: whether its arrays take every key that NumPy's take, but for slices with negative steps.
        add_at: adds values at places, each as often as it occurs; gives the array.
        same_memory: whether two arrays lie in one memory, if it says so.
    """

    name: str
    xp: Any
    like_numpy: Any
    is_mutable: bool
    indexes_freely: bool
    add_at: Callable[[Any, Any, Any], Any] | None = None
    same_memory: Callable[[Any, Any], bool] | None = None

    def __repr__(self) -> str:
        return f"<arrays of {self.name}>"


def follows_standard(array: Any) -> bool:
    """Whether there is a namespace that computes with an array."""
    name = library_of_arrays(type(array))
    return name in _KNOWN or hasattr(array.__array_namespace__(), "float64")


def library(array: Any) -> Library:
    """The library of an array.

    Raises:
        BadArgument: a package is missing that adapts it to the standard.
    """
    name = library_of_arrays(type(array))
    known = _KNOWN.get(name)
    return (
        known()
        if known is not None
        else Library(name, array.__array_namespace__(), None, True, False)
    )


def _compatible(name: str) -> Any:
    try:
        return import_module(f"array_api_compat.{name}")
    except ImportError as error:
        raise BadArgument(
            f"arrays of {name} take the package array-api-compat, which is not installed",
            "Install it: `pip install 'wengert[arrays]'`.",
        ) from error


def _torch() -> Library:
    def add_at(array: Any, key: Any, value: Any) -> Any:
        torch = import_module("torch")
        keys = key if isinstance(key, tuple) else (key,)
        if all(isinstance(each, torch.Tensor) for each in keys):
            return array.index_put_(keys, value.to(array.dtype), accumulate=True)
        places = torch.arange(array.numel(), device=array.device).reshape(array.shape)[key]
        flat = array.reshape(-1).clone()
        spread = torch.broadcast_to(value.to(array.dtype), places.shape)
        flat.index_add_(0, places.reshape(-1), spread.reshape(-1))
        array[...] = flat.reshape(array.shape)
        return array

    def same_memory(x: Any, y: Any) -> bool:
        return bool(x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr())

    return Library("torch", _compatible("torch"), None, True, True, add_at, same_memory)


def _jax() -> Library:
    numpy = import_module("jax.numpy")
    add_at = lambda array, key, value: array.at[key].add(value)
    return Library("jax", numpy, numpy, False, True, add_at)


def _cupy() -> Library:
    cupy = import_module("cupy")

    def add_at(array: Any, key: Any, value: Any) -> Any:
        cupy.add.at(array, key, value)
        return array

    return Library("cupy", _compatible("cupy"), cupy, True, True, add_at)


def _dask() -> Library:
    array = import_module("dask.array")
    return Library("dask", _compatible("dask.array"), array, True, False)


_KNOWN: dict[str, Callable[[], Library]] = {
    "torch": _torch,
    "jax": _jax,
    "cupy": _cupy,
    "dask": _dask,
}


def numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype of NumPy's that is called like one of a library's."""
    return _numpy_dtype(type(dtype), dtype)


@cache
def _numpy_dtype(_: type, dtype: Any) -> np.dtype[Any]:
    # by their classes as well: not all dtypes may be compared with those of other libraries
    return np.dtype(getattr(dtype, "name", None) or str(dtype).rpartition(".")[2])


def device_of(x: Any) -> Any:
    """The device of an array; None of a library whose arrays are where its runtime puts them."""
    if type(x).__module__.partition(".")[0] not in _WITH_DEVICES:
        return None
    return x.device


_WITH_DEVICES = frozenset(("torch", "cupy", "array_api_strict"))
