"""What the interpreter computes with: run-time values (atoms) and what is known without running.

A run-time value is an `ir` atom. Everything else here has no existence in the program that comes
out: containers are taken apart into their items, functions are known and inlined, iterators are
known as the loop they stand for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var, births
from ...ir.records import field, mutable_record, record
from ...ir.types import Array, Kind, Map, Seq, Static, Struct, Unknown

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter


OBJECTS = ("object", "dataclass", "namedtuple")
"""The forms of known objects that have a class of their own."""
HEAP_TYPE = 1 << 9
"""The flag of classes that are made when a program runs."""


class ObjectId:
    """The identity of an object that can change: `origin` is what it was when it first did."""

    __slots__ = ("born", "origin", "several", "shared", "twin")

    def __init__(self, origin: Items | Var):
        self.origin = origin
        self.born = origin.born
        self.shared = False
        """Whether it may be one of several objects, or be held where the heap cannot follow it."""
        self.several = False
        """Whether it stands for one of two objects, as the run says."""
        self.twin: ObjectId | None = None
        """The dictionary of an object's attributes, and the object of such a dictionary."""


@mutable_record
class Items:
    """A container whose items are known one by one; `form`, `keys` and `type` as in `Struct`.

    What a mutable one holds is what it held when it was looked up (`heap.now` brings it up to date).
    """

    form: str
    keys: tuple[Any, ...]
    values: tuple[Value, ...]
    type: Any = None
    place: ObjectId | None = None
    """Which object it is; given to it when it first changes."""
    home: Var | None = None
    """The run-time object it was taken apart from."""
    born: int = field(default_factory=births.__next__)

    def __getitem__(self, key: Any) -> Value:
        return self.values[self.keys.index(key)]

    def holding(self, values: Sequence[Value], keys: Sequence[Any] | None = None) -> Items:
        """The same object with other contents."""
        if self.place is None and self.home is None and self.form in MUTABLE_FORMS:
            self.place = ObjectId(self)
        keys = self.keys if keys is None else tuple(keys)
        return Items(self.form, keys, tuple(values), self.type, self.place, self.home)


class Scope:
    """The names of one function activation; inner functions refer to it, not to a copy."""

    __slots__ = ("cells", "globals", "inlined", "memory_of", "outer", "vars")

    def __init__(self, globals_: Mapping[str, Any], outer: Scope | None = None):
        self.globals = globals_
        self.outer = outer
        self.cells: Mapping[str, Any] = {}
        """Python's own cells of variables that a function made outside has captured."""
        self.vars: dict[str, Value] = {}
        self.memory_of: Any = None
        """What stands for the function that remembers its results here, if one does."""
        self.inlined = False
        """Whether Python takes the names around it for its own: those around a list comprehension (PEP 709)."""


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
    attributes: Items | None = None
    """What is assigned to attributes of a function that was made in the program."""
    wraps: Value | None = None
    """The function whose name and documentation `functools.wraps` has given to it."""

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "lambda"


class Activation:
    """A function that has been called and goes on later, as a generator does, and what it was given."""

    def __init__(self, closure: Closure, bound: Mapping[str, Value]):
        self.closure = closure
        self.bound = bound


Handler = Callable[["Interpreter", Sequence["Value"], Mapping[str, "Value"]], "Value"]


@record
class Native:
    """A callable that the interpreter computes itself: a method of a known value, a partial …"""

    name: str
    call: Handler
    value: Any = None
    for_solver: bool = False
    """Whether what a solver has changed is to it what it was before."""


@record
class LazyIterable:
    """A `zip`, `enumerate`, `map`, `filter`, `reversed` or `items()` that nobody has run yet."""

    form: str
    parts: tuple[Value, ...]
    function: Value | None = None


@record
class Maybe:
    """A name that some paths have not assigned; `witness` is UNDEFINED on those."""

    value: Value
    witness: Var


Value = Atom | Items | Closure | Native | LazyIterable | Maybe
Args = Sequence[Value]
Kwargs = Mapping[str, Value]
"""What a call is given by position and by name."""


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
        case Closure() | Native() | LazyIterable():
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


_ITSELF = object()
"""What stands in the kind of an object for an object around it."""


def kind_of_value(value: Value, around: tuple[ObjectId, ...] = ()) -> Kind:
    """The kind of a value; functions, an object inside of itself and other things without leaves are `Static`."""
    match value:
        case Const(value=constant):
            return static_kind(constant)
        case Var():
            return kind_of_atom(value)
        case Items(place=place) if place is not None and place in around:
            return Static(_ITSELF)
        case Items(form=form, keys=keys, values=values, type=type_, place=place):
            inside = around if place is None else (*around, place)
            return Struct(form, keys, tuple(kind_of_value(each, inside) for each in values), type_)
        case Maybe(value=inner):
            return kind_of_value(inner, around)
        case _:
            return Static(value)


def static_kind(constant: Any) -> Kind:
    """Literals have a kind of their own; every other constant is known by identity."""
    literal = isinstance(constant, (bool, int, float, complex, str, slice))
    if constant is None or (literal and not isinstance(constant, Enum)):
        return kind_of_atom(Const(constant))
    return Static(constant)


def unflatten(kind: Kind, take: Callable[[Kind], Atom]) -> Value:
    """A value of this kind made of atoms that `take` gives for each leaf in turn."""
    match kind:
        case Struct(form=form, keys=keys, items=items, type=type_):
            return Items(form, keys, tuple(unflatten(item, take) for item in items), type_)
        case Static(value=value):
            return value if isinstance(value, (Closure, Native, LazyIterable)) else Const(value)
        case _:
            return take(kind)


def fresh(kind: Kind, name: str = "") -> Value:
    """A value of this kind made of new variables."""
    return unflatten(kind, lambda leaf: Var(leaf, name))


def tuple_of(*values: Value) -> Items:
    return Items("tuple", tuple(range(len(values))), values)


@record
class ObjectKey:
    """What stands for a known object among the keys of a known dictionary; `token` tells it apart."""

    token: Any
    items: Items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectKey) and other.token == self.token

    def __hash__(self) -> int:
        return hash(self.token)


def from_key(key: Any) -> Value:
    """The value that a key of a known dictionary is."""
    if isinstance(key, ObjectKey):
        return key.items
    return tuple_of(*map(from_key, key)) if type(key) is tuple else Const(key)


def list_of(*values: Value) -> Items:
    return Items("list", tuple(range(len(values))), values)


MUTABLE_FORMS = frozenset(("list", "dict", "object", "dataclass", "cell", "iterator"))


def is_mutable(value: Value) -> bool:
    """Whether a value is an object that can change while other names refer to it."""
    match value:
        case Items(form=form):
            return form in MUTABLE_FORMS
        case Var(kind=kind):
            return isinstance(kind, (Array, Seq, Map, Struct, Unknown))
        case _:
            return False


PLAIN = (str, int, float, bool, type(None))
"""Types whose values are shown in one way only, whatever the program does."""


def held_by(holder: Any, key: str) -> Any:
    """What a namespace, a cell or an object holds under a name, as it is now."""
    return holder[key] if isinstance(holder, dict) else getattr(holder, key)


def same(a: Value, b: Value) -> bool:
    """Whether two values are certainly the same value."""
    if a is b:
        return True
    if isinstance(a, Const) and isinstance(b, Const):
        return a == b
    if isinstance(a, Items) and isinstance(b, Items):
        if is_mutable(a):
            return a.place is b.place and a.place is not None
        alike = (a.form, a.keys, a.type) == (b.form, b.keys, b.type)
        return alike and all(map(same, a.values, b.values))
    return False


def is_generator(value: Value | None) -> bool:
    return isinstance(value, LazyIterable) and value.form == "generator"


def is_iterator(value: Value | None) -> bool:
    return isinstance(value, Items) and value.form == "iterator"


def is_object(value: Value) -> bool:
    """Whether a value is an object of a class with attributes or methods of its own."""
    return isinstance(value, Items) and value.form in OBJECTS and isinstance(value.type, type)


def object_class(value: Value) -> type | None:
    """The class whose methods say what an operator does with a value; None for plain values."""
    if is_object(value):
        return value.type  # type: ignore[union-attr]
    if isinstance(value, Const) and not isinstance(value.value, (type, ModuleType)):
        cls = type(value.value)
        return cls if cls.__flags__ & HEAP_TYPE and not _is_builtin(cls) else None
    return None


def _is_builtin(cls: type) -> bool:
    return cls.__module__.split(".")[0] in ("builtins", "numpy", "functools", "wengert")


class FunctionTemplate:
    """What functions have in common that differ in what they captured only."""

    __slots__ = ("_key", "make", "name")

    def __init__(self, name: str, key: Hashable, make: Callable[[Sequence[Value]], Value]):
        self.name = name
        self._key = key
        self.make = make

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionTemplate) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return self.name

    @property
    def __name__(self) -> str:
        return self.name


def is_taken_apart(value: Value) -> bool:
    return isinstance(value, Items) and isinstance(value.type, FunctionTemplate)


def as_known(value: Any) -> Value:
    """A constant as a value: tuples are taken apart."""
    if type(value) is tuple:
        return tuple_of(*map(as_known, value))
    return Const(value)
