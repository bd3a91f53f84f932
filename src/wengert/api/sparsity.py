"""Jacobians that are mostly zeros: columns that have no row in common are pushed forward together.

Curtis, Powell and Reid, *On the estimation of sparse Jacobian matrices*, 1974; Griewank and Walther,
*Evaluating Derivatives*, chapter 8. A pattern is found by tangents of NaN, which reach what depends on them
even through a product with zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

from ..compile import calling
from ..compile.wanted import Verb, check_argnums
from ..errors import BadArgument
from ..ops.program.checks import counted, real_result
from .linear_maps import pullback, pushforward

Matrix = Any
"""A `scipy.sparse.csr_array`: SciPy says no types."""


class SparseJacobian:
    """A Jacobian function of which the result is a `scipy.sparse.csr_array`.

    Its rows are the numbers of the function's result, its columns those of the argument, both in C order.
    """

    def __init__(self, function: Callable[..., Any], argnum: int, mode: str, sparsity: Any):
        self.function = function
        self._argnum = argnum
        self._mode = mode
        self._given = None if isinstance(sparsity, str) else _pattern_of(sparsity)
        self._found: dict[tuple[int, int], Colouring] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Matrix:
        """The Jacobian at a point.

        Raises:
            BadArgument: where the Jacobian has entries outside the pattern that was given.
        """
        at = _At(self.function, self._argnum, args, kwargs)
        matrix = self._colouring(at).compressed(at)
        outside = at.rows_that_differ(matrix)
        if outside.size:
            self._must_be_detected(outside)
            # another branch was taken, or another neighbour came near: the pattern grows
            found = Colouring(self._found[at.shape].pattern + at.pattern(), self._mode)
            self._found[at.shape] = found
            matrix = found.compressed(at)
        return matrix

    def __repr__(self) -> str:
        return f"<sparse jacobian of {calling.shown(self.function)}>"

    def explain(self, *args: Any, **kwargs: Any) -> str:
        """How many sweeps it takes at a point, and in which mode."""
        at = _At(self.function, self._argnum, args, kwargs)
        colouring = self._colouring(at)
        sweep = "pushforward" if colouring.forward else "pullback"
        return (
            f"{counted(colouring.pattern.nnz, 'nonzero')} of {at.shape[0]} × {at.shape[1]}, by "
            f"{counted(colouring.colours, sweep)}"
        )

    def _colouring(self, at: _At) -> Colouring:
        if at.shape not in self._found:
            self._found[at.shape] = Colouring(self._pattern(at), self._mode)
        return self._found[at.shape]

    def _pattern(self, at: _At) -> Matrix:
        if self._given is None:
            return at.pattern()
        if self._given.shape == at.shape:
            return self._given
        raise BadArgument(
            f"`sparsity` has the shape {self._given.shape}, the Jacobian has {at.shape}",
            "One row for each number of the result, one column for each number of the argument.",
        )

    def _must_be_detected(self, outside: NDArray[np.intp]) -> None:
        if self._given is not None:
            raise BadArgument(
                f"the Jacobian has an entry outside the given `sparsity`, in row {outside[0]}",
                "The pattern has to hold wherever the function is called; sparsity='detect' finds it.",
            )


class Colouring:
    """Columns (or rows) in groups of which no two have an entry in the same row (column)."""

    def __init__(self, pattern: Matrix, mode: str):
        self.pattern = sparse.csr_array(pattern, dtype=bool)
        by_mode = {"forward": self.pattern, "reverse": sparse.csr_array(self.pattern.T)}
        if mode != "auto":
            by_mode = {mode: by_mode[mode]}
        colours = {mode: _colours(matrix) for mode, matrix in by_mode.items()}
        taken = min(colours, key=lambda mode: int(colours[mode].max(initial=0)))
        self.forward = taken == "forward"
        self._of = colours[taken]
        self.colours = int(self._of.max(initial=-1)) + 1

    def compressed(self, at: _At) -> Matrix:
        """The matrix at a point, from one sweep for each colour."""
        sweep = at.pushed if self.forward else at.pulled
        sums = [sweep((self._of == colour).astype(float)) for colour in range(self.colours)]
        entries = self.pattern.tocoo()
        rows, columns = entries.row, entries.col
        kept, across = (rows, columns) if self.forward else (columns, rows)
        values = np.array(sums)[self._of[across], kept] if sums else np.zeros(0)
        return sparse.csr_array((values, (rows, columns)), shape=self.pattern.shape)


def _colours(pattern: Matrix) -> NDArray[np.intp]:
    """A colour for each column: the first that no column with a common row has."""
    counts = pattern.astype(np.intp)
    touching = sparse.csr_array(counts.T @ counts)
    colours = np.full(pattern.shape[1], -1)
    for column in range(pattern.shape[1]):
        near = touching.indices[touching.indptr[column] : touching.indptr[column + 1]]
        taken = colours[near]
        free = np.ones(len(taken) + 1, bool)
        free[taken[(taken >= 0) & (taken < len(free))]] = False
        colours[column] = np.argmax(free)
    return colours


class _At:
    """A function at a point, as a linear map between flat vectors."""

    def __init__(
        self,
        function: Callable[..., Any],
        argnum: int,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ):
        check_argnums(Verb("written", (argnum,), single=True), function, args, kwargs)
        self._function, self._args, self._kwargs = function, args, kwargs
        self._argnum = argnum % len(args)
        self._x = args[self._argnum]
        if np.iscomplexobj(self._x) or not isinstance(self._x, (np.ndarray, list, tuple)):
            raise BadArgument(
                f"`sparsity` is for real arrays and lists of numbers, not {type(self._x).__name__}",
                "Leave it out, or differentiate a function of one array.",
            )
        y, self._push = pushforward(function, *args, **kwargs)
        if isinstance(y, dict):
            raise BadArgument(
                "a sparse Jacobian needs an array as the result, not a dictionary",
                "Leave `sparsity` away, or give back one array.",
            )
        self._y = np.asarray(y)
        real_result(self._y)
        self._back: Callable[..., Any] | None = None
        self.shape = (self._y.size, np.size(self._x))

    def pushed(self, v: NDArray[Any]) -> NDArray[Any]:
        """The Jacobian times a vector."""
        tangents: list[Any] = [None] * len(self._args)
        tangents[self._argnum] = _like(self._x, v)
        return np.ravel(np.asarray(self._push(*tangents)))

    def pulled(self, u: NDArray[Any]) -> NDArray[Any]:
        """The transposed Jacobian times a vector."""
        if self._back is None:
            flat = lambda *args, **kwargs: np.asarray(self._function(*args, **kwargs))
            _, self._back = pullback(flat, *self._args, **self._kwargs)
        back = self._back(_like(self._y, u))
        return np.ravel(np.asarray(back[self._argnum]))

    def pattern(self) -> Matrix:
        """Which numbers of the result depend on which of the argument, on the path that is taken."""
        across, length = min((self.shape[1], "columns"), (self.shape[0], "rows"))
        sweep = self.pushed if length == "columns" else self.pulled
        found = [np.flatnonzero(np.isnan(sweep(_nan_at(k, across)))) for k in range(across)]
        of = np.repeat(np.arange(across), [len(each) for each in found])
        others = np.concatenate([np.zeros(0, np.intp), *found])
        places = (others, of) if length == "columns" else (of, others)
        return sparse.csr_array((np.ones(len(of), bool), places), shape=self.shape)

    def rows_that_differ(self, matrix: Matrix) -> NDArray[np.intp]:
        """The rows where a product with a random vector shows that the matrix is not the Jacobian."""
        v = np.random.default_rng(0).uniform(0.5, 1.0, self.shape[1])
        expected = self.pushed(v)
        scale = abs(matrix) @ v + np.abs(expected)
        tolerance = np.sqrt(np.finfo(np.result_type(expected, np.float16)).eps) * scale
        product = matrix @ v
        same = (np.abs(product - expected) <= tolerance) | (product == expected)
        return np.flatnonzero(~same & ~(np.isnan(product) & np.isnan(expected)))


def _nan_at(k: int, length: int) -> NDArray[Any]:
    v = np.zeros(length)
    v[k] = np.nan
    return v


def _like(value: Any, v: NDArray[Any]) -> Any:
    """A flat vector in the form of a value."""
    if isinstance(value, np.ndarray):
        return v.reshape(value.shape)
    if isinstance(value, (list, tuple)):
        return type(value)(v.tolist())
    return float(v[0])


def _pattern_of(sparsity: Any) -> Matrix:
    """What was given as a pattern: any sparse or dense matrix; what is not zero may be an entry."""
    pattern = sparsity if sparse.issparse(sparsity) else np.asarray(sparsity)
    if pattern.ndim != 2:
        raise BadArgument(
            f"`sparsity` must be a matrix or 'detect', not an array of shape {pattern.shape}",
            "One row for each number of the result, one column for each number of the argument.",
        )
    return sparse.csr_array(sparse.csr_array(pattern) != 0)
