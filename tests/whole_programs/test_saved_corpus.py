"""Saved derivatives of the corpus, all run in one process that cannot import wengert."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import programs
import pytest
from places import TESTS
from programs import pending
from test_corpus import has_one_real_result
from turns import has_turn

import wengert as wg

RUN = """
import importlib.util, math, pathlib, pickle, sys, types
sys.modules["wengert"] = None  # it cannot be imported
import numpy as np

package = sys.modules["programs"] = types.ModuleType("programs")  # whose `__init__` imports wengert
package.__path__ = [sys.argv[2]]

def alike(a, b):
    assert type(a) is type(b), f"{type(a)}, expected {type(b)}"
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b):
            alike(x, y)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            alike(a[key], b[key])
    elif hasattr(a, "__dict__"):
        alike(vars(a), vars(b))
    elif a is not None:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)

for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pickle")):
    try:
        spec = importlib.util.spec_from_file_location(path.stem, path.with_suffix(".py"))
        module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        own = (each for each in vars(module).values() if isinstance(each, types.FunctionType))
        derivative = [each for each in own if each.__module__ == path.stem and each.__name__[0] != "_"][-1]
        args, expected = pickle.loads(path.read_bytes())
        alike(derivative(*args), expected)
    except Exception as error:
        print("wrong:", path.stem, type(error).__name__, " ".join(str(error).split())[:300])
print("all have been run")
"""


def saved(program: Any, folder: Path) -> bool:
    """Save the derivative of a program, and what it gives."""
    args = program.points[0]
    derivative = wg.grad(program.function, argnums=program.wrt).specialize(*copy.deepcopy(args))
    expected = derivative(*copy.deepcopy(args))
    kept = pickle.dumps((args, expected))
    name = program.name.replace(".", "_")
    derivative.save(folder / f"{name}.py")
    if "wengert.api.runtime_dispatch" in derivative.source:
        return (
            False  # which function is called only the run tells: its derivative must be taken then
        )
    (folder / f"{name}.pickle").write_bytes(kept)
    return True


@pytest.mark.filterwarnings("ignore")
def test_saved_derivatives_run_without_wengert(tmp_path: Path) -> None:
    refused = pending.GRADIENT | pending.SPECIALISED | pending.IMPORTED
    chosen = [
        p
        for p in programs.PROGRAMS
        if has_turn(p.name, 2, 5)
        and has_one_real_result(p)
        and p.name not in refused
        and not p.late
    ]
    count = sum(saved(program, tmp_path) for program in chosen)
    run = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        RUN,
        str(tmp_path),
        str(TESTS / "programs"),
    ]
    path = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(run, capture_output=True, text=True, env=path, check=True)
    assert "all have been run" in done.stdout
    wrong = [line for line in done.stdout.splitlines() if line.startswith("wrong: ")]
    assert not wrong
    assert count > len(chosen) * 0.8
