"""Products and systems with sparse matrices: as those of dense ones, at the places where entries stand."""

from __future__ import annotations

from ...ops.arrays.sparse import sparse_outer, sparse_product, sparse_solve
from ...ops.elementwise import conj
from ...ops.structure import length
from ..forms import bilinear_rule, differential
from ..places import Place
from ..registry import Rule, rule_for

bilinear_rule(
    sparse_product,
    left=lambda ȳ, entries, x, *, rows, cols, size: sparse_outer(ȳ, x, rows=rows, cols=cols),
    right=lambda ȳ, entries, x, *, rows, cols, size: sparse_product(
        conj(entries), ȳ, rows=cols, cols=rows, size=length(x)
    ),
)
bilinear_rule(
    sparse_outer,
    left=lambda ē, y, x, *, rows, cols: sparse_product(ē, x, rows=rows, cols=cols, size=length(y)),
    right=lambda ē, y, x, *, rows, cols: sparse_product(
        conj(ē), y, rows=cols, cols=rows, size=length(x)
    ),
)


@differential(sparse_solve)
def _(dE, db, entries, b, Ω, *, rows, cols):
    """d(A⁻¹b) = A⁻¹ (db − dA Ω)   (Giles, §2.3.1)."""
    change = db - sparse_product(dE, Ω, rows=rows, cols=cols, size=length(b))
    return sparse_solve(entries, change, rows=rows, cols=cols)


def _solved_for(ȳ, entries, b, *, rows, cols):
    return sparse_solve(conj(entries), ȳ, rows=cols, cols=rows)


# as of `solve`: the differential is itself a solution, which is to be transposed in its right-hand side
_of_solve = rule_for(sparse_solve)
assert _of_solve is not None
_of_solve.also["linear"] = Rule(
    sparse_solve,
    "linear",
    (None, _solved_for),
    Place(__file__, _solved_for.__code__.co_firstlineno),
)
