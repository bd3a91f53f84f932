"""Bundle adjustment: where cameras see points, against where they were observed.

A camera is a rotation (by axis and angle), a centre, a focal length, a principal point, and two
coefficients of radial distortion.
"""

import math

import numpy as np

import wengert as wg

from .evaluation import Evaluation

OF_CAMERA, OF_POINT = 11, 3
OF_ERROR = OF_CAMERA + OF_POINT + 1


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


def jacobian(cameras, points, weights, observations, features):
    """The Jacobian as compressed rows: where each begins; then columns and values, row by row.

    Every observation has two rows, and at the end every weight has one.
    """
    count = len(observations)
    values = np.empty(count * (2 * OF_ERROR + 1))
    columns = np.empty(count * (2 * OF_ERROR + 1), dtype=np.int64)
    starts = np.empty(3 * count + 1, dtype=np.int64)
    first_of_points = OF_CAMERA * len(cameras)
    first_of_weights = first_of_points + OF_POINT * len(points)
    at = 0
    for k in range(count):
        camera, point = observations[k]
        rows = error_rows(cameras[camera], points[point], weights[k], features[k])
        for row, (by_camera, by_point, by_weight) in enumerate(rows):
            starts[2 * k + row] = at
            values[at : at + OF_CAMERA] = by_camera
            values[at + OF_CAMERA : at + OF_CAMERA + OF_POINT] = by_point
            values[at + OF_CAMERA + OF_POINT] = by_weight
            for i in range(OF_CAMERA):
                columns[at + i] = OF_CAMERA * camera + i
            for i in range(OF_POINT):
                columns[at + OF_CAMERA + i] = first_of_points + OF_POINT * point + i
            columns[at + OF_CAMERA + OF_POINT] = first_of_weights + k
            at += OF_ERROR
    for k in range(count):
        starts[2 * count + k] = at
        values[at] = wg.grad(weight_error)(weights[k])
        columns[at] = first_of_weights + k
        at += 1
    starts[3 * count] = at
    return starts, columns, values


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
    shown = 2 * OF_ERROR
    names = ("rows", "cols", "vals")
    return {
        name: [*part[:shown].tolist(), part[-1].item()]
        for name, part in zip(names, matrix, strict=True)
    }


FUNCTIONS = {
    "objective": Evaluation(wg.jit(objective), read, tell_errors),
    "jacobian": Evaluation(wg.jit(jacobian), read, tell_matrix),
}
