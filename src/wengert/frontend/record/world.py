"""The program of one run: its own functions, classes and data, with other meanings for what takes floats alone.

Nothing of the program is changed: functions are copied with global names of their own, classes are derived from,
containers and objects that hold such things, or numbers that are differentiated by, have stand-ins. `leaving` brings
back what the run has left in them.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from opcode import opmap
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np

from ...errors import UnknownFunction, WengertError
from ...ir.callers import (
    _installed,  # pyright: ignore[reportPrivateUsage]
    calling_span,
)
from ...numbers.number import PerturbedNumber
from ...ops import registry
from ...runtime.containers import attributes_of, is_built_on_container, own_base
from ..polyfills import manifest
from .as_text import AS_TEXT, MODULES, refuse_as_text
from .boxes import Recorded, boxes_in, fresh, noting
from .builtins import BUILTINS, TYPES
from .functions import anything, called, called_ufunc, is_polyfilled, may_hold_boxes
from .memory import may_have_derivatives
from .methods import real_type
from .operations import operations
from .tape import Tape, running

LIBRARIES = frozenset(("numpy", "scipy", "math", "cmath"))
_LEFT_ALONE = frozenset(("wengert", "sympy", "mpmath", "torch", "jax", "pandas", "numba"))
_worlds: ContextVar[tuple[World, ...]] = ContextVar("the programs that are recorded", default=())
_WENGERT = __file__.rpartition("frontend")[0]


def current(value: Any) -> Any:
    """What stands for a value in the program that is being recorded; the value, if there is none."""
    worlds = _worlds.get()
    return worlds[-1].of(value, of_library=True) if worlds else value


class World:
    """What each thing of a program is in one run."""

    def __init__(self, tape: Tape):
        self.tape = tape
        self.known: dict[int, tuple[Any, Any]] = {}
        """By the identity of a thing, that thing and what stands for it."""
        self.originals: dict[int, tuple[Any, Any]] = {}
        """By the identity of a stand-in, that and what it stands for."""
        self.scopes: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = []
        """Global names of the run, what they were given, and those of the program."""
        self.cells: list[tuple[CellType, CellType, Any]] = []
        self.unfilled: set[int] = set()
        """Stand-ins, by identity, that do not hold yet what they are to hold: nothing is brought back from them."""
        self._fills: list[tuple[Any, Callable[[], Any]]] = []
        self._is_filling = False
        self.rests_on: list[tuple[dict[str, Any], str, Any]] = []
        """Where the run is to be written out: global names that it may read, and what they meant when it began."""

    def __enter__(self) -> Self:
        self._token = _worlds.set((*_worlds.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        _worlds.reset(self._token)

    def keep(self, value: Any, made: Any) -> Any:
        self.known[id(value)] = value, made
        if made is not value:
            self.originals[id(made)] = made, value
        return made

    @contextmanager
    def filling(self, made: Any) -> Generator[None]:
        """Inside, a stand-in is filled."""
        self.unfilled.add(id(made))
        yield
        self.unfilled.discard(id(made))

    def _to_be_filled(self, made: Any, fill: Callable[[], Any]) -> Any:
        """A stand-in that is filled before anybody sees it: one after the other, however deeply they are nested."""
        self.unfilled.add(id(made))
        self._fills.append((made, fill))
        if not self._is_filling:
            self._is_filling = True
            try:
                self._fill_down_to(0)
            finally:
                self._is_filling = False
                self._fills.clear()
        return made

    def _fill_down_to(self, count: int) -> None:
        while len(self._fills) > count:
            made, fill = self._fills.pop()
            fill()
            self.unfilled.discard(id(made))

    def of(self, value: Any, *, of_library: bool = False) -> Any:
        """What stands for a value."""
        kind = type(value)
        if kind in _PLAIN or (isinstance(value, PerturbedNumber) and not _is_array(value)):
            return value
        found = self.known.get(id(value))
        if found is not None:
            return found[1]
        if kind is Recorded:  # of a run around this one
            return self.keep(value, fresh(value))
        make = _MAKE.get(kind)
        if make is not None:
            return make(self, value)
        if isinstance(value, FunctionType):
            return self._function(value, of_library)
        if isinstance(value, type):
            return self._class(value)
        return self._object(value)

    # --- functions ------------------------------------------------------------------------

    def _function(self, function: FunctionType, of_library: bool) -> Any:
        if function.__globals__.get("__builtins__") is BUILTINS:
            return function
        own = _own_rule(function)
        if own is not None:
            return self.keep(function, own)
        file = function.__code__.co_filename
        if file.startswith(_WENGERT) and not _is_polyfill(file) and not of_library:
            steered = _steered(function)
            return self.keep(function, function if steered is None else self.of(steered))
        root = (function.__module__ or "").partition(".")[0]
        if not of_library and root in LIBRARIES and not file.startswith(_WENGERT):
            return self.keep(function, _wrapped(function))
        if not of_library and (root in _LEFT_ALONE or _is_standard(file)):
            if not _is_polyfill(file) and not _closes_over_code(function):
                return self._of_standard_library(function)
        return self._copied(function)

    def _of_standard_library(self, function: FunctionType) -> Any:
        if function in AS_TEXT:
            return self.keep(function, AS_TEXT[function])
        instead = manifest.stand_in_for(function)
        return self.keep(function, function if instead is None else _wrapped(function))

    def _copied(self, function: FunctionType) -> FunctionType:
        code = function.__code__
        scope = self.scope_of(function.__globals__)
        named = zip(code.co_freevars, function.__closure__ or (), strict=True)
        # `super()` goes on from the program's own class, which is the next one of the run's
        closure = tuple([c if name == "__class__" else self._cell(c) for name, c in named])
        made = FunctionType(code, scope, function.__name__, None, closure or None)
        self.keep(function, made)
        made.__qualname__ = function.__qualname__
        made.__module__ = function.__module__
        made.__doc__ = function.__doc__
        made.__annotations__ = function.__annotations__
        made.__defaults__ = self._items(function.__defaults__)
        given = function.__kwdefaults__
        made.__kwdefaults__ = given and {name: self.of(x) for name, x in given.items()}
        made.__dict__.update({name: self.of(x) for name, x in vars(function).items()})
        self._name(code, scope, function.__globals__)
        return made

    def _items(self, items: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return None if items is None else tuple(map(self.of, items))

    def scope_of(self, names: dict[str, Any]) -> dict[str, Any]:
        found = self.known.get(id(names))
        if found is not None:
            return found[1]
        scope: dict[str, Any] = {**names, "__builtins__": BUILTINS}
        self.known[id(names)] = names, scope
        self.scopes.append((scope, dict(scope), names))
        return scope

    def _name(self, code: CodeType, scope: dict[str, Any], names: dict[str, Any]) -> None:
        """Have the global names that a function reads mean what they do in the run."""
        given = next(given for own, given, _ in self.scopes if own is scope)
        for name in _names_in(code):
            if self.tape.is_listed and not names.get("__name__", "").startswith("wengert"):
                self._rest_on(names, name)
            if name in names and scope.get(name) is names[name]:
                given[name] = scope[name] = self.of(names[name])

    def _rest_on(self, names: dict[str, Any], name: str) -> None:
        known = any(holder is names and key == name for holder, key, _ in self.rests_on)
        if name in names and not known and _is_data(names[name]):
            self.rests_on.append((names, name, copy.deepcopy(names[name])))

    def _cell(self, cell: CellType) -> CellType:
        found = self.known.get(id(cell))
        if found is not None:
            return found[1]
        try:
            content = cell.cell_contents
        except ValueError:
            return cell
        made = CellType()
        self.known[id(cell)] = cell, made
        instead = self.of(content)
        made.cell_contents = instead
        self.cells.append((made, cell, instead))
        return made

    # --- classes --------------------------------------------------------------------------

    def _class(self, cls: type) -> Any:
        if cls in TYPES:
            return TYPES[cls]
        if cls is np.nditer:
            return self.keep(cls, _walked_by_numpy)
        is_replaced = cls is np.vectorize or cls.__module__.startswith("scipy.")
        instead = manifest.stand_in_for(cls) if is_replaced else None
        if instead is not None:
            # what is filled item by item may be given boxes later
            is_filled = cls.__name__.startswith(("lil_", "dok_"))
            return self.keep(cls, self.of(instead) if is_filled else _wrapped(cls))
        if not _is_own_class(cls) or _CLASS in vars(cls):
            return self.known.setdefault(id(cls), (cls, cls))[1]
        names, data = _methods_of(cls), _data_of(cls)
        self.known[id(cls)] = cls, cls  # while its methods are copied
        bases = [base for base in map(self.of, cls.__bases__) if _CLASS in vars(base)]
        if not names and not bases and not data:
            return cls
        empty = {"__slots__": (), _CLASS: cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
        meta: Any = type(cls)
        first = [_unannounced()] if _is_told_of_subclasses(cls) else []
        try:
            made: Any = meta.__new__(meta, cls.__name__, (*first, cls, *bases), empty)
        except TypeError:
            return cls
        made.__qualname__ = cls.__qualname__
        self.keep(cls, made)
        for name, attribute in names.items():
            type.__setattr__(made, name, self._attribute(attribute))
        for name, x in data.items():
            instead = self.of(x)
            is_bound = hasattr(instead, "__get__") and not hasattr(x, "__get__")
            type.__setattr__(made, name, staticmethod(instead) if is_bound else instead)
        return made

    def _attribute(self, x: Any) -> Any:
        if isinstance(x, (staticmethod, classmethod)):
            return type(x)(self.of(x.__func__))
        if isinstance(x, property):
            parts = [None if f is None else self.of(f) for f in (x.fget, x.fset, x.fdel)]
            fget, fset, fdel = parts
            return property(fget, fset, fdel, x.__doc__)
        if isinstance(x, functools.cached_property):
            made: Any = functools.cached_property(self.of(x.func))
            made.attrname = x.attrname
            return made
        return self.of(x)

    # --- data -----------------------------------------------------------------------------

    def array(self, x: np.ndarray[Any, Any]) -> Any:
        """An array of the program's, in its own memory: the run writes to that as the program would."""
        return self.keep(x, fresh(x)) if may_have_derivatives(x) else x

    def of_list(self, x: list[Any]) -> Any:
        if not _is_interesting(x):
            return self.keep(x, x)
        made = self.keep(x, copy.copy(x))
        return self._to_be_filled(made, lambda: made.__setitem__(slice(None), [*map(self.of, x)]))

    def of_tuple(self, x: tuple[Any, ...]) -> Any:
        items = [self.of(item) for item in x]
        if all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return self.keep(x, tuple.__new__(type(x), items))

    def of_dict(self, x: dict[Any, Any]) -> Any:
        if not _is_interesting(x):
            return self.keep(x, x)
        made = self.keep(x, copy.copy(x))

        def fill() -> None:
            for key, item in x.items():
                dict.__setitem__(made, key, self.of(item))

        return self._to_be_filled(made, fill)

    def of_set(self, x: Any) -> Any:
        if not _is_interesting(x):
            return self.keep(x, x)
        before = len(self._fills)
        items = [*map(self.of, x)]
        self._fill_down_to(before)  # an item may be hashed by what it holds
        return self.keep(x, type(x)(items))

    def of_deque(self, x: deque[Any]) -> Any:
        if not _is_interesting(x):
            return x
        made = self.keep(x, copy.copy(x))
        return self._to_be_filled(made, lambda: (made.clear(), made.extend(map(self.of, x))))

    def _object(self, x: Any) -> Any:
        if isinstance(x, functools.partial):
            made = functools.partial(self.of(x.func), *map(self.of, x.args))
            made.keywords.update({k: self.of(v) for k, v in x.keywords.items()})
            return self.keep(x, made)
        if isinstance(x, MethodType):
            is_of_library = type(x.__self__).__module__.partition(".")[0] in LIBRARIES
            if is_of_library or not isinstance(x.__func__, FunctionType):
                return self.keep(x, _wrapped(x))
            return MethodType(self.of(x.__func__), self.of(x.__self__))
        if hasattr(x, "cache_info") and hasattr(x, "__wrapped__"):
            options = x.cache_parameters()
            made = functools.lru_cache(options["maxsize"], options["typed"])(self.of(x.__wrapped__))
            return self.keep(x, made)
        if isinstance(x, tuple):
            return self.of_tuple(x)
        if isinstance(x, (dict, list)) and not is_built_on_container(type(x)):
            return self.of_dict(x) if isinstance(x, dict) else self.of_list(x)
        if not is_object(x):
            root = str(getattr(x, "__module__", "")).partition(".")[0]
            is_code = root in LIBRARIES and callable(x)
            return self.keep(x, LibraryObject(x) if is_code else x)
        return self.stand_in(x, self.of)

    def stand_in(self, x: Any, of: Callable[[Any], Any]) -> Any:
        """An object of the run for one of the program's."""
        made = self.keep(x, blank(x, self.of(type(x))))
        attributes = attributes_of(x)
        return self._to_be_filled(
            made, lambda: fill(made, {name: of(item) for name, item in attributes.items()})
        )


def blank(x: Any, cls: Any) -> Any:
    """An object of a class that holds nothing yet."""
    base = own_base(type(x)) if is_built_on_container(type(x)) else object
    return SimpleNamespace() if type(x) is SimpleNamespace else base.__new__(cls)


def fill(made: Any, attributes: dict[str, Any]) -> None:
    """Have an object hold attributes, and items where it is a container."""
    from ...runtime.containers import refill

    if is_built_on_container(type(made)):
        refill(made, attributes)
        return
    for name, item in attributes.items():
        object.__setattr__(made, name, item)


def is_object(x: Any) -> bool:
    """Whether a value is an object of a class of the program's, which keeps what its attributes say."""
    cls = type(x)
    if cls is SimpleNamespace:
        return True
    if not _is_own_class(cls):
        return False
    if is_built_on_container(cls):
        return not issubclass(cls, tuple) and own_base(cls) in (list, dict)
    return all(base.__flags__ & 1 << 9 or base is object for base in cls.__mro__)


_CLASS = "_stands_for_class_"


def _is_own_class(cls: type) -> bool:
    if not cls.__flags__ & 1 << 9 or issubclass(cls, BaseException) or hasattr(cls, "_fields"):
        return False
    if type(cls) is not type and type(cls).__name__ not in ("ABCMeta", "_ProtocolMeta"):
        return False
    module = sys.modules.get(cls.__module__)
    root = cls.__module__.partition(".")[0]
    if is_polyfilled(cls):
        return True
    if root in LIBRARIES or root in _LEFT_ALONE or root in sys.stdlib_module_names:
        return False
    return module is None or root != "builtins"


def _methods_of(cls: type) -> dict[str, Any]:
    """What a class has that runs code, by name."""
    code = (FunctionType, staticmethod, classmethod, property, functools.cached_property)
    return {
        name: x
        for name, x in vars(cls).items()
        if isinstance(x, code) and name not in ("__init_subclass__", "__class_getitem__")
    }


def _is_told_of_subclasses(cls: type) -> bool:
    return any("__init_subclass__" in vars(base) for base in cls.__mro__[:-1])


def _unannounced() -> type:
    """A base of a stand-in, of which the class that it stands for is not told; of subclasses of the program's it is."""

    class Unannounced:
        __slots__ = ()

        def __init_subclass__(cls, **options: Any) -> None:
            if _CLASS not in vars(cls):
                super().__init_subclass__(**options)

    return Unannounced


def _data_of(cls: type) -> dict[str, Any]:
    """Class attributes that are not the same in a run, or to which it may add something, by name."""
    code = _methods_of(cls)
    return {
        name: x
        for name, x in vars(cls).items()
        if not (name in code or (name.startswith("__") and name.endswith("__")))
        and (isinstance(x, (list, dict, set, deque)) or _is_interesting(x))
    }


def _names_in(code: CodeType) -> frozenset[str]:
    """The global names that a function and those defined inside it may read."""
    found = _known_names.get(code)
    if found is None:
        names = set(_global_names(code))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                names |= _names_in(constant)
        found = _known_names[code] = frozenset(names)
    return found


_known_names: WeakKeyDictionary[CodeType, frozenset[str]] = WeakKeyDictionary()


def _global_names(code: CodeType) -> Iterator[str]:
    extended = 0
    for op, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        arg = low | extended
        extended = arg << 8 if op == opmap["EXTENDED_ARG"] else 0
        if op == opmap["LOAD_GLOBAL"]:
            yield code.co_names[arg >> 1]
        elif op in _BY_NAME:
            yield code.co_names[arg]


_BY_NAME = frozenset(opmap[name] for name in ("LOAD_NAME", "STORE_GLOBAL", "DELETE_GLOBAL"))


def _is_array(x: PerturbedNumber) -> bool:
    return type(x) is Recorded and x.memory is not None


def _is_polyfill(file: str) -> bool:
    """Whether a file has Python code that stands for functions of libraries."""
    return file.startswith(_POLYFILLS)


_POLYFILLS = (f"{_WENGERT}frontend/polyfills/", f"{_WENGERT}solvers/")


def _is_standard(file: str) -> bool:
    return file.startswith(_installed("stdlib")) and "site-packages" not in file


def _closes_over_code(function: FunctionType) -> bool:
    """Whether a function of a library was made for one of the program's."""
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:
            continue
        if isinstance(content, FunctionType) and not _is_standard(content.__code__.co_filename):
            return True
    return False


def _own_rule(function: Any) -> Any:
    """A function that has a rule of its user's, called as the op that it is."""
    if not registry.ruled:
        return None
    found = registry.find(function)
    if found is None or found[0] not in registry.ruled:
        return None
    return _wrapped(function)


def _steered(function: Any) -> Any:
    """What `wg.checkpoint` was given."""
    return getattr(function, "__wrapped__", None)


def _is_interesting(x: Any) -> bool:
    """Whether anything in a container is not the same in a run."""
    seen: set[int] = set()
    waiting = [x]
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, dict):
            x = list(x.values())
        if isinstance(x, (list, tuple, set, frozenset, deque)):
            waiting.extend(item for item in x if type(item) not in _PLAIN)
        elif _is_another(x):
            return True
    return False


def _is_another(x: Any) -> bool:
    """Whether something that is no container is not the same in a run."""
    if isinstance(x, PerturbedNumber):
        return _is_array(x)
    if isinstance(x, np.ndarray):
        return may_have_derivatives(x)
    return callable(x) or is_object(x) or isinstance(x, ModuleType)


def _is_data(x: Any, depth: int = 0) -> bool:
    """Whether a value is a number, text, an array, or a container of such."""
    if type(x) in (list, tuple, set, frozenset) and depth < 6:
        return all(_is_data(item, depth + 1) for item in x)
    if type(x) is dict and depth < 6:
        return all(_is_data(item, depth + 1) for item in x.values())
    if type(x) is np.ndarray:
        return not depth and x.dtype.kind in "biufc"
    return type(x) in _DATA


_DATA = frozenset((int, float, complex, str, bytes, bool, type(None)))
_PLAIN = frozenset((int, float, complex, str, bytes, bool, type(None), range, slice, type(...)))


# --- modules and their functions ------------------------------------------------------------


class Proxy(ModuleType):
    """A module whose names mean what they do in a run."""

    def __init__(self, module: ModuleType, world: World):
        object.__setattr__(self, "_module", module)
        object.__setattr__(self, "_world", world)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return ModuleType
        own = object.__getattribute__(self, "__dict__")
        world, module = own["_world"], own["_module"]
        return world.of(getattr(module, name))

    def __setattr__(self, name: str, value: Any) -> None:
        own = object.__getattribute__(self, "__dict__")
        scope = own["_world"].scope_of(vars(own["_module"]))
        scope[name] = value
        setattr(own["_module"], name, value)

    def __delattr__(self, name: str) -> None:
        own = object.__getattribute__(self, "__dict__")
        delattr(own["_module"], name)
        own["_world"].scope_of(vars(own["_module"])).pop(name, None)

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "__dict__")["_module"])


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


def _walked_by_numpy(*args: Any, **keywords: Any) -> Any:
    """`np.nditer`, which writes to arrays behind a run's back."""
    if not boxes_in((args, keywords)):
        return np.nditer(*args, **keywords)
    raise noting(
        UnknownFunction(
            "np.nditer walks over arrays in C, and its items are no numbers with derivatives",
            "Walk over the indices: `for k in np.ndindex(a.shape)`.",
            calling_span(),
        )
    )


class LibraryObject:
    """An object of a library that can be called in a run, as a distribution of SciPy's is."""

    def __init__(self, value: Any):
        self._value = value

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self._value)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return _called_with_real_types(self._value, args, keywords)

    def __getattr__(self, name: str) -> Any:
        return current(getattr(self._value, name))

    def __repr__(self) -> str:
        return repr(self._value)


class Draws:
    """A generator of random numbers in a run: what it draws may be written to what has derivatives."""

    def __init__(self, generator: Any):
        self._generator = generator

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return type(self._generator)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._generator, name)
        return _wrapped(found) if callable(found) else found

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._generator.__reduce_ex__(protocol)


def _draws(world: World, value: Any) -> Any:
    return world.keep(value, Draws(value))


def _wrapped(function: Any) -> Callable[..., Any]:
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
    call.__dict__["_recorded_"] = function
    return call


def _called_with_real_types(function: Any, args: Any, keywords: Any) -> Any:
    args = tuple([real_type(x) if isinstance(x, type) else x for x in args])
    for text in _texts(args):
        refuse_as_text(text)
    for name, x in keywords.items():
        if isinstance(x, type):
            keywords[name] = real_type(x)
    if boxes_in(args) or boxes_in(keywords):
        return called(function, args, keywords)
    if any(map(may_hold_boxes, (*args, *keywords.values()))):
        instead = manifest.stand_in_for(
            function
        )  # what the program's function gives may have derivatives
        if instead is not None:
            return current(instead)(*args, **keywords)
    found = anything(function, args, keywords)
    return current(found) if type(found) in _GENERATORS else found


def _texts(args: tuple[Any, ...]) -> Iterator[Any]:
    """The texts and bytes among operands, and in lists of them."""
    if args and running.get()[-1].texts:
        for x in args:
            yield from (x if isinstance(x, list) else [x] if isinstance(x, (str, bytes)) else [])


_GENERATORS = (np.random.Generator, np.random.RandomState)


def _builtin(world: World, value: Any) -> Any:
    """A function that is written in C."""
    if value in AS_TEXT:
        return world.keep(value, AS_TEXT[value])
    root = (getattr(value, "__module__", None) or "").partition(".")[0]
    owner = value.__self__
    if root in LIBRARIES or (owner is not None and type(owner).__name__ == "Generator"):
        return world.keep(value, _wrapped(value))
    if not isinstance(owner, (ModuleType, type(None), type)):
        return _bound_builtin(world, value, owner)
    return world.keep(value, value)


def _bound_builtin(world: World, value: Any, owner: Any) -> Any:
    """A method of a container, bound."""
    instead = world.of(owner)
    return value if instead is owner else getattr(instead, value.__name__)


def _module(world: World, value: ModuleType) -> Any:
    root = value.__name__.partition(".")[0]
    is_own = root not in sys.stdlib_module_names and root not in _LEFT_ALONE
    is_seen = root in LIBRARIES or is_own or value in MODULES
    return world.keep(value, Proxy(value, world) if is_seen else value)


def _dispatched(world: World, value: Any) -> Any:
    return world.keep(value, _wrapped(value))


_MAKE: dict[type, Callable[[World, Any], Any]] = {
    BuiltinFunctionType: _builtin,
    ModuleType: _module,
    np.ufunc: lambda world, value: world.keep(value, Ufunc(value)),
    type(np.sum): _dispatched,
    np.ndarray: World.array,
    np.recarray: World.array,
    list: World.of_list,
    tuple: World.of_tuple,
    dict: World.of_dict,
    set: World.of_set,
    frozenset: World.of_set,
    np.random.Generator: _draws,
    np.random.RandomState: _draws,
    deque: World.of_deque,
}

operations.current = current
