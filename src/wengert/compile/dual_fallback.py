"""The verbs at a point whose numbers carry derivatives already.

A derivative that is taken inside one by numbers (`wg.derivatives(wg.grad(f), x)`) meets numbers that no generated
code was derived for. Its function is then run on numbers as well: every differentiation has an infinitesimal of
its own, so that none is taken for another.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from .. import numbers
from ..errors import BadArgument, BadTangent
from ..frontend.boundary import signature
from ..intrinsics import steering
from ..ir.callers import calling_span
from ..ir.types import Kind
from ..numbers.arguments import copied, is_number, mapped_numbers
from ..numbers.forward import (
    CHUNK,
    by_numbers_of,
    must_be_scalar,
    numbers_in,
    put_together,
    rows as rows,
    run_along,
    units_of,
)
from ..numbers.linear import coefficientwise as coefficientwise
from ..numbers.number import value_of
from ..numbers.results import shape_of
from ..numbers.solutions import plain
from ..ops.dispatch.lookup import must_be_number
from ..ops.dispatch.precision import is_exact
from ..ops.dispatch.substitution import with_ops
from ..ops.program.checks import counted
from . import calling
from .wanted import Verb, no_such_argument, not_differentiable


class Run:
    """A function that is run on numbers, and its arguments: those given by keyword come last."""

    def __init__(self, function: Any, args: Sequence[Any], kwargs: dict[str, Any]):
        self.__name__ = calling.name_of(function)
        self.args = (*args, *kwargs.values())
        for arg in self.args:
            mapped_numbers(arg, lambda leaf: must_be_number(leaf, "what a derivative is taken by"))
        self.count = len(args)
        self._run = with_ops(function)
        self._keywords = tuple(kwargs)

    def __call__(self, *args: Any) -> Any:
        positional = args[: len(args) - len(self._keywords)]
        named = zip(self._keywords, args[len(positional) :], strict=True)
        return self._run(*positional, **dict(named))


class OnCopies:
    """A run that leaves its arguments as they are."""

    def __init__(self, run: Run):
        self.__name__ = run.__name__
        self._run = run

    def __call__(self, *args: Any) -> Any:
        return self._run(*map(copied, args))


def _kind_of_run(run: Run | OnCopies, depth: int) -> Kind:
    raise signature.CarriesDerivatives(
        f"{run.__name__} meets numbers with derivatives, and code is derived for plain numbers"
    )


for each in (Run, OnCopies):
    signature.describe(each, _kind_of_run)


def called(verb: Verb, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a derivative function gives for arguments, or with captured values, that carry derivatives."""
    vector = args[-1:] if verb.name == "hvp" else ()
    run = Run(function, args[: len(args) - len(vector)], kwargs)
    if verb.name == "derivative":
        return _derivative(verb, run)
    argnums = _argnums(verb, run)
    if verb.written is not None:
        return _written(verb, run, argnums)
    return _hvp(run, argnums[0], *vector) if vector else _grad(verb, run, argnums)


def _argnums(verb: Verb, run: Run) -> list[int]:
    """The arguments to differentiate by, counted from the first.

    Raises:
        BadArgument: one is not there, or has no derivative.
    """
    if verb.argnums is None:
        return list(range(run.count))
    for k in verb.argnums:
        if not -run.count <= k < run.count:
            raise no_such_argument(k, run.__name__, run.count)
        if not numbers_in(run.args[k]):
            name = calling.argument_names(run, run.count)[k]
            raise not_differentiable(k, name, signature.kind_of(run.args[k]))
    return [k % run.count for k in verb.argnums]


def _written(verb: Verb, run: Run, argnums: Sequence[int]) -> Any:
    """A verb that is spelled out in others, each of which runs the function anew: on copies."""
    assert verb.written is not None
    mapped_numbers(run.args, lambda leaf: _must_be_float(leaf, verb))
    args = tuple(map(copied, run.args))
    if any(map(_may_change, args)):
        run(*run.args)
    return verb.written(OnCopies(run), tuple(argnums), verb.single, args)


def _must_be_float(leaf: Any, verb: Verb) -> None:
    """Refuse what an array of floats would round."""
    if is_exact(leaf):
        name = getattr(verb.written, "__name__", verb.name).lstrip("_")
        raise BadArgument(
            f"{name} makes arrays of floats, and {leaf!r} is a {type(leaf).__name__}",
            "Pass floats; or nest `wg.grad` and `wg.derivative`, which compute with the numbers as they are.",
        )


def _may_change(x: Any) -> bool:
    """Whether a value has parts that a function may write to."""
    return not isinstance(x, (str, type(None))) and (bool(shape_of(x)) or not is_number(x))


# --- linear maps ------------------------------------------------------------------------------


def pushforward(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., Any]]:
    """A value, and the function from tangents of the arguments to that of the value."""
    run = Run(function, args, kwargs)
    at = tuple(map(copied, run.args))

    def push(*tangents: Any) -> Any:
        if len(tangents) != run.count:
            raise BadTangent(
                f"the pushforward of {run.__name__} takes {counted(run.count, 'tangent')}, one for each positional "
                f"argument; it was given {len(tangents)}",
                "Pass None for a zero tangent.",
            )
        dots = [*tangents, *[None] * (len(at) - run.count)]
        return run_along(run, tuple(map(copied, at)), dots)[1]

    return run(*run.args), push


def pullback(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """A value, and the function from a cotangent of it to those of the arguments."""
    run = Run(function, args, kwargs)
    at = tuple(map(copied, run.args[: run.count]))
    y, columns, _ = _columns(run, range(run.count), run.args)

    def back(y_bar: Any) -> tuple[Any, ...]:
        return tuple(
            put_together(x, [_paired(y_bar, y_dot) for y_dot in of_argument])
            for x, of_argument in zip(at, columns, strict=True)
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


def _grad(verb: Verb, run: Run, argnums: Sequence[int]) -> Any:
    examples = [copied(run.args[k]) for k in argnums]
    y, columns, aux = _columns(run, argnums, run.args, has_aux=verb.has_aux)
    must_be_scalar(y, run.__name__)
    bars = tuple(map(put_together, examples, columns))
    gradient = bars[0] if verb.single else bars
    if verb.name == "value_and_grad":
        return ((y, aux) if verb.has_aux else y), gradient
    return (gradient, aux) if verb.has_aux else gradient


def _derivative(verb: Verb, run: Run) -> Any:
    if run.count != 1 or shape_of(run.args[0]) or not is_number(run.args[0]):
        given = (
            f"with {run.args[0]!r}" if run.count == 1 else f"with {counted(run.count, 'argument')}"
        )
        raise BadArgument(
            f"`derivative` is for functions of one number; {run.__name__} was called {given}",
            "Use `wg.grad(f, argnums=...)`, or fix the other arguments with `functools.partial`.",
        )
    x, *rest = run.args
    taken = lambda x: run(x, *rest)
    for _ in range(verb.order):
        taken = functools.partial(numbers.derivative, taken)
    return taken(x)


def _hvp(run: Run, argnum: int, vector: Any) -> Any:
    def gradient(*point: Any) -> Any:
        example = copied(point[argnum])
        return put_together(example, _columns(run, (argnum,), point)[1][0])

    tangents = [vector if k == argnum else None for k in range(len(run.args))]
    return run_along(gradient, run.args, tangents)[1]


# --- the numbers in an argument -------------------------------------------------------------------


def _columns(
    run: Run, argnums: Sequence[int], args: Sequence[Any], *, has_aux: bool = False
) -> Any:
    """The value of a function, its derivatives by every number of some arguments, and auxiliary data.

    An integer may be counted by or indexed with: it stays what it is in the run that gives the value, and moves in
    one of its own.
    """
    leaves = [numbers_in(args[k]) for k in argnums]
    integers = any(_is_integer(leaf) for each in leaves for leaf in each)
    copies = tuple(map(copied, args)) if integers else ()
    chunk = _chunk([args[k] for k in argnums])
    moves = lambda leaf: not _is_integer(leaf)
    token = steering.reverse.set(True)
    try:
        y, found, aux = by_numbers_of(run, args, argnums, chunk, moves=moves, has_aux=has_aux)
        if integers:
            of_integers = _by_integers(run, copies, argnums, has_aux, y)
            found = list(map(_merged, leaves, found, of_integers))
        return y, found, aux
    finally:
        steering.reverse.reset(token)


def _by_integers(
    run: Run, args: Sequence[Any], argnums: Sequence[int], has_aux: bool, y: Any
) -> list[list[Any]]:
    chunk = _chunk([args[k] for k in argnums])
    try:
        value, found, _ = by_numbers_of(
            run, args, argnums, chunk, moves=_is_integer, has_aux=has_aux
        )
        why = "" if _same(value, y) else f"the result is {value!r} then, not {y!r}"
    except Exception as error:
        found, why = [], str(error).partition("\n")[0]
    if why:
        raise BadArgument(
            f"{run.__name__} does not go with an integer that carries a derivative: {why}",
            "Pass an integer that only counts by keyword, or fix it with `functools.partial`; write one that is\n"
            "differentiated as a float.",
            calling_span(),
        )
    return found


def _is_integer(leaf: Any) -> bool:
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind in "iu"
    return isinstance(leaf, (int, np.integer))


def _same(a: Any, b: Any) -> bool:
    """Whether two results have the same values."""
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if not is_number(a) or not is_number(b):
        return True
    return bool(np.all((plain(a) == plain(b)) | (plain(a) != plain(a))))


def _merged(leaves: Sequence[Any], found: Sequence[Any], of_integers: Sequence[Any]) -> list[Any]:
    """The columns of all numbers in their order."""
    others, integers = iter(found), iter(of_integers)
    columns: list[Any] = []
    for leaf in leaves:
        own = integers if _is_integer(leaf) else others
        columns += islice(own, len(units_of(leaf)))
    return [float(column) if type(column) is int else column for column in columns]


def _chunk(args: Any) -> int:
    """How many directions a run carries: all, so that there is one run, where the memory for them is no matter."""
    sizes: list[int] = []
    mapped_numbers(args, lambda leaf: sizes.append(max(1, np.size(value_of(leaf)))))
    return max(CHUNK, 1_000_000 // max(1, sum(sizes)))
