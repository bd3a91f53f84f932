"""The normal form of derivatives: sums of products of powers, like terms and like factors collected.

A product of powers is differentiated to a sum of products of the same factors, so that the number of terms grows with
the order of a derivative; it would double with every order otherwise. Only sums that a derivative itself adds up are
taken apart: a power of a sum that the program or a rule has written stays one, and so does a product of two sums.

Computer algebra keeps sums and products as such pairs: K. O. Geddes, S. R. Czapor, G. Labahn, Algorithms for Computer
Algebra, 1992, chapter 3; C. Bauer, A. Frink, R. Kreckel, Introduction to the GiNaC framework, 2002.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm

from ....ir.graph import ZERO, Atom, Const, Var
from ....ir.op import Op
from ....ir.types import FLOAT
from ....ops import elementwise as el
from .sums import (
    ONE,
    Product,
    Rational,
    Sum,
    added,
    bases_of,
    distributed,
    exact,
    exponent_of,
    in_common,
    inverse,
    is_base,
    rational,
    scaled,
    together,
)  # fmt: skip
from .written_products import Written

MOST_FACTORS = 8
"""Products of more factors than this are kept as one."""


_SUMS = (el.add, el.sub)
_QUOTIENTS = (el.div, el.ieee_div)
_POWERS = (el.pow_, el.ieee_pow)
_PRODUCTS = frozenset((el.mul, el.neg, el.reciprocal, el.square, *_QUOTIENTS, *_POWERS))


class NormalForms(Written):
    """The normal forms of the nodes of a graph, and the nodes of normal forms.

    Args:
        builder: knows how nodes are defined.
        emit: makes the node of an op as it stands.
    """

    def emitted(self, op: Op, args: Sequence[Atom], *, in_row: bool) -> Atom | None:
        """The node of an op in normal form; None where the op is no part of one.

        Args:
            op: what is to be computed.
            args: its operands.
            in_row: whether a row of the rule table computes it: what it adds up is one factor of products.
        """
        if not all(map(_is_real, args)):
            return None
        if op in _SUMS and not in_row:
            a, b = map(self._expanded, args)
            return self.node(added((a, scaled(b, _sign(op)))))
        if op not in _PRODUCTS:
            return None
        found = self._multiplied(op, args, self._factor if in_row else self._expanded)
        if found is None:
            return None
        return self.node(found if in_row else self._opened(found))

    def factors(self, atom: Atom) -> list[Atom]:
        """The bases of a sum of products; nothing if the node is none."""
        terms = self._terms_of(atom)
        return [] if terms is None else bases_of(terms)

    def _terms_of(self, atom: Atom) -> Sum | None:
        if not isinstance(atom, Var) or not _is_real(atom):
            return None
        terms = self._sums.get(atom) or self._factor(atom)
        return None if any(is_base(p) and p[0][0] == atom for p in terms) else terms

    def tangent(self, atom: Var, tangent_of: Callable[[Atom], Atom]) -> Atom | None:
        """The derivative of a sum of products by those of their factors; None of what is no such sum.

        Args:
            atom: the node that is differentiated.
            tangent_of: gives the derivative of a factor.
        """
        terms = self._terms_of(atom)
        if terms is None:
            return None
        moving = [base for base in bases_of(terms) if tangent_of(base) != ZERO]
        kept = self._is_linear(terms) and any(
            self._comes_back(base, self._expanded(tangent_of(base)), tangent_of)
            for base in moving
            if self._builder.definition(base) is not None
        )
        return self.node(added(self._product_rule(terms, tangent_of, kept=kept)))

    def _product_rule(
        self, terms: Sum, tangent_of: Callable[[Atom], Atom], *, kept: bool
    ) -> Iterable[Sum]:
        """The terms of a derivative; lower derivatives are factors as they stand if they are `kept`."""
        for product, coefficient in terms.items():
            for base, exponent in product:
                dot = tangent_of(base)
                if dot == ZERO:
                    continue
                rest = together(product, ((base, -1),))
                if kept and self._builder.definition(base) is not None:
                    slope: Sum = {((dot, 1),): 1}
                else:
                    slope = self._expanded(dot)
                part = distributed({rest: coefficient * exponent}, slope)
                yield part if kept else self._opened(part)

    def _comes_back(self, base: Atom, slope: Sum, tangent_of: Callable[[Atom], Atom]) -> bool:
        """Whether f' = p(x) f + …, with a polynomial p of the variable: its derivatives are best said by lower ones.

        So is that of the bell curve, f = exp(-x²), by f' = -2 x f, f'' = -2 (f + x f') …
        """
        again = any(
            exponent_of(product, base) == 1
            and any(b != base and tangent_of(b) != ZERO for b, _ in product)
            for product in slope
        )
        return again and self._is_linear(slope)

    def _is_linear(self, terms: Sum) -> bool:
        """Whether terms are linear in functions, with polynomials of variables as their coefficients."""
        for product in terms:
            functions = [e for b, e in product if self._builder.definition(b) is not None]
            variables = [e for b, e in product if self._builder.definition(b) is None]
            if functions != [1] or any(e < 0 or e.denominator != 1 for e in variables):
                return False
        return True

    # --- from nodes to sums -----------------------------------------------------------------

    def _expanded(self, atom: Atom) -> Sum:
        """A node as a sum, if a derivative has added it up, and as a product otherwise."""
        return self._sums.get(atom) or self._opened(self._factor(atom))

    def _opened(self, terms: Sum) -> Sum:
        """A sum whose products are multiplied out where one of their factors is a sum."""
        return added(map(self._multiplied_out, terms.items()))

    def _multiplied_out(self, term: tuple[Product, Rational]) -> Sum:
        product, coefficient = term
        sums = [base for base, e in product if e == 1 and base in self._sums]
        if len(sums) != 1:
            return {product: coefficient}
        rest = tuple(factor for factor in product if factor[0] != sums[0])
        return distributed({rest: coefficient}, self._sums[sums[0]])

    def _factor(self, atom: Atom) -> Sum:
        product, coefficient = self.term(atom)
        return {product: coefficient}

    def _flattened(self, terms: Sum) -> Sum:
        """A sum with the sums that the program has written in it taken apart, if some terms then cancel."""
        flat: Sum = {}
        for product, coefficient in terms.items():
            eqn = self._builder.definition(product[0][0]) if is_base(product) else None
            part: Sum = {product: coefficient}
            if eqn is not None and eqn.op in _SUMS and all(map(_is_real, eqn.args)):
                a, b = map(self._expanded, eqn.args)
                part = scaled(added((a, scaled(b, _sign(eqn.op)))), coefficient)
            flat = added((flat, part))
        return flat if len(flat) < len(terms) else terms

    def term(self, atom: Atom) -> tuple[Product, Rational]:
        """A node as a product, seen through all products and powers that it is made of."""
        pending = [atom]
        while pending:
            each = pending[-1]
            waiting = (
                []
                if each in self._terms
                else [x for x in self._seen_through(each) if x not in self._terms]
            )
            pending += waiting
            if waiting:
                continue
            if pending.pop() not in self._terms:
                found = self._terms[each] = self._read(each)
                if isinstance(each, Var):
                    self._nodes.setdefault(frozenset((found,)), each)
        return self._terms[atom]

    def _seen_through(self, atom: Atom) -> Sequence[Atom]:
        """The operands of a product or a power."""
        eqn = self._builder.definition(atom)
        if eqn is None or eqn.op not in _PRODUCTS or eqn.params:
            return ()
        return eqn.args if all(map(_is_real, eqn.args)) else ()

    def _read(self, atom: Atom) -> tuple[Product, Rational]:
        if isinstance(atom, Const):
            value = exact(atom.value)
            return (((atom, 1),), 1) if value is None else (ONE, value)
        eqn = self._builder.definition(atom)
        if eqn is not None and self._seen_through(atom):
            found = self._multiplied(eqn.op, eqn.args, self._factor)
            if found is not None and len(found) == 1:
                return next(iter(found.items()))
        if eqn is not None and eqn.op is el.sqrt and all(map(_is_real, eqn.args)):
            (x,) = eqn.args
            self._roots.setdefault(x, atom)
            self._terms[x] = ((x, 1),), 1  # one factor, as under the root
            return ((x, Fraction(1, 2)),), 1
        return ((atom, 1),), 1

    def _multiplied(self, op: Op, args: Sequence[Atom], read: Callable[[Atom], Sum]) -> Sum | None:
        """A product, quotient or power of operands that are read in some way."""
        x = read(args[0])
        if op is el.neg:
            return scaled(x, -1)
        if op is el.mul:
            y = read(args[1])
            if len(x) > 1 and len(y) > 1:
                x, y = map(self._whole, args)
            if max(map(len, x), default=0) + max(map(len, y), default=0) > MOST_FACTORS:
                x, y = map(_alone, args)
            return distributed(x, y)
        if op in _QUOTIENTS:
            below = self._power(args[1], -1, read)
            return None if below is None else distributed(x, below)
        if op in _POWERS:
            exponent = exact(args[1].value) if isinstance(args[1], Const) else None
        else:
            exponent = 2 if op is el.square else -1
        return None if exponent is None else self._power(args[0], exponent, read)

    def _power(self, base: Atom, exponent: Rational, read: Callable[[Atom], Sum]) -> Sum | None:
        found = read(base)
        if len(found) > 1 or exponent.denominator != 1:
            found = self._whole(base)
        ((product, coefficient),) = found.items()
        if exponent.denominator != 1 and (coefficient != 1 or not is_base(product)):
            product, coefficient = ((base, 1),), 1
        if coefficient == 0 or exponent == 0:
            return None
        factor = Fraction(coefficient) ** int(exponent) if coefficient != 1 else 1
        return {tuple((b, e * exponent) for b, e in product): factor}

    def _whole(self, atom: Atom) -> Sum:
        """A node as one product, a sum as one factor."""
        return _alone(atom) if atom in self._sums else self._factor(atom)

    # --- from sums to nodes -----------------------------------------------------------------

    def node(self, terms: Sum) -> Atom:
        """The node of a sum: there once, however it was come by."""
        terms = self._cancelled({product: c for product, c in terms.items() if c})
        if not terms:
            return Const(0.0)
        key = frozenset(terms.items())
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self._made(terms)
            self._remember(found, terms)
        return found

    def _cancelled(self, terms: Sum) -> Sum:
        """A sum with what its terms have in common taken out, if the rest is shorter then.

        So u^½ - x² u^-½ is u^-½, for u = 1 + x².
        """
        if len(terms) < 2:
            return terms
        common = in_common(list(terms))
        rest = {together(product, inverse(common)): c for product, c in terms.items()}
        flat = self._flattened(rest)
        return distributed({common: 1}, flat) if len(flat) < len(rest) else terms

    def _made(self, terms: Sum) -> Atom:
        """A sum as the product of what all its terms have in common and of a polynomial."""
        if len(terms) == 1:
            ((product, coefficient),) = terms.items()
            return self._product(product, coefficient)
        divisor = lcm(*(c.denominator for c in terms.values()))
        factor = gcd(*(int(c * divisor) for c in terms.values()))
        common = in_common(list(terms))
        rest = {together(p, inverse(common)): int(c * divisor) // factor for p, c in terms.items()}
        total, sign = self._polynomial(rest)
        return self._product(common, rational(sign * factor, divisor), total)

    def _polynomial(self, terms: Sum) -> tuple[Atom, int]:
        """A polynomial by Horner's scheme, and the sign (1 or -1) by which the caller multiplies it."""
        counts = Counter(base for product in terms for base, _ in product)
        base, count = counts.most_common(1)[0] if counts else (None, 0)
        if base is None or count == 1:  # nothing to factor out
            signed = ((self._product(p, abs(c)), -1 if c < 0 else 1) for p, c in terms.items())
            return functools.reduce(self._plus, signed)
        by_power: dict[Rational, dict[Product, Rational]] = {}
        for product, coefficient in terms.items():
            rest = tuple(factor for factor in product if factor[0] != base)
            by_power.setdefault(exponent_of(product, base), {})[rest] = coefficient
        powers = sorted(by_power, reverse=True)
        total, so_far = self._polynomial(by_power[powers[0]]), by_power[powers[0]]
        for power, lower in itertools.pairwise(powers):
            step = power - lower
            so_far = {**by_power[lower], **distributed(so_far, {((base, step),): 1})}
            total = self._plus(self._polynomial(by_power[lower]), self._times(total, base, step))
            self._remember(total[0], scaled(so_far, total[1]))
        total = self._times(total, base, powers[-1])
        self._remember(total[0], scaled(terms, total[1]))
        return total


def _alone(atom: Atom) -> Sum:
    """A node as one factor."""
    value = exact(atom.value) if isinstance(atom, Const) else None
    return {((atom, 1),): 1} if value is None else {ONE: value}


def _is_real(atom: Atom) -> bool:
    """Whether a node is a real number: what broadcasting does to arrays is no part of a normal form."""
    if isinstance(atom, Var):
        return atom.kind == FLOAT
    return type(atom.value) in (int, float) and abs(atom.value) < float("inf")


def _sign(op: Op) -> int:
    return -1 if op is el.sub else 1
