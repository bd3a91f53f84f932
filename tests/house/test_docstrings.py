"""The examples in the docstrings of numbers, graphs and what one does with derivatives are true."""

import doctest
import importlib
import pkgutil

import pytest

import wengert.backends.graph
from wengert import numbers

MODULES = [
    module.name
    for package in (numbers, wengert.backends.graph)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
MODULES += [
    "wengert.api.argnums",
    "wengert.names_elsewhere",
    "wengert.pages_of_errors",
    "wengert.api.trees",
    "wengert.api.batches",
    "wengert.api.many_parts",
    "wengert.api.tapes",
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


def test_there_are_examples():
    modules = [importlib.import_module(name) for name in MODULES]
    finder = doctest.DocTestFinder(exclude_empty=True)
    assert sum(bool(test.examples) for m in modules for test in finder.find(m)) >= 10
