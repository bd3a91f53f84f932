"""A loop equation with its parts named."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import FOR, WHILE, Atom, Block, Const, Eqn, Var
from ...ir.records import mutable_record, value_record

LOOPS = (FOR, WHILE)


@value_record
class Loop:
    """The parts of a `for` or `while`.

    Slot k of the loop is `initials[k]` before it, `carried[k]` at the start of an iteration,
    `results[k]` at its end and `outs[k]` after it. `collected[c]` is gathered into `lists[c]`.
    """

    eqn: Eqn
    iterables: tuple[Atom, ...]
    initials: tuple[Atom, ...]
    items: tuple[Var, ...]
    carried: tuple[Var, ...]
    stop: Atom | None
    results: tuple[Atom, ...]
    collected: tuple[Atom, ...]
    outs: tuple[Var, ...]
    lists: tuple[Var, ...]

    @property
    def body(self) -> Block:
        return self.eqn.blocks[-1]

    @property
    def test(self) -> Block | None:
        return self.eqn.blocks[0] if self.eqn.op is WHILE else None

    @property
    def reverse(self) -> bool:
        return bool(self.eqn.param("reverse", False))

    @property
    def aligned(self) -> bool:
        """Whether entry k of every iterable belongs to iteration k, and all of them are used up."""
        if self.stop is not None or not self.iterables:
            return False
        return len(self.iterables) == 1 or bool(self.eqn.param("aligned", False))


def view(eqn: Eqn) -> Loop:
    """The parts of a loop equation."""
    n = eqn.param("iterables", 0)
    slots = len(eqn.args) - n
    params, results = eqn.blocks[-1].params, eqn.blocks[-1].outs
    stop = None
    if eqn.param("stop", False):
        stop, *rest = results
        results = tuple(rest)
    return Loop(
        eqn,
        eqn.args[:n],
        eqn.args[n:],
        params[:n],
        params[n:],
        stop,
        results[:slots],
        results[slots:],
        eqn.outs[:slots],
        eqn.outs[slots:],
    )


@mutable_record
class Slot:
    """One carried value."""

    initial: Atom
    param: Var
    result: Atom
    out: Var


def for_eqn(
    iterables: Sequence[tuple[Atom, Var]],
    slots: Sequence[Slot],
    collected: Sequence[tuple[Atom, Var]],
    eqns: Sequence[Eqn],
    like: Eqn,
    *,
    stop: Atom | None = None,
    reverse: bool = False,
    aligned: bool = False,
) -> Eqn:
    """A `for` from its parts: iterables with their items, slots, results with their lists."""
    params: dict[str, Atom] = {
        "iterables": Const(len(iterables)),
        "reverse": Const(reverse),
        "stop": Const(stop is not None),
    }
    if aligned and len(iterables) > 1:
        params["aligned"] = Const(True)
    params |= _checkpointing(like)
    body_params = [item for _, item in iterables] + [slot.param for slot in slots]
    args = [atom for atom, _ in iterables] + [slot.initial for slot in slots]
    body = Block(tuple(body_params), tuple(eqns), _body_results(slots, collected, stop))
    return Eqn(
        _outs(slots, collected), FOR, tuple(args), params, (body,), like.namespace, like.span
    )


def while_eqn(
    slots: Sequence[Slot],
    collected: Sequence[tuple[Atom, Var]],
    test: Block,
    eqns: Sequence[Eqn],
    like: Eqn,
    *,
    stop: Atom | None = None,
) -> Eqn:
    """A `while` from its parts; the parameters of `test` are one per slot."""
    body_params = tuple(slot.param for slot in slots)
    body = Block(body_params, tuple(eqns), _body_results(slots, collected, stop))
    params: dict[str, Atom] = {"stop": Const(stop is not None), **_checkpointing(like)}
    initials = tuple(slot.initial for slot in slots)
    outs = _outs(slots, collected)
    return Eqn(outs, WHILE, initials, params, (test, body), like.namespace, like.span)


def _checkpointing(like: Eqn) -> dict[str, Atom]:
    """How a loop that is made of another is checkpointed: as that is."""
    return {name: atom for name, atom in like.params.items() if name in ("every", "again")}


def _body_results(
    slots: Sequence[Slot], collected: Sequence[tuple[Atom, Var]], stop: Atom | None
) -> tuple[Atom, ...]:
    results = [slot.result for slot in slots] + [atom for atom, _ in collected]
    return (stop, *results) if stop is not None else tuple(results)


def _outs(slots: Sequence[Slot], collected: Sequence[tuple[Atom, Var]]) -> tuple[Var, ...]:
    return tuple([slot.out for slot in slots] + [out for _, out in collected])


def rebuilt(
    loop: Loop,
    eqns: Sequence[Eqn],
    *,
    iterables: Sequence[tuple[Atom, Var]] = (),
    slots: Sequence[Slot] = (),
    collected: Sequence[tuple[Atom, Var]] = (),
) -> Eqn:
    """The loop with another body and with more iterables, slots and collected results."""
    all_slots = [
        Slot(*parts)
        for parts in zip(loop.initials, loop.carried, loop.results, loop.outs, strict=True)
    ]
    all_slots += slots
    lists = [*zip(loop.collected, loop.lists, strict=True), *collected]
    if loop.test is not None:
        extra = tuple(Var(slot.param.kind) for slot in slots)
        test = Block((*loop.test.params, *extra), loop.test.eqns, loop.test.outs)
        return while_eqn(all_slots, lists, test, eqns, loop.eqn, stop=loop.stop)
    pairs = [*zip(loop.iterables, loop.items, strict=True), *iterables]
    aligned = loop.aligned or bool(loop.eqn.param("aligned", False))
    return for_eqn(
        pairs,
        all_slots,
        lists,
        eqns,
        loop.eqn,
        stop=loop.stop,
        reverse=loop.reverse,
        aligned=aligned,
    )
