"""Logistic regression on data that lies in several processes: the gradient is summed where the data is.

Each part makes its own rows, from a seed, in the process that has it; only parameters and gradients travel.
Where Dask is installed, `python examples/cluster.py dask` uses a cluster of its own in the same way.
"""

import functools
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from scipy.optimize import minimize

import wengert as wg


@functools.cache
def rows(seed, count=20_000):
    """The data of one part: made once in each process that asks for it."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3))
    p = 1 / (1 + np.exp(-(x @ np.array([1.5, -2.0, 0.5]) + 0.3)))
    return x, np.where(rng.random(count) < p, 1.0, -1.0)


def loss(theta, seed):
    """The negative log-likelihood of the rows of one part."""
    x, y = rows(seed)
    return np.sum(np.logaddexp(0.0, -y * (x @ theta["weights"] + theta["bias"])))


def fit(executor, parts=range(8)):
    """The parameters that fit all parts, by SciPy's Newton method with products of the Hessian."""
    v, unflatten = wg.flatten({"weights": np.zeros(3), "bias": 0.0})
    total = wg.over_parts(loss, parts, executor)

    def of_vector(v):
        value, slope = wg.value_and_grad(total)(unflatten(v))
        return value, wg.flatten(slope)[0]

    def product(v, direction):
        return wg.flatten(wg.hvp(total)(unflatten(v), unflatten(direction)))[0]

    return unflatten(minimize(of_vector, v, jac=True, hessp=product, method="trust-ncg").x)


def main():
    if "dask" in sys.argv:
        from dask.distributed import Client, LocalCluster

        with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
            found = fit(client)
    else:
        with ProcessPoolExecutor(2) as executor:
            found = fit(executor)
    print(f"weights {np.round(found['weights'], 2)}, bias {found['bias']:.2f}")


if __name__ == "__main__":
    main()
