"""A write to what may be a view of an array or a copy: Python's meaning, and a warning if it is a copy."""

from __future__ import annotations

import itertools
import linecache
import runpy
import warnings

import numpy as np
import oracle
import pytest

import wengert as wg
from wengert.errors import WengertWarning
from wengert.runtime import refusals

MAKING = (
    "a.reshape(-1)",
    "a.T.reshape(-1)",
    "np.ravel(a.T)",
    "np.ascontiguousarray(a)[0]",
    "np.asfortranarray(a.T)[1]",
    "np.asarray(a, order='C').reshape(3, 2)[1]",
    "a[:, ::2].reshape(-1)",
    "a.T.reshape(-1)[::-1]",
    "a.reshape(3, 2).T.ravel()[1:]",
    "a[index][0]",
)
WRITES = {
    "item": "w[0] = b",
    "slice": "w[:1] = 2.0 * b",
    "augmented item": "w[0] += b * b",
    "augmented": "w *= b",
    "fill": "w.fill(b)",
    "at": "np.add.at(w, [0, 0, 1], b)",
    "put": "np.put(w, [1], b)",
    "copyto": "np.copyto(w, b)",
    "out": "np.multiply(w, b, out=w)",
    "sort": "w.sort()",
    "function": "scale(w, b)",
    "view": "v = w[1:]\n    v[0] = b",
    "loop": "for k in range(len(w)):\n        w[k] = w[k] * b + k",
    "branch": "if b > 1.0:\n        w[1] = b",
    "either": "v = w if b > 1.0 else a[0]\n    v[0] = b * b",
    "twice": "w[0] = b\n    a[0, 0] = 3.0 * b\n    w[-1] *= w[0]",
    "after a change": "a[0] *= b\n    w[1] = b\n    a[1] += w[0]",
    "held": "box = {'w': w}\n    box['w'][0] = b",
    "nested": "def inner():\n        w[1] = b * b\n    inner()",
    "raises": "try:\n        w[1] = b\n        w[99] = b\n    except IndexError:\n        w[0] = 2 * b",
}

MODES = {
    "reverse": lambda f, *args: wg.gradient(f, *args)[:2],
    "pullback": lambda f, *args: wg.pullback(f, *args)[1](1.0)[:2],
    "jit": lambda f, *args: wg.jit(wg.grad(f, argnums=(0, 1)))(*args),
    "forward": lambda f, *args: wg.jacobian(f, argnums=(0, 1), mode="forward")(*args),
}


@pytest.fixture(autouse=True)
def _said_anew():
    refusals._warned.clear()


def program(made, write, tmp_path):
    file = tmp_path / "program.py"
    file.write_text(
        "import numpy as np\ndef scale(v, b):\n    v *= b\n"
        f"def f(a, b, index):\n    w = {made}\n    {write}\n"
        "    return np.sum(a * a) * b + np.sum(w ** 3 * np.arange(len(w)))\n"
    )
    linecache.checkcache(str(file))
    return runpy.run_path(str(file))["f"]


def arguments(order="C"):
    a = np.array([[0.5, 2.0, 1.5], [3.0, 0.7, 1.2]], order=order)
    return a, 1.3, np.array([1, 0])


def differences(f, order):
    a, b, index = arguments(order)
    slopes = np.zeros_like(a)
    step = 1e-6
    for at in np.ndindex(a.shape):
        ends = []
        for sign in (1, -1):
            moved = a.copy(order="K")
            moved[at] += sign * step
            ends.append(f(moved, b, index))
        slopes[at] = (ends[0] - ends[1]) / (2 * step)
    ends = [f(a.copy(order="K"), b + sign * step, index) for sign in (1, -1)]
    return slopes, (ends[0] - ends[1]) / (2 * step)


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.filterwarnings("ignore::wengert.errors.WengertWarning")
@pytest.mark.parametrize(("made", "write"), list(itertools.product(MAKING, WRITES)))
def test_E6_a_write_to_what_may_be_a_copy(made, write, tmp_path):
    f = program(made, WRITES[write], tmp_path)
    for order in ("C", "F") if write == "item" else ("C",):
        expected = differences(f, order)
        left, args = arguments(order), arguments(order)
        value = f(*left)
        assert wg.value_and_grad(f)(*args)[0] == pytest.approx(value)
        np.testing.assert_allclose(args[0], left[0])
        for mode, derivative in MODES.items():
            if mode in ("jit", "pullback") and write != "item":
                continue
            found = derivative(f, *arguments(order))
            for x, right in zip(found, expected, strict=True):
                np.testing.assert_allclose(
                    x, right, rtol=2e-5, atol=1e-6, err_msg=f"{mode} {order}"
                )


@pytest.mark.parametrize("write", WRITES)
def test_the_second_derivative(write, tmp_path):
    f = program("a.T.reshape(-1)", WRITES[write], tmp_path)
    by_b = lambda b: wg.grad(f, argnums=1)(arguments()[0], b, arguments()[2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bend = wg.grad(by_b)(1.3)
        right = oracle.central_gradient(by_b, 1.3)
    assert bend == pytest.approx(float(np.asarray(right).ravel()[0]), rel=1e-5, abs=1e-6)


def test_the_warning_shows_the_write_once(tmp_path):
    f = program("a.T.reshape(-1)", WRITES["loop"], tmp_path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(3):
            wg.gradient(f, *arguments())
    assert all(each.category is WengertWarning for each in said)
    assert [(each.filename, each.lineno) for each in said] == [(str(tmp_path / "program.py"), 7)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wg.gradient(f, *arguments("F"))  # of which it is a view
