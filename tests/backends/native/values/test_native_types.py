"""What `jit` gives has the type that Python and NumPy give, and what they refuse is refused."""

import math
import shutil
import subprocess

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg
from wengert.errors import InternalError

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def same_as_python(f, *args):
    compiled = wg.jit(f)
    assert outcome(compiled, *args) == outcome(f, *args)
    reasons = [getattr(form, "reason", None) for form in compiled._forms.values()]
    assert not any(isinstance(reason, InternalError) for reason in reasons), reasons


NUMBER = [
    lambda x: x.sum(),
    lambda x: x.max(),
    lambda x: x.T,
    lambda x: x.copy(),
    lambda x: x.dot(x),
    lambda x: x.round(),
    lambda x: x.any(),
    lambda x: x.conjugate(),
    lambda x: x.transpose(),
    lambda x: x.argmax(),
    lambda x: x.real,
    lambda x: x.shape,
    lambda x: x.ndim,
    lambda x: x.size,
    lambda x: np.shape(x),
    lambda x: np.sum(x),
    lambda x: np.flip(x),
    lambda x: np.copy(x),
    lambda x: np.real(x),
    lambda x: np.divmod(x, 2),
    lambda x: divmod(x, 2),
    lambda x: np.swapaxes(x, 0, -1),
    lambda x: np.moveaxis(x, 0, -1),
    lambda x: x ^ 3,
    lambda x: x & 1,
    lambda x: x | 2,
    lambda x: np.exp(x),
    lambda x: np.square(x),
    lambda x: np.abs(x),
    lambda x: np.sqrt(x),
    lambda x: np.sign(x),
    lambda x: x + np.True_,
    lambda x: x**0.5,
    lambda x: math.pow(x, 0.5),
]


@pytest.mark.parametrize("f", NUMBER)
@pytest.mark.parametrize("x", [5.0, 3, True, np.float64(2.5), np.True_, np.array(2.5), -0.0])
def test_of_one_number(f, x):
    same_as_python(f, x)


ARRAY = [
    lambda x: math.sin(x),
    lambda x: math.sqrt(x),
    lambda x: max(x, 0),
    lambda x: min(0.5, x),
    lambda x: int(x),
    lambda x: float(x),
    lambda x: bool(x),
    lambda x: round(x),
    lambda x: math.floor(x),
    lambda x: x > 0,
    lambda x: x - 1,
    lambda x: x.T,
    lambda x: x.real,
    lambda x: x[()],
    lambda x: x[[0, 1]],
    lambda x: x ^ 3,
    lambda x: np.cumsum(x),
    lambda x: min(True, x),
]


@pytest.mark.parametrize("f", ARRAY)
@pytest.mark.parametrize("x", [[-2.0, 3.0], [4.0], 2.0, -2.0, [-0.0, 0.0]])
def test_of_an_array(f, x):
    same_as_python(f, np.array(x))


def test_the_lesser_of_a_truth_value_and_an_array():
    same_as_python(lambda x, y: min(x, y), True, np.array([True, False]))


SINGLE = [
    lambda x: np.array([x[0], 1.0]),
    lambda x: np.array([x[0], x[1]]),
    lambda x: np.array([x[0], 1]),
    lambda x: np.stack([1.5, x[0]]),
    lambda x: np.mean([x[0], 2]),
    lambda x: np.sum([x[0], 2]),
    lambda x: np.max([x[0], 2]),
    lambda x: np.dot(2.0, x),
    lambda x: np.dot(x, x),
    lambda x: np.linspace(0, x[2], 3),
    lambda x: np.nanmax(x),
    lambda x: np.nansum(x),
    lambda x: np.append(x, 1.0),
]


@pytest.mark.parametrize("f", SINGLE)
def test_of_floats_of_32_bits(f):
    same_as_python(f, np.array([1.0, 2.0, 4.0], np.float32))


WITHOUT_NAN = [
    lambda x: np.nansum(x),
    lambda x: np.nanprod(x),
    lambda x: np.nanmax(x),
    lambda x: np.nanmin(x),
    lambda x: np.nanmean(x),
    lambda x: np.nanvar(x, ddof=1),
    lambda x: np.nancumsum(x),
    lambda x: np.nancumprod(x),
    lambda x: np.nanargmax(x),
]


@pytest.mark.parametrize("f", WITHOUT_NAN)
@pytest.mark.parametrize(
    "x", [[1.0, math.nan, 4.0], [1, 2], [True, False], np.array([1.0, math.nan, 4.0], np.float32)]
)
def test_what_leaves_nan_out(f, x):
    same_as_python(f, np.array(x))


def test_the_shape_of_a_number_in_a_derivative():
    with pytest.raises(AttributeError, match="'float' object has no attribute 'shape'"):
        wg.grad(lambda x: x * (len(x.shape) + 1))(2.0)
    with pytest.raises(AttributeError, match="'float' object has no attribute 'ndim'"):
        wg.grad(lambda x: x * (x.ndim + 1))(2.0)
    twice = lambda x: np.sum(x) * (len(np.sum(x).shape) + 2)
    assert wg.grad(twice)(np.array([1.0, 3.0])).tolist() == [2.0, 2.0]
    assert wg.jit(wg.grad(twice), strict=True)(np.array([1.0, 3.0])).tolist() == [2.0, 2.0]


ZEROS = [-0.0, 0.0]


@pytest.mark.parametrize("low", ZEROS)
@pytest.mark.parametrize("high", ZEROS)
def test_the_sign_of_a_clipped_zero(low, high):
    clipped = lambda x, low, high: np.clip(x, low, high)
    for x in ([-0.0, 0.0, math.nan, 2.0, -2.0], [-0.0], [0.0]):
        same_as_python(clipped, np.array(x), low, high)
        same_as_python(clipped, np.array(x, np.float32), low, high)
        same_as_python(clipped, np.array(x), np.full(len(x), low), high)
        same_as_python(clipped, np.array(x), low, np.full(len(x), high))
        same_as_python(clipped, np.array(x), np.array([low]), np.array([high]))
        same_as_python(clipped, np.array(x), math.nan, high)
    same_as_python(clipped, np.float64(-0.0), low, high)


@pytest.mark.parametrize("x", [-0.0, 1.0, [-0.0], [1.0], [-0.0, 1.0], [[-0.0]], [[1.0, -1.0]]])
@pytest.mark.parametrize("y", [-0.0, 0.0, 1.0, -1.0, [-0.0], [1.0], [[1.0]], [[-0.0, 1.0]]])
def test_the_sign_of_a_product_that_is_zero(x, y):
    x, y = (v if isinstance(v, float) else np.array(v) for v in (x, y))
    same_as_python(lambda x, y: np.dot(x, y), x, y)
    same_as_python(lambda x, y: np.inner(x, y), x, y)
    same_as_python(lambda x, y: x @ y, x, y)
    same_as_python(lambda x, y: np.vdot(x, y), x, y)


@pytest.mark.parametrize("x", [np.array([], int), np.array([]), np.ones((0, 3)), np.array([1, 2])])
def test_arrays_of_lists_that_may_be_empty(x):
    same_as_python(lambda x: np.array([v * 2 for v in x]), x)
    same_as_python(lambda x: np.array([v > 2 for v in x]), x)
    same_as_python(lambda x: np.sum([v * 2 for v in x]), x)
    same_as_python(lambda x: np.stack([v * 2 for v in x]), x)


def test_the_gradient_of_samples():
    same_as_python(lambda x: np.gradient(x), np.array([1.0, 2.0, 4.0]))


def test_defaults_are_those_of_the_call():
    def f(x, y=2.0):
        return x * y

    compiled, slope = wg.jit(f, strict=True), wg.jit(wg.grad(f), strict=True)
    for default in (2.0, 5.0, 6.0):
        f.__defaults__ = (default,)
        assert compiled(1.0) == slope(1.0) == default


def test_the_smallest_integer_in_c(tmp_path):
    compiled = wg.jit(lambda a, b: a // b, strict=True)
    assert compiled(7, -2) == -4
    assert "INT64_C(-9223372036854775808)" not in compiled.c_source
    gcc = shutil.which("gcc")
    if gcc is None:
        pytest.skip("needs gcc")
    file = tmp_path / "divided.c"
    file.write_text(compiled.c_source)
    options = [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-c",
        str(file),
        "-o",
        str(tmp_path / "x"),
    ]
    subprocess.run([gcc, *options], check=True)
