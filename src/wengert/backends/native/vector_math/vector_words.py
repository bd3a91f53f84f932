"""Numbers side by side in a vector, with Python's operators: formulas over them write LLVM IR down."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from ....ir.records import record
from ..form.loopform import Code


@record
class Shape:
    """How many floats lie side by side, and of how many bits each is.

    Attributes:
        code: their type.
        lanes: how many there are.
    """

    code: Code
    lanes: int

    @property
    def bits(self) -> int:
        return 64 if self.code == "f64" else 32

    @property
    def digits(self) -> int:
        """How many bits of a float stand behind its first digit."""
        return 52 if self.code == "f64" else 23

    @property
    def bias(self) -> int:
        """What is added to an exponent to be kept."""
        return 1023 if self.code == "f64" else 127

    @property
    def least_exponent(self) -> int:
        """Of the least number that is not subnormal."""
        return 1 - self.bias

    @property
    def sign(self) -> int:
        """The bit that says that a float is negative."""
        return 2 ** (self.bits - 1)

    @property
    def type(self) -> str:
        return f"<{self.lanes} x {'double' if self.code == 'f64' else 'float'}>"

    @property
    def of_integers(self) -> str:
        return f"<{self.lanes} x i{self.bits}>"

    @property
    def of_truths(self) -> str:
        return f"<{self.lanes} x i1>"

    @property
    def suffix(self) -> str:
        """What LLVM's intrinsics on such vectors have at the end of their names."""
        return f"v{self.lanes}{self.code}"

    def rounded(self, value: float) -> float:
        """A number as one of this type."""
        return struct.unpack("<f", struct.pack("<f", value))[0] if self.code == "f32" else value

    def bits_of(self, value: float) -> int:
        """The bits of a float as an integer."""
        formats = ("<d", "<q") if self.code == "f64" else ("<f", "<i")
        return struct.unpack(formats[1], struct.pack(formats[0], value))[0]


_LONG = 8
"""How many coefficients make a polynomial a long one."""


class Lines:
    """Instructions, one after the other, each once; and what they call."""

    def __init__(self, shape: Shape):
        self.shape = shape
        self.lines: list[str] = []
        self.declared: dict[str, None] = {}
        self._names: dict[str, str] = {}

    def define(self, text: str) -> str:
        """A name for the result of an instruction."""
        if text not in self._names:
            self._names[text] = f"%t.{len(self._names)}"
            self.lines.append(f"  {self._names[text]} = {text}")
        return self._names[text]

    def start(self) -> None:
        """Begin with another function."""
        self.lines.clear()
        self._names.clear()

    def call(self, name: str, result: str, *args: tuple[str, str]) -> str:
        """The result of a function of LLVM's, of arguments with their types."""
        self.declared[f"declare {result} @{name}({', '.join(type_ for type_, _ in args)})"] = None
        inside = ", ".join(f"{type_} {value}" for type_, value in args)
        return self.define(f"call {result} @{name}({inside})")


class _Word:
    """What lies in a vector."""

    def __init__(self, at: Lines, name: str):
        self.at = at
        self.name = name

    @property
    def shape(self) -> Shape:
        return self.at.shape


class Truths(_Word):
    """Truth values."""

    def __and__(self, other: Truths) -> Truths:
        return self._joined("and", other)

    def __or__(self, other: Truths) -> Truths:
        return self._joined("or", other)

    def _joined(self, op: str, other: Truths) -> Truths:
        text = f"{op} {self.shape.of_truths} {self.name}, {other.name}"
        return Truths(self.at, self.at.define(text))

    def where(self, then: Floats | float, other: Floats | float) -> Floats:
        """One of two numbers each."""
        s = self.shape
        a, b = (_float_text(self.at, value) for value in (then, other))
        text = f"select {s.of_truths} {self.name}, {s.type} {a}, {s.type} {b}"
        return Floats(self.at, self.at.define(text))


def _of_integers(op: str) -> Callable[[Integers, Integers | int], Integers]:
    def method(self: Integers, other: Integers | int) -> Integers:
        text = f"{op} {self.shape.of_integers} {self.name}, {self.text(other)}"
        return Integers(self.at, self.at.define(text))

    return method


class Integers(_Word):
    """Integers of as many bits as the floats have."""

    __add__, __sub__ = _of_integers("add"), _of_integers("sub")
    __and__, __or__, __xor__ = _of_integers("and"), _of_integers("or"), _of_integers("xor")
    __lshift__ = _of_integers("shl")
    __rshift__ = _of_integers("lshr")  # without a sign: zeros come in

    def __rsub__(self, other: int) -> Integers:
        return Integers(self.at, self.text(other)) - self

    def below(self, other: int) -> Truths:
        """Whether each is less, without a sign."""
        text = f"icmp ult {self.shape.of_integers} {self.name}, {self.text(other)}"
        return Truths(self.at, self.at.define(text))

    def floats(self) -> Floats:
        """The numbers that have these bits."""
        s = self.shape
        text = f"bitcast {s.of_integers} {self.name} to {s.type}"
        return Floats(self.at, self.at.define(text))

    def text(self, value: Integers | int) -> str:
        if isinstance(value, Integers):
            return value.name
        half = 2 ** (self.shape.bits - 1)
        number = (value + half) % (2 * half) - half
        return _all([f"i{self.shape.bits} {number}"] * self.shape.lanes)


def _of_floats(op: str) -> Callable[[Floats, Floats | float], Floats]:
    def method(self: Floats, other: Floats | float) -> Floats:
        text = f"{op} {self.shape.type} {self.name}, {_float_text(self.at, other)}"
        return Floats(self.at, self.at.define(text))

    return method


def _compares(test: str) -> Callable[[Floats, Floats | float], Truths]:
    def method(self: Floats, other: Floats | float) -> Truths:
        text = f"fcmp {test} {self.shape.type} {self.name}, {_float_text(self.at, other)}"
        return Truths(self.at, self.at.define(text))

    return method


class Floats(_Word):
    """Floats."""

    __add__, __sub__ = _of_floats("fadd"), _of_floats("fsub")
    __mul__, __truediv__ = _of_floats("fmul"), _of_floats("fdiv")
    __lt__, __le__, __gt__ = _compares("olt"), _compares("ole"), _compares("ogt")
    equals = _compares("oeq")

    def __rsub__(self, other: float) -> Floats:
        return self.known(other) - self

    def __rtruediv__(self, other: float) -> Floats:
        return self.known(other) / self

    def __neg__(self) -> Floats:
        return Floats(self.at, self.at.define(f"fneg {self.shape.type} {self.name}"))

    def __abs__(self) -> Floats:
        s = self.shape
        return Floats(self.at, self.at.call(f"llvm.fabs.{s.suffix}", s.type, (s.type, self.name)))

    def is_nan(self) -> Truths:
        return _compares("uno")(self, self)

    def times_plus(self, factor: Floats | float, added: Floats | float) -> Floats:
        """`self * factor + added`, rounded once."""
        s = self.shape
        inside = [(s.type, _float_text(self.at, value)) for value in (self, factor, added)]
        return Floats(self.at, self.at.call(f"llvm.fma.{s.suffix}", s.type, *inside))

    def at_least(self, low: float) -> Floats:
        """NaN stays."""
        return (self < low).where(low, self)

    def at_most(self, high: float) -> Floats:
        """NaN stays."""
        return (self > high).where(high, self)

    def bits(self) -> Integers:
        """The integers that have the same bits."""
        s = self.shape
        text = f"bitcast {s.type} {self.name} to {s.of_integers}"
        return Integers(self.at, self.at.define(text))

    def with_sign_of(self, other: Floats) -> Floats:
        s = self.shape
        inside = [(s.type, self.name), (s.type, other.name)]
        return Floats(self.at, self.at.call(f"llvm.copysign.{s.suffix}", s.type, *inside))

    def known(self, value: float) -> Floats:
        return Floats(self.at, _float_text(self.at, value))

    def polynomial(self, coefficients: Sequence[float]) -> Floats:
        """The value of a polynomial, the least power's coefficient first.

        In a long one even and odd powers do not wait for each other (G. Estrin, 1960).
        """
        if len(coefficients) < _LONG:
            return _by_horner(self, coefficients)
        square = self * self
        even, odd = (square.polynomial(coefficients[k::2]) for k in (0, 1))
        return odd.times_plus(self, even)


def _by_horner(x: Floats, coefficients: Sequence[float]) -> Floats:
    *others, last = coefficients
    found = x.known(last)
    for c in others[::-1]:
        found = found.times_plus(x, c)
    return found


def _float_text(at: Lines, value: Floats | float) -> str:
    if isinstance(value, Floats):
        return value.name
    shape = at.shape
    (bits,) = struct.unpack("<Q", struct.pack("<d", shape.rounded(value)))
    type_ = "double" if shape.code == "f64" else "float"
    return _all([f"{type_} 0x{bits:016X}"] * shape.lanes)


def _all(texts: Sequence[str]) -> str:
    return f"<{', '.join(texts)}>"
