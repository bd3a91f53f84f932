"""What rules of functions say that are differentiable in an operand in which nobody knows how."""

from __future__ import annotations

from typing import NoReturn

from ..errors import NoRule
from ..ir.builder import Builder, kind_of_atom
from ..ir.callers import calling_span
from ..ir.graph import Atom, Const, Span
from ..ir.op import Infer, Op
from ..ir.records import replace
from ..ir.types import COMPLEX, FLOAT, UNKNOWN, Array, Kind, Number
from .array_kinds import Args, Params
from .promotion import analytic
from .registry import declare, late_helper


def _refuse(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    names = [arg.value for arg in args if isinstance(arg, Const)]
    raise _no_partial(names[0], names[1], builder.span)


def _refuse_numbers(function: str, operand: str) -> NoReturn:
    raise _no_partial(function, operand, calling_span())


def _no_partial(function: str, operand: str, span: Span | None) -> NoRule:
    return NoRule(
        f"the derivative of {function} in `{operand}` has no closed form, and no rule",
        "Keep the operand constant, or give a function of your own a rule (`@wg.rrule`).",
        span,
    )


no_partial = declare(
    "no_partial", "function, operand", infer=FLOAT, fold=_refuse, implementation=_refuse_numbers
)


def _infer_complex(args: Args, params: Params) -> Kind:
    match kind_of_atom(args[0]):
        case Number():
            return COMPLEX
        case Array() as kind:
            return replace(kind, dtype="complex128")
        case _:
            return UNKNOWN


def _computed_here(name: str, signature: str, infer: Infer = analytic) -> Op:
    """An elementwise function that SciPy does not have, by the helper of that name."""
    return declare(
        name, signature, infer=infer, elementwise=True, implementation=late_helper(name), rt=name
    )


psi_derivative = _computed_here("psi_derivative", "z, *, order")
"""The derivatives of SciPy's `psi`."""
faddeeva = _computed_here("faddeeva", "z, *, order", _infer_complex)
"""The derivatives of SciPy's `wofz`."""
gammainc_derivative = _computed_here("gammainc_derivative", "a, x, *, order")
"""The derivatives of SciPy's `gammainc` in its first operand."""
betainc_derivative = _computed_here("betainc_derivative", "a, b, x, *, orders")
"""The derivatives of SciPy's `betainc` in its first two operands."""
