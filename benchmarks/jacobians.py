"""Jacobians and Hessians against one pushforward for each direction: `python benchmarks/jacobians.py`.

Forward Jacobians run the function and its partials once, and then each direction by itself. Beside them stand
reverse mode and what they would take if the pushforward, the function included, were run anew for each
direction. Medians of interleaved rounds.
"""

import one_thread  # noqa: F401  before NumPy, which reads the number of threads once

# isort: split
import argparse
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from machine import machine_line

import wengert as wg

SIZE = 16


def elementwise(x):  # type: ignore[no-untyped-def]
    a = np.sin(x) * np.exp(-(x**2))
    return a * np.tanh(a + np.sqrt(1 + x * x))


def rosenbrock(x):  # type: ignore[no-untyped-def]
    return 100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2


def items(x):  # type: ignore[no-untyped-def]
    total, out = 0.0, []
    for k in range(len(x) - 1):
        total = total * 0.5 + np.sin(x[k]) * x[k + 1] ** 2
        out.append(total)
    return np.array(out)


def recurrent(x):  # type: ignore[no-untyped-def]
    h = np.zeros_like(x)
    for _ in range(10):
        h = np.tanh(h * x + x) / (1 + h * h)
    return h


def matrices(x):  # type: ignore[no-untyped-def]
    a, y = np.outer(x, x) + np.eye(len(x)), x
    for _ in range(3):
        y = np.linalg.solve(a, y) + np.tanh(a @ y)
    return y


FUNCTIONS = (elementwise, rosenbrock, items, recurrent, matrices)


def one_direction(f: Callable[[Any], Any], direction: Any) -> Callable[[Any], Any]:
    """The derivative along one direction: the function and its partials are computed with it."""
    at = np.linspace(0.1, 0.9, SIZE)
    along = wg.derivative(lambda t: f(at + t * direction)).specialize(0.0)
    return lambda x: along(0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="one round, as a smoke test")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    print(f"{machine_line('wengert', 'numpy')}\n")
    print(f"Microseconds of processor time, x of {SIZE} numbers; medians of {rounds} rounds.\n")
    print("| function | f | forward | reverse | each direction with f | ratio to forward |")
    print("|---|---:|---:|---:|---:|---:|")
    for f in FUNCTIONS:
        print_row(f, rounds)


def print_row(f: Callable[[Any], Any], rounds: int) -> None:
    x = np.linspace(0.1, 0.9, SIZE)
    forward = wg.jacobian(f, mode="forward").specialize(x)
    reverse = wg.jacobian(f, mode="reverse").specialize(x)
    along = one_direction(f, np.eye(SIZE)[1])
    np.testing.assert_allclose(reverse(x), forward(x), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(along(x), forward(x)[:, 1], rtol=1e-10, atol=1e-12)
    columns = [f, forward, reverse, along]
    times: list[list[float]] = [[] for _ in columns]
    for _ in range(rounds):
        for found, column in zip(times, columns, strict=True):
            found.append(microseconds(column, x))
    f_alone, at_once, backwards, once = map(median, times)
    each = SIZE * once
    print(
        f"| {f.__name__} | {f_alone:.0f} | {at_once:.0f} | {backwards:.0f} | {each:.0f} "
        f"| {each / at_once:.1f} |"
    )


def microseconds(function: Callable[[Any], Any], x: Any, calls: int = 10) -> float:
    start = process_time()
    for _ in range(calls):
        function(x)
    return 1e6 * (process_time() - start) / calls


if __name__ == "__main__":
    main()
