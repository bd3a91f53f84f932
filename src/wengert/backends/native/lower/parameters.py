"""The parameters of a whole function: what its arguments are in the loop form."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ....ir.graph import Var
from ..form.loopform import SIZES, Allocate, Expr, Slot
from ..values import values as nv
from ..values.complexes import complex_number, complex_of
from ..values.emitter import Emitter
from ..values.loops import copy_elements
from . import calling_convention as cc
from .sequences.columns import Arrays, Column, GrowingList, ListsOfOneLength, Numbers, Parts


class Writes(Exception):
    """The function turned out to write to a parameter."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


class Parameters:
    """The parameters that have been made.

    Attributes:
        written: those that the function writes to, by number.
        slots: what stands for them in the procedure.
        sizes: the sizes that arrays have, the last parameters.
        given: the arrays of the caller, by parameter.
        own: the function's own copies of those that it writes to.
        roots: which parameter the memory is of, by its identity.
        forms: whether sequences among them are lists or tuples, by number.
    """

    def __init__(self, e: Emitter, written: set[int], leaves: Sequence[cc.Leaf]):
        self.e = e
        self.written = written
        self.slots: list[Slot] = []
        self.given: dict[int, nv.View] = {}
        self.own: dict[int, nv.View] = {}
        self.roots: dict[int, int] = {}
        self.forms: dict[int, str] = {}
        self._kept: list[nv.Root] = []
        arrays = (array for leaf in leaves for array in cc.arrays_in(leaf))
        numbers = [k for leaf in arrays for k in leaf.sizes if k is not None]
        count = 1 + max(numbers, default=-1)
        self.sizes = [e.slot(f"n{k}" if k else "n", "i64") for k in range(count)]
        e.settled.update(self.sizes)
        for size in self.sizes:
            e.note_least(size, 0)

    def value(self, k: int, var: Var, leaf: cc.Leaf) -> nv.Value:
        """What a parameter holds."""
        hint = var.name or "x"
        match leaf:
            case cc.NumberLeaf(code=code, numpy=numpy):
                slot = self.e.slot(hint, code)
                self.slots.append(slot)
                self.e.settled.add(slot)
                return nv.Scalar(slot, nv.NUMPY if numpy else nv.PYTHON, 64)
            case cc.ComplexLeaf(numpy=numpy):
                parts = [self.e.slot(f"{hint}_{part}", "f64") for part in ("re", "im")]
                re, im = parts
                self.slots += parts
                self.e.settled.update(parts)
                return complex_number(re, im, nv.NUMPY if numpy else nv.PYTHON)
            case cc.ArrayLeaf():
                return self._array(k, hint, leaf)
            case cc.ComplexArrayLeaf():
                return self._complex_array(k, hint, leaf)
            case cc.ListLeaf(item=item, form=form):
                self.forms[k] = form
                return self._list(k, hint, item)
            case cc.KnownLeaf(value=value):
                return nv.StaticValue(value)

    def _array(self, k: int, hint: str, leaf: cc.ArrayLeaf) -> nv.View:
        pointer = self.e.slot(hint, "ptr")
        self.slots.append(pointer)
        dims = self._dims(leaf)
        strides: tuple[Expr, ...] = tuple(map(self.e.let, nv.c_strides(dims)))
        if not leaf.contiguous:
            slots = [self.e.slot(f"{hint}_stride", "i64") for _ in dims]
            self.slots += slots
            strides = tuple(slots)
        root = nv.Root(pointer, hint, of_caller=True, lasts=k not in self.written)
        view = nv.View(root, leaf.code, dims, strides, nv.ZERO, whole=leaf.contiguous)
        self.given[k] = view
        if k not in self.written:
            self.roots[id(root)] = k
            self._kept.append(root)
            return view
        copy = self.e.slot(f"{hint}_new", "ptr")
        self.e.add(Allocate(copy, self.e.let(nv.product(dims)), leaf.code))
        own = nv.View(
            nv.Root(copy, hint, of_caller=True),
            leaf.code,
            dims,
            nv.c_strides(dims),
            nv.ZERO,
            whole=True,
        )
        copy_elements(self.e, own, view)
        self.own[k] = own
        return own

    def _complex_array(self, k: int, hint: str, leaf: cc.ComplexArrayLeaf) -> nv.Tuple:
        """The parts of an array: each is every other number in its memory."""
        if k in self.written:
            raise nv.Unlowered("a complex array of the caller that the function changes")
        pointer = self.e.slot(hint, "ptr")
        self.slots.append(pointer)
        dims = self._dims(leaf)
        strides = nv.c_strides(dims)
        if not leaf.contiguous:
            slots = tuple(self.e.slot(f"{hint}_stride", "i64") for _ in dims)
            self.slots += slots
            strides = slots
        root = nv.Root(pointer, hint, of_caller=True, lasts=True)
        self.roots[id(root)] = k
        self._kept.append(root)
        return complex_of(*parts_side_by_side(self.e, root, dims, strides))

    def _list(self, k: int, hint: str, item: cc.ItemLeaf) -> GrowingList:
        if k in self.written:
            raise nv.Unlowered("a list of the caller that the function changes")
        length = self.e.slot(f"{hint}_length", "i64")
        self.slots.append(length)
        return GrowingList(self._column(k, hint, item), length, length)

    def _column(self, k: int, hint: str, item: cc.ItemLeaf) -> Column:
        if isinstance(item, cc.PartsLeaf):
            names = [f"{hint}_{key}" if str(key).isidentifier() else hint for key in item.keys]
            pairs = zip(names, item.parts, strict=True)
            columns = [self._column(k, name, part) for name, part in pairs]
            return Parts(columns, nv.Tuple((), item.form, item.keys, item.type))
        if isinstance(item, cc.RowsLeaf):
            count = self.e.slot(f"{hint}_count", "i64")
            self.slots.append(count)
            return ListsOfOneLength(self._column(k, hint, item.item), count)
        pointer = self.e.slot(hint, "ptr")
        self.slots.append(pointer)
        root = nv.Root(pointer, hint, lasts=True)
        self.roots[id(root)] = k
        self._kept.append(root)
        if isinstance(item, cc.ArrayLeaf):
            return Arrays(root, item.code, self._dims(item))
        return Numbers(root, item.code, nv.NUMPY if item.numpy else nv.PYTHON, 64)

    def _dims(self, leaf: cc.ArrayLeaf | cc.ComplexArrayLeaf) -> tuple[Expr, ...]:
        return tuple(nv.ONE if n is None else self.sizes[n] for n in leaf.sizes)

    def on_write(self, root: nv.Root) -> None:
        """Note that something is written to: if it is the memory of a parameter, that has to be known before."""
        k = self.roots.get(id(root))
        if k is not None:
            raise Writes(k)

    def must_not_overlap(self) -> None:
        """Leave arguments that share memory, one of which is written to, to the Python form."""
        for a, b in combinations(self.given, 2):
            if not self.written.isdisjoint((a, b)):
                (from_a, to_a), (from_b, to_b) = (_extent(self.e, self.given[k]) for k in (a, b))
                apart = self.e.apply(
                    "or",
                    self.e.apply("le", to_a, from_b, code="b1"),
                    self.e.apply("le", to_b, from_a, code="b1"),
                )
                self.e.exit_if(self.e.apply("not", apart), "arguments that share memory")

    def write_back(self) -> None:
        """Write to the arrays of the caller what has been written to copies of them."""
        for k, own in self.own.items():
            copy_elements(self.e, self.given[k], own)


def parts_side_by_side(
    e: Emitter, root: nv.Root, dims: tuple[Expr, ...], strides: tuple[Expr, ...]
) -> tuple[nv.View, nv.View]:
    """The parts of an array of complex numbers in memory; its strides count complex numbers."""
    doubled = tuple(e.let(nv.times(stride, nv.integer(2))) for stride in strides)
    re, im = (nv.View(root, "f64", dims, doubled, nv.integer(k)) for k in (0, 1))
    return re, im


def _extent(e: Emitter, view: nv.View) -> tuple[Expr, Expr]:
    """The addresses between which the elements of an array lie."""
    base = e.apply("address", view.pointer, code="i64")
    low: Expr = nv.ZERO
    high: Expr = nv.ONE
    for dim, stride in zip(view.dims, view.strides, strict=True):
        reach = e.let(nv.times(nv.minus(dim, nv.ONE), stride))
        low = nv.plus(low, e.apply("min", reach, nv.ZERO) if not view.whole else nv.ZERO)
        high = nv.plus(high, e.apply("max", reach, nv.ZERO) if not view.whole else reach)
    size = nv.integer(SIZES[view.code])
    start = e.let(nv.plus(base, e.let(nv.times(e.let(low), size))))
    return start, e.let(nv.plus(base, e.let(nv.times(e.let(high), size))))
