"""Values at the edges of the numbers, as Python and NumPy have them: infinities, NaN, signed zeros, huge and tiny."""

import cmath
import itertools
import linecache
import math
import warnings

import numpy as np
import pytest

import wengert as wg

INF, NAN = math.inf, math.nan
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, INF, -INF, NAN, 1e308, 5e-324, 800.0, -800.0]
EXPONENTS = [0.5, -0.5, 1.0, -1.0, 2.0, 0.0, 3.0, 1.5, -3.0, INF, -INF, NAN, 20.0]
PARTS = [0.0, -0.0, 1.0, -2.0, 800.0, INF, -INF, NAN]
COMPLEX = [complex(a, b) for a, b in itertools.product((*PARTS, 1e-310), PARTS)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def program(expression, *names):
    text = f"def f({', '.join(names)}):\n    return {expression}\n"
    name, namespace = f"<{expression} of {names}>", {"np": np, "math": math, "cmath": cmath}
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def found(f, *args):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f(*args)
        except (ArithmeticError, ValueError, TypeError) as error:
            return type(error), str(error)


def parts(value):
    """The real numbers in a result."""
    array = np.atleast_1d(np.asarray(value))
    return np.stack([array.real, array.imag]).ravel() if array.dtype.kind == "c" else array.ravel()


def same(a, b):
    """Whether two results are the same, to rounding, with their types and the signs of zeros."""
    if type(a) is not type(b) or (isinstance(a, tuple) and isinstance(a[0], type)):
        return a == b
    p, q = parts(a), parts(b)
    if np.asarray(a).dtype != np.asarray(b).dtype or p.shape != q.shape:
        return False
    if p.dtype.kind != "f":
        return bool(np.all(p == q))
    zeros = (p == 0) & (q == 0)
    with np.errstate(all="ignore"):
        close = np.isclose(p, q, rtol=1e-11 if p.dtype == float else 1e-5, atol=0, equal_nan=True)
    return bool(np.all(np.where(zeros, np.signbit(p) == np.signbit(q), close)))


def is_as_in_python(f, cases):
    pytest.importorskip("llvmlite")
    compiled = wg.jit(f)
    for case in cases:
        expected, mine = found(f, *case), found(compiled, *case)
        assert same(mine, expected), (case, expected, mine)
    assert "WG901" not in compiled.explain()


# --- powers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", ["x ** p", "np.power(x, p)", "math.pow(x, p)"])
def test_G4_powers_of_numbers(expression):
    f = program(expression, "x", "p")
    for kinds in ((float, float), (np.float64, float), (np.float64, np.float64)):
        is_as_in_python(f, [(kinds[0](x), kinds[1](p)) for x in REALS for p in EXPONENTS])


@pytest.mark.parametrize("expression", ["x ** p", "np.power(x, p)"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_G4_powers_of_arrays(expression, dtype):
    numbers = [x for x in REALS if dtype == np.float64 or abs(x) not in (1e308, 5e-324)]
    f, x = program(expression, "x", "p"), np.array(numbers, dtype)
    is_as_in_python(f, [(x, p) for p in EXPONENTS])
    is_as_in_python(f, [(x, np.full(len(x), p, dtype)) for p in EXPONENTS])


@pytest.mark.parametrize("p", [0.5, 2, -1, 0, 1, 3, -2, 1.5, -0.5])
def test_G4_powers_that_are_known(p):
    for expression in (f"x ** {p}", f"np.power(x, {float(p)})"):
        f = program(expression, "x")
        is_as_in_python(f, [(x,) for x in REALS])
        is_as_in_python(f, [(np.float64(x),) for x in REALS])
        is_as_in_python(f, [(np.array(REALS),)])
    is_as_in_python(program(f"x[0] ** {p}", "x"), [(np.array([x]),) for x in REALS])


COMPLEX_EXPONENTS = [0.5, 1.0, -1.0, 2.0, 0.0, 3.0, 1.5, -2.5, 4.0, 1j, 0.5 + 1j, complex(2, -0.0)]


@pytest.mark.parametrize("expression", ["x ** p", "np.power(x, p)"])
def test_G4_powers_of_complex_numbers(expression):
    f = program(expression, "x", "p")
    of_complex = [p for p in COMPLEX_EXPONENTS if isinstance(p, complex)]
    for exponents in ([p for p in COMPLEX_EXPONENTS if p not in of_complex], of_complex):
        for kind in (complex, np.complex128):
            is_as_in_python(f, [(kind(z), p) for z in COMPLEX for p in exponents])
        is_as_in_python(f, [(np.array(COMPLEX), p) for p in exponents])


@pytest.mark.parametrize("p", [0.5, 2, -1, 0, 1, 3, 4, -2, 1.5, 101, 1j])
def test_G4_powers_of_complex_numbers_that_are_known(p):
    f = program(f"x ** {p}", "x")
    for kind in (complex, np.complex128, lambda z: np.array([z])):
        is_as_in_python(f, [(kind(z),) for z in COMPLEX])


def test_G4_a_power_on_a_branch_cut():
    f = program("cmath.log(-(z ** 3))", "z")
    assert f(complex(1, -0.0)).imag == -math.pi
    is_as_in_python(f, [(z,) for z in COMPLEX])


# --- functions of complex numbers ------------------------------------------------------------

FUNCTIONS = [
    "exp", "log", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "reciprocal", "sign", "square",
    "abs", "angle", "conj",
]  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_G4_functions_of_complex_numbers(name):
    f = program(f"np.{name}(z)", "z")
    numbers = COMPLEX if name != "square" else [z for z in COMPLEX if not cmath.isinf(z)]
    for kind in (complex, np.complex128, lambda z: np.array([z])):
        is_as_in_python(f, [(kind(z),) for z in numbers])


def test_G4_complex_arrays_divided_by_zero():
    f = program("z / w", "z", "w")
    is_as_in_python(f, [(np.array(COMPLEX), np.full(len(COMPLEX), w)) for w in (0j, 2j, 1 - 2j)])
    is_as_in_python(f, [(np.array(COMPLEX), 0.0)])


# --- sums, extremes, questions -----------------------------------------------------------------

SPECIAL = [0.0, -0.0, 1.0, INF, -INF, NAN]
ROWS = [row for n in (1, 2, 3) for row in itertools.product(SPECIAL, repeat=n)]


def python_sum(x):
    return sum(x)


def sum_of_one(x):
    return sum([x[0]])


def greatest(x):
    return max(x)


def least(x):
    return min(x)


def is_in_a_list(x):
    return x[0] in [x[0], 1.0]


def is_not_in_a_tuple(x):
    return x[0] not in (x[-1], 2.0)


def whole_part(x):
    return math.modf(x[0])


def any_of(x):
    return any(x)


def all_of(x):
    return all(x)


@pytest.mark.parametrize(
    "f",
    [
        python_sum,
        sum_of_one,
        greatest,
        least,
        is_in_a_list,
        is_not_in_a_tuple,
        whole_part,
        any_of,
        all_of,
    ],
)
def test_G4_folds_and_questions(f):
    is_as_in_python(f, [(list(row),) for row in ROWS])
    if f not in (
        is_in_a_list,
        is_not_in_a_tuple,
    ):  # each item that is read is another number of NumPy's
        is_as_in_python(f, [(np.array(row),) for row in ROWS])


def test_G4_logaddexp_reduce_of_infinities():
    f = program("np.logaddexp.reduce(x)", "x")
    is_as_in_python(f, [(np.array(row),) for row in ROWS])
    value = wg.value_and_grad(f)(np.array([-INF, 1.0, 2.0]))[0]
    assert value == np.logaddexp.reduce([-INF, 1.0, 2.0])


def test_G4_the_truth_of_an_array_of_complex_numbers():
    is_as_in_python(program("bool(z)", "z"), [(np.array([0j, 0j]),), (np.array([1j]),)])


# --- without jit -------------------------------------------------------------------------------


@pytest.mark.parametrize("f", [greatest, least])
def test_G4_extremes_of_python_in_derivatives(f):
    for row in ROWS:
        x = np.array(row)
        expected = f(x)
        value, gradient = wg.value_and_grad(f)(x)
        assert same(value, expected)
        place = next(k for k, item in enumerate(row) if same(item, float(expected)))
        assert gradient.tolist() == [float(k == place) for k in range(len(row))]


def test_G4_python_has_no_extreme_of_nothing_or_of_rows():
    for f in (greatest, wg.value_and_grad(greatest), wg.jit(greatest)):
        with pytest.raises(ValueError, match=r"max\(\) .* empty"):
            f(np.zeros(0))
    error, said = found(wg.jit(greatest), np.ones((2, 2)))
    assert (error, said) == found(greatest, np.ones((2, 2)))
    assert "truth value" in said
    f = lambda x: max(x, default=3.0)
    assert wg.value_and_grad(lambda x: f(x) * 2)(np.zeros(0))[0] == 6.0


def test_E3_of_two_equal_numbers_the_first_is_what_max_and_min_give():
    for f in (lambda a, b: max(a, b), lambda a, b: min(a, b)):
        assert wg.grad(f, (0, 1))(2.0, 2.0) == (1.0, 0.0)
        assert wg.pushforward(f, 2.0, 2.0)[1](3.0, 5.0) == 3.0
        assert wg.jit(wg.grad(f, (0, 1)))(2.0, 2.0) == (1.0, 0.0)


@pytest.mark.parametrize("x", [-0.0, 0.0, 2.5, True])
def test_G4_a_sum_starts_from_zero(x):
    for f in (lambda x: sum([x]), lambda x: sum([x, x])):
        value = wg.pushforward(f, x)[0] if x is True else wg.value_and_grad(f)(x)[0]
        assert repr(value) == repr(f(x))


# --- what Python refuses though nobody asks for its value ---------------------------------------


def filled_with(x):
    y = np.zeros(3)
    y.fill(x)
    return np.sum(y)


ITERATED = {
    "enumerate": lambda x: (enumerate(x), x * 2.0)[1],
    "zip": lambda x: (zip([1.0], x), x * 2.0)[1],
    "reversed": lambda x: (reversed(x), x * 2.0)[1],
}


@pytest.mark.parametrize("size", [(1,), (2,), (3,), (1, 1)])
def test_an_array_is_filled_with_one_number(size):
    for f in (filled_with, wg.grad(filled_with), wg.jit(filled_with)):
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            f(np.ones(size))
    for x in (2.0, np.float64(2.0), np.array(2.0)):
        assert filled_with(x) == wg.jit(filled_with)(x) == 6.0
        assert wg.grad(filled_with)(x) == 3.0


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("name", ITERATED)
def test_a_number_has_no_items_though_nobody_asks_for_them(name):
    f = ITERATED[name]
    for run in (f, wg.grad(f), wg.jit(f), wg.jit(wg.grad(f))):
        with pytest.raises(TypeError, match=r"'float' object is not (iterable|reversible)"):
            run(2.0)
