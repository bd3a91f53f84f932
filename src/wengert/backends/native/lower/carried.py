"""What a loop carries, or a branch merges, as variables of the loop form.

What type a carried value has is found by trying: it starts with the type of the initial value; if the
body turns out to give another, `Retry` says what covers both, and the loop is lowered again.
"""

from __future__ import annotations

from ....ir.records import field, mutable_record, replace
from ..form.loopform import Apply, Assign, Constant, Expr, Release, Slot, assigned_in
from ..values.aliases import is_lent, note_copy
from ..values.complexes import hints_of_parts, is_complex, lifted
from ..values.emitter import Emitter, Names
from ..values.loops import copy_elements
from ..values.numbers import as_float_origin, exact_float, origin_expr
from ..values.values import ZERO, Root, Scalar, Tuple, Unlowered, Value, View, c_strides, product
from .lowering import BlockLowering
from .plans import (
    ArrayPlan,
    MemoryPlan,
    NumberPlan,
    Plan,
    ReplacedPlan,
    Retry,
    TuplePlan,
    complex_plan,
    covers,
    is_same,
    is_same_part,
    joined,
    origin_of,
)
from .sequences.columns import GrowingList
from .sequences.lists import has_numbers_alone, in_memory_as_list, like_item
from .sequences.sequences import empty, growing, item_at, lengths_of, push, reserve

MOST_COPIED = 16


@mutable_record
class Holder:
    """The variables of one carried value."""

    value: Value
    """What it is while it is carried."""
    plan: Plan
    slot: Slot | None = None
    origin: Slot | None = None
    parts: list[Holder] | None = None
    sizes: tuple[Slot, ...] = ()
    """How long an array is that changes its sizes."""
    bound: Slot | None = None
    lent: Slot | None = None
    """Whether an array is one of the caller's, where that is asked."""
    next_stands_in: bool = False
    """Whether what takes the place of an array may be a copy of one of the caller's."""

    def slots(self) -> list[Slot]:
        """All of its variables."""
        every = (self.slot, self.origin, self.bound, self.lent, *self.sizes)
        own = [slot for slot in every if slot is not None]
        if isinstance(self.plan, ReplacedPlan):
            own += lengths_of(self.value)
        return own + [slot for part in self.parts or () for slot in part.slots()]


def hold(
    site: BlockLowering,
    initial: Value,
    plan: Plan,
    hint: str,
    *,
    takes_over: bool,
    apart: bool = True,
    stays_apart: bool = True,
) -> Holder:
    """Variables that start with an initial value.

    `takes_over` says whether nobody else uses that from now on, `apart` whether it certainly lies in no argument's
    memory, and `stays_apart` whether no value does that these variables ever hold.
    """
    e = site.e
    match plan:
        case NumberPlan(among=among, bits=bits):
            expr, first = _as_planned(e, site.as_scalar(initial), plan)
            slot = e.variable(hint, expr)
            source = e.variable(f"{hint}_origin", first) if len(among) > 1 else None
            return Holder(Scalar(slot, origin_of(plan, source), bits), plan, slot, source)
        case ArrayPlan(in_place=True):
            return Holder(site.view(initial), plan)
        case ArrayPlan():
            holder = _hold_array(site, initial, plan, hint, takes_over=takes_over)
            if not stays_apart:
                first = is_lent(site.view(initial).root, apart=apart)
                holder.lent = holder.value.root.lent = e.variable(f"{hint}_lent", first)
            return holder
        case MemoryPlan() if isinstance(initial, Tuple):
            return Holder(in_memory_as_list(site, initial), plan)
        case ReplacedPlan(item=item):
            made = growing(e, like_item(item, site.unit.of_lists), hint)
            copy_list(site, made, initial)
            return Holder(made, plan)
        case TuplePlan(plans=plans) if isinstance(initial, (Tuple, Scalar)):
            initial = lifted(e, initial) if isinstance(initial, Scalar) else initial
            parts = [
                hold(
                    site, item, inner, part, takes_over=False, apart=apart, stays_apart=stays_apart
                )
                for item, inner, part in zip(
                    initial.items, plans, hints_of_parts(initial, hint), strict=True
                )
            ]
            items = tuple(part.value for part in parts)
            return Holder(Tuple(items, initial.form, initial.keys, initial.type), plan, parts=parts)
        case _:
            return Holder(initial, plan)


def _hold_array(
    site: BlockLowering, initial: Value, plan: ArrayPlan, hint: str, *, takes_over: bool
) -> Holder:
    """An array that a loop may replace by another: the loop has it for itself."""
    given = site.view(initial)
    own = takes_over and given.root in site.e.owned and given.whole
    view = site.owned_array(given if own else site.copied(given))
    if is_small(view) and not plan.varies:
        note_copy(view.root, of=given.root)
        return Holder(view, plan)
    slot = site.e.variable(hint, view.pointer)
    root = Root(slot, hint)
    note_copy(root, of=given.root)
    sizes = tuple(_size(site.e, dim, hint) for dim in view.dims) if plan.varies else ()
    dims = sizes or view.dims
    held = View(root, view.code, dims, c_strides(dims), ZERO, whole=True)
    bound = None
    if given.root.bound is not None:
        bound = root.bound = site.e.variable(f"{hint}_bound", given.root.bound)
    return Holder(held, plan, slot, sizes=sizes, bound=bound)


def _size(e: Emitter, size: Expr, hint: str) -> Slot:
    slot = e.variable(f"{hint}_size", size)
    e.note_least(slot, 0)
    return slot


def is_small(view: View) -> bool:
    """Whether an array has a known size, and so few elements that copying them costs nothing."""
    size = product(view.dims)
    return isinstance(size, Constant) and int(size.value) <= MOST_COPIED


def _as_planned(e: Emitter, value: Scalar, plan: NumberPlan) -> tuple[Expr, Expr]:
    if value.code == plan.code:
        return value.expr, origin_expr(value.origin)
    return exact_float(e, value), origin_expr(as_float_origin(value))


# --- the next value ---------------------------------------------------------------------------


@mutable_record
class Update:
    """What the variables of a carried value become at the end of an iteration."""

    assignments: list[tuple[Slot, Expr]]
    released: list[Slot]
    copies: list[tuple[View, View]] = field(default_factory=list[tuple[View, View]])
    """Small arrays whose elements become those of others, which nobody else sees."""
    lists: list[tuple[GrowingList, GrowingList]] = field(
        default_factory=list[tuple[GrowingList, GrowingList]]
    )
    """Lists whose items do, likewise."""


def update(site: BlockLowering, holder: Holder, value: Value, *, apart: bool = True) -> Update:
    """The next value; computed now, assigned when all the others have been computed, too.

    `apart` says whether it certainly lies in no argument's memory.

    Raises:
        Retry: it is of a type that the plan does not cover.
    """
    match holder.plan:
        case NumberPlan() as plan:
            if is_complex(value):
                raise Retry(complex_plan(site, holder.value, value))
            scalar = site.as_scalar(value)
            if not covers(plan, scalar):
                raise Retry(joined(plan, scalar))
            expr, origin = _as_planned(site.e, scalar, plan)
            assert holder.slot is not None
            pairs = [(holder.slot, expr)]
            if holder.origin is not None:
                pairs.append((holder.origin, origin))
            return Update(pairs, [])
        case ArrayPlan() as plan:
            return _update_array(site, holder, value, plan, apart=apart)
        case ReplacedPlan() if isinstance(value, GrowingList) and value is not holder.value:
            _must_be_made_here(site.e, value)
            return Update([], [], lists=[(holder.value, value)])
        case TuplePlan() as plan if isinstance(value, Tuple):
            return _update_tuple(site, holder, value, plan, apart=apart)
        case TuplePlan() as plan if is_complex(holder.value) and isinstance(value, Scalar):
            return _update_tuple(site, holder, lifted(site.e, value), plan, apart=apart)
        case TuplePlan() if isinstance(value, GrowingList) and is_list_of_numbers(holder.value):
            raise Retry(MemoryPlan())
        case _:
            if not is_same(holder.value, value):
                if isinstance(holder.value, GrowingList) and isinstance(value, GrowingList):
                    raise Retry(ReplacedPlan(_item_of(value)))
                raise Unlowered("a variable that a loop changes from one kind of value to another")
            return Update([], [])


def is_list_of_numbers(value: Value) -> bool:
    """Whether a list has a known length, and numbers as its items."""
    if not isinstance(value, Tuple) or value.form != "list":
        return False
    return all(isinstance(item, Scalar) for item in value.items)


def _update_array(
    site: BlockLowering, holder: Holder, value: Value, plan: ArrayPlan, *, apart: bool
) -> Update:
    before: View = holder.value
    after = site.view(value)
    if after.code != before.code or len(after.dims) != len(before.dims):
        raise Unlowered("an array that a loop changes to one of another type or rank")
    holder.next_stands_in |= after.root.of_caller or after.root.stands_in
    if is_same_part(after, before):
        return Update([], [])
    varies = plan.varies or before.root.bound is not None or _varies(site.e, before, after)
    if plan.in_place or varies != plan.varies:
        raise Retry(ArrayPlan(in_place=False, varies=varies))
    if not varies:
        for a, b in zip(after.dims, before.dims, strict=True):
            site.e.must_be_same(a, b, "an array that a loop carries changes its shape")
    note_copy(before.root, of=after.root)
    lent = [] if holder.lent is None else [(holder.lent, is_lent(after.root, apart=apart))]
    if is_small(before):
        own = after.root in site.e.owned and after.whole
        return Update([*lent], [], [(before, after if own else site.copied(after))])
    bounds = [(holder.bound, is_bound(after))] if holder.bound is not None else []
    after = site.owned_array(after)
    assert holder.slot is not None
    old = site.e.variable("old", holder.slot)
    sizes = zip(holder.sizes, after.dims if varies else (), strict=True)
    return Update([(holder.slot, after.pointer), *sizes, *bounds, *lent], [old])


def is_bound(view: View) -> Expr:
    """Whether there is an array at all."""
    return view.root.bound or Constant(True, "b1")


def _varies(e: Emitter, before: View, after: View) -> bool:
    """Whether the next size of an array is found in the loop, or known to be another."""
    found_here = set(assigned_in(tuple(e.statements)))
    for a, b in zip(map(e.size, after.dims), map(e.size, before.dims), strict=True):
        known = isinstance(a, Constant) and isinstance(b, Constant)
        if a != b and (known or b in _origins(e, a) or a in found_here):
            return True
    return False


def _origins(e: Emitter, size: Expr) -> set[Expr]:
    """The variables from which a size is computed."""
    computed = {slot: expr for expr, slot in e.named.items()}
    found, pending = set[Expr](), [size]
    while pending:
        expr = pending.pop()
        if expr in found:
            continue
        found.add(expr)
        expr = computed.get(expr, expr) if isinstance(expr, Slot) else expr
        pending += expr.args if isinstance(expr, Apply) else ()
    return found


def _update_tuple(
    site: BlockLowering, holder: Holder, value: Tuple, plan: TuplePlan, *, apart: bool
) -> Update:
    assert holder.parts is not None
    if is_complex(value) != is_complex(holder.value):
        raise Unlowered("a variable that a loop changes from a complex number to a tuple")
    if len(value.items) != len(holder.parts):
        raise Unlowered("a tuple that changes its length")
    total = Update([], [])
    for k, (part, item) in enumerate(zip(holder.parts, value.items, strict=True)):
        try:
            step = update(site, part, item, apart=apart)
        except Retry as retry:
            plans = [*plan.plans]
            plans[k] = retry.plan
            raise Retry(TuplePlan(plans)) from None
        total.assignments += step.assignments
        total.released += step.released
        total.copies += step.copies
        total.lists += step.lists
    return total


def apply_updates(site: BlockLowering, updates: list[Update]) -> None:
    """Give all carried values their next values at once."""
    e = site.e
    pairs = [pair for step in updates for pair in step.assignments if pair[0] != pair[1]]
    targets = {slot for slot, _ in pairs}
    ready = [(slot, e.variable("next", v) if v in targets else v) for slot, v in pairs]
    for target, source in (pair for step in updates for pair in step.copies):
        copy_elements(e, target, source)
    lists = [pair for step in updates for pair in step.lists]
    if len({id(source) for _, source in lists}) < len(lists):
        raise Unlowered("one list by two names that a loop gives to another")
    for made, source in lists:
        copy_list(site, made, source)
    for slot, value in ready:
        e.add(Assign(slot, value))
    for step in updates:
        for old in step.released:
            e.add(Release(old))


def _item_of(value: GrowingList) -> Value:
    """An item of a list of numbers, of records of them, or of such lists."""
    item = value.column.item(Emitter(Names()), ZERO)
    if isinstance(item, GrowingList):
        _item_of(item)
    elif not has_numbers_alone(item):
        raise Unlowered("a list of something else than numbers that a loop makes anew")
    return item


def _must_be_made_here(e: Emitter, value: GrowingList) -> None:
    if any(root not in e.owned for root in value.column.roots()):
        raise Unlowered("a list that a loop gives another name")


def copy_list(site: BlockLowering, made: GrowingList, source: GrowingList | Tuple) -> None:
    """Give a list the items of another."""
    e = site.e
    empty(e, made)
    if isinstance(source, Tuple):
        for item in source.items:
            push(e, made, item)
        return
    count = e.variable("count", source.length)
    reserve(e, made, count)
    with e.loop(count) as (index, inner):
        made.column.put(inner, index, item_at(inner, source, index))


def is_replaced(holder: Holder) -> bool:
    """Whether a loop that runs at all puts an array of its own in the place of the caller's."""
    held = isinstance(holder.plan, ArrayPlan) and not holder.plan.in_place
    return held and holder.value.root.stands_in and not holder.next_stands_in


def after_loop(site: BlockLowering, holder: Holder, *, replaced: bool) -> Value:
    """What is carried, once the loop is over; `replaced`: it is not what it was before."""
    value = holder.value
    if replaced:
        before = value.root
        root = Root(before.pointer, before.name, bound=before.bound, lent=before.lent)
        value = replace(value, root=root)
    if isinstance(holder.plan, ArrayPlan) and not holder.plan.in_place:
        site.e.owned.append(value.root)
    return value
