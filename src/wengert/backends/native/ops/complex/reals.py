"""Real numbers of the loop form with Python's operators, to write formulas as one writes them."""

from __future__ import annotations

from collections.abc import Callable

from .....ir.records import record
from ...form.loopform import Constant, Expr
from ...values.emitter import Emitter


def _gives(op: str) -> Callable[[Real, Real | float], Real]:
    return lambda self, other: self.apply(op, other)


def _asks(op: str) -> Callable[[Real, Real | float], Real]:
    return lambda self, other: self.asks(op, other)


@record
class Real:
    """A float, or a truth value, and where operations on it are written down."""

    e: Emitter
    expr: Expr

    def apply(self, op: str, *others: Real | float) -> Real:
        """A primitive operation on this number and others."""
        exprs = (_expr(other) for other in others)
        return Real(self.e, self.e.apply(op, self.expr, *exprs))

    def asks(self, op: str, *others: Real | float) -> Real:
        """A primitive operation that gives a truth value."""
        exprs = (_expr(other) for other in others)
        return Real(self.e, self.e.apply(op, self.expr, *exprs, code="b1"))

    def known(self, value: float) -> Real:
        """A number that is known."""
        return Real(self.e, Constant(value, "f64"))

    def where(self, then: Real | float, other: Real | float) -> Real:
        """One of two numbers, by this truth value."""
        return Real(
            self.e, self.e.apply("select", self.expr, _expr(then), _expr(other), code="f64")
        )

    __add__, __sub__, __mul__ = _gives("add"), _gives("sub"), _gives("mul")
    __truediv__ = _gives("div")
    __lt__, __le__, __gt__, __ge__ = _asks("lt"), _asks("le"), _asks("gt"), _asks("ge")
    __and__, __or__ = _asks("and"), _asks("or")
    equals, differs = _asks("eq"), _asks("ne")

    def __rtruediv__(self, other: float) -> Real:
        return self.known(other).apply("div", self)

    def __neg__(self) -> Real:
        return self.apply("neg")

    def __abs__(self) -> Real:
        return self.apply("fabs")

    def __invert__(self) -> Real:
        return self.asks("not")


def _expr(value: Real | float) -> Expr:
    return value.expr if isinstance(value, Real) else Constant(float(value), "f64")
