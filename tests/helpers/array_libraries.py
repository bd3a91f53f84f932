"""The libraries of arrays that tests try: how each makes an array of one of NumPy's."""

import importlib.util
import os

import numpy as np


def _strict():
    import array_api_strict

    return lambda x: array_api_strict.asarray(np.array(x))


def _torch():
    import torch

    return lambda x: torch.tensor(np.array(x))


def _jax():
    import jax

    jax.config.update("jax_enable_x64", True)
    return lambda x: jax.numpy.asarray(np.array(x))


_ALL = {"array_api_strict": _strict, "torch": _torch, "jax": _jax}
HAS_JAX = importlib.util.find_spec("jax") is not None
_APART = frozenset(("jax",)) if "WENGERT_TEST_JAX" not in os.environ else frozenset()
"""JAX starts threads, after which no test may fork: its tests have a process of their own."""
LIBRARIES = {
    name: make
    for name, make in _ALL.items()
    if name not in _APART and importlib.util.find_spec(name)
}
"""By name, what gives the function that makes an array."""


def to_numpy(x):
    """An array of any of them as one of NumPy's."""
    if type(x).__module__.startswith("array_api_strict"):
        return np.from_dlpack(x)
    return np.asarray(x)
