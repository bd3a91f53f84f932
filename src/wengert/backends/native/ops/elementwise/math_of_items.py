"""`math.prod`, `math.fsum` and `math.dist`: what `math` makes of the items of sequences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .....ir.graph import Atom, Eqn
from ...form.loopform import Apply, Assign, Constant, Expr, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import GrowingList
from ...lower.sequences.sequences import item_at
from ...lower.structure import length_of
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.numbers import (
    as_float_origin,
    compute,
    converted,
    exact_float,
    origin_expr,
    possible,
)

Step = Callable[[Emitter, nv.Scalar], None]


def _over_items(site: BlockLowering, atom: Atom, step: Step) -> None:
    """Do something with each number of a sequence, from the first to the last."""
    value = site.value(atom)
    if isinstance(value, nv.Tuple):
        for item in value.items:
            step(site.e, site.as_scalar(item))
        return
    sequence = _in_memory(site, atom)
    count = length_of(site, sequence)
    with site.e.loop(count) as (index, inner):
        step(inner, _number_at(inner, sequence, index))


def _in_memory(site: BlockLowering, atom: Atom) -> nv.View | GrowingList:
    value = site.value(atom)
    if isinstance(value, (nv.View, nv.Lazy, nv.Broadcast)) and len(value.dims) == 1:
        value = site.in_memory(atom)
    if not isinstance(value, (nv.View, GrowingList)):
        raise nv.Unlowered(f"the numbers of {nv.described(value)}")
    site.write_all()
    return value


def _number_at(e: Emitter, sequence: nv.View | GrowingList, index: Expr) -> nv.Scalar:
    if isinstance(sequence, nv.View):
        return nv.Scalar(e.load(sequence, (index,)), nv.NUMPY)
    found = item_at(e, sequence, index)
    if not isinstance(found, nv.Scalar):
        raise nv.Unlowered("the numbers of a list of other things")
    return found


@lowers("prod_items")
def _prod(site: BlockLowering, eqn: Eqn) -> nv.Scalar:
    """A product that starts as an integer, and is what its factors make of it."""
    items = eqn.args[0]
    one = nv.Scalar(nv.ONE, nv.PYTHON, 1)
    if isinstance(site.value(items), nv.Tuple):
        found = [one]
        _over_items(site, items, lambda e, x: found.append(compute(e, "mul", "py", [found[-1], x])))
        return found[-1]
    like = _number_at(Emitter(site.e.names), _in_memory(site, items), nv.ZERO)
    if like.code not in ("f64", "i64"):
        raise nv.Unlowered("a product of truth values, or of numbers of 32 bits")
    if like.code == "i64":
        return _prod_of_integers(site, items, like)
    e = site.e
    product = e.variable("product", Constant(1.0, "f64"))
    origin = e.variable("origin", origin_expr(as_float_origin(one)))
    among = possible(as_float_origin(one)) | possible(as_float_origin(like))
    if nv.SINGLE in among:
        raise nv.Unlowered("a product of numbers of 32 bits and others")

    def step(e: Emitter, x: nv.Scalar) -> None:
        after = compute(e, "mul", "py", [nv.Scalar(product, nv.DynamicOwner(origin, among)), x])
        e.add(Assign(product, exact_float(e, after)))
        e.add(Assign(origin, origin_expr(as_float_origin(after))))

    _over_items(site, items, step)
    return nv.Scalar(product, nv.DynamicOwner(origin, among))


def _prod_of_integers(site: BlockLowering, items: Atom, like: nv.Scalar) -> nv.Scalar:
    if like.origin != nv.PYTHON:
        raise nv.Unlowered("a product of NumPy's integers")
    product = site.e.variable("product", nv.ONE)

    def step(e: Emitter, x: nv.Scalar) -> None:
        e.add(Assign(product, compute(e, "mul", "py", [nv.Scalar(product, nv.PYTHON), x]).expr))

    _over_items(site, items, step)
    return nv.Scalar(product, nv.PYTHON)


@lowers("fsum")
def _fsum(site: BlockLowering, eqn: Eqn) -> nv.Scalar:
    """A sum, and the sum of all that was rounded away from it (Ogita, Rump and Oishi 2005)."""
    e = site.e
    total, lost = (e.variable(hint, Constant(0.0, "f64")) for hint in ("total", "lost"))

    def step(e: Emitter, x: nv.Scalar) -> None:
        number = converted(e, x.expr, "f64")
        after = e.apply("add", total, number)
        part = e.apply("sub", after, total)
        rest = e.apply("sub", total, e.apply("sub", after, part))
        rest = e.apply("add", rest, e.apply("sub", number, part))
        e.add(Assign(lost, Apply("add", (lost, rest), "f64")))
        e.add(Assign(total, after))

    _over_items(site, eqn.args[0], step)
    return _finite(e, e.apply("add", total, lost))


@lowers("dist")
def _dist(site: BlockLowering, eqn: Eqn) -> nv.Scalar:
    """The distance of two points; what is too long or too short for squares is left to Python."""
    p, q = (_items_of(site, atom) for atom in eqn.args)
    e = site.e
    sums = [e.variable(hint, Constant(0.0, "f64")) for hint in ("squares", "sizes")]
    if isinstance(p, tuple) and isinstance(q, tuple) and len(p) == len(q):
        for a, b in zip(p, q, strict=True):
            _add_gap(e, sums, a, b)
        return _root(e, *sums)
    if isinstance(p, tuple) or isinstance(q, tuple):
        raise nv.Unlowered("the distance of two points, of which one has no known dimension")
    counts = [length_of(site, x) for x in (p, q)]
    e.must_be_same(counts[0], counts[1], "points of different dimensions")
    with e.loop(counts[0]) as (index, inner):
        _add_gap(inner, sums, _number_at(inner, p, index), _number_at(inner, q, index))
    return _root(e, *sums)


def _items_of(site: BlockLowering, atom: Atom) -> tuple[nv.Scalar, ...] | nv.View | GrowingList:
    value = site.value(atom)
    if isinstance(value, nv.Tuple):
        return tuple(map(site.as_scalar, value.items))
    return _in_memory(site, atom)


def _add_gap(e: Emitter, sums: Sequence[Slot], a: nv.Scalar, b: nv.Scalar) -> None:
    """Add the square and the size of what lies between two numbers."""
    gap = e.apply("sub", exact_float(e, a), exact_float(e, b))
    for total, term in zip(sums, (e.apply("mul", gap, gap), e.apply("fabs", gap)), strict=True):
        e.add(Assign(total, Apply("add", (total, term), "f64")))


_TINY = 1e-280
"""Below it, squares lose digits."""


def _root(e: Emitter, squares: Expr, sizes: Expr) -> nv.Scalar:
    tiny = e.apply("lt", squares, Constant(_TINY, "f64"), code="b1")
    some = e.apply("ne", sizes, Constant(0.0, "f64"), code="b1")
    e.exit_if(e.apply("and", tiny, some), "a distance whose square is tiny")
    return _finite(e, e.apply("sqrt", squares))


def _finite(e: Emitter, value: Expr) -> nv.Scalar:
    fine = e.apply("lt", e.apply("fabs", value), Constant(math.inf, "f64"), code="b1")
    e.exit_if(e.apply("not", fine), "a sum that is not finite")
    return nv.Scalar(value, nv.PYTHON)
