"""Steering a derivative from inside a function: what users call in the code they differentiate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """`x`, whose derivative is taken to be zero.

    >>> import wengert as wg
    >>> wg.gradient(lambda x: wg.stop_gradient(x) * x, 3.0)
    (3.0,)
    """
    return x


def checkpoint(f: Callable[P, T]) -> Callable[P, T]:
    """`f`, whose reverse sweep computes its inner values again instead of keeping them.

    It costs one more run of `f` per gradient and saves the memory of everything inside it.

    >>> import wengert as wg
    >>> wg.gradient(lambda x: wg.checkpoint(lambda t: t * t * t)(x), 2.0)
    (12.0,)
    """
    return f


def hook(g: Callable[[Any], Any], x: T) -> T:
    """`x`; on the way back its cotangent is replaced by `g(cotangent)`.

    >>> import wengert as wg
    >>> wg.gradient(lambda a, b: wg.hook(lambda a_bar: -a_bar, a) * b, 2.0, 3.0)
    (-3.0, 2.0)
    """
    return x


def show_grad(x: T, name: str = "x") -> T:
    """`x`; on the way back the cotangent of this use of it is printed.

    >>> import wengert as wg
    >>> wg.gradient(lambda a, b: wg.show_grad(a, "a") * b, 2.0, 3.0)
    ∂(a) = 3.0
    (3.0, 2.0)
    """
    return x


def is_differentiating() -> bool:
    """Whether the code that asks is being differentiated.

    >>> import wengert as wg
    >>> wg.is_differentiating()
    False
    >>> wg.grad(lambda x: x * x if wg.is_differentiating() else 2 * x)(3.0)
    6.0
    """
    return False
