"""Numba: adjoints written by hand as loops, for it to compile."""

import math
from functools import partial

import numpy as np
from numba import njit


@njit
def small(x):
    return math.sin(x * x), 2 * x * math.cos(x * x)


@njit
def sincos(x):
    c = math.cos(x)
    return math.sin(c), -math.cos(c) * math.sin(x)


@njit(fastmath=True)
def loop(x, n):
    rs, r, s, c = np.empty(n), 1.0, math.sin(x), math.cos(x)
    for k in range(n):
        rs[k] = r
        r *= s
    r_bar, x_bar = 1.0, 0.0
    for k in range(n - 1, -1, -1):
        x_bar += r_bar * rs[k] * c
        r_bar *= s
    return r, x_bar


@njit(fastmath=True)
def logsumexp(x):
    m, total, g = x[0], 0.0, np.empty_like(x)
    for i in range(len(x)):
        m = max(m, x[i])
    for i in range(len(x)):
        g[i] = math.exp(x[i] - m)
        total += g[i]
    scale = 1 / total
    for i in range(len(x)):
        g[i] *= scale
    return m + math.log(total), g


@njit(fastmath=True)
def logistic(w, b, x):
    m, n = w.shape
    total, w_bar, b_bar, x_bar = 0.0, np.empty_like(w), np.empty_like(b), np.zeros_like(x)
    for i in range(m):
        z = b[i]
        for j in range(n):
            z += w[i, j] * x[j]
        s = 1 / (1 + math.exp(-z))
        d = s * (1 - s)
        total += s
        b_bar[i] = d
        for j in range(n):
            w_bar[i, j] = d * x[j]
            x_bar[j] += d * w[i, j]
    return total, w_bar, b_bar, x_bar


@njit(fastmath=True)
def mlp(w1, b1, w2, b2, x, label):
    h, n = w1.shape
    c = len(b2)
    a, z, total = np.empty(h), np.empty(c), 0.0
    w1_bar, b1_bar = np.empty_like(w1), np.zeros(h)
    w2_bar, b2_bar = np.empty_like(w2), np.empty(c)
    for i in range(h):
        t = b1[i]
        for j in range(n):
            t += w1[i, j] * x[j]
        a[i] = max(t, 0.0)
    for i in range(c):
        t = b2[i]
        for j in range(h):
            t += w2[i, j] * a[j]
        z[i] = t
    m = z.max()
    for i in range(c):
        b2_bar[i] = math.exp(z[i] - m)
        total += b2_bar[i]
    value = m + math.log(total) - z[label]
    for i in range(c):
        b2_bar[i] /= total
    b2_bar[label] -= 1
    for i in range(c):
        for j in range(h):
            w2_bar[i, j] = b2_bar[i] * a[j]
            b1_bar[j] += b2_bar[i] * w2[i, j]
    for i in range(h):
        b1_bar[i] = b1_bar[i] if a[i] > 0 else 0.0
        for j in range(n):
            w1_bar[i, j] = b1_bar[i] * x[j]
    return value, w1_bar, b1_bar, w2_bar, b2_bar


@njit
def newton(a):
    xs, k, x = np.empty(128), 0, a
    while abs(x * x - a) > 1e-12 * a:
        xs[k] = x
        k += 1
        x = 0.5 * (x + a / x)
    value, x_bar, a_bar = x, 1.0, 0.0
    while k > 0:
        k -= 1
        half, inverse = 0.5 * x_bar, 1 / xs[k]
        a_bar += half * inverse
        x_bar = half - half * a * inverse * inverse
    return value, a_bar + x_bar


@njit
def logistic_map(r, x, n):
    xs = np.empty(n)
    for k in range(n):
        xs[k] = x
        x = r * x * (1 - x)
    value, r_bar, x_bar = x, 0.0, 1.0
    for k in range(n - 1, -1, -1):
        x = xs[k]
        r_bar += x_bar * x * (1 - x)
        x_bar *= r * (1 - 2 * x)
    return value, r_bar, x_bar


@njit
def slopes(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


@njit
def slopes_back(x, y, z, sigma, rho, beta, a_bar, b_bar, c_bar):
    """The cotangents of x, y, z, sigma, rho, beta."""
    return (
        -sigma * a_bar + (rho - z) * b_bar + y * c_bar,
        sigma * a_bar - b_bar + x * c_bar,
        -x * b_bar - beta * c_bar,
        a_bar * (y - x),
        b_bar * x,
        -c_bar * z,
    )


@njit(fastmath=True)
def lorenz(x, y, z, sigma, rho, beta, n):
    h, kept = 0.00001, np.empty((n, 3))
    half = h / 2
    for t in range(n):
        kept[t, 0], kept[t, 1], kept[t, 2] = x, y, z
        a1, b1, c1 = slopes(x, y, z, sigma, rho, beta)
        a2, b2, c2 = slopes(x + half * a1, y + half * b1, z + half * c1, sigma, rho, beta)
        a3, b3, c3 = slopes(x + half * a2, y + half * b2, z + half * c2, sigma, rho, beta)
        a4, b4, c4 = slopes(x + h * a3, y + h * b3, z + h * c3, sigma, rho, beta)
        x += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        z += h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
    value = x + y + z
    xb, yb, zb, sb, rb, bb = 1.0, 1.0, 1.0, 0.0, 0.0, 0.0
    third, sixth = h / 3, h / 6
    for t in range(n - 1, -1, -1):
        x, y, z = kept[t, 0], kept[t, 1], kept[t, 2]
        a1, b1, c1 = slopes(x, y, z, sigma, rho, beta)
        x2, y2, z2 = x + half * a1, y + half * b1, z + half * c1
        a2, b2, c2 = slopes(x2, y2, z2, sigma, rho, beta)
        x3, y3, z3 = x + half * a2, y + half * b2, z + half * c2
        a3, b3, c3 = slopes(x3, y3, z3, sigma, rho, beta)
        x4, y4, z4 = x + h * a3, y + h * b3, z + h * c3
        u, v, w, s4, r4, e4 = slopes_back(
            x4, y4, z4, sigma, rho, beta, sixth * xb, sixth * yb, sixth * zb
        )
        xn, yn, zn = xb + u, yb + v, zb + w
        u, v, w, s3, r3, e3 = slopes_back(
            x3, y3, z3, sigma, rho, beta, third * xb + h * u, third * yb + h * v, third * zb + h * w
        )
        xn, yn, zn = xn + u, yn + v, zn + w
        u, v, w, s2, r2, e2 = slopes_back(
            x2, y2, z2, sigma, rho, beta,
            third * xb + half * u, third * yb + half * v, third * zb + half * w,
        )  # fmt: skip
        xn, yn, zn = xn + u, yn + v, zn + w
        u, v, w, s1, r1, e1 = slopes_back(
            x, y, z, sigma, rho, beta,
            sixth * xb + half * u, sixth * yb + half * v, sixth * zb + half * w,
        )  # fmt: skip
        xb, yb, zb = xn + u, yn + v, zn + w
        sb, rb, bb = sb + s1 + s2 + s3 + s4, rb + r1 + r2 + r3 + r4, bb + e1 + e2 + e3 + e4
    return value, xb, yb, zb, sb, rb, bb


@njit(fastmath=True)
def black_scholes(s, k, t):
    n, total = len(s), 0.0
    half, density = 0.5**0.5, 1 / math.sqrt(2 * math.pi)
    s_bar, k_bar, t_bar = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        q = math.sqrt(t[i])
        root = 0.2 * q
        d = (math.log(s[i] / k[i]) + 0.05 * t[i]) / root
        e = d - root
        p, u = 0.5 * (1 + math.erf(d * half)), 0.5 * (1 + math.erf(e * half))
        v = math.exp(-0.03 * t[i])
        ds = density * s[i] * math.exp(-0.5 * d * d)
        ek = -density * k[i] * v * math.exp(-0.5 * e * e)
        both = (ds + ek) / root
        total += s[i] * p - k[i] * v * u
        s_bar[i] = p + both / s[i]
        k_bar[i] = -v * u - both / k[i]
        t_bar[i] = 0.03 * k[i] * v * u + both * (0.05 - 0.1 * d / q) - 0.1 * ek / q
    return total, s_bar, k_bar, t_bar


@njit(fastmath=True)
def softplus_of_gelu(x):
    c, total, g = 0.7978845608028654, 0.0, np.empty_like(x)
    for i in range(len(x)):
        a = x[i]
        w = math.tanh(c * (a + 0.044715 * a * a * a))
        y = 0.75 * a * (1 + w) + 0.3
        e = math.exp(-abs(y))
        total += max(y, 0.0) + math.log1p(e)
        above = 1.0 if y > 0 else e
        inner = 1 + w + a * (1 - w * w) * c * (1 + 3 * 0.044715 * a * a)
        g[i] = above / (1 + e) * 0.75 * inner
    return total, g


def call(problem, _threads):
    function = globals().get(problem.function.__name__)
    return function and partial(function, *problem.arguments)
