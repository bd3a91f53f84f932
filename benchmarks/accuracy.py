"""How far elementary functions of vectors are from the right value: `python benchmarks/accuracy.py`.

In units of the last place, at most, over points of the whole range (`tests/elementary.py`) and by mpmath: ours, for the
widest vectors of this machine, and those of glibc's libmvec.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from machine import machine_line

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import elementary

from wengert.backends.native.machine import machine
from wengert.backends.native.vector_functions import OURS, name_of

TYPES = {"f64": np.float64, "f32": np.float32}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=sorted(OURS), default=sorted(OURS))
    parser.add_argument("--count", type=int, default=20_000, help="points of each kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"{machine_line('numpy', 'llvmlite', 'mpmath')}\n")
    print("| function | of | points | ours | at | libmvec | at |\n|---|---|---|---|---|---|---|")
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
        found = elementary.of_vectors(name, shape, arity)(*x)
        off = elementary.units_off(found, expected, TYPES[code])
        worst = int(np.nanargmax(off))
        cells += [f"{off[worst]:.2f}", ", ".join(f"{each[worst]:.9g}" for each in x)]
    return f"| {op} | {code} | {len(expected):,} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
