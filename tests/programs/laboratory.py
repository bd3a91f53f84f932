"""What a laboratory's scripts do: kinetics, queues, orbits, images, parsers, instruments."""

import bisect
import functools
import heapq
import itertools
import math
from collections import defaultdict, deque, namedtuple

import numpy as np

from .registry import add


class Reaction:
    def __init__(self, reactants, products, prefactor, barrier):
        self.reactants, self.products = reactants, products
        self.prefactor, self.barrier = prefactor, barrier

    def rate(self, amounts, temperature):
        rate = self.prefactor * math.exp(-self.barrier / temperature)
        for name, order in self.reactants.items():
            rate *= amounts[name] ** order
        return rate


def kinetics(start, prefactor, barrier):
    amounts = {"A": 1.0, "B": start, "C": 0.0}
    reactions = [
        Reaction({"A": 1, "B": 1}, {"C": 1}, prefactor, 1.0),
        Reaction({"C": 2}, {"A": 1}, 0.5, barrier),
    ]
    for step in range(12):
        temperature = 1.0 + 0.1 * math.sin(0.3 * step)
        change = dict.fromkeys(amounts, 0.0)
        for reaction in reactions:
            rate = reaction.rate(amounts, temperature)
            for name, order in reaction.reactants.items():
                change[name] -= order * rate
            for name, order in reaction.products.items():
                change[name] += order * rate
        amounts = {name: max(a + 0.1 * change[name], 0.0) for name, a in amounts.items()}
    return amounts["C"] + 0.1 * amounts["B"]


add(kinetics, (0.8, 1.2, 0.6))


def two_servers(arrivals, service):
    t, waits, free = 0.0, [], [0.0, 0.0]
    heapq.heapify(free)
    for gap, work in zip((0.3, 0.7, 0.2, 0.5, 0.9, 0.1), (0.8, 0.4, 1.1, 0.6, 0.3, 0.9)):
        t += gap / arrivals
        start = max(t, heapq.heappop(free))
        waits.append(start - t)
        heapq.heappush(free, start + work / service)
    return sum(w * w for w in waits) / len(waits) + max(free)


add(two_servers, (1.3, 0.9))


def ghost_cells(profile):
    u = np.zeros(len(profile) + 2)
    u[1:-1] = profile
    for _ in range(4):
        u[0] = u[1]
        u[-1] = 0.6 - u[-2]
        flux = -0.4 * np.diff(u) * (1 + u[:-1] ** 2)
        u[1:-1] -= 0.3 * np.diff(flux)
    return np.sum(u[1:-1] ** 2)


add(ghost_cells, (np.linspace(0.1, 0.9, 6),))


class Star:
    __slots__ = ("m", "r", "v")

    def __init__(self, m, r, v):
        self.m, self.r, self.v = m, np.array(r, float), np.array(v, float)

    def __matmul__(self, other):
        d = other.r - self.r
        return self.m * other.m * d / np.linalg.norm(d) ** 3


class Cluster:
    def __init__(self, stars):
        self.stars, self.t = stars, 0.0

    @property
    def energy(self):
        kinetic = sum(0.5 * b.m * b.v @ b.v for b in self.stars)
        pairs = itertools.combinations(self.stars, 2)
        return kinetic - sum(a.m * b.m / np.linalg.norm(a.r - b.r) for a, b in pairs)

    def step(self, dt):
        forces = [np.zeros(2) for _ in self.stars]
        for (i, a), (j, b) in itertools.combinations(enumerate(self.stars), 2):
            pull = a @ b
            forces[i] += pull
            forces[j] -= pull
        for star, force in zip(self.stars, forces):
            star.v += dt * force / star.m
            star.r += dt * star.v
        self.t += dt


def three_stars(m, speed, distance):
    cluster = Cluster(
        [
            Star(1.0, [0, 0], [0, 0]),
            Star(m, [1.0, 0], [0, speed]),
            Star(0.1, [-distance, 0.1], [0.1, -0.7]),
        ]
    )
    while cluster.t < 0.25:
        cluster.step(0.1)
    return cluster.energy + cluster.stars[1].r[0] * cluster.stars[2].r[1]


add(three_stars, (0.2, 0.9, 1.4))


def natural_spline(y):
    x = (0.0, 1.0, 2.5, 3.0, 4.2)
    n = len(x) - 1
    h = [b - a for a, b in itertools.pairwise(x)]
    slopes = [(y[i + 1] - y[i]) / h[i] for i in range(n)]
    diagonal, mu, z = [1.0], [0.0], [0.0]
    for i in range(1, n):
        diagonal.append(2 * (x[i + 1] - x[i - 1]) - h[i - 1] * mu[-1])
        mu.append(h[i] / diagonal[-1])
        z.append((3 * (slopes[i] - slopes[i - 1]) - h[i - 1] * z[-1]) / diagonal[-1])
    b, c, d = [0.0] * n, [0.0] * (n + 1), [0.0] * n
    for j in reversed(range(n)):
        c[j] = z[j] - mu[j] * c[j + 1]
        b[j] = slopes[j] - h[j] * (c[j + 1] + 2 * c[j]) / 3
        d[j] = (c[j + 1] - c[j]) / (3 * h[j])
    total = 0.0
    for q in (0.5, 1.7, 2.8, 4.0):
        k = bisect.bisect_right(x, q) - 1
        s = q - x[k]
        total += (y[k] + s * (b[k] + s * (c[k] + s * d[k]))) ** 2
    return total


add(natural_spline, ([0.1, 0.8, -0.3, 0.5, 1.2],))


class Calculator:
    def __init__(self, text, names):
        self.words = deque(text.split())
        self.names = names

    def peek(self):
        return self.words[0] if self.words else None

    def expression(self):
        value = self.term()
        while self.peek() in ("+", "-"):
            op, right = self.words.popleft(), self.term()
            value = value + right if op == "+" else value - right
        return value

    def term(self):
        value = self.factor()
        while self.peek() in ("*", "/"):
            if self.words.popleft() == "*":
                value *= self.factor()
            else:
                value /= self.factor()
        return value

    def factor(self):
        word = self.words.popleft()
        if word == "(":
            value = self.expression()
            self.words.popleft()
            return value
        if word == "sin":
            return math.sin(self.factor())
        return self.names[word] if word in self.names else float(word)


def calculated(x):
    return Calculator("x * ( 2 + sin ( x * 3 ) ) - x / ( 1 + x * x )", {"x": x}).expression()


add(calculated, (0.7,))


class Ring:
    def __init__(self, n):
        self.data, self.head, self.n = np.zeros(n), 0, n

    def push(self, x):
        self.data[self.head] = x
        self.head = (self.head + 1) % self.n

    def __getitem__(self, k):
        return self.data[(self.head - 1 - k) % self.n]


def echo(samples):
    ring, power = Ring(3), 0.0
    for s in samples:
        y = s + 0.5 * ring[0] * ring[2] - 0.2 * ring[1]
        ring.push(math.tanh(y))
        power += y * y
    return power


add(echo, ([0.3, -0.5, 0.9, 0.2, 0.7],))


def matrix_free(k):
    def apply(v):
        w = 2.5 * v * (1 + k**2)
        w[1:] -= v[:-1]
        w[:-1] -= v[1:]
        return w

    x, b = np.zeros(len(k)), np.sin(np.arange(len(k)) + 1.0)
    r = b - apply(x)
    q, rr = r.copy(), r @ r
    for _ in range(3):
        aq = apply(q)
        a = rr / (q @ aq)
        x += a * q
        r -= a * aq
        new = r @ r
        q = r + (new / rr) * q
        rr = new
    return x @ x


add(matrix_free, (np.array([0.2, 0.5, -0.3, 0.8]),))


def dispatched(level, gain, loss):
    state = {"level": level, "t": 0.0, "log": []}

    def fill(s, amount):
        s["level"] += amount * gain

    def leak(s, amount):
        s["level"] *= math.exp(-amount * loss)

    def note(s, amount):
        s["log"].append((s["t"], s["level"]))

    handlers = {"fill": fill, "leak": leak, "note": note}
    events = [
        (0.9, "fill", 0.2),
        (0.1, "fill", 1.0),
        (0.6, "note", 0),
        (0.5, "leak", 0.3),
        (1.5, "note", 0),
    ]
    for t, kind, amount in sorted(events):
        state["t"] = t
        handlers[kind](state, amount)
    area = sum(0.5 * (a + b) * (t - s) for (s, a), (t, b) in itertools.pairwise(state["log"]))
    return area + state["level"]


add(dispatched, (0.5, 0.8, 0.3))


def barnes_hut(masses, eye):
    def build(points, cx, cy, size, depth=0):
        if not points:
            return None
        m = sum(p[2] for p in points)
        centre = (sum(p[0] * p[2] for p in points) / m, sum(p[1] * p[2] for p in points) / m)
        node = {"m": m, "centre": centre, "size": size, "parts": []}
        if len(points) > 1 and depth < 3:
            for right in (False, True):
                for up in (False, True):
                    inside = [p for p in points if (p[0] >= cx) == right and (p[1] >= cy) == up]
                    x, y = cx + (right - 0.5) * size / 2, cy + (up - 0.5) * size / 2
                    part = build(inside, x, y, size / 2, depth + 1)
                    if part:
                        node["parts"].append(part)
        return node

    def potential(node, x):
        d = math.hypot(node["centre"][0] - x, node["centre"][1]) + 0.1
        if not node["parts"] or node["size"] / d < 0.5:
            return -node["m"] / d
        return sum(potential(part, x) for part in node["parts"])

    places = ((0.5, 0.2), (-0.3, 0.7), (-0.6, -0.4), (0.1, -0.8))
    return (
        potential(build([(x, y, m) for (x, y), m in zip(places, masses)], 0.0, 0.0, 2.0), eye) ** 2
    )


add(barnes_hut, ([1.0, 2.0, 0.5, 1.5], 0.3))


def drawn_by_inversion(logits):
    weights = [math.exp(v) for v in logits]
    cdf = list(itertools.accumulate(w / sum(weights) for w in weights))
    total = 0.0
    for u in (0.11, 0.42, 0.73, 0.95):
        k = bisect.bisect_left(cdf, u)
        low = cdf[k - 1] if k else 0.0
        total += (k + (u - low) / (cdf[k] - low)) ** 2
    return total


add(drawn_by_inversion, ([0.7, 1.3, 0.4, 1.1],))


State = namedtuple("State", "x v t")


def stepped_states(stiffness, damping, speed):
    def step(s, dt):
        a = -stiffness * s.x - damping * s.v**3
        return s._replace(x=s.x + dt * s.v, v=s.v + dt * a, t=s.t + dt)

    path = [State(1.0, speed, 0.0)]
    while path[-1].t < 0.55:
        path.append(step(path[-1], 0.1))
    xs, vs, _ = zip(*path)
    return max(xs) * sum(v * v for v in vs) + min(path, key=lambda s: s.v).x


add(stepped_states, (1.3, 0.5, 0.4))


class Overflow(Exception):
    def __init__(self, amount):
        super().__init__(f"over by {amount}")
        self.amount = amount


class Tank:
    def __init__(self, capacity):
        self.capacity, self.level = capacity, 0.0

    def add(self, amount):
        self.level += amount
        if self.level > self.capacity:
            over, self.level = self.level - self.capacity, self.capacity
            raise Overflow(over)


def cascade(inflows):
    tanks, spilled = [Tank(1.0), Tank(0.8), Tank(5.0)], 0.0
    for amount in inflows:
        for tank in tanks:
            try:
                tank.add(amount)
            except Overflow as error:
                amount = 0.9 * error.amount
                spilled += 0.1 * error.amount
            else:
                break
    return sum((k + 1) * tank.level**2 for k, tank in enumerate(tanks)) + spilled


add(cascade, ([0.6, 0.9, 0.7, 1.4],))


def lifted(signal):
    a, n, h = signal.copy(), len(signal), 1
    while h < n:
        a[h :: 2 * h] -= a[:: 2 * h]
        a[:: 2 * h] += 0.5 * a[h :: 2 * h]
        h *= 2
    a[1:] = np.sign(a[1:]) * np.maximum(np.abs(a[1:]) - 0.1, 0)
    while h > 1:
        h //= 2
        a[:: 2 * h] -= 0.5 * a[h :: 2 * h]
        a[h :: 2 * h] += a[:: 2 * h]
    return np.sum(a**2 * np.arange(1, n + 1))


add(lifted, (np.array([0.5, 1.2, -0.7, 0.3, 0.9, -1.1, 0.2, 0.8]),))


def grid_world(reward, cost, discount):
    values = {(i, j): 0.0 for i in range(3) for j in range(2)}
    for _ in range(5):
        new = {}
        for i, j in values:
            if (i, j) == (2, 1):
                new[i, j] = reward
                continue
            moves = ((i, j + 1), (i + 1, j), (i, j - 1), (i - 1, j))
            new[i, j] = max(
                -cost * (1 + 0.1 * i) + discount * values.get(to, values[i, j]) for to in moves
            )
        values = new
    return values[0, 0] + values[1, 1] ** 2


add(grid_world, (2.0, 0.1, 0.9))


def power_iteration_on_keys(p):
    matrix = defaultdict(float)
    for i in range(3):
        matrix[i, i] += 2 + p[i]
        if i:
            matrix[i, i - 1] -= p[i - 1]
            matrix[i - 1, i] -= p[i - 1]
    v = [1.0, 0.5, 0.2]
    for _ in range(5):
        w = [0.0] * 3
        for (i, j), a in matrix.items():
            w[i] += a * v[j]
        size = math.sqrt(sum(c * c for c in w))
        v = [c / size for c in w]
    return sum(matrix[i, j] * v[i] * v[j] for i, j in matrix)


add(power_iteration_on_keys, ([0.7, 1.3, 0.4],))


def remembered_partitions(x):
    @functools.lru_cache(maxsize=None)
    def ways(n, k):
        if n <= 0 or k == 0:
            return 1.0 if n == 0 else 0.0
        return x * ways(n - k, k) + ways(n, k - 1)

    return ways(6, 4)


add(remembered_partitions, (0.7,))
