"""Rows of the rule table that are called give the same equations as when their source is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

import wengert as wg
import wengert.ops.dispatch.libraries  # from now on literals say, too, who computes with them
from wengert.frontend import row_reader, rule_rows as rows
from wengert.frontend.domain.values import Items
from wengert.frontend.machine.interpreter import Interpreter
from wengert.frontend.machine.session import Session
from wengert.ir.graph import ZERO, Const, Function, Input, Var
from wengert.ir.types import ARRAY, COMPLEX, FLOAT, UNKNOWN, Array, Kind
from wengert.rules import registry
from wengert.rules.identities.simplification import SimplifyingBuilder

KINDS = [FLOAT, COMPLEX, Array("float64", 1), Array("float64", 2), ARRAY, UNKNOWN]
NEEDED = {"order": 2, "orders": (1, 1), "derivative": 2}
"""Options without a default, and a value for them."""


def called_rows() -> Iterator[Any]:
    for op, rule in registry.rules().items():
        for each in (rule, *rule.also.values()):
            for k, row in enumerate(each.rows):
                if row is not None and rows.can_be_called(row, {}):
                    yield pytest.param(row, each.form, id=f"{op.name}-{each.form}-{k}")


def options_of(row: Any) -> Iterator[dict[str, Any]]:
    """The row's defaults, and where it reduces along an axis also one of those."""
    code = row.__code__
    names = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    defaults = {name: NEEDED.get(name, (row.__kwdefaults__ or {}).get(name)) for name in names}
    yield defaults
    if "axis" in defaults:
        yield {**defaults, "axis": 1}


def text(
    read: Callable[..., Any], row: Any, kinds: Sequence[Kind], first: Any, options: Any
) -> str:
    """What a row gives, as a function; what it says where it refuses."""
    it = Interpreter(Session(), SimplifyingBuilder(None), "np")
    params = [Var(kind) for kind in kinds]
    args = [params[0] if first is None else first, *params[1:]]
    try:
        result = read(it, row, args, {name: Const(value) for name, value in options.items()})
    except Exception as error:
        return type(error).__name__
    values = result.values if isinstance(result, Items) else (result,)
    body = it.builder.block(params, [it.atom(value) for value in values])
    inputs = tuple(Input(f"x{k}", kind) for k, kind in enumerate(kinds))
    return str(Function("row", inputs, body, UNKNOWN))


@pytest.mark.parametrize(("row", "form"), list(called_rows()))
def test_a_row_gives_the_same_called_and_read(row: Any, form: str) -> None:
    starred = bool(row.__code__.co_flags & 0x04)
    count = 3 if starred else row.__code__.co_argcount
    for options in options_of(row):
        for kind in KINDS:
            for first in (None,) if form == "scalar" else (None, ZERO):  # a cotangent or a tangent
                called, read = (
                    text(way, row, [kind] * count, first, options)
                    for way in (rows.called, row_reader.read_inline)
                )
                assert called == read


def test_most_rows_are_called() -> None:
    assert len(list(called_rows())) > 250


def test_a_division_by_zero_that_the_program_does_not_come_to():
    f = lambda x: x / 0.0 if x > 5.0 else 2.0 * x
    assert wg.grad(f)(1.0) == wg.derivative(f)(1.0) == 2.0
    with pytest.raises(ZeroDivisionError):
        wg.grad(f)(6.0)
