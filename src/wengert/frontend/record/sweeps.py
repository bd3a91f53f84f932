"""A run with a tape, and the sweeps over it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...numbers.levels import differentiation
from ...numbers.number import value_of
from .boxes import Recorded, fresh, operand
from .memory import Memory
from .operations import operations
from .steps import set_dot
from .tape import Number, Sweep, Tape, running


class Run:
    """A run with a tape of its own, from its beginning to its end."""

    def __init__(self) -> None:
        self._level = differentiation()
        self.tape: Tape

    def __enter__(self) -> Self:
        outer = running.get()
        self.tape = Tape(self._level.__enter__(), outer[0].listed if outer else None)
        self._token = running.set((*running.get(), self.tape))
        return self

    def __exit__(self, *error: object) -> None:
        self.tape.is_open = False
        running.reset(self._token)
        self._level.__exit__(*error)  # pyright: ignore[reportArgumentType]

    def boxed(self, x: Any) -> Any:
        """A number or an array that the run is differentiated by, or a list of them."""
        return boxed(self.tape, x)

    def pulled(self, y: Any, y_bar: Any, boxes: Sequence[Any]) -> list[Any]:
        """The cotangents of boxes, for that of a result; None where the result does not depend on one."""
        sweep = Sweep(_zeros)
        with np.errstate(all="ignore"):
            sweep.add(operand(y, self.tape, keeps=False), y_bar)
            for entry in reversed(self.tape.entries):
                entry.pull(sweep)
        return [_derivative(sweep, box) for box in boxes]

    def pushed(
        self, boxes: Sequence[Recorded], dots: Sequence[Any], results: Sequence[Any]
    ) -> list[Any]:
        """The tangents of results, for those of boxes; None where one does not depend on them."""
        sweep = Sweep(_zeros)
        for box, dot in zip(boxes, dots, strict=True):
            set_dot(sweep, operand(box, self.tape, keeps=False), dot)
        for entry in self.tape.entries:
            entry.push(sweep)
        return [
            _derivative(sweep, y) if type(y) is Recorded and y.tape is self.tape else None
            for y in results
        ]


def boxed(tape: Tape, x: Any) -> Any:
    """A number or an array with a derivative of its own, or a list of them."""
    if isinstance(x, (list, tuple)):
        return type(x)([boxed(tape, item) for item in x])
    if isinstance(value_of(x), np.ndarray):
        memory = Memory(x)
        memory.active = True
        return Recorded(x, tape, memory=memory)
    return Recorded(x, tape, Number(x, tape.slot()))


def _derivative(sweep: Sweep, box: Any) -> Any:
    if isinstance(box, (list, tuple)):
        return [_derivative(sweep, item) for item in box]
    if box.number is not None:
        return sweep.numbers.get(box.number.slot)
    if box.memory is None or box.memory not in sweep.shadows:
        return None
    return sweep.part(box.memory, value_of(box)).copy()


def _zeros(count: int, dtype: Any) -> Any:
    return fresh(np.zeros(count, dtype))


operations.run = Run
