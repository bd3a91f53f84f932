"""Parts of tangents and cotangents: where a write's path leads in them, and what is stored there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...errors import NoRule
from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import INT, NONE, SLICE, UNKNOWN, Array, Kind, Map, Number, Other, Seq, Struct
from ...ops import registry, structure as st
from ...ops.program import memory as me
from ...rules.registry import rule_for
from ..analysis.rule_calls import one, options

Path = Sequence[Atom]
Read = Callable[..., Any]


def in_shadow(whole: Atom, path: Path) -> list[Atom]:
    """The steps of a path from a value in its tangent or cotangent: an object's attributes are keys there."""
    kind, steps = kind_of_atom(whole), list[Atom]()
    for step in path:
        steps.append(_step_in_shadow(kind, step))
        kind = me.kind_after(kind, step)
    return steps


def _step_in_shadow(kind: Kind, step: Atom) -> Atom:
    """One step; the cotangent of a namedtuple is a list."""
    if not isinstance(step, Const) or not isinstance(step.value, me.Field):
        return step
    name = step.value.name
    if isinstance(kind, Struct) and kind.form == "namedtuple" and name in kind.keys:
        return Const(kind.keys.index(name))
    return Const(name)


def part_at(builder: Builder, x: Atom, path: Path, kind: Kind | None = None) -> Atom:
    """The part of a tangent or cotangent that a path leads to; `kind` is the part's, if known."""
    for k, step in enumerate(path):
        if isinstance(step, Const) and isinstance(step.value, me.Viewed):
            x = _viewed(builder, x, step.value)
        else:
            x = builder.emit(st.getitem, x, step, kind=kind if k == len(path) - 1 else None)
    return x


def stored_at(
    builder: Builder, read: Read, x: Atom, path: Path, value: Atom, name: str = ""
) -> Atom:
    """A tangent or cotangent with a value in the place of the part that a path leads to.

    What a view makes of it is written to and turned back: whether that takes a copy is known only when
    the program runs.
    """
    at = next((k for k, step in enumerate(path) if me.is_view(step)), None)
    if at is None:
        return builder.emit(me.stored, x, *path, value, name=name, kind=kind_of_atom(x))
    before, step, rest = path[:at], path[at], path[at + 1 :]
    assert isinstance(step, Const)
    whole = part_at(builder, x, before)
    part = stored_at(builder, read, _viewed(builder, whole, step.value), rest, value)
    back = _turned_back(builder, read, whole, step.value, part)
    return stored_at(builder, read, x, before, back, name) if before else back


_OF_COMPLEX = ("real", "imag")


def _viewed(builder: Builder, x: Atom, view: me.Viewed) -> Atom:
    params = {name: Const(value) for name, value in view.options}
    part = builder.emit_with(view.op, (x,), params, view.namespace)
    # the imaginary part of an array of real numbers cannot be written to
    return builder.emit(me.snapshot, part) if view.op.name in _OF_COMPLEX else part


def _turned_back(builder: Builder, read: Read, whole: Atom, view: me.Viewed, part: Atom) -> Atom:
    """What `whole` is if its view is `part`: views move entries, so this is their transpose."""
    if view.op.name in _OF_COMPLEX:
        return _recombined(builder, whole, view, part)
    if view.op.name == "asarray":
        return part  # where it is a view, it is the array itself
    rule = rule_for(view.op)
    row = rule.rows[0] if rule is not None and rule.form == "linear" else None
    if row is None:
        raise NoRule(
            f"a write through {view.op.name} has no derivative",
            "Write to the array by an index of its own.",
            builder.span,
        )
    params = {name: Const(value) for name, value in view.options}
    eqn = Eqn((Var(),), view.op, (whole,), params, (), view.namespace)
    return one(read(builder, row, (part, whole), options(eqn, row), "np"), builder)


def _recombined(builder: Builder, whole: Atom, view: me.Viewed, part: Atom) -> Atom:
    """A complex array from one part that was written to and the other."""
    other = "imag" if view.op.name == "real" else "real"
    rest = builder.emit(registry.named(other), whole, namespace="np")
    re, im = (part, rest) if other == "imag" else (rest, part)
    return builder.emit(
        registry.named("add"), re, builder.emit(registry.named("mul"), im, Const(1j))
    )


# --- indices ------------------------------------------------------------------------------

_ONE_PLACE = (NONE, SLICE, Other("ellipsis"))


def may_repeat(index: Atom) -> bool:
    """Whether an index of an array may name an element twice."""
    return not all(
        isinstance(part, Number) or part in _ONE_PLACE for part in _parts(index)
    ) and any(not (isinstance(part, Array) and part.dtype == "bool") for part in _parts(index))


def copies(index: Atom) -> bool:
    """Whether an array read by this index certainly is a copy."""
    lists = (Array, Seq)
    return any(
        isinstance(part, lists) or (isinstance(part, Struct) and part.form == "list")
        for part in _parts(index)
    )


def _parts(index: Atom) -> Iterator[Kind]:
    kind = kind_of_atom(index)
    if isinstance(index, Const) and isinstance(index.value, tuple):
        for value in index.value:  # pyright: ignore[reportUnknownVariableType]
            yield _kind_of_part(Const(value))
    elif isinstance(kind, Struct) and kind.form == "tuple":
        yield from kind.items
    else:
        yield _kind_of_part(index)


def _kind_of_part(part: Atom) -> Kind:
    if isinstance(part, Const):
        dtype = getattr(part.value, "dtype", None)
        if dtype is not None:
            return Array(str(dtype), getattr(part.value, "ndim", None))
        if isinstance(part.value, list):
            return Seq(INT)
    return kind_of_atom(part)


def same_step(a: Atom, b: Atom) -> bool:
    """Whether two indices or keys are certainly the same."""
    if not isinstance(a, Const) or not isinstance(b, Const):
        return a is b
    return a == b or (is_plain(a.value) and is_plain(b.value) and repr(a.value) == repr(b.value))


def is_plain(index: object) -> bool:
    """Whether a constant index is made of integers, slices, None and `...` alone."""
    items = index if isinstance(index, tuple) else (index,)
    return all(item is None or item is ... or type(item) in (int, slice) for item in items)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


# --- zeros --------------------------------------------------------------------------------


def old_zero(builder: Builder, before: Builder, eqn: Eqn) -> Atom:
    """The zero cotangent of what a write replaced; `before` runs before the write."""
    if isinstance(me.holder(eqn), Array):
        return Const(0.0)
    x, *path, _ = eqn.args
    return zero_at(builder, before, eqn, in_shadow(x, path))


def zero_at(builder: Builder, before: Builder, eqn: Eqn, path: Path) -> Atom:
    """The zero cotangent of an item of a list, a dictionary or an object that a write replaces, or takes away."""
    holder, key = me.holder(eqn), eqn.args[1 + len(me.path_of(eqn))]
    of_list = isinstance(holder, Seq) and kind_of_atom(path[-1]) == INT
    match me.kind_after(holder, key) if of_list or isinstance(holder, (Map, Struct)) else UNKNOWN:
        case Number(type=type_):
            return Const(0j if type_ == "complex" else 0.0)
        case Struct() as item if (row := st.row_of_zeros(builder, item)) is not None:
            return row
        case _:
            old = before.emit(me.zeros_at, eqn.args[0], *path, kind=UNKNOWN)
            return builder.emit(st.zeros, old)


def check_cast(before: Builder, eqn: Eqn) -> None:
    """Have it checked when the program runs that no float is stored where only integers fit."""
    x, *path, value = eqn.args
    if eqn.op is not me.store or kind_of_atom(value) == INT or any(map(me.is_view, path)):
        return
    holder = me.holder(eqn)
    if holder == UNKNOWN or (isinstance(holder, Array) and not _is_inexact(holder)):
        before.emit(me.accepts, x, *in_shadow(x, path), value)


def _is_inexact(kind: Array) -> bool:
    return kind.dtype.startswith(("float", "complex"))
