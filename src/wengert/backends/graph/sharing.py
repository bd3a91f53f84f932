"""A builder for graphs: no node twice, whoever asks for it."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from ...ir.graph import Atom, Var
from ...ir.op import Op
from ...rules.patterns import Rewrite
from ...rules.simplification import Key, SimplifyingBuilder, identities_of


class SharingBuilder(SimplifyingBuilder):
    """Shares every equation, the user's as well, and knows how far it may go in simplifying them."""

    __slots__ = ("_simplify", "in_derivative")

    def __init__(self, simplify: str | None):
        super().__init__(derived=simplify is not None)
        self.exact = True
        self._simplify = simplify
        self.in_derivative = False
        """Integer factors are collected in derivatives; what a user wrote stays."""

    def identities(self, op: Op) -> Sequence[Rewrite]:
        if self._simplify is None:
            return ()
        more = ("derivatives of terms",) if self.in_derivative else ()
        return identities_of((self._simplify, *more), op)

    def may_share(self, op: Op, args: Sequence[Atom]) -> bool:
        return True

    def may_rewrite(self, args: Sequence[Atom]) -> bool:
        return True

    def is_derived(self, atom: Atom) -> bool:
        """All of a graph may be simplified, not only what a derivative added."""
        return isinstance(atom, Var)

    def key(self, op: Op, args: Sequence[Atom], params: Mapping[str, Atom], namespace: str) -> Key:
        return super().key(op, args, params, "")

    @contextmanager
    def derivative(self) -> Generator[None]:
        """What is made inside a `with` block belongs to a derivative."""
        before, self.in_derivative = self.in_derivative, True
        try:
            yield
        finally:
            self.in_derivative = before
