"""Derivatives keep the signatures of functions, for editors and type checkers."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("typed_program.py")


def test_signatures_are_kept(tmp_path):
    pyright = shutil.which("pyright", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if pyright is None:
        pytest.skip("pyright is not there")
    shutil.copy(PROGRAM, tmp_path)
    source = Path(__file__).parent.parent / "src"
    project = {
        "include": [PROGRAM.name],
        "extraPaths": [str(source)],
        "typeCheckingMode": "standard",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(project))
    run = subprocess.run(
        [pyright, "--outputjson", "-p", str(tmp_path), "--pythonpath", sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(run.stdout)["generalDiagnostics"]
    lines = {each["range"]["start"]["line"] for each in found if each["severity"] == "error"}
    expected = {k for k, line in enumerate(PROGRAM.read_text().splitlines()) if "# error:" in line}
    assert lines == expected, "\n".join(each["message"] for each in found)
