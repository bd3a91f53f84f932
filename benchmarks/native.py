"""Native gradients against hand-written C, JAX, Numba and PyTorch: `python benchmarks/native.py`.

One process, one thread. Each round takes one sample of every row, so that a slow moment of the machine hits
all rows; figures are medians, read the ratios. The value and the gradient are computed in every row, and
compared with those of C before anything is timed. C is called through ctypes, whose cost (that of calling an
empty function with the same arguments) is taken off: for calls of well under a microsecond it is no measure.
"""

import one_thread  # noqa: F401  before NumPy, which reads the number of threads once

# isort: split
import argparse
import gc
import importlib
import json
import sys
import timeit
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from types import FunctionType
from typing import Any

import numpy as np
from machine import machine_line
from native_workloads import CAdjoint, Native, c_library, natives

import wengert as wg

NOTHING = "an empty C function"
HAND, OURS, PYTHON, JAX = "C", "`wg.jit`", "Python form", "`jax.jit`"


def main() -> None:
    options = parse_options()
    library = c_library()
    tables = {native.name: rows_of(native, library, options) for native in natives()}
    seconds: dict[tuple[str, str], list[float]] = {}
    gc.disable()
    for number in range(options.rounds):
        print(f"\rround {number + 1} of {options.rounds}", end="", file=sys.stderr, flush=True)
        for name, rows in tables.items():
            for row, call in rows.items():
                seconds.setdefault((name, row), []).append(sample(call, options.sample))
        gc.collect()
    print(file=sys.stderr)
    medians = {key: median(found) for key, found in seconds.items()}
    for name in tables:
        if (name, HAND) in medians:
            medians[name, HAND] -= medians.pop((name, NOTHING))
    print(f"{machine_line('numpy', 'wengert', 'llvmlite')}\n")
    print("\n".join(markdown(list(tables), medians)))
    if options.json:
        found = {f"{name}: {row}": t for (name, row), t in medians.items()}
        Path(options.json).write_text(json.dumps(found, indent=2), encoding="utf-8")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--sample", type=float, default=0.02, help="seconds a sample lasts")
    parser.add_argument("--python", action="store_true", help="time the Python form, too")
    parser.add_argument("--json", help="write the figures to a file, in seconds")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 2 ms: a smoke test")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.sample = 3, 0.002
    return options


def rows_of(
    native: Native, library: Any, options: argparse.Namespace
) -> dict[str, Callable[[], Any]]:
    """What is timed for a workload; all of it gives the value and the gradient."""
    form = wg.value_and_grad(native.function, native.argnums)
    compiled = wg.jit(form, strict=True)
    arguments = native.arguments
    rows: dict[str, Callable[[], Any]] = {OURS: partial(compiled, *arguments)}
    expected = flat(compiled(*arguments))
    if library is not None:
        adjoint = CAdjoint(library, native)
        adjoint.run()
        check(native.name, [adjoint.value.value, *adjoint.gradients], expected)
        rows[HAND] = partial(adjoint.function, *adjoint.arguments)
        rows[NOTHING] = partial(adjoint.nothing, *adjoint.arguments)
    if options.python:
        rows[PYTHON] = partial(form, *arguments)
    by_jax = jax_row(native)
    if by_jax is not None:
        check(f"{native.name}, JAX", flat(by_jax()), expected)
        rows[JAX] = by_jax
    return rows


def flat(result: Any) -> list[Any]:
    """The value and the gradients."""
    if isinstance(result, tuple):
        return [leaf for part in result for leaf in flat(part)]
    return [result]


def check(name: str, found: list[Any], expected: list[Any]) -> None:
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-12, err_msg=name)


def jax_row(native: Native) -> Callable[[], Any] | None:
    """`jax.jit` of the same function where JAX is installed and can read it; loops cannot be."""
    if native.name in ("Loop", "Newton") or native.name.startswith("logistic map"):
        return None
    try:
        jax = importlib.import_module("jax")
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)
    arrays = importlib.import_module("jax.numpy")
    function = native.function
    assert isinstance(function, FunctionType)
    read = FunctionType(function.__code__, function.__globals__ | {"np": arrays, "math": arrays})
    compiled = jax.jit(jax.value_and_grad(read, native.argnums))
    arguments = [arrays.asarray(x) for x in native.arguments]
    return lambda: jax.block_until_ready(compiled(*arguments))


def sample(call: Callable[[], Any], duration: float) -> float:
    """Seconds for one call, from as many as fill a while."""
    timer = timeit.Timer(call)
    once = max(timer.timeit(1), 1e-8)
    count = max(1, int(duration / once))
    return min(timer.timeit(count), timer.timeit(count)) / count


def markdown(names: list[str], seconds: dict[tuple[str, str], float]) -> list[str]:
    rows = [row for row in (OURS, HAND, JAX, PYTHON) if any(r == row for _, r in seconds)]
    lines = [
        f"| workload | {' | '.join(rows)} | ours / C |",
        "|---" * (len(rows) + 2) + "|",
    ]
    ratios: list[float] = []
    for name in names:
        figures = [in_units(seconds.get((name, row))) for row in rows]
        ratio = ""
        if (name, HAND) in seconds:
            found = seconds[name, OURS] / seconds[name, HAND]
            ratio = f"{found:.2f}"
            if seconds[name, HAND] > 0.9e-6:
                ratios.append(found)
        lines.append(f"| {name} | {' | '.join(figures)} | {ratio} |")
    if ratios:
        lines += [
            "",
            f"Geometric mean of the ratios, calls under 1 µs aside: {geometric_mean(ratios):.2f}",
        ]
    return lines


def in_units(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    for unit, scale in (("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


if __name__ == "__main__":
    main()
