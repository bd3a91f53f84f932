"""Real numbers of the loop form with Python's operators, to write formulas as one writes them."""

from __future__ import annotations

from .....ir.records import record
from ...form.loopform import Constant, Expr
from ...values.emitter import Emitter


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

    def __add__(self, other: Real | float) -> Real:
        return self.apply("add", other)

    def __sub__(self, other: Real | float) -> Real:
        return self.apply("sub", other)

    def __mul__(self, other: Real | float) -> Real:
        return self.apply("mul", other)

    def __truediv__(self, other: Real | float) -> Real:
        return self.apply("div", other)

    def __rtruediv__(self, other: float) -> Real:
        return self.known(other).apply("div", self)

    def __neg__(self) -> Real:
        return self.apply("neg")

    def __abs__(self) -> Real:
        return self.apply("fabs")

    def __lt__(self, other: Real | float) -> Real:
        return self.asks("lt", other)

    def __le__(self, other: Real | float) -> Real:
        return self.asks("le", other)

    def __gt__(self, other: Real | float) -> Real:
        return self.asks("gt", other)

    def __ge__(self, other: Real | float) -> Real:
        return self.asks("ge", other)

    def __and__(self, other: Real) -> Real:
        return self.asks("and", other)

    def __or__(self, other: Real) -> Real:
        return self.asks("or", other)

    def __invert__(self) -> Real:
        return self.asks("not")

    def equals(self, other: Real | float) -> Real:
        return self.asks("eq", other)

    def differs(self, other: Real | float) -> Real:
        return self.asks("ne", other)


def _expr(value: Real | float) -> Expr:
    return value.expr if isinstance(value, Real) else Constant(float(value), "f64")
