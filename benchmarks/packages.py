"""Other people's packages, as they are: gradients of the examples in their docstrings.

`python benchmarks/packages.py fluids ht chemicals` takes every example that calls a function of the package with
numbers, differentiates the call by its floats, and compares with differences: those of both sides where they disagree.
"""

import argparse
import ast
import copy
import doctest
import importlib
import inspect
import math
import pkgutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from machine import machine_line

import wengert as wg

NEAR = 2e-4
STEPS = (1e-6, 1e-4, 1e-7)
EXAMPLES_OF_A_FUNCTION = 2


class Case(NamedTuple):
    """One example: the function, a function of its floats alone that calls it, and these floats."""

    name: str
    call: Callable[..., Any]
    floats: list[Any]


def main() -> None:
    options = parse_options()
    warnings.simplefilter("ignore")
    print(machine_line("numpy", *options.packages), "\n")
    print("| package | right | refused | differs | without a gradient |\n|---|---:|---:|---:|---:|")
    for package in options.packages:
        found = Counter(outcome(case, show=options.show) for case in cases(package))
        cells = (found[kind] for kind in ("right", "refused", "differs", "none"))
        print(f"| {package} | {' | '.join(map(str, cells))} |", flush=True)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "packages", nargs="+", help="installed packages, such as fluids, ht, chemicals"
    )
    parser.add_argument("--show", action="store_true", help="say what is refused, and what differs")
    return parser.parse_args()


# --- examples -----------------------------------------------------------------------------


def cases(package: str) -> Iterator[Case]:
    found: set[Any] = set()
    with tempfile.TemporaryDirectory() as folder:
        for module in modules(package):
            for function in list(vars(module).values()):
                own = inspect.isfunction(function) and function.__module__.startswith(package)
                if own and function not in found:
                    found.add(function)
                    yield from cases_of(function, Path(folder))


def modules(package: str) -> Iterator[ModuleType]:
    whole = importlib.import_module(package)
    yield whole
    for each in pkgutil.walk_packages(getattr(whole, "__path__", ()), f"{package}."):
        module = loaded(each.name)
        if module is not None:
            yield module


def loaded(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except Exception:  # it needs what is not installed
        return None


def cases_of(function: Any, folder: Path) -> Iterator[Case]:
    try:
        examples = doctest.DocTestParser().get_examples(function.__doc__ or "")
    except ValueError:  # a docstring that only looks like one with examples
        return
    count = 0
    for example in examples:
        read = floats_of(function.__name__, example.source)
        if read is not None and count < EXAMPLES_OF_A_FUNCTION:
            count += 1
            arguments, floats = read
            name = f"{function.__module__}.{function.__name__}"
            yield Case(name, written(function, arguments, len(floats), folder), floats)


def floats_of(name: str, source: str) -> tuple[list[str], list[Any]] | None:
    """The arguments of a call as text, in which floats are variables, and these floats; None if it is no such call."""
    try:
        call = ast.parse(source.strip(), mode="eval").body
        assert isinstance(call, ast.Call)
        assert isinstance(call.func, ast.Name)
        assert call.func.id == name
        given = [("", each) for each in call.args]
        given += [(f"{each.arg}=", each.value) for each in call.keywords if each.arg]
        values = [(prefix, ast.literal_eval(node)) for prefix, node in given]
    except (SyntaxError, AssertionError, ValueError):
        return None
    floats: list[Any] = []
    arguments: list[str] = []
    for prefix, value in values:
        if is_made_of_floats(value):
            arguments.append(f"{prefix}x{len(floats)}")
            floats.append(value)
        else:
            arguments.append(f"{prefix}{value!r}")
    return (arguments, floats) if floats else None


def is_made_of_floats(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, float) for item in value)
    return isinstance(value, float)


def written(function: Any, arguments: list[str], count: int, folder: Path) -> Callable[..., Any]:
    """A function in a file of its own, since wengert reads source; several results are added up."""
    file = folder / f"case_{len(list(folder.iterdir()))}.py"
    names = ", ".join(f"x{k}" for k in range(count))
    file.write_text(
        f"def case({names}):\n    y = function({', '.join(arguments)})\n"
        "    return sum(y) if isinstance(y, (tuple, list)) else y\n"
    )
    namespace: dict[str, Any] = {"function": function, "__name__": file.stem}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    return namespace["case"]


# --- outcomes -----------------------------------------------------------------------------


def outcome(case: Case, *, show: bool) -> str:
    try:
        value = case.call(*copy.deepcopy(case.floats))
        if not isinstance(value, float):
            return "none"
    except Exception:
        return "none"
    try:
        argnums = tuple(range(len(case.floats)))
        gradient = wg.grad(case.call, argnums)(*copy.deepcopy(case.floats))
    except Exception as error:
        if show:
            print(f"{case.name}: {type(error).__name__}: {error}\n", file=sys.stderr)
        return "refused"
    for k, slopes in enumerate(gradient):
        for j, slope in enumerate(np.atleast_1d(slopes).tolist()):
            if not agrees(case, k, j, value, slope):
                if show:
                    print(f"{case.name}{case.floats}: {slope!r} by float {k}, {j}", file=sys.stderr)
                return "differs"
    return "right"


def agrees(case: Case, k: int, j: int, value: float, slope: float) -> bool:
    """Whether a derivative is a difference, or lies between those of both sides: there may be a kink."""
    at = float(np.atleast_1d(case.floats[k])[j])
    for step in (abs(at or 1e-3) * each for each in STEPS):
        ahead, behind = (moved(case, k, j, at + sign * step) for sign in (1, -1))
        if math.isnan(ahead) or math.isnan(behind):
            continue
        below, above = sorted(((ahead - value) / step, (value - behind) / step))
        middle, slack = (ahead - behind) / (2 * step), 1e-12 * abs(value) / step
        if below - slack <= slope <= above + slack or math.isclose(middle, slope, rel_tol=NEAR):
            return True
    return False


def moved(case: Case, k: int, j: int, to: float) -> float:
    floats = copy.deepcopy(case.floats)
    if isinstance(floats[k], list):
        floats[k][j] = to
    else:
        floats[k] = to
    try:
        return float(case.call(*floats))
    except Exception:  # outside of what the function is for
        return math.nan


if __name__ == "__main__":
    main()
