"""Sums of products of powers, as pairs: what is added to what, and how products of them come together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ....ir.graph import Atom, Var

Rational = int | Fraction
Product = tuple[tuple[Atom, Rational], ...]
"""Bases with their exponents, in the order in which they were made; each base once."""
Sum = Mapping[Product, Rational]
"""Products with their coefficients."""

ONE: Product = ()
LARGEST = 1 << 40
"""A literal with a larger numerator or denominator is a factor like any other: it may stand for another number."""


def exact(value: object) -> Rational | None:
    """A literal as a fraction, if it is a short one."""
    if not isinstance(value, (int, float)):
        return None
    found = Fraction(value)
    found = found.numerator if found.denominator == 1 else found
    return found if max(abs(found.numerator), found.denominator) <= LARGEST else None


def rational(numerator: int, denominator: int) -> Rational:
    return numerator if denominator == 1 else Fraction(numerator, denominator)


def is_base(product: Product) -> bool:
    return len(product) == 1 and product[0][1] == 1


def exponent_of(product: Product, base: Atom) -> Rational:
    return next((e for b, e in product if b == base), 0)


def bases_of(products: Iterable[Product]) -> list[Atom]:
    return list(dict.fromkeys(base for product in products for base, _ in product))


def in_common(products: Sequence[Product]) -> Product:
    """The bases of all products, each with the smallest of its exponents."""
    first, *others = products
    shared = [b for b, _ in first if all(exponent_of(p, b) for p in others)]
    return tuple((b, min(exponent_of(p, b) for p in products)) for b in shared)


def inverse(product: Product) -> Product:
    return tuple((base, -e) for base, e in product)


def scaled(terms: Sum, factor: Rational) -> Sum:
    return {product: c * factor for product, c in terms.items()}


def added(sums: Iterable[Sum]) -> Sum:
    total: dict[Product, Rational] = {}
    for terms in sums:
        for product, coefficient in terms.items():
            total[product] = total.get(product, 0) + coefficient
    return {product: c for product, c in total.items() if c}


def distributed(x: Sum, y: Sum) -> Sum:
    """The product of two sums, one of which has one term."""
    return added({together(p, q): a * b} for p, a in x.items() for q, b in y.items())


def together(p: Product, q: Product) -> Product:
    exponents: dict[Atom, Rational] = dict(p)
    for base, exponent in q:
        exponents[base] = exponents.get(base, 0) + exponent
    factors = [(base, e) for base, e in exponents.items() if e]
    return tuple(sorted(factors, key=lambda f: f[0].born if isinstance(f[0], Var) else -1))
