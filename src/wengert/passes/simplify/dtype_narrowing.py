"""Arrays whose dtype only the run knows, since they are made of numbers of more than one type.

In: a function as it was read. Out: the same function, which checks such arrays when they are made. Where a branch,
a loop or a list mixes whole numbers and floats, the kind of both is `float`; in a run where they are whole, the
array is one of integers, which keeps no fraction that is written to it. A run in which an array has another dtype
than was read is refused, and read by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, Atom, Block, Const, Eqn, Function, Var, alternatives, with_called
from ...ir.records import replace
from ...ir.types import BOOL, INT, NONE, UNKNOWN, Array, Kind, Map, Number, Seq, Struct, join
from ...ops import elementwise as el, structure as st
from ...ops.arrays import reduction as red, shape
from ...ops.program import identity as ident, memory as me
from ..analysis.activity import BRANCHES
from ..blocks.loops import LOOPS, view


def with_dtypes_checked(function: Function) -> Function:
    """The function, in which arrays that may have another dtype than their kinds say are checked."""
    narrowest = _Narrowest(function)
    narrowest.settle()
    if not narrowest.in_doubt:
        return function
    used = set(_used_as_arrays(function.body))
    in_doubt = {eqn for eqn in narrowest.in_doubt if not used.isdisjoint(eqn.outs)}
    return replace(function, body=_checked(function.body, in_doubt))


def _used_as_arrays(block: Block) -> Iterator[Atom]:
    """What is used for more than its dtype, which the run says."""
    yield from block.outs
    for eqn in block.eqns:
        if eqn.op is not shape.dtype:
            yield from (*eqn.args, *eqn.params.values())
        for inner in eqn.blocks:
            yield from _used_as_arrays(inner)


def _checked(block: Block, in_doubt: set[Eqn]) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        inner = tuple(_checked(each, in_doubt) for each in eqn.blocks)
        eqns.append(replace(eqn, blocks=inner) if inner else eqn)
        if eqn in in_doubt:
            (made,) = eqn.outs
            assert isinstance(made.kind, Array)
            args = (made, Const(made.kind.dtype))
            eqns.append(Eqn((Var(NONE),), ident.has_dtype, args, {}, (), "rt", eqn.span))
    return replace(block, eqns=tuple(eqns))


class _Narrowest:
    """The narrowest kind that each value may be of, where that is narrower than its kind.

    Attributes:
        in_doubt: the equations that make arrays whose dtype follows from such values.
    """

    def __init__(self, function: Function):
        self._functions = with_called(function)
        self._given = set(function.body.params)
        self._kinds: dict[Var, Kind] = {
            param: _bottom(param.kind) for param in self._given if isinstance(param.kind, Seq)
        }
        self._changed = True
        self.in_doubt: set[Eqn] = set()

    def settle(self) -> None:
        while self._changed:
            self._changed = False
            for function in self._functions:
                self._block(function.body)

    def _of(self, atom: Atom) -> Kind:
        found = self._kinds.get(atom) if isinstance(atom, Var) else None
        return kind_of_atom(atom) if found is None else found

    def _note(self, var: Var, kind: Kind) -> None:
        before = self._of(var)
        narrower = _narrower(before, kind)
        if narrower != before:
            self._kinds[var] = narrower
            self._changed = True

    def _copy(self, sources: Iterable[Atom], targets: Iterable[Var]) -> None:
        for source, target in zip(sources, targets, strict=False):
            self._note(target, self._of(source))

    def _block(self, block: Block) -> None:
        for eqn in block.eqns:
            if eqn.op in BRANCHES:
                outs, blocks = alternatives(eqn)
                for inner in blocks:
                    self._block(inner)
                    self._copy(inner.outs, outs)
            elif eqn.op in LOOPS:
                self._loop(eqn)
            elif eqn.op is CALL:
                self._call(eqn)
            elif eqn.op in me.OWN and isinstance(eqn.args[0], Var):
                self._note(eqn.args[0], Seq(self._of(eqn.args[-1])))
            elif eqn.op in red.FOLDS or _chooses(eqn) or any(map(self._is_in_doubt, eqn.args)):
                for out in eqn.outs:
                    self._result(eqn, out)

    def _is_in_doubt(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and atom in self._kinds

    def _loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        for iterable, item in zip(loop.iterables, loop.items, strict=True):
            self._note(item, _item(self._of(iterable)))
        self._copy(loop.initials, loop.carried)
        if loop.test is not None:
            self._copy(loop.carried, loop.test.params)
        self._block(loop.body)
        self._copy(loop.results, loop.carried)
        self._copy(loop.carried, loop.outs)
        for made, listed in zip(loop.collected, loop.lists, strict=True):
            self._note(listed, Seq(self._of(made)))

    def _call(self, eqn: Eqn) -> None:
        called: Function | None = eqn.param("callee").function
        if called is not None:
            self._copy(eqn.args, called.body.params)
            self._copy(called.body.outs, eqn.outs)

    def _result(self, eqn: Eqn, out: Var) -> None:
        kind = self._inferred(eqn, out)
        if not isinstance(out.kind, Array) or not out.kind.dtype:
            self._note(out, kind)
        elif getattr(kind, "dtype", None) != out.kind.dtype and not self._is_of_given(eqn):
            self.in_doubt.add(eqn)

    def _is_of_given(self, eqn: Eqn) -> bool:
        """Whether an array is made of a whole list that was given, whose kind is that of all its items."""
        return all(arg in self._given for arg in eqn.args if self._is_in_doubt(arg))

    def _inferred(self, eqn: Eqn, out: Var) -> Kind:
        kinds = [self._of(arg) for arg in eqn.args]
        if eqn.op is st.getitem and not isinstance(kinds[0], Array):
            key = eqn.args[1]
            if not isinstance(key, Const) or not isinstance(kinds[0], Struct):
                return _item(kinds[0]) if isinstance(out.kind, Number) else _bottom(out.kind)
        if eqn.op in red.FOLDS:
            return _narrower(out.kind, INT)
        if _chooses(eqn):
            return _narrowest(kinds)
        if eqn.namespace == "math":
            return out.kind
        if eqn.op.infer(eqn.args, eqn.params) != out.kind:
            return _bottom(out.kind)
        at_least = [
            Var(k) if self._is_in_doubt(a) else a for a, k in zip(eqn.args, kinds, strict=True)
        ]
        return eqn.op.infer(at_least, eqn.params)


def _chooses(eqn: Eqn) -> bool:
    """Whether a result is one of the operands as it is: the `max` of Python."""
    return eqn.op in (el.maximum, el.minimum) and eqn.namespace != "np"


def _narrower(a: Kind, b: Kind) -> Kind:
    """The kind `a`, with the narrower of the numbers in both."""
    match a, b:
        case Number(), Number():
            return b if join(a, b) == a else a
        case Seq(item=i), Seq(item=j):
            return Seq(_narrower(i, j))
        case Struct(items=items), Struct(items=others) if (a.form, a.keys) == (b.form, b.keys):
            both = zip(items, others, strict=True)
            return Struct(a.form, a.keys, tuple(_narrower(i, j) for i, j in both), a.type)
        case Seq(item=i), Struct(items=others):
            return Seq(_narrowest([i, *others]))
        case _:
            return a


def _narrowest(kinds: Sequence[Kind]) -> Kind:
    first, *others = kinds
    for kind in others:
        if isinstance(first, Number) and isinstance(kind, Number):
            first = _narrower(first, kind)
    return first


def _item(kind: Kind) -> Kind:
    """The narrowest kind that an item of a container may be of."""
    match kind:
        case Seq(item=item):
            return item
        case Map(item=item):
            return _bottom(item)
        case Struct(items=items) if items:
            return _narrowest(items)
        case _:
            return UNKNOWN


def _bottom(kind: Kind) -> Kind:
    """A kind of which nothing is known but that it holds numbers there."""
    match kind:
        case Number():
            return BOOL
        case Seq(item=item):
            return Seq(_bottom(item))
        case Struct(form=form, keys=keys, items=items, type=type_):
            return Struct(form, keys, tuple(map(_bottom, items)), type_)
        case _:
            return kind
