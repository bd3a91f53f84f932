"""Time stepping: differential equations and recurrences."""

import itertools
import math
import random

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


def distance_to_valley(place, t):
    return (place[0] - t) ** 2 + 2 * (place[1] + 0.3 * t) ** 2 + 0.1 * place[0] * place[1]


def particle_swarm(t, count):
    """Particles are lists that move; each remembers the best place it has seen in a list of its own."""
    rng = random.Random(1)
    places = [[rng.uniform(-1, 1), rng.uniform(-1, 1)] for _ in range(count)]
    speeds = [[0.0, 0.0] for _ in range(count)]
    best = [place[:] for place in places]
    leader = min(best, key=lambda v: distance_to_valley(v, t))[:]
    for _ in range(3):
        for place, speed, own in zip(places, speeds, best, strict=True):
            for d in range(2):
                pull = 0.3 * rng.random() * (own[d] - place[d])
                speed[d] = 0.5 * speed[d] + pull + 0.4 * rng.random() * (leader[d] - place[d])
                place[d] += speed[d]
            if distance_to_valley(place, t) < distance_to_valley(own, t):
                own[:] = place
            if distance_to_valley(own, t) < distance_to_valley(leader, t):
                leader = own[:]
    return distance_to_valley(leader, t) + leader[0] + places[0][1]


add(particle_swarm, (0.7, 3), wrt=(0,))


class Creature:
    def __init__(self, genes):
        self.genes, self.cost = genes, 0.0

    def evaluated(self, t):
        self.cost = distance_to_valley(self.genes, t)
        return self


def genetic_search(t):
    """A population is sorted and bred; the best is changed where it stands, and sorted again."""
    rng = random.Random(5)
    herd = [Creature([rng.uniform(-1, 1), t * rng.random()]).evaluated(t) for _ in range(4)]
    for _ in range(3):
        herd.sort(key=lambda each: each.cost)
        best, young = herd[0], []
        for a, b in itertools.pairwise(herd[:3]):
            child = Creature([(p + q) / 2 for p, q in zip(a.genes, b.genes, strict=True)])
            if rng.random() < 0.5:
                child.genes[rng.randrange(2)] += 0.1 * t
            young.append(child.evaluated(t))
        herd = herd[:2] + young
        best.genes[0] *= 1.01
        best.evaluated(t)
    elite = min(herd, key=lambda each: each.cost)
    return elite.cost + elite.genes[1]


add(genetic_search, (0.7,))


def langevin(t, count):
    """Arrays that were drawn are changed in place."""
    rng = np.random.default_rng(3)
    places, speeds = rng.normal(0.0, 1.0, (count, 2)), rng.standard_normal((count, 2)) * t
    for _ in range(4):
        speeds -= 0.1 * (places * t + speeds)
        speeds += 0.05 * rng.normal(size=places.shape)
        places += 0.1 * speeds
        places[0] = places[-1] * t
    return (places**2).sum() + speeds[0, 1]


add(langevin, (0.7, 3), wrt=(0,))
