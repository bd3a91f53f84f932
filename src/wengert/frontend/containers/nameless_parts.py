"""Writes to what an expression gives and nothing names: `a[mask][0] = 1`, `np.einsum("ii->i", a)[...] = 1`.

A copy that has no name changes, and nothing else: that is what Python does, and hardly what was meant, so that a
warning shows the line. What `einsum` gives where it sums nothing is a view.
"""

from __future__ import annotations

import ast

from ...ir.graph import Const, Eqn, Var
from ...ir.op import Op
from ...ir.types import Array
from ...ops import structure as st
from ...runtime.refusals import copy_written
from ..domain.values import Value
from ..heap.views import view_of
from ..machine.interpreter import Interpreter
from ..polyfills.numpy.functions import write_through_einsum  # few programs need it

_MAKING_COPIES = frozenset(("take", "flatten", "compress", "choose", "repeat"))


def set_item(
    it: Interpreter, container: ast.expr, target: Value, index: Value, value: Value
) -> None:
    """`container[index] = value`, where `target` is what the expression gives."""

    def write(target: Value) -> None:
        it.setitem(target, index, value)

    if not isinstance(target, Var) or isinstance(container, ast.Name):
        write(target)
        return
    eqn = it.builder.visible_definition(target)
    if eqn is None or not eqn.args or eqn.span != it.span(container):
        write(target)  # it may be known under another name
    elif _is_view_by_einsum(eqn):
        it.call(Const(write_through_einsum), [*eqn.args, index, value], {})
    else:
        write(target)
        if _is_of_array(eqn) and _is_copy(it, target, eqn.op) and eqn.span is not None:
            copy_written(eqn.span.file, eqn.span.line)


def _is_of_array(eqn: Eqn) -> bool:
    """Whether something is part of an array: an item of a list is the object itself, and no copy."""
    base = eqn.args[0]
    return isinstance(base, Var) and isinstance(base.kind, Array)


def _is_view_by_einsum(eqn: Eqn) -> bool:
    """Whether `np.einsum` gives a view of an array: a transposition, or a diagonal."""
    if eqn.op.name != "einsum_1" or len(eqn.args) != 2 or not isinstance(eqn.args[1], Var):
        return False
    said = eqn.args[0].value if isinstance(eqn.args[0], Const) else None
    if not isinstance(said, str) or not isinstance(eqn.args[1].kind, Array):
        return False
    given, _, made = said.replace(" ", "").partition("->")
    is_plain = given.isalpha() and made.isalpha()
    return is_plain and set(given) == set(made) and len(set(made)) == len(made)


def _is_copy(it: Interpreter, target: Var, op: Op) -> bool:
    return (op is st.getitem or op.name in _MAKING_COPIES) and view_of(it, target) is None
