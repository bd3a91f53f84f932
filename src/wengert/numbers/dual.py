"""Dual numbers: a value with a tangent, x + ẋ ε with ε² = 0 (Clifford, 1873).

A function computed on `Dual(x, 1)` gives its value and its derivative, whatever the function is made of
(Wengert, 1964): it need not have source, and nothing of it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import BadTangent, LostWrite, MixedNumbers
from ..ir.callers import calling_span
from ..ir.op import Op
from ..ops import elementwise as el
from ..ops.dispatch.lookup import must_be_number
from ..rules.identities.squares import LENGTHS
from .levels import Level, level_above, level_of
from .number import PerturbedNumber, gathered, value_of
from .pushforward import Push, pushforward, zeros_of
from .refusals import lost


class Directions:
    """The tangents of one number in several directions at once; a vector space like any tangent's.

    The value and the partials are then computed once for all of them.
    """

    __slots__ = ("items",)

    def __init__(self, items: Sequence[Any]):
        self.items = tuple(items)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def __getitem__(self, k: int) -> Any:
        return self.items[k]

    def __add__(self, other: Directions) -> Directions:
        return Directions([a + b for a, b in zip(self.items, other.items, strict=True)])

    def __mul__(self, factor: Any) -> Directions:
        return Directions([item * factor for item in self.items])

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return self.items == (other.items if isinstance(other, Directions) else other)

    def __hash__(self) -> int:
        return hash(self.items)

    def __format__(self, spec: str) -> str:
        return "(" + ", ".join(format(item, spec) for item in self.items) + ")"

    def __repr__(self) -> str:
        return repr(self.items)


class Dual(PerturbedNumber):
    """A number with a tangent, to be passed through any code that computes with numbers.

    Args:
        primal: the value: an int, float, complex, Fraction, Decimal, a number of mpmath, an expression
            of SymPy, an array, or another `Dual` (for second derivatives).
        tangent: its rate of change, of the shape of the primal; or a tuple of them, one for each of
            several directions.

    Raises:
        BadTangent: the tangent's shape is not that of the primal.

    The derivatives are those of wengert's table of rules. Comparison, truth, hash and `int()` are those
    of the primal; two duals are equal when their primals are. Duals made side by side share their ε:
    `f(Dual(a, 1), Dual(b, 2))` is the derivative in the direction (1, 2). A derivative inside another
    needs an ε of its own: `wengert.numbers.derivative`, `wg.derivatives` and `wg.derivative` take care
    of that.

    Example:
        >>> x = Dual(3.0, 1.0)
        >>> x * x + 2 * x
        Dual(15.0, 8.0)
    """

    __slots__ = ("level", "primal", "tangent")

    def __init__(self, primal: Any, tangent: Any, level: Level | None = None):
        if level is None:
            must_be_number(primal, "the primal of a Dual")
        if isinstance(tangent, (tuple, list)):
            tangent = Directions(tangent)
        elif level is None:
            must_be_number(tangent, "the tangent of a Dual")
        if isinstance(primal, np.ndarray):
            primal = gathered(primal)
        if isinstance(tangent, np.ndarray):
            tangent = gathered(tangent)
        self.primal = primal
        self.tangent = _fitting(tangent, primal)
        if level is None and self.tangent is tangent and isinstance(tangent, np.ndarray):
            self.tangent = tangent.copy()  # an array that changes in place changes its tangent, too
        self.level: Level = level_above(primal, tangent) if level is None else level
        self.root_of = None

    @property
    def value(self) -> Any:
        return self.primal

    @classmethod
    def apply(cls, op: Op, args: tuple[Any, ...], options: dict[str, Any], level: Level) -> Any:
        operands = tuple(part(arg, level, "primal") for arg in args)
        tangents = [part(arg, level, "tangent") for arg in args]
        Ω = op(*operands, **options)
        if isinstance(Ω, (bool, np.bool_)) or Ω is NotImplemented:
            return Ω
        push = pushforward(op, operands, Ω, options)
        if push is not None:
            tangent = _in_every_direction(push, tangents, op)
            if isinstance(Ω, Dual) and op.name in LENGTHS:
                Ω, tangent = _along(op, operands, options, tangents, (Ω, tangent))
            result = _with_tangent(Ω, tangent, level)
        else:
            result = Ω if _is_discrete(Ω) else _with_tangent(Ω, zeros_of(Ω), level)
        return _as_python(result) if all(type(x) in _PYTHONS for x in operands) else result

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write to an array and to its tangent alike; what views there are see both."""
        primal, tangent = part(value, self.level, "primal"), part(value, self.level, "tangent")
        _refuse_to_truncate(self.primal, value)
        self.primal[index] = primal
        if isinstance(self.tangent, Directions):
            for k, each in enumerate(self.tangent):
                each[index] = 0 if tangent is None else tangent[k]
        else:
            self.tangent[index] = 0 if tangent is None else tangent

    def fill(self, value: Any) -> None:
        """Write a number to every element of an array."""
        self[...] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions, by its own conventions: the logarithm of 0 is -inf, not an exception."""
        if method == "at" and ufunc in (np.add, np.subtract):
            return _accumulate_at(ufunc, *inputs)
        (out,) = options.pop("out", (None,))
        if out is not None:
            if not isinstance(out, Dual):
                raise lost(self, "what an array of floats is given")
            out[...] = self.__array_ufunc__(ufunc, method, *inputs, **options)
            return out
        as_numpy = tuple(_mapped(x, _numpy_scalar) for x in inputs)
        plain = any(type(value_of(x)) in _PYTHONS for x in inputs if isinstance(x, Dual))
        result = super().__array_ufunc__(ufunc, method, *as_numpy, **options)
        return _as_python(result) if plain else result

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        if function is np.copyto:
            return _copy_to(*args, **keywords)
        return super().__array_function__(function, types, args, keywords)

    def __repr__(self) -> str:
        return f"Dual({self.primal!r}, {self.tangent!r})"

    def __format__(self, spec: str) -> str:
        return f"Dual({self.primal:{spec}}, {self.tangent:{spec}})" if spec else repr(self)


def _accumulate_at(ufunc: Any, array: Any, index: Any, value: Any) -> None:
    """`np.add.at` and `np.subtract.at`, which are linear: tangents are added as primals are."""
    if not isinstance(array, Dual):
        raise lost(value, "what an array of floats is given")
    _refuse_to_truncate(array.primal, value)
    ufunc.at(array.primal, index, part(value, array.level, "primal"))
    tangent = part(value, array.level, "tangent")
    if tangent is None:
        return
    if isinstance(array.tangent, Directions):
        for each, added in zip(array.tangent, tangent, strict=True):
            ufunc.at(each, index, added)
    else:
        ufunc.at(array.tangent, index, tangent)


def _copy_to(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    if not isinstance(dst, Dual):
        raise lost(src, "what an array of floats is given")
    if where is True:
        dst[...] = src
    else:
        chosen = np.broadcast_to(where, np.shape(dst))
        dst[chosen] = np.broadcast_to(src, np.shape(dst))[chosen]


def _refuse_to_truncate(array: Any, value: Any) -> None:
    kind = getattr(value_of(array), "dtype", np.dtype(float)).kind
    if kind in "biu" and isinstance(value, PerturbedNumber):
        raise LostWrite(
            "an array of integers keeps the integer part of what it is given, and no derivative",
            "Create it with `dtype=float`.",
            calling_span(),
        )


def _fitting(tangent: Any, primal: Any) -> Any:
    """A tangent in the shape of its primal."""
    shape = getattr(value_of(primal), "shape", ())
    if isinstance(tangent, Directions):
        return Directions([_fitting(each, primal) for each in tangent])
    own = getattr(value_of(tangent), "shape", ())
    if own == shape:
        return _alike(tangent, primal)
    if own == () and isinstance(tangent, (int, float, complex)):
        return _alike(np.full(shape, tangent, _dtype_of_tangent(primal, tangent)), primal)
    raise BadTangent(
        f"the tangent of a Dual has the shape {own}, its primal the shape {shape}",
        "A tangent has the shape of its primal. Several directions are a tuple of tangents.",
        calling_span(),
    )


def _alike(tangent: Any, primal: Any) -> Any:
    """A tangent that can hold what is written there: numbers as wide as its primal's, with their inner levels."""
    if not isinstance(tangent, np.ndarray):
        return tangent
    if not isinstance(primal, Dual):
        plain = tangent.dtype != object and isinstance(primal, np.ndarray)
        return tangent.astype(_dtype_of_tangent(primal, tangent), copy=False) if plain else tangent
    zeros = np.zeros(tangent.shape, _dtype_of_tangent(primal, tangent))
    inner: Any = primal.tangent
    inside = Directions([zeros.copy() for _ in inner]) if isinstance(inner, Directions) else zeros
    return Dual(_alike(tangent, primal.primal), inside, primal.level)


def _along(
    op: Op,
    operands: tuple[Any, ...],
    options: dict[str, Any],
    tangents: Sequence[Any],
    found: tuple[Dual, Any],
) -> tuple[Any, Any]:
    """A length of duals inside others, and its tangent: at 0 on the side that the inner direction leads to.

    The slope there as a number, 0, says nothing of what is near (`passes/edges/slopes_at_kinks`).
    """
    length, slope = found
    at_kink = np.equal(value_of(length), 0)
    several = any(isinstance(each, Directions) for each in (slope, length.tangent, *tangents))
    if several or not np.any(at_kink):
        return found
    inner = tuple(
        x.tangent if isinstance(x, Dual) and x.level == length.level else zeros_of(x)
        for x in operands
    )
    size = op(*inner, **options)
    push = pushforward(op, inner, size, options)
    assert push is not None
    moved = Dual(length.primal, _chosen(at_kink, size, length.tangent), length.level)
    return moved, _chosen(at_kink, push(list(tangents)), slope)


def _chosen(at_kink: Any, then: Any, other: Any) -> Any:
    if np.ndim(at_kink) == 0:
        return then if at_kink else other
    return el.where(at_kink, then, other)


def part(x: Any, level: Level, name: str) -> Any:
    """The primal or the tangent of an operand, item by item of a list."""
    if isinstance(x, Dual) and x.level == level:
        return getattr(x, name)
    if isinstance(x, (list, tuple)) and any(isinstance(item, PerturbedNumber) for item in x):
        return type(x)(part(item, level, name) for item in x)
    return x if name == "primal" else None


def _in_every_direction(push: Push, tangents: list[Any], op: Op) -> Any:
    found = [each for tangent in tangents for each in _tangents_in(tangent)]
    several = {len(each) for each in found if isinstance(each, Directions)}
    if not several:
        return push(tangents)
    counts = several | {1 for each in found if not isinstance(each, Directions) and np.any(each)}
    if len(counts) > 1:
        raise MixedNumbers(
            f"{op.name} of duals with {' and '.join(map(str, sorted(counts)))} directions",
            "Give all duals of one differentiation the same number of directions.",
            calling_span(),
        )
    return Directions(
        [push([_in_direction(tangent, k) for tangent in tangents]) for k in range(several.pop())]
    )


def _tangents_in(tangent: Any) -> Iterator[Any]:
    if isinstance(tangent, (list, tuple)):
        for item in tangent:
            yield from _tangents_in(item)
    elif tangent is not None:
        yield tangent


def _in_direction(tangent: Any, k: int) -> Any:
    if isinstance(tangent, (list, tuple)):
        return type(tangent)(_in_direction(item, k) for item in tangent)
    return tangent[k] if isinstance(tangent, Directions) else tangent


def _with_tangent(Ω: Any, tangent: Any, level: Level) -> Any:
    """A result with its tangent; of an op with several results, each with its own."""
    if isinstance(Ω, (list, tuple)):
        parts = tangent if not isinstance(tangent, Directions) else _transposed(tangent)
        pairs = zip(Ω, parts, strict=True)
        made = [_with_tangent(each, dot, level) for each, dot in pairs]
        return tuple.__new__(type(Ω), made) if isinstance(Ω, tuple) else type(Ω)(made)
    if isinstance(tangent, Directions) or not _needs_filling(Ω, tangent):
        return Dual(Ω, tangent, level)
    return Dual(Ω, np.full(np.shape(Ω), tangent, _dtype_of_tangent(Ω, tangent)), level)


def _dtype_of_tangent(primal: Any, tangent: Any) -> Any:
    """What the tangent of an array may come to hold: that of a complex array may become complex."""
    dtypes = (np.asarray(value_of(x)).dtype for x in (primal, tangent))
    return np.result_type(*dtypes, np.float16)


def _needs_filling(Ω: Any, tangent: Any) -> bool:
    return isinstance(Ω, np.ndarray) and np.shape(tangent) == () and Ω.shape != ()


def _transposed(tangent: Directions) -> list[Directions]:
    return [Directions(parts) for parts in zip(*tangent, strict=True)]


def _is_discrete(x: Any) -> bool:
    """Whether a value can have no tangent: an integer, a truth value, a shape, a dtype."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "biu"
    return x is None or isinstance(x, (int, str, tuple, list, np.integer, np.dtype))


def _mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    if not isinstance(x, Dual):
        return change(x)
    tangent = x.tangent
    if isinstance(tangent, Directions):
        tangent = Directions([_mapped(each, change) for each in tangent])
    else:
        tangent = _mapped(tangent, change)
    changed = Dual(_mapped(x.primal, change), tangent, x.level)
    changed.root_of = x.root_of
    return changed


_PYTHONS = frozenset((float, int, complex, bool))


def _as_python(x: Any) -> Any:
    """A result of Python's numbers, computed by NumPy's functions, as Python's number."""
    return _mapped(x, lambda part: part.item() if isinstance(part, np.generic) else part)


def _numpy_scalar(x: Any) -> Any:
    return np.asarray(x)[()] if type(x) in (float, int) else x


def parts_at(x: Any, level: Level) -> tuple[Any, Any]:
    """The primal and the tangent of a result at a level, wherever other levels have put them.

    A result that does not depend on the infinitesimal of that level has a zero tangent.
    """
    if isinstance(x, Dual):
        if x.level == level:
            return x.primal, x.tangent
        if level_of(x) > level:
            primal, primal_dot = parts_at(x.primal, level)
            tangent, tangent_dot = parts_at(x.tangent, level)
            return Dual(primal, tangent, x.level), Dual(primal_dot, tangent_dot, x.level)
    if isinstance(x, Directions):
        pairs = [parts_at(item, level) for item in x]
        return Directions([p for p, _ in pairs]), Directions([t for _, t in pairs])
    return x, zeros_of(x)
