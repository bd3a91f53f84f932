"""Elementwise ops: Python's operators, `math`, `cmath` and NumPy's elementwise functions."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..errors import UnsupportedSyntax
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import ZERO, Atom, Const, Var
from ..ir.op import Fold, Infer, Op
from ..ir.types import BOOL, COMPLEX, FLOAT, INT, UNKNOWN, Array, Kind, Number
from .algebra import (
    enter_cmath,
    fold_add,
    fold_conj,
    fold_div,
    fold_ieee_div,
    fold_imag,
    fold_mul,
    fold_neg,
    fold_pow,
    fold_pow_derivative,
    fold_real,
    fold_safe_log,
    fold_sub,
    is_real,
)
from .array_kinds import fold_no_text
from .promotion import (
    Args,
    Params,
    addition,
    always,
    analytic,
    angular,
    arithmetic,
    broadcast,
    conjugate,
    integral,
    modulus,
    multiplication,
    power,
    predicate,
    quotient,
    real_dtype,
    same,
    selection,
    squared,
)
from .registry import declare, in_math, late_helper, named


def _operator(
    name: str,
    symbol: str,
    infer: Infer,
    function: Callable[..., Any],
    fold: Fold | None = None,
    signature: str = "x, y",
    **spellings: Any,
) -> Op:
    return declare(
        name,
        signature,
        infer=infer,
        elementwise=True,
        fold=fold,
        implementation=function,
        py=symbol,
        operator=function.__name__,
        **spellings,
    )


def _function(
    name: str,
    signature: str = "x",
    infer: Infer = analytic,
    fold: Fold | None = None,
    **spellings: Any,
) -> Op:
    fold = enter_cmath(name) if fold is None and "cmath" in spellings else fold
    return declare(name, signature, infer=infer, elementwise=True, fold=fold, **spellings)


def _helper(
    name: str, signature: str, infer: Infer = analytic, fold: Fold | None = None, **spellings: Any
) -> Op:
    """An op that only derivative code uses, computed by a function of `wengert.runtime`."""
    return declare(
        name,
        signature,
        infer=infer,
        elementwise=True,
        fold=fold,
        implementation=late_helper(name),
        rt=name,
        **spellings,
    )


def _in_math(name: str, signature: str = "x", infer: Infer = analytic, **spellings: Any) -> Op:
    """A function that `math`, `cmath` and NumPy all have, under its own name."""
    return _function(name, signature, infer, math=name, cmath=name, np=spellings.get("np", name))


def _without(default: object, name: str, instead: str | None) -> Fold:
    """Drop a second operand that is its default; another op is meant if there is one."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        if len(args) == 2 and args[1] == Const(default):
            return builder.emit_with(named(name), args[:1], params, namespace)
        if len(args) == 2 and instead is not None:
            return builder.emit_with(named(instead), args, params, namespace)
        return enter_cmath(name)(builder, args, params, namespace)

    return fold


# --- operators ----------------------------------------------------------------------------


def _floored(args: Args, params: Params) -> Kind:
    return INT if arithmetic(args, params) in (BOOL, INT) else arithmetic(args, params)


def _inverted(args: Args, params: Params) -> Kind:
    """`~True` is -2, of NumPy's numbers False."""
    return UNKNOWN if kind_of_atom(args[0]) == BOOL else arithmetic(args, params)


add = _operator("add", "+", addition, operator.add, fold_add, np="add")
sub = _operator("sub", "-", arithmetic, operator.sub, fold_sub, np="subtract")
mul = _operator("mul", "*", multiplication, operator.mul, fold_mul, np="multiply")
div = _operator("div", "/", quotient, operator.truediv, fold_div, np="divide")
floordiv = _operator("floordiv", "//", _floored, operator.floordiv, np="floor_divide")
mod = _operator("mod", "%", _floored, operator.mod, np="remainder mod")
pow_ = _operator("pow", "**", power, operator.pow, fold_pow, np="power", math="pow", builtin="pow")
neg = _operator("neg", "-", arithmetic, operator.neg, fold_neg, "x", np="negative")
pos = _operator("pos", "+", arithmetic, operator.pos, None, "x", np="positive")
bitand = _operator("bitand", "&", selection, operator.and_, np="bitwise_and")
bitor = _operator("bitor", "|", selection, operator.or_, np="bitwise_or")
bitxor = _operator("bitxor", "^", selection, operator.xor, np="bitwise_xor")
invert = _operator("invert", "~", _inverted, operator.invert, None, "x", np="invert")
lshift = _operator("lshift", "<<", arithmetic, operator.lshift, np="left_shift")
rshift = _operator("rshift", ">>", arithmetic, operator.rshift, np="right_shift")

# --- exponentials and logarithms ----------------------------------------------------------

exp = _in_math("exp")
exp2 = _function("exp2", math="exp2", np="exp2")
expm1 = _function("expm1", math="expm1", np="expm1")
log = _function(
    "log", "x, base=None", fold=_without(None, "log", "log_base"), math="log", cmath="log", np="log"
)
log_base = _function("log_base", "x, base", math="log", cmath="log")
log2 = _function("log2", math="log2", np="log2")
log10 = _in_math("log10")
log1p = _function("log1p", math="log1p", np="log1p")
logaddexp = _function("logaddexp", "x, y", np="logaddexp")
logaddexp2 = _function("logaddexp2", "x, y", np="logaddexp2")

# --- powers and roots ---------------------------------------------------------------------

sqrt = _in_math("sqrt")
cbrt = _function("cbrt", math="cbrt", np="cbrt")
square = _function("square", infer=squared, np="square")
reciprocal = _function("reciprocal", infer=arithmetic, np="reciprocal")
float_power = _function("float_power", "x, y", np="float_power")
hypot = _function("hypot", "*xs", math="hypot", np="hypot")

# --- trigonometry -------------------------------------------------------------------------

sin = _in_math("sin")
cos = _in_math("cos")
tan = _in_math("tan")
asin = _in_math("asin", np="arcsin")
acos = _in_math("acos", np="arccos")
atan = _in_math("atan", np="arctan")
atan2 = _function("atan2", "y, x", math="atan2", np="arctan2")
sinh = _in_math("sinh")
cosh = _in_math("cosh")
tanh = _in_math("tanh")
asinh = _in_math("asinh", np="arcsinh")
acosh = _in_math("acosh", np="arccosh")
atanh = _in_math("atanh", np="arctanh")
degrees = _function("degrees", math="degrees", np="degrees rad2deg")
radians = _function("radians", math="radians", np="radians deg2rad")
sinc = _function("sinc", np="sinc")

# --- special functions --------------------------------------------------------------------

erf = _function("erf", math="erf")
erfc = _function("erfc", math="erfc")
gamma = _function("gamma", math="gamma")
lgamma = _function("lgamma", math="lgamma")


def _infer_i0(args: Args, params: Params) -> Kind:
    """Always an array, also of a number."""
    kind = analytic(args, params)
    return Array("float64", 0) if isinstance(kind, Number) else kind


i0 = _function("i0", infer=_infer_i0, np="i0")
bessel_i = _helper("bessel_i", "x, *, order")

# --- sign, modulus, rounding --------------------------------------------------------------


def _fold_sign(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """Only of a real number is the sign piecewise constant."""
    if is_real(kind_of_atom(args[0])):
        return None
    return builder.emit_with(named("unit"), args, params, namespace)


def _fold_unit(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    match kind_of_atom(args[0]):
        case Array(dtype=dtype) as kind if is_real(kind) and dtype != "bool":
            return builder.emit_with(named("sign"), args, params, "np")
        case Number() as kind if is_real(kind):
            return builder.emit_with(named("sign_of_number"), args, params, "rt")
        case _:
            return None


def _infer_round(args: Args, params: Params) -> Kind:
    return integral(args, params) if len(args) == 1 else arithmetic(args, params)


abs_ = _function("abs", infer=modulus, py="abs", np="abs", operator="abs")
fabs = _function("fabs", math="fabs", np="fabs")
sign = _function("sign", infer=arithmetic, fold=_fold_sign, np="sign")
sign_of_number = declare("sign_of_number", "x", infer=always(FLOAT), elementwise=True, rt="sign")
unit = _helper("unit", "x", arithmetic, _fold_unit, np="sign")
copysign = _function("copysign", "x, y", math="copysign", np="copysign")
floor = _function("floor", infer=integral, math="floor", np="floor")
ceil = _function("ceil", infer=integral, math="ceil", np="ceil")
trunc = _function("trunc", infer=integral, math="trunc", np="trunc fix")
rint = _function("rint", np="rint")
round_ = _function(
    "round", "x, ndigits=None", _infer_round, _without(None, "round", None), py="round"
)
around = _function("around", "x, decimals=0", arithmetic, np="round around", method="round")
fmod = _function("fmod", "x, y", math="fmod", np="fmod")
remainder = _function("remainder", "x, y", math="remainder")
nextafter = _function("nextafter", "x, y", math="nextafter", np="nextafter")
ldexp = _function("ldexp", "x, i", math="ldexp", np="ldexp")
ulp = _function("ulp", math="ulp")
spacing = _function("spacing", np="spacing")
fma = declare(  # from Python 3.13 on
    "fma",
    "x, y, z",
    infer=analytic,
    elementwise=True,
    implementation=getattr(math, "fma", lambda x, y, z: x * y + z),
    **in_math("fma"),
)

# --- choosing -----------------------------------------------------------------------------


_DTYPES = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}


def _infer_where(args: Args, params: Params) -> Kind:
    """Always an array, also of numbers."""
    kind = broadcast(args[1:], lambda number: number, same)
    shape = selection(args, params)
    dtype = _DTYPES[kind.type] if isinstance(kind, Number) else getattr(kind, "dtype", "")
    if isinstance(shape, Array):
        return Array(dtype, shape.rank)
    return UNKNOWN if shape == UNKNOWN else Array(dtype, 0)


def _fold_where(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    if len(args) == 1:
        return builder.emit(named("nonzero"), *args, namespace="np")
    if len(args) == 2:
        raise UnsupportedSyntax(
            "`where` is given one of two values to choose from",
            "Pass both, `np.where(condition, x, y)`, or neither for the places.",
            builder.span,
        )
    condition, x, y = args
    if ZERO not in (x, y) or x == y:
        return None
    x, y = (Const(0.0) if arg == ZERO else arg for arg in (x, y))
    return builder.emit_with(named("where"), (condition, x, y), params, namespace)


def _fold_clip(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    if len(args) == 3:
        return None
    padded = (*args, *[Const(None)] * (3 - len(args)))
    return builder.emit_with(named("clip"), padded, params, namespace)


def _infer_clip(args: Args, params: Params) -> Kind:
    return selection([arg for arg in args if arg != Const(None)], params)


maximum = _function("maximum", "x, y", selection, py="max", np="maximum")
minimum = _function("minimum", "x, y", selection, py="min", np="minimum")
fmax = _function("fmax", "x, y", selection, np="fmax")
fmin = _function("fmin", "x, y", selection, np="fmin")
clip = _function(
    "clip", "x, a_min=None, a_max=None", _infer_clip, _fold_clip, np="clip", method="clip"
)
where = _function("where", "condition, x=None, y=None", _infer_where, _fold_where, np="where")
heaviside = _function("heaviside", "x, y", np="heaviside")


def _fold_nan(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """A number that is computed stands where there is none, in the dtype of the array."""
    instead = params.get("nan")
    if not isinstance(instead, Var) or not isinstance(instead.kind, Number) or ZERO in args:
        return None
    rest = {name: atom for name, atom in params.items() if name != "nan"}
    filled = builder.emit_with(nan_to_num, args, rest, namespace)
    is_missing = builder.emit(named("isnan"), args[0], namespace="np")
    return builder.emit(named("where"), is_missing, instead, filled, namespace="np")


_NAN = "x, *, copy=True, nan=0.0, posinf=None, neginf=None"
nan_to_num = _function("nan_to_num", _NAN, arithmetic, _fold_nan, np="nan_to_num")

# --- complex numbers ----------------------------------------------------------------------


def _of_known_text(convert: Callable[[str], float]) -> Fold:
    """The number in a text that is known; what is no number raises when the program runs."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        text = args[0].value if len(args) == 1 and isinstance(args[0], Const) else None
        if isinstance(text, str) and not params:
            with suppress(ValueError):
                return Const(convert(text))
        return None

    return fold


def _fold_to_complex(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    if len(args) == 1:
        return fold_no_text(builder, args, params, namespace)
    return builder.emit_with(named("complex_of_parts"), args, params, namespace)


def _fold_of_parts(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    re, im = args
    if im == ZERO:
        return builder.emit(named("to_complex"), re, namespace=namespace)
    if re == ZERO:
        return builder.emit(mul, Const(1j), im)
    return None


def _part(args: Args, params: Params) -> Kind:
    """A part of an array is an array, also without axes."""
    kind = kind_of_atom(args[0])
    return (
        Array(real_dtype(kind.dtype), kind.rank)
        if isinstance(kind, Array)
        else modulus(args, params)
    )


real = declare(
    "real", "x", infer=_part, elementwise=True, fresh=False, fold=fold_real, np="real", attr="real"
)
imag = declare(
    "imag", "x", infer=_part, elementwise=True, fresh=False, fold=fold_imag, np="imag", attr="imag"
)
conj = declare(
    "conj",
    "x",
    infer=conjugate,
    elementwise=True,
    fresh=False,
    fold=fold_conj,
    np="conj conjugate",
    method="conjugate conj",
)
i_imag = _helper("i_imag", "x", analytic, fold_imag)
angle = _function("angle", "x, *, deg=False", angular, np="angle")
phase = _function("phase", "x", always(FLOAT), lambda *_: None, cmath="phase")
to_complex = declare(
    "to_complex", "re, im=0", infer=always(COMPLEX), fold=_fold_to_complex, py="complex"
)
complex_of_parts = declare(
    "complex_of_parts", "re, im", infer=always(COMPLEX), fold=_fold_of_parts, py="complex"
)
to_float = declare("to_float", "x", infer=always(FLOAT), fold=_of_known_text(float), py="float")
number_like = declare(
    "number_like",
    "x, like",
    infer=lambda args, params: kind_of_atom(args[0]),
    rt="number_like",
    total=True,
)
"""A number as one of the class of another: of 32 bits beside such, of Python's or NumPy's."""
to_int = declare("to_int", "x, base=10", infer=always(INT), fold=_of_known_text(int), py="int")

# --- truth and integers: no derivative ------------------------------------------------------


def _predicate(name: str, signature: str = "x", **spellings: str) -> Op:
    return _function(name, signature, predicate, lambda *_: None, **spellings)


isfinite = _predicate("isfinite", math="isfinite", cmath="isfinite", np="isfinite")
isinf = _predicate("isinf", math="isinf", cmath="isinf", np="isinf")
isnan = _predicate("isnan", math="isnan", cmath="isnan", np="isnan")
isclose = _predicate(
    "isclose", "a, b, *, rel_tol=1e-09, abs_tol=0.0", math="isclose", cmath="isclose"
)
is_close = _predicate("is_close", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False", np="isclose")
signbit = _predicate("signbit", np="signbit")
isreal = _predicate("isreal", np="isreal")
iscomplex = _predicate("iscomplex", np="iscomplex")
logical_and = _predicate("logical_and", "x, y", np="logical_and")
logical_or = _predicate("logical_or", "x, y", np="logical_or")
logical_xor = _predicate("logical_xor", "x, y", np="logical_xor")
logical_not = _predicate("logical_not", np="logical_not")
allclose = declare(
    "allclose", "a, b, rtol=1e-05, atol=1e-08, equal_nan=False", infer=always(BOOL), np="allclose"
)
array_equal = declare("array_equal", "a, b, equal_nan=False", infer=always(BOOL), np="array_equal")
comb = _function("comb", "n, k", always(INT), math="comb")
factorial = _function("factorial", "n", always(INT), math="factorial")
gcd = _function("gcd", "*ns", integral, math="gcd", np="gcd")
lcm = _function("lcm", "*ns", integral, math="lcm", np="lcm")
isqrt = _function("isqrt", "n", always(INT), math="isqrt")
perm = _function("perm", "n, k=None", always(INT), math="perm")

# --- what derivatives are made of -----------------------------------------------------------


def _fold_hypot1(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """√(1 + x²): of a real number without overflow, of a complex one as an analytic function."""
    (x,) = args
    if is_real(kind_of_atom(x)):
        return builder.emit(hypot, Const(1.0), x, namespace=namespace)
    return builder.emit(
        sqrt, builder.emit(add, Const(1), builder.emit(mul, x, x)), namespace=namespace
    )


ieee_div = _helper("ieee_div", "x, y", fold=fold_ieee_div)
ieee_pow = _helper("ieee_pow", "x, y")
safe_div = _helper("safe_div", "x, y")
direction_cosine = _helper("direction_cosine", "x, r")
safe_log = _helper("safe_log", "x", fold=fold_safe_log)
pow_derivative = _helper("pow_derivative", "x, y, *, order", fold=fold_pow_derivative)
falling = _helper("falling", "y, *, order, derivative")
hypot1 = declare(
    "hypot1",
    "x",
    infer=analytic,
    elementwise=True,
    fold=_fold_hypot1,
    implementation=lambda x: (1 + x * x) ** 0.5 if isinstance(x, complex) else hypot(1.0, x),
)
sech = _helper("sech", "x")
expit = _helper("expit", "x")
sinc_derivative = _helper("sinc_derivative", "x, *, order")
polygamma = _helper("polygamma", "x, *, order")
for _op in (log, log_base, log2, log10, log1p, sqrt, acosh, atanh, gamma, lgamma):
    _op.domain = True  # `math.log(-1.0)` raises; so must a derivative that does not need its value
