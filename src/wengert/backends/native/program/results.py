"""The results of a whole function: how what it computes gets out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ir.builder import kind_of_atom
from ....ir.graph import Atom, Function, Var
from ....ir.records import replace
from ....ir.types import Array, Seq
from ..containers.composed import mapped
from ..form.loopform import CODES, Assign, Expr, Slot
from ..lower import calling_convention as cc
from ..lower.lowering import BlockLowering
from ..lower.parameters import Parameters, parts_side_by_side
from ..lower.sequences.columns import GrowingList
from ..lower.sequences.sequence_forms import form_of_sequence
from ..lower.shapes import dims_of
from ..lower.sharing import Sharing
from ..values import values as nv
from ..values.complexes import by_part, hints_of_parts, is_complex, must_be_complex
from ..values.lineage import lineage
from ..values.loops import copy_elements
from .read_out import must_be_readable


class Unforeseen(Exception):
    """A result turned out to have another shape than that of the argument it seemed to be like."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


class Results:
    """The results of a function.

    Attributes:
        slots: what holds them when the procedure ends.
        outs: parameters that point to memory which the caller makes for some.
        out_views: what is there, by the number of the result.
    """

    def __init__(
        self, function: Function, parameters: Parameters, sharing: Sharing, unforeseen: set[int]
    ):
        self.function = function
        self.parameters = parameters
        self.sharing = sharing
        self.e = parameters.e
        self.unforeseen = unforeseen
        self.slots: list[Slot] = []
        self.outs: list[Slot] = []
        self.out_views: dict[int, nv.View] = {}

    def destinations(self) -> dict[Var, nv.View]:
        """Memory that the caller makes, for results that have the shape of an argument."""
        body = self.function.body
        sources = lineage(self.function)
        numbers = {var: k for k, var in enumerate(body.params)}
        found: dict[Var, nv.View] = {}
        for k, atom in enumerate(body.outs):
            root = sources(atom)
            if k in self.unforeseen:
                continue
            if not isinstance(root, Var) or root in found or not isinstance(root.kind, Array):
                continue
            like = self.parameters.given.get(numbers.get(root.shape_of, -1))
            if root.kind.dtype.startswith("complex"):
                continue
            if like is None or root in numbers or len(like.dims) != root.kind.rank:
                continue
            pointer = self.e.slot(f"{root.name or 'result'}_out", "ptr")
            code = _code_of(root, like)
            strides = tuple(map(self.e.let, nv.c_strides(like.dims)))
            view = nv.View(nv.Root(pointer), code, like.dims, strides, nv.ZERO, whole=True)
            found[root] = view
            self.outs.append(pointer)
            self.out_views[k] = view
        return found

    def sizes(self) -> dict[Slot, Expr]:
        """How many elements the arrays have that the caller makes."""
        return {view.pointer: nv.product(view.dims) for view in self.out_views.values()}

    def result(self, site: BlockLowering, k: int, atom: Atom) -> cc.Result:
        """What a result is, by number."""
        value = site.value(atom)
        if isinstance(value, nv.Lazy) and not value.dims and not _is_zero_d(atom):
            value = site.as_scalar(value)
        if isinstance(value, nv.Tuple) and is_complex(value):
            if k in self.out_views:
                raise Unforeseen(k)
            if dims_of(value.items[0]) or any(isinstance(x, nv.View) for x in value.items):
                return self._complex_array_result(site, atom, value)
            return self._complex_result(site, value)
        match value:
            case nv.Scalar() if k in self.out_views:
                raise Unforeseen(k)
            case nv.Scalar():
                slot = self.e.variable("result", value.expr)
                self.slots.append(slot)
                return cc.NumberResult(slot, self._kept_origin(value.origin))
            case nv.View() if isinstance(kind_of_atom(atom), Seq):
                raise nv.Unlowered("a list that is kept as an array, as a result")
            case nv.View() | nv.Lazy() | nv.Broadcast():
                return self._array_result(site, k, atom)
            case GrowingList():
                self._must_be_new(atom)
                params = self.function.body.params
                forms = {params[k]: form for k, form in self.parameters.forms.items()}
                return self._list_result(value, form_of_sequence(self.function, atom, forms))
            case nv.StaticValue(value=known) if known is None or isinstance(
                known, (str, bool, int)
            ):
                return cc.KnownResult(known)
            case _:
                raise nv.Unlowered("a result that is no number and no array")

    def _complex_result(self, site: BlockLowering, value: nv.Tuple) -> cc.ComplexResult:
        """A complex number; where it may turn out to be real, the Python form gives it then."""
        number = by_part(value, site.as_scalar)
        must_be_complex(self.e, [number])
        hints = hints_of_parts(number, "result")
        re, im = (
            self.e.variable(hint, x.expr) for hint, x in zip(hints, number.items, strict=True)
        )
        self.slots += (re, im)
        return cc.ComplexResult(re, im, self._kept_origin(number.items[0].origin))

    def _complex_array_result(
        self, site: BlockLowering, atom: Atom, value: nv.Tuple
    ) -> cc.ComplexArrayResult:
        """A complex array: its parts side by side in memory of their own."""
        views = [site.view(part) for part in value.items]
        if any(id(view.root) in self.parameters.roots for view in views):
            raise nv.Unlowered("a result that is an argument, or part of one")
        self._must_be_apart(atom, views)
        dims = views[0].dims
        whole = site.allocate((*dims, nv.integer(2)), "f64", ())
        for place, view in zip(
            parts_side_by_side(self.e, whole.root, dims, nv.c_strides(dims)), views, strict=True
        ):
            copy_elements(self.e, place, view)
        self.e.add(Assign(pointer := self.e.slot("result", "ptr"), whole.pointer))
        self.slots.append(pointer)
        sizes = tuple(self.e.variable("size", self.e.let(d)) for d in dims)
        self.slots += sizes
        return cc.ComplexArrayResult(pointer, sizes)

    def _list_result(self, value: GrowingList, form: str) -> cc.ListResult:
        """A list or tuple, in variables of the result; Python puts it together."""
        if any(id(root) in self.parameters.roots for root in value.column.roots()):
            raise nv.Unlowered("a result that is an argument, or part of one")
        must_be_readable(value.column)

        def kept(expr: Expr) -> Slot:
            slot = self.e.slot("result", expr.code)
            self.e.add(Assign(slot, expr))
            self.slots.append(slot)
            return slot

        return cc.ListResult(mapped(value, kept), form)

    def _kept_origin(self, origin: nv.Origin) -> nv.Origin:
        """Whose a result is: where that depends on the run, in a variable of its own."""
        if not isinstance(origin, nv.DynamicOwner):
            return origin
        found = self.e.variable("origin", origin.expr)
        self.slots.append(found)
        return replace(origin, expr=found)

    def _array_result(self, site: BlockLowering, k: int, atom: Atom) -> cc.Result:
        place = self.out_views.get(k)
        view = site.in_memory(atom)
        lent = self._lent(view)
        if lent is not None and place is not None:
            raise Unforeseen(k)
        if lent is not None:
            return self._part_of_argument(view, lent, atom)
        self._must_be_apart(atom, [view])
        if place is not None and view.root is place.root and view.whole:
            return cc.ArrayResult(view.pointer, view.code, view.dims, given=True)
        if place is not None:
            sizes = tuple(map(self.e.size, view.dims)), tuple(map(self.e.size, place.dims))
            if sizes[0] != sizes[1] or view.code != place.code:
                raise Unforeseen(k)
            copy_elements(self.e, place, view)
            return cc.ArrayResult(place.pointer, place.code, place.dims, given=True)
        if (
            view.root in [v.root for v in self.out_views.values()]
            or not view.whole
            or view.root.lasts
        ):
            view = site.copied(view)
        self.e.add(Assign(pointer := self.e.slot("result", "ptr"), view.pointer))
        self.slots.append(pointer)
        dims = tuple(self.e.variable("size", self.e.let(d)) for d in view.dims)
        self.slots += dims
        return cc.ArrayResult(pointer, view.code, dims, given=False)

    def _must_be_apart(self, atom: Atom, views: Sequence[nv.View]) -> None:
        """Leave a result to the Python form that is an argument there, or lies in one, and has been copied here."""
        if not self.sharing.of_arguments(atom):
            return
        for view in views:
            if view.root.lent is None:
                raise nv.Unlowered("a result that may be an argument, or part of one")
            self.e.exit_if(view.root.lent, "a result that is an argument, or part of one")

    def _must_be_new(self, atom: Atom) -> None:
        """Refuse a list that may be an argument's, or whose items may share memory."""
        if self.sharing.of_arguments(atom):
            raise nv.Unlowered("a list with an argument in it, or with part of one")
        if self.sharing.of(atom) & self.sharing.repeated:
            raise nv.Unlowered("a list whose items may share memory")

    def _lent(self, view: nv.View) -> int | None:
        """Which argument an array is, or a part of; None if it is none."""
        own = ((made.root, k) for k, made in self.parameters.own.items())
        return next(
            (k for root, k in own if root is view.root), self.parameters.roots.get(id(view.root))
        )

    def _part_of_argument(
        self, view: nv.View, k: int, atom: Atom
    ) -> cc.ArgumentResult | cc.ViewResult:
        """An argument, or another array in its memory."""
        given = self.parameters.given.get(k)
        if given is None:
            raise nv.Unlowered(
                "a result that is part of an argument that is a list or has complex numbers"
            )
        here = self.parameters.own.get(k, given)
        same = (view.dims, view.strides, view.offset) == (here.dims, here.strides, here.offset)
        if same and lineage(self.function)(atom) is self.function.body.params[k]:
            return cc.ArgumentResult(k)
        if here is not given and not given.whole:
            raise nv.Unlowered("a result that is part of an argument that is changed")
        words = [
            self.e.variable("part", self.e.let(x)) for x in (view.offset, *view.dims, *view.strides)
        ]
        self.slots += words
        start, *rest = words
        return cc.ViewResult(k, start, tuple(rest[: len(view.dims)]), tuple(rest[len(view.dims) :]))


def must_not_share_results(function: Function, sharing: Sharing) -> None:
    """Refuse results that share memory with each other, and not with an argument."""
    params = frozenset(function.body.params)
    of_results = [sharing.of(atom) - params for atom in function.body.outs]
    if len(frozenset().union(*of_results)) < sum(map(len, of_results)):
        raise nv.Unlowered("results that may share memory")


def _is_zero_d(atom: Atom) -> bool:
    return isinstance(atom, Var) and isinstance(atom.kind, Array) and atom.kind.rank == 0


def _code_of(var: Var, like: nv.View) -> Any:
    dtype = var.kind.dtype if isinstance(var.kind, Array) else ""
    return CODES.get(dtype, like.code)
