"""Which equations Python checks the operands of, so that they are computed though nobody reads the result.

Too many cost time and lines; none may be missing of what fails in programs that people write.
"""

from __future__ import annotations

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const, Eqn
from ..ir.types import Array, Kind, Number, Seq, Struct, Unknown
from . import structure as st
from .raising import may_raise

_ERRORS = (ArithmeticError, LookupError, ValueError, TypeError)
_BY_THE_SECOND = frozenset(("div", "floordiv", "mod", "pow"))
"""Arithmetic that no number makes fail if the second operand is a positive one."""
_CONVERSIONS = frozenset(("to_int", "to_float"))
_OF_SHAPES = frozenset(
    (
        "reshape", "dot", "matmul", "inner", "vdot", "tensordot", "contract", "einsum", "cross",
        "inv", "solve", "cholesky", "max", "min", "argmax", "argmin", "stack", "concatenate", "vstack",
        "hstack", "split", "array_split", "vsplit", "hsplit", "broadcast_to", "squeeze", "transpose",
    )
)  # fmt: skip
_CREATION = frozenset(("zeros_array", "ones", "empty", "full", "eye", "arange", "arange_from"))
_OF_NUMBERS_ALONE = frozenset(
    ("length", "range_", "comb", "factorial", "gcd", "lcm", "isqrt", "perm")
)
_UNCHECKED_BY_RULES = frozenset(("mod", "floordiv", "fmod", "remainder", "to_int", "to_float"))
"""Ops whose derivative exists where they have no value themselves."""


def is_checked(eqn: Eqn) -> bool:
    """Whether Python checks the operands of an equation, and raises where they do not fit."""
    if eqn.blocks or len(eqn.outs) != 1 or eqn.span is None:
        return False
    kinds = [kind_of_atom(atom) for atom in eqn.operands()]
    if eqn.op is not st.getitem and any(isinstance(kind, Unknown) for kind in kinds[:1]):
        return False
    return _has_check(eqn, kinds) and may_raise(eqn, _ERRORS)


def is_checked_by_its_rule(eqn: Eqn) -> bool:
    """Whether the derivative of an equation, where it is computed, raises what the equation raises."""
    second = eqn.args[-1] if eqn.args else None
    by_zero = eqn.op.name == "div" and isinstance(second, Const) and second.value == 0
    of_keys = eqn.op is st.getitem and isinstance(kind_of_atom(eqn.args[0]), Struct)
    other_words = eqn.op.name == "pow" and eqn.namespace == "math"
    return not (
        by_zero or of_keys or other_words or eqn.op.reduction or eqn.op.name in _UNCHECKED_BY_RULES
    )


def _has_check(eqn: Eqn, kinds: list[Kind]) -> bool:
    name = eqn.op.name
    if eqn.op is st.getitem or name in _CONVERSIONS | _OF_SHAPES | _OF_NUMBERS_ALONE:
        return True
    if eqn.op is st.truth:
        return isinstance(kinds[0], Array)
    if name in _CREATION:
        return not all(map(_is_length, eqn.operands()))
    if name in _BY_THE_SECOND and _is_positive(eqn.args[-1]):
        return False
    if eqn.op.reduction:
        return _has_wrong_axis(eqn)
    return eqn.op.elementwise and sum(isinstance(kind, Array) for kind in kinds) != 1


def _is_length(atom: Atom) -> bool:
    """Whether an atom is no operand, or one that says how many: a shape that is written out, or taken over."""
    if not isinstance(atom, Const):
        return isinstance(kind_of_atom(atom), (Seq, Struct, Array))
    values = atom.value if isinstance(atom.value, tuple) else (atom.value,)
    return all(each is None or isinstance(each, type) or _is_count(each) for each in values)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def _is_positive(atom: Atom) -> bool:
    return isinstance(atom, Const) and isinstance(atom.value, (int, float)) and atom.value > 0


def _has_wrong_axis(eqn: Eqn) -> bool:
    """Whether a reduction is along an axis that is not known to be there."""
    axis, kind = eqn.params.get("axis", Const(None)), kind_of_atom(eqn.args[0])
    if axis == Const(None):
        return False
    rank = kind.rank if isinstance(kind, Array) else 0 if isinstance(kind, Number) else None
    if rank is None or not isinstance(axis, Const):
        return True
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    return any(not isinstance(each, int) or not -rank <= each < rank for each in axes)
