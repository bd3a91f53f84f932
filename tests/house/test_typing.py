"""Derivatives keep the signatures of functions, for editors and type checkers."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from places import HELPERS, SOURCE

PROGRAM = HELPERS / "typed_program.py"


def by_pyright(pyright: str, folder: Path) -> Iterator[int]:
    project = {
        "include": [PROGRAM.name],
        "extraPaths": [str(SOURCE)],
        "typeCheckingMode": "standard",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(project))
    told = output(pyright, "--outputjson", "-p", folder, "--pythonpath", sys.executable)
    for each in json.loads(told)["generalDiagnostics"]:
        if each["severity"] == "error":
            yield each["range"]["start"]["line"] + 1


def by_mypy(mypy: str, folder: Path) -> Iterator[int]:
    options = ["--follow-imports=silent", "--cache-dir", folder / "cache"]
    told = output(mypy, *options, folder / PROGRAM.name, MYPYPATH=str(SOURCE))
    yield from map(int, re.findall(r"^.*:(\d+): error:", told, re.MULTILINE))


def output(*command: object, **environment: str) -> str:
    run = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )
    return run.stdout


@pytest.mark.parametrize("found_by", [by_pyright, by_mypy])
def test_signatures_are_kept(found_by, tmp_path):
    name = found_by.__name__.removeprefix("by_")
    checker = shutil.which(name, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if checker is None:
        pytest.skip(f"{name} is not there: the extra `dev` brings it")
    shutil.copy(PROGRAM, tmp_path)
    lines = enumerate(PROGRAM.read_text().splitlines(), 1)
    assert set(found_by(checker, tmp_path)) == {k for k, line in lines if "# error:" in line}
