"""Which values somebody reads, so that assignments nobody reads are not printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ...ir.graph import UNDEFINED, Atom, Block, Const, Eqn, Function, Var, used_in, walk
from ...ir.records import value_record

_SILENT = frozenset(("pack", "slice", "closure", "global"))
"""Ops that cannot fail where they are needed by nobody: left out then."""


@value_record
class Loop:
    """The parts of a `for` or `while` equation, slot by slot."""

    eqn: Eqn
    iterables: Sequence[Atom]
    items: Sequence[Var]
    initials: Sequence[Atom]
    params: Sequence[Sequence[Var]]
    """Per carried slot: its parameters in every block, in the order of the blocks."""
    results: Sequence[Atom]
    outs: Sequence[Var]
    collected: Sequence[tuple[Var, Atom]]
    stop: Atom | None

    @property
    def body(self) -> Block:
        return self.eqn.blocks[-1]


def loop_parts(eqn: Eqn) -> Loop:
    """Take a loop equation apart."""
    count = eqn.param("iterables", 0) if eqn.op.name == "for" else 0
    initials = eqn.args[count:]
    body = eqn.blocks[-1]
    params = zip(*(block.params[count:] for block in eqn.blocks), strict=True)
    results = list(body.outs)
    stop = results.pop(0) if eqn.param("stop", False) else None
    carried = len(initials)
    return Loop(
        eqn,
        eqn.args[:count],
        body.params[:count],
        initials,
        list(params),
        results[:carried],
        eqn.outs[:carried],
        list(zip(eqn.outs[carried:], results[carried:], strict=True)),
        None if stop == Const(False) else stop,
    )


@value_record
class Caught:
    """What is printed together with a `try`: what asks whether it raised, and the `if` on that."""

    asks: Sequence[Eqn]
    branch: Eqn | None

    def after(self, raised: bool) -> Block | None:
        """What runs where it raised, or where it did not."""
        if self.branch is None:
            return None
        (ask,) = (ask for ask in self.asks if ask.outs[0] is self.branch.args[0])
        return self.branch.blocks[0 if raised == answer(ask, raised=True) else 1]


def answer(ask: Eqn, *, raised: bool) -> bool:
    """What asking for the exception of a `try` (`is None`, `is not None`) gives."""
    return raised == (ask.op.name == "is_not")


def _caught(eqns: Sequence[Eqn]) -> Iterator[tuple[Eqn, Caught]]:
    """Every `try` of a block, with what is printed with it."""
    for k, eqn in enumerate(eqns):
        if eqn.op.name != "try":
            continue
        rest = eqns[k + 1 :]
        asks = [each for each in rest if _asks_for(each, eqn.outs[0])]
        after = next((each for each in rest if each not in asks), None)
        flags = [ask.outs[0] for ask in asks]
        branches = after is not None and after.op.name == "if" and after.args[0] in flags
        yield eqn, Caught(asks, after if branches else None)


def _asks_for(eqn: Eqn, exception: Var) -> bool:
    return eqn.op.name in ("is", "is_not") and eqn.args == (exception, Const(None))


class Needs:
    """What a function's values are needed for.

    `values` are the needed ones; `dropped` the equations that print nothing; `uses` counts how
    often each value is read by what is printed.
    """

    def __init__(self, function: Function):
        self.values: set[Var] = set()
        self.dropped: set[Eqn] = set()
        self.uses: Counter[Var] = Counter()
        self.loops: dict[Eqn, Loop] = {}
        self.caught: dict[Eqn, Caught] = {}
        self.only_handled: set[Eqn] = set()
        """Every `try` whose exception is read nowhere but in its handler."""
        self.printed: dict[Eqn, Eqn] = {}
        """By the last equation that is printed together with a `try`, the `try`."""
        self.with_try: set[Eqn] = set()
        """What is printed together with a `try`."""
        self._exposed: set[Var] = set()
        """Values that may be read where nothing has been assigned to them."""
        eqns = list(walk(function.body))
        self._find_caught(function.body)
        if any(map(_leaves_undefined, eqns)):
            self._exposed = _Exposure(function).found
        self._follow(function, eqns)
        self._count(function, eqns)

    def _find_caught(self, body: Block) -> None:
        for block in (body, *(block for eqn in walk(body) for block in eqn.blocks)):
            found = list(_caught(block.eqns))
            used = Counter(used_in(block) if found else ())
            for eqn, caught in found:
                self.caught[eqn] = caught
                self.printed[eqn if caught.branch is None else caught.branch] = eqn
                self.with_try.update(caught.asks)
                handler = caught.after(raised=True)
                uses = used[eqn.outs[0]] - len(caught.asks)
                if handler is not None and uses == Counter(used_in(handler))[eqn.outs[0]]:
                    self.only_handled.add(eqn)
                if caught.branch is not None:
                    self.with_try.add(caught.branch)

    def outs_after(self, eqn: Eqn) -> list[Var]:
        """The values there are once an equation, and what is printed with it, has been printed."""
        if eqn in self.caught or eqn in self.with_try:
            whole = self.printed.get(eqn)
            if whole is None:
                return []
            caught = self.caught[whole]
            parts = [whole, *caught.asks, *([] if caught.branch is None else [caught.branch])]
            return [out for part in parts for out in part.outs]
        return list(eqn.outs)

    def assigned(self, eqn: Eqn, out: Var) -> bool:
        """Whether a result gets a name."""
        return out in self.values or (bool(out.name) and not eqn.op.effect and not eqn.blocks)

    def copies(self, outs: Sequence[Var], sources: Sequence[Atom]) -> Iterator[tuple[Var, Atom]]:
        """The assignments to needed values among these."""
        for out, source in zip(outs, sources, strict=True):
            if out in self.values and (out in self._exposed or not is_undefined(source)):
                yield out, source

    def _follow(self, function: Function, eqns: Sequence[Eqn]) -> None:
        flows: dict[Var, Sequence[Atom]] = {}
        todo: list[Atom] = list(function.body.outs)
        for eqn in eqns:
            match eqn.op.name:
                case "if":
                    todo += () if eqn in self.with_try else eqn.args
                    for k, out in enumerate(eqn.outs):
                        flows[out] = [block.outs[k] for block in eqn.blocks]
                case "try":
                    for k, out in enumerate(eqn.outs[1:]):
                        flows[out] = [eqn.blocks[0].outs[k], eqn.args[k]]
                case "is" | "is_not" if eqn in self.with_try:
                    pass
                case "for" | "while":
                    todo += self._follow_loop(eqn, flows)
                case name if name in _SILENT:
                    flows[eqn.outs[0]] = eqn.operands()
                case _:
                    todo += eqn.operands()
        while todo:
            atom = todo.pop()
            if isinstance(atom, Var) and atom not in self.values:
                self.values.add(atom)
                todo += flows.get(atom, ())
        self.dropped.update(
            eqn for eqn in eqns if eqn.op.name in _SILENT and eqn.outs[0] not in self.values
        )

    def _follow_loop(self, eqn: Eqn, flows: dict[Var, Sequence[Atom]]) -> list[Atom]:
        loop = self.loops[eqn] = loop_parts(eqn)
        for k, out in enumerate(loop.outs):
            flows[out] = [*loop.params[k], loop.initials[k], loop.results[k]]
            for param in loop.params[k]:
                flows[param] = [out]
        for out, result in loop.collected:
            flows[out] = [result]
        tests = [atom for block in eqn.blocks[:-1] for atom in block.outs]
        return [*loop.iterables, *tests, *([] if loop.stop is None else [loop.stop])]

    def _count(self, function: Function, eqns: Sequence[Eqn]) -> None:
        for eqn in eqns:
            if eqn not in self.dropped:
                self.uses.update(a for a in self._reads(eqn) if isinstance(a, Var))
        self.uses.update(atom for atom in function.body.outs if isinstance(atom, Var))

    def _reads(self, eqn: Eqn) -> Iterator[Atom]:
        if eqn.op.name == "if":
            yield from () if eqn in self.with_try else eqn.args
            for block in eqn.blocks:
                yield from (source for _, source in self.copies(eqn.outs, block.outs))
        elif eqn.op.name == "try":
            for sources in (eqn.blocks[0].outs, eqn.args):
                yield from (source for _, source in self.copies(eqn.outs[1:], sources))
        elif eqn in self.with_try:
            return
        elif eqn in self.loops:
            yield from self._loop_reads(self.loops[eqn])
        else:
            yield from eqn.operands()

    def _loop_reads(self, loop: Loop) -> Iterator[Atom]:
        yield from loop.iterables
        for sources in (loop.initials, loop.results):
            yield from (source for _, source in self.copies(loop.outs, sources))
        yield from (result for out, result in loop.collected if out in self.values)
        for block in loop.eqn.blocks[:-1]:
            yield from block.outs
        if loop.stop is not None:
            yield loop.stop


def _leaves_undefined(eqn: Eqn) -> bool:
    return any(is_undefined(atom) for block in eqn.blocks for atom in (*block.outs, *eqn.args))


class _Exposure:
    """Finds the values that are read on paths on which they are undefined.

    The results of an `if` that are undefined after one of its branches are safe to read inside the
    other branch of an `if` on the same condition.
    """

    def __init__(self, function: Function):
        self.found: set[Var] = set()
        self._needs: dict[Var, tuple[Atom, int]] = {}
        """What a result needs to be defined: a condition and the branch taken."""
        self._taken: dict[Atom, int] = {}
        self._asks: dict[Atom, Eqn] = {}
        """What asks for the exception of a `try`, by its result."""
        self._block(function.body)

    def _block(self, block: Block) -> None:
        for eqn in block.eqns:
            self._read(eqn.operands())
            if eqn.op.name == "if":
                self._if(eqn)
                continue
            if eqn.op.name == "try":
                self._try(eqn)
                continue
            if eqn.op.name in ("is", "is_not") and eqn.args[1] == Const(None):
                self._asks[eqn.outs[0]] = eqn
            if eqn.blocks:
                # the values that loops hand on are not looked into
                self.found.update(v for b in eqn.blocks for v in (*b.params, *eqn.outs))
            for inner in eqn.blocks:
                self._block(inner)
        self._read(block.outs)

    def _read(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and atom in self._needs:
                condition, branch = self._needs[atom]
                if self._taken.get(condition) != branch:
                    self.found.add(atom)

    def _try(self, eqn: Eqn) -> None:
        (body,) = eqn.blocks
        self._block(body)
        exception, *outs = eqn.outs
        for out, atom, instead in zip(outs, body.outs, eqn.args, strict=True):
            if is_undefined(instead):
                self._needs[out] = (exception, 0)
            elif is_undefined(atom):
                self._needs[out] = (exception, 1)

    def _if(self, eqn: Eqn) -> None:
        condition = eqn.args[0]
        for branch, block in enumerate(eqn.blocks):
            before = dict(self._taken)
            self._taken.update([(condition, branch), self._path(condition, branch)])
            self._block(block)
            self._taken = before
        for out, *sources in zip(eqn.outs, *(b.outs for b in eqn.blocks), strict=True):
            undefined = [k for k, source in enumerate(sources) if is_undefined(source)]
            if undefined:
                self._needs[out] = self._path(condition, 1 - undefined[0])

    def _path(self, condition: Atom, branch: int) -> tuple[Atom, int]:
        """A branch; of what asks for the exception of a `try`, whether there was one."""
        ask = self._asks.get(condition)
        if ask is None:
            return condition, branch
        return ask.args[0], int(answer(ask, raised=True) == (branch == 0))


def is_undefined(atom: Atom) -> bool:
    """Whether this is the value of a name that nothing has been assigned to."""
    return atom == UNDEFINED
