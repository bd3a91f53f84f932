"""What a value leads to: what an object holds, and what a function or a method has captured."""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType
from typing import Any

import numpy as np

from .containers import SEQUENCES, values_held

BOUND = (MethodType, BuiltinFunctionType, MethodWrapperType)
"""The types of methods that are bound to an object."""


def reached_from(value: Any) -> Iterator[Any]:
    """What an object holds; of a function or a method what it has captured."""
    if isinstance(value, FunctionType):
        yield from closed_over(value).values()
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif isinstance(value, functools.partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, BOUND):
        yield from (value.__self__, getattr(value, "__func__", None))
    elif isinstance(value, type):
        yield from vars(value).values() if value.__flags__ & 1 << 9 else ()
    elif type(value).__flags__ & 1 << 9 or isinstance(value, (list, tuple, dict, *SEQUENCES)):
        yield from values_held(value)
        yield from value.args if isinstance(value, BaseException) else ()
    else:
        yield from inside(value)


def closed_over(function: FunctionType) -> dict[str, Any]:
    """What a function has captured, by name, where something is bound to it yet."""
    found: dict[str, Any] = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):
            found[name] = cell.cell_contents
    return found


def inside(value: Any) -> Any:
    """What something holds that is written in C."""
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype == object else ()
    if isinstance(value, ContextVar):
        return [value.get(None)]
    for cls, name in ((np.flatiter, "base"), (np.nditer, "operands"), (np.broadcast, "iters")):
        if isinstance(value, cls):
            held = getattr(value, name)
            return held if isinstance(held, tuple) else [held]
    return gc.get_referents(value)
