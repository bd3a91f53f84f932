"""Functions that are recorded once, for any number of derivatives: their run is a step of other runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..errors import BadTangent
from ..frontend.record.boxes import Recorded, at_level_below, fresh, is_active, operand
from ..frontend.record.run import Leaf, Parts, RecordedRun
from ..frontend.record.steps import set_dot
from ..frontend.record.sweeps import boxed
from ..frontend.record.tape import Sweep, Tape, running
from ..frontend.record.world import current
from ..numbers.arguments import copied, mapped_numbers
from ..numbers.number import value_of
from ..runtime.containers import CONTENTS, attributes_of, is_built_on_container
from ..runtime.gradients import parts_of_gradient
from . import calling


class ToRecord:
    """A function whose derivatives are recorded: what is written over other verbs is given it."""

    def __init__(self, function: Any, kwargs: dict[str, Any]):
        self.__name__ = calling.name_of(function)
        self.function = function
        self.kwargs = kwargs

    def __call__(self, *args: Any) -> Any:
        own = [
            mapped_numbers(
                x, lambda leaf: fresh(leaf.copy("K")) if np.ndim(value_of(leaf)) else leaf
            )
            for x in args
        ]
        return current(self.function)(*own, **self.kwargs)


class Once(ToRecord):
    """A function at a point, which is run there once: what it does, it does once.

    At the point it can be called as often as its derivatives need, with boxes of one run more than it was made in.
    """

    def __init__(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        argnums: Sequence[int],
    ):
        super().__init__(function, kwargs)
        run = RecordedRun(function, args, kwargs, argnums)
        run.detach()
        depth = len(running.get())

        def at(point: Sequence[Any]) -> Any:
            if len(running.get()) == depth:
                return copied(run.value)
            moving = tuple(point[k] for k in argnums)
            return step(lambda *_: copied(run.value), pulled, pushed, moving)

        def pulled(y_bar: Any, *_: Any) -> list[Any]:
            return run.gradients(paired(run.y, y_bar), argnums)

        def pushed(_: Any, dots: Sequence[Any]) -> Any:
            return run.tangent(
                [pair for k, dot in zip(argnums, dots, strict=True) for pair in along(run, k, dot)]
            )

        self.at = at
        """A function, as no run looks for arrays in what functions hold."""

    def __call__(self, *args: Any) -> Any:
        return self.at(args)


class Gradients(Once):
    """A function whose gradients are known at a point, by the arguments of some places."""

    def __init__(
        self,
        function: ToRecord,
        gradients: Callable[..., tuple[Any, ...]],
        args: Sequence[Any],
        argnums: Sequence[int],
    ):
        super().__init__(gradients, args, {}, argnums)
        self.gradients, self.at = self.at, lambda point: function(*point)
        self.argnums = tuple(argnums)


def step(
    function: Callable[..., Any],
    pulled: Callable[..., Sequence[Any]],
    pushed: Callable[[Any, Any], Any],
    args: tuple[Any, ...],
) -> Any:
    """What a function gives for boxes, as one step of the run that they belong to.

    Args:
        function: called with values in the place of the boxes, of any structure.
        pulled: gives the cotangents of the arguments, of that of the result and the arguments.
        pushed: gives the tangent of the result, of the arguments and their tangents.
        args: what holds the boxes.
    """
    tape = max((box.tape for box, _ in paired(args, args)), key=lambda tape: tape.level)
    plain = mapped_numbers(args, lambda x: copied(at_level_below(x, tape)))
    value = function(*plain)

    def as_box(x: Any) -> Any:
        return boxed(tape, copied(x)) if np.asarray(value_of(x)).dtype.kind in "fciu" else x

    y = mapped_numbers(value, as_box)
    given, result = Places(args, plain, tape), Places(y, value, tape)
    tape.entries.append(Step(given, result, pulled, pushed))
    return y


class Place:
    """What stands for a number in a structure: a container of boxes would be left with plain values."""

    __slots__ = ("operand",)

    def __init__(self, operand: Any):
        self.operand = operand


class Places:
    """The numbers of a structure, as operands of a tape.

    Attributes:
        plain: the structure, with numbers of the level below.
        leaves: the structure, with operands in the place of its numbers; None for what has no derivative.
    """

    def __init__(self, x: Any, plain: Any, tape: Tape):
        self._operands: list[Any] = []
        self.plain = plain
        self.leaves = mapped_numbers(x, lambda number: self._leaf(number, tape))

    def _leaf(self, number: Any, tape: Tape) -> Place:
        self._operands.append(
            operand(number, tape, keeps=False) if is_active(number, tape) else None
        )
        return Place(self._operands[-1])

    def derivatives(self, find: Callable[[Any], Any]) -> Any:
        """What is found for each operand, in the structure of a gradient; None if there is nothing."""
        found = [None if x is None else find(x) for x in self._operands]
        if all(each is None for each in found):
            return None
        each = iter(found)
        return mapped_numbers(self.plain, lambda _: next(each), gradient=True)

    def paired(self, derivatives: Any) -> Iterator[tuple[Any, Any]]:
        """The operands, each with its own of some derivatives."""
        for leaf, each in paired(self.leaves, derivatives):
            if leaf.operand is not None:
                yield leaf.operand, each


class Step:
    """A function whose derivatives are functions of their own."""

    __slots__ = ("given", "pulled", "pushed", "result")

    def __init__(
        self,
        given: Places,
        result: Places,
        pulled: Callable[..., Sequence[Any]],
        pushed: Callable[[Any, Any], Any],
    ):
        self.given, self.result, self.pulled, self.pushed = given, result, pulled, pushed

    def pull(self, sweep: Sweep) -> None:
        y_bar = self.result.derivatives(sweep.taken)
        if y_bar is not None:
            for x, bar in self.given.paired(self.pulled(y_bar, *self.given.plain)):
                sweep.add(x, bar)

    def push(self, sweep: Sweep) -> None:
        dots = self.given.derivatives(lambda x: x.dot(sweep))
        if dots is not None:
            for y, dot in self.result.paired(self.pushed(self.given.plain, dots)):
                set_dot(sweep, y, dot)


def along(run: RecordedRun, k: int, dot: Any) -> list[tuple[Leaf, Any]]:
    """The numbers and arrays of an argument, each with its tangent."""
    leaves = run.builds[k](lambda leaf: leaf)
    dots = [(leaf, each) for leaf, each in paired(leaves, dot) if isinstance(leaf, Leaf)]
    first = {
        id(leaf.box.number or leaf.box.memory): each for leaf, each in dots if not leaf.is_again
    }
    for leaf, each in dots:
        other = first.get(id(leaf.box.number or leaf.box.memory))
        if leaf.is_again and not np.array_equal(value_of(other), value_of(each)):
            raise BadTangent(
                "an object that an argument holds twice has two tangents here, and is one in a recorded run",
                "Give it the same tangent in both places, or pass a copy.",
            )
    return [(leaf, each) for leaf, each in dots if not leaf.is_again]


def paired(x: Any, other: Any) -> list[tuple[Any, Any]]:
    """The numbers of a structure, each with what stands in its place in another one; None stands for nothing."""
    if other is None or x is None:
        return []
    if isinstance(x, (Leaf, Place)) or type(x) is Recorded:
        return [(x, other)]
    if not isinstance(x, (list, tuple, dict)) or is_built_on_container(type(x)):
        has_items = CONTENTS in _parts(x) or (type(x) is SimpleNamespace and "contents" in vars(x))
        x, other = _parts(x, has_items=has_items), _parts(other, has_items=has_items)
    if isinstance(x, dict):
        return [pair for key, a in x.items() for pair in paired(a, other.get(key))]
    return [pair for a, b in zip(x, other, strict=True) for pair in paired(a, b)]


def _parts(x: Any, *, has_items: bool = False) -> dict[Any, Any]:
    """By name what an object holds, or its gradient; of what is built on a container, its items have a name too."""
    if isinstance(x, Parts):
        return vars(x)
    if has_items:
        return x if type(x) is dict and CONTENTS in x else parts_of_gradient(x)
    return x if type(x) is dict else attributes_of(x)
