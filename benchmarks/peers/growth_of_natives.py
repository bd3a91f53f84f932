"""How the time of native gradients grows with the size: the slope over logarithms, 1 for linear growth."""

import importlib
import math
import sys
import time
from functools import partial
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

import wengert as wg

GRADBENCH = Path(__file__).resolve().parent.parent / "gradbench"


def measured(quick: bool) -> dict[str, Any]:
    """By program: its sizes, the seconds of its gradient, the slope."""
    sys.path.insert(0, str(GRADBENCH))
    from problems import lorenz

    rows = importlib.import_module("measure")
    gradient = wg.jit(wg.grad(lorenz, tuple(range(6))))
    factor = 1 if quick else 8

    def evaluation(row: Any) -> Any:
        derivative = rows.functions_of(row.module)[row.derivative]
        return partial(derivative.compute, *derivative.read(row.given))

    programs = {
        "ode, n": lambda n: evaluation(rows.ode(n, 10)),
        "gmm 2_5, points": lambda n: evaluation(rows.gmm(2, 5, n)),
        "lstm l=2, characters": lambda n: evaluation(rows.lstm(2, n, 14)),
        "Lorenz, steps": lambda n: partial(gradient, 1.0, 1.0, 1.0, 10.0, 28.0, 8 / 3, n),
    }
    return {name: of_program(make, factor * 256, quick) for name, make in programs.items()}


def of_program(make: Any, start: int, quick: bool) -> dict[str, Any]:
    sizes = [start * 2**k for k in range(2 if quick else 5)]
    calls = [make(size) for size in sizes]
    samples: list[list[float]] = [[] for _ in sizes]
    for _ in range(1 if quick else 15):
        for call, found in zip(calls, samples, strict=True):
            found.append(sample(call))
    seconds = [median(found) for found in samples]
    slope = linear_regression([*map(math.log, sizes)], [*map(math.log, seconds)]).slope
    return {"sizes": sizes, "seconds": seconds, "slope": slope}


def sample(call: Any) -> float:
    """Seconds of processor time, after a call that warms the caches."""
    call()
    start, count = time.thread_time(), 0
    while (taken := time.thread_time() - start) < 0.005:
        call()
        count += 1
    return taken / count


def table(found: dict[str, Any]) -> list[str]:
    lines = ["| program | sizes | seconds | slope |", "|---|---|---|---|"]
    for name, row in found.items():
        sizes = f"{row['sizes'][0]} … {row['sizes'][-1]}"
        seconds = f"{row['seconds'][0]:.2g} … {row['seconds'][-1]:.2g}"
        lines.append(f"| {name} | {sizes} | {seconds} | {row['slope']:.3f} |")
    return lines
