"""Functions of `math` on integers: what has more than 64 bits, or raises, is left to Python."""

from __future__ import annotations

from collections.abc import Callable

from .....ir.graph import Eqn
from ...form.loopform import Apply, Assign, Expr, Slot, Statement, While
from ...lower.lowering import BlockLowering, lowers
from ...values.emitter import Emitter
from ...values.numbers import converted
from ...values.values import ONE, PYTHON, ZERO, Scalar, Unlowered, integer, minus, plus

LARGEST_SQUARE = 2**62


def _integers(site: BlockLowering, eqn: Eqn) -> list[Expr]:
    """The operands, which are Python's integers."""
    scalars = [site.as_scalar(site.operand(atom)) for atom in (*eqn.args, *eqn.params.values())]
    if any(x.code not in ("i64", "b1") or x.origin != PYTHON for x in scalars):
        raise Unlowered(f"`{eqn.op.name}` of anything but Python's integers")
    return [converted(site.e, x.expr, "i64") for x in scalars]


def _found(value: Expr) -> Scalar:
    return Scalar(value, PYTHON)


def _must_not_be(e: Emitter, op: str, a: Expr, b: Expr, reason: str) -> None:
    e.exit_if(Apply(op, (a, b), "b1"), reason)


def _times(e: Emitter, a: Expr, b: Expr) -> Expr:
    e.exit_if(e.apply("mul_overflows", a, b, code="b1"), "an integer of more than 64 bits")
    return e.apply("mul", a, b)


@lowers("isqrt")
def _isqrt(site: BlockLowering, eqn: Eqn) -> Scalar:
    """The root of a float, which is one off at most."""
    (n,) = _integers(site, eqn)
    e = site.e
    _must_not_be(e, "lt", n, ZERO, "a root of a negative integer")
    _must_not_be(e, "gt", n, integer(LARGEST_SQUARE), "a large integer")
    near = e.apply("i64", e.apply("sqrt", converted(e, n, "f64")), code="i64")
    root = e.variable("root", near)
    square = Apply("mul", (root, root), "i64")
    e.add(_while(Apply("gt", (square, n), "b1"), Assign(root, minus(root, ONE))))
    next_ = plus(root, ONE)
    after = Apply("le", (Apply("mul", (next_, next_), "i64"), n), "b1")
    e.add(_while(after, Assign(root, next_)))
    return _found(root)


def _while(condition: Expr, *body: Statement) -> While:
    return While((), condition, body)


@lowers("gcd")
def _gcd(site: BlockLowering, eqn: Eqn) -> Scalar:
    return _found(_folded(site, eqn, ZERO, _greatest_common_divisor))


@lowers("lcm")
def _lcm(site: BlockLowering, eqn: Eqn) -> Scalar:
    return _found(_folded(site, eqn, ONE, _least_common_multiple))


def _folded(
    site: BlockLowering, eqn: Eqn, start: Expr, combine: Callable[[Emitter, Expr, Expr], Expr]
) -> Expr:
    found = start
    for number in _integers(site, eqn):
        _must_not_be(site.e, "eq", number, integer(-(2**63)), "a large integer")
        found = combine(site.e, found, site.e.apply("abs", number))
    return found


def _greatest_common_divisor(e: Emitter, a: Expr, b: Expr) -> Expr:
    """By Euclid's algorithm."""
    x, y = e.variable("divisor", a), e.variable("rest", b)
    before = Slot(e.names.fresh("before"), "i64")
    steps = (Assign(before, y), Assign(y, Apply("rem", (x, y), "i64")), Assign(x, before))
    e.add(_while(Apply("ne", (y, ZERO), "b1"), *steps))
    return x


def _least_common_multiple(e: Emitter, a: Expr, b: Expr) -> Expr:
    divisor = e.apply("max", _greatest_common_divisor(e, a, b), ONE)
    return _times(e, e.apply("quotient", a, divisor), b)


@lowers("factorial")
def _factorial(site: BlockLowering, eqn: Eqn) -> Scalar:
    (n,) = _integers(site, eqn)
    _must_not_be(site.e, "lt", n, ZERO, "a factorial of a negative integer")
    return _found(_product_down(site.e, n, n))


@lowers("perm")
def _perm(site: BlockLowering, eqn: Eqn) -> Scalar:
    n, *rest = _integers(site, eqn)
    k = rest[0] if rest else n
    for each in (n, k):
        _must_not_be(site.e, "lt", each, ZERO, "permutations of a negative number of things")
    more = site.e.apply("gt", k, n, code="b1")
    found = _product_down(site.e, n, site.e.apply("min", n, k))
    return _found(site.e.apply("select", more, ZERO, found, code="i64"))


def _product_down(e: Emitter, n: Expr, count: Expr) -> Expr:
    """n · (n - 1) · …, so many factors."""
    product = e.variable("product", ONE)
    with e.loop(count) as (index, inner):
        inner.add(Assign(product, _times(inner, product, inner.let(minus(n, index)))))
    return product


@lowers("comb")
def _comb(site: BlockLowering, eqn: Eqn) -> Scalar:
    """Every partial product is a binomial coefficient, and so an integer."""
    n, k = _integers(site, eqn)
    e = site.e
    for each in (n, k):
        _must_not_be(e, "lt", each, ZERO, "combinations of a negative number of things")
    more = e.apply("gt", k, n, code="b1")
    count = e.apply("max", e.apply("min", k, e.let(minus(n, k))), ZERO)
    found = e.variable("ways", ONE)
    with e.loop(count) as (index, inner):
        larger = _times(inner, found, inner.let(minus(n, index)))
        inner.add(Assign(found, inner.apply("quotient", larger, inner.let(plus(index, ONE)))))
    return _found(e.apply("select", more, ZERO, found, code="i64"))
