"""Which numbers are close, which arrays are the same, and how many elements are not zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from .....ir.graph import Atom, Const, Eqn
from ...form.loopform import FLOATS, Apply, Code, Constant, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of
from ...lower.structure import over_arrays
from ...values import numbers
from ...values.emitter import Emitter
from ...values.rows import choose, row
from ...values.values import NUMPY, PYTHON, Scalar, Unlowered, Value

COUNT_BITS = 48


def _options(eqn: Eqn, names: Sequence[str], defaults: Sequence[float]) -> list[Atom]:
    """The options of a call, given by place or by name."""
    by_place = dict(zip(names, eqn.args[2:], strict=False))
    given = {**by_place, **eqn.params}
    return [given.get(n, Const(d)) for n, d in zip(names, defaults, strict=True)]


@lowers("isclose")
def _isclose(site: BlockLowering, eqn: Eqn) -> Scalar:
    """`math.isclose`, as CPython has it."""
    options = _options(eqn, ("rel_tol", "abs_tol"), (1e-9, 0.0))
    scalars = [site.as_scalar(site.operand(atom)) for atom in (*eqn.args[:2], *options)]
    e = site.e
    a, b, relative, absolute = (numbers.exact_float(e, x) for x in scalars)
    for tolerance in (relative, absolute):
        e.exit_if(e.apply("lt", tolerance, _REAL_ZERO, code="b1"), "a negative tolerance")
    apart = e.apply("fabs", e.apply("sub", b, a))
    bounds = [e.apply("fabs", e.apply("mul", relative, x)) for x in (b, a)]
    near = [e.apply("le", apart, bound, code="b1") for bound in (*bounds, absolute)]
    finite = [e.apply("lt", e.apply("fabs", x), _INFINITY, code="b1") for x in (a, b)]
    close = e.apply(
        "and", e.apply("and", *finite), e.apply("or", e.apply("or", *near[:2]), near[2])
    )
    return Scalar(e.apply("or", e.apply("eq", a, b, code="b1"), close), PYTHON)


_REAL_ZERO, _INFINITY = Constant(0.0, "f64"), Constant(math.inf, "f64")


@lowers("is_close")
def _is_close(site: BlockLowering, eqn: Eqn) -> Value:
    """`np.isclose`."""
    *tolerances, equal_nan = _options(eqn, ("rtol", "atol", "equal_nan"), (1e-5, 1e-8, False))
    if not isinstance(equal_nan, Const):
        raise Unlowered("`equal_nan` that is computed")
    name = "is_close_or_nan" if equal_nan.value else "is_close"
    operands = [site.operand(atom) for atom in (*eqn.args[:2], *tolerances)]
    if any(getattr(x, "code", "f64") == "f32" for x in operands):
        raise Unlowered("a comparison of floats of 32 bits")
    if any(dims_of(x) for x in operands):
        return over_arrays(site, name, operands)
    scalars = [site.as_scalar(x) for x in operands]
    return Scalar(numbers.compute(site.e, name, "np", scalars).expr, NUMPY)


@row("comparison", "is_close")
def _close(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, y, relative, absolute = args
    bound = e.apply("add", absolute, e.apply("mul", relative, e.apply("fabs", y)))
    near = e.apply("le", e.apply("fabs", e.apply("sub", x, y)), bound, code="b1")
    finite = e.apply("lt", e.apply("fabs", y), Constant(math.inf, code), code="b1")
    return e.apply("or", e.apply("and", near, finite), e.apply("eq", x, y, code="b1"))


@row("comparison", "is_close_or_nan")
def _close_or_nan(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    both = e.apply("and", *(e.apply("ne", x, x, code="b1") for x in args[:2]))
    return e.apply("or", _close(e, args, code), both)


@lowers("allclose")
def _allclose(site: BlockLowering, eqn: Eqn) -> Scalar:
    return _all(site, _is_close(site, eqn))


@lowers("array_equal")
def _array_equal(site: BlockLowering, eqn: Eqn) -> Scalar:
    x, y = (site.operand(atom) for atom in eqn.args[:2])
    if len(eqn.args) > 2 or eqn.params:
        raise Unlowered("options of `array_equal`")
    if len(dims_of(x)) != len(dims_of(y)):
        return Scalar(Constant(False, "b1"), PYTHON)
    if [*map(site.e.size, dims_of(x))] != [*map(site.e.size, dims_of(y))]:
        raise Unlowered("whether arrays are equal whose sizes may differ")
    return _all(site, site.apply("eq", x, y))


def _all(site: BlockLowering, truths: Value) -> Scalar:
    """Whether all of them hold, as a truth value of Python's."""
    found = truths if isinstance(truths, Scalar) else site.as_scalar(site.apply("all", truths))
    return Scalar(found.expr, PYTHON)


@lowers("count_nonzero")
def _count_nonzero(site: BlockLowering, eqn: Eqn) -> Value:
    """Of all elements, an integer of Python's or NumPy's: that depends on the version of NumPy."""
    x = site.operand(eqn.args[0])
    truths = x if getattr(x, "code", "") == "b1" else site.apply("ne", x, 0)
    found = site.apply("sum", truths, **cast("dict[str, Any]", eqn.params))
    if eqn.param("axis") is not None or eqn.param("keepdims", False):
        return found
    by_python = isinstance(np.count_nonzero(np.zeros(1)), int)
    return Scalar(site.as_scalar(found).expr, PYTHON if by_python else NUMPY, COUNT_BITS)


# --- uncommon functions of each element ------------------------------------------------------


@row("selection", "fmax")
def _fmax(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return _unless_nan(e, args, code, "ge")


@row("selection", "fmin")
def _fmin(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return _unless_nan(e, args, code, "le")


def _unless_nan(e: Emitter, args: Sequence[Expr], code: Code, op: str) -> Expr:
    """The first if it compares so, or the second is NaN."""
    a, b = args
    takes_a = e.apply(op, a, b, code="b1")
    if code in FLOATS:
        takes_a = e.apply("or", takes_a, e.apply("ne", b, b, code="b1"))
    return choose(e, takes_a, a, b)


@row("inexact", "heaviside")
def _heaviside(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, at_zero = args
    zero, one = Constant(0.0, code), Constant(1.0, code)
    above = choose(e, e.apply("gt", x, zero, code="b1"), one, x)  # of NaN itself
    above = choose(e, e.apply("eq", x, zero, code="b1"), at_zero, above)
    return choose(e, e.apply("lt", x, zero, code="b1"), zero, above)


@row("comparison", "signbit")
def _signbit(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    if code not in FLOATS:
        return e.apply("lt", x, Constant(0, code), code="b1")
    sign = e.apply("copysign", Constant(1.0, code), x)
    return e.apply("lt", sign, Constant(0.0, code), code="b1")


@row("inexact", "sinc")
def _sinc(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    is_zero = e.apply("eq", x, Constant(0.0, code), code="b1")
    y = e.apply("mul", Constant(math.pi, code), choose(e, is_zero, Constant(1.0e-20, code), x))
    return e.apply("div", e.apply("sin", y), y)


@row("inexact", "logaddexp2")
def _logaddexp2(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, y = args
    one = Constant(1.0, code)
    gap = e.apply("neg", e.apply("fabs", e.apply("sub", x, y)))
    more = e.apply("log1p", e.apply("exp2", gap))
    more = e.apply("mul", more, Constant(1.0 / math.log(2.0), code))
    apart = e.apply("add", e.apply("maximum", x, y), more)
    same = e.apply("eq", x, y, code="b1")  # of two infinities the difference is NaN
    return choose(e, same, e.apply("add", x, one), apart)


@row("inexact", "log_base")
def _log_base(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, base = args
    e.exit_if(
        Apply("le", (base, Constant(0.0, code)), "b1"), "a logarithm to a base of zero or less"
    )
    return e.apply("div", e.apply("log", x), e.apply("log", base))


@row("inexact", "remainder")
def _remainder(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    """`math.remainder`, as CPython has it: no digit is lost."""
    x, y = args
    size, step = e.apply("fabs", x), e.apply("fabs", y)
    rest = e.apply("fmod", size, step)
    to_next = e.apply("sub", step, rest)
    half = e.apply("mul", Constant(0.5, code), e.apply("sub", size, rest))
    middle = e.apply("mul", Constant(2.0, code), e.apply("fmod", half, step))
    in_middle = e.apply("sub", rest, middle)
    above = choose(e, e.apply("gt", rest, to_next, code="b1"), e.apply("neg", to_next), in_middle)
    found = choose(e, e.apply("lt", rest, to_next, code="b1"), rest, above)
    return e.apply("mul", e.apply("copysign", Constant(1.0, code), x), found)
