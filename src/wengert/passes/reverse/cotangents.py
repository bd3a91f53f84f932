"""The cotangents of a block's values while its reverse sweep is being written.

Contributions to a value are kept until its defining equation is reached, and summed there once.
What a value is read from by index is *scattered*: written into a buffer of zeros in place, so that
reading `x[i]` costs O(1) in reverse as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager

from ...ir.builder import Builder, kind_of_atom, reduced_axes
from ...ir.graph import ZERO, Atom, Const, Span, Var
from ...ir.records import value_record
from ...ir.types import BOOL, UNKNOWN, Array, Kind, Number, Seq, Struct
from ...ops import registry, structure as st
from ...ops.cotangent_kinds import gradient_kind
from ...ops.program import cotangents as ct, memory as me
from ..edges.masks import ONE, Masks, count_of
from ..edges.zero_tangents import NO, YES
from .cotangents_of_lists import depth_of_lists, holds_numbers

NOTHING = Const(0.0)


@value_record
class Attribute:
    """A step into an object: its attribute `name`; `owner` is the primal object."""

    name: str
    owner: Atom


Step = Atom | Attribute
Path = tuple[Step, ...]


class Cotangents:
    """The cotangents of the values that one block defines (`local`) or takes from around it.

    `outer` gives the accumulator of a value from around the block, to be added to here; `around` are
    the cotangents of the block around a branch.
    """

    def __init__(
        self,
        builder: Builder,
        local: Iterable[Var],
        outer: Callable[[Var], Atom],
        arithmetic: set[Var],
        unbound: Collection[Atom],
        masks: Masks,
        fixed: bool,
        around: Cotangents | None = None,
    ):
        self.builder = builder
        self.around = around
        self.local = set(local)
        self.outer = outer
        self.arithmetic = arithmetic
        """Values that were operands of arithmetic: their cotangents can be added with `+`."""
        self.unbound = unbound
        """Values that a path leaves unbound."""
        self.masks = masks
        self.fixed = fixed
        """Whether containers have as many items in the reverse sweep as where they were read."""
        self.dense: dict[Var, list[Atom]] = {}
        self.scattered: dict[Var, list[tuple[Path, Atom]]] = {}
        self.read_at: dict[Var, Span] = {}
        """Where parts of values were read that are scattered: there the program fails if they are not there."""
        self.running: dict[Var, Atom] = {}
        """Accumulators that nothing else refers to, which loops carry and writes go into."""
        self.taken_over: set[Var] = set()
        """Values from around a branch whose accumulator is not what it was around the branch."""
        self.moves: dict[Var, dict[Atom, None]] = {}
        """Under which conditions what was contributed to a value is more than a written-out zero."""
        self.implied: dict[Atom, set[Atom]] = {} if around is None else around.implied
        """By composed condition: the conditions that imply it."""
        self.condition: Atom = YES if around is None else around.condition
        """Under which condition the contributions are that come now."""

    # --- contributing -----------------------------------------------------------------

    def add(self, var: Var, bar: Atom, count: Atom | None = None) -> None:
        """Contribute a whole cotangent; `count` says how often its entries are used, if that is known."""
        if bar != ZERO:
            self.add_counted(var, bar)
            if self.masks.counts(var):
                self._count(var, (), count_of(self, bar) if count is None else count)

    def add_counted(self, var: Var, bar: Atom) -> None:
        """Contribute a whole cotangent, where what it uses has been counted already."""
        self._note(var)
        self.dense.setdefault(var, []).append(bar)

    def scatter(self, var: Var, path: Path, bar: Atom) -> None:
        """Contribute the cotangent of the part of a value that a path leads to."""
        if bar == ZERO:
            return
        self._note(var)
        self.scattered.setdefault(var, []).append((path, bar))
        if self.masks.counts(var):
            self._count(var, path, count_of(self, bar) or ONE)
        if self.builder.span is not None:
            self.read_at[var] = self.builder.span

    def take_over(self, var: Var, buffer: Atom, count: Atom | None = None) -> None:
        """Contribute a whole cotangent that is for this value alone: it becomes its accumulator."""
        if self.has(var) or not fits_buffer(var, buffer) or not self._may_take_over(var):
            self.add(var, buffer, count)
            return
        self._note(var)
        if self.masks.counts(var):
            self._count(var, (), count)
        self.running[var] = buffer
        if not self.is_local(var):
            self.taken_over.add(var)

    def _may_take_over(self, var: Var) -> bool:
        """Whether nothing was contributed yet to a value, in the branches up to its own block."""
        around: Cotangents | None = self
        while around is not None:
            if around.has(var):
                return False
            if around.is_local(var):
                return True
            around = around.around
        return False

    def has(self, var: Var) -> bool:
        """Whether anything was contributed to a value."""
        return var in self.dense or var in self.scattered or var in self.running

    def captured(self) -> list[Var]:
        """The values from around the block that were contributed to."""
        found = {**self.running, **self.dense, **self.scattered}
        return [var for var in found if not self.is_local(var)]

    def is_local(self, var: Var) -> bool:
        """Whether the block defines a value, or one whose used entries this counts."""
        return self.masks.counted.get(var, var) in self.local

    def _count(self, var: Var, path: Path, count: Atom | None) -> None:
        """Count the entries of a value that a contribution comes from the use of; None: all of them."""
        if count is None or any(isinstance(step, Attribute) for step in path):
            self.masks.whole.add(var)
        elif path:
            self.scattered.setdefault(self.masks.counter(var), []).append((path, count))
        else:
            self.dense.setdefault(self.masks.counter(var), []).append(count)

    def count(self, var: Var) -> Atom | None:
        """How often each entry of a value is used, which is asked once; None if all may be."""
        counter = self.masks.counters.get(var)
        if counter is None:
            return None
        count = self.total(counter)
        return None if var in self.masks.whole or count == ZERO else count

    def only_scattered(self, var: Var) -> bool:
        """Whether a value was contributed to part by part only."""
        return var in self.scattered and var not in self.dense and var not in self.running

    def _note(self, var: Var) -> None:
        self.moves.setdefault(var, {})[self.condition] = None

    @contextmanager
    def where(self, flag: Atom) -> Generator[None]:
        """Under a further condition: contributions are written-out zeros where it does not hold."""
        before = self.condition
        self.condition = flag if before == YES else self.builder.emit(st.both, before, flag)
        self.implied[self.condition] = set()
        yield
        self.condition = before

    def moves_where(self, values: Iterable[Var]) -> Atom:
        """The condition under which anything but written-out zeros was contributed to some values."""
        flags = self.flags(values)
        if YES in flags:
            return YES
        return self._either(flags) if flags else NO

    def flags(self, values: Iterable[Var]) -> dict[Atom, None]:
        """The conditions under which anything but written-out zeros was contributed to some values."""
        found = [self.moves.get(var, {YES: None}) for var in values if self.has(var)]
        if not any(found):
            return {YES: None}
        return {flag: None for each in found for flag in each if flag != NO}

    def new_flag(self) -> Var:
        """A new value for whether a cotangent that control flow merges moves."""
        flag = Var(BOOL, "moves")
        self.implied[flag] = set()
        return flag

    def is_composed(self, flag: Atom) -> bool:
        """Whether a condition is none of the program's own: to ask for it takes more than that."""
        return flag in self.implied

    def _either(self, flags: Iterable[Atom]) -> Atom:
        """Whether one of some conditions holds, leaving out those that imply another one."""
        implying = {flag: self.implied.get(flag, set()) | {flag} for flag in flags}
        total, *others = (
            flag
            for flag in implying
            if not any(flag in each for other, each in implying.items() if other != flag)
        )
        for flag in others:
            both = implying.pop(total) | implying[flag]
            total = self.builder.emit(st.either, total, flag)
            implying[total] = self.implied[total] = both
        return total

    # --- summing ----------------------------------------------------------------------

    def total(self, var: Var) -> Atom:
        """The sum of all contributions, which are used up; ZERO if there were none."""
        count = self.count(var)
        total = self.take_sum(var)
        if count is not None and isinstance(total, Var):
            self.masks.known[total] = count
        return total

    def take_sum(self, var: Var) -> Atom:
        """The sum of all contributions of this block to a value, which are used up."""
        self.moves.pop(var, None)
        parts = self.dense.pop(var, [])
        buffer = self.running.pop(var, None)
        scattered = self.scattered.pop(var, [])
        if scattered:
            buffer = self.zeros(var) if buffer is None else buffer
            span = self.builder.span
            self.builder.span = span or self.read_at.get(var)
            for path, bar in scattered:
                buffer = self._write(buffer, path, bar, var)
            self.builder.span = span
        return self._sum(var, parts if buffer is None else [buffer, *parts])

    def accumulator(self, var: Var) -> Atom:
        """A running sum that nothing else refers to, created where there is none."""
        self._note(var)
        if var not in self.running:
            self.running[var] = self._new_accumulator(var)
        return self.running[var]

    def _new_accumulator(self, var: Var) -> Atom:
        if not self.is_local(var):
            return self.outer(var)
        if isinstance(var.kind, Number):
            total = self._sum(var, self.dense.pop(var, []))
            return NOTHING if total == ZERO else total
        return self.zeros(var)

    def zeros(self, var: Var) -> Atom:
        """The cotangent of a value that is zero: where the value is unbound, a number that adds to any."""
        options: dict[str, Atom] = {}
        if isinstance(var.kind, Struct) and (self.fixed or var.kind.form == "tuple"):
            row = None if var in self.unbound else st.row_of_zeros(self.builder, var.kind)
            if row is not None:
                return row
        if isinstance(var.kind, Seq):
            if self.unbound and holds_numbers(var.kind):
                options = {"unbound": NOTHING, "depth": Const(depth_of_lists(var.kind))}
        elif var in self.unbound and not isinstance(var.kind, Struct):
            options = {"unbound": NOTHING}
        like = self.masks.counted.get(var, var)
        return self.builder.emit_with(st.zeros, (like,), options, name=bar_name(var))

    def _write(self, buffer: Atom, path: Path, bar: Atom, var: Var) -> Atom:
        name = bar_name(var)
        if isinstance(path[0], Attribute):
            step = path[0]
            options = {"name": Const(step.name)}
            kind = kind_of_atom(buffer)
            args = (buffer, step.owner, bar)
            return self.builder.emit_with(ct.add_attr, args, options, "py", name, kind)
        steps = [step for step in path if not isinstance(step, Attribute)]
        if bar == ONE and var in self.masks.counted and len(steps) == 1 and _has_axes(buffer):
            # that an entry is used is all that is asked: no `np.add.at`, which is slow
            return self.builder.emit(me.stored, buffer, *steps, bar, kind=kind_of_atom(buffer))
        return self.builder.emit(st.add_at, buffer, *steps, bar, name=name)

    def _sum(self, var: Var, parts: Sequence[Atom]) -> Atom:
        parts = self._merged(var, parts)
        if not parts:
            return ZERO
        total = parts[0]
        for k, part in enumerate(parts[1:], start=2):
            total = self._plus(var, total, part, bar_name(var) if k == len(parts) else "")
        if isinstance(var.kind, Number) and total in (NOTHING, Const(0)):
            return ZERO
        self._describe(var, total)
        return total

    def _merged(self, var: Var, parts: Sequence[Atom]) -> Sequence[Atom]:
        """The parts without zeros, and with those that are one number everywhere as that number."""
        if isinstance(var.kind, Number):
            return [part for part in parts if part != NOTHING] or parts[:1]
        if len(parts) == 1 or not self.can_add(var):
            return parts
        pairs = [(part, self.uniform(part)) for part in parts]
        whole = [part for part, number in pairs if number is None]
        numbers = [number for _, number in pairs if number is not None]
        if len(whole) > 1:
            pairs = [(part, self.narrow(part)) for part in whole]
            full = [part for part, narrow in pairs if narrow is part]
            first = [] if full else [pairs.pop()[0]]
            whole = [*full, *first, *(narrow for part, narrow in pairs if narrow is not part)]
        if not numbers:
            return whole
        total = numbers[0]
        for number in numbers[1:]:
            total = self.builder.emit(registry.named("add"), total, number)
        return [*whole, total] if whole else [self.fill(total, var)]

    def _plus(self, var: Var, a: Atom, b: Atom, name: str) -> Atom:
        if self.can_add(var):
            return self.builder.emit(registry.named("add"), a, b, name=name)
        return self.builder.emit(st.accumulate, a, b, name=name)

    def can_add(self, var: Var) -> bool:
        """Whether cotangents of a value can be added with `+`."""
        return isinstance(var.kind, (Number, Array)) or var in self.arithmetic

    def _describe(self, var: Var, total: Atom) -> None:
        eqn = self.builder.definition(total)
        if eqn is None or not isinstance(total, Var) or total is var:
            return
        if not total.name:
            total.name = bar_name(var)
        if isinstance(var.kind, (Array, type(UNKNOWN))) and not isinstance(total.kind, Number):
            total.shape_of = var.shape_of

    # --- the same number everywhere -----------------------------------------------------

    def uniform(self, bar: Atom) -> Atom | None:
        """The number that an array cotangent is everywhere, if it is known to be one."""
        eqn = self.builder.definition(bar)
        if eqn is None or eqn.op is not st.fill:
            return None
        number = eqn.args[0]
        # of unknown kind, its products could no longer be told from arrays
        return number if isinstance(kind_of_atom(number), Number) else None

    def narrow(self, bar: Atom) -> Atom:
        """A cotangent before it was repeated along some axes: arithmetic with a whole one repeats it."""
        eqn = self.builder.definition(bar)
        if eqn is None or not isinstance(kind_of_atom(eqn.args[0]), Array):
            return bar
        if eqn.op.name == "broadcast_like":
            return eqn.args[0]
        if eqn.op.name != "unreduce":
            return bar
        axes = reduced_axes(eqn.args[1], eqn.params)
        if axes is None:
            return bar
        if eqn.param("keepdims", False) or axes == tuple(range(len(axes))):
            return eqn.args[0]
        axis = Const(axes[0] if len(axes) == 1 else axes)
        return self.builder.emit(
            registry.named("expand_dims"), eqn.args[0], axis=axis, namespace="index"
        )

    def fill(self, number: Atom, var: Atom) -> Atom:
        """An array cotangent that is the same number everywhere."""
        return self.builder.emit(st.fill, number, var)


def fits_buffer(var: Var, buffer: Atom) -> bool:
    """Whether a buffer can accumulate the cotangent of a value: its dtype can hold what that can be."""
    wanted, kind = gradient_kind(var.kind), kind_of_atom(buffer)
    if not isinstance(buffer, Var) or isinstance(kind, Number):
        return False
    if not isinstance(wanted, Array):
        return True
    return isinstance(kind, Array) and wanted.dtype in ("", kind.dtype)


def can_be_lent(var: Var) -> bool:
    """Whether a callee may add to the accumulator of a value: an array whose dtype is known."""
    kind = gradient_kind(var.kind)
    return isinstance(kind, Array) and bool(kind.dtype)


def bar_name(var: Var) -> str:
    """What the cotangent of a value is called."""
    return f"{var.name}_bar" if var.name else ""


def cotangent_of(var: Var, kind: Kind | None = None) -> Var:
    """A new value for the cotangent of a value."""
    return Var(gradient_kind(var.kind) if kind is None else kind, bar_name(var), var.shape_of)


def _has_axes(buffer: Atom) -> bool:
    kind = kind_of_atom(buffer)
    return isinstance(kind, Array) and bool(kind.rank)
