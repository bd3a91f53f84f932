"""The kinds of cotangents and tangents, by those of the values that they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom
from ..ir.types import FLOAT, UNKNOWN, Array, Kind, Map, Number, Seq, Struct, map_of

Params = Mapping[str, Atom]
Args = Sequence[Atom]


def like_second(args: Args, params: Params) -> Kind:
    """A cotangent of the second operand."""
    return gradient_kind(kind_of_atom(args[1]))


def in_shape_of_second(args: Args, params: Params) -> Kind:
    """The first operand as a cotangent of the second."""
    return in_shape_of(kind_of_atom(args[0]), kind_of_atom(args[1]))


def in_shape_of(bar: Kind, like: Kind) -> Kind:
    """A cotangent brought to the shape of a value: that value's rank, but the cotangent's dtype.

    A complex cotangent of a real value is still complex: its real part is yet to be taken.
    """
    if not isinstance(bar, (Number, Array)):
        return UNKNOWN
    is_complex = bar == Number("complex") or (isinstance(bar, Array) and "complex" in bar.dtype)
    match like:
        case Number():
            unknown = isinstance(bar, Array) and not bar.dtype
            return UNKNOWN if unknown else Number("complex" if is_complex else "float")
        case Array(rank=rank) if isinstance(bar, Array):
            inexact = bar.dtype.startswith(("float", "complex")) or not bar.dtype
            return Array(bar.dtype if inexact else "float64", rank)
        case Array(rank=rank):
            return Array("complex128" if is_complex else "float64", rank)
        case _:
            return UNKNOWN


def gradient_kind(kind: Kind) -> Kind:
    """The kind of a cotangent of a value of that kind."""
    match kind:
        case Number(type="complex"):
            return kind
        case Number():
            return FLOAT
        case Array(dtype=dtype, rank=rank):
            inexact = dtype.startswith(("float", "complex")) or not dtype
            return Array(dtype if inexact else "float64", rank)
        case Seq(item=item):
            return Seq(gradient_kind(item))
        case Map(key=key, item=item):
            return map_of(key, gradient_kind(item))
        case Struct(form=form, keys=keys, items=items) if form in FORM_OF_COTANGENT:
            bars, shape = tuple(map(_part_kind, items)), FORM_OF_COTANGENT[form]
            if shape == "list" and bars and all(bar == FLOAT for bar in bars):
                return Seq(FLOAT)
            if all(bar == UNKNOWN for bar in bars):
                return UNKNOWN
            return Struct(shape, keys if shape == "dict" else tuple(range(len(items))), bars)
        case _:
            return UNKNOWN


def _part_kind(item: Kind) -> Kind:
    """The kind of a part of a cotangent; a complex part may be written to an array of unknown dtype."""
    return UNKNOWN if isinstance(item, Array) and not item.dtype else gradient_kind(item)


FORM_OF_COTANGENT = {
    "tuple": "list", "list": "list", "namedtuple": "list", "dict": "dict", "dataclass": "dict", "object": "dict"
}  # fmt: skip
"""The cotangent of a container has its items by place or by name."""


def tangent_kind(kind: Kind) -> Kind:
    """The kind of a tangent of a value of that kind, or of a cotangent that a caller gives.

    Of an object it may be any object with such attributes.
    """
    match kind:
        case Seq(item=item):
            return Seq(tangent_kind(item))
        case Map(key=key, item=item):
            return map_of(key, tangent_kind(item))
        case Struct():
            return UNKNOWN
        case _:
            return gradient_kind(kind)
