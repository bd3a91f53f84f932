"""Jacobians and Hessians, written in Python over pullbacks and pushforwards.

Nothing here mutates anything, so that wengert reads it like any user's code when a Jacobian is taken
inside a program that is itself being differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .api import Derivative, argnums_of, grad, hvp, pullback, pushforward
from .engine import Verb
from .errors import BadArgument, NotScalar


def jacobian(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, mode: str = "auto"
) -> Derivative[..., Any]:
    """The Jacobian function of a function of arrays.

    Args:
        f: a function whose result is a number, an array, or a list or tuple of numbers.
        argnums: which positional arguments to differentiate with respect to; a tuple gives a tuple.
        mode: "forward" (one pushforward per input), "reverse" (one pullback per output), or "auto",
            the cheaper of the two.

    Returns:
        A function of the same arguments; its result has the shape of `f`'s result followed by the
        shape of the argument.

    >>> import numpy as np, wengert as wg
    >>> wg.jacobian(lambda x: np.array([x[0] * x[1], x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [0., 1.]])
    """
    written = {"auto": _jacobian, "forward": _jacobian_forward, "reverse": _jacobian_reverse}
    if mode not in written:
        raise BadArgument(
            f"`mode` must be 'auto', 'forward' or 'reverse', not {mode!r}",
            "'auto' takes the cheaper of the two.",
        )
    chosen, single = argnums_of(argnums)
    return Derivative(f, Verb("written", chosen, single, written=written[mode]))


def hessian(f: Callable[..., Any], argnums: int = 0) -> Derivative[..., Any]:
    """The Hessian function of a scalar function: forward over reverse.

    Args:
        f: a function with one real number as its result.
        argnums: the positional argument to differentiate with respect to.

    Returns:
        A function of the same arguments; its result has the shape of the argument twice over.

    >>> import numpy as np, wengert as wg
    >>> wg.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    chosen, single = argnums_of(argnums)
    return Derivative(f, Verb("written", chosen, single, written=_hessian))


def diag_hessian(f: Callable[..., Any], argnums: int = 0) -> Derivative[..., Any]:
    """The diagonal of the Hessian of a scalar function, in the shape of the argument.

    >>> import numpy as np, wengert as wg
    >>> wg.diag_hessian(lambda x: np.sum(x ** 3))(np.array([1.0, 2.0]))
    array([ 6., 12.])
    """
    chosen, single = argnums_of(argnums)
    return Derivative(f, Verb("written", chosen, single, written=_diag_hessian))


def _each(one: Any, function: Any, argnums: Any, single: Any, args: Any) -> Any:
    """The matrix for each of `argnums`."""
    matrices = tuple([one(function, args, k) for k in argnums])
    return matrices[0] if single else matrices


def _as_array(value: Any) -> Any:
    return np.array(value) if isinstance(value, list | tuple) else value


def _reverse(function: Any, args: Any, k: int) -> Any:
    y, back = pullback(lambda *point: _as_array(function(*point)), *args)
    _real(y)
    x_shape = np.shape(args[k])
    if isinstance(y, float | int):
        return _as_array(back(1.0)[k])
    rows = [_as_array(back(np.reshape(row, np.shape(y)))[k]) for row in np.eye(np.size(y))]
    return np.reshape(np.array(rows), np.shape(y) + x_shape)


def _forward(function: Any, args: Any, k: int) -> Any:
    x = args[k]

    def of_items(point: Any, k: int = k, n: int = np.size(x)) -> Any:
        items = [point[j] for j in range(n)]
        return _as_array(function(*args[:k], items, *args[k + 1 :]))

    def of_array(point: Any, k: int = k) -> Any:
        return _as_array(function(*args[:k], point, *args[k + 1 :]))

    start = _as_array(x)
    y, push = pushforward(of_items if isinstance(x, list | tuple) else of_array, start)
    _real(y)
    if isinstance(start, float | int):
        return push(1.0)
    columns = [push(np.reshape(column, np.shape(start))) for column in np.eye(np.size(start))]
    stacked = np.stack(columns, axis=-1)
    return np.reshape(stacked, np.shape(y) + np.shape(start))


def _auto(function: Any, args: Any, k: int) -> Any:
    if isinstance(args[k], float | int):
        return _forward(function, args, k)
    y = function(*args)
    if np.size(args[k]) <= np.size(y):
        return _forward(function, args, k)
    return _reverse(function, args, k)


def _real(y: Any) -> None:
    if np.iscomplexobj(y):
        raise NotScalar(
            "`wg.jacobian` needs a real result, but the function returns a complex one",
            "Return its real and imaginary parts, or use `wg.pullback`.",
        )


def _hessian_of(function: Any, args: Any, k: int) -> Any:
    return _forward(lambda *point, k=k: grad(function, k)(*point), args, k)


def _diag_of(function: Any, args: Any, k: int) -> Any:
    x = args[k]
    if isinstance(x, float | int):
        return hvp(function, k)(*args, 1.0)
    diagonal = [
        np.sum(
            hvp(function, k)(*args, np.reshape(column, np.shape(x)))
            * np.reshape(column, np.shape(x))
        )
        for column in np.eye(np.size(x))
    ]
    return np.reshape(np.array(diagonal), np.shape(x))


def _jacobian(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_auto, function, argnums, single, args)


def _jacobian_forward(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_forward, function, argnums, single, args)


def _jacobian_reverse(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_reverse, function, argnums, single, args)


def _hessian(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_hessian_of, function, argnums, single, args)


def _diag_hessian(function: Any, argnums: Any, single: Any, args: Any) -> Any:
    return _each(_diag_of, function, argnums, single, args)
