"""What is known before the program runs, and what a run has to agree with."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ....ir.graph import UNDEFINED, Atom, Const, Eqn
from ....ir.types import STR
from ..form.loopform import FLOATS, Apply, Constant, Expr
from ..values import numbers, values as nv
from .fusion import must_have_form
from .lowering import BlockLowering, lowers
from .plans import is_same
from .shapes import dims_of
from .structure import length_of


@lowers("is", "is_not")
def _is(site: BlockLowering, eqn: Eqn) -> nv.Value:
    a, b = (site.value(atom) for atom in eqn.args)
    known = isinstance(a, nv.StaticValue) or isinstance(b, nv.StaticValue)
    if not known:
        raise nv.Unlowered("a question of identity")
    wanted = eqn.op.name == "is"
    for value, other in ((a, b), (b, a)):
        if isinstance(other, nv.StaticValue) and other.value is UNDEFINED.value:
            unbound = _is_unbound(site, value)
            return nv.Scalar(unbound if wanted else site.e.apply("not", unbound), nv.PYTHON)
    return nv.Scalar(Constant(is_same(a, b) == wanted, "b1"), nv.PYTHON)


def _is_unbound(site: BlockLowering, value: nv.Value) -> Expr:
    """Whether nothing has been assigned to what stands for a name or an attribute."""
    match value:
        case nv.StaticValue():
            return Constant(value.value is UNDEFINED.value, "b1")
        case nv.Scalar():
            origin = numbers.origin_expr(value.origin)
            return site.e.apply("eq", origin, nv.integer(nv.UNBOUND), code="b1")
        case nv.View(root=root):
            bound = root.bound
            return Constant(False, "b1") if bound is None else Apply("not", (bound,), "b1")
        case _:
            raise nv.Unlowered("whether something has been assigned that is no number and no array")


@lowers("in", "not_in")
def _in(site: BlockLowering, eqn: Eqn) -> nv.Value:
    e = site.e
    item, container = (site.value(atom) for atom in eqn.args)
    if not isinstance(container, nv.Tuple) or not all(
        isinstance(x, nv.Scalar) for x in (item, *container.items)
    ):
        raise nv.Unlowered("a question of membership")
    if item.code in FLOATS:
        nan = e.apply("ne", item.expr, item.expr, code="b1")
        e.exit_if(nan, "NaN, which is in a list or tuple by its identity")
    found: Expr = Constant(False, "b1")
    for each in container.items:
        same = numbers.compute(e, "eq", "py", [item, each])
        found = e.apply("or", found, same.expr, code="b1")
    return nv.Scalar(found if eqn.op.name == "in" else e.apply("not", found), nv.PYTHON)


@lowers("bound", "accepts", "hook")
def _bound(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if eqn.op.name != "bound":
        raise nv.Unlowered(f"`{eqn.op.name}`")
    value = site.value(eqn.args[0])
    if not (isinstance(value, nv.View) and value.root.bound is None):
        site.e.exit_if(_is_unbound(site, value), "a name that is not bound")
    return value


@lowers("apart")
def _apart(site: BlockLowering, eqn: Eqn) -> nv.Value:
    return nv.StaticValue(
        None
    )  # `function` compares the memory of all arguments that are written to


@lowers("evaluated")
def _evaluated(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value = site.value(eqn.args[0])
    if isinstance(value, nv.StaticValue) and isinstance(value.value, Eqn):
        raise nv.Unlowered("text that nobody reads, and that may not be made")
    if isinstance(value, nv.Lazy):
        must_have_form(site, value)
    return nv.StaticValue(None)  # its operands have been checked where it was lowered


@lowers("counted")
def _counted(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value, count = site.value(eqn.args[0]), eqn.args[1]
    if not isinstance(count, Const) or not isinstance(value, (nv.Scalar, nv.View)):
        raise nv.Unlowered("a count of something else than a number or an array")
    found = [value.expr] if isinstance(value, nv.Scalar) else map(site.e.size, dims_of(value))
    wanted = [count.value] if isinstance(value, nv.Scalar) else count.value
    for one, other in zip(found, wanted, strict=True):
        differs = site.e.apply("ne", one, nv.integer(other), code="b1")
        site.e.exit_if(differs, "a count that the program was not read for")
    return nv.StaticValue(None)


@lowers("long_enough")
def _long_enough(site: BlockLowering, eqn: Eqn) -> nv.Value:
    length, count = (site.scalar(atom).expr for atom in eqn.args)
    too_short = site.e.apply("lt", length, count, code="b1")
    site.e.exit_if(too_short, "fewer items than names beside them")
    return nv.StaticValue(None)


@lowers("as_long")
def _as_long(site: BlockLowering, eqn: Eqn) -> nv.Value:
    length, count = length_of(site, site.value(eqn.args[0])), site.scalar(eqn.args[1]).expr
    changed = site.e.apply("ne", length, count, code="b1")
    site.e.exit_if(changed, "a list that gets longer or shorter while a loop walks over it")
    return nv.StaticValue(None)


@lowers("decided")
def _decided(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value, before = site.value(eqn.args[0]), site.value(eqn.args[1])
    if isinstance(value, nv.StaticValue) and is_same(value, before):
        return nv.StaticValue(None)
    if (
        not isinstance(value, nv.Scalar)
        or not isinstance(before, nv.Scalar)
        or value.code != before.code
    ):
        raise nv.Unlowered("a decision by something else than a number")
    differs = site.e.apply("ne", value.expr, before.expr, code="b1")
    site.e.exit_if(differs, "a decision that the program was not read for")
    return nv.StaticValue(None)


@lowers("equally_long")
def _equally_long(site: BlockLowering, eqn: Eqn) -> nv.Value:
    first, *others = (site.scalar(atom).expr for atom in eqn.args)
    for other in others:
        differs = site.e.apply("ne", first, other, code="b1")
        site.e.exit_if(differs, "iterables of different lengths")
    return nv.StaticValue(None)


@lowers("global")
def _global(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A global value: it is passed in with every call."""
    found = site.unit.outside.get((id(eqn.param("holder")), eqn.param("key")))
    if found is None:
        raise nv.Unlowered("a global value that is read in a function of its own")
    return found


@lowers("raise")
def _raise(site: BlockLowering, eqn: Eqn) -> nv.Value:
    site.e.exit_if(Constant(True, "b1"), "an exception of the program's own")
    return nv.StaticValue(None)


@lowers("format")
def _format(site: BlockLowering, eqn: Eqn) -> nv.Value:
    return nv.StaticValue(eqn)  # text that only an exception can show: the Python form makes it


@lowers("opaque")
def _opaque(site: BlockLowering, eqn: Eqn) -> nv.Value:
    function = eqn.args[0]
    made = function.value if isinstance(function, Const) else None
    if eqn.outs[0].kind == STR or _writes_text(made, eqn.args[1:]):
        if not site.is_used(eqn.outs[0]):
            raise nv.Unlowered("text that nobody reads, and that may not be made")
        return nv.StaticValue(eqn)
    if isinstance(made, type) and issubclass(made, BaseException):
        return nv.StaticValue(eqn)
    raise nv.Unlowered("a call of a function that wengert does not read")


def _writes_text(function: Any, args: Sequence[Atom]) -> bool:
    """Whether a call is `"…" % x` or `"…".format(x)`: only an exception can show it, as with `format`."""
    if function is operator.mod:
        return isinstance(args[0], Const) and isinstance(args[0].value, str)
    return isinstance(getattr(function, "__self__", None), str)


@lowers("scalar_seed")
def _scalar_seed(site: BlockLowering, eqn: Eqn) -> nv.Value:
    site.scalar(eqn.args[0])
    return nv.Scalar(Constant(1.0, "f64"), nv.PYTHON)


@lowers("real_power")
def _real_power(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A power of Python's numbers leaves native code where it is not real."""
    return nv.StaticValue(None)


@lowers("python_truth")
def _python_truth(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if site.scalar(eqn.args[0]).origin is not nv.PYTHON:
        raise nv.Unlowered("a `__bool__` that gives a truth value of NumPy's, which Python refuses")
    return nv.StaticValue(None)
