"""SciPy's interpolants of points that lie anywhere, in Python: the front end reads these instead.

Which points are neighbours is SciPy's to find, and constant; what is between them moves with them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate, spatial  # pyright: ignore[reportMissingTypeStubs]

from .....ops.arrays.creation import gather as array_of
from .....ops.structure import stop_gradient
from ... import manifest
from .interpolate import interp1d

# --- by functions of the distance ---------------------------------------------------------------


def _apart(squares: Any) -> Any:
    """Distances, whose slope where they are zero does not count: there the kernels have none."""
    zero = squares == 0
    return np.where(zero, 0.0, np.sqrt(np.where(zero, 1.0, squares)))


def _thin_plate(squares: Any) -> Any:
    return 0.5 * squares * np.log(np.where(squares == 0, 1.0, squares))


_KERNELS: dict[str, Callable[..., Any]] = {
    "linear": lambda s: -_apart(s),
    "thin_plate_spline": _thin_plate,
    "cubic": lambda s: s * _apart(s),
    "quintic": lambda s: -s * s * _apart(s),
    "multiquadric": lambda s: -np.sqrt(s + 1),
    "inverse_multiquadric": lambda s: 1 / np.sqrt(s + 1),
    "inverse_quadratic": lambda s: 1 / (s + 1),
    "gaussian": lambda s: np.exp(-s),
}
"""By SciPy's name: functions of the square of a distance."""

_LEAST_DEGREE = {"multiquadric": 0, "linear": 0, "thin_plate_spline": 1, "cubic": 1, "quintic": 2}


def _factors(count: Any, degree: Any) -> Any:
    """For each monomial the variables that it multiplies; what stands for none is a one."""
    rows = [
        (*variables, *[count] * (degree - len(variables)))
        for power in range(degree + 1)
        for variables in itertools.combinations_with_replacement(range(count), power)
    ]
    return np.array(rows, int).reshape(len(rows), max(degree, 0))


class Radial:
    """`scipy.interpolate.RBFInterpolator` of all points."""

    def __init__(self, y: Any, kernel: Any, epsilon: Any, degree: Any, shape: Any):
        self.y = y
        self.kernel = kernel
        self.epsilon = epsilon
        self.degree = degree
        self.shape = shape
        low, high = np.min(y, axis=0), np.max(y, axis=0)
        self.shift = (high + low) / 2
        self.scale = np.where(high == low, 1.0, (high - low) / 2)
        self.coefficients = None

    def through(self, d: Any, smoothing: Any) -> Any:
        """The same with the coefficients by which it goes through these values, or near them."""
        count = np.shape(self.y)[0]
        near, monomials = self.terms(self.y)
        near = near + np.diag(np.zeros(count) + smoothing)
        more = np.shape(monomials)[1]
        zeros = np.zeros((more, more))
        system = np.concatenate(
            (
                np.concatenate((near, monomials), axis=1),
                np.concatenate((np.transpose(monomials), zeros), axis=1),
            )
        )
        values = np.reshape(d, (count, -1))
        values = np.concatenate((values, np.zeros((more, np.shape(values)[1]))))
        self.coefficients = np.linalg.solve(system, values)
        return self

    def terms(self, x: Any) -> Any:
        """The kernels and the monomials at some points."""
        between = self.epsilon * (np.expand_dims(x, 1) - self.y)
        near = _KERNELS[self.kernel](np.sum(between * between, axis=-1))
        factors = manifest.as_it_is(_factors, np.shape(self.y)[1], self.degree)
        ones = np.ones((np.shape(x)[0], 1))
        columns = np.concatenate(((x - self.shift) / self.scale, ones), axis=1)
        monomials = np.ones((np.shape(x)[0], np.shape(factors)[0]))
        for k in range(self.degree):
            monomials = monomials * columns[:, factors[:, k]]
        return near, monomials

    def __call__(self, x: Any) -> Any:
        at = array_of(x) * 1.0
        found = np.concatenate(self.terms(at), axis=1) @ self.coefficients
        return np.reshape(found, (np.shape(at)[0], *self.shape))


def radial(
    y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0, kernel: Any = "thin_plate_spline",
    epsilon: Any = None, degree: Any = None,
) -> Any:  # fmt: skip
    """`scipy.interpolate.RBFInterpolator`: of the nearest points only it is called as it is."""
    scaled = kernel in ("linear", "thin_plate_spline", "cubic", "quintic")
    if neighbors is not None or kernel not in _KERNELS or (epsilon is None and not scaled):
        return manifest.as_it_is(
            interpolate.RBFInterpolator, y, d, neighbors, smoothing, kernel, epsilon, degree
        )
    y, d = array_of(y) * 1.0, array_of(d) * 1.0
    if degree is None:
        degree = max(_LEAST_DEGREE.get(kernel, -1), 0)
    width = 1.0 if epsilon is None else epsilon
    return Radial(y, kernel, width, degree, np.shape(d)[1:]).through(d, smoothing)


# --- linearly in simplices, and by the nearest ----------------------------------------------------


def _points(args: Any, count: Any) -> Any:
    """Points as rows, however they were passed; `count` numbers make one."""
    if len(args) == 1 and isinstance(args[0], tuple):
        args = args[0]
    if len(args) > 1:
        at = [array_of(x) * 1.0 for x in args]
        together = sum([0.0 * x for x in at])
        return np.stack([x + together for x in at], axis=-1)
    at = array_of(args[0]) * 1.0
    return np.reshape(at, (-1, count)) if np.ndim(at) < 2 else at


def _normed(points: Any, rescale: Any) -> Any:
    """Where points are and how far they spread, by which SciPy makes their directions comparable."""
    if not rescale:
        return 0.0, 1.0
    spread = np.ptp(points, axis=0)
    return np.mean(points, axis=0), np.where(spread > 0, spread, 1.0)


def _triangulated(points: Any, rescale: Any) -> Any:
    middle, spread = _normed(points, rescale)
    return spatial.Delaunay((points - middle) / spread), middle, spread


def _simplices(triangulation: Any, at: Any) -> Any:
    """For each point the corners of the simplex that it is in, and whether it is in any."""
    triangles, middle, spread = triangulation
    # as SciPy's own search in `LinearNDInterpolator` has it
    found = triangles.find_simplex((at - middle) / spread)
    return triangles.simplices[found], found >= 0


class Simplices:
    """`scipy.interpolate.LinearNDInterpolator`."""

    def __init__(self, points: Any, values: Any, fill_value: Any, triangulation: Any):
        self.points = points
        self.values = values
        self.fill_value = fill_value
        self.triangulation = triangulation

    def __call__(self, *args: Any) -> Any:
        count = np.shape(self.points)[1]
        at = _points(args, count)
        flat = np.reshape(at, (-1, count))
        corners, inside = manifest.as_it_is(_simplices, self.triangulation, stop_gradient(flat))
        last = self.points[corners[:, -1]]
        edges = np.stack([self.points[corners[:, k]] - last for k in range(count)], axis=-1)
        shares = np.linalg.solve(edges, np.expand_dims(flat - last, -1))[:, :, 0]
        table = np.reshape(self.values, (np.shape(self.values)[0], -1))
        total = np.expand_dims(1 - np.sum(shares, axis=-1), 1) * table[corners[:, -1]]
        for k in range(count):
            total = total + shares[:, k : k + 1] * table[corners[:, k]]
        found = np.where(np.expand_dims(inside, 1), total, self.fill_value)
        return np.reshape(found, (*np.shape(at)[:-1], *np.shape(self.values)[1:]))


def linear(points: Any, values: Any, fill_value: Any = np.nan, rescale: Any = False) -> Any:
    """`scipy.interpolate.LinearNDInterpolator`."""
    if isinstance(points, spatial.Delaunay):
        return Simplices(points.points, array_of(values), fill_value, (points, 0.0, 1.0))
    points = _rows(points)
    triangulation = manifest.as_it_is(_triangulated, stop_gradient(points), rescale)
    return Simplices(points, array_of(values), fill_value, triangulation)


def _rows(points: Any) -> Any:
    if isinstance(points, tuple):
        return np.stack([array_of(p) * 1.0 for p in points], axis=-1)
    return array_of(points) * 1.0


_tree: Any = spatial.cKDTree  # pyright: ignore[reportAttributeAccessIssue]


def _nearest(points: Any, rescale: Any, at: Any) -> Any:
    middle, spread = _normed(points, rescale)
    return _tree((points - middle) / spread).query((at - middle) / spread)[1]


class Nearest:
    """`scipy.interpolate.NearestNDInterpolator`: its values do not change from place to place nearby."""

    def __init__(self, points: Any, values: Any, rescale: Any):
        self.points = points
        self.values = values
        self.rescale = rescale

    def __call__(self, *args: Any) -> Any:
        count = np.shape(self.points)[1]
        at = stop_gradient(_points(args, count))
        flat = np.reshape(at, (-1, count))
        which = manifest.as_it_is(_nearest, stop_gradient(self.points), self.rescale, flat)
        shape = (*np.shape(at)[:-1], *np.shape(self.values)[1:])
        return np.reshape(self.values[which] * 1.0, shape)


def nearest(x: Any, y: Any, rescale: Any = False) -> Any:
    """`scipy.interpolate.NearestNDInterpolator`."""
    return Nearest(_rows(x), array_of(y), rescale)


def griddata(
    points: Any, values: Any, xi: Any, method: Any = "linear", fill_value: Any = np.nan,
    rescale: Any = False,
) -> Any:  # fmt: skip
    """`scipy.interpolate.griddata`: a smooth surface is called as it is."""
    if isinstance(points, tuple) and len(points) == 1:
        points = points[0]
    on_a_line = not isinstance(points, tuple) and np.ndim(points) == 1
    if method not in ("linear", "nearest") and not (on_a_line and method == "cubic"):
        return manifest.as_it_is(
            interpolate.griddata, points, values, xi, method, fill_value, rescale
        )
    if on_a_line:
        points, values = array_of(points), array_of(values)
        order = np.argsort(points)
        fill: Any = "extrapolate" if method == "nearest" else fill_value
        at = xi[0] if isinstance(xi, tuple) else xi
        return interp1d(points[order], values[order], method, bounds_error=False, fill_value=fill)(
            at
        )
    if method == "nearest":
        return nearest(points, values, rescale)(xi)
    return linear(points, values, fill_value, rescale)(xi)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (interpolate.RBFInterpolator, radial),
    (interpolate.LinearNDInterpolator, linear),
    (interpolate.NearestNDInterpolator, nearest),
    (interpolate.griddata, griddata),
]


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for an interpolant that was made outside."""
    if isinstance(function, interpolate.RBFInterpolator) and function.neighbors is None:
        powers = function.powers
        degree = int(powers.sum(axis=1).max()) if len(powers) else -1
        made = Radial(function.y, function.kernel, function.epsilon, degree, function.d_shape)
        made.coefficients = vars(function)["_coeffs"]
        return made if function.d_dtype is float or function.d_dtype == np.float64 else None
    if isinstance(function, interpolate.LinearNDInterpolator):
        made_of = vars(function)
        offset = made_of.get("offset", 0.0)
        scale = 1.0 if made_of["scale"] is None else made_of["scale"]
        points = made_of["points"] * scale + offset
        values = made_of["values"].reshape(len(points), *made_of["values_shape"])
        return Simplices(points, values, made_of["fill_value"], (made_of["tri"], offset, scale))
    return None
