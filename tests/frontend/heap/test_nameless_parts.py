"""A write to a copy that has no name changes nothing that anybody sees, and a warning says so."""

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

COPIES = (
    "a[a > 1.0]",
    "a[[0, 1]]",
    "a[index]",
    "a.T[[1, 0]]",
    "a.T.reshape(-1)",
    "np.ravel(a.T)",
    "a[:, ::2].reshape(-1)",
    "a.flatten()",
    "a.take([0, 1])",
)
VIEWS = ("a.reshape(-1)", "np.ravel(a)", "a.T", "a[::-1]", "a.reshape(3, 2).T")
WRITES = ("{}[0] = b", "{}[:1] = 2.0", "{}[0] += b", "{}[-1] *= b")


@pytest.fixture(autouse=True)
def _said_anew():
    refusals._warned.clear()


def program(text, tmp_path):
    file = tmp_path / "program.py"
    code = f"import numpy as np\ndef f(a, b, index):\n    {text}\n    return np.sum(a * a) * b\n"
    file.write_text(code)
    linecache.checkcache(str(file))
    return runpy.run_path(str(file))["f"]


def at_a_point():
    return np.array([[0.5, 2.0, 1.5], [3.0, 0.7, 1.2]]), 1.3, np.array([1, 0])


MODES = {
    "reverse": lambda f, *args: wg.gradient(f, *args)[:2],
    "pullback": lambda f, *args: wg.pullback(f, *args)[1](1.0)[:2],
    "jit": lambda f, *args: wg.jit(wg.grad(f, argnums=(0, 1)))(*args),
    "forward": lambda f, *args: wg.jacobian(f, argnums=(0, 1), mode="forward")(*args),
}


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize(("copy", "write"), list(itertools.product(COPIES, WRITES)))
def test_E6_a_write_into_a_copy(copy, write, tmp_path):
    f = program(write.format(copy), tmp_path)
    a, b, _ = at_a_point()
    for mode in MODES.values() if write is WRITES[0] else [MODES["reverse"]]:
        refusals._warned.clear()
        with pytest.warns(WengertWarning, match="writes to a copy") as said:
            slopes, slope = mode(f, *at_a_point())
        places = {
            (each.filename, each.lineno) for each in said if "writes to a copy" in str(each.message)
        }
        assert places == {(str(tmp_path / "program.py"), 3)}
        np.testing.assert_allclose(slopes, 2 * a * b)
        assert slope == pytest.approx(np.sum(a * a))


@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
@pytest.mark.parametrize(("view", "write"), list(itertools.product(VIEWS, WRITES)))
def test_a_write_into_a_view_changes_the_array(view, write, tmp_path):
    f = program(write.format(view), tmp_path)
    expected = oracle.central_gradient(f, *at_a_point(), wrt=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", WengertWarning)
        warnings.simplefilter("ignore", wg.errors.NativeWarning)
        for mode in MODES.values():
            for found, right in zip(mode(f, *at_a_point()), expected, strict=True):
                np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-7)


def test_the_second_derivative(tmp_path):
    f = program("a.T.reshape(-1)[0] = b", tmp_path)
    with pytest.warns(WengertWarning):
        hessian = wg.hessian(f)(*at_a_point())
    np.testing.assert_allclose(hessian.reshape(6, 6), 2.6 * np.eye(6))
