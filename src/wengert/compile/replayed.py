"""Functions that are recorded once, for any number of derivatives: their run is a step of other runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..frontend.record.boxes import Recorded, fresh, is_active, operand
from ..frontend.record.run import Leaf, Parts, RecordedRun
from ..frontend.record.sweeps import Replayed, boxed
from ..frontend.record.tape import Tape, running
from ..frontend.record.world import current
from ..numbers.arguments import copied, mapped_numbers, with_parts
from ..numbers.number import value_of
from ..numbers.results import like
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
            is_plain = len(running.get()) == depth
            return copied(run.value) if is_plain else _replayed(run, point, running.get()[-1])

        self.at = at
        """A function, as no run looks for arrays in what functions hold."""

    def __call__(self, *args: Any) -> Any:
        return self.at(args)


class Gradients(Once):
    """The gradients of a function at a point, by the arguments of some places."""

    def __init__(
        self,
        function: Any,
        args: Sequence[Any],
        kwargs: dict[str, Any],
        argnums: Sequence[int],
    ):
        super().__init__(function, args, kwargs, argnums)
        self.argnums = tuple(argnums)


def _replayed(run: RecordedRun, point: Sequence[Any], tape: Tape) -> Any:
    """The result of a run, as one step of another one."""
    given: list[tuple[Recorded, Any]] = []
    for k, build in run.builds.items():
        for leaf, x in paired(build(lambda leaf: leaf), point[k]):
            if is_active(x, tape):
                given.append((leaf.box, operand(x, tape, keeps=False)))
    results: list[tuple[Recorded, Any]] = []

    def seen(y: Any, value: Any) -> Any:
        if type(y) is Recorded and y.tape is run.run.tape:
            box = boxed(tape, copied(y.value))
            results.append((y, operand(box, tape, keeps=False)))
            return box
        if isinstance(y, (list, tuple)):
            return like(y, [seen(a, b) for a, b in zip(y, value, strict=True)])
        if isinstance(y, dict):
            return {key: seen(item, value[key]) for key, item in y.items()}
        if isinstance(y, Parts):
            return with_parts(value, {k: seen(x, getattr(value, k)) for k, x in vars(y).items()})
        return value

    y = seen(run.y, run.value)
    tape.entries.append(Replayed(run.run, given, results))
    return y


def paired(x: Any, other: Any) -> list[tuple[Any, Any]]:
    """The numbers of a structure, each with what stands in its place in another one; None stands for nothing."""
    if other is None or x is None:
        return []
    if isinstance(x, Leaf) or type(x) is Recorded:
        return [(x, other)]
    if isinstance(x, (list, tuple)):
        return [pair for a, b in zip(x, other, strict=True) for pair in paired(a, b)]
    if isinstance(x, dict):
        return [pair for key, a in x.items() for pair in paired(a, other.get(key))]
    if isinstance(x, Parts) or hasattr(x, "__dict__"):
        return [pair for name, a in vars(x).items() for pair in paired(a, _attribute(other, name))]
    return []


def _attribute(x: Any, name: str) -> Any:
    return x.get(name) if isinstance(x, dict) else getattr(x, name, None)
