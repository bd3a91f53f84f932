"""Reverse mode for the structural ops: containers, indexing, buffers."""

from __future__ import annotations

from collections.abc import Callable
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, ZERO, Atom, Const, Eqn, Var
from ...ir.op import Op
from ...ir.steps import Field
from ...ir.types import COMPLEX, FLOAT, UNKNOWN, Array, Kind, Number, Seq, Struct, Unknown
from ...ops import registry, structure as st
from ...ops.cotangent_kinds import gradient_kind
from ...ops.program import cotangents as ct, implicit as im
from ..analysis.realness import is_complex, is_real, says_little
from ..analysis.rule_calls import real_part
from ..memory.shadows import in_shadow, same_step
from .broadcasting import rank_of, surely_real
from .cotangents import NOTHING, Attribute, bar_name
from .cotangents_of_lists import nested_items

if TYPE_CHECKING:
    from .sweep import Sweep


def _pack(sweep: Sweep, eqn: Eqn) -> None:
    """item_bar = bar[key]."""
    keys = st.item_keys(eqn)
    out = eqn.outs[0]
    if _pass_parts_on(sweep, out, dict(zip(keys, eqn.args, strict=True))):
        return
    count = sweep.bars.count(out)
    bar = sweep.total(out)
    for key, item in zip(keys, eqn.args, strict=True):
        if sweep.is_active(item):
            item_bar = _item(sweep, bar, Const(key), item)
            used = None if count is None else _item(sweep, count, Const(key), item)
            contribute_used(sweep, item, item_bar, used)


def contribute_used(sweep: Sweep, item: Atom, bar: Atom, count: Atom | None) -> None:
    """Contribute to an item of a container what is used of it: nothing, if that is nothing."""
    if count is None:
        sweep.contribute(item, bar)
    elif isinstance(kind_of_atom(item), Array):
        sweep.contribute(item, bar, count)
    else:
        used = sweep.builder.emit(st.ne, count, Const(0))
        with sweep.bars.where(used):
            sweep.contribute(item, bar)


def _pass_parts_on(sweep: Sweep, out: Var, items: dict[Any, Atom]) -> bool:
    """Hand cotangents of single items straight to the items, without building a container."""
    if not sweep.bars.only_scattered(out):
        return False
    parts = sweep.bars.scattered[out]
    if not all(_key_of(path[0], items) is not None for path, _ in parts):
        return False
    del sweep.bars.scattered[out]
    for path, bar in parts:
        item = items[_key_of(path[0], items)]
        if len(path) == 1:
            sweep.contribute(item, bar)
        else:
            sweep.scatter(item, path[1:], bar)
    return True


def _key_of(step: Atom | Attribute, items: dict[Any, Atom]) -> Any:
    if isinstance(step, Attribute):
        return step.name if step.name in items else None
    if not isinstance(step, Const) or not isinstance(step.value, (int, str)):
        return None
    key = step.value
    if isinstance(key, int) and key < 0 and key not in items:
        key += len(items)
    return key if key in items else None


def _item(sweep: Sweep, bar: Atom, key: Atom, item: Atom) -> Atom:
    """The cotangent of an item; of a real one it is real, also where other items are complex."""
    whole, kind = kind_of_atom(bar), kind_of_atom(item)
    if item in sweep.context.unbound and isinstance(kind, (Number, Array)):
        part = sweep.builder.emit(st.getitem, bar, key, kind=UNKNOWN)
        return surely_real(sweep, sweep.builder.emit(st.accumulate, part, NOTHING), whole, kind)
    if is_complex(whole) and isinstance(kind, (Number, Array)):
        return real_part(sweep.builder, sweep.builder.emit(st.getitem, bar, key), kind)
    # the cotangent of a list that went into an array is one of the array, whatever its items are
    unsure = isinstance(whole, (Seq, Struct)) or says_little(whole)
    if unsure and sweep.context.maybe_complex and kind == FLOAT:
        part = sweep.builder.emit(st.getitem, bar, key, kind=COMPLEX)
        return sweep.builder.emit(registry.named("real"), part, namespace="np")
    of_array = isinstance(whole, (Array, Unknown)) and isinstance(kind, (Seq, Struct))
    wanted = UNKNOWN if of_array else gradient_kind(kind)
    part = sweep.builder.emit(st.getitem, bar, key, kind=wanted)
    if of_array and isinstance(kind, Seq):
        return nested_items(sweep.builder, part, kind, unbound=item in sweep.context.unbound)
    return surely_real(sweep, part, whole, kind)


def _getitem(sweep: Sweep, eqn: Eqn) -> None:
    """x_bar[index] += bar, in place."""
    x, index = eqn.args
    out = eqn.outs[0]
    if is_step(index) and sweep.bars.only_scattered(out):
        parts = sweep.bars.scattered.pop(out)
        if not any(isinstance(path[0], Attribute) for path, _ in parts):
            for path, bar in parts:
                sweep.scatter(x, (index, *path), bar)
            return
        sweep.bars.scattered[out] = parts
    bar = sweep.total(out)
    if isinstance(kind_of_atom(x), Seq) and same_step(index, Const(slice(None))):
        sweep.contribute(x, bar)
        return
    if isinstance(kind_of_atom(x), Array) and bar != ZERO and out not in sweep.context.maybe_none:
        bar = surely_real(sweep, bar, kind_of_atom(bar), kind_of_atom(x))
    sweep.scatter(x, (index,), bar)


def is_step(index: Atom) -> bool:
    """Whether `x[index]` is a part of x itself that can be written to, not a copy."""
    if isinstance(index, Const):
        return isinstance(index.value, (int, str)) and not isinstance(index.value, bool)
    return index.kind == Number("int")


def _getattr(sweep: Sweep, eqn: Eqn) -> None:
    x, name = eqn.args[0], eqn.param("name")
    steps = in_shadow(x, [Const(Field(name))]) if _is_kept(x, name) else [Attribute(name, x)]
    sweep.scatter(x, tuple(steps), sweep.total(eqn.outs[0]))


def _is_kept(x: Atom, name: str) -> bool:
    """Whether an object is known to keep an attribute of this name, which no property of its class gives."""
    kind = kind_of_atom(x)
    if not isinstance(kind, Struct) or name not in kind.keys or gradient_kind(kind) == UNKNOWN:
        return False
    found = getattr(kind.type, name, None)
    in_slot = isinstance(found, MemberDescriptorType)
    of_object = kind.form in ("dataclass", "object") and (in_slot or not hasattr(found, "__set__"))
    return kind.form == "namedtuple" or of_object


def _add_at(sweep: Sweep, eqn: Eqn) -> None:
    """buffer_bar = bar, value_bar = bar[index]."""
    buffer, *path, value = eqn.args
    bar = sweep.total(eqn.outs[0])
    sweep.contribute(buffer, bar)
    if sweep.is_active(value) and isinstance(kind_of_atom(bar), Number):
        spread = registry.named(
            "broadcast_like"
        )  # of an array without axes, which has become a number
        sweep.contribute(value, sweep.builder.emit(spread, bar, value))
    elif sweep.is_active(value):
        part = bar
        for index in path:
            part = sweep.builder.emit(st.getitem, part, index)
        part = surely_real(sweep, part, kind_of_atom(part), kind_of_atom(value))
        sweep.contribute(value, _as_written(sweep, part, value, spread=eqn.namespace == "np"))


def _as_written(sweep: Sweep, part: Atom, value: Atom, *, spread: bool) -> Atom:
    """The cotangent of a value that was added to a part of a buffer, and broadcast there.

    `spread`: the program added it, so that it may have fewer entries along an axis.
    """
    kind, written = kind_of_atom(part), kind_of_atom(value)
    if isinstance(kind, Number) or not isinstance(written, (Number, Array, Unknown)):
        return part
    same_rank = isinstance(written, Array) and rank_of(written) == rank_of(kind) is not None
    if same_rank and not spread:
        return part
    if isinstance(kind, Array) and isinstance(written, Number):
        return sweep.builder.emit(registry.named("sum"), part, namespace="np")
    return sweep.builder.emit(st.unbroadcast, part, value)


def _add_attr(sweep: Sweep, eqn: Eqn) -> None:
    buffer, x, value = eqn.args
    bar = sweep.total(eqn.outs[0])
    sweep.contribute(buffer, bar)
    if sweep.is_active(value):
        params = {"name": eqn.params["name"]}
        kind = gradient_kind(kind_of_atom(value))
        # an attribute may be complex where what is added to its cotangent is real
        unsure = sweep.context.maybe_complex and is_real(kind)
        part = sweep.builder.emit_with(
            ct.shadow_attr, (bar, x), params, kind=UNKNOWN if unsure else kind
        )
        if unsure:
            part = sweep.builder.emit(registry.named("real"), part, namespace="np", kind=kind)
        sweep.contribute(value, part)


def _shadow_attr(sweep: Sweep, eqn: Eqn) -> None:
    x_bar, x = eqn.args
    sweep.scatter(x_bar, (Attribute(eqn.param("name"), x),), sweep.total(eqn.outs[0]))


def _accumulate(sweep: Sweep, eqn: Eqn) -> None:
    bar = sweep.total(eqn.outs[0])
    for arg in eqn.args:
        sweep.contribute(arg, bar)


def _unbroadcast(sweep: Sweep, eqn: Eqn) -> None:
    """Summing over an axis and repeating along it are transposes of each other: it is its own."""
    x_bar = eqn.args[0]
    bar = sweep.total(eqn.outs[0])
    sweep.contribute(x_bar, sweep.builder.emit(st.unbroadcast, bar, x_bar))


def on_first(sweep: Sweep, eqn: Eqn) -> None:
    """The cotangent of what is given on is that of the first operand."""
    sweep.contribute(eqn.args[0], sweep.total(eqn.outs[0]))


def _partial_of_row(sweep: Sweep, eqn: Eqn) -> None:
    (partial,) = eqn.args
    bar = sweep.total(eqn.outs[0])
    sweep.contribute(partial, sweep.builder.emit(st.unbroadcast, bar, partial))


def _as_list(sweep: Sweep, eqn: Eqn) -> None:
    items_bar, x = sweep.total(eqn.outs[0]), eqn.args[0]
    sweep.contribute(x, cotangent_of_iterable(sweep, items_bar, x, whole=True))


def cotangent_of_iterable(
    sweep: Sweep, items_bar: Atom, x: Atom, *, whole: bool, reverse: bool = False
) -> Atom:
    """The cotangent of what was iterated over, from the list of its items' cotangents.

    `whole`: the iteration reached every item; otherwise the others get zeros.
    """
    if whole and is_list(kind_of_atom(x)):
        return items_bar
    params: dict[str, Atom] = {"reverse": Const(True)} if reverse else {}
    return sweep.builder.emit_with(ct.collected_cotangent, (items_bar, x), params)


def is_list(kind: Kind) -> bool:
    """Whether values of this kind are lists or tuples, whose cotangents are lists."""
    return isinstance(kind, Seq) or (isinstance(kind, Struct) and kind.form in ("list", "tuple"))


def _collected_cotangent(sweep: Sweep, eqn: Eqn) -> None:
    """items_bar_bar: as many items of bar as there were."""
    items_bar, items = eqn.args
    bar = sweep.total(eqn.outs[0])
    emit = sweep.builder.emit
    if not is_list(kind_of_atom(items)) and not isinstance(kind_of_atom(items), Array):
        reached = (bar, items_bar, items)
        sweep.contribute(items_bar, sweep.builder.emit_with(ct.items_reached, reached, eqn.params))
        return
    listed = emit(st.as_list, bar)
    count = emit(st.length, items_bar)
    if eqn.param("reverse", False):
        start = emit(registry.named("sub"), emit(st.length, listed), count)
        part = emit(st.slice_, start, Const(None), Const(None))
    else:
        part = emit(st.slice_, Const(None), count, Const(None))
    sweep.contribute(items_bar, emit(st.getitem, listed, part))


def _items_reached(sweep: Sweep, eqn: Eqn) -> None:
    bar, _, items = eqn.args
    total = sweep.total(eqn.outs[0])
    sweep.contribute(
        bar, sweep.builder.emit_with(ct.collected_cotangent, (total, items), eqn.params)
    )


def _rule_cotangents(sweep: Sweep, eqn: Eqn) -> None:
    bar = sweep.total(eqn.outs[0])
    sweep.contribute(eqn.args[0], sweep.builder.emit(ct.as_returned, bar, eqn.args[0]))


def _as_returned(sweep: Sweep, eqn: Eqn) -> None:
    bar = sweep.total(eqn.outs[0])
    sweep.contribute(eqn.args[0], sweep.builder.emit(ct.rule_cotangents, bar))


def _hook(sweep: Sweep, eqn: Eqn) -> None:
    """The user's function of the cotangent."""
    x, *captured = eqn.args
    callee = eqn.param("callee")
    bar = sweep.total(eqn.outs[0])
    if bar == ZERO:
        return
    assert callee.function is not None
    kind = kind_of_atom(callee.function.body.outs[0])
    changed = Var(kind, bar_name(x) if isinstance(x, Var) else "")
    params = {"callee": Const(callee)}
    args = (*captured, bar)
    sweep.builder.append(Eqn((changed,), CALL, args, params, (), "py", eqn.span))
    certain = isinstance(kind, Number) and gradient_kind(kind) == gradient_kind(kind_of_atom(x))
    sweep.contribute(
        x, changed if certain else sweep.builder.emit(ct.given_by_hook, changed, like=x)
    )


def _nothing(sweep: Sweep, eqn: Eqn) -> None:
    sweep.total(eqn.outs[0])


def _root(sweep: Sweep, eqn: Eqn) -> None:
    from .implicit import reverse_root

    reverse_root(sweep, eqn)


STRUCTURE: dict[Op, Callable[[Sweep, Eqn], None]] = {
    st.pack: _pack,
    st.closure: _pack,
    st.getitem: _getitem,
    st.getattr_: _getattr,
    st.add_at: _add_at,
    ct.add_attr: _add_attr,
    ct.shadow_attr: _shadow_attr,
    st.accumulate: _accumulate,
    st.unbroadcast: _unbroadcast,
    st.bound: on_first,
    ct.rule_pair: on_first,
    ct.rule_tangent: on_first,
    ct.partial_of_row: _partial_of_row,
    ct.given_by_row: on_first,
    ct.given_by_hook: on_first,
    im.root: _root,
    st.hook: _hook,
    st.project: on_first,
    st.unpackable: on_first,
    st.as_list: _as_list,
    st.as_tuple: _as_list,
    ct.shadow_items: _as_list,
    ct.collected_cotangent: _collected_cotangent,
    ct.items_reached: _items_reached,
    ct.rule_cotangents: _rule_cotangents,
    ct.as_returned: _as_returned,
    st.zeros: _nothing,
    st.stop_gradient: _nothing,
}
