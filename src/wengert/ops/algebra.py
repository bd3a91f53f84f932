"""What the builder emits instead of an arithmetic equation, where that is simpler.

The user's own code stays as it was written. In derivative code, literals are folded and the forms
that rule rows leave behind are repaired: `x_bar * (1 / y)` becomes `x_bar / y`, which rounds once.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import ZERO, Atom, Const
from ..ir.op import Fold
from ..ir.types import COMPLEX, UNKNOWN, Array, Kind, Number
from .registry import named

Args = Sequence[Atom]
Params = Mapping[str, Atom]


def fold_add(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """0 + y = y,  x + -y = x - y."""
    x, y = args
    if ZERO in (x, y):
        return y if x == ZERO else x
    if not builder.derived:
        return None
    if _is(x, 0) and _keeps_kind(builder, y):
        return y
    if _is(y, 0) and _keeps_kind(builder, x):
        return x
    if (minus_y := _written(builder, y, "neg")) is not None:
        return builder.emit(named("sub"), x, *minus_y, namespace=namespace)
    if (minus_x := _written(builder, x, "neg")) is not None:
        return builder.emit(named("sub"), y, *minus_x, namespace=namespace)
    return _computed(builder, operator.add, args)


def fold_sub(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """0 - y = -y,  x - -y = x + y."""
    x, y = args
    if y == ZERO:
        return x
    if x == ZERO:
        return builder.emit(named("neg"), y, namespace=namespace)
    if not builder.derived:
        return None
    if _is(y, 0) and _keeps_kind(builder, x):
        return x
    if _is(x, 0) and _keeps_kind(builder, y):
        return builder.emit(named("neg"), y, namespace=namespace)
    if (minus_y := _written(builder, y, "neg")) is not None:
        return builder.emit(named("add"), x, *minus_y, namespace=namespace)
    return _computed(builder, operator.sub, args)


def fold_neg(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """A negative literal is a literal; --x = x."""
    (x,) = args
    if isinstance(x, Const) and type(x.value) in (int, float, complex):
        return Const(-x.value)
    minus_x = _written(builder, x, "neg")
    return minus_x[0] if minus_x is not None else None


def fold_mul(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """1 · y = y,  -1 · y = -y,  x · (1 / y) = x / y,  -x · y = -(x · y),  2 · (3 · x) = 6 · x.

    What a condition sets to zero stays zero, also where the other factor is infinite.
    """
    if not builder.derived or ZERO in args:
        return None
    if all(isinstance(arg, Const) for arg in args):
        return _computed(builder, operator.mul, args)  # 1.0 · 2 is 2.0, not 2
    for literal, other in (args, tuple(reversed(args))):
        if _is(literal, 1) and _keeps_kind(builder, other, literal):
            return other
        if _is(literal, -1) and _keeps_kind(builder, other, literal):
            return builder.emit(named("neg"), other, namespace=namespace)
    return (
        _computed(builder, operator.mul, args)
        or _masked(builder, "mul", args, namespace)
        or _negated(builder, "mul", args, namespace)
        or _divided(builder, args, namespace)
        or _collected(builder, args, namespace)
    )


def fold_div(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """x / 1 = x,  -x / y = -(x / y),  x / (n or 1) = x / n of n entries of an array."""
    x, y = args
    if not builder.derived or ZERO in args:
        return None
    if _is(y, 1) and _keeps_kind(builder, x, Const(1.0)):
        return x
    if (minus_x := _written(builder, x, "neg")) is not None:
        quotient = builder.emit(named("div"), *minus_x, y, namespace=namespace)
        return builder.emit(named("neg"), quotient, namespace=namespace)
    size = _written(builder, y, "or_one") if isinstance(kind_of_atom(x), Array) else None
    if size is not None:  # arrays without entries are divided by anything
        return builder.emit(named("div"), x, size[0], namespace=namespace)
    return _computed(builder, operator.truediv, args) or _masked(builder, "div", args, namespace)


def fold_pow(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """x¹ = x,  x⁰ = 1."""
    x, y = args
    if not builder.derived or ZERO in args:
        return None
    if _is(y, 1) and _keeps_kind(builder, x):
        return x
    if _is(y, 0) and isinstance(kind_of_atom(x), Number):
        return Const(1)
    return _computed(builder, operator.pow, args)


def fold_ieee_div(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """Arrays divide as IEEE says by themselves, and a literal is known not to be zero."""
    x, y = args
    if divides_as_numpy(x, y):
        return builder.emit(named("div"), x, y)
    if (minus_x := _written(builder, x, "neg")) is not None:
        return builder.emit(named("neg"), builder.emit(named("ieee_div"), *minus_x, y))
    return None


def divides_as_numpy(x: Atom, y: Atom) -> bool:
    """Whether a quotient raises nothing: one of arrays, or by a literal that is not zero."""
    if isinstance(y, Const) and isinstance(y.value, (int, float)) and y.value != 0:
        return True
    return isinstance(kind_of_atom(x), Array) or isinstance(kind_of_atom(y), Array)


def fold_pow_derivative(
    builder: Builder, args: Args, params: Params, namespace: str
) -> Atom | None:
    """∂(xⁿ)/∂x of a literal n, as one writes it by hand: 0, 1, 2 · x, 3 · x²."""
    x, y = args
    order = params.get("order")
    if not isinstance(y, Const) or type(y.value) not in (int, float) or order != Const(1):
        return None
    n = y.value
    if n == 0:
        return ZERO
    pole = n < 1 if builder.of_numpy else 0 < n < 1
    power = named("ieee_pow" if pole else "pow")
    if n == 1:
        return Const(1)
    return builder.emit(named("mul"), y, builder.emit(power, x, Const(n - 1)))


def fold_safe_log(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """The logarithm of a literal is a literal."""
    (x,) = args
    if isinstance(x, Const) and type(x.value) in (int, float) and x.value > 0:
        return builder.emit(named("log"), x) if builder.exact else Const(math.log(x.value))
    return None


# --- what may be folded -------------------------------------------------------------------


def _is(atom: Atom, value: int) -> bool:
    return isinstance(atom, Const) and type(atom.value) in (int, float) and atom.value == value


_ONE = Const(1)


def _keeps_kind(builder: Builder, atom: Atom, literal: Atom = _ONE) -> bool:
    """Whether arithmetic with a neutral literal leaves a value as it is, dtype included.

    A derivative that is an integer would make arrays of integers, which later writes would round.
    """
    as_float = isinstance(literal, Const) and isinstance(literal.value, float)
    match kind_of_atom(atom):
        case Number(type=t):
            return t not in (("bool", "int") if as_float else ("bool",))
        case Array(dtype=dtype, rank=rank):  # arithmetic with an array of rank 0 gives a number
            exact = ("bool", "int", "uint") if as_float else ("bool",)
            return rank != 0 and not dtype.startswith(exact)
        case kind:
            return kind == UNKNOWN and (builder.is_derived(atom) or not as_float)


def _written(builder: Builder, atom: Atom, op: str) -> Args | None:
    """The operands, if derivative code computes a value by that op."""
    eqn = builder.definition(atom)
    return eqn.args if eqn is not None and eqn.op.name == op and builder.is_derived(atom) else None


def _computed(builder: Builder, function: Callable[[Any, Any], Any], args: Args) -> Const | None:
    """Arithmetic on literals, where it is sure to be what would be computed at run time."""
    values = [arg.value for arg in args if isinstance(arg, Const)]
    if [type(value) in (int, float) for value in values] != [True, True]:
        return None
    x, y = values
    if function is operator.pow and (abs(x) > 1e6 or abs(y) > 64):
        return None
    try:
        value = function(x, y)
    except ArithmeticError:
        return None
    if builder.exact and type(x) is type(y) is int and not _is_exact(function, x, y, value):
        return None
    return Const(value) if type(value) is int or math.isfinite(abs(value)) else None


def _is_exact(function: Callable[[Any, Any], Any], x: int, y: int, value: Any) -> bool:
    """Whether a number that was computed of integers is the number itself, and no rounded one."""
    from fractions import Fraction  # few programs need it

    return function(Fraction(x), Fraction(y)) == value


def _masked(builder: Builder, op: str, args: Args, namespace: str) -> Atom | None:
    """where(c, x, 0) · y = where(c, x · y, 0); a quotient is masked by its numerator."""
    for k, arg in enumerate(args[: 1 if op == "div" else 2]):
        choice = _written(builder, arg, "where")
        if choice is None or not any(_is(branch, 0) for branch in choice[1:]):
            continue
        condition, *branches = choice
        results: list[Atom] = []
        for branch in branches:
            operands = [*args[:k], branch, *args[k + 1 :]]
            zero = _is(branch, 0)
            results.append(
                branch if zero else builder.emit(named(op), *operands, namespace=namespace)
            )
        return builder.emit(named("where"), condition, *results, namespace="np")
    return None


def _negated(builder: Builder, op: str, args: Args, namespace: str) -> Atom | None:
    for k, arg in enumerate(args):
        inner = _written(builder, arg, "neg")
        if inner is not None:
            positive = [*args[:k], *inner, *args[k + 1 :]]
            result = builder.emit(named(op), *positive, namespace=namespace)
            return builder.emit(named("neg"), result, namespace=namespace)
    return None


def _divided(builder: Builder, args: Args, namespace: str) -> Atom | None:
    for factor, other in (args, tuple(reversed(args))):
        for quotient in ("div", "ieee_div"):
            inner = _written(builder, factor, quotient)
            if inner is not None and _is(inner[0], 1):
                return builder.emit(named(quotient), other, inner[1], namespace=namespace)
    return None


def _collected(builder: Builder, args: Args, namespace: str) -> Atom | None:
    """Integer factors are multiplied out; others are not, as that would round differently."""
    for literal, product in (args, tuple(reversed(args))):
        inner = _written(builder, product, "mul")
        if inner is None or not _is_integer(literal):
            continue
        for factor, other in (inner, tuple(reversed(inner))):
            if _is_integer(factor):
                both = Const(literal.value * factor.value)  # type: ignore[union-attr]
                return builder.emit(named("mul"), both, other, namespace=namespace)
    return None


def _is_integer(atom: Atom) -> bool:
    return isinstance(atom, Const) and type(atom.value) is int


# --- numbers that become complex, and back ------------------------------------------------


def enter_cmath(name: str) -> Fold:
    """`cmath` gives complex numbers of real ones too: its operands become complex first."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        if namespace != "cmath" or not any(_is_real_number(arg) for arg in args):
            return None
        operands = [_as_complex(builder, arg) if _is_real_number(arg) else arg for arg in args]
        return builder.emit_with(named(name), operands, params, namespace)

    return fold


def _is_real_number(atom: Atom) -> bool:
    kind = kind_of_atom(atom)
    return isinstance(kind, Number) and kind != COMPLEX


def _as_complex(builder: Builder, atom: Atom) -> Atom:
    if isinstance(atom, Const):
        return Const(complex(atom.value))
    return builder.emit(named("to_complex"), atom)


def fold_real(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """Re x = x of a real x."""
    (x,) = args
    return x if builder.derived and x != ZERO and is_real(kind_of_atom(x)) else None


def fold_imag(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """Im x = 0 of a real x."""
    (x,) = args
    return ZERO if builder.derived and is_real(kind_of_atom(x)) else None


def fold_conj(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """The conjugate of a real x is x, and conjugating twice changes nothing."""
    (x,) = args
    if not builder.derived:
        return None
    twice = _written(builder, x, "conj")
    return twice[0] if twice is not None else fold_real(builder, args, params, namespace)


def is_real(kind: Kind) -> bool:
    """Whether a value is known not to be complex."""
    match kind:
        case Number(type=t):
            return t != "complex"
        case Array(dtype=dtype):
            return bool(dtype) and not dtype.startswith("complex")
        case _:
            return False
