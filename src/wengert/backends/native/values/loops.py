"""Loops over the indices of a shape."""

from __future__ import annotations

from collections.abc import Callable

from ..form.loopform import Expr, For, Slot
from .emitter import Emitter
from .promotion import converted
from .values import View


def over(
    e: Emitter, dims: tuple[Expr, ...], element: Callable[[Emitter, tuple[Expr, ...]], None]
) -> None:
    """Do something at every index of a shape, in any order."""
    _loops_over(e, dims, element, (), independent=True)


def in_order(
    e: Emitter, dims: tuple[Expr, ...], element: Callable[[Emitter, tuple[Expr, ...]], None]
) -> None:
    """As `over`, of a loop in which each element depends on those before."""
    _loops_over(e, dims, element, (), independent=False)


def fill(e: Emitter, view: View, value: Expr) -> None:
    """Write a number to every element of an array."""
    over(e, view.dims, lambda inner, indices: inner.store(view, indices, value))


def copy_elements(e: Emitter, target: View, source: View) -> None:
    """Copy an array, element by element; they share no memory."""

    def element(inner: Emitter, indices: tuple[Expr, ...]) -> None:
        value = converted(inner, inner.load(source, indices), target.code)
        inner.store(target, indices, value)

    over(e, target.dims, element)


def _loops_over(
    e: Emitter,
    dims: tuple[Expr, ...],
    element: Callable[[Emitter, tuple[Expr, ...]], None],
    indices: tuple[Expr, ...],
    *,
    independent: bool,
) -> None:
    if len(indices) == len(dims):
        element(e, indices)
        return
    index = Slot(e.names.fresh("i"), "i64")
    inner = e.block()
    _loops_over(inner, dims, element, (*indices, index), independent=independent)
    last = len(indices) == len(dims) - 1
    count = e.let(dims[len(indices)])
    e.add(For(index, count, tuple(inner.statements), independent=independent and last))
