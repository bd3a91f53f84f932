"""Checks that a derivative makes of the function it belongs to."""

from __future__ import annotations

from ..errors import NotScalar
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import Atom, Const, Function
from ..ir.types import FLOAT, NONE, Array, Kind, Number, Static, Struct
from ..runtime import checks as rt
from .registry import declare

scalar_seed = declare(
    "scalar_seed",
    "y, *, function",
    infer=lambda args, params: FLOAT,
    effect=True,
    rt="scalar_seed",
    implementation=rt.scalar_seed,
)


def real_scalar(function: Function, *, has_aux: bool = False) -> None:
    """Refuse a function whose result is known not to be one real number.

    Raises:
        NotScalar: saying what comes out.
    """
    kind = function.result
    if has_aux:
        if not (isinstance(kind, Struct) and kind.form == "tuple" and len(kind.items) == 2):
            raise NotScalar(
                f"with has_aux=True, {function.name} must return a pair (value, auxiliary data); "
                f"it returns {describe(kind)}",
                "Return two things, or leave has_aux out.",
            )
        kind = kind.items[0]
    known_array = isinstance(kind, Array) and (kind.rank or 0) > 0
    complex_ = kind == Number("complex") or (
        isinstance(kind, Array) and kind.dtype.startswith("complex")
    )
    nothing = isinstance(kind, Struct | Static) or kind == NONE or str(kind) == "str"
    if known_array or complex_ or nothing or kind == Number("bool"):
        raise NotScalar(
            f"a gradient needs one real number as the result, but {function.name} returns "
            f"{describe(kind)}",
            "For several results use `wg.jacobian`; to choose the cotangent of the result yourself\n"
            "use `wg.pullback`.",
        )


def describe(kind: Kind) -> str:
    """A kind in the words of an error message."""
    match kind:
        case Number(type="complex"):
            return "a complex number"
        case Number(type=type_):
            return f"a {type_}"
        case Array(dtype=dtype, rank=rank):
            return f"an array ({dtype or 'of unknown dtype'}, {rank if rank is not None else '?'} dimensions)"
        case Struct(form=form, items=items):
            return f"a {form} of {len(items)} items"
        case _ if kind == NONE:
            return "None"
        case Static(value=value):
            return f"{value!r}"
        case _:
            return f"a {kind}"


def seed(builder: Builder, out: Atom, name: str) -> Atom:
    """The cotangent of a scalar result: 1.0, checked when it runs unless that is known."""
    if isinstance(kind_of_atom(out), Number):
        return Const(1.0)
    return builder.emit(scalar_seed, out, function=Const(name))
