"""Time stepping: differential equations and recurrences."""

import math

import numpy as np

from .registry import add


def runge_kutta(f, y, t, step):
    k1 = f(t, y)
    k2 = f(t + step / 2, y + step / 2 * k1)
    k3 = f(t + step / 2, y + step / 2 * k2)
    k4 = f(t + step, y + step * k3)
    return y + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def decay(rate, y0):
    y, t = y0, 0.0
    for _ in range(5):
        y = runge_kutta(lambda t, y: -rate * y * y + math.sin(t), y, t, 0.2)
        t += 0.2
    return y


add(decay, (0.7, 1.5))


def lotka_volterra(a, b, state):
    def slope(t, s):
        return np.array([a * s[0] - b * s[0] * s[1], b * s[0] * s[1] - s[1]])

    for k in range(4):
        state = runge_kutta(slope, state, 0.1 * k, 0.1)
    return np.sum(state * np.array([1.0, 2.0]))


add(lotka_volterra, (1.1, 0.4, np.array([2.0, 1.0])))


def pendulum(angle, speed, length):
    for _ in range(20):
        speed = speed - 0.05 * 9.81 / length * math.sin(angle)
        angle = angle + 0.05 * speed
    return angle, 0.5 * speed**2


add(pendulum, (0.5, 0.0, 1.2))


def bouncing_ball(height, restitution):
    y, v = height, 0.0
    for _ in range(40):
        v = v - 0.981
        y = y + 0.1 * v
        if y < 0:
            y = -restitution * y
            v = -restitution * v
    return y


add(bouncing_ball, (1.3, 0.8))


def epidemic(infection, recovery):
    s, i, r = 0.99, 0.01, 0.0
    peak = i
    for _ in range(30):
        new = infection * s * i
        s, i, r = s - new, i + new - recovery * i, r + recovery * i
        peak = max(peak, i)
    return peak + r


add(epidemic, (0.8, 0.2))


def heat_equation(initial, diffusivity):
    u = initial
    for _ in range(4):
        inside = u[1:-1] + diffusivity * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = np.concatenate([u[:1], inside, u[-1:]])
    return np.sum(u**2)


add(heat_equation, (np.array([0.0, 1.0, 0.5, 2.0, 0.0]), 0.2))


def two_bodies(x, y, vx, vy):
    energy = 0.0
    for _ in range(10):
        cubed = (x * x + y * y) ** 1.5
        vx, vy = vx - 0.05 * x / cubed, vy - 0.05 * y / cubed
        x, y = x + 0.05 * vx, y + 0.05 * vy
        energy = 0.5 * (vx * vx + vy * vy) - 1 / math.hypot(x, y)
    return energy + x


add(two_bodies, (1.0, 0.0, 0.1, 0.9))


def adaptive_step(rate):
    t, y, step = 0.0, 1.0, 0.3
    while t < 1.0:
        full = y - step * rate * y
        half = y - step / 2 * rate * y
        halves = half - step / 2 * rate * half
        if abs(full - halves) > 0.01:
            step = step / 2
            continue
        y, t = halves, t + step
        step = min(step * 1.5, 1.0 - t) if t < 1.0 else step
    return y


add(adaptive_step, (1.7,), (0.4,), note="the grid depends on the value")


def van_der_pol(mu, x, v, n):
    history = ()
    for _ in range(n):
        x, v = x + 0.1 * v, v + 0.1 * (mu * (1 - x * x) * v - x)
        history = history + (x,)
    return sum(h * h for h in history)


add(van_der_pol, (1.2, 0.5, 0.1, 6), wrt=(0, 1, 2))


def gradient_descent(x, rate):
    def slope(t):
        return 4 * t**3 - 3 * t + 0.5

    for _ in range(10):
        x = x - rate * slope(x)
    return x**4 - 1.5 * x * x + 0.5 * x


add(gradient_descent, (1.2, 0.05))


def simpson(a, b):
    n = 6
    h = (b - a) / n
    xs = [a + i * h for i in range(n + 1)]
    ys = [math.exp(-x) * math.sin(x) for x in xs]
    return h / 3 * (ys[0] + 4 * sum(ys[1:-1:2]) + 2 * sum(ys[2:-1:2]) + ys[-1])


add(simpson, (0.2, 2.0))


def particles(positions):
    energy = 0.0
    for i in range(len(positions)):
        for j in range(i):
            r = np.linalg.norm(positions[i] - positions[j])
            energy = energy + 4 * (r**-12 - r**-6)
    return energy


add(particles, (np.array([[0.0, 0.0], [1.1, 0.2], [0.4, 1.3]]),), rel=1e-10)
