"""Random orders and choices of what has derivatives: the places are drawn, the items keep their derivatives.

The front end reads these instead of the methods of NumPy's and Python's generators. Drawing places takes from
a generator what drawing the items would.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np


def shuffle(generator: Any, x: Any) -> None:
    """`generator.shuffle(x)`."""
    order = generator.permutation(len(x))
    x[:] = x[order] if isinstance(x, np.ndarray) else [x[k] for k in order]


def permutation(generator: Any, x: Any) -> Any:
    """`generator.permutation(x)`."""
    return np.take(x, generator.permutation(len(x)), axis=0)


def choice(generator: Any, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
    """`generator.choice(a, …)`."""
    return np.take(a, generator.choice(len(a), size=size, replace=replace, p=p), axis=0)


def shuffle_list(generator: Any, x: Any) -> None:
    """`generator.shuffle(x)` of Python's generators."""
    order = order_drawn(generator, len(x))
    x[:] = [x[k] for k in order]


def order_drawn(generator: Any, n: Any) -> Any:
    """The order into which `shuffle` puts n items (Fisher and Yates)."""
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = generator.randrange(i + 1)
        order[i], order[j] = order[j], order[i]
    return order


def sample(generator: Any, population: Any, k: Any) -> Any:
    """`generator.sample(population, k)` of Python's generators."""
    return [population[place] for place in generator.sample(range(len(population)), k)]


def choice_of_one(generator: Any, seq: Any) -> Any:
    """`generator.choice(seq)` of Python's generators."""
    return seq[generator.choice(range(len(seq)))]


OF_NUMPY: dict[str, Callable[..., Any]] = {
    "shuffle": shuffle,
    "permutation": permutation,
    "choice": choice,
}
OF_PYTHON: dict[str, Callable[..., Any]] = {
    "shuffle": shuffle_list,
    "sample": sample,
    "choice": choice_of_one,
}
METHODS: dict[str, dict[str, Callable[..., Any]]] = {
    "numpy.Generator": OF_NUMPY,
    "numpy.RandomState": OF_NUMPY,
    "random.Random": OF_PYTHON,
}


def shuffle_in_place(x: Any) -> None:
    """`random.shuffle`: the order is drawn, the items keep their derivatives."""
    order = order_drawn(random, len(x))
    x[:] = [x[k] for k in order]


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [(random.shuffle, shuffle_in_place)]
