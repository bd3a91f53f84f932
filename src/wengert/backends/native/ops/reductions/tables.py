"""Looking up in tables, and where something is true."""

from __future__ import annotations

from .....ir.graph import Const, Eqn
from ...form.loopform import Apply, Expr
from ...lower.lowering import BlockLowering, lowers
from ...values.emitter import Emitter
from ...values.loops import over
from ...values.numbers import converted
from ...values.values import NUMPY, ONE, ZERO, Scalar, Unlowered, Value, View, integer, minus, plus
from ..arrays.gather_scatter import index
from ..elementwise.scattered import numbers_of_the_true

Index = tuple[Expr, ...]


@lowers("interval_of")
def _interval_of(site: BlockLowering, eqn: Eqn) -> Value:
    """The number of the left end of the interval in which a number lies."""
    x, table = site.operand(eqn.args[0]), site.in_memory(eqn.args[1])
    found = site.apply("sub", site.apply("searchsorted", table, x, side="right"), 1)
    most = site.e.apply("max", site.e.let(minus(table.dims[0], integer(2))), ZERO)
    return site.apply("minimum", site.apply("maximum", found, 0), Scalar(most, bits=48))


@lowers("interp")
def _interp(site: BlockLowering, eqn: Eqn) -> Value:
    x = site.operand(eqn.args[0])
    xp, fp = (site.in_memory(atom) for atom in eqn.args[1:])
    if len(xp.dims) != 1 or len(fp.dims) != 1 or not set(eqn.params) <= {"left", "right"}:
        raise Unlowered("`interp` of this kind")
    site.e.must_be_same(xp.dims[0], fp.dims[0], "a table of two lengths")
    site.e.exit_if(Apply("eq", (xp.dims[0], ZERO), "b1"), "a table without entries")
    places = site.view(site.apply("interval_of", x, xp))
    given, table = site.view(x), _Table(site, eqn, xp, fp)
    site.write_all()
    if not given.dims:
        found = table.at(site.e, site.e.load(given, ()), site.e.load(places, ()))
        return Scalar(found, NUMPY)
    made = site.allocate(tuple(map(site.e.size, given.dims)), "f64", eqn.outs)

    def element(e: Emitter, at: Index) -> None:
        e.store(made, at, table.at(e, e.load(given, at), e.load(places, at)))

    over(site.e, made.dims, element)
    return made


class _Table:
    """What `np.interp` reads, and what it gives outside."""

    def __init__(self, site: BlockLowering, eqn: Eqn, xp: View, fp: View):
        self.xp, self.fp = xp, fp
        self.last = site.e.let(minus(xp.dims[0], ONE))
        ends = {"left": ZERO, "right": self.last}
        self.beyond = {side: self._end(site, eqn, side, end) for side, end in ends.items()}

    def _end(self, site: BlockLowering, eqn: Eqn, side: str, end: Expr) -> Expr:
        given = eqn.params.get(side, Const(None))
        found = site.e.load(self.fp, (end,)) if given == Const(None) else site.scalar(given).expr
        return converted(site.e, found, "f64")

    def at(self, e: Emitter, x: Expr, k: Expr) -> Expr:
        """What the table has at a number in an interval, by NumPy's own steps."""
        x = converted(e, x, "f64")
        after = e.apply("min", e.let(plus(k, ONE)), self.last)
        (a, fa), (b, fb) = (self._entry(e, place) for place in (k, after))
        slope = e.apply("div", e.apply("sub", fb, fa), e.apply("sub", b, a))
        from_a, from_b = (
            e.apply("add", e.apply("mul", slope, e.apply("sub", x, end)), value)
            for end, value in ((a, fa), (b, fb))
        )
        flat = e.apply("eq", fa, fb, code="b1")
        found = self._first_number(
            e, from_a, from_b, e.apply("select", flat, fa, from_b, code="f64")
        )
        for end, value in ((a, fa), (b, fb)):
            found = self._chosen(e, "eq", x, end, value, found)
        first, last = (self._entry(e, place)[0] for place in (ZERO, self.last))
        found = self._chosen(e, "lt", x, first, self.beyond["left"], found)
        found = self._chosen(e, "gt", x, last, self.beyond["right"], found)
        return self._chosen(e, "ne", x, x, x, found)

    def _entry(self, e: Emitter, place: Expr) -> tuple[Expr, Expr]:
        return tuple(converted(e, e.load(v, (place,)), "f64") for v in (self.xp, self.fp))  # type: ignore[return-value]

    def _first_number(self, e: Emitter, *values: Expr) -> Expr:
        *others, found = values
        for value in reversed(others):
            found = self._chosen(e, "eq", value, value, value, found)
        return found

    def _chosen(self, e: Emitter, op: str, a: Expr, b: Expr, then: Expr, other: Expr) -> Expr:
        return e.apply("select", e.apply(op, a, b, code="b1"), then, other, code="f64")


# --- where something is true --------------------------------------------------------------


@lowers("nonzero", "flatnonzero")
def _nonzero(site: BlockLowering, eqn: Eqn) -> Value:
    x = site.view(site.operand(eqn.args[0]))
    if not x.dims:
        raise Unlowered(f"`{eqn.op.name}` of a number")
    flat = numbers_of_the_true(site, site.view(site.apply("ne", x, 0)))
    flat = site.copied(flat)
    if eqn.op.name == "flatnonzero":
        return flat
    if len(x.dims) == 1:
        return index(flat)
    return index(*_along_each_axis(site, flat, x))


def _along_each_axis(site: BlockLowering, flat: View, x: View) -> list[View]:
    """The indices of elements by their numbers in C order."""
    made = [site.allocate(flat.dims, "i64", ()) for _ in x.dims]

    def element(e: Emitter, at: Index) -> None:
        rest = e.load(flat, at)
        for k in reversed(range(len(x.dims))):
            e.store(made[k], at, e.apply("rem", rest, x.dims[k]))
            rest = e.apply("quotient", rest, x.dims[k])

    over(site.e, flat.dims, element)
    return made
