"""The program of one run: its own functions, classes and data, with other meanings for what takes floats alone.

Nothing of the program is changed: functions are copied with global names of their own, classes are derived from,
containers and objects that hold such things, or numbers that are differentiated by, have stand-ins. `leaving` brings
back what the run has left in them.
"""

from __future__ import annotations

import copy
import functools
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any, Self

import numpy as np

from ...numbers.number import PerturbedNumber
from ...runtime.containers import CONTENTS, attributes_of, is_built_on_container
from ..polyfills import manifest
from .as_text import INSTEAD
from .boxes import Recorded, from_outside
from .builtins import BUILTINS, TYPES
from .classes import (
    CLASS,
    LEFT_ALONE,
    LIBRARIES,
    PLAIN,
    blank,
    data_of,
    fill,
    is_array,
    is_data,
    is_interesting,
    is_iterator,
    is_object,
    is_own_class,
    is_told_of_subclasses,
    items_of,
    methods_of,
    unannounced,
)
from .code import WENGERT, closes_over_code, is_polyfill, is_standard, names_read_by_c
from .libraries import (
    SPELLINGS,
    Iterated,
    LibraryObject,
    Spelling,
    Ufunc,
    has_methods_alone,
    note_holder,
    of_builtin,
    of_dispatched,
    of_generator,
    of_module,
    own_rule,
    walked_by_numpy,
    wrapped,
)
from .memory import may_have_derivatives
from .operations import operations
from .scopes import ModuleNames, Scope, is_scope
from .tape import FLOATS, Tape

_worlds: ContextVar[tuple[World, ...]] = ContextVar("the programs that are recorded", default=())


def current(value: Any) -> Any:
    """What stands for a value in the program that is being recorded; the value, if there is none."""
    worlds = _worlds.get()
    return worlds[-1].of(value, of_library=True) if worlds else value


def of_library(function: FunctionType) -> Any:
    """The Python of a function of a library, as code of the program that is being recorded."""
    world = _worlds.get()[-1]
    instead = world.of(function)
    return world.copied(function) if hasattr(instead, "_recorded_") else instead


class World:
    """What each thing of a program is in one run."""

    def __init__(self, tape: Tape):
        self.tape = tape
        self.known: dict[int, tuple[Any, Any]] = {}
        """By the identity of a thing, that thing and what stands for it."""
        self.originals: dict[int, tuple[Any, Any]] = {}
        """By the identity of a stand-in, that and what it stands for."""
        self.scopes: dict[int, Scope] = {}
        """Global names of the run, by the identity of the program's."""
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
        if kind in PLAIN or (isinstance(value, PerturbedNumber) and not is_array(value)):
            return value
        found = self.known.get(id(value))
        if found is not None:
            return found[1]
        if kind is Recorded:  # of a run around this one
            return self.keep(value, from_outside(value))
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
        own = own_rule(function)
        if own is not None:
            return self.keep(function, own)
        file = function.__code__.co_filename
        if file.startswith(WENGERT) and not is_polyfill(file) and not of_library:
            steered = getattr(function, "__wrapped__", None)  # what `wg.checkpoint` was given
            return self.keep(function, function if steered is None else self.of(steered))
        root = (function.__module__ or "").partition(".")[0]
        if not of_library and root in LIBRARIES and not file.startswith(WENGERT):
            return self.keep(function, wrapped(function))
        if not of_library and (root in LEFT_ALONE or is_standard(file)):
            if not is_polyfill(file) and not closes_over_code(function):
                return self._of_standard_library(function)
        return self.copied(function)

    def _of_standard_library(self, function: FunctionType) -> Any:
        if function in INSTEAD:
            return self.keep(function, INSTEAD[function])
        instead = manifest.stand_in_for(function)
        return self.keep(function, function if instead is None else wrapped(function))

    def copied(self, function: FunctionType) -> FunctionType:
        """A function of the run with the code of another."""
        code = function.__code__
        scope = self.scope_of(function.__globals__)
        known = self.known.get(id(function))
        named = zip(code.co_freevars, function.__closure__ or (), strict=True)
        # `super()` goes on from the program's own class, which is the next one of the run's
        closure = tuple([c if name == "__class__" else self._cell(c) for name, c in named])
        copied_by_cell = self.known.get(id(function))
        if copied_by_cell is not None and copied_by_cell is not known:
            return copied_by_cell[1]  # one of its cells holds it
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
        scope.read(names_read_by_c(code))
        return made

    def _items(self, items: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        return None if items is None else tuple(map(self.of, items))

    def scope_of(self, names: dict[str, Any]) -> Scope:
        found = self.scopes.get(id(names))
        if found is None:
            found = self.scopes[id(names)] = Scope(names, self._read)
        return found

    def names_of(self, scope: Any) -> dict[str, Any] | None:
        """The program's global names of which the run has these."""
        is_ours = type(scope) is Scope and self.scopes.get(id(scope.names)) is scope
        return scope.names if is_ours else None

    def _read(self, names: dict[str, Any], name: str) -> Any:
        """What a global name means in the run that it reads it in."""
        meant = names[name]
        if self.tape.is_listed and is_data(meant):
            root = names.get("__name__", "").partition(".")[0]
            if root != "wengert" and root not in LIBRARIES:
                self.rests_on.append((names, name, copy.deepcopy(meant)))
        before = len(self._fills)
        instead = self.of(meant)
        self._fill_down_to(before)  # what is filled may have asked for this
        return instead

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
            return self.keep(cls, walked_by_numpy)
        is_replaced = cls in (np.vectorize, np.ndenumerate) or cls.__module__.startswith("scipy.")
        instead = manifest.stand_in_for(cls) if is_replaced else None
        if instead is not None:
            # what is filled item by item may be given boxes later
            is_filled = cls.__name__.startswith(("lil_", "dok_")) or cls.__name__ == "at"
            return self.keep(cls, self.of(instead) if is_filled else wrapped(cls))
        if not is_own_class(cls) or CLASS in vars(cls):
            if type(cls) is not type and cls.__flags__ & 1 << 9:
                note_holder(self, dict(vars(cls)), f"class {cls.__name__}")
            return self.known.setdefault(id(cls), (cls, cls))[1]
        names, data = methods_of(cls), data_of(cls)
        bases = [base for base in map(self.of, cls.__bases__) if CLASS in vars(base)]
        if id(cls) in self.known:
            return self.known[id(cls)][1]  # a method of one of its bases refers to it
        self.known[id(cls)] = cls, cls
        if not names and not bases and not data:
            return cls
        empty = {"__slots__": (), CLASS: cls, "__module__": cls.__module__, "__doc__": cls.__doc__}
        meta: Any = type(cls)
        first = [unannounced()] if is_told_of_subclasses(cls) else []
        try:
            made: Any = meta.__new__(meta, cls.__name__, (*first, cls, *bases), empty)
        except TypeError:
            return cls
        made.__qualname__ = cls.__qualname__
        self.keep(cls, made)
        for name, attribute in names.items():
            if name in ("__name__", "__qualname__"):
                continue  # of instances: as an attribute of the class it is a text
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
        if may_have_derivatives(x):
            return self.keep(x, from_outside(x))
        if x.dtype == object:
            note_holder(self, x)
            return self.keep(x, x)
        return x

    def of_list(self, x: list[Any]) -> Any:
        if not is_interesting(x, self._note_keys):
            return self.keep(x, x)
        made = self.keep(x, copy.copy(x))
        return self._to_be_filled(made, lambda: made.__setitem__(slice(None), [*map(self.of, x)]))

    def of_tuple(self, x: tuple[Any, ...]) -> Any:
        items = [self.of(item) for item in x]
        if all(a is b for a, b in zip(items, x, strict=True)):
            return x
        return self.keep(x, tuple.__new__(type(x), items))

    def of_dict(self, x: dict[Any, Any]) -> Any:
        if is_scope(x):  # `vars(module)`, or `globals()` of the run
            return ModuleNames(self.scope_of(self.names_of(x) or x))
        if not is_interesting(x, self._note_keys):
            return self.keep(x, x)
        made = self.keep(x, copy.copy(x))

        def fill() -> None:
            for key, item in x.items():
                dict.__setitem__(made, key, self.of(item))

        return self._to_be_filled(made, fill)

    def _note_keys(self, keys: Iterable[Any]) -> None:
        """Note entries by floats, also in tuples: what a number with a derivative finds by them has none."""
        parts = (part for key in keys for part in (key if type(key) is tuple else (key,)))
        if any(type(part) in FLOATS for part in parts):
            self.tape.meets_entries_by_floats = True

    def of_set(self, x: Any) -> Any:
        if not is_interesting(x, self._note_keys):
            return self.keep(x, x)
        before = len(self._fills)
        items = [*map(self.of, x)]
        self._fill_down_to(before)  # an item may be hashed by what it holds
        return self.keep(x, type(x)(items))

    def of_deque(self, x: deque[Any]) -> Any:
        if not is_interesting(x, self._note_keys):
            return self.keep(x, x)
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
                return self.keep(x, wrapped(x))
            return MethodType(self.of(x.__func__), self.of(x.__self__))
        if isinstance(x, functools._lru_cache_wrapper):  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            options = x.cache_parameters()
            made = functools.lru_cache(options["maxsize"], options["typed"])(self.of(x.__wrapped__))
            return self.keep(x, made)
        if type(x) is weakref.ref:
            return self.keep(x, lambda: self.of(x()))
        if is_iterator(x):
            return self.keep(x, Iterated(x, self.of))
        if type(x) is np.vectorize:
            make = self.of(manifest.stand_in_for(np.vectorize))
            excluded = self.of(x.excluded)
            return self.keep(
                x, make(self.of(x.pyfunc), x.otypes, None, excluded, x.cache, x.signature)
            )
        if isinstance(x, SPELLINGS):
            return self.keep(x, Spelling(x))
        if isinstance(x, tuple):
            return self.of_tuple(x)
        if isinstance(x, (dict, list)) and not is_built_on_container(type(x)):
            return self.of_dict(x) if isinstance(x, dict) else self.of_list(x)
        if not is_object(x):
            note_holder(self, x)
            in_run = getattr(type(x), "in_run", None)
            if in_run is not None:
                return self.keep(x, in_run(x, self.of))
            return self.keep(x, LibraryObject(x) if has_methods_alone(x) else x)
        return self.stand_in(x, self.of)

    def stand_in(self, x: Any, of: Callable[[Any], Any]) -> Any:
        """An object of the run for one of the program's."""
        made = self.keep(x, blank(x, self.of(type(x))))
        attributes = attributes_of(x)
        return self._to_be_filled(
            made,
            lambda: fill(
                made,
                {
                    name: items_of(x, of) if name == CONTENTS else of(x)
                    for name, x in attributes.items()
                },
            ),
        )


_MAKE: dict[type, Callable[[World, Any], Any]] = {
    BuiltinFunctionType: of_builtin,
    ModuleType: of_module,
    np.ufunc: lambda world, value: world.keep(value, Ufunc(value)),
    type(np.sum): of_dispatched,
    np.ndarray: World.array,
    np.recarray: World.array,
    list: World.of_list,
    tuple: World.of_tuple,
    dict: World.of_dict,
    Scope: World.of_dict,
    set: World.of_set,
    frozenset: World.of_set,
    np.random.Generator: of_generator,
    np.random.RandomState: of_generator,
    deque: World.of_deque,
}

operations.current = current
operations.of_library = of_library
