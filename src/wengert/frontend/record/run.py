"""One recorded run of a function: its value, and sweeps over its tape."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType, SimpleNamespace
from typing import Any

import numpy as np

from ...errors import BadArgument, NoRule, UnsupportedSyntax, WengertError
from ...ir.callers import calling_span
from ...numbers.arguments import is_number, mapped_numbers, parts_of, with_parts
from ...numbers.number import PerturbedNumber, gathered, value_of
from ...numbers.results import like
from ...ops.array_classes import has_own_arithmetic, of_own_arithmetic
from ...ops.program.refusals import of_captured
from ...runtime.containers import attributes_of, built, is_built_on_container
from ...runtime.cotangents import zeros
from ...runtime.gradients import like_built_on
from . import reverse as reverse
from .boxes import Recorded, gathered_items, noting
from .classes import CLASS, PLAIN, blank, fill, is_object
from .handlers import is_of_c, met_in_c
from .leaving import Leaving
from .libraries import own_rule
from .memory import NUMPYS_OWN
from .searches import warn_of_searches
from .sweeps import Run
from .tape import Tape
from .world import World

Build = Callable[[Callable[["Leaf"], Any]], Any]
"""Puts together what belongs to an argument, of what is given for each of its numbers and arrays."""


class Leaf:
    """A number or an array that a run is differentiated by."""

    __slots__ = ("box", "example", "is_again")

    def __init__(self, box: Recorded, example: Any, *, is_again: bool = False):
        self.box = box
        self.example = example
        self.is_again = is_again
        """Whether it is part of an object that the argument has held before: its derivative is there."""

    def again(self) -> Leaf:
        return Leaf(self.box, self.example, is_again=True)

    def zeros(self) -> Any:
        return zeros(value_of(self.example))


@contextmanager
def not_too_deep() -> Generator[None]:
    """Refuse data that is nested more deeply than it can be gone through."""
    try:
        yield
    except RecursionError:
        raise UnsupportedSyntax(
            "what this is given is nested more deeply than a recorded run can go through",
            "Keep it in lists or arrays: a chain of objects, each of which holds the next one, is such a nest.",
            calling_span(),
        ) from None


class Parts:
    """An object of a result, by the names of its attributes."""

    __slots__ = ("__dict__", "of_class")

    def __init__(self, of_class: type, parts: dict[str, Any]):
        self.of_class = of_class
        vars(self).update(parts)


class RecordedRun:
    """A function that was run once, in boxes.

    Attributes:
        y: what it gave, its numbers as boxes.
        value: what it gave, plain.
        leaves: the numbers and arrays that the run is differentiated by.
        builds: by argument, what puts together a structure like it.
        rests_on: what global names meant when the run began, where it is to be written out.
    """

    def __init__(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        moving: Sequence[int],
        *,
        listed: bool = False,
    ):
        self.run = Run()
        self.leaves: list[Leaf] = []
        self.builds: dict[int, Build] = {}
        self._shared: dict[int, Build] = {}
        self._with_numbers: set[int] = set()
        """The containers and objects that hold numbers, by their identities."""
        self._of_others: set[int] = set()
        """What is held by arguments before this one, and by those that are not differentiated."""
        with self.run, World(self.run.tape) as world:
            if listed:
                self.run.tape.be_listed()
            self._world: Any = world
            leaving = Leaving(world)
            self.rests_on = world.rests_on
            try:
                with not_too_deep():
                    named = {name: world.of(x) for name, x in kwargs.items()}
                    given = [None if k in moving else world.of(x) for k, x in enumerate(args)]
                    self._of_others = set(world.known)
                    for k in moving:
                        given[k] = self._entered(k, args[k])
                y = gathered(world.of(function)(*given, **named))
                self._refuse_caught()
            except BaseException as error:
                leaving.plain(error)
                leaving.settle()
                leaving.sweep_out(0, set())
                if isinstance(error, Exception) and not isinstance(error, WengertError):
                    self._refuse_caught()  # a handler may have raised this in its place
                if is_of_c(error):
                    raise met_in_c(error) from error
                raise
            finally:
                given = named = None
            self.y = _structure(y, self.run.tape)
            leaving.settle()
            self.value = leaving.plain(y)
            del y
        self._leave(leaving)

    def _leave(self, leaving: Leaving) -> None:
        leaving.sweep_out(self._expected(), set(_containers(self.y)))
        self._world = None
        warn_of_searches(self.run, [leaf.box for leaf in self.leaves], boxes_in_structure(self.y))

    def _refuse_caught(self) -> None:
        """Raise what was refused in the run, though a handler of the program has caught it."""
        for refusal in self.run.tape.refusals:
            raise refusal

    def _expected(self) -> int:
        """How many references to the tape there are where the program keeps no box."""
        return (
            4 + len(self.leaves) + sum(x.tape is self.run.tape for x in boxes_in_structure(self.y))
        )

    def detach(self) -> None:
        """Keep what the sweeps need apart from what the caller may change from now on."""
        for memory in self.run.tape.memories:
            memory.is_written()

    # --- arguments --------------------------------------------------------------------------

    def _entered(self, k: int, x: Any) -> Any:
        made, build = self._enter(x)
        self.builds[k] = build
        self._of_others |= self._with_numbers
        return made

    def _enter(self, x: Any) -> tuple[Any, Build]:
        """What stands for a part of an argument, and how its gradient is put together."""
        if isinstance(x, np.ndarray) and x.dtype == object:
            items, build = self._enter_items(x.ravel().tolist())
            made = np.empty(x.size, dtype=object)
            made[:] = items
            made = self._world.keep(x, made.reshape(x.shape))
            return made, lambda of: np.array(build(of)).reshape(x.shape)
        if is_number(x):
            leaf = Leaf(self._boxed(x), x)
            self.leaves.append(leaf)
            return leaf.box.again(), lambda of: of(leaf)
        found = self._world.known.get(id(x))
        is_of_others = id(x) in self._of_others
        if found is not None and id(x) in self._shared:
            if is_of_others:
                raise UnsupportedSyntax(*_OF_TWO_ARGUMENTS)
            build = self._shared[id(x)]
            return found[1], lambda of: build(lambda leaf: of(leaf.again()))
        count = len(self.leaves)
        made, build = self._enter_container(x)
        self._shared[id(x)] = build
        if len(self.leaves) > count:
            if is_of_others:
                raise UnsupportedSyntax(*_OF_TWO_ARGUMENTS)
            self._with_numbers.add(id(x))
        return made, build

    def _boxed(self, x: Any) -> Recorded:
        array = value_of(x)
        if isinstance(array, np.ndarray):
            if type(array) not in NUMPYS_OWN and has_own_arithmetic(type(array)):
                raise BadArgument(*of_own_arithmetic(type(array)))
            memory = self.run.tape.memory_of(x, is_argument=True)
            memory.active = True
            return Recorded(x, self.run.tape, memory=memory)
        return self.run.boxed(x)

    def _enter_items(self, items: Sequence[Any]) -> tuple[list[Any], Callable[..., list[Any]]]:
        pairs = [self._enter(item) for item in items]
        builds = [build for _, build in pairs]
        return [made for made, _ in pairs], lambda of: [build(of) for build in builds]

    def _enter_container(self, x: Any) -> tuple[Any, Build]:
        world = self._world
        if is_built_on_container(type(x)):
            kept = attributes_of(x)
            if isinstance(x, tuple):
                items, build = self._enter_items(list(kept.values()))
                made = built(world.of(type(x)), dict(zip(kept, items, strict=True)))
            else:
                made = world.keep(x, blank(x, world.of(type(x))))
                with world.filling(made):
                    items, build = self._enter_items(list(kept.values()))
                    fill(made, dict(zip(kept, items, strict=True)))
            return made, lambda of: like_built_on(type(x), dict(zip(kept, build(of), strict=True)))
        if isinstance(x, tuple):
            items, build = self._enter_items(x)
            is_named = hasattr(x, "_fields")
            made = tuple.__new__(world.of(type(x)), items) if is_named else like(x, items)
            return made, lambda of: like(x, build(of))
        if isinstance(x, list):
            made = world.keep(x, type(x)())
            with world.filling(made):
                items, build = self._enter_items(x)
                made.extend(items)
            return made, lambda of: like(x, build(of))
        if isinstance(x, deque):
            made = world.keep(x, deque(maxlen=x.maxlen))
            with world.filling(made):
                items, build = self._enter_items(list(x))
                made.extend(items)
            return made, build
        if isinstance(x, dict):
            keys = list(x)
            made = world.keep(x, _empty_like(x))
            with world.filling(made):
                items, build = self._enter_items(list(x.values()))
                for key, item in zip(keys, items, strict=True):
                    made[key] = item  # a `Counter` has an `update` of its own
            return made, lambda of: dict(zip(keys, build(of), strict=True))
        return self._enter_object(x)

    def _enter_object(self, x: Any) -> tuple[Any, Build]:
        parts = self._parts_of(x)
        if parts and isinstance(x, FunctionType) and own_rule(x) is not None:
            captured = [name for name, part in parts.items() if _numbers_in(part)]
            if captured:
                made = self._world.keep(x, _refused_when_called(x.__qualname__, captured[0]))
                return made, lambda of: mapped_numbers(x, zeros, gradient=True)
        if not parts or isinstance(x, BaseException):
            return self._world.of(x), lambda of: None
        names = list(parts)
        if is_object(x):
            made = self._world.keep(x, blank(x, self._world.of(type(x))))
            with self._world.filling(made):
                items, build = self._enter_items(list(parts.values()))
                fill(made, dict(zip(names, items, strict=True)))
        else:
            items, build = self._enter_items(list(parts.values()))
            of_it = dict(zip(names, items, strict=True))
            is_method = isinstance(x, MethodType)
            made = MethodType(*items[::-1]) if is_method else self._world.of(with_parts(x, of_it))

        def gradient(of: Any) -> Any:
            bars = dict(zip(names, build(of), strict=True))
            if hasattr(x, "__dataclass_fields__"):
                return with_parts(x, bars)
            return SimpleNamespace(**bars)

        return made, gradient

    def _parts_of(self, x: Any) -> dict[str, Any]:
        """By name what an object, a function or a method of an object keeps: unless it is in that object."""
        if not isinstance(x, MethodType):
            return parts_of(x)
        owner = x.__self__
        is_inside = id(owner) in self._world.known and id(owner) not in self._shared
        if is_inside or not is_object(owner):
            return {}
        return {"__self__": owner, "__func__": x.__func__}

    # --- sweeps -----------------------------------------------------------------------------

    def gradients(self, pairs: Sequence[tuple[Any, Any]], which: Sequence[int]) -> list[Any]:
        """The cotangents of arguments, for those of the numbers in the result."""
        found = self._pulled(pairs)

        def of(leaf: Leaf) -> Any:
            return leaf.zeros() if leaf.is_again else like_leaf(found.get(id(leaf)), leaf)

        return [self.builds[k](of) for k in which]

    def _pulled(self, pairs: Sequence[tuple[Any, Any]]) -> dict[int, Any]:
        boxes = [leaf.box for leaf in self.leaves]
        ys, bars = [y for y, _ in pairs], [bar for _, bar in pairs]
        bars = self.run.pulled(ys, bars, boxes)
        return {id(leaf): bar for leaf, bar in zip(self.leaves, bars, strict=True)}

    def tangent(self, dots: Sequence[tuple[Leaf, Any]]) -> Any:
        """The tangent of the result, for those of numbers and arrays of the arguments."""
        boxes = [leaf.box for leaf, _ in dots]
        results = boxes_in_structure(self.y)
        found = self.run.pushed(boxes, [dot for _, dot in dots], results)
        return _tangent_of(self.y, {id(y): dot for y, dot in zip(results, found, strict=True)})


_OF_TWO_ARGUMENTS = (
    "two arguments hold one object, and a recorded run cannot tell whose derivative is whose",
    "Pass a copy; or differentiate `lambda x: f(x, x)`, which is one function of one object.",
)


def _numbers_in(x: Any) -> list[Any]:
    found: list[Any] = []
    mapped_numbers(x, found.append)
    return found


def _refused_when_called(function: str, captured: str) -> Callable[..., Any]:
    """A function with a rule, which says nothing about what the function has captured and is differentiated."""

    def refuse(*args: Any, **keywords: Any) -> Any:
        raise noting(NoRule(*of_captured(function, captured), calling_span()))

    return refuse


def _empty_like(x: dict[Any, Any]) -> Any:
    import copy

    made = copy.copy(x)
    made.clear()
    return made


def _structure(y: Any, tape: Tape) -> Any:
    """A result in containers and boxes of its own: those of the program get plain values, and may be left anywhere."""
    if type(y) is Recorded and y.tape is tape:
        # without what its square is, which would hold boxes of the run
        return Recorded(y.below, tape, y.number, y.memory)
    if isinstance(y, PerturbedNumber) or is_number(y):
        return gathered_items(y)
    is_built = is_built_on_container(type(y))
    if isinstance(y, (list, tuple)) and not is_built:
        return like(y, [_structure(item, tape) for item in y])
    if isinstance(y, dict) and not is_built:
        return {key: _structure(item, tape) for key, item in y.items()}
    if is_built or is_object(y):
        parts = attributes_of(y).items()
        cls = vars(type(y)).get(CLASS, type(y))
        return Parts(cls, {name: _structure(item, tape) for name, item in parts})
    return y


def _containers(y: Any) -> Iterator[int]:
    """The identities of the containers that a result consists of."""
    if isinstance(y, Parts):
        y = vars(y)
    if type(y) in (list, dict, tuple) or hasattr(y, "_fields"):
        yield id(y)
        for item in y.values() if isinstance(y, dict) else y:
            yield from _containers(item)


def boxes_in_structure(y: Any) -> list[Recorded]:
    """The boxes of a result."""
    if type(y) is Recorded:
        return [y]
    if isinstance(y, Parts):
        y = vars(y)
    if isinstance(y, dict):
        y = list(y.values())
    return (
        [box for item in y for box in boxes_in_structure(item)]
        if type(y) in (list, tuple) or hasattr(y, "_fields")
        else []
    )


def holds_one_of(x: Any, classes: tuple[type, ...], seen: set[int] | None = None) -> bool:
    """Whether arguments hold an object of some classes: in what objects keep, and what functions have captured."""
    seen = set() if seen is None else seen
    kind = type(x)
    if kind in classes:
        return True
    if kind in PLAIN or (isinstance(x, np.ndarray) and x.dtype != object) or id(x) in seen:
        return False
    seen.add(id(x))
    if isinstance(x, np.ndarray):
        items: Any = x.ravel().tolist()
    elif isinstance(x, (list, tuple, set, frozenset)):
        items = x
    elif isinstance(x, dict):
        items = x.values()
    else:
        items = parts_of(x).values()
    return any(holds_one_of(item, classes, seen) for item in items)


def _tangent_of(y: Any, dots: dict[int, Any]) -> Any:
    if type(y) is Recorded:
        dot = dots.get(id(y))
        return zeros(value_of(y)) if dot is None else _typed(dot, value_of(y))
    if isinstance(y, PerturbedNumber) or is_number(y):
        return zeros(value_of(y))
    if isinstance(y, (list, tuple)):
        return like(y, [_tangent_of(item, dots) for item in y])
    if isinstance(y, dict):
        return {key: _tangent_of(item, dots) for key, item in y.items()}
    if isinstance(y, Parts):
        parts = {name: _tangent_of(item, dots) for name, item in vars(y).items()}
        if is_built_on_container(y.of_class):
            return like_built_on(y.of_class, parts)
        is_plain = not hasattr(y.of_class, "__dataclass_fields__")
        made = SimpleNamespace() if is_plain else object.__new__(y.of_class)
        fill(made, parts)
        return made
    return None


def _typed(dot: Any, y: Any) -> Any:
    if isinstance(dot, PerturbedNumber):
        return dot
    if type(y) in (float, int):
        return float(dot)
    return complex(dot) if type(y) is complex else dot


def like_leaf(bar: Any, leaf: Leaf) -> Any:
    """A cotangent in the type of what it belongs to."""
    x = leaf.example
    if bar is None:
        return leaf.zeros()
    if isinstance(bar, PerturbedNumber):
        return bar
    value = value_of(x)
    if isinstance(value, np.ndarray):
        dtype = value.dtype if value.dtype.kind in "fc" else np.dtype(np.float64)
        return np.array(bar, dtype=dtype).reshape(value.shape)
    if isinstance(value, complex) and not isinstance(value, np.generic):
        return complex(bar)
    if isinstance(value, (float, int)) and not isinstance(value, np.generic):
        return float(bar)
    return bar
