"""A whole function: its parameters and results, and the procedure in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from ...ir.builder import kind_of_atom
from ...ir.graph import FOR, IF, WHILE, Atom, Eqn, Function, Var, walk, with_called
from ...ir.records import replace
from ...ir.types import Array, Seq
from . import fusion
from .arena import in_arena
from .base_cases import with_base_cases_in_place
from .border import (
    ArgumentResult,
    ArrayLeaf,
    ArrayResult,
    ComplexArrayLeaf,
    ComplexArrayResult,
    ComplexLeaf,
    ComplexResult,
    KnownLeaf,
    KnownResult,
    Leaf,
    ListLeaf,
    ListResult,
    NumberLeaf,
    NumberResult,
    Result,
    ViewResult,
)
from .columns import Growing, Learned, Loosened, Numbers, Widened
from .complexes import (
    by_part,
    complex_number,
    complex_of,
    hints_of_parts,
    is_complex,
    must_be_complex,
)
from .composed import mapped
from .conditional_words import with_conditional_words
from .economy import compact, frugal
from .emitter import Emitter
from .factored import factored
from .kept import layouts_in
from .lean_calls import with_lean_calls
from .loopform import CODES, SIZES, Allocate, Assign, Expr, Procedure, Slot
from .lowering import Site, Unit, changes_arrays
from .one_sweep import in_one_sweep
from .parallel import spread
from .read_out import must_be_readable
from .recompute import recomputed
from .record_words import without_unread_words
from .resets import have_resets, with_resets
from .reuse import with_memory_reused
from .run_once import run_once
from .sequence_forms import form_of_sequence
from .shapes import dims_of
from .shared_words import with_shared_words
from .untouched import with_early_reads
from .values import (
    NUMPY,
    OF_DOUBLES,
    ONE,
    PYTHON,
    SINGLE,
    ZERO,
    Delayed,
    Known,
    Origin,
    Repeated,
    Root,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    Whose,
    c_strides,
    integer,
    minus,
    plus,
    product,
    times,
)


class Lowered(NamedTuple):
    """A function in the loop form, and what its parameters and results are.

    Attributes:
        procedures: the function itself, and those that it calls.
        leaves: what each leaf of the arguments is.
        sizes: how many different sizes the arrays have; they are the last parameters.
        results: what each leaf of the result is.
        written: the parameters, by number, that the function changes.
    """

    name: str
    procedures: tuple[Procedure, ...]
    leaves: tuple[Leaf, ...]
    sizes: int
    results: tuple[Result, ...]
    written: frozenset[int]


class Writes(Exception):
    """The function turned out to write to a parameter."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


class Resets(Exception):
    """The program turned out to give up records before it ends."""


class Unforeseen(Exception):
    """A result turned out to have another shape than that of the argument it seemed to be like."""

    def __init__(self, number: int):
        super().__init__()
        self.number = number


def read_from_outside(function: Function) -> list[tuple[Any, str]]:
    """The global values that a function reads: in what, and under which name."""
    found: dict[tuple[int, str], tuple[Any, str]] = {}
    for each in with_called(function):
        for eqn in walk(each.body):
            if eqn.op.name == "global":
                holder, key = eqn.param("holder"), eqn.param("key")
                found[id(holder), key] = (holder, key)
    return list(found.values())


def lower(
    function: Function,
    leaves: Sequence[Leaf],
    prepare: Callable[[Function], Function],
    *,
    parallel: bool = False,
) -> Lowered:
    """The loop form of a function for arguments with these leaves.

    The leaves of the arguments are followed by those of what it reads from outside. Functions that it
    calls are prepared first. `parallel` has loops spread over threads.

    Raises:
        Unlowered: something in it has no native form.
    """
    function = with_early_reads(factored(recomputed(in_one_sweep(run_once(function)))), prepare)
    found = Found(set(), set(), OF_DOUBLES, {}, set(), resets=False)
    while True:
        try:
            return _Lowering(function, leaves, found, Unit(prepare), parallel=parallel).run()
        except Writes as error:
            found.written.add(error.number)
        except Widened:
            if SINGLE in found.of_lists:
                raise Unlowered("a list of numbers of different types") from None
            found = found._replace(of_lists=OF_DOUBLES | {SINGLE})
        except Resets:
            found = found._replace(resets=True)
        except Loosened as error:
            found.loose.add(error.key)
        except Learned as error:
            found.learned[error.key] = error.item
        except Unforeseen as error:
            found.unforeseen.add(error.number)


class Found(NamedTuple):
    """What turned out when the function was lowered before.

    Attributes:
        written: the parameters that it changes.
        unforeseen: the results whose memory the caller cannot make.
        of_lists: whose the floats may be that lists hold.
        learned: items of lists of which the program itself says nothing.
        loose: lists that hold numbers of several types.
        resets: whether it gives up records before it ends.
    """

    written: set[int]
    unforeseen: set[int]
    of_lists: frozenset[int]
    learned: dict[Any, Value]
    loose: set[Any]
    resets: bool


class _Lowering:
    def __init__(
        self,
        function: Function,
        leaves: Sequence[Leaf],
        found: Found,
        unit: Unit,
        *,
        parallel: bool,
    ):
        self.function = function
        self.parallel = parallel
        self.leaves = tuple(leaves)
        self.written, self.unforeseen = found.written, found.unforeseen
        unit.of_lists, unit.learned, unit.loose = found.of_lists, found.learned, found.loose
        unit.resets = found.resets
        self.unit = unit
        self.unit.on_write = self._on_write
        self.unit.changes_arrays = changes_arrays(function)
        self.unit.is_kept = lambda root: id(root) in self.roots
        self.e = Emitter(self.unit.names)
        self.params: list[Slot] = []
        self.given: dict[int, View] = {}
        """The arrays of the caller, by parameter."""
        self.roots: dict[int, int] = {}
        self.results: list[Slot] = []
        self._kept: list[Root] = []

    def run(self) -> Lowered:
        name = self.unit.names.fresh(self.function.name)
        values: dict[Var, Value] = {}
        count = 1 + max(
            (k for leaf in self.leaves if isinstance(leaf, ArrayLeaf | ComplexArrayLeaf) for k in leaf.sizes
             if k is not None), default=-1,
        )  # fmt: skip
        self.symbols = [self._slot(f"n{k}" if k else "n", "i64") for k in range(count)]
        self.e.settled.update(self.symbols)
        body = self.function.body
        outside = read_from_outside(self.function)
        inside = [Var(name=key) for _, key in outside]
        given = zip((*body.params, *inside), self.leaves, strict=True)
        for k, (var, leaf) in enumerate(given):
            values[var] = self._parameter(k, var, leaf)
        for (holder, key), var in zip(outside, inside, strict=True):
            self.unit.outside[id(holder), key] = values[var]
        if self.written:
            self._must_not_overlap()
        destinations = self._destinations()
        site = Site(self.unit, self.e, values, body, destinations)
        site.run()
        results = tuple(self._result(site, k, atom) for k, atom in enumerate(body.outs))
        self._write_back(site)
        params = (*self.params, *self.outs, *self.symbols)
        main = Procedure(name, params, tuple(self.results), tuple(self.e.statements))
        program = [in_arena(compact(p)) for p in (main, *self.unit.procedures.values())]
        made = (result for callee in self.unit.callees.values() for result in callee.results)
        layouts = layouts_in(made)
        program = without_unread_words(program, layouts)
        program = with_shared_words(program, layouts, self.unit.names)
        main, *others = with_conditional_words(program, layouts, self.unit.names)
        main = with_memory_reused(main, self._sizes_of_results())
        others = [with_memory_reused(p, {}) for p in others]
        if self.parallel:
            main, parts = spread(main, others, self._sizes_of_results(), self.unit.names)
            others += parts
        procedures = with_resets([*map(frugal, (main, *others))], self.unit.names)
        if self.unit.leaves_memory and not self.unit.resets and have_resets(procedures):
            raise Resets
        procedures = with_base_cases_in_place(with_lean_calls(procedures), self.unit.names)
        return Lowered(
            name, procedures, self.leaves, len(self.symbols), results, frozenset(self.written)
        )

    def _sizes_of_results(self) -> dict[Slot, Expr]:
        """How many elements the arrays have that the caller makes."""
        return {view.pointer: product(view.dims) for view in self.out_views.values()}

    def _slot(self, hint: str, code: Any) -> Slot:
        return Slot(self.unit.names.fresh(hint), code)

    # --- parameters -----------------------------------------------------------------------

    def _parameter(self, k: int, var: Var, leaf: Leaf) -> Value:
        hint = var.name or "x"
        match leaf:
            case NumberLeaf(code=code, numpy=numpy):
                slot = self._slot(hint, code)
                self.params.append(slot)
                self.e.settled.add(slot)
                return Scalar(slot, NUMPY if numpy else PYTHON, 64)
            case ComplexLeaf(numpy=numpy):
                parts = [self._slot(f"{hint}_{part}", "f64") for part in ("re", "im")]
                re, im = parts
                self.params += parts
                self.e.settled.update(parts)
                return complex_number(re, im, NUMPY if numpy else PYTHON)
            case ArrayLeaf():
                return self._array(k, hint, leaf)
            case ComplexArrayLeaf():
                return self._complex_array(k, hint, leaf)
            case ListLeaf(item=item):
                return self._list(k, hint, item)
            case KnownLeaf(value=value):
                return Known(value)

    def _array(self, k: int, hint: str, leaf: ArrayLeaf) -> View:
        pointer = self._slot(hint, "ptr")
        self.params.append(pointer)
        dims = tuple(ONE if n is None else self.symbols[n] for n in leaf.sizes)
        strides: tuple[Expr, ...] = tuple(map(self.e.let, c_strides(dims)))
        if not leaf.contiguous:
            slots = [self._slot(f"{hint}_stride", "i64") for _ in dims]
            self.params += slots
            strides = tuple(slots)
        root = Root(pointer, hint, of_caller=True, lasts=k not in self.written)
        view = View(root, leaf.code, dims, strides, ZERO, whole=leaf.contiguous)
        self.given[k] = view
        if k not in self.written:
            self.roots[id(root)] = k
            self._kept.append(root)
            return view
        copy = self._slot(f"{hint}_new", "ptr")
        self.e.add(Allocate(copy, self.e.let(product(dims)), leaf.code))
        own = View(
            Root(copy, hint, of_caller=True), leaf.code, dims, c_strides(dims), ZERO, whole=True
        )
        fusion.copy_elements(self.e, own, view)
        self._own = {**getattr(self, "_own", {}), k: own}
        return own

    def _complex_array(self, k: int, hint: str, leaf: ComplexArrayLeaf) -> Tuple:
        """The parts of an array: each is every other number in its memory."""
        if k in self.written:
            raise Unlowered("a complex array of the caller that the function changes")
        pointer = self._slot(hint, "ptr")
        self.params.append(pointer)
        dims = tuple(ONE if n is None else self.symbols[n] for n in leaf.sizes)
        strides = c_strides(dims)
        if not leaf.contiguous:
            slots = tuple(self._slot(f"{hint}_stride", "i64") for _ in dims)
            self.params += slots
            strides = slots
        root = Root(pointer, hint, of_caller=True, lasts=True)
        self.roots[id(root)] = k
        self._kept.append(root)
        return complex_of(*parts_side_by_side(self.e, root, dims, strides))

    def _list(self, k: int, hint: str, item: NumberLeaf) -> Growing:
        if k in self.written:
            raise Unlowered("a list of the caller that the function changes")
        pointer, length = self._slot(hint, "ptr"), self._slot(f"{hint}_length", "i64")
        self.params += [pointer, length]
        root = Root(pointer, hint, lasts=True)
        self.roots[id(root)] = k
        self._kept.append(root)
        column = Numbers(root, item.code, NUMPY if item.numpy else PYTHON, 64)
        return Growing(column, length, length)

    def _on_write(self, root: Root) -> None:
        k = self.roots.get(id(root))
        if k is not None:
            raise Writes(k)

    def _must_not_overlap(self) -> None:
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

    def _write_back(self, site: Site) -> None:
        site.write_all()
        for k, own in getattr(self, "_own", {}).items():
            fusion.copy_elements(self.e, self.given[k], own)

    # --- results --------------------------------------------------------------------------

    def _destinations(self) -> dict[Var, View]:
        """Memory that the caller makes, for results that have the shape of an argument."""
        body = self.function.body
        sources = _lineage(self.function)
        numbers = {var: k for k, var in enumerate(body.params)}
        self.outs: list[Slot] = []
        self.out_views: dict[int, View] = {}
        found: dict[Var, View] = {}
        for k, atom in enumerate(body.outs):
            root = sources(atom)
            if k in self.unforeseen:
                continue
            if not isinstance(root, Var) or root in found or not isinstance(root.kind, Array):
                continue
            like = self.given.get(numbers.get(root.shape_of, -1))
            if root.kind.dtype.startswith("complex"):
                continue
            if like is None or root in numbers or len(like.dims) != root.kind.rank:
                continue
            pointer = self._slot(f"{root.name or 'result'}_out", "ptr")
            code = _code_of(root, like)
            strides = tuple(map(self.e.let, c_strides(like.dims)))
            view = View(Root(pointer), code, like.dims, strides, ZERO, whole=True)
            found[root] = view
            self.outs.append(pointer)
            self.out_views[k] = view
        return found

    def _result(self, site: Site, k: int, atom: Atom) -> Result:
        value = site.value(atom)
        if isinstance(value, Delayed) and not value.dims and not _is_zero_d(atom):
            value = site.as_scalar(value)
        if isinstance(value, Tuple) and is_complex(value):
            if k in self.out_views:
                raise Unforeseen(k)
            if dims_of(value.items[0]) or any(isinstance(x, View) for x in value.items):
                return self._complex_array_result(site, value)
            return self._complex_result(site, value)
        match value:
            case Scalar() if k in self.out_views:
                raise Unforeseen(k)
            case Scalar():
                slot = self.e.variable("result", value.expr)
                self.results.append(slot)
                return NumberResult(slot, self._kept_origin(value.origin))
            case View() if isinstance(kind_of_atom(atom), Seq):
                raise Unlowered("a list that is kept as an array, as a result")
            case View() | Delayed() | Repeated():
                return self._array_result(site, k, atom, value)
            case Growing():
                return self._list_result(value, form_of_sequence(self.function, atom))
            case Known(value=known) if known is None or isinstance(known, str | bool | int):
                return KnownResult(known)
            case _:
                raise Unlowered("a result that is no number and no array")

    def _complex_result(self, site: Site, value: Tuple) -> ComplexResult:
        """A complex number; where it may turn out to be real, the Python form gives it then."""
        number = by_part(value, site.as_scalar)
        must_be_complex(self.e, [number])
        hints = hints_of_parts(number, "result")
        re, im = (
            self.e.variable(hint, x.expr) for hint, x in zip(hints, number.items, strict=True)
        )
        self.results += (re, im)
        return ComplexResult(re, im, self._kept_origin(number.items[0].origin))

    def _complex_array_result(self, site: Site, value: Tuple) -> ComplexArrayResult:
        """A complex array: its parts side by side in memory of their own."""
        views = [site.view(part) for part in value.items]
        if any(id(view.root) in self.roots for view in views):
            raise Unlowered("a result that is an argument, or part of one")
        dims = views[0].dims
        whole = site.allocate((*dims, integer(2)), "f64", ())
        for place, view in zip(
            parts_side_by_side(self.e, whole.root, dims, c_strides(dims)), views, strict=True
        ):
            fusion.copy_elements(self.e, place, view)
        self.e.add(Assign(pointer := self._slot("result", "ptr"), whole.pointer))
        self.results.append(pointer)
        sizes = tuple(self.e.variable("size", self.e.let(d)) for d in dims)
        self.results += sizes
        return ComplexArrayResult(pointer, sizes)

    def _list_result(self, value: Growing, form: str) -> ListResult:
        """A list or tuple, in variables of the result; Python puts it together."""
        if any(id(root) in self.roots for root in value.column.roots()):
            raise Unlowered("a result that is an argument, or part of one")
        must_be_readable(value.column)

        def kept(expr: Expr) -> Slot:
            slot = self._slot("result", expr.code)
            self.e.add(Assign(slot, expr))
            self.results.append(slot)
            return slot

        return ListResult(mapped(value, kept), form)

    def _kept_origin(self, origin: Origin) -> Origin:
        """Whose a result is: where that depends on the run, in a variable of its own."""
        if not isinstance(origin, Whose):
            return origin
        found = self.e.variable("origin", origin.expr)
        self.results.append(found)
        return replace(origin, expr=found)

    def _array_result(self, site: Site, k: int, atom: Atom, value: Value) -> Result:
        place = self.out_views.get(k)
        if isinstance(value, Repeated) and place is not None and value.dims == place.dims:
            view = site.in_memory(atom)
        else:
            view = site.in_memory(atom)
        lent = self._lent(view)
        if lent is not None:
            return self._part_of_argument(view, lent, atom)
        if place is not None and view.root is place.root and view.whole:
            return ArrayResult(view.pointer, view.code, view.dims, given=True)
        if place is not None:
            sizes = tuple(map(self.e.size, view.dims)), tuple(map(self.e.size, place.dims))
            if sizes[0] != sizes[1] or view.code != place.code:
                raise Unforeseen(k)
            fusion.copy_elements(self.e, place, view)
            return ArrayResult(place.pointer, place.code, place.dims, given=True)
        if (
            view.root in [v.root for v in self.out_views.values()]
            or not view.whole
            or view.root.lasts
        ):
            view = site.copied(view)
        self.e.add(Assign(pointer := self._slot("result", "ptr"), view.pointer))
        self.results.append(pointer)
        dims = tuple(self.e.variable("size", self.e.let(d)) for d in view.dims)
        self.results += dims
        return ArrayResult(pointer, view.code, dims, given=False)

    def _lent(self, view: View) -> int | None:
        """Which argument an array is, or a part of; None if it is none."""
        own = ((made.root, k) for k, made in getattr(self, "_own", {}).items())
        return next((k for root, k in own if root is view.root), self.roots.get(id(view.root)))

    def _part_of_argument(self, view: View, k: int, atom: Atom) -> ArgumentResult | ViewResult:
        """An argument, or another array in its memory."""
        given = self.given[k]
        here = getattr(self, "_own", {}).get(k, given)
        same = (view.dims, view.strides, view.offset) == (here.dims, here.strides, here.offset)
        if same and _lineage(self.function)(atom) is self.function.body.params[k]:
            return ArgumentResult(k)
        if here is not given and not given.whole:
            raise Unlowered("a result that is part of an argument that is changed")
        words = [
            self.e.variable("part", self.e.let(x)) for x in (view.offset, *view.dims, *view.strides)
        ]
        self.results += words
        start, *rest = words
        return ViewResult(k, start, tuple(rest[: len(view.dims)]), tuple(rest[len(view.dims) :]))


def parts_side_by_side(
    e: Emitter, root: Root, dims: tuple[Expr, ...], strides: tuple[Expr, ...]
) -> tuple[View, View]:
    """The parts of an array of complex numbers in memory; its strides count complex numbers."""
    doubled = tuple(e.let(times(stride, integer(2))) for stride in strides)
    re, im = (View(root, "f64", dims, doubled, integer(k)) for k in (0, 1))
    return re, im


def _is_zero_d(atom: Atom) -> bool:
    return isinstance(atom, Var) and atom.kind == Array("float64", 0)


def _code_of(var: Var, like: View) -> Any:
    dtype = var.kind.dtype if isinstance(var.kind, Array) else ""
    return CODES.get(dtype, like.code)


def _extent(e: Emitter, view: View) -> tuple[Expr, Expr]:
    """The addresses between which the elements of an array lie."""
    base = e.apply("address", view.pointer, code="i64")
    low: Expr = ZERO
    high: Expr = ONE
    for dim, stride in zip(view.dims, view.strides, strict=True):
        reach = e.let(times(minus(dim, ONE), stride))
        low = plus(low, e.apply("min", reach, ZERO) if not view.whole else ZERO)
        high = plus(high, e.apply("max", reach, ZERO) if not view.whole else reach)
    size = integer(SIZES[view.code])
    start = e.let(plus(base, e.let(times(e.let(low), size))))
    return start, e.let(plus(base, e.let(times(e.let(high), size))))


def _lineage(function: Function) -> Callable[[Atom], Atom]:
    """Of which value another is a later version: what a chain of writes started from."""
    defined: dict[Var, tuple[Eqn, int]] = {}
    carried: dict[Var, Atom] = {}
    for eqn in walk(function.body):
        defined.update({out: (eqn, k) for k, out in enumerate(eqn.outs)})
        if eqn.op in (FOR, WHILE):
            n = eqn.param("iterables", 0)
            carried.update(zip(eqn.blocks[-1].params[n:], eqn.args[n:], strict=True))

    def source(atom: Atom) -> Atom:
        for step in _steps_back(defined, carried, atom):
            atom = step
        return atom

    return source


_VERSIONS = frozenset(("store", "stored", "add_at", "overwrite"))


def _steps_back(
    defined: dict[Var, tuple[Eqn, int]], carried: dict[Var, Atom], atom: Atom
) -> Iterator[Atom]:
    seen = set[Atom]()
    while isinstance(atom, Var) and atom not in seen:
        seen.add(atom)
        if atom in carried:
            atom = carried[atom]
        elif atom not in defined:
            return
        else:
            eqn, k = defined[atom]
            if eqn.op.name in _VERSIONS:
                atom = eqn.args[0]
            elif eqn.op in (FOR, WHILE) and k < len(eqn.args) - eqn.param("iterables", 0):
                atom = eqn.args[eqn.param("iterables", 0) + k]
            elif eqn.op is IF:
                atom = eqn.blocks[0].outs[k]
            else:
                return
        yield atom
