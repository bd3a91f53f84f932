"""Numbers and arrays of a run that is recorded: a value, and where in the tape it belongs.

A box answers as its value does. What it computes goes through `recorded`, which has the value computed by the
function that the program called, and notes the op for the sweeps.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import currentframe
from opcode import opmap
from types import BuiltinFunctionType, FrameType, FunctionType
from typing import Any, TypeVar

import numpy as np

from ...errors import LostWrite, NoRule, UnsupportedSyntax, WengertError
from ...ir.callers import calling_span
from ...ir.op import Op
from ...numbers.levels import Level
from ...numbers.number import PerturbedNumber, value_of
from ...numbers.refusals import lost
from ...numbers.squares import followed
from ...ops import elementwise as el, structure as st
from ...ops.array_classes import has_own_arithmetic, of_own_arithmetic
from ...ops.arrays.vectors import FACTORS, REFUSING
from ...rules.registry import rule_for
from . import records
from .memory import NUMPYS_OWN, Memory, may_have_derivatives, overlaps_itself, owner
from .operations import operations
from .steps import Added, Asked, Begun, Computed, Read, Taken, Written
from .tape import FLOATS, Held, Moved, Number, Seen, Tape, given_twice, noting as noting, running

T = TypeVar("T", bound=str | bytes)
_frame = sys._getframe  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


class Recorded(PerturbedNumber):
    """A number or an array of a run that is recorded."""

    __slots__ = ("below", "memory", "number", "tape", "walk")
    below: Any
    tape: Tape
    number: Number | None
    memory: Memory | None
    __hash__ = PerturbedNumber.__hash__
    plain = "wg.stop_gradient(x)"

    def __init__(
        self, value: Any, tape: Tape, number: Number | None = None, memory: Memory | None = None
    ):
        _set_value(self, value)
        _set_tape(self, tape)
        _set_number(self, number)
        _set_memory(self, memory)
        _set_root(self, None)

    @property
    def value(self) -> Any:
        if _frame(1).f_builtins is operations.names:
            return operations.attribute(self, "value")  # which says that a number has none
        return self.below

    def as_walk(self) -> Recorded:
        """The array as the `flat` of another: slices of it are copies, and it is an iterator."""
        _set_walk(self, iter(self.again()))
        return self

    def become(self, view: Recorded) -> None:
        """Be another view of the same memory, in the place of the one that the tape keeps."""
        _set_value(self, view.below)

    @property
    def level(self) -> Level:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.tape.level

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What `isinstance` asks where a class does not say: the class of the value."""
        cls = type(value_of(self))
        return operations.in_run(cls) if _frame(1).f_builtins is operations.names else cls

    @classmethod
    def apply(cls, op: Op, args: tuple[Any, ...], options: dict[str, Any], level: Level) -> Any:
        tape = next(x.tape for x in boxes_in((*args, *options.values())) if x.tape.level == level)
        if op.elementwise or ("np" in op.spellings and not takes_list(op)):
            args = tuple([operations.stacked(x) if type(x) in (list, tuple) else x for x in args])
        if op is el.unit and not np.iscomplexobj(value_of(args[0])):
            op = el.sign  # which moves nowhere, not at NaN either
        return recorded(tape, op, args, options, op, args, options)

    @classmethod
    def slopes(cls, function: Callable[[Any], Any], x: Any) -> Any:
        """The derivative of a function by a number or an array, at a plain value: a row for each number it gives."""
        with operations.run() as run:
            box = run.boxed(x)
            y = gathered_items(function(box))
            results = [y] if np.ndim(value_of(y)) == 0 else list(np.ravel(y))
        rows = [run.pulled(each, 1.0, [box])[0] for each in results]
        rows = [np.zeros_like(x) if row is None else row for row in rows]
        return rows if np.ndim(x) else rows[0]

    def seen_as(self, value: Any) -> Recorded:
        """Another view of the same memory."""
        return Recorded(value, self.tape, memory=self.memory)

    def again(self) -> Recorded:
        """Another box of the same number or array: who holds it is told from who holds this one."""
        box = Recorded(self.below, self.tape, self.number, self.memory)
        _set_root(box, self.root_of)
        return box

    # --- items ----------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        index = _plain_index(index)
        found = self._item(index)
        return (
            found
            if self.root_of is None
            else followed(st.getitem, (self, index), {}, found, value_of)
        )

    def _item(self, index: Any) -> Any:
        value, memory = self.below, self.memory
        if memory is None:
            if not hasattr(value_of(value), "dtype"):
                return value[index]  # which says that a number has no items
            pair = (self, index)
            return recorded(self.tape, st.getitem, pair, {}, lambda x, at: x[at], pair, {})
        if memory.is_of_records and records.is_record(value):
            return records.item(self, index)
        found = value[index]
        array = value_of(found)
        if not isinstance(array, np.ndarray):
            if not memory.active or not self.tape.is_open:
                return found
            parts = index if isinstance(index, tuple) else (index,)
            number = Number(found, self.tape.slot())
            self.tape.entries.append(Read(memory, value_of(value)[(*parts, ...)], number.slot))
            return Recorded(found, self.tape, number)
        if memory.holds(array):
            if not (walk_of(self) is not None and (isinstance(index, slice) or index is ...)):
                return Recorded(found, self.tape, memory=memory)
            found = found.copy()
        own = Memory(found)
        own.active = memory.active and self.tape.is_open
        if own.active:
            taken = Taken(
                memory, value_of(value), _kept_index(index), Seen(found, own, keeps=False)
            )
            self.tape.entries.append(taken)
        return Recorded(found, self.tape, memory=own)

    def __setitem__(self, index: Any, value: Any) -> None:
        memory = self.memory
        if memory is None:
            operator.setitem(value_of(self), index, value)  # which says that it cannot
            return
        index = _plain_index(index)
        value = gathered_items(value)
        if memory.is_of_records and records.is_record(self):
            records.write(self, index, value)
            return
        self._about_to_take(value)
        order = memory.order_of_copy(value_of(self.below)[index], value_of(value)) if (
            type(value) is Recorded and value.memory is memory and memory.active
        ) else None  # fmt: skip
        self.below[index] = at_level_below(value, self.tape)
        moves = self.tape.is_open and is_active(value, self.tape)
        if moves or (memory.active and self.tape.is_open):
            memory.active = True
            to = value_of(self.below)
            kept = self._to_keep(value) if moves or self.tape.is_listed else None
            if order is not None:
                kept = Moved(memory, order)
            self.tape.entries.append(Written(memory, to, _kept_index(index), kept))

    def _about_to_take(self, value: Any) -> None:
        """Make ready for a write."""
        self._must_take(value)
        memory, tape = self.memory, self.tape
        assert memory is not None
        if tape.is_listed and tape.is_open and not memory.active and is_active(value, tape):
            tape.entries.append(Begun(memory))
        memory.is_written()

    def _to_keep(self, value: Any) -> Any:
        return operand(value, self.tape, keeps=self.tape.is_listed)

    def _must_take(self, value: Any) -> None:
        """Refuse to write what would lose its derivative."""
        for box in boxes_in((value,)):
            if box.tape.is_open and box.tape.level > self.tape.level:
                raise noting(lost(box, "what an array of another differentiation is given"))
        array = value_of(self.below)
        if array.flags.writeable and overlaps_itself(array):
            raise noting(UnsupportedSyntax(*_OF_ONE_PLACE, calling_span()))
        if self.memory is not None and self.memory.is_given_twice:
            raise noting(given_twice())
        if not is_active(value, self.tape):
            return
        if array.dtype.kind in "biu":
            raise noting(LostWrite(*_OF_INTEGERS, calling_span()))
        if self.memory is not None and self.memory.held_by:
            raise noting(held_elsewhere(self.memory.held_by))

    def __iter__(self) -> Iterator[Any]:
        if np.ndim(value_of(self)) == 0 and not records.is_record(self):
            iter(value_of(self))  # which says that it cannot be walked over
        return walk_of(self) or (self[k] for k in range(len(self)))

    def __len__(self) -> int:
        return len(value_of(self))

    def __contains__(self, item: Any) -> bool:
        return value_of(item) in value_of(self)

    def __reversed__(self) -> Iterator[Any]:
        return (self[k] for k in reversed(range(len(self))))

    def __abs__(self) -> Any:
        found = recorded(self.tape, el.abs_, (self,), {}, operator.abs, (self,), {})
        return followed(el.abs_, (self,), {}, found, value_of)

    # --- operators that change an array in place ----------------------------------------------

    def __iadd__(self, other: Any) -> Any:
        return self._add(other, 1, operator.iadd)

    def __isub__(self, other: Any) -> Any:
        return self._add(other, -1, operator.isub)

    def _add(self, other: Any, sign: int, function: Callable[[Any, Any], Any]) -> Any:
        if self.memory is None:
            return NotImplemented
        in_items = isinstance(other, (list, tuple)) and boxes_in(other)
        other = operations.stacked(other) if in_items else gathered_items(other)
        self._about_to_take(other)
        function(self.below, at_level_below(other, self.tape))
        if self._is_moved_by(other):
            self.memory.active = True
            kept = self._to_keep(other)
            view = value_of(self.below)
            self.tape.entries.append(Added(self.memory, view, ..., kept, sign, False))
        return self

    def _is_moved_by(self, other: Any) -> bool:
        """Whether the tape has to know that something is added."""
        tape, memory = self.tape, self.memory
        if not tape.is_open or memory is None:
            return False
        return is_active(other, tape) or (tape.is_listed and memory.active)

    def add_at(self, function: Any, index: Any, other: Any) -> None:
        """`np.add.at` and `np.subtract.at`."""
        assert self.memory is not None
        self._about_to_take(other)
        index = _plain_index(index)
        function.at(self.below, index, at_level_below(other, self.tape))
        if self._is_moved_by(other):
            self.memory.active = True
            kept = self._to_keep(other)
            sign = 1 if function is np.add else -1
            view = value_of(self.below)
            self.tape.entries.append(Added(self.memory, view, _kept_index(index), kept, sign, True))

    def _changed(self, op: Op, other: Any) -> Any:
        if self.memory is None:
            return NotImplemented
        made = op(self, other)
        if not np.can_cast(_dtype(made), _dtype(self), "same_kind"):
            np.add(value_of(self), value_of(made), out=value_of(self))  # which says that it cannot
        self[...] = made
        return self

    # --- answers --------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return operations.attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SLOTS:
            object.__setattr__(self, name, value)
            return
        operations.set_attribute(self, name, value)

    def __dir__(self) -> Any:
        return dir(value_of(self))

    def __repr__(self) -> str:
        return self.shown_as(repr(value_of(self)))

    def __str__(self) -> str:
        return self.shown_as(str(value_of(self)))

    def __format__(self, spec: str) -> str:
        return self.shown_as(format(value_of(self), spec))

    def shown_as(self, text: T) -> T:
        """Text or bytes, which nobody may make numbers of."""
        is_bytes = isinstance(text, bytes) and is_active(self, self.tape)
        if (self.number is not None or is_bytes) and self.tape.is_open:
            self.tape.texts.add(text.strip())
        return text

    def __copy__(self) -> Any:
        return self if self.memory is None else self.copy("K")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        return value_of(self).__reduce_ex__(protocol)

    def __int__(self) -> int:
        if is_active(self, self.tape) and _stores_an_item(currentframe()):
            raise noting(LostWrite(*_OF_INTEGERS, calling_span()))
        answer = int(value_of(self))
        asked(el.to_int, (self,), {}, answer)
        return answer

    def __float__(self) -> float:
        """For code in C; the program's own `float` gives a box (`frontend/record/builtins`)."""
        if not is_active_at_any_level(self):
            return float(value_of(self))
        if not _formats(currentframe()):
            raise noting(lost(self, "a float"))
        for tape in running.get():
            tape.texts.add(None)
        return float(value_of(self))

    def __complex__(self) -> complex:
        if not is_active_at_any_level(self):
            return complex(value_of(self))
        raise noting(lost(self, "a complex number"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refused to code that computes with floats; a number may be an item of an array of objects."""
        if not is_active_at_any_level(self):
            return np.array(value_of(self), dtype=dtype, copy=copy)
        if self.memory is not None or (dtype is not None and np.dtype(dtype) != object):
            raise lost(self, "an array of floats")
        items = np.empty((), dtype=object)
        items[()] = self
        return items

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return operations.called_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if not boxes_in((args, keywords)):  # NumPy has taken it out of an object
            raise noting(UnsupportedSyntax(*_OF_ITEMS_OF_OBJECTS, calling_span()))
        return operations.called(function, args, keywords)


Recorded.__name__ = (
    "RecordedNumber"  # by which errors of code in C are known: no word of a program's own text
)

# past `__setattr__`, which is the program's
_set_value = vars(Recorded)["below"].__set__
_set_tape = vars(Recorded)["tape"].__set__
_set_number = vars(Recorded)["number"].__set__
_set_memory = vars(Recorded)["memory"].__set__
_set_root = vars(PerturbedNumber)["root_of"].__set__
_get_walk, _set_walk = (getattr(vars(Recorded)["walk"], f"__{do}__") for do in ("get", "set"))


def walk_of(array: Recorded) -> Iterator[Any] | None:
    """The iterator over an array that stands for the `flat` of another; few arrays have one."""
    try:
        return _get_walk(array)
    except AttributeError:
        return None


def _stores_an_item(frame: FrameType | None) -> bool:
    """Whether the caller of a frame's code is about to write an item: an array of integers asks for an integer."""
    caller = frame and frame.f_back
    return caller is not None and caller.f_code.co_code[caller.f_lasti] == _STORE_SUBSCR


def _formats(frame: FrameType | None) -> bool:
    """Whether the caller of a frame's code writes text, `"%g" % x`: of what else is `%`, it asks the number itself."""
    caller = frame and frame.f_back
    if caller is None:
        return False
    op, which = caller.f_code.co_code[caller.f_lasti : caller.f_lasti + 2]
    return op == _BINARY_OP and which in _REMAINDERS


def held_elsewhere(cls: str) -> WengertError:
    """A value is written to an array that something holds which would hand it out as a float."""
    return UnsupportedSyntax(
        f"the function writes to an array which a {cls} holds that was there before: what that hands out has no "
        "derivative",
        f"Make the {cls} inside the function, or write to a copy of the array.",
        calling_span(),
    )


_STORE_SUBSCR, _BINARY_OP = opmap["STORE_SUBSCR"], opmap["BINARY_OP"]
_REMAINDERS = (6, 19)
"""What `BINARY_OP` is told that it is `%` and `%=` by."""
_OF_INTEGERS = (
    "an array of integers keeps the integer part of what it is given, and no derivative",
    "Create it with `dtype=float`.",
)
OF_RECORDS = (
    "this function has no derivative of an array of records",
    "Give it the fields, one by one.",
)
_OF_ONE_PLACE = (
    "this writes to an array of which several elements lie in one place",
    "Write to the array that it is a view of.",
)
_OF_ITEMS_OF_OBJECTS = (
    "a function of NumPy is given an object that holds numbers with derivatives, and takes them one by one",
    "Give it the array or the list of these numbers.",
)
_OF_OBJECTS = (
    "this makes an array of objects, whose items have no derivatives",
    "Make the other operand a float: NumPy takes a `Fraction` as an object.",
)
_SLOTS = frozenset((*Recorded.__slots__, "root_of"))


# --- operands ---------------------------------------------------------------------------------


def boxes_in(x: Any) -> list[Recorded]:
    """The boxes in an operand, or in the items of a list, tuple or dictionary."""
    if type(x) is Recorded:
        return [x]
    if isinstance(x, PerturbedNumber):
        return boxes_in(x.value)
    if isinstance(x, (list, tuple)):
        return [box for item in x for box in boxes_in(item)]
    if isinstance(x, dict):
        return [box for item in x.values() for box in boxes_in(item)]
    if type(x) is np.ndarray and x.dtype == object:
        return boxes_in(x.ravel().tolist())
    return []


def is_active(x: Any, tape: Tape) -> bool:
    """Whether an operand has a derivative at the level of a tape."""
    if type(x) is Recorded:
        if x.tape is not tape:
            return x.tape.level > tape.level and is_active(x.value, tape)
        return x.number is not None or (x.memory is not None and x.memory.active)
    if isinstance(x, (list, tuple)):
        for item in x:
            if is_active(item, tape):
                return True
    return False


def is_active_at_any_level(x: Any) -> bool:
    """Whether a number or an array has a derivative at some level."""
    while type(x) is Recorded and not is_active(x, x.tape):
        x = x.value
    return isinstance(x, PerturbedNumber)


def at_level_below(x: Any, tape: Tape) -> Any:
    """An operand without its derivative at the level of a tape."""
    if type(x) is Recorded:
        return x.below if x.tape is tape else x
    if isinstance(x, (list, tuple)):
        items = [at_level_below(item, tape) for item in x]
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else items
    if type(x) is dict:
        return {key: at_level_below(item, tape) for key, item in x.items()}
    return x


def operand(x: Any, tape: Tape, *, keeps: bool = True) -> Any:
    """An operand as the tape keeps it: what is written to it later does not change it."""
    if type(x) is Recorded and x.tape is tape:
        if x.number is not None:
            return x.number
        if x.memory is None:
            return x.below
        seen = Seen(x.below, x.memory, keeps=keeps)
        if keeps:
            tape.memories.append(x.memory)
        return seen if x.memory.active else Held(seen)
    if isinstance(x, (list, tuple)):
        items = [operand(item, tape, keeps=keeps) for item in x]
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else items
    if isinstance(x, np.ndarray):
        if type(x) not in (*NUMPYS_OWN, Recorded) and has_own_arithmetic(type(x)):
            raise noting(UnsupportedSyntax(*of_own_arithmetic(type(x)), calling_span()))
        gathered = gathered_items(x)
        return x.copy() if gathered is x else operand(gathered, tape, keeps=keeps)
    return x


def takes_list(op: Op) -> bool:
    """Whether an op of NumPy takes a list of arrays, and not a list that stands for an array."""
    return op.signature.startswith("arrays")


def gathered_items(x: Any) -> Any:
    """An array of objects, some of which are boxes, as one box; also what an object says that it is as an array."""
    if type(x) is np.ndarray:
        return operations.stacked(x) if x.dtype == object and boxes_in(x) else x
    return as_class_says(x)


def as_class_says(x: Any) -> Any:
    """What an object of the program's is as an array, if its class says so."""
    own = getattr(type(x), "__array__", None)
    if isinstance(own, FunctionType) and own.__builtins__ is operations.names:
        return own(x)
    return x


def _plain_index(index: Any) -> Any:
    """What an index is: integers have no derivative that matters."""
    if type(index) is Recorded:
        asked(None, (index,), {}, value_of(index))
        return _plain_index(value_of(index)) if value_of(index).__class__ is not float else index
    if isinstance(index, tuple):
        return tuple(map(_plain_index, index))
    if type(index) is list:
        return list(map(_plain_index, index))
    if type(index) is slice:
        return slice(*map(_plain_index, (index.start, index.stop, index.step)))
    return index


def _kept_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_kept_index, index))
    return index.copy() if isinstance(index, (np.ndarray, list)) else index


def _dtype(x: Any) -> Any:
    return np.asarray(value_of(x)).dtype


# --- what is computed ---------------------------------------------------------------------------


def recorded(
    tape: Tape,
    op: Op,
    operands: Sequence[Any],
    options: dict[str, Any],
    function: Callable[..., Any],
    args: Sequence[Any],
    keywords: dict[str, Any],
) -> Any:
    """What a function gives, noted as an op on operands.

    Args:
        tape: of the highest level among the operands.
        op: the op that the function computes.
        operands: those of the op.
        options: those of the op.
        function: what computes the value.
        args: what it is given.
        keywords: what it is given by keyword.
    """
    plain = [at_level_below(x, tape) for x in args]
    named = {k: at_level_below(x, tape) for k, x in keywords.items()}
    if isinstance(function, (BuiltinFunctionType, type)) and boxes_in(plain):
        # it is one of floats, and numbers of lower levels are none
        function = partial(operations.called, function)
        plain, named = [tuple(plain), named], {}
    if tape.listed is None:
        return noted(tape, op, operands, options, function(*plain, **named))
    try:
        result = function(*plain, **named)
    except Exception:
        asked(None, operands, {}, None)  # where the program goes on, it is since this has raised
        raise
    return noted(tape, op, operands, options, result)


def _memories_of(operands: Sequence[Any], tape: Tape) -> list[Memory]:
    """The memories, at the level of a tape, that operands lie in."""
    memories: list[Memory] = []
    for x in operands:
        if type(x) not in FLOATS:
            boxes = (x,) if type(x) is Recorded else boxes_in(x)
            memories += [box.memory for box in boxes if box.tape is tape and box.memory]
    return memories


_OF_SHAPE = frozenset(("like", "matrix", "vector", "result"))
"""Options of which rule rows read the shape alone."""


def noted(tape: Tape, op: Op, operands: Sequence[Any], options: dict[str, Any], result: Any) -> Any:
    """A result as a box, which the tape knows how it was computed."""
    if result is NotImplemented or not tape.is_open:
        return result
    memories = _memories_of(operands, tape)
    active = is_active(operands, tape)
    if active or options:
        rule = rule_for(op)
        is_constant = rule is not None and rule.form == "zero"
        if options and (tape.is_listed or not is_constant):
            _must_be_plain(op, options, tape)
        if active and tape.is_listed and is_constant:
            result = _outside(memories, result)
        active = active and (tape.is_listed or not is_constant)
    if not active:
        return boxed_result(tape, _outside(memories, result), memories)
    if op is st.valued and not tape.is_listed:
        result = _outside(memories, result)
    kept = tuple([operand(x, tape) for x in operands])
    box, out, is_new = _result(tape, result, memories)
    if is_new:
        keep = operand if tape.is_listed else at_level_below
        options = {k: _kept_index(keep(x, tape)) for k, x in options.items()}
        step = Computed(op, kept, options, out)
        if op.name in REFUSING:
            step.note_place(vectors=op.name in FACTORS)
        tape.entries.append(step)
    elif tape.is_listed and _is_answer(out):
        asked(op, operands, options, out)
    return box


def _must_be_plain(op: Op, options: dict[str, Any], tape: Tape) -> None:
    """Refuse an option with a derivative."""
    boxes = boxes_in([x for name, x in options.items() if name not in _OF_SHAPE])
    if any(is_active(box, tape) and _dtype(box).kind in "fc" for box in boxes):
        raise NoRule(
            f"{op.name} has no derivative by its option",
            "Write it with other functions.",
            calling_span(),
        )


def _is_answer(out: Any) -> bool:
    """Whether a result is, or holds, more than views."""
    return any(map(_is_answer, out)) if isinstance(out, (tuple, list)) else out is not None


def asked(op: Op | None, operands: Sequence[Any], options: dict[str, Any], answer: Any) -> None:
    """Note what the program is told of its numbers, where its run is to be written out.

    Args:
        op: what computes the answer; None where it is the operands themselves.
        operands: those of the op.
        options: those of the op.
        answer: what the program goes on with.
    """
    tape = running.get()[0].listed if running.get() else None
    if tape is None or not tape.is_open:
        return
    operands = [_of_tape(x, tape) for x in operands]
    if is_active(operands, tape):
        kept = tuple([operand(x, tape) for x in operands])
        options = {k: value_of(_of_tape(x, tape)) for k, x in options.items()}
        tape.entries.append(Asked(op, kept, options, _kept_index(answer)))


def _of_tape(x: Any, tape: Tape) -> Any:
    """An operand as an outer run knows it."""
    if isinstance(x, (list, tuple)):
        items = [_of_tape(item, tape) for item in x]
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else items
    while isinstance(x, PerturbedNumber) and not (type(x) is Recorded and x.tape is tape):
        x = x.value
    return x


def _outside(memories: Sequence[Memory], result: Any) -> Any:
    """A result outside of memory that has a derivative: `stop_gradient` and `valued` give the array itself."""
    array = value_of(result)
    if isinstance(array, np.ndarray) and any(m.active and m.holds(array) for m in memories):
        return result.copy("K")
    return result


def boxed_result(tape: Tape, result: Any, memories: Sequence[Memory]) -> Any:
    """A result without a derivative: an array may be written to what has one."""
    if isinstance(result, tuple):
        return tuple.__new__(type(result), [boxed_result(tape, item, memories) for item in result])
    if type(result) is list:
        return [boxed_result(tape, item, memories) for item in result]
    array = value_of(result)
    if not may_have_derivatives(array):
        return result
    memory = next((m for m in memories if m.holds(array)), None)
    return Recorded(result, tape, memory=Memory(result) if memory is None else memory)


def _result(tape: Tape, result: Any, memories: Sequence[Memory]) -> tuple[Any, Any, bool]:
    """The box of a result, what the tape keeps of it, and whether it is new: a view is not."""
    if isinstance(result, (tuple, list)):
        found = [_result(tape, item, memories) for item in result]
        items = [box for box, _, _ in found]
        is_new = any(new for _, _, new in found)
        outs = tuple(out for _, out, _ in found)
        if is_new and not tape.is_listed:  # what is not new has no cotangent, but a shape
            outs = tuple(_shape_of(out, box) for out, box in zip(outs, items, strict=True))
        made = tuple.__new__(type(result), items) if isinstance(result, tuple) else items
        return made, outs, is_new
    array = value_of(result)
    if isinstance(array, np.ndarray):
        if array.dtype.kind == "O":
            raise noting(UnsupportedSyntax(*_OF_OBJECTS, calling_span()))
        if array.dtype.kind not in "fciuV":
            return result, result, False
        for memory in memories:
            if memory.holds(array):
                return Recorded(result, tape, memory=memory), None, False
        if array.dtype.names is not None:
            raise noting(UnsupportedSyntax(*OF_RECORDS, calling_span()))
        if overlaps_itself(array):
            result = _spread_out(result)
        memory = Memory(result)
        memory.active = True
        tape.memories.append(memory)
        return Recorded(result, tape, memory=memory), Seen(result, memory), True
    if isinstance(array, (bool, np.bool_, str, bytes, type(None), np.dtype, type)):
        return result, result, False
    number = Number(result, tape.slot())
    return Recorded(result, tape, number), number, True


def _shape_of(out: Any, view: Any) -> Any:
    """What the tape keeps of one of several results: of a view, whose cotangents lie in its memory, its shape."""
    if out is not None or type(view) is not Recorded or view.memory is None:
        return out
    return Held(Seen(view.below, view.memory, keeps=False))


def _spread_out(x: Any) -> Any:
    """A new array that repeats a number, with an element in each place: each has a cotangent of its own."""
    made = x.copy()
    value_of(made).flags.writeable = value_of(x).flags.writeable
    return made


def fresh(x: Any) -> Any:
    """An array that nobody else has as a box in every run under way: what has derivatives may be written to it."""
    if type(x) in (tuple, list):
        return type(x)(map(fresh, x))
    array = value_of(x)
    if not may_have_derivatives(array):
        return x
    is_own = array.base is None or isinstance(owner(array), np.ndarray)
    return _in_every_run(x, Memory) if is_own else from_outside(x)


def from_outside(x: Any) -> Any:
    """An array that the runs under way did not make, in the memory in which they have seen others lie."""
    if not may_have_derivatives(value_of(x)):
        return x
    return _in_every_run(x, None)


def _in_every_run(x: Any, make: Callable[[Any], Memory] | None) -> Any:
    level = x.level if isinstance(x, PerturbedNumber) else (0, 0)
    for tape in running.get():
        if tape.level > level:
            x = Recorded(x, tape, memory=(make or tape.memory_of)(x))
    return x
