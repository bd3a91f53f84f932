"""Checks for derivatives: of a function at a point, and of a rule.

Both compare reverse mode, central differences and forward mode (where every rule on the way has it),
and both call a pullback twice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from .api import linear_maps
from .errors import CheckFailed, NoRule
from .frontend.boundary import signature, taking_apart
from .ir.op import Op
from .ir.types import Array, Number, is_differentiable, leaves
from .ops import registry

STEP = 1e-6


def check_gradient(
    f: Callable[..., Any], *args: Any, rtol: float = 1e-6, atol: float = 1e-8, seed: int = 0
) -> None:
    """Check the derivative of a function at a point.

    Args:
        f: a function whose result is made of numbers and arrays.
        *args: the point. They are left as they are, also where `f` changes its arguments. An integer that
            counts (`range(n)`, an index) has no neighbours to compare with: its derivative must be zero.
        rtol: how far a derivative may be from the central difference of step 1e-6, relative to the
            size of the numbers that were subtracted.
        atol: how far it may be besides.
        seed: of the random directions.

    Raises:
        CheckFailed: an `AssertionError` that says which argument, what was expected and what found.

    >>> import math, wengert as wg
    >>> wg.testing.check_gradient(lambda x, y: math.sin(x) * y, 0.5, 2.0)
    """
    try:
        _check(f, args, rtol, atol, seed)
    except CheckFailed:
        _refuse_chance(f, args)
        raise


def _refuse_chance(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Say so where two calls of the function differ: then nothing is known of its derivative."""
    first, second = f(*_copies(args)), f(*_copies(args))
    hint = (
        "It draws random numbers, or keeps something from one call to the next. Seed what it draws "
        "from inside of it,\nor pass the numbers that are drawn as an argument."
    )
    try:
        _same("the value", second, first, hint)
    except CheckFailed:
        raise CheckFailed(
            f"the function is not deterministic: one call gives {first!r}, the next {second!r}",
            hint,
        ) from None


def _check(
    f: Callable[..., Any], args: tuple[Any, ...], rtol: float, atol: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    y, back = linear_maps.pullback(f, *_copies(args))
    y_bar = _random_like(y, random)
    bars = back(y_bar)
    again = "A pullback must give the same every time: look for what a rule keeps and changes."
    _same("the pullback called a second time", back(y_bar), bars, again)
    value = "A rule on the way computes another value than the function itself."
    _same("the value", y, f(*_copies(args)), value, rtol=1e-12)
    for k, arg in enumerate(args):
        if not any(is_differentiable(kind) for _, kind in leaves(signature.kind_of(arg))):
            continue
        direction = _random_like(arg, random)
        moved = [direction if j == k else None for j in range(len(args))]
        expected = _expected(f, args, k, direction, y_bar)
        found = _inner(bars[k], direction)
        scale = max(1.0, _size(y))
        _close(f"reverse mode, argument {k}", found, expected, rtol * scale, atol)
        pushed = _pushed(f, args, moved)
        if pushed is not None:
            forward = _inner(y_bar, pushed)
            _close(f"forward mode, argument {k}", forward, expected, rtol * scale, atol)
            _close(f"forward against reverse, argument {k}", forward, found, 1e-9 * scale, 1e-11)


def check_rule(op: Op | Callable[..., Any], *args: Any, **options: Any) -> None:
    """Check the rule of an op at a point: `check_gradient` of the op itself.

    Args:
        op: an op, or a function that has a rule.
        *args: its operands.
        **options: its options, such as `axis`.

    Raises:
        CheckFailed: an `AssertionError` that says which argument, what was expected and what found.

    >>> import numpy as np, wengert as wg
    >>> wg.testing.check_rule(np.tanh, np.array([0.1, -2.0]))
    """
    function = _spelling(op) if isinstance(op, Op) else op

    def call(*operands: Any) -> Any:
        return function(*operands, **options)

    check_gradient(call, *args)


def _pushed(f: Callable[..., Any], args: tuple[Any, ...], tangents: list[Any]) -> Any:
    """The pushforward; None where a rule on the way has a reverse form only."""
    try:
        return linear_maps.pushforward(f, *_copies(args))[1](*tangents)
    except NoRule:
        return None


def _spelling(op: Op) -> Callable[..., Any]:
    for namespace in ("np", "math", "py"):
        if namespace in op.spellings:
            return registry.resolve(op, namespace)
    return op


def _copies(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments for one call: a function may change what it is given."""
    return copy.deepcopy(args)


# --- directions ---------------------------------------------------------------------------


def _random_like(value: Any, random: np.random.Generator) -> Any:
    """A random direction of the structure of a value; None where it has no derivative."""

    def draw(kind: Any) -> Any:
        leaf = next(remaining)
        if not is_differentiable(kind):
            return None
        if isinstance(kind, Number) and not np.iscomplexobj(leaf):
            return 1.0  # there is only one direction, and this one is easy to read in a message
        shape = np.shape(leaf)
        drawn = random.normal(size=shape)
        if np.iscomplexobj(leaf):
            drawn = drawn + 1j * random.normal(size=shape)
        return (
            drawn
            if isinstance(leaf, np.ndarray)
            else drawn.item()
            if hasattr(drawn, "item")
            else drawn
        )

    kind = signature.kind_of(value)
    remaining = iter(list(taking_apart.leaf_values(kind, value)))
    return taking_apart.rebuild(kind, draw)


def _move(value: Any, direction: Any, step: float) -> Any:
    kind = signature.kind_of(value)
    if isinstance(kind, (Number, Array)):
        return value + step * direction
    if direction is None:
        return value
    pairs = iter(
        [
            _move(v, d, step)
            for v, d in zip(taking_apart.leaf_values(kind, value), _leaves(direction), strict=True)
        ]
    )
    return taking_apart.rebuild(kind, lambda leaf: next(pairs))


def _moved(args: tuple[Any, ...], k: int, direction: Any, step: float) -> list[Any]:
    """The arguments, one of them a step away; `f` may change them."""
    copies = list(_copies(args))
    copies[k] = _move(copies[k], direction, step)
    return copies


def _leaves(value: Any) -> list[Any]:
    return list(taking_apart.leaf_values(signature.kind_of(value), value))


def _expected(
    f: Callable[..., Any], args: tuple[Any, ...], k: int, direction: Any, y_bar: Any
) -> float:
    try:
        return _inner(y_bar, _difference(f, args, k, direction))
    except (TypeError, IndexError):
        if not all(np.asarray(leaf).dtype.kind in "iub" for leaf in _leaves(args[k])):
            raise
        return 0.0  # it counts, or is an index: a number between two integers means nothing there


def _difference(f: Callable[..., Any], args: tuple[Any, ...], k: int, direction: Any) -> Any:
    ahead, behind = (f(*_moved(args, k, direction, sign * STEP)) for sign in (1, -1))
    kind = signature.kind_of(ahead)
    pairs = iter(
        [
            (a - b) / (2 * STEP) if is_differentiable(leaf) else None
            for a, b, (_, leaf) in zip(_leaves(ahead), _leaves(behind), leaves(kind), strict=True)
        ]
    )
    return taking_apart.rebuild(kind, lambda leaf: next(pairs))


def _inner(a: Any, b: Any) -> float:
    """The real inner product of two values of one structure."""
    total = 0.0
    for x, y in zip(_leaves(a), _leaves(b), strict=True):
        if x is not None and y is not None and not isinstance(x, str):
            total += float(np.real(np.sum(np.conj(x) * y)))
    return total


def _size(value: Any) -> float:
    sizes = [
        np.max(np.abs(v), initial=0.0)
        for v in _leaves(value)
        if v is not None and not isinstance(v, str)
    ]
    return float(max(sizes, default=0.0))


# --- verdicts -----------------------------------------------------------------------------


def _close(what: str, found: float, expected: float, rtol: float, atol: float) -> None:
    if not abs(found - expected) <= atol + rtol * max(abs(found), abs(expected), 1.0):
        raise CheckFailed(
            f"{what}: expected {expected!r}, found {found!r}",
            "The directional derivative of the function differs from its central difference.",
        )


def _same(what: str, found: Any, expected: Any, hint: str, rtol: float = 0.0) -> None:
    for x, y in zip(_leaves(found), _leaves(expected), strict=True):
        if isinstance(x, (np.ndarray, float, complex, int)) and not np.allclose(
            x, y, rtol=rtol, atol=0, equal_nan=True
        ):
            raise CheckFailed(f"{what}: expected {y!r}, found {x!r}", hint)
