"""Derivatives of a graph to order 20: how the graph grows, what it costs, how exact it is.

    python benchmarks/orders.py [--quick]

SymPy and JAX are optional: without them, their columns are left out. Nodes are those of all orders together; SymPy's
are the operations of the same derivatives after `cse`, JAX's the equations of the jaxpr of `jax.grad` nested so often.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath
import numpy as np
from machine import machine_line

import wengert as wg

EARLY, LATE, SLOW = 8, 20, 5
POINTS = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 0.95)


class Namespace(NamedTuple):
    """The functions that a program is written in."""

    sin: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    log: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    tanh: Callable[[Any], Any]
    atan: Callable[[Any], Any]
    asin: Callable[[Any], Any]


NUMPY = Namespace(np.sin, np.exp, np.log, np.sqrt, np.tanh, np.arctan, np.arcsin)
FUNCTIONS: dict[str, Callable[[Namespace, Any], Any]] = {
    "1/x": lambda m, x: 1 / x,
    "1/(1+x²)": lambda m, x: 1 / (1 + x * x),
    "√(1+x²)": lambda m, x: m.sqrt(1 + x * x),
    "x/(1+x)": lambda m, x: x / (1 + x),
    "log(1+x²)": lambda m, x: m.log(1 + x * x),
    "tanh x": lambda m, x: m.tanh(x),
    "logistic": lambda m, x: 1 / (1 + m.exp(-x)),
    "softplus": lambda m, x: m.log(1 + m.exp(x)),
    "arctan x": lambda m, x: m.atan(x),
    "arcsin x": lambda m, x: m.asin(x),
    "x²·⁵/(1+x)": lambda m, x: x**2.5 / (1 + x),
    "exp(-x²)": lambda m, x: m.exp(-x * x),
    "exp(-x²)/(1+x²)": lambda m, x: m.exp(-x * x) / (1 + x * x),
    "sin(x)/x": lambda m, x: m.sin(x) / x,
    "sin x · exp x": lambda m, x: m.sin(x) * m.exp(x),
    "xˣ": lambda m, x: x**x,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="to lower orders: a smoke test")
    late = 10 if parser.parse_args().quick else LATE
    peers = {name: count for name, count in (("SymPy", by_sympy()), ("JAX", by_jax())) if count}
    named = "".join(f" {name}, order {SLOW} |" for name in peers)
    print(
        f"| f | nodes to {EARLY} | to {late} | exponent | derive | evaluate | `taylor` | error |{named}"
    )
    print("|---|" + "---:|" * (7 + len(peers)))
    for name, function in FUNCTIONS.items():
        row = measured(function, late)
        others = "".join(f" {count(function)} |" for count in peers.values())
        print(f"| {name} | {row} |{others}")
    print(mixed(late))
    print(machine_line("wengert"))


def measured(function: Callable[[Namespace, Any], Any], late: int) -> str:
    """The nodes, times and the worst relative error of all orders."""
    start = time.perf_counter()
    graph = wg.Graph()
    (x,) = graph.variables("x")
    terms, sizes = [function(NUMPY, x)], []
    for _ in range(late):
        terms.append(terms[-1].derive(x))
        sizes.append(len(graph))
    derived = time.perf_counter()
    for term in terms:
        term.eval(x=0.3)
    evaluated = time.perf_counter()
    wg.taylor(lambda x: function(NUMPY, x), 0.3, late)
    by_series = time.perf_counter() - evaluated
    power = np.log(sizes[-1] / sizes[EARLY - 1]) / np.log(late / EARLY)
    worst = max(worst_error(function, terms, at) for at in POINTS)
    return (
        f"{sizes[EARLY - 1]} | {sizes[-1]} | {power:.2f} | {derived - start:.3f} s | "
        f"{(evaluated - derived) * 1e3:.1f} ms | {by_series * 1e3:.1f} ms | {worst:.0e}"
    )


def worst_error(function: Callable[[Namespace, Any], Any], terms: list[Any], at: float) -> float:
    """Relative to the value, of the orders to the eighth."""
    with mpmath.workdps(80):
        m = Namespace(*(getattr(mpmath, name) for name in Namespace._fields))
        series = mpmath.taylor(lambda x: function(m, x), mpmath.mpf(at), EARLY)
        errors = [
            abs(terms[k].eval(x=at) / (series[k] * mpmath.factorial(k)) - 1)
            for k in range(EARLY + 1)
            if abs(series[k]) > 1e-30
        ]
        return float(max(errors))


def mixed(late: int) -> str:
    """The growth of ∂x∂y∂x∂y … 1/(x² + y²)."""
    graph = wg.Graph()
    x, y = graph.variables("x", "y")
    term, sizes = 1 / (x * x + y * y), []
    for k in range(late):
        term = term.derive((x, y)[k % 2])
        sizes.append(len(graph))
    f = 1 / (x * x + y * y)
    same = "one node" if f.derive(x).derive(y).atom is f.derive(y).derive(x).atom else "two nodes"
    growth = f"{sizes[EARLY - 1]} nodes to order {EARLY}, {sizes[-1]} to {late}"
    return f"\n1/(x² + y²), by x and y in turn: {growth}; ∂x∂y and ∂y∂x are {same}."


def by_sympy() -> Callable[[Callable[[Namespace, Any], Any]], int] | None:
    try:
        import sympy
    except ImportError:
        return None
    m = Namespace(*(getattr(sympy, name) for name in Namespace._fields))

    def operations(function: Callable[[Namespace, Any], Any]) -> int:
        x = sympy.Symbol("x", positive=True)
        orders = [sympy.diff(function(m, x), x, k) for k in range(SLOW + 1)]
        shared, rest = sympy.cse(orders)
        return sum(int(sympy.count_ops(e)) for e in (*(e for _, e in shared), *rest))

    return operations


def by_jax() -> Callable[[Callable[[Namespace, Any], Any]], int] | None:
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return None
    m = Namespace(jnp.sin, jnp.exp, jnp.log, jnp.sqrt, jnp.tanh, jnp.arctan, jnp.arcsin)

    def equations(function: Callable[[Namespace, Any], Any]) -> int:
        nested, total = (lambda x: function(m, x)), 0
        for _ in range(SLOW + 1):
            total += len(jax.make_jaxpr(nested)(0.3).eqns)
            nested = jax.grad(nested)
        return total

    return equations


if __name__ == "__main__":
    main()
