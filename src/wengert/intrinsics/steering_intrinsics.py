"""`stop_gradient`, `checkpoint` and hooks inside a program that is being differentiated: how their calls are read."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import BadArgument, UnsupportedSyntax
from ..frontend.calls.checkpoints import Checkpoint
from ..frontend.domain.values import (
    Args,
    Items,
    Kwargs,
    Native,
    Value,
    flatten,
    fresh,
    kind_of_value,
)
from ..frontend.machine.interpreter import Interpreter
from ..frontend.machine.session import strictly
from ..ir.graph import CALL, Atom, Const, Eqn, Var
from ..ir.records import replace
from ..ir.types import Other, Seq, Static
from ..ops import structure as st
from ..ops.cotangent_kinds import gradient_kind
from ..passes.reverse import checkpointing
from .isolated import params_of, read_inner, read_to_run
from .nested import as_callee, name_of


def stop_gradient(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same value, cut off from the derivative."""
    return _map_leaves(args[0], lambda atom: it.emit(st.stop_gradient, atom))


def _map_leaves(value: Value, change: Callable[[Atom], Atom]) -> Value:
    match value:
        case Items(values=values):
            return replace(value, values=tuple(_map_leaves(v, change) for v in values))
        case Var():
            return change(value)
        case _:
            return value


def _call_again(it: Interpreter, function: Value, args: Args, kwargs: Kwargs) -> Value:
    """A call that keeps nothing for its reverse sweep but its arguments.

    Where it is not in a loop itself, its own loops are checkpointed.
    """
    inner = read_inner(it, function, args, kwargs)
    if inner.changes:
        raise it.unsupported(
            "a function that is checkpointed changes an object from outside it",
            "Change a copy, such as `x = x.copy()`, or return the new value.",
        )
    primal = inner.function
    if not any(frame.loops for frame in it.frames):
        primal = checkpointing.with_loops_marked(primal)
    name = name_of(function)
    callee, free = as_callee(primal, name if name.isidentifier() else "checkpoint")
    out = fresh(primal.result)
    outs = tuple(a for a in flatten(out) if isinstance(a, Var))
    params: dict[str, Atom] = {"callee": Const(callee), "checkpoint": Const(True)}
    atoms = (*free, *params_of(primal, args))
    it.builder.append(Eqn(outs, CALL, atoms, params, (), "py", it.builder.span))
    return out


checkpoint = Checkpoint(_call_again)


def hook(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same value; on the way back a function is applied to its cotangent."""
    function, x = args
    return _map_leaves(x, lambda atom: _hooked(it, function, atom))


def _hooked(it: Interpreter, function: Value, atom: Atom) -> Atom:
    like = Var(gradient_kind(kind_of_value(atom)), "x_bar")
    try:
        with strictly(it.reading):
            inner = read_to_run(it, function, like)
    except UnsupportedSyntax:
        inner = None
    if inner is None or inner.outside:
        # a hook may do what it likes as long as nobody differentiates through it
        known = it.atom(function)
        run = Native(
            "hook",
            lambda it, args, named: it.emit(st.apply, known, it.atom(args[0]), names=Const(())),
        )
        inner = read_to_run(it, run, like)
    primal = inner.function
    outs = primal.body.outs
    if len(outs) != 1 or isinstance(kind_of_value(outs[0]), (Other, Static, Seq)):
        raise BadArgument(
            "a hook must return one cotangent", "Return the changed cotangent.", it.builder.span
        )
    callee, free = as_callee(primal, "hook")
    return it.emit(st.hook, atom, *free, callee=Const(callee))


def show_grad(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same value; on the way back its cotangent is printed."""
    x, *rest = args
    label = rest[0] if rest else kwargs.get("name", Const(x.name if isinstance(x, Var) else "x"))

    def show(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        (x_bar,) = args
        text = it.emit(
            st.format_,
            it.atom(label),
            it.atom(x_bar),
            template=Const(("∂(", (0, -1, ""), ") = ", (1, -1, ""))),
        )
        it.emit(st.opaque, Const(print), text, names=Const(()))
        return x_bar

    return hook(it, [Native("show_grad", show), x], {})
