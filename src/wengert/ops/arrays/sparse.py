"""The vocabulary of sparse matrices: a matrix is the vector of its entries, and where they stand."""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.types import Array, Kind
from ..array_kinds import Args, Params, inexact, promoted, rank_of
from ..helpers import helper


def _infer_product(args: Args, params: Params) -> Kind:
    return Array(promoted(*map(kind_of_atom, args)), rank_of(args[1]))


def _infer_outer(args: Args, params: Params) -> Kind:
    return Array(promoted(*map(kind_of_atom, args)), 1)


def _infer_solve(args: Args, params: Params) -> Kind:
    return Array(inexact(promoted(*map(kind_of_atom, args))), rank_of(args[1]))


sparse_product = helper("sparse_product", "entries, x, *, rows, cols, size", _infer_product)
sparse_outer = helper("sparse_outer", "y, x, *, rows, cols", _infer_outer)
sparse_solve = helper("sparse_solve", "entries, b, *, rows, cols", _infer_solve)
