"""Squares of what has a kink, said without it: |x|² is x x, ‖v‖² is v·v, cos |x| is cos x.

At the kink the factor |x| has the slope 0, and the product rule gives 0 for all that comes after the first
derivative. What is a root of something is followed through products with other factors, signs and changes of shape,
so that (|x| / s) (w |x|) is found to be x² w / s.
"""

from __future__ import annotations

from collections.abc import Container, Hashable
from functools import reduce

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.records import record, replace
from ...ir.types import Array, Number
from ...ops import registry

LENGTHS = frozenset(("abs", "fabs", "hypot", "norm", "dist", "std"))
ROOTS = LENGTHS | {"sqrt", "pow"}
_EVEN = frozenset(("cos", "cosh", "sech", "sinc"))
"""Functions of a real number that do not see its sign."""
_PRODUCTS = frozenset(("dot", "inner", "vdot", "matmul"))
_SHAPES = frozenset(
    (
        "getitem", "reshape", "ravel", "transpose", "matrix_transpose", "expand_dims", "squeeze", "swapaxes",
        "moveaxis", "flip", "roll", "repeat", "tile", "broadcast_to", "diagonal", "asarray", "array", "copy", "take",
    )
)  # fmt: skip
"""Ops that only move or copy the elements of their first operand."""


@record
class Root:
    """What is known of a value: it is `factor` times the root of `square`, and of `signed` the magnitude."""

    base: Hashable
    square: Atom
    factor: Atom | None = None
    signed: Atom | None = None


def is_root(eqn: Eqn) -> bool:
    """Whether what an equation computes may have a kink that its square has not."""
    return eqn.op.name in ROOTS and (eqn.op.name != "pow" or eqn.args[1] == Const(0.5))


class Squares:
    """The roots that a block has seen, and where what they are roots of is computed.

    Of what is `changing`, because it may share memory with what is written to, no part is followed, nor is it read
    again: a new array is what it was wherever the program reads it under its name.
    """

    def __init__(self, builder: Builder, roots: dict[Var, Root], changing: Container[Atom] = ()):
        self.builder = builder
        self.roots = roots
        self.changing = changing

    def is_root(self, atom: Atom) -> bool:
        return self._root_of(atom) is not None

    def square_of(self, atom: Atom) -> Atom:
        """The square of a value, without a root if it is one."""
        root = self._root_of(atom)
        return self._mul(atom, atom) if root is None else self._product(root, root)

    # --- squares ------------------------------------------------------------------------

    def smooth(self, eqn: Eqn) -> Atom | None:
        """What an equation computes, said without a root; None where it has to be a root, or has none."""
        name = eqn.op.name
        operands = eqn.args[1:] if name == "einsum_2" else eqn.args[:2]
        found = [self._root_of(arg) for arg in operands]
        first, second = (*found, None, None)[:2]
        if first is None:
            return None
        if name == "square":
            return self._product(first, first)
        if name in ("pow", "float_power"):
            return self._power(eqn, first)
        if name == "mul" and second is not None and first.base == second.base:
            return self._product(first, second)
        if name in _PRODUCTS and second is not None and first.base == second.base:
            vectors = all(_rank(arg) == 1 for arg in eqn.args)
            vectors &= name != "vdot" or _is_real(eqn.args[0])  # which it conjugates
            return self._np("sum", self._product(first, second)) if vectors else None
        if name == "einsum_2" and second is not None and first.base == second.base:
            return self._contracted(eqn, self._product(first, second))
        if name in _EVEN and first.signed is not None:
            signed = first.signed if first.factor is None else self._mul(first.factor, first.signed)
            return self.builder.emit_with(
                eqn.op, (signed, *eqn.args[1:]), eqn.params, eqn.namespace
            )
        return None

    def _contracted(self, eqn: Eqn, product: Atom) -> Atom | None:
        """`np.einsum("ij,ij->i", r, r)`."""
        subscripts = eqn.args[0].value if isinstance(eqn.args[0], Const) else None
        if not isinstance(subscripts, str):
            return None
        operands, _, result = subscripts.replace(" ", "").partition("->")
        left, _, right = operands.partition(",")
        if left != right:
            return None
        once = Const(f"{left}->{result}")
        return self.builder.emit(registry.named("einsum_1"), once, product, namespace="np")

    def _power(self, eqn: Eqn, root: Root) -> Atom | None:
        exponent = eqn.args[1].value if isinstance(eqn.args[1], Const) else None
        if not isinstance(exponent, (int, float)) or exponent < 2 or exponent % 2 != 0:
            return None
        square, half = self._product(root, root), Const(type(exponent)(exponent / 2))
        return (
            square
            if exponent == 2
            else self.builder.emit(eqn.op, square, half, namespace=eqn.namespace)
        )

    def _product(self, a: Root, b: Root) -> Atom:
        """The product of two multiples of one root."""
        square = a.square
        for factor in (a.factor, b.factor):
            square = square if factor is None else self._mul(factor, square)
        return square

    def _square_of_magnitude(self, x: Atom) -> Atom:
        """|x|², of a real or a complex value: a root of a complex number has another square."""
        if _is_real(x):
            return self.square_of(x)
        return self._np("real", self._mul(self._np("conj", x), x))

    # --- roots --------------------------------------------------------------------------

    def root(self, eqn: Eqn) -> Root | None:
        """An equation's result as a multiple of a root."""
        name = eqn.op.name
        if is_root(eqn):
            square = self._square(eqn)
            is_magnitude = name in ("abs", "fabs") and _is_real(eqn.args[0])
            signed = eqn.args[0] if is_magnitude else None
            return None if square is None else Root(_base(eqn), square, None, signed)
        found = [self._root_of(arg) for arg in eqn.args[:2]]
        if name == "mul" and None not in found:
            return Root(_base(eqn), self._mul(*[self.square_of(arg) for arg in eqn.args]))
        if name == "mul" and found[1] is not None:
            return self._times(found[1], eqn.args[0])
        if not found or found[0] is None:
            return None
        if name in _SHAPES and eqn.outs[0] not in self.changing:
            square = self._product(found[0], found[0])
            moved = self.builder.emit_with(
                eqn.op, (square, *eqn.args[1:]), eqn.params, eqn.namespace
            )
            return Root(_base(eqn), moved)
        factors = {"mul": eqn.args[-1:], "neg": (Const(-1.0),), "pos": (Const(1.0),)}
        if name == "div":
            factors["div"] = (self._py("div", Const(1.0), eqn.args[1]),)
        return self._times(found[0], *factors[name]) if name in factors else None

    def _times(self, root: Root, factor: Atom) -> Root | None:
        if factor in self.changing:
            return None
        factor = factor if root.factor is None else self._mul(root.factor, factor)
        return replace(root, factor=factor)

    def _square(self, eqn: Eqn) -> Atom | None:
        """What a root is the root of."""
        x, name = eqn.args[0], eqn.op.name
        if name == "sqrt" or (name == "pow" and eqn.args[1] == Const(0.5)):
            return x
        if name == "std":
            return self.builder.emit_with(
                registry.named("var"), eqn.args, eqn.params, eqn.namespace
            )
        if name in ("abs", "fabs", "hypot"):
            squares = [self._square_of_magnitude(arg) for arg in eqn.args]
            return reduce(lambda a, b: self._py("add", a, b), squares)
        if name == "dist":
            apart = self._py("sub_items", *eqn.args)
            return self._py("inner_items", apart, apart)
        return self._square_of_norm(eqn) if name == "norm" else None

    def _square_of_norm(self, eqn: Eqn) -> Atom | None:
        """Of the length of vectors, or of all elements of matrices."""
        axis, order = eqn.params.get("axis", Const(None)), eqn.params.get("ord", Const(None))
        of_vector = isinstance(kind_of_atom(axis), Number) or (
            axis == Const(None) and _rank(eqn.args[0]) == 1
        )
        if order not in (Const(None), Const("fro")) and not (order == Const(2) and of_vector):
            return None
        given = {name: atom for name, atom in eqn.params.items() if name != "ord"}
        square = self._square_of_magnitude(eqn.args[0])
        return self.builder.emit_with(registry.named("sum"), (square,), given, "np")

    # --- building -----------------------------------------------------------------------

    def _root_of(self, x: Atom) -> Root | None:
        return self.roots.get(x) if isinstance(x, Var) else None

    def _mul(self, a: Atom, b: Atom) -> Atom:
        return self._py("mul", a, b)

    def _py(self, name: str, *args: Atom) -> Atom:
        return self.builder.emit(registry.named(name), *args)

    def _np(self, name: str, *args: Atom) -> Atom:
        return self.builder.emit(registry.named(name), *args, namespace="np")


def _base(eqn: Eqn) -> Hashable:
    """What is the same for two equations that compute the same."""
    return (eqn.op, *eqn.args, *sorted(eqn.params.items(), key=lambda item: item[0]))


def _rank(atom: Atom) -> int | None:
    kind = kind_of_atom(atom)
    return kind.rank if isinstance(kind, Array) else None


def _is_real(atom: Atom) -> bool:
    kind = kind_of_atom(atom)
    if isinstance(kind, Array):
        return bool(kind.dtype) and not kind.dtype.startswith(("complex", "object"))
    return isinstance(kind, Number) and kind.type != "complex"
