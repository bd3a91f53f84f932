"""SciPy's splines of FITPACK, in Python: the front end reads these instead.

They are B-splines, whose knots and coefficients SciPy has found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate  # pyright: ignore[reportMissingTypeStubs]

from .....ops.arrays.creation import gather as array_of
from .....ops.program.refusals import FORMULA, uncovered
from ... import manifest
from ...same_names import same_names
from .b_splines import Basis, de_boor, make_interp_spline
from .grids import coefficients, knots


class Curve:
    """`scipy.interpolate.UnivariateSpline`; `ext` says what it is outside of its points."""

    def __init__(self, basis: Any, ext: Any = 0):
        self.basis = basis
        self.ext = ext

    def __call__(self, x: Any, nu: Any = 0, ext: Any = None) -> Any:
        at, t, k = array_of(x), self.basis.t, self.basis.k
        outside = _FROM_NAMES.get(ext, ext) if ext is not None else self.ext
        if nu > k:
            raise ValueError(f"0<=der={nu}<=k={k} must hold")
        first, last = t[k], t[np.shape(t)[0] - k - 1]
        if outside == 3:
            return self.basis(np.clip(at, first, last), nu)
        found = self.basis(at, nu)
        if outside == 2 and np.any((at < first) | (at > last)):
            raise ValueError("Error code returned by spalde: 10")
        if outside == 1:
            return np.where((at < first) | (at > last), 0.0, found)
        return found

    def derivative(self, n: Any = 1) -> Any:
        return Curve(self.basis.derivative(n), 1 if self.ext == 3 else self.ext)

    def antiderivative(self, n: Any = 1) -> Any:
        return Curve(self.basis.antiderivative(n), self.ext)

    def integral(self, a: Any, b: Any) -> Any:
        """What is outside of the points counts as 0."""
        t, k = self.basis.t, self.basis.k
        whole = self.basis.antiderivative()
        first, last = t[k], t[np.shape(t)[0] - k - 1]
        return whole(np.clip(b, first, last)) - whole(np.clip(a, first, last))

    def derivatives(self, x: Any) -> Any:
        return np.stack([self.basis(x, order) for order in range(self.basis.k + 1)])


_FROM_NAMES: dict[Any, int] = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


class Surface:
    """`scipy.interpolate.RectBivariateSpline` and its like: constant outside, across the edge."""

    def __init__(self, tx: Any, ty: Any, c: Any, kx: Any, ky: Any):
        self.tx = tx
        self.ty = ty
        self.c = c
        self.kx = kx
        self.ky = ky

    def __call__(self, x: Any, y: Any, dx: Any = 0, dy: Any = 0, grid: Any = True) -> Any:
        x, y = array_of(x), array_of(y)
        if not grid:
            return self.ev(x, y, dx, dy)
        for name, points in (("x", x), ("y", y)):
            if np.ndim(points) > 0 and not np.all(np.diff(points) >= 0.0):
                raise ValueError(f"{name} must be strictly increasing when `grid` is True")
        return self.ev(np.expand_dims(np.atleast_1d(x), 1), np.atleast_1d(y), dx, dy)

    def ev(self, xi: Any, yi: Any, dx: Any = 0, dy: Any = 0) -> Any:
        if dx >= self.kx or dy >= self.ky:
            raise ValueError("Error code returned by pardeu: 10")
        c = _derived(self.c, self.tx, self.kx, dx)
        c = np.transpose(_derived(np.transpose(c), self.ty, self.ky, dy))
        across, place_x, kx, tx = _cell(xi, self.tx, self.kx, dx)
        along, place_y, ky, ty = _cell(yi, self.ty, self.ky, dy)
        rows = []
        for i in range(kx + 1):
            row = [c[place_x - kx + i, place_y - ky + j] for j in range(ky + 1)]
            rows.append(de_boor(ty, ky, place_y, along, row))
        return de_boor(tx, kx, place_x, across, rows)


def _derived(c: Any, t: Any, k: Any, times: Any) -> Any:
    """The coefficients of a derivative along the first axis."""
    for order in range(times):
        inner, degree = t[order : np.shape(t)[0] - order], k - order
        widths = inner[degree + 1 : -1] - inner[1 : -degree - 1]
        c = degree * np.diff(c, axis=0) / np.expand_dims(widths, 1)
    return c


def _cell(x: Any, t: Any, k: Any, order: Any) -> Any:
    """Where numbers are along an axis, between which knots, and what these are for a derivative."""
    at = np.clip(array_of(x), t[k], t[np.shape(t)[0] - k - 1])
    inner, degree = t[order : np.shape(t)[0] - order], k - order
    last = np.shape(inner)[0] - degree - 2
    place = np.clip(np.searchsorted(inner, at, side="right") - 1, degree, last)
    return at, place, degree, inner


def univariate_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: Any = 3, s: Any = None, ext: Any = 0
) -> Any:
    """`scipy.interpolate.UnivariateSpline`: through all points, if it is to have a derivative in them."""
    if s == 0 and w is None and all(bound is None for bound in bbox):
        return Curve(make_interp_spline(x, y, k), _FROM_NAMES.get(ext, ext))
    return manifest.as_it_is(interpolate.UnivariateSpline, x, y, w, bbox, k, s, ext)


def interpolated_spline(
    x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: Any = 3, ext: Any = 0
) -> Any:
    """`scipy.interpolate.InterpolatedUnivariateSpline`: what goes through all points has no use for weights."""
    if any(bound is not None for bound in bbox):
        raise uncovered("a spline with a `bbox`", FORMULA)
    return univariate_spline(x, y, None, bbox, k, 0, ext)


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: Any = 3, task: Any = 0, s: Any = None
) -> Any:  # fmt: skip
    """`scipy.interpolate.splrep`: through all points, if it is to have a derivative in them."""
    whole = w is None and xb is None and xe is None
    if whole and task == 0 and (s is None or s == 0):
        spline = make_interp_spline(x, y, k)
        return spline.t, np.concatenate((spline.c, np.zeros(k + 1))), k
    return manifest.as_it_is(interpolate.splrep, x, y, w, xb, xe, k, task, s)


def surface(
    x: Any, y: Any, z: Any, bbox: Any = (None, None, None, None), kx: Any = 3, ky: Any = 3, s: Any = 0
) -> Any:  # fmt: skip
    """`scipy.interpolate.RectBivariateSpline`: through all values, if it is to have a derivative in them."""
    whole = all(bound is None for bound in bbox)
    if s != 0 or not whole or kx not in (1, 3, 5) or ky not in (1, 3, 5):
        return manifest.as_it_is(interpolate.RectBivariateSpline, x, y, z, bbox, kx, ky, s)
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    c = coefficients(y, coefficients(x, array_of(z) * 1.0, 0, kx), 1, ky)
    return Surface(knots(x, kx), knots(y, ky), c, kx, ky)


def _curve_of(tck: Any, ext: Any = 0) -> Any:
    t, c, k = (tck.t, tck.c, tck.k) if hasattr(tck, "t") else tck
    return Curve(Basis(array_of(t), array_of(c), k), ext)


def splev(x: Any, tck: Any, der: Any = 0, ext: Any = 0) -> Any:
    """`scipy.interpolate.splev`, of knots and coefficients."""
    return _curve_of(tck, ext)(x, der)


def splint(a: Any, b: Any, tck: Any) -> Any:
    """`scipy.interpolate.splint`."""
    return _curve_of(tck).integral(a, b)


def bisplev(x: Any, y: Any, tck: Any, dx: Any = 0, dy: Any = 0) -> Any:
    """`scipy.interpolate.bisplev`: without the axes that have one point."""
    tx, ty, c, kx, ky = tck
    table = np.reshape(c, (np.shape(tx)[0] - kx - 1, np.shape(ty)[0] - ky - 1))
    found = Surface(tx, ty, table, kx, ky)(x, y, dx, dy)
    if np.shape(found)[0] > 1:
        return found
    return found[0] if np.shape(found)[1] > 1 else found[0, 0]


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (interpolate.UnivariateSpline, univariate_spline),
    (interpolate.InterpolatedUnivariateSpline, interpolated_spline),
    (interpolate.RectBivariateSpline, surface),
    *same_names(interpolate, globals()),
]


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for a spline that was made outside, or for a method of one."""
    owner: Any = getattr(function, "__self__", function)
    if isinstance(owner, interpolate.UnivariateSpline):
        t, c, k = vars(owner)["_eval_args"]
        made: Any = Curve(Basis(t, c, k), _FROM_NAMES.get(owner.ext, owner.ext))
    elif isinstance(owner, interpolate.BivariateSpline):
        (tx, ty, c), (kx, ky) = vars(owner)["tck"], vars(owner)["degrees"]
        table = np.reshape(c, (len(tx) - kx - 1, len(ty) - ky - 1))
        made = Surface(tx, ty, table, kx, ky)
    else:
        return None
    return made if owner is function else getattr(made, function.__name__, None)
