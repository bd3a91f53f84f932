"""Linear systems and factorisations, by the routines of the LAPACK that NumPy brings.

NumPy calls the same ones, of the same copies by columns, so that signs and orders are its own. Where a routine
fails, the Python form raises.
"""

from __future__ import annotations

from collections.abc import Callable

from .....ir.graph import Eqn
from ...form.loopform import Apply, Assign, Code, Constant, Expr, External, Load, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of, with_axes
from ...values.emitter import Emitter
from ...values.loops import copy_elements, over
from ...values.numbers import converted
from ...values.values import ONE, ZERO, Unlowered, Value, View, integer, times
from ..elementwise.creation import zeroed
from .small_systems import eliminated, from_next, loop, otherwise, where


class Routine:
    """What a call of LAPACK is put together from: numbers stand in memory of their own."""

    def __init__(self, site: BlockLowering, code: Code):
        self.site = site
        self.code: Code = code

    def number(self, value: Expr) -> Load:
        """An integer."""
        made = self.site.allocate((ONE,), "i64", ())
        self.site.e.store(made, (ZERO,), value)
        return self.start(made)

    def letter(self, value: str) -> Load:
        return self.number(integer(ord(value)))

    def array(self, size: Expr, code: Code | None = None) -> View:
        """Memory that the routine works in."""
        return self.site.allocate((size,), code or self.code, ())

    @staticmethod
    def start(view: View) -> Load:
        return Load(view.pointer, view.offset, view.code)

    def call(self, name: str, *args: Load | View) -> None:
        """Call a routine whose last argument says whether it has failed; exits if it has."""
        failed = self.attempt(name, *args)
        self.site.e.exit_if(Apply("ne", (failed, ZERO), "b1"), f"`{name}` fails")

    def attempt(self, name: str, *args: Load | View) -> Expr:
        """Call a routine; what it says about its success."""
        info = self.number(ZERO)
        given = [self.start(arg) if isinstance(arg, View) else arg for arg in args]
        self.site.e.add(External(f"{self.code}_{name}", (*given, info)))
        return self.site.e.let(Load(info.pointer, info.index, "i64"))


def by_columns(site: BlockLowering, view: View, code: Code) -> View:
    """A copy of a matrix, column by column: the same as its transpose, row by row."""
    turned = with_axes(view, view.dims[::-1], view.strides[::-1])
    made = site.allocate(turned.dims, code, ())

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        e.store(made, at, converted(e, e.load(turned, at), code))

    over(site.e, turned.dims, element)
    return made


def as_matrix(columns: View) -> View:
    """The matrix whose columns stand in memory."""
    return with_axes(columns, columns.dims[::-1], columns.strides[::-1])


def matrix(site: BlockLowering, eqn: Eqn) -> View:
    """The first operand: a square matrix."""
    if not site.unit.target.has_blas:
        raise Unlowered(f"`{eqn.op.name}` where NumPy does not bring its own LAPACK")
    view = site.in_memory(eqn.args[0])
    if len(view.dims) != 2:
        raise Unlowered(f"`{eqn.op.name}` of stacks of matrices")
    site.e.must_be_same(*view.dims, "a matrix that is not square")
    site.write_all()
    return view


def inexact(*views: View) -> Code:
    return "f32" if all(view.code == "f32" for view in views) else "f64"


def leading(site: BlockLowering, size: Expr) -> Expr:
    return site.e.apply("max", size, ONE)


# --- linear systems -----------------------------------------------------------------------


@lowers("solve")
def _solve(site: BlockLowering, eqn: Eqn) -> Value:
    a, b = matrix(site, eqn), site.in_memory(eqn.args[1])
    site.write_all()
    if eqn.params or len(b.dims) not in (1, 2):
        raise Unlowered("`solve` of stacks of matrices")
    site.e.must_be_same(b.dims[0], a.dims[0], "a system with another number of equations")
    right = b if len(b.dims) == 2 else with_axes(b, (*b.dims, ONE), (*b.strides, ZERO))
    code = inexact(a, b)
    found = as_matrix(_solved(site, a, lambda inner: by_columns(inner, right, code), code))
    return found if len(b.dims) == 2 else with_axes(found, found.dims[:1], found.strides[:1])


@lowers("as_columns", "from_columns")
def _as_columns(site: BlockLowering, eqn: Eqn) -> Value:
    """Vectors as matrices of one column, where a stack of systems was solved for one vector."""
    vector, result = (len(dims_of(site.operand(eqn.params[k]))) for k in ("vector", "result"))
    if vector == 1 < result:
        raise Unlowered("stacks of linear systems")
    return site.value(eqn.args[0])


@lowers("inv")
def _inv(site: BlockLowering, eqn: Eqn) -> Value:
    a = matrix(site, eqn)
    code, size = inexact(a), site.e.size(a.dims[0])
    return as_matrix(
        _solved(site, a, lambda inner: unit_matrix(inner, size, code), code, inverse=True)
    )


def unit_matrix(site: BlockLowering, size: Expr, code: Code) -> View:
    made = zeroed(site, (size, size), code, ())
    over(site.e, (size,), lambda e, k: e.store(made, (k[0], k[0]), Constant(1.0, code)))
    return made


def _solved(
    site: BlockLowering,
    a: View,
    right_hand_side: Callable[[BlockLowering], View],
    code: Code,
    *,
    inverse: bool = False,
) -> View:
    """The columns of the solution, in the place of those of the right-hand side; `inverse`: that is the unit matrix."""
    made = right_hand_side(site)
    found = eliminated(site, a, made, code)

    def by_lapack(inner: BlockLowering) -> None:
        right = right_hand_side(inner)
        _solve_in_place(inner, a, right, code, inverse=inverse)
        copy_elements(inner.e, made, right)

    otherwise(site, found.succeeded, by_lapack)
    return made


def _solve_in_place(
    site: BlockLowering, a: View, right: View, code: Code, *, inverse: bool
) -> None:
    """The columns of the solution, by substitution alone where the matrix turns out to be triangular."""
    e, routine, columns = site.e, Routine(site, code), by_columns(site, a, code)
    size, count = routine.number(a.dims[0]), routine.number(right.dims[0])
    lead = routine.number(leading(site, a.dims[0]))
    lower, upper = zero_beyond_diagonal(e, as_matrix(columns))
    triangular = e.apply("or", lower, upper, code="b1")

    def substitute(inner: BlockLowering) -> None:
        routine = Routine(inner, code)
        letter = inner.e.apply("select", lower, integer(ord("L")), integer(ord("U")), code="i64")
        triangle, no = routine.number(letter), routine.letter("N")
        if inverse:
            routine.call("trtri", triangle, no, size, columns, lead)
            copy_elements(inner.e, right, columns)
        else:
            routine.call("trtrs", triangle, no, no, size, count, columns, lead, right, lead)

    def eliminate(inner: BlockLowering) -> None:
        routine = Routine(inner, code)
        pivots = routine.array(a.dims[0], "i64")
        routine.call("gesv", size, count, columns, lead, pivots, right, lead)

    where(site, triangular, substitute)
    otherwise(site, triangular, eliminate)


def zero_beyond_diagonal(e: Emitter, a: View) -> tuple[Expr, Expr]:
    """Whether all is zero above the diagonal of a matrix, and whether all is below it.

    A matrix without zeros is told after two elements.
    """
    size, answers = a.dims[0], list[Expr]()
    for above in (True, False):
        answer = e.variable("lower" if above else "upper", Constant(True, "b1"))

        def row(inner: Emitter, i: Expr, above: bool = above, answer: Slot = answer) -> None:
            def entry(block: Emitter, j: Expr) -> None:
                x = block.load(a, (i, j))
                block.add(Assign(answer, Apply("eq", (x, Constant(0.0, a.code)), "b1")))
                block.break_if(block.apply("not", answer, code="b1"))

            if above:
                from_next(inner, i, size, entry)
            else:
                loop(inner, i, entry)
            inner.break_if(inner.apply("not", answer, code="b1"))

        loop(e, size, row)
        answers.append(answer)
    lower, upper = answers
    return lower, upper


# --- factorisations -----------------------------------------------------------------------


@lowers("cholesky")
def _cholesky(site: BlockLowering, eqn: Eqn) -> Value:
    a = matrix(site, eqn)
    upper = bool(eqn.param("upper", False))
    code, routine = inexact(a), Routine(site, inexact(a))
    columns = by_columns(site, a, code)
    routine.call(
        "potrf", routine.letter("U" if upper else "L"), routine.number(a.dims[0]), columns,
        routine.number(leading(site, a.dims[0])),
    )  # fmt: skip
    factor = as_matrix(columns)

    def clear(e: Emitter, at: tuple[Expr, ...]) -> None:
        outside = e.apply("gt" if upper else "lt", at[0], at[1], code="b1")
        kept = e.apply("select", outside, Constant(0.0, code), e.load(factor, at), code=code)
        e.store(factor, at, kept)

    over(site.e, factor.dims, clear)
    return factor


def singular_values(site: BlockLowering, a: View, code: Code) -> tuple[View, View, View]:
    """U, the singular values, and the transpose of V, of a square matrix."""
    e, routine, size = site.e, Routine(site, code), site.e.size(a.dims[0])
    left, right = (site.allocate((size, size), code, ()) for _ in range(2))
    values, count = routine.array(size), routine.number(size)
    lead = routine.number(leading(site, size))
    given = (
        routine.letter("A"),
        count,
        count,
        by_columns(site, a, code),
        lead,
        values,
        left,
        lead,
        right,
        lead,
    )
    whole = routine.array(e.apply("max", e.let(times(integer(8), size)), ONE), "i64")
    asked = routine.array(ONE)
    routine.call(
        "gesdd", *given, asked, routine.number(integer(-1)), whole
    )  # how much room it wants
    room = e.let(Apply("i64", (e.load(asked, (ZERO,)),), "i64"))
    room = e.apply("max", room, ONE)
    routine.call("gesdd", *given, routine.array(room), routine.number(room), whole)
    return as_matrix(left), values, as_matrix(right)
