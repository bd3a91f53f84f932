"""Ops on complex operands: by formulas, by parts, or as on any other value.

`handler_of` is asked for the handler of an equation that has a complex operand; what has none here has no
native form, whatever the op does with real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .....ir.graph import Atom, Const, Eqn
from .....ir.records import replace
from ...form.loopform import Code, Constant, Expr
from ...lower.fusion import mapped
from ...lower.lowering import HANDLERS, BlockLowering, Handler, lowers
from ...lower.sequences.columns import GrowingList, Parts
from ...lower.shapes import broadcast, dims_of
from ...values import numbers, values as nv
from ...values.complexes import (
    are_floats_if_real,
    by_part,
    complex_number,
    complex_of,
    is_complex,
    is_number,
    is_real_now,
    lifted,
    may_be_real,
    must_be_complex,
    real_where_all_are,
)
from ...values.emitter import Emitter
from ...values.numbers import exact_float
from ...values.rows import Elementwise
from .complex_formulas import FORMULAS, Formula
from .complex_powers import power_derivative, whole_power, whole_power_of_numpy

OPS: dict[str, Handler] = {}
"""What ops become that have a complex operand."""
_CARRYING = (
    "pack", "for", "while", "if", "try", "call", "evaluated", "append_item", "appended", "zeros",
)  # fmt: skip
"""Ops that take any value as it is."""
_JOINING = (
    "array", "asarray", "gather", "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack",
    "sum_items",
)  # fmt: skip
"""Ops that make one array of what is in a list."""
MOST_SQUARED = 100
"""Powers that CPython and NumPy multiply out."""


def of_complex(*names: str) -> Callable[[Handler], Handler]:
    """Enter a handler into the table under the names of ops."""

    def enter(handler: Handler) -> Handler:
        OPS.update(dict.fromkeys(names, handler))
        return handler

    return enter


def is_about_complex(site: BlockLowering, eqn: Eqn) -> bool:
    """Whether an operand of an equation is complex, or holds what is, or its result is asked to be."""
    return asks_for_complex(eqn) or any(
        isinstance(atom.value, complex)
        if isinstance(atom, Const)
        else has_complex(site.values.get(atom))
        for atom in eqn.args
    )


def asks_for_complex(eqn: Eqn) -> bool:
    """Whether the option `dtype` of an equation is that of complex numbers."""
    asked = eqn.params.get("dtype")
    value = asked.value if isinstance(asked, Const) else None
    return value is not None and value in _COMPLEX_TYPES


_COMPLEX_TYPES = (complex, np.complex128, np.dtype(np.complex128), "complex", "complex128")


def has_complex(value: nv.Value) -> bool:
    """Whether a value is complex, or a list or tuple with something complex in it."""
    if isinstance(value, GrowingList):
        return isinstance(value.column, Parts) and is_complex(value.column.template)
    if not isinstance(value, nv.Tuple):
        return False
    inside = value.form in ("list", "tuple") and any(map(has_complex, value.items))
    return inside or is_complex(value)


def handler_of(site: BlockLowering, eqn: Eqn) -> Handler:
    """The handler of an op that has a complex operand.

    Raises:
        Unlowered: it has none.
    """
    name = eqn.op.name
    direct = asks_for_complex(eqn) or any(is_complex(site.value(atom)) for atom in eqn.args)
    if direct or name in _JOINING:
        if name in OPS:
            return OPS[name]
        if name in FORMULAS:
            return elementwise
    if name in HANDLERS and (name in _CARRYING if direct else eqn.namespace != "np"):
        return HANDLERS[name]
    raise nv.Unlowered(f"`{name}` of complex numbers")


# --- elementwise ------------------------------------------------------------------------------


def elementwise(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A function of numbers or arrays, by its formula."""
    if eqn.params or eqn.namespace == "math":
        raise nv.Unlowered(f"options of `{eqn.op.name}` of complex numbers")
    if eqn.op.name == "copy" and not dims_of_complex(site.value(eqn.args[0])):
        raise nv.Unlowered("a copy of a complex number, or of an array without axes")
    return applied(site, eqn, FORMULAS[eqn.op.name])


def applied(site: BlockLowering, eqn: Eqn, formula: Formula) -> nv.Value:
    """What a formula gives for the operands of an equation."""
    operands = [operand(site, atom) for atom in eqn.args]
    if all(map(is_number, operands)):
        origin = _origin(site, eqn, operands)
        return _of_numbers(site.e, eqn, formula, operands, origin)
    if eqn.op.name in ("truth", "not"):
        raise nv.Unlowered("the truth value of an array")
    return over_arrays(site, _of_numpy(eqn, formula), operands)


def _of_numpy(eqn: Eqn, formula: Formula) -> Formula:
    """How NumPy computes what Python's own numbers compute in another way."""
    if formula.of_numpy is not None:
        return Formula(formula.gives, formula.of_numpy)
    return FORMULAS["ieee_div"] if eqn.op.name == "div" else formula


def operand(site: BlockLowering, atom: Atom) -> nv.Tuple:
    """A number or an array as a complex one; an array without axes is a number."""
    value = site.value(atom)
    if not is_complex(value):
        return lifted(site.e, site.operand_of(value))
    return value if dims_of_complex(value) else by_part(value, site.as_scalar)


def dims_of_complex(value: nv.Tuple) -> tuple[Expr, ...]:
    """The sizes of a complex array; of a number, none."""
    return dims_of(value.items[0])


def _of_numbers(
    e: Emitter, eqn: Eqn, formula: Formula, operands: Sequence[nv.Tuple], origin: nv.Origin
) -> nv.Value:
    """The result of a function of numbers: where Python's own would raise, the program exits."""
    name, in_cmath = eqn.op.name, eqn.namespace == "cmath"
    stays_real = name in _KEEPING_REAL and are_floats_if_real(operands)
    if not stays_real and name != "real":
        must_be_complex(e, operands)
    of_numpy = min(numbers.bound(origin)) >= nv.SINGLE
    if of_numpy:
        formula = _of_numpy(eqn, formula)
    if name in _RAISING_OF_ZERO and not of_numpy:
        _must_not_be_zero(e, operands[_RAISING_OF_ZERO[name]])
    found = formula.expand(e, [part.expr for each in operands for part in each.items])
    if formula.gives != "truth" and (in_cmath or (name in _RAISING and not of_numpy)):
        _must_be_finite(e, found, f"{name} outside of its domain")
    match formula.gives:
        case "complex":
            im_origin = real_where_all_are(e, operands, origin) if stays_real else origin
            return complex_of(nv.Scalar(found[0], origin), nv.Scalar(found[1], im_origin))
        case "real":
            return nv.Scalar(found[0], origin)
        case "truth":
            origin = nv.PYTHON if name in ("truth", "not") else origin
            return nv.Scalar(found[0], numbers.whose_comparison(e, origin))


_KEEPING_REAL = ("add", "sub", "mul", "accumulate", "neg", "pos", "conj")
"""Functions that give of real numbers what they give of them as complex ones."""
_RAISING = ("abs", "pow")
"""Functions of Python's own that raise where the result is too large."""


_RAISING_OF_ZERO = {"div": 1, "pow": 0}
"""Operators that raise where this operand is zero, or may do so."""


def _origin(site: BlockLowering, eqn: Eqn, operands: Sequence[nv.Tuple]) -> nv.Origin:
    """Whose the result is."""
    name, namespace = eqn.op.name, eqn.namespace
    if namespace == "cmath":
        return nv.PYTHON
    if name == "real":
        return operands[0].items[0].origin
    if name != "imag" and (namespace == "np" or name == "unit"):
        if any(nv.SINGLE in numbers.bound(each.items[0].origin) for each in operands):
            raise nv.Unlowered("complex numbers of 32 bits for each part")
        return nv.NUMPY
    deciding = operands[:1] if _takes_as_float(site, eqn, operands) else operands
    found = numbers.merged(site.e, [each.items[0].origin for each in deciding], nv.PYTHON)
    if nv.SINGLE in numbers.bound(found):
        raise nv.Unlowered("complex numbers of 32 bits for each part")
    return found


def _takes_as_float(site: BlockLowering, eqn: Eqn, operands: Sequence[nv.Tuple]) -> bool:
    """Whether a complex number of Python's on the left takes NumPy's float on the right for one of Python's."""
    left = numbers.bound(operands[0].items[0].origin)
    if (
        eqn.namespace != "py"
        or len(operands) != 2
        or may_be_real(operands[0])
        or set(left) == {nv.NUMPY}
    ):
        return False
    right = site.value(eqn.args[1])
    if is_complex(right) and may_be_real(right):
        origin = numbers.origin_expr(right.items[0].origin)
        of_numpy = site.e.apply("eq", origin, nv.integer(nv.NUMPY), code="b1")
        site.e.exit_if(
            site.e.apply("and", is_real_now(right), of_numpy, code="b1"), "a float of NumPy's"
        )
        return False
    return isinstance(right, nv.Scalar) and right.code == "f64"


def _must_not_be_zero(e: Emitter, number: nv.Tuple) -> None:
    found = FORMULAS["not"].expand(e, [part.expr for part in number.items])
    e.exit_if(found[0], "a division or power of zero")


def _must_be_finite(e: Emitter, parts: Sequence[Expr], reason: str) -> None:
    for part in parts:
        finite = e.apply("lt", e.apply("fabs", part), Constant(math.inf, "f64"), code="b1")
        e.exit_if(e.apply("not", finite), reason)


def over_arrays(site: BlockLowering, formula: Formula, operands: Sequence[nv.Tuple]) -> nv.Value:
    """The result of a function of arrays: one elementwise operation on all parts for each part of it."""
    parts = [part for each in operands for part in each.items]
    dims = broadcast(site.e, parts)
    rule = "truth" if formula.gives == "truth" else "inexact"

    def made(k: int) -> nv.Lazy:
        def expand(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
            return formula.expand(e, args)[k]

        return mapped(site, Elementwise(rule, expand), parts, "f64", dims)

    return complex_of(made(0), made(1)) if formula.gives == "complex" else made(0)


def is_true(e: Emitter, value: nv.Tuple) -> Expr:
    """Whether a complex number counts as true."""
    return FORMULAS["truth"].expand(e, [part.expr for part in value.items])[0]


# --- from real numbers, and back --------------------------------------------------------------


@lowers("complex_of_parts")
def _of_parts(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`complex(a, b)`"""
    re, im = (exact_float(site.e, site.scalar(atom)) for atom in eqn.args)
    return complex_number(re, im, nv.PYTHON)


@of_complex("to_complex")
@lowers("to_complex")
def _to_complex(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`complex(z)`"""
    z = operand(site, eqn.args[0])
    if not is_number(z):
        raise nv.Unlowered("`complex` of an array")
    return complex_number(z.items[0].expr, z.items[1].expr, nv.PYTHON)


# --- powers -----------------------------------------------------------------------------------


@of_complex("pow", "ieee_pow")
def _pow(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Whole powers that are known are multiplied out, as CPython and NumPy do."""
    base, exponent = (operand(site, atom) for atom in eqn.args)
    if eqn.namespace != "np" and not is_number(base):
        shortcut = _shortcut(site, eqn, exponent)
        if shortcut is not None:
            return over_arrays(site, FORMULAS[shortcut], [base])
    n = _known_whole(exponent)
    if n is None:
        return elementwise(site, eqn)
    of_numpy = lambda z, _: whole_power_of_numpy(z, n)
    return applied(site, eqn, Formula("complex", lambda z, _: whole_power(z, n), of_numpy))


def _shortcut(site: BlockLowering, eqn: Eqn, exponent: nv.Tuple) -> str | None:
    """What NumPy's operator computes of arrays instead of a power by one of Python's numbers."""
    number = site.value(eqn.args[1])
    if (
        not isinstance(number, nv.Scalar)
        or number.origin != nv.PYTHON
        or number.code not in ("f64", "i64")
    ):
        return None
    shortcuts: dict[float, str] = {0.5: "sqrt"}
    if number.code == "i64":
        shortcuts = {2: "square", -1: "reciprocal"}
    if isinstance(number.expr, Constant):
        return shortcuts.get(number.expr.value)
    for value in shortcuts:
        same = site.e.apply("eq", number.expr, Constant(value, number.code), code="b1")
        site.e.exit_if(same, "a power that NumPy computes in another way")
    return None


def _known_whole(exponent: nv.Tuple) -> int | None:
    """A small whole number that is known."""
    re, im = exponent.items
    if not (isinstance(re, nv.Scalar) and isinstance(re.expr, Constant) and im.expr == _ZERO):
        return None
    value = float(re.expr.value)
    return int(value) if value.is_integer() and abs(value) < MOST_SQUARED else None


_ZERO = Constant(0.0, "f64")


@of_complex("pow_derivative")
def _pow_derivative(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`y (y - 1) … x ** (y - order)`, and 0 wherever its factor is 0."""
    order = eqn.param("order")
    return applied(
        site,
        replace(eqn, params={}),
        Formula("complex", lambda x, y: power_derivative(x, y, order)),
    )


# --- derivatives ------------------------------------------------------------------------------


@of_complex("project")
def _project(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A gradient in its final form: that of a complex number is one of Python's."""
    bar, x = (site.value(atom) for atom in eqn.args)
    if not is_complex(x):
        return HANDLERS["project"](site, replace(eqn, args=(site.atom(bar.items[0]), eqn.args[1])))
    if is_number(x):
        re, im = (part.expr for part in operand(site, eqn.args[0]).items)
        return complex_number(re, im, nv.PYTHON)
    given = bar if is_complex(bar) else lifted(site.e, site.operand_of(bar))
    parts = zip(given.items, x.items, strict=True)
    return complex_of(
        *(
            HANDLERS["project"](site, replace(eqn, args=(site.atom(a), site.atom(b))))
            for a, b in parts
        )
    )
