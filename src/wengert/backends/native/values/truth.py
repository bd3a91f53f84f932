"""Elementwise ops on truth values and bits."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..form.loopform import FLOATS, Code, Constant, Expr
from .emitter import Emitter
from .rows import real, row
from .values import Unlowered


@row("truth", "logical_and", "both")
def _and(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("and", *args)


@row("truth", "logical_or", "either")
def _or(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("or", *args)


@row("truth", "logical_xor")
def _xor(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("ne", *args, code="b1")


@row("truth", "logical_not", "not")
def _not(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("not", args[0])


@row("truth", "truth")
def _truth(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return args[0]


def _must_have_bits(code: Code) -> None:
    if code in FLOATS:
        raise Unlowered("the bits of a float")


@row("selection", "bitand")
def _bitand(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    _must_have_bits(code)
    return e.apply("and", *args)


@row("selection", "bitor")
def _bitor(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    _must_have_bits(code)
    return e.apply("or", *args)


@row("selection", "bitxor")
def _bitxor(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    _must_have_bits(code)
    return e.apply("ne", *args, code="b1") if code == "b1" else e.apply("xor", *args)


@row("selection", "invert")
def _invert(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    _must_have_bits(code)
    return e.apply("not", args[0]) if code == "b1" else e.apply("sub", Constant(-1, code), args[0])


@row("arithmetic", "lshift")
def _lshift(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("shift_left", args[0], _known_shift(args[1], code))


@row("arithmetic", "rshift")
def _rshift(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("shift_right", args[0], _known_shift(args[1], code))


def _known_shift(by: Expr, code: Code) -> Expr:
    _must_have_bits(code)
    if not isinstance(by, Constant) or not 0 <= by.value < 64:
        raise Unlowered("arrays of integers shifted by a number that is computed")
    return by


@row("comparison", "isnan")
def _isnan(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    return e.apply("ne", args[0], args[0], code="b1")


@row("comparison", "isfinite")
def _isfinite(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    if code not in FLOATS:
        return Constant(True, "b1")
    return e.apply("lt", e.apply("fabs", x), real(math.inf, code), code="b1")


@row("comparison", "isinf")
def _isinf(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    (x,) = args
    if code not in FLOATS:
        return Constant(False, "b1")
    return e.apply("eq", e.apply("fabs", x), real(math.inf, code), code="b1")
