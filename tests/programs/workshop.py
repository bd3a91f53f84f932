"""Longer programs, in the manner of several authors: nets of objects, closures over closures, Fortran in Python."""

import abc
import cmath
import contextlib
import enum
import functools
import heapq
import itertools
import logging
import math
import operator
import typing
from collections import defaultdict
from functools import reduce, wraps

import numpy as np

from .registry import add

LOG = logging.getLogger(__name__)

NX, NY = 4, 4


def ising(BETA, H):
    SPIN = np.ones((NX + 2, NY + 2))
    M = np.zeros((NX + 2, NY + 2))
    for I in range(1, NX + 1):
        for J in range(1, NY + 1):
            M[I, J] = 0.1 * ((-1) ** (I + J)) + 0.05 * I
    ERR, ITER = 1.0, 0
    while ERR > 1e-9 and ITER < 60:
        M[0, :] = M[NX, :]
        M[NX + 1, :] = M[1, :]
        M[:, 0] = M[:, NY]
        M[:, NY + 1] = M[:, 1]
        ERR = 0.0
        for I in range(1, NX + 1):
            for J in range(1, NY + 1):
                FIELD = H + (M[I - 1, J] + M[I + 1, J] + M[I, J - 1] + M[I, J + 1])
                NEW = np.tanh(BETA * FIELD)
                D = abs(NEW - M[I, J])
                if D > ERR:
                    ERR = D
                M[I, J] = 0.5 * M[I, J] + 0.5 * NEW
        ITER += 1
    E = 0.0
    for I in range(1, NX + 1):
        for J in range(1, NY + 1):
            E -= M[I, J] * (M[I + 1, J] * SPIN[I + 1, J] + M[I, J + 1]) + H * M[I, J]
    return E / (NX * NY)


add(
    ising,
    (
        0.2,
        0.3,
    ),
)


class EventType(enum.Enum):
    TRADE = "trade"
    DIVIDEND = "dividend"
    FEE = "fee"
    MARK = "mark"


class Event(typing.NamedTuple):
    kind: EventType
    symbol: str
    amount: float
    price: float = 0.0


class Observer(abc.ABC):
    @abc.abstractmethod
    def notify(self, event, book): ...


class CashLedger(Observer):
    def __init__(self, opening):
        self.balance = opening
        self.entries = []

    def notify(self, event, book):
        match event:
            case Event(EventType.TRADE, sym, amount, price):
                self._post(-amount * price, f"buy {sym}")
            case Event(kind=EventType.DIVIDEND, amount=a, symbol=s):
                self._post(a * book.positions.get(s, 0.0), "div")
            case Event(EventType.FEE, _, a, _):
                self._post(-a, "fee")
            case _:
                pass

    def _post(self, amount, text):
        self.balance += amount
        self.entries.append((text, amount))


class RiskMonitor(Observer):
    def __init__(self, decay):
        self.var = defaultdict(float)
        self.last = {}
        self.decay = decay

    def notify(self, event, book):
        if event.kind is EventType.MARK:
            if (prev := self.last.get(event.symbol)) is not None:
                r = math.log(event.price / prev)
                self.var[event.symbol] = (
                    self.decay * self.var[event.symbol] + (1 - self.decay) * r**2
                )
            self.last[event.symbol] = event.price


class Book:
    def __init__(self):
        self.positions = {}
        self._observers = []
        self.marks = {}

    def attach(self, o):
        self._observers.append(o)
        return o

    def publish(self, event):
        if event.kind == EventType.TRADE:
            self.positions[event.symbol] = (
                self.positions.setdefault(event.symbol, 0.0) + event.amount
            )
            self.marks.setdefault(event.symbol, event.price)
        elif event.kind is EventType.MARK:
            self.marks[event.symbol] = event.price
        for o in self._observers:
            o.notify(event, self)
        return self

    @property
    def value(self):
        return sum(q * self.marks[s] for s, q in self.positions.items())


def desk(qty, shock, decay):
    book = Book()
    cash = book.attach(CashLedger(1000.0))
    risk = book.attach(RiskMonitor(decay))
    book.publish(Event(EventType.TRADE, "ABC", qty, 10.0)).publish(
        Event(EventType.TRADE, "XYZ", 2 * qty, 5.0)
    )
    for k in range(5):
        p = 10.0 * math.exp(shock * math.sin(k + 1.0))
        book.publish(Event(EventType.MARK, "ABC", 0.0, p))
        book.publish(Event(EventType.MARK, "XYZ", 0.0, 5.0 + 0.1 * k * shock * p))
        if k % 2:
            book.publish(Event(EventType.DIVIDEND, "ABC", 0.05 * p))
        if p > 10.2:
            book.publish(Event(EventType.FEE, "", 0.001 * book.value))
    vol = {s: math.sqrt(v * 252) for s, v in risk.var.items()}
    LOG.info("vol %s", vol)
    return cash.balance + book.value - 30.0 * sum(vol.values()) + 0.1 * len(cash.entries)


add(
    desk,
    (
        12.0,
        0.2,
        0.9,
    ),
)

compose = lambda *fs: functools.reduce(lambda f, g: lambda *a: f(g(*a)), fs)

curry2 = lambda f: lambda a: lambda b: f(a, b)

cons = lambda a, b: lambda sel: sel(a, b)

car = lambda p: p(lambda a, b: a)

cdr = lambda p: p(lambda a, b: b)


def fold(f, z, lst):
    return z if lst is None else fold(f, f(z, car(lst)), cdr(lst))


def from_list(xs):
    return functools.reduce(lambda acc, x: cons(x, acc), reversed(xs), None)


def lisp(a, b):
    lst = from_list([a, b, a * b, math.sin(a)])
    total = fold(lambda z, x: z + x * x, 0.0, lst)
    mapped = (lambda self: self(self, lst))(
        lambda self, l: None if l is None else cons(math.exp(-car(l)), self(self, cdr(l)))
    )
    prod = fold(operator.mul, 1.0, mapped)
    pipeline = compose(math.sqrt, lambda t: t + 1, abs, curry2(operator.mul)(b))
    return pipeline(total) + prod


add(
    lisp,
    (
        0.7,
        1.2,
    ),
)


def lu(A):
    n = len(A)
    LU = [row[:] for row in A]
    perm = list(range(n))
    sign = 1
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(LU[i][k]))
        if LU[p][k] == 0:
            raise ZeroDivisionError("singular")
        if p != k:
            LU[k], LU[p] = LU[p], LU[k]
            perm[k], perm[p] = perm[p], perm[k]
            sign = -sign
        for i in range(k + 1, n):
            LU[i][k] /= LU[k][k]
            for j in range(k + 1, n):
                LU[i][j] -= LU[i][k] * LU[k][j]
    return LU, perm, sign


def lu_solve(f, b):
    LU, perm, _ = f
    n = len(LU)
    x = [b[p] for p in perm]
    for i in range(n):
        x[i] -= sum(LU[i][j] * x[j] for j in range(i))
    for i in reversed(range(n)):
        x[i] = (x[i] - sum(LU[i][j] * x[j] for j in range(i + 1, n))) / LU[i][i]
    return x


def refined(A, b):
    f = lu(A)
    x = lu_solve(f, b)
    for _ in range(2):
        r = [bi - sum(a * xj for a, xj in zip(row, x)) for row, bi in zip(A, b)]
        x = [xi + di for xi, di in zip(x, lu_solve(f, r))]
    det = functools.reduce(operator.mul, (f[0][i][i] for i in range(len(A))), f[2])
    inv_cols = [lu_solve(f, [float(i == j) for i in range(len(A))]) for j in range(len(A))]
    cond = max(sum(abs(row[j]) for row in A) for j in range(len(A))) * max(
        sum(map(abs, c)) for c in inv_cols
    )
    return sum(x) + 0.1 * math.log(abs(det)) + 0.01 * cond


add(
    refined,
    (
        [[0.1, 2.0, 1.0], [3.0, 0.5, -1.0], [1.0, 1.0, 4.0]],
        [1.0, 2.0, 0.5],
    ),
)


class Biquad:
    def __init__(self, b, a):
        self.b, self.a = b, a
        self.reset()

    def reset(self):
        self.z1 = self.z2 = 0.0

    @classmethod
    def peaking(cls, f0, Q, gain_db, fs=1.0):
        A = 10 ** (gain_db / 40)
        w = 2 * math.pi * f0 / fs
        al = math.sin(w) / (2 * Q)
        return cls(
            (1 + al * A, -2 * math.cos(w), 1 - al * A), (1 + al / A, -2 * math.cos(w), 1 - al / A)
        )

    @classmethod
    def lowpass(cls, f0, Q, fs=1.0):
        w = 2 * math.pi * f0 / fs
        al = math.sin(w) / (2 * Q)
        c = math.cos(w)
        return cls(((1 - c) / 2, 1 - c, (1 - c) / 2), (1 + al, -2 * c, 1 - al))

    def __call__(self, x):
        b0, b1, b2 = (b / self.a[0] for b in self.b)
        _, a1, a2 = (a / self.a[0] for a in self.a)
        y = b0 * x + self.z1
        self.z1 = b1 * x - a1 * y + self.z2
        self.z2 = b2 * x - a2 * y
        return y

    def response(self, w):
        z = cmath.exp(-1j * w)
        return (self.b[0] + self.b[1] * z + self.b[2] * z**2) / (
            self.a[0] + self.a[1] * z + self.a[2] * z**2
        )


class Chain(list):
    def __call__(self, x):
        return reduce(lambda v, f: f(v), self, x)

    def response(self, w):
        return math.prod((f.response(w) for f in self), start=1 + 0j)


def equaliser(f0, Q, gain):
    chain = Chain([Biquad.lowpass(0.3, 0.7), Biquad.peaking(f0, Q, gain)])
    chain.append(Biquad.peaking(2 * f0, Q, -gain / 2))
    y = [chain(math.sin(0.5 * n) + (n == 0)) for n in range(20)]
    mags = [20 * math.log10(abs(chain.response(w))) for w in (0.3, 0.9, 1.7)]
    phase = cmath.phase(chain.response(0.9))
    return sum(v * v for v in y) + 0.1 * sum(mags) + phase


add(
    equaliser,
    (
        0.11,
        1.3,
        4.0,
    ),
)


def memo(f):
    cache = {}

    @wraps(f)
    def inner(n, *rest):
        if n not in cache:
            cache[n] = f(n, *rest)
        return cache[n]

    return inner


def hermite_oscillator(x, w, nmax=4):
    @memo
    def H(n):
        if n == 0:
            return 1.0
        if n == 1:
            return 2 * x
        return 2 * x * H(n - 1) - 2 * (n - 1) * H(n - 2)

    def psi(n):
        return (
            H(n)
            * math.exp(-0.5 * x * x)
            / math.sqrt(2.0**n * math.factorial(n) * math.sqrt(math.pi))
        )

    amps = [w**k / math.factorial(k) for k in range(nmax + 1)]
    z = math.sqrt(sum(a * a for a in amps))
    return sum(a / z * psi(k) for k, a in enumerate(amps)) ** 2


add(
    hermite_oscillator,
    (
        0.6,
        0.8,
    ),
)


def pagerank(weights, damping):
    edges = (("a", "b"), ("a", "c"), ("b", "c"), ("c", "a"), ("d", "c"), ("d", "a"))
    out, inc = defaultdict(float), defaultdict(list)
    for (u, v), w in zip(edges, weights):
        out[u] += w
        inc[v].append((u, w))
    nodes = sorted({n for e in edges for n in e})
    rank = dict.fromkeys(nodes, 1 / len(nodes))
    for it in itertools.count():
        sink = sum(rank[n] for n in nodes if n not in out)
        new = {
            n: (1 - damping) / len(nodes)
            + damping * (sink / len(nodes) + sum(rank[u] * w / out[u] for u, w in inc.get(n, ())))
            for n in nodes
        }
        delta = sum(abs(new[n] - rank[n]) for n in nodes)
        rank = new
        if delta < 1e-9 or it > 100:
            break
    return sum((k + 1) * math.log(rank[n]) for k, n in enumerate(nodes))


add(
    pagerank,
    (
        [1.0, 0.5, 0.7, 1.2, 0.3, 0.9],
        0.85,
    ),
)


class Config:
    def __init__(self, **kw):
        self.__dict__["_data"] = dict(kw)

    def __getattr__(self, name):
        try:
            return self._data[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        self._data[name] = value

    def updated(self, **kw):
        return Config(**{**self._data, **kw})


SETTINGS = {"order": 2, "verbose": False}


@contextlib.contextmanager
def settings(**kw):
    old = {k: SETTINGS[k] for k in kw}
    SETTINGS.update(kw)
    try:
        yield SETTINGS
    finally:
        SETTINGS.update(old)


def derivative_fd(f, x, h):
    if SETTINGS["order"] == 2:
        return (f(x + h) - f(x - h)) / (2 * h)
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def configured(a, b):
    cfg = Config(rate=a, gain=b, h=0.1)
    cfg.rate = cfg.rate * 2
    f = lambda t: math.sin(cfg.rate * t) * cfg.gain
    lo = derivative_fd(f, 0.3, cfg.h)
    with settings(order=4) as s:
        hi = derivative_fd(f, 0.3, cfg.h)
        LOG.debug("order %d: %g", s["order"], hi)
    c2 = cfg.updated(gain=1.0)
    return hi + (hi - lo) * 3 + c2.rate * c2.gain + getattr(c2, "missing", 0.5) * a


add(
    configured,
    (
        0.7,
        1.4,
    ),
)


class Env:
    def __init__(self):
        self.now, self._q, self._n = 0.0, [], 0

    def schedule(self, delay, proc):
        self._n += 1
        heapq.heappush(self._q, (self.now + delay, self._n, proc))

    def process(self, gen):
        self.schedule(0.0, gen)

    def run(self, until):
        while self._q and self._q[0][0] <= until:
            self.now, _, proc = heapq.heappop(self._q)
            try:
                delay = next(proc)
            except StopIteration:
                continue
            self.schedule(delay, proc)


def machine_proc(env, log, name, work, rest):
    k = 0
    while True:
        yield work * (1 + 0.1 * k)
        log.append((name, env.now))
        k += 1
        yield rest


def shop(work, rest):
    env, log = Env(), []
    env.process(machine_proc(env, log, "A", work, rest))
    env.process(machine_proc(env, log, "B", 1.7 * work, 0.5 * rest))
    env.run(6.0)
    by = defaultdict(list)
    for n, t in log:
        by[n].append(t)
    return sum(t * t for n, t in log) + sum(ts[-1] - ts[0] for ts in by.values()) + len(log)


add(
    shop,
    (
        1.1,
        0.4,
    ),
)
