"""Time from a fresh process to the first gradient: `python benchmarks/startup.py`.

Figures are medians over fresh processes, one of every library in turn, after one round that is
thrown away: it writes the compiled bytecode and warms the file cache.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from math import isclose
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from machine import machine_line

CHILD = """
import json
from time import perf_counter as now
start = now()
import numpy
after_numpy = now()
import {library}
after_library = now()
from thirty_lines import ARGUMENTS, damage
{prepare}
before_gradient = now()
gradient = {library}.grad(damage, (0, 1, 2))(*ARGUMENTS)
end = now()
stages = after_numpy - start, after_library - after_numpy, end - before_gradient
print(json.dumps([stages, [float(numpy.sum(part)) for part in gradient]]))
"""
PREPARE = {
    "wengert": "",
    "autograd": "import autograd.numpy, thirty_lines; thirty_lines.np = autograd.numpy",
}


COLUMNS = ("import numpy", "import it, beyond NumPy", "first gradient", "both, beyond NumPy")


def main() -> None:
    options = parse_options()
    libraries = [library for library in PREPARE if find_spec(library)]
    with TemporaryDirectory() as bytecode:
        table = measure(libraries, options.processes, bytecode)
    print(f"{machine_line('numpy', *libraries)}\n")
    print(f"Medians of {options.processes} fresh processes, in milliseconds.\n")
    print("\n".join(markdown(table)))


def measure(libraries: list[str], processes: int, bytecode: str) -> dict[str, list[list[float]]]:
    """The stages of every process of every library; the first round is not among them."""
    table: dict[str, list[list[float]]] = {library: [] for library in libraries}
    for number in range(processes + 1):
        print(f"\rround {number} of {processes}", end="", file=sys.stderr, flush=True)
        answers = {library: fresh_process(library, bytecode) for library in libraries}
        check({library: gradient for library, (_, gradient) in answers.items()})
        if number > 0:
            for library, (stages, _) in answers.items():
                table[library].append(stages)
    print(file=sys.stderr)
    return table


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", type=int, default=21, help="fresh processes per library")
    parser.add_argument("--quick", action="store_true", help="2 processes: a smoke test")
    options = parser.parse_args()
    if options.quick:
        options.processes = 2
    return options


def fresh_process(library: str, bytecode: str) -> tuple[list[float], list[float]]:
    """Milliseconds of the stages (import NumPy, import the library, gradient), and the gradient.

    Compiled modules are kept in the folder `bytecode`, as an installation keeps them in its own.
    """
    code = CHILD.format(library=library, prepare=PREPARE[library])
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONPYCACHEPREFIX": bytecode,
        "PYTHONDONTWRITEBYTECODE": "",
    }
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    seconds, gradient = json.loads(done.stdout)
    return [1e3 * stage for stage in seconds], gradient


def check(gradients: dict[str, list[float]]) -> None:
    """Raises an AssertionError unless all libraries found the same gradient."""
    expected = gradients["wengert"]
    for library, found in gradients.items():
        close = all(isclose(a, b, rel_tol=1e-9) for a, b in zip(found, expected, strict=True))
        assert close, f"{library} found {found}, wengert {expected}"


def markdown(table: dict[str, list[list[float]]]) -> Iterator[str]:
    yield f"| library | {' | '.join(COLUMNS)} |"
    yield f"|---|{'---:|' * len(COLUMNS)}"
    for library, runs in table.items():
        figures = [(numpy, own, first, own + first) for numpy, own, first in runs]
        cells = (f"{median(column):.1f}" for column in zip(*figures, strict=True))
        yield f"| {library} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
