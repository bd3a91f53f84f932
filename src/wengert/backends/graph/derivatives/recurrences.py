"""Derivatives of high order by those of lower order: Leibniz' rule for products, quotients, powers and functions.

Where the normal form of a derivative has many terms, its next order is said in lower ones instead: of f = a / b, say,
b f″ = a″ - 2 b′ f′ - b″ f. An order then takes as many terms as there are lower ones, whatever the function, and
fewer where the derivatives of a factor come to an end, as a polynomial's do. Which variable comes first makes
no difference: orders are counted by variable.

These are the recurrences of Taylor arithmetic, with terms in the place of numbers: A. Griewank, A. Walther,
Evaluating Derivatives, 2nd edition, 2008, section 13.2.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product as combinations
from typing import TYPE_CHECKING

from ....ir.builder import kind_of_atom
from ....ir.graph import ZERO, Atom, Const, Eqn, Var
from ....ir.types import FLOAT
from ....ops import elementwise as el
from ....rules.registry import rule_for
from ..needed import missing
from ..rows import RowCaller
from .sums import ONE, Rational, Sum, added, distributed, exact, scaled

if TYPE_CHECKING:
    from ..graph import Graph

Orders = tuple[Var, ...]
"""By which variables a node is differentiated, each as often as it stands there, in the order of their making."""

SHORT = 6
"""How many new nodes a derivative is made of at most that is not said in lower ones."""
DEEPEST = 300
"""How many nodes a function has at most whose derivatives are said in lower ones."""


class Recurrences(RowCaller):
    """The derivatives of a graph's nodes, by what they are derivatives of."""

    RUN = "frule"

    def __init__(self, graph: Graph):
        super().__init__(graph)
        self._known: dict[tuple[Atom, Orders], Atom] = {}
        self._origins: dict[Atom, tuple[Atom, Orders]] = {}
        self._made: set[Atom] = set()

    def note(self, node: Var, by: Var, slope: Atom) -> None:
        """Keep in mind what a node is the derivative of."""
        of, orders = self._origins.setdefault(node, (node, ()))
        orders = _ordered((*orders, by))
        self._known.setdefault((of, orders), slope)
        self._origins.setdefault(slope, (of, orders))

    def origin(self, node: Atom) -> tuple[Atom, Orders]:
        """The function that a node is a derivative of, and by which variables; the node itself of others."""
        return self._origins.get(node, (node, ()))

    def goes_on(self, node: Atom) -> bool:
        """Whether a node has been said in lower derivatives, as its own are then."""
        return node in self._made

    def shorter(self, node: Var, by: Var, slope: Atom) -> Atom:
        """A derivative as it is, or in terms of lower ones if these take fewer new nodes."""
        new = self._count_of_new(slope)
        other = self.derivative(node, by) if new > SHORT else None
        if other is None or self._count_of_new(other) >= new:
            return slope
        self._made.add(other)
        return other

    def _count_of_new(self, node: Atom) -> int:
        return len(missing(self.graph, node, self.graph.nodes))

    def derivative(self, node: Var, by: Var) -> Atom | None:
        """The derivative of a node by a variable, in terms of lower ones; None where there are none.

        Only second derivatives and higher ones have lower ones.
        """
        of, orders = self.origin(node)
        if not orders or len(missing(self.graph, of, {})) > DEEPEST:
            return None
        try:
            found = self._derivative(of, _ordered((*orders, by)))
        except _NoRecurrence:
            return None
        if node in self._made:
            self._made.add(found)
        return found

    def _derivative(self, atom: Atom, orders: Orders) -> Atom:
        if not orders:
            return atom
        eqn = self.graph.builder.definition(atom)
        if eqn is None:
            return Const(int((atom,) == orders))
        key = atom, orders
        if key not in self._known:
            if kind_of_atom(atom) != FLOAT or eqn.params:
                raise _NoRecurrence
            found = self._known[key] = self.graph.builder.normal.node(self._terms(eqn, orders))
            self._origins.setdefault(found, key)
        return self._known[key]

    def _terms(self, eqn: Eqn, orders: Orders) -> Sum:
        """The derivative of an equation's result as a sum."""
        x, *others = eqn.args
        if eqn.op in (el.add, el.sub):
            y = scaled(self._factor(others[0], orders), -1 if eqn.op is el.sub else 1)
            return added((self._factor(x, orders), y))
        if eqn.op is el.neg:
            return scaled(self._factor(x, orders), -1)
        if eqn.op is el.mul:
            return self._product(x, others[0], orders)
        if eqn.op is el.square:
            return self._product(x, x, orders)
        if eqn.op in (el.div, el.ieee_div):
            return self._quotient(eqn.outs[0], x, others[0], orders)
        if eqn.op is el.reciprocal:
            return self._quotient(eqn.outs[0], Const(1), x, orders)
        if eqn.op is el.sqrt:
            return self._power(eqn.outs[0], x, Fraction(1, 2), orders)
        if eqn.op in (el.pow_, el.ieee_pow):
            exponent = exact(others[0].value) if isinstance(others[0], Const) else None
            if exponent is not None and exponent < 0:
                return self._power(eqn.outs[0], x, exponent, orders)
            if isinstance(others[0], Var):
                return self._exponential(eqn.outs[0], x, others[0], orders)
        return self._function(eqn, orders)

    def _product(self, x: Atom, y: Atom, orders: Orders) -> Sum:
        """The derivative of x y."""
        return added(
            scaled(self._both(x, lower, y, rest), times) for lower, rest, times in _splits(orders)
        )

    def _quotient(self, out: Atom, x: Atom, y: Atom, orders: Orders) -> Sum:
        """The derivative of f = x / y, from f y = x."""
        parts = [self._factor(x, orders)]
        for lower, rest, times in _splits(orders):
            if rest:
                parts.append(scaled(self._both(out, lower, y, rest), -times))
        return self._over(added(parts), y)

    def _power(self, out: Atom, x: Atom, exponent: Rational, orders: Orders) -> Sum:
        """The derivative of f = xᶜ, from x f′ = c f x′."""
        first, others = orders[0], orders[1:]
        parts: list[Sum] = []
        for lower, rest, times in _splits(others):
            moved = _ordered((*rest, first))
            parts.append(scaled(self._both(out, lower, x, moved), times * exponent))
            if rest:
                parts.append(scaled(self._both(out, _ordered((*lower, first)), x, rest), -times))
        return self._over(added(parts), x)

    def _exponential(self, out: Atom, x: Atom, y: Var, orders: Orders) -> Sum:
        """The derivative of f = xʸ with a varying y, from f′ = f (y log x)′."""
        exponent = self.graph.emit(el.mul, [y, self.graph.emit(el.log, [x])])
        return self._chained(out, exponent, orders)

    def _function(self, eqn: Eqn, orders: Orders) -> Sum:
        """The derivative of a function, from f′ = φ(x) x′ with the φ of its rule."""
        rule = rule_for(eqn.op)
        if rule is not None and rule.form == "zero":
            return {}
        if rule is None or rule.form != "scalar":
            raise _NoRecurrence
        partials = self.partials(rule, eqn, lambda arg: isinstance(arg, Var))
        return added(self._chained(slope, x, orders) for x, slope in partials)

    def _chained(self, slope: Atom, x: Atom, orders: Orders) -> Sum:
        """The derivative of f, from f′ = slope x′."""
        first, others = orders[0], orders[1:]
        return added(
            scaled(self._both(slope, lower, x, _ordered((*rest, first))), times)
            for lower, rest, times in _splits(others)
        )

    def _both(self, x: Atom, of_x: Orders, y: Atom, of_y: Orders) -> Sum:
        """The product of two derivatives; the one that vanishes spares the other."""
        second = self._factor(y, of_y)
        return distributed(self._factor(x, of_x), second) if second else {}

    def _factor(self, atom: Atom, orders: Orders) -> Sum:
        """A derivative as a factor: seen through if it is a product of variables, and a number."""
        node = self._derivative(atom, orders)
        if node == ZERO:
            return {}
        value = exact(node.value) if isinstance(node, Const) else None
        if value is not None:
            return {ONE: value} if value else {}
        product, coefficient = self.graph.builder.normal.term(node)
        if len(product) == 1 or all(self.graph.builder.definition(b) is None for b, _ in product):
            return {product: coefficient}
        return {((node, 1),): 1}

    def _over(self, terms: Sum, divisor: Atom) -> Sum:
        ((product, coefficient),) = self._factor(divisor, ()).items()
        below = tuple((base, -e) for base, e in product)
        return distributed(terms, {below: 1 / Fraction(coefficient)})


class _NoRecurrence(Exception):
    """A function is no product, quotient, power or elementary function of real numbers."""


def _ordered(orders: Orders) -> Orders:
    return tuple(sorted(orders, key=lambda var: var.born))


def _splits(orders: Orders) -> Iterator[tuple[Orders, Orders, int]]:
    """The ways to differentiate two factors, each so often in all: Leibniz' rule, with its coefficients."""
    counts = Counter(orders)
    for taken in combinations(*(range(n + 1) for n in counts.values())):
        lower = tuple(v for v, k in zip(counts, taken, strict=True) for _ in range(k))
        rest = tuple((counts - Counter(lower)).elements())
        ways = zip(counts.values(), taken, strict=True)
        yield lower, rest, math.prod(math.comb(n, k) for n, k in ways)
