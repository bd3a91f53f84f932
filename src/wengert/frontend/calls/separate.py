"""Functions that are called, not inlined: those that recurse, and large ones.

A call passes run-time values only. A container that the callee changes is passed as one run-time
object; what the callee changes comes back as further results, the new versions.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping, Sequence
from types import NoneType

from ...ir.graph import CALL, Atom, Callee, Const, Eqn, Var
from ...ir.records import replace
from ...ir.types import UNKNOWN, Array, Kind, Map, Static, Unknown
from ...ops.program import may_raise
from .. import heap
from ..domain.values import (
    Closure,
    Items,
    Maybe,
    Scope,
    Value,
    flatten,
    fresh,
    is_plain,
    kind_of_value,
)
from ..heap import captures, cells
from ..heap.loop_aliases import at_path, objects_in
from ..machine.interpreter import Interpreter
from ..machine.session import NeverReturns
from ..syntax.declarations import free_names
from .callee import Argument, read_callee


def call_separately(
    it: Interpreter, closure: Closure, bound: Mapping[str, Value], *, steered: bool = False
) -> Value:
    """Call a function whose code stands by itself; of one that is steered by constants, for few of them."""
    captured, known, siblings = _captured_by(it, closure)
    outside = [_argument(it, closure, *pair) for pair in captured.items()]
    outside += [_argument(it, closure, key, cell) for (_, key), cell in it.reading.cells.items()]
    given = [_argument(it, closure, *pair) for pair in bound.items()]
    if steered:
        given = _steering(it, closure, given)
    kinds = tuple((a.name, a.kind, a.whole is None, a.witness) for a in (*outside, *given))
    key = closure.identity, kinds, known, it.reading.kept_to_itself
    callee = it.reading.callees.get(key)
    if callee is None:
        callee = it.reading.callees[key] = Callee(closure.name, None, UNKNOWN)
        callee.result = None  # type: ignore[assignment]
        try:
            read_callee(it, callee, closure, outside, siblings, given)
        except Exception:
            # whoever reads it again must not take it for one that recurses
            del it.reading.callees[key]
            raise
    if callee.result is None:  # pyright: ignore[reportUnnecessaryComparison]
        raise NeverReturns  # recursion before any base case: this path tells nothing of the result
    _refuse_memo(it, closure, callee, len(outside))
    arguments = [*outside, *given]
    result, bound_anew = _emit_call(it, callee, arguments)
    for k, new in bound_anew.items():
        cell = arguments[k].cell
        assert cell is not None
        heap.put(it, cell, cell.holding((new,), ("contents",)))
    return result


def _refuse_memo(it: Interpreter, closure: Closure, callee: Callee, captured: int) -> None:
    """Each call of a recursion would keep a copy of what all of them change: a tape keeps the numbers alone."""
    changed = (kind for k, kind in callee.updates.items() if k < captured)
    recurs = closure.identity in it.reading.separate
    memo = any(isinstance(kind, (Map, Unknown)) for kind in changed)
    if recurs and memo and not it.reading.general:
        raise it.unsupported(
            f"{closure.name} calls itself and changes a dictionary or an object that all of its calls share",
            "Let it return what it finds, or keep it in a list or an array.",
        )


MOST_VERSIONS = 3
"""For so many choices of constants a function is read; then they are passed as what only the run knows."""


def _steering(it: Interpreter, closure: Closure, given: list[Argument]) -> list[Argument]:
    """The arguments, of which text, whole numbers, truth values and None are known to the body."""
    known = [replace(a, is_known=_steers(a.value)) for a in given]
    versions = it.reading.steered.setdefault(closure.identity, [])
    choice = [(a.name, a.value) for a in known if a.is_known]
    if choice not in versions:
        if len(versions) == MOST_VERSIONS:
            return given
        versions.append(choice)
    return known


def _steers(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, (str, int, NoneType))


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
