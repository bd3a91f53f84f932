"""Constants in the precision of other numbers: to all digits of a number of mpmath, exact beside a fraction."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..elementwise import atan, log, sqrt
from .libraries import library_of


def is_exact(x: Any) -> bool:
    """Whether a value is a number of a library of exact or precise numbers, or of symbols."""
    return library_of(x) != ""


def in_precision_of(number: Any, x: Any) -> Any:
    """A number of Python's or NumPy's as one of a more exact number's library; anything else as it is."""
    if not is_exact(number):
        return x
    plain = x.item() if isinstance(x, np.generic) else x
    if type(plain) is int or (type(plain) is float and math.isfinite(plain)):
        return converted(Fraction(plain), number)
    return x


def constant_in_precision_of(number: Any, constant: float) -> Any:
    """What a float in a rule stands for, as a number of the library of another; None if that is not known."""
    fraction = Fraction(constant)
    if fraction.denominator <= 1024:
        return converted(fraction, number)
    meant = _IRRATIONAL.get(constant)
    return meant and meant(lambda integer: converted(Fraction(integer), number))


def converted(x: Fraction, number: Any) -> Any:
    """A fraction as a number of the same library."""
    if isinstance(number, Decimal):
        return Decimal(x.numerator) / Decimal(x.denominator)
    for library, name in (("mpmath", "mpf"), ("sympy", "Integer")):
        module = sys.modules.get(library)
        if type(number).__module__.partition(".")[0] == library and module is not None:
            make = getattr(module, name)
            return make(x.numerator) / make(x.denominator)
    return x


def _pi(of: Callable[[int], Any]) -> Any:
    return 4 * atan(of(1))


_IRRATIONAL: dict[float, Callable[[Callable[[int], Any]], Any]] = {
    0.6931471805599453: lambda of: log(of(2)),
    1.4426950408889634: lambda of: 1 / log(of(2)),
    0.4342944819032518: lambda of: 1 / log(of(10)),
    2.302585092994046: lambda of: log(of(10)),
    1.1283791670955126: lambda of: 2 / sqrt(_pi(of)),
    -1.1283791670955126: lambda of: -2 / sqrt(_pi(of)),
    0.886226925452758: lambda of: sqrt(_pi(of)) / 2,
    0.3989422804014327: lambda of: 1 / sqrt(2 * _pi(of)),
    0.7071067811865476: lambda of: 1 / sqrt(of(2)),
}
