"""Native code beside other tools and hand-written C: `python benchmarks/native.py`.

Every tool has a process of its own (`peers/worker.py`); rounds take one sample of every tool in turn, and figures
are medians: read the ratios. Every tool's gradient is compared with ours before anything is timed. One thread is
measured by processor time, several by the clock.
"""

import argparse
import json
import sys
from math import isclose
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from machine import machine_line

sys.path.insert(0, str(Path(__file__).parent / "peers"))
import first_gradient
import growth_of_natives
import plot
from problems import CALLS_OUT, ELEMENTWISE, FAMILIES, FIVE, LOOPS, SMALL, Problem, problems
from processes import Worker

OURS, C, JAX = "wengert", "c", "jax"
PYTHON = "python"
TOOLS = (OURS, PYTHON, C, "jax", "jax_scan", "torch", "autograd", "casadi", "numpy", "numba")
LABELS = {
    OURS: "wg.jit",
    PYTHON: "wengert, in Python",
    C: "C",
    "jax": "jax.jit",
    "jax_scan": "jax.jit, plain scan",
    "torch": "PyTorch",
    "autograd": "autograd",
    "casadi": "CasADi",
    "numpy": "NumPy by hand",
    "numba": "Numba by hand",
}
ROWS = {
    "five": FIVE,
    "loops": LOOPS,
    "elementwise": ELEMENTWISE,
    "calls": CALLS_OUT,
    "small": SMALL,
    "families": FAMILIES,
}
BOUNDARY = "wengert, of that the way in and out"
LONG = 0.5
"""A call of more seconds is sampled in the first round only."""

SHORT = 100e-9
"""What takes less has no ratio: the way in and out is several times that."""

Seconds = dict[str, dict[str, float]]
"""By problem and tool."""


def main() -> None:
    options = parse_options()
    print(f"{machine_line('numpy', 'llvmlite', 'jax', 'torch', 'autograd', 'casadi', 'numba')}\n")
    figures: dict[str, Any] = {}
    chosen = [p for p in problems(options.quick).values() if p.row in wanted_rows(options)]
    for threads in options.threads if chosen else ():
        seconds, absent = measured(chosen, threads, options)
        figures[f"seconds, {threads} threads"] = seconds
        print(f"\n## Seconds of a gradient, threads: {threads}\n")
        print("\n".join(table(chosen, seconds, absent)))
    if "loops" in options.only:
        figures["bytes per step"] = memory(options)
        print("\n## Bytes of memory per step of a loop\n")
        print("\n".join(memory_table(figures["bytes per step"])))
    if "first" in options.only:
        figures["first gradient"] = found = first_gradient.measured(options)
        print("\n## From a fresh process to the first gradient\n")
        print("\n".join(first_gradient.table(found)))
    if "growth" in options.only:
        figures["growth"] = found = growth_of_natives.measured(options.quick)
        print("\n## Growth\n")
        print("\n".join(growth_of_natives.table(found)))
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=2), encoding="utf-8")
    if options.plot:
        plot.ratios(figures["seconds, 1 threads"], LABELS, OURS, options.plot)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    sections = [*ROWS, "first", "growth"]
    parser.add_argument("--only", nargs="+", choices=sections, default=sections)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS)
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--sample", type=float, default=0.02, help="seconds a sample lasts")
    parser.add_argument("--processes", type=int, default=5, help="fresh ones for a first gradient")
    parser.add_argument("--json", help="write the figures to a file, in seconds")
    parser.add_argument("--plot", help="draw the ratios to C into a file (matplotlib)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: a smoke test")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.sample, options.processes = 1, 0.001, 1
    return options


def wanted_rows(options: argparse.Namespace) -> set[str]:
    return {row for name, row in ROWS.items() if name in options.only}


# --- measuring ----------------------------------------------------------------------------


def measured(
    chosen: list[Problem], threads: int, options: argparse.Namespace
) -> tuple[Seconds, dict[str, str]]:
    """Medians by problem and tool, and why tools are absent."""
    workers = {tool: Worker(tool, threads, options.quick) for tool in options.tools}
    absent = {}
    for tool, worker in list(workers.items()):
        answer = worker.ask("prepare", chosen[0].name)
        if "absent" in answer and answer["absent"] != "not said in it":
            absent[tool] = answer["absent"]
            workers.pop(tool).stop()
    seconds = {}
    for problem in chosen:
        print(f"{problem.name} …", end="\r", file=sys.stderr, flush=True)
        seconds[problem.name] = of_problem(problem, workers, options)
    for worker in workers.values():
        worker.stop()
    return seconds, absent


def of_problem(
    problem: Problem, workers: dict[str, Worker], options: argparse.Namespace
) -> dict[str, float]:
    answers = {tool: worker.ask("prepare", problem.name) for tool, worker in workers.items()}
    check(problem.name, answers)
    samples: dict[str, list[float]] = {tool: [] for tool, a in answers.items() if "found" in a}
    boundaries: dict[str, list[float]] = {tool: [] for tool in samples}
    for number in range(options.rounds):
        for tool in in_turn(list(samples), number):
            if number and samples[tool][0] > LONG:
                continue
            answer = workers[tool].ask("sample", problem.name, seconds=options.sample)
            samples[tool].append(answer["seconds"])
            boundaries[tool].append(answer["boundary"])
    within = {tool: median(found) for tool, found in boundaries.items()}
    medians = {tool: median(found) for tool, found in samples.items()}
    if C in medians:
        medians[C] -= within[C]
    return medians | {BOUNDARY: within[OURS]}


def in_turn(tools: list[str], start: int) -> list[str]:
    start %= len(tools)
    return tools[start:] + tools[:start]


def check(name: str, answers: dict[str, Any]) -> None:
    """Raises an AssertionError unless all tools found the same value and gradients."""
    expected = answers[OURS]["found"]
    for tool, answer in answers.items():
        if "found" not in answer or answer["fewer"] != 1:
            continue
        for one, other in zip(answer["found"], expected, strict=True):
            if one is not None:
                close = all(isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
                            for a, b in zip(one, other, strict=True))  # fmt: skip
                assert close, f"{name}: {tool} found {one}, wengert {other}"


def memory(options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Bytes per step of the long loops, each in a process of its own."""
    found: dict[str, dict[str, float]] = {}
    for problem in problems(options.quick).values():
        for tool in options.tools if problem.steps else ():
            worker = Worker(tool, 1, options.quick)
            answer = worker.ask("memory", problem.name)
            worker.stop()
            if answer.get("bytes per step") is not None:
                found.setdefault(problem.name, {})[tool] = answer["bytes per step"]
    return found


# --- tables -------------------------------------------------------------------------------


def table(chosen: list[Problem], seconds: Seconds, absent: dict[str, str]) -> list[str]:
    present = [tool for tool in TOOLS if any(tool in row for row in seconds.values())]
    heads = [LABELS.get(tool, tool) for tool in present]
    lines = [f"| workload | {' | '.join(heads)} | ours / C | goal | ours / best other |"]
    lines.append("|---" * (len(heads) + 4) + "|")
    ratios = []
    for problem in chosen:
        row = seconds[problem.name]
        cells = [in_units(row.get(tool)) for tool in present]
        others = [row[tool] for tool in row if tool not in (OURS, C, BOUNDARY)]
        of_c, least = "–", "–"
        if row.get(C, 0) > SHORT:
            ratio = (row[OURS] - row[BOUNDARY]) / row[C]
            of_c = f"{ratio:.2f}"
            if problem.row == FIVE and row[C] > SHORT:
                ratios.append(max(ratio, 0.01))
        if others:
            least = f"{row[OURS] / min(others):.2f}"
        goal = "" if problem.row in (SMALL, CALLS_OUT, FAMILIES) else f"{problem.limit}"
        lines.append(f"| {problem.name} | {' | '.join(cells)} | {of_c} | {goal} | {least} |")
    lines += [
        "",
        "ours / C: both without the way in and out, that is a call that computes nothing.",
    ]
    if ratios:
        lines.append(f"Geometric mean for {FIVE}: {geometric_mean(ratios):.2f} (goal 1.25).")
    of_jax = [
        row[OURS] / row[JAX]
        for p in chosen
        if p.row == FAMILIES and JAX in (row := seconds[p.name])
    ]
    if of_jax:
        lines.append(
            f"Geometric mean of ours / {LABELS[JAX]} for {FAMILIES}: {geometric_mean(of_jax):.2f}."
        )
    lines += [f"{LABELS.get(tool, tool)} is absent: {why}." for tool, why in absent.items()]
    return lines


def memory_table(found: dict[str, dict[str, float]]) -> list[str]:
    tools = [tool for tool in TOOLS if any(tool in row for row in found.values())]
    lines = [f"| loop | {' | '.join(LABELS.get(tool, tool) for tool in tools)} |"]
    lines.append("|---" * (len(tools) + 1) + "|")
    for name, row in found.items():
        cells = [f"{row[tool]:.0f}" if tool in row else "–" for tool in tools]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def in_units(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    for unit, scale in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


if __name__ == "__main__":
    main()
