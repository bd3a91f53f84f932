"""Small systems of equations, by elimination in place: a call of LAPACK costs more than their solution.

Pivots are chosen as LAPACK chooses them, so that results are the same to rounding. Where rounding decides, because
a pivot is small beside the others or numbers are far from 1, LAPACK is asked.
"""

from __future__ import annotations

from collections.abc import Callable

from .....ir.records import record
from ...form.loopform import Apply, Assign, Code, Constant, Expr, If, Slot
from ...lower.lowering import BlockLowering
from ...values.emitter import Emitter
from ...values.loops import over
from ...values.numbers import converted
from ...values.values import ONE, ZERO, View, integer, minus, plus

MOST_EQUATIONS = 8
SMALLEST_PIVOT: dict[Code, float] = {"f64": 1e-7, "f32": 1e-3}
"""What no pivot may fall below, beside the greatest number of the matrix."""
LARGEST_NUMBER: dict[Code, float] = {"f64": 1e30, "f32": 1e3}
"""What the greatest number of the matrix may be, and its reciprocal: no product of pivots overflows."""


@record
class Elimination:
    """A matrix that has been brought to triangular form, if it has.

    Attributes:
        succeeded: whether.
        factors: the triangles, row by row.
        sign: that of the permutation of the rows.
    """

    succeeded: Slot
    factors: View
    sign: Slot


def loop(
    e: Emitter, count: Expr, body: Callable[[Emitter, Expr], None], start: Expr = ZERO
) -> None:
    """Do something for each integer from one on, so many times."""
    with e.loop(e.let(count)) as (index, inner):
        body(inner, inner.let(plus(start, index)))


def from_next(e: Emitter, k: Expr, size: Expr, body: Callable[[Emitter, Expr], None]) -> None:
    """Do something for each integer after one and below another."""
    start = e.let(plus(k, ONE))
    loop(e, e.let(minus(size, start)), body, start)


def eliminated(site: BlockLowering, a: View, columns: View | None, code: Code) -> Elimination:
    """The elimination of a small matrix; the columns of right-hand sides become those of solutions."""
    e, size = site.e, a.dims[0]
    factors = site.allocate((size, size), code, ())
    found = Elimination(
        e.variable("small", Constant(False, "b1")), factors, e.variable("sign", Constant(1.0, code))
    )
    small = e.block()
    _eliminate(small, a, found, columns)
    if columns is not None:
        _substitute_back(small, factors, columns)
    is_small = e.apply("le", size, integer(MOST_EQUATIONS), code="b1")
    e.choose(is_small, small.statements)
    return found


def _eliminate(e: Emitter, a: View, found: Elimination, columns: View | None) -> None:
    factors, code = found.factors, found.factors.code
    largest = e.variable("largest", Constant(0.0, code))

    def copied(inner: Emitter, at: tuple[Expr, ...]) -> None:
        x = converted(inner, inner.load(a, at), code)
        inner.store(factors, at, x)
        inner.add(Assign(largest, Apply("maximum", (largest, inner.apply("fabs", x)), code)))

    over(e, a.dims, copied)
    least = e.apply("mul", largest, Constant(SMALLEST_PIVOT[code], code))
    most = Constant(LARGEST_NUMBER[code], code)
    usual = e.apply("and", e.apply("lt", largest, most, code="b1"),
                    e.apply("gt", e.apply("mul", largest, most), Constant(1.0, code), code="b1"))  # fmt: skip
    e.add(Assign(found.succeeded, usual))

    def step(inner: Emitter, k: Expr) -> None:
        place, best = _pivot(inner, factors, k)
        enough = inner.apply("gt", best, least, code="b1")
        inner.add(Assign(found.succeeded, Apply("and", (found.succeeded, enough), "b1")))
        _exchange(inner, found, columns, k, place)
        from_next(
            inner, k, factors.dims[0], lambda block, r: _reduce(block, factors, columns, k, r)
        )

    loop(e, factors.dims[0], step)


def _pivot(e: Emitter, factors: View, k: Expr) -> tuple[Expr, Expr]:
    """The row of the greatest number of a column, from the diagonal on, and that number."""
    place = e.variable("pivot", k)
    best = e.variable("best", e.apply("fabs", e.load(factors, (k, k))))

    def compare(inner: Emitter, r: Expr) -> None:
        x = inner.apply("fabs", inner.load(factors, (r, k)))
        better = inner.apply("gt", x, best, code="b1")
        inner.add(Assign(place, Apply("select", (better, r, place), "i64")))
        inner.add(Assign(best, Apply("select", (better, x, best), best.code)))

    from_next(e, k, factors.dims[0], compare)
    return place, best


def _exchange(e: Emitter, found: Elimination, columns: View | None, k: Expr, place: Expr) -> None:
    """Two rows change places."""
    factors, block = found.factors, e.block()
    loop(block, factors.dims[1], lambda inner, c: _swap(inner, factors, (k, c), (place, c)))
    if columns is not None:
        loop(block, columns.dims[0],
             lambda inner, m: _swap(inner, columns, (m, k), (m, place)))  # fmt: skip
    block.add(Assign(found.sign, Apply("neg", (found.sign,), found.sign.code)))
    e.add(If(e.apply("ne", place, k, code="b1"), tuple(block.statements)))


def _swap(e: Emitter, view: View, here: tuple[Expr, Expr], there: tuple[Expr, Expr]) -> None:
    one, other = e.load(view, here), e.load(view, there)
    e.store(view, here, other)
    e.store(view, there, one)


def _reduce(e: Emitter, factors: View, columns: View | None, k: Expr, r: Expr) -> None:
    """Take a multiple of row k from row r."""
    factor = e.apply("div", e.load(factors, (r, k)), e.load(factors, (k, k)))
    from_next(e, k, factors.dims[1], lambda inner, c: _take(inner, factors, (r, c), (k, c), factor))
    if columns is not None:
        loop(e, columns.dims[0],
             lambda inner, m: _take(inner, columns, (m, r), (m, k), factor))  # fmt: skip


def _take(
    e: Emitter, view: View, target: tuple[Expr, Expr], source: tuple[Expr, Expr], factor: Expr
) -> None:
    less = e.apply("mul", factor, e.load(view, source))
    e.store(view, target, e.apply("sub", e.load(view, target), less))


def _substitute_back(e: Emitter, factors: View, columns: View) -> None:
    size = factors.dims[0]
    last = e.let(minus(size, ONE))

    def unknown(inner: Emitter, k: Expr, m: Expr) -> None:
        row = inner.let(minus(last, k))
        total = inner.variable("rest", inner.load(columns, (m, row)))

        def term(block: Emitter, c: Expr) -> None:
            x = block.apply("mul", block.load(factors, (row, c)), block.load(columns, (m, c)))
            block.add(Assign(total, Apply("sub", (total, x), total.code)))

        from_next(inner, row, size, term)
        inner.store(columns, (m, row), inner.apply("div", total, inner.load(factors, (row, row))))

    loop(e, columns.dims[0], lambda block, m: loop(block, size, lambda i, k: unknown(i, k, m)))


def product_of_pivots(e: Emitter, found: Elimination) -> Expr:
    """The determinant of a matrix whose elimination succeeded."""
    total = e.variable("determinant", found.sign)

    def step(inner: Emitter, k: Expr) -> None:
        pivot = inner.load(found.factors, (k, k))
        inner.add(Assign(total, Apply("mul", (total, pivot), total.code)))

    loop(e, found.factors.dims[0], step)
    return total


def otherwise(site: BlockLowering, succeeded: Expr, body: Callable[[BlockLowering], None]) -> None:
    """What is done where elimination did not succeed."""
    where(site, site.e.apply("not", succeeded, code="b1"), body, rarely=True)


def where(
    site: BlockLowering,
    condition: Expr,
    body: Callable[[BlockLowering], None],
    *,
    rarely: bool = False,
) -> None:
    """What is done where a condition holds."""
    inner = site.inside(site.block)
    inner.e.span = site.e.span
    body(inner)
    inner.release_owned()
    site.e.add(If(condition, tuple(inner.e.statements), rarely=rarely))
