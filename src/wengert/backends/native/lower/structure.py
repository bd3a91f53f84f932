"""Numbers from numbers, tuples and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ir.graph import Atom, Eqn
from ....ir.types import STR
from ..form.loopform import Apply, Constant, Expr
from ..values import numbers
from ..values.complexes import is_complex
from ..values.layouts import is_kept, must_be_open
from ..values.promotion import operand_code
from ..values.rows import ROWS
from ..values.values import (
    NUMPY,
    PYTHON,
    Broadcast,
    Lazy,
    Range,
    Scalar,
    StaticValue,
    Tuple,
    Unlowered,
    Value,
    View,
    described,
    integer,
)
from .fusion import mapped
from .lowering import BlockLowering, lowers
from .sequences.columns import Arrays, GrowingList
from .sequences.lists import copied_list, has_numbers_alone, item_copies
from .sequences.ranges import SIZE_BITS
from .sequences.sequences import RaggedArrays, item_at
from .shapes import broadcast, dims_of

# --- elementwise --------------------------------------------------------------------------

_OF_NUMBERS = frozenset(("maximum", "minimum", "truth", "not"))
"""Functions of Python's own that ask arrays for their truth values."""
_HARMLESS = {"order", "casting", "subok", "copy", "parted", "unbound", "lying"}


def elementwise(site: BlockLowering, eqn: Eqn) -> Value:
    """An elementwise op: on numbers at once, on arrays in a loop nest."""
    if eqn.outs[0].kind == STR:
        return StaticValue(eqn)
    if not _HARMLESS.issuperset(eqn.params):
        raise Unlowered(f"options of `{eqn.op.name}`")
    if eqn.op.name == "add" and all(_is_tuple(site.value(atom)) for atom in eqn.args):
        return joined(*map(site.value, eqn.args))
    if eqn.op.name in ("snapshot", "copy", "duplicate"):
        given = site.value(eqn.args[0])
        if isinstance(given, GrowingList):
            if eqn.op.name == "snapshot" and isinstance(given.column, (Arrays, RaggedArrays)):
                return item_copies(site, given)
            return copied_list(site, given)
        if is_kept(given) or (
            eqn.op.name == "snapshot" and (isinstance(given, Tuple) and has_numbers_alone(given))
        ):
            return given  # nobody writes to it
    operands = [site.any_operand(atom) for atom in eqn.args]
    if eqn.op.name == "snapshot" and isinstance(operands[0], View):
        if operands[0].root.lasts or site.unit.is_kept(operands[0].root):
            return operands[0]
    scalars = [x for x in operands if isinstance(x, Scalar)]
    if not any(dims_of(x) for x in operands):
        _must_be_clear(eqn, operands[0])
    if len(scalars) == len(operands):
        if eqn.op.name == "real":
            return scalars[0]
        if eqn.op.name == "where":
            return _chosen_number(site, scalars)
        if eqn.op.name == "invert" and any(x.code == "b1" and x.origin != NUMPY for x in scalars):
            raise Unlowered("the bits of a truth value, which Python takes for an integer")
        return numbers.compute(site.e, eqn.op.name, eqn.namespace, scalars)
    if not any(dims_of(x) for x in operands) and eqn.op.name in ("copy", "snapshot", "duplicate"):
        return Broadcast(site.as_scalar(operands[0]), operands[0].code, ())
    if eqn.namespace == "math" or (eqn.namespace == "py" and eqn.op.name in _OF_NUMBERS):
        return _of_numbers(site, eqn, operands)
    if eqn.op.name != "where" and not any(dims_of(x) for x in operands):
        scalars = [site.as_scalar(x) for x in operands]
        return numbers.compute(site.e, eqn.op.name, "np", scalars)
    if eqn.op.name == "real":
        return operands[0]  # an array of real numbers is its own real part
    if eqn.op.name in ("pow", "conj") and operands[0].code == "b1":
        raise Unlowered(f"`{eqn.op.name}` of truth values, which NumPy takes for numbers of 8 bits")
    by_one = eqn.op.name == "pow" and isinstance(operands[1], Scalar)
    return over_arrays(site, "power_of_array" if by_one else eqn.op.name, operands)


def _of_numbers(site: BlockLowering, eqn: Eqn, operands: Sequence[Any]) -> Scalar:
    """What Python computes of numbers, and of arrays without axes, which it takes for numbers."""
    if eqn.op.name in ("maximum", "minimum"):
        raise Unlowered("one of two arrays, which are compared as a whole")
    scalars = [site.as_scalar(x) for x in operands]
    return numbers.compute(site.e, eqn.op.name, eqn.namespace, scalars)


def _must_be_clear(eqn: Eqn, x: Any) -> None:
    """Refuse what one spelling makes an array without axes, and another a number of NumPy's."""
    match eqn.op.name:
        case "copy":
            unclear = eqn.namespace == "np"
        case "real":
            unclear = not isinstance(x, Scalar) or x.code == "b1"
        case "conj":
            unclear = not isinstance(x, Scalar)
        case _:
            unclear = False
    if unclear:
        raise Unlowered(f"`{eqn.op.name}` of a number, or of an array without axes")


def over_arrays(site: BlockLowering, name: str, operands: Any) -> Lazy:
    """An elementwise op on arrays and numbers, by the name of its row."""
    row = ROWS[name]
    typed = operands[1:] if row.rule == "choice" else operands
    code = operand_code(row.rule, typed)
    if name in ("mod", "floordiv") and code == "i64":
        _must_divide(operands[1])
    return mapped(site, row, operands, code, broadcast(site.e, operands))


def _must_divide(divisor: Any) -> None:
    """Refuse to divide arrays of integers by what may be zero, or may overflow."""
    known = divisor.expr if isinstance(divisor, Scalar) else None
    if not isinstance(known, Constant) or known.value in (0, -1):
        raise Unlowered("arrays of integers divided by a number that is computed")


def _chosen_number(site: BlockLowering, operands: Any) -> Broadcast:
    """`np.where` gives an array, of numbers too."""
    e = site.e
    code = operand_code("selection", operands[1:])
    condition, x, y = (
        numbers.converted(e, v.expr, c) for v, c in zip(operands, ("b1", code, code), strict=True)
    )
    chosen = Scalar(e.apply("select", condition, x, y, code=code), NUMPY)
    return Broadcast(chosen, code, ())


# --- containers ---------------------------------------------------------------------------


@lowers("pack")
def _pack(site: BlockLowering, eqn: Eqn) -> Value:
    items = tuple(_held(site, atom) for atom in eqn.args)
    form, keys, type_ = (eqn.param(name) for name in ("form", "keys", "type"))
    return Tuple(items, form, tuple(keys) if keys is not None else (), type_)


def _held(site: BlockLowering, atom: Atom) -> Value:
    """An item of a container: an array is in memory."""
    value = site.value(atom)
    if is_complex(value):
        return site.parts_in_memory(atom)
    if isinstance(value, (Lazy, Broadcast)):
        return (
            site.as_scalar(value)
            if isinstance(value, Lazy) and not value.dims
            else (site.in_memory(atom))
        )
    return value


@lowers("unpackable")
def _unpackable(site: BlockLowering, eqn: Eqn) -> Value:
    """What is about to be unpacked into so many names."""
    value = site.value(eqn.args[0])
    count, starred = (int(site.value(atom).expr.value) for atom in eqn.args[1:])
    needed, wrong = (integer(count - 1), "lt") if starred >= 0 else (integer(count), "ne")
    wrong_number = Apply(wrong, (length_of(site, value), needed), "b1")
    site.e.exit_if(wrong_number, "the wrong number of values")
    return value


def _is_tuple(value: Value) -> bool:
    return isinstance(value, Tuple) and value.form == "tuple"


def joined(a: Tuple, b: Tuple) -> Tuple:
    """`a + b` of tuples or lists of known length."""
    items = (*a.items, *b.items)
    return Tuple(items, a.form if a.form == b.form else "list", tuple(range(len(items))))


def length_of(site: BlockLowering, value: Value) -> Expr:
    """`len` of a value."""
    match value:
        case Tuple(items=items, form=form) if form not in ("object", "dataclass"):
            must_be_open(value)
            return integer(len(items))
        case GrowingList(length=length):
            return site.e.variable("length", length)  # the list may grow after this
        case Range(count=count):
            return count
        case View() | Lazy() | Broadcast() if value.dims:
            return value.dims[0]
        case StaticValue(value=str() as text):
            return integer(len(text))
        case _:
            raise Unlowered(f"the length of {described(value)}")


@lowers("length")
def _length(site: BlockLowering, eqn: Eqn) -> Value:
    return Scalar(length_of(site, site.value(eqn.args[0])), PYTHON, SIZE_BITS)


@lowers("rebound")
def _rebound(site: BlockLowering, eqn: Eqn) -> Value:
    """`value += …` gives the name a new object, as it does of a number."""
    if not isinstance(site.value(eqn.args[0]), Scalar):
        raise Unlowered("a change in place of what the run chooses")
    return StaticValue(None)


@lowers("python_number")
def _python_number(site: BlockLowering, eqn: Eqn) -> Value:
    value = site.value(eqn.args[0])
    if not isinstance(value, Scalar) or value.origin != PYTHON:
        raise Unlowered("a NumPy number beside an object with items")
    return StaticValue(None)


@lowers("getattr")
def _getattr(site: BlockLowering, eqn: Eqn) -> Value:
    value = site.value(eqn.args[0])
    name = eqn.param("name")
    if isinstance(value, Tuple) and name in value.keys:
        return value.items[value.keys.index(name)]
    raise Unlowered(f"the attribute `{name}`")


def item_of_list(site: BlockLowering, value: GrowingList, index: Scalar) -> Value:
    position = wrapped(site, index, length_of(site, value))
    return item_at(site.e, value, position)


def wrapped(site: BlockLowering, index: Scalar, size: Expr) -> Expr:
    """An index that may count from the end, once it is known to be in range."""
    e = site.e
    if index.code != "i64":
        raise Unlowered("an index that is no integer")
    k, size = index.expr, e.let(size)
    if isinstance(k, Constant):
        position = k if int(k.value) >= 0 else e.apply("add", size, k)
        least = int(k.value) if int(k.value) >= 0 else -1 - int(k.value)
        e.exit_if(Apply("le", (size, integer(least)), "b1"), "an index out of range")
        return position
    position = k
    if (e.least(k) or -1) < 0 and e.least(k) != 0:
        position = e.apply("wrapped", k, size)
    e.exit_if(Apply("outside", (position, size), "b1"), "an index out of range")
    return position
