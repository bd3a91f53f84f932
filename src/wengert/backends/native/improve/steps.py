"""What the iterations of a loop hand on: what each reads before it is given, and what it adds to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..form.loopform import (
    Allocate,
    Apply,
    Assign,
    BreakIf,
    Code,
    Expr,
    For,
    If,
    Invoke,
    Slot,
    Statement,
    While,
    assigned_in,
    blocks_of,
    each,
    slots_in,
)
from .independence import once, reads_of
from .multiples import values_in

STARTS: dict[str, dict[Code, float | int | bool]] = {
    "add": {"f64": 0.0, "f32": 0.0, "i64": 0},
    "mul": {"f64": 1.0, "f32": 1.0, "i64": 1},
    "maximum": {"f64": float("-inf"), "f32": float("-inf")},
    "minimum": {"f64": float("inf"), "f32": float("inf")},
    "or": {"b1": False},
    "and": {"b1": True},
}


_STEPS = {"add_any": "add", "mul_any": "mul"}


def leaves(body: Sequence[Statement]) -> bool:
    """Whether a loop may end early."""
    for statement in body:
        if isinstance(statement, BreakIf):
            return True
        if isinstance(statement, If) and (leaves(statement.then) or leaves(statement.other)):
            return True
    return False


def is_private(slot: Slot, body: Sequence[Statement]) -> bool:
    """Whether memory is taken by each iteration for itself."""
    return any(isinstance(s, Allocate) and s.pointer == slot for s in each(tuple(body)))


def in_order(slots: set[Slot]) -> list[Slot]:
    return sorted(slots, key=lambda slot: slot.name)


def before_and_after(body: Sequence[Statement], own: set[Slot]) -> tuple[set[Slot], set[Slot]]:
    """Variables that an iteration may read before it gives them a value; those it always gives one."""
    found: set[Slot] = set()
    known: set[Slot] = set()
    _walk(body, own, known, found)
    return found, known


def _walk(body: Sequence[Statement], own: set[Slot], known: set[Slot], found: set[Slot]) -> None:
    for statement in body:
        if not isinstance(statement, While):
            read = set(reads_of((statement,), inside=False))
            found |= (read & own) - known
        match statement:
            case Assign(slot=slot):
                known.add(slot)
            case Invoke(results=results):
                known.update(results)
            case If(then=then, other=other):
                sides = [set(known), set(known)]
                for block, side in zip((then, other), sides, strict=True):
                    _walk(block, own, side, found)
                known |= sides[0] & sides[1]
            case For(index=index, body=inner):
                _walk(inner, own, {*known, index}, found)
            case While(test=test, condition=condition, body=inner):
                _walk(test, own, known, found)
                found |= {s for s in slots_in(condition) if s in own and s not in known}
                _walk(inner, own, set(known), found)
            case _:
                pass


def step_of(slot: Slot, loop: For, reads: Counter[Slot]) -> str | None:
    """How a loop adds to a variable that it does nothing else with."""
    values = values_in(loop)
    steps: set[str | None] = set()
    count = 0
    for statement in each(loop.body):
        if slot not in set(assigned_in((statement,))) or blocks_of(statement):
            continue
        value = once(statement.value, values, reads) if isinstance(statement, Assign) else None
        steps.add(_step(slot, value))
        count += 1
    (step,) = steps if len(steps) == 1 else (None,)
    return step if count == reads[slot] else None


def _step(slot: Slot, value: Expr | None) -> str | None:
    match value:
        case Apply(op=op, args=(a, b)) if (a == slot) != (b == slot):
            step = _STEPS.get(op, op)
            step = "add" if op == "sub" and a == slot else step
            known = slot.code in STARTS.get(step, {}) or step in ("max", "min")
            return step if known else None
        case _:
            return None
