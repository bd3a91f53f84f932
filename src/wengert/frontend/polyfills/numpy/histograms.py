"""NumPy's histograms, in Python: the front end reads these instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogram`: linear in the weights, piecewise constant in what is counted."""
    a = np.ravel(a)
    edges = _edges(a, bins, range)
    last = np.shape(edges)[0] - 2
    inside = (a >= edges[0]) & (a <= edges[-1])
    places = _places(a[inside], edges)
    if weights is None:
        counts = np.bincount(places, minlength=last + 1)
    else:
        weights = np.ravel(weights)
        counts = np.bincount(places, weights[inside], minlength=last + 1).astype(weights.dtype)
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


def _edges(a: Any, bins: Any, range: Any) -> Any:
    """The edges of the bins of a histogram."""
    if np.ndim(bins) == 1:
        return array_of(bins)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    low, high = (np.min(a), np.max(a)) if range is None else range
    apart = np.where(low == high, 0.5, 0.0)
    return np.linspace(low - apart, high + apart, bins + 1)


def _places(a: Any, edges: Any) -> Any:
    """The bin that each value is in; the last one holds its upper edge too."""
    last = np.shape(edges)[0] - 2
    return np.clip(np.searchsorted(edges, a, side="right") - 1, 0, last)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogram2d`: linear in the weights, piecewise constant in what is counted."""
    x, y = np.ravel(x), np.ravel(y)
    two = not isinstance(bins, (list, tuple))
    of_x = _edges(x, bins if two else bins[0], None if range is None else range[0])
    of_y = _edges(y, bins if two else bins[1], None if range is None else range[1])
    rows, columns = np.shape(of_x)[0] - 1, np.shape(of_y)[0] - 1
    inside = (x >= of_x[0]) & (x <= of_x[-1]) & (y >= of_y[0]) & (y <= of_y[-1])
    places = _places(x[inside], of_x) * columns + _places(y[inside], of_y)
    given = np.ones(np.shape(x)[0]) if weights is None else np.ravel(weights)
    counts = np.bincount(places, given[inside], minlength=rows * columns)
    counts = np.reshape(counts, (rows, columns))
    if density:
        counts = counts / np.outer(np.diff(of_x), np.diff(of_y)) / np.sum(counts)
    return counts, of_x, of_y
