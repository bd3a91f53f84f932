"""Products and sums as nodes, as one writes them: fractions, powers, signs in front."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....ir.builder import Builder
from ....ir.graph import Atom, Const
from ....ir.op import Op
from ....ops import elementwise as el
from .sums import Product, Rational, Sum, bases_of

LONGEST, MOST_BASES = 200, 3
"""How many terms, of how many bases, a sum has at most that is taken apart: others are factors as they stand."""


class Written:
    """Nodes of products and sums, put together as one writes them."""

    def __init__(self, builder: Builder, emit: Callable[[Op, Sequence[Atom]], Atom]):
        self._builder = builder
        self._emit = emit
        self._terms: dict[Atom, tuple[Product, Rational]] = {}
        self._sums: dict[Atom, Sum] = {}
        """What derivatives have added up."""
        self._nodes: dict[frozenset[object], Atom] = {}
        self._roots: dict[Atom, Atom] = {}
        """Square roots by what they are the roots of."""

    def _remember(self, node: Atom, terms: Sum) -> None:
        """Take a node apart from now on, as it has been put together."""
        is_short = 1 < len(terms) <= LONGEST and len(bases_of(terms)) <= MOST_BASES
        if is_short and node not in self._terms:
            self._sums[node] = terms

    def _times(self, total: tuple[Atom, int], base: Atom, power: Rational) -> tuple[Atom, int]:
        if power == 0:
            return total
        factors = [total[0], self._powered(base, power)]
        return self._chained([f for f in factors if f != Const(1)]), total[1]

    def _plus(self, a: tuple[Atom, int], b: tuple[Atom, int]) -> tuple[Atom, int]:
        """A sum of what has signs, as a difference if one is negative."""
        if a[1] == b[1]:
            return self._emit(el.add, (a[0], b[0])), a[1]
        above, below = (a, b) if a[1] > 0 else (b, a)
        return self._emit(el.sub, (above[0], below[0])), 1

    def _product(self, product: Product, coefficient: Rational, *others: Atom) -> Atom:
        """A product as one writes it, of other nodes too: a fraction, its coefficient first."""
        key = frozenset(((product, coefficient), *others))
        if key not in self._nodes:
            above = [self._powered(base, e) for base, e in product if e > 0]
            below = [self._powered(base, -e) for base, e in product if e < 0]
            over_root = any(e < 0 and e.denominator != 1 for _, e in product)
            number, divisor = coefficient.numerator, coefficient.denominator
            if divisor != 1:
                below.insert(0, Const(divisor))
            # literals are kept apart: what they give together is no longer what was written
            above[1:] = sorted(above[1:], key=lambda atom: isinstance(atom, Const))
            inner = [self._chained(above)] if above else []
            top = self._signed(number, [*others, *inner])
            if below:
                top = self._emit(el.ieee_div if over_root else el.div, (top, self._chained(below)))
            self._nodes[key] = top
        return self._nodes[key]

    def _signed(self, number: int, factors: Sequence[Atom]) -> Atom:
        if not factors:
            return Const(number)
        top = self._chained(factors)
        if number == 1:
            return top
        if number == -1:
            return self._emit(el.neg, (top,))
        return self._emit(el.mul, (Const(number), top))

    def _chained(self, factors: Sequence[Atom]) -> Atom:
        total, *others = factors
        for factor in others:
            total = self._emit(el.mul, (total, factor))
        return total

    def _powered(self, base: Atom, exponent: Rational) -> Atom:
        if exponent == 1:
            return base
        key = frozenset(((((base, exponent),), 1),))
        if key not in self._nodes:
            root = self._roots.get(base) if exponent.denominator == 2 else None
            of, times = (base, exponent) if root is None else (root, 2 * exponent)
            literal = int(times) if times.denominator == 1 else float(times)
            self._nodes[key] = of if times == 1 else self._emit(el.ieee_pow, (of, Const(literal)))
        return self._nodes[key]
