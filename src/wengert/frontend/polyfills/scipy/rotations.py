"""`scipy.spatial.transform`, in Python: the front end reads these instead.

A rotation is its unit quaternion (x, y, z, w), along the last axis where there are several.

References: S. W. Shepperd, Quaternion from rotation matrix (1978); E. Bernardes and S. Viollet, Quaternion to
Euler angles conversion (2022); N. J. Higham, Functions of Matrices (2008), §8.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import transform  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ..manifest import as_it_is
from ..same_names import same_names

_NEARLY_NONE = 1e-6
"""The square of an angle below which its series is more accurate."""


class Rotations:
    """`scipy.spatial.transform.Rotation`: one rotation, or a stack of them."""

    def __init__(self, quat: Any):
        self.quat = quat

    @property
    def single(self) -> Any:
        return np.ndim(self.quat) == 1

    def as_quat(self, canonical: Any = False, *, scalar_first: Any = False) -> Any:
        q = _with_positive_scalar(self.quat) if canonical else self.quat
        return np.roll(q, 1, axis=-1) if scalar_first else q + 0.0

    def as_matrix(self) -> Any:
        x, y, z, w = _items(self.quat)
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
        return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)

    def as_rotvec(self, degrees: Any = False) -> Any:
        q = _with_positive_scalar(self.quat)
        v, w = q[..., :3], q[..., 3:]
        square = np.sum(v * v, axis=-1, keepdims=True)
        small = square < _NEARLY_NONE
        length = np.sqrt(np.where(small, 1.0, square))
        s = np.where(small, square, 0.0) / np.where(small, w * w, 1.0)
        series = 2 * (1 - s / 3 + s * s / 5) / np.where(small, w, 1.0)
        vector = v * np.where(small, series, 2 * np.arctan2(length, w) / length)
        return np.degrees(vector) if degrees else vector

    def as_mrp(self) -> Any:
        q = _with_positive_scalar(self.quat)
        return q[..., :3] / (1 + q[..., 3:])

    def as_euler(self, seq: Any, degrees: Any = False) -> Any:
        angles = _euler_angles(self.quat, seq)
        return np.degrees(angles) if degrees else angles

    def magnitude(self) -> Any:
        q = self.quat
        return 2 * np.arctan2(np.linalg.norm(q[..., :3], axis=-1), np.abs(q[..., 3]))

    def apply(self, vectors: Any, inverse: Any = False) -> Any:
        matrix = self.inv().as_matrix() if inverse else self.as_matrix()
        return np.einsum("...ij,...j->...i", matrix, array_of(vectors))

    def inv(self) -> Any:
        return Rotations(self.quat * np.array([-1.0, -1.0, -1.0, 1.0]))

    def __mul__(self, other: Any) -> Any:
        p, q = self.quat, as_rotations(other).quat
        v, w, u, s = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
        vector = w * u + s * v + np.cross(v, u)
        scalar = w * s - np.sum(v * u, axis=-1, keepdims=True)
        return Rotations(_normalised(np.concatenate((vector, scalar), axis=-1)))

    def __pow__(self, n: Any) -> Any:
        return from_rotvec(n * self.as_rotvec())

    def __getitem__(self, key: Any) -> Any:
        return Rotations(self.quat[key])

    def __len__(self) -> Any:
        if np.ndim(self.quat) == 1:
            raise TypeError("Single rotation has no len().")
        return len(self.quat)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"`{name}` of a rotation is not covered in a function that is differentiated"
        )


def as_rotations(x: Any) -> Rotations:
    """Rotations that may be SciPy's, from outside."""
    return x if isinstance(x, Rotations) else Rotations(as_it_is(transform.Rotation.as_quat, x))


# --- making rotations ---------------------------------------------------------------------------


def from_quat(quat: Any, *, scalar_first: Any = False) -> Any:
    """`Rotation.from_quat`."""
    q = array_of(quat)
    return Rotations(_normalised(np.roll(q, -1, axis=-1) if scalar_first else q))


def from_rotvec(rotvec: Any, degrees: Any = False) -> Any:
    """`Rotation.from_rotvec`: the direction is the axis, the length the angle."""
    v = np.radians(array_of(rotvec)) if degrees else array_of(rotvec)
    square = np.sum(v * v, axis=-1, keepdims=True)
    small = square < _NEARLY_NONE
    angle = np.sqrt(np.where(small, 1.0, square))
    sine = np.where(small, 0.5 - square / 48 + square**2 / 3840, np.sin(angle / 2) / angle)
    cosine = np.where(small, 1 - square / 8 + square**2 / 384, np.cos(angle / 2))
    return Rotations(np.concatenate((v * sine, cosine), axis=-1))


def from_mrp(mrp: Any) -> Any:
    """`Rotation.from_mrp`: modified Rodrigues parameters."""
    v = array_of(mrp)
    square = np.sum(v * v, axis=-1, keepdims=True)
    return Rotations(np.concatenate((2 * v, 1 - square), axis=-1) / (1 + square))


def from_matrix(matrix: Any, *, assume_valid: Any = False) -> Any:
    """`Rotation.from_matrix`: the rotation that is nearest to a matrix."""
    m = array_of(matrix)
    if not assume_valid:
        if np.any(np.linalg.det(m) <= 0):
            raise ValueError("Non-positive determinant (left-handed or null coordinate frame)")
        for _ in range(10):  # Newton's iteration for the unitary polar factor
            m = (m + np.swapaxes(np.linalg.inv(m), -1, -2)) / 2
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    x, y, z = (m[..., i, j] - m[..., j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    xy, xz, yz = (m[..., i, j] + m[..., j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    squares = [1 - trace + 2 * m[..., i, i] for i in range(3)]
    rows = [  # 4 q qᵀ
        [squares[0], xy, xz, x],
        [xy, squares[1], yz, y],
        [xz, yz, squares[2], z],
        [x, y, z, 1 + trace],
    ]
    products = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    index = np.expand_dims(largest, (-2, -1))
    chosen = np.take_along_axis(products, index, axis=-2)[..., 0, :]
    return Rotations(_normalised(chosen))


def from_euler(seq: Any, angles: Any, degrees: Any = False) -> Any:
    """`Rotation.from_euler`: about fixed axes if they are small letters, about those that turn along if large."""
    given = np.radians(array_of(angles)) if degrees else array_of(angles)
    if len(seq) == 1 and (np.ndim(given) == 0 or np.shape(given)[-1] != 1):
        given = np.expand_dims(given, -1)
    made = _about(seq[0], given[..., 0])
    for k in range(1, len(seq)):
        turn = _about(seq[k], given[..., k])
        made = turn * made if seq.islower() else made * turn
    return made


def _about(axis: Any, angle: Any) -> Any:
    unit = np.eye(3)["xyz".index(axis.lower())]
    sine, cosine = np.expand_dims(np.sin(angle / 2), -1), np.expand_dims(np.cos(angle / 2), -1)
    return Rotations(np.concatenate((sine * unit, cosine), axis=-1))


def identity(num: Any = None) -> Any:
    """`Rotation.identity`."""
    none = np.array([0.0, 0.0, 0.0, 1.0])
    return Rotations(none if num is None else np.tile(none, (num, 1)))


def concatenate(rotations: Any) -> Any:
    """`Rotation.concatenate`."""
    return Rotations(np.concatenate([np.atleast_2d(as_rotations(r).quat) for r in rotations]))


# --- quaternions --------------------------------------------------------------------------------


def _items(q: Any) -> Any:
    return q[..., 0], q[..., 1], q[..., 2], q[..., 3]


def _normalised(q: Any) -> Any:
    return q / np.sqrt(np.sum(q * q, axis=-1, keepdims=True))


def _with_positive_scalar(q: Any) -> Any:
    """The one of q and −q whose last item other than zero, counted from w and then from x, is positive."""
    x, y, z, w = _items(q)
    first = np.where(w != 0, w, np.where(x != 0, x, np.where(y != 0, y, z)))
    return q * np.expand_dims(np.where(first < 0, -1.0, 1.0), -1)


def _euler_angles(q: Any, seq: Any) -> Any:
    """Three angles about axes (Bernardes and Viollet)."""
    fixed = seq.islower()
    order = seq.lower() if fixed else seq.lower()[::-1]
    i, j, k = ("xyz".index(axis) for axis in order)
    proper = i == k
    if proper:
        k = 3 - i - j
    sign = (i - j) * (j - k) * (k - i) // 2
    a, b, c, d = q[..., 3], q[..., i], q[..., j], sign * q[..., k]
    if not proper:
        a, b, c, d = a - c, b + d, c + a, d - b
    middle = 2 * np.arctan2(np.hypot(c, d), np.hypot(a, b))
    if np.any((middle < 1e-7) | (middle > np.pi - 1e-7)):
        raise ValueError("Gimbal lock detected: the angles have no derivative here")
    half_sum, half_difference = np.arctan2(b, a), np.arctan2(d, c)
    first, last = half_sum - half_difference, half_sum + half_difference
    if not proper:
        last, middle = sign * last, middle - np.pi / 2
    angles = [_within_a_turn(first), middle, _within_a_turn(last)]
    return np.stack(angles if fixed else angles[::-1], axis=-1)


def _within_a_turn(angle: Any) -> Any:
    return angle - 2 * np.pi * (angle > np.pi) + 2 * np.pi * (angle < -np.pi)


# --- interpolation, and SciPy's own rotations -----------------------------------------------------


class Slerp:
    """`scipy.spatial.transform.Slerp`: turns of even speed from one rotation to the next."""

    def __init__(self, times: Any, rotations: Any):
        self.times = array_of(times)
        self.rotations = as_rotations(rotations)
        self.turns = (self.rotations[:-1].inv() * self.rotations[1:]).as_rotvec()

    def __call__(self, times: Any) -> Any:
        at = array_of(times)
        last = len(self.times) - 2
        place = np.clip(np.searchsorted(self.times, at, side="right") - 1, 0, last)
        share = (at - self.times[place]) / (self.times[place + 1] - self.times[place])
        return self.rotations[place] * from_rotvec(np.expand_dims(share, -1) * self.turns[place])


def apply(rotation: Any, vectors: Any, inverse: Any = False) -> Any:
    """`Rotation.apply` of a rotation from outside."""
    return as_rotations(rotation).apply(vectors, inverse)


def product(left: Any, right: Any) -> Any:
    """`left * right`, the first of which is from outside."""
    return as_rotations(left) * right


def power(rotation: Any, n: Any, modulus: Any = None) -> Any:
    """`rotation ** n` of a rotation from outside."""
    return as_rotations(rotation) ** n


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(transform.Rotation, globals()),
    (transform.Rotation.__mul__, product),
    (transform.Rotation.__pow__, power),
    (transform.Slerp, Slerp),
]
