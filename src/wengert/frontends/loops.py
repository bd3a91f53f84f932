"""Loops: which values they carry, what they iterate over, how they end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import UnsupportedSyntax
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import Atom, Const, Var
from ..ir.types import (
    BOOL,
    UNKNOWN,
    Array,
    Kind,
    Seq,
    Static,
    is_differentiable,
    join,
)
from ..ops import structure as st
from .expressions import evaluate, open_up, truth
from .interpreter import Diverges, coerce, fresh
from .sharing import refusal
from .values import (
    Closure,
    Items,
    Iteration,
    Maybe,
    Native,
    Value,
    flatten,
    is_plain,
    kind_of_value,
    list_of,
    same,
    tuple_of,
)

if TYPE_CHECKING:
    from .interpreter import Interpreter

UNROLL = 8
"""A loop over this many known items or fewer is written out."""


# --- what is iterated over ----------------------------------------------------------------


class Running(NamedTuple):
    """An iteration that runs at run time, over several iterables side by side."""

    iterables: tuple[Atom, ...]
    item: Callable[[Sequence[Var]], Value]
    """The value of one item, from one element of each iterable."""
    guards: tuple[Callable[[Value], Value], ...] = ()
    """Conditions (from `filter`) that an item must pass."""


def iteration(it: Interpreter, value: Value) -> list[Value] | Running:
    """The known items of a value, or how to iterate over it at run time."""
    match value:
        case Items(form="dict", keys=keys):
            return [Const(key) for key in keys]
        case Items(form="tuple" | "list" | "namedtuple", values=values):
            return list(values)
        case Items(type=type_):
            raise it.unsupported(
                f"iterating over a {getattr(type_, '__name__', 'function')} object",
                "Iterate over a list or tuple that it holds.",
            )
        case Iteration():
            return _ITERATIONS[value.form](it, value)
        case Const(value=constant):
            return _iterate_constant(it, constant)
        case Var():
            return iterate_var(it, value)
        case Closure() | Native() | Maybe():
            raise it.unsupported(
                "this value cannot be iterated over here",
                "Iterate over a list, a tuple, an array or a range.",
            )


def _iterate_constant(it: Interpreter, constant: Any) -> list[Value] | Running:
    if isinstance(constant, str | range | tuple | frozenset) and len(constant) <= UNROLL:  # pyright: ignore[reportUnknownArgumentType]
        return [Const(item) for item in constant]
    if isinstance(constant, str | range | tuple):
        var = it.emit(st.as_list, Const(constant))
        return iterate_var(it, var)
    raise it.unsupported(f"a {type(constant).__name__} cannot be iterated over here", "Use a list.")


def iterate_var(it: Interpreter, value: Atom) -> Running:
    kind = kind_of_atom(value)
    if kind == UNKNOWN:
        value = it.emit(st.as_list, value)
    return Running((value,), lambda elements: open_up(it, elements[0]))


def _zip(it: Interpreter, value: Iteration) -> list[Value] | Running:
    parts = [iteration(it, part) for part in value.parts]
    known = [part for part in parts if isinstance(part, list)]
    if len(known) == len(parts):
        return [tuple_of(*items) for items in zip(*known, strict=False)]
    return _side_by_side(it, parts, tuple_of)


def _side_by_side(
    it: Interpreter, parts: Sequence[list[Value] | Running], make: Callable[..., Value]
) -> Running:
    running = [at_run_time(it, part) for part in parts]
    counts = [len(part.iterables) for part in running]

    def item(elements: Sequence[Var]) -> Value:
        values, start = [], 0
        for part, count in zip(running, counts, strict=True):
            values.append(part.item(elements[start : start + count]))
            start += count
        return make(*values)

    if any(part.guards for part in running):
        raise it.unsupported(
            "`filter` inside `zip` or `enumerate` is not covered", "Filter into a list first."
        )
    return Running(tuple(i for part in running for i in part.iterables), item)


def at_run_time(it: Interpreter, part: list[Value] | Running) -> Running:
    if isinstance(part, Running):
        return part
    if part and all(isinstance(v, Const) and v.value == k for k, v in enumerate(part)):
        return iterate_var(it, it.emit(st.range_, Const(len(part))))
    return iterate_var(it, it.atom(list_of(*part)))


def _enumerate(it: Interpreter, value: Iteration) -> list[Value] | Running:
    part = iteration(it, value.parts[0])
    start = value.parts[1]
    if isinstance(part, list):
        if isinstance(start, Const):
            return [tuple_of(Const(start.value + k), item) for k, item in enumerate(part)]
        part = at_run_time(it, part)
    count = it.emit(st.length, part.iterables[0])
    from ..ops import elementwise as el

    if start == Const(0):
        indices = it.emit(st.range_, count)
    else:
        first = it.atom(start)
        indices = it.emit(st.range_, first, it.emit(el.add, first, count))
    return _side_by_side(it, [Running((indices,), lambda e: e[0]), part], tuple_of)


def _map(it: Interpreter, value: Iteration) -> list[Value] | Running:
    from .calls import call

    assert value.function is not None
    function = value.function

    def make(*items: Value) -> Value:
        return call(it, function, list(items), {})

    parts = [iteration(it, part) for part in value.parts]
    known = [part for part in parts if isinstance(part, list)]
    if len(known) == len(parts):
        return [make(*items) for items in zip(*known, strict=False)]
    return _side_by_side(it, parts, make)


def _filter(it: Interpreter, value: Iteration) -> list[Value] | Running:
    from .calls import call

    def keep(item: Value) -> Value:
        if value.function is None or value.function == Const(None):
            return item
        return call(it, value.function, [item], {})

    part = iteration(it, value.parts[0])
    if isinstance(part, list):
        known = [it.known_truth(keep(item)) for item in part] if part else []
        if all(k is not None for k in known):
            return [item for item, k in zip(part, known, strict=True) if k]
        part = at_run_time(it, part)
    return Running(part.iterables, part.item, (*part.guards, keep))


def _reversed(it: Interpreter, value: Iteration) -> list[Value] | Running:
    part = iteration(it, value.parts[0])
    if isinstance(part, list):
        return part[::-1]
    if len(part.iterables) != 1 or part.guards:
        return _reversed(it, Iteration("reversed", (as_list(it, value.parts[0]),)))
    backwards = it.emit(st.getitem, part.iterables[0], Const(slice(None, None, -1)))
    return Running((backwards,), part.item)


def _dict_items(it: Interpreter, value: Iteration) -> list[Value] | Running:
    mapping = value.parts[0]
    what = value.form
    if isinstance(mapping, Items):
        if what == "keys":
            return [Const(key) for key in mapping.keys]
        if what == "values":
            return list(mapping.values)
        pairs = zip(mapping.keys, mapping.values, strict=True)
        return [tuple_of(Const(key), item) for key, item in pairs]
    source = it.atom(mapping)
    keys = it.emit(st.as_list, source)

    def item(elements: Sequence[Var]) -> Value:
        if what == "keys":
            return elements[0]
        entry = it.emit(st.getitem, source, elements[0])
        return entry if what == "values" else tuple_of(elements[0], entry)

    return Running((keys,), item)


def _generator(it: Interpreter, value: Iteration) -> list[Value] | Running:
    return iteration(it, as_list(it, value))


_ITERATIONS: dict[str, Callable[..., list[Value] | Running]] = {
    "zip": _zip,
    "enumerate": _enumerate,
    "map": _map,
    "filter": _filter,
    "reversed": _reversed,
    "items": _dict_items,
    "keys": _dict_items,
    "values": _dict_items,
    "generator": _generator,
}


def known_items(it: Interpreter, value: Value) -> list[Value] | None:
    """The items of a value that is iterated over, where they are known one by one."""
    if isinstance(value, Var):
        opened = open_up(it, value)
        if isinstance(opened, Items):
            return known_items(it, opened)
        return None
    if isinstance(value, Items | Iteration) or (
        isinstance(value, Const) and isinstance(value.value, str | range)
    ):
        items = iteration(it, value)
        return items if isinstance(items, list) else None
    return None


def as_list(it: Interpreter, value: Value) -> Value:
    """`list(value)`."""
    if isinstance(value, Iteration) and value.form == "generator":
        assert isinstance(value.function, Native)
        return value.function.call(it, (), {})
    items = iteration(it, value)
    if isinstance(items, list):
        return list_of(*items)
    if len(items.iterables) == 1 and isinstance(value, Var):
        source = items.iterables[0]
        return source if source is not value else it.emit(st.as_list, source)
    return collect(it, items, lambda item: item)


# --- running a loop -----------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _names_assigned(node: ast.AST) -> frozenset[str]:
    found: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        match current:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=asname):
                found.add((asname or name).split(".")[0])
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                stack.extend(n for n in ast.walk(current) if isinstance(n, ast.NamedExpr))
                continue
            case _:
                pass
        stack.extend(ast.iter_child_nodes(current))
    return frozenset(found)


def assigned_names(body: Sequence[ast.AST]) -> list[str]:
    """The names that some statements may bind, sorted."""
    return sorted(set().union(*(_names_assigned(node) for node in body)))


def run_for(it: Interpreter, node: ast.For) -> None:
    from .statements import assign, run_body

    iterable = evaluate(it, node.iter)
    items = iteration(it, iterable)
    depth = it.frame.loops + 1

    def body(item: Value) -> None:
        assign(it, node.target, item)
        run_body(it, node.body)

    names = assigned_names([node.target, *node.body])
    if isinstance(items, Running):
        run_loop(it, node, names, items, _guarded(it, items, body))
    elif not items or (should_unroll(items) and not _is_range(iterable)):
        _unroll(it, items, body)
    else:
        _run_or_unroll(it, node, names, items, body)
    _finish(it, depth, node.orelse)


def _is_range(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, range)


def _run_or_unroll(
    it: Interpreter,
    node: ast.For,
    names: list[str],
    items: list[Value],
    body: Callable[[Value], None],
) -> None:
    """A loop over known items as a loop; written out where an iteration needs to know its item."""
    before, written, loops = dict(it.vars), len(it.builder.eqns), it.frame.loops
    frames = len(it.frames)
    try:
        running = at_run_time(it, items)
        run_loop(it, node, names, running, body)
    except UnsupportedSyntax:
        if len(items) > 4 * UNROLL:
            raise
        del it.builder.eqns[written:], it.frames[frames:]
        it.frame.scope.vars, it.frame.loops = before, loops
        _unroll(it, items, body)


def _guarded(
    it: Interpreter, running: Running, body: Callable[[Value], None]
) -> Callable[[Value], None]:
    """The body, for the items that pass every guard."""
    for guard in running.guards:
        body = partial(_run_if_passed, it, guard, body)
    return body


def _run_if_passed(
    it: Interpreter, guard: Callable[[Value], Value], body: Callable[[Value], None], item: Value
) -> None:
    it.branch(truth(it, guard(item)), partial(body, item), lambda: None)


def should_unroll(items: list[Value]) -> bool:
    if len(items) <= UNROLL:
        return True
    kinds = {kind_of_value(item) for item in items}
    return len(kinds) > 1 or not all(map(is_plain, items))


def _unroll(it: Interpreter, items: list[Value], body: Callable[[Value], None]) -> None:
    it.frame.loops += 1
    depth = it.frame.loops
    it.vars[f"%break{depth}"] = Const(False)

    def step(item: Value) -> None:
        it.vars[f"%continue{depth}"] = Const(False)
        body(item)
        it.vars[f"%continue{depth}"] = Const(False)

    it.run([partial(step, item) for item in items])
    it.frame.loops -= 1


def _finish(it: Interpreter, depth: int, orelse: Sequence[ast.stmt]) -> None:
    """After a loop: its `else` runs unless something left it."""
    from .statements import run_body

    broke = it.vars.pop(f"%break{depth}", Const(False))
    it.vars.pop(f"%continue{depth}", None)
    if orelse:
        assert isinstance(broke, Var | Const)
        left = it.either(broke, it.flag("%returned"))
        it.branch(left, lambda: None, lambda: run_body(it, orelse))


@dataclass(slots=True, eq=False, repr=False)
class Carried:
    """What is assumed of one name around a loop."""

    kind: Kind | None = None
    """The kind of the value it carries; None: the loop leaves it as it was."""
    maybe: bool = False
    """Whether the name may be unbound when an iteration starts."""


def _assume(entry: Value | None, learned: Carried | None) -> Carried:
    """A first guess, from the value on entry and what an earlier reading of the loop learned."""
    guess = _first_guess(entry)
    if learned is None or learned.kind is None:
        return guess
    if entry is None or guess.kind is None:
        return guess if entry is not None else Carried(learned.kind, maybe=True)
    return Carried(join(guess.kind, learned.kind), guess.maybe or learned.maybe)


def _first_guess(entry: Value | None) -> Carried:
    if entry is None:
        return Carried(None, maybe=True)
    maybe = isinstance(entry, Maybe)
    value = entry.value if isinstance(entry, Maybe) else entry
    kind = kind_of_value(value)
    fixed = isinstance(value, Const) and not is_differentiable(kind)
    return Carried(None if fixed or isinstance(kind, Static) else kind, maybe)


@dataclass(slots=True, eq=False, repr=False)
class Attempt:
    """One reading of a loop's body under an assumption."""

    builder: Builder
    params: dict[str, Value]
    end: dict[str, Value]
    stop: Atom
    collected: list[Atom]
    dead: bool
    unbound: set[str]
    """Names that were read where nothing had bound them."""


Collect = Callable[[], Sequence[Value]]


def run_loop(
    it: Interpreter,
    node: ast.AST,
    names: Sequence[str],
    running: Running | None,
    body: Callable[[Value], None],
    *,
    test: Callable[[], Atom] | None = None,
    collecting: Collect | None = None,
) -> list[Var]:
    """Emit a `for` (over `running`) or a `while` (on `test`); gives the collected lists."""
    it.frame.loops += 1
    depth = it.frame.loops
    it.vars[f"%break{depth}"] = Const(False)
    flags = [f"%break{depth}", "%returned", "%return"]
    entry = {name: it.vars.get(name) for name in (*names, *flags)}
    key = (id(node), tuple(id(frame.closure.node) for frame in it.frames))
    learned = it.reading.loop_kinds.get(key, {})
    assumed = {name: _assume(value, learned.get(name)) for name, value in entry.items()}
    elements = [Var(st.item_kind(kind_of_atom(i))) for i in running.iterables] if running else []
    # an item that is an array or a list belongs to what is iterated over
    it.reading.inputs += [e for e in elements if isinstance(e.kind, Array | Seq)]
    for _ in range(12):
        attempt = _attempt(it, entry, assumed, elements, running, body, collecting)
        assumed, held = _widen(entry, assumed, attempt)
        if held:
            break
    else:
        raise it.unsupported(
            "the kinds of the values that this loop carries from turn to turn never settle",
            "Start them as what they become: 0.0 instead of None or an empty list, say.",
        )
    if not isinstance(node, LoopKey):
        it.reading.loop_kinds[key] = assumed
    it.frame.loops -= 1
    return _emit_loop(it, entry, assumed, attempt, elements, running, test)


def _attempt(
    it: Interpreter,
    entry: dict[str, Value | None],
    assumed: dict[str, Carried],
    elements: Sequence[Var],
    running: Running | None,
    body: Callable[[Value], None],
    collecting: Collect | None,
) -> Attempt:
    outer, scope, before = it.builder, it.frame.scope, dict(it.vars)
    it.builder = outer.child()
    depth = it.frame.loops
    unbound, it.frame.unbound = it.frame.unbound, set()
    params = _enter(it, entry, assumed)
    it.vars[f"%continue{depth}"] = Const(False)
    collected: list[Atom] = []
    dead = False
    try:
        body(running.item(elements) if running else Const(None))
        if collecting is not None:
            collected = [it.atom(value) for value in collecting()]
    except Diverges:
        dead = True
    stop = Const(False) if dead else it.either(it.flag(f"%break{depth}"), it.flag("%returned"))
    if not dead:
        _refuse_shared_at_end(it, assumed, scope.vars)
    attempt = Attempt(it.builder, params, scope.vars, stop, collected, dead, it.frame.unbound)
    it.frame.unbound = unbound | it.frame.unbound
    it.builder, scope.vars = outer, before
    return attempt


def _enter(
    it: Interpreter, entry: dict[str, Value | None], assumed: dict[str, Carried]
) -> dict[str, Value]:
    """Bind every carried name to a parameter of the loop's body."""
    params: dict[str, Value] = {}
    for name, carried in assumed.items():
        if carried.kind is None:
            if entry[name] is None:
                it.vars.pop(name, None)
            continue
        params[name] = it.vars[name] = _param(name, carried)
        _note_entries(it, entry[name], params[name])
    return params


def _note_entries(it: Interpreter, entry: Value | None, param: Value) -> None:
    match entry, param:
        case Maybe(value=inner), Maybe(value=inner_param):
            _note_entries(it, inner, inner_param)
        case Var(), Var():
            it.reading.entries[param] = entry
        case Items(values=values), Items(values=params) if len(values) == len(params):
            for value, inside in zip(values, params, strict=True):
                _note_entries(it, value, inside)
        case _:
            return


def _refuse_shared_at_end(it: Interpreter, names: Iterable[str], end: dict[str, Value]) -> None:
    """An array changed in place must not be another name's array when the next iteration starts."""
    for name in it.frame.augmented & set(names):
        value = end.get(name)
        if not isinstance(value, Var):
            continue
        for other in names:
            if other != name and end.get(other) is value:
                raise refusal(it, name, None)


def _widen(
    entry: dict[str, Value | None], assumed: dict[str, Carried], attempt: Attempt
) -> tuple[dict[str, Carried], bool]:
    """What is to be assumed, and whether the attempt that was made assumed it."""
    if attempt.dead:
        return assumed, True
    changed = False
    result: dict[str, Carried] = {}
    for name, carried in assumed.items():
        end = attempt.end.get(name)
        new = _widened(entry[name], carried, end)
        if new.kind is not None and _first_bound_inside(name, entry, carried, attempt):
            attempt.params[name] = _param(name, new)
            result[name] = new
            continue
        if name == "%return" and new.kind is not None:
            new.maybe = True
        result[name] = new
        changed = changed or (new.kind, new.maybe) != (carried.kind, carried.maybe)
    return result, not changed


def _first_bound_inside(
    name: str, entry: dict[str, Value | None], carried: Carried, attempt: Attempt
) -> bool:
    """Whether every iteration binds a name before it reads it: then nothing was assumed of it."""
    bound = entry[name] is None and carried.kind is None and name not in attempt.unbound
    return bound and not isinstance(attempt.end.get(name), Maybe)


def _param(name: str, carried: Carried) -> Value:
    """The parameter of a loop's body for a carried value."""
    assert carried.kind is not None
    hint = "" if name.startswith("%") else name
    value = fresh(carried.kind, hint)
    if not carried.maybe:
        return value
    leaf = next(flatten(value), None)
    return Maybe(value, leaf if isinstance(leaf, Var) else Var(BOOL, hint))


def _widened(entry: Value | None, carried: Carried, end: Value | None) -> Carried:
    if end is None:
        return carried
    maybe = carried.maybe or isinstance(end, Maybe)
    value = end.value if isinstance(end, Maybe) else end
    kind = kind_of_value(value)
    if carried.kind is not None:
        return Carried(join(carried.kind, kind), maybe)
    if entry is None:
        return Carried(kind, maybe=True)
    inner = entry.value if isinstance(entry, Maybe) else entry
    if same(inner, value):
        return carried
    return Carried(join(kind_of_value(inner), kind), maybe)


def _emit_loop(
    it: Interpreter,
    entry: dict[str, Value | None],
    assumed: dict[str, Carried],
    attempt: Attempt,
    elements: Sequence[Var],
    running: Running | None,
    test: Callable[[], Atom] | None,
) -> list[Var]:
    params: list[Var] = []
    initials: list[Atom] = []
    ends: list[Atom] = []
    outs: list[Var] = []
    after = dict(it.vars)
    for name, carried in assumed.items():
        if carried.kind is None:
            continue
        param = attempt.params[name]
        out = _out_like(name, carried, params_only=param)
        initials += _carried_atoms(it, it.builder, entry[name], carried)
        params += _leaves(param)
        end = param if attempt.dead else attempt.end.get(name)
        ends += _carried_atoms(it, attempt.builder, end, carried)
        outs += _leaves(out)
        after[name] = out
    collected = [Var(Seq(kind_of_atom(atom))) for atom in attempt.collected]
    stop = attempt.stop != Const(False)
    body_outs = [*([attempt.stop] if stop else []), *ends, *attempt.collected]
    all_outs = [*outs, *collected]
    body = attempt.builder.block([*elements, *params], body_outs)
    if running is not None:
        it.builder.for_(running.iterables, initials, body, all_outs, stop=stop)
    else:
        assert test is not None
        it.builder.while_(initials, _test_block(it, assumed, test), body, all_outs, stop=stop)
    it.frame.scope.vars = after
    return collected


def _test_block(it: Interpreter, assumed: dict[str, Carried], test: Callable[[], Atom]) -> Any:
    outer, before = it.builder, dict(it.vars)
    it.builder = outer.child()
    params = _enter(
        it, {name: None if c.maybe else Const(0) for name, c in assumed.items()}, assumed
    )
    condition = test()
    block = it.builder.block(
        [leaf for value in params.values() for leaf in _leaves(value)], [condition]
    )
    it.builder, it.frame.scope.vars = outer, before
    return block


def _leaves(value: Value) -> list[Var]:
    atoms = [atom for atom in flatten(value) if isinstance(atom, Var)]
    if isinstance(value, Maybe) and not any(atom is value.witness for atom in atoms):
        atoms.append(value.witness)
    return atoms


def _out_like(name: str, carried: Carried, params_only: Value) -> Value:
    assert carried.kind is not None
    hint = "" if name.startswith("%") else name
    value = fresh(carried.kind, hint)
    if isinstance(params_only, Maybe):
        leaf = next(flatten(value), None)
        value = Maybe(value, leaf if isinstance(leaf, Var) else Var(BOOL, hint))
    return value


def _carried_atoms(
    it: Interpreter, builder: Builder, value: Value | None, carried: Carried
) -> list[Atom]:
    """The atoms that hold a carried value on one edge of the loop."""
    assert carried.kind is not None
    outer, it.builder = it.builder, builder
    atoms = coerce(it, value, carried.kind)
    it.builder = outer
    if carried.maybe and not atoms:
        from ..ir.graph import UNDEFINED

        known = value is not None and not isinstance(value, Maybe)
        witness = value.witness if isinstance(value, Maybe) else Const(True)
        atoms = [witness if known or isinstance(value, Maybe) else UNDEFINED]
    return atoms


def run_while(it: Interpreter, node: ast.While) -> None:
    from .statements import run_body

    depth = it.frame.loops + 1
    known = it.known_truth(evaluate(it, node.test)) if isinstance(node.test, ast.Constant) else None
    if known is False:
        run_body(it, node.orelse)
        return
    names = assigned_names([node.test, *node.body])
    if _simple_test(node.test):

        def test() -> Atom:
            return truth(it, evaluate(it, node.test))

        run_loop(it, node, names, None, lambda _: run_body(it, node.body), test=test)
    else:
        # the test binds names or may leave: it becomes the first statement of an endless loop
        def body(_: Value) -> None:
            def leave() -> None:
                it.vars[f"%test{depth}"] = Const(True)
                it.vars[f"%break{depth}"] = Const(True)

            condition = truth(it, evaluate(it, node.test))
            it.branch(condition, lambda: run_body(it, node.body), leave)

        it.vars[f"%test{depth}"] = Const(False)
        run_loop(it, node, [*names, f"%test{depth}"], None, body, test=lambda: Const(True))
        _by_test(it, depth)
    if known is True and it.vars.get(f"%break{depth}") == Const(False):
        if it.flag("%returned") == Const(False):
            raise Diverges
        it.vars["%returned"] = Const(True)  # `while True` without `break` ends only by `return`
    _finish(it, depth, node.orelse)


def _by_test(it: Interpreter, depth: int) -> None:
    """Leaving by the test is not a `break`: the loop's `else` runs."""
    by_test = it.vars.pop(f"%test{depth}")
    it.branch(by_test, lambda: it.vars.update({f"%break{depth}": Const(False)}), lambda: None)


def _simple_test(node: ast.expr) -> bool:
    """Whether a `while` test is one expression that binds nothing and calls nothing unknown."""
    return not any(
        isinstance(n, ast.NamedExpr | ast.Lambda | ast.ListComp | ast.GeneratorExp)
        for n in ast.walk(node)
    )


def collect(it: Interpreter, running: Running, make: Callable[[Value], Value]) -> Value:
    """A list with one value per item."""
    made: list[Value] = []

    def body(item: Value) -> None:
        made[:] = [make(item)]

    if running.guards:
        from .comprehensions import collect_guarded

        return collect_guarded(it, running, make)
    node = it.frame.closure.node
    marker = LoopKey(node)
    lists = run_loop(it, marker, [], running, body, collecting=lambda: made)
    return lists[0] if lists else list_of()  # no iteration ever comes to its end


class LoopKey(ast.AST):
    """Stands for a loop that has no statement of its own."""

    def __init__(self, node: ast.AST):
        super().__init__()
        self.node = node


def loop_over(
    it: Interpreter, running: Running, names: Sequence[str], body: Callable[[Value], None]
) -> None:
    """A loop that the interpreter itself writes; `names` are the slots it carries."""
    marker = LoopKey(it.frame.closure.node)
    run_loop(it, marker, names, running, _guarded(it, running, body))
    it.vars.pop(f"%break{it.frame.loops + 1}", None)
