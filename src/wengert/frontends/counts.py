"""What the counts of one call decide: its whole numbers and the shapes of its arrays.

A program is read for arguments of some kinds. Where that is refused it is read once more, for one call:
what follows from the counts of that call is known, and loops whose turns they decide are written out
turn by turn. Every object that such a loop makes or meets is then known by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnsupportedSyntax
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import IF, UNDEFINED, Atom, Const, Eqn, Span, Var
from ..ir.op import Op
from ..ir.records import field, mutable_record, value_record
from ..ir.types import COMPLEX, FLOAT, INT, Kind, Number
from ..ops import identity as ident
from ..ops import memory as me
from ..ops import structure as st
from .heap import now
from .values import Items, Value, flatten

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .iteration import Running

MOST_TURNS = 400
"""How many turns of loops and calls are written out at most."""
MOST_WORK = 8000
"""How long the program may become, and how often objects of branches are looked up in it."""
LARGEST = 4096
"""Of larger arrays the shape is not followed: nobody wants a loop over them written out."""


@value_record
class Shape:
    """What is known of an array."""

    shape: tuple[int, ...]
    dtype: str


@value_record
class Listed:
    """What is known of a list: the shape of the array that NumPy makes of it."""

    shape: tuple[int, ...]


class Leaves(tuple[Any, ...]):  # noqa: SLOT001 - a tuple has no slots for what it is made of
    """All leaves of an input of one call, in the place of their counts; equal to no others."""

    whole: Any
    """The input itself."""
    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Unsure:
    """What is known of a value of which nothing is."""


UNSURE = Unsure()
STAND_IN = 0.5
"""A number in place of one that is not known, where only the shape of the result is asked for."""

_EXACT = (bool, int, str, slice, range, tuple, float, complex, type(None))
_SAME = (st.bound, st.unpackable, ident.distinct, ident.unshared)
_OF_COUNTS = (st.getitem, st.slice_, st.range_, st.length, st.not_, st.either)
_OF_SHAPES = frozenset(
    [
        "asarray",
        "atleast_1d",
        "broadcast_to",
        "concatenate",
        "copy",
        "cross",
        "cumprod",
        "cumsum",
        "diag",
        "diagonal",
        "diff",
        "dot",
        "expand_dims",
        "eye",
        "flip",
        "full",
        "full_like",
        "inner",
        "linspace",
        "matmul",
        "moveaxis",
        "ones",
        "ones_like",
        "outer",
        "ravel",
        "reshape",
        "roll",
        "shape",
        "size",
        "squeeze",
        "stack",
        "swapaxes",
        "tile",
        "transpose",
        "tril",
        "triu",
        "zeros",
        "zeros_like",
    ]
)
"""Ops whose result has a shape that the shapes of arrays and what is known of numbers decide."""


@mutable_record
class Counts:
    """What is known of the values of one reading."""

    is_one_run = False
    leaves: Mapping[str, Sequence[Any]]
    """For every input the counts of its leaves; None for a leaf that has none."""
    facts: dict[Var, Any] = field(default_factory=dict[Var, Any])
    raised: dict[Eqn, Exception] = field(default_factory=dict[Eqn, Exception])
    """What equations are known to raise."""
    given: set[Var] = field(default_factory=set[Var])
    """Whole numbers that come from an argument: they may have derivatives."""
    turns: int = MOST_TURNS
    work_left: int = MOST_WORK

    def of(self, atom: Atom) -> Any:
        """What is known of a value: the value, a `Shape`, or `UNSURE`."""
        if isinstance(atom, Var):
            return self.facts.get(atom, UNSURE)
        return atom.value if isinstance(atom.value, _EXACT) else UNSURE

    def begin_whole(self, name: str, given: Var) -> None:
        """Note what is known of an input that the program changes, before it is taken apart."""

    def begin(self, name: str, leaves: Sequence[Atom]) -> None:
        """Note the counts of an input."""
        unknown = (leaf for leaf in leaves if isinstance(leaf, Var))
        for leaf, count in zip(unknown, self.leaves.get(name, ()), strict=False):
            if count is not None:
                self.facts[leaf] = Shape(*count) if isinstance(count, tuple) else count
                if isinstance(count, int):
                    self.given.add(leaf)

    def note(self, eqn: Eqn) -> None:
        """Note what is known of the result of an equation.

        Raises:
            UnsupportedSyntax: there are too many.
        """
        self.work()
        if eqn.op is IF:
            for k, out in enumerate(eqn.outs):
                self._learn(out, self._of_either(*(block.outs[k] for block in eqn.blocks)))
        elif not eqn.op.control and len(eqn.outs) == 1 and self.can_compute(eqn):
            (out,) = eqn.outs
            self._learn(out, self.computed(eqn))
            if self.is_whole(out) and any(arg in self.given for arg in eqn.args):
                self.given.add(out)

    def can_compute(self, eqn: Eqn) -> bool:
        """Whether an equation may be computed while the program is read."""
        return eqn.namespace != "call"

    def is_whole(self, out: Var) -> bool:
        """Whether a value is a whole number."""
        return out.kind == INT

    def work(self) -> None:
        """One more step of the reading is done.

        Raises:
            UnsupportedSyntax: it takes too many.
        """
        self.work_left -= 1
        if self.work_left < 0:
            raise UnsupportedSyntax(
                "this program is too long when its loops are written out",
                "Shorten its loops, or avoid what keeps them from being loops.",
            )

    def constant(self, builder: Builder, out: Var) -> Const | None:
        """A value as a constant, if what is known of it decides it."""
        fact = self.of(out)
        return Const(fact) if isinstance(fact, (bool, int, slice, range)) else None

    def known(self, builder: Builder, out: Var) -> Const | None:
        """A value as a constant, for an index or a truth, of which its type is nothing."""
        return self.constant(builder, out)

    def has_run(self, eqn: Eqn) -> bool:
        """Whether an equation was computed, so that it is known to raise nothing."""
        return False

    def length(self, builder: Builder, iterable: Atom) -> int | None:
        """How many items there are, if that is known."""
        fact = self.of(iterable)
        if isinstance(fact, Shape):
            return fact.shape[0]
        return len(fact) if isinstance(fact, (range, tuple, str)) else None

    def keys(self, builder: Builder, mapping: Atom) -> tuple[Any, ...] | None:
        """The keys of a dictionary, if they are known."""
        return None

    def expected(self, params: Sequence[Var]) -> Iterator[tuple[Var, Any]]:
        """The parameters that a call must have with the same counts, and these."""
        for param in params:
            fact = self.of(param)
            if fact is not UNSURE:
                yield param, fact.shape if isinstance(fact, Shape) else fact

    def _learn(self, out: Var, fact: Any) -> None:
        if fact is not UNSURE:
            self.facts[out] = fact

    def _of_either(self, a: Atom, b: Atom) -> Any:
        if UNDEFINED in (a, b):
            return self.of(b if a == UNDEFINED else a)
        x, y = self.of(a), self.of(b)
        return x if isinstance(x, Shape) and x == y else UNSURE

    def computed(self, eqn: Eqn) -> Any:
        args = [self.of(arg) for arg in eqn.args]
        if eqn.op in _SAME:
            return args[0]
        if eqn.op in (me.store, me.overwrite):
            return args[0] if isinstance(args[0], Shape) else UNSURE
        if eqn.op is st.pack:
            return self._listed(eqn)
        if eqn.op.name in ("array", "asarray") and isinstance(args[0], Listed):
            return Shape(args[0].shape, "float64")
        args = list(map(_unless_listed, args))
        options = {name: _unless_listed(self.of(atom)) for name, atom in eqn.params.items()}
        if any(isinstance(fact, Shape) for fact in (*args, *options.values())):
            return _shape_of_result(eqn, args, options)
        if eqn.op.name in _OF_SHAPES:
            return _shape_of_result(eqn, args, options)
        if UNSURE in args or UNSURE in options.values():
            return UNSURE
        counting = eqn.op.elementwise or eqn.op in _OF_COUNTS
        found = tried(eqn.op, args, options) if counting else UNSURE
        return found if type(found) in (bool, int, slice, range, tuple) else UNSURE

    def _listed(self, eqn: Eqn) -> Any:
        shapes = {
            () if isinstance(kind_of_atom(atom), Number) else getattr(self.of(atom), "shape", None)
            for atom in eqn.args
        }
        shape = shapes.pop() if len(shapes) == 1 else None
        if shape is None or eqn.param("form") not in ("list", "tuple"):
            return UNSURE
        return Listed((len(eqn.args), *shape))


def _unless_listed(fact: Any) -> Any:
    """What is known of an operand: of two lists of like shape nothing says that they are equal."""
    return UNSURE if isinstance(fact, Listed) else fact


def _shape_of_result(eqn: Eqn, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    op = eqn.op
    args = [
        STAND_IN if fact is UNSURE and _decides_no_shape(op, atom) else fact
        for fact, atom in zip(args, eqn.args, strict=True)
    ]
    known = op in _OF_COUNTS or op.name in _OF_SHAPES
    if not (op.elementwise or op.reduction or known or op.shaped_like is not None):
        return UNSURE
    if UNSURE in args or UNSURE in options.values():
        return UNSURE
    if op is st.getitem and any(isinstance(a, Shape) and a.dtype == "bool" for a in args):
        return UNSURE
    found = tried(op, list(map(_like, args)), {k: _like(v) for k, v in options.items()})
    if isinstance(found, np.ndarray) and found.ndim:
        return Shape(found.shape, found.dtype.name) if found.size <= LARGEST else UNSURE
    exact = op is st.length or op.name in ("shape", "size")
    return found if exact and isinstance(found, (int, tuple)) else UNSURE


def _decides_no_shape(op: Op, operand: Atom) -> bool:
    kind = kind_of_atom(operand)
    return isinstance(kind, Number) if op.elementwise else kind in (FLOAT, COMPLEX)


def _like(fact: Any) -> Any:
    if not isinstance(fact, Shape):
        return fact
    return np.broadcast_to(np.zeros((), fact.dtype), fact.shape)


def tried(op: Op, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return op(*args, **options)
    except Exception:  # it is for the run to fail
        return UNSURE


class CountingBuilder(Builder):
    """Notes what is known of results; what has no derivative is a constant then."""

    __slots__ = ("counts",)

    def __init__(self, counts: Counts | None, span: Span | None = None, *, derived: bool = False):
        super().__init__(span, derived=derived)
        self.counts = counts

    def child(self) -> Builder:
        return CountingBuilder(self.counts, self.span, derived=self.derived).within(self)

    def emit_with(
        self,
        op: Op,
        args: Sequence[Atom],
        params: Mapping[str, Atom],
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
    ) -> Atom:
        out = super().emit_with(op, args, params, namespace, name, kind)
        if self.counts is None or isinstance(out, Const) or op.effect or op is st.global_:
            return out
        if out in self.counts.given and out.kind == INT:
            return out
        eqn = self.eqns[-1] if self.eqns else None
        decided = self.counts.constant(self, out)
        if decided is None or isinstance(decided.value, slice):
            return out
        if eqn is not None and eqn is self.eqns[-1] and eqn.outs == (out,):
            self.eqns.pop()  # nothing reads it
        return decided

    def append(self, eqn: Eqn, *, derived: bool = False) -> None:
        super().append(eqn, derived=derived)
        if self.counts is not None:
            self.counts.note(eqn)


def builder_for(counts: Counts | None) -> Builder:
    """A builder for a reading."""
    return Builder() if counts is None else CountingBuilder(counts)


def known(it: Interpreter, value: Value) -> Value:
    """A value as a constant where the counts decide it: for what has no derivative in it."""
    if it.reading.counts is None or not isinstance(value, Var):
        return value
    return it.reading.counts.known(it.builder, value) or value


def with_known_keys(it: Interpreter, value: Value) -> Value:
    """A dictionary of which the values of a run say the keys, its items apart; anything else as it is."""
    from .items import subscript

    counts = it.reading.counts
    keys = counts.keys(it.builder, value) if counts is not None and isinstance(value, Var) else None
    if keys is None:
        return value
    return Items("dict", keys, tuple(subscript(it, value, Const(key)) for key in keys))


def handed_on(it: Interpreter, value: Value, inside: Value) -> None:
    """What is known of a value is known of the parameter that stands for it, leaf by leaf."""
    counts = it.reading.counts
    leaves, params = list(flatten(value)), list(flatten(inside))
    if counts is None or len(leaves) != len(params):
        return
    for leaf, param in zip(leaves, params, strict=True):
        if isinstance(param, Var) and counts.of(leaf) is not UNSURE:
            counts.facts[param] = counts.of(leaf)
            counts.given.add(param)


def take_turn(it: Interpreter) -> None:
    """One more turn is written out.

    Raises:
        UnsupportedSyntax: there are too many.
    """
    assert it.reading.counts is not None
    it.reading.counts.turns -= 1
    if it.reading.counts.turns < 0:
        raise it.unsupported("this loop has too many turns to be written out", "Use fewer.")


def turns_of(it: Interpreter, running: Running) -> int | None:
    """How many turns a loop over something has, where the counts decide it, or names that it walks over."""
    counts = it.reading.counts
    if counts is None:
        return _turns_of_names(it, running)
    if running.every is not None:
        return None
    lengths = [counts.length(it.builder, it.atom(iterable)) for iterable in running.iterables]
    known_lengths = [length for length in lengths if length is not None]
    return min(known_lengths) if len(known_lengths) == len(lengths) else None


def _turns_of_names(it: Interpreter, running: Running) -> int | None:
    if running.named is None:
        return None
    for array in running.named.arrays:
        length = it.emit(st.length, it.atom(array))
        it.emit(ident.long_enough, length, Const(running.named.turns))
    return running.named.turns


def by_turns(it: Interpreter, running: Running) -> Iterator[Value] | None:
    """The items of a loop turn by turn, where it is known how many there are."""
    count = turns_of(it, running)
    return None if count is None else (item_of_turn(it, running, k) for k in range(count))


def item_of_turn(it: Interpreter, running: Running, k: int) -> Value:
    """What a loop binds in one of its turns."""
    if it.reading.counts is None and running.named is not None:
        return running.named.item(k)
    take_turn(it)
    return taken(it, running, k)


def taken(it: Interpreter, running: Running, k: int) -> Value:
    """The item that a loop comes to in one of its turns: arrays are looked at then, not before."""
    elements: list[Any] = []
    for iterable in running.iterables:
        if isinstance(iterable, Const):
            elements.append(Const(iterable.value[k]))
        else:
            elements.append(it.emit(st.getitem, it.atom(now(it, iterable)), Const(k)))
    return running.item(elements)


def is_by_turns(it: Interpreter) -> bool:
    """Whether loops whose turns are known are written out."""
    return it.reading.counts is not None
