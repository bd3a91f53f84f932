"""`jax.jit` of `jax.value_and_grad`; loops are `lax.scan`, as only that has a reverse mode."""

import os
from types import FunctionType

import jax
import jax.numpy as arrays
import jax_families
from problems import FAMILIES

jax.config.update("jax_enable_x64", True)
if "JAX_COMPILATION_CACHE_DIR" in os.environ:
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def scanned(step, state, n):
    """`step` from state to state, n times; what it computed is computed again on the way back."""
    again = jax.checkpoint(lambda state, _: (step(state), None))
    return jax.lax.scan(again, state, None, length=n)[0]


def loop(x, n):
    return jax.lax.scan(lambda r, _: (r * arrays.sin(x), None), 1.0, None, length=n)[0]


def logistic_map(r, x, n):
    return scanned(lambda x: r * x * (1 - x), x, n)


def lorenz(x, y, z, sigma, rho, beta, n):
    h = 0.00001

    def slopes(state):
        x, y, z = state
        return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

    def moved(state, h, slope):
        return tuple(a + h * b for a, b in zip(state, slope, strict=True))

    def step(state):
        k1 = slopes(state)
        k2 = slopes(moved(state, h / 2, k1))
        k3 = slopes(moved(state, h / 2, k2))
        k4 = slopes(moved(state, h, k3))
        total = (a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True))
        return moved(state, h / 6, total)

    return sum(scanned(step, (x, y, z), n))


def newton(a):
    """At most 50 steps, of which those after the last change nothing."""

    def step(x):
        return arrays.where(arrays.abs(x * x - a) > 1e-12 * a, 0.5 * (x + a / x), x)

    return scanned(step, a, 50)


def erf(x):
    return jax.scipy.special.erf(x)


def call(problem, _threads):
    function = problem.function
    forms = vars(jax_families) if problem.row == FAMILIES else globals()
    own = forms.get(function.__name__)
    names = {"np": arrays, "math": arrays, "erf": erf}
    read = own or FunctionType(function.__code__, function.__globals__ | names)
    counts = tuple(k for k, value in enumerate(problem.arguments) if isinstance(value, int))
    compiled = jax.jit(jax.value_and_grad(read, problem.argnums), static_argnums=counts)
    arguments = [
        value if isinstance(value, int) else arrays.asarray(value) for value in problem.arguments
    ]
    return lambda: jax.block_until_ready(compiled(*arguments))
