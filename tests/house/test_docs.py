"""The pages are true: examples run and print what is shown, tables say what happens."""

from __future__ import annotations

import copy
import importlib.util
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pages
import pytest

import wengert as wg
from wengert.frontend.polyfills import manifest
from wengert.ops import registry
from wengert.rules import registry as rules

REFUSED = [
    pytest.param(*row[:2], id=f"{pages.name_of(page)}: {pages.code_in(row[0])}")
    for page in pages.PAGES
    for row in pages.rows(pages.text_of(page), "in a function")
]
RECORDED = [
    pytest.param(*row[:2], id=pages.code_in(row[0]))
    for row in pages.rows(pages.text_of(pages.ROOT / "docs/refused.md"), "what is not read")
]
CALLS = [
    pytest.param(*row[:2], id=pages.code_in(row[0]))
    for row in pages.rows(pages.text_of(pages.ROOT / "docs/refused.md"), "a call")
]
KINKS = [
    pytest.param(*map(pages.code_in, row), id=f"{row[0]} at {row[1]}")
    for row in pages.rows(pages.text_of(pages.ROOT / "docs/rules.md"), "function")
]
PREAMBLE = """\
import math
from types import SimpleNamespace

import numpy as np

import wengert as wg

total = 0.0
hidden = eval("lambda t: t * t")


class Model:
    def __init__(self, w):
        self.w = w


x = 2.0
v = np.array([1.0, 2.0, 3.0])
A = np.eye(2)
xs = [1.0, 2.0]
d = {"a": 1.0, "b": 2.0}
p = SimpleNamespace(x=1.0)
POINT = {"x": x, "v": v, "A": A, "xs": xs, "d": d, "p": p}
"""


@pytest.fixture(autouse=True)
def _rules_are_put_back() -> Iterator[None]:
    """What the pages register is gone when their test ends."""
    importlib.import_module("scipy.special")  # whose table is loaded with it, and only once
    rules.rules()  # loads the tables that are not there yet
    before = dict(rules._rules)
    yield
    rules._rules.clear()
    rules._rules.update(before)
    rules._state.generation += 1


def module_of(code: str, folder: Path) -> Any:
    """A module with that code, from a file."""
    file = folder / "example.py"
    file.write_text(PREAMBLE + "\n\n" + code + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("example", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name_of)
def test_examples(
    page: Path, update: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "scipy" in pages.text_of(page):
        pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert "```text\n```" not in pages.text_of(page), (
        "an example that was to show something shows nothing"
    )
    printed = pages.outputs(page, tmp_path)
    if update:
        page.write_text(pages.with_outputs(pages.text_of(page), printed), encoding="utf-8")
    for example, output in zip(pages.examples(pages.text_of(page)), printed, strict=True):
        where = f"{pages.name_of(page)}:{example.line}"
        assert unnumbered(output) == unnumbered(example.shown), f"{where}: try pytest --update"


def unnumbered(text: str) -> str:
    """Output without the line numbers of wengert's own modules, which any change may move."""
    return re.sub(r"(src/wengert/[\w/]+\.py):\d+", r"\1", text)


@pytest.mark.parametrize(("cell", "code"), REFUSED)
def test_refused_in_a_function(cell: str, code: str, tmp_path: Path) -> None:
    body = textwrap.indent(pages.code_in(cell), "    ")
    result = "" if "return" in body.split("\n")[-1] else "    return x\n"
    module = module_of(f"def f({', '.join(ARGUMENTS)}):\n{body}\n{result}", tmp_path)
    with pytest.raises(wg.WengertError) as caught:
        wg.gradient(module.f, *(module.POINT[name] for name in ARGUMENTS))
    assert caught.value.code == code


@pytest.mark.parametrize(("cell", "code"), RECORDED)
def test_recorded_in_a_function(cell: str, code: str, tmp_path: Path) -> None:
    body = textwrap.indent(pages.code_in(cell), "    ")
    result = "" if "return" in body.split("\n")[-1] else "    return x\n"
    module = module_of(f"def f({', '.join(ARGUMENTS)}):\n{body}\n{result}", tmp_path)

    def at(step: float) -> Any:
        x, *others = (copy.deepcopy(module.POINT[name]) for name in ARGUMENTS)
        return module.f(x + step, *others)

    with pytest.raises(wg.WengertError) as caught:
        wg.grad(module.f, tier="static")(*(module.POINT[name] for name in ARGUMENTS))
    assert caught.value.code == code
    slope = wg.grad(module.f)(*(module.POINT[name] for name in ARGUMENTS))
    assert slope == pytest.approx((at(1e-6) - at(-1e-6)) / 2e-6, rel=1e-6)


ARGUMENTS = ["x", "v", "A", "xs", "d", "p"]


@pytest.mark.parametrize(("cell", "code"), CALLS)
def test_refused_calls(cell: str, code: str, tmp_path: Path) -> None:
    module = module_of(f"def call():\n    return {pages.code_in(cell)}", tmp_path)
    with pytest.raises(wg.WengertError) as caught:
        module.call()
    assert caught.value.code == code


@pytest.mark.parametrize(("function", "at", "gradient"), KINKS)
def test_kinks(function: str, at: str, gradient: str, tmp_path: Path) -> None:
    code = f"def f(*xs):\n    x, y = (*xs, 0.0)[:2]\n    return {function}\n"
    module = module_of(f"inf = math.inf\nat = {at},\nexpected = {gradient},\n\n\n{code}", tmp_path)
    found = wg.gradient(module.f, *module.at)
    np.testing.assert_array_equal(found, module.expected)


def test_every_function_of_the_coverage_table_is_known() -> None:
    table = "\n".join(
        row[1] for row in pages.rows(pages.text_of(pages.ROOT / "docs/coverage.md"), NUMPY_TABLE)
    )
    names = re.findall(r"`np\.([\w.]+)`", table)
    assert len(names) > 50
    assert [name for name in names if not _is_covered(_function(name))] == []


def _is_covered(function: Any) -> bool:
    """Whether a function is an op, or something in Python stands for it."""
    return registry.find(function) is not None or manifest.stand_in_for(function) is not None


NUMPY_TABLE = "of NumPy and the standard library"


def _function(name: str) -> Any:
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part)
    return function


LINK = re.compile(r"\]\(([^)#:]*)(?:#([\w-]+))?\)")


def test_links_lead_somewhere() -> None:
    broken = [
        f"{pages.name_of(page)}: {file}#{place}"
        for page in {*pages.PAGES, *pages.ROOT.glob("*.md")}
        for file, place in LINK.findall(re.sub("`[^`]*`", "", pages.text_of(page)))
        if not _is_there(page.parent / file if file else page, place)
    ]
    assert broken == []


def _is_there(file: Path, place: str) -> bool:
    """Whether there is a file, and an anchor of that name in it."""
    return file.exists() and (not place or f'<a id="{place}"></a>' in pages.text_of(file))
