"""Objects with state: created, changed, shared, inherited, and called, as simulations keep them."""

import copy
import heapq
import math
from abc import ABC, abstractmethod
from collections import UserDict, UserList, deque
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .registry import add

# Bodies that move


class Particle:
    def __init__(self, x, v, mass=1.0):
        self.x = x
        self.v = v
        self.mass = mass
        self.force = 0.0

    def kick(self, dt):
        self.v += dt * self.force / self.mass

    def drift(self, dt):
        self.x += dt * self.v

    @property
    def kinetic(self):
        return 0.5 * self.mass * self.v**2


def verlet_oscillator(x, v, stiffness):
    p = Particle(x, v, mass=1.5)
    p.force = -stiffness * p.x
    for _ in range(10):
        p.kick(0.05)
        p.drift(0.1)
        p.force = -stiffness * p.x - 0.1 * p.x**3
        p.kick(0.05)
    return p.kinetic + 0.5 * stiffness * p.x**2


add(verlet_oscillator, (1.0, 0.3, 2.0))


def toda_chain(positions, velocities):
    chain = [Particle(x, v) for x, v in zip(positions, velocities)]
    for _ in range(6):
        for p in chain:
            p.force = 0.0
        for a, b in zip(chain, chain[1:]):
            pull = math.exp(a.x - b.x)
            a.force -= pull
            b.force += pull
        for p in chain:
            p.kick(0.1)
            p.drift(0.1)
    return sum(p.kinetic for p in chain) + chain[0].x


add(toda_chain, ([0.0, 0.5, 0.9], [0.1, -0.3, 0.2]))


class Body:
    __slots__ = ("acceleration", "mass", "position", "velocity")

    def __init__(self, mass, position, velocity):
        self.mass = mass
        self.position = list(position)
        self.velocity = list(velocity)
        self.acceleration = [0.0, 0.0]


def attract(bodies, softening):
    for body in bodies:
        body.acceleration = [0.0, 0.0]
    for i, a in enumerate(bodies):
        for b in bodies[i + 1 :]:
            delta = [q - p for p, q in zip(a.position, b.position)]
            r2 = sum(d * d for d in delta) + softening**2
            strength = r2**-1.5
            for k in range(2):
                a.acceleration[k] += b.mass * strength * delta[k]
                b.acceleration[k] -= a.mass * strength * delta[k]


def n_bodies(masses, positions, velocities):
    bodies = [Body(*start) for start in zip(masses, positions, velocities)]
    attract(bodies, 0.1)
    for _ in range(5):
        for body in bodies:
            for k in range(2):
                body.velocity[k] += 0.025 * body.acceleration[k]
                body.position[k] += 0.05 * body.velocity[k]
        attract(bodies, 0.1)
        for body in bodies:
            for k in range(2):
                body.velocity[k] += 0.025 * body.acceleration[k]
    return sum(b.mass * (b.velocity[0] ** 2 + b.velocity[1] ** 2) for b in bodies) / 2


add(
    n_bodies,
    (
        [1.0, 0.5, 0.2],
        [[0.0, 0.0], [1.0, 0.1], [-0.4, 1.2]],
        [[0.0, -0.1], [0.1, 0.9], [-0.7, 0.0]],
    ),
)


@dataclass
class Projectile:
    x: float
    y: float
    vx: float
    vy: float
    time: float = 0.0

    def step(self, dt, drag):
        speed = math.hypot(self.vx, self.vy)
        self.vx -= dt * drag * speed * self.vx
        self.vy -= dt * (9.81 + drag * speed * self.vy)
        self.x += dt * self.vx
        self.y += dt * self.vy
        self.time += dt


def projectile_range(speed, angle, drag):
    shot = Projectile(0.0, 1.0, speed * math.cos(angle), vy=speed * math.sin(angle))
    before = shot
    while shot.y > 0:
        before = replace(shot)
        shot.step(0.1, drag)
    part = before.y / (before.y - shot.y)
    return before.x + part * (shot.x - before.x) + 0.01 * shot.time


add(projectile_range, (8.0, 0.7, 0.02), (5.0, -0.1, 0.1))


def flight_of_the_given(shot, drag):
    for _ in range(4):
        shot.step(0.1, drag)
    return shot.x * shot.y


add(flight_of_the_given, (Projectile(0.0, 5.0, 3.0, 4.0), 0.05), note="the argument is changed")


class Lattice:
    """An object that holds arrays and changes them in place."""

    def __init__(self, displacement, stiffness):
        self.u = np.array(displacement)
        self.v = np.zeros_like(self.u)
        self.stiffness = stiffness

    def acceleration(self):
        a = np.zeros_like(self.u)
        a[1:-1] = self.stiffness * (self.u[2:] - 2 * self.u[1:-1] + self.u[:-2])
        return a

    def leap(self, dt):
        self.v += dt * self.acceleration()
        self.u += dt * self.v
        self.u[0] = self.u[-1] = 0.0
        return self

    def energy(self):
        return 0.5 * np.sum(self.v**2) + 0.5 * self.stiffness * np.sum(np.diff(self.u) ** 2)


def lattice_energy(displacement, stiffness):
    lattice = Lattice(displacement, stiffness)
    profile = lattice.u
    for _ in range(4):
        lattice.leap(0.1)
    lattice.leap(0.05).leap(0.05)
    return lattice.energy() + profile[1]


add(lattice_energy, (np.array([0.0, 0.7, -0.3, 0.4, 0.0]), 1.5), note="profile is lattice.u itself")


class Pendulum:
    def __init__(self, length, damping):
        self.length = length
        self.damping = damping

    def __call__(self, t, state):
        angle, speed = state
        return [speed, -9.81 / self.length * math.sin(angle) - self.damping * speed]


class RungeKutta:
    def __init__(self, slope, state, t=0.0):
        self.slope, self.state, self.t = slope, list(state), t
        self.evaluations = 0

    def evaluate(self, t, state):
        self.evaluations += 1
        return self.slope(t, state)

    def advance(self, dt):
        y = self.state
        k1 = self.evaluate(self.t, y)
        k2 = self.evaluate(self.t + dt / 2, [a + dt / 2 * b for a, b in zip(y, k1)])
        k3 = self.evaluate(self.t + dt / 2, [a + dt / 2 * b for a, b in zip(y, k2)])
        k4 = self.evaluate(self.t + dt, [a + dt * b for a, b in zip(y, k3)])
        for i in range(len(y)):
            y[i] += dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i])
        self.t += dt


def pendulum_swing(angle, length, damping):
    solver = RungeKutta(Pendulum(length, damping), [angle, 0.0])
    while solver.t < 0.45:
        solver.advance(0.1)
    return solver.state[0] ** 2 + solver.state[1] + 0.01 * solver.evaluations


add(pendulum_swing, (0.8, 1.2, 0.1))


# Populations, controllers, queues


class Epidemic:
    population = 1.0

    def __init__(self, contact, recovery, infected=0.01):
        self.contact, self.recovery = contact, recovery
        self.s, self.i, self.r = self.population - infected, infected, 0.0
        self.history = []

    def day(self):
        new = self.contact * self.s * self.i / self.population
        cured = self.recovery * self.i
        self.s -= new
        self.i += new - cured
        self.r += cured
        self.history.append(self.i)

    def vaccinate(self, share):
        moved = share * self.s
        self.s -= moved
        self.r += moved


def epidemic_with_events(contact, recovery, share):
    model = Epidemic(contact, recovery)
    events = {8: lambda: model.vaccinate(share), 12: lambda: setattr(model, "contact", contact / 2)}
    for day in range(20):
        if day in events:
            events[day]()
        model.day()
    return max(model.history) + 0.5 * model.r


add(epidemic_with_events, (0.9, 0.25, 0.3))


class Controller:
    def __init__(self, kp, ki, kd, limit):
        self.kp, self.ki, self.kd = kp, ki, kd
        self.limit = limit
        self.integral = 0.0
        self.last_error = None

    def update(self, error, dt):
        slope = 0.0 if self.last_error is None else (error - self.last_error) / dt
        self.last_error = error
        output = self.kp * error + self.ki * self.integral + self.kd * slope
        if abs(output) > self.limit:
            return math.copysign(self.limit, output)
        self.integral += error * dt
        return output


def controlled_tank(kp, ki, kd, target):
    controller = Controller(kp, ki, kd, limit=1.5)
    level, cost = 0.05, 0.0
    for _ in range(15):
        inflow = controller.update(target - level, 0.2)
        level += 0.2 * (inflow - 0.3 * math.sqrt(max(level, 0.0)))
        cost += 0.2 * (target - level) ** 2
    return cost


add(controlled_tank, (1.8, 0.4, 0.1, 1.0))


class Mode(Enum):
    HEATING = 1
    IDLE = 2


class Thermostat:
    def __init__(self, low, high):
        self.low, self.high = low, high
        self.mode = Mode.IDLE

    def power(self, temperature):
        if self.mode is Mode.IDLE and temperature < self.low:
            self.mode = Mode.HEATING
        elif self.mode is Mode.HEATING and temperature > self.high:
            self.mode = Mode.IDLE
        return {Mode.HEATING: 2.0, Mode.IDLE: 0.0}[self.mode]


def heated_room(outside, loss, low):
    thermostat = Thermostat(low, low + 1.0)
    temperature, bill = 18.0, 0.0
    for hour in range(24):
        power = thermostat.power(temperature)
        temperature += power - loss * (temperature - outside - 2 * math.sin(hour / 4))
        bill += power * (0.2 + 0.001 * temperature)
    return bill + 0.1 * temperature


add(heated_room, (8.0, 0.1, 19.0))


class Customer(NamedTuple):
    arrival: float
    service: float

    def done(self, start):
        return start + self.service


class Desk:
    def __init__(self):
        self.free_at = 0.0
        self.waits = []

    def serve(self, customer):
        start = max(self.free_at, customer.arrival)
        self.waits.append(start - customer.arrival)
        self.free_at = customer.done(start)


def mean_wait(gaps, services):
    desks = [Desk(), Desk()]
    clock = 0.0
    for gap, service in zip(gaps, services):
        clock += gap
        desk = min(desks, key=lambda d: d.free_at)
        desk.serve(Customer(clock, service))
    waits = [w for desk in desks for w in desk.waits]
    return sum(waits) / len(waits) + desks[0].free_at


add(mean_wait, ([0.3, 0.4, 0.2, 0.6, 0.1], [1.1, 0.9, 1.4, 0.5, 0.8]))


class Simulator:
    """Events in a heap; handling one may schedule others."""

    def __init__(self):
        self.now = 0.0
        self.queue = []
        self.count = 0

    def schedule(self, delay, handler):
        self.count += 1
        heapq.heappush(self.queue, (self.now + delay, self.count, handler))

    def run(self, until):
        while self.queue and self.queue[0][0] <= until:
            self.now, _, handler = heapq.heappop(self.queue)
            handler()


def machine_shop(work_time, repair_time, wear):
    shop = Simulator()
    produced = [0.0]
    health = {"value": 1.0}

    def finish():
        produced[0] += health["value"] * math.exp(-0.1 * shop.now)
        health["value"] -= wear
        if health["value"] < 0.5:
            shop.schedule(repair_time, repair)
        else:
            shop.schedule(work_time / health["value"], finish)

    def repair():
        health["value"] = 1.0
        shop.schedule(work_time, finish)

    shop.schedule(work_time, finish)
    shop.run(until=9.0)
    return produced[0]


add(machine_shop, (1.1, 0.7, 0.21))


class Account:
    opened = 0

    def __init__(self, balance, rate):
        type(self).opened += 1
        self._balance = balance
        self.rate = rate

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, value):
        self._balance = value if value > 0 else value * (1 + self.penalty())

    @staticmethod
    def penalty():
        return 0.05

    @classmethod
    def with_bonus(cls, balance, rate):
        return cls(balance + 10.0, rate)

    def accrue(self):
        self.balance *= 1 + self.rate


class Savings(Account):
    def __init__(self, balance, rate, floor):
        super().__init__(balance, rate)
        self.floor = floor

    def accrue(self):
        super().accrue()
        if self.balance < self.floor:
            self.balance -= 1.0


def bank(deposit, rate, floor):
    accounts = [
        Account(deposit, rate),
        Savings(deposit, 2 * rate, floor),
        Account.with_bonus(5.0, rate),
    ]
    for year in range(4):
        for account in accounts:
            account.accrue()
        accounts[0].balance -= 0.7 * deposit
    return sum(a.balance for a in accounts)


add(bank, (100.0, 0.03, 150.0), (100.0, 0.03, 50.0))


# Statistics that are updated


class Welford:
    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self.m2 = 0.0

    def push(self, x):
        self.n += 1
        delta = x - self.mean
        self.mean += delta / self.n
        self.m2 += delta * (x - self.mean)

    @property
    def variance(self):
        return self.m2 / (self.n - 1)

    def merge(self, other):
        merged = Welford()
        merged.n = self.n + other.n
        delta = other.mean - self.mean
        merged.mean = self.mean + delta * other.n / merged.n
        merged.m2 = self.m2 + other.m2 + delta**2 * self.n * other.n / merged.n
        return merged


def running_statistics(xs, ys):
    a, b = Welford(), Welford()
    for x in xs:
        a.push(x)
    for y in ys:
        b.push(y)
    both = a.merge(b)
    return both.mean / math.sqrt(both.variance)


add(running_statistics, ([0.5, 1.2, -0.3], [2.0, 0.1]), (np.array([0.5, 1.2]), [0.7]))


class KalmanFilter:
    def __init__(self, x, P, process, measurement):
        self.x, self.P = x.copy(), P.copy()
        self.Q, self.R = process * np.eye(len(x)), measurement
        self.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        self.H = np.array([1.0, 0.0])
        self.log_likelihood = 0.0

    def predict(self):
        self.x[:] = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, z):
        S = self.H @ self.P @ self.H + self.R
        gain = self.P @ self.H / S
        miss = z - self.H @ self.x
        self.x += gain * miss
        self.P -= np.outer(gain, self.H @ self.P)
        self.log_likelihood -= 0.5 * (miss**2 / S + np.log(2 * np.pi * S))


def tracked(x, P, process, measurement, seen):
    kalman = KalmanFilter(x, P, process, measurement)
    for z in seen:
        kalman.predict()
        kalman.update(z)
    return kalman.log_likelihood


add(
    tracked,
    (np.array([0.0, 1.0]), np.eye(2), 0.1, 0.5, np.array([1.1, 1.9, 3.2])),
)


class MovingWindow:
    def __init__(self, size):
        self.items = deque(maxlen=size)

    def __iadd__(self, x):
        self.items.append(x)
        return self

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __getitem__(self, k):
        return self.items[k]

    def mean(self):
        return sum(self) / len(self)


def detrended(xs):
    window = MovingWindow(3)
    total = 0.0
    for x in xs:
        window += x
        total += (x - window.mean()) ** 2 * (1 + window[0] * window[-1])
    return total


add(detrended, ([0.5, 1.2, -0.3, 0.8, 2.0],))


# Learning with classes


class Parameter:
    def __init__(self, value):
        self.value = value
        self.grad = np.zeros_like(value)


class Layer(ABC):
    def parameters(self):
        return []

    @abstractmethod
    def forward(self, x): ...

    @abstractmethod
    def backward(self, y_bar): ...


class Dense(Layer):
    def __init__(self, weights, bias):
        self.W, self.b = Parameter(weights), Parameter(bias)

    def parameters(self):
        return [self.W, self.b]

    def forward(self, x):
        self.x = x
        return x @ self.W.value + self.b.value

    def backward(self, y_bar):
        self.W.grad += self.x.T @ y_bar
        self.b.grad += y_bar.sum(axis=0)
        return y_bar @ self.W.value.T


class Tanh(Layer):
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, y_bar):
        return y_bar * (1 - self.y**2)


class Network:
    def __init__(self, *layers):
        self.layers = layers

    def __call__(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def train(self, x, target, optimiser):
        for p in optimiser.parameters:
            p.grad.fill(0.0)
        y_bar = 2 * (self(x) - target) / len(x)
        for layer in reversed(self.layers):
            y_bar = layer.backward(y_bar)
        optimiser.step()


class Descent:
    def __init__(self, parameters, rate, momentum):
        self.parameters = parameters
        self.rate, self.momentum = rate, momentum
        self.velocity = [np.zeros_like(p.value) for p in parameters]

    def step(self):
        for p, v in zip(self.parameters, self.velocity):
            v *= self.momentum
            v -= self.rate * p.grad
            p.value += v


X = np.array([[0.5, -1.2], [2.0, 0.9], [-0.3, 0.4]])
Y = np.array([[1.0], [0.0], [0.5]])
W1, B1 = np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]]), np.array([0.01, 0.02, 0.03])
W2, B2 = np.array([[0.7], [-0.8], [0.9]]), np.array([0.1])


def trained_network(w1, b1, w2, b2, rate, momentum):
    network = Network(Dense(w1, b1), Tanh(), Dense(w2, b2))
    parameters = [p for layer in network.layers for p in layer.parameters()]
    optimiser = Descent(parameters, rate, momentum)
    for _ in range(2):
        network.train(X, Y, optimiser)
    return np.mean((network(X) - Y) ** 2)


add(
    trained_network,
    (W1, B1, W2, B2, 0.1, 0.9),
    note="training inside the loss; the optimiser overwrites the weights that were passed in",
)


class Adam:
    def __init__(self, rate=0.1, beta1=0.9, beta2=0.999):
        self.rate, self.beta1, self.beta2 = rate, beta1, beta2
        self.m, self.v, self.t = {}, {}, 0

    def step(self, params, grads):
        self.t += 1
        for name, g in grads.items():
            m = self.m.get(name, 0.0)
            v = self.v.get(name, 0.0)
            self.m[name] = self.beta1 * m + (1 - self.beta1) * g
            self.v[name] = self.beta2 * v + (1 - self.beta2) * g * g
            m_hat = self.m[name] / (1 - self.beta1**self.t)
            v_hat = self.v[name] / (1 - self.beta2**self.t)
            params[name] -= self.rate * m_hat / (math.sqrt(v_hat) + 1e-8)


def adam_on_rosenbrock(x, y, rate):
    params = {"x": x, "y": y}
    optimiser = Adam(rate)
    for _ in range(3):
        a, b = params["x"], params["y"]
        optimiser.step(params, {"x": -2 * (1 - a) - 40 * a * (b - a * a), "y": 20 * (b - a * a)})
    return (1 - params["x"]) ** 2 + 10 * (params["y"] - params["x"] ** 2) ** 2


add(adam_on_rosenbrock, (-0.5, 0.8, 0.05), rel=1e-10)


class Value:
    """A number that records where it came from."""

    def __init__(self, data, parents=(), backward=None):
        self.data = data
        self.grad = 0.0
        self.parents = parents
        self.backward = backward

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data + other.data, (self, other))

        def backward():
            self.grad += out.grad
            other.grad += out.grad

        out.backward = backward
        return out

    def __mul__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        out = Value(self.data * other.data, (self, other))

        def backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.backward = backward
        return out

    __radd__, __rmul__ = __add__, __mul__

    def tanh(self):
        t = math.tanh(self.data)
        out = Value(t, (self,))

        def backward():
            self.grad += (1 - t * t) * out.grad

        out.backward = backward
        return out

    def run_backward(self):
        order, seen = [], set()

        def visit(node):
            if id(node) not in seen:
                seen.add(id(node))
                for parent in node.parents:
                    visit(parent)
                order.append(node)

        visit(self)
        self.grad = 1.0
        for node in reversed(order):
            if node.backward is not None:
                node.backward()


def gradient_penalty(x, y, w):
    a, b = Value(x), Value(y)
    out = (a * b + w * a).tanh() + a * a * 0.5
    out.run_backward()
    return out.data + a.grad**2 + b.grad**2


add(gradient_penalty, (0.5, -1.2, 0.8), note="reverse mode inside the program")


class LongShortTermMemory:
    def __init__(self, weights, size):
        self.weights = weights
        self.h = [0.0] * size
        self.c = [0.0] * size

    @staticmethod
    def sigmoid(x):
        return 1 / (1 + math.exp(-x))

    def gate(self, name, x, k):
        wx, wh, bias = self.weights[name]
        return wx * x + sum(wh * h for h in self.h) + bias * (k + 1)

    def __call__(self, x):
        h = []
        for k in range(len(self.h)):
            forget = self.sigmoid(self.gate("forget", x, k))
            keep = self.sigmoid(self.gate("input", x, k))
            show = self.sigmoid(self.gate("output", x, k))
            self.c[k] = forget * self.c[k] + keep * math.tanh(self.gate("cell", x, k))
            h.append(show * math.tanh(self.c[k]))
        self.h = h
        return h


def lstm_over_series(weights, series):
    cell = LongShortTermMemory(weights, 2)
    loss = 0.0
    for x, target in zip(series, series[1:]):
        prediction = sum(cell(x))
        loss += (prediction - target) ** 2
    return loss


add(
    lstm_over_series,
    (
        {
            "forget": (0.5, -0.2, 0.1),
            "input": (0.3, 0.4, -0.1),
            "output": (-0.6, 0.2, 0.3),
            "cell": (0.9, -0.5, 0.05),
        },
        [0.2, 0.7, -0.4, 0.9],
    ),
)


# Arithmetic of one's own


class Vector:
    def __init__(self, *items):
        self.items = list(items)

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.items, other.items)))

    def __sub__(self, other):
        return self + -1.0 * other

    def __neg__(self):
        return -1.0 * self

    def __rmul__(self, factor):
        return Vector(*(factor * a for a in self.items))

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.items, other.items))

    def __abs__(self):
        return math.sqrt(self @ self)

    def __iadd__(self, other):
        for k in range(len(self.items)):
            self.items[k] += other.items[k]
        return self

    def __getitem__(self, k):
        return self.items[k]

    def cross(self, other):
        a, b, c = self.items
        x, y, z = other.items
        return Vector(b * z - c * y, c * x - a * z, a * y - b * x)


def torque_on_dipoles(m, field_strength):
    moment = Vector(*m)
    B = Vector(0.0, 0.3, field_strength)
    total = Vector(0.0, 0.0, 0.0)
    alias = total
    for _ in range(3):
        turn = moment.cross(B)
        total += turn
        moment = moment + 0.1 * turn - 0.02 * moment.cross(turn)
        moment = (1 / abs(moment)) * moment
    return abs(alias) + moment @ B - (-moment)[0]


add(torque_on_dipoles, ([0.6, 0.0, 0.8], 0.9))


@dataclass(frozen=True)
class Quaternion:
    w: float
    x: float
    y: float
    z: float

    def __mul__(self, o):
        return Quaternion(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )

    def conjugate(self):
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    @classmethod
    def turn(cls, axis, angle):
        s = math.sin(angle / 2) / math.sqrt(sum(a * a for a in axis))
        return cls(math.cos(angle / 2), *(s * a for a in axis))

    def rotate(self, v):
        r = self * Quaternion(0.0, *v) * self.conjugate()
        return r.x, r.y, r.z


def attitude(axis, rates, v):
    q = Quaternion(1.0, 0.0, 0.0, 0.0)
    for rate in rates:
        q = q * Quaternion.turn(axis, 0.1 * rate)
        axis = q.rotate(axis)
    x, y, z = q.rotate(v)
    return x * y + z


add(attitude, ((0.3, 0.5, 1.0), [1.0, -2.0, 3.5], (1.0, 0.2, -0.4)))


class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    @property
    def T(self):
        return Matrix(zip(*self.rows))

    def __getitem__(self, key):
        i, j = key
        return self.rows[i][j]

    def __setitem__(self, key, value):
        i, j = key
        self.rows[i][j] = value

    def __matmul__(self, other):
        n, m = self.shape
        out = Matrix([[0.0] * other.shape[1] for _ in range(n)])
        for i in range(n):
            for j in range(other.shape[1]):
                for k in range(m):
                    out[i, j] += self[i, k] * other[k, j]
        return out

    def __mul__(self, factor):
        return Matrix([[factor * item for item in row] for row in self.rows])

    def __pow__(self, n):
        result = self
        for _ in range(n - 1):
            result = result @ self
        return result

    def trace(self):
        return sum(self[i, i] for i in range(self.shape[0]))


def matrix_class(rows, factor):
    A = Matrix(rows)
    A[0, 1] *= factor
    B = (A @ A.T) * 0.5
    B[1, 1] = B[0, 0] - A[1, 0]
    return (B**3).trace()


add(matrix_class, ([[0.5, -1.0], [0.8, 0.3]], 1.2))


class Complex:
    __slots__ = ("im", "re")

    def __init__(self, re, im=0.0):
        self.re, self.im = re, im

    def __add__(self, other):
        return Complex(self.re + other.re, self.im + other.im)

    def __mul__(self, other):
        re = self.re * other.re - self.im * other.im
        return Complex(re, self.re * other.im + self.im * other.re)

    def __abs__(self):
        return math.hypot(self.re, self.im)

    def __lt__(self, other):
        return abs(self) < abs(other)


def escape_time(re, im):
    c, z = Complex(re, im), Complex(0.0)
    n = 0
    while abs(z) < 2.0 and n < 20:
        z = z * z + c
        n += 1
    return n + 1 - math.log2(math.log(abs(z))) if c < z else abs(z)


add(escape_time, (0.4, 0.5), (-0.6, 0.1))


class Dual:
    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other):
        ratio = self.value / other.value
        return Dual(ratio, (self.slope - ratio * other.slope) / other.value)


def newton_with_dual_numbers(a, b):
    x = 1.0
    for _ in range(4):
        t = Dual(x, 1.0)
        f = t * t * t + (-a) * t + (-b) * (t / (t + 1.0))
        x -= f.value / f.slope
    return x


add(newton_with_dual_numbers, (1.3, 0.7))


# What Python's classes can do


class Settings:
    """Unknown names fall back to a parent, then to 1."""

    def __init__(self, parent=None, **values):
        self.__dict__.update(values)
        self.parent = parent

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        parent = self.__dict__["parent"]
        return 1.0 if parent is None else getattr(parent, name)


def layered_settings(rate, scale):
    base = Settings(rate=rate, shift=0.3)
    own = Settings(parent=base, scale=scale)
    own.rate = own.rate * own.scale
    base.shift *= 2
    return own.rate + own.shift * own.gain + base.rate * own.gain


add(layered_settings, (0.7, 1.5))


class Circle:
    def __init__(self, radius):
        self.radius = radius

    @cached_property
    def area(self):
        self.asked = getattr(self, "asked", 0) + 1
        return math.pi * self.radius**2

    def __eq__(self, other):
        return self.radius == other.radius

    __hash__ = None

    def __contains__(self, point):
        return math.hypot(*point) < self.radius


def cached_area(radius):
    circle, other = Circle(radius), Circle(radius * 2)
    total = circle.area + circle.area
    circle.radius *= 3
    total += circle.area * circle.asked
    if circle == other or (0.5, 0.5) in circle:
        total += circle.radius
    return total + other.area


add(cached_area, (1.2,), note="the area is remembered when the radius changes")


class Pipeline:
    def __init__(self):
        self.steps = []

    def then(self, step, *args):
        self.steps.append((step, args))
        return self

    def scale(self, factor):
        return self.then(lambda x, f: x * f, factor)

    def clip(self, low, high):
        return self.then(lambda x: min(max(x, low), high))

    def __call__(self, xs):
        out = []
        for x in xs:
            for step, args in self.steps:
                x = step(x, *args)
            out.append(x)
        return out


def fluent_pipeline(xs, factor):
    pipeline = Pipeline().scale(factor).then(math.sin).clip(-0.5, 0.9).then(pow, 2)
    return sum(pipeline(xs))


add(fluent_pipeline, ([0.3, 1.2, -0.8, 0.6], 1.5))


class Tree:
    def __init__(self, value):
        self.value, self.left, self.right = value, None, None

    def insert(self, value):
        side = "left" if value < self.value else "right"
        child = getattr(self, side)
        if child is None:
            setattr(self, side, Tree(value))
        else:
            child.insert(value)

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.value
        if self.right is not None:
            yield from self.right

    def depth(self):
        return 1 + max(side.depth() if side else 0 for side in (self.left, self.right))


def sorted_by_tree(xs):
    root = Tree(xs[0])
    for x in xs[1:]:
        root.insert(x)
    return sum(k * x * x for k, x in enumerate(root)) * root.depth()


add(sorted_by_tree, ([0.5, -1.2, 2.0, 0.9, -0.3],))


class Node:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


def linked_list(xs, factor):
    head = None
    for x in xs:
        head = Node(x, head)
    node = head
    while node is not None:
        node.value *= factor
        if node.following is not None:
            node.following.value += node.value
        node = node.following
    previous, node = None, head
    while node:  # reversed in place
        node.following, previous, node = previous, node, node.following
    total, weight = 0.0, 1.0
    while previous:
        total += weight * previous.value
        weight *= 0.5
        previous = previous.following
    return total


add(linked_list, ([0.5, -1.2, 2.0], 1.1))


class Gauge:
    """A descriptor that keeps what it is given within bounds."""

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, owner, kind=None):
        return getattr(owner, self.name)

    def __set__(self, owner, value):
        setattr(owner, self.name, min(max(value, self.low), self.high))


class Boiler:
    pressure = Gauge(0.0, 2.0)
    heat = Gauge(-1.0, 1.0)

    def __init__(self, pressure):
        self.pressure = pressure
        self.heat = 0.0


def bounded_boiler(pressure, gain):
    boiler = Boiler(pressure)
    for target in (1.5, 3.0, 0.4):
        boiler.heat += gain * (target - boiler.pressure)
        boiler.pressure += 0.5 * boiler.heat
    return boiler.pressure**2 + boiler.heat


add(bounded_boiler, (0.8, 0.6))


class Shape:
    def area(self):
        return 0.0

    def describe(self):
        return self.area() * self.weight()


class Weighted:
    density = 2.0

    def weight(self):
        return self.density


class Round(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2


class Plate(Round, Weighted):
    def area(self):
        return super().area() + self.r

    def weight(self):
        return super().weight() * self.r


class Ring(Plate):
    def __init__(self, r, hole):
        super().__init__(r)
        self.hole = hole
        self.density = 1.5

    def area(self):
        return super().area() - math.pi * self.hole**2


def several_bases(r, hole):
    shapes = [Plate(r), Ring(r, hole)]
    Plate.density = 2.0
    shapes[0].density = r * 3
    return sum(shape.describe() for shape in shapes)


add(several_bases, (1.2, 0.5))


@dataclass
class Log:
    scale: float
    entries: list = field(default_factory=list)
    total: float = field(default=0.0, init=False)

    def __post_init__(self):
        self.scale = self.scale**2

    def write(self, x):
        self.entries.append(self.scale * x)
        self.total += self.entries[-1]


def dataclass_with_defaults(x, scale):
    first, second = Log(scale), Log(2 * scale, [x])
    for k in range(3):
        first.write(x**k)
        second.write(first.total)
    return first.total * second.total + len(second.entries) + second.entries[0]


add(dataclass_with_defaults, (0.7, 1.1))


def copied_objects(x, v):
    original = Particle([x, 2 * x], v)
    shallow, deep = copy.copy(original), copy.deepcopy(original)
    original.x[0] *= 3
    original.v += 1
    shallow.x.append(v)
    deep.x[1] -= v
    return sum(original.x) * original.v + sum(shallow.x) * shallow.v + sum(deep.x) * deep.v


add(copied_objects, (0.7, 1.2), note="a shallow copy shares its list")


def tied_weights(w, x):
    shared = Parameter(w.copy())
    encoder, decoder = Dense(w, x[0]), Dense(w, x[0])
    encoder.W = decoder.W = shared
    code = np.tanh(x @ encoder.W.value)
    shared.value *= 0.5
    back = code @ decoder.W.value.T
    decoder.W.value[0, 0] += 1.0
    return np.sum((back - x) ** 2) + encoder.W.value[0, 0]


add(tied_weights, (np.array([[0.3, -0.5], [0.8, 0.2]]), X))


class Countdown:
    def __init__(self, start, factor):
        self.left, self.value, self.factor = start, 1.0, factor

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.value *= self.factor
        return self.value


def user_iterator(factor):
    steps = Countdown(4, factor)
    first = next(steps)
    total = 0.0
    for value in steps:
        total += value * steps.left
    return total + first + steps.value


add(user_iterator, (1.3,))


class Channel:
    def __init__(self):
        self.listeners = []

    def listen(self, callback):
        self.listeners.append(callback)

    def send(self, value):
        for callback in self.listeners:
            callback(value)


def observers(x, gain):
    seen, totals = [], {"sum": 0.0}
    channel = Channel()
    channel.listen(seen.append)
    channel.listen(lambda v: totals.update(sum=totals["sum"] + gain * v))
    for k in range(3):
        channel.send(x**k)
    return totals["sum"] * seen[-1] + len(seen)


add(observers, (0.7, 1.5))


class Spline:
    """Natural cubic spline: moments by elimination in the constructor."""

    def __init__(self, x, y):
        self.x, self.y = x, y
        n = len(x)
        self.m = np.zeros(n)
        h = np.diff(x)
        c, d = np.zeros(n), np.zeros(n)
        for i in range(1, n - 1):
            right = 6 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
            pivot = 2 * (h[i - 1] + h[i]) - h[i - 1] * c[i - 1]
            c[i] = h[i] / pivot
            d[i] = (right - h[i - 1] * d[i - 1]) / pivot
        for i in range(n - 2, 0, -1):
            self.m[i] = d[i] - c[i] * self.m[i + 1]

    def __call__(self, t):
        i = int(np.searchsorted(self.x, t)) - 1
        i = min(max(i, 0), len(self.x) - 2)
        h = self.x[i + 1] - self.x[i]
        a, b = (self.x[i + 1] - t) / h, (t - self.x[i]) / h
        bend = (a**3 - a) * self.m[i] + (b**3 - b) * self.m[i + 1]
        return a * self.y[i] + b * self.y[i + 1] + bend * h**2 / 6


def spline_length(x, y):
    spline = Spline(x, y)
    points = [spline(t) for t in (0.2, 0.9, 1.7, 2.6)]
    return sum((b - a) ** 2 for a, b in zip(points, points[1:]))


add(spline_length, (np.array([0.0, 0.8, 1.5, 3.0]), np.array([1.0, -0.3, 0.6, 0.9])))


def objects_as_arguments(particle, body):
    particle.v *= body.mass
    body.position[0] += particle.x
    particle.drift(0.5)
    return particle.kinetic + body.position[0] * body.velocity[1] + particle.x


add(
    objects_as_arguments,
    (Particle(0.5, 1.2, 2.0), Body(0.7, [1.0, -0.4], [0.3, 0.8])),
    note="plain and slotted objects are changed",
)


def swap_objects(a, b):
    p, q = Particle(a, b), Particle(b, a * b)
    p, q = q, p
    p.x, q.x = q.x, p.x
    holders = [p, q, p]
    holders[0].mass += holders[1].v
    holders[2].mass *= 2
    del holders[0]
    p.v, holders[0].v = holders[0].v, 3.0
    return p.x * p.mass + q.kinetic + p.kinetic


add(swap_objects, (0.5, 1.2))


class Chamber:
    def __init__(self, level):
        self.level = level
        self.next = self.previous = None

    def exchange(self, rate):
        for other in (self.next, self.previous):
            flow = rate * (self.level - other.level)
            self.level -= flow
            other.level += flow


def ring_of_chambers(level, rate, n):
    """Objects that refer to each other, changed by each other in loops within loops."""
    chambers = [Chamber(level), Chamber(0.5), Chamber(level**2)]
    for a, b in zip(chambers, chambers[1:] + chambers[:1]):
        a.next, b.previous = b, a
    for _ in range(n):
        for chamber in chambers:
            chamber.exchange(rate)
    return sum((k + 1) * chamber.level**2 for k, chamber in enumerate(chambers))


add(ring_of_chambers, (1.7, 0.1, 3), wrt=(0, 1))


class Ramp:
    """Walked over by `__getitem__` alone, as Python does since before it had iterators."""

    def __init__(self, slope, n):
        self.slope, self.n = slope, n

    def __len__(self):
        return self.n

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if k < 0:
            k += self.n
        if not 0 <= k < self.n:
            raise IndexError(k)
        return self.slope * k


def sequence_protocol(slope):
    ramp = Ramp(slope, 5)
    total = sum(v * v for v in ramp) + ramp[-1] * sum(ramp[1:4]) + sum(ramp[::-2])
    if slope * 2 in ramp:
        total *= 2
    first, *others = ramp
    for k, (u, v) in enumerate(zip(ramp, reversed(ramp))):
        total += k * u * v
    return total + first + max(others) * sorted(ramp)[1]


add(sequence_protocol, (0.7,))


class Horner(UserList):
    def __call__(self, x):
        total = 0.0
        for coefficient in reversed(self):
            total = total * x + coefficient
        return total


class Lowered(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)


def containers_of_the_library(x, coefficients):
    polynomial = Horner(coefficients)
    polynomial.append(x)
    d = Lowered()
    d["A"] = polynomial(x)
    d["b"] = x**2
    d["a"] += 1
    return d["a"] * d["b"] + len(d) + sum(d.values()) * polynomial[0]


add(containers_of_the_library, (0.8, [1.0, 2.0]))
