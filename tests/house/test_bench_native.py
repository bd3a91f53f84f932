"""The benchmark of native code runs, on tiny sizes: it compares all tools' gradients before it times them."""

import json
import os
import subprocess
import sys

import pytest
from places import ROOT

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")

COMMAND = ROOT / "benchmarks" / "native.py"


def run(folder, *options):
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    figures = folder / "figures.json"
    command = [sys.executable, str(COMMAND), "--quick", "--json", str(figures), *options]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(figures.read_text(encoding="utf-8"))


def test_every_tool_finds_the_same_gradients_and_is_timed(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "ratios.svg"
    rows = ("five", "loops", "elementwise", "calls", "small")
    tools = ("wengert", "python", "c", "numpy", "jax")
    printed, figures = run(tmp_path, "--only", *rows, "--tools", *tools, "--plot", str(picture))
    seconds = figures["seconds, 1 threads"]
    assert len(seconds) == 17
    assert all(row["wengert"] > 0 for row in seconds.values())
    by_python = {name for name, row in seconds.items() if "python" in row}
    assert by_python == {"Kalman filter", "spectra", "pseudo-inverses"}
    assert all(
        "numpy" in seconds[name] for name in seconds.keys() - by_python - {"x", "Lorenz, RK4"}
    )
    assert "| MLP 784-32-10 |" in printed
    if sys.platform == "linux":
        assert "wengert" in figures["bytes per step"]["logistic map"]
    assert picture.stat().st_size > 1000


def test_a_program_of_each_family_has_the_gradient_of_its_python_form(tmp_path):
    printed, figures = run(tmp_path, "--only", "families", "--tools", "wengert", "python")
    seconds = figures["seconds, 1 threads"]
    assert len(seconds) == 17
    assert all(row["python"] > 0 for row in seconds.values())
    assert "| bundle adjustment |" in printed


def test_first_gradients_and_growth(tmp_path):
    printed, figures = run(tmp_path, "--only", "first", "growth", "--tools", "wengert")
    assert set(figures["first gradient"]["SinCos"]) == {"wengert, cold", "wengert, warm"}
    assert set(figures["growth"]) == {
        "ode, n", "gmm 2_5, points", "lstm l=2, characters", "Lorenz, steps"
    }  # fmt: skip
    assert "| Lorenz, steps |" in printed
