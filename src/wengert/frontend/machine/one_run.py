"""What all values of one call decide: which way every branch goes.

Every operation that is read is computed as well, so that comparisons, lengths and indices are known: the run is
written out. The derivative checks each of them when it is run: it is right for all calls that go the same way, and an
error for the others.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import UnsupportedSyntax
from ...ir.builder import Builder
from ...ir.graph import CALL, IF, UNDEFINED, Atom, Const, Eqn, Var, walk
from ...ir.op import Op
from ...ir.records import field, mutable_record
from ...ir.types import INT, NONE, Array
from ...ops import structure as st
from ...ops.program import containers as co
from ...ops.program import identity as ident
from ...ops.program.drawing import is_generator, makes_generator
from ...ops.program.memory import WRITES
from ...ops.registry import is_foreign
from ..domain.values import held_by
from ..polyfills.manifest import stand_in_for
from .runs import UNSURE, Values
from .shared_generators import SharedGenerators, is_shared_draw

_EXACT = (bool, int, str, slice, range)
MOST_TURNS = 3000
MOST_WORK = 40_000


@mutable_record
class OneRun:
    """The values of one run, as far as the vocabulary can compute them.

    Arrays and lists live: a write changes them, so that what shares their memory sees it, as in the run.
    """

    inputs: Mapping[str, Values]
    """For every input its leaves."""
    facts: dict[Var, Any] = field(default_factory=dict[Var, Any])
    raised: dict[Eqn, Exception] = field(default_factory=dict[Eqn, Exception])
    """What equations are known to raise."""
    given: set[Var] = field(default_factory=set[Var])
    """Whole numbers that come from an argument: they may have derivatives."""
    turns: int = field(default_factory=lambda: MOST_TURNS)
    work_left: int = field(default_factory=lambda: MOST_WORK)
    _counted: set[Var] = field(default_factory=set[Var])
    """Whole numbers that are checked where the run begins."""
    _globals: dict[tuple[int, str], Any] = field(default_factory=dict[tuple[int, str], Any])
    _generators: SharedGenerators = field(default_factory=SharedGenerators)

    def of(self, atom: Atom) -> Any:
        """The value of an atom, or `UNSURE`."""
        return self.facts.get(atom, UNSURE) if isinstance(atom, Var) else atom.value

    def begin_whole(self, name: str, given: Var) -> None:
        """Note the value of an input that the program changes, before it is taken apart."""
        values = self.inputs.get(name)
        if values is not None and _is_data(values.whole):
            self.facts[given] = copy.deepcopy(values.whole)
            self.given.add(given)

    def begin(self, name: str, leaves: Sequence[Atom]) -> None:
        """Note the values of the leaves of an input."""
        unknown = (leaf for leaf in leaves if isinstance(leaf, Var))
        for leaf, value in zip(unknown, self.inputs.get(name, ()), strict=False):
            if leaf not in self.facts and _is_data(value):
                self.facts[leaf] = copy.deepcopy(value)
                if is_whole(leaf):
                    self.given.add(leaf)
                if type(value) in (bool, int):
                    self._counted.add(leaf)

    def expected(self, params: Sequence[Var]) -> Iterator[tuple[Var, Any]]:
        """Shapes and whole numbers that a call must have: what other values decide is checked where it does."""
        for param in params:
            fact = self.of(param)
            if isinstance(fact, np.ndarray):
                yield param, fact.shape
            elif type(fact) in (bool, int):
                yield param, fact

    def note(self, eqn: Eqn) -> None:
        """Note what is known of the result of an equation.

        Raises:
            UnsupportedSyntax: there are too many.
        """
        self.work()
        if eqn.op is IF:
            for k, out in enumerate(eqn.outs):
                self._learn(out, self._bound_in_either(*(block.outs[k] for block in eqn.blocks)))
        elif not eqn.op.control and len(eqn.outs) == 1 and _can_compute(eqn):
            (out,) = eqn.outs
            self._learn(out, self._computed(eqn))
            counts = eqn.op is st.length  # which has no derivative
            if is_whole(out) and not counts and any(arg in self.given for arg in eqn.args):
                self.given.add(out)
        # only one of the blocks is run, but all have been read
        if eqn.op.control:
            self._generators.forget(eqn)
        if eqn.op.control and _may_write(eqn):
            self.facts = {var: fact for var, fact in self.facts.items() if _stays(fact)}

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

    def _learn(self, out: Var, fact: Any) -> None:
        if fact is not UNSURE:
            self.facts[out] = fact

    def _bound_in_either(self, a: Atom, b: Atom) -> Any:
        return self.of(b if a == UNDEFINED else a) if UNDEFINED in (a, b) else UNSURE

    def _computed(self, eqn: Eqn) -> Any:
        args = [self.of(arg) for arg in eqn.args]
        options = {name: self.of(atom) for name, atom in eqn.params.items()}
        if is_shared_draw(eqn):
            drawn = self._generators.called(eqn, args, options, UNSURE)
            return drawn if _is_data(drawn) else UNSURE
        if any(value is UNSURE for value in (*args, *options.values())):
            return UNSURE
        if eqn.op is st.pack:
            return _packed(args, options)
        if eqn.op is st.format_ and not all(map(self._is_fixed, eqn.args)):
            return UNSURE
        if eqn.op is st.global_:
            return self._global(options["holder"], options["key"])
        if makes_generator(eqn) or any(map(is_generator, map(_owner_of, args))):
            return _drawn(eqn, args, options)
        if eqn.op.effect and eqn.op not in _COMPUTED and not _asks(eqn) and not _is_of_numbers(eqn):
            return UNSURE
        try:
            with np.errstate(all="ignore"):
                found = args[0](*args[1:]) if _asks(eqn) else eqn.op(*args, **options)
        except Exception as error:  # it is for the run to raise it
            self.raised[eqn] = error
            return UNSURE
        return found if _is_data(found) else UNSURE

    def _is_fixed(self, atom: Atom) -> bool:
        """Whether a value has no derivative: what is made of it, and read back, has none either."""
        if isinstance(atom, Const):
            return True
        return type(self.of(atom)) in (str, bool, int) and atom not in self.given

    def _global(self, holder: Any, key: str) -> Any:
        """What a name of a module is at the start of the run; the same object wherever it is read.

        Of attributes of classes only what containers hold is said: the program may count its objects in others.
        """
        if not isinstance(holder, (dict, type, ModuleType)):
            return UNSURE
        is_of_class = isinstance(holder, type)
        value = held_by(holder, key)  # a module may make it when it is asked (PEP 562)
        if not _is_data(value) or (is_of_class and isinstance(value, _PLAIN)):
            return UNSURE
        place = id(holder), key
        if place not in self._globals:
            self._globals[place] = copy.deepcopy(value)
        return self._globals[place]

    def constant(self, builder: Builder, out: Var) -> Const | None:
        """A value of one of Python's own types as a constant: the program would see that others are not."""
        return self._decided(builder, out) if type(self.of(out)) in _EXACT else None

    def known(self, builder: Builder, out: Var) -> Const | None:
        """A value as a constant, for an index or a truth, of which its type is nothing."""
        exact = (*_EXACT, np.bool_, np.integer)
        return self._decided(builder, out) if isinstance(self.of(out), exact) else None

    def _decided(self, builder: Builder, out: Var) -> Const:
        fact = self.of(out)
        fact = fact.item() if isinstance(fact, np.generic) else fact
        eqn = builder.definition(out)
        if eqn is not None and eqn.op is st.range_:  # its ends decide it, which are numbers
            for end in eqn.args:
                if isinstance(end, Var) and end not in self._counted:
                    self._decided(builder, end)
            return Const(fact)
        builder.append(Eqn((Var(NONE),), ident.decided, (out, Const(fact)), span=builder.span))
        return Const(fact)

    def keys(self, builder: Builder, mapping: Atom) -> tuple[Any, ...] | None:
        """The keys of a dictionary, if they are known."""
        fact = self.of(mapping)
        if not isinstance(fact, dict):
            return None
        keys = tuple(fact)
        found = builder.emit(st.as_tuple, mapping)
        builder.append(Eqn((Var(NONE),), ident.decided, (found, Const(keys)), span=builder.span))
        return keys

    def has_run(self, eqn: Eqn) -> bool:
        """Whether an equation was computed, so that it is known to raise nothing."""
        if eqn.blocks:
            return all(self.has_run(each) for block in eqn.blocks for each in block.eqns)
        return bool(eqn.outs) and all(out in self.facts for out in eqn.outs)

    def length(self, builder: Builder, iterable: Atom) -> int | None:
        """How many items there are, if that is known."""
        fact = self.of(iterable)
        if not isinstance(fact, (np.ndarray, list)):
            return len(fact) if isinstance(fact, (range, tuple, str)) else None
        said = builder.emit(st.length, iterable)
        return said.value if isinstance(said, Const) else None


def is_whole(out: Var) -> bool:
    """Whether a value is a whole number, or an array of them."""
    return out.kind == INT or (isinstance(out.kind, Array) and out.kind.dtype.startswith("int"))


def _can_compute(eqn: Eqn) -> bool:
    """Whether an equation may be computed while the program is read."""
    if eqn.namespace != "call" or makes_generator(eqn) or eqn.op in co.SETS:
        return True
    return _is_of_numbers(eqn) or is_shared_draw(eqn)


_CHECKS = frozenset(op for op in vars(ident).values() if isinstance(op, Op))
_COMPUTED = WRITES | _CHECKS | co.SETS | {st.bound, st.unpackable, st.means}
"""Ops with an effect that reading a program may have as well."""


def _asks(eqn: Eqn) -> bool:
    """Whether an equation only asks what its operands are."""
    return eqn.op is st.opaque and eqn.args[0] in _QUESTIONS


_QUESTIONS = frozenset(map(Const, (isinstance, callable, len)))


def _is_of_numbers(eqn: Eqn) -> bool:
    """Whether an equation calls a function, as it is, that has no effect: something stands for it elsewhere."""
    function = eqn.op.implementation
    module = str(getattr(function, "__module__", None))
    return is_foreign(eqn.op) and module.startswith("scipy.") and stand_in_for(function) is not None


def _may_write(eqn: Eqn) -> bool:
    """Whether something in a branch, a loop or a function may have changed what is known."""
    if eqn.op is CALL:
        return True
    return any(
        each.op is CALL or each.op in WRITES or (each.op.effect and each.op not in _CHECKS)
        for block in eqn.blocks
        for each in walk(block)
    )


def _owner_of(value: Any) -> Any:
    """The object that a method is one of; anything else itself."""
    return getattr(value, "__self__", value)


def _drawn(eqn: Eqn, args: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """A generator of random numbers that the program makes from a seed, a method of it, or what that draws."""
    if makes_generator(eqn):
        seeded = bool(args) and all(isinstance(seed, int) for seed in args)
        return eqn.op(*args, **options) if seeded else UNSURE
    if eqn.op is st.getattr_:
        return getattr(args[0], options["name"], UNSURE)
    if eqn.op is not st.apply or is_generator(args[0]):
        return UNSURE
    names = options["names"]
    draw, *given = args
    count = len(given) - len(names)
    try:
        drawn = draw(*given[:count], **dict(zip(names, given[count:], strict=True)))
    except Exception:  # it is for the run to raise it
        return UNSURE
    return drawn if _is_data(drawn) else UNSURE


def _is_data(value: Any, around: tuple[Any, ...] = ()) -> bool:
    """Whether a value is made of numbers, text and arrays: containers and objects of them, too."""
    if isinstance(value, _PLAIN) or any(value is each for each in around):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype != object
    if isinstance(value, (list, tuple, set, frozenset)):
        parts: Any = value
    elif isinstance(value, dict):
        parts = value.values()
    elif type(value).__module__ != "builtins" and hasattr(value, "__dict__"):
        parts = vars(value).values()
    else:
        return False
    return all(_is_data(part, (*around, value)) for part in parts)


_PLAIN = bool | int | float | complex | np.generic | str | slice | range | None


def _stays(value: Any) -> bool:
    """Whether a value is none that may have been written to."""
    if isinstance(value, tuple):
        return all(map(_stays, value))
    return isinstance(value, _PLAIN)


def _packed(items: list[Any], options: Mapping[str, Any]) -> Any:
    match options["form"]:
        case "list":
            return items
        case "tuple":
            return tuple(items)
        case "dict":
            return dict(zip(options["keys"], items, strict=True))
        case _:
            return UNSURE
