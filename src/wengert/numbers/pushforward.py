"""The rule of an op, read on run-time values: from tangents of its operands to that of its result.

A row is called as the function that it is. Its ops and operators work on whatever the operands are,
numbers with derivatives of lower levels included, so that second derivatives need nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ..errors import BadArgument, NoRule
from ..ir.callers import calling_span
from ..ir.op import Op
from ..ir.records import replace
from ..ops import elementwise as el
from ..ops.arrays.reduction import broadcast_like
from ..ops.dispatch.substitution import with_ops
from ..ops.structure import getitem
from ..rules.registry import Row, Rule, options_of, rule_for
from ..runtime import cotangents, given
from .number import PerturbedNumber, value_of
from .precision import in_full_precision

Tangents = Sequence[Any]
Push = Callable[[Tangents], Any]
"""From one tangent per operand, None for one without, to the tangent of the result."""


def pushforward(op: Op, operands: tuple[Any, ...], Ω: Any, options: dict[str, Any]) -> Push | None:
    """How an op's result Ω changes with its operands; None if it is piecewise constant.

    Raises:
        NoRule: the op has no rule, or none that a pushforward can be made of.
    """
    if op is getitem:
        return lambda tangents: tangents[0][operands[1]]
    rule = usable_rule(op)
    return _FORMS[rule.form](rule, as_numpy_divides(op, operands, Ω), Ω, options)


def as_numpy_divides(op: Op, operands: tuple[Any, ...], result: Any) -> tuple[Any, ...]:
    """The operands of a quotient; where NumPy has divided they are all NumPy's, which raise nothing at a pole."""
    if op not in _QUOTIENTS:
        return operands
    if not any(isinstance(value_of(x), (np.generic, np.ndarray)) for x in (*operands, result)):
        return operands
    return tuple(np.float64(x) if type(x) in (float, int) and x == 0 else x for x in operands)


_QUOTIENTS = (el.div, el.mod, el.floordiv)


def usable_rule(op: Op) -> Rule:
    """The rule of an op in a form that numbers with derivatives can use.

    Raises:
        NoRule: there is none.
    """
    rule = rule_for(op)
    for each in () if rule is None else (rule, *rule.also.values()):
        if each.form in _FORMS:
            return each
        if each.form == "frule":
            return replace(each, form="differential", rows=(_differential_of(each),))
    if rule is not None and rule.form == "rrule":
        return replace(rule, form="scalar", rows=(_partials_of(rule),))
    raise NoRule(
        f"{op.name} has no rule that a number with derivatives could use",
        "Write one: `wg.scalar_rule`, `wg.differential` or `wg.frule`.",
        calling_span(),
    )


def _differential_of(rule: Rule) -> Row:
    """The row of a hand-written pushforward: its tangent is linear in those of the operands."""
    run = with_ops(_only_row(rule))
    name = f"the frule of {rule.op.name}"

    def row(*values: Any, **options: Any) -> Any:
        count = len(values) // 2
        returned = run(values[count : 2 * count], values[:count], **options)
        is_pair = isinstance(returned, tuple) and len(returned) == 2
        y_dot = (returned if is_pair else given.rule_tangent(returned, name))[1]
        return zeros_of(values[-1]) if y_dot is None else y_dot

    return row


def _partials_of(rule: Rule) -> Row:
    """The row of a hand-written pullback of numbers: the cotangents for 1 are the partials."""
    run = with_ops(_only_row(rule))
    name = f"the rrule of {rule.op.name}"

    def row(*values: Any, **options: Any) -> Any:
        operands = values[:-1]
        if any(isinstance(x, (list, tuple, dict)) or np.shape(value_of(x)) for x in values):
            raise NoRule(
                f"{name} gives cotangents, and {rule.op.name} meets arrays or containers of numbers with derivatives",
                "Give it a rule that goes forward as well: `wg.frule`.",
                calling_span(),
            )
        pullback = given.rule_pair(run(*operands, **options), name)[1]
        bars = given.rule_cotangents(pullback(1.0), *[None] * len(operands), rule=name)
        return tuple(0.0 if bar is None else bar for bar in bars)

    return row


def _only_row(rule: Rule) -> Row:
    (row,) = rule.rows
    assert row is not None
    return row


def _scalar(rule: Rule, operands: tuple[Any, ...], Ω: Any, options: dict[str, Any]) -> Push:
    """Ω_dot = Σ ∂ * x_dot; a partial is computed when it is needed first."""
    partial = partials(rule, operands, Ω, options)

    def push(tangents: Tangents) -> Any:
        terms = [
            scaled(partial(k), tangent)
            for k, tangent in enumerate(tangents)
            if tangent is not None and has_partial(rule, k)
        ]
        return zeros_of(Ω) if not terms else whole(reduce(lambda a, b: a + b, terms), Ω)

    return push


def has_partial(rule: Rule, k: int) -> bool:
    """Whether a scalar rule has a derivative in the operand of that number."""
    return len(rule.rows) == 1 or (k < len(rule.rows) and rule.rows[k] is not None)


def partials(
    rule: Rule,
    operands: tuple[Any, ...],
    Ω: Any,
    options: dict[str, Any],
    evaluate: Callable[..., Any] | None = None,
) -> Callable[[int], Any]:
    """The partials of a scalar rule, by the number of the operand; `evaluate` says what its rows give."""
    found: dict[int, Any] = {}
    evaluate = evaluate or evaluated

    def partial(k: int) -> Any:
        if k not in found:
            if len(rule.rows) == 1:
                result = evaluate(rule.rows[0], (*operands, Ω), options)
                found.update(enumerate(result) if isinstance(result, tuple) else [(0, result)])
            else:
                found[k] = evaluate(rule.rows[k], (*operands, Ω), options)
        return found[k]

    return partial


def _linear(rule: Rule, operands: tuple[Any, ...], Ω: Any, options: dict[str, Any]) -> Push:
    """The op itself, on tangents in place of the operands that it is linear in."""

    def push(tangents: Tangents) -> Any:
        args = list(operands)
        for k, tangent in enumerate(tangents[: len(rule.rows)]):
            if rule.rows[k] is not None:
                args[k] = completed(tangent, operands[k])
        return whole(rule.op(*args, **options), Ω)

    return push


def _bilinear(rule: Rule, operands: tuple[Any, ...], Ω: Any, options: dict[str, Any]) -> Push:
    """op(a_dot, b) + op(a, b_dot)."""

    def push(tangents: Tangents) -> Any:
        terms: list[Any] = []
        for k, tangent in enumerate(tangents[: len(rule.rows)]):
            if tangent is not None:
                args = (*operands[:k], completed(tangent, operands[k]), *operands[k + 1 :])
                terms.append(rule.op(*args, **options))
        return reduce(_plus, terms)

    return push


def _plus(a: Any, b: Any) -> Any:
    """The sum of two tangents, item by item where they are lists."""
    if isinstance(a, (list, tuple)):
        return type(a)(map(_plus, a, b))
    return a + b


def _differential(rule: Rule, operands: tuple[Any, ...], Ω: Any, options: dict[str, Any]) -> Push:
    def push(tangents: Tangents) -> Any:
        ds = [completed(dot, x) for dot, x in zip(tangents, operands, strict=True)]
        return evaluated(rule.rows[0], (*ds, *operands, Ω), options)

    return push


def _zero(rule: Rule, operands: tuple[Any, ...], Ω: Any, options: dict[str, Any]) -> None:
    return None


_FORMS: dict[str, Callable[[Rule, tuple[Any, ...], Any, dict[str, Any]], Push | None]] = {
    "scalar": _scalar,
    "linear": _linear,
    "bilinear": _bilinear,
    "differential": _differential,
    "zero": _zero,
}


# --- rows ---------------------------------------------------------------------------------


def evaluated(row: Row | None, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a row gives for these values, which warns of no pole."""
    with np.errstate(all="ignore"):
        return applied(row, operands, options)


def applied(row: Row | None, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a row gives for these values, with those options that it asks for."""
    assert row is not None
    row, operands = in_full_precision(row, operands)
    if options:
        names, takes_all = options_of(row)
        options = options if takes_all else {k: v for k, v in options.items() if k in names}
    return row(*operands, **options)


# --- tangents -----------------------------------------------------------------------------


def scaled(partial: Any, tangent: Any) -> Any:
    """`partial * tangent`; a tangent that is zero stays zero where the partial is infinite.

    A partial that is a truth value chooses the tangent, or not.
    """
    if isinstance(partial, (bool, np.bool_)):
        return tangent if partial else zeros_of(tangent)
    if isinstance(partial, np.ndarray) and partial.dtype == bool:
        return el.where(partial, tangent, 0.0)
    if isinstance(tangent, np.ndarray) and tangent.ndim == 0:
        tangent = tangent[()]  # what it is multiplied with gives no array either
    if not isinstance(tangent, (np.ndarray, PerturbedNumber)) and tangent == 0:
        return tangent
    with np.errstate(all="ignore"):
        product = partial * tangent
        if isinstance(product, np.ndarray) and not isinstance(tangent, PerturbedNumber):
            if product.dtype != object and not np.isfinite(product).all():
                return np.where(np.asarray(tangent) == 0, 0, product)
    return product


def whole(tangent: Any, Ω: Any) -> Any:
    """A tangent in the shape of its value, which an operand without one may have widened."""
    shape = getattr(value_of(Ω), "shape", ())
    if shape == () or getattr(value_of(tangent), "shape", ()) == shape:
        return tangent
    return broadcast_like(tangent, Ω)


def completed(tangent: Any, x: Any) -> Any:
    """A tangent, with zeros for what has none."""
    if tangent is None:
        return zeros_of(x)
    if isinstance(tangent, (list, tuple)):
        return type(tangent)(completed(dot, item) for dot, item in zip(tangent, x, strict=True))
    return tangent


def zeros_of(x: Any) -> Any:
    """The tangent of a value that does not change."""
    if isinstance(x, PerturbedNumber):
        return zeros_of(x.value)
    if type(x) is int:
        return 0
    if isinstance(x, (list, tuple)):
        return type(x)(map(zeros_of, x))
    if isinstance(x, (float, complex, np.ndarray, np.number, str, slice)) or x is None:
        return cotangents.zeros(x)
    return _times_zero(x)


def _times_zero(x: Any) -> Any:
    """The zero of a number of another library."""
    try:
        return x * 0
    except TypeError:
        raise BadArgument(
            f"{x!r} is no number, and has no derivative",
            "Return numbers, arrays, or lists, tuples and dictionaries of them.",
            calling_span(),
        ) from None
