"""Which values of a program are written to in place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import (
    CALL,
    TRY,
    UNDEFINED,
    ZERO,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Var,
    alternatives,
    callees,
    used_in,
    walk,
)
from ...ir.op import Op
from ...ir.records import replace, value_record
from ...ir.types import Array, Kind, Map, Number, Seq, Struct
from ...ops import registry, structure as st
from ...ops.program import cotangents as ct, memory as me
from ...ops.program.identity import gone
from ..blocks.flow import merged
from ..blocks.tidy import tidy
from .groups import Groups, handed_over, has_memory, is_computed
from .realness import is_complex, is_real

WRITES = me.WRITES | {ct.add_attr}
"""Ops that give a new version of their first operand."""
ABOUT_OBJECTS = me.OWN | {gone}
"""Ops that are about the very objects which they are given: a copy would not do."""


@value_record
class Written:
    """What of a program is written to.

    `versions` are the values that a write changes, or that a loop or branch merges with such;
    `clobbered` those that may share memory with what the program itself writes to.
    """

    versions: frozenset[Var] = frozenset()
    clobbered: frozenset[Var] = frozenset()


def written(body: Block) -> Written:
    """What of a program is written to; nothing if it writes to cotangents only."""
    eqns = list(walk(body))
    own = [target for eqn in eqns for target in targets(eqn)]
    if not own and not any(eqn.op in me.PURE for eqn in eqns):
        return Written()
    return Written(_versions(eqns), _clobbered(body, eqns, own))


def as_written(builder: Builder, given: Atom) -> Atom:
    """A tangent or cotangent that a user gives, of the dtype that it has to have to be written to."""
    kind = kind_of_atom(given)
    if not isinstance(given, Var) or not isinstance(kind, Array) or not kind.dtype:
        return given
    options = {"dtype": Const(kind.dtype), "copy": Const(False)}
    astype = registry.named("astype")
    changed = builder.emit_with(astype, (given,), options, "method", given.name)
    if isinstance(changed, Var):
        changed.shape_of = given.shape_of
    return changed


def as_complex(builder: Builder, dot: Atom, var: Var) -> Atom:
    """The tangent of a value; of a complex array a complex one, where it is so far that of real numbers."""
    if dot == ZERO or not isinstance(var.kind, Array) or not is_complex(var.kind):
        return dot
    if not is_real(kind_of_atom(dot)):
        return dot
    options = {"dtype": Const(var.kind.dtype), "copy": Const(False)}
    return builder.emit_with(registry.named("astype"), (dot,), options, "method")


def writes_complex(body: Block) -> bool:
    """Whether a program, or what it calls, writes to complex arrays."""
    return any(
        _holds_complex(var.kind)
        for eqn in walk(body)
        for var in (eqn.outs[:1] if eqn.op in WRITES else targets(eqn))
    )


def _holds_complex(kind: Kind) -> bool:
    match kind:
        case Seq(item=item) | Map(item=item):
            return _holds_complex(item)
        case Struct(items=items):
            return any(map(_holds_complex, items))
        case _:
            return isinstance(kind, Array) and is_complex(kind)


def targets(eqn: Eqn) -> tuple[Var, ...]:
    """The values that an equation of the program itself writes to, on the very object."""
    if eqn.op in me.OWN:
        found: Iterable[Atom] = eqn.args[:1]
    elif eqn.op is CALL:
        found = [eqn.args[k] for k in written_parameters(eqn.param("callee"))]
    else:
        return ()
    return tuple(atom for atom in found if isinstance(atom, Var))


def keeps_keys(body: Block) -> bool:
    """Whether a program adds no item to a container whose items are known one by one, and takes none away."""
    return not any(map(_may_change_keys, walk(body)))


def _may_change_keys(eqn: Eqn) -> bool:
    if eqn.op is CALL:
        return bool(targets(eqn))
    if eqn.op not in me.OWN | me.PURE:
        return False
    holder = me.holder(eqn)
    if not isinstance(holder, Struct) or eqn.op not in (me.store, me.stored):
        return not isinstance(holder, (Array, Seq, Map))
    key = eqn.args[-2].value if isinstance(eqn.args[-2], Const) else None
    key = key.name if isinstance(key, me.Field) else key
    return not isinstance(key, (int, str)) or key not in holder.keys


def updated_numbers(eqn: Eqn) -> dict[Var, Atom]:
    """The results of a call that are arrays or lists of numbers which it has changed; and what they were.

    They hold nothing that others could hold as well.
    """
    pairs = eqn.param("updates", ()) if eqn.op is CALL else ()
    found = {eqn.outs[out]: eqn.args[number] for number, out in pairs}
    return {out: arg for out, arg in found.items() if is_of_numbers(out.kind)}


def is_of_numbers(kind: Kind) -> bool:
    return isinstance(kind, Array) or (
        isinstance(kind, (Seq, Map)) and isinstance(kind.item, Number)
    )


def written_parameters(callee: Callee) -> tuple[int, ...]:
    """The parameters of a callee, by number, that it writes to: also by calling itself with others in their place."""
    if callee.function is None:
        return ()
    found: dict[Callee, tuple[int, ...]] = dict.fromkeys(callees([callee.function]), ())
    pending = [*found, callee]
    groups: dict[Callee, Groups] = {}
    while pending:
        changed = False
        for each in reversed(pending):
            written = _written_parameters(each, found, groups)
            changed = changed or written != found.get(each)
            found[each] = written
        pending = pending if changed else []
    return found[callee]


def _written_parameters(
    callee: Callee, called: Mapping[Callee, tuple[int, ...]], groups: dict[Callee, Groups]
) -> tuple[int, ...]:
    function = callee.function
    assert function is not None
    hit: set[Var] = set()
    for eqn in walk(function.body):
        if eqn.op in me.OWN:
            hit.update(atom for atom in eqn.args[:1] if isinstance(atom, Var))
        elif eqn.op is CALL:
            inner = called.get(eqn.param("callee"), ())
            hit.update(atom for k in inner if isinstance(atom := eqn.args[k], Var))
    if not hit:
        return ()
    related = groups.get(callee)
    if related is None:
        related = groups[callee] = Groups(function.body)
    roots = {related.find(var) for var in hit}
    params = function.body.params
    return tuple(k for k, p in enumerate(params) if has_memory(p) and related.find(p) in roots)


def results_sharing(callee: Callee) -> frozenset[int]:
    """The results of a callee, by number, that may share memory with what it writes to: also those of its own calls."""
    if callee.function is None:
        return frozenset()
    inside = [each for each in callees([callee.function]) if each.function is not None]
    found = dict.fromkeys((*inside, callee), frozenset[int]())
    bodies = {each: each.function.body for each in found if each.function is not None}
    groups = {each: Groups(_without_old_versions(body)) for each, body in bodies.items()}
    before = None
    while before != found:
        before = dict(found)
        for each, related in groups.items():
            found[each] = _results_sharing(each, related, found)
    return found[callee]


def _without_old_versions(body: Block) -> Block:
    """A body whose results hold nothing that it writes to later: where they do, that is a snapshot."""
    later = sources_of(body, [target for eqn in walk(body) for target in targets(eqn)])
    eqns = [
        replace(eqn, args=tuple(atom for atom in eqn.args if atom not in later))
        if eqn.op is st.pack and eqn.outs[0] in body.outs
        else eqn
        for eqn in body.eqns
    ]
    return replace(body, eqns=tuple(eqns))


def _results_sharing(
    callee: Callee, related: Groups, called: Mapping[Callee, frozenset[int]]
) -> frozenset[int]:
    function = callee.function
    assert function is not None
    for eqn in walk(function.body):
        if eqn.op is CALL:
            for k in called.get(eqn.param("callee"), ()):
                for target in targets(eqn):
                    related.join(eqn.outs[k], target)
    body = function.body
    roots = {related.find(body.params[k]) for k in written_parameters(callee)}
    return frozenset(
        k
        for k, out in enumerate(body.outs)
        if isinstance(out, Var) and has_memory(out) and related.find(out) in roots
    )


def _clobbered(body: Block, eqns: list[Eqn], own: list[Var]) -> frozenset[Var]:
    if not own:
        return frozenset()
    groups = Groups(body)
    roots = {groups.find(var) for var in own}
    variables = {*body.params, *(out for eqn in eqns for out in eqn.outs)}
    variables.update(param for eqn in eqns for block in eqn.blocks for param in block.params)
    return frozenset(v for v in variables if has_memory(v) and groups.find(v) in roots)


def _versions(eqns: list[Eqn]) -> frozenset[Var]:
    parent: dict[Var, Var] = {}

    def find(var: Var) -> Var:
        while parent.setdefault(var, var) is not var:
            parent[var] = parent[parent[var]]
            var = parent[var]
        return var

    for var, sources in same_objects(eqns).items():
        for source in sources:
            if has_memory(var) and has_memory(source):
                parent[find(source)] = find(var)
    made = [eqn.outs[0] for eqn in eqns if eqn.op in WRITES]
    made += [out for eqn in eqns for out in handed_over(eqn)]
    roots = {find(var) for var in made}
    return frozenset(var for var in list(parent) if find(var) in roots)


def same_objects(eqns: Iterable[Eqn], *, views: bool = False) -> dict[Var, list[Var]]:
    """For each value those that it may be the same object as, one step back.

    These are versions and what loops and branches merge, with `views` also what it may be a view of.
    """
    found: dict[Var, list[Var]] = {}

    def add(var: Var, atoms: Iterable[Atom]) -> None:
        found.setdefault(var, []).extend(atom for atom in atoms if isinstance(atom, Var))

    for eqn in eqns:
        if eqn.op in WRITES or eqn.op in (st.bound, st.unpackable):
            add(eqn.outs[0], eqn.args[:1])
        elif eqn.op is CALL:
            for number, out in eqn.param("updates", ()):
                add(eqn.outs[out], eqn.args[number : number + 1])
            for out, arg in handed_over(eqn).items():
                add(out, [arg])
        elif eqn.blocks:
            for out, atoms in merged(eqn):
                add(out, atoms)
        elif views and len(eqn.outs) == 1 and not is_computed(eqn):
            add(eqn.outs[0], eqn.args[:1])
    return found


def same_object_sources(body: Block, ops: Container[Op], *, views: bool = False) -> frozenset[Var]:
    """The values that equations of these ops may write to, back to where they come from.

    Of the program's own writes what they store is one of them: it may be an object as well.
    """
    eqns = list(walk(body))
    objects = [atom for eqn in eqns if eqn.op in ops for atom in _objects(eqn)]
    objects += [atom for eqn in eqns if eqn.op is CALL for atom in targets(eqn)]
    if st.add_at in ops:
        objects += [atom for eqn in eqns for atom in handed_over(eqn).values()]
    return sources_of(body, objects, views=views)


def sources_of(body: Block, atoms: Iterable[Atom], *, views: bool = False) -> frozenset[Var]:
    """Some values, and those that they may be the same object as, back to where they come from."""
    sources = same_objects(walk(body), views=views)
    found: set[Var] = set()
    pending = list(atoms)
    while pending:
        atom = pending.pop()
        if isinstance(atom, Var) and atom not in found:
            found.add(atom)
            pending += sources.get(atom, ())
    return frozenset(found)


def _objects(eqn: Eqn) -> tuple[Atom, ...]:
    return eqn.args if eqn.op in ABOUT_OBJECTS else eqn.args[:1]


# --- items written back -------------------------------------------------------------------


def direct(function: Function) -> Function:
    """`x[i] = appended(x[i], v)` becomes `x[i].append(v)`, which changes the very list."""
    ops = {eqn.op for eqn in walk(function.body)}
    if ops.isdisjoint(me.OWN_OF):
        return function
    if TRY in ops:
        function = tidy(function)  # a `try` hands on what nobody may need, which is no use of it
    return replace(function, body=_direct(function.body, Counter(used_in(function.body))))


def _direct(block: Block, uses: Counter[Var], around: Mapping[Var, Eqn] = {}) -> Block:
    defined = {**around, **{out: eqn for eqn in block.eqns for out in eqn.outs}}
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        write = _written_back(eqn, defined, uses)
        if write is not None and write in eqns:
            eqns.remove(write)
            args = (*eqn.args[:-1], *write.args[1:])
            eqns.append(replace(eqn, op=me.OWN_OF[write.op], args=args))
        elif eqn.blocks:
            blocks = tuple(_direct(inner, uses, defined) for inner in eqn.blocks)
            eqns.append(replace(eqn, blocks=blocks))
        else:
            eqns.append(eqn)
    return replace(block, eqns=tuple(eqns))


def _written_back(eqn: Eqn, defined: Mapping[Var, Eqn], uses: Counter[Var]) -> Eqn | None:
    """The pure write to an item whose new version an equation stores in the item's place."""
    if eqn.op is not me.store:
        return None
    x, *path, value = eqn.args
    write = defined.get(value) if isinstance(value, Var) else None
    if write is None or write.op not in me.OWN_OF or uses[write.outs[0]] != 1:
        return None
    return write if _path_to(write.args[0], x, defined) == [_key(step) for step in path] else None


def _path_to(atom: Atom, x: Atom, defined: Mapping[Var, Eqn]) -> list[object]:
    """The steps by which a value was read from another; none if it was not."""
    path: list[object] = []
    while atom is not x:
        eqn = defined.get(atom) if isinstance(atom, Var) else None
        if eqn is not None and eqn.op is TRY:
            outs, (body, raised) = alternatives(eqn)
            found = {out: k for k, out in enumerate(outs) if out in (atom, x)}
            if atom not in found or raised.outs[found[atom]] != UNDEFINED:  # type: ignore[index]
                return []
            atom, x = (body.outs[found[v]] if v in found else v for v in (atom, x))  # type: ignore[index]
            defined = {out: each for each in body.eqns for out in each.outs}
            continue
        if eqn is None or eqn.op not in (st.getitem, st.getattr_):
            return []
        by_name = eqn.op is st.getattr_
        path.append(me.Field(eqn.param("name")) if by_name else _key(eqn.args[1]))
        atom = eqn.args[0]
    return path[::-1]


def _key(step: Atom) -> object:
    special = isinstance(step, Const) and isinstance(step.value, (me.Field, me.Viewed))
    return step.value if special else step  # type: ignore[union-attr]


def leading_to_own(body: Block) -> frozenset[Eqn]:
    """The equations that lead to objects which the program writes to, puts into others or asks about."""
    defined = {out: eqn for eqn in walk(body) for out in eqn.outs}
    own: list[Atom] = [*same_object_sources(body, ABOUT_OBJECTS)]
    leading: set[Eqn] = set()
    while own:
        atom = own.pop()
        eqn = defined.get(atom) if isinstance(atom, Var) else None
        if eqn is None or eqn in leading or eqn.op not in (st.pack, st.getitem, st.getattr_):
            continue
        leading.add(eqn)
        own += eqn.args if eqn.op is st.pack else eqn.args[:1]
    return frozenset(leading)


def updates_of(eqn: Eqn) -> dict[str, Atom]:
    """Which results of a call are its arguments as it leaves them: so they are of its derivative's."""
    return {"updates": eqn.params["updates"]} if "updates" in eqn.params else {}
