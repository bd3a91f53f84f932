"""Generated gradients against hand-written ones and HIPS autograd: `python benchmarks/table.py`.

Everything runs in one process, in rounds: each round takes one sample of every row, so that a
slow moment of the machine hits all rows. Figures are medians; read the ratios. Every gradient is
compared with the hand-written one before anything is timed.
"""

import one_thread  # noqa: F401  before NumPy, which reads the number of threads once

# isort: split
import argparse
import gc
import importlib
import sys
import timeit
from collections.abc import Callable, Iterator
from statistics import median
from types import FunctionType
from typing import Any

import numpy as np
from machine import machine_line
from workloads import Workload, workloads

import wengert as wg

PRIMAL, HAND, AUTOGRAD = "the function itself", "by hand", "autograd"


def main() -> None:
    options = parse_options()
    sections = [(workload, rows_of(workload)) for workload in workloads()]
    for workload, rows in sections:
        check(workload, rows)
    samplers = {
        (workload.name, row): Sampler(function, workload.arguments, options.sample)
        for workload, rows in sections
        for row, function in rows.items()
    }
    gc.disable()
    for number in range(options.rounds):
        print(f"\rround {number + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
        for sampler in in_turn(list(samplers.values()), number):
            sampler.take()
        gc.collect()
    print(file=sys.stderr)
    seconds = {key: median(sampler.seconds) for key, sampler in samplers.items()}
    print(f"{machine_line('numpy', 'wengert', 'autograd')}\n")
    print(f"Medians of {options.rounds} rounds, samples of at least {options.sample * 1e3:g} ms.\n")
    print(
        "\n".join(markdown([(workload.name, list(rows)) for workload, rows in sections], seconds))
    )


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sample", type=float, default=0.010, help="seconds a sample lasts")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 1 ms: a smoke test")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.sample = 3, 0.001
    return options


def rows_of(workload: Workload) -> dict[str, Callable[..., Any]]:
    """What is timed for a workload, by name; all but the first give its gradient."""
    gradient = wg.grad(workload.function, argnums=workload.argnums)
    rows = {
        PRIMAL: workload.function,
        HAND: workload.adjoint,
        **workload.others,
        "`wg.grad(f).specialize(*args)`": gradient.specialize(*workload.arguments),
        "`wg.grad(f)`": gradient,
    }
    if (autograd_gradient := by_autograd(workload)) is not None:
        rows[AUTOGRAD] = autograd_gradient
    return rows


def by_autograd(workload: Workload) -> Callable[..., Any] | None:
    """HIPS autograd's gradient of the same function, reading autograd's NumPy; None without it."""
    try:
        autograd = importlib.import_module("autograd")
    except ImportError:
        return None
    arrays = importlib.import_module("autograd.numpy")
    function = workload.function
    assert isinstance(function, FunctionType)
    namespace = function.__globals__ | {"np": arrays, "math": arrays}
    return autograd.grad(FunctionType(function.__code__, namespace), workload.argnums)


def check(workload: Workload, rows: dict[str, Callable[..., Any]]) -> None:
    """Raises an AssertionError that names the row whose gradient is not the hand-written one."""
    expected = leaves(rows[HAND](*workload.arguments))
    for row, function in rows.items():
        if row != PRIMAL:
            found = leaves(function(*workload.arguments))
            for one, other in zip(found, expected, strict=True):
                note = f"{workload.name}, {row}"
                np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-14, err_msg=note)


def leaves(gradient: Any) -> tuple[Any, ...]:
    return gradient if isinstance(gradient, tuple) else (gradient,)


class Sampler:
    """Times one call, by samples that repeat it for at least `duration` seconds."""

    def __init__(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], duration: float
    ) -> None:
        names = [f"a{i}" for i in range(len(arguments))]
        bound = {"f": function} | dict(zip(names, arguments, strict=True))
        # Locals of timeit's loop: looking up globals would count in a call of 0.1 µs.
        setup = "; ".join(f"{name} = bound[{name!r}]" for name in bound)
        self.timer = timeit.Timer(f"f({', '.join(names)})", setup, globals={"bound": bound})
        self.calls = 1
        while (spent := self.timer.timeit(self.calls)) < duration:
            self.calls = max(2 * self.calls, int(1.1 * self.calls * duration / max(spent, 1e-7)))
        self.seconds: list[float] = []

    def take(self) -> None:
        self.seconds.append(self.timer.timeit(self.calls) / self.calls)


def in_turn(samplers: list[Sampler], start: int) -> Iterator[Sampler]:
    """All samplers, each round from another one on, so that none always follows the same one."""
    for i in range(len(samplers)):
        yield samplers[(start + i) % len(samplers)]


def markdown(
    sections: list[tuple[str, list[str]]], seconds: dict[tuple[str, str], float]
) -> Iterator[str]:
    yield "| workload | row | median | by hand = 1 | faster than autograd |"
    yield "|---|---|---:|---:|---:|"
    for name, rows in sections:
        for row in rows:
            spent = seconds[name, row]
            to_hand = f"{spent / seconds[name, HAND]:.2f}"
            to_autograd = f"{seconds[name, AUTOGRAD] / spent:.1f}×" if AUTOGRAD in rows else "–"
            yield f"| {name} | {row} | {in_words(spent)} | {to_hand} | {to_autograd} |"


def in_words(seconds: float) -> str:
    for unit, size in (("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


if __name__ == "__main__":
    main()
