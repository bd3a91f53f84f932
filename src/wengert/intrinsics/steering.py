"""Steering a derivative from inside a function: what users call in the code they differentiate."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ..errors import BadArgument, UnsupportedSyntax
from ..ir.callers import calling_span
from ..ir.op import evaluator_of
from ..ops import structure as st

P = ParamSpec("P")
T = TypeVar("T")


def stop_gradient(x: T) -> T:
    """`x`, whose derivative is taken to be zero.

    >>> import wengert as wg
    >>> wg.gradient(lambda x: wg.stop_gradient(x) * x, 3.0)
    (3.0,)
    """
    tapes = sys.modules.get("wengert.frontend.record.tape")
    for tape in tapes.running.get() if tapes else ():
        tape.compared.clear()  # what is found by comparing is cut off
    return _stopped(x)


def _stopped(x: Any) -> Any:
    """A value of wengert's own, or an array of such, without its derivatives; what is plain as it is."""
    if isinstance(x, np.ndarray) and x.dtype == object:
        items: list[Any] = x.ravel().tolist()
        return x if evaluator_of(items) is None else np.array(_stopped(items)).reshape(x.shape)
    return x if evaluator_of((x,)) is None else st.stop_gradient(x)


@overload
def checkpoint(x: Callable[P, T], /) -> Callable[P, T]: ...
@overload
def checkpoint(x: T, /, every: int | None = None) -> T: ...
def checkpoint(x: Any, /, every: int | None = None) -> Any:
    """Have reverse mode compute again what is inside a function or a loop, instead of keeping it.

    - `wg.checkpoint(f)` is `f`, also as a decorator: nothing is kept of a call but its arguments.
    - `for x in wg.checkpoint(xs):` goes through `xs`. What the loop carries is kept at the start of
      every block of √n iterations, or of `every` iterations; on the way back each block is run again.
    - `while wg.checkpoint(test):` is a loop of unknown length: its blocks grow.

    Either costs one more run of what is inside.

    >>> import wengert as wg
    >>> def decay(x, n):
    ...     for _ in wg.checkpoint(range(n)):
    ...         x = x - 0.001 * x * x
    ...     return x
    >>> print(round(wg.grad(decay)(1.0, 1000), 4))
    0.2501
    """
    if every is not None and every < 1:
        raise BadArgument(
            f"a loop is checkpointed every so many iterations, not every {every!r}",
            "Pass a whole number greater than 0, or leave `every` out.",
        )
    return _checkpointed(x) if callable(x) and every is None else x


def _checkpointed(f: Callable[P, T]) -> Callable[P, T]:
    @wraps(f)
    def checkpointed(*args: P.args, **kwargs: P.kwargs) -> T:
        return call_again(f)(*args, **kwargs)

    return checkpointed


def call_again(f: Callable[P, T]) -> Callable[P, T]:
    """`f`; where derivatives are taken, `checkpoint(f)`."""
    return f


def hook(g: Callable[[Any], Any], x: T) -> T:
    """`x`; on the way back its cotangent is replaced by `g(cotangent)`.

    Forward mode has no way back: there it is `x` alone.

    >>> import wengert as wg
    >>> wg.gradient(lambda a, b: wg.hook(lambda a_bar: -a_bar, a) * b, 2.0, 3.0)
    (-3.0, 2.0)
    """
    _must_have_no_way_back(x)
    if (reverse.get() or hasattr(type(x), "backprop")) and evaluator_of((x,)) is not None:
        raise UnsupportedSyntax(
            f"a hook changes a cotangent on the way back, and there is none for {x!r}",
            "Take the derivative by source, on plain numbers: `wg.grad`. Or leave the hook out here:\n"
            "`x if isinstance(x, wg.Dual) else wg.hook(g, x)`.",
            calling_span(),
        )
    return x


def _must_have_no_way_back(x: Any) -> None:
    """Refuse the box of a recorded run: its tape goes back without hooks."""
    if hasattr(type(x), "tape"):
        raise UnsupportedSyntax(
            "a recorded run has no hooks",
            'Have the source read, `tier="static"`, or leave the hook out.',
            calling_span(),
        )


reverse: ContextVar[bool] = ContextVar("a gradient is taken by numbers, forward", default=False)


def show_grad(x: T, name: str = "x") -> T:
    """`x`; on the way back the cotangent of this use of it is printed.

    >>> import wengert as wg
    >>> wg.gradient(lambda a, b: wg.show_grad(a, "a") * b, 2.0, 3.0)
    ∂(a) = 3.0
    (3.0, 2.0)
    """
    _must_have_no_way_back(x)
    return x


def is_differentiating() -> bool:
    """Whether the code that asks is being differentiated.

    >>> import wengert as wg
    >>> wg.is_differentiating()
    False
    >>> wg.grad(lambda x: x * x if wg.is_differentiating() else 2 * x)(3.0)
    6.0
    """
    levels = sys.modules.get("wengert.numbers.levels")
    return levels is not None and levels.is_under_way()
