"""What stands for `np` and `math` in code that computes with another library, on one device."""

from __future__ import annotations

import cmath
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import MixedLibraries
from ...frontend.boundary.no_code import library_of_arrays
from . import indexing
from .duck import Array, Duck, Scalar
from .library import Library, device_of, numpy_dtype
from .numpys import Mathematics, Numpy


class Namespace:
    """One library on one device, in the place of NumPy.

    Attributes:
        library: which library.
        device: where new arrays are made; None of a library that has no devices.
        numpy: what generated code calls `np`.
        math: what it calls `math`.
    """

    def __init__(self, library: Library, device: Any):
        self.library = library
        self.device = device
        self.xp = library.xp
        self.numpy: Any = Numpy(self)
        self.math: Any = Mathematics(self)
        self.on_device: dict[str, Any] = {} if device is None else {"device": device}
        self._floats = frozenset(
            self.xp.ones((), dtype=dtype, **self.on_device).dtype
            for dtype in (self.xp.float32, self.xp.float64)
        )
        self._worlds: dict[str, dict[str, Any]] = {}
        self._rebound: dict[Any, Any] = {}

    def __repr__(self) -> str:
        return f"<NumPy by {self.library.name}>"

    # --- arrays and what looks like NumPy's ----------------------------------------------------

    def wrapped(self, raw: Any) -> Any:
        """A new array as NumPy would give it: without axes it is a scalar."""
        return (Array if len(raw.shape) else Scalar)(self, raw)

    def array(self, x: Any, dtype: Any = None) -> Any:
        """Anything as an array of the library; `dtype` may be NumPy's or the library's."""
        if isinstance(x, Duck):
            raw = x.raw
        elif isinstance(x, (list, tuple)):
            raw = self.stacked(x)
        elif isinstance(x, np.ndarray):
            raw = self.moved(x)
        elif hasattr(x, "shape") and not isinstance(x, np.generic):
            raw = x
        else:
            kind = self.own_dtype(np.asarray(x).dtype if dtype is None else dtype)
            value = x.item() if isinstance(x, np.generic) else x
            return self.xp.asarray(value, dtype=kind, **self.on_device)
        return raw if dtype is None else self.astype(raw, dtype)

    def stacked(self, items: Any) -> Any:
        """A list or tuple, nested as may be, as an array."""
        if not _holds_arrays(items):
            return self.moved(np.asarray(items))
        raws = self.promoted(*(self.array(each) for each in items))
        return self.xp.stack(list(raws), axis=0)

    def moved(self, x: np.ndarray[Any, Any]) -> Any:
        """An array of NumPy's on this device."""
        x = x if all(step >= 0 for step in x.strides) else x.copy()
        try:
            return self.xp.asarray(x, **self.on_device)
        except TypeError:  # a library that takes nothing of others
            dtype = self.own_dtype(x.dtype)
            raw = self.xp.asarray(x.tolist(), dtype=dtype, **self.on_device)
            return self.xp.reshape(raw, x.shape)

    def to_host(self, raw: Any) -> np.ndarray[Any, Any]:
        """An array as one of NumPy's: indices, never values that derivatives depend on."""
        return np.asarray(_listed(raw), dtype=numpy_dtype(raw.dtype)).reshape(tuple(raw.shape))

    def own_dtype(self, dtype: Any) -> Any:
        if dtype is None or not isinstance(dtype, (type, str, np.dtype)):
            return dtype
        return getattr(self.xp, np.dtype(dtype).name)

    def astype(self, raw: Any, dtype: Any) -> Any:
        dtype = self.own_dtype(dtype)
        if raw.dtype == dtype:
            return raw
        if "complex" in str(raw.dtype) and "complex" not in str(dtype):
            raw = self.xp.real(raw)
        return self.xp.astype(raw, dtype)

    def cast(self, x: Duck, dtype: Any, *, copy: bool = True) -> Any:
        raw = self.astype(x.raw, dtype)
        if copy and raw is x.raw and isinstance(x, Array):
            return Array(self, self.copied(raw))
        return type(x)(self, raw)

    def copied(self, raw: Any) -> Any:
        return self.xp.asarray(raw, copy=True) if self.library.is_mutable else raw

    # --- operands -------------------------------------------------------------------------------

    def promoted(self, *operands: Any, floating: bool = False) -> list[Any]:
        """Operands as NumPy would convert them before it computes: numbers of Python's stay numbers."""
        raws = [self._raw(x) for x in operands]
        dtypes = {numpy_dtype(raw.dtype) for raw in raws if hasattr(raw, "dtype")}
        if len(dtypes) == 1:
            (dtype,) = dtypes
            if dtype.kind == "c" or (dtype.kind == "f" and complex not in map(type, raws)):
                return [_plain(raw, dtype) for raw in raws]
        common = np.result_type(*dtypes, *(raw for raw in raws if not hasattr(raw, "dtype")))
        if floating and common.kind not in "fc":
            common = np.dtype(np.float64)
        return [
            self.astype(raw, common) if hasattr(raw, "dtype") else _plain(raw, common)
            for raw in raws
        ]

    def arrays(self, *operands: Any, floating: bool = False) -> list[Any]:
        """The same, all as arrays."""
        raws = self.promoted(*operands, floating=floating)
        dtype = next((raw.dtype for raw in raws if hasattr(raw, "dtype")), None)
        if dtype is None:
            common = np.result_type(*map(type, raws))
            dtype = self.own_dtype(np.result_type(common, 1.0) if floating else common)
        return [
            raw if hasattr(raw, "dtype") else self.xp.asarray(raw, dtype=dtype, **self.on_device)
            for raw in raws
        ]

    def _raw(self, x: Any) -> Any:
        if isinstance(x, Duck):
            return x.raw
        if isinstance(x, np.generic):
            return x.item()
        return self.array(x) if isinstance(x, (np.ndarray, list, tuple)) else x

    def combined(self, symbol: str, apply: Callable[..., Any], x: Any, y: Any) -> Any:
        """What an operator gives."""
        if self.meet_alike(x, y):
            return self.wrapped(apply(x.raw, y.raw if isinstance(y, Duck) else y))
        if x is None or y is None or isinstance(x, str) or isinstance(y, str):
            return NotImplemented
        x, y = self.promoted(x, y, floating=symbol == "truediv")
        return self.wrapped(apply(x, y))

    def meet_alike(self, x: Any, y: Any) -> bool:
        """Whether two operands are arrays of floats of one dtype, or the second is a number of Python's."""
        if not isinstance(x, Duck) or x.latest.dtype not in self._floats:
            return False
        if isinstance(y, Duck):
            return bool(y.latest.dtype == x.latest.dtype)
        return type(y) in (float, int)

    def own(self, raw: Any) -> Array:
        """An array of the library that the program was given, or has found.

        Raises:
            MixedLibraries: it is one of another library, or of another device.
        """
        name, device = library_of_arrays(type(raw)), device_of(raw)
        if name != self.library.name or device != self.device:
            there = f" on {device}" if name == self.library.name else ""
            raise MixedLibraries(
                f"an array of {name}{there} is met where the program computes with {self.library.name} on "
                f"{self.device}"
                if there
                else f"an array of {name} is met where the program computes with {self.library.name}",
                "Convert them, so that the whole computation stays in one array library, on one device.",
            )
        own = Array(self, raw)
        own.is_given = True
        return own

    def read(self, x: Duck, key: Any) -> Any:
        return indexing.read(self, x, key)

    def write(self, x: Array, key: Any, value: Any) -> None:
        indexing.write(self, x, key, value)

    def view(self, x: Any, read: Any, write: Any, *, is_ordered: bool) -> Array:
        """An array that sees another one, however that is laid out."""
        raw = read(x.raw)
        bound = not self.library.is_mutable and isinstance(x, Array)
        view = Array(self, raw, x, read, write) if bound else Array(self, raw)
        view.is_ordered = is_ordered
        same = self.library.same_memory
        if same is None or same(raw, x.raw):
            view.root = x.root
        return view

    # --- code -----------------------------------------------------------------------------------

    def module(self, key: str) -> Any:
        """What generated code finds under the name of a module."""
        found = {"np": self.numpy, "math": self.math, "cmath": self.math, "types": types}
        return found[key]

    def constant(self, x: Any) -> Any:
        """A constant of a program in this namespace."""
        if type(x) is np.ndarray and x.dtype.kind in "biufc":
            return Array(self, self.moved(x))
        return self.own(x) if library_of_arrays(type(x)) else x

    def rebound(self, function: Any) -> Any:
        """A function of `wengert.runtime` as it is in this namespace."""
        if not isinstance(function, types.FunctionType):
            return function
        known = self._rebound.get(function)
        if known is None:
            world = self._world_of(function.__module__, function.__globals__)
            known = types.FunctionType(
                function.__code__,
                world,
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            known.__kwdefaults__ = function.__kwdefaults__
            self._rebound[function] = known
        return known

    def _world_of(self, name: str, names: dict[str, Any]) -> dict[str, Any]:
        if name not in self._worlds:
            world = self._worlds[name] = dict(names)
            for each, value in names.items():
                home = getattr(value, "__module__", None) or ""
                if value is np or value is math or value is cmath:
                    world[each] = self.numpy if value is np else self.math
                elif isinstance(value, types.FunctionType) and home.startswith("wengert.runtime"):
                    world[each] = self.rebound(value)
        return self._worlds[name]


def _plain(x: Any, dtype: np.dtype[Any]) -> Any:
    """A number of Python's as it meets an array: not all libraries take True for 1."""
    return int(x) if type(x) is bool and dtype.kind != "b" else x


def _holds_arrays(items: Any) -> bool:
    return any(
        isinstance(each, Duck) or (isinstance(each, (list, tuple)) and _holds_arrays(each))
        for each in items
    )


def _listed(raw: Any) -> Any:
    shape = tuple(raw.shape)
    if hasattr(raw, "tolist"):
        return raw.tolist()
    if not shape:
        return int(raw)
    return [_listed(raw[k, ...]) for k in range(shape[0])]
