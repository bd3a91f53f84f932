"""The programs of `families.py` as one writes them in JAX: loops are `scan`, and loops over like things are `vmap`."""

import jax
import jax.numpy as jnp
from jax.scipy.linalg import solve_triangular


def tracking_filter(log_noise, log_error, start, seen):
    h = 0.1
    f = jnp.eye(4).at[0, 2].set(h).at[1, 3].set(h)
    q, r = jnp.diag(jnp.exp(log_noise)), jnp.diag(jnp.exp(log_error))

    def step(state, z):
        x, p, total = state
        x, p = f @ x, f @ p @ f.T + q
        distance = jnp.sqrt(x[0] ** 2 + x[1] ** 2)
        expected = jnp.array([distance, jnp.arctan2(x[1], x[0])])
        slope = jnp.array([
            [x[0] / distance, x[1] / distance, 0.0, 0.0],
            [-x[1] / distance**2, x[0] / distance**2, 0.0, 0.0],
        ])  # fmt: skip
        s = slope @ p @ slope.T + r
        gain = p @ slope.T @ jnp.linalg.inv(s)
        rest = z - expected
        total += 0.5 * (jnp.log(jnp.linalg.det(s)) + rest @ jnp.linalg.solve(s, rest))
        return (x + gain @ rest, (jnp.eye(4) - gain @ slope) @ p, total), None

    return jax.lax.scan(step, (start, jnp.eye(4), 0.0), seen)[0][2]


def hidden_markov(transition, emission, seen):
    a, b = jax.nn.softmax(transition, axis=1), jax.nn.softmax(emission, axis=1)
    states = len(a)

    def step(state, symbol):
        alpha, total = state
        scale = alpha.sum()
        return ((alpha / scale) @ a * b[:, symbol], total + jnp.log(scale)), None

    first = jnp.ones(states) / states * b[:, seen[0]]
    alpha, total = jax.lax.scan(step, (first, 0.0), seen[1:])[0]
    return -(total + jnp.log(alpha.sum()))


def gaussian_process(log_lengths, log_scale, log_noise, x, y):
    scaled = x / jnp.exp(log_lengths)
    squares = (scaled**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * scaled @ scaled.T
    k = jnp.exp(log_scale) * jnp.exp(-0.5 * distances) + jnp.exp(log_noise) * jnp.eye(len(x))
    lower = jnp.linalg.cholesky(k)
    whitened = solve_triangular(lower, y, lower=True)
    return 0.5 * whitened @ whitened + jnp.log(jnp.diag(lower)).sum()


def gated_recurrent(wz, uz, wr, ur, wh, uh, out, inputs, targets):
    def step(h, given):
        x, target = given
        z = jax.nn.sigmoid(wz @ x + uz @ h)
        r = jax.nn.sigmoid(wr @ x + ur @ h)
        h = (1 - z) * h + z * jnp.tanh(wh @ x + uh @ (r * h))
        return h, (out @ h - target) ** 2

    return jax.lax.scan(step, jnp.zeros(len(uz)), (inputs, targets))[1].mean()


def layer_norm(x, scale):
    centred = x - x.mean(axis=-1, keepdims=True)
    return scale * centred / jnp.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def attention(wq, wk, wv, wo, scale, tokens, targets, heads):
    length, width = tokens.shape
    normal = layer_norm(tokens, scale)

    def parted(w):
        return (normal @ w).reshape(length, heads, width // heads).transpose(1, 0, 2)

    q, k, v = parted(wq), parted(wk), parted(wv)
    scores = jnp.einsum("hid,hjd->hij", q, k) / jnp.sqrt(width // heads)
    later = jnp.triu(jnp.ones((length, length)), 1) * -1e9
    found = jnp.einsum("hij,hjd->ihd", jax.nn.softmax(scores + later), v)
    result = tokens + found.reshape(length, width) @ wo
    return ((result - targets) ** 2).mean()


def heat(conductivity, start, target, steps):
    def step(u, _):
        flux_x = 0.5 * (conductivity[1:, :] + conductivity[:-1, :]) * (u[1:, :] - u[:-1, :])
        flux_y = 0.5 * (conductivity[:, 1:] + conductivity[:, :-1]) * (u[:, 1:] - u[:, :-1])
        change = flux_x[1:, 1:-1] - flux_x[:-1, 1:-1] + flux_y[1:-1, 1:] - flux_y[1:-1, :-1]
        return u.at[1:-1, 1:-1].add(0.2 * change), None

    u = jax.lax.scan(step, start, None, length=steps)[0]
    return ((u - target) ** 2).sum()


def burgers(start, viscosity, target, steps):
    h, n = 0.001, len(start)

    def step(u, _):
        left, right = jnp.roll(u, 1), jnp.roll(u, -1)
        return u - h * n * u * (right - left) / 2 + viscosity * (right - 2 * u + left), None

    u = jax.lax.scan(step, start, None, length=steps)[0]
    return ((u - target) ** 2).sum()


def asian_option(spot, strike, rate, mean, speed, noise, first, second):
    steps, paths = first.shape
    h = 1 / steps

    def step(state, normal):
        s, v, total = state
        positive = jnp.maximum(v, 1e-6)
        root = jnp.sqrt(positive * h)
        s = s * jnp.exp((rate - 0.5 * positive) * h + root * normal[0])
        v = v + speed * (mean - positive) * h + noise * root * normal[1]
        return (s, v, total + s), None

    start = spot * jnp.ones(paths), mean * jnp.ones(paths), jnp.zeros(paths)
    total = jax.lax.scan(step, start, (first, second))[0][2]
    return jnp.exp(-rate) * jnp.maximum(total / steps - strike, 0.0).mean()


def pull(positions, masses):
    d = positions[None, :, :] - positions[:, None, :]
    near = ((d**2).sum(axis=-1) + 0.01) ** -1.5
    return jnp.einsum("j,ij,ijk->ik", masses, near, d)


def bodies(positions, velocities, masses, steps):
    h = 0.01

    def step(state, _):
        x, v = state
        x = x + h * v
        return (x, v + h * pull(x, masses)), None

    start = positions, velocities + 0.5 * h * pull(positions, masses)
    x, v = jax.lax.scan(step, start, None, length=steps)[0]
    return (x**2).sum() + (v**2).sum()


def deblurring(image, kernel, seen, weight):
    fft = jnp.fft
    blurred = fft.irfft2(fft.rfft2(image) * fft.rfft2(kernel, s=image.shape), s=image.shape)
    rough = jnp.diff(image, axis=0)[:, :-1] ** 2 + jnp.diff(image, axis=1)[:-1, :] ** 2
    return ((blurred - seen) ** 2).sum() + weight * jnp.sqrt(rough + 1e-4).sum()


def ratings(users, items, user_bias, item_bias, rows, columns, stars):
    expected = (users[rows] * items[columns]).sum(axis=1) + user_bias[rows] + item_bias[columns]
    error = ((stars - expected) ** 2).sum()
    return error + 0.1 * ((users**2).sum() + (items**2).sum())


def doolittle(a):
    """All rows below a pivot at once."""
    n = len(a)
    rows = jnp.arange(n)

    def eliminate(state, k):
        u, x = state
        factors = jnp.where(rows > k, u[:, k] / u[k, k], 0.0)
        return (u - jnp.outer(factors, u[k]), x - factors * x[k]), None

    u, x = jax.lax.scan(eliminate, (a, jnp.ones(n)), jnp.arange(n - 1))[0]
    x = solve_triangular(u, x)
    return jnp.log(jnp.diag(u)).sum() + x @ x


def de_boor(x, knots, c, degree):
    k = jnp.searchsorted(knots, x, side="right") - 1
    d = [c[j + k - degree] for j in range(degree + 1)]
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            low, high = knots[j + k - degree], knots[j + 1 + k - r]
            alpha = (x - low) / (high - low)
            d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
    return d[degree]


def spline(c, knots, points, values):
    found = jax.vmap(lambda x: de_boor(x, knots, c, 3))(points)
    rough = jnp.diff(c, n=2)
    return ((found - values) ** 2).sum() + 0.01 * (rough @ rough)


def hunters_and_prey(theta, start, seen):
    birth, caught, fed, death = jnp.exp(theta)

    def slope(state):
        prey, hunters = state
        return jnp.array([prey * (birth - caught * hunters), hunters * (fed * prey - death)])

    def step(state, _):
        h = 0.02
        k1 = slope(state)
        k2 = slope(state + h / 2 * k1)
        k3 = slope(state + h / 2 * k2)
        k4 = slope(state + h * k3)
        return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    def until_seen(state, observed):
        state = jax.lax.scan(step, state, None, length=5)[0]
        return state, ((jnp.log(state) - jnp.log(observed)) ** 2).sum()

    return jax.lax.scan(until_seen, start, seen)[1].sum()


def rotated(axis, x):
    angle = jnp.sqrt(axis @ axis)
    unit = axis / angle
    c, s = jnp.cos(angle), jnp.sin(angle)
    return c * x + s * jnp.cross(unit, x) + (1 - c) * (unit @ x) * unit


def reprojection(cameras, points, which, whose, seen):
    def squares(camera, point, place):
        p = rotated(camera[:3], point - camera[3:6])
        flat = p[:2] / p[2]
        r2 = flat @ flat
        rest = camera[6] * (1 + camera[7] * r2 + camera[8] * r2 * r2) * flat - place
        return rest @ rest

    return jax.vmap(squares)(cameras[which], points[whose], seen).sum()


def soft_trees(weights, bias, leaves, samples, targets):
    """Level by level, from the leaves up, for all samples."""

    def expected(x):
        right = jax.nn.sigmoid(weights @ x + bias)
        found, first = leaves, len(weights)
        while first:
            first //= 2
            share = right[first : 2 * first + 1]
            found = (1 - share) * found[0::2] + share * found[1::2]
        return found[0]

    return ((jax.vmap(expected)(samples) - targets) ** 2).mean()


def households(tax, rate, skills, patience, years):
    def live(state, discount):
        money, wage = state
        income = wage * skills + rate * money
        income = jnp.where(income > 1.0, income - tax * (income - 1.0), income)
        spent = jnp.maximum((1 - patience) * (money + income), 0.2)
        wage = 0.9 * wage + 0.1 * spent.mean()
        return (money + income - spent, wage), discount * jnp.log(spent).mean()

    start = jnp.ones(len(skills)), 1.0
    return jax.lax.scan(live, start, 0.97 ** jnp.arange(years))[1].sum()
