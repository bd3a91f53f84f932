"""What the iterations of a loop hand on: what each reads before it is given, and what it adds to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..form import loopform as lf
from .independence import once, reads_of
from .multiples import values_in

STARTS: dict[str, dict[lf.Code, float | int | bool]] = {
    "add": {"f64": 0.0, "f32": 0.0, "i64": 0},
    "mul": {"f64": 1.0, "f32": 1.0, "i64": 1},
    "maximum": {"f64": float("-inf"), "f32": float("-inf")},
    "minimum": {"f64": float("inf"), "f32": float("inf")},
    "or": {"b1": False},
    "and": {"b1": True},
}


_STEPS = {"add_any": "add", "mul_any": "mul"}


def leaves(body: Sequence[lf.Statement]) -> bool:
    """Whether a loop may end early."""
    for statement in body:
        if isinstance(statement, lf.BreakIf):
            return True
        if isinstance(statement, lf.If) and (leaves(statement.then) or leaves(statement.other)):
            return True
    return False


def is_private(slot: lf.Slot, body: Sequence[lf.Statement]) -> bool:
    """Whether memory is taken by each iteration for itself."""
    return any(isinstance(s, lf.Allocate) and s.pointer == slot for s in lf.each(tuple(body)))


def in_order(slots: set[lf.Slot]) -> list[lf.Slot]:
    return sorted(slots, key=lambda slot: slot.name)


def before_and_after(
    body: Sequence[lf.Statement], own: set[lf.Slot]
) -> tuple[set[lf.Slot], set[lf.Slot]]:
    """Variables that an iteration may read before it gives them a value; those it always gives one."""
    found: set[lf.Slot] = set()
    known: set[lf.Slot] = set()
    _walk(body, own, known, found)
    return found, known


def _walk(
    body: Sequence[lf.Statement], own: set[lf.Slot], known: set[lf.Slot], found: set[lf.Slot]
) -> None:
    for statement in body:
        if not isinstance(statement, lf.While):
            read = set(reads_of((statement,), inside=False))
            found |= (read & own) - known
        match statement:
            case lf.Assign(slot=slot):
                known.add(slot)
            case lf.Invoke(results=results):
                known.update(results)
            case lf.If(then=then, other=other):
                sides = [set(known), set(known)]
                for block, side in zip((then, other), sides, strict=True):
                    _walk(block, own, side, found)
                known |= sides[0] & sides[1]
            case lf.For(index=index, body=inner):
                _walk(inner, own, {*known, index}, found)
            case lf.While(test=test, condition=condition, body=inner):
                _walk(test, own, known, found)
                found |= {s for s in lf.slots_in(condition) if s in own and s not in known}
                _walk(inner, own, set(known), found)
            case _:
                pass


def step_of(slot: lf.Slot, loop: lf.For, reads: Counter[lf.Slot]) -> str | None:
    """How a loop adds to a variable that it does nothing else with."""
    values = values_in(loop)
    steps: set[str | None] = set()
    count = 0
    for statement in lf.each(loop.body):
        if slot not in set(lf.assigned_in((statement,))) or lf.blocks_of(statement):
            continue
        value = once(statement.value, values, reads) if isinstance(statement, lf.Assign) else None
        steps.add(_step(slot, value))
        count += 1
    (step,) = steps if len(steps) == 1 else (None,)
    return step if count == reads[slot] else None


def _step(slot: lf.Slot, value: lf.Expr | None) -> str | None:
    match value:
        case lf.Apply(op=op, args=(a, b)) if (a == slot) != (b == slot):
            step = _STEPS.get(op, op)
            step = "add" if op == "sub" and a == slot else step
            known = slot.code in STARTS.get(step, {}) or step in ("max", "min")
            return step if known else None
        case _:
            return None
