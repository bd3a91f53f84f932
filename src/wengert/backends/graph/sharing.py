"""A builder for graphs: no node twice, whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from ...ir.graph import Atom, Var
from ...ir.op import Op
from ...ir.types import Kind
from ...rules.identities.patterns import Rewrite
from ...rules.identities.simplification import Key, SimplifyingBuilder, identities_of
from .derivatives.normal import NormalForms


class SharingBuilder(SimplifyingBuilder):
    """Shares every equation, the user's as well, and knows how far it may go in simplifying them."""

    __slots__ = ("_is_normal", "_simplify", "collects", "in_derivative", "in_row", "normal")

    def __init__(self, simplify: str | None):
        super().__init__(derived=simplify is not None)
        self.exact = True
        self._simplify = simplify
        self.collects = True
        """Whether derivatives are collected: not by a node that is computed, which products are seen through."""
        self.in_derivative = False
        """Derivatives are kept in normal form; what a user wrote stays."""
        self.in_row = False
        """Whether a row of the rule table computes what is asked for."""
        self._is_normal = False
        self.normal = NormalForms(self, self._as_it_stands)

    def emit_with(
        self,
        op: Op,
        args: Sequence[Atom],
        params: Mapping[str, Atom],
        namespace: str = "py",
        name: str = "",
        kind: Kind | None = None,
    ) -> Atom:
        asked = (
            self.in_derivative
            and self.collects
            and self._simplify is not None
            and not self._is_normal
        )
        if asked and not params and kind is None:
            found = self.normal.emitted(op, args, in_row=self.in_row)
            if found is not None:
                return found
        return super().emit_with(op, args, params, namespace, name, kind)

    def factors(self, atom: Atom) -> list[Atom]:
        """What the normal form of a node consists of, if it has one: its derivative needs theirs."""
        return [] if self._simplify is None or not self.collects else self.normal.factors(atom)

    def tangent_in_normal_form(self, var: Var, tangent_of: Callable[[Atom], Atom]) -> Atom | None:
        """The derivative of a sum of products, by those of their factors; None of anything else."""
        if self._simplify is None or not self.collects:
            return None
        return self.normal.tangent(var, tangent_of)

    def _as_it_stands(self, op: Op, args: Sequence[Atom]) -> Atom:
        """A node of a normal form, which no identity makes simpler."""
        self._is_normal = True
        try:
            return super().emit_with(op, args, {})
        finally:
            self._is_normal = False

    def identities(self, op: Op) -> Sequence[Rewrite]:
        if self._simplify is None or self._is_normal:
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
    def row(self) -> Generator[None]:
        """What is made inside a `with` block is computed by a row of the rule table."""
        before, self.in_row = self.in_row, True
        try:
            yield
        finally:
            self.in_row = before

    @contextmanager
    def derivative(self) -> Generator[None]:
        """What is made inside a `with` block belongs to a derivative."""
        before, self.in_derivative = self.in_derivative, True
        try:
            yield
        finally:
            self.in_derivative = before
