"""Writing to attributes: assigned, deleted, or seen through as items."""

from __future__ import annotations

from ...ir.graph import Const, Var
from ...ir.types import UNKNOWN, Array
from ...ops.program import identity as ident, memory as me
from .. import heap
from ..classes import instances
from ..domain.values import Items, Value, is_object
from ..heap import cells
from ..machine.failing import raise_now
from ..machine.guards import is_users_module
from ..machine.interpreter import Interpreter
from .writes import follows, set_item, store


def set_attribute(it: Interpreter, target: Value, name: str, value: Value) -> None:
    """`target.name = value`."""
    target = heap.now(it, target)
    if is_object(target):
        it.set_on_object(target, name, value)  # type: ignore[arg-type]
        return
    if isinstance(target, Var) and target.kind == UNKNOWN:
        it.emit(ident.kept, target, Const(name))
        store(it, target, Const(me.Field(name)), value)
        return
    if isinstance(target, Const) and isinstance(target.value, type):
        it.assign_to_class(target.value, name, value)
        return
    if cells.set_attribute_of_function(it, target, name, value):
        return
    if isinstance(target, Const) and is_users_module(target.value):
        cells.write(it, cells.external(it, vars(target.value), name), value)
        return
    if isinstance(target, Var) and isinstance(target.kind, Array) and name in ("shape", *_VIEWS):
        _write_through(it, target, name, value)
        return
    instances.refuse_assignment(it, target, name)
    raise it.unsupported(
        f"the attribute `{name}` of this object cannot be assigned here",
        "Pass the object as an argument, or create it inside the function.",
    )


_VIEWS = ("real", "imag", "flat")
"""Attributes of an array that are assigned by writing to all their entries."""


def _write_through(it: Interpreter, array: Var, name: str, value: Value) -> None:
    """`array.name = value`, which is `array.name[...] = value`; but for the shape, which moves no entries."""
    assert isinstance(array.kind, Array)
    if name == "shape":
        raise it.unsupported(
            "an array is given another shape in place", "Write `a = a.reshape(shape)`."
        )
    if name == "imag" and array.kind.dtype.startswith(("float", "int", "uint", "bool")):
        raise_now(it, TypeError, "array does not have imaginary part to set")
    set_item(it, it.getattr(array, name), Const(...), value)


def write_attribute(it: Interpreter, items: Items, name: str, value: Value) -> None:
    """What `object.__setattr__` does."""
    if not follows(it, items):
        assert items.home is not None
        store(it, items.home, Const(me.Field(name)), value)
        return
    entries = dict(zip(items.keys, items.values, strict=True))
    entries[name] = value
    heap.put(it, items, items.holding(tuple(entries.values()), tuple(entries)))


def delete_attribute(it: Interpreter, target: Value, name: str) -> None:
    """`del target.name`."""
    target = heap.now(it, target)
    if not is_object(target):
        instances.refuse_assignment(it, target, name)
        raise it.unsupported(
            f"the attribute `{name}` of this object cannot be deleted here",
            "Set it to None instead.",
        )
    it.delete_on_object(target, name)  # type: ignore[arg-type]


def remove_attribute(it: Interpreter, items: Items, name: str) -> None:
    """What `object.__delattr__` does to an attribute that is there."""
    if not follows(it, items):
        raise it.unsupported(
            f"the attribute `{name}` of an object that was passed in cannot be deleted",
            "Set it to None instead.",
        )
    entries = dict(zip(items.keys, items.values, strict=True))
    it.checked(entries.pop(name), f"{items.type.__name__}.{name}")  # some paths may not have it
    heap.put(it, items, items.holding(tuple(entries.values()), tuple(entries)))
