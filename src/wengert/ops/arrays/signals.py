"""The vocabulary of signals: Fourier transforms and convolutions.

Transforms over several axes are read as transforms over one axis after the other.
"""

from __future__ import annotations

from typing import Any

from ...ir.graph import Const
from ...ir.op import Infer
from ...ir.types import STR, Array, Kind
from ...runtime.numeric import signals as rt
from ..array_kinds import (
    Args,
    Params,
    constant,
    dtype_of,
    inexact,
    like_option,
    promoted as promoted_dtype,
    rank_of,
    real_of,
)
from ..helpers import helper
from ..registry import declare

_ONE_AXIS = "x, *, n=None, axis=-1, norm=None"
_LIKE_ONE_AXIS = "y_bar, *, like, n=None, axis=-1, norm=None"
_COMPLEX = {"float32": "complex64", "float16": "complex64", "float64": "complex128"}


def complex_of(dtype: str) -> str:
    """The dtype of complex numbers with parts of that dtype."""
    return _COMPLEX.get(inexact(dtype), inexact(dtype))


def _spectrum(args: Args, params: Params) -> Kind:
    return Array(complex_of(dtype_of(args[0])), rank_of(args[0]))


def _signal(args: Args, params: Params) -> Kind:
    return Array(real_of(complex_of(dtype_of(args[0]))), rank_of(args[0]))


# --- Fourier transforms -------------------------------------------------------------------

fft = declare("fft", _ONE_AXIS, infer=_spectrum, np="fft.fft")
ifft = declare("ifft", _ONE_AXIS, infer=_spectrum, np="fft.ifft")
rfft = declare("rfft", _ONE_AXIS, infer=_spectrum, np="fft.rfft")
irfft = declare("irfft", _ONE_AXIS, infer=_signal, np="fft.irfft")
rfft_adjoint = helper("rfft_adjoint", _LIKE_ONE_AXIS, _signal)
irfft_adjoint = helper("irfft_adjoint", _LIKE_ONE_AXIS, _spectrum)
fitted = helper(
    "fitted",
    "x, *, like, axis=-1",
    lambda args, params: Array(dtype_of(args[0]), rank_of(args[0])),
    fold=lambda builder, args, params, namespace: None,
)
opposite_norm = helper(
    "opposite_norm",
    "norm",
    STR,
    fold=lambda b, args, p, n: (
        Const(rt.opposite_norm(constant(args[0]))) if isinstance(args[0], Const) else None
    ),
)
fftfreq = declare(
    "fftfreq", "n, d=1.0, *, device=None", infer=Array("float64", 1), np="fft.fftfreq"
)
rfftfreq = declare(
    "rfftfreq", "n, d=1.0, *, device=None", infer=Array("float64", 1), np="fft.rfftfreq"
)

# --- convolutions -------------------------------------------------------------------------


def _sum_of_products(args: Args, params: Params) -> Kind:
    dtypes = [dtype_of(arg) for arg in args]
    return Array(promoted_dtype(*map(Array, dtypes)) if all(dtypes) else "", 1)


def _transposes(name: str, mode: str) -> Any:
    infer: Infer = like_option
    return (
        helper(f"{name}_left", f"y_bar, v, *, like, mode={mode!r}", infer),
        helper(f"{name}_right", f"a, y_bar, *, like, mode={mode!r}", infer),
    )


convolve = declare("convolve", "a, v, *, mode='full'", infer=_sum_of_products, np="convolve")
convolve_left, convolve_right = _transposes("convolve", "full")
correlate = declare("correlate", "a, v, *, mode='valid'", infer=_sum_of_products, np="correlate")
correlate_left, correlate_right = _transposes("correlate", "valid")

# --- filters ------------------------------------------------------------------------------


def _filtered(args: Args, params: Params) -> Kind:
    dtypes = [dtype_of(arg) for arg in args]
    return Array(
        inexact(promoted_dtype(*map(Array, dtypes))) if all(dtypes) else "", rank_of(args[1])
    )


fir = helper("fir", "taps, x", _filtered)
fir_taps = helper("fir_taps", "y_bar, x, *, like", like_option)
all_pole = helper("all_pole", "a, x", _filtered)
