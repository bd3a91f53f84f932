"""Arrays in pieces, and the indices of diagonals."""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.graph import Const, Eqn
from ...form.loopform import Apply, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import known_axis
from ...values import values as nv


@lowers("split")
def _split(site: BlockLowering, eqn: Eqn) -> nv.Tuple:
    """`np.split`, of which it is known how many pieces it makes."""
    view = site.in_memory(eqn.args[0])
    axes = known_axis(eqn.params.get("axis", Const(0)), len(view.dims))
    if axes is None or len(axes) != 1:
        raise nv.Unlowered("pieces along an axis that is computed")
    (axis,) = axes
    ends = _ends(site, view.dims[axis], eqn)
    starts = [nv.ZERO, *ends[:-1]]
    pieces = [_piece(site, view, axis, *pair) for pair in zip(starts, ends, strict=True)]
    return nv.Tuple(tuple(pieces), "list", tuple(range(len(pieces))))


def _ends(site: BlockLowering, size: Expr, eqn: Eqn) -> list[Expr]:
    """Where the pieces end."""
    e = site.e
    asked = eqn.params["indices_or_sections"]
    known = asked.value if isinstance(asked, Const) else None
    if type(known) is int and known > 0:
        rest = e.apply("rem", size, nv.integer(known))
        e.exit_if(Apply("ne", (rest, nv.ZERO), "b1"), "pieces that are not equal")
        length = e.apply("quotient", size, nv.integer(known))
        return [e.let(nv.times(length, nv.integer(k + 1))) for k in range(known)]
    if isinstance(known, (list, tuple)) and all(type(k) is int and k >= 0 for k in known):
        places: Sequence[int] = known
        if list(places) == sorted(places):
            return [*(e.apply("min", nv.integer(k), size) for k in places), size]
    raise nv.Unlowered("pieces whose number is computed")


def _piece(site: BlockLowering, view: nv.View, axis: int, start: Expr, end: Expr) -> nv.Value:
    whole = nv.EVERYTHING
    piece = nv.Bounds(nv.Scalar(start, nv.PYTHON, 48), nv.Scalar(end, nv.PYTHON, 48), None)
    return site.apply("getitem", view, nv.Tuple((*[whole] * axis, piece), "tuple"))


@lowers("diag_indices")
def _diag_indices(site: BlockLowering, eqn: Eqn) -> nv.Tuple:
    n = site.as_scalar(site.value(eqn.params["n"])) if "n" in eqn.params else None
    ndim = eqn.param("ndim", 2)
    if n is None or n.code != "i64" or n.origin != nv.PYTHON:
        raise nv.Unlowered("the indices of a diagonal of something else than a number of rows")
    places = site.view(site.apply("arange", n))
    return nv.Tuple((places,) * ndim, "tuple", tuple(range(ndim)))
