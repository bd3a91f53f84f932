"""Arrays of a run in equations: what holds the elements of each memory, and views of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const
from ...ir.types import Array
from ...numbers.number import value_of
from ...ops import structure as st
from ...ops.program import memory as writes
from ..record.memory import Memory, places
from .equations import Equations, no_text


class Holding:
    """What holds the elements of a memory now: an array that lies in it like a view, or a flat one."""

    def __init__(self, atom: Atom, view: np.ndarray[Any, Any] | None, order: Any = None):
        self.atom = atom
        self.view = view
        """None of a flat one."""
        self.order = order
        """Where in the flat array each element of the memory is, -1 of what it lacks; None: where it is there."""
        self.flat: Atom | None = atom if view is None else None
        self.parts: dict[Any, Atom] = {}

    def is_view(self, view: np.ndarray[Any, Any]) -> bool:
        return self.view is not None and _lies(view) == _lies(self.view)


def _lies(view: np.ndarray[Any, Any]) -> Any:
    return view.__array_interface__["data"][0], view.shape, view.strides, view.dtype


class Arrays(Equations):
    """Equations that read and write memories."""

    def __init__(self) -> None:
        super().__init__()
        self.holdings: dict[Memory, Holding] = {}
        self.written: set[Memory] = set()

    # --- memory ---------------------------------------------------------------------------

    def hold(self, memory: Memory, atom: Atom, view: np.ndarray[Any, Any]) -> None:
        """Say what a memory holds that an array has just been made in."""
        order = None
        count = value_of(memory.flat).size
        lying = np.ravel(self.lying(memory, view))
        if lying.size != count or not np.array_equal(lying, np.arange(count)):
            order = np.full(count, -1)
            order[lying] = np.arange(lying.size)
        self.holdings[memory] = Holding(atom, view, order)

    def lying(self, memory: Memory, view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if view.dtype.itemsize != item_size(memory) and view.size:
            raise no_text("it takes the parts of complex numbers in memory", self.builder.span)
        return np.asarray(places(view, memory.low, item_size(memory)))

    def places_of(self, memory: Memory, view: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Where the elements of a view are in what holds them."""
        return self.places_in(memory, self.lying(memory, view))

    def places_in(self, memory: Memory, where: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        order = self.holding(memory).order
        found = where if order is None else order[where]
        if np.any(found < 0):
            raise no_text("it reaches memory around an array that it is given", self.builder.span)
        return np.asarray(found)

    def flat_of(self, memory: Memory) -> Atom:
        """All that a memory holds, as a flat array."""
        held = self.holding(memory)
        if held.flat is None:
            assert held.view is not None
            kind = Array(held.view.dtype.name, 1)
            same = held.view.ndim == 1
            held.flat = held.atom if same else self.reshaped(held.atom, -1, kind)
        return held.flat

    def part(self, memory: Memory, view: np.ndarray[Any, Any]) -> Atom:
        """What a view sees now."""
        held = self.holding(memory)
        return (
            held.atom if held.is_view(view) else self.elements(memory, self.places_of(memory, view))
        )

    def elements(self, memory: Memory, where: np.ndarray[Any, Any]) -> Atom:
        """Elements of a memory, in an array of the shape that their places have."""
        held = self.holding(memory)
        key = where.shape, where.tobytes()
        if key not in held.parts:
            dtype = value_of(memory.flat).dtype.name
            key_of = _run_of(where)
            if isinstance(key_of, slice):
                atom = self.flat_of(memory)
                if where.size != value_of(memory.flat).size or key_of.step is not None:
                    atom = self.emit(st.getitem, atom, Const(key_of), kind=Array(dtype, 1))
                if where.ndim != 1:
                    atom = self.reshaped(atom, where.shape, Array(dtype, where.ndim))
            else:
                index = self.constant(where)
                atom = self.emit(
                    st.getitem, self.flat_of(memory), index, kind=Array(dtype, where.ndim)
                )
            held.parts[key] = atom
        return held.parts[key]

    def store(self, memory: Memory, view: np.ndarray[Any, Any], index: Any, value: Atom) -> None:
        held = self.holding(memory)
        self.written.add(memory)
        if held.is_view(view):
            at = self.constant(index)
            made = self.emit(writes.stored, held.atom, at, value, kind=kind_of_atom(held.atom))
            self.holdings[memory] = Holding(made, view, held.order)
            return
        where = np.asarray(self.places_of(memory, view)[index])
        if not where.size:
            return
        run = _run_of(where) if where.ndim == 1 else None
        at = Const(int(where)) if where.ndim == 0 else Const(run) if run else self.constant(where)
        flat = self.flat_of(memory)
        made = self.emit(writes.stored, flat, at, value, kind=kind_of_atom(flat))
        self.holdings[memory] = Holding(made, None, held.order)

    def holding(self, memory: Memory) -> Holding:
        held = self.holdings.get(memory)
        if held is None:
            raise no_text("it reads an array that no step has made", self.builder.span)
        return held


def item_size(memory: Memory) -> int:
    return value_of(memory.flat).itemsize


def _run_of(where: np.ndarray[Any, Any]) -> slice | None:
    """The slice that takes elements that follow one another, in regular steps along one axis."""
    flat = np.ravel(where)
    if not flat.size:
        return None
    first, last = int(flat[0]), int(flat[-1])
    step = int(flat[1]) - first if flat.size > 1 else 1
    if step < 1 or (step > 1 and where.ndim != 1) or np.any(np.diff(flat) != step):
        return None
    return slice(first, last + 1, None if step == 1 else step)
