"""NumPy's functions in programs: the value is NumPy's, both modes agree with central differences."""

# programs under test are written as users write them

from __future__ import annotations

import inspect
import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import agree

import wengert as wg
from wengert.frontend.calls.opcalls import parse_signature
from wengert.ops import registry as ops

_random = np.random.default_rng(3)
V = _random.uniform(0.5, 2, 5)
V2 = _random.uniform(0.5, 2, 5)
W = np.sort(_random.uniform(0.5, 2, 5))
M = _random.uniform(-2, 2, (4, 4))

OF_VECTORS: list[Callable[..., Any]] = [
    lambda x: np.real_if_close(x) * x,
    lambda x: np.reshape(np.outer(x, V), (-1,), "F") * np.arange(25),
    lambda x: np.atleast_1d(x[0], x)[0] * np.atleast_2d(x, 2.0)[0],
    lambda x: np.concatenate([x, x * 2], dtype=complex),
    lambda x: np.stack([x, V2], axis=1, dtype=np.float64, casting="same_kind"),
    lambda x: np.linalg.matrix_power(np.outer(x, V), 0) * x,
    lambda x: (x * x).compress(V2 > 1),
    lambda x: np.array([0, 1, 1, 0, 0]).choose([x, x * x]),
    lambda x: np.exp(x, dtype=np.float64),
    lambda x: np.multiply(x, 2, dtype=complex),
    lambda x: np.log(x, np.zeros((2, 5))),
    lambda x: np.conj(x[0]),
    lambda x: np.sinc(x + 0.5j * V2),
    lambda x: np.maximum(x, V2, out=x * 2, where=V2 > 1),
    lambda x: np.var(x, where=V2 > 1),
    lambda x: np.std(np.outer(x, V2), axis=1, where=V2 > 0.9, correction=1, keepdims=True),
    lambda x: np.outer(x, V).var(axis=1, mean=np.outer(x, V).mean(axis=1, keepdims=True)),
    lambda x: np.nanvar(x, correction=1),
    lambda x: np.nanmax(x, where=V2 > 1, initial=0.1),
    lambda x: np.nanmin(np.where(V2 > 1.5, np.nan, x), initial=9.0),
    lambda x: np.average(np.outer(x, x)[None], axis=(0, 2), weights=np.outer([1.0], x)),
    lambda x: np.cov(x, V, fweights=[1, 2, 1, 1, 3]),
    lambda x: np.cov(np.outer(V[:3], x) ** 2, aweights=x, bias=True),
    lambda x: np.quantile(x, [0.3, 0.5], method="inverted_cdf"),
    lambda x: np.quantile(x, 0.4, method="averaged_inverted_cdf"),
    lambda x: np.percentile(x, 70, method="closest_observation"),
    lambda x: np.subtract.reduce(x),
    lambda x: np.divide.accumulate(np.outer(x, V), axis=1),
    lambda x: np.hypot.reduce(np.outer(x, V), axis=(0, 1), keepdims=True),
    lambda x: np.fmax.reduce(np.outer(x, V), axis=-1, where=V2 > 1, initial=0.1),
    lambda x: np.add.reduce(np.outer(x, V), axis=1, initial=2.0, where=V2 > 1),
    lambda x: np.maximum.reduce(np.outer(x, V), initial=1.5),
    lambda x: np.logaddexp.reduce(x, initial=0.5, where=V2 > 1),
    lambda x: np.logaddexp.reduceat(x, [0, 2, 1]),
    lambda x: np.linalg.norm(np.vecdot(np.outer(x, x), np.outer(x, V), axis=0)),
    lambda x: np.median(x),
    lambda x: np.median(x[:4]),
    lambda x: np.median(np.reshape(np.concatenate([x, x * x]), (2, 5)), axis=1),
    lambda x: np.median(x, keepdims=True),
    lambda x: np.average(x),
    lambda x: np.average(x, weights=V2),
    lambda x: np.average(V2, weights=x),
    lambda x: np.average(x, weights=V2, returned=True),
    lambda x: np.percentile(x, 30),
    lambda x: np.percentile(x, [10, 50]),
    lambda x: np.quantile(x, 0.3),
    lambda x: np.quantile(x, [0.1, 0.5]),
    lambda x: np.quantile(x, 0.3, method="lower"),
    lambda x: np.quantile(V, x / 4),
    lambda x: np.trapezoid(x),
    lambda x: np.trapezoid(x, dx=0.5),
    lambda x: np.trapezoid(x, W),
    lambda x: np.trapezoid(V2, x),
    lambda x: np.trapezoid(np.outer(x, x), W, axis=0),
    lambda x: np.interp(x, [0.0, 1.0, 2.5], [1.0, 3.0, 2.0]),
    lambda x: np.interp(0.8, W, x),
    lambda x: np.interp([0.6, 1.7], np.cumsum(x), V2),
    lambda x: np.interp(x, W, V2, left=0.0),
    lambda x: np.interp(float(x[0]), W, V2),
    lambda x: np.diff(x),
    lambda x: np.diff(x, prepend=0.0),
    lambda x: np.diff(x, append=x[:1]),
    lambda x: np.ediff1d(x),
    lambda x: np.gradient(x),
    lambda x: np.gradient(x, 0.5),
    lambda x: np.gradient(x, W),
    lambda x: np.gradient(np.outer(x, x)),
    lambda x: np.gradient(np.outer(x, x), axis=0),
    lambda x: np.gradient(x, edge_order=2),
    lambda x: np.convolve(x, V2),
    lambda x: np.convolve(V2, x, "same"),
    lambda x: np.convolve(x, V2[:3], mode="valid"),
    lambda x: np.correlate(x, V2[:3]),
    lambda x: np.correlate(V2, x[:3], "full"),
    lambda x: np.fft.fft(x),
    lambda x: np.fft.ifft(x),
    lambda x: np.fft.rfft(x),
    lambda x: np.fft.irfft(np.fft.rfft(x)),
    lambda x: np.fft.irfft(x + 1j * V2),
    lambda x: np.fft.irfft(x + 1j * V2, 5),
    lambda x: np.fft.rfft(x, n=8),
    lambda x: np.fft.fft(x, 3),
    lambda x: np.fft.fft2(np.outer(x, x)),
    lambda x: np.fft.ifft2(np.outer(x, x)),
    lambda x: np.fft.fftn(np.outer(x, x)),
    lambda x: np.fft.ifftn(np.outer(x, x)),
    lambda x: np.fft.rfft2(np.outer(x, x)),
    lambda x: np.fft.irfft2(np.outer(x, x) + 0j),
    lambda x: np.fft.hfft(x + 0j),
    lambda x: np.fft.ihfft(x),
    lambda x: np.fft.fftshift(x),
    lambda x: np.fft.ifftshift(x),
    lambda x: np.fft.fftfreq(5) * x,
    lambda x: np.fft.rfftfreq(8) * x,
    lambda x: np.fft.fftfreq(5, 1 / x[0]) * x,
    lambda x: np.fft.rfftfreq(8, x[1]) * x,
    lambda x: np.fft.fft(np.outer(x, x), axis=0, norm="ortho"),
    lambda x: np.abs(np.fft.fft(x)) ** 2,
    lambda x: np.fft.rfftn(np.outer(x, x)),
    lambda x: np.fft.irfftn(np.outer(x, x) + 0j),
    lambda x: np.cross(x[:3], V2[:3]),
    lambda x: np.nansum(x),
    lambda x: np.nanmean(x),
    lambda x: np.nanstd(x),
    lambda x: np.nanvar(x),
    lambda x: np.nanmax(x),
    lambda x: np.nanmin(x),
    lambda x: np.nanprod(x),
    lambda x: np.nancumsum(x),
    lambda x: np.nancumprod(x),
    lambda x: np.nanmedian(x),
    lambda x: np.nanpercentile(x, 20),
    lambda x: np.nanquantile(x, 0.2),
    lambda x: x * np.nanargmax(x),
    lambda x: np.nansum(np.where(x > 1, x, np.nan)),
    lambda x: np.nanmean(np.where(x > 1, x, np.nan)),
    lambda x: np.nanstd(np.where(x > 1, x, np.nan)),
    lambda x: np.nansum(x, initial=2.0, where=x > 1),
    lambda x: np.nanprod(np.outer(x, x), axis=0, initial=3.0, where=x > 1),
    lambda x: np.nanmean(np.outer(x, x), axis=1, dtype=float, where=x > 1),
    lambda x: np.nanvar(np.outer(x, x), axis=1, where=x > 1),
    lambda x: x * np.any(np.outer(x, x) > 1.3, axis=0, where=x < 1.2),
    lambda x: x * np.all(np.outer(x, x) > 1.3, axis=0, where=x < 1.2),
    lambda x: x[np.sum(x > 1, where=x > 1.1)],
    lambda x: np.logaddexp2(x, V2),
    lambda x: np.logaddexp.reduce(x),
    lambda x: np.add.reduce(x),
    lambda x: np.multiply.reduce(x),
    lambda x: np.maximum.reduce(x),
    lambda x: np.add.accumulate(x),
    lambda x: np.multiply.outer(x, V2),
    lambda x: np.add.outer(x, V2),
    lambda x: np.subtract.outer(x, V2),
    lambda x: np.maximum.accumulate(x),
    lambda x: np.minimum.accumulate(x),
    lambda x: np.unwrap(x * 5),
    lambda x: np.sinc(x),
    lambda x: np.heaviside(x - 1, 0.5) * x,
    lambda x: np.cumprod(x),
    lambda x: np.cumulative_sum(x),
    lambda x: np.cumulative_prod(x),
    lambda x: np.cumulative_sum(x, include_initial=True),
    lambda x: np.ptp(x),
    lambda x: np.rot90(np.outer(x, x)),
    lambda x: np.triu(np.outer(x, x)),
    lambda x: np.tril(x),
    lambda x: np.meshgrid(x, V2)[0],
    lambda x: np.outer(x, x)[np.ix_([0, 2], [1, 3])],
    lambda x: np.outer(x, x)[np.ix_(x > 1, [1, 3])],
    lambda x: x[np.searchsorted(W, x) - 1],
    lambda x: np.searchsorted(W, x) * x,
    lambda x: np.digitize(x, W) * x,
    lambda x: np.bincount([0, 1, 1, 2, 0], weights=x),
    lambda x: np.bincount([0, 1, 1, 2, 0], weights=x, minlength=5),
    lambda x: np.bincount([0, 1, 1, 2, 0], x),
    lambda x: np.histogram(V2, bins=3, weights=x)[0],
    lambda x: np.histogram(x, bins=3)[0] * x[:3],
    lambda x: np.histogram(V2, [0.0, 1.0, 2.0], weights=x)[0],
    lambda x: np.sort(x),
    lambda x: np.sort(x)[::-1],
    lambda x: x[np.argsort(x)],
    lambda x: x[np.lexsort((x,))],
    lambda x: np.partition(x, 2),
    lambda x: np.partition(x, 2)[:2].sum(),
    lambda x: x[np.argpartition(x, 2)],
    lambda x: np.select([x > 1.2, x > 0.8], [x**2, x**3], 0.0),
    lambda x: np.select([x > 1.2, x > 0.8], [x**2, x**3], default=x),
    lambda x: np.piecewise(x, [x < 1, x >= 1], [lambda t: t**2, lambda t: t**3]),
    lambda x: np.piecewise(x, [x < 1], [2.0, lambda t: t**3]),
    lambda x: np.choose([0, 1, 0, 1, 0], [x, x**2]),
    lambda x: np.where(x > 1)[0] * x[0],
    lambda x: np.polyval([1.0, 2.0, 3.0], x),
    lambda x: np.polyval(x, 2.0),
    lambda x: np.polyval(x, V2),
    lambda x: np.polyval(x, np.poly1d(V2))(0.4),
    lambda x: np.polyval(V2, np.poly1d(x)).coef * isinstance(np.poly1d(x), np.poly1d),
    lambda x: np.polyfit(W, x, 2),
    lambda x: np.polyfit(x, V2, 2),
    lambda x: np.poly1d([1.0, 2.0, 3.0])(x),
    lambda x: np.poly1d(x)[1] * np.polyval(np.poly1d(x), 0.5) * len(np.poly1d(x)),
    lambda x: np.abs(np.poly1d(x).roots),
    lambda x: np.polynomial.polynomial.polyder(np.outer(x, V), 2),
    lambda x: np.polynomial.polynomial.polyint(x, 2, k=x[:1], lbnd=x[1]),
    lambda x: np.polynomial.polynomial.polymul(x, np.polynomial.polynomial.polysub(V2, x[:2])),
    lambda x: np.polynomial.polynomial.polyvander(x, 3),
    lambda x: np.polynomial.polynomial.polyfit(W, x, 2, w=V2),
    lambda x: np.polynomial.polynomial.polyfromroots(x),
    lambda x: np.abs(np.polynomial.Polynomial(x, domain=[0, 3]).roots()),
    lambda x: np.polynomial.Polynomial(x, domain=[0, 3]).integ(lbnd=x[0])(0.7),
    lambda x: np.poly1d(x)(2.0),
    lambda x: np.poly1d(x).deriv()(0.4) * np.poly1d(x).integ()(1.2) + np.poly1d(x, True)(0.1),
    lambda x: (np.poly1d(x) * np.poly1d(x[:2]) + 2 * np.poly1d(x) - 1.0)(0.7) * np.poly1d(x).order,
    lambda x: np.add.reduceat(x**2, [0, 2, 1]),
    lambda x: np.multiply.reduceat(np.outer(x, x), [0, 2], axis=1),
    lambda x: np.maximum.reduceat(x, [0, 3]) * np.minimum.reduceat(x, [1, 2]),
    lambda x: np.mgrid[0:3, 0:2] * x[0],
    lambda x: np.mgrid[-1:1:3j] * x[0] + np.r_[0:1:3j],
    lambda x: sum(np.sum(g) for g in np.ogrid[0 : len(x), 0:2]) * x,
    lambda x: (np.outer(x, x))[np.s_[1:, ::2]],
    lambda x: np.lib.stride_tricks.sliding_window_view(np.outer(x, x), (2, 3)),
    lambda x: np.lib.stride_tricks.sliding_window_view(np.outer(x, x), (2, 3), axis=(1, 0)),
    lambda x: np.hypot(*np.stack((x, x**2))) * math.hypot(*x[:3]) * math.dist(x[:2], x[2:4]),
    lambda x: np.linalg.matrix_power(np.outer(x, x) + np.eye(len(x)), int(x[0] * 0) + 3),
    lambda x: np.linalg.matrix_power(np.outer(x, x) + np.eye(len(x)), int(x[0] * 0) - 2),
    lambda x: np.poly(x),
    lambda x: np.poly(np.array([[x[0], -(x[1] ** 2) - 9.0], [1.0, x[2]]])),
    lambda x: (
        np.geomspace(x[0] ** 2 + 1.0, 5.0, 4, True, None, 0)
        + np.logspace(x[1], 1.0, 4, True, 2.0, None, 0)
    ),
    lambda x: np.polyder(x),
    lambda x: np.polyint(x),
    lambda x: np.polyadd(x, V2),
    lambda x: np.polymul(x, V2),
    lambda x: np.polysub(x, V2[:2]),
    lambda x: np.roots(x),
    lambda x: np.vander(x),
    lambda x: np.vander(x, 3, increasing=True),
    lambda x: np.polynomial.polynomial.polyval(x, [1.0, 2.0, 3.0]),
    lambda x: np.polynomial.chebyshev.chebval(x, [1.0, 2.0, 3.0]),
    lambda x: np.polynomial.legendre.legval(x, V2),
    lambda x: np.polynomial.polynomial.polyval(2.0, x),
    lambda x: np.apply_along_axis(lambda r: r.sum() * r, 0, np.outer(x, x)),
    lambda x: np.apply_along_axis(lambda r: r.sum() * r[0], 1, np.outer(x, x)),
    lambda x: np.vectorize(lambda t: t**2)(x),
    lambda x: np.vectorize(lambda t, u: t**2 * u)(x, 2.0),
    lambda x: np.vectorize(math.sin)(x),
    lambda x: np.apply_over_axes(np.sum, np.outer(x, x), [0]),
    lambda x: np.fromiter((t * t for t in x), float),
    lambda x: np.fromiter([t * t for t in x], float),
    lambda x: np.pad(x, 2),
    lambda x: np.pad(x, 2, mode="edge"),
    lambda x: np.pad(x, 2, mode="reflect"),
    lambda x: np.pad(x, (1, 2), constant_values=x[0]),
    lambda x: np.pad(x, 2, "constant"),
    lambda x: np.block([[x], [x]]),
    lambda x: np.block([x, V2]),
    lambda x: np.block([[np.outer(x, x), np.ones((5, 1))], [x, 1.0]]),
    lambda x: np.append(x, x),
    lambda x: np.append(x, 1.0),
    lambda x: np.insert(x, 1, x[0]),
    lambda x: np.insert(x, [1, 2], x[:2]),
    lambda x: np.insert(x, 1, 5.0),
    lambda x: np.insert(np.outer(x, x), 1, x, axis=0),
    lambda x: np.delete(x, 1),
    lambda x: np.delete(x, [0, 2]),
    lambda x: np.delete(np.outer(x, x), 1, axis=0),
    lambda x: np.delete(x, slice(0, 2)),
    lambda x: np.resize(x, 7),
    lambda x: np.array_split(x, 2)[0],
    lambda x: np.split(x, 5)[1],
    lambda x: np.hsplit(x, 5)[0],
    lambda x: np.unstack(np.outer(x, x))[0],
    lambda x: np.moveaxis(np.outer(x, x), 0, 1),
    lambda x: np.swapaxes(np.outer(x, x), 0, 1),
    lambda x: np.rollaxis(np.outer(x, x), 1),
    lambda x: np.permute_dims(np.outer(x, x)),
    lambda x: np.atleast_1d(x),
    lambda x: np.atleast_3d(x),
    lambda x: np.nan_to_num(x),
    lambda x: np.copysign(x, -1.0),
    lambda x: np.fmod(x, 0.7),
    lambda x: np.float_power(x, 2.2),
    lambda x: np.cbrt(x),
    lambda x: np.i0(x),
    lambda x: np.broadcast_arrays(x, 1.0)[0],
    lambda x: np.broadcast_to(x, (2, 5)),
    lambda x: np.squeeze(x[None]),
    lambda x: np.expand_dims(x, 0),
    lambda x: np.real(x * 1j),
    lambda x: np.mgrid[0:3] * x[:3],
    lambda x: np.ogrid[0:3] * x[:3],
    lambda x: x[np.s_[1:3]],
    lambda x: np.tril_indices(3)[0] * x[0],
    lambda x: np.outer(x, x)[np.triu_indices(5)],
    lambda x: np.outer(x, x)[np.tril_indices_from(np.outer(x, x))],
    lambda x: np.outer(x, x)[np.diag_indices_from(np.outer(x, x))],
    lambda x: np.diagflat(x),
    lambda x: np.require(x),
    lambda x: np.asanyarray(x),
    lambda x: np.copy(x),
    lambda x: np.array(x, copy=True),
    lambda x: np.compress([1, 0, 1, 0, 1], x),
    lambda x: np.extract(x > 1, x),
    lambda x: np.take(x, [0, 1]),
    lambda x: np.take_along_axis(x, np.array([0, 1]), 0),
    lambda x: np.take(x, 0),
    lambda x: np.argmax(x) * x,
    lambda x: np.logspace(x[0], x[1], 4),
    lambda x: np.geomspace(x[0], x[1], 4),
    lambda x: np.linspace(x[0], x[1], 4),
    lambda x: np.arange(5) * x,
    lambda x: np.cov(x, V2),
    lambda x: np.cov(np.outer(x, x) + M[:4, :1].sum()),
    lambda x: np.corrcoef(x, V2),
    lambda x: np.cov(x),
    lambda x: np.ones_like(x) * x,
    lambda x: np.full(3, x[0]),
    lambda x: np.full_like(V, x[0]),
    lambda x: np.tile(x, 2),
    lambda x: np.repeat(x, 2),
    lambda x: np.roll(x, 1),
    lambda x: np.flip(x),
    lambda x: np.kron(x, x),
    lambda x: np.vdot(x, x),
    lambda x: np.inner(x, x),
    lambda x: np.einsum("i,i", x, x),
    lambda x: np.einsum(np.outer(x, x), [0, 1], x, [1], [0]),
    lambda x: np.einsum(np.outer(x, 2 * x), (0, 0)),
    lambda x: np.einsum(np.outer(x, x * x), [27, 2], np.outer(x, V2), [2, 1]),
    lambda x: np.tensordot(x, x, 1),
    lambda x: np.linalg.norm(x),
    lambda x: np.dot(x, x),
    lambda x: np.matmul(x, x),
    lambda x: np.trace(np.outer(x, x)),
    lambda x: np.std(x),
    lambda x: np.var(x),
    lambda x: np.signbit(x) * x,
    lambda x: np.modf(x)[0],
    lambda x: np.frexp(x)[0],
    lambda x: np.divmod(x, 0.7)[1],
    lambda x: np.divmod(x, 0.7),
    lambda x: np.ldexp(x, 2),
    lambda x: np.positive(x),
    lambda x: np.spacing(x) * x,
    lambda x: np.deg2rad(x),
    lambda x: np.rad2deg(x),
    lambda x: np.gcd(4, 6) * x,
    lambda x: np.around(x, 1) * x,
    lambda x: np.isin(x, [1.0]) * x,
    lambda x: np.intersect1d(x, x),
    lambda x: np.union1d(x, V2),
    lambda x: np.count_nonzero(x) * x,
    lambda x: np.nonzero(x)[0] * x,
    lambda x: np.allclose(x, x) * x,
    lambda x: np.isscalar(x) * x,
    lambda x: np.iterable(x) * x,
    lambda x: np.ndim(x) * x,
    lambda x: np.size(x) * x,
    lambda x: np.shape(x)[0] * x,
    lambda x: np.finfo(float).eps * x,
    lambda x: np.finfo(x.dtype).eps * x,
    lambda x: np.hamming(5) * x,
    lambda x: np.hanning(5) * x,
    lambda x: np.blackman(5) * x,
    lambda x: np.bartlett(5) * x,
    lambda x: np.kaiser(5, 3.0) * x,
    lambda x: np.kaiser(5, x[0]),
    lambda x: np.triu(np.ones((5, 5))) @ x,
    lambda x: np.tri(5) @ x,
    lambda x: np.identity(5) @ x,
    lambda x: np.lib.stride_tricks.sliding_window_view(x, 2),
    lambda x: np.nan_to_num(x / 0.5),
    lambda x: np.clip(x, 0.6, 1.0),
    lambda x: np.clip(x, None, 1.0),
    lambda x: x.clip(0.6, 1.0),
    lambda x: np.sum(x, where=x > 1),
    lambda x: np.mean(x, where=x > 1),
    lambda x: np.max(x, where=x > 1, initial=0.0),
    lambda x: np.max(x, initial=9.0),
    lambda x: np.prod(x, initial=2.0),
    lambda x: np.sum(x, initial=2.0),
    lambda x: x.sum(where=x > 1),
    lambda x: np.min(x, initial=0.0),
    lambda x: np.std(x, ddof=1),
    lambda x: x.max(),
    lambda x: x.mean(),
    lambda x: x.std(),
    lambda x: x.cumsum(),
    lambda x: x.cumprod(),
    lambda x: x.prod(),
    lambda x: x.round(1) * x,
    lambda x: x.dot(x),
    lambda x: x.take([0]),
    lambda x: x.repeat(2),
    lambda x: x.flatten(),
    lambda x: x.ravel(),
    lambda x: x.squeeze(),
    lambda x: x.tolist()[0] * 2,
    lambda x: x.item(0),
    lambda x: x.copy(),
    lambda x: x.astype(float),
    lambda x: x.conj(),
    lambda x: x.real,
    lambda x: x.imag * x,
    lambda x: x.T,
    lambda x: x.argmax() * x,
    lambda x: x.argsort() * x,
    lambda x: x.nonzero()[0] * x,
    lambda x: x.searchsorted(1.0) * x,
    lambda x: x.swapaxes(0, 0),
    lambda x: x.any() * x,
    lambda x: x.all() * x,
    lambda x: x.argmin() * x,
    lambda x: x.argpartition(2) * x,
    lambda x: x.nbytes * x,
    lambda x: x.itemsize * x,
    lambda x: x.strides[0] * x,
    lambda x: x.flat[2],
    lambda x: x.size * x,
    lambda x: x.ndim * x,
    lambda x: x.shape[0] * x,
    lambda x: sum(x.flat),
    lambda x: [t * t for t in x.flat],
    lambda x: sum(t * t for i, t in np.ndenumerate(x)),
    lambda x: sum(x[i] ** 2 for i in np.ndindex(5)),
    lambda x: np.unique(x),
    lambda x: np.unique(x, return_inverse=True)[0],
    lambda x: np.r_[x, 1.0, x],
    lambda x: np.c_[x, V2] @ V[:2],
    lambda x: np.r_[0:2, x],
    lambda x: np.polynomial.Polynomial([1.0, 2.0, 3.0])(x),
    lambda x: np.polynomial.Chebyshev([1.0, 2.0, 3.0], [0, 3])(x),
    lambda x: np.polynomial.Polynomial(x)(2.0),
    lambda x: np.polynomial.Polynomial(x).deriv()(0.4) * np.polynomial.Polynomial(x).integ()(1.2),
    lambda x: np.polynomial.Polynomial(x, domain=[0.0, 2.0]).deriv(2)(0.4),
    lambda x: np.polynomial.Polynomial(x, domain=[0.0, 2.0]).integ(1, k=2.0)(1.2),
    lambda x: (np.polynomial.Polynomial(x) ** 2 * 2 - np.polynomial.Polynomial(x[:2]) + 1)(0.5),
    lambda x: np.polynomial.hermite.hermval(x, [1.0, 2.0, 3.0]),
    lambda x: np.polynomial.hermite_e.hermeval(x, V2),
    lambda x: np.polynomial.laguerre.lagval(x, [1.0, 2.0, 3.0]),
    lambda x: np.interp([0.1, 0.45, 3.3], x, [1.0, 2.0, 0.0, 1.0, 4.0], period=2.5),
    lambda x: np.asarray_chkfinite(x),
    lambda x: np.asfortranarray(np.outer(x, x)),
    lambda x: np.average(np.outer(x, x), axis=0, weights=V2),
    lambda x: np.average(np.outer(x, x), axis=1, weights=V2, keepdims=True),
    lambda x: np.gradient(x, W, edge_order=2),
    lambda x: np.gradient(np.outer(x, x), 0.5, W)[1],
    lambda x: np.insert(np.outer(x, x), [0, 2], 1.0, axis=1),
    lambda x: np.delete(x, [True, False, False, True, False]),
    lambda x: np.unique(np.round(V, 1) * x[0]),
    lambda x: np.histogram(V2, [0.0, 1.0, 2.0], weights=x, density=True)[0],
    lambda x: np.apply_along_axis(np.sort, 1, np.outer(x, V2)),
    lambda x: np.fft.rfftn(np.outer(x, x), s=(4, 6), axes=(0, 1)),
    lambda x: np.fft.irfftn(np.outer(x, x) + 0j, axes=(1, 0), norm="ortho"),
    lambda x: np.sum(np.outer(x, x), axis=0, where=np.arange(5) > 1),
    lambda x: np.mean(np.outer(x, x), axis=1, keepdims=True, where=np.outer(x, x) > 1),
    lambda x: np.nanvar(np.where(x > 1, x, np.nan), ddof=1),
    lambda x: np.cov(np.outer(x, V2), rowvar=False, ddof=0),
    lambda x: np.corrcoef(np.outer(x, V2)[:2] + np.eye(2, 5)),
    lambda x: np.maximum.accumulate(np.outer(x, V2), axis=1),
    lambda x: np.logaddexp.reduce(np.outer(x, V2), axis=1, keepdims=True),
    lambda x: np.lib.stride_tricks.sliding_window_view(np.outer(x, V2), 2, axis=1),
    lambda x: np.pad(np.outer(x, V2), ((1, 0), (0, 2)), constant_values=x[1]),
    lambda x: np.kaiser(6, x[0]),
    lambda x: sum(x[i] * x[j] for i, j in np.ndindex(3, 2)),
]

OF_MATRICES: list[Callable[..., Any]] = [
    lambda x: np.linalg.eigvalsh(x @ x.T),
    lambda x: np.linalg.eigh(x @ x.T)[0],
    lambda x: abs(np.linalg.eigh(x @ x.T)[1]),
    lambda x: np.linalg.svd(x)[1],
    lambda x: np.linalg.svd(x, compute_uv=False),
    lambda x: np.linalg.svdvals(x),
    lambda x: (lambda u, s, vh: (u * s**2) @ vh)(*np.linalg.svd(x)),
    lambda x: (lambda u, s, vh: (u * s**2) @ vh)(*np.linalg.svd(x[:3], full_matrices=False)),
    lambda x: np.linalg.qr(x)[0],
    lambda x: np.linalg.qr(x)[1],
    lambda x: np.linalg.qr(x, mode="r"),
    lambda x: np.linalg.qr(x[:, :2])[0],
    lambda x: np.linalg.pinv(x[:, :2]),
    lambda x: np.linalg.lstsq(x[:, :2], V[:4])[0],
    lambda x: np.linalg.lstsq(x[:, :2], V[:4], rcond=None)[0],
    lambda x: np.linalg.lstsq(M[:, :2], x)[0],
    lambda x: np.linalg.matrix_power(x, 3),
    lambda x: np.linalg.multi_dot([x, M, x]),
    lambda x: np.linalg.eig(x)[0],
    lambda x: np.linalg.eigvals(x @ x.T),
    lambda x: np.linalg.cond(x),
    lambda x: np.linalg.cond(x, 1),
    lambda x: x * np.linalg.matrix_rank(x),
    lambda x: np.linalg.norm(x, 2),
    lambda x: np.linalg.norm(x, "nuc"),
    lambda x: np.linalg.norm(x, 1),
    lambda x: np.linalg.norm(x, np.inf),
    lambda x: np.linalg.norm(x, -2),
    lambda x: np.linalg.norm(x, -1),
    lambda x: np.linalg.norm(x, -np.inf),
    lambda x: np.linalg.norm(x, 2, axis=(0, 1)),
    lambda x: np.linalg.matrix_norm(x),
    lambda x: np.linalg.vector_norm(x),
    lambda x: np.linalg.vector_norm(x, ord=3),
    lambda x: np.linalg.tensorinv(x.reshape(2, 2, 4), ind=2),
    lambda x: np.linalg.tensorinv(x.reshape(2, 2, 2, 2)),
    lambda x: np.linalg.tensorsolve(x.reshape(2, 2, 4)[..., :4], np.ones((2, 2))),
    lambda x: np.linalg.trace(x),
    lambda x: np.linalg.diagonal(x),
    lambda x: np.linalg.vecdot(x, M),
    lambda x: np.vecdot(x, M),
    lambda x: np.matvec(x, V[:4]),
    lambda x: np.vecmat(V[:4], x),
    lambda x: np.linalg.outer(x[0], x[1]),
    lambda x: np.linalg.cross(x[0, :3], x[1, :3]),
    lambda x: np.linalg.slogdet(x)[1],
    lambda x: np.linalg.cholesky(x @ x.T + np.eye(4)),
    lambda x: np.linalg.lstsq(x[:2], V[:2], rcond=None)[0],
    lambda x: np.linalg.lstsq(x[:, :2], V[:4], rcond=None)[1],
    lambda x: np.linalg.qr(x[:, :2], mode="complete")[1],
    lambda x: abs(np.linalg.eig(x)[1]),
    lambda x: np.linalg.cond(x, -2),
    lambda x: np.linalg.multi_dot([x, x, V[:4]]),
    lambda x: np.linalg.multi_dot([x, x, x, x]),
]


def cases() -> list[Any]:
    every = [(f, V) for f in OF_VECTORS] + [(f, M) for f in OF_MATRICES]
    return [pytest.param(f, x, id=written(f)) for f, x in every]


def written(f: Callable[..., Any]) -> str:
    line = linecache.getline(__file__, f.__code__.co_firstlineno)
    return line.strip().removeprefix("lambda x: ").removesuffix(",")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("f", "x"), cases())
def test_derivative(f: Callable[..., Any], x: Any) -> None:
    try:
        f(x)
    except AttributeError:
        pytest.skip("this NumPy does not have it")
    wg.testing.check_gradient(f, x)
    wg.pushforward(f, x)[1](x)


# --- numbers and lists of numbers ---------------------------------------------------------

OF_NUMBERS: list[Callable[..., Any]] = [
    lambda x, y: np.average([x, y, 1.0]),
    lambda x, y: np.average([x, y], weights=[y, 2.0]),
    lambda x, y: np.trapezoid([x, y, 1.0], [0.0, y, 3.0]),
    lambda x, y: np.median([x, y, 1.0]),
    lambda x, y: np.percentile([x, y, 1.0], 40),
    lambda x, y: np.interp(x, [0.0, y, 3.0], [1.0, x, y]),
    lambda x, y: np.polyval([x, y, 1.0], x),
    lambda x, y: np.convolve([x, y], [y, x, 1.0]) @ np.arange(4.0),
    lambda x, y: np.fft.fft([x, y, 1.0])[1].real,
    lambda x, y: np.linalg.eigvalsh([[x, y], [y, 3.0]])[0],
    lambda x, y: np.linalg.svd([[x, y], [y, 3.0]])[1][0],
    lambda x, y: np.linalg.norm([[x, y], [y, 3.0]], 2),
    lambda x, y: np.cross([x, y, 1.0], [y, 2.0, x]) @ np.arange(3.0),
    lambda x, y: np.gradient([x, y, x * y, 1.0]) @ np.arange(4.0),
    lambda x, y: np.nansum([x, y]),
    lambda x, y: np.diff([x, y, x * y], prepend=y) @ np.arange(3.0),
    lambda x, y: np.select([x > 0.1, y > 0], [x, y]),
    lambda x, y: np.block([[x, y], [y, 1.0]]).sum(),
    lambda x, y: np.insert([x, y], 1, x * y) @ np.arange(3.0),
    lambda x, y: np.delete([x, y, 1.0], 0) @ np.arange(2.0),
    lambda x, y: np.sort([y, x]) @ np.arange(2.0),
    lambda x, y: np.cov([x, y, 1.0], [y, 2.0, x])[0, 1],
    lambda x, y: np.choose([0, 1], [[x, y], [y, 2 * x]]) @ np.arange(2.0),
    lambda x, y: np.apply_along_axis(lambda r: r * r.sum(), 0, [[x, y], [y, 2.0]]).sum(),
    lambda x, y: np.vectorize(lambda a, b: a * b)(x, y),
    lambda x, y: np.unwrap([x, y + 6]) @ np.arange(2.0),
    lambda x, y: np.sinc(x) * np.i0(y) * np.logaddexp2(x, y),
    lambda x, y: np.linalg.lstsq([[x, 1.0], [y, 2.0], [1.0, 1.0]], [1.0, x, y], rcond=None)[
        0
    ].sum(),
    lambda x, y: np.polyfit([0.0, 1.0, x + 2], [y, x, 1.0], 1).sum(),
    lambda x, y: np.bincount([0, 1, 0], [x, y, 1.0]) @ np.arange(2.0),
    lambda x, y: np.piecewise(x, [x < 0.5], [lambda t: t * t, lambda t: 3 * t]),
    lambda x, y: np.roots([1.0, -x - y, x * y]).sum().real,
    lambda x, y: np.quantile([x, y, 1.0], x / 2),
    lambda x, y: np.linalg.multi_dot([[[x, y]], [[x], [y]]])[0, 0],
    lambda x, y: np.linalg.cond([[x, 1.0], [y, 3.0]]),
    lambda x, y: np.unique([x, y, x]) @ np.arange(2.0),
    lambda x, y: np.vander([x, y], 3).sum(),
    lambda x, y: np.linalg.qr([[x, 1.0], [y, 3.0]])[1].sum(),
    lambda x, y: np.ptp([x, y]),
    lambda x, y: np.clip([x, y], 0.8, 2.0).sum(),
    lambda x, y: np.rot90([[x, y], [1.0, 2.0]])[0, 0],
    lambda x, y: np.linalg.matrix_power([[x, y], [1.0, 2.0]], 3)[0, 0],
    lambda x, y: np.heaviside(x, y) * x,
    lambda x, y: np.nanmean([x, np.nan, y]),
    lambda x, y: np.modf(x * 3)[0] * y,
    lambda x, y: np.r_[x, y] @ np.arange(2.0),
    lambda x, y: np.c_[[x, y]].sum(),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("f", OF_NUMBERS, ids=lambda f: written(f).removeprefix("lambda x, y: "))
def test_derivative_in_numbers(f: Callable[..., Any]) -> None:
    wg.testing.check_gradient(f, 0.7, 1.9)
    wg.pushforward(f, 0.7, 1.9)[1](1.0, 1.0)


# --- programs about which nothing is known ------------------------------------------------

SCALARS: list[Callable[..., Any]] = [
    lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2),
    lambda x: np.median(x) * np.percentile(x, 30),
    lambda x: np.interp(1.2, W, x),
    lambda x: np.average(x, weights=V2) * np.trapezoid(x, W),
    lambda x: np.sum(np.convolve(x, V2) ** 2),
    lambda x: np.linalg.norm(np.outer(x, V2) + np.eye(5), 1),
    lambda x: np.linalg.svd(np.outer(x, V2) + np.eye(5))[1][0],
    lambda x: np.sum(np.gradient(x, W) ** 2),
    lambda x: np.sum(np.pad(x, 1, constant_values=x[0]) ** 2),
    lambda x: np.sum(np.polyfit(W, x, 2) ** 2),
]


@pytest.mark.parametrize("f", SCALARS, ids=written)
def test_general_source(f: Callable[..., Any]) -> None:
    namespace: dict[str, Any] = {}
    exec(wg.grad(f).source, namespace)
    (gradient,) = [value for name, value in namespace.items() if name.startswith("grad_")]
    np.testing.assert_allclose(gradient(V), wg.grad(f)(V), rtol=1e-9)


# --- signatures ---------------------------------------------------------------------------


def test_options_stand_where_numpy_has_them() -> None:
    """What is passed by position must not arrive in another option."""
    moved: dict[str, tuple[str, str]] = {}
    for op in ops.ops():
        signature = parse_signature(op.signature)
        for spelling in op.spellings.get("np", "").split():
            theirs = positional(spelling)
            for place, name in enumerate(signature.options, start=len(signature.operands)):
                if not signature.rest and place < len(theirs) and theirs[place] != name:
                    moved.setdefault(op.name, (name, theirs[place]))
    assert moved == {"take": ("mode", "out")}


def positional(spelling: str) -> list[str]:
    function: Any = np
    for name in spelling.split("."):
        function = getattr(function, name, None)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


@pytest.mark.parametrize(("x", "slope"), [(0.2, 0.4), (0.7, 3.0)])
def test_pieces_of_a_number_are_chosen_by_a_plain_bool(x, slope):
    f = lambda x: float(np.piecewise(x, [x < 0.5], [lambda t: t * t, lambda t: 3 * t]))
    assert wg.value_and_grad(f)(x) == (pytest.approx(f(x)), pytest.approx(slope))


def area_of_a_polygon(x):
    corners = np.array([[0.0, 0.0], [x, 0.1], [1.0, x * x], [0.2, 1.0]])
    pairs = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    return 0.5 * abs(sum(float(np.cross(a, b)) for a, b in pairs))


def cross_products_of_rows(x):
    rows, vector = np.array([[x, 2.0], [1.0, x]]), np.array([3.0, x * x])
    return np.sum(np.cross(rows, vector) * np.array([1.0, x]))


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("f", [area_of_a_polygon, cross_products_of_rows])
def test_cross_products_in_the_plane(f):
    try:
        f(0.7)
    except ValueError:
        pytest.skip("this NumPy knows them in space only")
    agree(f, 0.7, second=False)


def options_by_place(x):
    z, e = np.zeros((2,), np.float64, "C"), np.eye(2, 2, 0, float, "F")
    z[0] = x
    like = np.zeros_like(z, float, "C") + np.ones_like(z, None, "K") * x
    return (z @ e + np.full(2, x, float, "C") * np.ones(2, float, "F") + like**2).sum()


def numbers_with_new_axes(x):
    rows = np.asarray([x, 2 * x])
    stacked = np.concatenate([each[..., np.newaxis] for each in rows**2], axis=-1)
    return np.sum(stacked) * rows.sum()[None, ...][0] + rows[0][...] * rows.max()[()]


@pytest.mark.parametrize("f", [options_by_place, numbers_with_new_axes])
def test_spellings(f):
    agree(f, 0.7)


def test_new_axes_of_a_number_of_pythons_raise():
    with pytest.raises(TypeError, match="'float' object is not subscriptable"):
        wg.grad(lambda x: x[..., None][0])(1.0)


def a_number_and_masks(x):
    root = np.sqrt(np.asarray(x) ** 2 + 1)
    there = ~np.isclose(root, 0)
    return np.sum(np.arctan(root[there] * 2)) + root[root > 0][0] + root[root < 0].sum()


@pytest.mark.parametrize("general", [False, True])
def test_masks_of_a_number(general):
    if general:
        namespace = {}
        exec(wg.grad(a_number_and_masks).source, namespace)
        assert namespace["grad_a_number_and_masks"](0.7) == wg.grad(a_number_and_masks)(0.7)
    else:
        agree(a_number_and_masks, 0.7)


def writes_to_an_array_without_axes(x):
    root = np.sqrt(np.asarray(x) ** 2 + 1)
    made, other = np.empty_like(root), np.zeros(())
    made[~np.isclose(root, 0)] = np.arctan(root)
    made[root > 0] += np.sin(made[root > 0])
    made[root < 0] = 7.0
    other[...] = x
    other[()] += x * x
    return made * 2.0 + other * made


def test_arrays_without_axes_are_written_to():
    agree(writes_to_an_array_without_axes, 0.7)


@pytest.mark.parametrize("f", [np.prod, np.cumprod, lambda n: np.cumprod(n, axis=1)])
def test_products_of_integers(f):
    n = np.array([[1, 2], [3, 4]])
    found = wg.grad(lambda n: np.sum(f(n) * 1.0))(n)
    np.testing.assert_array_equal(found, wg.grad(lambda n: np.sum(f(n)))(n * 1.0))
    hessian = wg.hessian(lambda n: np.sum(f(n) * 1.0))(n)
    np.testing.assert_array_equal(hessian, wg.hessian(lambda n: np.sum(f(n)))(n * 1.0))


@pytest.mark.parametrize("method", ["sum", "mean", "cumsum", "item", "flatten", "conj", "tolist"])
def test_methods_of_numpys_numbers_forward(method):
    value, push = wg.pushforward(lambda x: getattr(x, method)(), np.float64(2.0))
    np.testing.assert_array_equal(push(3.0), value * 1.5)


@pytest.mark.parametrize("f", [np.cumsum, lambda x: np.hstack([x, [1.0]]), lambda x: np.tile(x, 2)])
def test_the_gradient_of_a_number_is_a_number(f):
    value, back = wg.pullback(f, 0.5)
    assert isinstance(back(np.ones_like(value))[0], float)


@pytest.mark.parametrize("f", [np.polyfit, lambda x, y, d: np.polyfit(x, y, d, w=y)])
def test_second_derivatives_of_fitted_coefficients(f):
    wg.testing.check_gradient(
        lambda x: wg.grad(lambda x: np.sum(f(x, V2, 1) ** 2))(x), np.sort(V) + np.arange(5)
    )


LISTS_BESIDE_ARRAYS = [
    lambda x, m: np.sum((x - [m, 2 * m]) ** 2),
    lambda x, m: np.sum(((m, 2 * m) - x) ** 2),
    lambda x, m: np.sum(x / [m, 2 * m]),
    lambda x, m: np.sum([m, m * m] / x),
    lambda x, m: np.sum(x ** [m, 2 * m]),
    lambda x, m: np.sum(x @ [m, 2 * m]),
    lambda x, m: np.sum((np.outer(x, x) - [[m, 2 * m], [m * m, 1.0]]) ** 2),
    lambda x, m: np.sum((x > [m, m]) * x * m),
]


def lists_put_into_an_array(x, m):
    y = x.copy()
    y -= [m, 2 * m]
    y /= (m, 3 * m)
    rows = np.zeros((2, 2))
    rows[:, 0] = [m, m**2]
    rows[1] -= [m, m]
    return np.sum(y**2) + np.sum(rows**2)


@pytest.mark.parametrize("f", [*LISTS_BESIDE_ARRAYS, lists_put_into_an_array])
def test_lists_and_tuples_beside_arrays_are_arrays(f):
    x, m = np.array([0.5, 1.25]), 0.8
    wg.testing.check_gradient(f, x, m)
    slopes = wg.gradient(f, x, m)
    _, push = wg.pushforward(f, x, m)
    assert push(np.array([1.0, -2.0]), 3.0) == pytest.approx(
        slopes[0] @ [1.0, -2.0] + 3.0 * slopes[1], rel=1e-12
    )
    bend = (wg.grad(f, 1)(x, m + 1e-6) - wg.grad(f, 1)(x, m - 1e-6)) / 2e-6
    assert wg.hvp(f, 1)(x, m, 1.0) == pytest.approx(bend, rel=1e-7)


def rows_by_name(v):
    u, kept = v * 1.0, {"left": [], "mid": []}
    for _ in range(3):
        u = u * v
        kept["left"].append(u[1])
        kept["mid"].append(u[2])
    return np.sum(np.array([kept[name] for name in sorted(kept)]) ** 2)


def one_list_in_two_rows(v):
    squares = []
    for x in v:
        squares.append(x * x)  # noqa: PERF401
    stacked = np.stack([squares, squares]).sum() + np.vstack([squares, v]).sum()
    return np.sum(np.array([squares, [1.0, v[0], 2.0, v[1]]]) ** 2) + stacked


@pytest.mark.parametrize("f", [rows_by_name, one_list_in_two_rows])
def test_lists_that_a_loop_has_made_are_rows_of_an_array(f):
    wg.testing.check_gradient(f, np.array([1.0, 1.2, 1.5, 1.4]))


def labels_by_log_probabilities(logits):
    logs = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    steps, states = np.shape(logs)
    table = np.full((steps, states), -np.inf)
    table[0, 0] = logs[0, 0]
    for t in range(1, steps):
        for s in range(states):
            stays = table[t - 1, s]
            table[t, s] = logs[t, s] + (np.logaddexp(stays, table[t - 1, s - 1]) if s else stays)
    return -np.logaddexp2(table[-1, -1], table[-1, -2])


def test_sums_of_probabilities_that_are_zero():
    logits = np.linspace(-1, 1, 15).reshape(5, 3) ** 2
    wg.testing.check_gradient(labels_by_log_probabilities, logits)
    assert np.isfinite(wg.hvp(labels_by_log_probabilities)(logits, logits)).all()
    assert wg.gradient(np.logaddexp, -np.inf, -np.inf) == (0.0, 0.0)
    assert wg.derivative(lambda x: np.logaddexp(x, 1.0), order=2)(1.0) == 0.25
    scipy_special = pytest.importorskip("scipy.special")
    masked = lambda x: np.exp(scipy_special.logsumexp(np.where([x > 0, x > 9], x, -np.inf)[1]))
    assert wg.grad(masked)(1.5) == 0.0


CHOOSING: dict[str, Callable[..., Any]] = {
    "out": lambda x, w: np.sum(np.multiply(x, x, out=np.ones(3), where=w)),
    "sum": lambda x, w: np.sum(x * x, where=w),
    "where": lambda x, w: np.sum(np.where(w, x * x, x)),
    "putmask": lambda x, w: put(np.putmask, x, w),
    "place": lambda x, w: put(np.place, x, w),
}


def put(function, x, w):
    y = x * x
    function(y, np.broadcast_to(w, 3), 3.0 * x)
    return np.sum(y)


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("w", [-1, 2, 0, [1, 0, 2], True])
@pytest.mark.parametrize("f", CHOOSING.values(), ids=CHOOSING.keys())
def test_numbers_choose_by_being_zero_or_not(f, w, tier) -> None:
    x = np.array([1.0, 2.0, 4.0])
    value, gradient = wg.value_and_grad(f, tier=tier)(x, w)
    assert value == f(x, w)
    differences = [(f(x + step, w) - f(x - step, w)) / 2e-6 for step in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-7, atol=1e-9)


def test_derivatives_of_derivatives_of_an_array_without_axes_that_a_mask_chooses():
    def f(x):
        quotient = np.zeros_like(x, dtype=float)
        return np.divide(2.0, x, out=quotient, where=x != 0)

    second = wg.grad(wg.grad(f))
    assert (second(2.0), wg.grad(second)(2.0)) == (0.5, -0.75)


def test_what_only_others_than_scalars_come_to_is_not_read():
    def f(x):
        if not isinstance(x, np.ndarray) and not np.isscalar(x) and any(t is None for t in x):
            return 2.0 * x
        return x * x

    assert wg.grad(f)(3.0) == 6.0
    assert " if " not in str(wg.code_ir(f, 3.0))
