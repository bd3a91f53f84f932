"""Calls of Python's and NumPy's functions that these refuse themselves: too many arguments, or an unknown name."""

from __future__ import annotations

import cmath
import functools
import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

import numpy as np

from ..domain.arguments import is_star
from ..domain.values import Value
from ..machine.failing import fail_now
from ..machine.interpreter import Interpreter


def refuse_wrong_call(
    it: Interpreter, known: Any, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> None:
    """Where a function does not take what it is given, emit the call that says so."""
    if any(map(is_star, args)):
        return
    if isinstance(known, np.ufunc):
        fits = known.nin <= len(args) <= known.nin + known.nout
    else:
        fits = _fits(known, len(args), tuple(kwargs))
    if not fits:
        fail_now(it, known, *args, **kwargs)


@functools.cache
def _fits(known: Any, count: int, names: tuple[str, ...]) -> bool:
    signature = _signature(known)
    if signature is None:
        return True
    try:
        signature.bind(*[None] * count, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def _signature(known: Any) -> inspect.Signature | None:
    if not isinstance(known, _WITH_SIGNATURE):
        return None
    function: Any = _LIKE.get(known, known)
    try:
        return inspect.signature(function)
    except ValueError:  # one that is written in C may not say
        return None


_WITH_SIGNATURE = (BuiltinFunctionType, FunctionType, MethodDescriptorType, type, type(np.sum))


def _extremum(first: Any, /, *rest: Any, key: Any = None, default: Any = None) -> None: ...
def _of_one(x: Any = None, /) -> None: ...
def _bounds(start: Any, stop: Any = None, step: Any = None, /) -> None: ...
def _logarithm(x: Any, base: Any = None, /) -> None: ...


_LIKE: dict[Any, Callable[..., None]] = {
    max: _extremum,
    min: _extremum,
    bool: _of_one,
    set: _of_one,
    frozenset: _of_one,
    range: _bounds,
    slice: _bounds,
    math.log: _logarithm,
    cmath.log: _logarithm,
    int: lambda x=0, /, base=10: None,
    str: lambda object="", encoding="", errors="": None,  # noqa: A006
    dict: lambda _pairs=(), /, **items: None,  # `bind` takes no `x` by name beside a positional one
    getattr: lambda x, name, default=None, /: None,
    next: lambda iterator, default=None, /: None,
    iter: lambda x, sentinel=None, /: None,
    map: lambda function, iterable, /, *iterables: None,
    filter: lambda function, iterable, /: None,
    zip: lambda *iterables, strict=False: None,
    functools.reduce: lambda function, iterable, initial=None, /: None,
    itertools.islice: lambda iterable, start, stop=None, step=None, /: None,
    itertools.chain: lambda *iterables: None,
    itertools.zip_longest: lambda *iterables, fillvalue=None: None,
    itertools.product: lambda *iterables, repeat=1: None,
    itertools.repeat: lambda object, times=0: None,  # noqa: A006
    np.arange: lambda start=None, stop=None, step=None, dtype=None, *, device=None, like=None: None,
}
"""The signatures of functions that do not say theirs, or take more than they say."""
