"""Plans: which variables a value that a loop carries, or that branches give, is held in."""

from __future__ import annotations

from ....ir.records import mutable_record
from ..form.loopform import Code, Slot
from ..values import values as nv
from ..values.complexes import by_part, lifted
from ..values.numbers import as_float_origin, keeps_its_type, possible
from .lowering import BlockLowering
from .sequences.columns import GrowingList

WIDEST = 64


class Retry(Exception):
    """The body gives another type than was assumed: another plan for a carried value."""

    def __init__(self, plan: Plan):
        super().__init__()
        self.plan = plan


class RetryAll(Exception):
    """The body gives other types than were assumed: other plans, by the numbers of carried values."""

    def __init__(self, plans: dict[int, Plan]):
        super().__init__()
        self.plans = plans


@mutable_record
class NumberPlan:
    """A number in a variable; one whose origin depends on the run has a second one for that.

    `among` is whose it may be.
    """

    code: Code
    among: frozenset[int]
    bits: int


@mutable_record
class ArrayPlan:
    """An array: of its own in each iteration, or one that is changed in place; `varies` says that its sizes do."""

    in_place: bool
    varies: bool = False


@mutable_record
class SamePlan:
    """A value that is known, or that never changes."""


@mutable_record
class TuplePlan:
    plans: list[Plan]


@mutable_record
class OfNumbersPlan:
    """A range or a slice that one of two branches makes, by its three numbers."""

    form: type
    numbers: Plan


@mutable_record
class MemoryPlan:
    """A list of numbers of known length, one of which the loop chooses to write to: in memory."""


@mutable_record
class ListPlan:
    """A list that one of two branches makes."""


@mutable_record
class ReplacedPlan:
    """A list of numbers, or of tuples of them, that each iteration makes anew: its items are copied."""

    item: nv.Value


Plan = (
    NumberPlan
    | ArrayPlan
    | SamePlan
    | TuplePlan
    | OfNumbersPlan
    | ListPlan
    | MemoryPlan
    | ReplacedPlan
)


def plan_for(value: nv.Value) -> Plan:
    """The first guess."""
    match value:
        case nv.Scalar(code=code, origin=origin, bits=bits):
            return NumberPlan(code, possible(origin), bits)
        case nv.View() | nv.Lazy() | nv.Broadcast():
            return ArrayPlan(in_place=True)
        case nv.Tuple(items=items):
            return TuplePlan([plan_for(item) for item in items])
        case _:
            return SamePlan()


def joined(plan: NumberPlan, value: nv.Scalar) -> NumberPlan:
    """A plan that covers another number, too."""
    bits = WIDEST if value.bits > plan.bits else plan.bits
    if value.code == plan.code:
        return NumberPlan(plan.code, plan.among | possible(value.origin), bits)
    whose = origin_of(plan, Slot("", "i64") if len(plan.among) > 1 else None)
    both = (value, nv.Scalar(Slot("", plan.code), whose))
    if not all(keeps_its_type(number, "f64") for number in both):
        raise nv.Unlowered(f"a variable that is now of type {plan.code}, now of type {value.code}")
    a, b = (possible(as_float_origin(number)) for number in both)
    return NumberPlan("f64", a | b, WIDEST)


def covers(plan: NumberPlan, value: nv.Scalar) -> bool:
    if plan.code == value.code:
        return possible(value.origin) <= plan.among and value.bits <= plan.bits
    kept = plan.code == "f64" and keeps_its_type(value, "f64")
    return kept and possible(as_float_origin(value)) <= plan.among


def origin_of(plan: NumberPlan, source: Slot | None) -> nv.Origin:
    """Whose a number is, which a variable says where that depends on the run."""
    return nv.DynamicOwner(source, plan.among) if source is not None else next(iter(plan.among))


def complex_plan(site: BlockLowering, before: nv.Scalar, after: nv.Tuple) -> TuplePlan:
    """A plan for a number that a loop makes complex."""
    parts = zip(lifted(site.e, before).items, by_part(after, site.as_scalar).items, strict=True)
    return TuplePlan([covering(real, part) for real, part in parts])


def covering(a: nv.Scalar, b: nv.Scalar) -> NumberPlan:
    """A plan for two numbers."""
    plan = plan_for(a)
    assert isinstance(plan, NumberPlan)
    return plan if covers(plan, b) else joined(plan, b)


def is_same(a: nv.Value, b: nv.Value) -> bool:
    """Whether two values are known to be the same."""
    match a, b:
        case nv.StaticValue(value=x), nv.StaticValue(value=y):
            return x is y or (type(x) is type(y) and isinstance(x, (str, int, tuple)) and x == y)
        case GrowingList(), GrowingList():
            return a is b
        case (nv.Range(), nv.Range()) | (nv.Bounds(), nv.Bounds()):
            return a == b
        case _:
            return a is b


def is_same_part(a: nv.View, b: nv.View) -> bool:
    """Whether two arrays are the same elements of the same memory, in the same order."""
    same = a.root is b.root and a.whole == b.whole and a.offset == b.offset
    return same and a.dims == b.dims and a.strides == b.strides
