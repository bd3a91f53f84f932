"""Which exceptions an equation may raise.

Too many do no harm: what may raise stays in the `try` that catches it. None may be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, FOR, TRY, WHILE, Block, Const, Eqn, Function, walk
from ...ir.types import (
    COMPLEX,
    INT,
    NONE,
    RANGE,
    SLICE,
    STR,
    Array,
    Kind,
    Number,
    Other,
    Seq,
    Static,
    Struct,
)
from .. import structure as st
from . import memory as me

Classes = tuple[type[BaseException], ...]
ANYTHING: Classes = (BaseException,)
ANY_ERROR: Classes = (Exception,)
_ROUNDING: Classes = (FloatingPointError, Warning)
"""What NumPy's numbers raise where the user asked for it (`np.errstate`, `warnings`)."""

_NEVER = frozenset(
    (
        st.pack, st.slice_, st.zeros, st.is_, st.is_not, st.not_, st.both, st.either, st.global_,
        st.stop_gradient, st.closure, me.snapshot, me.duplicate,
    )
)  # fmt: skip
_CALLS = frozenset((st.apply, st.pullback_of, st.raise_))

_DIVISIONS: Classes = (ZeroDivisionError, OverflowError)
_POWERS: Classes = (ZeroDivisionError, OverflowError, ValueError)
_OF_NUMBERS: dict[str, Classes] = {
    **dict.fromkeys(("add", "sub", "mul", "neg", "pos", "abs", "maximum", "minimum"), ()),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge", "truth", "accumulate", "stored"), ()),
    **dict.fromkeys(("div", "floordiv", "mod"), _DIVISIONS),
    "pow": _POWERS,
    "to_float": (OverflowError,),
}
_NOT_OF_COMPLEX = frozenset(
    ("lt", "le", "gt", "ge", "floordiv", "mod", "maximum", "minimum", "to_float")
)
"""What Python refuses to do with complex numbers: a TypeError."""
_FOR_INTEGERS_ALONE = frozenset(("comb", "factorial", "gcd", "isqrt", "lcm", "perm"))
_OF_INTEGERS: dict[str, Classes] = {"div": _DIVISIONS, "floordiv": (ZeroDivisionError,)}


def may_raise(eqn: Eqn, catches: Iterable[type]) -> bool:
    """Whether an equation may raise an exception of one of some classes."""
    return any_related(raises(eqn), catches)


def any_related(raised: Iterable[type], catches: Iterable[type]) -> bool:
    """Whether one of some exceptions that are raised may be of one of some classes."""
    catches = tuple(catches)
    return any(_is_related(r, c) for r in raised for c in catches)


def any_may_raise(eqns: Iterable[Eqn], catches: Iterable[type]) -> bool:
    """Whether one of some equations may raise an exception of one of some classes."""
    catches = tuple(catches)
    return any(may_raise(eqn, catches) for eqn in eqns)


def _is_related(raised: type, caught: type) -> bool:
    if raised in _ROUNDING:  # only who names it is told: by default these are not raised
        return issubclass(caught, raised)
    return issubclass(raised, caught) or issubclass(caught, raised)


def raises(eqn: Eqn) -> Classes:
    """The classes of what an equation may raise: exceptions of these, or of classes derived from them."""
    op = eqn.op
    if eqn.blocks:
        return _of_blocks(eqn)
    if op is CALL or op in _CALLS:
        return ANYTHING
    if op in _NEVER or op.control:
        return ()
    special = _SPECIAL.get(op)
    if special is not None:
        return special(eqn)
    if op.name in _OF_NUMBERS or op.elementwise:
        return _of_arithmetic(eqn)
    return ANY_ERROR


def raised_after_change(function: Function) -> Classes:
    """The classes of what a function may raise once it has written to something that its caller knows."""
    found: dict[type[BaseException], None] = {}
    _note_after_change(function.body, False, found)
    return tuple(found)


def _note_after_change(block: Block, changed: bool, found: dict[type[BaseException], None]) -> bool:
    """Note what a block raises after a change; gives whether something has changed at its end."""
    for eqn in block.eqns:
        repeated = eqn.op in (FOR, WHILE) and any(
            _changes(each) for inner in eqn.blocks for each in walk(inner)
        )
        if changed or repeated or (_changes(eqn) and eqn.op is CALL):
            found.update(dict.fromkeys(raises(eqn)))
        ends = [_note_after_change(inner, changed, found) for inner in eqn.blocks]
        changed = changed or repeated or any(ends) or _changes(eqn)
    return changed


def _changes(eqn: Eqn) -> bool:
    return eqn.op in me.OWN or (eqn.op is CALL and "updates" in eqn.params)


def _of_blocks(eqn: Eqn) -> Classes:
    found: dict[type[BaseException], None] = {}
    for block in eqn.blocks:
        for inner in block.eqns:
            found.update(dict.fromkeys(raises(inner)))
    if eqn.op is TRY:
        catches = eqn.param("catches")
        found = {cls: None for cls in found if not issubclass(cls, catches)}
    return tuple(found)


def _of_arithmetic(eqn: Eqn) -> Classes:
    kinds = [kind_of_atom(atom) for atom in eqn.operands()]
    if not all(isinstance(kind, Number) for kind in kinds):
        return ANY_ERROR
    own = _OF_NUMBERS.get(eqn.op.name)
    if COMPLEX in kinds and eqn.op.name in _NOT_OF_COMPLEX:
        return ANY_ERROR
    if all(kind == INT for kind in kinds):
        return _OF_INTEGERS.get(eqn.op.name, (ValueError, OverflowError) if own is None else own)
    if own is not None:
        return (*own, *_ROUNDING)
    if eqn.op.name in _FOR_INTEGERS_ALONE:
        return ANY_ERROR
    if eqn.namespace == "np":
        return ANY_ERROR if INT in kinds else _ROUNDING
    return (ValueError, OverflowError, ZeroDivisionError, *_ROUNDING)


# --- structure ----------------------------------------------------------------------------


def _of_getitem(eqn: Eqn) -> Classes:
    kind, index = kind_of_atom(eqn.args[0]), eqn.args[1]
    if isinstance(kind, Struct) and isinstance(index, Const) and index.value in kind.keys:
        return ()
    at = kind_of_atom(index)
    if isinstance(kind, (Seq, Array)) and at == SLICE:
        return (
            () if isinstance(index, Const) and _is_usual(index.value) else (ValueError, TypeError)
        )
    if isinstance(kind, (Seq, Array)) and at == INT:
        return (IndexError,)
    return ANY_ERROR


def _is_usual(part: slice) -> bool:
    """Whether a slice goes from one whole number to another, in steps that are not 0."""
    bounds = (part.start, part.stop, part.step)
    return part.step != 0 and all(bound is None or type(bound) is int for bound in bounds)


def _of_getattr(eqn: Eqn) -> Classes:
    kind = kind_of_atom(eqn.args[0])
    return () if isinstance(kind, Struct) and eqn.param("name") in kind.keys else ANY_ERROR


def _of_known_length(eqn: Eqn) -> Classes:
    kind = kind_of_atom(eqn.args[0])
    known = (
        isinstance(kind, (Seq, Struct))
        or kind == RANGE
        or (isinstance(kind, Array) and bool(kind.rank))
    )
    return () if known else ANY_ERROR


def _of_range(eqn: Eqn) -> Classes:
    kinds = [kind_of_atom(atom) for atom in eqn.args]
    if all(kind == INT for kind in kinds):
        return () if len(kinds) < 3 else (ValueError,)
    return ANY_ERROR


def _of_format(eqn: Eqn) -> Classes:
    template = eqn.param("template")
    if any(not isinstance(piece, str) and piece[2] for piece in template):
        return ANY_ERROR  # a format may be one for other values
    return () if all(map(_has_plain_text, map(kind_of_atom, eqn.args))) else ANY_ERROR


def _has_plain_text(kind: Kind) -> bool:
    return isinstance(kind, (Number, Array, Static, Other)) or kind in (STR, NONE)


def _of_opaque(eqn: Eqn) -> Classes:
    function = eqn.args[0].value if isinstance(eqn.args[0], Const) else None
    if isinstance(function, type) and issubclass(function, BaseException):
        written = not hasattr(function.__init__, "__objclass__")  # type: ignore[misc]
        return ANYTHING if written else ()
    return () if function in _ASKING else ANYTHING


_ASKING = (isinstance, type, id, callable)
_SPECIAL: dict[object, Callable[[Eqn], Classes]] = {
    st.opaque: _of_opaque,
    st.getitem: _of_getitem,
    st.getattr_: _of_getattr,
    st.length: _of_known_length,
    st.as_list: _of_known_length,
    st.as_tuple: _of_known_length,
    st.range_: _of_range,
    st.format_: _of_format,
    st.bound: lambda eqn: (NameError,),
    st.unpackable: lambda eqn: (ValueError, TypeError),
    me.append: lambda eqn: () if isinstance(kind_of_atom(eqn.args[0]), Seq) else ANY_ERROR,
}
