"""A NumPy function as an operation of PyTensor, its gradient by wengert: black-box likelihoods in PyMC by NUTS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from .cotangents import cotangents_of


def function(f: Callable[..., Any], ndim: int = 0) -> Any:
    """`f` as a function of PyTensor's variables, which PyTensor differentiates through.

    Args:
        f: a function of floats and NumPy's arrays that gives a float or an array.
        ndim: how many axes its result has; 0 for a log-likelihood.

    Returns:
        A function of variables, for `pymc.Potential` and the like; derivatives of any order.

    >>> import pytest; pytensor = pytest.importorskip("pytensor")
    >>> import numpy as np
    >>> from wengert.interop.pytensor import function
    >>> x = pytensor.tensor.dvector("x")
    >>> energy = function(lambda x: np.sum(np.sin(x) ** 2))(x)
    >>> pytensor.grad(energy, x).eval({x: [0.0, 1.0]}).round(4).tolist()
    [0.0, 0.9093]
    """
    tensor: Any = import_module("pytensor.tensor")

    def types(args: Sequence[Any]) -> Sequence[Any]:
        return [tensor.TensorType("float64", (None,) * ndim)]

    return _operation(f, types, several=False)


def _operation(f: Callable[..., Any], types: Callable[..., Any], *, several: bool) -> Any:
    basic: Any = import_module("pytensor.graph")
    tensor: Any = import_module("pytensor.tensor")

    class Operation(basic.Op):
        def make_node(self, *args: Any) -> Any:
            inputs = [tensor.as_tensor_variable(arg) for arg in args]
            return basic.Apply(self, inputs, [kind() for kind in types(inputs)])

        def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
            found = f(*inputs)
            for storage, value, out in zip(
                outputs, found if several else (found,), node.outputs, strict=True
            ):
                storage[0] = np.asarray(value, dtype=out.dtype)

        def pullback(self, inputs: Any, outputs: Any, bars: Any) -> Any:
            count = len(inputs)

            def like(args: Any) -> Any:
                return [tensor.TensorType("float64", arg.type.shape) for arg in args[:count]]

            made = self.make_node(*inputs).outputs if outputs is None else outputs
            disconnected: Any = import_module("pytensor.gradient").DisconnectedType
            bars = [
                tensor.zeros_like(out) if isinstance(bar.type, disconnected) else bar
                for bar, out in zip(bars, made, strict=True)
            ]
            back = _operation(cotangents_of(f, count, several=several), like, several=True)
            found = back(*inputs, *bars)
            return found if isinstance(found, list) else [found]

        def __str__(self) -> str:
            return f"wengert({getattr(f, '__name__', 'f')})"

    if not hasattr(basic.Op, "pullback"):  # what older versions call it
        Operation.grad = lambda self, inputs, bars: self.pullback(inputs, None, bars)
    return Operation()
