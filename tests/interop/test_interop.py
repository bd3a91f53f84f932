"""NumPy functions inside PyTorch, JAX and PyTensor: value, gradient and second derivative against wengert's own."""

import numpy as np
import pytest

import wengert as wg


def loss(w, x):
    total = 0.0
    for k in range(len(x)):
        total += np.tanh(w[0] * x[k] + w[1]) ** 2
    return total


def both(w):
    return np.sin(w), np.sum(w**2)


W, X = np.array([0.7, -0.2]), np.array([0.3, 1.1, 2.0])


def test_torch():
    torch = pytest.importorskip("torch")
    from wengert.interop.torch import function

    w, x = torch.tensor(W, requires_grad=True), torch.tensor(X)
    value = function(loss)(w, x)
    assert value.item() == pytest.approx(loss(W, X))
    (slope,) = torch.autograd.grad(value, w, create_graph=True)
    assert slope.detach().numpy() == pytest.approx(wg.grad(loss)(W, X))
    hessian = torch.autograd.functional.hessian(lambda w: function(loss)(w, x), torch.tensor(W))
    assert hessian.numpy() == pytest.approx(wg.hessian(loss)(W, X))
    assert torch.autograd.gradcheck(function(both), (w,))
    single = torch.tensor(W, dtype=torch.float32, requires_grad=True)
    function(loss)(single, X.astype(np.float32)).backward()
    assert single.grad.dtype == torch.float32


def test_jax():
    jax = pytest.importorskip("jax")
    from wengert.interop.jax import function

    jax.config.update("jax_enable_x64", True)
    f = function(loss)
    assert float(f(W, X)) == pytest.approx(loss(W, X))
    assert np.asarray(jax.jit(jax.grad(f))(W, X)) == pytest.approx(wg.grad(loss)(W, X))
    hessian = jax.jacrev(jax.grad(f))(W, X)
    assert np.asarray(hessian) == pytest.approx(wg.hessian(loss)(W, X))
    many = jax.vmap(jax.grad(f), (0, None))(np.stack([W, 2 * W]), X)
    assert np.asarray(many)[1] == pytest.approx(wg.grad(loss)(2 * W, X))
    assert np.asarray(jax.grad(lambda w: function(both)(w)[1] + function(both)(w)[0][0])(W)) == (
        pytest.approx(2 * W + np.array([np.cos(W[0]), 0.0]))
    )


@pytest.mark.filterwarnings("ignore:Numba will use object mode")
def test_pytensor():
    pytensor = pytest.importorskip("pytensor")
    from wengert.interop.pytensor import function

    w, x = pytensor.tensor.dvectors("w", "x")
    value = function(loss)(w, x)
    slope = pytensor.grad(value, w)
    given = {w: W, x: X}
    assert value.eval(given) == pytest.approx(loss(W, X))
    assert slope.eval(given) == pytest.approx(wg.grad(loss)(W, X))
    assert pytensor.gradient.hessian(value, w).eval(given) == pytest.approx(wg.hessian(loss)(W, X))
    doubled = function(lambda w: 2 * np.sin(w), ndim=1)(w)
    assert pytensor.grad(doubled.sum(), w).eval({w: W}) == pytest.approx(2 * np.cos(W))
