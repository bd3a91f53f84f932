"""Solutions of equations as differentiable functions: the implicit function theorem as a rule."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from ..errors import BadArgument
from ..frontend.boundary.signature import describe, kind_of
from ..frontend.calls.closure_calls import call_closure
from ..frontend.domain.values import Args, Kwargs, Value
from ..frontend.functions.closures import closure_of
from ..frontend.machine.interpreter import Interpreter
from ..ir.records import replace
from ..ir.types import ARRAY, FLOAT, UNKNOWN, Kind, Other, Static, Struct
from ..numbers import solutions
from ..numbers.number import numbers_in
from . import isolated, nested
from .steering import is_differentiating

P = ParamSpec("P")
T = TypeVar("T")

TOLERANCE = 1e-4
"""How far a solution may be off, relative to the larger of it and 1."""


class Opaque:
    """A function that is run as it is, whatever program it stands in."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class Options:
    """What an `Implicit` is told beside functions; one object for equal options."""

    __slots__ = ("own_linear_solve", "tol")

    def __init__(self, tol: float | None, own_linear_solve: bool):
        self.tol = tol
        self.own_linear_solve = own_linear_solve

    def __reduce__(self) -> Any:
        return options_of, (self.tol, self.own_linear_solve)


@cache
def options_of(tol: float | None, own_linear_solve: bool) -> Options:
    return Options(tol, own_linear_solve)


class Implicit(Generic[P, T]):
    """A solver whose result is differentiable: a function like any other."""

    __slots__ = ("linear_solve", "options", "residual", "solver")

    def __init__(
        self,
        residual: Callable[..., Any],
        solver: Callable[P, T],
        linear_solve: Callable[..., Any] | None,
        tol: float | None,
    ):
        self.residual = residual
        self.solver = Opaque(solver)
        self.linear_solve = None if linear_solve is None else Opaque(linear_solve)
        self.options = options_of(tol, linear_solve is not None)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        if not is_differentiating() and not any(numbers_in((*args, *kwargs.values()))):
            return self.solver(*args, **kwargs)
        return solutions.solution(self.residual, self.solver, args, kwargs, self.options.tol)

    def in_run(self, of: Callable[[Any], Any]) -> Implicit[P, T]:
        """The same in a run that is recorded, where `of` gives what stands for a function."""
        linear_solve = self.linear_solve and self.linear_solve.function
        return Implicit(of(self.residual), self.solver.function, linear_solve, self.options.tol)

    @property
    def __name__(self) -> str:
        return getattr(self.solver.function, "__name__", "solution")

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.solver.function)

    def __repr__(self) -> str:
        return f"<implicit {self.__name__}>"


@overload
def implicit(
    residual: Callable[..., Any],
    solver: Callable[P, T],
    *,
    linear_solve: Callable[..., Any] | None = None,
    tol: float | None = TOLERANCE,
) -> Implicit[P, T]: ...


@overload
def implicit(
    residual: Callable[..., Any],
    solver: None = None,
    *,
    linear_solve: Callable[..., Any] | None = None,
    tol: float | None = TOLERANCE,
) -> Callable[[Callable[P, T]], Implicit[P, T]]: ...


def implicit(
    residual: Callable[..., Any],
    solver: Callable[P, T] | None = None,
    *,
    linear_solve: Callable[..., Any] | None = None,
    tol: float | None = TOLERANCE,
) -> Implicit[P, T] | Callable[[Callable[P, T]], Implicit[P, T]]:
    """The solver of an equation, differentiable by the implicit function theorem.

    Args:
        residual: `(x, *args) -> r`, zero where x is the solution for `args`; of the size of x. Of a
            fixed point it is `step(x, *args) - x`.
        solver: `(*args) -> x`, any code that finds a solution. It is run as it is and never
            differentiated. Without it, the result is a decorator for it.
        linear_solve: `(matvec, b) -> v`, solves a linear system with the Jacobian of the residual, or its
            transpose: `matvec(v)` is the product with a vector. Without it, the Jacobian is formed and
            `np.linalg.solve` called.
        tol: the derivative is refused where the result is no solution: where the residual is larger
            than an error of `tol` in x makes it, relative to the larger of x and 1. None refuses
            nothing.

    Returns:
        A function of the solver's arguments.

    >>> import wengert as wg
    >>> cube_root = wg.implicit(lambda x, a: x ** 3 - a, lambda a: a ** (1 / 3))
    >>> wg.grad(cube_root)(8.0)  # 1 / 12
    0.08333333333333333
    """
    for given, name in ((residual, "residual"), (solver, "solver"), (linear_solve, "linear_solve")):
        if given is not None and not callable(given):
            raise BadArgument(
                f"`{name}` must be a function, not {given!r}",
                "Call it like this: `wg.implicit(residual, solver)`.",
            )
    if solver is None:
        return lambda function: Implicit(residual, function, linear_solve, tol)
    return Implicit(residual, solver, linear_solve, tol)


# --- inside programs that are differentiated ----------------------------------------------

OPAQUE: dict[Kind, Other] = {kind: Other(f"function -> {kind}") for kind in (UNKNOWN, FLOAT, ARRAY)}
"""The kind of a function that is not read, by what it returns."""

_ANNOTATIONS: dict[Any, Kind] = {
    float: FLOAT,
    "float": FLOAT,
    np.ndarray: ARRAY,
    "np.ndarray": ARRAY,
    "numpy.ndarray": ARRAY,
}


def kind_of_implicit(value: Any, depth: int) -> Kind:
    """The kind of an `Implicit`: what its residual captured are leaves, the rest is run as it is."""
    return Struct(
        "object",
        ("residual", "solver", "linear_solve", "options"),
        (
            kind_of(value.residual, depth),
            OPAQUE[annotated(value.solver.function)],
            OPAQUE[UNKNOWN],
            Static(value.options),
        ),
        Implicit,
    )


describe(Implicit, kind_of_implicit)


def annotated(function: Any) -> Kind:
    """The kind of what a function returns, as far as its annotation says."""
    annotation = getattr(function, "__annotations__", {}).get("return")
    return _ANNOTATIONS.get(annotation, UNKNOWN) if isinstance(annotation, (str, type)) else UNKNOWN


# --- solvers of libraries, whose equations are functions of the program --------------------


def stands_for_solver(equivalent: FunctionType) -> None:
    """Say that a function stands for a solver: the functions that it is given may change what they like.

    Where one of these calls the solver again, that is no recursion, nor is it one of what the solver calls.
    """
    for helper in vars(sys.modules[equivalent.__module__]).values():
        if isinstance(helper, FunctionType) and helper.__module__ == equivalent.__module__:
            nested.special(helper, nested.handler_of(helper) or nested.read_anew(helper))

    def read(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = [isolated.for_solver(arg) for arg in args]
        named = {
            name: arg if name == "events" else isolated.for_solver(arg)  # these have attributes
            for name, arg in kwargs.items()
        }
        anew = replace(closure_of(it, equivalent), identity=object())
        return call_closure(it, anew, given, named)

    nested.special(equivalent, read)


def solved(
    solver: Callable[..., Any],
    function: Any,
    point: Any,
    *args: Any,
    also: Any = (),
    whole: Any = False,
    **kwargs: Any,
) -> Any:
    """What a solver finds, run as it is and given a function of the program; it has no derivative.

    Args:
        solver: takes a function first.
        function: what it is given.
        point: a tuple of arguments like those the solver calls the function with.
        *args: what the solver is given after the function.
        **kwargs: what it is given by keyword.
        also: keywords of other functions the solver is given; `function` returns a tuple of its own value
            and theirs.
        whole: whether the solver takes the tuple that the function returns.
    """
    return solutions.found(solver, function, args, also, kwargs)


def root_of(residual: Callable[..., Any], x: Any, linear_solve: Any = None) -> Any:
    """x, as the function of all that the residual depends on that `residual(x) == 0` makes it.

    Args:
        residual: the equation.
        x: its solution.
        linear_solve: solves linear systems with the Jacobian, and its `transposed` those with the transpose;
            whoever passes it has checked that x is a solution.
    """
    return solutions.root_of(residual, x)


def watch(found: Any, path: Any) -> None:
    """Say that the function which a solver was given is integrated: it must not jump at places that move.

    Args:
        found: what the solver found.
        path: points where the function is integrated, or a solution with the times `ts` where it is known.
    """


def parameter_count(function: Any) -> int:
    """How many arguments a function takes by position."""
    raise NotImplementedError("only read, in programs that are differentiated")
