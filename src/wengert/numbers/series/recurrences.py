"""Ops on Taylor numbers: arithmetic by its recurrences, and the one recurrence that serves every rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

from ...ops.structure import getitem
from ...rules.registry import Rule
from ..number import PerturbedNumber, value_of
from ..pushforward import evaluated, has_partial, partials, scaled, usable_rule, whole, zeros_of
from .arithmetic import ARITHMETIC, convolved, over
from .at_level import AtLevel, Step, value_at
from .power_series import Needs, Series


def applied(at: AtLevel, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An op on Taylor numbers of a level."""
    arithmetic = ARITHMETIC.get(at.op)
    if arithmetic is not None:
        result = arithmetic(at, *args)
        if result is not None:
            return result
    if at.op is getitem:
        return at.coefficientwise((args[0],), lambda x: x[args[1]])
    rule = usable_rule(at.op)
    return _FORMS[rule.form](at, rule, args, options)


def _scalar(at: AtLevel, rule: Rule, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """k Ω_k = Σ_i Σ_j j x_{i,j} ∂_{i,k-j}; the partials are series that are made when k = 1 is asked for."""
    series = at.series_in(args)

    def make() -> tuple[Series, Any]:
        first = at.op(*(at.part(arg, 0) for arg in args), **options)
        Ω = at.make(args, first, _unprepared, tuple((x, 0) for x in series))
        Ω.prepare = lambda: _integral(at, rule, args, options, Ω)
        return Ω, args

    key = (at.op, *map(id, args), *sorted(options.items()))
    Ω, _kept_alive = series[0].shared(key, make)
    return Ω


def _integral(
    at: AtLevel, rule: Rule, args: tuple[Any, ...], options: dict[str, Any], Ω: Series
) -> tuple[Step, Needs]:
    partial = partials(rule, args, Ω, options)
    active = [k for k, arg in enumerate(args) if at.is_series(arg) and has_partial(rule, k)]
    pairs = [(args[k], partial(k)) for k in active]
    needs = [(x, 0) for x, _ in pairs] + [(d, 1) for _, d in pairs if at.is_series(d)]

    def step(k: int) -> Any:
        return over(sum(_moved(at, x, d, k) for x, d in pairs), k) if pairs else zeros_of(Ω.value)

    return lambda k: whole(step(k), Ω.value), tuple(needs)


def _moved(at: AtLevel, x: Series, d: Any, k: int) -> Any:
    """Σ_j j x_j ∂_{k-j}."""
    if not at.is_series(d):
        return scaled(d, k * x.known[k])
    low = 1 if d.end is None else max(1, k - d.end + 1)
    high = k if x.end is None else min(k, x.end - 1)
    return sum(j * x.known[j] * d.known[k - j] for j in range(low, high + 1))


def _unprepared(k: int) -> Any:
    raise AssertionError("a series is prepared before its first step")


def _differential(at: AtLevel, rule: Rule, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """k Ω_k = R_{k-1}, where R is the row, of the derivatives of the operands."""
    needs = tuple((x, 0) for x in at.series_in(args))
    first = at.op(*(at.part(arg, 0) for arg in args), **options)
    several = isinstance(first, tuple)
    parts = [at.make(args, each, _unprepared, needs) for each in (first if several else (first,))]
    Ω = _like_tuple(first, parts) if several else parts[0]

    @cache
    def rows() -> Any:
        ds = [_derived(at, arg) for arg in args]
        result = evaluated(rule.rows[0], (*ds, *args, Ω), options)
        return result if several else (result,)

    for j, part in enumerate(parts):
        part.prepare = lambda j=j: _integrated(at, rows()[j])
    return Ω


def _integrated(at: AtLevel, row: Any) -> tuple[Step, Needs]:
    if not at.is_series(row):
        return lambda k: row if k == 1 else zeros_of(row), ()
    return lambda k: over(row.known[k - 1], k), ((row, 1),)


def _like_tuple(example: Any, items: Sequence[Any]) -> Any:
    return tuple.__new__(type(example), items) if hasattr(example, "_fields") else tuple(items)


def _derived(at: AtLevel, x: Any) -> Any:
    """The derivative of a series, itself a series; zeros for a constant."""
    if isinstance(x, (list, tuple)):
        return type(x)(_derived(at, item) for item in x)
    if not at.is_series(x):
        return zeros_of(x)
    first = x.coefficient(1) if x.end != 1 else zeros_of(x.value)
    end = None if x.end is None else max(x.end - 1, 1)
    made = at.make((x,), first, lambda k: (k + 1) * x.known[k + 1], ((x, -1),), end)
    made.order = None if x.order is None else x.order - 1
    return made


def _linear(at: AtLevel, rule: Rule, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Every order by itself; operands that the op is not linear in count by their values."""
    linear = [k < len(rule.rows) and rule.rows[k] is not None for k in range(len(args))]
    fixed = [
        arg if is_linear else value_of(arg) for arg, is_linear in zip(args, linear, strict=True)
    ]
    varying = tuple(arg for arg, is_linear in zip(fixed, linear, strict=True) if is_linear)
    options = {name: value_of(option) for name, option in options.items()}  # `like=Ω`

    def function(*parts: Any) -> Any:
        rest = iter(parts)
        operands = (
            next(rest) if is_linear else arg for arg, is_linear in zip(fixed, linear, strict=True)
        )
        return at.op(*operands, **options)

    if not at.series_in(varying):
        return at.op(*fixed, **options)
    return at.coefficientwise(varying, function)


def _multilinear(at: AtLevel, rule: Rule, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Ω_k = Σ op(a_i, b_j, …) over all orders with i + j + … = k."""
    places = [k for k, arg in enumerate(args) if at.series_in((arg,))]
    varying = [args[k] for k in places]

    def of(*parts: Any) -> Any:
        operands = list(args)
        for k, part in zip(places, parts, strict=True):
            operands[k] = part
        return at.op(*operands, **options)

    if len(varying) == 1:
        return at.coefficientwise(tuple(varying), of)
    if len(varying) == 2 and all(map(at.is_series, varying)):
        return convolved(at, varying[0], varying[1], of)

    def step(k: int) -> Any:
        orders = _orders_that_sum_to(k, len(varying))
        return sum(of(*map(at.part, varying, js)) for js in orders)

    first = of(*[at.part(x, 0) for x in varying])
    return at.make(args, first, step, tuple((x, 0) for x in at.series_in(varying)))


def _orders_that_sum_to(k: int, count: int) -> Iterator[tuple[int, ...]]:
    if count == 1:
        yield (k,)
        return
    for j in range(k + 1):
        for rest in _orders_that_sum_to(k - j, count - 1):
            yield (j, *rest)


def _zero(at: AtLevel, rule: Rule, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return at.op(*(_value(at, arg) for arg in args), **options)


def _value(at: AtLevel, x: Any) -> Any:
    if isinstance(x, (list, tuple)) and any(isinstance(item, PerturbedNumber) for item in x):
        return type(x)(_value(at, item) for item in x)
    return value_at(at, x)


_FORMS: dict[str, Callable[[AtLevel, Rule, tuple[Any, ...], dict[str, Any]], Any]] = {
    "scalar": _scalar,
    "linear": _linear,
    "bilinear": _multilinear,
    "differential": _differential,
    "zero": _zero,
}
