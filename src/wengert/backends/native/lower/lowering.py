"""From the IR to the loop form: block by block, equation by equation.

`Site` is one block on the way. What an op becomes is said by the modules that enter their handlers with
`lowers`; `program` loads them, and hands the look-up in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.graph import (
    COMMENT,
    UNDEFINED,
    Atom,
    Block,
    Const,
    Eqn,
    Function,
    NotConstant,
    Var,
    used_by,
    walk,
)
from ....ops.registry import named
from ..form.loopform import CODES, Allocate, Code, Constant, Expr, Procedure, Release
from ..form.target import Target
from ..values.complexes import by_part, is_complex, known_number
from ..values.emitter import Emitter, Names
from ..values.loops import copy_elements, fill
from ..values.promotion import converted
from ..values.values import (
    NUMPY,
    OF_DOUBLES,
    ONE,
    PYTHON,
    SINGLE,
    ZERO,
    Bounds,
    Delayed,
    Known,
    Repeated,
    Root,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    Whose,
    c_strides,
    number,
    product,
)
from . import fusion

Handler = Callable[["Site", Eqn], Value]

HANDLERS: dict[str, Handler] = {}
"""What ops become, by name; elementwise ops are in `elementwise.ROWS`."""


WRITES = frozenset(("store", "stored", "add_at", "overwrite"))
"""Ops that change their first operand in place."""
_OF_NUMBERS = frozenset(("real", "imag"))
"""Attributes that Python's own numbers have, too."""
OF_DERIVATIVES = frozenset(("stored", "add_at"))
"""Those of them whose operand nobody else sees."""


def lowers(*names: str) -> Callable[[Handler], Handler]:
    """Enter a handler into the table under the names of ops."""

    def enter(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return enter


class Unit:
    """A program on the way: the procedures that make it up, and what they share."""

    def __init__(
        self,
        prepare: Callable[[Function], Function],
        handler_of: Callable[[Site, Eqn], Handler],
        target: Target,
    ) -> None:
        self.prepare = prepare
        """What is done to a function that is called before it is lowered."""
        self.handler_of = handler_of
        """The handler of the op of an equation; `Unlowered` if it has none."""
        self.target = target
        self.procedures: dict[str, Procedure] = {}
        self.callees: dict[Any, Any] = {}
        self.names = Names()
        self.on_write: Callable[[Root], None] = lambda root: None
        self.is_kept: Callable[[Root], bool] = lambda root: False
        """Whether a piece of memory stays as it is for as long as the function runs."""
        self.changes_arrays = False
        """Whether the program itself writes to arrays."""
        self.lies_in_order = True
        """Whether all arrays of several axes that the program makes are in C order in Python, too."""
        self.of_lists: frozenset[int] = OF_DOUBLES
        """Whose the floats may be that lists hold."""
        self.learned: dict[Any, Value] = {}
        """Items of lists of which the program itself says nothing."""
        self.loose: set[Any] = set()
        """Lists that hold numbers of several types."""
        self.resets = False
        """Whether the program gives up records before it ends, and with them all that they hold."""
        self.leaves_memory = False
        """Whether records hold memory that would not be given up with them."""
        self.is_apart: Callable[[Atom], bool] = lambda atom: True
        """Whether a value of the function itself lies in the memory of none of its arguments."""
        self.outside: dict[tuple[int, str], Value] = {}
        """Values that the program reads from outside: what a namespace holds under a name."""


class Site:
    """One block on the way.

    Attributes:
        e: what is written down.
        values: what the values of the IR are.
        pending: the loop nests that are not written down yet, in order.
        destinations: the memory that a caller has made for values of this function.
    """

    def __init__(
        self,
        unit: Unit,
        e: Emitter,
        values: dict[Var, Value],
        block: Block,
        destinations: dict[Var, View],
    ):
        self.unit = unit
        self.e = e
        self.values = values
        self.block = block
        self.destinations = destinations
        self.pending: list[fusion.Group] = []
        self.placements: dict[int, fusion.Place] = {}
        self._own: set[Var] = set(block.params)
        self._uses: Counter[Var] = Counter()
        self._demanded: set[int] = set()
        self._between: list[Var] = []
        """What stands between the ops that the equation being lowered is said in."""
        for eqn in block.eqns:
            self._uses.update(used_by(eqn))
        self._uses.update(out for out in block.outs if isinstance(out, Var))

    def inside(self, block: Block, e: Emitter | None = None) -> Site:
        """A block inside this one."""
        return Site(self.unit, e or self.e.block(), self.values, block, {})

    # --- equations ------------------------------------------------------------------------

    def run(self) -> None:
        """Lower all equations of the block."""
        for eqn in self.block.eqns:
            if eqn.op is not COMMENT:
                self._eqn(eqn)

    def _eqn(self, eqn: Eqn) -> None:
        self.e.span = eqn.span or self.e.span
        try:
            self._must_have_member(eqn)
            self._bind(eqn.outs, self.lowered(eqn))
        except NotConstant as error:
            raise Unlowered(str(error), eqn.span) from None
        except Unlowered as error:
            error.span = error.span or eqn.span
            raise
        for var in used_by(eqn):
            self._uses[var] -= 1
        for var in self._between:
            del self._uses[var], self.values[var]
        self._between.clear()

    def apply(self, name: str, *operands: Any, outs: tuple[Var, ...] = (), **options: Any) -> Value:
        """What an op of NumPy's gives, in terms of which another is said.

        Operands and options are values, atoms, and constants as Python has them. `outs` are the values of the
        equation whose result this is.
        """
        args = tuple(map(self.atom, operands))
        params = {key: self.atom(option) for key, option in options.items()}
        eqn = Eqn(outs or (self.atom(Known(None)),), named(name), args, params, namespace="np")
        return self.lowered(eqn)

    def lowered(self, eqn: Eqn) -> Value:
        """What the op of an equation gives."""
        return self.unit.handler_of(self, eqn)(self, eqn)

    def atom(self, operand: Any) -> Any:
        """An atom for a value that has none, until the equation being lowered has been."""
        if isinstance(operand, (Var, Const)):
            return operand
        if operand is None or isinstance(operand, (bool, int, float, str, tuple)):
            return Const(operand)
        var = Var()
        self._between.append(var)
        self._uses[var] = 2  # more ops may follow that use it
        self._name(var, operand)
        return var

    def _must_have_member(self, eqn: Eqn) -> None:
        """Refuse methods and attributes that arrays and NumPy's scalars have, and numbers of Python's have not."""
        if eqn.namespace not in ("method", "attr") or not eqn.args:
            return
        x = self.values.get(eqn.args[0]) if isinstance(eqn.args[0], Var) else constant(eqn.args[0])
        if isinstance(x, Scalar) and x.origin != NUMPY:
            if eqn.op.name not in _OF_NUMBERS or x.code == "b1":
                raise Unlowered(f"`{eqn.op.name}` of a number that may be Python's own")

    def _bind(self, outs: Sequence[Var], value: Value) -> None:
        values = value if isinstance(value, list) else [value]
        if not outs:
            return
        self._own.update(outs)
        for out, each in zip(outs, values, strict=True):
            self._name(out, each)

    def _name(self, var: Var, value: Value) -> None:
        self.values[var] = value
        for part in value.items if is_complex(value) else (value,):
            if isinstance(part, Delayed):
                part.names.append(var)

    def is_used(self, var: Var) -> bool:
        """Whether what is not lowered yet uses a value of this block."""
        return self._uses[var] > 0

    def is_last_use(self, atom: Atom) -> bool:
        """Whether the equation being lowered is the last to use a value of this block, by any name."""
        if not isinstance(atom, Var) or self._uses[atom] != 1:
            return False
        mine = memory_of(self.values.get(atom))
        needed = (other for other, count in self._uses.items() if count > 0 and other is not atom)
        return all(mine.isdisjoint(memory_of(self.values.get(other))) for other in needed)

    # --- values ---------------------------------------------------------------------------

    def value(self, atom: Atom) -> Value:
        """What a value or a constant is."""
        if isinstance(atom, Var):
            found = self.values.get(atom)
            if found is None:
                raise Unlowered(f"the value {atom.name or '%'} is used before it is known")
            return found
        return constant(atom)

    def scalar(self, atom: Atom) -> Scalar:
        """A number."""
        return self.as_scalar(self.value(atom))

    def as_scalar(self, value: Value) -> Scalar:
        if isinstance(value, Delayed) and not value.dims:
            value = self.computed(value)
        if isinstance(value, (View, Repeated)) and not value.dims:
            return self._element(value)
        if not isinstance(value, Scalar):
            raise Unlowered(f"{described(value)} where a number is expected")
        return value

    def _element(self, value: View | Repeated) -> Scalar:
        if isinstance(value, Repeated):
            return Scalar(value.element.expr, NUMPY)
        return Scalar(self.e.load(value, ()), NUMPY)

    def array(self, atom: Atom) -> View | Delayed | Repeated:
        """An array, in memory or not."""
        value = self.value(atom)
        if not isinstance(value, (View, Delayed, Repeated)):
            raise Unlowered(f"{described(value)} where an array is expected")
        return value

    def operand(self, atom: Atom) -> Scalar | View | Delayed | Repeated:
        """A number or an array, of a known type; a reduction that gives a number is computed."""
        found = self.any_operand(atom)
        if isinstance(found, Scalar):
            must_have_type(found)
        return found

    def any_operand(self, atom: Atom) -> Scalar | View | Delayed | Repeated:
        """The same, also of a type that depends on the run."""
        return self.operand_of(self.value(atom))

    def operand_of(self, value: Value) -> Scalar | View | Delayed | Repeated:
        """The same for a value."""
        if isinstance(value, Delayed) and not value.dims:
            return self.computed(value)
        if not isinstance(value, (Scalar, View, Delayed, Repeated)):
            raise Unlowered(f"{described(value)} where numbers are expected")
        return value

    def computed(self, value: Delayed) -> View | Scalar:
        """A pending result, computed."""
        if value.result is None:
            self._demanded.add(id(value))
            self.write(value.group)
        assert value.result is not None
        return value.result

    def view(self, value: Value) -> View:
        """An array in memory."""
        if isinstance(value, Delayed):
            value = self.computed(value)
        if isinstance(value, Scalar):
            must_have_type(value)
            value = Repeated(value, value.code, ())
        if isinstance(value, Repeated):
            made = self.allocate(value.dims, value.code, ())
            fill(self.e, made, converted(self.e, value.element.expr, value.code))
            return made
        if not isinstance(value, View):
            raise Unlowered(f"{described(value)} where an array is expected")
        return value

    def in_memory(self, atom: Atom) -> View:
        """An array in memory; a value that was only planned is there from now on."""
        value = self.value(atom)
        if isinstance(value, Repeated) and isinstance(atom, Var):
            made = self._filled(value, [atom])
            if atom in self._own:  # an inner block fills memory for itself, and releases it
                self.values[atom] = made
            return made
        found = self.view(value)
        if isinstance(value, Delayed):
            for name in value.names:
                if self.values.get(name) is value:
                    self.values[name] = found
        return found

    def parts_in_memory(self, atom: Atom) -> Tuple:
        """A complex number, or a complex array whose parts are in memory."""
        made = by_part(self.value(atom), self._part_in_memory)
        if isinstance(atom, Var) and atom in self._own:
            self.values[atom] = made
        return made

    def _part_in_memory(self, part: Value) -> Value:
        if isinstance(part, Scalar):
            return part
        return self.view(part) if part.dims else self.as_scalar(part)

    def _filled(self, value: Repeated, names: Sequence[Var]) -> View:
        made = self.allocate(value.dims, value.code, names)
        fill(self.e, made, converted(self.e, value.element.expr, value.code))
        return made

    def to_write(self, atom: Atom, eqn: Eqn) -> View:
        """An array in memory that an equation is going to change: each element has a place of its own."""
        return self.writable(self.in_memory(atom), eqn)

    def writable(self, view: View, eqn: Eqn) -> View:
        """The same for an array that is in memory already."""
        if is_spread(view):
            if eqn.op.name not in OF_DERIVATIVES:
                raise Unlowered("a write to an array whose elements share memory")
            view = self.copied(view)
        self.on_write(view.root, eqn)
        return view

    def on_write(self, root: Root, eqn: Eqn) -> None:
        """Note that an equation changes a piece of memory."""
        self.unit.on_write(root)
        if root.lasts:
            raise Unlowered("a write to an array that a recursive function keeps")
        root.changed |= eqn.op.name not in OF_DERIVATIVES
        must_reach_the_caller(root)

    def prepare(self, eqn: Eqn) -> None:
        """Before a loop or branch: what it writes to is in memory, and nothing is pending."""
        for inner in eqn.blocks:
            for each in walk(inner):
                if each.op.name in WRITES and isinstance(each.args[0], Var):
                    target = self.values.get(each.args[0])
                    if isinstance(target, (Repeated, Delayed)) and each.args[0] in self._own:
                        self.in_memory(each.args[0])
                    if is_complex(target) and each.args[0] in self._own:
                        self.parts_in_memory(each.args[0])
            for out in inner.outs:
                if isinstance(out, Var) and isinstance(self.values.get(out), Repeated):
                    if out in self._own:
                        self.in_memory(out)
                if isinstance(out, Var) and out in self._own and is_complex(self.values.get(out)):
                    self.parts_in_memory(out)
        self.write_all()

    # --- groups and memory ----------------------------------------------------------------

    def is_needed(self, delayed: Delayed) -> bool:
        """Whether a pending result is used by what is not lowered yet."""
        if id(delayed) in self._demanded:
            return True
        return any(self._uses[name] > 0 for name in delayed.names)

    def write(self, group: fusion.Group) -> None:
        """Write a loop nest down, and those before it."""
        while group in self.pending:
            fusion.write(self, self.pending.pop(0))

    def is_used_once(self, delayed: Delayed) -> bool:
        """Whether the equation being lowered is all that still uses a pending result."""
        return sum(self._uses[name] for name in delayed.names) == 1

    def write_into(self, delayed: Delayed, place: fusion.Place) -> None:
        """Write a pending result to a place, after what is pending and reads the same memory."""
        self.write_readers_of(place.part.root)
        self.placements[id(delayed)] = place
        self._demanded.add(id(delayed))
        self.write(delayed.group)

    def write_readers_of(self, root: Root) -> None:
        """Write the loop nests down that read a piece of memory: what comes next writes to it."""
        for group in [group for group in self.pending if fusion.reads(group, root)]:
            self.pending.remove(group)
            fusion.write(self, group)

    def write_all(self) -> None:
        """Write all loop nests down: what comes next may write to what they read."""
        while self.pending:
            fusion.write(self, self.pending.pop(0))

    def allocate(self, dims: tuple[Expr, ...], code: Code, names: Sequence[Var]) -> View:
        """Memory for an array: the caller's if the array is one of its results."""
        for name in names:
            made = self.destinations.get(name)
            if made is not None and made.code == code and made.dims == dims:
                del self.destinations[name]
                return made
        hint = next((name.name for name in names if name.name), "temporary")
        pointer = self.e.slot(hint, "ptr")
        self.e.add(Allocate(pointer, self.e.let(product(dims)), code))
        root = Root(pointer, hint)
        self.e.owned.append(root)
        return View(root, code, dims, tuple(map(self.e.let, c_strides(dims))), ZERO, whole=True)

    def copied(self, value: Value, names: Sequence[Var] = ()) -> View:
        """An array in memory of its own."""
        source = self.view(value)
        made = self.allocate(source.dims, source.code, names)
        copy_elements(self.e, made, source)
        return made

    def owned_array(self, value: Value) -> View:
        """An array in memory that this block has made, whole, and hands on: it does not release it."""
        view = self.view(value)
        if view.root not in self.e.owned or not view.whole:
            view = self.copied(view)
        self.e.owned.remove(view.root)
        return view

    def release_owned(self) -> None:
        """Release what this block has made and nobody else has taken over."""
        for root in self.e.owned:
            self.e.add(Release(root.pointer))
        self.e.owned.clear()


def must_have_type(number: Scalar) -> None:
    """Refuse a number that may have 32 or 64 bits."""
    if isinstance(number.origin, Whose) and SINGLE in number.origin.among:
        raise Unlowered("a number whose type depends on the run")


def is_spread(view: View) -> bool:
    """Whether one place in memory stands for several elements of an array."""
    return any(s == ZERO and d != ONE for s, d in zip(view.strides, view.dims, strict=True))


def note_copy(root: Root, of: Root) -> None:
    """Note that one piece of memory has what another had, and stands in its place from now on."""
    root.stands_in |= of.of_caller or of.stands_in
    must_reach_the_caller(root)


def is_lent(root: Root, *, apart: bool) -> Expr:
    """Whether an array is, in this run, an argument of the caller's, or has what is in one; true if in doubt."""
    if root.of_caller or (root.lent is None and not apart):
        return Constant(True, "b1")
    return root.lent or Constant(False, "b1")


def must_reach_the_caller(root: Root) -> None:
    """Refuse writes that the caller may have to see, and would not."""
    if root.stands_in and root.changed:
        raise Unlowered("a write to an array that may be the caller's, or another in its place")


def changes_arrays(function: Function) -> bool:
    """Whether a function writes to arrays, or calls one that does."""
    return any(
        eqn.op.name in WRITES - OF_DERIVATIVES or eqn.param("updates", ())
        for eqn in walk(function.body)
    )


def memory_of(value: Value) -> set[int]:
    """The pieces of memory that a value lies in."""
    match value:
        case View(root=root):
            return {id(root)}
        case Delayed(result=result):
            return memory_of(result)
        case Tuple(items=items):
            return {root for item in items for root in memory_of(item)}
        case _:
            return set()


def constant(atom: Const) -> Value:
    """What a constant is."""
    value = atom.value
    if atom is UNDEFINED or atom == UNDEFINED:
        return Known(value)
    if isinstance(value, np.generic):
        return _numpy_scalar(value)
    if isinstance(value, complex):
        return known_number(value, PYTHON)
    if isinstance(value, (bool, int, float)):
        if isinstance(value, int) and abs(value) >= 2**63:
            raise Unlowered("an integer of more than 64 bits")
        return number(value)
    if isinstance(value, tuple):
        return Tuple(tuple(constant(Const(item)) for item in value), keys=tuple(range(len(value))))
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return Bounds(*(None if p is None else number(p) for p in parts))
    return Known(value)


def _numpy_scalar(value: Any) -> Scalar | Tuple:
    if isinstance(value, np.complex128):
        return known_number(complex(value), NUMPY)
    code = CODES.get(value.dtype.name)
    if code is None:
        raise Unlowered(f"numbers of type {value.dtype.name}")
    return Scalar(Constant(value.item(), code), NUMPY)


def described(value: Value) -> str:
    """A value in the words of a message."""
    match value:
        case Scalar():
            return "a number"
        case View() | Delayed() | Repeated():
            return "an array"
        case Tuple():
            return f"a {value.form}"
        case Known(value=None):
            return "None"
        case Known(value=known):
            return f"a {type(known).__name__}"
        case _:
            return "a list"
