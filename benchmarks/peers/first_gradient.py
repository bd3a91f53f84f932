"""Processor time from the start of a process to its first gradient, imports included."""

from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from problems import FAMILIES, problems
from processes import Worker

NAMES = ("SinCos", "Loop", "LogSumExp", "Logistic regression", "MLP 784-32-10", "Newton",
         "logistic map", "Lorenz, RK4")  # fmt: skip
WAYS = {
    "wengert, cold": ("wengert", "WENGERT_CACHE", False),
    "wengert, warm": ("wengert", "WENGERT_CACHE", True),
    "jax, cold": ("jax", None, False),
    "jax, warm": ("jax", "JAX_COMPILATION_CACHE_DIR", True),
    "autograd": ("autograd", None, False),
    "torch": ("torch", None, False),
    "casadi": ("casadi", None, False),
    "numba": ("numba", None, False),
    "c": ("c", None, False),
}
"""The tool, the variable that says where it keeps what it compiled, and whether something is there."""


def measured(options: Any) -> dict[str, dict[str, float]]:
    """Seconds by problem and way."""
    ways = {way: what for way, what in WAYS.items() if what[0] in options.tools}
    names = NAMES[:1] if options.quick else NAMES
    if "families" in options.only and not options.quick:
        names += tuple(p.name for p in problems().values() if p.row == FAMILIES)
    with TemporaryDirectory() as bytecode:
        # compiled modules are kept as an installation keeps them; a first round writes them
        written = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
        for tool in {tool for tool, *_ in ways.values()}:
            once(names[0], tool, options.quick, written)
        return {name: of_problem(name, ways, options, written) for name in names}


def of_problem(
    name: str, ways: dict[str, Any], options: Any, written: dict[str, str]
) -> dict[str, float]:
    with TemporaryDirectory() as folder:
        for tool, variable, warm in ways.values():
            if warm:
                once(name, tool, options.quick, written | {variable: f"{folder}/{tool}"})
        samples: dict[str, list[float]] = {}
        for number in range(options.processes):
            for way, (tool, variable, warm) in ways.items():
                place = f"{folder}/{tool}" if warm else f"{folder}/{tool} {number}"
                kept = {variable: place} if variable else {}
                taken = once(name, tool, options.quick, written | kept)
                if taken is not None:
                    samples.setdefault(way, []).append(taken)
    return {way: median(found) for way, found in samples.items()}


def once(name: str, tool: str, quick: bool, environment: dict[str, str]) -> float | None:
    worker = Worker(tool, 1, quick, **environment)
    answer = worker.ask("prepare", name)
    worker.stop()
    return answer.get("processor")


def table(found: dict[str, dict[str, float]]) -> list[str]:
    ways = [way for way in WAYS if any(way in row for row in found.values())]
    lines = [f"| seconds | {' | '.join(ways)} |", "|---" * (len(ways) + 1) + "|"]
    for name, row in found.items():
        cells = [f"{row[way]:.2f}" if way in row else "–" for way in ways]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines
