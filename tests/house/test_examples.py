"""The examples run as a newcomer runs them, and print what they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

import wengert as wg

EXAMPLES = ROOT / "examples"
NUMBER = r"-?\d+\.?\d*(?:e[+-]?\d+)?"


def run(name, folder):
    """What `python examples/<name>.py` prints when started in `folder`."""
    paths = [str(Path(wg.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "Agg"}
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers_after(label, text):
    """The numbers on the rest of the line that starts with, or contains, `label`."""
    rest = text.split(label, 1)[1].splitlines()[0]
    return [float(number) for number in re.findall(NUMBER, rest)]


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_fits_on_a_page(path):
    assert len(path.read_text().splitlines()) <= 60


def test_nist_reaches_the_certified_parameters(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    printed = run("nist", tmp_path)
    parameters = {"misra1a": 2, "gauss1": 8, "lanczos3": 6, "mgh09": 4, "thurber": 7}
    for name in parameters:
        assert f"\n{name} " in printed
    assert "  False" not in printed.split("The gradient of")[0]
    assert printed.count("  True\n") == sum(parameters.values())
    assert all(
        abs(float(b) - 238.94212918) < 1e-7 for b in printed.split("\n  b1  ")[1].split()[:3]
    )
    assert (tmp_path / "nist.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "nist.png") in printed
    gradient = printed.split("The gradient of misra1a's sum of squares:\n\n")[1]
    assert "def " in gradient
    assert "np.exp" in gradient


def test_orbit_prints_the_published_numbers(tmp_path):
    printed = run("orbit", tmp_path)
    gradient = numbers_after("gradient at launch:", printed)
    assert gradient == pytest.approx([-29.81632748720117, -118.82962568878888], rel=1e-13)
    final_loss = numbers_after("final squared miss:", printed)
    assert final_loss == pytest.approx([0.0021182642699991293], rel=1e-10)
    assert "def " in printed.split("The generated gradient of miss:")[1]


def test_peaks_prints_the_published_numbers(tmp_path):
    printed = run("peaks", tmp_path)
    first, second = (line for line in printed.splitlines() if line.startswith("mu = "))
    assert [float(number) for number in re.findall(NUMBER, first)] == pytest.approx(
        [-0.3359472901625186, 0.6716566066723061, 0.49178910855565744], rel=1e-12
    )
    assert [float(number) for number in re.findall(NUMBER, second)] == pytest.approx(
        [0.7798710844330137, 0.6091475575653205, 0.7659720019774857], rel=1e-12
    )


def test_classifier_learns_to_read(tmp_path):
    pytest.importorskip("sklearn")
    printed = run("classifier", tmp_path)
    assert printed.count("epoch") == 8
    assert numbers_after("test accuracy", printed)[0] > 0.97


def test_cluster_finds_the_parameters_of_data_in_processes(tmp_path):
    pytest.importorskip("scipy")
    shown = run("cluster", tmp_path)
    assert numbers_after("weights", shown) == pytest.approx([1.5, -2.0, 0.5, 0.3], abs=0.05)
