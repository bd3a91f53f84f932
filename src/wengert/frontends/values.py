"""What the interpreter computes with: run-time values (atoms) and what is known without running.

A run-time value is an `ir` atom. Everything else here has no existence in the program that comes
out: containers are taken apart into their items, functions are known and inlined, iterators are
known as the loop they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const, Var
from ..ir.records import record
from ..ir.types import Kind, Static, Struct

if TYPE_CHECKING:
    from .interpreter import Interpreter


@record
class Items:
    """A container whose items are known one by one; `form`, `keys` and `type` as in `Struct`."""

    form: str
    keys: tuple[Any, ...]
    values: tuple[Value, ...]
    type: Any = None

    def __getitem__(self, key: Any) -> Value:
        return self.values[self.keys.index(key)]


class Scope:
    """The names of one function activation; inner functions refer to it, not to a copy."""

    __slots__ = ("globals", "outer", "vars")

    def __init__(self, globals_: Mapping[str, Any], outer: Scope | None = None):
        self.globals = globals_
        self.outer = outer
        self.vars: dict[str, Value] = {}


@record
class Closure:
    """A function whose source is known, with the scope it was made in."""

    node: ast.FunctionDef | ast.Lambda
    file: str
    scope: Scope
    defaults: tuple[Value, ...] = ()
    keyword_defaults: Mapping[str, Value] = field(default_factory=dict[str, "Value"])
    identity: Any = None
    """What recursion is recognised by: the code object, or the syntax node of a local function."""
    function: Any = None
    """The function object, where there is one outside the program."""
    qualname: str = ""
    """What Python calls it in its own errors."""

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "lambda"


Handler = Callable[["Interpreter", Sequence["Value"], Mapping[str, "Value"]], "Value"]


@record
class Native:
    """A callable that the interpreter computes itself: a method of a known value, a partial …"""

    name: str
    call: Handler
    value: Any = None


@record
class Iteration:
    """A `zip`, `enumerate`, `map`, `filter`, `reversed` or `items()` that nobody has run yet."""

    form: str
    parts: tuple[Value, ...]
    function: Value | None = None


@record
class Maybe:
    """A name that some paths have not assigned; `witness` is UNDEFINED on those."""

    value: Value
    witness: Var


Value = Atom | Items | Closure | Native | Iteration | Maybe


def flatten(value: Value) -> Iterator[Atom]:
    """The run-time leaves of a value, in the order of `ir.types.leaves` of its kind."""
    match value:
        case Var():
            yield value
        case Const():
            if not isinstance(kind_of_value(value), Static):
                yield value
        case Items(values=values):
            for item in values:
                yield from flatten(item)
        case Maybe(value=inner):
            yield from flatten(inner)
        case Closure() | Native() | Iteration():
            return


def is_plain(value: Value) -> bool:
    """Whether a value is made of run-time leaves and known containers only."""
    match value:
        case Items(values=values):
            return all(map(is_plain, values))
        case Var() | Const():
            return True
        case _:
            return False


def kind_of_value(value: Value) -> Kind:
    """The kind of a value; functions and other things without leaves are `Static`."""
    match value:
        case Const(value=constant):
            return static_kind(constant)
        case Var():
            return kind_of_atom(value)
        case Items(form=form, keys=keys, values=values, type=type_):
            return Struct(form, keys, tuple(map(kind_of_value, values)), type_)
        case Maybe(value=inner):
            return kind_of_value(inner)
        case _:
            return Static(value)


def static_kind(constant: Any) -> Kind:
    """Literals have a kind of their own; every other constant is known by identity."""
    if constant is None or isinstance(constant, bool | int | float | complex | str | slice):
        return kind_of_atom(Const(constant))
    return Static(constant)


def unflatten(kind: Kind, take: Callable[[Kind], Atom]) -> Value:
    """A value of this kind made of atoms that `take` gives for each leaf in turn."""
    match kind:
        case Struct(form=form, keys=keys, items=items, type=type_):
            return Items(form, keys, tuple(unflatten(item, take) for item in items), type_)
        case Static(value=value):
            return value if isinstance(value, Closure | Native | Iteration) else Const(value)
        case _:
            return take(kind)


def tuple_of(*values: Value) -> Items:
    return Items("tuple", tuple(range(len(values))), values)


def list_of(*values: Value) -> Items:
    return Items("list", tuple(range(len(values))), values)


def same(a: Value, b: Value) -> bool:
    """Whether two values are certainly the same value."""
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        return a == b
    if isinstance(a, Items) and isinstance(b, Items):
        alike = (a.form, a.keys, a.type) == (b.form, b.keys, b.type)
        return alike and all(map(same, a.values, b.values))
    return False
