"""einsum is linear in each operand; the cotangent of one operand is another einsum.

With Ē(ȳ, …) the cotangent of operand `index`, the form ⟨ȳ, E(x₁, x₂, …)⟩ is linear in ȳ and in every
operand, so that the derivatives of E and Ē are again E and Ē, with operands exchanged.
"""

from __future__ import annotations

from ...ir.op import Op
from ...ops.arrays.linear_algebra import einsum, einsum_bar, einsum_bars, einsums
from ..places import Place
from ..registry import Row, Rule, store

_ROWS = (
    lambda ȳ, s, *xs, optimize=False: _bar(ȳ, s, xs, 0),
    lambda ȳ, s, *xs, optimize=False: _bar(ȳ, s, xs, 1),
    lambda ȳ, s, *xs, optimize=False: _bar(ȳ, s, xs, 2),
    lambda ȳ, s, *xs, optimize=False: _bar(ȳ, s, xs, 3),
    lambda ȳ, s, *xs, optimize=False: _bar(ȳ, s, xs, 4),
    lambda ȳ, s, *xs, optimize=False: _bar(ȳ, s, xs, 5),
)


def _bar(ȳ, s, xs, k):
    return einsum_bar(ȳ, *xs[:k], *xs[k + 1 :], subscripts=s, index=k, like=xs[k])


_BAR_ROWS = (
    lambda ȳ, y_bar, *xs, subscripts, index, like: einsum(subscripts, *xs[:index], ȳ, *xs[index:]),
    lambda ȳ, y_bar, *xs, subscripts, index, like: _other(ȳ, y_bar, xs, 0, subscripts, index),
    lambda ȳ, y_bar, *xs, subscripts, index, like: _other(ȳ, y_bar, xs, 1, subscripts, index),
    lambda ȳ, y_bar, *xs, subscripts, index, like: _other(ȳ, y_bar, xs, 2, subscripts, index),
    lambda ȳ, y_bar, *xs, subscripts, index, like: _other(ȳ, y_bar, xs, 3, subscripts, index),
    lambda ȳ, y_bar, *xs, subscripts, index, like: _other(ȳ, y_bar, xs, 4, subscripts, index),
)


def _other(ȳ, y_bar, xs, k, subscripts, index):
    place = k if k < index else k + 1
    operands = (*xs[:index], ȳ, *xs[index:])
    others = (*operands[:place], *operands[place + 1 :])
    return einsum_bar(y_bar, *others, subscripts=subscripts, index=place, like=xs[k])


def _multilinear_rule(op: Op, *rows: Row | None) -> None:
    """A bilinear rule for any number of operands; `None` for one that is no factor."""
    factors = [row for row in rows if row is not None]
    form = "linear" if len(factors) == 1 else "bilinear"
    store(Rule(op, form, rows, Place(__file__, factors[0].__code__.co_firstlineno)))


for _n, (_einsum, _einsum_bar) in enumerate(zip(einsums, einsum_bars, strict=True), 1):
    _multilinear_rule(_einsum, None, *_ROWS[:_n])
    _multilinear_rule(_einsum_bar, *_BAR_ROWS[:_n])
