"""What has no native form is computed by Python where it stands: NumPy's own functions, called by native code."""

import threading

import numpy as np
import pytest
from native_outcomes import described, is_as_in_python, outcome

import wengert as wg
from wengert.errors import NotNative

pytest.importorskip("llvmlite")

RNG = np.random.default_rng(7)
X = RNG.normal(size=9)
A = RNG.normal(size=(3, 3))
STACK = RNG.normal(size=(4, 3, 3)) + 3.0 * np.eye(3)


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def power(x):
    """Complex results."""
    return (np.abs(np.fft.rfft(x)) ** 2 * 0.5).sum()


def there_and_back(x):
    """Complex operands."""
    turned = np.fft.fft(x) * np.exp(1j * np.arange(len(x)))
    return (np.fft.ifft(turned).real ** 2 * np.cos(x)).sum()


def pseudo_inverse(a):
    return (np.sin(np.linalg.pinv(a)) * a.T).sum()


def stacked(a):
    return (np.linalg.solve(a, np.sin(a)) ** 2 * a).sum()


def scaled_by_rank(a):
    """A number, an integer."""
    return (np.sin(a) * a).sum() * np.linalg.matrix_rank(a)


def bessel(x):
    """Of numbers, in a loop."""
    total = 0.0
    for k in range(len(x)):
        total += np.i0(x[k] * 0.5) * math_like(x[k])
    return total


def math_like(v):
    return v * v + 1.0


def without_gaps(x):
    return np.nanmedian(np.where(x > 1.0, np.nan, x) * x) * (x * x).sum()


def smallest(x):
    return (x[np.argpartition(x, 3)[:3]] ** 2 * 0.5).sum()


def eigenvalues(a):
    """A tuple of arrays."""
    values, vectors = np.linalg.eigh(a + np.swapaxes(a, 1, 2))
    return (np.sin(values) * 0.5).sum() + (vectors**2 * np.arange(3.0)[:, None]).sum()


def factors(a):
    """A named tuple of arrays, which are results."""
    q, r = np.linalg.qr(a * np.cos(a))
    return q, np.sin(r) + r


def turned(a):
    """A view."""
    return (np.rot90(a) * a * np.cos(a)).sum()


def backwards(x):
    """Operands that do not lie in order."""
    return (np.abs(np.fft.rfft(x[::-1])) * np.abs(np.fft.rfft(x[::2], 9))).sum()


def smoothed(x):
    """Again and again, each of what the one before gave."""
    for _ in range(4):
        x = np.fft.irfft(np.fft.rfft(x) * 0.5, len(x)) + 0.1 * x
    return (x * x).sum()


PROGRAMS = [
    (power, X),
    (there_and_back, X),
    (pseudo_inverse, A),
    (stacked, STACK),
    (scaled_by_rank, A),
    (bessel, X),
    (without_gaps, X),
    (smallest, X),
    (eigenvalues, STACK),
    (turned, A),
    (backwards, X),
    (smoothed, X),
]


def calls_of(compiled):
    (form,) = compiled._forms.values()
    return [call.name for call in form.kernel.lowered.calls_out.values()]


@pytest.mark.parametrize(("function", "x"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
@pytest.mark.parametrize("form", [lambda f: f, wg.value_and_grad], ids=["value", "gradient"])
def test_what_python_computes_is_part_of_a_native_program(function, x, form):
    function = form(function)
    compiled = wg.jit(function)
    found, expected = compiled(x), function(x)
    assert calls_of(compiled)
    assert compiled.exits == 0
    if not isinstance(found, tuple):
        found, expected = (found,), (expected,)
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


# --- where it is called, and what is said of that -----------------------------------------


def spectra(x, n):
    total = 0.0
    for k in range(n):
        total += np.abs(np.fft.rfft(x * k)).sum()
    return total


def test_explain_says_what_python_computes_and_where():
    compiled = wg.jit(spectra)
    assert compiled(X, 3) == pytest.approx(spectra(X, 3))
    line = spectra.__code__.co_firstlineno + 3
    assert compiled.explain() == (
        "(x: array[float64, 1], n: int) native, with calls of Python: "
        f"`rfft` (test_native_calls_out.py:{line}, in a loop)"
    )


def test_strict_refuses_calls_of_python_in_loops():
    with pytest.raises(NotNative) as caught:
        wg.jit(spectra, strict=True)(X, 3)
    assert str(caught.value).startswith(
        "[WG501] spectra has no native form: `rfft` has no native form yet, and is in a loop"
    )
    assert "np.fft.rfft(x * k)" in str(caught.value)


def called_in_a_loop(x, n):
    total = 0.0
    for k in range(n):
        total += power(x * k)
    return total


def test_so_it_does_where_a_function_is_called_in_a_loop():
    with pytest.raises(NotNative, match="`rfft` has no native form yet, and is in a loop"):
        wg.jit(called_in_a_loop, strict=True)(X, 3)


def test_strict_takes_them_elsewhere():
    compiled = wg.jit(power, strict=True)
    assert compiled(X) == pytest.approx(power(X))
    line = power.__code__.co_firstlineno + 2
    assert compiled.explain() == (
        "(x: array[float64, 1]) native, with calls of Python: "
        f"`rfft` (test_native_calls_out.py:{line})"
    )


def test_what_would_do_nothing_else_runs_as_python(recwarn):
    compiled = wg.jit(lambda x: np.fft.rfft(x), strict=True)
    assert described(compiled(X)) == described(np.fft.rfft(X))
    assert described(compiled(X)) == described(np.fft.rfft(X))
    assert compiled.exits == 0
    assert not recwarn.list
    (said,) = compiled.explain().splitlines()
    assert said.startswith(
        "(x: array[float64, 1]) Python: native code would do little else than call `rfft` (test_"
    )


def test_c_has_no_python():
    compiled = wg.jit(power)
    compiled(X)
    with pytest.raises(NotNative, match="a call of Python, which a file of C has not"):
        _ = compiled.c_source


def test_loops_around_them_stay_on_one_thread():
    compiled = wg.jit(spectra, parallel=True)
    assert compiled(X, 40) == pytest.approx(spectra(X, 40))
    assert "spread" not in compiled.source


# --- what goes wrong ----------------------------------------------------------------------


def inverses(a, n):
    a[0, 0] = 2.0
    total = 0.0
    for k in range(n):
        total += np.sin(np.linalg.pinv(a / (2.0 - k))).sum()
    return total


def test_what_python_raises_reaches_the_caller(monkeypatch):
    compiled = wg.jit(inverses)
    is_as_in_python(inverses, A.copy(), 2, compiled=compiled)
    assert compiled.exits == 0
    pinv = np.linalg.pinv

    def failing(a):
        if a[0, 0] > 1.5:
            raise np.linalg.LinAlgError("SVD did not converge")
        return pinv(a)

    monkeypatch.setattr(np.linalg, "pinv", failing)
    mine, theirs = A.copy(), A.copy()
    assert outcome(compiled, mine, 2) == outcome(inverses, theirs, 2)
    assert outcome(compiled, mine, 2)[0] is np.linalg.LinAlgError
    np.testing.assert_array_equal(mine, theirs)
    assert compiled.exits == 2


def test_a_singular_stack_raises_as_in_python():
    singular = STACK.copy()
    singular[2] = 1.0
    compiled = wg.jit(stacked)
    compiled(STACK)
    is_as_in_python(stacked, singular, compiled=compiled)
    assert compiled.exits == 1


GIVEN = {
    "of another dtype": lambda found: found.astype(np.complex64),
    "of another rank": lambda found: found[None, :],
    "of another size": lambda found: np.concatenate([found, found]),
    "a number": lambda found: complex(found[0]),
    "of objects": lambda found: found.astype(object),
    "of a class of its own": lambda found: np.ma.masked_array(found),
    "in another order": lambda found: np.repeat(found, 2)[::-2],
    "read only": lambda found: np.frombuffer(found.tobytes(), found.dtype),
}


@pytest.mark.parametrize("what", GIVEN)
def test_something_else_is_given_than_before(what, monkeypatch):
    compiled = wg.jit(power)
    compiled(X)
    rfft = np.fft.rfft
    monkeypatch.setattr(np.fft, "rfft", lambda x: GIVEN[what](rfft(x)))
    found, expected = compiled(X), power(X)
    assert type(found) is type(expected)
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_result_that_stays_with_the_function_is_copied(monkeypatch):
    kept = np.zeros(5, complex)
    rfft = np.fft.rfft

    def always_the_same(x):
        kept[:] = rfft(x)
        return kept

    def two(x):
        a, b = np.fft.rfft(x), np.fft.rfft(x * x)
        return (np.abs(a - b) ** 2 + np.abs(a)).sum()

    compiled = wg.jit(two)
    right = compiled(X)
    monkeypatch.setattr(np.fft, "rfft", always_the_same)
    assert compiled(X) == right
    assert compiled(2.0 * X) != right


def test_ctrl_c_while_python_computes(monkeypatch):
    compiled = wg.jit(power)
    compiled(X)
    rfft, count = np.fft.rfft, iter(range(9))

    def interrupted(x):
        if next(count) == 0:
            raise KeyboardInterrupt
        return rfft(x)

    monkeypatch.setattr(np.fft, "rfft", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiled(X)
    assert compiled(X) == pytest.approx(power(X))


def test_several_threads_call_the_same():
    compiled = wg.jit(spectra)
    compiled(X, 2)
    found = {}

    def work(k):
        found[k] = [compiled(X * k, 30) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, values in found.items():
        assert values == pytest.approx([spectra(X * k, 30)] * 20)


def test_two_programs_that_read_alike_call_what_is_theirs():
    def first(a):
        return (np.linalg.pinv(a) * a * 0.5).sum()

    def second(a):
        return (np.linalg.matrix_power(a, -2) * a * 0.5).sum()

    assert wg.jit(first)(A) == pytest.approx(first(A))
    assert wg.jit(second)(A) == pytest.approx(second(A))


# --- types --------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [float, np.float64, np.float32, int, np.int64, bool])
def test_numbers_are_handed_over_as_they_are(cls):
    def shape(v):
        return np.i0(v) * 0.5 + np.sin(v) * np.cos(v) - v * 2.0

    is_as_in_python(shape, cls(1))


def test_complex_numbers_are_too():
    def angle(z):
        return np.angle(z) * 2.0 + abs(z) * np.cos(z.real) + z.imag

    is_as_in_python(angle, 1.0 + 2.0j)
    is_as_in_python(angle, np.complex128(1.0 + 2.0j))


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.bool_])
def test_arrays_of_any_type_are_too(dtype):
    def placed(x):
        rank = np.lexsort((x,))
        return (x * rank * 2.0).sum() + np.sin(rank).sum()

    compiled = wg.jit(placed)
    x = np.array([[1, 0, 1, 1]]).astype(dtype)[0]
    assert compiled(x) == pytest.approx(placed(x))


def test_arrays_without_elements():
    compiled = wg.jit(without_gaps)
    compiled(X)
    is_as_in_python(stacked, STACK[:0], compiled=wg.jit(stacked))


def test_results_in_a_named_tuple_are_apart():
    compiled = wg.jit(factors)
    for one, other in zip(compiled(STACK), factors(STACK), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    assert calls_of(compiled) == ["qr"]
    assert compiled.exits == 0


# --- what NumPy does faster ---------------------------------------------------------------


def spread_of_sorted(x, n):
    total = 0.0
    for k in range(n):
        ordered = np.sort(x * (k + 1.0))
        total += ordered[-1] - ordered[len(x) // 2]
    return total


@pytest.mark.parametrize("size", [5, 99, 100, 3000])
def test_numpy_sorts_what_is_long(size):
    x = np.random.default_rng(size).normal(size=size)
    compiled = wg.jit(wg.value_and_grad(spread_of_sorted), strict=True)
    (value, slope), (right, right_slope) = (
        f(x, 3) for f in (compiled, wg.value_and_grad(spread_of_sorted))
    )
    assert value == pytest.approx(right, rel=1e-14)
    np.testing.assert_allclose(slope, right_slope, rtol=1e-14)
    assert compiled.exits == 0
    assert compiled.explain() == "(x: array[float64, 1], n: int) native"


@pytest.mark.parametrize("axis", [0, 1, -1, None])
def test_it_sorts_along_any_axis(axis):
    x = np.random.default_rng(3).normal(size=(40, 30))
    for given in (x, x.T, x[::2, ::-1]):
        compiled = wg.jit(lambda x: np.sort(x, axis=axis), strict=True)
        assert described(compiled(given)) == described(np.sort(given, axis=axis))
        compiled = wg.jit(lambda x: np.argsort(x, axis=axis), strict=True)
        assert described(compiled(given)) == described(np.argsort(given, axis=axis))


def test_it_knows_the_place_of_what_is_no_number_and_of_equals():
    x = np.random.default_rng(4).normal(size=400)
    x[7], x[9] = np.nan, x[11]
    for f in (np.sort, np.argsort):
        compiled = wg.jit(lambda x, f=f: f(x), strict=True)
        assert described(compiled(x)) == described(f(x))
        assert compiled.exits == 0


def test_c_sorts_by_itself():
    compiled = wg.jit(spread_of_sorted)
    compiled(X, 2)
    assert "call if large" in compiled.source
    assert "if large" not in compiled.c_source
    assert "ordered" in compiled.c_source


def test_functions_of_scipy():
    special = pytest.importorskip("scipy.special")

    def likelihood(x):
        return (special.gammaln(x * x + 1.0) * np.sin(x) * 0.5).sum()

    compiled = wg.jit(wg.value_and_grad(likelihood))
    value, slope = compiled(X)
    right, right_slope = wg.value_and_grad(likelihood)(X)
    assert value == pytest.approx(right, rel=1e-12)
    np.testing.assert_allclose(slope, right_slope, rtol=1e-12)
    assert "calls of Python: `gammaln` (" in compiled.explain()
    assert compiled.exits == 0


QUESTIONS = [lambda x, y: x is y, lambda x, y: np.shares_memory(x, y)]


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_of_identity_are_not_asked_of_copies(question):
    def f(x, y):
        return (np.sin(x) * y * np.cos(y)).sum(), question(x, y)

    x = np.array([np.nan, 2.0])
    for y in (x, x.copy(), x[:]):
        assert wg.jit(f)(x, y)[1] == f(x, y)[1]
