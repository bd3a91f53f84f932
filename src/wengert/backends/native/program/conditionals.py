"""Branches: `if`, and the body of `try`."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.graph import Atom, Block, Eqn, Var
from ....ir.records import replace
from ..form.loopform import Assign, Constant, Expr, If
from ..lower import branches, carried
from ..lower.carried import Holder
from ..lower.lowering import BlockLowering, lowers
from ..lower.plans import (
    WIDEST,
    ArrayPlan,
    ListPlan,
    NumberPlan,
    OfNumbersPlan,
    Plan,
    TuplePlan,
    origin_of,
)
from ..lower.sequences.columns import OF_NUMBERS, numbers_of
from ..lower.sequences.lists import grown
from ..lower.sequences.merged_lists import merged_list
from ..values import values as nv
from ..values.aliases import is_lent, note_copy
from ..values.loops import copy_elements
from .control import settled, truth


@lowers("if")
def lower_if(site: BlockLowering, eqn: Eqn) -> list[nv.Value]:
    site.prepare(eqn)
    condition = truth(site, eqn.args[0])
    if isinstance(condition, Constant):
        return _in_place(site, eqn.blocks[0 if condition.value else 1])
    blocks = [site.inside(block) for block in eqn.blocks]
    results = [_branch(inner, block) for inner, block in zip(blocks, eqn.blocks, strict=True)]
    outs: list[nv.Value] = []
    for k, (first, second, var) in enumerate(zip(*results, eqn.outs, strict=True)):
        a, b = _grown_together(blocks, (first, second), var)
        pair = (branches.placeholder(blocks[0], a, b), branches.placeholder(blocks[1], b, a))
        pair = branches.both_complex(blocks, pair)
        plan = branches.merged_plan(*pair)
        outs.append(_merged(site, blocks, pair, plan, var.name or "merged"))
        if isinstance(plan, ArrayPlan) and not site.unit.is_apart(var):
            _note_lent(site, outs[-1], blocks, pair, [block.outs[k] for block in eqn.blocks])
    for inner in blocks:
        inner.release_owned()
    then, other = (tuple(inner.e.statements) for inner in blocks)
    if then or other:
        site.e.add(If(condition, then, other))
    return outs


@lowers("try")
def lower_try(site: BlockLowering, eqn: Eqn) -> list[nv.Value]:
    """The body alone: where it raises, the program exits, and the Python form handles the exception."""
    site.prepare(eqn)
    return [nv.StaticValue(None), *_in_place(site, eqn.blocks[0])]


def _in_place(site: BlockLowering, block: Block) -> list[nv.Value]:
    """A block that certainly runs, as part of the block around it."""
    site.write_all()
    inner = site.inside(block, site.e)
    inner.run()
    values = [settled(inner, atom) for atom in block.outs]
    inner.write_all()
    return values


def _grown_together(
    blocks: Sequence[BlockLowering], pair: tuple[nv.Value, nv.Value], var: Var
) -> tuple[nv.Value, nv.Value]:
    """Lists of known length as lists of any length, where branches give lists of different lengths."""
    if not any(isinstance(value, nv.Tuple) for value in pair):
        return pair
    a, b = (grown(inner, value, var) for inner, value in zip(blocks, pair, strict=True))
    return a, b


def _branch(inner: BlockLowering, block: Block) -> list[nv.Value]:
    inner.run()
    values = [settled(inner, atom) for atom in block.outs]
    inner.write_all()
    return values


def _merged(
    site: BlockLowering,
    blocks: Sequence[BlockLowering],
    pair: Sequence[nv.Value],
    plan: Plan,
    hint: str,
) -> nv.Value:
    match plan:
        case NumberPlan():
            return _merged_number(site, blocks, pair, plan, hint)
        case ArrayPlan(in_place=True):
            return pair[0]
        case ArrayPlan():
            return _merged_array(site, blocks, pair, hint)
        case ListPlan():
            return merged_list(site, blocks, pair)
        case OfNumbersPlan(form=form, numbers=numbers):
            merged = _merged(site, blocks, [*map(numbers_of, pair)], numbers, hint)
            return OF_NUMBERS[form](merged)
        case TuplePlan(plans=plans):
            first: nv.Tuple = pair[0]
            items = tuple(
                _merged(site, blocks, (a, b), inner, hint)
                for a, b, inner in zip(first.items, pair[1].items, plans, strict=True)
            )
            return nv.Tuple(items, first.form, first.keys, first.type)
        case _:
            return pair[0]


def _merged_number(
    site: BlockLowering,
    blocks: Sequence[BlockLowering],
    pair: Sequence[nv.Value],
    plan: NumberPlan,
    hint: str,
) -> nv.Scalar:
    plan = replace(plan, bits=WIDEST)
    slot = site.e.slot(hint, plan.code)
    source = site.e.slot(f"{hint}_origin", "i64") if len(plan.among) > 1 else None
    for inner, value in zip(blocks, pair, strict=True):
        holder = Holder(None, plan, slot, source)
        carried.apply_updates(inner, [carried.update(inner, holder, value)])
    bits = max(value.bits for value in pair)
    return nv.Scalar(slot, origin_of(plan, source), bits)


def _merged_array(
    site: BlockLowering, blocks: Sequence[BlockLowering], pair: Sequence[nv.Value], hint: str
) -> nv.Value:
    small = [inner.view(value) for inner, value in zip(blocks, pair, strict=True)]
    if _are_small(small):
        return _merged_copies(site, blocks, small)
    pointer = site.e.slot(hint, "ptr")
    root = nv.Root(pointer, hint)
    for inner, value in zip(blocks, pair, strict=True):
        note_copy(root, of=inner.view(value).root)
    if any(view.root.bound is not None for view in small):
        bound = root.bound = site.e.slot("bound", "b1")
        for inner, view in zip(blocks, small, strict=True):
            inner.e.add(Assign(bound, carried.is_bound(view)))
    views = [inner.owned_array(value) for inner, value in zip(blocks, pair, strict=True)]
    a, b = views
    if a.code != b.code or len(a.dims) != len(b.dims):
        raise nv.Unlowered("branches that give arrays of different types")
    dims: list[Expr] = []
    for sizes in zip(a.dims, b.dims, strict=True):
        if sizes[0] == sizes[1]:
            dims.append(sizes[0])
            continue
        size = site.e.slot("size", "i64")
        dims.append(size)
        for inner, own in zip(blocks, sizes, strict=True):
            inner.e.add(Assign(size, own))
    for inner, view in zip(blocks, views, strict=True):
        inner.e.add(Assign(pointer, view.pointer))
    site.e.owned.append(root)
    return nv.View(root, a.code, tuple(dims), nv.c_strides(tuple(dims)), nv.ZERO, whole=True)


def _note_lent(
    site: BlockLowering,
    made: nv.View,
    blocks: Sequence[BlockLowering],
    pair: Sequence[nv.Value],
    atoms: Sequence[Atom],
) -> None:
    """Keep account of whether an array that branches merge is one of the caller's."""
    if made.root.of_caller or made.root.lent is not None:
        return
    made.root.lent = lent = site.e.slot("lent", "b1")
    for inner, value, atom in zip(blocks, pair, atoms, strict=True):
        apart = site.unit.is_apart(atom)
        inner.e.add(Assign(lent, is_lent(inner.view(value).root, apart=apart)))


def _are_small(views: Sequence[nv.View]) -> bool:
    a, b = views
    known = a.root.bound is None and b.root.bound is None
    return known and a.dims == b.dims and a.code == b.code and carried.is_small(a)


def _merged_copies(
    site: BlockLowering, blocks: Sequence[BlockLowering], views: Sequence[nv.View]
) -> nv.View:
    """An array that two branches fill."""
    made = site.allocate(views[0].dims, views[0].code, ())
    for inner, view in zip(blocks, views, strict=True):
        note_copy(made.root, of=view.root)
        copy_elements(inner.e, made, view)
    return made
