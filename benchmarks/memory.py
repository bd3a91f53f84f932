"""What a gradient of a long loop holds, with and without checkpoints: `python benchmarks/memory.py`.

The loop carries ten numbers, and its derivative needs all of them in every iteration. Peaks are those of
`tracemalloc`; times are taken without it, one after the other in rounds, and are medians.
"""

import argparse
import gc
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from math import isclose
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from machine import machine_line

import wengert as wg

STATE = tuple(0.01 * k for k in range(1, 11))
BYTES_NEEDED = len(STATE) * (sys.getsizeof(1.0) + 8)
"""Ten floats per iteration, each with its place in a list."""


def cells(a, b, c, d, e, f, g, h, i, j, steps):  # type: ignore[no-untyped-def]
    """Ten cells of Lorenz's model of 1996, without friction and forcing, by Euler's method."""
    for _ in range(steps):
        a, b, c, d, e, f, g, h, i, j = (
            a + 0.001 * (b - i) * j,
            b + 0.001 * (c - j) * a,
            c + 0.001 * (d - a) * b,
            d + 0.001 * (e - b) * c,
            e + 0.001 * (f - c) * d,
            f + 0.001 * (g - d) * e,
            g + 0.001 * (h - e) * f,
            h + 0.001 * (i - f) * g,
            i + 0.001 * (j - g) * h,
            j + 0.001 * (a - h) * i,
        )
    return a * b + c * d + e * f + g * h + i * j


def checkpointed_cells(a, b, c, d, e, f, g, h, i, j, steps):  # type: ignore[no-untyped-def]
    """The same, in blocks of iterations."""
    for _ in wg.checkpoint(range(steps)):
        a, b, c, d, e, f, g, h, i, j = (
            a + 0.001 * (b - i) * j,
            b + 0.001 * (c - j) * a,
            c + 0.001 * (d - a) * b,
            d + 0.001 * (e - b) * c,
            e + 0.001 * (f - c) * d,
            f + 0.001 * (g - d) * e,
            g + 0.001 * (h - e) * f,
            h + 0.001 * (i - f) * g,
            i + 0.001 * (j - g) * h,
            j + 0.001 * (a - h) * i,
        )
    return a * b + c * d + e * f + g * h + i * j


def cells_until(a, b, c, d, e, f, g, h, i, j, steps):  # type: ignore[no-untyped-def]
    """The same, as a loop whose length is known only at its end."""
    step = 0
    while wg.checkpoint(step < steps):
        a, b, c, d, e, f, g, h, i, j = (
            a + 0.001 * (b - i) * j,
            b + 0.001 * (c - j) * a,
            c + 0.001 * (d - a) * b,
            d + 0.001 * (e - b) * c,
            e + 0.001 * (f - c) * d,
            f + 0.001 * (g - d) * e,
            g + 0.001 * (h - e) * f,
            h + 0.001 * (i - f) * g,
            i + 0.001 * (j - g) * h,
            j + 0.001 * (a - h) * i,
        )
        step += 1
    return a * b + c * d + e * f + g * h + i * j


LOOPS = {
    "`for _ in range(n)`": cells,
    "`for _ in wg.checkpoint(range(n))`": checkpointed_cells,
    "`while wg.checkpoint(k < n)`": cells_until,
}


class Figures(NamedTuple):
    """What was measured of one gradient."""

    peak: int
    gradient: float
    function: float
    found: tuple[float, ...]


def main() -> None:
    options = parse_options()
    table = {
        (steps, name): measure(function, steps, options.rounds)
        for steps in options.steps
        for name, function in LOOPS.items()
    }
    check(table)
    print(f"{machine_line('wengert')}\n")
    print(f"Medians of {options.rounds} rounds.\n")
    print("\n".join(markdown(table)))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--steps", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a thousand steps: a smoke test")
    options = parser.parse_args()
    if options.quick:
        options.steps, options.rounds = [1000], 1
    return options


def measure(function: Callable[..., Any], steps: int, rounds: int) -> Figures:
    """The peak of memory and the times of one gradient, and the time of the function itself."""
    gradient = wg.grad(function, tuple(range(len(STATE)))).specialize(*STATE, steps)
    gradient(*STATE, 2)
    times = [
        (seconds(gradient, *STATE, steps), seconds(function, *STATE, steps)) for _ in range(rounds)
    ]
    gc.collect()
    tracemalloc.start()
    found = gradient(*STATE, steps)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    of_gradient, of_function = (median(column) for column in zip(*times, strict=True))
    return Figures(peak, of_gradient, of_function, found)


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    start = perf_counter()
    function(*arguments)
    return perf_counter() - start


def check(table: dict[tuple[int, str], Figures]) -> None:
    """Raises an AssertionError unless all loops of one length have the same gradient."""
    plain = next(iter(LOOPS))
    for (steps, name), figures in table.items():
        expected = table[steps, plain].found
        close = all(
            isclose(a, b, rel_tol=1e-9) for a, b in zip(figures.found, expected, strict=True)
        )
        assert close, f"{name}, {steps} steps: {figures.found}, expected {expected}"


def markdown(table: dict[tuple[int, str], Figures]) -> Iterator[str]:
    yield "| steps | loop | peak, MB | of what it must keep | gradient : function | gradient, s |"
    yield "|---:|---|---:|---:|---:|---:|"
    for (steps, name), (peak, gradient, function, _) in table.items():
        share = peak / (steps * BYTES_NEEDED)
        ratio = gradient / function
        yield (
            f"| {steps:,} | {name} | {peak / 1e6:.2f} | {share:.3f} | {ratio:.1f} | {gradient:.2f} |"
        )


if __name__ == "__main__":
    main()
