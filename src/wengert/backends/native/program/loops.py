"""Loops: `for` and `while`, by trial of what their variables are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ....ir.graph import FOR, UNDEFINED, WHILE, Atom, Eqn, Var, walk
from ....ir.types import BOOL, FLOAT, INT, Array, Kind
from ..containers.composed import words_of
from ..containers.items_by_number import items_in_order
from ..form import loopform as lf
from ..lower import branches, carried
from ..lower.carried import Holder
from ..lower.lowering import BlockLowering, lowers
from ..lower.plans import Plan, ReplacedPlan, Retry, RetryAll, plan_for
from ..lower.sequences.columns import GrowingList, Parts
from ..lower.sequences.lists import grown, like_item
from ..lower.sequences.sequences import growing, item_at, push
from ..prepare.writes import OF_DERIVATIVES, WRITES
from ..values import values as nv
from ..values.complexes import by_part, is_complex
from ..values.emitter import Emitter
from .control import settled, truth

INDEX_BITS = 48
"""No loop runs longer, and no array is larger."""


MOST_TRIES = 8


_OF_LISTS = WRITES - OF_DERIVATIVES | {"append_item", "drop"}
"""Ops that change a list in place which others may see."""


class Walk(NamedTuple):
    """What a loop iterates over: how many items, and how to find one."""

    length: lf.Expr
    item: Callable[[BlockLowering, lf.Expr], nv.Value]


def walk_over(site: BlockLowering, atom: Atom) -> Walk:
    """How to iterate over a value."""
    value = site.value(atom)
    match value:
        case nv.Range(start=start, count=count, step=step):

            def of_range(inner: BlockLowering, k: lf.Expr) -> nv.Value:
                inner.e.note_least(k, 0)
                expr = inner.e.let(nv.plus(start.expr, nv.times(k, step.expr)))
                least = inner.e.least(start.expr)
                if least is not None and isinstance(step.expr, lf.Constant) and step.expr.value > 0:
                    inner.e.note_least(expr, least)
                return nv.Scalar(expr, nv.PYTHON, INDEX_BITS)

            return Walk(count, of_range)
        case nv.Tuple() if is_complex(value):
            return _walk_over_complex(site.parts_in_memory(atom))
        case GrowingList():
            return Walk(value.length, lambda inner, k: item_at(inner.e, value, k))
        case nv.View() | nv.Lazy() | nv.Broadcast() if value.dims:
            view = site.in_memory(atom)
            return Walk(view.dims[0], lambda inner, k: row(inner, view, k))
        case nv.Tuple(items=items) if items:
            return Walk(nv.integer(len(items)), items_in_order(site, value))
        case _:
            raise nv.Unlowered("a loop over something that is no range, array or list of numbers")


def _walk_over_complex(parts: nv.Tuple) -> Walk:
    """How to iterate over a complex array."""
    re = parts.items[0]
    if isinstance(re, nv.Scalar):
        raise nv.Unlowered("a loop over a complex number")
    return Walk(re.dims[0], lambda inner, k: by_part(parts, lambda view: row(inner, view, k)))


def row(site: BlockLowering, array: nv.View, k: lf.Expr) -> nv.Value:
    """Row k of an array; a number if it has one axis."""
    if len(array.dims) == 1:
        return nv.Scalar(site.e.load(array, (k,)), nv.NUMPY)
    offset = site.e.let(nv.plus(array.offset, nv.times(k, array.strides[0])))
    return nv.View(array.root, array.code, array.dims[1:], array.strides[1:], offset)


@lowers("for", "while")
def lower_loop(site: BlockLowering, eqn: Eqn) -> list[nv.Value]:
    site.prepare(eqn)
    loop = _Loop(site, eqn)
    plans = [plan_for(value) for value in loop.given]
    for _ in range(MOST_TRIES):
        mark = _Mark(site.e)
        try:
            return loop.lower(plans)
        except RetryAll as retry:
            mark.restore(site.e)
            for k, plan in retry.plans.items():
                plans[k] = plan
    raise nv.Unlowered("a loop whose variables keep changing their types")


class _Mark:
    """How far an emitter has come, to start again from there."""

    def __init__(self, e: Emitter):
        self._statements = len(e.statements)
        self._owned = list(e.owned)
        self._known = e.knowledge()

    def restore(self, e: Emitter) -> None:
        del e.statements[self._statements :]
        e.owned[:] = self._owned
        e.forget(self._known)


class _Loop:
    """One loop equation."""

    def __init__(self, site: BlockLowering, eqn: Eqn):
        self.site = site
        self.eqn = eqn
        n = eqn.param("iterables", 0)
        self.iterables, self.initials = eqn.args[:n], eqn.args[n:]
        self.test = eqn.blocks[0] if eqn.op.name == "while" else None
        self.body = eqn.blocks[-1]
        self.items, self.params = self.body.params[:n], self.body.params[n:]
        results = list(self.body.outs)
        self.stop = results.pop(0) if eqn.param("stop", False) else None
        slots = len(self.initials)
        self.results, self.collected = results[:slots], results[slots:]
        self.reverse = bool(eqn.param("reverse", False))
        self.counted = self.test is None and self.stop is None
        self.walks = [walk_over(site, atom) for atom in self.iterables]
        self.given = [
            grown(site, self._or_unbound(settled(site, atom), var), var)
            for atom, var in zip(self.initials, self.params, strict=True)
        ]

    def _or_unbound(self, value: nv.Value, var: Var) -> nv.Value:
        """A number or an array in the place of one that has not been assigned when a loop begins."""
        codes: dict[Kind, lf.Code] = {FLOAT: "f64", INT: "i64", BOOL: "b1"}
        if not isinstance(value, nv.StaticValue) or value.value is not UNDEFINED.value:
            return value
        if var.kind in codes:
            return branches.unbound(codes[var.kind])
        match var.kind:
            case Array(dtype=dtype, rank=int(rank)) if dtype in lf.CODES and rank:
                return (
                    value
                    if self._is_read(var)
                    else branches.no_array(self.site, lf.CODES[dtype], rank)
                )
            case _:
                return value

    def _is_read(self, var: Var) -> bool:
        """Whether the body asks for a variable before it assigns it."""
        if self.test is not None:
            k = self.params.index(var)
            if any(self.test.params[k] in eqn.operands() for eqn in walk(self.test)):
                return True
        return any(var in eqn.operands() for eqn in walk(self.body))

    def lower(self, plans: Sequence[Plan]) -> list[nv.Value]:
        site = self.site
        walks = self.walks
        holders = [
            carried.hold(
                site,
                value,
                plan,
                var.name or "carried",
                takes_over=site.is_last_use(atom),
                apart=site.unit.is_apart(atom),
                stays_apart=site.unit.is_apart(var),
            )
            for atom, value, plan, var in zip(
                self.initials, self.given, plans, self.params, strict=True
            )
        ]
        count = self._count(walks)
        index = lf.Slot(site.e.names.fresh("k"), "i64")
        inner = site.inside(self.body)
        self._bind(inner, walks, holders, index)
        inner.run()
        steps = self._updates(inner, holders)
        changing = {index, *(slot for holder in holders for slot in holder.slots())}
        lists = self._collect(inner, index, count, changing)
        self._finish(inner, steps)
        self._write_loop(inner, holders, index, count)
        if self.counted and lists:
            site.e.add(lf.Assign(lists[0].length, count))
        lists = lists[:1] + [_apart(site.e, each) for each in lists[1:]]
        replaced = [carried.is_replaced(holder) for holder in holders]
        runs = any(replaced) and self._must_run(count)
        outs: list[nv.Value] = [
            carried.after_loop(site, holder, replaced=runs and its)
            for holder, its in zip(holders, replaced, strict=True)
        ]
        return [*outs, *lists]

    def _must_run(self, count: lf.Expr) -> bool:
        """Whether the loop has certainly run: exits if it has not, where the program writes to arrays."""
        if self.test is not None or not self.site.unit.changes_arrays:
            return False
        self.site.e.exit_if(lf.Apply("le", (count, nv.ZERO), "b1"), "a loop that does not run")
        return True

    def _count(self, walks: Sequence[Walk]) -> lf.Expr:
        if self.test is not None:
            return nv.ZERO
        e = self.site.e
        count = e.let(walks[0].length)
        for other in walks[1:]:
            size = e.let(other.length)
            if size != count and not self.eqn.param("aligned", False):
                count = e.apply("min", count, size)
        return count

    def _bind(
        self, inner: BlockLowering, walks: Sequence[Walk], holders: Sequence[Holder], index: lf.Slot
    ) -> None:
        for var, holder in zip(self.params, holders, strict=True):
            inner.values[var] = holder.value
        for var, over in zip(self.items, walks, strict=True):
            k: lf.Expr = index
            if self.reverse:
                k = inner.e.let(nv.minus(nv.minus(over.length, nv.ONE), index))
            inner.values[var] = over.item(inner, k)

    def _updates(self, inner: BlockLowering, holders: Sequence[Holder]) -> list[carried.Update]:
        """The next values of all that is carried.

        Raises:
            RetryAll: some are of types that their plans do not cover: each trial lowers all loops inside again.
        """
        steps: list[carried.Update] = []
        others: dict[int, Plan] = {}
        values = [settled(inner, atom) for atom in self.results]
        self.items_collected = [settled(inner, atom) for atom in self.collected]
        inner.write_all()
        for k, (holder, value) in enumerate(zip(holders, values, strict=True)):
            try:
                apart = inner.unit.is_apart(self.results[k])
                steps.append(carried.update(inner, holder, value, apart=apart))
            except Retry as retry:
                if isinstance(retry.plan, ReplacedPlan):
                    self._must_only_be_read(self.params[k])
                others[k] = retry.plan
            except nv.Unlowered:
                if not others:  # of which this may be a consequence
                    raise
        if others:
            raise RetryAll(others)
        return steps

    def _must_only_be_read(self, var: Var) -> None:
        """Refuse a list that a loop both changes and makes anew."""
        names = {var}
        for eqn in walk(self.body):
            if eqn.op in (FOR, WHILE):
                n = eqn.param("iterables", 0)
                pairs = zip(eqn.args[n:], eqn.blocks[-1].params[n:], strict=True)
                names |= {param for initial, param in pairs if initial in names}
            elif eqn.op.name in _OF_LISTS and eqn.args[0] in names:
                raise nv.Unlowered("a list that a loop changes and makes anew")

    def _collect(
        self, inner: BlockLowering, index: lf.Slot, count: lf.Expr, changing: set[lf.Slot]
    ) -> list[GrowingList]:
        """Append what is collected; all lists of a loop grow together."""
        lists = self.eqn.outs[len(self.initials) :]
        if not lists:
            return []
        changing |= set(lf.assigned_in(tuple(inner.e.statements)))
        together = nv.Tuple(tuple(self.items_collected))
        hint = next((var.name for var in lists if var.name), "saved")
        room = count if self.counted else None
        template = self._template(lists)
        changing |= {lf.Slot("", word.code) for word in words_of(template)}  # is no variable
        made = growing(self.site.e, template, hint, room, lambda expr: expr not in changing)
        if not self.counted:
            push(inner.e, made, together)
        elif self.reverse:
            place = inner.e.let(nv.minus(nv.minus(count, nv.ONE), index))
            made.column.put(inner.e, place, together)
        else:
            made.column.put(inner.e, index, together)
        assert isinstance(made.column, Parts)
        return [
            GrowingList(column, made.length, made.capacity, room, key=var)
            for var, column in zip(lists, made.column.columns, strict=True)
        ]

    def _template(self, lists: Sequence[Var]) -> nv.Tuple:
        """Items of what is collected; where it is going to hold numbers of several types, of any."""
        unit = self.site.unit
        return nv.Tuple(
            tuple(
                like_item(item, unit.of_lists, loose=True) if var in unit.loose else item
                for var, item in zip(lists, self.items_collected, strict=True)
            )
        )

    def _finish(self, inner: BlockLowering, steps: list[carried.Update]) -> None:
        stop = truth(inner, self.stop) if self.stop is not None else None
        carried.apply_updates(inner, steps)
        inner.release_owned()
        if stop is not None:
            inner.e.break_if(stop)

    def _write_loop(
        self, inner: BlockLowering, holders: Sequence[Holder], index: lf.Slot, count: lf.Expr
    ) -> None:
        body = tuple(inner.e.statements)
        if self.test is None:
            self.site.e.add(lf.For(index, count, body))
            return
        test = self.site.inside(self.test)
        for var, holder in zip(self.test.params, holders, strict=True):
            test.values[var] = holder.value
        test.run()
        condition = truth(test, self.test.outs[0])
        test.write_all()
        test.release_owned()
        self.site.e.add(lf.While(tuple(test.e.statements), condition, body))


def _apart(e: Emitter, made: GrowingList) -> GrowingList:
    """A list that has grown together with others, and grows and shrinks by itself from now on."""
    length = e.variable("length", made.length)
    return GrowingList(made.column, length, e.variable("room", made.capacity), made.count, made.key)
