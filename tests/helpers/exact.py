"""Numbers of sixty digits, and `math`, `cmath` and builtins that compute with them.

They let the oracle run a program's own source in high precision. An `Exact` number refuses to
become a `float`: whatever is not covered here fails with a `TypeError` or with `NotCovered` and
never falls back to double precision.
"""

from __future__ import annotations

import builtins
import cmath
import math
import operator
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np

DIGITS = 60

context = mpmath.mp.clone()
context.dps = DIGITS


class NotCovered(AssertionError):
    """A function that the oracle cannot compute in high precision."""


def plain(value):
    if type(value) is Exact:
        return value.value
    if type(value) is context.mpf:
        return value
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return context.mpf(int(value))
    if isinstance(value, float | np.floating):
        return context.mpf(float(value))
    if isinstance(value, complex | np.complexfloating):
        return context.mpc(complex(value))
    if isinstance(value, context.mpf | context.mpc):
        return value
    return None


def _forward(operation):
    def method(self, other):
        value = plain(other)
        return NotImplemented if value is None else _result(operation(self.value, value))

    return method


def _backward(operation):
    def method(self, other):
        value = plain(other)
        return NotImplemented if value is None else _result(operation(value, self.value))

    return method


def _comparison(operation):
    def method(self, other):
        value = plain(other)
        return NotImplemented if value is None else bool(operation(self.value, value))

    return method


def _result(value):
    made = object.__new__(Exact)
    made.value = value
    return made


def _floor_division(a, b):
    return context.floor(a / b)


class Exact:
    """A real or complex number of `DIGITS` digits."""

    __slots__ = ("value",)
    shape = ()
    ndim = 0
    size = 1

    def __init__(self, value):
        self.value = plain(value)
        if self.value is None:
            raise NotCovered(f"{value!r} is not a number")

    __add__, __radd__ = _forward(operator.add), _backward(operator.add)
    __sub__, __rsub__ = _forward(operator.sub), _backward(operator.sub)
    __mul__, __rmul__ = _forward(operator.mul), _backward(operator.mul)
    __truediv__, __rtruediv__ = _forward(operator.truediv), _backward(operator.truediv)
    __pow__, __rpow__ = _forward(operator.pow), _backward(operator.pow)
    __mod__, __rmod__ = _forward(operator.mod), _backward(operator.mod)
    __floordiv__, __rfloordiv__ = _forward(_floor_division), _backward(_floor_division)
    __lt__, __le__ = _comparison(operator.lt), _comparison(operator.le)
    __gt__, __ge__ = _comparison(operator.gt), _comparison(operator.ge)
    __eq__, __ne__ = _comparison(operator.eq), _comparison(operator.ne)

    def __deepcopy__(self, memo):
        return self  # a copy by mpmath may belong to another context

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __neg__(self):
        return _result(-self.value)

    def __pos__(self):
        return self

    def __abs__(self):
        return _result(abs(self.value))

    def __bool__(self):
        return bool(self.value != 0)

    def __hash__(self):
        return hash(self.value)

    def __int__(self):
        return int(self.value)

    __trunc__ = __int__

    def __floor__(self):
        return int(context.floor(self.value))

    def __ceil__(self):
        return int(context.ceil(self.value))

    def __round__(self, digits=None):
        if digits is None:
            return int(context.nint(self.value))
        return Exact(context.nint(self.value * 10**digits) / context.mpf(10) ** digits)

    def __format__(self, spec):
        return format(self.nearest(), spec)

    def __repr__(self):
        return f"Exact({context.nstr(self.value, 20)})"

    def nearest(self):
        """The nearest Python number: the one way out of high precision."""
        if self.is_complex:
            return complex(self.value)
        return float(self.value)

    @property
    def is_complex(self):
        return isinstance(self.value, context.mpc)

    @property
    def real(self):
        return Exact(self.value.real)

    @property
    def imag(self):
        return Exact(self.value.imag)

    def conjugate(self):
        return Exact(context.conj(self.value)) if self.is_complex else self

    def sqrt(self):
        """What NumPy asks of an object array's elements."""
        return Exact(context.sqrt(self.value))

    def sum(self, axis=None, dtype=None, out=None, **options):
        return self


# Functions of numbers


def of_numbers(function):
    """A function of mpmath's numbers as one of exact numbers."""

    def call(*args):
        values = [plain(arg) for arg in args]
        if any(value is None for value in values):
            raise NotCovered(f"{args!r} given to a function of numbers")
        return _result(function(*values))

    return call


def signum(x):
    return x / abs(x) if x != 0 else x


def _copysign(x, y):
    return abs(x) if y >= 0 else -abs(x)


def _fmod(x, y):
    return x - y * truncated(x / y)


def truncated(x):
    return context.floor(x) if x >= 0 else context.ceil(x)


def _remainder(x, y):
    return x - y * context.nint(x / y)


def _cbrt(x):
    return context.cbrt(x) if x >= 0 else -context.cbrt(-x)


def _log1p(x):
    return context.log(1 + x)


def _expm1(x):
    return context.exp(x) - 1


def log_of_sum(x, y):
    return context.log(context.exp(x) + context.exp(y))


_SAME_NAME = """
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log sqrt degrees radians
""".split()

FUNCTIONS = {name: of_numbers(getattr(context, name)) for name in _SAME_NAME} | {
    "exp2": of_numbers(lambda x: context.mpf(2) ** x),
    "expm1": of_numbers(_expm1),
    "log1p": of_numbers(_log1p),
    "log2": of_numbers(lambda x: context.log(x) / context.log(2)),
    "log10": of_numbers(lambda x: context.log(x) / context.log(10)),
    "cbrt": of_numbers(_cbrt),
    "fabs": of_numbers(abs),
    "copysign": of_numbers(_copysign),
    "fmod": of_numbers(_fmod),
    "remainder": of_numbers(_remainder),
}

_REAL_DOMAIN = {
    "log": lambda x, *base: x > 0, "log1p": lambda x: x > -1, "log2": lambda x: x > 0,
    "log10": lambda x: x > 0, "sqrt": lambda x: x >= 0, "asin": lambda x: abs(x) <= 1,
    "acos": lambda x: abs(x) <= 1, "acosh": lambda x: x >= 1, "atanh": lambda x: abs(x) < 1,
}  # fmt: skip


def _within_reals(name):
    domain = _REAL_DOMAIN.get(name)
    function = FUNCTIONS[name]

    def call(*args):
        if domain is not None and not domain(*(plain(arg) for arg in args)):
            raise ValueError("math domain error")
        return function(*args)

    return call


class Covered(SimpleNamespace):
    """A module's twin; asking for anything it lacks is an error."""

    def __getattr__(self, name):
        raise NotCovered(f"the oracle does not cover {self._name}.{name}")


def _whole(function):
    return lambda x: int(function(plain(x)))


def hypotenuse(*coordinates):
    return Exact(context.sqrt(sum((plain(x) ** 2 for x in coordinates), context.mpf(0))))


def _product(items, *, start=1):
    for item in items:
        start = start * item
    return start


math_ = Covered(
    _name="math",
    **{name: _within_reals(name) for name in FUNCTIONS},
    pow=of_numbers(operator.pow),
    atan2=of_numbers(context.atan2),
    hypot=hypotenuse,
    dist=lambda p, q: hypotenuse(*(a - b for a, b in zip(p, q, strict=True))),
    fsum=lambda items: sum(items, Exact(0)),
    prod=_product,
    sumprod=lambda p, q: sum((a * b for a, b in zip(p, q, strict=True)), Exact(0)),
    erf=of_numbers(context.erf),
    erfc=of_numbers(context.erfc),
    gamma=of_numbers(context.gamma),
    lgamma=of_numbers(lambda x: context.log(abs(context.gamma(x)))),
    floor=_whole(context.floor),
    ceil=_whole(context.ceil),
    trunc=_whole(truncated),
    isnan=lambda x: bool(context.isnan(plain(x))),
    isinf=lambda x: bool(context.isinf(plain(x))),
    isfinite=lambda x: bool(context.isfinite(plain(x))),
    isclose=lambda a, b, *, rel_tol=1e-9, abs_tol=0.0: bool(
        abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)
    ),
    comb=math.comb, factorial=math.factorial, gcd=math.gcd, isqrt=math.isqrt, perm=math.perm,
    pi=math.pi, e=math.e, tau=math.tau, inf=math.inf, nan=math.nan,
)  # fmt: skip

cmath_ = Covered(
    _name="cmath",
    **{name: FUNCTIONS[name] for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh",
                                          "cosh", "tanh", "asin", "acos", "atan")},
    phase=of_numbers(context.arg),
    polar=lambda z: (abs(z), Exact(context.arg(plain(z)))),
    rect=lambda r, angle: r * Exact(context.expj(plain(angle))),
    pi=cmath.pi,
    e=cmath.e,
)  # fmt: skip


# Builtins


class _Convert(type):
    def __instancecheck__(cls, value):
        return isinstance(value, cls.stands_for) or (
            isinstance(value, Exact) and value.is_complex == (cls.stands_for is complex)
        )


class _Float(metaclass=_Convert):
    stands_for = float

    def __new__(cls, value=0.0):
        return Exact(float(value)) if isinstance(value, str) else _item(value)


class _Complex(metaclass=_Convert):
    stands_for = complex

    def __new__(cls, real=0.0, imag=0.0):
        value = plain(_item(real)) + context.mpc(0, 1) * plain(_item(imag))
        return Exact(context.mpc(value))


def _item(value):
    return Exact(value[()] if isinstance(value, np.ndarray) else value)


def _refuse(name):
    def call(*args: Any):
        raise NotCovered(f"the oracle does not cover {name}()")

    return call


def _type(value, *rest):
    if isinstance(value, Exact | np.ndarray):
        raise NotCovered("the oracle does not cover type() of a number")
    return type(value, *rest)


builtins_ = {
    **vars(builtins),
    "float": _Float,
    "complex": _Complex,
    "type": _type,
    "eval": _refuse("eval"),
    "exec": _refuse("exec"),
}
