"""Python's data model as methods of the interpreter: `it.call(f, args, kwargs)`, `it.getitem(value, index)`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import Kind
from ..domain.parts import Part
from ..domain.values import Args, Closure, Handler, Items, Kwargs, Scope, Value
from .declaring import done_in
from .session import Step


class DataModel:
    """What is done with values: each is done where the declaration says."""

    # --- syntax -------------------------------------------------------------------------

    # The value of an expression.
    @done_in("evaluate.expressions")
    def evaluate(self, node: ast.expr) -> Value: ...

    # Whether an expression holds, where nothing else matters of it.
    @done_in("evaluate.expressions")
    def condition(self, node: ast.expr) -> Atom: ...

    # Run a sequence of statements.
    @done_in("evaluate.statements", "run_body")
    def execute(self, body: Sequence[ast.stmt]) -> None: ...

    # Bind a target to a value: a name, or names inside tuples and lists.
    @done_in("evaluate.statements")
    def assign(self, target: ast.expr, value: Value) -> None: ...

    # Give a value a name; a run-time value without one keeps it as its hint.
    @done_in("evaluate.statements")
    def bind(self, name: str, value: Value) -> None: ...

    # Take a name's value away.
    @done_in("evaluate.statements")
    def unbind(self, name: str) -> None: ...

    # The statements as steps.
    @done_in("evaluate.statements")
    def steps_of(self, body: Sequence[ast.stmt]) -> list[Step]: ...

    # A condition as an atom (what is known stays a constant).
    @done_in("evaluate.operations")
    def truth(self, value: Value) -> Atom: ...

    # `left op right` of two values.
    @done_in("evaluate.operations")
    def binary(
        self, operator_: ast.operator, left: Value, right: Value, node: ast.AST
    ) -> Value: ...

    # One comparison.
    @done_in("evaluate.operations")
    def compare(self, operator_: ast.cmpop, left: Value, right: Value) -> Value: ...

    # An index or a key as a constant, where it is known or the run decides it.
    @done_in("evaluate.operations")
    def key_of(self, index: Value) -> Value: ...

    # An operator on values: the user's own operator methods first, then the op.
    @done_in("evaluate.operations")
    def dispatch_operator(self, op: Op, values: Sequence[Value]) -> Value: ...

    # --- classes ------------------------------------------------------------------------

    # Whether the truth of an object is what a method of its class says.
    @done_in("classes.class_lookup")
    def asks_its_class(self, value: Items) -> bool: ...

    # --- objects ------------------------------------------------------------------------

    # `value.name`.
    @done_in("objects.attributes", "read_attribute")
    def getattr(self, value: Value, name: str) -> Value: ...

    # `receiver.name(*args, **kwargs)`.
    @done_in("objects.attributes")
    def call_method(self, receiver: Value, name: str, args: Args, kwargs: Kwargs) -> Value: ...

    # Call a method that the receiver's class defines in Python; None if it defines none.
    @done_in("objects.operators")
    def call_method_of_class(
        self, receiver: Value, name: str, args: Args, kwargs: Kwargs | None = None
    ) -> Value | None: ...

    # Have the run refuse values of a class of the program's own that has one of these methods.
    @done_in("objects.operators")
    def refuse_unknown(
        self, names: tuple[str, ...], values: Sequence[Value], *, may_be_any: bool = False
    ) -> None: ...

    # Refuse, before anything is run, an object of a class with one of these methods that a branch has chosen.
    @done_in("objects.operators")
    def refuse_chosen(self, names: tuple[str, ...], value: Var) -> None: ...

    # What is walked over; an object of the user's classes is what its class says.
    @done_in("objects.operators")
    def as_asked(self, value: Value) -> Value: ...

    # `iter(value)` of an object: what its class says is to be iterated over.
    @done_in("objects.operators")
    def iterated(self, value: Value) -> Value: ...

    # A function of `operator` or of NumPy on containers and objects: what the operator does.
    @done_in("objects.conversions")
    def as_operator(self, known: Any, op: Op, space: str, args: Args) -> Value | None: ...

    # A call of a function that knows numbers, on an object that says how to be one.
    @done_in("objects.conversions")
    def call_on_object(
        self, known: Callable[..., Any], args: Args, kwargs: Kwargs
    ) -> Value | None: ...

    # What NumPy sees of a value: of an object of a class that is built on a list or a tuple, its items.
    @done_in("objects.conversions")
    def in_numpy(self, value: Value) -> Value: ...

    # `cls.name = value`: every object of the class sees it, and so does whoever runs the program.
    @done_in("objects.class_attributes")
    def assign_to_class(self, cls: type, name: str, value: Value) -> None: ...

    # `cls(*args, **kwargs)`.
    @done_in("objects.construct")
    def construct(self, cls: type, args: Args, kwargs: Kwargs) -> Value: ...

    # `super().__init__(…)`, where `@dataclass` has written what is called: others know the object already.
    @done_in("objects.construct")
    def init_of_base(self, owner: type, args: Args, kwargs: Kwargs) -> Value: ...

    # A namedtuple from its fields.
    @done_in("objects.construct")
    def new_namedtuple(self, cls: type, args: Args, kwargs: Kwargs) -> Items: ...

    # A new object after its `__init__`.
    @done_in("objects.construct")
    def initialised(self, cls: type, made: Value, args: Args, kwargs: Kwargs) -> Value: ...

    # What Python's containers ask of an item: whether it is the other, or equal to it.
    @done_in("objects.identities")
    def is_or_equals(self, a: Value, b: Value) -> Value: ...

    # `items.name = value`.
    @done_in("objects.object_changes", "assign")
    def set_on_object(self, items: Items, name: str, value: Value) -> None: ...

    # `del items.name`.
    @done_in("objects.object_changes", "delete")
    def delete_on_object(self, items: Items, name: str) -> None: ...

    # What `object.__setattr__` does.
    @done_in("objects.object_changes")
    def assign_plainly(self, items: Items, name: str, value: Value) -> None: ...

    # An object as it is now, whose attributes have to be known.
    @done_in("objects.objects", "current")
    def known_object(self, value: Value) -> Items: ...

    # `items.name`, of an object whose attributes are known.
    @done_in("objects.objects", "read")
    def attribute_of_object(self, items: Items, name: str) -> Value: ...

    # What two versions of a container hold, item by item; None if they have other items.
    @done_in("objects.objects")
    def attributes_of_both(
        self, a: Items, b: Items
    ) -> dict[Any, tuple[Value | None, Value | None]] | None: ...

    # What `type.__call__` does.
    @done_in("objects.construct")
    def construct_plainly(self, cls: type, args: Args, kwargs: Kwargs) -> Value: ...

    # --- containers ---------------------------------------------------------------------

    # A run-time container whose structure is known, taken apart at its use.
    @done_in("containers.items")
    def open_up(self, value: Value) -> Value: ...

    # `value[index]`.
    @done_in("containers.items", "subscript")
    def getitem(self, value: Value, index: Value) -> Value: ...

    # The leaves of a value seen as a value of another, wider kind.
    @done_in("containers.items")
    def coerce(self, value: Value | None, kind: Kind) -> list[Atom]: ...

    # An index as an atom; an index of constants only is a constant.
    @done_in("containers.items")
    def index_atom(self, index: Value) -> Atom: ...

    # `target[index] = value`; `back` says that an object among the values is the one that is there.
    @done_in("containers.writes", "set_item")
    def setitem(self, target: Value, index: Value, value: Value, *, back: bool = False) -> None: ...

    # `del target[index]`.
    @done_in("containers.writes", "delete_item")
    def delitem(self, target: Value, index: Value) -> None: ...

    # What `object.__setattr__` does.
    @done_in("containers.attribute_writes")
    def write_attribute(self, items: Items, name: str, value: Value) -> None: ...

    # What `object.__delattr__` does to an attribute that is there.
    @done_in("containers.attribute_writes")
    def remove_attribute(self, items: Items, name: str) -> None: ...

    # The run-time object that a write goes to.
    @done_in("containers.writes")
    def as_run_time(self, target: Value, like: Kind | None = None) -> Var: ...

    # A method that changes a container whose items are known; None if it is no such method.
    @done_in("containers.container_methods")
    def method_of_known(
        self, items: Items, name: str, args: Args, kwargs: Kwargs
    ) -> Value | None: ...

    # Whether a method of this name changes the container that it is called on.
    @done_in("containers.container_methods")
    def is_changing(self, name: str) -> bool: ...

    # A method that changes a container which is known only when the program runs.
    @done_in("containers.run_time_containers")
    def method_of_run_time(self, var: Var, name: str, args: Args, kwargs: Kwargs) -> Value: ...

    # The object that `old op= new` leaves: `old` itself, changed, where it can change.
    @done_in("containers.in_place")
    def add_in_place(
        self, operator_: ast.operator, old: Value, new: Value, node: ast.AST
    ) -> Value: ...

    # --- calls --------------------------------------------------------------------------

    # Call any value.
    @done_in("calls.calls")
    def call(self, function: Value, args: Args, kwargs: Kwargs) -> Value: ...

    # A function that is not written in Python: fine unless a derivative must pass through it.
    @done_in("calls.unread_calls")
    def call_foreign(self, known: Any, args: Args, kwargs: Kwargs) -> Value: ...

    # Call a Python object that is known when the program is read.
    @done_in("calls.calls")
    def call_known(self, known: Any, args: Args, kwargs: Kwargs) -> Value: ...

    # Call a function for its effect or for a value that has no derivative.
    @done_in("calls.unread_calls")
    def opaque(
        self, function: Any, args: Args, kwargs: Kwargs, kind: Kind | None = None
    ) -> Value: ...

    # Call a function that draws: what it is given to call later has no part in the derivative.
    @done_in("calls.unread_calls")
    def draw(self, function: Any, args: Args, kwargs: Kwargs) -> Value: ...

    # What reading a function or a class of NumPy or SciPy gives; else it is called, and has no derivative.
    @done_in("calls.library_calls")
    def read_of_library(
        self, known: Any, reading: Callable[[], Value], args: Args, kwargs: Kwargs
    ) -> Value: ...

    # Emit `op(*args, **kwargs)` as the user called it, or as a `row` of the rule table does.
    @done_in("calls.opcalls")
    def emit_op(
        self,
        op: Op,
        namespace: str,
        args: Sequence[Value],
        kwargs: Mapping[str, Value],
        *,
        row: bool = False,
    ) -> Value: ...

    # Whether a function calls itself on what it was called with, as far as that is known.
    @done_in("calls.closure_calls")
    def recurs(self, closure: Closure, bound: Mapping[str, Value]) -> bool: ...

    # What the current function gives.
    @done_in("calls.closure_calls")
    def returned(self) -> Value: ...

    # What is tested, where the test of a `while` is `wg.checkpoint(…)`.
    @done_in("calls.checkpoints")
    def checkpointed_test(self, node: ast.expr) -> ast.expr | None: ...

    # Run a function's body here and give its result.
    @done_in("calls.closure_calls")
    def inline(self, closure: Closure, bound: Mapping[str, Value]) -> Value: ...

    # Call a function whose source is known: by its rule, inlined, or called where it recurses.
    @done_in("calls.closure_calls")
    def call_closure(
        self, closure: Closure, args: Sequence[Value], kwargs: Mapping[str, Value]
    ) -> Value: ...

    # --- functions ----------------------------------------------------------------------

    # A global, an attribute of a module, or what a closure's cell holds, as a value.
    @done_in("functions.names")
    def lift(self, holder: Any, name: str, value: Any, *, key: str = "") -> Value: ...

    # The value of a name: local, then the functions around, then global, then builtin.
    @done_in("functions.names")
    def lookup(self, scope: Scope, name: str) -> Value: ...

    # A function as a run-time value.
    @done_in("functions.closures")
    def escape(self, closure: Closure) -> Atom: ...

    # --- builtins -----------------------------------------------------------------------

    # How to read a call of one of the functions of attrs that look into objects.
    @done_in("builtins.library_records")
    def handler_of_attrs(self, function: FunctionType) -> Handler | None: ...

    # `dict(source)`.
    @done_in("builtins.library")
    def dict_from(self, source: Value) -> Value: ...

    # How to read a call of a builtin that most programs call.
    @done_in("builtins.library")
    def handler_of(self, known: Any) -> Handler | None: ...

    # How to read a call of another function of Python's or NumPy's that is no op.
    @done_in("builtins.library_modules")
    def rarer_handler_of(self, known: Any) -> Handler | None: ...

    # --- data ---------------------------------------------------------------------------

    # A part of a table as a value of the run, which is shown or passed on.
    @done_in("data.tables", "packed")
    def packed_table(self, part: Part) -> Atom: ...

    # Refuse to make a run-time value of what stands for an object of pandas.
    @done_in("data.columns")
    def refuse_packing(self, value: Items) -> None: ...

    # A copy of a table, which may be given columns of values of the program.
    @done_in("data.columns", "as_frame")
    def table_as_frame(self, table: Const) -> Value: ...

    # A method of a table, or of a column, that is given values of the program.
    @done_in("data.columns", "method")
    def method_of_table(self, table: Const, name: str, args: Args, kwargs: Kwargs) -> Value: ...
