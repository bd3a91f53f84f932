"""Functions with rules of the user's own, as native code: values by their code, derivatives by their rules."""

import math

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("llvmlite")
OFFSET = 1.0


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def softplus(x):
    return math.log1p(math.exp(x)) * OFFSET


def doubled(x):
    return 2.0 * softplus(x)


def halved(n):
    return 0.0 if n < 1 else 1.0 + halved(n / 2)


def steps(x):
    return np.floor(x) if x > 0 else 0.0


wg.scalar_rule(softplus, lambda x, Ω: 7.0)
wg.scalar_rule(doubled, lambda x, Ω: 3.0)
wg.zero_rule(halved)
wg.zero_rule(steps)


def clipped(x):
    return x * 2


@wg.rrule(clipped)
def _(x):
    return x * 2, lambda y_bar: min(y_bar, 1.0)


def native(f, *args):
    compiled = wg.jit(f, strict=True)
    # from Python 3.12 on, `sum` compensates for rounding, and native code does not
    assert compiled(*args) == pytest.approx(f(*args), rel=4e-16)
    assert compiled.exits == 0
    return compiled


@pytest.mark.parametrize(
    "f",
    [
        lambda x: softplus(x) * x,
        lambda x: doubled(x) + softplus(x),
        lambda x: x * halved(x * 10),
        lambda x: sum(softplus(x * k) for k in range(3)),
        lambda x: softplus(x) if x > 0 else doubled(x),
    ],
)
def test_values_are_by_code_and_derivatives_by_rule(f):
    for x in (0.5, -0.25):
        native(f, x)
        native(wg.value_and_grad(f), x)


def test_a_derivative_inside_the_program_is_by_rule():
    f = lambda x: softplus(x) * wg.grad(softplus)(x)
    assert native(f, 0.5)(0.5) == softplus(0.5) * 7.0


def test_of_arrays():
    x = np.array([0.5, 1.5])
    f = lambda x: np.sum([softplus(v) * steps(v) for v in x])
    found, expected = (form(x) for form in (wg.jit(wg.grad(f), strict=True), wg.grad(f)))
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_the_value_of_a_function_with_an_rrule():
    native(lambda x: clipped(x) * x, 0.5)


def test_what_such_a_function_reads_may_change(monkeypatch):
    compiled = native(lambda x: softplus(x), 0.5)
    monkeypatch.setattr(f"{__name__}.OFFSET", 2.0)
    assert compiled(0.5) == softplus(0.5)


def test_a_new_rule_takes_effect():
    def cube(x):
        return x**3

    wg.scalar_rule(cube, lambda x, Ω: 1.0)
    compiled = wg.jit(wg.grad(lambda x: cube(x)), strict=True)
    assert compiled(2.0) == 1.0
    wg.scalar_rule(cube, lambda x, Ω: 5.0)
    assert compiled(2.0) == 5.0
