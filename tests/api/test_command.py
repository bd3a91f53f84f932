"""`python -m wengert` as people call it, and the page that `explore` writes."""

import re
import subprocess
import sys

import pytest

import wengert as wg
from wengert.__main__ import main

MODEL = """\
import math

import numpy as np

RATE = 0.3


def swing(angle, speed, steps):
    for _ in range(steps):
        speed = speed - 0.1 * math.sin(angle)
        angle = angle + 0.1 * speed
    return angle


def energy(w, x):
    y = np.tanh(x * w)
    return np.sum(y**2) * RATE


def corners(x):
    return np.array([x[0] * x[1], x[1] ** 2])


def later(x):
    return np.sum(np.packbits(x))


class Net:
    @staticmethod
    def loss(x):
        return x * x


WEIGHTS = np.array([1.0, -0.4])
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setitem(sys.modules, "model", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    return "model.py"


def test_show_prints_the_adjoint(model, capsys):
    assert main(["show", f"{model}:swing", "--args", "1.0", "0.0", "30"]) == 0
    text = capsys.readouterr().out
    namespace = {}
    exec(text, namespace)
    assert "for angle in reversed(angles):  # model.py:9" in text
    assert len(namespace["adjoint_swing"](1.0, 0.0, 30)) == 3


@pytest.mark.parametrize(
    ("mode", "shown"), [("forward", "def push_loss(x, x_dot):"), ("ir", "loss(x):")]
)
def test_show_has_other_texts(model, capsys, mode, shown):
    assert main(["show", f"{model}:Net.loss", "--mode", mode]) == 0
    assert capsys.readouterr().out.startswith(shown)


def test_check_says_what_agrees(model, capsys):
    assert main(["check", f"{model}:swing", "--args", "(-1.0)", "math.pi", "3"]) == 0
    assert "derivative and central differences agree" in capsys.readouterr().out


def test_check_fails_where_a_rule_is_wrong(model, capsys):
    with open(model, "a") as file:
        file.write("import wengert\nwengert.scalar_rule(Net.loss, lambda x, Ω: 3 * x)\n")
        file.write("def used(x):\n    return Net.loss(x)\n")
    assert main(["check", f"{model}:used", "--args", "2.0"]) == 1
    out, err = capsys.readouterr()
    assert "the derivative is wrong" in out
    assert err.startswith("[WG401] ")


def test_explore_writes_a_page(model, capsys):
    arguments = ["explore", f"{model}:energy", "--args", "WEIGHTS", "np.arange(2.0)"]
    assert main(arguments) == 0
    assert capsys.readouterr().out == "wrote energy.html\n"
    assert main([*arguments, "-o", "other.html"]) == 0
    with open("other.html", encoding="utf-8") as file:
        assert "WEIGHTS" not in file.read()


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["show", "model.py"], 2, "'model.py' does not name a function"),
        (["show", "absent.py:f"], 2, "there is no file 'absent.py'"),
        (["show", "model.py:lost"], 2, "It has swing, energy, corners, later, Net."),
        (["show", "model.py:swing", "--args", "1 +"], 2, "no Python expression: SyntaxError"),
        (["show", "model.py:later", "--args", "1.0"], 1, "has no derivative rule"),
    ],
)
def test_what_is_wrong_is_said(model, capsys, arguments, status, said):
    assert main(arguments) == status
    assert said in capsys.readouterr().err


def test_an_exception_of_the_program_comes_out(model):
    with pytest.raises(ZeroDivisionError):
        main(["show", f"{model}:swing", "--args", "1.0", "0.0", "3"]) or 1 / 0


def test_it_runs_as_a_module(model):
    command = [sys.executable, "-m", "wengert", "check", f"{model}:Net.loss", "--args", "3.0"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"model.py:Net.loss: value 9.0, derivative .* agree\n", run.stdout)


CHECKED = """\
import numpy as np


def noisy(x):
    return x * np.random.normal()


def product(x, y):
    return x * y


def helper(x):
    if x > 0:
        raise ValueError("it is positive")
    return x


def raises(x):
    return helper(x)
"""


@pytest.fixture
def checked(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setitem(sys.modules, "checked", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checked.py").write_text(CHECKED)


def test_C10_a_function_that_is_not_deterministic(checked, capsys):
    assert main(["check", "checked.py:noisy", "--args", "1.0"]) == 1
    out, err = capsys.readouterr()
    assert "another one in the next call" in out
    assert "[WG401] the function is not deterministic: one call gives" in err
    assert "wrong" not in out + err


def test_C10_the_hint_to_give_arguments(checked, capsys):
    for given in ([], ["--args", "1.0"]):
        assert main(["check", "checked.py:product", *given]) == 2
        err = capsys.readouterr().err
        assert "Traceback" not in err
        assert "product cannot be called with" in err
        assert "missing a required argument" in err
        assert "Give `--args`." in err


@pytest.mark.parametrize("command", ["check", "show", "explore"])
def test_C10_exceptions_of_the_program_show_its_own_lines(checked, capsys, command):
    main([command, "checked.py:raises", "--args", "1.0"])
    err = capsys.readouterr().err
    assert "wengert" not in err
    if command == "check":
        assert 'checked.py", line ' in err
        assert err.endswith("ValueError: it is positive\n")


def test_C10_what_derivatives_call_themselves():
    def f(x):
        return x * x

    derivatives = (wg.grad, wg.jacobian, wg.hessian, wg.diag_hessian, wg.derivative)
    assert [repr(make(f)) for make in derivatives] == [
        "<grad of f>",
        "<jacobian of f>",
        "<hessian of f>",
        "<diag_hessian of f>",
        "<derivative of f>",
    ]


def test_C10_check_gradient_of_a_function_that_counts():
    calls = []

    def counted(x):
        calls.append(x)
        return x * len(calls)

    with pytest.raises(AssertionError, match="the function is not deterministic"):
        wg.testing.check_gradient(counted, 1.5)


PROPOSED = """\
import numpy as np


def f(x: float, n: int, a: np.ndarray, name="first", rate=0.5, *, scale=2.0):
    return x


def later(x: "float", a: "list[float]", anything):
    return x


def ready(x=2.0, y=3.0):
    return x * y
"""


@pytest.mark.parametrize(
    ("name", "proposed"),
    [
        ("f", """--args 1.5 2 "np.ones(3)" "('first')" 0.5"""),
        ("later", """--args 1.5 "[1.0, 2.0]" 1.5"""),
    ],
)
def test_check_proposes_arguments(name, proposed, tmp_path, capsys):
    file = tmp_path / "proposed.py"
    file.write_text(PROPOSED)
    assert main(["check", f"{file}:{name}"]) == 2
    err = capsys.readouterr().err
    assert f"{name} cannot be called with no arguments: missing a required argument" in err
    assert f"Give `--args`. By annotations and defaults: `{proposed}`." in err


def test_check_takes_defaults(tmp_path, capsys):
    file = tmp_path / "proposed.py"
    file.write_text(PROPOSED)
    assert main(["check", f"{file}:ready"]) == 0
    assert "value 6.0, derivative and central differences agree" in capsys.readouterr().out


@pytest.mark.parametrize("code", ["WG101", "wg101", "[WG101]"])
def test_explain(code, capsys):
    assert main(["explain", code]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("## WG101: UnsupportedSyntax\n\n`wengert.errors.UnsupportedSyntax`")
    assert "Move the construct out of the differentiated function" in shown


def test_explain_what_is_no_error(capsys):
    assert main(["explain", "WG999"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("[WG202] there is no error 'WG999'\n\n  There are WG000, WG101, ")
