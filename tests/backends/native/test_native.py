"""`wg.jit`: native code gives what the Python form gives: values, types, exceptions, and what is changed."""

import ctypes
import math
import os
import pickle
import subprocess
import sys
import threading
import warnings
from typing import NamedTuple

import numpy as np
import pytest
import trees
from c_library import GCC, shared_library

import wengert as wg
from wengert.errors import BadArgument, InternalError, NativeWarning, NotNative

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def native(f, *args, rel=1e-14):
    """The result of the native form, which must be what the Python form gives, type by type."""
    compiled = wg.jit(f, strict=True)
    found = compiled(*args)
    expected = f(*args)
    assert compiled.exits == 0
    trees.assert_close(found, expected, rel=rel)
    assert type(found) is type(expected)
    again = compiled(*args)  # by the short way, where there is one
    trees.assert_close(again, expected, rel=rel)
    assert type(again) is type(expected)
    return found


# --- numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("x", [0.5, 2, True, np.float64(0.5), np.int64(3), np.float32(1.5)])
@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1,
        lambda x: 2 * x - x * x,
        lambda x: x / 4,
        lambda x: x // 2,
        lambda x: -x % 3,
        lambda x: x**2,
        lambda x: math.sin(x) + math.exp(-x),
        lambda x: x > 1,
        lambda x: abs(-x),
        lambda x: (x, (x * 2, None)),
    ],
)
def test_numbers_keep_their_value_and_their_type(f, x):
    native(f, x, rel=1e-7 if isinstance(x, np.float32) else 1e-15)


@pytest.mark.parametrize("x", [0.5, 2, np.float64(2.5), np.float32(0.5), np.float32(2.5)])
@pytest.mark.parametrize(
    "f", [lambda x: max(x, 1), lambda x: min(2, x), lambda x: x if x > 1 else 0.5 * x]
)
def test_one_of_two_numbers_is_of_its_own_type(f, x):
    native(f, x)


def test_what_cannot_keep_its_type_is_left_to_python():
    for x in (True, np.int64(1)):
        compiled = wg.jit(lambda x: max(x, 0.75))
        assert type(compiled(x)) is type(x)
        assert "native code would do little else than call `maximum`" in compiled.explain()


@pytest.mark.parametrize("n", [0, 1, 5])
def test_a_sum_that_starts_as_an_integer_is_one_until_a_float_is_added(n):
    def total(x, n):
        s = 0
        for _ in range(n):
            s = s + x
        return s

    assert type(native(total, 1.5, n)) is (int if n == 0 else float)


def test_a_sum_of_elements_is_a_numpy_scalar_once_there_is_one():
    def total(xs):
        s = 0.0
        for x in xs:
            s += x
        return s

    assert type(native(total, np.ones(3))) is np.float64
    assert type(native(total, np.ones(0))) is float


def test_loops_with_break_and_conditions():
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
            if steps > 1000:
                break
        return steps

    assert native(collatz, 27) == 111


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_recursion():
    assert native(fibonacci, 15) == 610


def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


def test_deep_recursion_is_left_to_python():
    compiled = wg.jit(depth, strict=True)
    assert compiled(100) == 100
    assert compiled.exits == 0
    with pytest.raises(RecursionError):
        compiled(10 * sys.getrecursionlimit())
    assert compiled.exits == 1


# --- what machine numbers cannot do -------------------------------------------------------


def test_integers_grow_beyond_64_bits():
    def factorial(n):
        result = 1
        for k in range(2, n + 1):
            result *= k
        return result

    compiled = wg.jit(factorial, strict=True)
    assert compiled(20) == math.factorial(20)
    assert compiled.exits == 0
    assert compiled(30) == math.factorial(30)
    assert compiled.exits == 1


def chosen(a, k):
    return a[k]


def checked(x):
    assert x > 0, f"{x} is not positive"
    if x > 10:
        raise ValueError(f"{x} is too much")
    return math.log(x)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: 1 / x, (0,)),
        (lambda x: 1.0 / x, (0.0,)),
        (lambda x: x % 0, (5,)),
        (math.log, (-1.0,)),
        (lambda x: math.exp(x), (1e3,)),
        (lambda x: x**-1, (0.0,)),
        (chosen, (np.ones(3), 3)),
        (chosen, (np.ones(3), -4)),
        (checked, (-1.0,)),
        (checked, (11.0,)),
        (lambda a, b: a + b, (np.ones(2), np.ones(3))),
        (lambda a: a.max(), (np.ones(0),)),
    ],
)
def test_exceptions_are_those_of_the_python_form(f, args):
    with pytest.raises((ArithmeticError, LookupError, ValueError, AssertionError)) as expected:
        f(*args)
    with pytest.raises(type(expected.value)) as found:
        wg.jit(f)(*args)
    assert str(found.value) == str(expected.value)


def test_a_function_may_be_called_like_one_of_the_c_library():
    def log(x):
        total = 0.0
        for k in range(len(x)):
            for n in range(3):
                total = total + math.log(x[k]) * math.sin(x[k] * n) / (1 + math.exp(-x[k]))
        return total

    x = np.array([1.0, 2.0, 3.0])
    assert wg.jit(log, strict=True)(x) == pytest.approx(log(x), rel=1e-14)
    expected = wg.grad(log)(x)
    assert wg.jit(wg.grad(log), strict=True)(x) == pytest.approx(expected, rel=1e-13)


def test_numpy_scalars_do_not_raise():
    with np.errstate(divide="ignore"):
        compiled = wg.jit(lambda a: a[0] / a[1], strict=True)
        assert compiled(np.array([1.0, 0.0])) == math.inf
        assert compiled.exits == 0


# --- arrays -------------------------------------------------------------------------------

rng = np.random.default_rng(0)
A, B, v, w = (
    rng.normal(size=(3, 4)),
    rng.normal(size=(3, 4)),
    rng.normal(size=4),
    rng.normal(size=3),
)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda a, b: 2 * a + b * b, (A, B)),
        (lambda a, x: a * x + 1, (A, v)),
        (lambda a, x: np.exp(a) / (1 + x[:, None]), (A, w)),
        (lambda a, b: np.where(a > b, a, 0), (A, B)),
        (lambda a, b: np.maximum(a, b).sum(axis=0), (A, B)),
        (lambda a: a.sum(axis=1, keepdims=True) + a, (A,)),
        (lambda a: (a.mean(), a.max(), np.argmax(a)), (A,)),
        (lambda a: a.T @ a, (A,)),
        (lambda a, b: a @ b.T, (A, B)),
        (lambda a, x: a @ x, (A, v)),
        (lambda a, x: x @ a, (A, w)),
        (lambda x, y: np.outer(x, y), (v, w)),
        (lambda a: a[1:, ::-2].copy(), (A,)),
        (lambda a: a[-1] + a[0, 1], (A,)),
        (lambda a: a.reshape(2, -1) * 1.5, (A,)),
        (lambda a: np.cumsum(a[0]), (A,)),
        (lambda a, i: a[i] * 2, (v, np.array([2, 0, -1]))),
        (lambda a: np.zeros_like(a), (A,)),
        (lambda a: np.array([a[0], 2.0, a[1] ** 2]), (v,)),
        (lambda a: a * 2, (A[:, ::2],)),
        (lambda a: a + 1, (A.astype(np.float32),)),
        (lambda a: a * 3 - 1, (np.arange(5),)),
        (lambda a: ~(a > 0) if False else (a > 0) & (a < 1), (A,)),
        (lambda a: np.sqrt(np.abs(a)) + np.tanh(a) + np.log1p(a * a), (A,)),
    ],
)
def test_arrays(f, args):
    found = native(f, *args, rel=1e-6 if args[0].dtype == np.float32 else 1e-13)
    expected = f(*args)
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, expected)), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        assert np.shape(a) == np.shape(b)


def test_an_element_written_in_a_loop():
    def smoothed(x):
        y = x.copy()
        for _ in range(3):
            for i in range(1, len(y) - 1):
                y[i] = (y[i - 1] + y[i] + y[i + 1]) / 3
        return y

    native(smoothed, rng.normal(size=9))


def test_arguments_are_changed_as_in_python_and_only_then():
    def doubled(a, k):
        a[:] = 2 * a
        return a[k]

    compiled = wg.jit(doubled, strict=True)
    a = np.arange(3.0)
    assert compiled(a, 1) == 2.0
    assert a.tolist() == [0, 2, 4]
    with pytest.raises(IndexError):
        compiled(a, 5)
    assert a.tolist() == [0, 4, 8]  # the Python form wrote before it raised, and once
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(fixed, 0)


def test_one_array_under_two_names():
    def shifted(a, b):
        a[1:] = b[:-1]
        return b.sum()

    a = np.arange(4.0)
    assert wg.jit(shifted)(a, a) == 3.0
    assert a.tolist() == [0, 0, 1, 2]


def test_other_shapes_and_types_are_other_forms():
    compiled = wg.jit(lambda a, b: a + b, strict=True)
    for a, b in [(A, B), (A, v), (v, v), (v, 1.0), (np.ones((1, 4)), A), (np.ones(1), v), (1, 2.5)]:
        for _ in range(2):
            trees.assert_close(compiled(a, b), a + b, rel=1e-15)


def test_results_own_their_memory():
    compiled = wg.jit(lambda a: a * 2, strict=True)
    first, second = compiled(v), compiled(v)
    assert first.flags.owndata
    assert not np.shares_memory(first, second)


# --- containers ---------------------------------------------------------------------------


class Point(NamedTuple):
    x: float
    y: float


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda p: p.x * p.y, (Point(2.0, 3.0),)),
        (lambda p: Point(p.y, p.x), (Point(2.0, 3.0),)),
        (lambda d: {"b": d["a"] * 2}, ({"a": 1.5},)),
        (lambda xs: [xs[1], xs[0] + xs[2]], ([1.0, 2.0, 3.0],)),
        (lambda xs: sum([x * x for x in xs]) if False else xs[0], ((1.0, 2.0),)),
    ],
)
def test_containers(f, args):
    native(f, *args)


def test_a_long_list_of_numbers():
    def dot(xs):
        total = 0.0
        for k in range(len(xs)):
            total += k * xs[k]
        return total

    native(dot, [0.1 * k for k in range(100)])


def test_closures_defaults_and_keywords():
    def make(scale):
        def f(x, *, shift=1.0):
            return scale * x + shift

        return f

    compiled = wg.jit(make(2.0), strict=True)
    assert compiled(3.0) == 7.0
    assert compiled(3.0, shift=0.5) == 6.5
    assert wg.jit(make(np.ones(2)), strict=True)(3.0).tolist() == [4.0, 4.0]


RATE = 2.0


def with_rate(x):
    return RATE * x


def test_globals_are_read_when_it_is_called():
    global RATE
    compiled = wg.jit(with_rate, strict=True)
    try:
        assert compiled(3.0) == 6.0
        RATE = 5.0
        assert compiled(3.0) == 15.0
        RATE = np.ones(2)
        assert compiled(3.0).tolist() == [3.0, 3.0]
    finally:
        RATE = 2.0


# --- derivatives --------------------------------------------------------------------------


def logsumexp(x):
    m = x.max()
    return m + np.log(np.exp(x - m).sum())


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def logistic_map(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def grid(a, n):
    total = 0.0
    for i in range(n):
        row = a * i
        for j in range(i):
            row = row * math.cos(a) + j
        total += row
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (logsumexp, (v,)),
        (newton, (2.0,)),
        (logistic_map, (3.2, 0.4, 50)),
        (grid, (0.3, 7)),
        (lambda a, x: np.sum(np.tanh(a @ x) ** 2), (A, v)),
        (lambda a: np.mean(np.sin(a) ** 2) / np.linalg.norm(a), (v,)),
    ],
)
def test_derivatives(f, args):
    native(wg.grad(f), *args, rel=1e-12)
    native(wg.value_and_grad(f), *args, rel=1e-12)
    trees.assert_close(wg.grad(wg.jit(f, strict=True))(*args), wg.grad(f)(*args), rel=1e-12)


def test_all_verbs_take_a_native_function():
    f = wg.jit(lambda x: math.sin(x) * x, strict=True)
    slope = math.cos(1.0) + math.sin(1.0)
    assert wg.gradient(f, 1.0) == pytest.approx((slope,))
    assert wg.derivative(f)(1.0) == pytest.approx(slope)
    assert wg.pullback(f, 1.0)[1](1.0) == pytest.approx((slope,))
    assert wg.pushforward(f, 1.0)[1](1.0) == pytest.approx(slope)
    curvature = 2 * math.cos(1.0) - math.sin(1.0)
    assert wg.hvp(f)(1.0, 1.0) == pytest.approx(curvature)
    assert wg.jit(wg.grad(wg.grad(f)), strict=True)(1.0) == pytest.approx(curvature)
    assert wg.grad(lambda x: 2 * f(x))(1.0) == pytest.approx(2 * slope)


def test_as_a_decorator_of_functions_and_methods():
    @wg.jit
    def square(x):
        """Squared."""
        return x * x

    @wg.jit(strict=True)
    def cube(x):
        return x * x * x

    class Scale:
        def __init__(self, k):
            self.k = k

        @wg.jit
        def __call__(self, x):
            return self.k * x

    assert (square(3.0), cube(2.0), Scale(3.0)(2.0)) == (9.0, 8.0, 6.0)
    assert (square.__name__, square.__doc__) == ("square", "Squared.")


def test_it_can_be_pickled():
    assert pickle.loads(pickle.dumps(wg.jit(newton)))(4.0) == newton(4.0)


def test_threads():
    compiled = wg.jit(wg.grad(logistic_map), strict=True)
    expected = compiled(3.7, 0.4, 1000)
    found = []

    def work():
        found.extend(compiled(3.7, 0.4, 1000) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 200


# --- what is not native -------------------------------------------------------------------


def spelled(x):
    words = {"one": x}
    return words.get("two", {x})


def test_what_has_no_native_form_runs_as_python_and_says_so_once():
    compiled = wg.jit(spelled)
    with pytest.warns(NativeWarning, match="no native form"):
        assert compiled(2.0) == {2.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(3.0) == {3.0}
    assert "no native form" in compiled.explain()


def test_a_function_that_is_only_run_is_not_differentiated():
    def f(x):
        return x if wg.is_differentiating() else -x

    with pytest.warns(NativeWarning, match="as Python"):
        assert wg.jit(f)(2.0) == -2.0
    assert wg.jit(wg.grad(f), strict=True)(2.0) == 1.0


def test_strict_says_which_line_and_why():
    with pytest.raises(NotNative) as found:
        wg.jit(spelled, strict=True)(2.0)
    assert found.value.code == "WG501"
    assert 'words.get("two", {x})' in str(found.value)
    with pytest.raises(NotNative, match="complex64"):
        wg.jit(lambda z: z, strict=True)(np.complex64(1j))


def test_nothing_to_show_before_the_first_call():
    with pytest.raises(BadArgument, match="call the function first"):
        _ = wg.jit(newton).source


def test_without_llvmlite_the_python_form_runs(monkeypatch):
    from wengert.backends.native.run import machine

    def missing():
        raise ImportError("No module named 'llvmlite'")

    monkeypatch.setattr(machine, "machine", missing)
    with pytest.warns(NativeWarning, match="wengert\\[native\\]"):
        assert wg.jit(lambda x: x + 0.125)(1.0) == 1.125


# --- reading ------------------------------------------------------------------------------


def test_the_loop_form_can_be_read():
    compiled = wg.jit(wg.value_and_grad(logsumexp), strict=True)
    compiled(v)
    text = compiled.source
    assert "exp(x[i_1] - m)" in text
    assert text.count("for ") == 3  # the greatest, the sum, the gradient: no other pass over memory
    assert "define" in compiled.llvm


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
def test_c_with_numbers(tmp_path):
    compiled = wg.jit(wg.value_and_grad(newton), strict=True)
    value, gradient = compiled(3.0)
    library = shared_library(compiled.c_source, tmp_path)
    out, out_bar = ctypes.c_double(), ctypes.c_double()
    function = library.value_and_grad_newton
    assert function(ctypes.c_double(3.0), ctypes.byref(out), ctypes.byref(out_bar)) == 0
    assert (out.value, out_bar.value) == pytest.approx((value, gradient), rel=1e-15)


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
def test_c_with_arrays(tmp_path):
    compiled = wg.jit(wg.value_and_grad(logsumexp), strict=True)
    value, gradient = compiled(v)
    library = shared_library(compiled.c_source, tmp_path)
    out, out_bar = ctypes.c_double(), np.empty(4)
    pointer = ctypes.POINTER(ctypes.c_double)
    arguments = [v.ctypes.data_as(pointer), out_bar.ctypes.data_as(pointer), ctypes.c_int64(4)]
    assert library.value_and_grad_logsumexp(*arguments, ctypes.byref(out)) == 0
    assert out.value == pytest.approx(value, rel=1e-15)
    trees.assert_close(out_bar, gradient, rel=1e-13)


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
def test_c_says_where_it_gave_up(tmp_path):
    compiled = wg.jit(lambda x: 1 / x, strict=True)
    compiled(2.0)
    name = compiled.source.split("def ")[1].split("(")[0]
    function = shared_library(compiled.c_source, tmp_path)[name]
    out = ctypes.c_double()
    assert function(ctypes.c_double(4.0), ctypes.byref(out)) == 0
    assert out.value == 0.25
    assert function(ctypes.c_double(0.0), ctypes.byref(out)) != 0


# --- the cache ----------------------------------------------------------------------------


def compiled_files(directory):
    return sorted(directory.glob("*.o"))


def test_code_is_kept_on_disk_and_damaged_files_are_made_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path / "cache"))
    assert wg.jit(newton, strict=True)(4.0) == newton(4.0)
    (path,) = compiled_files(tmp_path / "cache")
    kept = path.read_bytes()
    assert path.stat().st_mode & 0o077 == 0
    for damaged in (b"", kept[:-1], kept[:60] + b"\0" + kept[61:], b"\x7fELF" + kept):
        path.write_bytes(damaged)
        assert wg.jit(newton, strict=True)(4.0) == newton(4.0)
        assert path.read_bytes() == kept


def test_a_directory_that_others_may_write_to_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path))
    tmp_path.chmod(0o777)
    assert wg.jit(newton, strict=True)(4.0) == newton(4.0)
    assert compiled_files(tmp_path) == []


def test_the_cache_can_be_turned_off(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("WENGERT_CACHE", "off")
    assert wg.jit(newton, strict=True)(4.0) == newton(4.0)
    assert list(tmp_path.iterdir()) == []


def test_a_second_process_uses_what_the_first_has_kept(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import wengert as wg\n"
        "from wengert.backends.native.run import machine\n"
        "made = []\n"
        "compile_ = machine._object_code\n"
        "machine._object_code = lambda *args: made.append(args) or compile_(*args)\n"
        "def f(x, n):\n"
        "    for _ in range(n):\n"
        "        x = x * x - 0.5\n"
        "    return x\n"
        "print(wg.jit(wg.grad(f), strict=True)(0.4, 5), len(made))\n"
    )
    environment = {**os.environ, "WENGERT_CACHE": str(tmp_path / "cache")}
    runs = [
        subprocess.run(
            [sys.executable, program], env=environment, capture_output=True, text=True, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert runs[0][0] == runs[1][0]
    assert [run[1] for run in runs] == ["2", "0"]  # the program, and what all programs share


# --- found by reading the code against Python's rules -----------------------------------------


def test_a_list_is_read_from_its_end_as_it_grows():
    def last_of(n):
        xs = [0.5]
        total = 0.0
        for k in range(n):
            total = total + xs[-1]
            xs.append(xs[-1] * 2 + k)
            total = total + xs[-1] * len(xs)
        return total

    native(last_of, 7)


def test_integers_of_any_size_among_the_arguments():
    compiled = wg.jit(lambda n: n + 1, strict=True)
    assert compiled(1) == 2
    assert compiled(2**70) == 2**70 + 1
    total = wg.jit(lambda ns: ns[0] + ns[1], strict=True)
    assert total([1] * 60) == 2
    assert total([2**70] * 60) == 2**71


def test_arrays_of_integers_divided_by_zero():
    with np.errstate(divide="ignore"):
        compiled = wg.jit(lambda a, b: a // b)
        assert compiled(np.ones(2, int), np.zeros(2, int)).tolist() == [0, 0]
        assert "native code would do little else than call `floordiv`" in compiled.explain()
    native(lambda a: a // 3 + a % 4, np.arange(-5, 5))


def test_numpys_functions_of_pythons_integers_give_numpys_integers():
    assert type(native(lambda n: np.maximum(n, 2), 1)) is np.int64


def test_an_array_without_axes():
    native(lambda a: a * 2, np.array(1.5))
    assert native(lambda a: a.copy(), np.array(1.5)).shape == ()


def test_many_threads_with_containers():
    compiled = wg.jit(lambda p: p[0] @ p[1], strict=True)
    sizes = range(2, 12)
    expected = {n: float(n) for n in sizes}
    found = []

    def work():
        for _ in range(20):
            found.extend((n, compiled((np.ones(n), np.ones(n)))) for n in sizes)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 * 20 * len(sizes)
    assert all(expected[n] == value for n, value in found)


def test_a_swap_in_a_loop():
    def waves(u, v, n):
        for _ in range(n):
            w = 2 * v - u
            w[0] = 0.5 * v[-1]
            u, v = v, w
        return u + 3 * v

    native(waves, rng.normal(size=5), rng.normal(size=5), 6)
    native(wg.grad(lambda u, v, n: np.sum(waves(u, v, n) ** 2)), np.ones(4), np.arange(4.0), 3)


def test_a_name_that_is_not_bound():
    def last_positive(xs):
        for x in xs:
            if x > 0:
                found = x
        return found

    compiled = wg.jit(last_positive, strict=True)
    assert compiled(np.array([1.0, 2.0, -1.0])) == 2.0
    with pytest.raises(UnboundLocalError):
        compiled(np.array([-1.0]))
    assert compiled.exits == 1


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_matrices_small_and_large(n, dtype):
    a, b = (rng.normal(size=shape).astype(dtype) for shape in ((n, n + 1), (n + 1, n)))
    rel = 1e-13 if dtype == np.float64 else 1e-4
    native(lambda a, b: a @ b, a, b, rel=rel)
    native(lambda a, b: b.T @ a.T + a @ a.T, a, b, rel=rel)
    native(lambda a, b: a[:, ::2] @ b[::2], a, b, rel=rel)
    native(wg.grad(lambda a, b: np.sum((a @ b) ** 2), (0, 1)), a, b, rel=10 * rel)


@pytest.mark.skipif(GCC is None, reason="there is no C compiler")
def test_c_with_products_of_matrices(tmp_path):
    def norm(a, b):
        return np.sum((a @ b.T) ** 2)

    compiled = wg.jit(norm, strict=True)
    expected = compiled(A, B)
    pointer = ctypes.POINTER(ctypes.c_double)
    out = ctypes.c_double()
    arguments = [A.ctypes.data_as(pointer), B.ctypes.data_as(pointer)]
    sizes = [ctypes.c_int64(3), ctypes.c_int64(4)]
    function = shared_library(compiled.c_source, tmp_path).norm
    assert function(*arguments, *sizes, ctypes.byref(out)) == 0
    assert out.value == pytest.approx(expected, rel=1e-14)


def test_a_global_that_changes_back_and_forth():
    global RATE
    compiled = wg.jit(with_rate, strict=True)
    try:
        for _ in range(3):
            for RATE in (2.0, np.ones(2), 3):
                assert np.all(compiled(2.0) == RATE * 2.0)
    finally:
        RATE = 2.0


def helper(x):
    return x + 1


def decrement(x):
    return x - 1


def with_helper(x):
    return helper(x) * 2


def test_a_function_that_is_bound_anew_and_back():
    global helper
    compiled, first = wg.jit(with_helper, strict=True), helper
    try:
        assert compiled(1.0) == 4.0
        helper = decrement
        assert compiled(1.0) == 0.0
        helper = first
        assert [compiled(1.0), compiled(1.0)] == [4.0, 4.0]
    finally:
        helper = first


def test_there_is_no_memory_for_a_result():
    compiled = wg.jit(lambda a, b: a[:, None] + b, strict=True)
    assert compiled(np.ones(2), np.ones(3)).shape == (2, 3)
    a = np.lib.stride_tricks.as_strided(np.ones(1), (2**27,), (0,))
    with pytest.raises(MemoryError):
        compiled(a, a)


def test_a_mistake_of_wengerts_own_is_no_wrong_result_and_no_crash(monkeypatch):
    from wengert.backends.native.program import function

    def broken(*args, **options):
        raise KeyError("surprise")

    monkeypatch.setattr(function, "lower", broken)
    with pytest.warns(NativeWarning, match="surprise"):
        assert wg.jit(lambda x: x + 0.375)(1.0) == 1.375
    with pytest.raises(InternalError, match="surprise"):
        wg.jit(lambda x: x + 0.625, strict=True)(1.0)


def unreadable(x):
    import heapq

    return heapq.merge([x], [2.0]).__next__()


def test_what_wengert_cannot_read_runs_as_python():
    compiled = wg.jit(unreadable)
    with pytest.warns(NativeWarning):
        assert compiled(1.0) == 1.0
    with pytest.raises(wg.WengertError):
        wg.jit(unreadable, strict=True)(1.0)


def alike(a, b):
    """Whether two numbers are the same, zeros by their signs."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return repr(a) == repr(b)
    return a == b


@pytest.mark.parametrize("f", [lambda a, b: a // b, lambda a, b: a % b], ids=["floordiv", "mod"])
def test_quotients_and_remainders_at_the_edges(f):
    compiled = wg.jit(f, strict=True)
    floats = [-7.5, -1.0, -0.0, 1.0, 3.0, 1e308, math.inf, -math.inf, math.nan]
    integers = [-(2**63), -7, -1, 1, 3, 2**62, 2**63 - 1]
    for numbers in (floats, integers):
        for a in numbers:
            for b in numbers:
                if b != 0:
                    assert alike(compiled(a, b), f(a, b)), (a, b)


@pytest.mark.parametrize(
    "f",
    [round, bool, math.floor, lambda x: not x, lambda x: math.isnan(x), lambda x: np.floor(x)],
)
@pytest.mark.parametrize("x", [2.5, np.float64(2.5), np.float64(0.0)])
def test_functions_that_give_numbers_of_another_kind(f, x):
    native(lambda x: f(x), x)


# --- names, and shapes of cotangents ------------------------------------------------------


def test_names_that_look_like_those_of_intermediate_results_stay_apart():
    def f(t_1, t_2):
        t = t_1 * 2.0 + t_2 * 3.0
        t_3 = math.sin(t * t_1) + t_2 / t_1
        for _ in range(3):
            t_3 = t_3 * t + t_2 * t_1 - (t + 1.5) * (t_2 - 2.5)
        return t_3 * (t_1 + t_2)

    native(f, 0.3, 0.4)
    native(wg.value_and_grad(f, argnums=(0, 1)), 0.3, 0.4)


@pytest.mark.parametrize(
    ("first", "second"),
    [((5, 4), (4,)), ((5, 4), (5, 1)), ((1, 4), (5, 1)), ((3, 1, 4), (5, 1)), ((4,), (2, 1))],
)
@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: (np.exp(-a) * b).sum(),
        lambda a, b: (np.exp(-a) + 3.0 * b).sum(),
        lambda a, b: (a * b).mean(axis=0).sum(),
    ],
)
def test_cotangents_that_are_the_same_along_an_axis(f, first, second):
    random = np.random.default_rng(0)
    a, b = random.random(first), random.random(second)
    native(wg.value_and_grad(f, argnums=(0, 1)), a, b, rel=1e-12)


def test_what_reading_refuses_is_recorded_under_jit():
    def swapped(x, a, n):
        b, c, found = a * x, a + x, []
        for _ in range(n):
            b, c = c, b
            found.append(b)
            b[0] *= x
        return sum(f.sum() * (k + 1) for k, f in enumerate(found))

    gradient = wg.grad(swapped, (0, 1))
    compiled, step = wg.jit(gradient), 1e-6
    for n, length in ((2, 2), (3, 2), (2, 3), (2, 2)):
        a = np.linspace(0.1, 0.9, length)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NativeWarning)
            slope, _ = compiled(0.7, a.copy(), n)
        near, far = swapped(0.7 + step, a.copy(), n), swapped(0.7 - step, a.copy(), n)
        assert slope == pytest.approx((near - far) / (2 * step), rel=1e-7)
    with pytest.raises(NotNative, match="`refused` has no native form yet"):
        wg.jit(gradient, strict=True)(0.7, a.copy(), 2)
