"""The kind of `x[index]` for an array `x`: which axes an index removes, keeps and adds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const
from ..ir.records import value_record
from ..ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    Array,
    Kind,
    Number,
    Other,
    Seq,
    Struct,
)


@value_record
class Effect:
    """What one part of an index does.

    `consumes` axes of the array; `gives` axes in their place; `advanced` is the rank of an index
    array (None for basic indices: all the arrays of an index broadcast together); `keeps_array`
    says that the result is an array even if it has no axes.
    """

    consumes: int = 0
    gives: int = 0
    advanced: int | None = None
    keeps_array: bool = False


_INTEGER = Effect(consumes=1)
_SLICE = Effect(consumes=1, gives=1)
_NEW_AXIS = Effect(gives=1)
_ELLIPSIS = Effect(keeps_array=True)
_MASK = Effect(advanced=1)


def indexed(kind: Array, index: Atom) -> Kind:
    """The kind of an array of this kind read at an index.

    Args:
        kind: the kind of the array.
        index: what stands in the brackets, a constant or a run-time value.

    Returns:
        An `Array` with the rank as far as it is known, the kind of one element, or `UNKNOWN`.
    """
    effects = [_effect(part) for part in _parts(index)]
    if any(effect is None for effect in effects):
        return UNKNOWN
    return _combine(kind, [effect for effect in effects if effect is not None])


def element_kind(dtype: str) -> Kind:
    """The kind of one element of an array of that dtype."""
    prefixes = (
        ("float", FLOAT),
        ("int", INT),
        ("uint", INT),
        ("bool", BOOL),
        ("complex", COMPLEX),
        ("str", STR),
    )
    return next((kind for prefix, kind in prefixes if dtype.startswith(prefix)), UNKNOWN)


def _combine(kind: Array, effects: list[Effect]) -> Kind:
    consumed = sum(effect.consumes for effect in effects)
    advanced = [effect.advanced for effect in effects if effect.advanced is not None]
    broadcast = max(advanced, default=0)
    if kind.rank is None:
        certain = broadcast or any(effect.gives or effect.keeps_array for effect in effects)
        return Array(kind.dtype) if certain else UNKNOWN
    if consumed > kind.rank:
        return UNKNOWN
    rank = kind.rank - consumed + sum(effect.gives for effect in effects) + broadcast
    if rank or any(effect.keeps_array for effect in effects):
        return Array(kind.dtype, rank)
    return element_kind(kind.dtype)


def _parts(index: Atom) -> Iterator[Any]:
    """The parts of an index: constants as `Const`, run-time values by their kind."""
    if isinstance(index, Const):
        if isinstance(index.value, tuple):
            yield from map(Const, index.value)
        else:
            yield index
        return
    kind = kind_of_atom(index)
    if isinstance(kind, Struct) and kind.form in ("tuple", "namedtuple"):
        yield from kind.items
    else:
        yield kind


def _effect(part: Const | Kind) -> Effect | None:
    if isinstance(part, Const):
        return _effect_of_constant(part.value)
    match part:
        case Number(type="int"):
            return _INTEGER
        case Number(type="bool"):
            return _MASK
        case Array(dtype="bool", rank=int(rank)):
            return Effect(consumes=rank, advanced=1)
        case Array(dtype=dtype, rank=int(rank)) if dtype.startswith(("int", "uint")):
            return Effect(consumes=1, advanced=rank)
        case Seq() | Struct():
            return _effect_of_list(part)
        case Other():
            return _EFFECTS.get(part)
        case _:
            return None


_EFFECTS: dict[Kind, Effect] = {
    SLICE: _SLICE,
    NONE: _NEW_AXIS,
    Other("ellipsis"): _ELLIPSIS,
    RANGE: Effect(consumes=1, advanced=1),
}


def _effect_of_constant(value: Any) -> Effect | None:
    if value is Ellipsis:
        return _ELLIPSIS
    if isinstance(value, list):
        return _effect_of_constant_list(value)  # pyright: ignore[reportUnknownArgumentType]
    dtype, rank = getattr(value, "dtype", None), getattr(value, "ndim", None)
    if dtype is not None and isinstance(rank, int):
        return _effect(Array(str(dtype), rank))
    return _effect(kind_of_atom(Const(value)))


def _effect_of_constant_list(values: list[Any]) -> Effect | None:
    rank, booleans = 1, False
    while values and isinstance(values[0], list):
        rank, values = rank + 1, values[0]
    if values:
        booleans = isinstance(values[0], bool)
    return Effect(consumes=rank, advanced=1) if booleans else Effect(consumes=1, advanced=rank)


def _effect_of_list(kind: Kind) -> Effect | None:
    """A list of integers is an index array, a list of booleans a mask; lists may nest."""
    rank = 0
    while isinstance(kind, (Seq, Struct)):
        rank += 1
        items = {kind.item} if isinstance(kind, Seq) else set(kind.items)
        if len(items) != 1:
            return None
        (kind,) = items
    if kind == INT:
        return Effect(consumes=1, advanced=rank)
    return Effect(consumes=rank, advanced=1) if kind == BOOL else None
