"""How the gradient of a loop over items grows with the loop: `python benchmarks/growth.py`.

Each function reads, writes or adds to one item an iteration. Where an access took time in proportion to the
array, the ratio of gradient to function would grow with n. Medians of interleaved rounds.
"""

import argparse
import math
from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from machine import machine_line

import wengert as wg


def read_array(x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] * x[i]
    return total


def written_array(x):  # type: ignore[no-untyped-def]
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i] * x[i]
    return y[-1]


def added_array(x):  # type: ignore[no-untyped-def]
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] += x[i]
        y[i] -= 0.5 * y[i - 1] * x[i - 1]
    return y.sum()


def changed_list(x):  # type: ignore[no-untyped-def]
    y = [math.sin(item) for item in x]
    for i in range(1, len(y)):
        y[i] = y[i] * 0.5 + y[i - 1]
    return y[-1]


def appended_list(x):  # type: ignore[no-untyped-def]
    y = [x[0]]
    for i in range(1, len(x)):
        y.append(0.5 * y[-1] + x[i] * x[i])
    return y[-1]


FUNCTIONS = {
    "`x[i]` of an array is read": (read_array, np.asarray),
    "`y[i] = …` of an array": (written_array, np.asarray),
    "`y[i] += …` of an array": (added_array, np.asarray),
    "`y[i] = …` of a list": (changed_list, list),
    "`y.append(…)`": (appended_list, list),
}


def main() -> None:
    options = parse_options()
    table = {
        name: [ratio(f, make(point(n)), options.rounds) for n in options.sizes]
        for name, (f, make) in FUNCTIONS.items()
    }
    print(f"{machine_line('wengert', 'numpy')}\n")
    print(f"Time of the gradient : time of the function; medians of {options.rounds} rounds.\n")
    print("\n".join(markdown(table, options.sizes)))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**4, 10**5])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="small arrays: a smoke test")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.rounds = [100, 200], 1
    return options


def point(n: int) -> Any:
    return np.random.default_rng(0).uniform(0.5, 1.0, n).tolist()


def ratio(f: Callable[..., Any], x: Any, rounds: int) -> float:
    """The time of the gradient as a multiple of the function's."""
    gradient = wg.grad(f).specialize(x)
    check(f, gradient, x)
    times = [(seconds(gradient, x), seconds(f, x)) for _ in range(rounds)]
    of_gradient, of_function = (median(column) for column in zip(*times, strict=True))
    return of_gradient / of_function


def check(f: Callable[..., Any], gradient: Callable[..., Any], x: Any) -> None:
    """Raises an AssertionError unless the last entry of the gradient is a central difference's."""
    step = 1e-6

    def moved(by: float) -> Any:
        return f([*x[:-1], x[-1] + by] if isinstance(x, list) else np.append(x[:-1], x[-1] + by))

    expected = (moved(step) - moved(-step)) / (2 * step)
    found = gradient(x)[-1]
    assert math.isclose(found, expected, rel_tol=1e-4), (f.__name__, found, expected)


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    start = perf_counter()
    function(*arguments)
    return perf_counter() - start


def markdown(table: dict[str, list[float]], sizes: list[int]) -> Iterator[str]:
    yield "| an iteration | " + " | ".join(f"n = {n:,}" for n in sizes) + " |"
    yield "|---|" + "---:|" * len(sizes)
    for name, ratios in table.items():
        yield f"| {name} | " + " | ".join(f"{ratio:.1f}" for ratio in ratios) + " |"


if __name__ == "__main__":
    main()
