"""`ufunc.reduce` of every function of two numbers: of nothing, of one entry, of arrays without axes."""

import numpy as np
import pytest

import wengert as wg

UFUNCS = [
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin, np.hypot, np.logaddexp,
    np.logaddexp2, np.copysign,
]  # fmt: skip
SHAPES = [(), (1,), (3,), (2, 1), (2, 0), (2, 3)]


def outcome(run):
    try:
        return run()
    except Exception as error:
        return error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda ufunc: ufunc.__name__)
def test_reduce_is_that_of_numpy(ufunc, shape):
    a = np.asarray(np.linspace(-1.3, 1.1, int(np.prod(shape))).reshape(shape))

    def f(a):
        return np.sum(ufunc.reduce(a, axis=-1) ** 2)

    value = outcome(lambda: f(a.copy()))
    found = outcome(lambda: wg.value_and_grad(f)(a.copy()))
    if isinstance(value, Exception):
        assert type(found) is type(value)
        return
    steps = 1e-6 * np.eye(a.size).reshape(a.size, *shape)
    slopes = [(f(np.asarray(a + e)) - f(np.asarray(a - e))) / 2e-6 for e in steps]
    np.testing.assert_allclose(found[0], value, rtol=1e-12)
    np.testing.assert_allclose(found[1], np.reshape(slopes, shape), atol=1e-7)
    if not np.isfinite(value):
        return  # the logarithm of nothing: no entries, and times zero no number
    slope = wg.pushforward(f, a.copy())[1](np.ones(shape))
    np.testing.assert_allclose(slope, np.sum(slopes), atol=1e-7)
