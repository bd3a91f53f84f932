"""What every number with derivatives can do: Python's operators, NumPy's functions, methods.

All of it comes down to `compute(op, args, options)`, and from there to the table of rules. A number is
compared, hashed and printed by its value, so that a program takes the branch that it takes without
derivatives.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from numbers import Number
from typing import Any, ClassVar, cast

import numpy as np

from ..errors import BadArgument, LostWrite, MixedNumbers, UnknownFunction
from ..ir.callers import calling_span
from ..ir.op import Op, evaluator_of
from ..ops import elementwise as el, registry, structure as st
from ..ops.arrays import linear_algebra as la, reduction as rd
from ..ops.arrays.joining import stack as el_stack
from ..ops.dispatch import libraries as libraries
from ..ops.dispatch.lookup import Method, called, called_elementwise, op_of_name
from ..ops.signatures import bind
from .levels import Level
from .refusals import lost
from .restated import restated
from .squares import FOLLOWED, followed


def compute(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An op on values of which at least one carries derivatives, at the highest of their levels."""
    op = _MEANT.get(op, op)
    args = tuple(map(gathered, args))
    if op is st.getitem:
        args = args[0], _as_index(args[1])
        if not isinstance(args[0], PerturbedNumber):
            return args[0][args[1]]
    if op is el.log and len(args) > 1:
        op = el.log_base
    if not op.elementwise and len(args) > 1:
        args, options = bind(op, args, options)
    if options.get("out") is not None:
        plain = {name: value for name, value in options.items() if name != "out"}
        return _written(options["out"], compute(op, args, plain))
    said = restated(op, args, options, value_of)
    if said is not None:
        return said[0]
    numbers = [number for arg in args for number in numbers_in(arg)]
    if not numbers:
        raise lost(next(filter(numbers_in, options.values())), f"an option of {op.name}")
    level = max(number.level for number in numbers)
    classes = {type(number) for number in numbers if number.level == level}
    if len(classes) > 1:
        names = " and ".join(f"a {name}" for name in sorted(cls.__name__ for cls in classes))
        raise MixedNumbers(
            f"{op.name} of {names} that carry the same infinitesimal",
            "Use one of the two for one differentiation; nest them to differentiate twice.",
            calling_span(),
        )
    result = classes.pop().apply(op, args, options, level)
    return followed(op, args, options, result, value_of) if op in FOLLOWED else result


def _written(out: Any, result: Any) -> Any:
    """The array that a result was to be written to."""
    if not isinstance(out, PerturbedNumber):
        raise lost(result, "what an array of floats is given")
    cast(Any, out)[...] = result
    return out


def gathered(x: Any) -> Any:
    """An array of numbers with derivatives as a number with derivatives that is an array, also inside a list."""
    if type(x) is float or isinstance(x, PerturbedNumber):
        return x
    if isinstance(x, (list, tuple)):
        items = list(map(gathered, x))
        if all(new is old for new, old in zip(items, x, strict=True)):
            return x
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else items
    if not isinstance(x, np.ndarray) or x.dtype != object:
        return x
    if not any(isinstance(item, PerturbedNumber) for item in x.flat):
        return x
    return el_stack(x.ravel().tolist()).reshape(x.shape)


def _as_index(x: Any) -> Any:
    """Integers without their derivatives: what an index says changes in steps."""
    if isinstance(x, tuple):
        return tuple(map(_as_index, x))
    value = value_of(x)
    is_integer = isinstance(value, (int, np.integer)) or getattr(value, "dtype", None) == np.intp
    return value if is_integer else x


_MEANT = {rd.at_max: rd.at_extreme, rd.at_min: rd.at_extreme}
"""Ops that stand in rule rows for others, as long as nothing is known of their operands."""


def numbers_in(x: Any) -> Iterator[PerturbedNumber]:
    """The numbers with derivatives in an operand: itself, or the items of a list."""
    if isinstance(x, PerturbedNumber):
        yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from numbers_in(item)


def value_of(x: Any) -> Any:
    """The plain value of a number, without its derivatives."""
    while isinstance(x, PerturbedNumber):
        x = x.value
    return x


def _binary(op: Op) -> Any:
    def forward(self: PerturbedNumber, other: Any) -> Any:
        return compute(op, (self, other), {}) if _is_operand(other, self) else NotImplemented

    return forward


def _reflected(op: Op) -> Any:
    def backward(self: PerturbedNumber, other: Any) -> Any:
        return compute(op, (other, self), {}) if _is_operand(other, self) else NotImplemented

    return backward


def _unary(op: Op) -> Any:
    return lambda self: compute(op, (self,), {})


def _compared(compare: Callable[[Any, Any], Any]) -> Any:
    def comparison(self: PerturbedNumber, other: Any) -> Any:
        if not _is_operand(other, self):
            return NotImplemented
        return compare(value_of(self), value_of(other))

    return comparison


def _in_place(op: Op) -> Any:
    def change(self: PerturbedNumber, other: Any) -> Any:
        if getattr(value_of(self), "shape", ()) == ():
            return NotImplemented  # a number does not change: the name is bound anew
        self[...] = compute(op, (self, other), {})
        return self

    return change


def _is_number(x: Any) -> bool:
    """Whether arithmetic with a value is wengert's business; other classes have operators of their own."""
    if isinstance(x, (Number, PerturbedNumber, np.ndarray, np.generic)):
        return True
    return type(x).__module__ != "builtins" and evaluator_of((x,)) is not None


def _is_operand(x: Any, of: PerturbedNumber) -> bool:
    """Whether an operator takes a value: a list stands for an array beside one, and repeats for no number."""
    if isinstance(x, (list, tuple)):
        return getattr(value_of(of), "shape", ()) != ()
    return _is_number(x)


_POWER = _binary(el.pow_)


class PerturbedNumber:
    """Base of the numbers that carry derivatives."""

    __slots__ = ("root_of",)
    root_of: Any
    """What the number is a root of, if it is one (`squares`)."""
    compute_priority: ClassVar[int] = 2
    _op_priority: ClassVar[float] = 100.0
    """SymPy leaves operators to the operand with the higher one."""
    __compute_op__ = staticmethod(compute)
    level: Level

    @property
    def value(self) -> Any:
        """The number without its infinitesimal; it may carry those of lower levels."""
        raise NotImplementedError

    @classmethod
    def apply(cls, op: Op, args: tuple[Any, ...], options: dict[str, Any], level: Level) -> Any:
        """The op at a level, where at least one operand has that level."""
        raise NotImplementedError

    # --- operators ------------------------------------------------------------------------

    __add__, __radd__ = _binary(el.add), _reflected(el.add)
    __sub__, __rsub__ = _binary(el.sub), _reflected(el.sub)
    __mul__, __rmul__ = _binary(el.mul), _reflected(el.mul)
    __truediv__, __rtruediv__ = _binary(el.div), _reflected(el.div)
    __floordiv__, __rfloordiv__ = _binary(el.floordiv), _reflected(el.floordiv)
    __mod__, __rmod__ = _binary(el.mod), _reflected(el.mod)
    __matmul__, __rmatmul__ = _binary(la.matmul), _reflected(la.matmul)
    __rpow__ = _reflected(el.pow_)
    __iadd__, __isub__, __imul__ = _in_place(el.add), _in_place(el.sub), _in_place(el.mul)
    __itruediv__, __ipow__ = _in_place(el.div), _in_place(el.pow_)
    __ifloordiv__, __imod__ = _in_place(el.floordiv), _in_place(el.mod)
    __imatmul__ = _in_place(la.matmul)
    __and__, __rand__ = _binary(el.bitand), _reflected(el.bitand)
    __or__, __ror__ = _binary(el.bitor), _reflected(el.bitor)
    __xor__, __rxor__ = _binary(el.bitxor), _reflected(el.bitxor)
    __lshift__, __rlshift__ = _binary(el.lshift), _reflected(el.lshift)
    __rshift__, __rrshift__ = _binary(el.rshift), _reflected(el.rshift)
    __invert__ = _unary(el.invert)
    __neg__, __pos__, __abs__ = _unary(el.neg), _unary(el.pos), _unary(el.abs_)
    __trunc__, __floor__, __ceil__ = _unary(el.trunc), _unary(el.floor), _unary(el.ceil)

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            raise UnknownFunction(
                "a power modulo a number is one of integers, and has no derivative",
                "Write `pow(int(x), n, m)` where the value alone is wanted.",
                calling_span(),
            )
        return _POWER(self, exponent)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, digits: int | None = None) -> Any:
        return compute(el.round_, (self,) if digits is None else (self, digits), {})

    # --- comparison, truth, conversion ------------------------------------------------------

    __lt__, __le__ = _compared(operator.lt), _compared(operator.le)
    __gt__, __ge__ = _compared(operator.gt), _compared(operator.ge)
    __eq__, __ne__ = _compared(operator.eq), _compared(operator.ne)

    def __hash__(self) -> int:
        return hash(value_of(self))

    def __bool__(self) -> bool:
        return bool(value_of(self))

    def __int__(self) -> int:
        return int(value_of(self))

    def __index__(self) -> int:
        """What an integer counts by, or indexes with, changes in steps."""
        if isinstance(value_of(self), (int, np.integer)):
            return operator.index(value_of(self))
        raise BadArgument(
            f"{self!r} is no integer, and cannot count or be an index",
            "Write `int(x)` where the value alone is wanted.",
            calling_span(),
        )

    def __float__(self) -> float:
        raise lost(self, "a float")

    def __complex__(self) -> complex:
        raise lost(self, "a complex number")

    def _mpmath_(self, *precision: Any) -> Any:
        """Refused: the operators of mpmath's numbers then leave the operation to this class."""
        raise lost(self, "a number of mpmath", f"a {type(self).__name__} at {value_of(self)}")

    def as_integer_ratio(self) -> tuple[int, int]:
        """Refused: what asks for it (`statistics`, `Fraction`) goes on with numbers of its own."""
        raise lost(self, "a fraction")

    # --- containers, methods, NumPy -----------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        return compute(st.getitem, (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        raise LostWrite(
            f"a {type(self).__name__} that is an array does not change in place",
            "Build a new one: `np.where`, `np.concatenate`, `np.stack`.",
            calling_span(),
        )

    def __len__(self) -> int:
        return len(value_of(self))

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self))])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        op = registry.find_attribute(name)
        if name == "flat" and getattr(value_of(self), "shape", ()) == ():
            message = f"a {type(self).__name__} that is one number has no items"
            raise UnknownFunction(message, "Use the number itself.", calling_span())
        if op is not None:
            is_about_memory = op.implementation is None
            return getattr(value_of(self), name) if is_about_memory else compute(op, (self,), {})
        return Method(op_of_name(name, f"a {type(self).__name__}"), self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """An array of such numbers, item by item; of floats there is none."""
        if dtype is not None and np.dtype(dtype) != object:
            raise lost(self, "an array of floats")
        items = np.empty(getattr(value_of(self), "shape", ()), dtype=object)
        for index in np.ndindex(items.shape):
            items[index] = self[index] if items.shape else self
        return items

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return called_elementwise(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        return called(function, args, keywords)
