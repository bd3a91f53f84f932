"""How far elementary functions of vectors are off, and how long they take: `python benchmarks/accuracy.py`.

In units of the last place, at most, over points of the whole range (`tests/helpers/elementary.py`) and by mpmath; and
nanoseconds of processor time for each of 4096 moderate numbers. Ours, for the widest vectors of this machine, and
those of libmvec.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from machine import machine_line

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import elementary

from wengert.backends.native.run.machine import machine
from wengert.backends.native.vector_math.vector_functions import OURS, name_of

SIZE = 4096
TYPES = {"f64": np.float64, "f32": np.float32}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=sorted(OURS), default=sorted(OURS))
    parser.add_argument("--count", type=int, default=20_000, help="points of each kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{machine_line('numpy', 'llvmlite', 'mpmath')}\n")
    print(
        "| function | of | points | ours | at | ns | libmvec | at | ns |\n|---|---|---|---|---|---|---|---|---|"
    )
    for op in options.only:
        for code in TYPES:
            rng = np.random.default_rng(options.seed)
            print(row(op, code, options.count, rng), flush=True)


def row(op: str, code: str, count: int, rng: np.random.Generator) -> str:
    x = elementary.points(op, TYPES[code], count, rng)
    expected, arity = elementary.right(op, x), len(x)
    vectors = machine().vectors
    shape = max((s for s in vectors.shapes if s.code == code), key=lambda s: s.lanes)
    names = [name_of(op, shape)]
    if vectors.glibcs:
        letter, _ = vectors.glibcs[-1]
        names.append(f"_ZGV{letter}N{shape.lanes}{'v' * arity}_{op}{'f' if code == 'f32' else ''}")
    cells: list[str] = []
    for name in names:
        function = elementary.of_vectors(name, shape, arity)
        off = elementary.units_off(function(*x), expected, TYPES[code])
        worst = int(np.nanargmax(off))
        cells += [f"{off[worst]:.2f}", ", ".join(f"{each[worst]:.9g}" for each in x)]
        cells.append(f"{nanoseconds(function.loop, arity, TYPES[code]):.2f}")
    return f"| {op} | {code} | {len(expected):,} | {' | '.join(cells)} |"


def nanoseconds(loop: Callable[..., None], arity: int, type_: Any) -> float:
    arrays = [
        np.random.default_rng(k).uniform(0.1, 3.0, SIZE).astype(type_) for k in range(arity + 1)
    ]
    places = [array.ctypes.data for array in arrays]
    times: list[float] = []
    for _ in range(50):
        start = process_time()
        for _ in range(50):
            loop(*places, SIZE)
        times.append(process_time() - start)
    return min(times) / 50 / SIZE * 1e9


if __name__ == "__main__":
    main()
