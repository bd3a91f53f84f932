"""What a recursive function keeps for its derivative: a record in memory, which lasts as long as anybody reads it.

What one call keeps holds what the calls in it keep, to any depth: no tuple of variables could. A record is one
piece of memory, a word for each number and pointer; what stands for it is its address. Records and what is in
them lie in the `arena`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from ....ir.graph import Atom, Function, Var
from ....ir.records import replace
from ....ir.types import UNKNOWN, Kind, Seq, Struct
from ..form.loopform import Allocate, Apply, Code, Constant, Expr, Load, Slot, Store
from ..improve.arena import is_elsewhere
from ..lower.lowering import BlockLowering
from ..lower.sequences import columns
from ..lower.sequences.lists import copied_list, item_copies
from ..values.emitter import Emitter
from ..values.layouts import KEPT, Item, Layout, record_of
from ..values.promotion import converted
from ..values.values import Root, Scalar, Tuple, Unlowered, Value, View, integer
from .composed import mapped, words_of


def kept_results(function: Function) -> list[int]:
    """The results of a function that may hold what the calls in it keep, by number."""
    packed = {eqn.outs[0] for eqn in function.body.eqns if eqn.op.name == "pack"}
    return [k for k, out in enumerate(function.body.outs) if _is_packed(out, packed)]


def _is_packed(out: Atom, packed: set[Var]) -> bool:
    return isinstance(out, Var) and out in packed and _is_open(out.kind)


def _is_open(kind: Kind) -> bool:
    """Whether a kind leaves something unknown, as that of what holds its like to any depth does."""
    match kind:
        case Struct(items=items):
            return any(map(_is_open, items))
        case Seq(item=item):
            return _is_open(item)
        case _:
            return kind == UNKNOWN


# --- writing ------------------------------------------------------------------------------


def keep(site: BlockLowering, value: Value, layout: Layout) -> Tuple:
    """Put a tuple into a record."""
    if not isinstance(value, Tuple) or value.form == KEPT:
        raise Unlowered("a recursive function that gives now one container, now another")
    e = site.e
    words: list[Expr] = []
    layout.items = []
    for item in value.items:
        lasting = _lasting(site, item)
        layout.items.append(Item(lasting, len(words)))
        words += words_of(lasting)
    record = layout.record = e.slot("record", "ptr")
    e.add(Allocate(record, integer(max(len(words), 1)), "i64"))
    for k, word in enumerate(words):
        e.add(Store(record, integer(k), _as_word(e, word)))
    return record_of(e.let(Apply("address", (record,), "i64")), layout)


def _lasting(site: BlockLowering, value: Value) -> Value:
    """The same value in memory that nobody writes to or releases any more."""
    match value:
        case View() if not value.root.lasts:
            return _lasting_array(site, value)
        case columns.GrowingList():
            return _lasting_list(site, value)
        case Tuple(items=items) if value.form != KEPT:
            return replace(value, items=tuple(_lasting(site, item) for item in items))
        case _:
            return value


def _lasting_array(site: BlockLowering, value: View) -> View:
    """An array that nobody else has, where it can stay."""
    if not _must_be_copied(site, [value.root]):
        return site.owned_array(value)
    made = site.copied(value)
    made.root.bound = value.root.bound
    return site.owned_array(made)


def _lasting_list(site: BlockLowering, value: columns.GrowingList) -> columns.GrowingList:
    """A list that nobody else has, and where it can stay: of another one, a copy."""
    roots = value.column.roots()
    if any(root not in site.e.owned and not root.lasts for root in roots):
        value = copied_list(site, value)
    elif _must_be_copied(site, roots):
        value = item_copies(site, value)
    for root in value.column.roots():
        if root in site.e.owned:
            site.e.owned.remove(root)
    return value


def _must_be_copied(site: BlockLowering, roots: Sequence[Root]) -> bool:
    """Whether memory is not in the arena, but must be: it is given up with the record that holds it."""
    elsewhere = is_elsewhere(site.e.statements, [root.pointer for root in roots])
    site.unit.leaves_memory |= elsewhere
    return elsewhere and site.unit.resets


def _as_word(e: Emitter, value: Expr) -> Expr:
    """A number or pointer as an integer of 64 bits."""
    match value.code:
        case "ptr":
            return e.variable("address", Apply("address", (value,), "i64"))
        case "f64" | "f32":
            return Apply("bits", (converted(e, value, "f64"),), "i64")
        case _:
            return converted(e, value, "i64")


def _from_word(e: Emitter, word: Expr, code: Code) -> Expr:
    match code:
        case "ptr":
            return Apply("pointer", (word,), "ptr")
        case "f64" | "f32":
            return converted(e, e.apply("from_bits", word, code="f64"), code)
        case _:
            return converted(e, word, code)


# --- reading ------------------------------------------------------------------------------


def kept_item(e: Emitter, record: Tuple, index: Value) -> Value:
    """An item of a record."""
    layout: Layout = record.type
    (address,) = record.items
    k = index.expr.value if isinstance(index, Scalar) and isinstance(index.expr, Constant) else -1
    if not 0 <= k < len(layout.items):
        raise Unlowered("an item of what a recursive function gives, chosen at run time")
    item = layout.items[int(k)]
    memory = e.variable("record", Apply("pointer", (address.expr,), "ptr"))
    layout.readers.append(memory)
    words = count(item.start)

    def loaded(like: Expr) -> Slot:
        word = e.let(Load(memory, integer(next(words)), "i64"))  # read in a statement of its own
        return e.variable("kept", _from_word(e, word, like.code))

    return mapped(item.like, loaded, lasts=True)
