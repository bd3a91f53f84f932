"""What drawing from a generator of random numbers gives, and what stands for a method that is given items."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir.graph import Const, Var
from ...ir.types import BOOL, INT, Array, Number, Other
from ...ops import structure as st
from ...ops.program.drawing import made_by, name_of
from ...ops.registry import named
from ..domain.values import Args, Items, Kwargs, Value, kind_of_value
from ..polyfills.numpy import draws
from ..polyfills.stdlib.random import METHODS, OF_NUMPY, OF_PYTHON
from .interpreter import Interpreter


def drawn_by(
    it: Interpreter, generator: Value, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Callable[..., Any] | None:
    """What stands for a method of a generator that is given items, or parameters that may have derivatives."""
    if name in _DISTRIBUTIONS:
        own = _DRAWS.get(_class_of(it, generator) or "", {})
        return own.get(name) if _has_parameters(name, args, kwargs) else None
    if not args or isinstance(kind_of_value(args[0]), (Number, Other)):
        return None
    if name != "shuffle" and _is_constant(args[0]):
        return None
    return METHODS.get(_class_of(it, generator) or "", {}).get(name)


_DRAWS = {
    "numpy.Generator": draws.OF_NUMPY,
    "numpy.RandomState": draws.OF_OLD_NUMPY,
    "random.Random": draws.OF_PYTHON,
}
_DISTRIBUTIONS = draws.OF_NUMPY.keys() | draws.OF_PYTHON.keys()


def _has_parameters(name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a draw is given what may have a derivative, besides how many numbers to draw."""
    given = [*args[: _PLACE_OF_SIZE.get(name)], *(v for k, v in kwargs.items() if k != "size")]
    return not all(_is_constant(v) or kind_of_value(v) in (INT, BOOL) for v in given)


_PLACE_OF_SIZE = {
    "random": 0, "random_sample": 0, "standard_normal": 0, "standard_exponential": 0,
    "exponential": 1, "rayleigh": 1, "weibull": 1, "pareto": 1, "standard_t": 1, "chisquare": 1,
    "normal": 2, "uniform": 2, "lognormal": 2, "laplace": 2, "logistic": 2, "gumbel": 2, "gamma": 2, "beta": 2,
}  # fmt: skip
"""Methods of NumPy's generators that draw numbers of double precision: where they are told how many."""
_OF_LENGTHS = ("rand", "randn")
"""Those that are given the length of each axis."""


def draws_only(args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a method of a generator is given nothing that may have a derivative."""
    given = (*args, *kwargs.values())
    return all(_is_constant(v) or kind_of_value(v) in (INT, BOOL) for v in given)


Draw = Callable[[Args, Kwargs], "Value"]


def drawing(
    it: Interpreter,
    generator: Value,
    name: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    draw: Draw,
) -> Value:
    """What a method of a generator draws: a number, or an array that nobody else holds, where that is known."""
    if _draws_one_number(it, generator, name, [*args, *kwargs.values()], kwargs):
        return it.emit(named("to_float"), it.atom(draw(args, kwargs)))
    if name not in _PLACE_OF_SIZE and name not in _OF_LENGTHS:
        return draw(args, kwargs)
    if METHODS.get(_class_of(it, generator) or "") is not OF_NUMPY:
        return draw(args, kwargs)
    sized = _sized(it, name, args, kwargs)
    if sized is None:
        return draw(args, kwargs)
    rank, args, kwargs = sized
    kind = Array("float64", rank)
    return it.builder.emit_with(named("copy"), (it.atom(draw(args, kwargs)),), {}, "np", kind=kind)


def _draws_one_number(
    it: Interpreter,
    generator: Value,
    name: str,
    given: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> bool:
    if not all(isinstance(kind_of_value(value), Number) for value in given):
        return False
    methods = METHODS.get(_class_of(it, generator) or "")
    if methods is OF_PYTHON:
        return name in _FLOATS_OF_PYTHON
    place = 0 if name in _OF_LENGTHS else _PLACE_OF_SIZE.get(name, -1)
    return methods is OF_NUMPY and len(given) <= place and kwargs.keys() <= _OPTIONS - {"size"}


_FLOATS_OF_PYTHON = frozenset(
    (
        "random", "uniform", "gauss", "normalvariate", "lognormvariate", "expovariate", "betavariate",
        "gammavariate", "paretovariate", "weibullvariate", "vonmisesvariate",
    )
)  # fmt: skip
"""Methods of Python's generators that draw a float, whatever numbers they are given."""


def _sized(
    it: Interpreter, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[int, Sequence[Value], Mapping[str, Value]] | None:
    """How many axes are drawn, and the arguments, in which no derivative goes into a size; None if unknown."""
    if name in _OF_LENGTHS:
        return (len(args), [_as_count(it, arg) for arg in args], kwargs) if args else None
    place = _PLACE_OF_SIZE[name]
    if len(args) > place + 1 or not kwargs.keys() <= _OPTIONS:
        return None
    size = args[place] if len(args) > place else kwargs.get("size")
    rank = None if size is None else _rank_of(size)
    if size is None or rank is None:
        return None
    count = _as_count(it, size)
    if len(args) > place:
        return rank, [*args[:place], count], kwargs
    return rank, args, {**kwargs, "size": count}


def _as_count(it: Interpreter, size: Value) -> Value:
    """How many numbers to draw, which has no derivative."""
    match size:
        case Items(values=values):
            return size.holding([_as_count(it, value) for value in values])
        case Var():
            return it.emit(st.stop_gradient, size)
        case _:
            return size


_OPTIONS = frozenset(
    ("size", "loc", "scale", "low", "high", "mean", "sigma", "shape", "a", "b", "df")
)


def _rank_of(size: Value) -> int | None:
    """How many axes an array of a size has, if that is known."""
    if isinstance(size, Items) and size.form in ("tuple", "list"):
        return len(size.values)
    return 1 if kind_of_value(size) == INT else None


def _is_constant(value: Value) -> bool:
    items = isinstance(value, Items) and value.form in ("list", "tuple")
    return all(map(_is_constant, value.values)) if items else isinstance(value, Const)  # type: ignore[union-attr]


def _class_of(it: Interpreter, generator: Value) -> str | None:
    if isinstance(generator, Const):
        return name_of(type(generator.value))
    if generator in it.reading.generators:
        return it.reading.generators[generator]
    made = it.builder.visible_definition(generator) if isinstance(generator, Var) else None
    if made is None:
        return None
    if made.op is st.opaque:
        return made_by(made.args[0].value) if isinstance(made.args[0], Const) else None
    return made_by(made.op.implementation) if made.namespace == "call" else None
