"""Writes whose right-hand side overlaps what is written, and indices that name a cell twice, against NumPy."""

import itertools
import warnings

import numpy as np
import pytest
from standing_alone import loaded

import wengert as wg

POINT = np.arange(6.0) + 0.5
WEIGHTS = np.array([1.0, -2.0, 0.5, 3.0, 1.5, -1.0])

PARTS = [
    "a[:3]", "a[3:]", "a[::2]", "a[1::2]", "a[2:5]", "a[::-2]", "a[4:1:-1]", "a.reshape(2, 3)[0]",
    "a.reshape(3, 2)[:, 0]", "a.reshape(2, 3).T[:, 1]", "a.reshape(3, 2).T[1]", "a.reshape(2, 3)[1, ::-1]",
    "a.reshape(3, 2)[::-1, 1]", "a[::2][::-1]", "a[::n]",
]  # fmt: skip
"""Parts of three cells of a vector of six."""


def linear(f, *args):
    """The gradient of a function that is linear in its first argument, as NumPy runs it."""
    return np.array([f(e, *args) - f(np.zeros(6), *args) for e in np.eye(6)])


def program(written, read, index):
    lines = (
        [f"    v = {written}", f"    v[...] = {read}"] if index % 2 else [f"    {written} = {read}"]
    )
    body = "\n".join(lines)
    return f"def program_{index}(a, n):\n{body}\n    return a @ WEIGHTS\n"


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    pairs = enumerate(itertools.product(PARTS, PARTS))
    programs = [program(written, read, k) for k, (written, read) in pairs]
    weights = f"import numpy as np\n\nWEIGHTS = np.array({WEIGHTS.tolist()})\n\n\n"
    last = "\n\ndef program(a, n):\n    return a[0]\n"
    return loaded(
        tmp_path_factory.mktemp("overlaps") / "overlaps.py", weights + "\n\n".join(programs) + last
    ).__globals__


@pytest.mark.parametrize("k", range(0, len(PARTS) ** 2, 3))
def test_one_part_of_a_vector_is_written_to_another(k, module):
    f = module[f"program_{k}"]
    expected = linear(f, 2)
    np.testing.assert_array_equal(wg.grad(f)(POINT.copy(), 2), expected)
    np.testing.assert_array_equal(wg.jacobian(f, mode="forward")(POINT.copy(), 2), expected)


def shifted(a, n):
    m = a.reshape(2, 3)
    a[1:n] = a[: n - 1]
    m[1] = m[0]
    m[:, 0] = m[:, 1]
    m[0] = m[1][::-1]
    return a @ WEIGHTS


def test_nothing_is_asked_where_parts_lie_alike():
    """Else native code, and rows in loops, would pay for it."""
    assert "copied_places" not in str(wg.code_ir(shifted, POINT, 6))
    np.testing.assert_array_equal(wg.grad(shifted)(POINT.copy(), 6), linear(shifted, 6))


def native(a):
    a[::2] = a[:3]
    return a @ WEIGHTS


def test_native_code_does_as_numpy():
    warnings.simplefilter("ignore")
    with (
        pytest.warns(wg.NativeWarning)
        if hasattr(wg, "NativeWarning")
        else warnings.catch_warnings()
    ):
        found = wg.jit(wg.grad(native))(POINT.copy())
    np.testing.assert_array_equal(found, linear(native))


def overlapping(u):
    u.reshape(3, 2)[:, 0] = u.T[:, 0]
    return np.sum(u)


def test_E2_a_write_whose_value_overlaps_what_is_written():
    found = wg.grad(overlapping)(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(found, [[1.0, 3.0, 0.0], [1.0, 0.0, 1.0]])


def by_mask_list(a):
    a.T[[1, 1, 1], [True, False, False]] = a.T[[1, 1, 1], np.array([True, False, False])][::-1]
    return np.sum(a)


def test_E2_a_list_of_bools_among_indices_is_a_mask():
    np.testing.assert_array_equal(
        wg.grad(by_mask_list)(np.arange(9.0).reshape(3, 3)), np.ones((3, 3))
    )


MASK, MASKED = np.array([True, False, True]), [True, False, True]
INDICES = [
    ([0, 0, 2], [1, 1, 0]), ([1, 1], MASK), ([1, 0], MASKED), (MASKED, [1, 1]), (MASK, slice(None)), (MASKED, 0),
    ([2, 2, 0],), (MASK,), (MASKED,), (slice(None), [0, 0, 1]), (None, [1, 1, 2]), (..., [True, False, True]),
    (np.array([[0, 0], [0, 1]]),), (np.array([[0, 0], [0, 1]]), np.array([1, 1])), (MASK, MASK.copy()),
    (MASKED, MASKED[:]),    (np.array(1), [0, 0]), ([-1, 2], [-1, 2]),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("transposed", [False, True], ids=["plain", "transposed"])
def test_cells_that_are_named_twice(index, transposed):
    """Reading adds all cotangents of a cell, writing leaves the last value; of second derivatives too."""
    at = index if len(index) > 1 else index[0]
    count = np.zeros((3, 3))[at].size
    factors = np.linspace(0.5, 2.0, count).reshape(np.zeros((3, 3))[at].shape)

    def written(a):
        m = a.T if transposed else a
        m[at] = m[at][::-1] * factors
        return np.sum(np.sin(m)) + np.sum(m[at] * factors)

    a = np.sin(np.arange(9.0)).reshape(3, 3)
    w = np.cos(np.arange(9.0)).reshape(3, 3)

    def along(t):
        return np.sum(wg.grad(written)(t) * w)

    slopes = [
        (written(a + 1e-6 * d) - written(a - 1e-6 * d)) / 2e-6 for d in np.eye(9).reshape(-1, 3, 3)
    ]
    np.testing.assert_allclose(wg.grad(written)(a.copy()).ravel(), slopes, atol=1e-8)
    bends = (wg.grad(written)(a + 1e-6 * w) - wg.grad(written)(a - 1e-6 * w)) / 2e-6
    np.testing.assert_allclose(wg.grad(along)(a.copy()), bends, atol=1e-7)
    np.testing.assert_allclose(wg.pushforward(wg.grad(written), a.copy())[1](w), bends, atol=1e-7)


PUT = {
    "reversed": lambda a: np.put(a[:, ::-1], [0, -1], 0.5),
    "transposed": lambda a: np.put(a.T, [0, -1, 2], np.array([0.1, 0.2, 0.3]) * a[0, 0]),
    "more values than places": lambda a: np.put(a, [1, 2], a[0]),
    "fewer values than places": lambda a: np.put(a, [1, 2, 3], a[0, :2]),
    "one number": lambda a: np.put(np.fliplr(a), [1, 1], 2.0 * a[0, 0]),
}


@pytest.mark.parametrize("name", PUT)
def test_put_writes_to_the_array_however_it_lies(name):
    def f(a):
        PUT[name](a)
        return np.sum(a * a)

    a = np.arange(6.0).reshape(2, 3) + 0.5
    slopes = [(f(a + 1e-6 * e) - f(a - 1e-6 * e)) / 2e-6 for e in np.eye(6).reshape(6, 2, 3)]
    np.testing.assert_allclose(wg.grad(f)(a.copy()).ravel(), slopes, atol=1e-6)
