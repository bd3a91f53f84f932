"""Functions of a symmetric matrix, V f(w) Vᵀ, which have derivatives where eigenvalues are equal.

In: a program, before it is differentiated. Out: the same program, in which such products have the derivative of a
function of the matrix: that of the vectors, which can be chosen in any way, has no part in it. They are found as
`(V * f) @ V.T`, `V @ np.diag(f) @ V.T`, `V @ (f[:, None] * V.T)` and, of a vector, as `V @ (f * (V.T @ y))`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ir.builder import Builder
from ...ir.graph import TRY, Atom, Block, Const, Eqn, Function, Var, walk
from ...ir.records import replace
from ...ir.renaming import clone, renamed_atom, renamed_eqn
from ...ir.types import Array
from ...ops import registry, structure as st
from .vectors import rank_of_array

_PRODUCTS = frozenset(("matmul", "dot"))
_TRANSPOSES = frozenset(("transpose", "matrix_transpose", "swapaxes"))


class Scaled(NamedTuple):
    """The eigenvectors of `eqn`, each of them times an element of `factor` if there is one; `across`: as rows."""

    eqn: Eqn
    factor: Atom | None = None
    across: bool = False


def with_matrix_functions(function: Function) -> Function:
    """The function, in which functions of a matrix by its eigenvectors are differentiated as such."""
    body = function.body
    if not any(eqn.op.name == "eigh" for eqn in walk(body)):
        return function
    return replace(function, body=_Finder(body).run())


class _Finder:
    """Looks for functions of a matrix in a block; those of inner blocks stay as they are."""

    def __init__(self, block: Block):
        self.block = block
        self.defined = {out: eqn for eqn in block.eqns for out in eqn.outs}
        self.builder = Builder()
        self.same: dict[Var, Atom] = {}

    def run(self) -> Block:
        same = self.same
        for old in self.block.eqns:
            eqn = renamed_eqn(old, same)
            self.builder.append(eqn)
            self.builder.span = eqn.span
            if eqn.op is TRY or eqn.op.name not in _PRODUCTS or eqn.params:
                continue
            smooth = self._function_of_matrix(old)
            if smooth is not None:
                (out,) = eqn.outs
                valued = clone(out)
                args = (out, smooth)
                self.builder.append(Eqn((valued,), st.valued, args, {}, (), "py", eqn.span))
                same[out] = valued
        outs = tuple(renamed_atom(out, same) for out in self.block.outs)
        return Block(self.block.params, tuple(self.builder.eqns), outs)

    def _function_of_matrix(self, eqn: Eqn) -> Atom | None:
        left, right = eqn.args
        columns = self._scaled(left)
        if columns is None or columns.across:
            return None
        rows = self._scaled(right)
        if rows is not None:
            factors = [each for each in (columns.factor, rows.factor) if each is not None]
            if not rows.across or rows.eqn is not columns.eqn or len(factors) != 1:
                return None
            return self._spectral(columns.eqn, factors[0])
        return self._applied(columns, right)

    def _applied(self, columns: Scaled, to: Atom) -> Atom | None:
        """V (f ∘ Vᵀ y), of a vector y."""
        factor = columns.factor
        eqn = self._definition(to)
        if (
            factor is None
            and eqn is not None
            and eqn.op.name in ("mul", "div")
            and rank_of_array(to) == 1
        ):
            products = [arg for arg in eqn.args if self._is_projected(arg, columns)]
            if len(products) != 1 or (eqn.op.name == "div" and products[0] is not eqn.args[0]):
                return None
            other = eqn.args[1] if products[0] is eqn.args[0] else eqn.args[0]
            factor = other if eqn.op.name == "mul" else self._reciprocal(other)
            eqn = self._definition(products[0])
        if factor is None or eqn is None or not self._is_projected(eqn.outs[0], columns):
            return None
        whole = self._spectral(columns.eqn, factor)
        vector = renamed_atom(eqn.args[1], self.same)
        return self.builder.emit(registry.named("matmul"), whole, vector)

    def _is_projected(self, atom: Atom, columns: Scaled) -> bool:
        """Whether a value is Vᵀ y."""
        eqn = self._definition(atom)
        if eqn is None or eqn.op.name not in _PRODUCTS or eqn.params:
            return False
        rows = self._scaled(eqn.args[0])
        return rows is not None and rows.across and rows.factor is None and rows.eqn is columns.eqn

    # --- eigenvectors -------------------------------------------------------------------

    def _scaled(self, atom: Atom) -> Scaled | None:
        eqn = self._definition(atom)
        if eqn is None or rank_of_array(atom) != 2:
            return None
        vectors = self._eigenvectors(eqn)
        if vectors is not None:
            return Scaled(vectors)
        name = eqn.op.name
        if name in _TRANSPOSES:
            inner = self._scaled(eqn.args[0])
            return None if inner is None else inner._replace(across=not inner.across)
        if name in _PRODUCTS and not eqn.params:
            return self._times_diagonal(self._scaled(eqn.args[0]), self._definition(eqn.args[1]))
        if name not in ("mul", "div"):
            return None
        first, second = (self._scaled(arg) for arg in eqn.args)
        if first is None and name == "mul":
            first, factor = second, eqn.args[0]
        else:
            factor = eqn.args[1]
        return self._times(first, factor, inverse=name == "div")

    def _times_diagonal(self, vectors: Scaled | None, diagonal: Eqn | None) -> Scaled | None:
        """V @ np.diag(f)."""
        if vectors is None or vectors.factor is not None or vectors.across:
            return None
        if diagonal is None or diagonal.op.name != "diag" or diagonal.params:
            return None
        return vectors._replace(factor=diagonal.args[0])

    def _times(self, vectors: Scaled | None, factor: Atom, *, inverse: bool) -> Scaled | None:
        if vectors is None or vectors.factor is not None:
            return None
        along: Atom | None = factor if rank_of_array(factor) == 1 and not vectors.across else None
        eqn = self._definition(factor)
        if (
            vectors.across
            and eqn is not None
            and eqn.op is st.getitem
            and rank_of_array(eqn.args[0]) == 1
        ):
            index = eqn.args[1].value if isinstance(eqn.args[1], Const) else None
            along = eqn.args[0] if index == (slice(None), None) else None
        if along is None:
            return None
        return vectors._replace(factor=self._reciprocal(along) if inverse else along)

    def _eigenvectors(self, eqn: Eqn) -> Eqn | None:
        """The equation of `eigh` whose eigenvectors another one takes, of one real matrix."""
        key = eqn.params.get("name") if eqn.op is st.getattr_ else eqn.args[1:] and eqn.args[1]
        if eqn.op not in (st.getattr_, st.getitem) or key not in (Const("eigenvectors"), Const(1)):
            return None
        found = self._definition(eqn.args[0])
        kind = eqn.outs[0].kind
        is_real = isinstance(kind, Array) and kind.dtype.startswith("float") and kind.rank == 2
        return found if found is not None and found.op.name == "eigh" and is_real else None

    # --- building -----------------------------------------------------------------------

    def _definition(self, atom: Atom) -> Eqn | None:
        return self.defined.get(atom) if isinstance(atom, Var) else None

    def _reciprocal(self, x: Atom) -> Atom:
        return self.builder.emit(registry.named("div"), Const(1.0), renamed_atom(x, self.same))

    def _spectral(self, eqn: Eqn, factor: Atom) -> Atom:
        (factors,) = eqn.outs
        parts = [
            self.builder.emit_with(st.getattr_, (factors,), {"name": Const(name)})
            for name in ("eigenvalues", "eigenvectors")
        ]
        matrix = renamed_atom(eqn.args[0], self.same)
        args = (renamed_atom(factor, self.same), Const(None), matrix, *parts)
        return self.builder.emit_with(registry.named("spectral"), args, eqn.params)
