"""Rules of functions that have captured values: rows read them, derivatives by them are refused, files hold them."""

import subprocess
import sys

import numpy as np
import pytest

import wengert as wg


def close(value, expected):
    np.testing.assert_allclose(value, expected, rtol=1e-12)


def scalar(a):
    def g(x):
        return a * x * x

    wg.scalar_rule(g, lambda x, Ω: 2 * a * x)
    return g


def linear(a):
    def g(x):
        return a * x

    wg.linear_rule(g, lambda ȳ, x: a * ȳ)
    return g


def by_differential(a):
    def g(x):
        return a * x**3

    @wg.differential(g)
    def _(dx, x, Ω):
        return 3 * a * x**2 * dx

    return g


def by_rrule(a):
    def g(x):
        return a * x * x

    @wg.rrule(g)
    def _(x):
        return g(x), lambda ȳ: ȳ * 2 * a * x

    return g


SLOPES = {scalar: 12.0, linear: 3.0, by_differential: 36.0, by_rrule: 12.0}


@pytest.mark.parametrize("factory", SLOPES, ids=lambda each: each.__name__)
@pytest.mark.filterwarnings("ignore::wengert.errors.NativeWarning")
def test_A7_a_row_reads_what_it_has_captured(factory):
    g, slope = factory(3.0), SLOPES[factory]
    close(wg.grad(g)(2.0), slope)
    close(wg.grad(lambda x: g(x) * x)(2.0), slope * 2.0 + g(2.0))
    close(wg.jit(wg.grad(g))(2.0), slope)
    close(wg.jacobian(g, mode="reverse")(2.0), slope)
    if factory is not by_rrule:
        close(wg.pushforward(g, 2.0)[1](1.0), slope)
    first, second = g, factory(5.0)  # two rows of one text
    close(wg.grad(lambda x: first(x) - second(x))(2.0), slope - slope * 5 / 3)


def test_A7_a_row_reads_what_its_variable_holds_when_it_is_called():
    def counter():
        a = 1.0

        def g(x):
            return a * x

        def change(value):
            nonlocal a
            a = value

        wg.scalar_rule(g, lambda x, Ω: a)
        return g, change

    g, change = counter()
    slope = wg.grad(g)
    assert slope(2.0) == 1.0
    change(5.0)
    assert slope(2.0) == 5.0


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("factory", SLOPES, ids=lambda each: each.__name__)
def test_A7_what_a_function_with_a_rule_has_captured_is_not_differentiated_in_silence(
    factory, tier
):
    def applied(f, x):
        return f(x)

    with pytest.raises(wg.errors.NoRule) as error:
        wg.grad(applied, (0, 1), tier=tier)(factory(3.0), 2.0)
    assert (
        str(error.value).splitlines()[0]
        == f"[WG103] the rule of {factory.__name__}.<locals>.g says nothing about `a`, which it has captured and "
        "which is differentiated"
    )
    assert "return f(x)" in str(error.value)
    of_x = wg.grad(applied, 1, tier=tier)  # the function itself left out
    close(of_x(factory(3.0), 2.0), SLOPES[factory])
    close(of_x(factory(5.0), 2.0), SLOPES[factory] * 5 / 3)


def test_a_function_without_a_rule_is_differentiated_by_what_it_has_captured():
    def plain(a):
        return lambda x: a * x * x

    gradient, slope = wg.gradient(lambda f, x: f(x), plain(3.0), 2.0)
    assert (gradient.a, slope) == (4.0, 12.0)


# --- saved ------------------------------------------------------------------------------------

SCRIPT = """
import numpy as np
import wengert as wg

SCALES = [2.0, 0.5]

def score(mu):
    return -SCALES[1] * float(np.sum(mu ** 2))

@wg.rrule(score)
def _(mu):
    return score(mu), lambda y_bar: -y_bar * mu

def loss(mu):
    return score(mu) + np.sum(mu)

wg.grad(loss).specialize(np.ones(3)).save("saved.py")
"""


def run(code, folder):
    """What a process prints that runs some code."""
    outcome = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=folder, capture_output=True, text=True
    )
    assert outcome.stderr == ""
    return outcome.stdout.strip()


def saved_and_run(derivative, name, argument, folder):
    """What a saved derivative prints in a process that cannot import wengert, nor this file."""
    derivative.save(folder / "saved.py")
    return run_saved(name, argument, folder)


def run_saved(name, argument, folder):
    code = "import sys; sys.modules['wengert'] = None; import numpy as np, saved"
    return run(f"{code}; print(saved.{name}({argument}))", folder)


def test_A13_a_saved_derivative_brings_the_rule_that_it_calls(tmp_path):
    (tmp_path / "model.py").write_text(SCRIPT)
    run("import runpy; runpy.run_path('model.py', run_name='__main__')", tmp_path)
    assert run_saved("grad_loss", "np.ones(3)", tmp_path) == "[0. 0. 0.]"


def test_a_saved_derivative_brings_what_a_rule_has_captured(tmp_path):
    g = by_rrule(3.0)

    def cubic(x):
        return g(x) * x

    derivative = wg.grad(cubic).specialize(2.0)
    assert saved_and_run(derivative, "grad_cubic", "2.0", tmp_path) == "36.0"


def test_a_derivative_whose_file_would_not_run_is_not_saved(tmp_path):
    lock = object()

    def g(x):
        return x

    @wg.rrule(g)
    def _(x):
        assert lock
        return x, lambda ȳ: ȳ

    with pytest.raises(wg.errors.NoSource) as error:
        wg.grad(lambda x: g(x) * x).save(tmp_path / "saved.py")
    assert str(error.value) == (
        "[WG102] the saved file would lack what it calls: function is the function "
        "test_a_derivative_whose_file_would_not_run_is_not_saved.<locals>._\n\n"
        "  Define it with `def` at the top of a module that the file can import.\n\n"
        "  explained by `wengert explain WG102`"
    )
    assert not (tmp_path / "saved.py").exists()
