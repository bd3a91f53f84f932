"""What an operation of a recorded run costs, forward and reverse, beside autograd: `python benchmarks/recorded.py`.

Each row is a program that autograd differentiates as well, given its own NumPy. Medians of interleaved rounds, in
processor time; an operation is one that the program computes with a number that has a derivative.
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import process_time
from types import SimpleNamespace
from typing import Any

import autograd
import autograd.numpy
import numpy as np
from machine import machine_line

import wengert as wg

Program = tuple[str, int, Callable[[Any], Any], Any]
"""Its name, its operations, itself, its argument."""


def programs(xp: Any) -> list[Program]:
    """The programs, by a NumPy of someone's."""

    def arithmetic(x):  # type: ignore[no-untyped-def]
        y = x
        for _ in range(1000):
            y = y * 0.999 + x * x - y / 3.0
        return y

    def whole_numbers(x):  # type: ignore[no-untyped-def]
        y = x
        for _ in range(1000):
            y = 1 - 2 * y / 3 + y**2 / 4
        return y

    def functions(x):  # type: ignore[no-untyped-def]
        y = x
        for _ in range(1000):
            y = xp.sin(y) + xp.exp(-y) * 0.1
        return y

    def items(x):  # type: ignore[no-untyped-def]
        total = 0.0
        for k in range(len(x) - 1):
            total = total + (x[k + 1] - x[k]) * (x[k + 1] - x[k])
        return total

    def small_arrays(x):  # type: ignore[no-untyped-def]
        y = x
        for _ in range(500):
            y = xp.tanh(y) * 0.5 + x
        return xp.sum(y)

    def matrices(x):  # type: ignore[no-untyped-def]
        a = xp.outer(x, x) + xp.eye(len(x))
        y = x
        for _ in range(200):
            y = xp.dot(a, y) / xp.sqrt(xp.sum(y**2))
        return xp.sum(y)

    def lists(x):  # type: ignore[no-untyped-def]
        return xp.sum(xp.array([x * k for k in range(1000)]) ** 2)

    few = np.linspace(0.1, 1.0, 10)
    return [
        ("arithmetic of numbers", 5000, arithmetic, 0.3),
        ("powers and whole numbers", 6000, whole_numbers, 0.3),
        ("functions of numbers", 5000, functions, 0.3),
        ("items of an array", 6 * 499, items, np.linspace(0.0, 1.0, 500)),
        ("arrays of 10", 1500, small_arrays, few),
        ("products and norms of 10", 1000, matrices, few),
        ("a list of numbers", 1002, lists, 0.4),
    ]


def main() -> None:
    options = parse_options()
    print(f"{machine_line('wengert', 'numpy', 'autograd')}\n")
    print("| | recorded, an operation | autograd | ratio |\n|---|---:|---:|---:|", flush=True)
    for ours, theirs in zip(programs(np), programs(autograd.numpy), strict=True):
        name, count, function, x = ours
        gradient, other = wg.grad(function, tier="recorded"), autograd.grad(theirs[2])
        np.testing.assert_allclose(gradient(x), other(x), rtol=1e-9)
        taken = [(seconds(gradient, x), seconds(other, x)) for _ in range(options.rounds)]
        recorded, taped = (median(column) / count * 1e6 for column in zip(*taken, strict=True))
        ratio = recorded / taped
        print(f"| {name} | {recorded:.1f} µs | {taped:.1f} µs | {ratio:.2f} |", flush=True)


def seconds(gradient: Callable[[Any], Any], x: Any) -> float:
    start = process_time()
    gradient(x)
    return process_time() - start


def parse_options() -> SimpleNamespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="a smoke test")
    options = SimpleNamespace(**vars(parser.parse_args()))
    if options.quick:
        options.rounds = 1
    return options


if __name__ == "__main__":
    main()
