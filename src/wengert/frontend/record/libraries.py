"""Libraries in a run: their modules, functions and objects take boxes and give them."""

from __future__ import annotations

import functools
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import NoRule, UnknownFunction, UnsupportedSyntax, WengertError
from ...ir.callers import calling_span
from ...ops import registry
from ..polyfills import manifest
from ..polyfills.stdlib.random import shuffle
from .as_text import INSTEAD, MODULES, refuse_as_text
from .boxes import Recorded, as_class_says, boxes_in, fresh, held_elsewhere, is_active, noting
from .classes import LEFT_ALONE, LIBRARIES, arrays_held
from .foreign import by_stand_in, may_hold_boxes
from .functions import anything, called, called_ufunc
from .methods import real_type
from .operations import operations
from .tape import running

if TYPE_CHECKING:
    from .world import World


class Proxy(ModuleType):
    """A module whose names mean what they do in a run."""

    def __init__(self, module: ModuleType, world: World):
        object.__setattr__(self, "of_module", module)
        object.__setattr__(self, "_world", world)
        object.__setattr__(self, "_scope", world.scope_of(vars(module)))

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return ModuleType
        own = object.__getattribute__(self, "__dict__")
        scope = own["_scope"]
        if name in scope:
            return scope[name]
        return own["_world"].of(getattr(own["of_module"], name))

    def __setattr__(self, name: str, value: Any) -> None:
        own = object.__getattribute__(self, "__dict__")
        own["_scope"][name] = value
        setattr(own["of_module"], name, value)

    def __delattr__(self, name: str) -> None:
        own = object.__getattribute__(self, "__dict__")
        delattr(own["of_module"], name)
        own["_scope"].pop(name, None)

    def __dir__(self) -> Iterable[str]:
        return dir(object.__getattribute__(self, "__dict__")["of_module"])

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "__dict__")["of_module"])


class Ufunc:
    """An elementwise function of NumPy's or SciPy's in a run."""

    def __init__(self, ufunc: Any):
        self._ufunc = ufunc
        self.__name__ = ufunc.__name__

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return _called_with_real_types(self._ufunc, args, keywords)

    def at(self, array: Any, *args: Any) -> None:
        if boxes_in((array, *args)):
            called_ufunc(self._ufunc, "at", (array, *args), {})
        else:
            self._ufunc.at(array, *args)

    def _method(self, name: str) -> Callable[..., Any]:
        def method(*args: Any, **keywords: Any) -> Any:
            if boxes_in((args, keywords)):
                return called_ufunc(self._ufunc, name, args, keywords)
            return fresh(getattr(self._ufunc, name)(*args, **keywords))

        return method

    def __getattr__(self, name: str) -> Any:
        if name in ("reduce", "accumulate", "outer", "reduceat"):
            return self._method(name)
        return getattr(self._ufunc, name)

    def __eq__(self, other: object) -> bool:
        return other is self or other is self._ufunc

    def __hash__(self) -> int:
        return hash(self._ufunc)

    def __repr__(self) -> str:
        return repr(self._ufunc)


def walked_by_numpy(*args: Any, **keywords: Any) -> Any:
    """`np.nditer`, which writes to arrays behind a run's back."""
    of_objects = len(args) == 1 and type(args[0]) is np.ndarray and args[0].dtype == object
    if not boxes_in((args, keywords)) or (of_objects and "op_flags" not in keywords):
        return np.nditer(*args, **keywords)  # its items are arrays of one object, such as a box
    raise noting(
        UnknownFunction(
            "np.nditer walks over arrays in C, and its items are no numbers with derivatives",
            "Walk over the indices: `for k in np.ndindex(a.shape)`.",
            calling_span(),
        )
    )


class StandIn:
    """What stands for an object of a library in a run, and says that it is of its class."""

    def __init__(self, value: Any):
        self._value = value

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self._value)


class LibraryObject(StandIn):
    """An object of a library that can be called in a run, as a distribution of SciPy's is."""

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return _called_with_real_types(self._value, args, keywords)

    def __getattr__(self, name: str) -> Any:
        return operations.current(getattr(self._value, name))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_value":
            object.__setattr__(self, name, value)
            return
        if boxes_in((value,)):
            raise noting(
                UnsupportedSyntax(
                    f"a {type(self._value).__name__} is given an attribute with a derivative, which its code loses",
                    "Keep it in an object of your own, or make another one of what it depends on.",
                    calling_span(),
                )
            )
        setattr(self._value, name, value)

    def __repr__(self) -> str:
        return repr(self._value)


class Spelling(StandIn):
    """`np.r_` and its like, which are indexed by slices, numbers and arrays: NumPy's own code reads these."""

    def __getitem__(self, items: Any) -> Any:
        if not boxes_in((items,)):
            return fresh(self._value[items])
        return operations.current(type(self._value).__getitem__)(self, items)

    def __getattr__(self, name: str) -> Any:
        return operations.current(getattr(self._value, name))

    def __len__(self) -> int:
        return len(self._value)


SPELLINGS = tuple(map(type, (np.r_, np.c_, np.mgrid, np.ogrid)))


class Draws(StandIn):
    """A generator of random numbers in a run: what it draws may be written to what has derivatives."""

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._value, name)
        if name == "shuffle":
            return lambda x, *axis: self._shuffle(found, x, *axis)
        return wrapped(found) if callable(found) else found

    def _shuffle(self, found: Any, x: Any, *axis: Any) -> None:
        if axis or not boxes_in((x,)):
            wrapped(found)(x, *axis)
        else:
            operations.of_library(shuffle)(self._value, x)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._value.__reduce_ex__(protocol)


class Iterated(StandIn):
    """An iterator that was there before the run: what it gives is what that is in the run."""

    def __init__(self, value: Any, of: Callable[[Any], Any]):
        super().__init__(value)
        self._of = of

    def __iter__(self) -> Iterated:
        return self

    def __next__(self) -> Any:
        return self._of(next(self._value))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._value, name)
        return (lambda *args: self._of(found(*args))) if callable(found) else found


def of_generator(world: World, value: Any) -> Any:
    return world.keep(value, Draws(value))


def wrapped(function: Any) -> Callable[..., Any]:
    """A function of a library, which takes boxes and gives them."""

    def call(*args: Any, **keywords: Any) -> Any:
        handled = sys.exception()
        try:
            return _called_with_real_types(function, args, keywords)
        except Exception as error:
            if isinstance(error, WengertError) and error not in running.get()[-1].refusals:
                noting(error)
            error.__context__ = handled  # as in the program, which sees no more
            raise

    with_name = functools.WRAPPER_ASSIGNMENTS
    for name in with_name:
        if hasattr(function, name) and name != "__annotations__":
            setattr(call, name, getattr(function, name))
    call.__dict__["_recorded_"] = call.__dict__["__wrapped__"] = function
    return call


def note_holder(world: World, x: Any, name: str = "") -> None:
    """Something that nothing stands for: what is written to the arrays in it is not read as written."""
    for array in arrays_held(x):
        memory = world.tape.memory_of(array)
        memory.held_by = name or type(x).__name__
        if memory.active and not world.tape.is_argument(array):
            raise noting(held_elsewhere(memory.held_by))


def own_rule(function: Any) -> Any:
    """A function that has a rule of its user's, called as the op that it is; None for others."""
    if function is manifest.as_it_is:
        return _as_it_is
    found = registry.find(function) if registry.ruled else None
    return wrapped(function) if found and found[0] in registry.ruled else None


def _as_it_is(function: Any, *args: Any, **options: Any) -> Any:
    """`as_it_is` in a run: what stands for the function knows no derivative by all that it is given."""
    real = getattr(function, "_recorded_", None)
    if real and any(is_active(box, box.tape) for box in boxes_in((args, options))):
        raise noting(
            NoRule(
                f"{real.__name__} has no derivative by all that it is given here",
                "Keep some of it out of the derivative with `wg.stop_gradient`, or give the function a rule:\n"
                "`wg.rrule`.",
                calling_span(),
            )
        )
    return function(*args, **options)


def _called_with_real_types(function: Any, args: Any, keywords: Any) -> Any:
    return _as_seen(_found(function, args, keywords))


def _found(function: Any, args: Any, keywords: Any) -> Any:
    if len(args) == 1 and not keywords and type(args[0]) is Recorded:
        return called(function, args, keywords)
    args = tuple([real_type(x) if isinstance(x, type) else x for x in args])
    if getattr(function, "__module__", None) in ("math", "statistics"):
        args = tuple(map(_listed, args))
    if str(getattr(function, "__module__", "numpy")).startswith("numpy"):
        args = tuple(map(_as_array, args))
    for text in _texts(args):
        refuse_as_text(text)
    for name, x in keywords.items():
        if isinstance(x, type):
            keywords[name] = real_type(x)
    if boxes_in(args) or boxes_in(keywords):
        return called(function, args, keywords)
    if any(map(may_hold_boxes, (*args, *keywords.values()))):
        # what the program's function gives may have derivatives
        instead = manifest.stand_in_for(function)
        if instead is not None:
            return by_stand_in(function, instead, args, keywords)
    return anything(function, args, keywords)


def _as_array(x: Any) -> Any:
    """What NumPy takes an operand for: objects, also in lists, for the arrays that they say they are."""
    if type(x) not in (list, tuple):
        return as_class_says(x)
    items = list(map(as_class_says, x))
    return x if all(a is b for a, b in zip(items, x, strict=True)) else type(x)(items)


def _as_seen(found: Any) -> Any:
    """What a function of a library has given, with what stands for generators and modules, also in tuples."""
    if type(found) is tuple:
        return tuple(map(_as_seen, found))
    is_seen = type(found) in _STOOD_FOR or has_methods_alone(found)
    return operations.current(found) if is_seen else found


def has_methods_alone(x: Any) -> bool:
    """Whether a value is code of a library, or an object of SciPy's with methods alone: a frozen distribution."""
    cls = type(x)
    root = str(getattr(x, "__module__", "")).partition(".")[0]
    is_code = root == "scipy" or (root in LIBRARIES and callable(x))
    is_other = issubclass(cls, (type, FunctionType)) or any(hasattr(cls, n) for n in _MORE)
    return is_code and not is_other


_MORE = ("__len__", "__iter__", "__array__", "__enter__", "__add__", "__mul__", "__matmul__")
"""What objects have that are containers, managers of contexts, or operands."""


def _listed(x: Any) -> Any:
    """What a function of `math` or `statistics` walks over, as a list: its items may be boxes."""
    has_items = isinstance(x, Iterable) and not isinstance(x, (list, tuple, np.ndarray))
    return x if type(x) is Recorded or not has_items else list(x)


def _texts(args: tuple[Any, ...]) -> Iterator[Any]:
    """The texts and bytes among operands, and in lists of them."""
    if args and running.get()[-1].texts:
        for x in args:
            yield from (x if isinstance(x, list) else [x] if isinstance(x, (str, bytes)) else [])


_STOOD_FOR = (np.random.Generator, np.random.RandomState, ModuleType)


def of_builtin(world: World, value: Any) -> Any:
    """A function that is written in C."""
    if value in INSTEAD:
        return world.keep(value, INSTEAD[value])
    root = (getattr(value, "__module__", None) or "").partition(".")[0]
    owner = value.__self__
    if root in LIBRARIES or (owner is not None and type(owner).__name__ == "Generator"):
        return world.keep(value, wrapped(value))
    if not isinstance(owner, (ModuleType, type(None), type)):
        return _bound_builtin(world, value, owner)
    return world.keep(value, value)


def _bound_builtin(world: World, value: Any, owner: Any) -> Any:
    """A method of a container, bound."""
    instead = world.of(owner)
    return value if instead is owner else getattr(instead, value.__name__)


def of_module(world: World, value: ModuleType) -> Any:
    root = value.__name__.partition(".")[0]
    is_own = root not in sys.stdlib_module_names and root not in LEFT_ALONE
    is_seen = root in LIBRARIES or is_own or value in _SEEN
    return world.keep(value, Proxy(value, world) if is_seen else value)


_SEEN = (*MODULES, statistics, manifest)


def of_dispatched(world: World, value: Any) -> Any:
    return world.keep(value, wrapped(value))
