"""A NumPy function as a function of PyTorch's tensors, its derivative by wengert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from importlib import import_module
from typing import Any

import numpy as np

from ..api.linear_maps import pullback
from .cotangents import cotangents_of


def function(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as a function of tensors, which PyTorch differentiates through, any number of times.

    Args:
        f: a function of floats and NumPy's arrays that gives a float, an array or a tuple of these.

    Returns:
        A function of tensors and other values. Tensors on other devices are copied to the CPU and back; results
        have the first tensor's device.

    >>> import pytest; torch = pytest.importorskip("torch")
    >>> import numpy as np
    >>> from wengert.interop.torch import function
    >>> energy = function(lambda x: np.sum(np.sin(x) ** 2))
    >>> x = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    >>> energy(x).backward()
    >>> x.grad.numpy().round(4).tolist()
    [0.0, 0.9093]
    """
    torch: Any = import_module("torch")

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *args: Any) -> Any:
            ctx.save_for_backward(*(arg for arg in args if isinstance(arg, torch.Tensor)))
            ctx.others = [None if isinstance(arg, torch.Tensor) else arg for arg in args]
            ctx.where = [isinstance(arg, torch.Tensor) for arg in args]
            y, ctx.back = pullback(f, *map(_array, args))
            return _tensors(torch, y, _first(args))

        @staticmethod
        def backward(ctx: Any, *y_bars: Any) -> Any:
            saved = iter(ctx.saved_tensors)
            args = [
                next(saved) if there else x for there, x in zip(ctx.where, ctx.others, strict=True)
            ]
            if torch.is_grad_enabled():  # a graph of the derivative is wanted
                found = function(cotangents_of(f, len(args), several=len(y_bars) > 1))(
                    *args, *y_bars
                )
            else:
                bars = tuple(map(_array, y_bars))
                found = ctx.back(bars[0] if len(bars) == 1 else bars)
                found = _tensors(torch, tuple(found), _first(args))
            return tuple(_like(bar, arg) for bar, arg in zip(found, args, strict=True))

    @wraps(f)
    def of_tensors(*args: Any) -> Any:
        return Function.apply(*args)

    return of_tensors


def _array(value: Any) -> Any:
    return value.detach().cpu().numpy() if hasattr(value, "detach") else value


def _first(args: Sequence[Any]) -> Any:
    return next((arg for arg in args if hasattr(arg, "detach")), None)


def _tensors(torch: Any, value: Any, like: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, tuple):
        return tuple(_tensors(torch, each, like) for each in value)  # pyright: ignore[reportUnknownVariableType]
    array = np.asarray(value)
    found = torch.as_tensor(array.copy() if array.ndim else array[()])
    return found if like is None else found.to(like.device)


def _like(bar: Any, arg: Any) -> Any:
    """A cotangent in the dtype of its argument; None for what is no tensor."""
    return bar.to(arg.dtype) if hasattr(arg, "detach") and bar is not None else None
