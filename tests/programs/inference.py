"""Filters, samplers and learners with their draws fixed, written with loops and in-place fills."""

import math
import random

import numpy as np

from .registry import add

# Filters and smoothers


def particle_filter(start, drift, noise, draws, uniforms, seen):
    """Bootstrap filter; systematic resampling looks up ancestors, weights carry the gradient."""
    particles = start.copy()
    n = len(particles)
    weights = np.full(n, 1.0 / n)
    log_likelihood = 0.0
    for t, y in enumerate(seen):
        particles += drift * np.sin(particles) + 0.3 * draws[t]
        weights *= np.exp(-0.5 * ((y - particles) / noise) ** 2) / noise
        total = weights.sum()
        log_likelihood += np.log(total)
        weights /= total
        if 1.0 / np.sum(weights**2) < 0.8 * n:
            edges = np.cumsum(weights)
            edges[-1] = 1.0
            ancestors = np.zeros(n, dtype=int)
            k = 0
            for i in range(n):
                while edges[k] < (i + uniforms[t]) / n:
                    k += 1
                ancestors[i] = k
            particles = particles[ancestors]
            weights.fill(1.0 / n)
    return log_likelihood + weights @ particles


CLOUD = np.array([-0.5, 0.2, 0.6, 1.1, 1.7])
SHOCKS = np.array(
    [
        [0.3, -0.8, 0.5, 1.1, -0.2],
        [-1.2, 0.4, 0.9, -0.3, 0.1],
        [0.6, 0.2, -0.7, 0.8, -1.5],
    ]
)
add(
    particle_filter,
    (CLOUD, 0.4, 0.6, SHOCKS, np.array([0.37, 0.61, 0.12]), np.array([0.9, 0.4, 1.3])),
    wrt=(0, 1, 2, 3, 5),
)


def smoothed_level(observations, level_noise, noise):
    """A local level: Kalman's filter forwards, Rauch, Tung and Striebel's smoother backwards."""
    n = len(observations)
    mean, variance = np.zeros(n), np.zeros(n)
    m, p = observations[0], noise
    mean[0], variance[0] = m, p
    for t in range(1, n):
        p_ahead = p + level_noise
        gain = p_ahead / (p_ahead + noise)
        m += gain * (observations[t] - m)
        p = (1 - gain) * p_ahead
        mean[t], variance[t] = m, p
    for t in range(n - 2, -1, -1):
        back = variance[t] / (variance[t] + level_noise)
        mean[t] += back * (mean[t + 1] - mean[t])
        variance[t] += back**2 * (variance[t + 1] - variance[t] - level_noise)
    return mean


OBSERVED = np.array([0.5, 1.1, 0.7, 1.6, 1.9])
add(smoothed_level, (OBSERVED, 0.2, 0.5))


def unscented_step(mean, deviation, kappa):
    """Sigma points through a nonlinear function; moments put together again."""
    n = len(mean)
    points = [mean.copy()]
    for i in range(n):
        for sign in (1, -1):
            point = mean.copy()
            point[i] += sign * math.sqrt(n + kappa) * deviation[i]
            points.append(point)
    weights = np.full(2 * n + 1, 0.5 / (n + kappa))
    weights[0] = kappa / (n + kappa)
    images = np.empty((2 * n + 1, n))
    for k, point in enumerate(points):
        images[k] = point[0] * np.exp(0.3 * point[1]), np.sin(point[0]) + point[1]
    centre = weights @ images
    covariance = np.zeros((n, n))
    for w, image in zip(weights, images):
        covariance += w * np.outer(image - centre, image - centre)
    return np.linalg.slogdet(covariance)[1] + centre @ centre


add(unscented_step, (np.array([0.8, -0.3]), np.array([0.4, 0.6]), 0.5))


def holt_winters(series, alpha, beta, gamma):
    season = [series[0] - series[2], series[1] - series[3]]
    level, trend = series[0], 0.1
    loss = 0.0
    for t in range(2, len(series)):
        forecast = level + trend + season[t % 2]
        loss += (series[t] - forecast) ** 2
        before = level
        level = alpha * (series[t] - season[t % 2]) + (1 - alpha) * (level + trend)
        trend = beta * (level - before) + (1 - beta) * trend
        season[t % 2] = gamma * (series[t] - level) + (1 - gamma) * season[t % 2]
    return loss


add(holt_winters, ([1.0, 2.0, 1.3, 2.4, 1.7, 2.6], 0.4, 0.2, 0.3))


# Likelihoods


def volatility_likelihood(returns, omega, alpha, beta):
    """GARCH(1, 1)."""
    h = np.empty(len(returns))
    h[0] = np.mean(returns**2)
    likelihood = 0.0
    for t in range(len(returns)):
        if t > 0:
            h[t] = omega + alpha * returns[t - 1] ** 2 + beta * h[t - 1]
        likelihood -= 0.5 * (math.log(h[t]) + returns[t] ** 2 / h[t])
    return likelihood


add(volatility_likelihood, (np.array([0.3, -0.8, 1.1, 0.2, -0.5]), 0.1, 0.2, 0.6))


def mixture_posterior(logits, means, factors, points):
    """Gaussian mixture with triangular precision factors filled from vectors, and a Wishart prior."""
    k, d = means.shape
    log_weights = logits - np.log(np.sum(np.exp(logits)))
    main = np.zeros((len(points), k))
    prior = 0.0
    for j in range(k):
        Q = np.zeros((d, d))
        place = d
        for row in range(d):
            Q[row, row] = np.exp(factors[j, row])
            for column in range(row):
                Q[row, column] = factors[j, place]
                place += 1
        for i in range(len(points)):
            away = Q @ (points[i] - means[j])
            main[i, j] = log_weights[j] + np.sum(factors[j, :d]) - 0.5 * away @ away
        prior += 0.5 * np.sum(Q**2) - 2.0 * np.sum(factors[j, :d])
    total = 0.0
    for row in main:
        top = np.max(row)
        total += top + np.log(np.sum(np.exp(row - top)))
    return total - prior


add(
    mixture_posterior,
    (
        np.array([0.2, -0.1]),
        np.array([[0.5, -0.3], [1.2, 0.8]]),
        np.array([[0.1, -0.2, 0.3], [0.2, 0.1, -0.4]]),
        np.array([[0.4, 0.1], [1.0, 1.1], [-0.2, 0.5]]),
    ),
)


def bundle_adjustment(cameras, points, weights, observations):
    """Angle-axis rotation, projection, radial distortion; residuals filled in as they come."""
    residuals = np.zeros(2 * len(observations) + len(weights))
    for k, (c, p, u, v) in enumerate(observations):
        camera, X = cameras[c], points[p]
        theta2 = np.sum(camera[:3] ** 2)
        moved = X - camera[3:6]
        if theta2 > 0:
            theta = np.sqrt(theta2)
            axis = camera[:3] / theta
            turned = moved * np.cos(theta) + np.cross(axis, moved) * np.sin(theta)
            turned += axis * (axis @ moved) * (1 - np.cos(theta))
        else:
            turned = moved + np.cross(camera[:3], moved)
        x = turned[:2] / turned[2]
        r2 = x @ x
        x = x * (1 + camera[7] * r2 + camera[8] * r2**2) * camera[6]
        residuals[2 * k] = weights[k] * (x[0] - u)
        residuals[2 * k + 1] = weights[k] * (x[1] - v)
    residuals[-len(weights) :] = 1 - weights**2
    return residuals


add(
    bundle_adjustment,
    (
        np.array(
            [
                [0.1, -0.2, 0.05, 0.3, 0.1, -4.0, 1.2, 0.01, -0.02],
                [0.0, 0.0, 0.0, -0.2, 0.4, -5.0, 1.0, 0.02, 0.01],
            ]
        ),
        np.array([[0.5, 0.3, 1.0], [-0.4, 0.8, 1.5]]),
        np.array([0.9, 1.1, 0.8]),
        [(0, 0, 0.2, 0.1), (1, 0, 0.3, -0.1), (1, 1, 0.0, 0.2)],
    ),
    wrt=(0, 1, 2),
    note="the second camera is not turned at all",
)


def gaussian_process(xs, ys, scale, length, noise, at):
    """Cholesky's factor, two triangular solves and a prediction, all written out."""
    n = len(xs)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = scale**2 * math.exp(-0.5 * ((xs[i] - xs[j]) / length) ** 2)
            if i == j:
                s += noise**2
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = math.sqrt(s) if i == j else s / L[j, j]
    alpha = np.array(ys)
    evidence = -0.5 * n * math.log(2 * math.pi)
    for i in range(n):
        alpha[i] = (alpha[i] - L[i, :i] @ alpha[:i]) / L[i, i]
        evidence -= 0.5 * alpha[i] ** 2 + math.log(L[i, i])
    for i in range(n - 1, -1, -1):
        alpha[i] = (alpha[i] - L[i + 1 :, i] @ alpha[i + 1 :]) / L[i, i]
    prediction = 0.0
    for x, a in zip(xs, alpha):
        prediction += a * scale**2 * math.exp(-0.5 * ((x - at) / length) ** 2)
    return evidence + prediction


add(gaussian_process, ([0.0, 0.7, 1.5], [0.3, 1.1, -0.2], 1.2, 0.8, 0.3, 1.0))


def felsenstein(branch_lengths, frequencies, tips):
    """The likelihood of a small tree of species: partial likelihoods pruned upwards."""
    tree = {"root": ["left", 2], "left": [0, 1]}
    order = ["left", "root"]
    partial = {}
    for k, base in enumerate(tips):
        partial[k] = [1.0 if b == base else 0.0 for b in range(4)]
    lengths = dict(zip((0, 1, 2, "left"), branch_lengths))
    for node in order:
        combined = [1.0] * 4
        for child in tree[node]:
            stay = math.exp(-lengths[child])
            mean = sum(f * p for f, p in zip(frequencies, partial[child]))
            for b in range(4):
                combined[b] *= stay * partial[child][b] + (1 - stay) * mean
        partial[node] = combined
    return math.log(sum(f * p for f, p in zip(frequencies, partial["root"])))


add(felsenstein, ([0.2, 0.5, 0.3, 0.1], [0.3, 0.2, 0.25, 0.25], (0, 2, 0)), wrt=(0, 1))


# Samplers with fixed draws


def metropolis(start, width, draws, uniforms):
    """The chain's moves are decided by comparing; what is kept is differentiated."""

    def log_density(x):
        return -0.25 * x**4 + x**2

    x, accepted = start, 0
    chain = []
    for step, u in zip(draws, uniforms):
        proposal = x + width * step
        if math.log(u) < log_density(proposal) - log_density(x):
            x = proposal
            accepted += 1
        chain.append(x)
    return sum(c * c for c in chain) / len(chain) + 0.1 * accepted


add(
    metropolis,
    (0.5, 0.8, [0.3, -1.2, 0.9, 2.1, -0.4], [0.9, 0.2, 0.5, 0.7, 0.1]),
    wrt=(0, 1, 2),
)


def hamiltonian_step(q, p, step, mass):
    def pull(q):
        g = np.empty_like(q)
        g[0] = -2 * (1 - q[0]) - 20 * q[0] * (q[1] - q[0] ** 2)
        g[1] = 10 * (q[1] - q[0] ** 2)
        return g

    q, p = q.copy(), p.copy()
    p -= 0.5 * step * pull(q)
    for k in range(4):
        q += step * p / mass
        if k < 3:
            p -= step * pull(q)
    p -= 0.5 * step * pull(q)
    p *= -1
    return np.sum(p**2 / mass) / 2 + (1 - q[0]) ** 2 + q @ p


add(hamiltonian_step, (np.array([0.5, 0.2]), np.array([0.3, -0.8]), 0.05, np.array([1.0, 2.0])))


def langevin(x, temperature, friction):
    generator = random.Random(7)
    path = [x]
    for _ in range(6):
        kick = math.sqrt(2 * temperature * friction * 0.1) * generator.gauss(0.0, 1.0)
        path.append(path[-1] - 0.1 * friction * (path[-1] ** 3 - path[-1]) + kick)
    return sum(p * p for p in path) / len(path)


add(langevin, (0.4, 0.5, 1.2), note="a seeded generator inside the program")


def reparametrised_bound(mean, log_scale, data):
    """A variational bound with noise from NumPy's generator."""
    generator = np.random.default_rng(3)
    bound = 0.0
    for _ in range(3):
        noise = generator.normal(size=len(mean))
        z = mean + np.exp(log_scale) * noise
        for x in data:
            bound -= 0.5 * np.sum((x - z) ** 2)
        bound += -0.5 * np.sum(z**2) + np.sum(log_scale)
    return bound / 3


add(
    reparametrised_bound,
    (np.array([0.2, -0.4]), np.array([-0.5, 0.1]), np.array([[0.5, 0.1], [0.9, -0.7]])),
)


def bootstrap_spread(values, picks):
    means = []
    for pick in picks:
        total = 0.0
        for k in pick:
            total += values[k]
        means.append(total / len(pick))
    means.sort()
    return means[-1] - means[0] + means[len(means) // 2]


add(bootstrap_spread, (OBSERVED, [(0, 1, 1, 4), (2, 2, 3, 0), (4, 3, 3, 1)]), wrt=(0,))


# Learners


def soft_k_means(points, centres, sharpness):
    for _ in range(2):
        sums = np.zeros_like(centres)
        masses = np.zeros(len(centres))
        for p in points:
            d = np.sum((centres - p) ** 2, axis=1)
            share = np.exp(-sharpness * (d - d.min()))
            share /= share.sum()
            for k in range(len(centres)):
                sums[k] += share[k] * p
                masses[k] += share[k]
        centres[:] = sums / masses[:, None]
    return np.sum(centres[0] * centres[1]) + masses[0]


BLOBS = np.array([[0.1, 0.2], [0.3, -0.1], [1.2, 1.1], [0.9, 1.4]])
add(soft_k_means, (BLOBS, np.array([[0.0, 0.0], [1.0, 1.0]]), 2.0))


def expectation_maximisation(xs, means, variances, weights):
    means, variances, weights = list(means), list(variances), list(weights)
    for _ in range(2):
        responsibilities = []
        for x in xs:
            row = []
            for m, v, w in zip(means, variances, weights):
                row.append(w * math.exp(-0.5 * (x - m) ** 2 / v) / math.sqrt(v))
            total = sum(row)
            responsibilities.append([r / total for r in row])
        for k in range(len(means)):
            mass = sum(r[k] for r in responsibilities)
            means[k] = sum(r[k] * x for r, x in zip(responsibilities, xs)) / mass
            variances[k] = (
                0.05 + sum(r[k] * (x - means[k]) ** 2 for r, x in zip(responsibilities, xs)) / mass
            )
            weights[k] = mass / len(xs)
    return means[0] * weights[1] + variances[0] * variances[1]


add(expectation_maximisation, ([0.1, 0.5, 1.8, 2.3], [0.2, 1.5], [0.5, 0.8], [0.4, 0.6]))


def factorised_ratings(users, items, ratings, rate):
    """Stochastic descent on a factorisation: rows are views that change in place."""
    for u, i, rating in ratings:
        p, q = users[u], items[i]
        miss = rating - p @ q
        old = p.copy()
        p += rate * (miss * q - 0.02 * p)
        q += rate * (miss * old - 0.02 * q)
    loss = 0.0
    for u, i, rating in ratings:
        loss += (rating - users[u] @ items[i]) ** 2
    return loss


add(
    factorised_ratings,
    (
        np.array([[0.5, 0.1], [0.3, -0.2]]),
        np.array([[0.7, 0.4], [-0.1, 0.9], [0.2, 0.2]]),
        [(0, 0, 1.0), (1, 2, 0.5), (0, 1, -0.3), (1, 0, 0.8)],
        0.1,
    ),
    wrt=(0, 1, 3),
)


def elo_ratings(start, k_factor, games):
    ratings = dict(start)
    surprise = 0.0
    for winner, loser in games:
        expected = 1 / (1 + 10 ** ((ratings[loser] - ratings[winner]) / 4.0))
        surprise -= math.log(expected)
        ratings[winner] += k_factor * (1 - expected)
        ratings[loser] -= k_factor * (1 - expected)
    return surprise + max(ratings.values())


add(
    elo_ratings,
    ({"ann": 1.2, "bob": 1.0, "cy": 0.7}, 0.3, [("bob", "ann"), ("ann", "cy"), ("cy", "bob")]),
    wrt=(0, 1),
)


def self_organising_map(units, samples, rate):
    for t, sample in enumerate(samples):
        best = int(np.argmin(np.sum((units - sample) ** 2, axis=1)))
        for k in range(len(units)):
            influence = math.exp(-abs(k - best)) * rate / (1 + t)
            units[k] += influence * (sample - units[k])
    return sum(np.min(np.sum((units - s) ** 2, axis=1)) for s in samples)


add(self_organising_map, (np.array([[0.0, 0.1], [0.6, 0.4], [1.1, 0.9]]), BLOBS, 0.5))


def recurrent_network(weights, inputs):
    """A gated unit over a sequence; the states are rows of one array."""
    n = weights["h"].shape[0]
    states = np.zeros((len(inputs) + 1, n))
    gates = np.empty(n)
    for t, x in enumerate(inputs):
        gates[:] = 1 / (1 + np.exp(-(weights["z"] @ states[t] + weights["x"] * x)))
        candidate = np.tanh(weights["h"] @ (gates * states[t]) + weights["x"] * x)
        states[t + 1] = (1 - gates) * states[t] + gates * candidate
    return np.sum(states[1:] ** 2)


add(
    recurrent_network,
    (
        {
            "h": np.array([[0.5, -0.3], [0.2, 0.8]]),
            "z": np.array([[0.1, 0.4], [-0.6, 0.3]]),
            "x": np.array([0.7, -0.4]),
        },
        [0.5, -1.0, 0.3],
    ),
)


def causal_attention(queries, keys, values):
    n, d = queries.shape
    scores = np.full((n, n), -1e9)
    for i in range(n):
        for j in range(i + 1):
            scores[i, j] = queries[i] @ keys[j] / math.sqrt(d)
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    out = np.zeros_like(values)
    for i in range(n):
        for j in range(i + 1):
            out[i] += scores[i, j] * values[j]
    return np.sum(out**3)


Q = np.array([[0.5, -0.2], [0.1, 0.9], [-0.7, 0.4]])
add(causal_attention, (Q, Q[::-1] * 0.8, Q + 0.3))


def batch_normalised(batches, momentum, gain):
    """Running statistics are updated as the batches go by, then used."""
    running = {"mean": np.zeros(2), "var": np.ones(2)}
    total = 0.0
    for x in batches:
        mean, var = x.mean(axis=0), x.var(axis=0)
        running["mean"] += momentum * (mean - running["mean"])
        running["var"] *= 1 - momentum
        running["var"] += momentum * var
        total += np.sum(gain * (x - mean) / np.sqrt(var + 0.01) * x)
    test = (batches[0] - running["mean"]) / np.sqrt(running["var"] + 0.01)
    return total + np.sum(test**2)


add(batch_normalised, ([BLOBS, 2 * BLOBS[::-1] + 0.5], 0.3, np.array([1.1, 0.7])))


def decision_stumps(xs, ys, rate):
    """Boosting with the best split found anew in every round, residuals changed in place."""
    residual = ys.copy()
    order = np.argsort(xs)
    for _ in range(3):
        best = math.inf
        for cut in range(1, len(xs)):
            left, right = residual[order[:cut]], residual[order[cut:]]
            error = np.sum((left - left.mean()) ** 2) + np.sum((right - right.mean()) ** 2)
            if error < best:
                best, split = error, cut
                low, high = left.mean(), right.mean()
        residual[order[:split]] -= rate * low
        residual[order[split:]] -= rate * high
    return residual @ residual


add(
    decision_stumps,
    (np.array([0.3, 1.2, 0.8, 2.0]), np.array([0.5, 1.9, 1.1, 1.6]), 0.5),
    wrt=(1, 2),
)


def iterative_closest_points(source, target, steps):
    """Match, fit a rotation in closed form, move; the matching is discrete."""
    for _ in range(steps):
        pairs = []
        for p in source:
            distances = [np.sum((p - q) ** 2) for q in target]
            pairs.append(distances.index(min(distances)))
        matched = target[pairs]
        a, b = source.mean(axis=0), matched.mean(axis=0)
        sin_sum = cos_sum = 0.0
        for p, q in zip(source - a, matched - b):
            cos_sum += p @ q
            sin_sum += p[0] * q[1] - p[1] * q[0]
        angle = math.atan2(sin_sum, cos_sum)
        c, s = math.cos(angle), math.sin(angle)
        source = (source - a) @ np.array([[c, s], [-s, c]]) + b
    return np.sum((source - matched) ** 2) + angle


TARGET = np.array([[0.0, 0.0], [1.0, 0.2], [0.9, 1.1], [-0.3, 0.8]])
SOURCE = np.array([[0.1, 0.05], [0.9, 0.4], [0.7, 1.2], [-0.4, 0.7]])
add(iterative_closest_points, (SOURCE, TARGET, 2), wrt=(0, 1))


def nearest_means(points, centres):
    """k-means: the labels that the last round found are asked for in a generator."""
    centres = centres.copy()
    for _ in range(4):
        labels = ((points[:, None, :] - centres) ** 2).sum(axis=-1).argmin(axis=1)
        for k in range(len(centres)):
            if np.any(labels == k):
                centres[k] = points[labels == k].mean(axis=0)
    return sum(np.sum((points[labels == k] - centres[k]) ** 2) for k in range(len(centres)))


add(
    nearest_means,
    (
        np.array([[0.1, 0.3], [-0.4, 0.2], [1.2, 0.9], [0.8, 1.5], [2.0, 0.6]]),
        np.array([[0.0, 0.0], [1.0, 1.0]]),
    ),
)
