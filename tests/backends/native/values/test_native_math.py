"""`math` and NumPy, function by function, as native code: with the Python form as the reference, to its exceptions."""

import itertools
import linecache
import math
import random

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def function_of(expression, names):
    """The function of some arguments that gives what an expression does; its source can be read."""
    source = f"def f({names}):\n    return {expression}\n"
    file = f"<{expression} of {names}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    namespace = {"math": math, "np": np}
    exec(compile(source, file, "exec"), namespace)
    return namespace["f"]


def outcome(function, *arguments):
    """What a call gives, with its type and to 13 digits; or what it raises."""
    try:
        found = function(*arguments)
    except wg.WengertError:
        raise
    except Exception as error:
        return type(error), str(error)
    return type(found), float(f"{found:.13g}") if found == found else "nan"


def compared(expression, names, values):
    f = function_of(expression, names)
    compiled = wg.jit(f, strict=True)
    for arguments in itertools.product(values, repeat=names.count(",") + 1):
        assert outcome(compiled, *arguments) == outcome(f, *arguments), arguments


# --- rounding -------------------------------------------------------------------------------

HARD = [0.5, 1.5, 2.5, -0.5, 0.125, 2.675, 1.005, -1.005, 0.15, 0.25, 0.35, 0.285, -0.04, 0.0, -0.0]
EXTREME = [1e300, -1e17, 5e-324, math.inf, math.nan, 4503599627370495.5, 1e22]


def decimals(n):
    """Numbers near the middle between two that have so many decimals, and others."""
    drawn = random.Random(n)
    middles = [(drawn.randint(-(10**4), 10**4) + 0.5) / 10**n for _ in range(500)]
    binary = [drawn.randint(-(2**20), 2**20) / 2 ** drawn.randint(1, 12) for _ in range(500)]
    return [*HARD, *EXTREME, *middles, *binary, *(drawn.uniform(-10, 10) for _ in range(500))]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 15])
def test_rounding_to_decimals_is_pythons_to_the_last_bit(n):
    f = function_of(f"round(x, {n})", "x")
    compiled = wg.jit(f, strict=True)
    assert [repr(compiled(x)) for x in decimals(n)] == [repr(f(x)) for x in decimals(n)]


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 6])
def test_rounding_to_decimals_of_numpys_numbers_is_numpys(n):
    x = np.array(decimals(abs(n)))
    for expression in (f"np.round(x, {n})", f"x.round({n})", f"np.around(x, decimals={n})"):
        f = function_of(expression, "x")
        np.testing.assert_array_equal(wg.jit(f, strict=True)(x), f(x))
    f = function_of(f"[round(v, {n}) for v in x]", "x")
    assert [*map(repr, wg.jit(f, strict=True)(x))] == [*map(repr, f(x))]


def test_rounding_in_a_derivative():
    derived = wg.value_and_grad(function_of("round(x, 1) * x", "x"))
    assert wg.jit(derived, strict=True)(2.25) == derived(2.25)


# --- integers ---------------------------------------------------------------------------------

INTEGERS = [0, 1, 2, 3, 7, 12, -4, -1, 30, 62, 2**31, 2**53 + 1, 2**62, 2**62 - 1, -(2**63), 2**63 - 1,
            3037000499**2, 3037000499**2 - 1, 999999999999]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("math.isqrt(a)", "a"),
        ("math.gcd(a, b)", "a, b"),
        ("math.gcd(a, b, 12)", "a, b"),
        ("math.gcd() + a", "a"),
        ("math.lcm(a, b)", "a, b"),
        ("math.lcm(a)", "a"),
        ("math.factorial(min(a, 30))", "a"),
        ("math.perm(min(a, 60), min(b, 50))", "a, b"),
        ("math.perm(min(a, 30))", "a"),
        ("math.comb(min(a, 70), min(b, 70))", "a, b"),
    ],
)
def test_integers(expression, names):
    compared(expression, names, INTEGERS)


# --- floats -----------------------------------------------------------------------------------

FLOATS = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-12, 1.0 + 1e-10, 7.25, math.inf, -math.inf, math.nan, 1e300, 3, -4,
          100.0, 100.00001]  # fmt: skip
OF_MATH = ["math.isclose(a, b)", "math.isclose(a, b, rel_tol=1e-3, abs_tol=0.1)", "math.isclose(a, b, abs_tol=-1.0)",
           "math.log(a, b)", "math.remainder(a, b)", "math.hypot(a, b, 2.0)"]  # fmt: skip
OF_NUMPY = ["np.isclose(a, b)", "np.isclose(a, b, equal_nan=True)", "np.isclose(a, b, 1e-3, 0.5)", "np.allclose(a, b)",
            "np.fmax(a, b)", "np.fmin(a, b)", "np.heaviside(a, b)", "np.logaddexp2(a, b)", "np.array_equal(a, b)",
            "np.signbit(a * b)", "np.sinc(a * b)", "np.count_nonzero(a - b)"]  # fmt: skip


@pytest.mark.parametrize("expression", [*OF_MATH, *OF_NUMPY])
@pytest.mark.filterwarnings("ignore")
def test_floats(expression):
    compared(expression, "a, b", FLOATS)


@pytest.mark.parametrize("expression", OF_NUMPY)
@pytest.mark.filterwarnings("ignore")
def test_arrays(expression):
    f = function_of(expression, "a, b")
    a, b = (x.ravel() for x in np.meshgrid(*[np.array(FLOATS, float)] * 2))
    found, expected = wg.jit(f, strict=True)(a, b), f(a, b)
    assert type(found) is type(expected)
    np.testing.assert_allclose(np.float64(found), np.float64(expected), rtol=1e-12)


# --- sequences --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    [
        "math.prod(x)",
        "math.prod([x[0], 2, x[1]])",
        "math.prod(v * 2 for v in x)",
        "math.prod([k + 1 for k in range(len(x))])",
        "math.prod([k + 1 for k in range(20 * len(x))])",
        "math.fsum(x)",
        "math.fsum([0.1, 0.2, x[0]])",
        "math.fsum([x[0]] * 3)",
        "math.fsum([x[0], x[1], x[0], x[1]]) + math.dist([x[0]] * 3, [0.5] * 3)",
        "math.fsum(v * v for v in x)",
        "math.dist(x, x * 2)",
        "math.dist([x[0], x[1]], [1, 2.5])",
        "math.dist(x, x[1:])",
        "math.dist(x * 1e-200, x * 0)",
    ],
)
def test_sequences(expression):
    f = function_of(expression, "x")
    x = np.array([1.5, 0.1, 3.5])
    assert outcome(wg.jit(f, strict=True), x) == outcome(f, x)


def test_fsum_loses_nothing():
    drawn = random.Random(2)
    f = function_of("math.fsum(x)", "x")
    compiled = wg.jit(f, strict=True)
    for count in range(1, 60):
        x = [drawn.uniform(-1, 1) * 10 ** drawn.randint(-8, 8) for _ in range(count)]
        assert compiled(x) == f(x)


@pytest.mark.parametrize("options", ["axis=0", "axis=1, keepdims=True", "axis=None"])
def test_counting(options):
    x = np.arange(6.0).reshape(2, 3)
    for expression in (f"np.count_nonzero(x, {options})", f"np.count_nonzero(x > 2, {options})"):
        f = function_of(expression, "x")
        np.testing.assert_array_equal(wg.jit(f, strict=True)(x), f(x))
