"""`np.arange` in every way to call it: by place, by name, with no stop, of a dtype."""

import numpy as np
import pytest
from differences import agree, slope

import wengert as wg

RANGES = [
    lambda x: np.arange(x, 6.0, 2.0),
    lambda x: np.arange(x, 6.0, 2.0, np.float64),
    lambda x: np.arange(x, 6.0, 2.0, dtype=float),
    lambda x: np.arange(x, 6, dtype=None),
    lambda x: np.arange(start=x, stop=4.0),
    lambda x: np.arange(x, stop=5.0, step=x),
    lambda x: np.arange(0.0, step=x, stop=6.1),
    lambda x: np.arange(6.0, x, -x),
    lambda x: np.arange(x, None) * x,
    lambda x: np.arange(x, stop=None) + x,
    lambda x: np.arange(stop=4.0) * x,
    lambda x: np.arange(1, step=2, stop=7) * x,
    lambda x: np.arange(5, dtype=float) * x,
    lambda x: np.arange(x, 6, 2, dtype=int) * x,
    lambda x: np.real(np.arange(x, 6, 2, dtype=complex)),
    lambda x: np.arange(x, 6, 2, dtype=np.array([x]).dtype),
]


@pytest.mark.parametrize("k", range(len(RANGES)))
def test_ranges(k):
    def f(x):
        values = RANGES[k](x)
        return np.sum(values**2) + values[1]

    agree(f, 1.3)
    value, gradient = wg.value_and_grad(f, tier="recorded")(1.3)
    assert value == pytest.approx(f(1.3), rel=1e-13)
    assert gradient == pytest.approx(slope(f, 1.3), rel=1e-8)


def test_a_range_of_integers_has_its_dtype_in_a_recorded_run():
    seen = []

    def f(n):
        values = np.arange(-n + 1, n, 2, dtype=np.float64)
        seen.append(values.dtype)
        return values[0] * n

    assert wg.value_and_grad(f, tier="recorded")(2) == (-2.0, -3.0)
    assert {str(dtype) for dtype in seen} == {"float64"}
