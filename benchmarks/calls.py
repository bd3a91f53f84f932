"""What a call of a derivative costs around its own arithmetic: `python benchmarks/calls.py`.

Each row is ordinary use that once took long in guards, in taking arguments apart, or in deriving anew. The function
itself is the 1 of a ratio, or what the row names. Medians of interleaved rounds, in processor time; a few calls come
first.
"""

import argparse
import math
import random
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, cycle
from statistics import median
from time import process_time
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from machine import machine_line

import wengert as wg

Row = tuple[str, Callable[[], Any], Callable[[], Any]]
"""What is measured, and what it is measured beside."""


# --- much is held, little is read -------------------------------------------------------------


class Record:
    def __init__(self, k):  # type: ignore[no-untyped-def]
        self.name, self.mass, self.tags = f"record {k}", 1.0 + k, ["a", "b", k]


class Library:
    def __init__(self, size):  # type: ignore[no-untyped-def]
        self.rate, self.records = 0.5, [Record(k) for k in range(size)]


LIBRARY = Library(1_000)
TABLES = ModuleType("tables")
TABLES.__dict__.update(A=[0.1 * k for k in range(40)], B=[[0.2 * k, 0.3] for k in range(40)])


def by_global(x):  # type: ignore[no-untyped-def]
    return LIBRARY.rate * x * x


def by_captured(library):  # type: ignore[no-untyped-def]
    return lambda x: library.rate * x * x


def by_row(rows):  # type: ignore[no-untyped-def]
    return lambda x: rows[3][0] * x * x + rows[3][1]


def by_table(x):  # type: ignore[no-untyped-def]
    return TABLES.A[3] * x * x + TABLES.B[5][1] * x


def of_record(x, record):  # type: ignore[no-untyped-def]
    return x * x * record["dose"] + record["weight"]


# --- what is new in every call ----------------------------------------------------------------


def drawn(x, rng):  # type: ignore[no-untyped-def]
    return x * x * rng.normal()


def logged(x, log=[]):  # type: ignore[no-untyped-def]  # noqa: B006
    log.append(1)
    return x * x * 0.5


MODE = "linear"


def in_mode(x, mode="linear"):  # type: ignore[no-untyped-def]
    global MODE  # noqa: PLW0603
    MODE = mode.lower()
    return 2.0 * x if MODE == "linear" else x * x


# --- programs that are read for one run, and those that are refused ----------------------------


def in_context(x, steps):  # type: ignore[no-untyped-def]
    total, k = 0.0, 0
    with np.errstate(all="ignore"):
        while k < steps:
            total, k = total + math.sin(x) * k, k + 1
    return total


def with_try(x, table):  # type: ignore[no-untyped-def]
    try:
        rate = table["rate"]
    except KeyError:
        rate = 1.0
    return rate * x * x


def memoised(x):  # type: ignore[no-untyped-def]
    known = {}  # type: ignore[var-annotated]

    def cost(i, j):  # type: ignore[no-untyped-def]
        if i < 0 or j < 0:
            return 0.0
        if (i, j) not in known:
            known[i, j] = math.sin(x * (i + 1) - j) + min(cost(i - 1, j), cost(i, j - 1))
        return known[i, j]

    return cost(5, 5)


def refused(x):  # type: ignore[no-untyped-def]
    return float(str(x)) * eval("x")  # noqa: S307


GENERATOR = random.Random(0)  # noqa: S311


def without_native_form(x):  # type: ignore[no-untyped-def]
    return x * x * (1.0 + 0.0 * GENERATOR.random())


# --- parameters with names, and classes ---------------------------------------------------------


@dataclass
class Parameters:
    a: float
    b: float
    w: np.ndarray


def of_parameters(p):  # type: ignore[no-untyped-def]
    return p.a * (p.w * p.w).sum() + p.b


def of_vector(v):  # type: ignore[no-untyped-def]
    return v[0] * (v[2:] * v[2:]).sum() + v[1]


class Reaction:
    def __init__(self, rate, used, made):  # type: ignore[no-untyped-def]
        self.rate, self.used, self.made = rate, used, made

    def speed(self, state):  # type: ignore[no-untyped-def]
        speed = self.rate
        for name in self.used:
            speed = speed * state[name]
        return speed


class Network:
    def __init__(self, reactions):  # type: ignore[no-untyped-def]
        self.reactions = reactions

    def step(self, state, dt):  # type: ignore[no-untyped-def]
        change = dict.fromkeys(state, 0.0)
        for reaction in self.reactions:
            speed = reaction.speed(state)
            for name in reaction.used:
                change[name] -= speed
            for name in reaction.made:
                change[name] += speed
        return {name: state[name] + dt * change[name] for name in state}


def of_network(k):  # type: ignore[no-untyped-def]
    network = Network([Reaction(k, ["A"], ["B"]), Reaction(0.5, ["B", "C"], ["A", "C"])])
    state = {"A": 1.0, "B": 0.5, "C": 0.2}
    for _ in range(20):
        state = network.step(state, 0.01)
    return state["B"]


# --- structure that is known --------------------------------------------------------------------


def zeros_of_shape(x):  # type: ignore[no-untyped-def]
    y = np.zeros(x.shape)
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    return y.sum()


def zeros_like(x):  # type: ignore[no-untyped-def]
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i] * x[i]
    return y.sum()


def zipped(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for weight, item in zip([0.1, 0.2, 0.3, 0.4], x):  # noqa: B905
        total += weight * item * item
    return total


class Named:
    def __init__(self):  # type: ignore[no-untyped-def]
        self.names = ["a", "b", "c"]

    def cost(self, params):  # type: ignore[no-untyped-def]
        p = dict(zip(self.names, params))  # noqa: B905
        return p["a"] * p["b"] + p["c"] * p["c"]


# --- the rows -------------------------------------------------------------------------------------


def rows() -> Iterator[Row]:
    x, w = 0.7, np.linspace(0.1, 1.0, 6)

    def beside(name: str, f: Callable[..., Any], *args: Any) -> Row:
        gradient = wg.grad(f)
        return name, lambda: gradient(*args), lambda: f(*args)

    yield beside("a global object that holds 1,000 records", by_global, x)
    yield beside("a captured object that holds them", by_captured(LIBRARY), x)
    table = [(0.1 * k, 0.2) for k in range(2_000)]
    yield beside("a captured list of 2,000 rows, one read", by_row(table), x)
    yield beside(
        "the same in 2,000 dictionaries", by_row([{0: 0.1, 1: k} for k in range(2_000)]), x
    )
    yield beside("lists of a module, read by index", by_table, x)
    quick = wg.jit(wg.grad(by_table))
    yield "… under `jit`", lambda: quick(x), lambda: by_table(x)

    patients = [{"name": f"patient {k}", "dose": 0.1 * k, "weight": 70.0} for k in range(1_000)]
    yield varied("a text per record that nobody looks at", of_record, x, cycle(patients))
    yield varied("a new `default_rng(k)`", drawn, x, map(np.random.default_rng, count()))
    yield beside("a default that grows", logged, x)
    yield beside("a text setting that the call writes back", in_mode, x)

    yield beside("`with` in a loop that is read", in_context, x, 10)
    yield beside("`try` around an item", with_try, x, {"rate": 2.0})
    yield beside("memoised recursion", memoised, x)

    p = Parameters(0.5, 2.0, w)
    v = np.array([0.5, 2.0, *w])
    yield beside("a dataclass of parameters", of_parameters, p)
    of_p, of_v = wg.jit(wg.grad(of_parameters)), wg.jit(wg.grad(of_vector))
    yield "… under `jit`, beside a flat vector", lambda: of_p(p), lambda: of_v(v)
    plain, jitted = wg.grad(without_native_form), wg.jit(wg.grad(without_native_form))
    yield "a `jit` that falls back, beside no `jit`", lambda: jitted(x), lambda: plain(x)
    yield beside("a reaction network of classes", of_network, 0.3)

    shaped, like = wg.grad(zeros_of_shape), wg.grad(zeros_like)
    yield "`np.zeros(x.shape)`, beside `np.zeros_like(x)`", lambda: shaped(w), lambda: like(w)
    yield beside("`zip(constants, array)`", zipped, w[:4])
    yield beside("`dict(zip(self.names, params))`", Named().cost, w[:3])
    yield "a refusal", refusal(wg.grad(refused, tier="static"), x), lambda: refused(x)


def varied(name: str, f: Callable[..., Any], x: float, others: Any) -> Row:
    """The gradient of a function of x and another argument, which is new in every call."""
    gradient, left = wg.grad(f), iter(others)

    def fresh() -> Any:
        return next(left)

    return name, lambda: gradient(x, fresh()), lambda: f(x, fresh())


def refusal(gradient: Callable[..., Any], x: float) -> Callable[[], Any]:
    def asked() -> None:
        try:
            gradient(x)
        except wg.WengertError:
            return

    return asked


def main() -> None:
    options = parse_options()
    warnings.simplefilter("ignore")  # where the Python form runs
    print(f"{machine_line('wengert', 'numpy')}\n")
    print(f"Medians of {options.rounds} interleaved rounds; the first call apart.\n")
    print("| | gradient | beside | ratio |\n|---|---:|---:|---:|", flush=True)
    for name, gradient, other in rows():
        if options.only not in name:
            continue
        for _ in range(4):
            gradient(), other()
        taken = [(a_call(gradient, options), a_call(other, options)) for _ in range(options.rounds)]
        ours, theirs = (median(column) for column in zip(*taken, strict=True))
        print(f"| {name} | {shown(ours)} | {shown(theirs)} | {ours / theirs:,.1f} |", flush=True)


def parse_options() -> SimpleNamespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sample", type=float, default=0.002, help="seconds of a sample")
    parser.add_argument("--only", default="", help="rows whose name holds this")
    parser.add_argument("--quick", action="store_true", help="a smoke test")
    options = SimpleNamespace(**vars(parser.parse_args()))
    if options.quick:
        options.rounds, options.sample = 1, 0.0
    return options


def a_call(function: Callable[[], Any], options: SimpleNamespace) -> float:
    """Processor seconds a call, of as many calls as fill a sample."""
    calls = 1
    while True:
        start = process_time()
        for _ in range(calls):
            function()
        taken = process_time() - start
        if taken >= options.sample:
            return taken / calls
        calls *= 4


def shown(seconds: float) -> str:
    return f"{seconds * 1e6:,.1f} µs"


if __name__ == "__main__":
    main()
