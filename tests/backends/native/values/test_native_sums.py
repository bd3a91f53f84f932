"""Loops that add arrays up natively: in place, whatever else is carried, and joined at the end."""

import itertools
import re
from dataclasses import dataclass

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")

RNG = np.random.default_rng(5)
W, U, V = (RNG.normal(size=shape) * 0.4 for shape in ((5, 3), (5, 5), (4, 5)))
XS = RNG.normal(size=(6, 3))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def agrees(f, *args, argnums=None):
    """The gradient is native, and that of the Python form; its text in the loop form."""
    form = wg.value_and_grad(f, argnums or tuple(range(len(args))))
    native = wg.jit(form, strict=True)
    found, expected = native(*args), form(*args)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)
    assert native.exits == 0
    return native.source


def recurrent(w, u, xs):
    h = np.zeros(len(u))
    total = 0.0
    for x in xs:
        h = np.tanh(w @ x + u @ h)
        total += h @ h
    return total


def test_a_product_of_vectors_is_added_without_being_written_down():
    text = agrees(recurrent, W, U, XS, argnums=(0, 1))
    for weights in ("w", "u"):
        assert re.search(
            rf"{weights}_bar_out\[(.+)\] = {weights}_bar_out\[\1\] \+ \w+\[.+\] \* ", text
        )


def many_weights(a, b, c, d, e, f, g, h, i, j, xs):
    total = 0.0
    y = np.zeros(len(a))
    for x in xs:
        y = np.tanh(a * x[0] + b * x[1] + c * x[2] + y * d)
        total += ((e * f + g) * (h - i) * j * y).sum()
    return total


def test_a_loop_may_carry_any_number_of_sums():
    agrees(many_weights, *(RNG.normal(size=5) for _ in range(10)), XS, argnums=tuple(range(10)))


def in_nested_loops(w, xs):
    total = 0.0
    for x in xs:
        for y in xs:
            total += np.sin(w @ x) @ (w @ y)
    return total


def with_an_early_end(w, xs):
    total = 0.0
    for x in xs:
        total += np.sin(w @ x).sum()
        if total > 1.0:
            break
    return total


def where_the_sum_is_read(w, xs):
    mean = np.zeros(3)
    total = 0.0
    for x in xs:
        mean = mean + x
        total += (w @ mean).sum() ** 2
    return total


def in_branches(w, xs):
    total = 0.0
    for x in xs:
        if x[0] > 0:
            total += (w @ x).sum() ** 2
        else:
            total -= (w**2).sum() * x[1]
    return total


def while_small(w, xs):
    total, k = 0.0, 0
    while total < 5.0 and k < len(xs):
        total += ((w @ xs[k]) ** 2).sum()
        k += 1
    return total


def of_one_start(w, xs):
    zero = np.zeros_like(w)
    a, b = zero, zero
    for x in xs:
        a = a + np.outer(x[:1].repeat(5), x) * w
        b = b + w * x[0]
    return (a * b).sum() + zero.sum()


@pytest.mark.parametrize(
    "f",
    [
        in_nested_loops,
        with_an_early_end,
        where_the_sum_is_read,
        in_branches,
        while_small,
        of_one_start,
    ],
)
def test_sums_in_loops(f):
    agrees(f, W, XS)


def test_sums_of_the_program_itself_from_one_array_of_zeros():
    native = wg.jit(of_one_start, strict=True)
    np.testing.assert_allclose(native(W, XS), of_one_start(W, XS), rtol=1e-12)


# --- joined lists -------------------------------------------------------------------------


def heads(q, k, count):
    size = q.shape[1] // count
    found = []
    for head in range(count):
        part = slice(head * size, (head + 1) * size)
        found.append(np.tanh(q[:, part] @ k[:, part].T) @ k[:, part])
    return (np.concatenate(found, axis=1) ** 2).sum()


def stacked_rows(x, n):
    joined = np.concatenate([x * k for k in range(n)])
    return joined @ np.sin(joined)


def ragged(x, n):
    return np.concatenate([x[:k] ** 2 for k in range(1, n)], axis=-1).sum() + x[0]


def test_lists_of_arrays_are_joined():
    q, k = RNG.normal(size=(3, 6)), RNG.normal(size=(3, 6))
    agrees(heads, q, k, 3, argnums=(0, 1))
    agrees(stacked_rows, RNG.normal(size=4), 5, argnums=(0,))
    agrees(ragged, RNG.normal(size=4), 4, argnums=(0,))


def test_joining_nothing_raises_as_numpy_does():
    native = wg.jit(stacked_rows)
    with pytest.raises(ValueError, match="need at least one array to concatenate"):
        native(np.ones(3), 0)


# --- lists of items that have arrays ------------------------------------------------------


@dataclass
class Camera:
    axis: np.ndarray
    centre: np.ndarray
    focal: float


def seen(cameras, points, which):
    views = [Camera(c[:3], c[3:6], c[6]) for c in cameras]
    total = 0.0
    for point, k in zip(points, which, strict=True):
        p = point - views[k].centre
        total += views[k].focal * (views[k].axis @ p) ** 2
    return total


def test_cotangents_of_items_that_have_arrays():
    cameras, points = RNG.normal(size=(3, 7)), RNG.normal(size=(9, 3))
    agrees(seen, cameras, points, np.arange(9) % 3, argnums=(0, 1))


# --- sizes --------------------------------------------------------------------------------


def padded_spectrum(kernel, image):
    spectrum = np.fft.rfft2(kernel, s=image.shape) * np.fft.rfft2(image)
    return (np.fft.irfft2(spectrum, s=image.shape) ** 2).sum()


def test_a_size_is_no_option_that_asks_for_the_default():
    form = wg.value_and_grad(padded_spectrum, (0, 1))
    native = wg.jit(form)
    args = RNG.normal(size=(3, 3)), RNG.normal(size=(6, 5))
    found, expected = native(*args), form(*args)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10)
    assert "native, with calls of Python" in str(native.explain(*args))


def smoothed(kernel, image, n):
    y = np.fft.irfft(np.fft.rfft(kernel, n=len(image)) * np.fft.rfft(image), n=len(image))
    columns = np.fft.fft(np.outer(image, kernel), n=n, axis=0)
    for _ in range(100):
        y = np.tanh(1.1 * y + image)
    return (y**2).sum() + (np.abs(columns) ** 2).sum()


@pytest.mark.parametrize("n", [4, 6, 9])
def test_cotangents_of_spectra_have_the_lengths_of_signals(n):
    form = wg.value_and_grad(smoothed, (0, 1))
    native = wg.jit(form)
    args = RNG.normal(size=3), RNG.normal(size=6), n
    found, expected = native(*args), form(*args)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    told = str(native.explain(*args))
    assert "native, with calls of Python" in told
    assert "fitted" not in told


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(itertools.accumulate(x.tolist())),
        lambda x: sum(itertools.accumulate(x.tolist(), lambda a, b: a * b, initial=1.5)),
    ],
)
def test_running_totals_are_native(f):
    agrees(f, np.array([0.7, 0.3, 1.1, 2.4]))
