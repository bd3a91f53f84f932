"""Writes to copies that nobody sees: `a[mask][0] = 1` changes a copy of a part of `a`, and nothing else.

It is what Python does, and hardly what was meant: a warning shows the line.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ir.graph import Const, Span, Var
from ..ir.types import Array
from ..ops import identity as ident
from ..ops import memory as me
from ..ops import structure as st
from ..runtime.refusals import copy_written
from .heap.layouts import is_view, may_be_copy
from .heap.views import view_of
from .values import Value

if TYPE_CHECKING:
    from .interpreter import Interpreter

Write = Callable[[Value], Any]

_MAKING_COPIES = frozenset(("take", "flatten", "compress", "choose", "repeat"))


def written(it: Interpreter, container: ast.expr, target: Value, write: Write) -> None:
    """Write to what an expression gives; if that is a copy that has no name, nothing else changes."""
    if not isinstance(target, Var) or isinstance(container, ast.Name):
        write(target)
        return
    eqn = it.builder.visible_definition(target)
    if eqn is None or not eqn.args or eqn.span != it.span(container):
        write(target)  # it may be known under another name
    elif view_of(it, target) is not None and may_be_copy(it, eqn):
        it.branch(is_view(it, eqn), lambda: write(target), lambda: _write_copy(it, target, write))
    else:
        write(target)
        if _is_copy(it, eqn.args[0], target, eqn.op):
            _warn(eqn.span)


def _is_copy(it: Interpreter, base: Any, target: Var, op: Any) -> bool:
    if not isinstance(base, Var) or not isinstance(base.kind, Array):
        return False
    return (op is st.getitem or op.name in _MAKING_COPIES) and view_of(it, target) is None


def _write_copy(it: Interpreter, target: Var, write: Write) -> None:
    span = it.builder.span
    if span is not None:
        it.emit(ident.copy_written, Const(span.file), Const(span.line))
    write(it.emit(me.duplicate, target))


def _warn(span: Span | None) -> None:
    if span is not None:
        copy_written(span.file, span.line)
