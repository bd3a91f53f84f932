"""The verbs at a point whose numbers carry derivatives already.

A derivative that is taken inside one by numbers (`wg.derivatives(wg.grad(f), x)`) meets numbers that no generated
code was derived for. Its function is then run on numbers as well: every differentiation has an infinitesimal of
its own, so that none is taken for another.
"""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable, Sequence
from numbers import Number
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from . import calling, numbers
from .errors import BadTangent, NotScalar
from .numbers.dual import Directions
from .numbers.forward import CHUNK, one_like
from .numbers.number import PerturbedNumber, gathered
from .numbers.results import in_direction, like, shape_of
from .numbers.solutions import plain
from .ops.checks import counted
from .ops.substitution import with_ops
from .verbs import Verb


def called(verb: Verb, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a derivative function gives for arguments, or with captured values, that carry derivatives."""
    run = with_ops(functools.partial(function, **kwargs))
    if verb.written is not None:
        argnums = tuple(k % len(args) for k in verb.argnums or ())
        return verb.written(run, argnums, verb.single, args)
    return _BY_VERB[verb.name](verb, run, args)


# --- linear maps ------------------------------------------------------------------------------


def pushforward(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., Any]]:
    """A value, and the function from tangents of the arguments to that of the value."""
    run = with_ops(functools.partial(function, **kwargs))

    def push(*tangents: Any) -> Any:
        return numbers.pushforward(run, args, tangents)[1]

    return run(*args), push


def pullback(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """A value, and the function from a cotangent of it to those of the arguments."""
    run = with_ops(functools.partial(function, **kwargs))
    y = run(*args)
    of_argument = functools.cache(lambda k: _columns(run, args, k))

    def back(y_bar: Any) -> tuple[Any, ...]:
        return tuple(
            _put_together(x, [_paired(y_bar, y_dot) for y_dot in of_argument(k)])
            for k, x in enumerate(args)
        )

    return y, back


def _paired(y_bar: Any, y_dot: Any) -> Any:
    """Re⟨ȳ, ẏ⟩, summed up over everything that a result consists of; None stands for zeros."""
    if y_bar is None or y_dot is None:
        return 0.0
    if isinstance(y_dot, dict):
        return sum(_paired(y_bar.get(key), each) for key, each in y_dot.items())
    if isinstance(y_dot, (list, tuple)):
        if len(y_bar) != len(y_dot):
            raise BadTangent(
                f"the cotangent has {counted(len(y_bar), 'item')}, but the result {len(y_dot)}",
                "Give one for each.",
            )
        return sum(_paired(bar, dot) for bar, dot in zip(y_bar, y_dot, strict=True))
    if np.iscomplexobj(plain(y_bar)) or np.iscomplexobj(plain(y_dot)):
        return _paired(np.real(y_bar), np.real(y_dot)) + _paired(np.imag(y_bar), np.imag(y_dot))
    return np.sum(y_bar * y_dot) if shape_of(y_dot) else y_bar * y_dot


# --- verbs --------------------------------------------------------------------------------------


def _grad(verb: Verb, run: Any, args: Sequence[Any]) -> Any:
    y, aux = run(*args) if verb.has_aux else (run(*args), None)
    _must_be_scalar(y, calling.name_of(run.func))
    scalar = (lambda *point: run(*point)[0]) if verb.has_aux else run
    argnums = range(len(args)) if verb.argnums is None else verb.argnums
    bars = tuple(_put_together(args[k], _columns(scalar, args, k)) for k in argnums)
    gradient = bars[0] if verb.single else bars
    if verb.name == "value_and_grad":
        return ((y, aux) if verb.has_aux else y), gradient
    return (gradient, aux) if verb.has_aux else gradient


def _must_be_scalar(y: Any, name: str) -> None:
    value = plain(y)
    if not isinstance(value, (list, tuple, dict)) and np.ndim(value) == 0:
        if not np.iscomplexobj(value):
            return
    raise NotScalar(
        f"a gradient needs one real number as the result, but {name} returned {y!r}",
        "For several results use `wg.jacobian`.",
    )


def _derivative(verb: Verb, run: Any, args: Sequence[Any]) -> Any:
    x, *rest = args
    taken = lambda x: run(x, *rest)
    for _ in range(verb.order):
        taken = functools.partial(numbers.derivative, taken)
    return taken(x)


def _hvp(verb: Verb, run: Any, args: Sequence[Any]) -> Any:
    *primals, vector = args
    (argnum,) = verb.argnums or (0,)
    gradient = functools.partial(_grad, Verb("grad", (argnum,), True), run)
    tangents = [vector if k == argnum else None for k in range(len(primals))]
    return numbers.pushforward(lambda *point: gradient(point), primals, tangents)[1]


_BY_VERB = {"grad": _grad, "value_and_grad": _grad, "derivative": _derivative, "hvp": _hvp}


# --- the numbers in an argument -------------------------------------------------------------------


def _columns(run: Any, args: Sequence[Any], k: int) -> list[Any]:
    """The derivatives of a result by every number of an argument; by both parts of a complex one."""
    leaves: list[Any] = []
    _mapped(args[k], lambda leaf: leaves.append(_whole(leaf)))
    units = [(n, unit) for n, leaf in enumerate(leaves) for unit in _units(leaf)]

    def of_leaves(*moved: Any) -> Any:
        remaining = iter(moved)
        return run(*args[:k], _mapped(args[k], lambda _: next(remaining)), *args[k + 1 :])

    found: list[Any] = []
    for start in range(0, len(units), CHUNK):
        chunk = units[start : start + CHUNK]
        seeds = [
            Directions([unit if n == own else _zero(leaf) for n, unit in chunk])
            for own, leaf in enumerate(leaves)
        ]
        y_dot = numbers.pushforward(of_leaves, leaves, seeds)[1]
        found += [in_direction(y_dot, j) for j in range(len(chunk))]
    return found


def _whole(x: Any) -> Any:
    """An array of numbers with derivatives as one number that is an array."""
    return gathered(x) if isinstance(x, np.ndarray) else x


def _units(x: Any) -> list[Any]:
    """The tangents of a number or an array that are 1 in one place, and i where it is complex."""
    shape = shape_of(x)
    eye: Any = [one_like(plain(x))] if shape is None else np.eye(math.prod(shape))
    units = [one if shape is None else np.reshape(one, shape) for one in eye]
    return units + [unit * 1j for unit in units] if np.iscomplexobj(plain(x)) else units


def _zero(x: Any) -> Any:
    shape = shape_of(x)
    return 0 * one_like(plain(x)) if shape is None else np.zeros(shape)


def _put_together(x: Any, derivatives: Sequence[Any]) -> Any:
    """Derivatives by every number of an argument, in its structure: ∂/∂Re + i ∂/∂Im of complex numbers."""
    remaining = iter(derivatives)

    def take(leaf: Any) -> Any:
        shape = shape_of(_whole(leaf))
        count = math.prod(shape or ())
        bars = [next(remaining) for _ in range(count)]
        if np.iscomplexobj(plain(leaf)):
            bars = [real + 1j * next(remaining) for real in bars]
        return bars[0] if shape is None else np.reshape(rows(bars), shape)

    return _mapped(x, take, gradient=True)


def _mapped(x: Any, function: Callable[[Any], Any], *, gradient: bool = False) -> Any:
    """What a function gives for every number and array in a value, in its structure.

    Args:
        x: a number or an array, or a container or an object that holds some.
        function: called once for each, in their order.
        gradient: whether what is no number becomes None, and a plain object a namespace of its gradients.
    """
    again = functools.partial(_mapped, function=function, gradient=gradient)
    if _is_differentiable(x):
        return function(x)
    if isinstance(x, (list, tuple)):
        return like(x, list(map(again, x)))
    if isinstance(x, dict):
        return {key: again(item) for key, item in x.items()}
    if _has_numbers(x):
        made = (
            copy.copy(x)
            if hasattr(x, "__dataclass_fields__") or not gradient
            else SimpleNamespace()
        )
        for name, item in vars(x).items():
            object.__setattr__(made, name, again(item))
        return made
    return None if gradient else x


def _is_differentiable(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iufcO"
    if isinstance(x, bool):
        return False
    return isinstance(x, (Number, PerturbedNumber))


def _has_numbers(x: Any) -> bool:
    """Whether a value is an object with attributes that may have derivatives."""
    attributes = getattr(x, "__dict__", None)
    return bool(attributes) and isinstance(attributes, dict) and not isinstance(x, ModuleType)


def rows(items: Sequence[Any]) -> Any:
    """Numbers, or arrays of one shape, as the rows of an array."""
    if any(isinstance(item, PerturbedNumber) for item in items):
        return np.stack(items)
    return gathered(np.array(items))
