"""Types of results under `jit` are Python's, where there is a native form and where there is none."""

import linecache
import math

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


VALUES = {
    "truth values": np.array([True, False]),
    "float32": np.float32(2.0),
    "floats of 32 bits": np.array([1.5, 2.5], np.float32),
    "integers": np.array([1, 2]),
    "floats": np.array([1.5, 2.5]),
    "complex": np.array([1 + 1j]),
    "complex without axes": np.array(1 + 2j),
    "float without axes": np.array(1.5),
    "float": 1.5,
    "int": 3,
    "bool": True,
    "float64": np.float64(1.5),
    "bool_": np.bool_(True),
    "complex of Python's": 1 + 2j,
    "complex128": np.complex128(1 + 2j),
}
EXPRESSIONS = """
any(x)
all(x)
np.any(x)
np.multiply(x, 1j)
x * 1j
x ** 2
np.clip(x, 0, 1)
x.copy()
np.array(x)
np.asarray(x)
np.zeros_like(x)
np.full_like(x, 2)
np.where(x, 1, 2)
np.where(x, x, 0)
abs(x)
x / 2
x > 1
math.trunc(x)
math.floor(x)
math.hypot(x, 0.0)
np.sum(x)
max(x)
x.real
np.sign(x)
np.round(x)
""".strip().splitlines()


def program(expression):
    text = f"def f(x):\n    return {expression}\n"
    name, namespace = f"<type of {expression}>", {"np": np, "math": math}
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_G5_types_of_results(expression):
    f = program(expression)
    compiled = wg.jit(f)
    for name, x in VALUES.items():
        assert outcome(compiled, x)[:3] == outcome(f, x)[:3], name
    assert "WG901" not in compiled.explain()


def test_what_a_choice_is_made_by_may_be_what_it_chooses():
    f = wg.jit(lambda x: np.where(x, x, 7))
    assert f(np.array([3, 0, -2])).tolist() == [3, 7, -2]
    assert f(np.array([0.5, 0.0])).tolist() == [0.5, 7.0]


FUNCTIONS = {
    "abs": abs,
    "np.abs": np.abs,
    "fabs": lambda x: math.fabs(x),
    "copysign": lambda x: math.copysign(x, -1.0),
    "hypot": lambda x: math.hypot(x, 0.0),
    "max": lambda x: max(x, 1.0),
    "square": lambda x: x * x,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_G5_gradients_have_one_type_in_both_forms(name):
    f = lambda x: FUNCTIONS[name](x)
    for verb in (wg.grad, wg.value_and_grad):
        for x in (1.5, 0.0, np.float64(1.5), np.float64(0.0), np.float64(-2.0)):
            assert outcome(wg.jit(verb(f)), x) == outcome(verb(f), x), x
    assert type(wg.grad(f)(0.0)) is float


def test_G5_the_slope_of_a_length_at_zero_is_a_number():
    assert type(wg.grad(lambda x: math.hypot(x, 0.0))(np.float64(0.0))) is np.float64


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_G5_jacobians_of_float32(mode):
    x = np.array([1.5, 2.5], np.float32)
    for f in (lambda x: x * x, np.sin, lambda x: np.array([x[0], x[1] * 2])):
        jacobian = wg.jacobian(lambda x, f=f: f(x), mode=mode)
        assert wg.jit(jacobian)(x).dtype == jacobian(x).dtype == np.float32
    hessian = wg.hessian(lambda x: np.sum(x**3))
    assert wg.jit(hessian)(x).dtype == hessian(x).dtype == np.float32


# --- small things -----------------------------------------------------------------------------


def test_G7_a_generator_gives_what_it_gives_in_python():
    def numbers(x):
        yield x
        yield x * 2

    with pytest.warns(wg.errors.NativeWarning, match="iterator"):
        assert list(wg.jit(numbers)(2.0)) == [2.0, 4.0]


def test_G7_code_that_is_replaced_is_noticed():
    def f(x):
        return x + 1

    compiled = wg.jit(f)
    assert [compiled(1.0) for _ in range(3)] == [2.0] * 3
    f.__code__ = (lambda x: x + 5).__code__
    assert [compiled(1.0) for _ in range(3)] == [6.0] * 3


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_G7_math_trunc_of_numpys_numbers():
    compiled = wg.jit(lambda x: math.trunc(x))
    assert compiled(np.float64(2.5)) == 2
    with pytest.raises(TypeError, match="__trunc__"):
        compiled(np.float32(2.5))
