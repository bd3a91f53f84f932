"""Squares of what has a kink, computed on numbers: |x|² has the derivatives of x x.

Those of programs are in `passes/edges/squares`.

A number that is a multiple of a root remembers what its square is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ops import elementwise as el, structure as st
from ..ops.arrays import linear_algebra as la, reduction as rd, shape as sh

_EVEN = frozenset((el.cos, el.cosh, el.sech, el.sinc))
_PRODUCTS = frozenset((la.dot, la.inner, la.vdot, la.matmul))
_MAGNITUDES = frozenset((el.abs_, el.fabs, el.hypot))
_ROOTS = frozenset((*_MAGNITUDES, la.norm, rd.std, el.sqrt))
_FACTORS: dict[Op, Callable[..., Any]] = {
    el.mul: lambda y: y,
    el.div: lambda y: el.ieee_div(1.0, y),  # what has divided by 0 was NumPy's
    el.neg: lambda: -1.0,
    el.pos: lambda: 1.0,
}
_MOVES = frozenset((
    st.getitem, sh.reshape, sh.ravel, sh.flatten, sh.squeeze, sh.expand_dims, sh.transpose, sh.matrix_transpose,
    sh.swapaxes, sh.moveaxis, sh.flip, sh.copy, sh.item,
))  # fmt: skip
FOLLOWED = frozenset(
    (*_ROOTS, *_EVEN, *_PRODUCTS, *_FACTORS, *_MOVES, rd.sum_, el.pow_, el.float_power, el.square)
)
"""Ops that make a root, keep one, lay one out otherwise, or take its square."""


class Root:
    """What a number is: `factor` times the root of `square()`, and of `signed` the magnitude."""

    __slots__ = ("_square", "base", "factor", "signed", "value")

    def __init__(self, base: Any, value: Any, square: Callable[[], Any], signed: Any = None):
        self.base = base
        self.value = value
        self.factor: Any = None
        self.signed = signed
        self._square: Any = square

    def times(self, factor: Any, value: Any) -> Root:
        """A multiple of the same root."""
        root = Root(self.base, value, self.square, self.signed)
        root.factor = factor if self.factor is None else self.factor * factor
        return root

    def moved(
        self, op: Op, others: tuple[Any, ...], options: dict[str, Any], plain: Any
    ) -> Root | None:
        """Some of its elements, or all in another layout; of a multiple only if all have one factor."""
        if self.factor is not None and np.ndim(plain(self.factor)):
            return None
        base = (*self.base, op, *others, *options.values())
        move = lambda x: x if x is None else op(x, *others, **options)
        root = Root(base, None, lambda: move(self.square()), move(self.signed))
        root.factor = self.factor
        return root

    def square(self) -> Any:
        if callable(self._square):
            self._square = self._square()
        return self._square


def followed(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], result: Any, plain: Any
) -> Any:
    """The result of an op, with the derivatives of a smooth expression if there is one.

    Args:
        op: one of those that are `FOLLOWED`.
        args: its operands.
        options: its options.
        result: what it gave.
        plain: gives the value of a number, without its derivatives.
    """
    if op in _ROOTS or (op is el.pow_ and _is(args[1], 0.5)):
        square = _square_of(op, args, options, plain)
        if square is not None:
            is_magnitude = op in (el.abs_, el.fabs) and not np.iscomplexobj(plain(args[0]))
            _remember(
                result, Root((op, *args), None, square, args[0] if is_magnitude else None), plain
            )
        return result
    roots = [_root_of(arg, plain) for arg in args[:2]]
    if not any(roots):
        return result
    if op in _MOVES or (op is rd.sum_ and np.size(plain(args[0])) == 1):
        if roots[0] is not None:
            _remember(result, roots[0].moved(op, args[1:], options, plain), plain)
        return result
    smooth = _smooth(op, args, options, roots, plain)
    if smooth is not None:
        return st.valued(result, smooth)
    if op in _FACTORS:
        _remember(result, _multiple(op, args, roots), plain)
    return result


def _is_plain(x: Any) -> bool:
    """Whether a number carries no derivatives; those of a run say that they are what they stand for."""
    return issubclass(type(x), (int, float, complex, np.number))


def _is(x: Any, value: float) -> bool:
    return _is_plain(x) and x == value


def _root_of(x: Any, plain: Any) -> Root | None:
    """What is remembered of a number, unless it is an array that has been written to since."""
    root = x.root_of if hasattr(type(x), "root_of") else None
    if root is None or root.value is None or np.array_equal(root.value, plain(x)):
        return root
    return None


def _remember(x: Any, root: Root | None, plain: Any) -> None:
    if root is None or not hasattr(type(x), "root_of"):
        return
    value = plain(x)
    if isinstance(value, np.ndarray) and value.ndim:
        root.square()  # what it was computed of may be written to later
        root.value = value.copy()
    x.root_of = root


def _multiple(op: Op, args: tuple[Any, ...], roots: list[Root | None]) -> Root | None:
    first, second = (*roots, None, None)[:2]
    if first is not None and second is not None:
        both = (first, second)
        square = lambda: el.mul(*[_product(root, root) for root in both])
        return Root((op, *args), None, square) if op is el.mul else None
    if first is not None:
        return first.times(_FACTORS[op](*args[1:]), None)
    return second.times(args[0], None) if second is not None and op is el.mul else None


def _is_same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(map(_is_alike, a, b))


def _is_alike(x: Any, y: Any) -> bool:
    """Whether two operands are one number: NumPy's functions are given copies of Python's."""
    if x is y:
        return True
    if hasattr(x, "primal") and hasattr(y, "primal"):
        return (
            x.level == y.level and _is_alike(x.primal, y.primal) and _is_alike(x.tangent, y.tangent)
        )
    return _is_plain(x) and _is_plain(y) and bool(x == y)


def _product(a: Root, b: Root) -> Any:
    square = a.square()
    for factor in (a.factor, b.factor):
        square = square if factor is None else factor * square
    return square


def _smooth(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], roots: list[Root | None], plain: Any
) -> Any:
    """What an op computes, said without a root."""
    first, second = (*roots, None, None)[:2]
    if first is None:
        return None
    if op is el.square:
        return _product(first, first)
    if op in (el.pow_, el.float_power):
        exponent = args[1]
        if not issubclass(type(exponent), (int, float)) or exponent < 2 or exponent % 2:
            return None
        square = _product(first, first)
        return square if exponent == 2 else op(square, type(exponent)(exponent / 2))
    if op in _EVEN and first.signed is not None:
        signed = first.signed if first.factor is None else first.factor * first.signed
        return op(signed, *args[1:], **options)
    if second is None or not _is_same(first.base, second.base):
        return None
    if op is el.mul:
        return _product(first, second)
    vectors = op in _PRODUCTS and all(np.ndim(plain(arg)) == 1 for arg in args)
    vectors &= op is not la.vdot or not np.iscomplexobj(plain(args[0]))  # which it conjugates
    return rd.sum_(_product(first, second)) if vectors else None


def _square_of(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], plain: Any
) -> Callable[[], Any] | None:
    """What a root is the root of."""
    x = args[0]
    if op in (el.sqrt, el.pow_):
        return lambda: x
    if op is rd.std:
        return lambda: rd.var(*args, **options)
    squares = lambda: reduce(el.add, [_square_of_magnitude(arg, plain) for arg in args])
    if op in _MAGNITUDES:
        return squares
    axis, order = options.get("axis"), options.get("ord")
    of_vector = isinstance(axis, int) or (axis is None and np.ndim(plain(x)) == 1)
    if order is not None and order != "fro" and not (_is(order, 2) and of_vector):
        return None
    given = {name: value for name, value in options.items() if name != "ord"}
    return lambda: rd.sum_(squares(), **given)


def _square_of_magnitude(x: Any, plain: Any) -> Any:
    root = _root_of(x, plain)
    if root is not None and not np.iscomplexobj(plain(x)):
        return _product(root, root)
    return el.real(el.conj(x) * x) if np.iscomplexobj(plain(x)) else x * x
