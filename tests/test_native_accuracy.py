"""How far native elementary functions of arrays are from the right value, with glibc's vectorised ones and without."""

import math

import mpmath as mp
import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")
from wengert.backends.native import kernel
from wengert.backends.native.machine import machine
from wengert.backends.native.vector_functions import Vectors

RNG = np.random.default_rng(0)


def span(least, most, signs=(1.0, -1.0)):
    sizes = np.exp(RNG.uniform(math.log(least), math.log(most), 150))
    return np.concatenate([sign * sizes for sign in signs])


UP = (1.0,)
WHERE = {
    "exp": span(1e-10, 700),
    "expm1": np.concatenate([span(1e-300, 1e-10), span(1e-10, 700)]),
    "log": np.concatenate([span(1e-300, 1e300, UP), span(0.5, 2, UP)]),
    "log1p": np.concatenate([span(1e-300, 1e-10), span(1e-10, 1e300, UP), -span(1e-5, 1, UP)]),
    "sin": np.concatenate([span(1e-300, 1e-10), span(1e-10, 50), span(50, 1e300)]),
    "cos": np.concatenate([span(1e-10, 50), span(50, 1e300)]),
    "tan": np.concatenate([span(1e-300, 1e-10), span(1e-10, 50), span(50, 1e300)]),
    "tanh": np.concatenate([span(1e-300, 1e-10), span(1e-10, 50)]),
    "sqrt": span(1e-300, 1e300, UP),
}
"""Numbers over the whole range of each function."""

FUNCTIONS = {
    "exp": lambda x: np.exp(x),
    "expm1": lambda x: np.expm1(x),
    "log": lambda x: np.log(x),
    "log1p": lambda x: np.log1p(x),
    "sin": lambda x: np.sin(x),
    "cos": lambda x: np.cos(x),
    "tan": lambda x: np.tan(x),
    "tanh": lambda x: np.tanh(x),
    "sqrt": lambda x: np.sqrt(x),
}
EDGES = [0.0, -0.0, 5e-324, -5e-324, 1e-310, 1.0, -1.0, 750.0, -750.0, np.inf, -np.inf, np.nan]
"""What functions are most often wrong at; subnormals among them."""


@pytest.fixture(params=["vectorised", "one by one"])
def most_off(request, monkeypatch):
    """In units of the last place; the native functions are glibc's vectorised ones, or those for one number."""
    if request.param == "vectorised":
        return 3.0
    monkeypatch.setattr(kernel, "machine", lambda: machine()._replace(vectors=Vectors()))
    return 2.0


@pytest.mark.parametrize("type_", [np.float64, np.float32])
@pytest.mark.parametrize("name", WHERE)
@np.errstate(all="ignore")
def test_elementary_functions(name, type_, most_off):
    x = WHERE[name].astype(type_)
    x = x[np.isfinite(x) & (np.abs(x) >= np.finfo(type_).tiny)]
    found = wg.jit(FUNCTIONS[name], strict=True)(x)
    assert found.dtype == type_
    with mp.workprec(1200):
        expected = [getattr(mp, name)(mp.mpf(float(number))) for number in x]
        rounded = np.array([float(number) for number in expected]).astype(type_)
        finite = np.isfinite(rounded) & (np.abs(rounded) >= np.finfo(type_).tiny)
        places = np.spacing(np.abs(rounded))
        off = [
            float(abs(mp.mpf(float(a)) - b) / mp.mpf(float(place)))
            for a, b, place, fits in zip(found, expected, places, finite, strict=True)
            if fits
        ]
    assert max(off) <= most_off
    np.testing.assert_array_equal(found[np.isinf(rounded)], rounded[np.isinf(rounded)])


@pytest.mark.parametrize("type_", [np.float64, np.float32])
@pytest.mark.parametrize("name", WHERE)
@np.errstate(all="ignore")
def test_elementary_functions_at_the_edges(name, type_, most_off):
    x = np.array(EDGES * 3).astype(type_)  # enough for vectors, and some are left over
    found, expected = wg.jit(FUNCTIONS[name], strict=True)(x), FUNCTIONS[name](x)
    known = ~np.isnan(expected)  # the sign of NaN is nobody's
    np.testing.assert_array_equal(~np.isnan(found), known)
    np.testing.assert_array_equal(
        np.signbit(found[known]), np.signbit(expected[known]), strict=True
    )
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(type_).eps, atol=0)
