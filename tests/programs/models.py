"""Models from statistics, finance, physics and learning."""

import math

import numpy as np

from .registry import add

FEATURES = np.array([[0.5, -1.2], [2.0, 0.9], [-0.3, 0.4], [1.1, -0.6]])
LABELS = np.array([1.0, 0.0, 1.0, 0.0])


def logistic_regression(weights, bias):
    p = 1 / (1 + np.exp(-(FEATURES @ weights + bias)))
    return -np.mean(LABELS * np.log(p) + (1 - LABELS) * np.log(1 - p)) + 0.1 * np.sum(weights**2)


add(logistic_regression, (np.array([0.3, -0.4]), 0.1), autograd=True)


def multilayer_perceptron(layers, x):
    for weights, bias in layers[:-1]:
        x = np.tanh(x @ weights + bias)
    weights, bias = layers[-1]
    return np.sum((x @ weights + bias) ** 2)


LAYERS = [
    (np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]]), np.array([0.01, 0.02, 0.03])),
    (np.array([[0.7], [-0.8], [0.9]]), np.array([0.1])),
]
add(multilayer_perceptron, (LAYERS, FEATURES), autograd=True)


def softmax_classifier(weights, x, label):
    logits = [sum(w * v for w, v in zip(row, x)) for row in weights]
    top = max(logits)
    total = sum(math.exp(value - top) for value in logits)
    return top + math.log(total) - logits[label]


add(softmax_classifier, ([[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]], [1.0, 2.0], 1), wrt=(0, 1))


def normal_cdf(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(spot, strike, rate, volatility, time):
    d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * time) / (
        volatility * math.sqrt(time)
    )
    d2 = d1 - volatility * math.sqrt(time)
    return spot * normal_cdf(d1) - strike * math.exp(-rate * time) * normal_cdf(d2)


add(black_scholes, (100.0, 95.0, 0.03, 0.2, 0.75))


def rosenbrock(x):
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x[:-1], x[1:]))


add(rosenbrock, ([1.2, 0.7, 1.5],), (np.array([1.2, 0.7, 1.5]),))


def vectorised_rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


add(vectorised_rosenbrock, (np.array([1.2, 0.7, 1.5]),), autograd=True)


def kepler(eccentricity, mean_anomaly):
    anomaly = mean_anomaly
    for _ in range(8):
        miss = anomaly - eccentricity * math.sin(anomaly) - mean_anomaly
        anomaly = anomaly - miss / (1 - eccentricity * math.cos(anomaly))
    return anomaly


add(kepler, (0.3, 1.2))


def hidden_markov(initial, transition, emission, seen):
    forward = [p * emission[s][seen[0]] for s, p in enumerate(initial)]
    for symbol in seen[1:]:
        forward = [
            sum(f * transition[r][s] for r, f in enumerate(forward)) * emission[s][symbol]
            for s in range(len(initial))
        ]
    return math.log(sum(forward))


add(
    hidden_markov,
    ([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]], (0, 1, 1, 0)),
    wrt=(0, 1, 2),
)


def gaussian_mixture(means, log_scales, xs):
    total = 0.0
    for x in xs:
        terms = [-((x - m) ** 2) * math.exp(-2 * s) / 2 - s for m, s in zip(means, log_scales)]
        top = max(terms)
        total = total + top + math.log(sum(math.exp(t - top) for t in terms))
    return total


add(gaussian_mixture, ([0.0, 1.5], [0.1, -0.3], [0.2, 1.1, -0.7]))


def spline_value(knots, values, x):
    if x <= knots[0]:
        return values[0]
    for left, right, a, b in zip(knots, knots[1:], values, values[1:]):
        if x < right:
            t = (x - left) / (right - left)
            smooth = t * t * (3 - 2 * t)
            return a + (b - a) * smooth
    return values[-1]


KNOTS = [0.0, 1.0, 2.5]
VALUES = [1.0, -0.5, 2.0]
add(
    spline_value,
    (KNOTS, VALUES, 1.7),
    (KNOTS, VALUES, 0.4),
    (KNOTS, VALUES, -1.0),
    (KNOTS, VALUES, 9.0),
)


def autoregression(coefficients, series):
    a, b = coefficients
    total = 0.0
    for t in range(2, len(series)):
        miss = series[t] - a * series[t - 1] - b * series[t - 2]
        total += miss * miss
    return total / (len(series) - 2)


add(autoregression, ((0.5, -0.2), [0.3, 0.5, -0.1, 0.8, 0.2]))


def levenshtein_cost(x, weights):
    row = [0.0, weights[0], 2 * weights[0]]
    for c in x:
        new = [row[0] + weights[1]]
        for j in range(1, len(row)):
            new = new + [
                min(row[j] + weights[1], new[j - 1] + weights[0], row[j - 1] + c * weights[2])
            ]
        row = new
    return row[-1]


add(levenshtein_cost, ([0.3, 1.9, 0.8], [1.0, 1.1, 0.7]))


def ray_through_lens(height, angle, focus):
    for distance in (1.0, 0.5, 2.0):
        height = height + distance * math.tan(angle)
        angle = angle - math.atan(height / focus)
    return height**2


add(ray_through_lens, (0.1, 0.05, 3.0))


def chemistry_equilibrium(constant, total):
    x = 0.5 * total
    for _ in range(20):
        value = x * x / (total - x) - constant
        slope = (2 * x * (total - x) + x * x) / (total - x) ** 2
        x = x - value / slope
    return x


add(chemistry_equilibrium, (0.3, 1.2))


def attention(queries, keys, values):
    scores = queries @ keys.T / np.sqrt(keys.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return np.sum((weights @ values) ** 2)


add(attention, (FEATURES, FEATURES[:3] + 0.1, FEATURES[1:] * 2), autograd=True)


def layer_norm(x, gain, bias):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return np.sum(np.tanh(gain * (x - mean) / np.sqrt(variance + 1e-5) + bias))


add(
    layer_norm,
    (
        np.array([[0.5, -1.2, 2.0], [0.1, 0.4, -0.9]]),
        np.array([1.0, 0.5, 2.0]),
        np.array([0.1, 0.2, 0.3]),
    ),
)


def convolution(signal, kernel):
    total = 0.0
    for i in range(len(signal) - len(kernel) + 1):
        response = 0.0
        for k, weight in enumerate(kernel):
            response += weight * signal[i + k]
        total += max(response, 0.0) ** 2
    return total


add(convolution, (np.array([0.1, 0.5, -0.2, 0.9, 0.4]), [0.3, -0.6, 0.8]))


def beam_deflection(load, length, stiffness):
    xs = np.linspace(0.0, length, 5)
    shape = load * xs**2 * (6 * length**2 - 4 * length * xs + xs**2) / (24 * stiffness)
    return np.max(shape) + np.sum(shape)


add(beam_deflection, (2.0, 1.5, 3.0))


def portfolio(weights, returns):
    w = np.exp(weights) / np.sum(np.exp(weights))
    gain = returns @ w
    return np.mean(gain) / np.std(gain, ddof=1)


add(portfolio, (np.array([0.1, -0.3]), FEATURES))
