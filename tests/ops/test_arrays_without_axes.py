"""Arrays without axes and NumPy's numbers: reductions along an axis, views, writes, both ways round."""

import subprocess
import sys

import numpy as np
import pytest

import wengert as wg

REDUCED = {
    "max": lambda b: np.max(b, axis=0) * b,
    "min": lambda b: np.min(b, axis=-1) * b,
    "prod": lambda b: np.prod(b, axis=-1) * b,
    "ptp": lambda b: np.ptp(b, axis=0) * b + b,
    "sum": lambda b: np.sum(b, axis=0) ** 2,
    "cumsum": lambda b: np.cumsum(b, axis=0)[0] ** 2,
    "cumprod": lambda b: np.cumprod(b, axis=0)[0] ** 2,
    "repeat": lambda b: np.sum(np.repeat(b, 2, axis=0) ** 2),
    "take": lambda b: np.sum(np.take(b, [0, 0], axis=0) ** 2),
    "nanmax": lambda b: np.nanmax(b, axis=0) ** 2,
    "maximum.reduce": lambda b: np.max(b, axis=0, initial=0.1) ** 2,
    "norm": lambda b: np.linalg.norm(b[None], axis=0)[()] ** 2,
    "whole": lambda b: np.sum(b[...]) * b,
}


@pytest.mark.parametrize("make", [np.array, np.float64], ids=["array", "number"])
@pytest.mark.parametrize("name", REDUCED)
def test_E4_reductions_along_an_axis_that_is_not_there(name, make):
    f = REDUCED[name]
    slope = (f(make(0.7 + 1e-6)) - f(make(0.7 - 1e-6))) / 2e-6
    bend = (f(make(0.7 + 1e-4)) - 2 * f(make(0.7)) + f(make(0.7 - 1e-4))) / 1e-8
    assert wg.grad(f)(make(0.7)) == pytest.approx(slope, abs=1e-8)
    assert np.shape(wg.grad(f)(make(0.7))) == ()
    assert wg.pushforward(f, make(0.7))[1](make(1.0)) == pytest.approx(slope, abs=1e-8)
    assert wg.grad(lambda b: wg.grad(f)(b) * 1.0)(make(0.7)) == pytest.approx(bend, abs=1e-5)
    assert wg.pushforward(wg.grad(f), make(0.7))[1](make(1.0)) == pytest.approx(bend, abs=1e-5)


def smallest_of_smallest(a):
    for _ in range(2):
        a = np.min(a, axis=-1)
    return a


def test_E4_min_of_what_has_become_a_number():
    np.testing.assert_array_equal(wg.grad(smallest_of_smallest)(np.array([0.5, 1.5])), [1.0, 0.0])
    np.testing.assert_array_equal(
        wg.grad(smallest_of_smallest)(np.array([[2.0, 1.0]])), [[0.0, 1.0]]
    )


def named_again(b):
    t = b[None][0]
    for _ in range(2):
        t = b
    return t * 1.0 + np.sum(b[...]) * t


def doubled(b):
    t = b[...] * 2
    for _ in range(2):
        t = b
    return t * t


def squared(b):
    b[...] **= 2
    return np.sum(b) * 3.0


@pytest.mark.parametrize(("f", "slope"), [(named_again, 2.4), (doubled, 1.4), (squared, 4.2)])
def test_E4_another_name_of_an_array_without_axes(f, slope):
    assert wg.grad(f)(np.array(0.7)) == pytest.approx(slope)
    assert wg.pushforward(f, np.array(0.7))[1](np.array(1.0)) == pytest.approx(slope)
    second = wg.grad(lambda b: np.sum(wg.grad(f)(b)))(np.array(0.7))
    assert second == pytest.approx(wg.pushforward(wg.grad(f), np.array(0.7))[1](np.array(1.0)))


def changed_and_written(x):
    w = np.array(x * 2)
    w += x
    w[...] *= 3
    return w.item()


def filled_after_a_change(x):
    w = np.zeros(())
    w -= 1.0
    w[()] = x * 3
    np.multiply(w, x, out=w)
    return w.item()


def added_at_after_a_change(x):
    w = np.zeros(())
    for k in range(2):
        w += x
        np.add.at(w, (), x * k)
    return w.item() ** 2


@pytest.mark.parametrize("x", [np.array(0.7), 0.7], ids=["array", "number"])
@pytest.mark.parametrize(
    ("f", "slope"),
    [(changed_and_written, 9.0), (filled_after_a_change, 4.2), (added_at_after_a_change, 12.6)],
)
def test_an_array_without_axes_stays_an_array_when_it_is_changed(f, slope, x):
    value, found = wg.value_and_grad(f)(x)
    assert value == f(x)
    assert found == pytest.approx(slope)
    assert wg.pushforward(f, x)[1](1.0) == pytest.approx(slope)
    assert wg.jit(wg.grad(f))(x) == pytest.approx(slope)


def with_leading_axis(a):
    c = np.zeros(3)
    c[[2, 2, 0]] = a
    return np.sum(c**3)


def test_E4_a_value_with_leading_axes_of_one_entry():
    a = np.array([[0.5, 1.5, 2.5]])
    np.testing.assert_allclose(wg.grad(with_leading_axis)(a), [[0.0, 6.75, 18.75]])
    second = wg.grad(lambda u: np.sum(wg.grad(with_leading_axis)(u)))(a)
    np.testing.assert_allclose(second, [[0.0, 9.0, 15.0]])


ADDED = [
    ((4, 2), [0, 2, 0], (3, 1)), ((3,), [1, 1, 0], (1,)), ((4, 2), [0, 2, 0], (2,)), ((3,), [1, 1, 0], ()),
    ((4, 2), [[0], [2]], (1, 1, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "index", "given"), ADDED, ids=str)
def test_E3_what_is_added_at_an_index_is_broadcast(shape, index, given):
    c, at = np.linspace(0.2, 0.9, int(np.prod(given))).reshape(given), np.array(index)

    def f(c):
        a = np.ones(shape)
        np.add.at(a, at, c)
        np.subtract.at(a, at, c * c)
        return np.sum(np.sin(a))

    found = wg.grad(f)(c)
    steps = np.eye(c.size).reshape(c.size, *given)
    slopes = [(f(c + 1e-6 * e) - f(c - 1e-6 * e)) / 2e-6 for e in steps]
    np.testing.assert_allclose(found, np.reshape(slopes, given), atol=1e-8)
    assert wg.pushforward(f, c)[1](np.ones(given)) == pytest.approx(np.sum(slopes), abs=1e-7)
    second = wg.grad(lambda u: np.sum(wg.grad(f)(u)))(c)
    np.testing.assert_allclose(second, wg.pushforward(wg.grad(f), c)[1](np.ones(given)), atol=1e-12)


ALONE = """
import sys
sys.modules["wengert"] = None
import numpy as np
import saved
print(float(saved.grad_squared(np.array(0.7))))
"""


@pytest.mark.parametrize("specialised", [True, False])
def test_E3_a_saved_derivative_of_an_array_without_axes(specialised, tmp_path):
    derived = wg.grad(squared)
    derived = derived.specialize(np.array(0.7)) if specialised else derived
    derived.save(tmp_path / "saved.py")
    run = [sys.executable, "-c", ALONE]
    done = subprocess.run(run, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert float(done.stdout) == pytest.approx(4.2)


EMPTY = {
    "reduce": lambda b: np.sum(np.maximum.reduce(b, axis=1, initial=0.7) ** 2) + np.sum(b),
    "max": lambda b: np.sum(np.max(b, axis=1, initial=0.7) ** 2) + np.sum(b),
    "keepdims": lambda b: np.sum(np.min(b, axis=1, initial=1.0, keepdims=True) * b),
    "where": lambda b: np.sum(np.max(b, axis=1, initial=-1.0, where=b < 0.5) ** 2) + np.sum(b),
    "all axes": lambda b: np.max(b, initial=0.7) ** 2 + b.min(initial=1.0) * np.sum(b),
}


@pytest.mark.parametrize("shape", [(3, 0), (2, 3)], ids=str)
@pytest.mark.parametrize("name", EMPTY)
def test_E4_the_extreme_of_nothing_is_the_initial_value(name, shape):
    f, b = EMPTY[name], np.linspace(0.1, 1.3, int(np.prod(shape))).reshape(shape)
    steps = np.eye(b.size).reshape(b.size, *shape)
    slopes = [(f(b + 1e-6 * e) - f(b - 1e-6 * e)) / 2e-6 for e in steps]
    value, found = wg.value_and_grad(f)(b)
    assert value == f(b)
    np.testing.assert_allclose(found, np.reshape(slopes, shape), atol=1e-8)
    assert wg.pushforward(f, b)[1](np.ones(shape)) == pytest.approx(np.sum(slopes), abs=1e-7)


SORTED = {
    "sort": lambda e: np.sort(e * 2.0, axis=0) * 0.5,
    "flip": lambda e: np.flip(e * 2.0, axis=0) * 0.5,
    "sum": lambda e: np.sum(e * 2.0, axis=1) * 0.5,
}


@pytest.mark.parametrize("read", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize("name", SORTED)
def test_E4_an_axis_that_is_not_there_is_an_error_of_the_program(name, read):
    def f(e):
        t = SORTED[name](e)
        return t if read else e

    def direct(e):
        t = np.sort(e * 2.0, axis=0)
        return t if read else e

    with pytest.raises(np.exceptions.AxisError):
        wg.grad(direct)(np.float64(0.7))
    with pytest.raises(np.exceptions.AxisError):
        wg.grad(f)(np.array(0.7))


METHODS = {
    "dot": lambda x: np.array(x).dot(2.0) * x,
    "sum": lambda x: np.i0(float(x)).sum() * x,
    "of a part": lambda x: np.i0(float(np.stack([x, x])[0])).sum() * x,
}


@pytest.mark.parametrize("x", [np.array(0.7), 0.7], ids=["array", "number"])
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_tangents_that_are_numbers(name, x):
    f = METHODS[name]
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert wg.jacobian(f, mode="forward")(x) == pytest.approx(slope)
    assert wg.pushforward(f, x)[1](1.0) == pytest.approx(slope)
    assert wg.grad(f)(x) == pytest.approx(slope)
