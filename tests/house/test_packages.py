"""The floors inside the large units: which package may import which, and the circles that are left.

Both are ratchets: what a change makes better goes into the tables, so that it stays.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from importlib import import_module

import pytest
from test_architecture import MODULES, PACKAGE, imported

from wengert.frontend.machine.declaring import DECLARED

FLOORS: dict[str, list[set[str]]] = {
    "frontend": [
        {"read", "row_reader"},
        {"rule_rows"},
        {"evaluate"},
        {"builtins"},
        {"control", "iterate", "objects", "containers", "calls"},
        {"data"},
        {"classes", "functions"},
        {"heap"},
        {"listing"},
        {"boundary"},
        {"machine"},
        {"domain"},
        {"syntax"},
        {"record"},
        {"polyfills"},
    ],
    "passes": [
        {"reverse"},
        {"forward"},
        {"edges"},
        {"checks"},
        {"memory"},
        {"residuals"},
        {"simplify"},
        {"analysis"},
        {"blocks"},
    ],
    "backends.native": [
        {"run"},
        {"emit"},
        {"program"},
        {"ops"},
        {"containers"},
        {"lower"},
        {"improve", "prepare"},
        {"values"},
        {"vector_math"},
        {"form"},
    ],
}
"""From the roof to the ground. A package imports from packages on floors below it."""

UPWARD = {"frontend": 0, "passes": 0, "backends.native": 0}
"""How many imports still go up or sideways, functions and late modules included."""

LARGEST_CIRCLE: dict[str, int] = {}
"""How many modules the largest circle of imports has; units that are not here have none."""


def module_name(parts: tuple[str, ...]) -> str:
    return ".".join(parts).removesuffix(".__init__")


NAMES = {module_name(path.relative_to(PACKAGE).with_suffix("").parts): path for path in MODULES}


@functools.cache
def graph(unit: str) -> dict[str, list[str]]:
    """The modules of a unit, and the modules of it that each imports: once for every import."""
    found: dict[str, list[str]] = {}
    for name, path in NAMES.items():
        if name.startswith(f"{unit}."):
            asked = (module_of(each) for _, each in imported(path, inside_functions=True))
            inside = (each for each in asked if each.startswith(f"{unit}."))
            found[name] = [each for each in inside if each != name]
    return found


def module_of(imported_name: str) -> str:
    """The module that an import loads: `wengert.ir.graph.Var` is in `ir.graph`."""
    parts = imported_name.split(".")[1:]
    while parts and ".".join(parts) not in NAMES:
        parts.pop()
    return ".".join(parts)


def upward(unit: str) -> Iterator[str]:
    floors = {package: n for n, packages in enumerate(FLOORS[unit]) for package in packages}
    for name, imports in graph(unit).items():
        for other in imports:
            ours, theirs = (each.removeprefix(f"{unit}.").split(".")[0] for each in (name, other))
            if ours != theirs and floors[theirs] <= floors[ours]:
                yield f"{name} imports {other}"


def largest_circle(unit: str) -> int:
    edges = {name: set(imports) for name, imports in graph(unit).items()}
    return max((len(circle) for circle in circles(edges)), default=0)


def circles(edges: dict[str, set[str]]) -> Iterator[set[str]]:
    """Sets of modules each of which imports, over others, each."""
    reached: dict[str, set[str]] = {}
    for start in edges:
        seen, pending = set[str](), [start]
        while pending:
            new = edges.get(pending.pop(), set()) - seen
            seen |= new
            pending += new
        reached[start] = seen
    for start, seen in reached.items():
        if start in seen:
            yield {each for each in seen if start in reached[each]}


def units() -> list[str]:
    """Packages, and the back ends one by one."""
    inner = {name.split(".")[0] for name in NAMES if "." in name}
    return sorted((inner - {"backends"}) | {f"backends.{n}" for n in ("graph", "native", "python")})


@pytest.mark.parametrize("unit", FLOORS)
def test_every_package_has_a_floor(unit: str) -> None:
    packages = {name.removeprefix(f"{unit}.").split(".")[0] for name in graph(unit)}
    assert packages == set().union(*FLOORS[unit])


@pytest.mark.parametrize("unit", FLOORS)
def test_fewer_imports_go_up(unit: str) -> None:
    found = list(upward(unit))
    assert len(found) == UPWARD[unit], "\n".join(found)


@pytest.mark.parametrize("unit", units())
def test_circles_of_imports_shrink(unit: str) -> None:
    assert largest_circle(unit) == LARGEST_CIRCLE.get(unit, 0)


def test_a_circle_is_seen() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set[str]()}
    assert max(map(len, circles(edges))) == 3
    assert list(circles({"a": {"b"}, "b": set()})) == []


@pytest.mark.parametrize("name", DECLARED)
def test_operations_are_done_as_they_are_declared(name: str) -> None:
    module, function, declared = DECLARED[name]
    done = getattr(import_module(f"wengert.frontend.{module}"), function)
    assert done.__module__ == f"wengert.frontend.{module}"
    first, *others = inspect.signature(done).parameters.values()
    assert first.name == "it"
    assert others == list(inspect.signature(declared).parameters.values())[1:]
    assert (
        inspect.signature(done).return_annotation == inspect.signature(declared).return_annotation
    )
