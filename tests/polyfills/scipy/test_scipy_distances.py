"""Distances of `scipy.spatial`: their values are SciPy's, their derivatives the differences'."""

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("scipy")
from scipy.spatial import distance
from scipy.spatial.distance import cdist, pdist, squareform

RNG = np.random.default_rng(3)
ROWS, OTHERS = RNG.normal(size=(5, 3)), RNG.normal(size=(4, 3))
METRICS = [
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra",
    "braycurtis",
]  # fmt: skip
PROGRAMS = {
    **{f"cdist {m}": lambda x, m=m: cdist(x, OTHERS, m) for m in METRICS},
    **{f"pdist {m}": lambda x, m=m: pdist(x, metric=m) for m in METRICS},
    **{f"{m} of two": lambda x, m=m: getattr(distance, m)(x[0], x[1]) for m in METRICS},
    "both tables": lambda x: cdist(x, x[:2] ** 2),
    "order": lambda x: cdist(x, OTHERS, "minkowski", p=3) + distance.minkowski(x[0], x[1], 3),
    "a metric of one's own": lambda x: cdist(x, OTHERS, lambda u, v: np.sum(u * v**2)),
    "a square form": lambda x: squareform(pdist(x)) @ x,
    "a condensed form": lambda x: squareform(cdist(x, x)),
    "a square form of one number": lambda x: squareform(x[0, 0] ** 2),
    "a kernel": lambda x: np.exp(-cdist(x, x, "sqeuclidean") / 2) @ x,
}


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives(f):
    value, (found,) = f(ROWS), wg.gradient(lambda x: np.sum(np.sin(f(x))), ROWS.copy())
    seen, push = wg.pushforward(f, ROWS.copy())
    assert seen == pytest.approx(value, rel=1e-12, abs=1e-13)
    direction = np.cos(np.arange(ROWS.size)).reshape(ROWS.shape)
    moved = lambda h: np.sum(np.sin(f(ROWS + h * direction)))
    expected = (moved(1e-6) - moved(-1e-6)) / 2e-6
    assert np.sum(found * direction) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert np.sum(np.cos(value) * push(direction)) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_the_distance_to_itself_has_no_slope():
    np.testing.assert_array_equal(
        np.isfinite(wg.grad(lambda x: np.sum(cdist(x, x)))(ROWS)), np.ones((5, 3), bool)
    )
