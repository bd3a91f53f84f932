"""Arguments that NumPy and SciPy refuse: derivatives and native forms raise what the function raises."""

from __future__ import annotations

import numpy as np
import pytest
from differences import agree
from scipy import interpolate, signal

import wengert as wg

X = np.array([1.0, 5.0, 2.0, 9.0])
CALLS = {
    "transpose": lambda x: x.reshape(2, 2).transpose(0, 2).sum(),
    "an axis twice": lambda x: np.transpose(x.reshape(2, 2), (0, 0)).sum(),
    "moveaxis": lambda x: np.moveaxis(x.reshape(2, 2), 0, 5).sum(),
    "expand_dims": lambda x: np.expand_dims(x, 5).sum(),
    "median": lambda x: np.median(x, axis=2).sum(),
    "quantile": lambda x: np.quantile(x, 0.3, axis=1).sum(),
    "apply_along_axis": lambda x: np.apply_along_axis(np.sum, 3, x).sum(),
    "einsum": lambda x: np.einsum("i,j->k", x, x).sum(),
    "meshgrid": lambda x: np.meshgrid(x, x, indexing="foo")[0].sum(),
    "vander": lambda x: np.vander(x.reshape(2, 2)).sum(),
    "average": lambda x: np.average(x, weights=np.zeros(4)),
    "gradient": lambda x: np.gradient(x[:1]).sum(),
    "quantile outside": lambda x: np.quantile(x, 1.5),
    "windows": lambda x: np.lib.stride_tricks.sliding_window_view(x, -1).sum(),
    "reduceat": lambda x: np.add.reduceat(x, [0, 7]).sum(),
    "filtfilt": lambda x: signal.filtfilt([1.0, 1.0], [1.0], x).sum(),
    "detrend": lambda x: signal.detrend(x, type="foo").sum(),
}


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_what_is_refused_is_refused_in_every_form(name):
    function = CALLS[name]
    with pytest.raises(Exception) as caught:  # noqa: PT011
        function(X)
    expected = type(caught.value)
    forms = (wg.grad(function), wg.jit(function), wg.jit(wg.grad(function)))
    for form in (*forms, lambda x: wg.pushforward(function, x)[1](x)):
        with pytest.raises(expected):
            form(X)


def without_weights(x):
    try:
        return x * np.average(np.array([x, 2.0]), weights=np.array([0.0, 0.0]))
    except ZeroDivisionError:
        return x**3


def too_short(x):
    try:
        return np.gradient(np.array([x])).sum()
    except ValueError:
        return x**3


@pytest.mark.parametrize("program", [without_weights, too_short])
def test_a_program_may_catch_it(program):
    agree(program, 1.3)


@pytest.mark.parametrize(
    "function",
    [np.median, lambda a: np.percentile(a, 25), lambda a: np.quantile(a, 0.3)],
)
def test_a_native_quantile_of_nothing_reads_nothing(function):
    """It is compiled for arrays that hold something; of no numbers it read what lies in memory beside them."""
    native = wg.jit(wg.grad(function))
    assert np.array_equal(native(X), wg.grad(function)(X))
    assert native(np.array([])).shape == (0,)


def test_what_an_object_of_a_library_has_and_its_stand_in_has_not_is_refused():
    def crossing(x):
        return interpolate.CubicSpline(np.arange(4.0), X - x).roots(extrapolate=False)[0]

    with pytest.raises(wg.WengertError, match="`roots` of this object is not covered"):
        wg.grad(crossing)(3.0)


def in_triangles(x):
    i, j = np.triu_indices(3, 1)
    pairs = np.outer(x, x)[i, j]
    pairs[0] = 2 * pairs[1]
    below = np.outer(x, x)[np.tril_indices(3, -1)]
    below *= 2
    return pairs @ pairs + below.sum() * below[0]


def test_what_is_read_by_triangular_indices_is_a_copy():
    x, direction = np.array([1.0, 2.0, 3.5]), np.array([0.3, -0.5, 0.7])
    agree(lambda t: in_triangles(x + t * direction), 0.2)


def test_powers_of_negative_numbers_are_complex_natively_too():
    gradient = wg.grad(lambda x: 3 * x**0.5)
    assert wg.jit(gradient)(-2.0) == gradient(-2.0)
    assert isinstance(gradient(-2.0), complex)
    assert wg.jit(gradient)(0.0) == gradient(0.0) == np.inf
