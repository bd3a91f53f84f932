"""A builder that makes no equation twice and none that an identity makes simpler."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ...ir.builder import Builder
from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import Kind
from ...ops import elementwise as el
from ...rules.patterns import Expression, Operand, Rewrite, rewrites

_COMMUTATIVE = frozenset((el.add, el.mul, el.maximum, el.minimum))
Key = tuple[Any, ...]


class SharingBuilder(Builder):
    """Equations by what they compute: a request for one that is there already gives its result.

    Sharing on construction (hash-consing; A. Ershov, On programming of arithmetic operations, 1958) takes
    the same time for every equation, whatever the size of the graph.
    """

    __slots__ = ("_collecting", "_identities", "_shared", "in_derivative")

    def __init__(self, simplify: str | None):
        super().__init__(derived=simplify is not None)
        self._identities: dict[Op, list[Rewrite]] = rewrites(simplify) if simplify else {}
        self._collecting: dict[Op, list[Rewrite]] = rewrites("collecting") if simplify else {}
        self.in_derivative = False
        """Integer factors are collected in derivatives; what a user wrote stays."""
        self._shared: dict[Key, Atom] = {}

    def is_derived(self, atom: Atom) -> bool:
        """All of a graph may be simplified, not only what a derivative added."""
        return isinstance(atom, Var)

    def emit_with(
        self,
        op: Op,
        args: Sequence[Atom],
        params: Mapping[str, Atom],
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
    ) -> Atom:
        key = _key(op, args, params)
        shared = self._shared.get(key)
        if shared is not None:
            return shared
        simpler = self._simpler(op, args) if not params else None
        if simpler is None:
            simpler = super().emit_with(op, args, params, namespace, name, kind)
        self._shared[key] = simpler
        return simpler

    @contextmanager
    def derivative(self) -> Generator[None]:
        """What is made inside a `with` block belongs to a derivative."""
        before, self.in_derivative = self.in_derivative, True
        try:
            yield
        finally:
            self.in_derivative = before

    def _simpler(self, op: Op, args: Sequence[Atom]) -> Atom | None:
        found: list[Atom | None]
        collecting = self._collecting.get(op, ()) if self.in_derivative else ()
        for pattern, count, right in (*self._identities.get(op, ()), *collecting):
            found = [None] * count
            if self._matches(pattern, op, args, found):
                return self._built(right, found)
        return None

    def _matches(
        self, pattern: Expression, op: Op, args: Sequence[Atom], found: list[Atom | None]
    ) -> bool:
        """Whether an application has the form of a pattern, and what its operands then are."""
        if pattern.op is not op or len(pattern.parts) != len(args):
            return False
        orders = [tuple(args)]
        if op in _COMMUTATIVE:
            orders.append(tuple(reversed(args)))
        for order in orders:
            trial = list(found)
            pairs = zip(pattern.parts, order, strict=True)
            if all(self._matches_part(part, arg, trial) for part, arg in pairs):
                found[:] = trial
                return True
        return False

    def _matches_part(self, part: Any, arg: Atom, found: list[Atom | None]) -> bool:
        if isinstance(part, Expression):
            eqn = self.definition(arg)
            return (
                eqn is not None and not eqn.params and self._matches(part, eqn.op, eqn.args, found)
            )
        if isinstance(part, Operand):
            if part.integer and not (isinstance(arg, Const) and type(arg.value) is int):
                return False
            if found[part.number] is None:
                found[part.number] = arg
            return found[part.number] == arg
        return isinstance(arg, Const) and arg == Const(part)

    def _built(self, right: Any, found: Sequence[Atom | None]) -> Atom:
        if isinstance(right, Expression):
            return self.emit_with(right.op, [self._built(part, found) for part in right.parts], {})
        if isinstance(right, Operand):
            atom = found[right.number]
            assert atom is not None
            return atom
        return Const(right)


def _key(op: Op, args: Sequence[Atom], params: Mapping[str, Atom]) -> Key:
    """What an equation computes; a sum or product does not depend on the order of its operands."""
    if op in _COMMUTATIVE and len(args) == 2:
        args = sorted(args, key=_place)
    return (op, *args, *params.items())


def _place(atom: Atom) -> tuple[int, str]:
    return (atom.born, "") if isinstance(atom, Var) else (-1, repr(atom))
