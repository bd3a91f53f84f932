"""The tape of one run: what was computed, read and written, in order; played forwards or backwards.

A sweep goes over the tape with the rules of the ops, so that it takes as long as the run did. It keeps what it finds
to itself: a tape may be swept any number of times, from any thread.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import CodeType
from typing import Any, Protocol

import numpy as np

from ...errors import UnsupportedSyntax, WengertError
from ...ir.callers import calling_span
from ...ir.graph import Span
from ...numbers.levels import Level
from ...numbers.number import value_of
from .memory import Memory, Saved, overlaps_itself, owner, places, relaid

FLOATS = frozenset((float, np.float64))
"""Classes of numbers with which arithmetic takes a short way."""


class Entry(Protocol):
    """One step of a run."""

    def pull(self, sweep: Sweep) -> None: ...

    def push(self, sweep: Sweep) -> None: ...


class Tape:
    """What a run at one level has done so far."""

    def __init__(self, level: Level, listed: Tape | None = None):
        self.level = level
        self.listed = listed
        """The outermost tape, if it is to be written out."""
        most = limit.get()
        self.entries: list[Entry] = [] if most is None else Bounded(most)
        self.slots = 0
        self.is_open = True
        self.memories: list[Memory] = []
        """Those of which something was saved."""
        self.refusals: list[WengertError] = []
        """What was refused so far: no handler of the program's may go on from that."""
        self.outside: dict[int, list[tuple[Any, Memory, bool]]] = {}
        """Arrays that the run did not make, by the identity of what owns their memory."""
        self.names: list[tuple[dict[str, Any], str]] = []
        """Global names that a run inside this one has bound to its numbers."""
        self.meets_entries_by_floats = False
        """Whether the program has a dictionary or set of floats from before the run: memos that others have filled."""
        self.texts: set[str | bytes | None] = set()
        """What numbers with derivatives were shown as; None is among them if some are not known."""
        self.compared: list[tuple[CodeType, int, tuple[Any, Any]]] = []
        """What numbers with derivatives were compared with, and by which instruction (`searches`)."""

    @property
    def is_listed(self) -> bool:
        """Whether it is to be written out: it notes all that depends on what the run is given, and no sweep comes."""
        return self.listed is self

    def be_listed(self) -> None:
        """Note what its steps depend on, and where they were done."""
        self.listed = self
        self.entries = Placed()

    def memory_of(self, x: Any, *, is_argument: bool = False) -> Memory:
        """The memory of an array that the run did not make.

        Args:
            x: the array.
            is_argument: whether the run is differentiated by it: nothing else lies in its memory.
        """
        array = value_of(x)
        others = self.outside.setdefault(id(owner(array)), [])
        held = (m for _, m, is_other in others if not (is_argument or is_other) and m.holds(array))
        memory = next(held, None) or Memory(x)
        for other, its, is_other in others:
            if (is_argument or is_other) and np.may_share_memory(array, other):
                memory.is_given_twice = its.is_given_twice = True
                if memory.is_changed or its.is_changed:
                    raise noting(given_twice())
        others.append((array, memory, is_argument))
        return memory

    def is_argument(self, array: np.ndarray[Any, Any]) -> bool:
        """Whether an array lies in the memory of one that the run is differentiated by."""
        others = self.outside.get(id(owner(array)), ())
        return any(is_other and m.holds(array) for _, m, is_other in others)

    def is_given(self, memory: Memory) -> bool:
        """Whether a memory is that of an array which the run did not make."""
        return any(its is memory for _, its, _ in self.outside.get(id(owner(memory.root)), ()))

    def slot(self) -> int:
        """A place for the derivative of another number."""
        self.slots += 1
        return self.slots - 1


def given_twice() -> WengertError:
    """The run writes to a memory whose derivatives are kept in two places."""
    return UnsupportedSyntax(
        "the function changes an argument, and two of the arrays given to it share memory",
        "Pass a copy; or differentiate `lambda x: f(x, x)`, which is one function of one object.",
        calling_span(),
    )


limit: ContextVar[float | None] = ContextVar("how many bytes a tape may take", default=None)


class Bounded(list[Entry]):
    """Steps that may take so many bytes: themselves, and arrays that would be gone without them."""

    def __init__(self, most: float):
        super().__init__()
        self._most = most
        self._taken = 0
        self._saved: dict[Memory, Saved] = {}
        """What is copied when the memory is written to."""

    def append(self, entry: Entry) -> None:
        super().append(entry)
        self._taken += _STEP
        for name in vars(type(entry))["__slots__"]:
            self._count(getattr(entry, name, None), is_new=name.startswith("result"))
        self._count_copy(getattr(entry, "memory", None), None)
        if self._taken > self._most:
            raise noting(UnsupportedSyntax(*_too_long(self._most), calling_span()))

    def _count(self, part: Any, *, is_new: bool) -> None:
        if isinstance(part, (list, tuple)):
            for item in part:
                self._count(item, is_new=is_new)
            return
        if isinstance(part, Held):
            part = part.seen
        if isinstance(part, np.ndarray) and part.base is None:
            self._taken += part.nbytes
        elif isinstance(part, Seen):
            if part.saved is not None:
                self._count_copy(part.memory, part.saved)
            if is_new or part.saved is None:
                self._taken += part.view.nbytes

    def _count_copy(self, memory: Memory | None, saved: Saved | None) -> None:
        """Count what was saved of a memory before, if a write has had it copied since."""
        before = None if memory is None else self._saved.get(memory)
        if memory is not None and before is not None and before.flat is not None:
            self._taken += memory.size
            del self._saved[memory]
        if memory is not None and saved is not None:
            self._saved[memory] = saved


_STEP = 150
"""About how many bytes an entry takes with its operands."""


def _too_long(most: float) -> tuple[str, str]:
    message = f"the tape of this run takes more than {most:,.0f} bytes, the limit that `wg.tape_limit` has set"
    hint = (
        "What is read keeps less than what is recorded, and less still in `wg.checkpoint`:\n"
        '`tier="static"` reads it, or says why it cannot be read. Or set a higher limit.'
    )
    return message, hint


def noting(error: WengertError) -> WengertError:
    """An error that refuses the runs under way, whatever handlers their programs have."""
    for tape in running.get():
        tape.refusals.append(error)
    return error


class Placed(list[Entry]):
    """Steps, and the lines of the program that they come from."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[Span | None] = []

    def append(self, entry: Entry) -> None:
        super().append(entry)
        self.spans.append(calling_span())


running: ContextVar[tuple[Tape, ...]] = ContextVar("the runs that are being recorded", default=())
"""The outermost one first."""


class Sweep:
    """Tangents or cotangents of everything in a run, as far as a sweep has come."""

    __slots__ = ("is_alone", "numbers", "reads", "shadows", "warns", "zeros")

    def __init__(self, zeros: Callable[..., Any]):
        self.numbers: dict[int, Any] = {}
        self.shadows: dict[Memory, Any] = {}
        self.reads: dict[Memory, Any] = {}
        """Of memories that note it: ones where elements have been reached, laid out alike."""
        self.zeros = zeros
        self.is_alone = not running.get()
        """Whether no run is under way that differentiates the sweep itself."""
        self.warns = np.geterr()
        """What floats do at poles in code of the user; in rows of rules they do nothing."""

    def shadow(self, memory: Memory) -> Any:
        """The derivatives of all that lies in a memory, which change in place."""
        if memory.notes_reads:
            self._note(memory, value_of(memory.flat), ...)
        return self._shadow(memory)

    def _shadow(self, memory: Memory) -> Any:
        found = self.shadows.get(memory)
        if found is None:
            found = self.shadows[memory] = memory.shadow(self.zeros)
        return found

    def part(self, memory: Memory, view: np.ndarray[Any, Any], index: Any = ...) -> Any:
        """The derivatives of a view, of which those at an index change in place."""
        if memory.notes_reads:
            self._note(memory, view, index)
        return memory.part(self._shadow(memory), view)

    def _note(self, memory: Memory, view: np.ndarray[Any, Any], index: Any) -> None:
        if memory not in self.reads:
            self.reads[memory] = memory.shadow(np.zeros)
        memory.part(self.reads[memory], view)[index] = 1.0

    def read_along(self, seen: Seen, axis: int) -> Any:
        """Which columns or rows of a matrix have been reached."""
        if seen.memory not in self.reads:
            return np.zeros(0, int)
        reached = seen.memory.part(self.reads[seen.memory], seen.view) != 0
        others = tuple(k for k in range(reached.ndim) if k != reached.ndim + axis)
        return np.flatnonzero(reached.any(axis=others))

    def taken(self, result: Any) -> Any:
        """The cotangent of the result of a step, which has no other one before."""
        if isinstance(result, Number):
            return self.numbers.pop(result.slot, None)
        if isinstance(result, Seen):
            flat = self.shadows.pop(result.memory, None)
            return None if flat is None else result.memory.part(flat, result.view)
        if isinstance(result, (list, tuple)):
            bars = [self.taken(each) for each in result]
            return None if all(bar is None for bar in bars) else bars
        return None

    def add(self, to: Any, bar: Any) -> None:
        """Add to the cotangent of an operand, a list of operands or a constant."""
        if bar is None:
            return
        if isinstance(to, (list, tuple)):
            for item, each in zip(to, bar, strict=True):
                self.add(item, each)
        elif isinstance(to, Number):
            if np.iscomplexobj(value_of(bar)) and not np.iscomplexobj(value_of(to.value)):
                bar = bar.real
            before = self.numbers.get(to.slot)
            self.numbers[to.slot] = bar if before is None else before + bar
        elif isinstance(to, Seen):
            self.add_to_view(to.memory, to.view, bar)
        elif isinstance(to, Moved):
            np.add.at(self.shadow(to.memory), to.places, bar)

    def add_to_view(self, memory: Memory, view: np.ndarray[Any, Any], bar: Any) -> None:
        if not view.size:
            return
        if (
            self.is_alone
            and not memory.notes_reads
            and memory not in self.shadows
            and is_like(bar, view)
            and memory.is_all(view)
        ):
            self.shadows[memory] = bar.flatten()  # someone else may have the cotangent too
            return
        if view.dtype.kind != "c" and np.iscomplexobj(value_of(bar)):
            bar = np.real(bar)
        if overlaps_itself(view):
            whole = np.broadcast_to(bar, view.shape)
            flat = self.shadow(memory)
            if value_of(flat).dtype.kind == "c" and view.dtype.kind == "f":
                flat = relaid(flat, value_of(flat).view(view.dtype))
            if view.dtype.kind == value_of(flat).dtype.kind:
                np.add.at(flat, places(view, memory.low, view.itemsize), whole)
                return
            if flat is value_of(flat):
                np.add.at(self.part(memory, view), tuple(np.indices(view.shape)), whole)
                return
        here = self.part(memory, view)
        here += bar


def is_like(bar: Any, view: np.ndarray[Any, Any]) -> bool:
    """Whether a cotangent is an array without derivatives, of the type and shape of a view."""
    return type(bar) is np.ndarray and bar.dtype == view.dtype and bar.shape == view.shape


class Number:
    """An operand that is a number: its value and where its derivative is kept."""

    __slots__ = ("slot", "value")

    def __init__(self, value: Any, slot: int):
        self.value = value
        self.slot = slot

    def dot(self, sweep: Sweep) -> Any:
        return sweep.numbers.get(self.slot)


class Seen:
    """An operand that is an array: the view of its memory, and what it held."""

    __slots__ = ("_live", "memory", "saved", "view")

    def __init__(self, value: Any, memory: Memory, *, keeps: bool = True):
        self.view = value_of(value)
        self.memory = memory
        self.saved: Saved | None = None
        self._live = value
        if keeps and self.view.nbytes * 4 < memory.size:
            self._live = value.copy()
        elif keeps:
            self.saved = memory.save()

    @property
    def value(self) -> Any:
        if self.saved is None or self.saved.flat is None:
            return self._live
        return self.memory.part(self.saved.flat, self.view)

    def dot(self, sweep: Sweep) -> Any:
        if self.memory not in sweep.shadows:
            return None
        return sweep.part(self.memory, self.view).copy()


class Moved:
    """An operand that is an array: elements of a memory, by where they lie in it."""

    __slots__ = ("memory", "places")

    def __init__(self, memory: Memory, places: np.ndarray[Any, Any]):
        self.memory = memory
        self.places = places

    @property
    def value(self) -> Any:
        return self.places  # of which the shape matters

    def dot(self, sweep: Sweep) -> Any:
        if self.memory not in sweep.shadows:
            return None
        return sweep.shadows[self.memory][self.places]


class Held:
    """An operand that is an array without a derivative, as it was."""

    __slots__ = ("seen",)

    def __init__(self, seen: Seen):
        self.seen = seen

    @property
    def value(self) -> Any:
        return self.seen.value


def value_in(x: Any) -> Any:
    """The value of an operand, as it was."""
    if isinstance(x, (Number, Seen, Held, Moved)):
        return x.value
    if type(x) is list or isinstance(x, tuple):
        items = map(value_in, x)
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else list(items)
    return x


def holds_operands(x: Any) -> bool:
    """Whether an operand has a derivative, or holds one that has."""
    if isinstance(x, (list, tuple)):
        return any(map(holds_operands, x))
    return isinstance(x, (Number, Seen, Moved))


def dot_in(x: Any, sweep: Sweep) -> Any:
    """The tangent of an operand; None for what has none."""
    if isinstance(x, (Number, Seen, Moved)):
        return x.dot(sweep)
    if isinstance(x, (list, tuple)) and holds_operands(x):
        return [dot_in(item, sweep) for item in x]
    return None


def is_of_floats(x: Any) -> bool:
    """Whether a value is a number of Python's without derivatives, or an array of floats."""
    return type(x) in (float, int) or (type(x) is np.ndarray and x.dtype == np.float64)
