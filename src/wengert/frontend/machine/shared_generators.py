"""What NumPy's and Python's shared generators draw once the program has seeded them.

`np.random.seed(1)` and `random.seed(1)` say what `np.random.rand()` and `random.random()` give from there on. Where a
program is read for one run, they are drawn from generators of the same class and seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.graph import CALL, Eqn, walk
from ...ops import structure as st
from ...ops.program.drawing import is_generator, name_of

_IN_PLACE = ("shuffle", "setstate", "set_state")


class SharedGenerators:
    """Generators that stand for those which the program has seeded."""

    def __init__(self) -> None:
        self._seeded: dict[int, Any] = {}

    def called(
        self, eqn: Eqn, args: Sequence[Any], options: Mapping[str, Any], unknown: Any
    ) -> Any:
        """What a call of a method of a shared generator gives."""
        generator, name = _shared_by(eqn), eqn.op.implementation.__name__  # type: ignore[union-attr]
        known = all(arg is not unknown for arg in (*args, *options.values()))
        if name == "seed":
            if known and len(args) == 1 and not options and isinstance(args[0], int):
                self._seeded[id(generator)] = type(generator)(args[0])
            else:
                self._seeded.pop(id(generator), None)
            return unknown
        stand_in = self._seeded.get(id(generator))
        if stand_in is None or not known or name in _IN_PLACE:
            self._seeded.pop(id(generator), None)
            return unknown
        try:
            return getattr(stand_in, name)(*args, **options)
        except Exception:  # it is for the run to raise it
            return unknown

    def forget(self, eqn: Eqn) -> None:
        """Branches, loops and functions that may have drawn leave generators in a state that is not known."""
        if self._seeded and (eqn.op is CALL or any(map(_may_draw, _inside(eqn)))):
            self._seeded.clear()


def is_shared_draw(eqn: Eqn) -> bool:
    """Whether an equation calls a method of a generator that was there before the program ran, or seeds one."""
    return eqn.namespace == "call" and _shared_by(eqn) is not None


def _shared_by(eqn: Eqn) -> Any:
    function: Any = eqn.op.implementation
    if name_of(function) == "numpy.seed":
        import numpy as np

        return np.random.rand.__self__  # type: ignore[attr-defined]
    owner = getattr(function, "__self__", None)
    return owner if is_generator(owner) else None


def _inside(eqn: Eqn) -> list[Eqn]:
    return [each for block in eqn.blocks for each in walk(block)]


def _may_draw(eqn: Eqn) -> bool:
    return eqn.op in (CALL, st.opaque, st.apply) or eqn.namespace == "call"
