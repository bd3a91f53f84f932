"""What of a program is its own, and of what a run has another: classes, their objects, containers of such."""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...numbers.number import PerturbedNumber
from ...runtime.containers import hold, is_built_on_container, own_base, refill
from ...runtime.reached import inside
from .boxes import Recorded
from .foreign import is_polyfilled
from .memory import may_have_derivatives, of_numbers

LIBRARIES = frozenset(("numpy", "scipy", "math", "cmath"))
LEFT_ALONE = frozenset(("wengert", "sympy", "mpmath", "torch", "jax", "pandas", "numba"))


def blank(x: Any, cls: Any) -> Any:
    """An object of a class that holds nothing yet."""
    base = own_base(type(x)) if is_built_on_container(type(x)) else object
    return SimpleNamespace() if type(x) is SimpleNamespace else base.__new__(cls)


def fill(made: Any, attributes: dict[str, Any]) -> None:
    """Have an object hold attributes, and items where it is a container."""
    if is_built_on_container(type(made)):
        refill(made, attributes)
        return
    for name, item in attributes.items():
        hold(made, name, item)


def items_of(held: Any, of: Callable[[Any], Any]) -> Any:
    """The items of an object that is a container, each as what stands for it."""
    if isinstance(held, dict):
        return {key: of(item) for key, item in held.items()}
    return list(map(of, held))


def is_object(x: Any) -> bool:
    """Whether a value is an object of a class of the program's, which keeps what its attributes say."""
    cls = type(x)
    if cls is SimpleNamespace:
        return True
    if not is_own_class(cls):
        return False
    if is_built_on_container(cls):
        return not issubclass(cls, tuple) and own_base(cls) in (list, dict)
    return all(base is object or _is_of_python(base) for base in cls.__mro__)


def _is_of_python(cls: type) -> bool:
    """Whether a class comes of a `class` statement: those of C make their objects themselves."""
    return bool(cls.__flags__ & 1 << 9) and type(vars(cls).get("__new__")) is not type(len)


CLASS = "_stands_for_class_"


def is_own_class(cls: type) -> bool:
    if not cls.__flags__ & 1 << 9 or issubclass(cls, BaseException) or _is_plain_namedtuple(cls):
        return False
    if not all(map(_makes_classes_as_type, type.mro(type(cls))[:-2])):
        return False
    root = cls.__module__.partition(".")[0]
    if is_polyfilled(cls):
        return True
    if (
        root == "builtins"
    ):  # made by a `class` statement where nothing is called `__name__`, or in C
        return any(isinstance(x, FunctionType) for x in vars(cls).values())
    return root not in LIBRARIES and root not in LEFT_ALONE and root not in sys.stdlib_module_names


def _makes_classes_as_type(meta: type) -> bool:
    """Whether a metaclass leaves it to `type` how classes and their objects are made and read."""
    is_known = meta.__module__ in sys.modules  # those of Cython come of no module
    return meta.__module__ in ("abc", "typing") or (is_known and _MAKING.isdisjoint(vars(meta)))


_MAKING = frozenset((
    "__new__", "__call__", "mro", "__getattribute__", "__getattr__", "__setattr__", "__delattr__",
))  # fmt: skip


_OF_NAMEDTUPLES = frozenset(vars(NamedTuple("_", [])))


def _is_plain_namedtuple(cls: type) -> bool:
    """Whether a class is a namedtuple that has no methods but those that `collections` has made."""
    return hasattr(cls, "_fields") and not any(map(methods_of, cls.__mro__[:-2]))


def methods_of(cls: type) -> dict[str, Any]:
    """What a class has that runs code, by name."""
    code = (FunctionType, staticmethod, classmethod, property, functools.cached_property)
    not_the_programs = {"__init_subclass__", "__class_getitem__"}
    if "_fields" in vars(cls):
        not_the_programs |= _OF_NAMEDTUPLES
    return {
        name: x
        for name, x in vars(cls).items()
        if isinstance(x, code) and name not in not_the_programs
    }


def is_told_of_subclasses(cls: type) -> bool:
    return any("__init_subclass__" in vars(base) for base in cls.__mro__[:-1])


def unannounced() -> type:
    """A base of a stand-in, of which the class that it stands for is not told; of subclasses of the program's it is."""

    class Unannounced:
        __slots__ = ()

        def __init_subclass__(cls, **options: Any) -> None:
            if CLASS not in vars(cls):
                super().__init_subclass__(**options)

    return Unannounced


def data_of(cls: type) -> dict[str, Any]:
    """Class attributes that are not the same in a run, or to which it may add something, by name."""
    code = methods_of(cls)
    return {
        name: x
        for name, x in vars(cls).items()
        if not (name in code or (name.startswith("__") and name.endswith("__")))
        and (isinstance(x, (list, dict, set, deque)) or is_interesting(x))
    }


def is_interesting(x: Any, note_keys: Callable[[Any], None] = lambda keys: None) -> bool:
    """Whether anything in a container is not the same in a run; notes the keys of dictionaries, and what sets hold."""
    seen: set[int] = set()
    waiting = [x]
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, (dict, set, frozenset)):
            note_keys(x)
        if isinstance(x, dict):
            x = list(x.values())
        if isinstance(x, (list, tuple, set, frozenset, deque)):
            waiting.extend(item for item in x if type(item) not in PLAIN)
        elif _is_another(x):
            return True
    return False


def _is_another(x: Any) -> bool:
    """Whether something that is no container is not the same in a run."""
    if isinstance(x, PerturbedNumber):
        return is_array(x)
    if isinstance(x, np.ndarray):
        return may_have_derivatives(x) or x.dtype == object
    if callable(x) or is_object(x) or is_iterator(x) or isinstance(x, ModuleType):
        return True
    return not isinstance(x, np.generic) and bool(arrays_held(x))


def is_iterator(x: Any) -> bool:
    """Whether a value is an iterator of Python's own, such as a generator: it may hand out what the program has."""
    return type(x).__module__ in ("builtins", "itertools") and hasattr(type(x), "__next__")


def arrays_held(x: Any) -> list[Any]:
    """The arrays of floats that something of no class of the program's holds, as a view of memory does."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [x]
    while waiting and len(seen) < _MOST_HELD:
        x = waiting.pop()
        if id(x) in seen or type(x) in PLAIN or isinstance(x, _HOLD_NONE):
            continue
        seen.add(id(x))
        if isinstance(x, np.ndarray) and x.dtype != object:
            if of_numbers(x.dtype):
                found.append(x)
        else:
            waiting.extend(inside(x))
    return found


_HOLD_NONE = (type, FunctionType, ModuleType, PerturbedNumber)
_MOST_HELD = 1000


def is_data(x: Any, depth: int = 0) -> bool:
    """Whether a value is a number, text, an array, or a container of such."""
    if type(x) in (list, tuple, set, frozenset) and depth < 6:
        return all(is_data(item, depth + 1) for item in x)
    if type(x) is dict and depth < 6:
        return all(is_data(item, depth + 1) for item in x.values())
    if type(x) is np.ndarray:
        return not depth and x.dtype.kind in "biufc"
    return type(x) in _DATA


_DATA = frozenset((int, float, complex, str, bytes, bool, type(None)))
PLAIN = frozenset((int, float, complex, str, bytes, bool, type(None), range, slice, type(...)))


def is_array(x: PerturbedNumber) -> bool:
    return type(x) is Recorded and x.memory is not None
