"""Groups as loop nests."""

from __future__ import annotations

from collections.abc import Sequence

from ..form.loopform import Apply, Assign, Code, Constant, Expr, For, Load, Slot, Store
from ..values.emitter import Emitter
from ..values.loops import fill
from ..values.promotion import converted
from ..values.strides import is_contiguous, replaced_flat
from ..values.values import NUMPY, ONE, ZERO, Array, Broadcast, Lazy, Scalar, View, product
from .groups import Dims, Group, Mapped, Reduced, Reduction
from .memory import Memory


def write(site: Memory, group: Group) -> None:
    """Write a group down as a loop nest."""
    entries = _needed(site, group)
    if entries:
        _Nest(site, group.dims, entries).write()


def _needed(site: Memory, group: Group) -> list[Mapped | Reduced]:
    """The operations whose results are used, by the program or by others of these."""
    used: set[int] = set()
    entries: list[Mapped | Reduced] = []
    for entry in reversed(group.entries):
        if site.is_needed(entry.out) or id(entry.out) in used:
            entries.append(entry)
            operands = entry.operands if isinstance(entry, Mapped) else (entry.operand,)
            used.update(id(x) for x in operands if isinstance(x, Lazy))
    return entries[::-1]


class _Nest:
    """The loop nest of a group."""

    def __init__(self, site: Memory, dims: Dims, entries: Sequence[Mapped | Reduced]):
        self.site = site
        self.entries = entries
        placed = [entry.out.place for entry in entries]
        whole = all(place is None or is_contiguous(place.part) for place in placed)
        self.flat = whole and len(dims) > 1 and _is_flat(dims, entries)
        self.dims = (product(dims),) if self.flat else dims
        self.full_dims = dims
        self.stored: dict[int, View] = {}
        self.added: set[int] = set()
        self.sums: dict[int, Slot] = {}
        self.loaded: dict[tuple[Slot, Expr], Expr] = {}

    def write(self) -> None:
        e = self.site.e
        for entry in self.entries:
            place = entry.out.place
            if place is not None:
                self.stored[id(entry.out)] = place.part
                self.added |= {id(entry.out)} if place.adds else set()
            elif isinstance(entry, Mapped):
                if self.site.is_needed(entry.out):
                    self.stored[id(entry.out)] = self.site.allocate(
                        entry.out.dims, entry.out.code, entry.out.names
                    )
            elif entry.out.dims and not self._in_register(entry):
                self.stored[id(entry.out)] = self._filled(entry)
        self._level(e, 0, ())
        for entry in self.entries:
            entry.out.result = self._result(entry)
            entry.out.element = None

    def _result(self, entry: Mapped | Reduced) -> View | Scalar | None:
        if isinstance(entry, Reduced) and not entry.out.dims:
            return Scalar(self.site.e.let(self.sums[id(entry.out)]), NUMPY)
        return self.stored.get(id(entry.out))

    def _filled(self, entry: Reduced) -> View:
        """Memory in which the results of a reduction along other axes than the last are added up."""
        out = entry.out
        view = self.site.allocate(out.dims, out.code, out.names)
        start = Constant(entry.row.start(out.code), out.code)
        fill(self.site.e, view, start)
        return view

    def _depth(self, entry: Reduced) -> int:
        """Inside how many loops a reduction starts."""
        return 0 if self.flat or not entry.out.dims else min(entry.axes)

    def _in_register(self, entry: Reduced) -> bool:
        """Whether the axes of a reduction are the last ones, or all."""
        rank = len(self.full_dims)
        return self.flat or sorted(entry.axes) == list(range(rank - len(entry.axes), rank))

    # --- levels of the nest ---------------------------------------------------------------

    def _level(self, e: Emitter, depth: int, indices: tuple[Expr, ...]) -> None:
        started = [
            entry
            for entry in self.entries
            if isinstance(entry, Reduced)
            and self._in_register(entry)
            and self._depth(entry) == depth
        ]
        for entry in started:
            out = entry.out
            start = Constant(entry.row.start(out.code), out.code)
            self.sums[id(out)] = e.variable(out.names[0].name if out.names else "total", start)
            if out.dims and id(out) not in self.stored:
                self.stored[id(out)] = self.site.allocate(out.dims, out.code, out.names)
        if depth == len(self.dims):
            self._element(e, indices)
        else:
            index = Slot(e.names.fresh("ijklmn"[depth] if depth < 6 else "i"), "i64")
            inner = e.block()
            self._level(inner, depth + 1, (*indices, index))
            innermost = depth == len(self.dims) - 1
            count = e.let(self.dims[depth])
            e.add(For(index, count, tuple(inner.statements), independent=innermost))
        for entry in started:
            if entry.out.dims:
                view = self.stored[id(entry.out)]
                e.store(view, indices[: len(entry.out.dims)], self.sums[id(entry.out)])

    def _element(self, e: Emitter, indices: tuple[Expr, ...]) -> None:
        self.loaded.clear()
        for entry in self.entries:
            if isinstance(entry, Mapped):
                args = [
                    self._operand(e, x, indices, "b1" if entry.is_condition(k) else entry.code)
                    for k, x in enumerate(entry.operands)
                ]
                value = entry.row.expand(e, args, entry.code)
                entry.out.element = value
                view = self.stored.get(id(entry.out))
                if view is not None:
                    self._store(e, entry.out, view, self._at(e, view, indices), value)
            else:
                self._add(e, entry, indices)

    def _store(self, e: Emitter, out: Lazy, view: View, at: Expr, value: Expr) -> None:
        if id(out) in self.added:
            value = e.apply("add", e.let(Load(view.pointer, at, view.code)), value)
        e.add(Store(view.pointer, at, value))

    def _add(self, e: Emitter, entry: Reduced, indices: tuple[Expr, ...]) -> None:
        out = entry.out
        value = converted(e, self._element_of(e, entry.operand, indices), out.code)
        slot = self.sums.get(id(out))
        if slot is not None:
            e.add(Assign(slot, _stepped(entry.row, slot, value)))
            return
        view = self.stored[id(out)]
        kept = [index for k, index in enumerate(indices) if k not in entry.axes]
        before = e.load(view, kept)
        e.store(view, kept, _stepped(entry.row, before, value))

    def _operand(
        self, e: Emitter, x: Scalar | Array, indices: tuple[Expr, ...], code: Code
    ) -> Expr:
        return converted(e, self._element_of(e, x, indices), code)

    def _element_of(self, e: Emitter, x: Scalar | Array, indices: tuple[Expr, ...]) -> Expr:
        match x:
            case Scalar(expr=expr):
                return expr
            case Broadcast(element=element, code=code):
                return converted(e, element.expr, code)
            case View():
                return self._loaded(e, x, self._at(e, x, indices))
            case _ if x.result is not None:
                return self._element_of(e, x.result, indices)
            case _:
                assert x.element is not None
                return x.element

    def _loaded(self, e: Emitter, view: View, index: Expr) -> Expr:
        """An element, which is read once: a nest writes to nothing that it reads."""
        place = view.pointer, index
        if place not in self.loaded:
            self.loaded[place] = e.let(Load(view.pointer, index, view.code))
        return self.loaded[place]

    def _at(self, e: Emitter, view: View, indices: tuple[Expr, ...]) -> Expr:
        """Where the element of an operand is that belongs to an element of the nest."""
        if self.flat:
            return e.position(replaced_flat(view), indices) if view.dims else view.offset
        own = indices[len(indices) - len(view.dims) :]
        repeated = [ZERO if dim == ONE else k for k, dim in zip(own, view.dims, strict=True)]
        return e.position(view, repeated)


def _stepped(row: Reduction, before: Expr, value: Expr) -> Expr:
    op = row.step
    if value.code not in ("f64", "f32"):
        op = {"maximum": "max", "minimum": "min", "add_any": "add", "mul_any": "mul"}.get(op, op)
    return Apply(op, (before, value), value.code)


def _is_flat(dims: Dims, entries: Sequence[Mapped | Reduced]) -> bool:
    """Whether a nest can be one loop: no operand is repeated along an axis or out of order."""
    for entry in entries:
        if isinstance(entry, Reduced) and entry.out.dims:
            return False
        operands = entry.operands if isinstance(entry, Mapped) else (entry.operand,)
        for x in operands:
            view = x.result if isinstance(x, Lazy) else x
            if (
                isinstance(view, View)
                and view.dims
                and not (view.dims == dims and is_contiguous(view))
            ):
                return False
    return True
