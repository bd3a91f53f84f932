"""Solutions of equations as differentiable functions: the implicit function theorem as a rule."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache
from types import FunctionType
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

import numpy as np

from ..errors import BadArgument, NoSource, UnsupportedSyntax
from ..frontend.boundary.signature import describe, kind_of
from ..frontend.calls.calls import call
from ..frontend.calls.closure_calls import call_closure
from ..frontend.containers.items import open_up
from ..frontend.domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    Value,
    as_known,
    kind_of_value,
)
from ..frontend.functions.closures import closure_of
from ..frontend.machine.interpreter import Interpreter
from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const, Var
from ..ir.records import replace
from ..ir.types import ARRAY, FLOAT, UNKNOWN, Kind, Other, Static, Struct
from ..numbers import solutions
from ..numbers.number import numbers_in
from ..ops import structure as st
from ..ops.program import implicit as im
from ..ops.registry import named
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

_OPAQUE: dict[Kind, Other] = {
    kind: Other(f"function -> {kind}") for kind in (UNKNOWN, FLOAT, ARRAY)
}
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
            _OPAQUE[_annotated(value.solver.function)],
            _OPAQUE[UNKNOWN],
            Static(value.options),
        ),
        Implicit,
    )


describe(Implicit, kind_of_implicit)


def _annotated(function: Any) -> Kind:
    """The kind of what a function returns, as far as its annotation says."""
    annotation = getattr(function, "__annotations__", {}).get("return")
    return _ANNOTATIONS.get(annotation, UNKNOWN) if isinstance(annotation, (str, type)) else UNKNOWN


def read_implicit(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`wg.implicit(residual, solver)` inside a program: they may have captured what it computes."""
    given = {"solver": Const(None), "linear_solve": Const(None), "tol": Const(TOLERANCE)}
    given |= inspect.signature(implicit).bind(*args, **kwargs).arguments
    tol = _tolerance(it, given["tol"])
    known = Known(given["residual"], given["solver"], given["linear_solve"], tol)

    def decorate(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        return known._replace(solver=args[0]).as_function()

    return Native("implicit", decorate) if known.solver == Const(None) else known.as_function()


def _tolerance(it: Interpreter, tol: Value) -> Any:
    try:
        return it.constant(tol)
    except LookupError:
        raise BadArgument(
            "`tol` of `wg.implicit` must be known when the program is read",
            "Write the number itself: `tol=1e-6`.",
            it.builder.span,
        ) from None


def read_call(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A call of an `Implicit`."""
    made, *rest = args
    if isinstance(made, Const):
        value: Implicit[..., Any] = made.value
        parts = value.residual, value.solver, value.linear_solve
        residual, solver, linear_solve = map(as_known, parts)
        known = Known(residual, solver, linear_solve, value.options.tol)
    else:
        assert isinstance(made, Items)
        options: Options = it.constant(made["options"])
        linear_solve = made["linear_solve"] if options.own_linear_solve else Const(None)
        known = Known(made["residual"], made["solver"], linear_solve, options.tol)
    return known.call(it, rest, kwargs)


class Known(NamedTuple):
    """What is known of an `Implicit` when a call of it is read."""

    residual: Value
    solver: Value
    linear_solve: Value
    tol: float | None

    def as_function(self) -> Native:
        return Native("implicit", self.call)

    def call(self, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        """The solver's result, as a `root` of the residual.

        All that the residual depends on but x becomes an operand: arguments and captured values alike.
        """

        def residual(it: Interpreter, point: Args, _: Kwargs) -> Value:
            return call(it, self.residual, [*point, *args], kwargs)

        found = self._found(it, args, kwargs)
        params: dict[str, Atom] = {"tol": Const(self.tol)}
        if self.linear_solve != Const(None):
            params["linear_solve"] = self._linear_solve(it)
        return _root_of(it, Native("residual", residual), found, params)

    def _linear_solve(self, it: Interpreter) -> Atom:
        if _is_of_the_program(self.linear_solve):
            raise it.unsupported(
                "`linear_solve` is made inside the program that is differentiated",
                "Make it outside: it is run as it is, so that it can depend on nothing in here.",
            )
        return it.atom(self.linear_solve)

    def _found(self, it: Interpreter, args: Args, kwargs: Kwargs) -> Atom:
        """What the solver finds, as a value without a derivative."""
        if _is_of_the_program(self.solver):
            return self._read(it, args, kwargs)
        atoms = [it.atom(self.solver), *map(it.atom, (*args, *kwargs.values()))]
        found = it.emit(st.opaque, *atoms, names=Const(tuple(kwargs)))
        match self.solver, kind_of_value(self.solver):
            case Const(value=function), _:
                kind = _annotated(function)
            case _, kind:
                kind = next((result for result, each in _OPAQUE.items() if each == kind), UNKNOWN)
        if kind == FLOAT:
            found = it.emit(named("to_float"), found)
        elif kind == ARRAY:
            found = it.emit(named("asarray"), found, namespace="np")
        assert isinstance(found, Var)
        found.name = "x"
        return found

    def _read(self, it: Interpreter, args: Args, kwargs: Kwargs) -> Atom:
        """What a solver finds that was made inside the program, of what it computes."""
        try:
            found = it.atom(call(it, self.solver, args, kwargs))
        except (UnsupportedSyntax, NoSource) as error:
            raise it.unsupported(
                "the solver is made inside the program that is differentiated, so it is read like the "
                f"rest of it, and that fails: {error.findings[0].message}",
                "Make the solver outside and pass what it needs as arguments: then it is run as it is.",
            ) from error
        kind = kind_of_atom(found)
        kind = UNKNOWN if isinstance(kind, Struct) else kind
        return it.builder.emit_with(st.stop_gradient, [found], {}, kind=kind)


def _root_of(it: Interpreter, residual: Value, found: Atom, params: Mapping[str, Atom]) -> Value:
    def at(it: Interpreter, point: Args, _: Kwargs) -> Value:
        return it.atom(call(it, residual, point, {}))

    primal = nested.inner_function(it, Native("residual", at), [found], {})
    callee, operands = nested.as_callee(primal, "residual")
    params = {"callee": Const(callee), **params}
    return open_up(it, it.builder.emit_with(im.root, (found, *operands), params, name="x"))


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


def read_watch(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    it.builder.emit_with(im.watch, [it.atom(arg) for arg in args], {})
    return Const(None)


def parameter_count(function: Any) -> int:
    """How many arguments a function takes by position."""
    raise NotImplementedError("only read, in programs that are differentiated")


def read_parameter_count(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function = isolated.as_given(args[0])
    if isinstance(function, Const) and isinstance(function.value, FunctionType):
        function = closure_of(it, function.value)
    if not isinstance(function, Closure):
        raise it.unsupported(
            "how many parameters this function has is not known when the program is read",
            "Say how many there are: pass an initial guess, `p0=`.",
        )
    spec = function.node.args
    return Const(len(spec.posonlyargs) + len(spec.args))


def read_solved(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    solver, function, point, *rest = args
    assert isinstance(point, Items)
    also = it.constant(kwargs.get("also", Const(())))
    whole = it.constant(kwargs.get("whole", Const(value=False)))
    named = {name: value for name, value in kwargs.items() if name not in ("also", "whole")}
    primal, working, spend = isolated.read_for_solver(it, function, point.values)
    if not (also or whole) and len(primal.body.outs) != 1:
        raise it.unsupported(
            "a function that a solver is given returns several values",
            "Return one number or array.",
        )
    callee, own = nested.as_callee(primal, "function")
    atoms = [it.atom(solver), *own, *map(it.atom, (*rest, *named.values()))]
    params = {"callee": callee, "own": len(own), "names": tuple(named), "also": also}
    if working:
        params["state"] = tuple(k for k, var in enumerate(own) if var in working)
    found = it.builder.emit_with(im.found, atoms, {k: Const(v) for k, v in params.items()})
    spend()
    return found


def read_root_of(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    residual, x, *solve = args
    params = {"linear_solve": it.atom(solve[0])} if solve else {}
    tol = Const(None if solve else TOLERANCE)
    return _root_of(it, residual, it.atom(x), {"tol": tol, **params})


def _is_of_the_program(function: Value) -> bool:
    """Whether a function captured values that exist only in the program: nobody can call it."""
    match function:
        case Closure(function=outside):
            return outside is None
        case Items(form="function", home=home):
            return home is None
        case _:
            return False
