"""Numbers: what Python's own do that machine numbers do not.

They raise at a division by zero and outside of a domain, and integers grow. Where that would happen, the
native function exits: the Python form raises, or computes with integers of any size.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..form.loopform import FLOATS, Apply, Code, Constant, Expr
from . import values as nv
from .emitter import Emitter
from .promotion import converted, number_codes
from .rows import ROWS, Elementwise

EXACT = 53
"""Integers of so many bits are floats, too."""
SAFE = 62
"""Sums of two integers of so many bits do not overflow."""

_RAISING_AT_ZERO = ("div", "mod", "floordiv")
_FLOAT_AT_LEAST = ("div", "ieee_div", "safe_div", "direction_cosine")


def merged(e: Emitter, origins: Sequence[nv.Origin], least: int = nv.AN_INTEGER) -> nv.Origin:
    """Whose number the result of arithmetic on numbers is."""
    among = {least}
    for origin in origins:
        among = {max(one, other) for one in among for other in bound(origin)}
    lowest = min(among)
    if len(among) == 1:
        return lowest
    total: Expr = nv.integer(lowest)
    for origin in origins:
        if max(bound(origin)) > lowest:
            total = e.apply("max", total, origin_expr(origin))
    return nv.DynamicOwner(total, frozenset(among))


def possible(origin: nv.Origin) -> frozenset[int]:
    """Whose a number may be."""
    return origin.among if isinstance(origin, nv.DynamicOwner) else frozenset((origin,))


def bound(origin: nv.Origin) -> frozenset[int]:
    """Whose a number may be that is read: one that has not been assigned is not."""
    return possible(origin) - {nv.UNBOUND} or possible(origin)


def origin_expr(origin: nv.Origin) -> Expr:
    return nv.integer(origin) if isinstance(origin, int) else origin.expr


def as_float_origin(scalar: nv.Scalar) -> nv.Origin:
    """Whose a number is once it is kept as a float of 64 bits."""
    if scalar.code == "f32":
        return nv.SINGLE
    if scalar.code == "f64":
        return scalar.origin
    return nv.AN_INTEGER if scalar.origin == nv.PYTHON else scalar.origin


def keeps_its_type(scalar: nv.Scalar, code: Code) -> bool:
    """Whether a number that is kept as one of another type is still known for what it is."""
    if scalar.code == code:
        return True
    kept = scalar.code == "f32" or (scalar.code == "i64" and scalar.origin == nv.PYTHON)
    return kept and code == "f64"


def of_double(e: Emitter, expr: Expr, origin: nv.Origin) -> nv.Scalar:
    """A number that is kept as a float of 64 bits; where it is known to have 32, as what it is."""
    if origin == nv.SINGLE:
        return nv.Scalar(converted(e, expr, "f32"), nv.NUMPY)
    return nv.Scalar(expr, origin)


def exact_float(e: Emitter, scalar: nv.Scalar, code: Code = "f64") -> Expr:
    """A number as a float that is the same number."""
    if scalar.code == "i64" and scalar.bits > EXACT:
        limit = 2**EXACT
        large = e.apply("gt", e.apply("abs", scalar.expr), nv.integer(limit), code="b1")
        lowest = e.apply("eq", scalar.expr, nv.integer(-(2**63)), code="b1")
        e.exit_if(Apply("or", (large, lowest), "b1"), "an integer of more than 53 bits")
    return converted(e, scalar.expr, code)


def compute(e: Emitter, name: str, namespace: str, scalars: Sequence[nv.Scalar]) -> nv.Scalar:
    """The result of an elementwise op on numbers."""
    if name in ("maximum", "minimum") and namespace == "py":
        return _extreme(e, name, scalars)
    row = ROWS[name]
    codes = number_codes(row.rule, scalars)
    if row.rule in ("arithmetic", "inexact", "integral") and _are_truths_of_numpy(
        scalars, namespace
    ):
        raise nv.Unlowered("NumPy's arithmetic on truth values, in numbers of 8 or 16 bits")
    if namespace == "math" and not codes.isdisjoint(("i64", "f32")):
        codes: set[Code] = {"f64"}  # `math` takes any number as a float of Python's
    if "i64" in codes:
        found = _of_integers(e, name, row, scalars)
        whose = nv.NUMPY if namespace in ("np", "method") else found.origin
        return nv.Scalar(found.expr, whose, found.bits)
    origin = _origin(e, name, namespace, row, scalars)
    if len(codes) > 1 and any(s.code == "b1" and s.origin != nv.PYTHON for s in scalars):
        raise nv.Unlowered("NumPy's truth values and a number whose type depends on the run")
    results: dict[Code, Expr] = {
        code: _computed(e, name, namespace, scalars, code, origin) for code in codes
    }
    if row.rule == "truth" and namespace not in ("np", "method"):
        return nv.Scalar(results["b1"], _whose_truth(e, name, scalars))
    if row.rule in ("comparison", "truth"):
        return nv.Scalar(_of_the_type(e, results, origin), whose_comparison(e, origin))
    if codes == {"f32"}:
        return nv.Scalar(results["f32"], nv.NUMPY)
    if len(codes) > 1:
        results["f32"] = converted(e, results["f32"], "f64")
    return nv.Scalar(_of_the_type(e, results, origin), origin)


def _computed(
    e: Emitter,
    name: str,
    namespace: str,
    scalars: Sequence[nv.Scalar],
    code: Code,
    origin: nv.Origin,
) -> Expr:
    """The result of an op on numbers that have been converted to a type."""
    row = ROWS[name]
    exact = name != "accumulate" and code in FLOATS and row.rule != "truth"
    args = [exact_float(e, s, code) if exact else converted(e, s.expr, code) for s in scalars]
    of_numpy = min(bound(origin)) >= nv.SINGLE
    if not of_numpy and name in _RAISING_AT_ZERO:
        zero = Constant(0.0, code)
        e.exit_if(Apply("eq", (args[1], zero), "b1"), "division by zero")
    result = _power(e, namespace, args, code) if name == "pow" else row.expand(e, args, code)
    if result.code in FLOATS and (namespace == "math" or (name == "pow" and not of_numpy)):
        _must_be_finite(e, result, f"{name} outside of its domain")
    if name == "ieee_pow" and not of_numpy and not isinstance(result, Constant):
        is_nan = e.apply("ne", result, result, code="b1")  # of Python's numbers it is complex
        e.exit_if(is_nan, "a power of a negative number")
    return result


def _power(e: Emitter, namespace: str, args: Sequence[Expr], code: Code) -> Expr:
    """`np.power` takes the root where the exponent is ½; as a power, that of -0.0 is 0.0, and that of -inf inf."""
    x, y = args
    if code not in FLOATS or y != Constant(0.5, code) or namespace == "np":
        name = "power_of_array" if namespace == "np" else "pow"
        return ROWS[name].expand(e, args, code)
    infinity = Constant(float("inf"), code)
    root = e.apply("sqrt", e.apply("add", x, Constant(0.0, code)))
    lowest = e.apply("eq", x, Constant(-float("inf"), code), code="b1")
    return e.apply("select", lowest, infinity, root, code=code)


def _of_the_type(e: Emitter, results: dict[Code, Expr], origin: nv.Origin) -> Expr:
    """Of the results for floats of 32 and of 64 bits, that for the type which the operands have in this run."""
    if len(results) == 1:
        (result,) = results.values()
        return result
    is_single = e.apply("eq", origin_expr(origin), nv.integer(nv.SINGLE), code="b1")
    single, double = results["f32"], results["f64"]
    return e.apply("select", is_single, single, double, code=double.code)


def whose_comparison(e: Emitter, origin: nv.Origin) -> nv.Origin:
    """A comparison gives a truth value of Python's unless a number of NumPy's takes part."""
    among = {nv.PYTHON if each < nv.SINGLE else nv.NUMPY for each in bound(origin)}
    if len(among) == 1:
        return among.pop()
    of_python = e.apply("lt", origin_expr(origin), nv.integer(nv.SINGLE), code="b1")
    return chosen_origin(e, of_python, nv.PYTHON, nv.NUMPY)


def _are_truths_of_numpy(scalars: Sequence[nv.Scalar], namespace: str) -> bool:
    """Whether NumPy computes, and of truth values alone."""
    if any(s.code != "b1" for s in scalars) or namespace == "math":
        return False
    return namespace in ("np", "method") or any(s.origin != nv.PYTHON for s in scalars)


def _whose_truth(e: Emitter, name: str, scalars: Sequence[nv.Scalar]) -> nv.Origin:
    """`not` and `bool` give a truth value of Python's, `and` and `or` one of their operands."""
    if name in ("not", "truth"):
        return nv.PYTHON
    first, second = scalars
    if first.origin == second.origin:
        return first.origin
    is_true = converted(e, first.expr, "b1")
    if name == "both":
        first, second = second, first
    return chosen_origin(e, is_true, first.origin, second.origin)


def _origin(
    e: Emitter, name: str, namespace: str, row: Elementwise, scalars: Sequence[nv.Scalar]
) -> nv.Origin:
    """Whose the result is, or would be if it had 64 bits: a comparison's is that of its operands."""
    if namespace in ("math", "cmath"):
        return nv.PYTHON
    origins = [as_float_origin(s) for s in scalars]
    if namespace in ("np", "method"):
        found = merged(e, origins)
        if row.rule in ("arithmetic", "selection") and nv.AN_INTEGER in bound(found):
            is_integer = e.apply("eq", origin_expr(found), nv.integer(nv.AN_INTEGER), code="b1")
            e.exit_if(is_integer, "NumPy's arithmetic on an integer among floats")
        if nv.SINGLE not in bound(found):
            return nv.NUMPY
        is_single = e.apply("eq", origin_expr(found), nv.integer(nv.SINGLE), code="b1")
        return chosen_origin(e, is_single, nv.SINGLE, nv.NUMPY)
    least = nv.PYTHON if name in _FLOAT_AT_LEAST or row.rule != "arithmetic" else nv.AN_INTEGER
    return merged(e, origins, least)


def _must_be_finite(e: Emitter, value: Expr, reason: str) -> None:
    if isinstance(value, Constant):
        return
    infinite = e.apply("ge", e.apply("fabs", value), Constant(float("inf"), value.code), code="b1")
    is_nan = e.apply("ne", value, value, code="b1")
    e.exit_if(Apply("or", (infinite, is_nan), "b1"), reason)


def _extreme(e: Emitter, name: str, scalars: Sequence[nv.Scalar]) -> nv.Scalar:
    """Python's `max` and `min`: one of the operands, as it is."""
    a, b = scalars
    op = "gt" if name == "maximum" else "lt"
    if a.code == b.code == "i64":
        takes_b = e.apply(op, b.expr, a.expr, code="b1")
        expr = e.apply("select", takes_b, b.expr, a.expr, code="i64")
        return nv.Scalar(expr, chosen_origin(e, takes_b, b.origin, a.origin), max(a.bits, b.bits))
    code = a.code if a.code == b.code else "f64"
    if any(not keeps_its_type(s, code) for s in scalars):
        raise nv.Unlowered("one of two numbers of different types")
    takes_b = compute(e, op, "py", [b, a]).expr
    x, y = (exact_float(e, s, code) for s in scalars)
    first, second = (as_float_origin(s) if code == "f64" else s.origin for s in scalars)
    origin = chosen_origin(e, takes_b, second, first)
    return of_double(e, e.apply("select", takes_b, y, x, code=code), origin)


def chosen_origin(e: Emitter, condition: Expr, then: nv.Origin, other: nv.Origin) -> nv.Origin:
    if then == other:
        return then
    chosen = e.apply("select", condition, origin_expr(then), origin_expr(other), code="i64")
    return nv.DynamicOwner(chosen, possible(then) | possible(other))


# --- integers -----------------------------------------------------------------------------


def _of_integers(
    e: Emitter, name: str, row: Elementwise, scalars: Sequence[nv.Scalar]
) -> nv.Scalar:
    args = [converted(e, s.expr, "i64") for s in scalars]
    bits = [s.bits if s.code == "i64" else 1 for s in scalars]
    origin = merged(e, [s.origin for s in scalars], nv.PYTHON)
    if row.rule in ("comparison", "truth"):
        return nv.Scalar(row.expand(e, args, "i64"), origin)
    if name in ("mod", "floordiv"):
        e.exit_if(Apply("eq", (args[1], nv.integer(0)), "b1"), "division by zero")
        lowest = Apply("eq", (args[0], nv.integer(-(2**63))), "b1")
        e.exit_if(lowest if bits[0] > SAFE else Constant(False, "b1"), "a large integer")
        wide = bits[1] if name == "mod" else bits[0]
        return nv.Scalar(row.expand(e, args, "i64"), origin, wide)
    if name == "pow":
        return _integer_power(e, args, bits, origin)
    if name in ("lshift", "rshift"):
        return _shifted(e, name, args, bits, origin)
    if name in ("add", "sub", "mul", "accumulate"):
        return _arithmetic(e, "add" if name == "accumulate" else name, args, bits, origin)
    if name in ("neg", "abs", "square"):
        if name == "square":
            return _arithmetic(e, "mul", [args[0]] * 2, bits * 2, origin)
        if bits[0] > SAFE:
            e.exit_if(Apply("eq", (args[0], nv.integer(-(2**63))), "b1"), "a large integer")
    return nv.Scalar(row.expand(e, args, "i64"), origin, max(bits, default=64))


def _arithmetic(
    e: Emitter, op: str, args: Sequence[Expr], bits: Sequence[int], origin: nv.Origin
) -> nv.Scalar:
    wide = sum(bits) if op == "mul" else max(bits) + 1
    if wide > SAFE:
        over = e.apply(f"{op}_overflows", *args, code="b1")
        e.exit_if(over, "an integer of more than 64 bits")
        wide = 64
    return nv.Scalar(e.apply(op, *args), origin, wide)


def _shifted(
    e: Emitter, name: str, args: Sequence[Expr], bits: Sequence[int], origin: nv.Origin
) -> nv.Scalar:
    """`x << n`, which is a product, and `x >> n`."""
    x, by = args
    e.exit_if(Apply("lt", (by, nv.integer(0)), "b1"), "a negative shift")
    if name == "rshift":
        shift = e.apply("min", by, nv.integer(63))
        return nv.Scalar(e.apply("shift_right", x, shift), origin, bits[0])
    e.exit_if(Apply("gt", (by, nv.integer(SAFE)), "b1"), "an integer of more than 64 bits")
    factor = e.apply("shift_left", nv.integer(1), by)
    return _arithmetic(e, "mul", [x, factor], [bits[0], SAFE + 1], origin)


def _integer_power(
    e: Emitter, args: Sequence[Expr], bits: Sequence[int], origin: nv.Origin
) -> nv.Scalar:
    """By way of floats, which are exact where the result has few digits."""
    x, y = args
    e.exit_if(Apply("lt", (y, nv.integer(0)), "b1"), "a negative power of an integer")
    base = exact_float(e, nv.Scalar(x, bits=bits[0]))
    result = e.apply("pow", base, exact_float(e, nv.Scalar(y, bits=bits[1])))
    large = e.apply("gt", e.apply("fabs", result), Constant(2.0**EXACT, "f64"), code="b1")
    e.exit_if(large, "an integer of more than 53 bits")
    return nv.Scalar(e.apply("i64", result, code="i64"), origin, EXACT)


def to_integer(
    e: Emitter, scalar: nv.Scalar, rounding: str = "trunc", origin: nv.Origin = nv.PYTHON
) -> nv.Scalar:
    """A number rounded to an integer."""
    if scalar.code in ("i64", "b1"):
        bits = scalar.bits if scalar.code == "i64" else 1
        return nv.Scalar(converted(e, scalar.expr, "i64"), origin, bits)
    rounded = e.apply(rounding, scalar.expr)
    small = e.apply("lt", e.apply("fabs", rounded), Constant(2.0**SAFE, rounded.code), code="b1")
    e.exit_if(e.apply("not", small), "a float that is no integer of 62 bits")
    return nv.Scalar(e.apply("i64", rounded, code="i64"), origin, SAFE)
