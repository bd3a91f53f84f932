"""Complex numbers and arrays of them: two real ones each.

A complex value is a container of its two parts, which loops carry, branches merge and lists keep as they do
those of any tuple. A part without an origin of its own says that the number is real: one that is real in some
runs is kept as a complex one whose imaginary part is nobody's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..form.loopform import Apply, Constant, Expr, Slot
from . import values as nv
from .emitter import Emitter
from .numbers import as_float_origin, chosen_origin, exact_float, origin_expr, possible

COMPLEX = "complex"


def complex_of(re: nv.Value, im: nv.Value) -> nv.Tuple:
    """The complex number, or array, with these parts."""
    return nv.Tuple((re, im), COMPLEX)


def complex_number(re: Expr, im: Expr, origin: nv.Origin) -> nv.Tuple:
    """A complex number of Python's or NumPy's."""
    return complex_of(nv.Scalar(re, origin), nv.Scalar(im, origin))


def known_number(value: complex, origin: nv.Origin) -> nv.Tuple:
    """A complex number that is known."""
    return complex_number(Constant(value.real, "f64"), Constant(value.imag, "f64"), origin)


def is_complex(value: nv.Value) -> bool:
    return isinstance(value, nv.Tuple) and value.form == COMPLEX


def is_number(value: nv.Tuple) -> bool:
    """Whether a complex value is one number, and no array."""
    return isinstance(value.items[0], nv.Scalar)


def hints_of_parts(value: nv.Tuple, hint: str) -> list[str]:
    """What the variables of the parts of a value are called."""
    if is_complex(value):
        return [f"{hint}_re", f"{hint}_im"]
    return [hint] * len(value.items)


def by_part(value: nv.Tuple, change: Callable[[nv.Value], nv.Value]) -> nv.Tuple:
    """A complex value of which each part has been changed."""
    return complex_of(*map(change, value.items))


def template() -> nv.Tuple:
    """What stands for complex numbers of which nothing is known but that they are."""
    whose = frozenset((nv.PYTHON, nv.NUMPY))
    re, im = (nv.Scalar(Slot("", "f64"), nv.DynamicOwner(Slot("", "i64"), whose)) for _ in range(2))
    return complex_of(re, im)


# --- real values among complex ones -----------------------------------------------------------


def lifted(e: Emitter, value: nv.Scalar | nv.View | nv.Lazy | nv.Broadcast) -> nv.Tuple:
    """A real number or array as a complex one.

    Raises:
        Unlowered: NumPy would compute with complex numbers of 32 bits for each part.
    """
    if isinstance(value, nv.Scalar):
        re = nv.Scalar(exact_float(e, value), as_float_origin(value))
        return complex_of(re, nv.Scalar(Constant(0.0, "f64"), nv.UNBOUND))
    if value.code == "f32":
        raise nv.Unlowered("complex numbers of 32 bits for each part")
    return complex_of(value, nv.Scalar(Constant(0.0, "f64"), nv.NUMPY))


def may_be_real(value: nv.Tuple) -> bool:
    """Whether a complex number is a real one in some runs."""
    return is_number(value) and nv.UNBOUND in possible(value.items[1].origin)


def must_be_complex(e: Emitter, operands: Sequence[nv.Tuple]) -> None:
    """Leave to the Python form what is computed of real numbers alone in this run."""
    if all(map(may_be_real, operands)):
        reason = "a number that is real in this run, and complex in others"
        e.exit_if(all_real_now(e, operands), reason)


def are_floats_if_real(operands: Sequence[nv.Tuple]) -> bool:
    """Whether numbers that are all real in some runs are floats then, which do not grow as integers do."""
    integers = any(nv.AN_INTEGER in possible(each.items[0].origin) for each in operands)
    return not integers and all(map(may_be_real, operands))


def real_where_all_are(e: Emitter, operands: Sequence[nv.Tuple], origin: nv.Origin) -> nv.Origin:
    """The origin of the imaginary part of a number that is real where all of these are."""
    return chosen_origin(e, all_real_now(e, operands), nv.UNBOUND, origin)


def all_real_now(e: Emitter, operands: Sequence[nv.Tuple]) -> Expr:
    """Whether numbers that are complex in some runs are all real ones in this."""
    found: Expr = Constant(True, "b1")
    for operand in operands:
        found = e.apply("and", found, is_real_now(operand), code="b1")
    return found


def is_real_now(value: nv.Tuple) -> Expr:
    """Whether a number that is complex in some runs is a real one in this."""
    return Apply("eq", (origin_expr(value.items[1].origin), nv.integer(nv.UNBOUND)), "b1")
