"""Distances of `scipy.spatial.distance`, in Python: between all rows of two tables, or of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import spatial  # pyright: ignore[reportMissingTypeStubs]
from scipy.spatial import distance  # pyright: ignore[reportMissingTypeStubs]

from ....ops.program.refusals import FORMULA, uncovered
from ....ops.structure import stop_gradient
from .. import manifest
from ..same_names import same_names
from .linalg import orthogonal_procrustes


def _minkowski(a: Any, b: Any, p: Any = 2) -> Any:
    return np.sum(np.abs(a - b) ** p, axis=-1) ** (1 / p)


def _cosine(a: Any, b: Any) -> Any:
    lengths = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return 1 - np.sum(a * b, axis=-1) / lengths


def _centred(a: Any) -> Any:
    return a - np.mean(a, axis=-1, keepdims=True)


def _canberra(a: Any, b: Any) -> Any:
    sums = np.abs(a) + np.abs(b)
    return np.sum(np.where(sums == 0, 0.0, np.abs(a - b) / np.where(sums == 0, 1.0, sums)), axis=-1)


_METRICS: dict[str, Callable[..., Any]] = {
    "euclidean": lambda a, b: np.linalg.norm(a - b, axis=-1),
    "sqeuclidean": lambda a, b: np.sum((a - b) ** 2, axis=-1),
    "cityblock": lambda a, b: np.sum(np.abs(a - b), axis=-1),
    "chebyshev": lambda a, b: np.max(np.abs(a - b), axis=-1),
    "minkowski": _minkowski,
    "cosine": _cosine,
    "correlation": lambda a, b: _cosine(_centred(a), _centred(b)),
    "canberra": _canberra,
    "braycurtis": lambda a, b: np.sum(np.abs(a - b), axis=-1) / np.sum(np.abs(a + b), axis=-1),
}
"""By SciPy's name: the distances between the last axes of two arrays."""


def _pairs(a: Any, b: Any, metric: Any, options: Any) -> Any:
    """The distance between the rows of two tables that stand at the same place."""
    if not isinstance(metric, str):
        return np.array([metric(u, v, **options) for u, v in zip(a, b, strict=True)])
    if metric not in _METRICS:
        raise uncovered(f"the distance {metric!r}", FORMULA)
    return _METRICS[metric](a, b, **options)


def cdist(XA: Any, XB: Any, metric: Any = "euclidean", **options: Any) -> Any:
    """`scipy.spatial.distance.cdist`."""
    a, b = np.asarray(XA), np.asarray(XB)
    rows, columns = np.indices((len(a), len(b)))
    found = _pairs(a[np.ravel(rows)], b[np.ravel(columns)], metric, options)
    return np.reshape(found, (len(a), len(b)))


def pdist(X: Any, metric: Any = "euclidean", **options: Any) -> Any:
    """`scipy.spatial.distance.pdist`."""
    x = np.asarray(X)
    first, second = np.triu_indices(len(x), 1)
    return _pairs(x[first], x[second], metric, options)


def squareform(X: Any, force: Any = "no", checks: Any = True) -> Any:
    """`scipy.spatial.distance.squareform`."""
    x = np.ascontiguousarray(X)
    if np.ndim(x) == 2:
        return x[np.triu_indices(len(x), 1)]
    size = round((1 + (1 + 8 * len(x)) ** 0.5) / 2)
    first, second = np.triu_indices(size, 1)
    whole = np.zeros((size, size))
    whole[first, second] = x
    whole[second, first] = x
    return whole


def procrustes(data1: Any, data2: Any) -> Any:
    """`scipy.spatial.procrustes`."""
    first, second = _standard(data1), _standard(data2)
    turn, scale = orthogonal_procrustes(first, second)
    second = second @ np.transpose(turn) * scale
    return first, second, np.sum((first - second) ** 2)


def _standard(points: Any) -> Any:
    points = np.asarray(points) - np.mean(points, axis=0)
    return points / np.sqrt(np.sum(points * points))


def _one(metric: str) -> Callable[..., Any]:
    def between(u: Any, v: Any) -> Any:
        return _METRICS[metric](np.asarray(u), np.asarray(v))

    return between


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (spatial.procrustes, procrustes),
    *same_names(distance, globals()),
    *((getattr(distance, metric), _one(metric)) for metric in _METRICS if metric != "minkowski"),
    (distance.minkowski, lambda u, v, p=2: _minkowski(np.asarray(u), np.asarray(v), p)),
]


_tree: Any = spatial.cKDTree  # pyright: ignore[reportAttributeAccessIssue]


def _nearest(tree: Any, x: Any, k: Any, eps: Any, p: Any) -> Any:
    return _tree.query(tree, x, k, eps, p)[1]


class Tree:
    """`scipy.spatial.KDTree`: which points are the nearest is constant, how far they are is not."""

    def __init__(self, tree: Any):
        self.tree = tree
        self.data = tree.data

    def query(self, x: Any, k: Any = 1, eps: Any = 0.0, p: Any = 2.0) -> Any:
        at = np.asarray(x)
        which = manifest.as_it_is(_nearest, self.tree, stop_gradient(at), k, eps, p)
        apart = (at if k == 1 else np.expand_dims(at, -2)) - self.data[which]
        return np.linalg.norm(apart, ord=p, axis=-1), which


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for a method of a tree that was made outside."""
    owner: Any = getattr(function, "__self__", None)
    return getattr(Tree(owner), function.__name__, None) if isinstance(owner, _tree) else None
