"""Linear systems and factorisations, by the routines of the LAPACK that NumPy brings.

NumPy calls the same ones, of the same copies by columns, so that signs and orders are its own. Where a routine
fails, the Python form raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....ir.graph import Eqn
from ...form.loopform import Apply, Assign, Code, Constant, Expr, External, Load, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of, with_axes
from ...values.emitter import Emitter
from ...values.loops import copy_elements, fill, over
from ...values.numbers import converted
from ...values.values import ONE, ZERO, Tuple, Unlowered, Value, View, integer, plus, times
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

    def call_with_room(
        self, name: str, before: Sequence[Load | View], integers: Expr | None
    ) -> None:
        """Call a routine that wants room for its work, and says how much when it is asked."""
        e = self.site.e
        more: list[Load | View] = []
        if integers is not None:
            more.append(self.array(integers, "i64"))
        asked = self.array(ONE)
        counts = [self.number(integers)] if integers is not None and name == "syevd" else []
        self.call(name, *before, asked, self.number(integer(-1)), *more, *counts)
        size = e.let(Apply("i64", (e.load(asked, (ZERO,)),), "i64"))
        size = e.apply("max", size, ONE)
        self.call(name, *before, self.array(size), self.number(size), *more, *counts)


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


def matrix(site: BlockLowering, eqn: Eqn, *, square: bool = True) -> View:
    """The first operand: a matrix."""
    if not site.unit.target.has_blas:
        raise Unlowered(f"`{eqn.op.name}` where NumPy does not bring its own LAPACK")
    view = site.in_memory(eqn.args[0])
    if len(view.dims) != 2:
        raise Unlowered(f"`{eqn.op.name}` of stacks of matrices")
    if square:
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


@lowers("eigh", "eigvalsh")
def _eigh(site: BlockLowering, eqn: Eqn) -> Value:
    a = matrix(site, eqn)
    code, routine = inexact(a), Routine(site, inexact(a))
    columns, size = by_columns(site, a, code), a.dims[0]
    values = routine.array(size)
    triangle = str(eqn.param("UPLO", "L")).upper()
    if triangle not in ("L", "U"):
        raise Unlowered("a triangle that is neither")
    with_vectors = eqn.op.name == "eigh"
    routine.call_with_room(
        "syevd",
        [
            routine.letter("V" if with_vectors else "N"), routine.letter(triangle),
            routine.number(size), columns, routine.number(leading(site, size)), values,
        ],
        site.e.let(plus(integer(3), times(integer(5), size))),
    )  # fmt: skip
    if not with_vectors:
        return values
    items, kind = (values, as_matrix(columns)), eqn.outs[0].kind
    return Tuple(items, "namedtuple", ("eigenvalues", "eigenvectors"), getattr(kind, "type", None))


@lowers("svd", "svdvals")
def _svd(site: BlockLowering, eqn: Eqn) -> Value:
    a = matrix(site, eqn, square=False)
    if eqn.op.name == "svdvals":
        return singular_values(site, a, inexact(a), "N")[1]
    if eqn.param("compute_uv", True) is not True or eqn.param("hermitian", False):
        raise Unlowered("options of `svd`")
    job = "A" if eqn.param("full_matrices", True) else "S"
    items, kind = singular_values(site, a, inexact(a), job), eqn.outs[0].kind
    return Tuple(items, "namedtuple", ("U", "S", "Vh"), getattr(kind, "type", None))


def singular_values(site: BlockLowering, a: View, code: Code, job: str) -> tuple[View, View, View]:
    """U, the singular values, and the transpose of V; of the values alone, the others are empty."""
    e, routine = site.e, Routine(site, code)
    rows, columns = map(e.size, a.dims)
    least = rows if rows == columns else e.apply("min", rows, columns)
    widths = {"A": (rows, columns), "S": (least, least), "N": (ZERO, ZERO)}[job]
    left = site.allocate((widths[0], rows), code, ())
    right = site.allocate((columns, widths[1]), code, ())
    values = routine.array(least)
    routine.call_with_room(
        "gesdd",
        [
            routine.letter(job), routine.number(rows), routine.number(columns),
            by_columns(site, a, code), routine.number(leading(site, rows)), values,
            left, routine.number(leading(site, rows)), right,
            routine.number(leading(site, widths[1])),
        ],
        site.e.apply("max", site.e.let(times(integer(8), least)), ONE),
    )  # fmt: skip
    return as_matrix(left), values, as_matrix(right)


@lowers("qr")
def _qr(site: BlockLowering, eqn: Eqn) -> Value:
    a = matrix(site, eqn, square=False)
    if eqn.param("mode", "reduced") != "reduced":
        raise Unlowered("`qr` in another mode")
    e, code = site.e, inexact(a)
    routine = Routine(site, code)
    rows, columns = map(e.size, a.dims)
    least = rows if rows == columns else e.apply("min", rows, columns)
    factors, turns = by_columns(site, a, code), routine.array(least)
    m, lead = routine.number(rows), routine.number(leading(site, rows))
    routine.call_with_room("geqrf", [m, routine.number(columns), factors, lead, turns], None)
    first = as_matrix(factors)
    right = site.allocate((least, columns), code, ())
    fill(e, right, Constant(0.0, code))

    def upper(inner: Emitter, at: tuple[Expr, ...]) -> None:
        inside = inner.apply("le", at[0], at[1], code="b1")
        kept = inner.apply("select", inside, inner.load(first, at), Constant(0.0, code), code=code)
        inner.store(right, at, kept)

    over(e, right.dims, upper)
    part = with_axes(first, (rows, least), first.strides)
    left = by_columns(site, part, code)
    k = routine.number(least)
    routine.call_with_room("orgqr", [m, k, k, left, lead, turns], None)
    items, kind = (as_matrix(left), right), eqn.outs[0].kind
    return Tuple(items, "namedtuple", ("Q", "R"), getattr(kind, "type", None))
