"""Views and parts: the ways that lead from a run-time object to what is inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import INT, UNKNOWN, Array, Kind, Map, Number, Seq, Struct, Unknown
from ...ops import structure as st
from ...ops.array_kinds import dtype_of, rank_of
from ...ops.program import memory as me
from ..domain.values import Value
from ..machine.interpreter import Interpreter

_SAME_OBJECT = (st.bound, st.unpackable)

_OF_ARRAYS = ("np", "method", "attr")
"""The namespaces of what only arrays have, or what makes arrays."""


SPLITTING = frozenset(("split", "array_split", "vsplit", "hsplit", "dsplit"))
"""Ops that make lists of views of an array."""


def is_split(step: Atom) -> bool:
    """Whether a step leads from an array to a list of views of it."""
    value = step.value if isinstance(step, Const) else None
    return isinstance(value, me.Viewed) and value.op.name in SPLITTING


def view_of(it: Interpreter, var: Var) -> Eqn | None:
    """The equation that makes a value a part or a view of its first operand, if it is one."""
    eqn = it.builder.visible_definition(var)
    if eqn is None or not eqn.args or not isinstance(eqn.args[0], Var):
        return None
    if eqn.op is st.getitem:
        return eqn if _is_view(eqn.args[0].kind, eqn.args[1]) else None
    if eqn.op is st.getattr_ or eqn.op in _SAME_OBJECT:
        return eqn
    if eqn.op is st.as_list:
        return eqn if var in it.reading.walked else None
    if eqn.op.name == "asarray" and (
        eqn.args[0].kind != var.kind or may_be_number(it, eqn.args[0])
    ):
        return None
    if eqn.op.fresh or eqn.op.control or eqn.op.effect or eqn.namespace == "call":
        return None
    if eqn.op.name == "conj" and (eqn.namespace == "np" or "complex" in dtype_of(eqn.args[0])):
        return None  # the method gives a real array itself
    if isinstance(eqn.args[0].kind, (Seq, Struct, Number)):
        return None  # an array of what a list holds, or of a number
    if eqn.op.name == "diag" and rank_of(eqn.args[0]) == 1:
        return None  # a matrix of its own: only of a matrix the diagonal is a view
    unknown = isinstance(var.kind, Unknown) and eqn.namespace in _OF_ARRAYS
    return eqn if unknown or isinstance(var.kind, Array) or eqn.op.name in SPLITTING else None


def _is_view(kind: Kind, index: Atom) -> bool:
    """Whether reading by this index gives a part of the value itself, not a copy."""
    if isinstance(kind, Array):
        return not gathers(index)
    if kind == UNKNOWN:
        at = kind_of_atom(index)
        number = isinstance(at, Array) and not at.rank  # an item, perhaps
        return number or not gathers(index)
    return not is_slice(index)


_ARRAYS_OF_ARRAYS = frozenset(("copy", "astype", "real", "imag"))
"""Elementwise ops that give an array without axes of such an array; others give a number."""


def may_be_number(it: Interpreter, value: Atom) -> bool:
    """Whether a value may be a number: arithmetic with arrays without axes gives one."""
    kind = kind_of_atom(value)
    if not isinstance(value, Var) or not isinstance(kind, Array) or kind.rank is not None:
        return kind == UNKNOWN
    eqn = it.builder.visible_definition(value)
    if eqn is not None and eqn.op.name in _ARRAYS_OF_ARRAYS:
        return may_be_number(it, eqn.args[0])
    return eqn is not None and eqn.op.elementwise


def makes_array_of_number(eqn: Eqn) -> bool:
    """Whether what is a view of an array would be an array of its own, made of one of NumPy's numbers."""
    if eqn.op is st.getitem:
        index = eqn.args[1].value if isinstance(eqn.args[1], Const) else 0
        parts: Any = index if type(index) is tuple else (index,)
        return any(part is None or part is ... for part in parts)
    return eqn.namespace in _OF_ARRAYS and isinstance(eqn.outs[0].kind, Array)


def gathers(index: Atom) -> bool:
    """Whether reading an array by an index copies what it reads."""
    at = kind_of_atom(index)
    return any(map(_gathers, at.items)) if _is_tuple(at) else _gathers(at)


def _is_tuple(kind: Kind) -> TypeGuard[Struct]:
    return isinstance(kind, Struct) and kind.form == "tuple"


def _gathers(index: Kind) -> bool:
    if isinstance(index, Struct):
        return index.form == "list"
    return isinstance(index, (Array, Seq)) or str(index) == "list"


def views_to(it: Interpreter, var: Var) -> tuple[Var, list[Eqn]]:
    """The object that a value is part of, and the equations that lead from it to the value."""
    views: list[Eqn] = []
    while var not in it.reading.places and (eqn := view_of(it, var)) is not None:
        views.insert(0, eqn)
        base = eqn.args[0]
        assert isinstance(base, Var)
        var = base
    return var, views


def ways_to(it: Interpreter, var: Var) -> tuple[Var, list[Eqn]]:
    """As `views_to`, through the parts that were taken again after something had changed."""
    root, views = views_to(it, var)
    while root in it.reading.stands_for:
        root, before = views_to(it, it.reading.stands_for[root])
        views[:0] = before
    return root, views


def depth_in_whole(it: Interpreter, value: Value) -> int:
    """Through how many containers a value was reached."""
    if not isinstance(value, Var):
        return 0
    return depth_of_views(*ways_to(it, value))


def depth_of_views(root: Var, views: Sequence[Eqn]) -> int:
    return depth_of_path(root.kind, [step for eqn in views for step in steps_of(eqn)])


def depth_along(steps: Sequence[Atom]) -> int:
    """How many containers some steps go through, whatever these are: a slice of one is no step."""
    return sum(not is_slice(step) for step in steps)


def depth_of_path(kind: Kind, steps: Sequence[Atom]) -> int:
    """How many containers a path goes through before it comes to an array.

    A slice of something unknown is a view, if it is one of an array, or else a copy: no step.
    """
    count = 0
    for step in steps:
        only_arrays_have_it = isinstance(step, Const) and isinstance(step.value, me.Viewed)
        if isinstance(kind, Array) or only_arrays_have_it:
            return count
        count += not (kind == UNKNOWN and is_slice(step))
        kind = _kind_at(kind, step)
    return count


def depth_inside(kind: Kind) -> int:
    """Through how many containers in something there are objects that change, as far as is known."""
    match kind:
        case Seq(item=item) | Map(item=item):
            items: tuple[Kind, ...] = (item,)
        case Struct(items=items):
            pass
        case _:
            return 0
    mutable = (Array, Seq, Map, Struct)
    return max((1 + depth_inside(item) for item in items if isinstance(item, mutable)), default=0)


def _kind_at(kind: Kind, step: Atom) -> Kind:
    match kind:
        case Seq(item=item):
            return kind if str(kind_of_atom(step)) == "slice" else item
        case Map(item=item):
            return item
        case Struct(keys=keys, items=items) if isinstance(step, Const):
            key = step.value.name if isinstance(step.value, me.Field) else step.value
            return items[keys.index(key)] if key in keys else UNKNOWN
        case Struct(form="list"):
            return st.item_kind(kind)
        case _:
            return UNKNOWN


def is_slice(step: Atom) -> bool:
    return str(kind_of_atom(step)) == "slice"


def steps_of(eqn: Eqn) -> tuple[Atom, ...]:
    """The way from a value to a view of it, as parts of a path."""
    if eqn.op is st.getitem:
        return (eqn.args[1],)
    if eqn.op is st.getattr_:
        return (Const(me.Field(eqn.param("name"))),)
    if is_itself(eqn):
        return ()
    options = {name: atom.value for name, atom in eqn.params.items() if isinstance(atom, Const)}
    return (Const(me.Viewed(eqn.op, eqn.namespace, tuple(options.items()))),)


def is_itself(eqn: Eqn) -> bool:
    """Whether a view of an object is the object itself, or a list of its items that is walked over."""
    in_order = eqn.op.name == "asarray" and "order" not in eqn.params
    return in_order or eqn.op in _SAME_OBJECT or eqn.op is st.as_list


def steps_to_write(it: Interpreter, eqn: Eqn) -> tuple[Atom, ...]:
    if not (eqn.op is st.getitem or eqn.op is st.getattr_ or is_itself(eqn)):
        options = (*eqn.args[1:], *eqn.params.values())
        if not all(isinstance(atom, Const) for atom in options):
            raise it.unsupported(
                "a view whose shape is known only when the program runs is written to",
                "Write to the array itself, by index.",
            )
    return steps_of(eqn)


def same_step(step: Atom, other: Atom) -> bool | None:
    """Whether two steps lead to the same item; None where only the run tells."""
    if step is other:
        return True
    if not (isinstance(step, Const) and isinstance(other, Const)):
        return None
    a, b = step.value, other.value
    if a == b:
        return True
    indices = isinstance(a, int) and isinstance(b, int) and (a < 0) == (b < 0)
    names = any(isinstance(a, name) and isinstance(b, name) for name in (str, me.Field))
    return False if indices or names else None


def lead_to_one(path: Sequence[Atom], other: Sequence[Atom]) -> bool:
    """Whether two paths from one object lead to the same for sure."""
    return len(path) == len(other) and all(map(same_step, path, other))


def meet(path: Sequence[Atom], other: Sequence[Atom]) -> bool:
    """Whether two paths from one object may lead one through the other."""
    return False not in compared(path, other)


def compared(path: Sequence[Atom], other: Sequence[Atom]) -> Iterator[bool | None]:
    """Whether two paths take the same steps, as far as they can be compared.

    What an index finds in one view of an array, another index may find in another view of it.
    """
    for step, other_step in zip(path, other, strict=False):
        same = same_step(step, other_step)
        yield same
        if not (same or (_takes_an_item(step) and _takes_an_item(other_step))):
            return


def _takes_an_item(step: Atom) -> bool:
    value = step.value if isinstance(step, Const) else None
    return kind_of_atom(step) == INT or isinstance(value, (str, me.Field))
