"""Bundle adjustment: where cameras see points, against where they were observed.

A camera is a rotation (by axis and angle), a centre, a focal length, a principal point, and two
coefficients of radial distortion.
"""

import math

import numpy as np

import wengert as wg

from .evaluation import Evaluation

OF_CAMERA, OF_POINT = 11, 3


def cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def rotated(rotation, point):
    """Rodrigues' formula."""
    square = rotation[0] ** 2 + rotation[1] ** 2 + rotation[2] ** 2
    if square == 0:
        turned = cross(rotation, point)
        return [point[i] + turned[i] for i in range(3)]
    angle = math.sqrt(square)
    cosine, sine = math.cos(angle), math.sin(angle)
    axis = [rotation[i] / angle for i in range(3)]
    turned = cross(axis, point)
    along = (axis[0] * point[0] + axis[1] * point[1] + axis[2] * point[2]) * (1 - cosine)
    return [point[i] * cosine + turned[i] * sine + axis[i] * along for i in range(3)]


def projected(camera, point):
    """Where a camera sees a point."""
    x, y, z = rotated(camera[:3], [point[i] - camera[3 + i] for i in range(3)])
    x, y = x / z, y / z
    square = x * x + y * y
    scale = camera[6] * (1 + camera[9] * square + camera[10] * square * square)
    return x * scale + camera[7], y * scale + camera[8]


def reprojection_error(camera, point, weight, feature):
    x, y = projected(camera, point)
    return weight * (x - feature[0]), weight * (y - feature[1])


def weight_error(weight):
    return 1 - weight * weight


def objective(cameras, points, weights, observations, features):
    errors = np.empty((len(observations), 2))
    for k in range(len(observations)):
        camera, point = observations[k]
        errors[k, 0], errors[k, 1] = reprojection_error(
            cameras[camera], points[point], weights[k], features[k]
        )
    return errors, weight_error(weights)


def error_rows(camera, point, weight, feature):
    """The derivatives of each of the two errors by the camera, the point and the weight."""
    _, back = wg.pullback(reprojection_error, camera, point, weight, feature)
    return back((1.0, 0.0))[:3], back((0.0, 1.0))[:3]


def blocks(cameras, points, weights, observations, features):
    """For each observation, the derivatives of its two errors; and those of the weights' errors."""
    of_errors = np.empty((len(observations), 2, OF_CAMERA + OF_POINT + 1))
    of_weights = np.empty(len(weights))
    for k in range(len(observations)):
        camera, point = observations[k]
        rows = error_rows(cameras[camera], points[point], weights[k], features[k])
        for row, (by_camera, by_point, by_weight) in enumerate(rows):
            of_errors[k, row, :OF_CAMERA] = by_camera
            of_errors[k, row, OF_CAMERA:-1] = by_point
            of_errors[k, row, -1] = by_weight
        of_weights[k] = wg.grad(weight_error)(weights[k])
    return of_errors, of_weights


native_blocks = wg.jit(blocks)


def jacobian(cameras, points, weights, observations, features):
    """The Jacobian as compressed rows: where each begins, then columns and values."""
    of_errors, of_weights = native_blocks(cameras, points, weights, observations, features)
    count = len(observations)
    first_of_points = OF_CAMERA * len(cameras)
    first_of_weights = first_of_points + OF_POINT * len(points)
    camera, point = observations[:, :1], observations[:, 1:]
    own = first_of_weights + np.arange(count)
    of_one = np.concatenate(
        [
            OF_CAMERA * camera + np.arange(OF_CAMERA),
            first_of_points + OF_POINT * point + np.arange(OF_POINT),
            own[:, None],
        ],
        axis=1,
    )
    columns = np.concatenate([np.repeat(of_one, 2, axis=0).ravel(), own])
    width = of_one.shape[1]
    rows = np.concatenate(
        [width * np.arange(2 * count + 1), 2 * count * width + np.arange(1, count + 1)]
    )
    return rows, columns, np.concatenate([of_errors.ravel(), of_weights])


def read(given):
    n, m, p = given["n"], given["m"], given["p"]
    numbers = np.arange(p)
    return (
        np.tile(np.array(given["cam"], dtype=float), (n, 1)),
        np.tile(np.array(given["x"], dtype=float), (m, 1)),
        np.full(p, float(given["w"])),
        np.stack([numbers % n, numbers % m], axis=1),
        np.tile(np.array(given["feat"], dtype=float), (p, 1)),
    )


def tell_errors(errors):
    of_features, of_weights = errors
    return {
        "reproj_error": {"elements": of_features[0].tolist(), "repeated": len(of_features)},
        "w_err": {"element": float(of_weights[0]), "repeated": len(of_weights)},
    }


def tell_matrix(matrix):
    """The first block and the last element: the rest of the input is repetition."""
    shown = 2 * (OF_CAMERA + OF_POINT + 1)
    names = ("rows", "cols", "vals")
    return {
        name: [*part[:shown].tolist(), part[-1].item()]
        for name, part in zip(names, matrix, strict=True)
    }


FUNCTIONS = {
    "objective": Evaluation(wg.jit(objective), read, tell_errors),
    "jacobian": Evaluation(jacobian, read, tell_matrix),
}
