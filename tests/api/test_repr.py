"""What every object of wengert's says that it is."""

import functools

import numpy as np
import pytest

import wengert as wg


def loss(x, y=1.0):
    return x * y


SHOWN = {
    "<grad of loss>": lambda: wg.grad(loss),
    "<grad of grad of loss>": lambda: wg.grad(wg.grad(loss)),
    "<value_and_grad of loss>": lambda: wg.value_and_grad(loss),
    "<derivative of loss>": lambda: wg.derivative(loss),
    "<derivative of order 2 of loss>": lambda: wg.derivative(loss, order=2),
    "<hvp of loss>": lambda: wg.hvp(loss),
    "<jacobian of loss>": lambda: wg.jacobian(loss),
    "<hessian of loss>": lambda: wg.hessian(loss),
    "<diag_hessian of loss>": lambda: wg.diag_hessian(loss),
    "<sparse jacobian of loss>": lambda: wg.jacobian(loss, sparsity=np.eye(2)),
    "<jit of grad of loss>": lambda: wg.jit(wg.grad(loss)),
    "<vmap of grad of loss>": lambda: wg.vmap(wg.grad(loss)),
    "<grad of vmap of loss>": lambda: wg.grad(wg.vmap(loss)),
    "<grad of partial loss>": lambda: wg.grad(functools.partial(loss, 1.0)),
    "<implicit loss>": lambda: wg.implicit(loss, loss),
    "<pullback of loss>": lambda: wg.pullback(loss, 1.0)[1],
    "<pushforward of loss>": lambda: wg.pushforward(loss, 1.0)[1],
    "<sum of grad of loss over 1 part>": lambda: wg.grad(wg.over_parts(loss, [1.0])),
    "<unflatten: 1 numbers to a list>": lambda: wg.flatten([1.0])[1],
    "<partials by 2 variables>": lambda: wg.numbers.partials(loss, 1.0, 1.0),
    "Dual(1.0, 2.0)": lambda: wg.Dual(1.0, 2.0),
    "<Graph of nothing: 0 nodes>": lambda: wg.Graph(),
    "<Term a * 2>": lambda: wg.Graph().variables("a")[0] * 2,
}


@pytest.mark.parametrize("text", SHOWN)
def test_it_says_what_it_is(text):
    if "sparse" in text:
        pytest.importorskip("scipy")
    assert repr(SHOWN[text]()) == text


def test_what_is_recorded_says_what_it_is():
    hidden = eval("lambda x: x * x")
    for verb in (wg.pullback, wg.pushforward):
        assert repr(verb(hidden, 1.0)[1]).startswith(f"<function {verb.__name__} of <lambda> at ")
