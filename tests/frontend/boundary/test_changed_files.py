"""A file that changes after it was imported: the derivative is that of the code that runs, or none."""

import importlib
import os
from pathlib import Path
from types import ModuleType

import pytest

import wengert as wg
from wengert.errors import NoSource

SQUARE = "def f(x):\n    return x * x\n"
CUBE = "def f(x):\n    return x * x * x\n"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "changing.py"


def imported(path: Path, text: str) -> ModuleType:
    written(path, text)
    importlib.invalidate_caches()
    module = importlib.import_module(path.stem)
    return importlib.reload(module)


def written(path: Path, text: str) -> None:
    """Python compares times in whole seconds: each text is a minute younger than the last."""
    before = path.stat().st_mtime if path.exists() else 1e9
    path.write_text(text)
    os.utime(path, (before + 60, before + 60))


def derivatives(f, x):
    return [wg.grad(f)(x), wg.pushforward(f, x)[1](1.0), wg.value_and_grad(f)(x)[1]]


def test_a_module_that_is_reloaded(path):
    assert derivatives(imported(path, SQUARE).f, 2.0) == [4.0, 4.0, 4.0]
    module = imported(path, CUBE)
    assert module.f(2.0) == 8.0
    assert derivatives(module.f, 2.0) == [12.0, 12.0, 12.0]
    assert wg.grad(lambda x: module.f(x))(2.0) == 12.0


def test_a_file_that_changes_after_its_first_derivative(path):
    f = imported(path, SQUARE).f
    assert wg.grad(f)(2.0) == 4.0
    written(path, CUBE)
    assert derivatives(f, 2.0) == [4.0, 4.0, 4.0]


@pytest.mark.static_tier
def test_a_file_that_changes_before_its_first_derivative(path):
    f = imported(path, "def f(x):\n    return x / 3\n").f
    written(path, CUBE)
    with pytest.raises(NoSource, match="is not where Python says it is"):
        wg.grad(f)(2.0)


def test_only_comments_and_spaces_change(path):
    f = imported(path, SQUARE).f
    written(path, "def f(x):  # the square\n\n    return x*x\n")
    assert derivatives(f, 2.0) == [4.0, 4.0, 4.0]


@pytest.mark.static_tier
def test_a_constant_changes(path):
    f = imported(path, "def f(x):\n    return 2 * x\n").f
    written(path, "def f(x):\n    return 2.0 * x\n")
    with pytest.raises(NoSource):
        wg.grad(f)(2.0)


@pytest.mark.static_tier
def test_a_file_that_could_not_be_parsed_is_corrected(path):
    f = imported(path, "def f(x):\n    return x / 4\n").f
    written(path, "def f(x:\n")
    with pytest.raises(NoSource, match="cannot be parsed"):
        wg.grad(f)(2.0)
    assert derivatives(imported(path, CUBE).f, 2.0) == [12.0, 12.0, 12.0]


METHODS = """\
from __future__ import annotations


class Scaled:
    def __init__(self, w):
        self.__w = w

    def of(self, x: float) -> float:
        def inner(y: float = 2.0) -> float:
            "Something that is documented."
            return self.__w * y * x

        return inner() + (lambda z: z if z in {1, 2, 3} else 2 * z)(x) + (-0.0) * x
"""


def test_methods_closures_and_lambdas_of_a_module(path):
    scaled = imported(path, METHODS).Scaled(3.0)
    assert derivatives(scaled.of, 5.0) == [8.0, 8.0, 8.0]
