"""Gradients of NumPy programs on tensors and on JAX's arrays, against `torch.autograd` and `jax.grad`, both eager.

    python benchmarks/other_arrays.py           both libraries
    python benchmarks/other_arrays.py torch     one of them

The peers differentiate the same programs written for them: `np` is their own namespace there. Medians of
interleaved repeats on one thread, in microseconds, float64; a ratio below 1 says that wengert is ahead.
"""

import statistics
import sys
import time
from importlib import import_module

import numpy as np

import wengert as wg

REPEATS = 15
RNG = np.random.default_rng(0)


def workloads(np):
    """Functions that differ in nothing but whose `np` they use, with their arguments as arrays of NumPy's."""

    def rosenbrock(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    def waves(x):
        return np.sum(np.exp(-x * x) * np.sin(3 * x))

    def network(w, v, x):
        return np.mean((np.tanh(x @ w) @ v) ** 2)

    def logistic(w, x, y):
        z = x @ w
        return np.sum(np.log(1 + np.exp(-y * z))) + 0.5 * w @ w

    def normal(mean, scale, x):
        z = (x - mean) / scale
        return np.sum(0.5 * z * z + np.log(scale))

    def solve(a, b):
        return np.sum(np.linalg.solve(a @ a.T + np.eye(a.shape[0], dtype=a.dtype), b) ** 2)

    def attention(q, k, v):
        scores = np.exp(q @ k.T / 8)
        return np.sum((scores / np.sum(scores, axis=1)[:, None] @ v) ** 2)

    def recurrence(h, w, x):
        for k in range(20):
            h = np.tanh(w @ h + x[k])
        return h @ h

    def pairs(r):
        apart = r[:, None, :] - r[None, :, :]
        return np.sum(1 / (np.sum(apart**2, axis=2) + 0.1))

    def mixture(x, m):
        return -np.sum(np.log(np.sum(np.exp(-0.5 * (x[:, None] - m[None, :]) ** 2), axis=1)))

    draw = lambda *shape: RNG.normal(size=shape)
    return [
        (rosenbrock, (draw(1000),)),
        (waves, (draw(100_000),)),
        (network, (draw(256, 256) / 16, draw(256), draw(512, 256))),
        (logistic, (draw(50), draw(5000, 50), np_sign(draw(5000)))),
        (normal, (draw(1000), np_abs(draw(1000)) + 1, draw(200, 1000))),
        (solve, (draw(200, 200), draw(200))),
        (attention, (draw(256, 64), draw(256, 64), draw(256, 64))),
        (recurrence, (draw(128), draw(128, 128) / 16, draw(20, 128))),
        (pairs, (draw(300, 3),)),
        (mixture, (draw(20_000), draw(8))),
    ]


np_sign, np_abs = np.sign, np.abs


def torch_side():
    torch = import_module("torch")
    torch.set_num_threads(1)
    compatible = import_module("array_api_compat.torch")

    def gradient(f):
        def run(*args):
            given = [x.detach().requires_grad_() for x in args]
            f(*given).backward()
            return given[0].grad

        return run

    return compatible, torch.tensor, gradient, lambda x: x


def jax_side():
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy, jax.numpy.asarray, jax.grad, lambda x: x.block_until_ready()


def compare(side):
    namespace, make, peer, wait = side
    print(f"{'':12} {'wengert':>10} {'peer':>10} {'ratio':>7}")
    ratios = []
    for (f, args), (theirs, _) in zip(workloads(np), workloads(namespace), strict=True):
        given = [make(x) for x in args]
        ours, other = wg.grad(f), peer(theirs)
        assert np.allclose(np.asarray(ours(*given)), np.asarray(other(*given)), rtol=1e-8)
        times = {ours: [], other: []}
        for _ in range(REPEATS):
            for run, found in times.items():
                start = time.perf_counter()
                wait(run(*given))
                found.append(time.perf_counter() - start)
        a, b = (statistics.median(found) * 1e6 for found in times.values())
        ratios.append(a / b)
        print(f"{f.__name__:12} {a:10.0f} {b:10.0f} {a / b:7.2f}", flush=True)
    print(f"{'geometric':12} {'':10} {'':10} {statistics.geometric_mean(ratios):7.2f}")


if __name__ == "__main__":
    for name in sys.argv[1:] or ("torch", "jax"):
        print(f"\n{name}")
        compare({"torch": torch_side, "jax": jax_side}[name]())
