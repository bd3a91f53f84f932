"""The package's floors: imports go down only (see ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import PACKAGE

FLOORS = [
    {"__init__", "__main__"},
    {"testing"},
    {"solvers", "interop"},
    {"api"},
    {"compile"},
    {"intrinsics"},
    {"frontend", "passes", "backends"},
    {"numbers"},
    {"rules"},
    {"ops"},
    {"ir", "names_elsewhere", "pages_of_errors"},
    {"errors"},
    {"runtime"},
    {"loading", "notebooks", "highlighting"},
]
"""From the roof to the ground. A floor imports only from floors below it, and its units (modules or
subpackages) not from each other."""

ALLOWED_UP: set[str] = set()

WITHOUT_NUMPY = {"ir", "errors"}
HARD_DEPENDENCIES = {"numpy"}
ABOUT = {
    "interop/numba_extension.py": {"numba"},
    "interop/numba_intrinsics.py": {"numba"},
    "rules/special/functions.py": {"scipy"},
    "rules/special/waves.py": {"scipy"},
    "rules/special/probability.py": {"scipy"},
    "frontend/polyfills/scipy/special.py": {"scipy"},
    "frontend/polyfills/scipy/linalg.py": {"scipy"},
    "frontend/polyfills/scipy/curves/fitpack.py": {"scipy"},
    "frontend/polyfills/scipy/spectra.py": {"scipy"},
    "frontend/polyfills/scipy/warps.py": {"scipy"},
    "frontend/polyfills/scipy/densities.py": {"scipy"},
    "frontend/polyfills/scipy/moments.py": {"scipy"},
    "frontend/polyfills/scipy/distributions.py": {"scipy"},
    "frontend/polyfills/scipy/curves/grids.py": {"scipy"},
    "frontend/polyfills/scipy/hypotheses.py": {"scipy"},
    "frontend/polyfills/scipy/curves/scattered.py": {"scipy"},
    "frontend/polyfills/scipy/systems.py": {"scipy"},
    "frontend/polyfills/scipy/integrate.py": {"scipy"},
    "frontend/polyfills/scipy/curves/b_splines.py": {"scipy"},
    "frontend/polyfills/scipy/curves/cubics.py": {"scipy"},
    "frontend/polyfills/scipy/curves/interpolate.py": {"scipy"},
    "frontend/polyfills/scipy/ndimage.py": {"scipy"},
    "frontend/polyfills/scipy/rotations.py": {"scipy"},
    "frontend/polyfills/scipy/signal.py": {"scipy"},
    "frontend/polyfills/scipy/spatial.py": {"scipy"},
    "frontend/polyfills/scipy/sparse.py": {"scipy"},
    "frontend/polyfills/scipy/stats.py": {"scipy"},
    "api/sparsity.py": {"scipy"},
    "solvers/collocation.py": {"scipy"},
    "solvers/constrained.py": {"scipy"},
    "solvers/events.py": {"scipy"},
    "solvers/fits.py": {"scipy"},
    "solvers/initial_values.py": {"scipy"},
    "solvers/linear.py": {"scipy"},
    "solvers/matrices.py": {"scipy"},
    "solvers/minima.py": {"scipy"},
    "solvers/older_minima.py": {"scipy"},
    "solvers/optimisation.py": {"scipy"},
    "solvers/quadrature.py": {"scipy"},
    "solvers/roots_of_functions.py": {"scipy"},
}
"""Modules about an optional package, which are loaded only where a program has imported that."""

MODULES = sorted(PACKAGE.rglob("*.py"))


def unit_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def floor_of(unit: str) -> int:
    (floor,) = [number for number, units in enumerate(FLOORS) if unit in units]
    return floor


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(tree: ast.AST, *, inside_functions: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements that run: those for type checkers only are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and is_type_checking(node):
            for other in node.orelse:
                yield from imports(ast.Module([other], []), inside_functions=inside_functions)
        elif inside_functions or not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            yield from imports(node, inside_functions=inside_functions)


def absolute_names(path: Path, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """The dotted names that an import may load: `from . import a` may load `wengert.a`."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    package = ["wengert", *path.relative_to(PACKAGE).parent.parts]
    start = package[: len(package) - node.level + 1] if node.level else []
    base = [*start, *(node.module.split(".") if node.module else [])]
    for alias in node.names:
        yield ".".join([*base, alias.name])


def imported(path: Path, *, inside_functions: bool) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in imports(tree, inside_functions=inside_functions):
        for name in absolute_names(path, node):
            yield node.lineno, name


def upward_imports(path: Path) -> Iterator[str]:
    unit = unit_of(path)
    for line, name in imported(path, inside_functions=True):
        parts = name.split(".")
        # `from wengert import x` and `from . import x` at the top ask for the package itself
        other = parts[1] if parts[0] == "wengert" and len(parts) > 1 else None
        known = other is not None and any(other in units for units in FLOORS)
        if parts[0] == "wengert" and not known:
            other = "__init__"
        if other is not None and other != unit and floor_of(other) <= floor_of(unit):
            yield f"{path.relative_to(PACKAGE)}:{line} imports {name}"


def test_every_module_has_a_floor() -> None:
    units = {unit_of(path) for path in MODULES}
    assert units <= set().union(*FLOORS), "give the new module a floor in FLOORS"


def test_imports_go_down_only() -> None:
    upward = [each for path in MODULES for each in upward_imports(path)]
    assert [each for each in upward if re.sub(r":\d+", "", each) not in ALLOWED_UP] == []


def roots(path: Path, *, inside_functions: bool) -> set[str]:
    return {name.split(".")[0] for _, name in imported(path, inside_functions=inside_functions)}


def test_only_numpy_is_needed_to_import() -> None:
    allowed = {*sys.stdlib_module_names, *HARD_DEPENDENCIES, "wengert"}
    strangers = {
        path.relative_to(PACKAGE).as_posix(): found
        for path in MODULES
        if (found := roots(path, inside_functions=False) - allowed)
    }
    assert strangers == ABOUT


def test_the_ir_knows_no_numpy() -> None:
    knowing = [
        path.relative_to(PACKAGE)
        for path in MODULES
        if unit_of(path) in WITHOUT_NUMPY and "numpy" in roots(path, inside_functions=True)
    ]
    assert knowing == []


def loaded_with_wengert() -> set[str]:
    """The modules that `import wengert` loads beyond those of NumPy."""
    program = (
        "import sys, numpy; before = set(sys.modules); import wengert\n"
        "print(*(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_importing_wengert_loads_no_optional_package() -> None:
    packages = {name.partition(".")[0] for name in loaded_with_wengert()}
    assert packages - sys.stdlib_module_names - {"numpy", "wengert"} == set()


def test_importing_wengert_loads_nothing_that_takes_long_and_few_programs_need() -> None:
    slow = {"pathlib", "random", "tempfile", "logging", "wengert.ops.arrays.linear_algebra"}
    assert loaded_with_wengert() & slow == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from ..passes import reverse", True),
        ("def f():\n    from ..api import grad", True),
        ("import wengert.backends.python", True),
        ("from .. import rules", False),
        ("from .. import gradient", True),
        ("from ..ir.graph import Var", False),
        ("from .sources import read", False),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..api import grad", False),
        ("import numpy as np", False),
    ],
)
def test_the_check_sees(source: str, found: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "read_text", lambda self, encoding: source)
    assert bool(list(upward_imports(PACKAGE / "frontend" / "module.py"))) is found


def unions_made_to_ask(tree: ast.AST) -> Iterator[int]:
    """The lines that ask for the class of a value by a union, which Python makes anew each time."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, ast.BinOp()]):
                yield node.lineno


def test_classes_are_asked_for_by_tuples() -> None:
    """`isinstance(x, A | B)` takes six times as long as `isinstance(x, (A, B))`: 0.2 μs, millions of times."""
    assert list(unions_made_to_ask(ast.parse("isinstance(x, A | B)"))) == [1]
    trees = ((path, ast.parse(path.read_text(encoding="utf-8"))) for path in MODULES)
    assert not [f"{path}:{line}" for path, tree in trees for line in unions_made_to_ask(tree)]
