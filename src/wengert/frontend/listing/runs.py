"""A recorded run written out: the steps of its tape as equations, one after the other.

What the run was told of its numbers (comparisons, lengths, indices) is asked again where it was told it: the equations
are right for every call that goes the same way, and raise for the others. An array that is written to is from then on
the flat memory that it lies in, and what is read of it are elements of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Function, Input, Var
from ...ir.records import value_record
from ...ir.types import NONE, Kind, Struct, step_into
from ...numbers.number import value_of
from ...ops import elementwise as el, structure as st
from ...ops.arrays.creation import array as array_op
from ...ops.program import identity as ident, memory as writes
from ..boundary import signature, taking_apart
from ..domain.values import Items, Value, flatten, fresh, kind_of_value
from ..record.boxes import Recorded
from ..record.memory import Memory, places
from ..record.run import Leaf, RecordedRun
from ..record.steps import Added, Asked, Begun, Computed, Read, Taken, Written
from ..record.tape import Held, Moved, Number, Placed, Seen, value_in
from .arrays import Arrays, Holding, item_size
from .equations import LITERALS, is_literal, kind_of_result, no_text, spelling

MOST_STEPS = 40_000


@value_record
class Given:
    """An input of the function: its kind, and what it is in this run."""

    name: str
    kind: Kind
    value: Any
    how: str = "positional"


@value_record
class Listing:
    """What a run written out is."""

    function: Function
    must_be_apart: bool
    """Whether it changes one of the arrays it is given, which others of them may share."""


def listed(
    name: str,
    function: Any,
    positional: Sequence[Given],
    others: Sequence[Given],
    wrt: Sequence[int],
) -> Listing:
    """The equations of a run of a function.

    Args:
        name: of the function.
        function: what is run.
        positional: its arguments, which the run may change.
        others: what it is given by keyword, and what it has captured: it must be the same in each call.
        wrt: the arguments that derivatives are taken by.

    Raises:
        UnsupportedSyntax: the run does what equations cannot say.
    """
    args = [each.value for each in positional]
    kwargs = {each.name: each.value for each in others if each.how == "keyword"}
    moving = [k for k, x in enumerate(args) if k in wrt or not isinstance(x, (int, np.integer))]
    run = RecordedRun(function, args, kwargs, moving, listed=True)
    writer = Writer()
    captured = [each for each in others if each.how == "captured"]
    for each in captured:
        writer.take(each, None)
    for k, each in enumerate(positional):
        writer.take(each, run.builds[k](lambda leaf: leaf) if k in moving else None)
    for each in others:
        if each.how == "keyword":
            writer.take(each, None)
    for holder, key, value in run.rests_on:
        writer.rest_on(holder, key, value)
    writer.write(run.run.tape.entries)
    result = writer.result(run.y)
    changed = writer.leave_arguments()
    outs, kind = tuple(flatten(result)), kind_of_value(result)
    body = writer.builder.block(writer.params, outs)
    function_ = Function(name, tuple(writer.inputs), body, kind)
    return Listing(function_, changed and len(writer.arrays) > 1)


class Writer(Arrays):
    """Writes equations for the steps of a tape."""

    def __init__(self) -> None:
        super().__init__()
        self.inputs: list[Input] = []
        self.params: list[Var] = []
        self.arrays: list[tuple[Var, Memory, Any]] = []
        """The arrays among the arguments, with the views that they are."""
        self.numbers: dict[int, Atom] = {}
        self.settled: set[Atom] = set()
        """Whole numbers that are the same in each call."""

    # --- what the run is given ------------------------------------------------------------

    def take(self, given: Given, tree: Any) -> None:
        """An input; `tree` has its structure, with a `Leaf` for each number that the run follows."""
        value = fresh(given.kind, given.name)
        self.inputs.append(Input(given.name, given.kind, given.how))
        self.params += [atom for atom in flatten(value) if isinstance(atom, Var)]
        self.take_value(given.kind, value, tree, given.value)

    def take_value(self, kind: Kind, value: Value, tree: Any, x: Any) -> None:
        if isinstance(value, Items) and isinstance(kind, Struct):
            for key, item, inner in zip(value.keys, value.values, kind.items, strict=True):
                step = step_into(kind, key)
                part = None if tree is None else taking_apart.step(tree, step)
                self.take_value(inner, item, part, taking_apart.step(x, step))
        elif isinstance(value, Var):
            self.take_leaf(value, tree, x)

    def take_leaf(self, var: Var, tree: Any, x: Any) -> None:
        if isinstance(tree, Leaf):
            self.take_number(var, tree.box, x)
        elif isinstance(x, (list, tuple)) and isinstance(tree, (list, tuple)):
            self.check(ident.counted, self.emit(st.length, var), len(x))
            for k, (item, part) in enumerate(zip(x, tree, strict=True)):
                at = self.emit(st.getitem, var, Const(k), kind=signature.kind_of(item, 1))
                self.take_leaf(at, part, item) if isinstance(at, Var) else None
        elif isinstance(x, (int, np.integer)) and not isinstance(x, bool):
            self.check(ident.counted, var, int(x))
        elif isinstance(x, (np.ndarray, *LITERALS)):
            self.must_be(var, x)
        else:
            raise no_text(f"it is given a {type(x).__name__}")

    def take_number(self, var: Var, box: Recorded, x: Any) -> None:
        if box.memory is not None:
            if box.memory in self.holdings:
                raise no_text("it is given one array twice")
            if x.ndim:
                self.check(ident.counted, var, x.shape)
            self.hold(box.memory, var, value_of(box))
            self.arrays.append((var, box.memory, value_of(box)))
            return
        assert box.number is not None
        known = self.numbers.setdefault(box.number.slot, var)
        if isinstance(x, (int, np.integer)):
            self.check(ident.counted, var, int(x))
            self.settled.add(var)
        elif known is not var:
            self.check(ident.decided, self.emit(st.eq, var, known), True)

    def rest_on(self, holder: dict[str, Any], key: str, value: Any) -> None:
        """Check that a global name means what it meant in the run."""
        options = {"name": Const(key), "holder": Const(holder), "key": Const(key)}
        found = self.builder.emit_with(st.global_, (), options)
        if isinstance(value, np.ndarray):
            self.must_be(found, value)
        else:
            self.check(ident.decided, found, value)

    def leave_arguments(self) -> bool:
        """Leave in the arrays that were given what the run has left there; whether it has changed any."""
        changed = [each for each in self.arrays if each[1] in self.written]
        if changed and len(self.arrays) > 1:
            given = tuple(var for var, _, _ in self.arrays)
            self.builder.eqns.insert(0, Eqn((Var(NONE),), ident.apart, given))
        for var, memory, view in changed:
            self.emit(writes.overwrite, var, self.part(memory, view))
        return bool(changed)

    # --- steps ----------------------------------------------------------------------------

    def write(self, entries: Any) -> None:
        """The equations of all steps."""
        assert isinstance(entries, Placed)
        if len(entries) > MOST_STEPS:
            raise no_text(f"it has {len(entries)} steps, more than {MOST_STEPS}")
        for entry, span in zip(entries, entries.spans, strict=True):
            self.builder.span = span
            _STEPS[type(entry)](self, entry)
        self.builder.span = None

    def computed(self, step: Computed) -> None:
        args = [self.operand(x) for x in step.operands]
        options = {name: self.operand(x) for name, x in step.options.items()}
        value = value_in(step.results)
        space = spelling(step.op, value)
        kind = kind_of_result(value)
        out = self.builder.emit_with(step.op, args, options, space, "", kind)
        if all(isinstance(x, Const) or x in self.settled for x in args):
            self.settled.add(out)
        self.define(step.results, out)

    def define(self, result: Any, out: Atom) -> None:
        if isinstance(result, Number):
            self.numbers[result.slot] = out
        elif isinstance(result, Seen):
            self.hold(result.memory, out, result.view)
        elif isinstance(result, (list, tuple)):
            for k, each in enumerate(result):
                if isinstance(each, (Number, Seen, list, tuple)):
                    kind = kind_of_result(value_in(each))
                    self.define(each, self.emit(st.getitem, out, Const(k), kind=kind))

    def asked(self, step: Asked) -> None:
        args = [self.operand(x) for x in step.operands]
        if all(isinstance(x, Const) or x in self.settled for x in args):
            return
        if step.op is None:
            for atom, x in zip(args, step.operands, strict=True):
                self.must_be(atom, value_in(x))
            return
        options = {name: self.operand(x) for name, x in step.options.items()}
        space = spelling(step.op, step.answer)
        self.must_be(self.builder.emit_with(step.op, args, options, space), step.answer)

    def begun(self, step: Begun) -> None:
        if step.memory.is_of_records:
            raise no_text("it writes to an array of records", self.builder.span)
        self.holdings[step.memory] = Holding(self.constant(step.value), None)

    def read(self, step: Read) -> None:
        memory, view = step.memory, step.view
        at = int(self.places_in(memory, np.asarray(places(view, memory.low, item_size(memory)))))
        kind = signature.kind_of(view[()])
        self.numbers[step.slot] = self.emit(st.getitem, self.flat_of(memory), Const(at), kind=kind)

    def taken(self, step: Taken) -> None:
        where = np.asarray(self.places_of(step.memory, step.view)[step.index])
        atom = self.elements(step.memory, where)
        self.hold(step.result.memory, atom, step.result.view)

    def wrote(self, step: Written) -> None:
        self.store(step.memory, step.view, step.index, self.as_array(step.value))

    def added(self, step: Added) -> None:
        value = self.as_array(step.value)
        memory, view = step.memory, step.view
        if not step.is_repeated:
            op = el.add if step.sign > 0 else el.sub
            kind = kind_of_result(view)
            before = self.part(memory, view)
            self.store(memory, view, ..., self.emit(op, before, value, kind=kind))
            return
        value = value if step.sign > 0 else self.emit(el.neg, value)
        flat = self.flat_of(memory)
        where = self.constant(np.asarray(self.places_of(memory, view)[step.index]))
        zeros = self.emit(st.zeros, flat)
        added = self.builder.emit(st.add_at, zeros, where, value, namespace="np")
        total = self.emit(el.add, flat, added, kind=kind_of_atom(flat))
        self.written.add(memory)
        self.holdings[memory] = Holding(total, None, self.holdings[memory].order)

    def number_of(self, x: Number) -> Atom:
        atom = self.numbers.get(x.slot)
        if atom is None:
            raise no_text("it uses a number that no step has made", self.builder.span)
        return atom

    # --- operands -------------------------------------------------------------------------

    def as_array(self, x: Any) -> Atom:
        """What is written to an array: a list as an array."""
        atom = self.operand(x)
        if not isinstance(x, (list, tuple)):
            return atom
        return self.builder.emit_with(
            array_op, [atom], {}, "np", "", kind_of_result(np.asarray(value_in(x)))
        )

    def operand(self, x: Any) -> Atom:
        if isinstance(x, Number):
            return self.number_of(x)
        if isinstance(x, Seen):
            return self.part(x.memory, x.view)
        if isinstance(x, Moved):
            return self.elements(x.memory, self.places_in(x.memory, x.places))
        if isinstance(x, Held):
            return self.constant(x.value)
        if isinstance(x, (list, tuple)):
            if is_literal(x):
                return Const(x) if isinstance(x, tuple) else self.constant(x)
            return self.packed("list" if isinstance(x, list) else "tuple", map(self.operand, x))
        return self.constant(x)

    # --- the result -----------------------------------------------------------------------

    def result(self, y: Any) -> Value:
        """The result of the run, of atoms."""
        if type(y) is Recorded:
            if y.number is not None:
                return self.number_of(y.number)
            return (
                self.part(y.memory, value_of(y))
                if y.memory in self.holdings
                else self.constant(value_of(y))
            )
        if isinstance(y, (list, tuple)):
            form = "list" if isinstance(y, list) else "tuple"
            keys: tuple[Any, ...] = getattr(type(y), "_fields", tuple(range(len(y))))
            cls = type(y) if hasattr(type(y), "_fields") else None
            return Items("namedtuple" if cls else form, keys, tuple(map(self.result, y)), cls)
        if type(y) is dict:
            return Items("dict", tuple(y), tuple(map(self.result, y.values())))
        if isinstance(y, (np.ndarray, np.generic, *LITERALS)):
            return self.constant(y)
        raise no_text(f"it returns a {type(y).__name__}")


_STEPS: Mapping[type, Callable[[Writer, Any], None]] = {
    Computed: Writer.computed,
    Asked: Writer.asked,
    Begun: Writer.begun,
    Read: Writer.read,
    Taken: Writer.taken,
    Written: Writer.wrote,
    Added: Writer.added,
}
