"""What a program has Python compute, and whether native code around it is worth its while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ....ir.builder import kind_of_atom
from ....ir.graph import COMMENT, FOR, WHILE, Block, Eqn, Function, callees
from ....ir.types import Array
from ..form.loopform import External, For, Invoke, Procedure, Statement, While, blocks_of, each
from ..lower.words import CallOut
from ..values.values import Unlowered
from .handlers import Place, place_of


def numbers_of(procedures: Sequence[Procedure]) -> set[int]:
    """The calls out of a program, by number."""
    return set(_numbers(s for p in procedures for s in each(p.body)))


def in_loops(procedures: Sequence[Procedure]) -> set[int]:
    """Those of them that are in a loop, or in a function that a loop or the function itself calls."""
    by_name = {p.name: p for p in procedures}
    repeated = {p.name for p in procedures if p.name in _called_by(p, by_name)}
    inner: list[Statement] = []
    for procedure in procedures:
        for loop in each(procedure.body):
            if isinstance(loop, (For, While)):
                inner += [s for block in blocks_of(loop) for s in each(block)]
    for name in [s.function for s in inner if isinstance(s, Invoke)]:
        repeated |= {name, *_called_by(by_name[name], by_name)}
    inner += [s for name in repeated for s in each(by_name[name].body)]
    return set(_numbers(inner))


def must_not_be_in_loops(procedures: Sequence[Procedure], calls: Mapping[int, CallOut]) -> None:
    """Refuse a program that has Python compute something again and again."""
    for call in (calls[number] for number in sorted(in_loops(procedures))):
        if call.reason is not None:
            raise Unlowered(f"{call.reason}, and is in a loop", call.span)


def described(procedures: Sequence[Procedure], calls: Mapping[int, CallOut]) -> str:
    """The calls out of a program for a reader, each with its place; "" if there are none."""
    inner = in_loops(procedures)
    needed = ((k, call) for k, call in calls.items() if call.reason is not None)
    return ", ".join(dict.fromkeys(_shown(call, k in inner) for k, call in needed))


def _shown(call: CallOut, in_loop: bool) -> str:
    where = [str(call.span)] if call.span is not None else []
    where += ["in a loop"] if in_loop else []
    name = call.name.removeprefix("<ufunc '").removesuffix("'>")
    return f"`{name}` ({', '.join(where)})" if where else f"`{name}`"


def _numbers(statements: Iterable[Statement]) -> Iterator[int]:
    for statement in statements:
        if isinstance(statement, External) and statement.number is not None:
            yield statement.number


def _called_by(procedure: Procedure, by_name: dict[str, Procedure]) -> set[str]:
    """The procedures that one calls, directly or not."""
    found: set[str] = set()
    pending = [procedure]
    while pending:
        calls = {s.function for s in each(pending.pop().body) if isinstance(s, Invoke)} - found
        found |= calls
        pending += [by_name[name] for name in calls]
    return found


# --- what it saves ------------------------------------------------------------------------

_CALL = 1.0
"""What a call out takes beside the work, in microseconds."""
_OF_ARRAYS, _OF_NUMBERS = 0.7, 0.05
"""What an equation of arrays, or of numbers, takes in Python beside the work."""
_TURNS = 100.0
"""What a loop is taken to be worth whose turns are not known."""


def saves_time(function: Function, calls: Iterable[CallOut]) -> bool:
    """Whether native code saves more than it loses by these calls of Python."""
    places = frozenset((call.name, call.span) for call in calls if call.reason is not None)
    inside = [each.function for each in callees([function]) if each.function is not None]
    if not places:
        return True
    return _saved(function.body, places) + sum(_saved(f.body, places) for f in inside) > 0.0


def _saved(block: Block, places: frozenset[Place]) -> float:
    total = 0.0
    for eqn in block.eqns:
        if place_of(eqn) in places:
            total -= _CALL
        elif eqn.blocks:
            inner = sum(_saved(each, places) for each in eqn.blocks)
            total += inner * _TURNS if eqn.op in (FOR, WHILE) else inner
        elif eqn.op is not COMMENT:
            total += _OF_ARRAYS if _is_of_arrays(eqn) else _OF_NUMBERS
    return total


def _is_of_arrays(eqn: Eqn) -> bool:
    return any(isinstance(kind_of_atom(atom), Array) for atom in (*eqn.args, *eqn.outs))
