"""Solutions of initial value problems by collocation, at the times where a solver has stopped.

Radau IIA (Hairer and Wanner, *Solving Ordinary Differential Equations II*, IV.5) is stable for stiff problems
and takes steps as long as those of LSODA, BDF and Radau. Here all steps are one system of equations: its
unknowns are the values at the nodes of each step, its Jacobian couples a step with the one before it only.

The text of these functions is copied into saved derivatives, so each uses NumPy, SciPy and the others only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse, special  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse import linalg as sparse_linalg  # pyright: ignore[reportMissingTypeStubs]

_LARGE = 64
"""From how many unknowns in a step on its matrix is factored as a sparse one."""


class Collocation:
    """Values at the nodes of all steps, and how systems with the Jacobian of their equations are solved.

    Attributes:
        stops: the times between which there is one step each.
        nodes: the nodes of a step, as shares of it.
        matrix: of the slopes at the nodes; what they add to a value, relative to the length of the step.
        values: one row for each node of each step.
    """

    def __init__(self, stops: Any, nodes: Any, matrix: Any, values: Any, steps: Any, exact: float):
        self.stops = stops
        self.nodes = nodes
        self.matrix = matrix
        self.values = values
        self.steps = steps
        self.exact = exact

    def __call__(self, matvec: Callable[[Any], Any], b: Any) -> Any:
        """The v with `matvec(v) == b`, where that multiplies with the Jacobian."""
        found = self._refined(matvec, b, transposed=False)
        return self._anew(matvec, b, transposed=False) if found is None else found

    def transposed(self, matvec: Callable[[Any], Any], b: Any) -> Any:
        """The same where `matvec` multiplies with the transpose."""
        found = self._refined(matvec, b, transposed=True)
        return self._anew(matvec, b, transposed=True) if found is None else found

    def _refined(self, matvec: Callable[[Any], Any], b: Any, transposed: bool) -> Any:
        """The slopes that the steps are made of are differences: what they leave is solved for again.

        None if they are too far off.
        """
        solve = self.steps.backwards if transposed else self.steps.forwards
        shape = self.values.shape
        found, left, before = np.zeros(shape), np.reshape(b, shape), math.inf
        while True:
            found = found + solve(left)
            left = np.reshape(b - matvec(np.ravel(found)), shape)
            now = self._off(left, found)
            if now <= self.exact:
                return np.ravel(found)
            if not now < 0.1 * before:
                return np.ravel(found) if np.linalg.norm(left) <= 1e-6 * np.linalg.norm(b) else None
            before = now

    def _off(self, left: Any, found: Any) -> Any:
        """How much is left, relative to what is found of the same component: some may be small beside others."""
        size = np.max(np.abs(found), axis=(0, 1), initial=0.0)
        off = np.max(np.abs(left), axis=(0, 1), initial=0.0)
        return np.max(off / np.where(size > 0, size, 1.0), initial=0.0)

    def _anew(self, matvec: Callable[[Any], Any], b: Any, transposed: bool) -> Any:
        """The same with the Jacobian itself, from its products with a vector for each component."""
        lengths = np.diff(self.stops)
        made = products if not transposed else transposed_products
        jacobians = made(matvec, lengths, self.matrix, self.values.shape)
        self.steps = steps_of(lengths, self.matrix, jacobians)
        found = self._refined(matvec, b, transposed)
        if found is None:
            raise ArithmeticError(
                "the steps of this solver cannot be differentiated: their equations are singular. Ask the "
                "solver for smaller errors."
            )
        return found


def products(matvec: Callable[[Any], Any], lengths: Any, matrix: Any, shape: Any) -> Any:
    """The Jacobian of the slope at each node, from products with that of all equations."""
    found = np.empty((*shape, shape[-1]))
    inverse = np.linalg.inv(matrix) / lengths[:, None, None]
    for i in range(shape[-1]):
        v = np.zeros(shape)
        v[..., i] = 1.0
        rest = v - np.reshape(matvec(np.ravel(v)), shape)
        rest[1:, :, i] -= 1.0
        found[..., i] = inverse @ rest
    return found


def transposed_products(matvec: Callable[[Any], Any], lengths: Any, matrix: Any, shape: Any) -> Any:
    """The same from products with the transpose."""
    found = np.empty((*shape, shape[-1]))
    inverse = np.sum(np.linalg.inv(matrix), axis=0) / lengths[:, None]
    for i in range(shape[-1]):
        v = np.zeros(shape)
        v[..., i] = inverse
        rest = v - np.reshape(matvec(np.ravel(v)), shape)
        rest[:-1, -1, i] -= np.sum(inverse[1:], axis=1)
        found[..., i, :] = rest
    return found


def collocate(
    slope: Callable[..., Any],
    start: Any,
    stops: Any,
    needed: bool,
    solution: Callable[[Any], Any],
    rtol: Any,
    atol: Any,
) -> Collocation:
    """The collocation that follows a solution, with steps short enough for its tolerances.

    Args:
        slope: of time and state.
        start: the state at the first time.
        stops: the times where the solver has stopped, and those that are asked for.
        needed: whether there is to be one; else it has no steps.
        solution: what it found, of an array of times; one column for each.
        rtol: the relative error that was allowed.
        atol: the absolute error, of each component or of all.
    """
    if not needed or len(stops) < 2:
        nodes, matrix = radau(2)
        shape = (0, 2, len(start))
        steps = SmallSteps(np.zeros(0), matrix, np.zeros((*shape, len(start))))
        return Collocation(stops, nodes, matrix, np.zeros(shape), steps, 0.0)
    stages = 2 if np.min(rtol) > 1e-7 else 3 if np.min(rtol) > 1e-9 else 5
    rounds = 5
    while True:
        found, mismatch = follow(slope, start, stops, solution, rtol, atol, *radau(stages))
        rounds -= 1
        if not (rounds and np.max(mismatch, initial=0.0) > 3.0):
            return found
        if stages == 5:
            pieces = np.ceil(np.clip(np.nan_to_num(mismatch), 1.0, 1e6) ** (1.0 / 9))
            stops = subdivided(stops, pieces.astype(int))
        stages = 3 if stages == 2 else 5


def subdivided(stops: Any, pieces: Any) -> Any:
    """Times with further ones between them, so that each interval is in so many pieces."""
    parts = [
        np.linspace(stops[k], stops[k + 1], count, endpoint=False) for k, count in enumerate(pieces)
    ]
    return np.concatenate([*parts, stops[-1:]])


def radau(stages: int) -> tuple[Any, Any]:
    """Nodes and matrix of Radau IIA."""
    inner = special.roots_jacobi(stages - 1, 1.0, 0.0)[0]
    nodes = np.append((1.0 + inner) / 2, 1.0)
    powers = np.arange(1, stages + 1)
    matrix = (nodes[:, None] ** powers / powers) @ np.linalg.inv(nodes[:, None] ** (powers - 1))
    return nodes, matrix


def follow(
    slope: Callable[..., Any],
    start: Any,
    stops: Any,
    solution: Callable[[Any], Any],
    rtol: float,
    atol: Any,
    nodes: Any,
    matrix: Any,
) -> tuple[Collocation, Any]:
    """The values at the nodes by Newton's method, from those of a solution.

    Returns:
        Them, and by how much each step misses the solution at its end, relative to what is allowed.
    """
    lengths = np.diff(stops)
    times = np.ravel(stops[:-1, None] + lengths[:, None] * nodes)
    shape = (len(lengths), len(nodes), len(start))
    values = np.reshape(np.transpose(solution(times)), shape)
    allowed = atol + rtol * np.abs(values)
    scale = np.maximum(np.max(np.abs(values), axis=(0, 1), initial=0.0), np.abs(start))

    def equations(values: Any) -> Any:
        points = zip(times, np.reshape(values, (-1, len(start))), strict=True)
        slopes = np.reshape([slope(t, y) for t, y in points], shape)
        before = np.concatenate([start[None], values[:-1, -1]])
        return values - before[:, None, :] - lengths[:, None, None] * (matrix @ slopes), slopes

    left, slopes = equations(values)
    steps = steps_by_differences(
        slope, times, lengths, matrix, values, slopes, np.maximum(1e-3 * scale, atol)
    )
    local = steps.forwards(left, coupled=False)[:, -1]
    mismatch = np.max(np.abs(local) / allowed[:, -1], axis=1, initial=0.0)
    values = _by_newton(equations, steps, values, left, allowed)
    exact = min(max(0.1 * np.min(rtol), 1e-11), 1e-4)
    return Collocation(stops, nodes, matrix, values, steps, exact), mismatch


def _by_newton(equations: Any, steps: Any, values: Any, left: Any, allowed: Any) -> Any:
    """The values at the nodes, from those of the solver: these where the method does not converge."""
    found, before = values, math.inf
    for _ in range(8):
        change = steps.forwards(left)
        size = np.max(np.abs(change) / allowed, initial=0.0)
        if not size < before:
            break
        found, before = found - change, size
        if size <= 1.0:
            return found
        left, _ = equations(found)
    return values


def steps_by_differences(
    slope: Any, times: Any, lengths: Any, matrix: Any, values: Any, slopes: Any, least: Any
) -> Any:
    """The matrices of all steps from differences of the slope, as exact as Newton's method asks.

    Of many components those are moved together of which no two change the same one at the first node or the last.
    """
    count, stages, n = values.shape
    points, at = np.reshape(values, (-1, n)), np.reshape(slopes, (-1, n))
    moves = 1.5e-8 * np.maximum(np.abs(points), least)
    moves = (points + np.where(moves > 0, moves, 1.5e-8)) - points
    each = list(np.arange(n)[:, None])
    if n * stages < _LARGE:
        changes = [_moved(slope, *of, each) for of in zip(times, points, at, moves, strict=True)]
        found = np.swapaxes(changes, 1, 2) / moves[:, None, :]
        return SmallSteps(lengths, matrix, np.reshape(found, (count, stages, n, n)))
    reached = np.zeros((n, n), dtype=bool)
    for k in (0, -1):
        reached |= _moved(slope, times[k], points[k], at[k], moves[k], each).T != 0
    groups = apart(reached)
    rows, columns = np.nonzero(reached)
    member = np.empty(n, dtype=int)
    for k, group in enumerate(groups):
        member[group] = k
    found = np.empty((len(times), len(rows)))
    for k, of in enumerate(zip(times, points, at, moves, strict=True)):
        found[k] = _moved(slope, *of, groups)[member[columns], rows] / moves[k, columns]
    parts = np.reshape(found, (count, stages, len(rows)))
    return LargeSteps(lengths, matrix, n, rows, columns, parts)


def _moved(slope: Any, t: Any, y: Any, at: Any, moves: Any, together: Any) -> Any:
    """By how much the slope changes where groups of components move, one row for each group."""
    found = []
    for columns in together:
        moved = y.copy()
        moved[columns] += moves[columns]
        found.append(slope(t, moved))
    return np.array(found) - at


def apart(reached: Any) -> list[Any]:
    """Components in groups, no two of which change the same one.

    Args:
        reached: a row for each component, true where another changes it.
    """
    groups: list[list[int]] = []
    taken: list[Any] = []
    for i in range(len(reached)):
        k = next((k for k, rows in enumerate(taken) if not np.any(rows & reached[:, i])), None)
        if k is None:
            groups.append([i])
            taken.append(reached[:, i].copy())
        else:
            groups[k].append(i)
            taken[k] |= reached[:, i]
    return [np.array(group) for group in groups]


# --- the linear systems -------------------------------------------------------------------


def steps_of(lengths: Any, matrix: Any, jacobians: Any) -> Any:
    """The matrices 1 - h (A ⊗ J) of all steps, such that systems with them are solved."""
    _, stages, n = jacobians.shape[:3]
    if stages * n < _LARGE:
        return SmallSteps(lengths, matrix, jacobians)
    rows, columns = np.nonzero(np.any(jacobians != 0, axis=(0, 1)))
    return LargeSteps(lengths, matrix, n, rows, columns, jacobians[:, :, rows, columns])


class SmallSteps:
    """Matrices that are inverted, all at once."""

    def __init__(self, lengths: Any, matrix: Any, jacobians: Any):
        count, stages, n = jacobians.shape[:3]
        size = stages * n
        blocks = lengths[:, None, None, None, None] * np.einsum("ij,kjab->kiajb", matrix, jacobians)
        self.inverse = np.linalg.inv(np.eye(size) - np.reshape(blocks, (count, size, size)))
        self.of_end = np.sum(np.reshape(self.inverse, (count, size, stages, n)), axis=2)

    def forwards(self, b: Any, coupled: bool = True) -> Any:
        """Values at the nodes, where each step begins at the end of the one before it."""
        count, stages, n = b.shape
        alone = (self.inverse @ np.reshape(b, (count, stages * n, 1)))[..., 0]
        if not coupled:
            return np.reshape(alone, b.shape)
        ends, end = np.empty((count, n, 1)), np.zeros(n)
        for k, (at_end, carried) in enumerate(zip(alone[:, -n:], self.of_end[:, -n:], strict=True)):
            ends[k, :, 0] = end
            end = at_end + carried @ end
        return np.reshape(alone + (self.of_end @ ends)[..., 0], b.shape)

    def backwards(self, b: Any) -> Any:
        """The same for the transposed system."""
        count, stages, n = b.shape
        alone = (np.reshape(b, (count, 1, stages * n)) @ self.inverse)[:, 0]
        sums = np.sum(np.reshape(alone, (count, stages, n)), axis=1)
        laters, later = np.empty((count, 1, n)), np.zeros(n)
        for k in reversed(range(count)):
            laters[k, 0] = later
            later = sums[k] + later @ self.of_end[k, -n:]
        return np.reshape(alone + (laters @ self.inverse[:, -n:])[:, 0], b.shape)


class LargeSteps:
    """Matrices in factors, which are sparse as far as the Jacobians are: these have entries in some places only."""

    def __init__(self, lengths: Any, matrix: Any, n: int, rows: Any, columns: Any, jacobians: Any):
        stages = len(matrix)
        i, j = np.divmod(np.arange(stages * stages), stages)
        places = (np.add.outer(i * n, rows).ravel(), np.add.outer(j * n, columns).ravel())
        one = sparse.eye_array(stages * n, format="csc")
        self.factors = []
        for length, jacobian in zip(lengths, jacobians, strict=True):
            parts = length * matrix[i, j][:, None] * jacobian[j]
            added = sparse.csc_array((parts.ravel(), places), shape=one.shape)
            self.factors.append(sparse_linalg.splu(one - added))

    def forwards(self, b: Any, coupled: bool = True) -> Any:
        """Values at the nodes, where each step begins at the end of the one before it."""
        found, end = np.empty(b.shape), 0.0
        for k, factors in enumerate(self.factors):
            found[k] = np.reshape(factors.solve(np.ravel(b[k] + end)), b.shape[1:])
            end = found[k, -1] if coupled else 0.0
        return found

    def backwards(self, b: Any) -> Any:
        """The same for the transposed system."""
        found, later = np.empty(b.shape), 0.0
        for k in reversed(range(len(self.factors))):
            right = b[k].copy()
            right[-1] += later
            found[k] = np.reshape(self.factors[k].solve(right.ravel(), "T"), b.shape[1:])
            later = np.sum(found[k], axis=0)
        return found
