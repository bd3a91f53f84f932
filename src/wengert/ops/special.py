"""What rules of functions say that are differentiable in an operand in which nobody knows how."""

from __future__ import annotations

from ..errors import NoRule
from ..ir.builder import Builder
from ..ir.graph import Atom, Const
from ..ir.types import FLOAT
from .array_kinds import Args, Params
from .promotion import always
from .registry import declare


def _refuse(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    names = [arg.value for arg in args if isinstance(arg, Const)]
    raise NoRule(
        f"the derivative of {names[0]} in `{names[1]}` has no closed form, and no rule",
        "Keep the operand constant, or give a function of your own a rule (`@wg.rrule`).",
        builder.span,
    )


no_partial = declare(
    "no_partial",
    "function, operand",
    infer=always(FLOAT),
    fold=_refuse,
    implementation=lambda function, operand: float("nan"),
)
