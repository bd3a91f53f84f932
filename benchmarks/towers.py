"""The n-th derivative of exp(-x²), n = 1 … 40: how exact it is, and what it costs.

    python benchmarks/towers.py [--quick]

JAX, CasADi and SymPy are optional: without them, their columns are left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import islice
from statistics import median
from typing import Any

import mpmath
import numpy as np
from machine import machine_line

import wengert as wg

X = 0.5
ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 25, 30, 35, 40)
SLOW = 8
"""The highest order that nested `jax.grad` is asked for: its cost doubles with each."""


def gaussian(x: Any) -> Any:
    return np.exp(-(x**2))


def dense(x: Any) -> Any:
    """A function whose series have no zeros, so that products cost what they cost in general."""
    return np.exp(np.sin(x)) / (2 + np.cos(x))


def by_tower(order: int) -> float:
    *_, last = islice(wg.derivatives(gaussian, X), order + 1)
    return float(last)


def by_dense_tower(order: int) -> float:
    return float(wg.taylor(dense, X, order)[order])


def by_graph(order: int) -> float:
    (x,) = wg.Graph().variables("x")
    f = gaussian(x)
    for _ in range(order):
        f = f.derive(x)
    return float(f.eval(x=X))


def exact(order: int) -> Any:
    with mpmath.workdps(60):
        x = mpmath.mpf(X)
        return (-1) ** order * mpmath.hermite(order, x) * mpmath.exp(-x * x)


def jax_columns() -> dict[str, Callable[[int], float]]:
    """Taylor mode and nested gradients of JAX, where it is installed, in double precision."""
    try:
        import jax
        from jax.experimental import jet
    except ImportError:
        return {}
    jax.config.update("jax_enable_x64", True)

    def function(x: Any) -> Any:
        return jax.numpy.exp(-(x**2))

    def by_jet(order: int) -> float:
        series = [1.0, *[0.0] * (order - 1)]
        return float(jet.jet(function, (X,), (series,))[1][-1])

    def by_nested_grad(order: int) -> float:
        f = function
        for _ in range(order):
            f = jax.grad(f)
        return float(f(X))

    return {"jax.experimental.jet": by_jet, "nested jax.grad": by_nested_grad}


def graph_sizes(highest: int) -> list[int]:
    """The nodes of a graph that holds the derivatives up to each order."""
    g = wg.Graph()
    (x,) = g.variables("x")
    f = gaussian(x)
    sizes: list[int] = []
    for _ in range(highest):
        f = f.derive(x)
        sizes.append(len(g))
    return sizes


def jaxpr_sizes(highest: int) -> list[int]:
    """The equations of nested `jax.grad`; none where JAX is not installed."""
    try:
        import jax
    except ImportError:
        return []

    def function(x: Any) -> Any:
        return jax.numpy.exp(-(x**2))

    sizes: list[int] = []
    for _ in range(highest):
        function = jax.grad(function)
        sizes.append(_equations(jax.make_jaxpr(function)(X).jaxpr))
    return sizes


def jet_sizes(highest: int) -> list[int]:
    """The equations of JAX's Taylor mode, for all orders up to n; none where JAX is not installed."""
    try:
        import jax
        from jax.experimental import jet
    except ImportError:
        return []

    def all_orders(x: Any, order: int) -> Any:
        series = [1.0, *[0.0] * (order - 1)]
        return jet.jet(lambda x: jax.numpy.exp(-(x**2)), (x,), (series,))

    orders = range(1, highest + 1)
    return [_equations(jax.make_jaxpr(lambda x, n=n: all_orders(x, n))(X).jaxpr) for n in orders]


def casadi_sizes(highest: int) -> list[int]:
    """The instructions of CasADi's derivative of each order; none where CasADi is not installed."""
    try:
        import casadi
    except ImportError:
        return []
    x = casadi.SX.sym("x")
    term = casadi.exp(-(x**2))
    sizes: list[int] = []
    for _ in range(highest):
        term = casadi.gradient(term, x)
        sizes.append(int(casadi.Function("f", [x], [term]).n_instructions()))
    return sizes


def _equations(jaxpr: Any) -> int:
    inner = [p for eqn in jaxpr.eqns for p in eqn.params.values() if hasattr(p, "jaxpr")]
    return len(jaxpr.eqns) + sum(_equations(each.jaxpr) for each in inner)


def sympy_sizes(highest: int) -> list[int]:
    """The operations of SymPy's derivative after its `cse`; none where SymPy is not installed."""
    try:
        import sympy
    except ImportError:
        return []
    x = sympy.Symbol("x")
    sizes: list[int] = []
    for order in range(1, highest + 1):
        parts, (rest,) = sympy.cse(sympy.diff(sympy.exp(-(x**2)), x, order))
        sizes.append(int(sympy.count_ops([*(e for _, e in parts), rest])))
    return sizes


def print_sizes(highest: int = 8) -> None:
    """One row for each system: how large the n-th derivative of exp(-x²) is."""
    print("| n | " + " | ".join(str(n) for n in range(1, highest + 1)) + " |")
    print("|---" * (highest + 1) + "|")
    rows = {
        "wg.Graph, nodes for all orders up to n": graph_sizes(highest),
        "nested jax.grad, equations": jaxpr_sizes(highest),
        "jax.experimental.jet, equations for all orders up to n": jet_sizes(highest),
        "CasADi, instructions": casadi_sizes(highest),
        "SymPy after cse, operations": sympy_sizes(highest),
    }
    for name, sizes in rows.items():
        if sizes:
            print(f"| {name} | " + " | ".join(map(str, sizes)) + " |")
    print()


def seconds(run: Callable[[int], float], order: int, rounds: int) -> float:
    """The shortest of some runs."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        run(order)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round, as a smoke test")
    rounds = 1 if parser.parse_args().quick else 7
    print_sizes()
    columns: dict[str, Callable[[int], float]] = {
        "wg.derivatives": by_tower,
        "wg.Graph, by .derive": by_graph,
        "wg.taylor of a dense series": by_dense_tower,
        **jax_columns(),
    }
    print(
        "| n | relative error of wg.derivatives | " + " | ".join(f"{c}, ms" for c in columns) + " |"
    )
    print("|---" * (len(columns) + 2) + "|")
    worst = mpmath.mpf(0)
    for order in ORDERS:
        error = abs(by_tower(order) / exact(order) - 1)
        worst = max(worst, error)
        cells = [
            "" if "nested" in name and order > SLOW else f"{1e3 * seconds(run, order, rounds):.3f}"
            for name, run in columns.items()
        ]
        print(f"| {order} | {float(error):.1e} | " + " | ".join(cells) + " |")
    print(f"\nlargest relative error: {float(worst):.1e}")
    print(f"growth of the dense series from n = 20 to 40: {growth(rounds):.2f} times")
    print_compiled(10 if rounds == 1 else 1000)
    print(machine_line("numpy", "mpmath", "jax"))


COMPILED = (1, 2, 3, 4, 5, 6, 7, 8, 20, 40)
"""The orders that are compiled; nested `jax.grad` up to half of `SLOW`: compiling takes its time."""


def compiled_graph(order: int) -> Callable[[float], float]:
    """The n-th derivative as a Python function, made of a graph."""
    (x,) = wg.Graph().variables("x")
    f = gaussian(x)
    for _ in range(order):
        f = f.derive(x)
    return f.to_function()


def compiled_jax() -> dict[str, Callable[[int], Callable[[float], Any]]]:
    """From an order to JAX's derivative, to be compiled at its first call."""
    try:
        import jax
        from jax.experimental import jet
    except ImportError:
        return {}

    def function(x: Any) -> Any:
        return jax.numpy.exp(-(x**2))

    def by_jet(order: int) -> Callable[[float], Any]:
        series = [1.0, *[0.0] * (order - 1)]
        return jax.jit(lambda x: jet.jet(function, (x,), (series,))[1][-1])

    def by_nested_grad(order: int) -> Callable[[float], Any]:
        f = function
        for _ in range(order):
            f = jax.grad(f)
        return jax.jit(f)

    return {"jax.jit of jet": by_jet, "jax.jit of nested jax.grad": by_nested_grad}


def print_compiled(calls: int) -> None:
    """What one system and the other take to be ready, and then for a call."""
    columns = {"wg.Graph, to_function": compiled_graph, **compiled_jax()}
    heads = [f"{name}, ready in ms | µs a call" for name in columns]
    print("\n| n | " + " | ".join(heads) + " |")
    print("|---" * (2 * len(columns) + 1) + "|")
    for order in COMPILED:
        cells = [
            " | "
            if "nested" in name and order > SLOW // 2
            else ready_and_called(make, order, calls)
            for name, make in columns.items()
        ]
        print(f"| {order} | " + " | ".join(cells) + " |")


def ready_and_called(make: Callable[[int], Callable[[float], Any]], order: int, calls: int) -> str:
    start = time.perf_counter()
    function = make(order)
    float(function(X))
    ready = time.perf_counter() - start
    times: list[float] = []
    for _ in range(calls):
        start = time.perf_counter()
        float(function(X))
        times.append(time.perf_counter() - start)
    return f"{1e3 * ready:.1f} | {1e6 * median(times):.1f}"


def growth(rounds: int) -> float:
    return seconds(by_dense_tower, 40, rounds) / seconds(by_dense_tower, 20, rounds)


if __name__ == "__main__":
    main()
