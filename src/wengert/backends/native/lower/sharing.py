"""In whose memory arrays and lists may lie: Python's views, and other names for one object, as the IR tells them.

Native code copies where Python does not, as long as nobody can tell. Where a result is concerned somebody can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ....ir.builder import kind_of_atom
from ....ir.graph import (
    CALL,
    FOR,
    IF,
    TRY,
    WHILE,
    Atom,
    Block,
    Const,
    Eqn,
    Function,
    Var,
    alternatives,
    callees,
    walk,
    with_called,
)
from ....ir.types import Array, Kind, Number, Other, Seq, Static, Struct
from .calling_convention import ArrayLeaf, Leaf

Sources = frozenset[Var]
Loops = tuple[Eqn, ...]
Called = dict[int, tuple[Sources, ...]]
"""What the results of functions may lie in: their parameters, and values of their own."""

_NOTHING: Sources = frozenset()
_PARTS = frozenset(("real", "imag"))
"""Elementwise ops that give a view, or the array itself, of some arrays."""
_INTO_LISTS = frozenset(
    ("append_item", "insert_item", "appended", "inserted", "store", "stored", "overwrite", "add_at")
)
_REORDERING = frozenset(
    (
        "transpose", "matrix_transpose", "swapaxes", "moveaxis", "rot90", "asfortranarray", "einsum", "inv",
        "solve", "cholesky", "eigh", "qr", "svd",
    )
)  # fmt: skip
"""Ops after which arrays may lie in another order than C's."""
_IN_ORDER = frozenset(("matmul", "dot", "inner", "outer"))
_OF_TWO = frozenset(("join_lists", "add"))


class Sharing:
    """What each value of a function may share memory with: parameters, and values in which memory is new.

    Attributes:
        repeated: what may be in a list twice, or in two lists.
    """

    def __init__(self, function: Function, called: Called | None = None):
        self._found: dict[Var, Sources] = {
            p: _new(p) if _has_memory(p.kind) else _NOTHING for p in function.body.params
        }
        self._params = frozenset(function.body.params)
        self._separate: dict[tuple[Var, Const], Var] = {}
        """Of the results that an op gives in a tuple, what stands for the memory of each."""
        self._tuples = {
            out
            for eqn in walk(function.body)
            if eqn.op.fresh and not eqn.op.control and eqn.op.name != "pack"
            for out in eqn.outs
            if isinstance(out.kind, Struct)
        }
        self._called = _of_called(function) if called is None else called
        eqns = list(_with_loops(function.body, ()))
        while sum(self._eqn(eqn) for eqn, _ in eqns):
            pass  # until nothing is news
        self.repeated = self._repeated(eqns)

    def of(self, atom: Atom) -> Sources:
        """What a value may lie in."""
        return self._found.get(atom, _NOTHING) if isinstance(atom, Var) else _NOTHING

    def of_arguments(self, atom: Atom) -> Sources:
        """Which parameters a value may lie in the memory of."""
        return self.of(atom) & self._params

    def is_apart(self, atom: Atom) -> bool:
        """Whether a value of this function certainly lies in the memory of none of its arguments."""
        return isinstance(atom, Var) and atom in self._found and not self.of_arguments(atom)

    # --- equation by equation -------------------------------------------------------------

    def _add(self, var: Var, sources: Sources) -> bool:
        """Note more that a value may lie in; whether that is news."""
        before = self._found.get(var)
        if before is not None and sources <= before:
            return False
        self._found[var] = sources | (before or _NOTHING)
        return True

    def _eqn(self, eqn: Eqn) -> bool:
        if eqn.op in (FOR, WHILE):
            return self._loop(eqn)
        if eqn.op in (IF, TRY):
            return self._alternatives(eqn)
        given = (
            self._of_call(eqn) if eqn.op is CALL else [self._of_op(eqn, out) for out in eqn.outs]
        )
        return bool(sum(self._add(*pair) for pair in zip(eqn.outs, given, strict=True)))

    def _alternatives(self, eqn: Eqn) -> bool:
        outs, blocks = alternatives(eqn)
        self._found.update({out: _NOTHING for out in eqn.outs if out not in outs})
        pairs = ((out, block.outs[k]) for k, out in enumerate(outs) for block in blocks)
        return bool(sum(self._add(out, self.of(atom)) for out, atom in pairs))

    def _loop(self, eqn: Eqn) -> bool:
        n, body = eqn.param("iterables", 0), eqn.blocks[-1]
        results = body.outs[1:] if eqn.param("stop", False) else body.outs
        initials, carried = eqn.args[n:], body.params[n:]
        news = [
            self._add(item, self._items(item, self.of(atom)))
            for item, atom in zip(body.params[:n], eqn.args[:n], strict=True)
        ]
        tests = eqn.blocks[0].params if eqn.op is WHILE else carried
        for k, initial in enumerate(initials):
            sources = self.of(initial) | self.of(results[k])
            news += [self._add(var, sources) for var in (carried[k], tests[k], eqn.outs[k])]
        lists = zip(eqn.outs[len(initials) :], results[len(initials) :], strict=True)
        news += [self._add(out, self.of(atom) | _new(out)) for out, atom in lists]
        return any(news)

    def _items(self, item: Var, sources: Sources) -> Sources:
        return sources if _has_memory(item.kind) else _NOTHING

    def _of_op(self, eqn: Eqn, out: Var) -> Sources:
        if not _has_memory(out.kind):
            return _NOTHING
        name = eqn.op.name
        if name == "pack":
            return self._of_all(eqn.args)
        if name == "project":
            return _new(out)
        if name in _INTO_LISTS and not isinstance(kind_of_atom(eqn.args[0]), Array):
            return self._of_all(eqn.args)
        if (eqn.op.fresh and name not in _PARTS) or _is_new_array(eqn):
            inside = eqn.args if _has_items(out.kind) else ()
            return self._of_all(inside) | _new(out)
        if name == "getitem" and is_copied(eqn):
            return _new(out)
        if name in ("getitem", "getattr") and eqn.args[0] in self._tuples:
            item = eqn.operands()[1]
            if isinstance(item, Const):
                return _new(self._separate.setdefault((eqn.args[0], item), out))
        return self.of(eqn.args[0]) if eqn.args else _new(out)

    def _of_all(self, atoms: Iterable[Atom]) -> Sources:
        return frozenset(source for atom in atoms for source in self.of(atom))

    def _of_call(self, eqn: Eqn) -> list[Sources]:
        function = eqn.param("callee").function
        given = self._called.get(id(function), ())
        if len(given) != len(eqn.outs):
            every = self._of_all(eqn.args)
            return [every | _new(out) if _has_memory(out.kind) else _NOTHING for out in eqn.outs]
        args = dict(zip(function.body.params, eqn.args, strict=True))
        new: dict[Var, Var] = {}
        return [
            frozenset().union(
                *(self.of(args[s]) if s in args else _new(new.setdefault(s, out)) for s in sources)
            )
            for out, sources in zip(eqn.outs, given, strict=True)
        ]

    # --- lists ----------------------------------------------------------------------------

    def _repeated(self, eqns: list[tuple[Eqn, Loops]]) -> Sources:
        born = {out: loops for eqn, loops in eqns for out in eqn.outs}
        times: Counter[Var] = Counter()
        for eqn, loops in eqns:
            for atom, inside in _put_into_lists(eqn, loops):
                for source in self.of(atom):
                    once = born.get(source, ())[: len(inside)] == inside
                    times[source] += 1 if once else 2
        return frozenset(source for source, count in times.items() if count > 1)


def _of_called(function: Function) -> Called:
    """What the results of the functions may lie in that a function calls, directly or not."""
    functions = [callee.function for callee in callees([function]) if callee.function is not None]
    found: Called = {id(each): (_NOTHING,) * len(each.body.outs) for each in functions}
    changed = True
    while changed:
        changed = False
        for each in functions:
            sharing = Sharing(each, found)
            given = tuple(map(sharing.of, each.body.outs))
            changed |= given != found[id(each)]
            found[id(each)] = given
    return found


def lies_in_order(function: Function, leaves: Iterable[Leaf]) -> bool:
    """Whether every array of several axes is in C order in Python: what NumPy computes of others is not, as a rule."""
    if any(isinstance(leaf, ArrayLeaf) and not leaf.contiguous for leaf in leaves):
        return False
    return all(_stays_in_order(each.body) for each in with_called(function))


def _stays_in_order(body: Block) -> bool:
    """Whether no array is computed from a view in another order, which is written or reshaped later."""
    views: set[Atom] = set()
    for eqn in walk(body):
        outs = [out for block in eqn.blocks for out in block.outs]
        if eqn.op.name in _REORDERING or _is_reordered(eqn):
            if eqn.op.fresh or eqn.op.name == "getitem":
                return False
            views.update(eqn.outs)
        elif eqn.op.control and not views.isdisjoint((*eqn.args, *outs)):
            return False
        elif not views.isdisjoint(eqn.args):
            if eqn.op.name in ("reshape", "ravel", "flat"):
                return False
            if not eqn.op.fresh and eqn.args[0] in views:
                views.update(eqn.outs)
            elif eqn.op.fresh and eqn.op.name not in _IN_ORDER and any(map(_has_rows, eqn.outs)):
                return False
    return True


def _has_rows(out: Var) -> bool:
    return not isinstance(out.kind, (Number, Other)) and getattr(out.kind, "rank", 2) != 1


def _is_reordered(eqn: Eqn) -> bool:
    if eqn.op.name != "getitem":
        return eqn.params.get("order", Const("C")) != Const("C")
    kind = kind_of_atom(eqn.args[0])
    return isinstance(kind, Array) and kind.rank != 1 and is_copied(eqn)


def _put_into_lists(eqn: Eqn, loops: Loops) -> Iterator[tuple[Atom, Loops]]:
    """What an equation puts into a list, and in which loops."""
    name = eqn.op.name
    if eqn.op in (FOR, WHILE):
        count = len(eqn.outs) - (len(eqn.args) - eqn.param("iterables", 0))
        outs = eqn.blocks[-1].outs
        yield from ((atom, (*loops, eqn)) for atom in outs[len(outs) - count :])
    elif name in _INTO_LISTS and isinstance(kind_of_atom(eqn.args[0]), (Seq, Struct)):
        yield from ((atom, loops) for atom in eqn.args[1:])
    elif name in _OF_TWO or name == "repeated_items":
        yield from ((atom, loops) for atom in eqn.args if _has_items(kind_of_atom(atom)))
        if name == "repeated_items":
            yield eqn.args[0], loops


def _with_loops(block: Block, loops: Loops) -> Iterator[tuple[Eqn, Loops]]:
    """Every equation, and the loops around it."""
    for eqn in block.eqns:
        yield eqn, loops
        inside = (*loops, eqn) if eqn.op in (FOR, WHILE) else loops
        for inner in eqn.blocks:
            yield from _with_loops(inner, inside)


def _new(var: Var) -> Sources:
    return frozenset((var,))


def _is_new_array(eqn: Eqn) -> bool:
    """Whether an op that may give a view gives none of this operand."""
    kind = kind_of_atom(eqn.args[0]) if eqn.args else None
    if eqn.op.name == "diag":
        return isinstance(kind, Array) and kind.rank == 1
    of_complex = isinstance(kind, Array) and kind.dtype.startswith("complex")
    return eqn.op.name == "conj" and (eqn.namespace == "np" or of_complex)


def is_copied(eqn: Eqn) -> bool:
    """Whether what is read at an index is new: elements chosen one by one, or a part of a list of numbers."""
    x, index = (kind_of_atom(atom) for atom in eqn.args)
    chosen = index.items if isinstance(index, Struct) else (index,)
    if isinstance(x, Array):
        return any(isinstance(kind, (Array, Seq)) or _is_list(kind) for kind in chosen)
    return isinstance(x, Seq) and isinstance(x.item, (Number, Other))


def _is_list(kind: Kind) -> bool:
    return isinstance(kind, Struct) and kind.form == "list"


def _has_memory(kind: Kind) -> bool:
    """Whether a value may be an object that others see changing: an array, or a container."""
    return not isinstance(kind, (Number, Other, Static)) and kind != Seq(Number("int"))


def _has_items(kind: Kind) -> bool:
    """Whether a value may hold arrays."""
    match kind:
        case Seq(item=item):
            return _has_memory(item)
        case Struct(items=items):
            return any(map(_has_memory, items))
        case Array() | Number() | Other() | Static():
            return False
        case _:
            return True
