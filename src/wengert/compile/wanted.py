"""What is to be derived, and in which leaves of a function's inputs."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from ..errors import BadArgument
from ..ir.graph import Function
from ..ir.records import value_record
from ..ir.types import Array, Kind, Static, is_differentiable, leaves
from ..ops.program import checks
from .calling import call_of, name_of


@value_record
class Verb:
    """What is to be derived.

    Attributes:
        name: "grad", "value_and_grad", "pullback", "pushforward", "adjoint" …
        argnums: which positional arguments to differentiate with respect to; None means all.
        single: whether `argnums` was one number, so that the result is one gradient, not a tuple.
        has_aux: whether the function returns `(value, auxiliary data)`.
        order: how many times to differentiate ("derivative", "written"); 0 if that is not the same for all parts.
        written: the Python function that spells out a verb in terms of others ("written").
        guarded: whether zeros in the tangents that are given are not to meet infinite derivatives ("pushforward").
        by_name: whether `argnums` were names, so that these arguments may be passed by keyword.
        tier: how it is found: "static" by reading the source, "recorded" by recording a run; unsaid, by the first,
            and by the second where that refuses.
    """

    name: str
    argnums: tuple[int, ...] | None = None
    single: bool = False
    has_aux: bool = False
    order: int = 1
    written: Callable[..., Any] | None = None
    guarded: bool = False
    by_name: bool = False
    tier: str = ""


@value_record
class Wanted:
    """Which leaves of a function's inputs are differentiated, and how their gradients are put together."""

    indices: tuple[int, ...]
    """The differentiable leaves, as indices into the function's parameters."""
    layout: tuple[tuple[Kind, tuple[int | None, ...]], ...]
    """For each argument its kind and, leaf by leaf, which gradient belongs there (None: no gradient)."""


def wanted(function: Function, verb: Verb) -> Wanted:
    """The leaves that a verb differentiates with respect to.

    Raises:
        BadArgument: where `argnums` names an argument that is not there or has no derivative.
    """
    positional = [k for k, i in enumerate(function.inputs) if i.how == "positional"]
    chosen = range(len(positional)) if verb.argnums is None else verb.argnums
    starts = _leaf_starts(function)
    indices: list[int] = []
    layout: list[tuple[Kind, tuple[int | None, ...]]] = []
    for argnum in chosen:
        if not -len(positional) <= argnum < len(positional):
            raise no_such_argument(argnum, function.name, len(positional))
        k = positional[argnum]
        kind = function.inputs[k].kind
        if isinstance(kind, Static) and _holds_numbers(kind.value):
            raise not_followed(argnum, function.inputs[k].name, f"a {type(kind.value).__name__}")
        if any(_is_of_records(leaf) for _, leaf in leaves(kind)):
            raise not_followed(argnum, function.inputs[k].name, "an array of records, or holds one")
        slots: list[int | None] = []
        for offset, (_, leaf) in enumerate(leaves(kind)):
            if is_differentiable(leaf):
                slots.append(len(indices))
                indices.append(starts[k] + offset)
            else:
                slots.append(None)
        if verb.argnums is not None and not any(s is not None for s in slots):
            raise not_differentiable(argnum, function.inputs[k].name, kind)
        layout.append((kind, tuple(slots)))
    return Wanted(tuple(indices), tuple(layout))


def check_argnums(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Refuse `argnums` that name an argument that is not there or has no derivative.

    Raises:
        BadArgument: saying which.
    """
    arguments = call_of(function, args, kwargs).arguments
    for argnum in verb.argnums or ():
        if not -len(args) <= argnum < len(args):
            raise no_such_argument(argnum, name_of(function), len(args))
        name, kind = arguments[argnum]
        if not any(is_differentiable(leaf) for _, leaf in leaves(kind)):
            raise not_differentiable(argnum, name, kind)


def no_such_argument(argnum: int, function: str, count: int) -> BadArgument:
    return BadArgument(
        f"`argnums` names argument {argnum}, but {function} was called with "
        f"{checks.counted(count, 'positional argument')}",
        "Arguments count from 0. Pass those to differentiate by position, not by keyword.",
    )


def _holds_numbers(value: Any) -> bool:
    """Whether a value that is taken as it is has numbers in it: their derivatives would be lost."""
    known = isinstance(value, (str, bytes, range, bool, Enum))
    return not known and isinstance(value, (numbers.Number, Sequence, memoryview))


def _is_of_records(kind: Kind) -> bool:
    return isinstance(kind, Array) and kind.dtype.startswith("void")


def not_followed(argnum: int, name: str, what: str) -> BadArgument:
    return BadArgument(
        f"argument {argnum} (`{name}`) is {what}, whose numbers are not followed",
        "Pass a float, a list or a NumPy array (`float(x)`, `list(x)`, `np.array(x)`), of records one for each\n"
        "field. If it is not to be differentiated, say by `argnums` what is.",
    )


def not_differentiable(argnum: int, name: str, kind: Kind) -> BadArgument:
    return BadArgument(
        f"`argnums` names argument {argnum} (`{name}`), which is {checks.describe(kind)} and has no "
        "derivative",
        "Choose other `argnums`, or pass a float, a complex number, an array, or a container of these.",
    )


def _leaf_starts(function: Function) -> list[int]:
    starts, total = [], 0
    for input_ in function.inputs:
        starts.append(total)
        total += sum(1 for _ in leaves(input_.kind))
    return starts
