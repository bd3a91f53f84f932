"""What two branches give, as one value: a plan for both, and what stands for what one of them does not give."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.graph import UNDEFINED
from ....ir.records import replace
from ..form.loopform import Code, Constant
from ..values import values as nv
from ..values.complexes import is_complex, lifted
from .lowering import BlockLowering
from .plans import (
    ArrayPlan,
    ListPlan,
    OfNumbersPlan,
    Plan,
    SamePlan,
    TuplePlan,
    covering,
    is_same,
    is_same_part,
)
from .sequences.columns import OF_NUMBERS, GrowingList, numbers_of
from .sequences.merged_lists import nothing_like


def merged_plan(a: nv.Value, b: nv.Value) -> Plan:
    """A plan that covers the results of two branches."""
    if isinstance(a, nv.Scalar) and isinstance(b, nv.Scalar):
        return covering(a, b)
    if is_array(a) and is_array(b):
        same = isinstance(a, nv.View) and isinstance(b, nv.View) and is_same_part(a, b)
        return ArrayPlan(in_place=same)
    if is_complex(a) != is_complex(b):
        raise nv.Unlowered("a variable that is now complex, and now something else")
    if isinstance(a, nv.Tuple) and isinstance(b, nv.Tuple) and is_alike(a, b):
        return TuplePlan([merged_plan(p, q) for p, q in zip(a.items, b.items, strict=True)])
    if is_same(a, b):
        return SamePlan()
    if type(a) is type(b) and type(a) in OF_NUMBERS:
        return OfNumbersPlan(type(a), merged_plan(numbers_of(a), numbers_of(b)))
    if isinstance(a, GrowingList) and isinstance(b, GrowingList):
        return ListPlan()
    raise nv.Unlowered("branches that give values of different kinds")


def is_alike(a: nv.Tuple, b: nv.Tuple) -> bool:
    """Whether two containers differ in what they hold only: a list is no tuple, and no object."""
    named = a.form not in ("list", "tuple")
    same_class = a.form == b.form and a.type is b.type
    return same_class and len(a.items) == len(b.items) and (not named or a.keys == b.keys)


def both_complex(
    blocks: Sequence[BlockLowering], pair: tuple[nv.Value, nv.Value]
) -> tuple[nv.Value, nv.Value]:
    """What two branches give: a number that one of them makes complex is so in both."""
    if not any(map(is_complex, pair)):
        return pair
    a, b = (
        lifted(inner.e, value) if isinstance(value, nv.Scalar) else value
        for inner, value in zip(blocks, pair, strict=True)
    )
    return a, b


def is_array(value: nv.Value) -> bool:
    return isinstance(value, (nv.View, nv.Lazy, nv.Broadcast))


def placeholder(site: BlockLowering, value: nv.Value, other: nv.Value) -> nv.Value:
    """Something in the place of what a branch does not assign, and nobody reads then."""
    if not isinstance(value, nv.StaticValue) or value.value is not UNDEFINED.value:
        return value
    match other:
        case nv.Scalar(code=code):
            return unbound(code)
        case nv.View(code=code, dims=dims) | nv.Lazy(code=code, dims=dims):
            return no_array(site, code, len(dims))
        case GrowingList():
            return nothing_like(site.e, other)
        case nv.Tuple(items=items):
            return replace(other, items=tuple(placeholder(site, value, item) for item in items))
        case nv.StaticValue():
            return other
        case nv.Range() | nv.Bounds():
            return OF_NUMBERS[type(other)](placeholder(site, value, numbers_of(other)))
        case _:
            return value


def no_array(site: BlockLowering, code: Code, rank: int) -> nv.View:
    """An array in the place of one that has not been made."""
    made = site.allocate((nv.ZERO,) * rank, code, ())
    made.root.bound = Constant(False, "b1")
    return made


def unbound(code: Code) -> nv.Scalar:
    """A number in the place of one that has not been assigned."""
    zero: dict[Code, float | int | bool] = {"b1": False, "i64": 0}
    return nv.Scalar(Constant(zero.get(code, 0.0), code), nv.UNBOUND, 0)
