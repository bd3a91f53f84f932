"""What native code leaves out: copies, memory, steps. Results are those of the Python form."""

import gc
import re
import threading
import weakref

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NativeWarning

pytest.importorskip("llvmlite")
special = pytest.importorskip("scipy.special")


def agrees(f, *args):
    """The gradient is native, and that of the Python form."""
    native = wg.jit(wg.grad(f), strict=True)
    found = native(*args)
    np.testing.assert_allclose(found, wg.grad(f)(*args), rtol=1e-13, atol=1e-15)
    return native


# --- reads around writes ------------------------------------------------------------------


def first_and_rest(x):
    y = np.empty_like(x)
    y[0] = x[0] * 2
    y[1:] = x[1:] * x[:-1]
    return np.sum(y * y * x)


def last_and_rest(x):
    y = x * 1.5
    y[-1] = x[0]
    y[:-1] = y[:-1] * x[1:]
    return np.sum(y * x)


def overlapping(x):
    y = x * 1.5
    y[1] = x[0] * x[2]
    y[1:] = x[1:] ** 2
    y[2] = y[1] * x[1]
    return np.sum(y * y)


def of_a_sum_that_is_used_twice(x):
    y = x + x * x
    z = np.zeros_like(x)
    z[1:] = y[1:]
    z[0] = y[-1]
    return np.sum(z * y)


def in_a_loop(x):
    y = np.zeros_like(x)
    for _ in range(3):
        z = np.empty_like(y)
        z[0] = x[0]
        z[1:] = x[1:] * y[:-1]
        y = y + 0.5 * z
    return y[-1] + np.sum(y)


@pytest.mark.parametrize(
    "f", [first_and_rest, last_and_rest, overlapping, of_a_sum_that_is_used_twice, in_a_loop]
)
@pytest.mark.parametrize("n", [3, 8, 41])
def test_parts_that_are_written_one_after_the_other(f, n):
    agrees(f, np.random.default_rng(n).uniform(0.5, 1.5, n))


def test_what_a_write_leaves_alone_is_not_copied():
    native = agrees(in_a_loop, np.linspace(0.5, 1.5, 8))
    assert not re.search(r"\w+\[t_\d+ \+ i\w*\] = 0\.0", native.source)


# --- steps computed again -----------------------------------------------------------------


def cubic(x, n):
    y = 2 * x
    for _ in range(n):
        a = x * (y - x)
        b = x + 0.1 * a
        c = b * b - a
        y = y + 0.01 * (a + b * c)
    return y


def test_what_follows_in_a_few_steps_is_not_kept():
    native = wg.jit(wg.grad(cubic), strict=True)
    assert native(0.5, 20) == wg.grad(cubic)(0.5, 20)
    assert native.source.count("new f64[") == 1


def logistic(x, r, steps):
    for _ in range(steps):
        x = r * x * (1 - x)
    return x


def test_what_a_loop_carries_is_kept_where_more_follows_from_it():
    native = agrees(lambda x: logistic(x, 3.2, 50), 0.4)
    assert native.source.count("new f64[") == 1


# --- what waits for a write ---------------------------------------------------------------


def shifted_products(x, n):
    y = np.ones_like(x)
    for _ in range(n):
        z = np.empty_like(y)
        z[0] = x[0]
        z[1:] = x[1:] * y[:-1]
        y = y + 0.1 * z
    return np.sum(y)


def test_what_is_added_to_zeros_is_written():
    native = agrees(shifted_products, np.linspace(0.5, 1.5, 7), 6)
    sweep = native.source.split("for ", 1)[1]
    added = re.findall(r"(\w+)\[([^]]+)\] = \1\[\2\] \+", sweep)
    assert {re.sub(r"_\d+$", "", name) for name, _ in added} <= {"x_bar_out", "y_bar"}


def read_before_and_after(x):
    """The sum of products is pending while elements of one factor are written."""
    y = x * 2.0
    late = y * x
    y[0] = x[1]
    y[1:] = late[:-1] * x[1:]
    return np.sum(late * y)


def read_in_another_nest(x):
    y, z = x * 2.0, x[:-1] * 3.0
    pending = z * x[1:]
    y[1] = x[0]
    y[1:] = y[:-1] * pending
    return np.sum(y * y)


def through_a_name_for_either(x):
    a, b = x * 1.0, x * 2.0
    y = a if x[0] > 0 else b
    pending = y * 2.0
    a[0] = 5.0
    return np.sum(pending * a)


def through_an_item_of_a_list(x):
    rows = []
    for j in range(3):
        rows.append(x * j)  # noqa: PERF401  (a list that grows can be asked for any item)
    y = rows[int(x[0])]
    pending = y * 2.0
    w = rows[0]
    w[2] = 4.0
    return np.sum(pending * w) + np.sum(pending)


def through_parts_of_a_matrix(x):
    m = np.outer(x, x)
    row = m[1]
    pending = row * 2.0
    m[1, 0] = 3.0
    column = m.T[0]
    after = column * 3.0
    m[0] = x
    return np.sum(pending * after) + np.sum(m)


def through_an_argument_given_twice(x):
    def both(p, q):
        pending = p * 2.0
        q[0] = 5.0
        return np.sum(pending * q)

    a = x * 1.0
    return both(a, a) + both(a, x * 1.0)


@pytest.mark.parametrize(
    "f",
    [
        read_before_and_after,
        read_in_another_nest,
        through_a_name_for_either,
        through_an_item_of_a_list,
        through_parts_of_a_matrix,
        through_an_argument_given_twice,
    ],
)
def test_writes_wait_for_those_who_read_what_was_there(f):
    x = np.linspace(0.5, 1.5, 7)
    agrees(f, x)
    assert wg.jit(f, strict=True)(x) == pytest.approx(f(x), rel=1e-14)


# --- chains from turn to turn -------------------------------------------------------------


def chain_of(native, name):
    """The statements of a native form that give a number its next value."""
    return re.findall(rf"\n +{name} = (.*{name}.*)", native.source)


def test_a_cotangent_waits_for_one_operation_in_a_turn():
    native = agrees(logistic, 0.4, 3.2, 50)
    (step,) = chain_of(native, "x_bar")
    assert re.fullmatch(r"x_bar \* \(.*\)", step)


def forced(x, force, n):
    for _ in range(n):
        x = 0.5 * x * (1 - x) + force * x
    return x


def summed_on_the_way(x, r, n):
    total = 0.0
    for _ in range(n):
        x = r * x * (1 - x)
        total += x
    return total


def of_two_states(x, y, n):
    for _ in range(n):
        x, y = x * y * 0.9 + 0.1 * x * x, y * (1 - x) * 1.1
    return x + y


def multiplied_in_a_branch(x, r, n):
    for k in range(n):
        x = r * x * x if x > 0.5 else -x * x * r + x * k
    return x


@pytest.mark.parametrize("f", [forced, summed_on_the_way, multiplied_in_a_branch])
def test_other_chains(f):
    agrees(f, 0.6, 1.7, 9)


def test_two_states():
    native = wg.jit(wg.grad(of_two_states, argnums=(0, 1)), strict=True)
    expected = wg.grad(of_two_states, argnums=(0, 1))(0.6, 0.7, 9)
    np.testing.assert_allclose(native(0.6, 0.7, 9), expected, rtol=1e-13)


# --- memory kept for the next call --------------------------------------------------------


def iterated(x, steps):
    y = x
    for _ in range(steps):
        y = np.sin(y) * x
    return np.sum(y)


def test_large_memory_is_used_again_for_other_sizes_and_from_other_threads():
    native = wg.jit(wg.grad(iterated), strict=True)
    python = wg.grad(iterated)
    rng = np.random.default_rng(0)
    cases = [(rng.uniform(0.5, 1.5, int(n)), 3) for n in rng.integers(10, 40_000, 12)]
    expected = [python(*case) for case in cases]
    wrong = []

    def work():
        for _ in range(5):
            for case, right in zip(cases, expected, strict=True):
                if not np.allclose(native(*case), right, rtol=1e-12):
                    wrong.append(case)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_native_function_dies_with_its_memory():
    native = wg.jit(wg.grad(iterated), strict=True)
    native(np.ones(50_000), 3)
    dies = weakref.ref(native)
    del native
    gc.collect()
    assert dies() is None


# --- calls --------------------------------------------------------------------------------


def test_calls_with_other_types_or_names_go_the_long_way():
    @wg.jit
    def product(x, y):
        return x * y

    assert product(2.0, 3.0) == 6.0
    assert product(x=2.0, y=4.0) == 8.0
    assert product(2.0, y=5.0) == 10.0
    assert product(2, 3) == 6
    assert type(product(2, 3)) is int
    np.testing.assert_array_equal(product(np.ones(3), 2.0), np.full(3, 2.0))
    assert product(2.0, 3.0) == 6.0
    with pytest.warns(NativeWarning):
        assert product("a", 3) == "aaa"
    with pytest.raises(TypeError, match="missing"):
        product(2.0)


def test_an_exit_is_counted_and_raised_by_the_python_form():
    @wg.jit
    def inverse(x):
        return 1 / x

    assert inverse(2.0) == 0.5
    with pytest.raises(ZeroDivisionError):
        inverse(0.0)
    assert inverse.exits == 1


FACTOR = 2.0


def test_a_global_that_changes_its_type_is_noticed():
    global FACTOR

    @wg.jit
    def scaled(x):
        return FACTOR * x

    FACTOR = 2.0
    assert scaled(3.0) == 6.0
    FACTOR = 5.0
    assert scaled(3.0) == 15.0
    FACTOR = np.ones(2)
    np.testing.assert_array_equal(scaled(3.0), [3.0, 3.0])
    FACTOR = 2.0


# --- elements -----------------------------------------------------------------------------


@pytest.mark.parametrize("choose", [np.argmin, np.argmax])
@pytest.mark.parametrize(
    "x",
    [
        [3.0, 1.0, 2.0, 1.0, 3.0],
        [1.0, np.nan, 0.0, np.nan],
        [np.nan, 1.0],
        [np.inf, -np.inf, np.inf],
        [0.0, -0.0, 0.0],
        [2.0],
    ],
)
def test_the_place_of_an_extreme(choose, x):
    native = wg.jit(lambda x: choose(x), strict=True)
    for dtype in (np.float64, np.float32):
        assert native(np.array(x, dtype)) == choose(np.array(x, dtype))


@pytest.mark.parametrize("choose", [np.argmax, np.argmin, np.nanargmax, max, min])
@pytest.mark.parametrize("size", [1, 2, 15, 16, 17, 60])
def test_the_place_of_an_extreme_among_few_and_many(choose, size):
    native = wg.jit(lambda x: choose(x), strict=True)
    rng = np.random.default_rng(size)
    for kind in (np.float64, np.float32, np.int64):
        for _ in range(20):
            x = rng.integers(-4, 5, size).astype(kind)
            if kind is not np.int64 and choose is not np.nanargmax:
                x[rng.random(size) < 0.1] = np.nan
            np.testing.assert_array_equal(native(x), choose(x))


@pytest.mark.parametrize("name", ["erf", "erfc", "expm1", "log1p", "exp2", "cbrt"])
@pytest.mark.parametrize("x", [0.3, 2, np.float32(0.4), np.linspace(0, 2, 9), np.arange(3)])
def test_functions_of_scipy(name, x):
    function = getattr(special, name)

    def f(x):
        return function(x) * 2

    found, expected = wg.jit(f, strict=True)(x), f(x)
    assert type(found) is type(expected)
    assert getattr(found, "dtype", None) == getattr(expected, "dtype", None)
    np.testing.assert_allclose(found, expected, rtol=1e-6 if "32" in str(expected.dtype) else 1e-14)


def test_the_gradient_of_a_function_of_scipy():
    def f(x):
        return np.sum(special.erf(x) * special.erfc(2 * x))

    agrees(f, np.linspace(-2.0, 2.0, 11))


# --- memory of arrays that die ------------------------------------------------------------


def softmax(x):
    y = np.exp(x - np.max(x))
    return y / np.sum(y)


def several(x):
    y = np.exp(x)
    z = y / np.sum(y)
    w = z * z - np.sum(z)
    return w, y * 2.0


def backwards(x):
    y = np.exp(x)
    return y[::-1] / np.sum(y)


def shorter(x):
    y = np.exp(x)
    total = np.sum(y)
    return y[1:] / total, y[:-1] * total


def read_again(x):
    y = np.exp(x)
    z = y / np.sum(y)
    return z, np.sum(z * y)


def scores_in_a_loop(x):
    total = np.zeros_like(x)
    for k in range(4):
        y = np.exp(x * k)
        z = y / np.sum(y)
        w = z - np.max(z)
        total += w * w
    return total


def of_a_product(x):
    y = np.outer(x, x) @ x
    return y / np.sum(y * y)


@pytest.mark.parametrize(
    "f", [softmax, of_a_product, several, backwards, shorter, read_again, scores_in_a_loop]
)
@pytest.mark.parametrize("size", [2, 9, 1000])
def test_an_array_that_dies_lends_its_memory(f, size):
    x = np.sin(np.arange(float(size)))
    native = wg.jit(f, strict=True)
    for found, expected in zip(native(x), f(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-20)

    def loss(x):
        return (
            sum(np.sum(part * part) for part in f(x))
            if isinstance(f(x), tuple)
            else np.sum(f(x) ** 3)
        )

    agrees(loss, x)


def test_the_result_has_the_memory_of_what_it_is_made_from():
    native = wg.jit(softmax, strict=True)
    native(np.arange(3.0))
    assert " = new f64" not in native.source

    def logsumexp(x):
        greatest = np.max(x)
        return greatest + np.log(np.sum(np.exp(x - greatest)))

    assert " = new f64" not in agrees(logsumexp, np.arange(3.0)).source
