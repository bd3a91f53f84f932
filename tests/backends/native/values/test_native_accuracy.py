"""How far native elementary functions are from the right value: of vectors, in loops, and one by one."""

import math
from functools import cache

import numpy as np
import pytest
from elementary import of_vectors, points, right, units_off
from scipy import special

import wengert as wg

pytest.importorskip("llvmlite")
from wengert.backends.native.run import kernel
from wengert.backends.native.run.machine import machine
from wengert.backends.native.vector_math.vector_functions import OURS, Vectors, called_in, name_of

FUNCTIONS = {
    "exp": lambda x: np.exp(x),
    "expm1": lambda x: np.expm1(x),
    "log": lambda x: np.log(x),
    "log1p": lambda x: np.log1p(x),
    "sin": lambda x: np.sin(x),
    "cos": lambda x: np.cos(x),
    "tan": lambda x: np.tan(x),
    "tanh": lambda x: np.tanh(x),
    "erf": lambda x: special.erf(x),
    "pow": lambda x, y: x**y,
}
TYPES = {"f64": np.float64, "f32": np.float32}
MOST_OFF = 2.0
EDGES = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    1e-310,
    1e-40,
    1.0,
    -1.0,
    750.0,
    -750.0,
    1e300,
    np.inf,
    -np.inf,
    np.nan,
]
"""What functions are most often wrong at; subnormals among them."""

every_type = pytest.mark.parametrize("code", TYPES)
every_function = pytest.mark.parametrize("name", FUNCTIONS)
every_shape = pytest.mark.parametrize(
    "shape", machine().vectors.shapes, ids=lambda s: f"{s.code}x{s.lanes}"
)


@pytest.fixture(params=["all there is", "without libmvec", "one by one"])
def has(request, monkeypatch):
    """What the machine has for vectors."""
    vectors = machine().vectors
    if request.param != "all there is":
        shapes = vectors.shapes if request.param == "without libmvec" else ()
        changed = machine()._replace(vectors=Vectors(shapes))
        monkeypatch.setattr(kernel, "machine", lambda: changed)
    return request.param


@cache
def looked_at(name, code, count=250):
    """Arguments, and the right values."""
    args = points(name, TYPES[code], count, np.random.default_rng(0))
    return args, right(name, args)


def edges(name, code):
    with np.errstate(all="ignore"):
        ends = np.array(EDGES).astype(TYPES[code])
    return [each.ravel() for each in np.meshgrid(ends, ends)] if name == "pow" else [ends]


@every_shape
@every_function
def test_functions_of_vectors_are_right_over_the_whole_range(name, shape):
    args, expected = looked_at(name, shape.code)
    found = of_vectors(name_of(name, shape), shape, len(args))(*args)
    off = units_off(found, expected, TYPES[shape.code])
    assert np.nanmax(off) <= MOST_OFF


@every_shape
@every_function
@np.errstate(all="ignore")
def test_functions_of_vectors_at_the_edges(name, shape):
    args = edges(name, shape.code)
    like_numpy(of_vectors(name_of(name, shape), shape, len(args))(*args), FUNCTIONS[name](*args))


def like_numpy(found, expected):
    known = ~np.isnan(expected)  # the sign of NaN is nobody's
    np.testing.assert_array_equal(~np.isnan(found), known)
    np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]))
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(found.dtype).eps, atol=0)


@every_type
@every_function
def test_loops_are_right_over_the_whole_range(name, code, has):
    args, expected = looked_at(name, code)
    found = wg.jit(FUNCTIONS[name], strict=True)(*args)
    assert found.dtype == TYPES[code]
    assert np.nanmax(units_off(found, expected, TYPES[code])) <= MOST_OFF


@every_type
@every_function
@np.errstate(all="ignore")
def test_loops_at_the_edges(name, code, has):
    args = [np.tile(x, 3) for x in edges(name, code)]  # enough for vectors, and some are left over
    like_numpy(wg.jit(FUNCTIONS[name], strict=True)(*args), FUNCTIONS[name](*args))


@every_type
def test_what_is_one_of_its_values_is_exact(code):
    x = np.zeros(64, TYPES[code])
    for name, value in (
        ("exp", 1),
        ("cos", 1),
        ("log", -np.inf),
        ("sin", 0),
        ("tanh", 0),
        ("erf", 0),
    ):
        with np.errstate(all="ignore"):
            assert (wg.jit(FUNCTIONS[name], strict=True)(x) == value).all()
    angles = (np.arange(-1000, 1000) * (np.pi / 4)).astype(TYPES[code])
    assert np.abs(wg.jit(FUNCTIONS["cos"], strict=True)(angles)).max() == 1.0


def test_all_are_looked_at():
    assert set(FUNCTIONS) == OURS


@pytest.mark.skipif(not machine().vectors.shapes, reason="the processor has none")
@every_type
@every_function
def test_loops_call_functions_of_vectors(name, code, monkeypatch):
    linked = []

    def noted(object_code):
        linked.extend(called_in(object_code))
        return called_in(object_code)

    ours = machine()._replace(vectors=Vectors(machine().vectors.shapes))
    monkeypatch.setattr(kernel, "machine", lambda: ours)
    monkeypatch.setattr("wengert.backends.native.run.machine.called_in", noted)
    wg.jit(FUNCTIONS[name], strict=True)(*(np.ones(100, TYPES[code]) for _ in edges(name, code)))
    assert any(each.startswith(f"wg_{name}_{code}x") for each in linked)


def test_functions_of_vectors_that_no_loop_calls_are_not_made(monkeypatch):
    def none(object_code):
        assert called_in(object_code) == []
        return []

    monkeypatch.setattr("wengert.backends.native.run.machine.called_in", none)
    assert wg.jit(lambda x: np.exp(x), strict=True)(1.0) == np.exp(1.0)


def test_numbers_alone_are_computed_by_the_c_library():
    def total(a, b, c, d):
        return np.sin(a) + np.sin(b) + np.sin(c) + np.sin(d)

    numbers = 0.1, 0.2, 0.3, 0.4
    compiled = wg.jit(total, strict=True)
    assert compiled(*numbers) == sum(map(math.sin, numbers))
    assert "vector-function-abi-variant" not in compiled.llvm
