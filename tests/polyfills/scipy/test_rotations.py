"""Rotations of `scipy.spatial.transform` that a program makes, turns, and takes apart."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import wengert as wg

X = np.array([0.4, -0.9, 1.3, 0.7])
POINTS = np.array([[1.0, 0.5, -0.3], [0.2, -1.0, 0.8]])
FIXED = Rotation.from_euler("zyx", [0.3, -0.2, 0.9])
SEVERAL = Rotation.from_rotvec([[0.1, 0.2, 0.3], [1.0, -0.5, 0.2]])

PROGRAMS: dict[str, Callable[..., Any]] = {
    "points about a vector": lambda x: Rotation.from_rotvec(x[:3]).apply(POINTS),
    "backwards": lambda x: Rotation.from_rotvec(x[1:]).apply(POINTS[0], inverse=True),
    "many rotations of one point": lambda x: Rotation.from_rotvec(np.outer(x, POINTS[1])).apply(x[:3]),
    "quaternion": lambda x: Rotation.from_quat(x).as_matrix(),
    "scalar first": lambda x: Rotation.from_quat(x, scalar_first=True).as_quat(scalar_first=True),
    "canonical": lambda x: Rotation.from_quat(-np.abs(x)).as_quat(canonical=True),
    "vector": lambda x: Rotation.from_quat(x).as_rotvec(degrees=True),
    "degrees": lambda x: Rotation.from_rotvec(40 * x[:3], degrees=True).as_quat(),
    "one axis": lambda x: Rotation.from_euler("Z", x[0]).as_matrix(),
    "one axis, degrees": lambda x: Rotation.from_euler("y", x[:, None] * 50, degrees=True).as_rotvec(),
    "two axes": lambda x: Rotation.from_euler("xZ".upper(), x[:2]).as_rotvec(),
    "parameters": lambda x: Rotation.from_mrp(x[:3]).as_mrp() * Rotation.from_mrp(x[1:]).magnitude(),
    "matrix": lambda x: Rotation.from_matrix(Rotation.from_rotvec(3 * x[:3]).as_matrix()).as_quat(),
    "no rotation yet": lambda x: Rotation.from_matrix(np.eye(3) + 0.2 * np.outer(x[:3], x[1:])).as_rotvec(),
    "matrices": lambda x: Rotation.from_matrix(np.eye(3) + 0.1 * x[:, None, None] * POINTS.T @ POINTS).as_quat(),
    "products": lambda x: (Rotation.from_rotvec(x[:3]) * FIXED * Rotation.from_quat(x).inv()).as_rotvec(),
    "from the left": lambda x: (FIXED * Rotation.from_rotvec(x[:3])).as_quat(),
    "powers": lambda x: (Rotation.from_rotvec(x[:3]) ** 3 * FIXED ** x[3]).as_matrix(),
    "known": lambda x: FIXED.apply(x[:3]) + SEVERAL.apply(x[1:])[1] + FIXED.inv().apply(x[1:]),
    "parts": lambda x: Rotation.concatenate([FIXED, Rotation.from_quat(x)])[1].as_rotvec(),
    "none": lambda x: (Rotation.identity() * Rotation.from_rotvec(x[:3])).as_quat() * Rotation.from_quat(x).single,
    "between": lambda x: Slerp([0.0, 1.0, 3.0], Rotation.from_rotvec(np.outer([0.1, 0.5, 0.9], x[:3])))(
        [0.3 + 0.1 * x[3], 2.0]
    ).as_quat(),
    "between known ones": lambda x: Slerp([0.0, 1.0], SEVERAL)(x[3]).apply(x[:3]),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    check(PROGRAMS[name], X)


@pytest.mark.parametrize("seq", ["xyz", "zyx", "zxz", "yxy", "XYZ", "ZYX", "ZXZ", "YZY", "xzy"])
def test_angles_about_axes(seq):
    check(lambda x: Rotation.from_euler(seq, x[:3]).as_matrix(), X)
    check(lambda x: Rotation.from_quat(x).as_euler(seq), X)
    check(lambda x: Rotation.from_euler(seq, x[1:]).as_euler(seq, degrees=True), X)


@pytest.mark.parametrize("length", [0.0, 1e-9, 1e-5, 9.9e-4, 1.01e-3, 1e-2])
def test_small_angles(length):
    """Where an angle vanishes its axis does not count, and nothing is divided by it."""
    v = length * np.array([0.6, 0.0, 0.8])
    weights = np.arange(4.0)
    exact = np.array([0.0, 0.5, 1.0]) - weights[3] * v / 4
    made = lambda v: weights @ Rotation.from_rotvec(v).as_quat()
    np.testing.assert_allclose(wg.grad(made)(v), exact, atol=1e-9 + length**2)
    back = wg.jacobian(lambda v: Rotation.from_rotvec(v).as_rotvec())(v)
    np.testing.assert_allclose(back, np.eye(3), atol=1e-12)
    bent = wg.hessian(lambda v: Rotation.from_rotvec(v).as_quat()[3])(v)
    np.testing.assert_allclose(bent, -np.eye(3) / 4, atol=1e-9 + length)


def check(f: Callable[..., Any], x: Any) -> None:
    y, _ = wg.pullback(f, x)
    np.testing.assert_allclose(y, f(x.copy()), rtol=1e-9, atol=1e-12)
    weights = np.cos(np.arange(np.size(y))).reshape(np.shape(y))
    weighed = lambda x: np.sum(weights * f(x))
    wg.testing.check_gradient(weighed, x, rtol=1e-5)
    _, push = wg.pushforward(weighed, x)
    assert push(x) == pytest.approx(wg.grad(weighed)(x) @ x, rel=1e-9, abs=1e-9)


def test_an_attitude_that_is_integrated():
    def final_error(inertia, steps=40, h=0.05):
        attitude, omega = Rotation.identity(), np.array([0.1, 1.0, 0.05])
        for _ in range(steps):
            torque = -np.cross(omega, inertia * omega)
            omega = omega + h * torque / inertia
            attitude = attitude * Rotation.from_rotvec(h * omega)
        return (attitude.inv() * FIXED).magnitude()

    wg.testing.check_gradient(final_error, np.array([1.0, 1.4, 0.7]), rtol=1e-5)


def test_gimbal_lock_has_no_derivative():
    with pytest.raises(ValueError, match="Gimbal lock"):
        wg.grad(lambda a: Rotation.from_euler("xyz", [a, math.pi / 2, 0.2]).as_euler("xyz")[0])(0.1)


def test_what_is_not_covered_says_so():
    with pytest.raises(AttributeError, match="`as_davenport` of a rotation is not covered"):
        wg.grad(lambda x: Rotation.from_quat(x).as_davenport([0, 0, 1], "extrinsic")[0])(X)
