"""Which equations Python checks the operands of, so that they are computed though nobody reads the result.

An equation may raise unless it is known not to: by its op (`Op.total`), and by the kinds of its operands.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn
from ...ir.types import Array, Kind, Number, Seq, Struct, Unknown
from .. import structure as st
from .may_raise import may_raise

_ERRORS = (ArithmeticError, LookupError, ValueError, TypeError, AttributeError)
_BY_THE_SECOND = frozenset(("div", "floordiv", "mod", "pow"))
"""Arithmetic that no number makes fail if the second operand is a positive one.

But that a power may be too large: of numbers that the program computes, this is left out.
"""
_OF_SOMETHING = frozenset(("max", "min", "argmax", "argmin"))
"""Reductions that need an element."""
_OF_WHOLE_NUMBERS = frozenset(
    ("bitand", "bitor", "bitxor", "invert", "lshift", "rshift", "gcd", "lcm", "ldexp")
)
_CREATION = frozenset(("zeros_array", "ones", "empty", "full", "eye", "identity"))
_UNCHECKED_BY_RULES = frozenset(("mod", "floordiv", "fmod", "remainder", "to_int", "to_float"))
"""Ops whose derivative exists where they have no value themselves."""


def is_checked(eqn: Eqn) -> bool:
    """Whether Python checks the operands of an equation, and raises where they do not fit."""
    if eqn.blocks or eqn.op.effect or not eqn.outs or eqn.span is None:
        return False
    return may_raise(eqn, _ERRORS) and not _always_fits(eqn, list(map(kind_of_atom, eqn.args)))


def is_checked_by_its_rule(eqn: Eqn) -> bool:
    """Whether the derivative of an equation, where it is computed, raises what the equation raises."""
    second = eqn.args[-1] if eqn.args else None
    by_zero = eqn.op.name == "div" and isinstance(second, Const) and second.value == 0
    of_keys = eqn.op is st.getitem and isinstance(kind_of_atom(eqn.args[0]), Struct)
    other_words = eqn.op.name == "pow" and eqn.namespace == "math"
    return not (
        by_zero or of_keys or other_words or eqn.op.reduction or eqn.op.name in _UNCHECKED_BY_RULES
    )


def _always_fits(eqn: Eqn, kinds: Sequence[Kind]) -> bool:
    """Whether the operands of an equation fit, whatever they are."""
    op = eqn.op
    if set(op.spellings) == {"rt"}:
        return op.total
    if op is st.truth:
        return not isinstance(kinds[0], (Array, Unknown))
    if op.name in _CREATION:
        return all(map(_is_length, eqn.operands()))
    if not all(map(_has_known_option, eqn.params.items())) or _has_wrong_axis(eqn):
        return False
    if op.name in _BY_THE_SECOND and _is_positive(eqn.args[-1]) and isinstance(kinds[0], Number):
        return not isinstance(eqn.args[0], Const)
    if op.reduction:
        return op.name not in _OF_SOMETHING and all(map(_has_numbers, kinds))
    if op.elementwise:
        return _is_one_array(kinds) and not _needs_whole_numbers(op.name, kinds)
    return op.total and all(map(_has_numbers, kinds))


def _is_one_array(kinds: Sequence[Kind]) -> bool:
    """Whether there is one array, beside numbers: then there is nothing that it could be too long for."""
    arrays = [kind for kind in kinds if isinstance(kind, Array)]
    return len(arrays) == 1 and all(isinstance(kind, (Array, Number)) for kind in kinds)


def _needs_whole_numbers(name: str, kinds: Sequence[Kind]) -> bool:
    """Whether an op may meet a number that it is not for: a float, or a negative exponent of integers."""
    whole = [_is_whole(kind) for kind in kinds]
    return (name in _OF_WHOLE_NUMBERS and not all(whole)) or (name == "pow" and all(whole))


def _is_whole(kind: Kind) -> bool:
    if isinstance(kind, Number):
        return kind.type in ("int", "bool")
    return isinstance(kind, Array) and kind.dtype.startswith(("int", "uint", "bool"))


def _has_numbers(kind: Kind) -> bool:
    """Whether a value is a number, or holds numbers, none of them in rows that might be of different lengths."""
    match kind:
        case Number() | Array():
            return True
        case Seq(item=item):
            return isinstance(item, Number)
        case Struct(form="list" | "tuple", items=items):
            return all(isinstance(item, Number) for item in items)
        case _:
            return False


# --- options ------------------------------------------------------------------------------


def _is_length(atom: Atom) -> bool:
    """Whether an atom is no operand, or one that says how many: a shape that is written out, or taken over."""
    if not isinstance(atom, Const):
        return isinstance(kind_of_atom(atom), (Seq, Array))
    values = atom.value if isinstance(atom.value, tuple) else (atom.value,)
    return all(each is None or isinstance(each, type) or _is_count(each) for each in values)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def _is_positive(atom: Atom) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, (int, float)) and atom.value > 0


def _has_known_option(option: tuple[str, Atom]) -> bool:
    """Whether an option is one that no op refuses; what is wrong with an axis is another question."""
    name, atom = option
    if not isinstance(atom, Const):
        return False
    if name == "dtype" and isinstance(atom.value, str):
        return atom.value in np.sctypeDict
    known = atom.value is None or isinstance(atom.value, (bool, int, float, type, np.dtype))
    return known or name == "axis" or (name == "order" and atom.value in ("C", "F", "A", "K"))


def _has_wrong_axis(eqn: Eqn) -> bool:
    """Whether an op is along an axis that is not known to be there."""
    axis = eqn.params.get("axis", Const(None))
    if axis == Const(None):
        return False
    kind = kind_of_atom(eqn.args[0])
    rank = kind.rank if isinstance(kind, Array) else 0 if isinstance(kind, Number) else None
    if rank is None or not isinstance(axis, Const):
        return True
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    return any(not isinstance(each, int) or not -rank <= each < rank for each in axes)
