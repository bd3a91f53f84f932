"""Bodies of functions that are called: their arguments inside, what they change, bind and hand back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...ir.graph import Atom, Block, Callee, Const, Function, Input, Var, births, free_vars
from ...ir.records import replace, value_record
from ...ir.types import UNKNOWN, Kind, Static, Struct, join, leaves
from ...ops.program import identity as ident
from .. import heap
from ..domain.values import (
    Closure,
    Items,
    Maybe,
    Scope,
    Value,
    flatten,
    fresh,
    is_mutable,
    kind_of_value,
)
from ..domain.whereabouts import Untracked
from ..heap import cells
from ..heap.loop_aliases import Path, objects_in
from ..machine.interpreter import Interpreter
from ..machine.session import NeverReturns

Returned = tuple[Path, int, Path, int]
"""Which part of a result may be which part of which argument, or so deep in it."""


@value_record
class Argument:
    """One argument, or one captured value, of a function that is called."""

    name: str
    value: Value
    whole: Var | None
    """The run-time object that is passed, if the callee changes it."""
    cell: Items | None = None
    """The cell whose contents are passed, of a name that the callee may bind."""
    witness: int | None = None
    """Where a path leaves the name unbound: which leaf of the value tells whether it is bound."""
    is_known: bool = False
    """Whether the body is read for this constant, which is not passed then."""

    @property
    def kind(self) -> Kind:
        if self.is_known:
            assert isinstance(self.value, Const)
            return Static(self.value.value)
        return kind_of_value(self.value if self.whole is None else self.whole)

    def atoms(self) -> list[Atom]:
        if self.is_known:
            return []
        return list(flatten(self.value)) if self.whole is None else [self.whole]


def _handed_back(reader: Interpreter, value: Value, taken: Sequence[Value]) -> frozenset[Returned]:
    """Which parts of a result may be objects of the arguments, by path, or parts so deep in them."""
    found: set[Returned] = set()
    given = [objects_in(reader, each) for each in taken]
    for path, part in _parts(value):
        depth = heap.depth_in_whole(reader, part)
        within = dict.fromkeys(heap.identities(reader, part, own=True), depth)
        for place in list(within):
            for other, (below, below_other) in heap.ties(reader, place).items():
                if below <= depth:
                    within.setdefault(other, below_other + depth - below)
        for k, objects in enumerate(given):
            for other, places in objects.items():
                deep = [within[place] for place in places if place in within]
                found |= {(path, k, other, min(deep))} if deep else set()
    return frozenset(found)


def _parts(value: Value, path: Path = ()) -> Iterator[tuple[Path, Value]]:
    """What of a value may be an object: itself, and what it holds, by path."""
    if is_mutable(value):
        yield path, value
    for key, item in zip(value.keys, value.values, strict=True) if isinstance(value, Items) else ():
        yield from _parts(item, (*path, key))


def read_callee(
    it: Interpreter,
    callee: Callee,
    closure: Closure,
    captured: Sequence[Argument],
    siblings: Mapping[str, Closure],
    bound: Sequence[Argument],
) -> None:
    """Read a function's body; where it recurses, until its result is of the kind assumed."""
    for _ in range(12):
        before = set(it.reading.callees)
        read = _read_body(it, callee, closure, captured, siblings, bound)
        if read is None:
            callee.result = UNKNOWN
            continue
        function, result, updates, rebinds, returns = read
        if callee.result is not None:  # pyright: ignore[reportUnnecessaryComparison]
            result = join(callee.result, result)
        for k, kind in callee.updates.items():
            updates[k] = join(kind, updates.get(k, kind))
        for k, kind in callee.rebinds.items():
            rebinds[k] = join(kind, rebinds.get(k, kind))
        found = result, updates, rebinds, returns
        if found == (callee.result, callee.updates, callee.rebinds, callee.returns):
            callee.function = function
            return
        callee.result, callee.updates, callee.rebinds, callee.returns = found
        for key in set(it.reading.callees) - before:
            del it.reading.callees[key]  # read under an assumption that did not hold
    raise it.unsupported(
        "the result of this recursion never settles on one kind",
        "Return values of one kind from every branch.",
    )


class _Inside:
    """The arguments as the body of the callee sees them, and the parameters they bring."""

    def __init__(self, reader: Interpreter, closure: Closure):
        self.reader = reader
        self.closure = closure
        self.params: list[Var] = []
        self.inputs: list[Input] = []
        self.cells: dict[int, tuple[Items, Value]] = {}
        """The cells, by number of the argument, and what they hold at first."""

    def take(self, argument: Argument) -> Value:
        name, kind = argument.name, argument.kind
        if argument.cell is not None:
            value = fresh(kind, name)
            self.cells[len(self.inputs)] = argument.cell, value
            self.params += [atom for atom in flatten(value) if isinstance(atom, Var)]
            self.inputs.append(Input(name, kind))
            heap.put(self.reader, argument.cell, argument.cell.holding((value,), ("contents",)))
            return argument.cell
        if argument.whole is not None:
            var = Var(kind, name)
            self.params.append(var)
            self.inputs.append(Input(name, UNKNOWN))
            return self.reader.open_up(var)
        value = fresh(kind, name)
        self.params += [atom for atom in flatten(value) if isinstance(atom, Var)]
        self.inputs.append(
            Input(name, kind, "positional" if argument.witness is None else "unbound")
        )
        self._note(name, value)
        if argument.witness is None:
            return value
        witness = list(flatten(value))[argument.witness]
        assert isinstance(witness, Var)
        return Maybe(value, witness)

    def _note(self, name: str, value: Value) -> None:
        if isinstance(value, Items):
            self.reader.reading.given[id(value)] = (self.closure.identity, name)
            self.reader.reading.inputs.append(value)
            for item in value.values:
                self._note(name, item)


def _read_body(
    it: Interpreter,
    callee: Callee,
    closure: Closure,
    captured: Sequence[Argument],
    siblings: Mapping[str, Closure],
    bound: Sequence[Argument],
) -> tuple[Function, Kind, dict[int, Kind], dict[int, Kind], frozenset[Returned]] | None:
    """The callee as a function, the kind of its result, what it changes, binds, and hands back."""
    started = next(births)
    reader = Interpreter(it.reading, namespace=it.namespace)
    inside = _Inside(reader, closure)
    around = Scope(closure.scope.globals, closure.scope)
    around.memory_of = closure.scope.memory_of
    around.vars = {argument.name: inside.take(argument) for argument in captured}
    given = {argument.name: inside.take(argument) for argument in bound}
    taken = [*around.vars.values(), *given.values()]
    it.reading.inputs += filter(is_mutable, inside.params)  # others hold them
    for name, sibling in siblings.items():
        around.vars[name] = replace(sibling, scope=around)
    moved = replace(closure, scope=around)
    try:
        value = reader.inline(moved, given)
        with reader.activation(moved, around, given):  # where what it leaves is merged
            value = reader.open_up(heap.now(reader, value))
            rebound = _rebound(reader, callee, inside)
    except NeverReturns:
        return None
    returns = _handed_back(reader, value, taken)
    kind = kind_of_value(value)
    if any(isinstance(k, Static) for k in _kinds_inside(kind)):
        raise it.unsupported(
            f"{closure.name} recurses (or is large) and returns a function",
            "Return numbers, arrays or containers of these.",
        )
    updates = _updates(reader, callee, inside.params)
    outs = (
        *flatten(value),
        *updates.values(),
        *(a for _, atoms in rebound.values() for a in atoms),
    )
    result = _with_changes(kind, updates, rebound)
    body = reader.builder.block(inside.params, outs)
    _refuse_around(it, reader, inside, body, started)
    function = Function(closure.name, tuple(inside.inputs), body, result)
    updated = {k: kind_of_value(new) for k, new in updates.items()}
    return function, kind, updated, {k: new for k, (new, _) in rebound.items()}, returns


def _with_changes(
    kind: Kind, updates: Mapping[int, Var], rebound: Mapping[int, tuple[Kind, Sequence[Atom]]]
) -> Kind:
    """The kind of all that a callee gives: its result, what it changes and what it binds."""
    if not updates and not rebound:
        return kind
    kinds = [*(k for _, k in leaves(kind)), *(kind_of_value(new) for new in updates.values())]
    kinds += [leaf for new, _ in rebound.values() for _, leaf in leaves(new)]
    return Struct("tuple", tuple(range(len(kinds))), tuple(map(_one_leaf, kinds)))


def _refuse_around(
    it: Interpreter, reader: Interpreter, inside: _Inside, body: Block, started: int
) -> None:
    """What belongs to the functions around a callee reaches it only as what it is given."""
    own = {cell.place for cell, _ in inside.cells.values()}
    changed = any(
        place.born < started and place not in own and content is not it.heap.get(place)
        for place, content in reader.heap.items()
    )
    if changed or free_vars(body):
        raise it.unsupported(
            f"{inside.closure.name} recurses (or is large) and reaches what the function around it has through "
            "a class, a context manager or the like",
            "Pass it what it needs as an argument.",
        )


def _rebound(
    reader: Interpreter, callee: Callee, inside: _Inside
) -> dict[int, tuple[Kind, list[Atom]]]:
    """The arguments whose names a callee binds anew: the kind of what to, and its leaves."""
    found: dict[int, tuple[Kind, list[Atom]]] = {}
    for k, (cell, before) in inside.cells.items():
        now = cells.read(reader, cell, inside.inputs[k].name, own=False)
        if now is before and k not in callee.rebinds:
            continue
        kind = kind_of_value(now)
        if any(isinstance(each, Static) for each in _kinds_inside(kind)):
            raise reader.unsupported(
                "a function that recurses binds an outer name to a function",
                "Bind it to a number, an array or a container of these.",
            )
        kind = join(kind, callee.rebinds.get(k, kind))
        found[k] = kind, reader.coerce(now, kind)
    return found


def _one_leaf(kind: Kind) -> Kind:
    return UNKNOWN if isinstance(kind, (Struct, Static)) else kind


def _updates(reader: Interpreter, callee: Callee, params: Sequence[Var]) -> dict[int, Var]:
    """The parameters that a callee has changed, by number, and their new versions."""
    found: dict[int, Var] = {}
    for k, param in enumerate(params):
        place = reader.reading.places.get(param)
        content = param if place is None else reader.heap.get(place, param)
        if isinstance(content, Untracked) and param.kind == UNKNOWN and reader.asking:
            reader.emit(ident.unchanging, param, Const(0))
            content = param
        if content is param and k not in callee.updates:
            continue
        if not isinstance(content, Var):
            raise reader.unsupported(
                "a function that recurses moves an object that it is given into a container",
                "Put a copy into the container.",
            )
        found[k] = content
    return found


def _kinds_inside(kind: Kind) -> list[Kind]:
    if isinstance(kind, Struct):
        return [inner for item in kind.items for inner in _kinds_inside(item)]
    return [kind]
