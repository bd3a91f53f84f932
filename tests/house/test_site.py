"""The documentation as web pages: it builds without a warning, and has every public name."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

import wengert as wg

NEEDED = ("sphinx", "furo", "myst_parser")
MODULES = {"errors", "numbers", "ops", "testing"}


def test_it_builds(tmp_path: Path) -> None:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: the extra `docs` brings them")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", tmp_path / "trees"]
    done = subprocess.run(
        [*command, ROOT / "docs", tmp_path / "site"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    assert "The gradient function of a scalar function." in page
    assert "Return type" not in page, "a colon in the first line of `Returns:` is taken for a type"
    assert 'id="wg101"' in (tmp_path / "site" / "errors.html").read_text(encoding="utf-8")


def test_the_reference_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    there = set(re.findall(r"auto(?:function|class):: (\w+)$", page, re.MULTILINE))
    public = {name for name in dir(wg) if not name.startswith("_")}
    assert there | MODULES | {"WengertError"} == public
