"""Steps of a run: what was computed, asked, read and written, played forwards or backwards."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from ...ir.callers import calling_span
from ...ir.op import Op
from ...numbers.number import PerturbedNumber, value_of
from ...numbers.pushforward import completed, scaled
from ...ops import elementwise as el
from ...runtime.cotangents import unbroadcast
from .memory import Memory, number_fields
from .operations import operations
from .tape import FLOATS, Number, Seen, Sweep, dot_in, holds_operands, is_of_floats, value_in


def written_dot(value: Any, sweep: Sweep) -> Any:
    """The tangent of a value that is written to an array: zeros where a list has items without one."""
    dot = dot_in(value, sweep)
    return completed(dot, value_in(value)) if isinstance(dot, list) else dot


class Computed:
    """An op on operands of which at least one has a derivative."""

    __slots__ = ("op", "operands", "options", "results", "span")

    def __init__(self, op: Op, operands: Sequence[Any], options: dict[str, Any], results: Any):
        self.op = op
        self.operands = operands
        self.options = options
        self.results = results
        """A `Number` or a `Seen` each, a plain value where there is no derivative; a tuple of several."""

    def note_place(self, *, vectors: bool) -> None:
        """Note where it stands; have sweeps note which vectors they reach: those of equal values are refused."""
        self.span = calling_span()
        for each in self.results if vectors else ():
            if isinstance(each, Seen):
                each.memory.notes_reads = True

    def pull(self, sweep: Sweep) -> None:
        bar = sweep.taken(self.results)
        if bar is None:
            return
        operations.pull(sweep, self, bar)

    def push(self, sweep: Sweep) -> None:
        dots = [dot_in(x, sweep) for x in self.operands]
        if any(dot is not None for dot in dots):
            set_dot(sweep, self.results, operations.push(self, dots))


class Weighted:
    """A number computed of one or two others, with floats as partial derivatives."""

    __slots__ = ("first", "second", "slot", "weight", "weight_of_second")

    def __init__(self, slot: int, first: int, weight: float, second: int, weight_of_second: float):
        self.slot = slot
        self.first = first
        self.weight = weight
        self.second = second
        """-1 where there is none."""
        self.weight_of_second = weight_of_second

    def pull(self, sweep: Sweep) -> None:
        bars = sweep.numbers
        bar = bars.pop(self.slot, None)
        if isinstance(bar, np.ndarray):
            bar = bar[()]
        is_plain = type(bar) in FLOATS  # a box says that it is a float, and moves where it is 0
        if bar is None or (is_plain and bar == 0.0):
            return  # which is not to meet an infinite derivative
        part = bar * self.weight if is_plain else in_all_runs(self.weight, bar)
        before = bars.get(self.first)
        bars[self.first] = part if before is None else before + part
        if self.second >= 0:
            weight, before = self.weight_of_second, bars.get(self.second)
            part = bar * weight if is_plain else in_all_runs(weight, bar)
            bars[self.second] = part if before is None else before + part

    def push(self, sweep: Sweep) -> None:
        dots = sweep.numbers
        first = dots.get(self.first)
        total = None if first is None else scaled(self.weight, first)
        second = dots.get(self.second) if self.second >= 0 else None
        if second is not None:
            part = scaled(self.weight_of_second, second)
            total = part if total is None else total + part
        if total is not None:
            dots[self.slot] = total


def in_all_runs(factor: Any, bar: Any) -> Any:
    """`factor * bar`; where the factor is infinite, a cotangent that is zero stays so in the runs around this one."""
    if is_of_floats(factor) and is_of_floats(bar):
        product = factor * bar
        if isfinite(np.vdot(product, product)):
            return product
    product = scaled(factor, bar)
    if not isinstance(product, PerturbedNumber):
        return product
    plain = np.asarray(value_of(product))
    if plain.dtype.kind not in "fc" or np.isfinite(plain).all():
        return product
    is_zero = np.asarray(value_of(bar)) == 0
    if not plain.ndim:
        return 0.0 if is_zero else product
    return el.where(np.broadcast_to(is_zero, plain.shape), 0.0, product)


def set_dot(sweep: Sweep, result: Any, dot: Any) -> None:
    """Give a result its tangent."""
    if dot is None:
        return
    if isinstance(result, Number):
        sweep.numbers[result.slot] = dot
    elif isinstance(result, Seen):
        sweep.part(result.memory, result.view)[...] = dot
    elif isinstance(result, (list, tuple)):
        for each, part in zip(result, dot, strict=True):
            set_dot(sweep, each, part)


class _OfListed:
    """A step that matters where a tape is written out."""

    __slots__ = ()

    def pull(self, sweep: Sweep) -> None:
        """No cotangent flows."""

    def push(self, sweep: Sweep) -> None:
        """No tangent flows."""


class Asked(_OfListed):
    """What the run was told of its numbers: it would go another way for another answer."""

    __slots__ = ("answer", "op", "operands", "options")

    def __init__(self, op: Op | None, operands: Sequence[Any], options: Any, answer: Any):
        self.op = op
        """None: the operands themselves were the answer."""
        self.operands = operands
        self.options = options
        self.answer = answer


class Begun(_OfListed):
    """What a memory held when something that depends on the arguments was first written to it."""

    __slots__ = ("memory", "value")

    def __init__(self, memory: Memory):
        self.memory, self.value = memory, value_of(memory.flat).copy()


class Read:
    """A number that was read from an array."""

    __slots__ = ("memory", "slot", "view")

    def __init__(self, memory: Memory, view: np.ndarray[Any, Any], slot: int):
        self.memory, self.view, self.slot = memory, view, slot

    def pull(self, sweep: Sweep) -> None:
        bar = sweep.numbers.pop(self.slot, None)
        if bar is not None:
            here = sweep.part(self.memory, self.view)
            here += bar

    def push(self, sweep: Sweep) -> None:
        if self.memory in sweep.shadows:
            sweep.numbers[self.slot] = sweep.part(self.memory, self.view)[()]


class Taken:
    """Elements that an index with arrays copied out of an array."""

    __slots__ = ("index", "memory", "result", "view")

    def __init__(self, memory: Memory, view: np.ndarray[Any, Any], index: Any, result: Any):
        self.memory, self.view, self.index, self.result = memory, view, index, result

    def pull(self, sweep: Sweep) -> None:
        flat = sweep.shadows.pop(self.result.memory, None)
        if flat is not None:
            bar = self.result.memory.part(flat, self.result.view)
            to = sweep.part(self.memory, self.view, self.index)
            for field, each in zip(number_fields(to), number_fields(bar), strict=True):
                np.add.at(field, self.index, each)

    def push(self, sweep: Sweep) -> None:
        if self.memory in sweep.shadows:
            set_dot(sweep, self.result, sweep.part(self.memory, self.view)[self.index])


class Written:
    """A value written to some elements of an array."""

    __slots__ = ("index", "memory", "value", "view")

    def __init__(self, memory: Memory, view: np.ndarray[Any, Any], index: Any, value: Any):
        self.memory, self.view, self.index, self.value = memory, view, index, value

    def pull(self, sweep: Sweep) -> None:
        if self.memory not in sweep.shadows:
            return
        whole = sweep.part(self.memory, self.view, self.index)
        bar = whole[self.index]
        if holds_operands(self.value):
            own = bar.copy() if isinstance(value_of(bar), np.ndarray) else bar
            last = last_written(self.view.shape, self.index)
            own = own if last is None else np.where(last, own, 0.0)
            whole[self.index] = 0
            sweep.add(self.value, in_shape_of(own, value_in(self.value)))
        else:
            whole[self.index] = 0

    def push(self, sweep: Sweep) -> None:
        dot = written_dot(self.value, sweep)
        if dot is not None or self.memory in sweep.shadows:
            whole = sweep.part(self.memory, self.view)
            whole[self.index] = 0 if dot is None else dot


class Added:
    """A value added to some elements of an array, or taken off."""

    __slots__ = ("index", "is_repeated", "memory", "sign", "value", "view")

    def __init__(
        self,
        memory: Memory,
        view: np.ndarray[Any, Any],
        index: Any,
        value: Any,
        sign: int,
        is_repeated: bool,
    ):
        self.memory, self.view, self.index, self.value = memory, view, index, value
        self.sign, self.is_repeated = sign, is_repeated

    def pull(self, sweep: Sweep) -> None:
        if self.memory not in sweep.shadows:
            return
        bar = sweep.part(self.memory, self.view, self.index)[self.index]
        own = bar.copy() if isinstance(value_of(bar), np.ndarray) else bar
        own = own if self.sign > 0 else -own
        sweep.add(self.value, in_shape_of(own, value_in(self.value)))

    def push(self, sweep: Sweep) -> None:
        dot = written_dot(self.value, sweep)
        if dot is None:
            return
        whole = sweep.part(self.memory, self.view)
        if self.is_repeated:
            (np.add if self.sign > 0 else np.subtract).at(whole, self.index, dot)
        elif self.sign > 0:
            whole[self.index] += dot
        else:
            whole[self.index] -= dot


def last_written(shape: tuple[int, ...], index: Any) -> Any:
    """Which elements of a value that is written stay, where some are written to one place; None if all do."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(
        isinstance(p, (list, np.ndarray)) and np.asarray(p).dtype.kind in "iu" for p in parts
    ):
        return None
    where = np.arange(int(np.prod(shape))).reshape(shape)[index]
    order = np.arange(where.size).reshape(where.shape)
    last = np.zeros(int(np.prod(shape)), dtype=int)
    last[where] = order
    stays = last[where] == order
    return None if stays.all() else stays


def in_shape_of(bar: Any, value: Any) -> Any:
    """A cotangent summed over what writing a value repeated it along."""
    if isinstance(value, (list, tuple)):
        return [in_shape_of(bar[k], item) for k, item in enumerate(value)]
    shape = np.shape(value_of(value))
    extra = len(shape) - np.ndim(value_of(bar))
    if extra > 0:
        bar = np.reshape(bar, (1,) * extra + tuple(np.shape(value_of(bar))))
    return unbroadcast(bar, value)
