"""A NumPy function as a function of JAX's arrays, its derivative by wengert."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

import numpy as np

from .cotangents import cotangents_of


def function(f: Callable[..., Any], like: Any = None) -> Callable[..., Any]:
    """`f` as a function of JAX's arrays: inside `jit` and `vmap`, and differentiated in reverse, any number of times.

    Args:
        f: a pure function of NumPy's arrays that gives a float, an array or a tuple of these.
        like: an example of its result: shapes and dtypes. Without it, `f` is called once for each shape of its
            arguments, with ones.

    Returns:
        A function of arrays. It calls back to Python (`jax.pure_callback`); `vmap` calls it item by item.

    >>> import pytest; jax = pytest.importorskip("jax")
    >>> import numpy as np
    >>> from wengert.interop.jax import function
    >>> energy = function(lambda x: np.sum(np.sin(x) ** 2))
    >>> [round(float(g), 3) for g in jax.jit(jax.grad(energy))(jax.numpy.array([0.0, 1.0]))]
    [0.0, 0.909]
    """
    jax: Any = import_module("jax")

    def shape_of(value: Any) -> Any:
        dtype = jax.dtypes.canonicalize_dtype(np.result_type(value))
        return jax.ShapeDtypeStruct(np.shape(value), dtype)

    def results(args: tuple[Any, ...]) -> Any:
        value = f(*(np.ones(x.shape, x.dtype) for x in args)) if like is None else like
        return jax.tree_util.tree_map(shape_of, value)

    def plain(*args: Any) -> Any:
        shapes = results(args)
        return jax.pure_callback(_called(f, shapes), shapes, *args, vmap_method="sequential")

    @jax.custom_vjp
    @wraps(f)
    def of_arrays(*args: Any) -> Any:
        return plain(*map(jax.numpy.asarray, args))

    def forward(*args: Any) -> Any:
        return of_arrays(*args), tuple(map(jax.numpy.asarray, args))

    def backward(args: tuple[Any, ...], y_bar: Any) -> Any:
        bars, _ = jax.tree_util.tree_flatten(y_bar)
        examples = tuple(np.zeros(x.shape, x.dtype) for x in args)
        return function(cotangents_of(f, len(args), several=len(bars) > 1), examples)(*args, *bars)

    of_arrays.defvjp(forward, backward)
    return of_arrays


def _called(f: Callable[..., Any], shapes: Any) -> Callable[..., Any]:
    """A function that is called back: on NumPy's arrays, giving the dtypes that were said."""

    def call(*args: Any) -> Any:
        value = f(*map(np.asarray, args))
        if isinstance(value, tuple):
            return tuple(np.asarray(v, s.dtype) for v, s in zip(value, shapes, strict=True))
        return np.asarray(value, shapes.dtype)

    return call
