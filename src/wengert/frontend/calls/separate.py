"""Functions that are called, not inlined: those that recurse, and large ones.

A call passes run-time values only. A container that the callee changes is passed as one run-time
object; what the callee changes comes back as further results, the new versions.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping, Sequence

from ...ir.graph import (
    CALL,
    Atom,
    Block,
    Callee,
    Const,
    Eqn,
    Function,
    Input,
    Var,
    births,
    free_vars,
)
from ...ir.records import replace, value_record
from ...ir.types import UNKNOWN, Array, Kind, Static, Struct, join, leaves
from ...ops.program import identity as ident, may_raise
from .. import heap
from ..domain.values import (
    Closure,
    Items,
    Maybe,
    Scope,
    Untracked,
    Value,
    flatten,
    fresh,
    is_mutable,
    is_plain,
    kind_of_value,
)
from ..heap import captures, cells
from ..heap.loop_aliases import Path, at_path, objects_in
from ..machine.interpreter import Interpreter
from ..machine.session import NeverReturns
from ..syntax.declarations import free_names

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

    @property
    def kind(self) -> Kind:
        return kind_of_value(self.value if self.whole is None else self.whole)

    def atoms(self) -> list[Atom]:
        return list(flatten(self.value)) if self.whole is None else [self.whole]


def call_separately(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """Call a function whose code stands by itself."""
    captured, known, siblings = _captured_by(it, closure)
    outside = [_argument(it, closure, *pair) for pair in captured.items()]
    outside += [_argument(it, closure, key, cell) for (_, key), cell in it.reading.cells.items()]
    given = [_argument(it, closure, *pair) for pair in bound.items()]
    kinds = tuple((a.name, a.kind, a.whole is None, a.witness) for a in (*outside, *given))
    key = closure.identity, kinds, known, it.reading.kept_to_itself
    callee = it.reading.callees.get(key)
    if callee is None:
        callee = it.reading.callees[key] = Callee(closure.name, None, UNKNOWN)
        callee.result = None  # type: ignore[assignment]
        try:
            _read_callee(it, callee, closure, outside, siblings, given)
        except Exception:
            # whoever reads it again must not take it for one that recurses
            del it.reading.callees[key]
            raise
    if callee.result is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise NeverReturns  # recursion before any base case: this path tells nothing of the result
    arguments = [*outside, *given]
    result, bound_anew = _emit_call(it, callee, arguments)
    for k, new in bound_anew.items():
        cell = arguments[k].cell
        assert cell is not None
        heap.put(it, cell, cell.holding((new,), ("contents",)))
    return result


def _argument(it: Interpreter, closure: Closure, name: str, value: Value) -> Argument:
    if isinstance(value, Items) and value.form == "cell":
        return Argument(name, cells.read(it, value, name, own=False), None, value)
    if isinstance(value, Maybe):
        return Argument(name, value.value, None, witness=_place_of_witness(value))
    value = captures.taken_apart(it, it.open_up(heap.now(it, value)), everything=True)
    whole = None
    if isinstance(value, Items) and (closure.identity, name) in it.reading.whole:
        whole = it.atom(it.as_run_time(value))
    return Argument(name, value, whole if isinstance(whole, Var) else None)


def _emit_call(
    it: Interpreter, callee: Callee, arguments: Sequence[Argument]
) -> tuple[Value, dict[int, Value]]:
    """The result, and what the names that the callee binds are bound to now, by argument."""
    out = fresh(callee.result, "")
    args = tuple(atom for argument in arguments for atom in argument.atoms())
    outs = [atom for atom in flatten(out) if isinstance(atom, Var)]
    updated: list[tuple[int, Var]] = []
    for k, kind in callee.updates.items():
        before = args[k]
        assert isinstance(before, Var)
        updated.append((k, Var(kind, before.name)))
    _refuse_same(it, args, callee)
    _refuse_partial(it, callee)
    params: dict[str, Atom] = {"callee": Const(callee)}
    if updated:
        pairs = tuple((k, len(outs) + n) for n, (k, _) in enumerate(updated))
        params["updates"] = Const(pairs)
    bound_anew = {k: fresh(kind, arguments[k].name) for k, kind in callee.rebinds.items()}
    leaves_ = [atom for value in bound_anew.values() for atom in flatten(value)]
    outs += [var for _, var in updated]
    all_outs = (*outs, *(atom for atom in leaves_ if isinstance(atom, Var)))
    it.builder.append(Eqn(all_outs, CALL, args, params, (), "py", it.builder.span))
    for k, new in updated:
        heap.replaced(it, args[k], new)  # type: ignore[arg-type]
    made, given = objects_in(it, out), [objects_in(it, a.value) for a in arguments]
    for path, k, other, depth in callee.returns:
        for place in at_path(made, path):
            heap.stands_for(it, place, at_path(given[k], other), depth)
    return out, bound_anew


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


def _refuse_partial(it: Interpreter, callee: Callee) -> None:
    """What a call changes before it raises, a handler sees: how far it came, only the run knows."""
    if not callee.rebinds and not any(map(_may_hold_numbers, callee.updates.values())):
        return
    known = None if callee.rebinds else callee.function
    raised = may_raise.ANYTHING if known is None else may_raise.raised_after_change(known)
    if it.catching.may_see(raised):
        raise it.unsupported(
            f"{callee.name} may change something and then raise an exception that is caught: what it has "
            "changed by then is known only when the program runs",
            "Return what it finds, rather than change objects or outer names before it raises.",
        )


def _may_hold_numbers(kind: Kind) -> bool:
    """Whether what is written into an object may have a derivative."""
    return not isinstance(kind, Array) or not kind.dtype.startswith(("int", "uint", "bool"))


def _refuse_same(it: Interpreter, args: Sequence[Atom], callee: Callee) -> None:
    """An object that the callee changes, or memory of it, must not reach it by two ways."""
    if not callee.updates:
        return
    reached = [
        heap.identities(it, arg, own=True) if isinstance(arg, Var) else set() for arg in args
    ]
    for k in callee.updates:
        tied = reached[k].union(*(heap.ties(it, place) for place in reached[k]))
        for j, others in enumerate(reached):
            if j != k and (tied & others or args[j] is args[k]):
                raise it.unsupported(
                    f"{callee.name} changes an object that it is given twice",
                    "Pass a copy, or pass it once.",
                )


def _captured_by(
    it: Interpreter, closure: Closure
) -> tuple[dict[str, Value], frozenset[Hashable], dict[str, Closure]]:
    """What a local function takes from those around it: run-time values, what is known, and functions.

    The functions are those made in the same scope (itself, if it recurses); what they take counts too.
    """
    captured: dict[str, Value] = {}
    known: set[Hashable] = set()
    siblings: dict[str, Closure] = {}
    nodes: list[ast.AST] = [closure.node]
    while nodes:
        for name in free_names(nodes.pop()):
            value = _visible(closure.scope, name)
            if isinstance(value, Items) and value.form == "cell":
                captured[name] = value
            elif isinstance(value, Closure) and _made_together(value.scope, closure.scope):
                if name not in siblings:
                    siblings[name] = value
                    known |= _defaults_of(name, value)
                    nodes.append(value.node)
            elif isinstance(value, Maybe) and _can_be_passed(it, closure, name, value):
                captured[name] = heap.now(it, value)
            elif isinstance(value, Maybe):  # Python asks whether it is bound where it is read
                raise it.unsupported(
                    f"{closure.name} recurses (or is large) and reads `{name}`, which some paths leave unbound",
                    "Bind it on every path: to None, say.",
                )
            elif value is not None:
                value = captures.taken_apart(it, value, everything=True)
                kind = kind_of_value(value)
                if isinstance(kind, Static):
                    known.add((name, kind))
                else:
                    captured[name] = value
    return captured, frozenset(known), siblings


def _can_be_passed(it: Interpreter, closure: Closure, name: str, value: Maybe) -> bool:
    """Whether what a path leaves unbound can be passed leaf by leaf, as nothing if it is unbound."""
    if (closure.identity, name) in it.reading.whole:
        return False
    now = heap.now(it, value)
    return isinstance(now, Maybe) and is_plain(now.value) and _place_of_witness(now) is not None


def _place_of_witness(value: Maybe) -> int | None:
    return next((k for k, leaf in enumerate(flatten(value.value)) if leaf is value.witness), None)


def _defaults_of(name: str, closure: Closure) -> set[Hashable]:
    """What tells the defaults of a function from those of another one of the same definition."""
    defaults = (*enumerate(closure.defaults), *closure.keyword_defaults.items())
    return {(name, key, kind_of_value(value), *flatten(value)) for key, value in defaults}


def _made_together(a: Scope, b: Scope) -> bool:
    return a is b or (a.memory_of is not None and a.memory_of is b.memory_of)


def _visible(scope: Scope | None, name: str) -> Value | None:
    while scope is not None:
        if name in scope.vars:
            return scope.vars[name]
        scope = scope.outer
    return None


def _read_callee(
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
    result = kind
    if updates or rebound:
        kinds = [*(k for _, k in leaves(kind)), *(kind_of_value(new) for new in updates.values())]
        kinds += [leaf for new, _ in rebound.values() for _, leaf in leaves(new)]
        result = Struct("tuple", tuple(range(len(kinds))), tuple(map(_one_leaf, kinds)))
    body = reader.builder.block(inside.params, outs)
    _refuse_around(it, reader, inside, body, started)
    function = Function(closure.name, tuple(inside.inputs), body, result)
    updated = {k: kind_of_value(new) for k, new in updates.items()}
    return function, kind, updated, {k: new for k, (new, _) in rebound.items()}, returns


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
