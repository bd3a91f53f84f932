"""Numbers from numbers, tuples and ranges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....ir.graph import Atom, Eqn
from ....ir.types import STR
from ..form.loopform import Apply, Constant, Expr
from ..values import numbers, values as nv
from ..values.complexes import is_complex
from ..values.layouts import is_kept, must_be_open
from ..values.promotion import operand_code
from ..values.rows import ROWS
from .fusion import mapped
from .lowering import BlockLowering, lowers
from .sequences.columns import GrowingList
from .sequences.lists import copied_list, has_numbers_alone, item_copies
from .sequences.ranges import SIZE_BITS
from .sequences.sequences import item_at
from .shapes import broadcast, dims_of

# --- elementwise --------------------------------------------------------------------------

_OF_NUMBERS = frozenset(("maximum", "minimum", "truth", "not"))
"""Functions of Python's own that ask arrays for their truth values."""
_HARMLESS = {"order", "casting", "subok", "copy", "parted", "unbound", "lying"}


def elementwise(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """An elementwise op: on numbers at once, on arrays in a loop nest."""
    if eqn.outs[0].kind == STR:
        return nv.StaticValue(eqn)
    if not _HARMLESS.issuperset(eqn.params):
        raise nv.Unlowered(f"options of `{eqn.op.name}`")
    if eqn.op.name == "add" and all(_is_tuple(site.value(atom)) for atom in eqn.args):
        return joined(*map(site.value, eqn.args))
    if eqn.op.name in ("snapshot", "copy", "duplicate"):
        given = site.value(eqn.args[0])
        if isinstance(given, GrowingList):
            return (copied_list if eqn.op.name == "copy" else item_copies)(site, given)
        if is_kept(given) or (
            eqn.op.name == "snapshot" and (isinstance(given, nv.Tuple) and has_numbers_alone(given))
        ):
            return given  # nobody writes to it
    operands = [site.any_operand(atom) for atom in eqn.args]
    if eqn.op.name == "snapshot" and isinstance(operands[0], nv.View):
        if operands[0].root.lasts or site.unit.is_kept(operands[0].root):
            return operands[0]
    scalars = [x for x in operands if isinstance(x, nv.Scalar)]
    if not any(dims_of(x) for x in operands):
        _must_be_clear(eqn, operands[0])
    if len(scalars) == len(operands):
        if eqn.op.name == "real":
            return scalars[0]
        if eqn.op.name == "where":
            return _chosen_number(site, scalars)
        if eqn.op.name == "invert" and any(
            x.code == "b1" and x.origin != nv.NUMPY for x in scalars
        ):
            raise nv.Unlowered("the bits of a truth value, which Python takes for an integer")
        return numbers.compute(site.e, eqn.op.name, eqn.namespace, scalars)
    if not any(dims_of(x) for x in operands) and eqn.op.name in ("copy", "snapshot", "duplicate"):
        return nv.Broadcast(site.as_scalar(operands[0]), operands[0].code, ())
    if eqn.namespace == "math" or (eqn.namespace == "py" and eqn.op.name in _OF_NUMBERS):
        return _of_numbers(site, eqn, operands)
    if eqn.op.name != "where" and not any(dims_of(x) for x in operands):
        scalars = [site.as_scalar(x) for x in operands]
        return numbers.compute(site.e, eqn.op.name, "np", scalars)
    if eqn.op.name == "real":
        return operands[0]  # an array of real numbers is its own real part
    if eqn.op.name in ("pow", "conj") and operands[0].code == "b1":
        raise nv.Unlowered(
            f"`{eqn.op.name}` of truth values, which NumPy takes for numbers of 8 bits"
        )
    by_one = eqn.op.name == "pow" and isinstance(operands[1], nv.Scalar)
    return over_arrays(site, "power_of_array" if by_one else eqn.op.name, operands)


def _of_numbers(site: BlockLowering, eqn: Eqn, operands: Sequence[Any]) -> nv.Scalar:
    """What Python computes of numbers, and of arrays without axes, which it takes for numbers."""
    if eqn.op.name in ("maximum", "minimum"):
        raise nv.Unlowered("one of two arrays, which are compared as a whole")
    scalars = [site.as_scalar(x) for x in operands]
    return numbers.compute(site.e, eqn.op.name, eqn.namespace, scalars)


def _must_be_clear(eqn: Eqn, x: Any) -> None:
    """Refuse what one spelling makes an array without axes, and another a number of NumPy's."""
    match eqn.op.name:
        case "copy":
            unclear = eqn.namespace == "np"
        case "real":
            unclear = not isinstance(x, nv.Scalar) or x.code == "b1"
        case "conj":
            unclear = not isinstance(x, nv.Scalar)
        case _:
            unclear = False
    if unclear:
        raise nv.Unlowered(f"`{eqn.op.name}` of a number, or of an array without axes")


def over_arrays(site: BlockLowering, name: str, operands: Any) -> nv.Lazy:
    """An elementwise op on arrays and numbers, by the name of its row."""
    row = ROWS[name]
    typed = operands[1:] if row.rule == "choice" else operands
    code = operand_code(row.rule, typed)
    if name in ("mod", "floordiv") and code == "i64":
        _must_divide(operands[1])
    return mapped(site, row, operands, code, broadcast(site.e, operands))


def _must_divide(divisor: Any) -> None:
    """Refuse to divide arrays of integers by what may be zero, or may overflow."""
    known = divisor.expr if isinstance(divisor, nv.Scalar) else None
    if not isinstance(known, Constant) or known.value in (0, -1):
        raise nv.Unlowered("arrays of integers divided by a number that is computed")


def _chosen_number(site: BlockLowering, operands: Any) -> nv.Broadcast:
    """`np.where` gives an array, of numbers too."""
    e = site.e
    code = operand_code("selection", operands[1:])
    condition, x, y = (
        numbers.converted(e, v.expr, c) for v, c in zip(operands, ("b1", code, code), strict=True)
    )
    chosen = nv.Scalar(e.apply("select", condition, x, y, code=code), nv.NUMPY)
    return nv.Broadcast(chosen, code, ())


# --- containers ---------------------------------------------------------------------------


@lowers("pack")
def _pack(site: BlockLowering, eqn: Eqn) -> nv.Value:
    items = tuple(_held(site, atom) for atom in eqn.args)
    form, keys, type_ = (eqn.param(name) for name in ("form", "keys", "type"))
    return nv.Tuple(items, form, tuple(keys) if keys is not None else (), type_)


def _held(site: BlockLowering, atom: Atom) -> nv.Value:
    """An item of a container: an array is in memory."""
    value = site.value(atom)
    if is_complex(value):
        return site.parts_in_memory(atom)
    if isinstance(value, (nv.Lazy, nv.Broadcast)):
        return (
            site.as_scalar(value)
            if isinstance(value, nv.Lazy) and not value.dims
            else (site.in_memory(atom))
        )
    return value


@lowers("unpackable")
def _unpackable(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """What is about to be unpacked into so many names."""
    value = site.value(eqn.args[0])
    count, starred = (int(site.value(atom).expr.value) for atom in eqn.args[1:])
    needed, wrong = (nv.integer(count - 1), "lt") if starred >= 0 else (nv.integer(count), "ne")
    wrong_number = Apply(wrong, (length_of(site, value), needed), "b1")
    site.e.exit_if(wrong_number, "the wrong number of values")
    return value


def _is_tuple(value: nv.Value) -> bool:
    return isinstance(value, nv.Tuple) and value.form == "tuple"


def joined(a: nv.Tuple, b: nv.Tuple) -> nv.Tuple:
    """`a + b` of tuples or lists of known length."""
    items = (*a.items, *b.items)
    return nv.Tuple(items, a.form if a.form == b.form else "list", tuple(range(len(items))))


def length_of(site: BlockLowering, value: nv.Value) -> Expr:
    """`len` of a value."""
    match value:
        case nv.Tuple(items=items, form=form) if form not in ("object", "dataclass"):
            must_be_open(value)
            return nv.integer(len(items))
        case GrowingList(length=length):
            return site.e.variable("length", length)  # the list may grow after this
        case nv.Range(count=count):
            return count
        case nv.View() | nv.Lazy() | nv.Broadcast() if value.dims:
            return value.dims[0]
        case nv.StaticValue(value=str() as text):
            return nv.integer(len(text))
        case _:
            raise nv.Unlowered(f"the length of {nv.described(value)}")


@lowers("length")
def _length(site: BlockLowering, eqn: Eqn) -> nv.Value:
    return nv.Scalar(length_of(site, site.value(eqn.args[0])), nv.PYTHON, SIZE_BITS)


@lowers("rebound")
def _rebound(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`value += …` gives the name a new object, as it does of a number."""
    if not isinstance(site.value(eqn.args[0]), nv.Scalar):
        raise nv.Unlowered("a change in place of what the run chooses")
    return nv.StaticValue(None)


@lowers("python_number")
def _python_number(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value = site.value(eqn.args[0])
    if not isinstance(value, nv.Scalar) or value.origin != nv.PYTHON:
        raise nv.Unlowered("a NumPy number beside an object with items")
    return nv.StaticValue(None)


@lowers("getattr")
def _getattr(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value = site.value(eqn.args[0])
    name = eqn.param("name")
    if isinstance(value, nv.Tuple) and name in value.keys:
        return value.items[value.keys.index(name)]
    raise nv.Unlowered(f"the attribute `{name}`")


def item_of_list(site: BlockLowering, value: GrowingList, index: nv.Scalar) -> nv.Value:
    position = wrapped(site, index, length_of(site, value))
    return item_at(site.e, value, position)


def wrapped(site: BlockLowering, index: nv.Scalar, size: Expr) -> Expr:
    """An index that may count from the end, once it is known to be in range."""
    e = site.e
    if index.code != "i64":
        raise nv.Unlowered("an index that is no integer")
    k, size = index.expr, e.let(size)
    if isinstance(k, Constant):
        position = k if int(k.value) >= 0 else e.apply("add", size, k)
        least = int(k.value) if int(k.value) >= 0 else -1 - int(k.value)
        e.exit_if(Apply("le", (size, nv.integer(least)), "b1"), "an index out of range")
        return position
    position = k
    if (e.least(k) or -1) < 0 and e.least(k) != 0:
        position = e.apply("wrapped", k, size)
    e.exit_if(Apply("outside", (position, size), "b1"), "an index out of range")
    return position
