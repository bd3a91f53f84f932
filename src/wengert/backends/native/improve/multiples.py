"""Indices as multiples of what a loop counts."""

from __future__ import annotations

from collections import Counter

from ....ir.records import record
from ..form.loopform import Apply, Assign, Constant, Expr, For, Load, Slot, assigned_in, each
from ..values.emitter import simplified
from ..values.values import ONE, ZERO, minus, plus, times


@record
class Linear:
    """`rest` and a multiple of the index of each loop."""

    rest: Expr
    multiples: dict[Slot, Expr]


def values_in(loop: For) -> dict[Slot, Expr]:
    """What the variables stand for that a loop gives a value to in one place."""
    times_assigned = Counter(assigned_in(loop.body))
    return {
        s.slot: s.value
        for s in each(loop.body)
        if isinstance(s, Assign) and times_assigned[s.slot] == 1
    }


class Indices:
    """Takes indices apart that are computed in a loop."""

    def __init__(self, loop: For):
        self.own = {*assigned_in(loop.body), loop.index}
        self.counts = {loop.index: loop.count}
        self.values = values_in(loop)
        for statement in each(loop.body):
            if isinstance(statement, For):
                self.counts[statement.index] = statement.count

    def linear(self, value: Expr) -> Linear | None:
        """An index as multiples of those of loops; None if it is anything else."""
        match value:
            case Constant():
                return Linear(value, {})
            case Slot() if value in self.counts:
                return Linear(ZERO, {value: ONE})
            case Slot() if value not in self.own:
                return Linear(value, {})
            case Slot():
                return self.linear(self.values[value]) if value in self.values else None
            case Apply(op="add" | "sub" | "mul", args=(a, b)):
                x, y = self.linear(a), self.linear(b)
                return _combined(value.op, x, y) if x and y else None
            case Apply(args=args):
                parts = [self.linear(arg) for arg in args]
                if any(part is None or part.multiples for part in parts):
                    return None
                rests = tuple(part.rest for part in parts if part is not None)
                return Linear(simplified(Apply(value.op, rests, value.code)), {})
            case Load():
                return None

    def most(self, value: Expr) -> Expr | None:
        """The greatest number that a count can be, in variables of outside the loop."""
        match value:
            case Slot() if value in self.values:
                return self.most(self.values[value])
            case Apply(op="max" | "min", args=(a, b)):
                x, y = self.most(a), self.most(b)
                return simplified(Apply(value.op, (x, y), "i64")) if x and y else None
            case _:
                found = self.linear(value)
                return self._greatest(found) if found is not None else None

    def _greatest(self, found: Linear) -> Expr | None:
        reach = self.reach(found)
        return reach[1] if reach is not None else None

    def reach(self, found: Linear, without: Slot | None = None) -> tuple[Expr, Expr] | None:
        """The least and the greatest that an index can be."""
        low = high = found.rest
        for index, multiple in found.multiples.items():
            if index == without:
                continue
            count = self.most(self.counts[index])
            if count is None:
                return None
            last = simplified(times(multiple, simplified(minus(count, ONE))))
            low = simplified(plus(low, simplified(Apply("min", (last, ZERO), "i64"))))
            high = simplified(plus(high, simplified(Apply("max", (last, ZERO), "i64"))))
        return low, high


def _combined(op: str, x: Linear, y: Linear) -> Linear | None:
    if op == "mul":
        if x.multiples and y.multiples:
            return None
        many, one = (x, y) if x.multiples else (y, x)
        multiples = {k: simplified(times(m, one.rest)) for k, m in many.multiples.items()}
        return Linear(simplified(times(many.rest, one.rest)), multiples)
    join = plus if op == "add" else minus
    multiples = {
        k: simplified(join(x.multiples.get(k, ZERO), y.multiples.get(k, ZERO)))
        for k in dict.fromkeys((*x.multiples, *y.multiples))
    }
    return Linear(
        simplified(join(x.rest, y.rest)), {k: m for k, m in multiples.items() if m != ZERO}
    )
