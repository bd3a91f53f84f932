"""One program or two of each family in which gradients are common, as one writes them in Python and NumPy.

They and their sizes were fixed before any of them was tuned. JAX's forms are in `jax_families.py`.
"""

from dataclasses import dataclass

import numpy as np
from problems import FAMILIES, Problem
from scipy.linalg import solve_triangular

# --- filters ------------------------------------------------------------------------------


def tracking_filter(log_noise, log_error, start, seen):
    """An extended Kalman filter: a body in the plane, of which range and bearing are seen."""
    h = 0.1
    f = np.eye(4)
    f[0, 2] = f[1, 3] = h
    q = np.diag(np.exp(log_noise))
    r = np.diag(np.exp(log_error))
    x, p = start, np.eye(4)
    total = 0.0
    for z in seen:
        x = f @ x
        p = f @ p @ f.T + q
        distance = np.sqrt(x[0] ** 2 + x[1] ** 2)
        expected = np.array([distance, np.arctan2(x[1], x[0])])
        slope = np.array([
            [x[0] / distance, x[1] / distance, 0.0, 0.0],
            [-x[1] / distance**2, x[0] / distance**2, 0.0, 0.0],
        ])  # fmt: skip
        s = slope @ p @ slope.T + r
        gain = p @ slope.T @ np.linalg.inv(s)
        rest = z - expected
        x = x + gain @ rest
        p = (np.eye(4) - gain @ slope) @ p
        total += 0.5 * (np.log(np.linalg.det(s)) + rest @ np.linalg.solve(s, rest))
    return total


# --- hidden Markov models -----------------------------------------------------------------


def softmax_rows(scores):
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def hidden_markov(transition, emission, seen):
    a, b = softmax_rows(transition), softmax_rows(emission)
    states = len(a)
    alpha = np.ones(states) / states * b[:, seen[0]]
    total = 0.0
    for t in range(1, len(seen)):
        scale = alpha.sum()
        total += np.log(scale)
        alpha = (alpha / scale) @ a * b[:, seen[t]]
    return -(total + np.log(alpha.sum()))


# --- Gaussian processes -------------------------------------------------------------------


def gaussian_process(log_lengths, log_scale, log_noise, x, y):
    scaled = x / np.exp(log_lengths)
    squares = (scaled**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * scaled @ scaled.T
    k = np.exp(log_scale) * np.exp(-0.5 * distances) + np.exp(log_noise) * np.eye(len(x))
    lower = np.linalg.cholesky(k)
    whitened = solve_triangular(lower, y, lower=True)
    return 0.5 * whitened @ whitened + np.log(np.diag(lower)).sum()


# --- recurrent networks -------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gated_recurrent(wz, uz, wr, ur, wh, uh, out, inputs, targets):
    h = np.zeros(len(uz))
    loss = 0.0
    for x, target in zip(inputs, targets):
        z = sigmoid(wz @ x + uz @ h)
        r = sigmoid(wr @ x + ur @ h)
        candidate = np.tanh(wh @ x + uh @ (r * h))
        h = (1 - z) * h + z * candidate
        loss += (out @ h - target) ** 2
    return loss / len(targets)


# --- attention ----------------------------------------------------------------------------


def layer_norm(x, scale):
    centred = x - x.mean(axis=-1, keepdims=True)
    return scale * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def attention(wq, wk, wv, wo, scale, tokens, targets, heads):
    length, width = tokens.shape
    normal = layer_norm(tokens, scale)
    q, k, v = normal @ wq, normal @ wk, normal @ wv
    size = width // heads
    later = np.triu(np.ones((length, length)), 1) * -1e9
    found = []
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        weights = softmax_rows(q[:, part] @ k[:, part].T / np.sqrt(size) + later)
        found.append(weights @ v[:, part])
    result = tokens + np.concatenate(found, axis=1) @ wo
    return ((result - targets) ** 2).mean()


# --- stencils -----------------------------------------------------------------------------


def heat(conductivity, start, target, steps):
    """Heat in a plate whose conductivity differs from place to place."""
    u = start.copy()
    for _ in range(steps):
        flux_x = 0.5 * (conductivity[1:, :] + conductivity[:-1, :]) * (u[1:, :] - u[:-1, :])
        flux_y = 0.5 * (conductivity[:, 1:] + conductivity[:, :-1]) * (u[:, 1:] - u[:, :-1])
        u[1:-1, 1:-1] += 0.2 * (
            flux_x[1:, 1:-1] - flux_x[:-1, 1:-1] + flux_y[1:-1, 1:] - flux_y[1:-1, :-1]
        )
    return ((u - target) ** 2).sum()


def burgers(start, viscosity, target, steps):
    """Burgers' equation on a ring."""
    u, h = start, 0.001
    n = len(start)
    for _ in range(steps):
        left, right = np.roll(u, 1), np.roll(u, -1)
        u = u - h * n * u * (right - left) / 2 + viscosity * (right - 2 * u + left)
    return ((u - target) ** 2).sum()


# --- Monte Carlo --------------------------------------------------------------------------


def asian_option(spot, strike, rate, mean, speed, noise, first, second):
    """An Asian call under Heston's variance, over paths whose normal numbers are given."""
    steps, paths = first.shape
    h = 1 / steps
    s, v = spot * np.ones(paths), mean * np.ones(paths)
    total = np.zeros(paths)
    for t in range(steps):
        positive = np.maximum(v, 1e-6)
        root = np.sqrt(positive * h)
        s = s * np.exp((rate - 0.5 * positive) * h + root * first[t])
        v = v + speed * (mean - positive) * h + noise * root * second[t]
        total += s
    return np.exp(-rate) * np.maximum(total / steps - strike, 0.0).mean()


# --- n-body -------------------------------------------------------------------------------


def pull(positions, masses):
    bodies = len(masses)
    force = np.zeros((bodies, 3))
    for i in range(bodies):
        for j in range(i + 1, bodies):
            d = positions[j] - positions[i]
            near = (d @ d + 0.01) ** -1.5
            force[i] += masses[j] * near * d
            force[j] -= masses[i] * near * d
    return force


def bodies(positions, velocities, masses, steps):
    """Leapfrog over pairs of bodies."""
    h = 0.01
    x, v = positions.copy(), velocities + 0.5 * h * pull(positions, masses)
    for _ in range(steps):
        x = x + h * v
        v = v + h * pull(x, masses)
    return (x**2).sum() + (v**2).sum()


# --- Fourier transforms -------------------------------------------------------------------


def deblurring(image, kernel, seen, weight):
    """Least squares of a circular convolution, and a prior of smoothness."""
    blurred = np.fft.irfft2(
        np.fft.rfft2(image) * np.fft.rfft2(kernel, s=image.shape), s=image.shape
    )
    rough = np.diff(image, axis=0)[:, :-1] ** 2 + np.diff(image, axis=1)[:-1, :] ** 2
    return ((blurred - seen) ** 2).sum() + weight * np.sqrt(rough + 1e-4).sum()


# --- factorisations -----------------------------------------------------------------------


def ratings(users, items, user_bias, item_bias, rows, columns, stars):
    """Ratings as products of rows of two matrices."""
    expected = (users[rows] * items[columns]).sum(axis=1) + user_bias[rows] + item_bias[columns]
    error = ((stars - expected) ** 2).sum()
    return error + 0.1 * ((users**2).sum() + (items**2).sum())


def doolittle(a):
    """The log-determinant and a solution, by a factorisation without pivots that is written out."""
    u = a.copy()
    n = len(u)
    x = np.ones(n)
    for k in range(n - 1):
        for i in range(k + 1, n):
            factor = u[i, k] / u[k, k]
            u[i, k:] -= factor * u[k, k:]
            x[i] -= factor * x[k]
    for i in reversed(range(n)):
        x[i] = (x[i] - u[i, i + 1 :] @ x[i + 1 :]) / u[i, i]
    return np.log(np.diag(u)).sum() + x @ x


# --- B-splines ----------------------------------------------------------------------------


def de_boor(k, x, knots, c, degree):
    d = [c[j + k - degree] for j in range(degree + 1)]
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            low, high = knots[j + k - degree], knots[j + 1 + k - r]
            alpha = (x - low) / (high - low)
            d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
    return d[degree]


def spline(c, knots, points, values):
    total = 0.0
    for x, y in zip(points, values):
        k = np.searchsorted(knots, x, side="right") - 1
        total += (de_boor(k, x, knots, c, 3) - y) ** 2
    rough = np.diff(c, n=2)
    return total + 0.01 * (rough @ rough)


# --- fits of differential equations -------------------------------------------------------


@dataclass
class Rates:
    birth: float
    caught: float
    fed: float
    death: float

    def slope(self, state):
        prey, hunters = state
        return np.array([
            prey * (self.birth - self.caught * hunters),
            hunters * (self.fed * prey - self.death),
        ])  # fmt: skip


def runge_kutta(slope, state, h):
    k1 = slope(state)
    k2 = slope(state + h / 2 * k1)
    k3 = slope(state + h / 2 * k2)
    k4 = slope(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def hunters_and_prey(theta, start, seen):
    rates = Rates(*np.exp(theta))
    state = start
    loss = 0.0
    for observed in seen:
        for _ in range(5):
            state = runge_kutta(rates.slope, state, 0.02)
        loss += ((np.log(state) - np.log(observed)) ** 2).sum()
    return loss


# --- bundle adjustment --------------------------------------------------------------------


@dataclass
class Camera:
    rotation: np.ndarray
    centre: np.ndarray
    focal: float
    distortion: np.ndarray

    def sees(self, point):
        p = rotated(self.rotation, point - self.centre)
        flat = p[:2] / p[2]
        r2 = flat @ flat
        return self.focal * (1 + self.distortion[0] * r2 + self.distortion[1] * r2 * r2) * flat


def rotated(axis, x):
    """Rodrigues' formula."""
    angle = np.sqrt(axis @ axis)
    unit = axis / angle
    c, s = np.cos(angle), np.sin(angle)
    return c * x + s * np.cross(unit, x) + (1 - c) * (unit @ x) * unit


def reprojection(cameras, points, which, whose, seen):
    views = [Camera(c[:3], c[3:6], c[6], c[7:]) for c in cameras]
    total = 0.0
    for camera, point, place in zip(which, whose, seen):
        rest = views[camera].sees(points[point]) - place
        total += rest @ rest
    return total


# --- recursion over trees -----------------------------------------------------------------


def soft_tree(weights, bias, leaves, x, node):
    """What a soft decision tree expects at x, below a node of a heap."""
    if node >= len(weights):
        return leaves[node - len(weights)]
    right = sigmoid(weights[node] @ x + bias[node])
    return (1 - right) * soft_tree(weights, bias, leaves, x, 2 * node + 1) + (
        right * soft_tree(weights, bias, leaves, x, 2 * node + 2)
    )


def soft_trees(weights, bias, leaves, samples, targets):
    total = 0.0
    for x, y in zip(samples, targets):
        total += (soft_tree(weights, bias, leaves, x, 0) - y) ** 2
    return total / len(targets)


# --- agents -------------------------------------------------------------------------------


@dataclass
class Household:
    money: float
    skill: float
    patience: float

    def live(self, wage, rate, tax):
        income = wage * self.skill + rate * self.money
        if income > 1.0:
            income -= tax * (income - 1.0)
        spent = (1 - self.patience) * (self.money + income)
        if spent < 0.2:
            spent = 0.2
        self.money = self.money + income - spent
        return spent


def households(tax, rate, skills, patience, years):
    people = [Household(1.0, s, p) for s, p in zip(skills, patience)]
    wage, welfare = 1.0, 0.0
    for year in range(years):
        spent = 0.0
        for person in people:
            consumption = person.live(wage, rate, tax)
            welfare += 0.97**year * np.log(consumption)
            spent += consumption
        wage = 0.9 * wage + 0.1 * spent / len(people)
    return welfare / len(people)


def families(quick: bool) -> list[Problem]:
    """All of them, with the same random arrays every time."""
    rng = np.random.default_rng(3)
    few = 10 if quick else 1

    def normal(*shape, scale=1.0):
        return scale * rng.normal(size=shape)

    def some(count):
        return max(3, count // few)

    length = some(200)
    return [
        row("filter", tracking_filter, normal(4) - 3, normal(2) - 2, np.array([3.0, 2, 1, 0]),
            np.array([3.0, 0.5]) + normal(some(100), 2, scale=0.1), argnums=(0, 1, 2)),
        row("HMM", hidden_markov, normal(8, 8), normal(8, 12), rng.integers(0, 12, length),
            argnums=(0, 1)),
        row("GP", gaussian_process, normal(3, scale=0.1), 0.1, -2.0, normal(some(100), 3),
            normal(some(100)), argnums=(0, 1, 2)),
        row("GRU", gated_recurrent, *(normal(32, k, scale=0.2) for k in (16, 32) * 3), normal(32),
            normal(some(50), 16), normal(some(50)), argnums=tuple(range(7))),
        row("attention", attention, *(normal(32, 32, scale=0.2) for _ in range(4)), np.ones(32),
            normal(some(64), 32), normal(some(64), 32), 4, argnums=(0, 1, 2, 3, 4)),
        row("heat", heat, rng.uniform(0.5, 1.0, (some(64), some(64))),
            normal(some(64), some(64)), normal(some(64), some(64)), some(50)),
        row("Burgers", burgers, np.sin(np.linspace(0, 2 * np.pi, some(256))), 0.2,
            normal(some(256)), some(200), argnums=(0, 1)),
        row("Monte Carlo", asian_option, 1.0, 1.0, 0.03, 0.04, 1.5, 0.3, normal(some(50), some(1000)),
            normal(some(50), some(1000)), argnums=(0, 1, 2, 3, 4, 5)),
        row("n-body", bodies, normal(10, 3), normal(10, 3, scale=0.1), rng.uniform(0.5, 1.0, 10),
            some(20), argnums=(0, 1, 2)),
        row("FFT", deblurring, normal(some(64), some(64)), normal(5, 5) if not quick else normal(3, 3),
            normal(some(64), some(64)), 0.1, argnums=(0, 1)),
        row("ratings", ratings, normal(some(100), 8), normal(some(80), 8), normal(some(100)),
            normal(some(80)), rng.integers(0, some(100), some(2000)),
            rng.integers(0, some(80), some(2000)), normal(some(2000)), argnums=(0, 1, 2, 3)),
        row("LU by loops", doolittle, normal(some(30), some(30)) ** 2 + 40 * np.eye(some(30))),
        row("B-spline", spline, normal(20), np.concatenate([[0.0] * 3, np.linspace(0, 1, 18), [1.0] * 3]),
            rng.uniform(0, 0.999, some(300)), normal(some(300))),
        row("ODE fit", hunters_and_prey, np.log([0.6, 0.3, 0.2, 0.4]), np.array([3.0, 2.0]),
            rng.uniform(0.5, 4.0, (some(40), 2)), argnums=(0, 1)),
        row("bundle adjustment", reprojection, np.column_stack([
            normal(8, 6, scale=0.2), rng.uniform(0.9, 1.1, 8), normal(8, 2, scale=0.01)]),
            normal(some(60), 3) + [0, 0, 8.0], rng.integers(0, 8, some(300)),
            rng.integers(0, some(60), some(300)), normal(some(300), 2), argnums=(0, 1)),
        row("soft trees", soft_trees, normal(31, 6), normal(31), normal(32), normal(some(30), 6),
            normal(some(30)), argnums=(0, 1, 2)),
        row("agents", households, 0.2, 0.04, rng.uniform(0.5, 2.0, some(50)),
            rng.uniform(0.5, 0.95, some(50)), some(40), argnums=(0, 1, 2, 3)),
    ]  # fmt: skip


def row(name, function, *arguments, argnums=0):
    return Problem(name, FAMILIES, function, arguments, argnums)
