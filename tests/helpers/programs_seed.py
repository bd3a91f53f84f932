"""Complete small programs with published results: plain Python functions and their numbers.

The numbers are those printed by the rustograd examples of the same names
(github.com/msakuta/rustograd), where gradient descent runs on the same problems.
`examples/peaks.py` and `examples/orbit.py` say W3 and W7 in other words.
"""

import math

import numpy as np

SAMPLE_XS = [i / 10 for i in range(-40, 40)]

# W1, W2: one Gaussian peak, 100 steps of rate 0.01 from (0, 1, 1).


def gaussian_truth(x):
    return 0.75 * math.exp(-((x - 1.2) ** 2) / 0.35)


def curve_fit_loss(mu, sigma, scale):
    total = 0.0
    for x in SAMPLE_XS:
        away = x - mu
        miss = scale * math.exp(-(away * away) / sigma / sigma) - gaussian_truth(x)
        total += miss * miss
    return total


CURVE_FIT = {"mu": 1.199999963056661, "sigma": 0.5957563205013946, "scale": 0.7452019038775672}
CURVE_FIT_LOSS = 1.370821588601105e-4
CURVE_FIT_LOSS_AFTER_99 = 1.57807541308375e-4


def array_curve_fit_loss(params, xs, ys):
    mu, sigma, scale = params
    miss = scale * np.exp(-((xs - mu) ** 2) / sigma**2) - ys
    return np.sum(miss * miss)


# W3: two overlapping peaks, 500 steps of rate 0.01.

PEAKS_START = (-1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def peaks_truth(x):
    return 0.75 * math.exp(-((x - 0.8) ** 2) / 0.35) + 0.5 * math.exp(-((x + 0.3) ** 2) / 0.5)


def peaks_loss(mu0, sigma0, scale0, mu1, sigma1, scale1):
    def peak(x, mu, sigma, scale):
        return scale * math.exp(-(((x - mu) / sigma) ** 2))

    return sum(
        (peak(x, mu0, sigma0, scale0) + peak(x, mu1, sigma1, scale1) - peaks_truth(x)) ** 2
        for x in SAMPLE_XS
    )


PEAKS = (
    -0.3359472901625186,
    0.6716566066723061,
    0.49178910855565744,
    0.7798710844330137,
    0.6091475575653205,
    0.7659720019774857,
)

# W5: two classes by softmax, with L2 regularisation. The log-likelihood has no minus sign in
# the original, so descent makes it worse; kept, because the published numbers depend on it.

TWO_CLASS_SAMPLES = [
    (3.0, -2.4, 1.0),
    (2.1, -1.5, 1.0),
    (3.5, -2.0, 1.0),
    (4.5, -0.5, 1.0),
    (-3.0, 2.4, 0.0),
    (-2.1, 1.5, 0.0),
    (-3.5, 2.0, 0.0),
    (-3.2, 0.5, 0.0),
]
TWO_CLASS_START = ((0.0, -0.25, -0.25), (0.0, 0.125, 0.175))


def two_class_loss(first, second):
    total = 0.0
    for x, y, label in TWO_CLASS_SAMPLES:
        exp1, exp2 = (math.exp(x * u + y * v + offset) for offset, u, v in (first, second))
        likelihood = label * math.log(exp1 / (exp1 + exp2))
        likelihood += (1 - label) * math.log(exp2 / (exp1 + exp2))
        total += likelihood + sum(u * u + v * v for _, u, v in (first, second))
    return total


TWO_CLASS_AFTER_99 = (-0.002121512612250036, -1.5562100089272601, 0.7999738615305212)

# W6: three classes by softmax; 199 steps of rate 0.01.

THREE_CLASS_SAMPLES = [
    (3.0, -2.4, 1),
    (2.1, -1.5, 1),
    (3.5, -2.0, 1),
    (4.5, -0.5, 1),
    (-3.0, 2.4, 0),
    (-2.1, 1.5, 0),
    (-3.5, 2.0, 0),
    (-1.2, 1.5, 0),
    (-0.6, 2.4, 2),
    (0.1, 3.2, 2),
    (0.3, 2.9, 2),
    (-0.2, 2.5, 2),
]
THREE_CLASS_START = [[0.0, 0.25, 0.25], [0.0, -0.125, -0.175], [0.0, 0.325, -0.2175]]


def three_class_loss(weights):
    total = 0.0
    for x, y, label in THREE_CLASS_SAMPLES:
        exps = [math.exp(x * u + y * v + offset) for offset, u, v in weights]
        total -= math.log(exps[label] / sum(exps))
    return total


THREE_CLASS_AFTER_199 = [
    [0.117948684344679, -1.6899323542384028, -0.29248667378013987],
    [0.12929388797812846, 1.291762692000257, -1.059765920863772],
    [-0.24724257232280794, 0.84816966223815, 1.2097525946439134],
]
THREE_CLASS_LOSS_AFTER_198 = 0.6191112673011283
THREE_CLASS_LOSS_AFTER_199 = 0.6170794404707459

# W7: an orbit that should pass through -1 at its 18th step, in the complex plane.


def gravity(z):
    return -z / abs(z) ** 3 * 0.03


def orbit_loss(velocity):
    z = 1.0 + 0.0j
    for _ in range(18):
        move = velocity + gravity(z) * 0.5
        velocity = velocity + gravity(z + move * 0.5)
        z = z + move
    return abs(z + 1.0) ** 2


ORBIT_START = 0.15j
ORBIT_GRADIENT = -29.81632748720117 - 118.82962568878888j
ORBIT_FINAL_LOSS = 0.0021182642699991293

# W8: a cannon shot with drag, 30 time steps, target (10, 0).

GRAVITY = 0.03
DRAG = 0.02


def drag_step(x, y, vx, vy):
    speed = (vx * vx + vy * vy) ** 0.5
    ax = 0.0 - vx * DRAG / speed
    ay = -GRAVITY - vy * DRAG / speed
    return x + (vx + ax * 0.5), y + (vy + ay * 0.5), vx + ax, vy + ay


def cannon_loss(vx, vy):
    x, y = 0.0, 0.0
    for _ in range(30):
        x, y, vx, vy = drag_step(x, y, vx, vy)
    return (x - 10.0) * (x - 10.0) + y * y


CANNON_START = (-0.5, 0.5)
CANNON_GRADIENT = (-857.8100616072209, 74.52192703512364)
CANNON_FINAL_LOSS = 0.00014964255187766037

# W9: two bullets meet; the loss is the smallest squared distance over time.


def squared_distance(a, b):
    dx, dy = b[0] - a[0], b[1] - a[1]
    return dx * dx + dy * dy


def intercept_loss(vx1, vy1, vx2, vy2):
    first, second = (0.0, 0.0, vx1, vy1), (10.0, 2.0, vx2, vy2)
    closest = squared_distance(first, second)
    for _ in range(20):
        first, second = drag_step(*first), drag_step(*second)
        closest = min(closest, squared_distance(first, second))
    return closest


INTERCEPT_START = (0.5, 0.5, -0.5, 0.5)
INTERCEPT_GRADIENT = (
    2.3369501979258063,
    -43.90204223550713,
    -11.518155141806973,
    45.30416921976748,
)
INTERCEPT_FINAL_LOSS = 0.00023347465997608537
