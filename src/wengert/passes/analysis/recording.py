"""What running again must not ask for again: random numbers, the time, what a file holds.

The iterations that the reverse of a loop runs again, and a checkpointed call, have to find what they
found. Results of functions that wengert cannot read are *recorded* when the program runs, and *replayed*
when it runs again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import NoRule
from ...ir.builder import kind_of_atom
from ...ir.graph import (
    CALL,
    IF,
    TRY,
    UNDEFINED,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Input,
    Span,
    Var,
    callees,
    used_in,
)
from ...ir.records import replace, value_record
from ...ir.renaming import clones, renamed_block
from ...ir.types import INT, UNKNOWN, Seq, Struct
from ...ops import registry, structure as st
from ..blocks.loops import LOOPS, Loop, Slot, rebuilt, view
from ..blocks.tidy import tidy
from . import activity


@value_record
class Recording:
    """A block as it runs first, and as it runs again.

    `values` are what the first gives to the second, which reads them as values from around it.
    """

    first: Block
    again: Block
    values: list[Var]


def recorded(block: Block, active: set[Var]) -> Recording:
    """A block that records, and one that replays, what it is told by functions that cannot be read.

    Args:
        block: the block.
        active: the values that have a derivative: what gives them is run again.

    Raises:
        NoRule: something is told where it cannot be recorded.
    """
    return _Recorder(set(used_in(block)), active, {}).block(block)


def recorded_call(eqn: Eqn, active: set[Var]) -> tuple[Eqn, Eqn]:
    """A call as it runs first, and as it runs again."""
    first, again, _ = _Recorder(set(), active, {}).call(eqn)
    return first, again


_Callees = dict[tuple[Callee, tuple[int, ...], tuple[int, ...]], "_Callee | None"]


@value_record
class _Callee:
    """A function as it runs first, with more results, and as it runs again, with them as parameters."""

    first: Callee
    again: Callee
    values: list[Var]


class _Recorder:
    def __init__(self, used: set[Var], active: set[Var], callees: _Callees):
        self.used = used
        self.active = active
        self.callees = callees
        """The functions that were read so far; None of those that are told nothing."""

    def block(self, block: Block) -> Recording:
        first: list[Eqn] = []
        again: list[Eqn] = []
        values: list[Var] = []
        for eqn in block.eqns:
            one, other, told = self.equation(eqn)
            first.append(one)
            again += other
            values += told
        return Recording(
            replace(block, eqns=tuple(first)), replace(block, eqns=tuple(again)), values
        )

    def equation(self, eqn: Eqn) -> tuple[Eqn, Sequence[Eqn], Sequence[Var]]:
        if eqn.op is IF:
            return self.branches(eqn)
        if eqn.op in LOOPS:
            return self.loop(view(eqn))
        if eqn.op is TRY:
            self.refuse_in(eqn.blocks[0], eqn.span, "`try`")
        elif eqn.op is CALL:
            one, other, told = self.call(eqn)
            return one, (other,), told
        elif self.tells(eqn):
            return eqn, (), eqn.outs
        return eqn, (eqn,), ()

    def tells(self, eqn: Eqn) -> bool:
        """Whether an equation might give something else if it ran again, and that matters."""
        unread = eqn.op in (st.apply, st.opaque) or eqn.namespace == "call"
        if not unread or not eqn.op.effect or is_steady(_called_by(eqn)):
            return False
        return any(out in self.used and out not in self.active for out in eqn.outs)

    def refuse_in(self, block: Block, span: Span | None, where: str) -> None:
        if self.block(block).values:
            raise _refused(where, span)

    # --- control --------------------------------------------------------------------------

    def branches(self, eqn: Eqn) -> tuple[Eqn, Sequence[Eqn], Sequence[Var]]:
        parts = [self.block(block) for block in eqn.blocks]
        told = [clones(part.values) for part in parts]
        outs = [out for names in told for out in names.values()]
        if not outs:
            return eqn, (eqn,), ()
        first = [
            replace(part.first, outs=(*part.first.outs, *_only(names, told)))
            for part, names in zip(parts, told, strict=True)
        ]
        again = [
            renamed_block(part.again, dict(names)) for part, names in zip(parts, told, strict=True)
        ]
        one = replace(eqn, outs=(*eqn.outs, *outs), blocks=tuple(first))
        return one, (replace(eqn, blocks=tuple(again)),), outs

    def loop(self, loop: Loop) -> tuple[Eqn, Sequence[Eqn], Sequence[Var]]:
        if loop.test is not None:
            self.refuse_in(loop.test, loop.eqn.span, "the test of a `while`")
        part = self.block(loop.body)
        lists = {var: Var(Seq(var.kind)) for var in part.values}
        if not lists:
            return loop.eqn, (loop.eqn,), ()
        one = rebuilt(loop, part.first.eqns, collected=list(lists.items()))
        other = _replaying(loop, part.again.eqns, lists)
        return one, (other,), list(lists.values())

    # --- calls ----------------------------------------------------------------------------

    def call(self, eqn: Eqn) -> tuple[Eqn, Eqn, Sequence[Var]]:
        callee = self.callee(eqn)
        if callee is None:
            return eqn, eqn, ()
        values = list(clones(callee.values).values())
        one = _calling(eqn, callee.first, outs=(*eqn.outs, *values))
        return one, _calling(eqn, callee.again, args=(*eqn.args, *values)), values

    def callee(self, eqn: Eqn) -> _Callee | None:
        callee = eqn.param("callee")
        wrt = tuple(k for k, arg in enumerate(eqn.args) if arg in self.active)
        outs = tuple(k for k, out in enumerate(eqn.outs) if out in self.active)
        key = callee, wrt, outs
        if key not in self.callees:
            self.callees[key] = None  # as long as nothing else is known: it may call itself
            self.callees[key] = self.read(callee, wrt, outs, eqn.span)
        return self.callees[key]

    def read(
        self, callee: Callee, wrt: Sequence[int], outs: Sequence[int], span: Span | None
    ) -> _Callee | None:
        function = callee.function
        if function is None:
            return None
        body = function.body
        useful = [atom for k in outs if isinstance(atom := body.outs[k], Var)]
        active = activity.active(body, [body.params[k] for k in wrt], useful)
        part = _Recorder(set(used_in(body)), active, self.callees).block(body)
        if not part.values:
            return None
        if callee in callees([function]):
            raise _refused("a function that calls itself", span)
        replayed = tidy(replace(function, body=part.again))
        used = set(used_in(replayed.body))
        values = [var for var in part.values if var in used]
        return _Callee(
            Callee(f"recorded_{callee.name}", _first(function, part.first, values)),
            Callee(f"replayed_{callee.name}", _again(replayed, values)),
            values,
        )


_STEADY_MODULES = ("builtins", "math", "cmath", "operator", "_operator", "numpy")
_UNSTEADY = frozenset(
    ("input", "open", "next", "print", "id", "eval", "exec", "compile", "__import__")
)


def _called_by(eqn: Eqn) -> Any:
    """The function outside the vocabulary that an equation calls; None if only the run tells."""
    if eqn.op in (st.apply, st.opaque):
        return eqn.args[0].value if isinstance(eqn.args[0], Const) else None
    return eqn.op.implementation


def is_steady(function: Any) -> bool:
    """Whether a function outside the vocabulary is known to give the same for the same arguments."""
    module = getattr(function, "__module__", None) or ""
    if getattr(function, "__name__", "") in _UNSTEADY or "random" in module:
        return False
    return module.split(".")[0] in _STEADY_MODULES


def _refused(where: str, span: Span | None) -> NoRule:
    return NoRule(
        f"a checkpointed loop or call runs twice, and in {where} something is called that may give "
        "something else the second time",
        "Call it before the loop and use what it gave.",
        span,
    )


def _only(mine: dict[Var, Var], told: Sequence[dict[Var, Var]]) -> list[Atom]:
    """What one branch is told; nothing in the places of the others."""
    return [var if names is mine else UNDEFINED for names in told for var in names]


def _replaying(loop: Loop, eqns: Sequence[Eqn], lists: dict[Var, Var]) -> Eqn:
    """The loop that reads in each iteration what the same iteration was told."""
    if loop.test is None:
        return rebuilt(loop, eqns, iterables=[(told, var) for var, told in lists.items()])
    number, following = Var(INT), Var(INT)
    reading = [Eqn((var,), st.getitem, (told, number)) for var, told in lists.items()]
    step = Eqn((following,), registry.named("add"), (number, Const(1)))
    slot = Slot(Const(0), number, following, Var(INT))
    return rebuilt(loop, [*reading, *eqns, step], slots=[slot])


def _calling(eqn: Eqn, callee: Callee, **parts: tuple[Atom, ...]) -> Eqn:
    return replace(eqn, params={**eqn.params, "callee": Const(callee)}, **parts)


def _first(function: Function, body: Block, values: Sequence[Var]) -> Function:
    outs = (*body.outs, *values)
    items = tuple(UNKNOWN if isinstance(kind, Struct) else kind for kind in map(kind_of_atom, outs))
    kind = Struct("tuple", tuple(range(len(outs))), items)
    return replace(function, body=replace(body, outs=outs), result=kind)


def _again(function: Function, values: Sequence[Var]) -> Function:
    inputs = tuple(Input(f"told_{k}", var.kind) for k, var in enumerate(values))
    body = replace(function.body, params=(*function.body.params, *values))
    return replace(function, body=body, inputs=(*function.inputs, *inputs))
