"""Checkpointed loops: what reverse mode keeps of them, and what it runs again.

`in_blocks` turns every loop that has the param `every` into a loop over blocks of iterations around a
loop over the iterations of one block. The outer one has the param `again`: its reverse keeps what it
carries at the start of each block, runs the block again, keeps what that needs, and reverses it
(Griewank and Walther, Evaluating Derivatives, 2008, §12.2).

The length of a `while` is not known before it ends: its blocks grow, each one iteration longer than the
one before, so that neither their number nor their length passes √(2n).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import COMMENT, WHILE, Atom, Block, Const, Eqn, Function, Var, free_vars, walk
from ...ir.records import replace
from ...ir.renaming import clone, cloned_block, renamed_atom, renamed_block, renamed_eqn
from ...ir.types import BOOL, INT, Seq
from ...ops import registry, structure as st
from ...ops.program import containers as co, loops as lo, memory as me
from ..analysis.groups import has_memory, is_computed
from ..analysis.write_sets import same_objects, targets
from ..blocks.loops import LOOPS, Loop, Slot, for_eqn, view, while_eqn
from ..blocks.tidy import only_needed
from ..residuals.plan import Plan

# --- loops in blocks ----------------------------------------------------------------------


def with_loops_marked(function: Function) -> Function:
    """The function with its outermost loops checkpointed, those that are not already."""
    return replace(function, body=_with_loops_marked(function.body))


def _with_loops_marked(block: Block) -> Block:
    return replace(block, eqns=tuple(map(_with_loop_marked, block.eqns)))


def _with_loop_marked(eqn: Eqn) -> Eqn:
    if eqn.op not in LOOPS:
        return replace(eqn, blocks=tuple(map(_with_loops_marked, eqn.blocks)))
    marked = any("every" in inner.params for block in eqn.blocks for inner in walk(block))
    if marked or "every" in eqn.params:
        return eqn
    return replace(eqn, params={**eqn.params, "every": Const(None)})


def in_blocks(function: Function) -> Function:
    """The function with its checkpointed loops as loops over blocks of iterations."""
    if not any("every" in eqn.params for eqn in walk(function.body) if eqn.blocks):
        return function
    return replace(function, body=_in_blocks(function.body))


def _in_blocks(block: Block) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        if not eqn.blocks:
            eqns.append(eqn)
            continue
        inner = replace(eqn, blocks=tuple(map(_in_blocks, eqn.blocks)))
        if "every" not in eqn.params:
            eqns.append(inner)
        else:
            eqns += _divided_while(inner) if eqn.op is WHILE else _divided_for(inner)
    return replace(block, eqns=tuple(eqns))


def _plain(eqn: Eqn, **params: Atom) -> Eqn:
    """What a loop that is made of a checkpointed one takes over of it."""
    return replace(eqn, params=params)


def _divided_for(eqn: Eqn) -> list[Eqn]:
    """`for x in xs` becomes `for block in blocks(xs): for x in block`."""
    loop = view(eqn)
    around, inside = Builder(eqn.span), Builder(eqn.span)
    several = loop.iterables if len(loop.iterables) > 1 else ()
    counts = [around.emit(st.length, each) for each in several]
    every = eqn.params["every"]
    options = {} if every == Const(None) else {"every": every}
    blocks: list[tuple[Atom, Var]] = []
    items: list[tuple[Atom, Var]] = []
    for iterable, item in zip(loop.iterables, loop.items, strict=True):
        divided = around.emit_with(lo.blocks, (iterable, *counts), options, name="blocks")
        block = Var(st.item_kind(kind_of_atom(divided)), "block")
        blocks.append((divided, block))
        items.append((block, item))
    outer, inner = _nested_slots(loop)
    stopped = _stop_slot(loop)
    if stopped is not None:
        inner.append(stopped)
    lists = _nested_lists(loop)
    aligned = bool(eqn.param("aligned", False))
    collected = [(atom, part) for atom, part, _, _ in lists]
    inside.append(
        for_eqn(
            items, inner, collected, loop.body.eqns, _plain(eqn), stop=loop.stop, aligned=aligned
        )
    )
    around.append(
        for_eqn(
            blocks,
            outer,
            [(part, parts) for _, part, parts, _ in lists],
            inside.eqns,
            _plain(eqn, again=Const(True)),
            stop=None if stopped is None else stopped.out,
            aligned=True,
        )
    )
    return [*around.eqns, *_flattened(lists)]


def _nested_slots(loop: Loop) -> tuple[list[Slot], list[Slot]]:
    """What the loop carries, as slots of the outer and of the inner loop."""
    outer: list[Slot] = []
    inner: list[Slot] = []
    for initial, param, result, out in zip(
        loop.initials, loop.carried, loop.results, loop.outs, strict=True
    ):
        start, end = clone(param), clone(out)
        outer.append(Slot(initial, start, end, out))
        inner.append(Slot(start, param, result, end))
    return outer, inner


def _stop_slot(loop: Loop) -> Slot | None:
    """Whether the inner loop was left before its end: then the outer one ends as well."""
    if loop.stop is None:
        return None
    return Slot(Const(False), Var(BOOL), loop.stop, Var(BOOL))


_Lists = Sequence[tuple[Atom, Var, Var, Var]]
"""A collected value, the list of it in one block, the list of these lists, and what is wanted: all of it."""


def _nested_lists(loop: Loop) -> _Lists:
    parts = (clone(out) for out in loop.lists)
    return [
        (atom, part, Var(Seq(part.kind)), out)
        for atom, part, out in zip(loop.collected, parts, loop.lists, strict=True)
    ]


def _flattened(lists: _Lists) -> Iterable[Eqn]:
    return (Eqn((out,), co.flatten_lists, (parts,)) for _, _, parts, out in lists)


def _divided_while(eqn: Eqn) -> list[Eqn]:
    """`while test: body` becomes `while going: for _ in range(size): body; going = test`.

    The test is moved to the end of an iteration, so that it runs as often as it did.
    """
    loop = view(eqn)
    assert loop.test is not None
    around, inside, body = Builder(eqn.span), Builder(eqn.span), Builder(eqn.span)
    going = Slot(_tested(loop, loop.initials, around), Var(BOOL), Const(False), Var(BOOL))
    size = Slot(Const(1), Var(INT, "size"), Const(0), Var(INT, "size"))
    outer, inner = _nested_slots(loop)
    steps = inside.emit(st.range_, size.param)
    body.eqns += loop.body.eqns
    still = _still_going(loop, body)
    inner.append(Slot(going.param, Var(BOOL), still, Var(BOOL)))
    going.result = inner[-1].out
    lists = _nested_lists(loop)
    stop = body.emit(st.not_, still)
    inside.append(
        for_eqn(
            [(steps, Var(INT))],
            inner,
            [(atom, part) for atom, part, _, _ in lists],
            body.eqns,
            _plain(eqn),
            stop=stop,
        )
    )
    size.result = inside.emit(registry.named("add"), size.param, Const(1))
    slots = [*outer, going, size]
    tested = [clone(slot.param) for slot in slots]
    around.append(
        while_eqn(
            slots,
            [(part, parts) for _, part, parts, _ in lists],
            Block(tuple(tested), (), (tested[-2],)),
            inside.eqns,
            _plain(eqn, again=Const(True)),
        )
    )
    return [*around.eqns, *_flattened(lists)]


def _tested(loop: Loop, state: Sequence[Atom], builder: Builder) -> Atom:
    """The test of a `while`, of what it carries."""
    assert loop.test is not None
    mapping: dict[Var, Atom] = {}
    block = cloned_block(loop.test, mapping)
    mapping = dict(zip(block.params, state, strict=True))
    for eqn in block.eqns:
        builder.append(renamed_eqn(eqn, mapping))
    return renamed_atom(block.outs[0], mapping)


def _still_going(loop: Loop, body: Builder) -> Atom:
    """Whether there is another iteration; the test does not run once something has ended the loop."""
    if loop.stop is None:
        return _tested(loop, loop.results, body)
    test = body.child()
    condition = _tested(loop, loop.results, test)
    if not test.eqns and condition == Const(True):
        return body.emit(st.not_, loop.stop)
    out = Var(BOOL)
    body.if_(loop.stop, Block((), (), (Const(False),)), test.block((), [condition]), [out])
    return out


# --- iterations run again -----------------------------------------------------------------


def runs_again(loop: Loop) -> bool:
    """Whether the reverse of a loop runs its iterations again."""
    return bool(loop.eqn.param("again", False))


def run_again(
    forward: Sequence[Eqn], params: Sequence[Var], reverse: Block, available: Container[Var]
) -> Plan:
    """How a reverse block comes by the values of its forward block: nothing but parameters is kept.

    Args:
        forward: the equations of the forward block, which keep what the reverse block needs.
        params: the parameters of the forward block.
        reverse: the reverse block, which uses values of the forward block as if it were inside.
        available: parameters that the reverse block has at no cost.
    """
    computed = {out for eqn in forward for out in eqn.outs}
    wanted = [var for var in free_vars(reverse) if var in computed]
    again = _in_own_memory(only_needed(Block((), tuple(forward), tuple(wanted))), params)
    used = {*free_vars(again), *free_vars(reverse)}
    carried = [var for var in params if var in used and var not in available]
    announced = [comment("forward again"), *again.eqns, comment("reverse")] if again.eqns else []
    return Plan(carried, announced)


def _in_own_memory(block: Block, params: Sequence[Var]) -> Block:
    """A block that writes to copies of its parameters: the program itself has written to them."""
    reached = _reached_by_writes(block)
    copied = {var: clone(var) for var in params if var in reached and has_memory(var)}
    duplicates = (Eqn((copy,), me.duplicate, (var,)) for var, copy in copied.items())
    block = renamed_block(block, dict(copied))
    return replace(block, eqns=(*duplicates, *block.eqns))


def _reached_by_writes(block: Block) -> set[Var]:
    """The values that what a block writes to may be the same object as, a view of or a part of."""
    eqns = list(walk(block))
    sources = same_objects(eqns)
    for eqn in eqns:
        if eqn.op in LOOPS:
            loop = view(eqn)
            for item, iterable in zip(loop.items, loop.iterables, strict=True):
                sources.setdefault(item, []).extend(_variables([iterable]))
        elif not eqn.blocks and not is_computed(eqn):
            for out in eqn.outs:
                sources.setdefault(out, []).extend(_variables(eqn.operands()))
    found: set[Var] = set()
    pending = [target for eqn in eqns for target in targets(eqn)]
    while pending:
        var = pending.pop()
        if var not in found:
            found.add(var)
            pending += sources.get(var, ())
    return found


def _variables(atoms: Iterable[Atom]) -> Iterable[Var]:
    return (atom for atom in atoms if isinstance(atom, Var) and has_memory(atom))


def comment(text: str) -> Eqn:
    """A line for the reader of the generated code."""
    return Eqn((), COMMENT, (), {"text": Const(text)})
