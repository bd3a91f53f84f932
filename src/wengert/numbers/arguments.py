"""Arguments of a function that is run on numbers with derivatives.

The function gets stand-ins, whose numbers move at the level of the differentiation. What it does to them is done
to the arguments afterwards, so that they are left as one plain call leaves them.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Sequence
from numbers import Number
from types import CellType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from ..errors import BadTangent
from ..ir.callers import calling_span
from ..ops.dispatch.lookup import must_be_number
from ..ops.dispatch.precision import is_exact
from ..ops.program.checks import counted
from ..runtime.containers import CONTENTS, attributes_of, built, hold, is_built_on_container, refill
from ..runtime.copies import lying_alike
from ..runtime.gradients import like_built_on, parts_of_gradient
from ..runtime.reached import closed_over
from .dual import Directions, Dual, parts_at
from .levels import Level
from .number import PerturbedNumber, gathered
from .results import like, shape_of


def mapped_numbers(x: Any, function: Callable[[Any], Any], *, gradient: bool = False) -> Any:
    """What a function gives for every number and array in a value, in its structure.

    Args:
        x: a number or an array, or a container, an object or a function that holds some.
        function: called once for each, in their order.
        gradient: whether what is no number becomes None, and a plain object a namespace of its gradients.
    """

    def again(item: Any) -> Any:
        return mapped_numbers(item, function, gradient=gradient)

    if is_number(x):
        return function(x)
    if is_built_on_container(type(x)):
        parts = {name: again(item) for name, item in attributes_of(x).items()}
        return like_built_on(type(x), parts) if gradient else built(type(x), parts)
    if isinstance(x, (list, tuple)):
        return like(x, list(map(again, x)))
    if isinstance(x, dict):
        return {key: again(item) for key, item in x.items()}
    parts = parts_of(x)
    if not parts:
        return None if gradient else x
    if gradient and not hasattr(x, "__dataclass_fields__"):
        return SimpleNamespace(**{name: again(item) for name, item in parts.items()})
    return with_parts(x, {name: again(item) for name, item in parts.items()})


def is_number(x: Any) -> bool:
    """Whether a value is a number or an array of numbers: what derivatives are taken by."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iufcO"
    if isinstance(x, bool):
        return False
    return isinstance(x, Number) or hasattr(type(x), "__compute_op__") or is_exact(x)


def parts_of(x: Any) -> dict[str, Any]:
    """What an object keeps in its attributes, or a function in its closure, by name."""
    if isinstance(x, FunctionType):
        return closed_over(x)
    if isinstance(x, (type, ModuleType, MethodType, PerturbedNumber, np.ufunc)):
        return {}
    return attributes_of(x)


def with_parts(x: Any, parts: dict[str, Any]) -> Any:
    """The same object or function, which keeps other things under these names."""
    if isinstance(x, FunctionType):
        cells = zip(x.__code__.co_freevars, x.__closure__ or (), strict=True)
        closure = tuple(CellType(parts[n]) if n in parts else cell for n, cell in cells)
        made = FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, closure)
        made.__kwdefaults__ = x.__kwdefaults__
        made = functools.update_wrapper(made, x)
        del made.__wrapped__
        return made
    made = copy.copy(x)
    for name, item in parts.items():
        hold(made, name, item)
    return made


def copied(x: Any) -> Any:
    """A value with memory of its own; numbers, which do not change, are what they were."""
    return mapped_numbers(x, _copied_number)


def _copied_number(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return lying_alike(x)
    if not isinstance(x, Dual) or not shape_of(x):
        return x
    dot = x.tangent
    several = isinstance(dot, Directions)
    own = Directions(list(map(_copied_number, dot))) if several else _copied_number(dot)
    return Dual(_copied_number(x.primal), own, x.level)


def whole(x: Any) -> Any:
    """An array of numbers with derivatives as one number that is an array."""
    return gathered(x) if isinstance(x, np.ndarray) else x


class StandIns:
    """What stands for arguments in a run at one level."""

    def __init__(self, level: Level):
        self._level = level
        self._made: dict[int, tuple[Any, Any]] = {}
        """Lists, dictionaries, objects and arrays, each with what it stands for."""
        self._seen: set[int] = set()

    def of(self, x: Any, dot: Any) -> Any:
        """An argument whose numbers move as a tangent of its structure says; None for what does not move.

        Raises:
            BadTangent: the tangent has another structure.
            BadArgument: what is to move is no number.
        """
        if dot is None:
            return x
        if is_built_on_container(type(x)):
            kept, dots = attributes_of(x), parts_of_gradient(dot)
            moved = {name: self.of(item, dots.get(name)) for name, item in kept.items()}
            return self._noted(x, built(type(x), moved))
        if isinstance(x, (list, tuple)):
            return self._noted(x, like(x, list(map(self.of, x, _items_of(dot, x)))))
        if isinstance(x, dict):
            dots = _entries_of(dot, x)
            return self._noted(x, {key: self.of(item, dots.get(key)) for key, item in x.items()})
        if isinstance(dot, (dict, SimpleNamespace)) or hasattr(dot, "__dataclass_fields__"):
            dots = dot if isinstance(dot, dict) else attributes_of(dot)
            moved = {name: self.of(item, dots.get(name)) for name, item in parts_of(x).items()}
            return self._noted(x, with_parts(x, moved))
        number = whole(x)
        must_be_number(number, "what a derivative is taken by")
        made = Dual(number, dot.copy() if isinstance(dot, np.ndarray) else dot, self._level)
        return made if number is x else self._noted(x, made)

    def _noted(self, x: Any, made: Any) -> Any:
        self._made[id(made)] = made, x
        return made

    def settle(self, args: Iterable[Any]) -> None:
        """Leave in the arguments what the function has left in their stand-ins."""
        for made, x in tuple(self._made.values()):
            self._fill(x, made)
        for x in args:
            self.without(x)

    def without(self, x: Any) -> Any:
        """A value without derivatives of this level; what it holds loses them in place."""
        if id(x) in self._made:
            return self._made[id(x)][1]
        if isinstance(x, PerturbedNumber):
            return parts_at(x, self._level)[0]
        if isinstance(x, tuple):
            items = [self.without(item) for item in x]
            return like(x, items) if _differ(items, x) else x
        is_plain = is_number(x) and not (isinstance(x, np.ndarray) and x.dtype == object)
        if id(x) not in self._seen and not is_plain:
            self._seen.add(id(x))
            self._fill(x, x)
        return x

    def _fill(self, x: Any, made: Any) -> None:
        """Have a value hold what another one does, without derivatives of this level."""
        if is_built_on_container(type(x)):
            kept = attributes_of(made)
            items = kept.pop(CONTENTS)
            self._fill_items(x, items)
            refill(x, {name: self.without(item) for name, item in kept.items()})
            return
        if isinstance(x, list):
            items = [self.without(item) for item in made]
            if _differ(items, x):
                x[:] = items
        elif isinstance(x, dict):
            entries = {key: self.without(item) for key, item in made.items()}
            if _differ(entries, x) or _differ(entries.values(), x.values()):
                x.clear()
                x.update(entries)
        elif isinstance(x, np.ndarray):
            for index in np.ndindex(x.shape):
                x[index] = self.without(made[index])
        elif not isinstance(x, (tuple, FunctionType)):
            before = parts_of(x)
            for name, item in parts_of(made).items():
                plain = self.without(item)
                if name not in before or plain is not before[name]:
                    object.__setattr__(x, name, plain)

    def _fill_items(self, x: Any, items: Any) -> None:
        """Have an object of a class that is built on a container hold these items, without derivatives."""
        if isinstance(items, dict):
            refill(x, {CONTENTS: {key: self.without(item) for key, item in items.items()}})
        elif isinstance(items, list):
            refill(x, {CONTENTS: list(map(self.without, items))})


def _differ(items: Iterable[Any], others: Iterable[Any]) -> bool:
    a, b = list(items), list(others)
    return len(a) != len(b) or any(p is not q for p, q in zip(a, b, strict=True))


def _items_of(dot: Any, x: Sequence[Any]) -> Any:
    if not isinstance(dot, (list, tuple, np.ndarray)) or len(dot) != len(x):
        has = counted(len(dot), "item") if hasattr(type(dot), "__len__") else f"{dot!r}"
        raise BadTangent(
            f"a tangent of {has} for a {type(x).__name__} of {counted(len(x), 'item')}",
            "Give one tangent for each, None for zero.",
            calling_span(),
        )
    return dot


def _entries_of(dot: Any, x: dict[Any, Any]) -> dict[Any, Any]:
    if not isinstance(dot, dict) or not dot.keys() <= x.keys():
        raise BadTangent(
            f"the tangent {dot!r} of a dictionary with the keys {list(x)!r}",
            "Give a dictionary with tangents under these keys.",
            calling_span(),
        )
    return dot
