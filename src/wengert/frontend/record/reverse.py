"""The rule of an op, read backwards on run-time values: from the cotangent of its result to those of its operands.

A row is called as the function that it is. Where it is a differential it is run on tangents of a tape of its own,
which is then played backwards: it is linear in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...numbers.number import value_of
from ...numbers.pushforward import (
    applied,
    as_numpy_divides,
    completed,
    has_partial,
    partials,
    pushforward,
    usable_rule,
    zeros_of,
)
from ...ops.arrays.vectors import FACTORS
from ...ops.structure import getitem
from ...rules.registry import Rule, rule_for
from ...runtime.cotangents import unbroadcast
from ...runtime.given import rule_cotangents, rule_pair
from .arrays import all_plain
from .boxes import boxes_in, fresh
from .operations import operations
from .steps import Computed, in_all_runs
from .sweeps import Run
from .tape import Sweep, holds_operands, is_of_floats, value_in


def pull(sweep: Sweep, step: Computed, bar: Any) -> None:
    """Add to the cotangents of an op's operands what the cotangent of its result gives them."""
    operands = step.operands
    values = tuple(map(value_in, operands))
    if step.op is getitem:
        sweep.add(operands[0], _scattered(bar, values[0], values[1]))
        return
    Ω = value_in(step.results)
    bar = _complete(bar, Ω)
    rule = _rule_at(step)
    try:
        _PULLS[rule.form](sweep, rule, step, as_numpy_divides(step.op, values, Ω), Ω, bar)
    except ValueError as error:
        vars(error).setdefault("span", getattr(step, "span", None))
        raise


def push(step: Computed, dots: list[Any]) -> Any:
    """The tangent of an op's result."""
    values = tuple(map(value_in, step.operands))
    Ω = value_in(step.results)
    pushed = pushforward(step.op, values, Ω, step.options)
    return None if pushed is None else pushed(dots)


def _complete(bar: Any, Ω: Any) -> Any:
    """A cotangent of several results, with zeros for those that have none."""
    if isinstance(Ω, (list, tuple)) and isinstance(bar, list):
        return tuple(
            zeros_of(x) if b is None else _complete(b, x) for b, x in zip(bar, Ω, strict=True)
        )
    return bar


def _scattered(bar: Any, x: Any, index: Any) -> Any:
    if isinstance(x, (list, tuple)):
        bars: list[Any] = [None] * len(x)
        bars[index] = bar
        return bars
    zeros = zeros_of(x)
    if np.shape(value_of(zeros)) == ():
        return np.sum(bar)
    zeros = fresh(np.array(zeros))
    np.add.at(zeros, index, bar)
    return zeros


def _rule_at(step: Computed) -> Rule:
    """The rule of an op; the linear one, if it has one for all operands with a derivative."""
    own = rule_for(step.op)
    if own is not None and own.form == "rrule":
        return own
    rule = usable_rule(step.op)
    linear = rule.also.get("linear")
    if linear is None:
        return rule
    rows = dict(enumerate(linear.rows))
    wanted = [k for k, x in enumerate(step.operands) if holds_operands(x)]
    return linear if all(rows.get(k) is not None for k in wanted) else rule


def _scalar(sweep: Sweep, rule: Rule, step: Computed, values: Any, Ω: Any, bar: Any) -> None:
    partial = partials(rule, values, Ω, step.options, applied)
    for k, operand in enumerate(step.operands):
        if has_partial(rule, k) and holds_operands(operand):
            factor = partial(k)
            if not is_of_floats(factor) and np.iscomplexobj(value_of(factor)):
                factor = np.conj(factor)
            sweep.add(operand, narrowed(in_all_runs(factor, bar), values[k], step.op))


def _linear(sweep: Sweep, rule: Rule, step: Computed, values: Any, Ω: Any, bar: Any) -> None:
    for k, (operand, row) in enumerate(zip(step.operands, rule.rows, strict=False)):
        if row is not None and holds_operands(operand):
            found = applied(row, (bar, *values), step.options)
            sweep.add(operand, narrowed(found, values[k], step.op))


def _differential(sweep: Sweep, rule: Rule, step: Computed, values: Any, Ω: Any, bar: Any) -> None:
    options = step.options | (_vectors_read(sweep, step) if step.op.name in FACTORS else {})
    wanted = [k for k, x in enumerate(step.operands) if holds_operands(x)]
    with Run() as run:
        ds = [zeros_of(x) if not isinstance(x, (str, type(None))) else x for x in values]
        for k in wanted:
            ds[k] = run.boxed(completed(None, values[k]))
        dot = applied(rule.rows[0], (*ds, *values, Ω), options)
    for k, found in zip(wanted, run.pulled(dot, bar, [ds[k] for k in wanted]), strict=True):
        sweep.add(step.operands[k], narrowed(found, values[k], step.op))


def _vectors_read(sweep: Sweep, step: Computed) -> dict[str, Any]:
    """The option `used` of a factorisation's row: the vectors that have cotangents, be they zero."""
    places = {k: axis for k, axis in FACTORS[step.op.name].items() if isinstance(k, int)}
    count = min(step.results[k].view.shape[axis] for k, axis in places.items())
    read = [sweep.read_along(step.results[k], axis) for k, axis in places.items()]
    return {"used": tuple((columns[columns < count],) for columns in read)}


def _zero(sweep: Sweep, rule: Rule, step: Computed, values: Any, Ω: Any, bar: Any) -> None:
    """Nothing flows."""


def _rrule(sweep: Sweep, rule: Rule, step: Computed, values: Any, Ω: Any, bar: Any) -> None:
    name = f"the rrule of {step.op.name}"
    row = operations.current(rule.rows[0])  # in a run around this one, code of that
    with np.errstate(**sweep.warns):
        returned = rule_pair(row(*values, **step.options), name)[1](bar)
    found = rule_cotangents(all_plain(returned), *map(all_plain, values), rule=name)
    if boxes_in(returned):
        found = returned if isinstance(returned, tuple) else (returned,)
    for operand, each in zip(step.operands, found, strict=False):
        sweep.add(operand, each)


_PULLS: dict[str, Callable[[Sweep, Rule, Computed, Any, Any, Any], None]] = {
    "scalar": _scalar,
    "linear": _linear,
    "bilinear": _linear,
    "differential": _differential,
    "zero": _zero,
    "rrule": _rrule,
}


def narrowed(bar: Any, value: Any, op: Op) -> Any:
    """A cotangent in the shape of its operand: summed over what broadcasting repeated."""
    if not op.elementwise or bar is None or isinstance(value, (list, tuple)):
        return bar
    if type(bar) is type(value) is np.ndarray and bar.shape == value.shape:
        return bar
    return bar if np.shape(value_of(bar)) == np.shape(value_of(value)) else unbroadcast(bar, value)


operations.pull = pull
operations.push = push
