"""Python's data model as methods of the interpreter: `it.call(f, args, kwargs)`, `it.getitem(value, index)`.

Modules below need what modules above them do: a loop evaluates expressions, an attribute may call a
function. They ask the interpreter; who does it registers for it, and is loaded when it is first asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import ast

    from ...ir.graph import Atom, Var
    from ...ir.op import Op
    from ...ir.types import Kind
    from ..domain.running import Running
    from ..domain.values import Args, Items, Kwargs, Scope, Value
    from .reading import Step


F = TypeVar("F", bound=Callable[..., Any])

DECLARED: dict[str, tuple[str, Callable[..., Any]]] = {}
"""Operation -> the module of the front end that does it, and its declaration."""


def done_in(module: str) -> Callable[[F], F]:
    """Declare an operation: its first use loads the module, which puts its own function in its place."""

    def declare(declared: F) -> F:
        name = declared.__name__
        DECLARED[name] = module, declared

        def load(it: Any, *args: Any, **kwargs: Any) -> Any:
            import_module(f"wengert.frontend.{module}")
            return getattr(it, name)(*args, **kwargs)

        return load  # type: ignore[return-value]

    return declare


def operation(name: str) -> Callable[[F], F]:
    """Register a function as an operation of the interpreter, a plain method from then on."""

    def register(function: F) -> F:
        assert name in DECLARED
        setattr(Operations, name, function)
        return function

    return register


class Operations:
    """What the interpreter can be asked for; no method here is ever run but to load who does it."""

    # --- syntax -------------------------------------------------------------------------

    # The value of an expression.
    @done_in("evaluate.expressions")
    def evaluate(self, node: ast.expr) -> Value: ...

    # Whether an expression holds, where nothing else matters of it.
    @done_in("evaluate.expressions")
    def condition(self, node: ast.expr) -> Atom: ...

    # Run a sequence of statements.
    @done_in("evaluate.statements")
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

    # --- objects ------------------------------------------------------------------------

    # `value.name`.
    @done_in("objects.attributes")
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

    # What is walked over; an object of the user's classes is what its class says.
    @done_in("objects.operators")
    def as_asked(self, value: Value) -> Value: ...

    # `iter(value)` of an object: what its class says is to be iterated over.
    @done_in("objects.operators")
    def iterated(self, value: Value) -> Value: ...

    # A function of `operator` or of NumPy on containers and objects: what the operator does.
    @done_in("objects.operators")
    def as_operator(self, known: Any, op: Op, space: str, args: Args) -> Value | None: ...

    # A call of a function that knows numbers, on an object that says how to be one.
    @done_in("objects.operators")
    def call_on_object(
        self, known: Callable[..., Any], args: Args, kwargs: Kwargs
    ) -> Value | None: ...

    # What NumPy sees of a value: of an object of a class that is built on a list or a tuple, its items.
    @done_in("objects.operators")
    def in_numpy(self, value: Value) -> Value: ...

    # --- containers ---------------------------------------------------------------------

    # A run-time container whose structure is known, taken apart at its use.
    @done_in("containers.items")
    def open_up(self, value: Value) -> Value: ...

    # `value[index]`.
    @done_in("containers.items")
    def getitem(self, value: Value, index: Value) -> Value: ...

    # The leaves of a value seen as a value of another, wider kind.
    @done_in("containers.items")
    def coerce(self, value: Value | None, kind: Kind) -> list[Atom]: ...

    # An index as an atom; an index of constants only is a constant.
    @done_in("containers.items")
    def index_atom(self, index: Value) -> Atom: ...

    # `target[index] = value`; `back` says that an object among the values is the one that is there.
    @done_in("containers.writes")
    def setitem(self, target: Value, index: Value, value: Value, *, back: bool = False) -> None: ...

    # `del target[index]`.
    @done_in("containers.writes")
    def delitem(self, target: Value, index: Value) -> None: ...

    # What `object.__setattr__` does.
    @done_in("containers.writes")
    def write_attribute(self, items: Items, name: str, value: Value) -> None: ...

    # What `object.__delattr__` does to an attribute that is there.
    @done_in("containers.writes")
    def remove_attribute(self, items: Items, name: str) -> None: ...

    # The run-time object that a write goes to.
    @done_in("containers.writes")
    def as_run_time(self, target: Value) -> Var: ...

    # --- iteration ----------------------------------------------------------------------

    # `list(value)`.
    @done_in("iterate.iteration")
    def as_list(self, value: Value) -> Value: ...

    # `tuple(value)`.
    @done_in("iterate.iteration")
    def as_tuple(self, value: Value) -> Value: ...

    # The items of a value that is iterated over, where they are known one by one.
    @done_in("iterate.iteration")
    def known_items(self, value: Value) -> list[Value] | None: ...

    # What can be walked over more than once: an iterator's items, or the value itself.
    @done_in("iterate.iteration")
    def settled(self, value: Value) -> Value: ...

    # The known items of a value, or how to iterate over it at run time.
    @done_in("iterate.iteration")
    def iteration(self, value: Value) -> list[Value] | Running: ...

    # The list of these values, with the items of those that stand for `*items`.
    @done_in("iterate.iteration")
    def joined(self, values: Sequence[Value]) -> Atom: ...

    # A part of what is walked over in a loop that the run counts.
    @done_in("iterate.iteration")
    def at_run_time(self, part: list[Value] | Running) -> Running: ...

    # The list that `items[start:]` was taken from, whose items are the same objects, and `start`.
    @done_in("iterate.iteration")
    def whole_list(self, value: Atom) -> tuple[Atom, int]: ...

    # Whether known items are not too many to be written out because something is looked up by them: text.
    @done_in("iterate.iteration")
    def can_be_written_out(self, names: Sequence[Value]) -> bool: ...

    # --- calls --------------------------------------------------------------------------

    # Call any value.
    @done_in("calls.calls")
    def call(self, function: Value, args: Args, kwargs: Kwargs) -> Value: ...

    # A function that is not written in Python: fine unless a derivative must pass through it.
    @done_in("calls.calls")
    def call_foreign(self, known: Any, args: Args, kwargs: Kwargs) -> Value: ...

    # Call a Python object that is known when the program is read.
    @done_in("calls.calls")
    def call_known(self, known: Any, args: Args, kwargs: Kwargs) -> Value: ...

    # What the function gives that `functools.singledispatch` chooses, by the class of the first argument.
    @done_in("calls.calls")
    def call_dispatched(
        self, dispatch: Callable[[type], Any], first: Value, run: Callable[[Any], Value]
    ) -> Value: ...

    # Call a function for its effect or for a value that has no derivative.
    @done_in("calls.calls")
    def opaque(
        self, function: Any, args: Args, kwargs: Kwargs, kind: Kind | None = None
    ) -> Value: ...

    # Call a function that draws: what it is given to call later has no part in the derivative.
    @done_in("calls.calls")
    def draw(self, function: Any, args: Args, kwargs: Kwargs) -> Value: ...

    # What reading a function or a class of NumPy or SciPy gives; else it is called, and has no derivative.
    @done_in("calls.calls")
    def read_of_library(
        self, known: Any, reading: Callable[[], Value], args: Args, kwargs: Kwargs
    ) -> Value: ...

    # A global, an attribute of a module, or what a closure's cell holds, as a value.
    @done_in("functions.names")
    def lift(self, holder: Any, name: str, value: Any, *, key: str = "") -> Value: ...

    # The value of a name: local, then the functions around, then global, then builtin.
    @done_in("functions.names")
    def lookup(self, scope: Scope, name: str) -> Value: ...

    # --- control ------------------------------------------------------------------------

    # An exception: its contents known, where that is all there is to it.
    @done_in("control.exceptions")
    def make_exception(self, cls: type, args: Args, kwargs: Kwargs) -> Value: ...

    # Raise an exception, or an exception of a class.
    @done_in("control.exceptions")
    def raise_exception(self, exception: Value, cause: Value | None = None) -> None: ...

    # A `try` whose body is run in this way.
    @done_in("control.exceptions")
    def run_try_around(self, node: ast.Try, body: Step) -> None: ...
