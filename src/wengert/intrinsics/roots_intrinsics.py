"""Solutions of equations inside programs: how their calls are read."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import FunctionType
from typing import Any, NamedTuple

from ..errors import BadArgument, NoSource, UnsupportedSyntax
from ..frontend.calls.calls import call
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
from ..ir.types import ARRAY, FLOAT, UNKNOWN, Struct
from ..ops import structure as st
from ..ops.program import implicit as im
from ..ops.registry import named
from . import isolated, nested
from .roots import OPAQUE, TOLERANCE, Implicit, Options, annotated, implicit


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
                kind = annotated(function)
            case _, kind:
                kind = next((result for result, each in OPAQUE.items() if each == kind), UNKNOWN)
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


def read_watch(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    it.builder.emit_with(im.watch, [it.atom(arg) for arg in args], {})
    return Const(None)


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
