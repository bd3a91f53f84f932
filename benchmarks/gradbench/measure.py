"""GradBench's evals: our derivatives against adjoints written by hand in C: `python benchmarks/gradbench/measure.py`.

One process, one thread. Each round takes one sample of every row; figures are medians of processor time, so
that other programs on the machine disturb less. Read the ratios. Derivatives are compared with those of C
(`adjoints.c`, `jacobians.c`, `nested.c`) before anything is timed. C is compiled twice: strictly, as GradBench
compiles its hand-written tool, and with `-ffast-math`, with which gcc calls vectorised elementary functions.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
import one_thread  # noqa: F401  before NumPy, which reads the number of threads once

# isort: split
import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from adapter import functions_of
from machine import machine_line

RNG = np.random.default_rng(31337)
STRICT, FAST = ("-O3", "-march=native"), ("-O3", "-march=native", "-ffast-math")


class Row(NamedTuple):
    """One eval at one size.

    Attributes:
        module, size: what is measured.
        primal, derivative: the names of the eval's functions.
        given: the input of a message.
        sizes: the integers that the derivative in C takes after the arrays.
    """

    module: str
    size: str
    primal: str
    derivative: str
    given: Any
    sizes: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.module} {self.size}"


def main() -> None:
    options = parse_options()
    measured = [row for row in rows() if not options.only or row.module in options.only]
    with tempfile.TemporaryDirectory() as folder:
        libraries = {name: compiled(folder, name, flags) for name, flags in
                     (("strict", STRICT), ("fast", FAST))}  # fmt: skip
        calls = {key: call for row in measured for key, call in calls_of(row, libraries).items()}
        print(machine_line("numpy", "llvmlite"), "\n")
        figures: dict[Any, list[float]] = {key: [] for key in calls}
        for _ in range(options.rounds):
            for key, call in calls.items():
                figures[key].append(sample(call, options.sample))
    seconds = {key: median(samples) for key, samples in figures.items()}
    print("\n".join(markdown(measured, seconds)))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("only", nargs="*", help="evals to measure; all of them if none is named")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sample", type=float, default=0.05, help="seconds a sample lasts")
    return parser.parse_args()


# --- what is measured ---------------------------------------------------------------------


def rows() -> list[Row]:
    modes = ("ff", "fr", "rf", "rr")
    return [
        *(llsq(n, 128) for n in (64, 1024, 16392)),
        *(lse(n) for n in (2500, 80000)),
        *(ode(n, s) for n, s in ((1000, 10), (1000, 100), (10000, 10))),
        *(kmeans(k, 10000, 8) for k in (10, 100)),
        *(gmm(d, k) for d, k in ((2, 5), (10, 25), (32, 50))),
        *(lstm(layers, 1024, 14) for layers in (2, 4)),
        ba(49, 7776, 31843),
        ht(544, 100),
        *(det(size) for size in (5, 7, 8)),
        *(Row("particle", mode, mode, mode, {"w": 0.0}) for mode in modes),
        *(Row("saddle", mode, mode, mode, {"start": [1.0, 1.0]}) for mode in modes),
    ]


def llsq(n: int, m: int) -> Row:
    given = {"x": RNG.random(m).tolist(), "n": n}
    return Row("llsq", f"n={n}", "primal", "gradient", given, (m, n))


def lse(n: int) -> Row:
    return Row("lse", f"n={n}", "primal", "gradient", {"x": RNG.random(n).tolist()}, (n,))


def ode(n: int, steps: int) -> Row:
    given = {"x": RNG.random(n).tolist(), "s": steps}
    return Row("ode", f"n={n}, s={steps}", "primal", "gradient", given, (n, steps))


def kmeans(k: int, n: int, d: int) -> Row:
    points = RNG.random((n, d))
    given = {"points": points.tolist(), "centroids": points[:k].tolist()}
    return Row("kmeans", f"k={k}", "cost", "dir", given, (n, k, d))


def gmm(d: int, k: int, n: int = 1000) -> Row:
    given = {
        "alpha": RNG.normal(size=k).tolist(),
        "mu": RNG.random((k, d)).tolist(),
        "q": RNG.normal(size=(k, d)).tolist(),
        "l": RNG.normal(size=(k, d * (d - 1) // 2)).tolist(),
        "x": RNG.normal(size=(n, d)).tolist(),
    }
    given |= {"d": d, "k": k, "n": n, "m": 0, "gamma": 1.0}
    return Row("gmm", f"{d}_{k}_{n}", "objective", "jacobian", given, (n, d, k))


def lstm(layers: int, characters: int, bits: int) -> Row:
    given = {
        "main_params": RNG.normal(size=(2 * layers, 4 * bits)).tolist(),
        "extra_params": RNG.normal(size=(3, bits)).tolist(),
        "state": RNG.normal(size=(2 * layers, bits)).tolist(),
        "sequence": RNG.integers(0, 2, (characters, bits)).astype(float).tolist(),
    }
    size = f"l={layers}, c={characters}"
    return Row("lstm", size, "objective", "jacobian", given, (layers, bits, characters))


def ba(n: int, m: int, p: int) -> Row:
    given = {"n": n, "m": m, "p": p, "w": 0.7, "x": RNG.normal(size=3).tolist()}
    given |= {"cam": RNG.normal(size=11).tolist(), "feat": RNG.normal(size=2).tolist()}
    return Row("ba", f"p={p}", "objective", "jacobian", given, (n, m, p))


def ht(vertices: int, points: int) -> Row:
    """A hand: a wrist, five fingers of four bones, a forearm."""
    chains = [0 if bone % 4 == 1 else bone - 1 for bone in range(1, 22)]
    bones = 1 + len(chains)
    model = {
        "parents": [-1, *chains],
        "base_relatives": RNG.normal(size=(bones, 4, 4)).tolist(),
        "inverse_base_absolutes": RNG.normal(size=(bones, 4, 4)).tolist(),
        "base_positions": np.insert(RNG.normal(size=(vertices, 3)), 3, 1.0, axis=1).tolist(),
        "weights": RNG.random((vertices, bones)).tolist(),
        "triangles": [],
        "is_mirrored": False,
    }
    places = RNG.integers(0, vertices, points).tolist()
    data = {
        "model": model,
        "correspondences": places,
        "points": RNG.normal(size=(points, 3)).tolist(),
    }
    given = {"theta": RNG.normal(size=26).tolist(), "us": [], "data": data}
    size = f"{vertices} vertices, {points} points"
    return Row("ht", size, "objective", "jacobian", given, (bones, vertices, points))


def det(size: int) -> Row:
    given = {"A": RNG.normal(size=size * size).tolist(), "ell": size}
    return Row("det", f"ell={size}", "primal", "gradient", given, (size,))


# --- calls --------------------------------------------------------------------------------


def compiled(folder: str, name: str, flags: tuple[str, ...]) -> ctypes.CDLL | None:
    """The derivatives in C; None without a C compiler."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    library = Path(folder, f"{name}.so")
    sources = sorted(Path(__file__).parent.glob("*.c"))
    subprocess.run([gcc, *flags, "-shared", "-fPIC", *sources, "-o", library, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def calls_of(row: Row, libraries: dict[str, Any]) -> dict[Any, Callable[[], Any]]:
    """What is timed of a row."""
    functions = functions_of(row.module)
    primal, derivative = functions[row.primal], functions[row.derivative]
    arguments = derivative.read(row.given)
    found = derivative.compute(*arguments)
    calls = {(row.name, "derivative"): lambda: derivative.compute(*arguments)}
    if row.primal != row.derivative:
        primal.compute(*arguments)
        calls[row.name, "primal"] = lambda: primal.compute(*arguments)
    for name, library in libraries.items():
        if library is not None:
            calls[row.name, name] = by_hand(library, row, arguments, found)
    return calls


def by_hand(library: ctypes.CDLL, row: Row, arguments: Any, found: Any) -> Callable[[], Any]:
    """A call of the derivative in C, which must give what we have found; it writes to memory that it is given."""
    arrays = list(arrays_in(arguments)) or [np.array(each, dtype=float) for each in arguments]
    expected = [np.asarray(x) for x in (found if isinstance(found, tuple) else (found,))]
    results = [np.empty_like(each) for each in expected]
    sizes = [ctypes.c_int64(size) for size in row.sizes]
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, *results)]
    given = (*pointers[: len(arrays)], *sizes, *pointers[len(arrays) :])
    function = getattr(library, row.module)
    function.restype = None
    function(*given)
    for ours, theirs in zip(expected, results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9, err_msg=row.module)

    def call(_keep: Any = (arrays, results)) -> None:
        function(*given)

    return call


def arrays_in(arguments: Any) -> Iterator[Any]:
    """The arrays among arguments, and in the tuples among them."""
    for each in arguments:
        if isinstance(each, tuple):
            yield from arrays_in(each)
        elif isinstance(each, np.ndarray):
            yield np.ascontiguousarray(each)


def sample(call: Callable[[], Any], duration: float) -> float:
    """Seconds of processor time for one call, from as many as fill a while."""
    count, taken = 0, 0.0
    start = time.thread_time()
    while taken < duration:
        call()
        count += 1
        taken = time.thread_time() - start
    return taken / count


def markdown(measured: list[Row], seconds: dict[Any, float]) -> list[str]:
    lines = [
        "| eval | primal | derivative | / primal | C by hand | / C | C, fast math | / C fast |",
        "|---" * 8 + "|",
    ]
    for row in measured:
        ours = seconds[row.name, "derivative"]
        cells = [row.name]
        cells += [in_units(seconds.get((row.name, "primal"))), in_units(ours)]
        cells.append(ratio(ours, seconds.get((row.name, "primal"))))
        for name in ("strict", "fast"):
            theirs = seconds.get((row.name, name))
            cells += [in_units(theirs), ratio(ours, theirs)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def in_units(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def ratio(ours: float, theirs: float | None) -> str:
    return "–" if theirs is None else f"{ours / theirs:.2f}"


if __name__ == "__main__":
    main()
