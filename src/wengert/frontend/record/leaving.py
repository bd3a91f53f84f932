"""What a run leaves behind, as the program would have left it: plain values in the program's own objects."""

from __future__ import annotations

import functools
import gc
import sys
from collections import OrderedDict, deque
from collections.abc import Mapping
from contextlib import suppress
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...numbers.number import PerturbedNumber
from ...runtime.containers import CONTENTS, attributes_of, hold, is_built_on_container, refill
from .boxes import Recorded
from .builtins import BUILTINS, StandsFor
from .classes import CLASS, PLAIN, is_object, is_own_class
from .scopes import Scope, is_scope
from .world import World


def _is_of_run(x: Any) -> bool:
    """Whether this is a function of a run, which has its names."""
    return isinstance(x, FunctionType) and x.__globals__.get("__builtins__") is BUILTINS


def _class_with(holder: Any) -> type | None:
    """The class that a dictionary has the attributes of: written to past the class, Python would read old ones."""
    if type(holder) is not dict:
        return None
    return next((each for each in gc.get_referrers(holder) if isinstance(each, type)), None)


class Leaving:
    """The end of a run: `plain` gives what stands in it for a value of the program."""

    def __init__(self, world: World):
        self._world = world
        self._tape = world.tape
        self._filled: set[int] = set()
        self._waiting: list[Any] = []
        self._is_refilling = False
        self._made: dict[int, tuple[Any, Any]] = {id(BUILTINS): (BUILTINS, BUILTINS)}

    def settle(self) -> None:
        """Leave in the program's objects what the run has left in what stood for them."""
        world = self._world
        for made, original in tuple(world.originals.values()):
            if id(made) in world.unfilled:
                continue
            if isinstance(original, type):
                self._fill_class(original, made)
            elif isinstance(original, FunctionType) and _is_of_run(made):
                self._fill_dict(vars(original), vars(made))
            elif not isinstance(original, (FunctionType, ModuleType, np.ndarray)):
                self._fill(original, made)
                self._fill(made, made)  # something of the program that is not known of may hold it
        for made, cell, given in world.cells:
            content = getattr(made, "cell_contents", None)
            plain = self.plain(content)
            if content is not given:
                cell.cell_contents = plain
            if type(content) is Recorded:
                made.cell_contents = plain
        for scope in world.scopes.values():
            self._leave_names(scope)
            scope.end()
        for names, name in self._tape.names:
            names[name] = self.plain(names.get(name))

    def _leave_names(self, scope: Scope) -> None:
        names = scope.names
        for name, value in scope.changed().items():
            names[name] = scope[name] = plain = self.plain(value)
            if type(plain) is Recorded:
                plain.tape.names.append((names, name))
        for name in scope.deleted():
            names.pop(name, None)

    def plain(self, x: Any) -> Any:
        """A value as the program would have it; what it holds is changed in place."""
        kind = type(x)
        if kind in PLAIN or (kind is np.ndarray and x.dtype != object):
            return x
        if kind is Recorded:
            return self.plain(x.value) if x.tape is self._tape else x
        found = self._world.originals.get(id(x)) or self._made.get(id(x))
        if found is not None:
            return found[1]
        if isinstance(x, PerturbedNumber):
            return x
        if kind is StandsFor:
            return x.real
        if isinstance(x, type):
            return vars(x).get(CLASS, x)
        if isinstance(x, tuple):
            return self._tuple(x)
        if kind is FunctionType:
            return self._function(x)
        if isinstance(x, MethodType):
            return MethodType(self.plain(x.__func__), self.plain(x.__self__))
        if isinstance(x, ModuleType):
            return x
        if id(x) not in self._filled:
            self._filled.add(id(x))
            self._made[id(x)] = x, x
            self._refill(x)
        return x

    def _refill(self, x: Any) -> None:
        """Have a container or an object hold plain values: one after the other, however deeply they are nested."""
        self._waiting.append(x)
        if not self._is_refilling:
            self._is_refilling = True
            while self._waiting:
                x = self._waiting.pop()
                self._fill(x, x)
            self._is_refilling = False

    def _tuple(self, x: tuple[Any, ...]) -> Any:
        items = [self.plain(item) for item in x]
        own = getattr(x, "__dict__", {})
        kept = {name: self.plain(value) for name, value in own.items()}
        pairs = [*zip(items, x, strict=True), *((kept[name], own[name]) for name in own)]
        cls = vars(type(x)).get(CLASS, type(x))
        if cls is type(x) and all(a is b for a, b in pairs):
            return x
        made = tuple.__new__(cls, items)
        self._made[id(x)] = x, made
        if kept:
            vars(made).update(kept)
        return made

    def _function(self, x: FunctionType) -> Any:
        """A function that the program has made: with the global names of the program."""
        for cell in x.__closure__ or ():
            self._fill_cell(cell)
        if not _is_of_run(x):
            return x
        names = self._world.names_of(x.__globals__)
        if names is None:
            return x
        made = FunctionType(x.__code__, names, x.__name__, None, x.__closure__)
        self._made[id(x)] = x, made
        made.__defaults__ = self.plain(x.__defaults__)
        made.__kwdefaults__ = x.__kwdefaults__ and {
            k: self.plain(v) for k, v in x.__kwdefaults__.items()
        }
        made.__qualname__, made.__module__, made.__doc__ = x.__qualname__, x.__module__, x.__doc__
        made.__dict__.update({k: self.plain(v) for k, v in vars(x).items()})
        return made

    def _fill_cell(self, cell: CellType) -> None:
        if id(cell) in self._filled:
            return
        self._filled.add(id(cell))
        self._made[id(cell)] = cell, cell
        try:
            content = cell.cell_contents
        except ValueError:
            return
        plain = self.plain(content)
        if plain is not content:
            cell.cell_contents = plain

    def _fill_class(self, original: Any, made: Any) -> None:
        """Class attributes that the run has set."""
        for name, value in list(vars(made).items()):
            is_code = isinstance(value, (FunctionType, staticmethod, classmethod, property))
            dunder = name.startswith("__") and name.endswith("__")
            if not (
                is_code or dunder or name == CLASS or isinstance(value, functools.cached_property)
            ):
                plain = self.plain(value)
                if vars(original).get(name, self) is not plain:
                    setattr(original, name, plain)

    def _fill(self, x: Any, made: Any) -> None:
        """Have a container or an object of the program hold what its stand-in does."""
        if isinstance(x, PerturbedNumber) or x is BUILTINS or is_scope(x):
            return
        if is_built_on_container(type(x)):
            self._fill_object(x, made)
        elif isinstance(x, list):
            items = [self.plain(item) for item in made]
            if len(items) != len(x) or any(a is not b for a, b in zip(items, x, strict=True)):
                x[:] = items
        elif isinstance(x, dict):
            self._fill_dict(x, made)
        elif isinstance(x, (set, deque)):
            items = [self.plain(item) for item in made]
            if len(items) != len(x) or any(a is not b for a, b in zip(items, x, strict=True)):
                x.clear()
                (x.update if isinstance(x, set) else x.extend)(items)  # pyright: ignore[reportUnknownMemberType]
        elif isinstance(x, np.ndarray):
            for index in np.ndindex(x.shape) if x.dtype == object else ():
                x[index] = self.plain(made[index])
        elif isinstance(x, BaseException):
            x.args = self.plain(x.args)
            self._fill_object(x, x)
        elif is_object(x) or hasattr(type(x), CLASS):
            self._fill_object(x, made)

    def _fill_dict(self, x: dict[Any, Any], made: dict[Any, Any]) -> None:
        entries = {self.plain(key): self.plain(item) for key, item in made.items()}
        same_keys = len(entries) == len(x) and all(a is b for a, b in zip(entries, x, strict=True))
        if same_keys and all(entries[key] is item for key, item in x.items()):
            return
        own: Any = OrderedDict if isinstance(x, OrderedDict) else dict
        if not same_keys:
            own.clear(x)
        for key, item in entries.items():
            own.__setitem__(x, key, item)

    def _fill_object(self, x: Any, made: Any) -> None:
        before = attributes_of(x)
        after = attributes_of(made)
        if CONTENTS in after:
            items = after.pop(CONTENTS)
            before.pop(CONTENTS, None)
            held: Any = (
                {self.plain(k): self.plain(v) for k, v in items.items()}
                if isinstance(items, dict)
                else list(map(self.plain, items))
            )
            if not isinstance(x, tuple):
                refill(x, {CONTENTS: held})
        for name, item in after.items():
            plain = self.plain(item)
            if name not in before or before[name] is not plain:
                hold(x, name, plain)
        for name in before:
            if name not in after:
                object.__delattr__(x, name)
        original = getattr(type(x), CLASS, None) if CLASS in vars(type(x)) else None
        if original is not None:
            with suppress(TypeError):  # it may be laid out otherwise
                object.__setattr__(x, "__class__", original)

    def sweep_out(self, expected: int, kept: set[int]) -> None:
        """Bring plain values to where boxes are still held: caches, attributes of what the run did not know of.

        Args:
            expected: how many references to the tape there are where nothing else holds a box; 0 where a
                traceback does.
            kept: containers of the recorder's own, by their identity.
        """
        if sys.getrefcount(self._tape) <= expected:
            return
        self._let_go()
        self._forget_pairs()
        if sys.getrefcount(self._tape) <= expected:
            return
        # containers of the program that held nothing of interest when the run began, first: the heap is large
        for x, made in tuple(self._world.known.values()):
            if made is x and isinstance(x, (list, dict, set, deque, np.ndarray)):
                # arrays of objects among them, of which the collector knows nothing
                self._fill(x, x)
            elif made is x and isinstance(x, type) and is_own_class(x):
                self._fill_class(x, x)
        if sys.getrefcount(self._tape) <= expected:
            return
        # garbage in circles holds boxes as well: closures that know themselves, linked objects
        for generation in (1, 2) if expected else ():
            gc.collect(generation)
            if sys.getrefcount(self._tape) <= expected:
                return
        boxes = [x for x in gc.get_referrers(self._tape) if type(x) is Recorded]
        if not boxes:
            return
        own = {*kept, id(boxes), id(self.__dict__), id(self._made), id(self._filled)}
        holders = gc.get_referrers(*boxes)
        for holder in holders:
            if id(holder) in own or isinstance(holder, PerturbedNumber):
                continue
            if isinstance(holder, CellType):
                self._fill_cell(holder)
            elif is_scope(holder):  # of a run around this one
                boxed = {name: x for name, x in holder.items() if type(x) is Recorded}
                holder.update({name: self.plain(x) for name, x in boxed.items()})
            elif (cls := _class_with(holder)) is not None:
                self._fill_class(cls, cls)
            elif isinstance(holder, (list, dict, set, deque)) or is_object(holder):
                self._fill(holder, holder)
        tuples = [x for x in holders if isinstance(x, tuple)]
        del holders
        for holder in gc.get_referrers(*tuples) if tuples else ():
            if isinstance(holder, (list, dict)) and id(holder) not in own and holder is not tuples:
                self._fill(holder, holder)

    def _let_go(self) -> None:
        """Let go of boxes that only the recorder holds: of arrays that the run has read where the program has them."""
        world = self._world
        for made, original in tuple(world.originals.values()):
            if isinstance(original, FunctionType) and isinstance(made, FunctionType):
                made.__defaults__ = self.plain(made.__defaults__)
                for holder in (vars(made), made.__kwdefaults__ or {}):
                    holder.update(self._unboxed(holder))
            elif isinstance(original, type) and isinstance(made, type):
                for name, plain in self._unboxed(vars(made)).items():
                    type.__setattr__(made, name, plain)
        for scope in world.scopes.values():
            scope.update(self._unboxed(scope))
            scope.given.clear()
        world.cells.clear()
        world.known = {key: (x, made) for key, (x, made) in world.known.items() if made is x}

    def _forget_pairs(self) -> None:
        """Forget what boxes and tuples stand for that nothing else holds."""
        for pairs in (self._made, self._world.originals):
            for key in reversed(tuple(pairs)):  # what holds others comes after these
                held_once = sys.getrefcount(pairs[key][0]) == 2  # by the pair
                if held_once and isinstance(pairs[key][0], (Recorded, tuple)):
                    del pairs[key]

    def _unboxed(self, names: Mapping[str, Any]) -> dict[str, Any]:
        """By name, plain values of what is a box there or a tuple with boxes."""
        held = {name: x for name, x in names.items() if isinstance(x, (Recorded, tuple))}
        plain = {name: self.plain(x) for name, x in held.items()}
        return {name: x for name, x in plain.items() if x is not held[name]}
