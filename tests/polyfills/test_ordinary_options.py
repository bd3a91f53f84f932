"""Options of NumPy's functions at their defaults, or at values that change nothing, refuse nothing."""

from __future__ import annotations

import inspect
import runpy
import warnings

import numpy as np
import pytest

import wengert as wg

V = "np.array([0.4, 1.3, 0.7, 2.1])"
OF_ONE = """
    zeros_like ones_like copy array asarray asanyarray ascontiguousarray sum prod mean std var max min ptp cumsum
    cumprod nancumsum nancumprod nansum nanprod nanmean nanstd nanvar nanmax nanmin median nanmedian average sort
    argsort argmax argmin all any count_nonzero ravel squeeze diff ediff1d gradient unwrap flip nan_to_num diagflat
    diag vander sin exp sqrt abs negative square sign floor isfinite round trapezoid unique corrcoef fft.fft fft.rfft
""".split()
OF_TWO = """
    add subtract multiply divide power maximum fmin hypot arctan2 copysign logaddexp mod fmod float_power outer inner
    dot kron matmul convolve correlate append heaviside isclose meshgrid
""".split()
OF_SEVERAL = "concatenate stack vstack hstack column_stack dstack".split()
CALLS = {
    **dict.fromkeys(OF_ONE, "x"),
    **dict.fromkeys(OF_TWO, f"x, {V}"),
    **dict.fromkeys(OF_SEVERAL, f"(x, {V})"),
    "full_like": "x, 2.0",
    "linspace": "0.5, x, 4",
    "logspace": "0.5, x, 4",
    "geomspace": "0.5, x, 4",
    "clip": "x, 0.5, 1.5",
    "take": "x, [0, 2]",
    "compress": "[True, False, True, True], x",
    "reshape": "x, (2, 2)",
    "quantile": "x, 0.3",
    "percentile": "x, 30",
    "nanquantile": "x, 0.3",
    "pad": "x, 1",
    "polyfit": "np.arange(4.0), x, 2",
    "searchsorted": f"np.sort({V}), x",
    "einsum": f"'i,i->', x, {V}",
    "broadcast_to": "x, (2, 4)",
    "zeros": "4",
    "ones": "4",
    "eye": "4",
    "identity": "4",
    "arange": "4",
    "indices": "(2, 2)",
    "linalg.norm": "x",
}
OF_UFUNCS = {
    "out": None,
    "where": True,
    "casting": "same_kind",
    "order": "K",
    "dtype": None,
    "subok": True,
}
UNSIGNED = {
    "array": {"dtype": None, "copy": True, "order": "K", "subok": False, "ndmin": 0, "like": None},
    "arange": {"dtype": None, "like": None},
    "asarray": {"dtype": None, "order": None, "like": None},
    "asanyarray": {"dtype": None, "order": None},
    "ascontiguousarray": {"dtype": None},
    "zeros": {"dtype": float, "order": "C", "like": None},
    "concatenate": {"axis": 0, "out": None, "dtype": None, "casting": "same_kind"},
    "dot": {"out": None},
}
"""What functions have whose signatures only NumPy's documentation says."""
HARMLESS = {
    "subok": [True, False],
    "device": [None, "cpu"],
    "casting": ["same_kind", "unsafe"],
    "like": [None],
    "dtype": [float, np.float64, "float64"],
}
NO_FLOATS = frozenset(("all", "any", "isfinite", "isclose", "sign", "arange", "unique"))


def options_of(name):
    function = np
    for part in name.split("."):
        function = getattr(function, part)
    if isinstance(function, np.ufunc):
        known = OF_UFUNCS
    else:
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:
            known = UNSIGNED[name]
        else:
            plain = (bool, int, float, str, type(None), type)
            known = {p.name: p.default for p in parameters if isinstance(p.default, plain)}
            known = {k: v for k, v in known.items() if v is not inspect.Parameter.empty}
    for option, default in known.items():
        values = [default, *HARMLESS.get(option, ())]
        for value in values if name not in NO_FLOATS or option != "dtype" else [default]:
            text = value.__name__ if isinstance(value, type) else repr(value)
            yield (
                option,
                text
                if text in ("float", "int", "bool") or value is not np.float64
                else "np.float64",
            )


def programs_of(name):
    seen = set()
    for option, text in options_of(name):
        if (option, text) not in seen and (name, option) != ("arange", "step"):
            seen.add((option, text))
            yield f"np.{name}({CALLS[name]}, {option}={text})"


TEXT = """import numpy as np
def total(r):
    if isinstance(r, (tuple, list)):
        return sum([total(each) for each in r])
    return np.sum(np.asarray(r) * 1.0)
"""


@pytest.mark.parametrize("name", CALLS)
def test_F4_options_that_say_nothing(name, tmp_path):
    calls = [f"np.{name}({CALLS[name]})", *programs_of(name)]
    text = "".join(
        f"def f{k}(x):\n    return np.sum(np.abs(total({c})))\n" for k, c in enumerate(calls)
    )
    file = tmp_path / "options.py"
    file.write_text(TEXT + text)
    functions = runpy.run_path(str(file))
    x = np.array([0.4, 1.3, 0.7, 2.1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right = wg.value_and_grad(functions["f0"])(x.copy())
        for k, call in enumerate(calls[1:], start=1):
            try:
                expected = functions[f"f{k}"](x.copy())
            except (TypeError, ValueError):
                continue  # NumPy does not take it
            value, slopes = wg.value_and_grad(functions[f"f{k}"])(x.copy())
            assert value == pytest.approx(expected, nan_ok=True), call
            np.testing.assert_allclose(slopes, right[1], err_msg=call)


def test_F4_zeros_like_and_linspace():
    def f(x):
        grid = np.linspace(0.0, x, 5, dtype=float)
        like = np.zeros_like(grid, subok=True)
        like[1:] = grid[1:] ** 2
        return np.sum(like)

    slope = 2 * 2.0 * np.sum(np.linspace(0.0, 1.0, 5) ** 2)
    assert wg.grad(f)(2.0) == pytest.approx(slope)
    assert wg.pushforward(f, 2.0)[1](1.0) == pytest.approx(slope)


def test_a_narrower_dtype_is_given():
    def f(x):
        return np.sum(np.linspace(0.0, x, 5, dtype=np.float32) ** 2)

    value, slope = wg.value_and_grad(f)(2.0)
    assert value.dtype == f(2.0).dtype
    assert slope == pytest.approx(2 * f(2.0) / 2.0, rel=1e-6)


def test_options_that_say_how_scipy_computes():
    from scipy import fft, linalg

    matrix = np.array([[2.0, 0.3], [0.5, 1.4]])
    for with_options, plain in (
        (lambda x: fft.rfft(x, workers=2, overwrite_x=True), fft.rfft),
        (lambda x: fft.irfft(x, plan=None), fft.irfft),
        (lambda x: linalg.eigh(matrix * x[0], eigvals_only=True, driver="ev"),
         lambda x: linalg.eigh(matrix * x[0], eigvals_only=True)),
        (lambda x: linalg.svd(matrix * x[:2], compute_uv=False, lapack_driver="gesvd"),
         lambda x: linalg.svd(matrix * x[:2], compute_uv=False)),
    ):  # fmt: skip
        x = np.array([0.4, 1.3, 0.7, 2.1])
        for tier in (None, "recorded"):
            slopes = wg.grad(lambda x, f=with_options: np.sum(np.abs(f(x)) ** 2), tier=tier)(x)
            expected = wg.grad(lambda x, f=plain: np.sum(np.abs(f(x)) ** 2))(x)
            np.testing.assert_allclose(slopes, expected, rtol=1e-12)
