"""In a notebook: functions under magics are read, errors are about cells, derivatives show themselves."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from places import HELPERS

NEEDED = ("ipykernel", "nbclient")
SETUP = "import math, numpy as np, wengert as wg"
PLAIN = """\
def loss(x):
    y = 2 * x
    return np.sum(np.packbits(y))"""
SHOWN = {
    "%%time\nrate = 3.0\ndef f(x):\n    return rate * math.sin(x)": [],
    "print(wg.grad(f, tier='static')(0.0)); print(wg.grad(f).specialize(0.0).source)": [
        "3.0",
        "return rate * math.cos(x)  # Cell In[2], line 4",
    ],
    "k = 3\n%time g = lambda x: k * x * x\nprint(wg.grad(g, tier='static')(2.0))": ["12.0"],
    "%timeit -n1 -r 1 print(wg.grad(lambda x: k * x, tier='static')(2.0))": ["3.0\n"],
    "%%timeit -n1 -r1 k = 5\ndef h(x):\n    return k * x\nprint(wg.grad(h, tier='static')(2.0))": [
        "5.0\n"
    ],
    "exec('def e(x):\\n    return x * x')\nprint(wg.grad(e, tier='static')(2.0))": ["4.0"],
    PLAIN: [],
    "wg.hessian(loss)(np.ones(3))": [
        "----> 1 wg.hessian(loss)(np.ones(3))",
        "Cell In[8], line 3, in loss\n    return np.sum(np.packbits(y))\n                  ^^^",
    ],
    f"%%time\n{PLAIN}\nwg.grad(loss)(np.ones(3))": ["Cell In[10], line 4, in loss"],
    "slope = wg.grad(f); slope(1.0); slope": ["<grad of f>", 'class="nf">grad_f<'],
    "slope.specialize(1.0)": ['class="nf">grad_f<'],
    "wg.grad(loss)": ["<grad of loss>"],
    "wg.trace(lambda a, b: a * b, 1.0, 2.0)": ["<svg"],
}


def test_a_notebook(tmp_path: Path) -> None:
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: the extra `dev` brings them")
    runner = HELPERS / "run_notebook.py"
    done = subprocess.run(
        [sys.executable, runner],
        input=json.dumps([SETUP, *SHOWN]),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    _, *outputs = json.loads(done.stdout)
    for (source, expected), output in zip(SHOWN.items(), outputs, strict=True):
        assert [text for text in expected if text not in output] == [], (source, output)
        assert "src/wengert" not in output, source
