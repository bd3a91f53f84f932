"""From the IR to the loop form: block by block, equation by equation.

`BlockLowering` is one block on the way. What an op becomes is said by the modules that enter their handlers with
`lowers`; `program` loads them, and hands the look-up in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....ir.graph import COMMENT, Atom, Block, Eqn, Function, NotConstant, Var, walk
from ....ops.registry import named
from ..form.loopform import Procedure
from ..form.target import Target
from ..prepare.writes import OF_DERIVATIVES, WRITES
from ..values import values as nv
from ..values.aliases import must_reach_the_caller
from ..values.complexes import is_complex
from ..values.constants import constant
from ..values.emitter import Emitter, Names
from ..values.strides import is_spread
from .operands import Operands

Handler = Callable[["BlockLowering", Eqn], nv.Value]

HANDLERS: dict[str, Handler] = {}
"""What ops become, by name; elementwise ops are in `rows.ROWS`."""


_OF_NUMBERS = frozenset(("real", "imag"))
"""Attributes that Python's own numbers have, too."""


def lowers(*names: str) -> Callable[[Handler], Handler]:
    """Enter a handler into the table under the names of ops."""

    def enter(handler: Handler) -> Handler:
        for name in names:
            HANDLERS[name] = handler
        return handler

    return enter


class ProgramBuilder:
    """A program on the way: the procedures that make it up, and what they share."""

    def __init__(
        self,
        prepare: Callable[[Function], Function],
        handler_of: Callable[[BlockLowering, Eqn], Handler],
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
        self.on_write: Callable[[nv.Root], None] = lambda root: None
        self.is_kept: Callable[[nv.Root], bool] = lambda root: False
        """Whether a piece of memory stays as it is for as long as the function runs."""
        self.changes_arrays = False
        """Whether the program itself writes to arrays."""
        self.lies_in_order = True
        """Whether all arrays of several axes that the program makes are in C order in Python, too."""
        self.of_lists: frozenset[int] = nv.OF_DOUBLES
        """Whose the floats may be that lists hold."""
        self.learned: dict[Any, nv.Value] = {}
        """Items of lists of which the program itself says nothing."""
        self.loose: set[Any] = set()
        """Lists that hold numbers of several types."""
        self.resets = False
        """Whether the program gives up records before it ends, and with them all that they hold."""
        self.leaves_memory = False
        """Whether records hold memory that would not be given up with them."""
        self.is_apart: Callable[[Atom], bool] = lambda atom: True
        """Whether a value of the function itself lies in the memory of none of its arguments."""
        self.calls_out: list[Any] = []
        """What the program has Python compute, by number."""
        self.may_call_faster = True
        """Whether Python may be called where it is faster."""
        self.without_form: dict[Any, str] = {}
        """Equations that have no native form, by op and place, and why."""
        self.outside: dict[tuple[int, str], nv.Value] = {}
        """Values that the program reads from outside: what a namespace holds under a name."""


class BlockLowering(Operands):
    """One block on the way."""

    def __init__(
        self,
        unit: ProgramBuilder,
        e: Emitter,
        values: dict[Var, nv.Value],
        block: Block,
        destinations: dict[Var, nv.View],
    ):
        super().__init__(e, values, block, destinations)
        self.unit = unit

    def inside(self, block: Block, e: Emitter | None = None) -> BlockLowering:
        """A block inside this one."""
        return BlockLowering(self.unit, e or self.e.block(), self.values, block, {})

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
            raise nv.Unlowered(str(error), eqn.span) from None
        except nv.Unlowered as error:
            error.span = error.span or eqn.span
            error.eqn = error.eqn or eqn
            raise
        self._done(eqn)

    def apply(
        self, name: str, *operands: Any, outs: tuple[Var, ...] = (), **options: Any
    ) -> nv.Value:
        """What an op of NumPy's gives, in terms of which another is said.

        Operands and options are values, atoms, and constants as Python has them. `outs` are the values of the
        equation whose result this is.
        """
        args = tuple(map(self.atom, operands))
        params = {key: self.atom(option) for key, option in options.items()}
        eqn = Eqn(
            outs or (self.atom(nv.StaticValue(None)),), named(name), args, params, namespace="np"
        )
        return self.lowered(eqn)

    def lowered(self, eqn: Eqn) -> nv.Value:
        """What the op of an equation gives."""
        return self.unit.handler_of(self, eqn)(self, eqn)

    def _must_have_member(self, eqn: Eqn) -> None:
        """Refuse methods and attributes that arrays and NumPy's scalars have, and numbers of Python's have not."""
        if eqn.namespace not in ("method", "attr") or not eqn.args:
            return
        x = self.values.get(eqn.args[0]) if isinstance(eqn.args[0], Var) else constant(eqn.args[0])
        if isinstance(x, nv.Scalar) and x.origin != nv.NUMPY:
            if eqn.op.name not in _OF_NUMBERS or x.code == "b1":
                raise nv.Unlowered(f"`{eqn.op.name}` of a number that may be Python's own")

    def to_write(self, atom: Atom, eqn: Eqn) -> nv.View:
        """An array in memory that an equation is going to change: each element has a place of its own."""
        return self.writable(self.in_memory(atom), eqn)

    def writable(self, view: nv.View, eqn: Eqn) -> nv.View:
        """The same for an array that is in memory already."""
        if is_spread(view):
            if eqn.op.name not in OF_DERIVATIVES:
                raise nv.Unlowered("a write to an array whose elements share memory")
            view = self.copied(view)
        self.on_write(view.root, eqn)
        return view

    def on_write(self, root: nv.Root, eqn: Eqn) -> None:
        """Note that an equation changes a piece of memory."""
        self.unit.on_write(root)
        if root.lasts:
            raise nv.Unlowered("a write to an array that a recursive function keeps")
        root.changed |= eqn.op.name not in OF_DERIVATIVES
        must_reach_the_caller(root)

    def prepare(self, eqn: Eqn) -> None:
        """Before a loop or branch: what it writes to is in memory, and nothing is pending."""
        for inner in eqn.blocks:
            for each in walk(inner):
                if each.op.name in WRITES and isinstance(each.args[0], Var):
                    target = self.values.get(each.args[0])
                    if isinstance(target, (nv.Broadcast, nv.Lazy)) and each.args[0] in self._own:
                        self.in_memory(each.args[0])
                    if is_complex(target) and each.args[0] in self._own:
                        self.parts_in_memory(each.args[0])
            for out in inner.outs:
                if isinstance(out, Var) and isinstance(self.values.get(out), nv.Broadcast):
                    if out in self._own:
                        self.in_memory(out)
                if isinstance(out, Var) and out in self._own and is_complex(self.values.get(out)):
                    self.parts_in_memory(out)
        self.write_all()
