"""Determinants and cofactors."""

from __future__ import annotations

from .....ir.graph import Eqn
from ...form.loopform import Apply, Assign, Code, Constant, Expr, For, If, Slot
from ...lower.lowering import BlockLowering, lowers
from ...values.emitter import Emitter
from ...values.loops import copy_elements, over
from ...values.values import NUMPY, ONE, ZERO, Scalar, Tuple, Value, View
from .factorisations import (
    Routine,
    by_columns,
    inexact,
    leading,
    matrix,
    singular_values,
    unit_matrix,
)
from .products import matrix_product
from .small_systems import Elimination, eliminated, otherwise, product_of_pivots


@lowers("det", "slogdet")
def _det(site: BlockLowering, eqn: Eqn) -> Value:
    a = matrix(site, eqn)
    code = inexact(a)
    found = eliminated(site, a, None, code)
    value = product_of_pivots(site.e, found)
    if eqn.op.name == "det":
        return Scalar(_determinant(site, a, found, value), NUMPY)
    sign, size = _sign_and_logarithm(site, a, found, value)
    items = (Scalar(sign, NUMPY), Scalar(size, NUMPY))
    kind = eqn.outs[0].kind
    return Tuple(items, "namedtuple", ("sign", "logabsdet"), getattr(kind, "type", None))


def _determinant(site: BlockLowering, a: View, found: Elimination, value: Expr) -> Expr:
    made = site.e.variable("determinant", value)

    def by_lapack(inner: BlockLowering) -> None:
        sign, size = sign_and_logarithm(inner, a, made.code)
        inner.e.add(Assign(made, _from_logarithm(inner.e, sign, size)))

    otherwise(site, found.succeeded, by_lapack)
    return site.e.variable("det", made)


def _sign_and_logarithm(
    site: BlockLowering, a: View, found: Elimination, value: Expr
) -> tuple[Expr, Expr]:
    e, code = site.e, value.code
    sign = e.variable("sign", e.apply("copysign", Constant(1.0, code), value))
    size = e.variable("logarithm", e.apply("log", e.apply("fabs", value)))

    def by_lapack(inner: BlockLowering) -> None:
        for slot, found_ in zip((sign, size), sign_and_logarithm(inner, a, code), strict=True):
            inner.e.add(Assign(slot, found_))

    otherwise(site, found.succeeded, by_lapack)
    return e.variable("sign_of_det", sign), e.variable("log_of_det", size)


def _from_logarithm(e: Emitter, sign: Expr, size: Expr) -> Expr:
    return e.apply("mul", sign, e.apply("exp", size))


def sign_and_logarithm(site: BlockLowering, a: View, code: Code) -> tuple[Expr, Expr]:
    """The sign of a determinant and the logarithm of its magnitude, from the LU factorisation."""
    e = site.e
    routine, size = Routine(site, code), a.dims[0]
    factors, pivots = by_columns(site, a, code), routine.array(size, "i64")
    n, lead = routine.number(size), routine.number(leading(site, size))
    failed = routine.attempt("getrf", n, n, factors, lead, pivots)
    sign = e.variable("sign", Constant(1.0, code))
    total = e.variable("logarithm", Constant(0.0, code))
    with e.loop(size) as (index, inner):
        entry = inner.load(factors, (index, index))
        there = inner.apply("add", index, ONE)
        turned = inner.apply("ne", inner.load(pivots, (index,)), there, code="b1")
        negative = inner.apply("lt", entry, Constant(0.0, code), code="b1")
        flips = inner.apply("ne", turned, negative, code="b1")
        other = inner.apply("neg", sign)
        inner.add(Assign(sign, Apply("select", (flips, other, sign), code)))
        size_of = inner.apply("log", inner.apply("fabs", entry))
        inner.add(Assign(total, Apply("add", (total, size_of), code)))
    singular = e.let(Apply("gt", (failed, ZERO), "b1"))
    none = (Assign(sign, Constant(0.0, code)), Assign(total, Constant(float("-inf"), code)))
    e.add(If(singular, none))
    return e.variable("sign_of_det", sign), e.variable("log_of_det", total)


@lowers("cofactor")
def _cofactor(site: BlockLowering, eqn: Eqn) -> Value:
    """∂det(x)/∂x, of singular matrices too: as `runtime.matrices.cofactor` has it."""
    a = matrix(site, eqn)
    code, size = inexact(a), site.e.size(a.dims[0])
    columns = unit_matrix(site, size, code)
    found = eliminated(site, a, columns, code)
    scale = product_of_pivots(site.e, found)
    over(site.e, (size, size), lambda e, at: e.store(  # the transpose of the inverse, times det
        columns, at, e.apply("mul", scale, e.load(columns, at))
    ))  # fmt: skip

    def by_singular_values(inner: BlockLowering) -> None:
        copy_elements(inner.e, columns, inner.view(_cofactor_by_lapack(inner, a, code)))

    otherwise(site, found.succeeded, by_singular_values)
    return columns


def _cofactor_by_lapack(site: BlockLowering, a: View, code: Code) -> Value:
    e = site.e
    u, s, vh = singular_values(site, a, code, "A")
    signs = [sign_and_logarithm(site, view, code) for view in (u, vh)]
    sign = e.apply("mul", *(_from_logarithm(e, *found) for found in signs))
    scaled = site.copied(u)

    def element(inner: Emitter, at: tuple[Expr, ...]) -> None:
        others = inner.variable("others", sign)
        index, block = Slot(e.names.fresh("k"), "i64"), inner.block()
        same = block.apply("eq", index, at[1], code="b1")
        factor = block.apply(
            "select", same, Constant(1.0, code), block.load(s, (index,)), code=code
        )
        block.add(Assign(others, Apply("mul", (others, factor), code)))
        inner.add(For(index, s.dims[0], tuple(block.statements)))
        inner.store(scaled, at, inner.apply("mul", inner.load(u, at), others))

    over(e, scaled.dims, element)
    return matrix_product(site, scaled, vh)
