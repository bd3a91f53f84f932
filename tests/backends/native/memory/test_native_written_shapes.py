"""The shape of what is written under `jit` is checked as NumPy checks it, also that of what is the same everywhere."""

import numpy as np
import pytest
from native_outcomes import is_as_in_python, outcome

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def test_G1_a_constant_array_of_the_wrong_shape_is_written():
    @wg.jit
    def f(x):
        x[:3] = np.ones(4)
        return x

    given = np.arange(6.0)
    with pytest.raises(ValueError, match=r"could not broadcast input array from shape \(4,\)"):
        f(given)
    assert given.tolist() == [0, 1, 2, 3, 4, 5]


def ones(n):
    return np.ones(n)


def zeros(n):
    return np.zeros(n)


def full(n):
    return np.full(n, 2.5)


def like(n):
    return np.zeros_like(np.arange(n) * 0.5)


def scaled(n):
    return np.ones(n) * 2.0


def row(n):
    return np.ones((1, n))


def column(n):
    return np.ones((n, 1))


def block(n):
    return np.ones((n, 3))


CONSTANTS = [ones, zeros, full, like, scaled, row, column, block]


def to_a_slice(x, what):
    x[:3] = what


def to_every_other(x, what):
    x[::2] -= what


def to_all(x, what):
    x[...] = what


def after_a_write(x, what):
    x[5] = 7.0
    x[1:4] = what


def in_a_loop(x, what):
    for i in range(3):
        x[i : i + 2] = what


def to_a_mask(x, what):
    x[x > 2] = what


def to_a_list_of_indices(x, what):
    x[[0, 1]] = what


def added_to_a_list_of_indices(x, what):
    x[[0, 1]] += what


def to_an_array_of_indices(x, what):
    x[np.array([[0, 1, 2], [3, 4, 5]])] = what


def to_an_item(x, what):
    x[0] = what


def to_a_row(x, what):
    x.reshape(2, 3)[1] = what


def to_a_column(x, what):
    x.reshape(2, 3)[:, 1] = what


def to_rows(x, what):
    x.reshape(2, 3)[:] = what


def to_places(x, what):
    x.reshape(2, 3)[[0, 1], [1, 2]] = what


def copied(x, what):
    np.copyto(x[1:4], what)


def added_at(x, what):
    np.add.at(x, [0, 1], what)


def added_in_place(x, what):
    x += what


def given_as_out(x, what):
    np.multiply(what, 2.0, out=x[:3])


WRITES = [
    to_a_slice, to_every_other, to_all, after_a_write, in_a_loop, to_a_mask, to_a_list_of_indices,
    added_to_a_list_of_indices, to_an_array_of_indices, to_an_item, to_a_row, to_a_column, to_rows,
    to_places, copied, added_at, added_in_place, given_as_out,
]  # fmt: skip


def program(write, constant):
    def run(x, n):
        write(x, constant(n))
        return x

    return run


@pytest.mark.parametrize("constant", CONSTANTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("write", WRITES, ids=lambda f: f.__name__)
def test_what_is_written_has_a_shape(write, constant):
    f = program(write, constant)
    compiled = wg.jit(f)
    for n in (3, 0, 1, 2, 6, -1):
        is_as_in_python(f, np.arange(6.0), n, compiled=compiled)


@pytest.mark.parametrize("write", [to_a_slice, to_a_mask, to_a_list_of_indices, added_at, to_a_row])
def test_also_in_a_derivative(write):
    def loss(x, n):
        write(x, np.ones(n))
        return np.sum(x**2)

    derivative = wg.value_and_grad(loss)
    compiled = wg.jit(derivative)
    for n in (3, 0, 1, 2, 6):
        assert outcome(compiled, np.arange(6.0), n) == outcome(derivative, np.arange(6.0), n)


@pytest.mark.parametrize("make", [ones, zeros, full, lambda n: np.ones(n) * 1j])
def test_what_is_broadcast_has_a_shape(make):
    def f(x, n):
        return np.broadcast_to(make(n), (2, 3)) * x

    compiled = wg.jit(f)
    for n in (3, 0, 1, 2, 6):
        is_as_in_python(f, 2.0, n, compiled=compiled)


def test_of_complex_arrays_too():
    def f(x, n):
        z = x * 1j
        z[1:3] = np.ones(n)
        z[[0, 1]] += np.full(n, 2j)
        return z

    compiled = wg.jit(f)
    for n in (2, 0, 1, 3):
        is_as_in_python(f, np.arange(4.0), n, compiled=compiled)
