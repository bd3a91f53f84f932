"""What a call is given and gives: containers and objects with arrays of the library, as the program sees them."""

from __future__ import annotations

import copy
import types
from typing import Any

import numpy as np

from ...compile.calling import arrays_in
from ...frontend.boundary.no_code import library_of_arrays
from ...runtime.containers import own_attributes
from .duck import Array, Duck
from .namespace import Namespace


def _has_foreign(x: Any) -> bool:
    return any(not isinstance(each, np.ndarray) for _, each in arrays_in(x, ""))


class Given:
    """What one call was given, and what stands for it in the program."""

    def __init__(self, space: Namespace, *, move: bool = False):
        self._space = space
        self._move = move
        self._known: dict[int, tuple[Any, Any]] = {}
        self._containers: list[Any] = []

    def wrapped(self, x: Any) -> Any:
        """A value with what looks like NumPy's arrays in the place of the library's."""
        if isinstance(x, (list, dict)):
            self._containers.append(x)
        if id(x) in self._known:
            return self._known[id(x)][1]
        if isinstance(x, np.ndarray):
            movable = self._move and x.dtype.kind in "biufc"
            return Array(self._space, self._space.moved(x)) if movable else x
        if library_of_arrays(type(x)):
            return self._stands_for(x, self._space.own(x))
        return self._rebuilt(x) if _has_foreign(x) else x

    def _stands_for(self, x: Any, own: Any) -> Any:
        self._known[id(x)] = x, own
        return own

    def _rebuilt(self, x: Any) -> Any:
        match x:
            case list():
                own: Any = self._stands_for(x, [])
                own += map(self.wrapped, x)
                return own
            case tuple():
                return tuple.__new__(type(x), map(self.wrapped, x))
            case dict():
                own = self._stands_for(x, copy.copy(x))
                own.update((key, self.wrapped(item)) for key, item in x.items())
                return own
            case types.FunctionType():
                return self._function(x)
            case types.MethodType():
                return types.MethodType(x.__func__, self.wrapped(x.__self__))
            case _:
                own = self._stands_for(x, copy.copy(x))
                for name, item in own_attributes(x).items():
                    object.__setattr__(own, name, self.wrapped(item))
                return own

    def _function(self, x: types.FunctionType) -> types.FunctionType:
        cells = tuple(types.CellType(self.wrapped(c.cell_contents)) for c in x.__closure__ or ())
        own = types.FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        own.__kwdefaults__, own.__qualname__ = x.__kwdefaults__, x.__qualname__
        return own

    def hand_back(self) -> None:
        """Change the caller's containers and objects as the program has changed what stands for them."""
        originals = {id(own): x for x, own in self._known.values()}
        for x, own in self._known.values():
            match x:
                case list():
                    x[:] = [_original(item, originals) for item in own]
                case dict():
                    changed = {key: _original(item, originals) for key, item in own.items()}
                    x.clear()
                    x.update(changed)
                case _ if not isinstance(own, Duck):
                    for name, item in own_attributes(own).items():
                        object.__setattr__(x, name, _original(item, originals))
                case _:
                    pass
        for x in self._containers:
            for key, item in list(enumerate(x) if isinstance(x, list) else x.items()):
                if isinstance(item, Duck):
                    x[key] = item.raw


def _original(item: Any, originals: dict[int, Any]) -> Any:
    return originals[id(item)] if id(item) in originals else bare(item)


def wrapped(space: Namespace, x: Any, *, move: bool = False) -> Any:
    """A value with what looks like NumPy's arrays in the place of the library's; with `move` of NumPy's, too."""
    return Given(space, move=move).wrapped(x)


def bare(x: Any) -> Any:
    """A result with the library's own arrays."""
    if isinstance(x, Duck):
        return x.raw
    match x:
        case list():
            return list(map(bare, x))
        case tuple():
            return tuple.__new__(type(x), map(bare, x))
        case dict():
            return {key: bare(item) for key, item in x.items()}
        case types.SimpleNamespace():
            return types.SimpleNamespace(**{key: bare(item) for key, item in vars(x).items()})
        case _ if hasattr(type(x), "__dataclass_fields__") and not isinstance(x, type):
            own = copy.copy(x)
            for name, item in own_attributes(x).items():
                object.__setattr__(own, name, bare(item))
            return own
        case _:
            return x
