"""The invariants of the IR, checked between passes under tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn

from wengert.errors import InternalError
from wengert.ir.builder import kind_of_atom
from wengert.ir.graph import (
    CALL,
    FOR,
    IF,
    TRY,
    UNDEFINED,
    WHILE,
    ZERO,
    Atom,
    Block,
    Callee,
    Eqn,
    Function,
    Var,
    walk,
)
from wengert.ir.notation import constant, leaf_kinds
from wengert.ir.text import show_block
from wengert.ir.types import Array, Kind, Number, join

_BLOCKS = {IF: 2, FOR: 1, WHILE: 2, TRY: 1}
_IN_PLACE = "add_at"  # by name: the IR does not know the ops
_VERSIONED = frozenset(
    (
        "store", "append_item", "insert_item", "drop", "overwrite", "snapshot", "duplicate", "stored", "dropped",
    )
)  # fmt: skip


def verify(function: Function, *, where: str = "") -> None:
    """Check a function's IR.

    Args:
        function: what to check.
        where: what produced it, for the message: "reverse of loss".

    Raises:
        InternalError: an invariant does not hold; the message names it and shows the smallest
            block around the place.

    The invariants:

    - *single assignment*: every value is defined once;
    - *dominance*: a value is used only after its definition, in its block or the blocks inside it;
    - *arity*: inputs, results, blocks and what they take and give fit together;
    - *kinds*: a value that control flow merges has a kind that covers what is merged;
    - *linearity*: a buffer that `add_at` wrote to is dead: only its new version is used, and a loop
      writes only to buffers of its own. (Not in a program that writes in place itself: the copies
      that it needs are put in before it is printed.)
    """
    _Verifier(function, where).function_()


class _Verifier:
    def __init__(self, function: Function, where: str):
        self.function = function
        self.where = where
        self.defined: set[Var] = set()
        self.visible: set[Var] = set()
        self.written: set[Var] = set()
        self.is_linear = not any(eqn.op.name in _VERSIONED for eqn in walk(function.body))
        self.path: list[Block] = []
        self.eqn: Eqn | None = None

    def fail(self, invariant: str, message: str) -> NoReturn:
        head = f"{self.where}: {invariant}" if self.where else invariant
        text = self.text().replace("\n", "\n    ")
        span = None if self.eqn is None else self.eqn.span
        raise InternalError(f"{head}: {message}\n\n    {text}", span=span)

    def text(self) -> str:
        block = self.path[-1] if self.path else self.function.body
        try:
            return show_block(self.function, block)
        except Exception as error:
            return f"(the block cannot be shown: {error!r})"

    def require(self, invariant: str, holds: bool, message: str) -> None:
        if not holds:
            self.fail(invariant, message)

    # --- functions and blocks -------------------------------------------------------------

    def function_(self) -> None:
        function = self.function
        leaves = sum(len(leaf_kinds(each.kind)) for each in function.inputs)
        results = len(leaf_kinds(function.result))
        self.count("parameters for the leaves of its inputs", len(function.body.params), leaves)
        self.count("results for the leaves of its result", len(function.body.outs), results)
        self.block(function.body)

    def block(self, block: Block) -> None:
        outer, around = self.visible, self.eqn
        self.visible = set(outer)
        self.path.append(block)
        self.define(block.params)
        for eqn in block.eqns:
            self.eqn = eqn
            self.equation(eqn)
        self.eqn = around
        self.use(block.outs)
        self.path.pop()
        self.visible = outer

    def define(self, variables: Iterable[Var]) -> None:
        for var in variables:
            once = var not in self.defined
            self.require("single assignment", once, f"{_name(var)} is defined a second time")
            self.defined.add(var)
            self.visible.add(var)

    def use(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if not isinstance(atom, Var):
                continue
            if atom not in self.visible:
                fault = "outside its block" if atom in self.defined else "before its definition"
                self.fail("dominance", f"{_name(atom)} is used {fault}")
            alive = atom not in self.written
            self.require("linearity", alive, f"{_name(atom)} is used after add_at wrote to it")

    # --- equations ------------------------------------------------------------------------

    def equation(self, eqn: Eqn) -> None:
        self.use(eqn.operands())
        self.count(f"blocks of {eqn.op.name}", len(eqn.blocks), _BLOCKS.get(eqn.op, 0))
        if eqn.op is IF:
            self.if_(eqn)
        elif eqn.op is FOR:
            self.for_(eqn)
        elif eqn.op is WHILE:
            self.while_(eqn)
        elif eqn.op is TRY:
            self.try_(eqn)
        elif eqn.op is CALL:
            self.call(eqn)
        elif eqn.op.name == _IN_PLACE and self.is_linear and isinstance(eqn.args[0], Var):
            self.written.add(eqn.args[0])
        self.define(eqn.outs)

    def if_(self, eqn: Eqn) -> None:
        self.count("operands of if", len(eqn.args), 1)
        before, after = self.written, set[Var]()
        for branch in eqn.blocks:
            self.count("parameters of a branch", len(branch.params), 0)
            self.count("results of a branch", len(branch.outs), len(eqn.outs))
            self.covers(eqn.outs, branch.outs)
            self.written = set(before)
            self.block(branch)
            after |= self.written
        self.written = after

    def try_(self, eqn: Eqn) -> None:
        (body,) = eqn.blocks
        self.count("parameters of a try", len(body.params), 0)
        self.count("results of a try", len(body.outs) + 1, len(eqn.outs))
        self.count("operands of a try", len(eqn.args), len(body.outs))
        self.covers(eqn.outs[1:], body.outs)
        self.covers(eqn.outs[1:], eqn.args)
        self.block(body)

    def for_(self, eqn: Eqn) -> None:
        iterables = constant(eqn.params, "iterables", 0)
        self.require("arity", iterables > 0, "for does not say how many iterables it has")
        (body,) = eqn.blocks
        self.loop(eqn, eqn.args[iterables:], [(body, body.params[iterables:])])

    def while_(self, eqn: Eqn) -> None:
        test, body = eqn.blocks
        self.count("results of the test", len(test.outs), 1)
        self.loop(eqn, eqn.args, [(test, test.params), (body, body.params)])

    def loop(
        self, eqn: Eqn, initials: Sequence[Atom], blocks: list[tuple[Block, tuple[Var, ...]]]
    ) -> None:
        """A loop's blocks, each with the parameters that it carries; the last one is its body."""
        body = blocks[-1][0]
        stop = int(bool(constant(eqn.params, "stop", False)))
        self.require("arity", len(eqn.outs) >= len(initials), "a carried value has no result")
        self.count("results of a loop's body", len(body.outs), stop + len(eqn.outs))
        results = body.outs[stop : stop + len(initials)]
        self.covers(eqn.outs, initials)
        self.covers(eqn.outs, results)
        for block, carried in blocks:
            self.count("parameters of a loop's block", len(block.params), len(eqn.args))
            self.covers(carried, initials)
            self.covers(carried, results)
            self.loop_block(block)
            # a loop that writes to what it carries writes to what it starts with
            self.written.update(
                initial
                for var, initial in zip(carried, initials, strict=True)
                if var in self.written and isinstance(initial, Var)
            )

    def loop_block(self, block: Block) -> None:
        before = set(self.written)
        self.block(block)
        for var in (self.written - before) & self.visible:
            self.fail("linearity", f"{_name(var)} is written to again by every iteration")

    def call(self, eqn: Eqn) -> None:
        callee = constant(eqn.params, "callee", None)
        self.require("arity", isinstance(callee, Callee), "call does not say what it calls")
        function = callee.function
        if function is not None:
            self.count(f"arguments of {callee.name}", len(eqn.args), len(function.body.params))
            self.count(f"results of {callee.name}", len(eqn.outs), len(function.body.outs))

    # --- what they share ------------------------------------------------------------------

    def count(self, what: str, found: int, expected: int) -> None:
        self.require("arity", found == expected, f"{what}: {found}, expected {expected}")

    def covers(self, merged: Sequence[Var], sources: Sequence[Atom]) -> None:
        for var, source in zip(merged, sources, strict=False):
            kind = kind_of_atom(source)
            loose = source in (UNDEFINED, ZERO) or not _contradict(var.kind, kind)
            self.require("kinds", loose, f"{_name(var)} is {var.kind}, which does not cover {kind}")


def _contradict(merged: Kind, source: Kind) -> bool:
    """Whether a value of kind `source` certainly is not of kind `merged`."""
    match merged, source:
        case (Number(), Number()) | (Array(), Array()):
            return join(merged, source) != merged
        case (Number(), Array()) | (Array(), Number()):
            return True
        case _:
            return False


def _name(var: Var) -> str:
    return repr(var.name) if var.name else "a value"
