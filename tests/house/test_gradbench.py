"""The adapter for GradBench, spoken to by its protocol: its answers against closed forms and differences."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from places import ROOT
from scipy.spatial.transform import Rotation
from scipy.special import multigammaln

pytest.importorskip("llvmlite")

EVALS = "hello llsq lse ode det gmm ba ht lstm kmeans particle saddle".split()


class Tool:
    """The adapter in a process of its own."""

    def __init__(self, process):
        self.process = process
        self.sent = 0

    def say(self, **message):
        self.process.stdin.write(json.dumps({"id": self.sent} | message) + "\n")
        self.process.stdin.flush()
        response = json.loads(self.process.stdout.readline())
        assert response["id"] == self.sent
        self.sent += 1
        return response

    def evaluate(self, module, function, **given):
        runs = {"min_runs": 2, "min_seconds": 0}
        response = self.say(kind="evaluate", module=module, function=function, input=given | runs)
        assert response["success"], response["error"]
        assert [t["name"] for t in response["timings"]] == ["evaluate", "evaluate"]
        assert all(t["nanoseconds"] > 0 for t in response["timings"])
        return response["output"]


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    cache = {"WENGERT_CACHE": str(tmp_path_factory.getbasetemp() / "native")}
    with subprocess.Popen(
        [sys.executable, ROOT / "benchmarks" / "gradbench" / "adapter.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | cache,
        text=True,
        encoding="utf-8",
    ) as process:
        speaking = Tool(process)
        assert speaking.say(kind="start", eval="hello") == {"id": 0, "tool": "wengert"}
        yield speaking
        process.stdin.close()
        assert process.wait(timeout=60) == 0


@pytest.fixture
def rng():
    return np.random.default_rng(31337)


def differences(f, x, h=1e-5):
    """The derivative of a function of a vector, in the last axis; by differences of fourth order."""
    x = np.asarray(x, dtype=float)

    def at(k, step):
        moved = x.copy()
        moved.flat[k] += step
        return np.asarray(f(moved))

    columns = [
        (8 * (at(k, h) - at(k, -h)) - (at(k, 2 * h) - at(k, -2 * h))) / (12 * h)
        for k in range(x.size)
    ]
    return np.stack(columns, axis=-1)


def close(found, expected, rtol=1e-10):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=rtol, atol=rtol)


# --- the protocol -------------------------------------------------------------------------


@pytest.mark.parametrize("module", EVALS)
def test_every_eval_is_defined(tool, module):
    assert tool.say(kind="define", module=module)["success"]


def test_an_eval_that_is_not_there_is_said_to_be_missing(tool):
    response = tool.say(kind="define", module="nothing")
    assert not response["success"]
    assert "No module" in response["error"]


def test_an_analysis_is_acknowledged(tool):
    assert tool.say(kind="analysis", of=0, valid=True) == {"id": tool.sent - 1}


def test_an_input_of_the_wrong_form_is_an_error_and_not_the_end(tool):
    response = tool.say(kind="evaluate", module="lse", function="primal", input={"y": []})
    assert not response["success"]
    assert "KeyError" in response["error"]
    close(tool.evaluate("lse", "primal", x=[1.0]), 1.0)


def test_runs_go_on_until_their_time_is_over(tool):
    given = {"x": [1.0, 2.0], "min_runs": 1, "min_seconds": 0.02}
    response = tool.say(kind="evaluate", module="lse", function="gradient", input=given)
    assert sum(t["nanoseconds"] for t in response["timings"]) >= 0.02e9


# --- the evals ----------------------------------------------------------------------------


def test_hello(tool):
    for function, expected in (("square", 9.0), ("double", 6.0)):
        response = tool.say(kind="evaluate", module="hello", function=function, input=3.0)
        assert response["output"] == expected


def test_llsq(tool, rng):
    x, n = rng.random(5), 16
    powers = (-1 + np.arange(n) * 2 / (n - 1))[:, None] ** np.arange(len(x))
    residuals = np.sign(powers[:, 1]) - powers @ x
    given = {"x": x.tolist(), "n": n}
    close(tool.evaluate("llsq", "primal", **given), residuals @ residuals / 2)
    close(tool.evaluate("llsq", "gradient", **given), -powers.T @ residuals)


def test_lse(tool, rng):
    x = 800 + 3 * rng.random(9)
    weights = np.exp(x - 800)
    close(tool.evaluate("lse", "primal", x=x.tolist()), 800 + np.log(weights.sum()))
    close(tool.evaluate("lse", "gradient", x=x.tolist()), weights / weights.sum())


@pytest.mark.parametrize("size", [1, 2, 5])
def test_det(tool, rng, size):
    a = rng.normal(size=(size, size))
    expected = np.linalg.det(a)
    given = {"A": a.ravel().tolist(), "ell": size}
    close(tool.evaluate("det", "primal", **given), expected)
    close(tool.evaluate("det", "gradient", **given), expected * np.linalg.inv(a).T.ravel())


def test_ode(tool, rng):
    """Runge and Kutta's method is exact for the first four: yₖ = 2ᵏ⁺¹/(k+1)! x₀ ⋯ xₖ."""
    for steps in (1, 7):
        x = 0.5 + rng.random(4)
        exact = np.cumprod(2 * x / np.arange(1, 5))
        given = {"x": x.tolist(), "s": steps}
        close(tool.evaluate("ode", "primal", **given), exact)
        close(tool.evaluate("ode", "gradient", **given), exact[-1] / x)


def test_ode_of_many_equations(tool, rng):
    """The last y is a number times the product of all x."""
    x = 0.5 + rng.random(9)
    given = {"x": x.tolist(), "s": 11}
    last = tool.evaluate("ode", "primal", **given)[-1]
    one = tool.evaluate("ode", "primal", x=[1.0] * 9, s=11)[-1]
    close(last, one * np.prod(x))
    close(one, 2.0**9 / 362880, rtol=1e-2)
    close(tool.evaluate("ode", "gradient", **given), last / x)


def test_kmeans(tool, rng):
    points, centroids = rng.random((30, 2)), rng.random((3, 2))
    squares = ((points[:, None] - centroids) ** 2).sum(axis=2)
    nearest = squares.argmin(axis=1)
    means = np.stack([points[nearest == k].mean(axis=0) for k in range(3)])
    given = {"points": points.tolist(), "centroids": centroids.tolist()}
    close(tool.evaluate("kmeans", "cost", **given), squares.min(axis=1).sum())
    close(tool.evaluate("kmeans", "dir", **given), centroids - means)


# --- a mixture of Gaussians, by its definition


def log_posterior(alpha, mu, q, l, x, m, gamma):
    d = x.shape[1]
    densities, prior = np.zeros(len(x)), 0.0
    for k in range(len(alpha)):
        root = np.diag(np.exp(q[k]))
        root.T[np.triu_indices(d, 1)] = l[k]
        precision = root.T @ root
        centred = x - mu[k]
        quadratic = np.einsum("ni,ij,nj->n", centred, precision, centred)
        scale = np.sqrt(np.linalg.det(precision / (2 * np.pi)))
        weight = np.exp(alpha[k]) / np.exp(alpha).sum()
        densities += weight * scale * np.exp(-quadratic / 2)
        n = d + m + 1
        prior += (
            m / 2 * np.log(np.linalg.det(precision))
            - gamma**2 * np.trace(precision) / 2
            - n * d / 2 * np.log(2)
            + n * d * np.log(gamma)
            - multigammaln(n / 2, d)
        )
    return np.log(densities).sum() + prior


@pytest.mark.parametrize(("d", "m", "gamma"), [(2, 0, 1.0), (3, 2, 0.8)])
def test_gmm(tool, rng, d, m, gamma):
    k, n = 3, 7
    own = [rng.normal(size=k), rng.random((k, d)), rng.normal(size=(k, d))]
    own.append(rng.normal(size=(k, d * (d - 1) // 2)))
    x = rng.normal(size=(n, d))
    names = ("alpha", "mu", "q", "l")
    given = {name: value.tolist() for name, value in zip(names, own)}
    given |= {"d": d, "k": k, "n": n, "x": x.tolist(), "m": m, "gamma": gamma}
    close(tool.evaluate("gmm", "objective", **given), log_posterior(*own, x, m, gamma))
    found = tool.evaluate("gmm", "jacobian", **given)
    assert set(found) == set(names)
    for place, name in enumerate(names):

        def moved(value, place=place):
            return log_posterior(*own[:place], value, *own[place + 1 :], x, m, gamma)

        expected = differences(moved, own[place]).reshape(own[place].shape)
        close(found[name], expected, rtol=1e-7)


# --- a recurrent network, number by number


def lstm_loss(main, extra, state, sequence):
    layers, bits = len(main) // 2, len(sequence[0])
    sigmoid = lambda z: 1 / (1 + np.exp(-z))
    hidden = [list(state[2 * k]) for k in range(layers)]
    cells = [list(state[2 * k + 1]) for k in range(layers)]
    total = 0.0
    for now, following in itertools.pairwise(sequence):
        outputs = []
        for b in range(bits):
            y = now[b] * extra[0][b]
            for k in range(layers):
                w = [main[2 * k][gate * bits + b] for gate in range(4)]
                c = [main[2 * k + 1][gate * bits + b] for gate in range(4)]
                h = hidden[k][b]
                keep, take = sigmoid(y * w[0] + c[0]), sigmoid(h * w[1] + c[1])
                give, change = sigmoid(y * w[2] + c[2]), np.tanh(h * w[3] + c[3])
                cells[k][b] = cells[k][b] * keep + take * change
                y = hidden[k][b] = give * np.tanh(cells[k][b])
            outputs.append(y * extra[1][b] + extra[2][b])
        outputs = np.array(outputs)
        total += np.dot(following, outputs - np.log(np.exp(outputs).sum() + 2))
    return -total / (bits * (len(sequence) - 1))


def test_lstm(tool, rng):
    bits, layers, characters = 3, 2, 5
    main, extra = rng.normal(size=(2 * layers, 4 * bits)), rng.normal(size=(3, bits))
    rest = rng.normal(size=(2 * layers, bits)), rng.random((characters, bits))
    names = ("main_params", "extra_params", "state", "sequence")
    given = {name: part.tolist() for name, part in zip(names, (main, extra, *rest))}
    close(tool.evaluate("lstm", "objective", **given), lstm_loss(main, extra, *rest))
    expected = [
        differences(lambda p: lstm_loss(p, extra, *rest), main),
        differences(lambda p: lstm_loss(main, p, *rest), extra),
    ]
    close(tool.evaluate("lstm", "jacobian", **given), np.concatenate(expected), rtol=1e-8)


# --- bundle adjustment, with SciPy's rotations


def errors_of_one(numbers, feature):
    camera, point, weight = numbers[:11], numbers[11:14], numbers[14]
    x, y, z = Rotation.from_rotvec(camera[:3]).apply(point - camera[3:6])
    seen = np.array([x, y]) / z
    square = seen @ seen
    seen = seen * (1 + camera[9] * square + camera[10] * square**2)
    return weight * (camera[6] * seen + camera[7:9] - feature)


def test_ba(tool, rng):
    n, m, p, weight = 3, 5, 17, 0.7
    camera, point, feature = 0.3 * rng.normal(size=11), rng.normal(size=3), rng.normal(size=2)
    point[2] += 5
    numbers = np.concatenate([camera, point, [weight]])
    given = {"n": n, "m": m, "p": p, "w": weight}
    given |= {"cam": camera.tolist(), "x": point.tolist(), "feat": feature.tolist()}
    found = tool.evaluate("ba", "objective", **given)
    assert found["reproj_error"]["repeated"] == found["w_err"]["repeated"] == p
    close(found["reproj_error"]["elements"], errors_of_one(numbers, feature))
    close(found["w_err"]["element"], 1 - weight**2)

    found = tool.evaluate("ba", "jacobian", **given)
    block = differences(lambda each: errors_of_one(each, feature), numbers)
    close(found["vals"], [*block.ravel(), -2 * weight], rtol=1e-7)
    of_first = [*range(11), *range(11 * n, 11 * n + 3), 11 * n + 3 * m]
    assert found["cols"] == [*of_first, *of_first, 11 * n + 3 * m + p - 1]
    assert found["rows"] == [*range(0, 15 * 30, 15), 30 * p + p]


# --- a hand


def hand(rng, mirrored):
    bones, vertices = 22, 40
    return {
        "bone_count": bones,
        "bone_names": [f"bone{k}" for k in range(bones)],
        "parents": [-1] + [int(rng.integers(0, k)) for k in range(1, bones)],
        "base_relatives": rng.normal(size=(bones, 4, 4)).tolist(),
        "inverse_base_absolutes": rng.normal(size=(bones, 4, 4)).tolist(),
        "base_positions": rng.normal(size=(vertices, 4)).tolist(),
        "weights": rng.random((vertices, bones)).tolist(),
        "triangles": rng.integers(0, vertices, (10, 3)).tolist(),
        "is_mirrored": mirrored,
    }


def hand_vertices(theta, model):
    """Vertices, one a row."""
    columns = np.zeros((25, 3))
    for finger in range(5):
        columns[2 + 4 * finger, :2] = theta[6 + 4 * finger : 8 + 4 * finger]
        columns[3 + 4 * finger, 0] = theta[8 + 4 * finger]
        columns[4 + 4 * finger, 0] = theta[9 + 4 * finger]
    absolutes = []
    positions = 0
    for bone, parent in enumerate(model["parents"]):
        x, z, _ = columns[bone]
        turn = np.eye(4)
        turn[:3, :3] = Rotation.from_euler("xz", [x, z]).as_matrix()
        absolute = np.array(model["base_relatives"][bone]) @ turn
        absolutes.append(absolute if parent == -1 else absolutes[parent] @ absolute)
        transform = absolutes[-1] @ np.array(model["inverse_base_absolutes"][bone])
        moved = np.array(model["base_positions"]) @ transform.T
        positions = positions + np.array(model["weights"])[:, bone : bone + 1] * moved[:, :3]
    if model["is_mirrored"]:
        positions = positions * [-1, 1, 1]
    return positions @ Rotation.from_rotvec(theta[:3]).as_matrix().T + theta[3:6]


@pytest.mark.parametrize("mirrored", [False, True])
def test_ht_of_vertices(tool, rng, mirrored):
    model, theta = hand(rng, mirrored), rng.normal(size=26)
    places, points = rng.integers(0, 40, 9), rng.normal(size=(9, 3))
    data = {"model": model, "correspondences": places.tolist(), "points": points.tolist()}
    given = {"theta": theta.tolist(), "us": [], "data": data}
    expected = lambda theta: (points - hand_vertices(theta, model)[places]).ravel()
    close(tool.evaluate("ht", "objective", **given), expected(theta))
    found = tool.evaluate("ht", "jacobian", **given)
    close(found, differences(expected, theta, 1e-3), rtol=1e-6)


def test_ht_of_triangles(tool, rng):
    model, theta = hand(rng, mirrored=False), rng.normal(size=26)
    places, points, us = rng.integers(0, 10, 7), rng.normal(size=(7, 3)), rng.random((7, 2))
    data = {"model": model, "correspondences": places.tolist(), "points": points.tolist()}
    given = {"theta": theta.tolist(), "us": us.tolist(), "data": data}
    corners = np.array(model["triangles"])[places].T

    def expected(theta, us):
        first, second, third = (hand_vertices(theta, model)[corner] for corner in corners)
        u, v = us[:, :1], us[:, 1:]
        return (points - (u * first + v * second + (1 - u - v) * third)).ravel()

    close(tool.evaluate("ht", "objective", **given), expected(theta, us))
    by_us = [
        differences(lambda k, c=c: expected(theta, us + k * np.eye(2)[c]), 0.0)[:, 0]
        for c in range(2)
    ]
    by_theta = differences(lambda each: expected(each, us), theta, 1e-3)
    found = tool.evaluate("ht", "jacobian", **given)
    close(found, np.concatenate([np.stack(by_us, axis=1), by_theta], axis=1), rtol=1e-6)


# --- descents whose objectives have derivatives in them


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
def test_particle(tool, modes):
    assert tool.evaluate("particle", modes, w=0.0) == pytest.approx(0.2071918746486116, rel=1e-12)


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
def test_saddle(tool, modes):
    found = tool.evaluate("saddle", modes, start=[1.0, 1.0])
    assert found == pytest.approx([8.246324826140356e-06] * 4, rel=1e-9)
