"""Signals: Fourier transforms and convolutions are linear.

The adjoint of a transform is the transform the other way, normed the opposite way.
"""

from __future__ import annotations

from ...ops.arrays.shape import flip
from ...ops.arrays.signals import (
    all_pole,
    convolve,
    convolve_left,
    convolve_right,
    correlate,
    correlate_left,
    correlate_right,
    fft,
    fftfreq,
    fir,
    fir_taps,
    fitted,
    ifft,
    irfft,
    irfft_adjoint,
    opposite_norm,
    rfft,
    rfft_adjoint,
    rfftfreq,
)
from ...ops.elementwise import conj
from ..forms import also_linear, bilinear_rule, differential, linear_rule, zero_rule

zero_rule(opposite_norm)

# --- Fourier transforms -------------------------------------------------------------------


@differential(fftfreq)
@differential(rfftfreq)
def _(dn, dd, n, d, Ω):
    """Frequencies are whole multiples of 1/(n d), and n is a count."""
    return -(dd / d) * Ω


linear_rule(
    fft,
    transpose=lambda ȳ, x, *, n=None, axis=-1, norm=None: fitted(
        ifft(ȳ, axis=axis, norm=opposite_norm(norm)), like=x, axis=axis
    ),
)
linear_rule(
    ifft,
    transpose=lambda ȳ, x, *, n=None, axis=-1, norm=None: fitted(
        fft(ȳ, axis=axis, norm=opposite_norm(norm)), like=x, axis=axis
    ),
)
linear_rule(
    rfft,
    transpose=lambda ȳ, x, *, n=None, axis=-1, norm=None: rfft_adjoint(
        ȳ, like=x, n=n, axis=axis, norm=norm
    ),
)
linear_rule(
    rfft_adjoint,
    transpose=lambda ȳ, y_bar, *, like, n=None, axis=-1, norm=None: rfft(
        ȳ, n=n, axis=axis, norm=norm
    ),
)
linear_rule(
    irfft,
    transpose=lambda ȳ, x, *, n=None, axis=-1, norm=None: irfft_adjoint(
        ȳ, like=x, n=n, axis=axis, norm=norm
    ),
)
linear_rule(
    irfft_adjoint,
    transpose=lambda ȳ, y_bar, *, like, n=None, axis=-1, norm=None: irfft(
        ȳ, n=n, axis=axis, norm=norm
    ),
)
linear_rule(fitted, transpose=lambda ȳ, x, *, like, axis=-1: fitted(ȳ, like=x, axis=axis))

# --- convolutions -------------------------------------------------------------------------

bilinear_rule(
    convolve,
    left=lambda ȳ, a, v, *, mode="full": convolve_left(ȳ, v, like=a, mode=mode),
    right=lambda ȳ, a, v, *, mode="full": convolve_right(a, ȳ, like=v, mode=mode),
)
bilinear_rule(
    convolve_left,
    left=lambda ȳ, y_bar, v, *, like, mode="full": convolve(ȳ, v, mode=mode),
    right=lambda ȳ, y_bar, v, *, like, mode="full": convolve_right(ȳ, y_bar, like=v, mode=mode),
)
bilinear_rule(
    convolve_right,
    left=lambda ȳ, a, y_bar, *, like, mode="full": convolve_left(y_bar, ȳ, like=a, mode=mode),
    right=lambda ȳ, a, y_bar, *, like, mode="full": convolve(a, ȳ, mode=mode),
)
bilinear_rule(
    correlate,
    left=lambda ȳ, a, v, *, mode="valid": correlate_left(ȳ, v, like=a, mode=mode),
    right=lambda ȳ, a, v, *, mode="valid": correlate_right(a, ȳ, like=v, mode=mode),
)
bilinear_rule(
    correlate_left,
    left=lambda ȳ, y_bar, v, *, like, mode="valid": correlate(ȳ, v, mode=mode),
    right=lambda ȳ, y_bar, v, *, like, mode="valid": correlate_right(ȳ, y_bar, like=v, mode=mode),
)
bilinear_rule(
    correlate_right,
    left=lambda ȳ, a, y_bar, *, like, mode="valid": correlate_left(y_bar, ȳ, like=a, mode=mode),
    right=lambda ȳ, a, y_bar, *, like, mode="valid": correlate(a, ȳ, mode=mode),
)

# --- filters ------------------------------------------------------------------------------

# The adjoint of a filter from rest is the filter run backwards, with conjugate coefficients.


def _backwards(filtering, coefficients, x):
    return flip(filtering(conj(coefficients), flip(x, axis=-1)), axis=-1)


bilinear_rule(
    fir,
    left=lambda ȳ, taps, x: fir_taps(ȳ, x, like=taps),
    right=lambda ȳ, taps, x: _backwards(fir, taps, ȳ),
)
bilinear_rule(
    fir_taps,
    left=lambda t̄, y_bar, x, *, like: fir(t̄, x),
    right=lambda t̄, y_bar, x, *, like: _backwards(fir, t̄, y_bar),
)


@differential(all_pole)
def _(da, dx, a, x, Ω):
    """d(A⁻¹x) = A⁻¹ (dx − dA Ω), with A the lower triangular Toeplitz matrix of a."""
    return all_pole(a, dx - fir(da, Ω))


also_linear(all_pole, (None, lambda ȳ, a, x: _backwards(all_pole, a, ȳ)))
