"""Calls of functions that are not in place: each becomes a procedure for the types of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ir.builder import kind_of_atom
from ....ir.graph import Atom, Callee, Eqn, Function, Var
from ....ir.records import mutable_record, replace
from ....ir.types import BOOL, COMPLEX, FLOAT, INT, Array, Kind, Seq
from ..containers.composed import handles
from ..containers.residual_records import keep, kept_results
from ..form.loopform import CODES, Code, Invoke, Procedure, Slot
from ..lower.carried import copy_list
from ..lower.lowering import BlockLowering, ProgramBuilder, lowers
from ..lower.sequences.columns import GrowingList
from ..lower.sequences.lists import copied_list, grown, template_of
from ..lower.sequences.sequences import growing
from ..prepare.outside import read_from_outside
from ..values import complexes, values as nv
from ..values.aliases import note_copy
from ..values.emitter import Emitter, Names
from ..values.layouts import Layout, is_kept, record_of
from ..values.loops import copy_elements
from .control import settled
from .passed import exprs_of, fresh, parameter, result_exprs, roots_of, type_of, views_of

MOST_TRIES = 4
MOST_FORMS = 12
"""For how many combinations of types one function is lowered."""

Changed = dict[int, int]
"""Which results of a call are arguments that it changes in place: the result's number, and the argument's."""

Outside = list[tuple[Any, str]]
"""What a function is given beside its arguments: what it reads from outside before it is prepared."""


@mutable_record
class Callable:
    """A function as a procedure: its name, and what it gives (as templates)."""

    name: str
    results: tuple[nv.Value, ...]


@lowers("call")
def _call(site: BlockLowering, eqn: Eqn) -> list[nv.Value]:
    callee: Callee = eqn.param("callee")
    if callee.function is None or callee.rebinds:
        raise nv.Unlowered("a call of a function that binds names outside of it")
    outside = read_from_outside(callee.function)
    args = [
        _passed(site, atom, var)
        for atom, var in zip(eqn.args, callee.function.body.params, strict=True)
    ]
    args += [site.unit.outside[id(holder), key] for holder, key in outside]
    site.write_all()
    changed: Changed = {out: k for k, out in (*eqn.param("updates", ()), *eqn.param("handed", ()))}
    for k in changed.values():
        for root in _changed_memory(args, k):
            site.on_write(root, eqn)
    made = _callable(site.unit, callee.function, args, changed)
    slots: list[Slot] = []
    results = [fresh(site.e, result, slots) for result in made.results]
    exprs = [expr for arg in args for expr in exprs_of(arg)]
    slots += [slot for k in changed.values() for slot in _handles(args[k])]
    site.e.add(Invoke(made.name, tuple(map(site.e.let, exprs)), tuple(slots)))
    rest = iter(results)
    return [args[changed[j]] if j in changed else next(rest) for j in range(len(eqn.outs))]


def _passed(site: BlockLowering, atom: Atom, var: Var) -> nv.Value:
    """An argument: an array is in memory, and so is a list that may be of any length."""
    value = grown(site, settled(site, atom), var)
    if isinstance(atom, Var) and isinstance(value, GrowingList):
        site.values[atom] = value
    return value


def _changed_memory(args: Sequence[nv.Value], k: int) -> list[nv.Root]:
    """The memory of an argument that a call changes."""
    value = args[k]
    if isinstance(value, nv.View):
        return [value.root]
    if not isinstance(value, GrowingList) or value.length is value.capacity:
        raise nv.Unlowered("a call of a function that changes a container that it is given")
    roots = value.column.roots()
    if any(root in roots_of(other) for n, other in enumerate(args) if n != k for root in roots):
        raise nv.Unlowered("a call of a function that changes a list that it is given twice")
    return roots


def _handles(value: nv.Value) -> list[Slot]:
    """What a call that changes an argument gives back of it, beside what is in its memory."""
    return handles(value) if isinstance(value, GrowingList) else []


def _callable(
    unit: ProgramBuilder, function: Function, args: Sequence[nv.Value], changed: Changed
) -> Callable:
    """The procedure for arguments like these, some of which it changes in place."""
    key = (id(function), *map(type_of, args))
    found = unit.callees.get(key)
    if found is not None:
        return found
    if sum(1 for of, *_ in unit.callees if of == id(function)) >= MOST_FORMS:
        raise nv.Unlowered("a recursion in which the types of the arguments keep changing")
    kept = kept_results(function)
    results = tuple(
        record_of(Slot("", "i64"), Layout()) if j in kept else _guess(kind_of_atom(out), args)
        for j, out in enumerate(function.body.outs)
        if j not in changed
    )
    made = unit.callees[key] = Callable(unit.names.fresh(function.name), results)
    prepared, outside = unit.prepare(function), read_from_outside(function)
    for _ in range(MOST_TRIES):
        results = _lowered(unit, prepared, args, made, changed, outside)
        before, made.results = made.results, results
        if [*map(_found_of, results)] == [*map(_found_of, before)]:
            return made
    raise nv.Unlowered("a function whose results keep changing their types")


def _guess(kind: Kind, args: Sequence[nv.Value]) -> nv.Value:
    """What a call of a function gives that is still being lowered."""
    codes: dict[Kind, Code] = {FLOAT: "f64", INT: "i64", BOOL: "b1"}
    if kind == COMPLEX:
        return complexes.template()
    if isinstance(kind, Array) and kind.dtype == "complex128":
        part = _guess(replace(kind, dtype="float64"), args)
        return complexes.complex_of(part, part)
    if isinstance(kind, Array) and kind.dtype in CODES and isinstance(kind.rank, int):
        dims = tuple(Slot("", "i64") for _ in range(kind.rank))
        return nv.View(nv.Root(Slot("", "ptr")), CODES[kind.dtype], dims, dims, nv.ZERO, whole=True)
    if kind == Seq(FLOAT):
        return growing(Emitter(Names()), template_of(FLOAT), "")
    if isinstance(kind, Seq):
        return next((arg for arg in args if isinstance(arg, GrowingList)), nv.StaticValue(None))
    if kind not in codes:
        return nv.StaticValue(None)
    numpy = any(isinstance(arg, nv.View) or getattr(arg, "origin", 0) == nv.NUMPY for arg in args)
    return nv.Scalar(Slot("", codes[kind]), nv.NUMPY if numpy else nv.PYTHON)


def _found_of(value: nv.Value) -> Any:
    """The type of a result, and which arrays in it may be copies of those that were given."""
    return type_of(value), [view.root.stands_in for view in views_of(value)]


class _Writes(Exception):
    """A function turned out to write to an array that its caller goes on with as it is."""

    def __init__(self, param: Var):
        super().__init__()
        self.param = param


def _lowered(
    unit: ProgramBuilder,
    function: Function,
    args: Sequence[nv.Value],
    made: Callable,
    changed: Changed,
    outside: Outside,
) -> tuple[nv.Value, ...]:
    """The results of a function, which works on copies of what it writes to."""
    copied: set[Var] = set()
    while True:
        outer = unit.on_write, unit.is_kept, unit.outside
        try:
            return _lower(unit, function, args, made, changed, outside, copied)
        except _Writes as found:
            copied.add(found.param)
        finally:
            unit.on_write, unit.is_kept, unit.outside = outer


def _lower(
    unit: ProgramBuilder,
    function: Function,
    args: Sequence[nv.Value],
    made: Callable,
    changed: Changed,
    outside: Outside,
    copied: set[Var],
) -> tuple[nv.Value, ...]:
    e = Emitter(unit.names)
    params: list[Slot] = []
    body = function.body
    read = [(Var(name=key), (id(holder), key)) for holder, key in outside]
    values = {
        var: parameter(e, arg, params, var.name or "x")
        for var, arg in zip((*body.params, *(var for var, _ in read)), args, strict=True)
    }
    e.settled.update(params)
    own = {body.params[k] for k in changed.values()} | copied
    kept = {root: var for var, v in values.items() if var not in own for root in roots_of(v)}

    def on_write(root: nv.Root) -> None:
        if root in kept:
            raise _Writes(kept[root])

    unit.on_write, unit.is_kept = on_write, kept.__contains__
    unit.outside = {place: values[var] for var, place in read}
    site = BlockLowering(unit, e, values, body, {})
    for var in body.params:
        if var in copied:
            values[var] = _copied(site, values[var])
    site.run()
    results = [settled(site, atom) for atom in body.outs]
    site.write_all()
    for j, k in changed.items():
        _write_back(site, values[body.params[k]], results[j])
    results = [result for j, result in enumerate(results) if j not in changed]
    results = [
        keep(site, result, like.type) if is_kept(like) else _handed_on(site, result)
        for result, like in zip(results, made.results, strict=True)
    ]
    site.write_all()
    site.release_owned()
    exprs = [expr for result in results for expr in result_exprs(result)]
    exprs += [slot for k in changed.values() for slot in _handles(values[body.params[k]])]
    slots = [e.variable("result", expr) for expr in exprs]
    unit.procedures[made.name] = Procedure(
        made.name, tuple(params), tuple(slots), tuple(e.statements)
    )
    return tuple(results)


def _write_back(site: BlockLowering, param: nv.Value, latest: nv.Value) -> None:
    """Give an array or a list of the caller what it holds in the end."""
    e = site.e
    if isinstance(param, GrowingList) and isinstance(latest, GrowingList):
        if latest is not param:
            copy_list(site, param, latest)
        return
    if (
        not isinstance(param, nv.View)
        or not isinstance(latest, nv.View)
        or param.code != latest.code
    ):
        raise nv.Unlowered("a call of a function that changes the type of an array")
    if latest.root is param.root:
        return
    for a, b in zip(param.dims, latest.dims, strict=True):
        e.must_be_same(a, b)
    copy_elements(e, param, latest)


def _copied(site: BlockLowering, value: nv.Value) -> nv.Value:
    """The same arrays in memory of the function's own."""
    if isinstance(value, nv.Tuple):
        return replace(value, items=tuple(_copied(site, item) for item in value.items))
    if isinstance(value, GrowingList):
        return copied_list(site, value)
    return site.copied(value) if isinstance(value, nv.View) else value


def _handed_on(site: BlockLowering, value: nv.Value) -> nv.Value:
    """A result, whose arrays the caller is going to own."""
    if isinstance(value, nv.Tuple):
        return replace(value, items=tuple(_handed_on(site, item) for item in value.items))
    if isinstance(value, GrowingList):
        return _list_handed_on(site, value)
    if not isinstance(value, nv.View):
        return value
    made = site.owned_array(value)
    note_copy(made.root, of=value.root)
    return made


def _list_handed_on(site: BlockLowering, value: GrowingList) -> GrowingList:
    owned = site.e.owned
    if any(root not in owned for root in value.column.roots()):
        value = copied_list(site, value)
    for root in value.column.roots():
        owned.remove(root)
    return value
