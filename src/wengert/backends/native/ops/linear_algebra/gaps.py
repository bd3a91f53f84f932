"""Divisions by differences of eigenvalues, and by singular values: where any are equal, or 0, Python goes on.

So it does with derivatives of cofactors where the inverse matrix says too little of them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from .....ir.graph import Atom, Eqn
from .....runtime.numeric.eigenvalues import CLOSE, ROUNDINGS
from ...form.loopform import Apply, Assign, Constant, Expr
from ...lower.lowering import BlockLowering, lowers
from ...values.emitter import Emitter
from ...values.loops import over
from ...values.numbers import converted
from ...values.values import ONE, ZERO, Unlowered, Value, View, minus, plus
from .factorisations import matrix
from .products import matrix_product, transposed

_EPS = {"f64": sys.float_info.epsilon, "f32": 2.0**-23}


@lowers("over_gaps", "over_gaps_bar")
def _over_gaps(site: BlockLowering, eqn: Eqn) -> Value:
    x, w = _operands(site, eqn)
    _exit_within_rounding(site.e, w, _smallest_gap(site.e, w), "values that are equal")

    def gap(e: Emitter, i: Expr, j: Expr) -> Expr:
        difference = e.apply("sub", e.load(w, (j,)), e.load(w, (i,)))
        same = e.apply("eq", i, j, code="b1")
        return e.apply("select", same, Constant(float("inf"), w.code), difference, code=w.code)

    return _divided(site, eqn, x, gap)


@lowers("over_values", "over_values_bar")
def _over_values(site: BlockLowering, eqn: Eqn) -> Value:
    x, s = _operands(site, eqn)
    least = site.e.load(s, (site.e.let(minus(s.dims[0], ONE)),))
    _exit_within_rounding(site.e, s, least, "singular values that are 0")
    return _divided(site, eqn, x, lambda e, i, j: e.load(s, (j,)))


@lowers("spectral")
def _spectral(site: BlockLowering, eqn: Eqn) -> Value:
    """V diag(g) Vᵀ; its derivative, which asks for divided differences, is left to Python."""
    g, V = site.in_memory(eqn.args[0]), site.in_memory(eqn.args[4])
    if len(V.dims) != 2 or len(g.dims) != 1:
        raise Unlowered("`spectral` of stacks of matrices")
    site.write_all()
    site.e.must_be_same(g.dims[0], V.dims[1], "as many numbers as vectors")
    scaled = site.copied(V)

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        factor = converted(e, e.load(g, (at[1],)), V.code)
        e.store(scaled, at, e.apply("mul", e.load(V, at), factor))

    over(site.e, scaled.dims, element)
    return matrix_product(site, scaled, transposed(V))


@lowers("values_along")
def _values_along(site: BlockLowering, eqn: Eqn) -> Value:
    """diag(Vᵀ h V)."""
    h, V = site.in_memory(eqn.args[0]), site.in_memory(eqn.args[3])
    if len(V.dims) != 2 or len(h.dims) != 2:
        raise Unlowered("`values_along` of stacks of matrices")
    site.write_all()
    moved = site.view(matrix_product(site, h, V))
    made = site.allocate((site.e.size(V.dims[1]),), V.code, eqn.outs)

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        total = e.variable("along", Constant(0.0, V.code))
        with e.loop(V.dims[0]) as (index, inner):
            place = (index, at[0])
            term = inner.apply("mul", inner.load(V, place), inner.load(moved, place))
            inner.add(Assign(total, Apply("add", (total, term), V.code)))
        e.store(made, at, total)

    over(site.e, made.dims, element)
    return made


@lowers("quotients")
def _quotients(site: BlockLowering, eqn: Eqn) -> Value:
    """Divided differences; of eigenvalues that are close the slope is asked for, in Python."""
    g, w = site.in_memory(eqn.args[0]), site.in_memory(eqn.args[2])
    if len(w.dims) != 1 or len(g.dims) != 1 or w.code not in _EPS or g.code != w.code:
        raise Unlowered("`quotients` of stacks of matrices, or of two types")
    site.write_all()
    e, size = site.e, site.e.size(w.dims[0])
    e.exit_if(e.apply("lt", size, ONE, code="b1"), "a matrix without elements")
    _exit_within(e, w, _smallest_gap(e, w), Constant(CLOSE, w.code), "values that are close")
    made = site.allocate((size, size), w.code, eqn.outs)

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        gap, change = (e.apply("sub", e.load(x, (at[1],)), e.load(x, (at[0],))) for x in (w, g))
        same = e.apply("eq", *at, code="b1")
        divisor = e.apply("select", same, Constant(1.0, w.code), gap, code=w.code)
        e.store(made, at, e.apply("div", change, divisor))

    over(e, made.dims, element)
    return made


_WORST = 1e6
"""The condition of a matrix, about, up to which derivatives of its cofactors are taken from its inverse."""


@lowers("cofactor_along")
def _cofactor_along(site: BlockLowering, eqn: Eqn) -> Value:
    """Of Ω = det(X) X⁻ᵀ: dΩ = tr(X⁻¹ dX) Ω − X⁻ᵀ dXᵀ Ω."""
    matrix(site, eqn)
    x, dx = eqn.args
    inverse, direction = site.view(site.apply("inv", x)), site.in_memory(dx)
    _exit_beyond(site, x, site.atom(inverse))
    flipped = transposed(inverse)
    half = site.view(matrix_product(site, flipped, transposed(direction)))
    turned = site.view(matrix_product(site, half, flipped))
    e, determinant = site.e, site.as_scalar(site.apply("det", x)).expr
    change = e.variable("trace", Constant(0.0, half.code))
    with e.loop(half.dims[0]) as (index, inner):
        inner.add(
            Assign(change, Apply("add", (change, inner.load(half, (index, index))), half.code))
        )
    made = site.allocate(tuple(map(e.size, half.dims)), half.code, eqn.outs)

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        whole = e.apply("mul", change, e.load(flipped, at))
        found = e.apply("sub", whole, e.load(turned, at))
        e.store(made, at, e.apply("mul", determinant, found))

    over(e, made.dims, element)
    return made


def _exit_beyond(site: BlockLowering, x: Atom, inverse: Atom) -> None:
    """Leave to Python a matrix whose inverse is too large beside it."""
    e = site.e
    sizes = [
        site.as_scalar(site.apply("max", site.apply("abs", each))).expr for each in (x, inverse)
    ]
    condition = e.apply("mul", *sizes)
    worst = Constant(_WORST, condition.code)
    fine = e.apply("le", condition, worst, code="b1")
    e.exit_if(e.apply("not", fine, code="b1"), "a matrix that is singular, or almost")


def _operands(site: BlockLowering, eqn: Eqn) -> tuple[View, View]:
    if "within" in eqn.params:
        raise Unlowered(f"`{eqn.op.name}` of a matrix that is not symmetric")
    x, w = (site.in_memory(arg) for arg in eqn.args)
    if len(x.dims) != 2 or len(w.dims) != 1 or x.code not in _EPS or w.code != x.code:
        raise Unlowered(f"`{eqn.op.name}` of stacks of matrices, or of two types")
    site.write_all()
    site.e.exit_if(site.e.apply("lt", w.dims[0], ONE, code="b1"), "a matrix without elements")
    return x, w


def _smallest_gap(e: Emitter, w: View) -> Expr:
    """The smallest difference of two of some sorted values."""
    smallest = e.variable("gap", Constant(float("inf"), w.code))
    with e.loop(e.let(minus(w.dims[0], ONE))) as (index, inner):
        after = inner.load(w, (inner.let(plus(index, ONE)),))
        gap = inner.apply("fabs", inner.apply("sub", after, inner.load(w, (index,))))
        inner.add(Assign(smallest, _chosen(inner, "lt", gap, smallest)))
    return smallest


def _chosen(e: Emitter, test: str, x: Expr, y: Expr) -> Expr:
    return e.apply("select", e.apply(test, x, y, code="b1"), x, y, code=x.code)


def _exit_within_rounding(e: Emitter, w: View, least: Expr, reason: str) -> None:
    """Leave to Python what rounding alone can have made of 0, as `runtime.eigenvalues` has it."""
    size = e.apply(w.code, w.dims[0], code=w.code)
    share = e.apply("mul", Constant(ROUNDINGS * _EPS[w.code], w.code), size)
    _exit_within(e, w, least, share, reason)


def _exit_within(e: Emitter, w: View, least: Expr, share: Expr, reason: str) -> None:
    """Leave to Python what is small beside the largest of some sorted values."""
    first, last = e.load(w, (ZERO,)), e.load(w, (e.let(minus(w.dims[0], ONE)),))
    size = _chosen(e, "gt", e.apply("fabs", first), e.apply("fabs", last))
    e.exit_if(e.apply("le", least, e.apply("mul", share, size), code="b1"), reason)


def _divided(
    site: BlockLowering, eqn: Eqn, x: View, divisor: Callable[[Emitter, Expr, Expr], Expr]
) -> View:
    made = site.allocate(tuple(map(site.e.size, x.dims)), x.code, eqn.outs)
    over(
        site.e,
        made.dims,
        lambda e, at: e.store(made, at, e.apply("div", e.load(x, at), divisor(e, *at))),
    )
    return made
