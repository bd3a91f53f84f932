"""Jacobians and Hessians, written in Python over pullbacks and pushforwards.

Nothing here mutates anything, so that wengert reads it like any user's code when a Jacobian is taken
inside a program that is itself being differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .api import Derivative, argnums_of, grad, hvp
from .errors import BadArgument
from .linear_maps import pullback, pushforward
from .ops.checks import real_argument, real_result, spanning
from .ops.cotangents import basis
from .verbs import Verb


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


def is_number(x: Any) -> bool:
    """Whether a value is one number, and no array without dimensions.

    Of a value of unknown kind the answer while reading is no: arrays can do what numbers can.
    """
    return isinstance(x, float | int | complex)


def as_array(y: Any) -> Any:
    """A list or tuple of numbers as an array; what is one value already as it is."""
    return np.array(y) if isinstance(y, list | tuple) else y


def _each(one: Any, function: Any, argnums: Any, single: Any, args: Any) -> Any:
    """The matrix for each of `argnums`."""
    matrices = tuple([one(function, args, k) for k in argnums])
    return matrices[0] if single else matrices


def _reverse(function: Any, args: Any, k: int) -> Any:
    y, back = pullback(lambda *point: as_array(function(*point)), *args)
    real_result(y)
    if is_number(y):
        return as_array(back(1.0)[k])
    spanning(args[k])
    rows = [as_array(back(y_bar)[k]) for y_bar in basis(y)]
    return np.reshape(np.array(rows), np.shape(y) + np.shape(args[k]))


def _forward(function: Any, args: Any, k: int) -> Any:
    x = args[k]
    spanning(x)

    def of_one(point: Any, k: int = k) -> Any:
        return as_array(function(*args[:k], point, *args[k + 1 :]))

    y, push = pushforward(of_one, x)
    real_result(y)
    if is_number(x):
        return push(1.0) + 1j * push(1j) if np.iscomplexobj(x) else push(1.0)
    columns = [push(x_dot) for x_dot in basis(x)]
    stacked = np.stack(columns, axis=-1)
    if np.iscomplexobj(x):  # ∂/∂Re + i ∂/∂Im, as in every gradient
        stacked = stacked + 1j * np.stack([push(x_dot) for x_dot in basis(x, 1j)], axis=-1)
    return np.reshape(stacked, np.shape(y) + np.shape(x))


def _auto(function: Any, args: Any, k: int) -> Any:
    if is_number(args[k]):
        return _forward(function, args, k)
    y = function(*args)
    if is_number(y):
        return _reverse(function, args, k)
    if np.size(args[k]) <= np.size(y):
        return _forward(function, args, k)
    return _reverse(function, args, k)


def _hessian_of(function: Any, args: Any, k: int) -> Any:
    return _forward(lambda *point, k=k: grad(function, k)(*point), args, k)


def _diag_of(function: Any, args: Any, k: int) -> Any:
    x = args[k]
    real_argument(x)
    spanning(x)
    if is_number(x):
        return hvp(function, k)(*args, 1.0)
    products = [np.sum(hvp(function, k)(*args, v) * v) for v in basis(x)]
    return np.reshape(np.array(products), np.shape(x))


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


WRITTEN = (
    _each, _forward, _reverse, _auto, _hessian_of, _diag_of,
    _jacobian, _jacobian_forward, _jacobian_reverse, _hessian, _diag_hessian,
)  # fmt: skip
"""What is read inside programs: a Jacobian of a Jacobian is no recursion."""
