"""Hand tracking: the vertices of a posed hand, against points that were observed.

Every bone has a rotation relative to its parent's; a vertex follows several bones, by weights.
"""

from typing import Any, NamedTuple

import numpy as np

import wengert as wg

from .evaluation import Evaluation

FINGERS, BONES_OF_FINGER, FIRST_OF_FINGERS = 5, 4, 2


class Model(NamedTuple):
    """A hand: matrices of its bones, and its vertices (homogeneous, one a column)."""

    parents: Any
    base_relatives: Any
    inverse_base_absolutes: Any
    base_positions: Any
    weights: Any
    mirrored: bool


def rotation_about_axis(axis_times_angle):
    angle = np.sqrt(np.sum(axis_times_angle**2))
    if angle < 1e-4:
        return np.eye(3)
    x, y, z = axis_times_angle / angle
    s, c = np.sin(angle), np.cos(angle)
    return np.array(
        [
            [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
            [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
            [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
        ]
    )


def bend_and_spread(x, z):
    """The motion of a joint: a rotation about x, then one about z."""
    sx, cx, sz, cz = np.sin(x), np.cos(x), np.sin(z), np.cos(z)
    return np.array(
        [
            [cz, -sz * cx, sz * sx, 0.0],
            [sz, cz * cx, -cz * sx, 0.0],
            [0.0, sx, cx, 0.0],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def bone_angles(theta, bones):
    """The angles of each bone; the first bone of a finger bends and spreads, the next two bend."""
    angles = np.zeros((bones, 2))
    given = 6
    for finger in range(FINGERS):
        bone = FIRST_OF_FINGERS + finger * BONES_OF_FINGER
        angles[bone, 0] = theta[given]
        angles[bone, 1] = theta[given + 1]
        angles[bone + 1, 0] = theta[given + 2]
        angles[bone + 2, 0] = theta[given + 3]
        given += 4
    return angles


def vertex_positions(theta, model):
    angles = bone_angles(theta, len(model.parents))
    absolutes = np.empty_like(model.base_relatives)
    positions = np.zeros((3, model.base_positions.shape[1]))
    for bone in range(len(model.parents)):
        bend, spread = angles[bone]
        relative = model.base_relatives[bone] @ bend_and_spread(bend, spread)
        parent = model.parents[bone]
        absolute = relative if parent == -1 else absolutes[parent] @ relative
        absolutes[bone] = absolute
        transform = absolute @ model.inverse_base_absolutes[bone]
        positions += model.weights[bone] * (transform[:3] @ model.base_positions)
    if model.mirrored:
        positions = positions * np.array([[-1.0], [1.0], [1.0]])
    return rotation_about_axis(theta[:3]) @ positions + theta[3:6, None]


def to_vertices(theta, model, correspondences, points):
    """From the vertex that each point was seen at."""
    return (points - vertex_positions(theta, model)[:, correspondences]).T


def to_triangles(theta, us, model, corners, points):
    """From a place in the triangle that each point was seen in."""
    positions = vertex_positions(theta, model)
    first, second, third = (positions[:, corners[k]] for k in range(3))
    return (points - (us[0] * first + us[1] * second + (1 - us[0] - us[1]) * third)).T


def jacobian_to_vertices(theta, model, correspondences, points):
    return wg.jacobian(to_vertices, mode="forward")(theta, model, correspondences, points)


def jacobian_to_triangles(theta, us, model, corners, points):
    """Of a point's place only its own errors depend: all the first coordinates are one direction."""
    by_theta = wg.jacobian(to_triangles, mode="forward")(theta, us, model, corners, points)
    _, push = wg.pushforward(lambda places: to_triangles(theta, places, model, corners, points), us)
    ones, zeros = np.ones_like(us[0]), np.zeros_like(us[0])
    by_first, by_second = push(np.stack([ones, zeros])), push(np.stack([zeros, ones]))
    by_us = np.stack([by_first, by_second], axis=2)
    return np.concatenate([by_us, by_theta], axis=2)


objectives = {False: wg.jit(to_vertices), True: wg.jit(to_triangles)}
jacobians = {False: wg.jit(jacobian_to_vertices), True: wg.jit(jacobian_to_triangles)}


def objective(us, *arguments):
    return objectives[us](*arguments)


def jacobian(us, *arguments):
    return jacobians[us](*arguments)


def read(given):
    data = given["data"]
    hand = data["model"]
    model = Model(
        np.array(hand["parents"]),
        np.array(hand["base_relatives"], dtype=float),
        np.array(hand["inverse_base_absolutes"], dtype=float),
        np.array(hand["base_positions"], dtype=float).T.copy(),
        np.array(hand["weights"], dtype=float).T.copy(),
        hand["is_mirrored"],
    )
    theta = np.array(given["theta"], dtype=float)
    points = np.array(data["points"], dtype=float).T.copy()
    places = np.array(data["correspondences"])
    if not given["us"]:
        return False, theta, model, places, points
    corners = np.array(hand["triangles"])[places].T.copy()
    return True, theta, np.array(given["us"], dtype=float).T.copy(), model, corners, points


def tell_errors(errors):
    return errors.ravel().tolist()


def tell_matrix(matrix):
    return matrix.reshape(-1, matrix.shape[-1]).tolist()


FUNCTIONS = {
    "objective": Evaluation(objective, read, tell_errors),
    "jacobian": Evaluation(jacobian, read, tell_matrix),
}
