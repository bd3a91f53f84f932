"""Complex numbers in native code: values, types, exceptions and gradients are those of the Python form."""

import cmath
import ctypes
import math

import numpy as np
import pytest
from c_library import GCC, shared_library

import wengert as wg
from wengert.errors import InternalError, NativeWarning

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def outcome(f, *args):
    with np.errstate(all="ignore"):
        try:
            return f(*args)
        except Exception as error:
            return error


def assert_same(found, expected):
    """The same type and value, to rounding; the same exception with the same message."""
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, Exception):
        assert str(found) == str(expected)
    elif isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
    elif expected is not None:
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.shape(found) == np.shape(expected)
        size = np.abs(expected).max(initial=0.0) if np.ndim(expected) else 0.0
        size = size if np.isfinite(size) else 0.0
        np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-14 * size)


def same_as_python(f, *args):
    """A native form gives what the function itself gives."""
    compiled = wg.jit(f, strict=True)
    assert_same(outcome(compiled, *args), outcome(f, *args))
    reasons = [getattr(form, "reason", None) for form in compiled._forms.values()]
    assert not any(isinstance(reason, InternalError) for reason in reasons), reasons


def same_gradient(f, *args, argnums=0):
    verb = wg.value_and_grad(f, argnums)
    compiled = wg.jit(verb, strict=True)
    assert_same(compiled(*args), verb(*args))
    assert compiled.exits == 0


NUMBERS = [1 + 2j, -0.5 + 0.3j, 0j, -2 + 0j, 0.6 - 0.8j, np.complex128(0.7 - 2j), np.complex128(0)]
EXTREME = [
    1e200 + 1e200j, complex(math.inf, 1), complex(math.nan, 0), complex(1, -math.inf),
    3e-320 + 1e-320j, np.complex128(1e300 - 1e300j), np.complex128(complex(-math.inf, 2)),
    np.complex128(3e-320 + 1e-320j), complex(-0.0, -0.0), 1e308 + 1e308j,
]  # fmt: skip

ONE = [
    lambda z: -z,
    lambda z: +z,
    lambda z: abs(z),
    lambda z: np.abs(z),
    lambda z: z.real,
    lambda z: z.imag,
    lambda z: np.real(z),
    lambda z: np.imag(z),
    lambda z: z.conjugate(),
    lambda z: np.conj(z),
    lambda z: z + 1,
    lambda z: 2 * z,
    lambda z: 2.5 - z,
    lambda z: np.float64(2.0) * z,
    lambda z: z * 1j,
    lambda z: z / 2,
    lambda z: complex(z),
    lambda z: z**2,
    lambda z: z**3,
    lambda z: z**7,
    lambda z: z**3.0,
    lambda z: z == 0,
    lambda z: z != 1 + 2j,
    lambda z: 1.0 if z else 2.0,
    lambda z: not z,
    lambda z: np.square(z),
    lambda z: np.isnan(z),
    lambda z: np.isfinite(z),
    lambda z: np.isinf(z),
    lambda z: cmath.isnan(z),
    lambda z: cmath.isfinite(z),
    lambda z: (z, [z, z * z]),
    lambda z: complex(z.real, 3),
    lambda z: np.exp(1j * z.real),
    lambda z: np.sign(z),
    lambda z: cmath.rect(abs(z), 1.0),
]


@pytest.mark.parametrize("f", ONE)
@pytest.mark.parametrize("z", [*NUMBERS, *EXTREME], ids=repr)
def test_of_one_number(f, z):
    same_as_python(f, z)


FUNCTIONS = [
    lambda z: z**-1,
    lambda z: z**-3,
    lambda z: z**0,
    lambda z: z**0.5,
    lambda z: z ** (1 + 2j),
    lambda z: 2.0**z,
    lambda z: 1 / z,
    lambda z: np.exp(z),
    lambda z: np.log(z),
    lambda z: np.log10(z),
    lambda z: np.log2(z),
    lambda z: np.sqrt(z),
    lambda z: np.sin(z),
    lambda z: np.cos(z),
    lambda z: np.tan(z),
    lambda z: np.sinh(z),
    lambda z: np.cosh(z),
    lambda z: np.tanh(z),
    lambda z: np.angle(z),
    lambda z: cmath.exp(z),
    lambda z: cmath.log(z),
    lambda z: cmath.log10(z),
    lambda z: cmath.sqrt(z),
    lambda z: cmath.sin(z),
    lambda z: cmath.cos(z),
    lambda z: cmath.tan(z),
    lambda z: cmath.sinh(z),
    lambda z: cmath.cosh(z),
    lambda z: cmath.tanh(z),
    lambda z: cmath.phase(z),
]
NEAR = [1 + 1e-9j, 1.0 + 1e-9 + 1e-5j, 30 + 2j, -40 - 3j, 1e-9 + 1e-12j, -1 - 0.0j, -1 + 0.0j]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("z", [*NUMBERS, *NEAR], ids=repr)
def test_function(f, z):
    same_as_python(f, z)


@pytest.mark.parametrize("f", [np.sqrt, np.log, np.exp, np.abs, cmath.sqrt, cmath.log, cmath.phase])
@pytest.mark.parametrize("z", EXTREME, ids=repr)
def test_function_of_extreme_number(f, z):
    same_as_python(lambda z: f(z), z)


TWO = [
    lambda z, w: z + w,
    lambda z, w: z - w,
    lambda z, w: z * w,
    lambda z, w: z / w,
    lambda z, w: z**w,
    lambda z, w: z == w,
    lambda z, w: np.divide(z, w),
    lambda z, w: z * abs(w) + w.conjugate() / 3,
]
OTHERS = [
    2 - 1j,
    -1e-3 + 4j,
    0j,
    1.5,
    3,
    np.complex128(1.5 + 0.5j),
    np.complex128(0),
    np.float64(2),
]


@pytest.mark.parametrize("f", TWO[:-1])
@pytest.mark.parametrize("z", NUMBERS, ids=repr)
@pytest.mark.parametrize("w", OTHERS, ids=repr)
def test_of_two_numbers(f, z, w):
    same_as_python(f, z, w)


def test_no_native_form():
    """What Python refuses, or native code does not know, is left to the Python form."""
    for f in (lambda z: z < 1, lambda z: math.sin(z), lambda z: z // 2, lambda z: np.expm1(z)):
        compiled = wg.jit(f)
        assert_same(outcome(compiled, 1 + 2j), outcome(f, 1 + 2j))
        assert "native code would do little else than call" in compiled.explain()


def test_single_precision_has_no_native_form():
    assert type(wg.jit(lambda x: x * 1j)(np.float32(2))) is np.complex64


# --- loops and branches -----------------------------------------------------------------------


def mandelbrot(x, y, n):
    z = 0j
    c = complex(x, y)
    total = 0.0
    for _ in range(n):
        z = z * z + c
        total += abs(z) ** 2
    return total


def escape(x, y):
    z, c, count = 0j, complex(x, y), 0
    while abs(z) < 2.0 and count < 50:
        z = z**2 + c
        count += 1
    return count, z


def horner(z):
    """The sum starts as a real number, and becomes complex in the loop."""
    total = 0
    for k in range(4):
        total = total * z + (k + 1)
    return total


def sum_of_powers(z, n):
    total = 0.0
    for k in range(n):
        total += z**2 / (k + 1)
    return total


def nested(z, n):
    total = 0.0
    for j in range(n):
        inner = 0.0
        for k in range(j):
            inner += z * k
        total += inner * z
    return abs(total + z)


def newton(z):
    steps = 0
    while abs(z**3 - 1) > 1e-10:
        z -= (z**3 - 1) / (3 * z**2)
        steps += 1
    return z, steps


def turned(x):
    if x > 0:
        z = 1j * x
    else:
        z = x
    return z


def only_sometimes(x):
    z = 1.0
    if x > 0:
        z = cmath.exp(1j * x)
    return abs(z) + (z * (2 + 1j)).real


def collected(x):
    found = [cmath.exp(1j * k * x) for k in range(5)]
    total = 0j
    for z in found:
        total += z * z
    return total


def rotated(z, angle):
    return z * cmath.exp(1j * angle)


def by_calls(x):
    z = complex(1.0, 0.0)
    for _ in range(3):
        z = rotated(z, x)
    return z


PROGRAMS = [
    (mandelbrot, (0.1, 0.2, 5)),
    (mandelbrot, (0.1, 0.2, 0)),
    (escape, (-0.7, 0.3)),
    (escape, (1.0, 1.0)),
    (horner, (2 + 1j,)),
    (horner, (2.5,)),
    (horner, (np.complex128(2 - 1j),)),
    (sum_of_powers, (1 + 2j, 3)),
    (sum_of_powers, (1 + 2j, 0)),
    (nested, (0.5 - 1j, 4)),
    (nested, (0.5 - 1j, 0)),
    (newton, (1 + 1j,)),
    (newton, (0j,)),
    (turned, (2.0,)),
    (turned, (-2.0,)),
    (only_sometimes, (0.3,)),
    (only_sometimes, (-0.3,)),
    (collected, (0.7,)),
    (by_calls, (0.4,)),
]


@pytest.mark.parametrize(("f", "args"), PROGRAMS)
def test_program(f, args):
    same_as_python(f, *args)


def test_real_in_some_runs_only():
    """A sum that no iteration made complex is real: the Python form gives it."""
    compiled = wg.jit(sum_of_powers, strict=True)
    assert compiled(1 + 2j, 2) == sum_of_powers(1 + 2j, 2)
    assert compiled.exits == 0
    assert compiled(1 + 2j, 0) == 0.0
    assert type(compiled(1 + 2j, 0)) is float
    assert compiled.exits > 0


# --- gradients --------------------------------------------------------------------------------


def wave(x):
    z = np.exp(1j * x) * np.sqrt(x + 2j) / (1 + x * 1j)
    return z.real**2 + np.abs(z) + np.angle(z) + (z * z.conjugate()).real


def impedance(resistance, inductance, capacity):
    total = 0.0
    for k in range(1, 6):
        s = 2j * math.pi * k
        z = resistance + s * inductance + 1 / (s * capacity)
        total += abs(1 / z) ** 2
    return total


def of_complex_argument(z):
    return abs(cmath.exp(z) - z**3) + z.imag * (z / (z + 1)).real


def elementary(x):
    z = complex(x, 0.3)
    w = cmath.sin(z) * cmath.cosh(z) + cmath.log(z) * cmath.sqrt(z) - cmath.tanh(z) ** 2
    return (w * w).imag + cmath.phase(w) + abs(z ** (0.5 + 0.1j))


GRADIENTS = [
    (mandelbrot, (0.1, 0.2, 5), (0, 1)),
    (mandelbrot, (0.1, 0.2, 0), (0, 1)),
    (wave, (0.5,), 0),
    (impedance, (1.0, 0.1, 0.2), (0, 1, 2)),
    (of_complex_argument, (0.5 + 1j,), 0),
    (of_complex_argument, (np.complex128(0.5 + 1j),), 0),
    (elementary, (0.4,), 0),
    (nested, (0.5 - 1j, 4), 0),
    (lambda x: abs(newton(complex(x, 1.0))[0] * x), (1.2,), 0),
    (lambda x: collected(x).imag, (0.7,), 0),
    (lambda x: by_calls(x).real, (0.4,), 0),
    (only_sometimes, (0.3,), 0),
    (lambda z: abs(z), (0j,), 0),
]


@pytest.mark.parametrize(("f", "args", "argnums"), GRADIENTS)
def test_gradient(f, args, argnums):
    same_gradient(f, *args, argnums=argnums)


# --- as C -------------------------------------------------------------------------------------


@pytest.mark.skipif(GCC is None, reason="no C compiler")
@pytest.mark.parametrize("f", FUNCTIONS)
def test_in_c(f, tmp_path):
    compiled = wg.jit(lambda z: f(z) + 0j, strict=True)
    z = 0.7 - 0.4j
    expected = compiled(z)
    library = shared_library(compiled.c_source, tmp_path)
    function = next(
        f for name in ("function", "_lambda_", "f") if (f := getattr(library, name, None))
    )
    function.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    re, im = ctypes.c_double(), ctypes.c_double()
    assert function(z.real, z.imag, ctypes.byref(re), ctypes.byref(im)) == 0
    np.testing.assert_allclose(complex(re.value, im.value), expected, rtol=1e-14)


@pytest.mark.skipif(GCC is None, reason="no C compiler")
def test_gradient_in_c(tmp_path):
    gradient = wg.jit(wg.grad(mandelbrot, (0, 1)), strict=True)
    expected = gradient(0.1, 0.2, 5)
    library = shared_library(gradient.c_source, tmp_path)
    (name,) = (line.split("(")[0].removeprefix("int ") for line in gradient.c_source.splitlines()
               if line.startswith("int ") and "double x" in line)  # fmt: skip
    outs = [ctypes.c_double(), ctypes.c_double()]
    status = getattr(library, name)(
        ctypes.c_double(0.1), ctypes.c_double(0.2), ctypes.c_int64(5), *map(ctypes.byref, outs)
    )
    assert status == 0
    np.testing.assert_allclose([out.value for out in outs], expected, rtol=1e-14)


# --- arrays -----------------------------------------------------------------------------------

X = np.linspace(0.1, 1.0, 8)
Z = np.exp(1j * X) * np.arange(1, 9)
A = np.arange(9.0).reshape(3, 3) + 1j * np.eye(3) + 0.5j


def transformed(x):
    n = len(x)
    found = np.zeros(n, dtype=complex)
    for k in range(n):
        for j in range(n):
            found[k] += x[j] * np.exp(-2j * np.pi * k * j / n)
    return found


def weighted_spectrum(x):
    return (np.abs(transformed(x)) ** 2 * np.arange(len(x))).sum()


def schroedinger(psi, potential):
    for _ in range(3):
        curvature = np.zeros_like(psi)
        curvature[1:-1] = psi[2:] - 2 * psi[1:-1] + psi[:-2]
        psi = psi + 0.01j * (0.5 * curvature - potential * psi)
    return psi


def probability(psi, potential):
    after = schroedinger(psi, potential)
    return (after * np.conj(after)).real.sum()


def moduli_of_product(a, x):
    return np.abs(a @ x).sum()


def parts(z):
    return z[1:] * 1, z[0], -z[::-1], z.real + 0.0, -z.imag, 2 * z.T, z.sum(), z.mean(), z.conj()


def rewritten(z, w):
    z = z.copy()
    z[1:] = z[:-1] * 1j
    z[0] = w
    z *= 2
    return z


def mandelbrot_of_array(c):
    z, total = np.zeros_like(c), 0.0
    for _ in range(5):
        z = z * z + c
        total += (np.abs(z) ** 2).sum()
    return total


def positive(z):
    return np.where(z.real > 0, z, -z)


def polynomial(coefficients, x):
    value = 0j
    for k in range(len(coefficients)):
        value = value * x + coefficients[k]
    return value


def over_items(z):
    total = 0j
    for item in z:
        total += item * item
    return total


def from_list(x):
    return np.array([cmath.exp(1j * k * x) for k in range(4)])


ARRAYS = [
    (transformed, (X,)),
    (weighted_spectrum, (X,)),
    (schroedinger, (Z, X)),
    (probability, (Z, X)),
    (parts, (Z,)),
    (parts, (Z[::-2],)),
    (rewritten, (Z, 2.0)),
    (rewritten, (Z, 2j)),
    (mandelbrot_of_array, (Z * 0.1,)),
    (positive, (Z,)),
    (polynomial, (Z, 0.3 + 0.1j)),
    (over_items, (Z,)),
    (from_list, (0.4,)),
    (lambda x: np.array([1 + 2j, x, 3]), (0.5,)),
    (lambda a, b: a @ b, (A, A.T.copy())),
    (lambda a, b: a @ b, (A, A.T)),
    (lambda a, b: a @ b, (A, A.real)),
    (lambda a, b: a @ b, (A.real, A)),
    (lambda a, b: a @ b, (A, A[0])),
    (lambda a, b: a @ b, (A[0], A)),
    (lambda a, b: a @ b, (A[0], A[1])),
    (moduli_of_product, (A, A[0])),
    (lambda z: np.sqrt(z) + np.log(z) * np.exp(z) - np.sin(z) / np.cosh(z), (Z,)),
    (lambda z: z + 1, (Z[::2],)),
    (lambda z: z / abs(z), (Z,)),
    (lambda z, w: z * w, (A, A[0])),
    (lambda z, x: z * x - x / z, (Z, X)),
    (lambda z, k: z * k, (Z, np.arange(8))),
    (lambda z: z**2 + z**-1 + z**0.5, (Z,)),
    (lambda z, w: z == w, (Z, Z + 1e-300)),
    (lambda z: np.angle(z), (Z,)),
    (lambda z: np.isnan(z).any(), (Z,)),
    (lambda z: z.sum(axis=0), (A,)),
    (lambda z: z.reshape(9) * 1, (A,)),
    (lambda z: np.dot(z, z), (Z,)),
    (lambda z: np.vdot(z, z * 1j), (Z,)),
    (lambda z: np.outer(z, z), (Z,)),
    (lambda z: np.zeros((2, 2), complex) + 1, (Z,)),
    (lambda z: np.full(3, 1j) * z[0], (Z,)),
    (lambda z: np.ones_like(z), (Z,)),
    (lambda x: x.astype(complex), (X,)),
    (lambda x: np.exp(1j * x), (X,)),
    (lambda x: np.exp(1j * x), (np.empty(0),)),
    (lambda z: z[np.array([0, 2])], (Z,)),
    (lambda z: np.stack([z, z * 2]), (Z,)),
    (lambda z, x: np.concatenate([z, x]), (Z, X)),
    (lambda z: np.diag(z), (Z,)),
    (lambda z: np.linalg.norm(z), (Z,)),
    (lambda z: np.trace(z), (A,)),
    (lambda z: np.cumsum(z), (Z,)),
    (lambda z: np.roll(z, 1), (Z,)),
    (lambda z: sum(z), (Z,)),
    (lambda z: len(z) + z.size + z.shape[0], (A,)),
    (lambda z: np.array(5.0) * z, (Z,)),
]


@pytest.mark.parametrize(("f", "args"), ARRAYS)
def test_of_arrays(f, args):
    same_as_python(f, *args)


ARRAY_GRADIENTS = [
    (weighted_spectrum, (X,)),
    (probability, (Z, X)),
    (lambda potential: probability(Z, potential), (X,)),
    (moduli_of_product, (A, A[0])),
    (lambda x: moduli_of_product(A, x), (A[0],)),
    (lambda a: np.abs(a @ A).sum(), (A,)),
    (mandelbrot_of_array, (Z * 0.1,)),
    (lambda c: abs(polynomial(c, 0.3 + 0.1j)), (Z,)),
    (lambda x: np.abs(from_list(x).sum()), (0.4,)),
    (lambda z: np.abs(rewritten(z, 2.0)).sum(), (Z,)),
    (lambda z: np.abs(np.dot(z, z)), (Z,)),
    (lambda z: abs(np.vdot(z, z * z)), (Z,)),
    (lambda z: np.abs(positive(z) - 1).sum(), (Z,)),
    (lambda z: np.abs(z / (z + 1)).mean(), (Z,)),
    (lambda z: np.abs(np.sqrt(z) + np.log(z) * np.exp(z)).sum(), (Z,)),
    (lambda z: np.abs(z.sum(axis=0) * z[0]).sum(), (A,)),
    (lambda x: np.abs(np.exp(1j * x) - x).sum(), (X,)),
    (lambda z: (z.real * z.imag).sum(), (Z,)),
]


@pytest.mark.parametrize(("f", "args"), ARRAY_GRADIENTS)
def test_gradient_of_arrays(f, args):
    same_gradient(f, *args)


ELSEWHERE = [
    lambda z: np.fft.fft(z),
    lambda z: np.linalg.solve(np.outer(z, z) + np.eye(8), z),
    lambda z: np.prod(z),
    lambda z: np.sort(z),
    lambda z: z.dtype == complex,
    lambda z: np.max(z),
    lambda z: z > 0,
    lambda z: np.zeros(8) + z.astype(np.complex64),
    lambda z: [z, z] == [z, z],
    lambda z: float(z[0]),
    lambda z: z.view(float),
]


@pytest.mark.parametrize("f", ELSEWHERE)
@pytest.mark.filterwarnings("ignore")
def test_left_to_the_python_form(f):
    compiled = wg.jit(f)
    assert_same(outcome(compiled, Z), outcome(f, Z))
    reasons = [getattr(form, "reason", None) for form in compiled._forms.values()]
    assert not any(isinstance(reason, InternalError) for reason in reasons), reasons


@pytest.mark.filterwarnings("ignore")
def test_writes_to_the_callers_array():
    """They reach the caller, in whatever form."""

    def doubled(z, x):
        z[1:] = z[1:] * 2
        x[0] = z[1].real
        return z[0]

    for f in (doubled, wg.jit(doubled)):
        z, x = Z.copy(), X.copy()
        assert f(z, x) == Z[0]
        np.testing.assert_array_equal(z[1:], Z[1:] * 2)
        assert x[0] == 2 * Z[1].real


@pytest.mark.filterwarnings("ignore")
def test_a_complex_number_in_a_real_array():
    def stored(x, z):
        x = x.copy()
        x[0] = z
        return x

    assert isinstance(outcome(wg.jit(stored), X, 1j), TypeError)


def read_after_write(x):
    z = np.exp(1j * x)
    imaginary, rest = z.imag, z[1:]
    z[1] = 9 + 1j
    z[:] = z.imag + 1j * z.real
    return imaginary.sum() + rest.sum()


def test_parts_and_slices_are_views():
    same_as_python(read_after_write, X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("f", [lambda z: z, lambda z: z.real, lambda z: z[1:], lambda z: z.T])
def test_results_that_are_parts_of_an_argument(f):
    found = wg.jit(f)(Z)
    np.testing.assert_array_equal(found, f(Z))
    assert np.shares_memory(found, Z)


def test_empty_and_unaligned():
    same_as_python(lambda z: (z * 2, z.sum()), np.empty(0, complex))
    wide = np.zeros(8, [("a", "i4"), ("z", "c16")])["z"]
    compiled = wg.jit(lambda z: z + 1)
    with pytest.warns(NativeWarning):
        np.testing.assert_array_equal(compiled(wide), wide + 1)


@pytest.mark.skipif(GCC is None, reason="no C compiler")
def test_arrays_in_c(tmp_path):
    compiled = wg.jit(mandelbrot_of_array, strict=True)
    c = Z * 0.1
    expected = compiled(c)
    library = shared_library(compiled.c_source, tmp_path)
    out, origin = ctypes.c_double(), ctypes.c_int64()
    given = c.ctypes.data_as(ctypes.c_void_p), ctypes.c_int64(8)
    assert library.mandelbrot_of_array(*given, ctypes.byref(out), ctypes.byref(origin)) == 0
    np.testing.assert_allclose(out.value, expected, rtol=1e-14)
