"""Fusion: array expressions become loop nests over the elements, without temporaries.

Elementwise results and reductions are not computed when they are met. They join a *group*, which is one
loop nest over one shape, and the group is written down when something needs memory or a number: what it
computes, and is needed after that, is stored; everything else lives in variables of the nest.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..form.loopform import Code, Constant, Expr
from ..values.emitter import Emitter
from ..values.promotion import converted, result_code
from ..values.rows import Elementwise
from ..values.values import Array, Broadcast, Lazy, Scalar
from .groups import Dims, Group, Mapped, Reduced, Reduction
from .pending import Pending


def mapped(
    site: Pending, row: Elementwise, operands: Sequence[Scalar | Array], code: Code, dims: Dims
) -> Lazy:
    """An elementwise result."""
    operands = readied(site, operands, dims)
    group = _group(site, dims)
    out = Lazy(result_code(row.rule, code), dims, group)
    group.entries.append(Mapped(out, row, operands, code))
    return out


def must_have_form(site: Pending, delayed: Lazy) -> None:
    """Refuse a pending result whose elements have no native form, though nobody may ever ask for them."""
    for entry in delayed.group.entries:
        if entry.out is not delayed or not isinstance(entry, Mapped):
            continue
        trial, args = Emitter(site.e.names), list[Expr]()
        for k, x in enumerate(entry.operands):
            code = "b1" if entry.is_condition(k) else entry.code
            of_all = x.element.expr if isinstance(x, Broadcast) else getattr(x, "expr", None)
            known = isinstance(of_all, Constant)
            args.append(converted(trial, of_all, code) if known else trial.slot("x", code))
        entry.row.expand(trial, args, entry.code)


def reduced(
    site: Pending, row: Reduction, operand: Array, axes: tuple[int, ...], code: Code
) -> Lazy:
    """A reduction of an array along some axes, which it loses."""
    dims = operand.dims
    (source,) = readied(site, [operand], dims)
    group = _group(site, dims)
    kept = tuple(d for k, d in enumerate(dims) if k not in axes)
    out = Lazy(code, kept, group)
    group.entries.append(Reduced(out, row, source, axes))
    return out


def readied(
    site: Pending, operands: Sequence[Scalar | Array], dims: Dims
) -> tuple[Scalar | Array, ...]:
    """Operands that a group over a shape can read: computed before it, or in it."""
    pending = [x for x in operands if isinstance(x, Lazy) and x.result is None]
    if any(x.dims != dims or x.group.dims != dims for x in pending):
        for x in pending:
            site.computed(x)
    computed = (x.result if isinstance(x, Lazy) and x.result is not None else x for x in operands)
    return tuple(computed)


def _group(site: Pending, dims: Dims) -> Group:
    for group in reversed(site.pending):
        if group.dims == dims:
            return group
    group = Group(dims)
    site.pending.append(group)
    return group
